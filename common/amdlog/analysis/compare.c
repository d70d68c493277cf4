// Comparison of two logs; see compare.h.
#include "common/amdlog/analysis/compare.h"

#include "common/host/maths.h"

#include <math.h>

void amdlog_side_add(struct amdlog_side *s, const struct amdlog_event *e)
{
	if (!e->packet)
		return;
	uint64_t backlog = amdlog_packet_backlog(e->packet);
	if (backlog != AMDLOG_UNKNOWN)
		keyed_histogram_add(&s->backlogs, 0, backlog);
	if (e->record->kind != AMDLOG_DISPATCH)
		return;
	amdlog_gaps_add(&s->gaps, e->queue == AMDLOG_NONE ? GAPS_ALL : e->queue, e->record->time_us,
			backlog);
	uint64_t items = amdlog_items(e->packet->grid);
	if (items != AMDLOG_UNKNOWN)
		keyed_histogram_add(&s->grids, 0, items);
}

void amdlog_side_fini(struct amdlog_side *s)
{
	amdlog_gaps_fini(&s->gaps);
	keyed_histogram_fini(&s->grids);
	keyed_histogram_fini(&s->backlogs);
}

bool amdlog_queue_used(const struct amdlog_comparison *c, unsigned which, uint32_t q)
{
	const struct amdlog_queue *queue = &c->side[which].sum->queues[q];
	if (queue->merged != AMDLOG_NONE)
		return false;
	return c->by_launches ? queue->records > 0 : queue->dispatches > 0;
}

// Key of amdlog_comparison.addresses: a queue's address with its pid, and once more with ANY_PID.
struct address {
	int64_t pid; // process of the queue; -1: the log does not say
	uint64_t address;
	uint64_t is_handle;
};
#define ANY_PID INT64_MIN

// The address of a queue: its handle if `is_handle`, else its ring.
static struct address address_of(const struct amdlog_summary *s, uint32_t q, bool is_handle)
{
	const struct amdlog_queue *queue = &s->queues[q];
	return (struct address){s->processes[queue->process].pid,
				is_handle ? queue->swq : queue->hwq, is_handle};
}

static void note_addresses(struct amdlog_comparison *c, unsigned which)
{
	for (uint32_t i = 0; i < c->side[which].sum->nqueues; i++) {
		for (int handle = 0; amdlog_queue_used(c, which, i) && handle < 2; handle++) {
			struct address a = address_of(c->side[which].sum, i, handle);
			if (a.address == AMDLOG_UNKNOWN)
				continue;
			intern_put(&c->addresses[which], &a, sizeof(a));
			a.pid = ANY_PID;
			intern_put(&c->addresses[which], &a, sizeof(a));
		}
	}
}

enum amdlog_same amdlog_queue_in_other(const struct amdlog_comparison *c, unsigned which,
				       uint32_t q)
{
	const struct intern *set = &c->addresses[!which];
	enum amdlog_same same = AMDLOG_DIFFERENT;
	for (int handle = 0; handle < 2; handle++) {
		struct address a = address_of(c->side[which].sum, q, handle);
		if (a.address == AMDLOG_UNKNOWN)
			continue;
		if (a.pid >= 0 && intern_find(set, &a, sizeof(a)) != INTERN_NONE)
			return AMDLOG_SAME;
		a.pid = a.pid < 0 ? ANY_PID : -1;
		if (intern_find(set, &a, sizeof(a)) != INTERN_NONE)
			same = AMDLOG_MAYBE_SAME;
	}
	return same;
}

uint64_t amdlog_kernel_uses(const struct amdlog_comparison *c, unsigned which, uint32_t kernel)
{
	if (kernel == AMDLOG_NONE)
		return 0;
	const struct amdlog_kernel *k = &c->side[which].sum->kernels[kernel];
	return c->by_launches ? k->launches : k->dispatches;
}

// The other log's number of a kernel; AMDLOG_NONE: that log does not use the kernel.
static uint32_t kernel_in_other(const struct amdlog_comparison *c, unsigned which, uint32_t kernel)
{
	const struct amdlog_kernel *k = &c->side[which].sum->kernels[kernel];
	uint32_t n = intern_find(&c->side[!which].sum->keys.kernels, k->name, k->len);
	return amdlog_kernel_uses(c, !which, n) ? n : AMDLOG_NONE;
}

static void match_kernels(struct amdlog_comparison *c, unsigned which)
{
	for (uint32_t i = 0; i < c->side[which].sum->nkernels; i++) {
		struct amdlog_match m;
		if (!amdlog_kernel_uses(c, which, i))
			continue;
		m.in[which] = i;
		m.in[!which] = kernel_in_other(c, which, i);
		c->only[which] += m.in[!which] == AMDLOG_NONE;
		c->both += !which && m.in[1] != AMDLOG_NONE;
		if (!which || m.in[0] == AMDLOG_NONE)
			c->kernels[c->nkernels++] = m;
	}
}

