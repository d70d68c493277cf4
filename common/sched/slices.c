// --slice: jobs of a class that share a GPU run one after the other; sched.h.
#include "common/sched/sched.h"

#include "common/host/number.h"

#define NEVER UINT64_MAX

// The least time between two changes of running jobs for deadlines: each suspends and resumes
// queues, and a client can begin and end requests 2,000 times a second.
#define DUE_NS 100000000ull

// What the jobs of a class want of a GPU.
struct demand {
	size_t jobs;
	double weights; // theirs, added up
	double least;   // the least that a tenant there has had; 0 without jobs
};

static unsigned first_gpu(uint64_t gpus)
{
	return (unsigned)__builtin_ctzll(gpus);
}

static bool same_tenant(const struct sched_job *a, const struct sched_job *b)
{
	return a->used && b->used && a->class == b->class && a->tenant_id == b->tenant_id;
}

// Adds to a slice, which is charged to the tenant: its jobs have one account for each GPU.
static void charge(struct sched *s, struct sched_job *j, uint64_t ns)
{
	for (size_t i = 0; i < s->num_jobs; i++)
		for (uint64_t gpus = j->wants; gpus && same_tenant(j, &s->jobs[i]);
		     gpus &= gpus - 1)
			s->jobs[i].had[first_gpu(gpus)] += (double)ns / j->weight;
	j->slice_ns += j->has_slice && j->shares ? ns : 0;
}

// Counts the time since the last turn, and ends slices. Returns true if there is a choice: a slice
// is over, or a job has come, has gone, or is on other GPUs. A job of which a process cannot be
// held runs all the time, and wants no slice.
static bool account(struct sched *s, struct sched_job *j, uint64_t now)
{
	const uint64_t wants = j->used && !j->refused_ns ? j->gpus : 0;
	const bool changed = wants != j->wants;
	if (j->runs)
		charge(s, j, now - s->sliced_ns);
	const bool over = j->has_slice && !j->fills && j->slice_ns >= s->opts.slice_ns;
	// Time in its own slice does not end its wait: a deadline may interrupt the slice.
	if (!j->wants || over || !j->shares || (j->runs && !j->has_slice))
		j->waits_ns = now;
	else if (j->runs)
		j->waits_ns += now - s->sliced_ns;
	j->comes_to = wants & ~j->wants;
	j->wants = wants;
	j->has_slice = j->has_slice && wants && !over;
	j->overdue &= j->has_slice && j->shares;
	return changed || over;
}

// A tenant that comes to a GPU has had as much there as the one that has had least.
static void open_accounts(struct sched *s, struct sched_job *j, const struct demand *demand)
{
	uint64_t comes_to = j->comes_to;
	for (size_t i = 0; i < s->num_jobs && comes_to; i++)
		if (same_tenant(j, &s->jobs[i]))
			comes_to &= ~(s->jobs[i].wants & ~s->jobs[i].comes_to);
	for (; comes_to; comes_to &= comes_to - 1) {
		const unsigned g = first_gpu(comes_to);
		for (size_t i = 0; i < s->num_jobs; i++)
			if (same_tenant(j, &s->jobs[i]) && s->jobs[i].had[g] < demand[g].least)
				s->jobs[i].had[g] = demand[g].least;
	}
}

static void add_demand(const struct sched_job *j, uint64_t gpus, struct demand *demand)
{
	for (; gpus; gpus &= gpus - 1) {
		struct demand *d = &demand[first_gpu(gpus)];
		const double had = j->had[first_gpu(gpus)];
		d->least = !d->jobs || had < d->least ? had : d->least;
		d->jobs++;
		d->weights += j->weight;
	}
}

static bool is_overdue(const struct sched_job *j, uint64_t now)
{
	return (double)(now - j->waits_ns) > j->patience_ns;
}

