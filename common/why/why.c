// Judges what queues are doing, and what they wait for; see why.h.
#include "common/why/why.h"

#include "common/cli/stop.h"
#include "common/debugfs/regs.h"
#include "common/host/clock.h"
#include "common/host/proc.h"
#include "common/host/root.h"

// Packets that set signals are searched among SEARCH_BEHIND packets behind the next one (rings of
// HIP have 16384) and SEARCH_BEFORE before it. Of each process at most SETTERS_MOST are kept.
enum { SEARCH_BEHIND = 16384, SEARCH_BEFORE = 32, SETTERS_MOST = 1 << 20 };

const char *why_state_word(enum why_state s)
{
	static const char *const words[WHY_STATES] = {
		[WHY_UNKNOWN] = "unknown",
		[WHY_COMPUTING] = "computing",
		[WHY_COMPUTING_OR_HUNG] = "computing-or-hung",
		[WHY_IDLE] = "idle",
		[WHY_WAITS_BARRIER] = "waits-barrier",
		[WHY_WAITS_EXTERNAL] = "waits-external",
		[WHY_DEADLOCK] = "deadlock",
		[WHY_UNPUBLISHED] = "not-published",
		[WHY_DOORBELL_LOST] = "doorbell-lost",
		[WHY_TURNS] = "takes-turns",
		[WHY_SUSPENDED] = "suspended",
		[WHY_EVICTED] = "evicted",
		[WHY_SUSPENDED_OR_EVICTED] = "suspended-or-evicted",
		[WHY_SUSPENDED_OR_RESET] = "suspended-or-reset",
		[WHY_ERROR] = "error",
	};
	return words[s];
}

bool why_is_stuck(enum why_state s)
{
	return s == WHY_DEADLOCK || s == WHY_UNPUBLISHED || s == WHY_DOORBELL_LOST ||
	       s == WHY_ERROR;
}

static bool has_error(const struct why_queue *x)
{
	return x->exceptions && x->exceptions != KFD_UNKNOWN;
}

static const struct memory *memory_of(const struct why *w, const struct why_queue *x)
{
	return &w->rings->processes[x->q->process].memory;
}

// --- looks at the queues ---

static void look_at_indices(struct why *w)
{
	for (size_t i = 0; i < w->n; i++) {
		struct why_queue *x = &w->v[i];
		x->q = &w->rings->v[i];
		x->problem = ring_indices(&x->q->ring, memory_of(w, x), &x->first);
	}
}

static void look_at_heads(struct why *w)
{
	SCOPED(free_at) struct why_queue **v = xcalloc(w->n + 1, sizeof(struct why_queue *));
	size_t n = 0;
	for (size_t i = 0; i < w->n; i++) {
		w->v[i].unread = true; // the first look reads the packets
		if (!w->v[i].problem)
			v[n++] = &w->v[i];
	}
	why_glance(v, n, w->rings);
	for (size_t i = 0; i < w->n; i++)
		w->v[i].exceptions = why_exceptions(w->v[i].q, memory_of(w, &w->v[i]));
}

static bool has_moved(const struct why_queue *x)
{
	return x->now.read != x->first.read;
}

// Signals change while they are read: a queue whose read index has moved meanwhile is not blocked.
static void confirm_blocked(struct why *w)
{
	for (size_t i = 0; i < w->n; i++) {
		struct why_queue *x = &w->v[i];
		struct ring_indices now;
		if (!x->blocked || x->problem)
			continue;
		x->problem = ring_indices(&x->q->ring, memory_of(w, x), &now);
		if (!x->problem && now.read != x->now.read) {
			x->blocked = false;
			x->now = now;
		}
	}
}

// --- which packets set signals ---

struct setter {
	uint64_t signal;
	struct why_setter packet;
};

struct setters {
	struct setter *v;
	size_t n, cap;
};

