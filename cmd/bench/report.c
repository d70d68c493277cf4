// gpq bench report: reads raw samples, writes a Markdown and HTML report or a comparison.
#include "cmd/bench/bench.h"

#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>

#define SIGNIFICANT 0.01

static int load_samples(struct load *l, const char *path)
{
	uint64_t bad = l->bad_lines, repeated = l->repeated;
	if (load_add(l, path))
		return err_sys(errno, NULL, "%s", path);
	if (l->bad_lines > bad)
		err_warn("they are left out", "%s: %llu lines are no samples%s%s", path,
			 (unsigned long long)(l->bad_lines - bad), bad ? "" : "; ",
			 bad ? "" : l->first_bad);
	if (l->repeated > repeated)
		err_warn("they count once", "%s: %llu samples were read before", path,
			 (unsigned long long)(l->repeated - repeated));
	return GPQ_OK;
}

static int need_samples(const struct load *l, const char *path)
{
	if (l->n)
		return GPQ_OK;
	return err_fail(GPQ_NOTFOUND, "gpq bench preempt or ab --raw FILE writes them",
			"%s: no samples there", path);
}

static const char plot_begin[] = "<figure>", plot_end[] = "</figure>\n";

// Is the file JSON? `--html samples.ndjson`, with the page's name forgotten, must not overwrite it.
static bool holds_json(const char *path)
{
	char first = '\0';
	SCOPED(close_at) const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	return fd >= 0 && read(fd, &first, 1) == 1 && first == '{';
}

// Writes each plot of the page to a file of its own: DIR/plot-1.svg ...
static int write_plots(const char *dir, const struct buf *page)
{
	int status = GPQ_OK;
	unsigned n = 0;
	if (mkdir(dir, 0777) && errno != EEXIST)
		return err_sys(errno, NULL, "--svg %s", dir);
	for (char *at = page->data; !status && (at = strstr(at, plot_begin));) {
		at += strlen(plot_begin);
		struct buf plot = {.data = at, .len = (size_t)(strstr(at, plot_end) - at)};
		char *path = xasprintf("%s/plot-%u.svg", dir, ++n);
		status = out_file("", path, &plot);
		free(path);
	}
	return status;
}

// Fails for requirements that no run measured.
static int judge_any(const struct load *l, const struct requirements *limits)
{
	int status = GPQ_OK;
	for (size_t i = 0; i < limits->n; i++) {
		const struct requirement *q = &limits->v[i];
		if (q->text && !(load_first(l, false) && q->kinds & REQUIRE_PREEMPT) &&
		    !(load_first(l, true) && q->kinds & REQUIRE_AB))
			status = err_fail(GPQ_FAILED, NULL, "required: %s: no run measured that",
					  q->text);
	}
	return status;
}

// Fails for requirements that a run does not meet, or that no run measured.
static int judge_all(const struct load *l, const struct requirements *limits)
{
	int status = judge_any(l, limits);
	for (size_t i = 0; i < l->n; i++) {
		int bad = bench_required(
			limits, l->n > 1 ? l->run[i]->context.text[CONTEXT_run] : "", l->run[i]);
		status = status ? status : bad;
	}
	return status;
}

struct difference_row {
	const char *what, *value, *runs;
};

#define ROW difference_row
static const struct out_col difference_cols[] = {
	COL(what, "WHAT", "WHAT", STR, D, "what differs"),
	COL(value, "VALUE", "VALUE", STR, D, "in these runs"),
	COL(runs, "RUNS", "RUNS", STR, D, "who has it"),
};
#undef ROW
static const struct out_table differences_table = {"differences", "difference",
						   OUT_COLS(difference_cols)};

