// Adding up parts of logs; partial.h.
//
// What amdlog_summary_add does record by record is done here part by part: every row of the part
// finds its row in the sum; what the part left open is settled by what the sum knows; then the
// sum's state becomes what the part left.
#include "common/amdlog/merge/partial.h"
#include "common/amdlog/model/summary_priv.h"

#include <stdlib.h>
#include <string.h>

// Rows of the part -> rows of the sum.
struct merge_map {
	uint32_t *process, *thread, *queue, *kernel, *api;
	uint32_t *all;
};

struct adding {
	struct amdlog_merge *m;
	struct amdlog_summary *to;
	const struct amdlog_summary *from;
	struct merge_map map;
	bool failed;
};

void amdlog_merge_init(struct amdlog_merge *m)
{
	const struct amdlog_filter none = {.until_us = AMDLOG_UNKNOWN};

	*m = (struct amdlog_merge){0};
	amdlog_summary_init(&m->sum, &none);
}

void amdlog_merge_fini(struct amdlog_merge *m)
{
	amdlog_summary_fini(&m->sum);
	amdlog_streams_fini(&m->streams);
	intern_fini(&m->hosts);
	intern_fini(&m->threads);
	intern_fini(&m->tids);
}

static bool map_new(struct merge_map *map, const struct amdlog_summary *s)
{
	size_t n = (size_t)s->nprocesses + s->nthreads + s->nqueues + s->nkernels + s->napis;

	map->all = malloc((n ? n : 1) * sizeof(uint32_t));
	if (!map->all)
		return false;
	map->process = map->all;
	map->thread = map->process + s->nprocesses;
	map->queue = map->thread + s->nthreads;
	map->kernel = map->queue + s->nqueues;
	map->api = map->kernel + s->nkernels;
	return true;
}

static uint32_t mapped(const uint32_t *map, uint32_t i)
{
	return i == AMDLOG_NONE ? AMDLOG_NONE : map[i];
}

// --- rows ---

// Records without a pid belong to their file. Those that found no place (source UINT32_MAX) do not.
static struct amdlog_who who_in(const struct amdlog_merge *m, const struct amdlog_process *p,
				uint64_t tid)
{
	uint32_t source = p->source == UINT32_MAX ? p->source : p->pid < 0 ? m->files : 0;

	return (struct amdlog_who){.pid = p->pid, .tid = tid, .source = source, .host = m->host};
}

// Up to 4.5 some lines have the tid alone; an earlier part may know whose it is.
static uint32_t owner_of_tid(const struct adding *a, uint64_t tid)
{
	struct pair key = {tid, a->m->files};

	return tid == AMDLOG_UNKNOWN ? AMDLOG_NONE : intern_value(&a->m->tids, &key, sizeof(key));
}

static void map_processes(struct adding *a)
{
	for (uint32_t i = 0; i < a->from->nprocesses; i++) {
		const struct amdlog_process *p = &a->from->processes[i];
		struct amdlog_who who = who_in(a->m, p, AMDLOG_UNKNOWN);
		uint32_t owner = p->pid < 0 ? owner_of_tid(a, p->tid) : AMDLOG_NONE;

		a->map.process[i] = owner == AMDLOG_NONE ? process_of(a->to, &who)
							 : a->to->threads[owner].process;
		a->failed |= a->map.process[i] == AMDLOG_NONE;
	}
}

static uint32_t thread_in(struct adding *a, const struct amdlog_thread *t)
{
	const struct amdlog_process *p = &a->to->processes[a->map.process[t->process]];
	struct amdlog_who who = {p->pid, t->who.tid, p->source, p->host};
	struct pair key = {a->map.process[t->process], t->who.tid}, tid = {t->who.tid, a->m->files};
	uint32_t n = intern_value(&a->m->threads, &key, sizeof(key));

	if (n != INTERN_NONE)
		return n;
	n = thread_new(a->to, &who);
	if (n == AMDLOG_NONE || !intern_set(&a->m->threads, &key, sizeof(key), n))
		return AMDLOG_NONE;
	if (p->pid >= 0)
		intern_set(&a->m->tids, &tid, sizeof(tid), n);
	return n;
}

static void add_thread(struct adding *a, uint32_t i)
{
	const struct amdlog_thread *t = &a->from->threads[i];
	uint32_t n = a->map.thread[i] = thread_in(a, t);
	struct amdlog_thread *to;

	if (n == AMDLOG_NONE) {
		a->failed = true;
		return;
	}
	to = &a->to->threads[n];
	to->records += t->records;
	to->launches += t->launches;
	to->dispatches += t->dispatches;
	to->barriers += t->barriers;
	to->api_calls += t->api_calls;
	to->api_errors += t->api_errors;
	span_merge(&to->span, &t->span);
}

