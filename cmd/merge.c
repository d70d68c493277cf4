// gpq merge: adds up the results of many runs and hosts, given in any order.
#include "cmd/trace/trace.h"

#include "common/bench/raw.h"
#include "common/cli/input.h"
#include "common/out/filter.h"

// The options are some of those of gpq trace.
static const struct trace_opts defaults = {.by = BY_NOTHING,
					   .top = U64_NULL,
					   .expect = U64_NULL,
					   .series = U64_NULL,
					   .threads = U64_NULL};

// Lines that gpq trace --partial wrote.
struct part_lines {
	struct part_line {
		char *text; // owned
		size_t len;
		struct amdlog_part place; // owned; what amdlog_partial_place() reads
		uint64_t key[8];          // of `place`: what makes parts doubles, in this order
		const char *name;         // the first name of the file
		bool shared; // what its host lacks of the file is in a part of another host
	} * v;
	size_t n, cap;
	uint64_t end, size; // of the file of the part that was added last
};

#define EXPECT_ADVICE "look what became of their tasks"

// What was read: sums of gpq bench, or parts of gpq trace.
struct merge {
	struct sum sum;
	struct part_lines lines;
	uint64_t others, schema; // parts of another schema in the last file, and which one
	uint64_t read;           // lines of the last file that are not empty
	bool lacks;              // a line was left out, or a file is empty
};

#define DROP_NAMES "grace, queues, prio_level, hold, gap, sched, kernel, target_gpus, setting"

static const struct opt opts[] = {
	OPT_ONE_OF(trace_opts, by, "by", 0, "WHAT", "logs: " TRACE_BY_HELP, TRACE_BY_WORDS),
	OPT(trace_opts, demangle, "demangle", 0, OPT_FLAG, "",
	    "logs: readable kernel names (terminal: default)"),
	OPT(trace_opts, drop, "drop", 0, OPT_WORDS, "COLS",
	    "benchmarks: add up over these columns:\n" DROP_NAMES),
	OPT(trace_opts, expect, "expect", 0, OPT_U64, "N",
	    "number of parts, or of measurements;\nfewer: say so, and exit with status 3"),
	OPT(trace_opts, no_demangle, "no-demangle", 0, OPT_FLAG, "",
	    "logs: names of kernels as the logs have them"),
	OPT(trace_opts, partial, "partial", 0, OPT_FLAG, "",
	    "write sums that can be merged again,\none JSON object a line"),
	OPT(trace_opts, partial_ok, "partial-ok", 0, OPT_FLAG, "",
	    "status 0 also if lines were left out\nor a file is empty"),
	OPT(trace_opts, top, "top", 0, OPT_U64, "N",
	    "logs: rows of --by to show, else kernels (20;\nin JSON all)"),
	{0},
};

static const struct opt_rule rules[] = {
	RULE_EXCLUDES("partial", "filter sort", "filter what is merged in the end",
		      "--filter and --sort are about rows of tables, which --partial has not"),
	{0},
};

struct merge_row {
	struct sum_key key;
	uint64_t n, p50, p90, p99, p999, min, max, mean;
	const char *mode; // of offline work, which has no times; else NULL
	uint64_t runs, holds;
	double rate, held, loss;
};

#define HOST_COLS                                                                             \
	COL(key.source, "SOURCE", "source", STR, D | A,                                       \
	    "live, or softgpu, whose times are not a GPU's"),                                 \
		COL(key.scheduler, "SCHED", "scheduler", STR, M | A, "HWS or MES"),           \
		COL(key.kernel, "KERNEL", "kernel", STR, M | A, "kernel release"),            \
		COL(key.gpus, "TARGET_GPUS", "target_gpus", STR, M | A, "the target's GPUs"), \
		COL(key.setting, "SETTING", "setting", STR, M | A,                            \
		    "what bench ab --sweep-env set")

