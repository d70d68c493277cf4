// Jobs and their GPUs under work that comes and goes at random: common/sched/jobs.c. The time is
// that of a replay, and members obey at once.
#include "common/host/number.h"
#include "common/sched/sched.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define MS UINT64_C(1000000)

static uint64_t now_ns;

enum { CLASSES = 3, EACH = 4, GPUS = 3 };

static struct group_member members[CLASSES][EACH], *v[CLASSES][EACH];
static struct sched_class classes[CLASSES];
static struct sched s;
static uint32_t seed;

static unsigned dice(unsigned sides)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 16) % sides;
}

// Members with queues on some of three GPUs; by BY_PROCESS each is a job.
static void make_classes(unsigned job_by, struct policy policy)
{
	static const uint64_t where[EACH] = {1, 2, 4, 1 | 4};
	static char name[] = "x";
	s = (struct sched){.classes = classes,
			   .n = CLASSES,
			   .replaying = true,
			   .opts = {.policy = policy, .job_by = job_by}};
	now_ns = 1000 * MS;
	for (size_t i = 0; i < CLASSES; i++) {
		classes[i] = (struct sched_class){.name = name,
						  .group = {.v = v[i], .n = EACH, .dry = true}};
		hist_init(&classes[i].off);
		hist_init(&classes[i].on);
		for (size_t k = 0; k < EACH; k++) {
			v[i][k] = &members[i][k];
			members[i][k] =
				(struct group_member){.state = MEMBER_READY,
						      .gpus = where[k],
						      .target = {.pid = (pid_t)(10 * i + k + 1)}};
			if (i)
				jobs_add(&s, i, v[i][k]);
		}
	}
}

static const struct policy strict = {
	.kind = POLICY_STRICT, .idle_ns = 5 * MS, .max_hold_ns = 200 * MS, .rest_ns = 20 * MS};

// The GPUs on which the member stands still.
static uint64_t off(const struct group_member *m)
{
	return m->held & m->gpus;
}

static void step(uint64_t now)
{
	s.replaying = true;
	s.replayed_ns = now;
	jobs_step(&s, now);
}

static void change_work(void)
{
	for (size_t i = 0; i + 1 < CLASSES; i++)
		if (dice(30) == 0)
			classes[i].works = dice(1 << GPUS);
}

// By GPU: a queue is off only where a class above worked within --idle, and no longer than it may
// be; work on one GPU holds nothing on another.
static void held_for_a_reason_alone(void **state)
{
	uint64_t worked[CLASSES][GPUS] = {0}, since[CLASSES][EACH][GPUS] = {0};
	unsigned seen = 0;
	(void)state;
	make_classes(BY_CLASS, strict);
	seed = 1;
	for (unsigned n = 0; n < 20000; n++, now_ns += MS) {
		change_work();
		step(now_ns);
		for (unsigned at = 0; at < CLASSES * EACH * GPUS; at++) {
			const unsigned i = at / EACH / GPUS, k = at / GPUS % EACH, g = at % GPUS;
			uint64_t last = 0;
			if (classes[i].works >> g & 1)
				worked[i][g] = now_ns;
			for (unsigned a = 0; a < i; a++)
				last = greater(last, worked[a][g]);
			if (!(off(&members[i][k]) >> g & 1)) {
				since[i][k][g] = 0;
				continue;
			}
			seen++;
			assert_true(last && now_ns - last <= strict.idle_ns);
			since[i][k][g] = since[i][k][g] ? since[i][k][g] : now_ns;
			assert_true(now_ns - since[i][k][g] < strict.max_hold_ns);
		}
	}
	assert_true(seen > 20000);
	jobs_fini(&s);
}

