// Counting equal waves; groups.h.
#include "common/waves/groups.h"

// The waves of a dispatch, over all looks.
struct wave_cluster {
	struct wave_seen one; // one of them
	uint64_t who,
		where; // in the first look; sums of hashes, in which order counts nothing
	uint64_t pc_low, pc_high;
	unsigned looks; // with waves of it
	bool changed;   // others were seen than in the first look
	bool elsewhere; // at other instructions
};

// --- order ---

static int by_dispatch(const struct wave_seen *x, const struct wave_seen *y)
{
	int r = ORDER(x->queue, y->queue);
	r = r ? r : ORDER(x->w.placed, y->w.placed);
	return r ? r : ORDER(x->w.packet, y->w.packet);
}

static unsigned state_of(const struct wave *w)
{
	return w->stopped * 4u + w->halted * 2u + w->in_barrier;
}

// Waves that are equal by this order are one group.
static int by_place(const struct wave_seen *x, const struct wave_seen *y)
{
	int r = by_dispatch(x, y);
	r = r ? r : ORDER(x->w.pc, y->w.pc);
	r = r ? r : ORDER(x->w.why, y->w.why);
	return r ? r : ORDER(state_of(&x->w), state_of(&y->w));
}

static int by_workgroup(const struct wave_seen *x, const struct wave_seen *y)
{
	int r = by_dispatch(x, y);
	for (int i = 0; i < 3 && !r; i++)
		r = ORDER(x->w.group[i], y->w.group[i]);
	return r;
}

static int order_waves(const void *a, const void *b)
{
	const int r = by_place(a, b);
	return r ? r : by_workgroup(a, b);
}

static bool at_barrier(const struct wave_seen *s)
{
	return s->w.in_barrier || s->at == WAVE_AT_BARRIER;
}

// In a workgroup, the waves at a barrier are the last ones.
static int order_workgroups(const void *a, const void *b)
{
	const int r = by_workgroup(a, b);
	return r ? r : ORDER(at_barrier(a), at_barrier(b));
}

static int order_groups(const void *a, const void *b)
{
	return by_place(&((const struct wave_group *)a)->one, &((const struct wave_group *)b)->one);
}

static int order_clusters(const void *a, const void *b)
{
	return by_dispatch(&((const struct wave_cluster *)a)->one,
			   &((const struct wave_cluster *)b)->one);
}

// --- dispatches ---

static uint64_t mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15ULL;
	return h ^ h >> 29;
}

static uint64_t hash_wave(const struct wave *w)
{
	uint64_t h = 1;
	for (int i = 0; i < 3 && w->placed; i++)
		h = mix(h, w->group[i]);
	return w->placed ? mix(h, w->in_group) : h;
}

// `n`: how many of the clusters are in order.
static struct wave_cluster *find_cluster(struct wave_groups *g, size_t n, const struct wave_seen *s)
{
	const struct wave_cluster key = {.one = *s};
	const size_t at = ARRAY_BELOW(g->clusters, n, &key, order_clusters);
	return at < n && order_clusters(&g->clusters[at], &key) == 0 ? &g->clusters[at] : NULL;
}

// Adds waves of one dispatch. Waves that come to the same sums are held to be the same.
static void add_cluster(struct wave_groups *g, size_t old, const struct wave_seen *v, size_t n)
{
	struct wave_cluster now = {.one = *v, .pc_low = UINT64_MAX}, *c = find_cluster(g, old, v);
	for (size_t i = 0; i < n; i++) {
		const uint64_t who = hash_wave(&v[i].w);
		now.who += who;
		now.where += mix(who, v[i].w.pc);
		now.pc_low = v[i].w.pc < now.pc_low ? v[i].w.pc : now.pc_low;
		now.pc_high = v[i].w.pc > now.pc_high ? v[i].w.pc : now.pc_high;
	}
	if (!c) {
		c = ARRAY_ADD(g->clusters, g->clusters_cap, g->nclusters);
		*c = now;
	}
	c->looks++;
	c->changed |= now.who != c->who;
	c->elsewhere |= now.where != c->where || (!v->w.placed && v->read != c->one.read);
	c->pc_low = now.pc_low < c->pc_low ? now.pc_low : c->pc_low;
	c->pc_high = now.pc_high > c->pc_high ? now.pc_high : c->pc_high;
}

