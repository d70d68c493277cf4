// libFuzzer target: text of kernel traces (common/ftrace): records, processes, queues, holds,
// suspensions, what `gpq events` wrote, and a log's processes and queues among them.
//
// Text behind a line "---" is that of the events.
#include "common/amdlog/model/summary.h"
#include "common/ftrace/ftrace.h"
#include "tests/fuzz/require.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void within(struct ftrace_text t, const char *text, size_t size)
{
	require(!t.len || (t.at >= text && t.at + t.len <= text + size));
}

static void check_records(const struct ftrace *f, const char *text, size_t size)
{

	require(f->odd + f->n == f->lines && f->nby_thread <= f->n);
	for (size_t i = 0; i < f->n; i++) {
		const struct ftrace_record *r = &f->v[i], *before = i ? r - 1 : r;
		within(r->comm, text, size);
		within(r->name, text, size);
		within(r->args, text, size);
		require(r->kind < FTRACE_NKINDS && r->epoch >= before->epoch);
		require(r->epoch != before->epoch || r->time_ns >= before->time_ns);
		require(r->inside_ns == FTRACE_UNKNOWN ||
			(r->kind == FTRACE_RETURN && r->inside_ns <= r->time_ns));
		require(!r->joined || r->kind == FTRACE_ENTRY);
		require(r->tid < 0 ? r->process == FTRACE_NONE : r->process < f->nprocesses);
		(void)ftrace_arg(r, "ret");
	}
	for (size_t i = 1; i < f->nby_thread; i++) {
		size_t a = f->by_thread[i - 1], b = f->by_thread[i];
		require(f->v[a].tid < f->v[b].tid || (f->v[a].tid == f->v[b].tid && a < b));
	}
}

// Each hold begins once and ends at most once, and never two at a time of one process in one epoch.
static void check_holds(const struct ftrace *f)
{
	size_t ends = 0;
	for (size_t i = 0; i < f->nholds; i++) {
		const struct ftrace_hold *h = &f->holds[i];
		require(h->target < f->nprocesses && h->holder < f->nprocesses);
		require(h->queues > 0 && h->most >= h->queues && h->before_hold <= i);
		require(h->ended ? h->end_ns >= h->begin_ns || h->epoch < f->epochs : !h->end_ns);
		ends += h->ended != NULL;
	}
	require(f->nmarks == f->nholds + ends);
	for (size_t i = 0; i < f->nmarks; i++) {
		const struct ftrace_mark *m = &f->marks[i];
		require(m->record < f->n && m->hold < f->nholds);
		require(!i || m->record >= f->marks[i - 1].record);
		require(m->end ? f->holds[m->hold].ended != NULL
			       : f->v[m->record].time_ns == f->holds[m->hold].begin_ns);
	}
}

static void check_suspensions(const struct ftrace *f)
{
	struct ftrace_suspensions all = ftrace_suspensions(f);
	for (size_t i = 0; i < all.n; i++) {
		require(all.v[i].process < f->nprocesses);
		require(!i || all.v[i].begin_ns >= all.v[i - 1].begin_ns);
	}
	free(all.v);
}

// A log of three processes with the pids 0 to 2, and a queue of each of some rings of the trace.
static void check_match(struct ftrace *f)
{
	struct amdlog_process processes[3] = {{.pid = 0}, {.pid = 1}, {.pid = 2}};
	struct amdlog_queue queues[4];
	struct amdlog_summary s = {.processes = processes, .nprocesses = 3, .queues = queues};
	for (; s.nqueues < 4 && s.nqueues < f->nqueues; s.nqueues++)
		queues[s.nqueues] = (struct amdlog_queue){.process = s.nqueues % 3,
							  .hwq = f->queues[s.nqueues].ring};
	ftrace_match(f, &s);
	for (uint32_t i = 0; i < s.nprocesses; i++) {
		const struct ftrace_process *p = ftrace_of_log(f, i);
		require(!p || (p->log == i && p->matched));
	}
	for (uint32_t i = 0; i < s.nqueues; i++) {
		const struct ftrace_queue *q = ftrace_queue_of(f, i);
		require(!q || (q->ring == queues[i].hwq &&
			       f->processes[q->process].log == queues[i].process));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ftrace f = {0};
	const uint8_t *parted = size ? memmem(data, size, "\n---\n", 5) : NULL;
	size_t len = parted ? (size_t)(parted - data) : size;
	char *text = malloc(len ? len : 1); // no byte beyond the end
	require(text != NULL);
	if (len)
		memcpy(text, data, len);
	ftrace_read(&f, text, len);
	check_records(&f, text, len);
	check_holds(&f);
	check_suspensions(&f);
	if (parted)
		ftrace_read_events(&f, (const char *)parted + 5, size - len - 5);
	for (size_t i = 0; i < f.nevents; i++)
		require(f.events[i].process == FTRACE_NONE || f.events[i].process < f.nprocesses);
	check_match(&f);
	ftrace_fini(&f);
	free(text);
	return 0;
}
