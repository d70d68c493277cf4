// Shared by summary.c (records), reading.c (block results), queue.c (queues and streams),
// summary_end.c, and the merge of parts.
#pragma once

#include "common/amdlog/model/summary.h"

static inline void span_add(struct amdlog_span *s, uint64_t us)
{
	if (us == AMDLOG_UNKNOWN)
		return;
	s->first_us = us < s->first_us ? us : s->first_us;
	s->last_us = us > s->last_us ? us : s->last_us;
}

static inline void span_merge(struct amdlog_span *to, const struct amdlog_span *from)
{
	if (from->first_us > from->last_us)
		return;
	span_add(to, from->first_us);
	span_add(to, from->last_us);
}

#define SPAN_NONE   ((struct amdlog_span){AMDLOG_UNKNOWN, 0})
#define SHAPES_NONE ((struct amdlog_shapes){.items_min = AMDLOG_UNKNOWN})

// Rows with all members unknown or 0, to begin new rows with.
extern const struct amdlog_process process_blank;
extern const struct amdlog_thread thread_blank;
extern const struct amdlog_queue queue_blank;
extern const struct amdlog_kernel kernel_blank;
extern const struct amdlog_unresolved unresolved_blank;

// The row of the thread with the scanner's number `thread`, made if it is new.
struct amdlog_thread *summary_thread(struct amdlog_summary *s, const struct amdlog_scan *scan,
				     uint32_t thread);

// Apply what a record tells of queues and streams. The queue_place_ functions set event->queue.
void queue_place_packet(struct amdlog_summary *s, struct amdlog_thread *t, struct amdlog_event *e);
void queue_place_line(struct amdlog_summary *s, struct amdlog_thread *t, struct amdlog_event *e);
void stream_api_entry(struct amdlog_thread *t, const struct amdlog_record *r);
void stream_api_return(struct amdlog_summary *s, struct amdlog_thread *t, struct amdlog_event *e);
void stream_set(struct amdlog_thread *t, const struct block_stream *known);
void stream_command(struct amdlog_thread *t, const struct amdlog_record *r);

void queue_count(struct amdlog_summary *s, const struct amdlog_event *e);

// Note that a stream was created on queue `q`, was seen on it, or sent it a packet; the packet may
// tell the queue's handle.
void stream_made_on(struct amdlog_summary *s, uint32_t process, uint64_t stream, uint32_t q);
void stream_seen(struct amdlog_summary *s, uint32_t q, uint64_t stream);
void stream_wrote_to(struct amdlog_summary *s, uint64_t stream, uint32_t q);

void shapes_add(struct amdlog_shapes *s, const uint64_t dim[3]);
void shapes_merge(struct amdlog_shapes *to, const struct amdlog_shapes *from);

// The row of a process, kernel or API function, made if it is new; AMDLOG_NONE: too many names.
// queue_new() and thread_new() always make a row.
uint32_t process_of(struct amdlog_summary *s, const struct amdlog_thread_id *w);
uint32_t kernel_named(struct amdlog_summary *s, const char *name, size_t len, uint32_t hash);
uint32_t api_named(struct amdlog_summary *s, const char *name, size_t len);
uint32_t queue_new(struct amdlog_summary *s, uint32_t process);
uint32_t thread_new(struct amdlog_summary *s, const struct amdlog_thread_id *w);

// The queue of a BarrierValue line, which up to ROCm 6.1 has the handle as HWq; AMDLOG_NONE: none.
uint32_t queue_of_value(struct amdlog_summary *s, uint32_t process, uint64_t address);

// Keeps a part's BarrierValue packet whose queue is not known, for the merge to resolve.
void unresolved_value(struct amdlog_summary *s, const struct amdlog_event *e);

// Adds the pair (a, b). True: the pair is new.
bool pair_is_new(struct intern *pairs, uint64_t a, uint64_t b);

// Notes a kernel seen in a process and, unless AMDLOG_NONE, on a queue: counts each pair once.
void kernel_seen(struct amdlog_summary *s, uint32_t kernel, uint32_t process, uint32_t queue);
