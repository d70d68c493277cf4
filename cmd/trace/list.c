// gpq trace --list: a row for each record, in the order of the log.
//
// Process, queue and kernel of a row depend on earlier records: one thread, which takes the blocks
// in order, notes them. Then any thread formats the rows of a block (struct trace_rows).
#include "cmd/trace/trace.h"

struct list_row {
	uint64_t time_us, offset, tid, level, hwq, swq, rptr, wptr, backlog;
	int64_t pid, id;
	uint64_t duration_us;
	const char *kind, *api, *kernel, *demangled, *grid, *workgroup, *text;
	int8_t cut;
};

// Rows are written before the next is known: each column has a fixed width, its last argument.
#define ROW list_row
// Of chosen kernels only launches and dispatches are listed: there people need no API, and KIND has
// shorter words.
#define LIST_COLS(kind_width, api_flags, kernel_width)                                             \
	COL(time_us, "TIME_US", "time_us", U64, D, "CLOCK_MONOTONIC", 13),                         \
		COL(pid, "PID", "pid", I64, D | W, "process id in its own namespace", 7),          \
		COL(tid, "THREAD", "thread", HEX, D | W, "pthread_self()", 14),                    \
		COL(level, "LOG_LEVEL", "log_level", U64, M, "level of the record", 9),            \
		COL(kind, "KIND", "kind", STR, D, "what the record is about", kind_width),         \
		COL(hwq, "HWQ", "hwq", HEX, D, "ring address", 14),                                \
		COL(swq, "SWQ", "swq", HEX, M, "address of the hsa_queue_t", 14),                  \
		COL(id, "ID", "id", I64, D | W, "ROCr's count of queues", 3),                      \
		COL(rptr, "RPTR", "rptr", U64, D | W, "read pointer", 10),                         \
		COL(wptr, "WPTR", "wptr", U64, D | W, "write pointer: index of this packet", 10),  \
		COL(backlog, "BACKLOG", "backlog", U64, 0, "packets waiting in front of it", 7),   \
		COL(grid, "GRID", "grid", STR, D | W, "work-items", 14),                           \
		COL(workgroup, "WORKGROUP", "workgroup", STR, D | W, "work-items of a group", 10), \
		COL(cut, "CUT", "cut", BOOL, M, "the record misses a part", 3),                    \
		COL(offset, "OFFSET", "offset", U64, 0, "of the record in the input, bytes", 10),  \
		COL(duration_us, "DURATION_US", "duration_us", U64, M, "of a returning API call",  \
		    11),                                                                           \
		COL(api, "API", "api", STR, api_flags, "API function", 20),                        \
		COL(kernel, "KERNEL", "kernel", STR, D | T | OUT_MANGLED, "kernel's name",         \
		    kernel_width),                                                                 \
		COL(demangled, "DEMANGLED", "demangled", STR, T | OUT_DEMANGLED,                   \
		    "the same for people", kernel_width),                                          \
		COL(text, "TEXT", "text", STR, 0, "the message", 4)
static const struct out_col cols[] = {LIST_COLS(14, D | T, 24)};
static const struct out_col kernel_cols[] = {LIST_COLS(8, T, 40)};
#undef ROW
const struct out_table trace_list_table = {"records", "record", OUT_COLS(cols)};
static const struct out_table kernel_table = {"records", "record", OUT_COLS(kernel_cols)};

const struct schema trace_list_schema = {"gpq.trace.list", 1, SCHEMA_TABLES(&trace_list_table),
					 trace_notes_only};

#define TEXT_COLUMN (COUNT(cols) - 1)

// A row that is not formatted yet.
struct noted_row {
	const struct amdlog_record *record;
	const struct amdlog_packet *packet; // NULL: the record has none
	struct amdlog_thread_id thread;
	uint64_t hwq, swq;
	const char *kernel, *demangled;
	bool cut;
};

// Returns the record's message as a string, whose control characters are escaped on output.
static const char *message(struct trace_rows *rows, const struct amdlog_record *r)
{
	if (!out_wants(rows->out, TEXT_COLUMN))
		return NULL;
	rows->text.len = 0;
	buf_append(&rows->text, r->msg, r->msg_len);
	return rows->text.data;
}