#define ROW merge_row
static const struct out_col cols[] = {
	COL(key.metric, "METRIC", "metric", STR, D | A, "which time, see gpq-bench(1)"),
	COL(key.set.grace, "GRACE", "grace", U64, D, "grace period"),
	COL(key.set.queues, "QUEUES", "queues_wanted", U64, D,
	    "how many queues were suspended, - all"),
	COL(key.set.level, "PRIO_LEVEL", "prio_level_wanted", U64, OUT_RARE | M,
	    "of which priority they were: 0 low, 1 medium, 2 high; - any"),
	COL(key.set.hold_ns, "HOLD", "hold_wanted_ns", NS, D, "how long they were held"),
	COL(key.set.gap_ns, "GAP", "gap_wanted_ns", NS, M, "how long they ran between cycles"),
	HOST_COLS,
	COL(n, "N", "n", U64, D, "samples"),
	COL(p50, "P50", "p50_ns", NS, D, "median, at most 3.2 % too large"),
	COL(p90, "P90", "p90_ns", NS, D, "90th percentile, likewise"),
	COL(p99, "P99", "p99_ns", NS, D, "99th percentile, likewise"),
	COL(p999, "P99.9", "p999_ns", NS, D, "99.9th percentile, likewise"),
	COL(min, "MIN", "min_ns", NS, M, "smallest, exact"),
	COL(max, "MAX", "max_ns", NS, D, "greatest, exact"),
	COL(mean, "MEAN", "mean_ns", NS, M, "mean, exact"),
};
static const struct out_table table = {"sums", "sum", OUT_COLS(cols)};

static const struct out_col offline_cols[] = {
	COL(mode, "MODE", "mode", STR, D, "alone, shared, or preempt, see gpq-bench(1)"),
	HOST_COLS,
	COL(runs, "RUNS", "runs", U64, D, "runs"),
	COL(rate, "RATE", "rate_per_s", F64, D, "AQL packets a second over all windows"),
	COL(holds, "HOLDS", "holds", U64, D, "times it was suspended"),
	COL(held, "HELD%", "held_percent", F64, D,
	    "share of the time between the leads that it was suspended"),
	COL(loss, "LOSS%", "loss_percent", F64, D, "of its work in that time, against alone"),
};
#undef ROW
static const struct out_table offline_table = {"offline", "offline", OUT_COLS(offline_cols)};
static const struct schema schema = {"gpq.merge", 1, SCHEMA_TABLES(&table, &offline_table), NULL};

// --- parts of logs ---

static void part_lines_fini(struct part_lines *l)
{
	for (size_t i = 0; i < l->n; i++) {
		free(l->v[i].text);
		amdlog_part_fini(&l->v[i].place);
	}
	free(l->v);
}

// Keeps a line that gpq trace --partial wrote. Returns false for other lines.
static bool part_lines_add(struct part_lines *l, const char *text, size_t len)
{
	struct amdlog_part p;
	if (!amdlog_partial_place(text, len, &p))
		return false;
	*ARRAY_ADD(l->v, l->cap, l->n) = (struct part_line){
		xstrndup(text, len),
		len,
		p,
		{p.inode, p.head, p.filter, p.from, ~p.to, p.asked, p.stopped, p.rank},
		NULL,
		false};
	return true;
}

// Parts that name no host come first.
static int compare_hosts(const struct amdlog_part *x, const struct amdlog_part *y)
{
	if (!x->host || !y->host)
		return (x->host != NULL) - (y->host != NULL);
	return strcmp(x->host, y->host);
}

enum { KEY_FILE = 3 * sizeof(uint64_t), KEY_RANGE = 7 * sizeof(uint64_t) }; // of one file; range

static int by_key(const struct part_line *v, const struct part_line *w)
{
	int order = 0;
	for (size_t i = 0; i < COUNT(v->key) && !order; i++)
		order = ORDER(v->key[i], w->key[i]);
	return order;
}

