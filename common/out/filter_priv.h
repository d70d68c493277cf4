// Inside of filters: what the parser (filter_parse.c) writes and filter.c runs; see filter.h.
#pragma once

#include "common/out/filter.h"

struct grep;

// Orders that make a comparison true: less, equal, greater.
enum { ORDER_LT = 1, ORDER_EQ = 2, ORDER_GT = 4 };

// An operand of a test: a column or a constant.
struct operand {
	const struct out_col *column; // NULL: the operand is a constant
	enum { IS_NUMBER, IS_TRUTH, IS_TEXT, IS_LIST } is;
	bool duration;      // a constant with a unit of time: `number` is in nanoseconds
	long double number; // value of a constant number; true is 1, false 0
	char *text;         // text of a constant, owned; a number as written
};

struct test {
	enum { TEST_TRUE, TEST_NUMBERS, TEST_TRUTHS, TEST_TEXTS, TEST_WORDS, TEST_REGEX } how;
	// ORDER_ bits that make the test true; TEST_WORDS, TEST_REGEX: ORDER_EQ, or 0 for != and !~
	unsigned orders;
	unsigned regex; // TEST_REGEX: index in filter.regexes
	struct operand a, b;
};

struct step {
	enum { STEP_TEST, STEP_NOT, STEP_IF_TRUE, STEP_IF_FALSE } kind;
	size_t to; // STEP_TEST: index of the test; STEP_IF_...: step to go on with
};

struct filter_regex {
	struct grep *grep;
	struct grepper *grepper;
	char *option; // for messages: "--filter: at column 8"
	const char *pattern;
};

struct filter {
	const struct out_table *table;
	struct step *steps;
	struct test *tests;
	struct filter_regex *regexes;
	size_t nsteps, steps_cap, ntests, tests_cap, nregexes, regexes_cap;
	struct buf number; // text of a number that a regular expression is tried on
};

// Parses the expression into the filter. False with the mistake in `m`.
bool filter_parse(struct filter *f, const char *text, struct out_mistake *m);

// Reads the number with unit (K, MiB, ms) that `text` begins with; no letter or digit may follow.
// Returns its length in bytes, or 0 if there is none. Sets *number, and *duration if the unit is
// one of time.
size_t filter_number(const char *text, size_t len, long double *number, bool *duration);
