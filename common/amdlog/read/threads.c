// Numbers of threads (see scan.h). Facts: amd-log-facts.md sections 2 and 11.
#include "common/amdlog/read/scan.h"

#include "common/host/buf.h"

#include <stdlib.h>

struct key {
	int64_t pid;
	uint64_t tid;
	uint64_t source;
};

static uint32_t add(struct amdlog_threads *t, const struct amdlog_thread_id *id)
{
	struct key key = {id->pid, id->tid, id->source};
	uint32_t n = intern_put(&t->keys, &key, sizeof(key));

	if (n < t->n)
		return n;
	if (n > t->n)
		return 0;
	ARRAY_GROW(t->v, t->cap, n);
	t->v[t->n++] = *id;
	return n;
}

void threads_init(struct amdlog_threads *t)
{
	// Number 0 takes all that find no place.
	const struct amdlog_thread_id rest = {-1, AMDLOG_UNKNOWN, UINT32_MAX, 0};

	*t = (struct amdlog_threads){.assumed = -1};
	t->keys.max_entries = t->by_tid.max_entries = AMDLOG_THREADS_MAX;
	add(t, &rest);
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
	struct amdlog_thread_id id = {pid, w->tid, pid < 0 ? t->source : 0, 0};
	uint32_t n = INTERN_NONE, before = t->n;

	if (pid < 0 && w->tid != AMDLOG_UNKNOWN)
		n = pair_value(&t->by_tid, w->tid, t->source);
	if (n != INTERN_NONE)
		return n;
	n = add(t, &id);
	// Releases up to 4.5 print some lines with the thread alone.
	if (t->n != before && w->old && pid >= 0)
		pair_set(&t->by_tid, w->tid, t->source, n);
	return n;
}
