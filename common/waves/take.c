// Memory for GPU cores; see take.h.
#include "common/waves/take.h"

#include "common/aql/code.h"
#include "common/aql/packet.h"
#include "common/host/clock.h"
#include "common/host/number.h"
#include "common/reader/maps.h"

#include <link.h>

#define PAGES_AT_ONCE (MEMORY_BYTES_MOST / CORE_PAGE)
#define BEFORE_READ   128 // bytes of amd_queue_t before its read_dispatch_id [aql.indices-together]
#define QUEUE_BYTES   256 // of amd_queue_t, around both indices
#define DESCRIPTOR    64  // bytes of a kernel descriptor
#define KERNARG_SIZE  8   // where it has the size of the arguments, u32
#define KERNARG_MOST  65536 // bytes of arguments
#define NAME_PAGES    4     // pages of a URI

void take_fini(struct take *t)
{
	for (size_t i = 0; i < t->n; i++)
		buf_fini(&t->v[i].data);
	free(t->v);
	free(t->code);
}

// ---- pages

COMPARE_BY(runs_by_address, struct take_run, address)

// Returns how many runs begin at or below the address.
static size_t runs_up_to(const struct take *t, uint64_t address)
{
	const struct take_run behind = {.address = address + 1};
	return ARRAY_BELOW(t->v, t->n, &behind, runs_by_address);
}

// Returns what is there of the address, and sets *n to its bytes; NULL, and 0: nothing.
static const char *taken_at(const struct take *t, uint64_t address, uint64_t *n)
{
	const size_t i = runs_up_to(t, address);
	const struct take_run *r = i ? &t->v[i - 1] : NULL;
	const uint64_t in = r ? address - r->address : 0;
	*n = r && in < r->data.len ? r->data.len - in : 0;
	return *n ? r->data.data + in : NULL;
}

bool take_read(void *take, uint64_t address, void *to, size_t size)
{
	for (uint64_t n; size; to = (char *)to + n, address += n, size -= n) {
		const char *at = taken_at(take, address, &n);
		if (!at)
			return false;
		n = lesser(n, size);
		memcpy(to, at, n);
	}
	return true;
}

// Appends the run behind `r`, if there is one that begins where `r` ends.
static void join_next(struct take *t, struct take_run *r)
{
	struct take_run *next = r + 1, *end = &t->v[t->n];
	if (next == end || next->address != r->address + r->data.len)
		return;
	buf_append(&r->data, next->data.data, next->data.len);
	buf_fini(&next->data);
	memmove(next, next + 1, (size_t)(end - next - 1) * sizeof(*next));
	t->n--;
}

static void add_page(struct take *t, uint64_t address, const uint8_t *page)
{
	const size_t i = runs_up_to(t, address);
	struct take_run *r = i ? &t->v[i - 1] : NULL;
	if (!r || r->address + r->data.len != address) {
		ARRAY_GROW(t->v, t->cap, t->n);
		for (size_t k = t->n++; k > i; k--)
			t->v[k] = t->v[k - 1];
		r = &t->v[i];
		*r = (struct take_run){.address = address};
	}
	buf_append(&r->data, page, CORE_PAGE);
	join_next(t, r);
}

// Takes up to PAGES_AT_ONCE pages, of which none is there. Returns false unless all were taken.
static bool take_pages(struct take *t, uint64_t address, size_t n)
{
	static uint8_t pages[PAGES_AT_ONCE][CORE_PAGE];
	struct memory_range v[PAGES_AT_ONCE];
	bool all = true;
	for (size_t i = 0; i < n; i++)
		v[i] = (struct memory_range){
			.at = address + i * CORE_PAGE, .to = pages[i], .size = CORE_PAGE};
	if (clock_ns() < t->until_ns)
		memory_read_all(t->from, v, n);
	// A page that was read when the deadline had come may be of a running queue.
	if (clock_ns() >= t->until_ns) {
		t->late = true;
		return false;
	}
	for (size_t i = 0; i < n; i++) {
		all &= v[i].got == MEMORY_READ;
		if (v[i].got == MEMORY_READ)
			add_page(t, v[i].at, pages[i]);
	}
	return all;
}

// Returns how many bytes from `at`, which is not there, to `end` are not there.
static uint64_t until_next(const struct take *t, uint64_t at, uint64_t end)
{
	const size_t next = runs_up_to(t, at);
	return (next < t->n ? lesser(end, t->v[next].address) : end) - at;
}

bool take_memory(struct take *t, uint64_t address, uint64_t size)
{
	if (address > INT64_MAX || size > INT64_MAX - address)
		return false;
	const uint64_t end = (address + size + CORE_PAGE - 1) / CORE_PAGE * CORE_PAGE;
	for (uint64_t at = address / CORE_PAGE * CORE_PAGE, n; at < end; at += n) {
		if (taken_at(t, at, &n))
			continue;
		n = lesser(until_next(t, at, end), MEMORY_BYTES_MOST);
		if (!take_pages(t, at, n / CORE_PAGE))
			return false;
	}
	return true;
}

