// A block of whole lines, taken apart as far as that needs nothing of what came before it; so that
// several threads can work on one input, and most lines need no more than counting.
//
// Three kinds of lines come out: those that fit a known form (form.h) and of which only numbers
// matter are counted; those that also say something in order (packets, kernel names, queues) become
// items, parsed; the rest become items to be read as the scanner reads them. Then
// amdlog_reading_take (reading.h) takes the digests of an input in the input's order.
//
// Where a record may have to be mended, or nearly nothing fits, the digest says `slow`, and the
// block is to be scanned as a whole.
#ifndef GPQ_AMDLOG_DIGEST_H
#define GPQ_AMDLOG_DIGEST_H

#include "common/amdlog/detail.h"
#include "common/amdlog/form.h"
#include "common/amdlog/scan.h"
#include "common/cli/grep.h"

// Kinds that are items whatever is asked for: what they say depends on what was said before.
#define AMDLOG_KIND(kind) (UINT32_C(1) << AMDLOG_##kind)
#define AMDLOG_KINDS_PLACED                                                                       \
	(AMDLOG_KIND(PACKET) | AMDLOG_KIND(DISPATCH) | AMDLOG_KIND(BARRIER_AND) |                 \
	 AMDLOG_KIND(BARRIER_OR) | AMDLOG_KIND(BARRIER_VALUE) | AMDLOG_KIND(KERNEL) |             \
	 AMDLOG_KIND(QUEUE_CREATED) | AMDLOG_KIND(QUEUE_SELECTED) | AMDLOG_KIND(QUEUE_ACQUIRED) | \
	 AMDLOG_KIND(QUEUE_RELEASED) | AMDLOG_KIND(QUEUE_DELETED) | AMDLOG_KIND(QUEUE_ERROR) |    \
	 AMDLOG_KIND(VERSION))

// What API and command lines of a thread say of the stream its next packets go to.
struct digest_stream {
	bool api;        // there were API lines: the stream of before is over
	bool by_command; // `stream` comes from a command line behind these
	uint64_t stream; // AMDLOG_UNKNOWN: none is named
};

enum digest_what {
	DIGEST_RECORD,
	DIGEST_STREAM, // only `r.who` and `stream` are set
	DIGEST_LINES,  // only `r.text` and `r.len` are set: to be scanned, with their newlines
};

struct digest_item {
	enum digest_what what;
	// Of the lines counted since the item before, the times of the first and last record;
	// first_us is AMDLOG_UNKNOWN when there are none.
	uint64_t first_us, last_us;
	struct amdlog_record r;      // its offset is not set
	struct digest_stream stream; // of its thread, since the thread's last item
	const char *name;            // of a kernel, with its hash (intern_hash)
	size_t name_len;
	uint32_t name_hash;
	struct amdlog_packet packet; // of packets
};

struct api_line {
	const char *msg, *newline;
};

// What the counted lines of one thread add up to.
struct digest_sum {
	const struct form *form;
	uint64_t counted; // records, and API calls in the upper 32 bits
	uint64_t first_us, last_us;
	// Since this thread's last item: its last API line, and the last message of a command that
	// says which stream it is for. NULL: none.
	struct api_line api;
	const char *command;
	uint64_t command_stream;
};

// Where the records of a kind and a level are counted.
#define DIGEST_LEVELS 16
static inline uint16_t digest_counter(enum amdlog_kind kind, unsigned level)
{
	return (uint16_t)(kind * DIGEST_LEVELS + (level & (DIGEST_LEVELS - 1)));
}

struct digest {
	bool slow;
	bool torn; // some of DIGEST_LINES are there as a line before them may be mended
	uint64_t lines, foreign;    // counted: those that are not in `sums`, without a record
	uint64_t steps_back;        // between counted records with no item between them
	uint64_t first_us, last_us; // as of an item, behind the last one
	uint32_t counts[AMDLOG_NKINDS * DIGEST_LEVELS]; // records counted (digest_counter)
	uint32_t nitems, item_cap, nsums;
	struct digest_item *items;
	struct digest_sum *sums; // in the order of their first record; room for FORM_MAX
};

// All lines counted so far.
static inline uint64_t digest_lines(const struct digest *d)
{
	uint64_t n = d->lines;

	for (uint32_t i = 0; i < d->nsums; i++)
		n += (uint32_t)d->sums[i].counted;
	return n;
}

// Which of the lines that are counted count, their process aside (struct form). Items are chosen
// when they are taken, but for their text.
struct digest_choice {
	uint64_t since_us, until_us;  // inclusive
	bool none;                    // only items can be what is asked for
	const struct grep_hits *hits; // lines whose text is; NULL: all
};

// False when memory is short; digest_fini then, too.
bool digest_init(struct digest *d);
void digest_fini(struct digest *d);

// What a thread needs to make digests.
struct digester;

// `kinds`: a bit for each kind of record that must become an item, if it is chosen. NULL when
// memory is short.
struct digester *digester_new(const struct forms *forms, uint32_t kinds);
void digester_free(struct digester *g);

// For tests: one implementation after the other, the portable one first; false behind the last this
// processor can run. `name` may be NULL.
bool digester_use(struct digester *g, unsigned n, const char **name);

// Digests text[0..len), whole lines of which the last ends with a newline, and MARKS_PAD more bytes
// may be read behind them. `choice` NULL: all lines count. `d` points into the text.
void digester_run(struct digester *g, struct digest *d, const struct digest_choice *choice,
		  const char *text, size_t len);

#endif
