// gpq hang: options and columns. A snapshot with evidence (cmd/snapshot/evidence.h) of three looks;
// and the evidence of the ranks of a job side by side.
#include "cmd/flight.h"
#include "cmd/snapshot/evidence.h"
#include "cmd/snapshot/snapshot.h"

#include "common/cli/input.h"
#include "common/cli/stop.h"
#include "common/host/number.h"

#include <time.h>

#define LOOKS    3
#define OVER_MAX 3600000000000u // ns

struct hang_opts {
	struct pick_opts pick;
	struct pick_queues_opts queues;
	bool redact, merge, waves;
	struct words flights; // --flight
	uint64_t over;        // ns
};

static const struct hang_opts defaults = {.over = 9000000000};

static const struct opt opts[] = {
	PICK_OPTS(hang_opts),
	PICK_QUEUES_OPTS(hang_opts),
	OPT(hang_opts, over, "over", 0, OPT_NS, "TIME", "time of its three looks (9s)"),
	OPT(hang_opts, waves, "waves", 0, OPT_FLAG, "",
	    "also light GPU cores (gpq core): queues are\noff while their waves are copied"),
	OPT(hang_opts, redact, "redact", 0, OPT_FLAG, "",
	    "replace names by pseudonyms:\nof programs, users, hosts, containers and kernels"),
	OPT(hang_opts, merge, "merge", 0, OPT_FLAG, "",
	    "archives of a job's ranks, side by side:\nwhere each stands, and in which collective"),
	OPT(hang_opts, flights, "flight", 0, OPT_LIST, "FILE",
	    "\na dump of PyTorch's flight recorder, whose\nname ends with the rank; may be "
	    "repeated"),
	{0},
};

static const struct opt_rule rules[] = {
	RULE_NEEDS("flight", "merge", "gpq hang --merge A B --flight /tmp/nccl_trace_rank_0",
		   "--flight is joined to the ranks of archives"),
	RULE_EXCLUDES("merge", "redact over waves", "", "--merge reads archives: it has no --%2"),
	RULE_EXCLUDES("redact", "waves", "leave out one of them",
		      "--waves: a core has memory of the process"),
	RULE_RANGE("over", 1, OVER_MAX, "for example --over 9s", "--over: more than 0, at most 1h"),
	{0},
};

// --- saving ---

// gpq-hang-HOST-20261126T120000Z.tar.zst
static void default_name(char to[160])
{
	char host[65], when[32];
	const time_t now = time(NULL);
	struct tm t;
	if (!host_read_line(host, sizeof(host), "/proc/sys/kernel/hostname") || strchr(host, '/'))
		strcpy(host, "host");
	strftime(when, sizeof(when), "%Y%m%dT%H%M%SZ", gmtime_r(&now, &t));
	snprintf(to, 160, "gpq-hang-%s-%s.tar.zst", host, when);
}

static int no_evidence(void)
{
	if (host_access(MQDS_PATH, R_OK))
		return err_fail(errno == ENOENT ? GPQ_UNSUPPORTED : GPQ_DENIED,
				errno == ENOENT ? NEXT_MOUNT_DEBUGFS : "as root",
				"where the rings are is in " MQDS_PATH ": %s", strerror(errno));
	return err_fail(GPQ_NOTFOUND, "gpq ps lists processes that use a GPU",
			"no process has queues: nothing can hang");
}

static int print_saved(const struct cmd *c, const struct evidence *e, const struct snapshot *s,
		       const char *path)
{
	const struct saved_row row = snapshot_row(s, path);
	SCOPED(buf_fini) struct buf lines = {0};
	snapshot_warn(&row);
	if (strcmp(path, "-") == 0)
		return GPQ_OK;
	struct out *o = out_open(&c->out);
	int status = GPQ_OK;
	if (why_says_verdicts(&c->out)) {
		why_say(&lines, &e->why, false);
		out_title(o, "%.*s", (int)lines.len - 1, lines.data);
	} else {
		status = why_print_processes(o, &e->why);
	}
	if (!status || status == GPQ_STUCK)
		status = out_begin(o, &snapshot_saved_table, false);
	if (!status)
		out_row(o, &row);
	return out_finish(o, status);
}