// A job is off on all of its GPUs or on none, however the GPUs with work change.
static void a_job_is_never_split(void **state)
{
	unsigned seen = 0;
	(void)state;
	make_classes(BY_PROCESS, strict);
	seed = 2;
	for (unsigned n = 0; n < 20000; n++, now_ns += MS) {
		change_work();
		step(now_ns);
		for (size_t i = 1; i < CLASSES; i++)
			for (size_t k = 0; k < EACH; k++) {
				const uint64_t held = off(&members[i][k]);
				assert_true(!held || held == members[i][k].gpus);
				seen += held == 5;
			}
	}
	assert_true(seen > 1000);
	jobs_fini(&s);
}

// One of a job's processes cannot be held: none is, for five seconds after that; others are.
static void a_job_with_one_missing_runs(void **state)
{
	(void)state;
	make_classes(BY_PROCESS, strict);
	for (size_t k = 1; k < EACH; k++) // all of the last class are put into one job
		members[2][k].job = members[2][0].job;
	classes[0].works = 1;
	step(now_ns);
	for (size_t k = 0; k < EACH; k++)
		assert_int_equal(off(&members[2][k]), members[2][k].gpus);
	members[2][1].state = MEMBER_SILENT;
	now_ns += MS;
	step(now_ns);
	for (size_t k = 0; k < EACH; k++)
		assert_int_equal(off(&members[2][k]), 0);
	assert_int_equal(off(&members[1][0]), 1);
	members[2][1].state = MEMBER_READY;
	classes[0].works = 0;
	step(now_ns += 4000 * MS);
	classes[0].works = 1;
	step(now_ns += 999 * MS);
	assert_int_equal(off(&members[2][0]), 0);
	step(now_ns += MS);
	assert_int_equal(off(&members[2][0]), 1);
	assert_int_equal(off(&members[2][1]), 2);
	jobs_fini(&s);
}

// Two classes that always work, and a share of 50:50: each has half of the GPU, and online work
// stops both.
static void busy_classes_take_turns(void **state)
{
	static const struct policy share = {.kind = POLICY_SHARE,
					    .part = 0.5,
					    .period_ns = 100 * MS,
					    .idle_ns = 5 * MS,
					    .max_hold_ns = 1000 * MS,
					    .rest_ns = 100 * MS};
	unsigned ran[CLASSES] = {0}, both = 0;
	(void)state;
	make_classes(BY_CLASS, share);
	classes[1].works = 1;
	for (unsigned n = 0; n < 60000; n++, now_ns += MS) {
		step(now_ns);
		const bool mid = !off(&members[1][0]), last = !off(&members[2][0]);
		ran[1] += mid;
		ran[2] += last;
		both += mid && last;
		assert_false(off(&members[1][1])); // on another GPU
	}
	assert_int_equal(both, 0);
	assert_in_range(ran[1], 28800, 31200);
	assert_in_range(ran[2], 28800, 31200);
	while (!off(&members[1][0]))
		step(now_ns += MS);
	step(now_ns += 20 * MS); // in the middle of the turn
	classes[0].works = 1;
	step(now_ns);
	assert_true(off(&members[1][0]) && off(&members[2][0]));
	jobs_fini(&s);
}

// A part for each class, 60:30:10: those that have work share out a minute of the GPU in
// proportion, and the class at the bottom always wants its own.
static void each_class_has_its_part(void **state)
{
	static const struct policy share = {.kind = POLICY_SHARE,
					    .part = 0.1,
					    .period_ns = 100 * MS,
					    .idle_ns = MS,
					    .max_hold_ns = 10000 * MS,
					    .rest_ns = 100 * MS};
	static const struct {
		uint64_t online, batch;
		unsigned ran[CLASSES]; // of 60000 ms
	} cases[] = {
		{1, 1, {0, 18000, 6000}},
		{0, 1, {0, 45000, 15000}},
		{1, 0, {0, 0, 8571}},      // 10 of 70, and batch has nothing to run
		{2, 1, {0, 45000, 15000}}, // online works on another GPU
	};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		unsigned ran[CLASSES] = {0};
		make_classes(BY_CLASS, share);
		s.opts.num_parts = 3;
		memcpy(s.opts.parts, (const double[]){0.6, 0.3, 0.1}, 3 * sizeof(double));
		classes[0].works = cases[i].online;
		classes[1].works = cases[i].batch;
		for (unsigned n = 0; n < 60000; n++, now_ns += MS) {
			step(now_ns);
			for (size_t k = 1; k < CLASSES; k++)
				ran[k] +=
					classes[k].works != 0 || k == 2 ? !off(&members[k][0]) : 0;
		}
		for (size_t k = 1; k < CLASSES; k++)
			assert_in_range(ran[k] + 1200, cases[i].ran[k], cases[i].ran[k] + 2400);
		jobs_fini(&s);
	}
}

