// Finds the processes and queues of a kernel trace, and the same ones in a log; see ftrace.h.
//
// Facts: [kfd.pids]: the kernel's trace has pids of the first PID namespace; [amdlog.thread]: the
// log has the pid of the process's own namespace, and its tid is pthread_self(), which the kernel
// does not know. The ring (HWq) of a queue in the log is the ring_base_address of CREATE_QUEUE.
#include "common/ftrace/ftrace_priv.h"

#include "common/amdlog/model/summary.h"

int64_t ftrace_pid(const struct ftrace_process *p)
{
	return p->tgid >= 0 ? p->tgid : p->tid;
}

uint32_t ftrace_add_process(struct ftrace *f, int64_t tgid, int64_t tid)
{
	bool known = tgid >= 0;
	uint64_t number = (uint64_t)(known ? tgid : tid);
	uint32_t i = pair_value(&f->numbers, known, number);
	if (i == INTERN_NONE) {
		i = (uint32_t)f->nprocesses;
		*ARRAY_ADD(f->processes, f->process_cap, f->nprocesses) = (struct ftrace_process){
			.tgid = tgid, .tid = known ? -1 : tid, .log = FTRACE_NONE, .comm = {"", 0}};
		pair_set(&f->numbers, known, number, i);
	}
	return i;
}

uint32_t ftrace_numbered(const struct ftrace *f, int64_t pid)
{
	uint32_t process = pair_value(&f->numbers, true, (uint64_t)pid);
	return process != INTERN_NONE ? process : pair_value(&f->numbers, false, (uint64_t)pid);
}

static void add_queue(struct ftrace *f, const struct ftrace_record *r)
{
	const int64_t ring = r->kind == FTRACE_RETURN && ftrace_arg(r, "ret") == 0
				     ? ftrace_call_arg(r, "ring")
				     : FTRACE_NO_ARG;
	const int64_t gpu = ring == FTRACE_NO_ARG ? ring : ftrace_call_arg(r, "gpu");
	if (gpu != FTRACE_NO_ARG && !ftrace_is(r, "kfd_ioctl_update_queue"))
		*ARRAY_ADD(f->queues, f->queue_cap, f->nqueues) = (struct ftrace_queue){
			(uint64_t)ring, r->time_ns, gpu, ftrace_qid(r), r->process};
}

COMPARE_BY_BOTH(by_ring, struct ftrace_queue, ring, created_ns)
COMPARE_BY(by_ring_alone, struct ftrace_queue, ring)

void ftrace_find_processes(struct ftrace *f)
{
	for (size_t i = 0; i < f->n; i++) {
		struct ftrace_record *r = &f->v[i];
		if (r->tid < 0)
			continue;
		r->process = ftrace_add_process(f, r->tgid, r->tid);
		struct ftrace_process *p = &f->processes[r->process];
		p->records++;
		// The process has the name of its first thread; other threads may have others.
		if (r->comm.len && (!p->comm.len || r->tid == r->tgid))
			p->comm = r->comm;
		add_queue(f, r);
	}
	for (size_t i = 0; i < f->ntasks; i++) {
		uint32_t p = pair_value(&f->numbers, true, (uint64_t)f->tasks[i].tgid);
		if (p != INTERN_NONE)
			f->processes[p].ns_pid = f->tasks[i].ns_pid;
	}
	ARRAY_SORT(f->queues, f->nqueues, by_ring);
}

// --- processes and queues of a log ---

#define CONFLICT  (FTRACE_NONE - 1) // more than one process matches
#define RING_MOST 256               // limit of queues made one after the other at one ring address

// Returns the first of *n queues, at most RING_MOST, that had this ring address.
static const struct ftrace_queue *queues_of_ring(const struct ftrace *f, uint64_t ring, size_t *n)
{
	const struct ftrace_queue key = {.ring = ring};
	size_t from = ARRAY_BELOW(f->queues, f->nqueues, &key, by_ring_alone);
	*n = 0;
	while (from + *n < f->nqueues && *n < RING_MOST && f->queues[from + *n].ring == ring)
		++*n;
	return f->queues + from;
}

// Returns the process that created all queues at this ring address; FTRACE_NONE: none; CONFLICT:
// several.
static uint32_t creator(const struct ftrace *f, uint64_t ring)
{
	size_t n;
	const struct ftrace_queue *q = queues_of_ring(f, ring, &n);
	uint32_t process = n ? q->process : FTRACE_NONE;
	for (size_t i = 0; i < n; i++) {
		if (q[i].process != process)
			return CONFLICT;
	}
	return process;
}

void ftrace_match_process(struct ftrace *f, uint32_t process, uint32_t log, const char *by)
{
	struct ftrace_process *p = &f->processes[process];
	if (p->log != FTRACE_NONE || f->of_log[log] != FTRACE_NONE)
		return;
	f->of_log[log] = process;
	p->log = log;
	p->matched = by;
}

// An array of `n` numbers that are FTRACE_NONE.
static uint32_t *no_numbers(uint32_t n)
{
	uint32_t *v = xmalloc((n + 1) * sizeof(*v));
	memset(v, 0xff, (n + 1) * sizeof(*v));
	return v;
}

