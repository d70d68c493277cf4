// common/cli/jsonin and common/bench without a target: settings and their order, raw samples there
// and back, adding up. Expected values by hand.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/bench/ab.h"
#include "common/bench/ablog.h"
#include "common/bench/child.h"
#include "common/bench/plan.h"
#include "common/out/plot.h"
#include "common/bench/raw.h"
#include "common/bench/require.h"
#include "common/out/jsonin.h"
#include "common/cli/text.h"
#include "common/host/root.h"
#include "common/stats/hist.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#if !__GLIBC_PREREQ(2, 33)
#define mallinfo2() ((struct { size_t uordblks; }){(size_t)mallinfo().uordblks})
#endif

// JSON

static bool is_json(const char *text)
{
	struct jsonin j;
	return jsonin_open(&j, text, strlen(text), '{');
}

static void test_json_refused(void **state)
{
	(void)state;
	static const char *const bad[] = {"",
					  "{",
					  "}",
					  "[]",
					  "{,}",
					  "{\"a\"}",
					  "{\"a\":}",
					  "{\"a\":1,}",
					  "{\"a\":1",
					  "{\"a\":01x}",
					  "{\"a\":01}",
					  "{\"a\":-00}",
					  "{\"a\":\"\\q\"}",
					  "{\"a\":\"\\u-001\"}",
					  "{\"a\":\"\\u12\"}",
					  "{\"a\":\"}",
					  "{\"a\":tru}",
					  "{} {}",
					  "{\"a\":.5}",
					  "{\"a\":1e}",
					  "{\"a\" 1}",
					  "{\"a\":\"\n\"}",
					  "{\"a\":\"\n}",
					  "{\"a\":\"\\x}",
					  "{a\":1}",
					  "{:1}",
					  "{\"a\":\"\\"};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (is_json(bad[i]))
			fail_msg("taken for an object: %s", bad[i]);
	char deep[256];
	memset(deep, '[', sizeof(deep));
	memcpy(deep, "{\"a\":", 5);
	deep[255] = '\0';
	assert_false(is_json(deep));
	assert_true(is_json(" { } "));
	assert_true(is_json("{\"a\":-1.5e+3,\"b\":[true,false,null,{}],\"c\":\"\\u00e4\\\"\"}"));
}

// Cut anywhere, it is refused, and nothing behind the end is read (the sanitizers watch).
static void test_json_cut(void **state)
{
	(void)state;
	static const char text[] = "{\"a\":[1,{\"b\":\"x\\n\\u1234\"}],\"c\":-1.5e-3,\"d\":null}";
	for (size_t n = 0; n < sizeof(text) - 1; n++) {
		char *part = malloc(n + 1);
		struct jsonin j;
		memcpy(part, text, n);
		assert_false(jsonin_open(&j, part, n, '{'));
		free(part);
	}
}

static void test_json_members(void **state)
{
	(void)state;
	static const char text[] = "{\"n\": 18446744073709551614, \"s\":\"a\\\"b\\u00e9\\n\", "
				   "\"f\" : 2.5,\"l\":[1, 2]}";
	struct jsonin j, l;
	struct jsonin_value k, v;
	uint64_t n = 0;
	double f = 0;
	char s[32];
	assert_true(jsonin_open(&j, text, strlen(text), '{'));
	assert_true(jsonin_next(&j, &k, &v) && jsonin_is(&k, "n") && jsonin_u64(&v, &n));
	assert_true(n == UINT64_MAX - 1);
	assert_true(jsonin_next(&j, &k, &v) && jsonin_is(&k, "s") && !jsonin_is(&k, "ss"));
	assert_true(jsonin_str(&v, s, sizeof(s)) && !jsonin_u64(&v, &n));
	assert_string_equal(s, "a\"b\xc3\xa9\n");
	assert_true(jsonin_next(&j, &k, &v) && jsonin_f64(&v, &f) && f == 2.5);
	assert_false(jsonin_u64(&v, &n));
	assert_true(jsonin_next(&j, &k, &v) && jsonin_open(&l, v.text, v.len, '['));
	assert_true(jsonin_next(&l, NULL, &v) && jsonin_u64(&v, &n) && n == 1);
	assert_true(jsonin_next(&l, NULL, &v) && jsonin_u64(&v, &n) && n == 2);
	assert_false(jsonin_next(&l, NULL, &v));
	assert_false(jsonin_next(&j, &k, &v));
	assert_false(j.failed);
}

// Settings

static void test_plan(void **state)
{
	(void)state;
	static char words[][16] = {"grace=1", "32", "255", "hold=1ms", "2ms"};
	char *const sweep[] = {words[0], words[1], words[2], words[3], words[4]};
	const struct cycle_setting base = {32, CYCLE_NONE, CYCLE_NONE, 5, 7, CYCLE_NONE};
	struct plan p;
	char why[128], name[96];
	assert_int_equal(plan_init(&p, &base, sweep, 5, 3, why), 0);
	assert_int_equal(p.n, 6);
	for (uint64_t block = 0; block < 20; block++) {
		bool seen[6] = {0};
		for (uint64_t i = 0; i < 6; i++) {
			const struct cycle_setting *s = plan_next(&p, block * 6 + i);
			seen[s - p.setting] = true;
			assert_true(s->queues == CYCLE_NONE && s->gap_ns == 7);
		}
		for (unsigned i = 0; i < 6; i++)
			assert_true(seen[i]);
	}
	plan_name(&p, &p.setting[5], name);
	assert_string_equal(name, "grace=255,hold=2ms");
	assert_int_equal(plan_init(&p, &base, NULL, 0, 3, why), 0);
	plan_name(&p, &p.setting[0], name);
	assert_string_equal(name, "all");
	static char levels[][16] = {"prio=high", "low", "queues=2"};
	assert_int_equal(
		plan_init(&p, &base, (char *[]){levels[0], levels[1], levels[2]}, 3, 3, why), 0);
	assert_true(p.n == 2 && p.setting[0].level == 2 && p.setting[1].level == 0);
	plan_name(&p, &p.setting[0], name);
	assert_string_equal(name, "prio=high");
	assert_true(plan_compare(&p.setting[0], &p.setting[1]) > 0);
	p.setting[1].level = CYCLE_NONE; // of samples of another measurement
	plan_name(&p, &p.setting[1], name);
	assert_string_equal(name, "prio=any");
	char text[32][16], *most[32];
	for (unsigned i = 0; i < 32; i++) {
		snprintf(text[i], sizeof(text[i]), "%s%u",
			 i == 0    ? "grace="
			 : i == 16 ? "queues="
				   : "",
			 i % 16 + 1);
		most[i] = text[i];
	}
	assert_int_equal(plan_init(&p, &base, most, 32, 3, why), 0);
	assert_int_equal(p.n, PLAN_SETTINGS_MAX);
}

