// What of a summary stands in a part; partial_priv.h.
#include "common/amdlog/merge/partial_priv.h"

#include <string.h>

#define AT(row, key, member, type, sum)                                                         \
	{                                                                                       \
		key, offsetof(struct row, member), sizeof(((struct row *)0)->member), T_##type, \
			sum, 0, false                                                           \
	}
#define M(row, member, type, sum) AT(row, #member, member, type, sum)
#define SPAN(row) \
	AT(row, "first_us", span.first_us, U64, LEAST), AT(row, "last_us", span.last_us, U64, MOST)
#define SHAPES(row, name)                                                                         \
	AT(row, #name "_min", name.min, LIST, KEEP), AT(row, #name "_max", name.max, LIST, KEEP), \
		AT(row, #name "_items_min", name.items_min, U64, KEEP),                           \
		AT(row, #name "_items_max", name.items_max, U64, KEEP)
// A row of the summary's table n##of.
#define COUNT_OF(of) offsetof(struct amdlog_summary, n##of)
#define INDEX(row, member, of, required)                                              \
	{                                                                             \
#member, offsetof(struct row, member), sizeof(uint32_t), T_U32, KEEP, \
			COUNT_OF(of), required                                        \
	}
#define NAME(row, text)                                                                          \
	{                                                                                        \
		"name", offsetof(struct row, text), sizeof(struct member_name), T_NAME, KEEP, 0, \
			false                                                                    \
	}
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static const struct member process_members[] = {
	M(amdlog_process, pid, I64, KEEP),
	M(amdlog_process, source, U32, KEEP),
	M(amdlog_process, tid, U64, KEEP),
};

static const struct member thread_members[] = {
	INDEX(amdlog_thread, process, processes, true),
	AT(amdlog_thread, "tid", id.tid, U64, KEEP),
	M(amdlog_thread, records, U64, ADD),
	M(amdlog_thread, launches, U64, ADD),
	M(amdlog_thread, dispatches, U64, ADD),
	M(amdlog_thread, barriers, U64, ADD),
	M(amdlog_thread, api_calls, U64, ADD),
	M(amdlog_thread, api_errors, U64, ADD),
	SPAN(amdlog_thread),
	INDEX(amdlog_thread, kernel, kernels, false),
	M(amdlog_thread, stream, U64, KEEP),
	M(amdlog_thread, by_command, BOOL, KEEP),
	M(amdlog_thread, creating, BOOL, KEEP),
	INDEX(amdlog_thread, queue, queues, false),
	M(amdlog_thread, knows_kernel, BOOL, KEEP),
	M(amdlog_thread, knows_stream, BOOL, KEEP),
	M(amdlog_thread, head_dispatch, BOOL, KEEP),
	M(amdlog_thread, head_object, U64, KEEP),
	INDEX(amdlog_thread, head_kernel, kernels, false),
	INDEX(amdlog_thread, head_line, queues, false),
	M(amdlog_thread, head_made, U64, KEEP),
};

static const struct member queue_members[] = {
	INDEX(amdlog_queue, process, processes, true),
	M(amdlog_queue, hwq, U64, KEEP),
	M(amdlog_queue, swq, U64, KEEP),
	M(amdlog_queue, size, U64, KEEP),
	M(amdlog_queue, id, I64, KEEP),
	M(amdlog_queue, ids_differ, BOOL, ANY),
	M(amdlog_queue, priority, I8, KEEP),
	M(amdlog_queue, made, BOOL, KEEP),
	M(amdlog_queue, records, U64, ADD),
	M(amdlog_queue, dispatches, U64, ADD),
	M(amdlog_queue, barriers, U64, ADD),
	M(amdlog_queue, barrier_values, U64, ADD),
	M(amdlog_queue, torn, U64, ADD),
	M(amdlog_queue, created, U64, ADD),
	M(amdlog_queue, deleted, U64, ADD),
	SPAN(amdlog_queue),
	M(amdlog_queue, created_us, U64, KEEP),
	M(amdlog_queue, deleted_us, U64, KEEP),
	M(amdlog_queue, backlog_max, U64, MOST),
	M(amdlog_queue, backlog_sum, U64, ADD),
	M(amdlog_queue, backlog_n, U64, ADD),
	M(amdlog_queue, inversions, U64, ADD),
	M(amdlog_queue, rptr_min, U64, LEAST),
	M(amdlog_queue, rptr_max, U64, MOST),
	M(amdlog_queue, wptr_min, U64, LEAST),
	M(amdlog_queue, wptr_max, U64, MOST),
	INDEX(amdlog_queue, handle, queues, false),
	M(amdlog_queue, handle_unsure, BOOL, KEEP),
};

static const struct member kernel_members[] = {
	NAME(amdlog_kernel, name),
	M(amdlog_kernel, launches, U64, ADD),
	M(amdlog_kernel, dispatches, U64, ADD),
	SHAPES(amdlog_kernel, grid),
	SHAPES(amdlog_kernel, workgroup),
	SPAN(amdlog_kernel),
};

static const struct member api_members[] = {
	NAME(amdlog_api, name),           M(amdlog_api, calls, U64, ADD),
	M(amdlog_api, returns, U64, ADD), M(amdlog_api, errors, U64, ADD),
	M(amdlog_api, timed, U64, ADD),   M(amdlog_api, total_us, U64, ADD),
	M(amdlog_api, max_us, U64, MOST),
};

static const struct member stream_members[] = {
	INDEX(stream_period, process, processes, true),
	M(stream_period, stream, U64, KEEP),
	INDEX(stream_period, queue, queues, true),
	M(stream_period, created, U64, KEEP),
	M(stream_period, packets, U64, KEEP),
	M(stream_period, dispatches, U64, KEEP),
	SPAN(stream_period),
};

static const struct member head_members[] = {
	INDEX(stream_head, thread, threads, true),
	M(stream_head, what, U32, KEEP),
	INDEX(stream_head, queue, queues, false),
	M(stream_head, stream, U64, KEEP),
	M(stream_head, n, U64, KEEP),
	SPAN(stream_head),
};

static const struct member open_members[] = {
	INDEX(amdlog_unresolved, process, processes, true),
	INDEX(amdlog_unresolved, queue, queues, false),
	INDEX(amdlog_unresolved, thread, threads, false),
	M(amdlog_unresolved, object, U64, KEEP),
	M(amdlog_unresolved, value, BOOL, KEEP),
	M(amdlog_unresolved, n, U64, KEEP),
	M(amdlog_unresolved, torn, U64, KEEP),
	SPAN(amdlog_unresolved),
	SHAPES(amdlog_unresolved, grid),
	SHAPES(amdlog_unresolved, workgroup),
};

static const struct member error_members[] = {
	NAME(amdlog_error, text),
	INDEX(amdlog_error, process, processes, true),
	M(amdlog_error, of_queue, BOOL, KEEP),
	M(amdlog_error, address, U64, KEEP),
	M(amdlog_error, count, U64, KEEP),
	M(amdlog_error, first_us, U64, KEEP),
	M(amdlog_error, last_us, U64, KEEP),
};

static const struct member totals_members[] = {
	M(amdlog_totals, records, U64, ADD),
	M(amdlog_totals, kinds, LIST, ADD),
	M(amdlog_totals, styles, LIST, ADD),
	M(amdlog_totals, levels, LIST, ADD),
	M(amdlog_totals, torn, U64, ADD),
	M(amdlog_totals, unnamed, U64, ADD),
	M(amdlog_totals, no_pointers, U64, ADD),
	M(amdlog_totals, inversions, U64, ADD),
	M(amdlog_totals, steps_back, U64, ADD),
	M(amdlog_totals, api_errors, U64, ADD),
	M(amdlog_totals, strays, U64, ADD),
	M(amdlog_totals, hip_version, TEXT, KEEP),
	M(amdlog_totals, several_versions, BOOL, ANY),
};

static const struct member state_members[] = {
	M(amdlog_summary, want_api, BOOL, ANY), M(amdlog_summary, no_memory, BOOL, ANY),
	M(amdlog_summary, seen_swq, BOOL, ANY), M(amdlog_summary, first_us, U64, KEEP),
	M(amdlog_summary, last_us, U64, KEEP),
};

static const struct member part_own_members[] = {
	M(amdlog_part, from, U64, KEEP),
	M(amdlog_part, to, U64, KEEP),
	M(amdlog_part, mended, U64, ADD),
	M(amdlog_part, filtered, BOOL, ANY),
	M(amdlog_part, stopped, BOOL, KEEP),
	AT(amdlog_part, "bytes", counts.bytes, U64, ADD),
	AT(amdlog_part, "lines", counts.lines, U64, ADD),
	AT(amdlog_part, "records", counts.records, U64, ADD),
	AT(amdlog_part, "foreign", counts.foreign, U64, ADD),
	AT(amdlog_part, "glued", counts.glued, U64, ADD),
	AT(amdlog_part, "unended", counts.unended, U64, ADD),
};

const struct members part_totals = {totals_members, COUNT(totals_members)};
const struct members part_state = {state_members, COUNT(state_members)};
const struct members part_members = {part_own_members, COUNT(part_own_members)};

const struct pairs part_pairs[PART_PAIRS] = {
#define PAIRS(name, ...)                                                                   \
	{                                                                                  \
		.key = #name, .offset = offsetof(struct amdlog_summary, name), __VA_ARGS__ \
	}
	PAIRS(queue_kernels, .first = COUNT_OF(queues), .second = COUNT_OF(kernels)),
	PAIRS(queue_streams, .first = COUNT_OF(queues)),
	PAIRS(process_kernels, .first = COUNT_OF(processes), .second = COUNT_OF(kernels)),
	PAIRS(head_streams, .first = COUNT_OF(threads), .second = COUNT_OF(queues), .shift = 1),
	PAIRS(by_stream, .first = COUNT_OF(processes), .value = COUNT_OF(queues)),
	PAIRS(by_object, .first = COUNT_OF(processes), .value = COUNT_OF(kernels)),
};

// --- tables of rows ---

static bool put_process(struct amdlog_part *part, union row *row)
{
	struct amdlog_summary *s = part->sum;
	const struct amdlog_process *p = &row->process;
	const struct amdlog_thread_id id = {.pid = p->pid, .tid = p->tid, .source = p->source};

	return p->pid >= -1 && s->nprocesses == process_of(s, &id);
}

static bool put_thread(struct amdlog_part *part, union row *row)
{
	struct amdlog_summary *s = part->sum;
	struct amdlog_thread *t = &row->thread;
	const struct amdlog_process *p = &s->processes[t->process];
	uint32_t n;

	t->id.pid = p->pid;
	t->id.source = p->source;
	if (p->tid != AMDLOG_UNKNOWN && p->tid != t->id.tid)
		return false;
	n = thread_new(s, &t->id);
	if (s->threads[n].process != t->process)
		return false;
	s->threads[n] = *t;
	return true;
}

static bool put_queue(struct amdlog_part *part, union row *row)
{
	struct amdlog_summary *s = part->sum;
	const struct amdlog_queue *q = &row->queue;
	uint32_t n;

	if (q->hwq == AMDLOG_UNKNOWN && q->swq == AMDLOG_UNKNOWN)
		return false;
	n = queue_new(s, q->process);
	s->queues[n] = *q;
	return true;
}

static bool put_kernel(struct amdlog_part *part, union row *row)
{
	struct amdlog_summary *s = part->sum;
	struct amdlog_kernel *k = &row->kernel;
	uint32_t next = s->nkernels;

	if (kernel_named(s, k->name, k->len, intern_hash(k->name, k->len)) != next ||
	    s->nkernels == next)
		return false;
	k->name = s->kernels[next].name;
	s->kernels[next] = *k;
	return true;
}

static bool put_api(struct amdlog_part *part, union row *row)
{
	struct amdlog_summary *s = part->sum;
	uint32_t next = s->napis;

	if (api_named(s, row->api.name, row->api.len) != next || s->napis == next)
		return false;
	row->api.name = s->apis[next].name;
	s->apis[next] = row->api;
	return true;
}

static bool put_error(struct amdlog_part *part, union row *row)
{
	amdlog_errors_merge(&part->sum->errors, &row->error);
	return true;
}

static bool put_open(struct amdlog_part *part, union row *row)
{
	struct amdlog_summary *s = part->sum;

	ARRAY_GROW(s->open, s->open_cap, s->nopen);
	s->open[s->nopen++] = row->open;
	return true;
}

static bool put_period(struct amdlog_part *part, union row *row)
{
	amdlog_streams_put(&part->streams, &row->period);
	return true;
}

static bool put_head(struct amdlog_part *part, union row *row)
{
	const struct stream_head *h = &row->head;

	return (h->queue != AMDLOG_NONE || h->what == STREAM_HEAD_MADE) &&
	       amdlog_streams_put_head(&part->streams, h);
}

#define ROWS(of, rows_at, n_at) \
	offsetof(struct of, rows_at), offsetof(struct of, n_at), sizeof(*((struct of *)0)->rows_at)
#define MEMBERS(name)                                 \
	{                                             \
		name##_members, COUNT(name##_members) \
	}
static const struct amdlog_api api_blank;
static const struct amdlog_error error_initial = {.process = AMDLOG_NONE,
						  .address = AMDLOG_UNKNOWN};
static const struct stream_period period_initial = {.process = AMDLOG_NONE, .queue = AMDLOG_NONE};
static const struct stream_head head_initial = {.thread = AMDLOG_NONE, .queue = AMDLOG_NONE};

const struct section part_sections[PART_SECTIONS] = {
	{"processes", MEMBERS(process), ROWS(amdlog_summary, processes, nprocesses), &process_blank,
	 true, false, put_process},
	{"kernels", MEMBERS(kernel), ROWS(amdlog_summary, kernels, nkernels), &kernel_blank, true,
	 false, put_kernel},
	{"apis", MEMBERS(api), ROWS(amdlog_summary, apis, napis), &api_blank, true, false, put_api},
	{"errors", MEMBERS(error), ROWS(amdlog_summary, errors.v, errors.n), &error_initial, false,
	 false, put_error},
	{"queues", MEMBERS(queue), ROWS(amdlog_summary, queues, nqueues), &queue_blank, true, false,
	 put_queue},
	{"threads", MEMBERS(thread), ROWS(amdlog_summary, threads, nthreads), &thread_blank, true,
	 false, put_thread},
	{"open", MEMBERS(open), ROWS(amdlog_summary, open, nopen), &unresolved_blank, true, false,
	 put_open},
	{"streams", MEMBERS(stream), ROWS(amdlog_streams, v, n), &period_initial, false, true,
	 put_period},
	{"stream_heads", MEMBERS(head), ROWS(amdlog_streams, heads, nheads), &head_initial, false,
	 true, put_head},
};

const char *section_rows(const struct section *x, const struct amdlog_part *part, uint32_t *n)
{
	const char *base = x->of_streams ? (const char *)&part->streams : (const char *)part->sum;
	const char *rows;

	memcpy(n, base + x->count, sizeof(*n));
	memcpy(&rows, base + x->rows, sizeof(rows));
	return rows;
}

void members_add(const struct members *m, void *to, const void *from)
{
	for (const struct member *v = m->v; v < m->v + m->n; v++) {
		uint64_t *a = (uint64_t *)(void *)((char *)to + v->offset);
		const uint64_t *b =
			(const uint64_t *)(const void *)((const char *)from + v->offset);

		switch (v->sum) {
		case KEEP: break;
		case ADD:
			for (size_t i = 0; i < v->size / sizeof(*a); i++)
				a[i] += b[i];
			break;
		case LEAST: *a = *b < *a ? *b : *a; break;
		case MOST: *a = *b > *a ? *b : *a; break;
		case ANY: *(bool *)a |= *(const bool *)b; break;
		}
	}
}
