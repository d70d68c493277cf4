// common/client/client.c against a hint socket that a thread of this process serves. Nothing waits:
// the client's pause between two attempts to connect is taken away where it is in the way.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/client/client.c" // NOLINT: its state is looked at
#include "common/host/clock.h"
#include "common/sched/hints.h"
#include "tests/unit/files.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/wait.h>

#define MS   INT64_C(1000000)
#define MOST 128 // connections that 1,024 descriptors allow

static char dir[64], path[100];
static pthread_t thread;
static int stop = -1;
static atomic_bool mute, deaf;
static atomic_uint missed, status_lines;

static uint64_t fill(struct buf *b, void *h)
{
	buf_printf(b, "active %u\nclients %u\n", hints_active(h), (unsigned)hints_count(h).clients);
	for (unsigned i = 0; i < status_lines; i++)
		buf_puts(b, "0123456789\n");
	return 0;
}

static bool is_off(void *arg, const struct hint_scope *scope, unsigned *off, unsigned *num_missed)
{
	(void)arg;
	(void)scope;
	*off = 2;
	*num_missed = missed;
	return true;
}

static char said[2 * 256]; // words of hints, each with a blank

static const char *read_word(void *arg, char *word, struct hint_scope *scope)
{
	(void)arg;
	(void)scope;
	strcat(strcat(said, word), " ");
	return strncmp(word, "gpu=", 4) == 0 ? NULL : "there is no such class";
}

static void *serve(void *arg)
{
	struct hints *h = arg;
	struct pollfd fds[] = {{.fd = stop, .events = POLLIN},
			       {.fd = hints_fd(h), .events = POLLIN}};
	while (poll(fds, deaf ? 1 : 2, deaf ? 1 : hints_wait_ms(h)) >= 0 && !fds[0].revents) {
		if (deaf)
			continue;
		hints_serve(h, clock_ns());
		if (hints_waiting(h) && !mute)
			hints_answer(h, clock_ns());
	}
	hints_close(h);
	return NULL;
}

static void start_server(void)
{
	int status = -1;
	struct hints *h = hints_open(path, NULL, &status);
	assert_non_null(h);
	hints_ask(h, &(struct hints_calls){
			     .arg = h, .word = read_word, .is_off = is_off, .status = fill});
	stop = eventfd(0, EFD_CLOEXEC);
	assert_int_equal(pthread_create(&thread, NULL, serve, h), 0);
}

static void stop_server(void)
{
	assert_int_equal(eventfd_write(stop, 1), 0);
	pthread_join(thread, NULL);
	close(stop);
	stop = -1;
}

static int begin_test(void **state)
{
	(void)state;
	snprintf(dir, sizeof(dir), "/tmp/test_client.XXXXXX");
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/socket", dir);
	mute = deaf = false;
	missed = status_lines = 0;
	start_server();
	return 0;
}

static int end_test(void **state)
{
	(void)state;
	if (stop >= 0)
		stop_server();
	rmdir(dir);
	return 0;
}

static struct gpq_client *connect_client(void)
{
	struct gpq_client *c = gpq_connect(path);
	assert_non_null(c);
	return c;
}

static const char *status_of(struct gpq_client *c)
{
	static char text[100];
	ssize_t n = gpq_status(c, text, sizeof(text), -1);
	assert_int_equal(n, strlen(text));
	return text;
}

// What the server has not noticed yet of other connections, it will.
static void await_status(struct gpq_client *c, const char *wanted)
{
	for (unsigned i = 0; i < 1000 && strcmp(status_of(c), wanted) != 0; i++)
		;
	assert_string_equal(status_of(c), wanted);
}

static void test_begin_and_end(void **state)
{
	struct gpq_client *c = connect_client(), *other = connect_client();
	(void)state;
	assert_int_equal(gpq_begin(c, 0, -1), 0);
	assert_int_equal(gpq_begin(c, UINT64_MAX, -1), 0);
	await_status(c, "active 2\nclients 2\n");
	missed = 3;
	assert_int_equal(gpq_begin(c, UINT64_MAX, 60 * SECOND_NS), 3);
	assert_int_equal(gpq_end(c, UINT64_MAX), 0);
	assert_int_equal(gpq_end(c, UINT64_MAX), -EINVAL);
	await_status(c, "active 1\nclients 2\n");
	assert_int_equal(gpq_begin(other, 0, 0), 0);
	await_status(other, "active 2\nclients 2\n");
	gpq_close(c);
	await_status(other, "active 1\nclients 1\n");
	gpq_close(other);
	gpq_close(NULL);
}