// Copies the function's name, the first bytes of the message, from an API line. Returns NULL for
// other lines. The scanner takes no longer names than `out` holds.
static const char *api_name(char out[160], const struct amdlog_record *r)
{
	if (!r->name_len || r->name_len >= 160)
		return NULL;
	memcpy(out, r->msg, r->name_len);
	out[r->name_len] = 0;
	return out;
}

static void write_row(struct trace_rows *rows, const struct noted_row *n)
{
	static const struct amdlog_packet none = {.id = -1,
						  .rptr = AMDLOG_UNKNOWN,
						  .wptr = AMDLOG_UNKNOWN,
						  .grid = {AMDLOG_UNKNOWN},
						  .workgroup = {AMDLOG_UNKNOWN}};
	const struct amdlog_record *record = n->record;
	const struct amdlog_packet *packet = n->packet ? n->packet : &none;
	char shapes[2][64], api[160];
	struct list_row r = {
		.time_us = record->time_us,
		.offset = record->offset,
		.tid = n->thread.tid,
		.level = record->level < 10 ? record->level : U64_NULL,
		.hwq = n->hwq,
		.swq = n->swq,
		.rptr = packet->rptr,
		.wptr = packet->wptr,
		.backlog = amdlog_packet_backlog(packet),
		.id = packet->id < 0 ? I64_NULL : packet->id,
		.pid = n->thread.pid < 0 ? I64_NULL : n->thread.pid,
		.kind = amdlog_kind_name(record->kind),
		.cut = n->cut,
		.kernel = n->kernel,
		.demangled = n->demangled,
		.grid = trace_shape(shapes[0], packet->grid),
		.workgroup = trace_shape(shapes[1], packet->workgroup),
		.text = message(rows, record),
		.api = api_name(api, record),
		.duration_us =
			record->kind == AMDLOG_API_RETURN ? amdlog_api_duration(record) : U64_NULL,
	};
	out_row(rows->out, &r);
}

void trace_rows_format(struct trace_rows *rows)
{
	for (size_t i = 0; i < rows->n; i++)
		write_row(rows, &rows->v[i]);
	rows->n = 0;
}

void trace_rows_fini(struct trace_rows *rows)
{
	buf_fini(&rows->text);
	free(rows->v);
}

static void list_event(struct trace *t, const struct amdlog_event *e)
{
	struct noted_row n = {
		.record = e->record,
		.packet = e->packet,
		.thread = *e->thread_id,
		.hwq = U64_NULL,
		.swq = U64_NULL,
		.cut = e->cut,
	};
	if (e->kernel != AMDLOG_NONE) {
		n.kernel = t->sum.kernels[e->kernel].name;
		n.demangled = trace_name_shown(t, e->kernel);
	}
	if (e->packet) {
		n.hwq = e->packet->hwq;
		n.swq = e->packet->swq;
	} else if (e->queue != AMDLOG_NONE) {
		n.hwq = t->sum.queues[e->queue].hwq;
		n.swq = t->sum.queues[e->queue].swq;
	}
	ARRAY_GROW(t->rows->v, t->rows->cap, t->rows->n);
	t->rows->v[t->rows->n++] = n;
	// A record outside of the block, which was put together from torn lines, will be gone when
	// the block's rows are formatted: format it, and the rows before it, now.
	if ((uintptr_t)e->record < (uintptr_t)t->rows->first ||
	    (uintptr_t)e->record >= (uintptr_t)t->rows->end)
		trace_rows_format(t->rows);
}

static int report_list(struct trace *t)
{
	out_end(t->out);
	return GPQ_OK;
}

static const struct trace_view views[] = {{.table = &trace_list_table, .by = BY_NOTHING}, {0}};
static const struct trace_view kernel_views[] = {{.table = &kernel_table, .by = BY_NOTHING}, {0}};

#define LIST(of)                                                                  \
	{                                                                         \
		.schema = &trace_list_schema, .views = (of), .event = list_event, \
		.kinds = UINT32_MAX, .report = report_list,                       \
	}
const struct trace_ask trace_list = LIST(views), trace_list_kernels = LIST(kernel_views);
