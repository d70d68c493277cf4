// Members of structs as JSON; members.h.
#include "common/out/members.h"

static void write_u64(struct json *j, const struct member *m, const void *at)
{
	json_u64(j, m->key, *(const uint64_t *)at);
}

static bool read_count(const struct jsonin_value *v, const struct member *m, void *at)
{
	(void)m;
	return jsonin_u64(v, at) && *(uint64_t *)at != UINT64_MAX; // UINT64_MAX is written as null
}

static bool read_u64(const struct jsonin_value *v, const struct member *m, void *at)
{
	(void)m;
	return v->kind == 'n' || jsonin_u64(v, at);
}

static void write_f64(struct json *j, const struct member *m, const void *at)
{
	json_f64(j, m->key, *(const double *)at);
}

static bool read_f64(const struct jsonin_value *v, const struct member *m, void *at)
{
	(void)m;
	return v->kind == 'n' || jsonin_f64(v, at);
}

static void write_bool(struct json *j, const struct member *m, const void *at)
{
	json_bool(j, m->key, *(const bool *)at);
}

static bool read_bool(const struct jsonin_value *v, const struct member *m, void *at)
{
	(void)m;
	*(bool *)at = v->kind == 't';
	return v->kind == 't' || v->kind == 'f';
}

static void write_text(struct json *j, const struct member *m, const void *at)
{
	json_str(j, m->key, *(const char *)at ? at : NULL);
}

static bool read_text(const struct jsonin_value *v, const struct member *m, void *at)
{
	return v->kind == 'n' || jsonin_str(v, at, m->size);
}

static void write_plain(struct json *j, const struct member *m, const void *at)
{
	json_str(j, m->key, at);
}

static bool read_plain(const struct jsonin_value *v, const struct member *m, void *at)
{
	return jsonin_str(v, at, m->size);
}

static void write_word(struct json *j, const struct member *m, const void *at)
{
	json_str(j, m->key, m->words[*(const int *)at]);
}

static bool read_word(const struct jsonin_value *v, const struct member *m, void *at)
{
	int i = 0;
	while (m->words[i] && !jsonin_is(v, m->words[i]))
		i++;
	*(int *)at = m->words[i] ? i : 0;
	return m->words[i];
}

const struct member_type member_u64 = {write_u64, read_u64}, member_count = {write_u64, read_count},
			 member_f64 = {write_f64, read_f64}, member_flag = {write_bool, read_bool},
			 member_text = {write_text, read_text},
			 member_plain = {write_plain, read_plain},
			 member_word = {write_word, read_word};

void members_write(struct json *j, const struct member *table, const void *row)
{
	for (const struct member *m = table; m->key; m++)
		m->type->write(j, m, (const char *)row + m->offset);
}

bool members_take(const struct member_row *rows, const struct jsonin_value *key,
		  const struct jsonin_value *v)
{
	for (; rows->table; rows++)
		for (const struct member *m = rows->table; m->key; m++)
			if (jsonin_is(key, m->key))
				return m->type->read(v, m, (char *)rows->row + m->offset);
	return true;
}

void record_begin(struct json *j, struct buf *out, const char *name)
{
	json_init(j, out, false);
	json_begin(j, NULL, '{');
	json_str(j, "record", name);
	json_u64(j, "schema", 1);
}

void record_end(struct json *j)
{
	json_end(j, '}');
	buf_puts(j->out, "\n");
}

bool record_read(const char *line, size_t len, const char *name, const struct member_row *rows)
{
	struct jsonin j;
	struct jsonin_value key, v;
	bool named = false, ok = jsonin_open(&j, line, len, '{');
	while (ok && jsonin_next(&j, &key, &v)) {
		if (jsonin_is(&key, "record"))
			ok = named = jsonin_is(&v, name);
		else if (jsonin_is(&key, "schema"))
			ok = jsonin_is(&v, "1");
		else
			ok = members_take(rows, &key, &v);
	}
	return ok && named;
}
