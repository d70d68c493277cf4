// common/holder/group.h with holders that this test plays: it listens where gpq looks for the
// holder of a process, so that no driver is needed.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/holder/rundir.h"
#include "common/holder/group.h"

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define OK      "ok holder=1 target=2 held=0 since_ns=0 until_ns=0 follows=0 kept=1 ended=0\n"
#define QUEUE   "queue id=0 gpu=1 type=compute packets=aql result="
#define PATIENT 60000 // ms; no test takes so long

static char dir[64];

// A process to be held, and its holder's socket and connection.
struct player {
	pid_t pid;
	int listener, fd;
	char name[KFD_SOCKET_NAME_SIZE];
};

static void run_another(int sig)
{
	(void)sig;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	execl("/bin/sleep", "sleep", "1000", (char *)NULL);
}

static int begin_tests(void **state)
{
	(void)state;
	snprintf(dir, sizeof(dir), "/tmp/test_group.XXXXXX");
	setenv("XDG_RUNTIME_DIR", mkdtemp(dir), 1);
	signal(SIGUSR1, run_another);
	return 0;
}

static int end_tests(void **state)
{
	char path[80];
	(void)state;
	snprintf(path, sizeof(path), "%s/gpq", dir);
	return rmdir(path) || rmdir(dir);
}

