// Options from a file: one a line, its long name and, behind blanks or "=", its argument, which
// lasts to the end of the line. Empty lines and those that begin with # say nothing. Each line
// below "[NAME]" is an argument of NAME, an option that may be given several times; below
// "[NAME KEY]" it is so behind "KEY=".
#pragma once

#include "common/cli/opts.h"

struct opts_file {
	struct opts_line {
		const struct opt *o;
		char *arg;       // owned; "" of a flag
		unsigned number; // of the line, from 1 on
		bool skip;       // the option was given on the command line, too, which counts
	} * v;                   // owned; in the order of the file
	size_t n, cap;
	const struct opt *section; // while it is read
	char *key;                 // of the section; owned; or NULL
};

// Reads the file, in which options of `table` may stand whose names are in `names` ("idle share").
// Never waits: a file that is not a regular one is refused, and so is one of over 64 KiB. Returns
// GPQ_OK, or the exit status after a message that names the line. Free *f whatever is returned.
int opts_file_read(struct opts_file *f, const char *path, const struct opt *table,
		   const char *names);
void opts_file_fini(struct opts_file *f);

// Stores the arguments into `base`, as opts_parse() does, but for options that were given to that.
// `base` borrows texts of *f. Returns GPQ_OK, or GPQ_USAGE after a message.
int opts_file_store(struct opts_file *f, const char *path, void *base);

// Calls `each` with each option of `names` that `now` and `before` do not say alike, and with what
// they say ("": nothing).
void opts_file_compare(const struct opts_file *before, const struct opts_file *now,
		       const struct opt *table, const char *names,
		       void (*each)(const char *name, const char *before, const char *now));
