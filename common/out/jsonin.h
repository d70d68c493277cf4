// Reads JSON that gpq wrote: one object or array at a time, member by member, without copying. The
// text may come from strangers: what is no JSON is refused.
#ifndef GPQ_OUT_JSONIN_H
#define GPQ_OUT_JSONIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct jsonin {
	const char *at, *end;
	bool failed; // the text is no JSON from `at` on, or no object or array as asked for
};

struct jsonin_value {
	char kind;        // '{' '[' '"' '0' (number) 't' 'f' 'n'
	const char *text; // as written, quotes and brackets included; not terminated
	size_t len;
};

// Enters an object or array (`open`: its bracket). False if the whole text is not one.
bool jsonin_open(struct jsonin *j, const char *text, size_t len, char open);

// The next member of the object (`key`: its name as written, without quotes) or element of the
// array (`key` NULL). False at its end, or when j->failed.
bool jsonin_next(struct jsonin *j, struct jsonin_value *key, struct jsonin_value *value);

// Is the key or string this word? The word has no escapes.
bool jsonin_is(const struct jsonin_value *v, const char *word);

// Numbers; false for another kind, a fraction, or out of range.
bool jsonin_u64(const struct jsonin_value *v, uint64_t *n);
bool jsonin_f64(const struct jsonin_value *v, double *n);

// A string with its escapes undone, cut to `size`. False when it is no string.
bool jsonin_str(const struct jsonin_value *v, char *text, size_t size);

#endif
