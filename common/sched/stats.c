// Statistics of the scheduler; stats.h.
#include "common/sched/stats.h"

#include "common/cli/text.h"
#include "common/out/columns.h"
#include "common/out/members.h"
#include "common/host/clock.h"
#include "common/host/number.h"
#include "common/host/proc.h"

#include <math.h>
#include <time.h>

// ---- columns and keys

#define COLUMN(member, heading, key, type, flags, help) \
	COL(member, heading, key, type, flags, help),
#define ROW sched_total_row
static const struct out_col total_cols[] = {
	COL(policy, "POLICY", "policy", STR, D | A,
	    "strict, share with its parts, or the goal of --slo and the parts now"),
	SCHED_TOTAL_COUNTS(COLUMN)};
#undef ROW
#define ROW sched_class_row
static const struct out_col class_cols[] = {
	COL(name, "CLASS", "class", STR, D | A, "class, the most urgent first"),
	SCHED_CLASS_COUNTS(COLUMN) COL(ran_percent, "RAN%", "ran_percent", F64, D,
				       "share of contended time in which it ran"),
};
#undef ROW
#define ROW sched_job_row
static const struct out_col job_cols[] = {
	COL(name, "CLASS", "class", STR, D | A, "its class"),
	COL(job, "JOB_BY", "job_by", STR, D | T | A,
	    "what its processes have in common (--job-by); unknown: all of the class are one job"),
	COL(gpu, "INDEX", "gpu_index", U64, D, "index of the GPU; unknown: the job is held whole"),
	COL(gpu_id, "GPU", "gpu_id", U64, D, "gpu_id of the GPU"),
	COL(state, "STATE", "state", STR, D | A,
	    "held, holding (not all holders have answered), runs, resuming, rests (after "
	    "--max-hold), turn (its part of the time), refused (a process of the job cannot be "
	    "held)"),
	COL(rival, "FOR", "for", STR, D | A,
	    "the first class above that has work there; held for the turn of a class below: that "
	    "one"),
	COL(tenant, "TENANT", "tenant", STR, T | A, "--slice: whose job it is (--tenant-by)"),
	SCHED_JOB_COUNTS(COLUMN) COL(ran_percent, "RAN%", "ran_percent", F64, D,
				     "share of contended time in which it ran"),
};
#undef ROW
#define ROW sched_client_row
static const struct out_col client_cols[] = {
	COL(pid, "PID", "pid", U64, D, "process that connected; unknown: of another PID namespace"),
	WHOSE_COLS(whose, M),
	COL(name, "CLASS", "class", STR, D | A, "the class whose work its hints are about"),
	COL(gpus, "GPUS", "gpus", LIST, D | A, "indices of the GPUs that they are about"),
	COL(hinted, "HINTED", "hinted", LIST, M | A,
	    "what its active hints are about, which may say otherwise: class:index, class:any; "
	    "later: before it: its deadline leaves time, and it holds nobody yet"),
	SCHED_CLIENT_COUNTS(COLUMN)};
