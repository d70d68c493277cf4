// Says in words what queues and processes do; see why.h.
#include "common/why/why.h"

#include "common/cli/text.h"
#include "common/debugfs/regs.h"
#include "common/host/root.h"

// --- parts of sentences ---

static void tell_queue(struct buf *b, const struct why *w, const struct why_queue *x, size_t queue)
{
	const uint64_t qid = w->v[queue].q->row->qid;
	if (queue == (size_t)(x - w->v))
		buf_puts(b, "this queue");
	else if (qid == KFD_UNKNOWN)
		buf_puts(b, "another queue");
	else
		buf_printf(b, "queue %" PRIu64, qid);
	if (w->v[queue].q->process != x->q->process)
		buf_printf(b, " of process %" PRId64, w->v[queue].q->row->pid);
}

// On a host recorded at one moment nothing moves, however long one looks.
static void tell_in(struct buf *b, const struct why_queue *x, const char *in, uint64_t ns)
{
	char text[24];
	if (!x->once && ns)
		buf_printf(b, " %s %s%s", in, text_ns(text, ns),
			   host_only_dumps() ? ", by the times of the files" : "");
}

// "3 packets", in the unit of the queue's indices.
static void tell_amount(struct buf *b, const struct why_queue *x, uint64_t n)
{
	buf_printf(b, "%" PRIu64 " %s%s", n,
		   x->q->ring.kind == RING_AQL    ? "packet"
		   : x->q->ring.kind == RING_SDMA ? "byte"
						  : "dword",
		   text_s(n));
}

// "kernel vector_add (packet 2)", or "packet 2 (barrier-and)".
static void tell_packet(struct buf *b, const struct why *w, const struct why_setter *p)
{
	enum { LONGEST = 60 };
	const struct why_how *how = w->how;
	const char *name = NULL;
	if (p->kernel && how->name)
		name = how->name(how->arg, w->v[p->queue].q, p->kernel);
	if (name)
		buf_printf(b, "kernel %.*s%s (packet %" PRIu64 ")", LONGEST, name,
			   strlen(name) > LONGEST ? "..." : "", p->index);
	else if (p->kernel)
		buf_printf(b, "kernel 0x%" PRIx64 " (packet %" PRIu64 ")", p->kernel, p->index);
	else
		buf_printf(b, "packet %" PRIu64 " (%s)", p->index, p->type);
}

// As dmesg shows it, and what it means: "[   16.724419] TEXT: MEANING".
static void tell_log(struct buf *b, const struct why_queue *x)
{
	const struct klog_line *l = x->log;
	if (!l)
		return;
	if (l->us != KLOG_NO_TIME)
		buf_printf(b, "[%5" PRIu64 ".%06" PRIu64 "] ", l->us / 1000000, l->us % 1000000);
	buf_puts(b, l->text);
	if (x->log_vague)
		buf_puts(b, ", which does not say of whom");
	if (l->meaning)
		buf_printf(b, ": %s", l->meaning);
}

// What else is known of a queue that stands, or is off.
static void tell_trouble(struct buf *b, const struct why_queue *x)
{
	const bool told = x->state == WHY_RESET || x->state == WHY_LOST;
	if (x->log && !told)
		buf_puts(b, "; the kernel's log has ");
	if (!told)
		tell_log(b, x);
	if (!x->quiet_ns || !(why_stands(x->state) || x->state == WHY_LOST))
		return;
	buf_puts(b, "; no interrupt of this GPU");
	tell_in(b, x, "in", x->quiet_ns);
}

// --- the state of a queue ---

static void tell_signal(struct buf *b, const struct why_dep *d)
{
	buf_printf(b, "signal 0x%" PRIx64 " is %" PRId64, d->signal, d->value);
}

static void tell_external(struct buf *b, const struct why *w, const struct why_queue *x)
{
	const struct why_dep *d = x->because;
	if (!d) {
		tell_packet(b, w, &x->work);
		buf_puts(b, " waits for a word of memory: hipStreamWaitValue");
		return;
	}
	tell_signal(b, d);
	if (d->shared)
		buf_puts(b, ", in shared memory");
	if (x->blind)
		buf_puts(b, ", and no packet that could be read sets it");
	else
		buf_puts(b,
			 ", and no packet of this process sets it: the host, or another process");
	if (d->was.queue == SIZE_MAX)
		return;
	buf_printf(b, "; packet %" PRIu64 " of ", d->was.index);
	tell_queue(b, w, x, d->was.queue);
	buf_puts(b, ", taken before, had it");
}

static void tell_state_of(struct buf *b, const struct why *w, const struct why_queue *x,
			  size_t queue)
{
	tell_queue(b, w, x, queue);
	buf_printf(b, " (%s)", why_state_word(w->v[queue].state));
}

