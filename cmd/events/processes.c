// The processes that have KFD open, and which of them a message means; see events.h.
#include "cmd/events/events.h"

#define PROCS "/sys/class/kfd/kfd/proc"

// A process that ended can still be named by messages that were written before.
#define ENDED_NS 5000000000u

// A process can change its name (exec) and control group, so the selector is asked again.
#define AGAIN_NS 1000000000u

int processes_init(struct events *ev)
{
	ev->pids_are_host = pids_are_host();
	ev->self = ev->pids_are_host ? pid_of_self() : 0;
	return pick_init_watch(&ev->pick, &ev->opts->pick, &ev->cache);
}

void processes_fini(struct events *ev)
{
	pick_fini(&ev->pick);
	process_cache_fini(&ev->cache);
	free(ev->known);
}

// Reads names and container of a process. If they cannot be read any more, they stay as they were.
static void read_known(struct events *ev, struct known *k, uint64_t now)
{
	const struct process_info *p;
	k->looked_ns = now;
	process_cache_fini(&ev->cache);
	if (ev->pids_are_host) {
		p = process_cache_get(&ev->cache, k->pid, PROCESS_STATUS | PROCESS_CONTAINER);
		if (p->error) {
			k->ns_pid = k->ns_pid                                 ? k->ns_pid
				    : p->error == ENOENT || p->error == ESRCH ? -1
									      : 0;
			return;
		}
		k->ns_pid = p->proc.ns_pid;
		snprintf(k->comm, sizeof(k->comm), "%s", p->proc.comm);
		snprintf(k->container, sizeof(k->container), "%s", p->short_id);
		snprintf(k->container_id, sizeof(k->container_id), "%s", p->container.id);
		snprintf(k->pod, sizeof(k->pod), "%s", p->container.pod);
		snprintf(k->job, sizeof(k->job), "%s", p->container.job);
		k->uid = p->proc.uid;
	}
	k->fits = pick_keeps(&ev->pick, k->pid);
}

static struct known *find_known_process(struct events *ev, pid_t pid, ino_t folder)
{
	for (size_t i = 0; i < ev->nknown; i++)
		if (ev->known[i].pid == pid && ev->known[i].folder == folder)
			return &ev->known[i];
	return NULL;
}

static void add_known(struct events *ev, pid_t pid, ino_t folder, uint64_t now)
{
	struct known *k = ARRAY_ADD(ev->known, ev->cap_known, ev->nknown);
	*k = (struct known){.pid = pid, .folder = folder, .here = true, .uid = UINT64_MAX};
	read_known(ev, k, now);
	if (ev->looked_ns)
		events_set_process(events_row(ev, "kfd-open", "polled", now), k, 0);
}

void processes_look(struct events *ev)
{
	const uint64_t now = clock_ns();
	SCOPED(closedir_at) DIR *d = host_opendir(PROCS);
	bool fresh = false;
	pid_t pid;
	if (!d)
		return;
	for (size_t i = 0; i < ev->nknown; i++)
		ev->known[i].here = false;
	for (struct dirent *e; (e = host_readdir(d));) {
		struct known *k;
		if (!proc_parse_pid(e->d_name, &pid) || pid == ev->self)
			continue;
		k = find_known_process(ev, pid, e->d_ino);
		if (k) {
			k->here = true;
			continue;
		}
		if (!fresh)
			pick_renew(&ev->pick);
		fresh = true;
		add_known(ev, pid, e->d_ino, now);
	}
}

void processes_end(struct events *ev, uint64_t now)
{
	size_t n = 0;
	for (size_t i = 0; i < ev->nknown; i++) {
		struct known *k = &ev->known[i];
		if (!k->here && !k->ended_ns) {
			k->ended_ns = now;
			if (ev->looked_ns)
				events_set_process(events_row(ev, "kfd-close", "polled", now), k,
						   0);
		}
		if (!k->ended_ns || now - k->ended_ns < ENDED_NS)
			ev->known[n++] = *k;
	}
	ev->nknown = n;
}

const struct known *processes_of_pid(struct events *ev, pid_t pid)
{
	const struct known *latest = NULL; // of several the last one came last
	for (size_t i = 0; i < ev->nknown; i++) {
		struct known *k = &ev->known[i];
		if (k->pid != pid)
			continue;
		if (!k->ended_ns && clock_ns() - k->looked_ns >= AGAIN_NS)
			read_known(ev, k, clock_ns());
		latest = k;
	}
	return latest;
}

static const struct known *process_of_thread(struct events *ev, uint64_t tid)
{
	const struct known *k = processes_of_pid(ev, (pid_t)tid);
	for (size_t i = 0; !k && ev->pids_are_host && i < ev->nknown; i++) {
		const int pid = (int)ev->known[i].pid;
		if (!ev->known[i].ended_ns &&
		    host_access(PATH("/proc/%d/task/%d", pid, (int)tid), F_OK) == 0)
			k = &ev->known[i];
	}
	return k;
}

static const struct known *process_of_number(struct events *ev, uint64_t pid)
{
	struct kfd_smi_process *list = xreallocarray(NULL, ev->nknown + 1, sizeof(*list));
	const enum kfd_answer3 ns = kfd_driver_fact(&ev->driver, KFD_FACT_SMI_NS_PID);
	ssize_t found;
	for (size_t i = 0; i < ev->nknown; i++)
		list[i] = (struct kfd_smi_process){ev->known[i].pid, ev->known[i].ns_pid};
	found = kfd_smi_find(list, ev->nknown, pid, ns);
	free(list);
	return found < 0 ? NULL : processes_of_pid(ev, ev->known[found].pid);
}

const struct known *processes_of_message(struct events *ev, const struct kfd_smi_event *e)
{
	const bool thread = e->tid != KFD_UNKNOWN;
	const uint64_t number = thread ? e->tid : e->pid;
	const struct known *k;
	if (!number || number > INT32_MAX)
		return NULL;
	k = thread ? process_of_thread(ev, number) : process_of_number(ev, number);
	if (k || ev->looked_again)
		return k;
	ev->looked_again = true;
	processes_look(ev); // the process may have come since the last look
	return thread ? process_of_thread(ev, number) : process_of_number(ev, number);
}

// /proc/PID/status writes a newline in a name as "\n".
bool processes_name_has_newline(const struct events *ev, uint64_t tid)
{
	struct proc p;
	if (ev->pids_are_host && tid <= INT32_MAX && proc_read(&p, (pid_t)tid) == 0)
		return strstr(p.comm, "\\n");
	for (size_t i = 0; i < ev->nknown; i++)
		if ((uint64_t)ev->known[i].pid == tid && ev->known[i].comm[0])
			return strstr(ev->known[i].comm, "\\n");
	return true;
}
