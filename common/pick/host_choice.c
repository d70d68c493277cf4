// The selector applied to rows of queues; see host_choice.h.
#include "common/pick/host_choice.h"

#include "common/cli/err.h"

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

int picked_load(struct picked *p, const struct queue_rows_how *how)
{
	p->how = *how;
	p->how.keep = pick_keeps;
	p->how.arg = &p->pick;
	int status = pick_init(&p->pick, p->by.processes, &p->cache);
	status = status ? status : queue_rows_load(&p->rows, &p->cache, &p->how);
	if (!status && !how->mqds_file)
		status = pick_select_gpus(&p->rows.gpus, &p->by.queues->gpus);
	return status;
}

int picked_check_ids(const struct picked *p)
{
	struct pids pids = {0};
	for (size_t i = 0; i < p->rows.n && p->queues.n; i++)
		if (p->rows.rows[i].qid != KFD_UNKNOWN)
			pids_push(&pids, (pid_t)p->rows.rows[i].pid);
	const int status = pids.n ? pick_queues_check(&p->queues, &pids) : GPQ_OK;
	free(pids.v);
	return status;
}

enum kfd_answer3 picked_keeps(const struct picked *p, const struct queue_row *r)
{
	if (!pick_has_gpu(p->how.mqds_file ? NULL : &p->rows.gpus, &p->by.queues->gpus, r->gpu_id))
		return KFD_ANSWER_NO;
	return pick_queues_keeps(&p->queues, r);
}

void picked_fini(struct picked *p)
{
	pick_fini(&p->pick);
	pick_queues_fini(&p->queues);
	queue_rows_fini(&p->rows);
	process_cache_fini(&p->cache);
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
	if (unknown)
		err_note("--prio: %zu queues of unknown priority are left out", unknown);
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
