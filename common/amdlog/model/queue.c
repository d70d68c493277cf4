// Hardware queues: their fields from packet and queue lines, and the streams they serve.
//
// Facts: [amdlog.queue-lines], [amdlog.queue-address], [amdlog.queue-id]. A queue has two
// addresses, the ring (HWq) and the handle (hsa_queue_t, SWq). ROCm 5.5 to 6.1 print the ring in
// packets and the handle in queue lines, so a queue has two rows here until a stream that was
// created on the handle dispatches to the ring.
#include "common/amdlog/model/summary_priv.h"

const struct amdlog_queue queue_blank = {
	.process = AMDLOG_NONE,
	.merged = AMDLOG_NONE,
	.hwq = AMDLOG_UNKNOWN,
	.swq = AMDLOG_UNKNOWN,
	.size = AMDLOG_UNKNOWN,
	.id = -1,
	.priority = -1,
	.handle = AMDLOG_NONE,
	.span = SPAN_NONE,
	.created_us = AMDLOG_UNKNOWN,
	.deleted_us = AMDLOG_UNKNOWN,
	.rptr_min = AMDLOG_UNKNOWN,
	.wptr_min = AMDLOG_UNKNOWN,
};

uint32_t queue_new(struct amdlog_summary *s, uint32_t process)
{
	ARRAY_GROW(s->queues, s->cap.queue, s->nqueues);
	s->queues[s->nqueues] = queue_blank;
	s->queues[s->nqueues].process = process;
	return s->nqueues++;
}

// The queue with this ring or handle (as `keys` says), made if it is new; AMDLOG_NONE: too many.
static uint32_t queue_at(struct amdlog_summary *s, struct intern *keys, uint32_t process,
			 uint64_t address)
{
	uint32_t q = pair_value(keys, process, address);
	if (q != INTERN_NONE)
		return q;
	if (keys->n >= keys->max_entries) {
		s->no_memory = true;
		return AMDLOG_NONE;
	}
	q = queue_new(s, process);
	pair_set(keys, process, address, q);
	*(keys == &s->keys.rings ? &s->queues[q].hwq : &s->queues[q].swq) = address;
	return q;
}

static uint32_t queue_by_ring(struct amdlog_summary *s, uint32_t process, uint64_t hwq)
{
	uint32_t q = pair_value(&s->keys.rings, process, hwq), known;
	if (q != INTERN_NONE)
		return q;
	known = pair_value(&s->keys.handles, process, hwq);
	if (known == INTERN_NONE)
		return queue_at(s, &s->keys.rings, process, hwq);
	// Up to ROCm 5.4 packets and queue lines have the same address.
	s->queues[known].hwq = hwq;
	pair_set(&s->keys.rings, process, hwq, known);
	return known;
}

static void queue_set_swq(struct amdlog_summary *s, uint32_t q, uint64_t swq)
{
	s->state.prints_swq = true;
	s->queues[q].swq = swq;
}

bool pair_is_new(struct intern *pairs, uint64_t a, uint64_t b)
{
	uint32_t before = pairs->n;
	pair_put(pairs, a, b);
	return pairs->n != before;
}

void stream_seen(struct amdlog_summary *s, uint32_t q, uint64_t stream)
{
	if (q != AMDLOG_NONE && stream != AMDLOG_UNKNOWN)
		pair_is_new(&s->pairs.queue_streams, q, stream);
}

void stream_made_on(struct amdlog_summary *s, uint32_t process, uint64_t stream, uint32_t q)
{
	if (q == AMDLOG_NONE || stream == AMDLOG_UNKNOWN)
		return;
	pair_set(&s->keys.streams, process, stream, q);
	s->state.stream_changes++;
	stream_seen(s, q, stream);
}

// Joins the handle that a stream was created on and the ring that it dispatches to: they are one
// queue, unless another stream contradicts that.
static void join_by_stream(struct amdlog_summary *s, struct amdlog_queue *q, uint32_t self,
			   uint64_t stream)
{
	uint32_t handle = pair_value(&s->keys.streams, q->process, stream);
	if (handle == INTERN_NONE || handle == self || s->queues[handle].hwq != AMDLOG_UNKNOWN)
		return;
	if (q->handle == AMDLOG_NONE)
		q->handle = handle;
	else if (q->handle != handle)
		q->handle_unsure = true;
}

