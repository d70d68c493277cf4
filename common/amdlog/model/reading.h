// Reading a log into a summary: any thread reads blocks of an input, one takes the results in
// order.
//
//   block -> block_read (any thread) -> amdlog_reading_take (one block after the other)
//                                           |-> summary            counted lines
//                                           |-> summary, event     items
//                                           `-> scanner, reassembly, summary, event  other text
//
// The result is the same as that of scanning all text from front to end.
#pragma once

#include "common/amdlog/read/reassemble.h"
#include "common/amdlog/model/summary.h"

struct amdlog_reading {
	struct amdlog_summary *sum; // not owned
	struct amdlog_scan *scan;   // scanner of `reassembly`
	struct amdlog_reassembly *reassembly;
	struct grepper *grepper; // applies the filter by text; NULL: there is none
	struct reading_block {   // the text that is being taken
		const char *text;
		size_t len;
		uint64_t offset; // place of `text` in the input
		const struct grep_hits *hits;
	} block;
	_Atomic bool settled; // no time of the filter is relative, or the first record was read
	// Called for records that pass the filter, unless a block reader counted them. May be NULL.
	void (*event)(void *ctx, const struct amdlog_event *e);
	void *ctx;
};

// Begins a reading into `sum`. `grep`: the filter by text (struct amdlog_filter); NULL: none.
void amdlog_reading_init(struct amdlog_reading *r, struct amdlog_summary *sum,
			 const struct grep *grep);
void amdlog_reading_fini(struct amdlog_reading *r);

// Makes a block reader for one thread, for the next input. `kinds`: see block.h.
struct block_reader *amdlog_reading_worker(const struct amdlog_reading *r, uint32_t kinds);

// Returns r->settled, in any thread. While false, text must be taken without block results.
bool amdlog_reading_settled(const struct amdlog_reading *r);

// Takes the next text of the input. `b`: its block result, `hits`: its lines that the filter by
// text picks; both NULL if there is none or the text is not whole lines.
void amdlog_reading_take(struct amdlog_reading *r, const char *text, size_t len,
			 struct block_result *b, const struct grep_hits *hits);

// Ends an input; another may follow.
void amdlog_reading_end(struct amdlog_reading *r);