// Four jobs of a class, on GPUs 0, 1, 2, and 0 and 2, take turns of 50 ms where they share one. The
// wide one waits for both of its GPUs, and no GPU waits. Counts for a minute the ms that each runs;
// the first `idle` have nothing to do.
static void run_slices(bool online, unsigned ran[EACH])
{
	memset(ran, 0, EACH * sizeof(*ran));
	for (unsigned n = 0; n < 60000; n++, now_ns += MS) {
		unsigned on[GPUS] = {0}, has[GPUS] = {0};
		if (online && dice(30) == 0)
			classes[0].works = dice(2);
		step(now_ns);
		for (size_t k = 0; k < EACH; k++) {
			const struct group_member *m = &members[2][k];
			ran[k] += !off(m);
			assert_true(!off(m) || off(m) == m->gpus);
			for (size_t g = 0; g < GPUS; g++) {
				has[g] += m->gpus >> g & 1;
				on[g] += !off(m) && m->gpus >> g & 1;
			}
		}
		for (size_t g = 0; g < GPUS; g++)
			assert_in_range(on[g], has[g] && !online, 1);
	}
}

static void jobs_of_a_class_have_slices(void **state)
{
	static const struct policy slow = {.kind = POLICY_STRICT,
					   .idle_ns = MS,
					   .max_hold_ns = 100000 * MS,
					   .rest_ns = 100 * MS};
	unsigned ran[EACH];
	(void)state;
	make_classes(BY_PROCESS, slow);
	s.opts.slice_ns = 50 * MS;
	run_slices(false, ran);
	assert_in_range(ran[0], 28800, 31200);
	assert_int_equal(ran[1], 60000);
	assert_in_range(ran[2], 28800, 31200);
	assert_in_range(ran[3], 28800, 31200);
	// Online work on GPU 0 takes from both that are there, in the same measure.
	seed = 7;
	run_slices(true, ran);
	assert_in_range(ran[0], 10000, 20000);
	assert_in_range(ran[3], ran[0] - 1200, ran[0] + 1200);
	// A third job on GPU 0, which had another one for itself: it is owed nothing, and owes
	// nothing.
	classes[0].works = 0;
	members[2][1].gpus = 1;
	run_slices(false, ran);
	assert_in_range(ran[0], 18800, 21200);
	assert_in_range(ran[1], 18800, 21200);
	assert_in_range(ran[3], 18800, 21200);
	assert_in_range(ran[2], 38800, 41200);
	jobs_fini(&s);
}

// Jobs of class 2, of these tenants and called 0 to 3, that take turns of 20 ms.
static void make_tenants(const char *const tenants[EACH], const uint64_t gpus[EACH])
{
	static const struct policy slow = {
		.kind = POLICY_STRICT, .max_hold_ns = 100000 * MS, .rest_ns = 100 * MS};
	make_classes(BY_PROCESS, slow);
	jobs_fini(&s);
	s.jobs = NULL;
	s.num_jobs = s.cap_jobs = 0;
	s.opts.slice_ns = 20 * MS;
	for (size_t k = 0; k < EACH; k++) {
		members[1][k].state = MEMBER_ENDED;
		members[2][k].gpus = gpus[k];
		jobs_join(&s, 2, xasprintf("%zu", k), xstrdup(tenants[k]), &members[2][k]);
	}
}

