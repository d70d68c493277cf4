// The scheduler: who belongs to which class, and its loop; sched.h.
#include "common/sched/sched.h"

#include "common/cli/text.h"
#include "common/cli/err.h"
#include "common/host/clock.h"
#include "common/host/loop.h"
#include "common/host/notify.h"
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

// While no class above has work, the scheduler attaches to a process of the last class so long
// after it came: the driver begins and ends sessions one at a time, so those of short-lived
// processes would delay the next hold. Sessions on the other classes begin at once, as their queues
// are watched.
#define SETTLE_NS (100 * MS)

// Answers that are not waited for are taken after this time all the same: the one that is waited
// for may be a stuck holder's.
#define LEFT_NS (5 * MS)

#define AWAKE 50 // sampling takes at most 1 / AWAKE of a processor

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
	*c = (struct sched_class){.name = xstrdup(name)};
	hist_init(&c->wait);
	hist_init(&c->request);
	hist_init(&c->off);
	hist_init(&c->on);
}

size_t sched_class_of(const struct sched *s, const char *name)
{
	size_t i = 0;
	while (i < s->n && strcmp(s->classes[i].name, name) != 0)
		i++;
	return i;
}

int sched_add_spec(struct sched *s, const char *name, const char *option, const char *text)
{
	const size_t class = sched_class_of(s, name);
	if (class == s->n)
		sched_add_class(s, name);
	return spec_set_add(&s->specs, class, option, text);
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

// Returns the process as a member of its class, whose index is then in *class; NULL: it is none.
static struct group_member *find_member(const struct sched *s, pid_t pid, size_t *class)
{
	struct group_member *m = NULL;
	for (size_t i = 0; i < s->n && !m; i++) {
		m = group_find(&s->classes[i].group, pid);
		*class = i;
	}
	return m;
}

static bool same_selection(const struct kfd_selection *a, const struct kfd_selection *b)
{
	return a->num_ids == b->num_ids && a->num_gpus == b->num_gpus &&
	       (!a->num_ids || memcmp(a->ids, b->ids, a->num_ids * sizeof(*a->ids)) == 0) &&
	       (!a->num_gpus || memcmp(a->gpus, b->gpus, a->num_gpus * sizeof(*a->gpus)) == 0);
}

static bool take_into_class(void *arg, size_t number, pid_t pid, struct kfd_selection *sel,
			    bool again)
{
	struct sched *s = arg;
	size_t class = 0;
	struct group_member *m = find_member(s, pid, &class);
	struct group *before = m ? &s->classes[class].group : NULL, *g;
	struct proc p = {.uid = UINT64_MAX};
	if (number == SPEC_NONE) {
		if (m)
			group_drop(before, pid);
		return true;
	}
	g = &s->classes[number].group;
	if (m && before == g && again && same_selection(m->sel, sel)) {
		free(sel);
	} else if (m && (before != g || again)) {
		m = group_take_over(g, before, pid, sel);
		if (!again) // it called exec, too
			m = group_add(g, pid, NULL);
	} else {
		proc_read(&p, pid);
		if (!g->dry && !m && !has_room(s, p.uid)) {
			free(sel);
			return false;
		}
		m = group_add(g, pid, sel);
		if (m)
			m->user = p.uid;
	}
	if (m && number)
		jobs_add(s, number, m);
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
		g->bits = &s->bits;
		g->patience_ms = PATIENCE_MS;
		g->limit_ns = s->opts.policy.max_hold_ns;
		g->idle_ns = s->opts.hold_idle ? 0 : SCHED_IDLE_NS;
		// Who is there at the start is not new.
		g->settle_ns = i + 1 == s->n && s->polled && !s->opts.slice_ns ? SETTLE_NS : 0;
	}
	if (!s->topology.gpus)
		kfd_topology_load(&s->topology, KFD_TOPOLOGY_BDF);
	s->newcomers.wait = s->newcomers.again = attach;
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
	for (size_t i = 0; i < g->n; i++)
		if (g->v[i]->want && g->v[i]->place == MEMBER_IDLE)
			return true;
	return false;
}

