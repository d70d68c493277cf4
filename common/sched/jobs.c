// Jobs and their GPUs: what is held together, and when; sched.h.
#include "common/sched/sched.h"

#include "common/host/clock.h"
#include "common/host/number.h"
#include "common/host/root.h"
#include "common/reader/process_cache.h"

#define NEVER     UINT64_MAX
#define REFUSE_NS 5000000000ull // a job of which a process could not be held is left alone so long

// ---- who belongs to which job

static pid_t parent_of(struct process_cache *processes, pid_t pid)
{
	return (pid_t)process_cache_get(processes, pid, PROCESS_STATUS)->proc.ppid;
}

// Returns the process, or the furthest of its ancestors that has KFD open.
static pid_t root_of_tree(struct process_cache *processes, pid_t pid)
{
	pid_t root = pid;
	// PIDs that are used anew may go round in a circle.
	for (int i = 0; i < 64 && (pid = parent_of(processes, pid)) > 1; i++)
		if (host_access(PATH("/sys/class/kfd/kfd/proc/%d", (int)pid), F_OK) == 0)
			root = pid;
	return root;
}

// Reads what the processes of a job have in common. A process that has none of it, or of which it
// is unknown, is a job of its own.
static char *read_key(enum sched_job_by by, pid_t pid)
{
	SCOPED(process_cache_fini) struct process_cache processes = {0};
	SCOPED(buf_fini) struct buf cgroup = {0};
	const struct process_info *p;
	const char *key = "";
	pid_t parent;
	switch (by) {
	case BY_CLASS: return xstrdup("");
	case BY_PROCESS: break;
	case BY_PARENT:
		pid = root_of_tree(&processes, pid);
		parent = parent_of(&processes, pid);
		if (parent > 1)
			return xasprintf("parent %d", (int)parent);
		break;
	case BY_CGROUP:
		if (host_read(&cgroup, PATH("/proc/%d/cgroup", (int)pid)) > 0 &&
		    *cgroup.data != '\n')
			return xasprintf("%.*s", (int)strcspn(cgroup.data, "\n"), cgroup.data);
		break;
	case BY_USER:
		p = process_cache_get(&processes, pid, PROCESS_STATUS);
		key = p->proc.state ? proc_user(p->proc.uid) : "";
		break;
	default:
		p = process_cache_get(&processes, pid, PROCESS_CONTAINER);
		key = by == BY_CONTAINER ? p->short_id
		      : by == BY_POD     ? p->container.pod
					 : p->container.job;
	}
	return *key ? xstrdup(key) : xasprintf("pid %d", (int)pid);
}

size_t jobs_read_weight(const char *text, uint64_t *weight)
{
	const char *end = strrchr(text, '=');
	return end && parse_u64(end + 1, weight) && *weight >= 1 && *weight <= 1000
		       ? (size_t)(end - text)
		       : 0;
}

static void weigh(const struct sched *s, struct sched_job *j)
{
	const char *name = *j->tenant ? j->tenant : j->key;
	const struct words *all = &s->opts.weights;
	uint64_t weight = 1;
	j->weight = 1;
	for (size_t i = 0; i < all->n; i++)
		if (jobs_read_weight(all->v[i], &weight) == strlen(name) &&
		    strncmp(all->v[i], name, strlen(name)) == 0)
			j->weight = (double)weight;
}

void jobs_weigh(struct sched *s)
{
	for (size_t i = 0; i < s->num_jobs; i++)
		if (s->jobs[i].used)
			weigh(s, &s->jobs[i]);
}

void jobs_join(struct sched *s, size_t class, char *key, char *tenant, struct group_member *m)
{
	size_t at = s->num_jobs;
	for (size_t i = 0; i < s->num_jobs; i++) {
		const struct sched_job *j = &s->jobs[i];
		if (!j->used)
			at = i;
		if (!j->used || j->class != class || strcmp(j->key, key) != 0)
			continue;
		m->job = i;
		free(key);
		free(tenant);
		return;
	}
	if (at == s->num_jobs)
		ARRAY_ADD(s->jobs, s->cap_jobs, s->num_jobs);
	struct sched_job *new = &s->jobs[at];
	*new = (struct sched_job){.used = true, .class = class, .key = key, .tenant = tenant};
	new->tenant_id = ++s->num_tenants;
	for (size_t i = 0; i < s->num_jobs && *tenant; i++) {
		const struct sched_job *j = &s->jobs[i];
		if (i == at || !j->used || j->class != class || strcmp(j->tenant, tenant) != 0)
			continue;
		new->tenant_id = j->tenant_id;
		memcpy(new->had, j->had, sizeof(new->had));
	}
	weigh(s, new);
	m->job = at;
}

