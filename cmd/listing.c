// What listings of queues and of processes have in common; see listing.h.
#include "cmd/listing.h"

#include "cmd/command.h"

void listing_add(struct listing *l, const struct queue_row *row)
{
	ARRAY_GROW(l->rows, l->cap, l->n);
	l->rows[l->n++] = row;
	if (!l->pids.n || l->pids.v[l->pids.n - 1] != row->pid)
		pids_push(&l->pids, (pid_t)row->pid);
}

// --- messages for PIDs of -p that have no row ---

static bool pid_has_row(const struct queue_rows *q, pid_t pid)
{
	for (size_t i = 0; i < q->n; i++)
		if (q->rows[i].pid == pid)
			return true;
	return false;
}

static int no_such_process(pid_t pid)
{
	pid_t *found;
	ssize_t n = proc_find_ns_pid(pid, &found);
	pid_t first = n > 0 ? found[0] : 0;
	free(found);
	if (first)
		return err_fail(GPQ_NOTFOUND, "use the host's PID, or --ns-pid",
				"pid %d: in another PID namespace: it is pid %d of this host",
				(int)pid, (int)first);
	return err_fail(GPQ_NOTFOUND, "without -p all are listed", "pid %d: no such process",
			(int)pid);
}

// -Q names none of the queues that the process has, or else another option leaves them out.
static int no_queue_chosen(const struct picked *p, pid_t pid)
{
	SCOPED(buf_fini) struct buf ids = {0};
	bool asked = false, there = false;
	for (size_t i = 0; i < p->rows.n; i++) {
		const struct queue_row *r = &p->rows.rows[i];
		if (r->pid != pid)
			continue;
		if (ids.len < 100)
			buf_printf(&ids, "%s%" PRIu64, ids.len ? ", " : "", r->qid);
		for (size_t k = 0; k < p->queues.n; k++) {
			const struct named_queue *named = &p->queues.named[k];
			const bool of_it = !named->pid || named->pid == pid;
			asked |= of_it;
			there |= of_it && named->id == r->qid;
		}
	}
	return asked && !there
		       ? err_fail(GPQ_NOTFOUND, NULL, "pid %d: -Q names none of its queues: %s",
				  (int)pid, ids.data)
		       : err_fail(GPQ_NOTFOUND, NULL,
				  "pid %d: the other options choose none of its queues", (int)pid);
}

static int explain_pid_without_row(const struct picked *picked, pid_t pid)
{
	const struct queue_rows *q = &picked->rows;
	struct proc p;
	bool alive = proc_read(&p, pid) == 0;
	if (pid_has_row(q, pid))
		return no_queue_chosen(picked, pid);
	const char *dump = q->how->mqds_file ? q->how->mqds_file : host_only_dumps();
	if (dump)
		return err_fail(GPQ_NOTFOUND, NULL, "pid %d: owns no queue in %s", (int)pid, dump);
	const struct kfd_proc *kfd = kfd_procs_find(&q->procs, pid);
	if (kfd && kfd->error)
		return err_sys(kfd->error, NULL, "pid %d: its queues in sysfs", (int)pid);
	if (kfd)
		return err_fail(GPQ_NOTFOUND, "-a shows it",
				alive ? "pid %d: owns no queue, it only has KFD open"
				      : "pid %d: ended, and owns no queue, but something holds its "
					"KFD open",
				(int)pid);
	if (alive && !pids_are_host())
		return err_fail(
			GPQ_NOTFOUND, "run gpq on the host",
			"pid %d: in another PID namespace than KFD's PIDs, which are the host's",
			(int)pid);
	if (alive && !pick_keeps(&picked->pick, pid))
		return err_fail(GPQ_NOTFOUND, NULL, "pid %d: the other options do not choose it",
				(int)pid);
	if (alive)
		return err_fail(GPQ_NOTFOUND, NULL, "pid %d: owns no queue, it never opened KFD",
				(int)pid);
	return no_such_process(pid);
}

// Warns of processes whose queues cannot be read, since they are missing from the list.
static bool warn_unreadable(const struct queue_rows *q)
{
	bool any = false;
	for (size_t i = 0; i < q->procs.nprocs; i++) {
		const struct kfd_proc *p = &q->procs.procs[i];
		if (p->error == EACCES || p->error == EPERM) {
			any = true;
			err_warn(NULL, "pid %d: its queues in sysfs: %s", (int)p->pid,
				 strerror(p->error));
		}
	}
	return any;
}

