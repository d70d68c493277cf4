// Equal waves, counted over looks (common/waves/groups.c).
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/waves/groups.h"

// A wave of workgroup x, y, z that is placed.
static struct wave_seen seen(size_t queue, uint64_t pc, uint32_t x, uint32_t y, uint32_t z,
			     uint32_t in_group)
{
	return (struct wave_seen){.queue = queue,
				  .w = {.pc = pc,
					.exec = 1u << in_group,
					.group = {x, y, z},
					.in_group = in_group,
					.placed = true}};
}

#define MOST 200 // waves of a look

static unsigned looks[3]; // by queue
static struct wave_groups groups;

static void look(size_t n, const struct wave_seen *v)
{
	struct wave_seen copy[MOST];
	memcpy(copy, v, n * sizeof(*v));
	for (int i = 0; i < 3; i++)
		looks[i]++;
	groups.looks = looks;
	wave_groups_add(&groups, copy, n);
}

#define LOOK(...)                                                                  \
	look(sizeof((struct wave_seen[]){__VA_ARGS__}) / sizeof(struct wave_seen), \
	     (struct wave_seen[]){__VA_ARGS__})

static int end(void **state)
{
	(void)state;
	wave_groups_fini(&groups);
	memset(looks, 0, sizeof(looks));
	assert_true(!groups.v && !groups.clusters && !groups.n);
	return 0;
}

// Groups are told apart by queue, dispatch, PC and state, and are in that order.
static void test_apart(void **state)
{
	struct wave_seen v[10];
	(void)state;
	for (int i = 0; i < 10; i++)
		v[i] = seen(2, 0x200, 0, 0, 0, (uint32_t)i);
	v[9].queue = 1;
	v[8].w.placed = false;
	v[7].w.packet = 5;
	v[6].w.pc = 0x100;
	v[5].w.pc = 0x300;
	v[4].w.why = WAVE_ASSERT;
	v[3].w.stopped = true;
	v[2].w.halted = true;
	v[1].w.in_barrier = true;
	look(10, v);
	static const unsigned order[] = {9, 8, 6, 0, 1, 2, 3, 4, 5, 7};
	assert_int_equal(groups.n, 10);
	for (int i = 0; i < 10; i++) {
		const struct wave_group *g = &groups.v[i];
		assert_int_equal(g->one.w.in_group, order[i]);
		assert_int_equal(g->waves, 1);
		assert_int_equal(g->lanes, 1u << order[i]);
		assert_int_equal(g->workgroups, order[i] == 8 ? UINT64_MAX : 1);
		assert_int_equal(g->progress, WAVES_SEEN_ONCE);
	}
}

// What is counted in the last look, and over all; also of what is gone, and comes back.
static void count(bool profile)
{
	groups.profile = profile;
	LOOK(seen(0, 0x10, 1, 0, 0, 0), seen(0, 0x10, 0, 0, 0, 1), seen(0, 0x10, 1, 0, 0, 2),
	     seen(0, 0x20, 0, 1, 0, 3));
	assert_int_equal(groups.n, 2);
	assert_int_equal(groups.v[0].waves, 3);
	assert_int_equal(groups.v[0].workgroups, 2);
	assert_int_equal(groups.v[0].lanes, 7);
	LOOK(seen(0, 0x20, 0, 1, 0, 3), seen(0, 0x20, 0, 1, 1, 4), seen(0, 0x08, 1, 0, 0, 0));
	assert_int_equal(groups.n, 3);
	assert_int_equal(groups.v[0].one.w.pc, 0x08);
	assert_true(groups.v[1].waves == 0 && groups.v[1].seen == 3 && groups.v[1].looks == 1);
	assert_true(groups.v[1].workgroups == 0 && groups.v[1].lanes == 0);
	assert_true(groups.v[2].waves == 2 && groups.v[2].seen == 3 && groups.v[2].looks == 2);
	assert_true(groups.v[2].workgroups == 2 && groups.v[2].lanes == 0x18);
	LOOK(seen(0, 0x10, 1, 0, 0, 5));
	if (groups.profile) {
		assert_int_equal(groups.n, 3);
		assert_true(groups.v[1].waves == 1 && groups.v[1].seen == 4 &&
			    groups.v[1].looks == 2);
	} else { // 0x10 was forgotten, and begins anew
		assert_int_equal(groups.n, 3);
		assert_true(groups.v[1].waves == 1 && groups.v[1].seen == 1 &&
			    groups.v[1].looks == 1);
		LOOK(seen(0, 0x10, 1, 0, 0, 5));
		assert_int_equal(groups.n, 1);
		return;
	}
	for (int i = 0; i < 3; i++) {
		assert_int_equal(groups.v[i].pc_low, 0x08);
		assert_int_equal(groups.v[i].pc_high, 0x20);
	}
}

