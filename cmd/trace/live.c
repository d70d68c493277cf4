// gpq trace --live: records the Linux kernel's trace and the log of a COMMAND in a folder, then
// reports the folder as `gpq trace FOLDER` does.
//
// FOLDER/kernel.trace: "# clock: mono", then the text of trace_pipe with a line "# task: TID TGID
// NSPID" before the first record of a thread. FOLDER/events.ndjson: events in the format of `gpq
// events --ndjson`. FOLDER/log_<pid>: logs that AMD_LOG_LEVEL_FILE=FOLDER/log makes.
#include "cmd/trace/trace.h"

#include "cmd/events/record.h"

#include "common/amdlog/read/parse.h"
#include "common/ftrace/live.h"
#include "common/host/clock.h"
#include "common/host/secure.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define KERNEL_FILE "kernel.trace"
#define EVENTS_FILE "events.ndjson"
#define LOG_FILE    "log"
#define WAKE_MS     20        // time between two reads of trace_pipe
#define CHUNK       65536     // bytes of one read(2)
#define SAID_BYTES  (1 << 20) // size of the pipe for what comes out of a container
#define DRAIN_MOST  (8 << 20) // bytes read before COMMAND is checked again

struct recording {
	const struct trace_opts *o;
	char *folder;
	bool temporary;
	struct live_trace trace;
	int error;       // errno of a failed write to kernel.trace, after which none is tried
	int out;         // kernel.trace; -1: not open
	struct buf line; // text read from trace_pipe, whose last line may be incomplete
	struct buf kept; // lines to write
	struct live_threads threads;
	struct events_recording *events; // NULL: events are not recorded
	int events_out;                  // events.ndjson; -1: not open
	bool events_failed;              // events.ndjson could not be written
	char **inside; // COMMAND as it reaches a container; NULL: it runs on the host
	struct said {
		int fd;
		struct buf line; // the last one, incomplete
	} said[2];     // what it writes to standard output and error, if `inside`; fd -1: not open
	int log;       // FOLDER/log, if `inside`
	int log_error; // errno of the failure to write that; 0: none
	bool logs;     // it has a record
	pid_t child;   // COMMAND; 0: none, or it has ended
	int child_status;
	uint64_t until_ns; // end by --for, CLOCK_MONOTONIC; UINT64_MAX: not given
};

// --- the folder of a recording ---

static char *path_in(const char *folder, const char *name)
{
	return xasprintf("%s/%s", folder, name);
}

enum { HAS_KERNEL = 1, HAS_EVENTS = 2, HAS_LOG = 4 };

// Returns which files of a recording (HAS_ bits) the folder has. Logs: "log" or "log_<pid>".
static unsigned folder_content(const char *folder)
{
	SCOPED(closedir_at) DIR *d = opendir(folder);
	unsigned found = 0;
	for (const struct dirent *e; d && (e = readdir(d));)
		found |= strcmp(e->d_name, KERNEL_FILE) == 0   ? HAS_KERNEL
			 : strcmp(e->d_name, EVENTS_FILE) == 0 ? HAS_EVENTS
			 : strcmp(e->d_name, LOG_FILE) == 0 ||
					 strncmp(e->d_name, LOG_FILE "_", sizeof(LOG_FILE)) == 0
				 ? HAS_LOG
				 : 0;
	return found;
}

