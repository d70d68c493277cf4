// common/sched/hints.h over real unix sockets. Time is a number here: nothing waits for it.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/cli/err.h"
#include "common/sched/hints.h"
#include "tests/unit/files.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define MS       UINT64_C(1000000)
#define START_NS (UINT64_C(1000) * MS)
#define NOBODY   65534

static char dir[64], path[80];
static struct hints *h;
static uint64_t now;
static struct buf messages;

static struct hints *open_hints(const char *group, int *status)
{
	struct hints *opened;
	messages.len = 0;
	buf_puts(&messages, "");
	err_gather(&messages);
	opened = hints_open(path, group, status);
	err_gather(NULL);
	return opened;
}

static int begin_test(void **state)
{
	int status = -1;
	(void)state;
	snprintf(dir, sizeof(dir), "/tmp/test_hints.XXXXXX");
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/run/socket", dir);
	now = START_NS;
	h = open_hints(NULL, &status);
	assert_int_equal(status, 0);
	return h ? 0 : -1;
}

static int end_test(void **state)
{
	char run[80];
	(void)state;
	hints_close(h);
	unlink(path);
	snprintf(run, sizeof(run), "%s/run", dir);
	rmdir(run);
	rmdir(dir);
	buf_fini(&messages);
	return 0;
}

static int connect_client(void)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	assert_true(fd >= 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	return fd;
}

