// The tracefs instance of gpq trace --live: made, read, and removed on every way out.
//
// Facts: Documentation/trace/ftrace.rst (instances, trace_pipe, trace_clock, buffer_size_kb,
// buffer_percent), kprobetrace.rst (kprobe_events, kprobe_profile). An instance has buffers, a
// clock and switches of its own; kprobe events are of all instances, and on in none but this.
//
// The instance's name is a random number, as process ids are the same in several PID namespaces,
// and mkdir() tells who made it. The guard is forked as soon as it is locked. It waits for the end
// of a pipe that gpq alone can write to, and then removes what has this name: also after SIGKILL.
// gpq itself removes nothing. Both hold a lock (flock) on the instance's folder, one inode for all
// mounts of tracefs; what nobody has locked was left by dead ones, and goes when the next one
// begins.
#include "common/ftrace/live.h"

#include "common/cli/err.h"
#include "common/host/dlopen.h"
#include "common/host/root.h"
#include "common/host/xalloc.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <tracefs.h>
#include <unistd.h>

#define TRACEFS_FUNCTIONS(X)   \
	X(tracefs_tracing_dir) \
	X(tracefs_instance_file_read)
LIB(tracefs, "libtracefs.so.1", TRACEFS_FUNCTIONS, RECOMMENDED, "tracefs",
    "gpq trace --live: the kernel's side");

#define PREFIX      "gpq-"
#define GROUP       "gpq_"
#define BUFFERS_KB  65536 // of all processors together, as far as the least and most for one allow
#define UNDO_TRIES  50
#define CLAIM_TRIES 8
#define BUFFER_LOW  256
#define BUFFER_HIGH 4096

// --- files of tracefs ---

// Writes a text by one call of write(2), which is one command. 0, or -1 with errno.
static int put(const struct live_trace *t, const char *file, const char *text, int flags)
{
	char path[256];
	int fd, error = 0;
	snprintf(path, sizeof(path), "%s/%s", t->dir, file);
	fd = host_open(path, O_WRONLY | flags);
	if (fd < 0)
		return -1;
	if (write(fd, text, strlen(text)) < 0)
		error = errno;
	close(fd);
	errno = error;
	return error ? -1 : 0;
}

// The same in the instance.
static int set(const struct live_trace *t, const char *file, const char *text)
{
	char path[192];
	snprintf(path, sizeof(path), "instances/%s/%s", t->name, file);
	return put(t, path, text, 0);
}

static bool exists(const struct live_trace *t, const char *file)
{
	char path[256];
	snprintf(path, sizeof(path), "%s/%s", t->dir, file);
	return host_access(path, F_OK) == 0;
}

// --- the end ---

// What the instance knows of the group; 0: no event of it is left. The list of kprobe events has
// gaps when another gpq removes its own while it is read.
static int count_events(const struct live_trace *t)
{
	DIR *d = host_opendirf("%s/instances/%s/events/%s", t->dir, t->name, t->group);
	int n = 0;
	while (d && host_readdir(d))
		n++;
	if (d)
		closedir(d);
	return n;
}

// Removes the kprobe events of the group, one by one. How many are left, or -1.
static int remove_probes(const struct live_trace *t)
{
	struct buf list = {0};
	char group[40], command[256];
	int left = 0;
	snprintf(group, sizeof(group), ":%s/", t->group);
	if (host_readf(&list, "%s/kprobe_events", t->dir) < 0)
		return errno == ENOENT ? 0 : -1;
	for (char *at = list.data; at && (at = strstr(at, group)); at++) {
		snprintf(command, sizeof(command), "-%.*s", (int)strcspn(at, " \n"), at);
		left += put(t, "kprobe_events", command, O_APPEND) != 0;
	}
	buf_fini(&list);
	return left;
}

// All that has the name, which the caller has locked. False: something is left.
static bool undo_once(const struct live_trace *t)
{
	char path[128];
	set(t, "tracing_on", "0");
	snprintf(path, sizeof(path), "events/%s/enable", t->group);
	set(t, path, "0");
	set(t, "events/enable", "0");
	set(t, "current_tracer", "nop");
	snprintf(path, sizeof(path), "%s/instances/%s", t->dir, t->name);
	return remove_probes(t) == 0 && !count_events(t) && (rmdir(path) == 0 || errno == ENOENT);
}

