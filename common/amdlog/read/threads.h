// Numbers of the threads that a log names, in the order of their first records.
#ifndef GPQ_AMDLOG_READ_THREADS_H
#define GPQ_AMDLOG_READ_THREADS_H

#include "common/amdlog/read/intern.h"
#include "common/amdlog/read/parse.h"

// Other threads than this many are counted together, as pid and tid unknown: number 0.
#define AMDLOG_WHO_MAX 65536

// Starts as zeros but for `assumed`.
struct amdlog_threads {
	int64_t assumed; // process of records that name none; -1
	uint32_t source; // number of the input: threads without a process of several are others
	struct amdlog_who *v;
	uint32_t n;
	size_t cap;
	struct intern keys;
	struct intern by_tid; // 3.7 to 4.5: some lines have the thread only
};

// False without memory.
bool threads_init(struct amdlog_threads *t);
void threads_fini(struct amdlog_threads *t);

// The number of the thread that wrote a record, a new one perhaps.
uint32_t threads_number(struct amdlog_threads *t, const struct amdlog_writer *w);

#endif
