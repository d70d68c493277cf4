// Sampling profiles of queues; see profile.h.
#include "common/why/profile.h"

#include "common/cli/stop.h"
#include "common/host/clock.h"
#include "common/host/root.h"
#include "common/reader/reader.h"

#include <search.h>

const char *profile_state_word(enum profile_state s)
{
	static const char *const words[PROFILE_STATES] = {
		[PROFILE_UNKNOWN] = "unknown",
		[PROFILE_RUNNING] = "running",
		[PROFILE_NEXT] = "next",
		[PROFILE_WAITS] = "waits",
		[PROFILE_UNPUBLISHED] = "not-published",
		[PROFILE_IDLE] = "idle",
		[PROFILE_OFF] = "off",
	};
	return words[s];
}

// --- names of kernels ---

static int compare_names(const void *a, const void *b)
{
	return strcmp(a, b);
}

// Keeps each name once, since sights are compared by the addresses of their texts.
static const char *keep_name(struct profile *p, const char *name)
{
	char **kept = tfind(name, &p->names, compare_names);
	return kept ? *kept : *(char **)xcheck(tsearch(xstrdup(name), &p->names, compare_names));
}

static const char *kernel_at_head(struct profile *p, struct profile_queue *q, uint64_t object)
{
	if (q->object != object || q->renamed != p->renamed) {
		const char *name = p->name(p->arg, q->x.q, object);
		q->kernel = name ? keep_name(p, name) : NULL;
		q->object = object;
		q->renamed = p->renamed;
	}
	return q->kernel;
}

// --- what a look shows of a queue ---

// Returns the packet at the head of the ring, or NULL if unknown. If the GPU took a packet during
// the look, that packet was the head.
static const struct packet *profile_head(const struct why_queue *x)
{
	if (x->next.type)
		return x->unsure ? NULL : &x->next;
	return x->last.type ? &x->last : NULL;
}

// Does a packet that is still to come have this completion signal?
static bool is_to_come(const struct profile *p, int64_t pid, uint64_t signal)
{
	bool found = false;
	for (size_t i = 0; i < p->n && !found; i++) {
		const struct ring_queue *r = p->v[i].x.q;
		struct ring_look l;
		if (!r || p->v[i].row.pid != pid)
			continue;
		ring_look(&r->ring, &p->rings->processes[r->process].memory, 0, PROFILE_SEARCH, &l);
		for (size_t k = 0; k < l.n; k++)
			found |= l.v[k].packet.completion == signal && l.v[k].state != RING_TAKEN;
		ring_look_fini(&l);
	}
	return found;
}

// Does the packet that was taken last still run? Its signal tells only while no other packet has
// the same signal, and runtimes reuse a signal once it is 0. Packets to come are searched once for
// each read index.
static bool last_still_runs(const struct profile *p, struct profile_queue *q)
{
	const struct why_queue *x = &q->x;
	const uint64_t signal = x->last.completion;
	if (!why_last_runs(x) || x->next.completion == signal)
		return false;
	for (size_t i = 0; i < p->n; i++) {
		const struct profile_queue *other = &p->v[i];
		if (other != q && other->x.q && other->row.pid == q->row.pid &&
		    (other->x.next.completion == signal || other->x.last.completion == signal))
			return false;
	}
	if (q->searched_at != x->now.read && is_to_come(p, q->row.pid, signal))
		q->done_at = x->now.read;
	q->searched_at = x->now.read;
	return x->now.read != q->done_at;
}

static enum profile_state profile_state_of(const struct profile *p, struct profile_queue *q)
{
	const struct why_queue *x = &q->x;
	if (x->problem)
		return PROFILE_UNKNOWN;
	if (q->off && x->now.read == q->off_at)
		return PROFILE_OFF;
	if (last_still_runs(p, q))
		return PROFILE_RUNNING;
	if (x->now.read == x->now.write)
		return PROFILE_IDLE;
	if (!profile_head(x))
		return PROFILE_UNKNOWN;
	if (x->next.type && x->next_state == RING_UNPUBLISHED)
		return PROFILE_UNPUBLISHED;
	// HIP waits for a stream by the barrier bit of a packet behind a kernel without a signal.
	const bool waits_for_last = x->next.barrier && !x->next.kernel_object &&
				    x->last.kernel_object && !x->last.completion;
	return x->blocked ? PROFILE_WAITS : waits_for_last ? PROFILE_RUNNING : PROFILE_NEXT;
}

