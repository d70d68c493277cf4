// What JSON documents and NDJSON lines hold, as JSON Schema (draft 2020-12), made from the same
// column tables that write them.
//
// Each form of a command's output has a schema: the name and version that its documents carry as
// their first member. A version is raised when a key goes away or gets another type, unit or
// meaning; new keys leave it as it is.
#pragma once

#include "common/out/out.h"

enum schema_type {
	SCHEMA_COUNT,  // integer, not below 0
	SCHEMA_NUMBER, // number
	SCHEMA_TEXT,   // string
	SCHEMA_LIST,   // array; `members` is its element, whose key is ignored
	SCHEMA_OBJECT, // object of `members`
	SCHEMA_RECORD, // object of one record of `table`, as out_object() writes it
};

// A member that a command writes by out_object() or out_json(), beside its tables of rows. What is
// not known is null.
struct schema_member {
	const char *key; // NULL ends a list
	enum schema_type type;
	const char *help; // one line without full stop
	const struct schema_member *members;
	const struct out_table *table; // table of the member's records, also in NDJSON; or NULL
};

struct schema {
	const char *name;                      // "gpq.hqd.regs"
	unsigned version;                      // from 1 on
	const struct out_table *const *tables; // tables of rows, ended by NULL (SCHEMA_TABLES)
	const struct schema_member *members;   // further members; NULL: none
};

// Schema of the output of --list-columns.
extern const struct schema out_columns_schema;

#define SCHEMA_TABLES(...)                \
	(const struct out_table *const[]) \
	{                                 \
		__VA_ARGS__, NULL         \
	}

// Writes the schema's name and version as an object, which documents have under the key "schema".
void schema_name(struct json *j, const char *key, const struct schema *s);

// Prints the JSON Schema of documents whose schema is one of `schemas` (ended by NULL), or that of
// failures, or, if `lines`, of their NDJSON lines. Returns the exit status, as out_text() does.
int schema_print(const struct schema *const *schemas, bool lines);

// Prints the document of a command that fails with this status before it knows what to write.
void schema_print_failure(int status);