// Reports the chosen processes that have no row. Returns GPQ_OK if all have one;
// GPQ_PARTIAL if some rows are shown; else the exit status after the last message.
static int check_pids_found(const struct listing *l, const struct picked *p)
{
	const struct queue_rows *q = &p->rows;
	const struct pick *pick = &p->pick;
	const struct pick_opts *o = pick->opts;
	int status = GPQ_OK;
	if (!pick_asks(o))
		return warn_unreadable(q) ? GPQ_PARTIAL : GPQ_OK;
	enum { MESSAGES = 20 };
	size_t missing = 0;
	// With --tree and --ns-pid rows have other PIDs than -p. Then no PID counts as missing if
	// any row is shown.
	for (size_t i = 0; i < o->pids.n && !(l->n && (o->tree || o->ns_pid)); i++) {
		pid_t pid = o->ns_pid && i < pick->pids.n ? pick->pids.v[i] : o->pids.v[i];
		if (!pids_has(&l->pids, pid) && ++missing <= MESSAGES)
			status = explain_pid_without_row(p, pid);
	}
	if (missing > MESSAGES)
		err_warn(NULL, "%zu more PIDs own no queue", missing - MESSAGES);
	if (status)
		return l->n ? GPQ_PARTIAL : status;
	return l->n ? GPQ_OK : picked_report_none(p);
}

// --- why columns are empty ---

struct reason {
	const char *why, *next;
};

// Returns why values of MQDs are unknown; `why` is NULL if MQDs were read, or not wanted.
static struct reason no_mqds(const struct queue_rows *q)
{
	const int error = q->mqds_error;
	if (!error || error == ENODATA || q->how->mqds_file)
		return (struct reason){0};
	if (error == EACCES || error == EPERM)
		return (struct reason){"debugfs is for root", "use sudo"};
	if (error != ENOENT)
		return (struct reason){strerror(error), NULL};
	if (!host_is_live())
		return (struct reason){"the recorded host has no debugfs",
				       "gpq snapshot records it as root"};
	if (!needs_has_debugfs())
		return (struct reason){"debugfs is not mounted", NEXT_MOUNT_DEBUGFS};
	return (struct reason){"debugfs has no kfd/mqds", NULL};
}

// Returns why PID namespaces or rights hide this row's process in /proc; `why` NULL: they do not.
static struct reason no_process(const struct queue_rows *q, const struct queue_row *r)
{
	if (host_only_dumps())
		return (struct reason){"the recorded host has only dumps", NULL};
	if (q->foreign)
		return (struct reason){"KFD has PIDs of the host, and /proc those of a container",
				       "run gpq on the host"};
	if (!(q->how->want & READ_STATUS) || r->process.state || r->pid < 0 || q->how->mqds_file)
		return (struct reason){0};
	const int error = process_cache_get(q->processes, (pid_t)r->pid, PROCESS_STATUS)->error;
	if (error != EACCES && error != EPERM)
		return (struct reason){0};
	return (struct reason){"/proc hides the processes of others", "use sudo"};
}

// Has the column STATE one of these words?
static bool has_state(const struct out_col *c, const void *row, const char *words)
{
	const char *state;
	if (strcmp(c->name, "STATE") != 0 || out_is_null(c, row))
		return false;
	memcpy(&state, (const char *)row + c->offset, sizeof(state));
	return text_has_word(words, state, strlen(state));
}

static bool is_unknown(const struct out_col *c, const void *row)
{
	return out_is_null(c, row) || has_state(c, row, "unknown");
}

static bool all_unknown(const struct listing *l, const struct out_col *c)
{
	for (size_t i = 0; i < l->n; i++)
		if (!is_unknown(c, l->rows[i]))
			return false;
	return true;
}

// Prints a hint with the reason and the names of the empty columns that need one of `reads`, and no
// READ_ bits but those of `reads` and `also`. Columns that are not shown by default are named only
// if -o chose them.
static void tell_reason(const struct listing *l, unsigned reads, unsigned also,
			struct reason because)
{
	const bool asked = l->columns && *l->columns != '+';
	SCOPED(buf_fini) struct buf names = {0};
	size_t n = 0;
	for (unsigned i = 0; because.why && i < l->table->ncols; i++) {
		const struct out_col *c = &l->table->cols[i];
		if (!out_wants(l->out, i) || !(asked || c->flags & D) || !(l->reads[i] & reads) ||
		    l->reads[i] & ~(reads | also) || !all_unknown(l, c))
			continue;
		buf_printf(&names, "%s%s", names.len ? ", " : "", c->name);
		n++;
	}
	if (n)
		err_hint(because.next, "%s: unknown: %s", names.data, because.why);
}

// Rows that are shown for people with an unknown STATE.
struct stateless {
	const struct out_col *column; // STATE; NULL: it is not shown, or not for people
	size_t alike, others;         // rows whose MQD is not certain, and other rows
	const char *why;              // of the others: why; NULL: there are none
	bool traced;                  // a row is off the hardware, and its process is traced
};

