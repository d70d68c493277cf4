// The part of a queue's row that comes from its MQD; see queue_rows.h.
//
// Facts: kfd-facts 5.1, 6, 8.
#include "common/state/queue_rows_priv.h"

#include "common/cli/err.h"
#include "common/cli/input.h"
#include "common/host/root.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MQDS "/sys/kernel/debug/kfd/mqds"
#define RLS  "/sys/kernel/debug/kfd/rls"

// --- loading ---

enum gfx_gen queue_rows_gen(const struct queue_rows *q, uint32_t gpu_id)
{
	const struct kfd_gpu *g = kfd_topology_find(&q->gpus, gpu_id);
	return g && g->gfx_target_version != KFD_UNKNOWN
		       ? gfx_gen_of((uint32_t)g->gfx_target_version)
		       : GFX_UNKNOWN;
}

static enum gfx_gen gen_of_gpu(const void *arg, uint32_t gpu_id)
{
	return queue_rows_gen(arg, gpu_id);
}

// Without a topology: by the look of this MQD, or, when it is damaged, of another one of the GPU.
static enum gfx_gen gen_of_mqd(const struct queue_rows *q, const struct mqd *m)
{
	enum gfx_gen gen = queue_rows_gen(q, m->gpu_id);
	if (gen == GFX_UNKNOWN)
		gen = mqd_guess_gen(&q->mqds, m);
	for (size_t i = 0; gen == GFX_UNKNOWN && i < q->mqds.nqueues; i++)
		if (q->mqds.queues[i].gpu_id == m->gpu_id)
			gen = mqd_guess_gen(&q->mqds, &q->mqds.queues[i]);
	return gen;
}

// Was anything in it what a dump of runlists has? Dumps of slots begin with the same line.
static bool is_rls(const struct rls *r)
{
	bool any = r->nprocesses || r->nqueues || !r->count.foreign;
	for (size_t i = 0; i < r->nnodes; i++)
		any |= r->nodes[i].state == RLS_NONE;
	return any;
}

int queue_rows_load_rls(struct queue_rows *q)
{
	uint64_t policy;
	const struct queue_rows_how *how = q->how;
	if (how->rls_file) {
		int status = input_read(&q->rls_text, how->rls_file);
		if (status)
			return status;
	} else if (how->mqds_file || host_read(&q->rls_text, RLS) <= 0 ||
		   (host_read_u64("/sys/module/amdgpu/parameters/sched_policy", &policy) == 0 &&
		    policy == 2)) // queues run without a scheduler, and so without runlists
		return GPQ_OK;
	const char *text = q->rls_text.data ? q->rls_text.data : "";
	if (rls_parse(&q->rls, text, q->rls_text.len))
		return err_sys(ENOMEM, NULL, RLS);
	if (!how->rls_file || is_rls(&q->rls))
		return GPQ_OK;
	return err_fail(GPQ_FAILED, "it must be a copy of " RLS,
			"%s: line %u is not in runlist-dump format", input_name(how->rls_file),
			q->rls.count.first_foreign);
}

static int summarize(struct queue_rows *q)
{
	struct residency_host host;
	size_t n = q->mqds.nqueues + 1;
	q->gens = calloc(n, sizeof(*q->gens));
	q->summaries = calloc(n, sizeof(*q->summaries));
	q->verdicts = calloc(n, sizeof(*q->verdicts));
	if (!q->gens || !q->summaries || !q->verdicts)
		return -1;
	for (size_t i = 0; i < q->mqds.nqueues; i++)
		q->gens[i] = gen_of_mqd(q, &q->mqds.queues[i]);
	q->prio_written = prio_written(&q->mqds, q->how->mqds_file ? NULL : &q->driver);
	int err = residency_init(&host, &q->mqds, q->gens, &q->rls, &q->gpus);
	for (size_t i = 0; !err && i < q->mqds.nqueues; i++) {
		const struct mqd *m = &q->mqds.queues[i];
		enum residency on = residency_judge(&host, m, q->gens[i]);
		q->verdicts[i] = (uint8_t)on;
		mqd_summarize(&q->summaries[i], &q->mqds, m, q->gens[i], (int)on);
		if (q->prio_written != KFD_ANSWER_YES)
			q->summaries[i].v[MQD_V_QUEUE_PRIO] = MQD_UNKNOWN;
	}
	residency_fini(&host);
	return err;
}

int queue_rows_load_mqds(struct queue_rows *q)
{
	const char *file = q->how->mqds_file;
	if (file) {
		int status = input_read(&q->text, file);
		if (status)
			return status;
	} else if (host_read(&q->text, MQDS) < 0) {
		q->mqds_error = errno;
		return errno == ENOMEM ? err_sys(ENOMEM, NULL, MQDS) : GPQ_OK;
	}
	q->mqds_error = 0;
	if (!file)
		kfd_procs_confirm(&q->procs);
	int status = queue_rows_load_rls(q);
	if (status)
		return status;
	if (mqds_parse(&q->mqds, q->text.data ? q->text.data : "", q->text.len) || summarize(q))
		return err_sys(ENOMEM, NULL, "%s", file ? file : MQDS);
	if (file && !q->mqds.nprocs && q->mqds.count.foreign)
		return err_fail(GPQ_FAILED, "it must be a copy of " MQDS,
				"%s: line %u is not in MQD-dump format", input_name(file),
				q->mqds.count.first_foreign);
	if (!file && join_all(&q->join, &q->procs, &q->mqds, &q->rls, gen_of_gpu, q))
		return err_sys(ENOMEM, NULL, "join of queues and MQDs");
	return GPQ_OK;
}

