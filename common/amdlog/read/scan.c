// The scanner: lines, records within lines, what is carried over (see scan.h).
//
// Facts: [amdlog.thread], [amdlog.broken], [amdlog.rate]. A segment is a record or the
// foreign text in front of one; it ends at the next record or at the end of the line.
#include "common/amdlog/read/scan.h"

#include "common/out/jsonin.h"

#define SCAN_READ ((size_t)256 * 1024) // most bytes that the buffer takes at a time
#define SCAN_LOOK ((size_t)1024)       // bytes in which any prefix fits
#define SCAN_CAP  (SCAN_READ + 2 * (size_t)AMDLOG_TEXT_MAX)

static uint32_t threads_add(struct amdlog_threads *t, const struct amdlog_thread_id *id)
{
	uint64_t key[3] = {(uint64_t)id->pid, id->tid, id->source};
	uint32_t n = intern_put(&t->keys, key, sizeof(key));
	if (n == INTERN_NONE)
		return 0;
	if (n == t->n) {
		ARRAY_GROW(t->v, t->cap, n);
		t->v[t->n++] = *id;
	}
	return n;
}

uint32_t threads_number(struct amdlog_threads *t, const struct amdlog_writer *w)
{
	int64_t pid = w->pid < 0 ? t->assumed : w->pid;
	struct amdlog_thread_id id = {pid, w->tid, pid < 0 ? t->source : 0, 0};
	uint32_t n = INTERN_NONE, before = t->n;
	if (pid < 0 && w->tid != AMDLOG_UNKNOWN)
		n = pair_value(&t->by_tid, w->tid, t->source);
	if (n != INTERN_NONE)
		return n;
	n = threads_add(t, &id);
	// Later lines of ROCm up to 4.5 may name the thread alone: they count as this process's.
	if (t->n != before && w->old && pid >= 0)
		pair_set(&t->by_tid, w->tid, t->source, n);
	return n;
}

struct amdlog_scan *amdlog_scan_new(const struct amdlog_sink *sink)
{
	struct amdlog_scan *s = xmalloc(sizeof(*s) + SCAN_CAP + AMDLOG_PAD);
	*s = (struct amdlog_scan){.sink = *sink, .text = s->buf, .threads.assumed = -1};
	s->threads.keys.max_entries = s->threads.by_tid.max_entries = AMDLOG_THREADS_MAX;
	// Number 0 stands for all threads beyond the limit.
	threads_add(&s->threads, &(struct amdlog_thread_id){-1, AMDLOG_UNKNOWN, UINT32_MAX, 0});
	return s;
}

void amdlog_scan_free(struct amdlog_scan *s)
{
	intern_fini(&s->threads.keys);
	intern_fini(&s->threads.by_tid);
	free(s->threads.v);
	free(s);
}

static void hand_out_record(struct amdlog_scan *s, const char *text, size_t len, bool ended)
{
	struct amdlog_record r = {
		.text = text,
		.len = len,
		.ended = ended,
		.offset = s->base + (uint64_t)(text - s->text),
	};
	struct prefix_columns columns;
	struct amdlog_writer writer;
	record_parse(&r, &writer, &columns);
	r.thread = threads_number(&s->threads, &writer);
	s->counts.records++;
	s->sink.record(s->sink.ctx, &r);
}

// Hands out the segment [from, to), which is complete or too long for more of it to matter.
static void close_segment(struct amdlog_scan *s, size_t from, size_t to, bool newline)
{
	const char *text = s->text + from;
	size_t len = to - from;
	bool ended = newline;
	if (s->seg_done)
		return;
	if (!s->in_line && !s->seg_rec && is_record_line(text, len))
		s->line_rec = s->seg_rec = true;
	if (len > AMDLOG_TEXT_MAX) {
		len = AMDLOG_TEXT_MAX;
		ended = false;
	}
	if (ended && len && text[len - 1] == '\r')
		len--;
	if (s->seg_rec)
		hand_out_record(s, text, len, ended);
	else if (s->sink.foreign && len)
		s->sink.foreign(s->sink.ctx, text, len, ended);
}

static void scan_end_line(struct amdlog_scan *s, size_t from, size_t to, bool newline)
{
	close_segment(s, from, to, newline);
	s->counts.lines++;
	s->counts.foreign += !s->line_rec;
	s->in_line = s->line_rec = s->seg_rec = s->seg_done = false;
}

static size_t scan_walk(struct amdlog_scan *s, size_t from, size_t to, size_t end);

// Writes to `text` the string of a JSON object or array in which the place `at` lies, decoded.
// False: the line is not JSON, or `at` is not within a string.
static bool json_string_at(const char *line, size_t len, char open, const char *at,
			   struct buf *text)
{
	struct jsonin_value key, v;
	struct jsonin j;
	if (!jsonin_open(&j, line, len, open))
		return false;
	while (jsonin_next(&j, open == '{' ? &key : NULL, &v)) {
		if (at < v.text || at >= v.text + v.len)
			continue;
		if (v.kind != '"')
			return json_string_at(v.text, v.len, v.kind, at, text);
		buf_reserve(text, v.len + AMDLOG_PAD);
		return jsonin_str(&v, text->data, v.len);
	}
	return false;
}