// "waits for packet 1 (sdma-atomic) of queue 1, behind queue 3 (not-published): signal ...".
static void tell_wait(struct buf *b, const struct why *w, const struct why_queue *x)
{
	const struct why_dep *d = x->because;
	unsigned more = 0;
	if (!d || d->by.queue == SIZE_MAX)
		return;
	buf_puts(b, "waits for ");
	tell_packet(b, w, &d->by);
	buf_puts(b, " of ");
	if (x->root == d->by.queue)
		tell_state_of(b, w, x, x->root);
	else
		tell_queue(b, w, x, d->by.queue);
	if (x->state == WHY_DEADLOCK)
		buf_puts(b, d->by.queue == (size_t)(x - w->v) ? ", which is behind it"
							      : ", which waits for this queue");
	else if (x->root != d->by.queue && x->root != SIZE_MAX) {
		buf_puts(b, ", behind ");
		tell_state_of(b, w, x, x->root);
	}
	buf_puts(b, ": ");
	tell_signal(b, d);
	for (unsigned i = 0; i < x->ndeps; i++)
		more += &x->deps[i] != d && x->deps[i].known && !x->deps[i].open;
	if (more)
		buf_printf(b, ", and %u more", more);
}

static void tell_sharing(struct buf *b, const struct why *w, const struct why_queue *x)
{
	const struct queue_rows *q = &w->rings->from.rows;
	const struct kfd_gpu *g = kfd_topology_find(&q->gpus, (uint32_t)x->q->row->gpu_id);
	size_t queues = 0, processes = 0;
	uint32_t last = UINT32_MAX;
	uint64_t most = 0;
	for (size_t i = 0; i < q->mqds.nqueues; i++) {
		const struct mqd *m = &q->mqds.queues[i];
		if (m->gpu_id != x->q->row->gpu_id || m->kind != MQD_COMPUTE)
			continue;
		queues++;
		processes += m->proc != last;
		last = m->proc;
	}
	if (why_is_by_slot(x)) {
		buf_puts(b, "has ");
		tell_amount(b, x, x->now.write - x->now.read);
		buf_puts(b, ", and is in no slot; ");
	}
	buf_printf(b, "%zu compute queues of %zu process%s share the GPU", queues, processes,
		   processes == 1 ? "" : "es");
	if (g && g->cp_queues != KFD_UNKNOWN)
		buf_printf(b, ", which has %" PRIu64 " slot%s", g->cp_queues, text_s(g->cp_queues));
	if (host_read_u64("/sys/module/amdgpu/parameters/hws_max_conc_proc", &most) == 0)
		buf_printf(b, "; amdgpu.hws_max_conc_proc is %" PRIu64, most);
	if (*x->q->inversion.text)
		buf_printf(b, "; inversion: %s", x->q->inversion.text);
}

static void tell_by(struct buf *b, const struct why_queue *x)
{
	if (x->by_pid)
		buf_printf(b, "by %s, process %d", *x->by_name ? x->by_name : "a process",
			   (int)x->by_pid);
	else
		buf_puts(b, "by a debugger that does not trace it");
	if (x->state == WHY_SUSPENDED_OR_EVICTED)
		buf_puts(b, ", or evicted by the driver: these look the same");
	else if (x->state == WHY_SUSPENDED_OR_RESET)
		buf_puts(b, ", or reset by the driver after a hang: these look the same");
}

static void tell_slot(struct buf *b, const struct why_queue *x)
{
	char text[REG_ERROR_TEXT];
	if (x->q->in_slot == 0)
		buf_puts(b, ", in no slot");
	else
		buf_printf(b, ", slot %s", x->q->slot);
	if (x->q->slot_error != KFD_UNKNOWN)
		buf_printf(b, ", %s",
			   x->q->slot_error ? reg_error_text(text, (uint32_t)x->q->slot_error)
					    : "no error");
}

// "stands still for 30s with 3 packets behind it, slot p0q2, no error".
static void tell_still(struct buf *b, const struct why_queue *x)
{
	buf_puts(b, x->once ? "has " : "stands still");
	tell_in(b, x, "for", x->stood_ns);
	buf_puts(b, x->once ? "" : " with ");
	tell_amount(b, x, x->now.write - x->now.read);
	buf_puts(b, x->once ? "" : " behind it");
	if (why_is_by_slot(x))
		tell_slot(b, x);
	else
		buf_puts(b, "; its ring is in the GPU's memory, where packets cannot be read");
}