static int by_signal(const void *a, const void *b)
{
	const struct setter *s = a, *t = b;
	const struct why_setter *x = &s->packet, *y = &t->packet;
	int r = ORDER(s->signal, t->signal);
	r = r ? r : ORDER(x->taken, y->taken); // taken packets last: they may be leftovers
	r = r ? r : ORDER(x->queue, y->queue);
	return r ? r : ORDER(x->index, y->index);
}

// Adds the packets of a queue that set signals. Returns false if some packets could not be read, or
// were too many.
static bool add_setters(struct setters *s, const struct why *w, size_t queue)
{
	const struct why_queue *x = &w->v[queue];
	struct ring_look l;
	if (x->problem)
		return false;
	ring_look(&x->q->ring, memory_of(w, x), SEARCH_BEFORE, SEARCH_BEHIND, &l);
	bool all = !l.problem && (!l.n || l.v[l.n - 1].packet.bytes);
	for (size_t i = 0; i < l.n && s->n < SETTERS_MOST; i++) {
		const struct packet *p = &l.v[i].packet;
		all &= l.v[i].state != RING_LOST;
		const uint64_t signal = p->writes % 64 == SIGNAL_VALUE_AT
						? p->writes - SIGNAL_VALUE_AT
						: p->completion;
		if (signal)
			*ARRAY_ADD(s->v, s->cap, s->n) = (struct setter){
				signal,
				{queue, l.v[i].index, p->type, p->kernel_object,
				 l.v[i].state == RING_TAKEN},
			};
	}
	all &= s->n < SETTERS_MOST;
	ring_look_fini(&l);
	return all;
}

// Returns the index of the first packet that sets the signal, or s->n if none does.
static size_t first_setter(const struct setters *s, uint64_t signal)
{
	size_t low = 0, high = s->n;
	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		if (s->v[middle].signal < signal)
			low = middle + 1;
		else
			high = middle;
	}
	return low < s->n && s->v[low].signal == signal ? low : s->n;
}

static void find_setter(const struct setters *s, struct why_dep *d)
{
	const size_t at = d->signal ? first_setter(s, d->signal) : s->n;
	if (at < s->n && s->v)
		d->by = s->v[at].packet;
}

// Do packets other than older ones of the same queue use the completion signal of the packet taken
// last? Runtimes reuse signals; then the signal's value tells nothing about that packet.
static bool is_used_again(const struct setters *s, const struct why *w, size_t queue)
{
	const struct why_queue *x = &w->v[queue];
	for (size_t i = first_setter(s, x->last.completion);
	     i < s->n && s->v[i].signal == x->last.completion; i++)
		if (s->v[i].packet.queue != queue || s->v[i].packet.index >= x->now.read)
			return true;
	return false;
}

// Finds the packets that set the signals which queues first to end - 1, of one process, wait for.
static void find_setters(struct why *w, size_t first, size_t end)
{
	struct setters s = {0};
	bool any = false, blind = false;
	for (size_t i = first; i < end; i++)
		any |= w->v[i].blocked || why_last_runs(&w->v[i]);
	for (size_t i = first; i < end && any; i++)
		blind |= !add_setters(&s, w, i);
	ARRAY_SORT(s.v, s.n, by_signal);
	for (size_t i = first; i < end; i++) {
		w->v[i].blind = blind;
		w->v[i].unread |= blind && w->v[i].blocked;
		for (unsigned d = 0; d < w->v[i].ndeps && w->v[i].blocked; d++)
			if (!w->v[i].deps[d].open)
				find_setter(&s, &w->v[i].deps[d]);
		if (why_last_runs(&w->v[i]) && is_used_again(&s, w, i))
			w->v[i].has_last_value = false;
	}
	free(s.v);
}

// --- which queues go on ---

static bool dep_goes_on(const struct why *w, const struct why_dep *d)
{
	return d->open || d->by.queue == SIZE_MAX || d->by.taken || w->v[d->by.queue].goes_on;
}

static bool can_go_on(const struct why *w, const struct why_queue *x)
{
	const bool any = x->next.waits == PACKET_WAITS_ANY;
	if (has_error(x))
		return false;
	if (!x->blocked)
		return true;
	for (unsigned i = 0; i < x->ndeps; i++)
		if (dep_goes_on(w, &x->deps[i]) == any)
			return any;
	return !any;
}

