// Profiles (common/why/profile.h): what is counted for what stands at the head of a ring, in a
// memory that is changed between two looks. Packets by the layouts of hsa.h.
#include "common/why/profile.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
	RING = 0x1000, // of queue i at i * RING + RING, 4096 bytes
	INDICES = 0x8000,
	SIGNALS = 0x9000,
	QUEUES = 3
};
enum { INVALID = 1, DISPATCH = 2, BARRIER = 3 };

static struct {
	uint8_t memory[0xa000];
	bool unreadable;
	struct rings rings;
	struct queue_row rows[QUEUES];
	struct ring_queue queues[QUEUES];
	struct ring_process processes[2];
	struct profile profile;
	char changes[512];
} t;

static bool read_target(void *arg, uint64_t at, void *to, size_t size)
{
	(void)arg;
	if (t.unreadable || at > sizeof(t.memory) || size > sizeof(t.memory) - at)
		return false;
	memcpy(to, t.memory + at, size);
	return true;
}

static void poke(uint64_t at, uint64_t value)
{
	memcpy(t.memory + at, &value, sizeof(value));
}

static void indices(unsigned q, uint64_t read, uint64_t write)
{
	poke(INDICES + 16 * q, read);
	poke(INDICES + 16 * q + 8, write);
}

static uint64_t signal_of(unsigned number, int64_t value)
{
	const uint64_t at = SIGNALS + 64 * number;
	poke(at, 1);
	poke(at + 8, (uint64_t)value);
	return at;
}

static uint8_t *slot(unsigned q, uint64_t index)
{
	return t.memory + RING * (q + 1) + index % 64 * 64;
}

static void put_dispatch(unsigned q, uint64_t index, uint64_t kernel, uint64_t completion)
{
	uint8_t *p = slot(q, index);
	const uint16_t head[] = {DISPATCH, 1, 64, 1, 1, 0};
	const uint32_t grid[] = {64, 1, 1};
	memset(p, 0, 64);
	memcpy(p, head, sizeof(head));
	memcpy(p + 12, grid, sizeof(grid));
	memcpy(p + 32, &kernel, 8);
	memcpy(p + 56, &completion, 8);
}

// As the GPU frees a slot.
static void take(unsigned q, uint64_t index)
{
	slot(q, index)[0] = INVALID;
}

static void put_barrier(unsigned q, uint64_t index, uint64_t dep)
{
	uint8_t *p = slot(q, index);
	memset(p, 0, 64);
	p[0] = BARRIER;
	memcpy(p + 8, &dep, 8);
}

static const char *names[] = {"alpha", "beta", "gamma"};

static const char *name(void *arg, const struct ring_queue *q, uint64_t object)
{
	(void)arg;
	(void)q;
	return object >= 0xa0 && object < 0xa3 ? names[object - 0xa0] : NULL;
}

static void note(void *arg, const struct profile_queue *q, uint64_t now_ns)
{
	const struct profile_sight *s = &q->v[q->at].what;
	char *end = strchr(t.changes, '\0');
	(void)arg;
	snprintf(end, sizeof(t.changes) - (size_t)(end - t.changes),
		 "%" PRIu64 " %s %s %" PRIu64 "-%" PRIu64 "\n", q->row.qid,
		 profile_state_word(s->state), s->kernel ? s->kernel : "-", q->since_ns, now_ns);
}

static int setup(void **state)
{
	(void)state;
	memset(&t, 0, sizeof(t));
	for (unsigned i = 0; i < QUEUES; i++) {
		queue_row_clear(&t.rows[i]);
		t.rows[i].pid = 40;
		t.rows[i].process.comm = "job";
		t.rows[i].qid = i;
		t.rows[i].type = "compute";
		t.rows[i].on_hw = 1;
		t.queues[i] = (struct ring_queue){.row = &t.rows[i],
						  .chosen = true,
						  .ring = {.base = RING * (i + 1),
							   .bytes = RING,
							   .read_at = INDICES + 16 * i,
							   .write_at = INDICES + 16 * i + 8,
							   .kind = RING_AQL}};
		for (unsigned k = 0; k < 64; k++)
			take(i, k);
	}
	t.processes[0].memory = (struct memory){.fd = -1, .read = read_target};
	t.rings = (struct rings){
		.processes = t.processes, .nprocesses = 1, .v = t.queues, .n = QUEUES};
	t.profile = (struct profile){.name = name, .changes = note};
	profile_take(&t.profile, &t.rings);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	profile_fini(&t.profile);
	return 0;
}

