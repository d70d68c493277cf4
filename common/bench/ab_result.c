// Adds up, judges, writes and reads runs of the experiment; see ab.h.
#include "common/bench/ab.h"

#include "common/host/maths.h"
#include "common/host/number.h"

void ab_times_fini(struct ab_times *t)
{
	struct samples *const lists[] = {&t->latency,    &t->starts,   &t->looks,
					 &t->suspend,    &t->holds_at, &t->resume,
					 &t->resumes_at, &t->lines,    &t->lines_at};
	for (size_t i = 0; i < COUNT(lists); i++)
		samples_fini(lists[i]);
}

void ab_run_fini(struct ab_run *r)
{
	ab_times_fini(&r->times);
	queue_set_fini(&r->queue_set[0]);
	queue_set_fini(&r->queue_set[1]);
}

void ab_result_fini(struct ab_result *a)
{
	for (unsigned m = 0; m < AB_MODES; m++) {
		samples_fini(&a->mode[m].latency);
		samples_fini(&a->mode[m].suspend);
		samples_fini(&a->mode[m].resume);
		for (size_t i = 0; i < a->mode[m].runs; i++) {
			samples_fini(&a->mode[m].run[i].latency);
			ab_times_fini(&a->mode[m].run[i].times);
		}
		free(a->mode[m].run);
	}
	for (size_t i = 0; i < a->nqueue_sets; i++)
		queue_set_fini(&a->queue_set[i]);
	free(a->queue_set);
}

// Returns NaN if `whole` is 0.
static double share_of_whole(double v, double whole)
{
	return whole > 0 ? v / whole : NAN;
}

struct ab_offline ab_offline_of(const struct ab_run *r)
{
	const uint64_t leads = lesser(r->leads_ns, r->window_ns);
	return (struct ab_offline){
		.runs = 1,
		.holds = r->holds,
		.packets = r->offline_logged != UINT64_MAX ? r->offline_logged : r->packets,
		.held_ns = r->held_ns,
		.window_ns = r->window_ns,
		.between_ns = r->leads_ns == UINT64_MAX ? r->online_ns : r->window_ns - leads};
}

void ab_offline_add(struct ab_offline *to, const struct ab_offline *o)
{
#define ADD(name) to->name = add_saturating(to->name, o->name);
	AB_OFFLINE(ADD)
}

double ab_offline_rate(const struct ab_offline *o)
{
	return share_of_whole((double)o->packets, (double)o->window_ns / 1e9);
}

void ab_result_add(struct ab_result *a, struct ab_run *r)
{
	struct ab_mode_result *m = &a->mode[r->mode];
	samples_add_all(&m->latency, &r->times.latency, 1);
	samples_add_all(&m->suspend, &r->times.suspend, 1);
	samples_add_all(&m->resume, &r->times.resume, 1);
	struct ab_part *part = ARRAY_ADD(m->run, m->cap, m->runs);
	*part = (struct ab_part){
		.printed = r->offline_rate, .offline = ab_offline_of(r), .times = r->times};
	samples_add_all(&part->latency, &r->times.latency, 1);
	memset(&r->times, 0, sizeof(r->times));
	m->online += (double)r->online_ns;
	m->holds += r->holds;
	m->due += r->due;
	for (unsigned i = 0; i < 2; i++) {
		if (!r->queue_set[i].n)
			continue;
		*ARRAY_ADD(a->queue_set, a->cap_queue_sets, a->nqueue_sets) = r->queue_set[i];
		r->queue_set[i] = (struct queue_set){0};
	}
}

uint64_t ab_runs(const struct ab_result *a)
{
	return a->mode[AB_ALONE].runs + a->mode[AB_SHARED].runs + a->mode[AB_PREEMPT].runs;
}

bool ab_is_printed(const struct ab_result *a)
{
	for (unsigned m = 0; m < AB_MODES; m++)
		for (size_t i = 0; i < a->mode[m].runs; i++)
			if (isnan(a->mode[m].run[i].printed))
				return false;
	return true;
}

static struct samples rates_without(const struct ab_result *a, enum ab_mode mode, size_t without)
{
	const struct ab_mode_result *m = &a->mode[mode];
	const bool printed = ab_is_printed(a);
	struct samples s = {0};
	for (size_t i = 0; i < m->runs; i++)
		if (i != without)
			samples_add(&s, printed ? m->run[i].printed
						: ab_offline_rate(&m->run[i].offline));
	return s;
}

struct samples ab_rates(const struct ab_result *a, enum ab_mode mode)
{
	return rates_without(a, mode, SIZE_MAX);
}

struct ab_verdict ab_judge_sum(const struct ab_offline *o, double rate, double alone)
{
	const double between = (double)o->between_ns;
	struct ab_verdict v = {.held = share_of_whole((double)o->held_ns, between)};
	v.loss = (1 - share_of_whole(rate, alone)) * share_of_whole((double)o->window_ns, between);
	v.effect = v.loss - v.held;
	return v;
}