// Marks all queues that go on; the others are deadlocked, since they wait only for each other or
// for a queue with an error. Each round but the last marks at least one more queue.
static void find_deadlocks(struct why *w)
{
	for (bool more = true; more;) {
		more = false;
		for (size_t i = 0; i < w->n; i++)
			if (!w->v[i].goes_on && can_go_on(w, &w->v[i]))
				w->v[i].goes_on = more = true;
	}
}

// --- who took a queue off the hardware ---

static bool others_are_on(const struct why *w, const struct queue_row *row)
{
	for (size_t i = 0; i < w->n; i++) {
		const struct queue_row *r = w->v[i].q->row;
		if (r->pid == row->pid && r->gpu_id == row->gpu_id && r->context == row->context &&
		    r->on_hw == 1)
			return true;
	}
	return false;
}

static void name_suspender(struct why_queue *x, pid_t pid)
{
	struct proc p;
	x->by_pid = pid;
	if (pid > 0 && proc_read(&p, pid) == 0)
		snprintf(x->by_name, sizeof(x->by_name), "%s", p.comm);
}

// Returns the state of a queue that is off hardware; WHY_UNKNOWN: the queue is on, or may be.
static enum why_state state_off(const struct why *w, struct why_queue *x)
{
	const struct queue_row *r = x->q->row;
	struct proc p;
	if (r->now.holder != INT64_MIN) {
		name_suspender(x, (pid_t)r->now.holder);
		return WHY_SUSPENDED;
	}
	if (r->on_hw != 0)
		return WHY_UNKNOWN;
	x->trigger = evictions_trigger(w->evictions, &w->rings->from.rows, r);
	if (x->trigger || (r->state && strcmp(r->state, "evicted") == 0))
		return WHY_EVICTED;
	if (proc_read(&p, (pid_t)r->pid) == 0 && p.tracer > 0)
		name_suspender(x, p.tracer);
	// The driver evicts all queues of a process on a GPU, but resets only a queue that hangs.
	if (!others_are_on(w, r))
		return WHY_SUSPENDED_OR_EVICTED;
	return x->by_pid ? WHY_SUSPENDED : WHY_SUSPENDED_OR_RESET;
}

// --- the state of a queue ---

static bool is_chained(const struct why *w, const struct why_queue *x)
{
	const struct queue_row *r = x->q->row;
	const struct rls_node *n = rls_find(&w->rings->from.rows.rls, (uint32_t)r->gpu_id);
	return r->mqd.turns || (n && n->chained && !queue_row_is_sdma(r));
}

// Returns the state of a blocked queue, and sets `because`: in a deadlock, to a wait for a queue
// that does not go on; else to a wait for a signal that no packet of the process sets, or, if there
// is none or any one signal suffices, to a wait for a packet that will be reached.
static enum why_state state_blocked(const struct why *w, struct why_queue *x)
{
	const bool any = x->next.waits == PACKET_WAITS_ANY;
	const struct why_dep *inside = NULL, *outside = NULL, *dead = NULL;
	for (unsigned i = 0; i < x->ndeps; i++) {
		const struct why_dep *d = &x->deps[i];
		if (d->open || !d->known)
			continue;
		if (d->by.queue == SIZE_MAX)
			outside = outside ? outside : d;
		else if (!dep_goes_on(w, d))
			dead = dead ? dead : d;
		else
			inside = inside ? inside : d;
	}
	if (!x->goes_on) {
		x->because = dead;
		return WHY_DEADLOCK;
	}
	x->because = any && inside ? inside : outside ? outside : inside ? inside : dead;
	return x->because == outside ? WHY_WAITS_EXTERNAL : WHY_WAITS_BARRIER;
}

static bool doorbell_is_lost(const struct why_queue *x)
{
	const uint64_t seen = x->q->slot_write;
	return seen != KFD_UNKNOWN && x->q->ring.kind != RING_PM4 && seen <= x->now.read &&
	       seen < x->now.write;
}

