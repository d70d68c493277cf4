// gpq bench preempt: cycles of suspend and resume on a living process.
#include "cmd/bench/bench.h"

#include "cmd/bench/steps.h"
#include "cmd/suspend/suspend.h"
#include "common/bench/cycle.h"
#include "common/holder/holder.h"
#include "common/host/number.h"
#include "common/kfd/topology.h"
#include "common/rows/queue_rows.h"
#include "common/stats/samples.h"

#define DEFAULT_CYCLES 300
#define DEFAULT_GAP_NS 10000000
// --until-shown: the most cycles; how many there are at the first look, after which each look comes
// when they have doubled; the looks that are planned for where --for alone ends the measurement.
#define MOST_CYCLES 10000
#define LOOK_FIRST  20
#define LOOKS_MOST  20

struct preempt {
	const struct bench_opts *opts;
	const struct out_opts *out;
	struct group targets;
	struct plan plan;
	struct cycle_plan cycles;
	struct moving costs; // what the latest holds cost other queues, ns
	uint64_t each_run;   // cycles of one of the --runs; UINT64_MAX: until --for is over
	uint64_t total;      // cycles wanted, warm-up included; UINT64_MAX: until --for is over
	uint64_t end_ns;
	int signals;
	struct attached attached;
	struct measurement m;
	struct steps steps;
	uint64_t done, idle; // cycles that ran, and those of them that found no work
	uint64_t look;       // --until-shown: cycles of each setting at the next look
};

static bool has_queues(const struct group_member *m, const void *arg)
{
	(void)arg;
	return group_list_queues(m->target.pid, NULL);
}

static int choose_targets(struct preempt *p)
{
	struct group *t = &p->targets;
	const struct bench_opts *o = p->opts;
	int status = targets_find(t, &o->pick, &o->queues, AMONG_OPEN);
	status = status ? status : targets_report(t);
	if (status || o->dry)
		return status;
	if (pick_needs_host(&o->pick))
		group_keep(t, has_queues, NULL);
	if (!t->n)
		return err_fail(GPQ_NOTFOUND, "gpq queues shows who has some",
				"no process that the options choose has queues");
	if (t->n > ATTACHED_MAX)
		return err_fail(GPQ_USAGE, "choose fewer", "%zu processes are more than %d", t->n,
				ATTACHED_MAX);
	return GPQ_OK;
}

static int base_plan(struct plan *plan, const struct bench_opts *o, uint64_t seed)
{
	const struct cycle_setting base = {o->grace,
					   CYCLE_NONE,
					   CYCLE_NONE,
					   o->hold_ns,
					   o->gap_ns == U64_NULL ? DEFAULT_GAP_NS : o->gap_ns,
					   CYCLE_NONE};
	char why[128];
	return plan_init(plan, &base, o->sweep.v, o->sweep.n, seed, why)
		       ? err_fail(GPQ_USAGE, "for example --sweep grace=1,32,255", "--sweep: %s",
				  why)
		       : GPQ_OK;
}

// Returns --cycles, or its default; 0: until --for is over.
static uint64_t cycles_wanted(const struct bench_opts *o)
{
	return o->cycles != U64_NULL ? o->cycles
	       : o->duration_ns      ? 0
	       : o->until_shown      ? MOST_CYCLES
				     : DEFAULT_CYCLES;
}

static uint64_t runs_wanted(const struct bench_opts *o)
{
	return o->runs == U64_NULL ? 1 : o->runs;
}

const struct opt_rule bench_preempt_rules[] = {
	BENCH_GRACE_RULE,
	RULE_EXCLUDES("until-shown", "runs", "leave --runs out",
		      "--until-shown: runs that end early could not be compared"),
	{0},
};

int bench_check_preempt(struct cmd *c)
{
	const struct bench_opts *o = c->opts;
	const uint64_t cycles = cycles_wanted(o), runs = runs_wanted(o);
	struct plan plan;
	if (!pick_asks(&o->pick))
		return err_fail(GPQ_USAGE, "for example gpq bench preempt -p PID",
				"preempt needs to know which processes to measure");
	if (!o->cycles)
		return err_fail(GPQ_USAGE, "leave it out for 300, or as many as --for allows",
				"--cycles: 0 measures nothing");
	if (!runs || (runs > 1 && !cycles))
		return err_fail(GPQ_USAGE, runs ? "add --cycles" : "leave it out for 1",
				runs ? "--runs: --for alone does not say how long a run is"
				     : "--runs: 0 measures nothing");
	if (cycles > 1000000000 || o->warmup > 1000000 || runs > RESULT_REPEATS_MAX)
		return err_fail(GPQ_USAGE, NULL, "that many cycles would never end");
	const int status = base_plan(&plan, o, 0);
	return status ? status : bench_check_limits(o, REQUIRE_PREEMPT);
}

