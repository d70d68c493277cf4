// The tracefs instance of gpq trace --live and gpq bench --breakdown, which is removed however gpq
// ends.
//
// Facts: Documentation/trace/ftrace.rst (instances, trace_pipe, trace_clock, buffer_size_kb,
// buffer_percent), kprobetrace.rst (kprobe_events, kprobe_profile). An instance has buffers, a
// clock and switches of its own. kprobe events exist in all instances, but are on in this one only.
//
// The instance's name has a random number, as two PID namespaces may have the same pid; mkdir()
// tells whether the name was free. gpq and its child, the guard, hold a lock (flock) on the
// instance's folder, which is one inode for all mounts of tracefs. The guard waits until gpq has
// closed its end of a pipe or has ended, even by SIGKILL, and removes the instance and its kprobe
// events. An instance without a lock was left when gpq and the guard were killed: the next gpq that
// records removes it.
#include "common/ftrace/live.h"

#include "common/cli/err.h"
#include "common/host/dlopen.h"
#include "common/host/root.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <tracefs.h>

#define TRACEFS_FUNCTIONS(X)   \
	X(tracefs_tracing_dir) \
	X(tracefs_instance_file_read)
LIB(tracefs, "libtracefs.so.1", TRACEFS_FUNCTIONS, RECOMMENDED, "tracefs",
    "gpq trace --live, gpq bench preempt --breakdown: the kernel's side");

#define PREFIX      "gpq-"
#define GROUP       "gpq_"
#define BUFFERS_KB  65536 // KiB for all CPUs; each gets BUFFER_LOW to BUFFER_HIGH
#define UNDO_TRIES  50    // attempts to remove the tracing instance, 20 ms apart
#define CLAIM_TRIES 8
#define BUFFER_LOW  256
#define BUFFER_HIGH 4096

// --- files of tracefs ---

static struct path instance_path(const struct live_trace *t, const char *file)
{
	return pathf("%s/instances/%s%s", t->dir, t->name, file);
}

static bool exists(struct path path)
{
	return host_access(path.text, F_OK) == 0;
}

// Writes a text by one write(2), which tracefs takes as one command. Returns 0, or -1 with errno.
static int write_tracefs(struct path path, int flags, const char *text)
{
	SCOPED(close_at) int fd = host_open(path.text, O_WRONLY | flags);
	if (fd < 0)
		return -1;
	return write(fd, text, strlen(text)) < 0 ? -1 : 0;
}

static int set_instance(const struct live_trace *t, const char *file, const char *text)
{
	return write_tracefs(instance_path(t, file), 0, text);
}

// Returns the path of the file that turns the group's kprobe events on ("1") and off ("0").
static struct path probes_switch(const struct live_trace *t)
{
	return pathf("%s/instances/%s/events/%s/enable", t->dir, t->name, t->group);
}

// --- removing the instance ---

// Returns the number of entries in events/GROUP; 0: no event is left. (The file kprobe_events may
// lack lines while another gpq removes its own.)
static int count_events(const struct live_trace *t)
{
	SCOPED(closedir_at)
	DIR *d = host_opendir(PATH("%s/instances/%s/events/%s", t->dir, t->name, t->group));
	int n = 0;
	while (d && host_readdir(d))
		n++;
	return n;
}

// Removes the kprobe events of the group. Returns how many could not be removed; -1: not known.
static int remove_probes(const struct live_trace *t)
{
	SCOPED(buf_fini) struct buf list = {0};
	char group[40], command[256];
	int left = 0;
	snprintf(group, sizeof(group), ":%s/", t->group);
	if (host_read(&list, PATH("%s/kprobe_events", t->dir)) < 0)
		return errno == ENOENT ? 0 : -1;
	for (char *at = list.data; at && (at = strstr(at, group)); at++) {
		snprintf(command, sizeof(command), "-%.*s", (int)strcspn(at, " \n"), at);
		left += write_tracefs(pathf("%s/kprobe_events", t->dir), O_APPEND, command) != 0;
	}
	return left;
}

