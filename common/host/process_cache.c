// Processes read once; see process_cache.h.
#include "common/host/process_cache.h"

#include "common/host/buf.h"
#include "common/host/root.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Place of pid in the sorted list: where it is, or where it belongs.
static size_t place(const struct process_cache *p, pid_t pid)
{
	size_t lo = 0, hi = p->n;
	while (lo < hi) {
		size_t mid = (lo + hi) / 2;
		if (p->slots[mid].pid < pid)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static struct process_info *insert(struct process_cache *p, size_t at, pid_t pid)
{
	struct process_info *one =
		ARRAY_GROW(p->slots, p->cap, p->n) ? NULL : calloc(1, sizeof(*one));
	if (!one)
		return NULL;
	one->pid = pid;
	memmove(p->slots + at + 1, p->slots + at, (p->n - at) * sizeof(*p->slots));
	p->slots[at] = (struct process_slot){pid, one};
	p->n++;
	return one;
}

static void shorten(struct process_info *one)
{
	const char *id = one->container.id;
	bool digits = strlen(id) == 64;
	snprintf(one->short_id, sizeof(one->short_id), "%.*s", digits ? 12 : 15, id);
}

const struct process_info *process_cache_get(struct process_cache *p, pid_t pid, unsigned want)
{
	size_t at = place(p, pid);
	struct process_info *one = at < p->n && p->slots[at].pid == pid ? p->slots[at].info : NULL;
	if (!one)
		one = insert(p, at, pid);
	if (!one)
		return NULL;
	want &= ~one->have;
	one->have |= want;
	if (want & PROCESS_STATUS)
		one->error = proc_read(&one->proc, pid) ? errno : 0;
	if (want & PROCESS_CONTAINER) {
		container_of(&one->container, pid);
		shorten(one);
	}
	if ((want & PROCESS_CMDLINE) && proc_cmdline(pid, one->cmdline, sizeof(one->cmdline)) < 0)
		one->cmdline[0] = '\0';
	return one;
}

void process_cache_fini(struct process_cache *p)
{
	for (size_t i = 0; i < p->n; i++)
		free(p->slots[i].info);
	free(p->slots);
	*p = (struct process_cache){0};
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
	if (!host_is_live() || host_readlink("/proc/self/ns/pid", ns, sizeof(ns)) <= 0 ||
	    strcmp(ns, "pid:[4026531836]") == 0)
		return true;
	// Not in the initial namespace, but /proc belongs to an outer one when it has more than one
	// pid for us.
	return proc_read(&self, pid_of_self()) == 0 && self.depth > 0;
}