// How far the job's tenant is ahead of the one that has had least, on the GPU where it is ahead
// most; and whether the job has waited twice as long as the weights and its tenant's other jobs
// there explain: then it has waited for another of its GPUs.
static void compare(const struct sched *s, struct sched_job *j, const struct demand *demand,
		    uint64_t now)
{
	double patience = 0;
	j->ahead = 0;
	j->shares = false;
	for (uint64_t gpus = j->wants; gpus; gpus &= gpus - 1) {
		const unsigned g = first_gpu(gpus);
		const double ahead = j->had[g] - demand[g].least;
		double weights = 0;
		for (size_t i = 0; i < s->num_jobs; i++)
			if (same_tenant(j, &s->jobs[i]) && s->jobs[i].wants >> g & 1)
				weights += demand[g].weights;
		patience += 2 * weights / j->weight * (double)s->opts.slice_ns;
		j->ahead = ahead > j->ahead ? ahead : j->ahead;
		j->shares |= demand[g].jobs > 1;
	}
	j->patience_ns = patience;
	j->overdue |= is_overdue(j, now);
}

void slices_forget_due(struct sched *s)
{
	for (size_t i = 0; i < s->num_jobs; i++)
		s->jobs[i].due_ns = 0;
}

void slices_note_due(struct sched_job *j, uint64_t deadline_ns)
{
	j->due_ns = j->due_ns ? lesser(j->due_ns, deadline_ns) : deadline_ns;
}

// Who is next: an overdue job, one of the tenant that has had least, one that has waited longest.
static int by_claim(const void *a, const void *b)
{
	const struct sched_job *x = *(struct sched_job *const *)a;
	const struct sched_job *y = *(struct sched_job *const *)b;
	if (x->overdue != y->overdue)
		return y->overdue - x->overdue;
	if (!x->overdue && (x->ahead < y->ahead || x->ahead > y->ahead))
		return x->ahead < y->ahead ? -1 : 1;
	return (x->waits_ns > y->waits_ns) - (x->waits_ns < y->waits_ns);
}

// Chooses who runs: those in their slices, then by their claims. One that does not fit beside those
// has its GPUs kept for it, or a job on many GPUs would wait for ever; until it can have all of
// them, others run there.
static void choose(struct sched *s, size_t class, uint64_t now)
{
	struct demand before[64] = {0}, demand[64] = {0};
	struct sched_job **waiting = xcalloc(s->num_jobs + 1, sizeof(void *));
	uint64_t kept, run = 0;
	size_t n = 0;
	for (size_t i = 0; i < s->num_jobs; i++)
		if (s->jobs[i].class == class)
			add_demand(&s->jobs[i], s->jobs[i].wants & ~s->jobs[i].comes_to, before);
	for (size_t i = 0; i < s->num_jobs; i++)
		if (s->jobs[i].class == class && s->jobs[i].comes_to)
			open_accounts(s, &s->jobs[i], before);
	for (size_t i = 0; i < s->num_jobs; i++)
		if (s->jobs[i].class == class)
			add_demand(&s->jobs[i], s->jobs[i].wants, demand);
	for (size_t i = 0; i < s->num_jobs; i++) {
		struct sched_job *j = &s->jobs[i];
		if (j->class != class || !j->wants)
			continue;
		compare(s, j, demand, now);
		j->has_slice = j->has_slice && !j->fills && !(j->wants & run);
		run |= j->has_slice ? j->wants : 0;
		if (!j->has_slice)
			waiting[n++] = j;
	}
	qsort(waiting, n, sizeof(void *), by_claim);
	kept = run;
	for (size_t i = 0; i < n; i++) {
		struct sched_job *j = waiting[i];
		j->fills = j->wants & kept;
		j->has_slice = !(j->wants & run);
		j->slice_ns = 0;
		kept |= j->wants;
		run |= j->has_slice ? j->wants : 0;
	}
	free(waiting);
}

// Copies due_ns to urgent_ns for the jobs of a class, at most once in DUE_NS. Returns when a change
// that comes too early can be copied; NEVER: there is none.
static uint64_t take_due(struct sched *s, size_t class, uint64_t now)
{
	struct sched_class *c = &s->classes[class];
	bool other = false;
	for (size_t i = 0; i < s->num_jobs; i++)
		other |= s->jobs[i].class == class && s->jobs[i].due_ns != s->jobs[i].urgent_ns;
	if (!other)
		return NEVER;
	if (now - c->due_ns < DUE_NS)
		return c->due_ns + DUE_NS;
	c->due_ns = now;
	for (size_t i = 0; i < s->num_jobs; i++)
		if (s->jobs[i].class == class)
			s->jobs[i].urgent_ns = s->jobs[i].due_ns;
	return NEVER;
}

