// Runs, one by one: as rows of a tidy table, and what changed between two sets of them
// (gpq bench report --compare).
//
// A run is one call of gpq bench where there are several, else each of its --runs.
#include "cmd/bench/bench.h"

#include "common/host/maths.h"

// Which samples of a run: of a metric in a setting of preempt, or of the requests in a mode of ab.
struct time_key {
	const struct cycle_setting *set; // NULL: ab
	unsigned which;                  // enum result_metric, enum ab_mode
	const char *env;                 // ab: setting of --sweep-env
	const char *metric;
	char setting[608];
};

enum { WHOLE_RUN = -1 };

// How many of the --runs this one has of the time, those without samples included.
static size_t repeats_of(const struct load_run *r, const struct time_key *k)
{
	if (!k->set && r->is_ab && strcmp(r->context.text[CONTEXT_setting], k->env) == 0)
		return r->ab.mode[k->which].runs;
	for (unsigned i = 0; k->set && i < r->result.n; i++)
		if (plan_compare(&r->result.of[i]->set, k->set) == 0)
			return r->result.of[i]->nrepeats;
	return 0;
}

// Returns the samples of a run, or of one of its --runs, from 0 on; NULL: there are none.
static struct samples *samples_of(struct load_run *r, const struct time_key *k, ssize_t repeat)
{
	struct samples *s = NULL;
	if (repeat != WHOLE_RUN && (size_t)repeat >= repeats_of(r, k))
		return NULL;
	if (!k->set && repeats_of(r, k))
		s = repeat == WHOLE_RUN ? &r->ab.mode[k->which].latency
					: &r->ab.mode[k->which].run[repeat].latency;
	for (unsigned i = 0; k->set && i < r->result.n; i++) {
		struct result_setting *of = r->result.of[i];
		if (plan_compare(&of->set, k->set) == 0)
			s = repeat == WHOLE_RUN ? &of->metric[k->which]
						: &of->repeat[repeat].metric[k->which];
	}
	return s && s->n ? s : NULL;
}

struct time_keys {
	struct time_key *v; // owned
	size_t n, cap;
};

static void free_keys(struct time_keys *l)
{
	free(l->v);
}

// Adds the times that a run has samples of and that are not in the list.
static void add_keys(struct time_keys *l, struct load_run *r)
{
	const unsigned settings = r->is_ab ? 1 : r->result.n, times = r->is_ab ? AB_MODES : METRICS;
	for (unsigned i = 0; i < settings; i++)
		for (unsigned m = 0; m < times; m++) {
			const char *name = ab_mode_name[m % AB_MODES];
			struct time_key k = {.which = m,
					     .env = r->context.text[CONTEXT_setting],
					     .metric = "online"};
			if (!r->is_ab) {
				k.set = &r->result.of[i]->set;
				k.metric = result_metric_name[m];
				name = r->result.of[i]->name;
			}
			snprintf(k.setting, sizeof(k.setting), "%s%s%s", name, *k.env ? "," : "",
				 k.env);
			size_t at = 0;
			while (at < l->n && (l->v[at].which != m || !l->v[at].set != !k.set ||
					     strcmp(l->v[at].env, k.env) != 0 ||
					     (k.set && plan_compare(l->v[at].set, k.set) != 0)))
				at++;
			if (at == l->n && samples_of(r, &k, WHOLE_RUN))
				*ARRAY_ADD(l->v, l->cap, l->n) = k;
		}
}

static bool is_headline(const struct time_key *k)
{
	return !k->set || k->which == METRIC_suspend || k->which == METRIC_resume;
}

// ---- a row for each run, setting and time

struct run_row {
	const char *measurement, *setting, *metric;
	uint64_t run, n, mean, p50, p50_low, p50_high, p99, p99_low, p99_high;
};

