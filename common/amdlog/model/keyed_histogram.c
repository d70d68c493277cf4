// Distributions by key; see keyed_histogram.h.
#include "common/amdlog/model/keyed_histogram.h"

#include <stdlib.h>
#include <string.h>

#define CELLS_MAX (1u << 21)
#define KEYS_MAX  (1u << 21)

struct cell {
	uint32_t key, bucket;
};

// Room for element `n`, zeroed from the old end on.
static void *room(void *array, uint32_t *cap, uint32_t n, size_t size)
{
	uint32_t want = *cap ? *cap : 16;
	char *bigger;

	if (n < *cap)
		return array;
	while (want <= n)
		want *= 2;
	bigger = realloc(array, want * size);
	if (!bigger)
		return NULL;
	memset(bigger + *cap * size, 0, (want - *cap) * size);
	*cap = want;
	return bigger;
}

static struct keyed_histogram_sum *sum_of(struct keyed_histogram *s, uint32_t key)
{
	struct keyed_histogram_sum *sums;

	if (key >= KEYS_MAX)
		return NULL;
	sums = room(s->sums, &s->sums_cap, key, sizeof(*sums));
	if (!sums)
		return NULL;
	s->sums = sums;
	s->nsums = key >= s->nsums ? key + 1 : s->nsums;
	return &sums[key];
}

static uint64_t *cell_of(struct keyed_histogram *s, uint32_t key, uint32_t bucket)
{
	struct cell cell = {key, bucket};
	uint64_t *counts;
	uint32_t n;

	s->cells.max_entries = CELLS_MAX;
	n = intern_put(&s->cells, &cell, sizeof(cell), NULL);
	if (n == INTERN_NONE)
		return NULL;
	counts = room(s->counts, &s->counts_cap, n, sizeof(*counts));
	if (!counts)
		return NULL;
	s->counts = counts;
	return &counts[n];
}

void keyed_histogram_add(struct keyed_histogram *s, uint32_t key, uint64_t value)
{
	struct keyed_histogram_sum *sum = sum_of(s, key);
	uint64_t *count = sum ? cell_of(s, key, hist_index(value)) : NULL;

	if (!count) {
		s->incomplete = true;
		return;
	}
	(*count)++;
	if (!sum->count++)
		sum->min = UINT64_MAX;
	if (__builtin_add_overflow(sum->sum, value, &sum->sum))
		sum->sum = UINT64_MAX;
	sum->min = value < sum->min ? value : sum->min;
	sum->max = value > sum->max ? value : sum->max;
}

void keyed_histogram_put(struct keyed_histogram *s, uint32_t key, const struct hist *h)
{
	struct keyed_histogram_sum *sum = h->count ? sum_of(s, key) : NULL;

	s->incomplete |= h->count && !sum;
	for (uint32_t i = 0; sum && i < HIST_BUCKETS; i++) {
		uint64_t *count = h->bucket[i] ? cell_of(s, key, i) : NULL;

		s->incomplete |= h->bucket[i] && !count;
		if (count)
			*count += h->bucket[i];
	}
	if (!sum)
		return;
	sum->min = sum->count && sum->min < h->min ? sum->min : h->min;
	sum->max = h->max > sum->max ? h->max : sum->max;
	sum->count += h->count;
	if (__builtin_add_overflow(sum->sum, h->sum, &sum->sum))
		sum->sum = UINT64_MAX;
}

static const struct cell *cell_at(const struct keyed_histogram *s, uint32_t n)
{
	return (const struct cell *)(const void *)s->cells.entries[n].bytes;
}

static int by_key(const void *a, const void *b, void *ctx)
{
	const struct keyed_histogram *s = ctx;
	uint32_t x = cell_at(s, *(const uint32_t *)a)->key;
	uint32_t y = cell_at(s, *(const uint32_t *)b)->key;

	return (x > y) - (x < y);
}

static bool put_in_order(const struct keyed_histogram *histogram)
{
	struct keyed_histogram *s = (struct keyed_histogram *)(uintptr_t)histogram;
	uint32_t n = s->cells.n;

	if (s->order && s->norder == n)
		return true;
	free(s->order);
	s->norder = n;
	s->order = malloc((n ? n : 1) * sizeof(*s->order));
	if (!s->order)
		return false;
	for (uint32_t i = 0; i < n; i++)
		s->order[i] = i;
	qsort_r(s->order, n, sizeof(*s->order), by_key, s);
	return true;
}

// First place in the order whose key is not below `key`.
static uint32_t first_of(const struct keyed_histogram *s, uint32_t key)
{
	uint32_t low = 0, high = s->norder;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (cell_at(s, s->order[middle])->key < key)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool keyed_histogram_get(const struct keyed_histogram *s, uint32_t key, struct hist *h)
{
	hist_init(h);
	if (key >= s->nsums || !s->sums[key].count || !put_in_order(s))
		return false;
	for (uint32_t i = first_of(s, key); i < s->norder; i++) {
		const struct cell *c = cell_at(s, s->order[i]);

		if (c->key != key)
			break;
		h->bucket[c->bucket] = s->counts[s->order[i]];
	}
	h->count = s->sums[key].count;
	h->sum = s->sums[key].sum;
	h->min = s->sums[key].min;
	h->max = s->sums[key].max;
	return true;
}

void keyed_histogram_fini(struct keyed_histogram *s)
{
	intern_fini(&s->cells);
	free(s->counts);
	free(s->sums);
	free(s->order);
	*s = (struct keyed_histogram){0};
}
