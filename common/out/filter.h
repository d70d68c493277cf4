// Expressions of --filter over the columns of a table: the grammar of scols-filter(5), gpq(1) tells
// what is different here.
//
// An expression is parsed once for a table into a list of tests and jumps, so taking a row needs no
// recursion. Threads have a filter each.
#ifndef GPQ_OUT_FILTER_H
#define GPQ_OUT_FILTER_H

#include "common/out/out.h"

enum {
	FILTER_LENGTH_MAX = 65536, // bytes of an expression
	FILTER_DEPTH_MAX = 100,    // parentheses and "not" inside of each other
	FILTER_REGEX_MAX = 100,    // =~ and !~
};

// What is wrong with the argument of --filter or --sort.
struct out_mistake {
	int status;       // exit status; 0: nothing
	bool absent;      // the table lacks the column; another table may have it
	bool told;        // the message was printed: report nothing more
	bool guessed;     // the text suggests a column that may be meant
	size_t at;        // character of the argument, from 1; 0: the whole argument
	char text[160];   // without option and place
	char near[64];    // how the place looks: `near "..."`; may be empty
	const char *next; // what to do about it, or NULL
};

// One line on stderr: `option` is "--filter" or "--sort", or NULL. Returns the exit status.
int out_mistake_report(const struct out_mistake *m, const char *option);

// Index of the column with that heading or key, upper or lower case; -1: none.
int out_find_column(const struct out_table *t, const char *name, size_t len);

// Fills `m` for a column that the table lacks; `at` is where it is named (character).
void out_mistake_column(struct out_mistake *m, const struct out_table *t, const char *name,
			size_t len, size_t at);

struct filter;

// NULL with the mistake in `m`: GPQ_USAGE, or GPQ_UNSUPPORTED where =~ finds no libpcre2.
struct filter *filter_new(const struct out_table *t, const char *text, struct out_mistake *m);
void filter_free(struct filter *f);

// Sets used[i] of each column that the expression names.
void filter_columns(const struct filter *f, bool *used);

// Does the record match?
bool filter_takes(struct filter *f, const void *record);

// A regular expression took too many steps on some text: GPQ_FAILED after a message. Else GPQ_OK.
int filter_check(const struct filter *f);

#endif
