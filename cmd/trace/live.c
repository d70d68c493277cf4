// gpq trace --live: records the kernel's side, beside a COMMAND with its log, into one folder; then
// the report of that folder, as `gpq trace FOLDER` gives it again.
//
// FOLDER/kernel.trace: what trace_pipe gave, behind "# clock: mono", and "# task: TID TGID NSPID"
// for each thread that was seen. FOLDER/events.ndjson: what `gpq events --ndjson` prints meanwhile.
// FOLDER/log_<pid>: what AMD_LOG_LEVEL_FILE=FOLDER/log makes.
#include "cmd/trace/trace.h"

#include "cmd/events/record.h"

#include "common/cli/stop.h"
#include "common/ftrace/live.h"
#include "common/host/clock.h"
#include "common/host/root.h"
#include "common/host/secure.h"
#include "common/host/xalloc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define KERNEL_FILE "kernel.trace"
#define EVENTS_FILE "events.ndjson"
#define LOG_FILE    "log"
#define WAKE_MS     20        // between two looks at the pipe and at COMMAND
#define CHUNK       65536     // bytes read at once
#define DRAIN_MOST  (8 << 20) // bytes read between two looks at COMMAND

struct recording {
	const struct trace_opts *o;
	char *folder;
	bool temporary;
	struct live_trace trace;
	int error;       // errno of a failure to write; nothing is written after it
	int out;         // kernel.trace; -1: there is none
	struct buf line; // the last one, not ended yet
	struct buf kept;
	struct live_threads threads;
	struct events_recording *events; // NULL: there are none
	int events_out;                  // events.ndjson; -1
	bool events_failed;              // to be written
	pid_t child;                     // COMMAND; 0: none, or it has ended
	int child_status;
	uint64_t until_ns; // UINT64_MAX: no end
};

// --- the folder ---

static char *path_in(const char *folder, const char *name)
{
	return xasprintf("%s/%s", folder, name);
}

static bool folder_has(const char *folder, const char *name)
{
	char *path = path_in(folder, name);
	bool there = access(path, F_OK) == 0;
	free(path);
	return there;
}

// A file "log", or "log_<pid>".
static bool has_log(const char *folder)
{
	DIR *d = opendir(folder);
	bool there = false;
	for (const struct dirent *e; d && !there && (e = readdir(d));)
		there = strcmp(e->d_name, LOG_FILE) == 0 ||
			strncmp(e->d_name, LOG_FILE "_", sizeof(LOG_FILE)) == 0;
	if (d)
		closedir(d);
	return there;
}

static bool has_any(const char *folder)
{
	return folder_has(folder, KERNEL_FILE) || folder_has(folder, EVENTS_FILE) ||
	       has_log(folder);
}

static int make_folder(struct recording *r)
{
	if (r->o->save) {
		r->folder = xstrdup(r->o->save);
		return mkdir(r->folder, 0700)
			       ? err_sys(errno, errno == EEXIST ? "name a new folder" : NULL,
					 "--save %s", r->folder)
			       : GPQ_OK;
	}
	r->folder = xstrdup("/tmp/gpq-trace-XXXXXX");
	r->temporary = mkdtemp(r->folder) != NULL;
	return r->temporary ? GPQ_OK : err_sys(errno, "say --save DIR", "--live: %s", r->folder);
}

// Only a temporary folder: gpq made all that is in it.
static void remove_folder(struct recording *r)
{
	DIR *d = r->temporary ? opendir(r->folder) : NULL;
	for (const struct dirent *e; d && (e = readdir(d));)
		unlinkat(dirfd(d), e->d_name, 0);
	if (d)
		closedir(d);
	if (r->temporary)
		rmdir(r->folder);
}

// --- the kernel's side ---

static void keep_lines(struct recording *r, const char *text, size_t len)
{
	if (r->error || !len || write_fully(r->out, text, len) == 0)
		return;
	r->error = errno;
	err_sys(r->error, "what follows is not recorded", "%s/" KERNEL_FILE, r->folder);
}

// Writes the whole lines of `text` that are of chosen processes, and keeps the begin of the last
// one.
static void take_lines(struct recording *r, const char *text, size_t len)
{
	const char *end = memrchr(text, '\n', len), *stop;
	size_t whole = end ? (size_t)(end - text) + 1 : 0;
	if (whole) {
		buf_append(&r->line, text, whole);
		stop = r->line.data + r->line.len;
		r->kept.len = 0;
		for (const char *at = r->line.data, *next; at < stop; at = next + 1) {
			next = memchr(at, '\n', (size_t)(stop - at));
			if (live_threads_keep(&r->threads, at, (size_t)(next - at), &r->kept))
				buf_append(&r->kept, at, (size_t)(next - at) + 1);
		}
		keep_lines(r, r->kept.data, r->kept.len);
		r->line.len = 0;
	}
	buf_append(&r->line, text + whole, len - whole);
}

