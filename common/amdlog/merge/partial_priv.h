// Inside the parts of logs: their members (partial_members.c), written (partial.c) and read
// (partial_read.c). One table of members for each kind of row drives both.
#ifndef GPQ_AMDLOG_MERGE_PARTIAL_PRIV_H
#define GPQ_AMDLOG_MERGE_PARTIAL_PRIV_H

#include "common/amdlog/merge/partial.h"
#include "common/amdlog/model/summary_priv.h"

enum member_type { T_U64, T_U32, T_I64, T_I8, T_BOOL, T_TEXT, T_LIST };

struct member {
	const char *key;
	size_t offset, size; // of all of it
	enum member_type type;
	const uint32_t *(*bound)(const struct amdlog_summary *s); // T_U32: rows it points into
};

struct members {
	const struct member *v;
	size_t n;
};

extern const struct members partial_process, partial_thread, partial_queue, partial_kernel,
	partial_api, partial_stream, partial_head, partial_open, partial_error, partial_totals,
	partial_state, partial_part;

// What rows are before anything is known of them. A summary's own functions make them.
struct blanks {
	struct amdlog_process process;
	struct amdlog_thread thread;
	struct amdlog_queue queue;
	struct amdlog_kernel kernel;
	struct amdlog_api api;
	struct amdlog_open open;
};

bool blanks_init(struct blanks *b);

#endif
