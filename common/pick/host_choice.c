// The selector applied to rows of queues; see host_choice.h.
#include "common/pick/host_choice.h"

#include "common/cli/text.h"
#include "common/cli/err.h"

// Returns the struct that has the option `name` as its member at `offset`; NULL: no such option.
static const void *struct_of_option(const struct opt_set *set, const char *name, size_t offset)
{
	const struct opt *o = opts_find(set->table, name, 0);
	return o ? (const char *)set->base + o->offset - offset : NULL;
}

int host_choice_check(const struct opt_set *sets)
{
	int status = GPQ_OK;
	for (; sets->table && !status; sets++) {
		if (!sets->base)
			continue;
		const struct pick_opts *processes =
			struct_of_option(sets, "ns-pid", offsetof(struct pick_opts, ns_pid));
		const struct pick_queues_opts *queues =
			struct_of_option(sets, "prio", offsetof(struct pick_queues_opts, prio));
		struct pick_queues parsed = {0};
		status = processes ? pick_check(processes) : GPQ_OK;
		status = !status && queues ? pick_queues_init(&parsed, queues) : status;
		pick_queues_fini(&parsed);
	}
	return status;
}

bool host_choice_asks(const struct host_choice *by)
{
	return pick_asks(by->processes) || pick_queues_asks(by->queues);
}

unsigned host_choice_reads(const struct host_choice *by)
{
	return (by->queues->prio ? READ_MQD : 0) | (by->queues->gpus.n ? READ_GPU | READ_BDF : 0) |
	       (by->queues->types.n ? READ_TYPE : 0);
}

void host_chosen(const struct queue_rows *q, struct pids *to)
{
	for (size_t i = 0; i < q->n; i++)
		if (!q->rows[i].hidden && q->rows[i].pid > 0)
			pids_push(to, (pid_t)q->rows[i].pid);
}

int picked_init(struct picked *p, struct host_choice by)
{
	p->by = by;
	return pick_queues_init(&p->queues, by.queues);
}

static bool picked_lists(const void *arg, pid_t pid)
{
	const struct picked *p = arg;
	return pick_keeps(&p->pick, pid) || pids_has(&p->more, pid);
}

// With --watch only once.
static void name_unused_words(struct picked *p)
{
	static bool told;
	struct pids chosen = {0};
	for (size_t i = 0; i < p->rows.procs.nprocs && !told; i++)
		if (!pids_has(&p->more, p->rows.procs.procs[i].pid))
			pids_push(&chosen, p->rows.procs.procs[i].pid);
	pick_name_unused(p->by.processes, &chosen, &p->cache);
	told |= chosen.n > 0;
	free(chosen.v);
}

int picked_load(struct picked *p, const struct queue_rows_how *how)
{
	p->how = *how;
	p->how.keep = picked_lists;
	p->how.arg = p;
	int status = pick_init(&p->pick, p->by.processes, &p->cache);
	if (!status && p->find_more)
		p->find_more(p);
	status = status ? status : queue_rows_load(&p->rows, &p->cache, &p->how);
	if (!status && !how->mqds_file)
		status = pick_select_gpus(&p->rows.gpus, &p->by.queues->gpus);
	if (!status)
		name_unused_words(p);
	return status;
}

int picked_report_none(const struct picked *p)
{
	const struct kfd_procs *procs = &p->rows.procs;
	bool any = false;
	for (size_t i = 0; i < procs->nprocs; i++) {
		if (pids_has(&p->more, procs->procs[i].pid))
			continue;
		any = true;
		if (procs->procs[i].error)
			return err_sys(procs->procs[i].error, NULL, "pid %d: its queues in sysfs",
				       (int)procs->procs[i].pid);
	}
	for (size_t i = 0; i < p->rows.n; i++)
		if (!pids_has(&p->more, (pid_t)p->rows.rows[i].pid))
			return err_fail(
				GPQ_NOTFOUND,
				"without -Q, --gpu, --type and --prio all of theirs are shown",
				"the processes that the options choose own no such queue");
	if (any)
		return err_fail(GPQ_NOTFOUND, "gpq ps -a shows them",
				"the processes that the options choose own no queue");
	if (!pids_are_host())
		return err_fail(GPQ_NOTFOUND, "run gpq on the host",
				"the options choose nobody: KFD has PIDs of the host, and /proc "
				"those of a container");
	return err_fail(GPQ_NOTFOUND, "gpq ps -a lists those that have",
			"no process that the options choose has opened /dev/kfd");
}

int picked_check_ids(const struct picked *p)
{
	struct pids pids = {0};
	for (size_t i = 0; i < p->rows.n && p->queues.n; i++)
		if (p->rows.rows[i].qid != KFD_UNKNOWN &&
		    !pids_has(&p->more, (pid_t)p->rows.rows[i].pid))
			pids_push(&pids, (pid_t)p->rows.rows[i].pid);
	const int status = pids.n ? pick_queues_check(&p->queues, &pids) : GPQ_OK;
	free(pids.v);
	return status;
}