// Takes what is in the pipe by now, at most `most` bytes: events may come faster than they are
// written.
static void drain_pipe(struct recording *r, size_t most)
{
	static char chunk[CHUNK];
	ssize_t n;
	if (r->out < 0)
		return;
	for (size_t got = 0; got < most && (n = read(r->trace.pipe, chunk, sizeof(chunk))) > 0;
	     got += (size_t)n)
		take_lines(r, chunk, (size_t)n);
}

static int open_kernel(struct recording *r)
{
	char *path = path_in(r->folder, KERNEL_FILE);
	int status = live_trace_open(&r->trace);
	r->out = -1;
	if (!status) {
		r->out = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		if (r->out < 0) {
			status = err_sys(errno, NULL, "%s", path);
			live_trace_close(&r->trace);
		} else {
			keep_lines(r, "# clock: mono\n", 14);
		}
	}
	free(path);
	return status;
}

// Reads what is left in the buffer, then removes the instance.
static int close_kernel(struct recording *r)
{
	int status = GPQ_OK;
	if (r->out < 0)
		return GPQ_OK;
	live_trace_stop(&r->trace);
	drain_pipe(r, SIZE_MAX);
	status = live_trace_close(&r->trace);
	if (close(r->out) && !r->error)
		r->error = errno;
	r->out = -1;
	return r->error ? GPQ_FAILED : status;
}

// --- events of the driver and of sysfs ---

// Called after open_kernel(), so that the guard inherits no descriptor of the events.
static void open_events(struct recording *r)
{
	char *path = path_in(r->folder, EVENTS_FILE);
	r->events_out = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (r->events_out < 0)
		err_sys(errno, "events are not recorded", "%s", path);
	else
		r->events = events_recording_new(&r->o->pick, &r->o->gpus, r->events_out,
						 "--live: " EVENTS_FILE);
	if (r->events_out >= 0 && !r->events)
		unlink(path);
	free(path);
}

static void take_events(struct recording *r, bool end)
{
	if (!r->events)
		return;
	r->events_failed = !events_recording_turn(r->events, end);
	if (r->events_failed || end) {
		events_recording_free(r->events);
		r->events = NULL;
	}
}

static void close_events(struct recording *r)
{
	take_events(r, true);
	if (r->events_out >= 0)
		close(r->events_out);
}

// --- COMMAND ---

// COMMAND writes to gpq's standard error, as the report goes to standard output.
static void exec_traced(const struct recording *r, char **argv)
{
	char *log = path_in(r->folder, LOG_FILE);
	setenv("AMD_LOG_LEVEL", "4", 0);
	setenv("AMD_LOG_LEVEL_FILE", log, 1);
	dup2(STDERR_FILENO, STDOUT_FILENO);
	execvp(argv[0], argv);
	err_sys(errno, NULL, "%s", argv[0]);
	_exit(errno == ENOENT ? 127 : 126);
}

static int start_command(struct recording *r, const struct cmd *c)
{
	char *folder = c->argc ? realpath(r->folder, NULL) : NULL;
	if (!c->argc)
		return GPQ_OK;
	if (folder) { // COMMAND may change its folder
		free(r->folder);
		r->folder = folder;
	}
	r->child = fork();
	if (r->child == 0)
		exec_traced(r, c->argv);
	return r->child > 0 ? GPQ_OK : err_sys(errno, NULL, "--live: fork");
}

static bool command_ended(struct recording *r, int flags)
{
	if (r->child && waitpid(r->child, &r->child_status, flags) == r->child)
		r->child = 0;
	return !r->child;
}

// Records until COMMAND ends, --for is over, or Ctrl-C. COMMAND gets Ctrl-C from the terminal;
// SIGTERM, which gpq alone gets, is passed on.
static void record_until_end(struct recording *r, bool command)
{
	int passed = 0;
	for (;;) {
		int events = r->events ? events_recording_fd(r->events) : -1;
		bool stopped = stop_wait(events, WAKE_MS) < 0;
		drain_pipe(r, DRAIN_MOST);
		take_events(r, false);
		if ((command && command_ended(r, WNOHANG)) || clock_ns() >= r->until_ns)
			break;
		if (!stopped)
			continue;
		if (!command)
			break;
		if (!passed && stop_asked() == SIGTERM)
			kill(r->child, SIGTERM);
		passed = 1;
		usleep(WAKE_MS * 1000); // stop_wait() no longer waits
	}
}