// Scans a line of JSON in which another program wraps what a process wrote, in a member of any name
// ([amdlog.json]). False: the line, which ends at `newline`, is not of that kind.
static bool scan_json_line(struct amdlog_scan *s, const char *line, const char *newline,
			   const char *end)
{
	const struct amdlog_counts before = s->counts;
	const char *outer = s->text, *at = find_record(line + 1, newline, end);
	const uint64_t base = s->base;
	SCOPED(buf_fini) struct buf text = {0};
	if (!at || !json_string_at(line, (size_t)(newline - line), '{', at, &text))
		return false;
	size_t len = strlen(text.data);
	if (!len || text.data[len - 1] != '\n')
		text.data[len++] = '\n';
	memset(text.data + len, 0, AMDLOG_PAD);
	s->text = text.data;
	s->base += (uint64_t)(line - outer);
	scan_walk(s, 0, len, len);
	s->text = outer;
	s->base = base;
	const bool first = is_record_line(text.data, len);
	s->counts.lines = before.lines + 1;
	s->counts.foreign = before.foreign + !first;
	s->counts.glued = before.glued + (s->counts.records - before.records) - first;
	return true;
}

// Goes over the lines in [from, to); prefixes may be read up to `end`. Returns where the last
// segment, which is not complete, begins.
static size_t scan_walk(struct amdlog_scan *s, size_t from, size_t to, size_t end)
{
	const char *text = s->text, *segment = text + from, *line = segment, *newline;
	for (; line < text + to; segment = line = newline + 1) {
		const char *p = line + !s->in_line, *stop = text + to;
		newline = memchr(line, '\n', (size_t)(stop - line));
		stop = newline ? newline : stop;
		if (*line == '{' && newline && !s->in_line &&
		    scan_json_line(s, line, newline, text + end))
			continue;
		for (; (p = find_record(p, stop, text + end)); p++) {
			// The record that was kept from the previous input is open already.
			if (p == segment && s->seg_rec && !s->seg_done)
				continue;
			close_segment(s, (size_t)(segment - text), (size_t)(p - text), false);
			s->counts.glued++;
			s->in_line = s->seg_rec = true;
			s->seg_done = false;
			segment = p;
		}
		if (!newline)
			break;
		scan_end_line(s, (size_t)(segment - text), (size_t)(newline - text), true);
	}
	return (size_t)(segment - text);
}

// Handles a line that has begun at `from` and not ended. If it is too long to wait for its end,
// hands out the records in it. Returns from where on bytes must be kept.
static size_t walk_tail(struct amdlog_scan *s, size_t from)
{
	size_t to = s->fill - SCAN_LOOK, segment;
	if (s->fill - from < AMDLOG_TEXT_MAX + 2 * SCAN_LOOK)
		return from;
	segment = scan_walk(s, from, to, s->fill);
	if (to - segment < AMDLOG_TEXT_MAX)
		return segment;
	close_segment(s, segment, to, false);
	s->in_line = s->seg_done = true;
	return to;
}

// Appends at most SCAN_READ bytes, for which the buffer has room, and hands out what they complete.
static void scan_append(struct amdlog_scan *s, const char *data, size_t n)
{
	size_t keep = 0;
	memcpy(s->buf + s->fill, data, n);
	s->counts.bytes += n;
	const char *newline = memrchr(s->buf + s->fill, '\n', n);
	s->fill += n;
	memset(s->buf + s->fill, 0, AMDLOG_PAD);
	if (newline) {
		keep = (size_t)(newline - s->buf) + 1;
		scan_walk(s, 0, keep, keep);
	}
	keep = walk_tail(s, keep);
	s->fill -= keep;
	s->base += keep;
	memmove(s->buf, s->buf + keep, s->fill);
	memset(s->buf + s->fill, 0, AMDLOG_PAD); // old bytes must not be read as text
}

void amdlog_scan_end(struct amdlog_scan *s)
{
	if (s->fill) {
		size_t segment = scan_walk(s, 0, s->fill, s->fill);
		scan_end_line(s, segment, s->fill, false);
		s->counts.unended++;
	}
	s->fill = 0;
	s->base = 0;
	s->threads.source++;
}

bool amdlog_scan_at_line(const struct amdlog_scan *s)
{
	return !s->fill;
}

void amdlog_scan_lines(struct amdlog_scan *s, const char *text, size_t len)
{
	s->text = text;
	s->counts.bytes += len;
	scan_walk(s, 0, len, len);
	s->base += len;
	s->text = s->buf;
}

void amdlog_scan_feed(struct amdlog_scan *s, const char *data, size_t len)
{
	while (len) {
		size_t n = len < SCAN_READ ? len : SCAN_READ;
		scan_append(s, data, n);
		data += n;
		len -= n;
	}
}