#undef ROW
#define ROW sched_member_row
static const struct out_col member_cols[] = {
	COL(name, "CLASS", "class", STR, D | A, "its class"),
	COL(pid, "PID", "pid", U64, D, "process"),
	COL(comm, "COMMAND", "command", STR, D | T | A, "its name"),
	WHOSE_COLS(whose, M),
	COL(job, "JOB_BY", "job_by", STR, T | A, "its job: see --job-by"),
	COL(gpus, "GPUS", "gpus", LIST, D | A, "indices of the GPUs on which it has chosen queues"),
	COL(state, "STATE", "state", STR, D | A,
	    "runs, off, partly (some queues run on), idle (not held: nothing to do), joins (comes, "
	    "or is attached to now), missed (cannot be held); with --dry-run runs (never held), "
	    "would-hold"),
	COL(reason, "REASON", "reason", STR, D | T | A, "why it is missed"),
};
#undef ROW
#define ROW sched_decision_row
static const struct out_col decision_cols[] = {
	COL(age_ns, "AGE", "age_ns", NS, D, "how long ago"),
	COL(what, "WHAT", "what", STR, D | A,
	    "class (at the beginning of a log), work (the class has work on these GPUs from then "
	    "on; none: on no GPU), unit and ended "
	    "(a job came, or went), hold and release, done (all holders have answered to that)"),
	COL(name, "CLASS", "class", STR, D | A, "class that it is about"),
	COL(job, "JOB_BY", "job_by", STR, D | T | A, "its job: see --job-by"),
	COL(gpus, "GPUS", "gpus", LIST, D | A, "indices of the GPUs; all: any GPU"),
	COL(rival, "FOR", "for", STR, D | A, "class for which it is held"),
	COL(took_ns, "TOOK", "took_ns", NS, D, "of done: time since the decision"),
};
#undef ROW
#define ROW sched_time_row
static const struct out_col time_cols[] = {
	COL(name, "CLASS", "class", STR, D | A, "class that it is about"),
	COL(what, "WHAT", "what", STR, D | A,
	    "wait, request, reaction or resume, as in the table classes"),
	COL(le, "LE", "le", STR, D | A, "seconds; +Inf: whatever it took"),
	COL(count, "COUNT", "bucket", U64, D,
	    "how many took so long at most since the scheduler started (to 3 percent of the time)"),
};
#undef ROW

const struct out_table sched_total_table = {"scheduler", "scheduler", OUT_COLS(total_cols)};
const struct out_table sched_class_table = {"classes", "class", OUT_COLS(class_cols)};
const struct out_table sched_job_table = {"jobs", "job", OUT_COLS(job_cols)};
const struct out_table sched_member_table = {"members", "member", OUT_COLS(member_cols)};
const struct out_table sched_client_table = {"clients", "client", OUT_COLS(client_cols)};
const struct out_table sched_decision_table = {"decisions", "decision", OUT_COLS(decision_cols)};
const struct out_table sched_time_table = {"latency", "latency", OUT_COLS(time_cols)};

#define TOTAL_KEY(member, heading, key, type, flags, help) \
	MEMBER(u64, sched_total_row, member, key),
#define CLASS_KEY(member, heading, key, type, flags, help) \
	MEMBER(u64, sched_class_row, member, key),
#define JOB_KEY(member, heading, key, type, flags, help) MEMBER(u64, sched_job_row, member, key),
#define CLIENT_KEY(member, heading, key, type, flags, help) \
	MEMBER(u64, sched_client_row, member, key),

static const struct member total_keys[] = {MEMBER(text, sched_total_row, policy, "policy"),
					   SCHED_TOTAL_COUNTS(TOTAL_KEY){0}};
static const struct member class_keys[] = {
	MEMBER(text, sched_class_row, name, "class"),
	SCHED_CLASS_COUNTS(CLASS_KEY) MEMBER(f64, sched_class_row, ran_percent, "ran_percent"),
	{0}};
static const struct member job_keys[] = {
	MEMBER(text, sched_job_row, name, "class"),
	MEMBER(text, sched_job_row, job, "job_by"),
	MEMBER(u64, sched_job_row, gpu, "gpu_index"),
	MEMBER(u64, sched_job_row, gpu_id, "gpu_id"),
	MEMBER(text, sched_job_row, state, "state"),
	MEMBER(text, sched_job_row, rival, "for"),
	MEMBER(text, sched_job_row, tenant, "tenant"),
	SCHED_JOB_COUNTS(JOB_KEY) MEMBER(f64, sched_job_row, ran_percent, "ran_percent"),
	{0}};
static const struct member member_keys[] = {MEMBER(text, sched_member_row, name, "class"),
					    MEMBER(u64, sched_member_row, pid, "pid"),
					    MEMBER(text, sched_member_row, comm, "command"),
					    MEMBER(text, sched_member_row, job, "job_by"),
					    MEMBER(text, sched_member_row, gpus, "gpus"),
					    MEMBER(text, sched_member_row, state, "state"),
					    MEMBER(text, sched_member_row, reason, "reason"),
					    {0}};
