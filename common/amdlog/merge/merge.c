// Merging parts of logs; partial.h.
//
// Each row of a part is added to its row in the sum. The sum's state resolves what the part left
// open, then becomes the state at the part's end.
#include "common/amdlog/merge/partial_priv.h"

struct adding {
	struct amdlog_merge *m;
	struct amdlog_summary *to;
	const struct amdlog_summary *from;
	// For each table: a row's number in the part -> in the sum. All are parts of one array.
	uint32_t *process, *thread, *queue, *kernel, *api;
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
	amdlog_part_fini(&m->all);
	intern_fini(&m->hosts);
	intern_fini(&m->threads);
	intern_fini(&m->tids);
	intern_fini(&m->known);
	free(m->times);
}

// A host for the processes of one file: shown as HOST:FILE, and told apart by the file's number.
static uint32_t host_of_file(struct amdlog_merge *m, const struct amdlog_part *part)
{
	SCOPED(buf_fini) struct buf name = {0};
	buf_printf(&name, "%s%s%s%c%u", part->host ? part->host : "", part->host ? ":" : "",
		   part->file, 0, m->file);
	return intern_put(&m->hosts, name.data, name.len) + 1;
}

static void map_new(struct adding *a)
{
	const struct amdlog_summary *s = a->from;
	size_t n = (size_t)s->nprocesses + s->nthreads + s->nqueues + s->nkernels + s->napis;
	a->process = xcalloc(n, sizeof(uint32_t));
	a->thread = a->process + s->nprocesses;
	a->queue = a->thread + s->nthreads;
	a->kernel = a->queue + s->nqueues;
	a->api = a->kernel + s->nkernels;
}

static uint32_t map_row(const uint32_t *map, uint32_t i)
{
	return i == AMDLOG_NONE ? AMDLOG_NONE : map[i];
}

// --- merging rows of a part ---

static void map_processes(struct adding *a)
{
	for (uint32_t i = 0; i < a->from->nprocesses; i++) {
		const struct amdlog_process *p = &a->from->processes[i];
		// Processes without a pid belong to their file, except number 0, which stands for
		// all threads beyond the limit (source UINT32_MAX).
		uint32_t source = p->source == UINT32_MAX ? p->source
				  : p->pid < 0            ? a->m->files
							  : 0;
		bool apart = a->m->apart &&
			     pair_find(a->m->apart, a->m->host, (uint64_t)p->pid) != INTERN_NONE;
		struct amdlog_thread_id id = {p->pid, AMDLOG_UNKNOWN, source,
					      apart ? a->m->own : a->m->host};
		uint32_t owner = AMDLOG_NONE;
		// Some lines of ROCm up to 4.5 name the thread without its process, which an
		// earlier part of the log may name.
		if (p->pid < 0 && p->tid != AMDLOG_UNKNOWN)
			owner = pair_value(&a->m->tids, p->tid, a->m->files);
		a->process[i] = owner == AMDLOG_NONE ? process_of(a->to, &id)
						     : a->to->threads[owner].process;
	}
}

static void merge_thread(struct adding *a, uint32_t i)
{
	const struct amdlog_thread *t = &a->from->threads[i];
	uint32_t process = a->process[t->process];
	const struct amdlog_process *p = &a->to->processes[process];
	struct amdlog_thread_id id = {p->pid, t->id.tid, p->source, p->host};
	uint32_t n = pair_value(&a->m->threads, process, t->id.tid);
	if (n == INTERN_NONE) {
		n = thread_new(a->to, &id);
		pair_set(&a->m->threads, process, t->id.tid, n);
		if (id.pid >= 0)
			pair_set(&a->m->tids, t->id.tid, a->m->files, n);
	}
	a->thread[i] = n;
	members_add(part_sections[PART_THREADS].members, &a->to->threads[n], t);
	size_t at = a->m->ntimes;
	while (at && a->m->times[at - 1].file == a->m->file &&
	       a->m->times[at - 1].process != process)
		at--;
	if (!at || a->m->times[at - 1].file != a->m->file) {
		*ARRAY_ADD(a->m->times, a->m->times_cap, a->m->ntimes) =
			(struct merge_time){process, a->m->file, SPAN_NONE};
		at = a->m->ntimes;
	}
	span_merge(&a->m->times[at - 1].span, &t->span);
}