static uint64_t now = 1000;

static void look(unsigned times)
{
	for (; times; times--)
		profile_look(&t.profile, now += 10);
}

// What was counted of a queue: "next dispatch alpha 6\n..."
static const char *counts(unsigned qid)
{
	static char text[512];
	*text = '\0';
	for (size_t i = 0; i < t.profile.n; i++) {
		const struct profile_queue *q = &t.profile.v[i];
		for (size_t k = 0; k < q->n && q->row.qid == qid; k++) {
			const struct profile_sight *s = &q->v[k].what;
			char *end = strchr(text, '\0');
			snprintf(end, sizeof(text) - (size_t)(end - text), "%s %s %s %" PRIu64 "\n",
				 profile_state_word(s->state), s->packet ? s->packet : "-",
				 s->kernel ? s->kernel : "-", q->v[k].looks);
		}
	}
	return text;
}

static void test_heads(void **state)
{
	(void)state;
	now = 1000;
	put_dispatch(0, 0, 0xa0, 0);
	put_dispatch(0, 1, 0xa1, 0);
	put_dispatch(0, 2, 0x77, 0); // a kernel without a name
	indices(0, 0, 3);
	look(3);
	take(0, 0);
	indices(0, 1, 3);
	look(5);
	take(0, 1);
	indices(0, 2, 3);
	look(2);
	take(0, 2);
	indices(0, 3, 3);
	look(1);
	indices(0, 3, 4); // 3 is not written
	look(1);
	put_dispatch(0, 3, 0xa0, 0);
	look(4);
	profile_finish(&t.profile);
	assert_int_equal(t.profile.looks, 16);
	assert_string_equal(counts(0), "next dispatch alpha 7\n"
				       "next dispatch beta 5\n"
				       "next dispatch - 2\n"
				       "not-published - - 1\n"
				       "idle - - 1\n");
	assert_string_equal(counts(1), "idle - - 16\n");
	assert_non_null(strstr(t.changes, "0 next alpha 1010-1040\n0 next beta 1040-1090\n"
					  "0 next - 1090-1110\n0 idle - 1110-1120\n"
					  "0 not-published - 1120-1130\n"));
	assert_non_null(strstr(t.changes, "0 next alpha 1130-1160\n1 idle - 1010-1160\n"));
}

static void test_signals(void **state)
{
	(void)state;
	const uint64_t a = signal_of(0, 1), b = signal_of(1, 1);
	put_dispatch(0, 0, 0xa0, a); // taken, and runs
	take(0, 0);
	indices(0, 1, 1);
	put_barrier(1, 0, b); // waits for it
	indices(1, 0, 1);
	look(2);
	signal_of(0, 0);
	signal_of(1, 0);
	look(3);
	signal_of(0, 1); // used again, by something that is not seen
	look(4);
	profile_finish(&t.profile);
	assert_string_equal(counts(0), "idle - - 7\nrunning dispatch alpha 2\n");
	assert_string_equal(counts(1), "next barrier-and - 7\nwaits barrier-and - 2\n");
}

