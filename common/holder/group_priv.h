// Private to common/holder/group*.c.
#ifndef GPQ_HOLDER_GROUP_PRIV_H
#define GPQ_HOLDER_GROUP_PRIV_H

#include "common/holder/group.h"

// ---- group.c

// The only ways in which the two states that `asked` counts change.
void member_enter(struct group *g, struct group_member *m, enum member_state state);
void member_set_look(struct group *g, struct group_member *m, enum member_look look);

// Sends a request of group_ask(); one at a time for each member.
void member_send(struct group *g, struct group_member *m, enum member_request what);

// ---- group_look.c

// Reads the indices into m->last, which keeps its content on failure. `nowait`: asks for them, and
// group_take_looks() takes the answer.
void member_look_at(struct group *g, struct group_member *m);
void member_forget_look(struct group *g, struct group_member *m);
void group_take_looks(struct group *g);

// Watches the queues of the holder's last answer.
void member_watch(struct group *g, struct group_member *m);
// Stops watching, of an address space that is gone.
void member_unwatch(struct group *g, struct group_member *m);

// By the last look: nothing to do, and no index moved for `idle_ns`.
bool member_stands_still(const struct group *g, const struct group_member *m);

#endif
