// gpq trace --ftrace with logs: which process of the trace is which of the log, and the offset
// between their clocks. Both come from --pid-map and --offset, else from rings and numbers that
// stand on both sides (common/ftrace/join.c), else they are guessed (common/ftrace/tie.c).
#include "cmd/trace/ftrace.h"

#include "common/host/number.h"

// Reads a member of --pid-map, "LOGPID=KERNELPID".
static bool parse_pair(const char *text, uint64_t *log_pid, uint64_t *pid)
{
	const char *equals = strchr(text, '='), *end = text + strlen(text);
	return equals && number_read(text, equals, 10, INT32_MAX, log_pid) == equals &&
	       number_read(equals + 1, end, 10, INT32_MAX, pid) == end;
}

int ftrace_join_check(struct kernel_side *k)
{
	const struct words *map = &k->opts->pid_map;
	const char *offset = k->opts->offset;
	uint64_t pid, ns = 0;
	for (size_t i = 0; i < map->n; i++) {
		if (!parse_pair(map->v[i], &pid, &pid))
			return err_fail(GPQ_USAGE, "give the log's pid and the kernel's: 7=3934101",
					"--pid-map: %s is not LOGPID=KERNELPID", map->v[i]);
	}
	if (offset &&
	    (!parse_duration(offset + (*offset == '-' || *offset == '+'), &ns) || ns > INT64_MAX))
		return err_fail(GPQ_USAGE, "give the log's clock less the trace's, as 134.2ms",
				"--offset: %s is no time with its unit", offset);
	k->offset_ns = offset && *offset == '-' ? -(int64_t)ns : (int64_t)ns;
	return GPQ_OK;
}

int ftrace_join(struct kernel_side *k)
{
	const struct words *map = &k->opts->pid_map;
	const bool given = k->opts->offset;
	uint64_t log_pid = 0, pid = 0;
	for (size_t i = 0; i < map->n; i++) {
		parse_pair(map->v[i], &log_pid, &pid);
		if (!ftrace_give(&k->f, &k->t->sum, (int64_t)log_pid, (int64_t)pid))
			return err_fail(GPQ_NOTFOUND, "name each process once, as both have it",
					"--pid-map %s: not in the log or not in the trace",
					map->v[i]);
	}
	ftrace_match(&k->f, &k->t->sum);
	k->moved = given;
	if (given)
		ftrace_move(&k->f, k->offset_ns);
	if (k->several && ftrace_tie(&k->f, &k->t->sum, given || !k->apart)) {
		k->moved = true;
		k->offset_ns = k->f.offset_ns;
		ftrace_move(&k->f, k->offset_ns);
	}
	k->apart = k->apart && !k->moved;
	return GPQ_OK;
}

// Notes a guess, and that the trace was moved onto the log's clock.
static void note_guesses(const struct kernel_side *k)
{
	const double ms = (double)k->offset_ns / 1e6;
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
	uint32_t missing = 0;
	int64_t first = -1;
	for (uint32_t i = 0; k->several && k->f.n && i < s->nprocesses; i++) {
		if (s->processes[i].records && !ftrace_of_log(&k->f, i))
			first = missing++ ? first : s->processes[i].pid;
	}
	if (missing)
		trace_note(k->t,
			   "processes of the log that nothing ties to the trace: %" PRIu32
			   ", the first is %" PRId64 "; next time record with trace_clock mono and "
			   "kfd_ioctl_create_queue in the filter, or say --pid-map "
			   "LOGPID=KERNELPID",
			   missing, first);
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