static void test_plan_refused(void **state)
{
	(void)state;
	static char bad[][16] = {"grace=256", "grace=",    "grace", "color=1",
				 "queues=0",  "hold=abc",  "=1",    "1",
				 "prio=",     "prio=none", "prio=1"};
	const struct cycle_setting base = {0};
	struct plan p;
	char why[128];
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(plan_init(&p, &base, (char *[]){bad[i]}, 1, 3, why), -1);
	char *many[40], text[40][16];
	for (unsigned i = 0; i < 40; i++) {
		snprintf(text[i], sizeof(text[i]), "%s%u",
			 i == 0    ? "grace="
			 : i == 20 ? "queues="
				   : "",
			 i % 20 + 1);
		many[i] = text[i];
	}
	assert_int_equal(plan_init(&p, &base, many, 40, 3, why), -1);
	assert_string_equal(why, "more than 256 combinations");
}

// Samples

static struct cycle a_cycle(uint64_t suspend, uint64_t held_packets)
{
	struct cycle c = {.set = {32, 2, 1, 10, 20, CYCLE_NONE}};
	cycle_clear(&c);
	c.at_ns = 1000;
	c.suspend_ns = suspend;
	c.suspend_ioctl_ns = suspend - 1;
	c.held_ns = 1000000000;
	c.resume_ns = 0;
	c.gap_ns = 1000000000;
	c.suspend_packets = c.resume_packets = 0;
	c.held_packets = held_packets;
	c.gap_packets = 90;
	c.backlog_packets = 5;
	return c;
}

static void test_raw(void **state)
{
	(void)state;
	struct bench_context in = {0}, out;
	struct cycle c = a_cycle(77, 0), back;
	struct buf b = {0};
	strcpy(in.text[CONTEXT_host], "a \"host\"\n");
	strcpy(in.text[CONTEXT_run], "r1");
	c.result = CYCLE_MOVED;
	c.warmup = true;
	c.xccs = 2;
	c.saved_bytes[1] = 4096;
	raw_write(&b, &in, &c);
	assert_int_equal(b.data[b.len - 1], '\n');
	assert_true(raw_read(b.data, b.len - 1, &out, &back));
	assert_memory_equal(&c, &back, sizeof(c));
	assert_memory_equal(&in, &out, sizeof(in));
	for (size_t n = 0; n < b.len - 1; n++)
		assert_false(raw_read(b.data, n, &out, &back));
	assert_false(raw_read("{\"record\":\"ab_run\"}", 19, &out, &back));
	assert_false(raw_read("{}", 2, &out, &back));
	b.len = 0;
	c.set.level = 3; // levels are 0 to 2
	raw_write(&b, &in, &c);
	assert_false(raw_read(b.data, b.len - 1, &out, &back));
	b.len = 0;
	c.set.level = CYCLE_NONE;
	raw_write(&b, &in, &c);
	assert_true(raw_read(b.data, b.len - 1, &out, &back) && back.set.level == CYCLE_NONE);
	buf_fini(&b);
}

static off_t size_of(const char *path)
{
	struct stat st;
	return stat(path, &st) ? -1 : st.st_size;
}

// FILE.part has what fits, in whole lines, until the line of the run is in FILE; an empty one goes.
static void test_raw_part(void **state)
{
	char path[] = "/tmp/gpq-raw-XXXXXX", part[32];
	struct raw_file f;
	struct rlimit all, few;
	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	close(mkstemp(path));
	snprintf(part, sizeof(part), "%s.part", path);
	assert_int_equal(symlink("/tmp/gpq-nowhere", part), 0); // is removed, not followed
	for (unsigned run = 0; run < 2; run++) {
		assert_int_equal(raw_file_open(&f, path), 0);
		assert_int_equal(raw_file_open_part(&f), 0);
		assert_int_equal(size_of(part), 0);
		getrlimit(RLIMIT_FSIZE, &all);
		few = all;
		few.rlim_cur = 10;
		setrlimit(RLIMIT_FSIZE, &few);
		for (unsigned i = 0; i < 3; i++) { // of the third line two bytes would fit
			buf_puts(&f.line, i == 1 ? "abc\n" : "123\n");
			raw_file_put_part(&f);
			assert_int_equal(f.line.len, 0);
		}
		buf_puts(&f.line, "\n");
		raw_file_put_part(&f); // would fit, but not without what was before it
		setrlimit(RLIMIT_FSIZE, &all);
		assert_int_equal(size_of(part), 8);
		if (run == 0) {
			buf_puts(&f.line, "run\n");
			assert_int_equal(raw_file_put(&f), 0);
			assert_true(size_of(part) == 0 && size_of(path) == 4);
			buf_puts(&f.line, "123\n"); // the next run has room again
			raw_file_put_part(&f);
			assert_int_equal(size_of(part), 4);
			buf_puts(&f.line, "run\n");
			assert_int_equal(raw_file_put(&f), 0);
		}
		assert_int_equal(raw_file_close(&f), 0);
		assert_int_equal(size_of(part), run ? 8 : -1);
	}
	assert_int_equal(raw_file_open(&f, "/dev/null"), 0);
	assert_true(raw_file_open_part(&f) == 0 && f.part < 0);
	assert_int_equal(raw_file_close(&f), 0);
	unlink(path);
	unlink(part);
}

