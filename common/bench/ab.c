// Runs of the online/offline experiment; see ab.h.
#include "common/bench/ab.h"

#include "common/bench/ablog.h"
#include "common/bench/workload.h"
#include "common/bench/attached.h"
#include "common/host/clock.h"
#include "common/host/maths.h"
#include "common/host/number.h"
#include "common/host/proc.h"
#include "common/sched/sched.h"

#include <math.h>
#include <sys/wait.h>

#define MS 1000000ull

const char *const ab_mode_name[AB_MODES + 1] = {"alone", "shared", "preempt", NULL};

// What the offline command has printed: the mean over time, in a window, of what --offline-metric
// found. Each number holds since the line before; lines that are read at once share that time.
struct printed {
	bool is_ready;        // it has printed the line that --offline-ready waits for
	uint64_t from;        // when the window began; 0: it has not
	uint64_t since, at;   // when the last lines were read, and those before
	double sum, n;        // of the numbers of the last lines, and how many they are
	double work, covered; // numbers times their time, and that time, without the last
	uint64_t held;        // how long offline had been held when the last lines came
};

struct experiment {
	const struct ab_plan *plan;
	struct ab_run *run;
	struct workload online, offline;
	struct printed printed;
	uint64_t printed_ns; // when what the commands print is read
	char log[2][4096];   // paths of the AMD logs, by side; "": none
	struct {
		struct child child;     // reads a set of queues
		struct queue_set *into; // where the queues go that `child` reads
		unsigned queues;        // queues of both sides when `child` began
		unsigned taken;         // queues of both sides when the child of the last set began
		bool held;              // offline was suspended at some time since `child` began
	} look;                         // reading the queues of both sides
	struct {
		bool on;    // the online queues are sampled
		bool busy;  // the online queues had work at the last sample
		bool known; // since when: what runs already may have had it before the first sample
		uint64_t busy_since, sampled;
		uint64_t gpus; // of the online queues at the last look, for the log of decisions
		uint64_t look; // the longer of the times between the samples around `busy_since`,
			       // and around the end
	} watch;
	struct {
		bool by_work;  // offline is held whenever online has work
		uint64_t gpus; // of the offline queues, for the log of decisions
		struct policy_class decision;
		uint64_t since;      // when the last hold's suspend returned
		uint64_t took;       // how long suspending took for the last hold, ns
		struct moving costs; // what the latest holds cost other queues, ns
		uint64_t cost_ns;    // 90th percentile of `costs`
	} hold;
	uint64_t online_from, window_from, looked; // points in time, CLOCK_MONOTONIC
	int signals;
	bool stopped; // a signal ended the run
	int status;   // exit status of the first failure, which `why` describes; 0: none
	char *why;
};

__attribute__((format(printf, 3, 4))) static int ab_fail(struct experiment *x, int status,
							 const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	if (!x->status) {
		x->status = status;
		vsnprintf(x->why, 400, fmt, ap);
	}
	va_end(ap);
	return -1;
}

// Fails if a living process of the side cannot be suspended, resumed or watched.
static int check_side(struct experiment *x, const struct workload *s)
{
	const struct group_member *m = group_failed(&s->group);
	return m ? ab_fail(x, m->failure.status, "pid %d: %s", (int)m->target.pid, m->failure.text)
		 : 0;
}

// ---- what the commands print

// Adds the last lines to the work of the window.
static void add_last_lines(struct printed *p)
{
	if (!p->n || !p->from)
		return;
	const double span = (double)(p->at - greater(p->since, p->from));
	p->work += p->sum / p->n * span;
	p->covered += span;
}

// NaN: there is no number from 0 on.
static double read_number(const char *text)
{
	char *end = NULL;
	const double v = text ? strtod(text, &end) : 0;
	return end == text || !isfinite(v) || v < 0 ? NAN : v;
}

