// Statistics of the scheduler; stats.h.
#include "common/sched/stats.h"

#include "common/out/columns.h"
#include "common/out/members.h"
#include "common/host/clock.h"
#include "common/host/proc.h"
#include "common/host/xalloc.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

// ---- columns and keys

#define COLUMN(member, heading, key, type, flags, help) \
	COL(member, heading, key, type, flags, help),
#define ROW sched_total_row
static const struct out_col total_cols[] = {
	COL(policy, "POLICY", "policy", STR, D, "strict, or share with its parts"),
	SCHED_TOTAL_COUNTS(COLUMN)};
#undef ROW
#define ROW sched_class_row
static const struct out_col class_cols[] = {
	COL(name, "CLASS", "class", STR, D, "class, the most urgent first"),
	SCHED_CLASS_COUNTS(COLUMN) COL(ran_percent, "RAN%", "ran_percent", F64, D,
				       "share of contended time in which it ran"),
};
#undef ROW
#define ROW sched_member_row
static const struct out_col member_cols[] = {
	COL(name, "CLASS", "class", STR, D, "its class"),
	COL(pid, "PID", "pid", U64, D, "process"),
	COL(comm, "COMMAND", "command", STR, D | T, "its name"),
	COL(state, "STATE", "state", STR, D,
	    "runs, off, partly (some queues run on), idle (not held: nothing to do), joins (is "
	    "attached to now), missed (cannot be held)"),
	COL(reason, "REASON", "reason", STR, D | T, "why it is missed"),
};
#undef ROW

const struct out_table sched_total_table = {"scheduler", "scheduler", OUT_COLS(total_cols)};
const struct out_table sched_class_table = {"classes", "class", OUT_COLS(class_cols)};
const struct out_table sched_member_table = {"members", "member", OUT_COLS(member_cols)};

#define TOTAL_KEY(member, heading, key, type, flags, help) \
	MEMBER(u64, sched_total_row, member, key),
#define CLASS_KEY(member, heading, key, type, flags, help) \
	MEMBER(u64, sched_class_row, member, key),

static const struct member total_keys[] = {MEMBER(text, sched_total_row, policy_text, "policy"),
					   SCHED_TOTAL_COUNTS(TOTAL_KEY){0}};
static const struct member class_keys[] = {
	MEMBER(text, sched_class_row, name_text, "class"),
	SCHED_CLASS_COUNTS(CLASS_KEY) MEMBER(f64, sched_class_row, ran_percent, "ran_percent"),
	{0}};
static const struct member member_keys[] = {MEMBER(text, sched_member_row, name_text, "class"),
					    MEMBER(u64, sched_member_row, pid, "pid"),
					    MEMBER(text, sched_member_row, comm_text, "command"),
					    MEMBER(text, sched_member_row, state_text, "state"),
					    MEMBER(text, sched_member_row, reason_text, "reason"),
					    {0}};

// ---- from the scheduler

static struct sched_class_row *add_class_row(struct sched_stats *t)
{
	ARRAY_GROW(t->classes, t->cap_classes, t->nclasses);
	t->classes[t->nclasses] = (struct sched_class_row){.ran_percent = NAN};
	return &t->classes[t->nclasses++];
}

static struct sched_member_row *add_member_row(struct sched_stats *t)
{
	ARRAY_GROW(t->members, t->cap_members, t->nmembers);
	t->members[t->nmembers] = (struct sched_member_row){0};
	return &t->members[t->nmembers++];
}

static const char *member_state_name(const struct group_member *m)
{
	if (member_is_missed(m))
		return "missed";
	if (m->place == MEMBER_IDLE)
		return "idle";
	if (group_is_off(m))
		return "off";
	if (m->joins)
		return "joins";
	return m->place == MEMBER_PARTLY && m->state == MEMBER_READY ? "partly" : "runs";
}

static void take_member(struct sched_stats *t, struct sched_class_row *c,
			const struct group_member *m)
{
	struct sched_member_row *row = add_member_row(t);
	struct proc p;
	row->pid = (uint64_t)m->target.pid;
	memcpy(row->name_text, c->name_text, sizeof(c->name_text));
	snprintf(row->state_text, sizeof(row->state_text), "%s", member_state_name(m));
	if (proc_read(&p, m->target.pid) == 0)
		snprintf(row->comm_text, sizeof(row->comm_text), "%s", p.comm);
	if (member_is_missed(m))
		snprintf(row->reason_text, sizeof(row->reason_text), "%s", m->failure.text);
	c->processes++;
	c->off += group_is_off(m);
	c->idle += m->place == MEMBER_IDLE;
	c->missed += member_is_missed(m) || m->place == MEMBER_PARTLY;
}