// Sorts parts by host, file and range of bytes; of those that begin together the longest is first.
static int by_file(const void *a, const void *b)
{
	const struct part_line *v = a, *w = b;
	int order = compare_hosts(&v->place, &w->place);
	order = order ? order : by_key(v, w);
	return order ? order : strcmp(v->text, w->text);
}

// What a part says, without its host, name and rank.
static const char *sums_of(const struct part_line *v)
{
	const char *sums = strstr(v->text, ",\"asked\":");
	return sums ? sums : v->text;
}

// Sorts parts so that those of one range with equal sums follow each other, also those of different
// hosts.
static int by_sums(const void *a, const void *b)
{
	const struct part_line *v = a, *w = b;
	int order = memcmp(v->key, w->key, KEY_RANGE);
	order = order ? order : strcmp(sums_of(v), sums_of(w));
	order = order ? order : compare_hosts(&v->place, &w->place);
	return order ? order : strcmp(v->text, w->text);
}

// Sorts parts by host, name and range, so that the order of the input does not matter.
static int by_part_place(const void *a, const void *b)
{
	const struct part_line *v = a, *w = b;
	int order = compare_hosts(&v->place, &w->place);
	order = order ? order : strcmp(v->name, w->name);
	return order ? order : by_file(v, w);
}

static char *part_words(const struct amdlog_part *p)
{
	struct buf b = {0};
	buf_puts(&b, p->file);
	if (p->host)
		buf_printf(&b, " of host %s", p->host);
	if (p->rank != AMDLOG_UNKNOWN)
		buf_printf(&b, " by rank %" PRIu64, p->rank);
	buf_printf(&b, ", bytes %" PRIu64 " to %" PRIu64, p->from, p->to);
	return b.data;
}

// Is all of `v` in `other`, which by_file() puts before it?
static bool is_within(const struct part_line *v, const struct part_line *other)
{
	if (v->place.inode == AMDLOG_UNKNOWN) // parts of pipes are the same if their texts are
		return strcmp(v->text, other->text) == 0;
	if (compare_hosts(&v->place, &other->place))
		return false;
	if (v->place.from == v->place.to) // no line begins in its range
		return memcmp(v->key, other->key, 6 * sizeof(v->key[0])) == 0;
	return memcmp(v->key, other->key, KEY_FILE) == 0 && v->place.to <= other->place.to;
}

// Is `v` of the same range of a file that two hosts read? Files of two hosts may have one inode,
// and begin with the same lines.
static bool is_of_both(const struct part_line *v, const struct part_line *other)
{
	return v->place.inode != AMDLOG_UNKNOWN && memcmp(v->key, other->key, KEY_RANGE) == 0 &&
	       strcmp(sums_of(v), sums_of(other)) == 0;
}

// Drops a part that is in another one, as of a task that ran twice.
static void drop_doubles(struct part_lines *l, int (*order)(const void *, const void *),
			 bool (*is_double)(const struct part_line *, const struct part_line *))
{
	size_t n = 0, longest = 0;
	qsort(l->v, l->n, sizeof(*l->v), order);
	for (size_t i = 0; i < l->n; i++) {
		struct part_line v = l->v[i];
		const bool alone = v.place.inode == AMDLOG_UNKNOWN || v.place.from == v.place.to;
		const size_t other = alone && n ? n - 1 : longest;
		if (!n || !is_double(&v, &l->v[other])) {
			longest = alone ? longest : n;
			l->v[n++] = v;
			continue;
		}
		SCOPED(free_at) char *this = part_words(&v.place);
		SCOPED(free_at) char *that = part_words(&l->v[other].place);
		err_warn("counted once", "%s: is in %s, too", this, that);
		free(v.text);
		amdlog_part_fini(&v.place);
	}
	l->n = n;
}

// Is part `i` of the same file as the part before it?
static bool continues(const struct part_lines *l, size_t i)
{
	const struct part_line *v = &l->v[i];
	return i && i < l->n && v->place.inode != AMDLOG_UNKNOWN &&
	       !compare_hosts(&v[-1].place, &v->place) && !memcmp(v[-1].key, v->key, KEY_FILE);
}