// Prints the runs whose context item equals that of run `i`, unless an earlier run has it, too.
static void same_text(struct out *o, const struct load *l, size_t n, size_t i, unsigned item)
{
	const char *text = l->run[i]->context.text[item];
	SCOPED(buf_fini) struct buf runs = {0};
	for (size_t k = 0; k < n; k++) {
		if (strcmp(l->run[k]->context.text[item], text) != 0)
			continue;
		if (k < i)
			return;
		buf_printf(&runs, "%s%s", runs.len ? ", " : "",
			   l->run[k]->context.text[CONTEXT_run]);
	}
	out_row(o, &(struct difference_row){bench_context_label[item], *text ? text : NULL,
					    runs.data});
}

// Prints what differs between the hosts, kernels, drivers and GPUs of several runs.
static void print_differences(struct out *o, const struct load *l)
{
	enum { MOST = 100 };
	static const enum bench_context_item items[] = {
		CONTEXT_host,      CONTEXT_source,      CONTEXT_machine,   CONTEXT_kernel,
		CONTEXT_driver,    CONTEXT_kfd_version, CONTEXT_gpus,      CONTEXT_parameters,
		CONTEXT_scheduler, CONTEXT_gpq,         CONTEXT_processors};
	const size_t n = l->n < MOST ? l->n : MOST;
	bool any = false;
	if (n < 2)
		return;
	out_say(o, OUT_SECTION, "What differs between the runs");
	for (unsigned k = 0; k < COUNT(items); k++) {
		size_t other = 1;
		while (other < n && strcmp(l->run[other]->context.text[items[k]],
					   l->run[0]->context.text[items[k]]) == 0)
			other++;
		if (other == n)
			continue;
		if (!any)
			out_begin(o, &differences_table, false);
		any = true;
		for (size_t i = 0; i < n; i++)
			same_text(o, l, n, i, items[k]);
	}
	if (any)
		out_end(o);
	out_say(o, OUT_NOTE,
		any ? "All else about host, kernel, driver and GPUs is the same."
		    : "Nothing: host, kernel, driver and GPUs are the same.");
	if (n < l->n)
		out_say(o, OUT_NOTE, "The first %zu runs of %zu were compared.", n, l->n);
}

// Writes the whole document to `to`, or to standard output when that is NULL.
static int write_document(struct load *l, const struct requirements *limits, enum out_mode mode,
			  struct buf *to)
{
	const struct out_opts opts = {
		.mode = mode, .title = "gpq bench: suspending and resuming queues", .to = to};
	struct out *o = out_open(&opts);
	print_differences(o, l);
	for (int ab = 0; ab < 2; ab++)
		for (size_t i = 0; i < l->n; i++)
			if (l->run[i]->is_ab == ab)
				bench_print_run(o, l->run[i], limits);
	return out_close(o);
}

static int report_document(struct load *l, const struct bench_opts *o,
			   const struct requirements *limits)
{
	SCOPED(buf_fini) struct buf page = {0};
	const bool only_page = o->html && strcmp(o->html, "-") == 0; // page to stdout
	if (o->html || o->svg)
		write_document(l, limits, OUT_HTML, &page);
	int html = o->html && !only_page ? out_file("", o->html, &page) : GPQ_OK;
	int plots = o->svg ? write_plots(o->svg, &page) : GPQ_OK;
	int status = only_page ? out_text(&page) : write_document(l, limits, OUT_MARKDOWN, NULL);
	status = status ? status : html ? html : plots;
	return status ? status : judge_all(l, limits);
}

// ---- comparing two sets of runs

struct change_row {
	const char *setting, *metric, *verdict;
	uint64_t n_old, n_new, p50_old, p50_new;
	double change, p, larger;
};

