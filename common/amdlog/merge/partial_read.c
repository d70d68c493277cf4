// Parts of logs, read; partial.h. Nothing is assumed of the input: what is read points nowhere
// outside of its tables.
#include "common/amdlog/merge/partial_priv.h"

#include "common/cli/jsonin.h"

#include <stdlib.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

struct reading {
	struct amdlog_summary *s;
	struct amdlog_part *part;
	struct blanks blank;
	const char *why;
};

static bool read_i64(const struct jsonin_value *v, int64_t *n)
{
	bool minus = v->len && v->text[0] == '-';
	struct jsonin_value digits = *v;
	uint64_t u;

	digits.text += minus;
	digits.len -= minus;
	if (v->kind != '0' || !jsonin_u64(&digits, &u) || u > INT64_MAX)
		return false;
	*n = minus ? -(int64_t)u : (int64_t)u;
	return true;
}

static bool read_u64(const struct jsonin_value *v, uint64_t *n)
{
	*n = AMDLOG_UNKNOWN;
	return v->kind == 'n' || jsonin_u64(v, n);
}

static bool read_list(const struct jsonin_value *v, const struct member *m, uint64_t *to)
{
	struct jsonin j;
	struct jsonin_value each;
	size_t n = 0;

	if (!jsonin_open(&j, v->text, v->len, '['))
		return false;
	while (n < m->size / sizeof(*to) && jsonin_next(&j, NULL, &each))
		if (!read_u64(&each, &to[n++]))
			return false;
	return n == m->size / sizeof(*to) && !jsonin_next(&j, NULL, &each) && !j.failed;
}

static bool read_small(const struct jsonin_value *v, const struct member *m, void *at)
{
	uint64_t u;
	int64_t i;

	if (m->type == T_U32) {
		if (!jsonin_u64(v, &u) || u > UINT32_MAX)
			return false;
		*(uint32_t *)at = (uint32_t)u;
		return true;
	}
	if (!read_i64(v, &i) || i < -1 || i > 2)
		return false;
	*(int8_t *)at = (int8_t)i;
	return true;
}

static bool read_value(const struct jsonin_value *v, const struct member *m, void *at)
{
	switch (m->type) {
	case T_U64: return read_u64(v, at);
	case T_I64: return read_i64(v, at);
	case T_U32:
	case T_I8: return read_small(v, m, at);
	case T_BOOL: *(bool *)at = v->kind == 't'; return v->kind == 't' || v->kind == 'f';
	case T_TEXT: return jsonin_str(v, at, m->size);
	case T_LIST: return read_list(v, m, at);
	}
	return false;
}

// A member that is not in the table is a later version's, and left out.
static bool read_member(const struct jsonin_value *key, const struct jsonin_value *v,
			const struct member *m, size_t n, void *row)
{
	for (; n--; m++) {
		if (jsonin_is(key, m->key))
			return read_value(v, m, (char *)row + m->offset);
	}
	return true;
}

static bool read_named(const struct jsonin_value *v, const struct member *m, size_t n, void *row,
		       struct jsonin_value *name, bool *hex)
{
	struct jsonin j;
	struct jsonin_value key, each;

	if (!jsonin_open(&j, v->text, v->len, '{'))
		return false;
	while (jsonin_next(&j, &key, &each)) {
		if (name && (jsonin_is(&key, "name") || jsonin_is(&key, "name_hex"))) {
			*name = each;
			*hex = jsonin_is(&key, "name_hex");
		} else if (!read_member(&key, &each, m, n, row))
			return false;
	}
	return !j.failed;
}

static bool read_row(const struct jsonin_value *v, const struct member *m, size_t n, void *row)
{
	return read_named(v, m, n, row, NULL, NULL);
}

static bool text_of(const struct jsonin_value *v, char **text)
{
	*text = v->kind == '"' ? malloc(v->len + 1) : NULL;
	if (*text && jsonin_str(v, *text, v->len + 1))
		return true;
	free(*text);
	*text = NULL;
	return false;
}

// Undoes write_name, in place.
static bool name_of(const struct jsonin_value *v, bool hex, char **text, size_t *len)
{
	if (!text_of(v, text))
		return false;
	*len = strlen(*text);
	for (size_t i = 0; hex && i < *len / 2; i++) {
		char digits[3] = {(*text)[2 * i], (*text)[2 * i + 1], 0};

		(*text)[i] = (char)strtoul(digits, NULL, 16);
	}
	*len /= hex ? 2 : 1;
	return true;
}

