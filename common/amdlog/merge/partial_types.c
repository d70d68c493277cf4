// Types of members that only parts of logs have: common/out/members.h.
#include "common/amdlog/merge/partial_priv.h"

#include "common/cli/text.h"
#include "common/host/xalloc.h"
#include "common/host/number.h"

#include <stdlib.h>
#include <string.h>

bool read_number(const struct jsonin_value *v, uint64_t *n)
{
	*n = AMDLOG_UNKNOWN;
	return v->kind == 'n' || jsonin_u64(v, n);
}

static void write_number_member(struct json *j, const struct member *m, const void *at)
{
	json_u64(j, m->key, *(const uint64_t *)at);
}

static bool read_number_member(const struct jsonin_value *v, const struct member *m, void *at)
{
	(void)m;
	return read_number(v, at);
}

static void write_u32(struct json *j, const struct member *m, const void *at)
{
	json_u64(j, m->key, *(const uint32_t *)at);
}

static bool read_u32(const struct jsonin_value *v, const struct member *m, void *at)
{
	uint64_t u = 0;
	bool ok = jsonin_u64(v, &u) && u <= UINT32_MAX;
	(void)m;
	*(uint32_t *)at = (uint32_t)u;
	return ok;
}

static void write_i64(struct json *j, const struct member *m, const void *at)
{
	json_i64(j, m->key, *(const int64_t *)at);
}

static bool read_i64(const struct jsonin_value *v, const struct member *m, void *at)
{
	bool minus = v->len && v->text[0] == '-';
	struct jsonin_value digits = *v;
	uint64_t u;
	(void)m;
	digits.text += minus;
	digits.len -= minus;
	if (v->kind != '0' || !jsonin_u64(&digits, &u) || u > INT64_MAX)
		return false;
	*(int64_t *)at = minus ? -(int64_t)u : (int64_t)u;
	return true;
}

static void write_level(struct json *j, const struct member *m, const void *at)
{
	json_i64(j, m->key, *(const int8_t *)at);
}

static bool read_level(const struct jsonin_value *v, const struct member *m, void *at)
{
	int64_t i = 0;
	bool ok = read_i64(v, m, &i) && i >= -1 && i <= 2;
	*(int8_t *)at = (int8_t)i;
	return ok;
}

static void write_list(struct json *j, const struct member *m, const void *at)
{
	json_begin(j, m->key, '[');
	for (size_t i = 0; i < m->size / sizeof(uint64_t); i++)
		json_u64(j, NULL, ((const uint64_t *)at)[i]);
	json_end(j, ']');
}

static bool read_list(const struct jsonin_value *v, const struct member *m, void *at)
{
	const size_t most = m->size / sizeof(uint64_t);
	uint64_t *to = at;
	struct jsonin j;
	struct jsonin_value each;
	size_t n = 0;
	jsonin_open(&j, v->text, v->len, '[');
	while (n < most && jsonin_next(&j, NULL, &each))
		if (!read_number(&each, &to[n++]))
			return false;
	return n == most && !jsonin_next(&j, NULL, &each) && !j.failed;
}

// A name cut in the middle of a character is no UTF-8. It is written in hex, so that it comes back
// as it was.
static bool is_utf8(const struct member_name *name)
{
	size_t at = 0, n;
	while (at < name->len && (n = text_utf8(name->text + at, name->len - at)))
		at += n;
	return at == name->len;
}

static void write_name(struct json *j, const struct member *m, const void *at)
{
	const struct member_name *name = at;
	if (is_utf8(name))
		json_strn(j, m->key, name->text, name->len);
}

static void write_name_hex(struct json *j, const struct member *m, const void *at)
{
	const struct member_name *name = at;
	struct buf hex = {0};
	if (is_utf8(name))
		return;
	for (size_t i = 0; i < name->len; i++)
		buf_printf(&hex, "%02x", (unsigned char)name->text[i]);
	json_str(j, m->key, hex.data);
	buf_fini(&hex);
}

char *copy_string(const struct jsonin_value *v)
{
	char *text = xmalloc(v->len + 1);
	if (jsonin_str(v, text, v->len + 1))
		return text;
	free(text);
	return NULL;
}

// A row has one name; its reader frees the text.
static bool read_name(const struct jsonin_value *v, const struct member *m, void *at)
{
	struct member_name *name = at;
	char *text;
	(void)m;
	if (name->text || !(text = copy_string(v)))
		return false;
	name->text = text;
	name->len = (uint32_t)strlen(text);
	return true;
}

static bool read_name_hex(const struct jsonin_value *v, const struct member *m, void *at)
{
	struct member_name *name = at;
	if (!read_name(v, m, at))
		return false;
	char *text = (char *)(uintptr_t)name->text;
	name->len /= 2;
	for (size_t i = 0; i < name->len; i++) {
		uint64_t byte = 0;
		number_read(text + 2 * i, text + 2 * i + 2, 16, UINT64_MAX, &byte);
		text[i] = (char)byte;
	}
	return true;
}

const struct member_type member_number = {write_number_member, read_number_member},
			 member_u32 = {write_u32, read_u32}, member_i64 = {write_i64, read_i64},
			 member_level = {write_level, read_level},
			 member_list = {write_list, read_list},
			 member_name = {write_name, read_name},
			 member_name_hex = {write_name_hex, read_name_hex};
