// Hardware slots, and the queue and process of each; see slot_rows.h.
#include "common/slots/slot_rows.h"
#include "common/reader/reader.h"

#include "common/cli/err.h"
#include "common/cli/input.h"
#include "common/cli/text.h"
#include "common/host/root.h"

COMPARE_BY_BOTH(by_mqd_address, struct hqd_key, gpu_id, base)

static void index_mqds(struct slot_rows *l)
{
	const struct mqds *m = &l->queues.mqds;
	l->keys = xcalloc(m->ndumps + 1, sizeof(*l->keys));
	l->row_of_mqd = xmalloc((m->nqueues + 1) * sizeof(*l->row_of_mqd));
	memset(l->row_of_mqd, 0xff, (m->nqueues + 1) * sizeof(*l->row_of_mqd));
	for (uint32_t i = 0; i < m->nqueues; i++) {
		const struct mqd *q = &m->queues[i];
		// MQDs of SDMA queues do not hold their own address: mqd_get() fails.
		for (unsigned x = 0; x < q->dumps; x++) {
			struct hqd_key key = {.gpu_id = q->gpu_id, .mqd = i};
			if (mqd_get(m, q, l->queues.gens[i], x, MQD_V_BASE, &key.base))
				l->keys[l->nkeys++] = key;
		}
	}
	qsort(l->keys, l->nkeys, sizeof(*l->keys), by_mqd_address);
	for (uint32_t i = 0; i < l->queues.n; i++)
		if (l->queues.rows[i].mqd.index != UINT32_MAX)
			l->row_of_mqd[l->queues.rows[i].mqd.index] = i;
}

uint32_t slot_rows_mqd_at(const struct slot_rows *l, uint32_t gpu_id, uint64_t base)
{
	const struct hqd_key key = {.gpu_id = gpu_id, .base = base};
	const struct hqd_key *k =
		l->nkeys ? bsearch(&key, l->keys, l->nkeys, sizeof(key), by_mqd_address) : NULL;
	return k ? k->mqd : UINT32_MAX;
}

pid_t slot_rows_pid(const struct slot_rows *l, uint32_t mqd)
{
	const struct mqds *m = &l->queues.mqds;
	return m->procs[m->queues[mqd].proc].pid;
}

const struct queue_row *slot_rows_queue(const struct slot_rows *l, uint32_t mqd)
{
	uint32_t i = l->row_of_mqd[mqd];
	return i == UINT32_MAX ? NULL : &l->queues.rows[i];
}

enum gfx_gen slot_rows_gen(const struct slot_rows *l, uint32_t gpu_id)
{
	enum gfx_gen gen = queue_rows_gen(&l->queues, gpu_id);
	const struct mqds *m = &l->queues.mqds;
	for (size_t i = 0; gen == GFX_UNKNOWN && i < l->hqds.nnodes; i++)
		if (l->hqds.nodes[i].gpu_id == gpu_id)
			gen = hqd_guess_gen(&l->hqds, &l->hqds.nodes[i]);
	if (queue_rows_gen(&l->queues, gpu_id) != GFX_UNKNOWN)
		return gen;
	// Only MQDs tell a GPU with several XCCs (one dump for each) and gfx12 (by SDMA MQDs).
	for (size_t i = 0; i < m->nqueues; i++) {
		const struct mqd *q = &m->queues[i];
		if (q->gpu_id != gpu_id)
			continue;
		if (q->kind == MQD_COMPUTE && q->dumps > 1)
			return GFX940;
		if (gen == GFX_UNKNOWN || (gen == GFX11 && l->queues.gens[i] == GFX12))
			gen = l->queues.gens[i];
	}
	return gen;
}

// --- a slot: where it is, and its values ---

enum { HQ_STATUS0 = 160, QUEUE_IDLE = 1u << 30 }; // MQD dword of a register, and a bit in it

static void fill_slot_place(const struct slot_rows *l, struct hqd_row *r, const struct hqd *s)
{
	const uint32_t gpu_id = l->hqds.nodes[s->node].gpu_id;
	r->q.type = s->kind == HQD_HIQ  ? "hiq"
		    : s->kind == HQD_CP ? "compute"
					: queue_rows_sdma_type(&l->queues, gpu_id, s->pipe);
	r->pipe = s->pipe;
	r->queue = s->queue;
	if (s->kind != HQD_SDMA)
		// Kernels up to 6.4 name no XCC, since their GPUs have one.
		r->xcc = s->xcc < 0 ? 0 : (uint64_t)s->xcc;
	if (s->kind == HQD_HIQ)
		r->mec = s->mec;
	else if (s->kind == HQD_CP)
		r->mec = 1; // all of KFD's slots are on MEC 1 [debugfs.hqds-slots]
	if (s->kind == HQD_HIQ)
		snprintf(r->slot, sizeof(r->slot), "hiq");
	else
		snprintf(r->slot, sizeof(r->slot), s->kind == HQD_SDMA ? "e%ur%u" : "p%uq%u",
			 s->pipe, s->queue);
}

