// gpq bench preempt: cycles of suspend and resume on a living process.
#include "cmd/bench/bench.h"

#include "common/bench/raw.h"
#include "common/bench/attached.h"
#include "common/holder/holder.h"
#include "common/host/clock.h"
#include "common/host/xalloc.h"
#include "common/cli/progress.h"
#include "common/cli/text.h"
#include "common/kfd/topology.h"
#include "common/stats/moving.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEFAULT_CYCLES 100
#define DEFAULT_GAP_NS 10000000

struct preempt {
	const struct bench_opts *opts;
	const struct out_opts *out;
	pid_t pid;
	struct plan plan;
	struct cycle_plan cycles;
	bool spare;         // the gap is not the user's choice: cycles spare others
	struct moving cost; // of the last holds, to others
	uint64_t each_run;  // cycles of one of --runs; UINT64_MAX: until the time is over
	uint64_t total;     // cycles wanted, warm-up included; UINT64_MAX: until the time is over
	uint64_t end_ns;
	int signals;
	struct attached_target *attached;
	struct raw_file raw;
	struct bench_context context;
	struct result result;
	struct result_goals goals;
	struct requirements required;
	uint64_t done;
	uint64_t idle;
	struct progress progress;
};

static int choose_queues(struct preempt *p)
{
	struct kfd_topology gpus = {0};
	struct pick_queues queues;
	int status = pick_queues_init(&queues, &p->opts->queues);
	if (!status)
		status = pick_queues_check(&queues, &p->pid, 1);
	if (!status)
		status = pick_queues_load_gpus(&queues, &gpus);
	if (!status)
		pick_queues_select(&queues, p->pid, &gpus, &p->cycles.select);
	kfd_topology_fini(&gpus);
	pick_queues_fini(&queues);
	return status;
}

static int make_plan(struct preempt *p)
{
	const struct bench_opts *o = p->opts;
	struct cycle_setting base = {o->grace, CYCLE_NONE, o->hold_ns,
				     o->gap_ns == U64_NULL ? DEFAULT_GAP_NS : o->gap_ns};
	uint64_t seed = bench_seed(o, &p->context), runs = o->runs == U64_NULL ? 1 : o->runs;
	char why[128];
	if (o->grace > KFD_GRACE_MAX)
		return err_fail(GPQ_USAGE, NULL, "--grace: %" PRIu64 " is not 0 to 255", o->grace);
	if (plan_init(&p->plan, &base, o->sweep.v, o->sweep.n, seed, why))
		return err_fail(GPQ_USAGE, "for example --sweep grace=1,32,255", "--sweep: %s",
				why);
	p->spare = o->gap_ns == U64_NULL;
	for (size_t i = 0; i < o->sweep.n; i++)
		p->spare &= strncmp(o->sweep.v[i], "gap=", 4) != 0;
	p->cycles.settle_ns = o->settle_ns;
	p->cycles.patience_ns = o->patience_ns;
	uint64_t cycles = o->cycles != U64_NULL ? o->cycles : o->duration_ns ? 0 : DEFAULT_CYCLES;
	if (!o->cycles)
		return err_fail(GPQ_USAGE, "leave it out for 100, or as many as --duration allows",
				"--cycles: 0 measures nothing");
	if (!runs || (runs > 1 && !cycles))
		return err_fail(GPQ_USAGE, runs ? "add --cycles" : "leave it out for 1",
				runs ? "--runs: --duration alone does not say how long a run is"
				     : "--runs: 0 measures nothing");
	if (cycles > 1000000000 || o->warmup > 1000000 || runs > RESULT_REPEATS_MAX)
		return err_fail(GPQ_USAGE, NULL, "that many cycles would never end");
	p->each_run = cycles ? (cycles + o->warmup) * p->plan.n : UINT64_MAX;
	p->total = cycles ? p->each_run * runs : UINT64_MAX;
	return GPQ_OK;
}

#define COL(member, name, key, type, help) \
	OUT_COL(times_row, member, name, key, type, OUT_DEFAULT, help)
