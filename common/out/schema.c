// JSON Schema of what commands write; see schema.h.
#include "common/out/schema.h"

#include "common/out/out_priv.h"

void schema_name(struct json *j, const char *key, const struct schema *s)
{
	json_begin_flat(j, key, '{');
	json_str(j, "name", s->name);
	json_u64(j, "version", s->version);
	json_end(j, '}');
}

// The unit that ends a key: "ns" of "latency_p50_ns"; NULL: none.
static const char *unit_of(const char *key)
{
	static const struct {
		const char *end, *unit;
	} units[] = {{"_ns", "ns"},       {"_us", "us"},     {"_mhz", "MHz"},
		     {"_bytes", "bytes"}, {"_per_s", "1/s"}, {"_percent", "percent"}};
	size_t len = strlen(key);
	for (size_t i = 0; i < COUNT(units); i++) {
		size_t n = strlen(units[i].end);
		if (len > n && strcmp(key + len - n, units[i].end) == 0)
			return units[i].unit;
	}
	return NULL;
}

// Every value may be null, which means that it is unknown.
static void put_type(struct json *j, const char *name)
{
	json_begin_flat(j, "type", '[');
	json_str(j, NULL, name);
	json_str(j, NULL, "null");
	json_end(j, ']');
}

static void put_help(struct json *j, const char *key, const char *help)
{
	const char *unit = unit_of(key);
	SCOPED(buf_fini) struct buf text = {0};
	if (!*help)
		return;
	buf_printf(&text, unit ? "%s [%s]" : "%s", help, unit);
	json_str(j, "description", text.data);
}

static void put_column(struct json *j, const struct out_col *c)
{
	const struct outfmt_type *type = &outfmt_types[c->type];
	json_begin_flat(j, out_col_key(c), '{');
	put_type(j, type->json);
	if (type->count)
		json_u64(j, "minimum", 0);
	if (c->type == OUT_HEX)
		json_str(j, "pattern", "^0x[0-9a-f]+$");
	if (c->type == OUT_LIST) {
		json_begin(j, "items", '{');
		json_str(j, "type", "string");
		json_end(j, '}');
	}
	put_help(j, out_col_key(c), out_col_help(c));
	json_end(j, '}');
}

// Begins an object that has the members that follow and no others.
static void begin_object(struct json *j)
{
	json_str(j, "type", "object");
	json_bool(j, "additionalProperties", false);
	json_begin(j, "properties", '{');
}

static void put_record_schema(struct json *j, const struct out_table *t, bool line)
{
	if (line) {
		json_begin_flat(j, "required", '[');
		json_str(j, NULL, "record");
		json_end(j, ']');
	}
	begin_object(j);
	if (line) {
		json_begin_flat(j, "record", '{');
		json_str(j, "const", t->record);
		json_end(j, '}');
	}
	for (unsigned i = 0; i < t->ncols; i++)
		put_column(j, &t->cols[i]);
	for (unsigned i = 0; i < context_table.ncols; i++)
		put_column(j, &context_table.cols[i]);
	json_end(j, '}');
}

static void put_rows_schema(struct json *j, const struct out_table *t)
{
	json_begin(j, t->name, '{');
	json_str(j, "type", "array");
	json_begin(j, "items", '{');
	put_record_schema(j, t, false);
	json_end(j, '}');
	json_end(j, '}');
}

// NOLINTNEXTLINE(misc-no-recursion): as deep as the tables of members, which are constants
static void put_member(struct json *j, const char *key, const struct schema_member *m)
{
	json_begin(j, key, '{');
	if (m->help)
		put_help(j, key, m->help);
	switch (m->type) {
	case SCHEMA_COUNT:
		put_type(j, "integer");
		json_u64(j, "minimum", 0);
		break;
	case SCHEMA_NUMBER: put_type(j, "number"); break;
	case SCHEMA_TEXT: put_type(j, "string"); break;
	case SCHEMA_LIST:
		json_str(j, "type", "array");
		put_member(j, "items", m->members);
		break;
	case SCHEMA_OBJECT:
		begin_object(j);
		for (const struct schema_member *of = m->members; of->key; of++)
			put_member(j, of->key, of);
		json_end(j, '}');
		break;
	case SCHEMA_RECORD: put_record_schema(j, m->table, false); break;
	}
	json_end(j, '}');
}

static void put_document(struct json *j, const struct schema *s)
{
	json_begin(j, NULL, '{');
	json_str(j, "title", s->name);
	json_begin_flat(j, "required", '[');
	json_str(j, NULL, "schema");
	json_end(j, ']');
	begin_object(j);
	json_begin_flat(j, "schema", '{');
	schema_name(j, "const", s);
	json_end(j, '}');
	for (const struct out_table *const *t = s->tables; *t; t++)
		put_rows_schema(j, *t);
	for (const struct schema_member *m = s->members; m && m->key; m++)
		put_member(j, m->key, m);
	json_end(j, '}');
	json_end(j, '}');
}

static void put_line_schema(struct json *j, const struct schema *s, const struct out_table *t)
{
	json_begin(j, NULL, '{');
	json_str(j, "title", s->name);
	put_record_schema(j, t, true);
	json_end(j, '}');
}

static void put_line_schemas(struct json *j, const struct schema *s)
{
	for (const struct out_table *const *t = s->tables; *t; t++)
		put_line_schema(j, s, *t);
	for (const struct schema_member *m = s->members; m && m->key; m++)
		if (m->table)
			put_line_schema(j, s, m->table);
}

static const struct schema_member failure_members[] = {
	{"level", SCHEMA_TEXT, "error", NULL, NULL},
	{"command", SCHEMA_TEXT, "command that failed", NULL, NULL},
	{"message", SCHEMA_TEXT, "what, where and why", NULL, NULL},
	{"next", SCHEMA_TEXT, "what to do next", NULL, NULL},
	{"status", SCHEMA_COUNT, "exit status", NULL, NULL},
	{0},
};
static const struct schema_member failure_document[] = {
	{"error", SCHEMA_OBJECT, NULL, failure_members, NULL},
	{0},
};
static const struct schema failure_schema = {"gpq.error", 1, SCHEMA_TABLES(NULL), failure_document};

void schema_print_failure(int status)
{
	struct buf text = {0};
	struct json j;
	json_init(&j, &text, true);
	json_begin(&j, NULL, '{');
	schema_name(&j, "schema", &failure_schema);
	err_failure(&j, "error", status);
	json_end(&j, '}');
	buf_puts(&text, "\n");
	out_text(&text);
}

int schema_print(const struct schema *const *schemas, bool lines)
{
	struct buf text = {0};
	struct json j;
	json_init(&j, &text, true);
	json_begin(&j, NULL, '{');
	json_str(&j, "$schema", "https://json-schema.org/draft/2020-12/schema");
	json_begin(&j, "anyOf", '[');
	for (; *schemas; schemas++)
		lines ? put_line_schemas(&j, *schemas) : put_document(&j, *schemas);
	if (!lines)
		put_document(&j, &failure_schema);
	json_end(&j, ']');
	json_end(&j, '}');
	buf_puts(&text, "\n");
	return out_text(&text);
}
