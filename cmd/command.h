// The table of commands (GPQ_COMMANDS) and the interfaces that command files share.
//
// To add one: a line in GPQ_COMMANDS, cmd/NAME.c with its NAME_spec, man/gpq-NAME.1, a test in
// tests/cli (HACKING.md).
#pragma once

#include "common/cli/err.h"
#include "common/cli/rules.h"
#include "common/cli/text.h"
#include "common/host/root.h"
#include "common/out/columns.h"
#include "common/out/schema.h"

// What must be there before a command runs; checked in one place (cmd/needs.c).
enum {
	NEED_KFD = 1,     // /sys/class/kfd: the driver, live or recorded
	NEED_LIVE = 2,    // a running host, not --sysroot
	NEED_DEV_KFD = 4, // /dev/kfd may be opened for reading and writing
	NEED_DEBUGFS = 8, // /sys/kernel/debug/kfd is readable
	HAS_DRY_RUN = 16, // with NEED_LIVE: --dry-run takes a recorded host, too
};

// Rows: name, NEED_ bits, one-line help. Sorted by name.
#define GPQ_COMMANDS(X)                                                                           \
	X(bench, 0, "measure what suspending and resuming costs")                                 \
	X(core, NEED_LIVE, "write a GPU core of a process that goes on")                          \
	X(events, NEED_KFD | NEED_LIVE, "show what happens to queues, as it happens")             \
	X(gpus, NEED_KFD, "list the GPUs of KFD and what they support")                           \
	X(hang, 0, "keep the evidence of a hang in one archive; --merge joins ranks")             \
	X(hqd, NEED_KFD | NEED_DEBUGFS, "show hardware queue slots, decoded, and whose they are") \
	X(merge, 0, "add up results of many runs and hosts")                                      \
	X(packets, NEED_KFD, "show the packets in the rings of queues, decoded")                  \
	X(ps, NEED_KFD, "list the processes on the GPUs; gpq alone does, too")                    \
	X(queues, NEED_KFD, "list the queues of processes")                                       \
	X(resume, NEED_LIVE, "put suspended queues back")                                         \
	X(sched, NEED_KFD | NEED_LIVE | NEED_DEV_KFD,                                             \
	  "hold offline work off the GPU while online work needs it")                             \
	X(snapshot, NEED_KFD, "save a host for --sysroot; --diff: what changed")                  \
	X(suspend, NEED_LIVE, "take queues off the GPU, hold them off")                           \
	X(trace, 0, "analyse AMD_LOG_LEVEL logs: queues, dispatches, kernels, backlog")           \
	X(why, NEED_KFD, "what each queue does now, and on what it waits")

struct cmd;

// One kind of a command that has several, as "ab" of "gpq bench ab". The first operand names it.
struct cmd_kind {
	const char *name;     // NULL ends a table
	const char *title;    // command and kind: "bench ab"
	const char *summary;  // what the kind is for
	const char *synopsis; // forms of the kind, one a line, without "gpq COMMAND KIND"
	const char *operands; // operands behind the kind's name; NULL: none are allowed
	const struct opt *opts;
	const struct opt_rule *rules; // `rules` and `check`: as in struct cmd_spec
	const struct out_table *const *tables;
	int (*check)(struct cmd *c);
	int (*run)(struct cmd *c); // argv[0] is the kind's name
};

struct cmd_spec {
	const struct cmd_kind *kinds; // NULL: none; kinds have their own synopsis, opts and run
	const char *synopsis;         // forms of the command, one a line, without "gpq COMMAND"
	const char *description;      // a few sentences for --help
	const char *operands;         // "FILE..."; NULL: none are allowed
	const struct opt *opts;
	const struct opt_rule *rules;           // of usage; NULL: none
	size_t opts_size;                       // bytes of the options struct that `opts` fills
	const void *defaults;                   // initial options struct; NULL: zeros
	const struct out_table *const *tables;  // tables whose columns -o names; ends with NULL
	const struct schema *const *schemas;    // for --json; NULL-ended; the first is the default
	unsigned (*needs)(const struct cmd *c); // NEED_ bits by options; NULL: as in GPQ_COMMANDS
	// Returns the tables that are printed with these options, the main one first: see
	// out_choose_table(). NULL, or no function: `tables`.
	const struct out_table *const *(*prints)(const struct cmd *c);
	// Checks usage beyond `rules`, before `needs` and `run`: reads nothing of the host but
	// a file of options, and writes nothing. Returns GPQ_OK, or GPQ_USAGE after a message.
	// NULL: nothing to check.
	int (*check)(struct cmd *c);
	bool stop_at_operand;      // words behind the first operand are no options: `-- CMD ARGS`
	int (*run)(struct cmd *c); // returns the exit status
};

#define SCHEMAS(...)                   \
	(const struct schema *const[]) \
	{                              \
		__VA_ARGS__, NULL      \
	}

struct command {
	const char *name;
	unsigned needs;
	const char *summary;
	const struct cmd_spec *spec;
};

