// The selector in one word: KEY=VALUE&KEY=VALUE, for options that take a whole selector.
//
// Keys are the long options of PICK_OPTS and PICK_QUEUES_OPTS, values their arguments; those
// without an argument stand alone: "tree&pid=4711". An & within a value is written \&. As with the
// options, a repeated key and commas add up (prio is refused), different keys narrow each other
// down; several specs add up.
#ifndef GPQ_PICK_PICK_SPEC_H
#define GPQ_PICK_PICK_SPEC_H

#include "common/pick/pick.h"
#include "common/pick/pick_queues.h"

struct pick_spec {
	struct pick_opts pick;
	struct pick_queues_opts queues;
	char *text; // as given
	char *own;  // what `pick` and `queues` point into
};

// Reads `text`, the argument of the option `option` ("--offline"). GPQ_OK, or GPQ_USAGE after a
// message. Free with pick_spec_fini(), whatever is returned.
int pick_spec_parse(struct pick_spec *s, const char *option, const char *text);
void pick_spec_fini(struct pick_spec *s);

#endif
