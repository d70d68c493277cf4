// Packets as they repeat: nearly every packet of a queue begins with the same bytes, up to its grid
// or its signals, and what follows differs from that of others of its kind in numbers alone. So the
// beginning is looked up, and of the rest the text between the numbers is compared.
//
// Both are learned from packets that were read in full (amdlog_packet_parse), and serve the
// digester that learned them. What is known reads as it would in full, or is not taken as known.
//
// Facts: amd-log-facts.md sections 5 and 12.
#ifndef GPQ_AMDLOG_PACKET_KNOWN_H
#define GPQ_AMDLOG_PACKET_KNOWN_H

#include "common/amdlog/detail.h"
#include "common/amdlog/number.h"

#define HEAD_LINE  32  // bytes of the line: level, file, three digits of the line's number
#define HEAD_MAX   160 // of the message
#define HEAD_SLOTS 1024
#define STEP_TEXT  32
#define STEPS_MAX  24

enum step_number { STEP_DECIMAL, STEP_HEX, STEP_TRIPLE };

enum step_field {
	STEP_SKIPPED,
	STEP_GRID, // triples
	STEP_WORKGROUP,
	STEP_KERNEL_OBJ, // numbers
	STEP_RPTR,
	STEP_WPTR,
};

// "SWq=0x.., HWq=0x.., id=8, Dispatch Header = 0xb02 (type=2, ..), setup=3, grid=["
struct packet_head {
	uint64_t hwq, swq;
	int64_t id;
	uint8_t len; // 0: the slot is free
	enum amdlog_kind kind : 8;
	enum step_field first : 8; // whose value begins behind it
	char line[HEAD_LINE];
	char text[HEAD_MAX]; // zeros behind `len`
};

// A number of the rest, and the text in front of it.
struct packet_step {
	char text[STEP_TEXT];
	uint32_t bits; // a bit for each of its bytes
	uint32_t look; // a bit for each digit of the last such number, and one more
	uint8_t len, digits;
	enum step_number number : 8;
	enum step_field field : 8;
};

// What follows a head whose last name is that of `first`.
struct packet_rest {
	uint8_t n; // steps; 0: not known
	enum step_field first : 8;
	struct packet_step steps[STEPS_MAX];
};

struct packet_memo {
	struct packet_head heads[HEAD_SLOTS];
	struct packet_rest rests[AMDLOG_BARRIER_VALUE - AMDLOG_PACKET + 1]; // by kind
};

// Where the head is, if it is, of a packet's message, of which HEAD_MAX bytes may be read.
static inline struct packet_head *packet_slot(struct packet_memo *m, const char *msg)
{
	uint64_t key = load64(msg + 10); // of the first address

	key ^= load64(msg + 30) * UINT64_C(0xff51afd7ed558ccd); // of the second, if there is one
	key ^= load64(msg + 46) ^ load64(msg + 62) << 7;        // kind and header
	return &m->heads[key * UINT64_C(0x9e3779b97f4a7c15) >> 54];
}
_Static_assert(HEAD_SLOTS == 1024, "packet_slot takes ten bits");

// Learns from a packet that was read in full.
void packet_learn(struct packet_memo *m, const struct amdlog_record *r,
		  const struct amdlog_packet *p);

#if defined(__AVX2__)

// Which of the 32 bytes at `p` differ.
static inline uint32_t differing(const char *p, const char *text)
{
	__m256i x = _mm256_loadu_si256((const __m256i_u *)p);
	__m256i y = _mm256_loadu_si256((const __m256i_u *)text);

	return ~(uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(x, y));
}

// The head of a packet line as there was one before; NULL.
static inline const struct packet_head *packet_head_at(struct packet_memo *m, const char *line,
						       const char *msg)
{
	const struct packet_head *h = packet_slot(m, msg);
	unsigned at = 0;

	if (!h->len || differing(line, h->line))
		return NULL;
	while (at + 32 <= h->len) {
		if (differing(msg + at, h->text + at))
			return NULL;
		at += 32;
	}
	return differing(msg + at, h->text + at) & ((UINT32_C(1) << (h->len - at)) - 1) ? NULL : h;
}
_Static_assert(HEAD_MAX % 32 == 0 && HEAD_LINE == 32, "heads are compared 32 bytes at once");

