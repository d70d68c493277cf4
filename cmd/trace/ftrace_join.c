// gpq trace --ftrace with logs: which process of the trace is which of the log, and how far apart
// their clocks are: as the options say, as both show it (common/ftrace/join.c), or guessed
// (common/ftrace/tie.c).
#include "cmd/trace/ftrace.h"

// Splits a member of --pid-map, "LOGPID=KERNELPID".
static bool parse_pair(const char *text, uint64_t *log_pid, uint64_t *pid)
{
	const char *equals = strchr(text, '=');
	char head[16] = "";
	if (!equals || equals - text >= (ptrdiff_t)sizeof(head))
		return false;
	memcpy(head, text, (size_t)(equals - text));
	return parse_u64(head, log_pid) && parse_u64(equals + 1, pid) && *log_pid <= INT32_MAX &&
	       *pid <= INT32_MAX;
}

static bool parse_offset(const char *text, int64_t *offset)
{
	uint64_t ns;
	if (!parse_duration(text + (*text == '-' || *text == '+'), &ns) || ns > INT64_MAX)
		return false;
	*offset = *text == '-' ? -(int64_t)ns : (int64_t)ns;
	return true;
}

int ftrace_join_check(const struct trace_opts *o)
{
	uint64_t log_pid, pid;
	int64_t offset;
	for (size_t i = 0; i < o->pid_map.n; i++) {
		if (!parse_pair(o->pid_map.v[i], &log_pid, &pid))
			return err_fail(GPQ_USAGE, "give the log's pid and the kernel's: 7=3934101",
					"--pid-map: %s is not LOGPID=KERNELPID", o->pid_map.v[i]);
	}
	if (o->offset && !parse_offset(o->offset, &offset))
		return err_fail(GPQ_USAGE, "give the log's clock less the trace's, as 134.2ms",
				"--offset: %s is no time with its unit", o->offset);
	return GPQ_OK;
}

int ftrace_join(struct kernel_side *k)
{
	struct ftrace *f = &k->f;
	const struct words *map = &k->opts->pid_map;
	int64_t offset = 0;
	for (size_t i = 0; i < map->n; i++) {
		uint64_t log_pid, pid;
		parse_pair(map->v[i], &log_pid, &pid);
		if (!ftrace_give(f, &k->t->sum, (int64_t)log_pid, (int64_t)pid))
			return err_fail(GPQ_NOTFOUND, "name each process once, as both have it",
					"--pid-map %s: not in the log or not in the trace",
					map->v[i]);
	}
	ftrace_match(f, &k->t->sum);
	if (k->opts->offset) {
		parse_offset(k->opts->offset, &offset);
		ftrace_move(f, offset);
	}
	const bool found = k->several && ftrace_tie(f, &k->t->sum, !k->apart || k->opts->offset);
	if (found)
		ftrace_move(f, f->offset_ns);
	k->moved = found || k->opts->offset;
	k->apart = k->apart && !k->moved;
	return GPQ_OK;
}

// Notes a guess, and that the trace was moved onto the log's clock.
static void note_guesses(const struct kernel_side *k)
{
	const double ms = (double)k->f.offset_ns / 1e6;
	char moved[48] = "";
	bool told = false;
	if (k->moved && !k->opts->offset)
		snprintf(moved, sizeof(moved), "; offset %+.1fms", ms);
	for (size_t i = 0; i < k->f.nprocesses; i++) {
		const struct ftrace_process *p = &k->f.processes[i];
		if (!p->why)
			continue;
		trace_note(k->t, "%" PRId64 " is %" PRId64 " (guess: %s%s)",
			   k->t->sum.processes[p->log].pid, ftrace_pid(p), p->why, moved);
		told = true;
	}
	if (*moved && !told)
		trace_note(k->t,
			   "times of the trace are moved onto the log's clock (guess: when queues "
			   "were created%s)",
			   moved);
}

// Notes what could not be joined, and what to record or to say next time.
static void note_apart(const struct kernel_side *k)
{
	const struct amdlog_summary *s = &k->t->sum;
	uint32_t missing = 0, first = 0;
	for (uint32_t i = s->nprocesses; k->several && k->f.n && i-- > 0;) {
		const bool lacks = s->processes[i].records && !ftrace_of_log(&k->f, i);
		missing += lacks;
		first = lacks ? i : first;
	}
	if (missing)
		trace_note(k->t,
			   "processes of the log that nothing ties to the trace: %" PRIu32
			   ", the first is %" PRId64 "; next time record with trace_clock mono and "
			   "kfd_ioctl_create_queue in the filter, or say --pid-map "
			   "LOGPID=KERNELPID",
			   missing, s->processes[first].pid);
	if (k->apart)
		trace_note(k->t,
			   "the trace's clock (%s) is not the log's: each side has its own times; "
			   "next time record with trace_clock mono, or say --offset TIME",
			   k->clock ? k->clock : "not known");
}

void ftrace_join_notes(const struct kernel_side *k)
{
	note_guesses(k);
	note_apart(k);
}
