// Output of `gpq trace`: tables, readable kernel names, --perfetto, exit status. And two kinds of
// runs: reports of logs, and --partial.
#include "cmd/trace/trace.h"

#include "common/amdlog/analysis/timeline.h"
#include "common/host/secure.h"
#include "common/reader/demangle.h"

#include <fcntl.h>
#include <sys/stat.h>

#define TOP_DEFAULT 20

uint32_t trace_top(const struct trace *t, uint32_t rows)
{
	enum out_mode mode = out_mode(t->out);
	uint64_t top = t->opts->top;
	if (top == U64_NULL)
		top = mode == OUT_JSON || mode == OUT_NDJSON || t->by == BY_KERNEL ? rows
										   : TOP_DEFAULT;
	return top < rows ? (uint32_t)top : rows;
}

// --- tables of reports ---

static int by_rank(const void *a, const void *b)
{
	const struct trace_rank *x = a, *y = b;
	int order = x->name ? strcmp(x->name, y->name) : 0;
	for (unsigned i = 0; i < 3; i++) {
		if (x->by[i] != y->by[i])
			return x->by[i] < y->by[i] ? -1 : 1;
	}
	if (order || x->process != y->process)
		return order ? order : x->process < y->process ? -1 : 1;
	return x->index < y->index ? -1 : 1;
}

uint32_t *trace_sorted(struct trace *t, uint32_t n, uint32_t *count,
		       bool (*rank)(struct trace *, uint32_t, struct trace_rank *))
{
	SCOPED(free_at) struct trace_rank *ranks = xcalloc(n, sizeof(*ranks));
	uint32_t *index = xcalloc(n, sizeof(*index));
	*count = 0;
	for (uint32_t i = 0; i < n; i++) {
		struct trace_rank r = {.index = i};
		if (rank(t, i, &r))
			ranks[(*count)++] = r;
	}
	qsort(ranks, *count, sizeof(*ranks), by_rank);
	for (uint32_t i = 0; i < *count; i++)
		index[i] = ranks[i].index;
	return index;
}

void trace_table(struct trace *t, const struct out_table *table, const char *title, uint64_t show,
		 uint64_t n)
{
	if (t->one_table)
		return;
	if (show < n)
		out_title(t->out, "%s (%s%" PRIu64 " of %" PRIu64 ")", title,
			  out_filters(t->out) ? "at most " : "", show, n);
	else if (title)
		out_title(t->out, "%s", title);
	out_begin(t->out, table, false);
}

void trace_view_out(struct trace *t, const struct trace_view *v)
{
	uint32_t n = v->count(t), *index = v->rank ? trace_sorted(t, n, &n, v->rank) : NULL;
	const bool asked = t->opts->top != U64_NULL && t->by != BY_NOTHING && v->by == t->by;
	uint32_t show = asked ? trace_top(t, n) : v->most ? v->most(t, n) : n;
	trace_table(t, v->table, v->title, show, n);
	if (asked || v->most)
		show = out_limit(t->out, show, n);
	for (uint32_t i = 0; i < show; i++)
		v->row(t, index ? index[i] : i);
	out_end(t->out);
	free(index);
}

// Returns the view that is written with t->one_table.
static const struct trace_view *only_view(const struct trace *t)
{
	const struct trace_view *v = t->ask->views;
	while (v->table && v->by != t->by)
		v++;
	return v;
}

void trace_views_out(struct trace *t)
{
	if (t->one_table) {
		trace_view_out(t, only_view(t));
		return;
	}
	for (const struct trace_view *v = t->ask->views; v->table; v++) {
		if (!v->alone)
			trace_view_out(t, v);
	}
}

// --- readable kernel names: a name is demangled once, when it is first shown ---

int trace_demangle(struct cmd *c, bool yes, bool no)
{
	if (yes && no)
		return err_fail(GPQ_USAGE, "choose one",
				"--demangle and --no-demangle exclude each other");
	c->out.demangle = yes || (!no && c->out.mode == OUT_TABLE && isatty(STDOUT_FILENO));
	return GPQ_OK;
}

// Returns the demangler, which the first call starts; NULL: libstdc++ is missing, and names stay
// mangled.
static struct demangler *begin_demangling(struct trace *t)
{
	static const char missing[] = "libstdc++.so.6 is missing: kernel names stay mangled";
	static bool said; // once for both logs of --compare
	if (t->names.begun)
		return t->names.demangler;
	t->names.begun = true;
	t->names.demangler = demangler_new();
	if (t->names.demangler || said)
		return t->names.demangler;
	said = true;
	if (t->opts->demangle)
		err_warn("install libstdc++6", missing);
	else
		err_note(missing);
	return NULL;
}