// --- filling rows ---

static void fill(struct queue_row *r, const struct mqd_summary *s)
{
	static const struct {
		size_t member;
		int value;
	} map[] = {
		{offsetof(struct queue_row, ring_addr), MQD_V_RING},
		{offsetof(struct queue_row, mqd_addr), MQD_V_BASE},
		{offsetof(struct queue_row, rptr_addr), MQD_V_RPTR_ADDR},
		{offsetof(struct queue_row, wptr_addr), MQD_V_WPTR_ADDR},
		{offsetof(struct queue_row, rptr), MQD_V_RPTR},
		{offsetof(struct queue_row, wptr), MQD_V_WPTR},
		{offsetof(struct queue_row, backlog), MQD_D_BACKLOG},
		{offsetof(struct queue_row, doorbell), MQD_V_DOORBELL},
		{offsetof(struct queue_row, prio), MQD_V_QUEUE_PRIO},
		{offsetof(struct queue_row, pipe_prio), MQD_V_PIPE_PRIO},
		{offsetof(struct queue_row, vmid), MQD_V_VMID},
		{offsetof(struct queue_row, xccs), MQD_D_XCCS},
		{offsetof(struct queue_row, ctx_addr), MQD_V_CTX_BASE},
		{offsetof(struct queue_row, ctx_bytes), MQD_V_CTX_BYTES},
		{offsetof(struct queue_row, saved_bytes), MQD_D_SAVED_BYTES},
		{offsetof(struct queue_row, read_index), MQD_V_READ_INDEX},
		{offsetof(struct queue_row, error), MQD_V_ERROR},
		{offsetof(struct queue_row, sdma_engine), MQD_V_SDMA_ENGINE},
		{offsetof(struct queue_row, sdma_rlc), MQD_V_SDMA_RLC},
	};
	for (size_t i = 0; i < sizeof(map) / sizeof(map[0]); i++)
		memcpy((char *)r + map[i].member, &s->v[map[i].value], sizeof(uint64_t));
	r->level = prio_level_name(r->pipe_prio);
	r->on_hw = s->v[MQD_D_ON_HW] > 1 ? -1 : (int8_t)s->v[MQD_D_ON_HW];
	if (s->v[MQD_V_AQL] != MQD_UNKNOWN)
		r->packets = s->v[MQD_V_AQL] ? "aql" : "pm4";
	if (r->ring_bytes == KFD_UNKNOWN)
		r->ring_bytes = s->v[MQD_V_RING_BYTES];
}

void queue_rows_fill_mqd(const struct queue_rows *q, struct queue_row *r, size_t mqd)
{
	r->mqd = (uint32_t)mqd;
	r->turns = q->verdicts[mqd] == RESIDENCY_TURNS;
	fill(r, &q->summaries[mqd]);
}

void queue_rows_fill_joined(const struct queue_rows *q, struct queue_row *r, size_t index)
{
	const struct join_queue *j = &q->join.queues[index];
	if (j->count == 1 || (q->how->likely && j->likely >= 0)) {
		r->match = j->why == JOIN_ORDER ? "order" : j->why == JOIN_ONLY ? "only" : "likely";
		queue_rows_fill_mqd(q, r, (size_t)j->likely);
		return;
	}
	if (!j->count)
		return;
	// What all that it could be have in common is certain all the same.
	const uint32_t *c = q->join.candidates + j->first;
	struct mqd_summary common = q->summaries[c[0]];
	r->turns = true;
	for (uint32_t i = 0; i < j->count; i++) {
		mqd_summary_agree(&common, &q->summaries[c[i]]);
		r->turns &= q->verdicts[c[i]] == RESIDENCY_TURNS;
	}
	fill(r, &common);
}

// --- explaining ---

// Who names a file wants to know that it is damaged; of a host's dump only -v tells.
static bool explain_dump(const struct queue_rows *q)
{
	const struct mqds *m = &q->mqds;
	const char *file = q->how->mqds_file;
	char text[5][100] = {"", "", "", "", ""};
	bool damaged = false;
	if (m->count.foreign)
		snprintf(text[0], sizeof(text[0]), "%u lines not understood, the first is line %u",
			 m->count.foreign, m->count.first_foreign);
	if (m->bad_words)
		snprintf(text[1], sizeof(text[1]),
			 "%u words are no 8 hex digits, what they hold is unknown", m->bad_words);
	if (m->lost_lines)
		snprintf(text[2], sizeof(text[2]), "%u lines are missing between others",
			 m->lost_lines);
	if (m->cut)
		snprintf(text[3], sizeof(text[3]), "%u MQDs are cut short", m->cut);
	if (m->no_gpu)
		snprintf(text[4], sizeof(text[4]), "%u queues do not tell their GPU", m->no_gpu);
	for (size_t i = 0; i < sizeof(text) / sizeof(text[0]); i++) {
		damaged |= *text[i] && file;
		if (*text[i] && file)
			err_warn(NULL, "%s: %s", input_name(file), text[i]);
		else if (*text[i])
			err_note(MQDS ": %s", text[i]);
	}
	if (file && !q->text.len)
		err_warn("or was copied without the right to read it",
			 "%s: empty: no process had KFD open", input_name(file));
	return damaged;
}