// A file that is full ends with a whole line, and what cannot be cut says why it was not written.
static void test_raw_file(void **state)
{
	char path[] = "/tmp/gpq-raw-XXXXXX", text[16] = "";
	struct raw_file f;
	struct rlimit all, few;
	int ends[2];
	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	close(mkstemp(path));
	assert_int_equal(raw_file_open(&f, path), 0);
	for (unsigned i = 0; i < 2; i++) {
		buf_puts(&f.line, i ? "cde\n" : "ab\n");
		assert_int_equal(raw_file_put(&f), 0);
		assert_int_equal(f.line.len, 0);
	}
	buf_puts(&f.line, "fg\n");
	getrlimit(RLIMIT_FSIZE, &all);
	few = all;
	few.rlim_cur = 8;
	setrlimit(RLIMIT_FSIZE, &few);
	const int failed = raw_file_put(&f), error = errno;
	setrlimit(RLIMIT_FSIZE, &all);
	assert_true(failed == -1 && error == EFBIG && f.lines == 2);
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_int_equal(read(fd, text, sizeof(text)), 7);
	assert_string_equal(text, "ab\ncde\n");
	close(fd);
	unlink(path);
	assert_int_equal(raw_file_close(&f), 0);
	assert_int_equal(pipe(ends), 0);
	close(ends[0]);
	f = (struct raw_file){.fd = ends[1], .part = -1};
	buf_puts(&f.line, "x");
	assert_true(raw_file_put(&f) == -1 && errno == EPIPE);
	raw_file_close(&f);
	assert_int_equal(raw_file_open(&f, NULL), 0);
	buf_puts(&f.line, "x");
	assert_true(raw_file_put(&f) == 0 && f.line.len == 0);
	raw_file_close(&f);
}

static int say_and_wait(const void *text)
{
	if (write(STDOUT_FILENO, text, strlen(text)) > 0)
		pause();
	return 0;
}

static void no_line(void *arg, const char *line)
{
	(void)arg;
	(void)line;
}

// Of a child that runs on nothing is left: no process, no descriptor, no memory.
static void test_child(void **state)
{
	size_t before = 0;
	(void)state;
	for (unsigned i = 0; i < 8; i++) {
		struct child c;
		assert_int_equal(child_fork(&c, say_and_wait, "whole\nbegun"), 0);
		const struct child was = c;
		while (!c.last.len || !c.line.len)
			child_tick(&c, no_line, NULL);
		assert_string_equal(c.last.data, "whole");
		child_fini(&c);
		assert_true(waitpid(was.pid, NULL, WNOHANG) == -1 && errno == ECHILD);
		assert_int_equal(fcntl(was.out, F_GETFD), -1);
		assert_true(!c.pid && c.out == -1 && !c.line.data && !c.last.data);
		before = i == 3 ? mallinfo2().uordblks : before;
	}
	assert_int_equal(mallinfo2().uordblks, before);
}

static int say(const void *text)
{
	return write(STDOUT_FILENO, text, strlen(text)) < 0;
}

static int waits_for_reader(const void *arg)
{
	struct pollfd p = {.fd = STDOUT_FILENO};
	(void)arg;
	return poll(&p, 1, 10000) == 1 && p.revents & POLLERR ? 7 : 8;
}

// A child that calls a function learns that nobody reads what it writes.
static void test_child_unread(void **state)
{
	struct child c;
	int status;
	(void)state;
	assert_int_equal(child_fork(&c, waits_for_reader, NULL), 0);
	close(c.out);
	c.out = -1;
	assert_int_equal(waitpid(c.pid, &status, 0), c.pid);
	assert_int_equal(status, 7 << 8);
	c.ended = true;
	child_fini(&c);
}

// What was said before the end is read, whatever an earlier call has left in errno.
static void test_child_said(void **state)
{
	struct child c;
	siginfo_t i;
	(void)state;
	assert_int_equal(child_fork(&c, say, "whole\n"), 0);
	assert_int_equal(waitid(P_PID, (id_t)c.pid, &i, WEXITED | WNOWAIT), 0);
	errno = EINTR;
	child_tick(&c, no_line, NULL);
	assert_true(c.ended && c.last.len == 5);
	assert_string_equal(c.last.data, "whole");
	child_fini(&c);
}

// One that has ended may have left its pid to another process; none has the pid 0, which means the
// process group of who asks.
static void test_no_child(void **state)
{
	struct child ended = {.pid = fork(), .ended = true, .out = -1};
	const pid_t other = ended.pid;
	int status;
	(void)state;
	if (!other) {
		setpgid(0, 0);
		child_fini(&(struct child){.out = -1});
		_exit(3);
	}
	child_fini(&ended);
	assert_int_equal(waitpid(other, &status, 0), other);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 3);
}

static void test_result(void **state)
{
	(void)state;
	struct result a = {0};
	for (uint64_t i = 1; i <= 10; i++) {
		struct cycle c = a_cycle(i * 1000000, 0);
		c.baseline_ns = 1000000000;
		c.baseline_packets = 100;
		assert_int_equal(result_add(&a, &c), 0);
	}
	struct cycle warm = a_cycle(999000000, 0);
	warm.warmup = true;
	result_add(&a, &warm);
	assert_int_equal(a.n, 1);
	assert_int_equal(a.of[0]->warmup, 1);
	assert_int_equal(a.of[0]->count[CYCLE_OK], 10);
	assert_true(samples_percentile(&a.of[0]->metric[METRIC_suspend], 0.5) == 5e6);
	assert_true(samples_percentile(&a.of[0]->metric[METRIC_suspend_gpq], 1) == 1);
	struct result_rates v = result_rates(a.of[0], SIZE_MAX);
	assert_true(v.baseline == 100 && v.held == 0 && v.gap == 90);
	// 10 cycles of 2 s and 55 ms in all, half of it held, 90 packets each.
	assert_true(fabs(v.held_share - 10 / 20.055) < 1e-12);
	assert_true(fabs(v.loss - (1 - 900 / 20.055 / 100)) < 1e-12);
	assert_true(fabs(v.effect - (v.loss - v.held_share)) < 1e-12);
	// Each cycle has its window. Without the last, 9 cycles of 2 s and 45 ms in all are left.
	assert_int_equal(result_parts(a.of[0]), 10);
	assert_true(fabs(result_rates(a.of[0], 9).held_share - 9 / 18.045) < 1e-12);
	// Cycles behind the last window are of its part.
	for (uint64_t i = 0; i < 2; i++) {
		struct cycle c = a_cycle(1000000, 0);
		result_add(&a, &c);
	}
	assert_int_equal(result_parts(a.of[0]), 10);
	assert_true(fabs(result_rates(a.of[0], 9).held_share - 9 / 18.045) < 1e-12);
	assert_true(fabs(result_rates(a.of[0], 8).held_share - 11 / 22.048) < 1e-12);
	assert_true(fabs(result_rates(a.of[0], 8).baseline - 100) < 1e-12);
	result_fini(&a);
}

