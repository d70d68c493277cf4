// Adds MQDs to the rows of queues, and explains what is unknown; see queue_rows.h.
//
// Facts: [debugfs.mqds-order], [debugfs.mqd-stale], [debugfs.join].
#include "common/rows/queue_rows.h"
#include "common/reader/reader.h"

#include "common/cli/err.h"
#include "common/cli/input.h"
#include "common/cli/text.h"
#include "common/host/root.h"

// --- loading MQDs and runlists ---

enum gfx_gen queue_rows_gen(const struct queue_rows *q, uint32_t gpu_id)
{
	const struct kfd_gpu *g = kfd_topology_find(&q->gpus, gpu_id);
	return g && g->gfx_target_version != KFD_UNKNOWN
		       ? gfx_gen_of((uint32_t)g->gfx_target_version)
		       : GFX_UNKNOWN;
}

// Returns the generation of an MQD's GPU. Without a topology it is guessed from this MQD or, if
// this MQD is damaged, from another one of the GPU.
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

// Was this parsed from a dump of runlists? Dumps of hardware slots begin with the same line.
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
	} else if (how->mqds_file || reader_read(&q->rls_text, RLS_PATH) <= 0 ||
		   (host_read_u64("/sys/module/amdgpu/parameters/sched_policy", &policy) == 0 &&
		    policy == 2)) // queues run without a scheduler, and so without runlists
		return GPQ_OK;
	rls_parse(&q->rls, q->rls_text.data ? q->rls_text.data : "", q->rls_text.len);
	if (!how->rls_file || is_rls(&q->rls))
		return GPQ_OK;
	return err_fail(GPQ_FAILED, "it must be a copy of " RLS_PATH,
			"%s: line %u is not in runlist-dump format", input_name(how->rls_file),
			q->rls.count.first_foreign);
}

int host_lacks_dump(const char *path, int error)
{
	const char *in = host_only_dumps(), *name = basename(path);
	if (!in)
		return err_sys(error, "root can read it where debugfs is mounted", "%s", path);
	return err_sys(error, "save a copy of that file of /sys/kernel/debug/kfd there, too",
		       "%s: %s or %s.txt", in, name, name);
}

static void summarize_mqds(struct queue_rows *q)
{
	size_t n = q->mqds.nqueues + 1;
	q->gens = xcalloc(n, sizeof(*q->gens));
	q->summaries = xcalloc(n, sizeof(*q->summaries));
	q->verdicts = xcalloc(n, sizeof(*q->verdicts));
	q->cu_masks = xcalloc(n, sizeof(*q->cu_masks));
	for (size_t i = 0; i < q->mqds.nqueues; i++)
		q->gens[i] = gen_of_mqd(q, &q->mqds.queues[i]);
	q->prio_written = prio_written(&q->mqds, q->how->mqds_file ? NULL : &q->driver);
	residency_judge(q->verdicts, &q->mqds, q->gens, &q->rls, &q->gpus);
	for (size_t i = 0; i < q->mqds.nqueues; i++) {
		mqd_summarize(&q->summaries[i], &q->mqds, &q->mqds.queues[i], q->gens[i],
			      q->verdicts[i]);
		if (q->prio_written != KFD_ANSWER_YES)
			q->summaries[i].v[MQD_V_QUEUE_PRIO] = MQD_UNKNOWN;
		cu_mask_read(&q->cu_masks[i], &q->mqds, &q->mqds.queues[i],
			     q->summaries[i].v[MQD_D_XCCS],
			     kfd_topology_find(&q->gpus, q->mqds.queues[i].gpu_id));
	}
}

