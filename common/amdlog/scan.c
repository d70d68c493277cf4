// The scanner's block handling: lines, records within lines, what is carried over (see scan.h).
//
// Facts: amd-log-facts.md sections 4 and 14. A segment is a record or the foreign text in front of
// one; it ends at the next record or at the end of the line.
#include "common/amdlog/scan_priv.h"

#include <stdlib.h>

struct amdlog_scan *amdlog_scan_new(const struct amdlog_sink *sink)
{
	struct amdlog_scan *s = malloc(sizeof(*s));

	if (!s)
		return NULL;
	memset(s, 0, offsetof(struct amdlog_scan, marks));
	s->sink = *sink;
	s->find_marks = marks_choose();
	s->text = s->buf;
	s->assumed = -1;
	kind_init(&s->kinds);
	if (!who_init(s)) {
		amdlog_scan_free(s);
		return NULL;
	}
	return s;
}

void amdlog_scan_free(struct amdlog_scan *s)
{
	if (!s)
		return;
	who_fini(s);
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

const struct amdlog_who *amdlog_scan_who(const struct amdlog_scan *s, uint32_t *n)
{
	*n = s->nwho;
	return s->who;
}

static void hand_out_record(struct amdlog_scan *s, const char *text, size_t len, bool ended)
{
	struct amdlog_record r = {
		.text = text,
		.len = len,
		.ended = ended,
		.offset = s->base + (uint64_t)(text - s->text),
	};

	prefix_parse(s, &r);
	kind_parse(&s->kinds, &r);
	s->counts.records++;
	s->sink.record(s->sink.ctx, &r);
}

// At the start of a line: ":3:", or one of ROCr's own lines, which have no level:
// ":amd_blit_kernel.cpp      :123 : 0123456789 us: [pid:..] [***rocr***] ".
bool is_record_line(const char *p, size_t len)
{
	if (len > 2 && is_mark(p))
		return true;
	return len > 40 && p[0] == ':' && (unsigned char)((p[1] | 0x20) - 'a') < 26 &&
	       prefix_shape(p, len, true);
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

// Goes over the marks of [from, to); prefixes may be looked at up to `end`. Returns where the open
// segment began.
static size_t walk(struct amdlog_scan *s, size_t from, size_t to, size_t end)
{
	size_t segment = from;

	for (size_t tile = from; tile < to; tile += SCAN_TILE) {
		size_t len = to - tile < SCAN_TILE ? to - tile : SCAN_TILE;
		bool line_start = tile > from ? s->text[tile - 1] == '\n' : !s->in_line;
		size_t n = s->find_marks(s->text + tile, len, line_start, s->marks);

		for (size_t i = 0; i < n; i++) {
			size_t at = tile + s->marks[i];

			if (s->text[at] == '\n') {
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
	memset(s->buf + s->fill, 0, MARKS_PAD); // what lies behind the text must not look like it
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
	memset(s->buf + s->fill, 0, MARKS_PAD);
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
	s->source++;
	s->last = NULL;
	if (s->forms)
		forms_reset(s->forms);
	memset(s->slots, 0, sizeof(s->slots));
}

void amdlog_scan_note(struct amdlog_scan *s, struct forms *forms)
{
	s->forms = forms;
	forms->assumed = s->assumed;
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
	s->assumed = pid;
	if (s->forms)
		s->forms->assumed = pid;
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