static void say(int fd, const char *text)
{
	assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

static void say_often(int fd, const char *text, unsigned n)
{
	struct buf all = {0};
	while (n--)
		buf_puts(&all, text);
	say(fd, all.data);
	buf_fini(&all);
}

// Everything the server has sent to `fd`; "(end)" behind it when it has closed the connection.
static const char *heard(int fd)
{
	static char text[1 << 17];
	size_t len = 0;
	ssize_t n;
	while ((n = recv(fd, text + len, sizeof(text) - 10 - len, MSG_DONTWAIT)) > 0)
		len += (size_t)n;
	snprintf(text + len, sizeof(text) - len, "%s", n == 0 ? "(end)" : "");
	return text;
}

static unsigned count_lines(const char *text)
{
	unsigned n = 0;
	for (; *text; text++)
		n += *text == '\n';
	return n;
}

static bool is_ready(void)
{
	struct pollfd p = {.fd = hints_fd(h), .events = POLLIN};
	return poll(&p, 1, 0) == 1;
}

// As often as a scheduler's loop would. Did the hints become active or cease to be, in the end?
static bool serve(void)
{
	bool changed = false;
	do
		changed ^= hints_serve(h, now);
	while (is_ready() || hints_wait_ms(h) == 0);
	return changed;
}

static struct hints_calls calls;
static unsigned num_off, num_missed;

static bool all_is_off(void *arg, const struct hint_scope *scope, unsigned *off, unsigned *missed)
{
	(void)arg;
	(void)scope;
	*off = num_off;
	*missed = num_missed;
	return true;
}

static void answer(uint64_t at, unsigned off, unsigned missed)
{
	calls.is_off = all_is_off;
	hints_ask(h, &calls);
	num_off = off;
	num_missed = missed;
	hints_answer(h, at);
}

static void test_begin_and_end(void **state)
{
	int a = connect_client(), b = connect_client();
	(void)state;
	assert_false(serve());
	assert_int_equal(hints_active(h), 0);
	say(a, "begin\n");
	assert_true(is_ready());
	assert_true(serve());
	assert_int_equal(hints_waiting(h), 1);
	assert_string_equal(heard(a), "");
	now += 5;
	say(b, "begin 18446744073709551615\n");
	assert_false(serve());
	assert_int_equal(hints_active(h), 2);
	assert_int_equal(hints_waiting(h), 2);
	answer(START_NS + 700, 8, 1);
	assert_int_equal(hints_waiting(h), 0);
	assert_string_equal(heard(a), "ok off=8 missed=1 ns=700\n");
	assert_string_equal(heard(b), "ok off=8 missed=1 ns=695\n");
	say(a, "end\n");
	assert_false(serve());
	say(b, "end 18446744073709551615\n");
	assert_true(serve());
	assert_string_equal(heard(a), "ok\n");
	assert_string_equal(heard(b), "ok\n");
	close(a);
	close(b);
}

static uint64_t fill(struct buf *b, void *arg)
{
	buf_printf(b, "holds %d\nmissed 0\n", *(int *)arg);
	return 0;
}

static void test_order(void **state)
{
	int a = connect_client(), holds = 41;
	(void)state;
	calls = (struct hints_calls){.arg = &holds, .status = fill};
	hints_ask(h, &calls);
	say(a, "end 7\nbegin 1\nstatus\nbegin 2\nend 1");
	assert_true(serve());
	assert_string_equal(heard(a), "error id no such hint\n");
	assert_int_equal(hints_active(h), 2);
	say(a, "7\nbegin 2\n"); // an ID in two pieces
	assert_false(serve());
	assert_string_equal(heard(a), "");
	assert_int_equal(hints_waiting(h), 3);
	now += 10;
	answer(now, 1, 0);
	assert_string_equal(heard(a), "ok off=1 missed=0 ns=10\n"
				      "holds 41\nmissed 0\nok\n"
				      "ok off=1 missed=0 ns=10\n"
				      "error id no such hint\n"
				      "ok off=1 missed=0 ns=10\n");
	close(a);
	assert_true(serve());
}

static void test_end_before_answer(void **state)
{
	int a = connect_client();
	(void)state;
	say(a, "begin 1\nbegin 2\nend 2\n");
	assert_true(serve());
	assert_string_equal(heard(a), "");
	assert_int_equal(hints_waiting(h), 1);
	answer(now, 2, 0);
	assert_string_equal(heard(a), "ok off=2 missed=0 ns=0\n"
				      "error ended before the offline queues were off\nok\n");
	say(a, "begin 3\nend 3\nend 1\n");
	assert_true(serve());
	assert_int_equal(hints_active(h), 0);
	assert_int_equal(hints_waiting(h), 0);
	assert_string_equal(heard(a), "error ended before the offline queues were off\nok\nok\n");
	// A request without an id has none of those that were at its place before.
	for (unsigned i = 0; i < HINTS_PENDING_MAX; i++) {
		say(a, "begin 5\nend 5\n");
		serve();
		heard(a);
	}
	say(a, "begin 5\nbegin\nend 5\n");
	assert_true(serve());
	assert_int_equal(hints_waiting(h), 1);
	assert_string_equal(heard(a), "error ended before the offline queues were off\n");
	close(a);
}

// ---- what hints are about

static struct hint_scope own = {1, 4};

static struct hint_scope whose(void *arg, pid_t pid, bool look)
{
	(void)arg;
	(void)look;
	assert_int_equal(pid, getpid());
	return own;
}

// "gpu=N": the GPUs of these bits; "class=N".
static const char *read_word(void *arg, char *word, struct hint_scope *scope)
{
	(void)arg;
	if (strncmp(word, "gpu=", 4) == 0)
		scope->gpus = strtoull(word + 4, NULL, 10);
	else
		scope->class = strtoull(word + 6, NULL, 10);
	return scope->class == 9 ? "there is no such class" : NULL;
}

static uint64_t gpus_off; // of each class

static bool is_off(void *arg, const struct hint_scope *scope, unsigned *off, unsigned *missed)
{
	(void)arg;
	*off = (unsigned)scope->class;
	*missed = (unsigned)scope->gpus;
	return !(scope->gpus & ~gpus_off);
}

// A hint is about its client's work but where it says otherwise; each waits for its own GPUs.
static void test_scopes(void **state)
{
	int a = connect_client(), b = connect_client();
	struct hints_client c;
	unsigned at = 0;
	(void)state;
	own = (struct hint_scope){0, 4};
	gpus_off = 0;
	hints_ask(h, &(struct hints_calls){.whose = whose, .word = read_word, .is_off = is_off});
	say(a, "begin 1\nbegin 2 gpu=8\nbegin 3 class=9\n");
	say(b, "begin class=1 gpu=3 for=2s\n");
	assert_true(serve());
	assert_int_equal(hints_gpus(h, 0), 4 | 8);
	assert_int_equal(hints_gpus(h, 1), 3);
	assert_int_equal(hints_gpus(h, 2), 0);
	gpus_off = 3;
	hints_answer(h, now);
	assert_string_equal(heard(a), "");
	assert_string_equal(heard(b), "ok off=1 missed=3 ns=0\n");
	gpus_off = 12;
	hints_answer(h, now);
	assert_string_equal(heard(a), "ok off=0 missed=4 ns=0\nok off=0 missed=8 ns=0\n"
				      "error request there is no such class\n");
	assert_int_equal(hints_waiting(h), 0);
	own = (struct hint_scope){1, 32};
	for (unsigned i = 0; i < HINTS_LOOKS; i++)
		hints_look(h);
	assert_int_equal(hints_gpus(h, 0), 0);
	assert_int_equal(hints_gpus(h, 1), 3 | 8 | 32); // 3 and 8 as they said
	assert_true(hints_next(h, &at, &c));
	assert_int_equal(c.active, 2);
	assert_int_equal(c.requests, 3);
	assert_int_equal(c.pid, getpid());
	assert_int_equal(c.scope.class, 1);
	assert_int_equal(c.scope.gpus, 32);
	// for=: as long as the hint says, not as others last
	now += 2000 * MS;
	assert_false(hints_expire(h, now, 100 * MS));
	assert_int_equal(hints_gpus(h, 1), 3);
	now++;
	assert_true(hints_expire(h, now, 100 * MS));
	assert_int_equal(hints_count(h).expired, 3);
	assert_true(hints_next(h, &at, &c));
	assert_int_equal(c.expired, 1);
	assert_int_equal(c.active, 0);
	assert_false(hints_next(h, &at, &c));
	say(b, "end\nend\n");
	assert_false(serve());
	assert_string_equal(heard(b), "ok expired\nerror id no such hint\n");
	close(a);
	close(b);
}

static void test_death(void **state)
{
	int a = connect_client(), b = connect_client(), c = connect_client();
	(void)state;
	say(a, "begin 1\nbegin 2\n");
	say(b, "begin 1\n");
	assert_true(serve());
	assert_int_equal(hints_active(h), 3);
	close(a);
	assert_false(serve());
	assert_int_equal(hints_active(h), 1);
	assert_int_equal(hints_waiting(h), 1);
	close(b);
	assert_true(serve());
	assert_int_equal(hints_waiting(h), 0);
	// One that only says no more gets its answers first.
	say(c, "begin\nstatus\nhalf a li");
	shutdown(c, SHUT_WR);
	assert_false(serve());
	assert_string_equal(heard(c), "error ended before the offline queues were off\nok\n(end)");
	close(c);
}

#define REQUEST                                                                              \
	"error request expected begin [ID] [gpu=] [class=] [for=] [deadline=], end [ID] or " \
	"status\n"
#define TIME   "error request for= and deadline= take a time such as 30s, at most 1h\n"
#define NUMBER "error request an ID is a number of at most 20 digits, below 2^64\n"
#define LENGTH "error request a line has at most 256 bytes\n"

// What a hint is about may change while its answer is awaited; a class above that of its process is
// refused, and expires.
static void test_changed_scopes(void **state)
{
	int a = connect_client();
	(void)state;
	own = (struct hint_scope){1, UINT64_MAX};
	gpus_off = 4;
	hints_ask(h, &(struct hints_calls){.whose = whose, .word = read_word, .is_off = is_off});
	say(a, "begin 1\nbegin 2 class=0\nbegin 2 gpu=4 gpu=4\nbegin 2 for=1s for=1s\n");
	assert_true(serve());
	hints_answer(h, now);
	assert_string_equal(heard(a), "");
	own.gpus = 4;
	hints_look(h);
	hints_answer(h, now);
	assert_string_equal(
		heard(a),
		"ok off=1 missed=4 ns=0\n"
		"error request the client belongs to a class below, and would hold itself\n" REQUEST
			REQUEST);
	say(a, "end 1\nbegin 3 class=1 gpu=4\n");
	serve();
	hints_answer(h, now);
	assert_string_equal(heard(a), "ok\nok off=1 missed=4 ns=0\n");
	own.class = 2;
	for (unsigned i = 0; i < HINTS_LOOKS; i++)
		hints_look(h);
	assert_int_equal(hints_active(h), 0);
	say(a, "end 3\n");
	serve();
	assert_string_equal(heard(a), "ok expired\n");
	close(a);
}

// A child that was just forked has the connections, too: what is said of one that has ended must
// not end the one that has its place.
static void test_forked(void **state)
{
	int first = connect_client(), next = dup(first), copy, second;
	(void)state;
	close(next);
	serve(); // accepts as `next`
	copy = dup(next);
	assert_true(copy >= 0);
	close(first);
	serve();
	second = connect_client();
	serve();
	serve();
	say(second, "end 1\n");
	serve();
	assert_string_equal(heard(second), "error id no such hint\n");
	close(second);
	close(copy);
}

static void test_wrong_lines(void **state)
{
	static const char *const cases[][2] = {
		{"\n", REQUEST},
		{"jump\n", REQUEST},
		{"BEGIN\n", REQUEST},
		{"beginn\n", REQUEST},
		{" begin\n", REQUEST},
		{"begin\r\n", REQUEST},
		{"status 1\n", REQUEST},
		{"en\n", REQUEST},
		{"begin \n", NUMBER},
		{"begin  1\n", NUMBER},
		{"begin 1 \n", REQUEST},
		{"begin 1 gpu=0\n", REQUEST},
		{"begin gpu=0 1\n", REQUEST},
		{"end gpu=0\n", NUMBER},
		{"begin for=\n", TIME},
		{"begin 1 for=x\n", TIME},
		{"begin 1 for=0s\n", TIME},
		{"begin 1 for=61m\n", TIME},
		{"begin deadline=\n", TIME},
		{"begin 1 deadline=0s\n", TIME},
		{"begin 1 deadline=1ms deadline=1ms\n", REQUEST},
		{"begin -1\n", NUMBER},
		{"end 1x\n", NUMBER},
		{"begin 0x1\n", NUMBER},
		{"begin 18446744073709551616\n", NUMBER},
		{"begin 99999999999999999999\n", NUMBER},
		{"begin 000000000000000000001\n", NUMBER}, // 21 digits
		{"end 00000000000000000001\n", "error id no such hint\n"},
	};
	int a = connect_client();

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		say(a, cases[i][0]);
		assert_false(serve());
		assert_string_equal(heard(a), cases[i][1]);
	}
	assert_int_equal(send(a, "end\0 1\n", 7, 0), 7);
	serve();
	assert_string_equal(heard(a), REQUEST);
	close(a);
}

