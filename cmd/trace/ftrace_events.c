// gpq trace FOLDER: what `gpq events --ndjson` wrote beside the kernel's trace.
#include "cmd/trace/ftrace.h"

#include "common/cli/input.h"
#include "common/out/members.h"

#include <stdlib.h>
#include <string.h>

static const struct member members[] = {
	MEMBER(u64, kernel_event, time_ns, "time_ns"),
	MEMBER(u64, kernel_event, pid, "pid"),
	MEMBER(u64, kernel_event, ns_pid, "ns_pid"),
	MEMBER(u64, kernel_event, gpu, "gpu_id"),
	MEMBER(u64, kernel_event, qid, "qid"),
	MEMBER(text, kernel_event, name, "event"),
	MEMBER(text, kernel_event, command, "command"),
	MEMBER(text, kernel_event, clock, "clock"),
	MEMBER(text, kernel_event, detail, "detail"),
	MEMBER(text, kernel_event, source, "source"),
	{0},
};

static bool read_line(struct kernel_event *e, const char *line, size_t len)
{
	const struct member_row rows[] = {{members, e}, {NULL, NULL}};
	struct jsonin_value key, value;
	struct jsonin j;
	*e = (struct kernel_event){.time_ns = U64_NULL,
				   .pid = U64_NULL,
				   .ns_pid = U64_NULL,
				   .gpu = U64_NULL,
				   .qid = U64_NULL,
				   .process = AMDLOG_NONE};
	if (!jsonin_open(&j, line, len, '{'))
		return false;
	while (jsonin_next(&j, &key, &value)) {
		if (!members_take(rows, &key, &value))
			return false;
	}
	return !j.failed && e->time_ns != U64_NULL && e->name[0];
}

static void set_process(struct kernel_side *k, struct kernel_event *e)
{
	struct kernel_process *p;
	if (e->pid > INT32_MAX)
		return;
	e->process = ftrace_process(k, (int64_t)e->pid);
	p = &k->processes[e->process];
	if (!p->ns_pid && e->ns_pid <= INT32_MAX)
		p->ns_pid = (int64_t)e->ns_pid;
}

static int by_time(const void *a, const void *b)
{
	const struct kernel_event *x = a, *y = b;
	return x->time_ns != y->time_ns ? ORDER(x->time_ns, y->time_ns) : ORDER(x->order, y->order);
}

// Names of processes that no record of the trace names. After the last event: events move.
static void set_names(struct kernel_side *k)
{
	for (size_t i = 0; i < k->nevents; i++) {
		const struct kernel_event *e = &k->events[i];
		struct kernel_process *p =
			e->process == AMDLOG_NONE ? NULL : &k->processes[e->process];
		if (p && !p->comm.len && e->command[0])
			p->comm = (struct ftrace_text){e->command, (uint32_t)strlen(e->command)};
	}
}

int ftrace_read_events(struct kernel_side *k)
{
	struct buf text = {0};
	int status = input_read(&text, k->opts->events);
	for (size_t at = 0; !status && at < text.len;) {
		const char *line = text.data + at, *newline = memchr(line, '\n', text.len - at);
		size_t len = newline ? (size_t)(newline - line) : text.len - at;
		struct kernel_event e = {0};
		if (read_line(&e, line, len)) {
			set_process(k, &e);
			e.order = k->nevents;
			*ARRAY_ADD(k->events, k->event_cap, k->nevents) = e;
		} else {
			k->events_odd++;
		}
		at += len + 1;
	}
	if (k->nevents)
		qsort(k->events, k->nevents, sizeof(*k->events), by_time);
	set_names(k);
	buf_fini(&text);
	return status;
}
