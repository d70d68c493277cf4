// Who kept whose queues off the hardware, and from when to when; ftrace.h.
//
// Facts: kfd_chardev.c, kfd_debug.c, kfd_device_queue_manager.c and kfd_process.c of 6.12 and 7.3:
// kfd_ioctl_set_debug_trap names the target by its pid and calls suspend_queues or resume_queues,
// which return how many queues that was. When a session ends, by the ioctl (op 1), with the
// debugger or with the target, resume_queues resumes all that are left (count 0). One process at a
// time debugs a target.
#include "common/ftrace/ftrace_priv.h"

#include "common/host/buf.h"

#include <stdlib.h>

#define TRAP_DISABLE 1 // KFD_IOC_DBG_TRAP_DISABLE

// A call that suspended or resumed some queues.
struct hold_call {
	size_t record;  // its return
	int64_t target; // -1: none is named, as when a process ends
	int64_t count, result;
	bool suspends, disables;
};

struct hold_calls {
	struct hold_call *v;
	size_t n, cap;
};

// Takes the next record of a thread, whose last entries were `trap` and `call`.
static void take_hold_record(struct hold_calls *all, const struct ftrace *f, size_t record,
			     const struct ftrace_record **trap, const struct ftrace_record **call)
{
	const struct ftrace_record *r = &f->v[record];
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

COMPARE_BY(by_record, struct hold_call, record)

static void find_hold_calls(const struct ftrace *f, struct hold_calls *all)
{
	const struct ftrace_record *trap = NULL, *call = NULL, *last = NULL;
	for (size_t i = 0; i < f->nby_thread; i++) {
		const struct ftrace_record *r = &f->v[f->by_thread[i]];
		if (last && (last->tid != r->tid || last->epoch != r->epoch))
			trap = call = NULL;
		take_hold_record(all, f, f->by_thread[i], &trap, &call);
		last = r;
	}
	if (all->n)
		qsort(all->v, all->n, sizeof(*all->v), by_record);
}

// Keys of the holds that are open: by target, and the latest of a holder. The value is the hold's
// index + 1; 0: none, as INTERN_NONE.
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

static void mark_hold(struct ftrace *f, size_t record, const struct ftrace_hold *h, bool end)
{
	*ARRAY_ADD(f->marks, f->mark_cap, f->nmarks) =
		(struct ftrace_mark){record, (uint32_t)(h - f->holds), end, h->queues};
}

static void end_hold(struct ftrace *f, struct intern *open, struct ftrace_hold *h, size_t record,
		     const char *how)
{
	h->end_ns = f->v[record].time_ns;
	h->ended = how;
	pair_set(open, OF_TARGET, h->target, 0);
	mark_hold(f, record, h, true);
}

static void take_suspend(struct ftrace *f, struct intern *open, const struct hold_call *c)
{
	const struct ftrace_record *r = &f->v[c->record];
	uint32_t target;
	struct ftrace_hold *h;
	if (c->target < 0)
		return;
	target = ftrace_add_process(f, c->target);
	h = open_hold(f, open, target);
	if (h && h->holder == r->process && h->epoch == r->epoch) {
		h->queues += c->result;
		h->most = h->queues > h->most ? h->queues : h->most;
		return;
	}
	h = ARRAY_ADD(f->holds, f->hold_cap, f->nholds);
	*h = (struct ftrace_hold){.target = target,
				  .holder = r->process,
				  .queues = c->result,
				  .most = c->result,
				  .begin_ns = r->time_ns,
				  .epoch = r->epoch,
				  .before_hold = open_number(open, OF_HOLDER, r->process)};
	pair_set(open, OF_TARGET, target, (uint32_t)f->nholds);
	pair_set(open, OF_HOLDER, r->process, (uint32_t)f->nholds);
	mark_hold(f, c->record, h, false);
}

// A process ends: as the target, or as the holder of others.
static void take_exit(struct ftrace *f, struct intern *open, const struct hold_call *c)
{
	uint32_t process = f->v[c->record].process;
	struct ftrace_hold *h = open_hold(f, open, process);
	if (h) {
		end_hold(f, open, h, c->record, "exit");
		return;
	}
	for (uint32_t at = f->holds ? open_number(open, OF_HOLDER, process) : 0; at;
	     at = h->before_hold) {
		h = &f->holds[at - 1];
		if (!h->ended && open_hold(f, open, h->target) == h)
			end_hold(f, open, h, c->record, "exit");
	}
	pair_set(open, OF_HOLDER, process, 0);
}

static void take_resume(struct ftrace *f, struct intern *open, const struct hold_call *c)
{
	struct ftrace_hold *h;
	if (c->target < 0) {
		take_exit(f, open, c);
		return;
	}
	h = open_hold(f, open, ftrace_add_process(f, c->target));
	if (!h || h->epoch != f->v[c->record].epoch)
		return;
	if (c->count && c->result < h->queues)
		h->queues -= c->result;
	else
		end_hold(f, open, h, c->record, c->disables ? "detach" : "resume");
}

void ftrace_find_holds(struct ftrace *f)
{
	struct hold_calls calls = {0};
	struct intern open = {0};
	find_hold_calls(f, &calls);
	for (size_t i = 0; i < calls.n; i++)
		(calls.v[i].suspends ? take_suspend : take_resume)(f, &open, &calls.v[i]);
	intern_fini(&open);
	free(calls.v);
}
