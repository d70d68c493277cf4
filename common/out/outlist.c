// --list-columns; see out.h.
#include "common/out/out_priv.h"

#include "common/out/schema.h"

struct column_record {
	const char *table, *column, *key, *type, *help;
	int8_t is_default;
};

static const struct out_col column_cols[] = {
	OUT_COL(column_record, column, "COLUMN", "column", OUT_STR, OUT_DEFAULT, "name for -o"),
	OUT_COL(column_record, key, "KEY", "key", OUT_STR, OUT_DEFAULT, "key in JSON"),
	OUT_COL(column_record, type, "TYPE", "type", OUT_STR, OUT_DEFAULT, "type in JSON, or unit"),
	OUT_COL(column_record, is_default, "DEFAULT", "default", OUT_BOOL, OUT_DEFAULT,
		"shown without -o"),
	OUT_COL(column_record, table, "TABLE", "table", OUT_STR, OUT_DEFAULT,
		"table it belongs to"),
	OUT_COL(column_record, help, "HELP", "help", OUT_STR, OUT_DEFAULT, "what it holds"),
};
static const struct out_table column_table = {"columns", "column", column_cols, 6};

const struct schema out_columns_schema = {"gpq.columns", 1, SCHEMA_TABLES(&column_table), NULL};

int out_list_columns(const struct out_opts *opts, const struct out_table *const *tables)
{
	struct out_opts own = *opts;
	own.schema = &out_columns_schema;
	struct out *o = out_open(&own);
	int status = out_begin(o, &column_table, false);
	for (; !status && tables && *tables; tables++) {
		for (unsigned i = 0; i < (*tables)->ncols; i++) {
			const struct out_col *c = &(*tables)->cols[i];
			struct column_record r = {(*tables)->name, c->name,
						  c->key,          outfmt_types[c->type].name,
						  c->help,         (c->flags & OUT_DEFAULT) != 0};
			out_row(o, &r);
		}
	}
	return out_finish(o, status);
}