// One call of a command.
struct cmd {
	const struct command *def;
	const struct cmd_kind *kind; // NULL where the command has none
	void *opts;                  // the command's options struct
	const struct opt_set *sets;  // the options, for cmd_check()
	int argc;                    // operands
	char **argv;
	const struct words *sysroots; // of --sysroot, a series as its snapshots; the last is read
	struct out_opts out;          // options of the output, for out_open()
};

// All commands, sorted by name; ends with a NULL name.
extern const struct command gpq_commands[];

// Returns the command whose name is this word of `len` bytes, or NULL.
const struct command *command_find(const char *word, size_t len);

// Returns the kind of the command `def` whose name is `word`, or NULL; also if `word` is NULL.
const struct cmd_kind *command_kind(const struct command *def, const char *word);

// Print the help of gpq, or of a command or one of its kinds (NULL: all): -h (`brief`), or --help.
// They return the exit status.
int help_general(bool brief);
// Prints the topic, or what a word of cmd/words.c leads to. Returns the exit status; -1 without a
// message if nothing has a name like that.
int help_word(const char *name);
int help_command(const struct command *def, const struct cmd_kind *kind, bool brief);

// Topics of gpq help: sections of gpq(1), made by man/topics. Ends with a NULL name.
extern const struct help_topic {
	const char *name, *summary, *text;
} help_topics[];

// What to type for a word that people use for it: "gpq ps lists processes". NULL: not known.
const char *word_leads(const char *word);
// Calls `each` with every such word.
void words_each(void (*each)(const void *arg, const char *word, const char *leads),
		const void *arg);

// Checks the options that were given against `rules`. Returns GPQ_OK, or GPQ_USAGE after a message.
int cmd_check(const struct cmd *c, const struct opt_rule *rules);

// Returns the tables that the command prints with these options, ended by NULL; the first is the
// main one.
const struct out_table *const *cmd_prints(const struct cmd *c);

// Reports an operand that the command does not take. Returns GPQ_USAGE.
int cmd_refuse_operand(const struct cmd *c, const char *operand);

// Checks that the host has what these NEED_ bits ask for. Returns GPQ_OK, or the exit status after
// a message that says what is missing and how to get it.
int needs_check(unsigned needs);

// Is debugfs mounted on /sys/kernel/debug? False also without the right to look there.
bool needs_has_debugfs(void);
#define NEXT_MOUNT_DEBUGFS "as root: mount -t debugfs none /sys/kernel/debug"

// `gpq --complete`: prints the candidates for the last of `words` (what is typed behind `gpq`), one
// a line, each with a tab and its help. Returns the exit status.
int complete_words(int n, char **words);

// Names of the options that choose another output than a table for people, and these with the
// options that choose columns and rows.
#define FORM_NAMES "json ndjson raw pairs csv openmetrics null count"
#define ROWS_NAMES FORM_NAMES " output output-all filter sort table"

// Options that every command takes.
struct common_opts {
	struct out_opts out;
	bool json, ndjson, raw, pairs, csv, openmetrics, nul, count;
	struct words sysroots;
	bool quiet;
	int verbose;
	bool usage, help, version, list_columns, json_schema;
};
extern const struct opt common_opts_table[];
extern const struct opt gpq_opts_table[]; // options of gpq without a command

// Forgets the host files that could not be read: the limit of messages about them begins anew, and
// they no longer make the exit status GPQ_PARTIAL.
void troubles_forget(void);

// --watch: the same listing again and again.
#define WATCH_OFF UINT64_MAX // value of --watch or a like option that was not given
#define WATCH_OPT(type)                              \
	OPT(type, watch, "watch", 0, OPT_SEC, "SEC", \
	    "repeat, this long apart (50ms, 2s), until Ctrl-C")

#define WATCH_RULES                                                          \
	RULE_RANGE("watch", 10000000, UINT64_MAX, "for example --watch 0.5", \
		   "--watch: the least interval is 10ms"),                   \
		RULE_EXCLUDES("watch", "openmetrics", "run it each time",    \
			      "--watch has no end, but metrics have one"),   \
		RULE_EXCLUDES("watch", "json", "use --ndjson",               \
			      "--watch has no end, so it cannot be one JSON document")

// Calls `list`, which writes by out_open(&c->out): once if every_ns is WATCH_OFF, else at this
// interval (WATCH_RULES) until it fails; GPQ_PARTIAL is no failure. Tables become a full-screen
// view on a terminal (common/cli/screen.h), and NDJSON in a pipe. Returns the status of the last
// call.
int watch_run(struct cmd *c, uint64_t every_ns, int (*list)(struct cmd *c));

// --wait: calls `list` until it gives at least `least` rows (0: until it gives none), and writes
// only the last listing. Ends early if `list` fails other than by finding nothing, or if it finds
// nothing and `hopeless` says that nothing will come. `timeout_ns` WATCH_OFF: waits for ever.
// Returns GPQ_OK; GPQ_DEADLINE after a message; else the status of `list`.
int wait_run(struct cmd *c, uint64_t least, uint64_t timeout_ns, int (*list)(struct cmd *c),
	     bool (*hopeless)(const struct cmd *c));