#define ROW change_row
static const struct out_col change_cols[] = {
	COL(setting, "SETTING", "setting", STR, D, "what differs from the other settings compared"),
	COL(metric, "METRIC", "metric", STR, D, "which time"),
	COL(n_old, "N_OLD", "n_old", U64, D, "old samples"),
	COL(n_new, "N_NEW", "n_new", U64, D, "new samples"),
	COL(p50_old, "P50_OLD", "p50_old_ns", NS, D, "old median"),
	COL(p50_new, "P50_NEW", "p50_new_ns", NS, D, "new median"),
	COL(change, "CHANGE%", "change_percent", F64, D, "of the median"),
	COL(p, "P", "p", F64, D, "Mann-Whitney test, two-sided; - with fewer than 8 samples"),
	COL(larger, "NEW_LARGER", "new_larger_share", F64, 0,
	    "share of all pairs in which the new one is larger; 0.5: no difference"),
	COL(verdict, "VERDICT", "verdict", STR, D,
	    "faster or slower (p < 0.01), same (no difference shown), unknown"),
};
#undef ROW
const struct out_table bench_changes_table = {"changes", "change", OUT_COLS(change_cols)};
const struct schema bench_changes_schema = {"gpq.bench.changes", 1,
					    SCHEMA_TABLES(&bench_changes_table), NULL};

static void change_row(struct out *o, const char *setting, const char *metric, struct samples *a,
		       struct samples *b)
{
	struct rank_test t = stats_rank_test(a, b);
	double old = samples_percentile(a, 0.5), new = samples_percentile(b, 0.5);
	struct change_row row = {
		.setting = setting,
		.metric = metric,
		.verdict = isnan(t.p)           ? "unknown"
			   : t.p >= SIGNIFICANT ? "same"
			   : t.effect > 0.5     ? "slower"
						: "faster",
		.n_old = a->n,
		.n_new = b->n,
		.p50_old = bench_ns(old),
		.p50_new = bench_ns(new),
		.change = old > 0 ? 100 * (new / old - 1) : NAN,
		.p = t.p,
		.larger = t.effect,
	};
	out_row(o, &row);
}

static void warn_if_apart(const struct bench_context *a, const struct bench_context *b)
{
	static const enum bench_context_item same[] = {CONTEXT_source, CONTEXT_gpus, CONTEXT_kernel,
						       CONTEXT_parameters, CONTEXT_target_queues};
	for (unsigned i = 0; i < COUNT(same); i++) {
		const char *x = a->text[same[i]], *y = b->text[same[i]];
		if (strcmp(x, y) != 0)
			err_warn("the difference may be the reason", "not the same %s: %s; %s",
				 bench_context_label[same[i]], *x ? x : "unknown",
				 *y ? y : "unknown");
	}
}

// Prints how latencies of cycles changed. Returns the number of settings that both runs have.
static unsigned print_cycle_changes(struct out *o, struct result *a, struct result *b)
{
	unsigned both = 0;
	for (unsigned i = 0; i < a->n; i++) {
		struct result_setting *s = NULL;
		for (unsigned k = 0; k < b->n && !s; k++)
			if (plan_compare(&a->of[i]->set, &b->of[k]->set) == 0)
				s = b->of[k];
		if (!s)
			continue;
		both++;
		for (unsigned m = 0; m < METRICS; m++)
			if (a->of[i]->metric[m].n || s->metric[m].n)
				change_row(o, a->of[i]->name, result_metric_name[m],
					   &a->of[i]->metric[m], &s->metric[m]);
	}
	return both;
}

// Prints how online latencies changed. Returns the number of modes that both runs have.
static unsigned print_online_changes(struct out *o, struct ab_result *a, struct ab_result *b)
{
	unsigned both = 0;
	for (unsigned m = 0; m < AB_MODES; m++) {
		struct samples *old = &a->mode[m].latency, *new = &b->mode[m].latency;
		if (!old->n || !new->n)
			continue;
		both++;
		change_row(o, ab_mode_name[m], "online", old, new);
	}
	return both;
}

