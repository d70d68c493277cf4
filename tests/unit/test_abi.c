// common/kfd/abi.h against the kernel's own header, as far as the system's header knows the
// interface; sizes and numbers also against those of Linux 6.12 and 7.3.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/kfd/abi.h"
#include "common/kfd/smi.h"

// It includes DRM's header, which not every distribution has.
#if __has_include(<linux/kfd_ioctl.h>) && __has_include(<drm/drm.h>)
#define kfd_smi_event kernel_smi_event // an enum there, a struct in smi.h
#include <linux/kfd_ioctl.h>
#undef kfd_smi_event
#else
#define KFD_IOCTL_MINOR_VERSION 0
#endif

#define SAME(ours, member, theirs, their_member)                                             \
	assert_true(offsetof(struct ours, member) == offsetof(struct theirs, their_member)); \
	assert_true(sizeof(((struct ours *)0)->member) ==                                    \
		    sizeof(((struct theirs *)0)->their_member))

// Numbers and sizes of [kfd.ioctls], [kfd.trap-layout], [kfd.queue-entry], [kfd.device-entry] and
// [kfd.save-header].
static void test_numbers(void **state)
{
	(void)state;
	assert_int_equal(KFD_GET_VERSION, 0x80084b01);
	assert_int_equal(KFD_CRIU_OP, 0xc0384b22);
	assert_int_equal(KFD_RUNTIME_ENABLE, 0xc0104b25);
	assert_int_equal(KFD_DBG_TRAP, 0xc0204b26);
	assert_int_equal(sizeof(struct kfd_rinfo), 16);
	assert_int_equal(sizeof(struct kfd_queue_entry), 64);
	assert_int_equal(sizeof(struct kfd_device_entry), 120);
	assert_int_equal(sizeof(struct kfd_ctx_header), 40);
}

#if KFD_IOCTL_MINOR_VERSION >= 13
static void test_criu(void **state)
{
	(void)state;
	assert_int_equal(KFD_CRIU_OP, AMDKFD_IOC_CRIU_OP);
	SAME(kfd_criu, devices, kfd_ioctl_criu_args, devices);
	SAME(kfd_criu, bos, kfd_ioctl_criu_args, bos);
	SAME(kfd_criu, priv_data, kfd_ioctl_criu_args, priv_data);
	SAME(kfd_criu, priv_data_size, kfd_ioctl_criu_args, priv_data_size);
	SAME(kfd_criu, num_devices, kfd_ioctl_criu_args, num_devices);
	SAME(kfd_criu, num_bos, kfd_ioctl_criu_args, num_bos);
	SAME(kfd_criu, num_objects, kfd_ioctl_criu_args, num_objects);
	SAME(kfd_criu, pid, kfd_ioctl_criu_args, pid);
	SAME(kfd_criu, op, kfd_ioctl_criu_args, op);
	assert_int_equal(KFD_CRIU_PROCESS_INFO, KFD_CRIU_OP_PROCESS_INFO);
	assert_int_equal(KFD_CRIU_UNPAUSE, KFD_CRIU_OP_UNPAUSE);
}

#define ARGS        kfd_ioctl_dbg_trap_args
#define SAME_OP(op) assert_int_equal(KFD_DBG_##op, KFD_IOC_DBG_TRAP_##op)