int queue_rows_load_mqds(struct queue_rows *q)
{
	const char *file = q->how->mqds_file;
	if (file) {
		int status = input_read(&q->text, file);
		if (status)
			return status;
	} else if (reader_read(&q->text, MQDS_PATH) < 0) {
		q->mqds_error = errno;
		return host_only_dumps() ? host_lacks_dump(MQDS_PATH, q->mqds_error) : GPQ_OK;
	}
	q->mqds_error = 0;
	if (!file)
		kfd_procs_confirm(&q->procs);
	int status = queue_rows_load_rls(q);
	if (status)
		return status;
	mqds_parse(&q->mqds, q->text.data ? q->text.data : "", q->text.len);
	summarize_mqds(q);
	if (file && !q->mqds.nprocs && q->mqds.count.foreign)
		return err_fail(GPQ_FAILED, "it must be a copy of " MQDS_PATH,
				"%s: line %u is not in MQD-dump format", input_name(file),
				q->mqds.count.first_foreign);
	if (!file)
		join_all(&q->join, &q->procs, &q->mqds, q->gens, &q->rls);
	return GPQ_OK;
}

// --- filling rows ---

void queue_row_name_values(struct queue_row *r)
{
	r->level = prio_level_name(r->v[MQD_V_PIPE_PRIO]);
	r->on_hw = r->v[MQD_D_ON_HW] > 1 ? -1 : (int8_t)r->v[MQD_D_ON_HW];
	r->packets = r->v[MQD_V_AQL] == MQD_UNKNOWN ? NULL : r->v[MQD_V_AQL] ? "aql" : "pm4";
}

static void fill_mqd_values(struct queue_row *r, const struct mqd_summary *s)
{
	const uint64_t ring_bytes = r->v[MQD_V_RING_BYTES];
	memcpy(r->v, s->v, sizeof(r->v));
	if (ring_bytes != KFD_UNKNOWN)
		r->v[MQD_V_RING_BYTES] = ring_bytes;
	queue_row_name_values(r);
}

void queue_row_set_cu_mask(const struct queue_rows *q, struct queue_row *r, uint32_t mqd)
{
	const struct cu_mask *c = &q->cu_masks[mqd];
	r->cu_mask = c->mask;
	r->cus_on = *c->on ? c->on : NULL;
}

static void fill_certain_mqd(const struct queue_rows *q, struct queue_row *r, uint32_t mqd)
{
	r->mqd.index = mqd;
	r->mqd.turns = q->verdicts[mqd] == RESIDENCY_TURNS;
	fill_mqd_values(r, &q->summaries[mqd]);
	queue_row_set_cu_mask(q, r, mqd);
}

const char *queue_rows_sdma_type(const struct queue_rows *q, uint32_t gpu_id, uint64_t engine)
{
	const struct kfd_gpu *g = kfd_topology_find(&q->gpus, gpu_id);
	const bool known = g && engine != KFD_UNKNOWN && g->sdma_engines != KFD_UNKNOWN &&
			   g->sdma_xgmi != KFD_UNKNOWN;
	return known && g->sdma_xgmi && engine >= g->sdma_engines ? "sdma-xgmi" : "sdma";
}

const char *queue_rows_mqd_type(const struct queue_rows *q, uint32_t mqd)
{
	switch (q->mqds.queues[mqd].kind) {
	case MQD_COMPUTE: return "compute";
	case MQD_DIQ: return "diq";
	case MQD_SDMA:
		return queue_rows_sdma_type(q, q->mqds.queues[mqd].gpu_id,
					    q->summaries[mqd].v[MQD_V_SDMA_ENGINE]);
	default: return NULL;
	}
}

void queue_row_set_mqd(const struct queue_rows *q, struct queue_row *r, uint32_t mqd)
{
	r->type = queue_rows_mqd_type(q, mqd);
	queue_row_set_gpu(q, r, q->mqds.queues[mqd].gpu_id);
	fill_certain_mqd(q, r, mqd);
}

bool queue_row_is_aql(const struct queue_row *r)
{
	return r->packets && strcmp(r->packets, "aql") == 0;
}

bool queue_row_is_sdma(const struct queue_row *r)
{
	return r->type && strncmp(r->type, "sdma", 4) == 0;
}