static const struct member client_keys[] = {
	MEMBER(u64, sched_client_row, pid, "pid"), MEMBER(text, sched_client_row, name, "class"),
	MEMBER(text, sched_client_row, gpus, "gpus"),
	MEMBER(text, sched_client_row, hinted, "hinted"), SCHED_CLIENT_COUNTS(CLIENT_KEY){0}};
static const struct member decision_keys[] = {MEMBER(u64, sched_decision_row, age_ns, "age_ns"),
					      MEMBER(text, sched_decision_row, what, "what"),
					      MEMBER(text, sched_decision_row, name, "class"),
					      MEMBER(text, sched_decision_row, job, "job_by"),
					      MEMBER(text, sched_decision_row, gpus, "gpus"),
					      MEMBER(text, sched_decision_row, rival, "for"),
					      MEMBER(u64, sched_decision_row, took_ns, "took_ns"),
					      {0}};
static const struct member time_keys[] = {MEMBER(text, sched_time_row, name, "class"),
					  MEMBER(text, sched_time_row, what, "what"),
					  MEMBER(text, sched_time_row, le, "le"),
					  MEMBER(count, sched_time_row, count, "bucket"),
					  {0}};

#define KIND(table, keys, rows)                                     \
	{                                                           \
		&(table), keys, offsetof(struct sched_stats, rows), \
			sizeof(*((struct sched_stats *)0)->rows.v)  \
	}
const struct sched_kind sched_kinds[SCHED_KINDS] = {
	KIND(sched_total_table, total_keys, total),
	KIND(sched_class_table, class_keys, classes),
	KIND(sched_job_table, job_keys, jobs),
	KIND(sched_member_table, member_keys, members),
	KIND(sched_client_table, client_keys, clients),
	KIND(sched_decision_table, decision_keys, decisions),
	KIND(sched_time_table, time_keys, times),
};

// Rows of any kind.
struct rows {
	char *v;
	size_t n, cap;
};

static struct rows rows_of(const struct sched_stats *t, const struct sched_kind *kind)
{
	struct rows r;
	memcpy(&r, (const char *)t + kind->rows, sizeof(r));
	return r;
}

// ---- statistics taken from the scheduler

// Returns the GPU's index as gpq gpus lists it; U64_NULL: it is not there.
static uint64_t gpu_index(const struct sched *s, uint32_t gpu_id)
{
	const struct kfd_gpu *g = kfd_topology_find(&s->topology, gpu_id);
	return g ? (uint64_t)(g - s->topology.gpus) : U64_NULL;
}

