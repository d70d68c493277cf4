// A file of Chrome trace events (the JSON object form, "Trace Event Format"), which the Perfetto UI
// and chrome://tracing load. Events are written as they come, in any order of time.
//
//   traceevent_open(&t, fd, "CLOCK_MONOTONIC");
//   traceevent_begin(&t, 'X', pid, tid, ts_ns, "api", name, strlen(name));
//   ... members by json_*(&t.json, ...) ...
//   traceevent_end(&t);
//   error = traceevent_close(&t);
//
// The caller chooses the numbers of processes and threads, which name tracks; no two processes may
// have a thread of the same number. Times are nanoseconds and written as microseconds, the format's
// unit.
#pragma once

#include "common/cli/json.h"

struct traceevent {
	int fd;            // not owned
	int error;         // errno of the first failure to write; nothing is written after it
	const char *clock; // name of the clock that times are of, for the document; borrowed
	struct buf buf;
	struct json json;
};

void traceevent_open(struct traceevent *t, int fd, const char *clock);

// Phases used: X slice (add "dur"), i instant (add "s"), C counter, b and e asynchronous slices
// (add "id"), s and f flows (add "id"), M metadata (no time: UINT64_MAX).
void traceevent_begin(struct traceevent *t, char phase, uint64_t pid, uint64_t tid, uint64_t ts_ns,
		      const char *category, const char *name, size_t name_len);
void traceevent_end(struct traceevent *t);

// Names a process (tid 0) or a thread. Viewers sort processes, and threads of a process, by
// `order`.
void traceevent_name(struct traceevent *t, uint64_t pid, uint64_t tid, const char *name,
		     uint64_t order);

// Ends the document. Returns 0, or the errno value of the first failed write.
int traceevent_close(struct traceevent *t);

// Closes the file of `--perfetto NAME`; `fd` is -1 if it is not open. `error`: errno value of the
// first failed write, or 0. After a failure the file is emptied, as a viewer would take a part for
// the whole timeline. Returns GPQ_OK, or GPQ_FAILED after a message.
int traceevent_leave(int fd, const char *name, int error);
