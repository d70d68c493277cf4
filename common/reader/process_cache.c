// Processes read once; see process_cache.h.
#include "common/reader/whose.h"
#include "common/reader/reader.h"
#include "common/host/root.h"

#include <search.h>

COMPARE_BY(by_pid, struct process_info, pid)

const struct process_info *process_cache_get(struct process_cache *p, pid_t pid, unsigned want)
{
	const struct process_info key = {.pid = pid};
	void *at = tfind(&key, &p->tree, by_pid);
	struct process_info *one = at ? *(struct process_info **)at : xmemdup(&key, sizeof(key));
	if (!at)
		xcheck(tsearch(one, &p->tree, by_pid));
	want &= ~one->have;
	one->have |= want;
	if (want & PROCESS_STATUS)
		one->error = proc_read(&one->proc, pid) ? errno : 0;
	if (want & PROCESS_CONTAINER) {
		container_of(&one->container, pid);
		const char *id = one->container.id;
		snprintf(one->short_id, sizeof(one->short_id), "%.*s", strlen(id) == 64 ? 12 : 15,
			 id);
	}
	if ((want & PROCESS_CMDLINE) && proc_cmdline(pid, one->cmdline, sizeof(one->cmdline)) < 0)
		one->cmdline[0] = '\0';
	return one;
}

struct whose whose_of(struct process_cache *processes, pid_t pid)
{
	const struct process_info *p =
		process_cache_get(processes, pid, PROCESS_STATUS | PROCESS_CONTAINER);
	struct whose w = {0};
	if (!p->error && p->proc.uid != UINT64_MAX)
		w.user = proc_user(p->proc.uid);
	if (*p->container.id)
		w.container = p->short_id;
	if (*p->container.pod)
		w.pod = p->container.pod;
	if (*p->container.job)
		w.job = p->container.job;
	return w;
}

void process_cache_fini(struct process_cache *p)
{
	tdestroy(p->tree, free);
	p->tree = NULL;
}

pid_t pid_of_self(void)
{
	char text[32];
	if (!host_is_live() || host_readlink("/proc/self", text, sizeof(text)) <= 0)
		return 0;
	return (pid_t)strtol(text, NULL, 10);
}

bool pids_are_host(void)
{
	char ns[64];
	struct proc self;
	// The initial PID namespace has a fixed inode (PROC_PID_INIT_INO, include/linux/proc_ns.h).
	if (!host_is_live())
		return true;
	if (host_readlink("/proc/self/ns/pid", ns, sizeof(ns)) <= 0)
		return false; // unknown: debugfs may name other processes
	if (strcmp(ns, "pid:[4026531836]") == 0)
		return true;
	// gpq is not in the initial namespace, but /proc belongs to an outer one if NSpid has
	// several numbers.
	return proc_read(&self, pid_of_self()) == 0 && self.depth > 0;
}