static uint64_t slot_value(const struct hqd_row *r, enum mqd_value what)
{
	uint64_t v;
	return mqd_source_get(&r->from, what, &v) ? v : KFD_UNKNOWN;
}

static void fill_slot_values(const struct slot_rows *l, struct hqd_row *r)
{
	const bool sdma = queue_row_is_sdma(&r->q);
	uint64_t *v = r->q.v;
	uint32_t status;
	for (int i = 0; i < MQD_VALUES; i++)
		v[i] = slot_value(r, (enum mqd_value)i);
	if (!l->has_prios)
		v[MQD_V_QUEUE_PRIO] = MQD_UNKNOWN;
	queue_row_name_values(&r->q);
	if (strcmp(r->q.type, "compute") != 0)
		r->q.level = NULL;
	if (!sdma && mqd_source_word(&r->from, HQ_STATUS0, &status))
		r->idle = (status & QUEUE_IDLE) != 0;
	v[MQD_D_BACKLOG] = queue_row_waiting(&r->q, v[MQD_V_RPTR], v[MQD_V_WPTR]);
	if (v[MQD_D_BACKLOG] != MQD_UNKNOWN)
		v[MQD_D_BACKLOG] /= queue_row_unit(&r->q);
	if (v[MQD_V_ERROR] != MQD_UNKNOWN)
		reg_error_text(r->errors, (uint32_t)v[MQD_V_ERROR]);
}

// --- the queue and process of a slot ---

static void fill_slot_owner(const struct slot_rows *l, struct queue_row *r)
{
	const struct queue_row *q = slot_rows_queue(l, r->mqd.index);
	if (q) {
		r->qid = q->qid;
		r->context = q->context;
		r->now.holder = q->now.holder;
	}
	queue_row_set_cu_mask(&l->queues, r, r->mqd.index);
	queue_row_set_process(&l->queues, r, slot_rows_pid(l, r->mqd.index));
}

void slot_rows_set_mqd(const struct slot_rows *l, struct queue_row *r, uint32_t mqd)
{
	queue_row_set_mqd(&l->queues, r, mqd);
	fill_slot_owner(l, r);
}

// Finds an MQD by ring and doorbell: processes may have rings at one address, doorbells are unique.
static uint32_t find_by_ring(const struct slot_rows *l, const struct queue_row *r)
{
	const struct mqds *m = &l->queues.mqds;
	const uint64_t ring = r->v[MQD_V_RING], doorbell = r->v[MQD_V_DOORBELL];
	enum mqd_kind kind = queue_row_is_sdma(r) ? MQD_SDMA : MQD_COMPUTE;
	for (uint32_t i = 0; i < m->nqueues; i++) {
		const uint64_t *v = l->queues.summaries[i].v;
		if (m->queues[i].kind == kind && m->queues[i].gpu_id == r->gpu_id &&
		    v[MQD_V_RING] == ring && v[MQD_V_DOORBELL] == doorbell && ring != MQD_UNKNOWN &&
		    doorbell != MQD_UNKNOWN)
			return i;
	}
	return UINT32_MAX;
}

// The driver reuses the memory of MQDs: one at the slot's address that has another ring is the MQD
// of an earlier or a later queue.
void slot_rows_find_owner(struct slot_rows *l, struct hqd_row *r)
{
	const uint64_t base = r->q.v[MQD_V_BASE];
	uint32_t at = base == MQD_UNKNOWN || r->q.gpu_id == KFD_UNKNOWN
			      ? UINT32_MAX
			      : slot_rows_mqd_at(l, (uint32_t)r->q.gpu_id, base);
	r->q.mqd.index = UINT32_MAX;
	if (at == UINT32_MAX) {
		r->q.mqd.index = find_by_ring(l, &r->q);
		r->match = r->q.mqd.index == UINT32_MAX ? NULL : "ring";
	} else if (l->queues.summaries[at].v[MQD_V_RING] == r->q.v[MQD_V_RING]) {
		r->q.mqd.index = at;
		r->match = "mqd";
	} else {
		l->torn++;
	}
	if (r->q.mqd.index != UINT32_MAX)
		fill_slot_owner(l, &r->q);
}

// --- making rows ---

static void clear_slot_row(struct hqd_row *r, const struct mqd_source *from)
{
	*r = (struct hqd_row){.xcc = KFD_UNKNOWN,
			      .mec = KFD_UNKNOWN,
			      .pipe = KFD_UNKNOWN,
			      .queue = KFD_UNKNOWN,
			      .active = -1,
			      .idle = -1,
			      .from = *from};
	queue_row_clear(&r->q);
}

