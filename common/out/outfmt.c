// Cells of the output object: one value in each of the output formats; see out.h.
#include "common/out/out_priv.h"

#include <math.h>

union cell {
	const char *str;
	uint64_t u64;
	uint32_t u32;
	int64_t i64;
	int8_t b;
	double f64;
};

const struct outfmt_type outfmt_types[] = {
	[OUT_STR] = {"string", "string", sizeof(char *), false, false},
	[OUT_U64] = {"number", "integer", sizeof(uint64_t), true, true},
	[OUT_I64] = {"number", "integer", sizeof(int64_t), true, false},
	[OUT_U32] = {"number", "integer", sizeof(uint32_t), true, true},
	[OUT_HEX] = {"hex string", "string", sizeof(uint64_t), true, false},
	[OUT_SIZE] = {"bytes", "integer", sizeof(uint64_t), true, true},
	[OUT_NS] = {"nanoseconds", "integer", sizeof(uint64_t), true, true},
	[OUT_BOOL] = {"boolean", "boolean", sizeof(int8_t), false, false},
	[OUT_F64] = {"number", "number", sizeof(double), true, false},
	[OUT_LIST] = {"array", "array", sizeof(char *), false, false},
};

static union cell cell_get(const struct out_col *c, const void *record)
{
	const char *member = (const char *)record + c->offset;
	union cell v = {0};
	if (c->flags & OUT_ARRAY)
		v.str = *member ? member : NULL;
	else if (c->type == OUT_BOOL)
		v.b = *(const int8_t *)member;
	else if (c->type == OUT_U32)
		memcpy(&v.u32, member, sizeof(v.u32));
	else // memcpy of constant size is inlined: this runs for each cell of millions of rows
		memcpy(&v, member, sizeof(v));
	return v;
}

static bool cell_is_null(enum out_type type, union cell v)
{
	switch (type) {
	case OUT_STR:
	case OUT_LIST: return v.str == NULL;
	case OUT_I64: return v.i64 == I64_NULL;
	case OUT_U32: return v.u32 == U32_NULL;
	case OUT_BOOL: return v.b < 0;
	case OUT_F64: return isnan(v.f64);
	default: return v.u64 == U64_NULL;
	}
}

bool out_is_null(const struct out_col *c, const void *record)
{
	return cell_is_null(c->type, cell_get(c, record));
}

void out_clear(const struct out_table *t, void *record)
{
	for (unsigned i = 0; i < t->ncols; i++) {
		const enum out_type type = t->cols[i].type;
		union cell v = {.u64 = U64_NULL};
		if (type == OUT_STR || type == OUT_LIST)
			v.str = NULL;
		else if (type == OUT_I64)
			v.i64 = I64_NULL;
		else if (type == OUT_F64)
			v.f64 = NAN;
		memcpy((char *)record + t->cols[i].offset, &v,
		       t->cols[i].flags & OUT_ARRAY ? 1 : outfmt_types[type].size);
	}
}

bool outfmt_text(struct buf *b, const struct out_col *c, const void *record, bool human, bool bytes,
		 outfmt_escape *escape)
{
	union cell v = cell_get(c, record);
	char tmp[32];
	if (cell_is_null(c->type, v))
		return false;
	switch (c->type) {
	case OUT_STR:
	case OUT_LIST:
		if (escape)
			escape(b, v.str, strlen(v.str));
		else
			buf_puts(b, v.str);
		break;
	case OUT_I64: buf_i64(b, v.i64); break;
	case OUT_HEX: buf_hex(b, v.u64); break;
	case OUT_BOOL: buf_puts(b, v.b ? "yes" : "no"); break;
	case OUT_F64: // three digits, but thousands in full: 2050, not 2.05e+03
		buf_printf(b,
			   !human                                      ? "%.9g"
			   : fabs(v.f64) >= 999.5 && fabs(v.f64) < 1e9 ? "%.0f"
								       : "%.3g",
			   v.f64);
		break;
	case OUT_SIZE:
	case OUT_NS:
	case OUT_U64:
		if (human && c->type == OUT_NS)
			buf_puts(b, text_ns(tmp, v.u64));
		else if (human && c->type == OUT_SIZE && !bytes)
			buf_puts(b, text_size(tmp, v.u64));
		else
			buf_u64(b, v.u64);
		break;
	case OUT_U32: buf_u64(b, v.u32); break;
	}
	return true;
}

static void escape_but(struct buf *b, const char *s, size_t len, const char *unsafe)
{
	for (size_t i = 0; i < len;) {
		size_t run = strcspn(s + i, unsafe);
		text_escape(b, s + i, run);
		i += run;
		if (i < len)
			buf_printf(b, "\\x%02x", (unsigned char)s[i++]);
	}
}

void outfmt_raw(struct buf *b, const char *s, size_t len)
{
	if (len == 0)
		buf_puts(b, "\"\""); // an empty word would shift the columns behind it
	escape_but(b, s, len, " \\");
}

void outfmt_cell(struct buf *b, const char *s, size_t len)
{
	escape_but(b, s, len, "\\");
}

void outfmt_quoted(struct buf *b, const char *s, size_t len)
{
	escape_but(b, s, len, "\"\\$`");
}

static void json_words(struct json *j, const char *key, const char *words)
{
	if (!words) {
		json_str(j, key, NULL);
		return;
	}
	json_begin(j, key, '[');
	while (*words) {
		size_t n = strcspn(words, " ");
		if (n)
			json_strn(j, NULL, words, n);
		words += n + (words[n] == ' ');
	}
	json_end(j, ']');
}

void outfmt_json(struct json *j, const char *key, const struct out_col *c, const void *record)
{
	union cell v = cell_get(c, record);
	switch (c->type) {
	case OUT_STR: json_str(j, key, v.str); break;
	case OUT_LIST: json_words(j, key, v.str); break;
	case OUT_I64: json_i64(j, key, v.i64); break;
	case OUT_U32: json_u64(j, key, v.u32 == U32_NULL ? U64_NULL : v.u32); break;
	case OUT_HEX: json_hex(j, key, v.u64); break;
	case OUT_BOOL: json_bool(j, key, v.b); break;
	case OUT_F64: json_f64(j, key, v.f64); break;
	default: json_u64(j, key, v.u64); break;
	}
}

bool outfmt_number(const struct out_col *c, const void *record, long double *v)
{
	union cell x = cell_get(c, record);
	if (cell_is_null(c->type, x))
		return false;
	switch (c->type) {
	case OUT_I64: *v = x.i64; break;
	case OUT_U32: *v = x.u32; break;
	case OUT_BOOL: *v = x.b; break;
	case OUT_F64: *v = x.f64; break;
	default: *v = x.u64; break;
	}
	return true;
}

const char *outfmt_string(const struct out_col *c, const void *record)
{
	return cell_get(c, record).str;
}

void outfmt_csv(struct buf *b, const char *s, size_t len)
{
	const bool quotes = len == 0 || strpbrk(s, ",\"");
	if (!quotes) {
		escape_but(b, s, len, "\\");
		return;
	}
	buf_puts(b, "\"");
	for (size_t i = 0; i < len; i++) {
		size_t run = strcspn(s + i, "\"\\");
		text_escape(b, s + i, run);
		i += run;
		if (i < len)
			buf_puts(b, s[i] == '"' ? "\"\"" : "\\x5c");
	}
	buf_puts(b, "\"");
}
