// Reads the indices of the members' queues; group.h.
#include "common/holder/group_priv.h"

#include "common/host/clock.h"

static void take_indices(struct group_member *m, const struct kfd_indices *now)
{
	if (memcmp(m->last->write, now->write, m->watch.n * sizeof(*now->write)) != 0 ||
	    kfd_watch_moved(&m->watch, m->last, now))
		m->moved_ns = clock_ns();
	memcpy(m->last->read, now->read, m->watch.n * sizeof(*now->read));
	memcpy(m->last->write, now->write, m->watch.n * sizeof(*now->write));
}

void member_look_at(struct group *g, struct group_member *m)
{
	struct memory_range v[2 * KFD_WATCH_MAX];
	struct kfd_indices now;
	if (m->look != LOOK_NONE || !m->watch.n)
		return;
	const unsigned n = kfd_watch_ranges(&m->watch, &now, true, v);
	if (g->nowait) {
		g->reader = g->reader ? g->reader : reader_new();
		if (memory_post(g->reader, &m->watch.memory, v, n, m))
			member_set_look(g, m, LOOK_POSTED);
		else if (errno == ETIMEDOUT)
			m->indices = INDICES_SILENT;
		return;
	}
	m->indices = memory_read_all(&m->watch.memory, v, n) ? INDICES_KNOWN
		     : errno == ETIMEDOUT                    ? INDICES_SILENT
							     : INDICES_UNKNOWN;
	if (m->indices == INDICES_KNOWN)
		take_indices(m, &now);
}

void member_forget_look(struct group *g, struct group_member *m)
{
	if (g->reader)
		reader_forget(g->reader, m);
	member_set_look(g, m, LOOK_NONE);
}

// Had the member work at the last look? Memory that does not answer counts as yes.
static bool member_has_work(const struct group_member *m)
{
	return m->watch.n &&
	       (m->indices == INDICES_SILENT ||
		(m->indices == INDICES_KNOWN && kfd_watch_backlog(&m->watch, m->last)));
}

// Has the member been idle for `idle_ns`? Without watched queues that is unknown: no.
bool member_stands_still(const struct group *g, const struct group_member *m)
{
	return g->idle_ns && m->watch.n && m->indices == INDICES_KNOWN && !member_has_work(m) &&
	       clock_ns() - m->moved_ns >= g->idle_ns;
}

// ---- `nowait`: answers to looks

static void decide_idle(struct group *g, struct group_member *m)
{
	if (!member_wanted(m))
		return;
	if (member_stands_still(g, m))
		m->place = MEMBER_IDLE;
	else if (m->state == MEMBER_READY)
		member_send(g, m, REQUEST_HOLD);
}

// Takes a look's answer. The first one after member_watch() drops queues that cannot be read.
static void take_look(struct group *g, struct group_member *m, const void *part, size_t len,
		      int error)
{
	static struct kfd_indices now;
	struct memory_range v[2 * KFD_WATCH_MAX];
	const unsigned n = kfd_watch_ranges(&m->watch, &now, true, v);
	const enum member_look was = m->look;
	const bool all = !error && memory_take(v, n, part, len);
	member_set_look(g, m, LOOK_NONE);
	if (error == ETIMEDOUT || (error && m->indices == INDICES_SILENT))
		m->indices = INDICES_SILENT;
	else
		m->indices = all ? INDICES_KNOWN : INDICES_UNKNOWN;
	if (!error && !all && m->fresh) {
		kfd_watch_keep(&m->watch, v);
		member_look_at(g, m);
	}
	m->fresh = false;
	if (all)
		take_indices(m, &now);
	if (was == LOOK_TO_DECIDE)
		decide_idle(g, m);
}

void group_take_looks(struct group *g)
{
	const void *part;
	size_t len;
	void *m;
	int error;
	while (g->reader && (part = reader_next(g->reader, &m, &len, &error)))
		take_look(g, m, part, len, error);
}

int group_reader_fd(const struct group *g)
{
	return g->reader ? reader_fd(g->reader) : -1;
}

// ---- which queues are watched

