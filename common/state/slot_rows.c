// Hardware slots and their owners; see slot_rows.h.
#include "common/state/slot_rows_priv.h"

#include "common/cli/err.h"
#include "common/cli/input.h"
#include "common/host/root.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// --- which MQD is at which address ---

static int by_address(const void *a, const void *b)
{
	const struct hqd_key *x = a, *y = b;
	if (x->gpu_id != y->gpu_id)
		return x->gpu_id < y->gpu_id ? -1 : 1;
	return (x->base > y->base) - (x->base < y->base);
}

static int index_mqds(struct slot_rows *l)
{
	const struct mqds *m = &l->queues.mqds;
	l->keys = calloc(m->ndumps + 1, sizeof(*l->keys));
	l->row_of_mqd = malloc((m->nqueues + 1) * sizeof(*l->row_of_mqd));
	if (!l->keys || !l->row_of_mqd)
		return -1;
	memset(l->row_of_mqd, 0xff, (m->nqueues + 1) * sizeof(*l->row_of_mqd));
	for (uint32_t i = 0; i < m->nqueues; i++) {
		const struct mqd *q = &m->queues[i];
		bool compute = q->kind == MQD_COMPUTE || q->kind == MQD_DIQ;
		for (unsigned x = 0; compute && x < q->dumps; x++) {
			struct hqd_key key = {.gpu_id = q->gpu_id, .mqd = i};
			if (mqd_get(m, q, l->queues.gens[i], x, MQD_V_BASE, &key.base))
				l->keys[l->nkeys++] = key;
		}
	}
	qsort(l->keys, l->nkeys, sizeof(*l->keys), by_address);
	for (uint32_t i = 0; i < l->queues.n; i++)
		if (l->queues.rows[i].mqd != UINT32_MAX)
			l->row_of_mqd[l->queues.rows[i].mqd] = i;
	return 0;
}

