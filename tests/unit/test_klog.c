// Lines of the kernel's log about GPUs, common/why/klog.c.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <malloc.h>

#include "common/host/root.h"
#include "common/why/klog.h"

#if !__GLIBC_PREREQ(2, 33)
#define mallinfo2() ((struct { size_t uordblks; }){(size_t)mallinfo().uordblks})
#endif

// As read from /dev/kmsg of Linux 6.12, but for the page fault; lines that tell nothing of a GPU
// between them.
static const char text[] =
	"6,400,4659955,-;kfd kfd: amdgpu: Allocated 3989536 bytes on gart\n"
	"3,401,16708689,-;amdgpu 0000:c0:00.0: amdgpu: qcm fence wait loop timeout expired\n"
	" SUBSYSTEM=pci\n DEVICE=+pci:0000:c0:00.0\n"
	"3,402,16709058,-,more;amdgpu 0000:c0:00.0: amdgpu: The cp might be in an unrecoverable "
	"state "
	"due to an unsuccessful queues preemption\n"
	"3,403,16709551,-;amdgpu 0000:c0:00.0: amdgpu: Failed to evict process queues\n"
	"6,404,16724419,-;amdgpu 0000:c0:00.0: amdgpu: softgpu: reset begin\n"
	"6,405,16746688,-;amdgpu 0000:c0:00.0: amdgpu: softgpu: reset end\n"
	"3,406,17000000,-;amdgpu 0000:c1:00.0: [gfxhub0] page fault (src_id:0 ring:24 vmid:8)\n"
	"3,407,17000001,-;amdgpu 0000:c1:00.0: amdgpu: uncorrectable hardware errors\n"
	"6,407,17000001,-;amdgpu 0000:c1:00.0: amdgpu: socket: 0, no uncorrectable hardware errors "
	"detected in umc block\n"
	"6,407,17000001,-;amdgpu 0000:c1:00.0: amdgpu: 0 uncorrectable hardware errors detected in "
	"gfx block\n"
	"3,408,17000002,-;nvme 0000:c1:00.0: page fault of nobody\n"
	"3,409,17000003,-;x amdgpu 0000:c1:00.0: page fault\n"
	"3,410,17000004,-;amdgpu: page fault\n"
	"3,411,17000005,-;amdgpu 000:c1:00.0: page fault\n"
	"3,412,x,-;amdgpu 0000:c1:00.0: page fault\n"
	"3,413\n"
	"page fault; amdgpu 0000:c1:00.0: page fault\n"
	"6,414,18000000,-;amdgpu 0000:c1:00.0: GPU reset(1) succeeded!";

static void test_lines(void **state)
{
	static const struct {
		uint64_t us;
		const char *bdf, *text;
		enum klog_kind kind;
	} wanted[] = {
		{16708689, "0000:c0:00.0", "qcm fence wait loop timeout expired", KLOG_LOST},
		{16709058, "0000:c0:00.0",
		 "The cp might be in an unrecoverable state due to an unsuccessful queues "
		 "preemption",
		 KLOG_LOST},
		{16709551, "0000:c0:00.0", "Failed to evict process queues", KLOG_LOST},
		{16724419, "0000:c0:00.0", "softgpu: reset begin", KLOG_RESET},
		{17000000, "0000:c1:00.0", "[gfxhub0] page fault (src_id:0 ring:24 vmid:8)",
		 KLOG_FAULT},
		{17000001, "0000:c1:00.0", "uncorrectable hardware errors", KLOG_FAULT},
		{18000000, "0000:c1:00.0", "GPU reset(1) succeeded!", KLOG_RESET},
	};
	struct klog k;
	(void)state;
	klog_parse(&k, text, strlen(text));
	assert_int_equal(k.n, COUNT(wanted));
	for (size_t i = 0; i < COUNT(wanted); i++) {
		assert_int_equal(k.v[i].us, wanted[i].us);
		assert_string_equal(k.v[i].bdf, wanted[i].bdf);
		assert_string_equal(k.v[i].text, wanted[i].text);
		assert_int_equal(k.v[i].kind, wanted[i].kind);
	}
	const unsigned all = KLOG_FAULT | KLOG_LOST | KLOG_RESET;
	assert_ptr_equal(klog_last(&k, "0000:c0:00.0", 0, all), &k.v[3]);
	assert_ptr_equal(klog_last(&k, "0000:c0:00.0", 0, KLOG_LOST), &k.v[2]);
	assert_ptr_equal(klog_last(&k, "0000:c0:00.0", 16724419, all), &k.v[3]);
	assert_null(klog_last(&k, "0000:c0:00.0", 16724420, all));
	assert_null(klog_last(&k, "0000:c0:00.0", 0, KLOG_FAULT));
	assert_ptr_equal(klog_last(&k, "0000:c1:00.0", 0, KLOG_FAULT), &k.v[5]);
	assert_null(klog_last(&k, "0000:c2:00.0", 0, all));
	assert_null(klog_last(&k, NULL, 0, all));
	klog_fini(&k);
	assert_null(k.v);
	klog_parse(&k, "", 0);
	assert_int_equal(k.n, 0);
	klog_fini(&k);
}

// Of a recorded host the file, which may be missing.
static void test_recorded(void **state)
{
	char root[] = "/tmp/gpq-klog-XXXXXX", command[256];
	struct klog k;
	(void)state;
	assert_non_null(mkdtemp(root));
	assert_int_equal(host_set_root(root), 0);
	klog_read(&k);
	assert_int_equal(k.n, 0);
	klog_fini(&k);
	snprintf(command, sizeof(command), "mkdir %s/dev && yes '%s' | head -n 500 >%s/dev/kmsg",
		 root, "3,1,5,-;amdgpu 0000:c0:00.0: amdgpu: softgpu: reset begin", root);
	assert_int_equal(system(command), 0); // NOLINT(cert-env33-c)
	klog_read(&k);
	assert_int_equal(k.n, 500);
	assert_string_equal(k.v[499].text, "softgpu: reset begin");
	klog_fini(&k);
	snprintf(command, sizeof(command), "rm -r %s", root);
	assert_int_equal(system(command), 0); // NOLINT(cert-env33-c)
}

// What was read leaves no memory behind.
static void test_memory(void **state)
{
	size_t before = 0;
	(void)state;
	for (unsigned i = 0; i < 8; i++) {
		struct klog k;
		klog_parse(&k, text, strlen(text));
		assert_true(k.n > 0);
		klog_fini(&k);
		before = i == 3 ? mallinfo2().uordblks : before;
	}
	assert_int_equal(mallinfo2().uordblks, before);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {cmocka_unit_test(test_lines),
						  cmocka_unit_test(test_recorded),
						  cmocka_unit_test(test_memory)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