// By its ring, else by its handle, as queue lines are placed.
static uint32_t queue_in(struct adding *a, const struct amdlog_queue *q)
{
	struct pair ring = {a->map.process[q->process], q->hwq}, handle = {ring.a, q->swq};
	struct amdlog_summary *s = a->to;
	bool has_ring = q->hwq != AMDLOG_UNKNOWN;
	uint32_t n = has_ring ? intern_value(&s->by_ring, &ring, sizeof(ring))
			      : intern_value(&s->by_handle, &handle, sizeof(handle));

	// A part that saw no packets took a ring for a handle; up to 5.4 they are the same.
	if (n == INTERN_NONE && has_ring)
		n = intern_value(&s->by_handle, &ring, sizeof(ring));
	else if (n == INTERN_NONE)
		n = intern_value(&s->by_ring, &handle, sizeof(handle));
	if (n == INTERN_NONE)
		n = queue_new(s, a->map.process[q->process]);
	if (n == AMDLOG_NONE)
		return n;
	if (has_ring) {
		s->queues[n].hwq = q->hwq;
		intern_set(&s->by_ring, &ring, sizeof(ring), n);
		s->queues[n].swq = q->swq != AMDLOG_UNKNOWN ? q->swq : s->queues[n].swq;
	} else if (s->queues[n].hwq == AMDLOG_UNKNOWN) {
		s->queues[n].swq = q->swq;
		intern_set(&s->by_handle, &handle, sizeof(handle), n);
	}
	return n;
}

static void least(uint64_t *to, uint64_t from)
{
	*to = from < *to ? from : *to;
}

static void most(uint64_t *to, uint64_t from)
{
	*to = from > *to ? from : *to;
}

static void add_queue(struct adding *a, uint32_t i)
{
	const struct amdlog_queue *q = &a->from->queues[i];
	uint32_t n = a->map.queue[i] = queue_in(a, q);
	struct amdlog_queue *to;

	if (n == AMDLOG_NONE) {
		a->failed = true;
		return;
	}
	to = &a->to->queues[n];
	to->ids_differ |= q->ids_differ || (to->id >= 0 && q->id >= 0 && to->id != q->id);
	to->id = q->id >= 0 ? q->id : to->id;
	if (q->made) {
		to->made = true;
		to->priority = q->priority;
		to->size = q->size;
	}
	to->created_us = to->created ? to->created_us : q->created_us;
	to->deleted_us = q->deleted ? q->deleted_us : to->deleted_us;
	to->created += q->created;
	to->deleted += q->deleted;
	to->records += q->records;
	to->dispatches += q->dispatches;
	to->barriers += q->barriers;
	to->barrier_values += q->barrier_values;
	to->torn += q->torn;
	span_merge(&to->span, &q->span);
	most(&to->backlog_max, q->backlog_max);
	to->backlog_sum += q->backlog_sum;
	to->backlog_n += q->backlog_n;
	to->inversions += q->inversions;
	least(&to->rptr_min, q->rptr_min);
	most(&to->rptr_max, q->rptr_max);
	least(&to->wptr_min, q->wptr_min);
	most(&to->wptr_max, q->wptr_max);
}

static void add_kernel(struct adding *a, uint32_t i)
{
	const struct amdlog_kernel *k = &a->from->kernels[i];
	uint32_t n = a->map.kernel[i] =
		kernel_named(a->to, k->name, k->len, intern_hash(k->name, k->len));
	struct amdlog_kernel *to;

	if (n == AMDLOG_NONE) {
		a->to->no_memory = true;
		return;
	}
	to = &a->to->kernels[n];
	to->launches += k->launches;
	to->dispatches += k->dispatches;
	shapes_merge(&to->grid, &k->grid);
	shapes_merge(&to->workgroup, &k->workgroup);
	span_merge(&to->span, &k->span);
}

static void add_api(struct adding *a, uint32_t i)
{
	const struct amdlog_api *p = &a->from->apis[i];
	uint32_t n = a->map.api[i] = api_named(a->to, p->name, p->len);
	struct amdlog_api *to;
	struct hist h;

	if (n == AMDLOG_NONE) {
		a->to->no_memory = true;
		return;
	}
	to = &a->to->apis[n];
	to->calls += p->calls;
	to->returns += p->returns;
	to->errors += p->errors;
	to->timed += p->timed;
	to->total_us += p->total_us;
	most(&to->max_us, p->max_us);
	if (keyed_histogram_get(&a->from->api_times, i, &h))
		keyed_histogram_put(&a->to->api_times, n, &h);
}

