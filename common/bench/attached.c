// Attaching to the measured process and serving it; attached.h.
#include "common/bench/attached.h"

#include "common/holder/ptrace.h"
#include "common/host/clock.h"
#include "common/host/xalloc.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define SECOND         1000000000ull
#define DYING_MS       2000
#define KILL_MARGIN_NS (30 * SECOND) // of bench alone, above the driver's preemption timeout (9 s)

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
	struct pollfd p = {.fd = signals, .events = POLLIN};
	uint64_t now;
	do {
		now = clock_ns();
		uint64_t left = until > now ? until - now : 0;
		struct timespec t = {(time_t)(left / SECOND), (long)(left % SECOND)};
		if (ppoll(&p, 1, &t, NULL) > 0 && bench_signals_stop(signals))
			return false;
	} while (now < until);
	return true;
}

struct attached_target *attached_open(pid_t pid, int signals, struct kfd_failure *f)
{
	struct sigevent e = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL};
	struct attached_target *s = xcalloc(1, sizeof(*s));
	s->watch.mem = -1;
	s->signals = signals;
	prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0); // the default lets wake-ups be 50 us late
	int r = timer_create(CLOCK_MONOTONIC, &e, &s->killer);
	if (r)
		kfd_fail(f, KFD_FAULT_SYSTEM, "make a timer", strerror(errno));
	r = r || kfd_target_pin(&s->target, pid, 0, f) ||
	    kfd_session_open(&s->session, &s->target, true, f) ||
	    kfd_session_refresh(&s->session, f);
	if (!r && (r = kfd_watch_init(&s->watch, pid)))
		kfd_fail(f, KFD_FAULT_SYSTEM, "open the target's memory", strerror(errno));
	if (!r)
		return s;
	free(s);
	return NULL;
}

void attached_close(struct attached_target *s)
{
	kfd_session_close(&s->session);
	kfd_watch_fini(&s->watch);
	if (s->end == ATTACHED_LIVES || s->end == ATTACHED_STOPPED)
		tracee_rescue(s->target.pid);
	kfd_target_unpin(&s->target);
	timer_delete(s->killer);
	free(s);
}

bool attached_out_of_reach(struct attached_target *s)
{
	struct pollfd dead = {.fd = s->target.pidfd, .events = POLLIN};
	if (s->end == ATTACHED_LIVES)
		s->end = poll(&dead, 1, DYING_MS) == 1 ? ATTACHED_GONE : ATTACHED_LOST;
	return false;
}

// Serves the target once, without waiting.
static void serve(struct attached_target *s)
{
	struct pollfd p[] = {{.fd = s->session.events, .events = POLLIN},
			     {.fd = s->target.pidfd, .events = POLLIN}};
	if (s->end != ATTACHED_LIVES)
		return;
	bool gone = tracee_serve(s->target.pid) == TRACEE_GONE;
	if (!gone && poll(p, 2, 0) <= 0)
		return;
	if (gone || p[1].revents)
		s->end = ATTACHED_GONE;
	else if (kfd_session_events(&s->session, &s->failure))
		attached_out_of_reach(s);
}

bool attached_wait(struct attached_target *s, uint64_t until)
{
	struct pollfd p[] = {{.fd = s->signals, .events = POLLIN},
			     {.fd = s->session.events, .events = POLLIN},
			     {.fd = s->target.pidfd, .events = POLLIN}};
	uint64_t now;
	do {
		now = clock_ns();
		uint64_t left = until > now ? until - now : 0;
		struct timespec t = {(time_t)(left / SECOND), (long)(left % SECOND)};
		if (ppoll(p, 3, &t, NULL) <= 0)
			continue;
		serve(s);
		if (p[0].revents && bench_signals_stop(s->signals) && s->end == ATTACHED_LIVES)
			s->end = ATTACHED_STOPPED;
		// Again: the SIGCHLD of a stop after the first call has been read by now.
		serve(s);
	} while (s->end == ATTACHED_LIVES && clock_ns() < until);
	return s->end == ATTACHED_LIVES;
}

void attached_holds(struct attached_target *s, uint64_t ns)
{
	uint64_t at = ns ? ns + KILL_MARGIN_NS : 0;
	struct itimerspec when = {.it_value = {(time_t)(at / SECOND), (long)(at % SECOND)}};
	timer_settime(s->killer, 0, &when, NULL);
}
