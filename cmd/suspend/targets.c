// Finds the processes that the options select, and forms the request words; see targets.h.
#include "cmd/suspend/targets.h"

#include "cmd/command.h"
#include "common/host/xalloc.h"
#include "common/cli/text.h"
#include "common/host/container.h"
#include "common/host/proc.h"
#include "common/host/root.h"
#include "common/cli/out.h"
#include "common/state/queue_rows.h"
#include "common/kfd/topology.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Where no driver is, lists of its things are missing, too.
static int need_driver(void)
{
	struct kfd_failure f;

	if (host_access("/sys/class/kfd/kfd", F_OK) == 0)
		return 0;
	kfd_fail(&f, KFD_FAULT_NO_DRIVER);
	return err_fail((enum gpq_exit)f.status, NULL, "%s", f.text);
}

static void add(struct targets *t, pid_t pid)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->v[i].pid == pid)
			return;
	t->v = xreallocarray(t->v, t->n + 1, sizeof(*t->v));
	t->v[t->n++] = (struct target){.pid = pid, .pin.pidfd = -1, .link.fd = -1};
}

static bool has_kfd(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/class/kfd/kfd/proc/%d", (int)pid);
	return host_access(path, F_OK) == 0;
}

// Those of `root` and its descendants that have KFD open.
static int add_tree(struct targets *t, pid_t root)
{
	pid_t *pids = NULL;
	struct proc p;
	ssize_t n = proc_read(&p, root) == 0 ? proc_tree(root, &pids) : -1;
	size_t before = t->n;

	if (n < 0)
		return err_fail(GPQ_NOTFOUND, "gpq queues lists those that own queues",
				"pid %d: no such process", (int)root);
	for (ssize_t i = 0; i < n; i++)
		if (has_kfd(pids[i]))
			add(t, pids[i]);
	free(pids);
	if (t->n == before)
		return err_fail(GPQ_NOTFOUND, "gpq queues lists those that have",
				"pid %d: neither it nor a descendant has opened /dev/kfd",
				(int)root);
	return 0;
}

static int add_container(struct targets *t, const char *want)
{
	const struct kfd_procs_how how = {0};
	struct kfd_procs procs = {0};
	struct container c;
	size_t before = t->n;

	if (kfd_procs_read(&procs, &how) < 0)
		return err_sys(errno, NULL, "list the KFD processes");
	for (size_t i = 0; i < procs.nprocs; i++)
		if (container_of(&c, procs.procs[i].pid) && container_is(&c, want))
			add(t, procs.procs[i].pid);
	kfd_procs_fini(&procs);
	if (t->n == before)
		return err_fail(GPQ_NOTFOUND, "gpq queues -o +CONTAINER shows the containers",
				"container %s: no process in it has opened /dev/kfd", want);
	return 0;
}

static int find_processes(struct targets *t, const struct choice *c)
{
	int status = 0;

	for (size_t i = 0; i < c->pids.n && !status; i++)
		if (c->tree)
			status = add_tree(t, c->pids.v[i]);
		else
			add(t, c->pids.v[i]);
	if (!status && c->container)
		status = add_container(t, c->container);
	if (!status && t->n == 0)
		return err_fail(GPQ_NOTFOUND, NULL, "standard input names no process");
	return status;
}

// " queues=0,3"
static int queue_words(struct targets *t, const struct words *queues)
{
	uint64_t id;

	if (queues->n > KFD_MAX_QUEUES)
		return err_fail(GPQ_USAGE, NULL, "more than %u queues named", KFD_MAX_QUEUES);
	for (size_t i = 0; i < queues->n; i++) {
		if (!parse_u64(queues->v[i], &id) || id >= KFD_MAX_QUEUES)
			return err_fail(GPQ_USAGE, "ids go from 0 to 1023", "queue %s: no queue id",
					queues->v[i]);
		buf_printf(&t->words, "%s%u", i ? "," : " queues=", (unsigned)id);
		t->sel.ids[t->sel.num_ids++] = (uint32_t)id;
	}
	return 0;
}

// " gpus=41460"
static int gpu_words(struct targets *t, const struct words *gpus)
{
	struct kfd_topology topology;
	const char *bad, *before = " gpus=";
	int r;

	if (!gpus->n)
		return 0;
	r = kfd_topology_load(&topology, KFD_TOPOLOGY_BDF);
	if (r < 0)
		return err_sys(-r, NULL, "read the GPUs");
	bad = kfd_topology_select(&topology, gpus->v, gpus->n);
	for (size_t i = 0; !bad && i < topology.n; i++) {
		if (!topology.gpus[i].selected)
			continue;
		buf_printf(&t->words, "%s%u", before, (unsigned)topology.gpus[i].gpu_id);
		before = ",";
		if (t->sel.num_gpus < sizeof(t->sel.gpus) / sizeof(t->sel.gpus[0]))
			t->sel.gpus[t->sel.num_gpus++] = (uint32_t)topology.gpus[i].gpu_id;
	}
	r = bad ? err_fail(GPQ_NOTFOUND, "gpq gpus lists them", "no GPU %s", bad) : 0;
	kfd_topology_fini(&topology);
	return r;
}

// Ids count in each context anew, and only those of the primary one can be suspended.
static void add_queue(struct target *t, const struct kfd_selection *gpus, const struct queue_row *r)
{
	const struct kfd_queue_entry e = {.gpu_id = (uint32_t)r->gpu_id};

	if (r->context == U64_NULL) {
		buf_printf(&t->ids, "%s%u", t->ids.len ? "," : " queues=", (unsigned)r->qid);
		return;
	}
	if (!kfd_selected(gpus, &e))
		return;
	t->unreached = xreallocarray(t->unreached, t->num_unreached + 1, sizeof(*t->unreached));
	t->unreached[t->num_unreached++] = (struct kfd_queue){.context = (int32_t)r->context,
							      .qid = (uint32_t)r->qid,
							      .gpu_id = (uint32_t)r->gpu_id,
							      .type = KFD_QUEUE_COMPUTE};
}

