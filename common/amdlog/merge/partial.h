// Partial results: the summary of a file, or of a range of one, as a line of JSON that can be added
// to others.
//
// A part does not know the state at its beginning: the kernel that a thread named last, its stream.
// What depends on that stays unresolved (struct amdlog_unresolved, struct thread_head) until parts
// are merged in the order of their places. The sum does not depend on how the input was divided.
#ifndef GPQ_AMDLOG_MERGE_PARTIAL_H
#define GPQ_AMDLOG_MERGE_PARTIAL_H

#include "common/amdlog/model/streams.h"
#include "common/amdlog/model/summary.h"
#include "common/host/buf.h"

#define AMDLOG_PARTIAL_RECORD "trace_partial"
#define AMDLOG_PARTIAL_SCHEMA 2

// Origin, counts and streams of a part.
struct amdlog_part {
	char *host;        // owned; of its processes; NULL: not said
	char *file;        // owned; as it was named
	uint64_t from, to; // bytes of it
	uint64_t mended;
	bool filtered; // not all records were counted
	bool stopped;  // not read to its end
	struct amdlog_counts counts;
	struct amdlog_streams streams; // owned
	struct amdlog_summary *sum;    // not owned
};

// Appends the line, newline included, of a part whose summary is `resumed` and not finished.
void amdlog_partial_write(struct buf *out, const struct amdlog_part *part);

// Reads a line into a part and its summary `s`. False, with a text in *why: it is no part, or
// damaged; neither needs fini then. Indices are checked: they lie within their tables.
bool amdlog_partial_read(const char *line, size_t len, struct amdlog_part *part,
			 struct amdlog_summary *s, const char **why);

// Reads host, file and place only, to sort lines by. False as above.
bool amdlog_partial_place(const char *line, size_t len, struct amdlog_part *part);

void amdlog_part_fini(struct amdlog_part *part);

// The sum of parts, which must be added in the order of hosts, files' names and places.
struct amdlog_merge {
	struct amdlog_summary sum;
	struct amdlog_part all; // its counts and streams; `filtered`: of any part
	struct intern hosts;    // names; amdlog_process.host is the number plus one
	uint32_t host;          // of the last part
	bool several_hosts;     // whose times cannot be compared
	struct intern threads;  // process and tid -> thread
	struct intern tids;     // tid and file -> thread with a pid
	uint32_t files;
};

void amdlog_merge_init(struct amdlog_merge *m);
void amdlog_merge_fini(struct amdlog_merge *m);

// Adds a part; `new_file`: it is of another file than the one before.
void amdlog_merge_add(struct amdlog_merge *m, const struct amdlog_part *part, bool new_file);

#endif