static bool new_process(struct reading *r, const struct jsonin_value *v)
{
	struct amdlog_process p = r->blank.process;
	struct amdlog_who who;

	if (!read_row(v, partial_process.v, partial_process.n, &p))
		return false;
	who = (struct amdlog_who){.pid = p.pid, .tid = p.tid, .source = p.source};
	return p.pid >= -1 && r->s->nprocesses == process_of(r->s, &who);
}

static bool new_thread(struct reading *r, const struct jsonin_value *v)
{
	struct amdlog_thread t = r->blank.thread;
	uint32_t n;

	if (!read_row(v, partial_thread.v, partial_thread.n, &t) || t.process >= r->s->nprocesses)
		return false;
	t.who.pid = r->s->processes[t.process].pid;
	t.who.source = r->s->processes[t.process].source;
	if (r->s->processes[t.process].tid != AMDLOG_UNKNOWN &&
	    r->s->processes[t.process].tid != t.who.tid)
		return false;
	n = thread_new(r->s, &t.who);
	if (n == AMDLOG_NONE || r->s->threads[n].process != t.process)
		return false;
	r->s->threads[n] = t;
	return true;
}

static bool new_queue(struct reading *r, const struct jsonin_value *v)
{
	struct amdlog_queue q = r->blank.queue;
	uint32_t n;

	if (!read_row(v, partial_queue.v, partial_queue.n, &q) || q.process >= r->s->nprocesses ||
	    (q.hwq == AMDLOG_UNKNOWN && q.swq == AMDLOG_UNKNOWN))
		return false;
	n = queue_new(r->s, q.process);
	if (n == AMDLOG_NONE)
		return false;
	r->s->queues[n] = q;
	return true;
}

static bool new_kernel(struct reading *r, const struct jsonin_value *v)
{
	struct amdlog_kernel k = r->blank.kernel;
	struct jsonin_value text = {0};
	uint32_t n, next = r->s->nkernels;
	bool hex = false;
	size_t len;
	char *name;

	if (!read_named(v, partial_kernel.v, partial_kernel.n, &k, &text, &hex) ||
	    !name_of(&text, hex, &name, &len))
		return false;
	n = kernel_named(r->s, name, len, intern_hash(name, len));
	free(name);
	if (n != next || n == AMDLOG_NONE)
		return false;
	k.name = r->s->kernels[n].name;
	k.len = r->s->kernels[n].len;
	r->s->kernels[n] = k;
	return true;
}

static bool new_api(struct reading *r, const struct jsonin_value *v)
{
	struct amdlog_api a = r->blank.api;
	struct jsonin_value text = {0};
	uint32_t n, next = r->s->napis;
	bool hex = false;
	size_t len;
	char *name;

	if (!read_named(v, partial_api.v, partial_api.n, &a, &text, &hex) ||
	    !name_of(&text, hex, &name, &len))
		return false;
	n = api_named(r->s, name, len);
	free(name);
	if (n != next || n == AMDLOG_NONE)
		return false;
	a.name = r->s->apis[n].name;
	a.len = r->s->apis[n].len;
	r->s->apis[n] = a;
	return true;
}

static bool new_error(struct reading *r, const struct jsonin_value *v)
{
	struct amdlog_error e = {.process = AMDLOG_NONE, .address = AMDLOG_UNKNOWN};
	struct jsonin_value text = {0};
	bool hex = false;
	size_t len;
	char *name;

	if (!read_named(v, partial_error.v, partial_error.n, &e, &text, &hex) ||
	    e.process >= r->s->nprocesses || !name_of(&text, hex, &name, &len))
		return false;
	e.text = name;
	e.len = len < ERRORS_TEXT_MAX ? (uint32_t)len : ERRORS_TEXT_MAX;
	amdlog_errors_merge(&r->s->errors, e.process, &e);
	free(name);
	return true;
}

static bool new_period(struct reading *r, const struct jsonin_value *v)
{
	struct stream_period p = {.process = AMDLOG_NONE, .queue = AMDLOG_NONE};

	if (!read_row(v, partial_stream.v, partial_stream.n, &p) || p.process >= r->s->nprocesses ||
	    p.queue >= r->s->nqueues)
		return false;
	amdlog_streams_put(&r->part->streams, &p);
	return true;
}

static bool new_head(struct reading *r, const struct jsonin_value *v)
{
	struct stream_head h = {.thread = AMDLOG_NONE, .queue = AMDLOG_NONE};
	bool any_queue = false;

	if (!read_row(v, partial_head.v, partial_head.n, &h) || h.thread >= r->s->nthreads)
		return false;
	any_queue = h.queue == AMDLOG_NONE && h.what == STREAM_HEAD_MADE;
	return (any_queue || h.queue < r->s->nqueues) &&
	       amdlog_streams_put_head(&r->part->streams, &h);
}