static int make_plan(struct preempt *p)
{
	const struct bench_opts *o = p->opts;
	const uint64_t cycles = cycles_wanted(o);
	// bench_check_preempt() has seen that there is such a plan.
	base_plan(&p->plan, o, bench_seed(o, &p->m.run->context));
	if (p->targets.n > 1 && (p->targets.n + 1) * p->plan.n > PLAN_SETTINGS_MAX)
		return err_fail(GPQ_USAGE, "compare fewer settings",
				"--sweep: %u settings of %zu processes are too many", p->plan.n,
				p->targets.n);
	// If the user chose no gap, the gap is made long enough to spare other queues.
	bool spare = o->gap_ns == U64_NULL;
	for (size_t i = 0; i < o->sweep.n; i++)
		spare &= strncmp(o->sweep.v[i], "gap=", 4) != 0;
	p->cycles.costs = spare ? &p->costs : NULL;
	p->cycles.settle_ns = o->settle_ns;
	p->cycles.patience_ns = o->patience_ns;
	p->each_run = cycles ? (cycles + o->warmup) * p->plan.n : UINT64_MAX;
	p->total = cycles ? p->each_run * runs_wanted(o) : UINT64_MAX;
	return GPQ_OK;
}

static int prepare_preempt(struct preempt *p, struct cmd *c)
{
	const struct bench_opts *o = p->opts = c->opts;
	p->out = &c->out;
	bench_context_host(&p->m.run->context);
	int status = choose_targets(p);
	status = status ? status : make_plan(p);
	if (status || o->dry)
		return status;
	// Before all that the guard of the trace, a child, would inherit.
	status = o->breakdown ? steps_open(&p->steps) : GPQ_OK;
	if (status)
		return status;
	// The file is opened before the target is touched, in case that fails.
	return raw_file_open(&p->m.raw, o->raw) ? err_sys(errno, NULL, "--samples %s", o->raw)
						: GPQ_OK;
}

static void warn_unreached(const struct group_member *m)
{
	SCOPED(free_at) struct kfd_queue *unreached = NULL;
	ssize_t n = kfd_contexts_unreached(m->target.pid, m->sel, &unreached);
	if (n > 0)
		err_warn("gpq queues -o +CONTEXT_ID shows them",
			 "pid %d: %zd queues of secondary contexts run on in all cycles: the debug "
			 "interface does not reach them",
			 (int)m->target.pid, n);
}

// Notes the levels of the chosen queues. Queues of secondary contexts cannot be held, and their ids
// are counted anew from 0.
static void note_levels(struct attached_process *a, const struct queue_rows *q)
{
	const pid_t pid = a->m->target.pid;
	for (size_t i = 0; i < q->n; i++) {
		const struct queue_row *r = &q->rows[i];
		const struct kfd_queue_entry e = {.gpu_id = (uint32_t)r->gpu_id,
						  .queue_id = (uint32_t)r->qid};
		struct prio_choice one;
		if (r->pid != pid || r->qid >= KFD_MAX_QUEUES || r->context != U64_NULL ||
		    !kfd_selected(a->m->sel, &e))
			continue;
		for (uint8_t k = 0; plan_levels[k]; k++)
			if (!prio_parse(&one, plan_levels[k]) &&
			    prio_fits(&one, r->v[MQD_V_QUEUE_PRIO], r->v[MQD_V_PIPE_PRIO]) ==
				    KFD_ANSWER_YES)
				a->level[r->qid] = k + 1;
	}
}

// --sweep prio=: reads the levels of all queues. Fails if a process has none of a level.
static int read_levels(struct preempt *p)
{
	const struct queue_rows_how how = {.want = READ_TYPE | READ_GPU | READ_MQD};
	SCOPED(process_cache_fini) struct process_cache processes = {0};
	SCOPED(queue_rows_fini) struct queue_rows q = {0};
	int status = needs_check(NEED_DEBUGFS);
	status = status ? status : queue_rows_load(&q, &processes, &how);
	if (!status && q.mqds_error)
		return err_sys(q.mqds_error, "levels are in debugfs, which is for root",
			       "--sweep: read the priorities of queues");
	for (size_t i = 0; i < p->attached.n && !status; i++) {
		struct attached_process *a = &p->attached.v[i];
		note_levels(a, &q);
		for (unsigned k = 0; k < p->plan.n && !status; k++) {
			const uint64_t level = p->plan.setting[k].level;
			if (!memchr(a->level, (int)level + 1, sizeof(a->level)))
				status = err_fail(GPQ_NOTFOUND,
						  "gpq queues -o +PRIO shows what there is",
						  "--sweep: pid %d has no queue of these whose "
						  "priority is %s",
						  (int)a->m->target.pid, plan_levels[level]);
		}
	}
	return status;
}

