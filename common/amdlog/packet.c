// The fields of packet lines (see detail.h). Facts: amd-log-facts.md sections 5 and 12.
//
// Packets are few among the lines of a log, but have up to twenty-five fields each. The letters in
// front of an '=' tell whether it is read.
#include "common/amdlog/detail.h"
#include "common/amdlog/number.h"
#include "common/amdlog/packet_known.h"

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

// "[1024, 1, 1]"; `out` stays as it is when it is not whole.
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

// What a step does with the number of the field whose '=' is at `equals`. False: nothing it can.
static bool step_of(const char *from, const char *equals, struct packet_step *s)
{
	enum field field = field_at(from, equals);

	s->number = field == GRID || field == WORKGROUP ? STEP_TRIPLE : STEP_DECIMAL;
	switch (field) {
	case SKIPPED:
	case COMPLETION_SIGNAL: s->field = STEP_SKIPPED; return true;
	case GRID: s->field = STEP_GRID; return true;
	case WORKGROUP: s->field = STEP_WORKGROUP; return true;
	case KERNEL_OBJ: s->field = STEP_KERNEL_OBJ; return true;
	case RPTR: s->field = STEP_RPTR; return true;
	case WPTR: s->field = STEP_WPTR; return true;
	default: return false;
	}
}

// Where learning is: behind a number or the head; the '=' last seen, and where its name may begin.
struct learning {
	const char *p, *stop, *equals, *from;
};

// The next number: behind "=", "[" or a blank. NULL: there is none.
static const char *next_number(struct learning *at)
{
	for (const char *p = at->p; p < at->stop; p++) {
		if (is_digit(*p) && (p[-1] == '=' || p[-1] == '[' || p[-1] == ' '))
			return p;
		if (*p == '=') {
			at->from = at->equals + 1;
			at->equals = p;
		}
	}
	return NULL;
}

// Behind the number; NULL: it is none that steps take.
static const char *skip_number(const struct learning *at, const char *p,
			       const struct packet_step *s)
{
	const char *from = p;

	if (s->number == STEP_TRIPLE) {
		p = memchr(p, ']', (size_t)(at->stop - p));
		return p ? p + 1 : NULL;
	}
	while (s->number == STEP_HEX ? hex_digit(*p) >= 0 : is_digit(*p))
		p++;
	return p > from && p - from < 16 ? p : NULL;
}

static bool is_separator(char c)
{
	return c == ',' || c == ' ' || c == ']' || c == ')';
}

// What is to be done with the number at `number`, and the text in front of it. False: steps cannot.
static bool learn_step(struct learning *at, const char *number, struct packet_step *s)
{
	const char *first = at->equals + 1;
	size_t len;

	if (!step_of(at->from, at->equals, s) ||
	    (s->field && number != first + (s->number == STEP_TRIPLE)))
		return false;
	if (s->number == STEP_DECIMAL && number[0] == '0' && number[1] == 'x') {
		s->number = STEP_HEX;
		number += 2;
	}
	len = (size_t)(number - at->p);
	if (len > STEP_TEXT)
		return false;
	memcpy(s->text, at->p, len);
	s->len = (uint8_t)len;
	s->bits = (uint32_t)((UINT64_C(1) << len) - 1);
	s->digits = 1; // to begin with
	s->look = 3;
	at->p = skip_number(at, number, s);
	// A separator, so that a name does not depend on the number in front of it.
	return at->p && (at->p == at->stop || is_separator(*at->p));
}

static bool learn_rest(struct packet_rest *rest, struct learning at, const struct amdlog_packet *p)
{
	unsigned seen = 0;
	const char *number;

	while (at.p < at.stop) {
		struct packet_step s = {0};

		number = next_number(&at);
		if (!number || rest->n == STEPS_MAX || !learn_step(&at, number, &s))
			return false;
		seen |= 1u << s.field;
		rest->steps[rest->n++] = s;
	}
	return seen >> STEP_RPTR & 1 && seen >> STEP_WPTR & 1 && p->rptr != AMDLOG_UNKNOWN &&
	       (seen >> STEP_KERNEL_OBJ & 1) == (p->kernel_obj != AMDLOG_UNKNOWN);
}

// Nothing that steps read may be named in front of them, but for the last name.
static bool is_plain_head(const char *msg, struct learning *at)
{
	struct packet_step s;

	at->from = at->equals = msg;
	for (const char *p = msg; p < at->p; p++) {
		if (*p != '=')
			continue;
		if (at->equals > msg && step_of(at->from, at->equals, &s) && s.field)
			return false;
		at->from = at->equals + (at->equals > msg);
		at->equals = p;
	}
	return at->equals > msg;
}

// What is known is not searched for another record. Of numbers' lengths nothing is known.
static bool may_hold_mark(const struct amdlog_record *r)
{
	for (const char *p = r->text + 1; p < r->msg; p++) {
		if (is_mark(p))
			return true;
	}
	return memchr(r->msg, ':', r->msg_len);
}

// Each field that is read has one value; in front of `last`, the '=' of the head's last name, those
// that the head keeps, and from there on those that steps read.
static bool is_in_place(const struct amdlog_record *r, const char *last)
{
	const char *from = r->msg, *end = from + r->msg_len;
	unsigned seen = 0;

	for (const char *p = from; (p = memchr(p, '=', (size_t)(end - p))); from = ++p) {
		enum field field = field_at(from, p);
		bool kept = field == HWQ || field == SWQ || field == ID;

		if (field != SKIPPED && (seen >> field & 1 || kept != (p < last)))
			return false;
		seen |= 1u << field;
	}
	return true;
}

// What is known must tell as much of any packet as of this one: not if a part of it was in the
// head.
static bool is_learnable(const struct amdlog_record *r, const struct amdlog_packet *p)
{
	return r->kind != AMDLOG_PACKET && p->whole && p->ends &&
	       (r->kind != AMDLOG_DISPATCH || p->grid[0] != AMDLOG_UNKNOWN) && !may_hold_mark(r);
}

void packet_learn(struct packet_memo *m, const struct amdlog_record *r,
		  const struct amdlog_packet *p)
{
	static const char header[] = " Header = ";
	struct packet_rest *rest = &m->rests[r->kind - AMDLOG_PACKET];
	struct learning at = {.stop = r->msg + r->msg_len};
	struct packet_step first;
	struct packet_head *head;
	const char *end;
	size_t len;

	if (!is_learnable(r, p))
		return;
	end = memmem(r->msg, r->msg_len, header, sizeof(header) - 1);
	if (!end)
		return;
	len = (size_t)(end - r->msg) + sizeof(header) - 1;
	at.p = memchr(end, '[', (size_t)(at.stop - end));
	if (packet_kind(r->msg, len) != r->kind || !at.p || ++at.p - r->msg >= HEAD_MAX ||
	    !is_plain_head(r->msg, &at) || !step_of(at.from, at.equals, &first) ||
	    !is_in_place(r, at.equals))
		return;
	rest->n = 0;
	rest->first = first.field;
	if (!learn_rest(rest, at, p)) {
		rest->n = 0;
		return;
	}
	len = (size_t)(at.p - r->msg);
	head = packet_slot(m, r->msg);
	*head = (struct packet_head){
		.hwq = p->hwq,
		.swq = p->swq,
		.id = p->id,
		.len = (uint8_t)len,
		.kind = r->kind,
		.first = first.field,
	};
	memcpy(head->line, r->text, HEAD_LINE);
	memcpy(head->text, r->msg, len);
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
