// gpq: finds the command by its name or by the name gpq was called with, reads the options that all
// of them share, and runs it.
#include "cmd/command.h"

#include "common/host/xalloc.h"
#include "common/cli/text.h"
#include "common/host/root.h"
#include "common/host/secure.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef GPQ_VERSION // set by the Makefile from VERSION
#define GPQ_VERSION "unknown"
#endif

#define DECLARE(name, needs, summary) extern const struct cmd_spec name##_spec;
GPQ_COMMANDS(DECLARE)

#define ROW(name, needs, summary) {#name, (needs), (summary), &name##_spec},
const struct command gpq_commands[] = {GPQ_COMMANDS(ROW){0}};

static const char *const color_words[] = {"auto", "always", "never", NULL};

const struct opt common_opts_table[] = {
	OPT(common_opts, out.columns, "output", 'o', OPT_STR, "COLS",
	    "columns to show; +COL,... adds to the default ones"),
	OPT(common_opts, out.all, "output-all", 0, OPT_FLAG, NULL, "all columns"),
	OPT(common_opts, list_columns, "list-columns", 0, OPT_FLAG, NULL,
	    "list the columns and exit"),
	OPT(common_opts, json, "json", 'J', OPT_FLAG, NULL, "one JSON document"),
	OPT(common_opts, json_schema, "json-schema", 0, OPT_FLAG, NULL,
	    "print the JSON Schema of --json, or with --ndjson of its lines, and exit"),
	OPT(common_opts, ndjson, "ndjson", 0, OPT_FLAG, NULL, "one JSON object a line"),
	OPT(common_opts, raw, "raw", 'r', OPT_FLAG, NULL, "blank-separated words, exact numbers"),
	OPT(common_opts, pairs, "pairs", 'P', OPT_FLAG, NULL,
	    "NAME=\"value\" pairs, exact numbers"),
	OPT(common_opts, out.noheadings, "noheadings", 'n', OPT_FLAG, NULL, "no heading line"),
	OPT(common_opts, out.bytes, "bytes", 'b', OPT_FLAG, NULL, "sizes in bytes"),
	OPT(common_opts, out.context, "context", 0, OPT_FLAG, NULL,
	    "add host, boot, clock and namespace to each record"),
	OPT(common_opts, out.progress, "progress", 0, OPT_FLAG, NULL,
	    "show progress on standard error, terminal or not"),
	OPT(common_opts, quiet, "quiet", 'q', OPT_FLAG, NULL, "no warnings"),
	OPT(common_opts, verbose, "verbose", 'v', OPT_COUNT, NULL,
	    "say why fields are unknown and what was left out"),
	OPT(common_opts, sysroot, "sysroot", 0, OPT_STR, "DIR",
	    "read a recorded host (also GPQ_SYSROOT)"),
	OPT_ONE_OF(common_opts, out.color, "color", 0, "WHEN", "auto, always or never",
		   color_words),
	OPT(common_opts, help, "help", 'h', OPT_FLAG, NULL, "show this help"),
	OPT(common_opts, version, "version", 'V', OPT_FLAG, NULL, "show the version"),
	{0},
};

const struct command *command_find(const char *word, size_t len)
{
	for (const struct command *c = gpq_commands; c->name; c++)
		if (strlen(c->name) == len && memcmp(c->name, word, len) == 0)
			return c;
	return NULL;
}

#define NAME(name, needs, summary) #name,
static const char *const command_names[] = {GPQ_COMMANDS(NAME) "help", NULL};

static int unknown_command(const char *name)
{
	const char *guess = text_suggest(name, command_names);
	return err_fail(GPQ_USAGE, "gpq --list lists them", "unknown command %s%s%s", name,
			guess ? ", did you mean " : "", guess ? guess : "");
}

// Help goes to standard output like data: `gpq queues --help | less`.

static int print_version(void)
{
	struct buf b = {0};
	buf_puts(&b, "gpq " GPQ_VERSION "\n");
	return out_text(&b);
}

static int print_list(void)
{
	struct buf b = {0};
	for (const struct command *c = gpq_commands; c->name; c++)
		buf_printf(&b, "%s\n", c->name);
	return out_text(&b);
}

static int print_general_help(void)
{
	struct buf b = {0};
	buf_puts(&b, "Usage: gpq [OPTIONS] COMMAND [OPTIONS] ...\n"
		     "Find, inspect, suspend, resume and measure AMD GPU compute "
		     "queues.\n\nCommands:\n");
	for (const struct command *c = gpq_commands; c->name; c++)
		buf_printf(&b, "  %-10s %s\n", c->name, c->summary);
	buf_puts(&b, "\nOptions of every command:\n");
	opts_help(&b, common_opts_table);
	buf_puts(&b, "\nAlso: gpq help COMMAND, gpq --list (command names), gpq --install DIR (a "
		     "link per command),\n"
		     "gpq --complete WORD... (for shells).\n"
		     "Exit status: 0 done, 1 failed, 2 usage, 3 done in part, 4 not permitted, 5 "
		     "not found,\n"
		     "6 not supported here, 124 deadline reached. See gpq(1).\n");
	return out_text(&b);
}

