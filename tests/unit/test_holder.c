// common/holder: the line protocol, its sockets' names, failures; and a holder without a GPU.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/holder/failure.h"
#include "common/holder/holder_priv.h"
#include "common/holder/protocol.h"
#include "common/holder/rundir.h"
#include "common/holder/ptrace.h"
#include "tests/unit/files.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

// Directories that are looked into are told, and stood for by a private one of this test.
static char looked[512], private_dir[64];

static int fake_open(const char *path, int flags)
{
	if (!*private_dir)
		return open(path, flags);
	strcat(strcat(looked, path), " ");
	return open(private_dir, flags);
}

#define open fake_open
#include "common/holder/rundir.c" // NOLINT(bugprone-suspicious-include)
#undef open

static int parse(const char *text, struct holder_request *r, struct kfd_failure *f)
{
	char line[HOLDER_LINE_MAX];
	snprintf(line, sizeof(line), "%s", text);
	return holder_request_parse(line, r, f);
}

static void test_requests(void **state)
{
	struct holder_request r;
	struct kfd_failure f;
	(void)state;
	assert_int_equal(parse("suspend", &r, &f), 0);
	assert_int_equal(r.verb, HOLDER_SUSPEND);
	assert_int_equal(r.sel.num_ids + r.sel.num_gpus, 0);
	assert_false(r.tie || r.idle || r.addresses || r.gpus || r.for_ns);
	assert_int_equal(parse("suspend devices", &r, &f), 0);
	assert_true(r.gpus);
	assert_int_equal(
		parse("suspend queues=0,1023 gpus=41460 grace=255 for_ns=50000000 tie idle", &r,
		      &f),
		0);
	assert_int_equal(r.sel.num_ids, 2);
	assert_int_equal(r.sel.ids[1], 1023);
	assert_int_equal(r.sel.gpus[0], 41460);
	assert_int_equal(r.grace, 255);
	assert_int_equal(r.for_ns, 50000000);
	assert_true(r.tie && r.idle);
	assert_int_equal(parse("resume keep", &r, &f), 0);
	assert_true(r.verb == HOLDER_RESUME && r.keep);
	assert_int_equal(parse("hold", &r, &f), 0);
	assert_int_equal(r.verb, HOLDER_HOLD);
}

static void test_bad_requests(void **state)
{
	static const char *const bad[] = {
		"",
		"jump",
		"suspend  tie",
		"suspend tie ",
		"suspend queues=",
		"suspend queues=1,",
		"suspend queues=x",
		"suspend queues=-1",
		"suspend grace",
		"suspend grace=256",
		"suspend grace=0x1",
		"suspend grace=1 2",
		"suspend for_ns=0",
		"suspend keep",
		"resume tie",
		"status queues=1",
		"suspend tie=1",
		"SUSPEND",
		"suspend queues=1 queues=+2",
		"suspend for_ns=99999999999999999999",
	};
	struct holder_request r;
	struct kfd_failure f;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		if (parse(bad[i], &r, &f) == 0)
			fail_msg("accepted: '%s'", bad[i]);
		assert_int_equal(f.status, 2);
	}
}

// 1024 ids fit, one more does not.
static void test_many_ids(void **state)
{
	char line[HOLDER_LINE_MAX] = "suspend queues=0";
	struct holder_request r;
	struct kfd_failure f;
	size_t n = strlen(line);
	(void)state;
	for (int i = 1; i < 1024; i++)
		n += (size_t)sprintf(line + n, ",%d", i);
	assert_true(n < sizeof(line));
	assert_int_equal(parse(line, &r, &f), 0);
	assert_int_equal(r.sel.num_ids, 1024);
	assert_int_equal(r.sel.ids[1023], 1023);
	strcpy(line + n, ",7");
	assert_int_equal(parse(line, &r, &f), -1);
}

