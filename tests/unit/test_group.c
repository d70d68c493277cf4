// common/holder/group.h with holders that this test plays: it listens where gpq looks for the
// holder of a process, so that no driver is needed.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/holder/rundir.h"
#include "common/holder/group.h"
#include "common/host/clock.h"

#include <malloc.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#if !__GLIBC_PREREQ(2, 33)
#define mallinfo2() ((struct { size_t uordblks; }){(size_t)mallinfo().uordblks})
#endif

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

static bool is_kept(const struct group_member *m, const void *arg)
{
	return m == arg;
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

// A holder that is gone when it is to be asked: the member has failed, or ended with its process.
static void test_gone(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		const bool ended = i & 1, held = i & 2;
		struct group g = {.attach = true, .nowait = true, .patience_ms = PATIENT};
		struct player a = begin_player();
		struct group_member *m = group_add(&g, a.pid, NULL);
		assert_string_equal(heard(&a), "release keep\n");
		attach(&a, &g);
		if (held) {
			group_ask(&g, true);
			answer(&a, &g, QUEUE "suspended latency_ns=7\n" OK);
			assert_true(group_is_off(m));
		}
		shutdown(a.fd, SHUT_RDWR);
		if (ended)
			end_process(&a);
		group_ask(&g, !held);
		assert_int_equal(m->state, ended ? MEMBER_ENDED : MEMBER_FAILED);
		assert_int_equal(m->place, MEMBER_RUNS);
		assert_true(m->link.fd < 0 && !group_is_off(m));
		assert_int_equal(g.asked, 0);
		group_fini(&g);
		end_player(&a);
	}
}

// A process that is no more when it is to be taken in leaves nothing, neither in the group nor in
// memory.
static void test_gone_before(void **state)
{
	struct group g = {.attach = true};
	struct player a = begin_player();
	size_t used[2];
	(void)state;
	end_process(&a);
	for (unsigned i = 0; i < 2; i++) {
		struct kfd_selection *sel = calloc(1, sizeof(*sel));
		assert_null(group_add(&g, a.pid, sel));
		used[i] = mallinfo2().uordblks;
	}
	assert_int_equal(used[0], used[1]);
	assert_int_equal(g.n, 0);
	group_fini(&g);
	end_player(&a);
}

// Without `nowait` the end of a holder is waited for, which may be a child; children that are none
// are left to whom they belong.
static void test_letting_go(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		struct group g = {.attach = true, .nowait = true, .patience_ms = PATIENT};
		struct player a = begin_player();
		struct group_member *m = group_add(&g, a.pid, NULL);
		const pid_t child = fork();
		siginfo_t how;
		if (!child && i < 2)
			_exit(0);
		while (!child && prctl(PR_SET_PDEATHSIG, SIGKILL) == 0)
			pause();
		if (i < 2)
			assert_int_equal(waitid(P_PID, (id_t)child, &how, WEXITED | WNOWAIT), 0);
		m->holder = i ? child : 0;
		g.nowait = i == 2; // does not end, and is not waited for: KFD_END_MS
		const uint64_t begin = clock_ns();
		group_keep(&g, is_kept, NULL);
		assert_true(clock_ns() - begin < KFD_END_MS * UINT64_C(1000000));
		assert_int_equal(g.n, 0);
		if (i == 2)
			kill(child, SIGKILL);
		assert_int_equal(waitpid(child, NULL, 0), i == 1 ? -1 : child);
		group_fini(&g);
		end_player(&a);
	}
}

// Memory of the processes that play holders: read and write index of the queue of each.
static uint64_t (*indices)[2];

static const char *queue_at(unsigned place, const char *result)
{
	static char text[256];
	snprintf(text, sizeof(text), QUEUE "%s read=%p write=%p\n" OK, result,
		 (void *)&indices[place][0], (void *)&indices[place][1]);
	return text;
}

static void look_until(struct group *g, const struct group_member *m, enum member_look look)
{
	while (m->look != look) {
		sched_yield();
		group_take(g);
	}
}

