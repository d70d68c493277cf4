// gpq bench report: reads raw samples, writes a Markdown and HTML report or a comparison.
#include "cmd/bench/bench.h"

#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>

#define SIGNIFICANT 0.01

enum { DIFFERENCES_MOST = 100 }; // runs that are compared

static int load_samples(struct load *l, const char *path)
{
	uint64_t bad = l->bad_lines, repeated = l->repeated;
	if (load_add(l, path))
		return err_sys(errno, NULL, "%s", path);
	const uint64_t n = l->bad_lines - bad, again = l->repeated - repeated;
	if (n)
		err_warn("left out", "%s: %llu line%s %s no sample%s%s%s", path,
			 (unsigned long long)n, text_s(n), text_are(n), text_s(n), bad ? "" : "; ",
			 bad ? "" : l->first_bad);
	if (again)
		err_warn("counted once", "%s: %llu sample%s read before", path,
			 (unsigned long long)again, again == 1 ? " was" : "s were");
	return GPQ_OK;
}

static int need_samples(const struct load *l, const char *path)
{
	if (l->n)
		return GPQ_OK;
	return err_fail(GPQ_NOTFOUND, "gpq bench preempt or ab --samples FILE writes them",
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
		return err_sys(errno, NULL, "--svg-dir %s", dir);
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
		status = bench_worse(status, bad);
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

// Appends what makes the item of `of` differ in these runs: of parameters, those that not all of
// the runs have, else all of it. Nothing: it is unknown.
static void tell_apart(struct buf *b, const struct bench_context *of, unsigned item,
		       const struct bench_context *const *all, size_t n)
{
	const char *word = of->text[item];
	if (item != CONTEXT_parameters)
		buf_puts(b, word);
	for (size_t len; item == CONTEXT_parameters && *word; word += len + (word[len] == ' ')) {
		size_t k = 0;
		len = strcspn(word, " ");
		while (k < n && text_has_word(all[k]->text[item], word, len))
			k++;
		if (k < n)
			buf_printf(b, "%s%.*s", b->len ? " " : "", (int)len, word);
	}
	if (!b->len && *of->text[item])
		buf_puts(b, "none of these");
}

// Prints the runs whose context item equals that of run `i`, unless an earlier run has it, too.
static void same_text(struct out *o, const struct load *l, size_t n, size_t i, unsigned item)
{
	const struct bench_context *all[DIFFERENCES_MOST] = {0};
	const char *text = l->run[i]->context.text[item];
	SCOPED(buf_fini) struct buf runs = {0}, value = {0};
	for (size_t k = 0; k < n; k++)
		all[k] = &l->run[k]->context;
	tell_apart(&value, all[i], item, all, n);
	for (size_t k = 0; k < n; k++) {
		if (strcmp(l->run[k]->context.text[item], text) != 0)
			continue;
		if (k < i)
			return;
		buf_printf(&runs, "%s%s", runs.len ? ", " : "",
			   l->run[k]->context.text[CONTEXT_run]);
	}
	out_row(o, &(struct difference_row){bench_context_label[item],
					    value.len ? value.data : NULL, runs.data});
}

// Prints what differs between the hosts, kernels, drivers and GPUs of several runs.
static void print_differences(struct out *o, const struct load *l)
{
	static const enum bench_context_item items[] = {
		CONTEXT_host,      CONTEXT_source,      CONTEXT_machine,   CONTEXT_kernel,
		CONTEXT_driver,    CONTEXT_kfd_version, CONTEXT_gpus,      CONTEXT_parameters,
		CONTEXT_scheduler, CONTEXT_gpq,         CONTEXT_processors};
	const size_t n = l->n < DIFFERENCES_MOST ? l->n : DIFFERENCES_MOST;
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

// On a screen, tells how to get what the report leaves out: tables by name if there is one run.
static void say_short(struct out *o, const struct load *l)
{
	const bool ab = l->run[0]->is_ab;
	SCOPED(buf_fini) struct buf names = {0};
	const struct out_table *const *t = bench_run_tables(ab) + (ab ? 2 : 1);
	for (; l->n == 1 && *t; t++)
		buf_printf(&names, "%s%s", names.len ? ", " : ", --table NAME one of ", (*t)->name);
	if (out_fits(o))
		out_title(o, "In short: | less has all of it%s.", names.len ? names.data : "");
}

// Writes what all runs are about in this form, a document or tables.
static int write_runs(struct load *l, const struct requirements *limits, struct out_opts form)
{
	form.title = !load_first(l, true)    ? "gpq bench: suspend and resume"
		     : !load_first(l, false) ? "gpq bench: online requests beside offline work"
					     : "gpq bench: suspend, resume, online requests";
	form.fits = true;
	struct out *o = out_open(&form);
	say_short(o, l);
	print_differences(o, l);
	for (int ab = 0; ab < 2; ab++)
		for (size_t i = 0; i < l->n; i++)
			if (l->run[i]->is_ab == ab)
				bench_print_run(o, l->run[i], limits);
	return out_close(o);
}

// Reports in Markdown, or to people on a terminal in the tables that follow a measurement.
static int report_runs(struct load *l, const struct cmd *c, const struct requirements *limits)
{
	const struct bench_opts *o = c->opts;
	const struct out_opts document = {.mode = OUT_MARKDOWN};
	SCOPED(buf_fini) struct buf page = {0};
	const bool only_page = o->html && strcmp(o->html, "-") == 0; // page to stdout
	if (o->html || o->svg)
		write_runs(l, limits, (struct out_opts){.mode = OUT_HTML, .to = &page});
	int html = o->html && !only_page ? out_file("", o->html, &page) : GPQ_OK;
	int plots = o->svg ? write_plots(o->svg, &page) : GPQ_OK;
	int status = only_page ? out_text(&page)
			       : write_runs(l, limits, isatty(STDOUT_FILENO) ? c->out : document);
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

struct changes {
	struct change_row *row;        // owned
	struct bench_change *headline; // owned; of suspend, resume and online requests
	size_t n, cap, nheadline, cap_headline;
};

static void add_change(struct changes *c, const char *setting, const char *metric, bool headline,
		       struct samples *a, struct samples *b)
{
	struct rank_test t = stats_rank_test(a, b);
	double old = samples_percentile(a, 0.5), new = samples_percentile(b, 0.5);
	const struct change_row row = {
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
	*ARRAY_ADD(c->row, c->cap, c->n) = row;
	if (headline)
		*ARRAY_ADD(c->headline, c->cap_headline, c->nheadline) =
			(struct bench_change){setting, metric, row.verdict, {a, b}};
}

static void warn_if_apart(const struct bench_context *a, const struct bench_context *b)
{
	static const enum bench_context_item same[] = {CONTEXT_source, CONTEXT_gpus, CONTEXT_kernel,
						       CONTEXT_parameters, CONTEXT_target_queues};
	for (unsigned i = 0; i < COUNT(same); i++) {
		const struct bench_context *sides[] = {a, b};
		SCOPED(buf_fini) struct buf x = {0}, y = {0};
		tell_apart(&x, a, same[i], sides, 2);
		tell_apart(&y, b, same[i], sides, 2);
		if (strcmp(a->text[same[i]], b->text[same[i]]) != 0)
			err_warn("the difference may be the reason", "not the same %s: %s; %s",
				 bench_context_label[same[i]], x.len ? x.data : "unknown",
				 y.len ? y.data : "unknown");
	}
}

// Adds how latencies of cycles changed, for each setting that both runs have.
static void add_cycle_changes(struct changes *c, struct result *a, struct result *b)
{
	for (unsigned i = 0; i < a->n; i++) {
		struct result_setting *s = NULL;
		for (unsigned k = 0; k < b->n && !s; k++)
			if (plan_compare(&a->of[i]->set, &b->of[k]->set) == 0)
				s = b->of[k];
		for (unsigned m = 0; s && m < METRICS; m++)
			if (a->of[i]->metric[m].n || s->metric[m].n)
				add_change(c, a->of[i]->name, result_metric_name[m],
					   m == METRIC_suspend || m == METRIC_resume,
					   &a->of[i]->metric[m], &s->metric[m]);
	}
}

// Adds how online latencies changed, for each mode that both runs have.
static void add_online_changes(struct changes *c, struct ab_result *a, struct ab_result *b)
{
	for (unsigned m = 0; m < AB_MODES; m++) {
		struct samples *old = &a->mode[m].latency, *new = &b->mode[m].latency;
		if (old->n && new->n)
			add_change(c, ab_mode_name[m], "online", true, old, new);
	}
}

// Says which times changed, in words.
static void say_changes(struct out *o, const struct changes *c)
{
	static const struct {
		const char *verdict, *words;
		enum out_block block;
	} groups[] = {{"slower", "Slower", OUT_UNMET},
		      {"faster", "Faster", OUT_MET},
		      {"same", "No difference shown", OUT_NOTE},
		      {"unknown", "Too few samples to tell", OUT_NOTE}};
	char old[24], new[24];
	for (unsigned g = 0; g < COUNT(groups); g++) {
		SCOPED(buf_fini) struct buf b = {0};
		for (size_t i = 0; i < c->nheadline; i++) {
			const struct bench_change *x = &c->headline[i];
			double was = samples_percentile(x->side[0], 0.5);
			double is = samples_percentile(x->side[1], 0.5);
			if (strcmp(x->verdict, groups[g].verdict) != 0)
				continue;
			buf_printf(&b, "%s%s (%s): %s, now %s", b.len ? "; " : "", x->metric,
				   x->setting, text_ns(old, bench_ns(was)),
				   text_ns(new, bench_ns(is)));
			if (was > 0)
				buf_printf(&b, " (%+.0f%%)", 100 * (is / was - 1));
		}
		if (b.len)
			out_say(o, out_fits(o) ? OUT_MET : groups[g].block, "%s. Medians: %s.",
				groups[g].words, b.data);
	}
}

static int print_changes(struct out *o, const struct changes *c, const struct bench_context *of)
{
	if (out_is_document(o)) {
		say_changes(o, c);
		run_plot_changes(o, of, c->headline, c->nheadline);
	}
	int status = out_begin(o, &bench_changes_table, false);
	for (size_t i = 0; !status && i < c->n; i++)
		out_row(o, &c->row[i]);
	if (!status)
		out_end(o);
	if (!status && out_fits(o))
		say_changes(o, c);
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

// Compares what both sides have, and writes the table, the page, or both.
static int compare_sides(struct cmd *c, const struct load *old, const struct load *new)
{
	const char *html = ((const struct bench_opts *)c->opts)->html;
	struct load_run *cycles[] = {load_first(old, false), load_first(new, false)};
	struct load_run *abs[] = {load_first(old, true), load_first(new, true)};
	const struct bench_context *of[] = {&(cycles[0] ? cycles[0] : abs[0])->context,
					    &(cycles[1] ? cycles[1] : abs[1])->context};
	struct changes changes = {0};
	int status = GPQ_OK, page = GPQ_OK;
	warn_if_apart(of[0], of[1]);
	if (cycles[0] && cycles[1])
		add_cycle_changes(&changes, &cycles[0]->result, &cycles[1]->result);
	if (abs[0] && abs[1])
		add_online_changes(&changes, &abs[0]->ab, &abs[1]->ab);
	c->out.fits = true;
	if (!html || strcmp(html, "-") != 0)
		status = print_changes(out_open(&c->out), &changes, of[1]);
	if (!changes.n)
		status = err_fail(GPQ_NOTFOUND,
				  "grace, queues, hold and gap must be the same, or both be of ab",
				  "the two have no setting in common");
	else if (html)
		page = write_change_page(c, &changes, of[1]);
	free(changes.row);
	free(changes.headline);
	return status ? status : page;
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
	status = status ? status : compare_sides(c, &side[0], &side[1]);
	load_fini(&side[0]);
	load_fini(&side[1]);
	return status;
}

const struct opt_rule bench_report_rules[] = {
	RULE_EXCLUDES("svg-dir", "compare", "--compare --html FILE has the plot",
		      "--svg-dir does not go with --compare"),
	RULE_EXCLUDES("html svg-dir", ROWS_NAMES,
		      "gpq bench report --html FILE FILE... has the plots",
		      "--html and --svg-dir do not go with rows, columns and JSON"),
	RULE_EXCLUDES("goal require", "compare", "judge each alone: gpq bench report FILE",
		      "--compare tells what changed, and keeps to no --%1"),
	{0},
};

int bench_report(struct cmd *c)
{
	const struct bench_opts *o = c->opts;
	const struct out_opts *f = &c->out;
	const bool as_tables = f->mode != OUT_TABLE || f->columns || f->all || f->filter ||
			       f->sort || f->table_name;
	SCOPED(require_fini) struct requirements limits = {0};
	SCOPED(load_fini) struct load l = {0};
	int status = GPQ_OK;
	if (o->html && holds_json(o->html))
		return err_fail(GPQ_USAGE, "name another file",
				"--html %s: holds JSON, such as samples", o->html);
	if (o->compare)
		return report_changes(c);
	if (c->argc < 2)
		return err_fail(GPQ_USAGE, "gpq bench report FILE|DIR...",
				"report needs files with samples");
	for (int i = 1; i < c->argc && !status; i++)
		status = load_samples(&l, c->argv[i]);
	status = status ? status : need_samples(&l, c->argv[1]);
	if (!status && as_tables && l.n > 1)
		status = err_fail(GPQ_USAGE, "name one; or leave out -J, -r, -o and their like",
				  "rows, columns and JSON are of one run, and these are %zu", l.n);
	if (!status && as_tables)
		status = out_choose_table(&c->out, bench_run_tables(l.run[0]->is_ab));
	status = status ? status
			: require_parse(&limits, &o->goals, &o->require,
					REQUIRE_PREEMPT | REQUIRE_AB);
	if (!status && as_tables) { // print what gpq bench printed after the measurement
		status = bench_print(&c->out, l.run[0], &limits);
		status = bench_worse(status, judge_any(&l, &limits));
	} else if (!status) {
		status = report_runs(&l, c, &limits);
		if (!status && l.n > 1 && isatty(STDOUT_FILENO))
			err_hint(NULL, "gpq bench report --compare A B tells what changed");
	}
	return status;
}
