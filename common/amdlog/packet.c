// The fields of packet lines (see detail.h). Facts: amd-log-facts.md sections 5 and 12.
//
// Packets are few among the lines of a log, but have up to twenty-five fields each. The letters in
// front of an '=' tell whether it is read.
#include "common/amdlog/detail.h"
#include "common/amdlog/number.h"

enum field {
	SKIPPED,
	GRID,
	WORKGROUP,
	HWQ, // those from here on are single numbers
	SWQ,
	ID,
	KERNEL_OBJ,
	COMPLETION_SIGNAL,
	RPTR,
	WPTR,
	NFIELDS,
};

// The field's name ends right before the '=' at `equals`. Does it end with `name`, and begin with
// it? `from` is where the field before it ended.
static inline bool is_field(const char *equals, const char *from, const char *name, size_t len)
{
	const char *at = equals - len;

	return equals - from >= (ptrdiff_t)len && !memcmp(at, name, len) &&
	       (at == from || at[-1] == ' ' || at[-1] == ',');
}
#define IS(name) is_field(equals, from, name, sizeof(name) - 1)

// Names that are read differ from most others in their last letter.
static __attribute__((noinline)) enum field find_field(const char *from, const char *equals)
{
	switch (equals[-1]) {
	case 'q': return IS("HWq") ? HWQ : IS("SWq") ? SWQ : SKIPPED;
	case 'd': return IS("id") ? ID : IS("grid") ? GRID : SKIPPED;
	case 'p': return IS("workgroup") ? WORKGROUP : SKIPPED;
	case 'j': return IS("kernel_obj") ? KERNEL_OBJ : SKIPPED;
	case 'l': return IS("completion_signal") ? COMPLETION_SIGNAL : SKIPPED;
	case 'r': return IS("rptr") ? RPTR : IS("wptr") ? WPTR : SKIPPED;
	default: return SKIPPED;
	}
}

// Most fields are known by the last four letters of their name; no two of these share a slot.
#define LETTERS(a, b, c, d) \
	((uint32_t)(a) | (uint32_t)(b) << 8 | (uint32_t)(c) << 16 | (uint32_t)(d) << 24)
#define SLOT(letters) ((uint32_t)((letters)*UINT32_C(0x9e3779bf)) >> 26)
#define NAME(a, b, c, d, field, needs) \
	[SLOT(LETTERS(a, b, c, d))] = {LETTERS(a, b, c, d), field, needs}

enum needs { NOTHING, BLANK, WHOLE }; // a blank before the letters; a look at all of the name

static const struct {
	uint32_t letters;
	enum field field : 8;
	enum needs needs : 8;
} names[64] = {
	NAME(' ', 'H', 'W', 'q', HWQ, NOTHING),
	NAME(' ', 'S', 'W', 'q', SWQ, NOTHING),
	NAME(',', ' ', 'i', 'd', ID, NOTHING),
	NAME('g', 'r', 'i', 'd', GRID, BLANK),
	NAME('r', 'p', 't', 'r', RPTR, BLANK),
	NAME('w', 'p', 't', 'r', WPTR, BLANK),
	NAME('r', 'o', 'u', 'p', WORKGROUP, WHOLE),
	NAME('_', 'o', 'b', 'j', KERNEL_OBJ, WHOLE),
	NAME('g', 'n', 'a', 'l', COMPLETION_SIGNAL, WHOLE),
	NAME('d', 'e', 'r', ' ', SKIPPED, NOTHING), // "Header ="
	NAME('t', 'y', 'p', 'e', SKIPPED, NOTHING),
	NAME('r', 'i', 'e', 'r', SKIPPED, NOTHING), // barrier
	NAME('u', 'i', 'r', 'e', SKIPPED, NOTHING), // acquire
	NAME('e', 'a', 's', 'e', SKIPPED, NOTHING), // release
	NAME('e', 't', 'u', 'p', SKIPPED, NOTHING), // setup
	NAME('s', 'i', 'z', 'e', SKIPPED, NOTHING), // private_seg_size, group_seg_size
	NAME('r', 'e', 's', 's', SKIPPED, NOTHING), // kernarg_address
	NAME('n', '_', 'i', 'd', SKIPPED, NOTHING), // correlation_id
};