// Words go with the hint, also to a scheduler that is started later; those that are refused begin
// none.
static void test_words(void **state)
{
	struct gpq_client *c = connect_client();
	char words[162];
	(void)state;
	said[0] = '\0';
	assert_int_equal(gpq_begin_with(c, 1, "gpu=0,2 for=30s", -1), 0);
	assert_int_equal(gpq_begin_with(c, 2, NULL, -1), 0);
	assert_string_equal(said, "gpu=0,2 ");
	assert_int_equal(gpq_begin_with(c, 3, "gpu=1 class=x", -1), -EINVAL);
	assert_int_equal(gpq_begin_with(c, 3, "for=never", -1), -EINVAL);
	assert_int_equal(gpq_begin_with(c, 3, "gpu=0\n", -1), -EINVAL);
	memcpy(words, "gpu=", 4);
	memset(words + 4, '1', sizeof(words) - 5);
	words[161] = '\0';
	assert_int_equal(gpq_begin_with(c, 3, words, -1), -EINVAL);
	assert_int_equal(gpq_end(c, 3), -EINVAL);
	words[160] = '\0';
	assert_int_equal(gpq_begin_with(c, 1, words, -1), 0);
	await_status(c, "active 2\nclients 1\n");
	stop_server();
	said[0] = '\0';
	start_server();
	c->retry_ns = 0;
	assert_true(gpq_status(c, NULL, 0, -1) < 0); // it finds that the connection is lost
	c->retry_ns = 0;
	await_status(c, "active 2\nclients 1\n");
	assert_memory_equal(said, words, 160);
	assert_string_equal(said + 160, " ");
	gpq_close(c);
}

// A program that has closed its standard input: the connection is descriptor 0.
static void test_descriptor_0(void **state)
{
	const int input = dup(0);
	struct gpq_client *c, *other = connect_client();
	(void)state;
	await_status(other, "active 0\nclients 1\n"); // the server has its descriptor, too
	close(0);
	c = connect_client();
	assert_int_equal(c->fd, 0);
	assert_int_equal(gpq_begin(c, 1, -1), 0);
	await_status(other, "active 1\nclients 2\n");
	assert_int_equal(gpq_end(c, 1), 0);
	await_status(other, "active 0\nclients 2\n");
	gpq_close(c);
	await_status(other, "active 0\nclients 1\n");
	gpq_close(other);
	assert_int_equal(dup2(input, 0), 0);
	close(input);
}

static int begin_hint(struct gpq_client *c)
{
	return gpq_begin(c, 1, -1);
}

static int end_hint(struct gpq_client *c)
{
	return gpq_end(c, 1);
}

static int ask_status(struct gpq_client *c)
{
	return gpq_status(c, NULL, 0, -1) < 0;
}

// Each call locks the handle, and unlocks it as often: a lock that counts is ours once at the end.
static void test_locks(void **state)
{
	static int (*const calls[])(struct gpq_client *) = {begin_hint, end_hint, ask_status};
	struct gpq_client *c = connect_client();
	pthread_mutexattr_t counts;
	(void)state;
	pthread_mutexattr_init(&counts);
	pthread_mutexattr_settype(&counts, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&c->lock, &counts);
	for (size_t i = 0; i < COUNT(calls); i++) {
		assert_int_equal(pthread_mutex_lock(&c->lock), 0);
		assert_int_equal(calls[i](c), 0);
		assert_int_equal(pthread_mutex_unlock(&c->lock), 0);
		assert_int_equal(pthread_mutex_unlock(&c->lock), EPERM);
	}
	gpq_close(c);
}

static void test_no_answer(void **state)
{
	struct gpq_client *c = connect_client(), *other = connect_client();
	(void)state;
	mute = true;
	assert_int_equal(gpq_begin(c, 1, 0), 0);
	assert_int_equal(gpq_begin(c, 2, 1), -ETIMEDOUT);
	assert_int_equal(gpq_begin(c, 3, 1), -ETIMEDOUT);
	await_status(other, "active 3\nclients 2\n");
	assert_int_equal(gpq_end(c, 1), 0);
	assert_int_equal(gpq_end(c, 2), 0);
	await_status(other, "active 1\nclients 2\n");
	mute = false;
	assert_int_equal(gpq_begin(other, 1, -1), 0);
	// Answers that nobody waited for are not taken for later ones.
	assert_int_equal(gpq_end(c, 3), 0);
	missed = 1;
	assert_int_equal(gpq_begin(c, 4, -1), 1);
	await_status(c, "active 2\nclients 2\n");
	gpq_close(c);
	gpq_close(other);
}

