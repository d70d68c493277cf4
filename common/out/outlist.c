// --list-columns; see out.h.
#include "common/out/out_priv.h"

#include "common/out/columns.h"
#include "common/out/columns.h"
#include "common/out/schema.h"

struct column_record {
	const char *table, *column, *key, *type, *help;
	int8_t is_default;
};

#define ROW column_record
static const struct out_col column_cols[] = {
	COL(column, "COLUMN", "column", STR, D, "name for -o"),
	COL(key, "KEY", "key", STR, D, "key in JSON"),
	COL(type, "TYPE", "type", STR, D, "type in JSON, or unit"),
	COL(is_default, "DEFAULT", "default", BOOL, D, "shown without -o"),
	COL(table, "TABLE", "table", STR, D, "table it belongs to"),
	COL(help, "HELP", "help", STR, D, "what it holds"),
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
						  out_col_key(c),  outfmt_types[c->type].name,
						  out_col_help(c), (c->flags & OUT_DEFAULT) != 0};
			out_row(o, &r);
		}
	}
	return out_finish(o, status);
}
