// JSON reader (RFC 8259); jsonin.h.
#include "common/out/jsonin.h"

#include "common/cli/text.h"
#include "common/host/number.h"

enum { DEPTH_MAX = 32 };

static void pass_blanks(struct jsonin *j)
{
	while (j->at < j->end &&
	       (*j->at == ' ' || *j->at == '\t' || *j->at == '\r' || *j->at == '\n'))
		j->at++;
}

static bool take_char(struct jsonin *j, char c)
{
	pass_blanks(j);
	if (j->at == j->end || *j->at != c)
		return false;
	j->at++;
	return true;
}

static bool take_one_of(struct jsonin *j, const char *set)
{
	if (j->at == j->end || !*j->at || !strchr(set, *j->at))
		return false;
	j->at++;
	return true;
}

// Passes the rest of an escape, behind its backslash.
static bool pass_escape(struct jsonin *j)
{
	if (!take_one_of(j, "u"))
		return take_one_of(j, "\"\\/bfnrt");
	for (unsigned i = 0; i < 4; i++)
		if (!take_one_of(j, "0123456789abcdefABCDEF"))
			return false;
	return true;
}

static bool pass_string(struct jsonin *j)
{
	if (!take_char(j, '"'))
		return false;
	while (j->at < j->end && *j->at != '"') {
		if ((unsigned char)*j->at < 0x20)
			return false;
		if (*j->at++ == '\\' && !pass_escape(j))
			return false;
	}
	return j->at < j->end && *j->at++ == '"';
}

static bool pass_word(struct jsonin *j, const char *w)
{
	size_t n = strlen(w);
	if ((size_t)(j->end - j->at) < n || memcmp(j->at, w, n) != 0)
		return false;
	j->at += n;
	return true;
}

static bool pass_digits(struct jsonin *j)
{
	const char *start = j->at;
	while (j->at < j->end && *j->at >= '0' && *j->at <= '9')
		j->at++;
	return j->at > start;
}

static bool pass_number(struct jsonin *j)
{
	take_one_of(j, "-");
	// No digit may follow a leading zero.
	if ((!take_one_of(j, "0") && !pass_digits(j)) || (take_one_of(j, ".") && !pass_digits(j)))
		return false;
	if (!take_one_of(j, "eE"))
		return true;
	take_one_of(j, "+-");
	return pass_digits(j);
}

static bool pass_value(struct jsonin *j, unsigned depth);

static bool pass_members(struct jsonin *j, unsigned depth, char open, char close)
{
	if (!take_char(j, open) || depth == DEPTH_MAX)
		return false;
	if (take_char(j, close))
		return true;
	do {
		if (open == '{' && !(pass_string(j) && take_char(j, ':')))
			return false;
		if (!pass_value(j, depth + 1))
			return false;
	} while (take_char(j, ','));
	return take_char(j, close);
}

static bool pass_value(struct jsonin *j, unsigned depth)
{
	pass_blanks(j);
	switch (j->at < j->end ? *j->at : 0) {
	case '{': return pass_members(j, depth, '{', '}');
	case '[': return pass_members(j, depth, '[', ']');
	case '"': return pass_string(j);
	case 't': return pass_word(j, "true");
	case 'f': return pass_word(j, "false");
	case 'n': return pass_word(j, "null");
	default: return pass_number(j);
	}
}

bool jsonin_open(struct jsonin *j, const char *text, size_t len, char open)
{
	// The whole text is checked first: no member is used of a text whose end is broken.
	*j = (struct jsonin){text, text + len, false};
	bool whole = pass_value(j, 0);
	pass_blanks(j);
	j->failed = !whole || j->at != j->end;
	j->at = text;
	j->failed = j->failed || !take_char(j, open);
	return !j->failed;
}

static bool jsonin_fail(struct jsonin *j)
{
	j->failed = true;
	return false;
}

