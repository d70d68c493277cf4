// Partial results: the summary of a file, or of a range of one, as a line of JSON that can be added
// to others.
//
// A part does not know the state at its beginning: the kernel that a thread named last, its stream.
// What depends on that stays unresolved (struct amdlog_unresolved, struct thread_head) until parts
// are merged in the order of their places. The sum does not depend on how the input was divided.
#pragma once

#include "common/amdlog/model/streams.h"
#include "common/amdlog/model/summary.h"

#define AMDLOG_PARTIAL_RECORD "trace_partial"
#define AMDLOG_PARTIAL_SCHEMA 4
#define AMDLOG_PARTIAL_HEAD   512 // bytes of a file that tell it from a later one with its inode

// Origin, counts and streams of a part.
struct amdlog_part {
	char *host; // owned; host of the part's processes; NULL: not said
	char *file; // owned; name of the file, as it was given
	// Parts of one file have the same inode, head and filter.
	uint64_t inode;    // AMDLOG_UNKNOWN: a pipe, or a file that grew while it was read
	uint64_t head;     // amdlog_hash() of the file's first bytes
	uint64_t filter;   // amdlog_hash() of what chose the records; 0: all
	uint64_t size;     // bytes of the file; AMDLOG_UNKNOWN: a pipe, or compressed
	uint64_t rank;     // of the task that read it; AMDLOG_UNKNOWN: no launcher told
	uint64_t asked;    // the offset of --range, by which ranges without a line differ
	uint64_t from, to; // bytes [from, to) of the file
	uint64_t mended;
	bool filtered; // a filter was set: not all records were counted
	bool stopped;  // the part was not read to its end
	struct amdlog_counts counts;
	struct amdlog_streams streams; // owned
	struct amdlog_summary *sum;    // not owned
};

// Appends a part as a line of JSON, newline included. Its summary must be `resumed` (struct
// summary_part) and not finished.
void amdlog_partial_write(struct buf *out, const struct amdlog_part *part);

// Reads a line into a part and its summary `s`; all indices in it lie within their tables. If the
// line is no part or is damaged, returns false and sets *why; then neither needs to be freed.
bool amdlog_partial_read(const char *line, size_t len, struct amdlog_part *part,
			 struct amdlog_summary *s, const char **why);

// Returns the schema of a line that is a part, of whichever version of gpq; 0: it is none.
uint64_t amdlog_partial_schema(const char *line, size_t len);

// Reads only what tells the part from others. False: the line is no part.
bool amdlog_partial_place(const char *line, size_t len, struct amdlog_part *part);

void amdlog_part_fini(struct amdlog_part *part);

// A hash that goes on from `h`, at first 0. It is below 2^53, so that all readers of JSON keep it.
#define AMDLOG_HASH_MAX ((UINT64_C(1) << 53) - 1)
uint64_t amdlog_hash(uint64_t h, const void *bytes, size_t len);

// The sum of parts, which must be added in the order of hosts, file names and bytes.
struct amdlog_merge {
	struct amdlog_summary sum;
	struct amdlog_part all;     // counts and streams of all parts; `filtered`: any part is
	struct intern hosts;        // names of hosts; amdlog_process.host is their number plus one
	uint32_t host;              // number of the last part's host plus one; 0: not said
	bool several_hosts;         // times of different hosts cannot be compared
	const struct intern *apart; // (host, pid): each file has such a process of its own
	uint32_t own;               // as `host`, for those processes of the last part's file
	struct merge_time {
		uint32_t process, file;
		struct amdlog_span span;
	} * times; // of each process in each file
	size_t ntimes, times_cap;
	struct intern threads; // (process, tid) -> thread
	struct intern tids;    // (tid, file) -> thread with a pid
	struct intern known;   // (inode, head) -> file, whichever filter its parts had
	uint32_t files;        // files so far; one whose parts have two filters counts twice
	uint32_t file;         // number of the last part's file, in `known`
};

void amdlog_merge_init(struct amdlog_merge *m);
void amdlog_merge_fini(struct amdlog_merge *m);

// Adds a part. `new_file`: the part is of another file than the part before.
void amdlog_merge_add(struct amdlog_merge *m, const struct amdlog_part *part, bool new_file);

// Collects in `apart` the (host, pid) that several files have at the same times: processes of
// containers, each of which numbers its own from 1. Call it after the last part; if it finds any,
// merge all parts anew with m->apart set to it.
void amdlog_merge_find_apart(struct amdlog_merge *m, struct intern *apart);