static uint64_t class_gpus(const struct sched_class *c)
{
	uint64_t gpus = 0;
	for (size_t i = 0; i < c->group.n; i++)
		gpus |= c->group.v[i]->state != MEMBER_ENDED ? c->group.v[i]->gpus : 0;
	return gpus;
}

// Are the queues of class `i` sampled? Not while hints say that it has work on all of its GPUs.
static bool samples_class(const struct sched *s, size_t i)
{
	const struct sched_class *c = &s->classes[i];
	return i + 1 < s->n && (i > 0 || s->opts.activity) && c->group.n > 0 &&
	       (!c->hinted || class_gpus(c) & ~c->hinted);
}

static bool needs_samples(const struct sched *s)
{
	for (size_t i = 0; i < s->n; i++)
		if (samples_class(s, i) || has_idle_members(&s->classes[i].group))
			return true;
	return s->following_log;
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

// Returns the job of a process that belongs to this class, or NULL.
static struct sched_job *job_of(const struct sched *s, pid_t pid, size_t class)
{
	const struct group_member *m =
		pid && class ? group_find(&s->classes[class].group, pid) : NULL;
	return m && m->state != MEMBER_ENDED ? &s->jobs[m->job] : NULL;
}

static void judge_deadlines(struct sched *s)
{
	struct sched_job *j = NULL;
	size_t class, of = SIZE_MAX;
	uint64_t deadline;
	pid_t pid, by = 0;
	slices_forget_due(s);
	for (unsigned at = 0; hints_next_due(s->hints, &at, &pid, &class, &deadline);) {
		if (pid != by || class != of)
			j = job_of(s, pid, class);
		by = pid;
		of = class;
		if (j)
			slices_note_due(j, deadline);
	}
}

// Takes the readers' answers to the last sample, and notes where classes have work. What a process
// does while a deadline of its hints leaves time counts later.
static void judge_work(struct sched *s)
{
	const bool later = s->hints && hints_later(s->hints, 0);
	for (size_t i = 0; i < s->n; i++) {
		struct sched_class *c = &s->classes[i];
		group_take(&c->group);
		for (size_t k = 0; k < c->group.n; k++)
			c->group.v[k]->excused =
				later && hints_later(s->hints, c->group.v[k]->target.pid);
		c->work = group_work(&c->group);
		c->hinted = 0;
	}
	if (s->hints)
		for (size_t i = 0; i < s->n; i++)
			s->classes[i].hinted = hints_gpus(s->hints, i);
	if (s->hints && s->opts.slice_ns)
		judge_deadlines(s);
}

// Returns the GPUs on which class `i` has work. One that is not sampled has work by hints alone,
// the first also by its log, which does not tell of GPUs: those of the class, if these are known.
static uint64_t class_work(const struct sched *s, size_t i, uint64_t now)
{
	const struct sched_class *c = &s->classes[i];
	const uint64_t lasts = s->opts.policy.idle_ns + 2 * s->sample_every_ns;
	uint64_t gpus = c->hinted | (samples_class(s, i) ? c->work : 0);
	if (i == 0 && s->log_ns && now - s->log_ns < lasts)
		gpus |= class_gpus(c) ? class_gpus(c) : GPUS_ALL;
	return gpus;
}

// ---- holding and resuming

void sched_note_burst(struct sched_class *c, bool works, uint64_t now)
{
	if (works && !c->busy_since_ns) {
		c->busy_since_ns = now;
		c->bursts++;
	} else if (!works && c->busy_since_ns) {
		c->busy_ns += now - c->busy_since_ns;
		c->busy_since_ns = 0;
	}
}

// Decides what is held. Returns when the next decision is due.
static uint64_t step_classes(struct sched *s, uint64_t now)
{
	judge_work(s);
	for (size_t i = 0; i < s->n; i++) {
		s->classes[i].works = class_work(s, i, now);
		if (i + 1 < s->n)
			sched_note_burst(&s->classes[i], s->classes[i].works, now);
		decisions_note_work(s, i);
	}
	return jobs_step(s, now);
}

// ---- hints

// Whose work is a client's? That of its class, on the GPUs of its queues. A client that belongs to
// no class does online work, and one without queues does it on any GPU. `look`: /proc and sysfs may
// be read for one that is no member; without, it is online work, on any GPU.
static struct hint_scope scope_of_client(void *arg, pid_t pid, bool look)
{
	struct sched *s = arg;
	struct hint_scope scope = {0};
	size_t class = 0;
	const struct group_member *m = pid ? find_member(s, pid, &class) : NULL;
	if (m)
		scope = (struct hint_scope){.class = class, .gpus = m->gpus};
	else if (pid && look) {
		class = spec_set_number(&s->specs, &s->look, pid);
		scope = (struct hint_scope){.class = class == SPEC_NONE ? 0 : class,
					    .gpus = gpu_bits_of(&s->bits, pid, NULL, GPUS_ALL)};
	}
	scope.gpus = scope.gpus ? scope.gpus : GPUS_ALL;
	return scope;
}

// Reads "gpu=0,2" and "class=batch" of a hint. Returns NULL, or what is wrong.
static const char *read_hint_word(void *arg, char *word, struct hint_scope *scope)
{
	struct sched *s = arg;
	struct kfd_topology *t = &s->topology;
	char *words[64];
	size_t n = 0;
	if (strncmp(word, "class=", 6) == 0) {
		scope->class = sched_class_of(s, word + 6);
		return scope->class < s->n ? NULL : "there is no such class";
	}
	for (char *rest = word + 4; rest;) {
		if (n == COUNT(words))
			return "there are more than 64 GPUs";
		words[n++] = strsep(&rest, ",");
	}
	if (kfd_topology_select(t, words, n))
		return "there is no such GPU";
	scope->gpus = 0;
	for (size_t i = 0; i < t->n; i++)
		scope->gpus |= t->gpus[i].selected ? gpu_bit(&s->bits, t->gpus[i].gpu_id) : 0;
	return NULL;
}

// Answers each client that waits once the units that its work concerns are suspended, except
// processes whose holder does not answer.
static bool is_off_for(void *arg, const struct hint_scope *scope, unsigned *off, unsigned *missed)
{
	return jobs_are_off(arg, scope->class, scope->gpus, off, missed);
}

// Learns how long requests of a class take once their hints count. The longest of the latest is
// kept, since with the 90th percentile one in ten would be late; the time by which a request missed
// its deadline is added. Requests without a deadline are other work, and are not counted.
static void learn_need(struct sched_class *c, const struct hint_end *end)
{
	const uint64_t ns = end->ns + end->more_ns;
	if (end->closed || end->expired || !end->urgent_ns || !end->deadline_ns)
		return;
	moving_add(&c->need,
		   (double)(end->urgent_ns + greater(ns, end->deadline_ns) - end->deadline_ns));
	c->need_ns = (uint64_t)moving_percentile(&c->need, 1);
}

// A request whose client has gone may have been given up as it was late; otherwise it may have been
// given up for any reason. One that keeps a deadline of its own keeps the goal.
void sched_end_request(void *arg, const struct hint_scope *scope, uint64_t now_ns,
		       const struct hint_end *end)
{
	struct sched *s = arg;
	struct goal *g = &s->opts.goal;
	struct sched_class *c = &s->classes[scope->class];
	const uint64_t ns = end->ns + end->more_ns;
	const bool in_time = ns <= end->deadline_ns;
	if (g->percent > 0 && scope->class == 0 && (!end->closed || ns > g->limit_ns) &&
	    !(end->closed && in_time))
		goal_count(g, &s->opts.policy, now_ns + end->more_ns, in_time ? 0 : ns);
	if (!end->closed)
		hist_add(&c->request, ns);
	c->deadlines += end->deadline_ns > 0;
	c->late += end->deadline_ns && !in_time;
	learn_need(c, end);
	const struct sched_job *j = s->decisions ? job_of(s, end->pid, scope->class) : NULL;
	decisions_note_request(s, scope, now_ns, end, end->job ? end->job : j ? j->key : "");
}

uint64_t sched_request_needs(void *arg, const struct hint_scope *scope)
{
	const struct sched *s = arg;
	const uint64_t ns = s->classes[scope->class].need_ns;
	return ns && !s->opts.no_deadlines ? ns : UINT64_MAX;
}

void sched_take_hints(struct sched *s, struct hints *h,
		      uint64_t (*status)(struct buf *b, void *arg))
{
	s->hints = h;
	hints_ask(h, &(struct hints_calls){.arg = s,
					   .whose = scope_of_client,
					   .word = read_hint_word,
					   .is_off = is_off_for,
					   .ended = sched_end_request,
					   .needs = sched_request_needs,
					   .status = status,
					   .audit = s->opts.audit});
}

// ---- the loop of the scheduler

void sched_on_hup(struct sched *s, void (*reload)(struct sched *s, void *arg), void *arg)
{
	s->on_hup = reload;
	s->on_hup_arg = arg;
}

static bool same_specs(const struct spec_set *a, const struct spec_set *b)
{
	bool same = a->n == b->n;
	for (size_t i = 0; i < a->n && same; i++)
		same = a->v[i]->number == b->v[i]->number &&
		       strcmp(a->v[i]->words, b->v[i]->words) == 0;
	return same;
}

void sched_reload(struct sched *s, const struct sched_opts *opts, struct spec_set *specs)
{
	const struct sched_opts before = s->opts;
	s->opts = *opts;
	// The parts that were found for the same goal are still right.
	if (before.goal.percent > 0 && before.goal.percent == opts->goal.percent &&
	    before.goal.limit_ns == opts->goal.limit_ns) {
		s->opts.goal = before.goal;
		s->opts.policy.kind = before.policy.kind;
		s->opts.policy.part = before.policy.part;
	}
	jobs_weigh(s);
	s->sample_every_ns = opts->sample_ns;
	s->scanned_ns = 0;
	for (size_t i = 0; i < s->n; i++) {
		struct group *g = &s->classes[i].group;
		g->limit_ns = opts->policy.max_hold_ns;
		group_set(g, (unsigned)opts->grace, g->most);
	}
	if (same_specs(&s->specs, specs))
		return;
	const struct spec_set old = s->specs;
	s->specs = *specs;
	*specs = old;
	// Those of a tree are let go, unless it is chosen again. All are looked at without delay.
	for (size_t i = 0; i < s->newcomers.n; i++) {
		s->newcomers.v[i].of_tree = false;
		s->newcomers.v[i].looked_ns = 0;
	}
}

// Tells the service manager about the reload.
static void take_hup(struct sched *s)
{
	char state[64];
	snprintf(state, sizeof(state), "RELOADING=1\nMONOTONIC_USEC=%" PRIu64, clock_ns() / 1000);
	notify(state);
	s->on_hup(s, s->on_hup_arg);
	notify("READY=1");
}

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
	if (s->hints)
		hints_look(s->hints);
	spec_look_fini(&s->look, &s->specs);
	s->looked_ns = now;
}