// A scheduler that hangs costs one wait, not one for each request: the time since its first
// unanswered request counts for each later timeout. Nothing here waits for an hour.
static void test_silent(void **state)
{
	struct gpq_client *c = connect_client();
	(void)state;
	mute = true;
	alarm(60);
	assert_int_equal(gpq_begin(c, 1, 1), -ETIMEDOUT);
	const int64_t since = c->silent_ns;
	assert_int_equal(gpq_begin(c, 1, 1), -ETIMEDOUT);
	assert_int_equal(c->silent_ns, since); // the first of them counts
	c->silent_ns -= 3600 * SECOND_NS;
	assert_int_equal(gpq_begin(c, 2, 3600 * SECOND_NS), -ETIMEDOUT);
	assert_int_equal(gpq_begin(c, 2, 3600 * SECOND_NS), -ETIMEDOUT);
	mute = false;
	assert_int_equal(gpq_begin(c, 3, 7200 * SECOND_NS), 0); // there is an hour left
	missed = 2;
	assert_int_equal(gpq_begin(c, 4, 3600 * SECOND_NS), 2); // it has answered
	// A call without a timeout waits for the answer, though an hour was waited before.
	mute = true;
	assert_int_equal(gpq_begin(c, 4, 1), -ETIMEDOUT);
	c->silent_ns -= 3600 * SECOND_NS;
	mute = false;
	assert_int_equal(gpq_begin(c, 4, -1), 2);
	// An answer that has come meanwhile makes an end of it.
	mute = true;
	assert_int_equal(gpq_begin(c, 4, 1), -ETIMEDOUT);
	c->silent_ns -= 3600 * SECOND_NS;
	mute = false;
	assert_int_equal(gpq_end(c, 1), 0);
	assert_int_equal(wait_for_socket(c, POLLIN, FOREVER), 0);
	assert_int_equal(gpq_begin(c, 4, 3600 * SECOND_NS), 2);
	// Nor is a socket waited for that is full.
	deaf = true;
	int r;
	while ((r = gpq_begin(c, 4, 0)) == 0)
		;
	assert_int_equal(r, -EAGAIN);
	c->silent = c->answered + 1;
	c->silent_ns = clock_now() - 3600 * SECOND_NS;
	assert_int_equal(gpq_begin(c, 4, 3600 * SECOND_NS), -EAGAIN);
	deaf = false;
	alarm(0);
	gpq_close(c);
}

static void test_many_hints(void **state)
{
	struct gpq_client *c = connect_client();
	(void)state;
	for (unsigned i = 0; i < 32; i++)
		assert_int_equal(gpq_begin(c, i, 0), 0);
	assert_int_equal(gpq_begin(c, 32, -1), -EDQUOT);
	assert_int_equal(gpq_end(c, 32), -EINVAL);
	assert_int_equal(gpq_begin(c, 31, -1), 0);
	assert_int_equal(gpq_end(c, 0), 0);
	assert_int_equal(gpq_begin(c, 32, -1), 0);
	await_status(c, "active 32\nclients 1\n");
	gpq_close(c);
}

static void test_status(void **state)
{
	struct gpq_client *c = connect_client();
	char text[20000], small[10];
	(void)state;
	status_lines = 1000;
	assert_int_equal(gpq_status(c, text, sizeof(text), -1), 19 + 11 * 1000);
	assert_int_equal(strlen(text), 19 + 11 * 1000);
	assert_string_equal(text + 19 + 11 * 999, "0123456789\n");
	assert_int_equal(gpq_status(c, small, sizeof(small), -1), 19 + 11 * 1000);
	assert_string_equal(small, "active 0\n");
	assert_int_equal(gpq_status(c, NULL, 0, -1), 19 + 11 * 1000);
	mute = true;
	assert_int_equal(gpq_begin(c, 1, 0), 0);
	assert_int_equal(gpq_status(c, text, sizeof(text), 1), -ETIMEDOUT);
	assert_string_equal(text, "");
	assert_int_equal(gpq_end(c, 1), 0); // answers `begin`, and so the statistics go out
	status_lines = 0;
	await_status(c, "active 0\nclients 1\n");
	gpq_close(c);
}