// Applies a pattern to a line of output, and reads its first group.
static double find_number(const struct experiment *x, enum ab_pattern pattern, const char *line,
			  const char **second)
{
	struct regex *r = x->plan->regex[pattern];
	return read_number(r ? regex_group(r, line, strlen(line), second) : NULL);
}

static void take_offline_line(void *arg, const char *line)
{
	struct experiment *x = arg;
	struct printed *p = &x->printed;
	struct regex *ready = x->plan->regex[AB_OFFLINE_READY];
	const char *second = NULL;
	if (ready && !p->is_ready)
		p->is_ready = regex_matches(ready, line, strlen(line));
	const double v = find_number(x, AB_OFFLINE_METRIC, line, &second);
	if (isnan(v))
		return;
	samples_add(&x->run->times.lines, v);
	samples_add(&x->run->times.lines_at, (double)x->printed_ns);
	if (x->printed_ns != p->at) {
		add_last_lines(p);
		p->since = p->at;
		p->at = x->printed_ns;
		p->sum = p->n = 0;
	}
	p->sum += v;
	p->n++;
}

static void add_request(struct experiment *x, double start, double ns)
{
	samples_add(&x->run->times.starts, maths()->fmax(start, 0));
	samples_add(&x->run->times.latency, ns);
}

// Returns when a request was due. `text` is that moment in seconds, of CLOCK_MONOTONIC or since
// 1970; as programs round it, it may be up to 1 s ahead. NaN: there is no number, or the moment is
// before the command began.
static double due_at(const struct experiment *x, const char *text)
{
	const double now = (double)x->printed_ns, latest = now + 1e9, at = 1e9 * read_number(text);
	const double since_1970 = at - (double)clock_read_ns(CLOCK_REALTIME) + now;
	const double due = at > latest ? since_1970 : at;
	return due >= (double)x->online_from && due <= latest ? due : NAN;
}

static void take_online_line(void *arg, const char *line)
{
	static const double unit_ns[] = {1, 1e3, 1e6, 1e9};
	struct experiment *x = arg;
	const char *second = NULL;
	const double ns = unit_ns[x->plan->metric_unit] * find_number(x, AB_METRIC, line, &second);
	if (!(ns < 0x1p63))
		return;
	const double due = due_at(x, second);
	x->run->undue += isnan(due) ? 1 : 0;
	add_request(x, isnan(due) ? (double)x->printed_ns - ns : due, ns);
}

// ---- which queues the sides have

// Reads a new set of queues whenever there are more than before: programs create them one by one.
static void look_at_queues(struct experiment *x)
{
	const unsigned num = x->online.group.num_queues + x->offline.group.num_queues;
	struct queue_set *s = x->look.into;
	if (!x->look.child.pid && num > x->look.taken) {
		x->look.queues = num;
		x->look.held = false;
		queue_set_take(&x->look.child, &x->online, &x->offline);
	}
	x->look.held |= x->offline.group.held;
	child_tick(&x->look.child, queue_set_line, s);
	if (!x->look.child.ended)
		return;
	if (x->look.child.status == 0) {
		x->look.taken = x->look.queues;
		for (size_t i = 0; x->look.held && i < s->n; i++)
			if (s->v[i].side == SIDE_OFFLINE) {
				s->v[i].slots[0] = '\0'; // a suspended queue has no hardware slot
				s->v[i].suspended = true;
			}
	}
	child_fini(&x->look.child);
}

// ---- the work and the holds, as gpq sched logs them

static uint64_t gpus_of(struct gpu_bits *bits, const struct group *g)
{
	uint64_t gpus = 0;
	for (size_t i = 0; i < g->n; i++)
		if (g->v[i]->state != MEMBER_ENDED)
			gpus |= gpu_bits_of(bits, g->v[i]->target.pid, g->v[i]->sel, 0);
	return gpus;
}

