// Regular expressions over blocks of lines, by PCRE2 and its compiler, for several threads.
//
// A block is searched from match to match, not line by line: one call of pcre2_match() goes on
// until a line matches. The result is the same as if each line were matched alone, without its
// newline and a carriage return before it: expressions are rewritten so that nothing in them
// matches a newline (grep_lines.c). Lines are matched one by one if an expression cannot be
// rewritten, if a block takes too many steps, or if lines end with a carriage return.
//
// Text is bytes: no UTF-8, \w is ASCII.
#pragma once

#include "common/host/std.h"

struct words;

enum grep_side { GREP_WANT, GREP_DROP, GREP_SIDES };

// A line is picked when one of the expressions of GREP_WANT matches, or there are none, and none of
// GREP_DROP does.
struct grep;

// Makes a grep without expressions. It matches only lines that begin with `first`; 0: all lines.
struct grep *grep_new(char first);
void grep_free(struct grep *g);

// Compiles the regular expressions that `option` ("--grep") was given. The text `option` must live
// as long as `g`. Returns GPQ_OK, or the exit status after a message.
int grep_add(struct grep *g, enum grep_side side, const char *option, const struct words *patterns);

// Offsets in a block at which matching lines begin, ascending, ended by UINT32_MAX.
struct grep_hits {
	struct grep_set {
		uint32_t *v, n;
		size_t cap;
	} sets[GREP_SIDES];
	bool all;    // there is no expression of GREP_WANT
	int error;   // PCRE2's error if it gave up on a line; else 0
	unsigned by; // number of the expression on which PCRE2 gave up
};

void grep_hits_fini(struct grep_hits *h);

// State of a thread that matches; each thread has its own.
struct grepper;
struct grepper *grepper_new(const struct grep *g);
void grepper_free(struct grepper *w);

// Searches whole lines of together fewer than 4 GiB, the last of which ends with a newline.
void grepper_lines(struct grepper *w, const char *text, size_t len, struct grep_hits *h);

// Is the text picked, as a line with this text would be? False also if PCRE2 gives up.
bool grepper_text(struct grepper *w, const char *text, size_t len);

// Return GPQ_FAILED, after a message, if PCRE2 gave up on some text; else GPQ_OK.
int grepper_check(const struct grepper *w);
int grep_hits_check(const struct grep *g, const struct grep_hits *h);

// Is the line picked that begins at `at`?
bool grep_hits_has(const struct grep_hits *h, uint32_t at);

// grep_hits_has() for lines in ascending order, without a search for each.
struct grep_cursor {
	const uint32_t *at[GREP_SIDES];
	bool all;
};

static inline struct grep_cursor grep_hits_begin(const struct grep_hits *h)
{
	return (struct grep_cursor){{h->sets[GREP_WANT].v, h->sets[GREP_DROP].v}, h->all};
}

static inline bool grep_cursor_has(struct grep_cursor *c, uint32_t at)
{
	for (unsigned i = 0; i < GREP_SIDES; i++) {
		while (*c->at[i] < at)
			c->at[i]++;
	}
	return (c->all || *c->at[GREP_WANT] == at) && *c->at[GREP_DROP] != at;
}

// Rewrites the expression so that nothing in it matches a newline or looks across one, into `out`.
// False if it contains something that cannot be rewritten.
bool grep_within_lines(struct buf *out, const char *pattern);

// Expressions that are matched against one text at a time, such as the name of a program.
struct regex {
	const char *option;
	const char *what; // what messages call the texts: "names"
	struct grep *grep;
	struct grepper *grepper; // NULL: there is no expression
};

// Compiles the regular expressions that `option` ("--comm") was given. The text `option` must live
// as long as `r`. Returns GPQ_OK, or the exit status after a message (bad expression, no libpcre2).
// regex_fini() is needed in any case.
int regex_init(struct regex *r, const char *option, const struct words *patterns);
void regex_fini(struct regex *r);

// As regex_init(), for lines of output and at most one expression (NULL: none). Returns GPQ_USAGE
// also if the expression has fewer than `groups` groups ( ).
int regex_init_line(struct regex *r, const char *option, const char *pattern, unsigned groups);

// Does any of the expressions match? A text on which PCRE2 gives up (too many steps) does not
// match, which regex_check() reports. Not for several threads at once.
bool regex_matches(struct regex *r, const char *text, size_t len);

// Returns where in `text` the first group ( ) of the only expression matched; NULL: no match.
// *second is where the second one did, or NULL.
const char *regex_group(struct regex *r, const char *text, size_t len, const char **second);

// Returns `status`, or GPQ_PARTIAL after a message if PCRE2 gave up on some text.
int regex_check(const struct regex *r, int status);