// True if the queue that an SDMA slot shows is gone: slots keep ring and doorbell of the last
// queue, and then no MQD has both [debugfs.sdma-slot-stale].
static bool is_left_over(const struct slot_rows *l, const struct hqd_row *slot)
{
	struct queue_row r = slot->q;
	if (slot->from.s->kind != HQD_SDMA || !l->has_mqds)
		return false;
	r.v[MQD_V_RING] = slot_value(slot, MQD_V_RING);
	r.v[MQD_V_DOORBELL] = slot_value(slot, MQD_V_DOORBELL);
	return find_by_ring(l, &r) == UINT32_MAX;
}

bool slot_row_is_unused(const struct hqd_row *r)
{
	return r->from.s && r->from.s->kind == HQD_HIQ && gfx_caps(r->from.gen)->mes;
}

static void fill_slot(struct slot_rows *l, struct hqd_row *r, const struct hqd *s)
{
	const struct hqds_node *node = &l->hqds.nodes[s->node];
	clear_slot_row(r, &(struct mqd_source){.h = &l->hqds,
					       .s = s,
					       .gen = l->gens[s->node],
					       .sdma = s->kind == HQD_SDMA});
	queue_row_set_gpu(&l->queues, &r->q, node->gpu_id);
	if (r->q.gpu.node == KFD_UNKNOWN && node->node != UINT32_MAX)
		r->q.gpu.node = node->node;
	fill_slot_place(l, r, s);
	if (slot_row_is_unused(r))
		return;
	r->active = (int8_t)hqd_in_use(&l->hqds, s, r->from.gen);
	if (r->active == 1 && is_left_over(l, r))
		r->active = 0;
	if (r->active != 1)
		return;
	fill_slot_values(l, r);
	if (s->kind == HQD_HIQ)
		return;
	slot_rows_find_owner(l, r);
	l->ownerless += r->q.mqd.index == UINT32_MAX;
}

static void fill_mqd(struct slot_rows *l, struct hqd_row *r, uint32_t index, unsigned xcc)
{
	const struct mqd *q = &l->queues.mqds.queues[index];
	uint64_t active;
	clear_slot_row(r, &(struct mqd_source){.m = &l->queues.mqds,
					       .q = q,
					       .gen = slot_rows_gen(l, q->gpu_id),
					       .xcc = xcc,
					       .sdma = q->kind == MQD_SDMA});
	slot_rows_set_mqd(l, &r->q, index);
	if (q->kind == MQD_SDMA) {
		r->pipe = slot_value(r, MQD_V_SDMA_ENGINE);
		r->queue = slot_value(r, MQD_V_SDMA_RLC);
	} else {
		r->xcc = xcc;
	}
	if (mqd_source_get(&r->from, MQD_V_ACTIVE, &active))
		r->active = (int8_t)active;
	fill_slot_values(l, r);
}

static void make_slot_rows(struct slot_rows *l)
{
	const struct mqds *m = &l->queues.mqds;
	const bool memory = l->how->memory;
	enum kfd_answer3 prios = l->has_mqds ? l->queues.prio_written : KFD_ANSWER_UNKNOWN;
	// The MQDs tell whether priorities are written; slots are asked only if those do not.
	if (prios == KFD_ANSWER_UNKNOWN)
		prios = prio_written_slots(&l->hqds);
	l->has_prios = prios == KFD_ANSWER_YES;
	free(l->gens);
	l->gens = xcalloc(l->hqds.nnodes + 1, sizeof(*l->gens));
	for (size_t i = 0; i < l->hqds.nnodes; i++)
		l->gens[i] = slot_rows_gen(l, l->hqds.nodes[i].gpu_id);
	l->rows = xcalloc((memory ? m->ndumps : l->hqds.nslots) + 1, sizeof(*l->rows));
	for (uint32_t i = 0; memory && i < m->nqueues; i++)
		for (unsigned x = 0; x < m->queues[i].dumps; x++)
			fill_mqd(l, &l->rows[l->n++], i, x);
	for (size_t i = 0; !memory && i < l->hqds.nslots; i++)
		fill_slot(l, &l->rows[l->n++], &l->hqds.slots[i]);
}

// --- loading queues, MQDs and slots ---

static int load_queues(struct slot_rows *l, struct process_cache *processes)
{
	const struct slot_rows_how *how = l->how;
	struct queue_rows *q = &l->queues;
	l->queues_how = (struct queue_rows_how){.want = READ_GPU | READ_BDF | READ_TYPE |
							READ_SIZE | READ_PASID | READ_STATUS |
							READ_CONTAINER | READ_MQD | READ_HOLDER,
						.mqds_file = how->mqds_file,
						.rls_file = how->rls_file,
						.likely = how->likely};
	const bool lacks = !l->captured && host_only_dumps() && host_access(MQDS_PATH, F_OK) != 0;
	if ((!l->captured && !lacks) || how->mqds_file)
		return queue_rows_load(q, processes, &l->queues_how);
	// Without a dump of MQDs no queue is known.
	q->how = &l->queues_how;
	q->mqds_error = lacks ? ENOENT : ENODATA;
	return how->rls_file || lacks ? queue_rows_load_rls(q) : GPQ_OK;
}