// Notes that offline work comes, is held or resumed (which took `took_ns`), or ends.
static void note_offline(struct experiment *x, const char *what, uint64_t took_ns)
{
	static char none[1];
	const struct sched_job job = {.class = SIDE_OFFLINE, .key = none, .tenant = none};
	const struct sched_unit unit = {.gpus = x->hold.gpus, .asked = strcmp(what, "hold") == 0};
	if (x->plan->decisions && unit.gpus)
		decisions_note(x->plan->decisions, what, &job, &unit, took_ns);
}

// Notes that the online queues have work from now on, or none.
static void note_online(struct experiment *x, bool work)
{
	struct sched *s = x->plan->decisions;
	if (!s)
		return;
	struct sched_class *c = &s->classes[SIDE_ONLINE];
	c->works = work ? x->watch.gpus : 0;
	decisions_note_work(s, SIDE_ONLINE);
	c->worked = c->works;
}

// ---- suspending and resuming offline work

static int set_held(struct experiment *x, bool hold)
{
	note_offline(x, hold ? "hold" : "release", 0); // not in the time that is measured
	uint64_t asked = clock_ns();
	bool was = x->offline.group.held;
	workload_hold(&x->offline, hold);
	if (check_side(x, &x->offline))
		return -1;
	uint64_t now = clock_ns();
	note_offline(x, "done", now - asked);
	samples_add(hold ? &x->run->times.suspend : &x->run->times.resume, (double)(now - asked));
	samples_add(hold ? &x->run->times.holds_at : &x->run->times.resumes_at, (double)asked);
	if (hold) {
		x->hold.took = now - asked;
		x->hold.since = now;
		x->run->holds++;
		x->run->unreached = x->offline.group.unreached;
	} else if (was) {
		x->run->held_ns += asked - x->hold.since;
		moving_add(&x->hold.costs, (double)(x->hold.took + now - asked));
		x->hold.cost_ns = (uint64_t)moving_percentile(&x->hold.costs, 0.9);
	}
	return 0;
}

// Are latencies those of requests that are seen in the queues?
static bool times_queues(const struct experiment *x)
{
	return !x->plan->regex[AB_METRIC] && !*x->log[SIDE_ONLINE];
}

// Samples the online queues, and holds offline work by them. An online request lasts from when
// these queues get work until they are empty again.
static int watch_online(struct experiment *x)
{
	// The strict policy of gpq sched, without a longest hold.
	const struct policy strict = {
		.kind = POLICY_STRICT, .idle_ns = x->plan->idle_ns, .max_hold_ns = UINT64_MAX / 2};
	group_sample(&x->online.group);
	bool work = group_has_work(&x->online.group);
	uint64_t now = clock_ns();
	const uint64_t look = now - (x->watch.sampled ? x->watch.sampled : x->online_from);
	x->watch.sampled = now;
	if (work && !x->watch.busy) {
		x->watch.busy_since = now;
		x->watch.look = look;
	} else if (!work && x->watch.busy && x->watch.known && times_queues(x)) {
		add_request(x, (double)x->watch.busy_since, (double)(now - x->watch.busy_since));
		samples_add(&x->run->times.looks, (double)greater(x->watch.look, look));
	}
	if (work != x->watch.busy)
		note_online(x, work);
	x->watch.known = x->watch.known || x->online.command || !work;
	x->watch.busy = work;
	if (!x->hold.by_work)
		return 0;
	policy_step(&strict, &x->hold.decision, now, work, x->offline.group.held, x->hold.cost_ns);
	return x->hold.decision.held == x->offline.group.held ? 0
							      : set_held(x, x->hold.decision.held);
}

// How long offline work was held in this run, until now.
static uint64_t held_until(const struct experiment *x, uint64_t now)
{
	return x->run->held_ns + (x->offline.group.held ? now - x->hold.since : 0);
}

static void take_outputs(void *arg)
{
	struct experiment *x = arg;
	x->printed_ns = clock_ns();
	child_tick(&x->online.child, take_online_line, x);
	child_tick(&x->offline.child, take_offline_line, x);
	if (x->printed.at == x->printed_ns)
		x->printed.held = held_until(x, x->printed_ns);
}

