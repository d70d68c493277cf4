// libFuzzer target: the reader of JSON (common/out/jsonin.c, members.c), which reads all files of
// gpq's own: raw samples of bench, parts of logs.
//
// Beside not crashing: what is accepted is what another reader of the same grammar accepts, values
// lie within the text, and what was read is written (common/cli/json.c) and read again as the same.
#include "common/out/members.h"
#include "common/cli/text.h"
#include "tests/fuzz/require.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { DEPTH_MAX = 32 };

// ---- RFC 8259 once more, over a text that ends with a NUL

static const char *skip_blanks(const char *s)
{
	return s + strspn(s, " \t\r\n");
}

// Behind the value at `s`, or NULL.
static const char *scan_string(const char *s)
{
	if (*s++ != '"')
		return NULL;
	for (; *s != '"'; s++) {
		if ((unsigned char)*s < 0x20)
			return NULL;
		if (*s != '\\')
			continue;
		if (*++s == 'u' && strspn(s + 1, "0123456789abcdefABCDEF") >= 4)
			s += 4;
		else if (!*s || !strchr("\"\\/bfnrt", *s))
			return NULL;
	}
	return s + 1;
}

static const char *scan_number(const char *s)
{
	size_t n = strspn(s += *s == '-', "0123456789");
	if (n == 0 || (*s == '0' && n > 1))
		return NULL;
	s += n;
	if (*s == '.') {
		n = strspn(s + 1, "0123456789");
		s += n + 1;
	}
	if (n == 0 || (*s != 'e' && *s != 'E'))
		return n ? s : NULL;
	s++;
	s += *s == '+' || *s == '-';
	n = strspn(s, "0123456789");
	return n ? s + n : NULL;
}

static const char *scan_value(const char *s, unsigned depth);

static const char *scan_members(const char *s, char close, unsigned depth)
{
	s = skip_blanks(s + 1);
	if (*s == close)
		return s + 1;
	for (; depth < DEPTH_MAX; s++) {
		s = skip_blanks(s);
		if (close == '}') {
			s = scan_string(s);
			if (!s || *(s = skip_blanks(s)) != ':')
				return NULL;
			s++;
		}
		s = scan_value(s, depth + 1);
		if (!s)
			return NULL;
		s = skip_blanks(s);
		if (*s != ',')
			return *s == close ? s + 1 : NULL;
	}
	return NULL;
}

static const char *scan_value(const char *s, unsigned depth)
{
	static const char *const words[] = {"true", "false", "null"};

	s = skip_blanks(s);
	for (size_t i = 0; i < 3; i++)
		if (strncmp(s, words[i], strlen(words[i])) == 0)
			return s + strlen(words[i]);
	switch (*s) {
	case '{': return depth < DEPTH_MAX ? scan_members(s, '}', depth) : NULL;
	case '[': return depth < DEPTH_MAX ? scan_members(s, ']', depth) : NULL;
	case '"': return scan_string(s);
	default: return scan_number(s);
	}
}

static bool is_json(const char *text, size_t len)
{
	const char *end = scan_value(text, 0);
	return end && skip_blanks(end) == text + len;
}

// ---- values

static bool is_utf8(const char *s)
{
	for (size_t n; *s; s += n)
		if (!(n = text_utf8(s, strlen(s))))
			return false;
	return true;
}

static void check_string(const struct jsonin_value *v)
{
	char *text = malloc(v->len + 1), *again = NULL, part[8];
	struct buf written = {0};
	struct jsonin list;
	struct jsonin_value w;
	struct json j;
	require(text && jsonin_str(v, text, v->len + 1) && strlen(text) <= v->len);
	require(jsonin_str(v, part, sizeof(part)) && strlen(part) < sizeof(part));
	require(strncmp(part, text, strlen(part)) == 0);
	json_init(&j, &written, false);
	json_begin(&j, NULL, '[');
	json_str(&j, NULL, text);
	json_end(&j, ']');
	require(jsonin_open(&list, written.data, written.len, '['));
	require(jsonin_next(&list, NULL, &w));
	again = malloc(w.len + 1);
	require(again && jsonin_str(&w, again, w.len + 1));
	require(is_utf8(text) && is_utf8(part) && strcmp(text, again) == 0);
	free(text);
	free(again);
	buf_fini(&written);
}

static void check_number(const struct jsonin_value *v)
{
	uint64_t n = 0;
	double f = 0;
	bool whole = jsonin_u64(v, &n);
	require(!whole || strspn(v->text, "0123456789") >= v->len);
	require(!jsonin_f64(v, &f) || !whole || fabs(f - (double)n) <= (double)n * 1e-9);
}

// All that lies in an accepted text.
static void walk(const char *text, size_t len, char open)
{
	struct jsonin j;
	struct jsonin_value key, v;
	const char *at = text;
	require(jsonin_open(&j, text, len, open));
	while (jsonin_next(&j, open == '{' ? &key : NULL, &v)) {
		if (open == '{')
			require(key.text > at && key.text + key.len < v.text);
		require(v.len && v.text > at && v.text + v.len < text + len);
		at = v.text + v.len - 1;
		switch (v.kind) {
		case '{':
		case '[': walk(v.text, v.len, v.kind); break;
		case '"': check_string(&v); break;
		case '0': check_number(&v); break;
		default: require(jsonin_is(&v, "true") || jsonin_is(&v, "false") || v.kind == 'n');
		}
	}
	require(!j.failed);
}

// ---- a table of members

struct row {
	uint64_t number, count;
	double f;
	bool flag;
	char text[16];
	int word;
};

static const char *const words[] = {"zero", "one", "two", NULL};
static const struct member table[] = {MEMBER(u64, row, number, "number"),
				      MEMBER(count, row, count, "count"),
				      MEMBER(f64, row, f, "f"),
				      MEMBER(flag, row, flag, "flag"),
				      MEMBER(text, row, text, "text"),
				      MEMBER_WORD(row, word, "word", words),
				      {0}};

// Reads a row and writes it. False: it is none.
static bool copy_row(struct buf *to, const char *text, size_t len)
{
	struct row row = {.number = UINT64_MAX, .f = NAN};
	const struct member_row rows[] = {{table, &row}, {0}};
	struct json j;
	if (!record_read(text, len, "row", rows))
		return false;
	require(row.word >= 0 && row.word < 3 && memchr(row.text, '\0', sizeof(row.text)));
	to->len = 0;
	record_begin(&j, to, "row");
	members_write(&j, table, &row);
	record_end(&j);
	return true;
}

// A text that was cut may change once more when bytes that are no characters are replaced.
static void check_row(const char *text, size_t len)
{
	struct buf b[3] = {{0}};
	if (copy_row(&b[0], text, len)) {
		require(copy_row(&b[1], b[0].data, b[0].len));
		require(copy_row(&b[2], b[1].data, b[1].len));
		require(b[1].len == b[2].len && memcmp(b[1].data, b[2].data, b[1].len) == 0);
	}
	for (unsigned i = 0; i < 3; i++)
		buf_fini(&b[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char opens[] = "{[";
	char *text = malloc(size + 1), *exact = malloc(size + !size);
	struct jsonin j;
	require(text && exact);
	if (size)
		memcpy(exact, data, size);
	memcpy(text, exact, size);
	text[size] = '\0';
	for (unsigned i = 0; i < 2; i++) {
		bool opened = jsonin_open(&j, exact, size, opens[i]);
		require(opened == (is_json(text, size) && *skip_blanks(text) == opens[i]));
		if (opened)
			walk(exact, size, opens[i]);
	}
	check_row(exact, size);
	free(text);
	free(exact);
	return 0;
}
