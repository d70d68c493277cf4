// The prefix of a log record: level, source file and line, time, process and thread, then the
// message.
//
// Facts: amd-log-facts.md section 2 (layouts of all releases), 2.1 (colours), 2.2 (Windows: a blank
// within the thread's number), 13 (parse rules).
#include "common/amdlog/read/number.h"
#include "common/amdlog/read/parse.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "digits are read eight at a time");

// File names are shorter, and so are Windows paths.
#define FILE_MAX_LEN 512
#define FILE_COLUMNS 25

static size_t skip_digits(const char *p, size_t at, size_t len)
{
	while (at < len && is_digit(p[at]))
		at++;
	return at;
}

static size_t skip_blanks(const char *p, size_t at, size_t len)
{
	while (at < len && p[at] == ' ')
		at++;
	return at;
}

// The file field is a C++ file of the runtime, or blank (AMD_LOG_MASK without LOCATION).
static bool is_source_name(const char *p, size_t len)
{
	bool padded = len >= FILE_COLUMNS;

	while (len && p[len - 1] == ' ')
		len--;
	if (!len)
		return padded;
	return len > 4 && (!memcmp(p + len - 4, ".cpp", 4) || !memcmp(p + len - 4, ".hpp", 4));
}

size_t prefix_shape(const char *p, size_t len, bool strict)
{
	size_t file = len > 3 && is_digit(p[1]) && p[2] == ':' ? 3 : 1, at = file, line;

	if (len > file + 3 && p[file + 1] == ':' && p[file + 2] == '\\')
		at += 2; // a drive letter
	while (at < len && at < FILE_MAX_LEN && p[at] != ':' && p[at] != '\n')
		at++;
	if (at >= len || p[at] != ':' || (strict && !is_source_name(p + file, at - file)))
		return 0;
	line = at + 1;
	at = skip_digits(p, line, len);
	if (at == line || at > line + 9)
		return 0;
	at = skip_blanks(p, at, len);
	if (at + 2 >= len || p[at] != ':' || p[at + 1] != ' ' || !is_digit(p[at + 2]))
		return 0;
	return at + 2;
}

// Where the time begins; the usual layout has fixed columns.
static size_t find_time(const char *p, size_t len)
{
	if (len > 48 && p[28] == ':' && is_digit(p[29])) {
		if (p[33] == ':' && p[34] == ' ' && is_digit(p[35]))
			return 35;
		if (p[34] == ':' && p[35] == ' ' && is_digit(p[36]))
			return 36;
	}
	return prefix_shape(p, len, false);
}

// Reads digits from *at on; a number too large to be a time becomes unknown.
static uint64_t read_time(const char *p, size_t *at, size_t len)
{
	size_t from = *at, i = from;
	uint64_t v = 0;

	if (len - i >= 8 && !no_digits(load64(p + i) ^ DIGIT_ZEROS)) {
		v = digits_value(load64(p + i) ^ DIGIT_ZEROS);
		i += 8;
	}
	for (; i < len && is_digit(p[i]); i++)
		v = v * 10 + (uint64_t)(p[i] - '0');
	*at = i;
	return i - from > 18 ? AMDLOG_UNKNOWN : v;
}

// Behind "[", the rest of a colour: "32m". Returns its length, 0 when it is none.
static size_t colour_rest(const char *p, size_t len)
{
	size_t at = 0;

	while (at < len && (is_digit(p[at]) || p[at] == ';'))
		at++;
	return at < len && p[at] == 'm' ? at + 1 : 0;
}

// A colour sequence before an API line: raw, or what pasting left of it. Returns its length.
static size_t colour_len(const char *p, size_t len)
{
	static const char *const leads[] = {"\x1b[", "^[[", "ESC[", "<-[", "\xe2\x86\x90["};

	for (size_t i = 0; i < sizeof(leads) / sizeof(leads[0]); i++) {
		size_t n = strlen(leads[i]), rest;

		if (p[0] != leads[i][0] || len < n || memcmp(p, leads[i], n) != 0)
			continue;
		rest = colour_rest(p + n, len - n);
		return rest ? n + rest : 0;
	}
	return 0;
}

