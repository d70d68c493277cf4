// One look at heads of queues, common/why/why_glance.c: what is asked of the reader in how many
// requests, what a look leaves of the one before, and exceptions. And the run of a profile,
// common/why/profile.c, by a clock of the test's own. Facts: [kfd.exceptions], [kfd.save-header].
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/why/profile.h"

#include "common/cli/stop.h"
#include "common/host/clock.h"
#include "common/host/root.h"
#include "common/kfd/abi.h"
#include "common/reader/reader.h"

#include <search.h>

enum { MANY = 130, RING = 0x1000, INDICES = 0x10000, SIGNALS = 0x20000 };

static struct {
	uint8_t memory[0x30000];
	bool reading;        // a request for ranges is being answered
	unsigned requests;   // requests for ranges
	unsigned ranges[32]; // how many ranges each request has
	unsigned single;     // reads that no request had made in advance
	uint64_t clock, cpu, cpu_a_look;
	unsigned scans, stop_after; // stop_after: a signal comes at this look; 0: none
	bool recorded;
	struct queue_row rows[MANY];
	struct ring_queue queues[MANY];
	struct ring_process processes[2];
	struct rings rings;
	struct why_queue x[MANY], *list[MANY];
	struct profile profile;
} my;

static bool read_target(void *arg, uint64_t at, void *to, size_t size)
{
	(void)arg;
	my.single += !my.reading;
	if (at > sizeof(my.memory) || size > sizeof(my.memory) - at)
		return false;
	memcpy(to, my.memory + at, size);
	return true;
}

static bool fake_read_all(const struct memory *m, struct memory_range *v, size_t n)
{
	my.ranges[my.requests++ % COUNT(my.ranges)] = (unsigned)n;
	my.reading = true;
	const bool all = memory_read_all(m, v, n);
	my.reading = false;
	return all;
}

static bool fake_is_live(void)
{
	return !my.recorded;
}

static bool fake_asked(void)
{
	return my.stop_after && my.profile.looks >= my.stop_after;
}

static void fake_sleep(uint64_t until)
{
	my.clock = until > my.clock ? until : my.clock;
	my.cpu += my.cpu_a_look;
}

static uint64_t fake_clock_ns(void)
{
	return my.clock;
}

static uint64_t fake_cpu_ns(void)
{
	return my.cpu / 2;
}

static uint64_t fake_reader_cpu_ns(const struct reader *r)
{
	assert_null(r);
	return my.cpu / 2;
}

#define memory_read_all fake_read_all
#include "common/why/why_glance.c" // NOLINT(bugprone-suspicious-include)
#define host_is_live  fake_is_live
#define stop_asked    fake_asked
#define stop_sleep    fake_sleep
#define clock_ns      fake_clock_ns
#define clock_cpu_ns  fake_cpu_ns
#define reader_cpu_ns fake_reader_cpu_ns
#include "common/why/profile.c" // NOLINT(bugprone-suspicious-include)

static void poke(uint64_t at, uint64_t value)
{
	memcpy(my.memory + at, &value, sizeof(value));
}

static void indices(unsigned q, uint64_t read, uint64_t write)
{
	poke(INDICES + 16 * q, read);
	poke(INDICES + 16 * q + 8, write);
}

// A dispatch (2) or, in a slot that is free, what it left (1), at this index of the only ring.
static void put(uint64_t index, uint8_t type, uint64_t completion)
{
	uint8_t *p = my.memory + RING + index % 64 * 64;
	memset(p, 0, 64);
	p[0] = type;
	memcpy(p + 2, (const uint16_t[]){1, 64, 1, 1}, 8);
	memcpy(p + 12, (const uint32_t[]){64, 1, 1}, 12);
	p[33] = 5;
	memcpy(p + 56, &completion, 8);
}

