// Reads JSON that gpq wrote: one object or array at a time, member by member, without copying. The
// text may come from strangers: what is no JSON is refused.
#pragma once

#include "common/host/std.h"

struct jsonin {
	const char *at, *end;
	bool failed; // the text is not JSON, or not the object or array asked for
};

struct jsonin_value {
	char kind;        // begins with: '{' '[' '"' 't' 'f' 'n', or '0' for a number
	const char *text; // as written, quotes and brackets included; not terminated
	size_t len;
};

// Enters the object or array (`open`: its bracket) that `text` holds. False if `text` is anything
// else.
bool jsonin_open(struct jsonin *j, const char *text, size_t len, char open);

// Reads the next member of an object (`key`: its name as written, without quotes) or element of an
// array (`key` NULL). Returns false at the end of the object or array, or with j->failed set.
bool jsonin_next(struct jsonin *j, struct jsonin_value *key, struct jsonin_value *value);

// Is the key, string or number equal to `word`, which has no escapes?
bool jsonin_is(const struct jsonin_value *v, const char *word);

// Read a number. False: the value is no number or, for jsonin_u64(), not digits alone or above
// UINT64_MAX.
bool jsonin_u64(const struct jsonin_value *v, uint64_t *n);
bool jsonin_f64(const struct jsonin_value *v, double *n);

// Copies a string with its escapes undone, cut between two characters to `size` bytes with the NUL.
// A byte that is no UTF-8 becomes "?". False: the value is no string.
bool jsonin_str(const struct jsonin_value *v, char *text, size_t size);