// Makes a file of the recording. `next`: consequence or advice in the message if that fails.
static int create_file(const struct recording *r, const char *name, const char *next, int *fd)
{
	SCOPED(free_at) char *path = path_in(r->folder, name);
	int status = GPQ_OK;
	*fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (*fd < 0)
		status = err_sys(errno, next, "%s", path);
	return status;
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

// Removes a temporary folder, with all files in it.
static void remove_folder(struct recording *r)
{
	SCOPED(closedir_at) DIR *d = r->temporary ? opendir(r->folder) : NULL;
	for (const struct dirent *e; d && (e = readdir(d));)
		unlinkat(dirfd(d), e->d_name, 0);
	if (r->temporary)
		rmdir(r->folder);
}

// --- recording the Linux kernel's trace ---

// Writes to a file of the folder, up to the first failure, which is told and goes to *error.
static void put(const struct recording *r, int fd, const char *name, int *error, const char *text,
		size_t len)
{
	if (*error || !len || write_fully(fd, text, len) == 0)
		return;
	*error = errno;
	err_sys(*error, "what follows is not recorded", "%s/%s", r->folder, name);
}

static void keep_lines(struct recording *r, const char *text, size_t len)
{
	put(r, r->out, KERNEL_FILE, &r->error, text, len);
}

// Writes the lines of chosen processes. An incomplete last line stays in r->line.
static void take_lines(struct recording *r, const char *text, size_t len)
{
	const char *next;
	buf_append(&r->line, text, len);
	const char *at = r->line.data;
	const char *stop = at + r->line.len;
	r->kept.len = 0;
	for (; (next = memchr(at, '\n', (size_t)(stop - at))); at = next + 1) {
		if (live_threads_keep(&r->threads, at, (size_t)(next - at), &r->kept))
			buf_append(&r->kept, at, (size_t)(next - at) + 1);
	}
	keep_lines(r, r->kept.data, r->kept.len);
	r->line.len = (size_t)(stop - at);
	memmove(r->line.data, at, r->line.len);
}

// Reads what is in trace_pipe, but not much more than `most` bytes: events may come faster than gpq
// writes them.
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
	int status = live_trace_open(&r->trace, false);
	if (status)
		return status;
	status = create_file(r, KERNEL_FILE, NULL, &r->out);
	if (status)
		live_trace_close(&r->trace);
	else
		keep_lines(r, "# clock: mono\n", 14);
	return status;
}

// Reads the rest of the trace, then removes the tracefs instance.
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

// --- recording events of the driver and of sysfs ---

// Called after open_kernel(), which forks the guard: that process inherits no descriptor of events.
static void open_events(struct recording *r)
{
	char *path;
	if (create_file(r, EVENTS_FILE, "events are not recorded", &r->events_out))
		return;
	r->events = events_recording_new(&r->o->pick, &r->o->gpus, r->events_out,
					 "--live: " EVENTS_FILE);
	if (!r->events) {
		path = path_in(r->folder, EVENTS_FILE);
		unlink(path);
		free(path);
	}
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
	close_quietly(r->events_out);
}

// --- running COMMAND ---

// Standard output is for the report, so COMMAND writes to standard error. `to`: pipes that take
// what comes out of a container, with the log in it; -1: COMMAND runs on the host.
static void exec_traced(const struct recording *r, char **argv, const int to[2])
{
	if (to[0] < 0) {
		setenv("AMD_LOG_LEVEL", "4", 0);
		setenv("AMD_LOG_LEVEL_FILE", path_in(r->folder, LOG_FILE), 1);
		dup2(STDERR_FILENO, STDOUT_FILENO);
	} else {
		dup2(to[0], STDOUT_FILENO);
		dup2(to[1], STDERR_FILENO);
	}
	execvp(argv[0], argv);
	err_sys(errno, NULL, "%s", argv[0]);
	_exit(errno == ENOENT ? 127 : 126);
}

static int open_said(int *from, int *to)
{
	int pipe[2];
	if (pipe2(pipe, O_CLOEXEC | O_NONBLOCK))
		return err_sys(errno, NULL, "--live: pipe");
	*from = pipe[0];
	*to = pipe[1];
	fcntl(*to, F_SETFL, 0);
	fcntl(*to, F_SETPIPE_SZ, SAID_BYTES);
	return GPQ_OK;
}

