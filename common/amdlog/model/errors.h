// What went wrong, by what was said: queue aborts, faults and full rings; API calls that failed.
//
// Facts: amd-log-facts.md sections 5 (errors) and 9. Equal messages of a process are one row.
#ifndef GPQ_AMDLOG_MODEL_ERRORS_H
#define GPQ_AMDLOG_MODEL_ERRORS_H

#include "common/amdlog/read/intern.h"
#include "common/amdlog/read/record.h"

#define ERRORS_MAX      1000
#define ERRORS_TEXT_MAX 240 // longer messages are cut

struct amdlog_error {
	uint32_t process; // index
	bool of_queue;    // else of an API call: "hipMalloc: hipErrorOutOfMemory"
	uint64_t address; // of the queue the message names; AMDLOG_UNKNOWN
	uint64_t count;
	uint64_t first_us, last_us; // first > last: no record had a time
	const char *text;           // and a NUL; owned by the table
	uint32_t len;
};

// Starts as zeros.
struct amdlog_errors {
	struct intern keys;
	struct amdlog_error *v; // by number of the key
	uint32_t n;
	size_t cap;
	uint64_t left_out; // records that found no room
};

// An API line that failed, or a record of kind AMDLOG_QUEUE_ERROR, of a process.
void amdlog_errors_add(struct amdlog_errors *e, uint32_t process, const struct amdlog_record *r);

// Adds a row.
void amdlog_errors_merge(struct amdlog_errors *e, const struct amdlog_error *row);

void amdlog_errors_fini(struct amdlog_errors *e);

#endif
