// gpq bench preempt --breakdown; steps.h. The trace is that of gpq trace --live, its steps are
// those of gpq trace --breakdown.
#include "cmd/bench/steps.h"

#include "cmd/command.h"
#include "common/cli/opts.h"
#include "common/ftrace/ftrace.h"

int steps_open(struct steps *s)
{
	int status = opts_refuse_secure("--breakdown");
	if (!status)
		status = live_trace_open(&s->trace, true);
	s->open = !status;
	return status;
}

static void steps_read_pipe(struct steps *s)
{
	char chunk[4096];
	ssize_t n;
	while ((n = read(s->trace.pipe, chunk, sizeof(chunk))) > 0)
		buf_append(&s->text, chunk, (size_t)n);
}

// A process may have been suspended by several calls, if queues are new.
static void add_steps(struct cycle *c, const uint64_t ns[STEPS])
{
	uint64_t *const to[] = {&c->unmap_ns, &c->save_ns, &c->map_ns, &c->rest_ns};
	static const enum ftrace_step steps[] = {STEP_UNMAP, STEP_SAVE, STEP_MAP, STEP_REST};
	for (size_t i = 0; i < COUNT(to); i++)
		*to[i] = ns[steps[i]] + (*to[i] == CYCLE_NONE ? 0 : *to[i]);
}

void steps_take(struct steps *s, const struct attached *a, struct cycle *v)
{
	if (!s->open)
		return;
	SCOPED(ftrace_fini) struct ftrace f = {0};
	steps_read_pipe(s);
	ftrace_read(&f, s->text.data ? s->text.data : "", s->text.len);
	struct ftrace_suspensions all = ftrace_suspensions(&f);
	for (size_t i = 0; i < a->n; i++) {
		struct cycle *c = cycle_of(a, v, i);
		// The pid is as the holder named it, which is in gpq's PID namespace.
		for (size_t k = 0; k < all.n; k++) {
			if (all.v[k].target != a->v[i].m->target.pid)
				continue;
			add_steps(c, all.v[k].ns);
			if (c != v)
				add_steps(v, all.v[k].ns);
		}
		s->cycles += c->suspend_ns != CYCLE_NONE;
		s->found += c->rest_ns != CYCLE_NONE;
	}
	free(all.v);
	s->text.len = 0;
}

int steps_close(struct steps *s, int status)
{
	if (!s->open)
		return status;
	live_trace_stop(&s->trace);
	const int closed = live_trace_close(&s->trace);
	buf_fini(&s->text);
	status = status ? status : closed;
	if (status || s->found == s->cycles)
		return status;
	return err_fail(GPQ_PARTIAL, "the steps of the others are unknown",
			"--breakdown: the trace has %" PRIu64 " of %" PRIu64 " suspensions",
			s->found, s->cycles);
}