const char *trace_name_readable(struct trace *t, uint32_t kernel)
{
	struct trace_names *names = &t->names;
	const char *name = t->sum.kernels[kernel].name;
	// Logs of ROCm 6.4 and later have no mangled name (_Z): libstdc++ is not loaded for them.
	if (strncmp(name, "_Z", 2) != 0 || !begin_demangling(t))
		return name;
	ARRAY_REACH(names->v, names->n, kernel, 0);
	if (!names->v[kernel]) {
		const char *text = demangle(names->demangler, name);
		names->v[kernel] = xstrdup(text ? text : name);
	}
	return names->v[kernel];
}

const char *trace_name_shown(struct trace *t, uint32_t kernel)
{
	return out_demangles(t->out) ? trace_name_readable(t, kernel) : NULL;
}

void trace_names_fini(struct trace *t)
{
	struct trace_names *names = &t->names;
	unsigned lost = names->demangler ? demangler_lost(names->demangler) : 0;
	if (lost)
		err_warn(
			NULL,
			"kernel names that stay mangled, as the demangler failed or took more than "
			"%d ms: %u%s",
			DEMANGLE_MS, lost,
			lost < DEMANGLE_LOST_MOST ? "" : "; those behind them were not tried");
	demangler_free(names->demangler);
	for (size_t i = 0; i < names->n; i++)
		free(names->v[i]);
	free(names->v);
}

// --- --perfetto: the timeline beside the report, or with - instead of it ---

bool trace_to_stdout(const char *path)
{
	return path && strcmp(path, "-") == 0;
}

static bool is_input(const struct stat *out, int n, char **names)
{
	struct stat st;
	for (int i = 0; i < n; i++) {
		if (!trace_stat(names[i], &st) && S_ISREG(st.st_mode) && st.st_dev == out->st_dev &&
		    st.st_ino == out->st_ino)
			return true;
	}
	return false;
}

// Truncates the file only if it is no input: a log named by mistake must not be lost.
static int open_timeline(struct trace *t, const char *path, int argc, char **argv)
{
	struct stat st;
	t->perfetto_fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY, 0666);
	if (t->perfetto_fd < 0 || fstat(t->perfetto_fd, &st))
		return err_sys(errno, "name a file in a folder you may write to", "--perfetto %s",
			       path);
	if (is_input(&st, argc, argv))
		return err_fail(GPQ_USAGE, "name another file",
				"--perfetto %s: is a log to be read", path);
	if (S_ISREG(st.st_mode) && ftruncate(t->perfetto_fd, 0))
		return err_sys(errno, NULL, "--perfetto %s", path);
	return GPQ_OK;
}

static const char *readable(void *trace, uint32_t kernel)
{
	return trace_name_readable(trace, kernel);
}

static int open_perfetto(struct trace *t, int argc, char **argv)
{
	const char *path = t->opts->perfetto;
	int status = GPQ_OK;
	if (!path)
		return GPQ_OK;
	if (trace_to_stdout(path))
		t->perfetto_fd = STDOUT_FILENO;
	else
		status = open_timeline(t, path, argc, argv);
	if (status)
		return status;
	t->timeline = amdlog_timeline_new(t->perfetto_fd, &t->sum,
					  t->opts->demangle ? readable : NULL, t);
	return GPQ_OK;
}

static int close_perfetto(struct trace *t)
{
	const int error = t->timeline ? amdlog_timeline_close(t->timeline) : 0;
	if (!trace_to_stdout(t->opts->perfetto))
		return traceevent_leave(t->perfetto_fd, t->opts->perfetto, error);
	if (!error || error == EPIPE)
		return error ? GPQ_PIPE : GPQ_OK;
	err_sys(error, "what it holds is not complete", "standard output");
	return GPQ_FAILED;
}

// --- beginning and end of a run ---

static const struct out_table *const *tables_of(const struct trace *t)
{
	static const struct out_table *one[2];
	one[0] = t->one_table ? only_view(t)->table : NULL;
	return one[0] ? one : t->ask->prints ? t->ask->prints : t->ask->schema->tables;
}

static int begin_tables(struct trace *t)
{
	int status = t->ask->begin ? t->ask->begin(t) : GPQ_OK;
	return !status && t->one_table ? out_begin(t->out, only_view(t)->table, t->lists) : status;
}