static void tell_hung(struct buf *b, const struct why *w, const struct why_queue *x)
{
	char text[REG_ERROR_TEXT];
	const uint64_t error = why_is_by_slot(x) ? 0 : x->q->slot_error;
	if (why_is_by_slot(x) || (x->on_gpu && x->work.queue == SIZE_MAX)) {
		tell_still(b, x);
	} else if (x->work.queue != SIZE_MAX) {
		tell_packet(b, w, &x->work);
		buf_puts(b, x->work.index < x->now.read ? " was taken" : " waits for nothing");
		buf_puts(b, ", and has not ended");
		tell_in(b, x, "in", x->stood_ns);
		if (!x->work_sure)
			buf_printf(b, "; or it has, and the next one, packet %" PRIu64 ", has not",
				   x->now.read);
		else if (why_last_runs(x) && x->work.index + 1 == x->now.read)
			buf_printf(b, ": its signal 0x%" PRIx64 " is %" PRId64, x->last.completion,
				   x->last_value);
	} else {
		buf_printf(b, "packet %" PRIu64 " (%s) waits for no signal, and was not taken",
			   x->now.read, x->next.type);
		tell_in(b, x, "in", x->stood_ns);
		if (x->next.barrier)
			buf_puts(b, ": an earlier packet has not ended");
	}
	if (error && error != KFD_UNKNOWN)
		buf_printf(b, "; its slot notes %s", reg_error_text(text, (uint32_t)error));
}

static void tell_empty(struct buf *b, const struct why *w, const struct why_queue *x)
{
	const uint64_t cus = x->q->row->usage.cu_occupancy;
	if (x->state == WHY_IDLE)
		return;
	buf_puts(b, "all packets are taken");
	if (why_is_by_slot(x))
		tell_slot(b, x);
	if (x->older.queue != SIZE_MAX) {
		buf_puts(b, "; ");
		tell_packet(b, w, &x->older);
		buf_puts(b, " may not have ended: its signal is not set");
		return;
	}
	buf_puts(b, why_is_by_slot(x) ? "; whether the last kernel has ended is not known"
		    : x->on_gpu ? "; its ring is in the GPU's memory, where the last kernel cannot "
				  "be read"
		    : x->last.completion ? "; the signal of the last kernel cannot be read, or is "
					   "another packet's by now"
					 : "; no signal tells whether the last kernel has ended");
	if (cus != KFD_UNKNOWN)
		buf_printf(b, "; the process has work on %" PRIu64 " CUs of the GPU", cus);
}

static void tell_running(struct buf *b, const struct why_queue *x)
{
	if (!why_has_moved(x)) {
		buf_puts(b, x->next_state == RING_UNPUBLISHED
				    ? "a packet was written after the looks"
				    : "the doorbell was rung after the looks");
		return;
	}
	tell_amount(b, x, why_taken(x));
	buf_puts(b, " taken");
	tell_in(b, x, "in", x->over_ns);
}

static void tell_unknown(struct buf *b, const struct why *w, const struct why_queue *x)
{
	if (why_is_by_slot(x))
		tell_still(b, x);
	else if (x->problem && w->rings->processes[x->q->process].error)
		buf_puts(b, "the memory of the process cannot be read");
	else if (x->problem)
		buf_puts(b, ring_problem_text(x->problem));
	else if (x->unsure)
		buf_puts(b, "a signal that the next packet waits for cannot be read");
	else if (x->next_state == RING_NEXT && x->next.kind == PACKET_VENDOR)
		buf_printf(b, "packet %" PRIu64 " is of vendor format %u, which is not decoded",
			   x->now.read, x->next.format);
	else if (x->next_state == RING_NEXT && x->next.type)
		buf_printf(b, "packet %" PRIu64 " is of no type that there is", x->now.read);
	else
		buf_puts(b, "the next packet could not be read");
}