struct ab_verdict ab_judge(const struct ab_result *a, enum ab_mode mode, size_t without)
{
	const struct ab_mode_result *m = &a->mode[mode];
	SCOPED(samples_fini) struct samples rate = rates_without(a, mode, without);
	SCOPED(samples_fini) struct samples alone = rates_without(a, AB_ALONE, without);
	struct ab_offline sum = {0};
	for (size_t i = 0; i < m->runs; i++)
		if (i != without)
			ab_offline_add(&sum, &m->run[i].offline);
	return ab_judge_sum(&sum, samples_mean(&rate), samples_mean(&alone));
}

size_t ab_parts(const struct ab_result *a, enum ab_mode mode)
{
	const uint64_t n = a->mode[mode].runs, alone = a->mode[AB_ALONE].runs;
	return alone ? lesser(n, alone) : n;
}

struct ab_ratio ab_compare(struct ab_result *a, enum ab_mode mode, enum ab_mode with, double p,
			   double level)
{
	struct samples *x = &a->mode[mode].latency, *y = &a->mode[with].latency;
	const double of_x = samples_percentile(x, p), of_y = samples_percentile(y, p);
	return (struct ab_ratio){share_of_whole(of_x, of_y),
				 stats_ratio_bounds(of_x, stats_percentile_bounds(x, p, level),
						    of_y, stats_percentile_bounds(y, p, level))};
}

static bool is_due(const struct ab_mode_result *m)
{
	return m->due && m->due == m->runs;
}

// Requests a second from when the first was due until the last was due, or was served.
static double due_rate(const struct ab_mode_result *m, bool served)
{
	double n = 0, ns = 0;
	for (size_t i = 0; i < m->runs; i++) {
		const struct ab_times *t = &m->run[i].times;
		double first = INFINITY, last = 0;
		for (size_t k = 0; k < t->starts.n && k < t->latency.n; k++) {
			first = maths()->fmin(first, t->starts.v[k]);
			last = maths()->fmax(last, t->starts.v[k] + (served ? t->latency.v[k] : 0));
		}
		n += t->starts.n ? (double)t->starts.n - (served ? 0 : 1) : 0;
		ns += last > first ? last - first : 0;
	}
	return share_of_whole(n, ns / 1e9);
}

double ab_request_rate(const struct ab_result *a, enum ab_mode mode)
{
	const struct ab_mode_result *m = &a->mode[mode];
	return is_due(m) ? due_rate(m, true)
			 : share_of_whole((double)m->latency.n, m->online / 1e9);
}

double ab_offered_rate(const struct ab_result *a, enum ab_mode mode)
{
	const struct ab_mode_result *m = &a->mode[mode];
	return is_due(m) ? due_rate(m, false) : ab_request_rate(a, AB_ALONE);
}

// How many requests wait longer than `ns`, if one is sent every `gap` ns also while others wait.
static double waiting_longer(const struct samples *s, double ns, double gap)
{
	double n = 0;
	for (size_t i = 0; i < s->n; i++)
		n += s->v[i] > ns ? ceil((s->v[i] - ns) / gap) : 0;
	return n;
}

double ab_corrected(struct ab_result *a, enum ab_mode mode, double p)
{
	struct ab_mode_result *m = &a->mode[mode];
	const struct samples *s = &m->latency;
	const double gap = 1e9 / ab_request_rate(a, AB_ALONE), all = waiting_longer(s, 0, gap);
	double low = 0, high = 0;
	if (is_due(m)) // nothing to correct: each latency counts from when it was due
		return samples_percentile(&m->latency, p);
	if (!s->n || !(gap < INFINITY))
		return NAN;
	for (size_t i = 0; i < s->n; i++)
		high = maths()->fmax(high, s->v[i]);
	for (unsigned i = 0; i < 64 && high - low > 0.25; i++) {
		const double middle = low + (high - low) / 2;
		*(waiting_longer(s, middle, gap) <= (1 - p) * all ? &high : &low) = middle;
	}
	return high;
}

struct ab_gain ab_gain(struct ab_result *a)
{
	const double level = 1 - 0.01 / 4; // two bounds of two percentiles
	const struct bounds p50 = ab_compare(a, AB_PREEMPT, AB_SHARED, 0.5, level).b;
	const struct bounds p99 = ab_compare(a, AB_PREEMPT, AB_SHARED, 0.99, level).b;
	return (struct ab_gain){a->mode[AB_PREEMPT].latency.n && a->mode[AB_SHARED].latency.n,
				p50.high < 1 || p99.high<1, p50.low> 1 || p99.low > 1};
}

// json_f64() would round moments to 9 digits.
static void write_time(struct json *j, const char *key, double v)
{
	json_u64(j, key, (uint64_t)maths()->llround(v));
}

static void write_number(struct json *j, const char *key, double v)
{
	if (v < 0x1p53 && v == floor(v)) // all digits of a count
		json_u64(j, key, (uint64_t)v);
	else
		json_f64(j, key, v);
}