// The row in the sum of the part's queue `q`, found by its ring, else by its handle.
static uint32_t queue_in(struct adding *a, const struct amdlog_queue *q)
{
	uint32_t process = a->process[q->process];
	struct amdlog_summary *s = a->to;
	bool has_ring = q->hwq != AMDLOG_UNKNOWN;
	uint32_t n = has_ring ? pair_value(&s->keys.rings, process, q->hwq)
			      : pair_value(&s->keys.handles, process, q->swq);
	// A part without packets may take a ring for a handle; up to ROCm 5.4 both are the same.
	if (n == INTERN_NONE && has_ring)
		n = pair_value(&s->keys.handles, process, q->hwq);
	else if (n == INTERN_NONE)
		n = pair_value(&s->keys.rings, process, q->swq);
	if (n == INTERN_NONE)
		n = queue_new(s, process);
	if (has_ring) {
		s->queues[n].hwq = q->hwq;
		pair_set(&s->keys.rings, process, q->hwq, n);
		s->queues[n].swq = q->swq != AMDLOG_UNKNOWN ? q->swq : s->queues[n].swq;
	} else if (s->queues[n].hwq == AMDLOG_UNKNOWN) {
		s->queues[n].swq = q->swq;
		pair_set(&s->keys.handles, process, q->swq, n);
	}
	return n;
}

static void merge_queue(struct adding *a, uint32_t i)
{
	const struct amdlog_queue *q = &a->from->queues[i];
	uint32_t n = a->queue[i] = queue_in(a, q);
	struct amdlog_queue *to = &a->to->queues[n];
	to->ids_differ |= to->id >= 0 && q->id >= 0 && to->id != q->id;
	to->id = q->id >= 0 ? q->id : to->id;
	if (q->made) {
		to->made = true;
		to->priority = q->priority;
		to->size = q->size;
	} else if (!to->made && q->priority >= 0) {
		to->priority = q->priority;
	}
	to->created_us = to->created ? to->created_us : q->created_us;
	to->deleted_us = q->deleted ? q->deleted_us : to->deleted_us;
	members_add(part_sections[PART_QUEUES].members, to, q);
}

static void merge_kernel(struct adding *a, uint32_t i)
{
	const struct amdlog_kernel *k = &a->from->kernels[i];
	uint32_t n = a->kernel[i] =
		kernel_named(a->to, k->name, k->len, intern_hash(k->name, k->len));
	struct amdlog_kernel *to;
	if (n == AMDLOG_NONE)
		return;
	to = &a->to->kernels[n];
	members_add(part_sections[PART_KERNELS].members, to, k);
	shapes_merge(&to->grid, &k->grid);
	shapes_merge(&to->workgroup, &k->workgroup);
}

static void merge_api(struct adding *a, uint32_t i)
{
	const struct amdlog_api *p = &a->from->apis[i];
	uint32_t n = a->api[i] = api_named(a->to, p->name, p->len);
	struct hist h;
	if (n == AMDLOG_NONE)
		return;
	members_add(part_sections[PART_APIS].members, &a->to->apis[n], p);
	if (keyed_histogram_get(&a->from->api_times, i, &h))
		keyed_histogram_put(&a->to->api_times, n, &h);
}

static void merge_errors(struct adding *a)
{
	const struct amdlog_errors *e = &a->from->errors;
	for (uint32_t i = 0; i < e->n; i++) {
		struct amdlog_error row = e->v[i];
		row.process = a->process[row.process];
		amdlog_errors_merge(&a->to->errors, &row);
	}
	a->to->errors.left_out += e->left_out;
}

static void merge_totals(struct adding *a)
{
	const struct amdlog_totals *f = &a->from->totals;
	struct amdlog_totals *t = &a->to->totals;
	struct amdlog_summary *s = a->to;
	members_add(part_totals, t, f);
	members_add(part_state, s, a->from);
	if (a->from->state.first_us != AMDLOG_UNKNOWN) {
		t->steps_back += a->from->state.first_us < s->state.last_us;
		s->state.last_us = a->from->state.last_us;
	}
	t->several_versions |=
		*f->hip_version && *t->hip_version && strcmp(f->hip_version, t->hip_version) != 0;
	if (*f->hip_version)
		memcpy(t->hip_version, f->hip_version, sizeof(t->hip_version));
}

// --- what the part left open ---

// The kernel of dispatches that the part could not name: the kernel that their thread named before
// the part, else the one known for their kernel_obj.
static uint32_t unresolved_kernel(const struct adding *a, const struct amdlog_unresolved *o)
{
	uint32_t kernel = AMDLOG_NONE;
	if (o->thread != AMDLOG_NONE) {
		kernel = a->to->threads[a->thread[o->thread]].kernel;
		if (kernel == AMDLOG_NONE)
			kernel = map_row(a->kernel, a->from->threads[o->thread].head.kernel);
	}
	return kernel == AMDLOG_NONE && o->object != AMDLOG_UNKNOWN
		       ? pair_value(&a->to->keys.objects, a->process[o->process], o->object)
		       : kernel;
}