// Appends the indices of GPUs, each behind `prefix` and with blanks between; for GPUS_ALL the word
// `all`, or nothing.
static void list_gpus(const struct sched *s, uint64_t gpus, const char *prefix, const char *all,
		      char *to, size_t size)
{
	size_t at = strlen(to);
	if (gpus == GPUS_ALL && all)
		snprintf(to + at, size - at, "%s%s%s", at ? " " : "", prefix, all);
	for (size_t i = 0; i < s->topology.n && gpus != GPUS_ALL && at < size; i++)
		for (unsigned k = 0; k < s->bits.n; k++)
			if (gpus >> k & 1 && s->bits.ids[k] == s->topology.gpus[i].gpu_id)
				at += (size_t)snprintf(to + at, size - at, "%s%s%zu", at ? " " : "",
						       prefix, i);
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

static struct sched_member_row *take_member(struct sched_stats *t, const struct sched *s,
					    struct sched_class_row *c, const struct group_member *m)
{
	struct sched_member_row *row = ARRAY_ADD(t->members.v, t->members.cap, t->members.n);
	struct proc p;
	*row = (struct sched_member_row){.pid = (uint64_t)m->target.pid};
	memcpy(row->name, c->name, sizeof(c->name));
	snprintf(row->state, sizeof(row->state), "%s", member_state_name(m));
	if (proc_read(&p, m->target.pid) == 0)
		snprintf(row->comm, sizeof(row->comm), "%s", p.comm);
	if (member_is_missed(m))
		snprintf(row->reason, sizeof(row->reason), "%s", m->failure.text);
	list_gpus(s, m->gpus, "", NULL, row->gpus, sizeof(row->gpus));
	if (t->classes.n > 1)
		snprintf(row->job, sizeof(row->job), "%s", s->jobs[m->job].key);
	c->processes++;
	c->off += group_is_off(m);
	c->idle += m->place == MEMBER_IDLE;
	c->missed += member_is_missed(m) || m->place == MEMBER_PARTLY;
	return row;
}

static double part_run(uint64_t contended_ns, uint64_t off_ns)
{
	return contended_ns ? 100 * (double)(contended_ns - off_ns) / (double)contended_ns : NAN;
}

static const char *unit_state(const struct sched *s, const struct sched_job *j,
			      const struct sched_unit *u, uint64_t now)
{
	if (j->refused_ns)
		return "refused";
	if (u->settling)
		return u->asked ? "holding" : "resuming";
	if (u->asked)
		return "held";
	if (unit_has_turn(s, u, now))
		return "turn";
	const bool waits = u->policy.rivals || job_waits_for_slice(s, j);
	return waits && now < u->policy.rest_ns ? "rests" : "runs";
}

static uint64_t time_left(const struct sched *s, const struct sched_unit *u, uint64_t now)
{
	const uint64_t end =
		u->asked ? u->decided_ns + s->opts.policy.max_hold_ns : u->policy.rest_ns;
	return end > now ? end - now : U64_NULL;
}

// Takes a job on a GPU, and adds it to its class.
static void take_unit(struct sched_stats *t, const struct sched *s, const struct sched_job *j,
		      const struct sched_unit *u, uint64_t now)
{
	struct sched_job_row *row = ARRAY_ADD(t->jobs.v, t->jobs.cap, t->jobs.n);
	struct sched_class_row *c = &t->classes.v[j->class];
	const struct group *g = &s->classes[j->class].group;
	const struct policy_class *p = &u->policy;
	const unsigned bit = (unsigned)__builtin_ctzll(u->gpu);
	*row = (struct sched_job_row){
		.gpu = u->gpu == GPUS_ALL ? U64_NULL : gpu_index(s, s->bits.ids[bit]),
		.gpu_id = u->gpu == GPUS_ALL ? U64_NULL : s->bits.ids[bit],
		.held_ns = u->held_ns ? now - u->held_ns : U64_NULL,
		.left_ns = time_left(s, u, now),
		.holds = u->holds,
		.contended_ns = p->contended_ns,
		.contended_off_ns = p->contended_off_ns,
		.longest_ns = u->longest_ns,
		.cost_ns = u->cost_ns ? u->cost_ns : U64_NULL,
		.weight = s->opts.slice_ns ? (uint64_t)j->weight : U64_NULL,
		.ran_percent = part_run(p->contended_ns, p->contended_off_ns)};
	memcpy(row->name, c->name, sizeof(c->name));
	snprintf(row->job, sizeof(row->job), "%s", j->key);
	snprintf(row->tenant, sizeof(row->tenant), "%s", j->tenant);
	snprintf(row->state, sizeof(row->state), "%s", unit_state(s, j, u, now));
	snprintf(row->rival, sizeof(row->rival), "%s", unit_rival(s, j, u));
	for (size_t i = 0; i < g->n; i++)
		row->processes += g->v[i]->state != MEMBER_ENDED && &s->jobs[g->v[i]->job] == j &&
				  g->v[i]->gpus & u->gpu;
	c->holds += u->holds;
	c->contended_ns += p->contended_ns;
	c->contended_off_ns += p->contended_off_ns;
	c->longest_ns = greater(c->longest_ns, u->longest_ns);
	if (u->cost_ns)
		c->cost_ns = c->cost_ns == U64_NULL ? u->cost_ns : greater(c->cost_ns, u->cost_ns);
}

static int by_job_and_gpu(const void *a, const void *b)
{
	const struct sched_job_row *x = a, *y = b;
	const int by_job = strcmp(x->job, y->job);
	return by_job ? by_job : (x->gpu > y->gpu) - (x->gpu < y->gpu);
}

static void take_class(struct sched_stats *t, const struct sched *s, size_t at, uint64_t now)
{
	const struct sched_class *c = &s->classes[at];
	const bool last = at + 1 == s->n;
	struct sched_class_row *row = ARRAY_ADD(t->classes.v, t->classes.cap, t->classes.n);
	const uint64_t busy_now = c->busy_since_ns ? now - c->busy_since_ns : 0;
	*row = (struct sched_class_row){
		.unreached = c->group.unreached,
		// The last class is not sampled for work.
		.bursts = last ? U64_NULL : c->bursts,
		.busy_ns = last ? U64_NULL : c->busy_ns + busy_now,
		.request_p50_ns = hist_percentile(&c->request, 0.5),
		.request_p99_ns = hist_percentile(&c->request, 0.99),
		.deadlines = c->deadlines,
		.late = c->late,
		.need_ns = c->need_ns ? c->need_ns : U64_NULL,
		.holds = c->holds,
		.calls = c->group.calls,
		.contended_ns = c->contended_ns,
		.contended_off_ns = c->contended_off_ns,
		.wait_p50_ns = last ? U64_NULL : hist_percentile(&c->wait, 0.5),
		.wait_p99_ns = last ? U64_NULL : hist_percentile(&c->wait, 0.99),
		.wait_max_ns = !last && c->wait.count ? c->wait.max : U64_NULL,
		.reaction_p50_ns = hist_percentile(&c->off, 0.5),
		.reaction_p90_ns = hist_percentile(&c->off, 0.9),
		.reaction_p99_ns = hist_percentile(&c->off, 0.99),
		.reaction_max_ns = c->off.count ? c->off.max : U64_NULL,
		.resume_p50_ns = hist_percentile(&c->on, 0.5),
		.resume_p99_ns = hist_percentile(&c->on, 0.99),
		.resume_max_ns = c->on.count ? c->on.max : U64_NULL,
		.longest_ns = c->longest_ns,
		.cost_ns = U64_NULL,
	};
	snprintf(row->name, sizeof(row->name), "%s", c->name);
	for (size_t i = 0; i < c->group.n; i++) {
		if (c->group.v[i]->state == MEMBER_ENDED)
			continue;
		struct sched_member_row *m = take_member(t, s, row, c->group.v[i]);
		if (c->group.dry && at) // the first class is never held
			snprintf(m->state, sizeof(m->state), "would-hold");
	}
	const size_t first = t->jobs.n;
	for (size_t i = 0; i < s->num_jobs; i++)
		for (size_t k = 0; s->jobs[i].used && s->jobs[i].class == at && k < s->jobs[i].n;
		     k++)
			take_unit(t, s, &s->jobs[i], &s->jobs[i].units[k], now);
	if (t->jobs.n > first)
		qsort(t->jobs.v + first, t->jobs.n - first, sizeof(*t->jobs.v), by_job_and_gpu);
	row->ran_percent = part_run(row->contended_ns, row->contended_off_ns);
}

// Lists the work of a client's active hints, "online:0 batch:any".
static void list_hinted(const struct sched *s, const struct hints_client *c, char *to, size_t size)
{
	for (size_t class = 0; class < s->n; class ++) {
		char later[SCHED_NAME + 16];
		uint64_t now_on = 0, later_on = 0;
		for (unsigned i = 0; i < c->active + c->later; i++)
			if (c->hints[i].class == class)
				*(i < c->active ? &now_on : &later_on) |= c->hints[i].gpus;
		snprintf(later, sizeof(later), SCHED_LATER "%s:", s->classes[class].name);
		list_gpus(s, now_on, later + strlen(SCHED_LATER), "any", to, size);
		list_gpus(s, later_on, later, "any", to, size);
	}
}

static void take_clients(struct sched_stats *t, const struct sched *s)
{
	struct hints_client c;
	for (unsigned at = 0; hints_next(s->hints, &at, &c);) {
		struct sched_client_row *row =
			ARRAY_ADD(t->clients.v, t->clients.cap, t->clients.n);
		*row = (struct sched_client_row){.pid = c.pid ? (uint64_t)c.pid : U64_NULL,
						 .connection = c.place,
						 .hints = c.active + c.later,
						 .later = c.later,
						 .requests = c.requests,
						 .throttled = c.throttled,
						 .expired = c.expired};
		snprintf(row->name, sizeof(row->name), "%s", s->classes[c.scope.class].name);
		list_gpus(s, c.scope.gpus, "", NULL, row->gpus, sizeof(row->gpus));
		list_hinted(s, &c, row->hinted, sizeof(row->hinted));
	}
}

static void take_decisions(struct sched_stats *t, const struct sched *s, uint64_t now)
{
	const size_t most = SCHED_LATEST;
	for (size_t i = s->decided > most ? s->decided - most : 0; i < s->decided; i++) {
		const struct sched_decision *d = &s->latest[i % most];
		struct sched_decision_row *row =
			ARRAY_ADD(t->decisions.v, t->decisions.cap, t->decisions.n);
		*row = (struct sched_decision_row){.age_ns = now - d->ns, .took_ns = d->took_ns};
		snprintf(row->what, sizeof(row->what), "%s", d->what);
		snprintf(row->name, sizeof(row->name), "%s", d->class);
		snprintf(row->job, sizeof(row->job), "%s", d->job);
		snprintf(row->rival, sizeof(row->rival), "%s", d->rival);
		list_gpus(s, d->on, "", "all", row->gpus, sizeof(row->gpus));
	}
}

static void take_times(struct sched_stats *t, const char *name, const char *what,
		       const struct hist *h)
{
	static const char *const le[] = {"0.001", "0.002", "0.005", "0.01", "0.02", "0.05", "0.1",
					 "0.2",   "0.5",   "1",     "2",    "5",    "10",   "+Inf"};
	static const unsigned ms[COUNT(le)] = {1,   2,   5,    10,   20,   50,    100,
					       200, 500, 1000, 2000, 5000, 10000, 0};
	uint64_t count = 0;
	for (unsigned i = 0, k = 0; i < COUNT(le); i++) {
		for (; k < HIST_BUCKETS && (!ms[i] || hist_upper(k) <= ms[i] * 1000000ull); k++)
			count += h->bucket[k];
		struct sched_time_row *row = ARRAY_ADD(t->times.v, t->times.cap, t->times.n);
		*row = (struct sched_time_row){.count = count};
		snprintf(row->name, sizeof(row->name), "%s", name);
		snprintf(row->what, sizeof(row->what), "%s", what);
		snprintf(row->le, sizeof(row->le), "%s", le[i]);
	}
}

void sched_stats_take(struct sched_stats *t, const struct sched *s)
{
	const struct policy *p = &s->opts.policy;
	const uint64_t now = sched_now(s);
	struct timespec cpu;
	char limit[24];
	*t = (struct sched_stats){0};
	*ARRAY_ADD(t->total.v, t->total.cap, t->total.n) =
		(struct sched_total_row){.pid = (uint64_t)getpid(),
					 .up_ns = now - s->start_ns,
					 .max_hold_ns = p->max_hold_ns};
	if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu) == 0)
		t->total.v->cpu_ns = (uint64_t)cpu.tv_sec * 1000000000 + (uint64_t)cpu.tv_nsec +
				     reader_cpu_ns(NULL);
	for (size_t i = 0; i < s->n; i++)
		if (s->classes[i].group.reader)
			t->total.v->cpu_ns += reader_cpu_ns(s->classes[i].group.reader);
	const struct goal *g = &s->opts.goal;
	if (g->percent > 0)
		snprintf(t->total.v->policy, SCHED_NAME, "p%.6g < %s %.3g:%.3g", g->percent,
			 text_ns(limit, g->limit_ns), 100 - 100 * p->part, 100 * p->part);
	else if (p->kind == POLICY_STRICT)
		snprintf(t->total.v->policy, SCHED_NAME, "strict");
	else if (!s->opts.num_parts)
		snprintf(t->total.v->policy, SCHED_NAME, "share %.3g:%.3g", 100 - 100 * p->part,
			 100 * p->part);
	for (size_t i = 0, at = 0; i < s->opts.num_parts && at < SCHED_NAME; i++)
		at += (size_t)snprintf(t->total.v->policy + at, SCHED_NAME - at, "%s%.3g",
				       i ? ":" : "share ", 100 * s->opts.parts[i]);
	for (size_t i = 0; i < s->newcomers.n; i++)
		t->total.v->left_out += s->newcomers.v[i].left_out;
	if (s->hints) {
		const struct hints_counts n = hints_count(s->hints);
		t->total.v->hints = hints_active(s->hints);
		t->total.v->clients = n.clients;
		t->total.v->requests = n.requests;
		t->total.v->throttled = n.throttled;
		t->total.v->refused = n.refused;
		t->total.v->expired = n.expired;
		take_clients(t, s);
	}
	for (size_t i = 0; i < s->n; i++)
		take_class(t, s, i, now);
	for (size_t i = 0; i < s->n; i++) {
		const struct sched_class *c = &s->classes[i];
		if (i + 1 < s->n)
			take_times(t, c->name, "wait", &c->wait);
		take_times(t, c->name, "request", &c->request);
		if (i)
			take_times(t, c->name, "reaction", &c->off);
		if (i)
			take_times(t, c->name, "resume", &c->on);
	}
	take_decisions(t, s, now);
}