static struct player begin_player(void)
{
	struct player p = {.pid = fork(), .fd = -1};
	struct kfd_failure f;
	if (!p.pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	const int at = kfd_rundir_open(&f);
	assert_true(at >= 0);
	kfd_socket_name(p.name, p.pid, kfd_target_start(p.pid));
	p.listener = kfd_socket_listen(at, p.name);
	assert_true(p.listener >= 0);
	close(at);
	return p;
}

static void end_process(struct player *p)
{
	kill(p->pid, SIGKILL);
	waitpid(p->pid, NULL, 0);
}

static void end_player(struct player *p)
{
	char path[160];
	end_process(p);
	snprintf(path, sizeof(path), "%s/gpq/%s", dir, p->name);
	unlink(path);
	close(p->listener);
	close(p->fd);
}

// What its holder has been sent.
static const char *heard(struct player *p)
{
	static char text[512];
	ssize_t n;
	if (p->fd < 0)
		p->fd = accept(p->listener, NULL, NULL);
	n = recv(p->fd, text, sizeof(text) - 1, MSG_DONTWAIT);
	text[n > 0 ? n : 0] = '\0';
	return text;
}

static void answer(struct player *p, struct group *g, const char *text)
{
	assert_int_equal(send(p->fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
	group_take(g);
}

// After "release keep" was heard.
static void attach(struct player *p, struct group *g)
{
	answer(p, g, OK);
	assert_string_equal(heard(p), "queues addresses\n");
	answer(p, g, OK);
}

// A holder says nothing; meanwhile the other is attached to, held and released.
static void test_nowait(void **state)
{
	struct group g = {.attach = true,
			  .nowait = true,
			  .pass = true,
			  .patience_ms = PATIENT,
			  .limit_ns = 5};
	struct player a = begin_player(), b = begin_player();
	struct group_member *silent = group_add(&g, a.pid, NULL);
	struct group_member *m = group_add(&g, b.pid, NULL);
	(void)state;
	assert_true(silent->state == MEMBER_ASKED && silent->joins && m->state == MEMBER_ASKED &&
		    m->joins);
	assert_int_equal(g.asked, 0); // nothing waits for those that are attached to
	assert_string_equal(heard(&a), "release keep\n");
	assert_string_equal(heard(&b), "release keep\n");
	attach(&b, &g);
	assert_true(m->state == MEMBER_READY && !m->joins);
	group_ask(&g, true);
	assert_int_equal(g.asked, 1);
	assert_string_equal(heard(&b), "suspend tie grace=0 for_ns=5\n");
	assert_false(group_is_off(m));
	answer(&b, &g, QUEUE "suspended latency_ns=7\n" OK);
	assert_true(group_is_off(m));
	assert_int_equal(g.calls, 1);
	assert_int_equal(g.asked, 0);
	group_look(&g); // the number of its queues was not known before
	assert_string_equal(heard(&b), "queues addresses\n");
	assert_true(group_is_off(m));
	answer(&b, &g, OK);
	assert_int_equal(silent->state, MEMBER_ASKED);
	g.patience_ms = 1;
	while (silent->state == MEMBER_ASKED)
		group_take(&g);
	assert_true(silent->joins && silent->state == MEMBER_SILENT && silent->link.fd >= 0);
	assert_string_equal(silent->failure.text,
			    "the holder did not answer within 0 s; gpq resume ends it");
	g.patience_ms = PATIENT;
	// Late, it is taken into what holds then.
	attach(&a, &g);
	assert_int_equal(silent->state, MEMBER_ASKED);
	assert_string_equal(heard(&a), "suspend tie grace=0 for_ns=5\n");
	assert_int_equal(g.asked, 0); // it still joins
	group_ask(&g, false);
	assert_int_equal(g.asked, 1);
	assert_string_equal(heard(&a), ""); // one request at a time
	answer(&a, &g, QUEUE "suspended latency_ns=7\n" OK);
	assert_string_equal(heard(&a), "release keep\n");
	assert_string_equal(heard(&b), "release keep\n");
	answer(&b, &g, OK);
	assert_int_equal(g.asked, 0);
	answer(&a, &g, OK);
	assert_false(silent->joins);
	group_ask(&g, true);
	assert_int_equal(g.asked, 2);
	answer(&a, &g, QUEUE "suspended latency_ns=7\n" OK);
	answer(&b, &g, QUEUE "suspended latency_ns=7\n" OK);
	assert_int_equal(g.asked, 0);
	assert_true(group_is_off(m) && group_is_off(silent));
	group_ask(&g, false);
	assert_false(group_is_off(m) || group_is_off(silent));
	group_fini(&g);
	end_player(&a);
	end_player(&b);
}

// One that was suspended, and its holder becomes silent about its queues; its process ends.
static void test_silent_end(void **state)
{
	struct group g = {.attach = true, .nowait = true, .patience_ms = PATIENT, .limit_ns = 5};
	struct player a = begin_player();
	struct group_member *m = group_add(&g, a.pid, NULL);
	(void)state;
	assert_string_equal(heard(&a), "release keep\n");
	attach(&a, &g);
	group_ask(&g, true);
	assert_string_equal(heard(&a), "suspend tie grace=0 for_ns=5\n");
	answer(&a, &g, QUEUE "error latency_ns=7\n" OK);
	assert_true(m->place == MEMBER_PARTLY && !group_is_off(m));
	group_ask(&g, true);
	answer(&a, &g, QUEUE "already latency_ns=0\n" OK);
	assert_true(group_is_off(m));
	group_look(&g);
	assert_true(group_is_off(m));
	g.patience_ms = 1;
	while (g.asked)
		group_take(&g);
	assert_false(group_is_off(m));
	end_process(&a);
	group_look(&g);
	assert_int_equal(m->state, MEMBER_ENDED);
	assert_int_equal(g.asked, 0);
	group_forget_ended(&g);
	assert_int_equal(g.n, 0);
	group_fini(&g);
	end_player(&a);
}

// Refused: not said, nor tried again, before it is sure that the process was not ending.
static void test_refused(void **state)
{
	struct group g = {.attach = true, .nowait = true, .patience_ms = PATIENT};
	struct player a = begin_player();
	struct group_member *m = group_add(&g, a.pid, NULL);
	(void)state;
	assert_string_equal(heard(&a), "release keep\n");
	answer(&a, &g, "error 4 already traced\n");
	assert_true(m->state == MEMBER_FAILED && m->link.fd < 0);
	assert_int_equal(g.asked, 0);
	assert_false(group_has_failed(m, m->failed_ns + 499999999));
	assert_true(group_has_failed(m, m->failed_ns + 500000000));
	group_retry(&g, m->tried_ns + 4999999999);
	assert_int_equal(m->state, MEMBER_FAILED);
	group_retry(&g, m->tried_ns + 5000000000);
	assert_int_equal(m->state, MEMBER_ASKED);
	assert_int_equal(g.asked, 1); // without `pass` attaching is waited for
	group_fini(&g);
	end_player(&a);
}

// The first so many of the chosen queues; when there is none any more, none of the others.
static void test_most(void **state)
{
	struct group g = {.attach = true, .nowait = true, .patience_ms = PATIENT, .limit_ns = 5};
	struct player a = begin_player();
	struct kfd_selection *three = calloc(1, sizeof(*three));
	(void)state;
	three->ids[three->num_ids++] = 3;
	group_set(&g, 0, 1);
	struct group_member *m = group_add(&g, a.pid, three);
	assert_string_equal(heard(&a), "release keep\n");
	answer(&a, &g, OK);
	assert_string_equal(heard(&a), "queues addresses\n");
	answer(&a, &g,
	       QUEUE "running\nqueue id=3 gpu=1 type=compute packets=aql result=running\n" OK);
	group_ask(&g, true);
	assert_string_equal(heard(&a), "suspend tie grace=0 for_ns=5 queues=3\n");
	answer(&a, &g, OK);
	group_ask(&g, false);
	assert_string_equal(heard(&a), "release keep\n");
	answer(&a, &g, OK);
	m->stale = true;
	group_look(&g);
	assert_string_equal(heard(&a), "queues addresses\n");
	answer(&a, &g, QUEUE "running\n" OK);
	group_ask(&g, true);
	assert_string_equal(heard(&a), "suspend tie grace=0 for_ns=5 queues=1024\n");
	group_fini(&g);
	end_player(&a);
}

// After exec the new address space is read, not the old one, of which nothing is left.
static void test_exec(void **state)
{
	struct group g = {.attach = true, .nowait = true, .patience_ms = PATIENT};
	struct player a = begin_player();
	struct group_member *m = group_add(&g, a.pid, NULL);
	char any;
	(void)state;
	assert_int_not_equal(pread(m->watch.memory.fd, &any, 1, 0), 0);
	kill(a.pid, SIGUSR1);
	while (pread(m->watch.memory.fd, &any, 1, 0))
		sched_yield();
	assert_ptr_equal(group_add(&g, a.pid, NULL), m);
	assert_int_not_equal(m->state, MEMBER_FAILED);
	assert_int_not_equal(pread(m->watch.memory.fd, &any, 1, 0), 0);
	group_fini(&g);
	end_player(&a);
}

static void serve(const struct player *p)
{
	struct pollfd client = {.fd = p->listener, .events = POLLIN};
	char text[512];
	poll(&client, 1, -1);
	const int fd = accept(p->listener, NULL, NULL);

	while (recv(fd, text, sizeof(text), 0) > 0)
		if (send(fd, OK, strlen(OK), MSG_NOSIGNAL) < 0)
			break;
	_exit(0);
}

// Without `nowait`, members are attached to when the functions return.
static void test_waiting(void **state)
{
	struct group g = {.attach = true, .held = true};
	struct player a = begin_player();
	pid_t server = fork();
	(void)state;
	if (!server) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		serve(&a);
	}
	struct group_member *m = group_add(&g, a.pid, NULL);
	assert_int_not_equal(m->state, MEMBER_FAILED);
	assert_int_equal(m->asked_for, REQUEST_HOLD);
	group_look(&g);
	assert_false(m->stale);
	group_ask(&g, false);
	group_wait(&g);
	assert_int_equal(m->asked_for, REQUEST_RELEASE);
	assert_true(m->state == MEMBER_READY && m->place == MEMBER_RUNS);
	group_fini(&g);
	waitpid(server, NULL, 0);
	end_player(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nowait),  cmocka_unit_test(test_silent_end),
		cmocka_unit_test(test_refused), cmocka_unit_test(test_most),
		cmocka_unit_test(test_exec),    cmocka_unit_test(test_waiting),
	};
	return cmocka_run_group_tests(tests, begin_tests, end_tests);
}