static int command_status(const struct recording *r)
{
	return WIFSIGNALED(r->child_status) ? 128 + WTERMSIG(r->child_status)
					    : WEXITSTATUS(r->child_status);
}

// --- reports ---

bool trace_is_folder(const struct cmd *c)
{
	struct stat st;
	return c->argc == 1 && strcmp(c->argv[0], "-") != 0 && !stat(c->argv[0], &st) &&
	       S_ISDIR(st.st_mode) && has_any(c->argv[0]);
}

int trace_folder(struct cmd *c, const char *folder)
{
	struct trace_opts *o = c->opts;
	const struct trace_opts given = *o;
	char *kernel = path_in(folder, KERNEL_FILE), *log = path_in(folder, LOG_FILE);
	char *events = path_in(folder, EVENTS_FILE), *argv[] = {log, NULL};
	struct cmd of = *c;
	int status;
	of.argv = argv;
	of.argc = has_log(folder);
	if (folder_has(folder, KERNEL_FILE) && !o->ftrace)
		o->ftrace = kernel;
	if (folder_has(folder, EVENTS_FILE))
		o->events = events;
	status = trace_files(&of);
	*o = given;
	free(kernel);
	free(events);
	free(log);
	return status;
}

static int report_recording(struct recording *r, struct cmd *c)
{
	struct trace_opts *o = c->opts;
	const struct pick_opts given = o->pick;
	int status;
	if (c->argc && !has_log(r->folder))
		err_warn("is it a HIP program?", "%s wrote no log", c->argv[0]);
	if (!has_any(r->folder))
		return GPQ_FAILED;       // why was said
	o->pick = (struct pick_opts){0}; // the options chose what was recorded
	status = trace_folder(c, r->folder);
	o->pick = given;
	return status;
}

static int record_and_report(struct recording *r, struct cmd *c)
{
	int kernel, status, closed, reported;
	stop_watch(); // a signal from now on ends the recording in order
	kernel = open_kernel(r);
	if (geteuid() == 0) // others are told of their own processes alone
		open_events(r);
	if (kernel && !c->argc && !r->events) {
		close_events(r);
		return kernel;
	}
	if (kernel)
		err_warn(NULL, "without the kernel's side; %s%s %s there",
			 c->argc ? "the log of " : "events", c->argc ? c->argv[0] : "",
			 c->argc ? "is" : "are");
	r->until_ns = r->o->for_ns == U64_NULL ? UINT64_MAX : clock_ns() + r->o->for_ns;
	status = start_command(r, c);
	if (!status)
		record_until_end(r, c->argc > 0);
	close_events(r);
	closed = close_kernel(r);
	while (!command_ended(r, 0) && errno == EINTR)
		;
	if (status)
		return status;
	reported = report_recording(r, c);
	status = c->argc ? command_status(r) : GPQ_OK;
	if (!status && !c->argc && stop_asked() && r->until_ns != UINT64_MAX)
		status = stop_status();
	return status             ? status
	       : closed           ? closed
	       : r->events_failed ? GPQ_FAILED
	       : reported         ? reported
	       : kernel           ? GPQ_PARTIAL
				  : GPQ_OK;
}

// Conditions of the host and of operands, which rules about options cannot tell.
static int check_live(const struct cmd *c)
{
	if (host_secure())
		return opts_refuse_secure("--live");
	if (!host_is_live())
		return err_fail(GPQ_USAGE, "leave out --sysroot",
				"--live is about the running host");
	if (c->argc && strcmp(c->argv[-1], "--") != 0)
		return err_fail(GPQ_USAGE, "a command goes behind --", "%s: --live reads no log",
				c->argv[0]);
	return GPQ_OK;
}

int trace_live(struct cmd *c)
{
	const struct trace_opts *o = c->opts;
	struct recording r = {.o = o, .out = -1, .events_out = -1};
	int status = check_live(c);
	if (status || o->cleanup)
		return status ? status : live_cleanup();
	status = live_threads_init(&r.threads, &o->pick, &o->gpus);
	if (!status)
		status = make_folder(&r);
	if (!status) {
		status = record_and_report(&r, c);
		if (o->save && !has_any(r.folder))
			rmdir(r.folder);
		remove_folder(&r);
	}
	buf_fini(&r.line);
	buf_fini(&r.kept);
	live_threads_fini(&r.threads);
	free(r.folder);
	return status;
}
