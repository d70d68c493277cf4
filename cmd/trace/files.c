// Finds and opens what `gpq trace` reads: files, standard input, a file that grows, all files
// NAME_<pid> if NAME does not exist, and the windows of --mark.
//
// Facts: [amdlog.file]: AMD_LOG_LEVEL_FILE=NAME makes a file NAME_<pid> for each process.
#include "cmd/trace/trace.h"

#include "common/cli/input.h"
#include "common/host/tail.h"

#include <fcntl.h>
#include <sys/stat.h>

// The files that operands name.
struct inputs {
	struct input_file {
		char *path;  // owned
		int64_t pid; // pid in the name of a file NAME_<pid> found by NAME; -1: other files
	} * v;
	size_t n, cap;
	uint64_t bytes; // size of all regular files
	bool unsized;   // one of the inputs is no regular file
};

// Reads the pid of "_4711" or, of a compressed file, "_4711.gz". False: the text is neither.
static bool pid_of_suffix(const char *text, uint64_t *pid)
{
	static const char *const ends[] = {"", ".gz", ".zst", ".xz", ".lz4", ".bz2"};
	size_t n = *text == '_' ? strspn(text + 1, "0123456789") : 0;
	char digits[12] = "";
	if (!n || n > 10)
		return false;
	memcpy(digits, text + 1, n);
	for (size_t i = 0; i < COUNT(ends); i++) {
		if (strcmp(text + 1 + n, ends[i]) == 0)
			return parse_u64(digits, pid);
	}
	return false;
}

int64_t trace_pid_of_name(const char *name)
{
	const char *suffix = strrchr(name, '_');
	uint64_t pid;
	return suffix && pid_of_suffix(suffix, &pid) ? (int64_t)pid : -1;
}

int trace_stat(const char *name, struct stat *st)
{
	return strcmp(name, "-") ? stat(name, st) : fstat(STDIN_FILENO, st);
}

// Adds an input, and owns `path`.
static void add_input(struct inputs *in, char *path, int64_t pid)
{
	struct stat st;
	bool regular = !trace_stat(path, &st) && S_ISREG(st.st_mode);
	if (pid >= 0 && !regular) {
		free(path);
		return;
	}
	in->bytes += regular ? (uint64_t)st.st_size : 0;
	in->unsized |= !regular;
	*ARRAY_ADD(in->v, in->cap, in->n) = (struct input_file){path, pid};
}

static int by_pid(const void *a, const void *b)
{
	const struct input_file *x = a, *y = b;
	int order = ORDER(x->pid, y->pid);
	return order ? order : strcmp(x->path, y->path);
}

// Adds the files NAME_<pid>, sorted by pid.
static void add_family(struct inputs *in, const char *name)
{
	const char *slash = strrchr(name, '/'), *base = slash ? slash + 1 : name;
	SCOPED(free_at) char *dir = xstrndup(name, (size_t)(base - name));
	SCOPED(closedir_at) DIR *d = *base ? opendir(*dir ? dir : ".") : NULL;
	const size_t first = in->n;
	uint64_t pid;
	for (const struct dirent *e; d && (e = readdir(d));) {
		if (!strncmp(e->d_name, base, strlen(base)) &&
		    pid_of_suffix(e->d_name + strlen(base), &pid))
			add_input(in, xasprintf("%s%s", dir, e->d_name), (int64_t)pid);
	}
	ARRAY_SORT(in->v + first, in->n - first, by_pid);
}

static struct inputs find_inputs(int n, char **names)
{
	struct inputs in = {0};
	struct stat st;
	for (int i = 0; i < n; i++) {
		const size_t before = in.n;
		if (trace_stat(names[i], &st) && errno == ENOENT)
			add_family(&in, names[i]);
		if (in.n == before) // read_file() reports a file that cannot be opened
			add_input(&in, xstrdup(names[i]), -1);
	}
	return in;
}

static int cannot_open(const char *name)
{
	return err_sys(errno, errno == EACCES ? "run as a user who may read it" : NULL, "%s", name);
}

// `each`: the report does not tell whether this file had a record.
static int read_file(struct trace *t, const char *name, bool each)
{
	const bool in = strcmp(name, "-") == 0;
	const struct amdlog_counts before = t->scan->counts;
	SCOPED(close_at) int opened = in ? -1 : open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (!in && opened < 0)
		return cannot_open(name);
	name = input_name(name);
	const int status = trace_read(t, name, in ? input_stdin() : opened, NULL);
	const bool log = t->scan->counts.records > before.records ||
			 t->scan->counts.bytes == before.bytes || t->opts->range;
	return status || log || !each
		       ? status
		       : err_fail(GPQ_NOTFOUND, "is it a log?", "%s: no AMD log records", name);
}

static int wait_for_more(int ms)
{
	return stop_wait(-1, ms);
}

