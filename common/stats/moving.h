// The latest numbers of a series, for percentiles that follow it.
#ifndef GPQ_STATS_MOVING_H
#define GPQ_STATS_MOVING_H

enum { MOVING_MAX = 64 };

struct moving {
	double v[MOVING_MAX]; // the latest ones, in a ring
	unsigned n, next;
};

void moving_add(struct moving *m, double value);

// As in samples.h, of the latest MOVING_MAX numbers: nearest rank. 0 when there are none.
double moving_percentile(const struct moving *m, double p);

#endif
