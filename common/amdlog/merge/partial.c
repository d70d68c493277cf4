// Parts of logs as JSON, written; partial.h. A member that has its row's initial value is left out.
#include "common/amdlog/merge/partial_priv.h"

#include "common/cli/json.h"
#include "common/cli/text.h"

#include <stdlib.h>
#include <string.h>

static void write_list(struct json *j, const struct member *m, const void *at)
{
	json_begin(j, m->key, '[');
	for (size_t i = 0; i < m->size / sizeof(uint64_t); i++)
		json_u64(j, NULL, ((const uint64_t *)at)[i]);
	json_end(j, ']');
}

// What is no UTF-8 (a name cut in the middle of a character) must come back as it is.
static void write_name(struct json *j, const struct member_name *name)
{
	struct buf hex = {0};
	size_t at = 0, n = 1;
	while (at < name->len && (n = text_utf8(name->text + at, name->len - at)))
		at += n;
	if (at == name->len) {
		json_strn(j, "name", name->text, name->len);
		return;
	}
	for (at = 0; at < name->len; at++)
		buf_printf(&hex, "%02x", (unsigned char)name->text[at]);
	json_str(j, "name_hex", hex.data);
	buf_fini(&hex);
}

// `initial`: what is left out; NULL: nothing is.
static void write_members(struct json *j, const struct member *m, const void *row,
			  const void *initial)
{
	for (; m->key; m++) {
		const void *at = (const char *)row + m->offset;
		if (initial && m->type != T_NAME &&
		    !memcmp(at, (const char *)initial + m->offset, m->size))
			continue;
		switch (m->type) {
		case T_U64: json_u64(j, m->key, *(const uint64_t *)at); break;
		case T_U32: json_u64(j, m->key, *(const uint32_t *)at); break;
		case T_I64: json_i64(j, m->key, *(const int64_t *)at); break;
		case T_I8: json_i64(j, m->key, *(const int8_t *)at); break;
		case T_BOOL: json_bool(j, m->key, *(const bool *)at); break;
		case T_TEXT: json_str(j, m->key, at); break;
		case T_LIST: write_list(j, m, at); break;
		case T_NAME: write_name(j, at); break;
		}
	}
}

static void write_section(struct json *j, const struct section *x, const struct amdlog_part *part)
{
	uint32_t n;
	const char *rows = section_rows(x, part, &n);
	json_begin(j, x->key, '[');
	for (uint32_t i = 0; i < n; i++) {
		json_begin(j, NULL, '{');
		write_members(j, x->members, rows + i * x->size, x->sparse ? x->initial : NULL);
		json_end(j, '}');
	}
	json_end(j, ']');
}

// Pairs of numbers and what they lead to, three numbers each; without values two.
static void write_pairs(struct json *j, const struct pairs *x, const struct intern *in)
{
	json_begin(j, x->key, '[');
	for (uint32_t i = 0; i < in->n; i++) {
		struct pair p = pair_at(in, i);
		if (x->value && in->entries[i].value == INTERN_NONE)
			continue;
		json_u64(j, NULL, p.a);
		json_u64(j, NULL, p.b);
		if (x->value)
			json_u64(j, NULL, in->entries[i].value);
	}
	json_end(j, ']');
}

// The function's number and its histogram, by turns.
static void write_api_times(struct json *j, const struct amdlog_summary *s)
{
	struct hist h;
	json_begin(j, "api_times", '[');
	for (uint32_t i = 0; i < s->napis; i++) {
		if (!keyed_histogram_get(&s->api_times, i, &h))
			continue;
		json_u64(j, NULL, i);
		hist_json(&h, j, NULL);
	}
	json_end(j, ']');
}

void amdlog_partial_write(struct buf *out, const struct amdlog_part *part)
{
	const struct amdlog_summary *s = part->sum;
	struct json j;
	json_init(&j, out, false);
	json_begin(&j, NULL, '{');
	json_str(&j, "record", AMDLOG_PARTIAL_RECORD);
	json_u64(&j, "schema", AMDLOG_PARTIAL_SCHEMA);
	if (part->host)
		json_str(&j, "host", part->host);
	json_str(&j, "file", part->file);
	write_members(&j, part_members, part, NULL);
	json_begin(&j, "totals", '{');
	write_members(&j, part_totals, &s->totals, NULL);
	write_members(&j, part_state, s, NULL);
	json_end(&j, '}');
	for (unsigned i = 0; i < PART_SECTIONS; i++) {
		if (i == PART_ERRORS)
			write_api_times(&j, s);
		for (unsigned k = 0; i == PART_STREAMS && k < PART_PAIRS; k++)
			write_pairs(&j, &part_pairs[k], pairs_in(&part_pairs[k], s));
		write_section(&j, &part_sections[i], part);
	}
	json_end(&j, '}');
	buf_puts(out, "\n");
}

void amdlog_part_fini(struct amdlog_part *part)
{
	amdlog_streams_fini(&part->streams);
	free(part->file);
	free(part->host);
	part->file = part->host = NULL;
}
