// A block of whole lines, read as far as is possible without earlier blocks, so that several
// threads can work on one input; most lines are only counted.
//
// Lines of which only numbers matter are counted, by thread; those that also say something in order
// (packets, kernel names, queues) become items, parsed. Where a record may have to be reassembled,
// the lines it may reach become an item as they are, to be scanned. Then amdlog_reading_take
// (reading.h) takes the results of an input's blocks in order.
//
// What the speed rests on, and the CPU time that leaving it out costs (gpq trace --threads 1, least
// of 15 interleaved runs; a generated log of level 5, 373 MB, then one of level 3, 157 MB):
//
//     both caches                                              +198 %  +223 %
//     statements of records that are neither calls nor packets  +71 %    +1 %
//     trying the prefix of the line before                      +32 %    +1 %
//     two statements a set                                      +26 %   +29 %
//     the loop compiled for AVX2                                +17 %   +16 %
//
// Another log, 1.15 GB: 0.42 s as it is, 0.88 s without caches, 1.18 s by the plain scanner alone.
// What saved less than 2 % is not here: two prefixes a set, and in the summary the kernel that a
// kernel_obj had last.
#ifndef GPQ_AMDLOG_READ_BLOCK_H
#define GPQ_AMDLOG_READ_BLOCK_H

#include "common/amdlog/read/detail.h"
#include "common/amdlog/read/scan.h"
#include "common/cli/grep.h"

#include <sys/types.h>

#define AMDLOG_KIND(kind) (UINT32_C(1) << AMDLOG_##kind)

#define BLOCK_THREADS 1024 // that a block reader tells apart
#define BLOCK_LEVELS  16

// What API and command lines of a thread say of the stream its next packets go to.
struct block_stream {
	bool api;        // there were API lines: the stream of before is over
	bool by_command; // `stream` comes from a command line behind these
	uint64_t stream; // AMDLOG_UNKNOWN: none is named
};

enum block_what {
	BLOCK_RECORD,
	BLOCK_STREAM, // only `thread` and `stream` are set
	BLOCK_LINES,  // only `r.text` and `r.len` are set: to be scanned, with their newlines
};

struct block_item {
	enum block_what what;
	uint32_t thread; // index in the result's threads
	// Of the lines counted since the item before, the times of the first and last record;
	// first_us is AMDLOG_UNKNOWN when there are none.
	uint64_t first_us, last_us;
	struct amdlog_record r;     // its offset and thread number are not set
	struct block_stream stream; // of its thread, since the thread's last item
	const char *name;           // of a kernel, with its hash (intern_hash)
	size_t name_len;
	uint32_t name_hash;
	struct amdlog_packet packet; // of packets
};

// A thread of a block, and what its counted lines add up to.
struct block_sum {
	struct amdlog_writer writer;
	enum amdlog_style style; // of the lines counted
	uint32_t number;         // of the thread, set when the result is taken
	uint64_t counted;        // records, and API calls in the upper 32 bits
	uint64_t first_us, last_us;
};

// Starts as zeros.
struct block_result {
	bool slow; // too many items: the block is to be scanned as a whole
	bool torn; // some of BLOCK_LINES are there as a line before them may be reassembled
	uint64_t lines, foreign;    // counted: those that are not in `sums`, without a record
	uint64_t steps_back;        // between counted records with no item between them
	uint64_t first_us, last_us; // as of an item, behind the last one
	uint32_t counts[AMDLOG_NKINDS * BLOCK_LEVELS]; // records counted, by kind and level
	uint64_t styles[AMDLOG_NSTYLES]; // more (or fewer) of a style than the sums say
	uint32_t nitems, nsums;
	size_t item_cap;
	struct block_item *items;
	struct block_sum *sums; // in the order of their first record
};

// Where the records of a kind and a level are counted.
static inline uint16_t block_counter(enum amdlog_kind kind, unsigned level)
{
	return (uint16_t)(kind * BLOCK_LEVELS + (level & (BLOCK_LEVELS - 1)));
}

void block_result_fini(struct block_result *b);

// Which records count. Times and processes are decided on while blocks are read, except for items.
struct amdlog_filter {
	const pid_t *pids;
	size_t npids;                        // 0: all
	uint64_t since_us, until_us;         // inclusive; 0 and AMDLOG_UNKNOWN: no limit
	bool since_relative, until_relative; // they count from the first record
	bool (*kernel)(void *ctx, const char *name, size_t len); // NULL: all
	void *kernel_ctx;
	bool text; // leaves out records that are `unwanted`
};

// It leaves something out. Its times may still wait for a first record.
bool amdlog_is_filtered(const struct amdlog_filter *f);
bool amdlog_filter_has_pid(const struct amdlog_filter *f, int64_t pid);

// What a thread needs to read blocks of one input. The filter is not owned, and its times are
// absolute when blocks are read. `kinds`: a bit for each kind of record that must become an item,
// if chosen. `assumed`: the process of records that name none; -1.
struct block_reader;
struct block_reader *block_reader_new(const struct amdlog_filter *filter, uint32_t kinds,
				      int64_t assumed);
void block_reader_free(struct block_reader *g);

// For tests: one implementation after the other, the portable one first; false behind the last this
// processor can run.
bool block_reader_use(struct block_reader *g, unsigned n);

// Reads text[0..len), whole lines of which the last ends with a newline, and AMDLOG_PAD more bytes
// may be read behind them. `hits`: its lines that are picked by their text; NULL: all are. `b`
// points into the text.
void block_read(struct block_reader *g, struct block_result *b, const struct grep_hits *hits,
		const char *text, size_t len);

#endif
