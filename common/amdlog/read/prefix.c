// The prefix of a log record: level, source file and line, time, process and thread, then the
// message.
//
// Facts: [amdlog.prefix], [amdlog.colour], [amdlog.windows], [amdlog.rocr-lines].
#include "common/amdlog/read/parse.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "digits are read eight at a time");

// A prefix's file field is shorter than this, even if it is a Windows path.
#define FILE_MAX_LEN 512
#define FILE_COLUMNS 25

static size_t skip_spaces(const char *p, size_t at, size_t len)
{
	while (at < len && p[at] == ' ')
		at++;
	return at;
}

// True if the file field names a C++ file of the runtime, or is blank (AMD_LOG_MASK without
// LOCATION).
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
		at += 2; // "C:" of a Windows path
	while (at < len && at < FILE_MAX_LEN && p[at] != ':' && p[at] != '\n')
		at++;
	if (at >= len || p[at] != ':' || (strict && !is_source_name(p + file, at - file)))
		return 0;
	line = ++at;
	while (at < len && is_digit(p[at]))
		at++;
	if (at == line || at > line + 9)
		return 0;
	at = skip_spaces(p, at, len);
	if (at + 2 >= len || p[at] != ':' || p[at + 1] != ' ' || !is_digit(p[at + 2]))
		return 0;
	return at + 2;
}

// The column of the time. In the usual layout's fixed columns it is found even if the text between
// them is damaged, which prefix_shape would refuse (tests/data/amdlog/odd/col.log).
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

// Reads digits from *at on and moves *at behind them; AMDLOG_UNKNOWN: too many for a time.
static uint64_t read_prefix_time(const char *p, size_t *at, size_t len)
{
	size_t from = *at;
	uint64_t v = 0;
	for (; *at < len && is_digit(p[*at]); ++*at)
		v = v * 10 + (uint64_t)(p[*at] - '0');
	return *at - from > 18 ? AMDLOG_UNKNOWN : v;
}

// Length of the colour sequence in front of an API line: the escape, or what pasting left of it,
// then "32m"; 0: none.
static size_t colour_len(const char *p, size_t len)
{
	static const char *const leads[] = {"\x1b[", "^[[", "ESC[", "<-[", "\xe2\x86\x90["};
	for (size_t i = 0; i < COUNT(leads); i++) {
		size_t at = strlen(leads[i]);
		if (len < at || memcmp(p, leads[i], at) != 0)
			continue;
		while (at < len && (is_digit(p[at]) || p[at] == ';'))
			at++;
		return at < len && p[at] == 'm' ? at + 1 : 0;
	}
	return 0;
}

// A record at a line's start begins with ":3:" or, as ROCr's own lines have no level, like this:
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
	for (; p < stop; p += 64) {
		for (uint64_t colons = bytes_that_are(p, ':'); colons; colons &= colons - 1) {
			const char *at = p + __builtin_ctzll(colons);
			if (at < stop && is_mark(at) && prefix_shape(at, (size_t)(end - at), true))
				return at;
		}
	}
	return NULL;
}

// How process and thread are written: # is the process's number, $ the thread's, ~ any blanks. The
// last `ahead` bytes of a form belong to the message already.
static const struct form {
	const char *form;
	enum amdlog_style style;
	unsigned ahead;
} forms[] = {
	// ROCm 5.7 on: "[pid:461   tid:0x7f1072d6c8c0] ", 6.4: "tid: 0x7f..", Windows: "0x 6840"
	{"[pid:~#~tid: ~0x~$]", AMDLOG_STYLE_6_4, 0},
	{"[pid:~#~tid: ~$]", AMDLOG_STYLE_6_4, 0},
	{"[pid:~#~tid:0x~$]", AMDLOG_STYLE_5_7, 0},
	{"[pid:~#~tid:$]", AMDLOG_STYLE_5_7, 0},
	// Up to ROCm 5.6: "8088 : [tid:0x14b2015e9700] ", "182280: [7f634262e880] "
	{"#~: [tid:~0x~$]", AMDLOG_STYLE_5_0, 0},
	{"#~: [tid:~$]", AMDLOG_STYLE_5_0, 0},
	{"#~: [~0x~$]", AMDLOG_STYLE_3_7, 0},
	{"#~: [~$]", AMDLOG_STYLE_3_7, 0},
	// Packets and kernel names of ROCm 3.10 to 4.5: "[7f634262e880] HWq=",
	// "[7f634262e880]!\tShaderName"
	{"[$] HWq=", AMDLOG_STYLE_3_7, 4},
	{"[$]!\t", AMDLOG_STYLE_3_7, 0},
};