static inline enum field field_at(const char *from, const char *equals)
{
	uint32_t letters, slot;

	memcpy(&letters, equals - sizeof(letters), sizeof(letters));
	slot = SLOT(letters);
	if (names[slot].letters == letters &&
	    (names[slot].needs == NOTHING || (names[slot].needs == BLANK && equals[-5] == ' ')))
		return names[slot].field;
	return find_field(from, equals);
}

// "[1024, 1, 1]"
static void read_triple(const struct amdlog_record *r, const char *p, uint64_t out[3])
{
	uint64_t v[3];

	if (p >= r->msg + r->msg_len || *p++ != '[')
		return;
	v[0] = read_number(r, p, &p);
	if (v[0] != AMDLOG_UNKNOWN && r->msg + r->msg_len - p >= 7 && !memcmp(p, ", 1, 1]", 7)) {
		memcpy(out, (uint64_t[]){v[0], 1, 1}, sizeof(v)); // as most are
		return;
	}
	for (int i = 0;; i++) {
		if (v[i] == AMDLOG_UNKNOWN || p >= r->msg + r->msg_len || *p != ",,]"[i])
			return;
		if (i == 2)
			break;
		v[i + 1] = read_number(r, p + 2, &p);
	}
	memcpy(out, v, sizeof(v));
}

// `numbers`: of the fields that are single ones. Where the value ends.
static __attribute__((noinline)) const char *take_field(const struct amdlog_record *r,
							enum field field, const char *value,
							struct amdlog_packet *p,
							uint64_t numbers[NFIELDS])
{
	const char *stop = r->msg + r->msg_len, *end = value;

	if (field < HWQ) {
		read_triple(r, value, field == GRID ? p->grid : p->workgroup);
		return end;
	}
	numbers[field] = read_number(r, value, &end);
	if (field == RPTR && (end >= stop || *end != ',')) // always followed by wptr
		numbers[RPTR] = AMDLOG_UNKNOWN;
	return end;
}

// Barriers of 6.2 and 6.3 print no pointers, so only a pointer without its partner tells of a loss.
static bool is_whole(const struct amdlog_record *r, const struct amdlog_packet *p, bool completion)
{
	bool both = p->rptr != AMDLOG_UNKNOWN && p->wptr != AMDLOG_UNKNOWN;
	bool none = p->rptr == AMDLOG_UNKNOWN && p->wptr == AMDLOG_UNKNOWN;

	if (!completion || p->hwq == AMDLOG_UNKNOWN || r->kind == AMDLOG_PACKET)
		return false;
	if (r->kind != AMDLOG_DISPATCH)
		return both || none;
	if (p->workgroup[0] == AMDLOG_UNKNOWN)
		return false;
	if (p->grid[0] == AMDLOG_UNKNOWN && !memmem(r->msg, r->msg_len, "cluster_count", 13))
		return false;
	return both || p->swq == AMDLOG_UNKNOWN;
}

void amdlog_packet_parse(const struct amdlog_record *r, struct amdlog_packet *p)
{
	const char *from = r->msg, *stop = r->msg + r->msg_len, *end = NULL;
	enum field field = SKIPPED;
	uint64_t numbers[NFIELDS];

	for (unsigned i = HWQ; i < NFIELDS; i++)
		numbers[i] = AMDLOG_UNKNOWN;
	for (unsigned i = 0; i < 3; i++)
		p->grid[i] = p->workgroup[i] = i ? 0 : AMDLOG_UNKNOWN;
	for (const char *text = r->msg; text < stop; text += 64) {
		uint64_t bits = bytes_that_are(text, '=');

		if (stop - text < 64)
			bits &= (UINT64_C(1) << (stop - text)) - 1;
		for (; bits; bits &= bits - 1) {
			const char *value = text + __builtin_ctzll(bits) + 1;

			field = field_at(from, value - 1);
			if (field != SKIPPED && value < stop)
				end = take_field(r, field, value, p, numbers);
			from = value;
		}
	}
	p->hwq = numbers[HWQ];
	p->swq = numbers[SWQ];
	p->id = (int64_t)numbers[ID];
	p->kernel_obj = numbers[KERNEL_OBJ];
	p->rptr = numbers[RPTR];
	p->wptr = numbers[WPTR];
	p->whole = is_whole(r, p, numbers[COMPLETION_SIGNAL] != AMDLOG_UNKNOWN);
	p->ends = field == WPTR && p->wptr != AMDLOG_UNKNOWN && end == stop && r->ended &&
		  r->kind != AMDLOG_PACKET;
}
