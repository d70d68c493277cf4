// The summary: each record is placed (which thread, queue, kernel), then counted if the filter lets
// it pass. All are placed, as a kernel's name may be logged just before the filter's range of time.
//
// Facts: [amdlog.kernel-name], [amdlog.api], [amdlog.streams], [amdlog.backlog].
#include "common/amdlog/model/summary_priv.h"

#define NAMES_MAX      (1u << 20)
#define NAME_BYTES_MAX (UINT64_C(256) << 20)
#define QUEUES_MAX     (1u << 18)
#define PAIRS_MAX      (1u << 22)

const struct amdlog_process process_blank = {.tid = AMDLOG_UNKNOWN, .pid = -1, .span = SPAN_NONE};
const struct amdlog_thread thread_blank = {
	.id = {.pid = -1, .tid = AMDLOG_UNKNOWN},
	.span = SPAN_NONE,
	.process = AMDLOG_NONE,
	.kernel = AMDLOG_NONE,
	.queue = AMDLOG_NONE,
	.stream = AMDLOG_UNKNOWN,
	.head.kernel = AMDLOG_NONE,
	.head.line = AMDLOG_NONE,
	.head.made = AMDLOG_UNKNOWN,
};
const struct amdlog_kernel kernel_blank = {
	.span = SPAN_NONE,
	.grid = SHAPES_NONE,
	.workgroup = SHAPES_NONE,
	.wanted = true, // the last one: gcc 10 takes a compound literal there for all there is
};

const struct amdlog_unresolved unresolved_blank = {
	.process = AMDLOG_NONE,
	.queue = AMDLOG_NONE,
	.thread = AMDLOG_NONE,
	.object = AMDLOG_UNKNOWN,
	.span = SPAN_NONE,
	.grid = SHAPES_NONE,
	.workgroup = SHAPES_NONE,
};

void amdlog_summary_init(struct amdlog_summary *s, const struct amdlog_filter *filter)
{
	*s = (struct amdlog_summary){
		.filter = *filter,
		.totals = {.span = SPAN_NONE,
			   .rptr_min = AMDLOG_UNKNOWN,
			   .wptr_min = AMDLOG_UNKNOWN},
		.state = {.first_us = AMDLOG_UNKNOWN,
			  .left = SPAN_NONE,
			  .stream_changes = 1}, // none written yet: 0
		.keys = {.kernels = {.max_entries = NAMES_MAX, .max_bytes = NAME_BYTES_MAX},
			 .apis = {.max_entries = NAMES_MAX, .max_bytes = NAME_BYTES_MAX},
			 .rings = {.max_entries = QUEUES_MAX},
			 .handles = {.max_entries = QUEUES_MAX},
			 .streams = {.max_entries = PAIRS_MAX},
			 .objects = {.max_entries = PAIRS_MAX}},
		.pairs = {.queue_kernels = {.max_entries = PAIRS_MAX},
			  .queue_streams = {.max_entries = PAIRS_MAX},
			  .process_kernels = {.max_entries = PAIRS_MAX}},
		.part = {.open_keys = {.max_entries = PAIRS_MAX},
			 .head_streams = {.max_entries = PAIRS_MAX}},
	};
}

void amdlog_summary_fini(struct amdlog_summary *s)
{
	struct intern *all[] = {&s->keys.kernels,        &s->keys.apis,
				&s->keys.processes,      &s->keys.rings,
				&s->keys.handles,        &s->keys.streams,
				&s->keys.objects,        &s->pairs.queue_kernels,
				&s->pairs.queue_streams, &s->pairs.process_kernels,
				&s->part.open_keys,      &s->part.head_streams};
	for (size_t i = 0; i < COUNT(all); i++)
		intern_fini(all[i]);
	amdlog_errors_fini(&s->errors);
	keyed_histogram_fini(&s->api_times);
	free(s->threads);
	free(s->queues);
	free(s->kernels);
	free(s->apis);
	free(s->processes);
	free(s->part.open);
	*s = (struct amdlog_summary){0};
}

bool amdlog_has_packets(const struct amdlog_summary *s)
{
	const uint64_t *k = s->totals.kinds;
	return k[AMDLOG_DISPATCH] + k[AMDLOG_BARRIER_AND] + k[AMDLOG_BARRIER_OR] +
	       k[AMDLOG_BARRIER_VALUE] + k[AMDLOG_PACKET];
}