// Which of the 16 bytes at `p` are digits.
static inline uint32_t decimal_digits(const char *p)
{
	__m128i x = _mm_loadu_si128((const __m128i_u *)p);
	__m128i d = _mm_sub_epi8(x, _mm_set1_epi8('0'));

	return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(d, _mm_set1_epi8(9)), d));
}

static inline uint32_t hex_digits(const char *p)
{
	__m128i x = _mm_loadu_si128((const __m128i_u *)p);
	__m128i d = _mm_sub_epi8(x, _mm_set1_epi8('0'));
	__m128i l = _mm_sub_epi8(_mm_or_si128(x, _mm_set1_epi8(0x20)), _mm_set1_epi8('a'));
	__m128i is_digit = _mm_cmpeq_epi8(_mm_min_epu8(d, _mm_set1_epi8(9)), d);
	__m128i is_letter = _mm_cmpeq_epi8(_mm_min_epu8(l, _mm_set1_epi8(5)), l);

	return (uint32_t)_mm_movemask_epi8(_mm_or_si128(is_digit, is_letter));
}

// The value of the `n` digits that end at `end`, at most 16.
static inline uint64_t decimal_value(const char *end, unsigned n)
{
	static const uint8_t masks[32] = {[16] = 15, 15, 15, 15, 15, 15, 15, 15,
					  15,        15, 15, 15, 15, 15, 15, 15};

	return decimal16(end, _mm_loadu_si128((const __m128i_u *)(masks + n)));
}

// A number of 1 to 15 digits; behind it, or NULL. It is tried with as many as the last one had, as
// most have, so that what follows need not wait until they are counted.
static inline const char *step_number(struct packet_step *s, const char *p, bool wanted,
				      uint64_t *value)
{
	bool hex = s->number == STEP_HEX;
	uint32_t digits = hex ? hex_digits(p) : decimal_digits(p);
	unsigned n = s->digits;

	if ((digits & s->look) != s->look >> 1) {
		n = (unsigned)__builtin_ctz(~digits);
		if (n - 1 >= 15)
			return NULL;
		s->digits = (uint8_t)n;
		s->look = (UINT32_C(2) << n) - 1;
	}
	if (wanted && hex)
		read_hex(p, n, value);
	else if (wanted)
		*value = decimal_value(p + n, n);
	return p + n;
}

static inline const char *step_triple(struct packet_step *s, const char *p, uint64_t out[3])
{
	static const char ones[8] = ", 1, 1]";

	p = step_number(s, p, true, &out[0]);
	if (p && !((load64(p) ^ load64(ones)) << 8)) {
		out[1] = out[2] = 1; // as most are
		return p + 7;
	}
	for (int i = 1; i < 3 && p; i++)
		p = p[0] == ',' && p[1] == ' ' ? step_number(s, p + 2, true, &out[i]) : NULL;
	return p && *p == ']' ? p + 1 : NULL;
}

// What a packet says whose message begins with `h`. Where it ends, perhaps: when the line does not
// end there, or for NULL, it is to be read in full.
static inline const char *packet_parse_known(struct packet_memo *m, const struct packet_head *h,
					     const char *msg, struct amdlog_packet *out)
{
	struct packet_rest *rest = &m->rests[h->kind - AMDLOG_PACKET];
	uint64_t skipped[3], numbers[6];
	uint64_t *triples[3] = {skipped, out->grid, out->workgroup};
	const char *p = msg + h->len;

	if (!rest->n || rest->first != h->first)
		return NULL;
	for (unsigned i = 0; i < 3; i++)
		out->grid[i] = out->workgroup[i] = i ? 0 : AMDLOG_UNKNOWN;
	numbers[STEP_KERNEL_OBJ] = AMDLOG_UNKNOWN;
	for (struct packet_step *s = rest->steps, *end = s + rest->n; s < end; s++) {
		if (differing(p, s->text) & s->bits)
			return NULL;
		p += s->len;
		if (s->number == STEP_TRIPLE)
			p = step_triple(s, p, triples[s->field]);
		else
			p = step_number(s, p, s->field, &numbers[s->field]);
		if (!p)
			return NULL;
	}
	out->hwq = h->hwq;
	out->swq = h->swq;
	out->id = h->id;
	out->kernel_obj = numbers[STEP_KERNEL_OBJ];
	out->rptr = numbers[STEP_RPTR];
	out->wptr = numbers[STEP_WPTR];
	out->whole = out->ends = true;
	return p;
}
#endif

#endif
