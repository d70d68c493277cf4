// The scanner: lines, records within lines, what is carried over (see scan.h).
//
// Facts: amd-log-facts.md sections 4 and 14. A segment is a record or the foreign text in front of
// one; it ends at the next record or at the end of the line.
#include "common/amdlog/read/scan.h"

#include <stdlib.h>

#define SCAN_READ ((size_t)256 * 1024) // at most this much is asked of a read
#define SCAN_LOOK ((size_t)1024)       // a prefix is shorter
#define SCAN_CAP  (SCAN_READ + 2 * (size_t)AMDLOG_TEXT_MAX)

struct amdlog_scan {
	struct amdlog_sink sink;
	struct amdlog_counts counts;
	struct amdlog_threads threads;

	// The line at the front of the buffer.
	bool in_line;     // its beginning was in an earlier block
	bool line_rec;    // it begins with a record
	bool seg_rec;     // the segment at the front of the buffer is a record
	bool seg_done;    // and was handed out already: it is too long, and skipped
	const char *text; // the buffer, or the lines of a caller
	uint64_t base;    // offset of `text` in the input
	size_t fill;      // bytes in the buffer

	uint32_t index[INDEX_TILE + 1];
	char buf[SCAN_CAP + INDEX_PAD];
};

struct amdlog_scan *amdlog_scan_new(const struct amdlog_sink *sink)
{
	struct amdlog_scan *s = malloc(sizeof(*s));

	if (!s)
		return NULL;
	memset(s, 0, offsetof(struct amdlog_scan, index));
	s->sink = *sink;
	s->text = s->buf;
	if (!threads_init(&s->threads)) {
		amdlog_scan_free(s);
		return NULL;
	}
	return s;
}

void amdlog_scan_free(struct amdlog_scan *s)
{
	if (!s)
		return;
	threads_fini(&s->threads);
	free(s);
}

const struct amdlog_counts *amdlog_scan_counts(const struct amdlog_scan *s)
{
	return &s->counts;
}

void amdlog_scan_recount(struct amdlog_scan *s, const struct amdlog_counts *counts)
{
	s->counts = *counts;
}

struct amdlog_threads *amdlog_scan_threads(struct amdlog_scan *s)
{
	return &s->threads;
}

const struct amdlog_who *amdlog_scan_who(const struct amdlog_scan *s, uint32_t *n)
{
	*n = s->threads.n;
	return s->threads.v;
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
	r.who = threads_number(&s->threads, &writer);
	s->counts.records++;
	s->sink.record(s->sink.ctx, &r);
}

// The segment [from, to) is complete, or long enough that no more of it matters.
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

static void end_line(struct amdlog_scan *s, size_t from, size_t to, bool newline)
{
	close_segment(s, from, to, newline);
	s->counts.lines++;
	s->counts.foreign += !s->line_rec;
	s->in_line = s->line_rec = s->seg_rec = s->seg_done = false;
}

// A colon, digit, colon at `at`, in a segment that began at `from`. True when a record begins here.
static bool begin_record(struct amdlog_scan *s, size_t from, size_t at, size_t end)
{
	// The front of a carried-over record is not found a second time.
	if (at == from && s->seg_rec && !s->seg_done)
		return false;
	if (!prefix_shape(s->text + at, end - at, true))
		return false;
	close_segment(s, from, at, false);
	s->counts.glued++;
	s->in_line = s->seg_rec = true;
	s->seg_done = false;
	return true;
}

// Goes over what the index finds in [from, to); prefixes may be looked at up to `end`. Returns
// where the open segment began. The second colon of a record's beginning may be behind `to`.
static size_t walk(struct amdlog_scan *s, size_t from, size_t to, size_t end)
{
	struct index_state state = s->in_line ? INDEX_IN_LINE : INDEX_AT_LINE;
	size_t segment = from, stop = to + 2 < end ? to + 2 : end;

	for (size_t tile = from; tile < stop; tile += INDEX_TILE) {
		size_t past = stop - tile < INDEX_TILE ? stop : tile + INDEX_TILE;
		size_t n = index_text(s->text, tile, past, &state, s->index);

		for (size_t i = 0; i < n; i++) {
			bool newline = s->text[s->index[i]] == '\n';
			size_t at = s->index[i] - (newline ? 0 : 2);

			if (at >= to)
				break;
			if (newline) {
				end_line(s, segment, at, true);
				segment = at + 1;
			} else if (begin_record(s, segment, at, end)) {
				segment = at;
			}
		}
	}
	return segment;
}