int trace_begin(struct trace *t, struct cmd *c)
{
	int status = out_choose_table(&c->out, tables_of(t));
	if (status)
		return status;
	t->chosen = c->out.only;
	t->headings = !c->out.noheadings;
	c->out.schema = t->ask->schema;
	c->out.fits = !t->opts->list && t->opts->top == U64_NULL;
	t->out = out_open(&c->out);
	status = begin_tables(t);
	if (!status)
		status = open_perfetto(t, c->argc, c->argv);
	if (status) {
		close_perfetto(t);
		out_close(t->out);
	}
	return status;
}

int trace_report(struct trace *t)
{
	return t->ask->report(t);
}

int trace_end(struct trace *t, int status, int told)
{
	int drawn = close_perfetto(t), written = out_close(t->out);
	if (written || drawn)
		return written ? written : drawn;
	return status == GPQ_STOPPED ? trace_stopped(t) : status ? status : told;
}

// --- reports of logs ---

// The message if no record passed the filter; with --pid it lists the processes of the log, with
// --since and --until it tells the log's time. Returns the exit status.
static int nothing_chosen(const struct trace *t)
{
	const struct trace_opts *o = t->opts;
	const bool chosen = o->pick.pids.n;
	const struct amdlog_span *left = &t->sum.state.left;
	char length[24];
	SCOPED(buf_fini) struct buf pids = {0};
	for (uint32_t i = 0; chosen && i < t->sum.nprocesses && pids.len < 200; i++) {
		if (t->sum.processes[i].pid >= 0)
			buf_printf(&pids, "%s%lld", pids.len ? ", " : "the log has process ids ",
				   (long long)t->sum.processes[i].pid);
	}
	if (chosen && !pids.len)
		buf_puts(&pids, "the log has no process ids: ROCm 6.3 and later print them at "
				"level 4 and up");
	if ((o->since || o->until) && left->first_us <= left->last_us)
		buf_printf(&pids,
			   "%sthe log's times are %" PRIu64 "us to %" PRIu64
			   "us (%s), and +1ms counts from its first record",
			   pids.len ? "; " : "", left->first_us, left->last_us,
			   text_ns(length, trace_ns(left->last_us - left->first_us)));
	if ((o->since || o->until) && !chosen && !o->kernels.n && !o->grep.n && !o->grep_not.n)
		return err_fail(GPQ_NOTFOUND, pids.data, "no record%s%s%s%s",
				o->since ? " from " : "", o->since ? o->since : "",
				o->until ? " up to " : "", o->until ? o->until : "");
	return err_fail(GPQ_NOTFOUND, pids.data,
			"no record is of the processes, kernels, times or text asked for");
}

static int report_log(struct trace *t, int status)
{
	bool document = out_mode(t->out) != OUT_TABLE && // people get no empty tables
			(!status || status == GPQ_PARTIAL || status == GPQ_STOPPED);
	int told = GPQ_OK;
	if (!t->untold && (t->sum.totals.records || document)) {
		amdlog_summary_finish(&t->sum);
		if (!trace_to_stdout(t->opts->perfetto))
			told = trace_report(t);
		trace_notes(t, 1);
	}
	status = trace_end(t, status, told);
	if (status || t->sum.totals.records)
		return status;
	if (t->scan->counts.records)
		return nothing_chosen(t);
	return err_fail(GPQ_NOTFOUND,
			"was the program run with AMD_LOG_LEVEL=4 (ROCm 7.12 and later: 5)?",
			"no AMD log records in the input");
}

static const struct trace_ask *asked_for(const struct trace_opts *o, bool people)
{
	return o->ftrace || o->events              ? ftrace_asked_for(o)
	       : o->compare                        ? &trace_comparison
	       : o->list && o->kernels.n && people ? &trace_list_kernels
	       : o->list                           ? &trace_list
	       : o->gaps                           ? &trace_gaps
	       : o->latency                        ? &trace_latency
	       : o->series != U64_NULL             ? &trace_series
	       : o->by == BY_STREAM                ? &trace_streams
						   : &trace_summary;
}

void trace_choose(struct trace *t, const struct cmd *c)
{
	const struct trace_opts *o = c->opts;
	t->ask = asked_for(o, c->out.mode == OUT_TABLE);
	t->by = o->by;
	t->lists = t->ask == &trace_list || t->ask == &trace_list_kernels;
	t->one_table = o->list || t->by != BY_NOTHING;
}

const struct out_table *const *trace_prints(const struct cmd *c)
{
	const struct trace_opts *o = c->opts;
	struct trace t = {0};
	if (o->live || o->partial || trace_is_folder(c))
		return NULL; // what was recorded decides which
	trace_choose(&t, c);
	return tables_of(&t);
}