static struct profile_sight sight_of(struct profile *p, struct profile_queue *q)
{
	struct profile_sight s = {.state = profile_state_of(p, q)};
	const struct packet *shown = s.state == PROFILE_RUNNING ? &q->x.last : profile_head(&q->x);
	if (s.state == PROFILE_RUNNING || s.state == PROFILE_NEXT || s.state == PROFILE_WAITS) {
		s.packet = shown->type;
		s.kernel = kernel_at_head(p, q, shown->kernel_object);
	}
	return s;
}

static bool is_same_sight(const struct profile_sight *a, const struct profile_sight *b)
{
	return a->state == b->state && a->packet == b->packet && a->kernel == b->kernel;
}

// Returns the index in q->v of the count of a sight, which is added if the sight is new.
static size_t count_of(struct profile_queue *q, const struct profile_sight *s)
{
	for (size_t i = 0; i < q->n; i++)
		if (is_same_sight(&q->v[i].what, s))
			return i;
	*ARRAY_ADD(q->v, q->cap, q->n) = (struct profile_count){.what = *s};
	return q->n - 1;
}

static void change_sight(struct profile *p, struct profile_queue *q, const struct profile_sight *s,
			 uint64_t now_ns)
{
	if (q->at != SIZE_MAX && s && is_same_sight(&q->v[q->at].what, s))
		return;
	if (q->at != SIZE_MAX && p->changes)
		p->changes(p->arg, q, now_ns);
	q->at = s ? count_of(q, s) : SIZE_MAX;
	q->since_ns = now_ns;
}

static void glance_all(struct profile *p)
{
	SCOPED(free_at) struct why_queue **v = xcalloc(p->n + 1, sizeof(struct why_queue *));
	size_t n = 0;
	for (size_t i = 0; i < p->n; i++)
		if (p->v[i].x.q)
			v[n++] = &p->v[i].x;
	why_glance(v, n, p->rings);
}

void profile_look(struct profile *p, uint64_t now_ns)
{
	p->looks++;
	p->end_ns = now_ns;
	glance_all(p);
	for (size_t i = 0; i < p->n; i++) {
		struct profile_queue *q = &p->v[i];
		if (q->x.q && q->x.has_last_value && q->x.last_value <= 0)
			q->done_at = q->x.now.read;
	}
	for (size_t i = 0; i < p->n; i++) {
		struct profile_queue *q = &p->v[i];
		if (!q->x.q)
			continue;
		q->unread += q->x.unread;
		if (q->x.problem == RING_UNREADABLE) {
			q->unreadable++;
			continue;
		}
		const struct profile_sight s = sight_of(p, q);
		change_sight(p, q, &s, now_ns);
		q->v[q->at].looks++;
	}
}

// --- which queues are looked at ---

// Is `q` the queue of this ring? Ring addresses are compared only if both are known.
static bool is_queue(const struct profile_queue *q, const struct ring_queue *r)
{
	const struct queue_row *row = r->row;
	const bool known = q->ring != MQD_UNKNOWN && r->ring.base != MQD_UNKNOWN;
	return q->row.pid == row->pid && q->row.gpu_id == row->gpu_id && q->row.qid == row->qid &&
	       q->row.context == row->context && (!known || q->ring == r->ring.base) &&
	       strcmp(q->comm, row->process.comm ? row->process.comm : "") == 0;
}

static struct profile_queue *queue_of(struct profile *p, const struct ring_queue *r)
{
	const struct queue_row *row = r->row;
	for (size_t i = 0; i < p->n; i++)
		if (is_queue(&p->v[i], r))
			return &p->v[i];
	struct profile_queue *q = ARRAY_ADD(p->v, p->cap, p->n);
	*q = (struct profile_queue){.row = *row,
				    .comm = xstrdup(row->process.comm ? row->process.comm : ""),
				    .type = row->type ? xstrdup(row->type) : NULL,
				    .ring = r->ring.base,
				    .x = {.unread = true},
				    .done_at = UINT64_MAX,
				    .searched_at = UINT64_MAX,
				    .at = SIZE_MAX};
	q->row.process.comm = *q->comm ? q->comm : NULL;
	q->row.type = q->type;
	return q;
}

