// The index of a text: where lines end, and where a record may begin within a line. A pass of its
// own over the text, so that nothing waits for the end of one line to look at the next.
//
// Facts: amd-log-facts.md sections 4 (records within lines) and 13 (":3:" begins a record).
#ifndef GPQ_AMDLOG_READ_INDEX_H
#define GPQ_AMDLOG_READ_INDEX_H

#include "common/amdlog/read/vector.h"

#include <stddef.h>

#define INDEX_PAD  128 // bytes behind a text that may be read
#define INDEX_TILE ((size_t)4096)

// What was seen in the 64 bytes before, a bit for each.
struct index_state {
	uint64_t newlines, colons;
};

// A line begins where the text does, or not.
#define INDEX_AT_LINE ((struct index_state){UINT64_C(1) << 63, 0})
#define INDEX_IN_LINE ((struct index_state){0, 0})

// Appends the positions of newlines in text[at..at+64) as far as bits of `within` are set, and
// those of the second colon of every colon, digit, colon that does not begin a line.
static inline __attribute__((always_inline)) uint32_t *index_step(const char *text, size_t at,
								  uint64_t within,
								  struct index_state *s,
								  uint32_t *out)
{
	uint64_t newlines = bytes_that_are(text + at, '\n') & within;
	uint64_t colons = bytes_that_are(text + at, ':') & within, bits, marks;

	marks = colons & (colons << 2 | s->colons >> 62) & ~(newlines << 3 | s->newlines >> 61);
	marks &= ~(bytes_that_are(text + at, ' ') << 1); // ": : duration" is frequent
	s->newlines = newlines;
	s->colons = colons;
	for (bits = marks; __builtin_expect(bits != 0, 0); bits &= bits - 1) {
		unsigned i = (unsigned)__builtin_ctzll(bits);

		if ((unsigned char)(text[(ptrdiff_t)(at + i) - 1] - '0') > 9)
			marks &= ~(UINT64_C(1) << i);
	}
	bits = newlines | marks;
	*out = (uint32_t)(at + (bits ? (unsigned)__builtin_ctzll(bits) : 0));
	out += bits != 0;
	for (bits &= bits - 1; __builtin_expect(bits != 0, 0); bits &= bits - 1)
		*out++ = (uint32_t)(at + (unsigned)__builtin_ctzll(bits));
	return out;
}

// The same for text[from..to), at most INDEX_TILE bytes; `out` has room for one more than that.
// Returns how many there are.
static inline __attribute__((always_inline)) size_t index_text(const char *text, size_t from,
							       size_t to, struct index_state *s,
							       uint32_t *out)
{
	uint32_t *first = out;

	for (; from + 64 <= to; from += 64)
		out = index_step(text, from, ~UINT64_C(0), s, out);
	if (from < to)
		out = index_step(text, from, (UINT64_C(1) << (to - from)) - 1, s, out);
	return (size_t)(out - first);
}

#endif