static void add_errors(struct adding *a)
{
	const struct amdlog_errors *e = &a->from->errors;

	for (uint32_t i = 0; i < e->n; i++)
		amdlog_errors_merge(&a->to->errors, a->map.process[e->v[i].process], &e->v[i]);
	a->to->errors.left_out += e->left_out;
}

static void add_totals(struct adding *a)
{
	const struct amdlog_totals *f = &a->from->totals;
	struct amdlog_totals *t = &a->to->totals;
	struct amdlog_summary *s = a->to;

	for (unsigned i = 0; i < AMDLOG_NKINDS; i++)
		t->kinds[i] += f->kinds[i];
	for (unsigned i = 0; i < AMDLOG_NSTYLES; i++)
		t->styles[i] += f->styles[i];
	for (unsigned i = 0; i < 10; i++)
		t->levels[i] += f->levels[i];
	t->records += f->records;
	t->torn += f->torn;
	t->unnamed += f->unnamed;
	t->no_pointers += f->no_pointers;
	t->inversions += f->inversions;
	t->api_errors += f->api_errors;
	t->strays += f->strays;
	t->steps_back += f->steps_back;
	if (a->from->first_us != AMDLOG_UNKNOWN) {
		t->steps_back += a->from->first_us < s->last_us;
		s->last_us = a->from->last_us;
	}
	t->several_versions |= f->several_versions || (*f->hip_version && *t->hip_version &&
						       strcmp(f->hip_version, t->hip_version) != 0);
	if (*f->hip_version)
		memcpy(t->hip_version, f->hip_version, sizeof(t->hip_version));
	s->seen_swq |= a->from->seen_swq;
	s->no_memory |= a->from->no_memory;
	s->want_api |= a->from->want_api;
}

// --- what was open ---

static void run_on(struct amdlog_summary *s, uint32_t process, uint32_t queue, uint32_t kernel)
{
	struct amdlog_kernel *k = &s->kernels[kernel];

	if (pair_is_new(&s->process_kernels, process, kernel)) {
		k->processes++;
		s->processes[process].kernels++;
	}
	if (queue != AMDLOG_NONE && pair_is_new(&s->queue_kernels, queue, kernel)) {
		s->queues[queue].kernels++;
		k->queues++;
	}
}

// The kernel of a dispatch that the part could not name: what its thread had named, else what the
// kernel_obj was called by then.
static uint32_t kernel_of(const struct adding *a, const struct amdlog_open *o)
{
	struct pair key = {a->map.process[o->process], o->object};
	const struct amdlog_thread *from = NULL;
	uint32_t kernel = AMDLOG_NONE;

	if (o->thread != AMDLOG_NONE) {
		from = &a->from->threads[o->thread];
		kernel = a->to->threads[a->map.thread[o->thread]].kernel;
		if (kernel == AMDLOG_NONE)
			kernel = mapped(a->map.kernel, from->head_kernel);
	}
	return kernel == AMDLOG_NONE && o->object != AMDLOG_UNKNOWN
		       ? intern_value(&a->to->by_object, &key, sizeof(key))
		       : kernel;
}

static void settle_dispatch(struct adding *a, const struct amdlog_open *o)
{
	uint32_t kernel = kernel_of(a, o);
	struct amdlog_kernel *k;

	if (kernel == AMDLOG_NONE)
		return;
	k = &a->to->kernels[kernel];
	a->to->totals.unnamed -= o->n;
	k->dispatches += o->n;
	span_merge(&k->span, &o->span);
	shapes_merge(&k->grid, &o->grid);
	shapes_merge(&k->workgroup, &o->workgroup);
	run_on(a->to, a->map.process[o->process], mapped(a->map.queue, o->queue), kernel);
}

static void settle_value(struct adding *a, const struct amdlog_open *o)
{
	uint32_t n = queue_of_value(a->to, a->map.process[o->process], o->object);
	struct amdlog_queue *q;

	if (n == AMDLOG_NONE)
		return;
	q = &a->to->queues[n];
	a->to->totals.strays -= o->n;
	a->to->totals.no_pointers += o->n;
	q->records += o->n;
	q->barrier_values += o->n;
	q->torn += o->torn;
	span_merge(&q->span, &o->span);
}

