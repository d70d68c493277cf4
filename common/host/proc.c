// Processes from /proc; see proc.h.
#include "common/host/proc.h"

#include "common/host/number.h"
#include "common/host/root.h"

#include <fcntl.h>
#include <pwd.h>
#include <sys/stat.h>

#define DIGITS "0123456789"

// Returns the value of "Key:\tvalue" in the text of /proc/PID/status, or NULL. The process's name
// comes first and may hold anything but a newline.
static const char *status_value(const char *status, const char *key)
{
	size_t n = strlen(key);
	for (const char *line = status; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, key, n) == 0 && line[n] == ':')
			return line + n + 1 + strspn(line + n + 1, " \t");
	}
	return NULL;
}

// Returns the decimal number at `s`, or `unknown` if there is none or it is above `max`. Sets *end
// to the place behind its digits.
static uint64_t proc_take_number(const char *s, uint64_t max, uint64_t unknown, const char **end)
{
	size_t n = s ? strspn(s, DIGITS) : 0;
	uint64_t v = n ? strtoull(s, NULL, 10) : 0; // ULLONG_MAX when the number is out of range
	*end = n ? s + n : "";
	return n && v <= max ? v : unknown;
}

static pid_t status_pid(const char *status, const char *key, pid_t unknown)
{
	const char *end;
	return (pid_t)proc_take_number(status_value(status, key), INT32_MAX, (uint64_t)unknown,
				       &end);
}

// "NSpid:  4711  17": one number per namespace, the innermost last.
static void parse_nspid(struct proc *p, const char *status)
{
	const char *v = status_value(status, "NSpid");
	unsigned n = 0;
	for (; v && *v >= '0' && *v <= '9'; n++) {
		p->ns_pid = (pid_t)proc_take_number(v, INT32_MAX, 0, &v);
		v += strspn(v, " \t");
	}
	p->depth = n ? n - 1 : 0;
}

void proc_parse(struct proc *p, pid_t pid, const char *status)
{
	*p = (struct proc){.pid = pid, .uid = UINT64_MAX};
	const char *name = status_value(status, "Name"), *state = status_value(status, "State");
	const char *uid = status_value(status, "Uid");
	if (name)
		snprintf(p->comm, sizeof(p->comm), "%.*s", (int)strcspn(name, "\n"), name);
	p->state = state ? *state : 0;
	p->memory = status_value(status, "VmSize") != NULL;
	p->ppid = status_pid(status, "PPid", 0);
	p->tracer = status_pid(status, "TracerPid", -1);
	// "Uid: real effective saved fs": the effective one decides.
	uid = uid ? uid + strspn(uid, DIGITS) : "";
	p->uid = proc_take_number(uid + strspn(uid, " \t"), UINT32_MAX, UINT64_MAX, &uid);
	parse_nspid(p, status);
}

int proc_read(struct proc *p, pid_t pid)
{
	SCOPED(buf_fini) struct buf b = {0};
	*p = (struct proc){.pid = pid, .uid = UINT64_MAX, .tracer = -1};
	int r = host_read(&b, PATH("/proc/%d/status", (int)pid)) < 0 ? -1 : 0;
	if (r == 0)
		proc_parse(p, pid, b.data);
	return r;
}

// The name in field 2 may hold blanks and parentheses: the last ')' ends it.
bool proc_stat_number(const char *stat, unsigned field, uint64_t *value)
{
	const char *f = strrchr(stat, ')');
	for (unsigned i = 2; f && i < field; i++) {
		f = strchr(f, ' ');
		f = f ? f + 1 : NULL;
	}
	*value = proc_take_number(f, UINT64_MAX - 1, UINT64_MAX, &f);
	return *value != UINT64_MAX;
}

int proc_start_ticks(pid_t pid, uint64_t *ticks)
{
	SCOPED(buf_fini) struct buf b = {0};
	bool found = false;
	if (host_read(&b, PATH("/proc/%d/stat", (int)pid)) >= 0)
		found = proc_stat_number(b.data, 22, ticks);
	return found ? 0 : -1;
}

uint64_t proc_recorded_ns(void)
{
	char text[64];
	uint64_t s, cs;
	struct stat st;
	if (host_only_dumps()) {
		SCOPED(close_at) const int fd = host_open("/sys/kernel/debug/kfd/hqds", O_RDONLY);
		return fd >= 0 && fstat(fd, &st) == 0 ? (uint64_t)st.st_mtim.tv_sec * 1000000000 +
								(uint64_t)st.st_mtim.tv_nsec
						      : 0;
	}
	// "SECONDS.HUNDREDTHS IDLE"
	host_read_line(text, sizeof(text), "/proc/uptime");
	const char *dot = number_read(text, NULL, 10, UINT32_MAX, &s);
	const char *end = dot && *dot == '.' ? number_read(dot + 1, NULL, 10, 99, &cs) : NULL;
	return end && end == dot + 3 ? s * 1000000000 + cs * 10000000 : 0;
}