// Lets jobs of class 2 take turns for a minute, and counts the ms that each runs.
static void run_a_minute(unsigned ran[EACH])
{
	memset(ran, 0, EACH * sizeof(*ran));
	for (unsigned n = 0; n < 60000; n++, now_ns += MS) {
		step(now_ns);
		for (size_t k = 0; k < EACH; k++)
			ran[k] += members[2][k].gpus && !off(&members[2][k]);
	}
}

// The job with the earliest deadline runs at once, until it has none; then goes on who was
// interrupted.
static void deadlines_come_first(void **state)
{
	static const char *const nobody[EACH] = {"", "", "", ""};
	static const uint64_t one[EACH] = {1, 1, 1, 1};
	static const size_t first[] = {3, 2, 1};
	unsigned n = 0;
	(void)state;
	make_tenants(nobody, one);
	s.opts.slice_ns = 200 * MS;
	for (step(now_ns); !off(&members[2][0]); step(now_ns += MS))
		;
	for (; off(&members[2][0]); step(now_ns += MS))
		;
	for (; n < 50; n++) // of its 200
		step(now_ns += MS);
	slices_note_due(&s.jobs[3], now_ns + 900 * MS);
	slices_note_due(&s.jobs[3], now_ns + 300 * MS);
	slices_note_due(&s.jobs[3], now_ns + 800 * MS);
	slices_note_due(&s.jobs[2], now_ns + 500 * MS);
	slices_note_due(&s.jobs[1], now_ns + 700 * MS);
	for (size_t i = 0; i < COUNT(first); i++) {
		for (n = 0; n < 100; n++, now_ns += MS) {
			step(now_ns);
			for (size_t k = 0; k < EACH; k++)
				assert_int_equal(!off(&members[2][k]), k == first[i]);
		}
		s.jobs[first[i]].due_ns = 0;
	}
	step(now_ns);
	for (n = 0; !off(&members[2][0]); n++)
		step(now_ns += MS);
	assert_in_range(n, 148, 152);
	jobs_fini(&s);
}

// A job that keeps having deadlines, with pauses or without, does not starve the others: each has a
// slice of 200 ms when it has waited for 1600 ms, behind two others at most.
static void deadlines_starve_nobody(void **state)
{
	static const char *const nobody[EACH] = {"", "", "", ""};
	static const uint64_t one[EACH] = {1, 1, 1, 1};
	static const struct {
		unsigned every, on,
			pause; // a new deadline each `every` ms, 0: one; then none for `pause`
	} cases[] = {{0, 60000, 0}, {1000, 60000, 0}, {150, 60000, 0}, {20, 60000, 0},
		     {2, 60000, 0}, {0, 1490, 110},   {0, 1000, 110},  {7, 300, 110}};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		unsigned ran[EACH] = {0};
		make_tenants(nobody, one);
		s.opts.slice_ns = 200 * MS;
		for (unsigned n = 0; n < 60000; n++, now_ns += MS) {
			if (n % (cases[i].on + cases[i].pause) >= cases[i].on)
				s.jobs[0].due_ns = 0;
			else if (!cases[i].every || n % cases[i].every == 0)
				s.jobs[0].due_ns = cases[i].every ? now_ns : 1;
			step(now_ns);
			for (size_t k = 0; k < EACH; k++)
				ran[k] += !off(&members[2][k]);
		}
		for (size_t k = 1; k < EACH; k++)
			assert_in_range(ran[k], 60000 * 200 / 2200 - 1000, 15000);
		jobs_fini(&s);
	}
}

static void run_for(unsigned ms)
{
	for (; ms; ms--)
		step(now_ns += MS);
}

