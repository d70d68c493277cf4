// gpq trace --ftrace: which process and queue of the log is which of the kernel's.
//
// Facts: [kfd.pids]: the kernel's trace has numbers of the first PID namespace; [amdlog.thread]:
// the log's pid is the process's own, its tid is pthread_self() and no number of the kernel's. The
// ring that a queue of the log names is the one that CREATE_QUEUE got (ring_base_address).
#include "cmd/trace/ftrace.h"

#include "common/host/xalloc.h"

#include <stdlib.h>
#include <string.h>

size_t ftrace_string(struct buf *b, struct ftrace_text text)
{
	size_t at = b->len;
	buf_append(b, text.at, text.len);
	buf_append(b, "", 1);
	return at;
}

bool ftrace_is(const struct ftrace_record *r, const char *function)
{
	size_t len = strlen(function);
	return r->name.len >= len && memcmp(r->name.at, function, len) == 0 &&
	       (r->name.len == len || r->name.at[len] == '.');
}

struct at {
	int64_t tid;
	size_t record;
};

static int by_thread(const void *a, const void *b)
{
	const struct at *x = a, *y = b;
	return x->tid != y->tid ? ORDER(x->tid, y->tid) : ORDER(x->record, y->record);
}

size_t *ftrace_by_thread(const struct kernel_side *k, size_t *n)
{
	struct at *v = xcalloc(k->f.n + 1, sizeof(*v));
	size_t *order = xcalloc(k->f.n + 1, sizeof(*order));
	*n = 0;
	for (size_t i = 0; i < k->f.n; i++) {
		if (k->f.v[i].tid >= 0)
			v[(*n)++] = (struct at){k->f.v[i].tid, i};
	}
	qsort(v, *n, sizeof(*v), by_thread);
	for (size_t i = 0; i < *n; i++)
		order[i] = v[i].record;
	free(v);
	return order;
}

// A thread by itself where its process is not known.
static uint32_t process_or_thread(struct kernel_side *k, int64_t tgid, int64_t tid)
{
	bool known = tgid >= 0;
	uint64_t number = (uint64_t)(known ? tgid : tid);
	uint32_t i = pair_value(&k->keys, known, number);
	if (i == INTERN_NONE) {
		i = (uint32_t)k->nprocesses;
		*ARRAY_ADD(k->processes, k->process_cap, k->nprocesses) = (struct kernel_process){
			.tgid = tgid, .tid = known ? -1 : tid, .log = AMDLOG_NONE, .comm = {"", 0}};
		pair_set(&k->keys, known, number, i);
	}
	return i;
}

uint32_t ftrace_process(struct kernel_side *k, int64_t pid)
{
	return process_or_thread(k, pid, -1);
}

static void add_queue(struct kernel_side *k, const struct ftrace_record *r, uint32_t process)
{
	struct kernel_queue q = {.created_ns = r->time_ns, .process = process};
	int64_t ring, result;
	if (r->kind != FTRACE_RETURN || !ftrace_arg(r, "ring", &ring) ||
	    !ftrace_arg(r, "gpu", &q.gpu) || !ftrace_arg(r, "queue", &q.qid) ||
	    !ftrace_arg(r, "ret", &result) || result)
		return;
	q.ring = (uint64_t)ring;
	*ARRAY_ADD(k->queues, k->queue_cap, k->nqueues) = q;
}

static int by_ring(const void *a, const void *b)
{
	const struct kernel_queue *x = a, *y = b;
	return x->ring != y->ring ? ORDER(x->ring, y->ring) : ORDER(x->created_ns, y->created_ns);
}