void jobs_add(struct sched *s, size_t class, struct group_member *m)
{
	const pid_t pid = m->target.pid;
	jobs_join(s, class, read_key(s->opts.job_by, pid), read_key(s->opts.tenant_by, pid), m);
}

// Is the job held on all of its GPUs, or not at all? The job of a class is not.
static bool is_whole(const struct sched_job *j)
{
	return *j->key;
}

// ---- what is derived each turn

static void forget_unit(struct sched *s, struct sched_job *j, size_t i)
{
	struct sched_class *c = &s->classes[j->class];
	const struct sched_unit *u = &j->units[i];
	decisions_note(s, "ended", j, u, 0);
	c->contended_ns += u->policy.contended_ns;
	c->contended_off_ns += u->policy.contended_off_ns;
	c->holds += u->holds;
	c->longest_ns = greater(c->longest_ns, u->longest_ns);
	j->units[i] = j->units[--j->n];
}

static void forget_job(struct sched *s, struct sched_job *j)
{
	while (j->n)
		forget_unit(s, j, 0);
	free(j->units);
	free(j->key);
	free(j->tenant);
	*j = (struct sched_job){0};
}

static void derive_member(struct sched_job *j, const struct group_member *m, uint64_t now)
{
	j->members++;
	if (!m->joins)
		j->gpus |= m->gpus;
	j->busy |= group_busy(m);
	// A failed one may be about to end.
	j->missed += m->state == MEMBER_SILENT || group_has_failed(m, now);
}

void jobs_derive(struct sched *s)
{
	const uint64_t now = sched_now(s);
	for (size_t i = 0; i < s->num_jobs; i++)
		s->jobs[i].gpus = s->jobs[i].busy = s->jobs[i].members = s->jobs[i].missed = 0;
	for (size_t i = 1; i < s->n; i++)
		for (size_t k = 0; k < s->classes[i].group.n; k++) {
			const struct group_member *m = s->classes[i].group.v[k];
			if (m->state != MEMBER_ENDED)
				derive_member(&s->jobs[m->job], m, now);
		}
	for (size_t i = 0; i < s->n; i++)
		s->classes[i].jobs = 0;
	for (size_t i = 0; i < s->num_jobs; i++) {
		struct sched_job *j = &s->jobs[i];
		if (j->used)
			s->classes[j->class].jobs |= j->gpus;
		for (size_t k = j->n; k-- > 0;)
			if (!(j->gpus & j->units[k].gpu) && !j->units[k].asked &&
			    !j->units[k].settling)
				forget_unit(s, j, k);
		if (j->used && !j->members)
			forget_job(s, j);
	}
}

// ---- deciding

// Time from the decision until the last holder answered, in which the driver disturbs other queues
// of the GPU. A silent holder is not counted: it suspends nothing.
static uint64_t cost_of(const struct sched *s, const struct sched_job *j,
			const struct sched_unit *u)
{
	const struct group *g = &s->classes[j->class].group;
	uint64_t last = u->decided_ns + s->replayed_cost_ns;
	for (size_t i = 0; i < g->n; i++) {
		const struct group_member *m = g->v[i];
		if (&s->jobs[m->job] == j && m->gpus & u->gpu && m->state == MEMBER_READY)
			last = greater(last, m->changed_ns);
	}
	return last - u->decided_ns;
}