// Bytes that lead a colour.
static inline bool may_be_colour(unsigned char c)
{
	return c == 0x1b || c >= 0x80 || c == '^' || c == '<' || c == 'E';
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

const char *find_record(const char *p, const char *stop, const char *end)
{
	for (; p < stop && (p = memchr(p, ':', (size_t)(stop - p))); p++) {
		if (is_mark(p) && prefix_shape(p, (size_t)(end - p), true))
			return p;
	}
	return NULL;
}

static size_t read_tid_digits(const char *p, size_t at, size_t len, uint64_t *v)
{
	size_t from = at;
	int digit;

	for (*v = 0; at < len && (digit = hex_digit(p[at])) >= 0; at++)
		*v = *v << 4 | (uint64_t)digit;
	return at == from || at - from > 16 ? 0 : at;
}

static size_t read_pid(const char *p, size_t at, size_t len, int64_t *v)
{
	size_t from = at;

	for (*v = 0; at < len && at - from < 11 && is_digit(p[at]); at++)
		*v = *v * 10 + (p[at] - '0');
	return at == from || at - from > 10 ? 0 : at;
}

// 0 when another word is there.
static size_t skip_word(const char *p, size_t at, size_t len, const char *word)
{
	size_t n = strlen(word);

	return at && len - at >= n && !memcmp(p + at, word, n) ? at + n : 0;
}

// "tid:0x14b2015e9700] ", "tid: 7f316f4006c0] ", "tid: 0x 6840] " from behind "tid:" on. 0 when it
// is not that.
static size_t read_tid(const char *p, size_t at, size_t len, uint64_t *tid)
{
	size_t hex = skip_blanks(p, at, len), past = skip_word(p, hex, len, "0x");

	at = read_tid_digits(p, skip_blanks(p, past ? past : hex, len), len, tid);
	at = at ? skip_word(p, at, len, "]") : 0;
	return at && at < len && p[at] == ' ' ? at + 1 : at;
}

// A process part: its length, and how much of the text behind it says that it is one.
struct part {
	size_t len, ahead;
	enum amdlog_style style;
};

// 5.7 and later: "[pid:461   tid:0x7f1072d6c8c0] ".
static bool read_new(const char *p, size_t len, struct part *part, struct amdlog_writer *w)
{
	size_t at = skip_blanks(p, 5, len), tid;

	at = skip_blanks(p, read_pid(p, at, len, &w->pid), len);
	tid = skip_word(p, at, len, "tid:");
	part->len = tid ? read_tid(p, tid, len, &w->tid) : 0;
	part->style = part->len && p[tid] == ' ' ? AMDLOG_STYLE_6_4 : AMDLOG_STYLE_5_7;
	return part->len;
}

// Up to 5.6: "8088 : [tid:0x14b2015e9700] ", "182280: [7f634262e880] ".
static bool read_old(const char *p, size_t len, struct part *part, struct amdlog_writer *w)
{
	size_t at = skip_blanks(p, read_pid(p, 0, len, &w->pid), len), tid;

	at = skip_word(p, at, len, ": [");
	tid = skip_word(p, at, len, "tid:");
	part->len = at ? read_tid(p, tid ? tid : at, len, &w->tid) : 0;
	part->style = tid ? AMDLOG_STYLE_5_0 : AMDLOG_STYLE_3_7;
	w->old = !tid;
	return part->len;
}

// Packets and kernel names of 3.10 to 4.5: "[7f634262e880] HWq=...", "[7f634262e880]!\tShaderName".
static bool read_bare(const char *p, size_t len, struct part *part, struct amdlog_writer *w)
{
	size_t at = read_tid_digits(p, 1, len, &w->tid);

	at = at ? skip_word(p, at, len, "]") : 0;
	part->style = AMDLOG_STYLE_3_7;
	w->old = true;
	if (skip_word(p, at, len, "!\t")) {
		part->len = at + 2;
	} else if (skip_word(p, at, len, " HWq=")) {
		part->len = at + 1;
		part->ahead = strlen("HWq=");
	}
	return part->len;
}

static bool read_part(const char *p, size_t len, struct part *part, struct amdlog_writer *w)
{
	if (len > 5 && !memcmp(p, "[pid:", 5))
		return read_new(p, len, part, w);
	if (len && p[0] == '[')
		return read_bare(p, len, part, w);
	return len && is_digit(p[0]) && read_old(p, len, part, w);
}

// The process part at column `at`, or none. Where the message may begin.
static size_t parse_part(struct amdlog_record *r, size_t at, struct amdlog_writer *w,
			 struct prefix_columns *c)
{
	struct part part = {0};

	if (read_part(r->text + at, r->len - at, &part, w)) {
		if (r->style != AMDLOG_STYLE_3_5)
			r->style = part.style;
		c->msg = (unsigned)(at + part.len);
		c->seen = (unsigned)(c->msg + part.ahead);
		return c->msg;
	}
	*w = (struct amdlog_writer){-1, AMDLOG_UNKNOWN, false};
	if (at < r->len && r->text[at] == ' ') {
		if (r->style == AMDLOG_STYLE_3_7)
			r->style = AMDLOG_STYLE_6_4_LOW;
		c->msg = c->seen = (unsigned)at + 1;
	}
	return at;
}

static void set_message(struct amdlog_record *r, size_t at)
{
	const char *p = r->text;
	size_t len = r->len;

	at = skip_blanks(p, at, len);
	if (at < len && may_be_colour((unsigned char)p[at])) {
		at += colour_len(p + at, len - at);
		at = skip_blanks(p, at, len);
	}
	while (len > at && (p[len - 1] == ' ' || p[len - 1] == '\t'))
		len--;
	r->msg = p + at;
	r->msg_len = len - at;
}

// Time and process; where the message may begin, 0 when the record is cut before.
static size_t parse_prefix(struct amdlog_record *r, struct amdlog_writer *w,
			   struct prefix_columns *c)
{
	const char *p = r->text;
	size_t len = r->len, at = find_time(p, len);
	bool stray_d, in_us;

	if (!at)
		return 0;
	r->time_us = read_time(p, &at, len);
	c->time_end = (unsigned)at;
	stray_d = at < len && p[at] == 'd';
	at += stray_d;
	if (len - at >= 4 && !memcmp(p + at, " us:", 4)) {
		r->style = AMDLOG_STYLE_3_7;
		at += 4 + (len - at > 4 && p[at + 4] == ' ');
	} else if (len - at >= 2 && p[at] == ':' && p[at + 1] == ' ') {
		r->style = AMDLOG_STYLE_3_5;
		r->time_us /= r->time_us == AMDLOG_UNKNOWN ? 1 : 10;
		at += 2;
	} else {
		return 0;
	}
	in_us = r->style == AMDLOG_STYLE_3_7;
	at = parse_part(r, at, w, c);
	if (!in_us)
		c->msg = 0;
	if (stray_d)
		r->style = AMDLOG_STYLE_6_3;
	return at;
}

void record_parse(struct amdlog_record *r, struct amdlog_writer *w, struct prefix_columns *c)
{
	size_t at;

	*w = (struct amdlog_writer){-1, AMDLOG_UNKNOWN, false};
	*c = (struct prefix_columns){0};
	r->level = is_digit(r->text[1]) ? (uint8_t)(r->text[1] - '0') : LEVEL_NONE;
	at = parse_prefix(r, w, c);
	if (!at) {
		r->style = AMDLOG_STYLE_NONE;
		r->time_us = AMDLOG_UNKNOWN;
	}
	set_message(r, at ? at : r->len);
	message_parse(r);
}