// Drops doubles, and sorts the others by place: parts of one file by the first of its names.
static void part_lines_sort(struct part_lines *l)
{
	drop_doubles(l, by_sums, is_of_both);
	drop_doubles(l, by_file, is_within);
	for (size_t i = 0, k; i < l->n; i = k) {
		const char *name = l->v[i].place.file;
		for (k = i + 1; k < l->n && continues(l, k); k++)
			name = strcmp(l->v[k].place.file, name) < 0 ? l->v[k].place.file : name;
		for (size_t of = i; of < k; of++)
			l->v[of].name = name;
	}
	qsort(l->v, l->n, sizeof(*l->v), by_part_place);
}

static int write_parts(const struct part_lines *l)
{
	struct buf all = {0};
	for (size_t i = 0; i < l->n; i++) {
		buf_append(&all, l->v[i].text, l->v[i].len);
		buf_puts(&all, "\n");
	}
	return out_text(&all);
}

// Warns of bytes [from, to) that no part of the host of part `i` has. If a part of another host has
// some of them, the hosts may share the log, and nothing may be missing: said once for each file.
static void say_gap(struct part_lines *l, size_t i, uint64_t from, uint64_t to)
{
	struct part_line *v = &l->v[i];
	const char *file = v->place.file;
	bool told = false;
	for (const struct part_line *w = l->v; w < l->v + l->n; w++) {
		if (memcmp(w->key, v->key, KEY_FILE) != 0)
			continue;
		told |= w->shared;
		v->shared |= compare_hosts(&w->place, &v->place) && w->place.from < to &&
			     w->place.to > from;
	}
	SCOPED(free_at)
	char *next = xasprintf("make it: --range %" PRIu64 ":%" PRIu64, from, to - from);
	if (!v->shared)
		err_warn(next, "%s: bytes %" PRIu64 " to %" PRIu64 " are in no part", file, from,
			 to);
	else if (!told)
		err_warn("if they share one log, make its parts without --host",
			 "%s: hosts have different ranges of it, so gaps are not known", file);
}

// Warns of bytes that are in two parts or in none.
static void check_place(struct part_lines *l, size_t i)
{
	const struct amdlog_part *p = &l->v[i].place;
	if (!continues(l, i))
		l->end = l->size = 0;
	if (p->size != AMDLOG_UNKNOWN)
		l->size = greater(l->size, p->size);
	if (p->from < l->end && p->from < p->to)
		err_warn("what is in both counts twice; make the parts anew, side by side",
			 "%s: bytes %" PRIu64 " to %" PRIu64 " are in two parts", p->file, p->from,
			 l->end);
	else if (p->from > l->end)
		say_gap(l, i, l->end, p->from);
	l->end = greater(l->end, p->to);
	if (p->stopped)
		err_warn("what comes behind is missing", "%s was read to byte %" PRIu64 " only",
			 p->file, p->to);
	else if (!continues(l, i + 1) && l->end < l->size)
		say_gap(l, i, l->end, l->size);
}

static int add_part_line(struct trace *t, struct amdlog_merge *m, const struct part_lines *l,
			 size_t i)
{
	const struct part_line *v = &l->v[i];
	struct amdlog_part part;
	struct amdlog_summary next;
	const char *why;
	if (!amdlog_partial_read(v->text, v->len, &part, &next, &why))
		return err_fail(GPQ_FAILED, "make it anew",
				"the part of %s from byte %" PRIu64 " is %s", v->place.file,
				v->place.from, why);
	amdlog_merge_add(m, &part, !continues(l, i));
	amdlog_summary_fini(&next);
	amdlog_part_fini(&part);
	progress_show(&t->progress, (double)(i + 1) / (double)l->n, "part %zu of %zu", i + 1, l->n);
	return GPQ_OK;
}

