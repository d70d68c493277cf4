// Expressions of --filter over the columns of a table. The grammar is that of scols-filter(5);
// gpq(1) tells the differences.
//
// An expression is parsed once for a table into a list of tests and jumps, so evaluating a row
// needs no recursion. Each thread has a filter of its own.
#pragma once

#include "common/out/out.h"

enum {
	FILTER_LENGTH_MAX = 65536, // bytes of the text of an expression
	FILTER_DEPTH_MAX = 100,    // nested parentheses and "not"
	FILTER_REGEX_MAX = 100,    // operators =~ and !~ in an expression
};

// What is wrong with the argument of --filter or --sort.
struct out_mistake {
	int status;       // exit status; 0: there is no mistake
	bool absent;      // the table lacks the column; another table may have it
	bool told;        // the message was printed: report nothing more
	bool guessed;     // `text` suggests a column that may be meant
	size_t at;        // place: character of the argument, from 1; 0: all of it
	char text[160];   // message without the option and the place
	char near[64];    // quotes the place: `near "..."`; may be empty
	const char *next; // advice, or NULL
};

// Prints the mistake as one line on stderr, unless m->told. `option`: "--filter", "--sort" or NULL.
// Returns the exit status.
int out_mistake_report(const struct out_mistake *m, const char *option);

// Returns the index of the column whose heading or JSON key is `name`, in upper or lower case; -1:
// there is none.
int out_find_column(const struct out_table *t, const char *name, size_t len);

// Sets `m` to the mistake that the table has no column `name`. `at`: place of the name
// (out_mistake.at).
void out_mistake_column(struct out_mistake *m, const struct out_table *t, const char *name,
			size_t len, size_t at);

struct filter;

// Parses and compiles the expression `text`. Returns NULL with the mistake in `m`: GPQ_USAGE, or
// GPQ_UNSUPPORTED if it has =~ and libpcre2 is missing.
struct filter *filter_new(const struct out_table *t, const char *text, struct out_mistake *m);
void filter_free(struct filter *f);

// Sets used[i] of each column that the expression names.
void filter_columns(const struct filter *f, bool *used);

// Does the record match the expression?
bool filter_takes(struct filter *f, const void *record);

// Returns GPQ_FAILED, after a message, if a regular expression took too many steps on some text;
// else GPQ_OK.
int filter_check(const struct filter *f);