static const struct out_col *state_column(const struct listing *l, const struct queue_rows *q)
{
	const int i = out_find_column(l->table, "STATE", strlen("STATE"));
	const bool told = q->verdicts && out_mode(l->out) == OUT_TABLE;
	return told && out_wants(l->out, (unsigned)i) ? &l->table->cols[i] : NULL;
}

static void count_stateless(struct stateless *s, const struct queue_rows *q,
			    const struct queue_row *r)
{
	s->traced |= s->column && r->process.traced == 1 &&
		     has_state(s->column, r, "off-hardware partly-off");
	if (!s->column || !is_unknown(s->column, r))
		return;
	if (r->mqd.index == UINT32_MAX) {
		s->alike += !q->how->likely;
	} else {
		s->others++;
		s->why = residency_text((enum residency)q->verdicts[r->mqd.index]);
	}
}

// Says what tells the states of these rows.
static void tell_stateless(const struct stateless *s)
{
	if (s->alike)
		err_hint("gpq queues --likely takes the likeliest",
			 "STATE: unknown for %zu queue%s: which MQD is whose is not certain",
			 s->alike, text_s(s->alike));
	if (s->why)
		err_hint("gpq hqd shows who has a slot", "STATE: unknown for %zu queue%s: %s",
			 s->others, text_s(s->others), s->why);
	if (s->traced)
		err_hint("gpq why names who took them off",
			 "some queues are off the hardware, and their processes are traced");
}

static bool shows_queue_on(const struct queue_rows *q, uint64_t gpu_id)
{
	for (size_t i = 0; i < q->n; i++)
		if (!q->rows[i].hidden && q->rows[i].gpu_id == gpu_id)
			return true;
	return false;
}

// Names, for people, the GPUs of shown queues whose runlist is chained.
static void tell_oversubscribed(const struct listing *l, const struct queue_rows *q)
{
	for (size_t i = 0; i < q->rls.nnodes && out_mode(l->out) == OUT_TABLE; i++) {
		const struct rls_node *n = &q->rls.nodes[i];
		if (n->chained && shows_queue_on(q, n->gpu_id))
			err_hint("gpq hqd --summary shows who shares it",
				 "GPU %u is over-subscribed: its queues take turns", n->gpu_id);
	}
}

// Explains why columns are empty, with --watch only once.
static void explain_empty(const struct listing *l, const struct queue_rows *q,
			  const struct stateless *s)
{
	static bool told;
	if (!l->n || told)
		return;
	told = true;
	tell_reason(l, READ_MQD, ~0u, no_mqds(q));
	tell_reason(l, READ_STATUS | READ_CONTAINER | READ_CMDLINE, 0, no_process(q, l->rows[0]));
	tell_stateless(s);
	tell_oversubscribed(l, q);
}

int listing_print(const struct listing *l, const struct picked *p)
{
	struct stateless stateless = {.column = state_column(l, &p->rows)};
	for (size_t i = 0; i < l->n; i++)
		if (out_row(l->out, l->rows[i]))
			count_stateless(&stateless, &p->rows, l->rows[i]);
	explain_empty(l, &p->rows, &stateless);
	if (!l->n && !p->how.mqds_file && !kfd_topology_has_gpu())
		out_say_none(l->out,
			     "no queues, and no GPU: gpq gpus --check says what is missing");
	const bool damaged = queue_rows_explain(&p->rows);
	int status = check_pids_found(l, p);
	if (!status && !l->n && p->queues.n)
		status = err_fail(GPQ_NOTFOUND, "without -Q all are listed",
				  "no queue that was asked for is there");
	return !status && damaged ? GPQ_PARTIAL : status;
}

int listing_run(struct listing *l, const struct out_opts *opts, const struct queue_rows_how *how)
{
	struct queue_rows_how reads = *how;
	struct picked p = {0};
	int status = picked_init(&p, l->by);
	if (status)
		return status;
	l->columns = opts->columns;
	l->whole =
		!opts->columns && !opts->noheadings && !opts->filter && !host_choice_asks(&l->by);
	l->out = out_open(opts);
	status = out_begin(l->out, l->table, false);
	reads.want |= host_choice_reads(&l->by);
	for (unsigned i = 0; i < l->table->ncols && !status; i++)
		reads.want |= out_wants(l->out, i) ? l->reads[i] : 0;
	status = status ? status : picked_load(&p, &reads);
	status = status ? status : picked_hide(&p);
	status = status ? status : l->print(l, &p);
	out_end(l->out);
	const int written = out_close(l->out);
	free(l->rows);
	free(l->pids.v);
	picked_fini(&p);
	return written ? written : status;
}
