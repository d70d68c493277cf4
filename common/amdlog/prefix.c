// The prefix of a log record: level, source file and line, time, process and thread, then the
// message.
//
// Facts: amd-log-facts.md section 2 (layouts of all releases), 2.1 (colours), 13 (parse rules).
#include "common/amdlog/number.h"

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

static void set_cut(struct amdlog_record *r, struct amdlog_scan *s)
{
	r->style = AMDLOG_STYLE_NONE;
	r->time_us = AMDLOG_UNKNOWN;
	r->msg = r->text + r->len;
	r->msg_len = 0;
	who_parse(s, r->msg, 0, r);
}

void prefix_parse(struct amdlog_scan *s, struct amdlog_record *r)
{
	const char *p = r->text;
	size_t len = r->len, at = find_time(p, len), time_end;
	bool stray_d;

	r->level = is_digit(p[1]) ? (uint8_t)(p[1] - '0') : LEVEL_NONE;
	if (!at) {
		set_cut(r, s);
		return;
	}
	r->time_us = read_time(p, &at, len);
	time_end = at;
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
		set_cut(r, s);
		return;
	}
	at += who_parse(s, p + at, len - at, r);
	if (stray_d)
		r->style = AMDLOG_STYLE_6_3;
	set_message(r, at);
	if (s->forms)
		forms_note(s->forms, r, s->who[r->who].pid, time_end);
}