// The results of the goals suspend, resume and effect, in this order, of cycles that ended so, all
// of them so many times.
static void judge_goals(const enum cycle_result *ends, size_t n, unsigned times, const char *wanted)
{
	static struct load_run run;
	struct requirements limits = {0};
	struct judged *v;
	char got[64] = "";
	assert_int_equal(
		require_parse(&limits, &(struct words){0}, &(struct words){0}, REQUIRE_PREEMPT), 0);
	for (size_t i = 0; i < n * times; i++) {
		struct cycle c = a_cycle(1000, 0);
		c.result = ends[i % n];
		result_add(&run.result, &c);
	}
	assert_int_equal(require_judge(&limits, &run, &v), 3);
	for (unsigned i = 0; i < 3; i++)
		strcat(strcat(got, v[i].result), ", "); // NOLINT: there is room
	assert_string_equal(got, wanted);
	free(v);
	result_fini(&run.result);
	require_fini(&limits);
}

// A fast call that leaves a queue running is no success, nor is one after which they did not go on.
static void test_verdict(void **state)
{
	static const char shown[] = "shown, shown, unknown, ",
			  refuted[] = "refuted, refuted, unknown, ",
			  not_shown[] = "not shown, not shown, unknown, ";
	(void)state;
	// No baseline to compare the effect with.
	judge_goals((enum cycle_result[]){CYCLE_OK}, 1, 299, shown);
	judge_goals((enum cycle_result[]){CYCLE_OK}, 1, 298, not_shown);
	judge_goals((enum cycle_result[]){CYCLE_OK}, 1, 1, not_shown);
	judge_goals((enum cycle_result[]){CYCLE_OK, CYCLE_MOVED}, 2, 1, refuted);
	judge_goals((enum cycle_result[]){CYCLE_PARTLY}, 1, 1, refuted);
	judge_goals((enum cycle_result[]){CYCLE_STUCK}, 1, 299, refuted);
	judge_goals((enum cycle_result[]){CYCLE_FAILED, CYCLE_OK}, 2, 1, refuted);
	judge_goals((enum cycle_result[]){CYCLE_IDLE, CYCLE_OK}, 2, 150, shown);
}

// A program that is not bound by the GPU makes up for holds: then no loss says anything.
static void test_impossible(void **state)
{
	(void)state;
	static struct load_run run;
	struct requirements limits = {0};
	struct judged *v;
	require_parse(&limits, &(struct words){0}, &(struct words){0}, REQUIRE_PREEMPT);
	for (uint64_t i = 0; i < 8; i++) { // half of the time is held, nothing is lost
		struct cycle c = a_cycle(1000, 0);
		c.baseline_ns = 2000000000;
		c.baseline_packets = 90 + i % 2;
		result_add(&run.result, &c);
	}
	assert_int_equal(require_judge(&limits, &run, &v), 3);
	assert_int_equal(v[2].verdict, VERDICT_UNKNOWN);
	assert_non_null(strstr(v[2].reason, "below 0"));
	assert_true(v[2].more == UINT64_MAX);
	free(v);
	result_fini(&run.result);
	require_fini(&limits);
}

// Limits of --goal take the place of the goals' own, and requirements that of goals.
static void test_limits(void **state)
{
	(void)state;
	char resume[] = "resume=7ms", effect[] = "effect=3", suspend[] = "suspend  p99 <= 2us",
	     median[] = "suspend p50 < 1s";
	char *goals[] = {resume, effect}, *require[] = {suspend, median};
	struct words g = {.v = goals, .n = 2}, q = {.v = require, .n = 2};
	struct requirements r = {0};
	assert_int_equal(require_parse(&r, &g, &q, REQUIRE_PREEMPT), 0);
	assert_int_equal(r.n, 4);
	assert_true(require_limit(&r, "suspend p99") == 2000 && r.v[0].or_equal && r.v[0].text);
	assert_true(require_limit(&r, "resume p99") == 7e6 && !r.v[1].or_equal && !r.v[1].text);
	assert_true(fabs(require_limit(&r, "effect") - 0.03) < 1e-12);
	assert_true(require_limit(&r, "suspend p50") == 1e9);
	assert_true(isnan(require_limit(&r, "online slowdown")));
	require_fini(&r);
	assert_int_equal(require_parse(&r, &g, &(struct words){0}, REQUIRE_AB), 0);
	assert_int_equal(r.n, 3);
	assert_true(fabs(require_limit(&r, "online slowdown") - 0.1) < 1e-12);
	assert_true(fabs(require_limit(&r, "online p99 slowdown") - 0.1) < 1e-12);
	assert_true(fabs(require_limit(&r, "offline effect") - 0.03) < 1e-12);
	require_fini(&r);
}

