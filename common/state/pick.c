// Selection of processes; see pick.h.
#include "common/host/xalloc.h"
#include "common/state/pick.h"

#include "common/cli/err.h"
#include "common/cli/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void add(struct pick *p, const pid_t *pids, size_t n)
{
	p->pids = xreallocarray(p->pids, p->n + n + 1, sizeof(*pids));
	if (n)
		memcpy(p->pids + p->n, pids, n * sizeof(*pids));
	p->n += n;
}

// Adds the processes that `find` finds for a PID: its descendants, or, of a PID inside containers,
// the host's PIDs, one for each container that has it.
static int add_found(struct pick *p, ssize_t (*find)(pid_t pid, pid_t **pids), pid_t pid)
{
	pid_t *found = NULL;
	ssize_t n = find(pid, &found);
	if (n < 0)
		return err_sys(errno, NULL, "/proc");
	add(p, found, (size_t)n);
	free(found);
	return n || find != proc_find_ns_pid
		       ? GPQ_OK
		       : err_fail(GPQ_NOTFOUND, "without --ns-pid, PIDs are those of the host",
				  "pid %d: no container has a process with that PID", (int)pid);
}

static int by_number(const void *a, const void *b)
{
	pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;
	return ORDER(x, y);
}

static int collect_pids(struct pick *p)
{
	const struct pick_opts *o = p->opts;
	int status = GPQ_OK;
	if (!o->ns_pid)
		add(p, o->pids.v, o->pids.n);
	for (size_t i = 0; o->ns_pid && !status && i < o->pids.n; i++)
		status = add_found(p, proc_find_ns_pid, o->pids.v[i]);
	for (size_t i = 0, roots = o->tree ? p->n : 0; i < roots && !status; i++)
		status = add_found(p, proc_tree, p->pids[i]);
	if (p->n)
		qsort(p->pids, p->n, sizeof(*p->pids), by_number);
	return status;
}

int pick_init(struct pick *p, const struct pick_opts *opts, struct process_cache *processes)
{
	*p = (struct pick){.opts = opts, .processes = processes, .self = pid_of_self()};
	if ((opts->ns_pid || opts->tree) && !opts->pids.given)
		return err_fail(GPQ_USAGE, "add -p PID", "--%s says how to read -p",
				opts->ns_pid ? "ns-pid" : "tree");
	int status = GPQ_OK;
	if (opts->comm) {
		p->regex = xcalloc(1, sizeof(*p->regex));
		status = regex_init(p->regex, "--comm", opts->comm);
	}
	if (!status && opts->pids.given)
		status = collect_pids(p);
	return status;
}

void pick_fini(struct pick *p)
{
	if (p->regex)
		regex_fini(p->regex);
	free(p->regex);
	free(p->pids);
	*p = (struct pick){0};
}

static bool comm_matches(const struct pick *p, pid_t pid)
{
	const struct process_info *who = process_cache_get(p->processes, pid, PROCESS_STATUS);
	return !who->error && regex_matches(p->regex, who->proc.comm, strlen(who->proc.comm));
}

static bool container_matches(const struct pick *p, pid_t pid)
{
	const struct process_info *who = process_cache_get(p->processes, pid, PROCESS_CONTAINER);
	for (size_t i = 0; i < p->opts->containers.n; i++)
		if (container_is(&who->container, p->opts->containers.v[i]))
			return true;
	return false;
}

bool pick_keeps(const void *arg, pid_t pid)
{
	const struct pick *p = arg;
	if (pid == p->self)
		return false;
	if (p->opts->pids.given && !(p->n && bsearch(&pid, p->pids, p->n, sizeof(pid), by_number)))
		return false;
	if (p->regex && !comm_matches(p, pid))
		return false;
	return !p->opts->containers.n || container_matches(p, pid);
}

bool pick_asks(const struct pick *p)
{
	return p->opts->pids.given || p->opts->containers.n || p->opts->comm;
}

int pick_select_gpus(struct kfd_topology *t, const struct words *w)
{
	const char *bad = kfd_topology_select(t, w->v, w->n);
	return bad ? err_fail(GPQ_NOTFOUND, "gpq gpus lists them", "there is no GPU %s", bad)
		   : GPQ_OK;
}

bool pick_has_gpu(const struct kfd_topology *t, const struct words *w, uint64_t gpu_id)
{
	const struct kfd_gpu *g = t ? kfd_topology_find(t, gpu_id) : NULL;
	for (size_t i = 0; !t && i < w->n; i++) {
		uint64_t v;
		char *end;
		if ((parse_u64(w->v[i], &v) && v == gpu_id) ||
		    (strtoull(w->v[i], &end, 16) == gpu_id && !*end))
			return true;
	}
	return !w->n || (g && g->selected);
}
