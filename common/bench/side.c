// Who belongs to a side; side.h.
#include "common/bench/side.h"

#include "common/cli/err.h"
#include "common/host/proc.h"
#include "common/host/xalloc.h"

#include <stdlib.h>
#include <string.h>

int side_add(struct side *s, const char *option, const char *text)
{
	// It points into itself: not moved again.
	struct side_spec *v = xcalloc(1, sizeof(*v));
	s->specs = xreallocarray(s->specs, s->n + 1, sizeof(v));
	s->specs[s->n++] = v;
	int status = pick_spec_parse(&v->spec, option, text);
	if (!status && (v->spec.queues.types.n || v->spec.queues.prio))
		status = err_fail(GPQ_USAGE, "choose by gpu= or queue=",
				  "%s: type and prio do not choose queues that come later", option);
	if (!status && !pick_asks(&v->spec.pick))
		status = err_fail(GPQ_USAGE, "for example container=train",
				  "%s: %s chooses no process", option, text);
	if (!status)
		status = pick_queues_init(&v->queues, &v->spec.queues);
	return status ? status : pick_queues_load_gpus(&v->queues, &v->gpus);
}

int side_add_pids(struct side *s, const char *option, const struct pids *pids)
{
	struct buf text = {0};
	struct proc p;
	int status = GPQ_OK;
	if (!pids->given)
		return GPQ_OK;
	for (size_t i = 0; i < pids->n && !status; i++) {
		if (proc_read(&p, pids->v[i]))
			status = err_fail(GPQ_NOTFOUND, "gpq queues shows who has queues",
					  "%s: pid %d: no such process", option, (int)pids->v[i]);
		buf_printf(&text, "%s%d", i ? "," : "pid=", (int)pids->v[i]);
	}
	if (!status && !pids->n)
		status = err_fail(GPQ_NOTFOUND, NULL, "%s: no process is named", option);
	if (!status)
		status = side_add(s, option, text.data);
	buf_fini(&text);
	return status;
}

void side_fini(struct side *s)
{
	for (size_t i = 0; i < s->n; i++) {
		pick_queues_fini(&s->specs[i]->queues);
		kfd_topology_fini(&s->specs[i]->gpus);
		pick_spec_fini(&s->specs[i]->spec);
		free(s->specs[i]);
	}
	free(s->specs);
	*s = (struct side){0};
}

struct pick *side_begin(const struct side *s, struct process_cache *processes)
{
	struct pick *picks = xcalloc(s->n + 1, sizeof(*picks));
	for (size_t i = 0; i < s->n; i++)
		if (pick_init(&picks[i], &s->specs[i]->spec.pick, processes))
			picks[i].opts = NULL; // it chooses nothing now
	return picks;
}

void side_end(const struct side *s, struct pick *picks)
{
	for (size_t i = 0; i < s->n; i++)
		pick_fini(&picks[i]);
	free(picks);
}

struct kfd_selection *side_select(const struct side *s, const struct pick *picks, pid_t pid)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct side_spec *v = s->specs[i];
		if (!picks[i].opts || !pick_keeps(&picks[i], pid))
			continue;
		struct kfd_selection *sel = xcalloc(1, sizeof(*sel));
		pick_queues_select(&v->queues, pid, &v->gpus, sel);
		if (!v->queues.n || sel->num_ids)
			return sel;
		free(sel);
	}
	return NULL;
}