uint32_t slot_rows_mqd_at(const struct slot_rows *l, uint32_t gpu_id, uint64_t base)
{
	const struct hqd_key key = {.gpu_id = gpu_id, .base = base};
	const struct hqd_key *k =
		l->nkeys ? bsearch(&key, l->keys, l->nkeys, sizeof(key), by_address) : NULL;
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

// --- generations ---

enum gfx_gen slot_rows_gen(const struct slot_rows *l, uint32_t gpu_id)
{
	enum gfx_gen gen = queue_rows_gen(&l->queues, gpu_id);
	const struct mqds *m = &l->queues.mqds;
	for (size_t i = 0; gen == GFX_UNKNOWN && i < l->hqds.nnodes; i++)
		if (l->hqds.nodes[i].gpu_id == gpu_id)
			gen = hqd_guess_gen(&l->hqds, &l->hqds.nodes[i]);
	if (queue_rows_gen(&l->queues, gpu_id) != GFX_UNKNOWN)
		return gen;
	// The MQDs tell more than the slots: several XCCs, and gfx12 by its SDMA queues.
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

static int find_gens(struct slot_rows *l)
{
	free(l->gens);
	l->gens = calloc(l->hqds.nnodes + 1, sizeof(*l->gens));
	for (size_t i = 0; l->gens && i < l->hqds.nnodes; i++)
		l->gens[i] = slot_rows_gen(l, l->hqds.nodes[i].gpu_id);
	return l->gens ? 0 : -1;
}

// MQDs in memory tell more than slots; where they leave it open, what is in a slot may tell.
static void find_prios(struct slot_rows *l)
{
	enum kfd_answer3 written = l->has_mqds ? l->queues.prio_written : KFD_ANSWER_UNKNOWN;
	if (written == KFD_ANSWER_UNKNOWN)
		written = prio_written_slots(&l->hqds);
	l->has_prios = written == KFD_ANSWER_YES;
}

bool slot_rows_has_contexts(const struct slot_rows *l)
{
	for (size_t i = 0; i < l->queues.n; i++)
		if (l->queues.rows[i].context != KFD_UNKNOWN)
			return true;
	return false;
}

bool slot_rows_needs_level(const struct slot_rows *l)
{
	bool any = false;
	for (size_t i = 0; i < l->n; i++)
		any |= l->rows[i].level != NULL;
	for (size_t i = 0; l->has_mqds && i < l->queues.mqds.nqueues; i++)
		any |= l->queues.summaries[i].v[MQD_V_PIPE_PRIO] != MQD_UNKNOWN;
	return any && !l->has_prios;
}

// --- loading ---

static int load_queues(struct slot_rows *l)
{
	const struct slot_rows_how *how = l->how;
	struct queue_rows *q = &l->queues;
	l->queues_how =
		(struct queue_rows_how){.want = READ_GPU | READ_BDF | READ_TYPE | READ_SIZE |
						READ_PASID | READ_STATUS | READ_MQD | READ_HOLDER,
					.mqds_file = how->mqds_file,
					.rls_file = how->rls_file,
					.likely = how->likely};
	if (!l->captured || how->mqds_file)
		return queue_rows_load(q, l->processes, &l->queues_how);
	// Without mqds: nothing is known of queues, at most what was to run.
	q->how = &l->queues_how;
	q->mqds_error = ENODATA;
	return how->rls_file ? queue_rows_load_rls(q) : GPQ_OK;
}

static int load_slots(struct slot_rows *l)
{
	const char *file = l->how->hqds_file;
	int status = file ? input_read(&l->text, file) : GPQ_OK;
	if (status || (l->captured && !file))
		return status;
	if (!file && host_read(&l->text, HQDLIST_HQDS) < 0)
		return err_sys(errno, "root can read it where debugfs is mounted", HQDLIST_HQDS);
	if (hqds_parse(&l->hqds, l->text.data ? l->text.data : "", l->text.len))
		return err_sys(ENOMEM, NULL, HQDLIST_HQDS);
	if (file && l->hqds.count.foreign && !l->hqds.nslots)
		return err_fail(GPQ_FAILED, "it must be a copy of " HQDLIST_HQDS,
				"%s: line %u is not in slot-dump format", input_name(file),
				l->hqds.count.first_foreign);
	l->damaged = l->hqds.count.foreign || l->hqds.bad_words;
	return GPQ_OK;
}

int slot_rows_load(struct slot_rows *l, struct process_cache *processes,
		   const struct slot_rows_how *how)
{
	l->how = how;
	l->processes = processes;
	l->captured = how->hqds_file || how->mqds_file || how->rls_file;
	hqds_init(&l->hqds);
	int status = load_queues(l);
	l->has_mqds = !status && !l->queues.mqds_error;
	if (!status && !how->memory)
		status = load_slots(l);
	find_prios(l);
	if (!status && (index_mqds(l) || find_gens(l) || slot_rows_fill(l)))
		status = err_sys(ENOMEM, NULL, "list of slots");
	return status;
}

int slot_rows_reload(struct slot_rows *l, const char *text, size_t len)
{
	slot_rows_free_rows(l);
	if (hqds_parse(&l->hqds, text, len))
		return -1;
	find_prios(l);
	return find_gens(l) || slot_rows_fill(l) ? -1 : 0;
}

void slot_rows_free_rows(struct slot_rows *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->rows[i].errors_text);
	free(l->rows);
	l->rows = NULL;
	l->n = l->ownerless = l->torn = 0;
}

void slot_rows_fini(struct slot_rows *l)
{
	slot_rows_free_rows(l);
	free(l->keys);
	free(l->row_of_mqd);
	free(l->gens);
	hqds_fini(&l->hqds);
	buf_fini(&l->text);
	queue_rows_fini(&l->queues);
	*l = (struct slot_rows){0};
}

// --- explaining ---

// Who names a file wants to know that it is damaged; of a host's dump only -v tells.
static void explain_text(const struct slot_rows *l)
{
	const struct hqds *h = &l->hqds;
	const char *file = l->how->hqds_file;
	char text[2][100] = {"", ""};
	if (h->count.foreign)
		snprintf(text[0], sizeof(text[0]), "%u lines not understood, the first is line %u",
			 h->count.foreign, h->count.first_foreign);
	if (h->bad_words)
		snprintf(text[1], sizeof(text[1]),
			 "%u words are no 8 hex digits, what they hold is unknown", h->bad_words);
	for (size_t i = 0; i < 2; i++) {
		if (*text[i] && file)
			err_warn(NULL, "%s: %s", input_name(file), text[i]);
		else if (*text[i])
			err_note(HQDLIST_HQDS ": %s", text[i]);
	}
	if (file && !l->text.len)
		err_warn("or was copied without the right to read it",
			 "%s: empty: the host had no GPU", input_name(file));
}

static void explain_rows(const struct slot_rows *l)
{
	size_t unclear = 0, mes = 0, gen = 0, qids = 0;
	for (size_t i = 0; i < l->n; i++) {
		const struct hqd_row *r = &l->rows[i];
		bool hiq = r->hqd && r->hqd->kind == HQD_HIQ;
		gen += r->gen == GFX_UNKNOWN;
		mes += hiq && r->active < 0 && gfx_caps(r->gen)->mes;
		unclear += !hiq && r->active < 0 && r->gen != GFX_UNKNOWN;
		qids += r->pid != INT64_MIN && r->qid == KFD_UNKNOWN;
	}
	if (l->how->memory) // there nothing but queue ids is doubtful
		gen = mes = unclear = 0;
	if (gen)
		err_note("%zu slots are of GPUs of unknown generation: only raw registers can be "
			 "shown",
			 gen);
	if (mes)
		err_note("%zu HIQ slots: the MES firmware does not use them, their content means "
			 "nothing",
			 mes);
	if (unclear)
		err_note("ACTIVE: unknown for %zu slots: the register that tells is not in the "
			 "dump",
			 unclear);
	if (l->ownerless && l->has_mqds)
		err_note("PID: unknown for %zu slots: mqds has no such queue (%zu: at the address "
			 "of its MQD there is one with another ring): it came or went between the "
			 "two dumps",
			 l->ownerless, l->torn);
	if (qids && !l->captured)
		err_note("QID: unknown for %zu rows: gpq queues -v tells why; --likely takes the "
			 "likeliest",
			 qids);
}

bool slot_rows_explain(const struct slot_rows *l)
{
	bool damaged = l->damaged && l->how->hqds_file;
	for (size_t i = 0; i < l->hqds.nnodes; i++)
		if (l->hqds.nodes[i].stopped)
			err_warn(NULL,
				 "GPU %x: device is stopped (suspended, resetting, or without "
				 "scheduler): it has no slots to read",
				 l->hqds.nodes[i].gpu_id);
	explain_text(l);
	explain_rows(l);
	if (!l->captured || l->how->mqds_file)
		damaged |= queue_rows_explain(&l->queues);
	else
		damaged |= queue_rows_explain_rls(&l->queues);
	return damaged;
}