static void settle_dispatch(struct adding *a, const struct amdlog_unresolved *o)
{
	uint32_t kernel = unresolved_kernel(a, o);
	if (kernel == AMDLOG_NONE)
		return;
	struct amdlog_kernel *k = &a->to->kernels[kernel];
	a->to->totals.unnamed -= o->n;
	k->dispatches += o->n;
	span_merge(&k->span, &o->span);
	shapes_merge(&k->grid, &o->grid);
	shapes_merge(&k->workgroup, &o->workgroup);
	kernel_seen(a->to, kernel, a->process[o->process], map_row(a->queue, o->queue));
}

static void settle_value(struct adding *a, const struct amdlog_unresolved *o)
{
	uint32_t n = queue_of_value(a->to, a->process[o->process], o->object);
	if (n == AMDLOG_NONE)
		return;
	struct amdlog_queue *q = &a->to->queues[n];
	a->to->totals.strays -= o->n;
	a->to->totals.no_pointers += o->n;
	q->records += o->n;
	q->barrier_values += o->n;
	q->cut += o->cut;
	span_merge(&q->span, &o->span);
}

static void settle_stream(struct adding *a, const struct amdlog_thread *t,
			  const struct amdlog_thread *to)
{
	uint32_t line = map_row(a->queue, t->head.line);
	if (line != AMDLOG_NONE && !to->creating && !to->by_command)
		stream_made_on(a->to, to->process, to->stream, line);
	if (t->head.made != AMDLOG_UNKNOWN && to->creating)
		stream_made_on(a->to, to->process, t->head.made,
			       line != AMDLOG_NONE ? line : to->queue);
}

static void settle_part(struct adding *a)
{
	for (uint32_t i = 0; i < a->from->nthreads; i++) {
		const struct amdlog_thread *t = &a->from->threads[i];
		const struct amdlog_thread *to = &a->to->threads[a->thread[i]];
		// The part's first dispatch on a thread is of the kernel named before the part.
		if (t->head.dispatch && to->kernel != AMDLOG_NONE &&
		    t->head.object != AMDLOG_UNKNOWN)
			pair_set(&a->to->keys.objects, to->process, t->head.object, to->kernel);
		settle_stream(a, t, to);
	}
	for (uint32_t i = 0; i < a->from->part.head_streams.n; i++) {
		struct pair p = pair_at(&a->from->part.head_streams, i);
		const struct amdlog_thread *t = &a->to->threads[a->thread[p.a]];
		if (t->stream != AMDLOG_UNKNOWN && (t->by_command || p.b & 1))
			stream_wrote_to(a->to, t->stream, a->queue[p.b >> 1]);
	}
	for (uint32_t i = 0; i < a->from->part.nopen; i++)
		(a->from->part.open[i].value ? settle_value
					     : settle_dispatch)(a, &a->from->part.open[i]);
}