// The length of the text at `p` that has the form; 0: it has another form.
static size_t match_form(const char *form, const char *p, size_t len, struct amdlog_writer *w)
{
	size_t at = 0, from;
	int digit;
	*w = (struct amdlog_writer){-1, AMDLOG_UNKNOWN, false};
	for (; *form; form++) {
		from = at;
		switch (*form) {
		case '~': at = skip_spaces(p, at, len); break;
		case '#':
			for (w->pid = 0; at < len && at - from < 11 && is_digit(p[at]); at++)
				w->pid = w->pid * 10 + (p[at] - '0');
			if (at == from || at - from > 10)
				return 0;
			break;
		case '$':
			for (w->tid = 0; at < len && (digit = hex_digit(p[at])) >= 0; at++)
				w->tid = w->tid << 4 | (uint64_t)digit;
			if (at == from || at - from > 16)
				return 0;
			break;
		default:
			if (at >= len || p[at++] != *form)
				return 0;
		}
	}
	return at;
}

// Parses the process part at column `at`, if there is one. Returns where the message may begin.
static size_t parse_part(struct amdlog_record *r, size_t at, struct amdlog_writer *w,
			 struct prefix_columns *c)
{
	const char *p = r->text + at;
	size_t len = r->len - at, n = 0;
	const struct form *f = forms;
	for (; f < forms + COUNT(forms); f++) {
		if ((n = match_form(f->form, p, len, w)))
			break;
	}
	if (n) {
		if (r->style != AMDLOG_STYLE_3_5)
			r->style = f->style;
		w->old = f->style == AMDLOG_STYLE_3_7;
		c->seen = (unsigned)(at + n);
		if (p[n - 1] == ']' && n < len && p[n] == ' ')
			c->seen++;
		c->msg = c->seen - f->ahead;
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
	at = skip_spaces(p, at, len);
	at = skip_spaces(p, at + colour_len(p + at, len - at), len);
	while (len > at && (p[len - 1] == ' ' || p[len - 1] == '\t'))
		len--;
	r->msg = p + at;
	r->msg_len = len - at;
}

// Parses time and process. Returns where the message may begin; 0: the record is cut before that.
static size_t parse_prefix(struct amdlog_record *r, struct amdlog_writer *w,
			   struct prefix_columns *c)
{
	const char *p = r->text;
	size_t len = r->len, at = find_time(p, len);
	if (!at)
		return 0;
	r->time_us = read_prefix_time(p, &at, len);
	c->time_end = (unsigned)at;
	bool stray_d = at < len && p[at] == 'd';
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
	bool in_us = r->style == AMDLOG_STYLE_3_7;
	at = parse_part(r, at, w, c);
	if (!in_us)
		c->msg = 0;
	if (stray_d)
		r->style = AMDLOG_STYLE_6_3;
	return at;
}

void record_parse(struct amdlog_record *r, struct amdlog_writer *w, struct prefix_columns *c)
{
	*w = (struct amdlog_writer){-1, AMDLOG_UNKNOWN, false};
	*c = (struct prefix_columns){0};
	r->level = is_digit(r->text[1]) ? (uint8_t)(r->text[1] - '0') : LEVEL_NONE;
	size_t at = parse_prefix(r, w, c);
	if (!at) {
		r->style = AMDLOG_STYLE_NONE;
		r->time_us = AMDLOG_UNKNOWN;
	}
	set_message(r, at ? at : r->len);
	message_parse(r);
}
