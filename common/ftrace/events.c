// Reads what `gpq events --ndjson` wrote while a kernel trace was recorded; ftrace.h.
#include "common/ftrace/ftrace_priv.h"

#include "common/out/members.h"

#include <stdlib.h>
#include <string.h>

static const struct member event_members[] = {
	MEMBER(u64, ftrace_event, time_ns, "time_ns"),
	MEMBER(u64, ftrace_event, pid, "pid"),
	MEMBER(u64, ftrace_event, ns_pid, "ns_pid"),
	MEMBER(u64, ftrace_event, gpu, "gpu_id"),
	MEMBER(u64, ftrace_event, qid, "qid"),
	MEMBER(text, ftrace_event, name, "event"),
	MEMBER(text, ftrace_event, command, "command"),
	MEMBER(text, ftrace_event, clock, "clock"),
	MEMBER(text, ftrace_event, detail, "detail"),
	MEMBER(text, ftrace_event, source, "source"),
	{0},
};

static bool read_event(struct ftrace_event *e, const char *line, size_t len)
{
	const struct member_row rows[] = {{event_members, e}, {NULL, NULL}};
	struct jsonin_value key, value;
	struct jsonin j;
	*e = (struct ftrace_event){.time_ns = FTRACE_UNKNOWN,
				   .pid = UINT64_MAX,
				   .ns_pid = UINT64_MAX,
				   .gpu = UINT64_MAX,
				   .qid = UINT64_MAX,
				   .process = FTRACE_NONE};
	if (!jsonin_open(&j, line, len, '{'))
		return false;
	while (jsonin_next(&j, &key, &value)) {
		if (!members_take(rows, &key, &value))
			return false;
	}
	return !j.failed && e->time_ns != FTRACE_UNKNOWN && e->name[0];
}

static void set_event_process(struct ftrace *f, struct ftrace_event *e)
{
	if (e->pid > INT32_MAX)
		return;
	e->process = ftrace_add_process(f, (int64_t)e->pid, -1);
	struct ftrace_process *p = &f->processes[e->process];
	if (!p->ns_pid && e->ns_pid <= INT32_MAX)
		p->ns_pid = (int64_t)e->ns_pid;
}

COMPARE_BY_BOTH(by_event_time, struct ftrace_event, time_ns, order)

// Gives processes that no record of the trace names the name that an event has. Call it last: the
// names point into the array of events, which moves when it grows.
static void name_event_processes(struct ftrace *f)
{
	for (size_t i = 0; i < f->nevents; i++) {
		const struct ftrace_event *e = &f->events[i];
		struct ftrace_process *p =
			e->process == FTRACE_NONE ? NULL : &f->processes[e->process];
		if (p && !p->comm.len && e->command[0])
			p->comm = (struct ftrace_text){e->command, (uint32_t)strlen(e->command)};
	}
}

void ftrace_read_events(struct ftrace *f, const char *text, size_t len)
{
	const char *end = text + len;
	for (const char *at = text, *next; at < end; at = next + 1) {
		struct ftrace_event e;
		next = memchr(at, '\n', (size_t)(end - at));
		next = next ? next : end;
		if (read_event(&e, at, (size_t)(next - at))) {
			set_event_process(f, &e);
			e.order = f->nevents;
			*ARRAY_ADD(f->events, f->event_cap, f->nevents) = e;
		} else {
			f->odd_events++;
		}
	}
	ARRAY_SORT(f->events, f->nevents, by_event_time);
	name_event_processes(f);
}
