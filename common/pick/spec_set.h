// SPECs: selectors (pick.h, pick_queues.h) that are written as one word, KEY=VALUE,KEY=VALUE.
//
// Keys are the long options of PICK_OPTS and PICK_QUEUES_OPTS, values their arguments; those
// without an argument stand alone: "tree,pid=4711". Other commas are of the value: "pid=1,2". One
// within a value that would begin a condition, as in "cmdline=a,b=c", is written \,. As with the
// options, a repeated key and commas add up (prio is refused), different keys narrow each other
// down; several SPECs add up.
//
// A set of SPECs has a number for each: a class of the scheduler, a side of an experiment. A
// process that fits several numbers belongs to the lowest.
#pragma once

#include "common/pick/newcomers.h"
#include "common/pick/pick.h"
#include "common/pick/pick_queues.h"

struct pick_spec {
	struct pick_opts pick;
	struct pick_queues_opts queues;
	char *own; // owned; text that `pick` and `queues` point into
};

extern const struct opt pick_spec_keys[]; // the options of struct pick_spec

// Reads a SPEC, `text`, the argument of the option `option` ("--offline"). Returns GPQ_OK, or
// GPQ_USAGE after a message. Free *s with pick_spec_fini(), whatever is returned.
// Does the text behind a comma begin a condition? "KEY=" does, also with an unknown KEY, which is
// refused then, and a flag does: "tree".
bool pick_spec_begins(const char *text);
int pick_spec_parse(struct pick_spec *s, const char *option, const char *text);
void pick_spec_fini(struct pick_spec *s);

// Checks a SPEC, the argument of `option`, without a look at the host. *processes: does it choose
// among processes? Returns GPQ_OK, or the exit status after a message.
int spec_check(const char *option, const char *text, bool *processes);

struct spec_set {
	struct spec {
		size_t number;
		char *words; // owned; option and text as they were given
		size_t fits; // processes that have fitted, each as often as it was looked at
		const struct spec *taker; // the SPEC of a lower number that took the last of them
		bool taken;               // one has belonged to this number
		struct pick_spec spec;
		struct pick_queues queues;
		struct kfd_topology gpus; // the topology, with the GPUs of gpu= selected
	} * *v;                           // array and elements are owned; sorted by number
	size_t n, cap;
	bool later; // SPECs are not checked against the processes that there are now
};

// Adds a SPEC, the argument of `option`. Returns GPQ_OK, or the exit status after a message, also
// if the SPEC names only processes that have ended.
int spec_set_add(struct spec_set *s, size_t number, const char *option, const char *text);

// Adds a SPEC of the processes `pids`, each of which must be alive.
int spec_set_add_pids(struct spec_set *s, size_t number, const char *option,
		      const struct pids *pids);
bool spec_set_has(const struct spec_set *s, size_t number);
void spec_set_fini(struct spec_set *s);

// Looks at processes that have KFD open and are no parts of gpq. Calls `take` for each that fits a
// SPEC, with the selection among its queues, which `take` then owns; if `take` returns false, the
// process is looked at again later.
//
// With newcomers->again, `take` is called once a second for each process that it took before, too,
// with `again` true, as it may fit another SPEC now. One that fits none at two looks in a row has
// the number SPEC_NONE and no selection (NULL); but none is given up while a SPEC fails, nor one
// that `tree` chose, as the root of the tree may have ended.
//
// Returns GPQ_OK, or at the first look the exit status after a message if a SPEC fails. A SPEC that
// fails later chooses no process.
#define SPEC_NONE SIZE_MAX
int spec_set_look(const struct spec_set *s, struct newcomers *newcomers,
		  bool (*take)(void *arg, size_t number, pid_t pid, struct kfd_selection *sel,
			       bool again),
		  void *arg);

// Looks at processes that spec_set_look() does not see, as they have not opened KFD; none is taken.
struct spec_look {
	struct process_cache processes;
	struct pick *picks; // owned; NULL before the first process
};

// Returns the number, or SPEC_NONE. Free *l, which must be zeroed at first, with spec_look_fini().
size_t spec_set_number(const struct spec_set *s, struct spec_look *l, pid_t pid);
void spec_look_fini(struct spec_look *l, const struct spec_set *s);

// Names the SPECs that no process has fitted so far, in messages, and those all of whose processes
// belong to lower numbers.
void spec_set_name_unused(const struct spec_set *s);