static void test_long_lines(void **state)
{
	char line[HINTS_LINE_MAX + 2] = "";
	int a = connect_client(), b = connect_client(), c = connect_client();
	(void)state;
	memset(line, 'x', HINTS_LINE_MAX - 1);
	say(a, line);
	say(a, "\n");
	serve();
	assert_string_equal(heard(a), REQUEST); // 256 bytes
	line[HINTS_LINE_MAX - 1] = 'x';
	say(a, line);
	say(b, "begin 5\n");
	say(b, line);
	say(c, line);
	say(c, "\nbegin\n");
	assert_false(serve()); // a begin and its end
	assert_string_equal(heard(a), LENGTH "(end)");
	assert_string_equal(heard(b),
			    "error ended before the offline queues were off\n" LENGTH "(end)");
	assert_string_equal(heard(c), LENGTH "(end)");
	close(a);
	close(b);
	close(c);
	assert_int_equal(hints_active(h) + hints_waiting(h), 0);
}

static void test_ids(void **state)
{
	int a = connect_client(), b = connect_client();
	char line[32];
	(void)state;
	for (unsigned i = 0; i < 32; i++) {
		snprintf(line, sizeof(line), "begin %u\n", i);
		say(a, line);
	}
	serve();
	answer(now, 0, 0);
	assert_int_equal(count_lines(heard(a)), 32);
	say(a, "begin 32\n");
	say(b, "begin 32\n");
	serve();
	assert_string_equal(heard(a), "error limit a client may have 32 hints\n");
	assert_int_equal(hints_active(h), 33);
	say(a, "begin 31\nend 4\nbegin 32\n");
	serve();
	answer(now, 0, 0);
	assert_string_equal(heard(a), "ok off=0 missed=0 ns=0\nok\nok off=0 missed=0 ns=0\n");
	assert_int_equal(hints_active(h), 33);
	close(a);
	close(b);
}

