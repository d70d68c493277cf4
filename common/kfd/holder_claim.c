// How long queues stay suspended: claims and the timers that end them.
#include "common/kfd/holder_priv.h"

#include <signal.h>
#include <sys/timerfd.h>

// The kernel's timer fires this much later than ours, which normally has done its work by then.
#define KILL_MARGIN_NS 1000000000ull

uint64_t holder_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t later(const struct claim *c, uint64_t until)
{
	return c->made && c->until_ns > until ? c->until_ns : until;
}

uint64_t claim_until(const struct holder *h)
{
	uint64_t until = later(&h->lasting, 0);

	for (unsigned i = 0; i < HOLDER_MAX_CLIENTS; i++)
		if (h->clients[i].fd >= 0)
			until = later(&h->clients[i].tied, until);
	return until;
}

// The next moment at which some claim ends; 0: never.
static uint64_t next_end(const struct holder *h)
{
	uint64_t next = FOREVER;

	if (h->lasting.made && h->lasting.until_ns < next)
		next = h->lasting.until_ns;
	for (unsigned i = 0; i < HOLDER_MAX_CLIENTS; i++) {
		const struct client *c = &h->clients[i];

		if (c->fd >= 0 && c->tied.made && c->tied.until_ns < next)
			next = c->tied.until_ns;
	}
	return next == FOREVER ? 0 : next;
}

static struct itimerspec at(uint64_t ns)
{
	return (struct itimerspec){.it_value = {.tv_sec = (time_t)(ns / 1000000000u),
						.tv_nsec = (long)(ns % 1000000000u)}};
}

// A timer whose signal is SIGKILL works even on a process that is stopped; and our death resumes
// the queues.
static void arm_killer(struct holder *h, uint64_t until)
{
	struct sigevent e = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL};
	bool wanted = until != 0 && until != FOREVER;
	struct itimerspec when = at(wanted ? until + KILL_MARGIN_NS : 0);

	if (h->armed_kill == (wanted ? until : 0))
		return;
	h->armed_kill = wanted ? until : 0;
	if (!h->has_killer)
		h->has_killer = timer_create(CLOCK_MONOTONIC, &e, &h->killer) == 0;
	if (h->has_killer)
		timer_settime(h->killer, TIMER_ABSTIME, &when, NULL);
}

void claim_arm(struct holder *h)
{
	uint64_t next = next_end(h);
	struct itimerspec when = at(next);

	if (h->armed_next != next)
		timerfd_settime(h->timer, TFD_TIMER_ABSTIME, &when, NULL);
	h->armed_next = next;
	arm_killer(h, claim_until(h));
}

void claim_drop_all(struct holder *h)
{
	h->lasting.made = false;
	for (unsigned i = 0; i < HOLDER_MAX_CLIENTS; i++)
		h->clients[i].tied.made = false;
	h->follows = false;
	h->follow.num_gpus = 0;
}

static void expire(struct claim *c, uint64_t now)
{
	if (c->made && c->until_ns <= now)
		c->made = false;
}

void claim_expire(struct holder *h)
{
	uint64_t now = holder_now();
	bool had = claim_until(h) != 0;

	expire(&h->lasting, now);
	for (unsigned i = 0; i < HOLDER_MAX_CLIENTS; i++)
		expire(&h->clients[i].tied, now);
	if (had && claim_until(h) == 0)
		serve_release(h);
	claim_arm(h);
}
