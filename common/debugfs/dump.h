// One line of a KFD hex dump, as debugfs mqds, hqds and rls print it:
//
//    00000220: 2a400000 0000007f 00011a20 ...
//
// Blanks, an 8-digit byte offset or address, a colon, and up to eight 32-bit words of eight digits
// [debugfs.dump-lines].
#pragma once

#include "common/host/std.h"

#define DUMP_WORDS 8 // words on a full line

struct dump_line {
	uint32_t addr;              // byte offset or byte address before the colon
	uint32_t words[DUMP_WORDS]; // 0 where the word's bit in `valid` is clear
	uint8_t valid;              // bit i: words[i] was eight hex digits
	uint8_t count;              // words on the line, readable or not, 0..8
};

// True when the text from p to `end`, which has no newline, is a dump line; *out is then filled.
bool dump_line_parse(const char *p, const char *end, struct dump_line *out);

// Lines of a text, counted while they are parsed.
struct dump_count {
	uint32_t lines;
	uint32_t foreign;       // lines that were not understood
	uint32_t first_foreign; // line number, from 1, of the first foreign one; 0: none
};

// Parses the line from p to `end`; `whole`: a newline follows. False: the line was not understood.
typedef bool (*dump_line_fn)(void *arg, const char *p, const char *end, bool whole);

// Gives the line at p to `fn` and counts it. Returns the place behind the line.
const char *dump_next(struct dump_count *c, const char *p, const char *end, dump_line_fn fn,
		      void *arg);

// Sets the counts to 0 and gives all lines of a text to `fn`.
void dump_each(struct dump_count *c, const char *text, size_t len, dump_line_fn fn, void *arg);

// Matches blanks and then `format`, in which %d is a decimal and %x a hexadecimal number up to 32
// bits, and a blank stands for one or more blanks. The numbers go to v, in order. Returns the place
// behind the match; NULL if the text differs, and v is then undefined.
const char *dump_match(const char *p, const char *end, const char *format, uint32_t *v);

// True when there is nothing but blanks between p and `end`.
bool dump_line_empty(const char *p, const char *end);

// Reads the 8 bytes at p, all hex digits of one word. False if they are not; `out` is then unset.
bool dump_hex8(const char *p, uint32_t *out);

// Bytes of a full line as the kernel prints it, newline included.
#define DUMP_LINE         86
#define DUMP_WORD(row, i) (14 + (row) * (size_t)DUMP_LINE + (i)*9u) // offset of word i of a row

// How many full lines of an MQD stand at p exactly as the kernel prints them: 4 blanks, offsets 0,
// 32, 64 ..., all words good. Counts up to `most` (128) lines. Their words are at DUMP_WORD().
unsigned dump_run(const char *p, const char *end, unsigned most);

// The number of words on the line that are not eight hex digits.
static inline unsigned dump_line_bad(const struct dump_line *l)
{
	return l->count - (unsigned)__builtin_popcount(l->valid);
}