uint64_t queue_row_waiting(const struct queue_row *r, uint64_t rptr, uint64_t wptr)
{
	const uint64_t bytes = r->v[MQD_V_RING_BYTES];
	const uint64_t ring = queue_row_is_sdma(r) ? bytes : bytes / 4;
	if (bytes == MQD_UNKNOWN || !ring || rptr == MQD_UNKNOWN || wptr == MQD_UNKNOWN)
		return MQD_UNKNOWN;
	return (wptr - rptr) & (ring - 1); // ring sizes are powers of two
}

uint64_t queue_row_taken(const struct queue_row *r, uint64_t rptr, uint64_t wptr, bool whole_wptr)
{
	const uint64_t waiting = queue_row_waiting(r, rptr, wptr);
	return !whole_wptr || waiting > wptr ? MQD_UNKNOWN : wptr - waiting;
}

bool queue_row_indices(const struct queue_row *r, uint64_t rptr, uint64_t wptr, bool whole_wptr,
		       uint64_t *read, uint64_t *write)
{
	const uint64_t unit = queue_row_unit(r),
		       taken = queue_row_is_sdma(r) ? rptr
						    : queue_row_taken(r, rptr, wptr, whole_wptr);
	*read = taken == MQD_UNKNOWN ? MQD_UNKNOWN : taken / unit;
	*write = wptr == MQD_UNKNOWN ? MQD_UNKNOWN : wptr / unit;
	return *read != MQD_UNKNOWN && *write != MQD_UNKNOWN;
}

void queue_rows_fill_joined(const struct queue_rows *q, struct queue_row *r, size_t index)
{
	const struct join_queue *j = &q->join.queues[index];
	if (j->count == 1 || (q->how->likely && j->likely >= 0)) {
		r->mqd.match = j->why == JOIN_ORDER  ? "order"
			       : j->why == JOIN_ONLY ? "only"
						     : "likely";
		fill_certain_mqd(q, r, (uint32_t)j->likely);
		return;
	}
	if (!j->count)
		return;
	// A value that all candidate MQDs agree on is certain.
	const uint32_t *c = q->join.candidates + j->first;
	struct mqd_summary common = q->summaries[c[0]];
	r->mqd.turns = true;
	queue_row_set_cu_mask(q, r, c[0]);
	for (uint32_t i = 0; i < j->count; i++) {
		const char *mask = q->cu_masks[c[i]].mask;
		mqd_summary_agree(&common, &q->summaries[c[i]]);
		if (!mask || !r->cu_mask || strcmp(mask, r->cu_mask) != 0)
			r->cu_mask = r->cus_on = NULL;
		r->mqd.turns &= q->verdicts[c[i]] == RESIDENCY_TURNS;
	}
	fill_mqd_values(r, &common);
}

// --- explaining unknown values ---

// Notes how many queues have no value from a sysfs file that was wanted. Those of a copy of mqds
// have no qid.
static void explain_sysfs(const struct queue_rows *q)
{
	static const struct {
		unsigned want;
		const char *what, *file, *rest;
	} files[] = {
		{READ_GPU, "GPU", "gpuid", " or holds no number"},
		{READ_SIZE, "RING", "size", " or holds no number"},
		{READ_TYPE, "TYPE", "type", ", or a number newer than this gpq"},
	};
	size_t n[] = {0, 0, 0};
	for (size_t i = 0; i < q->n; i++) {
		const struct queue_row *r = &q->rows[i];
		const bool queue = r->qid != KFD_UNKNOWN;
		n[0] += queue && r->gpu_id == KFD_UNKNOWN;
		n[1] += queue && r->v[MQD_V_RING_BYTES] == KFD_UNKNOWN;
		n[2] += queue && !r->type;
	}
	for (size_t f = 0; f < COUNT(files); f++)
		if (n[f] && q->how->want & files[f].want)
			err_note("%s: unknown for %zu queue%s: sysfs file %s is missing, "
				 "unreadable%s",
				 files[f].what, n[f], text_s(n[f]), files[f].file, files[f].rest);
}