// Updates the statistics of a unit whose decision (hold or run) is carried out: each holder has
// answered or is silent.
static void settle_unit(struct sched *s, struct sched_job *j, struct sched_unit *u)
{
	struct sched_class *c = &s->classes[j->class];
	const uint64_t now = sched_now(s);
	if (!u->settling || j->busy & u->gpu)
		return;
	u->settling = false;
	decisions_note(s, "done", j, u, now - u->decided_ns);
	if (!s->replaying) // members obey at once there
		hist_add(u->asked ? &c->off : &c->on, now - u->decided_ns);
	if (u->asked) {
		u->holds++;
		u->held_ns = now;
		u->hold_cost_ns = cost_of(s, j, u);
		return;
	}
	if (u->held_ns) {
		u->longest_ns = greater(u->longest_ns, now - u->held_ns);
		moving_add(&u->cost, (double)(u->hold_cost_ns + cost_of(s, j, u)));
		u->cost_ns = (uint64_t)moving_percentile(&u->cost, 0.9);
	}
	u->held_ns = 0;
}

static void settle_units(struct sched *s)
{
	for (size_t i = 0; i < s->num_jobs; i++)
		for (size_t k = 0; k < s->jobs[i].n; k++)
			settle_unit(s, &s->jobs[i], &s->jobs[i].units[k]);
}

// Makes the units that the job lacks.
static void make_units(struct sched *s, struct sched_job *j)
{
	uint64_t lacks = j->gpus;
	for (size_t i = 0; i < j->n; i++)
		lacks &= ~j->units[i].gpu;
	while (lacks) {
		const uint64_t gpu = is_whole(j) ? GPUS_ALL : lacks & -lacks;
		*ARRAY_ADD(j->units, j->cap, j->n) = (struct sched_unit){.gpu = gpu};
		lacks &= ~gpu;
	}
	for (size_t i = 0; i < j->n; i++) {
		struct sched_unit *u = &j->units[i];
		const uint64_t gpus = u->gpu & j->gpus;
		if (!gpus || gpus == u->gpus)
			continue;
		u->gpus = gpus;
		decisions_note(s, "unit", j, u, 0);
	}
}

// If one process of a job cannot be held, none is for REFUSE_NS: the others would only make that
// one wait. Returns when the next of these times is over; NEVER: there is none.
static uint64_t refuse(struct sched *s, uint64_t now)
{
	uint64_t next = NEVER;
	for (size_t i = 0; i < s->num_jobs; i++) {
		struct sched_job *j = &s->jobs[i];
		if (!j->used || !is_whole(j))
			continue;
		if (j->missed)
			j->refused_ns = now;
		else if (j->refused_ns && now - j->refused_ns >= REFUSE_NS)
			j->refused_ns = 0;
		if (j->refused_ns)
			next = lesser(next, j->refused_ns + REFUSE_NS);
	}
	return next;
}

// Returns the classes above that have work where the unit is, as bits; the 64th and later share
// one.
static uint64_t rivals_of(const struct sched *s, const struct sched_job *j,
			  const struct sched_unit *u)
{
	uint64_t rivals = 0;
	for (size_t i = 0; i < j->class; i++)
		if (s->classes[i].works & u->gpu & j->gpus)
			rivals |= UINT64_C(1) << lesser(i, 63);
	return rivals;
}

// The part of a unit while classes above have work. With a part for each class, those that have no
// work leave theirs to the others. Nobody tells of the last one's work: it always wants its part.
static double part_of(const struct sched *s, const struct sched_job *j, const struct sched_unit *u)
{
	const struct sched_opts *o = &s->opts;
	double all = j->class < o->num_parts ? o->parts[j->class] : 0;
	for (size_t i = 0; i < s->n && i < o->num_parts; i++) {
		const struct sched_class *c = &s->classes[i];
		if (i != j->class && (i + 1 < s->n ? c->works : c->jobs) & u->gpu & j->gpus)
			all += o->parts[i];
	}
	return j->class < o->num_parts ? o->parts[j->class] / all : o->policy.part;
}

bool job_waits_for_slice(const struct sched *s, const struct sched_job *j)
{
	return s->opts.slice_ns && !j->runs;
}

