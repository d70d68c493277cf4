// Numbers in text: the one reader of digits. Nothing but digits is a number: no sign, no blanks
// before it. Logs have readers of their own that take many digits at once
// (common/amdlog/read/packet_parse.h), as has debugfs for its dumps (common/debugfs/dump.c).
#pragma once

#include "common/host/std.h"

// Value of a hexadecimal digit, or -1. A table, since comparisons would be mispredicted: digits and
// letters alternate at random in an address.
extern const int8_t hex_values[256];
static inline int hex_digit(char c)
{
	return hex_values[(unsigned char)c];
}

// Reads the digits of base 10 or 16 that `s` begins with, before `end` (NULL: the text ends with
// NUL). Returns what follows them; NULL if there are no digits, or the number is greater than
// `max`.
const char *number_read(const char *s, const char *end, unsigned base, uint64_t max,
			uint64_t *value);

// Reads a text that is one number, as number_read() does. False: the text is anything else.
bool number_whole(const char *s, unsigned base, uint64_t max, uint64_t *value);

static inline uint64_t lesser(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static inline uint64_t greater(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

// The sum, or UINT64_MAX if it is larger: so it does not matter in which order numbers are added.
static inline uint64_t add_saturating(uint64_t a, uint64_t b)
{
	uint64_t sum;
	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

// Reads a text that is a decimal number, or a hexadecimal one after 0x, and nothing else.
bool parse_u64(const char *s, uint64_t *value);