static void test_answers(void **state)
{
	char queue[] = "queue id=3 gpu=41460 type=compute packets=aql result=suspended "
		       "latency_ns=180321 ring=7f00 "
		       "ring_size=65536 read=7f001000 write=7f002038 ctx=7fff00000000 "
		       "ctx_size=12214272 xccs=4 exceptions=4000000000000020 colour=blue bare";
	char ok[] = "ok holder=12 target=34 held=2 since_ns=99 until_ns=0 follows=1 kept=0 ended=1 "
		    "r_debug=7f00 runtime=3 ttmps=2";
	char error[] = "error 4 already traced by pid 7 (gdb)";
	struct kfd_outcome q;
	struct kfd_answer a = {0};
	struct kfd_failure f;
	(void)state;
	assert_int_equal(holder_answer_parse(queue, &q, &a, &f), HOLDER_LINE_QUEUE);
	assert_int_equal(q.queue.queue_id, 3);
	assert_int_equal(q.queue.gpu_id, 41460);
	assert_int_equal(q.queue.queue_type, KFD_SNAPSHOT_COMPUTE_AQL);
	assert_int_equal(q.result, KFD_RESULT_SUSPENDED);
	assert_int_equal(q.latency_ns, 180321);
	assert_int_equal(q.queue.ring_size, 65536);
	assert_int_equal(q.queue.write_pointer_address, 0x7f002038);
	assert_int_equal(q.queue.ctx_save_restore_address, 0x7fff00000000);
	assert_int_equal(q.xccs, 4);
	assert_int_equal(q.queue.exception_status, 0x4000000000000020);
	assert_int_equal(holder_answer_parse(ok, &q, &a, &f), HOLDER_LINE_OK);
	assert_true(a.holder == 12 && a.held == 2 && a.since_ns == 99 && a.until_ns == 0);
	assert_true(a.follows && !a.kept && a.ended);
	assert_true(a.runtime.r_debug == 0x7f00 && a.runtime.runtime_state == 3 &&
		    a.runtime.ttmp_setup == 2);
	assert_int_equal(holder_answer_parse(error, &q, &a, &f), HOLDER_LINE_ERROR);
	assert_int_equal(f.status, 4);
	assert_string_equal(f.text, "already traced by pid 7 (gdb)");
}

static void test_bad_answers(void **state)
{
	static const char *const bad[] = {"",          "okay",    "error",       "error x",
					  "error 0 y", "error 5", "error 256 z", "hello"};
	struct kfd_outcome q;
	struct kfd_answer a = {0};
	struct kfd_failure f;
	char line[64];

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		strcpy(line, bad[i]);
		assert_int_equal(holder_answer_parse(line, &q, &a, &f), HOLDER_LINE_BAD);
	}
}

// "gpu entry=" and two digits a byte; anything shorter is no line of a holder.
static void test_gpu_line(void **state)
{
	struct kfd_device_entry g = {0};
	char line[HOLDER_LINE_MAX], digits[] = "01a4000000000000";
	struct kfd_answer a = {0};
	struct kfd_outcome q;
	struct kfd_failure f;
	(void)state;
	g.exception_status = 0xa401;
	g.debug_prop = 0xfe00007f;
	const size_t n = holder_format_gpu(line, &g);
	assert_int_equal(n, 10 + 2 * 120 + 1);
	assert_memory_equal(line, "gpu entry=01a4000000000000", 10 + 16);
	assert_string_equal(line + n - 9, "7f0000fe\n");
	line[n - 1] = '\0';
	assert_int_equal(holder_answer_parse(line, &q, &a, &f), HOLDER_LINE_GPU);
	assert_int_equal(a.num_gpus, 1);
	assert_memory_equal(a.gpus, &g, sizeof(g));
	for (unsigned i = 1; i <= KFD_MAX_GPUS; i++) {
		holder_format_gpu(line, &g);
		assert_int_equal(holder_answer_parse(line, &q, &a, &f),
				 i < KFD_MAX_GPUS ? HOLDER_LINE_GPU : HOLDER_LINE_BAD);
	}
	a.num_gpus = 0;
	line[n - 1] = '\0';
	line[n - 2] = '\0';
	assert_int_equal(holder_answer_parse(line, &q, &a, &f), HOLDER_LINE_BAD);
	holder_format_gpu(line, &g);
	line[n - 2] = 'g';
	assert_int_equal(holder_answer_parse(line, &q, &a, &f), HOLDER_LINE_BAD);
	holder_format_gpu(line, &g);
	line[4] = 'E';
	assert_int_equal(holder_answer_parse(line, &q, &a, &f), HOLDER_LINE_BAD);
	char bare[] = "gpu", half[64];
	snprintf(half, sizeof(half), "gpu entry=%s", digits);
	assert_int_equal(holder_answer_parse(bare, &q, &a, &f), HOLDER_LINE_BAD);
	assert_int_equal(holder_answer_parse(half, &q, &a, &f), HOLDER_LINE_BAD);
	assert_int_equal(a.num_gpus, 0);
	free(a.gpus);
}

