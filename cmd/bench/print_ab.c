// Tables of gpq bench ab: results of the online/offline experiment. See print.c.
#include "cmd/bench/bench.h"

#include "cmd/snapshot/snapshot.h"

#include <math.h>

#define ROW times_row
static const struct out_col online_cols[] = {
	COL(setting, "MODE", "mode", STR, D,
	    "alone, shared with the offline work, or with it preempted"),
	COL(runs, "RUNS", "runs", U64, D, "runs"),
	COL(n, "N", "n", U64, D, "online requests"),
	COL(mean, "MEAN", "mean_ns", NS, D, "mean latency"),
	COL(sd, "SD", "sd_ns", NS, D, "standard deviation"),
	COL(p50, "P50", "p50_ns", NS, D, "median"),
	COL(p95, "P95", "p95_ns", NS, D, "95th percentile"),
	COL(p99, "P99", "p99_ns", NS, D, "99th percentile"),
	COL(max, "MAX", "max_ns", NS, D, "greatest"),
	COL(ratio, "RATIO", "ratio", F64, D, "median against that of alone"),
	COL(p99_ratio, "P99_RATIO", "p99_ratio", F64, D,
	    "99th percentile against that of alone; of too few samples unknown"),
	COL(achieved, "ACHIEVED/S", "achieved_per_s", F64, D | W, "requests a second"),
	COL(offered, "OFFERED/S", "offered_per_s", F64, D | W,
	    "those that were due, where --metric says when; else those of alone: what is sent by a "
	    "client that waits for each answer, if it is not delayed"),
	COL(p99_corrected, "P99_CORRECTED", "p99_corrected_ns", NS, D | W,
	    "99th percentile with the requests that such a client did not send meanwhile; of "
	    "requests that were due at a time it is P99"),
};
#undef ROW
const struct out_table bench_online_table = {"online", "online", OUT_COLS(online_cols)};

struct offline_row {
	const char *mode;
	uint64_t runs, holds;
	struct times_row suspend, resume;
	double rate, sd, held, loss;
};

#define ROW offline_row
static const struct out_col offline_cols[] = {
	COL(mode, "MODE", "mode", STR, D, "as above"),
	COL(runs, "RUNS", "runs", U64, D, "runs"),
	COL(rate, "RATE", "rate_per_s", F64, D,
	    "AQL packets a second, or what --offline-metric found, over time; mean over runs"),
	COL(sd, "RATE_SD", "rate_sd_per_s", F64, D, "its standard deviation"),
	COL(holds, "HOLDS", "holds", U64, D, "times it was suspended"),
	COL(suspend.p50, "SUSPEND_P50", "suspend_p50_ns", NS, D,
	    "median time from the request until all queues of all its processes were off"),
	COL(suspend.p99, "SUSPEND_P99", "suspend_p99_ns", NS, D, "99th percentile"),
	COL(resume.p50, "RESUME_P50", "resume_p50_ns", NS, D, "likewise until they were back"),
	COL(resume.p99, "RESUME_P99", "resume_p99_ns", NS, D, "99th percentile"),
	COL(held, "HELD%", "held_percent", F64, D,
	    "share of the time between the leads that it was suspended"),
	COL(loss, "LOSS%", "loss_percent", F64, D, "of its work in that time, against alone"),
};
#undef ROW
const struct out_table bench_offline_table = {"offline", "offline", OUT_COLS(offline_cols)};

static const struct schema_member ab_members[] = {
	{"context", SCHEMA_RECORD, "where it was measured", NULL, &bench_context_table},
	{"looks", SCHEMA_COUNT, "times the queues of both sides were read", NULL, NULL},
	{"looks_suspended", SCHEMA_COUNT, "of these, with offline queues suspended", NULL, NULL},
	{0}};
const struct schema bench_ab_schema = {
	"gpq.bench.ab", 1, SCHEMA_TABLES(BENCH_AB_TABLES, BENCH_SHARED_TABLES), ab_members};

static void print_online(struct out *o, struct ab_result *a)
{
	SCOPED(buf_fini) struct buf omitted = {0};
	out_begin(o, &bench_online_table, false);
	for (unsigned m = 0; m < AB_MODES; m++) {
		struct times_row row = bench_times(ab_mode_name[m], NULL, &a->mode[m].latency);
		row.runs = a->mode[m].runs;
		row.ratio = ab_compare(a, (enum ab_mode)m, AB_ALONE, 0.5, STATS_LEVEL).ratio;
		row.achieved = ab_request_rate(a, (enum ab_mode)m);
		row.offered = ab_offered_rate(a, (enum ab_mode)m);
		row.p99_ratio = NAN;
		row.p99_corrected = UINT64_MAX;
		if (samples_carry(row.n, 0.99))
			row.p99_corrected = bench_ns(ab_corrected(a, (enum ab_mode)m, 0.99));
		if (samples_carry(row.n, 0.99) && samples_carry(a->mode[AB_ALONE].latency.n, 0.99))
			row.p99_ratio =
				ab_compare(a, (enum ab_mode)m, AB_ALONE, 0.99, STATS_LEVEL).ratio;
		if (row.p99_corrected != UINT64_MAX && row.p99_corrected > row.p99 + row.p99 / 10)
			buf_printf(&omitted, "%s%s", omitted.len ? ", " : "", row.setting);
		if (row.runs)
			out_row(o, &row);
	}
	out_end(o);
	if (omitted.len)
		out_say(o, OUT_WARNING,
			"A client that waits for each answer sent fewer requests while some took "
			"long (%s): P99 is too low for work that does not wait, P99_CORRECTED "
			"counts what it did not send.",
			omitted.data);
}