// As HIP waits for a stream: the kernel has no signal, and the packet behind it the barrier bit.
// The time is the kernel's where the read index moves at its launch, as it is where it moves at its
// end.
static void test_synchronize(void **state)
{
	(void)state;
	put_dispatch(0, 0, 0xa0, 0);
	put_barrier(0, 1, 0);
	slot(0, 1)[1] = 1; // the barrier bit
	indices(0, 0, 2);
	look(3);
	take(0, 0);
	indices(0, 1, 2);
	look(4);
	slot(0, 1)[1] = 0; // without the bit it waits for nothing
	t.profile.v[0].x.unread = true;
	look(1);
	put_dispatch(1, 0, 0xa0, 0); // either kernel may be at work: the head is told, as `next`
	take(1, 0);
	put_dispatch(1, 1, 0xa1, 0);
	slot(1, 1)[1] = 1;
	indices(1, 1, 2);
	put_dispatch(2, 0, 0xa0, signal_of(0, 0)); // has ended, as its signal says
	take(2, 0);
	put_barrier(2, 1, 0);
	slot(2, 1)[1] = 1;
	indices(2, 1, 2);
	look(2);
	put_barrier(2, 0, 0); // what was taken last is no kernel
	take(2, 0);
	t.profile.v[2].x.unread = true;
	look(5);
	profile_finish(&t.profile);
	assert_string_equal(counts(0), "next barrier-and - 8\nrunning dispatch alpha 4\n"
				       "next dispatch alpha 3\n");
	assert_string_equal(counts(1), "idle - - 8\nnext dispatch beta 7\n");
	assert_string_equal(counts(2), "idle - - 8\nnext barrier-and - 7\n");
}

// What is no signal says nothing, which is noted.
static void test_no_signal(void **state)
{
	(void)state;
	put_dispatch(0, 0, 0xa0, SIGNALS + 0x40);
	take(0, 0);
	indices(0, 1, 1);
	put_barrier(1, 0, SIGNALS + 0x80);
	indices(1, 0, 1);
	look(2);
	profile_finish(&t.profile);
	assert_string_equal(counts(0), "idle - - 2\n");
	assert_string_equal(counts(1), "unknown - - 2\n");
	assert_int_equal(t.profile.v[0].unread, 2);
	assert_int_equal(t.profile.v[1].unread, 2);
	assert_int_equal(t.profile.v[2].unread, 0);
}

// The kernel taken runs, whatever waits behind it; but not where another packet has its signal.
static void test_shared_signal(void **state)
{
	(void)state;
	const uint64_t a = signal_of(0, 1), b = signal_of(1, 1);
	put_dispatch(0, 0, 0xa0, a);
	take(0, 0);
	put_barrier(0, 1, b);
	indices(0, 1, 2);
	look(2);
	put_dispatch(1, 0, 0xa1, a);
	indices(1, 0, 1);
	look(3);
	const uint64_t c = signal_of(2, 1);
	put_dispatch(2, 0, 0xa0, c);
	take(2, 0);
	put_dispatch(2, 1, 0xa2, c); // its own next packet
	indices(2, 1, 2);
	look(1);
	profile_finish(&t.profile);
	assert_string_equal(counts(0), "waits barrier-and - 4\nrunning dispatch alpha 2\n");
	assert_string_equal(counts(2), "idle - - 5\nnext dispatch gamma 1\n");
}

// Nor where a packet to come has it, behind the head of another queue.
static void test_signal_to_come(void **state)
{
	(void)state;
	const uint64_t a = signal_of(0, 1), b = signal_of(1, 1);
	put_dispatch(0, 0, 0xa0, a);
	take(0, 0);
	indices(0, 1, 1);
	put_barrier(1, 0, b);
	put_dispatch(1, 1, 0xa1, a);
	indices(1, 0, 2);
	look(3);
	put_dispatch(0, 1, 0xa2, signal_of(2, 1)); // the next one runs
	take(0, 1);
	indices(0, 2, 2);
	look(1);
	profile_finish(&t.profile);
	assert_string_equal(counts(0), "idle - - 3\nrunning dispatch gamma 1\n");
}

static void test_off(void **state)
{
	(void)state;
	put_dispatch(0, 0, 0xa0, 0);
	put_dispatch(0, 1, 0xa1, 0);
	put_dispatch(1, 0, 0xa2, 0);
	indices(0, 0, 2);
	indices(1, 0, 1);
	t.rows[0].on_hw = 0;
	t.rows[1].now.holder = 99;
	profile_take(&t.profile, &t.rings);
	look(2);
	indices(0, 1, 2); // it is back
	look(3);
	profile_finish(&t.profile);
	assert_string_equal(counts(0), "next dispatch beta 3\noff - - 2\n");
	assert_string_equal(counts(1), "off - - 5\n");
}