// A gpq that was killed may still have files of it open.
static bool undo(const struct live_trace *t)
{
	for (int i = 0; i < UNDO_TRIES; i++) {
		if (undo_once(t))
			return true;
		usleep(20000);
	}
	return false;
}

// Waits until gpq has closed its end, whatever ended it.
static void guard(const struct live_trace *t, int end)
{
	static const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE};
	char byte;
	ssize_t n;
	for (size_t i = 0; i < COUNT(ignored); i++)
		signal(ignored[i], SIG_IGN);
	setsid();
	do
		n = read(end, &byte, 1);
	while (n > 0 || (n < 0 && errno == EINTR));
	_exit(!undo(t));
}

static int guard_start(struct live_trace *t)
{
	int ends[2];
	if (pipe2(ends, O_CLOEXEC))
		return err_sys(errno, NULL, "--live: pipe");
	t->guard = fork();
	if (t->guard == 0) {
		close(ends[1]);
		guard(t, ends[0]);
	}
	close(ends[0]);
	t->guard_end = ends[1];
	if (t->guard > 0)
		return GPQ_OK;
	close(ends[1]);
	return err_sys(errno, NULL, "--live: fork");
}

// Leaves all to the guard, and waits for it.
static bool guard_end(struct live_trace *t)
{
	int status = -1;
	if (t->pipe >= 0)
		close(t->pipe);
	close(t->guard_end);
	while (waitpid(t->guard, &status, 0) < 0 && errno == EINTR)
		;
	if (t->lock >= 0)
		close(t->lock);
	return status == 0;
}

// --- the begin ---

// "confidentiality" of "none integrity [confidentiality]"; "": no lockdown, or not known.
static void read_lockdown(char word[32])
{
	struct buf b = {0};
	*word = '\0';
	if (host_read(&b, "/sys/kernel/security/lockdown") > 0 &&
	    sscanf(strchr(b.data, '[') ? strchr(b.data, '[') : "", "[%31[a-z]]", word) == 1 &&
	    strcmp(word, "none") == 0)
		*word = '\0';
	buf_fini(&b);
}

static int refused(const char *what, int error)
{
	char lockdown[32];
	read_lockdown(lockdown);
	if ((error == EPERM || error == EACCES) && *lockdown)
		return err_fail(GPQ_DENIED, "boot without lockdown, or use logs alone",
				"--live: %s: the kernel is locked down (%s)", what, lockdown);
	return err_sys(error, error == EACCES || error == EPERM ? "run as root" : NULL,
		       "--live: %s", what);
}

// libtracefs mounts one where there is none: gpq leaves that to the user.
static bool is_mounted(void)
{
	return host_access("/sys/kernel/tracing/trace_clock", F_OK) == 0 ||
	       host_access("/sys/kernel/debug/tracing/trace_clock", F_OK) == 0;
}

static int find_tracefs(struct live_trace *t)
{
	const struct tracefs *lib;
	const char *dir;
	if (geteuid() != 0)
		return err_fail(GPQ_DENIED, "run as root", "--live: tracefs is root's");
	lib = tracefs_get();
	if (!lib)
		return err_fail(GPQ_UNSUPPORTED, "install libtracefs1",
				"--live: libtracefs.so.1 is missing");
	dir = is_mounted() ? lib->tracefs_tracing_dir() : NULL;
	if (!dir || strlen(dir) >= sizeof(t->dir))
		return err_fail(GPQ_UNSUPPORTED,
				"as root: mount -t tracefs none /sys/kernel/tracing",
				"--live: there is no tracefs");
	snprintf(t->dir, sizeof(t->dir), "%s", dir);
	return exists(t, "instances")
		       ? GPQ_OK
		       : err_fail(GPQ_UNSUPPORTED, "use a kernel with CONFIG_TRACING",
				  "--live: %s has no instances", dir);
}

