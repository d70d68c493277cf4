// Statistics of the scheduler; stats.h.
#include "common/sched/stats.h"

#include "common/out/columns.h"
#include "common/out/members.h"
#include "common/host/clock.h"
#include "common/host/proc.h"

#include <math.h>
#include <time.h>

// ---- columns and keys

#define COLUMN(member, heading, key, type, flags, help) \
	COL(member, heading, key, type, flags, help),
#define ROW sched_total_row
static const struct out_col total_cols[] = {
	COL(policy, "POLICY", "policy", STR, D | A, "strict, or share with its parts"),
	SCHED_TOTAL_COUNTS(COLUMN)};
#undef ROW
#define ROW sched_class_row
static const struct out_col class_cols[] = {
	COL(name, "CLASS", "class", STR, D | A, "class, the most urgent first"),
	SCHED_CLASS_COUNTS(COLUMN) COL(ran_percent, "RAN%", "ran_percent", F64, D,
				       "share of contended time in which it ran"),
};
#undef ROW
#define ROW sched_member_row
static const struct out_col member_cols[] = {
	COL(name, "CLASS", "class", STR, D | A, "its class"),
	COL(pid, "PID", "pid", U64, D, "process"),
	COL(comm, "COMMAND", "command", STR, D | T | A, "its name"),
	WHOSE_COLS(whose, M),
	COL(state, "STATE", "state", STR, D | A,
	    "runs, off, partly (some queues run on), idle (not held: nothing to do), joins (is "
	    "attached to now), missed (cannot be held); with --dry-run runs (never held), "
	    "would-hold"),
	COL(reason, "REASON", "reason", STR, D | T | A, "why it is missed"),
};
#undef ROW

const struct out_table sched_total_table = {"scheduler", "scheduler", OUT_COLS(total_cols)};
const struct out_table sched_class_table = {"classes", "class", OUT_COLS(class_cols)};
const struct out_table sched_member_table = {"members", "member", OUT_COLS(member_cols)};

#define TOTAL_KEY(member, heading, key, type, flags, help) \
	MEMBER(u64, sched_total_row, member, key),
#define CLASS_KEY(member, heading, key, type, flags, help) \
	MEMBER(u64, sched_class_row, member, key),

static const struct member total_keys[] = {MEMBER(text, sched_total_row, policy, "policy"),
					   SCHED_TOTAL_COUNTS(TOTAL_KEY){0}};
static const struct member class_keys[] = {
	MEMBER(text, sched_class_row, name, "class"),
	SCHED_CLASS_COUNTS(CLASS_KEY) MEMBER(f64, sched_class_row, ran_percent, "ran_percent"),
	{0}};
static const struct member member_keys[] = {MEMBER(text, sched_member_row, name, "class"),
					    MEMBER(u64, sched_member_row, pid, "pid"),
					    MEMBER(text, sched_member_row, comm, "command"),
					    MEMBER(text, sched_member_row, state, "state"),
					    MEMBER(text, sched_member_row, reason, "reason"),
					    {0}};

// ---- statistics taken from the scheduler

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

static struct sched_member_row *take_member(struct sched_stats *t, struct sched_class_row *c,
					    const struct group_member *m)
{
	struct sched_member_row *row = ARRAY_ADD(t->members, t->cap_members, t->nmembers);
	struct proc p;
	*row = (struct sched_member_row){.pid = (uint64_t)m->target.pid};
	memcpy(row->name, c->name, sizeof(c->name));
	snprintf(row->state, sizeof(row->state), "%s", member_state_name(m));
	if (proc_read(&p, m->target.pid) == 0)
		snprintf(row->comm, sizeof(row->comm), "%s", p.comm);
	if (member_is_missed(m))
		snprintf(row->reason, sizeof(row->reason), "%s", m->failure.text);
	c->processes++;
	c->off += group_is_off(m);
	c->idle += m->place == MEMBER_IDLE;
	c->missed += member_is_missed(m) || m->place == MEMBER_PARTLY;
	return row;
}