static void test_debug_calls(void **state)
{
	(void)state;
	assert_int_equal(KFD_SMI_EVENTS, AMDKFD_IOC_SMI_EVENTS);
	assert_int_equal(KFD_SMI_PROCESS_START, 12); // KFD_SMI_EVENT_PROCESS_START of Linux 7.x
	assert_int_equal(KFD_DBG_TRAP, AMDKFD_IOC_DBG_TRAP);
	assert_int_equal(KFD_RUNTIME_ENABLE, AMDKFD_IOC_RUNTIME_ENABLE);
	SAME_OP(ENABLE);
	SAME_OP(DISABLE);
	SAME_OP(SEND_RUNTIME_EVENT);
	SAME_OP(SUSPEND_QUEUES);
	SAME_OP(RESUME_QUEUES);
	SAME_OP(QUERY_DEBUG_EVENT);
	SAME_OP(GET_QUEUE_SNAPSHOT);
	SAME_OP(GET_DEVICE_SNAPSHOT);
	SAME(kfd_dbg, pid, ARGS, pid);
	SAME(kfd_dbg, op, ARGS, op);
	SAME(kfd_dbg, enable.exception_mask, ARGS, enable.exception_mask);
	SAME(kfd_dbg, enable.rinfo_ptr, ARGS, enable.rinfo_ptr);
	SAME(kfd_dbg, enable.rinfo_size, ARGS, enable.rinfo_size);
	SAME(kfd_dbg, enable.dbg_fd, ARGS, enable.dbg_fd);
	SAME(kfd_dbg, send_event.exception_mask, ARGS, send_runtime_event.exception_mask);
	SAME(kfd_dbg, send_event.gpu_id, ARGS, send_runtime_event.gpu_id);
	SAME(kfd_dbg, send_event.queue_id, ARGS, send_runtime_event.queue_id);
	SAME(kfd_dbg, suspend.exception_mask, ARGS, suspend_queues.exception_mask);
	SAME(kfd_dbg, suspend.queue_array_ptr, ARGS, suspend_queues.queue_array_ptr);
	SAME(kfd_dbg, suspend.num_queues, ARGS, suspend_queues.num_queues);
	SAME(kfd_dbg, suspend.grace_period, ARGS, suspend_queues.grace_period);
	SAME(kfd_dbg, resume.queue_array_ptr, ARGS, resume_queues.queue_array_ptr);
	SAME(kfd_dbg, resume.num_queues, ARGS, resume_queues.num_queues);
	SAME(kfd_dbg, query.exception_mask, ARGS, query_debug_event.exception_mask);
	SAME(kfd_dbg, query.gpu_id, ARGS, query_debug_event.gpu_id);
	SAME(kfd_dbg, query.queue_id, ARGS, query_debug_event.queue_id);
	SAME(kfd_dbg, snapshot.exception_mask, ARGS, queue_snapshot.exception_mask);
	SAME(kfd_dbg, snapshot.buf_ptr, ARGS, queue_snapshot.snapshot_buf_ptr);
	SAME(kfd_dbg, snapshot.num_entries, ARGS, queue_snapshot.num_queues);
	SAME(kfd_dbg, snapshot.entry_size, ARGS, queue_snapshot.entry_size);
	SAME(kfd_dbg, snapshot.buf_ptr, ARGS, device_snapshot.snapshot_buf_ptr);
	SAME(kfd_dbg, snapshot.num_entries, ARGS, device_snapshot.num_devices);
	SAME(kfd_dbg, snapshot.entry_size, ARGS, device_snapshot.entry_size);
}

#define QUEUE  kfd_queue_snapshot_entry
#define DEVICE kfd_dbg_device_info_entry
#define HEADER kfd_context_save_area_header