// Words may come in any order, once more, and between others.
static void test_order(void **state)
{
	char ok[] = "ok ttmps=2 ended=1 new=5 kept=0 holder=12 held=3 held=4 since_ns=99 bare "
		    "target=34",
	     queue[] = "queue xccs=4 result=held packets=pm4 type=compute id=3 gpu=7 packets=aql "
		       "ctx=10 new=1 "
		       "ring=20";
	struct kfd_outcome q;
	struct kfd_answer a = {0};
	struct kfd_failure f;
	(void)state;
	assert_int_equal(holder_answer_parse(ok, &q, &a, &f), HOLDER_LINE_OK);
	assert_true(a.runtime.ttmp_setup == 2 && a.ended && !a.kept && a.holder == 12);
	assert_true(a.held == 4 && a.since_ns == 99 && a.target == 34 && !a.until_ns);
	assert_int_equal(holder_answer_parse(queue, &q, &a, &f), HOLDER_LINE_QUEUE);
	assert_true(q.xccs == 4 && q.queue.queue_id == 3 && q.queue.gpu_id == 7);
	assert_int_equal(q.queue.queue_type, KFD_SNAPSHOT_COMPUTE_AQL);
	assert_true(q.queue.ctx_save_restore_address == 0x10 && q.queue.ring_base_address == 0x20);
}

static void test_ok_line(void **state)
{
	const struct kfd_answer a = {
		.holder = 1, .target = 2, .kept = true, .runtime = {0x7f00, 1, 5}};
	const char *
		plain = "ok holder=1 target=2 held=0 since_ns=0 until_ns=0 follows=0 kept=1 "
			"ended=0\n",
	       *full = "ok holder=1 target=2 held=0 since_ns=0 until_ns=0 follows=0 kept=1 ended=0 "
		       "r_debug=7f00 runtime=1 ttmps=5\n";
	char line[HOLDER_LINE_MAX];
	(void)state;
	assert_int_equal(holder_format_ok(line, &a, false), strlen(plain));
	assert_string_equal(line, plain);
	assert_int_equal(holder_format_ok(line, &a, true), strlen(full));
	assert_string_equal(line, full);
}

