// The table of commands (GPQ_COMMANDS) and the interfaces that command files share.
//
// To add one: a line in GPQ_COMMANDS, cmd/NAME.c with its NAME_spec, man/gpq-NAME.1, a test in
// tests/cli (HACKING.md).
#ifndef GPQ_CMD_COMMAND_H
#define GPQ_CMD_COMMAND_H

#include "common/cli/err.h"
#include "common/cli/rules.h"
#include "common/out/columns.h"
#include "common/out/schema.h"

// What must be there before a command runs; checked in one place (cmd/needs.c).
enum {
	NEED_KFD = 1,     // /sys/class/kfd: the driver, live or recorded
	NEED_LIVE = 2,    // a running host, not --sysroot
	NEED_DEV_KFD = 4, // /dev/kfd may be opened for reading and writing
	NEED_DEBUGFS = 8, // /sys/kernel/debug/kfd is readable
};

// name, what it needs, one-line help. Sorted by name.
#define GPQ_COMMANDS(X)                                                                           \
	X(bench, 0, "measure what suspending and resuming costs")                                 \
	X(events, NEED_KFD | NEED_LIVE, "show what happens to queues, as it happens")             \
	X(gpus, NEED_KFD, "list the GPUs of KFD and what they support")                           \
	X(hqd, NEED_KFD | NEED_DEBUGFS, "show hardware queue slots, decoded, and whose they are") \
	X(merge, 0, "add up results of many runs and hosts")                                      \
	X(packets, NEED_KFD, "show the packets in the rings of queues, decoded")                  \
	X(queues, NEED_KFD, "list the queues of processes")                                       \
	X(resume, NEED_LIVE, "put suspended queues back")                                         \
	X(sched, NEED_KFD | NEED_LIVE | NEED_DEV_KFD,                                             \
	  "hold offline work off the GPU while online work needs it")                             \
	X(snapshot, NEED_KFD, "save a host for --sysroot, compare")                               \
	X(suspend, NEED_LIVE, "take queues off the GPU, hold them off")                           \
	X(trace, 0, "analyse AMD_LOG_LEVEL logs: queues, dispatches, kernels, backlog")           \
	X(why, NEED_KFD, "what each queue does now, and on what it waits")

struct cmd;

// A command of several kinds ("gpq bench ab"): the first operand says which.
struct cmd_kind {
	const char *name;     // NULL ends a table
	const char *title;    // with the command's name: "bench ab"
	unsigned needs;       // NEED_...
	const char *summary;  // what it is for
	const char *synopsis; // as of the command, behind the kind's name
	const char *operands; // behind the kind's name; NULL: none are allowed
	const struct opt *opts;
	const struct opt_rule *rules; // checked before `run`; NULL: none
	const struct out_table *const *tables;
	int (*run)(struct cmd *c); // argv[0] is the kind's name
};

struct cmd_spec {
	const struct cmd_kind *kinds; // NULL: none. Else these have synopsis, operands, opts, run
	const char *synopsis; // without the name, one form a line: "[-p PID[,PID...]] [--gpu GPU]"
	const char *description; // a few sentences for --help
	const char *operands;    // "FILE..."; NULL: none are allowed
	const struct opt *opts;
	const struct opt_rule *rules;           // checked before `run`; NULL: none
	size_t opts_size;                       // of the struct that opts' offsets are in
	const void *defaults;                   // initial content of it, NULL: zeros
	const struct out_table *const *tables;  // NULL-terminated: what -o chooses from
	const struct schema *const *schemas;    // of its forms, ended by NULL: SCHEMAS. Documents
						// have the first unless run() sets another in
						// `out` of struct cmd before out_open()
	unsigned (*needs)(const struct cmd *c); // replaces the table's needs when options change
						// them; or NULL
	bool stop_at_operand;      // options behind the first operand are not ours: `-- CMD ARGS`
	int (*run)(struct cmd *c); // exit status
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
	struct out_opts out; // for out_open()
};

// Sorted; ends with a NULL name.
extern const struct command gpq_commands[];

// The command whose name is this word of `len` bytes, or NULL.
const struct command *command_find(const char *word, size_t len);

// The kind of the command whose name is this word, or NULL; also for `word` NULL.
const struct cmd_kind *command_kind(const struct command *def, const char *word);

// -h (brief) and --help: of gpq, of a command, of one of its kinds (or NULL). Exit status.
int help_general(bool brief);
int help_command(const struct command *def, const struct cmd_kind *kind, bool brief);

// Rules about options that apply only to what is done now: GPQ_OK, or GPQ_USAGE after a message.
int cmd_check(const struct cmd *c, const struct opt_rule *rules);

// GPQ_OK, or the status after a message that says what is missing and how to get it.
int needs_check(unsigned needs);

// Is debugfs mounted where it belongs? (Without the right to look there: no.)
bool needs_has_debugfs(void);
#define NEXT_MOUNT_DEBUGFS "as root: mount -t debugfs none /sys/kernel/debug"

// `gpq --complete`: candidates for the last of `words` (what is typed behind `gpq`), one a line, a
// tab before its help.
int complete_words(int n, char **words);

// Options that ask for another form than a table, and those that ask for rows of one.
#define FORM_NAMES "json ndjson raw pairs csv null"
#define ROWS_NAMES FORM_NAMES " output output-all filter sort"

// Options that every command takes.
struct common_opts {
	struct out_opts out;
	bool json, ndjson, raw, pairs, csv, nul;
	const char *sysroot;
	bool quiet;
	int verbose;
	bool usage, help, version, list_columns, json_schema;
};
extern const struct opt common_opts_table[];
extern const struct opt gpq_opts_table[]; // those of gpq without a command

// The count that limits messages about files of the host begins anew.
void troubles_forget(void);

// --watch: the same listing again and again.
#define WATCH_OFF UINT64_MAX // of an option that was not given
#define WATCH_OPT(type)                             \
	OPT(type, watch, "watch", 0, OPT_NS, "SEC", \
	    "repeat, this long apart (50ms, 2s), until Ctrl-C")

// Calls `list`, which writes by out_open(&c->out), once with WATCH_OFF; else until it fails, this
// long apart (at least 10ms). GPQ_PARTIAL is no failure. Tables on a terminal are a full-screen
// view (common/cli/screen.h); in a pipe NDJSON follows unless another form is asked for. The status
// of the last list; GPQ_USAGE after a message: the interval is too short, or the form has an end.
int watch_run(struct cmd *c, uint64_t every_ns, int (*list)(struct cmd *c));

// --wait: calls `list` until it shows at least `least` rows (0: none), and then writes what it
// lists. It is called again while it succeeds or finds nothing, unless `hopeless` says that nothing
// will come. `timeout_ns` WATCH_OFF: for ever. GPQ_OK; GPQ_DEADLINE after a message and the present
// listing; else the status of `list`.
int wait_run(struct cmd *c, uint64_t least, uint64_t timeout_ns, int (*list)(struct cmd *c),
	     bool (*hopeless)(const struct cmd *c));

#endif
