// The latest numbers of a series; moving.h.
#include "common/stats/moving.h"

#include "common/host/buf.h"
#include "common/stats/samples.h"

#include <stdlib.h>
#include <string.h>

void moving_add(struct moving *m, double value)
{
	m->v[m->next] = value;
	m->next = (m->next + 1) % MOVING_MAX;
	m->n += m->n < MOVING_MAX;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return ORDER(x, y);
}

double moving_percentile(const struct moving *m, double p)
{
	double sorted[MOVING_MAX];
	memcpy(sorted, m->v, m->n * sizeof(*sorted));
	qsort(sorted, m->n, sizeof(*sorted), by_value);
	return m->n ? sorted[stats_rank(m->n, p) - 1] : 0;
}
