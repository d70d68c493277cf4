// Reading a log into a summary: any thread reads blocks of an input, one takes the results in
// order.
//
//   block -> block_read (any thread) -> amdlog_reading_take (one block after the other)
//                                           |-> summary            counted lines
//                                           |-> summary, event     items
//                                           `-> scanner, reassembly, summary, event  other text
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
	_Atomic bool settled; // no time of the filter waits for the first record
	// Called for records that the filter lets pass: of block results only for items. May be
	// NULL.
	void (*event)(void *ctx, const struct amdlog_event *e);
	void *ctx;
};

// `grep`: what the filter asks of the text (struct amdlog_filter), else NULL.
void amdlog_reading_init(struct amdlog_reading *r, struct amdlog_summary *sum,
			 const struct grep *grep);
void amdlog_reading_fini(struct amdlog_reading *r);

// A block reader for one thread, for the next input. `kinds`: see block.h.
struct block_reader *amdlog_reading_worker(const struct amdlog_reading *r, uint32_t kinds);

// `settled`, for any thread; if false, the next text must be taken without a block result.
bool amdlog_reading_settled(const struct amdlog_reading *r);

// Takes the next text of the input. `b` and `hits`: what was read of it and its lines picked by
// their text, if it is whole lines; else NULL.
void amdlog_reading_take(struct amdlog_reading *r, const char *text, size_t len,
			 struct block_result *b, const struct grep_hits *hits);

// The input ends; another may follow.
void amdlog_reading_end(struct amdlog_reading *r);

#endif