static void test_entries(void **state)
{
	(void)state;
	SAME(kfd_rinfo, runtime_state, kfd_runtime_info, runtime_state);
	SAME(kfd_queue_entry, exception_status, QUEUE, exception_status);
	SAME(kfd_queue_entry, ring_base_address, QUEUE, ring_base_address);
	SAME(kfd_queue_entry, write_pointer_address, QUEUE, write_pointer_address);
	SAME(kfd_queue_entry, read_pointer_address, QUEUE, read_pointer_address);
	SAME(kfd_queue_entry, ctx_save_restore_address, QUEUE, ctx_save_restore_address);
	SAME(kfd_queue_entry, queue_id, QUEUE, queue_id);
	SAME(kfd_queue_entry, gpu_id, QUEUE, gpu_id);
	SAME(kfd_queue_entry, ring_size, QUEUE, ring_size);
	SAME(kfd_queue_entry, queue_type, QUEUE, queue_type);
	SAME(kfd_queue_entry, ctx_save_restore_area_size, QUEUE, ctx_save_restore_area_size);
	SAME(kfd_device_entry, gpu_id, DEVICE, gpu_id);
	SAME(kfd_device_entry, num_xcc, DEVICE, num_xcc);
	SAME(kfd_device_entry, debug_prop, DEVICE, debug_prop);
	SAME(kfd_ctx_header, control_stack_size, HEADER, wave_state.control_stack_size);
	SAME(kfd_ctx_header, wave_state_size, HEADER, wave_state.wave_state_size);
	// Later kernels may append members: the driver writes no more than it is asked for.
	assert_true(sizeof(struct kfd_queue_entry) <= sizeof(struct QUEUE));
	assert_true(sizeof(struct kfd_device_entry) <= sizeof(struct DEVICE));
	assert_int_equal(KFD_EC_QUEUE_NEW, KFD_EC_MASK(EC_QUEUE_NEW));
	assert_true(KFD_EC_PROCESS_RUNTIME == KFD_EC_MASK(EC_PROCESS_RUNTIME));
	assert_true(KFD_QUEUE_ERROR == (unsigned)KFD_DBG_QUEUE_ERROR_MASK);
	assert_true(KFD_QUEUE_INVALID == (unsigned)KFD_DBG_QUEUE_INVALID_MASK);
}
#else
// Offsets in Linux 6.12, of the members that gpq uses [kfd.criu-layout], [kfd.trap-layout].
static void test_criu(void **state)
{
	(void)state;
	assert_int_equal(offsetof(struct kfd_criu, pid), 44);
	assert_int_equal(offsetof(struct kfd_criu, op), 48);
}

static void test_debug_calls(void **state)
{
	(void)state;
	assert_int_equal(offsetof(struct kfd_dbg, enable.dbg_fd), 28);
	assert_int_equal(offsetof(struct kfd_dbg, send_event.queue_id), 20);
	assert_int_equal(offsetof(struct kfd_dbg, suspend.queue_array_ptr), 16);
	assert_int_equal(offsetof(struct kfd_dbg, suspend.grace_period), 28);
	assert_int_equal(offsetof(struct kfd_dbg, resume.queue_array_ptr), 8);
	assert_int_equal(offsetof(struct kfd_dbg, resume.num_queues), 16);
	assert_int_equal(offsetof(struct kfd_dbg, query.queue_id), 20);
	assert_int_equal(offsetof(struct kfd_dbg, snapshot.buf_ptr), 16);
	assert_int_equal(offsetof(struct kfd_dbg, snapshot.entry_size), 28);
}

static void test_entries(void **state)
{
	(void)state;
	assert_int_equal(offsetof(struct kfd_queue_entry, write_pointer_address), 16);
	assert_int_equal(offsetof(struct kfd_queue_entry, read_pointer_address), 24);
	assert_int_equal(offsetof(struct kfd_queue_entry, ctx_save_restore_address), 32);
	assert_int_equal(offsetof(struct kfd_queue_entry, queue_id), 40);
	assert_int_equal(offsetof(struct kfd_queue_entry, queue_type), 52);
	assert_int_equal(offsetof(struct kfd_queue_entry, ctx_save_restore_area_size), 56);
	assert_int_equal(offsetof(struct kfd_device_entry, gpu_id), 56);
	assert_int_equal(offsetof(struct kfd_device_entry, num_xcc), 108);
	assert_int_equal(offsetof(struct kfd_ctx_header, control_stack_size), 4);
	assert_int_equal(offsetof(struct kfd_ctx_header, wave_state_size), 12);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_criu),
		cmocka_unit_test(test_debug_calls),
		cmocka_unit_test(test_entries),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
