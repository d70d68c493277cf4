// Adding up results; sum.h.
#include "common/bench/sum.h"

#include "common/bench/ab.h"
#include "common/bench/raw.h"
#include "common/bench/result.h"
#include "common/cli/jsonin.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct number {
	const char *key;
	size_t offset;
} numbers[] = {
	{"grace", offsetof(struct sum_key, set.grace)},
	{"queues_wanted", offsetof(struct sum_key, set.queues)},
	{"hold_wanted_ns", offsetof(struct sum_key, set.hold_ns)},
	{"gap_wanted_ns", offsetof(struct sum_key, set.gap_ns)},
};

static const struct text {
	const char *key;
	size_t offset, size;
} texts[] = {
#define TEXT(name)                                                                         \
	{                                                                                  \
#name, offsetof(struct sum_key, name), sizeof(((struct sum_key *)0)->name) \
	}
	TEXT(metric), TEXT(source), TEXT(scheduler), TEXT(kernel), TEXT(gpus),
};
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static void write_key(struct json *j, const struct sum_key *k)
{
	for (size_t i = 0; i < COUNT(texts); i++)
		json_str(j, texts[i].key, (const char *)k + texts[i].offset);
	for (size_t i = 0; i < COUNT(numbers); i++)
		json_u64(j, numbers[i].key,
			 *(const uint64_t *)(const void *)((const char *)k + numbers[i].offset));
}

static char *order_of(const struct sum_key *k)
{
	struct buf b = {0};
	struct json j;
	json_init(&j, &b, false);
	json_begin(&j, NULL, '{');
	write_key(&j, k);
	json_end(&j, '}');
	return b.data;
}

void sum_write(struct buf *out, const struct sum_row *r)
{
	struct json j;
	json_init(&j, out, false);
	json_begin(&j, NULL, '{');
	json_str(&j, "record", "bench_sum");
	json_u64(&j, "schema", 1);
	write_key(&j, &r->key);
	hist_json(&r->hist, &j, "histogram_ns");
	json_end(&j, '}');
	buf_puts(out, "\n");
}

// The row of this key, made when it is missing. NULL with ENOMEM.
static struct sum_row *find(struct sum *s, const struct sum_key *key)
{
	char *order = order_of(key);
	size_t at = 0;
	while (order && at < s->n && strcmp(s->row[at]->order, order) < 0)
		at++;
	if (!order || (at < s->n && strcmp(s->row[at]->order, order) == 0)) {
		free(order);
		return order ? s->row[at] : NULL;
	}
	struct sum_row **rows = reallocarray(s->row, s->n + 1, sizeof(struct sum_row *));
	struct sum_row *r = rows ? calloc(1, sizeof(*r)) : NULL;
	s->row = rows ? rows : s->row;
	if (!r) {
		free(order);
		return NULL;
	}
	r->key = *key;
	r->order = order;
	hist_init(&r->hist);
	memmove(&rows[at + 1], &rows[at], (s->n - at) * sizeof(struct sum_row *));
	rows[at] = r;
	s->n++;
	return r;
}

static void key_of(struct sum_key *k, const struct bench_context *c)
{
	memset(k, 0, sizeof(*k));
	snprintf(k->source, sizeof(k->source), "%.31s", c->text[CONTEXT_source]);
	snprintf(k->scheduler, sizeof(k->scheduler), "%.31s", c->text[CONTEXT_scheduler]);
	snprintf(k->kernel, sizeof(k->kernel), "%.95s", c->text[CONTEXT_kernel]);
	snprintf(k->gpus, sizeof(k->gpus), "%s", c->text[CONTEXT_gpus]);
}

static int add_cycle(struct sum *s, const struct bench_context *context, const struct cycle *c)
{
	struct sum_key k;
	key_of(&k, context);
	k.set = c->set;
	for (unsigned m = 0; m < METRICS && !c->warmup; m++) {
		double v = result_metric(c, (enum result_metric)m);
		if (isnan(v) || v < 0)
			continue;
		snprintf(k.metric, sizeof(k.metric), "%s", result_metric_name[m]);
		struct sum_row *r = find(s, &k);
		if (!r)
			return -1;
		hist_add(&r->hist, (uint64_t)v);
	}
	return 0;
}

