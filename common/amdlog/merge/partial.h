// Partial results: the summary of a file, or of a range of one, as one line of JSON that can be
// added to others.
//
// A part lacks the state at its beginning: the kernel that a thread named last, the stream it
// worked for. What depends on that stays unresolved (struct amdlog_unresolved, the head_ members of
// struct amdlog_thread) until the parts are merged in the order of their places. The sum is then
// that of the whole input, however it was divided.
#ifndef GPQ_AMDLOG_MERGE_PARTIAL_H
#define GPQ_AMDLOG_MERGE_PARTIAL_H

#include "common/amdlog/model/streams.h"
#include "common/amdlog/model/summary.h"
#include "common/host/buf.h"

#define AMDLOG_PARTIAL_RECORD "trace_partial"
#define AMDLOG_PARTIAL_SCHEMA 2

// Where a part comes from and what the scanner counted in it.
struct amdlog_part {
	char *host;        // owned; that its processes are of, NULL: not said
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

// Reads a line into a part and its summary `s`. False, and a word on why, when it is none, or
// damaged; both need no fini then. What the line says is checked: indices lie within their tables.
bool amdlog_partial_read(const char *line, size_t len, struct amdlog_part *part,
			 struct amdlog_summary *s, const char **why);

// Host, file and place only, to sort lines by. False as above.
bool amdlog_partial_place(const char *line, size_t len, struct amdlog_part *part);

void amdlog_part_fini(struct amdlog_part *part);

// The sum of parts that are added in the order of hosts, the files' names and their places.
struct amdlog_merge {
	struct amdlog_summary sum;
	struct amdlog_part all; // its counts and streams; `filtered`: of any part
	struct intern hosts;    // their names; process.host is the number plus one
	uint32_t host;          // of the last part
	bool several_hosts;     // times of one and of another cannot be compared
	struct intern threads;  // process and tid -> thread
	struct intern tids;     // tid and file -> thread with a pid
	uint32_t files;
};

void amdlog_merge_init(struct amdlog_merge *m);
void amdlog_merge_fini(struct amdlog_merge *m);

// Adds a part; `new_file`: it is of another file than the one before.
void amdlog_merge_add(struct amdlog_merge *m, const struct amdlog_part *part, bool new_file);

#endif