// The mean rate over the window. What follows the last line is not known, but for holds: no work.
static double window_rate(struct experiment *x, uint64_t end)
{
	struct printed *p = &x->printed;
	add_last_lines(p);
	const double held = (double)(held_until(x, end) - p->held);
	return p->covered > 0 ? p->work / (p->covered + held) : NAN;
}

static int look_at_sides(struct experiment *x)
{
	x->looked = clock_ns();
	x->plan->tick(x->plan->tick_arg, x->run);
	workload_look(&x->online);
	workload_look(&x->offline);
	if (x->plan->decisions) // here, as reading sysfs would delay the hold of a burst
		x->watch.gpus = gpus_of(&x->plan->decisions->bits, &x->online.group);
	if (check_side(x, &x->online) || check_side(x, &x->offline))
		return -1;
	look_at_queues(x);
	return 0;
}

// One turn of the loop, which waits for at most `ns`. Returns -1 if the run has to end.
static int ab_turn(struct experiment *x, uint64_t ns)
{
	struct pollfd p[] = {{.fd = x->signals, .events = POLLIN},
			     {.fd = x->online.child.out, .events = POLLIN},
			     {.fd = x->offline.child.out, .events = POLLIN}};
	wait_any(p, COUNT(p), clock_ns() + ns);
	if (p[0].revents && bench_signals_stop(x->signals))
		x->stopped = true;
	take_outputs(x);
	if (clock_ns() > x->looked + 50 * MS && look_at_sides(x))
		return -1;
	if (x->stopped)
		return ab_fail(x, 1, "stopped");
	return x->watch.on ? watch_online(x) : 0;
}

// Returns how long a turn may wait. Short turns see new work, and the end of work, at once. While
// work goes on, turns may be longer if latencies are read from output or logs.
static uint64_t turn_ns(const struct experiment *x)
{
	bool measured = x->plan->regex[AB_METRIC] || x->plan->log_dir || x->plan->online_log;
	if (!x->watch.on)
		return 2 * MS;
	return measured && x->watch.busy && x->offline.group.held == x->hold.by_work ? MS / 2
										     : MS / 20;
}

static int run_until(struct experiment *x, uint64_t until)
{
	while (clock_ns() < until)
		if (ab_turn(x, turn_ns(x)))
			return -1;
	return 0;
}

// ---- starting the commands

// Fails, as the command ended. `before` follows in the message: " before it had queues", or "".
static int ended_early(struct experiment *x, struct workload *s, const char *before)
{
	uint64_t patience = clock_ns() + 1000 * MS;
	if (!s->child.pid)
		return ab_fail(x, 1, "a process of the %s side ended", side_name[s->side]);
	while (!s->child.ended && clock_ns() < patience)
		ab_turn(x, 2 * MS);
	if (!s->child.ended)
		return ab_fail(x, 1, "a process of the %s command ended", side_name[s->side]);
	const struct buf *said = s->child.line.len ? &s->child.line : &s->child.last;
	bool killed = WIFSIGNALED(s->child.status);
	return ab_fail(x, 1, "the %s command ended with %s %d%s; it said last: %.*s",
		       side_name[s->side], killed ? "signal" : "status",
		       killed ? WTERMSIG(s->child.status) : WEXITSTATUS(s->child.status), before,
		       !said->len        ? 7
		       : said->len < 200 ? (int)said->len
					 : 200,
		       said->len ? said->data : "nothing");
}

// Does the side have queues? On the offline side no process may have joined for 500 ms, either.
static bool has_queues(struct experiment *x, struct workload *s)
{
	uint64_t steady = s == &x->offline ? 500 * MS : 0;
	return !look_at_sides(x) && s->group.num_queues && clock_ns() >= s->group.grown_ns + steady;
}

