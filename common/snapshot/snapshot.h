// The room of snapshots: saves what a host shows of its GPUs and of the processes that use them, as
// a tree that --sysroot replays. Open this file first. series.h numbers many of them; host_state.h
// reads the queues of a moment, live or saved, and compares two; run_compare.h compares repeated
// runs of programs. Which paths: the table in snapshot_items.c. Nothing is written to the host;
// /dev/kfd is opened for its version only, after everything else was read.
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
	SNAP_DUMP = 1,     // read first, together with its like, as close in time as possible
	SNAP_PROC = 2,     // once for each process concerned; "%" is its PID
	SNAP_LINK = 4,     // a link to be kept, whatever it leads to
	SNAP_OPTIONAL = 8, // missing on many hosts, which is not noted
	SNAP_FLAT = 16,    // without the links on the way: /proc/self
	SNAP_FIXED = 32,   // stays the same until the topology changes
};

extern const struct snapshot_item snapshot_items[]; // ends with a NULL path

// What became of one path.
struct snapshot_entry {
	char *path;
	uint64_t size;             // bytes
	uint64_t begin_ns, end_ns; // CLOCK_MONOTONIC around the reading; dumps only, else 0
	int error;                 // errno: it is not in the snapshot
};

struct snapshot {
	struct snapshot_entry *entries; // owned
	size_t n, cap;
	uint64_t files;                // saved
	uint64_t bytes;                // in them
	uint64_t procs, queues;        // of KFD
	uint64_t begin_ns, end_ns;     // CLOCK_MONOTONIC around the dumps
	unsigned tries;                // times that they were read
	bool settled;                  // no queue came or went meanwhile
	bool live;                     // of a running host
	unsigned kfd_major, kfd_minor; // interface version; 0.0: unknown
};

struct snapshot_how {
	struct redact *names; // pseudonyms; NULL: names stay
	int (*stopped)(void); // not 0: ends it, between two files (stop_asked())
	// Only these processes, with their ancestors; NULL: all. The dumps of debugfs stay whole.
	const struct pids *only;
	// Folder of an earlier snapshot since which the topology has not changed: SNAP_FIXED files
	// are linked from there. -1: none.
	int earlier;
};

// Reads all items and adds them to `t`, with a list of them in /MANIFEST. 0, or -1 with errno:
// EINTR (stopped), or why `t` cannot be written.
int snapshot_save(struct snapshot *s, struct tree *t, const struct snapshot_how *how);
void snapshot_fini(struct snapshot *s);

// --- between the files of snapshot ---

// A dump that waits to be written, or a link met on the way to it (`target`).
struct held {
	char *path;
	char *target; // NULL: a file
	struct buf data;
};

// What snapshot_save() works with. (free() leaves errno as it is since glibc 2.33.)
struct saver {
	struct snapshot *s;
	struct tree *t;
	const struct snapshot_how *how;
	struct redact *r;                 // how->names
	const struct pids *only;          // how->only, or those of the recorded host; NULL: all
	const struct snapshot_item *item; // at hand
	char *procs; // while queues are saved: the folder of processes, without links
	struct held *held;
	size_t nheld, cap_held;
};

// Adds a file that was read to the tree and to the list. 0, or -1 with errno.
int snapshot_add(struct saver *v, const char *path, const struct buf *b);

// Adds the names of these processes' users and containers: /etc/passwd reduced to these users, and
// of docker's and podman's records, which hold passwords, the names only. 0, or -1 with errno.
int snapshot_add_names(struct saver *v, const pid_t *pids, size_t n);

// /MANIFEST. 0, or -1 with errno.
int snapshot_add_manifest(struct saver *v);

#endif
