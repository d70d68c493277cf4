// Judges queues and processes by what two looks have shown; see why.h.
//
// First each queue is judged by itself. Then waits are followed: over queues that wait themselves,
// up to the root, a queue that waits for no packet.
#include "common/why/why.h"

#include "common/host/clock.h"
#include "common/host/proc.h"
#include "common/why/gpu_clock.h"

bool why_has_error(const struct why_queue *x)
{
	return x->exceptions && x->exceptions != KFD_UNKNOWN;
}

static struct why_process *process_of(const struct why *w, const struct why_queue *x)
{
	return &w->processes[x->q->process];
}

// --- the host's side ---

static const struct proc_threads *threads_of(const struct why *w, const struct why_queue *x)
{
	struct why_process *p = process_of(w, x);
	if (!p->has_threads)
		proc_threads_read(&p->threads, (pid_t)x->q->row->pid);
	p->has_threads = true;
	return &p->threads;
}

static bool is_stopped(const struct why *w, const struct why_queue *x)
{
	return proc_threads_stand(threads_of(w, x));
}

// When the queue's process began, since boot; UINT64_MAX: unknown.
static uint64_t began_us(const struct why *w, const struct why_queue *x)
{
	struct why_process *p = process_of(w, x);
	uint64_t ticks;
	if (!p->since_us)
		p->since_us = proc_start_ticks((pid_t)x->q->row->pid, &ticks)
				      ? UINT64_MAX
				      : ticks * (1000000 / (uint64_t)sysconf(_SC_CLK_TCK));
	return p->since_us;
}

