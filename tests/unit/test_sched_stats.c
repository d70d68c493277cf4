// Statistics of the scheduler as lines, and back, and how many processes it holds:
// common/sched/stats.h, sched.c. Expected values by hand.
#include "common/reader/reader.h"
#include "common/sched/sched.c" // NOLINT(bugprone-suspicious-include)

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>

// Processor time of readers, in units that the time of this process does not reach: 1 of that for
// all, by number those of classes.
#define UNIT UINT64_C(1000000000000000)

static uint64_t fake_cpu_ns(const struct reader *r)
{
	return r ? *(const uint64_t *)(const void *)r * UNIT : UNIT;
}

#define reader_cpu_ns fake_cpu_ns
#include "common/sched/stats.c" // NOLINT(bugprone-suspicious-include)
#undef reader_cpu_ns

static char first[] = "first", none[] = "none", last[] = "last";

static void time_of_readers(void **state)
{
	uint64_t numbers[] = {10, 200};
	struct sched_class classes[] = {
		{.name = first, .group.reader = (struct reader *)(void *)&numbers[0]},
		{.name = none},
		{.name = last, .group.reader = (struct reader *)(void *)&numbers[1]}};
	const struct sched s = {.classes = classes, .n = COUNT(classes)};
	struct sched_stats t;
	(void)state;
	sched_stats_take(&t, &s);
	assert_int_equal(t.total.v->cpu_ns / UNIT, 211);
	sched_stats_fini(&t);
}

// The time of each hold is in all buckets from the first that has room for it.
static void times_of_holds(void **state)
{
	static const struct {
		const char *le;
		uint64_t count;
	} wanted[] = {{"0.001", 1}, {"0.002", 1}, {"0.005", 3}, {"0.01", 3}, {"0.02", 3},
		      {"0.05", 3},  {"0.1", 3},   {"0.2", 3},   {"0.5", 3},  {"1", 3},
		      {"2", 4},     {"5", 4},     {"10", 4},    {"+Inf", 5}};
	static const uint64_t ns[] = {900000, 3000000, 4800000, 1500000000, 20000000000};
	struct sched_class classes[] = {{.name = first}, {.name = last}};
	const struct sched s = {.classes = classes, .n = COUNT(classes)};
	struct sched_stats t;
	size_t found = 0;
	(void)state;
	for (size_t i = 0; i < COUNT(ns); i++)
		hist_add(&classes[1].off, ns[i]);
	sched_stats_take(&t, &s);
	for (size_t i = 0; i < t.times.n; i++) {
		const struct sched_time_row *row = &t.times.v[i];
		if (strcmp(row->name, "last") != 0 || strcmp(row->what, "reaction") != 0)
			continue;
		assert_string_equal(row->le, wanted[found].le);
		assert_int_equal(row->count, wanted[found].count);
		found++;
	}
	assert_int_equal(found, COUNT(wanted));
	assert_int_equal(t.times.n, 5 * COUNT(wanted));
	sched_stats_fini(&t);
}

// The part of the contended time in which a class was not off; of no such time none.
static void part_of_the_time(void **state)
{
	static const struct {
		uint64_t contended_ns, off_ns;
		double percent;
	} cases[] = {{800, 200, 75}, {800, 0, 100}, {400, 400, 0}, {0, 0, NAN}};
	char key[] = "";
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		// A quarter of it is of what has ended, half of the first GPU.
		struct sched_class classes[] = {{.name = first},
						{.name = last,
						 .contended_ns = cases[i].contended_ns / 4,
						 .contended_off_ns = cases[i].off_ns / 4}};
		struct sched_unit units[] = {{.gpu = 1,
					      .policy = {.contended_ns = cases[i].contended_ns / 2,
							 .contended_off_ns = cases[i].off_ns / 2}},
					     {.gpu = 2,
					      .policy = {.contended_ns = cases[i].contended_ns / 4,
							 .contended_off_ns = cases[i].off_ns / 4}}};
		struct sched_job job = {
			.used = true, .class = 1, .key = key, .units = units, .n = 2, .gpus = 3};
		const struct sched s = {.classes = classes,
					.n = 2,
					.jobs = &job,
					.num_jobs = 1,
					.bits = {{7, 9}, 2}};
		struct sched_stats t;
		sched_stats_take(&t, &s);
		const double percent = t.classes.v[1].ran_percent;
		assert_true(isnan(cases[i].percent) ? isnan(percent) : percent == cases[i].percent);
		assert_int_equal(t.classes.v[1].contended_ns, cases[i].contended_ns);
		assert_int_equal(t.classes.v[1].contended_off_ns, cases[i].off_ns);
		assert_int_equal(t.jobs.n, 2);
		assert_int_equal(t.jobs.v[1].gpu_id, 9);
		assert_int_equal(t.jobs.v[1].contended_ns, cases[i].contended_ns / 4);
		sched_stats_fini(&t);
	}
}

