// Looks at waves; wave_look.h.
#include "common/why/wave_look.h"

#include "common/aql/packet.h"
#include "common/cli/err.h"
#include "common/host/clock.h"
#include "common/host/number.h"

// --- queues ---

static void add_queue(struct wave_looks *l, size_t process, const struct kfd_outcome *o,
		      const struct kfd_rinfo *runtime, unsigned abi)
{
	const struct kfd_gpu *gpu = kfd_topology_find(&l->rows.gpus, o->queue.gpu_id);
	struct wave_queue *q = ARRAY_ADD(l->queues, l->cap, l->nqueues);
	*q = (struct wave_queue){
		.entry = o->queue,
		.process = process,
		.xccs = o->xccs ? o->xccs : 1,
		.area = {.gpu = gpu ? waves_gpu_of((uint32_t)gpu->gfx_target_version) : NULL,
			 .address = o->queue.ctx_save_restore_address,
			 .size = o->queue.ctx_save_restore_area_size,
			 .abi = abi,
			 .ttmp_setup = runtime->ttmp_setup ||
				       (gpu && gpu->debug_prop != KFD_UNKNOWN &&
					gpu->debug_prop & KFD_DEBUG_TTMPS_ALWAYS)}};
	queue_row_clear(&q->row);
	queue_row_set_process(&l->rows, &q->row, l->processes[process].pid);
	queue_row_set_gpu(&l->rows, &q->row, o->queue.gpu_id);
	q->row.qid = o->queue.queue_id;
	q->row.type = "compute";
}

// Takes the compute queues of a member's answer that its selection chooses, and makes the request
// that holds them.
static void take_queues(struct wave_looks *l, size_t process)
{
	struct wave_process *p = &l->processes[process];
	const struct kfd_answer *a = &p->member->link.answer;
	uint32_t abi; // struct r_debug begins with its version, an int; unknown: as if it were new
	// Where there is none, too, this starts the child that reads: not during a hold.
	if (!memory_read(&p->memory, a->runtime.r_debug, &abi, sizeof(abi)))
		abi = UINT32_MAX;
	for (size_t i = 0; i < a->num; i++) {
		const struct kfd_queue_entry *e = &a->queues[i].queue;
		if (!kfd_is_compute(e) || (p->member->sel && !kfd_selected(p->member->sel, e)))
			continue;
		add_queue(l, process, &a->queues[i], &a->runtime, abi);
		if (!p->request.len)
			buf_printf(&p->request, "suspend tie addresses for_ns=%" PRIu64 " queues=",
				   l->max_hold_ns);
		else
			buf_puts(&p->request, ",");
		buf_printf(&p->request, "%u", e->queue_id);
	}
}

static const struct queue_row *find_row(const struct queue_rows *rows, pid_t pid, uint32_t qid)
{
	for (size_t i = 0; i < rows->n; i++) {
		const struct queue_row *r = &rows->rows[i];
		if (r->pid == pid && r->qid == qid && r->context == KFD_UNKNOWN && !r->hidden)
			return r;
	}
	return NULL;
}

static void add_core_queue(struct wave_looks *l, const struct kfd_queue_entry *e,
			   const struct queue_row *row)
{
	const struct wave_process *p = &l->processes[l->nprocesses - 1];
	struct wave_queue *q = ARRAY_ADD(l->queues, l->cap, l->nqueues);
	*q = (struct wave_queue){.entry = *e,
				 .process = l->nprocesses - 1,
				 .xccs = core_xccs(&p->core->state, e),
				 .area = core_area(&p->core->state, e, &p->memory)};
	if (row) {
		q->row = *row;
		return;
	}
	queue_row_clear(&q->row);
	q->row.gpu_id = e->gpu_id;
	q->row.qid = e->queue_id;
	q->row.type = "compute";
}