// What is written is what is read.
static void test_round_trip(void **state)
{
	struct kfd_outcome q = {.queue = {.queue_id = 1023,
					  .gpu_id = UINT32_MAX,
					  .queue_type = KFD_SNAPSHOT_SDMA_XGMI,
					  .ring_base_address = UINT64_MAX,
					  .ctx_save_restore_area_size = UINT32_MAX},
				.result = KFD_RESULT_TIMEOUT,
				.latency_ns = UINT64_MAX,
				.until_ns = 4711,
				.xccs = 8},
			   got;
	char line[HOLDER_LINE_MAX];
	struct kfd_answer a;
	struct kfd_failure f;
	size_t n = holder_format_queue(line, &q, true);
	(void)state;
	assert_int_equal(line[n - 1], '\n');
	line[n - 1] = '\0';
	assert_int_equal(holder_answer_parse(line, &got, &a, &f), HOLDER_LINE_QUEUE);
	assert_memory_equal(&q, &got, sizeof(q));
	holder_format_queue(line, &q, true);
	assert_non_null(strstr(line, " type=sdma-xgmi result="));
	q.queue.queue_type = KFD_SNAPSHOT_COMPUTE;
	holder_format_queue(line, &q, true);
	assert_non_null(strstr(line, " type=compute packets=pm4 result="));
	line[strcspn(line, "\n")] = '\0';
	assert_int_equal(holder_answer_parse(line, &got, &a, &f), HOLDER_LINE_QUEUE);
	assert_int_equal(got.queue.queue_type, KFD_SNAPSHOT_COMPUTE);
	q.queue.queue_type = KFD_SNAPSHOT_COMPUTE_AQL;
	holder_format_queue(line, &q, true);
	assert_non_null(strstr(line, " type=compute packets=aql result="));
	q.queue.read_pointer_address = 0x10;
	q.queue.write_pointer_address = 0x20;
	holder_format_queue(line, &q, true);
	assert_non_null(strstr(line, " read=10 write=20 "));
}

static void test_socket_names(void **state)
{
	static const char *const bad[] = {"lock",   "12",     "12-", "-5-6", "12-34x",
					  "012-34", "12-034", "0-1", ""};
	char name[KFD_SOCKET_NAME_SIZE];
	uint64_t start;
	pid_t pid;

	(void)state;
	kfd_socket_name(name, 4711, 1234567);
	assert_string_equal(name, "4711-1234567");
	assert_true(kfd_socket_parse(name, &pid, &start) && pid == 4711 && start == 1234567);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(kfd_socket_parse(bad[i], &pid, &start));
}

// Each errno of [kfd.open-errors], [kfd.check-order] and [kfd.enable], with the exit status and a
// word of the sentence it must give.
static void test_failures(void **state)
{
	static const struct {
		enum kfd_step step;
		int error, status;
		const char *word;
	} cases[] = {
		{KFD_STEP_OPEN, ENOENT, 6, "amdgpu"},
		{KFD_STEP_OPEN, EACCES, 4, "render"},
		{KFD_STEP_OPEN, EINVAL, 1, "reset"},
		{KFD_STEP_PROBE, ENOTTY, 6, "too old"},
		{KFD_STEP_SEIZE, ESRCH, 5, "no such process"},
		{KFD_STEP_PROBE, ESRCH, 5, "not a KFD process"},
		{KFD_STEP_ENABLE, EALREADY, 4, "rocgdb"},
		{KFD_STEP_ENABLE, ENODEV, 6, "gfx9"},
		{KFD_STEP_ENABLE, EBUSY, 6, "CU mask"},
		{KFD_STEP_SUSPEND, EPERM, 6, "runtime"},
		{KFD_STEP_SUSPEND, ESRCH, 5, "ended"},
		{KFD_STEP_RESUME, EINVAL, 1, "somebody else ended"},
		{KFD_STEP_SUSPEND, EIO, 1, "Input/output error"},
	};
	struct kfd_failure f;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(kfd_fail_errno(&f, cases[i].step, cases[i].error), -1);
		assert_int_equal(f.status, cases[i].status);
		assert_non_null(strstr(f.text, cases[i].word));
	}
	kfd_fail(&f, KFD_FAULT_TRACED, 7, "a\nb\x1b[31m");
	assert_null(strpbrk(f.text, "\n\x1b"));
#define HAS_STATUS(name, status, sentence) assert_true((status) != 0 && *(sentence));
	enum { FAILED = 1, USAGE, DENIED = 4, NOT_FOUND, UNSUPPORTED, DEADLINE = 124 };
	KFD_FAULTS(HAS_STATUS)
}

