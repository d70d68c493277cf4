// The room of snapshots: saves what a host shows of its GPUs and their processes as a tree that
// --sysroot replays. Open this file first. The paths are a table in snapshot_items.c. series.h
// numbers many snapshots; host_state.h reads the queues of a moment, live or saved, and compares
// two moments; run_compare.h compares repeated runs of programs. Nothing is written to the host.
// /dev/kfd is opened only for its version, after everything else was read.
#ifndef GPQ_SNAPSHOT_SNAPSHOT_H
#define GPQ_SNAPSHOT_SNAPSHOT_H

#include "common/cli/opts.h"
#include "common/host/buf.h"
#include "common/host/redact.h"
#include "common/host/tree.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// A path of the host, or a pattern of paths (glob.h).
struct snapshot_item {
	const char *path;
	unsigned flags;
	void (*redact)(struct redact *, struct buf *); // with --redact; NULL: nothing to hide
};

enum {
	SNAP_DUMP = 1,     // all of these are read first, as close in time as possible
	SNAP_PROC = 2,     // once for each process; "%" is its PID
	SNAP_LINK = 4,     // a link, which is saved as it is
	SNAP_OPTIONAL = 8, // missing on many hosts: that is not noted
	SNAP_FLAT = 16,    // links on the way are not saved: /proc/self
	SNAP_FIXED = 32,   // the same until the topology changes
};

extern const struct snapshot_item snapshot_items[]; // ends with a NULL path

// What became of one path.
struct snapshot_entry {
	char *path;
	uint64_t size;             // bytes
	uint64_t begin_ns, end_ns; // CLOCK_MONOTONIC around the reading; dumps only, else 0
	int error;                 // errno of reading it, when it is not in the snapshot; 0
	char *target;              // of a link on the way to a dump, which is not listed; or NULL
	struct buf held;           // content of a dump until it is written
};

struct snapshot {
	struct snapshot_entry *entries; // owned
	size_t n, cap;
	uint64_t files;                // saved
	uint64_t bytes;                // in them
	uint64_t procs, queues;        // of KFD
	uint64_t begin_ns, end_ns;     // CLOCK_MONOTONIC around the dumps
	unsigned tries;                // how often they were read
	bool settled;                  // no queue came or went meanwhile
	bool live;                     // of a running host
	unsigned kfd_major, kfd_minor; // interface version; 0.0: unknown
};

struct snapshot_how {
	struct redact *names;    // pseudonyms; NULL: names stay
	int (*stopped)(void);    // not 0: ends it, between two files (stop_asked())
	const struct pids *only; // these processes and their ancestors; NULL: all. Dumps stay whole
	// Descriptor of an earlier snapshot's folder, of the same topology: SNAP_FIXED files are
	// linked from there. -1: none.
	int earlier;
};

// Reads all items and adds them to `t`, with a list of them in /MANIFEST. 0, or -1 with errno:
// EINTR (stopped), or why `t` cannot be written.
int snapshot_save(struct snapshot *s, struct tree *t, const struct snapshot_how *how);
void snapshot_fini(struct snapshot *s);

// --- between the files of snapshot ---

// What snapshot_save() works with. (free() leaves errno as it is since glibc 2.33.)
struct saver {
	struct snapshot *s;
	struct tree *t;
	const struct snapshot_how *how;
	struct redact *r;                 // how->names
	const struct pids *only;          // how->only, or those of the recorded host; NULL: all
	const struct snapshot_item *item; // that is saved now
	char *procs; // while queues are saved: the folder of processes, without links
};

// Adds a file that was read to the tree and to the list. 0, or -1 with errno.
int snapshot_add(struct saver *v, const char *path, const struct buf *b);

// Adds the names of these processes' users (in /etc/passwd) and containers. Of docker's and
// podman's records, which hold passwords, only the names are saved. 0, or -1 with errno.
int snapshot_add_names(struct saver *v, const pid_t *pids, size_t n);

// /MANIFEST. 0, or -1 with errno.
int snapshot_add_manifest(struct saver *v);

#endif
