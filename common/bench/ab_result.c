// Runs of the experiment added up, written and read; ab.h.
#include "common/bench/ab.h"

#include "common/cli/json.h"
#include "common/cli/jsonin.h"
#include "common/host/buf.h"
#include "common/stats/maths.h"

#include <stdlib.h>
#include <string.h>

void ab_run_fini(struct ab_run *r)
{
	samples_fini(&r->latency);
	samples_fini(&r->suspend);
	samples_fini(&r->resume);
	queue_set_fini(&r->queue_set[0]);
	queue_set_fini(&r->queue_set[1]);
}

void ab_result_fini(struct ab_result *a)
{
	for (unsigned m = 0; m < AB_MODES; m++) {
		samples_fini(&a->mode[m].latency);
		samples_fini(&a->mode[m].suspend);
		samples_fini(&a->mode[m].resume);
		samples_fini(&a->mode[m].rate);
	}
	for (size_t i = 0; i < a->nqueue_sets; i++)
		queue_set_fini(&a->queue_set[i]);
	free(a->queue_set);
}

static int add_lineups(struct ab_result *a, struct ab_run *r)
{
	for (unsigned i = 0; i < 2; i++) {
		if (!r->queue_set[i].n)
			continue;
		if (ARRAY_GROW(a->queue_set, a->cap_queue_sets, a->nqueue_sets))
			return -1;
		a->queue_set[a->nqueue_sets++] = r->queue_set[i];
		r->queue_set[i] = (struct queue_set){0};
	}
	return 0;
}

// What it printed counts, then what was logged, then what its queues took.
static double rate_of(const struct ab_run *r)
{
	uint64_t packets = r->offline_logged != UINT64_MAX ? r->offline_logged : r->packets;
	if (!isnan(r->offline_metric))
		return r->offline_metric;
	return r->window_ns ? (double)packets / ((double)r->window_ns / 1e9) : NAN;
}

static int add_all(struct samples *to, const struct samples *from)
{
	for (size_t i = 0; i < from->n; i++)
		if (samples_add(to, from->v[i]))
			return -1;
	return 0;
}

int ab_result_add(struct ab_result *a, struct ab_run *r)
{
	if (add_all(&a->mode[r->mode].latency, &r->latency) ||
	    add_all(&a->mode[r->mode].suspend, &r->suspend) ||
	    add_all(&a->mode[r->mode].resume, &r->resume))
		return -1;
	if (samples_add(&a->mode[r->mode].rate, rate_of(r)))
		return -1;
	a->mode[r->mode].held += (double)r->held_ns;
	a->mode[r->mode].window += (double)r->window_ns;
	a->mode[r->mode].runs++;
	a->mode[r->mode].holds += r->holds;
	return add_lineups(a, r);
}

static double mean(const struct samples *s)
{
	double sum = 0;
	for (size_t i = 0; i < s->n; i++)
		sum += s->v[i];
	return s->n ? sum / (double)s->n : NAN;
}

struct ab_verdict ab_judge(struct ab_result *a, enum ab_mode mode)
{
	struct ab_verdict v = {
		.ratio = samples_percentile(&a->mode[mode].latency, 0.5) /
			 samples_percentile(&a->mode[AB_ALONE].latency, 0.5),
		.loss = 1 - mean(&a->mode[mode].rate) / mean(&a->mode[AB_ALONE].rate),
		.held = a->mode[mode].window > 0 ? a->mode[mode].held / a->mode[mode].window : NAN,
	};
	return v;
}

static void write_times(struct json *j, const char *key, const struct samples *s)
{
	json_begin(j, key, '[');
	for (size_t i = 0; i < s->n; i++)
		json_u64(j, NULL, (uint64_t)maths()->llround(s->v[i]));
	json_end(j, ']');
}

