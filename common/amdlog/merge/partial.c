// Parts of logs as JSON, written; partial.h. A member that has its row's initial value is left out.
#include "common/amdlog/merge/partial_priv.h"

#include "common/cli/json.h"

#include <stdlib.h>
#include <string.h>

// `initial`: what is left out; NULL: nothing is.
static void write_part_members(struct json *j, const struct part_member *m, const void *row,
			       const char *initial)
{
	for (; m->is.key; m++) {
		const char *at = (const char *)row + m->is.offset;
		const bool is_name = m->is.type == &member_name || m->is.type == &member_name_hex;
		if (!initial || is_name || memcmp(at, initial + m->is.offset, m->is.size) != 0)
			m->is.type->write(j, &m->is, at);
	}
}

static void write_section(struct json *j, const struct section *x, const struct amdlog_part *part)
{
	uint32_t n;
	const char *rows = section_rows(x, part, &n);
	json_begin(j, x->key, '[');
	for (uint32_t i = 0; i < n; i++) {
		json_begin(j, NULL, '{');
		write_part_members(j, x->members, rows + i * x->size,
				   x->sparse ? x->initial : NULL);
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
	write_part_members(&j, part_members, part, NULL);
	json_begin(&j, "totals", '{');
	write_part_members(&j, part_totals, &s->totals, NULL);
	write_part_members(&j, part_state, s, NULL);
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