// A wait does not count on while there is no --slice, nor an overdue slice while its job is alone:
// a deadline interrupts at once.
static void waits_end(void **state)
{
	static const char *const nobody[EACH] = {"", "", "", ""};
	static const uint64_t one[EACH] = {1, 1, 0, 0};
	(void)state;
	make_tenants(nobody, one);
	s.opts.slice_ns = 1000 * MS;
	run_for(5000);
	s.opts.slice_ns = 0;
	run_for(20000);
	assert_false(off(&members[2][0]) || off(&members[2][1]));
	s.opts.slice_ns = 1000 * MS;
	slices_note_due(&s.jobs[0], 1);
	for (unsigned n = 0; n < 3900; n++) {
		step(now_ns += MS);
		assert_true(!off(&members[2][0]) && off(&members[2][1]));
	}
	run_for(300); // job 1 has a slice now, after 4 s
	assert_true(off(&members[2][0]) && !off(&members[2][1]));
	members[2][0].gpus = 0;
	run_for(20000);
	members[2][0].gpus = 1;
	step(now_ns += MS);
	assert_true(!off(&members[2][0]) && off(&members[2][1]));
	jobs_fini(&s);
}

// Who was interrupted goes on when the deadline is over, also while a job on another GPU has one.
static void deadlines_are_of_their_gpus(void **state)
{
	static const char *const nobody[EACH] = {"", "", "", ""};
	static const uint64_t two[EACH] = {1, 1, 2, 2};
	(void)state;
	make_tenants(nobody, two);
	s.opts.slice_ns = 1000 * MS;
	while (!off(&members[2][1]))
		run_for(1);
	while (off(&members[2][1]))
		run_for(1);
	slices_note_due(&s.jobs[0], 1);
	run_for(200);
	assert_true(!off(&members[2][0]) && off(&members[2][1]));
	s.jobs[0].due_ns = 0;
	slices_note_due(&s.jobs[2], 1);
	run_for(200);
	assert_true(off(&members[2][0]) && !off(&members[2][1]) && !off(&members[2][2]));
	jobs_fini(&s);
}

// An interrupted slice goes on when its job has waited for 4 s, in which the 900 ms that it had
// already do not count.
static void time_in_a_slice_is_no_wait(void **state)
{
	static const char *const nobody[EACH] = {"", "", "", ""};
	static const uint64_t one[EACH] = {1, 1, 0, 0};
	(void)state;
	make_tenants(nobody, one);
	s.opts.slice_ns = 1000 * MS;
	run_for(5000);
	while (!off(&members[2][1]))
		run_for(1);
	while (off(&members[2][1]))
		run_for(1);
	run_for(900);
	slices_note_due(&s.jobs[0], 1);
	for (unsigned n = 0; n < 2900; n++) {
		step(now_ns += MS);
		assert_true(!off(&members[2][0]) && off(&members[2][1]));
	}
	run_for(150); // 3 s are over, and 50 of the 100 ms that its slice has left
	assert_true(off(&members[2][0]) && !off(&members[2][1]));
	jobs_fini(&s);
}

// A deadline that comes and goes at each step interrupts ten times a second, not more, on its GPU
// and in its class alone; one that comes before the first queue counts with it.
static void deadlines_interrupt_seldom(void **state)
{
	static const char *const nobody[EACH] = {"", "", "", ""};
	static const uint64_t two[EACH] = {1, 1, 2, 2};
	unsigned changes[CLASSES][EACH] = {0};
	bool was[CLASSES][EACH] = {0};
	(void)state;
	make_tenants(nobody, two);
	s.opts.slice_ns = 1000 * MS;
	for (size_t k = 0; k < EACH; k++) {
		members[1][k].state = MEMBER_READY;
		members[1][k].gpus = two[k];
		jobs_join(&s, 1, xasprintf("%zu", k), xstrdup(""), &members[1][k]);
	}
	for (unsigned n = 0; n < 60000; n++, now_ns += MS) {
		s.jobs[0].due_ns = n % 2;
		step(now_ns);
		for (size_t at = 0; at < CLASSES * EACH; at++) {
			const size_t i = at / EACH, k = at % EACH;
			changes[i][k] += was[i][k] != !off(&members[i][k]);
			was[i][k] = !off(&members[i][k]);
		}
	}
	assert_in_range(changes[2][0], 100, 650);
	assert_in_range(changes[2][2], 59, 61);
	assert_in_range(changes[1][0], 59, 61);
	members[2][0].gpus = 0;
	for (unsigned n = 0; n < 300; n++, now_ns += MS)
		step(now_ns);
	s.jobs[0].due_ns = 1;
	step(now_ns += 200 * MS);
	members[2][0].gpus = 1;
	step(now_ns += MS);
	assert_int_equal(off(&members[2][0]), 0);
	jobs_fini(&s);
}