#define ROW run_row
static const struct out_col run_cols[] = {
	COL(measurement, "MEASUREMENT", "measurement", STR, M | OUT_HOST,
	    "host, time and pid of gpq bench"),
	COL(run, "RUN", "run", U64, D, "which of its --runs, from 1"),
	COL(setting, "SETTING", "setting", STR, D,
	    "as above; of ab the mode, and what --sweep-env set"),
	COL(metric, "METRIC", "metric", STR, D, "which time"),
	COL(n, "N", "n", U64, D, "samples"),
	COL(mean, "MEAN", "mean_ns", NS, M, "mean"),
	COL(p50, "P50", "p50_ns", NS, D, "median"),
	COL(p50_low, "P50_LOW", "p50_low_ns", NS, D, "lower end of its 95 % interval"),
	COL(p50_high, "P50_HIGH", "p50_high_ns", NS, D, "upper end of it"),
	COL(p99, "P99", "p99_ns", NS, D, "99th percentile"),
	COL(p99_low, "P99_LOW", "p99_low_ns", NS, D | W, "lower end of its 95 % interval"),
	COL(p99_high, "P99_HIGH", "p99_high_ns", NS, D | W, "upper end; 368 samples have one"),
};
#undef ROW
const struct out_table bench_runs_table = {"runs", "run", OUT_COLS(run_cols)};
const struct schema bench_runs_schema = {"gpq.bench.runs", 1, SCHEMA_TABLES(&bench_runs_table),
					 NULL};

static void print_run_row(struct out *o, struct load_run *r, const struct time_key *k, size_t run)
{
	struct samples *s = samples_of(r, k, (ssize_t)run);
	if (!s)
		return;
	const double level = 0.975; // each end
	const struct bounds p50 = stats_percentile_bounds(s, 0.5, level);
	const struct bounds p99 = stats_percentile_bounds(s, 0.99, level);
	const double of_99 = samples_carry(s->n, 0.99) ? samples_percentile(s, 0.99) : NAN;
	const char *name = r->context.text[CONTEXT_run];
	out_row(o, &(struct run_row){.measurement = *name ? name : NULL,
				     .setting = k->setting,
				     .metric = k->metric,
				     .run = run + 1,
				     .n = s->n,
				     .mean = bench_ns(samples_mean(s)),
				     .p50 = bench_ns(samples_percentile(s, 0.5)),
				     .p50_low = bench_ns(p50.low),
				     .p50_high = bench_ns(p50.high),
				     .p99 = bench_ns(of_99),
				     .p99_low = bench_ns(p99.low),
				     .p99_high = bench_ns(p99.high)});
}

void bench_print_runs(struct out *o, struct load_run *const *run, size_t n)
{
	const bool people = out_is_document(o) || out_mode(o) == OUT_TABLE;
	bool any = !people || n > 1;
	SCOPED(free_keys) struct time_keys keys = {0};
	for (size_t i = 0; i < n; i++)
		add_keys(&keys, run[i]);
	for (size_t k = 0; k < keys.n; k++)
		for (size_t of = 1; of < repeats_of(run[0], &keys.v[k]); of++)
			any |= samples_of(run[0], &keys.v[k], (ssize_t)of) != NULL;
	if (!bench_begin_table(o, &bench_runs_table, any, "Runs, one by one"))
		return;
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < keys.n && any; k++)
			for (size_t of = 0; of < repeats_of(run[i], &keys.v[k]); of++)
				if (!people || is_headline(&keys.v[k]))
					print_run_row(o, run[i], &keys.v[k], of);
	out_end(o);
}

// ---- comparing two sets of runs

struct change_row {
	const char *setting, *metric, *statistic, *verdict;
	uint64_t runs_old, runs_new, n_old, n_new, old, new, more;
	double change, low, high, p;
	char reason[40];
};

