// gpq bench report: what raw samples say, as Markdown and HTML, or compared with others.
#include "cmd/bench/bench.h"

#include "common/bench/report.h"
#include "common/stats/maths.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
	if (l->n + l->nab)
		return GPQ_OK;
	return err_fail(GPQ_NOTFOUND, "gpq bench preempt or ab --raw FILE writes them",
			"%s: no samples there", path);
}

// All of it or an error: a page cut in the middle would look like a whole one.
static int write_file(int fd, const char *path, const struct buf *b)
{
	for (size_t done = 0; done < b->len;) {
		ssize_t n = write(fd, b->data + done, b->len - done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EPIPE && fd == STDOUT_FILENO)
			return GPQ_PIPE;
		if (n < 0)
			return err_sys(errno, NULL, "%s", path);
		done += (size_t)n;
	}
	return GPQ_OK;
}

static int write_page(const char *path, const struct buf *b)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0)
		return err_sys(errno, NULL, "%s", path);
	int status = write_file(fd, path, b);
	if (close(fd) && !status)
		status = err_sys(errno, NULL, "%s", path);
	return status;
}

// Each plot of the page as a file of its own: DIR/plot-1.svg ...
static int write_plots(const char *dir, const struct buf *page)
{
	static const char begin[] = "<svg ", end[] = "</svg>\n";
	const char *at = page->data;
	int status = GPQ_OK;
	for (unsigned n = 1; !status && (at = strstr(at, begin)); n++) {
		const char *stop = strstr(at, end) + strlen(end);
		struct buf plot = {.data = (char *)(uintptr_t)at, .len = (size_t)(stop - at)};
		char *path = NULL;
		if (asprintf(&path, "%s/plot-%u.svg", dir, n) < 0)
			return err_fail(GPQ_FAILED, NULL, "out of memory");
		status = write_page(path, &plot);
		free(path);
		at = stop;
	}
	return status;
}

static int report(struct load *l, const struct bench_opts *o)
{
	struct result_goals goals;
	struct doc d;
	int status = bench_goals(&o->goals, &goals);
	if (status)
		return status;
	doc_init(&d, "gpq bench: cost of suspending and resuming queues");
	for (size_t i = 0; i < l->n; i++)
		report_run(&d, l->run[i], &goals);
	for (size_t i = 0; i < l->nab; i++)
		report_ab(&d, l->ab[i], &goals);
	doc_end(&d);
	status = write_file(STDOUT_FILENO, "standard output", &d.md);
	if (o->html) {
		int html = write_page(o->html, &d.html);
		status = status ? status : html;
	}
	if (o->svg) {
		int plots = write_plots(o->svg, &d.html);
		status = status ? status : plots;
	}
	doc_fini(&d);
	return status;
}

// Two sets of runs

struct change_row {
	const char *setting, *metric, *verdict;
	uint64_t n_old, n_new, p50_old, p50_new;
	double change, p, larger;
};

static const struct out_col change_cols[] = {
	OUT_COL(change_row, setting, "SETTING", "setting", OUT_STR, OUT_DEFAULT,
		"what differs from the other settings compared"),
	OUT_COL(change_row, metric, "METRIC", "metric", OUT_STR, OUT_DEFAULT, "which time"),
	OUT_COL(change_row, n_old, "N_OLD", "n_old", OUT_U64, OUT_DEFAULT, "old samples"),
	OUT_COL(change_row, n_new, "N_NEW", "n_new", OUT_U64, OUT_DEFAULT, "new samples"),
	OUT_COL(change_row, p50_old, "P50_OLD", "p50_old_ns", OUT_NS, OUT_DEFAULT, "old median"),
	OUT_COL(change_row, p50_new, "P50_NEW", "p50_new_ns", OUT_NS, OUT_DEFAULT, "new median"),
	OUT_COL(change_row, change, "CHANGE%", "change_percent", OUT_F64, OUT_DEFAULT,
		"of the median"),
	OUT_COL(change_row, p, "P", "p", OUT_F64, OUT_DEFAULT,
		"Mann-Whitney test, two-sided; - with fewer than 8 samples"),
	OUT_COL(change_row, larger, "NEW_LARGER", "new_larger_share", OUT_F64, 0,
		"share of all pairs in which the new one is larger; 0.5: no difference"),
	OUT_COL(change_row, verdict, "VERDICT", "verdict", OUT_STR, OUT_DEFAULT,
		"faster or slower (p < 0.01), same (no difference shown), unknown"),
};
const struct out_table bench_changes_table = {"changes", "change", change_cols,
					      sizeof(change_cols) / sizeof(change_cols[0])};

static uint64_t ns(double v)
{
	return isnan(v) ? U64_NULL : (uint64_t)maths()->llround(v);
}

static const char *verdict(const struct rank_test *t)
{
	if (isnan(t->p))
		return "unknown";
	return t->p >= SIGNIFICANT ? "same" : t->effect > 0.5 ? "slower" : "faster";
}