static int attach_targets(struct preempt *p)
{
	struct attached *a = &p->attached;
	const struct group *t = &p->targets;
	bench_context_driver(&p->m.run->context);
	p->signals = bench_signals_open();
	if (p->signals < 0)
		return err_sys(errno, NULL, "signalfd");
	uint64_t longest = 0;
	for (unsigned i = 0; i < p->plan.n; i++)
		longest = greater(longest, p->plan.setting[i].hold_ns);
	attached_open(a, t->n, longest, p->signals);
	for (size_t i = 0; i < t->n; i++) {
		const int pid = (int)t->v[i]->target.pid;
		const bool ok = attached_add(a, pid, t->v[i]->sel);
		if (a->v[i].end == ATTACHED_GONE)
			return err_fail(GPQ_NOTFOUND, "gpq queues shows who has queues",
					"pid %d ended before it was measured", pid);
		if (!ok)
			return err_fail(a->v[i].m->failure.status, NULL, "pid %d: %s", pid,
					a->v[i].m->failure.text);
		if (!a->v[i].m->watch.n)
			return err_fail(GPQ_NOTFOUND, "gpq queues shows what there is",
					"pid %d has no queue of these whose read index can be read",
					pid);
		warn_unreached(t->v[i]);
	}
	attached_choose(a, p->opts->grace, UINT64_MAX, UINT64_MAX);
	bench_context_targets(&p->m.run->context, a);
	return p->plan.setting[0].level == CYCLE_NONE ? GPQ_OK : read_levels(p);
}

// Called between cycles only, so that drawing disturbs no measurement.
static void draw_cycles(struct preempt *p)
{
	uint64_t now = clock_ns(), left = p->end_ns > now ? p->end_ns - now : 0;
	if (p->total != UINT64_MAX)
		progress_show(&p->m.progress, (double)p->done / (double)p->total,
			      "cycle %" PRIu64 " of %" PRIu64, p->done, p->total);
	else
		progress_show(&p->m.progress, 1 - (double)left / (double)p->opts->duration_ns,
			      "cycle %" PRIu64, p->done);
}

static int keep_cycle(struct preempt *p, const struct cycle *c)
{
	p->done += RESULT_IS_WHOLE(&c->set);
	p->idle += c->result == CYCLE_IDLE;
	if (result_add(&p->m.run->result, c))
		return err_sys(errno, "use fewer cycles or settings", "cycle %" PRIu64, p->done);
	raw_write(&p->m.raw.line, &p->m.run->context, c);
	if (raw_file_put(&p->m.raw) == 0)
		return GPQ_OK;
	return err_sys(errno, "what was measured up to here follows",
		       "--samples %s: stopped after %" PRIu64 " cycles", p->m.raw.path,
		       p->m.raw.lines);
}

// Warns if cycles came more often than the least period that spares other queues.
static void warn_of_cost(const struct preempt *p)
{
	for (unsigned i = 0; i < p->m.run->result.n; i++) {
		struct result_setting *s = p->m.run->result.of[i];
		double least = result_least_period(s), period;
		period = samples_percentile(&s->metric[METRIC_suspend], 0.5) +
			 samples_percentile(&s->metric[METRIC_resume], 0.5) +
			 (double)(s->set.hold_ns + s->set.gap_ns);
		char text[24];
		if (p->cycles.costs || !(period < least))
			continue;
		err_warn("a greater --gap spares others",
			 "%s: cycles came more often than every %s: they took much of the time of "
			 "other queues on the GPU",
			 s->name, text_ns(text, bench_ns(least)));
		return;
	}
}

// --until-shown: may the measurement end after cycle number `i`?
static bool may_end(struct preempt *p, uint64_t i)
{
	const uint64_t cycles = cycles_wanted(p->opts);
	uint64_t looks = 0;
	p->look = p->look ? p->look : LOOK_FIRST;
	if (i + 1 != (p->opts->warmup + p->look) * p->plan.n)
		return false;
	for (uint64_t at = LOOK_FIRST; at < cycles || (!cycles && looks < LOOKS_MOST); at *= 2)
		looks++;
	p->look *= 2;
	return looks && bench_may_end(&p->m, p->opts, looks);
}

