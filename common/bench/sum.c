// Adding up results; sum.h.
#include "common/bench/sum.h"

#include "common/bench/ab.h"
#include "common/bench/raw.h"
#include "common/bench/result.h"
#include "common/host/buf.h"
#include "common/host/xalloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void write_hist(struct json *j, const struct member *m, const void *at)
{
	hist_json(at, j, m->key);
}

static bool read_hist(const struct jsonin_value *v, const struct member *m, void *at)
{
	(void)m;
	return hist_read(at, v->text, v->len);
}

static const struct member_type member_hist = {write_hist, read_hist};

static const struct member key_members[] = {
	MEMBER(plain, sum_row, key.metric, "metric"),
	MEMBER(plain, sum_row, key.source, "source"),
	MEMBER(plain, sum_row, key.scheduler, "scheduler"),
	MEMBER(plain, sum_row, key.kernel, "kernel"),
	MEMBER(plain, sum_row, key.gpus, "gpus"),
	MEMBER(u64, sum_row, key.set.grace, "grace"),
	MEMBER(u64, sum_row, key.set.queues, "queues_wanted"),
	MEMBER(u64, sum_row, key.set.hold_ns, "hold_wanted_ns"),
	MEMBER(u64, sum_row, key.set.gap_ns, "gap_wanted_ns"),
	{0},
};
static const struct member hist_members[] = {MEMBER(hist, sum_row, hist, "histogram_ns"), {0}};

static char *order_of(const struct sum_row *r)
{
	struct buf b = {0};
	struct json j;
	json_init(&j, &b, false);
	json_begin(&j, NULL, '{');
	members_write(&j, key_members, r);
	json_end(&j, '}');
	return b.data;
}

void sum_write(struct buf *out, const struct sum_row *r)
{
	struct json j;
	record_begin(&j, out, "bench_sum");
	members_write(&j, key_members, r);
	members_write(&j, hist_members, r);
	record_end(&j);
}

// The row of the key of `like`, made when it is missing.
static struct sum_row *sum_row_for(struct sum *s, const struct sum_row *like)
{
	char *order = order_of(like);
	size_t at = 0;
	while (at < s->n && strcmp(s->row[at]->order, order) < 0)
		at++;
	if (at < s->n && strcmp(s->row[at]->order, order) == 0) {
		free(order);
		return s->row[at];
	}
	struct sum_row *r = xcalloc(1, sizeof(*r));
	r->key = like->key;
	r->order = order;
	hist_init(&r->hist);
	array_grow(&s->row, &s->cap, s->n, sizeof(struct sum_row *));
	memmove(&s->row[at + 1], &s->row[at], (s->n++ - at) * sizeof(struct sum_row *));
	return s->row[at] = r;
}

static void key_of(struct sum_key *k, const struct bench_context *c)
{
	memset(k, 0, sizeof(*k));
	snprintf(k->source, sizeof(k->source), "%.31s", c->text[CONTEXT_source]);
	snprintf(k->scheduler, sizeof(k->scheduler), "%.31s", c->text[CONTEXT_scheduler]);
	snprintf(k->kernel, sizeof(k->kernel), "%.95s", c->text[CONTEXT_kernel]);
	snprintf(k->gpus, sizeof(k->gpus), "%s", c->text[CONTEXT_gpus]);
}

static void sum_add_cycle(struct sum *s, struct sum_row *like, const struct cycle *c)
{
	const char *of = c->set.process == CYCLE_NONE    ? ""
			 : c->set.process == CYCLE_GROUP ? "group_"
							 : "member_";
	like->key.set = c->set;
	for (unsigned m = 0; m < METRICS && !c->warmup; m++) {
		double v = result_metric(c, (enum result_metric)m);
		snprintf(like->key.metric, sizeof(like->key.metric), "%s%s", of,
			 result_metric_name[m]);
		if (v >= 0)
			hist_add(&sum_row_for(s, like)->hist, (uint64_t)v);
	}
}

static void sum_add_run(struct sum *s, struct sum_row *like, const struct ab_run *run)
{
	like->key.set =
		(struct cycle_setting){CYCLE_NONE, CYCLE_NONE, CYCLE_NONE, CYCLE_NONE, CYCLE_NONE};
	snprintf(like->key.metric, sizeof(like->key.metric), "online_%s", ab_mode_name[run->mode]);
	for (size_t i = 0; i < run->latency.n; i++)
		hist_add(&sum_row_for(s, like)->hist, (uint64_t)run->latency.v[i]);
}

// False when the line is no sum.
static bool sum_add_sum(struct sum *s, const char *line, size_t len)
{
	static struct sum_row read; // 16 KB, and nothing runs beside us
	const struct member_row rows[] = {{key_members, &read}, {hist_members, &read}, {0}};
	memset(&read, 0, sizeof(read));
	memset(&read.key.set, 0xff, sizeof(read.key.set)); // CYCLE_NONE
	if (!record_read(line, len, "bench_sum", rows) || !*read.key.metric)
		return false;
	if (!read.hist.count && !read.hist.min) // the line has no histogram: hist_init() sets min
		return false;
	hist_merge(&sum_row_for(s, &read)->hist, &read.hist);
	return true;
}

// False when the line is neither a sample nor a sum.
static bool sum_add_known(struct sum *s, const char *line, size_t len)
{
	static struct bench_context context;
	static struct sum_row like; // only its key
	struct ab_run run;
	struct cycle c;
	if (raw_read(line, len, &context, &c)) {
		key_of(&like.key, &context);
		sum_add_cycle(s, &like, &c);
		return true;
	}
	bool is_run = ab_read(line, len, &context, &run);
	if (is_run) {
		key_of(&like.key, &context);
		sum_add_run(s, &like, &run);
	}
	ab_run_fini(&run);
	return is_run || sum_add_sum(s, line, len);
}

void sum_add_line(struct sum *s, const char *path, uint64_t number, const char *line, size_t len)
{
	if (len && !sum_add_known(s, line, len) && !s->bad_lines++)
		raw_why_not(s->first_bad, path, number, line, len);
}

void sum_fini(struct sum *s)
{
	for (size_t i = 0; i < s->n; i++) {
		free(s->row[i]->order);
		free(s->row[i]);
	}
	free(s->row);
	*s = (struct sum){0};
}
