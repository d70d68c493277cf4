// A series of snapshots: a folder of numbered trees (000001, 000002 ...) and an index, which gets a
// line for each tree once the tree is complete. gpq-snapshot(1), A SERIES, describes the lines. A
// writer locks the index, so that a series has one writer at a time.
#pragma once

#include "common/cli/opts.h"
#include "common/snapshot/snapshot.h"

struct series {
	const char *dir;   // not owned
	int folder, index; // file descriptors; -1: closed
	uint64_t next;     // number of the next snapshot, from 1
	off_t end;         // offset in the index behind its last whole line
};

// Makes the folder, or continues the series in it: numbers go on, nothing is replaced. Returns
// GPQ_OK, or the exit status after a message: the folder holds something else, another process
// writes the series, or it has snapshots and either these or the new ones are redacted.
int series_open(struct series *s, const char *dir, bool redacted);
void series_close(struct series *s);

// Returns the path of snapshot `number`, which the caller frees.
char *series_path(const char *dir, uint64_t number);

struct series_line {
	uint64_t monotonic_ns, wall_ns; // CLOCK_MONOTONIC, CLOCK_REALTIME before the first read
	const char *host, *boot_id;     // "": unknown
	const struct snapshot *snapshot;
	uint64_t missed; // times of --every that passed while the previous snapshot was saved
	int error;       // errno of a snapshot that could not be saved; 0: it was saved
	bool dumps;      // the snapshot has the MQDs of debugfs
	bool redacted;
};

// Adds a line about snapshot s->next, and counts s->next up unless line->error is set. Returns 0,
// or -1 with errno and the index as it was.
int series_add(struct series *s, const struct series_line *line);

// Is `path` a series, that is a folder with an index?
bool series_is(const char *path);

// Adds the paths of the snapshots that still exist. Returns GPQ_OK, or the status after a message.
int series_list(struct words *to, const char *dir);
