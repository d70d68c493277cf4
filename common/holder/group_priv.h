// Private to common/holder/group*.c.
#pragma once

#include "common/holder/group.h"

// ---- group.c

// Set m->state or m->look, and keep the count g->asked up to date.
void member_enter(struct group *g, struct group_member *m, enum member_state state);
void member_set_look(struct group *g, struct group_member *m, enum member_look look);

// Where is the member to be suspended? Nowhere if it has no queues on any of these GPUs.
uint64_t member_wanted(const struct group_member *m);

// Sends a request of group_ask(). A member has at most one request on its way.
void member_send(struct group *g, struct group_member *m, enum member_request what);

// ---- group_look.c

// Reads the indices of the member's queues into m->last, which stays as it is on failure. `nowait`:
// asks the reader for them, and group_take_looks() takes its answer.
void member_look_at(struct group *g, struct group_member *m);
void member_forget_look(struct group *g, struct group_member *m);
void group_take_looks(struct group *g);

// Watches the queues of the holder's last answer.
void member_watch(struct group *g, struct group_member *m);
// Stops watching a member's queues, as its address space is gone.
void member_unwatch(struct group *g, struct group_member *m);

// Had the member nothing to do at the last look, and has no index moved for `idle_ns`?
bool member_stands_still(const struct group *g, const struct group_member *m);