// Lets queues that were watched before keep the index at which counting began; new ones count from
// 0. The packets of queues that are gone are added to m->gone.
static void carry_over(struct group_member *m, const struct kfd_watch *now)
{
	const struct kfd_watch *old = &m->watch;
	uint64_t before = kfd_watch_packets(old, m->first, m->last), carried = 0;
	struct kfd_indices begin = {0};
	for (unsigned i = 0; i < now->n; i++)
		for (unsigned k = 0; k < old->n; k++) {
			const struct kfd_queue_entry *q = &now->queue[i], *was = &old->queue[k];
			if (q->queue_id != was->queue_id || q->gpu_id != was->gpu_id ||
			    q->read_pointer_address != was->read_pointer_address)
				continue;
			begin.read[i] = m->first->read[k];
			if (q->queue_type == KFD_SNAPSHOT_COMPUTE_AQL)
				carried += m->last->read[k] - m->first->read[k];
		}
	m->gone += before - carried;
	*m->first = *m->last = begin;
}

static void keep_readable(struct kfd_watch *w)
{
	struct memory_range v[2 * KFD_WATCH_MAX];
	struct kfd_indices any;
	memory_read_all(&w->memory, v, kfd_watch_ranges(w, &any, true, v));
	kfd_watch_keep(w, v);
}

void member_watch(struct group *g, struct group_member *m)
{
	struct kfd_watch now = {.memory = m->watch.memory};
	member_forget_look(g, m);
	kfd_watch_choose(&now, &m->link.answer);
	m->fresh = g->nowait;
	if (!g->nowait)
		keep_readable(&now);
	carry_over(m, &now);
	kfd_watch_clear(&m->watch);
	m->watch = now;
	member_look_at(g, m);
}

void member_unwatch(struct group *g, struct group_member *m)
{
	m->gone += kfd_watch_packets(&m->watch, m->first, m->last);
	member_forget_look(g, m);
	kfd_watch_fini(&m->watch);
}

// ---- looks at all members

void group_sample(struct group *g)
{
	for (size_t i = 0; i < g->n; i++)
		if (g->v[i]->state != MEMBER_ENDED)
			member_look_at(g, g->v[i]);
}

void group_look_at_idle(struct group *g)
{
	for (size_t i = 0; i < g->n; i++) {
		struct group_member *m = g->v[i];
		if (!member_wanted(m) || m->place != MEMBER_IDLE)
			continue;
		member_look_at(g, m);
		if (m->state == MEMBER_READY && member_has_work(m))
			member_send(g, m, REQUEST_HOLD);
	}
}

bool group_has_work(const struct group *g)
{
	for (size_t i = 0; i < g->n; i++)
		if (g->v[i]->state != MEMBER_ENDED && member_has_work(g->v[i]))
			return true;
	return false;
}

uint64_t group_work(const struct group *g)
{
	uint64_t gpus = 0;
	for (size_t i = 0; i < g->n; i++) {
		const struct group_member *m = g->v[i];
		if (m->state == MEMBER_ENDED || m->excused || !member_has_work(m))
			continue;
		if (m->indices == INDICES_SILENT || !g->bits)
			gpus |= m->gpus;
		for (unsigned k = 0; g->bits && m->indices == INDICES_KNOWN && k < m->watch.n; k++)
			if (m->last->write[k] != m->last->read[k])
				gpus |= gpu_bit(g->bits, m->watch.queue[k].gpu_id);
	}
	return gpus;
}

bool group_has_moved(struct group *g)
{
	group_sample(g);
	for (size_t i = 0; i < g->n; i++) {
		const struct group_member *m = g->v[i];
		const bool known = m->state != MEMBER_ENDED && m->indices == INDICES_KNOWN;
		for (unsigned k = 0; known && k < m->watch.n; k++)
			if (m->last->read[k])
				return true;
	}
	return false;
}

void group_count_begin(struct group *g)
{
	group_sample(g);
	for (size_t i = 0; i < g->n; i++) {
		if (g->v[i]->first)
			*g->v[i]->first = *g->v[i]->last;
		g->v[i]->gone = 0;
	}
}

bool group_count_end(struct group *g, uint64_t *packets)
{
	bool alive = false;
	*packets = 0;
	for (size_t i = 0; i < g->n; i++) {
		struct group_member *m = g->v[i];
		member_look_at(g, m);
		alive |= m->state != MEMBER_ENDED && kfd_target_alive(&m->target) &&
			 m->indices == INDICES_KNOWN;
		*packets += m->gone + kfd_watch_packets(&m->watch, m->first, m->last);
	}
	return alive;
}
