// Reading a log into a summary: the blocks of an input, read by any threads, taken in order.
//
//   block -> block_read (any thread) -> amdlog_reading_take (one block after the other)
//                                           |-> summary            counted lines
//                                           |-> summary, event     items
//                                           `-> scanner -> reassembly -> summary, event   all other
//                                           text
//
// The result is the same as that of scanning all text from front to end.
#ifndef GPQ_AMDLOG_MODEL_READING_H
#define GPQ_AMDLOG_MODEL_READING_H

#include "common/amdlog/read/reassemble.h"
#include "common/amdlog/model/summary.h"

struct amdlog_reading {
	struct amdlog_summary *sum; // not owned
	struct amdlog_scan *scan;   // of `reassembly`
	struct amdlog_reassembly *reassembly;
	struct grepper *grepper; // of the filter by text; NULL: none
	struct reading_block {   // that is being taken
		const char *text;
		size_t len;
		uint64_t offset; // in the input
		const struct grep_hits *hits;
	} block;
	_Atomic bool settled; // the filter's times are known: none of them waits for a record
	// Called for records that the filter lets pass: for all, or for those only of which
	// block results make items. May be NULL.
	void (*event)(void *ctx, const struct amdlog_event *e);
	void *ctx;
};

// `grep`: what the filter asks of the text (struct amdlog_filter), else NULL.
void amdlog_reading_init(struct amdlog_reading *r, struct amdlog_summary *sum,
			 const struct grep *grep);
void amdlog_reading_fini(struct amdlog_reading *r);

// For one thread that reads blocks of the input that comes next. `kinds`: see block.h.
struct block_reader *amdlog_reading_worker(const struct amdlog_reading *r, uint32_t kinds);

// The filter's times are known, from any thread; else what is to be read now can only be scanned.
bool amdlog_reading_settled(const struct amdlog_reading *r);

// The next text of the input. `b`: what was read of it, when it begins and ends with a line; else
// NULL. `hits`: of its lines that are picked by their text, likewise.
void amdlog_reading_take(struct amdlog_reading *r, const char *text, size_t len,
			 struct block_result *b, const struct grep_hits *hits);

// The input ends; another may follow.
void amdlog_reading_end(struct amdlog_reading *r);

#endif