// More answers wait than the server keeps: it reads on when they are given.
static void test_pending(void **state)
{
	int a = connect_client();
	(void)state;
	say(a, "begin 1\n");
	say_often(a, "end\n", 100);
	serve();
	assert_int_equal(hints_wait_ms(h), -1);
	assert_false(is_ready());
	assert_string_equal(heard(a), "");
	answer(now, 0, 0);
	assert_int_equal(count_lines(heard(a)), 64);
	assert_int_equal(hints_wait_ms(h), 0);
	serve();
	assert_int_equal(count_lines(heard(a)), 37);
	close(a);
}

static void test_rate(void **state)
{
	int a = connect_client(), b = connect_client();
	(void)state;
	say_often(a, "end\n", 300);
	serve();
	assert_int_equal(count_lines(heard(a)), 200);
	assert_int_equal(hints_wait_ms(h), 1); // half a millisecond
	assert_false(is_ready());
	say(b, "end\n"); // others are not concerned
	serve();
	assert_string_equal(heard(b), "error id no such hint\n");
	now += 5 * MS;
	serve();
	assert_int_equal(count_lines(heard(a)), 10);
	now += 1000 * MS;
	serve();
	assert_int_equal(count_lines(heard(a)), 90);
	assert_int_equal(hints_wait_ms(h), -1);
	// `status` counts as 20.
	say_often(a, "status\n", 12);
	now += 100 * MS;
	serve();
	assert_int_equal(count_lines(heard(a)), 10);
	assert_int_equal(hints_wait_ms(h), 1);
	// Who hangs up while he has to wait is gone at once.
	say(b, "begin\n");
	say_often(b, "begin 2\n", 300);
	assert_true(serve());
	close(b);
	assert_true(is_ready());
	assert_true(serve());
	assert_int_equal(hints_active(h), 0);
	// Nor does what he has said and nobody has read count later.
	const uint64_t requests = hints_count(h).requests;
	now += 1000 * MS;
	assert_false(serve());
	assert_int_equal(hints_active(h), 0);
	assert_int_equal(hints_count(h).requests, requests + 2); // those of `a`
	close(a);
}

static uint64_t fill_much(struct buf *b, void *arg)
{
	(void)arg;
	buf_fill(b, 'x', 60000);
	buf_puts(b, "\n");
	return 0;
}

static uint64_t fill_slowly(struct buf *b, void *arg)
{
	(void)b;
	(void)arg;
	return 2 * MS;
}

