// Members of plain structs as JSON: one table writes them and reads them back.
#pragma once

#include "common/cli/json.h"
#include "common/out/jsonin.h"

struct member;

struct member_type {
	void (*write)(struct json *j, const struct member *m, const void *at);
	bool (*read)(const struct jsonin_value *v, const struct member *m, void *at);
};

struct member {
	const char *key; // NULL ends a table
	const struct member_type *type;
	uint32_t offset, size;    // place and size of the member in its struct, in bytes
	const char *const *words; // member_word: texts of the values, NULL-terminated
};

#define MEMBER(kind, row, name, json_key)                               \
	{                                                               \
		(json_key), &member_##kind, offsetof(struct row, name), \
			sizeof(((struct row *)0)->name), NULL           \
	}
#define MEMBER_WORD(row, name, json_key, list)                                            \
	{                                                                                 \
		(json_key), &member_word, offsetof(struct row, name), sizeof(int), (list) \
	}

// Unknown values are written as null. A member that is null in the text keeps its value.
extern const struct member_type member_u64;   // uint64_t; UINT64_MAX: null
extern const struct member_type member_count; // uint64_t that is always known
extern const struct member_type member_f64;   // double; NaN: null
extern const struct member_type member_flag;  // bool
extern const struct member_type member_text;  // char[]; "": null
extern const struct member_type member_plain; // char[]; an empty text is written as ""
extern const struct member_type member_word;  // int or enum: index in `words`

void members_write(struct json *j, const struct member *table, const void *row);

// A table of members, and the struct in which its offsets count.
struct member_row {
	const struct member *table;
	void *row;
};

// Reads one member into the first of `rows` (ended by a NULL table) whose table has the key. False
// when the value is not of the member's type. A key of no table comes from a later version and is
// ignored.
bool members_take(const struct member_row *rows, const struct jsonin_value *key,
		  const struct jsonin_value *v);

// Begin and end an object on a line of its own: {"record": NAME, "schema": 1, ...}.
void record_begin(struct json *j, struct buf *out, const char *name);
void record_end(struct json *j);

// Reads an object that record_begin() and record_end() wrote. False if the line is not a record of
// this name, or a member has the wrong type.
bool record_read(const char *line, size_t len, const char *name, const struct member_row *rows);
