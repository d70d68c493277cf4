// JSON writer; see json.h.
#include "common/cli/json.h"

#include "common/cli/text.h"

#include <math.h>

void json_init(struct json *j, struct buf *out, bool pretty)
{
	*j = (struct json){.out = out, .pretty = pretty, .empty = true};
}

static bool on_one_line(const struct json *j)
{
	return !j->pretty || (j->flat && j->depth >= j->flat);
}

static void json_newline(struct json *j)
{
	buf_puts(j->out, "\n");
	for (unsigned i = 0; i < j->depth; i++)
		buf_puts(j->out, "  ");
}

static void json_quote(struct buf *out, const char *s, size_t len)
{
	buf_puts(out, "\"");
	for (size_t i = 0; i < len;) {
		size_t run = text_plain(s + i, len - i);
		buf_append(out, s + i, run);
		i += run;
		if (i == len)
			break;
		size_t n = text_utf8(s + i, len - i);
		unsigned char c = (unsigned char)s[i];
		if (n == 2 && c == 0xc2 && (unsigned char)s[i + 1] < 0xa0) // C1 control code
			buf_printf(out, "\\u%04x", (unsigned char)s[i + 1]);
		else if (n > 1)
			buf_append(out, s + i, n);
		else if (n == 0)
			buf_puts(out, "\xef\xbf\xbd");
		else if (c == '"' || c == '\\')
			buf_printf(out, "\\%c", c);
		else
			buf_printf(out, "\\u%04x", c);
		i += n ? n : 1;
	}
	buf_puts(out, "\"");
}

void json_quoted(const struct json *j, struct buf *out, const char *key)
{
	json_quote(out, key, strlen(key));
	buf_puts(out, j->pretty ? ": " : ":");
}

static void json_start_value(struct json *j, const char *key)
{
	bool line = on_one_line(j);
	if (!j->empty)
		buf_puts(j->out, line && j->pretty ? ", " : ",");
	if (!line && j->depth)
		json_newline(j);
	j->empty = false;
	if (key)
		json_quoted(j, j->out, key);
}

void json_quoted_key(struct json *j, const char *quoted, size_t len)
{
	if (!j->empty)
		buf_append(j->out, ", ", 1 + (size_t)j->pretty);
	buf_append(j->out, quoted, len);
	j->empty = true; // no comma before the value
}

void json_begin(struct json *j, const char *key, char open)
{
	json_start_value(j, key);
	buf_append(j->out, &open, 1);
	j->depth++;
	j->empty = true;
}

void json_begin_flat(struct json *j, const char *key, char open)
{
	json_begin(j, key, open);
	if (!j->flat)
		j->flat = j->depth;
}

void json_end(struct json *j, char close)
{
	if (!j->depth)
		return;
	bool own_line = !j->empty && !on_one_line(j);
	if (j->flat == j->depth)
		j->flat = 0;
	j->depth--;
	if (own_line)
		json_newline(j);
	buf_append(j->out, &close, 1);
	j->empty = false;
}

// Begins a value, and writes null if `null` is set. Otherwise the caller writes the value.
static bool put_null(struct json *j, const char *key, bool null)
{
	json_start_value(j, key);
	if (null)
		buf_puts(j->out, "null");
	return null;
}

void json_strn(struct json *j, const char *key, const char *value, size_t len)
{
	json_start_value(j, key);
	json_quote(j->out, value, len);
}

void json_str(struct json *j, const char *key, const char *value)
{
	if (!put_null(j, key, !value))
		json_quote(j->out, value, strlen(value));
}

void json_u64(struct json *j, const char *key, uint64_t value)
{
	if (!put_null(j, key, value == UINT64_MAX))
		buf_u64(j->out, value);
}

void json_milli(struct json *j, const char *key, uint64_t thousandths)
{
	char part[4] = {'.'};
	json_start_value(j, key);
	buf_u64(j->out, thousandths / 1000);
	thousandths %= 1000;
	for (int i = 3; i; i--, thousandths /= 10)
		part[i] = (char)('0' + thousandths % 10);
	for (size_t n = 4; n > 1; n--)
		if (part[n - 1] != '0') {
			buf_append(j->out, part, n);
			return;
		}
}

void json_i64(struct json *j, const char *key, int64_t value)
{
	if (!put_null(j, key, value == INT64_MIN))
		buf_i64(j->out, value);
}

void json_f64(struct json *j, const char *key, double value)
{
	if (!put_null(j, key, !isfinite(value)))
		buf_printf(j->out, "%.9g", value);
}

void json_hex(struct json *j, const char *key, uint64_t value)
{
	if (put_null(j, key, value == UINT64_MAX))
		return;
	buf_puts(j->out, "\"");
	buf_hex(j->out, value);
	buf_puts(j->out, "\"");
}

void json_bool(struct json *j, const char *key, int value)
{
	json_start_value(j, key);
	buf_puts(j->out, value < 0 ? "null" : value ? "true" : "false");
}