// Reports damage of a dump: as a warning if the user named the file, else as a note for -v. Returns
// whether it was a warning.
static bool dump_fault(const char *file, const char *path, unsigned n, const char *noun,
		       const char *what)
{
	if (file)
		err_warn(NULL, "%s: %u %s%s%s", input_name(file), n, noun, text_s(n), what);
	else
		err_note("%s: %u %s%s%s", path, n, noun, text_s(n), what);
	return file != NULL;
}

bool dump_explain(const char *file, const char *path, const struct dump_count *lines,
		  unsigned bad_words, size_t len, const char *meaning)
{
	char first[64];
	bool damaged = false;
	snprintf(first, sizeof(first), " not understood, the first is line %u",
		 lines->first_foreign);
	if (lines->foreign)
		damaged |= dump_fault(file, path, lines->foreign, "line", first);
	if (bad_words)
		damaged |= dump_fault(file, path, bad_words, "word",
				      " not of 8 hex digits, so that what it means is unknown");
	if (file && !len)
		err_warn("or was copied without the right to read it", "%s: empty: %s",
			 input_name(file), meaning);
	return damaged;
}

static bool explain_dump(const struct queue_rows *q)
{
	const struct mqds *m = &q->mqds;
	const char *file = q->how->mqds_file;
	const struct {
		unsigned n;
		const char *noun, *what;
	} faults[] = {{m->lost_lines, "line", " missing between others"},
		      {m->cut, "MQD", " cut short"},
		      {m->no_gpu, "queue", " without a GPU"}};
	bool damaged = dump_explain(file, MQDS_PATH, &m->count, m->bad_words, q->text.len,
				    "no process had KFD open");
	for (size_t i = 0; i < COUNT(faults); i++)
		if (faults[i].n)
			damaged |= dump_fault(file, MQDS_PATH, faults[i].n, faults[i].noun,
					      faults[i].what);
	return damaged;
}

bool queue_rows_explain_rls(const struct queue_rows *q)
{
	return dump_explain(q->how->rls_file, RLS_PATH, &q->rls.count, 0, q->rls_text.len,
			    "the host had no GPU");
}

// Notes, in one line, the queues of a process whose MQDs are unknown for this reason.
static void explain_join(const struct queue_rows *q, const struct kfd_proc *proc, enum join_why why)
{
	SCOPED(buf_fini) struct buf b = {0};
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
}

static void explain_onhw(const struct queue_rows *q)
{
	for (int why = RESIDENCY_UNKNOWN; why <= RESIDENCY_CONTRADICT; why++) {
		size_t n = 0;
		for (size_t i = 0; i < q->mqds.nqueues; i++)
			n += q->verdicts[i] == why && q->mqds.queues[i].kind == MQD_COMPUTE;
		if (n)
			err_note("on hardware or off: unknown for %zu compute queue%s: %s", n,
				 text_s(n), residency_text((enum residency)why));
	}
}

static void explain_off(const struct queue_rows *q)
{
	size_t n = 0;
	for (size_t i = 0; i < q->n; i++)
		n += q->rows[i].doubtful;
	if (n)
		err_note("off-hardware: %zu queue%s of processes that nobody traces: evicted, or "
			 "held "
			 "by a debugger that has detached: this driver %s",
			 n, text_s(n),
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
		err_note("PRIO: unknown for %zu compute queue%s: %s; LEVEL is known", n, text_s(n),
			 q->prio_written == KFD_ANSWER_NO
				 ? "this driver does not write it into MQDs (Linux 7.0 and later)"
				 : "their MQDs do not tell whether the driver writes it");
}

bool queue_rows_explain(const struct queue_rows *q)
{
	if (q->foreign)
		err_note("%s: names, users and containers are unknown",
			 host_only_dumps()
				 ? "the recorded host has no sysfs and /proc, only dumps of debugfs"
				 : "KFD names processes by PIDs of the host, and this /proc has "
				   "those of a container");
	if (q->mqds_error && q->mqds_error != ENODATA)
		err_note(MQDS_PATH ": %s: what MQDs tell is unknown", strerror(q->mqds_error));
	explain_sysfs(q);
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
