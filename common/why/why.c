// Looks twice at queues, and finds the packets that they wait for; see why.h.
#include "common/why/why.h"

#include "common/why/interrupts.h"

#include "common/cli/stop.h"
#include "common/host/clock.h"
#include "common/host/proc.h"
#include "common/host/root.h"
#include "common/reader/stacks.h"

// Packets that set signals are searched among SEARCH_BEHIND packets behind the next one (rings of
// HIP have 16384) and a few before it, or as many if those do not tell. Of each process at most
// SETTERS_MOST are kept.
enum { SEARCH_BEHIND = 16384, SEARCH_BEFORE = 32, SETTERS_MOST = 1 << 20 };

static const struct memory *memory_of(const struct why *w, const struct why_queue *x)
{
	return &w->rings->processes[x->q->process].memory;
}

// --- looks at the queues ---

// A look begins: now, or when it did while the host was recorded.
static uint64_t begin_look(const struct rings *r)
{
	uint64_t now = host_is_live() ? clock_ns() : proc_recorded_ns();
	for (size_t i = 0; i < r->nprocesses; i++)
		if (r->processes[i].memory.record)
			memory_record_look(r->processes[i].memory.record, &now);
	return now;
}

static void look_at_indices(struct why *w)
{
	for (size_t i = 0; i < w->n; i++) {
		struct why_queue *x = &w->v[i];
		x->q = &w->rings->v[i];
		x->root = x->work.queue = x->older.queue = SIZE_MAX;
		x->older.index = UINT64_MAX;
		x->problem = ring_indices(&x->q->ring, memory_of(w, x), &x->first);
		x->pointers = x->problem ? NULL : "process";
	}
}

// Where the memory of its process does not tell the indices of a queue, its slot does or, if it is
// in none, its MQD [debugfs.mqd-stale].
static const char *indices_of_slot(const struct ring_queue *q, struct ring_indices *i)
{
	struct ring_indices saved;
	if (q->slot_read != KFD_UNKNOWN) {
		*i = (struct ring_indices){q->slot_read, q->slot_write};
		return "live";
	}
	if (q->in_slot != 0 ||
	    !queue_row_indices(q->row, q->row->v[MQD_V_RPTR], q->row->v[MQD_V_WPTR], true,
			       &saved.read, &saved.write))
		return NULL;
	*i = saved;
	return "saved";
}

// Reads slots for the queues whose memory does not tell. Returns whether there are such queues.
static bool look_at_slots(struct why *w, struct rings *r, bool first)
{
	const bool live = host_is_live();
	bool any = false;
	for (size_t i = 0; i < w->n; i++) // SDMA queues lack their write index: not a cause alone
		any |= w->v[i].problem && (w->v[i].problem != RING_NO_WRITE || !live);
	if (any)
		rings_read_slots(r);
	for (size_t i = 0; i < w->n && any; i++) {
		struct why_queue *x = &w->v[i];
		if (!x->problem || (live && !first && !x->pointers)) // one look does not tell
			continue;
		x->pointers = indices_of_slot(x->q, first ? &x->first : &x->now);
		if (!live)
			x->first = x->now;
	}
	return any;
}