static void test_ab(void **state)
{
	(void)state;
	struct bench_context in = {0}, out;
	struct ab_run r = {.mode = AB_PREEMPT,
			   .number = 4,
			   .online_ns = 5,
			   .window_ns = 4000000000,
			   .packets = 300,
			   .leads_ns = 0,
			   .offline_rate = NAN,
			   .offline_logged = UINT64_MAX,
			   .held_ns = 1000000000,
			   .holds = 2},
		      back;
	struct buf b = {0};
	struct ab_result a = {0};
	samples_add(&r.times.latency, 1100);
	samples_add(&r.times.starts, 0x1p52 + 1);   // an uptime of 52 days, to the ns
	samples_add(&r.times.starts, 0x1p53 + 2);   // of 105 days
	samples_add(&r.times.starts, 0x1p50 + 0.5); // a printed latency need not be whole ns
	samples_add(&r.times.holds_at, 8);
	samples_add(&r.times.resumes_at, 9);
	samples_add(&r.times.lines, 0.5);
	samples_add(&r.times.lines, 1e300);
	samples_add(&r.times.lines, 1234567890123);
	ab_write(&b, &in, &r);
	assert_true(ab_read(b.data, b.len - 1, &out, &back));
	assert_true(back.times.starts.n == 3 && back.times.starts.v[0] == 0x1p52 + 1);
	assert_true(back.times.starts.v[1] == 0x1p53 + 2 && back.times.starts.v[2] == 0x1p50 + 1);
	assert_true(back.times.lines.v[0] == 0.5 && back.times.lines.v[1] == 1e300);
	assert_true(back.times.lines.v[2] == 1234567890123);
	assert_true(back.times.holds_at.v[0] == 8 && back.times.resumes_at.v[0] == 9);
	ab_result_add(&a, &back);
	r.mode = AB_ALONE;
	r.times.latency.v[0] = 1000;
	r.packets = 400;
	r.held_ns = 0;
	ab_result_add(&a, &r);
	struct ab_verdict v = ab_judge(&a, AB_PREEMPT, SIZE_MAX);
	assert_true(fabs(v.loss - 0.25) < 1e-12 && v.held == 0.25 && fabs(v.effect) < 1e-12);
	assert_true(fabs(ab_compare(&a, AB_PREEMPT, AB_ALONE, 0.5, 0.95).ratio - 1.1) < 1e-12);
	r.mode = AB_SHARED; // what the log says counts, where there is one
	r.offline_logged = 200;
	ab_result_add(&a, &r);
	assert_true(fabs(ab_judge(&a, AB_SHARED, SIZE_MAX).loss - 0.5) < 1e-12);
	r.offline_rate = 7; // what is printed counts if every run has it
	ab_result_add(&a, &r);
	assert_false(ab_is_printed(&a));
	assert_true(fabs(ab_judge(&a, AB_SHARED, SIZE_MAX).loss - 0.5) < 1e-12);
	ab_run_fini(&r);
	ab_run_fini(&back);
	ab_result_fini(&a);
	buf_fini(&b);
}

// A client sends a request each 10 ms if it is not delayed. One of 1 s keeps it from sending 99
// more, which would have waited 990 ms, 980 ms ... 10 ms: of 1099 then 10 wait longer than 900 ms.
static void test_corrected(void **state)
{
	(void)state;
	struct ab_result a = {0};
	assert_true(isnan(ab_corrected(&a, AB_SHARED, 0.99)));
	for (unsigned i = 0; i < 1000; i++)
		samples_add(&a.mode[AB_SHARED].latency, i ? 10e6 : 1e9);
	assert_true(isnan(ab_corrected(&a, AB_SHARED, 0.99)));
	a.mode[AB_SHARED].online = 10.99e9;
	for (unsigned i = 0; i < 100; i++)
		samples_add(&a.mode[AB_ALONE].latency, 9e6);
	a.mode[AB_ALONE].online = 1e9;
	assert_true(ab_request_rate(&a, AB_ALONE) == 100);
	assert_true(fabs(ab_request_rate(&a, AB_SHARED) - 1000 / 10.99) < 1e-9);
	assert_true(fabs(ab_corrected(&a, AB_SHARED, 0.99) - 900e6) < 1);
	assert_true(fabs(ab_corrected(&a, AB_SHARED, 0.5) - 10e6) < 1);
	assert_true(fabs(ab_corrected(&a, AB_ALONE, 0.99) - 9e6) < 1);
	assert_true(ab_offered_rate(&a, AB_SHARED) == 100);
	ab_result_fini(&a);
}

// Two runs of 101 requests, due each 5 ms in any order; served at half that rate, they wait longer
// and longer. Nothing was left out, so there is nothing to correct.
static void test_due(void **state)
{
	(void)state;
	struct ab_result a = {0};
	for (unsigned n = 0; n < 3; n++) {
		struct ab_run r = {
			.mode = n ? AB_SHARED : AB_ALONE, .online_ns = 1010000000, .due = n};
		for (unsigned i = 0; i < 101; i++) {
			samples_add(&r.times.starts, 7e9 + 5e6 * (i * 50 % 101));
			samples_add(&r.times.latency, 5e6 * (i + 1));
		}
		ab_result_add(&a, &r);
	}
	// The last is served 0.76 s after the first was due; the command ran for longer.
	assert_true(fabs(ab_request_rate(&a, AB_SHARED) - 101 / 0.76) < 1e-9);
	assert_true(fabs(ab_offered_rate(&a, AB_SHARED) - 200) < 1e-9);
	assert_true(ab_corrected(&a, AB_SHARED, 0.99) == 500e6);
	// Else requests are made up 10 ms apart: 25 of 2602 wait longer than about 455 ms.
	assert_true(fabs(ab_corrected(&a, AB_ALONE, 0.99) - 455e6) < 10e6);
	a.mode[AB_SHARED].due--; // of one run it is not known
	assert_true(fabs(ab_offered_rate(&a, AB_SHARED) - 100) < 1e-9);
	assert_true(fabs(ab_corrected(&a, AB_SHARED, 0.99) - 455e6) < 10e6);
	ab_result_fini(&a);
}

