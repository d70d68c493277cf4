// gpq trace --perfetto: the file of the timeline, beside the report; with - instead of it.
#include "cmd/trace/trace.h"

#include "common/amdlog/analysis/timeline.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

int trace_perfetto_open(struct trace *t, int argc, char **argv)
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

int trace_perfetto_close(struct trace *t)
{
	const bool to_stdout = trace_to_stdout(t->opts->perfetto);
	const int fd = t->perfetto_fd;
	const int error = t->timeline ? amdlog_timeline_close(t->timeline) : 0;
	t->timeline = NULL;
	t->perfetto_fd = -1;
	if (!to_stdout)
		return traceevent_leave(fd, t->opts->perfetto, error);
	if (!error || error == EPIPE)
		return error ? GPQ_PIPE : GPQ_OK;
	err_sys(error, "what it holds is not complete", "standard output");
	return GPQ_FAILED;
}