// The first dispatch of a thread tells what the kernel_obj is called.
static void settle_object(struct adding *a, const struct amdlog_thread *t,
			  const struct amdlog_thread *to)
{
	struct pair key = {to->process, t->head_object};

	if (t->head_dispatch && to->kernel != AMDLOG_NONE && t->head_object != AMDLOG_UNKNOWN)
		intern_set(&a->to->by_object, &key, sizeof(key), to->kernel);
}

static void settle_stream(struct adding *a, const struct amdlog_thread *t,
			  const struct amdlog_thread *to)
{
	uint32_t line = mapped(a->map.queue, t->head_line);

	if (line != AMDLOG_NONE && !to->creating && !to->by_command)
		stream_made_on(a->to, to->process, to->stream, line);
	if (t->head_made != AMDLOG_UNKNOWN && to->creating)
		stream_made_on(a->to, to->process, t->head_made,
			       line != AMDLOG_NONE ? line : to->queue);
}

static void settle_writes(struct adding *a)
{
	for (uint32_t i = 0; i < a->from->head_streams.n; i++) {
		struct pair p;

		memcpy(&p, a->from->head_streams.entries[i].bytes, sizeof(p));
		const struct amdlog_thread *t = &a->to->threads[a->map.thread[p.a]];

		if (t->stream != AMDLOG_UNKNOWN && (t->by_command || p.b & 1))
			stream_wrote_to(a->to, t->stream, a->map.queue[p.b >> 1]);
	}
}

static void settle(struct adding *a)
{
	for (uint32_t i = 0; i < a->from->nthreads; i++) {
		const struct amdlog_thread *t = &a->from->threads[i];
		const struct amdlog_thread *to = &a->to->threads[a->map.thread[i]];

		settle_object(a, t, to);
		settle_stream(a, t, to);
	}
	settle_writes(a);
	for (uint32_t i = 0; i < a->from->nopen; i++)
		(a->from->open[i].value ? settle_value : settle_dispatch)(a, &a->from->open[i]);
}

// The stream that records of a thread were for, which the part did not know: as queue.c tells it.
static void settle_head(struct adding *a, const struct stream_head *h)
{
	const struct amdlog_thread *t = &a->to->threads[a->map.thread[h->thread]];
	uint32_t line = mapped(a->map.queue, a->from->threads[h->thread].head_line);
	bool packet = h->what == STREAM_HEAD_PACKET, dispatch = h->what == STREAM_HEAD_DISPATCH;
	struct stream_period p = {.process = t->process,
				  .stream = t->stream,
				  .queue = mapped(a->map.queue, h->queue),
				  .span = h->span};

	if ((packet && !t->by_command) ||
	    (h->what == STREAM_HEAD_LINE && (t->creating || t->by_command)) ||
	    (h->what == STREAM_HEAD_MADE && !t->creating))
		return;
	if (h->what == STREAM_HEAD_MADE) {
		p.stream = h->stream;
		p.queue = line != AMDLOG_NONE ? line : t->queue;
	}
	if (p.stream == AMDLOG_UNKNOWN || p.queue == AMDLOG_NONE)
		return;
	p.packets = packet || dispatch ? h->n : 0;
	p.dispatches = dispatch ? h->n : 0;
	p.created = h->n - p.packets;
	amdlog_streams_put(&a->m->streams, &p);
}

static void take_periods(struct adding *a, const struct amdlog_streams *s)
{
	for (uint32_t i = 0; i < s->nheads; i++)
		settle_head(a, &s->heads[i]);
	for (uint32_t i = 0; i < s->n; i++) {
		struct stream_period p = s->v[i];

		p.process = a->map.process[p.process];
		p.queue = a->map.queue[p.queue];
		amdlog_streams_put(&a->m->streams, &p);
	}
	a->m->streams.left_out += s->left_out;
}

// --- what it leaves ---

static void take_pairs(struct adding *a)
{
	const struct intern *kernels = &a->from->process_kernels, *queues = &a->from->queue_kernels;
	struct pair p;

	for (uint32_t i = 0; i < kernels->n; i++) {
		memcpy(&p, kernels->entries[i].bytes, sizeof(p));
		if (a->map.kernel[p.b] != AMDLOG_NONE)
			run_on(a->to, a->map.process[p.a], AMDLOG_NONE, a->map.kernel[p.b]);
	}
	for (uint32_t i = 0; i < queues->n; i++) {
		memcpy(&p, queues->entries[i].bytes, sizeof(p));
		if (a->map.kernel[p.b] != AMDLOG_NONE)
			run_on(a->to, a->to->queues[a->map.queue[p.a]].process, a->map.queue[p.a],
			       a->map.kernel[p.b]);
	}
}