const char *wave_looks_add_core(struct wave_looks *l, int fd, const struct queue_rows *rows,
				pid_t pid)
{
	struct core *c = xmalloc(sizeof(*c));
	const char *wrong = core_open(c, fd);
	if (wrong) {
		free(c);
		return wrong;
	}
	*ARRAY_ADD(l->processes, l->processes_cap, l->nprocesses) =
		(struct wave_process){.core = c, .pid = pid, .memory = c->memory};
	for (uint32_t i = 0; i < c->state.num_queues; i++) {
		const struct kfd_queue_entry *e = &c->state.queues[i];
		const struct queue_row *row = rows ? find_row(rows, pid, e->queue_id) : NULL;
		if (kfd_is_compute(e) && (row || !rows))
			add_core_queue(l, e, row);
	}
	l->looks = xreallocarray(l->looks, l->nqueues + 1, sizeof(*l->looks));
	memset(l->looks, 0, (l->nqueues + 1) * sizeof(*l->looks));
	return NULL;
}

static bool keep_none(const void *arg, pid_t pid)
{
	(void)arg;
	(void)pid;
	return false;
}

int wave_looks_open(struct wave_looks *l, struct group *g)
{
	static const struct queue_rows_how how = {.want = READ_GPU | READ_BDF | READ_TYPE |
							  READ_STATUS | READ_CONTAINER,
						  .keep = keep_none};
	// With "keep" a holder stays while we are connected, also after the deadline of a look.
	const struct group_talk queues = {.request = "queues addresses", .start = true},
				keep = {.request = "release keep"};
	const int status = queue_rows_load(&l->rows, &l->cache, &how);
	if (status)
		return status;
	l->processes = xcalloc(g->n + 1, sizeof(*l->processes));
	group_request(g, &queues);
	group_answers(g, &queues);
	for (size_t i = 0; i < g->n; i++) {
		struct wave_process *p = &l->processes[l->nprocesses++];
		*p = (struct wave_process){
			.member = g->v[i], .pid = g->v[i]->target.pid, .memory.fd = -1};
		if (p->member->state == MEMBER_FAILED)
			continue;
		if (memory_open(&p->memory, p->pid)) {
			kfd_fail(&p->member->failure, KFD_FAULT_SYSTEM, "read its memory",
				 strerror(errno));
			member_set_failed(p->member, true);
			continue;
		}
		take_queues(l, i);
	}
	l->looks = xcalloc(l->nqueues + 1, sizeof(*l->looks));
	group_request(g, &keep);
	group_answers(g, &keep);
	return GPQ_OK;
}

// --- a look at one process ---

#define RECORDS_MOST 32        // of a queue
#define LOOK_MOST    (1 << 18) // waves after which no further queue of a look is read

struct copied {
	struct waves_saved saved;
	size_t end[KFD_XCC_MAX]; // waves up to that of each XCC
	uint64_t read, write;    // indices of the ring; UINT64_MAX: unknown
	struct wave_record records[RECORDS_MOST];
	size_t of[RECORDS_MOST], nrecords; // the waves of these records
};

static bool read_record(struct wave_record *r, const struct memory *m)
{
	for (uint64_t at = 0, n; at < r->size; at += n) {
		n = r->size - at < MEMORY_BYTES_MOST ? r->size - at : MEMORY_BYTES_MOST;
		if (!memory_read(m, r->address + at, r->data + at, n))
			return false;
	}
	return true;
}

// Copies the registers of the first wave at each place.
static void copy_records(const struct wave_queue *q, const struct memory *m, struct copied *c)
{
	uint64_t pcs[RECORDS_MOST] = {0};
	for (size_t i = 0, k; i < c->saved.n && c->nrecords < RECORDS_MOST; i++) {
		const struct wave w = wave_decode(&q->area, &c->saved.v[i]);
		for (k = 0; k < c->nrecords && pcs[k] != w.pc;)
			k++;
		if (k < c->nrecords)
			continue;
		struct wave_record r = {w.vgprs_at, c->saved.v[i].end - w.vgprs_at, NULL};
		r.data = xmalloc(r.size);
		if (!read_record(&r, m)) {
			free(r.data);
			continue;
		}
		pcs[k] = w.pc;
		c->of[k] = i;
		c->records[c->nrecords++] = r;
	}
}