// Is the offline side at work? Having queues is no sign: programs create them long before use.
static bool is_at_work(struct experiment *x, struct workload *s)
{
	return x->plan->regex[AB_OFFLINE_READY] ? x->printed.is_ready : group_has_moved(&s->group);
}

static int was_late(struct experiment *x, const struct workload *s, const char *late)
{
	char name[64];
	pid_t pid = s->group.n ? 0 : workload_stranger(s, name);
	double waited = (double)x->plan->ready_ns / 1e9;
	if (pid)
		return ab_fail(
			x, 1,
			"the %s command %s within %.3g s; pid %d (%s) began meanwhile, is no "
			"descendant of it, and runs on: --%s takes such processes in",
			side_name[s->side], late, waited, (int)pid, name, side_name[s->side]);
	return ab_fail(x, 1, "the %s %s %s within %.3g s", side_name[s->side],
		       s->command ? "command" : "side", late, waited);
}

// Waits until `is_ready`. Messages end in `before` if the command ended, in `late` after ready_ns.
static int wait_for_side(struct experiment *x, struct workload *s,
			 bool (*is_ready)(struct experiment *x, struct workload *s),
			 const char *before, const char *late)
{
	uint64_t end = clock_ns() + x->plan->ready_ns;
	while (!is_ready(x, s)) {
		if (x->status || ab_turn(x, 10 * MS))
			return -1;
		// With a SPEC, a command may end with status 0: other processes do the work.
		if (s->child.ended && (!spec_set_has(s->specs, s->side) || s->child.status))
			return ended_early(x, s, before);
		if (clock_ns() >= end)
			return was_late(x, s, late);
	}
	return 0;
}

static int start_side(struct experiment *x, struct workload *s, bool wait)
{
	s->begun = true;
	if (s->command) {
		if (child_start(&s->child, s->command, x->plan->setting,
				x->plan->log_dir ? x->log[s->side] : NULL))
			return ab_fail(x, 1, "%s: %s", s->command, strerror(errno));
		s->child_start = kfd_target_start(s->child.pid);
	}
	return wait ? wait_for_side(x, s, has_queues, " before it had queues", "had no queues") : 0;
}

static int start_offline(struct experiment *x)
{
	struct workload *s = &x->offline;
	workload_attach(s, x->plan->grace);
	if (start_side(x, s, true))
		return -1;
	return wait_for_side(x, s, is_at_work, " before it was at work",
			     x->plan->regex[AB_OFFLINE_READY]
				     ? "printed no line that matches --offline-ready"
				     : "has queues, but they took nothing");
}

// ---- counting in the window

static void begin_ab_window(struct experiment *x)
{
	take_outputs(x); // what was printed before is not of the window
	group_count_begin(&x->offline.group);
	x->window_from = x->printed.from = clock_ns();
	x->printed.n = 0;
}

static int end_ab_window(struct experiment *x, uint64_t without_leads_ns)
{
	const uint64_t end = clock_ns();
	x->run->window_ns = end - x->window_from;
	x->run->leads_ns = x->run->window_ns - without_leads_ns;
	x->run->offline_rate = window_rate(x, end);
	if (!group_count_end(&x->offline.group, &x->run->packets))
		return ended_early(x, &x->offline, "");
	return 0;
}

static int run_online(struct experiment *x)
{
	struct workload *s = &x->online;
	x->online_from = clock_ns();
	const bool watch = x->plan->hold == AB_HOLD_PROGRESS;
	if (watch)
		workload_attach(s, 0);
	if (start_side(x, s, watch))
		return -1;
	x->watch.on = watch;
	uint64_t end = s->command ? UINT64_MAX : clock_ns() + x->plan->for_ns;
	while (!s->child.ended && clock_ns() < end)
		if (ab_turn(x, turn_ns(x)))
			return -1;
	x->run->online_ns = clock_ns() - x->online_from;
	return s->child.status ? ended_early(x, s, "") : 0;
}