static const struct out_col overhead_cols[] = {
	COL(metric, "WHAT", "what", OUT_STR, "what was measured"),
	COL(n, "N", "n", OUT_U64, "samples"),
	COL(p50, "P50", "p50_ns", OUT_NS, "median"),
	COL(ci_low, "CI_LOW", "ci_low_ns", OUT_NS, "lower end of the median's 95 % interval"),
	COL(ci_high, "CI_HIGH", "ci_high_ns", OUT_NS, "upper end of it"),
	COL(p99, "P99", "p99_ns", OUT_NS, "99th percentile"),
	COL(max, "MAX", "max_ns", OUT_NS, "greatest sample"),
};
#undef COL
static const struct out_table overhead_table = {"overhead", "overhead", overhead_cols, 7};
const struct schema bench_overhead_schema = {"gpq.bench.overhead", 1,
					     SCHEMA_TABLES(&overhead_table), NULL};

static int check_arguments(const struct preempt *p, const struct cmd *c)
{
	const struct bench_opts *o = p->opts;
	if (c->argc > 1)
		return err_fail(GPQ_USAGE, NULL, "%s: preempt takes no file", c->argv[1]);
	if (o->pids.n != 1)
		return err_fail(GPQ_USAGE, "for example gpq bench preempt -p PID",
				"preempt measures one process: give its pid with -p");
	if (o->overhead &&
	    (o->raw || o->sweep.n || o->duration_ns || o->queues.ids.n || o->queues.gpus.n))
		return err_fail(GPQ_USAGE, "leave it out",
				"--overhead suspends nothing: --%s does not belong to it",
				o->raw            ? "raw"
				: o->sweep.n      ? "sweep"
				: o->duration_ns  ? "duration"
				: o->queues.ids.n ? "queue"
						  : "gpu");
	return out_check(&c->out, o->overhead ? &overhead_table : &bench_latencies_table);
}

static int prepare(struct preempt *p, struct cmd *c)
{
	p->opts = c->opts;
	p->out = &c->out;
	c->out.several = !p->opts->overhead && !c->out.columns;
	int status = check_arguments(p, c);
	if (status)
		return status;
	p->pid = p->opts->pids.v[0];
	bench_context_host(&p->context);
	status = make_plan(p);
	status = status ? status : choose_queues(p);
	if (status)
		return status;
	// Before the target is touched: a file that cannot be written is no reason to suspend it.
	if (raw_file_open(&p->raw, p->opts->raw))
		return err_sys(errno, NULL, "--raw %s", p->opts->raw);
	return GPQ_OK;
}

static int attach(struct preempt *p)
{
	struct kfd_queue *unreached;
	struct kfd_failure f = {0};
	p->signals = bench_signals_open();
	if (p->signals < 0)
		return err_sys(errno, NULL, "signalfd");
	p->attached = attached_open(p->pid, p->signals, &f);
	if (!p->attached)
		return err_fail(f.status, NULL, "pid %d: %s", (int)p->pid, f.text);
	bench_context_target(&p->context, &p->attached->session);
	if (!p->attached->session.num)
		return err_fail(GPQ_NOTFOUND, "gpq queues shows who has some",
				"pid %d has no queues", (int)p->pid);
	if (!kfd_watch_choose(&p->attached->watch, &p->attached->session, &p->cycles.select))
		return err_fail(GPQ_NOTFOUND, "gpq queues shows what there is",
				"pid %d has no queue of these whose read index can be read",
				(int)p->pid);
	ssize_t n = kfd_contexts_unreached(p->pid, &p->cycles.select, &unreached);
	if (n > 0)
		err_warn("gpq queues -o +CONTEXT shows them",
			 "pid %d: %zd queues of secondary contexts run on in all cycles: the debug "
			 "interface does not reach them",
			 (int)p->pid, n);
	free(unreached);
	return GPQ_OK;
}

// Called between cycles only, so that drawing disturbs no measurement.
static void draw(struct preempt *p)
{
	uint64_t now = clock_ns(), left = p->end_ns > now ? p->end_ns - now : 0;
	if (p->total != UINT64_MAX)
		progress_show(&p->progress, (double)p->done / (double)p->total,
			      "cycle %" PRIu64 " of %" PRIu64, p->done, p->total);
	else
		progress_show(&p->progress, 1 - (double)left / (double)p->opts->duration_ns,
			      "cycle %" PRIu64, p->done);
}