static void set_buffer(const struct live_trace *t)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	long kb = BUFFERS_KB / (cpus > 0 ? cpus : 1);
	char text[32];
	kb = kb < BUFFER_LOW ? BUFFER_LOW : kb > BUFFER_HIGH ? BUFFER_HIGH : kb;
	snprintf(text, sizeof(text), "%ld", kb);
	if (set(t, "buffer_size_kb", text))
		err_warn(NULL, "--live: buffer_size_kb %s: %s", text, strerror(errno));
}

// Opens and locks the instance's folder. -1 with errno: EWOULDBLOCK when it is another's.
static int lock_instance(const struct live_trace *t)
{
	char path[192];
	int fd;
	snprintf(path, sizeof(path), "%s/instances/%s", t->dir, t->name);
	fd = host_open(path, O_RDONLY | O_DIRECTORY);
	// Who had the lock before may have removed the folder.
	if (fd >= 0 && (flock(fd, LOCK_EX | LOCK_NB) || host_access(path, F_OK))) {
		close(fd);
		return -1;
	}
	return fd;
}

static void set_name(struct live_trace *t, const char *number)
{
	snprintf(t->name, sizeof(t->name), PREFIX "%.16s", number);
	snprintf(t->group, sizeof(t->group), GROUP "%.16s", number);
}

// What dead ones left.
struct swept {
	unsigned removed, busy, failed;
};

// Behind PREFIX and GROUP, as claim() makes it.
static bool is_number(const char *text, char end)
{
	return strspn(text, "0123456789abcdef") == 16 && text[16] == end;
}

static void sweep_one(struct live_trace *t, const char *number, struct swept *s)
{
	set_name(t, number);
	t->lock = lock_instance(t);
	if (t->lock < 0) {
		s->busy += errno == EWOULDBLOCK;
		return;
	}
	undo(t) ? s->removed++ : s->failed++;
	close(t->lock);
}

// Probes whose instance is gone already: somebody else removed it.
static void sweep_groups(struct live_trace *t, struct swept *s)
{
	struct buf list = {0};
	char path[128];
	host_readf(&list, "%s/kprobe_events", t->dir);
	for (char *at = list.len ? strstr(list.data, ":" GROUP) : NULL; at;
	     at = strstr(at, ":" GROUP)) {
		at += strlen(":" GROUP);
		if (!is_number(at, '/') || memcmp(at, t->group + strlen(GROUP), 16) == 0)
			continue;
		set_name(t, at);
		snprintf(path, sizeof(path), "instances/%s", t->name);
		if (!exists(t, path))
			s->removed += remove_probes(t) == 0;
	}
	buf_fini(&list);
}

// Removes what nobody has locked.
static struct swept sweep(const char *dir)
{
	DIR *d = host_opendirf("%s/instances", dir);
	struct live_trace t = {.lock = -1};
	const struct dirent *e;
	struct swept s = {0};
	snprintf(t.dir, sizeof(t.dir), "%s", dir);
	while (d && (e = host_readdir(d)))
		if (strncmp(e->d_name, PREFIX, strlen(PREFIX)) == 0 &&
		    is_number(e->d_name + strlen(PREFIX), '\0'))
			sweep_one(&t, e->d_name + strlen(PREFIX), &s);
	if (d)
		closedir(d);
	sweep_groups(&t, &s);
	return s;
}

// Makes a folder that nobody had and locks it. Between the two another gpq may take it for one that
// was left, and remove it.
static int claim(struct live_trace *t)
{
	char number[17], path[192];
	uint64_t random;
	for (int i = 0; i < CLAIM_TRIES; i++) {
		if (getrandom(&random, sizeof(random), 0) != sizeof(random))
			break;
		snprintf(number, sizeof(number), "%016" PRIx64, random);
		set_name(t, number);
		snprintf(path, sizeof(path), "%s/instances/%s", t->dir, t->name);
		if (mkdir(path, 0700) == 0)
			t->lock = lock_instance(t);
		else if (errno != EEXIST)
			break;
		if (t->lock >= 0)
			return GPQ_OK;
	}
	return refused("a tracefs instance", errno);
}

