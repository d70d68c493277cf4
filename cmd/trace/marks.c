// --mark: reads windows of time (common/amdlog/analysis/windows.h).
#include "cmd/trace/trace.h"

#include "common/host/buf.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

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
	// It may be a pipe whose writer is still at work: to be waited for.
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