static int keep(struct preempt *p, const struct cycle *c)
{
	p->done++;
	p->idle += c->result == CYCLE_IDLE;
	if (result_add(&p->result, c))
		return err_sys(errno, "use fewer cycles or settings", "cycle %" PRIu64, p->done);
	raw_write(&p->raw.line, &p->context, c);
	if (raw_file_put(&p->raw) == 0)
		return GPQ_OK;
	return err_sys(errno, "what was measured up to here follows",
		       "--raw %s: stopped after %" PRIu64 " cycles", p->raw.path, p->raw.lines);
}

// The gap is as short as the user says; where he says nothing, cycles come no more often than
// others can bear.
static void pace(struct preempt *p, const struct cycle *c)
{
	double cost = result_metric(c, METRIC_cost);
	if (!p->spare || isnan(cost))
		return;
	moving_add(&p->cost, cost);
	p->cycles.period_ns = (uint64_t)(RESULT_COSTS * moving_percentile(&p->cost, 0.9));
}

// Says when cycles came more often than that.
static void warn_of_cost(const struct preempt *p)
{
	for (unsigned i = 0; i < p->result.n; i++) {
		struct result_setting *s = p->result.of[i];
		double least = result_least_period(s), period;
		period = samples_percentile(&s->metric[METRIC_suspend], 0.5) +
			 samples_percentile(&s->metric[METRIC_resume], 0.5) +
			 (double)(s->set.hold_ns + s->set.gap_ns);
		char text[24];
		if (p->spare || !(period < least))
			continue;
		err_warn("a greater --gap spares others",
			 "%s: cycles came more often than every %s: they took much of the time of "
			 "other queues on the GPU",
			 s->name, text_ns(text, bench_ns(least)));
		return;
	}
}

// Runs all cycles. GPQ_OK also when the target or the user ended it, which explain() reports.
static int measure(struct preempt *p, struct cycle *last)
{
	const struct bench_opts *o = p->opts;
	uint64_t every = o->untouched_every;
	progress_init(&p->progress, p->out->progress, false);
	p->end_ns = o->duration_ns ? clock_ns() + o->duration_ns : UINT64_MAX;
	for (uint64_t i = 0; i < p->total && clock_ns() < p->end_ns; i++) {
		uint64_t in_run = i % p->each_run;
		if (i && !in_run && !attached_wait(p->attached, clock_ns() + o->pause_ns))
			return GPQ_OK;
		*last = (struct cycle){.number = i,
				       .block = i / p->plan.n,
				       .repeat = i / p->each_run,
				       .warmup = in_run < o->warmup * p->plan.n,
				       .set = *plan_next(&p->plan, i)};
		uint64_t counted = in_run / p->plan.n - o->warmup; // wraps while it warms up
		bool untouched = every && !last->warmup && counted % every == 0;
		bool on = cycle_run(p->attached, &p->cycles, untouched, last);
		int status = keep(p, last);
		if (status || !on)
			return status;
		pace(p, last);
		draw(p);
	}
	return GPQ_OK;
}

static const char *first_refusal(const struct attached_target *s)
{
	for (unsigned i = 0; i < s->session.num; i++)
		if (s->outcome[i].result != KFD_RESULT_SUSPENDED)
			return kfd_result_name(s->outcome[i].result);
	return "no queue of these is there any more";
}

// Why it ended before its time. Exit status.
static int explain(const struct preempt *p, const struct cycle *last)
{
	const struct attached_target *s = p->attached;
	char after[64];
	snprintf(after, sizeof(after), "after %" PRIu64 " cycles", p->done);
	if (s->end == ATTACHED_GONE)
		return err_fail(GPQ_NOTFOUND, "what was measured follows",
				"pid %d: %s: the process ended, or ran another program",
				(int)p->pid, after);
	if (s->failure.status)
		return err_fail(s->failure.status, NULL, "pid %d: %s: %s", (int)p->pid, after,
				s->failure.text);
	if (s->end == ATTACHED_LOST)
		return err_fail(GPQ_FAILED, NULL, "pid %d: %s: its memory can no longer be read",
				(int)p->pid, after);
	if (s->end == ATTACHED_STOPPED) {
		err_warn("the target runs; what was measured follows", "stopped %s", after);
		return GPQ_PARTIAL;
	}
	if (last->result == CYCLE_FAILED)
		return err_fail(GPQ_FAILED, "the target runs; dmesg may tell more",
				"pid %d: %s: not suspended: %s", (int)p->pid, after,
				first_refusal(s));
	if (last->result == CYCLE_STUCK)
		return err_fail(GPQ_FAILED, "nothing is held; --patience waits longer",
				"pid %d: %s: no progress within %.3gs of resume although there is "
				"work",
				(int)p->pid, after, (double)p->opts->patience_ns / 1e9);
	if (p->idle)
		err_warn("measure while it has work",
			 "pid %d had nothing to do in %" PRIu64 " of %" PRIu64
			 " cycles: its progress then says nothing",
			 (int)p->pid, p->idle, p->done);
	return GPQ_OK;
}