bool queue_rows_explain_rls(const struct queue_rows *q)
{
	const struct rls *r = &q->rls;
	const char *file = q->how->rls_file;
	if (r->count.foreign && file)
		err_warn(NULL, "%s: %u lines not understood, the first is line %u",
			 input_name(file), r->count.foreign, r->count.first_foreign);
	else if (r->count.foreign)
		err_note(RLS ": %u lines not understood, the first is line %u", r->count.foreign,
			 r->count.first_foreign);
	if (file && !q->rls_text.len)
		err_warn("or was copied without the right to read it",
			 "%s: empty: the host had no GPU", input_name(file));
	return r->count.foreign && file;
}

// One line a process and reason, with the queues it holds for.
static void explain_join(const struct queue_rows *q, const struct kfd_proc *proc, enum join_why why)
{
	struct buf b = {0};
	int32_t context = -1;
	for (uint32_t i = proc->queue; i < proc->queue + proc->queues; i++) {
		const struct join_queue *j = &q->join.queues[i];
		const struct kfd_queue *queue = &q->procs.queues[i];
		if (j->why != why || (q->how->likely && j->likely >= 0))
			continue;
		if (queue->context != context)
			buf_printf(&b, "%scontext %d: %u", b.len ? ", " : "", (int)queue->context,
				   queue->qid);
		else
			buf_printf(&b, "%s%u", b.len ? "," : "", queue->qid);
		context = queue->context;
	}
	if (b.len)
		err_note("pid %d: queue%s %s: %s%s", (int)proc->pid, strchr(b.data, ',') ? "s" : "",
			 b.data, join_why_text(why),
			 why == JOIN_AMBIGUOUS
				 ? "; shown is what they have in common, --likely takes the "
				   "likeliest"
				 : "");
	buf_fini(&b);
}

static void explain_onhw(const struct queue_rows *q)
{
	for (int why = RESIDENCY_UNKNOWN; why <= RESIDENCY_CONTRADICT; why++) {
		size_t n = 0;
		for (size_t i = 0; i < q->mqds.nqueues; i++)
			n += q->verdicts[i] == why && q->mqds.queues[i].kind == MQD_COMPUTE;
		if (n)
			err_note("on hardware or off: unknown for %zu compute queues: %s", n,
				 residency_text((enum residency)why));
	}
}

static void explain_off(const struct queue_rows *q)
{
	size_t n = 0;
	for (size_t i = 0; i < q->n; i++)
		n += q->rows[i].doubtful;
	if (n)
		err_note("off-hardware: %zu queues of processes that nobody traces: evicted, or "
			 "held "
			 "by a debugger that has detached: this driver %s",
			 n,
			 kfd_driver_fact(&q->driver, KFD_FACT_UNTRACED_DEBUGGER) == KFD_ANSWER_YES
				 ? "lets it hold on"
				 : "may let it hold on");
}

static void explain_prio(const struct queue_rows *q)
{
	size_t n = 0;
	for (size_t i = 0; i < q->mqds.nqueues; i++)
		n += q->mqds.queues[i].kind == MQD_COMPUTE;
	if (n && q->prio_written != KFD_ANSWER_YES)
		err_note("PRIO: unknown for %zu compute queues: %s; LEVEL is known", n,
			 q->prio_written == KFD_ANSWER_NO
				 ? "this driver does not write it into MQDs (Linux 7.0 and later)"
				 : "their MQDs do not tell whether the driver writes it");
}

bool queue_rows_explain(const struct queue_rows *q)
{
	if (q->foreign)
		err_note("KFD names processes by PIDs of the host, and this /proc has those of a "
			 "container: "
			 "names, users and containers are unknown");
	if (q->mqds_error && q->mqds_error != ENODATA)
		err_note(MQDS ": %s: what MQDs tell is unknown", strerror(q->mqds_error));
	queue_rows_explain_sysfs(q);
	bool damaged = explain_dump(q);
	damaged |= queue_rows_explain_rls(q);
	if (q->verdicts) {
		explain_onhw(q);
		explain_prio(q);
		explain_off(q);
	}
	for (size_t i = 0; q->join.queues && i < q->procs.nprocs; i++)
		for (int why = JOIN_AMBIGUOUS; why < JOIN_WHYS; why++)
			explain_join(q, &q->procs.procs[i], (enum join_why)why);
	for (size_t i = 0; i < q->procs.nprocs; i++)
		if (q->procs.procs[i].error)
			err_note("pid %d: queues: %s", (int)q->procs.procs[i].pid,
				 strerror(q->procs.procs[i].error));
	return damaged;
}