#define WITHIN "equal within 5%" // CHANGE_MARGIN
#define ROW    change_row
static const struct out_col change_cols[] = {
	COL(setting, "SETTING", "setting", STR, D, "what differs from the other settings compared"),
	COL(metric, "METRIC", "metric", STR, D, "which time"),
	COL(statistic, "STATISTIC", "statistic", STR, D, "of each run: p50, or p99 if all have it"),
	COL(runs_old, "RUNS_OLD", "runs_old", U64, D | W, "old runs"),
	COL(runs_new, "RUNS_NEW", "runs_new", U64, D | W, "new runs"),
	COL(n_old, "N_OLD", "n_old", U64, M, "old samples"),
	COL(n_new, "N_NEW", "n_new", U64, M, "new samples"),
	COL(old, "OLD", "old_ns", NS, D, "geometric mean of the old runs"),
	COL(new, "NEW", "new_ns", NS, D, "geometric mean of the new runs"),
	COL(change, "CHANGE%", "change_percent", F64, D, "from old to new"),
	COL(low, "CHANGE_LOW%", "change_low_percent", F64, D | W,
	    "lower bound; all bounds of a report hold in 99 of 100 measurements"),
	COL(high, "CHANGE_HIGH%", "change_high_percent", F64, D | W, "upper bound"),
	COL(p, "P", "p", F64, D | W,
	    "probability of such a change by chance, corrected for the number of rows"),
	COL(verdict, "VERDICT", "verdict", STR, D, "slower, faster, " WITHIN ", or not shown"),
	COL(reason, "REASON", "reason", STR, D | A, "what a verdict lacks"),
	COL(more, "MORE", "more", U64, OUT_MACHINE | OUT_TWIN, "runs that are missing"),
};
#undef ROW
const struct out_table bench_changes_table = {"changes", "change", OUT_COLS(change_cols)};
const struct schema bench_changes_schema = {"gpq.bench.changes", 1,
					    SCHEMA_TABLES(&bench_changes_table), NULL};

// A time on both sides, old and new.
struct compared {
	struct time_key key;
	struct samples all[2];  // samples of all runs
	struct samples logs[2]; // logarithm of the statistic of each run
	double p;               // of the statistic
	struct change_row row;
};

struct changes {
	struct compared *v; // owned
	size_t n, cap;
};

// Adds the runs of a side. Returns whether each has samples enough for the percentile. A clock
// counts ns, so less than that is taken for 1.
static bool add_side(struct compared *c, const struct load *l, unsigned side)
{
	size_t calls = 0;
	bool carry = true;
	for (size_t i = 0; i < l->n; i++)
		calls += samples_of(l->run[i], &c->key, WHOLE_RUN) != NULL;
	for (size_t i = 0; i < l->n; i++) {
		const size_t n = calls > 1 ? 1 : repeats_of(l->run[i], &c->key);
		for (size_t k = 0; k < n; k++) {
			struct samples *s =
				samples_of(l->run[i], &c->key, calls > 1 ? WHOLE_RUN : (ssize_t)k);
			if (!s)
				continue;
			samples_add_all(&c->all[side], s, 1);
			samples_add(&c->logs[side],
				    maths()->log(maths()->fmax(samples_percentile(s, c->p), 1)));
			carry &= samples_carry(s->n, c->p);
		}
	}
	return carry;
}

static void compared_fini(struct compared *c)
{
	for (unsigned i = 0; i < 2; i++) {
		samples_fini(&c->all[i]);
		samples_fini(&c->logs[i]);
	}
}

// Adds the median of a time that both sides have, and its 99th percentile if each run has that.
static void add_compared(struct changes *l, const struct time_key *k, const struct load *side)
{
	for (unsigned i = 0; i < 2; i++) {
		struct compared c = {.key = *k, .p = i ? 0.99 : 0.5};
		const bool old = add_side(&c, &side[0], 0), new = add_side(&c, &side[1], 1);
		if (c.logs[0].n && c.logs[1].n && (!i || (old && new)))
			*ARRAY_ADD(l->v, l->cap, l->n) = c;
		else
			compared_fini(&c);
	}
}