static int start_command(struct recording *r, const struct cmd *c)
{
	char *folder = c->argc ? realpath(r->folder, NULL) : NULL;
	if (!c->argc)
		return GPQ_OK;
	if (folder) { // COMMAND may change its working directory
		free(r->folder);
		r->folder = folder;
	}
	int to[2] = {-1, -1}, status = GPQ_OK;
	if (r->inside)
		status = create_file(r, LOG_FILE, NULL, &r->log);
	for (int i = 0; r->inside && !status && i < 2; i++)
		status = open_said(&r->said[i].fd, &to[i]);
	r->child = status ? 0 : fork();
	if (r->child == 0 && !status)
		exec_traced(r, r->inside ? r->inside : c->argv, to);
	close_quietly(to[0]);
	close_quietly(to[1]);
	return status ? status : r->child > 0 ? GPQ_OK : err_sys(errno, NULL, "--live: fork");
}

// Takes a line that came out of a container into the log, and passes it on to standard error unless
// it is a record.
static void take_said_line(struct recording *r, const char *line, size_t len)
{
	put(r, r->log, LOG_FILE, &r->log_error, line, len);
	if (is_record_line(line, len))
		r->logs = true;
	else
		write_fully(STDERR_FILENO, line, len);
}

// Takes what came out of a container line by line: a runtime's client may write to standard output
// when it has written half of a record to standard error. A line longer than any record goes on in
// pieces: a program that never ends its line must not fill memory.
static void take_said_of(struct recording *r, struct said *s)
{
	static char chunk[CHUNK];
	ssize_t n;
	for (size_t got = 0;
	     s->fd >= 0 && got < DRAIN_MOST && (n = read(s->fd, chunk, sizeof(chunk))) > 0;
	     got += (size_t)n) {
		buf_append(&s->line, chunk, (size_t)n);
		const char *at = s->line.data, *end = at + s->line.len, *next;
		for (; (next = memchr(at, '\n', (size_t)(end - at))); at = next + 1)
			take_said_line(r, at, (size_t)(next - at) + 1);
		if (end - at > AMDLOG_TEXT_MAX) {
			take_said_line(r, at, (size_t)(end - at));
			at = end;
		}
		s->line.len = (size_t)(end - at);
		memmove(s->line.data, at, s->line.len);
	}
}

static void take_said(struct recording *r)
{
	take_said_of(r, &r->said[0]);
	take_said_of(r, &r->said[1]);
}

static bool command_ended(struct recording *r, int flags)
{
	if (r->child && waitpid(r->child, &r->child_status, flags) == r->child)
		r->child = 0;
	return !r->child;
}

// Waits for the end of COMMAND, and removes what came out of a container if it is no log.
static void wait_for_command(struct recording *r)
{
	for (errno = 0; !command_ended(r, r->inside ? WNOHANG : 0) && errno != ECHILD; errno = 0) {
		take_said(r);
		usleep(WAKE_MS * 1000);
	}
	take_said(r);
	for (struct said *s = r->said; s < r->said + 2; s++) {
		if (!s->line.len)
			continue;
		buf_puts(&s->line, "\n"); // the last line may have none
		take_said_line(r, s->line.data, s->line.len);
	}
	SCOPED(free_at) char *log = path_in(r->folder, LOG_FILE);
	if (r->inside && !r->logs)
		unlink(log);
}

// Records until COMMAND ends or --for is over; without COMMAND, also until a signal comes. With
// COMMAND, gpq passes SIGTERM on to it and records until it ends; Ctrl-C reaches it anyway.
static void record_until_end(struct recording *r, bool command)
{
	int passed = 0;
	for (;;) {
		int events = r->events ? events_recording_fd(r->events) : -1;
		bool stopped = stop_wait(events, WAKE_MS) < 0;
		drain_pipe(r, DRAIN_MOST);
		take_said(r);
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
		usleep(WAKE_MS * 1000); // after a signal stop_wait() does not wait
	}
}