// The order in which jobs get GPUs: who has a slice because it was overdue, then jobs with
// deadlines, then who has a slice. The others may fill free GPUs, first those that run already.
static unsigned rank_of(const struct sched_job *j)
{
	return j->has_slice && j->overdue ? 0
	       : j->urgent_ns             ? 1
	       : j->has_slice             ? 2
	       : j->runs                  ? 3
					  : 4;
}

static int by_urgency(const void *a, const void *b)
{
	const struct sched_job *x = *(struct sched_job *const *)a;
	const struct sched_job *y = *(struct sched_job *const *)b;
	const unsigned rx = rank_of(x), ry = rank_of(y);
	if (rx != ry)
		return rx < ry ? -1 : 1;
	if (rx == 1 && x->urgent_ns != y->urgent_ns)
		return x->urgent_ns < y->urgent_ns ? -1 : 1;
	return (x > y) - (x < y);
}

// Gives the GPUs of a class to its jobs by rank. Returns when an interrupted job will be overdue.
static uint64_t run_by_rank(struct sched *s, size_t class, uint64_t now)
{
	struct sched_job **all = xcalloc(s->num_jobs + 1, sizeof(void *));
	uint64_t run = 0, next = NEVER;
	size_t n = 0;
	for (size_t i = 0; i < s->num_jobs; i++) {
		struct sched_job *j = &s->jobs[i];
		j->overdue |= j->class == class && j->has_slice && is_overdue(j, now);
		if (j->class == class && j->wants)
			all[n++] = j;
	}
	qsort(all, n, sizeof(void *), by_urgency);
	for (size_t i = 0; i < n; i++) {
		struct sched_job *j = all[i];
		j->runs = !(j->wants & run);
		run |= j->runs ? j->wants : 0;
		if (j->has_slice && !j->runs)
			next = lesser(next, j->waits_ns + (uint64_t)j->patience_ns + 1);
	}
	free(all);
	return next;
}

// Lets the jobs run that have slices. While a job has a deadline that counts, it runs before them,
// and they keep the rest of their slices.
static uint64_t let_run(struct sched *s, size_t class, uint64_t now)
{
	bool urgent = false;
	for (size_t i = 0; i < s->num_jobs; i++)
		urgent |= s->jobs[i].class == class && s->jobs[i].wants && s->jobs[i].urgent_ns;
	for (size_t i = 0; i < s->num_jobs; i++) {
		struct sched_job *j = &s->jobs[i];
		if (j->class == class && (!urgent || !j->wants))
			j->runs = j->has_slice;
	}
	return urgent ? run_by_rank(s, class, now) : NEVER;
}

uint64_t slices_step(struct sched *s, uint64_t now)
{
	uint64_t next = NEVER;
	size_t wanting = 0;
	bool changed = false;
	for (size_t i = 0; i < s->num_jobs; i++) {
		struct sched_job *j = &s->jobs[i];
		if (s->opts.slice_ns)
			changed |= account(s, j, now);
		else // with a new --slice it comes anew
			j->wants = j->has_slice = j->runs = j->overdue = false;
		wanting += j->wants != 0;
	}
	s->sliced_ns = now;
	if (!s->opts.slice_ns)
		return NEVER;
	changed |= wanting != s->wanting; // a job was forgotten
	s->wanting = wanting;
	for (size_t class = 1; class < s->n; class ++) {
		if (changed)
			choose(s, class, now);
		next = lesser(next, take_due(s, class, now));
		next = lesser(next, let_run(s, class, now));
	}
	for (size_t i = 0; i < s->num_jobs; i++) {
		const struct sched_job *j = &s->jobs[i];
		if (j->has_slice && j->runs && j->shares && !j->fills)
			next = lesser(next, now + s->opts.slice_ns -
						    lesser(j->slice_ns, s->opts.slice_ns));
	}
	return next;
}