uint32_t process_of(struct amdlog_summary *s, const struct amdlog_thread_id *w)
{
	uint64_t tid = s->part.resumed && w->pid < 0 ? w->tid : AMDLOG_UNKNOWN;
	uint64_t key[4] = {(uint64_t)w->pid, w->pid < 0 ? w->source : 0, tid, w->host};
	uint32_t n = intern_put(&s->keys.processes, key, sizeof(key));
	if (n < s->nprocesses)
		return n;
	ARRAY_GROW(s->processes, s->cap.process, n);
	struct amdlog_process *p = &s->processes[s->nprocesses++];
	*p = process_blank;
	p->pid = w->pid;
	p->source = w->source;
	p->host = w->host;
	p->tid = tid;
	return n;
}

uint32_t thread_new(struct amdlog_summary *s, const struct amdlog_thread_id *w)
{
	uint32_t process = process_of(s, w);
	ARRAY_GROW(s->threads, s->cap.thread, s->nthreads);
	s->threads[s->nthreads] = thread_blank;
	s->threads[s->nthreads].id = *w;
	s->threads[s->nthreads].process = process;
	return s->nthreads++;
}

struct amdlog_thread *summary_thread(struct amdlog_summary *s, const struct amdlog_scan *scan,
				     uint32_t thread)
{
	while (s->nthreads <= thread)
		thread_new(s, &scan->threads.v[s->nthreads]);
	return &s->threads[thread];
}

// A name's number in s->keys is its row: the number behind the last row is a new name.
uint32_t kernel_named(struct amdlog_summary *s, const char *name, size_t len, uint32_t hash)
{
	uint32_t n = intern_put_hashed(&s->keys.kernels, name, len, hash);
	s->no_memory |= n == AMDLOG_NONE;
	if (n != s->nkernels)
		return n;
	ARRAY_GROW(s->kernels, s->cap.kernel, n);
	struct amdlog_kernel *k = &s->kernels[s->nkernels++];
	*k = kernel_blank;
	k->name = s->keys.kernels.entries[n].bytes;
	k->len = (uint32_t)len;
	if (s->filter.kernel)
		k->wanted = s->filter.kernel(s->filter.kernel_ctx, k->name, k->len);
	return n;
}

static void place_launch(struct amdlog_summary *s, struct amdlog_thread *t, struct amdlog_event *e,
			 const struct block_item *item)
{
	size_t len = item ? item->name_len : 0;
	const char *name = item ? item->name : amdlog_kernel_name(e->record, &len);
	// A torn record may have only a part of the kernel's name.
	e->kernel = e->cut || !len ? AMDLOG_NONE
				   : kernel_named(s, name, len,
						  item ? item->name_hash : intern_hash(name, len));
	t->kernel = e->kernel;
	t->knows_kernel = true;
}

// The kernel of a dispatch: the one that its thread named last or, as graph launches log no names,
// that of an earlier dispatch with the same kernel_obj.
static void place_dispatch(struct amdlog_summary *s, struct amdlog_thread *t,
			   struct amdlog_event *e)
{
	uint64_t object = e->packet->kernel_obj;
	e->kernel = t->kernel;
	t->kernel = AMDLOG_NONE;
	if (e->kernel != AMDLOG_NONE && object != AMDLOG_UNKNOWN)
		pair_set(&s->keys.objects, t->process, object, e->kernel);
	else if (object != AMDLOG_UNKNOWN)
		e->kernel = pair_value(&s->keys.objects, t->process, object);
	if (s->part.resumed && !t->knows_kernel) {
		t->head.dispatch = true;
		t->head.object = object;
		t->head.kernel = e->kernel;
		e->kernel = AMDLOG_NONE;
	}
	s->part.is_head = s->part.resumed && !t->knows_kernel;
	t->knows_kernel = true;
}

static void place_version(struct amdlog_summary *s, const struct amdlog_record *r)
{
	const char *from = r->msg + strlen("HIP Version: ");
	size_t len = r->msg_len - strlen("HIP Version: ");
	const char *comma = memchr(from, ',', len);
	char version[sizeof(s->totals.hip_version)] = "";
	len = comma ? (size_t)(comma - from) : len;
	if (!len || len >= sizeof(version))
		return;
	memcpy(version, from, len);
	if (s->totals.hip_version[0] && strcmp(s->totals.hip_version, version) != 0)
		s->totals.several_versions = true;
	memcpy(s->totals.hip_version, version, sizeof(version));
}

