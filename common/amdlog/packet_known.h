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

#define HEAD_MAX   160
#define HEAD_LEAST 72 // a shorter packet line is not looked up
#define HEAD_SLOTS 1024
#define STEP_TEXT  32
#define STEPS_MAX  24

// "SWq=0x.., HWq=0x.., id=8, Dispatch Header = 0xb02 (type=2, ..), setup=3, grid=["
struct packet_head {
	uint64_t hwq, swq;
	int64_t id;
	uint8_t len; // 0: the slot is free
	enum amdlog_kind kind : 8;
	char text[HEAD_MAX];
};

enum step_number { STEP_DECIMAL, STEP_HEX, STEP_TRIPLE };

enum step_field {
	STEP_SKIPPED,
	STEP_GRID, // triples
	STEP_WORKGROUP,
	STEP_KERNEL_OBJ, // numbers
	STEP_RPTR,
	STEP_WPTR,
};

// A number of the rest, and the text in front of it.
struct packet_step {
	char text[STEP_TEXT];
	uint32_t bits; // a bit for each of its bytes
	uint8_t len;
	enum step_number number : 8;
	enum step_field field : 8;
};

struct packet_rest {
	uint8_t n; // steps; 0: not known
	struct packet_step steps[STEPS_MAX];
};

struct packet_memo {
	struct packet_head heads[HEAD_SLOTS];
	struct packet_rest rests[AMDLOG_BARRIER_VALUE - AMDLOG_PACKET + 1]; // by kind
};

// Where the head is, if it is, of a packet line of HEAD_LEAST bytes at least.
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

// The head of a packet line as there was one before; NULL.
static inline const struct packet_head *packet_head_at(struct packet_memo *m, const char *msg,
						       size_t len)
{
	const struct packet_head *h = packet_slot(m, msg);

	return len > h->len && h->len && !memcmp(h->text, msg, h->len) ? h : NULL;
}

#if defined(__AVX2__)

// How many of the 16 bytes at `p` are digits before another comes.
static inline unsigned decimal_digits(const char *p)
{
	__m128i x = _mm_loadu_si128((const __m128i_u *)p);
	__m128i d = _mm_sub_epi8(x, _mm_set1_epi8('0'));
	__m128i is_digit = _mm_cmpeq_epi8(_mm_min_epu8(d, _mm_set1_epi8(9)), d);

	return (unsigned)__builtin_ctz(~(uint32_t)_mm_movemask_epi8(is_digit));
}

static inline unsigned hex_digits(const char *p)
{
	__m128i x = _mm_loadu_si128((const __m128i_u *)p);
	__m128i d = _mm_sub_epi8(x, _mm_set1_epi8('0'));
	__m128i l = _mm_sub_epi8(_mm_or_si128(x, _mm_set1_epi8(0x20)), _mm_set1_epi8('a'));
	__m128i is_digit = _mm_cmpeq_epi8(_mm_min_epu8(d, _mm_set1_epi8(9)), d);
	__m128i is_letter = _mm_cmpeq_epi8(_mm_min_epu8(l, _mm_set1_epi8(5)), l);

	return (unsigned)__builtin_ctz(
		~(uint32_t)_mm_movemask_epi8(_mm_or_si128(is_digit, is_letter)));
}

// The value of the `n` digits that end at `end`, at most 16.
static inline uint64_t decimal_value(const char *end, unsigned n)
{
	static const uint8_t masks[32] = {[16] = 15, 15, 15, 15, 15, 15, 15, 15,
					  15,        15, 15, 15, 15, 15, 15, 15};

	return decimal16(end, _mm_loadu_si128((const __m128i_u *)(masks + n)));
}

// A number of 1 to 15 digits; behind it, or NULL.
static inline const char *step_number(const char *p, bool hex, bool wanted, uint64_t *value)
{
	unsigned n = hex ? hex_digits(p) : decimal_digits(p);

	if (n - 1 >= 15)
		return NULL;
	if (wanted && hex)
		read_hex(p, n, value);
	else if (wanted)
		*value = decimal_value(p + n, n);
	return p + n;
}

static inline const char *step_triple(const char *p, uint64_t out[3])
{
	static const char ones[8] = ", 1, 1]";

	p = step_number(p, false, true, &out[0]);
	if (p && !((load64(p) ^ load64(ones)) << 8)) {
		out[1] = out[2] = 1; // as most are
		return p + 7;
	}
	for (int i = 1; i < 3 && p; i++)
		p = p[0] == ',' && p[1] == ' ' ? step_number(p + 2, false, true, &out[i]) : NULL;
	return p && *p == ']' ? p + 1 : NULL;
}

// What a packet of [msg, stop) says that begins with `h`. False: it is to be read in full.
static inline bool packet_parse_known(const struct packet_memo *m, const struct packet_head *h,
				      const char *msg, const char *stop, struct amdlog_packet *out)
{
	const struct packet_rest *rest = &m->rests[h->kind - AMDLOG_PACKET];
	uint64_t triples[3][3] = {{0}, {AMDLOG_UNKNOWN}, {AMDLOG_UNKNOWN}}, numbers[6];
	const char *p = msg + h->len;

	numbers[STEP_KERNEL_OBJ] = AMDLOG_UNKNOWN;
	for (const struct packet_step *s = rest->steps, *end = s + rest->n; s < end; s++) {
		__m256i x = _mm256_loadu_si256((const __m256i_u *)p);
		__m256i text = _mm256_loadu_si256((const __m256i_u *)s->text);

		if (~(uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(x, text)) & s->bits)
			return false;
		p += s->len;
		if (s->number == STEP_TRIPLE)
			p = step_triple(p, triples[s->field]);
		else
			p = step_number(p, s->number == STEP_HEX, s->field, &numbers[s->field]);
		if (!p)
			return false;
	}
	*out = (struct amdlog_packet){
		.hwq = h->hwq,
		.swq = h->swq,
		.id = h->id,
		.kernel_obj = numbers[STEP_KERNEL_OBJ],
		.rptr = numbers[STEP_RPTR],
		.wptr = numbers[STEP_WPTR],
		.whole = true,
		.ends = true,
	};
	memcpy(out->grid, triples[STEP_GRID], sizeof(out->grid));
	memcpy(out->workgroup, triples[STEP_WORKGROUP], sizeof(out->workgroup));
	return p == stop && rest->n;
}
#endif

#endif