static int add_parts(struct trace *t, struct amdlog_merge *m, const struct part_lines *l,
		     const struct intern *apart)
{
	int status = GPQ_OK;
	amdlog_merge_init(m);
	m->apart = apart;
	for (size_t i = 0; i < l->n && !status; i++)
		status = add_part_line(t, m, l, i);
	return status;
}

static int report_merged(struct cmd *c, struct trace *t, struct amdlog_merge *m)
{
	c->out.hosts = m->hosts.n > 0;
	int status = trace_begin(t, c);
	if (status)
		return status;
	t->streams = m->all.streams; // `m` owns and frees the streams
	amdlog_summary_finish(&t->sum);
	status = trace_report(t);
	trace_notes(t, 1);
	return trace_end(t, GPQ_OK, status);
}

static int report_parts(struct cmd *c, struct part_lines *l)
{
	const struct trace_opts *o = c->opts;
	struct trace t = {.opts = o,
			  .by = o->by,
			  .name_pid = -1,
			  .perfetto_fd = -1,
			  .ask = o->by == BY_STREAM ? &trace_streams : &trace_summary};
	SCOPED(intern_fini) struct intern apart = {0};
	struct amdlog_merge m;
	int status = trace_demangle(c, o->demangle, o->no_demangle);
	if (status)
		return status;
	t.one_table = t.by != BY_NOTHING;
	for (size_t i = 0; i < l->n; i++)
		check_place(l, i);
	progress_init(&t.progress, c->out.progress, false);
	status = add_parts(&t, &m, l, NULL);
	if (!status)
		amdlog_merge_find_apart(&m, &apart);
	if (apart.n) {
		amdlog_merge_fini(&m);
		status = add_parts(&t, &m, l, &apart);
	}
	progress_end(&t.progress);
	t.merged = &m;
	t.sum = m.sum; // the sum goes back to `m` below, which owns and frees it
	if (m.all.filtered)
		t.sum.filter.until_us = AMDLOG_UNKNOWN - 1;
	status = status ? status : report_merged(c, &t, &m);
	trace_names_fini(&t);
	m.sum = t.sum;
	amdlog_merge_fini(&m);
	return status;
}

COMPARE_VALUES(by_number, uint64_t)

// Compares the number of parts with --expect. If each is of another rank, it tells which ranks
// made none.
static int check_expected(const struct part_lines *l, uint64_t expect)
{
	SCOPED(free_at) uint64_t *ranks = xcalloc(l->n, sizeof(*ranks));
	SCOPED(buf_fini) struct buf none = {0};
	bool told = true;
	if (expect == U64_NULL || l->n >= expect)
		return GPQ_OK;
	for (size_t i = 0; i < l->n; i++)
		ranks[i] = l->v[i].place.rank;
	ARRAY_SORT(ranks, l->n, by_number);
	for (size_t i = 0; i < l->n; i++)
		told &= ranks[i] != AMDLOG_UNKNOWN && (!i || ranks[i] != ranks[i - 1]);
	for (uint64_t rank = 0, at = 0; told && rank < expect && none.len < 60; rank++) {
		at += at < l->n && ranks[at] < rank;
		if (at == l->n || ranks[at] != rank)
			buf_printf(&none, "%s%" PRIu64, none.len ? ", " : ": no part of rank ",
				   rank);
	}
	err_warn(EXPECT_ADVICE, "%zu parts instead of %" PRIu64 "%s%s", l->n, expect,
		 told ? none.data : "", none.len < 60 ? "" : ", ...");
	return GPQ_PARTIAL;
}

// --- sums of samples ---

static int merge_line(void *arg, const char *path, uint64_t number, char *line, size_t len)
{
	struct merge *m = arg;
	m->read += len > 0;
	const uint64_t version = amdlog_partial_schema(line, len);
	if (version && version != AMDLOG_PARTIAL_SCHEMA) {
		m->others++;
		m->schema = version;
	} else if (!version || !part_lines_add(&m->lines, line, len)) {
		sum_add_line(&m->sum, path, number, line, len);
	}
	return 0;
}