static void change_row(struct out *o, const char *setting, const char *metric, struct samples *a,
		       struct samples *b)
{
	struct rank_test t = stats_rank_test(a, b);
	double old = samples_percentile(a, 0.5), new = samples_percentile(b, 0.5);
	struct change_row row = {
		.setting = setting,
		.metric = metric,
		.verdict = verdict(&t),
		.n_old = a->n,
		.n_new = b->n,
		.p50_old = ns(old),
		.p50_new = ns(new),
		.change = old > 0 ? 100 * (new / old - 1) : NAN,
		.p = t.p,
		.larger = t.effect,
	};
	out_row(o, &row);
}

// All runs of one side together, setting by setting.
static int pool(struct result *to, const struct load *l)
{
	result_init(to);
	if (l->n)
		to->context = l->run[0]->result.context;
	for (size_t i = 0; i < l->n; i++)
		if (result_merge(to, &l->run[i]->result))
			return err_sys(errno, NULL, "adding up runs");
	return GPQ_OK;
}

// Latencies of online requests of all runs of one side, mode by mode.
static int pool_online(struct samples to[AB_MODES], const struct load *l)
{
	for (size_t i = 0; i < l->nab; i++)
		for (unsigned m = 0; m < AB_MODES; m++) {
			const struct samples *s = &l->ab[i]->mode[m].latency;
			for (size_t k = 0; k < s->n; k++)
				if (samples_add(&to[m], s->v[k]))
					return err_fail(GPQ_FAILED, NULL, "out of memory");
		}
	return GPQ_OK;
}

static const struct bench_context *context_of(const struct load *l)
{
	return l->n ? &l->run[0]->result.context : &l->ab[0]->context;
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

static struct result_setting *partner(struct result *r, const struct cycle_setting *set)
{
	for (unsigned i = 0; i < r->n; i++)
		if (cycle_setting_same(&r->of[i]->set, set))
			return r->of[i];
	return NULL;
}

// How many settings both have.
static unsigned print_cycles(struct out *o, struct result *a, struct result *b)
{
	unsigned both = 0;
	for (unsigned i = 0; i < a->n; i++) {
		struct result_setting *s = partner(b, &a->of[i]->set);
		char name[96];
		if (!s)
			continue;
		both++;
		plan_name(&a->settings, &a->of[i]->set, name);
		for (unsigned m = 0; m < METRICS; m++)
			change_row(o, name, result_metric_name[m], &a->of[i]->metric[m],
				   &s->metric[m]);
	}
	return both;
}

// How many modes both have.
static unsigned print_online(struct out *o, struct samples old[AB_MODES],
			     struct samples new[AB_MODES])
{
	unsigned both = 0;
	for (unsigned m = 0; m < AB_MODES; m++) {
		if (!old[m].n || !new[m].n)
			continue;
		both++;
		change_row(o, ab_mode_name[m], "online", &old[m], &new[m]);
	}
	return both;
}

struct sides { // all samples of the old and of the new runs
	struct result cycles[2];
	struct samples online[2][AB_MODES];
};

static int print_changes(struct out *o, struct sides *s)
{
	int status = out_begin(o, &bench_changes_table, false);
	if (status)
		return status;
	unsigned both = print_cycles(o, &s->cycles[0], &s->cycles[1]);
	both += print_online(o, s->online[0], s->online[1]);
	out_end(o);
	if (both)
		return GPQ_OK;
	return err_fail(GPQ_NOTFOUND,
			"grace, queues, hold and gap must be the same, or both be of ab",
			"the two have no setting in common");
}

static int compare_loaded(struct cmd *c, const struct load *old, const struct load *new)
{
	const struct load *const of[] = {old, new};
	struct sides s = {0};
	int status = GPQ_OK;
	for (unsigned i = 0; i < 2; i++) {
		int pooled = pool(&s.cycles[i], of[i]);
		status = status ? status : pooled ? pooled : pool_online(s.online[i], of[i]);
	}
	struct out *o = status ? NULL : out_open(&c->out);
	if (o) {
		warn_if_apart(context_of(old), context_of(new));
		status = print_changes(o, &s);
		int closed = out_close(o);
		status = status ? status : closed;
	}
	for (unsigned i = 0; i < 2; i++) {
		result_fini(&s.cycles[i]);
		for (unsigned m = 0; m < AB_MODES; m++)
			samples_fini(&s.online[i][m]);
	}
	return status;
}

static int compare(struct cmd *c)
{
	struct load old = {0}, new = {0};
	if (c->argc != 3)
		return err_fail(GPQ_USAGE, "gpq bench report --compare OLD NEW",
				"--compare takes two files or folders");
	int status = load(&old, c->argv[1]);
	status = status ? status : load(&new, c->argv[2]);
	status = status ? status : need_samples(&old, c->argv[1]);
	status = status ? status : need_samples(&new, c->argv[2]);
	status = status ? status : compare_loaded(c, &old, &new);
	load_fini(&old);
	load_fini(&new);
	return status;
}

int bench_report(struct cmd *c)
{
	const struct bench_opts *o = c->opts;
	struct load l = {0};
	int status = GPQ_OK;
	if (o->compare)
		return compare(c);
	if (c->out.mode != OUT_TABLE || c->out.columns || c->out.all)
		return err_fail(GPQ_USAGE,
				"raw samples are JSON, and gpq merge adds them up as such",
				"report writes Markdown: -J, --ndjson, -r, -P and -o do not change "
				"it");
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
