// SPECs: selectors (pick.h, pick_queues.h) that are written as one word, KEY=VALUE&KEY=VALUE.
//
// Keys are the long options of PICK_OPTS and PICK_QUEUES_OPTS, values their arguments; those
// without an argument stand alone: "tree&pid=4711". An & within a value is written \&. As with the
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
int pick_spec_parse(struct pick_spec *s, const char *option, const char *text);
void pick_spec_fini(struct pick_spec *s);

struct spec_set {
	struct spec {
		size_t number;
		struct pick_spec spec;
		struct pick_queues queues;
		struct kfd_topology gpus; // the topology, with the GPUs of gpu= selected
	} * *v;                           // array and elements are owned; sorted by number
	size_t n, cap;
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
// process is looked at again later. Returns GPQ_OK, or at the first look the exit status after a
// message if a SPEC fails. A SPEC that fails later chooses no process.
int spec_set_look(const struct spec_set *s, struct newcomers *newcomers,
		  bool (*take)(void *arg, size_t number, pid_t pid, struct kfd_selection *sel),
		  void *arg);
