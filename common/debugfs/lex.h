// Matching lines of debugfs against the formats that the kernel prints them with.
#ifndef GPQ_DEBUGFS_LEX_H
#define GPQ_DEBUGFS_LEX_H

#include <stdbool.h>
#include <stdint.h>

// Does the line at p begin with what `format` would print? In it %d is a decimal and %x a
// hexadecimal number up to 32 bits, a blank stands for any number of blanks (also none at the
// beginning), everything else for itself. Numbers go to v in their order, which must have room for
// all of them; they are meaningless when the answer is no.
bool lex_line(const char *p, const char *end, const char *format, uint32_t *v);

#endif