static uint64_t side_ns(const struct samples *logs)
{
	const double mean = samples_mean(logs);
	return mean > 0 ? bench_ns(maths()->exp(mean)) : 0;
}

static void judge_compared(struct changes *l)
{
	static const char *const words[] = {[CHANGE_NOT_SHOWN] = "not shown",
					    [CHANGE_EQUAL] = WITHIN,
					    [CHANGE_SLOWER] = "slower",
					    [CHANGE_FASTER] = "faster"};
	SCOPED(free_at) struct change *v = xcalloc(l->n + 1, sizeof(*v));
	for (size_t i = 0; i < l->n; i++)
		v[i] = stats_change(&l->v[i].logs[0], &l->v[i].logs[1]);
	stats_judge_changes(v, l->n);
	for (size_t i = 0; i < l->n; i++) {
		struct compared *c = &l->v[i];
		const bool less = v[i].verdict == CHANGE_NOT_SHOWN;
		c->row = (struct change_row){
			.setting = c->key.setting,
			.metric = c->key.metric,
			.statistic = c->p > 0.5 ? "p99" : "p50",
			.verdict = words[v[i].verdict],
			.runs_old = c->logs[0].n,
			.runs_new = c->logs[1].n,
			.n_old = c->all[0].n,
			.n_new = c->all[1].n,
			.old = side_ns(&c->logs[0]),
			.new = side_ns(&c->logs[1]),
			.more = less ? v[i].more : UINT64_MAX,
			.change = side_ns(&c->logs[0]) ? 100 * (v[i].ratio - 1) : NAN,
			.low = NAN,
			.high = NAN,
			.p = v[i].p,
		};
		// Bounds of two runs may be anything.
		if (!isnan(c->row.change) && v[i].b.high < 1000) {
			c->row.low = 100 * (v[i].b.low - 1);
			c->row.high = 100 * (v[i].b.high - 1);
		}
		if (less)
			snprintf(c->row.reason, sizeof(c->row.reason),
				 "n too small: %" PRIu64 " more run%s", v[i].more,
				 text_s(v[i].more));
	}
}

// Warns of what is not the same in all runs of both sides, by the first run that differs from the
// first of all.
static void warn_if_apart(const struct load *side)
{
	static const enum bench_context_item same[] = {CONTEXT_source, CONTEXT_gpus, CONTEXT_kernel,
						       CONTEXT_parameters, CONTEXT_target_queues};
	const struct load_run *first = side[0].run[0];
	for (unsigned i = 0; i < COUNT(same); i++) {
		const struct load_run *other = first;
		for (unsigned s = 0; s < 2; s++)
			for (size_t k = 0; k < side[s].n && other == first; k++)
				if (side[s].run[k]->is_ab == first->is_ab &&
				    strcmp(side[s].run[k]->context.text[same[i]],
					   first->context.text[same[i]]) != 0)
					other = side[s].run[k];
		if (other == first)
			continue;
		const struct bench_context *of[] = {&first->context, &other->context};
		SCOPED(buf_fini) struct buf x = {0}, y = {0};
		bench_tell_apart(&x, of[0], same[i], of, 2);
		bench_tell_apart(&y, of[1], same[i], of, 2);
		err_warn("the difference may be the reason", "not the same %s: %s; %s",
			 bench_context_label[same[i]], x.len ? x.data : "unknown",
			 y.len ? y.data : "unknown");
	}
}

