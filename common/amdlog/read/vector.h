// The few operations on 64 bytes at once that reading a log needs, for AVX2, SSE2, NEON and any
// other processor. The compiler's flags choose.
#pragma once

#include "common/host/std.h"

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

#if defined(__AVX2__)
#define VECTOR 32
#else
#define VECTOR 16
#endif
typedef uint8_t vector_bytes __attribute__((vector_size(VECTOR)));
typedef uint64_t vector_words __attribute__((vector_size(VECTOR)));

static inline vector_bytes vector_at(const void *p)
{
	vector_bytes v;
	memcpy(&v, p, sizeof(v));
	return v;
}

static inline bool is_zero(vector_bytes x)
{
#if defined(__AVX2__)
	return _mm256_testz_si256((__m256i)x, (__m256i)x);
#else
	return !(((vector_words)x)[0] | ((vector_words)x)[1]);
#endif
}

static inline bool same_32(const char *p, const uint8_t *text)
{
	vector_bytes differ = {0};
	for (unsigned i = 0; i < 32; i += VECTOR)
		differ |= vector_at(p + i) ^ vector_at(text + i);
	return is_zero(differ);
}

// True if each of 64 bytes, xor that of `text`, is at most that of `limit`.
static inline bool differ_within(const char *p, const uint8_t *text, const uint8_t *limit)
{
	vector_bytes over = {0};
	for (unsigned i = 0; i < 64; i += VECTOR)
		over |= (vector_bytes)((vector_at(p + i) ^ vector_at(text + i)) >
				       vector_at(limit + i));
	return is_zero(over);
}

// True if 64 bytes are the same where the mask is set.
static inline bool same_where(const char *p, const uint8_t *text, const uint8_t *mask)
{
	vector_bytes differ = {0};
	for (unsigned i = 0; i < 64; i += VECTOR)
		differ |= (vector_at(p + i) ^ vector_at(text + i)) & vector_at(mask + i);
	return is_zero(differ);
}

// Sets bit i of the result if byte i, of 64, is `c`.
static inline uint64_t bytes_that_are(const char *p, char c)
{
	uint64_t bits = 0;
#if defined(__AVX2__)
	for (unsigned i = 0; i < 64; i += 32) {
		__m256i is = _mm256_cmpeq_epi8((__m256i)vector_at(p + i), _mm256_set1_epi8(c));
		bits |= (uint64_t)(uint32_t)_mm256_movemask_epi8(is) << i;
	}
#elif defined(__SSE2__)
	for (unsigned i = 0; i < 64; i += 16) {
		__m128i is = _mm_cmpeq_epi8((__m128i)vector_at(p + i), _mm_set1_epi8(c));
		bits |= (uint64_t)(uint32_t)_mm_movemask_epi8(is) << i;
	}
#elif defined(__aarch64__)
	const uint8x16_t weight = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
	uint8x16_t is[4];
	for (unsigned i = 0; i < 4; i++)
		is[i] = vandq_u8(weight, vceqq_u8(vld1q_u8((const uint8_t *)p + i * 16),
						  vdupq_n_u8((uint8_t)c)));
	is[0] = vpaddq_u8(vpaddq_u8(is[0], is[1]), vpaddq_u8(is[2], is[3]));
	is[0] = vpaddq_u8(is[0], is[0]);
	bits = vgetq_lane_u64(vreinterpretq_u64_u8(is[0]), 0);
#else
	for (unsigned i = 0; i < 64; i++)
		bits |= (uint64_t)(p[i] == c) << i;
#endif
	return bits;
}