// Returns when the next decision about the job is due.
static uint64_t step_job(struct sched *s, struct sched_job *j, uint64_t now)
{
	uint64_t next = NEVER;
	make_units(s, j);
	for (size_t i = 0; i < j->n; i++) {
		struct sched_unit *u = &j->units[i];
		const uint64_t rivals = rivals_of(s, j, u);
		struct policy p = s->opts.policy;
		settle_unit(s, j, u);
		if (job_waits_for_slice(s, j)) {
			// What it is owed is kept until its slice, and nothing is added. While it
			// rests, it runs beside others, and a burst ends that.
			const bool rests = now < u->policy.rest_ns;
			p.part = u->part;
			next = lesser(next, policy_step(&p, &u->policy, now, rests ? rivals : 0,
							false, u->cost_ns));
			u->policy.held = u->policy.held && rests;
			continue;
		}
		if (rivals)
			u->part = part_of(s, j, u);
		p.part = u->part;
		next = lesser(next, policy_step(&p, &u->policy, now, rivals,
						u->asked && !(j->busy & u->gpu), u->cost_ns));
	}
	return next;
}

const char *unit_rival(const struct sched *s, const struct sched_job *j, const struct sched_unit *u)
{
	if (u->asked && u->yields_to)
		return s->classes[u->yields_to].name;
	for (size_t i = 0; i < j->class; i++)
		if (s->classes[i].works & u->gpu & j->gpus)
			return s->classes[i].name;
	return "";
}

bool unit_has_turn(const struct sched *s, const struct sched_unit *u, uint64_t now)
{
	return s->opts.policy.kind != POLICY_STRICT && u->policy.rivals && !u->policy.held &&
	       now >= u->policy.rest_ns;
}

// --share: notes where a unit has its turn, for the classes between online and its own: those of
// their units that work there stop meanwhile, so that what is shared out is the GPU.
static void note_turns(struct sched *s, uint64_t now)
{
	for (size_t i = 0; i < s->n; i++)
		s->classes[i].turns = 0;
	for (size_t i = 0; i < s->num_jobs; i++) {
		const struct sched_job *j = &s->jobs[i];
		for (size_t k = 0; k < j->n; k++)
			for (size_t above = 1;
			     unit_has_turn(s, &j->units[k], now) && above < j->class; above++) {
				s->classes[above].turns |= j->units[k].gpu & j->gpus;
				s->classes[above].turn_of = j->class;
			}
	}
}

// Makes a decision of what the policy says, for --max-hold at most whatever the reasons were one
// after the other. Returns when it is due again.
static uint64_t decide(struct sched *s, const struct sched_job *j, struct sched_unit *u,
		       uint64_t now)
{
	const struct policy *p = &s->opts.policy;
	const uint64_t end = u->asked ? u->decided_ns + p->max_hold_ns : NEVER;
	const struct sched_class *c = &s->classes[j->class];
	const bool waits = job_waits_for_slice(s, j);
	const bool yields =
		now >= u->policy.rest_ns && (waits || c->works & c->turns & u->gpu & j->gpus);
	u->yields_to = !yields ? 0 : waits ? j->class : c->turn_of;
	bool hold = !j->refused_ns && (u->policy.held || u->yields_to);
	if (hold && now >= end) {
		hold = u->policy.held = false;
		u->yields_to = 0;
		u->policy.rest_ns = greater(u->policy.rest_ns, now + p->rest_ns);
	}
	if (hold == u->asked)
		return hold ? end : waits && now < u->policy.rest_ns ? u->policy.rest_ns : NEVER;
	u->asked = hold;
	u->decided_ns = now;
	u->settling = u->noted = true;
	return hold ? now + p->max_hold_ns : u->policy.rest_ns > now ? u->policy.rest_ns : NEVER;
}

static void ask_members(struct sched *s, size_t class)
{
	struct group *g = &s->classes[class].group;
	for (size_t i = 0; i < g->n; i++) {
		const struct sched_job *j = &s->jobs[g->v[i]->job];
		uint64_t want = 0;
		for (size_t k = 0; k < j->n; k++)
			want |= j->units[k].asked ? j->units[k].gpu : 0;
		group_ask_member(g, g->v[i], want);
	}
}

// Writes the decisions of this turn, once the holders were asked.
static void note_decisions(struct sched *s)
{
	for (size_t i = 0; i < s->num_jobs; i++)
		for (size_t k = 0; k < s->jobs[i].n; k++) {
			struct sched_unit *u = &s->jobs[i].units[k];
			if (u->noted)
				decisions_note(s, u->asked ? "hold" : "release", &s->jobs[i], u, 0);
			u->noted = false;
		}
}

