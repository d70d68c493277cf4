// One look at the head of a queue; why.h.
#include "common/state/why.h"

static void add_dep(struct why_queue *x, uint64_t signal, int64_t value, bool known, bool open)
{
	x->deps[x->ndeps++] = (struct why_dep){
		.signal = signal, .value = value, .known = known, .open = open, .by = SIZE_MAX};
}

// A signal whose value cannot be read is taken for one that is waited for only where others say
// nothing else.
static void read_deps(struct why_queue *x, const struct memory *m)
{
	const struct packet *p = &x->next;
	for (unsigned i = 0; i < p->ndeps; i++) {
		int64_t value = 0;
		const bool known = memory_signal(m, p->deps[i], &value);
		const bool open =
			p->waits == PACKET_WAITS_VALUE
				? packet_compares(p->compare, value & (int64_t)p->mask, p->value)
				: value == 0;
		add_dep(x, p->deps[i], value, known, known && open);
	}
	uint32_t word = 0;
	if (p->waits != PACKET_WAITS_MEMORY)
		return;
	const bool known = memory_read(m, p->polls, &word, sizeof(word));
	// The runtime polls the halves of a signal's value one after the other.
	const uint64_t in = p->polls % 64;
	const uint64_t signal =
		in == SIGNAL_VALUE_AT || in == SIGNAL_VALUE_AT + 4 ? p->polls - in : 0;
	add_dep(x, signal, word, known,
		known && packet_compares(p->compare, word & (int64_t)p->mask, p->value));
}

static void set_blocked(struct why_queue *x)
{
	const bool any = x->next.waits == PACKET_WAITS_ANY;
	unsigned open = 0, closed = 0;
	for (unsigned i = 0; i < x->ndeps; i++) {
		open += x->deps[i].open;
		closed += x->deps[i].known && !x->deps[i].open;
	}
	x->blocked = any ? closed == x->ndeps && closed : closed > 0;
	x->unsure = any ? !open && closed < x->ndeps : !closed && open < x->ndeps;
}

static void look_at_packets(struct why_queue *x, const struct memory *m)
{
	struct ring_look l;
	x->next = x->last = (struct packet){0};
	ring_look(&x->q->ring, m, 1, 0, &l);
	x->problem = l.problem;
	x->unread = l.problem != RING_OK;
	x->now = l.at;
	for (size_t i = 0; i < l.n; i++) {
		x->unread |= l.v[i].state == RING_LOST;
		if (l.v[i].index == l.at.read) {
			x->next = l.v[i].packet;
			x->next_state = l.v[i].state;
		} else if (l.v[i].state == RING_TAKEN) {
			x->last = l.v[i].packet;
		}
	}
	ring_look_fini(&l);
}

// The packets at these indices are still those that were read: indices only grow, but for those of
// PM4, and a packet that is written stays until it is taken.
static bool is_same(const struct why_queue *x, const struct ring_indices *at)
{
	if (x->q->ring.kind == RING_PM4 || x->unread || at->read != x->now.read)
		return false;
	return x->next.type ? x->next_state == RING_NEXT : at->write == at->read;
}

bool why_last_runs(const struct why_queue *x)
{
	return x->has_last_value && x->last_value > 0;
}

static void look_at_signals(struct why_queue *x, const struct memory *m)
{
	x->blocked = x->unsure = false;
	x->ndeps = 0;
	x->has_last_value =
		x->last.completion && memory_signal(m, x->last.completion, &x->last_value);
	read_deps(x, m);
	x->unread |= x->last.completion && !x->has_last_value;
	for (unsigned i = 0; i < x->ndeps; i++)
		x->unread |= !x->deps[i].known;
	if (x->next.type)
		set_blocked(x);
}

void why_glance(struct why_queue *x, const struct memory *m)
{
	look_at_packets(x, m);
	if (!x->problem)
		look_at_signals(x, m);
}

// `seen`: the memory with what was read in advance, which only serves where nothing has changed.
static void glance_again(struct why_queue *x, const struct memory *m, const struct memory *seen)
{
	struct ring_indices at;
	x->problem = ring_indices(&x->q->ring, seen, &at);
	if (x->problem) {
		x->unread = true; // what was read before is of another moment
	} else if (is_same(x, &at)) {
		x->now = at;
		look_at_signals(x, seen);
	} else {
		why_glance(x, m);
	}
}

void why_glance_again(struct why_queue *x, const struct memory *m)
{
	glance_again(x, m, m);
}

// Of one queue: its indices, the signals of its next packet, and that of the last one.
enum { RANGES = 7, ADVANCE_QUEUES = 64, SIGNAL_BYTES = 16 };

struct advance {
	struct memory_range v[ADVANCE_QUEUES * RANGES];
	uint8_t bytes[ADVANCE_QUEUES][RING_INDICES_MOST + RANGES * SIGNAL_BYTES];
	size_t n;
};

static void add_range(struct advance *a, uint64_t at, uint8_t **to, size_t size)
{
	if (!size || !at)
		return;
	a->v[a->n++] = (struct memory_range){.at = at, .to = *to, .size = size};
	*to += size;
}

static void add_queue(struct advance *a, const struct why_queue *x, uint8_t *to)
{
	uint64_t at;
	const size_t size = ring_indices_at(&x->q->ring, &at);
	add_range(a, at, &to, size);
	add_range(a, x->last.completion, &to, SIGNAL_BYTES);
	for (unsigned i = 0; i < x->next.ndeps && i < RANGES - 2; i++)
		add_range(a, x->next.deps[i], &to, SIGNAL_BYTES);
}

void why_glance_all(struct why_queue *const *x, size_t n, const struct memory *m)
{
	static struct advance a;
	for (size_t first = 0; first < n; first += ADVANCE_QUEUES) {
		const size_t end = first + ADVANCE_QUEUES < n ? first + ADVANCE_QUEUES : n;
		a.n = 0;
		for (size_t i = first; i < end; i++)
			add_queue(&a, x[i], a.bytes[i - first]);
		memory_read_all(m, a.v, a.n);
		struct memory seen = *m;
		seen.kept = a.v;
		seen.nkept = a.n;
		for (size_t i = first; i < end; i++)
			glance_again(x[i], m, &seen);
	}
}
