// Shared by the loop over lines (block_lines.c) and the rest of the block reader (block.c).
#pragma once

#include "common/amdlog/read/block.h"
#include "common/amdlog/read/reassemble.h"

#define FILE_END 28 // column of the colon behind the file's name
#define COLOUR   "\x1b[32m "

// The message, colour included, of an API line that may name a stream.
struct api_line {
	const char *msg, *end; // msg NULL: there is none
};

struct block_thread {
	struct block_sum sum;
	bool wanted;    // the filter chooses the thread's process
	bool used;      // the thread has lines in this block
	uint32_t index; // index in the result's `sums`, if used
	uint8_t calls;  // enum call_bits: API lines that may name the thread's next stream
	// [1]: the thread's last API line since its last item. [0] takes all other lines, so that
	// storing needs no branch.
	struct api_line api[2];
	const char *command; // message of the thread's last command that names a stream; NULL: none
	uint64_t command_stream;
};

// An entry of the prefix cache: columns 28 to 91 of the lines of one thread. A byte of a line fits
// if it differs from `text` (by xor) by no more than `limit`: 0 for the byte itself, 9 for any
// digit, 0xff for any byte. A line that fits has the same process part, and its time in the same
// columns.
struct prefix {
	_Alignas(64) uint8_t text[64], limit[64];
	uint8_t digits[16]; // mask of the time's digits, for digits_before
	uint8_t time_end, msg;
	struct block_thread *thread;
};

enum statement_use { USE_COUNT, USE_COMMAND, USE_ITEM };
// API lines of which each thread's last one is kept; entries only if their prefix names a thread.
enum call_bits { CALL_RETURN = 1, CALL_ENTRY = 2 };

// An entry of the statement cache: level, source file and three digits of its line (columns 0 to
// 31), the message's beginning and, for API entries, its end. A line that fits is of the same kind.
struct statement {
	_Alignas(64) uint8_t text[64], mask[64];
	uint8_t head[32];
	uint64_t tail, tail_mask; // the line's last eight bytes, and which bits must be equal
	uint64_t counts;          // what a line adds to block_sum.counted
	uint16_t counter, name_len;
	enum amdlog_kind kind : 8;
	uint8_t lead; // bytes of the colour escape in front of the message; 0: no colour
	uint8_t use;  // enum statement_use
	uint8_t call; // enum call_bits
};

#define PREFIXES       512
#define STATEMENT_SETS 512 // sets of two statements, the newer one first

struct parse;
typedef void block_loop_fn(struct parse *w, const char *text, size_t len);

struct block_reader {
	void *memory; // the allocation that holds this struct, aligned to 64
	const struct amdlog_filter *filter;
	uint32_t kinds;
	int64_t assumed;
	block_loop_fn *loop;
	// Tells which lines a torn record may reach; its records are not used.
	struct amdlog_reassembly *reassembly;
	bool unsure; // an earlier block may know the process of a thread that has none here
	bool bare;   // the prefix cached last names no thread
	uint32_t nthreads;
	struct intern thread_keys; // process and thread -> index in `threads`
	struct block_thread threads[BLOCK_THREADS], no_thread;
	struct prefix prefixes[PREFIXES];
	struct statement statements[STATEMENT_SETS][2];
	uint64_t letters[256];   // by a message's first byte: which of bytes 3 to 10 choose a set
	struct prefix no_prefix; // fits no line
};

// The state of the loop over the lines of a block.
struct parse {
	struct block_reader *g;
	struct block_result *b;
	const struct amdlog_filter *filter; // NULL: all lines count
	const struct prefix *prefix;        // prefix of the line before; its thread is `used`
	uint64_t last_us; // time of the last record counted since the last item; 0: none
	const char *end;  // end of the block
	bool glued;       // another record begins within this line
	bool open;        // a torn record of earlier lines may still be reassembled
	bool unwanted;    // the filter by text leaves this line out
	bool by_text;
	struct grep_cursor hits;
};

// The place in the prefix cache for a line: by the last digits of the thread's number, in front of
// the first ']' behind column 56. AMDLOG_PAD bytes of the line may be read.
static inline __attribute__((always_inline)) struct prefix *prefix_place(struct block_reader *g,
									 const char *p)
{
	uint64_t ends = g->bare ? 0 : bytes_that_are(p + 56, ']');
	uint64_t key = ends ? load64(p + 48 + __builtin_ctzll(ends)) : 0;
	return &g->prefixes[key * UINT64_C(0x9e3779b97f4a7c15) >> 55];
}
_Static_assert(PREFIXES == 512, "prefix_place takes nine bits");

// The set of the statement cache for a line: by its source line and, for API lines, letters of the
// function's name.
static inline __attribute__((always_inline)) struct statement *statement_set(struct block_reader *g,
									     const char *p,
									     const char *msg)
{
	uint64_t key = load64(msg + 3) & g->letters[(unsigned char)*msg];
	key ^= load64(p + FILE_END - 2);
	return g->statements[key * UINT64_C(0x9e3779b97f4a7c15) >> 55];
}
_Static_assert(STATEMENT_SETS == 512, "statement_set takes nine bits");

// The loop over lines for any processor, and for x86-64 with AVX2 and BMI2.
block_loop_fn block_loop, block_loop_avx2;

// Reads a line that is not in the caches. `marked`: another record may begin in it.
void slow_line(struct parse *w, const char *text, const char *newline, bool marked);

// The place of the next item, which new_item() then appends.
struct block_item *next_item(struct parse *w);

// Appends `item` (from next_item), a record of thread `t`; sets its stream or kernel name.
void take_known(struct parse *w, struct block_thread *t, struct block_item *item);

// Gives a thread its place in the result, at its first line in the block.
void use_thread(struct parse *w, struct block_thread *t);

// Keeps the stream that a command's message names, if it names one.
void note_command(struct block_thread *t, const char *msg, const char *end);

// True if a line that is only counted passes the filter.
static inline bool is_chosen(const struct parse *w, const struct block_thread *t, uint64_t us)
{
	const struct amdlog_filter *f = w->filter;
	return !f ||
	       (!w->unwanted && t->wanted && !f->kernel && us >= f->since_us && us <= f->until_us);
}

static inline __attribute__((always_inline)) void count_line(struct parse *w,
							     struct block_thread *t, uint64_t us,
							     uint64_t counts, uint16_t counter)
{
	struct block_result *b = w->b;
	b->counts[counter]++;
	t->sum.counted += counts;
	b->steps_back += us < w->last_us;
	b->first_us = b->first_us == AMDLOG_UNKNOWN ? us : b->first_us;
	w->last_us = us;
	t->sum.first_us = us < t->sum.first_us ? us : t->sum.first_us;
	t->sum.last_us = us > t->sum.last_us ? us : t->sum.last_us;
}

// Leaves out a line that does not pass the filter.
static inline void leave_line(struct parse *w, uint64_t us)
{
	struct block_result *b = w->b;
	b->lines++;
	b->left_first_us = us < b->left_first_us ? us : b->left_first_us;
	b->left_last_us = us > b->left_last_us ? us : b->left_last_us;
}

// The end of the line's text, without a carriage return.
static inline const char *text_end(const char *newline)
{
	return newline - (newline[-1] == '\r');
}