static void test_counts(void **state)
{
	(void)state;
	count(false);
	end(NULL);
	count(true);
}

static enum wave_progress after(size_t n, const struct wave_seen *a, const struct wave_seen *b,
				size_t m)
{
	end(NULL);
	look(n, a);
	look(m, b);
	return groups.v[0].progress;
}

// Each part of what a wave is known by; and dispatches of other queues, which go on by themselves.
static void test_progress(void **state)
{
	const struct wave_seen one = seen(0, 0x10, 1, 2, 3, 4);
	struct wave_seen v[2] = {one, one};
	(void)state;
	assert_int_equal(after(1, &one, &one, 1), WAVES_STAND);
	for (int i = 0; i < 3; i++) {
		v[0] = one;
		v[0].w.group[i] ^= 1;
		assert_int_equal(after(1, &one, v, 1), WAVES_MOVE);
	}
	v[0] = seen(0, 0x10, 1, 2, 3, 5);
	assert_int_equal(after(1, &one, v, 1), WAVES_MOVE);
	v[0] = seen(0, 0x14, 1, 2, 3, 4);
	assert_int_equal(after(1, &one, v, 1), WAVES_LOOP);
	v[0] = one;
	v[0].w.packet = 1; // another dispatch: both are of a queue that moves
	assert_int_equal(after(1, &one, v, 1), WAVES_MOVE);
	assert_int_equal(groups.v[1].progress, WAVES_MOVE);
	v[0] = one;
	v[1] = seen(1, 0x10, 1, 2, 3, 4);
	assert_int_equal(after(2, v, v, 2), WAVES_STAND);
	assert_int_equal(groups.v[1].progress, WAVES_STAND);
	v[1].w.pc = 0x20;
	LOOK(one, v[1]);
	assert_int_equal(groups.v[0].progress, WAVES_STAND);
	assert_int_equal(groups.v[1].progress, WAVES_LOOP);
	LOOK(one, seen(1, 0x10, 1, 2, 3, 4)); // what moved once, moves
	assert_int_equal(groups.v[1].progress, WAVES_LOOP);
}

// A look that could not read a queue says nothing of it; one that has read it, and seen no wave,
// does.
static void test_missed_looks(void **state)
{
	const struct wave_seen a = seen(0, 0x10, 1, 0, 0, 0), b = seen(1, 0x20, 1, 0, 0, 0);
	(void)state;
	LOOK(a, b);
	LOOK(a);
	looks[1]--; // queue 1 was not read
	LOOK(a, b);
	assert_int_equal(groups.v[0].progress, WAVES_STAND);
	assert_int_equal(groups.v[1].progress, WAVES_STAND);
	LOOK(a);
	LOOK(a, b);
	assert_int_equal(groups.v[0].progress, WAVES_STAND);
	assert_int_equal(groups.v[1].progress, WAVES_MOVE);
}

// Of waves that are not placed only their number and PCs count, and what their queue has taken.
static void test_not_placed(void **state)
{
	struct wave_seen a = seen(0, 0x10, 1, 2, 3, 4), b = a;
	(void)state;
	a.w.placed = b.w.placed = false;
	b.w.group[0] = b.w.in_group = 9;
	assert_int_equal(after(1, &a, &b, 1), WAVES_STAND);
	b.read = 1;
	assert_int_equal(after(1, &a, &b, 1), WAVES_GO_ON);
	b.read = 0;
	b.w.pc = 0x14;
	assert_int_equal(after(1, &a, &b, 1), WAVES_GO_ON);
	assert_int_equal(after(1, &a, (struct wave_seen[]){a, a}, 2), WAVES_MOVE);
}

