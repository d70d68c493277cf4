// The room of snapshots: saves what a host shows of its GPUs and their processes as a tree that
// --sysroot replays. Open this file first. The paths are a table in snapshot_items.c. series.h
// numbers many snapshots; host_state.h reads the queues of a moment, live or saved, and compares
// two moments; run_compare.h compares repeated runs of programs. Nothing is written to the host.
// /dev/kfd is opened only for its version, after everything else was read.
#pragma once

#include "common/cli/opts.h"
#include "common/host/redact.h"
#include "common/host/tree.h"

// A path of the host, or a pattern of paths (glob.h).
struct snapshot_item {
	const char *path;
	unsigned flags;
	void (*redact)(struct redact *, struct buf *); // with --redact; NULL: nothing to hide
};

enum {
	SNAP_DUMP = 1,     // read before all other items, as close in time as possible
	SNAP_PROC = 2,     // saved for each process, whose PID replaces "%"
	SNAP_LINK = 4,     // a symbolic link, which is saved as a link
	SNAP_OPTIONAL = 8, // missing on many hosts, so that /MANIFEST does not note it
	SNAP_FLAT = 16,    // symbolic links on the way (/proc/self) are followed, but not saved
	SNAP_FIXED = 32,   // its content changes only with the topology
	SNAP_ONCE = 64,    // large, or slow to read: saved only with evidence (snapshot_how.add)
	// Recorded by evidence: copied from a recorded host, but for names that redact() would
	// hide, or that others than the chosen processes have.
	SNAP_COPIED = 128,
};

extern const struct snapshot_item snapshot_items[]; // ends with a NULL path

// What became of one path.
struct snapshot_entry {
	char *path;
	uint64_t size;             // bytes
	uint64_t begin_ns, end_ns; // CLOCK_MONOTONIC around the reading; dumps only, else 0
	int error;                 // errno of reading: the path is not saved; 0: it is
	char *target;              // target of a link to a dump (not in /MANIFEST); else NULL
	struct buf held;           // content of a dump until it is written
};

struct snapshot {
	struct snapshot_entry *entries; // owned
	size_t n, cap;
	uint64_t files;                // number of files saved
	uint64_t bytes;                // total size of these files
	uint64_t procs, queues;        // number of KFD processes and their queues
	uint64_t begin_ns, end_ns;     // CLOCK_MONOTONIC around the last reading of the dumps
	unsigned tries;                // how often the dumps were read
	bool settled;                  // no queue came or went during the last reading
	bool live;                     // taken of a running host, not of a recorded one
	unsigned kfd_major, kfd_minor; // version of the driver's interface; 0.0: unknown
};

struct saver;

struct snapshot_how {
	struct redact *names;    // pseudonyms; NULL: names stay
	int (*stopped)(void);    // asked between two files; not 0 ends the saving (stop_asked())
	const struct pids *only; // these processes and their ancestors; NULL: all. Dumps stay whole
	// Descriptor of an earlier snapshot's folder, of the same topology: SNAP_FIXED files are
	// linked from there. -1: none.
	int earlier;
	// Called once the dumps are written, to add more files by snapshot_add(). Returns 0, or -1
	// with errno. NULL: nothing is added.
	int (*add)(void *arg, struct saver *v);
	void *arg;
};

// Reads all items and adds them to `t`, with a list of them in /MANIFEST. Returns 0, or -1 with
// errno: EINTR (stopped), or why `t` cannot be written.
int snapshot_save(struct snapshot *s, struct tree *t, const struct snapshot_how *how);
void snapshot_fini(struct snapshot *s);

// --- what the files of common/snapshot share ---

// What snapshot_save() works with. (free() leaves errno as it is since glibc 2.33.)
struct saver {
	struct snapshot *s;
	struct tree *t;
	const struct snapshot_how *how;
	struct redact *r;                 // how->names
	const struct pids *only;          // how->only, or those of the recorded host; NULL: all
	const struct snapshot_item *item; // the item that is saved now
	char *procs; // while queues are saved: path of KFD's folder of processes, links resolved
};

// Adds a file with the content `b` to the tree and to the entries. Returns 0, or -1 with errno.
int snapshot_add(struct saver *v, const char *path, const struct buf *b);

// Adds the names of these processes' users (in /etc/passwd) and containers. Of docker's and
// podman's records, which hold passwords, only the names are saved. Returns 0, or -1 with errno.
int snapshot_add_names(struct saver *v, const pid_t *pids, size_t n);

// Adds /MANIFEST, and counts `files` and `bytes`. Returns 0, or -1 with errno.
int snapshot_add_manifest(struct saver *v);