// Is the loop to go on as soon as this member's holder answers? Of the members of a job that are
// held or resumed on the same GPU one is waited for: before its answer the job is not off there, or
// on, whatever the others say.
static bool is_waited_for(struct sched *s, size_t class, const struct group_member *m)
{
	const uint64_t last = class ? group_last_change(m) : 0;
	if (!last)
		return member_is_asked(m);
	struct sched_job *j = &s->jobs[m->job];
	if (!(last & ~j->waited_for))
		return false;
	j->waited_for |= last;
	return true;
}

// Waits for signals, hints, newcomers, and answers of holders and of readers. Holders mostly answer
// in the order in which they were asked, so to wait for the last one saves the most turns.
static void wait_for_turn(struct sched *s, uint64_t then)
{
	size_t n = FIXED;
	bool left = false;
	for (size_t i = 0; i < s->num_jobs; i++)
		s->jobs[i].waited_for = 0;
	for (size_t i = 0; i < s->n; i++) {
		const struct group *g = &s->classes[i].group;
		struct pollfd *p = ARRAY_ADD(s->polled, s->room, n);
		*p = (struct pollfd){.fd = group_reader_fd(g), .events = POLLIN};
		for (size_t k = g->n; k-- > 0;)
			if (is_waited_for(s, i, g->v[k])) {
				p = ARRAY_ADD(s->polled, s->room, n);
				*p = (struct pollfd){.fd = g->v[k]->link.fd, .events = POLLIN};
			} else {
				left |= member_is_asked(g->v[k]);
			}
	}
	wait_any(s->polled, n, left ? lesser(then, clock_ns() + LEFT_NS) : then);
}