// Runs all cycles; `v` has room for cycle_lines(). Returns GPQ_OK also if the target or the user
// ended the measurement, which explain_end() reports.
static int measure_cycles(struct preempt *p, struct cycle *v)
{
	const struct bench_opts *o = p->opts;
	uint64_t every = o->baseline_every, lines = cycle_lines(&p->attached);
	progress_init(&p->m.progress, p->out->progress, false);
	p->end_ns = o->duration_ns ? clock_ns() + o->duration_ns : UINT64_MAX;
	for (uint64_t i = 0; i < p->total && clock_ns() < p->end_ns; i++) {
		uint64_t in_run = i % p->each_run;
		if (i && !in_run && !attached_wait(&p->attached, clock_ns() + o->pause_ns))
			return GPQ_OK;
		*v = (struct cycle){.number = i * lines,
				    .block = i / p->plan.n,
				    .repeat = i / p->each_run,
				    .warmup = in_run < o->warmup * p->plan.n,
				    .set = *plan_next(&p->plan, i)};
		uint64_t counted = in_run / p->plan.n - o->warmup; // blocks; wraps in the warm-up
		bool baseline = every && !v->warmup && counted % every == 0;
		bool on = cycle_run(&p->attached, &p->cycles, baseline, v);
		int status = GPQ_OK;
		steps_take(&p->steps, &p->attached, v);
		for (size_t k = 0; k < lines && !status; k++)
			status = keep_cycle(p, &v[k]);
		if (status || !on || may_end(p, i))
			return status;
		draw_cycles(p);
	}
	return GPQ_OK;
}

// Says why a process ended the measurement, if it did. Returns the exit status.
static int explain_process(const struct preempt *p, const struct attached_process *m,
			   const struct cycle *last, const char *after)
{
	const int pid = (int)m->m->target.pid, status = m->m->failure.status;
	const bool ended = m->end || last->result == CYCLE_FAILED;
	// When a program calls exec, its queues, its debug session and its holder end, in this
	// order.
	if (m->end == ATTACHED_GONE || (ended && kfd_watch_is_over(&m->m->watch)))
		return err_fail(GPQ_NOTFOUND, "what was measured follows",
				"pid %d: %s: the process ended, or ran another program", pid,
				after);
	if (m->end)
		return err_fail(status ? status : GPQ_FAILED, NULL, "pid %d: %s: %s", pid, after,
				status ? m->m->failure.text : "its memory can no longer be read");
	if (last->result == CYCLE_FAILED)
		return err_fail(GPQ_FAILED, "the target runs; dmesg may tell more",
				"pid %d: %s: not suspended: %s", pid, after,
				m->refused && m->refused != KFD_RESULT_UNKNOWN
					? kfd_result_name(m->refused)
					: "no queue of these is there any more");
	if (last->result == CYCLE_STUCK)
		return err_fail(GPQ_FAILED, "nothing is held; --patience waits longer",
				"pid %d: %s: no progress within %.3gs of resume although there is "
				"work",
				pid, after, (double)p->opts->patience_ns / 1e9);
	return GPQ_OK;
}

// Says why the measurement ended early, if it did. Returns the exit status.
static int explain_end(struct preempt *p, struct cycle *last)
{
	const struct attached *a = &p->attached;
	int status = GPQ_OK;
	char after[64];
	snprintf(after, sizeof(after), "after %" PRIu64 " cycles", p->done);
	for (size_t i = 0; i < a->n && !status; i++)
		status = explain_process(p, &a->v[i], cycle_of(a, last, i), after);
	if (!status && a->stopped) {
		err_warn("the target runs; what was measured follows", "stopped %s", after);
		return GPQ_PARTIAL;
	}
	if (!status && p->idle)
		err_warn("measure while it has work",
			 "pid %d had nothing to do in %" PRIu64 " of %" PRIu64
			 " cycles: its progress then says nothing",
			 (int)a->v->m->target.pid, p->idle, p->done);
	return status;
}

static int run_attached(struct preempt *p)
{
	int status = attach_targets(p);
	if (status)
		return status;
	if (!bench_context_is_gpu(&p->m.run->context))
		err_warn(NULL, "this is a software GPU: times here are not a GPU's");
	SCOPED(free_at) struct cycle *v = xcalloc(cycle_lines(&p->attached), sizeof(*v));
	status = measure_cycles(p, v);
	progress_end(&p->m.progress);
	warn_of_cost(p);
	return status ? status : explain_end(p, v);
}

int bench_preempt(struct cmd *c)
{
	SCOPED(free_at) struct preempt *p = xcalloc(1, sizeof(*p));
	p->signals = -1;
	const struct bench_opts *o = c->opts;
	int status = measurement_begin(&p->m, c, false);
	status = status ? status : prepare_preempt(p, c);
	c->out.schema = o->dry ? &suspend_schema : c->out.schema;
	if (!status)
		status = o->dry ? suspend_dry(c, &p->targets, NULL) : run_attached(p);
	attached_close(&p->attached); // nothing is held while the results are printed
	close_quietly(p->signals);
	status = steps_close(&p->steps, status);
	status = measurement_end(&p->m, c, status);
	group_fini(&p->targets);
	return status;
}
