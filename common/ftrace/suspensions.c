// Suspensions of queues in a kernel trace: the steps of each call, and holds: who kept whose queues
// off the hardware, from when to when; see ftrace.h.
//
// Facts: kfd_chardev.c, kfd_debug.c, kfd_device_queue_manager.c and kfd_process.c of 6.12 and 7.3.
// kfd_ioctl_set_debug_trap names the target by its pid and calls suspend_queues (op 6) or
// resume_queues (op 7), which return the number of queues suspended or resumed.
//
// suspend_queues does this for each GPU: it unmaps all queues of the runlist (unmap_queues_cpsch
// sends the packet, then amdkfd_fence_wait_timeout waits until the hardware has saved the waves),
// maps the others again (map_queues_cpsch), and waits until the headers of the saved waves are
// copied. The steps of several GPUs are added up. With MES, remove_queue_mes removes one queue and
// itself waits for the waves.
//
// One process at a time can debug a target. When its session ends, by the ioctl (op 1), with the
// debugger or with the target, resume_queues resumes all queues that are left (count 0).
#include "common/ftrace/ftrace_priv.h"

#define TRAP_DISABLE 1 // KFD_IOC_DBG_TRAP_DISABLE

// --- calls of suspend_queues and resume_queues ---

// A call of suspend_queues or resume_queues whose entry and return are both in the trace.
struct queue_call {
	const struct ftrace_record *ioctl;     // entry of the ioctl that made the call; NULL: none
	const struct ftrace_record *ioctl_end; // its return, if this is its last call; else NULL
	const struct ftrace_record *begin, *end; // entry and return of the call
	uint64_t unmap_ns, wait_ns, map_ns;      // length of these parts of the call
	bool suspends;                           // suspend_queues, not resume_queues
};

struct queue_calls {
	struct queue_call *v;
	size_t n, cap;
};

// Takes the next record of a thread. `open`: the ioctl and the call that the thread is in. Entries
// and returns without the other are ignored, so that lost events leave nothing open.
static void take_call_record(struct queue_calls *all, struct queue_call *open,
			     const struct ftrace_record *r)
{
	const bool ioctl = ftrace_is(r, "kfd_ioctl_set_debug_trap");
	const bool suspends = ftrace_is(r, "suspend_queues");
	const bool call = suspends || ftrace_is(r, "resume_queues");
	if (r->kind == FTRACE_ENTRY && r->joined) {
		if (ioctl)
			*open = (struct queue_call){.ioctl = r};
		else if (call)
			*open = (struct queue_call){
				.ioctl = open->ioctl, .begin = r, .suspends = suspends};
	} else if (r->inside_ns == FTRACE_UNKNOWN) { // no return of an entry
		return;
	} else if (ioctl) {
		if (all->n && open->ioctl && all->v[all->n - 1].ioctl == open->ioctl)
			all->v[all->n - 1].ioctl_end = r;
		*open = (struct queue_call){0};
	} else if (open->begin) {
		if (ftrace_is(r, "unmap_queues_cpsch") || ftrace_is(r, "remove_queue_mes"))
			open->unmap_ns += r->inside_ns;
		else if (ftrace_is(r, "amdkfd_fence_wait_timeout"))
			open->wait_ns += r->inside_ns;
		else if (ftrace_is(r, "map_queues_cpsch"))
			open->map_ns += r->inside_ns;
		else if (call) {
			open->end = r;
			*ARRAY_ADD(all->v, all->cap, all->n) = *open;
			open->begin = NULL;
		}
	}
}

// Sorts calls by their returns, in the order of the records.
COMPARE_BY(by_return, struct queue_call, end)

static struct queue_calls find_calls(const struct ftrace *f)
{
	struct queue_calls all = {0};
	struct queue_call open = {0};
	int64_t tid = -1;
	for (size_t i = 0; i < f->nby_thread; i++) {
		const struct ftrace_record *r = &f->v[f->by_thread[i]];
		if (r->tid != tid)
			open = (struct queue_call){0};
		tid = r->tid;
		take_call_record(&all, &open, r);
	}
	ARRAY_SORT(all.v, all.n, by_return);
	return all;
}

// Returns an argument of the ioctl; FTRACE_NO_ARG also if the ioctl is not traced.
static int64_t ioctl_arg(const struct queue_call *c, const char *key)
{
	return c->ioctl ? ftrace_arg(c->ioctl, key) : FTRACE_NO_ARG;
}

// --- suspensions in steps ---