// Sets a record's queue, kernel and stream. `item`: the record already parsed, or NULL.
static void place_record(struct amdlog_summary *s, struct amdlog_thread *t, struct amdlog_event *e,
			 const struct block_item *item)
{
	const struct amdlog_record *r = e->record;
	switch (r->kind) {
	case AMDLOG_API_ENTRY:
		if (e->thread_id->tid != AMDLOG_UNKNOWN)
			stream_api_entry(t, r);
		break;
	case AMDLOG_API_RETURN: stream_api_return(s, t, e); break;
	case AMDLOG_COMMAND_ENQUEUED: stream_command(t, r); break;
	case AMDLOG_KERNEL: place_launch(s, t, e, item); break;
	case AMDLOG_VERSION: place_version(s, r); break;
	default:
		if (is_queue_line(r->kind))
			queue_place_line(s, t, e);
		if (!is_packet(r->kind))
			break;
		if (!item)
			amdlog_packet_parse(r, &s->state.packet);
		e->packet = item ? &item->packet : &s->state.packet;
		e->cut |= !e->packet->whole;
		queue_place_packet(s, t, e);
		if (r->kind == AMDLOG_DISPATCH)
			place_dispatch(s, t, e);
	}
}

// Makes the filter's relative times absolute, as they count from the first record with a time.
static void set_base(struct amdlog_summary *s, uint64_t us)
{
	struct amdlog_filter *f = &s->filter;
	if (us == AMDLOG_UNKNOWN)
		return;
	if (f->since_relative)
		f->since_us = f->since_us > AMDLOG_UNKNOWN - us ? AMDLOG_UNKNOWN : f->since_us + us;
	if (f->until_relative)
		f->until_us = f->until_us > AMDLOG_UNKNOWN - us ? AMDLOG_UNKNOWN : f->until_us + us;
	s->state.has_base = true;
}

static bool filter_wants(const struct amdlog_summary *s, const struct amdlog_event *e)
{
	const struct amdlog_filter *f = &s->filter;
	uint64_t us = e->record->time_us;
	if (e->record->unwanted || !amdlog_filter_has_pid(f, e->thread_id->pid))
		return false;
	if ((f->since_us || f->until_us != AMDLOG_UNKNOWN) &&
	    (us == AMDLOG_UNKNOWN || us < f->since_us || us > f->until_us))
		return false;
	return !f->kernel || (e->kernel != AMDLOG_NONE && s->kernels[e->kernel].wanted);
}

// --- grid and workgroup shapes ---

// Orders shapes of one size: which one is shown must not depend on the order of records.
static int shape_order(const uint64_t a[3], const uint64_t b[3])
{
	for (int i = 0; i < 3; i++) {
		if (a[i] != b[i])
			return a[i] < b[i] ? -1 : 1;
	}
	return 0;
}

uint64_t amdlog_items(const uint64_t dim[3])
{
	uint64_t n;
	if (dim[0] == AMDLOG_UNKNOWN || __builtin_mul_overflow(dim[0], dim[1], &n) ||
	    __builtin_mul_overflow(n, dim[2], &n))
		return AMDLOG_UNKNOWN;
	return n;
}

void shapes_add(struct amdlog_shapes *s, const uint64_t dim[3])
{
	uint64_t items = amdlog_items(dim);
	if (items == AMDLOG_UNKNOWN)
		return;
	if (items < s->items_min || (items == s->items_min && shape_order(dim, s->min) < 0)) {
		s->items_min = items;
		memcpy(s->min, dim, sizeof(s->min));
	}
	if (items > s->items_max || (items == s->items_max && shape_order(dim, s->max) > 0)) {
		s->items_max = items;
		memcpy(s->max, dim, sizeof(s->max));
	}
}

void shapes_merge(struct amdlog_shapes *to, const struct amdlog_shapes *from)
{
	if (from->items_min > from->items_max)
		return;
	shapes_add(to, from->min);
	shapes_add(to, from->max);
}