static void choose_queue(struct target *t, const struct kfd_selection *gpus,
			 const struct queue_row *r, const struct prio_choice *c)
{
	enum kfd_answer3 fits = prio_fits(c, r->v[MQD_V_QUEUE_PRIO], r->v[MQD_V_PIPE_PRIO]);

	if (!r->type || strcmp(r->type, kfd_queue_type_name(KFD_QUEUE_COMPUTE)) != 0)
		err_note("pid %d: queue %u: SDMA queues have no priority, left out", (int)t->pid,
			 (unsigned)r->qid);
	else if (fits == KFD_ANSWER_UNKNOWN)
		err_warn("name it with -Q",
			 "pid %d: queue %u: its priority is not known for certain, left out",
			 (int)t->pid, (unsigned)r->qid);
	else if (fits == KFD_ANSWER_YES)
		add_queue(t, gpus, r);
}

static void choose_queues(struct targets *t, const struct queue_rows *q,
			  const struct prio_choice *c)
{
	for (size_t i = 0; i < t->n; i++) {
		struct target *v = &t->v[i];

		for (size_t k = 0; k < q->n; k++)
			if (q->rows[k].pid == v->pid && q->rows[k].qid != U64_NULL)
				choose_queue(v, &t->sel, &q->rows[k], c);
		if (!v->ids.len) {
			v->failed = true;
			kfd_fail(&v->failure,
				 v->num_unreached ? KFD_FAULT_UNREACHED : KFD_FAULT_NO_QUEUE);
		}
	}
}

static int prio_words(struct targets *t, const struct prio_choice *c)
{
	const struct queue_rows_how how = {.want = READ_MQD};
	struct process_cache processes = {0};
	struct queue_rows q = {0};
	int status = needs_check(NEED_DEBUGFS);

	if (status)
		return status;
	status = queue_rows_load(&q, &processes, &how);
	if (!status && q.mqds_error)
		status = err_sys(q.mqds_error, "priorities are in debugfs, which is for root",
				 "read the queue priorities");
	if (!status)
		status = prio_check(c, q.prio_written);
	if (!status)
		choose_queues(t, &q, c);
	queue_rows_fini(&q);
	process_cache_fini(&processes);
	return status;
}

int targets_find(struct targets *t, const struct choice *c)
{
	struct prio_choice prio;
	int status = 0;

	*t = (struct targets){0};
	if (!c->pids.given && !c->container)
		return err_fail(GPQ_USAGE, "-p PID, or --container ID; gpq queues shows them",
				"no process named");
	if (c->prio && c->queues.n)
		return err_fail(GPQ_USAGE, "choose one", "--queue and --prio exclude each other");
	status = prio_parse(&prio, c->prio);
	if (status)
		return status;
	if (c->container || c->tree || c->gpus.n || c->prio)
		status = need_driver();
	if (!status)
		status = find_processes(t, c);
	if (!status)
		status = queue_words(t, &c->queues);
	if (!status)
		status = gpu_words(t, &c->gpus);
	t->by_prio = c->prio != NULL;
	if (!status && c->prio)
		status = prio_words(t, &prio);
	return status;
}

void targets_find_unreached(struct targets *t)
{
	for (size_t i = 0; i < t->n && !t->by_prio; i++) {
		struct target *v = &t->v[i];
		ssize_t n = kfd_contexts_unreached(v->pid, &t->sel, &v->unreached);

		if (n < 0)
			err_note(
				"pid %d: secondary contexts cannot be seen from this PID namespace",
				(int)v->pid);
		v->num_unreached = n < 0 ? 0 : (size_t)n;
	}
}

void targets_fini(struct targets *t)
{
	for (size_t i = 0; i < t->n; i++) {
		free(t->v[i].unreached);
		free(t->v[i].seen);
		kfd_link_close(&t->v[i].link);
		kfd_target_unpin(&t->v[i].pin);
		buf_fini(&t->v[i].ids);
	}
	free(t->v);
	buf_fini(&t->words);
}

// A sentence of common/kfd has what to do next behind its last semicolon.
static int report(const struct target *v)
{
	const char *text = v->failure.text, *next = NULL;

	for (const char *p = text; (p = strstr(p, "; ")); p += 2)
		next = p + 2;
	return err_fail((enum gpq_exit)v->failure.status, next, "pid %d: %.*s", (int)v->pid,
			next ? (int)(next - text) - 2 : (int)strlen(text), text);
}

int targets_report(const struct targets *t)
{
	size_t failed = 0;
	int first = 0;

	for (size_t i = 0; i < t->n; i++) {
		const struct target *v = &t->v[i];

		if (!v->failed)
			continue;
		report(v);
		if (failed++ == 0)
			first = v->failure.status;
	}
	return failed && failed < t->n ? GPQ_PARTIAL : first;
}

// After so long a holder is looked at: stopped ones never answer.
#define STOPPED_MS 5000u

bool target_receive(struct target *t)
{
	if (kfd_link_receive(&t->link, STOPPED_MS, &t->failure) == 0)
		return true;
	if (t->failure.status != GPQ_DEADLINE)
		return false;
	if (kfd_holder_is_stopped(&t->link))
		return kfd_fail(&t->failure, KFD_FAULT_HOLDER_STOPPED) == 0;
	return kfd_link_receive(&t->link, KFD_ANSWER_MS - STOPPED_MS, &t->failure) == 0;
}