// All who ask for statistics share a twentieth of the time, with 100 ms in advance.
static void test_slow_status(void **state)
{
	int a = connect_client(), b = connect_client(), c = connect_client();
	(void)state;
	calls = (struct hints_calls){.status = fill_slowly};
	hints_ask(h, &calls);
	say_often(a, "status\n", 4); // each uses 40 ms
	serve();
	assert_int_equal(count_lines(heard(a)), 4);
	say(b, "status\n"); // it has asked for none so far
	serve();
	assert_int_equal(count_lines(heard(b)), 1);
	say(a, "status\n");
	say(b, "status\n");
	now += 59 * MS;
	serve();
	assert_int_equal(count_lines(heard(a)) + count_lines(heard(b)), 0);
	say(c, "end\n"); // who asks for none does not wait
	serve();
	assert_string_equal(heard(c), "error id no such hint\n");
	now += 2 * MS; // 100 ms before those of `a` are paid for
	serve();
	assert_int_equal(count_lines(heard(a)), 1);
	assert_int_equal(count_lines(heard(b)), 0);
	now += 40 * MS;
	serve();
	assert_int_equal(count_lines(heard(b)), 1);
	close(a);
	close(b);
	close(c);
}

static void test_no_reader(void **state)
{
	int a = connect_client(), b = connect_client();
	(void)state;
	calls = (struct hints_calls){.status = fill_much};
	hints_ask(h, &calls);
	say(a, "begin\n");
	assert_true(serve());
	answer(now, 0, 0);
	say_often(a, "status\n", 9);
	assert_true(serve()); // closed: its hint has ended
	assert_int_equal(hints_active(h), 0);
	say(b, "end\n");
	serve();
	assert_string_equal(heard(b), "error id no such hint\n");
	close(a);
	close(b);
}

// As above, but what is too much comes from hints_answer().
static void test_no_reader_of_answers(void **state)
{
	int a = connect_client();
	(void)state;
	calls = (struct hints_calls){.status = fill_much};
	hints_ask(h, &calls);
	say(a, "begin\n");
	say_often(a, "status\n", 9);
	assert_true(serve());
	assert_int_equal(hints_active(h), 1);
	answer(now, 0, 0);
	assert_int_equal(hints_active(h), 1);
	assert_true(is_ready());
	assert_true(serve());
	assert_int_equal(hints_active(h), 0);
	close(a);
}

static void test_expiry(void **state)
{
	int a = connect_client();
	(void)state;
	say(a, "begin 1\nbegin 2\n");
	assert_true(serve());
	answer(now, 0, 0);
	now += 100 * MS;
	say(a, "begin 2\n");
	assert_false(serve());
	assert_false(hints_expire(h, now, 100 * MS));
	assert_int_equal(hints_active(h), 2);
	now += 1;
	assert_false(hints_expire(h, now, 100 * MS));
	assert_int_equal(hints_active(h), 1);
	now += 100 * MS;
	assert_true(hints_expire(h, now, 100 * MS));
	assert_false(hints_expire(h, now, 100 * MS));
	assert_int_equal(hints_active(h) + hints_waiting(h), 0);
	assert_string_equal(heard(a), "ok off=0 missed=0 ns=0\nok off=0 missed=0 ns=0\n"
				      "error expired before the offline queues were off\n");
	say(a, "end 1\nbegin 2\n"); // an end that comes late is none too many
	assert_true(serve());
	assert_int_equal(hints_active(h), 1);
	assert_string_equal(heard(a), "ok expired\n");
	close(a);
}

// As fast as they are accepted.
static uint64_t needed;
static struct hint_end ended;

static uint64_t needs(void *arg, const struct hint_scope *scope)
{
	(void)arg;
	assert_int_equal(scope->gpus, 4);
	return needed;
}

static void note_end(void *arg, const struct hint_scope *scope, uint64_t at,
		     const struct hint_end *end)
{
	(void)arg;
	(void)scope;
	assert_int_equal(at, now);
	ended = *end;
}

