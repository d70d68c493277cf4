// Shared by the files of common/amdlog/merge. One table of members (partial_members.c) drives
// writing (partial.c), reading (partial_read.c) and adding up (merge.c).
#ifndef GPQ_AMDLOG_MERGE_PARTIAL_PRIV_H
#define GPQ_AMDLOG_MERGE_PARTIAL_PRIV_H

#include "common/amdlog/merge/partial.h"
#include "common/amdlog/model/summary_priv.h"

enum member_type { T_U64, T_U32, T_I64, T_I8, T_BOOL, T_TEXT, T_LIST, T_NAME };

// How members of two rows become one; KEEP: merge.c does it, or it stays.
enum member_sum { KEEP, ADD, LEAST, MOST, ANY };

struct member {
	const char *key;     // NULL ends a table
	size_t offset, size; // of all of it, but of T_NAME
	enum member_type type;
	enum member_sum sum;
	// Of T_U32: where struct amdlog_summary counts the rows it points into; 0: into none.
	size_t bound;
	bool required; // it points to one
};

// A member of type T_NAME; in kernels, API functions and errors.
struct member_name {
	const char *text;
	uint32_t len;
};

union row {
	struct amdlog_process process;
	struct amdlog_thread thread;
	struct amdlog_queue queue;
	struct amdlog_kernel kernel;
	struct amdlog_api api;
	struct amdlog_unresolved open;
	struct amdlog_error error;
	struct stream_period period;
	struct stream_head head;
};

// A table of rows: where its pointer and their number are, in the summary or in the part's streams.
struct section {
	const char *key;
	const struct member *members;
	size_t rows, count, size;
	const void *initial; // members that are left out are as in this row
	bool sparse;         // those that are equal to it are left out
	bool of_streams;
	// Puts a row that was read, whose required members point to rows, into its table. False
	// when it contradicts others.
	bool (*put)(struct amdlog_part *part, union row *row);
};

enum {
	PART_PROCESSES,
	PART_KERNELS,
	PART_APIS,
	PART_ERRORS,
	PART_QUEUES,
	PART_THREADS,
	PART_OPEN,
	PART_STREAMS,
	PART_HEADS,
	PART_SECTIONS
};
extern const struct section part_sections[PART_SECTIONS]; // in the order of the text, but for pairs

// Pairs of numbers and, where `value` is a bound, what they lead to.
struct pairs {
	const char *key;
	size_t offset;               // of their struct intern in the summary
	size_t first, second, value; // bounds (see struct member); 0: none
	unsigned shift;              // flags below the second number
};

#define PART_PAIRS 6
extern const struct pairs part_pairs[PART_PAIRS];

// Of struct amdlog_totals, struct amdlog_summary, struct amdlog_part.
extern const struct member part_totals[], part_state[], part_members[];

static inline uint32_t bound_of(const struct amdlog_summary *s, size_t bound)
{
	return *(const uint32_t *)(const void *)((const char *)s + bound);
}

static inline struct intern *pairs_in(const struct pairs *p, const struct amdlog_summary *s)
{
	return (struct intern *)((uintptr_t)s + p->offset);
}

// The rows of a section and their number.
const char *section_rows(const struct section *x, const struct amdlog_part *part, uint32_t *n);

// Adds up what can be: members of the table whose `sum` says how.
void members_add(const struct member *m, void *to, const void *from);

#endif