static void tell_state(struct buf *b, const struct why *w, const struct why_queue *x)
{
	switch (x->state) {
	case WHY_UNKNOWN: tell_unknown(b, w, x); break;
	case WHY_RUNNING: tell_running(b, x); break;
	case WHY_HUNG_OR_LONG: tell_hung(b, w, x); break;
	case WHY_IDLE:
	case WHY_IDLE_OR_RUNNING: tell_empty(b, w, x); break;
	case WHY_WAITS_EXTERNAL: tell_external(b, w, x); break;
	case WHY_WAITS_BARRIER:
	case WHY_BEHIND:
	case WHY_DEADLOCK: tell_wait(b, w, x); break;
	case WHY_UNPUBLISHED:
		buf_printf(b, "packet %" PRIu64 " is not written, and the write index is %" PRIu64,
			   x->now.read, x->now.write);
		break;
	case WHY_DOORBELL_LOST:
		buf_printf(b,
			   "the write index is %" PRIu64 ", and its hardware slot was told %" PRIu64
			   ": the doorbell was not rung, or is lost",
			   x->now.write, x->q->slot_write);
		break;
	case WHY_STOPPED:
		buf_printf(b, "packet %" PRIu64 " waits for the process, which is stopped",
			   x->now.read);
		break;
	case WHY_WAITS_SLOT: tell_sharing(b, w, x); break;
	case WHY_SUSPENDED:
	case WHY_SUSPENDED_OR_EVICTED:
	case WHY_SUSPENDED_OR_RESET: tell_by(b, x); break;
	case WHY_RESET:
	case WHY_LOST:
		buf_puts(b, x->state == WHY_RESET ? "its GPU was reset: "
						  : "the GPU did not let it go: ");
		tell_log(b, x);
		break;
	case WHY_ERROR:
		buf_puts(b, "the driver noted ");
		why_exceptions_text(b, x->exceptions);
		break;
	case WHY_EVICTED:
		buf_puts(b, "by the driver, with all queues of the process on this GPU");
		if (x->trigger)
			buf_printf(b, ": %s", x->trigger);
		break;
	default: break;
	}
	tell_trouble(b, x);
}

// --- the verdict about a process ---

static bool is_off(enum why_state s)
{
	return s == WHY_SUSPENDED || s == WHY_EVICTED || s == WHY_SUSPENDED_OR_EVICTED ||
	       s == WHY_SUSPENDED_OR_RESET;
}

// Is it one of those that the verdict counts: that are stuck, if any is, or are off as the worst
// is?
static bool is_counted(const struct why *w, const struct why_process *p, size_t i)
{
	const struct why_queue *x = &w->v[i];
	return x->q->chosen && (p->stuck ? x->stuck : x->state == w->v[p->worst].state);
}

// As in "; 2 of 5 queues are stuck: 0, 4", if they are several.
static void tell_count(struct buf *b, const struct why *w, const struct why_process *p)
{
	const enum why_state worst = w->v[p->worst].state;
	SCOPED(buf_fini) struct buf ids = {0};
	unsigned n = 0;
	for (size_t i = p->first; i < p->end; i++) {
		const uint64_t qid = w->v[i].q->row->qid;
		if (!is_counted(w, p, i) || ++n > 8)
			continue;
		buf_puts(&ids, n > 1 ? ", " : " ");
		if (qid == KFD_UNKNOWN)
			buf_puts(&ids, "?");
		else
			buf_u64(&ids, qid);
	}
	if (n < 2 || !(p->stuck || is_off(worst)))
		return;
	buf_printf(b, "; %u of %u queues are %s:%s", n, p->chosen,
		   p->stuck ? "stuck" : why_state_word(worst), ids.data);
	if (n > 8)
		buf_printf(b, ", %u more", n - 8);
}

// "stuck for 3m02s: queue 1 (not-published): ...; 2 queues wait behind it; in all, 3 of 8 queues
// are stuck".
static void tell_process(struct buf *b, const struct why *w, const struct why_process *p)
{
	const struct why_queue *x = &w->v[p->worst];
	const char *word = why_state_word(x->state);
	char time[24];
	buf_puts(b, p->stuck ? "stuck" : word);
	if (p->stuck && !x->once)
		buf_printf(b, " for %s", text_ns(time, x->stood_ns));
	if (p->chosen > 1 && (x->state == WHY_IDLE || x->state == WHY_RUNNING))
		buf_printf(b, ": %u queues", p->chosen);
	else if (x->q->row->qid != KFD_UNKNOWN)
		buf_printf(b, ": queue %" PRIu64, x->q->row->qid);
	if (p->stuck)
		buf_printf(b, " (%s)", word);
	if (x->detail && x->state != WHY_RUNNING)
		buf_printf(b, ": %s", x->detail);
	if (p->waiting)
		buf_printf(b, "; %u %s behind it", p->waiting,
			   p->waiting == 1 ? "queue waits" : "queues wait");
	tell_count(b, w, p);
}

void why_tell(struct why *w)
{
	for (size_t i = 0; i < w->n; i++) {
		struct buf b = {0};
		tell_state(&b, w, &w->v[i]);
		w->v[i].detail = b.data;
		w->v[i].remedy = why_tell_remedy(w, &w->v[i]);
	}
	for (size_t i = 0; i < w->rings->nprocesses; i++) {
		struct buf text = {0}, host = {0};
		struct why_process *p = &w->processes[i];
		if (p->chosen)
			tell_process(&text, w, p);
		if (text.data && w->v[p->worst].remedy)
			proc_threads_tell(&host, w->rings->processes[i].pid);
		p->text = text.data;
		p->host = host.data;
	}
}