static bool take_copy(struct take *t, uint64_t address, void *to, size_t size)
{
	return take_memory(t, address, size) && take_read(t, address, to, size);
}

// ---- a queue

static const char *take_area(struct take *t, uint64_t address, uint64_t size)
{
	struct kfd_ctx_header h;
	if (!take_copy(t, address, &h, sizeof(h)))
		return "its save area cannot be read";
	if (h.wave_state_offset > size || h.control_stack_offset > h.wave_state_offset)
		return "the header of its save area makes no sense";
	return take_memory(t, address + h.control_stack_offset,
			   h.wave_state_offset - h.control_stack_offset)
		       ? NULL
		       : "its waves cannot be read";
}

const char *take_queue(struct take *t, const struct kfd_queue_entry *q, unsigned xccs)
{
	const uint64_t size = q->ctx_save_restore_area_size;
	const char *wrong = NULL;
	for (unsigned x = 0; x < xccs && kfd_is_compute(q) && !wrong; x++)
		wrong = take_area(t, q->ctx_save_restore_address + x * size, size);
	if (wrong)
		return wrong;
	if (!take_memory(t, q->read_pointer_address, sizeof(uint64_t)) ||
	    !take_memory(t, q->write_pointer_address, sizeof(uint64_t)))
		return "its indices cannot be read";
	if (q->queue_type == KFD_SNAPSHOT_COMPUTE_AQL)
		take_memory(t, q->read_pointer_address - BEFORE_READ, QUEUE_BYTES);
	return take_memory(t, q->ring_base_address, q->ring_size) ? NULL
								  : "its ring cannot be read";
}

// ---- dispatches

static void note_code(struct take *t, uint64_t address)
{
	*ARRAY_ADD(t->code, t->cap_code, t->ncode) = address;
}

struct dispatches {
	uint64_t read, write, slots; // indices, and packets of the ring
};

// Returns false unless it is an AQL queue whose indices fit its ring.
static bool find_dispatches(struct take *t, const struct kfd_queue_entry *q, struct dispatches *d)
{
	d->slots = q->ring_size / AQL_BYTES;
	return q->queue_type == KFD_SNAPSHOT_COMPUTE_AQL && d->slots &&
	       take_read(t, q->read_pointer_address, &d->read, sizeof(d->read)) &&
	       take_read(t, q->write_pointer_address, &d->write, sizeof(d->write));
}

static bool read_dispatch(struct take *t, const struct kfd_queue_entry *q, uint64_t slot,
			  struct packet *p)
{
	uint8_t bytes[AQL_BYTES];
	if (!take_read(t, q->ring_base_address + slot * AQL_BYTES, bytes, sizeof(bytes)))
		return false;
	aql_decode(p, bytes);
	return p->kernel_object;
}

static void take_kernarg(struct take *t, const struct packet *p)
{
	uint32_t size = 0;
	take_read(t, p->kernel_object + KERNARG_SIZE, &size, sizeof(size));
	if (p->kernarg)
		take_memory(t, p->kernarg, greater(1, lesser(size, KERNARG_MOST)));
}

void take_dispatches(struct take *t, const struct kfd_queue_entry *q, bool kernarg)
{
	struct dispatches d;
	uint64_t last = 0;
	if (!find_dispatches(t, q, &d))
		return;
	for (uint64_t i = 0; i < lesser(d.write - d.read, d.slots) && !t->late; i++) {
		struct packet p;
		if (!read_dispatch(t, q, (d.read + i) % d.slots, &p))
			continue;
		if (p.kernel_object != last && take_memory(t, p.kernel_object, DESCRIPTOR))
			note_code(t, p.kernel_object);
		last = p.kernel_object;
		if (kernarg)
			take_kernarg(t, &p);
	}
}

// ---- code objects

// Takes a text of up to NAME_PAGES, as far as it is there.
static void take_name(struct take *t, uint64_t address)
{
	const uint64_t first = address / CORE_PAGE * CORE_PAGE;
	for (unsigned i = 1; i <= NAME_PAGES; i++) {
		const uint64_t size = first + i * CORE_PAGE - address;
		uint64_t n;
		if (!take_memory(t, address, size) || memchr(taken_at(t, address, &n), '\0', size))
			return;
	}
}

static uint64_t address_of(const void *pointer)
{
	return (uint64_t)(uintptr_t)pointer;
}

