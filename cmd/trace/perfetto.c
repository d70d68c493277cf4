// gpq trace --perfetto FILE: the log as Chrome trace events, beside the report; with - instead of
// it.
#include "cmd/trace/trace.h"

#include "common/amdlog/analysis/timeline.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool trace_perfetto_is_stdout(const struct trace_opts *o)
{
	return o->perfetto && strcmp(o->perfetto, "-") == 0;
}

static bool is_input(const struct stat *out, int n, char **names)
{
	struct stat st;

	for (int i = 0; i < n; i++) {
		int r = strcmp(names[i], "-") ? stat(names[i], &st) : fstat(STDIN_FILENO, &st);

		if (!r && S_ISREG(st.st_mode) && st.st_dev == out->st_dev &&
		    st.st_ino == out->st_ino)
			return true;
	}
	return false;
}

// A log named by mistake must not be lost: the file is truncated only after it was found not to be
// an input.
static int open_file(struct trace *t, const char *path, int argc, char **argv)
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

int trace_perfetto_open(struct trace *t, int argc, char **argv)
{
	const char *path = t->opts->perfetto;
	int status = GPQ_OK;

	if (!path)
		return GPQ_OK;
	if (!trace_perfetto_is_stdout(t->opts))
		status = open_file(t, path, argc, argv);
	else if (out_mode(t->out) != OUT_TABLE || t->opts->list || t->opts->by != BY_NOTHING)
		status = err_fail(GPQ_USAGE, "name a file",
				  "--perfetto -: standard output cannot hold another format, too");
	else
		t->perfetto_fd = STDOUT_FILENO;
	if (status)
		return status;
	t->timeline = amdlog_timeline_new(t->perfetto_fd, &t->sum);
	return GPQ_OK;
}

int trace_perfetto_close(struct trace *t)
{
	bool to_stdout = trace_perfetto_is_stdout(t->opts);
	const char *hint = "what it holds is not complete";
	int error = t->timeline ? amdlog_timeline_close(t->timeline) : 0;

	t->timeline = NULL;
	// A part of it would pass for the whole. What is no file (a FIFO) has no length to set.
	if (error && !to_stdout && ftruncate(t->perfetto_fd, 0) == 0)
		hint = "nothing is left in it";
	if (t->perfetto_fd >= 0 && !to_stdout && close(t->perfetto_fd) && !error)
		error = errno;
	t->perfetto_fd = -1;
	if (!error)
		return GPQ_OK;
	if (to_stdout && error == EPIPE)
		return GPQ_PIPE;
	err_sys(error, hint, "%s%s", to_stdout ? "" : "--perfetto ",
		to_stdout ? "standard output" : t->opts->perfetto);
	return GPQ_FAILED;
}
