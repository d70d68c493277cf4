// Gives byte strings (kernel names, pairs of numbers) numbers from 0 on: index of `entries`.
#pragma once

#include "common/host/std.h"

#define INTERN_NONE UINT32_MAX

struct intern_entry {
	const char *bytes; // NUL-terminated; does not move until intern_fini
	uint32_t len;
	uint32_t hash;
	uint32_t value; // free for the caller (intern_set); INTERN_NONE at first
};

struct intern {
	struct intern_entry *entries;
	uint32_t n;
	size_t cap;
	uint32_t *slots; // index in `entries` plus one; 0: free
	uint32_t nslots; // a power of two, or 0
	struct intern_chunk *chunks;
	uint32_t max_entries; // 0: no limit
	uint64_t max_bytes, bytes;
};

// The number of `bytes`, added if they are new. INTERN_NONE: a limit is reached.
uint32_t intern_put(struct intern *in, const void *bytes, size_t len);

// The hash of `bytes`; intern_put_hashed() is intern_put() for bytes whose hash is known.
uint32_t intern_hash(const void *bytes, size_t len);
uint32_t intern_put_hashed(struct intern *in, const void *bytes, size_t len, uint32_t hash);

// The value kept for `bytes`; INTERN_NONE: there is none.
uint32_t intern_value(const struct intern *in, const void *bytes, size_t len);

// Keeps a value for `bytes`, and adds them if they are new. False: a limit is reached.
bool intern_set(struct intern *in, const void *bytes, size_t len, uint32_t value);

// The number of `bytes`; INTERN_NONE: they were never added.
uint32_t intern_find(const struct intern *in, const void *bytes, size_t len);

void intern_fini(struct intern *in);

// A key of two numbers.
struct pair {
	uint64_t a, b;
};

static inline uint32_t pair_put(struct intern *in, uint64_t a, uint64_t b)
{
	return intern_put(in, &(struct pair){a, b}, sizeof(struct pair));
}

static inline uint32_t pair_find(const struct intern *in, uint64_t a, uint64_t b)
{
	return intern_find(in, &(struct pair){a, b}, sizeof(struct pair));
}

static inline uint32_t pair_value(const struct intern *in, uint64_t a, uint64_t b)
{
	return intern_value(in, &(struct pair){a, b}, sizeof(struct pair));
}

static inline bool pair_set(struct intern *in, uint64_t a, uint64_t b, uint32_t value)
{
	return intern_set(in, &(struct pair){a, b}, sizeof(struct pair), value);
}

static inline struct pair pair_at(const struct intern *in, uint32_t n)
{
	return *(const struct pair *)(const void *)in->entries[n].bytes;
}