bool take_list(struct take *t, uint64_t r_debug)
{
	struct r_debug d;
	struct link_map k;
	if (!take_copy(t, r_debug, &d, sizeof(d)))
		return false;
	k.l_next = d.r_map;
	for (unsigned n = 0; k.l_next && n < CODE_OBJECTS_MOST; n++) {
		if (!take_copy(t, address_of(k.l_next), &k, sizeof(k)))
			return false;
		take_name(t, address_of(k.l_name));
		note_code(t, k.l_addr);
	}
	return true;
}

COMPARE_VALUES(addresses, uint64_t)

void take_code(struct take *t, const char *maps)
{
	uint64_t left = TAKE_CODE_MOST;
	struct mapping m;
	size_t i = 0;
	ARRAY_SORT(t->code, t->ncode, addresses);
	for (const char *line = maps, *next; *line; line = next) {
		if (!mapping_parse(line, &next, &m))
			continue;
		while (i < t->ncode && t->code[i] < m.start)
			i++;
		const uint64_t size = m.end - m.start;
		if (i == t->ncode || t->code[i] >= m.end || size > TAKE_MAPPING_MOST || size > left)
			continue;
		left -= size;
		take_memory(t, m.start, size);
	}
}

// ---- what AMD's library would end at

static const char *check_wave(struct take *t, const struct kfd_queue_entry *q,
			      const struct dispatches *d, const struct wave *w)
{
	uint8_t descriptor[DESCRIPTOR];
	struct packet p;
	uint64_t id = d->read / d->slots * d->slots + w->packet;
	id += id < d->read ? d->slots : 0;
	if (w->packet >= d->slots || id >= d->write)
		return "the packet of a wave is not between its indices";
	return read_dispatch(t, q, w->packet, &p) &&
			       take_read(t, p.kernel_object, descriptor, sizeof(descriptor))
		       ? NULL
		       : "the kernel descriptor of a wave's packet cannot be read";
}

static const char *check_area(struct take *t, const struct waves_area *a,
			      const struct kfd_queue_entry *q, size_t *waves)
{
	const struct memory taken = {.fd = -1, .read = take_read, .arg = t};
	SCOPED(waves_saved_fini) struct waves_saved saved = {0};
	struct dispatches d;
	const bool has_dispatches = find_dispatches(t, q, &d);
	const char *wrong = waves_read(&saved, a, &taken);
	for (size_t i = 0; i < saved.n && !wrong; i++) {
		const struct wave w = wave_decode(a, &saved.v[i]);
		note_code(t, w.pc);
		if (w.placed && has_dispatches)
			wrong = check_wave(t, q, &d, &w);
	}
	*waves += saved.n;
	return wrong;
}

const char *take_check(struct take *t, const struct core_state *s, const struct kfd_queue_entry *q,
		       size_t *waves)
{
	const struct memory taken = {.fd = -1, .read = take_read, .arg = t};
	struct waves_area a = core_area(s, q, &taken);
	const char *wrong = NULL;
	for (unsigned x = core_xccs(s, q); x && a.gpu && kfd_is_compute(q) && !wrong; x--) {
		wrong = check_area(t, &a, q, waves);
		a.address += a.size;
	}
	return wrong;
}

// ---- segments

static bool is_gpu_memory(const char *line, const char **next, struct mapping *m)
{
	static const char render[] = "/dev/dri/renderD", kfd[] = KFD_DEVICE_PATH;
	return mapping_parse(line, next, m) &&
	       ((m->len >= sizeof(render) && memcmp(m->path, render, sizeof(render) - 1) == 0) ||
		(m->len == sizeof(kfd) - 1 && memcmp(m->path, kfd, m->len) == 0));
}

struct segments {
	struct core_segment *v;
	size_t n, cap;
};

static void add_segment(struct segments *s, uint64_t address, uint64_t size, const void *data)
{
	*ARRAY_ADD(s->v, s->cap, s->n) = (struct core_segment){address, size, data};
}

// Adds what was not taken between two addresses, if its first byte can be read.
static void add_rest(struct segments *s, const struct take *t, uint64_t at, uint64_t end)
{
	char byte;
	if (!memory_read(t->from, at, &byte, 1))
		return;
	for (uint64_t n; at < end; at += n)
		if (!taken_at(t, at, &n)) {
			n = until_next(t, at, end);
			add_segment(s, at, n, NULL);
		}
}

COMPARE_BY(segments_by_address, struct core_segment, address)

struct core_segment *take_segments(const struct take *t, const char *maps, size_t *n)
{
	struct segments s = {0};
	struct mapping m;
	for (size_t i = 0; i < t->n; i++)
		add_segment(&s, t->v[i].address, t->v[i].data.len, t->v[i].data.data);
	for (const char *line = maps ? maps : "", *next; *line; line = next)
		if (is_gpu_memory(line, &next, &m))
			add_rest(&s, t, m.start, m.end);
	ARRAY_SORT(s.v, s.n, segments_by_address);
	*n = s.n;
	return s.v;
}
