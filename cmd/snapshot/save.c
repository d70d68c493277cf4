// gpq snapshot DIR: saves a host, and prints what was made.
#include "cmd/snapshot/evidence.h"
#include "cmd/snapshot/snapshot.h"

#include "common/cli/stop.h"
#include "common/host/dlopen.h"
#include "common/host/tree.h"

#include <signal.h>

#define ROW saved_row
static const struct out_col cols[] = {
	COL(path, "PATH", "path", STR, D, "directory or archive that was made"),
	COL(s.procs, "PROCS", "processes", U64, D, "processes of KFD in it"),
	COL(s.queues, "QUEUES", "queues", U64, D, "their queues"),
	COL(s.files, "FILES", "files", U64, D, "files in it"),
	COL(s.bytes, "SIZE", "bytes", SIZE, D, "bytes in them"),
	COL(dumps, "DUMPS", "dumps", BOOL, D | S, "the debugfs dumps of MQDs are in it"),
	COL(settled, "CONSISTENT", "consistent", BOOL, D | S,
	    "no queue came or went while the dumps were read"),
	COL(window_ns, "WINDOW", "window_ns", NS, D,
	    "time between the first and the last read of queues and dumps"),
	COL(unreadable, "UNREADABLE", "unreadable", U64, M,
	    "files that could not be read; MANIFEST names them"),
	COL(missed, "MISSED", "missed", U64, M,
	    "times of --every that passed before this one; null without --every"),
};

const struct out_table snapshot_saved_table = {"snapshots", "snapshot", OUT_COLS(cols)};
const struct schema snapshot_saved_schema = {"gpq.snapshot", 1,
					     SCHEMA_TABLES(&snapshot_saved_table), NULL};

int snapshot_refused(const char *path, int error)
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
				LIB_MEND("libarchive", "libarchive13",
					 ", or name a directory instead of an archive"),
				LIB_WHY("%s: ", "libarchive", "libarchive.so.13", ""), path);
	default: return err_sys(error, NULL, "%s", path);
	}
}

int snapshot_choose(const struct snapshot_opts *o, struct pids *chosen)
{
	const struct host_choice by = snapshot_choice(o);
	const struct queue_rows_how how = {.want = host_choice_reads(&by), .idle = true};
	SCOPED(process_cache_fini) struct process_cache processes = {0};
	SCOPED(queue_rows_fini) struct queue_rows rows = {0};
	int status = queue_rows_load(&rows, &processes, &how);
	if (!status)
		status = host_choose(&rows, &by);
	if (!status)
		host_chosen(&rows, chosen);
	return status;
}

int snapshot_make(struct snapshot *s, const char *path, const struct snapshot_how *how)
{
	struct tree *t = tree_new(path);
	if (!t)
		return -1;
	const int r = snapshot_save(s, t, how) || tree_commit(t) ? -1 : 0;
	tree_free(t);
	return r;
}

struct saved_row snapshot_row(const struct snapshot *s, const char *path)
{
	struct saved_row row = {
		.path = path,
		.s = *s,
		.settled = s->settled,
		.window_ns = s->end_ns - s->begin_ns,
		.missed = U64_NULL,
	};
	for (size_t i = 0; i < s->n; i++) {
		const struct snapshot_entry *e = &s->entries[i];
		row.dumps |= !e->error && strcmp(e->path, MQDS_PATH) == 0;
		row.unreadable += e->error != 0;
		if (e->error)
			err_note("%s: %s", e->path,
				 e->error == EPERM || e->error == EACCES ? "not permitted"
									 : strerror(e->error));
	}
	return row;
}

void snapshot_warn(const struct saved_row *row)
{
	if (!row->dumps)
		err_warn(row->s.live ? "run as root for them; see -v" : NULL,
			 "without the dumps of debugfs: on or off, pointers and slots are unknown");
	if (!row->settled)
		err_warn("take another one when things are quiet",
			 "queues came or went during each of %u attempts: the dumps may not agree",
			 row->s.tries);
}