static void match_by_queue(struct ftrace *f, const struct amdlog_summary *s)
{
	SCOPED(free_at) uint32_t *found = no_numbers(s->nprocesses);
	for (uint32_t i = 0; i < s->nqueues; i++) {
		const struct amdlog_queue *q = &s->queues[i];
		uint32_t process = q->hwq != AMDLOG_UNKNOWN ? creator(f, q->hwq) : FTRACE_NONE;
		if (process == FTRACE_NONE || process == CONFLICT)
			continue;
		if (found[q->process] != FTRACE_NONE && found[q->process] != process)
			process = CONFLICT;
		found[q->process] = process;
	}
	for (uint32_t i = 0; i < s->nprocesses; i++) {
		if (found[i] < CONFLICT)
			ftrace_match_process(f, found[i], i, "queue");
	}
}

// Matches the log's pid with the pid in the process's own PID namespace, which gpq recorded. If
// several processes have that pid, none matches.
static void match_by_namespace(struct ftrace *f, const struct amdlog_summary *s)
{
	SCOPED(intern_fini) struct intern numbers = {0};
	for (uint32_t j = 0; j < f->nprocesses; j++) {
		uint64_t number = (uint64_t)f->processes[j].ns_pid;
		if (number)
			pair_set(&numbers, 0, number,
				 pair_value(&numbers, 0, number) == INTERN_NONE ? j : CONFLICT);
	}
	for (uint32_t i = 0; numbers.n && i < s->nprocesses; i++) {
		uint32_t found = pair_value(&numbers, 0, (uint64_t)s->processes[i].pid);
		if (found < CONFLICT)
			ftrace_match_process(f, found, i, "namespace");
	}
}

// Threads of the Linux kernel, in which the driver works. A log from a container often has the pid
// of one.
static bool is_kernel_thread(const struct ftrace_process *p)
{
	static const char *const names[] = {"kworker/", "kswapd", "ksoftirqd/", "irq/"};
	size_t i = 0;
	while (i < COUNT(names) && (p->comm.len < strlen(names[i]) ||
				    strncmp(p->comm.at, names[i], strlen(names[i])) != 0))
		i++;
	return i < COUNT(names);
}

// Matches equal pids, where the trace has no pid in the process's own namespace. Wrong if the
// process was in a container and gpq did not record the trace.
static void match_by_number(struct ftrace *f, const struct amdlog_summary *s)
{
	for (uint32_t i = 0; i < s->nprocesses; i++) {
		uint32_t found = ftrace_numbered(f, s->processes[i].pid);
		if (found != FTRACE_NONE && !f->processes[found].ns_pid &&
		    !is_kernel_thread(&f->processes[found]))
			ftrace_match_process(f, found, i, "number");
	}
}

// Returns the trace's queue that is `q` of the log; FTRACE_NONE: none, or the process created
// several at this ring address.
static uint32_t match_queue(const struct ftrace *f, const struct amdlog_queue *q)
{
	size_t n;
	const struct ftrace_queue *at = queues_of_ring(f, q->hwq, &n), *found = NULL;
	for (size_t i = 0; q->hwq != AMDLOG_UNKNOWN && i < n; i++) {
		if (f->processes[at[i].process].log != q->process)
			continue;
		if (found && (found->qid != at[i].qid || found->gpu != at[i].gpu))
			return FTRACE_NONE;
		found = &at[i];
	}
	return found ? (uint32_t)(found - f->queues) : FTRACE_NONE;
}

bool ftrace_give(struct ftrace *f, const struct amdlog_summary *s, int64_t log_pid, int64_t pid)
{
	const uint32_t process = ftrace_numbered(f, pid);
	uint32_t log = 0;
	if (!f->of_log)
		f->of_log = no_numbers(s->nprocesses);
	while (log < s->nprocesses && s->processes[log].pid != log_pid)
		log++;
	if (process == FTRACE_NONE || log == s->nprocesses)
		return false;
	ftrace_match_process(f, process, log, "given");
	return f->of_log[log] == process;
}

void ftrace_match(struct ftrace *f, const struct amdlog_summary *s)
{
	if (!f->of_log)
		f->of_log = no_numbers(s->nprocesses);
	match_by_queue(f, s);
	match_by_namespace(f, s);
	match_by_number(f, s);
	f->of_queue = no_numbers(s->nqueues);
	for (uint32_t i = 0; i < s->nqueues; i++)
		f->of_queue[i] = match_queue(f, &s->queues[i]);
}

const struct ftrace_process *ftrace_of_log(const struct ftrace *f, uint32_t log)
{
	return f->of_log[log] == FTRACE_NONE ? NULL : &f->processes[f->of_log[log]];
}

const struct ftrace_queue *ftrace_queue_of(const struct ftrace *f, uint32_t queue)
{
	return f->of_queue[queue] == FTRACE_NONE ? NULL : &f->queues[f->of_queue[queue]];
}