static int save(struct cmd *c, struct evidence *e, const char *path)
{
	const struct hang_opts *o = c->opts;
	struct pids kept = {0}; // the chosen ones, and who shares memory with them
	SCOPED(snapshot_fini) struct snapshot s = {0};
	struct snapshot_how how = {.stopped = stop_asked,
				   .earlier = -1,
				   .names = o->redact ? redact_new() : NULL,
				   .add = evidence_add,
				   .arg = e};
	const struct host_choice by = {&o->pick, &o->queues};
	for (size_t i = 0; i < e->rings.nprocesses; i++)
		pids_push(&kept, e->rings.processes[i].pid);
	if (host_choice_asks(&by))
		how.only = &kept;
	int status = snapshot_try(c, &s, path, &how);
	if (!status)
		status = print_saved(c, e, &s, path);
	redact_free(how.names);
	free(kept.v);
	return status;
}

static int look_and_save(struct cmd *c)
{
	const struct hang_opts *o = c->opts;
	const struct host_choice by = {&o->pick, &o->queues};
	SCOPED(evidence_fini) struct evidence evidence;
	char name[160];
	default_name(name);
	const char *path = c->argc ? c->argv[0] : name;
	const int looked = evidence_look(&evidence, &by, LOOKS, o->over / LOOKS);
	if (looked && looked != GPQ_PARTIAL)
		return looked;
	if (!evidence.records)
		return no_evidence();
	evidence.cores = o->waves;
	const int status = save(c, &evidence, path);
	return status ? status : evidence.lost_cores ? GPQ_PARTIAL : looked;
}

// --- the ranks of a job, side by side ---

// A process in an archive; owns its texts.
struct rank_row {
	const char *file;
	char *host, *comm, *kernel, *verdict, *collective, *called;
	const char *state, *launched;
	uint64_t rank, qid, stood_ns;
	int64_t pid;
	int8_t stuck;
};

#define ROW rank_row
static const struct out_col cols[] = {
	COL(rank, "RANK", "rank", U64, D, "rank in its job, as its environment said"),
	COL(host, "HOST", "host", STR, D, "host that was recorded"),
	COL(pid, "PID", "pid", I64, D, "process, as that host numbers it"),
	COL(comm, "COMMAND", "command", STR, D | T, "command name, up to 15 bytes"),
	COL(state, "STATE", "state", STR, D, "as of gpq why"),
	COL(stuck, "STUCK", "stuck", BOOL, M, "a queue of it is stuck"),
	COL(qid, "QID", "qid", U64, M, "the queue with that state"),
	COL(stood_ns, "STOOD", "stood_ns", NS, D,
	    "for how long, at least, that queue took no packet"),
	COL(kernel, "KERNEL", "kernel", STR, D | T, "kernel at work, or that of the next packet"),
	COL(launched, "LAUNCHED", "launched", STR, D | S,
	    "the collective kernel: at-work, queued, or none in its rings; by names of RCCL's "
	    "kernels"),
	COL(collective, "COLLECTIVE", "collective", STR, D | T, "that kernel"),
	COL(called, "CALLED", "called", STR, D | S | T,
	    "the oldest collective that PyTorch called and that has not ended, its process group "
	    "and state, as of --flight; none"),
	COL(verdict, "VERDICT", "verdict", STR, D | T, "the verdict in a sentence"),
	COL(file, "FILE", "file", STR, M, "archive that it is in"),
};
#undef ROW
static const struct out_table rank_table = {"ranks", "rank", OUT_COLS(cols)};

static const struct schema merge_schema = {"gpq.hang.merge", 1, SCHEMA_TABLES(&rank_table), NULL};

