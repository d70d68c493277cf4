// Finding processes that have opened KFD; newcomers.h.
#include "common/pick/newcomers.h"

#include "common/host/proc.h"
#include "common/host/root.h"
#include "common/kfd/smi.h"
#include "common/kfd/topology.h"

#include <sys/stat.h>

#define PROCS    "/sys/class/kfd/kfd/proc"
#define AGAIN_NS 1000000000u // time between two looks at a process that does not fit
#define POLL_NS  10000000u   // time between newcomers_poll() calls, which look at LOOKS processes
enum { AT_ONCE = 64, LOOKS = 64 };

void newcomers_init(struct newcomers *n)
{
	int *fds;
	const size_t num = kfd_smi_open_all(KFD_SMI_BIT(KFD_SMI_PROCESS_START), &fds);
	n->events.fd = -1;
	if (num)
		loop_open(&n->events);
	for (size_t i = 0; i < num; i++)
		loop_add(&n->events, fds[i], (uint64_t)fds[i], LOOP_READ);
	free(fds);
}

void newcomers_fini(struct newcomers *n)
{
	loop_close(&n->events);
	free(n->v);
	*n = (struct newcomers){.events.fd = -1};
}

void newcomers_drain(const struct newcomers *n)
{
	struct epoll_event ready[AT_ONCE];
	char text[8192];
	const int num = n->events.fd < 0 ? 0 : loop_wait(&n->events, ready, AT_ONCE, LOOP_NOW);
	for (int i = 0; i < num; i++)
		while (read((int)ready[i].data.u64, text, sizeof(text)) > 0)
			;
}

static const struct newcomer *find_newcomer(const struct newcomers *n, pid_t pid, ino_t folder)
{
	for (size_t i = 0; i < n->n; i++)
		if (n->v[i].pid == pid && n->v[i].folder == folder)
			return &n->v[i];
	return NULL;
}

static bool newcomer_is_due(const struct newcomer *c, uint64_t now_ns)
{
	return c->owns && !c->done && (!c->looked_ns || now_ns - c->looked_ns >= AGAIN_NS);
}

// The link count of a sysfs folder is 2 + its subfolders: one call, whatever the number of queues.
static bool owns_queue(pid_t pid)
{
	struct stat st;
	return stat(PATH(PROCS "/%d/queues", (int)pid), &st) == 0 && st.st_nlink > 2;
}

bool newcomers_poll(struct newcomers *n, uint64_t now_ns)
{
	const size_t from = n->at;
	unsigned left = n->next_ns ? LOOKS : UINT_MAX; // the first call looks at all processes
	bool any = false;
	n->next_ns = UINT64_MAX;
	for (size_t i = 0; i < n->n; i++) {
		struct newcomer *c = &n->v[(from + i) % n->n];
		if (!c->owns && left) {
			left--;
			n->at = (from + i + 1) % n->n;
			c->owns = owns_queue(c->pid);
		}
		if (!c->owns)
			n->next_ns = now_ns + POLL_NS;
		any |= newcomer_is_due(c, now_ns);
	}
	return any;
}

bool newcomers_scan(struct newcomers *n, uint64_t now_ns)
{
	SCOPED(closedir_at) DIR *d = host_opendir(PROCS);
	struct newcomer *list = NULL;
	size_t num = 0, room = 0;
	pid_t pid;
	if (!d)
		return false;
	for (struct dirent *e; (e = host_readdir(d));) {
		if (!proc_parse_pid(e->d_name, &pid))
			continue;
		const struct newcomer *old = find_newcomer(n, pid, e->d_ino);
		ARRAY_GROW(list, room, num);
		list[num++] =
			old ? *old
			    : (struct newcomer){.pid = pid, .folder = e->d_ino, .owns = !n->wait};
	}
	free(n->v);
	n->v = list;
	n->n = num;
	return newcomers_poll(n, now_ns);
}

bool newcomer_take(struct newcomer *c, uint64_t now_ns)
{
	if (!newcomer_is_due(c, now_ns))
		return false;
	c->looked_ns = now_ns;
	return true;
}
