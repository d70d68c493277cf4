// Names of kernels and GPU cores in snapshots, cmd/snapshot/evidence.c: each name once, in the file
// of its process. What names and cores there are is the test's.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cmd/snapshot/evidence.h"

#include "cmd/core.h"
#include "cmd/events/record.h"

static char added[512];

static int fake_add(struct saver *v, const char *path, const struct buf *b)
{
	const size_t len = strlen(added);
	(void)v;
	snprintf(added + len, sizeof(added) - len, "%s:\n%s", path, b->data);
	return 0;
}

static const char *fake_name(const struct ring_queue *q, uint64_t kernel_object)
{
	static char name[32];
	snprintf(name, sizeof(name), "p%zu_%x", q->process, (unsigned)kernel_object);
	return kernel_object == 0x30 ? NULL : name;
}

// All of a process's queues, some, or none are in the core.
static int fake_core(struct buf *to, pid_t pid)
{
	if (pid != 102)
		buf_printf(to, "core %d\n", (int)pid);
	return pid == 100 ? GPQ_OK : pid == 101 ? GPQ_PARTIAL : GPQ_DENIED;
}

// A fault and two lines that were lost, one of them of a GPU that is not named, and another's line.
static const char lines[] =
	"3,7,1000001,-;amdgpu 0000:c0:00.0: amdgpu: [gfxhub] page fault (pasid:7)\n"
	"3,8,1000002,-;amdgpu 0000:c0:00.0: amdgpu: MES failed to respond to msg=REMOVE_QUEUE\n"
	"3,8,1000002,-;amdgpu 0000:c0:00.0: amdgpu: ring gfx uses VM inv eng 0\n"
	"3,9,1000003,-;amdgpu: Failed to evict process queues\n";

static void fake_log(struct klog *k)
{
	klog_parse(k, lines, strlen(lines));
}

#define klog_read(k)                        fake_log(k)
#define core_light(to, pid)                 fake_core(to, pid)
#define snapshot_add(v, path, b)            fake_add(v, path, b)
#define kernels_name(k, q, object)          fake_name(q, object)
#define kernels_begin(k, r, o)              ((void)0)
#define kernels_end(k)                      ((void)0)
#define why_kernel_name                     NULL
#define why_say(b, w, all)                  ((void)(w))
#define events_recording_new(p, g, fd, who) ((void)(p), (void)(g), NULL)
#define events_recording_fd(r)              (-1)
#define events_recording_turn(r, last)      false
#include "cmd/snapshot/evidence.c" // NOLINT(bugprone-suspicious-include)

static void test_kernels(void **state)
{
	struct named list[] = {{1, 0x20}, {0, 0x20}, {1, 0x10}, {0, 0x30},
			       {0, 0x20}, {0, 0x10}, {3, 0x30}, {1, 0x20}};
	const struct nameds all = {.v = list, .n = COUNT(list)};
	struct ring_process processes[] = {{.pid = 100}, {.pid = 101}, {.pid = 102}, {.pid = 103}};
	const struct rings rings = {.processes = processes, .nprocesses = 4};
	struct kernels k = {.rings = &rings};
	struct saver v = {0};
	(void)state;
	ARRAY_SORT(list, COUNT(list), by_process_and_object);
	for (size_t i = 0; i < rings.nprocesses; i++)
		assert_int_equal(add_kernels(&v, &k, &all, i), 0);
	assert_string_equal(added, "/proc/100/kernels:\n10 p0_10\n20 p0_20\n"
				   "/proc/101/kernels:\n10 p1_10\n20 p1_20\n");
}

static void test_cores(void **state)
{
	struct saver v = {0};
	struct evidence e = {.cores = false};
	(void)state;
	*added = '\0';
	assert_int_equal(add_core(&v, &e, 101), 0);
	assert_int_equal(e.lost_cores, 0);
	assert_string_equal(added, "");
	e.cores = true;
	for (pid_t pid = 100; pid <= 102; pid++) {
		assert_int_equal(add_core(&v, &e, pid), 0);
		assert_int_equal(e.lost_cores, pid - 100);
	}
	assert_string_equal(added, "/proc/100/gpucore:\ncore 100\n/proc/101/gpucore:\ncore 101\n");
}

// The log as it can be read again, and interrupts look by look.
static void test_driver(void **state)
{
	static struct memory_record none;
	struct evidence e = {.records = &none};
	struct saver v = {0};
	SCOPED(klog_fini) struct klog k = {0};
	(void)state;
	*added = '\0';
	buf_puts(&e.interrupts, "5 0000:c0:00.0 2\n");
	assert_int_equal(evidence_add(&e, &v), 0);
	assert_string_equal(
		added, "/dev/kmsg:\n"
		       "4,0,1000001,-;amdgpu 0000:c0:00.0: amdgpu: [gfxhub] page fault (pasid:7)\n"
		       "4,1,1000002,-;amdgpu 0000:c0:00.0: amdgpu: MES failed to respond to "
		       "msg=REMOVE_QUEUE\n"
		       "4,2,1000003,-;amdgpu: Failed to evict process queues\n"
		       "/INTERRUPTS:\n5 0000:c0:00.0 2\n");
	klog_parse(&k, added, strlen(added));
	assert_int_equal(k.n, 3);
	buf_fini(&e.interrupts);
	*added = '\0';
	v.r = redact_new(); // a fault names programs
	assert_int_equal(add_log(&v), 0);
	assert_string_equal(added, "/dev/kmsg:\n"
				   "4,1,1000002,-;amdgpu 0000:c0:00.0: amdgpu: MES failed to "
				   "respond to msg=REMOVE_QUEUE\n"
				   "4,2,1000003,-;amdgpu: Failed to evict process queues\n");
	redact_free(v.r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_kernels),
					   cmocka_unit_test(test_cores),
					   cmocka_unit_test(test_driver)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
