// Log-linear histogram; the bucket rule is in hist.h.
#include "common/stats/hist.h"

#include "common/host/number.h"
#include "common/out/jsonin.h"

#define SUB_BITS 5
#define SUB      (1u << SUB_BITS)

void hist_init(struct hist *h)
{
	memset(h, 0, sizeof(*h));
	h->min = UINT64_MAX;
}

unsigned hist_index(uint64_t v)
{
	if (v < 2 * SUB)
		return (unsigned)v;
	unsigned shift = 63u - (unsigned)__builtin_clzll(v) - SUB_BITS;
	return shift * SUB + (unsigned)(v >> shift);
}

uint64_t hist_lower(unsigned index)
{
	if (index < 2 * SUB)
		return index;
	return (uint64_t)(index % SUB + SUB) << (index / SUB - 1);
}

uint64_t hist_upper(unsigned index)
{
	return index + 1 < HIST_BUCKETS ? hist_lower(index + 1) - 1 : UINT64_MAX;
}

void hist_add(struct hist *h, uint64_t v)
{
	h->count++;
	h->sum = add_saturating(h->sum, v);
	if (v < h->min)
		h->min = v;
	if (v > h->max)
		h->max = v;
	h->bucket[hist_index(v)]++;
}

void hist_merge(struct hist *to, const struct hist *from)
{
	to->count = add_saturating(to->count, from->count);
	to->sum = add_saturating(to->sum, from->sum);
	if (from->min < to->min)
		to->min = from->min;
	if (from->max > to->max)
		to->max = from->max;
	for (unsigned i = 0; i < HIST_BUCKETS; i++)
		to->bucket[i] = add_saturating(to->bucket[i], from->bucket[i]);
}

uint64_t hist_percentile(const struct hist *h, double p)
{
	uint64_t rank = stats_rank(h->count, p), seen = 0;
	if (p > 0.5 && p < 1 && !samples_carry(h->count, p))
		return UINT64_MAX;
	for (unsigned i = 0; h->count && i < HIST_BUCKETS; i++) {
		seen += h->bucket[i];
		if (seen >= rank)
			return hist_upper(i) < h->max ? hist_upper(i) : h->max;
	}
	return UINT64_MAX;
}

// Sets the first and the last bucket that is not empty; *first is HIST_BUCKETS if all are empty.
static void hist_extent(const struct hist *h, unsigned *first, unsigned *last)
{
	*first = *last = 0;
	while (*first < HIST_BUCKETS && !h->bucket[*first])
		++*first;
	for (unsigned i = *first; i < HIST_BUCKETS; i++)
		*last = h->bucket[i] ? i : *last;
}

void hist_bars(struct hist_bars *b, const struct hist *h, unsigned most)
{
	unsigned first, last, shift = 2; // joins 4 of the 32 buckets of a power of two
	hist_extent(h, &first, &last);
	b->n = 0;
	while (first < HIST_BUCKETS && (last >> shift) - (first >> shift) >= most)
		shift++;
	for (unsigned k = first >> shift; first < HIST_BUCKETS && k <= last >> shift; k++, b->n++) {
		unsigned begin = k << shift, end = begin + (1u << shift);
		end = end < HIST_BUCKETS ? end : HIST_BUCKETS;
		b->v[b->n].lower = hist_lower(begin);
		b->v[b->n].upper = hist_upper(end - 1);
		b->v[b->n].count = 0;
		for (unsigned i = begin; i < end; i++)
			b->v[b->n].count += h->bucket[i];
		b->v[b->n].share = (double)b->v[b->n].count / (double)h->count;
	}
}

void hist_bars_of_samples(struct hist_bars *b, const struct samples *s, unsigned most)
{
	static struct hist h; // 15 KB; no other thread draws bars
	hist_init(&h);
	for (size_t i = 0; i < s->n; i++)
		hist_add(&h, (uint64_t)s->v[i]);
	hist_bars(b, &h, most);
}

void hist_json(const struct hist *h, struct json *j, const char *key)
{
	json_begin_flat(j, key, '{');
	json_str(j, "rule", HIST_RULE);
	json_u64(j, "count", h->count);
	json_u64(j, "sum", h->sum);
	json_u64(j, "min", h->min); // null if the histogram is empty: UINT64_MAX
	h->count ? json_u64(j, "max", h->max) : json_str(j, "max", NULL);
	json_begin(j, "buckets", '[');
	for (unsigned i = 0; i < HIST_BUCKETS; i++) {
		if (!h->bucket[i])
			continue;
		json_begin(j, NULL, '[');
		json_u64(j, NULL, hist_lower(i));
		json_u64(j, NULL, h->bucket[i]);
		json_end(j, ']');
	}
	json_end(j, ']');
	json_end(j, '}');
}

static bool read_buckets(struct hist *h, const struct jsonin_value *v)
{
	struct jsonin all, pair;
	struct jsonin_value each, lower, count;
	uint64_t at, n;
	if (!jsonin_open(&all, v->text, v->len, '['))
		return false;
	while (jsonin_next(&all, NULL, &each)) {
		if (!jsonin_open(&pair, each.text, each.len, '[') ||
		    !jsonin_next(&pair, NULL, &lower) || !jsonin_next(&pair, NULL, &count) ||
		    !jsonin_u64(&lower, &at) || !jsonin_u64(&count, &n) ||
		    hist_lower(hist_index(at)) != at) // no bucket begins there
			return false;
		uint64_t *bucket = &h->bucket[hist_index(at)];
		*bucket = add_saturating(*bucket, n);
	}
	return true;
}

static bool read_hist_member(struct hist *h, const struct jsonin_value *key,
			     const struct jsonin_value *v)
{
	const struct {
		const char *key;
		uint64_t *to;
	} numbers[] = {{"count", &h->count}, {"sum", &h->sum}, {"min", &h->min}, {"max", &h->max}};
	if (v->kind == 'n' && jsonin_is(key, "sum"))
		h->sum = UINT64_MAX; // hist_json writes UINT64_MAX as null
	for (unsigned i = 0; i < COUNT(numbers); i++)
		if (jsonin_is(key, numbers[i].key))
			return v->kind == 'n' || jsonin_u64(v, numbers[i].to);
	if (jsonin_is(key, "rule"))
		return jsonin_is(v, HIST_RULE);
	return !jsonin_is(key, "buckets") || read_buckets(h, v);
}

// True if count, minimum and maximum agree with the buckets.
static bool hist_agrees(const struct hist *h)
{
	uint64_t count = 0;
	unsigned first, last;
	hist_extent(h, &first, &last);
	for (unsigned i = 0; i < HIST_BUCKETS; i++)
		count = add_saturating(count, h->bucket[i]);
	if (!count)
		return h->count == 0;
	return count == h->count && hist_index(h->min) == first && hist_index(h->max) == last;
}

bool hist_read(struct hist *h, const char *text, size_t len)
{
	struct jsonin j;
	struct jsonin_value key, v;
	bool ok = jsonin_open(&j, text, len, '{'), ruled = false;
	hist_init(h);
	while (ok && jsonin_next(&j, &key, &v)) {
		ok = read_hist_member(h, &key, &v);
		ruled |= jsonin_is(&key, "rule");
	}
	if (ok && ruled && hist_agrees(h))
		return true;
	hist_init(h);
	return false;
}