static int merge_file(struct merge *m, const char *path)
{
	struct sum *s = &m->sum;
	const uint64_t bad = s->bad_lines, repeated[] = {s->repeated[0], s->repeated[1]};
	m->others = m->read = 0;
	if (input_lines(path, merge_line, m))
		return err_sys(errno, input_next(errno), "%s", path);
	const uint64_t n = s->bad_lines - bad;
	if (n)
		err_warn("left out", "%s: %llu line%s %s no result%s of gpq bench or gpq trace%s%s",
			 path, (unsigned long long)n, text_s(n), text_are(n), text_s(n),
			 bad ? "" : "; ",
			 bad ? "" : s->first_bad); // known of the first bad file alone
	if (m->others)
		err_warn("make them anew, or merge all with the gpq that wrote them",
			 "%s: left out %" PRIu64 " part%s of schema %" PRIu64
			 ": this gpq reads schema %d",
			 path, m->others, text_s(m->others), m->schema, AMDLOG_PARTIAL_SCHEMA);
	for (unsigned i = 0; i < COUNT(repeated); i++)
		if (s->repeated[i] > repeated[i])
			err_warn("counted once", "%s: %" PRIu64 " %s%s read before", path,
				 s->repeated[i] - repeated[i], i ? "sum" : "sample",
				 s->repeated[i] - repeated[i] == 1 ? " was" : "s were");
	m->lacks |= n || m->others || !m->read;
	return GPQ_OK;
}

static struct merge_row merged_row(const struct sum *s, const struct sum_row *r)
{
	const struct hist *h = &r->hist;
	const double rate = ab_offline_rate(&r->offline), alone = sum_rate_alone(s, r);
	const struct ab_verdict v = ab_judge_sum(&r->offline, rate, alone);
	return (struct merge_row){
		.key = r->key,
		.n = h->count,
		.p50 = hist_percentile(h, 0.5),
		.p90 = hist_percentile(h, 0.9),
		.p99 = hist_percentile(h, 0.99),
		.p999 = hist_percentile(h, 0.999),
		.min = h->min,
		.max = h->max,
		.mean = h->count && h->sum != UINT64_MAX ? h->sum / h->count : U64_NULL,
		.mode = sum_mode(r),
		.runs = r->offline.runs,
		.holds = r->offline.holds,
		.rate = rate,
		.held = 100 * v.held,
		.loss = 100 * v.loss,
	};
}

static int print_tables(struct cmd *c, const struct sum *s)
{
	bool offline = false, levels = false;
	for (size_t i = 0; i < s->n; i++) {
		offline |= sum_mode(s->row[i]) != NULL;
		levels |= s->row[i]->key.set.level != CYCLE_NONE;
	}
	const struct out_table *const *t = offline ? schema.tables : SCHEMA_TABLES(&table);
	int status = out_choose_table(&c->out, t);
	if (status)
		return status;
	struct out *o = out_open(&c->out);
	for (; *t && !status; t++) {
		out_end(o);
		if (offline)
			out_title(o, *t == &table ? "Times" : "Offline work");
		status = out_begin(o, *t, false);
		if (!levels && *t == &table && !status)
			out_leave_out(o, "PRIO_LEVEL");
		for (size_t i = 0; i < s->n && !status; i++) {
			struct merge_row row = merged_row(s, s->row[i]);
			if (!row.mode == (*t == &table))
				out_row(o, &row);
		}
	}
	return out_finish(o, status);
}