struct ranks {
	struct rank_row *v;
	size_t n, cap;
};

static void ranks_fini(struct ranks *r)
{
	for (size_t i = 0; i < r->n; i++) {
		struct rank_row *x = &r->v[i];
		char *const owned[] = {x->host,    x->comm,       x->kernel,
				       x->verdict, x->collective, x->called};
		for (size_t k = 0; k < COUNT(owned); k++)
			free(owned[k]);
	}
	free(r->v);
}

static char *copy(const char *text)
{
	return text ? xstrdup(text) : NULL;
}

// The names of ranks that launchers give, the best known first.
static uint64_t rank_of(pid_t pid)
{
	static const char *const names[] = {
		"\nRANK=", "\nOMPI_COMM_WORLD_RANK=", "\nSLURM_PROCID=", "\nPMI_RANK="};
	SCOPED(buf_fini) struct buf b = {0}, text = {0};
	uint64_t rank;
	if (host_read(&b, PATH("/proc/%d/rank", (int)pid)) < 0)
		return U64_NULL;
	buf_printf(&text, "\n%s", b.data);
	for (size_t i = 0; i < COUNT(names); i++) {
		const char *s = strstr(text.data, names[i]);
		if (s && number_read(s + strlen(names[i]), NULL, 10, UINT64_MAX, &rank))
			return rank;
	}
	return U64_NULL;
}

static bool is_collective(const char *name)
{
	return name && (strstr(name, "nccl") || strstr(name, "rccl"));
}

// Sets the collective kernel that is at work in a queue of the process, else the first that waits
// in a ring.
static void find_collective(struct rank_row *r, const struct why *w, const struct why_process *p,
			    struct kernels *k)
{
	r->launched = "none";
	for (size_t i = p->first; i < p->end; i++) {
		const struct why_queue *x = &w->v[i];
		const char *name =
			x->work.queue != SIZE_MAX ? kernels_name(k, x->q, x->work.kernel) : NULL;
		SCOPED(ring_look_fini) struct ring_look l;
		if (is_collective(name)) {
			free(r->collective);
			r->collective = xstrdup(name);
			r->launched = "at-work";
			return;
		}
		ring_look(&x->q->ring, &w->rings->processes[x->q->process].memory, 0, 64, &l);
		for (size_t j = 0; j < l.n && !r->collective; j++) {
			name = kernels_name(k, x->q, l.v[j].packet.kernel_object);
			if (!is_collective(name))
				continue;
			r->collective = xstrdup(name);
			r->launched = "queued";
		}
	}
}

static void add_rank(struct ranks *to, const char *file, const struct why *w,
		     const struct why_process *p, struct kernels *k)
{
	const struct why_queue *x = &w->v[p->worst];
	const uint64_t object = x->work.queue != SIZE_MAX ? x->work.kernel : x->next.kernel_object;
	char host[65];
	struct rank_row *r = ARRAY_ADD(to->v, to->cap, to->n);
	host_read_line(host, sizeof(host), "/proc/sys/kernel/hostname");
	*r = (struct rank_row){
		.file = file,
		.host = *host ? xstrdup(host) : NULL,
		.comm = copy(x->q->row->process.comm),
		.state = why_state_word(x->state),
		.kernel = object ? copy(why_kernel_name(k, x->q, object)) : NULL,
		.verdict = copy(p->text),
		.rank = rank_of((pid_t)x->q->row->pid),
		.pid = x->q->row->pid,
		.qid = x->q->row->qid,
		.stood_ns = x->pointers && !x->once ? x->stood_ns : U64_NULL,
		.stuck = p->stuck > 0,
	};
	find_collective(r, w, p, k);
}

