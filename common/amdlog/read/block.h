// Reads a block of whole lines as far as that needs no earlier block, so that several threads can
// read one input. amdlog_reading_take (reading.h) then takes the results in the order of the input.
//
// Most lines are only counted, by thread. Lines whose order matters (packets, kernel names, queues)
// become parsed items. Lines that a torn record may reach become one item for the scanner.
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
// What saved less than 2 % is not here: two prefixes a set, and in the summary the kernel that a
// kernel_obj had last.
#pragma once

#include "common/amdlog/read/detail.h"
#include "common/amdlog/read/scan.h"
#include "common/cli/grep.h"

#define AMDLOG_KIND(kind) (UINT32_C(1) << AMDLOG_##kind)

#define BLOCK_THREADS 1024 // threads that a block reader tells apart
#define BLOCK_LEVELS  16

// The stream that a thread's next packets go to, by its API and command lines.
struct block_stream {
	bool api;        // API lines were read: they end the stream of an earlier call
	bool by_command; // `stream` comes from a command line after the last API line
	uint64_t stream; // AMDLOG_UNKNOWN: none is named
};

enum block_what {
	BLOCK_RECORD,
	BLOCK_STREAM, // only `thread` and `stream` are set
	BLOCK_LINES,  // only `r.text` and `r.len` are set: lines to scan, newlines included
};

struct block_item {
	enum block_what what;
	uint32_t thread; // index in the result's threads
	// Times of the first and last record counted since the previous item; first_us is
	// AMDLOG_UNKNOWN if none was.
	uint64_t first_us, last_us;
	struct amdlog_record r;     // a record whose offset and thread number are not set
	struct block_stream stream; // stream of the item's thread, since that thread's last item
	const char *name;           // kernel name; its hash is that of intern_hash
	size_t name_len;
	uint32_t name_hash;
	struct amdlog_packet packet; // set if the record is a packet
};

// A thread of a block, and the sums over its counted lines.
struct block_sum {
	struct amdlog_writer writer;
	enum amdlog_style style; // style of the thread's first line
	uint32_t number;         // the scanner's number of the thread; set when the result is taken
	uint64_t counted;        // number of records; upper 32 bits: of API calls
	uint64_t first_us, last_us;
};

// Starts as zeros.
struct block_result {
	bool slow;                  // was not read: scan the whole block instead
	bool torn;                  // some BLOCK_LINES exist because a torn record may reach them
	uint64_t lines;             // lines that are in no sum: foreign, or left out by the filter
	uint64_t foreign;           // those of `lines` that hold no record
	uint64_t steps_back;        // counted records older than the one before, no item between
	uint64_t first_us, last_us; // times of the records counted behind the last item
	uint64_t left_first_us, left_last_us; // of lines left out by the filter; first > last: none
	uint32_t counts[AMDLOG_NKINDS * BLOCK_LEVELS]; // records counted, by kind and level
	uint64_t styles[AMDLOG_NSTYLES]; // corrects the counts by block_sum.style, modulo 2^64
	uint32_t nitems, nsums;
	size_t item_cap;
	struct block_item *items;
	struct block_sum *sums; // in the order of their first record
};

// Index into block_result.counts.
static inline uint16_t block_counter(enum amdlog_kind kind, unsigned level)
{
	return (uint16_t)(kind * BLOCK_LEVELS + (level & (BLOCK_LEVELS - 1)));
}

void block_result_fini(struct block_result *b);

// Which records are counted and listed. The block reader tests lines that it only counts, which
// name no kernel; the summary tests all other records.
struct amdlog_filter {
	const pid_t *pids;
	size_t npids;                        // 0: all processes pass
	uint64_t since_us, until_us;         // inclusive; 0 and AMDLOG_UNKNOWN: no limit
	bool since_relative, until_relative; // since_us, until_us count from the first record
	bool (*kernel)(void *ctx, const char *name, size_t len); // true: pass; NULL: all pass
	void *kernel_ctx;
	bool text; // a filter by text is set: records marked `unwanted` are left out
};

// True if the filter leaves something out. Its times may still be relative.
bool amdlog_is_filtered(const struct amdlog_filter *f);
bool amdlog_filter_has_pid(const struct amdlog_filter *f, int64_t pid);

// The state of one thread that reads blocks of one input. The filter is not owned; its times must
// be absolute when blocks are read. `kinds`: a bit for each kind whose records become items, beside
// PLACED ones. `assumed`: the process of records that name none; -1: unknown.
struct block_reader;
struct block_reader *block_reader_new(const struct amdlog_filter *filter, uint32_t kinds,
				      int64_t assumed);
void block_reader_free(struct block_reader *g);

// For tests: chooses loop `n`, of which 0 is the portable one. False: this CPU cannot run the loop.
bool block_reader_use(struct block_reader *g, unsigned n);

// Reads text[0..len): whole lines, the last one with its newline, and AMDLOG_PAD readable bytes
// after them. `hits`: lines that the filter by text picks; NULL: all. `b` points into the text.
void block_read(struct block_reader *g, struct block_result *b, const struct grep_hits *hits,
		const char *text, size_t len);
