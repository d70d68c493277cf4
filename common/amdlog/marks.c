// The mark finders: portable C, SSE2, AVX2, AVX-512 and NEON (see marks.h).
#include "common/amdlog/marks.h"

// Mapped text was not touched before: it is asked for so far in front of where the finder is.
#define AHEAD 8192

static size_t marks_plain(const char *text, size_t len, bool line_start, uint32_t *out)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++) {
		bool newline = text[i] == '\n';

		if (newline || (text[i] == ':' && text[i + 2] == ':' && !line_start &&
				(unsigned char)(text[i + 1] - '0') < 10))
			out[n++] = (uint32_t)i;
		line_start = newline;
	}
	return n;
}

// What 64 bytes hold, a bit for each: newlines; colons with a digit and a colon behind them.
struct masks {
	uint64_t newlines, records;
};

// Appends the positions of the set bits of `bits`, the first of which stands for `base`. Lines are
// longer than 32 bytes as a rule, so the first two are written without asking whether they exist.
static inline size_t spread(uint64_t bits, size_t base, uint32_t *out, size_t n)
{
	unsigned count = (unsigned)__builtin_popcountll(bits);

	out[n] = (uint32_t)(base + (size_t)__builtin_ctzll(bits | UINT64_C(1) << 63));
	bits &= bits - 1;
	out[n + 1] = (uint32_t)(base + (size_t)__builtin_ctzll(bits | UINT64_C(1) << 63));
	for (unsigned i = 2; __builtin_expect(i < count, 0); i++) {
		bits &= bits - 1;
		out[n + i] = (uint32_t)(base + (size_t)__builtin_ctzll(bits));
	}
	return n + count;
}

// Bits of a block that lie before `len`.
static inline uint64_t valid_bits(size_t at, size_t len)
{
	return len - at >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << (len - at)) - 1;
}

// A finder made of a function that looks at 64 bytes.
#define FINDER(name, look, attribute)                                                              \
	attribute static size_t name(const char *text, size_t len, bool line_start, uint32_t *out) \
	{                                                                                          \
		uint64_t before = line_start;                                                      \
		size_t n = 0;                                                                      \
                                                                                                   \
		for (size_t i = 0; i < len; i += 64) {                                             \
			struct masks m = look(text + i);                                           \
			uint64_t marks = m.newlines | (m.records & ~(m.newlines << 1 | before));   \
                                                                                                   \
			__builtin_prefetch(text + i + AHEAD);                                      \
			before = m.newlines >> 63;                                                 \
			n = spread(marks & valid_bits(i, len), i, out, n);                         \
		}                                                                                  \
		return n;                                                                          \
	}

#if defined(__x86_64__)
#include <immintrin.h>

#define NO_ATTRIBUTE
#define AVX2   __attribute__((target("avx2,bmi,popcnt")))
#define AVX512 __attribute__((target("avx512bw,avx2,bmi,popcnt")))

static inline uint32_t records_sse2(const char *p, __m128i here)
{
	const __m128i colon = _mm_set1_epi8(':'), zero = _mm_set1_epi8('0');
	__m128i one_on = _mm_sub_epi8(_mm_loadu_si128((const __m128i_u *)(p + 1)), zero);
	__m128i two_on = _mm_loadu_si128((const __m128i_u *)(p + 2));
	__m128i digit = _mm_cmpeq_epi8(_mm_min_epu8(one_on, _mm_set1_epi8(9)), one_on);
	__m128i colons = _mm_and_si128(_mm_cmpeq_epi8(here, colon), _mm_cmpeq_epi8(two_on, colon));

	return (uint32_t)_mm_movemask_epi8(_mm_and_si128(colons, digit));
}

static inline struct masks look_sse2(const char *p)
{
	struct masks m = {0, 0};

	for (unsigned i = 0; i < 64; i += 16) {
		__m128i here = _mm_loadu_si128((const __m128i_u *)(p + i));
		__m128i newline = _mm_cmpeq_epi8(here, _mm_set1_epi8('\n'));

		m.newlines |= (uint64_t)(uint32_t)_mm_movemask_epi8(newline) << i;
		m.records |= (uint64_t)records_sse2(p + i, here) << i;
	}
	return m;
}
FINDER(marks_sse2, look_sse2, NO_ATTRIBUTE)