// --- what only earlier parts can tell ---

// Counts an event in the row of s->part.open like `key`, made if it is new; NULL: too many rows.
static struct amdlog_unresolved *open_add(struct amdlog_summary *s,
					  const struct amdlog_unresolved *key,
					  const struct amdlog_event *e)
{
	uint64_t bytes[5] = {key->process, key->queue, key->thread, key->object, key->value};
	uint32_t n = intern_put(&s->part.open_keys, bytes, sizeof(bytes));
	if (n > s->part.nopen) {
		s->no_memory = true;
		return NULL;
	}
	if (n == s->part.nopen) {
		ARRAY_GROW(s->part.open, s->part.open_cap, n);
		s->part.open[s->part.nopen++] = *key;
	}
	s->part.open[n].n++;
	s->part.open[n].cut += key->value && e->cut;
	span_add(&s->part.open[n].span, e->record->time_us);
	return &s->part.open[n];
}

// Keeps a part's dispatch whose kernel is not known. `head`: the thread may have named the kernel
// before the part.
static void unresolved_dispatch(struct amdlog_summary *s, const struct amdlog_thread *t,
				const struct amdlog_event *e, bool head)
{
	struct amdlog_unresolved key = unresolved_blank, *o;
	if (!head && e->packet->kernel_obj == AMDLOG_UNKNOWN)
		return; // no earlier part can tell the kernel
	key.process = t->process;
	key.queue = e->queue;
	key.thread = head ? (uint32_t)(t - s->threads) : AMDLOG_NONE;
	key.object = e->packet->kernel_obj;
	o = open_add(s, &key, e);
	if (!o)
		return;
	shapes_add(&o->grid, e->packet->grid);
	shapes_add(&o->workgroup, e->packet->workgroup);
}

void unresolved_value(struct amdlog_summary *s, const struct amdlog_event *e)
{
	struct amdlog_unresolved key = unresolved_blank;
	key.process = s->threads[e->record->thread].process;
	key.object = e->packet->hwq;
	key.value = true;
	open_add(s, &key, e);
}

// --- counting records ---

// Adds the pair (a, b). True: it is new. *seen: a bit for each a below 64 that came with b.
static bool pair_is_newer(uint64_t *seen, struct intern *pairs, uint32_t a, uint32_t b)
{
	if (a < 64 && *seen >> a & 1)
		return false;
	*seen |= a < 64 ? UINT64_C(1) << a : 0;
	return pair_is_new(pairs, a, b);
}

void kernel_seen(struct amdlog_summary *s, uint32_t kernel, uint32_t process, uint32_t queue)
{
	struct amdlog_kernel *k = &s->kernels[kernel];
	if (pair_is_newer(&k->seen_processes, &s->pairs.process_kernels, process, kernel)) {
		k->processes++;
		s->processes[process].kernels++;
	}
	if (queue != AMDLOG_NONE &&
	    pair_is_newer(&k->seen_queues, &s->pairs.queue_kernels, queue, kernel)) {
		k->queues++;
		s->queues[queue].kernels++;
	}
}

static void count_kernel(struct amdlog_summary *s, const struct amdlog_thread *t,
			 const struct amdlog_event *e)
{
	if (e->kernel == AMDLOG_NONE) {
		s->totals.unnamed += e->record->kind == AMDLOG_DISPATCH;
		if (s->part.resumed && e->record->kind == AMDLOG_DISPATCH)
			unresolved_dispatch(s, t, e, s->part.is_head);
		return;
	}
	struct amdlog_kernel *k = &s->kernels[e->kernel];
	span_add(&k->span, e->record->time_us);
	if (e->record->kind == AMDLOG_DISPATCH) {
		k->dispatches++;
		shapes_add(&k->grid, e->packet->grid);
		shapes_add(&k->workgroup, e->packet->workgroup);
	} else {
		k->launches++;
	}
	kernel_seen(s, e->kernel, t->process, e->queue);
}

uint32_t api_named(struct amdlog_summary *s, const char *name, size_t len)
{
	uint32_t n = intern_put(&s->keys.apis, name, len);
	s->no_memory |= n == AMDLOG_NONE;
	if (n != s->napis)
		return n;
	ARRAY_GROW(s->apis, s->cap.api, n);
	s->apis[s->napis++] =
		(struct amdlog_api){.name = s->keys.apis.entries[n].bytes, .len = (uint32_t)len};
	return n;
}