// Removes the locked instance and its kprobe events. Returns false if something is left.
static bool remove_instance_once(const struct live_trace *t)
{
	set_instance(t, "/tracing_on", "0");
	write_tracefs(probes_switch(t), 0, "0");
	set_instance(t, "/events/enable", "0");
	set_instance(t, "/current_tracer", "nop");
	return remove_probes(t) == 0 && !count_events(t) &&
	       (rmdir(instance_path(t, "").text) == 0 || errno == ENOENT);
}

// Tries for a second: a gpq that is being killed may still have files of the instance open.
static bool remove_instance(const struct live_trace *t)
{
	for (int i = 0; i < UNDO_TRIES; i++) {
		if (remove_instance_once(t))
			return true;
		usleep(20000);
	}
	return false;
}

// Waits until gpq has closed its end of the pipe or has ended, then removes the instance.
static void run_guard(const struct live_trace *t, int end)
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
	_exit(!remove_instance(t));
}

static int guard_start(struct live_trace *t)
{
	int ends[2];
	if (pipe2(ends, O_CLOEXEC))
		return err_sys(errno, NULL, "%s: pipe", t->option);
	t->guard = fork();
	if (t->guard == 0) {
		close(ends[1]);
		run_guard(t, ends[0]);
	}
	close(ends[0]);
	t->guard_end = ends[1];
	if (t->guard > 0)
		return GPQ_OK;
	close(ends[1]);
	return err_sys(errno, NULL, "%s: fork", t->option);
}

// Lets the guard remove the instance. Returns false if something is left.
static bool guard_end(struct live_trace *t)
{
	int status = -1;
	close_quietly(t->pipe);
	close(t->guard_end);
	while (waitpid(t->guard, &status, 0) < 0 && errno == EINTR)
		;
	close_quietly(t->lock);
	return status == 0;
}

// --- making the instance ---

// Reads the lockdown mode: "confidentiality" of "none integrity [confidentiality]"; "": no
// lockdown, or not known.
static void read_lockdown(char word[32])
{
	SCOPED(buf_fini) struct buf b = {0};
	*word = '\0';
	if (host_read(&b, "/sys/kernel/security/lockdown") > 0 &&
	    sscanf(strchr(b.data, '[') ? strchr(b.data, '[') : "", "[%31[a-z]]", word) == 1 &&
	    strcmp(word, "none") == 0)
		*word = '\0';
}

static int tracefs_refused(const struct live_trace *t, const char *what, int error)
{
	char lockdown[32];
	read_lockdown(lockdown);
	if ((error == EPERM || error == EACCES) && *lockdown)
		return err_fail(GPQ_DENIED,
				t->steps ? "boot without lockdown, or leave it out"
					 : "boot without lockdown, or use logs alone",
				"%s: %s: the kernel is locked down (%s)", t->option, what,
				lockdown);
	return err_sys(error, error == EACCES || error == EPERM ? "run as root" : NULL, "%s: %s",
		       t->option, what);
}

static int find_tracefs(struct live_trace *t)
{
	if (geteuid() != 0)
		return err_fail(GPQ_DENIED, "run as root", "%s: tracefs is root's", t->option);
	const struct tracefs *lib = tracefs_get();
	if (!lib)
		return err_fail(GPQ_UNSUPPORTED, LIB_MEND("libtracefs", "libtracefs1", ""),
				LIB_WHY("%s: ", "libtracefs", "libtracefs.so.1", ""), t->option);
	// libtracefs would mount a tracefs that is missing; gpq leaves that to the user.
	bool mounted = host_access("/sys/kernel/tracing/trace_clock", F_OK) == 0 ||
		       host_access("/sys/kernel/debug/tracing/trace_clock", F_OK) == 0;
	const char *dir = mounted ? lib->tracefs_tracing_dir() : NULL;
	if (!dir || strlen(dir) >= sizeof(t->dir))
		return err_fail(GPQ_UNSUPPORTED,
				"as root: mount -t tracefs none /sys/kernel/tracing",
				"%s: there is no tracefs", t->option);
	snprintf(t->dir, sizeof(t->dir), "%s", dir);
	return exists(pathf("%s/instances", t->dir))
		       ? GPQ_OK
		       : err_fail(GPQ_UNSUPPORTED, "use a kernel with CONFIG_TRACING",
				  "%s: %s has no instances", t->option, dir);
}