// One is idle and left alone; once it has work it is suspended, and the other not once more.
static void test_idle(void **state)
{
	struct group g = {.attach = true, .nowait = true, .patience_ms = PATIENT, .idle_ns = 1};
	struct group_member *m[2];
	struct player p[2];
	(void)state;
	indices = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(indices, MAP_FAILED);
	indices[1][1] = 5;
	for (unsigned i = 0; i < 2; i++) {
		p[i] = begin_player();
		m[i] = group_add(&g, p[i].pid, NULL);
		assert_string_equal(heard(&p[i]), "release keep\n");
		answer(&p[i], &g, OK);
		assert_string_equal(heard(&p[i]), "queues addresses\n");
		answer(&p[i], &g, queue_at(i, "running"));
		look_until(&g, m[i], LOOK_NONE);
	}
	group_ask(&g, true);
	assert_string_equal(heard(&p[1]), "suspend tie grace=0 for_ns=0\n");
	answer(&p[1], &g, QUEUE "suspended latency_ns=7\n" OK);
	look_until(&g, m[0], LOOK_NONE);
	assert_int_equal(m[0]->place, MEMBER_IDLE);
	assert_string_equal(heard(&p[0]), "");
	for (unsigned work = 0; work < 2; work++) {
		indices[0][1] = work;
		for (unsigned looks = 0; looks < 2; looks++) { // the first is answered later
			group_look_at_idle(&g);
			assert_int_equal(m[1]->look, LOOK_NONE);
			assert_string_equal(heard(&p[1]), "");
			assert_string_equal(heard(&p[0]),
					    work && looks ? "suspend tie grace=0 for_ns=0\n" : "");
			look_until(&g, m[0], LOOK_NONE);
		}
	}
	answer(&p[0], &g, QUEUE "suspended latency_ns=7\n" OK);
	group_keep(&g, is_kept, m[0]);
	// A member that was idle at the last look has work when the next one decides. Meanwhile the
	// hold may have been released: then it runs on.
	for (unsigned hold = 0; hold < 2; hold++) {
		group_ask(&g, false);
		assert_string_equal(heard(&p[0]), hold ? "" : "release keep\n");
		if (!hold)
			answer(&p[0], &g, OK);
		indices[0][1] = 0;
		group_sample(&g);
		look_until(&g, m[0], LOOK_NONE);
		indices[0][1] = 1;
		group_ask(&g, true);
		group_ask(&g, hold);
		assert_int_equal(m[0]->look, LOOK_TO_DECIDE);
		look_until(&g, m[0], LOOK_NONE);
		assert_int_equal(m[0]->place, hold ? MEMBER_HELD : MEMBER_RUNS);
		assert_string_equal(heard(&p[0]), hold ? "suspend tie grace=0 for_ns=0\n" : "");
	}
	// An idle one that is asked for its queues meanwhile gets no second request, nor any once
	// all run.
	answer(&p[0], &g, QUEUE "suspended latency_ns=7\n" OK);
	group_ask(&g, false);
	answer(&p[0], &g, OK);
	indices[0][1] = 0;
	group_sample(&g);
	look_until(&g, m[0], LOOK_NONE);
	group_ask(&g, true);
	look_until(&g, m[0], LOOK_NONE);
	assert_int_equal(m[0]->place, MEMBER_IDLE);
	m[0]->stale = true;
	group_look(&g);
	assert_string_equal(heard(&p[0]), "release keep\nqueues addresses\n");
	look_until(&g, m[0], LOOK_NONE);
	indices[0][1] = 1;
	group_sample(&g);
	look_until(&g, m[0], LOOK_NONE);
	group_look_at_idle(&g);
	assert_string_equal(heard(&p[0]), "");
	group_ask(&g, false);
	answer(&p[0], &g, queue_at(0, "running"));
	look_until(&g, m[0], LOOK_NONE);
	group_look_at_idle(&g);
	assert_string_equal(heard(&p[0]), "");
	group_fini(&g);
	end_player(&p[0]);
	end_player(&p[1]);
	munmap(indices, 4096);
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

// Looks until no request follows; each answer has a queue, of which sysfs knows none.
static unsigned count_questions(struct player *p, struct group *g)
{
	unsigned n = 0;
	for (; n < 100; n++) {
		group_look(g);
		if (!*heard(p))
			break;
		answer(p, g, QUEUE "running\n" OK);
	}
	return n;
}

// A holder that knows other queues than sysfs is asked again 20 times in a row, then not before
// something changes, and then as often again.
static void test_disagreement(void **state)
{
	struct group g = {.attach = true, .nowait = true, .patience_ms = PATIENT};
	struct player a = begin_player();
	struct group_member *m = group_add(&g, a.pid, NULL);
	(void)state;
	assert_string_equal(heard(&a), "release keep\n");
	attach(&a, &g); // that sysfs was not read yet is the first disagreement
	assert_int_equal(count_questions(&a, &g), 20);
	group_set(&g, 0, 1);
	assert_int_equal(count_questions(&a, &g), 21);
	// Agreement in between: what came before no longer counts.
	for (unsigned i = 0; i < 3; i++) {
		m->stale |= i == 0;
		group_look(&g);
		assert_string_equal(heard(&a), i < 2 ? "queues addresses\n" : "");
		if (i < 2)
			answer(&a, &g, i ? OK : QUEUE "running\n" OK);
	}
	m->stale = true;
	assert_int_equal(count_questions(&a, &g), 21);
	group_fini(&g);
	end_player(&a);
}

// After exec the new address space is read, not the old one, of which nothing is left but the
// number of packets; a look that is on its way is not waited for.
static void test_exec(void **state)
{
	struct group g = {.attach = true, .nowait = true, .patience_ms = PATIENT};
	uint64_t packets;
	char any;
	(void)state;
	indices = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(indices, MAP_FAILED);
	struct player a = begin_player();
	struct group_member *m = group_add(&g, a.pid, NULL);
	assert_string_equal(heard(&a), "release keep\n");
	answer(&a, &g, OK);
	assert_string_equal(heard(&a), "queues addresses\n");
	answer(&a, &g, queue_at(0, "running"));
	look_until(&g, m, LOOK_NONE);
	group_count_begin(&g);
	look_until(&g, m, LOOK_NONE);
	indices[0][0] = indices[0][1] = 3;
	group_sample(&g);
	look_until(&g, m, LOOK_NONE);
	group_sample(&g);
	assert_int_equal(m->look, LOOK_POSTED);
	assert_int_not_equal(pread(m->watch.memory.fd, &any, 1, 0), 0);
	kill(a.pid, SIGUSR1);
	while (pread(m->watch.memory.fd, &any, 1, 0))
		sched_yield();
	assert_ptr_equal(group_add(&g, a.pid, NULL), m);
	assert_int_equal(m->look, LOOK_NONE);
	assert_int_not_equal(m->state, MEMBER_FAILED);
	assert_int_not_equal(pread(m->watch.memory.fd, &any, 1, 0), 0);
	group_count_end(&g, &packets);
	assert_int_equal(packets, 3);
	group_fini(&g);
	end_player(&a);
	munmap(indices, 4096);
}

// That a program has ended is told also where none of its queues is watched.
static void test_over(void **state)
{
	struct kfd_watch w;
	char any;
	(void)state;
	struct player a = begin_player();
	assert_int_equal(kfd_watch_init(&w, a.pid), 0);
	assert_int_equal(w.n, 0);
	assert_false(kfd_watch_is_over(&w));
	kill(a.pid, SIGUSR1);
	while (pread(w.memory.fd, &any, 1, 0))
		sched_yield();
	assert_true(kfd_watch_is_over(&w));
	kfd_watch_fini(&w);
	end_player(&a);
}

// What is saved of a queue is added up by XCC; of no compute queue, and not of more XCCs than there
// is room for.
static void test_saved(void **state)
{
	struct kfd_ctx_header headers[KFD_XCC_MAX + 1] = {0};
	const uint64_t at = (uintptr_t)headers;
	const uint32_t size = sizeof(headers[0]);
	struct kfd_queue_entry queue[] = {
		{.queue_type = KFD_SNAPSHOT_COMPUTE, .ctx_save_restore_address = at + size},
		{.queue_type = KFD_SNAPSHOT_COMPUTE_AQL, .ctx_save_restore_address = at},
		{.queue_type = KFD_SNAPSHOT_SDMA, .ctx_save_restore_address = at},
		{.queue_type = KFD_SNAPSHOT_COMPUTE_AQL},
		{.queue_type = KFD_SNAPSHOT_COMPUTE_AQL, .ctx_save_restore_address = at}};
	unsigned xccs[] = {2, KFD_XCC_MAX, 1, 1, KFD_XCC_MAX + 1};
	const unsigned want[] = {2, KFD_XCC_MAX, 0, 0, 0};
	uint64_t bytes[KFD_XCC_MAX + 1] = {0};
	struct kfd_watch w;
	(void)state;
	assert_int_equal(kfd_watch_init(&w, getpid()), 0);
	w.n = COUNT(queue);
	w.queue = queue;
	w.xccs = xccs;
	for (unsigned i = 0; i <= KFD_XCC_MAX; i++)
		headers[i].wave_state_size = 1u << i;
	for (unsigned i = 0; i < COUNT(queue); i++) {
		queue[i].ctx_save_restore_area_size = size;
		assert_int_equal(kfd_watch_saved(&w, i, bytes), want[i]);
	}
	for (unsigned i = 0; i < KFD_XCC_MAX; i++)
		assert_int_equal(bytes[i], (1u << i) + (i < 2 ? 2u << i : 0));
	assert_int_equal(bytes[KFD_XCC_MAX], 0);
	memory_close(&w.memory);
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

// A holder that ends as it is asked: another one is asked, unless none is to be started.
static void test_ends_as_asked(void **state)
{
	(void)state;
	for (unsigned start = 0; start <= 1; start++) {
		const struct group_talk talk = {.request = "status\n", .start = start};
		struct group g = {.dry = true};
		struct player a = begin_player();
		struct pollfd client = {.fd = a.listener, .events = POLLIN};
		char text[64];
		const pid_t server = fork();
		if (!server) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			poll(&client, 1, -1);
			const int fd = accept(a.listener, NULL, NULL);
			recv(fd, text, sizeof(text), 0);
			close(fd);
			serve(&a);
		}
		const struct group_member *m = group_add(&g, a.pid, NULL);
		group_request(&g, &talk);
		assert_int_equal(m->state, MEMBER_ASKED);
		group_answers(&g, &talk);
		assert_int_equal(m->state, start ? MEMBER_READY : MEMBER_FAILED);
		group_fini(&g);
		kill(server, SIGKILL);
		waitpid(server, NULL, 0);
		end_player(&a);
	}
}

// What is kept of watched queues is given back: rounds that are alike take no more.
static void test_watch_memory(void **state)
{
	static struct kfd_outcome queues[3];
	const struct kfd_answer a = {.queues = queues, .num = 3};
	struct kfd_watch w = {.memory.fd = -1};
	size_t before = 0;
	(void)state;
	for (unsigned i = 0; i < 64; i++) {
		kfd_watch_choose(&w, &a);
		assert_true(w.n == 3 && w.queue && w.xccs);
		kfd_watch_clear(&w);
		assert_true(w.n == 0 && !w.queue && !w.xccs);
		before = i == 31 ? mallinfo2().uordblks : before;
	}
	assert_int_equal(mallinfo2().uordblks, before);
}

// Whether a member has work counts for its GPUs, unless its caller takes it out.
static void test_work(void **state)
{
	struct group_member a = {
		.state = MEMBER_READY, .indices = INDICES_SILENT, .watch = {.n = 1}, .gpus = 1};
	struct group_member b = {.state = MEMBER_READY, .gpus = 2};
	struct group_member *v[] = {&a, &b};
	const struct group g = {.v = v, .n = 2};
	(void)state;
	assert_int_equal(group_work(&g), 1);
	b.indices = INDICES_SILENT;
	b.watch.n = 1;
	assert_int_equal(group_work(&g), 3);
	a.excused = true;
	assert_int_equal(group_work(&g), 2);
	b.state = MEMBER_ENDED;
	assert_int_equal(group_work(&g), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_watch_memory), cmocka_unit_test(test_nowait),
		cmocka_unit_test(test_silent_end),   cmocka_unit_test(test_refused),
		cmocka_unit_test(test_gone),         cmocka_unit_test(test_gone_before),
		cmocka_unit_test(test_letting_go),   cmocka_unit_test(test_idle),
		cmocka_unit_test(test_most),         cmocka_unit_test(test_disagreement),
		cmocka_unit_test(test_exec),         cmocka_unit_test(test_waiting),
		cmocka_unit_test(test_saved),        cmocka_unit_test(test_ends_as_asked),
		cmocka_unit_test(test_over),         cmocka_unit_test(test_work),
	};
	return cmocka_run_group_tests(tests, begin_tests, end_tests);
}