static const char *copy_queue(struct wave_looks *l, const struct wave_queue *q,
			      const struct memory *m, struct copied *c)
{
	struct waves_area area = q->area;
	const char *wrong = NULL;
	if (!area.gpu)
		return "how its GPU saves waves is not known";
	if (l->nread > LOOK_MOST)
		return "those before it have more than gpq looks at at once";
	if (!memory_read(m, q->entry.read_pointer_address, &c->read, sizeof(c->read)))
		c->read = UINT64_MAX;
	if (!memory_read(m, q->entry.write_pointer_address, &c->write, sizeof(c->write)))
		c->write = UINT64_MAX;
	for (unsigned i = 0; i < q->xccs && i < KFD_XCC_MAX && !wrong; i++) {
		wrong = waves_read(&c->saved, &area, m);
		c->end[i] = c->saved.n;
		area.address += area.size;
	}
	l->nread += c->saved.n;
	if (l->registers && !wrong)
		copy_records(q, m, c);
	return wrong;
}

static const char *why_not_held(enum kfd_result r)
{
	switch (r) {
	case KFD_RESULT_SUSPENDED:
	case KFD_RESULT_ALREADY: return NULL;
	case KFD_RESULT_REFUSED: return "the hardware did not let go of it";
	case KFD_RESULT_TIMEOUT: return "the GPU did not answer, and is being reset";
	case KFD_RESULT_NONE: return "its process could not be held";
	default: return "it is gone";
	}
}

// Copies the saved waves of a core, or says of each queue why not.
static void copy_unheld(struct wave_looks *l, size_t process, struct copied *copied)
{
	for (size_t i = 0; i < l->nqueues; i++)
		if (l->queues[i].process == process)
			l->queues[i].wrong = copy_queue(l, &l->queues[i],
							&l->processes[process].memory, &copied[i]);
}

// Copies the saved waves of a process while its queues are held. Returns false if they cannot be
// held.
static bool copy_process(struct wave_looks *l, size_t process, struct copied *copied)
{
	const struct wave_process *p = &l->processes[process];
	struct kfd_link *link = &p->member->link;
	struct kfd_failure *f = &p->member->failure;
	const struct kfd_answer *a = &link->answer;
	const uint64_t asked = clock_ns();
	if (kfd_link_send(link, p->request.data, f) < 0 ||
	    kfd_link_receive(link, KFD_ANSWER_MS, f) < 0)
		return false;
	const uint64_t since = clock_ns(), until = a->until_ns;
	for (size_t i = 0; i < l->nqueues; i++) {
		struct wave_queue *q = &l->queues[i];
		if (q->process != process)
			continue;
		enum kfd_result result = KFD_RESULT_UNKNOWN;
		for (size_t k = 0; k < a->num; k++)
			if (a->queues[k].queue.queue_id == q->entry.queue_id)
				result = a->queues[k].result;
		q->wrong = why_not_held(result);
		if (!q->wrong)
			q->wrong = copy_queue(l, q, &p->memory, &copied[i]);
		// What was read later may be of waves that run.
		if (until && clock_ns() >= until)
			q->wrong = "it could not be read within --max-hold";
	}
	if (kfd_link_send(link, "release keep", f) < 0 ||
	    kfd_link_receive(link, KFD_ANSWER_MS, f) < 0)
		return false;
	const uint64_t back = clock_ns();
	l->held_ns = greater(l->held_ns, back - since);
	l->taken_ns = greater(l->taken_ns, back - asked);
	return true;
}

// --- decoding ---

// The id of a wave's dispatch: of those with its index in the ring, the last that was written
// [waves.dispatch].
static uint64_t dispatch_id(const struct wave_queue *q, const struct wave *w, uint64_t write)
{
	const uint64_t packets = q->entry.ring_size / AQL_BYTES;
	if (!w->placed || w->packet >= packets || write == UINT64_MAX || write <= w->packet)
		return UINT64_MAX;
	return w->packet + (write - 1 - w->packet) / packets * packets;
}