// Are newcomers of the last class to be attached to now? Yes if a class above has work, but behind
// the holds that are under way.
static bool newcomers_are_next(const struct sched *s)
{
	uint64_t works = 0;
	size_t asked = 0;
	for (size_t i = 0; i < s->n; i++) {
		works |= i + 1 < s->n ? s->classes[i].works : 0;
		asked += s->classes[i].group.asked;
	}
	return works && !asked;
}

// One turn of the loop. Returns when the next one is due.
static uint64_t sched_turn(struct sched *s)
{
	const uint64_t max_hold = s->opts.policy.max_hold_ns;
	uint64_t now = clock_ns(), next = NEVER;
	if (s->hints) {
		hints_serve(s->hints, now);
		hints_expire(s->hints, now, s->opts.lease_ns);
		next = hints_active(s->hints) ? now + lesser(max_hold, s->opts.lease_ns) / 16
					      : NEVER;
		next = lesser(next, hints_urge(s->hints, now));
	}
	if (needs_samples(s) && now - s->sampled_ns >= s->sample_every_ns)
		sample_classes(s, now);
	next = lesser(next, step_classes(s, now));
	if (s->hints) {
		if (hints_waiting(s->hints))
			hints_answer(s->hints, clock_ns());
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
	next = lesser(next, group_settle(&s->classes[s->n - 1].group, now, newcomers_are_next(s)));
	if (now - s->looked_ns >= LOOK_NS)
		look_at_classes(s, now);
	if (s->watchdog_ns && now - s->notified_ns >= s->watchdog_ns) {
		notify("WATCHDOG=1");
		s->notified_ns = now;
	}
	next = lesser(next, lesser(s->scanned_ns + SCAN_NS, s->looked_ns + LOOK_NS));
	next = lesser(next, s->newcomers.next_ns);
	return needs_samples(s) ? lesser(next, s->sampled_ns + s->sample_every_ns) : next;
}

static int sched_loop(struct sched *s, uint64_t until_ns)
{
	struct signalfd_siginfo info;
	while (clock_ns() < until_ns) {
		wait_for_turn(s, lesser(sched_turn(s), until_ns));
		if (!s->polled[SIGNALS].revents || !signals_next(s->polled[SIGNALS].fd, &info))
			continue;
		if (info.ssi_signo != SIGHUP || !s->on_hup)
			return (int)info.ssi_signo;
		take_hup(s);
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
	s->watchdog_ns = notify_watchdog_ns();
	notify("READY=1");
	const int sig = sched_loop(s, until_ns);
	notify("STOPPING=1");
	for (size_t i = 0; i < s->n; i++)
		group_release(&s->classes[i].group);
	close(signals);
	return sig;
}

void sched_fini(struct sched *s)
{
	hints_close(s->hints);
	jobs_fini(s); // may still write decisions
	decisions_close(s);
	for (size_t i = 0; i < s->n; i++) {
		group_fini(&s->classes[i].group);
		free(s->classes[i].name);
	}
	free(s->classes);
	kfd_topology_fini(&s->topology);
	spec_set_fini(&s->specs);
	if (s->following_log)
		tail_close(&s->log);
	newcomers_fini(&s->newcomers);
	free(s->polled);
	*s = (struct sched){0};
}
