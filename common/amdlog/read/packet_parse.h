// The parser of packet lines, inline so that block_lines.c compiles it for AVX2 as well:
// "SWq=0x.., HWq=0x.., id=1, Dispatch Header = 0xb02 (type=2, ..), .., rptr=0, wptr=0".
//
// Each '=' ends a field's name; fields of other names are skipped.
//
// Facts: [amdlog.packets], [amdlog.backlog].
#pragma once

#include "common/amdlog/read/detail.h"
#include "common/amdlog/read/parse.h"

// --- numbers in messages, all their digits at once ---

// Reads up to `max` hexadecimal digits at `p`, where 17 bytes must be readable. Returns how many
// there are; above 16 *value is not valid.
static inline size_t read_hex(const char *p, size_t max, uint64_t *value)
{
#if defined(__SSE2__)
	const __m128i x = _mm_loadu_si128((const __m128i_u *)p);
	__m128i d = _mm_sub_epi8(x, _mm_set1_epi8('0'));
	__m128i l = _mm_sub_epi8(_mm_or_si128(x, _mm_set1_epi8(0x20)), _mm_set1_epi8('a'));
	__m128i is_d = _mm_cmpeq_epi8(_mm_min_epu8(d, _mm_set1_epi8(9)), d);
	__m128i is_l = _mm_cmpeq_epi8(_mm_min_epu8(l, _mm_set1_epi8(5)), l);
	uint32_t others = ~(uint32_t)_mm_movemask_epi8(_mm_or_si128(is_d, is_l));
	size_t n = (size_t)__builtin_ctz(others);
	if (n >= max)
		n = max;
	else if (n == 16 && hex_digit(p[16]) >= 0)
		return 17;
	if (!n || n > 16)
		return n;
	// Makes each digit a value of four bits, then joins each pair of digits into one byte.
	l = _mm_and_si128(is_l, _mm_add_epi8(l, _mm_set1_epi8(10)));
	d = _mm_or_si128(_mm_and_si128(is_d, d), l);
	d = _mm_or_si128(_mm_slli_epi16(d, 4), _mm_srli_epi16(d, 8));
	d = _mm_packus_epi16(_mm_and_si128(d, _mm_set1_epi16(0xff)), d);
	*value = __builtin_bswap64((uint64_t)_mm_cvtsi128_si64(d)) >> (16 - n) * 4;
	return n;
#else
	uint64_t v = 0;
	size_t n = 0;
	for (int digit; n < max && n < 17 && (digit = hex_digit(p[n])) >= 0; n++)
		v = v << 4 | (uint64_t)digit;
	*value = v;
	return n;
#endif
}

// Reads up to `max` decimal digits at `p`. Returns how many there are, at most 20; above 19
// *value may have overflowed.
static inline size_t read_decimal(const char *p, size_t max, uint64_t *value)
{
	uint64_t v = 0;
	size_t n;
	for (n = 0; n < max && n < 20 && is_digit(p[n]); n++)
		v = v * 10 + (uint64_t)(p[n] - '0');
	*value = v;
	return n;
}

// The decimal number that ends at `end`: of the sixteen bytes before it, those whose `mask` is 0x0f
// are digits; the mask of the others is 0. Joins pairs of digits, then pairs of those.
static inline uint64_t digits_before(const char *end, const uint8_t *mask)
{
#if defined(__SSE4_1__)
	const __m128i tens = _mm_set1_epi16(1 << 8 | 10);
	const __m128i hundreds = _mm_set1_epi32(1 << 16 | 100);
	const __m128i ten_thousands = _mm_set1_epi32(1 << 16 | 10000);
	__m128i x = _mm_and_si128(_mm_loadu_si128((const __m128i_u *)(end - 16)),
				  _mm_loadu_si128((const __m128i_u *)mask));

	x = _mm_madd_epi16(_mm_maddubs_epi16(x, tens), hundreds);
	x = _mm_madd_epi16(_mm_packus_epi32(x, x), ten_thousands);
	uint64_t halves = (uint64_t)_mm_cvtsi128_si64(x);
	return (uint32_t)halves * UINT64_C(100000000) + (halves >> 32);
#else
	uint64_t value = 0;
	for (int i = 0; i < 16; i += 8) {
		uint64_t x = load64(end - 16 + i) & load64(mask + i);
		x = x * 10 + (x >> 8);
		x = (x & UINT64_C(0x000000ff000000ff)) * UINT64_C(0x000f424000000064) +
		    (x >> 16 & UINT64_C(0x000000ff000000ff)) * UINT64_C(0x0000271000000001);
		value = value * 100000000 + (x >> 32);
	}
	return value;
#endif
}

