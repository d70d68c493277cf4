// Parts of logs as JSON, written and read; partial.h. In `sparse` tables, members with
// their initial value are not written. Indices that are read are checked to lie in their tables.
#include "common/amdlog/merge/partial_priv.h"

#include "common/cli/json.h"

// Writes the members of a row, but not those that are as in the row `initial`; NULL: all.
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

// Writes pairs as a flat list: two numbers each or, in a table with values, three.
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

// Writes the row of each API function with durations, then its histogram, as one flat list.
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

uint64_t amdlog_hash(uint64_t h, const void *bytes, size_t len)
{
	for (const unsigned char *p = bytes; len--; p++) // like FNV-1a
		h = (h ^ UINT64_C(0xcbf29ce484222325) ^ *p) * UINT64_C(0x100000001b3);
	return h & AMDLOG_HASH_MAX;
}

// --- reading a part ---

// Reads a member, if the table `m` has it: others are of a later version.
static bool read_part_member(const struct jsonin_value *key, const struct jsonin_value *v,
			     const struct part_member *m, void *row)
{
	for (; m->is.key; m++)
		if (jsonin_is(key, m->is.key))
			return m->is.type->read(v, &m->is, (char *)row + m->is.offset);
	return true;
}

static bool read_members(const struct jsonin_value *v, const struct part_member *members, void *row)
{
	struct jsonin j;
	struct jsonin_value key, each;
	jsonin_open(&j, v->text, v->len, '{');
	while (jsonin_next(&j, &key, &each))
		if (!read_part_member(&key, &each, members, row))
			return false;
	return !j.failed;
}

static bool read_row(struct amdlog_part *part, const struct section *x,
		     const struct jsonin_value *v)
{
	const struct part_member *m = x->members;
	struct member_name name = {0};
	union row row;
	memcpy(&row, x->initial, x->size);
	bool ok = read_members(v, x->members, &row);
	if (m->is.type == &member_name) {
		memcpy(&name, (char *)&row + m->is.offset, sizeof(name));
		ok = ok && name.text;
	}
	for (; ok && m->is.key; m++)
		ok = !m->required || *(uint32_t *)(void *)((char *)&row + m->is.offset) <
					     bound_of(part->sum, m->bound);
	ok = ok && x->put(part, &row);
	free((char *)(uintptr_t)name.text);
	return ok;
}

static bool read_section(struct amdlog_part *part, const struct section *x,
			 const struct jsonin_value *v)
{
	struct jsonin j;
	struct jsonin_value each;
	jsonin_open(&j, v->text, v->len, '[');
	while (jsonin_next(&j, NULL, &each))
		if (!read_row(part, x, &each))
			return false;
	return !j.failed;
}

static bool read_api_times(struct amdlog_summary *s, const struct jsonin_value *v)
{
	struct jsonin_value api, times;
	struct jsonin j;
	struct hist h;
	uint64_t n;
	jsonin_open(&j, v->text, v->len, '[');
	while (jsonin_next(&j, NULL, &api)) {
		if (!jsonin_u64(&api, &n) || n >= s->napis || !jsonin_next(&j, NULL, &times) ||
		    !hist_read(&h, times.text, times.len))
			return false;
		keyed_histogram_put(&s->api_times, (uint32_t)n, &h);
	}
	return !j.failed;
}

static bool read_pairs(const struct jsonin_value *v, struct intern *in, bool values)
{
	struct jsonin j;
	struct jsonin_value a, b, c;
	struct pair p;
	uint64_t value = INTERN_NONE;
	uint32_t n;
	jsonin_open(&j, v->text, v->len, '[');
	while (jsonin_next(&j, NULL, &a)) {
		if (!jsonin_next(&j, NULL, &b) || (values && !jsonin_next(&j, NULL, &c)) ||
		    !read_number(&a, &p.a) || !read_number(&b, &p.b) ||
		    (values && (!jsonin_u64(&c, &value) || value >= INTERN_NONE)))
			return false;
		n = intern_put(in, &p, sizeof(p));
		if (n == INTERN_NONE)
			return false;
		in->entries[n].value = (uint32_t)value;
	}
	return !j.failed;
}

// Reads the members that say which part this is, and its counts.
static bool read_part_place(struct amdlog_part *part, const struct jsonin_value *key,
			    const struct jsonin_value *v)
{
	if (jsonin_is(key, "file"))
		return !part->file && (part->file = copy_string(v));
	if (jsonin_is(key, "host"))
		return !part->host && (part->host = copy_string(v));
	return read_part_member(key, v, part_members, part);
}