// Returns the last line of the kernel's log about the queue's GPU since its process began, or NULL.
// `vague`: also lines that name no GPU, where there are several.
static const struct klog_line *log_of(struct why *w, const struct why_queue *x, unsigned kinds,
				      bool vague)
{
	const struct queue_row *r = x->q->row;
	if (!w->has_log && !w->how->log)
		klog_read(&w->log);
	w->has_log = true;
	const struct klog_whose whose = {r->gpu.bdf, r->pid, r->usage.pasid, began_us(w, x),
					 vague || w->rings->from.rows.gpus.n == 1};
	return klog_last(w->how->log ? w->how->log : &w->log, &whose, kinds);
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
static enum why_state state_off(struct why *w, struct why_queue *x)
{
	const struct queue_row *r = x->q->row;
	struct proc p;
	if (r->now.holder != INT64_MIN) {
		name_suspender(x, (pid_t)r->now.holder);
		return WHY_SUSPENDED;
	}
	if (r->on_hw != 0)
		return WHY_UNKNOWN;
	// During a reset queues may be called lost, too.
	x->log = log_of(w, x, KLOG_RESET | KLOG_DEAD, false);
	x->log = x->log ? x->log : log_of(w, x, KLOG_LOST, false);
	if (x->log)
		return x->log->kind == KLOG_RESET ? WHY_RESET : WHY_LOST;
	x->trigger = evictions_trigger(w->how->evictions, &w->rings->from.rows, r);
	if (x->trigger || (r->state && strcmp(r->state, "evicted") == 0))
		return WHY_EVICTED;
	if (proc_read(&p, (pid_t)r->pid) == 0 && p.tracer > 0)
		name_suspender(x, p.tracer);
	// The driver evicts all queues of a process on a GPU, but resets only a queue that hangs.
	if (!others_are_on(w, r))
		return WHY_SUSPENDED_OR_EVICTED;
	return x->by_pid ? WHY_SUSPENDED : WHY_SUSPENDED_OR_RESET;
}

// --- the packet at work ---

static bool is_dispatch(const struct packet *p)
{
	return p->type && p->kernel_object;
}

static struct why_setter packet_at(const struct why *w, const struct why_queue *x,
				   const struct packet *p, uint64_t index)
{
	return (struct why_setter){(size_t)(x - w->v), index, p->type, p->kernel_object, p->left};
}

// Sets the packet that the queue has at work. A kernel that was taken may have ended, if it has no
// signal that tells; then the next packet, if it is a kernel, may be the one at work: some GPUs
// move the read index when a kernel ends.
static void find_work(const struct why *w, struct why_queue *x)
{
	const bool next = x->next.type && !x->blocked;
	const struct why_setter head = packet_at(w, x, &x->next, x->now.read),
				last = packet_at(w, x, &x->last, x->now.read - 1);
	x->work_sure = true;
	if (why_last_runs(x)) {
		x->work = last;
	} else if (x->older.queue != SIZE_MAX) {
		x->work = x->older;
	} else if (next && x->next.barrier && is_dispatch(&x->last) && !x->has_last_value) {
		x->work = last;
		x->work_sure = !is_dispatch(&x->next);
	} else if (next && is_dispatch(&x->next)) {
		x->work = head;
	}
}

// --- the state of a queue by itself ---

static bool is_chained(const struct why *w, const struct why_queue *x)
{
	const struct queue_row *r = x->q->row;
	const struct rls_node *n = rls_find(&w->rings->from.rows.rls, (uint32_t)r->gpu_id);
	return r->mqd.turns || (n && n->chained && !queue_row_is_sdma(r));
}

static bool doorbell_is_lost(const struct why_queue *x)
{
	const uint64_t seen = x->q->slot_write;
	return seen != KFD_UNKNOWN && x->q->ring.kind != RING_PM4 && seen <= x->now.read &&
	       seen < x->now.write;
}

// Could a packet not be read, at the head or before it, that is in memory of a device?
static bool ring_is_on_gpu(struct why *w, const struct why_queue *x)
{
	const bool lost = x->next_state == RING_LOST ||
			  (!x->last.type && x->now.read && x->q->ring.kind == RING_AQL);
	struct why_place place;
	return lost && x->unread && why_place_of(w, x->q->process, x->q->ring.base, &place) &&
	       !place.named;
}

// A kernel that was taken may have begun long before gpq looked: its signal, if it is its alone,
// has the time, by the counter of the GPU.
static void note_began(const struct why *w, struct why_queue *x)
{
	const struct memory *m = &w->rings->processes[x->q->process].memory;
	struct gpu_clock now;
	uint64_t began;
	if (x->state != WHY_HUNG_OR_LONG || !why_last_runs(x) || !x->q->chosen ||
	    !memory_signal_began(m, x->last.completion, &began))
		return;
	const struct kfd_gpu *g =
		kfd_topology_find(&w->rings->from.rows.gpus, (uint32_t)x->q->row->gpu_id);
	if (!g || !gpu_clock_read(&now, g->render_minor) || began > now.ticks)
		return;
	const uint64_t now_us = clock_read_ns(CLOCK_BOOTTIME) / 1000, process_us = began_us(w, x);
	const double ran_us = (double)(now.ticks - began) * 1e3 / (double)now.khz;
	if (process_us < now_us && ran_us < (double)(now_us - process_us) &&
	    ran_us * 1e3 > (double)x->stood_ns)
		x->stood_ns = (uint64_t)(ran_us * 1e3);
}

// The ring is empty, and was before. `cu_occupancy` counts all queues of the process on the GPU.
static enum why_state state_empty(const struct why_queue *x)
{
	const uint64_t cus = x->q->row->usage.cu_occupancy;
	if (why_last_runs(x))
		return WHY_HUNG_OR_LONG;
	if (x->older.queue != SIZE_MAX)
		return cus == KFD_UNKNOWN ? WHY_IDLE_OR_RUNNING : WHY_HUNG_OR_LONG;
	if (x->has_last_value || (!is_dispatch(&x->last) && !x->on_gpu) || cus == 0)
		return WHY_IDLE;
	return WHY_IDLE_OR_RUNNING;
}

// The packet was not written at either look, and threads were looked at since: one that has written
// it meanwhile may be asleep by now, and the GPU may have taken it.
static enum why_state state_unpublished(const struct why *w, const struct why_queue *x)
{
	struct ring_look l;
	ring_look(&x->q->ring, &w->rings->processes[x->q->process].memory, 0, 0, &l);
	const bool lost = l.problem || (l.n && l.v[0].state == RING_LOST);
	const bool same = l.n && l.at.read == x->now.read && l.v[0].state == RING_UNPUBLISHED;
	ring_look_fini(&l);
	return lost ? WHY_UNKNOWN : same ? WHY_UNPUBLISHED : WHY_RUNNING;
}

// Threads were looked at since slots were read: one that rang the doorbell in between may be asleep
// by now.
static enum why_state state_not_rung(const struct why *w, const struct why_queue *x)
{
	rings_read_slots(w->rings);
	return doorbell_is_lost(x)               ? WHY_DOORBELL_LOST
	       : x->q->slot_write == KFD_UNKNOWN ? WHY_UNKNOWN
						 : WHY_RUNNING;
}

// The next packet waits for no signal, and no packet was taken.
static enum why_state state_standing(const struct why *w, const struct why_queue *x)
{
	const bool lost = doorbell_is_lost(x);
	if (x->next_state == RING_UNPUBLISHED && x->first.write <= x->first.read)
		return WHY_UNKNOWN;
	if (x->next_state == RING_UNPUBLISHED || lost)
		return is_stopped(w, x) ? WHY_STOPPED
		       : lost           ? state_not_rung(w, x)
					: state_unpublished(w, x);
	if (x->on_gpu)
		return x->q->in_slot == 0 ? WHY_WAITS_SLOT : WHY_HUNG_OR_LONG;
	if (!x->next.type || x->unsure || x->next.kind == PACKET_UNKNOWN ||
	    x->next.kind == PACKET_VENDOR)
		return WHY_UNKNOWN;
	return x->q->in_slot == 0 || (x->q->in_slot < 0 && is_chained(w, x)) ? WHY_WAITS_SLOT
									     : WHY_HUNG_OR_LONG;
}

// The indices are those of the slot or MQD, and what the packets are is not known.
static enum why_state state_by_slot(const struct why_queue *x)
{
	if (why_has_moved(x))
		return WHY_RUNNING;
	if (x->now.read == x->now.write)
		return queue_row_is_sdma(x->q->row) ? WHY_IDLE : WHY_IDLE_OR_RUNNING;
	if (x->q->in_slot == 0)
		return WHY_WAITS_SLOT;
	return x->once ? WHY_UNKNOWN : WHY_HUNG_OR_LONG;
}

static enum why_state own_state(struct why *w, struct why_queue *x)
{
	const enum why_state off = why_has_error(x) ? WHY_ERROR : state_off(w, x);
	if (off != WHY_UNKNOWN)
		return off;
	if (x->problem)
		return x->pointers ? state_by_slot(x) : WHY_UNKNOWN;
	if (why_has_moved(x))
		return WHY_RUNNING;
	x->on_gpu = ring_is_on_gpu(w, x);
	if (x->blocked)
		return WHY_WAITS_BARRIER; // for now: see judge_waits()
	if (x->now.read == x->now.write)
		return state_empty(x);
	if (why_last_runs(x))
		return WHY_HUNG_OR_LONG;
	return state_standing(w, x);
}

bool why_stands(enum why_state s)
{
	return s == WHY_HUNG_OR_LONG || s == WHY_WAITS_SLOT || s == WHY_DOORBELL_LOST;
}

// A queue that stands on a GPU whose reset failed does not go on.
static void give_up_if_dead(struct why *w, struct why_queue *x)
{
	const struct klog_line *l =
		why_stands(x->state) ? log_of(w, x, KLOG_RESET | KLOG_DEAD, false) : NULL;
	if (!l || l->kind != KLOG_DEAD)
		return;
	x->log = l;
	x->state = WHY_LOST;
}

// Looks up what else the log has of a queue that stands, or is off for a reason that it may tell.
static void find_trouble(struct why *w, struct why_queue *x)
{
	const bool hung = x->state == WHY_HUNG_OR_LONG,
		   off = x->state == WHY_EVICTED || x->state == WHY_SUSPENDED_OR_EVICTED;
	const unsigned sure = hung ? KLOG_FAULT | KLOG_RESET : 0,
		       kinds = why_stands(x->state) ? KLOG_LOST | KLOG_DEAD : 0;
	if (x->log || !(kinds || off))
		return;
	x->log = kinds ? log_of(w, x, sure | kinds, false) : NULL;
	if (!x->log) {
		x->log = log_of(w, x, kinds | (off ? KLOG_FREED : 0), true);
		x->log_vague = x->log != NULL;
	}
	if (!x->log && hung)
		x->log = log_of(w, x, KLOG_NONE, false);
}

// Is the kernel at work one of HIP's own, that waits for a word of memory (hipStreamWaitValue)?
static bool is_stream_wait(const struct why *w, const struct why_queue *x)
{
	const struct why_how *how = w->how;
	const char *name = x->state == WHY_HUNG_OR_LONG && x->work.queue != SIZE_MAX &&
					   x->work.kernel && how->name
				   ? how->name(how->arg, x->q, x->work.kernel)
				   : NULL;
	return name && strstr(name, "__amd_rocclr_streamOpsWait");
}

// --- waits ---

static bool waits(const struct why_queue *x)
{
	return x->state == WHY_WAITS_BARRIER;
}

static bool dep_goes_on(const struct why *w, const struct why_dep *d)
{
	return d->open || d->by.queue == SIZE_MAX || d->by.taken || w->v[d->by.queue].goes_on;
}

static bool can_go_on(const struct why *w, const struct why_queue *x)
{
	const bool any = x->next.waits == PACKET_WAITS_ANY;
	if (!waits(x))
		return true;
	for (unsigned i = 0; i < x->ndeps; i++)
		if (dep_goes_on(w, &x->deps[i]) == any)
			return any;
	return !any;
}

// Marks all queues that go on once others have; the others wait for each other alone. Each round
// but the last marks at least one more queue.
static void find_deadlocks(struct why *w)
{
	for (bool more = true; more;) {
		more = false;
		for (size_t i = 0; i < w->n; i++)
			if (!w->v[i].goes_on && can_go_on(w, &w->v[i]))
				w->v[i].goes_on = more = true;
	}
}

static bool is_halted(enum why_state s)
{
	return s != WHY_RUNNING && s != WHY_IDLE && s != WHY_IDLE_OR_RUNNING && s != WHY_UNKNOWN;
}

// How bad it is to wait for a queue in a state, or for a signal that no queue sets.
enum { BAD_STUCK, BAD_OFF, BAD_EXTERNAL, BAD_HUNG, BAD_NOT, BAD_UNKNOWN };

static uint8_t badness_of(enum why_state s)
{
	if (s == WHY_WAITS_BARRIER) // judged by what the queue waits for, once that is known
		return BAD_UNKNOWN;
	return why_rank(s) == 0        ? BAD_STUCK
	       : s == WHY_HUNG_OR_LONG ? BAD_HUNG
	       : is_halted(s)          ? BAD_OFF
				       : BAD_NOT;
}

static uint8_t badness_of_dep(const struct why *w, const struct why_dep *d, const uint8_t *badness)
{
	if (d->open || !d->known)
		return BAD_UNKNOWN;
	if (d->by.queue == SIZE_MAX)
		return BAD_EXTERNAL;
	if (!dep_goes_on(w, d))
		return BAD_STUCK;
	// A kernel that was taken is at work whatever the next packet of its queue waits for.
	return d->by.taken && waits(&w->v[d->by.queue]) ? BAD_HUNG : badness[d->by.queue];
}

// Chooses the wait that the state is about, and returns how bad that is: the worst one or, where
// any one signal suffices, the best. Of equals the first.
static uint8_t choose_wait(const struct why *w, const struct why_queue *x, const uint8_t *badness,
			   const struct why_dep **chosen)
{
	const bool any = x->next.waits == PACKET_WAITS_ANY;
	uint8_t worst = BAD_UNKNOWN;
	*chosen = NULL;
	for (unsigned i = 0; i < x->ndeps; i++) {
		const uint8_t b = badness_of_dep(w, &x->deps[i], badness);
		if (b == BAD_UNKNOWN || (*chosen && (any ? b <= worst : b >= worst)))
			continue;
		worst = b;
		*chosen = &x->deps[i];
	}
	return worst;
}

// A queue gets worse in each round in which its choice changes, so that this ends.
static void choose_waits(struct why *w)
{
	SCOPED(free_at) uint8_t *badness = xcalloc(w->n + 1, 1);
	const struct why_dep *d;
	for (size_t i = 0; i < w->n; i++)
		badness[i] = badness_of(w->v[i].state);
	for (bool more = true; more;) {
		more = false;
		for (size_t i = 0; i < w->n; i++) {
			if (!waits(&w->v[i]))
				continue;
			const uint8_t b = choose_wait(w, &w->v[i], badness, &d);
			if (b >= badness[i])
				continue;
			badness[i] = b;
			w->v[i].because = d;
			more = true;
		}
	}
}

struct route {
	struct why_queue *root;    // the queue at the end of the waits; NULL: they go in a circle
	const struct why_dep *end; // the last wait, if the packet that it is for was taken
	bool member;               // the queue at the beginning is part of the circle
};

static struct route follow(struct why *w, struct why_queue *x)
{
	struct route p = {.root = x};
	for (size_t steps = 0; steps <= w->n; steps++) {
		const struct why_dep *d = p.root->because;
		if (!waits(p.root) || !d || d->by.queue == SIZE_MAX)
			return p;
		p.root = &w->v[d->by.queue];
		p.end = d->by.taken ? d : NULL;
		if (p.end)
			return p;
		p.member |= p.root == x;
	}
	p.root = NULL;
	return p;
}

// The states are set last: follow() goes by those of before.
static enum why_state state_waiting(struct why *w, struct why_queue *x)
{
	const struct route p = follow(w, x);
	if (!p.root)
		return x->goes_on ? WHY_WAITS_BARRIER : p.member ? WHY_DEADLOCK : WHY_BEHIND;
	if (p.root == x && p.end) { // a kernel of its own that was taken sets the signal
		x->work = p.end->by;
		x->work_sure = true;
		return WHY_HUNG_OR_LONG;
	}
	if (p.root == x)
		return is_stopped(w, x) ? WHY_STOPPED : WHY_WAITS_EXTERNAL;
	x->root = (size_t)(p.root - w->v);
	return is_halted(p.root->state) ? WHY_BEHIND : WHY_WAITS_BARRIER;
}

// A queue behind a circle has one of the circle as its root.
static void find_circle(struct why *w, struct why_queue *x)
{
	const struct why_queue *y = x;
	while (y->state == WHY_BEHIND && y->root == SIZE_MAX)
		y = &w->v[y->because->by.queue];
	x->root = (size_t)(y - w->v);
}

static void judge_waits(struct why *w)
{
	SCOPED(free_at) enum why_state *judged = xcalloc(w->n + 1, sizeof(*judged));
	find_deadlocks(w);
	choose_waits(w);
	for (size_t i = 0; i < w->n; i++)
		judged[i] = waits(&w->v[i]) ? state_waiting(w, &w->v[i]) : w->v[i].state;
	for (size_t i = 0; i < w->n; i++)
		w->v[i].state = judged[i];
	for (size_t i = 0; i < w->n; i++)
		if (w->v[i].state == WHY_BEHIND && w->v[i].root == SIZE_MAX)
			find_circle(w, &w->v[i]);
}

// --- what is stuck ---

// Threads that have no processor may yet write the packet, or ring the doorbell.
static bool host_may_go_on(const struct why *w, const struct why_queue *x)
{
	return (x->state == WHY_UNPUBLISHED || x->state == WHY_DOORBELL_LOST) &&
	       threads_of(w, x)->running;
}

// A queue that stands counts as stuck after a time: not one that somebody made stand.
static bool counts_time(const struct why_queue *x)
{
	return why_rank(x->state) <= why_rank(WHY_WAITS_SLOT) && x->state != WHY_STOPPED;
}

static bool stands_too_long(const struct why *w, const struct why_queue *x)
{
	const uint64_t after = w->how->stuck_after_ns;
	return after && x->stood_ns >= after && counts_time(x);
}

bool why_may_get_stuck(const struct why *w)
{
	for (size_t i = 0; i < w->n; i++)
		if (w->v[i].q->chosen && !w->v[i].stuck && counts_time(&w->v[i]))
			return true;
	return false;
}

static void find_stuck(struct why *w)
{
	for (size_t i = 0; i < w->n; i++) {
		struct why_queue *x = &w->v[i];
		x->stuck =
			(why_rank(x->state) == 0 && !host_may_go_on(w, x)) || stands_too_long(w, x);
	}
	for (size_t i = 0; i < w->n; i++)
		find_trouble(w, &w->v[i]);
	for (size_t i = 0; i < w->n; i++)
		if (w->v[i].state == WHY_BEHIND)
			w->v[i].stuck |= w->v[w->v[i].root].stuck;
}

// --- processes ---

// Does `x` come before `y` in a verdict? Roots come before what waits behind them.
static bool is_worse(const struct why_queue *x, const struct why_queue *y)
{
	const unsigned a = why_rank(x->state), b = why_rank(y->state);
	return x->stuck != y->stuck ? x->stuck : a < b;
}

static void judge_process(struct why *w, struct why_process *p)
{
	p->worst = p->first;
	for (size_t i = p->first; i < p->end; i++) {
		const struct why_queue *x = &w->v[i];
		if (!x->q->chosen)
			continue;
		if (!p->chosen++ || is_worse(x, &w->v[p->worst]))
			p->worst = i;
		p->stuck += x->stuck;
	}
	const size_t root = w->n ? w->v[p->worst].root : SIZE_MAX;
	if (root != SIZE_MAX && root >= p->first && root < p->end) // else it is another process's
		p->worst = root;
	for (size_t i = p->first; i < p->end; i++)
		p->waiting += w->v[i].q->chosen && w->v[i].root == p->worst;
}

void why_judge(struct why *w)
{
	for (size_t i = 0; i < w->n; i++) {
		find_work(w, &w->v[i]);
		w->v[i].state = own_state(w, &w->v[i]);
		give_up_if_dead(w, &w->v[i]);
		note_began(w, &w->v[i]);
		if (is_stream_wait(w, &w->v[i]))
			w->v[i].state = is_stopped(w, &w->v[i]) ? WHY_STOPPED : WHY_WAITS_EXTERNAL;
	}
	judge_waits(w);
	find_stuck(w);
	for (size_t i = 0; i < w->rings->nprocesses; i++)
		judge_process(w, &w->processes[i]);
}