// True if a number at the message's end is whole: a blank or the line's end follows.
static inline bool number_may_end(const struct amdlog_record *r)
{
	return r->ended || r->msg + r->msg_len < r->text + r->len;
}

// True if a number that ends at `p` is whole: a separator follows or, if `may_end`, nothing.
static inline bool is_number_end(const char *p, const char *stop, bool may_end)
{
	const uint64_t separators =
		UINT64_C(1) << ' ' | UINT64_C(1) << ',' | UINT64_C(1) << '(' | UINT64_C(1) << ')';
	if (p >= stop)
		return may_end;
	return *p == ']' || ((unsigned char)*p < 64 && separators >> *p & 1);
}

// The number at `p` in a message that ends at `stop`, hexadecimal behind 0x; AMDLOG_UNKNOWN: there
// is none, or it is cut (is_number_end). *end: the place behind its last digit.
static inline __attribute__((always_inline)) uint64_t read_number(const char *p, const char *stop,
								  bool may_end, const char **end)
{
	uint64_t v = 0;
	size_t n, most;
	if (stop - p > 2 && p[0] == '0' && p[1] == 'x') {
		p += 2;
		n = read_hex(p, (size_t)(stop - p), &v);
		most = 16;
	} else {
		n = read_decimal(p, p < stop ? (size_t)(stop - p) : 0, &v);
		most = 19;
	}
	*end = p + n;
	return n && n <= most && is_number_end(p + n, stop, may_end) ? v : AMDLOG_UNKNOWN;
}

// --- packet lines ---

enum packet_field {
	FIELD_SKIPPED,
	FIELD_HEADER,
	FIELD_GRID,
	FIELD_WORKGROUP,
	FIELD_HWQ, // the fields from here on have one number as value
	FIELD_SWQ,
	FIELD_ID,
	FIELD_KERNEL_OBJ,
	FIELD_SIGNAL, // completion_signal
	FIELD_PRIORITY,
	FIELD_RPTR,
	FIELD_WPTR,
	NFIELDS
};

// True if a field's `name` stands before `equals`, behind a blank, a comma, the '=' of a field
// without a value, or at the message's beginning.
static inline __attribute__((always_inline)) bool is_name(const char *msg, const char *equals,
							  const char *name, size_t len)
{
	const char *at = equals - len;
	return at >= msg && !memcmp(at, name, len) &&
	       (at == msg || at[-1] == ' ' || at[-1] == ',' || at[-1] == '=');
}

// The field whose '=' is at `equals`, by its name's last letter.
static inline enum packet_field packet_field_at(const char *msg, const char *equals)
{
#define IS(name) is_name(msg, equals, name, sizeof(name) - 1)
	switch (equals[-1]) {
	case ' ':
		return equals - msg >= 8 && !memcmp(equals - 8, " Header ", 8) ? FIELD_HEADER
									       : FIELD_SKIPPED;
	case 'q': return IS("HWq") ? FIELD_HWQ : IS("SWq") ? FIELD_SWQ : FIELD_SKIPPED;
	case 'd': return IS("id") ? FIELD_ID : IS("grid") ? FIELD_GRID : FIELD_SKIPPED;
	case 'p': return IS("workgroup") ? FIELD_WORKGROUP : FIELD_SKIPPED;
	case 'j': return IS("kernel_obj") ? FIELD_KERNEL_OBJ : FIELD_SKIPPED;
	case 'l': return IS("completion_signal") ? FIELD_SIGNAL : FIELD_SKIPPED;
	case 'y': return IS("priority") ? FIELD_PRIORITY : FIELD_SKIPPED;
	case 'r': return IS("rptr") ? FIELD_RPTR : IS("wptr") ? FIELD_WPTR : FIELD_SKIPPED;
	default: return FIELD_SKIPPED;
	}
#undef IS
}

// The kind of packet that is named before the " Header = " at `header`; AMDLOG_PACKET: another one.
static inline enum amdlog_kind packet_kind_before(const char *msg, const char *header)
{
#define IS(text)                              \
	(header - msg >= (int)sizeof(text) && \
	 !memcmp(header + 1 - sizeof(text), text, sizeof(text) - 1))
	if (IS(", Dispatch"))
		return AMDLOG_DISPATCH;
	if (IS(", BarrierAND") || IS(", Barrier-AND"))
		return AMDLOG_BARRIER_AND;
	if (IS(", BarrierOR") || IS(", Barrier-OR"))
		return AMDLOG_BARRIER_OR;
	return IS(", BarrierValue") ? AMDLOG_BARRIER_VALUE : AMDLOG_PACKET;
#undef IS
}

