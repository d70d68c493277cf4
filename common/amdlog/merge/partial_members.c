// The tables of the members that a part contains; partial_priv.h.
#include "common/amdlog/merge/partial_priv.h"

#include "common/cli/text.h"
#include "common/host/number.h"

// --- types of members that only parts have ---

bool read_number(const struct jsonin_value *v, uint64_t *n)
{
	*n = AMDLOG_UNKNOWN;
	return v->kind == 'n' || jsonin_u64(v, n);
}

// Writes a uint64_t (AMDLOG_UNKNOWN as null) or, by its size, a uint32_t.
static void write_number_member(struct json *j, const struct member *m, const void *at)
{
	const bool half = m->size == sizeof(uint32_t);
	json_u64(j, m->key, half ? *(const uint32_t *)at : *(const uint64_t *)at);
}

static bool read_number_member(const struct jsonin_value *v, const struct member *m, void *at)
{
	uint64_t u;
	if (m->size != sizeof(uint32_t))
		return read_number(v, at);
	if (!jsonin_u64(v, &u) || u > UINT32_MAX)
		return false;
	*(uint32_t *)at = (uint32_t)u;
	return true;
}

// Writes an int64_t or, by its size, an int8_t of -1 to 3.
static void write_signed(struct json *j, const struct member *m, const void *at)
{
	json_i64(j, m->key, m->size == 1 ? *(const int8_t *)at : *(const int64_t *)at);
}

static bool read_signed(const struct jsonin_value *v, const struct member *m, void *at)
{
	bool minus = v->len && v->text[0] == '-';
	struct jsonin_value digits = *v;
	uint64_t u;
	digits.text += minus;
	digits.len -= minus;
	if (v->kind != '0' || !jsonin_u64(&digits, &u) || u > INT64_MAX)
		return false;
	int64_t i = minus ? -(int64_t)u : (int64_t)u;
	if (m->size == 1 && (i < -1 || i > 3))
		return false;
	if (m->size == 1)
		*(int8_t *)at = (int8_t)i;
	else
		*(int64_t *)at = i;
	return true;
}

// Writes a uint64_t[], each AMDLOG_UNKNOWN as null.
static void write_list(struct json *j, const struct member *m, const void *at)
{
	json_begin(j, m->key, '[');
	for (size_t i = 0; i < m->size / sizeof(uint64_t); i++)
		json_u64(j, NULL, ((const uint64_t *)at)[i]);
	json_end(j, ']');
}

static bool read_list(const struct jsonin_value *v, const struct member *m, void *at)
{
	const size_t most = m->size / sizeof(uint64_t);
	uint64_t *to = at;
	struct jsonin j;
	struct jsonin_value each;
	size_t n = 0;
	jsonin_open(&j, v->text, v->len, '[');
	while (n < most && jsonin_next(&j, NULL, &each))
		if (!read_number(&each, &to[n++]))
			return false;
	return n == most && !jsonin_next(&j, NULL, &each) && !j.failed;
}

// True if a name is UTF-8: one that was cut within a character is not, and is written in hex, so
// that it comes back as it was.
static bool is_utf8(const struct member_name *name)
{
	size_t at = 0, n;
	while (at < name->len && (n = text_utf8(name->text + at, name->len - at)))
		at += n;
	return at == name->len;
}

static void write_name(struct json *j, const struct member *m, const void *at)
{
	const struct member_name *name = at;
	if (is_utf8(name))
		json_strn(j, m->key, name->text, name->len);
}

static void write_name_hex(struct json *j, const struct member *m, const void *at)
{
	const struct member_name *name = at;
	SCOPED(buf_fini) struct buf hex = {0};
	if (is_utf8(name))
		return;
	for (size_t i = 0; i < name->len; i++)
		buf_printf(&hex, "%02x", (unsigned char)name->text[i]);
	json_str(j, m->key, hex.data);
}

char *copy_string(const struct jsonin_value *v)
{
	char *text = xmalloc(v->len + 1);
	if (jsonin_str(v, text, v->len + 1))
		return text;
	free(text);
	return NULL;
}

// Reads the one name of a row; read_row() frees the text.
static bool read_name(const struct jsonin_value *v, const struct member *m, void *at)
{
	struct member_name *name = at;
	char *text;
	(void)m;
	if (name->text || !(text = copy_string(v)))
		return false;
	name->text = text;
	name->len = (uint32_t)strlen(text);
	return true;
}

static bool read_name_hex(const struct jsonin_value *v, const struct member *m, void *at)
{
	struct member_name *name = at;
	if (!read_name(v, m, at))
		return false;
	char *text = (char *)(uintptr_t)name->text;
	const bool whole = name->len % 2 == 0;
	name->len /= 2;
	for (size_t i = 0; i < name->len; i++) {
		const int high = hex_digit(text[2 * i]), low = hex_digit(text[2 * i + 1]);
		if (high < 0 || low < 0)
			return false;
		text[i] = (char)(high << 4 | low);
	}
	return whole;
}