static enum why_state queue_verdict(const struct why *w, struct why_queue *x)
{
	const enum why_state off = has_error(x) ? WHY_ERROR : state_off(w, x);
	if (off != WHY_UNKNOWN)
		return off;
	if (x->problem)
		return WHY_UNKNOWN;
	if (x->blocked && !has_moved(x))
		return state_blocked(w, x);
	if (x->now.read == x->now.write)
		return has_moved(x) || why_last_runs(x) ? WHY_COMPUTING : WHY_IDLE;
	if (is_chained(w, x))
		return WHY_TURNS;
	if (has_moved(x) || why_last_runs(x))
		return WHY_COMPUTING;
	if (x->next_state == RING_UNPUBLISHED)
		return x->first.write > x->first.read ? WHY_UNPUBLISHED : WHY_UNKNOWN;
	if (!x->next.type || x->unsure)
		return WHY_UNKNOWN;
	return doorbell_is_lost(x) ? WHY_DOORBELL_LOST : WHY_COMPUTING_OR_HUNG;
}

static bool may_be_hung(const struct why *w)
{
	for (size_t i = 0; i < w->n; i++) {
		const struct why_queue *x = &w->v[i];
		if (!x->problem && !x->blocked && !has_moved(x) && x->now.read < x->now.write)
			return true;
	}
	return false;
}

// --- the state in words ---

static void tell_dep(struct buf *b, const struct why *w, const struct why_queue *x)
{
	const struct why_dep *d = x->because;
	if (!d)
		return;
	buf_printf(b, "signal 0x%" PRIx64 " is %" PRId64, d->signal, d->value);
	if (d->by.queue == SIZE_MAX) {
		buf_puts(b,
			 x->blind ? ", and no packet that could be read sets it"
				  : ", and no packet of this process sets it: the host, or another "
				    "process");
		return;
	}
	const struct queue_row *by = w->v[d->by.queue].q->row;
	buf_printf(b, ", set by packet %" PRIu64 " (%s) of ", d->by.index, d->by.type);
	if (by->qid == KFD_UNKNOWN)
		buf_puts(b, "another queue");
	else if (d->by.queue == (size_t)(x - w->v))
		buf_puts(b, "this queue");
	else
		buf_printf(b, "queue %" PRIu64, by->qid);
	if (d->by.taken)
		buf_puts(b, ", which is taken");
}

static void tell_turns(struct buf *b, const struct why *w, const struct why_queue *x)
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
	buf_printf(b, "%zu compute queues of %zu processes share the GPU", queues, processes);
	if (g && g->cp_queues != KFD_UNKNOWN)
		buf_printf(b, ", which has %" PRIu64 " slots", g->cp_queues);
	if (host_read_u64("/sys/module/amdgpu/parameters/hws_max_conc_proc", &most) == 0)
		buf_printf(b, "; amdgpu.hws_max_conc_proc is %" PRIu64, most);
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

static void tell_hung(struct buf *b, const struct why_queue *x)
{
	char text[REG_ERROR_TEXT];
	const uint64_t error = x->q->slot_error;
	buf_puts(b,
		 "the next packet waits for nothing, and is not taken: a long kernel, or one that "
		 "hangs");
	if (error && error != KFD_UNKNOWN)
		buf_printf(b, "; its slot notes %s", reg_error_text(text, (uint32_t)error));
}

static void tell_idle(struct buf *b, const struct why_queue *x)
{
	if (x->last.type && x->last.kernel_object && !x->last.completion)
		buf_puts(b, "all packets are taken; whether the last kernel still runs no signal "
			    "tells");
	else if (x->last.completion && !x->has_last_value)
		buf_puts(b, "all packets are taken; the signal of the last cannot be read, or is "
			    "another packet's by now");
}

uint64_t why_taken(const struct why_queue *x)
{
	const uint64_t taken = x->now.read - x->first.read;
	return x->q->ring.kind == RING_PM4 ? taken & (x->q->ring.bytes / 4 - 1) : taken;
}