static enum wave_progress progress_of(const struct wave_cluster *c, unsigned looks)
{
	if (looks == 1)
		return WAVES_SEEN_ONCE;
	if (c->changed || c->looks != looks)
		return WAVES_MOVE;
	if (!c->elsewhere)
		return WAVES_STAND;
	return c->one.w.placed ? WAVES_LOOP : WAVES_GO_ON;
}

// --- groups ---

// Adds how many waves are missing at the barrier where `v` waits: of its workgroup, those that are
// elsewhere. `all`: waves of the look in the order of order_workgroups().
static void count_missing(struct wave_group *x, const struct wave_seen *v,
			  const struct wave_seen *all, size_t n)
{
	struct wave_seen elsewhere = *v;
	elsewhere.w.in_barrier = false;
	elsewhere.at = WAVE_AT_OTHER;
	const size_t begin = ARRAY_BELOW(all, n, &elsewhere, order_workgroups),
		     end = ARRAY_BELOW(all, n, v, order_workgroups);
	x->missing += end - begin;
	if (end > begin)
		x->missing_pc = all[end - 1].w.pc;
}

// Adds `n` waves that are equal by by_place(), sorted by workgroup. `old`: how many groups are in
// order; those that are new to this look come behind them.
static void add_group(struct wave_groups *g, size_t old, const struct wave_seen *v, size_t n,
		      const struct wave_seen *all, size_t nall)
{
	const struct wave_group key = {.one = *v};
	size_t at = ARRAY_BELOW(g->v, old, &key, order_groups);
	if (at == old || order_groups(&g->v[at], &key) != 0) {
		at = g->n;
		*ARRAY_ADD(g->v, g->cap, g->n) = key;
	}
	struct wave_group *x = &g->v[at];
	x->one = *v;
	x->waves = n;
	x->looks++;
	x->seen += n;
	for (size_t i = 0; i < n; i++) {
		x->lanes |= v[i].w.exec;
		if (v[i].record)
			x->one = v[i];
		if (i && by_workgroup(&v[i - 1], &v[i]) == 0)
			continue;
		x->workgroups++;
		if (at_barrier(&v[i]) && v[i].w.placed)
			count_missing(x, &v[i], all, nall);
	}
	if (!v->w.placed)
		x->workgroups = UINT64_MAX;
}

static void begin_look(struct wave_groups *g)
{
	size_t n = 0;
	for (size_t i = 0; i < g->n; i++)
		if (g->profile || g->v[i].waves)
			g->v[n++] = g->v[i];
	g->n = n;
	for (size_t i = 0; i < n; i++)
		g->v[i].waves = g->v[i].workgroups = g->v[i].lanes = g->v[i].missing = 0;
}

void wave_groups_add(struct wave_groups *g, struct wave_seen *v, size_t n)
{
	SCOPED(free_at) struct wave_seen *all = xcalloc(n + 1, sizeof(*all));
	for (size_t i = 0; i < n; i++) {
		if (g->profile)
			v[i].w.packet = 0;
		all[i] = v[i];
	}
	ARRAY_SORT(v, n, order_waves);
	ARRAY_SORT(all, n, order_workgroups);
	begin_look(g);
	const size_t old_groups = g->n, old_clusters = g->nclusters;
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && by_dispatch(&v[i], &v[end]) == 0;)
			end++;
		add_cluster(g, old_clusters, &v[i], end - i);
	}
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && by_place(&v[i], &v[end]) == 0;)
			end++;
		add_group(g, old_groups, &v[i], end - i, all, n);
	}
	ARRAY_SORT(g->clusters, g->nclusters, order_clusters);
	ARRAY_SORT(g->v, g->n, order_groups);
	for (size_t i = 0; i < g->n; i++) {
		const struct wave_cluster *c = find_cluster(g, g->nclusters, &g->v[i].one);
		g->v[i].progress = progress_of(c, g->looks[c->one.queue]);
		g->v[i].pc_low = c->pc_low;
		g->v[i].pc_high = c->pc_high;
	}
}

void wave_groups_fini(struct wave_groups *g)
{
	free(g->v);
	free(g->clusters);
	*g = (struct wave_groups){0};
}