// Called after child_end(): notes processes that started after the command, are not in the
// command's process group, and live on.
static void note_lost(struct ab_run *r, const struct workload *s)
{
	for (size_t i = 0; i < s->group.n && s->child_start; i++) {
		const struct kfd_target *t = &s->group.v[i]->target;
		struct proc p;
		if (t->start < s->child_start || getpgid(t->pid) == s->child.pid ||
		    !kfd_target_alive(t) || proc_read(&p, t->pid))
			continue;
		if (!r->lost++) {
			r->lost_pid = t->pid;
			snprintf(r->lost_name, sizeof(r->lost_name), "%s", p.comm);
		}
	}
}

static void end_online(struct experiment *x)
{
	x->watch.on = x->watch.busy = false;
	note_online(x, false);
	group_release(&x->online.group);
	child_end(&x->online.child, 2000 * MS, take_outputs, x);
	note_lost(x->run, &x->online);
}

static int run_beside(struct experiment *x, enum ab_mode mode)
{
	bool whole = mode == AB_PREEMPT && x->plan->hold == AB_HOLD_COMMAND;
	if (start_offline(x))
		return -1;
	x->hold.by_work = mode == AB_PREEMPT && x->plan->hold == AB_HOLD_PROGRESS;
	begin_ab_window(x);
	if (run_until(x, clock_ns() + x->plan->lead_ns))
		return -1;
	const uint64_t from = clock_ns();
	if (x->plan->decisions)
		x->hold.gpus = gpus_of(&x->plan->decisions->bits, &x->offline.group);
	note_offline(x, "unit", 0);
	if (whole && set_held(x, true))
		return -1;
	int r = run_online(x);
	end_online(x);
	x->hold.by_work = false;
	if ((x->offline.group.held && set_held(x, false)) || r)
		return -1;
	note_offline(x, "ended", 0);
	const uint64_t between = clock_ns() - from;
	return run_until(x, clock_ns() + x->plan->lead_ns) ? -1 : end_ab_window(x, between);
}

// Suspends (`hold`) or resumes offline work that runs already, so that online work runs alone.
static int hold_aside(struct experiment *x, bool hold)
{
	if (x->plan->command[SIDE_OFFLINE])
		return 0;
	if (hold && start_offline(x))
		return -1;
	workload_hold(&x->offline, hold);
	return check_side(x, &x->offline);
}

static int run_alone(struct experiment *x)
{
	int r = hold_aside(x, true) || run_online(x);
	end_online(x);
	r = r || hold_aside(x, false);
	child_fini(&x->look.child); // the next set is read while offline work runs alone
	x->look.taken = 0;
	x->look.into = &x->run->queue_set[1];
	if (r || start_offline(x))
		return -1;
	begin_ab_window(x);
	if (run_until(x, clock_ns() + x->run->online_ns + 2 * x->plan->lead_ns))
		return -1;
	return end_ab_window(x, x->run->online_ns);
}

// ---- reading AMD logs

// Reads one side's AMD log for `ns` nanoseconds from `from` on (CLOCK_MONOTONIC, as in the log).
static int read_side_log(struct experiment *x, enum side side, uint64_t from, uint64_t ns,
			 struct ablog *l)
{
	const char *path = x->log[side], *name = side_name[side];
	*l = (struct ablog){.from_us = from / 1000, .until_us = (from + ns) / 1000};
	if (ablog_add(l, path))
		return ab_fail(x, 1, "the %s command's log %s: %s", name, path,
			       errno == ENOENT ? "it wrote none; does it use HIP?"
					       : strerror(errno));
	if (!l->records)
		return ab_fail(x, 1, "the %s command's log %s has no record of the time it ran",
			       name, path);
	return 0;
}