void ftrace_find(struct kernel_side *k)
{
	k->process_of = xcalloc(k->f.n ? k->f.n : 1, sizeof(*k->process_of));
	for (size_t i = 0; i < k->f.n; i++) {
		const struct ftrace_record *r = &k->f.v[i];
		struct kernel_process *p;
		k->process_of[i] = AMDLOG_NONE;
		if (r->tid < 0)
			continue;
		k->process_of[i] = process_or_thread(k, r->tgid, r->tid);
		p = &k->processes[k->process_of[i]];
		p->records++;
		// Threads may have names of their own: the first thread's is the process's.
		if (r->comm.len && (!p->comm.len || r->tid == r->tgid))
			p->comm = r->comm;
		add_queue(k, r, k->process_of[i]);
	}
	for (size_t i = 0; i < k->f.ntasks; i++) {
		const struct ftrace_task *task = &k->f.tasks[i];
		uint32_t p = pair_value(&k->keys, true, (uint64_t)task->tgid);
		if (p != INTERN_NONE)
			k->processes[p].ns_pid = task->ns_pid;
	}
	if (k->nqueues)
		qsort(k->queues, k->nqueues, sizeof(*k->queues), by_ring);
}

// The first of those with this ring.
static const struct kernel_queue *first_of_ring(const struct kernel_side *k, uint64_t ring)
{
	size_t from = 0, to = k->nqueues;
	while (from < to) {
		size_t mid = from + (to - from) / 2;
		if (k->queues[mid].ring < ring)
			from = mid + 1;
		else
			to = mid;
	}
	return from < k->nqueues && k->queues[from].ring == ring ? &k->queues[from] : NULL;
}

#define CONFLICT  (AMDLOG_NONE - 1)
#define RING_MOST 256 // queues of one ring, one after the other, that are looked at

// Processes that created a queue at this ring: one, none, or CONFLICT.
static uint32_t creator(const struct kernel_side *k, uint64_t ring)
{
	const struct kernel_queue *q = first_of_ring(k, ring), *end = k->queues + k->nqueues;
	uint32_t process = AMDLOG_NONE;
	end = q && end - q > RING_MOST ? q + RING_MOST : end;
	for (; q && q < end && q->ring == ring; q++) {
		if (process != AMDLOG_NONE && process != q->process)
			return CONFLICT;
		process = q->process;
	}
	return process;
}

// Both are free, or the match is not made.
static void match(struct kernel_side *k, uint32_t process, uint32_t log, const char *by)
{
	struct kernel_process *p = &k->processes[process];
	if (p->log != AMDLOG_NONE || k->of_log[log] != AMDLOG_NONE)
		return;
	k->of_log[log] = process;
	p->log = log;
	p->matched = by;
}

static void match_by_queue(struct kernel_side *k)
{
	const struct amdlog_summary *s = &k->t->sum;
	uint32_t *found = xmalloc((s->nprocesses + 1) * sizeof(*found));
	memset(found, 0xff, (s->nprocesses + 1) * sizeof(*found));
	for (uint32_t i = 0; i < s->nqueues; i++) {
		const struct amdlog_queue *q = &s->queues[i];
		uint32_t process = q->hwq != AMDLOG_UNKNOWN ? creator(k, q->hwq) : AMDLOG_NONE;
		if (process == AMDLOG_NONE || process == CONFLICT)
			continue;
		if (found[q->process] != AMDLOG_NONE && found[q->process] != process)
			process = CONFLICT;
		found[q->process] = process;
	}
	for (uint32_t i = 0; i < s->nprocesses; i++) {
		if (found[i] < CONFLICT)
			match(k, found[i], i, "queue");
	}
	free(found);
}

// By the number in the process's own namespace, which gpq wrote down as it recorded. It is no match
// where several have it.
static void match_by_namespace(struct kernel_side *k)
{
	const struct amdlog_summary *s = &k->t->sum;
	struct intern numbers = {0};
	for (uint32_t j = 0; j < k->nprocesses; j++) {
		uint64_t number = (uint64_t)k->processes[j].ns_pid;
		if (number)
			pair_set(&numbers, 0, number,
				 pair_value(&numbers, 0, number) == INTERN_NONE ? j : CONFLICT);
	}
	for (uint32_t i = 0; numbers.n && i < s->nprocesses; i++) {
		uint32_t found = pair_value(&numbers, 0, (uint64_t)s->processes[i].pid);
		if (found < CONFLICT)
			match(k, found, i, "namespace");
	}
	intern_fini(&numbers);
}