static void count_api(struct amdlog_summary *s, struct amdlog_thread *t,
		      const struct amdlog_record *r)
{
	bool failed = r->kind == AMDLOG_API_RETURN && amdlog_api_failed(r);
	uint32_t n;
	t->api_calls += r->kind == AMDLOG_API_ENTRY;
	t->api_errors += failed;
	s->totals.api_errors += failed;
	if (failed)
		amdlog_errors_add(&s->errors, t->process, r);
	if (!s->want_api || (n = api_named(s, r->msg, r->name_len)) == AMDLOG_NONE)
		return;
	struct amdlog_api *api = &s->apis[n];
	api->calls += r->kind == AMDLOG_API_ENTRY;
	if (r->kind != AMDLOG_API_RETURN)
		return;
	api->returns++;
	api->errors += failed;
	uint64_t us = amdlog_api_duration(r);
	if (us == AMDLOG_UNKNOWN)
		return;
	api->timed++;
	api->total_us += us;
	keyed_histogram_add(&s->api_times, (uint32_t)(api - s->apis), us);
	api->max_us = us > api->max_us ? us : api->max_us;
}

static void count_record_of(struct amdlog_summary *s, struct amdlog_thread *t,
			    const struct amdlog_event *e)
{
	const struct amdlog_record *r = e->record;
	struct amdlog_totals *sum = &s->totals;
	sum->records++;
	sum->kinds[r->kind]++;
	sum->styles[r->style]++;
	if (r->level < 10)
		sum->levels[r->level]++;
	sum->cut += e->cut;
	if (r->time_us != AMDLOG_UNKNOWN) {
		sum->steps_back += r->time_us < s->state.last_us;
		s->state.first_us =
			s->state.first_us == AMDLOG_UNKNOWN ? r->time_us : s->state.first_us;
		s->state.last_us = r->time_us;
	}
	t->records++;
	span_add(&t->span, r->time_us);
	if (r->kind == AMDLOG_QUEUE_ERROR)
		amdlog_errors_add(&s->errors, t->process, r);
	if (r->kind == AMDLOG_API_ENTRY || r->kind == AMDLOG_API_RETURN) {
		count_api(s, t, r);
		return;
	}
	if (r->kind == AMDLOG_KERNEL || r->kind == AMDLOG_DISPATCH) {
		t->launches += r->kind == AMDLOG_KERNEL;
		t->dispatches += r->kind == AMDLOG_DISPATCH;
		count_kernel(s, t, e);
	}
	t->barriers += r->kind == AMDLOG_BARRIER_AND || r->kind == AMDLOG_BARRIER_OR;
	if (e->packet || is_queue_line(r->kind))
		queue_count(s, e);
}

static bool is_outside(const struct amdlog_summary *s, const struct amdlog_record *r)
{
	return s->range.to && (r->offset < s->range.from || r->offset >= s->range.to);
}

bool amdlog_summary_add(struct amdlog_summary *s, const struct amdlog_scan *scan,
			const struct amdlog_record *r, const struct block_item *item,
			struct amdlog_event *e)
{
	// A part must hold nothing of records outside of its range.
	if (s->part.resumed && is_outside(s, r))
		return false;
	struct amdlog_thread *t = summary_thread(s, scan, r->thread);
	if (item)
		stream_set(t, &item->stream);
	*e = (struct amdlog_event){.record = r,
				   .thread_id = &t->id,
				   .queue = AMDLOG_NONE,
				   .kernel = AMDLOG_NONE,
				   .stream = AMDLOG_UNKNOWN,
				   .stream_queue = AMDLOG_NONE,
				   .cut = amdlog_is_torn(r)};
	place_record(s, t, e, item);
	if (!s->state.has_base)
		set_base(s, r->time_us);
	if (!filter_wants(s, e)) {
		span_add(&s->state.left, r->time_us);
		return false;
	}
	if (is_outside(s, r)) { // the record's time counts: the next may step back
		s->state.last_us = r->time_us != AMDLOG_UNKNOWN ? r->time_us : s->state.last_us;
		return false;
	}
	count_record_of(s, t, e);
	return true;
}
