// One look at the heads of queues, and at the exceptions that the driver noted for them; why.h.
#include "common/why/why.h"

#include "common/kfd/abi.h"

static void add_dep(struct why_queue *x, uint64_t signal, int64_t value, bool known, bool open)
{
	const struct why_setter none = {.queue = SIZE_MAX};
	x->deps[x->ndeps++] = (struct why_dep){.signal = signal,
					       .value = value,
					       .known = known,
					       .open = open,
					       .by = none,
					       .was = none};
}

// Reads the signals that the next packet waits for. A signal that cannot be read is not `known`,
// and set_blocked() counts it as neither open nor closed.
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
	// A poll of a half of a signal's value is a wait for that signal.
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
	SCOPED(ring_look_fini) struct ring_look l;
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
}

// Are the packets at these indices those that the last look read? Indices only grow, except in PM4
// queues, and a packet whose header is written stays the same until the GPU takes it.
static bool is_same_head(const struct why_queue *x, const struct ring_indices *at)
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
	x->ndeps = 0;
	x->has_last_value =
		x->last.completion && memory_signal(m, x->last.completion, &x->last_value);
	read_deps(x, m);
	x->unread |= x->last.completion && !x->has_last_value;
	for (unsigned i = 0; i < x->ndeps; i++)
		x->unread |= !x->deps[i].known;
	set_blocked(x);
}

// Reads the indices to `at`. Returns whether the packets at the head are those of the last look, so
// that only their signals may have changed.
static bool is_as_before(struct why_queue *x, const struct memory *m, struct ring_indices *at)
{
	x->problem = ring_indices(&x->q->ring, m, at);
	x->unread |= x->problem != RING_OK; // after a problem the next look reads the packets, too
	if (x->problem || !is_same_head(x, at))
		return false;
	x->now = *at;
	return true;
}

// --- many queues of a process, with one request to the reader for each step ---

// At most, a request reads the indices, two packets and the indices again of each queue, or the
// signals of two packets.
enum { RANGES = 7, QUEUES = 64, SIGNAL_BYTES = 16, BYTES = 2 * RING_INDICES_MOST + 2 * AQL_BYTES };

static struct {
	struct memory_range v[QUEUES * RANGES];
	uint8_t bytes[QUEUES * BYTES], *end;
	size_t n;
} advance;

static void add_range(uint64_t at, size_t size)
{
	if (!size || !at)
		return;
	advance.v[advance.n++] = (struct memory_range){.at = at, .to = advance.end, .size = size};
	advance.end += size;
}

static void add_indices(const struct why_queue *x)
{
	uint64_t at;
	const size_t size = ring_indices_at(&x->q->ring, &at);
	add_range(at, size);
}

static void add_signals(const struct why_queue *x)
{
	add_range(x->last.completion, SIGNAL_BYTES);
	for (unsigned i = 0; i < x->next.ndeps && i < PACKET_DEPS; i++)
		add_range(x->next.deps[i], SIGNAL_BYTES);
}

static void begin_advance(void)
{
	advance.n = 0;
	advance.end = advance.bytes;
}

// Reads all ranges that were added, by one request. Returns a memory from which they can be read
// without another request, once each.
static struct memory read_advance(const struct memory *m)
{
	struct memory seen = *m;
	if (advance.n)
		memory_read_all(m, advance.v, advance.n);
	seen.kept = advance.v;
	seen.nkept = advance.n;
	return seen;
}

static void glance_some(struct why_queue *const *x, size_t n, const struct memory *m)
{
	struct ring_indices at[QUEUES];
	bool same[QUEUES];
	uint64_t head;
	begin_advance();
	for (size_t i = 0; i < n; i++)
		add_indices(x[i]);
	struct memory seen = read_advance(m);
	for (size_t i = 0; i < n; i++)
		same[i] = is_as_before(x[i], &seen, &at[i]);
	begin_advance();
	for (size_t i = 0; i < n; i++)
		if (!same[i] && !x[i]->problem) {
			add_indices(x[i]);
			const size_t size = ring_head_at(&x[i]->q->ring, &at[i], &head);
			add_range(head, size);
			add_indices(x[i]);
		}
	seen = read_advance(m);
	for (size_t i = 0; i < n; i++)
		if (!same[i] && !x[i]->problem)
			look_at_packets(x[i], &seen);
	begin_advance();
	for (size_t i = 0; i < n; i++)
		if (!x[i]->problem)
			add_signals(x[i]);
	seen = read_advance(m);
	for (size_t i = 0; i < n; i++)
		if (!x[i]->problem)
			look_at_signals(x[i], &seen);
}

void why_glance(struct why_queue *const *x, size_t n, const struct rings *r)
{
	for (size_t k = 0; k < r->nprocesses; k++) {
		struct why_queue *of[QUEUES];
		size_t found = 0;
		for (size_t i = 0; i < n; i++) {
			if (x[i]->q->process == k)
				of[found++] = x[i];
			if (found == QUEUES || i + 1 == n) {
				glance_some(of, found, &r->processes[k].memory);
				found = 0;
			}
		}
	}
}

// --- exceptions of a queue ---

static const char *const exceptions_by_code[32] = {
	[1] = "WAVE_ABORT",
	[2] = "WAVE_TRAP",
	[3] = "WAVE_MATH_ERROR",
	[4] = "WAVE_ILLEGAL_INSTRUCTION",
	[5] = "WAVE_MEMORY_VIOLATION",
	[6] = "WAVE_APERTURE_VIOLATION",
	[16] = "PACKET_DISPATCH_DIM_INVALID",
	[17] = "PACKET_DISPATCH_GROUP_SEGMENT_SIZE_INVALID",
	[18] = "PACKET_DISPATCH_CODE_INVALID",
	[19] = "PACKET_RESERVED",
	[20] = "PACKET_UNSUPPORTED",
	[21] = "PACKET_DISPATCH_WORK_GROUP_SIZE_INVALID",
	[22] = "PACKET_DISPATCH_REGISTER_INVALID",
	[23] = "PACKET_VENDOR_UNSUPPORTED",
	[30] = "PREEMPTION_ERROR",
};

void why_exceptions_text(struct buf *to, uint64_t exceptions)
{
	const char *blank = "";
	for (unsigned code = 1; code < 32; code++) {
		if (!(exceptions & KFD_EC(code)) || !exceptions_by_code[code])
			continue;
		buf_printf(to, "%s%s", blank, exceptions_by_code[code]);
		blank = " ";
	}
	if (!exceptions)
		buf_puts(to, "none");
}

uint64_t why_exceptions(const struct ring_queue *q, const struct memory *m)
{
	const uint64_t area = q->row->v[MQD_V_CTX_BASE];
	uint64_t known = 0, at, noted;
	for (unsigned code = 1; code < 32; code++)
		known |= exceptions_by_code[code] ? KFD_EC(code) : 0;
	if (area == MQD_UNKNOWN || !area || q->ring.kind != RING_AQL ||
	    !memory_read(m, area + offsetof(struct kfd_ctx_header, err_payload_addr), &at,
			 sizeof(at)) ||
	    !at || !memory_read(m, at, &noted, sizeof(noted)))
		return KFD_UNKNOWN;
	return noted & ~known ? KFD_UNKNOWN : noted;
}