static void lines_come_back(void **state)
{
	struct sched_class_row classes[2] = {{.name = "online",
					      .processes = 1,
					      .bursts = 17,
					      .holds = 0,
					      .reaction_p50_ns = UINT64_MAX,
					      .ran_percent = NAN},
					     {.name = "offline",
					      .processes = 8,
					      .bursts = UINT64_MAX,
					      .holds = 3,
					      .calls = 48,
					      .reaction_p50_ns = 250000,
					      .ran_percent = 20.5}};
	struct sched_member_row member = {.pid = 4711,
					  .name = "offline",
					  .comm = "a\033b\n\"c",
					  .state = "missed",
					  .gpus = "0 2",
					  .job = "parent 7",
					  .reason = "another debugger"};
	struct sched_job_row jobs[] = {
		{.name = "offline",
		 .state = "held",
		 .rival = "online",
		 .gpu = 0,
		 .gpu_id = 41460,
		 .left_ns = UINT64_MAX,
		 .holds = 3,
		 .ran_percent = NAN},
		{.name = "offline", .job = "container x", .gpu = UINT64_MAX}};
	struct sched_client_row client = {.pid = UINT64_MAX, .name = "online", .expired = 5};
	struct sched_total_row total = {.policy = "share 80:20", .pid = 7, .hints = 2};
	struct sched_decision_row decision = {.age_ns = 5, .took_ns = UINT64_MAX, .what = "hold"};
	struct sched_time_row times[] = {{.what = "wait", .le = "0.001", .count = 0},
					 {.what = "wait", .le = "+Inf", .count = 3}};
	struct sched_stats t = {.total = {&total, 1, 1},
				.classes = {classes, 2, 2},
				.jobs = {jobs, 2, 2},
				.members = {&member, 1, 1},
				.clients = {&client, 1, 1},
				.decisions = {&decision, 1, 1},
				.times = {times, 2, 2}};
	struct sched_stats back;
	struct buf b = {0};
	(void)state;
	sched_stats_write(&b, &t);
	assert_true(sched_stats_read(&back, b.data));
	assert_string_equal(back.total.v->policy, "share 80:20");
	assert_int_equal(back.total.v->pid, 7);
	assert_int_equal(back.total.v->hints, 2);
	assert_int_equal(back.classes.n, 2);
	assert_string_equal(back.classes.v[0].name, "online");
	assert_int_equal(back.classes.v[0].bursts, 17);
	assert_int_equal(back.classes.v[0].holds, 0);
	assert_true(back.classes.v[0].reaction_p50_ns == UINT64_MAX);
	assert_true(isnan(back.classes.v[0].ran_percent));
	assert_string_equal(back.classes.v[1].name, "offline");
	assert_true(back.classes.v[1].bursts == UINT64_MAX);
	assert_int_equal(back.classes.v[1].calls, 48);
	assert_int_equal(back.classes.v[1].reaction_p50_ns, 250000);
	assert_true(back.classes.v[1].ran_percent > 20.49 && back.classes.v[1].ran_percent < 20.51);
	assert_int_equal(back.members.n, 1);
	assert_int_equal(back.members.v[0].pid, 4711);
	assert_string_equal(back.members.v[0].comm, "a\033b\n\"c");
	assert_string_equal(back.members.v[0].state, "missed");
	assert_string_equal(back.members.v[0].reason, "another debugger");
	assert_string_equal(back.members.v[0].gpus, "0 2");
	assert_string_equal(back.members.v[0].job, "parent 7");
	assert_int_equal(back.jobs.n, 2);
	assert_string_equal(back.jobs.v[0].name, "offline");
	assert_string_equal(back.jobs.v[0].state, "held");
	assert_string_equal(back.jobs.v[0].rival, "online");
	assert_int_equal(back.jobs.v[0].gpu, 0);
	assert_int_equal(back.jobs.v[0].gpu_id, 41460);
	assert_true(back.jobs.v[0].left_ns == UINT64_MAX);
	assert_int_equal(back.jobs.v[0].holds, 3);
	assert_true(isnan(back.jobs.v[0].ran_percent));
	assert_string_equal(back.jobs.v[1].job, "container x");
	assert_true(back.jobs.v[1].gpu == UINT64_MAX);
	assert_int_equal(back.clients.n, 1);
	assert_true(back.clients.v[0].pid == UINT64_MAX);
	assert_string_equal(back.clients.v[0].name, "online");
	assert_int_equal(back.clients.v[0].expired, 5);
	assert_int_equal(back.decisions.n, 1);
	assert_int_equal(back.decisions.v[0].age_ns, 5);
	assert_true(back.decisions.v[0].took_ns == UINT64_MAX);
	assert_string_equal(back.decisions.v[0].what, "hold");
	assert_int_equal(back.times.n, 2);
	assert_int_equal(back.times.v[0].count, 0);
	assert_string_equal(back.times.v[1].le, "+Inf");
	assert_int_equal(back.times.v[1].count, 3);
	sched_stats_fini(&back);
	buf_fini(&b);
}