static void tell_computing(struct buf *b, const struct why *w, const struct why_queue *x)
{
	if (has_moved(x))
		buf_printf(b, "%" PRIu64 "%s taken in %.3g ms", why_taken(x),
			   x->q->ring.kind == RING_AQL    ? " packets"
			   : x->q->ring.kind == RING_SDMA ? " bytes"
							  : " dwords",
			   (double)w->over_ns / 1e6);
	else
		buf_printf(b,
			   "packet %" PRIu64 " is taken, and its signal 0x%" PRIx64 " is %" PRId64,
			   x->now.read - 1, x->last.completion, x->last_value);
}

static char *tell_state(const struct why *w, const struct why_queue *x)
{
	struct buf b = {0};
	switch (x->state) {
	case WHY_UNKNOWN:
		if (x->problem && w->rings->processes[x->q->process].error)
			buf_puts(&b, "the memory of the process cannot be read");
		else if (x->problem)
			buf_puts(&b, ring_problem_text(x->problem));
		else if (x->unsure)
			buf_puts(&b, "a signal that the next packet waits for cannot be read");
		else
			buf_puts(&b, "the next packet could not be read");
		break;
	case WHY_COMPUTING: tell_computing(&b, w, x); break;
	case WHY_COMPUTING_OR_HUNG: tell_hung(&b, x); break;
	case WHY_IDLE: tell_idle(&b, x); break;
	case WHY_WAITS_BARRIER:
	case WHY_WAITS_EXTERNAL:
	case WHY_DEADLOCK: tell_dep(&b, w, x); break;
	case WHY_UNPUBLISHED:
		buf_printf(&b, "packet %" PRIu64 " is not written, and the write index is %" PRIu64,
			   x->now.read, x->now.write);
		break;
	case WHY_DOORBELL_LOST:
		buf_printf(&b, "the write index is %" PRIu64 ", and its slot has seen %" PRIu64,
			   x->now.write, x->q->slot_write);
		break;
	case WHY_TURNS: tell_turns(&b, w, x); break;
	case WHY_SUSPENDED:
	case WHY_SUSPENDED_OR_EVICTED:
	case WHY_SUSPENDED_OR_RESET: tell_by(&b, x); break;
	case WHY_ERROR:
		buf_puts(&b, "the driver noted ");
		why_exceptions_text(&b, x->exceptions);
		break;
	case WHY_EVICTED:
		buf_puts(&b, "by the driver, with all queues of the process on this GPU");
		if (x->trigger)
			buf_printf(&b, ": %s", x->trigger);
		break;
	default: break;
	}
	return b.data;
}

void why_look(struct why *w, struct rings *r, const struct evictions *e, uint64_t over_ns)
{
	*w = (struct why){.n = r->n, .rings = r, .evictions = e};
	w->v = xcalloc(r->n ? r->n : 1, sizeof(*w->v));
	const uint64_t begin = clock_ns();
	look_at_indices(w);
	if (host_is_live() && r->n) // recorded indices do not move
		stop_sleep(clock_ns() + over_ns);
	look_at_heads(w);
	w->over_ns = clock_ns() - begin;
	for (size_t i = 0, end; i < w->n; i = end) {
		for (end = i + 1; end < w->n && w->v[end].q->process == w->v[i].q->process; end++)
			;
		find_setters(w, i, end);
	}
	confirm_blocked(w);
	find_deadlocks(w);
	// Slots are read after the write indices: if a slot still has an older write index, the
	// doorbell of that queue was lost.
	if (may_be_hung(w))
		rings_read_slots(r);
	for (size_t i = 0; i < w->n; i++)
		w->v[i].state = queue_verdict(w, &w->v[i]);
	for (size_t i = 0; i < w->n; i++)
		w->v[i].detail = tell_state(w, &w->v[i]);
}

void why_fini(struct why *w)
{
	for (size_t i = 0; i < w->n; i++)
		free(w->v[i].detail);
	free(w->v);
	*w = (struct why){0};
}
