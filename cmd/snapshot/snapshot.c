// gpq snapshot: save what a host shows, so that --sysroot replays it anywhere; --diff and --compare
// what was saved.
#include "cmd/snapshot/snapshot.h"

#include "common/host/redact.h"
#include "common/host/tree.h"
#include "common/state/snapshot.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static const char *const by_words[] = {"cmdline", "comm", "container", NULL};
static const char *const table_words[] = {"runs", "programs", "overlaps", "strategies", NULL};

static const struct opt opts[] = {
	OPT(snapshot_opts, redact, "redact", 0, OPT_FLAG, NULL,
	    "replace names by pseudonyms:\nof programs, users, hosts and containers"),
	OPT(snapshot_opts, diff, "diff", 0, OPT_FLAG, NULL,
	    "what happened to queues between two snapshots"),
	OPT(snapshot_opts, all, "all", 'a', OPT_FLAG, NULL,
	    "with --diff: also queues that did not change"),
	OPT(snapshot_opts, exit_code, "exit-code", 0, OPT_FLAG, NULL,
	    "with --diff: exit with 1 when anything changed"),
	OPT(snapshot_opts, compare, "compare", 0, OPT_FLAG, NULL,
	    "are queues the same in every run:\nids, counts and slots"),
	OPT_ONE_OF(snapshot_opts, by, "by", 0, "WHAT",
		   "with --compare: what names a program:\ncmdline, comm or container", by_words),
	OPT_ONE_OF(snapshot_opts, table, "table", 0, "WHICH",
		   "with --compare: only this:\nruns, programs, overlaps or strategies",
		   table_words),
	{0},
};

struct saved_row {
	const char *path;
	struct snapshot s;
	uint64_t window_ns, unreadable;
	int8_t dumps, settled;
};

#define COL(member, name, key, type, flags, help) \
	OUT_COL(saved_row, member, name, key, type, flags, help)

static const struct out_col cols[] = {
	COL(path, "PATH", "path", OUT_STR, OUT_DEFAULT, "directory or archive that was made"),
	COL(s.procs, "PROCS", "processes", OUT_U64, OUT_DEFAULT, "processes of KFD in it"),
	COL(s.queues, "QUEUES", "queues", OUT_U64, OUT_DEFAULT, "their queues"),
	COL(s.files, "FILES", "files", OUT_U64, OUT_DEFAULT, "files in it"),
	COL(s.bytes, "SIZE", "bytes", OUT_SIZE, OUT_DEFAULT, "bytes in them"),
	COL(dumps, "DUMPS", "dumps", OUT_BOOL, OUT_DEFAULT | OUT_STATUS,
	    "the debugfs dumps of MQDs are in it"),
	COL(settled, "SETTLED", "settled", OUT_BOOL, OUT_DEFAULT | OUT_STATUS,
	    "no queue came or went while the dumps were read"),
	COL(window_ns, "WINDOW", "window_ns", OUT_NS, OUT_DEFAULT,
	    "time between the first and the last read of queues and dumps"),
	COL(unreadable, "UNREADABLE", "unreadable", OUT_U64, OUT_MACHINE,
	    "files that could not be read; MANIFEST names them"),
};

static const struct out_table saved_table = {"snapshots", "snapshot", OUT_COLS(cols)};
static const struct out_table *const tables[] = {&saved_table,
						 &snapshot_diff_table,
						 &run_compare_tables[RUN_PROCESSES],
						 &run_compare_tables[RUN_PROGRAMS],
						 &run_compare_tables[RUN_OVERLAPS],
						 &run_compare_tables[RUN_STRATEGIES],
						 NULL};
static const struct schema schema = {"gpq.snapshot", 1, SCHEMA_TABLES(&saved_table), NULL};

static volatile int stopped; // the signal

// timeout(1) and shells send it twice, once to the process and once to its group; an
// impatient user sends more.
static void on_signal(int sig)
{
	static volatile int more;
	if (stopped && ++more > 2)
		signal(sig, SIG_DFL);
	stopped = sig;
}

// A signal ends the snapshot between two files and leaves nothing behind.
static void catch_signals(void)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
	const struct sigaction sa = {.sa_handler = on_signal};
	for (unsigned i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		struct sigaction old;
		sigaction(signals[i], NULL, &old);
		if (old.sa_handler != SIG_IGN) // nohup
			sigaction(signals[i], &sa, NULL);
	}
}

static int refused(const char *path, int error)
{
	if (strcmp(path, "-") == 0)
		path = "standard output";
	switch (error) {
	case EEXIST:
		return err_fail(GPQ_FAILED, "choose another name, or remove it first",
				"%s is there already", path);
	case ENOENT: return err_sys(error, "make the folder it shall lie in first", "%s", path);
	case ENOPKG:
		return err_fail(GPQ_UNSUPPORTED,
				"install libarchive13, or name a directory instead of an archive",
				"%s: libarchive.so.13 is missing", path);
	default: return err_sys(error, NULL, "%s", path);
	}
}

// What is missing: each file for -v, the dumps for everybody.
static void find_missing(struct saved_row *row)
{
	for (size_t i = 0; i < row->s.n; i++) {
		const struct snapshot_entry *e = &row->s.entries[i];
		row->dumps |= !e->error && strcmp(e->path, "/sys/kernel/debug/kfd/mqds") == 0;
		row->unreadable += e->error != 0;
		if (e->error)
			err_note("%s: %s", e->path,
				 e->error == EPERM || e->error == EACCES ? "not permitted"
									 : strerror(e->error));
	}
}