AVX2 static inline uint32_t records_avx2(const char *p, __m256i here)
{
	const __m256i colon = _mm256_set1_epi8(':'), zero = _mm256_set1_epi8('0');
	__m256i one_on = _mm256_sub_epi8(_mm256_loadu_si256((const __m256i_u *)(p + 1)), zero);
	__m256i two_on = _mm256_loadu_si256((const __m256i_u *)(p + 2));
	__m256i digit = _mm256_cmpeq_epi8(_mm256_min_epu8(one_on, _mm256_set1_epi8(9)), one_on);
	__m256i colons =
		_mm256_and_si256(_mm256_cmpeq_epi8(here, colon), _mm256_cmpeq_epi8(two_on, colon));

	return (uint32_t)_mm256_movemask_epi8(_mm256_and_si256(colons, digit));
}

AVX2 static inline struct masks look_avx2(const char *p)
{
	struct masks m = {0, 0};

	for (unsigned i = 0; i < 64; i += 32) {
		__m256i here = _mm256_loadu_si256((const __m256i_u *)(p + i));
		__m256i newline = _mm256_cmpeq_epi8(here, _mm256_set1_epi8('\n'));

		m.newlines |= (uint64_t)(uint32_t)_mm256_movemask_epi8(newline) << i;
		m.records |= (uint64_t)records_avx2(p + i, here) << i;
	}
	return m;
}
FINDER(marks_avx2, look_avx2, AVX2)

AVX512 static inline struct masks look_avx512(const char *p)
{
	const __m512i colon = _mm512_set1_epi8(':');
	__m512i here = _mm512_loadu_si512(p);
	__m512i one_on = _mm512_sub_epi8(_mm512_loadu_si512(p + 1), _mm512_set1_epi8('0'));
	uint64_t two_on = _mm512_cmpeq_epi8_mask(_mm512_loadu_si512(p + 2), colon);

	return (struct masks){
		_mm512_cmpeq_epi8_mask(here, _mm512_set1_epi8('\n')),
		_mm512_cmpeq_epi8_mask(here, colon) & two_on &
			_mm512_cmplt_epu8_mask(one_on, _mm512_set1_epi8(10)),
	};
}
FINDER(marks_avx512, look_avx512, AVX512)

static const struct {
	const char *name;
	marks_fn *find;
} finders[] = {
	{"plain", marks_plain},
	{"sse2", marks_sse2},
	{"avx2", marks_avx2},
	{"avx512", marks_avx512},
};

static unsigned usable(void)
{
	__builtin_cpu_init();
	if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("bmi") ||
	    !__builtin_cpu_supports("popcnt"))
		return 2;
	return __builtin_cpu_supports("avx512bw") ? 4 : 3;
}
#elif defined(__aarch64__)
#include <arm_neon.h>

// A bit for each byte that is set, of four registers of 16 bytes.
static inline uint64_t bits_of(const uint8x16_t in[4])
{
	const uint8x16_t weight = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
	uint8x16_t a = vpaddq_u8(vandq_u8(in[0], weight), vandq_u8(in[1], weight));
	uint8x16_t b = vpaddq_u8(vandq_u8(in[2], weight), vandq_u8(in[3], weight));

	a = vpaddq_u8(a, b);
	a = vpaddq_u8(a, a);
	return vgetq_lane_u64(vreinterpretq_u64_u8(a), 0);
}

static inline struct masks look_neon(const char *text)
{
	const uint8_t *p = (const uint8_t *)text;
	const uint8x16_t colon = vdupq_n_u8(':');
	uint8x16_t newlines[4], records[4];

	for (unsigned i = 0; i < 4; i++, p += 16) {
		uint8x16_t here = vld1q_u8(p), two_on = vld1q_u8(p + 2);
		uint8x16_t digit =
			vcltq_u8(vsubq_u8(vld1q_u8(p + 1), vdupq_n_u8('0')), vdupq_n_u8(10));

		newlines[i] = vceqq_u8(here, vdupq_n_u8('\n'));
		records[i] =
			vandq_u8(digit, vandq_u8(vceqq_u8(here, colon), vceqq_u8(two_on, colon)));
	}
	return (struct masks){bits_of(newlines), bits_of(records)};
}
FINDER(marks_neon, look_neon, )

static const struct {
	const char *name;
	marks_fn *find;
} finders[] = {{"plain", marks_plain}, {"neon", marks_neon}};

static unsigned usable(void)
{
	return 2;
}
#else
static const struct {
	const char *name;
	marks_fn *find;
} finders[] = {{"plain", marks_plain}};

static unsigned usable(void)
{
	return 1;
}
#endif

marks_fn *marks_nth(unsigned n, const char **name)
{
	if (n >= usable())
		return NULL;
	if (name)
		*name = finders[n].name;
	return finders[n].find;
}

marks_fn *marks_choose(void)
{
	return finders[usable() - 1].find;
}