// On entry j->at is behind the opening bracket, or behind the previous member or element.
bool jsonin_next(struct jsonin *j, struct jsonin_value *key, struct jsonin_value *v)
{
	take_char(j, ',');
	pass_blanks(j);
	if (j->failed || j->at == j->end)
		return jsonin_fail(j);
	if (*j->at == '}' || *j->at == ']')
		return false;
	if (key) {
		const char *start = j->at + 1;
		if (!pass_string(j))
			return jsonin_fail(j);
		*key = (struct jsonin_value){'"', start, (size_t)(j->at - start) - 1};
		if (!take_char(j, ':'))
			return jsonin_fail(j);
		pass_blanks(j);
	}
	v->text = j->at;
	if (!pass_value(j, 0))
		return jsonin_fail(j);
	v->len = (size_t)(j->at - v->text);
	v->kind = strchr("{[\"tfn", *v->text) ? *v->text : '0';
	return true;
}

bool jsonin_is(const struct jsonin_value *v, const char *w)
{
	size_t quote = v->len && *v->text == '"';
	return v->len == strlen(w) + 2 * quote && memcmp(v->text + quote, w, strlen(w)) == 0;
}

static bool copy_unescaped(const struct jsonin_value *v, char *to, size_t size)
{
	if (v->kind != '0' || v->len >= size)
		return false;
	memcpy(to, v->text, v->len);
	to[v->len] = '\0';
	return true;
}

bool jsonin_u64(const struct jsonin_value *v, uint64_t *n)
{
	char text[32];
	return copy_unescaped(v, text, sizeof(text)) && parse_u64(text, n);
}

bool jsonin_f64(const struct jsonin_value *v, double *n)
{
	char text[64];
	if (!copy_unescaped(v, text, sizeof(text)))
		return false;
	*n = strtod(text, NULL);
	return true;
}

// Writes the code point of \uXXXX as UTF-8 and returns its length. U+0000 and surrogates, which gpq
// never writes, become "?".
static size_t unescape_unicode(const char *hex, char out[4])
{
	uint64_t c = 0;
	number_read(hex, hex + 4, 16, UINT64_MAX, &c);
	if (c >= 0x80 && c < 0x800) {
		out[0] = (char)(0xc0 | c >> 6);
		out[1] = (char)(0x80 | (c & 0x3f));
		return 2;
	}
	if (c >= 0x800 && (c < 0xd800 || c > 0xdfff)) {
		out[0] = (char)(0xe0 | c >> 12);
		out[1] = (char)(0x80 | (c >> 6 & 0x3f));
		out[2] = (char)(0x80 | (c & 0x3f));
		return 3;
	}
	out[0] = c < 0x80 && c ? (char)c : '?';
	return 1;
}

// Reads one character, or the one that an escape stands for, into `out`. Returns its length in
// `out`, and in *used the bytes read. A byte that is no UTF-8 becomes "?", which is no longer.
static size_t read_char(const char *s, const char *end, char out[4], size_t *used)
{
	static const char from[] = "nrtbf", to[] = "\n\r\t\b\f";
	size_t n = text_utf8(s, (size_t)(end - s));
	*used = n ? n : 1;
	memcpy(out, n ? s : "?", *used);
	if (*s != '\\' || end - s < 2)
		return *used;
	const char *known = strchr(from, *++s);
	*used = 2;
	if (*s == 'u' && end - s >= 5) {
		*used = 6;
		return unescape_unicode(s + 1, out);
	}
	out[0] = known && *s ? to[known - from] : *s;
	return 1;
}

bool jsonin_str(const struct jsonin_value *v, char *text, size_t size)
{
	if (v->kind != '"' || v->len < 2)
		return false;
	const char *s = v->text + 1, *end = v->text + v->len - 1;
	size_t n = 0;
	for (size_t used; s < end; s += used) {
		char c[4];
		size_t len = read_char(s, end, c, &used);
		if (n + len >= size)
			break;
		memcpy(text + n, c, len);
		n += len;
	}
	text[n] = '\0';
	return true;
}
