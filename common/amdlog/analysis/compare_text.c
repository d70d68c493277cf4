// Findings of a comparison as sentences (compare.h). "A" is the first log, "B" the second.
//
// A rate or depth that differs by less than a tenth is reported as "about as".
#include "common/amdlog/analysis/compare.h"

#include "common/host/maths.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static void queue_count(struct buf *out, uint32_t n)
{
	if (n == 1)
		buf_puts(out, "one hardware queue");
	else if (n)
		buf_printf(out, "%u hardware queues", n);
	else
		buf_puts(out, "no hardware queue");
}

static void say_queues_count_on(const struct amdlog_comparison *c, struct buf *out)
{
	if (c->queues[0] == c->queues[1]) {
		buf_puts(out, "A and B use ");
		queue_count(out, c->queues[0]);
		buf_puts(out, c->queues[0] ? " each" : "");
	} else {
		buf_puts(out, "A uses ");
		queue_count(out, c->queues[0]);
		buf_printf(out, ", B uses %s%.0u", c->queues[1] ? "" : "none", c->queues[1]);
	}
	if (c->shared)
		buf_printf(out, "; %u in both", c->shared);
	if (c->unsure)
		buf_printf(out,
			   "; %u at an address that the other uses too, but a log without process "
			   "ids does not tell whether it is the same",
			   c->unsure);
	if (!c->shared && !c->unsure && c->queues[0] && c->queues[1])
		buf_puts(out, "; no overlap");
	buf_puts(out, "\n");
}

// Up to 6.3 names are mangled: then nothing matches, and that says nothing.
static bool is_mangled(const struct amdlog_summary *s)
{
	uint32_t mangled = 0, plain = 0;
	for (uint32_t i = 0; i < s->nkernels; i++) {
		mangled += strncmp(s->kernels[i].name, "_Z", 2) == 0;
		plain += strchr(s->kernels[i].name, '(') != NULL;
	}
	return mangled > plain;
}

static void on_kernels(const struct amdlog_comparison *c, struct buf *out)
{
	if (!c->nkernels)
		return;
	buf_printf(out, "kernels: %u in both, %u only in A, %u only in B\n", c->both, c->only[0],
		   c->only[1]);
	if (is_mangled(c->side[0].sum) != is_mangled(c->side[1].sum) && c->both < c->nkernels)
		buf_puts(out, "one of the logs has mangled kernel names (ROCm up to 6.3): names "
			      "that differ may be the same kernel\n");
}

static double side_rate(const struct amdlog_comparison *c, unsigned which)
{
	const struct amdlog_totals *t = &c->side[which].sum->totals;
	return amdlog_per_second(c->by_launches ? t->launches : t->kinds[AMDLOG_DISPATCH],
				 &t->span);
}

// "B dispatches 2.4 times as often as A: 1200/s against 500/s"
static void on_rate(const struct amdlog_comparison *c, struct buf *out)
{
	const char *verb = c->by_launches ? "launches" : "dispatches";
	double a = side_rate(c, 0), b = side_rate(c, 1), most = maths()->fmax(a, b),
	       least = maths()->fmin(a, b);
	if (!(a > 0 && b > 0)) // of no length, or nothing in one of them
		return;
	if (most / least < 1.1)
		buf_printf(out, "A %s about as often as B: %.4g/s against %.4g/s\n", verb, a, b);
	else
		buf_printf(out, "%c %s %.3g times as often as %c: %.4g/s against %.4g/s\n",
			   a > b ? 'A' : 'B', verb, most / least, a > b ? 'B' : 'A', most, least);
}

static void on_backlog(const struct amdlog_comparison *c, struct buf *out)
{
	double a = keyed_histogram_mean(&c->side[0].backlogs, 0),
	       b = keyed_histogram_mean(&c->side[1].backlogs, 0);
	double most = maths()->fmax(a, b), least = maths()->fmin(a, b);
	if (isnan(a) || isnan(b))
		return;
	if (most < 1.1 * least || most < 1)
		buf_printf(out, "queues are about as deep: mean backlog %.3g in A, %.3g in B\n", a,
			   b);
	else
		buf_printf(out, "%c's queues are deeper: mean backlog %.3g against %.3g\n",
			   a > b ? 'A' : 'B', most, least);
}

static void on_grids(const struct amdlog_comparison *c, struct buf *out)
{
	double a = keyed_histogram_mean(&c->side[0].grids, 0),
	       b = keyed_histogram_mean(&c->side[1].grids, 0);
	if (!isnan(a) && !isnan(b))
		buf_printf(out, "a dispatch has %.4g work-items on average in A, %.4g in B\n", a,
			   b);
}

// Both are CLOCK_MONOTONIC, which logs of one host and boot share.
static void on_time(const struct amdlog_comparison *c, struct buf *out)
{
	const struct amdlog_span *a = &c->side[0].sum->totals.span;
	const struct amdlog_span *b = &c->side[1].sum->totals.span;
	uint64_t begin = a->first_us > b->first_us ? a->first_us : b->first_us;
	uint64_t end = a->last_us < b->last_us ? a->last_us : b->last_us;
	if (a->first_us > a->last_us || b->first_us > b->last_us)
		return;
	if (begin <= end)
		buf_printf(out, "they ran at the same time for %.6g s",
			   (double)(end - begin) / 1e6);
	else
		buf_printf(out, "%c began %.6g s after %c had ended",
			   a->first_us > b->first_us ? 'A' : 'B', (double)(begin - end) / 1e6,
			   a->first_us > b->first_us ? 'B' : 'A');
	buf_puts(out, ", if they are of one host and boot\n");
}

static void on_errors(const struct amdlog_comparison *c, struct buf *out)
{
	uint64_t a = c->side[0].sum->totals.kinds[AMDLOG_QUEUE_ERROR];
	uint64_t b = c->side[1].sum->totals.kinds[AMDLOG_QUEUE_ERROR];
	if (a || b)
		buf_printf(out,
			   "queue errors, faults or full rings: %" PRIu64 " in A, %" PRIu64
			   " in B\n",
			   a, b);
}

void amdlog_compare_text(const struct amdlog_comparison *c, struct buf *out)
{
	say_queues_count_on(c, out);
	on_errors(c, out);
	on_kernels(c, out);
	on_rate(c, out);
	on_backlog(c, out);
	on_grids(c, out);
	on_time(c, out);
}