static int read_ranks(struct ranks *to, const struct hang_opts *o, const char *file)
{
	const struct rings_how rings_how = {.pick = &o->pick,
					    .queues = &o->queues,
					    .want = READ_HOLDER | READ_CU,
					    .whole = true};
	SCOPED(why_heads_fini) struct why_heads heads = {0};
	SCOPED(rings_fini) struct rings rings = {0};
	struct kernels kernels;
	const struct why_how how = {.heads = &heads, .name = why_kernel_name, .arg = &kernels};
	struct why w;
	int status = input_root(file, "");
	status = status ? status : rings_load(&rings, &rings_how);
	if (status && status != GPQ_PARTIAL)
		return status;
	kernels_begin(&kernels, &rings, NULL);
	kernels.demangles = true;
	why_look_on(&w, &rings, &how);
	for (size_t i = 0; i < rings.nprocesses; i++)
		if (w.processes[i].chosen)
			add_rank(to, file, &w, &w.processes[i], &kernels);
	why_fini(&w);
	kernels_end(&kernels);
	return status;
}

static int by_rank(const void *a, const void *b)
{
	const struct rank_row *x = a, *y = b;
	int r = ORDER(x->rank, y->rank);
	r = r ? r : strcmp(x->file, y->file);
	return r ? r : ORDER(x->pid, y->pid);
}

// "2 of 4 processes are at work in a collective that 1 has not launched: rank 3 (pid 77, host b)"
static void say_who_is_missing(struct out *o, const struct ranks *r)
{
	SCOPED(buf_fini) struct buf who = {0};
	size_t at_work = 0, missing = 0;
	for (size_t i = 0; i < r->n; i++) {
		const struct rank_row *x = &r->v[i];
		at_work += strcmp(x->launched, "at-work") == 0;
		if (strcmp(x->launched, "none") != 0)
			continue;
		buf_puts(&who, missing++ ? ", " : "");
		if (x->rank != U64_NULL)
			buf_printf(&who, "rank %" PRIu64 " ", x->rank);
		buf_printf(&who, "(pid %" PRId64 " on %s)", x->pid, x->host ? x->host : "?");
	}
	if (at_work && missing)
		out_title(o,
			  "%zu of %zu processes are at work in a collective that %zu %s not "
			  "launched: %s",
			  at_work, r->n, missing, missing == 1 ? "has" : "have", who.data);
}

// --- flight recorders ---

struct flights {
	struct flight *v;
	size_t n;
};

static void flights_fini(struct flights *f)
{
	for (size_t i = 0; i < f->n; i++)
		flight_fini(&f->v[i]);
	free(f->v);
}

static int read_flights(struct flights *f, const struct words *files)
{
	int status = GPQ_OK;
	f->v = xcalloc(files->n + 1, sizeof(*f->v));
	for (; f->n < files->n && !status; f->n++)
		status = flight_read(&f->v[f->n], files->v[f->n]);
	return status;
}

static void join_flight(struct rank_row *r, const struct flight *f)
{
	const struct flight_call *c = flight_pending(f);
	free(r->called);
	r->called = !c ? xstrdup("none")
		       : xasprintf("%s %" PRIu64 " of %s: %s%s%s", c->name, c->number,
				   *c->about ? c->about : c->group, c->state, *c->where ? ", " : "",
				   c->where);
}

// Returns how many dumps are of a rank that no archive has.
static size_t join_flights(struct ranks *ranks, const struct flights *f)
{
	size_t alone = 0;
	for (size_t i = 0; i < f->n; i++) {
		bool found = false;
		for (size_t k = 0; k < ranks->n; k++)
			if (ranks->v[k].rank == f->v[i].rank) {
				join_flight(&ranks->v[k], &f->v[i]);
				found = true;
			}
		alone += !found;
	}
	return alone;
}

static void say_what_was_not_called(struct out *o, const struct flights *f)
{
	SCOPED(buf_fini) struct buf lines = {0};
	flight_compare(&lines, f->v, f->n);
	if (lines.len)
		out_title(o, "%.*s", (int)lines.len - 1, lines.data);
}