static void decode_queue(struct wave_looks *l, size_t queue, const struct copied *c)
{
	const struct wave_queue *q = &l->queues[queue];
	unsigned xcc = 0;
	size_t kept = 0;
	for (size_t i = 0; i < c->saved.n; i++) {
		while (i >= c->end[xcc])
			xcc++;
		const struct wave w = wave_decode(&q->area, &c->saved.v[i]);
		*ARRAY_ADD(l->v, l->vcap, l->n) =
			(struct wave_seen){.w = w,
					   .queue = queue,
					   .dispatch = dispatch_id(q, &w, c->write),
					   .read = c->read,
					   .xcc = xcc};
		if (kept == c->nrecords || c->of[kept] != i)
			continue;
		*ARRAY_ADD(l->records, l->records_cap, l->nrecords) = c->records[kept++];
		l->v[l->n - 1].record = l->nrecords;
	}
}

COMPARE_BY(by_pc, struct wave_seen, w.pc)

// Sets `at` of the waves from number `from` on, which are of one process: an instruction is read
// once for all waves at it.
static void read_instructions(struct wave_looks *l, size_t from, const struct memory *m)
{
	struct memory_range v[MEMORY_RANGES_MOST];
	uint32_t words[MEMORY_RANGES_MOST];
	ARRAY_SORT(&l->v[from], l->n - from, by_pc);
	while (from < l->n) {
		size_t n = 0, end = from, k = 0;
		for (; end < l->n && n < MEMORY_RANGES_MOST; end++)
			if (end == from || l->v[end].w.pc != l->v[end - 1].w.pc) {
				v[n] = (struct memory_range){l->v[end].w.pc, &words[n], 4,
							     MEMORY_LOST};
				n++;
			}
		memory_read_all(m, v, n);
		for (size_t i = from; i < end; i++) {
			k += i > from && l->v[i].w.pc != l->v[i - 1].w.pc;
			if (v[k].got == MEMORY_READ)
				l->v[i].at = wave_at(l->queues[l->v[i].queue].area.gpu, words[k]);
		}
		from = end;
	}
}

static void forget_records(struct wave_looks *l)
{
	while (l->nrecords)
		free(l->records[--l->nrecords].data);
}

static void forget_process(struct wave_looks *l, size_t process)
{
	struct group_member *m = l->processes[process].member;
	for (size_t i = 0; i < l->nqueues; i++)
		if (l->queues[i].process == process)
			l->queues[i].wrong = why_not_held(KFD_RESULT_NONE);
	member_set_failed(m, true);
	member_abandon(m);
}

bool wave_looks_take(struct wave_looks *l)
{
	bool any = false;
	SCOPED(free_at) struct copied *copied = xcalloc(l->nqueues + 1, sizeof(*copied));
	forget_records(l);
	l->n = 0;
	l->held_ns = l->taken_ns = 0;
	l->nread = 0;
	for (size_t i = 0; i < l->nqueues; i++)
		l->queues[i].wrong = why_not_held(KFD_RESULT_NONE);
	for (size_t i = 0; i < l->nprocesses; i++) {
		struct wave_process *p = &l->processes[i];
		const size_t from = l->n;
		if (p->member && (p->member->state == MEMBER_FAILED || !p->request.len))
			continue;
		if (!p->member || l->nread > LOOK_MOST) { // nothing is held that is not read
			copy_unheld(l, i, copied);
		} else if (!copy_process(l, i, copied)) {
			forget_process(l, i);
			continue;
		}
		any = true;
		for (size_t k = 0; k < l->nqueues; k++)
			if (l->queues[k].process == i && !l->queues[k].wrong)
				decode_queue(l, k, &copied[k]);
		read_instructions(l, from, &p->memory);
	}
	for (size_t i = 0; i < l->nqueues; i++) {
		l->looks[i] += !l->queues[i].wrong;
		for (size_t k = 0; k < copied[i].nrecords && l->queues[i].wrong; k++)
			free(copied[i].records[k].data);
		waves_saved_fini(&copied[i].saved);
	}
	return any;
}

void wave_looks_fini(struct wave_looks *l)
{
	for (size_t i = 0; i < l->nprocesses; i++) {
		if (l->processes[i].core)
			core_close(l->processes[i].core);
		else
			memory_close(&l->processes[i].memory);
		free(l->processes[i].core);
		buf_fini(&l->processes[i].request);
	}
	free(l->processes);
	free(l->queues);
	free(l->looks);
	free(l->v);
	forget_records(l);
	free(l->records);
	queue_rows_fini(&l->rows);
	process_cache_fini(&l->cache);
}
