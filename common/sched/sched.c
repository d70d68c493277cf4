// The scheduler: who belongs to which class, and its loop; sched.h.
#include "common/sched/sched.h"

#include "common/cli/text.h"
#include "common/cli/err.h"
#include "common/host/clock.h"
#include "common/host/loop.h"
#include "common/host/number.h"
#include "common/host/proc.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#define MS      UINT64_C(1000000)
#define NEVER   UINT64_MAX
#define LOOK_NS (100 * MS) // time between looks for members that ended and queues that came
#define SCAN_NS (NEWCOMERS_SCAN_MS * MS)
#define AWAKE   50 // sampling takes at most 1 / AWAKE of a processor

#define PATIENCE_MS 2000 // hints do not wait longer for a holder, whose deadline ends its hold

// Descriptors: KEPT for the scheduler itself; a quarter of the others at most for hints (hints.h);
// EACH for a member while it is attached to. A user but root may have 1 / USER_PART of all members.
enum { KEPT = 128, EACH = 4, MEMBERS_MIN = 16, MEMBERS_MAX = 2048, USER_PART = 4 };

enum { SIGNALS, HINTS, NEWCOMERS, FIXED }; // the first entries of s->polled

// ---- classes and their processes

void sched_add_class(struct sched *s, const char *name)
{
	s->classes = xreallocarray(s->classes, s->n + 1, sizeof(*s->classes));
	struct sched_class *c = &s->classes[s->n++];
	*c = (struct sched_class){.name = name};
	hist_init(&c->off);
	hist_init(&c->on);
}

static struct sched_class *class_of(struct sched *s, const char *name)
{
	for (size_t i = 0; i < s->n; i++)
		if (strcmp(s->classes[i].name, name) == 0)
			return &s->classes[i];
	sched_add_class(s, name);
	return &s->classes[s->n - 1];
}

int sched_add_spec(struct sched *s, const char *name, const char *option, const char *text)
{
	const struct sched_class *c = class_of(s, name);
	return spec_set_add(&s->specs, (size_t)(c - s->classes), option, text);
}

void sched_raise_limit(void)
{
	struct rlimit files;
	if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
}

// Returns how many members RLIMIT_NOFILE allows.
static size_t most_members(void)
{
	struct rlimit files = {.rlim_cur = 0};
	getrlimit(RLIMIT_NOFILE, &files);
	const uint64_t left = files.rlim_cur > KEPT ? (files.rlim_cur - KEPT) * 3 / 4 / EACH : 0;
	return greater(MEMBERS_MIN, lesser(left, MEMBERS_MAX));
}

// Is there room for one more process of this user?
static bool has_room(struct sched *s, uint64_t user)
{
	const size_t most = most_members();
	size_t all = 0, same = 0;
	for (size_t i = 0; i < s->n; i++)
		for (size_t k = 0; k < s->classes[i].group.n; k++) {
			all++;
			same += s->classes[i].group.v[k]->user == user;
		}
	const bool full = user != 0 && same >= most / USER_PART;
	if ((full || all >= most) && !s->said_full)
		err_warn("gpq sched --status counts them (LEFT_OUT)",
			 "%zu process%s%s%s %s as many as can be held: further ones run",
			 full ? same : all, (full ? same : all) == 1 ? "" : "es",
			 full ? " of user " : "", full ? proc_user(user) : "",
			 text_are(full ? same : all));
	s->said_full |= full || all >= most;
	return !full && all < most;
}

static bool take_into_class(void *arg, size_t number, pid_t pid, struct kfd_selection *sel)
{
	struct sched *s = arg;
	struct group *g = &s->classes[number].group;
	struct proc p = {.uid = UINT64_MAX};
	proc_read(&p, pid);
	if (!g->dry && !group_has(g, pid) && !has_room(s, p.uid)) {
		free(sel);
		return false;
	}
	struct group_member *m = group_add(g, pid, sel);
	if (m)
		m->user = p.uid;
	return m != NULL;
}

