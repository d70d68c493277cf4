// All paths under the sysroot that match a pattern, with the symbolic links on the way, so that a
// copy can have the links of the original and nothing is copied twice.
#pragma once

#include "common/host/std.h"

struct glob_visitor {
	// A path that matches and has no link in it. A result other than 0 of any of these
	// functions ends the walk.
	int (*found)(void *arg, const char *path);
	// A symbolic link on the way, and its target as written in the link.
	int (*link)(void *arg, const char *path, const char *target);
	// A name without wildcards that cannot be looked up, or a folder that cannot be listed.
	int (*missing)(void *arg, const char *path, int error);
	void *arg;
	bool keep_last; // a link at the end of the path is reported by link() and not followed
};

// `pattern` is absolute. Each component is a list of shell patterns, `a|b*|c`; names that match one
// come in version order (2 before 10). Returns 0, or the visitor's result that ended the walk.
int host_glob(const char *pattern, const struct glob_visitor *v);
