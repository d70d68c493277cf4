// gpq trace --ftrace, --live: who kept whose queues off the hardware, and from when to when.
//
// Facts: kfd_chardev.c, kfd_debug.c, kfd_device_queue_manager.c and kfd_process.c of 6.12 and 7.3:
// kfd_ioctl_set_debug_trap names the target by its pid and calls suspend_queues or resume_queues,
// which return how many queues that was. When a session ends, by the ioctl (op 1), with the
// debugger or with the target, resume_queues resumes all that are left (count 0). One process at a
// time debugs a target.
#include "cmd/trace/ftrace.h"

#include <stdlib.h>

#define TRAP_DISABLE 1 // KFD_IOC_DBG_TRAP_DISABLE

// A call that suspended or resumed some; the target -1: none is named, as when a process ends.
struct hold_call {
	size_t record; // its return
	int64_t target, count, result;
	bool suspends, disables;
};

struct hold_calls {
	struct hold_call *v;
	size_t n, cap;
};

// The calls of a thread, of which the last entries were `trap` and `call`.
static void take(struct hold_calls *all, const struct kernel_side *k, size_t record,
		 const struct ftrace_record **trap, const struct ftrace_record **call)
{
	const struct ftrace_record *r = &k->f.v[record];
	const bool trapped = ftrace_is(r, "kfd_ioctl_set_debug_trap");
	struct hold_call c = {.record = record, .target = -1};
	int64_t op = 0;
	c.suspends = ftrace_is(r, "suspend_queues");
	if (r->kind == FTRACE_ENTRY && r->joined && trapped)
		*trap = r;
	else if (r->kind == FTRACE_RETURN && trapped)
		*trap = NULL;
	if (!c.suspends && !ftrace_is(r, "resume_queues"))
		return;
	if (r->kind == FTRACE_ENTRY)
		*call = r->joined ? r : NULL;
	if (r->kind != FTRACE_RETURN || r->inside_ns == FTRACE_UNKNOWN || !*call ||
	    !ftrace_arg(r, "ret", &c.result) || c.result <= 0 ||
	    !ftrace_arg(*call, "count", &c.count))
		return;
	if (*trap) {
		ftrace_arg(*trap, "pid", &c.target);
		ftrace_arg(*trap, "op", &op);
		c.disables = op == TRAP_DISABLE;
	}
	*call = NULL;
	*ARRAY_ADD(all->v, all->cap, all->n) = c;
}

static int by_record(const void *a, const void *b)
{
	const struct hold_call *x = a, *y = b;
	return ORDER(x->record, y->record);
}

static void find_calls(const struct kernel_side *k, struct hold_calls *all)
{
	const struct ftrace_record *trap = NULL, *call = NULL;
	size_t n, *order = ftrace_by_thread(k, &n);
	for (size_t i = 0; i < n; i++) {
		const struct ftrace_record *r = &k->f.v[order[i]];
		const struct ftrace_record *last = i ? &k->f.v[order[i - 1]] : NULL;
		if (last && (last->tid != r->tid || last->epoch != r->epoch))
			trap = call = NULL;
		take(all, k, order[i], &trap, &call);
	}
	free(order);
	if (all->n)
		qsort(all->v, all->n, sizeof(*all->v), by_record);
}

// Holds that are open: by target, and the latest of a holder; a number + 1, as INTERN_NONE is none.
enum key { OF_TARGET, OF_HOLDER };

static struct kernel_hold *open_hold(struct kernel_side *k, const struct intern *open, enum key key,
				     uint32_t process)
{
	uint32_t i = pair_value(open, key, process);
	return i == INTERN_NONE || i == 0 ? NULL : &k->holds[i - 1];
}

static void mark(struct kernel_side *k, size_t record, const struct kernel_hold *h, bool end)
{
	*ARRAY_ADD(k->marks, k->mark_cap, k->nmarks) =
		(struct hold_mark){record, (uint32_t)(h - k->holds), end, h->queues};
}

static void end(struct kernel_side *k, struct intern *open, struct kernel_hold *h, size_t record,
		const char *how)
{
	h->end_ns = k->f.v[record].time_ns;
	h->ended = how;
	pair_set(open, OF_TARGET, h->target, 0);
	mark(k, record, h, true);
}

static void suspended(struct kernel_side *k, struct intern *open, const struct hold_call *c)
{
	const struct ftrace_record *r = &k->f.v[c->record];
	uint32_t holder = k->process_of[c->record], target, before;
	struct kernel_hold *h;
	if (c->target < 0)
		return;
	target = ftrace_process(k, c->target);
	h = open_hold(k, open, OF_TARGET, target);
	if (h && h->holder == holder && h->epoch == r->epoch) {
		h->queues += c->result;
		h->most = h->queues > h->most ? h->queues : h->most;
		return;
	}
	before = pair_value(open, OF_HOLDER, holder);
	h = ARRAY_ADD(k->holds, k->hold_cap, k->nholds);
	*h = (struct kernel_hold){.target = target,
				  .holder = holder,
				  .queues = c->result,
				  .most = c->result,
				  .begin_ns = r->time_ns,
				  .epoch = r->epoch,
				  .last = before == INTERN_NONE ? 0 : before};
	pair_set(open, OF_TARGET, target, (uint32_t)k->nholds);
	pair_set(open, OF_HOLDER, holder, (uint32_t)k->nholds);
	mark(k, c->record, h, false);
}

// A process ends: as the target, or as the holder of others.
static void exited(struct kernel_side *k, struct intern *open, const struct hold_call *c)
{
	uint32_t process = k->process_of[c->record], at = pair_value(open, OF_HOLDER, process);
	struct kernel_hold *h = open_hold(k, open, OF_TARGET, process);
	if (h) {
		end(k, open, h, c->record, "exit");
		return;
	}
	at = at == INTERN_NONE ? 0 : at;
	while (at && k->holds) {
		struct kernel_hold *of = &k->holds[at - 1];
		if (!of->ended && open_hold(k, open, OF_TARGET, of->target) == of)
			end(k, open, of, c->record, "exit");
		at = of->last;
	}
	pair_set(open, OF_HOLDER, process, 0);
}

static void resumed(struct kernel_side *k, struct intern *open, const struct hold_call *c)
{
	struct kernel_hold *h;
	if (c->target < 0) {
		exited(k, open, c);
		return;
	}
	h = open_hold(k, open, OF_TARGET, ftrace_process(k, c->target));
	if (!h || h->epoch != k->f.v[c->record].epoch)
		return;
	if (c->count && c->result < h->queues)
		h->queues -= c->result;
	else
		end(k, open, h, c->record, c->disables ? "detach" : "resume");
}

void ftrace_find_holds(struct kernel_side *k)
{
	struct hold_calls calls = {0};
	struct intern open = {0};
	find_calls(k, &calls);
	for (size_t i = 0; i < calls.n; i++)
		(calls.v[i].suspends ? suspended : resumed)(k, &open, &calls.v[i]);
	intern_fini(&open);
	free(calls.v);
}
