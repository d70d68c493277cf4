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

static void assert_begins(const char *s, const char *with)
{
	assert_int_equal(!s, !with);
	if (with)
		assert_int_equal(strncmp(s, with, strlen(with)), 0);
}

static const struct klog_line *last(const struct klog *k, const char *bdf, uint64_t since_us,
				    unsigned kinds)
{
	const struct klog_whose whose = {.bdf = bdf, .since_us = since_us};
	return klog_last(k, &whose, kinds);
}

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
	assert_ptr_equal(last(&k, "0000:c0:00.0", 0, all), &k.v[3]);
	assert_ptr_equal(last(&k, "0000:c0:00.0", 0, KLOG_LOST), &k.v[2]);
	assert_ptr_equal(last(&k, "0000:c0:00.0", 16724419, all), &k.v[3]);
	assert_null(last(&k, "0000:c0:00.0", 16724420, all));
	assert_null(last(&k, "0000:c0:00.0", 0, KLOG_FAULT));
	assert_ptr_equal(last(&k, "0000:c1:00.0", 0, KLOG_FAULT), &k.v[5]);
	assert_null(last(&k, "0000:c2:00.0", 0, all));
	assert_null(last(&k, NULL, 0, all));
	klog_fini(&k);
	assert_null(k.v);
	klog_parse(&k, "", 0);
	assert_int_equal(k.n, 0);
	klog_fini(&k);
}

