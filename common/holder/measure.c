// Reads indices and saved waves from a target's memory; measure.h. Facts: [kfd.indices].
#include "common/holder/measure.h"

// ---- indices of one queue

static uint64_t header_of(const struct kfd_queue_entry *q, unsigned xcc)
{
	return q->ctx_save_restore_address + (uint64_t)xcc * q->ctx_save_restore_area_size;
}

// Is this a compute queue with a context save area? Others have no context headers.
static bool is_compute(const struct kfd_queue_entry *q)
{
	return kfd_is_compute(q) && q->ctx_save_restore_address;
}

void kfd_quiesce_read(pid_t pid, const struct kfd_queue_entry *q, unsigned xccs,
		      struct kfd_quiesce *p)
{
	struct kfd_ctx_header h[KFD_XCC_MAX];
	struct memory_range v[2 + KFD_XCC_MAX] = {
		{q->read_pointer_address, &p->read_index, sizeof(p->read_index), 0},
		{q->write_pointer_address, &p->write_index, sizeof(p->write_index), 0}};
	struct memory m;
	*p = (struct kfd_quiesce){0};
	xccs = is_compute(q) && xccs <= KFD_XCC_MAX ? xccs : 0;
	for (unsigned i = 0; i < xccs; i++)
		v[2 + i] = (struct memory_range){header_of(q, i), &h[i], sizeof(h[i]), 0};
	if (memory_open(&m, pid))
		return;
	memory_read_all(&m, v, 2 + xccs);
	memory_close(&m);
	p->has_indices = v[0].got == MEMORY_READ && v[1].got == MEMORY_READ;
	p->has_saved = xccs != 0;
	for (unsigned i = 0; i < xccs; i++)
		p->has_saved &= v[2 + i].got == MEMORY_READ;
	for (unsigned i = 0; i < xccs && p->has_saved; i++) {
		p->saved_bytes += (uint64_t)h[i].control_stack_size + h[i].wave_state_size;
		p->saved_waves_bytes += h[i].wave_state_size;
	}
}

// ---- indices of many queues

int kfd_watch_init(struct kfd_watch *w, pid_t pid)
{
	*w = (struct kfd_watch){0};
	return memory_open(&w->memory, pid);
}

void kfd_watch_clear(struct kfd_watch *w)
{
	free(w->queue);
	free(w->xccs);
	w->queue = NULL;
	w->xccs = NULL;
	w->n = 0;
}

void kfd_watch_fini(struct kfd_watch *w)
{
	memory_close(&w->memory);
	kfd_watch_clear(w);
}

bool kfd_watch_is_over(const struct kfd_watch *w)
{
	char any;
	struct memory_range r = {0, &any, sizeof(any), 0}; // also without queues that are watched
	// Here, as kfd_watch_look() reads: a reader that answers late would leave it unknown.
	return !memory_read_here(&w->memory, &r, 1) && r.got == MEMORY_OVER;
}

unsigned kfd_watch_ranges(const struct kfd_watch *w, struct kfd_indices *i, bool write,
			  struct memory_range *v)
{
	unsigned n = 0;
	for (unsigned k = 0; k < w->n; k++)
		v[n++] = (struct memory_range){w->queue[k].read_pointer_address, &i->read[k], 8, 0};
	for (unsigned k = 0; k < w->n && write; k++)
		v[n++] = (struct memory_range){w->queue[k].write_pointer_address, &i->write[k], 8,
					       0};
	return n;
}

bool kfd_watch_look(const struct kfd_watch *w, struct kfd_indices *i, bool write)
{
	struct memory_range v[2 * KFD_WATCH_MAX];
	return memory_read_here(&w->memory, v, kfd_watch_ranges(w, i, write, v));
}

void kfd_watch_choose(struct kfd_watch *w, const struct kfd_answer *a)
{
	w->n = a->num < KFD_WATCH_MAX ? (unsigned)a->num : KFD_WATCH_MAX;
	w->queue = xcalloc(w->n, sizeof(*w->queue));
	w->xccs = xcalloc(w->n, sizeof(*w->xccs));
	for (unsigned i = 0; i < w->n; i++) {
		w->queue[i] = a->queues[i].queue;
		w->xccs[i] = a->queues[i].xccs;
	}
}

void kfd_watch_keep(struct kfd_watch *w, const struct memory_range *v)
{
	const unsigned all = w->n;
	w->n = 0;
	for (unsigned i = 0; i < all; i++) {
		if (v[i].got != MEMORY_READ || v[all + i].got != MEMORY_READ)
			continue;
		w->xccs[w->n] = w->xccs[i];
		w->queue[w->n++] = w->queue[i];
	}
}

static bool is_aql(const struct kfd_queue_entry *q)
{
	return q->queue_type == KFD_SNAPSHOT_COMPUTE_AQL;
}

bool kfd_watch_moved(const struct kfd_watch *w, const struct kfd_indices *a,
		     const struct kfd_indices *b)
{
	for (unsigned i = 0; i < w->n; i++)
		if (a->read[i] != b->read[i])
			return true;
	return false;
}

uint64_t kfd_watch_packets(const struct kfd_watch *w, const struct kfd_indices *a,
			   const struct kfd_indices *b)
{
	uint64_t sum = 0;
	for (unsigned i = 0; i < w->n; i++)
		if (is_aql(&w->queue[i]))
			sum += b->read[i] - a->read[i];
	return sum;
}

uint64_t kfd_watch_backlog(const struct kfd_watch *w, const struct kfd_indices *i)
{
	uint64_t sum = 0;
	for (unsigned k = 0; k < w->n; k++) {
		uint64_t behind = i->write[k] - i->read[k];
		sum += is_aql(&w->queue[k]) ? behind : behind != 0;
	}
	return sum;
}

unsigned kfd_watch_saved(const struct kfd_watch *w, unsigned i, uint64_t bytes[KFD_XCC_MAX])
{
	const struct kfd_queue_entry *q = &w->queue[i];
	struct kfd_ctx_header h[KFD_XCC_MAX] = {0};
	struct memory_range v[KFD_XCC_MAX];
	if (!is_compute(q) || w->xccs[i] > KFD_XCC_MAX)
		return 0;
	for (unsigned x = 0; x < w->xccs[i]; x++)
		v[x] = (struct memory_range){header_of(q, x), &h[x], sizeof(h[x]), 0};
	if (!memory_read_here(&w->memory, v, w->xccs[i]))
		return 0;
	for (unsigned x = 0; x < w->xccs[i]; x++)
		bytes[x] += h[x].wave_state_size;
	return w->xccs[i];
}