static int merge(struct cmd *c)
{
	const struct hang_opts *opt = c->opts;
	SCOPED(flights_fini) struct flights flights = {0};
	SCOPED(ranks_fini) struct ranks ranks = {0};
	bool stuck = false;
	int status = GPQ_OK;
	for (int i = 0; i < c->argc && (!status || status == GPQ_PARTIAL); i++)
		status = read_ranks(&ranks, c->opts, c->argv[i]);
	host_set_root(NULL);
	if (!status || status == GPQ_PARTIAL) {
		const int read = read_flights(&flights, &opt->flights);
		status = read ? read : status;
	}
	if (status && status != GPQ_PARTIAL)
		return status;
	if (join_flights(&ranks, &flights))
		err_warn(NULL, "--flight: no archive has a process of some of these ranks");
	ARRAY_SORT(ranks.v, ranks.n, by_rank);
	c->out.schema = &merge_schema;
	struct out *o = out_open(&c->out);
	if (c->out.mode == OUT_TABLE && !c->out.noheadings) {
		say_who_is_missing(o, &ranks);
		say_what_was_not_called(o, &flights);
	}
	const int begun = out_begin(o, &rank_table, false);
	for (size_t i = 0; i < ranks.n && !begun; i++)
		stuck |= out_row(o, &ranks.v[i]) && ranks.v[i].stuck;
	const int written = out_finish(o, begun);
	return written ? written : stuck ? GPQ_STUCK : status;
}

static int check_hang(struct cmd *c)
{
	const struct hang_opts *o = c->opts;
	if (o->merge)
		return c->argc ? GPQ_OK
			       : err_fail(GPQ_USAGE, "gpq hang --merge A.tar.zst B.tar.zst",
					  "--merge: the archives are missing");
	if (c->argc > 1)
		return err_fail(GPQ_USAGE, "gpq hang --merge A B puts archives side by side",
				"%s: only one name is expected", c->argv[1]);
	return c->argc ? snapshot_check_name(c->argv[0]) : GPQ_OK;
}

static unsigned hang_needs(const struct cmd *c)
{
	return ((const struct hang_opts *)c->opts)->merge ? 0 : NEED_KFD | NEED_LIVE;
}

static int run_hang(struct cmd *c)
{
	return ((const struct hang_opts *)c->opts)->merge ? merge(c) : look_and_save(c);
}

static const struct schema saved_schema = {
	"gpq.hang", 1, SCHEMA_TABLES(&why_process_table, &snapshot_saved_table), NULL};

static const struct out_table *const *hang_prints(const struct cmd *c)
{
	const struct hang_opts *o = c->opts;
	static const struct out_table *const saved[] = {&snapshot_saved_table, NULL};
	if (o->merge)
		return merge_schema.tables;
	return why_says_verdicts(&c->out) ? saved : saved_schema.tables;
}

const struct cmd_spec hang_spec = {
	.synopsis = "[-p PID[,PID...]] [--container ID|NAME] [--comm REGEX] [--over TIME] "
		    "[--redact] [FILE.tar.zst|DIR|-]\n"
		    "--merge FILE... [--flight FILE]...",
	.description = "Keeps the evidence of a hang: a snapshot (gpq snapshot) with the packets "
		       "around the "
		       "heads of all rings,\nsignals, names of kernels, host threads and the "
		       "driver's lines "
		       "of the kernel's log, looked at three\ntimes. Nothing is stopped. gpq why "
		       "--sysroot "
		       "FILE gives the same verdicts anywhere, and --merge puts\nthe ranks of a "
		       "job side by "
		       "side. As root.",
	.operands = "[FILE]",
	.opts = opts,
	.rules = rules,
	.opts_size = sizeof(struct hang_opts),
	.defaults = &defaults,
	.tables = SCHEMA_TABLES(&why_process_table, &snapshot_saved_table, &rank_table),
	.schemas = SCHEMAS(&saved_schema, &merge_schema),
	.needs = hang_needs,
	.prints = hang_prints,
	.check = check_hang,
	.run = run_hang,
};