static void take_class(struct sched_stats *t, const struct sched_class *c, uint64_t now, bool last)
{
	struct sched_class_row *row = ARRAY_ADD(t->classes, t->cap_classes, t->nclasses);
	const struct policy_class *p = &c->policy;
	const uint64_t busy_now = c->busy_since_ns ? now - c->busy_since_ns : 0;
	*row = (struct sched_class_row){
		.unreached = c->group.unreached,
		// The last class is not sampled for work.
		.bursts = last ? U64_NULL : c->bursts,
		.busy_ns = last ? U64_NULL : c->busy_ns + busy_now,
		.holds = c->holds,
		.calls = c->group.calls,
		.contended_ns = p->contended_ns,
		.contended_off_ns = p->contended_off_ns,
		.reaction_p50_ns = hist_percentile(&c->off, 0.5),
		.reaction_p90_ns = hist_percentile(&c->off, 0.9),
		.reaction_p99_ns = hist_percentile(&c->off, 0.99),
		.reaction_max_ns = c->off.count ? c->off.max : U64_NULL,
		.resume_p50_ns = hist_percentile(&c->on, 0.5),
		.resume_p99_ns = hist_percentile(&c->on, 0.99),
		.resume_max_ns = c->on.count ? c->on.max : U64_NULL,
		.longest_ns = c->longest_ns,
		.cost_ns = c->cost_ns ? c->cost_ns : U64_NULL,
		.ran_percent = NAN,
	};
	snprintf(row->name, sizeof(row->name), "%s", c->name);
	if (p->contended_ns)
		row->ran_percent = 100 * (double)(p->contended_ns - p->contended_off_ns) /
				   (double)p->contended_ns;
	for (size_t i = 0; i < c->group.n; i++) {
		if (c->group.v[i]->state == MEMBER_ENDED)
			continue;
		struct sched_member_row *m = take_member(t, row, c->group.v[i]);
		if (c->group.dry && t->nclasses > 1) // the first class is never held
			snprintf(m->state, sizeof(m->state), "would-hold");
	}
}

void sched_stats_take(struct sched_stats *t, const struct sched *s)
{
	const struct policy *p = &s->opts.policy;
	const uint64_t now = clock_ns();
	struct timespec cpu;
	*t = (struct sched_stats){.total = {.pid = (uint64_t)getpid(),
					    .up_ns = now - s->start_ns,
					    .max_hold_ns = p->max_hold_ns}};
	if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu) == 0)
		t->total.cpu_ns = (uint64_t)cpu.tv_sec * 1000000000 + (uint64_t)cpu.tv_nsec +
				  reader_cpu_ns(NULL);
	for (size_t i = 0; i < s->n; i++)
		if (s->classes[i].group.reader)
			t->total.cpu_ns += reader_cpu_ns(s->classes[i].group.reader);
	if (p->kind == POLICY_STRICT)
		snprintf(t->total.policy, SCHED_NAME, "strict");
	else
		snprintf(t->total.policy, SCHED_NAME, "share %.3g:%.3g", 100 - 100 * p->part,
			 100 * p->part);
	for (size_t i = 0; i < s->newcomers.n; i++)
		t->total.left_out += s->newcomers.v[i].left_out;
	if (s->hints) {
		const struct hints_counts n = hints_count(s->hints);
		t->total.hints = hints_active(s->hints);
		t->total.clients = n.clients;
		t->total.requests = n.requests;
		t->total.throttled = n.throttled;
		t->total.refused = n.refused;
	}
	for (size_t i = 0; i < s->n; i++)
		take_class(t, &s->classes[i], now, i + 1 == s->n);
}

void sched_stats_fini(struct sched_stats *t)
{
	free(t->classes);
	free(t->members);
	*t = (struct sched_stats){0};
}

// ---- statistics as lines of JSON

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
	struct sched_class_row c = {0};
	struct sched_member_row m = {0};
	const struct member_row total[] = {{total_keys, &t->total}, {0}};
	const struct member_row class[] = {{class_keys, &c}, {0}};
	const struct member_row member[] = {{member_keys, &m}, {0}};
	out_clear(&sched_class_table, &c);
	if (record_read(line, len, "scheduler", total))
		++*totals;
	else if (record_read(line, len, "class", class))
		*ARRAY_ADD(t->classes, t->cap_classes, t->nclasses) = c;
	else if (record_read(line, len, "member", member))
		*ARRAY_ADD(t->members, t->cap_members, t->nmembers) = m;
	else
		return false;
	return true;
}

bool sched_stats_read(struct sched_stats *t, const char *text)
{
	unsigned totals = 0;
	bool ok = true;
	*t = (struct sched_stats){0};
	out_clear(&sched_total_table, &t->total);
	while (*text && ok) {
		const size_t n = strcspn(text, "\n");
		ok = read_stats_line(t, text, n, &totals);
		text += n + (text[n] == '\n');
	}
	return ok && totals == 1;
}