// Another version may say less, or more.
static void what_is_not_said_is_unknown(void **state)
{
	struct sched_stats t;
	(void)state;
	assert_true(sched_stats_read(&t, "{\"record\":\"scheduler\",\"schema\":1,\"later\":[1]}\n"
					 "{\"record\":\"class\",\"schema\":1,\"class\":\"x\"}"));
	assert_true(t.total.v->cpu_ns == UINT64_MAX);
	assert_true(t.classes.v[0].holds == UINT64_MAX);
	assert_true(isnan(t.classes.v[0].ran_percent));
	sched_stats_fini(&t);
}

static void other_lines_are_refused(void **state)
{
	static const char *const wrong[] = {
		"",
		"\n",
		"ok\n",
		"{\"record\":\"scheduler\",\"schema\":1",
		"{\"record\":\"scheduler\",\"schema\":2}",
		"{\"record\":\"other\",\"schema\":1}",
		"{\"record\":\"class\",\"schema\":1}",
		"{\"record\":\"scheduler\",\"schema\":1,\"pid\":-1}",
		"{\"record\":\"scheduler\",\"schema\":1}\n{\"record\":\"scheduler\",\"schema\":1}",
	};

	(void)state;
	for (size_t i = 0; i < COUNT(wrong); i++) {
		struct sched_stats t;
		assert_false(sched_stats_read(&t, wrong[i]));
		sched_stats_fini(&t);
	}
}

// Of 16 places a user but root has four, in all classes together; what is left out is said once.
static void users_have_a_part(void **state)
{
	static const uint64_t users[] = {0, 4007, 4008, 4009};
	static const struct {
		unsigned held[COUNT(users)];
		bool room[COUNT(users)];
		const char *said;
	} cases[] = {
		{{0, 3, 3}, {true, true, true, true}, ""},
		{{3, 3, 4}, {true, true, false, true}, "4 processes of user 4008 are"},
		{{7, 4, 3}, {true, false, true, true}, "4 processes of user 4007 are"},
		{{4, 4, 4}, {true, false, false, true}, "4 processes of user 4007 are"},
		{{4, 4, 3, 4}, {true, false, true, false}, "4 processes of user 4007 are"},
		{{12, 2, 1}, {true, true, true, true}, ""},
		{{12, 2, 2}, {false, false, false, false}, "gpq: 16 processes are"},
	};
	struct group_member members[16], *v[2][16];
	struct rlimit files;
	(void)state;
	getrlimit(RLIMIT_NOFILE, &files);
	files.rlim_cur = 140;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &files), 0);
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct sched_class classes[2] = {{.group.v = v[0]}, {.group.v = v[1]}};
		struct sched s = {.classes = classes, .n = 2};
		struct buf said = {0};
		size_t n = 0;
		for (size_t u = 0; u < COUNT(users); u++)
			for (unsigned k = 0; k < cases[i].held[u]; k++, n++) {
				struct group *g = &classes[n % 2].group;
				members[n].user = users[u];
				g->v[g->n++] = &members[n];
			}
		err_gather(&said);
		for (size_t u = 0; u < COUNT(users); u++)
			assert_int_equal(has_room(&s, users[u]), cases[i].room[u]);
		err_gather(NULL);
		const char *text = said.data ? said.data : "", *newline = strchr(text, '\n');
		assert_true(*cases[i].said ? strstr(text, cases[i].said) && !newline[1] : !*text);
		buf_fini(&said);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_come_back),
		cmocka_unit_test(what_is_not_said_is_unknown),
		cmocka_unit_test(other_lines_are_refused),
		cmocka_unit_test(users_have_a_part),
		cmocka_unit_test(time_of_readers),
		cmocka_unit_test(part_of_the_time),
		cmocka_unit_test(times_of_holds),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