static void match_queues(struct amdlog_comparison *c, unsigned which)
{
	for (uint32_t i = 0; i < c->side[which].sum->nqueues; i++) {
		if (!amdlog_queue_used(c, which, i))
			continue;
		c->queues[which]++;
		enum amdlog_same same = which ? AMDLOG_DIFFERENT : amdlog_queue_in_other(c, 0, i);
		c->shared += same == AMDLOG_SAME;
		c->unsure += same == AMDLOG_MAYBE_SAME;
	}
}

void amdlog_compare(struct amdlog_comparison *c, struct amdlog_side side[2])
{
	size_t most = (size_t)side[0].sum->nkernels + side[1].sum->nkernels;
	*c = (struct amdlog_comparison){.side = side};
	c->by_launches = !amdlog_has_packets(side[0].sum) || !amdlog_has_packets(side[1].sum);
	c->kernels = xcalloc(most, sizeof(*c->kernels));
	note_addresses(c, 0);
	note_addresses(c, 1);
	for (unsigned which = 0; which < 2; which++) {
		match_kernels(c, which);
		match_queues(c, which);
	}
}

void amdlog_compare_fini(struct amdlog_comparison *c)
{
	free(c->kernels);
	intern_fini(&c->addresses[0]);
	intern_fini(&c->addresses[1]);
	*c = (struct amdlog_comparison){0};
}

double amdlog_per_second(uint64_t events, const struct amdlog_span *span)
{
	if (span->first_us >= span->last_us)
		return NAN;
	return (double)events * 1e6 / (double)(span->last_us - span->first_us);
}

// --- findings as sentences: "A" is the first log, "B" the second ---

static void say_queue_count(struct buf *out, uint32_t n)
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
		say_queue_count(out, c->queues[0]);
		buf_puts(out, c->queues[0] ? " each" : "");
	} else {
		buf_puts(out, "A uses ");
		say_queue_count(out, c->queues[0]);
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

// True if most kernel names are mangled (ROCm up to 6.3), which match no demangled ones.
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

// A single one has no rate: 0.
static double side_rate(const struct amdlog_comparison *c, unsigned which)
{
	const struct amdlog_totals *t = &c->side[which].sum->totals;
	const uint64_t n = c->by_launches ? t->launches : t->kinds[AMDLOG_DISPATCH];
	return n > 1 ? amdlog_per_second(n, &t->span) : 0;
}

// Writes a number as people do: of `digits` digits, but thousands in full.
static const char *plain(char out[32], int digits, double v)
{
	snprintf(out, 32, "%.*g", digits, v);
	if (v >= 999.5)
		snprintf(out, 32, "%.0f", v);
	return out;
}

// Writes, for example: "B dispatches 2.4 times as often as A: 1200/s against 500/s"
static void on_rate(const struct amdlog_comparison *c, struct buf *out)
{
	const char *verb = c->by_launches ? "launches" : "dispatches";
	double a = side_rate(c, 0), b = side_rate(c, 1), most = maths()->fmax(a, b),
	       least = maths()->fmin(a, b);
	if (!(a > 0 && b > 0)) // a log has no length, or too few dispatches
		return;
	char text[3][32];
	if (most / least < 1.1)
		buf_printf(out, "A %s about as often as B: %s/s against %s/s\n", verb,
			   plain(text[0], 4, a), plain(text[1], 4, b));
	else
		buf_printf(out, "%c %s %s times as often as %c: %s/s against %s/s\n",
			   a > b ? 'A' : 'B', verb, plain(text[0], 3, most / least),
			   a > b ? 'B' : 'A', plain(text[1], 4, most), plain(text[2], 4, least));
}

static void on_backlog(const struct amdlog_comparison *c, struct buf *out)
{
	double a = keyed_histogram_mean(&c->side[0].backlogs, 0),
	       b = keyed_histogram_mean(&c->side[1].backlogs, 0);
	double most = maths()->fmax(a, b), least = maths()->fmin(a, b);
	if (isnan(a) || isnan(b))
		return;
	char text[2][32];
	if (most < 1.1 * least || most < 1)
		buf_printf(out, "queues are about as deep: mean backlog %s in A, %s in B\n",
			   plain(text[0], 3, a), plain(text[1], 3, b));
	else
		buf_printf(out, "%c's queues are deeper: mean backlog %s against %s\n",
			   a > b ? 'A' : 'B', plain(text[0], 3, most), plain(text[1], 3, least));
}

static void on_grids(const struct amdlog_comparison *c, struct buf *out)
{
	double a = keyed_histogram_mean(&c->side[0].grids, 0),
	       b = keyed_histogram_mean(&c->side[1].grids, 0);
	char text[2][32];
	if (!isnan(a) && !isnan(b))
		buf_printf(out, "a dispatch has %s work-items on average in A, %s in B\n",
			   plain(text[0], 4, a), plain(text[1], 4, b));
}

// Writes how the logs lie in time: both have CLOCK_MONOTONIC, which one host and boot share.
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