static int print_merged(struct cmd *c, struct merge *m)
{
	const struct trace_opts *o = c->opts;
	struct buf sums = {0};
	if (m->lines.n && m->sum.n)
		return err_fail(GPQ_USAGE, "merge them apart",
				"results of gpq bench and of gpq trace cannot be added");
	if (m->lines.n && o->drop.n)
		return err_fail(GPQ_USAGE, "leave it out", "--drop is for results of gpq bench");
	c->out.schema = m->lines.n ? &trace_schema : &schema;
	if (m->lines.n) {
		part_lines_sort(&m->lines);
		int missing = check_expected(&m->lines, o->expect);
		int status = o->partial ? write_parts(&m->lines) : report_parts(c, &m->lines);
		return status ? status : missing;
	}
	if (!m->sum.n && o->expect != U64_NULL && o->expect)
		return err_fail(GPQ_PARTIAL, EXPECT_ADVICE, "0 parts instead of %" PRIu64,
				o->expect);
	if (!m->sum.n)
		return err_fail(
			GPQ_NOTFOUND,
			"gpq trace --partial, gpq bench --samples FILE and gpq merge --partial "
			"write them",
			"no results in what was read");
	if (o->by != BY_NOTHING || o->top != U64_NULL)
		return err_fail(GPQ_USAGE, "leave them out",
				"--by and --top are for results of gpq trace");
	if (o->partial)
		sum_write(&sums, &m->sum);
	int status = o->partial ? out_text(&sums) : print_tables(c, &m->sum);
	if (status || o->expect == U64_NULL || m->sum.runs >= o->expect)
		return status;
	err_warn(EXPECT_ADVICE, "%" PRIu64 " measurement%s instead of %" PRIu64, m->sum.runs,
		 text_s(m->sum.runs), o->expect);
	return GPQ_PARTIAL;
}

// Reads --drop.
static int read_drop(struct sum *s, const struct words *w)
{
	for (size_t i = 0; i < w->n; i++) {
		const int column = out_find_column(&table, w->v[i], strlen(w->v[i]));
		const size_t offset = column < 0 ? SIZE_MAX : cols[column].offset; // in the key
		if (!sum_drop(s, offset))
			return err_fail(GPQ_USAGE, "choose of " DROP_NAMES, "--drop %s: %s",
					w->v[i],
					offset == offsetof(struct sum_key, source)
						? "times of the software GPU are not a GPU's"
						: "no column that keeps sums apart");
	}
	return GPQ_OK;
}

static int run_merge(struct cmd *c)
{
	const struct trace_opts *o = c->opts;
	struct merge m = {0};
	int n = c->argc ? c->argc : 1, status = read_drop(&m.sum, &o->drop);
	for (int i = 0; i < n && !status; i++) {
		status = merge_file(&m, c->argc ? c->argv[i] : "-");
		if (!status && !m.read && n > 1)
			err_warn("look what became of its task", "%s is empty", c->argv[i]);
	}
	if (!status)
		status = print_merged(c, &m);
	if (!status && m.lacks && !o->partial_ok)
		status = GPQ_PARTIAL;
	sum_fini(&m.sum);
	part_lines_fini(&m.lines);
	return status;
}

const struct cmd_spec merge_spec = {
	.synopsis = "[--partial] [--expect N] [--partial-ok] [--by WHAT] [--top N] "
		    "[--drop COLS] [--demangle|--no-demangle] [FILE...]",
	.description = "Add up results from many files, ranges of files, runs and hosts, in any "
		       "order: what gpq trace\n--partial wrote, raw samples of gpq bench, and what "
		       "gpq merge --partial wrote. Without FILE, or with\n-, from standard input.",
	.operands = "FILE...",
	.opts = opts,
	.rules = rules,
	.opts_size = sizeof(struct trace_opts),
	.defaults = &defaults,
	.tables = SCHEMA_TABLES(&table, &offline_table, &trace_totals_table, &trace_process_table,
				&trace_queue_table, &trace_kernel_table, &trace_thread_table,
				&trace_api_table, &trace_stream_table, &trace_error_table),
	.schemas = SCHEMAS(&schema, &trace_schema),
	.run = run_merge,
};