// Lines of trouble as people reported them in 2026 [kfd.log], in the forms of dmesg, dmesg -T,
// journalctl -k and /dev/kmsg.
static void test_trouble(void **state)
{
	static const char mes[] = "the MES", hws[] = "the HWS", dead[] = "the reset failed",
			  keep[] = "gpq hang keeps the evidence; then end",
			  reboot[] = "gpq hang keeps the evidence; then reboot",
			  fewer[] = "run fewer processes on this GPU";
	static const struct {
		const char *line, *bdf, *text, *meaning, *remedy;
		enum klog_kind kind;
		uint64_t us;
		int64_t pid;
		uint64_t pasid;
	} rows[] = {
		{"[  950.818166] amdgpu 0000:c5:00.0: amdgpu: MES failed to respond to "
		 "msg=REMOVE_QUEUE",
		 "0000:c5:00.0", "MES failed to respond to msg=REMOVE_QUEUE", mes, keep, KLOG_LOST,
		 950818166, 0, 0},
		{"May 26 18:09:55 fedora kernel: "
		 "[drm:mes_v11_0_submit_pkt_and_poll_completion.constprop.0 [amdgpu]] *ERROR* MES "
		 "failed to response msg=3",
		 "", "MES failed to response msg=3", mes, keep, KLOG_LOST, KLOG_NO_TIME, 0, 0},
		{"[Wed Jul 30 20:12:38 2025] amdgpu 0000:65:00.0: amdgpu: failed to remove "
		 "hardware queue from MES, doorbell=0x1004",
		 "0000:65:00.0", "failed to remove hardware queue from MES, doorbell=0x1004", mes,
		 keep, KLOG_LOST, KLOG_NO_TIME, 0, 0},
		{"[354561.778054] amdgpu: failed to remove hardware queue from MES, "
		 "doorbell=0x1202",
		 "", "failed to remove hardware queue from MES, doorbell=0x1202", mes, keep,
		 KLOG_LOST, 354561778054, 0, 0},
		{"3,7,950818174,-;amdgpu 0000:c5:00.0: amdgpu: MES might be in unrecoverable "
		 "state, issue a GPU reset",
		 "0000:c5:00.0", "MES might be in unrecoverable state, issue a GPU reset",
		 "the driver gave up the MES", keep, KLOG_LOST, 950818174, 0, 0},
		{"<3>[  650.160703] [drm:amdgpu_device_fw_loading [amdgpu]] *ERROR* resume of IP "
		 "block <psp> failed -62",
		 "", "resume of IP block <psp> failed -62", dead, reboot, KLOG_DEAD, 650160703, 0,
		 0},
		{"[  650.160935] [ T1234] amdgpu 0000:0b:00.0: amdgpu: GPU reset(1) failed",
		 "0000:0b:00.0", "GPU reset(1) failed", dead, reboot, KLOG_DEAD, 650160935, 0, 0},
		{"[  650.161000] amdgpu 0000:0b:00.0: amdgpu: GPU reset end with ret = -62",
		 "0000:0b:00.0", "GPU reset end with ret = -62", dead, reboot, KLOG_DEAD, 650161000,
		 0, 0},
		{"[  659.161269] amdgpu: qcm fence wait loop timeout expired", "",
		 "qcm fence wait loop timeout expired", hws, keep, KLOG_LOST, 659161269, 0, 0},
		{"2026-07-30T20:12:38,123456+02:00 kfd kfd: amdgpu: qcm fence wait loop timeout "
		 "expired",
		 "", "qcm fence wait loop timeout expired", hws, keep, KLOG_LOST, KLOG_NO_TIME, 0,
		 0},
		{"[  659.161272] amdgpu: The cp might be in an unrecoverable state due to an "
		 "unsuccessful queues preemption",
		 "",
		 "The cp might be in an unrecoverable state due to an unsuccessful queues "
		 "preemption",
		 "the driver gave up the HWS", keep, KLOG_LOST, 659161272, 0, 0},
		{"[81798.060546] amdgpu: Failed to evict process queues", "",
		 "Failed to evict process queues", "queues could not", keep, KLOG_LOST, 81798060546,
		 0, 0},
		{"[74882.845450] amdgpu 0000:03:00.0: amdgpu: HIQ MQD's queue_doorbell_id0 is not "
		 "0, Queue preemption time out",
		 "0000:03:00.0", "HIQ MQD's queue_doorbell_id0 is not 0, Queue preemption time out",
		 "a queue did not leave", keep, KLOG_LOST, 74882845450, 0, 0},
		{"Aug 05 10:22:08.541782 server kernel: amdgpu: Freeing queue vital buffer "
		 "0x76fe3ea00000, queue evicted",
		 "", "Freeing queue vital buffer 0x76fe3ea00000, queue evicted",
		 "a process freed memory", "if the process was not about to end", KLOG_FREED,
		 KLOG_NO_TIME, 0, 0},
		{"Aug 05 10:28:24.811915 server kernel: amdgpu 0000:c5:00.0: amdgpu: No more SDMA "
		 "queue to allocate",
		 "0000:c5:00.0", "No more SDMA queue to allocate", "all SDMA queues", fewer,
		 KLOG_NONE, KLOG_NO_TIME, 0, 0},
		{"Aug 05 10:28:24.812377 server kernel: amdgpu: process pid 3972722 DQM create "
		 "queue type 1 failed. ret -12",
		 "", "process pid 3972722 DQM create queue type 1 failed. ret -12",
		 "a process did not get a queue", fewer, KLOG_NONE, KLOG_NO_TIME, 3972722, 0},
		{"[74795.658906] amdgpu: Pasid 0x8021 DQM create queue type 1 failed. ret -12", "",
		 "Pasid 0x8021 DQM create queue type 1 failed. ret -12",
		 "a process did not get a queue", fewer, KLOG_NONE, 74795658906, 0, 0x8021},
		{"[74882.845453] amdgpu: Pasid 0x8011 DQM create queue type 0 failed. ret -62", "",
		 "Pasid 0x8011 DQM create queue type 0 failed. ret -62", "the GPU did not take",
		 keep, KLOG_LOST, 74882845453, 0, 0x8011},
		{"[    5.000000] amdgpu 0000:65:00.0: amdgpu: [gfxhub] page fault (src_id:0 "
		 "ring:88 vmid:8 pasid:32787, for process process pid 1 pid 77 thread x pid 78)",
		 "0000:65:00.0",
		 "[gfxhub] page fault (src_id:0 ring:88 vmid:8 pasid:32787, for process process "
		 "pid 1 pid 77 thread x pid 78)",
		 NULL, NULL, KLOG_FAULT, 5000000, 0, 32787},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct klog k;
		klog_parse(&k, rows[i].line, strlen(rows[i].line));
		print_message("%s\n", rows[i].line);
		assert_int_equal(k.n, 1);
		assert_int_equal(k.lines, 1);
		assert_string_equal(k.v[0].bdf, rows[i].bdf);
		assert_string_equal(k.v[0].text, rows[i].text);
		assert_int_equal(k.v[0].kind, rows[i].kind);
		assert_true(k.v[0].us == rows[i].us);
		assert_int_equal(k.v[0].pid, rows[i].pid);
		assert_int_equal(k.v[0].pasid, rows[i].pasid);
		assert_begins(k.v[0].meaning, rows[i].meaning);
		assert_begins(klog_remedy(k.v[0].kind), rows[i].remedy);
		klog_fini(&k);
	}
}