// A queue that is gone keeps what was counted; looks in vain count only where it is still there.
static void test_come_and_go(void **state)
{
	(void)state;
	now = 0;
	t.rings.n = 1;
	profile_take(&t.profile, &t.rings);
	*t.changes = '\0';
	look(2);
	t.rings.n = 3;
	profile_take(&t.profile, &t.rings);
	look(3);
	t.unreadable = true;
	look(4);
	t.rings.n = 2;
	*t.changes = '\0';
	profile_take(&t.profile, &t.rings);
	assert_memory_equal(t.changes, "2 idle - 30-", 12); // of the one that is gone
	assert_int_equal(strcspn(t.changes, "\n") + 1, strlen(t.changes));
	t.unreadable = false;
	look(1);
	t.rows[1].process.comm = "other"; // its number was given to another program
	profile_take(&t.profile, &t.rings);
	look(2);
	profile_finish(&t.profile);
	assert_string_equal(counts(0), "idle - - 8\nunknown - - 4\n");
	assert_string_equal(counts(1), "unknown - - 4\nidle - - 4\nidle - - 2\n");
	assert_string_equal(counts(2), "idle - - 3\n");
}

// A queue whose ring was not known at first is the same one; one with another ring is not.
static void test_ring_known_later(void **state)
{
	(void)state;
	static char type[] = "sdma"; // which goes with the rows
	const uint64_t ring = t.queues[0].ring.base;
	t.rows[2].type = type;
	t.queues[0].ring.base = MQD_UNKNOWN;
	t.queues[1].ring.base = RING * 3;
	profile_fini(&t.profile);
	profile_take(&t.profile, &t.rings);
	look(1);
	t.queues[0].ring.base = ring;
	t.queues[1].ring.base = RING * 2;
	profile_take(&t.profile, &t.rings);
	look(2);
	profile_finish(&t.profile);
	assert_int_equal(t.profile.n, 4);
	assert_string_equal(counts(0), "idle - - 2\nunknown - - 1\n");
	assert_string_equal(counts(1), "idle - - 1\nidle - - 2\n");
	strcpy(type, "gone");
	assert_string_equal(t.profile.v[2].row.type, "sdma");
}

// Another code object, whose kernel lies where one was before; and one that was loaded meanwhile.
static void test_renamed(void **state)
{
	(void)state;
	put_dispatch(0, 0, 0xa0, 0);
	put_dispatch(1, 0, 0xa1, 0);
	indices(0, 0, 1);
	indices(1, 0, 1);
	names[1] = NULL;
	look(2);
	names[0] = "delta";
	names[1] = "beta";
	look(1);
	t.profile.renamed++;
	look(3);
	names[0] = "alpha";
	profile_finish(&t.profile);
	assert_string_equal(counts(0), "next dispatch alpha 3\nnext dispatch delta 3\n");
	assert_string_equal(counts(1), "next dispatch - 3\nnext dispatch beta 3\n");
}

// 2 % of a core: 50 times what was used must have passed.
static void test_due(void **state)
{
	(void)state;
	assert_int_equal(profile_due(5000000, 5000000, 5010000, 10000), 6000000);
	assert_int_equal(profile_due(5000000, 6000000, 6010000, 20000), 7000000);
	assert_int_equal(profile_due(5000000, 6000000, 6100000, 100000), 10000000);
	assert_int_equal(profile_due(5000000, 6000000, 6100000, 1000000000), 106100000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_heads, setup, teardown),
		cmocka_unit_test_setup_teardown(test_signals, setup, teardown),
		cmocka_unit_test_setup_teardown(test_synchronize, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_signal, setup, teardown),
		cmocka_unit_test_setup_teardown(test_shared_signal, setup, teardown),
		cmocka_unit_test_setup_teardown(test_signal_to_come, setup, teardown),
		cmocka_unit_test_setup_teardown(test_off, setup, teardown),
		cmocka_unit_test_setup_teardown(test_come_and_go, setup, teardown),
		cmocka_unit_test_setup_teardown(test_ring_known_later, setup, teardown),
		cmocka_unit_test_setup_teardown(test_renamed, setup, teardown),
		cmocka_unit_test(test_due),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