static bool read_api_times(struct reading *r, const struct jsonin_value *v)
{
	struct jsonin_value api, times;
	struct jsonin j;
	struct hist h;
	uint64_t n;

	if (!jsonin_open(&j, v->text, v->len, '['))
		return false;
	while (jsonin_next(&j, NULL, &api)) {
		if (!jsonin_u64(&api, &n) || n >= r->s->napis || !jsonin_next(&j, NULL, &times) ||
		    !hist_read(&h, times.text, times.len))
			return false;
		keyed_histogram_put(&r->s->api_times, (uint32_t)n, &h);
	}
	return !j.failed;
}

static bool new_open(struct reading *r, const struct jsonin_value *v)
{
	struct amdlog_summary *s = r->s;
	struct amdlog_open o = r->blank.open, *room;

	if (!read_row(v, partial_open.v, partial_open.n, &o) || o.process == AMDLOG_NONE)
		return false;
	room = array_room(s->open, &s->open_cap, s->nopen, sizeof(*room));
	if (!room)
		return false;
	s->open = room;
	s->open[s->nopen++] = o;
	return true;
}

static bool each_of(struct reading *r, const struct jsonin_value *v,
		    bool (*take)(struct reading *, const struct jsonin_value *))
{
	struct jsonin j;
	struct jsonin_value each;

	if (!jsonin_open(&j, v->text, v->len, '['))
		return false;
	while (jsonin_next(&j, NULL, &each))
		if (!take(r, &each))
			return false;
	return !j.failed;
}

static bool read_pairs(const struct jsonin_value *v, struct intern *in, bool values)
{
	struct jsonin j;
	struct jsonin_value a, b, c;
	struct pair p;
	uint64_t value = 0;

	if (!jsonin_open(&j, v->text, v->len, '['))
		return false;
	while (jsonin_next(&j, NULL, &a)) {
		if (!jsonin_next(&j, NULL, &b) || (values && !jsonin_next(&j, NULL, &c)) ||
		    !read_u64(&a, &p.a) || !read_u64(&b, &p.b) ||
		    (values && (!jsonin_u64(&c, &value) || value >= INTERN_NONE)))
			return false;
		if (intern_put(in, &p, sizeof(p), NULL) == INTERN_NONE ||
		    (values && !intern_set(in, &p, sizeof(p), (uint32_t)value)))
			return false;
	}
	return !j.failed;
}

static bool read_totals(struct reading *r, const struct jsonin_value *v)
{
	return read_row(v, partial_totals.v, partial_totals.n, &r->s->totals) &&
	       read_row(v, partial_state.v, partial_state.n, r->s);
}

static bool read_section(struct reading *r, const struct jsonin_value *key,
			 const struct jsonin_value *v)
{
	const struct {
		const char *key;
		bool (*take)(struct reading *, const struct jsonin_value *);
	} rows[] = {
		{"processes", new_process}, {"threads", new_thread}, {"queues", new_queue},
		{"kernels", new_kernel},    {"apis", new_api},       {"open", new_open},
		{"errors", new_error},      {"streams", new_period}, {"stream_heads", new_head}};
	const struct {
		const char *key;
		struct intern *in;
		bool values;
	} pairs[] = {{"queue_kernels", &r->s->queue_kernels, false},
		     {"queue_streams", &r->s->queue_streams, false},
		     {"process_kernels", &r->s->process_kernels, false},
		     {"head_streams", &r->s->head_streams, false},
		     {"by_stream", &r->s->by_stream, true},
		     {"by_object", &r->s->by_object, true}};

	for (size_t i = 0; i < COUNT(rows); i++)
		if (jsonin_is(key, rows[i].key))
			return each_of(r, v, rows[i].take);
	for (size_t i = 0; i < COUNT(pairs); i++)
		if (jsonin_is(key, pairs[i].key))
			return read_pairs(v, pairs[i].in, pairs[i].values);
	if (jsonin_is(key, "api_times"))
		return read_api_times(r, v);
	if (jsonin_is(key, "totals"))
		return read_totals(r, v);
	if (jsonin_is(key, "file"))
		return !r->part->file && text_of(v, &r->part->file);
	if (jsonin_is(key, "host"))
		return !r->part->host && text_of(v, &r->part->host);
	return read_member(key, v, partial_part.v, partial_part.n, r->part);
}

// --- checking: what is read points nowhere outside ---

