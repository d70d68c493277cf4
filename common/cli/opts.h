// Options as data: one table per command drives parsing, --help, completion and the check of the
// man page.
#pragma once

#include "common/host/std.h"

enum opt_kind {     // type of the member in the options struct
	OPT_FLAG,   // bool
	OPT_COUNT,  // int, incremented each time
	OPT_STR,    // const char *; the last argument counts
	OPT_EXPR,   // const char *, an expression: refused when given again
	OPT_WORDS,  // struct words: comma-separated, may be repeated
	OPT_LIST,   // struct words: may be repeated, each argument as it is
	OPT_PIDS,   // struct pids: comma-separated, may be repeated; `-` reads standard input
	OPT_U64,    // uint64_t, decimal or 0x
	OPT_NS,     // uint64_t nanoseconds: "50ms", "2s"
	OPT_SEC,    // the same; a number without a unit counts seconds, as sleep(1) has it
	OPT_CHOICE, // int: index in the option's words
};

struct words {
	char **v; // owned
	size_t n;
};

struct pids {
	pid_t *v; // owned; in the order given, without duplicates
	size_t n;
	bool given; // the option was given, even if standard input was empty
};

struct opt {
	// Long name without dashes; NULL ends a table. Behind its NUL follow the name of the
	// argument ("": a flag), the help, and the words of an OPT_CHOICE, ended by "".
	const char *name;
	uint32_t offset; // place of the member in the options struct, in bytes
	char letter;     // short name, 0: none
	uint8_t kind;    // enum opt_kind
};

// Texts are literals; `arg` of a flag is "". `help` has no full stop: -h shows it up to a newline,
// --help all of it. If it begins with a newline, -h only names the option.
#define OPT(type, member, name, letter, kind, arg, help)                                  \
	{                                                                                 \
		name "\0" arg "\0" help, offsetof(struct type, member), (letter), (kind), \
	}
// `words`: "auto\0always\0never".
#define OPT_ONE_OF(type, member, name, letter, arg, help, words) \
	OPT(type, member, name, letter, OPT_CHOICE, arg, help "\0" words "\0")

// Name of the argument in help; NULL for flags.
const char *opt_arg(const struct opt *o);

// Returns word `i` of an OPT_CHOICE; "" behind the last word, and for other kinds of option.
const char *opt_word(const struct opt *o, unsigned i);

// A table and the struct that its offsets refer to. With base NULL the options are not accepted: if
// one is given, the message says which command has it.
struct opt_set {
	const struct opt *table;
	void *base;
	const char *owner;    // command of the options: "queues", "bench ab"; NULL: all
	const void *defaults; // what `base` held before parsing, for rules (rules.h); NULL: zeros
};

// Parses argv[1...] by the tables of `sets` (ended by a NULL table). `stop`: options end at the
// first operand. Moves operands to the end of argv and returns the index of the first, or -1 after
// the message of a usage error.
int opts_parse(int argc, char **argv, const struct opt_set *sets, bool stop);

// Was this option among those of the last opts_parse(), whatever its argument?
bool opts_was_given(const struct opt *o);

// Returns which of two options, by their long names, comes first in argv[1...]; NULL: neither is
// there. Wrong options are skipped.
const char *opts_asks(int argc, char **argv, const struct opt_set *sets, bool stop,
		      const char *const names[2]);

// The first operand of argv[1...], or NULL. argv is not reordered; wrong options are skipped.
const char *opts_first_operand(int argc, char **argv, const struct opt_set *sets);

// Returns the option with the long name `name` or, if `name` is NULL, with `letter`; NULL: none.
const struct opt *opts_find(const struct opt *table, const char *name, char letter);

// Returns the word that was likely meant by `name`, or NULL. `words` ends with NULL.
const char *opts_suggest(const char *name, const char *const *words);

// Stores the argument of one option into `base`, as opts_parse() does. Returns GPQ_OK, or GPQ_USAGE
// after a message.
int opts_store(const struct opt *o, void *base, const char *arg);

// In secure mode (common/host/secure.h) returns GPQ_USAGE, after a message that `given` is refused:
// an operand, or an option whose argument is FILE, DIR or CMD. Otherwise returns GPQ_OK.
int opts_refuse_secure(const char *given);

// Frees lists that the members of `sets` own.
void opts_fini(const struct opt_set *sets);

// Appends lines like "  -p, --pid PID[,PID...]      help" of at most 80 columns. `brief`: one line
// an option, and a last line with the names of rare options.
void opts_help(struct buf *b, const struct opt *table, bool brief);

// Returns the first line of the option's help, which -h shows, and its length in *len.
const char *opt_brief(const struct opt *o, size_t *len);

// Adds the comma- or blank-separated PIDs in `text`. False at the first word that is no PID;
// `bad` then holds it.
bool pids_add(struct pids *p, const char *text, char bad[32]);
void words_push(struct words *w, const char *word, size_t len); // adds a copy of `len` bytes
void words_fini(struct words *w);
void pids_push(struct pids *p, pid_t pid); // adds `pid` unless the list has it
bool pids_has(const struct pids *p, pid_t pid);