// Says which times changed, in words.
static void say_changes(struct out *o, const struct changes *l)
{
	static const struct {
		const char *verdict, *words;
		enum out_block block;
	} groups[] = {{"slower", "Slower", OUT_UNMET},
		      {"faster", "Faster", OUT_MET},
		      {WITHIN, "Equal within 5%", OUT_NOTE},
		      {"not shown", "Not shown", OUT_UNKNOWN}};
	char old[24], new[24];
	for (unsigned g = 0; g < COUNT(groups); g++) {
		SCOPED(buf_fini) struct buf b = {0};
		for (size_t i = 0; i < l->n; i++) {
			const struct change_row *r = &l->v[i].row;
			if (!is_headline(&l->v[i].key) ||
			    strcmp(r->verdict, groups[g].verdict) != 0)
				continue;
			buf_printf(&b, "%s%s %s (%s): %s, now %s", b.len ? "; " : "", r->metric,
				   r->statistic, r->setting, text_ns(old, r->old),
				   text_ns(new, r->new));
			if (!isnan(r->change))
				buf_printf(&b, " (%+.0f%%)", r->change);
			buf_printf(&b, "%s%s", *r->reason ? ", " : "", r->reason);
		}
		if (b.len)
			out_say(o, out_fits(o) ? OUT_MET : groups[g].block, "%s: %s.",
				groups[g].words, b.data);
	}
}

static void plot_changes(struct out *o, const struct changes *l, const struct bench_context *of)
{
	SCOPED(free_at) struct bench_change *v = xcalloc(l->n + 1, sizeof(*v));
	size_t n = 0;
	for (size_t i = 0; i < l->n; i++)
		if (is_headline(&l->v[i].key) && l->v[i].p == 0.5)
			v[n++] = (struct bench_change){l->v[i].key.setting,
						       l->v[i].key.metric,
						       {&l->v[i].all[0], &l->v[i].all[1]}};
	run_plot_changes(o, of, v, n);
}

static int print_changes(struct out *o, const struct changes *l, const struct bench_context *of)
{
	if (out_is_document(o)) {
		say_changes(o, l);
		plot_changes(o, l, of);
	}
	int status = out_begin(o, &bench_changes_table, false);
	for (size_t i = 0; !status && i < l->n; i++)
		out_row(o, &l->v[i].row);
	if (!status)
		out_end(o);
	if (!status && out_fits(o))
		say_changes(o, l);
	const int written = out_close(o);
	return status ? status : written;
}

static int write_change_page(struct cmd *c, const struct changes *changes,
			     const struct bench_context *of)
{
	const char *html = ((const struct bench_opts *)c->opts)->html;
	SCOPED(buf_fini) struct buf page = {0};
	SCOPED(free_at)
	char *title = xasprintf("gpq bench: what changed from %s to %s", c->argv[1], c->argv[2]);
	const struct out_opts form = {.mode = OUT_HTML, .title = title, .to = &page};
	const int status = print_changes(out_open(&form), changes, of);
	return status ? status : out_file_or_stdout("", html, &page);
}

int bench_compare(struct cmd *c, const struct load *side)
{
	const char *html = ((const struct bench_opts *)c->opts)->html;
	const struct bench_context *of = &side[1].run[0]->context;
	SCOPED(free_keys) struct time_keys keys = {0};
	struct changes changes = {0};
	int status = GPQ_OK, page = GPQ_OK;
	warn_if_apart(side);
	for (size_t i = 0; i < side[0].n; i++)
		add_keys(&keys, side[0].run[i]);
	for (size_t i = 0; i < keys.n; i++)
		add_compared(&changes, &keys.v[i], side);
	judge_compared(&changes);
	c->out.fits = true;
	c->out.schema = &bench_changes_schema;
	if (!html || strcmp(html, "-") != 0)
		status = print_changes(out_open(&c->out), &changes, of);
	if (!changes.n)
		status = err_fail(
			GPQ_NOTFOUND,
			"grace, queues, prio, hold and gap must be the same, or both be of ab "
			"with the same --sweep-env value",
			"the two have no setting in common");
	else if (html)
		page = write_change_page(c, &changes, of);
	for (size_t i = 0; i < changes.n; i++)
		compared_fini(&changes.v[i]);
	free(changes.v);
	return status ? status : page;
}