static void print_offline(struct out *o, struct ab_result *a)
{
	out_begin(o, &bench_offline_table, false);
	for (unsigned i = 0; i < AB_MODES; i++) {
		struct ab_mode_result *m = &a->mode[i];
		SCOPED(samples_fini) struct samples rates = ab_rates(a, (enum ab_mode)i);
		struct summary s = samples_summary(&rates);
		struct ab_verdict v = ab_judge(a, (enum ab_mode)i, SIZE_MAX);
		struct offline_row row = {.mode = ab_mode_name[i],
					  .runs = m->runs,
					  .holds = m->holds,
					  .suspend = bench_times(NULL, NULL, &m->suspend),
					  .resume = bench_times(NULL, NULL, &m->resume),
					  .rate = s.mean,
					  .sd = s.sd,
					  .held = 100 * v.held,
					  .loss = 100 * v.loss};
		if (row.runs)
			out_row(o, &row);
	}
	out_end(o);
}

// Prints the queues of both sides over all runs, as gpq snapshot --compare does.
static void print_ids(struct out *o, struct ab_result *a)
{
	SCOPED(queue_sets_fini) struct queue_sets c;
	queue_sets_compare(&c, a->queue_set, a->nqueue_sets);
	out_title(o, "Queues over all runs");
	run_compare_print(o, &c.runs, RUN_PROGRAMS);
	if (c.suspended)
		out_say(o, OUT_WARNING,
			"SAME_SLOTS: in %zu of %zu looks the offline queues were suspended, and so "
			"in no slot: whether slots are the same is then not known.",
			c.suspended, a->nqueue_sets);
	if (out_json(o)) {
		json_u64(out_json(o), "looks", a->nqueue_sets);
		json_u64(out_json(o), "looks_suspended", c.suspended);
	}
	out_title(o, "Queues side by side");
	run_compare_print(o, &c.runs, RUN_OVERLAPS);
	out_title(o, "How to find them again");
	run_compare_print(o, &c.runs, RUN_STRATEGIES);
}

static void print_ab_histograms(struct out *o, const struct ab_result *a)
{
	if (out_is_document(o))
		return;
	out_title(o, "Histograms");
	out_begin(o, &bench_histogram_table, false);
	for (unsigned m = 0; m < AB_MODES; m++)
		bench_print_histogram(o, ab_mode_name[m], "online", &a->mode[m].latency);
	out_end(o);
}

// Says how exact latencies are that were seen in queues.
static void say_looks(struct out *o, const struct ab_result *a)
{
	double longest = 0;
	char text[24];
	for (unsigned m = 0; m < AB_MODES; m++)
		for (size_t i = 0; i < a->mode[m].runs; i++) {
			const struct samples *s = &a->mode[m].run[i].times.looks;
			for (size_t k = 0; k < s->n; k++)
				longest = s->v[k] > longest ? s->v[k] : longest;
		}
	if (longest > 0)
		out_say(o, OUT_NOTE,
			"Requests are seen in looks at the queues, at most %s apart: no latency is "
			"off by more.",
			text_ns(text, bench_ns(longest)));
}

// Says whether preempting was any better than sharing.
static void say_gain(struct out *o, struct ab_result *a)
{
	const struct ab_gain g = ab_gain(a);
	char text[2][2][24];
	for (unsigned m = 0; m < 2; m++)
		for (unsigned k = 0; k < 2; k++)
			text_ns(text[m][k], bench_ns(samples_percentile(
						    &a->mode[m ? AB_SHARED : AB_PREEMPT].latency,
						    k ? 0.99 : 0.5)));
	if (g.known)
		out_say(o, OUT_NOTE,
			"%s: median %s against %s, 99th percentile (or greatest) %s against %s.",
			g.gained && g.longer
				? "Preempting made some requests shorter than sharing, "
				  "and others longer"
			: g.gained ? "Preempting made requests shorter than sharing"
			: g.longer ? "Preempting made requests longer than sharing"
				   : "No gain of preempting over sharing is shown",
			text[0][0], text[1][0], text[0][1], text[1][1]);
}

void bench_print_ab(struct out *o, struct load_run *run)
{
	struct ab_result *a = &run->ab;
	const bool screen = out_fits(o);
	uint64_t least = UINT64_MAX;
	if (!screen)
		out_title(o, "Latency of online requests");
	print_online(o, a);
	out_say(o, OUT_NOTE, "Ratio: median against alone; P99 ratio: 99th percentile.");
	say_gain(o, a);
	say_looks(o, a);
	for (unsigned m = 0; m < AB_MODES; m++)
		if (a->mode[m].runs && a->mode[m].latency.n < least)
			least = a->mode[m].latency.n;
	bench_say_few(o, least, false);
	if (!screen) {
		print_ab_histograms(o, a);
		bench_print_runs(o, &run, 1);
	}
	out_title(o, "Throughput of the offline work");
	print_offline(o, a);
	out_say(o, OUT_NOTE,
		"Suspend and resume: from the request until all queues of all processes were off, "
		"or on. Rate: %s, while the online work ran, with a lead before and after it. "
		"Held and loss are shares of the time between the leads; loss: against alone.",
		ab_is_printed(a) ? "what the offline work printed, each line for the time since "
				   "the one before"
				 : "AQL packets a second");
	if (!screen)
		print_ids(o, a);
}
