// Which inputs `gpq trace` reads: files, families of files, standard input, a file that grows; and
// the file of windows of time.
//
// Facts: [amdlog.file]: AMD_LOG_LEVEL_FILE=NAME makes a file NAME_<pid> for each process.
#include "cmd/trace/trace.h"

#include "common/cli/stop.h"
#include "common/cli/text.h"
#include "common/host/buf.h"
#include "common/host/tail.h"
#include "common/host/xalloc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// A file of a family, and its process.
struct member {
	char *path;
	uint64_t pid, size;
};

struct family {
	struct member *v;
	size_t n, cap;
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
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
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

static void add_member(struct family *f, const char *dir, const char *name, uint64_t pid)
{
	char *path = xasprintf("%s%s", dir, name);
	struct stat st;
	if (stat(path, &st) || !S_ISREG(st.st_mode)) {
		free(path);
		return;
	}
	ARRAY_GROW(f->v, f->cap, f->n);
	f->v[f->n++] = (struct member){path, pid, (uint64_t)st.st_size};
}

static int by_pid(const void *a, const void *b)
{
	const struct member *x = a, *y = b;
	return x->pid != y->pid ? (x->pid > y->pid) - (x->pid < y->pid) : strcmp(x->path, y->path);
}

static void family_fini(struct family *f)
{
	for (size_t i = 0; i < f->n; i++)
		free(f->v[i].path);
	free(f->v);
}

// The files NAME_<pid>, by process, where there is no file NAME.
static struct family family_find(const char *name)
{
	const char *slash = strrchr(name, '/'), *base = slash ? slash + 1 : name;
	struct family f = {0};
	struct stat st;
	uint64_t pid;
	char *dir;
	DIR *d;
	if (!strcmp(name, "-") || !*base || !stat(name, &st) || errno != ENOENT)
		return f;
	dir = xstrndup(name, (size_t)(base - name));
	d = opendir(*dir ? dir : ".");
	for (const struct dirent *e; d && (e = readdir(d));) {
		if (!strncmp(e->d_name, base, strlen(base)) &&
		    pid_of_suffix(e->d_name + strlen(base), &pid))
			add_member(&f, dir, e->d_name, pid);
	}
	if (d)
		closedir(d);
	free(dir);
	if (f.n)
		qsort(f.v, f.n, sizeof(*f.v), by_pid);
	return f;
}

static uint64_t family_size(const char *name)
{
	struct family f = family_find(name);
	uint64_t sum = 0;
	for (size_t i = 0; i < f.n; i++)
		sum += f.v[i].size;
	family_fini(&f);
	return sum;
}

// The bytes of all inputs together; 0: not known, as one of them is no regular file.
static uint64_t input_size(int n, char **names)
{
	uint64_t sum = 0, all;
	struct stat st;
	for (int i = 0; i < n; i++) {
		int r = strcmp(names[i], "-") ? stat(names[i], &st) : fstat(STDIN_FILENO, &st);
		all = r ? family_size(names[i]) : S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
		if (!all && (r || !S_ISREG(st.st_mode)))
			return 0;
		sum += all;
	}
	return sum;
}

static int cannot_open(const char *name)
{
	return err_sys(errno, errno == EACCES ? "run as a user who may read it" : NULL, "%s", name);
}

static int read_file(struct trace *t, const char *name)
{
	int fd, status;
	if (strcmp(name, "-") == 0)
		return trace_read(t, "standard input", STDIN_FILENO, NULL);
	fd = open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return cannot_open(name);
	status = trace_read(t, name, fd, NULL);
	close(fd);
	return status;
}

static int wait_for_more(int ms)
{
	return stop_wait(-1, ms);
}

static int follow(struct trace *t, const char *name)
{
	struct tail tail;
	int status;
	if (!tail_open(&tail, name, wait_for_more))
		return cannot_open(name);
	if (tail.fd < 0)
		err_warn(NULL, "%s: does not exist yet; waiting for it", name);
	status = trace_read(t, name, -1, &tail);
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

// A file that cannot be read does not keep the others from being read. The status of the last that
// failed, or GPQ_PARTIAL if others could be read.
static int read_all(struct trace *t, int n, char **names)
{
	size_t all = 0, failed = 0;
	int status = GPQ_OK;
	for (int i = 0; i < n && !is_over(status); i++) {
		struct family f = family_find(names[i]);
		size_t files = f.n ? f.n : 1;
		for (size_t j = 0; j < files && !is_over(status); j++) {
			int this;
			t->scan->threads.assumed = f.n ? (int64_t)f.v[j].pid : -1;
			this = read_file(t, f.n ? f.v[j].path : names[i]);
			failed += this != GPQ_OK;
			status = this ? this : status;
		}
		all += files;
		family_fini(&f);
	}
	t->scan->threads.assumed = -1;
	if (is_over(status))
		return status;
	return failed && failed < all ? GPQ_PARTIAL : status;
}

int trace_scan(struct trace *t, const struct cmd *c, int n, char **names)
{
	bool grows = t->opts->follow && strcmp(names[0], "-") != 0;
	int status;
	progress_init(&t->progress, c->out.progress, t->lists);
	t->input_bytes = input_size(n, names);
	status = grows ? follow(t, names[0]) : read_all(t, n, names);
	progress_end(&t->progress);
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

// "OFFSET:LEN", "OFFSET:".
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
	struct buf text = {0};
	int status, fd;
	if (!path)
		return GPQ_OK;
	// A pipe is read to its end, also if its writer is still at work.
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0 || buf_read_fd(&text, fd) < 0)
		status = err_sys(errno, NULL, "--mark %s", path);
	else
		status = read_windows(w, path, &text);
	if (fd >= 0)
		close(fd);
	buf_fini(&text);
	return status;
}