void ab_write(struct buf *out, const struct bench_context *c, const struct ab_run *r)
{
	struct json j;
	json_init(&j, out, false);
	json_begin(&j, NULL, '{');
	json_str(&j, "record", "ab_run");
	json_u64(&j, "schema", 1);
	json_str(&j, "mode", ab_mode_name[r->mode]);
	json_u64(&j, "number", r->number);
	json_u64(&j, "online_ns", r->online_ns);
	json_u64(&j, "window_ns", r->window_ns);
	json_u64(&j, "packets", r->packets);
	json_f64(&j, "offline_metric", r->offline_metric);
	json_u64(&j, "offline_logged_packets", r->offline_logged);
	json_u64(&j, "held_ns", r->held_ns);
	json_u64(&j, "holds", r->holds);
	write_times(&j, "latencies_ns", &r->latency);
	write_times(&j, "suspends_ns", &r->suspend);
	write_times(&j, "resumes_ns", &r->resume);
	queue_set_write(&j, "queues", &r->queue_set[0]);
	queue_set_write(&j, "queues_offline_alone", &r->queue_set[1]);
	for (unsigned i = 0; i < CONTEXT_ITEMS; i++)
		json_str(&j, bench_context_key[i], *c->text[i] ? c->text[i] : NULL);
	json_end(&j, '}');
	buf_puts(out, "\n");
}

static bool read_times(const struct jsonin_value *v, struct samples *s)
{
	struct jsonin j;
	struct jsonin_value each;
	double n;
	if (!jsonin_open(&j, v->text, v->len, '['))
		return false;
	while (jsonin_next(&j, NULL, &each))
		if (!jsonin_f64(&each, &n) || samples_add(s, n))
			return false;
	return true;
}

static bool read_mode(const struct jsonin_value *v, enum ab_mode *mode)
{
	for (unsigned i = 0; i < AB_MODES; i++)
		if (jsonin_is(v, ab_mode_name[i])) {
			*mode = (enum ab_mode)i;
			return true;
		}
	return false;
}

static bool read_member(const struct jsonin_value *key, const struct jsonin_value *v,
			struct bench_context *c, struct ab_run *r)
{
	struct {
		const char *key;
		uint64_t *to;
	} numbers[] = {{"number", &r->number},       {"online_ns", &r->online_ns},
		       {"window_ns", &r->window_ns}, {"packets", &r->packets},
		       {"held_ns", &r->held_ns},     {"holds", &r->holds}};
	for (unsigned i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (jsonin_is(key, numbers[i].key))
			return jsonin_u64(v, numbers[i].to);
	if (jsonin_is(key, "record"))
		return jsonin_is(v, "ab_run");
	if (jsonin_is(key, "schema"))
		return jsonin_is(v, "1");
	if (jsonin_is(key, "mode"))
		return read_mode(v, &r->mode);
	if (jsonin_is(key, "latencies_ns"))
		return read_times(v, &r->latency);
	if (jsonin_is(key, "suspends_ns"))
		return read_times(v, &r->suspend);
	if (jsonin_is(key, "resumes_ns"))
		return read_times(v, &r->resume);
	if (jsonin_is(key, "offline_metric") && v->kind != 'n')
		return jsonin_f64(v, &r->offline_metric);
	if (jsonin_is(key, "offline_logged_packets") && v->kind != 'n')
		return jsonin_u64(v, &r->offline_logged);
	if (jsonin_is(key, "queues"))
		return queue_set_read(v, &r->queue_set[0]);
	if (jsonin_is(key, "queues_offline_alone"))
		return queue_set_read(v, &r->queue_set[1]);
	for (unsigned i = 0; i < CONTEXT_ITEMS; i++)
		if (jsonin_is(key, bench_context_key[i]))
			jsonin_str(v, c->text[i], sizeof(c->text[i]));
	return true;
}

bool ab_read(const char *line, size_t len, struct bench_context *c, struct ab_run *r)
{
	struct jsonin j;
	struct jsonin_value key, v;
	bool is_run = false, ok = true;
	memset(c, 0, sizeof(*c));
	*r = (struct ab_run){.offline_metric = NAN, .offline_logged = UINT64_MAX};
	if (!jsonin_open(&j, line, len, '{'))
		return false;
	while (ok && jsonin_next(&j, &key, &v)) {
		ok = read_member(&key, &v, c, r);
		is_run |= jsonin_is(&key, "record");
	}
	return ok && is_run;
}