static const struct member_type member_number = {write_number_member, read_number_member},
				member_signed = {write_signed, read_signed},
				member_list = {write_list, read_list};
const struct member_type member_name = {write_name, read_name},
			 member_name_hex = {write_name_hex, read_name_hex};

// --- tables of members ---

// A struct part_member: a member of struct ROW and its key in JSON; `sum`: enum member_sum.
#define AT(key, member, type, sum)                            \
	{                                                     \
		MEMBER(type, ROW, member, key), 0, sum, false \
	}
#define M(member, type, sum) AT(#member, member, type, sum)
// NOLINTBEGIN(bugprone-macro-parentheses): names of members take none
// The members of struct ROW's `span`.
#define SPAN AT("first_us", span.first_us, number, LEAST), AT("last_us", span.last_us, number, MOST)
#define SHAPES(name)                                                                    \
	AT(#name "_min", name.min, list, KEEP), AT(#name "_max", name.max, list, KEEP), \
		AT(#name "_items_min", name.items_min, number, KEEP),                   \
		AT(#name "_items_max", name.items_max, number, KEEP)
// NOLINTEND(bugprone-macro-parentheses)
// A member that is an index into the summary's table `of`, which has n##of rows.
#define COUNT_OF(of) offsetof(struct amdlog_summary, n##of)
#define INDEX(key, member, of, required)                                       \
	{                                                                      \
		MEMBER(number, ROW, member, key), COUNT_OF(of), KEEP, required \
	}
#define NAME(text)         AT("name", text, name, KEEP), AT("name_hex", text, name_hex, KEEP)
#define MEMBERS(name, ...) const struct part_member name[] = {__VA_ARGS__, {.is.key = NULL}}
#define TABLE(name, ...)   static MEMBERS(name##_members, __VA_ARGS__)

#define ROW amdlog_process
TABLE(process, M(pid, signed, KEEP), M(source, number, KEEP), M(tid, number, KEEP));
#undef ROW

#define ROW amdlog_thread
TABLE(thread, INDEX("process", process, processes, true), AT("tid", id.tid, number, KEEP),
      M(records, number, ADD), M(launches, number, ADD), M(dispatches, number, ADD),
      M(barriers, number, ADD), M(api_calls, number, ADD), M(api_errors, number, ADD), SPAN,
      INDEX("kernel", kernel, kernels, false), M(stream, number, KEEP), M(by_command, flag, KEEP),
      M(creating, flag, KEEP), INDEX("queue", queue, queues, false), M(knows_kernel, flag, KEEP),
      M(knows_stream, flag, KEEP), AT("head_dispatch", head.dispatch, flag, KEEP),
      AT("head_object", head.object, number, KEEP),
      INDEX("head_kernel", head.kernel, kernels, false),
      INDEX("head_line", head.line, queues, false), AT("head_made", head.made, number, KEEP));
#undef ROW

#define ROW amdlog_queue
TABLE(queue, INDEX("process", process, processes, true), M(hwq, number, KEEP), M(swq, number, KEEP),
      M(size, number, KEEP), M(id, signed, KEEP), M(ids_differ, flag, ANY),
      M(priority, signed, KEEP), M(made, flag, KEEP), M(records, number, ADD),
      M(dispatches, number, ADD), M(barriers, number, ADD), M(barrier_values, number, ADD),
      M(cut, number, ADD), M(created, number, ADD), M(deleted, number, ADD), SPAN,
      M(created_us, number, KEEP), M(deleted_us, number, KEEP), M(backlog_max, number, MOST),
      M(backlog_sum, number, ADD), M(backlog_n, number, ADD), M(inversions, number, ADD),
      M(rptr_min, number, LEAST), M(rptr_max, number, MOST), M(wptr_min, number, LEAST),
      M(wptr_max, number, MOST), INDEX("handle", handle, queues, false),
      M(handle_unsure, flag, KEEP));
#undef ROW

#define ROW amdlog_kernel
TABLE(kernel, NAME(name), M(launches, number, ADD), M(dispatches, number, ADD), SHAPES(grid),
      SHAPES(workgroup), SPAN);
#undef ROW

#define ROW amdlog_api
TABLE(api, NAME(name), M(calls, number, ADD), M(returns, number, ADD), M(errors, number, ADD),
      M(timed, number, ADD), M(total_us, number, ADD), M(max_us, number, MOST));
#undef ROW

#define ROW stream_period
TABLE(stream, INDEX("process", process, processes, true), M(stream, number, KEEP),
      INDEX("queue", queue, queues, true), M(created, number, KEEP), M(packets, number, KEEP),
      M(dispatches, number, KEEP), SPAN);
#undef ROW

#define ROW stream_head
TABLE(head, INDEX("thread", thread, threads, true), M(what, number, KEEP),
      INDEX("queue", queue, queues, false), M(stream, number, KEEP), M(n, number, KEEP), SPAN);
#undef ROW

#define ROW amdlog_unresolved
TABLE(open, INDEX("process", process, processes, true), INDEX("queue", queue, queues, false),
      INDEX("thread", thread, threads, false), M(object, number, KEEP), M(value, flag, KEEP),
      M(n, number, KEEP), M(cut, number, KEEP), SPAN, SHAPES(grid), SHAPES(workgroup));
#undef ROW

#define ROW amdlog_error
TABLE(error, NAME(text), INDEX("process", process, processes, true), M(of_queue, flag, KEEP),
      M(address, number, KEEP), M(count, number, KEEP), M(first_us, number, KEEP),
      M(last_us, number, KEEP));
#undef ROW

#define ROW amdlog_totals
MEMBERS(part_totals, M(records, number, ADD), M(kinds, list, ADD), M(styles, list, ADD),
	M(levels, list, ADD), M(cut, number, ADD), M(unnamed, number, ADD),
	M(no_pointers, number, ADD), M(inversions, number, ADD), M(steps_back, number, ADD),
	M(api_errors, number, ADD), M(strays, number, ADD), M(hip_version, plain, KEEP),
	M(several_versions, flag, ANY));
#undef ROW

#define ROW amdlog_summary
MEMBERS(part_state, M(want_api, flag, ANY), M(no_memory, flag, ANY),
	AT("seen_swq", state.prints_swq, flag, ANY), AT("first_us", state.first_us, number, KEEP),
	AT("last_us", state.last_us, number, KEEP));
#undef ROW

#define ROW amdlog_part
MEMBERS(part_members, M(inode, number, KEEP), M(head, number, KEEP), M(filter, number, KEEP),
	M(size, number, KEEP), M(rank, number, KEEP), M(asked, number, KEEP), M(from, number, KEEP),
	M(to, number, KEEP), M(mended, number, ADD), M(filtered, flag, ANY), M(stopped, flag, KEEP),
	AT("bytes", counts.bytes, number, ADD), AT("lines", counts.lines, number, ADD),
	AT("records", counts.records, number, ADD), AT("foreign", counts.foreign, number, ADD),
	AT("glued", counts.glued, number, ADD), AT("unended", counts.unended, number, ADD));
#undef ROW

const struct pairs part_pairs[PART_PAIRS] = {
#define PAIRS(name, member, ...)                                                            \
	{                                                                                   \
		.key = name, .offset = offsetof(struct amdlog_summary, member), __VA_ARGS__ \
	}
	PAIRS("queue_kernels", pairs.queue_kernels, .first = COUNT_OF(queues),
	      .second = COUNT_OF(kernels)),
	PAIRS("queue_streams", pairs.queue_streams, .first = COUNT_OF(queues)),
	PAIRS("process_kernels", pairs.process_kernels, .first = COUNT_OF(processes),
	      .second = COUNT_OF(kernels)),
	PAIRS("head_streams", part.head_streams, .first = COUNT_OF(threads),
	      .second = COUNT_OF(queues), .shift = 1),
	PAIRS("by_stream", keys.streams, .first = COUNT_OF(processes), .value = COUNT_OF(queues)),
	PAIRS("by_object", keys.objects, .first = COUNT_OF(processes), .value = COUNT_OF(kernels)),
};

// --- tables of rows ---

static bool part_put_process(struct amdlog_part *part, union row *row)
{
	struct amdlog_summary *s = part->sum;
	const struct amdlog_process *p = &row->process;
	const struct amdlog_thread_id id = {.pid = p->pid, .tid = p->tid, .source = p->source};
	return p->pid >= -1 && s->nprocesses == process_of(s, &id);
}

static bool part_put_thread(struct amdlog_part *part, union row *row)
{
	struct amdlog_summary *s = part->sum;
	struct amdlog_thread *t = &row->thread;
	const struct amdlog_process *p = &s->processes[t->process];
	t->id.pid = p->pid;
	t->id.source = p->source;
	if (p->tid != AMDLOG_UNKNOWN && p->tid != t->id.tid)
		return false;
	uint32_t n = thread_new(s, &t->id);
	if (s->threads[n].process != t->process)
		return false;
	s->threads[n] = *t;
	return true;
}

static bool part_put_queue(struct amdlog_part *part, union row *row)
{
	struct amdlog_summary *s = part->sum;
	const struct amdlog_queue *q = &row->queue;
	if (q->hwq == AMDLOG_UNKNOWN && q->swq == AMDLOG_UNKNOWN)
		return false;
	uint32_t n = queue_new(s, q->process);
	s->queues[n] = *q;
	return true;
}

static bool part_put_kernel(struct amdlog_part *part, union row *row)
{
	struct amdlog_summary *s = part->sum;
	struct amdlog_kernel *k = &row->kernel;
	uint32_t next = s->nkernels;
	if (kernel_named(s, k->name, k->len, intern_hash(k->name, k->len)) != next)
		return false; // a row has this name already, or there are too many
	k->name = s->kernels[next].name;
	s->kernels[next] = *k;
	return true;
}

static bool part_put_api(struct amdlog_part *part, union row *row)
{
	struct amdlog_summary *s = part->sum;
	uint32_t next = s->napis;
	if (api_named(s, row->api.name, row->api.len) != next)
		return false;
	row->api.name = s->apis[next].name;
	s->apis[next] = row->api;
	return true;
}

static bool part_put_error(struct amdlog_part *part, union row *row)
{
	amdlog_errors_merge(&part->sum->errors, &row->error);
	return true;
}

static bool part_put_open(struct amdlog_part *part, union row *row)
{
	struct amdlog_summary *s = part->sum;
	ARRAY_GROW(s->part.open, s->part.open_cap, s->part.nopen);
	s->part.open[s->part.nopen++] = row->open;
	return true;
}

static bool part_put_stream(struct amdlog_part *part, union row *row)
{
	amdlog_streams_put(&part->streams, &row->period);
	return true;
}

static bool part_put_head(struct amdlog_part *part, union row *row)
{
	const struct stream_head *h = &row->head;
	return (h->queue != AMDLOG_NONE || h->what == STREAM_HEAD_MADE) &&
	       amdlog_streams_put_head(&part->streams, h);
}

static const struct amdlog_api api_blank;
static const struct amdlog_error error_initial = {.process = AMDLOG_NONE,
						  .address = AMDLOG_UNKNOWN};
static const struct stream_period period_initial = {.process = AMDLOG_NONE, .queue = AMDLOG_NONE};
static const struct stream_head head_initial = {.thread = AMDLOG_NONE, .queue = AMDLOG_NONE};

const struct section part_sections[PART_SECTIONS] = {
// The table `rows` of struct ROW, which has `n` rows.
// NOLINTBEGIN(bugprone-macro-parentheses): names take none
#define SECTION(key, name, rows, n, initial, sparse, of_streams)                          \
	{                                                                                 \
		key, name##_members, offsetof(struct ROW, rows), offsetof(struct ROW, n), \
			sizeof(*((struct ROW *)0)->rows), &initial, sparse, of_streams,   \
			part_put_##name                                                   \
	}
// NOLINTEND(bugprone-macro-parentheses)
#define ROW amdlog_summary
	SECTION("processes", process, processes, nprocesses, process_blank, true, false),
	SECTION("kernels", kernel, kernels, nkernels, kernel_blank, true, false),
	SECTION("apis", api, apis, napis, api_blank, true, false),
	SECTION("errors", error, errors.v, errors.n, error_initial, false, false),
	SECTION("queues", queue, queues, nqueues, queue_blank, true, false),
	SECTION("threads", thread, threads, nthreads, thread_blank, true, false),
	SECTION("open", open, part.open, part.nopen, unresolved_blank, true, false),
#undef ROW
#define ROW amdlog_streams
	SECTION("streams", stream, v, n, period_initial, false, true),
	SECTION("stream_heads", head, heads, nheads, head_initial, false, true),
#undef ROW
};

const char *section_rows(const struct section *x, const struct amdlog_part *part, uint32_t *n)
{
	const char *base = x->of_streams ? (const char *)&part->streams : (const char *)part->sum;
	const char *rows;
	memcpy(n, base + x->count, sizeof(*n));
	memcpy(&rows, base + x->rows, sizeof(rows));
	return rows;
}

void members_add(const struct part_member *m, void *to, const void *from)
{
	for (; m->is.key; m++) {
		uint64_t *a = (uint64_t *)(void *)((char *)to + m->is.offset);
		const uint64_t *b =
			(const uint64_t *)(const void *)((const char *)from + m->is.offset);
		switch (m->sum) {
		case KEEP: break;
		case ADD:
			for (size_t i = 0; i < m->is.size / sizeof(*a); i++)
				a[i] += b[i];
			break;
		case LEAST: *a = *b < *a ? *b : *a; break;
		case MOST: *a = *b > *a ? *b : *a; break;
		case ANY: *(bool *)a |= *(const bool *)b; break;
		}
	}
}