// What is no trouble of a GPU, or not the driver's; and what is no log at all.
static void test_others(void **state)
{
	static const struct {
		const char *line;
		size_t lines;
	} rows[] = {
		{"[    1.000000] [drm] PSP is resuming...", 1},
		{"[    1.000000] amdgpu 0000:0b:00.0: amdgpu: GPU mode1 ready", 1},
		{"[    1.000000] amdgpu: page fault", 1}, // of which GPU?
		{"[    1.000000] amdgpu: GPU reset begin!", 1},
		{"[    1.000000] nvme: unrecoverable state", 1},
		{"[    1.000000] x amdgpu: qcm fence wait loop timeout expired", 1},
		{"[drm:x [nouveau]] *ERROR* PSP resume failed", 0},
		{"[drm:", 0},
		{"[", 0},
		{"[    1.000000", 0},
		{"<3", 0},
		{"[section]", 0},
		{"[1]+  Done    sleep 1", 0},
		{":3:hip_memory.cpp :700 : 0000000 us: [pid:7 tid: 0x7f00] amdgpu: "
		 "qcm fence wait loop timeout expired",
		 0},
		{"2026-07-30T20:12:38", 0},
		{"text", 0},
		{"", 0},
	};
	struct klog k;
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		klog_parse(&k, rows[i].line, strlen(rows[i].line));
		print_message("%s\n", rows[i].line);
		assert_int_equal(k.n, 0);
		assert_int_equal(k.lines, rows[i].lines);
		klog_fini(&k);
	}
	static const char cut[] =
		"text\0[    1.000000] amdgpu: qcm fence wait loop timeout expired";
	klog_parse(&k, cut, sizeof(cut) - 1);
	assert_int_equal(k.n, 1); // NUL ends a line, not the log
	klog_fini(&k);
	static const char tenths[] = "[   1.5] amdgpu: qcm fence wait loop timeout";
	klog_parse(&k, tenths, strlen(tenths));
	assert_true(k.v[0].us == KLOG_NO_TIME); // microseconds have six digits
	klog_fini(&k);
}

