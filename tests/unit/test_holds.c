// common/holder/deadlines.c: holds, their scopes, deadlines and timers.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/holder/holder_priv.h"
#include "common/host/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECOND 1000000000ull // deadlines are far away: the timer behind them kills

static struct holder *holder;

static int setup(void **state)
{
	(void)state;
	holder = calloc(1, sizeof(*holder));
	if (!holder)
		return -1;
	holder->timer = -1; // what is armed is of no interest here
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	if (holder->has_killer)
		timer_delete(holder->killer);
	free(holder);
	return 0;
}

// A request as the protocol has it, after which the queues of the list `ids`, ended by -1, are
// suspended.
static unsigned hold(const char *text, unsigned client, const int *ids)
{
	static struct holder_request r;
	struct kfd_failure f;
	char line[256];
	unsigned n;
	int num = 0;
	strcpy(line, text);
	assert_int_equal(holder_request_parse(line, &r, &f), 0);
	n = hold_make(holder, &holder->clients[client], &r);
	for (; ids[num] >= 0; num++)
		holder->outcomes[num] = (struct kfd_outcome){.queue.queue_id = (uint32_t)ids[num],
							     .result = KFD_RESULT_SUSPENDED};
	hold_fill(holder, n, &r, num);
	return n;
}

static const int none[] = {-1}, zero[] = {0, -1}, one[] = {1, -1}, both[] = {0, 1, -1};

static unsigned made(void)
{
	unsigned n = 0;
	for (unsigned i = 0; i < HOLDS; i++)
		n += hold_is_made(holder, i);
	return n;
}

// Each queue has a deadline of its own.
static void test_deadlines(void **state)
{
	uint64_t now = clock_ns();
	unsigned second;
	(void)state;
	hold("suspend queues=0", 0, zero);
	second = hold("suspend queues=1 for_ns=5000000000000", 0, one);
	assert_true(hold_until_of(holder, 0) == FOREVER);
	assert_true(hold_until_of(holder, 1) >= now + 5000 * SECOND);
	assert_true(hold_until_of(holder, 1) < now + 60000 * SECOND);
	assert_int_equal(hold_until_of(holder, 2), 0);
	assert_true(hold_until(holder) == FOREVER);
	assert_false(hold_expire(holder));
	holder->until_ns[second] = now;
	assert_true(hold_expire(holder));
	assert_int_equal(hold_until_of(holder, 1), 0);
	assert_true(hold_until_of(holder, 0) == FOREVER);
}

// The longer wish wins, and says it all.
static void test_longer(void **state)
{
	(void)state;
	hold("suspend", 0, both);
	hold("suspend queues=1 for_ns=1000000000000", 0, one);
	assert_int_equal(made(), 1);
	assert_true(hold_until_of(holder, 1) == FOREVER);
	hold_drop_all(holder);
	for (int i = 0; i < 1000; i++)
		hold("suspend queues=1 for_ns=1000000000000", 0, one);
	assert_int_equal(made(), 1);
	hold("suspend queues=0,1 for_ns=2000000000000", 0, both);
	assert_int_equal(made(), 1);
}

// A tied hold is one per connection; `hold` makes it lasting.
static void test_tied(void **state)
{
	unsigned n;
	(void)state;
	n = hold("suspend queues=0 tie", 3, zero);
	assert_int_equal(n, hold_of(holder, &holder->clients[3]));
	assert_int_equal(hold("suspend queues=1 tie", 3, one), n);
	assert_true(hold_until_of(holder, 0) == FOREVER);
	hold_keep(holder, &holder->clients[4]); // has none
	assert_true(hold_is_made(holder, n));
	hold_keep(holder, &holder->clients[3]);
	assert_false(hold_is_made(holder, n));
	assert_true(hold_until_of(holder, 0) == FOREVER && hold_until_of(holder, 1) == FOREVER);
	n = hold("suspend queues=1 tie", 5, one);
	hold_forget(holder, 1);
	assert_false(hold_is_made(holder, n)); // it was about nothing else
	assert_true(hold_until_of(holder, 0) == FOREVER && !hold_until_of(holder, 1));
}

// Nothing suspended and nothing to follow is no hold.
static void test_nothing(void **state)
{
	(void)state;
	hold("suspend queues=9", 0, none);
	hold("suspend idle", 0, none);
	assert_int_equal(made(), 0);
	hold("suspend", 0, none);
	assert_int_equal(made(), 1);
	hold_cancel(holder, 0);
	assert_int_equal(made(), 1); // there before
	hold_forget_queues(holder);
	assert_true(hold_follows(holder, ANY_GPU));
}