static void say_failures(const struct group *g)
{
	for (size_t i = 0; i < g->n; i++) {
		struct group_member *m = g->v[i];
		// After exec a process without a queue is attached to again later.
		const bool failed = !m->said && group_has_failed(m, clock_ns()) &&
				    group_list_queues(m->target.pid, NULL);
		if ((failed || m->state == MEMBER_SILENT) && !m->said)
			err_warn("gpq sched --status shows it", "pid %d%s: %s", (int)m->target.pid,
				 failed ? " is not held" : "", m->failure.text);
		m->said |= failed || m->state == MEMBER_SILENT;
	}
}

int sched_find(struct sched *s, bool attach)
{
	for (size_t i = 0; i < s->n; i++) {
		struct group *g = &s->classes[i].group;
		g->dry = !attach;
		g->attach = attach && (i > 0 || s->opts.activity);
		g->grace = (unsigned)s->opts.grace;
		g->nowait = g->pass = true;
		g->patience_ms = PATIENCE_MS;
		g->limit_ns = s->opts.policy.max_hold_ns;
		g->idle_ns = s->opts.hold_idle ? 0 : SCHED_IDLE_NS;
	}
	s->newcomers.wait = attach;
	const int status = spec_set_look(&s->specs, &s->newcomers, take_into_class, s);
	for (size_t i = 0; i < s->n; i++)
		say_failures(&s->classes[i].group);
	return status;
}

// ---- does the first class have work?

// Looks for packet lines: each release of HIP that logs packets writes "HWq=" in them
// [amdlog.packets].
static void read_amd_log(struct sched *s, uint64_t now)
{
	static const char word[] = "HWq=0x";
	const size_t keep = sizeof(s->log_rest);
	char text[65536];
	size_t have = s->num_log_rest;
	ssize_t n;
	_Static_assert(sizeof(s->log_rest) == sizeof(word) - 2, "all of the word but a byte");
	memcpy(text, s->log_rest, have);
	// At most 64 reads, since a log may grow faster than it is read.
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
	memcpy(s->log_rest, text, have);
	s->num_log_rest = have;
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

// Are the queues of class `i` sampled? Not those of the first class while a hint says it has work.
static bool samples_class(const struct sched *s, size_t i)
{
	return i + 1 < s->n && (i > 0 || (s->opts.activity && !is_hinted(s))) &&
	       s->classes[i].group.n > 0;
}

static bool needs_samples(const struct sched *s)
{
	for (size_t i = 0; i < s->n; i++)
		if (samples_class(s, i) || has_idle_members(&s->classes[i].group))
			return true;
	return s->following_log;
}

// Did class `i` have work at the last sample? A class that is not sampled (no members) had none.
static bool class_works(const struct sched *s, size_t i)
{
	return s->classes[i].has_work && samples_class(s, i);
}

static void sample_classes(struct sched *s, uint64_t now)
{
	if (s->following_log)
		read_amd_log(s, now);
	for (size_t i = 0; i < s->n; i++) {
		struct sched_class *c = &s->classes[i];
		if (samples_class(s, i))
			group_sample(&c->group);
		group_look_at_idle(&c->group);
	}
	s->sampled_ns = now;
	s->sample_every_ns = greater((clock_ns() - now) * AWAKE, s->opts.sample_ns);
}

// Takes the readers' answers to the last sample, and notes which classes have work.
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

// Time from the decision until the last holder answered, in which the driver disturbs other queues
// of the GPU. A silent holder is not counted: it suspends nothing.
static uint64_t cost_of(const struct sched_class *c)
{
	const uint64_t answered = c->group.answered_ns;
	return answered > c->decided_ns ? answered - c->decided_ns : 0;
}

// Updates the statistics of a class whose decision (hold or run) is done: each holder has answered
// or is silent.
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
	if (c->held_ns) {
		c->longest_ns = greater(c->longest_ns, now - c->held_ns);
		moving_add(&c->cost, (double)(c->hold_cost_ns + cost_of(c)));
		c->cost_ns = (uint64_t)moving_percentile(&c->cost, 0.9);
	}
	c->held_ns = 0;
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

// Decides for each class whether to hold it. Returns when the next decision is due.
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
		if (c->policy.held != g->held) {
			c->decided_ns = now;
			c->settling = true;
			group_ask(g, c->policy.held);
		}
		if (c->settling && !g->asked)
			settle_class(c, clock_ns());
		if (i + 1 < s->n)
			note_burst(c, class_works(s, i), now);
		above |= class_works(s, i);
	}
	return next;
}

