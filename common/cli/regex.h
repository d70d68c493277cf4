// Regular expressions of options, by PCRE2, which is loaded when the first one is given (dlopen.h).
#ifndef GPQ_CLI_REGEX_H
#define GPQ_CLI_REGEX_H

#include <stdbool.h>
#include <stddef.h>

struct regex {
	const char *option;
	void *code, *match;
	int error; // first failure to match, as PCRE2 numbers it; 0
};

// Compiles what `option` (as in "--comm", outlives it) was given. GPQ_OK, or the exit status after
// a message: no regular expression, no libpcre2, memory is out.
int regex_init(struct regex *r, const char *option, const char *pattern);
void regex_fini(struct regex *r);

// A text on which matching fails (PCRE2 gives up after so many steps) does not match, and that is
// noted. Not for several threads at once.
bool regex_matches(struct regex *r, const char *text, size_t len);

// `status`, or GPQ_PARTIAL after a message when some text could not be matched.
int regex_check(const struct regex *r, int status);

#endif