// Queues that share a ring, and have indices of their own; the last ten are of another process.
static int setup(void **state)
{
	(void)state;
	memset(&my, 0, sizeof(my));
	for (unsigned i = 0; i < MANY; i++) {
		queue_row_clear(&my.rows[i]);
		my.rows[i].pid = 40 + i / 120;
		my.rows[i].qid = i;
		my.rows[i].on_hw = 1;
		my.queues[i] = (struct ring_queue){.row = &my.rows[i],
						   .process = i / 120,
						   .chosen = true,
						   .ring = {.base = RING,
							    .bytes = 4096,
							    .read_at = INDICES + 16 * i,
							    .write_at = INDICES + 16 * i + 8,
							    .kind = RING_AQL}};
		my.x[i] = (struct why_queue){.q = &my.queues[i], .unread = true};
		my.list[i] = &my.x[i];
	}
	for (unsigned i = 0; i < 64; i++)
		put(i, 1, 0);
	for (unsigned i = 0; i < 2; i++)
		my.processes[i].memory = (struct memory){.fd = -1, .read = read_target};
	my.rings = (struct rings){.processes = my.processes, .nprocesses = 2, .v = my.queues};
	return 0;
}

// The ranges of each request of a look, "1 3 2 ".
static const char *glance(size_t n)
{
	static char text[128];
	size_t len = 0;
	my.requests = my.single = 0;
	why_glance(my.list, n, &my.rings);
	text[0] = '\0';
	for (unsigned i = 0; i < my.requests; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%u ", my.ranges[i]);
	return text;
}

static void test_requests(void **state)
{
	(void)state;
	put(5, 2, SIGNALS);
	put(4, 1, SIGNALS + 64);
	poke(SIGNALS + 64, 1);
	poke(SIGNALS + 72, 3);
	indices(0, 5, 6);
	assert_string_equal(
		glance(1),
		"1 3 1 "); // requests: indices, packets around the head, signal of the last packet
	assert_int_equal(my.single, 0);
	assert_int_equal(my.x[0].last_value, 3);
	assert_false(my.x[0].unread);
	assert_string_equal(glance(1), "1 1 "); // the head is as before
	indices(0, 5, 7);
	assert_string_equal(glance(1), "1 1 ");
	assert_int_equal(my.x[0].now.write, 7);
	indices(0, 6, 7);
	assert_string_equal(glance(1),
			    "1 3 1 "); // the packet that was next is now the last one taken
	my.x[0].unread = true;
	assert_string_equal(glance(1), "1 3 1 ");
	assert_int_equal(my.single, 0);
	my.queues[0].ring.write_at = 0x100; // apart from the other: nothing is read in advance
	poke(0x100, 7);
	my.x[0].unread = true;
	assert_string_equal(glance(1), "1 1 ");
	assert_true(my.single > 0);
}

// 64 queues of a process in one request, and each process for itself.
static void test_many(void **state)
{
	(void)state;
	for (unsigned i = 0; i < MANY; i++)
		indices(i, 2 * i + 1, 2 * i + 1);
	assert_string_equal(glance(MANY), "64 192 56 168 10 30 ");
	for (unsigned i = 0; i < MANY; i++) {
		assert_int_equal(my.x[i].now.read, 2 * i + 1);
		assert_int_equal(my.x[i].problem, RING_OK);
	}
	assert_int_equal(my.single, 0);
	assert_string_equal(glance(64), "64 ");
	assert_string_equal(glance(65), "64 1 ");
}

// What the last look has seen is forgotten: packets, signals, problems.
static void test_forgets(void **state)
{
	struct why_queue *x = &my.x[0];
	(void)state;
	poke(SIGNALS, 1);
	poke(SIGNALS + 8, 4);
	put(4, 1, SIGNALS);
	put(5, 2, 0);
	indices(0, 5, 6);
	glance(1);
	assert_true(why_last_runs(x));
	assert_string_equal(x->next.type, "dispatch");
	assert_int_equal(x->next_state, RING_NEXT);
	put(0, 2, 0);
	indices(0, 0, 1); // as after a new start: no packet is before it
	glance(1);
	assert_null(x->last.type);
	assert_false(why_last_runs(x));
	indices(0, 1, 1);
	glance(1);
	assert_null(x->next.type);
	assert_string_equal(x->last.type, "dispatch");
	poke(SIGNALS + 8, 0);
	put(4, 1, SIGNALS);
	indices(0, 5, 5);
	glance(1);
	assert_true(x->has_last_value);
	assert_false(why_last_runs(x));
	poke(SIGNALS, 7); // no signal any more
	glance(1);
	assert_false(x->has_last_value);
	assert_true(x->unread);
	indices(0, 5, 4);
	glance(1);
	assert_int_equal(x->problem, RING_ABSURD);
	assert_true(x->unread);
	indices(0, 5, 5);
	poke(SIGNALS, 1);
	glance(1);
	assert_int_equal(x->problem, RING_OK);
	assert_true(x->has_last_value);
	assert_false(x->unread);
}

// --- exceptions ---

static void test_exceptions(void **state)
{
	static const struct {
		uint64_t area, word;
		enum ring_kind kind;
		uint64_t noted;
	} cases[] = {
		{0x400, 0, RING_AQL, 0},
		{0x400, 1, RING_AQL, 1},
		{0x400, 0x2000003f, RING_AQL, 0x2000003f},
		{0x400, 0x7f8000, RING_AQL, 0x7f8000},
		{0x400, 1 << 6, RING_AQL, KFD_UNKNOWN}, // no exception of a queue
		{0x400, 1 << 14, RING_AQL, KFD_UNKNOWN},
		{0x400, 1 << 23, RING_AQL, KFD_UNKNOWN},
		{0x400, 1 << 30, RING_AQL, KFD_UNKNOWN},
		{0x400, UINT64_C(1) << 32 | 1, RING_AQL, KFD_UNKNOWN},
		{0x400, 1, RING_SDMA, KFD_UNKNOWN},
		{0x400, 1, RING_PM4, KFD_UNKNOWN},
		{0, 1, RING_AQL, KFD_UNKNOWN}, // there is an address there, too
		{MQD_UNKNOWN, 1, RING_AQL, KFD_UNKNOWN},
		{0x500, 1, RING_AQL, KFD_UNKNOWN}, // names no word
		{0x600, 1, RING_AQL, KFD_UNKNOWN}, // names one that cannot be read
		{0xf0000, 1, RING_AQL, KFD_UNKNOWN},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		setup(NULL);
		my.queues[0].ring.kind = cases[i].kind;
		my.rows[0].v[MQD_V_CTX_BASE] = cases[i].area;
		poke(0, 2); // what an address of 0 would name
		if (cases[i].area == MQD_UNKNOWN)
			poke(23, 0x800);
		else
			poke(24, 0x800);
		poke(0x400 + 24, 0x800);
		poke(0x600 + 24, 0x90000);
		poke(0x800, cases[i].word);
		assert_int_equal(why_exceptions(&my.queues[0], &my.processes[0].memory),
				 cases[i].noted);
	}
}

static void test_exception_names(void **state)
{
	static const struct {
		unsigned code;
		const char *name;
	} cases[] = {
		{1, "WAVE_ABORT"},
		{2, "WAVE_TRAP"},
		{3, "WAVE_MATH_ERROR"},
		{4, "WAVE_ILLEGAL_INSTRUCTION"},
		{5, "WAVE_MEMORY_VIOLATION"},
		{6, "WAVE_APERTURE_VIOLATION"},
		{16, "PACKET_DISPATCH_DIM_INVALID"},
		{17, "PACKET_DISPATCH_GROUP_SEGMENT_SIZE_INVALID"},
		{18, "PACKET_DISPATCH_CODE_INVALID"},
		{19, "PACKET_RESERVED"},
		{20, "PACKET_UNSUPPORTED"},
		{21, "PACKET_DISPATCH_WORK_GROUP_SIZE_INVALID"},
		{22, "PACKET_DISPATCH_REGISTER_INVALID"},
		{23, "PACKET_VENDOR_UNSUPPORTED"},
		{30, "PREEMPTION_ERROR"},
	};
	SCOPED(buf_fini) struct buf b = {0};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		b.len = 0;
		why_exceptions_text(&b, UINT64_C(1) << (cases[i].code - 1));
		assert_string_equal(b.data, cases[i].name);
	}
	b.len = 0;
	why_exceptions_text(&b, 1 | 1 << 29);
	assert_string_equal(b.data, "WAVE_ABORT PREEMPTION_ERROR");
	b.len = 0;
	why_exceptions_text(&b, 0);
	assert_string_equal(b.data, "none");
}

