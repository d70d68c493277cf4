// --slice: jobs of a class that share a GPU run one after the other; sched.h.
#include "common/sched/sched.h"

#include "common/host/number.h"

#define NEVER UINT64_MAX

// Counts the time since the last turn, and ends slices. A job that comes is behind the others. One
// of which a process cannot be held runs all the time, and waits for nobody.
static void account(struct sched *s, struct sched_job *j, uint64_t now)
{
	const bool contends = j->gpus && !j->refused_ns;
	j->slice_ns += now - s->sliced_ns;
	if ((contends && !j->contends) ||
	    (j->has_slice && !j->fills && j->slice_ns >= s->opts.slice_ns))
		j->waits_ns = now;
	j->has_slice = j->has_slice && !j->fills && contends && j->slice_ns < s->opts.slice_ns;
	j->contends = contends;
}

// The contending job of the class that has waited longest, of those that `waits`; NULL: none.
static struct sched_job *longest_waiting(struct sched *s, size_t class)
{
	struct sched_job *next = NULL;
	for (size_t i = 0; i < s->num_jobs; i++) {
		struct sched_job *j = &s->jobs[i];
		if (j->used && j->class == class && j->waits &&
		    (!next || j->waits_ns < next->waits_ns))
			next = j;
	}
	return next;
}

// Chooses who runs: those in their slices, then by the time that they have waited. One that does
// not fit beside those has its GPUs kept for it, or a job on many GPUs would wait for ever; until
// it can have all of them, others run there.
static void choose(struct sched *s, size_t class)
{
	uint64_t kept = 0, run = 0;
	struct sched_job *next;
	for (size_t i = 0; i < s->num_jobs; i++) {
		struct sched_job *j = &s->jobs[i];
		if (!j->used || j->class != class)
			continue;
		j->has_slice = j->has_slice && !(j->gpus & run);
		j->waits = j->contends && !j->has_slice;
		run |= j->has_slice ? j->gpus : 0;
	}
	kept = run;
	while ((next = longest_waiting(s, class)) != NULL) {
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
	if (!s->opts.slice_ns)
		return NEVER;
	for (size_t i = 0; i < s->num_jobs; i++)
		if (s->jobs[i].used)
			account(s, &s->jobs[i], now);
	for (size_t class = 1; class < s->n; class ++)
		choose(s, class);
	for (size_t i = 0; i < s->num_jobs; i++) {
		const struct sched_job *j = &s->jobs[i];
		if (j->used && j->has_slice && !j->fills)
			next = lesser(next, now + s->opts.slice_ns - j->slice_ns);
	}
	s->sliced_ns = now;
	return next;
}