static int make_instance(struct live_trace *t)
{
	int status = claim(t);
	if (status)
		return status;
	status = guard_start(t);
	if (status) {
		undo(t);
		close(t->lock);
		return status;
	}
	if (set(t, "trace_clock", "mono"))
		status = refused("trace_clock mono", errno);
	set(t, "options/record-tgid", "1"); // also of threads that end soon
	set(t, "buffer_percent", "0");      // readers wake up at the first event
	set_buffer(t);
	return status;
}

// --- what is traced ---

// The functions that can be traced: a word before each blank or newline that begins with a probe's
// name. A suffix is kept: "execute_queues_cpsch.constprop.0".
static char *find_function(const char *list, const char *name)
{
	size_t len = strlen(name);
	for (const char *at = list; at && (at = strstr(at, name)); at += len) {
		size_t end = len + strcspn(at + len, " \t\n");
		if ((at == list || at[-1] == '\n') && (end == len || at[len] == '.'))
			return xstrndup(at, end);
	}
	return NULL;
}

static bool define(const struct live_trace *t, char kind, const char *event, const char *function,
		   const char *fetch)
{
	char text[512];
	snprintf(text, sizeof(text), "%c:%s/%s %s %s", kind, t->group, event, function, fetch);
	return put(t, "kprobe_events", text, O_APPEND) == 0;
}

// With all that is to be fetched, else (older kernels fetch no arguments at a return; a suffix says
// that they moved) with the result alone.
static bool probe(struct live_trace *t, const struct live_probe *p, const char *function)
{
	// Of a module that is not there the kernel would wait for the loading.
	bool module = host_access("/sys/module/amdgpu/initstate", F_OK) == 0;
	bool suffix = strchr(function, '.');
	char name[128], result[128];
	bool entry;
	snprintf(name, sizeof(name), "amdgpu:%s", function);
	snprintf(result, sizeof(result), "%s_ret", p->function);
	for (int i = !module; i < 2; i++) { // in the module, or built in
		const char *where = i ? function : name;

		entry = (!suffix && define(t, 'p', p->function, where, p->entry)) ||
			define(t, 'p', p->function, where, "");
		if (!entry)
			continue;
		t->probes++;
		if (p->result && !define(t, 'r', result, where, p->result))
			define(t, 'r', result, where, *p->result ? "ret=$retval:s32" : "");
		return true;
	}
	return false;
}

// Kernels without kprobes have the function tracer: calls without arguments and ends.
static int trace_functions(struct live_trace *t, const struct buf *names)
{
	if (names->len && !set(t, "set_ftrace_filter", names->data) &&
	    !set(t, "current_tracer", "function")) {
		err_warn(NULL,
			 "--live: this kernel has no kprobe events: calls are seen to begin only");
		return GPQ_OK;
	}
	return err_fail(GPQ_UNSUPPORTED, "use a kernel with CONFIG_KPROBE_EVENTS",
			"--live: neither kprobe events nor the function tracer can be used");
}

static int make_probes(struct live_trace *t)
{
	char *list =
		tracefs_get()->tracefs_instance_file_read(NULL, "available_filter_functions", NULL);
	bool kprobes = exists(t, "kprobe_events");
	struct buf names = {0};
	char path[128];
	int status = GPQ_OK, error = 0;
	for (size_t i = 0; i < live_nprobes; i++) {
		const struct live_probe *p = &live_probes[i];
		char *function = list ? find_function(list, p->function) : xstrdup(p->function);
		if (!function)
			continue;
		t->functions++;
		buf_printf(&names, "%s ", function);
		if (kprobes && !probe(t, p, function))
			error = errno;
		free(function);
	}
	free(list);
	snprintf(path, sizeof(path), "events/%s/enable", t->group);
	if (!t->functions)
		err_warn("load amdgpu first",
			 "--live: this kernel has no function of amdkfd to trace");
	else if (!kprobes)
		status = trace_functions(t, &names);
	else if (!t->probes)
		status = refused("kprobe_events", error);
	else if (set(t, path, "1"))
		status = refused("kprobes", errno);
	t->defined = t->probes ? count_events(t) : 0;
	buf_fini(&names);
	return status;
}

