// What of a summary stands in a part; partial_priv.h.
#include "common/amdlog/merge/partial_priv.h"

#define M(row, member, type)                                                              \
	{                                                                                 \
#member, offsetof(struct row, member), sizeof(((struct row *)0)->member), \
			T_##type, NULL                                                    \
	}
#define SPAN(row)                                                                            \
	{"first_us", offsetof(struct row, span.first_us), sizeof(uint64_t), T_U64, NULL},    \
	{                                                                                    \
		"last_us", offsetof(struct row, span.last_us), sizeof(uint64_t), T_U64, NULL \
	}
#define INDEX(row, member, of)                                                                \
	{                                                                                     \
#member, offsetof(struct row, member), sizeof(uint32_t), T_U32, count_of_##of \
	}
// NOLINTBEGIN(bugprone-macro-parentheses): members of members
#define SHAPES(row, name)                                                                          \
	{#name "_min", offsetof(struct row, name.min), 3 * sizeof(uint64_t), T_LIST, NULL},        \
		{#name "_max", offsetof(struct row, name.max), 3 * sizeof(uint64_t), T_LIST,       \
		 NULL},                                                                            \
		{#name "_items_min", offsetof(struct row, name.items_min), sizeof(uint64_t),       \
		 T_U64, NULL},                                                                     \
	{                                                                                          \
#name "_items_max", offsetof(struct row, name.items_max), sizeof(uint64_t), T_U64, \
			NULL                                                                       \
	}
// NOLINTEND(bugprone-macro-parentheses)
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

#define BOUND(of)                                                            \
	static const uint32_t *count_of_##of(const struct amdlog_summary *s) \
	{                                                                    \
		return &s->n##of;                                            \
	}
BOUND(processes)
BOUND(threads)
BOUND(queues)
BOUND(kernels)

static const struct member process_members[] = {
	M(amdlog_process, pid, I64),
	M(amdlog_process, source, U32),
	M(amdlog_process, tid, U64),
};

static const struct member thread_members[] = {
	INDEX(amdlog_thread, process, processes),
	{"tid", offsetof(struct amdlog_thread, who.tid), sizeof(uint64_t), T_U64, NULL},
	M(amdlog_thread, records, U64),
	M(amdlog_thread, launches, U64),
	M(amdlog_thread, dispatches, U64),
	M(amdlog_thread, barriers, U64),
	M(amdlog_thread, api_calls, U64),
	M(amdlog_thread, api_errors, U64),
	SPAN(amdlog_thread),
	INDEX(amdlog_thread, kernel, kernels),
	M(amdlog_thread, stream, U64),
	M(amdlog_thread, by_command, BOOL),
	M(amdlog_thread, creating, BOOL),
	INDEX(amdlog_thread, queue, queues),
	M(amdlog_thread, knows_kernel, BOOL),
	M(amdlog_thread, knows_stream, BOOL),
	M(amdlog_thread, head_dispatch, BOOL),
	M(amdlog_thread, head_object, U64),
	INDEX(amdlog_thread, head_kernel, kernels),
	INDEX(amdlog_thread, head_line, queues),
	M(amdlog_thread, head_made, U64),
};

static const struct member queue_members[] = {
	INDEX(amdlog_queue, process, processes),
	M(amdlog_queue, hwq, U64),
	M(amdlog_queue, swq, U64),
	M(amdlog_queue, size, U64),
	M(amdlog_queue, id, I64),
	M(amdlog_queue, ids_differ, BOOL),
	M(amdlog_queue, priority, I8),
	M(amdlog_queue, made, BOOL),
	M(amdlog_queue, records, U64),
	M(amdlog_queue, dispatches, U64),
	M(amdlog_queue, barriers, U64),
	M(amdlog_queue, barrier_values, U64),
	M(amdlog_queue, torn, U64),
	M(amdlog_queue, created, U64),
	M(amdlog_queue, deleted, U64),
	SPAN(amdlog_queue),
	M(amdlog_queue, created_us, U64),
	M(amdlog_queue, deleted_us, U64),
	M(amdlog_queue, backlog_max, U64),
	M(amdlog_queue, backlog_sum, U64),
	M(amdlog_queue, backlog_n, U64),
	M(amdlog_queue, inversions, U64),
	M(amdlog_queue, rptr_min, U64),
	M(amdlog_queue, rptr_max, U64),
	M(amdlog_queue, wptr_min, U64),
	M(amdlog_queue, wptr_max, U64),
	INDEX(amdlog_queue, handle, queues),
	M(amdlog_queue, handle_unsure, BOOL),
};

static const struct member kernel_members[] = {
	M(amdlog_kernel, launches, U64),
	M(amdlog_kernel, dispatches, U64),
	SHAPES(amdlog_kernel, grid),
	SHAPES(amdlog_kernel, workgroup),
	SPAN(amdlog_kernel),
};

static const struct member api_members[] = {
	M(amdlog_api, calls, U64), M(amdlog_api, returns, U64),  M(amdlog_api, errors, U64),
	M(amdlog_api, timed, U64), M(amdlog_api, total_us, U64), M(amdlog_api, max_us, U64),
};

static const struct member stream_members[] = {
	INDEX(stream_period, process, processes),
	M(stream_period, stream, U64),
	INDEX(stream_period, queue, queues),
	M(stream_period, created, U64),
	M(stream_period, packets, U64),
	M(stream_period, dispatches, U64),
	SPAN(stream_period),
};

static const struct member head_members[] = {
	INDEX(stream_head, thread, threads),
	M(stream_head, what, U32),
	INDEX(stream_head, queue, queues),
	M(stream_head, stream, U64),
	M(stream_head, n, U64),
	SPAN(stream_head),
};

static const struct member open_members[] = {
	INDEX(amdlog_open, process, processes),
	INDEX(amdlog_open, queue, queues),
	INDEX(amdlog_open, thread, threads),
	M(amdlog_open, object, U64),
	M(amdlog_open, value, BOOL),
	M(amdlog_open, n, U64),
	M(amdlog_open, torn, U64),
	SPAN(amdlog_open),
	SHAPES(amdlog_open, grid),
	SHAPES(amdlog_open, workgroup),
};

static const struct member error_members[] = {
	M(amdlog_error, process, U32),  M(amdlog_error, of_queue, BOOL),
	M(amdlog_error, address, U64),  M(amdlog_error, count, U64),
	M(amdlog_error, first_us, U64), M(amdlog_error, last_us, U64),
};

static const struct member totals_members[] = {
	M(amdlog_totals, records, U64),
	M(amdlog_totals, kinds, LIST),
	M(amdlog_totals, styles, LIST),
	M(amdlog_totals, levels, LIST),
	M(amdlog_totals, torn, U64),
	M(amdlog_totals, unnamed, U64),
	M(amdlog_totals, no_pointers, U64),
	M(amdlog_totals, inversions, U64),
	M(amdlog_totals, steps_back, U64),
	M(amdlog_totals, api_errors, U64),
	M(amdlog_totals, strays, U64),
	M(amdlog_totals, hip_version, TEXT),
	M(amdlog_totals, several_versions, BOOL),
};

static const struct member state_members[] = {
	M(amdlog_summary, want_api, BOOL), M(amdlog_summary, no_memory, BOOL),
	M(amdlog_summary, seen_swq, BOOL), M(amdlog_summary, first_us, U64),
	M(amdlog_summary, last_us, U64),
};

static const struct member part_members[] = {
	M(amdlog_part, from, U64),
	M(amdlog_part, to, U64),
	M(amdlog_part, mended, U64),
	M(amdlog_part, filtered, BOOL),
	M(amdlog_part, stopped, BOOL),
#define C(name)                                                                                 \
	{                                                                                       \
#name, offsetof(struct amdlog_part, counts.name), sizeof(uint64_t), T_U64, NULL \
	}
	C(bytes),
	C(lines),
	C(records),
	C(foreign),
	C(glued),
	C(unended),
#undef C
};

const struct members partial_process = {process_members, COUNT(process_members)};
const struct members partial_thread = {thread_members, COUNT(thread_members)};
const struct members partial_queue = {queue_members, COUNT(queue_members)};
const struct members partial_kernel = {kernel_members, COUNT(kernel_members)};
const struct members partial_api = {api_members, COUNT(api_members)};
const struct members partial_stream = {stream_members, COUNT(stream_members)};
const struct members partial_head = {head_members, COUNT(head_members)};
const struct members partial_open = {open_members, COUNT(open_members)};
const struct members partial_error = {error_members, COUNT(error_members)};
const struct members partial_totals = {totals_members, COUNT(totals_members)};
const struct members partial_state = {state_members, COUNT(state_members)};
const struct members partial_part = {part_members, COUNT(part_members)};

bool blanks_init(struct blanks *b)
{
	const struct amdlog_filter none = {.until_us = AMDLOG_UNKNOWN};
	const struct amdlog_who nobody = {.pid = -1, .tid = AMDLOG_UNKNOWN};
	struct amdlog_summary s;
	bool ok;

	amdlog_summary_init(&s, &none);
	ok = thread_new(&s, &nobody) == 0 && queue_new(&s, 0) == 0 &&
	     kernel_named(&s, "", 0, intern_hash("", 0)) == 0 && api_named(&s, "", 0) == 0;
	if (ok) {
		b->process = s.processes[0];
		b->thread = s.threads[0];
		b->queue = s.queues[0];
		b->kernel = s.kernels[0];
		b->api = s.apis[0];
		open_init(&b->open);
		// Every row says which process it is of.
		b->thread.process = b->queue.process = AMDLOG_NONE;
	}
	amdlog_summary_fini(&s);
	return ok;
}
