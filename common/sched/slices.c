// --slice: jobs of a class that share a GPU run one after the other; sched.h.
#include "common/sched/sched.h"

#include "common/host/number.h"

#define NEVER UINT64_MAX

// Are both jobs of the class, and do they want the same GPU? A job of which a process cannot be
// held runs all the time: it waits for nobody.
static bool contend(const struct sched_job *a, const struct sched_job *b)
{
	return a != b && a->used && b->used && a->class == b->class && a->contends && b->contends &&
	       a->gpus & b->gpus;
}

static bool same_tenant(const struct sched_job *a, const struct sched_job *b)
{
	return a == b || (a->used && b->used && a->class == b->class && *a->tenant &&
			  strcmp(a->tenant, b->tenant) == 0);
}

// Adds to a slice, which is charged to the tenant: its jobs have one account. GPUs that nobody else
// wants are free.
static void charge(struct sched *s, struct sched_job *j, uint64_t ns)
{
	for (size_t i = 0; i < s->num_jobs; i++)
		if (same_tenant(j, &s->jobs[i]))
			s->jobs[i].had += (double)ns / j->weight;
	j->slice_ns += ns;
}

// Counts the time since the last turn, and ends slices. Returns true if there is a choice: a slice
// is over, or a job has come, has gone, or is on other GPUs.
static bool account(struct sched *s, struct sched_job *j, uint64_t now)
{
	const bool contends = j->used && j->gpus && !j->refused_ns;
	if (j->has_slice && j->shares)
		charge(s, j, now - s->sliced_ns);
	const bool over = j->has_slice && j->shares && !j->fills && j->slice_ns >= s->opts.slice_ns;
	const bool left = j->contends && !contends;
	j->moved = contends && (!j->contends || j->gpus != j->sliced_gpus);
	if (over || (contends && !j->contends))
		j->waits_ns = now;
	j->contends = contends;
	j->sliced_gpus = j->gpus;
	j->has_slice = j->has_slice && contends && !over;
	return over || left || j->moved;
}

// Sets whether others want the job's GPUs, and how long it may wait for its next slice: twice as
// long as weights say, or one whose tenant has had much elsewhere would wait until others have had
// as much. Whoever comes, or comes to other GPUs, has had as much as its tenant's other jobs, or
// else as the one there that has had least.
static void compare(struct sched *s, struct sched_job *j)
{
	double least = -1, theirs = 0, others = 0;
	unsigned siblings = 0;
	j->shares = false;
	for (size_t i = 0; i < s->num_jobs; i++) {
		const struct sched_job *k = &s->jobs[i];
		const bool rivals = contend(j, k);
		j->shares |= rivals;
		others += rivals ? k->weight : 0;
		if (!same_tenant(j, k)) {
			if (rivals && !k->moved && (least < 0 || k->had < least))
				least = k->had;
		} else if (k != j && k->contends && (!k->moved || k < j)) {
			siblings++;
			theirs = k->had;
		}
	}
	if (j->moved && (siblings || least >= 0))
		j->had = siblings ? theirs : least;
	j->patience_ns = 2 * (siblings + 1) * (1 + others / j->weight) * (double)s->opts.slice_ns;
}

static bool is_overdue(const struct sched_job *j, uint64_t now)
{
	return (double)(now - j->waits_ns) > j->patience_ns;
}

// Is `a` to have the next slice, and not `b`? An overdue one, then one of the tenant that has had
// least, then the one that has waited longest.
static bool comes_before(const struct sched_job *a, const struct sched_job *b, uint64_t now)
{
	if (is_overdue(a, now) || is_overdue(b, now) || (a->had <= b->had && b->had <= a->had))
		return is_overdue(a, now) == is_overdue(b, now) ? a->waits_ns < b->waits_ns
								: is_overdue(a, now);
	return a->had < b->had;
}

static struct sched_job *next_waiting(struct sched *s, size_t class, uint64_t now)
{
	struct sched_job *next = NULL;
	for (size_t i = 0; i < s->num_jobs; i++) {
		struct sched_job *j = &s->jobs[i];
		if (j->waits && j->class == class && (!next || comes_before(j, next, now)))
			next = j;
	}
	return next;
}

// Chooses who runs: those in their slices, then who is next. One that does not fit beside those has
// its GPUs kept for it, or a job on many GPUs would wait for ever; until it can have all of them,
// others run there.
static void choose(struct sched *s, size_t class, uint64_t now)
{
	uint64_t kept = 0, run = 0;
	struct sched_job *next;
	for (size_t i = 0; i < s->num_jobs; i++) {
		struct sched_job *j = &s->jobs[i];
		if (!j->used || j->class != class)
			continue;
		compare(s, j);
		j->has_slice = j->has_slice && !j->fills && !(j->gpus & run);
		j->waits = j->contends && !j->has_slice;
		run |= j->has_slice ? j->gpus : 0;
	}
	kept = run;
	while ((next = next_waiting(s, class, now)) != NULL) {
		next->waits = false;
		next->fills = next->gpus & kept;
		next->has_slice = !(next->gpus & run);
		next->slice_ns = 0;
		kept |= next->gpus;
		run |= next->has_slice ? next->gpus : 0;
	}
}

uint64_t slices_step(struct sched *s, uint64_t now)
{
	uint64_t next = NEVER;
	size_t contending = 0;
	bool changed = false;
	for (size_t i = 0; i < s->num_jobs && s->opts.slice_ns; i++) {
		changed |= account(s, &s->jobs[i], now);
		contending += s->jobs[i].contends;
	}
	s->sliced_ns = now;
	if (!s->opts.slice_ns)
		return NEVER;
	changed |= contending != s->contending; // one was forgotten
	s->contending = contending;
	for (size_t class = 1; changed && class < s->n; class ++)
		choose(s, class, now);
	for (size_t i = 0; i < s->num_jobs; i++) {
		const struct sched_job *j = &s->jobs[i];
		if (j->has_slice && j->shares && !j->fills)
			next = lesser(next, now + s->opts.slice_ns -
						    lesser(j->slice_ns, s->opts.slice_ns));
	}
	return next;
}