static bool read_part_any(struct amdlog_part *part, const struct jsonin_value *key,
			  const struct jsonin_value *v)
{
	struct amdlog_summary *s = part->sum;
	for (size_t i = 0; i < PART_SECTIONS; i++)
		if (jsonin_is(key, part_sections[i].key))
			return read_section(part, &part_sections[i], v);
	for (size_t i = 0; i < PART_PAIRS; i++)
		if (jsonin_is(key, part_pairs[i].key))
			return read_pairs(v, pairs_in(&part_pairs[i], s), part_pairs[i].value);
	if (jsonin_is(key, "api_times"))
		return read_api_times(s, v);
	if (jsonin_is(key, "totals"))
		return read_members(v, part_totals, &s->totals) && read_members(v, part_state, s);
	return read_part_place(part, key, v);
}

// --- checking: what is read points nowhere outside ---

static bool rows_point_inside(const struct amdlog_part *part, const struct section *x)
{
	uint32_t n, to;
	const char *rows = section_rows(x, part, &n);
	for (const struct part_member *m = x->members; m->is.key; m++) {
		for (uint32_t i = 0; m->bound && i < n; i++) {
			memcpy(&to, rows + i * x->size + m->is.offset, sizeof(to));
			if (to != AMDLOG_NONE && to >= bound_of(part->sum, m->bound))
				return false;
		}
	}
	return true;
}

static bool pairs_point_inside(const struct amdlog_summary *s, const struct pairs *x)
{
	const struct intern *in = pairs_in(x, s);
	for (uint32_t i = 0; i < in->n; i++) {
		struct pair p = pair_at(in, i);
		if (p.a >= bound_of(s, x->first) ||
		    (x->second && p.b >> x->shift >= bound_of(s, x->second)) ||
		    (x->value && in->entries[i].value >= bound_of(s, x->value)))
			return false;
	}
	return true;
}

static bool points_inside(const struct amdlog_part *part)
{
	bool ok = true;
	for (size_t i = 0; ok && i < PART_SECTIONS; i++)
		ok = rows_point_inside(part, &part_sections[i]);
	for (size_t i = 0; ok && i < PART_PAIRS; i++)
		ok = pairs_point_inside(part->sum, &part_pairs[i]);
	return ok;
}

// Reads the members "record" and "schema", with which each part begins. Returns the schema, or 0.
static uint64_t read_schema(const char *line, size_t len, struct jsonin *j)
{
	struct jsonin_value key, v;
	uint64_t schema;
	return jsonin_open(j, line, len, '{') && jsonin_next(j, &key, &v) &&
			       jsonin_is(&key, "record") && jsonin_is(&v, AMDLOG_PARTIAL_RECORD) &&
			       jsonin_next(j, &key, &v) && jsonin_is(&key, "schema") &&
			       jsonin_u64(&v, &schema)
		       ? schema
		       : 0;
}

uint64_t amdlog_partial_schema(const char *line, size_t len)
{
	struct jsonin j;
	return read_schema(line, len, &j);
}

static bool is_partial(const char *line, size_t len, struct jsonin *j, const char **why)
{
	const uint64_t schema = read_schema(line, len, j);
	*why = schema ? "of another version of gpq" : "not a partial result of gpq trace";
	return schema == AMDLOG_PARTIAL_SCHEMA;
}

static bool read_part_rest(struct amdlog_part *part, struct jsonin *j)
{
	struct jsonin_value key, v;
	while (jsonin_next(j, &key, &v))
		if (!read_part_any(part, &key, &v))
			return false;
	return !j->failed && part->file && points_inside(part);
}

bool amdlog_partial_read(const char *line, size_t len, struct amdlog_part *part,
			 struct amdlog_summary *s, const char **why)
{
	const struct amdlog_filter none = {.until_us = AMDLOG_UNKNOWN};
	struct jsonin j;
	*part = (struct amdlog_part){.sum = s};
	if (!is_partial(line, len, &j, why))
		return false;
	*why = "damaged";
	amdlog_summary_init(s, &none);
	s->part.resumed = true;
	if (read_part_rest(part, &j))
		return true;
	amdlog_summary_fini(s);
	amdlog_part_fini(part);
	return false;
}

bool amdlog_partial_place(const char *line, size_t len, struct amdlog_part *part)
{
	struct jsonin j;
	struct jsonin_value key, v;
	const char *why;
	unsigned seen = 0;
	*part = (struct amdlog_part){0};
	if (!is_partial(line, len, &j, &why))
		return false;
	while (jsonin_next(&j, &key, &v) && !jsonin_is(&key, "totals") &&
	       read_part_place(part, &key, &v))
		seen += jsonin_is(&key, "file") || jsonin_is(&key, "from") || jsonin_is(&key, "to");
	if (seen == 3 && part->file)
		return true;
	amdlog_part_fini(part);
	return false;
}
