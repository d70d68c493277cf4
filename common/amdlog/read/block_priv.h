// Shared by the loop over lines (block_lines.c) and the rest of the block reader (block.c).
#ifndef GPQ_AMDLOG_READ_BLOCK_PRIV_H
#define GPQ_AMDLOG_READ_BLOCK_PRIV_H

#include "common/amdlog/read/block.h"
#include "common/amdlog/read/reassemble.h"

#define FILE_END 28 // column of the colon behind the file's name
#define COLOUR   "\x1b[32m "

// A line that may name a stream: its message, with its colour, and its end.
struct api_line {
	const char *msg, *end; // msg NULL: there is none
};

struct block_thread {
	struct block_sum sum; // its style is also that of its lines in the prefix cache
	bool wanted;          // its process is one of those asked for
	bool used;            // in this block, as `index` of the result
	uint32_t index;
	// Since its last item: its last API line, and the last message of a command that says which
	// stream it is for.
	uint8_t calls;          // enum call_bits: which of its lines are kept
	struct api_line api[2]; // the last line that is none, and that is: stored without a branch
	const char *command;    // NULL: none
	uint64_t command_stream;
};

// The prefix cache: how lines of one thread begin, columns 28 to 91. A byte fits when it differs
// from the text by no more than the limit: 0 for the byte itself, 9 for any digit, 0xff for any
// byte. Any line that fits has the same process part, and its time in the same columns.
struct prefix {
	_Alignas(64) uint8_t text[64], limit[64];
	uint8_t digits[16]; // of the time, for digits_before
	uint8_t time_end, msg;
	struct block_thread *thread;
};

enum statement_use { USE_COUNT, USE_COMMAND, USE_ITEM };
// An entry without a thread cannot be assigned to a call.
enum call_bits { CALL_RETURN = 1, CALL_ENTRY = 2 };

// The statement cache: level, file and line (columns 0 to 31), how the message begins, and, of API
// entries, how the line ends. Any line that fits is of the same kind.
struct statement {
	_Alignas(64) uint8_t text[64], mask[64];
	uint8_t head[32];
	uint64_t tail, tail_mask; // of the line's last eight bytes
	uint64_t counts;          // see block_sum.counted
	uint16_t counter, name_len;
	enum amdlog_kind kind : 8;
	uint8_t lead; // colour in front of the message
	uint8_t use;  // enum statement_use
	uint8_t call; // enum call_bits
};

#define PREFIXES       512
#define STATEMENT_SETS 512 // of two statements, the newer one first

struct parse;
typedef void block_loop_fn(struct parse *w, const char *text, size_t len);

struct block_reader {
	const struct amdlog_filter *filter;
	uint32_t kinds;
	int64_t assumed;
	block_loop_fn *loop;
	// Lines that may be reassembled go through it to see how far that reaches; what it makes is
	// not used.
	struct amdlog_reassembly *reassembly;
	bool unsure;   // a process may be known to others that is not known here
	uint32_t bare; // column of the message in lines without a process; 0: lines have one
	uint32_t nthreads;
	struct intern thread_keys; // process and thread -> index in `threads`
	struct block_thread threads[BLOCK_THREADS], no_thread;
	struct prefix prefixes[PREFIXES];
	struct statement statements[STATEMENT_SETS][2];
	uint64_t letters[256];   // by a message's first byte: which of its bytes 3 to 10 tell it
	struct prefix no_prefix; // fits nothing but newlines
};

// Where the loop is.
struct parse {
	struct block_reader *g;
	struct block_result *b;
	const struct amdlog_filter *filter; // NULL: all lines count
	const struct prefix *prefix;        // of the line before, of a thread that is used
	uint64_t last_us;                   // since the last item; 0: none
	const char *end;                    // of the block
	// This line begins a record in its midst, or those before it are not done with: a torn
	// record may be reassembled yet.
	bool glued, open;
	bool unwanted; // this line, by its text
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

// The set of the statement cache: by the source's line and, for API lines, letters of the
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

// For any processor, and for x86-64 with AVX2 and BMI2.
block_loop_fn block_loop, block_loop_avx2;

// A line that is not in the caches; `marked`: another record may begin in it.
void slow_line(struct parse *w, const char *text, const char *newline, bool marked);

// Where the next item is going to be, if there will be one; NULL: there are too many.
struct block_item *next_item(struct parse *w);

// A record that stands in the next item already, but for its stream or name.
void take_known(struct parse *w, struct block_thread *t, struct block_item *item);

// The thread's first line in this block.
void use_thread(struct parse *w, struct block_thread *t);

// A command that is bound for a stream.
void note_command(struct block_thread *t, const char *msg, const char *end);

// What the filter of the summary says of a line that is counted.
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

// Without a carriage return.
static inline const char *text_end(const char *newline)
{
	return newline - (newline[-1] == '\r');
}

#endif
