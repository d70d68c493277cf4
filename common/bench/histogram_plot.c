// Joining buckets; histogram_plot.h.
#include "common/bench/histogram_plot.h"

#include "common/bench/result.h"

void histogram_plot_of(struct histogram_plot *b, const struct hist *h, unsigned most)
{
	unsigned first = HIST_BUCKETS, last = 0, shift = 2; // 32 buckets a power of two, by 4
	b->n = 0;
	b->total = h->count;
	for (unsigned i = 0; i < HIST_BUCKETS; i++) {
		if (!h->bucket[i])
			continue;
		first = first < i ? first : i;
		last = i;
	}
	if (first == HIST_BUCKETS)
		return;
	while ((last >> shift) - (first >> shift) >= most)
		shift++;
	for (unsigned k = first >> shift; k <= last >> shift; k++) {
		unsigned begin = k << shift, end = begin + (1u << shift);
		end = end < HIST_BUCKETS ? end : HIST_BUCKETS;
		struct bar *bar = &b->v[b->n++];
		*bar = (struct bar){hist_lower(begin), hist_upper(end - 1), 0};
		for (unsigned i = begin; i < end; i++)
			bar->count += h->bucket[i];
	}
}

void histogram_plot_of_samples(struct histogram_plot *b, const struct samples *s, unsigned most)
{
	static struct hist h; // 15 KB, and nothing runs beside us
	result_hist(s, &h);
	histogram_plot_of(b, &h, most);
}
