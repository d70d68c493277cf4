// main() of gpq: finds the command by its name, or by the name of the link that gpq was called by,
// parses the options, and runs the command.
#include "cmd/command.h"

#include "common/cli/input.h"
#include "common/host/secure.h"
#include "common/kfd/topology.h"
#include "common/pick/host_choice.h"
#include "common/snapshot/series.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>

#ifndef GPQ_VERSION // set by the Makefile from VERSION
#define GPQ_VERSION "unknown"
#endif

#define DECLARE(name, needs, summary) extern const struct cmd_spec name##_spec;
GPQ_COMMANDS(DECLARE)

#define ROW(name, needs, summary) {#name, (needs), (summary), &name##_spec},
const struct command gpq_commands[] = {GPQ_COMMANDS(ROW){0}};

const struct opt common_opts_table[] = {
	OPT(common_opts, out.columns, "output", 'o', OPT_STR, "COLS",
	    "columns to show; +COL,... adds to the default ones"),
	OPT(common_opts, out.all, "output-all", 0, OPT_FLAG, "", "all columns"),
	OPT(common_opts, list_columns, "list-columns", 0, OPT_FLAG, "",
	    "list the columns and exit"),
	OPT(common_opts, out.filter, "filter", 0, OPT_EXPR, "EXPR",
	    "only rows that match, as 'PID == 41207 && RING > 64K'; see gpq(1)"),
	OPT(common_opts, out.sort, "sort", 0, OPT_STR, "COLS",
	    "sort by these columns; -COL: greatest first"),
	OPT(common_opts, out.table_name, "table", 0, OPT_STR, "NAME",
	    "only this table, of those that are printed;\nrows and columns are of one table"),
	OPT(common_opts, json, "json", 'J', OPT_FLAG, "", "one JSON document"),
	OPT(common_opts, json_schema, "json-schema", 0, OPT_FLAG, "",
	    "print the JSON Schema of --json, or with --ndjson of its lines, and exit"),
	OPT(common_opts, ndjson, "ndjson", 0, OPT_FLAG, "", "one JSON object a line"),
	OPT(common_opts, raw, "raw", 'r', OPT_FLAG, "", "blank-separated words, exact numbers"),
	OPT(common_opts, pairs, "pairs", 'P', OPT_FLAG, "", "NAME=\"value\" pairs, exact numbers"),
	OPT(common_opts, csv, "csv", 0, OPT_FLAG, "", "comma-separated values, exact numbers"),
	OPT(common_opts, openmetrics, "openmetrics", 0, OPT_FLAG, "",
	    "metrics for Prometheus: a label for each id, a sample for each number"),
	OPT(common_opts, nul, "null", '0', OPT_FLAG, "",
	    "one column, each row ended by a NUL: for xargs -0"),
	OPT(common_opts, count, "count", 'c', OPT_FLAG, "", "only the number of rows"),
	OPT(common_opts, out.noheadings, "noheadings", 'n', OPT_FLAG, "", "no heading line"),
	OPT(common_opts, out.bytes, "bytes", 'b', OPT_FLAG, "", "sizes in bytes"),
	OPT(common_opts, out.context, "context", 0, OPT_FLAG, "",
	    "add host, boot, clock and namespace to each record"),
	OPT(common_opts, out.progress, "progress", 0, OPT_FLAG, "",
	    "show progress on standard error, terminal or not"),
	OPT(common_opts, quiet, "quiet", 'q', OPT_FLAG, "", "no warnings"),
	OPT(common_opts, verbose, "verbose", 'v', OPT_COUNT, "",
	    "say why fields are unknown and what was left out"),
	OPT(common_opts, sysroots, "sysroot", 0, OPT_LIST, "FILE",
	    "read a recorded host: a folder, or an archive\nof one (also GPQ_SYSROOT)"),
	OPT_ONE_OF(common_opts, out.color, "color", 0, "WHEN", "auto, always or never",
		   "auto\0always\0never"),
	OPT(common_opts, usage, "usage", 'h', OPT_FLAG, "", "the options on one screen"),
	OPT(common_opts, help, "help", 0, OPT_FLAG, "",
	    "all options, and the columns that -o takes"),
	OPT(common_opts, version, "version", 'V', OPT_FLAG, "", "show the version"),
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

const struct cmd_kind *command_kind(const struct command *def, const char *word)
{
	for (const struct cmd_kind *k = def->spec->kinds; word && k && k->name; k++)
		if (strcmp(k->name, word) == 0)
			return k;
	return NULL;
}

static int unknown_command(const char *name)
{
	const char *guess = text_suggest(name, command_names), *leads = word_leads(name);
	uint64_t number;
	if (leads)
		return err_fail(GPQ_USAGE, leads, "unknown command %s", name);
	return err_fail(GPQ_USAGE,
			parse_u64(name, &number) ? "the queues of a process: gpq queues -p PID"
						 : "gpq -h lists them",
			"unknown command %s%s%s", *name ? name : "(nothing)",
			guess ? ", did you mean " : "", guess ? guess : "");
}

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

static const struct opt_rule common_rules[] = {
	RULE(FORM_NAMES, "", "", "choose one",
	     "--json, --ndjson, --raw, --pairs, --csv, --openmetrics, --null and --count "
	     "exclude each other",
	     .several = true),
	// --null prints one column. Without -o, there may be several tables or columns.
	RULE_NEEDS("null", "output list-columns", "for example -0 -o PID",
		   "--null: name a column by -o"),
	{0},
};

// Puts the snapshots of a series in its place. Returns GPQ_OK, or the exit status after a message.
static int expand_sysroots(struct words *roots)
{
	struct words all = {0};
	int status = GPQ_OK;
	for (size_t i = 0; i < roots->n && !status; i++) {
		const size_t before = all.n;
		if (!series_is(roots->v[i]))
			words_push(&all, roots->v[i], strlen(roots->v[i]));
		else if (!(status = series_list(&all, roots->v[i])) && all.n == before)
			status = err_fail(GPQ_NOTFOUND, NULL, "%s: the series has no snapshot",
					  roots->v[i]);
	}
	words_fini(roots);
	*roots = all;
	return status;
}

// Applies the shared options: output mode, verbosity and sysroot. Returns GPQ_OK, or the exit
// status after a message.
static int apply_common(struct common_opts *c, const char *command)
{
	static const enum out_mode modes[] = {OUT_JSON, OUT_NDJSON, OUT_RAW,   OUT_PAIRS,
					      OUT_CSV,  OUT_NUL,    OUT_COUNT, OUT_OPENMETRICS};
	const bool given[] = {c->json, c->ndjson, c->raw,   c->pairs,
			      c->csv,  c->nul,    c->count, c->openmetrics};
	for (unsigned i = 0; i < COUNT(modes); i++)
		if (given[i])
			c->out.mode = modes[i];
	err_setup(command, c->json || c->ndjson, c->quiet ? -1 : c->verbose);
	const struct opt_set shared[] = {{common_opts_table, c, NULL, NULL}, {0}};
	int status = opts_check(common_rules, shared, 0);
	status = status ? status : expand_sysroots(&c->sysroots);
	if (status)
		return status;
	const char *root =
		c->sysroots.n ? c->sysroots.v[c->sysroots.n - 1] : host_getenv("GPQ_SYSROOT");
	return root && *root ? input_root(root, "sysroot ") : GPQ_OK;
}

static unsigned troubles; // number of files of the host that could not be read

static void note_trouble(const char *path, int error)
{
	if (troubles++ >= 10)
		return;
	if (error == ETIMEDOUT)
		err_warn("is the driver waiting for a preemption, or a file system for its server?",
			 "%s does not answer: what it says is missing", path);
	else
		err_warn(NULL, "%s: %s: what it says is missing", path, strerror(error));
}

void troubles_forget(void)
{
	troubles = 0;
}

static bool has_column(const struct out_table *const *tables, const char *name)
{
	for (; tables && *tables; tables++)
		for (unsigned i = 0; i < (*tables)->ncols; i++)
			if (strcasecmp((*tables)->cols[i].name, name) == 0)
				return true;
	return false;
}

// Writes what to say instead of an operand that the command does not take.
static void put_advice(struct buf *b, const struct cmd *cmd, const char *operand)
{
	const struct cmd_spec *spec = cmd->def->spec;
	const struct opt *table = cmd->kind ? cmd->kind->opts : spec->opts;
	uint64_t number = 0;
	bool is_number = parse_u64(operand, &number);
	if (opts_find(table, operand, 0) || opts_find(common_opts_table, operand, 0))
		buf_printf(b, "say --%s", operand);
	else if (has_column(spec->tables, operand))
		buf_printf(b, "commas part columns: -o COLUMN,%s", operand);
	else if (number && opts_find(table, "pid", 0))
		buf_printf(b, "say -p %s", operand);
	else if (is_number && opts_find(table, "gpu", 0))
		buf_printf(b, "say --gpu %s", operand);
	else if (*operand && opts_find(table, "comm", 0))
		buf_printf(b, "processes of that name: --comm %s", operand);
	else
		buf_puts(b, "-h shows the options");
}

int cmd_refuse_operand(const struct cmd *cmd, const char *operand)
{
	SCOPED(buf_fini) struct buf next = {0};
	put_advice(&next, cmd, operand);
	return err_fail(GPQ_USAGE, next.data, "%s: no operand is expected",
			*operand ? operand : "(nothing)");
}

// Is the operand a number, where a program to run is expected? It is likely a PID without its -p.
static bool forgot_p(const struct cmd *cmd)
{
	uint64_t number;
	return cmd->def->spec->stop_at_operand && cmd->argc && strcmp(cmd->argv[-1], "--") != 0 &&
	       parse_u64(cmd->argv[0], &number);
}

// Reports that the kind of the command (its first operand) is missing or unknown.
static int no_kind(const struct cmd *cmd)
{
	const char *words[8] = {0}, *given = cmd->argc ? cmd->argv[0] : NULL;
	SCOPED(buf_fini) struct buf next = {0};
	unsigned n = 0;
	buf_printf(&next, "gpq %s -h tells what they are for:", cmd->def->name);
	for (const struct cmd_kind *k = cmd->def->spec->kinds; k->name && n < 7; k++) {
		buf_printf(&next, "%s %s", n ? "," : "", k->name);
		words[n++] = k->name;
	}
	for (const struct cmd_kind *k = cmd->def->spec->kinds; given && k->name; k++)
		for (const struct opt *o = k->opts; o->name; o++)
			if (strcmp(o->name, given) == 0)
				buf_printf(&next, "; gpq %s --%s is an option", k->title, given);
	const char *guess = given ? text_suggest(given, words) : NULL;
	return given ? err_fail(GPQ_USAGE, next.data, "%s is no kind of %s%s%s",
				*given ? given : "(nothing)", cmd->def->name,
				guess ? ", did you mean " : "", guess ? guess : "")
		     : err_fail(GPQ_USAGE, next.data, "no kind of %s given", cmd->def->name);
}

int cmd_check(const struct cmd *c, const struct opt_rule *rules)
{
	return opts_check(rules, c->sets, c->argc - (c->kind != NULL));
}

const struct out_table *const *cmd_prints(const struct cmd *c)
{
	const struct cmd_spec *spec = c->def->spec;
	const struct out_table *const *tables = spec->prints ? spec->prints(c) : NULL;
	return tables ? tables : c->kind ? c->kind->tables : spec->tables;
}

// Checks all that the command line alone tells to be wrong, before the host is looked at.
static int check_usage(struct cmd *cmd)
{
	const struct cmd_spec *spec = cmd->def->spec;
	const struct cmd_kind *kind = cmd->kind;
	int (*check)(struct cmd * c) = kind ? kind->check : spec->check;
	int status = cmd_check(cmd, kind ? kind->rules : spec->rules);
	status = status ? status : out_choose_table(&cmd->out, cmd_prints(cmd));
	status = status ? status : host_choice_check(cmd->sets);
	return !status && check ? check(cmd) : status;
}

static int run_parsed(struct cmd *cmd, const struct common_opts *common)
{
	const struct cmd_spec *spec = cmd->def->spec;
	const struct cmd_kind *kind = cmd->kind;
	int words = kind != NULL; // the kind's name stands before its operands
	if (common->help || common->usage)
		return help_command(cmd->def, kind, !common->help);
	if (common->version)
		return print_version();
	if (common->json_schema)
		return schema_print(common->list_columns ? SCHEMAS(&out_columns_schema)
							 : spec->schemas,
				    common->ndjson);
	if (common->list_columns)
		return out_list_columns(&common->out, kind ? kind->tables : spec->tables);
	if (spec->kinds && !kind)
		return no_kind(cmd);
	if (cmd->argc > words && (!(kind ? kind->operands : spec->operands) || forgot_p(cmd)))
		return cmd_refuse_operand(cmd, cmd->argv[words]);
	if (cmd->argc > words && opts_refuse_secure(cmd->argv[words])) // may be a file or a command
		return GPQ_USAGE;
	cmd->sysroots = &common->sysroots;
	cmd->out = common->out;
	cmd->out.schema = spec->schemas[0];
	int status = check_usage(cmd);
	host_on_trouble(note_trouble);
	if (!status)
		status = needs_check(spec->needs ? spec->needs(cmd) : cmd->def->needs);
	status = status ? status : kind ? kind->run(cmd) : spec->run(cmd);
	return status ? status : troubles ? GPQ_PARTIAL : GPQ_OK;
}

// OUT_JSON or OUT_NDJSON if the command line has that option; OUT_TABLE: neither.
static enum out_mode asked = OUT_TABLE;

// Looks for --json and --ndjson before options are parsed: errors in these are JSON, too.
static void ask_json(int argc, char **argv, const struct opt_set *sets, bool stop, const char *name)
{
	static const char *const names[] = {"json", "ndjson"};
	const char *option = opts_asks(argc, argv, sets, stop, names);
	if (option)
		asked = option == names[0] ? OUT_JSON : OUT_NDJSON;
	err_setup(name, asked != OUT_TABLE, 0);
}

enum { SETS_MAX = 32 };

// Adds the option tables of a command, or of one kind (NULL: all kinds). `base` is the options
// struct that they fill; NULL: the tables serve only for messages.
static void add_sets(struct opt_set sets[SETS_MAX], const struct command *def,
		     const struct cmd_kind *kind, void *base)
{
	unsigned n = 0;
	while (sets[n].table)
		n++;
	if (!def->spec->kinds)
		sets[n] = (struct opt_set){def->spec->opts, base, def->name, def->spec->defaults};
	for (const struct cmd_kind *k = def->spec->kinds; k && k->name && n + 1 < SETS_MAX; k++)
		if (!kind || k == kind)
			sets[n++] = (struct opt_set){k->opts, base, k->title, def->spec->defaults};
}

// Adds the table of shared options, and those of all commands for messages about wrong options.
static void add_other_sets(struct opt_set sets[SETS_MAX], struct common_opts *common)
{
	unsigned n = 0;
	while (sets[n].table)
		n++;
	sets[n] = (struct opt_set){common_opts_table, common, NULL, NULL};
	for (const struct command *c = gpq_commands; c->name; c++)
		add_sets(sets, c, NULL, NULL);
}

// Runs a command; argv[0] is its name. `common` has the shared options that stood before the name.
// Returns the exit status.
static int run_command_named(const struct command *def, int argc, char **argv,
			     struct common_opts *common)
{
	const struct cmd_spec *spec = def->spec;
	struct opt_set sets[SETS_MAX] = {0}, all[SETS_MAX] = {0};
	struct cmd cmd = {.def = def, .opts = xcalloc(spec->opts_size, 1), .sets = sets};
	if (spec->defaults)
		memcpy(cmd.opts, spec->defaults, spec->opts_size);
	if (spec->kinds) { // the kind decides which options are taken
		add_sets(all, def, NULL, cmd.opts);
		add_other_sets(all, common);
		cmd.kind = command_kind(def, opts_first_operand(argc, argv, all));
	}
	add_sets(sets, def, cmd.kind, cmd.opts);
	add_other_sets(sets, common);
	ask_json(argc, argv, sets, spec->stop_at_operand, def->name);
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

const struct opt gpq_opts_table[] = {
	OPT(gpq_opts, list, "list", 0, OPT_FLAG, "", "list the commands"),
	OPT(gpq_opts, install, "install", 0, OPT_STR, "DIR", "make a link per command in DIR"),
	OPT(gpq_opts, complete, "complete", 0, OPT_FLAG, "", "candidates for a shell's completion"),
	{0},
};

// gpq --install DIR: makes a link for each command, as busybox does, so that `gpq-queues` works
// like `gpq queues`.
static int install_links(const char *dir)
{
	char self[PATH_MAX] = "";
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	if (n < 0)
		return err_sys(errno, NULL, "/proc/self/exe");
	bool made = mkdir(dir, 0777) == 0 || errno == EEXIST;
	SCOPED(close_at) int fd = made ? open(dir, O_DIRECTORY | O_RDONLY | O_CLOEXEC) : -1;
	if (fd < 0)
		return err_sys(errno, "name a directory that you may write to", "%s", dir);
	int status = GPQ_OK;
	for (const struct command *c = gpq_commands; c->name; c++) {
		char name[32], now[PATH_MAX];
		snprintf(name, sizeof(name), "gpq-%s", c->name);
		// A file that has this name already is the user's: it stays.
		if (symlinkat(self, fd, name) == 0)
			continue;
		int error = errno;
		ssize_t len = readlinkat(fd, name, now, sizeof(now) - 1);
		if (error != EEXIST) // the other links would fail likewise
			return err_sys(error, "name a directory that you may write to", "%s/%s",
				       dir, name);
		if (len != n || memcmp(now, self, (size_t)n) != 0)
			status = err_fail(GPQ_FAILED, "remove it, or choose another directory",
					  "%s/%s: exists and is not a link to this gpq", dir, name);
	}
	return status;
}

static int unexpected_word_of_gpq(const char *operand)
{
	return err_fail(GPQ_USAGE, "gpq -h shows what is", "%s: no operand is expected", operand);
}

static int run_help(int argc, char **argv)
{
	const struct command *def = argc > 1 ? command_find(argv[1], strlen(argv[1])) : NULL;
	const struct cmd_kind *kind = def && argc > 2 ? command_kind(def, argv[2]) : NULL;
	int words = kind ? 3 : 2;
	if (argc > words)
		return unexpected_word_of_gpq(argv[words]);
	if (argc < 2 || strcmp(argv[1], "help") == 0)
		return help_general(false);
	const int status = def ? help_command(def, kind, false) : help_word(argv[1]);
	return status < 0 ? unknown_command(argv[1]) : status;
}

// gpq alone lists the processes on the GPUs and says, on a terminal, what to type next.
static int run_alone(struct common_opts *common)
{
	static const char next[] =
		"\ngpq queues -p PID    its queues, one by one\n"
		"gpq why -p PID       does it run or hang, and on what\n"
		"gpq suspend -p PID   take it off the GPU; gpq resume -p PID puts "
		"it back\n";
	char name[] = "ps", *argv[] = {name, NULL};
	size_t rows = 0;
	int status = apply_common(common, NULL);
	if (status)
		return status;
	if (!kfd_topology_has_gpu())
		return err_fail(GPQ_USAGE,
				"trace, merge and bench report work without, and --sysroot FILE "
				"reads a recorded host; gpq -h shows the commands",
				"there is no %s here, of which gpq alone lists the processes",
				host_access("/sys/class/kfd/kfd", F_OK) == 0 ? "GPU"
									     : "KFD driver");
	common->out.rows = &rows;
	status = run_command_named(command_find(name, strlen(name)), 1, argv, common);
	if (rows && common->out.mode == OUT_TABLE && !common->quiet && isatty(STDOUT_FILENO))
		write_fully(STDERR_FILENO, next, strlen(next));
	return status;
}

static int run_gpq(int argc, char **argv, struct common_opts *common)
{
	struct gpq_opts gpq = {0};
	const char *word = argc > 1 ? argv[1] : ""; // mostly the command: few options stand before
	const struct command *def = command_find(word, strlen(word));
	if (def)
		return run_command_named(def, argc - 1, argv + 1, common);
	struct opt_set sets[SETS_MAX] = {{gpq_opts_table, &gpq, NULL, NULL}};
	add_other_sets(sets, common);
	ask_json(argc, argv, sets, true, NULL);
	// Programs such as rocm-smi have options for what are commands here: --showpids.
	const char *option = argc > 1 && strncmp(argv[1], "--", 2) == 0 ? argv[1] + 2 : "";
	bool known = !*option;
	for (const struct opt_set *set = sets; !known && set->table; set++)
		known = opts_find(set->table, option, 0) != NULL;
	if (!known && word_leads(option))
		return err_fail(GPQ_USAGE, word_leads(option), "unknown option --%s", option);
	int first = opts_parse(argc, argv, sets, true);
	if (first < 0)
		return GPQ_USAGE;
	if (gpq.complete)
		return complete_words(argc - first, argv + first);
	if (first < argc && (gpq.install || gpq.list))
		return unexpected_word_of_gpq(argv[first]);
	if (gpq.install)
		return install_links(gpq.install);
	if (gpq.list)
		return print_list();
	if (common->version)
		return print_version();
	if (common->help || common->usage)
		return help_general(!common->help);
	if (first == argc)
		return run_alone(common);
	if (strcmp(argv[first], "help") == 0)
		return run_help(argc - first, argv + first);
	def = command_find(argv[first], strlen(argv[first]));
	if (def)
		return run_command_named(def, argc - first, argv + first, common);
	ask_json(argc, argv, sets, false, NULL);
	return unknown_command(argv[first]);
}

// If a standard descriptor is closed, the next open() must not take its number: output would go
// there.
static void keep_standard_fds(void)
{
	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
			open("/dev/null", O_RDONLY); // read-only: writes to the descriptor fail
}

int main(int argc, char **argv)
{
	keep_standard_fds();
	signal(SIGCHLD,
	       SIG_DFL); // where it is ignored, nobody learns that a child or tracee stopped
	const char *name = basename(argc ? argv[0] : "gpq");
	name += strncmp(name, "gpq-", 4) == 0 ? 4 : 0;
	const struct command *def = command_find(name, strlen(name));
	struct common_opts common = {0};
	int status =
		def ? run_command_named(def, argc, argv, &common) : run_gpq(argc, argv, &common);
	words_fini(&common.sysroots);
	// With --json, standard output holds one valid document whatever happens.
	return asked == OUT_JSON ? out_last(status) : status;
}