static int print_changes(struct out *o, const struct load *old, const struct load *new)
{
	struct load_run *cycles[] = {load_first(old, false), load_first(new, false)};
	struct load_run *abs[] = {load_first(old, true), load_first(new, true)};
	int status = out_begin(o, &bench_changes_table, false);
	unsigned both = 0;
	if (status)
		return out_finish(o, status);
	warn_if_apart(cycles[0] ? &cycles[0]->context : &abs[0]->context,
		      cycles[1] ? &cycles[1]->context : &abs[1]->context);
	if (cycles[0] && cycles[1])
		both += print_cycle_changes(o, &cycles[0]->result, &cycles[1]->result);
	if (abs[0] && abs[1])
		both += print_online_changes(o, &abs[0]->ab, &abs[1]->ab);
	out_end(o);
	if (!both)
		status = err_fail(GPQ_NOTFOUND,
				  "grace, queues, hold and gap must be the same, or both be of ab",
				  "the two have no setting in common");
	int closed = out_close(o);
	return status ? status : closed;
}

static int report_changes(struct cmd *c)
{
	struct load side[] = {{.pool = true}, {.pool = true}};
	int status = GPQ_OK;
	if (c->argc != 3)
		return err_fail(GPQ_USAGE, "gpq bench report --compare OLD NEW",
				"--compare takes two files or folders");
	for (int i = 0; i < 2 && !status; i++)
		status = load_samples(&side[i], c->argv[i + 1]);
	for (int i = 0; i < 2 && !status; i++)
		status = need_samples(&side[i], c->argv[i + 1]);
	c->out.schema = &bench_changes_schema;
	status = status ? status : print_changes(out_open(&c->out), &side[0], &side[1]);
	load_fini(&side[0]);
	load_fini(&side[1]);
	return status;
}

const struct opt_rule bench_report_rules[] = {
	RULE_EXCLUDES("html svg", "compare", "gpq bench report --html FILE FILE... has the plots",
		      "--html and --svg do not go with --compare, which prints a table"),
	RULE_EXCLUDES("html svg", ROWS_NAMES, "gpq bench report --html FILE FILE... has the plots",
		      "--html and --svg do not go with rows, columns and JSON"),
	RULE_EXCLUDES("goal require", "compare", "judge each alone: gpq bench report FILE",
		      "--compare tells what changed, and keeps to no --%1"),
	{0},
};

int bench_report(struct cmd *c)
{
	const struct bench_opts *o = c->opts;
	const struct out_opts *f = &c->out;
	const bool as_tables = f->mode != OUT_TABLE || f->columns || f->all || f->filter || f->sort;
	SCOPED(require_fini) struct requirements limits = {0};
	SCOPED(load_fini) struct load l = {0};
	int status = GPQ_OK;
	if (o->compare)
		return report_changes(c);
	if (o->html && holds_json(o->html))
		return err_fail(GPQ_USAGE, "name another file",
				"--html %s: holds JSON, such as samples", o->html);
	if (c->argc < 2)
		return err_fail(GPQ_USAGE, "gpq bench report FILE|DIR...",
				"report needs files with samples");
	for (int i = 1; i < c->argc && !status; i++)
		status = load_samples(&l, c->argv[i]);
	status = status ? status : need_samples(&l, c->argv[1]);
	if (!status && as_tables && l.n > 1)
		status = err_fail(GPQ_USAGE, "name one; or leave out -J, -r, -o and their like",
				  "rows, columns and JSON are of one run, and these are %zu", l.n);
	c->out.several = !c->out.columns;
	if (!status && as_tables)
		status = out_check(&c->out,
				   l.run[0]->is_ab ? &bench_online_table : &bench_latencies_table);
	status = status ? status
			: require_parse(&limits, &o->goals, &o->require,
					REQUIRE_PREEMPT | REQUIRE_AB);
	if (!status && as_tables) { // print what gpq bench printed after the measurement
		status = bench_print(&c->out, l.run[0], &limits);
		status = status ? status : judge_any(&l, &limits);
	} else if (!status) {
		status = report_document(&l, o, &limits);
	}
	return status;
}