// A process to hold, and a directory for the holders' sockets.
static pid_t victim;

static int setup(void **state)
{
	char dir[] = "/tmp/gpq-test-XXXXXX";
	(void)state;
	if (!mkdtemp(dir))
		return -1;
	setenv("XDG_RUNTIME_DIR", dir, 1);
	victim = fork();
	if (victim == 0) {
		pause();
		_exit(0);
	}
	return victim < 0 ? -1 : 0;
}

static int teardown(void **state)
{
	char path[128];
	(void)state;
	kill(victim, SIGKILL);
	waitpid(victim, NULL, 0);
	snprintf(path, sizeof(path), "%s/gpq", getenv("XDG_RUNTIME_DIR"));
	return rmdir(path) || rmdir(getenv("XDG_RUNTIME_DIR"));
}

static void reap_holder(pid_t holder)
{
	assert_int_equal(waitpid(holder, NULL, 0), holder);
}

// Without KFD the protocol works all the same, and a request for queues is answered by the reason.
static void test_holder_without_kfd(void **state)
{
	struct kfd_target t;
	struct kfd_link l;
	struct kfd_failure f;
	pid_t holder;
	(void)state;
	if (access("/dev/kfd", F_OK) == 0)
		skip();
	assert_int_equal(kfd_target_pin(&t, victim, 0, &f), 0);
	assert_int_equal(kfd_link_open(&l, &t, false, &f), -1);
	assert_int_equal(f.status, 5);
	assert_int_equal(kfd_link_open(&l, &t, true, &f), 0);
	assert_int_equal(kfd_link_send(&l, "status", &f), 0);
	assert_int_equal(kfd_link_receive(&l, 10000, &f), 0);
	holder = l.answer.holder;
	assert_true(holder > 0 && holder != getpid());
	assert_int_equal(l.answer.num + l.answer.held, 0);
	assert_int_equal(kfd_link_send(&l, "nonsense", &f), 0);
	assert_int_equal(kfd_link_receive(&l, 10000, &f), -1);
	assert_int_equal(f.status, 2);
	assert_int_equal(kfd_link_send(&l, "suspend", &f), 0);
	assert_int_equal(kfd_link_receive(&l, 10000, &f), -1);
	assert_int_equal(f.status, 6);
	assert_non_null(strstr(f.text, "/dev/kfd"));
	kfd_link_close(&l);
	reap_holder(holder);
	kfd_target_unpin(&t);
}

// A thousand connections that say nothing, or nonsense without end, keep nobody out.
static void test_crowd(void **state)
{
	enum { CROWD = 1000 };
	static int fds[CROWD];
	char path[256], junk[HOLDER_LINE_MAX];
	struct kfd_target t;
	struct kfd_link l;
	struct kfd_failure f;
	int dir;

	(void)state;
	assert_int_equal(kfd_target_pin(&t, victim, 0, &f), 0);
	assert_int_equal(kfd_link_open(&l, &t, true, &f), 0);
	assert_int_equal(kfd_link_send(&l, "status", &f), 0);
	assert_int_equal(kfd_link_receive(&l, 10000, &f), 0);
	pid_t holder = l.answer.holder;
	dir = kfd_rundir_open(&f);
	assert_true(dir >= 0);
	kfd_socket_name(path, t.pid, t.start);
	memset(junk, 'x', sizeof(junk));
	for (int i = 0; i < CROWD; i++) {
		fds[i] = kfd_socket_connect(dir, path, 1000);
		assert_true(fds[i] >= 0);
		if (i % 3 == 0)
			send(fds[i], junk, sizeof(junk), MSG_NOSIGNAL | MSG_DONTWAIT);
		if (i % 10 == 9 && i < CROWD - 10)
			close(fds[i - 5]);
	}
	kfd_link_close(&l);
	assert_int_equal(kfd_link_open(&l, &t, false, &f), 0);
	assert_int_equal(kfd_link_send(&l, "status", &f), 0);
	assert_int_equal(kfd_link_receive(&l, 10000, &f), 0);
	assert_int_equal(l.answer.holder, holder);
	kfd_link_close(&l);
	for (int i = 0; i < CROWD; i++)
		close(fds[i]);
	close(dir);
	reap_holder(holder);
	kfd_target_unpin(&t);
}