// Whom a line is about: lines that name no GPU, or another process.
static void test_whose(void **state)
{
	static const char log[] =
		"[    1.000000] amdgpu 0000:c0:00.0: amdgpu: x page fault (pasid:7)\n"
		"[    2.000000] amdgpu: process pid 40 DQM create queue type 1 failed. ret -12\n"
		"[    3.000000] amdgpu: qcm fence wait loop timeout expired\n"
		"host kernel: amdgpu 0000:c1:00.0: amdgpu: GPU reset begin!\n";
	static const struct {
		struct klog_whose whose;
		unsigned kinds;
		int line; // -1: none
	} rows[] = {
		{{.bdf = "0000:c0:00.0"}, KLOG_FAULT, 0},
		{{.bdf = "0000:c0:00.0", .pid = 40, .pasid = 7}, KLOG_FAULT, 0},
		{{.bdf = "0000:c0:00.0", .pid = 40, .pasid = 8}, KLOG_FAULT, -1},
		{{.bdf = "0000:c0:00.0", .pid = 40, .pasid = UINT64_MAX}, KLOG_FAULT, 0},
		{{.bdf = "0000:c0:00.0", .pid = 40}, KLOG_NONE, 1},
		{{.bdf = "0000:c0:00.0", .pid = 41, .unnamed = true}, KLOG_NONE, -1},
		{{.bdf = "0000:c0:00.0", .pid = 40}, KLOG_LOST, -1},
		{{.bdf = "0000:c0:00.0", .pid = 40, .unnamed = true}, KLOG_LOST, 2},
		{{.unnamed = true, .since_us = 3000001}, KLOG_LOST, -1},
		{{.bdf = "0000:c1:00.0", .since_us = UINT64_MAX}, KLOG_RESET, 3}, // without time
		{{.bdf = "0000:c0:00.0"}, KLOG_RESET, -1},
	};
	struct klog k;
	(void)state;
	klog_parse(&k, log, strlen(log));
	assert_int_equal(k.n, 4);
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct klog_line *l = klog_last(&k, &rows[i].whose, rows[i].kinds);
		assert_int_equal(l ? l - k.v : -1, rows[i].line);
	}
	klog_fini(&k);
}

// Lines about lost queues behind a reset: of its GPU, and less than 5 s later, they do not count.
static void test_mended(void **state)
{
	static const char log[] =
		"[   10.000000] amdgpu 0000:c0:00.0: amdgpu: GPU reset(1) succeeded!\n"
		"[   12.000000] amdgpu 0000:c1:00.0: amdgpu: Failed to evict process queues\n"
		"[   14.999999] amdgpu 0000:c0:00.0: amdgpu: Failed to evict process queues\n"
		"[   20.000000] amdgpu 0000:c2:00.0: amdgpu: GPU reset(1) succeeded!\n"
		"[   25.000000] amdgpu 0000:c2:00.0: amdgpu: Failed to evict process queues\n"
		"[   30.000000] amdgpu 0000:c3:00.0: amdgpu: Failed to evict process queues\n"
		"[   31.000000] amdgpu 0000:c3:00.0: amdgpu: GPU reset(1) succeeded!\n"
		"host kernel: amdgpu 0000:c4:00.0: amdgpu: GPU reset(1) succeeded!\n"
		"host kernel: amdgpu 0000:c4:00.0: amdgpu: Failed to evict process queues\n";
	static const struct {
		const char *bdf;
		uint64_t since_us;
		unsigned kinds;
		int line; // -1: none
	} rows[] = {
		{"0000:c0:00.0", 0, KLOG_LOST, -1},
		{"0000:c0:00.0", 11000000, KLOG_LOST, -1},
		{"0000:c0:00.0", 0, KLOG_LOST | KLOG_RESET, 0},
		{"0000:c1:00.0", 0, KLOG_LOST, 1},
		{"0000:c2:00.0", 0, KLOG_LOST | KLOG_RESET, 4},
		{"0000:c3:00.0", 0, KLOG_LOST, 5},
		{"0000:c4:00.0", 0, KLOG_LOST | KLOG_RESET, 8}, // without time
	};
	struct klog k;
	(void)state;
	klog_parse(&k, log, strlen(log));
	assert_int_equal(k.n, 9);
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct klog_line *l = last(&k, rows[i].bdf, rows[i].since_us, rows[i].kinds);
		assert_int_equal(l ? l - k.v : -1, rows[i].line);
	}
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
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),    cmocka_unit_test(test_trouble),
		cmocka_unit_test(test_others),   cmocka_unit_test(test_whose),
		cmocka_unit_test(test_recorded), cmocka_unit_test(test_memory),
		cmocka_unit_test(test_mended)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
