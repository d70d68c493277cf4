// Distributions by key; see keyed_histogram.h.
#include "common/amdlog/model/keyed_histogram.h"

#include <math.h>

#define BUCKETS_MAX (1u << 24)
#define KEYS_MAX    (1u << 21)

static struct keyed_histogram_row *histogram_row(struct keyed_histogram *s, uint32_t key)
{
	if (key >= KEYS_MAX) {
		s->incomplete = true;
		return NULL;
	}
	ARRAY_REACH(s->v, s->cap, key, 0);
	s->n = key >= s->n ? key + 1 : s->n;
	return &s->v[key];
}

static bool row_count(struct keyed_histogram *s, struct keyed_histogram_row *r, uint32_t bucket,
		      uint64_t n)
{
	uint32_t first = r->n && r->first < bucket ? r->first : bucket;
	uint32_t end = r->n && r->first + r->n > bucket ? r->first + r->n : bucket + 1;
	if (end - first != r->n) {
		uint64_t *wider;
		if (s->buckets >= BUCKETS_MAX) {
			s->incomplete = true;
			return false;
		}
		wider = xcalloc(end - first, sizeof(*wider));
		if (r->n)
			memcpy(wider + (r->first - first), r->bucket, r->n * sizeof(*wider));
		free(r->bucket);
		s->buckets += end - first - r->n;
		r->bucket = wider;
		r->first = first;
		r->n = end - first;
	}
	r->bucket[bucket - first] += n;
	return true;
}

static void row_add_sums(struct keyed_histogram_row *r, uint64_t n, uint64_t sum, uint64_t min,
			 uint64_t max)
{
	r->min = r->count && r->min < min ? r->min : min;
	r->max = r->count && r->max > max ? r->max : max;
	r->count += n;
	if (__builtin_add_overflow(r->sum, sum, &r->sum))
		r->sum = UINT64_MAX;
}

void keyed_histogram_add(struct keyed_histogram *s, uint32_t key, uint64_t value)
{
	struct keyed_histogram_row *r = histogram_row(s, key);
	if (r && row_count(s, r, hist_index(value), 1))
		row_add_sums(r, 1, value, value, value);
}

void keyed_histogram_put(struct keyed_histogram *s, uint32_t key, const struct hist *h)
{
	struct keyed_histogram_row *r = h->count ? histogram_row(s, key) : NULL;
	for (uint32_t i = 0; r && i < HIST_BUCKETS; i++) {
		if (h->bucket[i])
			row_count(s, r, i, h->bucket[i]);
	}
	if (r)
		row_add_sums(r, h->count, h->sum, h->min, h->max);
}

bool keyed_histogram_get(const struct keyed_histogram *s, uint32_t key, struct hist *h)
{
	const struct keyed_histogram_row *r = key < s->n ? &s->v[key] : NULL;
	hist_init(h);
	if (!r || !r->count)
		return false;
	h->count = r->count;
	h->sum = r->sum;
	h->min = r->min;
	h->max = r->max;
	memcpy(h->bucket + r->first, r->bucket, r->n * sizeof(*r->bucket));
	return true;
}

double keyed_histogram_mean(const struct keyed_histogram *s, uint32_t key)
{
	return key < s->n && s->v[key].count ? (double)s->v[key].sum / (double)s->v[key].count
					     : NAN;
}

void keyed_histogram_fini(struct keyed_histogram *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->v[i].bucket);
	free(s->v);
	*s = (struct keyed_histogram){0};
}