static int command_status(const struct recording *r)
{
	return WIFSIGNALED(r->child_status) ? 128 + WTERMSIG(r->child_status)
					    : WEXITSTATUS(r->child_status);
}

// --- reports of a recording ---

bool trace_is_folder(const struct cmd *c)
{
	struct stat st;
	return c->argc == 1 && strcmp(c->argv[0], "-") != 0 && !stat(c->argv[0], &st) &&
	       S_ISDIR(st.st_mode) && folder_content(c->argv[0]);
}

int trace_folder(struct cmd *c, const char *folder)
{
	struct trace_opts *o = c->opts;
	const struct trace_opts given = *o;
	char *kernel = path_in(folder, KERNEL_FILE), *log = path_in(folder, LOG_FILE);
	char *events = path_in(folder, EVENTS_FILE), *argv[] = {log, NULL};
	const unsigned has = folder_content(folder);
	struct cmd of = *c;
	of.argv = argv;
	of.argc = has & HAS_LOG ? 1 : 0;
	if (has & HAS_KERNEL && !o->ftrace)
		o->ftrace = kernel;
	if (has & HAS_EVENTS)
		o->events = events;
	int status = trace_files(&of);
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
	const unsigned has = folder_content(r->folder);
	int status;
	if (c->argc && !(has & HAS_LOG))
		err_warn(r->inside
				 ? "is it a HIP program, and does its container keep AMD_LOG_LEVEL?"
				 : "is it a HIP program?",
			 "%s wrote no log", c->argv[0]);
	if (!has)
		return GPQ_FAILED;       // the recording printed a message
	o->pick = (struct pick_opts){0}; // these options chose what was recorded
	status = trace_folder(c, r->folder);
	o->pick = given;
	return status;
}

static int record_and_report(struct recording *r, struct cmd *c)
{
	int kernel;
	stop_watch(); // a signal from now on ends the recording in order
	kernel = open_kernel(r);
	// The driver shows other users only events of their own processes. Where neither tracefs
	// nor KFD is there, the message about tracefs is enough.
	if (geteuid() == 0 && (!kernel || host_access("/sys/class/kfd/kfd", F_OK) == 0))
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
	int status = start_command(r, c);
	if (!status)
		record_until_end(r, c->argc > 0);
	close_events(r);
	int closed = close_kernel(r);
	wait_for_command(r);
	if (status)
		return status;
	int reported = report_recording(r, c);
	status = c->argc ? command_status(r) : GPQ_OK;
	if (!status && !c->argc && stop_asked() && r->until_ns != UINT64_MAX)
		status = stop_status();
	return status                             ? status
	       : closed                           ? closed
	       : r->events_failed || r->log_error ? GPQ_FAILED
	       : reported                         ? reported
	       : kernel                           ? GPQ_PARTIAL
						  : GPQ_OK;
}

// Checks the host and the operands, which struct opt_rule cannot express.
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
	struct recording r = {
		.o = o, .out = -1, .events_out = -1, .said = {{.fd = -1}, {.fd = -1}}, .log = -1};
	int status = check_live(c);
	if (!status && c->argc)
		status = live_inside(&o->pick.containers, c->argc, c->argv, &r.inside);
	if (status || o->cleanup)
		return status ? status : live_cleanup();
	status = live_threads_init(&r.threads, &o->pick, &o->gpus);
	if (!status)
		status = make_folder(&r);
	if (!status) {
		status = record_and_report(&r, c);
		if (o->save)
			rmdir(r.folder); // fails unless the folder is empty
		remove_folder(&r);
	}
	for (int i = 0; i < 2; i++) {
		close_quietly(r.said[i].fd);
		buf_fini(&r.said[i].line);
	}
	close_quietly(r.log);
	free(r.inside);
	buf_fini(&r.line);
	buf_fini(&r.kept);
	live_threads_fini(&r.threads);
	free(r.folder);
	return status;
}
