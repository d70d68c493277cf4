// Where lines end and where further log records may begin within them, found with vector code over
// whole blocks.
//
// A mark is the position of a newline, or of a colon, digit, colon (":3:" begins a record;
// amd-log-facts.md section 13) that does not stand at the start of a line: there the caller looks
// anyway. Whether a prefix follows is for the caller to say. Such colons are rare, so that nearly
// all marks are newlines.
#ifndef GPQ_AMDLOG_MARKS_H
#define GPQ_AMDLOG_MARKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Every implementation may read this many bytes behind the block.
#define MARKS_PAD 128

// And write this many numbers behind the last mark.
#define MARKS_SPARE 8

// Writes the marks of text[0..len) to `out`, ascending, and returns how many; `out` has room for
// `len` and MARKS_SPARE. `line_start`: a line begins at text[0].
typedef size_t marks_fn(const char *text, size_t len, bool line_start, uint32_t *out);

// The fastest one this processor has.
marks_fn *marks_choose(void);

// One implementation after the other, the portable one first, for tests; NULL behind the last this
// processor can run. `name` may be NULL.
marks_fn *marks_nth(unsigned n, const char **name);

#endif