static bool rows_point_inside(const struct amdlog_summary *s, const struct member *m, size_t n,
			      const void *rows, uint32_t nrows, size_t size)
{
	for (; n--; m++) {
		for (uint32_t i = 0; m->bound && i < nrows; i++) {
			uint32_t to;

			memcpy(&to, (const char *)rows + i * size + m->offset, sizeof(to));
			if (to != AMDLOG_NONE && to >= *m->bound(s))
				return false;
		}
	}
	return true;
}

// `shift`: the second number has a flag below its lowest bit.
static bool pairs_point_inside(const struct intern *in, uint64_t first, uint64_t second,
			       unsigned shift, uint64_t value)
{
	struct pair p;

	for (uint32_t i = 0; i < in->n; i++) {
		memcpy(&p, in->entries[i].bytes, sizeof(p));
		if (p.a >= first || p.b >> shift >= second ||
		    (value && in->entries[i].value >= value))
			return false;
	}
	return true;
}

static bool points_inside(const struct amdlog_summary *s)
{
	return rows_point_inside(s, partial_thread.v, partial_thread.n, s->threads, s->nthreads,
				 sizeof(*s->threads)) &&
	       rows_point_inside(s, partial_queue.v, partial_queue.n, s->queues, s->nqueues,
				 sizeof(*s->queues)) &&
	       rows_point_inside(s, partial_open.v, partial_open.n, s->open, s->nopen,
				 sizeof(*s->open)) &&
	       pairs_point_inside(&s->queue_kernels, s->nqueues, s->nkernels, 0, 0) &&
	       pairs_point_inside(&s->queue_streams, s->nqueues, UINT64_MAX, 0, 0) &&
	       pairs_point_inside(&s->process_kernels, s->nprocesses, s->nkernels, 0, 0) &&
	       pairs_point_inside(&s->head_streams, s->nthreads, s->nqueues, 1, 0) &&
	       (!s->by_stream.n || (s->nqueues && pairs_point_inside(&s->by_stream, s->nprocesses,
								     UINT64_MAX, 0, s->nqueues))) &&
	       (!s->by_object.n || (s->nkernels && pairs_point_inside(&s->by_object, s->nprocesses,
								      UINT64_MAX, 0, s->nkernels)));
}

static bool is_partial(const char *line, size_t len, struct jsonin *j, const char **why)
{
	struct jsonin_value key, v;

	*why = "not a partial result of gpq trace";
	if (!jsonin_open(j, line, len, '{') || !jsonin_next(j, &key, &v) ||
	    !jsonin_is(&key, "record") || !jsonin_is(&v, AMDLOG_PARTIAL_RECORD))
		return false;
	*why = "of another version of gpq";
	return jsonin_next(j, &key, &v) && jsonin_is(&key, "schema") && v.len == 1 &&
	       v.text[0] == '0' + AMDLOG_PARTIAL_SCHEMA;
}

static bool read_all(struct reading *r, struct jsonin *j)
{
	struct jsonin_value key, v;

	while (jsonin_next(j, &key, &v))
		if (!read_section(r, &key, &v))
			return false;
	return !j->failed && r->part->file && points_inside(r->s);
}

bool amdlog_partial_read(const char *line, size_t len, struct amdlog_part *part,
			 struct amdlog_summary *s, const char **why)
{
	const struct amdlog_filter none = {.until_us = AMDLOG_UNKNOWN};
	struct reading r = {.s = s, .part = part};
	struct jsonin j;

	*part = (struct amdlog_part){0};
	if (!is_partial(line, len, &j, why))
		return false;
	*why = "damaged";
	amdlog_summary_init(s, &none);
	amdlog_summary_resume(s);
	if (blanks_init(&r.blank) && read_all(&r, &j))
		return true;
	amdlog_summary_fini(s);
	amdlog_part_fini(part);
	return false;
}

bool amdlog_partial_place(const char *line, size_t len, struct amdlog_part *part)
{
	struct jsonin j;
	struct jsonin_value key, v;
	const char *why;
	unsigned seen = 0;

	*part = (struct amdlog_part){0};
	if (!is_partial(line, len, &j, &why))
		return false;
	while (seen < 3 && jsonin_next(&j, &key, &v)) {
		bool ok = true;

		seen += jsonin_is(&key, "file") || jsonin_is(&key, "from") || jsonin_is(&key, "to");
		if (jsonin_is(&key, "file"))
			ok = !part->file && text_of(&v, &part->file);
		else if (jsonin_is(&key, "host"))
			ok = !part->host && text_of(&v, &part->host);
		else
			ok = read_member(&key, &v, partial_part.v, partial_part.n, part);
		if (!ok)
			break;
	}
	if (seen == 3 && part->file)
		return true;
	amdlog_part_fini(part);
	return false;
}