// ---- answers to hints

// Answers waiting clients once all lower classes are suspended, except processes whose holder does
// not answer, or once all hints have expired.
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

// ---- the loop of the scheduler

static void look_at_classes(struct sched *s, uint64_t now)
{
	for (size_t i = 0; i < s->n; i++) {
		struct group *g = &s->classes[i].group;
		group_look(g);
		group_retry(g, now);
		group_forget_ended(g);
	}
	while (waitpid(-1, NULL, WNOHANG) > 0) // reap holders that ended
		;
	s->looked_ns = now;
}

// Waits for signals, hints, newcomers, and answers of holders and of readers.
static void wait_for_turn(struct sched *s, uint64_t then)
{
	size_t n = FIXED;
	for (size_t i = 0; i < s->n; i++) {
		const struct group *g = &s->classes[i].group;
		struct pollfd *p = ARRAY_ADD(s->polled, s->room, n);
		*p = (struct pollfd){.fd = group_reader_fd(g), .events = POLLIN};
		for (size_t k = 0; k < g->n; k++)
			if (member_is_asked(g->v[k])) {
				p = ARRAY_ADD(s->polled, s->room, n);
				*p = (struct pollfd){.fd = g->v[k]->link.fd, .events = POLLIN};
			}
	}
	wait_any(s->polled, n, then);
}

// One turn of the loop. Returns when the next one is due.
static uint64_t sched_turn(struct sched *s)
{
	const uint64_t max_hold = s->opts.policy.max_hold_ns;
	uint64_t now = clock_ns(), next = NEVER;
	if (s->hints) {
		hints_serve(s->hints, now);
		hints_expire(s->hints, now, max_hold);
		next = hints_active(s->hints) ? now + max_hold / 16 : NEVER; // hints may expire
	}
	if (needs_samples(s) && now - s->sampled_ns >= s->sample_every_ns)
		sample_classes(s, now);
	next = lesser(next, step_classes(s, now));
	if (s->hints) {
		answer_hints(s, clock_ns());
		const int wait = hints_wait_ms(s->hints);
		next = lesser(next, wait < 0 ? NEVER : now + (uint64_t)wait * MS);
	}
	// Newcomers come after the decisions, since looking for them takes longer.
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

static int sched_loop(struct sched *s, uint64_t until_ns)
{
	struct signalfd_siginfo info;
	while (clock_ns() < until_ns) {
		wait_for_turn(s, lesser(sched_turn(s), until_ns));
		if (s->polled[SIGNALS].revents && signals_next(s->polled[SIGNALS].fd, &info))
			return (int)info.ssi_signo;
	}
	return 0;
}

int sched_run(struct sched *s, uint64_t until_ns)
{
	static const int list[] = {SIGINT, SIGTERM, SIGHUP, 0};
	const int signals = signals_open(list, SIG_BLOCK, NULL);
	signal(SIGPIPE, SIG_IGN);
	if (signals < 0)
		return -err_sys(errno, NULL, "wait for signals");
	if (open_log(s))
		return -GPQ_FAILED;
	prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0); // by default wake-ups may be 50 us late
	newcomers_init(&s->newcomers);
	const int fixed[] = {[SIGNALS] = signals,
			     [HINTS] = s->hints ? hints_fd(s->hints) : -1,
			     [NEWCOMERS] = s->newcomers.events.fd};
	s->room = FIXED;
	s->polled = xcalloc(s->room, sizeof(*s->polled));
	for (size_t i = 0; i < FIXED; i++)
		s->polled[i] = (struct pollfd){.fd = fixed[i], .events = POLLIN};
	s->sample_every_ns = s->opts.sample_ns;
	s->start_ns = clock_ns();
	const int sig = sched_loop(s, until_ns);
	for (size_t i = 0; i < s->n; i++)
		group_release(&s->classes[i].group);
	close(signals);
	return sig;
}

void sched_fini(struct sched *s)
{
	hints_close(s->hints);
	for (size_t i = 0; i < s->n; i++)
		group_fini(&s->classes[i].group);
	free(s->classes);
	spec_set_fini(&s->specs);
	if (s->following_log)
		tail_close(&s->log);
	newcomers_fini(&s->newcomers);
	free(s->polled);
	*s = (struct sched){0};
}