// A hint with a deadline counts once that leaves no more time than the work needs; nothing is off
// before, and its client does not wait.
static void test_deadlines(void **state)
{
	int a = connect_client();
	struct hints_client c;
	(void)state;
	own = (struct hint_scope){0, 4};
	gpus_off = 0;
	hints_ask(h, &(struct hints_calls){
			     .whose = whose, .is_off = is_off, .needs = needs, .ended = note_end});
	needed = UINT64_MAX; // not known: it counts at once
	say(a, "begin deadline=100ms\n");
	serve();
	hints_answer(h, now);
	assert_string_equal(heard(a), "");
	assert_int_equal(hints_gpus(h, 0), 4);
	assert_int_equal(hints_urge(h, now), UINT64_MAX);
	now += 20 * MS;
	say(a, "end\n");
	serve();
	assert_string_equal(heard(a), "error ended before the offline queues were off\nok\n");
	assert_int_equal(ended.ns, 20 * MS);
	assert_int_equal(ended.urgent_ns, 20 * MS);
	assert_int_equal(ended.deadline_ns, 100 * MS);
	// It ends before it counts.
	needed = 30 * MS;
	say(a, "begin deadline=100ms\n");
	serve();
	hints_answer(h, now);
	assert_string_equal(heard(a), "ok off=0 missed=0 ns=0\n");
	assert_int_equal(hints_gpus(h, 0), 0);
	assert_int_equal(hints_later(h, 0), 1);
	assert_int_equal(hints_active(h), 1);
	assert_true(hints_next(h, &(unsigned){0}, &c));
	assert_int_equal(c.active, 0);
	assert_int_equal(hints_urge(h, now), now + 70 * MS);
	now += 69 * MS;
	assert_int_equal(hints_urge(h, now), now + MS);
	assert_false(hints_expire(h, now, 10 * MS)); // what does not count yet does not expire
	say(a, "end\n");
	serve();
	assert_string_equal(heard(a), "ok\n");
	assert_int_equal(ended.ns, 69 * MS);
	assert_int_equal(ended.urgent_ns, 0);
	assert_int_equal(ended.deadline_ns, 100 * MS);
	// It does not, and comes too late.
	say(a, "begin deadline=100ms\n");
	serve();
	now += 70 * MS;
	assert_int_equal(hints_urge(h, now), UINT64_MAX);
	assert_int_equal(hints_gpus(h, 0), 4);
	assert_int_equal(hints_later(h, 0), 0);
	assert_false(hints_expire(h, now + 10 * MS, 10 * MS));
	now += 41 * MS;
	say(a, "end\n");
	serve();
	assert_int_equal(ended.ns, 111 * MS);
	assert_int_equal(ended.urgent_ns, 41 * MS);
	assert_int_equal(ended.deadline_ns, 100 * MS);
	// Begun again without a deadline it counts, and a deadline that it cannot keep leaves
	// nothing.
	heard(a);
	say(a, "begin 1 deadline=1s\nbegin 2 deadline=30ms\n");
	serve();
	assert_int_equal(hints_later(h, 0), 1);
	say(a, "begin 1\n");
	serve();
	assert_int_equal(hints_later(h, 0), 0);
	assert_int_equal(hints_gpus(h, 0), 4);
	assert_false(
		hints_expire(h, now + 11 * MS, 10 * MS)); // one of them has time until its deadline
	assert_int_equal(hints_active(h), 1);
	assert_false(hints_expire(h, now + 30 * MS, 10 * MS));
	assert_true(hints_expire(h, now + 30 * MS + 1, 10 * MS));
	say(a, "end 1\nend 2\n");
	serve();
	assert_true(ended.expired);
	close(a);
}

// Who begins a hint again, as clients do while their work goes on, has no more time, and waits on.
static void test_renewed_deadlines(void **state)
{
	int a = connect_client();
	(void)state;
	own = (struct hint_scope){0, 4};
	gpus_off = 0;
	needed = 30 * MS;
	hints_ask(h, &(struct hints_calls){
			     .whose = whose, .is_off = is_off, .needs = needs, .ended = note_end});
	say(a, "begin 1 deadline=100ms\n");
	serve();
	now += 50 * MS;
	say(a, "begin 1 deadline=100ms\n");
	serve();
	assert_int_equal(hints_urge(h, now), now + 20 * MS);
	now += 20 * MS;
	hints_urge(h, now);
	hints_answer(h, now);
	assert_int_equal(hints_later(h, getpid()), 0);
	heard(a);
	say(a, "begin 1 deadline=100ms\n");
	serve();
	hints_answer(h, now);
	assert_int_equal(hints_gpus(h, 0), 4);
	assert_string_equal(heard(a), ""); // nothing is off
	now += 31 * MS;
	say(a, "end 1\n");
	serve();
	assert_int_equal(ended.deadline_ns, 100 * MS);
	assert_int_equal(ended.urgent_ns, 31 * MS);
	heard(a);
	say(a, "begin 2\nbegin 2 deadline=1h\n");
	serve();
	hints_answer(h, now);
	assert_string_equal(heard(a), "");
	assert_int_equal(hints_later(h, 0) + hints_later(h, 1), 0);
	close(a);
}

static void connect_many(int *fds, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		fds[i] = connect_client();
		if (i % 60 == 59 || i + 1 == n) {
			serve();
			now += 200 * MS;
		}
	}
}

static void close_all(const int *fds, unsigned n)
{
	while (n)
		close(fds[--n]);
	serve();
}

// Users are made up: the socket is for everybody in these tests.
static void connect_as(uid_t uid, int *fds, unsigned n)
{
	assert_int_equal(chmod(dir, 0711) + chmod(path, 0666), 0);
	assert_int_equal(seteuid(uid), 0);
	connect_many(fds, n);
	assert_int_equal(seteuid(0), 0);
}

