// The command line of this process as `ps` shows it.
#ifndef GPQ_HOST_TITLE_H
#define GPQ_HOST_TITLE_H

#include <stdbool.h>
#include <stddef.h>

struct title { // zeroed before the first use
	bool sought;
	char *at; // memory of the command line and of the environment behind it; NULL: not found
	size_t size, len;
};

// Replaces the command line; `text` is cut to the room there is. The environment is overwritten: no
// variable may be read afterwards, unless title_keep_environment() was called before.
void title_set(struct title *t, const char *text);

// Copies the environment, so that title_set() does not overwrite it.
void title_keep_environment(void);

#endif
