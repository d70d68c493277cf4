// Shared by the files of common/amdlog/merge. One table of members (partial_members.c) drives
// writing and reading (partial.c) and adding up (merge.c).
#pragma once

#include "common/amdlog/merge/partial.h"
#include "common/amdlog/model/summary_priv.h"
#include "common/out/members.h"

// How a member of a row is added to that of another row; KEEP: by code in merge.c, or not at all.
enum member_sum { KEEP, ADD, LEAST, MOST, ANY };

struct part_member {
	struct member is; // a member without a key ends a table
	uint32_t bound;   // for an index: offset of its table's row count in the summary; else 0
	uint8_t sum;      // enum member_sum
	bool required;    // the index must not be AMDLOG_NONE
};

// Types of the name of a kernel, API function or error (struct member_name): text or, if it is no
// UTF-8, hex. A table of named rows begins with a member of each type.
extern const struct member_type member_name, member_name_hex;

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

// A table of rows in the summary or, if `of_streams`, in the part's streams.
struct section {
	const char *key;
	const struct part_member *members;
	size_t rows, count, size; // offsets of pointer and count, bytes of a row
	const void *initial;      // a row: values of members that are not written
	bool sparse;              // members that are as in `initial` are not written
	bool of_streams;
	// Appends a row that was read and whose required members are valid. False: it contradicts
	// other rows.
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
extern const struct section part_sections[PART_SECTIONS]; // in the order in which they are written

// A table of pairs of numbers; if `value` is not 0, with a value for each pair.
struct pairs {
	const char *key;
	size_t offset;               // offset of the struct intern in the summary
	size_t first, second, value; // limits (part_member.bound) of a pair's numbers; 0: none
	unsigned shift;              // low bits of the second number that are flags
};

#define PART_PAIRS 6
extern const struct pairs part_pairs[PART_PAIRS];

// Members of struct amdlog_totals, struct amdlog_summary, struct amdlog_part.
extern const struct part_member part_totals[], part_state[], part_members[];

static inline uint32_t bound_of(const struct amdlog_summary *s, size_t bound)
{
	return *(const uint32_t *)(const void *)((const char *)s + bound);
}

static inline struct intern *pairs_in(const struct pairs *p, const struct amdlog_summary *s)
{
	return (struct intern *)((uintptr_t)s + p->offset);
}

// Reads a number, or null as AMDLOG_UNKNOWN. False: `v` is neither.
bool read_number(const struct jsonin_value *v, uint64_t *n);

// A copy of the string `v`, which the caller frees; NULL: `v` is no string.
char *copy_string(const struct jsonin_value *v);

// Returns the rows of a section and sets *n to their number.
const char *section_rows(const struct section *x, const struct amdlog_part *part, uint32_t *n);

// Adds the members of a row to those of another, each as its `sum` says.
void members_add(const struct part_member *m, void *to, const void *from);
