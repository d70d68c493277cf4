// The few operations on 64 bytes at once that reading a log needs, for AVX2, SSE2, NEON and any
// other processor. The compiler's flags choose.
#ifndef GPQ_AMDLOG_READ_VECTOR_H
#define GPQ_AMDLOG_READ_VECTOR_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

static inline uint64_t load64(const void *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

// bytes_that_are(p, c): a bit for each of the 64 bytes that is `c`.
// differ_within(p, text, limit): each byte differs (xor) from the text by no more than the limit.
// same_where(p, text, mask): the bytes are the same where the mask is set.
// same_32(p, text): so are all of 32 bytes.
#if defined(__AVX2__)
static inline __m256i vector_at(const void *p)
{
	return _mm256_loadu_si256((const __m256i_u *)p);
}

static inline uint32_t half_that_are(const char *p, char c)
{
	return (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(vector_at(p), _mm256_set1_epi8(c)));
}

static inline uint64_t bytes_that_are(const char *p, char c)
{
	return half_that_are(p, c) | (uint64_t)half_that_are(p + 32, c) << 32;
}

static inline bool are_zero(__m256i x, __m256i y)
{
	x = _mm256_or_si256(x, y);
	return _mm256_testz_si256(x, x);
}

static inline bool same_32(const char *p, const uint8_t *text)
{
	__m256i x = _mm256_xor_si256(vector_at(p), vector_at(text));

	return _mm256_testz_si256(x, x);
}

static inline __m256i half_beyond(const char *p, const uint8_t *text, const uint8_t *limit)
{
	return _mm256_subs_epu8(_mm256_xor_si256(vector_at(p), vector_at(text)), vector_at(limit));
}

static inline bool differ_within(const char *p, const uint8_t *text, const uint8_t *limit)
{
	return are_zero(half_beyond(p, text, limit), half_beyond(p + 32, text + 32, limit + 32));
}

static inline __m256i half_differing(const char *p, const uint8_t *text, const uint8_t *mask)
{
	return _mm256_and_si256(_mm256_xor_si256(vector_at(p), vector_at(text)), vector_at(mask));
}

static inline bool same_where(const char *p, const uint8_t *text, const uint8_t *mask)
{
	return are_zero(half_differing(p, text, mask),
			half_differing(p + 32, text + 32, mask + 32));
}
#else
typedef uint8_t vector_bytes __attribute__((vector_size(16)));
typedef uint64_t vector_words __attribute__((vector_size(16)));

static inline vector_bytes vector_at(const void *p)
{
	vector_bytes v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static inline bool is_zero(vector_bytes x)
{
	return !(((vector_words)x)[0] | ((vector_words)x)[1]);
}

static inline bool same_32(const char *p, const uint8_t *text)
{
	return is_zero((vector_at(p) ^ vector_at(text)) |
		       (vector_at(p + 16) ^ vector_at(text + 16)));
}

static inline bool differ_within(const char *p, const uint8_t *text, const uint8_t *limit)
{
	vector_bytes over = {0};

	for (unsigned i = 0; i < 64; i += 16)
		over |= (vector_bytes)((vector_at(p + i) ^ vector_at(text + i)) >
				       vector_at(limit + i));
	return is_zero(over);
}

static inline bool same_where(const char *p, const uint8_t *text, const uint8_t *mask)
{
	vector_bytes differ = {0};

	for (unsigned i = 0; i < 64; i += 16)
		differ |= (vector_at(p + i) ^ vector_at(text + i)) & vector_at(mask + i);
	return is_zero(differ);
}

#if defined(__SSE2__)
static inline uint64_t bytes_that_are(const char *p, char c)
{
	uint64_t bits = 0;

	for (unsigned i = 0; i < 64; i += 16) {
		__m128i is = _mm_cmpeq_epi8((__m128i)vector_at(p + i), _mm_set1_epi8(c));

		bits |= (uint64_t)(uint32_t)_mm_movemask_epi8(is) << i;
	}
	return bits;
}
#elif defined(__aarch64__)
static inline uint64_t bytes_that_are(const char *p, char c)
{
	const uint8x16_t weight = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
	uint8x16_t is[4];

	for (unsigned i = 0; i < 4; i++)
		is[i] = vandq_u8(weight, vceqq_u8(vld1q_u8((const uint8_t *)p + i * 16),
						  vdupq_n_u8((uint8_t)c)));
	is[0] = vpaddq_u8(vpaddq_u8(is[0], is[1]), vpaddq_u8(is[2], is[3]));
	is[0] = vpaddq_u8(is[0], is[0]);
	return vgetq_lane_u64(vreinterpretq_u64_u8(is[0]), 0);
}
#else
static inline uint64_t bytes_that_are(const char *p, char c)
{
	uint64_t bits = 0;

	for (unsigned i = 0; i < 64; i++)
		bits |= (uint64_t)(p[i] == c) << i;
	return bits;
}
#endif
#endif

#endif
