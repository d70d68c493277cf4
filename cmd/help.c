// Help, made from the tables of options and columns: -h fits on a screen, --help has all. Both go
// to standard output: `gpq queues --help | less`.
#include "cmd/command.h"

#include <ctype.h>

// Wraps a text and begins it with a capital letter.
static void put_text(struct buf *b, const char *text)
{
	size_t start = b->len;
	text_wrap(b, 0, 0, text, strlen(text));
	b->data[start] = (char)toupper((unsigned char)b->data[start]);
}

int help_general(bool brief)
{
	struct buf b = {0};
	buf_puts(&b, "Usage: gpq [OPTIONS] COMMAND [OPTIONS] ...\n");
	put_text(&b, "Find, inspect, suspend, resume and measure AMD GPU compute queues.");
	buf_puts(&b, "\nCommands:\n");
	for (const struct command *c = gpq_commands; c->name; c++)
		buf_printf(&b, "  %-10s %s\n", c->name, c->summary);
	if (brief) {
		buf_puts(&b, "\ngpq COMMAND -h lists its options; gpq --help has the options of "
			     "every command,\ngpq COMMAND --help also its columns; examples: man "
			     "gpq-COMMAND.\n");
		return out_text(&b);
	}
	buf_puts(&b, "\nOptions of every command:\n");
	opts_help(&b, common_opts_table, false);
	buf_puts(&b, "\nOptions without a command:\n");
	opts_help(&b, gpq_opts_table, false);
	buf_puts(&b, "\n");
	put_text(&b, "Options of a command: gpq COMMAND -h; its columns, too: gpq COMMAND --help, "
		     "or gpq help COMMAND.");
	put_text(&b, "Exit status: 0 done, 1 failed, 2 usage, 3 done in part, 4 not permitted, 5 "
		     "not found, 6 not supported here, 124 deadline reached. See gpq(1).");
	return out_text(&b);
}

static void put_columns(struct buf *b, const struct out_table *const *tables)
{
	enum { COLUMN = 19 };
	for (; tables && *tables; tables++) {
		buf_printf(b, "\nColumns of %s (* shown by default):\n", (*tables)->name);
		for (unsigned i = 0; i < (*tables)->ncols; i++) {
			const struct out_col *c = &(*tables)->cols[i];
			buf_printf(b, "  %c %-14s ", c->flags & OUT_DEFAULT ? '*' : ' ', c->name);
			text_wrap(b, COLUMN, COLUMN, out_col_help(c), strlen(out_col_help(c)));
		}
	}
}

// Writes the forms of a synopsis, the lines of a usage message; if `brief`, only two. `kind` is the
// word behind the command's name, or NULL. `first`: the first form follows "Usage:".
static void put_usage(struct buf *b, const char *command, const char *kind, const char *synopsis,
		      bool first, bool brief)
{
	unsigned forms = 0;
	for (const char *line = synopsis; *line && !(brief && forms == 2); first = false, forms++) {
		size_t n = strcspn(line, "\n"), start = b->len;
		buf_printf(b, "%s gpq %s%s%s ", first ? "Usage:" : "      ", command,
			   kind ? " " : "", kind ? kind : "");
		text_wrap(b, b->len - start, b->len - start, line, n);
		line += n + (line[n] == '\n');
	}
}

static void put_kinds(struct buf *b, const struct command *def, bool brief)
{
	enum { COLUMN = 13 };
	if (brief)
		buf_puts(b, "\nKinds:\n");
	for (const struct cmd_kind *k = def->spec->kinds; k->name; k++) {
		if (brief) {
			buf_printf(b, "  %-10s ", k->name);
			text_wrap(b, COLUMN, COLUMN, k->summary, strlen(k->summary));
			continue;
		}
		buf_printf(b, "\nOptions of %s:\n", k->name);
		opts_help(b, k->opts, false);
	}
}

static void put_more(struct buf *b, const struct command *def, const struct cmd_kind *kind)
{
	const char *of = kind ? kind->title : def->name;
	buf_puts(b, "\n");
	if (def->spec->kinds && !kind)
		buf_printf(b, "gpq %s KIND -h lists the options of one kind.\n", def->name);
	buf_printf(b, "Shared options (-o, -J, -r ...) and columns: gpq %s --help\n", of);
}

int help_command(const struct command *def, const struct cmd_kind *kind, bool brief)
{
	const struct cmd_spec *s = def->spec;
	bool all_kinds = s->kinds && !kind;
	struct buf b = {0};
	for (const struct cmd_kind *k = s->kinds; all_kinds && k->name; k++)
		put_usage(&b, def->name, k->name, k->synopsis, k == s->kinds, false);
	if (!all_kinds)
		put_usage(&b, def->name, kind ? kind->name : NULL,
			  kind ? kind->synopsis : s->synopsis, true, brief);
	put_text(&b, kind ? kind->summary : brief ? def->summary : s->description);
	if (all_kinds) {
		put_kinds(&b, def, brief);
	} else {
		buf_puts(&b, "\nOptions:\n");
		opts_help(&b, kind ? kind->opts : s->opts, brief);
	}
	if (brief) {
		put_more(&b, def, kind);
	} else {
		buf_puts(&b, "\nOptions of every command:\n");
		opts_help(&b, common_opts_table, false);
		put_columns(&b, kind ? kind->tables : s->tables);
		buf_printf(&b, "\nSee gpq-%s(1).\n", def->name);
	}
	return out_text(&b);
}