static void help_columns(struct buf *b, const struct out_table *const *tables)
{
	for (; tables && *tables; tables++) {
		buf_printf(b, "\nColumns of %s (* shown by default):\n", (*tables)->name);
		for (unsigned i = 0; i < (*tables)->ncols; i++) {
			const struct out_col *c = &(*tables)->cols[i];
			buf_printf(b, "  %c %-14s %s\n", c->flags & OUT_DEFAULT ? '*' : ' ',
				   c->name, c->help);
		}
	}
}

// Whole words on lines of at most 78 characters.
static void put_wrapped(struct buf *b, const char *text)
{
	enum { WIDTH = 78 };
	size_t column = 0;
	for (text += strspn(text, " \n"); *text; text += strspn(text, " \n")) {
		size_t n = strcspn(text, " \n");
		bool fits = column && column + 1 + n <= WIDTH;
		buf_printf(b, "%s%.*s", fits ? " " : column ? "\n" : "", (int)n, text);
		column = fits ? column + 1 + n : n;
		text += n;
	}
	buf_puts(b, "\n");
}

static int print_help(const struct command *def)
{
	const struct cmd_spec *s = def->spec;
	struct buf b = {0};
	const char *line = s->synopsis;
	for (bool first = true; *line; first = false) {
		size_t n = strcspn(line, "\n");
		buf_printf(&b, "%s gpq %s %.*s\n", first ? "Usage:" : "      ", def->name, (int)n,
			   line);
		line += n + (line[n] == '\n');
	}
	put_wrapped(&b, s->description);
	buf_puts(&b, "\nOptions:\n");
	opts_help(&b, s->opts);
	buf_puts(&b, "\nOptions of every command:\n");
	opts_help(&b, common_opts_table);
	help_columns(&b, s->tables);
	buf_printf(&b, "\nSee gpq-%s(1).\n", def->name);
	return out_text(&b);
}

// Shared options that were given: sysroot, verbosity and output mode.
static int apply_common(struct common_opts *c, const char *command)
{
	static const enum out_mode modes[] = {OUT_JSON, OUT_NDJSON, OUT_RAW, OUT_PAIRS};
	const bool given[] = {c->json, c->ndjson, c->raw, c->pairs};
	int n = 0;
	for (unsigned i = 0; i < 4; i++) {
		n += given[i];
		if (given[i])
			c->out.mode = modes[i];
	}
	err_setup(command, c->json || c->ndjson, c->quiet ? -1 : c->verbose);
	if (n > 1)
		return err_fail(GPQ_USAGE, "choose one",
				"--json, --ndjson, --raw and --pairs exclude each other");
	const char *root = c->sysroot ? c->sysroot : host_getenv("GPQ_SYSROOT");
	if (root && *root && host_set_root(root))
		return err_sys(
			errno,
			errno == ENOTDIR
				? "--sysroot takes a directory: unpack an archive with tar -xf"
				: "--sysroot takes the directory of a recorded host",
			"sysroot %s", root);
	return GPQ_OK;
}

static unsigned troubles; // files of the host that could not be read

static void note_trouble(const char *path, int error)
{
	if (troubles++ < 10)
		err_warn(NULL, "%s: %s: what it says is missing", path, strerror(error));
}

static int run_parsed(struct cmd *cmd, const struct common_opts *common)
{
	const struct cmd_spec *spec = cmd->def->spec;
	if (common->help)
		return print_help(cmd->def);
	if (common->version)
		return print_version();
	if (common->json_schema)
		return schema_print(common->list_columns ? SCHEMAS(&out_columns_schema)
							 : spec->schemas,
				    common->ndjson);
	if (common->list_columns)
		return out_list_columns(&common->out, spec->tables);
	if (cmd->argc && !spec->operands)
		return err_fail(GPQ_USAGE, "--help shows the options", "%s: no operand is expected",
				cmd->argv[0]);
	if (cmd->argc && opts_refuse_secure(cmd->argv[0])) // a file or a command
		return GPQ_USAGE;
	cmd->out = common->out;
	cmd->out.schema = spec->schemas[0];
	host_on_trouble(note_trouble);
	int status = needs_check(spec->needs ? spec->needs(cmd) : cmd->def->needs);
	status = status ? status : spec->run(cmd);
	return status ? status : troubles ? GPQ_PARTIAL : GPQ_OK;
}