void sched_stats_fini(struct sched_stats *t)
{
	for (size_t i = 0; i < SCHED_KINDS; i++)
		free(rows_of(t, &sched_kinds[i]).v);
	*t = (struct sched_stats){0};
}

int sched_stats_print(struct out *o, const struct sched_stats *t, const struct sched_kind *kind)
{
	const struct rows r = rows_of(t, kind);
	const int status = out_begin(o, kind->table, false);
	for (size_t i = 0; i < r.n && !status; i++)
		out_row(o, r.v + i * kind->size);
	out_end(o);
	return status;
}

// ---- statistics as lines of JSON

void sched_stats_write(struct buf *b, const struct sched_stats *t)
{
	for (size_t i = 0; i < SCHED_KINDS; i++) {
		const struct rows r = rows_of(t, &sched_kinds[i]);
		struct json j;
		for (size_t k = 0; k < r.n; k++) {
			record_begin(&j, b, sched_kinds[i].table->record);
			members_write(&j, sched_kinds[i].keys, r.v + k * sched_kinds[i].size);
			record_end(&j);
		}
	}
}

// Adds the row of a line to those of its kind. False if it is of none.
static bool read_stats_line(struct sched_stats *t, const char *line, size_t len)
{
	for (size_t i = 0; i < SCHED_KINDS; i++) {
		const struct sched_kind *kind = &sched_kinds[i];
		SCOPED(free_at) char *row = xcalloc(1, kind->size);
		const struct member_row to[] = {{kind->keys, row}, {0}};
		struct rows r = rows_of(t, kind);
		out_clear(kind->table, row);
		if (!record_read(line, len, kind->table->record, to))
			continue;
		array_grow(&r.v, &r.cap, r.n++, kind->size);
		memcpy(r.v + (r.n - 1) * kind->size, row, kind->size);
		memcpy((char *)t + kind->rows, &r, sizeof(r));
		return true;
	}
	return false;
}

bool sched_stats_read(struct sched_stats *t, const char *text)
{
	bool ok = true;
	*t = (struct sched_stats){0};
	while (*text && ok) {
		const size_t n = strcspn(text, "\n");
		ok = read_stats_line(t, text, n);
		text += n + (text[n] == '\n');
	}
	return ok && t->total.n == 1;
}