static void limit_files(rlim_t files)
{
	struct rlimit limit;
	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = files < limit.rlim_max ? files : limit.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

// 1,024 descriptors are enough for 128 connections, and 16 of a user.
static void test_connections(void **state)
{
	int fds[129], one;
	unsigned most = getuid() ? 16 : 128;
	(void)state;
	connect_many(fds, most + 1);
	assert_string_equal(heard(fds[most]),
			    getuid() ? "error limit a user may have 16 connections\n(end)"
				     : "error limit there are 128 connections\n(end)");
	for (unsigned i = 0; i < most; i++)
		assert_string_equal(heard(fds[i]), "");
	assert_int_equal(hints_count(h).refused, 1);
	close(fds[0]);
	one = connect_client();
	serve();
	say(one, "status\n");
	serve();
	assert_string_equal(heard(one), "ok\n");
	assert_int_equal(hints_count(h).refused, 1);
	close_all(fds + 1, most);
	close(one);
}

// Whoever takes what he may, and however many they are: root gets in.
static void test_places_of_root(void **state)
{
	int fds[8][17], root[17], another;
	(void)state;
	if (getuid())
		skip();
	for (unsigned user = 0; user < 7; user++) {
		connect_as(1000 + user, fds[user], 17);
		assert_string_equal(heard(fds[user][15]), "");
		assert_string_equal(heard(fds[user][16]),
				    "error limit a user may have 16 connections\n(end)");
	}
	connect_as(2000, &another, 1);
	assert_string_equal(heard(another), "error limit there are 112 connections\n(end)");
	connect_many(root, 17);
	say(root[0], "status\n");
	serve();
	assert_string_equal(heard(root[0]), "ok\n");
	assert_string_equal(heard(root[15]), "");
	assert_string_equal(heard(root[16]), "error limit there are 128 connections\n(end)");
	assert_int_equal(hints_count(h).refused, 9);
	close_all(root, 17);
	for (unsigned user = 0; user < 7; user++)
		close_all(fds[user], 17);
	close(another);
}

// The numbers grow with the descriptors, and have bounds.
static void test_more_descriptors(void **state)
{
	static const struct {
		rlim_t files;
		unsigned user, all;
	} cases[] = {{100, 16, 48}, {1023, 16, 111}, {2048, 32, 240}, {8192, 64, 496}};
	int fds[497], status;

	(void)state;
	if (getuid())
		skip();
	for (unsigned i = 0; i < COUNT(cases); i++) {
		const unsigned user = cases[i].user, all = cases[i].all;
		char text[80];
		hints_close(h);
		limit_files(cases[i].files);
		h = open_hints(NULL, &status);
		assert_non_null(h);
		limit_files(8192); // both ends of each connection are here
		for (unsigned n = 0; n < all; n += user)
			connect_as(1000 + n, fds + n, all - n < user ? all - n : user);
		connect_as(1000, fds + all, 1);
		snprintf(text, sizeof(text), "error limit a user may have %u connections\n(end)",
			 user);
		assert_string_equal(heard(fds[all]), text);
		close(fds[all]);
		connect_as(NOBODY, fds + all, 1);
		snprintf(text, sizeof(text), "error limit there are %u connections\n(end)", all);
		assert_string_equal(heard(fds[all]), text);
		close_all(fds, all + 1);
	}
	limit_files(1024);
}

// Connections in quick succession are accepted as fast as is allowed.
static void test_connection_rate(void **state)
{
	int fd;
	(void)state;
	for (unsigned i = 0; i < HINTS_CONNECT_BURST; i++) {
		close(connect_client());
		serve();
	}
	assert_int_equal(hints_wait_ms(h), 2);
	fd = connect_client();
	say(fd, "status\n");
	serve();
	assert_false(is_ready());
	assert_string_equal(heard(fd), "");
	now += 2 * MS;
	serve();
	assert_string_equal(heard(fd), "ok\n");
	close(fd);
}

static void test_counts(void **state)
{
	int a = connect_client(), b = connect_client();
	(void)state;
	say(a, "begin 1\nbegin 2\nend\n");
	say_often(b, "end\n", 201);
	serve();
	const struct hints_counts all = hints_count(h);
	assert_int_equal(all.clients, 2);
	assert_int_equal(hints_active(h), 2);
	assert_int_equal(all.requests, 203);
	assert_int_equal(all.throttled, 1);
	close(a);
	close(b);
}

static int bind_dead(void)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	return bind(fd, (struct sockaddr *)&a, sizeof(a)) + close(fd);
}

static unsigned mode_of(const char *file)
{
	struct stat st = {0};
	assert_int_equal(lstat(file, &st), 0);
	return st.st_mode;
}