int trace_log(struct cmd *c, const struct amdlog_filter *filter, const struct grep *grep)
{
	struct trace t = {0};
	trace_choose(&t, c);
	trace_open(&t, c, filter, grep);
	t.sum.want_api = t.by == BY_API;
	int status = trace_begin(&t, c);
	if (!status) {
		stop_watch();
		t.name_pid = c->argc == 1 ? trace_pid_of_name(c->argv[0]) : -1;
		t.logs = c->argv;
		t.nlogs = c->argc;
		status = report_log(&t, trace_scan(&t, c, c->argc, c->argv));
	}
	trace_close(&t);
	return status;
}

// --- --partial: a line for each file, or for the --range of one, which gpq merge adds up ---

// The rank of this task, as launchers tell it.
static uint64_t task_rank(void)
{
	static const char *const names[] = {"SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK",
					    "RANK"};
	uint64_t rank;
	for (size_t i = 0; i < COUNT(names); i++) {
		const char *value = host_getenv(names[i]);
		if (value && parse_u64(value, &rank))
			return rank;
	}
	return AMDLOG_UNKNOWN;
}

// A hash of what chooses records.
static uint64_t filter_hash(const struct trace_opts *o)
{
	uint64_t sum = 0; // of hashes: words count in any order
	for (size_t i = 0; i < o->pick.pids.n; i++)
		sum += amdlog_hash(1, &o->pick.pids.v[i], sizeof(pid_t));
	for (size_t i = 0; i < o->grep.n; i++)
		sum += amdlog_hash(2, o->grep.v[i], strlen(o->grep.v[i]));
	for (size_t i = 0; i < o->grep_not.n; i++)
		sum += amdlog_hash(3, o->grep_not.v[i], strlen(o->grep_not.v[i]));
	sum += o->since ? amdlog_hash(4, o->since, strlen(o->since)) : 0;
	sum += o->until ? amdlog_hash(5, o->until, strlen(o->until)) : 0;
	return amdlog_hash(0, &sum, sizeof(sum));
}

static int write_part(struct trace *t, char *file, int status)
{
	const bool filtered = amdlog_is_filtered(&t->sum.filter);
	const struct amdlog_counts *c = &t->scan->counts;
	struct amdlog_part part = {.host = (char *)(uintptr_t)t->opts->host,
				   .file = file,
				   .inode = t->inode,
				   .head = t->head,
				   .filter = filtered ? filter_hash(t->opts) : 0,
				   .size = t->inode == AMDLOG_UNKNOWN ? AMDLOG_UNKNOWN : t->size,
				   .rank = task_rank(),
				   .asked = t->range.from,
				   .from = t->sum.range.from,
				   .to = t->sum.range.from + c->bytes,
				   .mended = t->reading.reassembly->mended,
				   .filtered = filtered,
				   .stopped = status != GPQ_OK,
				   .counts = *c,
				   .streams = t->streams,
				   .sum = &t->sum}; // the part owns none of its pointers
	struct buf line = {0};
	amdlog_partial_write(&line, &part);
	return out_text(&line);
}

// Reads a file and writes its part, even if reading ended early or the file is empty. *broken:
// standard output cannot be written. Returns the exit status.
static int one_file(struct cmd *c, const struct amdlog_filter *filter, const struct grep *grep,
		    char *file, bool *broken)
{
	// Streams are gathered for gpq merge --by stream.
	struct trace t = {.by = BY_NOTHING, .ask = &trace_streams, .inode = AMDLOG_UNKNOWN};
	int written = GPQ_OK;
	trace_open(&t, c, filter, grep);
	t.sum.part.resumed = true;
	t.sum.want_api = true;
	int status = trace_scan(&t, c, 1, &file);
	if (!t.untold && status != GPQ_NOTFOUND &&
	    (!status || status == GPQ_STOPPED || t.scan->counts.bytes))
		written = write_part(&t, file, status);
	if (!written && status == GPQ_STOPPED)
		status = trace_stopped(&t);
	trace_close(&t);
	*broken = written != GPQ_OK;
	return written ? written : status;
}

int trace_partial(struct cmd *c, const struct amdlog_filter *filter, const struct grep *grep)
{
	int status = GPQ_OK, worst = GPQ_OK, failed = 0;
	bool broken = false;
	if (filter->since_relative || filter->until_relative)
		return err_fail(GPQ_USAGE, "give the log's own time",
				"--partial: a + counts from the first record of each part");
	stop_watch();
	for (int i = 0; i < c->argc && !status; i++) {
		int this = one_file(c, filter, grep, c->argv[i], &broken);
		failed += this != GPQ_OK;
		worst = this ? this : worst;
		if (broken || stop_asked())
			status = this;
	}
	return !status && failed && failed < c->argc ? GPQ_PARTIAL : worst;
}