#define LOOK_NS 100000000 // between the two looks of why

static int print_saved_row(const struct cmd *c, const struct snapshot *s, const char *path)
{
	const struct saved_row row = snapshot_row(s, path);
	snapshot_warn(&row);
	if (strcmp(path, "-") == 0)
		return GPQ_OK;
	struct out *o = out_open(&c->out);
	int status = out_begin(o, &snapshot_saved_table, false);
	if (!status)
		out_row(o, &row);
	return out_finish(o, status);
}

int snapshot_try(const struct cmd *c, struct snapshot *s, const char *path,
		 const struct snapshot_how *how)
{
	if (strcmp(path, "-") != 0)
		stop_watch_hangup();
	if (snapshot_make(s, path, how) == 0)
		return GPQ_OK;
	if (!stop_asked())
		return errno == EPIPE ? GPQ_PIPE : snapshot_refused(path, errno);
	const int status = err_fail(stop_status(), NULL, "stopped; nothing is left behind");
	if (c->out.mode == OUT_JSON)
		out_last(status);
	signal(stop_asked(), SIG_DFL); // ends by the signal: so a script's shell stops too
	raise(stop_asked());
	return status;
}

static int save_one(struct cmd *c, const char *path, const struct snapshot_how *how)
{
	SCOPED(snapshot_fini) struct snapshot s = {0};
	const int status = snapshot_try(c, &s, path, how);
	return status ? status : print_saved_row(c, &s, path);
}

static bool ends_in(const char *path, const char *const *ends)
{
	const size_t len = strlen(path);
	for (; *ends; ends++) {
		const size_t n = strlen(*ends);
		if (len > n && strcmp(path + len - n, *ends) == 0)
			return true;
	}
	return false;
}

// Has the name an ending of archives that gpq cannot write? It is not meant as a folder then.
static bool is_other_archive(const char *path)
{
	return ends_in(path, (const char *const[]){".zip", ".7z", ".tar.xz", ".txz", ".tar.bz2",
						   ".tar.lz4", NULL});
}

bool snapshot_is_archive(const char *path)
{
	return strcmp(path, "-") == 0 || is_other_archive(path) ||
	       ends_in(path,
		       (const char *const[]){".tar", ".tar.gz", ".tgz", ".tar.zst", ".tzst", NULL});
}

int snapshot_check_name(const char *path)
{
	if (is_other_archive(path))
		return err_fail(GPQ_USAGE, "archives are .tar, .tar.gz and .tar.zst",
				"%s: no such archive can be written", path);
	if (strcmp(path, "-") == 0 && isatty(STDOUT_FILENO))
		return err_fail(GPQ_USAGE, "gpq snapshot - | ssh ..., or name a file",
				"an archive is not written to a terminal");
	return GPQ_OK;
}

int snapshot_one(struct cmd *c)
{
	const struct snapshot_opts *o = c->opts;
	const struct host_choice by = snapshot_choice(o);
	SCOPED(evidence_fini) struct evidence evidence = {0};
	struct snapshot_how how = {
		.stopped = stop_asked, .earlier = -1, .add = evidence_add, .arg = &evidence};
	struct pids chosen = {0};
	int status = snapshot_check_name(c->argv[0]), found = GPQ_OK;
	if (!status && host_choice_asks(&by)) {
		how.only = &chosen;
		status = snapshot_choose(o, &chosen);
		found = status ? status : host_choice_found(&by, &chosen, "this host");
		status = found == GPQ_PARTIAL ? GPQ_OK : found;
	}
	how.names = o->redact ? redact_new() : NULL;
	if (!status) // without rings it is a snapshot all the same
		evidence_look(&evidence, &by, 1, LOOK_NS);
	if (!status)
		status = save_one(c, c->argv[0], &how);
	redact_free(how.names);
	free(chosen.v);
	return status ? status : found;
}