static void test_place(void **state)
{
	struct hints *second;
	char run[80], want[200];
	int status = -1, fd;
	(void)state;
	snprintf(run, sizeof(run), "%s/run", dir);
	assert_int_equal(mode_of(run), S_IFDIR | 0755);
	assert_int_equal(mode_of(path), S_IFSOCK | 0600);
	assert_string_equal(hints_path(h), path);

	assert_null(open_hints(NULL, &status)); // a living one
	assert_int_equal(status, GPQ_FAILED);
	snprintf(want, sizeof(want),
		 "gpq: %s: a scheduler listens there already (pid %d); end that one, or name "
		 "another with --socket\n",
		 path, (int)getpid());
	assert_string_equal(messages.data, want);
	fd = connect_client();
	close(fd);
	serve();

	unlink(path); // a stale one
	assert_int_equal(bind_dead(), 0);
	second = open_hints(NULL, &status);
	assert_non_null(second);
	hints_close(h); // not its socket any more
	h = second;
	fd = connect_client();
	say(fd, "status\n");
	serve();
	assert_string_equal(heard(fd), "ok\n");
	close(fd);
	hints_close(h);
	assert_int_equal(access(path, F_OK), -1);

	assert_int_equal(close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600)), 0);
	h = open_hints(NULL, &status); // no socket
	assert_null(h);
	assert_int_equal(status, GPQ_USAGE);
	assert_non_null(strstr(messages.data, ": a file that is not a socket; "));
	assert_int_equal(mode_of(path), S_IFREG | 0600);
	assert_int_equal(rmdir(run), -1); // nothing else is left there
	unlink(path);
	assert_int_equal(rmdir(run), 0);
}

static void test_rights(void **state)
{
	char group[16], run[80];
	struct stat st = {0};
	int status = -1;
	(void)state;
	hints_close(h);
	snprintf(group, sizeof(group), "%u", getuid() ? (unsigned)getgid() : NOBODY);
	umask(077);
	h = open_hints(group, &status);
	umask(022);
	assert_non_null(h);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode, S_IFSOCK | 0660);
	assert_int_equal(st.st_gid, getuid() ? getgid() : NOBODY);
	hints_close(h);

	h = open_hints("nosuch group", &status);
	assert_null(h);
	assert_int_equal(status, GPQ_NOTFOUND);
	assert_string_equal(messages.data,
			    "gpq: --group nosuch group: no such group; see getent group\n");

	snprintf(run, sizeof(run), "%s/run", dir); // as /tmp
	assert_int_equal(chmod(run, 01777), 0);
	h = open_hints(NULL, &status);
	assert_null(h);
	assert_int_equal(status, GPQ_DENIED);
	assert_non_null(strstr(messages.data, "/run/: everybody may write to this directory; "));
}

static void refuse(const char *place, int want, const char *text)
{
	int status = -1;
	messages.len = 0;
	err_gather(&messages);
	assert_null(hints_open(place, NULL, &status));
	err_gather(NULL);
	assert_int_equal(status, want);
	if (!strstr(messages.data, text))
		fail_msg("%s instead of %s", messages.data, text);
}

static void test_paths(void **state)
{
	char longest[109] = "/nosuch/dir/";
	const uid_t me = geteuid();
	(void)state;
	memset(longest + 12, 'x', 96);
	refuse(longest, GPQ_USAGE, ": socket path of over 107 bytes; choose a shorter path");
	longest[107] = '\0';
	refuse(longest, GPQ_NOTFOUND, "/nosuch/dir/: No such file or directory; ");
	refuse("/tmp/", GPQ_USAGE, "/tmp/: socket path of a directory; ");
	refuse("/tmp/socket", GPQ_DENIED, "/tmp/: everybody may write to this directory; ");
	refuse("/nosuch/dir/socket", GPQ_NOTFOUND, "/nosuch/dir/: No such file or directory; ");
	assert_int_equal(me ? 0 : seteuid(NOBODY), 0); // root's is in /run
	unsetenv("XDG_RUNTIME_DIR");
	refuse(NULL, GPQ_NOTFOUND, "no directory for the socket: XDG_RUNTIME_DIR is not set; ");
	setenv("XDG_RUNTIME_DIR", "run", 1);
	refuse(NULL, GPQ_NOTFOUND, "no directory for the socket: XDG_RUNTIME_DIR is not set; ");
	setenv("XDG_RUNTIME_DIR", "/nosuch", 1);
	refuse(NULL, GPQ_NOTFOUND, "/nosuch/gpq-sched/: No such file or directory; ");
	assert_int_equal(seteuid(me), 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin_test, end_test)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_begin_and_end),
		TEST(test_order),
		TEST(test_end_before_answer),
		TEST(test_scopes),
		TEST(test_changed_scopes),
		TEST(test_death),
		TEST(test_forked),
		TEST(test_wrong_lines),
		TEST(test_long_lines),
		TEST(test_ids),
		TEST(test_pending),
		TEST(test_rate),
		TEST(test_slow_status),
		TEST(test_no_reader),
		TEST(test_no_reader_of_answers),
		TEST(test_expiry),
		TEST(test_deadlines),
		TEST(test_renewed_deadlines),
		TEST(test_connections),
		TEST(test_places_of_root),
		TEST(test_more_descriptors),
		TEST(test_connection_rate),
		TEST(test_counts),
		TEST(test_place),
		TEST(test_rights),
		TEST(test_paths),
	};
	return files_allowed(1024) ? cmocka_run_group_tests(tests, NULL, NULL) : 0;
}