static int print_saved(const struct cmd *c, const struct snapshot *s, const char *path)
{
	struct saved_row row = {
		.path = path,
		.s = *s,
		.settled = s->settled,
		.window_ns = s->end_ns - s->begin_ns,
	};
	find_missing(&row);
	if (!row.dumps)
		err_warn(s->live ? "run as root for them; see -v" : NULL,
			 "without the dumps of debugfs: on or off, pointers and slots are unknown");
	if (!s->settled)
		err_warn("take another one when things are quiet",
			 "queues came or went during each of %u attempts: the dumps may not agree",
			 s->tries);
	if (strcmp(path, "-") == 0)
		return GPQ_OK;
	struct out *o = out_open(&c->out);
	int status = out_begin(o, &saved_table, false);
	if (!status)
		out_row(o, &row);
	return out_finish(o, status);
}

static int save(struct cmd *c, const char *path, struct redact *names)
{
	struct snapshot s = {0};
	if (strcmp(path, "-") != 0)
		catch_signals();
	struct tree *t = tree_new(path);
	if (!t)
		return refused(path, errno);
	int failed = snapshot_save(&s, t, names, &stopped) || tree_commit(t);
	int error = errno, status;
	tree_free(t);
	if (!failed) {
		status = print_saved(c, &s, path);
	} else if (stopped) {
		err_warn(NULL, "stopped; nothing is left behind");
		signal(stopped, SIG_DFL); // ended by it, so that a script's shell stops too
		raise(stopped);
		status = 128 + stopped;
	} else {
		status = error == EPIPE ? GPQ_PIPE : refused(path, error);
	}
	snapshot_fini(&s);
	return status;
}

// A name with one of these endings is meant as an archive, not as a folder.
static bool is_other_archive(const char *path)
{
	static const char *const ends[] = {".zip", ".7z",      ".tar.xz",
					   ".txz", ".tar.bz2", ".tar.lz4"};
	size_t len = strlen(path);
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		size_t n = strlen(ends[i]);
		if (len > n && strcmp(path + len - n, ends[i]) == 0)
			return true;
	}
	return false;
}

static int run_save(struct cmd *c)
{
	const struct snapshot_opts *o = c->opts;
	if (c->argc != 1)
		return err_fail(GPQ_USAGE,
				"gpq snapshot DIR, or FILE.tar.zst, or - for a tar stream",
				c->argc ? "%s: only one name is expected" : "a name is missing",
				c->argc ? c->argv[1] : "");
	if (is_other_archive(c->argv[0]))
		return err_fail(GPQ_USAGE, "archives are .tar, .tar.gz and .tar.zst",
				"%s: no such archive can be written", c->argv[0]);
	if (strcmp(c->argv[0], "-") == 0 && isatty(STDOUT_FILENO))
		return err_fail(GPQ_USAGE, "gpq snapshot - | ssh ..., or name a file",
				"an archive is not written to a terminal");
	struct redact *names = o->redact ? redact_new() : NULL;
	int status = save(c, c->argv[0], names);
	redact_free(names);
	return status;
}

static const struct snapshot_opts defaults = {.by = -1, .table = -1};

static int misplaced(const char *option, const char *of)
{
	return err_fail(GPQ_USAGE, "see gpq help snapshot", "%s is only for %s", option, of);
}

static int check_options(const struct snapshot_opts *o)
{
	if (o->redact && (o->diff || o->compare))
		return misplaced("--redact", "saving");
	if (o->diff && o->compare)
		return err_fail(GPQ_USAGE, "choose one", "--diff and --compare exclude each other");
	if (!o->diff && (o->all || o->exit_code))
		return misplaced(o->all ? "--all" : "--exit-code", "--diff");
	if (!o->compare && (o->by >= 0 || o->table >= 0))
		return misplaced(o->by >= 0 ? "--by" : "--table", "--compare");
	return GPQ_OK;
}

static int run(struct cmd *c)
{
	struct snapshot_opts *o = c->opts;
	int status = check_options(o);
	if (status)
		return status;
	o->by = o->by < 0 ? 0 : o->by;
	return o->diff ? snapshot_diff(c) : o->compare ? snapshot_compare(c) : run_save(c);
}

// --diff and --compare read saved hosts, so they need no driver; nor do errors of usage.
static unsigned needs(const struct cmd *c)
{
	const struct snapshot_opts *o = c->opts;
	const bool saves =
		!o->diff && !o->compare && !o->all && !o->exit_code && o->by < 0 && o->table < 0;
	return saves ? NEED_KFD : 0;
}

const struct cmd_spec snapshot_spec = {
	.synopsis = "[--redact] DIR|FILE.tar[.gz|.zst]|-\n--diff [-a] [--exit-code] BEFORE AFTER\n"
		    "--compare [--by WHAT] [--table WHICH] RUN...",
	.description =
		"Saves what the other commands read - topology, processes and queues of KFD, "
		"debugfs "
		"dumps, the parts\nof /proc, module parameters - as a tree that --sysroot replays. "
		"With --diff, tells what happened to\nthe queues between two such trees (/ is the "
		"live host); with --compare, whether programs get the same\nqueues in every run.",
	.operands = "DIR",
	.opts = opts,
	.opts_size = sizeof(struct snapshot_opts),
	.defaults = &defaults,
	.tables = tables,
	.schemas = SCHEMAS(&schema, &snapshot_diff_schema, &snapshot_compare_schema),
	.needs = needs,
	.run = run,
};