static void take_class(struct sched_stats *t, const struct sched_class *c, uint64_t now, bool last)
{
	struct sched_class_row *row = add_class_row(t);
	const struct policy_class *p = &c->policy;
	snprintf(row->name_text, sizeof(row->name_text), "%s", c->name);
	row->unreached = c->group.unreached;
	// Whether the last class has work is not looked at.
	row->bursts = last ? U64_NULL : c->bursts;
	row->busy_ns =
		last ? U64_NULL : c->busy_ns + (c->busy_since_ns ? now - c->busy_since_ns : 0);
	row->holds = c->holds;
	row->calls = c->group.calls;
	row->contended_ns = p->contended_ns;
	row->contended_off_ns = p->contended_off_ns;
	row->off_p50_ns = hist_percentile(&c->off, 0.5);
	row->off_p90_ns = hist_percentile(&c->off, 0.9);
	row->off_p99_ns = hist_percentile(&c->off, 0.99);
	row->off_max_ns = c->off.count ? c->off.max : U64_NULL;
	row->on_p50_ns = hist_percentile(&c->on, 0.5);
	row->on_p99_ns = hist_percentile(&c->on, 0.99);
	row->on_max_ns = c->on.count ? c->on.max : U64_NULL;
	row->longest_ns = c->longest_ns;
	row->cost_ns = c->cost_ns ? c->cost_ns : U64_NULL;
	if (p->contended_ns)
		row->ran_percent = 100 * (double)(p->contended_ns - p->contended_off_ns) /
				   (double)p->contended_ns;
	for (size_t i = 0; i < c->group.n; i++)
		if (c->group.v[i]->state != MEMBER_ENDED)
			take_member(t, row, c->group.v[i]);
}

static void count_client(const struct hints_client *c, void *arg)
{
	struct sched_total_row *t = arg;
	t->clients++;
	t->requests += c->requests;
	t->throttled += c->throttled;
}

// Texts are where they are shown from once nothing moves any more.
static void point_to_texts(struct sched_stats *t)
{
	const struct sched_total_row *total = &t->total;
	t->total.policy = total->policy_text;
	for (size_t i = 0; i < t->nclasses; i++)
		t->classes[i].name = t->classes[i].name_text;
	for (size_t i = 0; i < t->nmembers; i++) {
		struct sched_member_row *m = &t->members[i];
		m->name = m->name_text;
		m->comm = *m->comm_text ? m->comm_text : NULL;
		m->state = m->state_text;
		m->reason = *m->reason_text ? m->reason_text : NULL;
	}
}

void sched_stats_take(struct sched_stats *t, const struct sched *s)
{
	const struct policy *p = &s->opts.policy;
	const uint64_t now = clock_ns();
	struct timespec cpu;
	*t = (struct sched_stats){0};
	t->total.pid = (uint64_t)getpid();
	t->total.up_ns = now - s->start_ns;
	t->total.max_hold_ns = p->max_hold_ns;
	if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu) == 0)
		t->total.cpu_ns = (uint64_t)cpu.tv_sec * 1000000000 + (uint64_t)cpu.tv_nsec +
				  reader_cpu_ns(NULL);
	for (size_t i = 0; i < s->n; i++)
		if (s->classes[i].group.reader)
			t->total.cpu_ns += reader_cpu_ns(s->classes[i].group.reader);
	if (p->kind == POLICY_STRICT)
		snprintf(t->total.policy_text, SCHED_NAME, "strict");
	else
		snprintf(t->total.policy_text, SCHED_NAME, "share %.3g:%.3g", 100 - 100 * p->part,
			 100 * p->part);
	for (size_t i = 0; i < s->newcomers.n; i++)
		t->total.left_out += s->newcomers.v[i].left_out;
	if (s->hints) {
		t->total.refused = hints_refused(s->hints);
		t->total.hints = hints_active(s->hints);
		hints_each_client(s->hints, count_client, &t->total);
	}
	for (size_t i = 0; i < s->n; i++)
		take_class(t, &s->classes[i], now, i + 1 == s->n);
	point_to_texts(t);
}

void sched_stats_fini(struct sched_stats *t)
{
	free(t->classes);
	free(t->members);
	*t = (struct sched_stats){0};
}

// ---- as lines

static void write_stats_row(struct buf *b, const char *name, const struct member *keys,
			    const void *row)
{
	struct json j;
	record_begin(&j, b, name);
	members_write(&j, keys, row);
	record_end(&j);
}

void sched_stats_write(struct buf *b, const struct sched_stats *t)
{
	write_stats_row(b, "scheduler", total_keys, &t->total);
	for (size_t i = 0; i < t->nclasses; i++)
		write_stats_row(b, "class", class_keys, &t->classes[i]);
	for (size_t i = 0; i < t->nmembers; i++)
		write_stats_row(b, "member", member_keys, &t->members[i]);
}

static bool read_stats_line(struct sched_stats *t, const char *line, size_t len, unsigned *totals)
{
	struct sched_class_row c = {.ran_percent = NAN};
	struct sched_member_row m = {0};
	const struct member_row total[] = {{total_keys, &t->total}, {0}};
	const struct member_row class[] = {{class_keys, &c}, {0}};
	const struct member_row member[] = {{member_keys, &m}, {0}};
#define UNKNOWN(member, heading, key, type, flags, help) c.member = U64_NULL;
	SCHED_CLASS_COUNTS(UNKNOWN)
#undef UNKNOWN
	if (record_read(line, len, "scheduler", total))
		++*totals;
	else if (record_read(line, len, "class", class))
		*add_class_row(t) = c;
	else if (record_read(line, len, "member", member))
		*add_member_row(t) = m;
	else
		return false;
	return true;
}

bool sched_stats_read(struct sched_stats *t, const char *text)
{
	unsigned totals = 0;
	bool ok = true;
	*t = (struct sched_stats){0};
#define UNKNOWN(member, heading, key, type, flags, help) t->total.member = U64_NULL;
	SCHED_TOTAL_COUNTS(UNKNOWN)
#undef UNKNOWN
	while (*text && ok) {
		const size_t n = strcspn(text, "\n");
		ok = read_stats_line(t, text, n, &totals);
		text += n + (text[n] == '\n');
	}
	point_to_texts(t);
	return ok && totals == 1;
}