static int take_log_latencies(struct experiment *x)
{
	struct ablog l;
	int r = read_side_log(x, SIDE_ONLINE, x->online_from, x->run->online_ns, &l);
	samples_fini(&x->run->times.latency);
	samples_fini(&x->run->times.starts);
	x->run->times.latency = l.latency;
	x->run->times.starts = l.starts;
	if (!r && !x->run->times.latency.n)
		return ab_fail(x, 1,
			       "the online command's log %s has no launch that a call waits for",
			       x->log[SIDE_ONLINE]);
	return r;
}

static void take_log_rate(struct experiment *x)
{
	struct ablog l;
	read_side_log(x, SIDE_OFFLINE, x->window_from, x->run->window_ns, &l);
	// if the log has no packets, ab_run.packets (from read indices) counts instead
	if (l.packets)
		x->run->offline_logged = l.packets;
	samples_fini(&l.latency);
	samples_fini(&l.starts);
}

// Takes latencies: those printed, logged or seen in the queues, or the time of the whole command.
static int take_latencies(struct experiment *x)
{
	const bool prints = x->plan->regex[AB_METRIC] != NULL;
	if (*x->log[SIDE_ONLINE] && !prints)
		return take_log_latencies(x);
	if (!prints && x->plan->hold == AB_HOLD_COMMAND)
		add_request(x, (double)x->online_from, (double)x->run->online_ns);
	x->run->due = prints && !x->run->undue;
	if (!x->run->times.latency.n)
		return ab_fail(x, 1, "%s",
			       prints ? "no line of the online command's output matches --metric"
				      : "the online command's queues never had anything to do");
	return 0;
}

// ---- one run of the experiment

static int name_side_logs(struct experiment *x, enum ab_mode mode, uint64_t number)
{
	const struct ab_plan *p = x->plan;
	const char *const given[] = {p->online_log, p->offline_log};
	for (unsigned i = 0; i < 2; i++) {
		int n = snprintf(x->log[i], sizeof(x->log[i]), "%s", given[i] ? given[i] : "");
		if (p->log_dir)
			n = snprintf(x->log[i], sizeof(x->log[i]), "%s/%s-%llu-%s.log", p->log_dir,
				     ab_mode_name[mode], (unsigned long long)number + 1,
				     side_name[i]);
		if (n >= (int)sizeof(x->log[i]))
			return ab_fail(x, 2, "--log-dir: the name is too long");
	}
	return 0;
}

static void measure_mode(struct experiment *x, enum ab_mode mode, uint64_t number)
{
	int r = name_side_logs(x, mode, number);
	r = r || (mode == AB_ALONE ? run_alone(x) : run_beside(x, mode));
	group_release(&x->offline.group);
	child_end(&x->offline.child, 2000 * MS, take_outputs, x);
	note_lost(x->run, &x->offline);
	r = r || take_latencies(x);
	if (!r && *x->log[SIDE_OFFLINE])
		take_log_rate(x);
}

int ab_run_mode(const struct ab_plan *p, enum ab_mode mode, uint64_t number, struct ab_run *r,
		bool *stopped, char why[400])
{
	SCOPED(free_at) struct experiment *x = xcalloc(1, sizeof(*x));
	*why = '\0';
	*r = (struct ab_run){.mode = mode,
			     .number = number,
			     .leads_ns = UINT64_MAX,
			     .offline_rate = NAN,
			     .offline_logged = UINT64_MAX};
	x->plan = p;
	x->run = r;
	x->why = why;
	workload_init(&x->online, SIDE_ONLINE, p->command[SIDE_ONLINE], &p->specs);
	workload_init(&x->offline, SIDE_OFFLINE, p->command[SIDE_OFFLINE], &p->specs);
	x->look.into = r->queue_set;
	x->look.child.out = -1;
	x->signals = bench_signals_open();
	measure_mode(x, mode, number);
	int status = x->status;
	*stopped = x->stopped;
	child_fini(&x->look.child);
	workload_fini(&x->online);
	workload_fini(&x->offline);
	close(x->signals);
	return status;
}
