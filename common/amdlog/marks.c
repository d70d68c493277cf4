// The mark finders: portable C, SSE2, AVX2 and NEON (see marks.h).
#include "common/amdlog/marks.h"

// The text is asked for so far in front of where the finder is.
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

// What 64 bytes hold, a bit for each: newlines; colons with a colon two bytes on.
struct masks {
	uint64_t newlines, pairs;
};

// Those of the colons at `bits` that have a digit behind them.
static __attribute__((noinline)) uint64_t with_digit(const char *text, uint64_t bits)
{
	uint64_t records = 0;

	for (; bits; bits &= bits - 1) {
		unsigned at = (unsigned)__builtin_ctzll(bits);

		if ((unsigned char)(text[at + 1] - '0') < 10)
			records |= UINT64_C(1) << at;
	}
	return records;
}

// Appends the positions of the set bits of `bits`, the first of which stands for `base`. The first
// one is written without asking whether it exists; a second one is rare, as records are longer.
static inline size_t spread(uint64_t bits, size_t base, uint32_t *out, size_t n)
{
	const uint64_t none = UINT64_C(1) << 63; // what counting zeros is defined for

	out[n] = (uint32_t)(base + (size_t)__builtin_ctzll(bits | none));
	n += bits != 0;
	for (bits &= bits - 1; __builtin_expect(bits != 0, 0); bits &= bits - 1)
		out[n++] = (uint32_t)(base + (size_t)__builtin_ctzll(bits));
	return n;
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
		size_t n = 0, i;                                                                   \
                                                                                                   \
		for (i = 0; i + 64 <= len; i += 64) {                                              \
			struct masks m = look(text + i);                                           \
			uint64_t marks = m.newlines, pairs = m.pairs & ~(marks << 1 | before);     \
                                                                                                   \
			__builtin_prefetch(text + i + AHEAD);                                      \
			before = marks >> 63;                                                      \
			if (__builtin_expect(pairs != 0, 0))                                       \
				marks |= with_digit(text + i, pairs);                              \
			n = spread(marks, i, out, n);                                              \
		}                                                                                  \
		if (i < len) {                                                                     \
			struct masks m = look(text + i);                                           \
			uint64_t marks = m.newlines, pairs = m.pairs & ~(marks << 1 | before);     \
                                                                                                   \
			marks |= with_digit(text + i, pairs);                                      \
			n = spread(marks & valid_bits(i, len), i, out, n);                         \
		}                                                                                  \
		return n;                                                                          \
	}

#if defined(__x86_64__)
#include <immintrin.h>

#define NO_ATTRIBUTE
#define AVX2 __attribute__((target("avx2,bmi,popcnt")))

static inline struct masks look_sse2(const char *p)
{
	const __m128i newline = _mm_set1_epi8('\n'), colon = _mm_set1_epi8(':');
	struct masks m = {0, 0};

	for (unsigned i = 0; i < 64; i += 16) {
		__m128i x = _mm_loadu_si128((const __m128i_u *)(p + i));
		__m128i y = _mm_loadu_si128((const __m128i_u *)(p + i + 2));
		__m128i pair = _mm_and_si128(_mm_cmpeq_epi8(x, colon), _mm_cmpeq_epi8(y, colon));
		uint32_t newlines = (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(x, newline));

		m.newlines |= (uint64_t)newlines << i;
		m.pairs |= (uint64_t)(uint32_t)_mm_movemask_epi8(pair) << i;
	}
	return m;
}
FINDER(marks_sse2, look_sse2, NO_ATTRIBUTE)

AVX2 static inline struct masks look_avx2(const char *p)
{
	const __m256i newline = _mm256_set1_epi8('\n'), colon = _mm256_set1_epi8(':');
	struct masks m = {0, 0};

	for (unsigned i = 0; i < 64; i += 32) {
		__m256i x = _mm256_loadu_si256((const __m256i_u *)(p + i));
		__m256i y = _mm256_loadu_si256((const __m256i_u *)(p + i + 2));
		__m256i pair =
			_mm256_and_si256(_mm256_cmpeq_epi8(x, colon), _mm256_cmpeq_epi8(y, colon));
		uint32_t newlines = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(x, newline));

		m.newlines |= (uint64_t)newlines << i;
		m.pairs |= (uint64_t)(uint32_t)_mm256_movemask_epi8(pair) << i;
	}
	return m;
}
FINDER(marks_avx2, look_avx2, AVX2)

static const struct {
	const char *name;
	marks_fn *find;
} finders[] = {
	{"plain", marks_plain},
	{"sse2", marks_sse2},
	{"avx2", marks_avx2},
};

static unsigned usable(void)
{
	__builtin_cpu_init();
	if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("bmi") ||
	    !__builtin_cpu_supports("popcnt"))
		return 2;
	return 3;
}
#elif defined(__aarch64__)
#include "common/amdlog/neon.h"

static inline struct masks look_neon(const char *text)
{
	const uint8_t *p = (const uint8_t *)text;
	const uint8x16_t colon = vdupq_n_u8(':');
	uint8x16_t newlines[4], pairs[4];

	for (unsigned i = 0; i < 4; i++, p += 16) {
		uint8x16_t x = vld1q_u8(p);

		newlines[i] = vceqq_u8(x, vdupq_n_u8('\n'));
		pairs[i] = vandq_u8(vceqq_u8(x, colon), vceqq_u8(vld1q_u8(p + 2), colon));
	}
	return (struct masks){bits_of(newlines), bits_of(pairs)};
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