static void set_buffer(const struct live_trace *t)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	long kb = BUFFERS_KB / (cpus > 0 ? cpus : 1);
	char text[32];
	kb = kb < BUFFER_LOW ? BUFFER_LOW : kb > BUFFER_HIGH ? BUFFER_HIGH : kb;
	snprintf(text, sizeof(text), "%ld", kb);
	if (set_instance(t, "/buffer_size_kb", text))
		err_warn(NULL, "%s: buffer_size_kb %s: %s", t->option, text, strerror(errno));
}

// Opens and locks the instance's folder. Returns the descriptor, or -1 with errno; EWOULDBLOCK:
// another process has the lock.
static int lock_instance(const struct live_trace *t)
{
	const struct path path = instance_path(t, "");
	int fd = host_open(path.text, O_RDONLY | O_DIRECTORY);
	// The last owner of the lock may have removed the folder.
	if (fd >= 0 && (flock(fd, LOCK_EX | LOCK_NB) || !exists(path))) {
		close(fd);
		return -1;
	}
	return fd;
}

static void set_instance_name(struct live_trace *t, const char *number)
{
	snprintf(t->name, sizeof(t->name), PREFIX "%.16s", number);
	snprintf(t->group, sizeof(t->group), GROUP "%.16s", number);
}

// Numbers of instances: removed, in use by another gpq, not removable.
struct swept {
	unsigned removed, busy, failed;
};

// Does the text begin with 16 hexadecimal digits, as in names of instances, followed by `end`?
static bool is_number(const char *text, char end)
{
	return strspn(text, "0123456789abcdef") == 16 && text[16] == end;
}

static void sweep_one(struct live_trace *t, const char *number, struct swept *s)
{
	set_instance_name(t, number);
	t->lock = lock_instance(t);
	if (t->lock < 0) {
		s->busy += errno == EWOULDBLOCK;
		return;
	}
	remove_instance(t) ? s->removed++ : s->failed++;
	close(t->lock);
}

// Removes kprobe events of gpq whose instance is gone, as somebody else removed it.
static void sweep_groups(struct live_trace *t, struct swept *s)
{
	SCOPED(buf_fini) struct buf list = {0};
	host_read(&list, PATH("%s/kprobe_events", t->dir));
	for (char *at = list.len ? strstr(list.data, ":" GROUP) : NULL; at;
	     at = strstr(at, ":" GROUP)) {
		at += strlen(":" GROUP);
		if (!is_number(at, '/') || memcmp(at, t->group + strlen(GROUP), 16) == 0)
			continue;
		set_instance_name(t, at);
		if (!exists(instance_path(t, "")))
			s->removed += remove_probes(t) == 0;
	}
}

// Removes what killed gpqs left: instances that nobody has locked, and their kprobe events.
static struct swept sweep_instances(const char *dir)
{
	SCOPED(closedir_at) DIR *d = host_opendir(PATH("%s/instances", dir));
	struct live_trace t = {.lock = -1};
	const struct dirent *e;
	struct swept s = {0};
	snprintf(t.dir, sizeof(t.dir), "%s", dir);
	while (d && (e = host_readdir(d)))
		if (strncmp(e->d_name, PREFIX, strlen(PREFIX)) == 0 &&
		    is_number(e->d_name + strlen(PREFIX), '\0'))
			sweep_one(&t, e->d_name + strlen(PREFIX), &s);
	sweep_groups(&t, &s);
	return s;
}

// Makes a new instance and locks it. Until then another gpq may remove the instance, as it seems to
// have been left: then claim_instance() tries again.
static int claim_instance(struct live_trace *t)
{
	char number[17];
	uint64_t random;
	for (int i = 0; i < CLAIM_TRIES; i++) {
		if (getrandom(&random, sizeof(random), 0) != sizeof(random))
			break;
		snprintf(number, sizeof(number), "%016" PRIx64, random);
		set_instance_name(t, number);
		if (mkdir(instance_path(t, "").text, 0700) == 0)
			t->lock = lock_instance(t);
		else if (errno != EEXIST)
			break;
		if (t->lock >= 0)
			return GPQ_OK;
	}
	return tracefs_refused(t, "a tracefs instance", errno);
}