uint32_t ftrace_numbered(const struct kernel_side *k, int64_t pid)
{
	uint32_t process = pair_value(&k->keys, true, (uint64_t)pid);
	return process != INTERN_NONE ? process : pair_value(&k->keys, false, (uint64_t)pid);
}

// Right unless one of them is in a PID namespace of its own, which nothing tells.
static void match_by_number(struct kernel_side *k)
{
	const struct amdlog_summary *s = &k->t->sum;
	for (uint32_t i = 0; i < s->nprocesses; i++) {
		uint32_t found = ftrace_numbered(k, s->processes[i].pid);
		if (found != AMDLOG_NONE && !k->processes[found].ns_pid)
			match(k, found, i, "number");
	}
}

// The queue's place; AMDLOG_NONE where its process created different ones at this ring.
static uint32_t match_queue(const struct kernel_side *k, const struct amdlog_queue *q)
{
	const struct kernel_queue *at = first_of_ring(k, q->hwq), *found = NULL, *end;
	if (!at || q->hwq == AMDLOG_UNKNOWN)
		return AMDLOG_NONE;
	end = k->queues + k->nqueues - at > RING_MOST ? at + RING_MOST : k->queues + k->nqueues;
	for (; at < end && at->ring == q->hwq; at++) {
		if (k->processes[at->process].log != q->process)
			continue;
		if (found && (found->qid != at->qid || found->gpu != at->gpu))
			return AMDLOG_NONE;
		found = at;
	}
	return found ? (uint32_t)(found - k->queues) : AMDLOG_NONE;
}

void ftrace_match(struct kernel_side *k)
{
	const struct amdlog_summary *s = &k->t->sum;
	k->of_log = xmalloc((s->nprocesses + 1) * sizeof(*k->of_log));
	memset(k->of_log, 0xff, (s->nprocesses + 1) * sizeof(*k->of_log));
	match_by_queue(k);
	match_by_namespace(k);
	match_by_number(k);
	k->of_queue = xmalloc((s->nqueues + 1) * sizeof(*k->of_queue));
	for (uint32_t i = 0; i < s->nqueues; i++)
		k->of_queue[i] = match_queue(k, &s->queues[i]);
}

const struct kernel_process *ftrace_process_of(const struct kernel_side *k, uint32_t log)
{
	return k->of_log[log] == AMDLOG_NONE ? NULL : &k->processes[k->of_log[log]];
}

const struct kernel_queue *ftrace_queue_of(const struct kernel_side *k, uint32_t queue)
{
	return k->of_queue[queue] == AMDLOG_NONE ? NULL : &k->queues[k->of_queue[queue]];
}

int64_t ftrace_log_pid(const struct kernel_side *k, const struct kernel_process *p)
{
	return p->log != AMDLOG_NONE ? k->t->sum.processes[p->log].pid
	       : p->tgid >= 0        ? p->tgid
				     : p->tid;
}

static bool process_wanted(const struct kernel_side *k, uint32_t process)
{
	if (!k->opts->pick.pids.n)
		return true;
	return process != AMDLOG_NONE &&
	       pids_has(&k->opts->pick.pids, (pid_t)ftrace_log_pid(k, &k->processes[process]));
}

bool ftrace_wanted_at(const struct kernel_side *k, uint64_t ns, uint32_t process)
{
	const struct amdlog_filter *f = &k->t->sum.filter;
	uint64_t us = ns == FTRACE_UNKNOWN ? FTRACE_UNKNOWN : ns / 1000;
	if (us == FTRACE_UNKNOWN && (k->opts->since || k->opts->until))
		return false;
	return (!k->opts->since || us >= f->since_us) && (!k->opts->until || us <= f->until_us) &&
	       process_wanted(k, process);
}

bool ftrace_wanted(const struct kernel_side *k, size_t record)
{
	return ftrace_wanted_at(k, k->f.v[record].time_ns, k->process_of[record]);
}