static void test_barriers(void **state)
{
	struct wave_seen at = seen(0, 0x10, 0, 0, 0, 0), flag = seen(0, 0x20, 0, 0, 0, 1);
	(void)state;
	at.at = WAVE_AT_BARRIER;
	flag.w.in_barrier = true;
	LOOK(at, flag); // both are at a barrier
	assert_int_equal(groups.v[0].missing, 0);
	assert_int_equal(groups.v[1].missing, 0);
	LOOK(at, flag, seen(0, 0x30, 0, 0, 0, 2), seen(0, 0x40, 0, 0, 0, 3),
	     seen(0, 0x50, 0, 0, 1, 0), seen(1, 0x50, 0, 0, 0, 0));
	for (int i = 0; i < 2; i++) {
		assert_int_equal(groups.v[i].missing, 2);
		assert_true(groups.v[i].missing_pc == 0x30 || groups.v[i].missing_pc == 0x40);
	}
	for (size_t i = 2; i < groups.n; i++)
		assert_int_equal(groups.v[i].missing, 0);
	LOOK(at, flag);
	assert_int_equal(groups.v[0].missing, 0);
	at.w.placed = false;
	LOOK(at, (struct wave_seen){.w.pc = 0x30});
	assert_int_equal(groups.v[0].missing, 0);
}

// Numbers that look drawn, and are the same each time.
static uint32_t next_number(uint32_t below)
{
	static uint32_t x = 1;
	x = x * 1664525 + 1013904223;
	return (x >> 16) % below;
}

static bool is_same_workgroup(const struct wave_seen *a, const struct wave_seen *b)
{
	return a->queue == b->queue && a->w.packet == b->w.packet &&
	       memcmp(a->w.group, b->w.group, sizeof(a->w.group)) == 0;
}

static bool is_in(const struct wave_group *g, const struct wave_seen *s)
{
	return s->queue == g->one.queue && s->w.packet == g->one.w.packet &&
	       s->w.pc == g->one.w.pc && s->w.in_barrier == g->one.w.in_barrier;
}

static bool at_any_barrier(const struct wave_seen *s)
{
	return s->w.in_barrier || s->at == WAVE_AT_BARRIER;
}

// Each wave that a group misses counts once for it, however many of its waves wait for that one.
static void check_group(const struct wave_group *g, const struct wave_seen *v)
{
	size_t waves = 0, missing = 0;
	bool found = false;
	for (int i = 0; i < MOST; i++) {
		bool misses = false;
		waves += is_in(g, &v[i]);
		for (int k = 0; k < MOST; k++)
			misses |= is_in(g, &v[k]) && at_any_barrier(&v[k]) &&
				  is_same_workgroup(&v[i], &v[k]);
		misses &= !at_any_barrier(&v[i]);
		missing += misses;
		found |= misses && v[i].w.pc == g->missing_pc;
	}
	assert_int_equal(g->waves, waves);
	assert_int_equal(g->missing, missing);
	assert_true(found || !missing);
}

// Looks with dispatches and PCs that come, stay and go, against counting each wave with each other.
static void test_many(void **state)
{
	uint64_t low[2][8], high[2][8] = {0};
	(void)state;
	memset(low, 0xff, sizeof(low));
	for (int n = 0; n < 6; n++) {
		struct wave_seen v[MOST];
		size_t waves = 0;
		for (int i = 0; i < MOST; i++) {
			const uint32_t q = next_number(2), p = (next_number(3) * 3 + n) % 8;
			const uint64_t pc = 0x100 + 4 * (uint64_t)next_number(12);
			v[i] = seen(q, pc, next_number(3), next_number(2), 0, 0);
			v[i].w.packet = p;
			v[i].w.in_barrier = next_number(4) == 0;
			v[i].at = pc < 0x110 ? WAVE_AT_BARRIER : WAVE_AT_OTHER;
			low[q][p] = pc < low[q][p] ? pc : low[q][p];
			high[q][p] = pc > high[q][p] ? pc : high[q][p];
		}
		look(MOST, v);
		for (size_t i = 0; i < groups.n; i++) {
			const struct wave_group *g = &groups.v[i], *before = i ? g - 1 : NULL;
			check_group(g, v);
			waves += g->waves;
			assert_int_equal(g->pc_low, low[g->one.queue][g->one.w.packet]);
			assert_int_equal(g->pc_high, high[g->one.queue][g->one.w.packet]);
			assert_true(!i || before->one.queue < g->one.queue ||
				    (before->one.queue == g->one.queue &&
				     (before->one.w.packet < g->one.w.packet ||
				      (before->one.w.packet == g->one.w.packet &&
				       before->one.w.pc <= g->one.w.pc))));
		}
		assert_int_equal(waves, MOST);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_apart, end),
		cmocka_unit_test_teardown(test_counts, end),
		cmocka_unit_test_teardown(test_progress, end),
		cmocka_unit_test_teardown(test_missed_looks, end),
		cmocka_unit_test_teardown(test_not_placed, end),
		cmocka_unit_test_teardown(test_barriers, end),
		cmocka_unit_test_teardown(test_many, end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