static void write_times(struct json *j, const struct member *m, const void *at)
{
	const struct samples *s = at;
	json_begin(j, m->key, '[');
	for (size_t i = 0; i < s->n; i++)
		write_time(j, NULL, s->v[i]);
	json_end(j, ']');
}

static void write_numbers(struct json *j, const struct member *m, const void *at)
{
	const struct samples *s = at;
	json_begin(j, m->key, '[');
	for (size_t i = 0; i < s->n; i++)
		write_number(j, NULL, s->v[i]);
	json_end(j, ']');
}

static bool read_list(const struct jsonin_value *v, struct samples *to, double below)
{
	struct jsonin j;
	struct jsonin_value each;
	double n;
	if (!jsonin_open(&j, v->text, v->len, '['))
		return false;
	while (jsonin_next(&j, NULL, &each)) {
		if (!jsonin_f64(&each, &n) || n < 0 || n >= below)
			return false;
		samples_add(to, n);
	}
	return true;
}

static bool read_times(const struct jsonin_value *v, const struct member *m, void *at)
{
	(void)m;
	return read_list(v, at, 0x1p63);
}

static bool read_numbers(const struct jsonin_value *v, const struct member *m, void *at)
{
	(void)m;
	return read_list(v, at, INFINITY);
}

static const struct member_type member_times = {write_times, read_times};
static const struct member_type member_numbers = {write_numbers, read_numbers};

static const struct member members[] = {
	MEMBER_WORD(ab_run, mode, "mode", ab_mode_name),
	MEMBER(count, ab_run, number, "number"),
	MEMBER(count, ab_run, online_ns, "online_ns"),
	MEMBER(count, ab_run, window_ns, "window_ns"),
	MEMBER(count, ab_run, packets, "packets"),
	MEMBER(u64, ab_run, leads_ns, "leads_ns"),
	MEMBER(f64, ab_run, offline_rate, "offline_rate"),
	MEMBER(u64, ab_run, offline_logged, "offline_logged_packets"),
	MEMBER(count, ab_run, held_ns, "held_ns"),
	MEMBER(count, ab_run, holds, "holds"),
	MEMBER(times, ab_run, times.lines_at, "offline_lines_at_ns"),
	MEMBER(numbers, ab_run, times.lines, "offline_lines"),
	MEMBER(times, ab_run, times.starts, "starts_at_ns"),
	MEMBER(times, ab_run, times.latency, "latencies_ns"),
	MEMBER(flag, ab_run, due, "starts_are_due"),
	MEMBER(times, ab_run, times.looks, "looks_ns"),
	MEMBER(times, ab_run, times.holds_at, "holds_at_ns"),
	MEMBER(times, ab_run, times.suspend, "suspends_ns"),
	MEMBER(times, ab_run, times.resumes_at, "resumes_at_ns"),
	MEMBER(times, ab_run, times.resume, "resumes_ns"),
	MEMBER(queue_set, ab_run, queue_set[0], "queues"),
	MEMBER(queue_set, ab_run, queue_set[1], "queues_offline_alone"),
	{0},
};

void ab_write_moments(struct buf *out, const struct bench_context *c, const struct ab_run *r,
		      size_t written[AB_MOMENTS])
{
	const struct ab_times *t = &r->times;
	const struct {
		const char *what, *key;
		void (*write)(struct json *j, const char *key, double v);
		const struct samples *at, *v;
	} lists[AB_MOMENTS] = {{"request", "took_ns", write_time, &t->starts, &t->latency},
			       {"hold", "took_ns", write_time, &t->holds_at, &t->suspend},
			       {"resume", "took_ns", write_time, &t->resumes_at, &t->resume},
			       {"line", "value", write_number, &t->lines_at, &t->lines}};
	struct json j;
	for (size_t k = 0; k < AB_MOMENTS; k++)
		for (size_t *i = &written[k]; *i < lists[k].at->n; ++*i) {
			record_begin(&j, out, AB_MOMENT);
			json_str(&j, "run", c->text[CONTEXT_run]);
			json_str(&j, "mode", ab_mode_name[r->mode]);
			json_u64(&j, "number", r->number);
			json_str(&j, "what", lists[k].what);
			write_time(&j, "at_ns", lists[k].at->v[*i]);
			lists[k].write(&j, lists[k].key, lists[k].v->v[*i]);
			record_end(&j);
		}
}

void ab_write(struct buf *out, const struct bench_context *c, const struct ab_run *r)
{
	struct json j;
	record_begin(&j, out, "ab_run");
	members_write(&j, members, r);
	members_write(&j, bench_context_members, c);
	record_end(&j);
}

bool ab_read(const char *line, size_t len, struct bench_context *c, struct ab_run *r)
{
	const struct member_row rows[] = {{members, r}, {bench_context_members, c}, {0}};
	memset(c, 0, sizeof(*c));
	*r = (struct ab_run){
		.leads_ns = UINT64_MAX, .offline_rate = NAN, .offline_logged = UINT64_MAX};
	return record_read(line, len, "ab_run", rows);
}