enum kfd_answer3 picked_keeps(const struct picked *p, const struct queue_row *r)
{
	if (pids_has(&p->more, (pid_t)r->pid) ||
	    !pick_has_gpu(p->how.mqds_file ? NULL : &p->rows.gpus, &p->by.queues->gpus, r->gpu_id))
		return KFD_ANSWER_NO;
	return pick_queues_keeps(&p->queues, r);
}

static void note_unknown_prio(size_t queues)
{
	if (queues)
		err_note("--prio: left out: %zu queue%s of unknown priority", queues,
			 text_s(queues));
}

int picked_hide(struct picked *p)
{
	size_t unknown = 0;
	int status = picked_check_ids(p);
	status = status ? status : pick_queues_check_prio(&p->queues, &p->rows);
	for (size_t i = 0; i < p->rows.n && !status; i++) {
		const enum kfd_answer3 keeps = picked_keeps(p, &p->rows.rows[i]);
		p->rows.rows[i].hidden = keeps != KFD_ANSWER_YES;
		unknown += keeps == KFD_ANSWER_UNKNOWN;
	}
	note_unknown_prio(unknown);
	return status;
}

void picked_fini(struct picked *p)
{
	pick_fini(&p->pick);
	pick_queues_fini(&p->queues);
	queue_rows_fini(&p->rows);
	process_cache_fini(&p->cache);
	free(p->more.v);
}

// -Q ID needs a single process. -Q PID:ID is not checked: the process may be in another snapshot.
static int check_bare_ids(const struct queue_rows *q, const struct pick_queues *queues)
{
	struct pids pids = {0};
	bool bare = false;
	for (size_t i = 0; i < queues->n; i++)
		bare |= !queues->named[i].pid;
	if (bare)
		host_chosen(q, &pids);
	const int status = pids.n > 1 ? pick_queues_check(queues, &pids) : GPQ_OK;
	free(pids.v);
	return status;
}

static void hide_queues(struct queue_rows *q, const struct pick_queues *queues)
{
	const struct words *gpus = &queues->opts->gpus;
	size_t unknown = 0;
	for (size_t i = 0; i < q->n; i++) {
		struct queue_row *r = &q->rows[i];
		if (r->hidden)
			continue;
		const enum kfd_answer3 fits = pick_queues_keeps(queues, r);
		const bool there = r->qid != KFD_UNKNOWN || !queues->n;
		r->hidden = fits != KFD_ANSWER_YES || !there ||
			    (r->qid == KFD_UNKNOWN && !r->type) ||
			    !pick_has_gpu(&q->gpus, gpus, r->gpu_id);
		unknown += fits == KFD_ANSWER_UNKNOWN;
	}
	note_unknown_prio(unknown);
}

int host_choose(struct queue_rows *q, const struct host_choice *by)
{
	SCOPED(pick_fini) struct pick pick = {0};
	SCOPED(pick_queues_fini) struct pick_queues queues;
	int status = pick_queues_init(&queues, by->queues);
	status = status ? status : pick_init(&pick, by->processes, q->processes);
	for (size_t i = 0; i < q->n && !status && pick_asks(by->processes); i++)
		q->rows[i].hidden = !pick_keeps(&pick, (pid_t)q->rows[i].pid);
	status = status ? status : pick_select_gpus(&q->gpus, &by->queues->gpus);
	status = status ? status : check_bare_ids(q, &queues);
	status = status ? status : pick_queues_check_prio(&queues, q);
	if (!status && pick_queues_asks(by->queues))
		hide_queues(q, &queues);
	return status;
}

int host_choice_found(const struct host_choice *by, const struct pids *found, const char *where)
{
	const struct pick_opts *o = by->processes;
	const bool named = o->pids.given && !o->ns_pid && !o->tree;
	enum { MESSAGES = 20 };
	size_t missing = 0;
	for (size_t i = 0; i < o->pids.n && named; i++)
		if (!pids_has(found, o->pids.v[i]) && ++missing <= MESSAGES)
			err_fail(GPQ_NOTFOUND, NULL,
				 "pid %d: the options choose nothing of it in %s",
				 (int)o->pids.v[i], where);
	if (missing > MESSAGES)
		err_warn(NULL, "so it is with %zu more PIDs", missing - MESSAGES);
	if (missing)
		return found->n ? GPQ_PARTIAL : GPQ_NOTFOUND;
	if (found->n || !host_choice_asks(by))
		return GPQ_OK;
	return err_fail(GPQ_NOTFOUND, "gpq queues -a shows whom they can choose",
			"the options choose nothing in %s", where);
}
