// Each suspension of queues in steps; ftrace.h.
//
// Facts: kfd_debug.c and kfd_device_queue_manager.c of 6.12 and 7.3: the ioctl (op 6) calls
// suspend_queues, which for each GPU unmaps all queues of the runlist (unmap_queues_cpsch: the
// packet is sent, then amdkfd_fence_wait_timeout waits until the hardware has saved the waves),
// maps the others again (map_queues_cpsch), and waits until the saved waves' headers are copied.
// Work on several GPUs adds up.
// With MES each queue is removed by itself (remove_queue_mes), which waits for the waves within.
#include "common/ftrace/ftrace.h"

#include "common/host/buf.h"

#include <stdlib.h>

// The call that a thread is in. Only calls whose return is in the trace: lost events leave none of
// them open.
struct open_call {
	const struct ftrace_record *ioctl, *call; // entries; NULL
	uint64_t unmap, save, map;
	size_t last; // number + 1 of the suspension within this ioctl; 0: none
};

static uint64_t above(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

static void end_call(struct ftrace_suspensions *all, struct open_call *o,
		     const struct ftrace_record *r)
{
	struct ftrace_suspension s = {
		.begin_ns = o->ioctl ? o->ioctl->time_ns : o->call->time_ns,
		.end_ns = r->time_ns,
		.ns = {[STEP_ENTER] =
			       o->ioctl ? o->call->time_ns - o->ioctl->time_ns : FTRACE_UNKNOWN,
		       [STEP_UNMAP] = above(o->unmap, o->save),
		       [STEP_SAVE] = o->save,
		       [STEP_MAP] = o->map,
		       [STEP_REST] = above(r->inside_ns, o->unmap + o->map),
		       [STEP_LEAVE] = FTRACE_UNKNOWN,
		       [STEP_TOTAL] = FTRACE_UNKNOWN},
		.target = FTRACE_NO_ARG,
		.queue = FTRACE_NO_ARG,
		.count = FTRACE_NO_ARG,
		.result = FTRACE_NO_ARG,
		.process = r->process,
	};
	ftrace_arg(o->call, "queue", &s.queue);
	ftrace_arg(o->call, "count", &s.count);
	ftrace_arg(r, "ret", &s.result);
	if (o->ioctl)
		ftrace_arg(o->ioctl, "pid", &s.target);
	*ARRAY_ADD(all->v, all->cap, all->n) = s;
	o->last = all->n;
	o->call = NULL;
}

static void end_ioctl(struct ftrace_suspensions *all, struct open_call *o,
		      const struct ftrace_record *r)
{
	struct ftrace_suspension *s = o->last ? &all->v[o->last - 1] : NULL;
	if (s) {
		s->ns[STEP_LEAVE] = r->time_ns - s->end_ns;
		s->ns[STEP_TOTAL] = r->inside_ns;
		s->end_ns = r->time_ns;
	}
	*o = (struct open_call){0};
}

static void take_entry(struct open_call *o, const struct ftrace_record *r)
{
	if (ftrace_is(r, "kfd_ioctl_set_debug_trap"))
		*o = (struct open_call){.ioctl = r};
	else if (ftrace_is(r, "suspend_queues"))
		*o = (struct open_call){.ioctl = o->ioctl, .call = r};
}

static void take_return(struct ftrace_suspensions *all, struct open_call *o,
			const struct ftrace_record *r)
{
	if (ftrace_is(r, "kfd_ioctl_set_debug_trap"))
		end_ioctl(all, o, r);
	else if (!o->call)
		return;
	else if (ftrace_is(r, "unmap_queues_cpsch") || ftrace_is(r, "remove_queue_mes"))
		o->unmap += r->inside_ns;
	else if (ftrace_is(r, "amdkfd_fence_wait_timeout"))
		o->save += r->inside_ns;
	else if (ftrace_is(r, "map_queues_cpsch"))
		o->map += r->inside_ns;
	else if (ftrace_is(r, "suspend_queues"))
		end_call(all, o, r);
}

static int by_begin(const void *a, const void *b)
{
	const struct ftrace_suspension *x = a, *y = b;
	return x->begin_ns != y->begin_ns ? ORDER(x->begin_ns, y->begin_ns)
					  : ORDER(x->end_ns, y->end_ns);
}

struct ftrace_suspensions ftrace_suspensions(const struct ftrace *f)
{
	struct ftrace_suspensions all = {0};
	struct open_call open = {0};
	int64_t tid = -1;
	for (size_t i = 0; i < f->nby_thread; i++) {
		const struct ftrace_record *r = &f->v[f->by_thread[i]];
		if (r->tid != tid)
			open = (struct open_call){0};
		tid = r->tid;
		if (r->kind == FTRACE_ENTRY && r->joined)
			take_entry(&open, r);
		else if (r->kind == FTRACE_RETURN && r->inside_ns != FTRACE_UNKNOWN)
			take_return(&all, &open, r);
	}
	if (all.n)
		qsort(all.v, all.n, sizeof(*all.v), by_begin);
	return all;
}