static int load_slots(struct slot_rows *l)
{
	const char *file = l->how->hqds_file;
	int status = file ? input_read(&l->text, file) : GPQ_OK;
	if (status || (l->captured && !file))
		return status;
	if (!file && reader_read(&l->text, HQDS_PATH) < 0)
		return host_lacks_dump(HQDS_PATH, errno);
	hqds_parse(&l->hqds, l->text.data ? l->text.data : "", l->text.len);
	if (file && l->hqds.count.foreign && !l->hqds.nslots)
		return err_fail(GPQ_FAILED, "it must be a copy of " HQDS_PATH,
				"%s: line %u is not in slot-dump format", input_name(file),
				l->hqds.count.first_foreign);
	return GPQ_OK;
}

int slot_rows_load(struct slot_rows *l, struct process_cache *processes,
		   const struct slot_rows_how *how)
{
	l->how = how;
	l->captured = how->hqds_file || how->mqds_file || how->rls_file;
	int status = load_queues(l, processes);
	l->has_mqds = !status && !l->queues.mqds_error;
	if (!status && !how->memory)
		status = load_slots(l);
	if (status)
		return status;
	index_mqds(l);
	make_slot_rows(l);
	return GPQ_OK;
}

static void free_slot_rows(struct slot_rows *l)
{
	free(l->rows);
	l->n = l->ownerless = l->torn = 0;
}

void slot_rows_reload(struct slot_rows *l, const char *text, size_t len)
{
	free_slot_rows(l);
	hqds_parse(&l->hqds, text, len);
	make_slot_rows(l);
}

void slot_rows_fini(struct slot_rows *l)
{
	free_slot_rows(l);
	free(l->keys);
	free(l->row_of_mqd);
	free(l->gens);
	hqds_fini(&l->hqds);
	buf_fini(&l->text);
	queue_rows_fini(&l->queues);
	*l = (struct slot_rows){0};
}

// --- explaining unknown values ---

static void explain_rows(const struct slot_rows *l)
{
	size_t unclear = 0, mes = 0, gen = 0, qids = 0;
	for (size_t i = 0; i < l->n; i++) {
		const struct hqd_row *r = &l->rows[i];
		bool hiq = r->from.s && r->from.s->kind == HQD_HIQ;
		gen += r->from.gen == GFX_UNKNOWN;
		mes += slot_row_is_unused(r);
		unclear += !hiq && r->active < 0 && r->from.gen != GFX_UNKNOWN;
		qids += r->q.pid != INT64_MIN && r->q.qid == KFD_UNKNOWN;
	}
	if (l->how->memory) // rows of MQDs: only the note on queue ids applies
		gen = mes = unclear = 0;
	if (gen)
		err_note("%zu slot%s %s of GPUs of unknown generation: only raw registers can be "
			 "shown",
			 gen, text_s(gen), text_are(gen));
	if (mes)
		err_note("%zu HIQ slot%s: the MES firmware uses none, the content means "
			 "nothing",
			 mes, text_s(mes));
	if (unclear)
		err_note("ACTIVE: unknown for %zu slot%s: the register that tells is not in the "
			 "dump",
			 unclear, text_s(unclear));
	if (l->ownerless && l->has_mqds)
		err_note("PID: unknown for %zu slot%s: mqds has no such queue (%zu: at the address "
			 "of its MQD there is one with another ring): it came or went between the "
			 "two dumps",
			 l->ownerless, text_s(l->ownerless), l->torn);
	if (qids && !l->captured && !host_only_dumps())
		err_note("QID: unknown for %zu row%s: gpq queues -v tells why; --likely takes the "
			 "likeliest",
			 qids, text_s(qids));
}

bool slot_rows_explain(const struct slot_rows *l)
{
	for (size_t i = 0; i < l->hqds.nnodes; i++)
		if (l->hqds.nodes[i].stopped)
			err_warn(NULL,
				 "GPU %x: device is stopped (suspended, resetting, or without "
				 "scheduler): it has no slots to read",
				 l->hqds.nodes[i].gpu_id);
	bool damaged = !l->how->memory &&
		       dump_explain(l->how->hqds_file, HQDS_PATH, &l->hqds.count, l->hqds.bad_words,
				    l->text.len, "the host had no GPU");
	explain_rows(l);
	if (!l->captured || l->how->mqds_file)
		damaged |= queue_rows_explain(&l->queues);
	else
		damaged |= queue_rows_explain_rls(&l->queues);
	return damaged;
}