static void carry_over(struct amdlog_scan *s, size_t from)
{
	s->fill -= from;
	s->base += from;
	memmove(s->buf, s->buf + from, s->fill);
	memset(s->buf + s->fill, 0, INDEX_PAD); // what lies behind the text must not look like it
}

// The tail of the buffer from `from` on is a piece of a line. When it is too long to wait for its
// end, looks for records in it and forgets what was seen. Returns from where on bytes must be kept.
static size_t walk_tail(struct amdlog_scan *s, size_t from)
{
	size_t to = s->fill - SCAN_LOOK, segment;

	if (s->fill - from < AMDLOG_TEXT_MAX + 2 * SCAN_LOOK)
		return from;
	segment = walk(s, from, to, s->fill);
	if (segment != from)
		s->in_line = true;
	if (to - segment < AMDLOG_TEXT_MAX)
		return segment;
	close_segment(s, segment, to, false);
	s->in_line = s->seg_done = true;
	return to;
}

char *amdlog_scan_room(struct amdlog_scan *s, size_t *size)
{
	size_t room = SCAN_CAP - s->fill;

	*size = room < SCAN_READ ? room : SCAN_READ;
	return s->buf + s->fill;
}

void amdlog_scan_fed(struct amdlog_scan *s, size_t n)
{
	const char *newline;
	size_t keep = 0;

	s->counts.bytes += n;
	newline = memrchr(s->buf + s->fill, '\n', n);
	s->fill += n;
	memset(s->buf + s->fill, 0, INDEX_PAD);
	if (newline) {
		keep = (size_t)(newline - s->buf) + 1;
		walk(s, 0, keep, keep);
	}
	carry_over(s, walk_tail(s, keep));
}

void amdlog_scan_end(struct amdlog_scan *s)
{
	if (s->fill || s->in_line) {
		size_t segment = walk(s, 0, s->fill, s->fill);

		end_line(s, segment, s->fill, false);
		s->counts.unended++;
	}
	s->fill = 0;
	s->base = 0;
	s->threads.source++;
}

uint64_t amdlog_scan_offset(const struct amdlog_scan *s)
{
	return s->base + s->fill;
}

void amdlog_scan_from(struct amdlog_scan *s, uint64_t offset)
{
	s->base = offset;
}

void amdlog_scan_assume(struct amdlog_scan *s, int64_t pid)
{
	s->threads.assumed = pid;
}

bool amdlog_scan_at_line(const struct amdlog_scan *s)
{
	return !s->fill && !s->in_line;
}

void amdlog_scan_lines(struct amdlog_scan *s, const char *text, size_t len)
{
	s->text = text;
	s->counts.bytes += len;
	walk(s, 0, len, len);
	s->base += len;
	s->text = s->buf;
}

void amdlog_scan_skip(struct amdlog_scan *s, const struct amdlog_counts *seen)
{
	s->base += seen->bytes;
	s->counts.bytes += seen->bytes;
	s->counts.lines += seen->lines;
	s->counts.records += seen->records;
	s->counts.foreign += seen->foreign;
}

void amdlog_scan_feed(struct amdlog_scan *s, const char *data, size_t len, size_t piece)
{
	while (len) {
		size_t room;
		char *to = amdlog_scan_room(s, &room);

		if (piece && room > piece)
			room = piece;
		if (room > len)
			room = len;
		memcpy(to, data, room);
		data += room;
		len -= room;
		amdlog_scan_fed(s, room);
	}
}

void amdlog_scan_buffer(struct amdlog_scan *s, const char *data, size_t len, size_t piece)
{
	amdlog_scan_feed(s, data, len, piece);
	amdlog_scan_end(s);
}