bool proc_parse_pid(const char *name, pid_t *pid)
{
	const char *end;
	*pid = (pid_t)proc_take_number(name, INT32_MAX, 0, &end);
	return *pid > 0 && name[0] != '0' && !*end;
}

// Processes that end while the list is read are left out.
ssize_t proc_list(struct proc **list)
{
	DIR *dir = host_opendir("/proc");
	size_t n = 0, cap = 0;
	struct dirent *e;
	*list = NULL;
	if (!dir)
		return -1;
	while ((e = host_readdir(dir))) {
		pid_t pid;
		if (!proc_parse_pid(e->d_name, &pid))
			continue;
		ARRAY_GROW(*list, cap, n);
		n += proc_read(&(*list)[n], pid) == 0;
	}
	int error = errno;
	closedir(dir);
	if (!error)
		return (ssize_t)n;
	free(*list);
	*list = NULL;
	errno = error;
	return -1;
}

ssize_t proc_tree(pid_t root, pid_t **pids)
{
	struct proc *all;
	ssize_t n = proc_list(&all);
	size_t found = 1;
	*pids = NULL;
	if (n < 0)
		return -1;
	*pids = xcalloc((size_t)n + 1, sizeof(**pids));
	(*pids)[0] = root;
	// Breadth first: each found process in turn takes its children.
	for (size_t k = 0; k < found; k++) {
		for (ssize_t i = 0; i < n; i++) {
			if (all[i].ppid != (*pids)[k] || all[i].pid == root || all[i].pid == 0)
				continue;
			(*pids)[found++] = all[i].pid;
			all[i].pid = 0;
		}
	}
	free(all);
	return (ssize_t)found;
}

ssize_t proc_find_ns_pid(pid_t ns_pid, pid_t **pids)
{
	struct proc *all;
	ssize_t n = proc_list(&all), found = 0;
	*pids = NULL;
	if (n < 0)
		return -1;
	*pids = xcalloc((size_t)n, sizeof(**pids));
	for (ssize_t i = 0; i < n; i++)
		if (all[i].depth && all[i].ns_pid == ns_pid)
			(*pids)[found++] = all[i].pid;
	free(all);
	return found;
}

// A recorded host brings its own /etc/passwd, or none: the names of this machine would be wrong
// there.
static bool recorded_name(uid_t uid, char *name, size_t size)
{
	int fd = host_open("/etc/passwd", 0);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
	bool found = false;
	if (fd >= 0 && !f) {
		host_trouble("/etc/passwd", errno);
		close_quietly(fd);
	}
	for (struct passwd *pw; f && !found && (pw = fgetpwent(f));) {
		found = pw->pw_uid == uid;
		if (found)
			snprintf(name, size, "%s", pw->pw_name);
	}
	if (f && !found && !feof(f))
		host_trouble("/etc/passwd", ferror(f) ? EIO : ENOMEM);
	if (f)
		fclose(f);
	return found;
}

const char *proc_user(uint64_t uid)
{
	static struct {
		uint64_t uid;
		char name[40];
	} known[64];
	static unsigned n;
	for (unsigned i = 0; i < n; i++)
		if (known[i].uid == uid)
			return known[i].name;
	// All users from the 64th on share the last entry: its pointer stays valid, its text
	// changes.
	unsigned slot = n < 63 ? n++ : 63;
	known[slot].uid = uid;
	char *name = known[slot].name;
	struct passwd *pw = host_is_live() ? getpwuid((uid_t)uid) : NULL;
	if (pw)
		snprintf(name, sizeof(known[slot].name), "%s", pw->pw_name);
	else if (host_is_live() || !recorded_name((uid_t)uid, name, sizeof(known[slot].name)))
		snprintf(name, sizeof(known[slot].name), "%llu", (unsigned long long)uid);
	return name;
}

// --- the title of this process ---

// The kernel reads a command line from the process's own memory, from arg_start on (proc(5), fields
// 48 to 51 of /proc/PID/stat); writing there changes what others see.
static void find_title(struct title *t)
{
	SCOPED(buf_fini) struct buf b = {0};
	if (host_read(&b, "/proc/self/stat") > 0) {
		uint64_t at[4] = {0}; // where arguments and environment begin and end
		for (unsigned i = 0; i < COUNT(at); i++)
			proc_stat_number(b.data, 48 + i, &at[i]);
		const uint64_t start = at[0], end = at[3];
		if (start && end > start && at[1] == at[2]) {
			t->at = (char *)start;
			t->size = t->len = end - start;
		}
	}
}

void title_set(struct title *t, const char *text)
{
	if (!t->sought)
		find_title(t);
	t->sought = true;
	if (!t->size)
		return;
	size_t len = strnlen(text, t->size - 1);
	memcpy(t->at, text, len);
	if (t->len > len)
		memset(t->at + len, 0, t->len - len);
	t->len = len;
}

void title_keep_environment(void)
{
	size_t n = 0;
	while (environ && environ[n])
		n++;
	char **copy = xcalloc(n + 1, sizeof(*copy));
	for (size_t i = 0; i < n; i++)
		copy[i] = xstrdup(environ[i]);
	environ = copy;
}
