// A small random number generator with a seed that can be printed: orders of experiments must be
// repeatable, and the same on every machine. SplitMix64 (Steele, Lea and Flood, 2014).
#pragma once

#include "common/host/std.h"

struct rng {
	uint64_t state; // the seed at first
};

static inline uint64_t rng_next(struct rng *r)
{
	uint64_t z = r->state += 0x9e3779b97f4a7c15;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

// 0 to n - 1, each equally likely; n > 0.
static inline uint64_t rng_below(struct rng *r, uint64_t n)
{
	uint64_t x, tail = -n % n; // 2^64 mod n: values below `tail` would favour some results
	do
		x = rng_next(r);
	while (x < tail);
	return x % n;
}

static inline void rng_shuffle(struct rng *r, unsigned *v, size_t n)
{
	for (size_t i = n; i > 1; i--) {
		size_t j = (size_t)rng_below(r, i);
		unsigned t = v[i - 1];
		v[i - 1] = v[j];
		v[j] = t;
	}
}
