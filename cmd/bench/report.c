// gpq bench report: reads raw samples, writes a Markdown and HTML report or a comparison.
#include "cmd/bench/bench.h"

#include "common/bench/report.h"
#include "common/host/xalloc.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define SIGNIFICANT 0.01

static int load(struct load *l, const char *path)
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

// Each plot of the page as a file of its own: DIR/plot-1.svg ...
static int write_plots(const char *dir, const struct buf *page)
{
	struct buf plot = {.data = page->data};
	int status = GPQ_OK;
	if (mkdir(dir, 0777) && errno != EEXIST)
		return err_sys(errno, NULL, "--svg %s", dir);
	for (unsigned n = 1; !status; n++) {
		const char *at = doc_next_plot(plot.data + plot.len, &plot.len);
		if (!at)
			break;
		plot.data = (char *)(uintptr_t)at;
		char *path = xasprintf("%s/plot-%u.svg", dir, n);
		status = out_file("", path, &plot);
		free(path);
	}
	return status;
}

// Each requirement must be judged of some run, and met by all that it can be judged of.
static int judge_all(const struct load *l, const struct requirements *q)
{
	int status = GPQ_OK;
	for (size_t i = 0; i < q->n; i++)
		if (!(load_first(l, false) && require_is_of(&q->v[i], false)) &&
		    !(load_first(l, true) && require_is_of(&q->v[i], true)))
			status = err_fail(GPQ_FAILED, NULL, "required: %s: no run measured that",
					  q->v[i].text);
	for (size_t i = 0; i < l->n; i++) {
		struct load_run *r = l->run[i];
		int bad = bench_required(q, l->n > 1 ? r->context.text[CONTEXT_run] : "",
					 r->is_ab ? NULL : &r->result, r->is_ab ? &r->ab : NULL);
		status = status ? status : bad;
	}
	return status;
}

static int report(struct load *l, const struct bench_opts *o)
{
	struct result_goals goals;
	struct requirements required = {0};
	struct doc d;
	int status = bench_goals(&o->goals, &goals);
	status = status ? status
			: require_parse(&required, &o->require, REQUIRE_PREEMPT | REQUIRE_AB);
	if (status) {
		require_fini(&required);
		return status;
	}
	doc_init(&d, "gpq bench: cost of suspending and resuming queues");
	report_differences(&d, l);
	for (int ab = 0; ab < 2; ab++)
		for (size_t i = 0; i < l->n; i++)
			if (l->run[i]->is_ab == ab)
				(ab ? report_ab : report_run)(&d, l->run[i], &goals, &required);
	doc_end(&d);
	const bool page = o->html && strcmp(o->html, "-") == 0; // on standard output
	int html = o->html && !page ? out_file("", o->html, &d.html) : GPQ_OK;
	int plots = o->svg ? write_plots(o->svg, &d.html) : GPQ_OK;
	status = out_text(page ? &d.html : &d.md);
	doc_fini(&d);
	status = status ? status : html ? html : plots;
	status = status ? status : judge_all(l, &required);
	require_fini(&required);
	return status;
}

// Two sets of runs

struct change_row {
	const char *setting, *metric, *verdict;
	uint64_t n_old, n_new, p50_old, p50_new;
	double change, p, larger;
};

#define COL(member, name, key, type, flags, help) \
	OUT_COL(change_row, member, name, key, type, flags, help)
static const struct out_col change_cols[] = {
	COL(setting, "SETTING", "setting", OUT_STR, D,
	    "what differs from the other settings compared"),
	COL(metric, "METRIC", "metric", OUT_STR, D, "which time"),
	COL(n_old, "N_OLD", "n_old", OUT_U64, D, "old samples"),
	COL(n_new, "N_NEW", "n_new", OUT_U64, D, "new samples"),
	COL(p50_old, "P50_OLD", "p50_old_ns", OUT_NS, D, "old median"),
	COL(p50_new, "P50_NEW", "p50_new_ns", OUT_NS, D, "new median"),
	COL(change, "CHANGE%", "change_percent", OUT_F64, D, "of the median"),
	COL(p, "P", "p", OUT_F64, D, "Mann-Whitney test, two-sided; - with fewer than 8 samples"),
	COL(larger, "NEW_LARGER", "new_larger_share", OUT_F64, 0,
	    "share of all pairs in which the new one is larger; 0.5: no difference"),
	COL(verdict, "VERDICT", "verdict", OUT_STR, D,
	    "faster or slower (p < 0.01), same (no difference shown), unknown"),
};
#undef COL
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
	for (unsigned i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
		const char *x = a->text[same[i]], *y = b->text[same[i]];
		if (strcmp(x, y) != 0)
			err_warn("the difference may be the reason", "not the same %s: %s; %s",
				 bench_context_label[same[i]], *x ? x : "unknown",
				 *y ? y : "unknown");
	}
}

// How many settings both have.
static unsigned print_cycles(struct out *o, struct result *a, struct result *b)
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

// How many modes both have.
static unsigned print_online(struct out *o, struct ab_result *a, struct ab_result *b)
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
		both += print_cycles(o, &cycles[0]->result, &cycles[1]->result);
	if (abs[0] && abs[1])
		both += print_online(o, &abs[0]->ab, &abs[1]->ab);
	out_end(o);
	if (!both)
		status = err_fail(GPQ_NOTFOUND,
				  "grace, queues, hold and gap must be the same, or both be of ab",
				  "the two have no setting in common");
	int closed = out_close(o);
	return status ? status : closed;
}

static int compare(struct cmd *c)
{
	struct load side[] = {{.pool = true}, {.pool = true}};
	int status = GPQ_OK;
	if (c->argc != 3)
		return err_fail(GPQ_USAGE, "gpq bench report --compare OLD NEW",
				"--compare takes two files or folders");
	for (int i = 0; i < 2 && !status; i++)
		status = load(&side[i], c->argv[i + 1]);
	for (int i = 0; i < 2 && !status; i++)
		status = need_samples(&side[i], c->argv[i + 1]);
	c->out.schema = &bench_changes_schema;
	if (!status)
		status = print_changes(out_open(&c->out), &side[0], &side[1]);
	load_fini(&side[0]);
	load_fini(&side[1]);
	return status;
}

int bench_report(struct cmd *c)
{
	const struct bench_opts *o = c->opts;
	struct load l = {0};
	int status = GPQ_OK;
	if (o->compare && (o->html || o->svg))
		return err_fail(GPQ_USAGE, "gpq bench report --html FILE FILE... has the plots",
				"--compare prints a table: --html and --svg do not go with it");
	if (o->compare)
		return compare(c);
	if (c->out.mode != OUT_TABLE || c->out.columns || c->out.all || c->out.filter ||
	    c->out.sort)
		return err_fail(GPQ_USAGE,
				"raw samples are JSON, and gpq merge adds them up as such",
				"report writes Markdown: -J, --ndjson, -r, -P, --csv, -0, -o, "
				"--filter and --sort do not change it");
	if (c->argc < 2)
		return err_fail(GPQ_USAGE, "gpq bench report FILE|DIR...",
				"report needs files with samples");
	for (int i = 1; i < c->argc && !status; i++)
		status = load(&l, c->argv[i]);
	status = status ? status : need_samples(&l, c->argv[1]);
	status = status ? status : report(&l, o);
	load_fini(&l);
	return status;
}
