// The reports of logs: reads them, and writes what is asked for.
#include "cmd/trace/trace.h"

#include "common/cli/stop.h"

// No record passed the filter. The message lists the processes of the log.
static int nothing_chosen(const struct trace *t)
{
	struct buf pids = {0};
	int status;
	for (uint32_t i = 0; t->opts->pick.pids.n && i < t->sum.nprocesses && pids.len < 200; i++) {
		if (t->sum.processes[i].pid >= 0)
			buf_printf(&pids, "%s%lld", pids.len ? ", " : "the log has process ids ",
				   (long long)t->sum.processes[i].pid);
	}
	if (t->opts->pick.pids.n && !pids.len)
		buf_puts(&pids, "the log has no process ids: ROCm 6.3 and later print them at "
				"level 4 and up");
	status = err_fail(GPQ_NOTFOUND, pids.data,
			  "no record is of the processes, kernels, times or text asked for");
	buf_fini(&pids);
	return status;
}

static int report_log(struct trace *t, int status)
{
	bool nothing = !t->scan->counts.records;
	bool shown = !trace_to_stdout(t->opts->perfetto);
	int written, drawn, told = GPQ_OK;
	// Empty tables are left out for people; programs get a complete document.
	if (!t->untold && (t->sum.totals.records ||
			   ((!status || status == GPQ_PARTIAL || status == GPQ_STOPPED) &&
			    out_mode(t->out) != OUT_TABLE))) {
		amdlog_summary_finish(&t->sum);
		if (shown)
			told = trace_report(t);
		trace_notes(t, 1);
	}
	drawn = trace_perfetto_close(t);
	written = out_close(t->out);
	if (written || drawn)
		return written ? written : drawn;
	if (status == GPQ_STOPPED)
		return trace_stopped(t);
	if (!status && nothing)
		return err_fail(
			GPQ_NOTFOUND,
			"was the program run with AMD_LOG_LEVEL=4 (ROCm 7.12 and later: 5)?",
			"no AMD log records in the input");
	if (!status && !t->sum.totals.records)
		return nothing_chosen(t);
	return status ? status : told;
}

// The report that replaces that of the summary; NULL: none, or --list.
static const struct trace_ask *asked_for(const struct trace_opts *o)
{
	return o->gaps                 ? &trace_gaps
	       : o->latency            ? &trace_latency
	       : o->series != U64_NULL ? &trace_series
	       : o->by == BY_STREAM    ? &trace_streams
				       : NULL;
}

int trace_log(struct cmd *c, const struct amdlog_filter *filter, const struct grep *grep)
{
	const struct trace_opts *o = c->opts;
	bool columns = c->out.columns || c->out.all;
	bool flat = c->out.mode == OUT_RAW || c->out.mode == OUT_PAIRS || c->out.mode == OUT_CSV;
	struct trace t = {.ask = asked_for(o), .by = o->by};
	int status;
	trace_open(&t, c, filter, grep);
	// -o names columns of one table: that of the queues, unless an option chooses another.
	if (!t.ask && columns && t.by == BY_NOTHING)
		t.by = BY_QUEUE;
	t.one_table = t.by != BY_NOTHING || (t.ask && (columns || flat));
	t.sum.want_api = t.by == BY_API;
	c->out.several = !t.one_table && !o->list;
	c->out.schema = t.ask ? t.ask->schema : o->list ? &trace_list_schema : &trace_schema;
	t.out = out_open(&c->out);
	status = trace_marks_read(&t);
	if (!status)
		status = trace_begin(&t);
	if (!status)
		status = trace_perfetto_open(&t, c->argc, c->argv);
	if (status) {
		trace_perfetto_close(&t);
		out_close(t.out);
	} else {
		stop_watch();
		t.name_pid = c->argc == 1 ? trace_pid_of_name(c->argv[0]) : -1;
		t.logs = c->argv;
		t.nlogs = c->argc;
		status = report_log(&t, trace_scan(&t, c, c->argc, c->argv));
	}
	trace_close(&t);
	return status;
}
