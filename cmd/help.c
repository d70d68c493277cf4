// Help, made from the tables of options and columns: -h fits on a screen, --help has all. Both go
// to standard output: `gpq queues --help | less`. What does not fit a terminal is not put there: it
// gets that of -h.
#include "cmd/command.h"
#include "common/cli/width.h"

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
		buf_puts(&b, "\ngpq COMMAND -h lists its options, gpq COMMAND --help also its "
			     "columns. gpq help\nlists the options of every command, and topics. "
			     "Examples: man gpq-COMMAND.\n");
		return out_text(&b);
	}
	buf_puts(&b, "\nTopics of gpq help TOPIC:\n");
	for (const struct help_topic *t = help_topics; t->name; t++)
		buf_printf(&b, "  %-10s %s\n", t->name, t->summary);
	buf_puts(&b, "\nOptions of every command:\n");
	opts_help(&b, common_opts_table, false);
	buf_puts(&b, "\nOptions without a command:\n");
	opts_help(&b, gpq_opts_table, false);
	buf_puts(&b, "\n");
	put_text(&b, "Options of a command: gpq COMMAND -h; its columns, too: gpq COMMAND --help, "
		     "or gpq help COMMAND.");
	put_text(&b, "Exit statuses: gpq help exit. Tasks, each in a line: man gpq-examples. On "
		     "clusters: man gpq-cluster. Rights and promises: man gpq-security.");
	return out_text(&b);
}

int help_word(const char *name)
{
	const char *guess = NULL, *leads = word_leads(name);
	for (const struct help_topic *t = help_topics; t->name; t++) {
		struct buf b = {0};
		if (!guess)
			guess = text_suggest(name, (const char *const[]){t->name, NULL});
		if (strcmp(name, t->name) != 0)
			continue;
		buf_puts(&b, t->text);
		return out_text(&b);
	}
	if (leads) {
		struct buf b = {0};
		buf_printf(&b, "%s\n", leads);
		return out_text(&b);
	}
	return guess ? err_fail(GPQ_USAGE, "gpq help lists topics", "no topic %s, did you mean %s",
				name, guess)
		     : -1;
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

// Writes the forms of a synopsis, the lines of a usage message; at most so many. `kind` is the
// word behind the command's name, or NULL. `first`: the first form follows "Usage:".
static void put_usage(struct buf *b, const char *command, const char *kind, const char *synopsis,
		      bool first, unsigned most)
{
	unsigned forms = 0;
	for (const char *line = synopsis; *line && forms < most; first = false, forms++) {
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

static void put_tables(struct buf *b, const struct out_table *const *tables)
{
	SCOPED(buf_fini) struct buf names = {0};
	for (; *tables; tables++)
		buf_printf(&names, "%s%s", names.len ? ", " : "", (*tables)->name);
	buf_puts(b, "Tables (--table): ");
	text_wrap(b, 18, 18, names.data, names.len);
}

enum { FORMS_SHORT = 2 }; // of -h where more, and the names of tables, do not fit a screen

static void put_more(struct buf *b, const struct command *def, const struct cmd_kind *kind,
		     bool tables)
{
	const char *of = kind ? kind->title : def->name;
	buf_puts(b, "\n");
	if (kind && tables)
		put_tables(b, kind->tables);
	if (def->spec->kinds && !kind)
		buf_printf(b, "gpq %s KIND -h lists the options of one kind.\n", def->name);
	buf_printf(b, "Shared options (-o, -J, -r ...) and columns: gpq %s --help | less\n", of);
}

static void put_help(struct buf *b, const struct command *def, const struct cmd_kind *kind,
		     bool brief, unsigned forms)
{
	const struct cmd_spec *s = def->spec;
	bool all_kinds = s->kinds && !kind;
	for (const struct cmd_kind *k = s->kinds; all_kinds && k->name; k++)
		put_usage(b, def->name, k->name, k->synopsis, k == s->kinds, UINT_MAX);
	if (!all_kinds)
		put_usage(b, def->name, kind ? kind->name : NULL,
			  kind ? kind->synopsis : s->synopsis, true, forms);
	put_text(b, kind ? kind->summary : brief ? def->summary : s->description);
	if (all_kinds) {
		put_kinds(b, def, brief);
	} else {
		buf_puts(b, "\nOptions:\n");
		opts_help(b, kind ? kind->opts : s->opts, brief);
	}
	if (brief) {
		put_more(b, def, kind, forms > FORMS_SHORT);
	} else {
		buf_puts(b, "\nOptions of every command:\n");
		opts_help(b, common_opts_table, false);
		put_columns(b, kind ? kind->tables : s->tables);
		buf_printf(b, "\nSee gpq-%s(1).\n", def->name);
	}
}

int help_command(const struct command *def, const struct cmd_kind *kind, bool brief)
{
	enum { SCREEN = 23 };
	struct buf b = {0};
	unsigned lines = 0;
	put_help(&b, def, kind, brief, brief ? 4 : UINT_MAX);
	for (size_t i = 0; i < b.len; i++)
		lines += b.data[i] == '\n';
	if (lines > SCREEN && brief) {
		b.len = 0;
		put_help(&b, def, kind, brief, FORMS_SHORT);
	} else if (lines > terminal_size().rows && isatty(STDOUT_FILENO)) {
		buf_fini(&b);
		return help_command(def, kind, true);
	}
	return out_text(&b);
}
