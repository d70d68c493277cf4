// Processes from /proc; see proc.h.
#include "common/host/proc.h"

#include "common/host/root.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Value of "Key:\tvalue" in /proc/PID/status, or NULL. The name comes first and may hold anything
// but a newline.
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

static uint64_t status_number(const char *status, const char *key, uint64_t unknown)
{
	const char *v = status_value(status, key);
	return v && *v >= '0' && *v <= '9' ? strtoull(v, NULL, 10) : unknown;
}

// "NSpid:  4711  17": one number per namespace, the innermost last.
static void parse_nspid(struct proc *p, const char *status)
{
	const char *v = status_value(status, "NSpid");
	unsigned n = 0;
	while (v && *v >= '0' && *v <= '9') {
		char *end;
		p->ns_pid = (pid_t)strtoul(v, &end, 10);
		v = end + strspn(end, " \t");
		n++;
	}
	p->depth = n ? n - 1 : 0;
}

int proc_read(struct proc *p, pid_t pid)
{
	struct buf b = {0};
	*p = (struct proc){.pid = pid, .uid = UINT64_MAX, .tracer = -1};
	if (host_readf(&b, "/proc/%d/status", (int)pid) < 0) {
		int saved = errno;
		buf_fini(&b);
		errno = saved;
		return -1;
	}
	const char *name = status_value(b.data, "Name"), *state = status_value(b.data, "State");
	const char *uid = status_value(b.data, "Uid");
	if (name)
		snprintf(p->comm, sizeof(p->comm), "%.*s", (int)strcspn(name, "\n"), name);
	p->state = state ? *state : 0;
	p->memory = status_value(b.data, "VmSize") != NULL;
	p->ppid = (pid_t)status_number(b.data, "PPid", 0);
	p->tracer = (pid_t)status_number(b.data, "TracerPid", (uint64_t)-1);
	// "Uid: real effective saved fs": the effective one decides.
	if (uid) {
		uid += strspn(uid, "0123456789");
		uid += strspn(uid, " \t");
		p->uid = *uid >= '0' && *uid <= '9' ? strtoull(uid, NULL, 10) : UINT64_MAX;
	}
	parse_nspid(p, b.data);
	buf_fini(&b);
	return 0;
}

// Field `number` (3 and up) of /proc/PID/stat. The name in field 2 may hold blanks and parentheses:
// the last ')' ends it.
static int stat_field(pid_t pid, unsigned number, uint64_t *value)
{
	struct buf b = {0};
	int r = -1;
	if (host_readf(&b, "/proc/%d/stat", (int)pid) >= 0) {
		const char *f = strrchr(b.data, ')');
		for (unsigned i = 2; f && i < number; i++) {
			f = strchr(f, ' ');
			f = f ? f + 1 : NULL;
		}
		errno = f ? 0 : EINVAL;
		if (f) {
			*value = strtoull(f, NULL, 10);
			r = 0;
		}
	}
	int saved = errno;
	buf_fini(&b);
	errno = saved;
	return r;
}

int proc_start_ticks(pid_t pid, uint64_t *ticks)
{
	return stat_field(pid, 22, ticks);
}

ssize_t proc_cmdline(pid_t pid, char *text, size_t size)
{
	struct buf b = {0};
	ssize_t n = host_readf(&b, "/proc/%d/cmdline", (int)pid);
	if (n >= 0) {
		while (n > 0 && b.data[n - 1] == '\0')
			n--;
		n = n < (ssize_t)size ? n : (ssize_t)size - 1;
		for (ssize_t i = 0; i < n; i++)
			text[i] = b.data[i] ? b.data[i] : ' ';
		text[n] = '\0';
	}
	int saved = errno;
	buf_fini(&b);
	errno = saved;
	return n;
}

static int push(pid_t **pids, size_t n, pid_t pid)
{
	// Grows at powers of two: lists are short, processes few thousands.
	if ((n & (n - 1)) == 0) {
		pid_t *list = realloc(*pids, (n ? 2 * n : 1) * sizeof(*list));
		if (!list)
			return -1;
		*pids = list;
	}
	(*pids)[n] = pid;
	return 0;
}

ssize_t proc_list(pid_t **pids)
{
	DIR *dir = host_opendir("/proc");
	size_t n = 0;
	*pids = NULL;
	if (!dir)
		return -1;
	for (struct dirent *e; (e = readdir(dir));) {
		char *end;
		unsigned long pid = strtoul(e->d_name, &end, 10);
		if (*end || pid == 0 || pid > INT32_MAX)
			continue;
		if (push(pids, n, (pid_t)pid))
			break;
		n++;
	}
	closedir(dir);
	return (ssize_t)n;
}

struct family {
	pid_t pid, ppid;
};

// Parent of each process; one that vanishes meanwhile has none.
static struct family *families(const pid_t *pids, size_t n)
{
	struct family *f = calloc(n ? n : 1, sizeof(*f));
	for (size_t i = 0; f && i < n; i++) {
		uint64_t ppid = 0;
		stat_field(pids[i], 4, &ppid);
		f[i] = (struct family){pids[i], (pid_t)ppid};
	}
	return f;
}

ssize_t proc_tree(pid_t root, pid_t **pids)
{
	pid_t *all;
	*pids = NULL;
	ssize_t n = proc_list(&all);
	if (n < 0)
		return -1;
	struct family *f = families(all, (size_t)n);
	free(all);
	if (!f || push(pids, 0, root)) {
		free(f);
		return -1;
	}
	size_t have = 1;
	// Breadth first: each found process in turn takes its children.
	for (size_t k = 0; k < have; k++) {
		for (ssize_t i = 0; i < n; i++) {
			if (f[i].ppid != (*pids)[k] || f[i].pid == root || f[i].pid == 0)
				continue;
			if (push(pids, have, f[i].pid))
				break;
			have++;
			f[i].pid = 0;
		}
	}
	free(f);
	return (ssize_t)have;
}

ssize_t proc_find_ns_pid(pid_t ns_pid, pid_t **pids)
{
	pid_t *all;
	*pids = NULL;
	ssize_t n = proc_list(&all);
	size_t have = 0;
	if (n < 0)
		return -1;
	for (ssize_t i = 0; i < n; i++) {
		struct proc p;
		if (proc_read(&p, all[i]) || p.depth == 0 || p.ns_pid != ns_pid)
			continue;
		if (push(pids, have, p.pid))
			break;
		have++;
	}
	free(all);
	return (ssize_t)have;
}

// A recorded host brings its own /etc/passwd, or none: the names of this machine would be wrong
// there.
static bool recorded_name(uid_t uid, char *name, size_t size)
{
	int fd = host_open("/etc/passwd", 0);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
	bool found = false;
	for (struct passwd *pw; f && !found && (pw = fgetpwent(f));) {
		found = pw->pw_uid == uid;
		if (found)
			snprintf(name, size, "%s", pw->pw_name);
	}
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
	// Beyond 64 users on one machine the last entry is shared; the pointer stays valid, its
	// text changes.
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
