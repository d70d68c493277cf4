// The processes a listing is about, each file of /proc read at most once and only when wanted.
#pragma once

#include "common/host/container.h"
#include "common/host/proc.h"

enum { // what process_cache_get() reads
	PROCESS_STATUS = 1,
	PROCESS_CONTAINER = 2,
	PROCESS_CMDLINE = 4,
};

struct process_info {
	pid_t pid;
	unsigned have; // PROCESS_... already read
	int error;     // errno of /proc/PID/status: ENOENT, ESRCH: the process is no more; 0: read
	struct proc proc;
	struct container container; // id "" outside containers and where unknown
	char short_id[16]; // id as docker ps shows it: 12 digits; a name in full, if it fits
	char cmdline[256]; // "": unknown
};

struct process_cache {
	void *tree; // tsearch() tree of struct process_info, by pid; owned
};

// Returns the process, with the parts in `want` (PROCESS_...) read. Valid until
// process_cache_fini().
const struct process_info *process_cache_get(struct process_cache *p, pid_t pid, unsigned want);
void process_cache_fini(struct process_cache *p);

// True when PIDs in /proc are those of the initial PID namespace, which KFD uses [kfd.pids]: not in
// a container that has a /proc of its own.
bool pids_are_host(void);

// Returns gpq's own PID as /proc has it; 0 on a recorded host.
pid_t pid_of_self(void);