// A stream that the part saw made was joined there; where it was made before, here.
static void take_streams(struct adding *a)
{
	for (uint32_t i = 0; i < a->from->queue_streams.n; i++) {
		struct pair p, key;

		memcpy(&p, a->from->queue_streams.entries[i].bytes, sizeof(p));
		key = (struct pair){a->from->queues[p.a].process, p.b};
		if (intern_find(&a->from->by_stream, &key, sizeof(key)) == INTERN_NONE)
			stream_wrote_to(a->to, p.b, a->map.queue[p.a]);
		else
			stream_seen(a->to, a->map.queue[p.a], p.b);
	}
}

static void take_table(struct adding *a, struct intern *to, const struct intern *from,
		       const uint32_t *map)
{
	for (uint32_t i = 0; i < from->n; i++) {
		struct pair p;
		uint32_t value = from->entries[i].value;

		memcpy(&p, from->entries[i].bytes, sizeof(p));
		p.a = a->map.process[p.a];
		value = mapped(map, value);
		if (value != AMDLOG_NONE)
			a->failed |= !intern_set(to, &p, sizeof(p), value);
	}
}

static void take_handles(struct adding *a)
{
	for (uint32_t i = 0; i < a->from->nqueues; i++) {
		const struct amdlog_queue *q = &a->from->queues[i];
		struct amdlog_queue *to = &a->to->queues[a->map.queue[i]];
		uint32_t handle = mapped(a->map.queue, q->handle);

		if (handle == AMDLOG_NONE || handle == a->map.queue[i])
			continue;
		to->handle_unsure |=
			q->handle_unsure || (to->handle != AMDLOG_NONE && to->handle != handle);
		to->handle = to->handle == AMDLOG_NONE ? handle : to->handle;
	}
}

static void take_threads(struct adding *a)
{
	for (uint32_t i = 0; i < a->from->nthreads; i++) {
		const struct amdlog_thread *t = &a->from->threads[i];
		struct amdlog_thread *to = &a->to->threads[a->map.thread[i]];

		if (t->knows_kernel)
			to->kernel = mapped(a->map.kernel, t->kernel);
		if (t->knows_stream) {
			to->stream = t->stream;
			to->by_command = t->by_command;
			to->creating = t->creating;
			to->queue = mapped(a->map.queue, t->queue);
		} else if (t->queue != AMDLOG_NONE) {
			to->queue = a->map.queue[t->queue];
		}
	}
}

static void add_counts(struct amdlog_merge *m, const struct amdlog_part *p)
{
	m->counts.bytes += p->counts.bytes;
	m->counts.lines += p->counts.lines;
	m->counts.records += p->counts.records;
	m->counts.foreign += p->counts.foreign;
	m->counts.glued += p->counts.glued;
	m->counts.unended += p->counts.unended;
	m->mended += p->mended;
}

// Each host has a clock of its own.
static bool enter_host(struct amdlog_merge *m, const struct amdlog_part *part)
{
	uint32_t n = part->host ? intern_put(&m->hosts, part->host, strlen(part->host), NULL) : 0;
	uint32_t host = part->host ? n + 1 : 0;

	if (n == INTERN_NONE)
		return false;
	if (m->files && host != m->host) {
		m->several_hosts = true;
		m->sum.last_us = 0;
	}
	m->host = host;
	return true;
}

bool amdlog_merge_add(struct amdlog_merge *m, const struct amdlog_part *part,
		      const struct amdlog_summary *next, bool new_file)
{
	struct adding a = {.m = m, .to = &m->sum, .from = next};

	if (!enter_host(m, part) || !map_new(&a.map, next))
		return false;
	m->files += new_file;
	map_processes(&a);
	for (uint32_t i = 0; !a.failed && i < next->nthreads; i++)
		add_thread(&a, i);
	for (uint32_t i = 0; !a.failed && i < next->nqueues; i++)
		add_queue(&a, i);
	for (uint32_t i = 0; i < next->nkernels; i++)
		add_kernel(&a, i);
	for (uint32_t i = 0; i < next->napis; i++)
		add_api(&a, i);
	if (!a.failed) {
		add_totals(&a);
		add_errors(&a);
		add_counts(m, part);
		settle(&a);
		take_periods(&a, &part->streams);
		take_table(&a, &m->sum.by_object, &next->by_object, a.map.kernel);
		take_table(&a, &m->sum.by_stream, &next->by_stream, a.map.queue);
		m->sum.stream_changes++;
		take_pairs(&a);
		take_streams(&a);
		take_handles(&a);
		take_threads(&a);
	}
	free(a.map.all);
	return !a.failed;
}