static bool runs_beside(const struct sched_unit *u)
{
	return !u->policy.held && !u->asked;
}

uint64_t jobs_beside_until(const struct sched *s, size_t class, uint64_t gpus)
{
	uint64_t until = 0;
	for (size_t i = 0; i < s->num_jobs; i++) {
		const struct sched_job *j = &s->jobs[i];
		for (size_t k = 0; j->used && j->class > class && k < j->n; k++) {
			const struct sched_unit *u = &j->units[k];
			if (gpus & u->gpu & j->gpus)
				until = greater(until,
						runs_beside(u)
							? NEVER
							: u->decided_ns + s->replayed_cost_ns);
		}
	}
	return until;
}

// Measures how long each burst of a class waits until all below is off on its GPUs. A burst that
// ends before that waited for all of its time. One that runs beside a class below does not wait.
static void note_wait(const struct sched *s, size_t class, uint64_t now)
{
	struct sched_class *c = &s->classes[class];
	const bool goal = s->opts.policy.kind == POLICY_GOAL;
	unsigned off, missed;
	if (!c->waits && c->works & ~c->worked) {
		c->waits = c->works & ~c->worked;
		c->waits_ns = now;
	}
	c->worked = c->works;
	const bool over = !(c->works & c->waits);
	if (!c->waits || !(over || jobs_are_off(s, class, c->waits, &off, &missed)))
		return;
	if (over || !goal || jobs_beside_until(s, class, c->waits) != NEVER)
		hist_add(&c->wait, sched_now(s) - c->waits_ns + (over ? 0 : s->replayed_cost_ns));
	c->waits = 0;
}

uint64_t jobs_step(struct sched *s, uint64_t now)
{
	jobs_derive(s);
	uint64_t next = refuse(s, now);
	next = lesser(next, slices_step(s, now));
	for (size_t i = 0; i < s->num_jobs; i++)
		if (s->jobs[i].used)
			next = lesser(next, step_job(s, &s->jobs[i], now));
	note_turns(s, now);
	for (size_t i = 0; i < s->num_jobs; i++)
		for (size_t k = 0; k < s->jobs[i].n; k++)
			next = lesser(next, decide(s, &s->jobs[i], &s->jobs[i].units[k], now));
	for (size_t i = 1; i < s->n; i++)
		ask_members(s, i);
	note_decisions(s);
	jobs_derive(s);
	settle_units(s);
	for (size_t i = 0; i < s->n; i++)
		note_wait(s, i, now);
	return next;
}

// ---- what is off

bool jobs_are_off(const struct sched *s, size_t class, uint64_t gpus, unsigned *off,
		  unsigned *missed)
{
	const bool goal = s->opts.policy.kind == POLICY_GOAL; // nobody waits for what runs beside
	*off = *missed = 0;
	for (size_t i = 0; i < s->num_jobs; i++) {
		const struct sched_job *j = &s->jobs[i];
		for (size_t k = 0; j->used && j->class > class && k < j->n; k++) {
			const struct sched_unit *u = &j->units[k];
			if (gpus & u->gpu & j->gpus && !j->refused_ns &&
			    !(goal && runs_beside(u)) && (!u->asked || j->busy & u->gpu))
				return false;
		}
	}
	for (size_t i = class + 1; i < s->n; i++)
		for (size_t k = 0; k < s->classes[i].group.n; k++) {
			const struct group_member *m = s->classes[i].group.v[k];
			if (m->state == MEMBER_ENDED) // its job may be forgotten
				continue;
			const struct sched_job *j = &s->jobs[m->job];
			const uint64_t where = m->gpus | (is_whole(j) ? j->gpus : 0);
			const bool is_off = group_is_off(m);
			if (!(gpus & where))
				continue;
			*off += is_off;
			*missed += !is_off && m->place != MEMBER_IDLE;
		}
	return true;
}

void jobs_fini(struct sched *s)
{
	for (size_t i = 0; i < s->num_jobs; i++)
		forget_job(s, &s->jobs[i]);
	free(s->jobs);
	free(s->latest); // of which forgetting made the last
}
