// Processes that SPECs (pick_spec.h) choose for something numbered: a class of the scheduler, a
// side of an experiment. A process that fits several numbers belongs to the lowest.
#ifndef GPQ_PICK_SPEC_SET_H
#define GPQ_PICK_SPEC_SET_H

#include "common/pick/newcomers.h"
#include "common/pick/pick_spec.h"

#include <stdbool.h>
#include <stddef.h>

struct spec_set {
	struct spec {
		size_t number;
		struct pick_spec spec;
		struct pick_queues queues;
		struct kfd_topology gpus; // with those of the spec selected
	} * *v;                           // owned, each; by number
	size_t n, cap;
};

// Adds a SPEC, the argument of `option`. GPQ_OK, or the exit status after a message; what chooses
// nothing now and cannot later (a process that is no more) is an error.
int spec_set_add(struct spec_set *s, size_t number, const char *option, const char *text);

// Adds processes by PID; each must be alive.
int spec_set_add_pids(struct spec_set *s, size_t number, const char *option,
		      const struct pids *pids);
bool spec_set_has(const struct spec_set *s, size_t number);
void spec_set_fini(struct spec_set *s);

// Looks at processes that have KFD open and are no parts of gpq. Calls `take` for each that fits a
// SPEC, with its selection among its queues, which `take` then owns; if `take` returns false, the
// process is looked at again later. GPQ_OK; at the first look, the exit status after a message if a
// SPEC fails. A SPEC that fails later chooses nobody.
int spec_set_look(const struct spec_set *s, struct newcomers *newcomers,
		  bool (*take)(void *arg, size_t number, pid_t pid, struct kfd_selection *sel),
		  void *arg);

#endif
