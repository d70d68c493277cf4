// Attaching to the measured processes and serving them; attached.h.
#include "common/bench/attached.h"

#include "common/holder/ptrace.h"
#include "common/host/clock.h"
#include "common/host/xalloc.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define SECOND           1000000000ull
#define DYING_MS         2000
#define KILL_MARGIN_NS   (30 * SECOND) // of one alone, above the driver's preemption timeout (9 s)
#define HOLDER_MARGIN_NS (60 * SECOND) // of a holder's deadline, above the hold

int bench_signals_open(void)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

bool bench_signals_stop(int signals)
{
	struct signalfd_siginfo i;
	bool stop = false;
	while (read(signals, &i, sizeof(i)) == (ssize_t)sizeof(i))
		stop |= i.ssi_signo != SIGCHLD;
	return stop;
}

bool bench_signals_wait(int signals, uint64_t until)
{
	struct attached nobody = {.signals = signals};
	return attached_wait(&nobody, until);
}

// ---- attaching

static void open_alone(struct attached *a, const struct kfd_selection *sel)
{
	struct sigevent e = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL};
	struct attached_alone *s = a->alone = xcalloc(1, sizeof(*s));
	struct attached_process *p = a->v;
	struct kfd_failure *f = &p->failure;
	s->all = *sel;
	s->watch.mem = -1;
	int r = timer_create(CLOCK_MONOTONIC, &e, &s->killer);
	if (r)
		kfd_fail(f, KFD_FAULT_SYSTEM, "make a timer", strerror(errno));
	r = r || kfd_target_pin(&s->target, p->pid, 0, f) ||
	    kfd_session_open(&s->session, &s->target, true, f) ||
	    kfd_session_refresh(&s->session, f);
	if (!r && (r = kfd_watch_init(&s->watch, p->pid)))
		kfd_fail(f, KFD_FAULT_SYSTEM, "open the target's memory", strerror(errno));
	if (!r)
		kfd_watch_choose(&s->watch, &s->session, sel);
	s->open = !r;
	p->end = r ? ATTACHED_LOST : ATTACHED_LIVES;
	p->pidfd = s->target.pidfd;
	p->watch = &s->watch;
	p->outcome = s->outcome;
}

// What has become of the members.
static void take_ends(struct attached *a)
{
	for (size_t i = 0; i < a->group.n; i++) {
		const struct group_member *m = a->group.v[i];
		a->v[i].end = m->failed ? ATTACHED_LOST : m->ended ? ATTACHED_GONE : a->v[i].end;
		if (m->failed)
			a->v[i].failure = m->failure;
	}
}

static void open_group(struct attached *a, const struct kfd_selection *sel)
{
	a->group.attach = true;
	for (size_t i = 0; i < a->n; i++) {
		struct attached_process *p = &a->v[i];
		struct kfd_selection *own = xcalloc(1, sizeof(*own));
		*own = sel[i];
		struct group_member *m = group_add(&a->group, p->pid, own);
		if (!m) {
			p->end = ATTACHED_LOST;
			kfd_fail(&p->failure, KFD_FAULT_GONE);
			return;
		}
		p->pidfd = m->target.pidfd;
		p->watch = &m->watch;
	}
	group_look(&a->group);
	take_ends(a);
}

bool attached_open(struct attached *a, const pid_t *pids, const struct kfd_selection *sel, size_t n,
		   unsigned grace, uint64_t longest_hold_ns, int signals)
{
	*a = (struct attached){.n = n, .v = xcalloc(n, sizeof(*a->v)), .signals = signals};
	a->group.grace = grace;
	a->group.limit_ns = longest_hold_ns + HOLDER_MARGIN_NS;
	for (size_t i = 0; i < n; i++)
		a->v[i].pid = pids[i];
	prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0); // the default lets wake-ups be 50 us late
	if (n == 1)
		open_alone(a, sel);
	else
		open_group(a, sel);
	return !attached_failed(a);
}

void attached_close(struct attached *a)
{
	struct attached_alone *s = a->alone;
	if (s && s->open) {
		kfd_session_close(&s->session);
		kfd_watch_fini(&s->watch);
		if (a->v->end == ATTACHED_LIVES)
			tracee_rescue(a->v->pid);
		kfd_target_unpin(&s->target);
		timer_delete(s->killer);
	}
	free(s);
	group_fini(&a->group);
	free(a->v);
	*a = (struct attached){0};
}

const struct attached_process *attached_failed(const struct attached *a)
{
	for (size_t i = 0; i < a->n; i++)
		if (a->v[i].end)
			return &a->v[i];
	return NULL;
}

// ---- waiting and looking

// Of a process that is dying the kernel says a little later that it is dead. Returns false.
static bool out_of_reach(struct attached_process *p)
{
	struct pollfd dead = {.fd = p->pidfd, .events = POLLIN};
	if (!p->end)
		p->end = poll(&dead, 1, DYING_MS) == 1 ? ATTACHED_GONE : ATTACHED_LOST;
	return false;
}

static bool goes_on(const struct attached *a)
{
	return !a->stopped && !attached_failed(a);
}

// Serves the target once, without waiting.
static void serve(struct attached *a)
{
	struct attached_alone *s = a->alone;
	if (!s || !goes_on(a))
		return;
	struct pollfd p[] = {{.fd = s->session.events, .events = POLLIN},
			     {.fd = s->target.pidfd, .events = POLLIN}};
	bool gone = tracee_serve(s->target.pid) == TRACEE_GONE;
	if (!gone && poll(p, 2, 0) <= 0)
		return;
	if (gone || p[1].revents)
		a->v->end = ATTACHED_GONE;
	else if (kfd_session_events(&s->session, &a->v->failure))
		out_of_reach(a->v);
}