static void look_at_interrupts(const struct why *w, struct buf *rows, uint64_t now)
{
	if (!host_is_live() && !rows->len) // a recording has those of all of its looks
		host_read(rows, IRQS_PATH);
	for (size_t i = 0; i < w->n && host_is_live(); i++)
		irqs_look(rows, now, w->rings->v[i].row->gpu.bdf);
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

bool why_has_moved(const struct why_queue *x)
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
static bool add_setters(struct setters *s, const struct why *w, size_t queue, uint64_t before)
{
	const struct why_queue *x = &w->v[queue];
	struct ring_look l;
	if (x->problem)
		return false;
	ring_look(&x->q->ring, memory_of(w, x), before, SEARCH_BEHIND, &l);
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

static struct why_setter setter_of(const struct setters *s, uint64_t signal)
{
	const size_t at = signal ? first_setter(s, signal) : s->n;
	return at < s->n && s->v ? s->v[at].packet : (struct why_setter){.queue = SIZE_MAX};
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

// Finds packets of queues first to end - 1, of one process, in `s`. Returns whether some may be
// missing.
static bool read_setters(struct setters *s, const struct why *w, size_t first, size_t end,
			 uint64_t before)
{
	bool blind = false;
	for (size_t i = first; i < end; i++)
		blind |= !add_setters(s, w, i, before);
	ARRAY_SORT(s->v, s->n, by_signal);
	return blind;
}

// Sets the oldest kernel that was taken before the last one and has not completed, as a signal says
// that no other packet uses.
static void find_older(const struct setters *s, struct why *w, size_t queue)
{
	struct why_queue *x = &w->v[queue];
	for (size_t i = 0; i < s->n; i++) {
		const struct setter *c = &s->v[i];
		int64_t value;
		if (c->packet.queue == queue && c->packet.taken && c->packet.kernel &&
		    c->packet.index + 1 < x->now.read && c->packet.index < x->older.index &&
		    (!i || c[-1].signal != c->signal) &&
		    (i + 1 == s->n || c[1].signal != c->signal) &&
		    memory_signal(memory_of(w, x), c->signal, &value) && value > 0)
			x->older = c->packet;
	}
}

// May an older kernel than the last one be at work?
static bool may_have_older(const struct why_queue *x)
{
	return !x->problem && !x->blocked && !why_has_moved(x) && !why_last_runs(x) &&
	       x->last.kernel_object && x->q->row->usage.cu_occupancy != 0;
}

// Sets by whom each signal is set that the queues wait for. Returns whether all are found.
static bool find_setters(struct why *w, size_t first, size_t end)
{
	struct setters s = {0};
	const bool blind = read_setters(&s, w, first, end, SEARCH_BEFORE);
	bool found = true;
	for (size_t i = first; i < end; i++) {
		struct why_queue *x = &w->v[i];
		x->blind = blind;
		x->unread |= blind && x->blocked;
		for (unsigned d = 0; d < x->ndeps && x->blocked; d++) {
			if (!x->deps[d].open)
				x->deps[d].by = setter_of(&s, x->deps[d].signal);
			found &= x->deps[d].open || x->deps[d].by.queue != SIZE_MAX;
		}
		if (why_last_runs(x) && is_used_again(&s, w, i))
			x->has_last_value = false;
		if (may_have_older(x))
			find_older(&s, w, i);
	}
	free(s.v);
	return found;
}

// Finds packets, taken long ago, of the signals that no other packet sets.
static void find_old_setters(struct why *w, size_t first, size_t end)
{
	struct setters s = {0};
	read_setters(&s, w, first, end, SEARCH_BEHIND);
	for (size_t i = first; i < end; i++)
		for (unsigned d = 0; d < w->v[i].ndeps; d++)
			if (!w->v[i].deps[d].open && w->v[i].deps[d].by.queue == SIZE_MAX)
				w->v[i].deps[d].was = setter_of(&s, w->v[i].deps[d].signal);
	free(s.v);
}

static void find_all_setters(struct why *w, size_t first, size_t end)
{
	bool any = false;
	for (size_t i = first; i < end; i++)
		any |= w->v[i].blocked || why_last_runs(&w->v[i]) || may_have_older(&w->v[i]);
	if (any && !find_setters(w, first, end))
		find_old_setters(w, first, end);
}

// --- signals that processes share ---

// A wait for a signal that no packet of the queue's process sets, and where the signal lies.
struct orphan {
	struct why_queue *x;
	struct why_dep *dep;
	struct why_place place;
};

static struct orphan *find_orphans(struct why *w, size_t *n)
{
	struct orphan *v = NULL;
	size_t cap = 0;
	*n = 0;
	for (size_t i = 0; i < w->n; i++) {
		struct why_queue *x = &w->v[i];
		for (unsigned d = 0; d < x->ndeps && x->blocked; d++) {
			struct orphan o = {.x = x, .dep = &x->deps[d]};
			if (o.dep->open || !o.dep->known || !o.dep->signal ||
			    o.dep->by.queue != SIZE_MAX ||
			    !why_place_of(w, x->q->process, o.dep->signal, &o.place))
				continue;
			o.dep->shared = o.place.named;
			*ARRAY_ADD(v, cap, *n) = o;
		}
	}
	return v;
}

// Finds packets of a process that set the signals of orphans. A packet that is not taken is
// preferred, of whichever process.
static void find_parents(struct why *w, struct orphan *v, size_t n, size_t process)
{
	const struct why_process *p = &w->processes[process];
	struct setters s = {0};
	bool have = false, blind = false;
	for (size_t i = 0; i < n; i++) {
		struct why_setter *by = &v[i].dep->by;
		uint64_t at;
		for (size_t next = 0; (at = why_address_of(w, process, &v[i].place, &next));) {
			if (process == v[i].x->q->process && at == v[i].dep->signal)
				continue;
			if (!have)
				blind = read_setters(&s, w, p->first, p->end, SEARCH_BEFORE);
			have = true;
			v[i].x->blind |= blind;
			const struct why_setter found = setter_of(&s, at);
			if (found.queue != SIZE_MAX &&
			    (by->queue == SIZE_MAX || (by->taken && !found.taken)))
				*by = found;
		}
	}
	free(s.v);
}

static void find_shared_setters(struct why *w)
{
	size_t n;
	SCOPED(free_at) struct orphan *v = find_orphans(w, &n);
	for (size_t p = 0; p < w->rings->nprocesses && n; p++)
		find_parents(w, v, n, p);
}

// --- since when heads stand ---

struct why_head {
	int64_t pid;
	uint64_t gpu_id, ring, read, since_ns;
	uint64_t moment_ns; // of a recorded host, when that was
	uint64_t first;     // read index of the moment before, or this one if `once`
	uint64_t over_ns;   // since the moment before
	bool once;
	uint64_t irqs, quiet_since_ns; // interrupts of its GPU, and since when these are as many
};

// The queues mostly come in the same order as at the look before.
static const struct why_head *head_of(const struct why_heads *h, size_t at,
				      const struct why_queue *x)
{
	for (size_t k = 0; k < h->n; k++) {
		const struct why_head *e = &h->v[(at + k) % h->n];
		if (e->pid == x->q->row->pid && e->gpu_id == x->q->row->gpu_id &&
		    e->ring == x->q->ring.base)
			return e;
	}
	return NULL;
}

void why_heads_fini(struct why_heads *h)
{
	free(h->v);
	*h = (struct why_heads){0};
}

static void note_interrupts(struct why_head *to, struct why_queue *x, const struct why_head *before,
			    const struct buf *irqs, const uint64_t times[2])
{
	const char *bdf = x->q->row->gpu.bdf;
	to->irqs = irqs_of(irqs, times[1], bdf);
	to->quiet_since_ns = before && before->irqs == to->irqs         ? before->quiet_since_ns
			     : irqs_of(irqs, times[0], bdf) == to->irqs ? times[0]
									: times[1];
	x->quiet_ns = to->irqs == UINT64_MAX ? 0 : times[1] - to->quiet_since_ns;
}

// A recording may have the indices of a queue once: they are compared with the moment before, of
// which `e` tells, by each look at that recording.
static void note_single(struct why_head *to, struct why_queue *x, const struct why_head *e,
			uint64_t apart_ns, bool single)
{
	const bool again = e && e->moment_ns == to->moment_ns;
	to->first = again ? e->first : e ? e->read : x->now.read;
	to->over_ns = again ? e->over_ns : e ? apart_ns : 0;
	to->once = again ? e->once : !e;
	if (!single)
		return;
	x->once = to->once;
	x->first.read = to->first;
	x->over_ns = to->over_ns;
}

// Sets since when the heads stand, at the longest from the beginning of the first of all looks.
static void note_heads(struct why *w, uint64_t begin_ns, uint64_t now_ns, const struct buf *irqs)
{
	SCOPED(why_heads_fini) struct why_heads none = {0};
	struct why_heads *h = w->how->heads ? w->how->heads : &none;
	struct why_head *v = xcalloc(w->n + 1, sizeof(*v));
	const bool moves = host_is_live() || rings_record(w->rings);
	const uint64_t moment = host_is_live() ? now_ns : proc_recorded_ns(),
		       apart = now_ns > h->at_ns ? now_ns - h->at_ns : 0;
	for (size_t i = 0; i < w->n; i++) {
		struct why_queue *x = &w->v[i];
		const struct why_head *e = head_of(h, i, x);
		if (e && e->read == UINT64_MAX)
			e = NULL;
		v[i] = (struct why_head){.pid = x->q->row->pid,
					 .gpu_id = x->q->row->gpu_id,
					 .ring = x->q->ring.base,
					 .read = x->pointers ? x->now.read : UINT64_MAX,
					 .since_ns = begin_ns,
					 .moment_ns = moment};
		x->over_ns = w->over_ns;
		note_single(&v[i], x, e, apart, !moves || (x->problem && !host_is_live()));
		if (!x->pointers || why_has_moved(x))
			v[i].since_ns = now_ns;
		else if (e && e->read == x->now.read)
			v[i].since_ns = e->since_ns;
		x->stood_ns = now_ns > v[i].since_ns ? now_ns - v[i].since_ns : 0;
		note_interrupts(&v[i], x, e, irqs, (const uint64_t[]){begin_ns, now_ns});
	}
	free(h->v);
	*h = (struct why_heads){v, w->n, now_ns};
}

// --- all of it ---

static bool may_be_hung(const struct why *w)
{
	for (size_t i = 0; i < w->n; i++) {
		const struct why_queue *x = &w->v[i];
		if (!x->problem && !x->blocked && !why_has_moved(x) && x->now.read < x->now.write)
			return true;
	}
	return false;
}

uint64_t why_taken(const struct why_queue *x)
{
	const uint64_t taken = x->now.read - x->first.read;
	return x->q->ring.kind == RING_PM4 ? taken & (x->q->ring.bytes / 4 - 1) : taken;
}

void why_look(struct why *w, struct rings *r, const struct why_how *how)
{
	*w = (struct why){.n = r->n, .rings = r, .how = how};
	w->v = xcalloc(r->n ? r->n : 1, sizeof(*w->v));
	w->processes = xcalloc(r->nprocesses + 1, sizeof(*w->processes));
	SCOPED(buf_fini) struct buf own = {0};
	struct buf *irqs = how->interrupts ? how->interrupts : &own;
	const uint64_t begin = begin_look(r);
	look_at_interrupts(w, irqs, begin);
	look_at_indices(w);
	if (host_is_live() && r->n) { // recorded indices do not move
		look_at_slots(w, r, true);
		stop_sleep(clock_ns() + how->over_ns);
	}
	const uint64_t now = begin_look(r);
	look_at_heads(w);
	look_at_interrupts(w, irqs, now);
	w->over_ns = now - begin;
	for (size_t i = 0, end; i < w->n; i = end) {
		for (end = i + 1; end < w->n && w->v[end].q->process == w->v[i].q->process; end++)
			;
		w->processes[w->v[i].q->process].first = i;
		w->processes[w->v[i].q->process].end = end;
		find_all_setters(w, i, end);
	}
	find_shared_setters(w);
	confirm_blocked(w);
	// Slots are read after the write indices: if a slot still has an older write index, the
	// doorbell of that queue was lost.
	if (!look_at_slots(w, r, false) && may_be_hung(w))
		rings_read_slots(r);
	note_heads(w, begin, now, irqs);
	why_judge(w);
	why_tell(w);
}

static bool goes_on(const struct why *w, unsigned looks)
{
	const struct memory_record *record = rings_record(w->rings);
	if (!host_is_live())
		return record && memory_record_goes_on(record);
	return !stop_asked() &&
	       (looks < w->how->looks || (w->how->stuck_after_ns && why_may_get_stuck(w)));
}

void why_look_on(struct why *w, struct rings *r, const struct why_how *how)
{
	for (size_t i = 0; i < r->nprocesses; i++)
		if (r->processes[i].memory.record)
			memory_record_rewind(r->processes[i].memory.record);
	why_look(w, r, how);
	for (unsigned looks = 1; goes_on(w, looks); looks++) {
		why_fini(w);
		why_look(w, r, how);
	}
}

#define STACKS_APART_MS 200u // time between two looks at stacks

// Adds the threads that wait for a signal of ROCr's now and did in the stacks of `before`. `wait`:
// a line for each of p->stacks, as stacks_read() tells.
static void tell_waits(struct why_process *p, const char *before, const char *wait)
{
	SCOPED(buf_fini) struct buf b = {0};
	buf_puts(&b, p->host);
	for (const char *s = p->stacks, *end; s && (end = strchr(s, '\n')); s = end + 1) {
		const size_t n = strcspn(wait, "\n");
		const char *same = memmem(before, strlen(before), s, (size_t)(end - s) + 1);
		if (n && same && (same == before || same[-1] == '\n'))
			buf_printf(&b, ", %.*s in %.*s at two looks %ums apart",
				   (int)strcspn(s, ":"), s, (int)n, wait, STACKS_APART_MS);
		wait += n + (wait[n] != '\0');
	}
	free(p->host);
	p->host = xstrdup(b.data);
}

// Reads the stacks of a process once more, if its host's half is told at all, and puts them in the
// place of those of the first time.
static void read_again(struct why_process *p, pid_t pid)
{
	SCOPED(buf_fini) struct buf waits = {0};
	struct buf b = {0};
	char *before = p->stacks;
	if (!p->host || !before || stacks_read(&b, &waits, pid)) {
		buf_fini(&b);
		return;
	}
	p->stacks = b.data;
	tell_waits(p, before, waits.data);
	free(before);
}

int why_read_stacks(struct why *w, pid_t *pid)
{
	int error = 0;
	bool any = false;
	for (size_t i = 0; i < w->rings->nprocesses; i++) {
		struct buf b = {0};
		if (!w->processes[i].chosen)
			continue;
		if (stacks_read(&b, NULL, w->rings->processes[i].pid) && !error) {
			error = errno;
			*pid = w->rings->processes[i].pid;
		}
		w->processes[i].stacks = b.data;
		any |= w->processes[i].host && b.len;
	}
	if (!any || !host_is_live() || !stop_sleep(clock_ns() + STACKS_APART_MS * 1000000))
		return error;
	for (size_t i = 0; i < w->rings->nprocesses; i++)
		read_again(&w->processes[i], w->rings->processes[i].pid);
	return error;
}

void why_fini(struct why *w)
{
	for (size_t i = 0; i < w->n; i++) {
		free(w->v[i].detail);
		free(w->v[i].remedy);
	}
	for (size_t i = 0; w->rings && i < w->rings->nprocesses; i++) {
		free(w->processes[i].text);
		free(w->processes[i].host);
		free(w->processes[i].stacks);
		shared_maps_fini(&w->processes[i].maps);
	}
	klog_fini(&w->log);
	free(w->processes);
	free(w->v);
	*w = (struct why){0};
}
