// A streaming JSON writer into a buffer (RFC 8259).
//
// Strings are made valid UTF-8 (an invalid byte becomes U+FFFD): a kernel name cut in the
// middle of a character must not spoil the document. Each type has one value that means unknown and
// is written as null.
#pragma once

#include "common/host/std.h"

struct json {
	struct buf *out; // not owned; may be emptied between calls
	bool pretty;     // one value a line, indented, down to the level `flat`
	bool empty;      // nothing written yet in the innermost object or array
	unsigned depth;
	unsigned flat; // from this depth on, objects and arrays stay on one line; 0: none do
};

void json_init(struct json *j, struct buf *out, bool pretty);

// `key` is NULL inside arrays and at the top. `open` is '{' or '[', `close` its partner.
void json_begin(struct json *j, const char *key, char open);
void json_begin_flat(struct json *j, const char *key, char open); // all members on one line
void json_end(struct json *j, char close);

// Writes `"key":` from a text that json_quoted() made once for millions of rows; the value is
// written next, with key NULL. Only in objects on one line (json_begin_flat).
void json_quoted_key(struct json *j, const char *quoted, size_t len);
void json_quoted(const struct json *j, struct buf *out, const char *key);

void json_str(struct json *j, const char *key, const char *value); // NULL: null
void json_strn(struct json *j, const char *key, const char *value, size_t len);
void json_u64(struct json *j, const char *key, uint64_t value);         // UINT64_MAX: null
void json_i64(struct json *j, const char *key, int64_t value);          // INT64_MIN: null
void json_f64(struct json *j, const char *key, double value);           // NaN, infinite: null
void json_milli(struct json *j, const char *key, uint64_t thousandths); // 1500: writes 1.5, exact
void json_hex(struct json *j, const char *key,
	      uint64_t value);                              // the string "0x1f"; UINT64_MAX: null
void json_bool(struct json *j, const char *key, int value); // below 0: null
