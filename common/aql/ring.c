// Rings; see ring.h.
#include "common/aql/ring.h"

#define RING_BYTES_MAX (UINT64_C(1) << 32) // kfd_ioctl.h has a ring size of 32 bits

const char *ring_problem_text(enum ring_problem p)
{
	static const char *const text[] = {
		[RING_OK] = "",
		[RING_UNKNOWN] = "where its ring is is not known",
		[RING_UNREADABLE] = "its indices cannot be read",
		[RING_NO_WRITE] = "its write index is not known",
		[RING_ABSURD] = "its indices do not fit its ring",
	};
	return text[p];
}

const char *ring_state_word(enum ring_state s)
{
	static const char *const words[] = {
		[RING_TAKEN] = "taken",
		[RING_NEXT] = "next",
		[RING_QUEUED] = "queued",
		[RING_UNPUBLISHED] = "unpublished",
		[RING_OVERWRITTEN] = "overwritten",
		[RING_LOST] = "unreadable",
	};
	return words[s];
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

// Size of the ring in the unit of its indices.
static uint64_t capacity(const struct ring *r)
{
	return r->kind == RING_AQL   ? r->bytes / AQL_BYTES
	       : r->kind == RING_PM4 ? r->bytes / 4
				     : r->bytes;
}

static bool is_ring(const struct ring *r)
{
	return r->kind != RING_NONE && r->base && r->base < RING_NO_ADDRESS - RING_BYTES_MAX &&
	       r->base % 4 == 0 && r->bytes >= AQL_BYTES && r->bytes <= RING_BYTES_MAX &&
	       !(r->bytes & (r->bytes - 1)) && r->read_at != RING_NO_ADDRESS;
}

// Reads both indices at once if they lie together, as in amd_queue_t. False if they lie apart, or
// if the read index is greater, as it was read after the write index.
static bool read_together(const struct ring *r, const struct memory *m, struct ring_indices *i)
{
	uint64_t low;
	uint8_t bytes[RING_INDICES_MOST];
	const size_t size = ring_indices_at(r, &low);
	if (!size || !memory_read(m, low, bytes, size))
		return false;
	memcpy(&i->read, bytes + (r->read_at - low), sizeof(i->read));
	memcpy(&i->write, bytes + (r->write_at - low), sizeof(i->write));
	return i->write >= i->read;
}

size_t ring_indices_at(const struct ring *r, uint64_t *at)
{
	*at = least(r->read_at, r->write_at);
	const uint64_t apart = r->read_at + r->write_at - 2 * *at;
	const bool near = apart <= RING_INDICES_MOST - sizeof(uint64_t);
	return is_ring(r) && r->kind != RING_PM4 && near ? (size_t)apart + sizeof(uint64_t) : 0;
}

enum ring_problem ring_indices(const struct ring *r, const struct memory *m, struct ring_indices *i)
{
	const size_t size = r->kind == RING_PM4 ? 4 : 8; // PM4 pointers are 32 bits wide
	*i = (struct ring_indices){0};
	if (!is_ring(r))
		return RING_UNKNOWN;
	if (r->write_at == RING_NO_ADDRESS)
		return RING_NO_WRITE;
	// The read index is read first: the write index is never behind an older read index.
	if (!read_together(r, m, i) && (!memory_read(m, r->read_at, &i->read, size) ||
					!memory_read(m, r->write_at, &i->write, size)))
		return RING_UNREADABLE;
	const uint64_t room = capacity(r);
	if (i->write > INT64_MAX)
		return RING_ABSURD;
	if (r->kind == RING_PM4) {
		i->read &= room - 1;
		i->write = i->read + ((i->write - i->read) & (room - 1));
	}
	// Each producer that waits for room may have raised the write index beyond the ring by one.
	return i->write < i->read || i->write - i->read > 2 * room ? RING_ABSURD : RING_OK;
}

// --- AQL rings ---

static bool read_slots(const struct ring *r, const struct memory *m, uint64_t first, size_t n,
		       uint8_t *to)
{
	const uint64_t slot = first & (capacity(r) - 1);
	const size_t front = (size_t)least(n, capacity(r) - slot);
	return memory_read(m, r->base + slot * AQL_BYTES, to, front * AQL_BYTES) &&
	       (front == n ||
		memory_read(m, r->base, to + front * AQL_BYTES, (n - front) * AQL_BYTES));
}

static enum ring_state state_of(const struct ring_packet *p, const struct ring_indices *now,
				uint64_t room)
{
	// A slot is written only after its packet was taken, however far the write index is ahead.
	if (p->index < now->read)
		return now->write > p->index + room ? RING_OVERWRITTEN : RING_TAKEN;
	if (p->packet.kind == PACKET_INVALID || p->packet.left)
		return RING_UNPUBLISHED;
	return p->index == now->read ? RING_NEXT : RING_QUEUED;
}

static void set_packet(const struct ring *r, struct ring_packet *p, const uint8_t *bytes,
		       const struct ring_indices *now)
{
	p->address = r->base + (p->index & (capacity(r) - 1)) * AQL_BYTES;
	p->state = RING_LOST;
	if (!bytes)
		return;
	aql_decode(&p->packet, bytes);
	p->state = state_of(p, now, capacity(r));
	if (p->state == RING_OVERWRITTEN)
		p->packet = (struct packet){0};
	// The body behind a free header belongs to an older packet.
	if (p->state == RING_UNPUBLISHED)
		p->packet = (struct packet){.kind = PACKET_INVALID,
					    .type = "invalid",
					    .bytes = AQL_BYTES,
					    .header = p->packet.header};
}

static void look_at_aql(const struct ring *r, const struct memory *m, uint64_t before,
			uint64_t after, struct ring_look *l)
{
	const uint64_t room = capacity(r), read = l->at.read;
	const uint64_t oldest = l->at.write > room ? l->at.write - room : 0;
	uint64_t first = read > before ? read - before : 0;
	first = least(first < oldest ? oldest : first, read);
	const uint64_t end = least(least(l->at.write, read + room), read + after + 1);
	const size_t n = (size_t)(end - first);
	SCOPED(free_at) uint8_t *bytes = xcalloc(n + 1, AQL_BYTES);
	const bool all = read_slots(r, m, first, n, bytes);
	l->v = xcalloc(n + 1, sizeof(*l->v));
	SCOPED(free_at) bool *have = xcalloc(n + 1, sizeof(*have));
	for (size_t i = 0; i < n; i++) // a part of the ring may be unmapped
		have[i] = all || read_slots(r, m, first + i, 1, bytes + i * AQL_BYTES);
	l->problem = ring_indices(r, m, &l->at);
	for (l->n = 0; l->n < n; l->n++) {
		l->v[l->n].index = first + l->n;
		set_packet(r, &l->v[l->n], have[l->n] ? bytes + l->n * AQL_BYTES : NULL, &l->at);
	}
}

size_t ring_head_at(const struct ring *r, const struct ring_indices *i, uint64_t *at)
{
	const uint64_t room = capacity(r), first = i->read ? i->read - 1 : 0;
	const uint64_t n = least(i->write, i->read + 1) - first, slot = first & (room - 1);
	*at = r->base + slot * AQL_BYTES;
	return r->kind == RING_AQL && slot + n <= room ? (size_t)n * AQL_BYTES : 0;
}

// --- SDMA and PM4 rings ---

// Reads dwords from `at` on: at most `bytes` bytes and `most` dwords, up to the ring's end. Returns
// how many it read; 0: the memory cannot be read.
static size_t read_words(const struct ring *r, const struct memory *m, uint64_t at, uint64_t bytes,
			 uint32_t *to, size_t most)
{
	const uint64_t in = at & (r->bytes - 1);
	const size_t n = (size_t)least(least(bytes, r->bytes - in) / 4, most);
	return n && memory_read(m, r->base + in, to, n * 4) ? n : 0;
}

// Corrects the states of packets by `now`, the indices read after them.
static void mark_moved(const struct ring *r, struct ring_look *l, const struct ring_indices *now)
{
	const uint64_t room = capacity(r);
	const uint64_t taken = r->kind == RING_PM4 ? (now->read - l->at.read) & (room - 1)
						   : now->read - l->at.read;
	for (size_t i = 0; i < l->n; i++) {
		struct ring_packet *p = &l->v[i];
		const uint64_t behind = p->index - l->at.read;
		if (p->state == RING_LOST)
			continue;
		if (behind < taken)
			p->state = RING_TAKEN;
		else if (behind == taken && p->state == RING_QUEUED)
			p->state = RING_NEXT;
		// PM4 indices wrap: whether the producer has used the place again cannot be known.
		if (behind >= taken || (r->kind == RING_SDMA && now->write - p->index <= room))
			continue;
		p->state = RING_OVERWRITTEN;
		p->packet = (struct packet){0};
	}
}

// Appends the packet at byte `at`. Returns its length; 0: unknown, and so is where the next begins.
static uint32_t add_packet(const struct ring *r, const struct memory *m, uint64_t at, uint64_t end,
			   struct ring_look *l, size_t *cap)
{
	uint32_t words[SDMA_DWORDS_MAX];
	const size_t n = read_words(r, m, at, end - at, words, SDMA_DWORDS_MAX);
	ARRAY_GROW(l->v, *cap, l->n);
	struct ring_packet *p = &l->v[l->n];
	*p = (struct ring_packet){.index = r->kind == RING_PM4 ? at / 4 : at,
				  .address = r->base + (at & (r->bytes - 1)),
				  .state = l->n++ ? RING_QUEUED : RING_NEXT};
	if (!n)
		p->state = RING_LOST;
	else if (r->kind == RING_SDMA)
		sdma_decode(&p->packet, words, n, r->copy_dwords);
	else
		pm4_decode(&p->packet, words[0]);
	return p->packet.bytes;
}

static void look_at_stream(const struct ring *r, const struct memory *m, uint64_t after,
			   struct ring_look *l)
{
	const uint64_t unit = r->kind == RING_PM4 ? 4 : 1, end = l->at.write * unit;
	uint64_t at = l->at.read * unit;
	struct ring_indices now;
	size_t cap = 0;
	for (uint32_t bytes = 1; bytes && at < end && l->n <= after; at += bytes)
		bytes = add_packet(r, m, at, end, l, &cap);
	l->problem = ring_indices(r, m, &now);
	if (l->problem)
		return;
	mark_moved(r, l, &now);
	l->at = now;
}

void ring_look(const struct ring *r, const struct memory *m, uint64_t before, uint64_t after,
	       struct ring_look *l)
{
	*l = (struct ring_look){0};
	l->problem = ring_indices(r, m, &l->at);
	if (l->problem)
		return;
	before = least(before, RING_AROUND_MAX);
	after = least(after, RING_AROUND_MAX);
	if (r->kind == RING_AQL)
		look_at_aql(r, m, before, after, l);
	else
		look_at_stream(r, m, after, l);
	if (l->problem)
		ring_look_fini(l);
}

void ring_look_fini(struct ring_look *l)
{
	free(l->v);
	l->v = NULL;
	l->n = 0;
}