static int make_instance(struct live_trace *t)
{
	int status = claim_instance(t);
	if (status)
		return status;
	status = guard_start(t);
	if (status) {
		remove_instance(t);
		close(t->lock);
		return status;
	}
	if (set_instance(t, "/trace_clock", "mono"))
		status = tracefs_refused(t, "trace_clock mono", errno);
	set_instance(t, "/options/record-tgid", "1"); // /proc lacks threads that ended
	set_instance(t, "/buffer_percent", "0");      // readers wake up at the first event
	set_buffer(t);
	return status;
}

// --- what is traced ---

// Finds `name`, or `name` with a suffix ("execute_queues_cpsch.constprop.0"), in
// available_filter_functions, which has lines "NAME [MODULE]". Returns the name found, to be freed;
// NULL: none.
static char *find_function(const char *list, const char *name)
{
	size_t len = strlen(name);
	for (const char *at = list; (at = strstr(at, name)); at += len) {
		size_t end = len + strcspn(at + len, " \t\n");
		if ((at == list || at[-1] == '\n') && (end == len || at[len] == '.'))
			return xstrndup(at, end);
	}
	return NULL;
}

static bool define_event(const struct live_trace *t, char kind, const char *event,
			 const char *function, const char *fetch)
{
	char text[512];
	snprintf(text, sizeof(text), "%c:%s/%s %s %s", kind, t->group, event, function, fetch);
	return write_tracefs(pathf("%s/kprobe_events", t->dir), O_APPEND, text) == 0;
}

// Defines the kprobe events of a function. Older kernels fetch no arguments at a return: there the
// event has the result alone. If the function has a suffix, the compiler may have moved its
// arguments, and none is fetched.
static bool make_probe(struct live_trace *t, const struct live_probe *p, const char *function)
{
	// Before amdgpu is loaded the kernel would accept a probe of that module, for later.
	bool module = host_access("/sys/module/amdgpu/initstate", F_OK) == 0;
	bool suffix = strchr(function, '.');
	char name[128], result[128];
	bool entry;
	snprintf(name, sizeof(name), "amdgpu:%s", function);
	snprintf(result, sizeof(result), "%s_ret", p->function);
	for (int i = !module; i < 2; i++) { // 0: function of the module, 1: built in
		const char *where = i ? function : name;
		entry = (!suffix && define_event(t, 'p', p->function, where, p->entry)) ||
			define_event(t, 'p', p->function, where, "");
		if (!entry)
			continue;
		t->probes++;
		if (p->result && !define_event(t, 'r', result, where, p->result))
			define_event(t, 'r', result, where, *p->result ? "ret=$retval:s32" : "");
		return true;
	}
	return false;
}

