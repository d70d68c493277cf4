// The processes a listing is about, each file of /proc read at most once and only when wanted.
#ifndef GPQ_HOST_PEOPLE_H
#define GPQ_HOST_PEOPLE_H

#include "common/host/container.h"
#include "common/host/proc.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { // what people_get() reads
	PERSON_STATUS = 1,
	PERSON_CONTAINER = 2,
	PERSON_CMDLINE = 4,
};

struct person {
	pid_t pid;
	unsigned have; // PERSON_... already read
	int error;     // errno of /proc/PID/status: ENOENT, ESRCH: the process is no more; 0: read
	struct proc proc;
	struct container container; // id "" outside containers and where unknown
	char short_id[16];          // as docker ps shows it: 12 digits; a name in full, if it fits
	char cmdline[256];          // "" unknown
};

struct people_slot {
	pid_t pid;
	struct person *person; // owned
};

struct people {
	struct people_slot *slots; // by pid; owned
	size_t n, cap;
};

// The process with what is wanted of it read. NULL: out of memory.
// The pointer stays valid until people_fini().
const struct person *people_get(struct people *p, pid_t pid, unsigned want);
void people_fini(struct people *p);

// True when pids of /proc are those of the initial PID namespace, which KFD uses (kfd-facts 11): on
// a host, on a recorded host, and in a container that shows the host's /proc.
bool people_are_host(void);

// The pid /proc gives this very process; 0 on a recorded host.
pid_t people_self(void);

#endif