// --- the run of a profile ---

static void scan(void *arg)
{
	assert_ptr_equal(arg, &my);
	my.scans++;
	my.clock += 5000000;
	my.cpu += my.cpu_a_look;
}

// 1 ms between looks, or 50 times the processor time of a look; new queues each half second, or
// after 100 times the time that the search took.
static void test_run(void **state)
{
	static const struct {
		uint64_t cpu_a_look, for_ns;
		bool recorded;
		unsigned stop_after, looks, scans;
		uint64_t cpu, lasted;
	} cases[] = {
		{0, 10000000, false, 0, 10, 0, 0, 10000000},
		{10000, 10000000, false, 0, 10, 0, 90000, 10000000},
		{40000, 10000000, false, 0, 6, 0, 200000, 10000000},
		{0, 10000000, true, 0, 1, 0, 0, 0},
		{0, 10000000, false, 4, 4, 0, 0, 4000000},
		{0, 2000000000, false, 0, 1985, 3, 0, 2000000000}, // a search: 5 ms
		// Looks of 20 ms rest 100 ms, but for the first; after a search of 20 ms the next
		// is 2 s later.
		{20000000, 6000000000, false, 0, 61, 3, 1260000000, 6000000000},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		setup(NULL);
		my.clock = 7000000000;
		my.cpu = 5000000000;
		my.cpu_a_look = cases[i].cpu_a_look;
		my.recorded = cases[i].recorded;
		my.stop_after = cases[i].stop_after;
		my.rings.n = 1;
		my.profile.arg = &my;
		profile_take(&my.profile, &my.rings);
		profile_run(&my.profile, cases[i].for_ns, scan);
		assert_int_equal(my.profile.begin_ns, 7000000000);
		assert_int_equal(my.profile.end_ns - 7000000000, cases[i].lasted);
		assert_int_equal(my.profile.looks, cases[i].looks);
		assert_int_equal(my.scans, cases[i].scans);
		assert_int_equal(my.profile.cpu_ns, cases[i].cpu);
		profile_fini(&my.profile);
	}
}

// A queue that cannot be read may have ended: it is looked for once more at the end.
static void test_run_ends(void **state)
{
	(void)state;
	for (unsigned unreadable = 0; unreadable < 2; unreadable++) {
		setup(NULL);
		my.rings.n = 3;
		my.profile.arg = &my;
		profile_take(&my.profile, &my.rings);
		if (unreadable)
			my.queues[1].ring.read_at = my.queues[1].ring.write_at = 0x90000;
		profile_run(&my.profile, 3000000, scan);
		assert_int_equal(my.scans, unreadable);
		profile_finish(&my.profile);
		const struct profile_queue *q = &my.profile.v[1];
		assert_int_equal(q->n, 1);
		assert_int_equal(q->v[0].looks, 3);
		assert_string_equal(profile_state_word(q->v[0].what.state),
				    unreadable ? "unknown" : "idle");
		profile_fini(&my.profile);
	}
}

#define TEST(f) cmocka_unit_test_setup(f, setup)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(test_requests),        TEST(test_many),
		TEST(test_forgets),         TEST(test_exceptions),
		TEST(test_exception_names), TEST(test_run),
		TEST(test_run_ends),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