void stream_wrote_to(struct amdlog_summary *s, uint64_t stream, uint32_t q)
{
	struct amdlog_queue *queue = &s->queues[q];
	if (queue->wrote_stream == stream && queue->wrote_changes == s->state.stream_changes)
		return;
	stream_seen(s, q, stream);
	join_by_stream(s, queue, q, stream);
	queue->wrote_stream = stream;
	queue->wrote_changes = s->state.stream_changes;
}

uint32_t queue_of_value(struct amdlog_summary *s, uint32_t process, uint64_t address)
{
	uint32_t q = pair_value(&s->keys.handles, process, address);
	return q != INTERN_NONE ? q : pair_value(&s->keys.rings, process, address);
}

static void note_stream(struct amdlog_event *e, uint64_t stream, uint32_t queue)
{
	e->stream = stream;
	e->stream_queue = queue;
}

void queue_place_packet(struct amdlog_summary *s, struct amdlog_thread *t, struct amdlog_event *e)
{
	const struct amdlog_packet *p = e->packet;
	uint32_t q;
	if (p->hwq == AMDLOG_UNKNOWN)
		return;
	if (e->record->kind == AMDLOG_BARRIER_VALUE && p->swq == AMDLOG_UNKNOWN)
		q = queue_of_value(s, t->process, p->hwq);
	else
		q = queue_by_ring(s, t->process, p->hwq);
	e->queue = q;
	if (q == AMDLOG_NONE)
		return;
	if (p->swq != AMDLOG_UNKNOWN)
		queue_set_swq(s, q, p->swq);
	if (p->id >= 0) {
		s->queues[q].ids_differ |= s->queues[q].id >= 0 && s->queues[q].id != p->id;
		s->queues[q].id = p->id;
	}
	if (p->priority >= 0 && !s->queues[q].made)
		s->queues[q].priority = (int8_t)(p->priority < 2 ? p->priority : 5 - p->priority);
	if (s->part.resumed && !t->knows_stream) {
		pair_is_new(&s->part.head_streams, (uint64_t)(t - s->threads),
			    (uint64_t)q << 1 | (e->record->kind == AMDLOG_DISPATCH));
		return;
	}
	if (t->stream == AMDLOG_UNKNOWN || (!t->by_command && e->record->kind != AMDLOG_DISPATCH))
		return;
	note_stream(e, t->stream, q);
	stream_wrote_to(s, t->stream, q);
}

// The queue of a line with one address, which is the handle up to ROCm 6.1, then the ring.
static uint32_t queue_of_line(struct amdlog_summary *s, uint32_t process,
			      const struct amdlog_record *r, uint64_t address)
{
	uint32_t q = pair_value(&s->keys.rings, process, address);
	if (q == INTERN_NONE)
		q = pair_value(&s->keys.handles, process, address);
	if (q != INTERN_NONE)
		return q;
	bool is_ring = s->state.prints_swq || r->style >= AMDLOG_STYLE_6_3;
	return queue_at(s, is_ring ? &s->keys.rings : &s->keys.handles, process, address);
}

static uint32_t queue_of_creation(struct amdlog_summary *s, uint32_t process,
				  const struct amdlog_queue_line *line)
{
	if (line->hwq == AMDLOG_UNKNOWN) // AMDLOG_UNKNOWN: a cut line, or ROCm up to 6.1
		return line->address == AMDLOG_UNKNOWN
			       ? AMDLOG_NONE
			       : queue_at(s, &s->keys.handles, process, line->address);
	uint32_t q = queue_by_ring(s, process, line->hwq);
	if (q != AMDLOG_NONE && line->swq != AMDLOG_UNKNOWN)
		queue_set_swq(s, q, line->swq);
	return q;
}

void queue_place_line(struct amdlog_summary *s, struct amdlog_thread *t, struct amdlog_event *e)
{
	const struct amdlog_record *r = e->record;
	struct amdlog_queue_line line;
	uint32_t q;
	amdlog_queue_line_parse(r, &line);
	if (r->kind == AMDLOG_QUEUE_CREATED)
		q = queue_of_creation(s, t->process, &line);
	else
		q = line.address == AMDLOG_UNKNOWN ? AMDLOG_NONE
						   : queue_of_line(s, t->process, r, line.address);
	e->queue = q;
	if (q == AMDLOG_NONE)
		return;
	if (r->kind == AMDLOG_QUEUE_CREATED) {
		s->queues[q].made = true;
		s->queues[q].priority = (int8_t)line.priority;
		s->queues[q].size = line.size;
	}
	if (r->kind == AMDLOG_QUEUE_RELEASED || r->kind == AMDLOG_QUEUE_DELETED)
		return;
	t->queue = q;
	if (s->part.resumed && !t->knows_stream) {
		t->head.line = q;
	} else if (!t->creating && !t->by_command) { // a launch or copy made the queue
		note_stream(e, t->stream, q);
		stream_made_on(s, t->process, t->stream, q);
	}
}