// Time is shared out among tenants by their weights, however many jobs they have; who comes back
// gets nothing for the time that he was away.
static void tenants_have_their_parts(void **state)
{
	static const struct {
		const char *tenants[EACH];
		char weights[2][8];
		unsigned ran[EACH];
		uint64_t gpus[EACH];
	} cases[] = {
		{{"a", "a", "b", "b"}, {""}, {15000, 15000, 15000, 15000}, {1, 1, 1, 1}},
		{{"a", "a", "a", "b"}, {""}, {10000, 10000, 10000, 30000}, {1, 1, 1, 1}},
		{{"a", "a", "a", "b"}, {"a=3"}, {15000, 15000, 15000, 15000}, {1, 1, 1, 1}},
		{{"", "", "", ""}, {"3=2", "1=1"}, {12000, 12000, 12000, 24000}, {1, 1, 1, 1}},
		{{"", "", "c=d", "c=d"},
		 {"c=d=8", "0=2"},
		 {10909, 5455, 21818, 21818},
		 {1, 1, 1, 1}},
		{{"", "", "", ""}, {"0=1000"}, {59820, 60, 60, 60}, {1, 1, 1, 1}},
		// One job on two GPUs, or two on one each; what a tenant has elsewhere is not
		// counted.
		{{"a", "b", "b", "c"}, {""}, {30000, 30000, 30000, 60000}, {3, 1, 2, 4}},
		{{"a", "b", "a", "a"}, {""}, {30000, 30000, 60000, 60000}, {1, 1, 2, 4}},
		{{"", "", "", ""}, {"0=2"}, {40000, 20000, 20000, 60000}, {3, 1, 2, 4}},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		unsigned ran[EACH];
		char first[8], second[8], *weights[] = {first, second};
		memcpy(first, cases[i].weights[0], sizeof(first));
		memcpy(second, cases[i].weights[1], sizeof(second));
		make_tenants(cases[i].tenants, cases[i].gpus);
		s.opts.weights = (struct words){.v = weights, .n = !!*first + !!*second};
		jobs_weigh(&s);
		run_a_minute(ran);
		for (size_t k = 0; k < EACH; k++)
			assert_in_range(ran[k] + 600, cases[i].ran[k], cases[i].ran[k] + 1200);
		members[2][3].gpus = 0;
		run_a_minute(ran);
		assert_int_equal(ran[3], 0);
		members[2][3].gpus = cases[i].gpus[3];
		run_a_minute(ran);
		assert_in_range(ran[3] + 600, cases[i].ran[3], cases[i].ran[3] + 1200);
		jobs_fini(&s);
	}
}

