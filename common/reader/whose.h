// Whose a process is: columns that stand behind COMMAND in every table of living processes.
#pragma once

#include "common/reader/process_cache.h"

struct whose { // NULL: unknown; a container, pod and job also when the process is in none
	const char *user, *container, *pod, *job;
};

// The columns of a member `at` with such members; `flags`: of all of them.
// NOLINTBEGIN(bugprone-macro-parentheses): names of members take none
#define WHOSE_COLS(at, flags)                                                                  \
	COL(at.user, "USER", "user", STR, flags, "effective user of the process"),             \
		COL(at.container, "CONTAINER", "container", STR, (flags) | T,                  \
		    "container: first 12 digits of its id; of LXC and nspawn its name"),       \
		COL(at.pod, "POD", "pod", STR, (flags) | T, "kubernetes pod, NAMESPACE/NAME"), \
		COL(at.job, "JOB", "job", STR, flags, "job of Slurm")
// NOLINTEND(bugprone-macro-parentheses)

// Reads the columns of a process. The texts stay valid until process_cache_fini(), but for the
// user's name: see proc_user().
struct whose whose_of(struct process_cache *processes, pid_t pid);
