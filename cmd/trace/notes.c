// Notes on what a log does not contain: in the JSON document, else as warnings.
//
// Facts: [amdlog.levels], [amdlog.torn], [amdlog.broken], [amdlog.packets], [amdlog.backlog].
#include "cmd/trace/trace.h"

#include "common/cli/json.h"

void trace_note(const struct trace *t, const char *fmt, ...)
{
	struct json *json = out_json(t->out);
	SCOPED(buf_fini) struct buf text = {0};
	va_list ap;
	if (t->label)
		buf_printf(&text, "%s: ", t->label);
	va_start(ap, fmt);
	buf_vprintf(&text, fmt, ap);
	va_end(ap);
	if (json)
		json_str(json, NULL, text.data);
	else
		err_warn(NULL, "%s", text.data);
}

// Notes "NAME: COUNT; REMARK", unless the count is 0.
static void say_count(const struct trace *t, const char *name, uint64_t count, const char *remark)
{
	if (count)
		trace_note(t, "%s: %" PRIu64 "%s%s", name, count, *remark ? "; " : "", remark);
}

static void note_processes(const struct trace *t)
{
	const struct amdlog_summary *s = &t->sum;
	uint64_t without = 0;
	for (uint32_t i = 0; i < s->nprocesses; i++)
		without += s->processes[i].pid < 0 ? s->processes[i].records : 0;
	say_count(t, "records without a process id", without,
		  "ROCm 6.3 and later print it at level 4 and up, releases before 5.0 in API "
		  "lines");
	if (without && t->name_pid >= 0 && without == s->totals.records)
		trace_note(t,
			   "the file's name ends in _%" PRId64
			   ", as AMD_LOG_LEVEL_FILE ends it with the process id",
			   t->name_pid);
}

static void note_damage(const struct trace *t, const struct amdlog_totals *sum)
{
	say_count(
		t, "packets without rptr and wptr", sum->no_pointers,
		"no backlog from them (dispatches have them from ROCm 6.2 on, barriers from 6.4)");
	say_count(t, "packets with rptr ahead of wptr", sum->inversions, "taken as backlog 0");
	say_count(t, "cut records", sum->cut,
		  "what they miss is not guessed (an AMD_LOG_LEVEL_FILE for each process keeps "
		  "records whole)");
	say_count(t, "dispatches without a kernel name before them", sum->unnamed, "");
	say_count(t, "packets of no known queue", sum->strays, "");
	if (trace_counts(t)->unended)
		trace_note(t, "the last line has no newline: it may be cut");
}

// Notes on queues: the log may name one by its handle (SWq) in some lines, by its ring (HWq) in
// others.
static void note_queues(const struct trace *t)
{
	const struct amdlog_summary *s = &t->sum;
	uint32_t handles = 0, created = 0, differ = 0, unsure = 0;
	for (uint32_t i = 0; i < s->nqueues; i++) {
		const struct amdlog_queue *q = &s->queues[i];
		if (!trace_queue_shown(q))
			continue;
		handles += q->hwq == AMDLOG_UNKNOWN;
		created += q->created > 0;
		differ += q->ids_differ;
		unsure += q->priority < 0;
	}
	say_count(t, "queues known by their handle (SWq) only", handles,
		  "ROCm before 6.2 prints the ring (HWq) in packets alone, and no stream ties them "
		  "together here");
	say_count(t, "queues made anew at the same address, with another id", differ, "");
	if (!created && unsure && !amdlog_is_filtered(&s->filter))
		trace_note(
			t,
			"no queue creation in the log: it begins in mid stream, so priorities are "
			"unknown");
}

static void note_limits(const struct trace *t)
{
	if (t->sum.no_memory)
		trace_note(
			t,
			"too many different names or queues: some are counted in the totals only");
	if (t->sum.errors.left_out)
		trace_note(t,
			   "more than %u different errors: %" PRIu64
			   " records are counted in the totals only",
			   ERRORS_MAX, t->sum.errors.left_out);
	if (t->sum.totals.several_versions)
		trace_note(t, "the log states several HIP versions");
}

static void note_log(const struct trace *t)
{
	const struct amdlog_totals *sum = &t->sum.totals;
	if (!sum->records)
		return;
	say_count(t, "queue errors, faults or full rings", sum->kinds[AMDLOG_QUEUE_ERROR],
		  "--list -o +TEXT shows the records of kind queue_error");
	if (!amdlog_has_packets(&t->sum) && !amdlog_is_filtered(&t->sum.filter))
		trace_note(
			t,
			"no packet lines: dispatches, barriers and backlog of queues are unknown; "
			"AMD_LOG_LEVEL=4 prints them (ROCm 7.12 and later: 5)");
	note_processes(t);
	note_damage(t, sum);
	note_queues(t);
	if ((t->by == BY_NOTHING || t->by == BY_KERNEL) && trace_several_hosts(t))
		trace_note(t,
			   "logs of several hosts, each with a clock of its own: times are told of "
			   "their processes only");
	if (t->merged && t->merged->apart)
		say_count(t, "process ids that files have at the same times", t->merged->apart->n,
			  "each file has a process of its own, told by HOST: give containers names "
			  "by gpq trace --partial --host NAME");
	note_limits(t);
}

void trace_notes(const struct trace *logs, unsigned n)
{
	struct json *json = out_json(logs->out);
	if (json)
		json_begin(json, "notes", '[');
	else
		out_flush(logs->out); // so that warnings come after the tables
	if (json && stop_asked())
		trace_note(logs, "stopped by %s: the input was not read to its end",
			   stop_name(stop_asked()));
	for (unsigned i = 0; i < n; i++)
		note_log(&logs[i]);
	if (json)
		json_end(json, ']');
}