// What is lost and held is of the time between the leads, however long these are: of 3 s between
// them 2 were held, and the work of 2.1 s was lost.
static void test_ab_leads(void **state)
{
	(void)state;
	for (uint64_t lead = 0; lead < 5; lead++) {
		struct ab_result a = {0};
		const uint64_t window = 3000000000 + 2 * lead * 1000000000;
		struct ab_run r = {.mode = AB_ALONE,
				   .window_ns = window,
				   .online_ns = 3000000000,
				   .leads_ns = 2 * lead * 1000000000,
				   .packets = window / 1000000,
				   .offline_rate = (double)window,
				   .offline_logged = UINT64_MAX};
		ab_result_add(&a, &r);
		ab_result_add(&a, &r);
		r.mode = AB_PREEMPT;
		r.packets -= 2100;
		r.offline_rate = (double)window - 2.1e9;
		r.held_ns = 2000000000;
		ab_result_add(&a, &r);
		r.leads_ns = UINT64_MAX; // as in samples of older versions
		ab_result_add(&a, &r);
		const struct ab_verdict v = ab_judge(&a, AB_PREEMPT, SIZE_MAX);
		assert_true(fabs(v.loss - 0.7) < 1e-9 && fabs(v.held - 2 / 3.0) < 1e-9);
		a.mode[AB_PREEMPT].run[0].printed = NAN; // by packets it is the same
		assert_true(fabs(ab_judge(&a, AB_PREEMPT, SIZE_MAX).loss - 0.7) < 1e-9);
		assert_true(fabs(ab_judge(&a, AB_PREEMPT, 0).effect - (0.7 - 2 / 3.0)) < 1e-9);
		ab_result_fini(&a);
	}
}

// Runs that were measured or read back leave no memory behind, and neither does what adds them up.
static void test_ab_memory(void **state)
{
	size_t before = 0;
	(void)state;
	for (unsigned i = 0; i < 8; i++) {
		struct ab_run r = {.mode = AB_PREEMPT}, back;
		struct ab_result a = {0};
		struct bench_context in = {0}, out;
		struct buf b = {0};
		for (unsigned k = 0; k < 100; k++) {
			samples_add(&r.times.latency, k);
			samples_add(&r.times.suspend, k);
			samples_add(&r.times.resume, k);
		}
		for (unsigned k = 0; k < 2; k++) {
			r.queue_set[k].v = calloc(50, sizeof(*r.queue_set[k].v));
			r.queue_set[k].n = 50;
		}
		ab_write(&b, &in, &r);
		assert_true(ab_read(b.data, b.len - 1, &out, &back));
		ab_result_add(&a, &back);
		ab_run_fini(&r);
		ab_run_fini(&back);
		ab_result_fini(&a);
		buf_fini(&b);
		before = i == 3 ? mallinfo2().uordblks : before;
	}
	assert_int_equal(mallinfo2().uordblks, before);
}

static void put(const char *dir, unsigned node, const char *name, const char *text)
{
	char path[200];
	snprintf(path, sizeof(path), "%s/sys/class/kfd/kfd/topology/nodes/%u/%s", dir, node, name);
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

// Samples that cannot be read: a folder where no more file can be opened, and none.
static void test_load_fails(void **state)
{
	struct rlimit old, none;
	struct load l = {0};
	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
	none = old;
	none.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	const int folder = load_add(&l, "/"), error = errno;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
	assert_int_equal(folder, -1);
	assert_int_equal(error, EMFILE);
	assert_int_equal(load_add(&l, "/proc/no"), -1);
	assert_int_equal(errno, ENOENT);
	load_fini(&l);
}

// A host of as many partitions as there are: those that the record has no room for are counted.
static void test_context_gpus(void **state)
{
	(void)state;
	char dir[] = "/tmp/test_bench.XXXXXX", command[300], text[200];
	static struct bench_context c;
	assert_non_null(mkdtemp(dir));
	for (unsigned i = 0; i < 64; i++) {
		snprintf(command, sizeof(command),
			 "mkdir -p %s/sys/class/kfd/kfd/topology/nodes/%u", dir, i);
		assert_int_equal(system(command), 0);
		snprintf(text, sizeof(text), "%u\n", 1000 + i);
		put(dir, i, "gpu_id", text);
		put(dir, i, "name", "x\n");
		snprintf(text, sizeof(text),
			 "gfx_target_version %u\nlocation_id %u\ndomain 0\nnum_xcc 1\nfw_version "
			 "178\nsimd_count 8\n",
			 i == 63 ? 110000 : 90402, i << 8);
		put(dir, i, "properties", text);
	}
	assert_int_equal(host_set_root(dir), 0);
	bool now = false;
	const time_t begin = time(NULL);
	bench_context_host(&c);
	host_set_root("/");
	for (time_t t = begin; t <= time(NULL) && !now; t++) {
		strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", gmtime(&t));
		now = strcmp(c.text[CONTEXT_started], text) == 0;
	}
	assert_true(now);
	const char *gpus = c.text[CONTEXT_gpus], *more = strstr(gpus, "; and ");
	assert_memory_equal(gpus, "gfx942 0000:00:00.0 xcc 1 mec 178; gfx942 0000:01:00.0 xcc 1",
			    60);
	assert_non_null(more);
	unsigned told = 1;
	for (const char *p = gpus; p < more; p++)
		told += *p == ';';
	snprintf(text, sizeof(text), "; and %u more", 64 - told);
	assert_string_equal(more, text);
	assert_true(told > 8);
	assert_string_equal(c.text[CONTEXT_scheduler], "HWS MES"); // also of those not told
	snprintf(command, sizeof(command), "rm -r %s", dir);
	assert_int_equal(system(command), 0);
}

// Two runs side by side, written and read again: what is the same, what both have, what to go by.
static void test_queue_sets(void **state)
{
	(void)state;
	static const struct queue_set_entry online = {.row = {.pid = 10,
							      .gpu_id = 7,
							      .gpu.index = 0,
							      .qid = 0,
							      .context = KFD_UNKNOWN,
							      .v[MQD_V_QUEUE_PRIO] = 11,
							      .v[MQD_V_PIPE_PRIO] = 2},
						      .type = "compute",
						      .slots = "p0q2"};
	static const struct queue_set_entry offline = {.side = SIDE_OFFLINE,
						       .row = {.pid = 20,
							       .gpu_id = 7,
							       .gpu.index = 0,
							       .qid = 0,
							       .context = KFD_UNKNOWN,
							       .v[MQD_V_QUEUE_PRIO] = 7,
							       .v[MQD_V_PIPE_PRIO] = 1},
						       .type = "compute",
						       .slots = "p1q2"};
	struct queue_set l[2] = {{0}, {0}};
	struct buf line = {0};
	for (unsigned i = 0; i < 2; i++) {
		struct queue_set_entry q[] = {online, offline, offline};
		struct queue_set one = {.v = q, .n = 2 + i};
		struct jsonin_value v = {.kind = '['};
		struct buf b = {0};
		struct json j;
		q[1].slots[1] = (char)('1' + i); // in another slot each time
		q[2].row.qid = 1;
		q[2].slots[0] = '\0';
		q[2].suspended = true;
		json_init(&j, &b, false);
		member_queue_set.write(&j, &(struct member){0}, &one);
		v.text = b.data;
		v.len = b.len;
		assert_true(member_queue_set.read(&v, NULL, &l[i]));
		assert_int_equal(l[i].n, 2 + i);
		assert_memory_equal(&l[i].v[0], &online, sizeof(online));
		assert_false(l[i].v[1].suspended);
		assert_true(i == 0 || l[i].v[2].suspended);
		buf_fini(&line);
		line = b;
	}
	queue_set_line(&l[0], "gpq: bench: /sys/kernel/debug/kfd/hqds: No such file or directory");
	assert_int_equal(l[0].n, 2); // a message of the child is no set, and not an empty one
	queue_set_line(&l[1], "[]");
	assert_int_equal(l[1].n, 0);
	queue_set_line(&l[1], line.data);
	assert_int_equal(l[1].n, 3);
	buf_fini(&line);
	struct queue_sets c;
	queue_sets_compare(&c, l, 2);
	assert_int_equal(c.suspended, 1);
	assert_int_equal(c.runs.nprograms, 2);
	for (unsigned i = 0; i < 2; i++) {
		const struct run_compare_program *g = &c.runs.programs[i];
		bool off = strcmp(g->program, "offline") == 0;
		assert_int_equal(g->seen, 2);
		assert_int_equal(g->same[SAME_IDS], !off);
		assert_int_equal(g->same[SAME_COUNT], !off);
		assert_int_equal(g->same[SAME_SLOTS],
				 off ? -1 : 1); // one of the second run is unknown
		assert_int_equal(g->queues_max, off ? 2 : 1);
	}
	assert_int_equal(c.runs.npairs, 1);
	assert_int_equal(qset_count(&c.runs.pairs[0].both.ids), 1);
	assert_int_equal(c.runs.strategies[QRUNS_FIXED].works, 0);
	assert_true(c.runs.strategies[QRUNS_PRIORITY].chosen);
	queue_sets_fini(&c);
	queue_set_fini(&l[0]);
	queue_set_fini(&l[1]);
}

// Drivers that write no priorities, but levels: two runs of both sides.
static void test_queue_sets_levels(void **state)
{
	static const struct {
		uint64_t online, offline; // levels
		int8_t works;
		const char *evidence;
	} cases[] = {
		{2, 1, 1, "offline: medium; online: high"},
		{1, 1, 0, "offline and online share priority level medium"},
		{KFD_UNKNOWN, 1, -1, "priorities are unknown: they need the dumps of debugfs"}};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct queue_set_entry q[] = {
			{.row = {.pid = 10, .v[MQD_V_PIPE_PRIO] = cases[i].online}},
			{.side = SIDE_OFFLINE,
			 .row = {.pid = 20, .v[MQD_V_PIPE_PRIO] = cases[i].offline}}};
		struct queue_set runs[2] = {{.v = q, .n = 2}, {.v = q, .n = 2}};
		struct queue_sets c;
		for (unsigned k = 0; k < 2; k++) {
			q[k].row.v[MQD_V_QUEUE_PRIO] = q[k].row.context = KFD_UNKNOWN;
			strcpy(q[k].type, "compute");
		}
		queue_sets_compare(&c, runs, 2);
		assert_true(c.runs.levels);
		const struct run_compare_strategy *by = &c.runs.strategies[QRUNS_PRIORITY];

		assert_int_equal(by->works, cases[i].works);
		assert_string_equal(by->evidence.data, cases[i].evidence);
		queue_sets_fini(&c);
	}
}