static void test_no_server(void **state)
{
	struct gpq_client *c;
	char text[8];
	int64_t before = clock_now();
	(void)state;
	stop_server();
	c = connect_client();
	assert_int_equal(gpq_begin(c, 1, -1), -ENOENT);
	assert_int_equal(gpq_begin(c, 2, 0), -ENOENT);
	assert_int_equal(gpq_end(c, 2), -ENOENT);
	assert_int_equal(gpq_end(c, 2), -EINVAL);
	assert_int_equal(gpq_status(c, text, sizeof(text), -1), -ENOENT);
	assert_true(c->retry_ns >= before + SECOND_NS);
	c->retry_ns = FOREVER;
	start_server();
	assert_int_equal(gpq_begin(c, 2, -1), -ENOENT);
	c->retry_ns = 0;
	assert_int_equal(gpq_begin(c, 3, -1), 0);
	await_status(c, "active 3\nclients 1\n");
	gpq_close(c);
}

static void test_restart(void **state)
{
	struct gpq_client *c = connect_client(), *waiting = connect_client();
	(void)state;
	assert_int_equal(gpq_begin(c, 1, -1), 0);
	assert_int_equal(gpq_begin(c, 2, 0), 0);
	stop_server();
	start_server();
	c->retry_ns = 0;
	assert_int_equal(gpq_end(c, 2), 0); // begins the other one again
	await_status(c, "active 1\nclients 1\n");
	stop_server();
	c->retry_ns = FOREVER;
	assert_int_equal(gpq_begin(c, 3, -1), -ECONNRESET);
	start_server();
	c->retry_ns = waiting->retry_ns = 0;
	assert_int_equal(gpq_begin(waiting, 1, -1), 0);
	assert_int_equal(gpq_begin(c, 4, 0), 0);
	await_status(c, "active 4\nclients 2\n");
	stop_server();
	c->retry_ns = 0;
	assert_int_equal(gpq_end(c, 1), -ENOENT);
	gpq_close(c);
	gpq_close(waiting);
}