// Counts the looks that could not read a queue as PROFILE_UNKNOWN, once it is known that the queue
// still exists.
static void count_unreadable(struct profile_queue *q)
{
	const struct profile_sight unknown = {.state = PROFILE_UNKNOWN};
	if (!q->unreadable)
		return;
	const size_t at = count_of(q, &unknown);
	q->v[at].looks += q->unreadable;
	q->unreadable = 0;
}

void profile_take(struct profile *p, const struct rings *r)
{
	const uint64_t now_ns = clock_ns();
	for (size_t i = 0; i < p->n; i++)
		p->v[i].x.q = NULL;
	p->rings = r;
	for (size_t i = 0; i < r->n; i++) {
		const struct queue_row *row = r->v[i].row;
		if (!r->v[i].chosen)
			continue;
		struct profile_queue *q = queue_of(p, &r->v[i]);
		q->x.q = &r->v[i];
		q->ring = r->v[i].ring.base;
		count_unreadable(q);
		q->off = row->on_hw == 0 || row->now.holder != INT64_MIN;
		why_glance(&(struct why_queue *){&q->x}, 1, r);
		q->off_at = q->x.now.read;
	}
	for (size_t i = 0; i < p->n; i++)
		if (!p->v[i].x.q) {
			change_sight(p, &p->v[i], NULL, now_ns);
			p->v[i].unreadable = 0;
		}
}

// --- the run of a profile ---

static uint64_t later_ns(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

// Processor time of gpq and of the children that read for it.
static uint64_t profile_cpu_ns(void)
{
	return clock_cpu_ns() + reader_cpu_ns(NULL);
}

uint64_t profile_due(uint64_t begin_ns, uint64_t looked_ns, uint64_t now_ns, uint64_t cpu_ns)
{
	const uint64_t due = later_ns(looked_ns + PROFILE_LOOK_NS, begin_ns + cpu_ns * 50);
	return due < now_ns + PROFILE_REST_NS ? due : now_ns + PROFILE_REST_NS;
}

void profile_run(struct profile *p, uint64_t for_ns, void (*scan)(void *arg))
{
	const uint64_t cpu = profile_cpu_ns(), begin = clock_ns(), end = begin + for_ns;
	uint64_t now = begin, scan_at = begin + PROFILE_SCAN_NS;
	p->begin_ns = begin;
	while (now < end && !stop_asked()) {
		if (scan && now >= scan_at) {
			const uint64_t before = profile_cpu_ns();
			scan(p->arg);
			// The search for queues takes at most 1 % of the time.
			scan_at =
				now + later_ns(PROFILE_SCAN_NS, 100 * (profile_cpu_ns() - before));
			now = clock_ns();
		}
		profile_look(p, now);
		p->cpu_ns = profile_cpu_ns() - cpu;
		if (!host_is_live())
			return;
		const uint64_t due = profile_due(begin, now, clock_ns(), p->cpu_ns);
		stop_sleep(due < end ? due : end);
		p->end_ns = now = clock_ns();
	}
	for (size_t i = 0; i < p->n && scan; i++)
		if (p->v[i].x.q && p->v[i].unreadable) { // an unreadable queue may have ended
			scan(p->arg);
			break;
		}
}

static int by_looks(const void *a, const void *b)
{
	const struct profile_count *x = a, *y = b;
	int r = ORDER(y->looks, x->looks);
	r = r ? r : ORDER(x->what.state, y->what.state);
	r = r ? r
	      : strcmp(x->what.packet ? x->what.packet : "", y->what.packet ? y->what.packet : "");
	return r ? r
		 : strcmp(x->what.kernel ? x->what.kernel : "",
			  y->what.kernel ? y->what.kernel : "");
}

void profile_finish(struct profile *p)
{
	for (size_t i = 0; i < p->n; i++) {
		struct profile_queue *q = &p->v[i];
		change_sight(p, q, NULL, p->end_ns);
		if (q->x.q)
			count_unreadable(q);
		ARRAY_SORT(q->v, q->n, by_looks);
	}
}

void profile_fini(struct profile *p)
{
	for (size_t i = 0; i < p->n; i++) {
		free(p->v[i].comm);
		free(p->v[i].type);
		free(p->v[i].v);
	}
	tdestroy(p->names, free);
	free(p->v);
	*p = (struct profile){0};
}