static void test_queue_sets_refused(void **state)
{
	(void)state;
	static const char *const bad[] = {"[1]",
					  "[{\"pid\":-1}]",
					  "[{\"pid\":4294967296}]",
					  "[{\"queue_id\":\"x\"}]",
					  "[{\"slots\":7}]",
					  "[{]",
					  "{}"};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct jsonin_value v = {'[', bad[i], strlen(bad[i])};
		struct queue_set l = {0};
		if (member_queue_set.read(&v, NULL, &l))
			fail_msg("taken for a queue set: %s", bad[i]);
		queue_set_fini(&l);
	}
}

// All values are in some bar, bars follow each other without a hole, and there are not too many.
static void test_bars(void **state)
{
	(void)state;
	static const uint64_t values[] = {0, 1, 63, 64, 65, 1000, 1000, 1001, 5000000, UINT64_MAX};
	struct hist h;
	struct hist_bars b;
	hist_init(&h);
	hist_bars(&b, &h, 10);
	assert_int_equal(b.n, 0);
	for (unsigned i = 0; i < 10; i++)
		hist_add(&h, values[i]);
	for (unsigned most = 1; most <= BARS_MAX; most++) {
		uint64_t sum = 0;
		hist_bars(&b, &h, most);
		assert_in_range(b.n, 1, most);
		for (unsigned i = 0; i < b.n; i++) {
			sum += b.v[i].count;
			assert_true(b.v[i].lower <= b.v[i].upper);
			assert_true(!i || b.v[i].lower == b.v[i - 1].upper + 1);
		}
		assert_int_equal(sum, 10);
		assert_true(b.v[b.n - 1].upper == UINT64_MAX && b.v[0].lower == 0);
	}
	hist_init(&h);
	for (unsigned i = 0; i < 3; i++)
		hist_add(&h, 1000 + i);
	hist_bars(&b, &h, 16);
	assert_int_equal(b.n, 1); // 960 to 1023: an eighth of 512 to 1023
	assert_int_equal(b.v[0].lower, 960);
	assert_int_equal(b.v[0].upper, 1023);
}