// Used before options are parsed, so that a message about a wrong one is JSON where that was asked
// for: OUT_JSON, OUT_NDJSON, or OUT_TABLE for anything else.
static enum out_mode json_asked(int argc, char **argv)
{
	enum out_mode mode = OUT_TABLE;
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0 && mode != OUT_JSON; i++)
		if (strcmp(argv[i], "-J") == 0 || strcmp(argv[i], "--json") == 0)
			mode = OUT_JSON;
		else if (strcmp(argv[i], "--ndjson") == 0)
			mode = OUT_NDJSON;
	return mode;
}

// argv[0] is the command's name. `common` may hold what was given before it.
static int run_command(const struct command *def, int argc, char **argv, struct common_opts *common)
{
	const struct cmd_spec *spec = def->spec;
	struct cmd cmd = {.def = def, .opts = xcalloc(spec->opts_size, 1)};
	if (spec->defaults)
		memcpy(cmd.opts, spec->defaults, spec->opts_size);
	const struct opt_set sets[] = {{spec->opts, cmd.opts}, {common_opts_table, common}, {0}};
	err_setup(def->name, json_asked(argc, argv) != OUT_TABLE, 0);
	int first = opts_parse(argc, argv, sets, spec->stop_at_operand);
	int status = first < 0 ? GPQ_USAGE : apply_common(common, def->name);
	if (!status) {
		cmd.argc = argc - first;
		cmd.argv = argv + first;
		status = run_parsed(&cmd, common);
	}
	opts_fini(sets);
	free(cmd.opts);
	host_set_root(NULL);
	return status;
}

struct gpq_opts {
	bool list, complete;
	const char *install;
};

static const struct opt gpq_opts_table[] = {
	OPT(gpq_opts, list, "list", 0, OPT_FLAG, NULL, "list the commands"),
	OPT(gpq_opts, install, "install", 0, OPT_STR, "DIR", "make a link per command in DIR"),
	OPT(gpq_opts, complete, "complete", 0, OPT_FLAG, NULL,
	    "candidates for a shell's completion"),
	{0},
};

static int unexpected(const char *operand)
{
	return err_fail(GPQ_USAGE, "gpq --help shows what is", "%s: no operand is expected",
			operand);
}

static int run_help(int argc, char **argv)
{
	const struct command *def = argc > 1 ? command_find(argv[1], strlen(argv[1])) : NULL;
	if (argc > 2)
		return unexpected(argv[2]);
	if (argc < 2 || strcmp(argv[1], "help") == 0)
		return print_general_help();
	return def ? print_help(def) : unknown_command(argv[1]);
}

static int run_gpq(int argc, char **argv)
{
	struct common_opts common = {0};
	struct gpq_opts gpq = {0};
	const struct opt_set sets[] = {{gpq_opts_table, &gpq}, {common_opts_table, &common}, {0}};
	int first = opts_parse(argc, argv, sets, true);
	if (first < 0)
		return GPQ_USAGE;
	if (gpq.complete)
		return complete_words(argc - first, argv + first);
	if (first < argc && (gpq.install || gpq.list))
		return unexpected(argv[first]);
	if (gpq.install)
		return install_links(gpq.install);
	if (gpq.list)
		return print_list();
	if (common.version)
		return print_version();
	if (common.help)
		return print_general_help();
	if (first == argc)
		return err_fail(GPQ_USAGE, "gpq --help shows the commands", "no command given");
	if (strcmp(argv[first], "help") == 0)
		return run_help(argc - first, argv + first);
	const struct command *def = command_find(argv[first], strlen(argv[first]));
	return def ? run_command(def, argc - first, argv + first, &common)
		   : unknown_command(argv[first]);
}

// A closed standard descriptor must not be taken by the next open(): the data would go there.
static void keep_standard_fds(void)
{
	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
			open("/dev/null", O_RDONLY); // writes to it still fail
}

int main(int argc, char **argv)
{
	keep_standard_fds();
	const char *name = basename(argc ? argv[0] : "gpq");
	name += strncmp(name, "gpq-", 4) == 0 ? 4 : 0;
	const struct command *def = command_find(name, strlen(name));
	struct common_opts common = {0};
	err_setup(NULL, json_asked(argc, argv) != OUT_TABLE, 0);
	int status = def ? run_command(def, argc, argv, &common) : run_gpq(argc, argv);
	// Standard output holds one valid document whatever happens.
	if (status && json_asked(argc, argv) == OUT_JSON && !out_opened())
		out_text(&(struct buf){.data = xstrdup("{}\n"), .len = 3});
	return status;
}