bool attached_wait(struct attached *a, uint64_t until)
{
	struct attached_alone *s = a->alone;
	struct pollfd p[] = {{.fd = a->signals, .events = POLLIN},
			     {.fd = s ? s->session.events : -1, .events = POLLIN},
			     {.fd = s ? s->target.pidfd : -1, .events = POLLIN}};
	uint64_t now = 0;
	while (goes_on(a) && (!now || now < until)) {
		now = clock_ns();
		uint64_t left = until > now ? until - now : 0;
		struct timespec t = {(time_t)(left / SECOND), (long)(left % SECOND)};
		if (ppoll(p, 3, &t, NULL) > 0) {
			serve(a);
			a->stopped |= p[0].revents && bench_signals_stop(a->signals);
			// Again: the SIGCHLD of a stop after the first call has been read by now.
			serve(a);
		}
		now = clock_ns();
	}
	return goes_on(a);
}

bool attached_look(struct attached *a, enum attached_look which, bool write)
{
	for (size_t i = 0; i < a->n; i++) {
		struct attached_process *p = &a->v[i];
		if (p->end || !kfd_watch_look(p->watch, &p->look[which], write))
			return out_of_reach(p);
	}
	return true;
}

bool attached_choose(struct attached *a, uint64_t queues)
{
	struct attached_alone *s = a->alone;
	if (!s) {
		group_look(&a->group);
		take_ends(a);
		return attached_wait(a, 0);
	}
	if (!attached_wait(a, 0))
		return false;
	if (kfd_session_refresh(&s->session, &a->v->failure))
		return out_of_reach(a->v);
	s->now = s->all;
	if (queues != UINT64_MAX)
		s->now.num_ids = 0;
	for (unsigned i = 0; queues != UINT64_MAX && i < s->session.num && s->now.num_ids < queues;
	     i++)
		if (kfd_selected(&s->all, &s->session.queues[i]))
			s->now.ids[s->now.num_ids++] = s->session.queues[i].queue_id;
	kfd_watch_choose(&s->watch, &s->session, &s->now);
	return true;
}

// ---- suspending and resuming

static void set_killer(struct attached_alone *s, uint64_t ns)
{
	uint64_t at = ns ? ns + KILL_MARGIN_NS : 0;
	struct itimerspec when = {.it_value = {(time_t)(at / SECOND), (long)(at % SECOND)}};
	timer_settime(s->killer, 0, &when, NULL);
}

static bool ask_alone(struct attached *a, bool hold, unsigned grace)
{
	struct attached_alone *s = a->alone;
	struct attached_process *p = a->v;
	a->asked_ns = clock_ns();
	int n = hold ? kfd_session_suspend(&s->session, &s->now, grace, false, s->outcome,
					   &p->failure)
		     : kfd_session_resume(&s->session, &s->now, s->outcome, &p->failure);
	p->took_ns = clock_ns() - a->asked_ns;
	p->outcomes = n > 0 ? (size_t)n : 0;
	return n >= 0 || out_of_reach(p);
}

static void wait_for_answers(const struct group *g)
{
	struct pollfd p[ATTACHED_MAX];
	nfds_t n = 0;
	for (size_t i = 0; i < g->n; i++)
		if (g->v[i]->asked)
			p[n++] = (struct pollfd){.fd = g->v[i]->link.fd, .events = POLLIN};
	poll(p, n, 1000);
}

// All requests go out, then answers are taken as they come, until the last one came.
static bool ask_holders(struct attached *a, bool hold)
{
	struct group *g = &a->group;
	uint64_t now = a->asked_ns = clock_ns();
	for (size_t i = 0; i < a->n; i++)
		a->v[i].took_ns = UINT64_MAX;
	group_ask(g, hold);
	while (g->asked && now < a->asked_ns + KFD_ANSWER_MS * 1000000ull) {
		wait_for_answers(g);
		group_take(g);
		now = clock_ns();
		for (size_t i = 0; i < a->n; i++)
			if (!g->v[i]->asked && a->v[i].took_ns == UINT64_MAX)
				a->v[i].took_ns = now - a->asked_ns;
	}
	for (size_t i = 0; i < a->n; i++) {
		a->v[i].outcome = g->v[i]->link.answer.queues;
		a->v[i].outcomes = g->v[i]->link.answer.num;
		if (g->v[i]->asked)
			a->v[i].end = ATTACHED_SILENT;
	}
	take_ends(a);
	return !g->asked;
}

bool attached_ask(struct attached *a, bool hold, unsigned grace, uint64_t hold_ns)
{
	if (a->alone && hold)
		set_killer(a->alone, hold_ns);
	bool done = a->alone ? ask_alone(a, hold, grace) : ask_holders(a, hold);
	if (a->alone && !hold && done)
		set_killer(a->alone, 0);
	for (size_t i = 0; i < a->n && hold && done; i++) {
		struct attached_process *p = &a->v[i];
		p->refused = KFD_RESULT_NONE;
		for (size_t k = p->outcomes; k-- > 0;)
			if (p->outcome[k].result != KFD_RESULT_SUSPENDED)
				p->refused = p->outcome[k].result;
	}
	return done;
}

void attached_reset(struct attached *a)
{
	if (a->alone)
		set_killer(a->alone, 0);
	else if (a->group.held && !a->group.asked) {
		group_ask(&a->group, false);
		group_wait(&a->group);
	}
}