// Sets the stream that the thread's next records are for, by an API entry.
void stream_api_entry(struct amdlog_thread *t, const struct amdlog_record *r)
{
	t->stream = amdlog_entry_stream(r);
	t->by_command = t->creating = false;
	t->knows_stream = true;
	if (amdlog_api_begins(r, "hipStreamCreate")) {
		t->creating = true;
		t->queue = AMDLOG_NONE;
	}
}

void stream_api_return(struct amdlog_summary *s, struct amdlog_thread *t, struct amdlog_event *e)
{
	const struct amdlog_record *r = e->record;
	if (t->creating && amdlog_api_begins(r, "hipStreamCreate")) {
		note_stream(e, amdlog_api_stream(r), t->queue);
		stream_made_on(s, t->process, e->stream, t->queue);
	} else if (s->part.resumed && !t->knows_stream && amdlog_api_begins(r, "hipStreamCreate"))
		t->head.made = amdlog_api_stream(r);
	t->creating = t->by_command = false;
	t->knows_stream = true;
	t->stream = AMDLOG_UNKNOWN;
}

// Sets the stream that the thread's API and command lines in a block led to.
void stream_set(struct amdlog_thread *t, const struct block_stream *known)
{
	if (known->api)
		t->creating = false;
	else if (!known->by_command)
		return;
	t->stream = known->stream;
	t->by_command = known->by_command;
	t->knows_stream = true;
}

void stream_command(struct amdlog_thread *t, const struct amdlog_record *r)
{
	uint64_t stream = amdlog_command_stream(r);
	if (stream == AMDLOG_UNKNOWN)
		return;
	t->stream = stream;
	t->by_command = t->knows_stream = true;
}

static void count_pointers(struct amdlog_summary *s, struct amdlog_queue *q,
			   const struct amdlog_packet *p)
{
	struct amdlog_totals *sum = &s->totals;
	if (p->rptr == AMDLOG_UNKNOWN || p->wptr == AMDLOG_UNKNOWN) {
		sum->no_pointers++;
		return;
	}
	int64_t backlog = amdlog_backlog(p->rptr, p->wptr);
	if (backlog < 0) {
		q->inversions++;
		sum->inversions++;
		backlog = 0;
	}
	q->backlog_n++;
	q->backlog_sum += (uint64_t)backlog;
	q->backlog_max = (uint64_t)backlog > q->backlog_max ? (uint64_t)backlog : q->backlog_max;
	q->rptr_min = p->rptr < q->rptr_min ? p->rptr : q->rptr_min;
	q->rptr_max = p->rptr > q->rptr_max ? p->rptr : q->rptr_max;
	q->wptr_min = p->wptr < q->wptr_min ? p->wptr : q->wptr_min;
	q->wptr_max = p->wptr > q->wptr_max ? p->wptr : q->wptr_max;
}

static void count_queue_line(struct amdlog_queue *q, const struct amdlog_record *r)
{
	if (r->kind == AMDLOG_QUEUE_CREATED) {
		if (!q->created++)
			q->created_us = r->time_us;
	} else if (r->kind == AMDLOG_QUEUE_DELETED) {
		q->deleted++;
		q->deleted_us = r->time_us;
	}
}

void queue_count(struct amdlog_summary *s, const struct amdlog_event *e)
{
	if (e->queue == AMDLOG_NONE) {
		s->totals.strays += e->packet != NULL;
		if (s->part.resumed && e->packet && e->packet->hwq != AMDLOG_UNKNOWN)
			unresolved_value(s, e);
		return;
	}
	struct amdlog_queue *q = &s->queues[e->queue];
	q->records++;
	if (!e->packet) {
		count_queue_line(q, e->record);
		return;
	}
	span_add(&q->span, e->record->time_us);
	q->cut += e->cut;
	q->dispatches += e->record->kind == AMDLOG_DISPATCH;
	q->barriers +=
		e->record->kind == AMDLOG_BARRIER_AND || e->record->kind == AMDLOG_BARRIER_OR;
	q->barrier_values += e->record->kind == AMDLOG_BARRIER_VALUE;
	count_pointers(s, q, e->packet);
}
