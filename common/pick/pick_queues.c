// Selection of queues; see pick_queues.h.
#include "common/pick/pick_queues.h"

#include "common/cli/err.h"
#include "common/cli/text.h"
#include "common/pick/pick.h"

static int bad_queue(const char *word)
{
	return err_fail(GPQ_USAGE, "ids go from 0 to 1023, gpq queues shows them",
			"queue %s: neither ID nor PID:ID", word);
}

static int parse_queue_ids(struct pick_queues *p, const struct words *w)
{
	if (w->n > KFD_MAX_QUEUES)
		return err_fail(GPQ_USAGE, NULL, "more than %u queues named", KFD_MAX_QUEUES);
	p->named = w->n ? xcalloc(w->n, sizeof(*p->named)) : NULL;
	for (size_t i = 0; i < w->n; i++) {
		const char *word = w->v[i], *colon = strchr(word, ':');
		char pid_word[16] = "";
		uint64_t pid = 0, id;
		if (colon && colon - word < (ptrdiff_t)sizeof(pid_word))
			memcpy(pid_word, word, (size_t)(colon - word));
		if (colon && (!parse_u64(pid_word, &pid) || !pid || pid > INT32_MAX))
			return bad_queue(word);
		if (!parse_u64(colon ? colon + 1 : word, &id) || id >= KFD_MAX_QUEUES)
			return bad_queue(word);
		p->named[p->n++] = (struct named_queue){(pid_t)pid, (uint32_t)id};
	}
	return GPQ_OK;
}

static int check_type_words(const struct words *w)
{
	static const char *const types[] = {"compute", "sdma", "sdma-xgmi", NULL};
	for (size_t i = 0; i < w->n; i++) {
		const char *const *t = types;
		while (*t && strcmp(*t, w->v[i]) != 0)
			t++;
		if (*t)
			continue;
		const char *guess = text_suggest(w->v[i], types);
		return err_fail(GPQ_USAGE, "it is one of compute, sdma, sdma-xgmi",
				"--type %s: no such type%s%s", w->v[i],
				guess ? ", did you mean " : "", guess ? guess : "");
	}
	return GPQ_OK;
}

int pick_queues_init(struct pick_queues *p, const struct pick_queues_opts *opts)
{
	*p = (struct pick_queues){.opts = opts};
	int status = parse_queue_ids(p, &opts->ids);
	status = status ? status : check_type_words(&opts->types);
	status = status ? status : prio_parse(&p->prio, opts->prio);
	if (status)
		pick_queues_fini(p);
	return status;
}

void pick_queues_fini(struct pick_queues *p)
{
	free(p->named);
	*p = (struct pick_queues){0};
}

bool pick_queues_asks(const struct pick_queues_opts *o)
{
	return o->ids.n || o->gpus.n || o->types.n || o->prio;
}

int pick_queues_check(const struct pick_queues *p, const struct pids *pids)
{
	for (size_t i = 0; i < p->n; i++) {
		const struct named_queue *q = &p->named[i];
		if (!q->pid && pids->n > 1)
			return err_fail(GPQ_USAGE, "-Q PID:ID says of which",
					"queue %u: %zu processes are chosen, and each counts its "
					"queues anew",
					(unsigned)q->id, pids->n);
		if (q->pid && !pids_has(pids, q->pid))
			return err_fail(GPQ_USAGE, "add it to -p",
					"queue %d:%u: process %d is not chosen", (int)q->pid,
					(unsigned)q->id, (int)q->pid);
	}
	return GPQ_OK;
}

int pick_queues_check_prio(const struct pick_queues *p, const struct queue_rows *q)
{
	if (!p->opts->prio)
		return GPQ_OK;
	if (!q->mqds_error)
		return q->mqds.nqueues ? prio_check(&p->prio, q->prio_written) : GPQ_OK;
	return err_sys(q->mqds_error,
		       "priorities are in MQDs, which root can read where debugfs is mounted",
		       "--prio: /sys/kernel/debug/kfd/mqds");
}

static bool is_named_by_id(const struct pick_queues *p, const struct queue_row *r)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->named[i].id == r->qid && (!p->named[i].pid || p->named[i].pid == r->pid))
			return true;
	return !p->n;
}

static bool has_type(const struct words *types, const char *type)
{
	for (size_t i = 0; i < types->n; i++)
		if (type && strcmp(types->v[i], type) == 0)
			return true;
	return !types->n;
}

enum kfd_answer3 pick_queues_keeps(const struct pick_queues *p, const struct queue_row *r)
{
	if (!is_named_by_id(p, r) || !has_type(&p->opts->types, r->type))
		return KFD_ANSWER_NO;
	return p->opts->prio ? prio_fits(&p->prio, r->v[MQD_V_QUEUE_PRIO], r->v[MQD_V_PIPE_PRIO])
			     : KFD_ANSWER_YES;
}

int pick_queues_load_gpus(const struct pick_queues *p, struct kfd_topology *t)
{
	*t = (struct kfd_topology){0};
	if (!p->opts->gpus.n)
		return GPQ_OK;
	int r = kfd_topology_load(t, KFD_TOPOLOGY_BDF);
	return r < 0 ? err_sys(-r, NULL, "read the GPUs") : pick_select_gpus(t, &p->opts->gpus);
}

void pick_queues_select(const struct pick_queues *p, pid_t pid, const struct kfd_topology *t,
			struct kfd_selection *sel)
{
	sel->num_ids = sel->num_gpus = 0;
	for (size_t i = 0; i < p->n; i++)
		if (!p->named[i].pid || p->named[i].pid == pid)
			sel->ids[sel->num_ids++] = p->named[i].id;
	for (size_t i = 0; i < t->n && p->opts->gpus.n && sel->num_gpus < COUNT(sel->gpus); i++)
		if (t->gpus[i].selected)
			sel->gpus[sel->num_gpus++] = (uint32_t)t->gpus[i].gpu_id;
}
