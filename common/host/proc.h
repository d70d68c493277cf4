// Processes as /proc shows them: names, users, PID namespaces, parents.
//
// Facts: proc(5). sysfs of KFD names processes by their PID in the initial namespace
// [kfd.pids], so on a host the numbers agree with /proc; inside a container they do not, and
// /proc/PID is then another process or missing.
#pragma once

#include "common/host/std.h"

struct proc {
	pid_t pid;      // PID as the caller gave it
	pid_t ppid;     // 0: unknown
	pid_t ns_pid;   // PID in the innermost namespace; equals pid outside containers; 0: unknown
	unsigned depth; // PID namespaces below the one of this /proc: 0 for none, 1 in a container
	uint64_t uid;   // effective user ID; UINT64_MAX: unknown
	pid_t tracer;   // PID of the process that traces this one; 0: none; -1: unknown
	bool memory;    // has an address space; false: a kernel thread or a zombie
	char state;     // R, S, D, T, t, Z ...; 0: unknown
	char comm[64];  // name of up to 15 bytes, more for kernel threads; "": unknown
};

// Reads /proc/PID/status. Returns 0, or -1 with errno (ENOENT, ESRCH: no such process).
int proc_read(struct proc *p, pid_t pid);

// Fills `p` from the text of /proc/PID/status.
void proc_parse(struct proc *p, pid_t pid, const char *status);

// Is this the name of a process's folder in /proc, as the kernel writes it? Decimal digits without
// leading zeros and nothing else, so that no two names mean one process.
bool proc_parse_pid(const char *name, pid_t *pid);

// Reads the start time in clock ticks since boot from /proc/PID/stat. PID and start time together
// identify a process, also after the PID is used again. Returns 0, or -1 with errno.
int proc_start_ticks(pid_t pid, uint64_t *ticks);

// When a recorded host was recorded: nanoseconds since its boot, to 10 ms; of a folder of dumps
// alone since 1970, by the time of its files. 0: unknown.
uint64_t proc_recorded_ns(void);

// Reads a field of the text of /proc/PID/stat as a number (22: the start time). False: there is
// none.
bool proc_stat_number(const char *stat, unsigned field, uint64_t *value);

// Lists all processes in *list, which the caller frees. Returns their number, or -1 with errno.
ssize_t proc_list(struct proc **list);

// Lists `root` and all its descendants in *pids, which the caller frees: parents before children.
// Returns their number, or -1 with errno.
ssize_t proc_tree(pid_t root, pid_t **pids);

// Lists the processes in containers that have the PID `ns_pid` in their innermost namespace (each
// container may have one) in *pids, which the caller frees. Returns their number, or -1 with errno.
ssize_t proc_find_ns_pid(pid_t ns_pid, pid_t **pids);

// Returns a user's login name, or the number as text. The pointer stays valid; from the 64th user
// on, the next call may change the text.
const char *proc_user(uint64_t uid);

// The command line of this process as `ps` shows it. Zeroed before the first use.
struct title {
	bool sought;
	char *at; // memory of the command line and of the environment behind it; NULL: not found
	size_t size, len;
};

// Replaces the command line; `text` is cut to the room there is. The environment is overwritten: no
// variable may be read afterwards, unless title_keep_environment() was called before.
void title_set(struct title *t, const char *text);

// Copies the environment, so that title_set() does not overwrite it.
void title_keep_environment(void);