// The status of a child that runs `f`.
static int in_fork(int (*f)(struct gpq_client *), struct gpq_client *c)
{
	int status = -1;
	pid_t pid = fork();
	if (pid == 0)
		_exit(f(c));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static int child(struct gpq_client *c)
{
	if (c->fd != -1 || c->num_hints)
		return 1; // the parent's connection would outlive it
	if (gpq_end(c, 1) != -EINVAL || gpq_begin(c, 1, -1) != 0)
		return 2;
	await_status(c, "active 2\nclients 2\n");
	gpq_close(c);
	return 0;
}

static void test_fork(void **state)
{
	struct gpq_client *c = connect_client(), *gone = connect_client();
	int fd = c->fd;
	(void)state;
	gpq_close(gone);
	assert_int_equal(gpq_begin(c, 1, -1), 0);
	assert_int_equal(in_fork(child, c), 0);
	assert_int_equal(c->fd, fd);
	await_status(c, "active 1\nclients 1\n");
	assert_int_equal(gpq_end(c, 1), 0);
	assert_int_equal(fcntl(c->fd, F_GETFD), FD_CLOEXEC);
	// A child that no handler has told of.
	assert_int_equal(gpq_begin(c, 1, -1), 0);
	c->pid = 1;
	assert_int_equal(gpq_end(c, 1), -EINVAL);
	await_status(c, "active 0\nclients 1\n");
	gpq_close(c);
}

static void test_too_many_connections(void **state)
{
	struct gpq_client *clients[MOST + 1];
	unsigned n = 0;
	int r = 0;
	(void)state;
	while (r == 0 && n <= MOST) {
		clients[n] = connect_client();
		r = gpq_begin(clients[n++], 1, -1);
	}
	assert_int_equal(r, -EDQUOT);
	clients[n - 1]->retry_ns = FOREVER;
	assert_int_equal(n - 1, getuid() ? 16 : MOST);
	assert_int_equal(gpq_begin(clients[n - 1], 1, -1), -EDQUOT);
	assert_int_equal(gpq_end(clients[n - 1], 1), -EINVAL); // not begun
	while (n)
		gpq_close(clients[--n]);
}

static void test_too_fast(void **state)
{
	struct gpq_client *c = connect_client(), *other;
	int r = 0;
	(void)state;
	assert_int_equal(gpq_begin(c, 1, -1), 0);
	deaf = true;
	for (unsigned i = 0; r == 0 && i < 100000; i++)
		r = gpq_begin(c, 2, 0);
	assert_int_equal(r, -EAGAIN);
	assert_int_equal(gpq_begin(c, 3, 1), -EAGAIN);
	assert_int_equal(gpq_end(c, 3), -EINVAL); // not begun
	assert_int_equal(gpq_end(c, 2), 0);       // by the end of the connection
	assert_int_equal(c->fd, -1);
	deaf = false;
	other = connect_client();
	assert_int_equal(gpq_begin(other, 1, -1), 0);
	c->retry_ns = 0;
	assert_int_equal(gpq_begin(c, 1, -1), 0);
	gpq_close(c);
	gpq_close(other);
}

static void test_places(void **state)
{
	struct sockaddr_un longest;
	struct gpq_client *c;
	char text[200], *own;
	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	assert_null(gpq_connect(text));
	assert_int_equal(errno, ENAMETOOLONG);
	text[sizeof(longest.sun_path) - 1] = '\0';
	c = gpq_connect(text);
	assert_non_null(c);
	gpq_close(c);

	setenv("GPQ_SCHED_SOCKET", path, 1);
	c = gpq_connect(NULL);
	await_status(c, "active 0\nclients 1\n");
	gpq_close(c);
	setenv("GPQ_SCHED_SOCKET", "", 1);
	setenv("XDG_RUNTIME_DIR", "/nosuch", 1);
	c = gpq_connect(NULL);
	assert_string_equal(c->places[0].sun_path, "/nosuch/gpq-sched/socket");
	assert_string_equal(c->places[1].sun_path, "/run/gpq-sched/socket");
	gpq_close(c);
	unsetenv("GPQ_SCHED_SOCKET");
	setenv("XDG_RUNTIME_DIR", "relative", 1);
	c = gpq_connect(NULL);
	assert_string_equal(c->places[0].sun_path, "/run/gpq-sched/socket");
	assert_string_equal(c->places[1].sun_path, "");
	gpq_close(c);

	stop_server();
	snprintf(path, sizeof(path), "%s/gpq-sched/socket", dir);
	start_server(); // makes the directory
	setenv("XDG_RUNTIME_DIR", dir, 1);
	c = gpq_connect(NULL);
	assert_int_equal(gpq_begin(c, 1, -1), 0);
	gpq_close(c);
	stop_server();
	own = strrchr(path, '/');
	*own = '\0';
	assert_int_equal(rmdir(path), 0);
}

// An answer by somebody who is no scheduler of ours.
static void test_answers(void **state)
{
	static const struct {
		const char *line;
		int result;
	} cases[] = {
		{"ok", 0},
		{"ok off=8 missed=2 ns=5", 2},
		{"ok new=1 missed=99999999999999999999", INT32_MAX},
		{"error ended early", -ECANCELED},
		{"error expired x", -ESTALE},
		{"error limit x", -EDQUOT},
		{"error id x", -EINVAL},
		{"error request x", -EINVAL},
		{"error ", -EPROTO},
		{"okay", 77},
		{"error", 77},
		{"", 77},
	};
	static struct gpq_client c;

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		c.sent = 1;
		c.answered = 0;
		c.result = 77;
		c.len = (size_t)snprintf(c.in, sizeof(c.in), "%s\n", cases[i].line);
		parse_lines(&c);
		assert_int_equal(c.result, cases[i].result);
		assert_int_equal(c.answered, cases[i].result != 77);
		assert_int_equal(c.len, 0);
	}
	memset(c.in, 'x', sizeof(c.in)); // a line without end
	c.len = sizeof(c.in);
	c.text_len = 0;
	parse_lines(&c);
	assert_int_equal(c.len, 0);
	assert_int_equal(c.text_len, sizeof(c.in));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin_test, end_test)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_begin_and_end), TEST(test_words),     TEST(test_descriptor_0),
		TEST(test_locks),         TEST(test_no_answer), TEST(test_silent),
		TEST(test_many_hints),    TEST(test_status),    TEST(test_no_server),
		TEST(test_restart),       TEST(test_fork),      TEST(test_too_many_connections),
		TEST(test_too_fast),      TEST(test_places),    TEST(test_answers),
	};
	return files_allowed(1024) ? cmocka_run_group_tests(tests, NULL, NULL) : 0;
}
