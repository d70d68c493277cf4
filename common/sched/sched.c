// The scheduler's loop; sched.h.
#include "common/sched/sched_priv.h"

#include "common/cli/err.h"
#include "common/host/clock.h"
#include "common/host/loop.h"
#include "common/host/xalloc.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define MS      UINT64_C(1000000)
#define NEVER   UINT64_MAX
#define LOOK_NS (100 * MS) // members that ended, queues that came
#define SCAN_NS (NEWCOMERS_SCAN_MS * MS)
#define AWAKE   50 // sampling takes one part in so many of a processor at most

enum { SIGNALS, HINTS, NEWCOMERS, FIXED };

static uint64_t lesser(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

// ---- does the work above go on?

// A packet's line has "HWq=" in every release of the runtime that logs packets
// [amdlog.packets]. What was there before is not news.
static void read_amd_log(struct sched *s, uint64_t now)
{
	static const char word[] = "HWq=0x";
	const size_t keep = sizeof(word) - 2;
	char text[65536];
	size_t have = 0;
	ssize_t n;
	// So much at a time that nobody's log keeps the scheduler from its work.
	for (int i = 0; i < 64 && (n = tail_read(&s->log, text + have, sizeof(text) - have)) > 0;
	     i++) {
		have += (size_t)n;
		if (memmem(text, have, word, sizeof(word) - 1))
			s->log_ns = now;
		if (have > keep) {
			memmove(text, text + have - keep, keep);
			have = keep;
		}
	}
}

static int end_of_log(int ms)
{
	(void)ms;
	return -1;
}

static int open_log(struct sched *s)
{
	if (!s->opts.log)
		return GPQ_OK;
	if (!tail_open(&s->log, s->opts.log, end_of_log))
		return err_sys(errno, NULL, "--log %s", s->opts.log);
	s->following_log = true;
	if (s->log.fd >= 0)
		s->log.at = (uint64_t)lseek(s->log.fd, 0, SEEK_END);
	return GPQ_OK;
}

static bool has_idle_members(const struct group *g)
{
	for (size_t i = 0; g->held && i < g->n; i++)
		if (g->v[i]->place == MEMBER_IDLE)
			return true;
	return false;
}

static bool is_hinted(const struct sched *s)
{
	return s->hints && hints_active(s->hints);
}

// While hints say that there is work, its queues need not say it.
static bool samples_class(const struct sched *s, size_t i)
{
	return i + 1 < s->n && (i > 0 || (s->opts.activity && !is_hinted(s))) &&
	       s->classes[i].group.n > 0;
}

static bool needs_samples(const struct sched *s)
{
	bool needs = s->following_log;
	for (size_t i = 0; i < s->n && !needs; i++)
		needs = samples_class(s, i) || has_idle_members(&s->classes[i].group);
	return needs;
}

// What the last sample saw counts while the class is sampled: one without members has no work.
static bool class_works(const struct sched *s, size_t i)
{
	return s->classes[i].has_work && samples_class(s, i);
}

static void sample_classes(struct sched *s, uint64_t now)
{
	uint64_t took;
	if (s->following_log)
		read_amd_log(s, now);
	for (size_t i = 0; i < s->n; i++) {
		struct sched_class *c = &s->classes[i];
		if (samples_class(s, i))
			group_sample(&c->group);
		group_look_at_idle(&c->group);
	}
	took = clock_ns() - now;
	s->sampled_ns = now;
	s->sample_every_ns = took * AWAKE > s->opts.sample_ns ? took * AWAKE : s->opts.sample_ns;
}

// By the answers to the last sample.
static void judge_work(struct sched *s)
{
	for (size_t i = 0; i < s->n; i++) {
		struct sched_class *c = &s->classes[i];
		group_take(&c->group);
		c->has_work = group_has_work(&c->group);
	}
}

static bool first_has_work(const struct sched *s, uint64_t now)
{
	const uint64_t lasts = s->opts.policy.idle_ns + 2 * s->sample_every_ns;
	return is_hinted(s) || class_works(s, 0) || (s->log_ns && now - s->log_ns < lasts);
}

// ---- holding and resuming

// What the decision cost others: until the last answer came. A holder that is silent costs them
// nothing.
static uint64_t cost_of(const struct sched_class *c)
{
	const uint64_t answered = c->group.answered_ns;
	return answered > c->decided_ns ? answered - c->decided_ns : 0;
}

// The last answer has come, or is not waited for any more.
static void settle_class(struct sched_class *c, uint64_t now)
{
	c->settling = false;
	hist_add(c->policy.held ? &c->off : &c->on, now - c->decided_ns);
	if (c->policy.held) {
		c->holds++;
		c->held_ns = now;
		c->hold_cost_ns = cost_of(c);
		return;
	}
	if (c->held_ns && now - c->held_ns > c->longest_ns)
		c->longest_ns = now - c->held_ns;
	if (c->held_ns) {
		moving_add(&c->cost, (double)(c->hold_cost_ns + cost_of(c)));
		c->cost_ns = (uint64_t)moving_percentile(&c->cost, 0.9);
	}
	c->held_ns = 0;
}

static void decide_class(struct sched_class *c, uint64_t now)
{
	c->decided_ns = now;
	c->settling = true;
	group_ask(&c->group, c->policy.held);
}

static void note_burst(struct sched_class *c, bool works, uint64_t now)
{
	if (works && !c->busy_since_ns) {
		c->busy_since_ns = now;
		c->bursts++;
	} else if (!works && c->busy_since_ns) {
		c->busy_ns += now - c->busy_since_ns;
		c->busy_since_ns = 0;
	}
}

// Decides for each class. When the next decision is due.
static uint64_t step_classes(struct sched *s, uint64_t now)
{
	judge_work(s);
	bool above = first_has_work(s, now);
	uint64_t next = NEVER;

	note_burst(&s->classes[0], above, now);
	for (size_t i = 1; i < s->n; i++) {
		struct sched_class *c = &s->classes[i];
		struct group *g = &c->group;
		if (c->settling && !g->asked)
			settle_class(c, clock_ns());
		next = lesser(next, policy_step(&s->opts.policy, &c->policy, now, above,
						g->held && !g->asked, c->cost_ns));
		if (c->policy.held != g->held)
			decide_class(c, now);
		if (c->settling && !g->asked)
			settle_class(c, clock_ns());
		if (i + 1 < s->n)
			note_burst(c, class_works(s, i), now);
		above |= class_works(s, i);
	}
	return next;
}

// ---- hints

// Those who wait hear when everything is off but what its holder is silent about, or when their
// hint counts no more.
static void answer_hints(struct sched *s, uint64_t now)
{
	unsigned off = 0, missed = 0;
	bool done = true;
	if (!hints_waiting(s->hints))
		return;
	for (size_t i = 1; i < s->n; i++) {
		const struct group *g = &s->classes[i].group;
		done &= g->held && !g->asked;
		for (size_t k = 0; k < g->n; k++) {
			const struct group_member *m = g->v[k];
			off += group_is_off(m);
			missed += !group_is_off(m) && m->place != MEMBER_IDLE &&
				  m->state != MEMBER_ENDED;
		}
	}
	if (done || !hints_active(s->hints))
		hints_answer(s->hints, now, off, missed);
}

// When a hint may expire next, roughly: they can be renewed.
static uint64_t serve_hints(struct sched *s, uint64_t now)
{
	hints_serve(s->hints, now);
	hints_expire(s->hints, now, s->opts.policy.max_hold_ns);
	return hints_active(s->hints) ? now + s->opts.policy.max_hold_ns / 16 : NEVER;
}

// When a client may be read again whose requests were too fast, or wait behind answers.
static uint64_t readable_again(const struct sched *s, uint64_t now)
{
	const int wait = hints_wait_ms(s->hints);
	return wait < 0 ? NEVER : now + (uint64_t)wait * MS;
}

// ---- the loop

static void look_at_classes(struct sched *s, uint64_t now)
{
	for (size_t i = 0; i < s->n; i++) {
		struct group *g = &s->classes[i].group;
		group_look(g);
		group_retry(g, now);
		group_forget_ended(g);
	}
	while (waitpid(-1, NULL, WNOHANG) > 0) // holders
		;
	s->looked_ns = now;
}

// What is to be waited for: signals, hints, newcomers, answers of holders and of readers.
static size_t fill_polled(struct sched *s)
{
	size_t n = FIXED;
	for (size_t i = 0; i < s->n; i++) {
		const struct group *g = &s->classes[i].group;
		const int looks = group_reader_fd(g);
		if (looks >= 0) {
			ARRAY_GROW(s->polled, s->room, n);
			s->polled[n++] = (struct pollfd){.fd = looks, .events = POLLIN};
		}
		for (size_t k = 0; k < g->n; k++) {
			if (!member_is_asked(g->v[k]))
				continue;
			ARRAY_GROW(s->polled, s->room, n);
			s->polled[n++] = (struct pollfd){.fd = g->v[k]->link.fd, .events = POLLIN};
		}
	}
	return n;
}

static void wait_for_turn(struct sched *s, uint64_t then)
{
	const size_t n = fill_polled(s);
	for (size_t i = 0; i < FIXED; i++)
		s->polled[i].revents = 0;
	wait_any(s->polled, n, then);
}

// One turn. When the next one is due.
static uint64_t sched_turn(struct sched *s)
{
	uint64_t now = clock_ns(), next = NEVER;
	if (s->hints)
		next = serve_hints(s, now);
	if (needs_samples(s) && now - s->sampled_ns >= s->sample_every_ns)
		sample_classes(s, now);
	next = lesser(next, step_classes(s, now));
	if (s->hints) {
		answer_hints(s, clock_ns());
		next = lesser(next, readable_again(s, now));
	}
	// Decisions first: what follows takes longer.
	if (s->polled[NEWCOMERS].revents || now - s->scanned_ns >= SCAN_NS ||
	    (now >= s->newcomers.next_ns && newcomers_poll(&s->newcomers, now))) {
		newcomers_drain(&s->newcomers);
		sched_find(s, true);
		s->scanned_ns = now;
	}
	if (now - s->looked_ns >= LOOK_NS)
		look_at_classes(s, now);
	next = lesser(next, lesser(s->scanned_ns + SCAN_NS, s->looked_ns + LOOK_NS));
	next = lesser(next, s->newcomers.next_ns);
	return needs_samples(s) ? lesser(next, s->sampled_ns + s->sample_every_ns) : next;
}

static int read_signal(int signals)
{
	struct signalfd_siginfo info;
	return signals_next(signals, &info) ? (int)info.ssi_signo : 0;
}

static int open_signals(void)
{
	static const int list[] = {SIGINT, SIGTERM, SIGHUP, 0};
	signal(SIGPIPE, SIG_IGN);
	return signals_open(list, SIG_BLOCK, NULL);
}

static int sched_loop(struct sched *s, uint64_t until_ns)
{
	int sig = 0;
	while (!sig && clock_ns() < until_ns) {
		const uint64_t next = sched_turn(s);
		wait_for_turn(s, lesser(next, until_ns));
		sig = s->polled[SIGNALS].revents ? read_signal(s->polled[SIGNALS].fd) : 0;
	}
	return sig;
}

int sched_run(struct sched *s, uint64_t until_ns)
{
	const int signals = open_signals();
	int sig;
	if (signals < 0)
		return -err_sys(errno, NULL, "wait for signals");
	if (open_log(s))
		return -GPQ_FAILED;
	prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0); // the default lets wake-ups be 50 us late
	newcomers_init(&s->newcomers);
	s->room = FIXED;
	s->polled = xcalloc(s->room, sizeof(*s->polled));
	s->polled[SIGNALS] = (struct pollfd){.fd = signals, .events = POLLIN};
	s->polled[HINTS] =
		(struct pollfd){.fd = s->hints ? hints_fd(s->hints) : -1, .events = POLLIN};
	s->polled[NEWCOMERS] = (struct pollfd){.fd = s->newcomers.events.fd, .events = POLLIN};
	s->sample_every_ns = s->opts.sample_ns;
	s->start_ns = clock_ns();
	sig = sched_loop(s, until_ns);
	for (size_t i = 0; i < s->n; i++)
		group_release(&s->classes[i].group);
	close(signals);
	return sig;
}

void sched_fini(struct sched *s)
{
	hints_close(s->hints);
	classes_fini(s);
	if (s->following_log)
		tail_close(&s->log);
	newcomers_fini(&s->newcomers);
	free(s->polled);
	*s = (struct sched){0};
}