static int make_events(struct live_trace *t)
{
	char path[128];
	for (size_t i = 0; i < live_nevents; i++) {
		snprintf(path, sizeof(path), "events/%s/enable", live_events[i]);
		if (!exists(t, path))
			continue;
		if (set(t, path, "1"))
			err_warn(NULL, "--live: %s: %s", live_events[i], strerror(errno));
		else
			t->events++;
	}
	err_note("traced: %u functions of the driver, %u events of its own", t->functions,
		 t->events);
	return t->functions || t->events
		       ? GPQ_OK
		       : err_fail(GPQ_FAILED, NULL, "--live: there is nothing to record");
}

static int open_pipe(struct live_trace *t)
{
	char path[128];
	snprintf(path, sizeof(path), "%s/instances/%s/trace_pipe", t->dir, t->name);
	t->pipe = host_open(path, O_RDONLY | O_NONBLOCK);
	return t->pipe < 0 ? refused("trace_pipe", errno) : GPQ_OK;
}

int live_trace_open(struct live_trace *t)
{
	unsigned removed;
	int status;
	*t = (struct live_trace){.lock = -1, .pipe = -1, .guard_end = -1};
	status = find_tracefs(t);
	if (status)
		return status;
	removed = sweep(t->dir).removed;
	if (removed)
		err_warn(NULL, "--live: removed what %u killed gpq had left in %s", removed,
			 t->dir);
	status = make_instance(t);
	if (t->guard <= 0)
		return status;
	if (!status)
		status = make_probes(t);
	if (!status)
		status = make_events(t);
	if (!status)
		status = open_pipe(t);
	if (status)
		guard_end(t);
	return status;
}

void live_trace_stop(struct live_trace *t)
{
	set(t, "tracing_on", "0");
}

// Calls that no kretprobe was free for (kprobe_profile: name, hits, misses).
static void say_missed(const struct live_trace *t)
{
	unsigned long long sum = 0;
	struct buf b = {0};
	char *save = NULL;
	if (host_readf(&b, "%s/kprobe_profile", t->dir) < 0)
		return;
	for (char *line = strtok_r(b.data, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char *hits = strstr(line, "_ret "), *misses;
		if (!hits)
			continue;
		strtoull(hits + strlen("_ret "), &misses, 10);
		sum += strtoull(misses, NULL, 10);
	}
	if (sum)
		err_warn(NULL, "--live: %llu returns were not seen: too many calls at once", sum);
	buf_fini(&b);
}

// Are the probes there, and on, as they were made?
static bool is_whole(const struct live_trace *t)
{
	struct buf b = {0};
	bool on;
	host_readf(&b, "%s/instances/%s/events/%s/enable", t->dir, t->name, t->group);
	on = b.len && b.data[0] == '1';
	buf_fini(&b);
	return !t->defined || (on && count_events(t) == t->defined);
}

int live_trace_close(struct live_trace *t)
{
	int status = GPQ_OK;
	if (!is_whole(t))
		status = err_fail(GPQ_PARTIAL, "record again",
				  "--live: another took probes away: the record is not whole");
	say_missed(t);
	if (guard_end(t))
		return status;
	return err_fail(GPQ_FAILED, "try gpq trace --live --cleanup",
			"--live: something of %s is left in %s", t->name, t->dir);
}

// --- --cleanup ---

int live_cleanup(void)
{
	struct live_trace t;
	int status = find_tracefs(&t);
	struct swept s;
	if (status)
		return status;
	s = sweep(t.dir);
	if (s.failed)
		return err_fail(GPQ_FAILED, "see its users: fuser",
				"--cleanup: %u could not be removed", s.failed);
	if (s.busy)
		err_note("--cleanup: %u at work were left alone", s.busy);
	err_note("--cleanup: %u that were killed had left something in %s", s.removed, t.dir);
	return GPQ_OK;
}