// The accounts of a GPU begin when jobs share it: neither who comes nor who was there alone pays or
// is paid for what was before, and a job that comes and goes does not get more by that.
static void accounts_begin_with_sharing(void **state)
{
	static const char *const each[EACH] = {"", "", "", ""}, *const two[EACH] = {"a", "b", "a",
										    "c"};
	static const uint64_t first[EACH] = {1, 1, 2, 0}, second[EACH] = {1, 1, 0, 2};
	char weight[] = "0=10", *weights[] = {weight};
	unsigned ran[EACH], part[EACH], most = 0, waited = 0;
	(void)state;
	make_tenants(each, first);
	run_a_minute(ran);
	members[2][3].gpus = 3; // a job on GPU 0, which two have shared, and on GPU 1
	run_a_minute(ran);
	assert_in_range(ran[0], 19400, 20600);
	assert_in_range(ran[1], 19400, 20600);
	assert_in_range(ran[2], 39400, 40600);
	assert_in_range(ran[3], 19400, 20600);
	jobs_fini(&s);
	make_tenants(two, second);
	run_a_minute(ran);
	assert_int_equal(ran[3], 60000);
	members[2][2].gpus = 2; // another job of a, which had half of GPU 0 for a minute
	for (unsigned n = 0; n < 20000; n++, now_ns += MS) {
		step(now_ns);
		waited = off(&members[2][2]) ? waited + 1 : 0;
		most = waited > most ? waited : most;
	}
	assert_in_range(most, 20, 60);
	// A new job of c takes from its account: a still has half.
	members[2][1].state = MEMBER_ENDED;
	step(now_ns);
	members[2][1].state = MEMBER_READY;
	members[2][1].gpus = 2;
	jobs_join(&s, 2, xstrdup("4"), xstrdup("c"), &members[2][1]);
	run_a_minute(ran);
	assert_in_range(ran[2], 29400, 30600);
	assert_in_range(ran[1], 14400, 15600);
	assert_in_range(ran[3], 14400, 15600);
	jobs_fini(&s);
	make_tenants(each, second);
	s.opts.weights = (struct words){.v = weights, .n = 1};
	jobs_weigh(&s);
	memset(part, 0, sizeof(part));
	for (unsigned n = 0; n < 60000; n++, now_ns += MS) {
		members[2][1].gpus = n / 100 % 2 ? 1 : 1 | 4;
		step(now_ns);
		part[1] += !off(&members[2][1]);
	}
	assert_in_range(part[1], 4900, 6000);
	jobs_fini(&s);
}

// A job on two GPUs waits on one of them, and others run on the other one meanwhile. When it need
// not wait any more, these do not pay for a minute, but wait for four slices at most.
static void nobody_waits_for_ever(void **state)
{
	static const char *const each[EACH] = {"", "", "", ""};
	static const uint64_t gpus[EACH] = {3, 1, 2, 0};
	char weight[] = "2=10", *weights[] = {weight};
	unsigned ran[EACH], most = 0, waited = 0;
	(void)state;
	make_tenants(each, gpus);
	s.opts.weights = (struct words){.v = weights, .n = 1};
	jobs_weigh(&s);
	run_a_minute(ran);
	assert_in_range(ran[1], 53000, 56000);
	members[2][2].gpus = 0;
	for (unsigned n = 0; n < 20000; n++, now_ns += MS) {
		step(now_ns);
		waited = off(&members[2][1]) ? waited + 1 : 0;
		most = waited > most ? waited : most;
	}
	assert_in_range(most, 4 * 20, 5 * 20);
	jobs_fini(&s);
}

// A job that is left alone again after it was refused is not held for anybody's turn. One that
// waited for longer than --max-hold runs beside the others, until online work comes.
static void nobody_is_held_for_nothing(void **state)
{
	static const char *const each[EACH] = {"", "", "", ""};
	static const uint64_t one[EACH] = {1, 0, 0, 0}, three[EACH] = {1, 1, 1, 0};
	unsigned both = 0;
	(void)state;
	make_tenants(each, one);
	step(now_ns);
	members[2][0].state = MEMBER_SILENT;
	step(now_ns);
	members[2][0].state = MEMBER_READY;
	for (unsigned n = 0; n < 6000; n++, now_ns += MS) {
		step(now_ns);
		assert_int_equal(off(&members[2][0]), 0);
	}
	jobs_fini(&s);
	make_tenants(each, three);
	s.opts.slice_ns = 1000 * MS;
	s.opts.policy.max_hold_ns = 1000 * MS;
	s.opts.policy.rest_ns = 500 * MS;
	for (unsigned n = 0; n < 10000 && both < 100; n++, now_ns += MS) {
		unsigned on = 0;
		step(now_ns);
		for (size_t k = 0; k < 3; k++)
			on += !off(&members[2][k]);
		both = on > 1 ? both + 1 : 0;
	}
	assert_int_equal(both, 100);
	classes[0].works = 1;
	step(now_ns);
	step(now_ns);
	for (size_t k = 0; k < 3; k++)
		assert_int_equal(off(&members[2][k]), 1);
	jobs_fini(&s);
}