static void test_following(void **state)
{
	const struct kfd_queue_entry q = {.queue_id = 7, .gpu_id = 20};
	unsigned all;
	(void)state;
	hold("suspend gpus=10", 0, zero);
	assert_true(hold_follows(holder, 10) && !hold_follows(holder, 20));
	hold("suspend gpus=20 queues=5", 0, one); // named: follows nothing
	assert_false(hold_follows(holder, 20));
	all = hold("suspend tie", 0, both);
	assert_true(hold_follows(holder, 20));
	hold_follow(holder, &q);
	assert_true(hold_until_of(holder, 7) == FOREVER);
	hold_drop(holder, all);
	assert_int_equal(hold_until_of(holder, 7), 0); // the others do not follow its GPU
	assert_false(hold_follows(holder, 20));
	assert_true(hold_follows(holder, ANY_GPU));
	hold("suspend gpus=20", 0, one);
	hold("suspend gpus=10,20", 0, both); // both in one
	assert_true(hold_follows(holder, 10) && hold_follows(holder, 20));
	assert_false(hold_follows(holder, 30));
}

// More scopes than there are places: nobody's queue comes back too early.
static void test_crowded(void **state)
{
	char text[64];
	(void)state;
	for (int i = 0; i < 2 * LASTING_HOLDS; i++) {
		const int ids[] = {i, -1};
		sprintf(text, "suspend queues=%d for_ns=%d000000000000", i, 1000 - i);
		hold(text, 0, ids);
	}
	assert_int_equal(made(), LASTING_HOLDS);
	for (int i = 0; i < 2 * LASTING_HOLDS; i++)
		assert_true(hold_until_of(holder, (uint32_t)i) >=
			    clock_ns() + (999 - (uint64_t)i) * 1000 * SECOND);
}

// A shorter hold of more queues takes nothing from a longer one of fewer; nor does a narrower wish
// from a hold that follows all GPUs.
static void test_wider(void **state)
{
	(void)state;
	hold("suspend queues=0 for_ns=2000000000000", 0, zero);
	hold("suspend queues=0,1 for_ns=1000000000000", 0, both);
	assert_true(hold_until_of(holder, 0) > clock_ns() + 1900 * SECOND);
	hold("suspend tie", 3, zero);
	hold("suspend gpus=10 tie", 3, one);
	assert_true(hold_follows(holder, 20));
}

// Without a place left the hold that ends last is made longer, no other.
static void test_crowded_upwards(void **state)
{
	char text[64];
	(void)state;
	for (int i = 0; i < 2 * LASTING_HOLDS; i++) {
		const int ids[] = {i, -1};
		sprintf(text, "suspend queues=%d for_ns=%d000000000000", i, 1000 + i);
		hold(text, 0, ids);
	}
	assert_true(hold_until_of(holder, 0) < clock_ns() + 1000500 * SECOND);
}

static void test_title(void **state)
{
	static char title[160];
	(void)state;
	holder->until_ns[hold("suspend queues=0 for_ns=5000000000000", 0, zero)] = 4711007000000;
	holder->target.pid = 7;
	holder->session.num_held = 2;
	holder->title = (struct title){.sought = true, .at = title, .size = sizeof(title)};
	title_set(&holder->title, "short");
	holder_title(holder); // has room for a longer one
	assert_string_equal(title, "gpq-holder: pid 7: 2 queues suspended, until 4711.007 s");
	title_set(&holder->title, "short"); // nothing is left of a longer one
	for (size_t i = strlen("short"); i < sizeof(title); i++)
		assert_int_equal(title[i], 0);
	char longer[sizeof(title) + 1] = "";
	memset(longer, 'x', sizeof(title));
	title_set(&holder->title, longer);
	assert_int_equal(strnlen(title, sizeof(title)), sizeof(title) - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_deadlines, setup, teardown),
		cmocka_unit_test_setup_teardown(test_longer, setup, teardown),
		cmocka_unit_test_setup_teardown(test_tied, setup, teardown),
		cmocka_unit_test_setup_teardown(test_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(test_following, setup, teardown),
		cmocka_unit_test_setup_teardown(test_crowded, setup, teardown),
		cmocka_unit_test_setup_teardown(test_wider, setup, teardown),
		cmocka_unit_test_setup_teardown(test_crowded_upwards, setup, teardown),
		cmocka_unit_test_setup_teardown(test_title, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