// Counts a stream_head's records for the stream that its thread has in the sum, as queue.c does.
static void settle_head(struct adding *a, const struct stream_head *h)
{
	const struct amdlog_thread *t = &a->to->threads[a->thread[h->thread]];
	uint32_t line = map_row(a->queue, a->from->threads[h->thread].head.line);
	bool packet = h->what == STREAM_HEAD_PACKET, dispatch = h->what == STREAM_HEAD_DISPATCH;
	struct stream_period p = {.process = t->process,
				  .stream = t->stream,
				  .queue = map_row(a->queue, h->queue),
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
	amdlog_streams_put(&a->m->all.streams, &p);
}

static void take_periods(struct adding *a, const struct amdlog_streams *s)
{
	for (uint32_t i = 0; i < s->nheads; i++)
		settle_head(a, &s->heads[i]);
	for (uint32_t i = 0; i < s->n; i++) {
		struct stream_period p = s->v[i];
		p.process = a->process[p.process];
		p.queue = a->queue[p.queue];
		amdlog_streams_put(&a->m->all.streams, &p);
	}
	a->m->all.streams.left_out += s->left_out;
}

// --- the state at the part's end ---

static void take_pairs(struct adding *a)
{
	const struct intern *kernels = &a->from->pairs.process_kernels,
			    *queues = &a->from->pairs.queue_kernels;
	for (uint32_t i = 0; i < kernels->n; i++) {
		struct pair p = pair_at(kernels, i);
		if (a->kernel[p.b] != AMDLOG_NONE)
			kernel_seen(a->to, a->kernel[p.b], a->process[p.a], AMDLOG_NONE);
	}
	for (uint32_t i = 0; i < queues->n; i++) {
		struct pair p = pair_at(queues, i);
		uint32_t queue = a->queue[p.a];
		if (a->kernel[p.b] != AMDLOG_NONE) // AMDLOG_NONE: too many kernels
			kernel_seen(a->to, a->kernel[p.b], a->to->queues[queue].process, queue);
	}
}

// Joins handles and rings by streams created before the part; the part did so for its own streams.
static void take_streams(struct adding *a)
{
	for (uint32_t i = 0; i < a->from->pairs.queue_streams.n; i++) {
		struct pair p = pair_at(&a->from->pairs.queue_streams, i);
		if (pair_find(&a->from->keys.streams, a->from->queues[p.a].process, p.b) ==
		    INTERN_NONE)
			stream_wrote_to(a->to, p.b, a->queue[p.a]);
		else
			stream_seen(a->to, a->queue[p.a], p.b);
	}
}

static void take_table(struct adding *a, struct intern *to, const struct intern *from,
		       const uint32_t *map)
{
	for (uint32_t i = 0; i < from->n; i++) {
		struct pair p = pair_at(from, i);
		uint32_t value = map_row(map, from->entries[i].value);
		if (value != AMDLOG_NONE)
			a->to->no_memory |= !pair_set(to, a->process[p.a], p.b, value);
	}
}

static void take_handles(struct adding *a)
{
	for (uint32_t i = 0; i < a->from->nqueues; i++) {
		const struct amdlog_queue *q = &a->from->queues[i];
		struct amdlog_queue *to = &a->to->queues[a->queue[i]];
		uint32_t handle = map_row(a->queue, q->handle);
		if (handle == AMDLOG_NONE || handle == a->queue[i])
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
		struct amdlog_thread *to = &a->to->threads[a->thread[i]];
		if (t->knows_kernel)
			to->kernel = map_row(a->kernel, t->kernel);
		if (t->knows_stream) {
			to->stream = t->stream;
			to->by_command = t->by_command;
			to->creating = t->creating;
			to->queue = map_row(a->queue, t->queue);
		} else if (t->queue != AMDLOG_NONE) {
			to->queue = a->queue[t->queue];
		}
	}
}

void amdlog_merge_add(struct amdlog_merge *m, const struct amdlog_part *part, bool new_file)
{
	const struct amdlog_summary *next = part->sum;
	struct adding a = {.m = m, .to = &m->sum, .from = next};
	uint32_t host = part->host ? intern_put(&m->hosts, part->host, strlen(part->host)) + 1 : 0;
	if (m->files && host != m->host) { // each host has a clock of its own
		m->several_hosts = true;
		m->sum.state.last_us = 0;
	}
	m->host = host;
	map_new(&a);
	m->files += new_file;
	m->file = part->inode == AMDLOG_UNKNOWN ? ~m->files
						: pair_put(&m->known, part->inode, part->head);
	m->own = new_file && m->apart ? host_of_file(m, part) : m->own;
	map_processes(&a);
	for (uint32_t i = 0; i < next->nthreads; i++)
		merge_thread(&a, i);
	for (uint32_t i = 0; i < next->nqueues; i++)
		merge_queue(&a, i);
	for (uint32_t i = 0; i < next->nkernels; i++)
		merge_kernel(&a, i);
	for (uint32_t i = 0; i < next->napis; i++)
		merge_api(&a, i);
	merge_totals(&a);
	merge_errors(&a);
	members_add(part_members, &m->all, part);
	settle_part(&a);
	take_periods(&a, &part->streams);
	take_table(&a, &m->sum.keys.objects, &next->keys.objects, a.kernel);
	take_table(&a, &m->sum.keys.streams, &next->keys.streams, a.queue);
	m->sum.state.stream_changes++;
	take_pairs(&a);
	take_streams(&a);
	take_handles(&a);
	take_threads(&a);
	free(a.process);
}

COMPARE_BY_BOTH(by_process_time, struct merge_time, process, span.first_us)

// Is `y` another process than `x`, which began first? Where a log was cut into files, only few
// lines of two pieces are of the same time.
static bool ran_beside(const struct amdlog_span *x, const struct amdlog_span *y)
{
	const uint64_t end = lesser(x->last_us, y->last_us);
	return end > y->first_us &&
	       end - y->first_us >= lesser(x->last_us - x->first_us, y->last_us - y->first_us) / 4;
}

void amdlog_merge_find_apart(struct amdlog_merge *m, struct intern *apart)
{
	const struct merge_time *v = m->times;
	ARRAY_SORT(m->times, m->ntimes, by_process_time);
	for (size_t i = 0; i < m->ntimes; i++) {
		const struct amdlog_process *p = &m->sum.processes[v[i].process];
		if (p->pid < 0 || pair_find(apart, p->host, (uint64_t)p->pid) != INTERN_NONE)
			continue;
		for (size_t k = i + 1; k < m->ntimes && v[k].process == v[i].process &&
				       v[k].span.first_us < v[i].span.last_us;
		     k++)
			if (v[k].file != v[i].file && ran_beside(&v[i].span, &v[k].span)) {
				pair_set(apart, p->host, (uint64_t)p->pid, 0);
				break;
			}
	}
}