// Holds for online work and for the turn of a class below add up: none is longer than it may be.
static void no_reason_after_another_holds_too_long(void **state)
{
	static const struct policy share = {.kind = POLICY_SHARE,
					    .part = 0.5,
					    .period_ns = 480 * MS,
					    .idle_ns = 5 * MS,
					    .max_hold_ns = 250 * MS,
					    .rest_ns = 20 * MS};
	uint64_t since[CLASSES] = {0};
	unsigned seen = 0;
	(void)state;
	make_classes(BY_CLASS, share);
	seed = 3;
	classes[1].works = 1;
	for (unsigned n = 0; n < 60000; n++, now_ns += MS) {
		if (dice(100) == 0)
			classes[0].works = dice(2);
		step(now_ns);
		for (size_t i = 1; i < CLASSES; i++) {
			if (!off(&members[i][0])) {
				since[i] = 0;
				continue;
			}
			since[i] = since[i] ? since[i] : now_ns;
			assert_true(now_ns - since[i] < share.max_hold_ns);
			seen += now_ns - since[i] == 240 * MS;
		}
	}
	assert_true(seen > 10);
	jobs_fini(&s);
}

// What has ended is forgotten, and its place is used again; the class keeps the sums.
static void jobs_end(void **state)
{
	(void)state;
	make_classes(BY_PROCESS, strict);
	const size_t jobs = s.num_jobs;
	classes[0].works = 7;
	step(now_ns);
	step(now_ns); // the answers are there
	step(now_ns += 50 * MS);
	members[2][3].state = MEMBER_ENDED;
	step(now_ns);
	assert_int_equal(classes[2].holds, 1);
	assert_int_equal(classes[2].contended_ns, 50 * MS);
	assert_int_equal(classes[2].contended_off_ns, 50 * MS);
	members[2][3].state = MEMBER_READY;
	jobs_add(&s, 2, &members[2][3]);
	assert_int_equal(s.num_jobs, jobs);
	jobs_fini(&s);
}

// A process that was seen to end stays in its class until the next look; its job is gone by then.
static void nothing_is_asked_of_an_ended_job(void **state)
{
	unsigned is_off = 7, missed = 7;
	(void)state;
	make_classes(BY_CLASS, strict);
	for (size_t i = 1; i < CLASSES; i++)
		for (size_t k = 0; k < EACH; k++)
			members[i][k].state = MEMBER_ENDED;
	classes[0].works = 7;
	step(now_ns);
	assert_true(jobs_are_off(&s, 0, GPUS_ALL, &is_off, &missed));
	assert_int_equal(is_off + missed, 0);
	jobs_fini(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(held_for_a_reason_alone),
		cmocka_unit_test(a_job_is_never_split),
		cmocka_unit_test(each_class_has_its_part),
		cmocka_unit_test(jobs_of_a_class_have_slices),
		cmocka_unit_test(deadlines_come_first),
		cmocka_unit_test(deadlines_starve_nobody),
		cmocka_unit_test(deadlines_interrupt_seldom),
		cmocka_unit_test(waits_end),
		cmocka_unit_test(deadlines_are_of_their_gpus),
		cmocka_unit_test(time_in_a_slice_is_no_wait),
		cmocka_unit_test(tenants_have_their_parts),
		cmocka_unit_test(accounts_begin_with_sharing),
		cmocka_unit_test(nobody_waits_for_ever),
		cmocka_unit_test(nobody_is_held_for_nothing),
		cmocka_unit_test(a_job_with_one_missing_runs),
		cmocka_unit_test(busy_classes_take_turns),
		cmocka_unit_test(no_reason_after_another_holds_too_long),
		cmocka_unit_test(jobs_end),
		cmocka_unit_test(nothing_is_asked_of_an_ended_job),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