#define LOG_PACKET(us, tid, hwq, rptr)                                                             \
	":4:rocvirtual.cpp           :1083: " us " us: [pid:7 tid: " tid "] SWq=0x7e00, HWq=" hwq  \
	", id=1, Dispatch Header = 0xb02 (type=2, barrier=1, acquire=1, release=1), setup=3, "     \
	"grid=[64, 1, 1], workgroup=[64, 1, 1], private_seg_size=0, group_seg_size=0, "            \
	"kernel_obj=0x1, kernarg_address=0x2, completion_signal=0x0, correlation_id=0, rptr=" rptr \
	", wptr=4294967295\n"

// A log of two threads; what counts is between 1000 and 5000 us.
static const char log_lines[] =
	":3:hip_module.cpp           :662 : 0000000800 us: [pid:7 tid: 0x10001] hipLaunchKernel ( "
	"0x1 ) \n" LOG_PACKET("0000000810", "0x10001", "0x7f00", "4294967290")
		LOG_PACKET("0000001100", "0x10001", "0x7f00", "4294967294") // 4 packets further
	":3:hip_stream.cpp           :503 : 0000001500 us: [pid:7 tid: 0x10001] "
	"hipStreamSynchronize: "
	"Returned hipSuccess : : duration: 9 us\n" // 400 us since the first launch within
	":3:hip_memory.cpp           :600 : 0000002000 us: [pid:7 tid: 0x10002] hipMemcpy ( 0x1 ) "
	"\n"
	":3:hip_module.cpp           :662 : 0000002100 us: [pid:7 tid: 0x10001] "
	"hipModuleLaunchKernel ( 0x1 ) \n"
	":3:hip_memory.cpp           :605 : 0000002250 us: [pid:7 tid: 0x10002] hipMemcpy: "
	"Returned hipSuccess : \n" LOG_PACKET("0000002300", "0x10001", "0x7f00",
					      "3")          // wraps: 5 further
	LOG_PACKET("0000002310", "0x10001", "0x7f80", "40") // another ring begins
	LOG_PACKET("0000002320", "0x10002", "0x7f00", "2")  // of another thread, late
	LOG_PACKET("0000002330", "0x10001", "0x7f80",
		   "43") ":3:hip_stream.cpp           :390 : 0000002340 us: [pid:7 tid: 0x10001] "
			 "hipMemcpyAsync: Returned hipSuccess : \n"
			 ":3:hip_device.cpp           :503 : 0000003100 us: [pid:7 tid: 0x10001] "
			 "hipDeviceSynchronize: Returned hipSuccess : \n"
			 ":3:hip_device.cpp           :503 : 0000003200 us: [pid:7 tid: 0x10001] "
			 "hipDeviceSynchronize: Returned hipSuccess : \n"
			 ":3:hip_module.cpp           :662 : 0000004900 us: [pid:7 tid: 0x10001] "
			 "hipLaunchKernel ( 0x1 ) \n"
			 ":3:hip_device.cpp           :503 : 0000005100 us: [pid:7 tid: 0x10001] "
			 "hipDeviceSynchronize: Returned hipSuccess : \n" LOG_PACKET(
				 "0000005200", "0x10001", "0x7f00", "90");

static void write_log(const char *path)
{
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	fputs(log_lines, f);
	fclose(f);
}

static void test_ablog(void **state)
{
	(void)state;
	char dir[] = "/tmp/gpq-ablog-XXXXXX", path[64], other[80];
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/a[b].log", dir);
	struct ablog l = {.from_us = 1000, .until_us = 5000};
	assert_int_equal(ablog_add(&l, path), -1);
	assert_int_equal(errno, ENOENT);
	snprintf(other, sizeof(other), "%s_77", path);
	write_log(other);
	assert_int_equal(ablog_add(&l, path), 0);
	assert_int_equal(l.starts.n, 3); // in the order of their ends
	assert_true(l.starts.v[0] == 1100e3 && l.starts.v[1] == 2000e3 && l.starts.v[2] == 2100e3);
	samples_sort(&l.latency);
	assert_int_equal(l.latency.n, 3);
	assert_true(l.latency.v[0] == 250e3 && l.latency.v[1] == 400e3 && l.latency.v[2] == 1000e3);
	assert_int_equal(l.packets, 4 + 5 + 3);
	write_log(path); // both files are read
	struct ablog both = {.from_us = 1000, .until_us = 5000};
	assert_int_equal(ablog_add(&both, path), 0);
	assert_int_equal(both.files, 2);
	assert_int_equal(both.records, 2 * l.records);
	unlink(path);
	unlink(other);
	assert_int_equal(ablog_add(&both, dir), -1);
	assert_int_equal(errno, EISDIR);
	rmdir(dir);
	samples_fini(&l.latency);
	samples_fini(&l.starts);
	samples_fini(&both.latency);
	samples_fini(&both.starts);
}

static void test_plot_text(void **state)
{
	(void)state;
	struct buf b = {0};
	text_html(&b, "<script>&\"\x1b[31m", 15);
	assert_string_equal(b.data, "&lt;script&gt;&amp;&quot;\\x1b[31m");
	buf_fini(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_json_refused),
		cmocka_unit_test(test_json_cut),
		cmocka_unit_test(test_json_members),
		cmocka_unit_test(test_plan),
		cmocka_unit_test(test_plan_refused),
		cmocka_unit_test(test_raw),
		cmocka_unit_test(test_raw_file),
		cmocka_unit_test(test_raw_part),
		cmocka_unit_test(test_no_child),
		cmocka_unit_test(test_child),
		cmocka_unit_test(test_child_said),
		cmocka_unit_test(test_child_unread),
		cmocka_unit_test(test_result),
		cmocka_unit_test(test_verdict),
		cmocka_unit_test(test_impossible),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_ab),
		cmocka_unit_test(test_corrected),
		cmocka_unit_test(test_due),
		cmocka_unit_test(test_ab_leads),
		cmocka_unit_test(test_ab_memory),
		cmocka_unit_test(test_plot_text),
		cmocka_unit_test(test_context_gpus),
		cmocka_unit_test(test_load_fails),
		cmocka_unit_test(test_queue_sets),
		cmocka_unit_test(test_queue_sets_levels),
		cmocka_unit_test(test_queue_sets_refused),
		cmocka_unit_test(test_bars),
		cmocka_unit_test(test_ablog),
	};
	return cmocka_run_group_tests_name("bench", tests, NULL, NULL);
}
