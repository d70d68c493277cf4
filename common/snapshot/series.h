// A series of snapshots: a folder of numbered trees (000001, 000002 ...) and an index, which gets a
// line for each tree once that is complete. gpq-snapshot(1), A SERIES, describes the lines. A
// writer locks the index, so there is one at a time.
#ifndef GPQ_SNAPSHOT_SERIES_H
#define GPQ_SNAPSHOT_SERIES_H

#include "common/cli/opts.h"
#include "common/snapshot/snapshot.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct series {
	const char *dir;   // not owned
	int folder, index; // file descriptors, -1
	uint64_t next;     // number of the next snapshot, from 1
	off_t end;         // of the index, behind its last whole line
};

// Makes the folder, or continues the series in it: numbers go on, nothing is replaced. GPQ_OK, or
// the exit status after a message: the folder holds something else, another process writes to it,
// or a redacted series would be continued, or continue another one.
int series_open(struct series *s, const char *dir, bool redacted);
void series_close(struct series *s);

// The path of snapshot `number`; the caller frees it.
char *series_path(const char *dir, uint64_t number);

struct series_line {
	uint64_t monotonic_ns, wall_ns; // CLOCK_MONOTONIC, CLOCK_REALTIME before the first read
	const char *host, *boot_id;     // "" unknown
	const struct snapshot *snapshot;
	uint64_t missed; // moments since the last snapshot that passed while it was saved
	int error;       // errno: there is no snapshot of this moment; 0
	bool dumps;      // the MQDs of debugfs are in it
	bool redacted;
};

// Adds a line about snapshot s->next; with error 0 the next number follows. 0, or -1 with errno,
// and the index is as it was.
int series_add(struct series *s, const struct series_line *line);

// Is this a folder with an index?
bool series_is(const char *path);

// Adds the paths of a series's snapshots that still exist, by number. GPQ_OK, or the exit status
// after a message.
int series_list(struct words *to, const char *dir);

#endif