enum { CLOCK, OWN, EMPTY, OVERHEADS };

// One sample of each: the clock alone, gpq's path without a call, an ioctl that suspends nothing.
static int sample_overhead(struct preempt *p, struct samples s[OVERHEADS])
{
	// No GPU has the id 0: the selection is checked against all queues and none is suspended.
	static const struct kfd_selection nothing = {.gpus = {0}, .num_gpus = 1};
	uint64_t t0 = clock_ns(), t1 = clock_ns();
	kfd_session_suspend(&p->attached->session, &nothing, 32, false, p->attached->outcome,
			    &p->attached->failure);
	uint64_t t2 = clock_ns();
	int r = kfd_session_suspend_nothing(&p->attached->session);
	uint64_t t3 = clock_ns();
	if (r)
		return r;
	samples_add(&s[CLOCK], (double)(t1 - t0));
	samples_add(&s[OWN], (double)(t2 - t1));
	samples_add(&s[EMPTY], (double)(t3 - t2));
	return 0;
}

static int measure_overhead(struct preempt *p, struct cmd *c)
{
	static const char *const what[] = {"reading the clock", "gpq without a call",
					   "ioctl with an empty list"};
	struct samples s[OVERHEADS] = {0};
	uint64_t n = p->opts->cycles != U64_NULL ? p->opts->cycles : 1000;
	int r = 0;
	for (uint64_t i = 0; i < n && !r && attached_wait(p->attached, 0); i++)
		r = sample_overhead(p, s);
	c->out.schema = &bench_overhead_schema;
	struct out *o = out_open(&c->out);
	int status = out_begin(o, &overhead_table, false);
	for (unsigned i = 0; i < OVERHEADS; i++) {
		struct times_row row = bench_times(NULL, what[i], &s[i]);
		if (!status && row.n)
			out_row(o, &row);
		samples_fini(&s[i]);
	}
	status = out_finish(o, status);
	if (r)
		return err_sys(-r, NULL, "suspending an empty list");
	return status ? status : explain(p, &(struct cycle){0});
}

static int run_attached(struct preempt *p, struct cmd *c)
{
	struct cycle last = {0};
	int status = attach(p);
	if (status)
		return status;
	if (!bench_context_is_gpu(&p->context))
		err_warn(NULL, "this is a software GPU: times here are not a GPU's");
	if (p->opts->overhead)
		return measure_overhead(p, c);
	status = measure(p, &last);
	progress_end(&p->progress);
	warn_of_cost(p);
	if (!status)
		status = explain(p, &last);
	return status;
}

int bench_preempt(struct cmd *c)
{
	struct preempt *p = xcalloc(1, sizeof(*p));
	p->raw.fd = p->signals = -1;
	signal(SIGPIPE,
	       SIG_IGN); // what was measured is printed even if the reader of --raw is gone
	const struct bench_opts *o = c->opts;
	int status = bench_goals(&o->goals, &p->goals);
	status = status ? status : require_parse(&p->required, &o->require, REQUIRE_PREEMPT);
	status = status ? status : prepare(p, c);
	status = status ? status : run_attached(p, c);
	if (p->attached)
		attached_close(p->attached); // nothing is held while the results are printed
	if (p->signals >= 0)
		close(p->signals);
	if (raw_file_close(&p->raw) && !status)
		status = err_sys(errno, NULL, "--raw %s", p->raw.path);
	if (p->done) {
		int printed =
			bench_print(&c->out, &p->context, &p->result, &p->goals, &p->required);
		status = status ? status : printed;
		status = status ? status : bench_required(&p->required, "", &p->result, NULL);
	}
	require_fini(&p->required);
	result_fini(&p->result);
	free(p);
	return status;
}