// Who asks and does not read is not answered for a while, loses nothing, and keeps nobody waiting.
static void test_slow_client(void **state)
{
	enum { REQUESTS = 20000 };
	static char text[7 * REQUESTS], got[1 << 16];
	struct kfd_target t;
	struct kfd_link l, other;
	struct kfd_failure f;
	size_t lines = 0, sent = 0;
	ssize_t n = 0;

	(void)state;
	for (int i = 0; i < REQUESTS; i++)
		memcpy(text + 7 * i, "status\n", 7);
	assert_int_equal(kfd_target_pin(&t, victim, 0, &f), 0);
	assert_int_equal(kfd_link_open(&l, &t, true, &f), 0);
	// As much as goes without reading: more than a socket holds of answers.
	while ((n = send(l.fd, text + sent, sizeof(text) - sent, MSG_NOSIGNAL | MSG_DONTWAIT)) > 0)
		sent += (size_t)n;
	assert_int_equal(kfd_link_open(&other, &t, false, &f), 0);
	assert_int_equal(kfd_link_send(&other, "status", &f), 0);
	assert_int_equal(kfd_link_receive(&other, 10000, &f), 0);
	pid_t holder = other.answer.holder;
	kfd_link_close(&other);
	while (lines < REQUESTS) {
		n = recv(l.fd, got, sizeof(got), 0);
		assert_true(n > 0);
		for (ssize_t i = 0; i < n; i++)
			lines += got[i] == '\n';
		n = send(l.fd, text + sent, sizeof(text) - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
		sent += n > 0 ? (size_t)n : 0;
	}
	assert_int_equal(sent, sizeof(text));
	kfd_link_close(&l);
	reap_holder(holder);
	kfd_target_unpin(&t);
}

// Another user gets nothing out of a holder, even when the directory and the socket let him in.
static void test_other_uid(void **state)
{
	char name[KFD_SOCKET_NAME_SIZE], path[160], byte;
	struct kfd_target t;
	struct kfd_link l;
	struct kfd_failure f;
	int dir, status;
	(void)state;
	if (geteuid() != 0)
		skip();
	assert_int_equal(kfd_target_pin(&t, victim, 0, &f), 0);
	assert_int_equal(kfd_link_open(&l, &t, true, &f), 0);
	assert_int_equal(kfd_link_send(&l, "status", &f), 0);
	assert_int_equal(kfd_link_receive(&l, 10000, &f), 0);
	pid_t holder = l.answer.holder;
	dir = kfd_rundir_open(&f);
	kfd_socket_name(name, t.pid, t.start);
	snprintf(path, sizeof(path), "%s/gpq/%s", getenv("XDG_RUNTIME_DIR"), name);
	assert_int_equal(chmod(path, 0777), 0);
	assert_int_equal(chmod(getenv("XDG_RUNTIME_DIR"), 0755), 0);
	pid_t stranger = fork();
	if (stranger == 0) {
		if (setresuid(1234, 1234, 1234))
			_exit(9);
		if (kfd_socket_connect(dir, name, 1000) != -EACCES)
			_exit(8); // the directory is closed
		_exit(0);
	}
	assert_int_equal(waitpid(stranger, &status, 0), stranger);
	assert_int_equal(status, 0);
	assert_int_equal(fchmod(dir, 0710), 0); // not closed to its group
	assert_int_equal(kfd_rundir_open(&f), -1);
	assert_int_equal(fchmod(dir, 0755), 0);
	stranger = fork();
	if (stranger == 0) {
		int fd = setresuid(1234, 1234, 1234) ? -1 : kfd_socket_connect(dir, name, 1000);
		if (fd < 0 || fcntl(fd, F_SETFL, 0) || send(fd, "status\n", 7, MSG_NOSIGNAL) < 0)
			_exit(fd < 0 ? 8 : 0);
		_exit(recv(fd, &byte, 1, 0) <= 0 ? 0 : 7); // the holder hangs up
	}
	assert_int_equal(waitpid(stranger, &status, 0), stranger);
	assert_int_equal(status, 0);
	assert_int_equal(fchmod(dir, 0700), 0);
	kfd_link_close(&l);
	close(dir);
	reap_holder(holder);
	kfd_target_unpin(&t);
}

// The directory is refused when others could get in.
static void test_directory(void **state)
{
	struct kfd_failure f;
	char path[128];
	int dir = kfd_rundir_open(&f);
	(void)state;
	assert_true(dir >= 0);
	close(dir);
	snprintf(path, sizeof(path), "%s/gpq", getenv("XDG_RUNTIME_DIR"));
	assert_int_equal(chmod(path, 0755), 0);
	assert_int_equal(kfd_rundir_open(&f), -1);
	assert_non_null(strstr(f.text, "chmod 700"));
	assert_int_equal(chmod(path, 0700), 0);
}

static void test_pin(void **state)
{
	struct kfd_target t;
	struct kfd_failure f;
	uint64_t start = kfd_target_start(getpid());
	(void)state;
	assert_true(start > 0);
	assert_int_equal(kfd_target_pin(&t, getpid(), start + 1, &f), -1);
	assert_int_equal(f.status, 5);
	assert_non_null(strstr(f.text, "used by another"));
	assert_int_equal(kfd_target_pin(&t, victim, 0, &f), 0);
	assert_true(kfd_target_alive(&t));
	kfd_target_unpin(&t);
	assert_int_equal(kfd_target_pin(&t, 999999999, 0, &f), -1);
	assert_string_equal(f.text, "no such process; gpq queues lists those that own queues");
}

// A tracer gets in the way, and is named.
static void test_refusals(void **state)
{
	struct kfd_failure f;
	(void)state;
	assert_int_equal(tracee_seize(getpid(), &f), -1);
	assert_non_null(strstr(f.text, "itself"));
	pid_t tracer = fork();
	if (tracer == 0) {
		if (tracee_seize(victim, &f) < 0)
			_exit(1);
		raise(SIGSTOP);
		_exit(0);
	}
	int status;
	assert_int_equal(waitpid(tracer, &status, WUNTRACED), tracer);
	assert_true(WIFSTOPPED(status));
	assert_int_equal(tracee_seize(victim, &f), -1);
	assert_int_equal(f.status, 4);
	assert_non_null(strstr(f.text, "already traced by pid"));
	kill(tracer, SIGKILL);
	waitpid(tracer, NULL, 0);
}

// A socket of the right name that another process listens on is not the holder's.
static void test_impostor(void **state)
{
	struct kfd_target t = {.pid = victim, .start = kfd_target_start(victim), .pidfd = -1};
	char name[KFD_SOCKET_NAME_SIZE];
	struct kfd_failure f;
	int dir = kfd_rundir_open(&f), socket, fd;
	(void)state;
	assert_true(dir >= 0);
	kfd_socket_name(name, t.pid, t.start);
	socket = kfd_socket_listen(dir, name);
	assert_true(socket >= 0);
	assert_int_equal(holder_connect(victim, &t, 100, NULL), -ESTALE);
	fd = holder_connect(getpid(), &t, 100, NULL);
	assert_true(fd >= 0);
	close(fd);
	close(socket);
	unlinkat(dir, name, 0);
	close(dir);
}

// A process that is noted as paused is not paused again.
static void test_criu_record(void **state)
{
	struct kfd_target t = {.pid = victim, .start = kfd_target_start(victim), .pidfd = -1};
	char name[KFD_SOCKET_NAME_SIZE], record[KFD_SOCKET_NAME_SIZE + 8];
	struct kfd_failure f;
	int dir = kfd_rundir_open(&f), fd;
	bool already = false;
	(void)state;
	kfd_socket_name(name, t.pid, t.start);
	snprintf(record, sizeof(record), "criu-%s", name);
	fd = openat(dir, record, O_WRONLY | O_CREAT, 0600);
	assert_int_equal(write(fd, "paused\n", 7), 7);
	close(fd);
	assert_int_equal(kfd_criu_pause(&t, &already, &f), 0);
	assert_true(already);
	unlinkat(dir, record, 0);
	close(dir);
}

static bool is_last(int at, void *calls)
{
	return at >= 0 && !--*(unsigned *)calls;
}

// One's own directory comes first, and none twice, until one has what is looked for.
static void test_each_directory(void **state)
{
	static const struct {
		unsigned calls;
		bool found;
		const char *own, *others;
	} cases[] = {{9, false, "%s/gpq ", "/run/user/%u/gpq /tmp/gpq-%u /run/gpq "},
		     {1, true, "%s/gpq ", ""},
		     {2, true, "%s/gpq ", "/run/user/%u/gpq "},
		     {4, true, "%s/gpq ", "/run/user/%u/gpq /tmp/gpq-%u /run/gpq "},
		     {9, false, NULL, "/run/gpq /run/user/%u/gpq /tmp/gpq-%u "}};
	char *const xdg = strdup(getenv("XDG_RUNTIME_DIR")), want[512];
	const unsigned uid = geteuid();
	(void)state;
	strcpy(private_dir, xdg);
	for (size_t i = 0; i < COUNT(cases); i++) {
		unsigned calls = cases[i].calls;
		if (!cases[i].own && (uid || unsetenv("XDG_RUNTIME_DIR")))
			continue;
		looked[0] = 0;
		assert_int_equal(kfd_rundir_each(is_last, &calls), cases[i].found);
		int n = snprintf(want, sizeof(want), cases[i].own ? cases[i].own : "", xdg);
		snprintf(want + n, sizeof(want) - (size_t)n, cases[i].others, uid, uid);
		assert_string_equal(looked, want);
	}
	setenv("XDG_RUNTIME_DIR", xdg, 1);
	// Those of another user are left alone.
	for (unsigned own = 0; !uid && own < 2; own++) {
		unsigned calls = 1;
		assert_int_equal(chown(private_dir, own ? 0 : 4007, (gid_t)-1), 0);
		assert_int_equal(kfd_rundir_each(is_last, &calls), own);
	}
	private_dir[0] = 0;
	free(xdg);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_directory), cmocka_unit_test(test_requests),
		cmocka_unit_test(test_bad_requests),   cmocka_unit_test(test_many_ids),
		cmocka_unit_test(test_answers),        cmocka_unit_test(test_order),
		cmocka_unit_test(test_bad_answers),    cmocka_unit_test(test_gpu_line),
		cmocka_unit_test(test_ok_line),        cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_socket_names),   cmocka_unit_test(test_failures),
		cmocka_unit_test(test_directory),      cmocka_unit_test(test_holder_without_kfd),
		cmocka_unit_test(test_crowd),          cmocka_unit_test(test_slow_client),
		cmocka_unit_test(test_other_uid),      cmocka_unit_test(test_pin),
		cmocka_unit_test(test_refusals),       cmocka_unit_test(test_impostor),
		cmocka_unit_test(test_criu_record),
	};
	return files_allowed(1024) ? cmocka_run_group_tests(tests, setup, teardown) : 0;
}