static int follow(struct trace *t, const char *name)
{
	struct tail tail;
	if (!tail_open(&tail, name, wait_for_more))
		return cannot_open(name);
	if (tail.fd < 0)
		err_warn(NULL, "%s: does not exist yet; waiting for it", name);
	int status = trace_read(t, name, -1, &tail);
	if (tail.cuts)
		err_note("%s: truncated or replaced %llu times", name,
			 (unsigned long long)tail.cuts);
	tail_close(&tail);
	return status;
}

static bool is_over(int status)
{
	return status == GPQ_PIPE || status == GPQ_STOPPED;
}

// Reads all files, even if some cannot be read. Returns GPQ_OK, GPQ_PARTIAL if only some could be
// read, or the status of the last failure.
static int read_all(struct trace *t, const struct inputs *in)
{
	size_t failed = 0;
	int status = GPQ_OK;
	for (size_t i = 0; i < in->n && !is_over(status); i++) {
		t->scan->threads.assumed = in->v[i].pid;
		int this = read_file(t, in->v[i].path, in->n > 1 || t->opts->partial);
		failed += this != GPQ_OK;
		status = this ? this : status;
	}
	t->scan->threads.assumed = -1;
	return !is_over(status) && failed && failed < in->n ? GPQ_PARTIAL : status;
}

int trace_scan(struct trace *t, const struct cmd *c, int n, char **names)
{
	bool grows = t->opts->follow && strcmp(names[0], "-") != 0;
	struct inputs in = find_inputs(n, names);
	progress_init(&t->progress, c->out.progress, t->lists);
	t->input_bytes = in.unsized ? 0 : in.bytes;
	int status = grows ? follow(t, names[0]) : read_all(t, &in);
	progress_end(&t->progress);
	for (size_t i = 0; i < in.n; i++)
		free(in.v[i].path);
	free(in.v);
	return status;
}

int trace_check_input(const struct trace_opts *o, int argc)
{
	struct trace_range range;
	if (o->range && !trace_range_parse(o->range, &range))
		return err_fail(GPQ_USAGE, "give bytes, as 0:100M or 100M: (to the end)",
				"--range: %s is not OFFSET:LEN", o->range);
	if ((o->range || o->follow) && argc > 1)
		return err_fail(GPQ_USAGE, "name one", "%s takes one file, not %d",
				o->range ? "--range" : "--follow", argc);
	if (o->range && ((o->since && *o->since == '+') || (o->until && *o->until == '+')))
		return err_fail(
			GPQ_USAGE, "give the log's own time",
			"--range: a time from the first record differs from range to range");
	return GPQ_OK;
}

// Reads "OFFSET:LEN" or "OFFSET:" (to the end).
bool trace_range_parse(const char *text, struct trace_range *range)
{
	const char *colon = strchr(text, ':');
	char from[32];
	if (!colon || colon == text || colon - text >= (ptrdiff_t)sizeof(from))
		return false;
	memcpy(from, text, (size_t)(colon - text));
	from[colon - text] = 0;
	range->len = UINT64_MAX;
	return parse_size(from, &range->from) && (!colon[1] || parse_size(colon + 1, &range->len));
}

// --- --mark: windows of time (common/amdlog/analysis/windows.h) ---

static const struct {
	const char *what, *next;
} faults[] = {
	[WINDOWS_NO_TIME] = {"no two times in front",
			     "write BEGIN END [NAME], in microseconds of the log or as 26.33s"},
	[WINDOWS_BACKWARDS] = {"it ends before it begins", "write BEGIN END [NAME]"},
	[WINDOWS_NO_JSON] = {"no JSON object on one line",
			     "use --ndjson, not --json, to write such a file"},
	[WINDOWS_TOO_MANY] = {"too many windows", "split the file"},
};

static int read_windows(struct amdlog_windows *w, const char *path, const struct buf *text)
{
	size_t line;
	enum windows_fault fault =
		amdlog_windows_read(w, text->data ? text->data : "", text->len, &line);
	if (fault)
		return err_fail(GPQ_FAILED, faults[fault].next, "--mark %s: line %zu: %s", path,
				line, faults[fault].what);
	if (!w->n)
		return err_fail(GPQ_FAILED, "see MARKS in gpq-trace(1)",
				"--mark %s: no window in it", path);
	amdlog_windows_sort(w);
	return GPQ_OK;
}

int trace_marks_read(struct trace *t)
{
	const char *path = t->opts->mark;
	struct amdlog_windows *w = &t->marks;
	SCOPED(buf_fini) struct buf text = {0};
	int status;
	if (!path)
		return GPQ_OK;
	// FILE of --mark may be a pipe: then this waits until the writer ends.
	SCOPED(close_at) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0 || buf_read_fd(&text, fd) < 0)
		status = err_sys(errno, NULL, "--mark %s", path);
	else
		status = read_windows(w, path, &text);
	return status;
}