static int add_run(struct sum *s, const struct bench_context *context, const struct ab_run *run)
{
	struct sum_key k;
	key_of(&k, context);
	k.set = (struct cycle_setting){CYCLE_NONE, CYCLE_NONE, CYCLE_NONE, CYCLE_NONE};
	snprintf(k.metric, sizeof(k.metric), "online_%s", ab_mode_name[run->mode]);
	for (size_t i = 0; i < run->latency.n; i++) {
		struct sum_row *r = find(s, &k);
		if (!r)
			return -1;
		hist_add(&r->hist, (uint64_t)run->latency.v[i]);
	}
	return 0;
}

static bool read_key(const struct jsonin_value *key, const struct jsonin_value *v,
		     struct sum_key *k)
{
	for (size_t i = 0; i < COUNT(texts); i++)
		if (jsonin_is(key, texts[i].key))
			return jsonin_str(v, (char *)k + texts[i].offset, texts[i].size);
	for (size_t i = 0; i < COUNT(numbers); i++) {
		uint64_t *to = (uint64_t *)(void *)((char *)k + numbers[i].offset);
		if (!jsonin_is(key, numbers[i].key))
			continue;
		*to = CYCLE_NONE;
		return v->kind == 'n' || jsonin_u64(v, to);
	}
	return true;
}

// 1 when it was a sum, 0 when not, -1 with errno.
static int add_sum(struct sum *s, const char *line, size_t len)
{
	static struct hist h; // 15 KB, and nothing runs beside us
	struct jsonin j;
	struct jsonin_value key, v;
	struct sum_key k = {0};
	bool is_sum = false, has_hist = false;
	if (!jsonin_open(&j, line, len, '{'))
		return 0;
	while (jsonin_next(&j, &key, &v)) {
		if (jsonin_is(&key, "record"))
			is_sum = jsonin_is(&v, "bench_sum");
		else if (jsonin_is(&key, "schema") && !jsonin_is(&v, "1"))
			return 0;
		else if (jsonin_is(&key, "histogram_ns"))
			has_hist = hist_read(&h, v.text, v.len);
		else if (!read_key(&key, &v, &k))
			return 0;
	}
	if (!is_sum || !has_hist || !*k.metric)
		return 0;
	struct sum_row *r = find(s, &k);
	if (!r)
		return -1;
	hist_merge(&r->hist, &h);
	return 1;
}

// 1 when it was a line that we know, 0 when not, -1 with errno.
static int add_known(struct sum *s, const char *line, size_t len, const char **why)
{
	static struct bench_context context;
	struct ab_run run;
	struct cycle c;
	if (raw_read(line, len, &context, &c, why))
		return add_cycle(s, &context, &c) ? -1 : 1;
	int r = ab_read(line, len, &context, &run) ? add_run(s, &context, &run) : 1;
	ab_run_fini(&run);
	return r < 0 ? -1 : r == 0 ? 1 : add_sum(s, line, len);
}

int sum_add_line(struct sum *s, const char *path, uint64_t number, const char *line, size_t len)
{
	const char *why;
	if (len && line[len - 1] == '\n')
		len--;
	if (!len)
		return 0;
	s->lines++;
	int r = add_known(s, line, len, &why);
	if (r == 0 && !s->bad_lines++)
		snprintf(s->first_bad, sizeof(s->first_bad), "%.100s line %llu: %s", path,
			 (unsigned long long)number, why);
	return r < 0 ? -1 : 0;
}

void sum_fini(struct sum *s)
{
	for (size_t i = 0; i < s->n; i++) {
		free(s->row[i]->order);
		free(s->row[i]);
	}
	free(s->row);
	memset(s, 0, sizeof(*s));
}
