// gpq bench report: reads raw samples, writes a Markdown and HTML report or a comparison.
#include "cmd/bench/bench.h"

#include <fcntl.h>
#include <sys/stat.h>

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

void bench_tell_apart(struct buf *b, const struct bench_context *of, unsigned item,
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
	bench_tell_apart(&value, all[i], item, all, n);
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
		CONTEXT_host,      CONTEXT_source,      CONTEXT_machine,    CONTEXT_kernel,
		CONTEXT_driver,    CONTEXT_kfd_version, CONTEXT_gpus,       CONTEXT_parameters,
		CONTEXT_scheduler, CONTEXT_gpq,         CONTEXT_processors, CONTEXT_setting};
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

static bool wants_rows(const struct out_opts *f)
{
	return f->mode != OUT_TABLE || f->columns || f->all || f->filter || f->sort ||
	       f->table_name;
}

int bench_print_all(const struct out_opts *opts, const struct load *l,
		    const struct requirements *limits)
{
	struct out_opts form = *opts;
	int status = GPQ_OK;
	if (l->n > 1 && wants_rows(opts)) {
		form.schema = &bench_runs_schema;
		form.hosts = true;
		struct out *o = out_open(&form);
		bench_print_runs(o, l->run, l->n);
		status = out_close(o);
		return status ? status : judge_all(l, limits);
	}
	for (size_t i = 0; i < l->n; i++)
		if (l->run[i]->result.n || ab_runs(&l->run[i]->ab))
			status = bench_worse(status, bench_print(opts, l->run[i], limits));
	return status;
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

static int report_changes(struct cmd *c)
{
	struct load side[2] = {{0}};
	int status = GPQ_OK;
	if (c->argc != 3)
		return err_fail(GPQ_USAGE, "gpq bench report --compare OLD NEW",
				"--compare takes two files or folders");
	for (int i = 0; i < 2 && !status; i++)
		status = load_samples(&side[i], c->argv[i + 1]);
	for (int i = 0; i < 2 && !status; i++)
		status = need_samples(&side[i], c->argv[i + 1]);
	status = status ? status : bench_compare(c, side);
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
	const bool as_tables = wants_rows(&c->out);
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
	if (!status && as_tables)
		status = out_choose_table(&c->out, l.n > 1 ? bench_runs_schema.tables
							   : bench_run_tables(l.run[0]->is_ab));
	status = status ? status
			: require_parse(&limits, &o->goals, &o->require,
					REQUIRE_PREEMPT | REQUIRE_AB);
	if (!status && as_tables) {
		status = bench_print_all(&c->out, &l, &limits);
		if (l.n == 1)
			status = bench_worse(status, judge_any(&l, &limits));
	} else if (!status) {
		status = report_runs(&l, c, &limits);
		if (!status && l.n > 1 && isatty(STDOUT_FILENO))
			err_hint(NULL, "gpq bench report --compare A B tells what changed");
	}
	return status;
}