// Reads "[1024, 1, 1]" into `out`; leaves `out` as it is if the text is cut.
static inline void packet_triple(const char *p, const char *stop, uint64_t out[3])
{
	static const char ones[8] = ", 1, 1]";
	uint64_t v[3];
	if (p >= stop || *p++ != '[')
		return;
	v[0] = read_number(p, stop, false, &p);
	if (v[0] == AMDLOG_UNKNOWN)
		return;
	if (stop - p >= 7 && !((load64(p) ^ load64(ones)) << 8)) {
		out[0] = v[0]; // most shapes are of one dimension
		out[1] = out[2] = 1;
		return;
	}
	for (int i = 1; i < 3; i++) {
		if (p >= stop || *p != ',')
			return;
		v[i] = read_number(p + 2, stop, false, &p);
		if (v[i] == AMDLOG_UNKNOWN)
			return;
	}
	if (p < stop && *p == ']')
		memcpy(out, v, sizeof(v));
}

// True if the packet line is complete. Barriers of ROCm 6.2 and 6.3 have neither rptr nor wptr, so
// only one of the two alone shows a loss.
static inline bool packet_is_whole(const struct amdlog_packet *p, enum amdlog_kind kind,
				   bool signal, const char *msg, const char *stop)
{
	bool both = p->rptr != AMDLOG_UNKNOWN && p->wptr != AMDLOG_UNKNOWN;
	bool none = p->rptr == AMDLOG_UNKNOWN && p->wptr == AMDLOG_UNKNOWN;
	if (!signal || p->hwq == AMDLOG_UNKNOWN || kind == AMDLOG_PACKET)
		return false;
	if (kind != AMDLOG_DISPATCH)
		return both || none;
	if (p->workgroup[0] == AMDLOG_UNKNOWN)
		return false;
	if (p->grid[0] == AMDLOG_UNKNOWN && !memmem(msg, (size_t)(stop - msg), "cluster_count", 13))
		return false;
	return both || p->swq == AMDLOG_UNKNOWN;
}

// Reads the message [msg, stop) of a packet line into `p`, and returns its kind. `ended`: a number
// that ends at `stop` is whole; `newline`: a newline is at `stop`.
static inline enum amdlog_kind packet_parse(const char *msg, const char *stop, bool ended,
					    bool newline, struct amdlog_packet *p)
{
	enum amdlog_kind kind = AMDLOG_PACKET;
	enum packet_field field = FIELD_SKIPPED;
	const char *end = NULL;
	uint64_t v[NFIELDS];
	for (unsigned i = FIELD_HWQ; i < NFIELDS; i++)
		v[i] = AMDLOG_UNKNOWN;
	for (unsigned i = 0; i < 3; i++)
		p->grid[i] = p->workgroup[i] = i ? 0 : AMDLOG_UNKNOWN;
	for (const char *text = msg; text < stop; text += 64) {
		uint64_t equals = bytes_that_are(text, '=');
		if (stop - text < 64)
			equals &= (UINT64_C(1) << (stop - text)) - 1;
		for (; equals; equals &= equals - 1) {
			const char *value = text + __builtin_ctzll(equals) + 1;
			field = packet_field_at(msg, value - 1);
			if (field >= FIELD_HWQ)
				v[field] = read_number(value, stop, ended, &end);
			else if (field == FIELD_HEADER && kind == AMDLOG_PACKET && value < stop &&
				 *value == ' ')
				kind = packet_kind_before(msg, value - 9);
			else if (field == FIELD_GRID || field == FIELD_WORKGROUP)
				packet_triple(value, stop,
					      field == FIELD_GRID ? p->grid : p->workgroup);
			if (field == FIELD_RPTR && (end >= stop || *end != ','))
				v[field] = AMDLOG_UNKNOWN; // cut: wptr always follows
		}
	}
	p->hwq = v[FIELD_HWQ];
	p->swq = v[FIELD_SWQ];
	p->id = (int64_t)v[FIELD_ID];
	p->priority = v[FIELD_PRIORITY] <= 3 ? (int8_t)v[FIELD_PRIORITY] : -1;
	p->kernel_obj = v[FIELD_KERNEL_OBJ];
	p->rptr = v[FIELD_RPTR];
	p->wptr = v[FIELD_WPTR];
	p->whole = packet_is_whole(p, kind, v[FIELD_SIGNAL] != AMDLOG_UNKNOWN, msg, stop);
	p->ends = field == FIELD_WPTR && p->wptr != AMDLOG_UNKNOWN && end == stop && newline &&
		  kind != AMDLOG_PACKET;
	return kind;
}
