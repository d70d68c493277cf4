// Notes on what a log does not contain: in the JSON document, else as warnings.
//
// Facts: [amdlog.levels], [amdlog.torn], [amdlog.broken], [amdlog.packets], [amdlog.backlog].
#include "cmd/trace/trace.h"

#include "common/cli/json.h"
#include "common/cli/stop.h"

#include <inttypes.h>
#include <stdarg.h>

struct notes {
	struct trace *t;
	struct json *json; // NULL: warnings
	struct buf text;
};

__attribute__((format(printf, 2, 3))) static void note(struct notes *n, const char *fmt, ...)
{
	va_list ap;
	n->text.len = 0;
	if (n->t->label)
		buf_printf(&n->text, "%s: ", n->t->label);
	va_start(ap, fmt);
	buf_vprintf(&n->text, fmt, ap);
	va_end(ap);
	if (n->json)
		json_str(n->json, NULL, n->text.data);
	else
		err_warn(NULL, "%s", n->text.data);
}

// "NAME: N; REMARK", unless there are none.
static void say_count(struct notes *n, const char *name, uint64_t count, const char *remark)
{
	if (count)
		note(n, "%s: %" PRIu64 "%s%s", name, count, *remark ? "; " : "", remark);
}

static void on_processes(struct notes *n)
{
	const struct amdlog_summary *s = &n->t->sum;
	uint64_t without = 0;
	for (uint32_t i = 0; i < s->nprocesses; i++)
		without += s->processes[i].pid < 0 ? s->processes[i].records : 0;
	say_count(n, "records without a process id", without,
		  "ROCm 6.3 and later print it at level 4 and up, releases before 5.0 in API "
		  "lines");
	if (without && n->t->name_pid >= 0 && without == s->totals.records)
		note(n,
		     "the file's name ends in _%" PRId64
		     ", as AMD_LOG_LEVEL_FILE ends it with the process id",
		     n->t->name_pid);
}

static void on_damage(struct notes *n, const struct amdlog_totals *sum)
{
	say_count(
		n, "packets without rptr and wptr", sum->no_pointers,
		"no backlog from them (dispatches have them from ROCm 6.2 on, barriers from 6.4)");
	say_count(n, "packets with rptr ahead of wptr", sum->inversions, "taken as backlog 0");
	say_count(n, "torn records", sum->torn,
		  "what they miss is not guessed (an AMD_LOG_LEVEL_FILE for each process keeps "
		  "records whole)");
	say_count(n, "dispatches without a kernel name before them", sum->unnamed, "");
	say_count(n, "packets of no known queue", sum->strays, "");
	if (trace_counts(n->t)->unended)
		note(n, "the last line has no newline: it may be cut");
}

// Queue lines and packets may name the same queue by different addresses.
static void on_queues(struct notes *n)
{
	const struct amdlog_summary *s = &n->t->sum;
	uint32_t handles = 0, created = 0, differ = 0, shown = 0;
	for (uint32_t i = 0; i < s->nqueues; i++) {
		const struct amdlog_queue *q = &s->queues[i];
		if (!trace_queue_shown(q))
			continue;
		shown++;
		handles += q->hwq == AMDLOG_UNKNOWN;
		created += q->created > 0;
		differ += q->ids_differ;
	}
	say_count(n, "queues known by their handle (SWq) only", handles,
		  "ROCm before 6.2 prints the ring (HWq) in packets alone, and no stream ties them "
		  "together here");
	say_count(n, "queues made anew at the same address, with another id", differ, "");
	if (!created && shown && !amdlog_is_filtered(&s->filter))
		note(n, "no queue creation in the log: it begins in mid stream, so priorities are "
			"unknown");
}

static void on_limits(struct notes *n)
{
	if (n->t->sum.no_memory)
		note(n, "too many different names or queues: some are counted in the totals only");
	if (n->t->sum.errors.left_out)
		note(n,
		     "more than %u different errors: %" PRIu64
		     " records are counted in the totals only",
		     ERRORS_MAX, n->t->sum.errors.left_out);
	if (n->t->sum.totals.several_versions)
		note(n, "the log states several HIP versions");
}

static void on_log(struct notes *n)
{
	const struct amdlog_totals *sum = &n->t->sum.totals;
	if (!sum->records)
		return;
	say_count(n, "queue errors, faults or full rings", sum->kinds[AMDLOG_QUEUE_ERROR],
		  "--list -o +TEXT shows the records of kind queue_error");
	if (!amdlog_has_packets(&n->t->sum) && !amdlog_is_filtered(&n->t->sum.filter))
		note(n, "no packet lines: dispatches, barriers and backlog of queues are unknown; "
			"AMD_LOG_LEVEL=4 prints them (ROCm 7.12 and later: 5)");
	on_processes(n);
	on_damage(n, sum);
	on_queues(n);
	if ((n->t->by == BY_NOTHING || n->t->by == BY_KERNEL) && trace_several_hosts(n->t))
		note(n, "logs of several hosts, each with a clock of its own: times are told of "
			"their processes only");
	on_limits(n);
}

void trace_notes(struct trace *logs, unsigned n)
{
	struct notes notes = {.t = logs, .json = out_json(logs->out)};
	if (notes.json)
		json_begin(notes.json, "notes", '[');
	else
		out_flush(logs->out); // the notes come behind what they are about
	if (notes.json && stop_asked())
		note(&notes, "stopped by %s: the input was not read to its end",
		     stop_name(stop_asked()));
	for (unsigned i = 0; i < n; i++) {
		notes.t = &logs[i];
		on_log(&notes);
	}
	if (notes.json)
		json_end(notes.json, ']');
	buf_fini(&notes.text);
}
