// Numbers of threads (see threads.h). Facts: amd-log-facts.md sections 2 and 11.
#include "common/amdlog/read/threads.h"

#include <stdlib.h>

struct key {
	int64_t pid;
	uint64_t tid;
	uint64_t source;
};

static uint32_t add(struct amdlog_threads *t, const struct amdlog_who *who, bool *fresh)
{
	struct key key = {who->pid, who->tid, who->source};
	uint32_t n = intern_put(&t->keys, &key, sizeof(key), fresh);

	if (n == INTERN_NONE)
		return 0;
	if (!*fresh)
		return n;
	if (n >= t->cap) {
		uint32_t cap = t->cap ? t->cap * 2 : 16;
		struct amdlog_who *v = realloc(t->v, cap * sizeof(*v));

		if (!v)
			return 0;
		t->v = v;
		t->cap = cap;
	}
	t->v[n] = *who;
	t->n = n + 1;
	return n;
}

bool threads_init(struct amdlog_threads *t)
{
	// Number 0 takes all that find no place.
	const struct amdlog_who rest = {-1, AMDLOG_UNKNOWN, UINT32_MAX, 0};
	bool fresh;

	*t = (struct amdlog_threads){.assumed = -1};
	t->keys.max_entries = t->by_tid.max_entries = AMDLOG_WHO_MAX;
	add(t, &rest, &fresh);
	return t->n == 1;
}

void threads_fini(struct amdlog_threads *t)
{
	intern_fini(&t->keys);
	intern_fini(&t->by_tid);
	free(t->v);
}

uint32_t threads_number(struct amdlog_threads *t, const struct amdlog_writer *w)
{
	int64_t pid = w->pid < 0 ? t->assumed : w->pid;
	struct amdlog_who who = {pid, w->tid, pid < 0 ? t->source : 0, 0};
	uint64_t key[2] = {w->tid, t->source};
	uint32_t n = INTERN_NONE, before = t->n;
	bool fresh = false;

	if (pid < 0 && w->tid != AMDLOG_UNKNOWN)
		n = intern_value(&t->by_tid, key, sizeof(key));
	if (n != INTERN_NONE)
		return n;
	n = add(t, &who, &fresh);
	// Releases up to 4.5 print some lines with the thread alone.
	if (t->n != before && w->old && pid >= 0)
		intern_set(&t->by_tid, key, sizeof(key), n);
	return n;
}