static uint64_t above(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

static struct ftrace_suspension suspension_of(const struct queue_call *c)
{
	const struct ftrace_record *begin = c->ioctl ? c->ioctl : c->begin, *last = c->ioctl_end;
	return (struct ftrace_suspension){
		.begin_ns = begin->time_ns,
		.end_ns = last ? last->time_ns : c->end->time_ns,
		.ns = {[STEP_ENTER] =
			       c->ioctl ? c->begin->time_ns - c->ioctl->time_ns : FTRACE_UNKNOWN,
		       [STEP_UNMAP] = above(c->unmap_ns, c->wait_ns),
		       [STEP_SAVE] = c->wait_ns,
		       [STEP_MAP] = c->map_ns,
		       [STEP_REST] = above(c->end->inside_ns, c->unmap_ns + c->map_ns),
		       [STEP_LEAVE] = last ? last->time_ns - c->end->time_ns : FTRACE_UNKNOWN,
		       [STEP_TOTAL] = last ? last->inside_ns : FTRACE_UNKNOWN},
		.target = ioctl_arg(c, "pid"),
		.queue = ftrace_arg(c->begin, "queue"),
		.count = ftrace_arg(c->begin, "count"),
		.result = ftrace_arg(c->end, "ret"),
		.process = c->end->process,
	};
}

COMPARE_BY_BOTH(by_begin, struct ftrace_suspension, begin_ns, end_ns)

struct ftrace_suspensions ftrace_suspensions(const struct ftrace *f)
{
	struct ftrace_suspensions all = {0};
	struct queue_calls calls = find_calls(f);
	for (size_t i = 0; i < calls.n; i++) {
		if (calls.v[i].suspends)
			*ARRAY_ADD(all.v, all.cap, all.n) = suspension_of(&calls.v[i]);
	}
	ARRAY_SORT(all.v, all.n, by_begin);
	free(calls.v);
	return all;
}

// --- holds of targets ---

// Keys of the table `open`: the open hold of a target, or the latest hold of a holder. Values are
// the hold's index + 1; 0 or INTERN_NONE: no hold.
enum open_key { OF_TARGET, OF_HOLDER };

static uint32_t open_number(const struct intern *open, enum open_key key, uint32_t process)
{
	uint32_t number = pair_value(open, key, process);
	return number == INTERN_NONE ? 0 : number;
}

static struct ftrace_hold *open_hold(struct ftrace *f, const struct intern *open, uint32_t target)
{
	uint32_t number = open_number(open, OF_TARGET, target);
	return number ? &f->holds[number - 1] : NULL;
}

static void mark_hold(struct ftrace *f, const struct queue_call *c, const struct ftrace_hold *h,
		      bool end)
{
	*ARRAY_ADD(f->marks, f->mark_cap, f->nmarks) = (struct ftrace_mark){
		(size_t)(c->end - f->v), (uint32_t)(h - f->holds), end, h->queues};
}

static void end_hold(struct ftrace *f, struct intern *open, struct ftrace_hold *h,
		     const struct queue_call *c, const char *how)
{
	h->end_ns = c->end->time_ns;
	h->ended = how;
	pair_set(open, OF_TARGET, h->target, 0);
	mark_hold(f, c, h, true);
}

static void take_suspend(struct ftrace *f, struct intern *open, const struct queue_call *c,
			 int64_t pid, int64_t queues)
{
	const struct ftrace_record *r = c->end;
	if (pid < 0)
		return;
	uint32_t target = ftrace_add_process(f, pid, -1);
	struct ftrace_hold *h = open_hold(f, open, target);
	if (h && h->holder == r->process && h->epoch == r->epoch) {
		h->queues += queues;
		h->most = h->queues > h->most ? h->queues : h->most;
		return;
	}
	h = ARRAY_ADD(f->holds, f->hold_cap, f->nholds);
	*h = (struct ftrace_hold){.target = target,
				  .holder = r->process,
				  .queues = queues,
				  .most = queues,
				  .begin_ns = r->time_ns,
				  .epoch = r->epoch,
				  .before_hold = open_number(open, OF_HOLDER, r->process)};
	pair_set(open, OF_TARGET, target, (uint32_t)f->nholds);
	pair_set(open, OF_HOLDER, r->process, (uint32_t)f->nholds);
	mark_hold(f, c, h, false);
}

// Ends the hold of a target that exits, or all holds of a holder that exits.
static void take_exit(struct ftrace *f, struct intern *open, const struct queue_call *c)
{
	uint32_t process = c->end->process;
	struct ftrace_hold *h = open_hold(f, open, process);
	if (h) {
		end_hold(f, open, h, c, "exit");
		return;
	}
	for (uint32_t at = f->holds ? open_number(open, OF_HOLDER, process) : 0; at;
	     at = h->before_hold) {
		h = &f->holds[at - 1];
		if (open_hold(f, open, h->target) == h)
			end_hold(f, open, h, c, "exit");
	}
	pair_set(open, OF_HOLDER, process, 0);
}

static void take_resume(struct ftrace *f, struct intern *open, const struct queue_call *c,
			int64_t pid, int64_t queues)
{
	if (pid < 0) { // not in the ioctl: the process exits
		take_exit(f, open, c);
		return;
	}
	struct ftrace_hold *h = open_hold(f, open, ftrace_add_process(f, pid, -1));
	if (!h || h->epoch != c->end->epoch)
		return;
	if (ftrace_arg(c->begin, "count") && queues < h->queues)
		h->queues -= queues;
	else
		end_hold(f, open, h, c, ioctl_arg(c, "op") == TRAP_DISABLE ? "detach" : "resume");
}

void ftrace_find_holds(struct ftrace *f)
{
	struct queue_calls calls = find_calls(f);
	SCOPED(intern_fini) struct intern open = {0};
	for (size_t i = 0; i < calls.n; i++) {
		const struct queue_call *c = &calls.v[i];
		int64_t pid = ioctl_arg(c, "pid"), queues = ftrace_arg(c->end, "ret");
		if (queues > 0 && ftrace_arg(c->begin, "count") != FTRACE_NO_ARG)
			(c->suspends ? take_suspend : take_resume)(f, &open, c, pid, queues);
	}
	free(calls.v);
}