// Uses the function tracer, on kernels without kprobes: it shows calls, but no arguments or
// returns.
static int trace_functions(struct live_trace *t, const struct buf *names)
{
	if (names->len && !set_instance(t, "/set_ftrace_filter", names->data) &&
	    !set_instance(t, "/current_tracer", "function")) {
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
	bool kprobes = exists(pathf("%s/kprobe_events", t->dir));
	SCOPED(buf_fini) struct buf names = {0};
	int status = GPQ_OK, error = 0;
	for (size_t i = 0; i < live_nprobes; i++) {
		const struct live_probe *p = &live_probes[i];
		if (t->steps && !p->step)
			continue;
		char *function = list ? find_function(list, p->function) : xstrdup(p->function);
		const bool probed = function && kprobes && make_probe(t, p, function);
		if (function) {
			error = probed ? error : errno;
			t->functions++;
			buf_printf(&names, "%s ", function);
			free(function);
		}
		if (t->steps && t->probes && !probed)
			err_warn(NULL, "%s: %s cannot be traced: its time counts as rest",
				 t->option, p->function);
	}
	free(list);
	if (t->steps && !t->functions)
		return err_fail(GPQ_UNSUPPORTED, "load amdgpu first",
				"%s: this kernel has no function of amdkfd to trace", t->option);
	if (t->steps && !kprobes)
		return err_fail(GPQ_UNSUPPORTED, "use a kernel with CONFIG_KPROBE_EVENTS",
				"%s: this kernel has no kprobe events", t->option);
	if (!t->functions)
		err_warn("load amdgpu first",
			 "--live: this kernel has no function of amdkfd to trace");
	else if (!kprobes)
		status = trace_functions(t, &names);
	else if (!t->probes)
		status = tracefs_refused(t, "kprobe_events", error);
	else if (write_tracefs(probes_switch(t), 0, "1"))
		status = tracefs_refused(t, "kprobes", errno);
	t->defined = t->probes ? count_events(t) : 0;
	return status;
}

static int make_events(struct live_trace *t)
{
	for (size_t i = 0; i < live_nevents; i++) {
		if (!exists(pathf("%s/events/%s/enable", t->dir, live_events[i])))
			continue;
		if (write_tracefs(pathf("%s/instances/%s/events/%s/enable", t->dir, t->name,
					live_events[i]),
				  0, "1"))
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

int live_trace_open(struct live_trace *t, bool steps)
{
	*t = (struct live_trace){.option = steps ? "--breakdown" : "--live",
				 .steps = steps,
				 .lock = -1,
				 .pipe = -1,
				 .guard_end = -1};
	int status = find_tracefs(t);
	if (status)
		return status;
	unsigned removed = sweep_instances(t->dir).removed;
	if (removed)
		err_warn(NULL, "%s: removed what %u killed gpq had left in %s", t->option, removed,
			 t->dir);
	status = make_instance(t);
	if (t->guard <= 0)
		return status;
	if (!status)
		status = make_probes(t);
	if (!status && !steps)
		status = make_events(t);
	if (!status) {
		t->pipe = host_open(instance_path(t, "/trace_pipe").text, O_RDONLY | O_NONBLOCK);
		status = t->pipe < 0 ? tracefs_refused(t, "trace_pipe", errno) : GPQ_OK;
	}
	if (status)
		guard_end(t);
	return status;
}

void live_trace_stop(struct live_trace *t)
{
	set_instance(t, "/tracing_on", "0");
}

// Warns of returns that the kernel missed because too many calls were open at once. Lines of
// kprobe_profile: name of the event, hits, misses.
static void say_missed(const struct live_trace *t)
{
	unsigned long long sum = 0;
	SCOPED(buf_fini) struct buf b = {0};
	if (host_read(&b, PATH("%s/kprobe_profile", t->dir)) < 0)
		return;
	for (char *at = strstr(b.data, "_ret "); at; at = strstr(at, "_ret ")) {
		strtoull(at + strlen("_ret "), &at, 10);
		sum += strtoull(at, &at, 10);
	}
	if (sum)
		err_warn(NULL, "%s: %llu returns were not seen: too many calls at once", t->option,
			 sum);
}

// Are all kprobe events still there and turned on?
static bool is_whole(const struct live_trace *t)
{
	SCOPED(buf_fini) struct buf b = {0};
	host_read(&b, probes_switch(t).text);
	bool on = b.len && b.data[0] == '1';
	return !t->defined || (on && count_events(t) == t->defined);
}

int live_trace_close(struct live_trace *t)
{
	int status = GPQ_OK;
	if (!is_whole(t))
		status = err_fail(GPQ_PARTIAL, "record again",
				  "%s: another took probes away: the record is not whole",
				  t->option);
	say_missed(t);
	if (guard_end(t))
		return status;
	return err_fail(GPQ_FAILED, "try gpq trace --live --cleanup",
			"%s: something of %s is left in %s", t->option, t->name, t->dir);
}

// --- --cleanup ---

int live_cleanup(void)
{
	struct live_trace t = {.option = "--live"};
	int status = find_tracefs(&t);
	if (status)
		return status;
	struct swept s = sweep_instances(t.dir);
	if (s.failed)
		return err_fail(GPQ_FAILED, "see its users: fuser",
				"--cleanup: %u could not be removed", s.failed);
	if (s.busy)
		err_note("--cleanup: %u at work were left alone", s.busy);
	err_note("--cleanup: %u that were killed had left something in %s", s.removed, t.dir);
	return GPQ_OK;
}
