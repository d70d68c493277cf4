// Numbers in messages, all their digits at once.
#ifndef GPQ_AMDLOG_READ_NUMBER_H
#define GPQ_AMDLOG_READ_NUMBER_H

#include "common/amdlog/read/parse.h"

// Reads up to `max` hexadecimal digits at `p`, of which 17 bytes may be read. Returns how many
// there are; above 16 the value is not set.
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
	// Four bits a byte, then pairs of those in every other byte, the first digit on top.
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

// Reads up to `max` decimal digits at `p`. Returns how many there are, at most 20; above 19 the
// value may have overflowed.
static inline size_t read_decimal(const char *p, size_t max, uint64_t *value)
{
	uint64_t v = 0;
	size_t n;

	for (n = 0; n < max && n < 20 && is_digit(p[n]); n++)
		v = v * 10 + (uint64_t)(p[n] - '0');
	*value = v;
	return n;
}

// The value of the digits that end at `end`: of the sixteen bytes before it those whose `mask` is
// 0x0f, else 0. Pairs are joined, then pairs of those.
static inline uint64_t digits_before(const char *end, const uint8_t *mask)
{
#if defined(__SSE4_1__)
	const __m128i tens = _mm_set1_epi16(1 << 8 | 10);
	const __m128i hundreds = _mm_set1_epi32(1 << 16 | 100);
	const __m128i ten_thousands = _mm_set1_epi32(1 << 16 | 10000);
	__m128i x = _mm_and_si128(_mm_loadu_si128((const __m128i_u *)(end - 16)),
				  _mm_loadu_si128((const __m128i_u *)mask));
	uint64_t halves;

	x = _mm_madd_epi16(_mm_maddubs_epi16(x, tens), hundreds);
	x = _mm_madd_epi16(_mm_packus_epi32(x, x), ten_thousands);
	halves = (uint64_t)_mm_cvtsi128_si64(x);
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

// A number may end where the message does: a blank, or the line's end, follows.
static inline bool number_may_end(const struct amdlog_record *r)
{
	return r->ended || r->msg + r->msg_len < r->text + r->len;
}

// What ends at `p` is whole: a separator follows, or the message ends at `stop` and a number may
// end there.
static inline bool is_number_end(const char *p, const char *stop, bool may_end)
{
	const uint64_t separators =
		UINT64_C(1) << ' ' | UINT64_C(1) << ',' | UINT64_C(1) << '(' | UINT64_C(1) << ')';

	if (p >= stop)
		return may_end;
	return *p == ']' || ((unsigned char)*p < 64 && separators >> *p & 1);
}

// The number at `p`, in a message that ends at `stop`; hexadecimal behind 0x. AMDLOG_UNKNOWN when
// there is none or it is cut: a separator must follow, or the message's end if it `may_end` there.
// Behind the last digit in *end.
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

#endif
