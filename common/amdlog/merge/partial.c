// Parts of logs as JSON, written; partial.h. A member that has its row's initial value is left out.
#include "common/amdlog/merge/partial_priv.h"

#include "common/cli/json.h"
#include "common/cli/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void write_list(struct json *j, const struct member *m, const void *at)
{
	json_begin(j, m->key, '[');
	for (size_t i = 0; i < m->size / sizeof(uint64_t); i++)
		json_u64(j, NULL, ((const uint64_t *)at)[i]);
	json_end(j, ']');
}

static void write_members(struct json *j, const struct member *m, size_t n, const void *row,
			  const void *blank)
{
	for (; n--; m++) {
		const void *at = (const char *)row + m->offset;

		if (blank && !memcmp(at, (const char *)blank + m->offset, m->size))
			continue;
		switch (m->type) {
		case T_U64: json_u64(j, m->key, *(const uint64_t *)at); break;
		case T_U32: json_u64(j, m->key, *(const uint32_t *)at); break;
		case T_I64: json_i64(j, m->key, *(const int64_t *)at); break;
		case T_I8: json_i64(j, m->key, *(const int8_t *)at); break;
		case T_BOOL: json_bool(j, m->key, *(const bool *)at); break;
		case T_TEXT: json_str(j, m->key, at); break;
		case T_LIST: write_list(j, m, at); break;
		}
	}
}

static void write_rows(struct json *j, const char *key, const struct member *m, size_t n,
		       const void *rows, uint32_t nrows, size_t size, const void *blank)
{
	json_begin(j, key, '[');
	for (uint32_t i = 0; i < nrows; i++) {
		json_begin(j, NULL, '{');
		write_members(j, m, n, (const char *)rows + i * size, blank);
		json_end(j, '}');
	}
	json_end(j, ']');
}

// What is no UTF-8 (a name cut in the middle of a character) must come back as it is.
static void write_name(struct json *j, const struct intern_entry *e)
{
	struct buf hex = {0};
	size_t at = 0, n = 1;

	while (at < e->len && (n = text_utf8(e->bytes + at, e->len - at)))
		at += n;
	if (at == e->len) {
		json_strn(j, "name", e->bytes, e->len);
		return;
	}
	for (at = 0; at < e->len; at++)
		buf_printf(&hex, "%02x", (unsigned char)e->bytes[at]);
	json_str(j, "name_hex", hex.data);
	buf_fini(&hex);
}

static void write_named(struct json *j, const char *key, const struct member *m, size_t n,
			const void *rows, size_t size, const struct intern *names, uint32_t nrows,
			const void *blank)
{
	json_begin(j, key, '[');
	for (uint32_t i = 0; i < nrows; i++) {
		json_begin(j, NULL, '{');
		write_name(j, &names->entries[i]);
		write_members(j, m, n, (const char *)rows + i * size, blank);
		json_end(j, '}');
	}
	json_end(j, ']');
}

// Pairs of numbers and what they lead to, three numbers each; without values two.
static void write_pairs(struct json *j, const char *key, const struct intern *in, bool values)
{
	struct pair p;

	json_begin(j, key, '[');
	for (uint32_t i = 0; i < in->n; i++) {
		memcpy(&p, in->entries[i].bytes, sizeof(p));
		if (values && in->entries[i].value == INTERN_NONE)
			continue;
		json_u64(j, NULL, p.a);
		json_u64(j, NULL, p.b);
		if (values)
			json_u64(j, NULL, in->entries[i].value);
	}
	json_end(j, ']');
}

static void write_errors(struct json *j, const struct amdlog_errors *e)
{
	json_begin(j, "errors", '[');
	for (uint32_t i = 0; i < e->n; i++) {
		const struct intern_entry text = {.bytes = e->v[i].text, .len = e->v[i].len};

		json_begin(j, NULL, '{');
		write_name(j, &text);
		write_members(j, partial_error.v, partial_error.n, &e->v[i], NULL);
		json_end(j, '}');
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

static void write_summary(struct json *j, const struct amdlog_summary *s, const struct blanks *b)
{
	json_begin(j, "totals", '{');
	write_members(j, partial_totals.v, partial_totals.n, &s->totals, NULL);
	write_members(j, partial_state.v, partial_state.n, s, NULL);
	json_end(j, '}');
	write_rows(j, "processes", partial_process.v, partial_process.n, s->processes,
		   s->nprocesses, sizeof(*s->processes), &b->process);
	write_named(j, "kernels", partial_kernel.v, partial_kernel.n, s->kernels,
		    sizeof(*s->kernels), &s->names, s->nkernels, &b->kernel);
	write_named(j, "apis", partial_api.v, partial_api.n, s->apis, sizeof(*s->apis),
		    &s->api_names, s->napis, &b->api);
	write_api_times(j, s);
	write_errors(j, &s->errors);
	write_rows(j, "queues", partial_queue.v, partial_queue.n, s->queues, s->nqueues,
		   sizeof(*s->queues), &b->queue);
	write_rows(j, "threads", partial_thread.v, partial_thread.n, s->threads, s->nthreads,
		   sizeof(*s->threads), &b->thread);
	write_rows(j, "open", partial_open.v, partial_open.n, s->open, s->nopen, sizeof(*s->open),
		   &b->open);
	write_pairs(j, "queue_kernels", &s->queue_kernels, false);
	write_pairs(j, "queue_streams", &s->queue_streams, false);
	write_pairs(j, "process_kernels", &s->process_kernels, false);
	write_pairs(j, "head_streams", &s->head_streams, false);
	write_pairs(j, "by_stream", &s->by_stream, true);
	write_pairs(j, "by_object", &s->by_object, true);
}

int amdlog_partial_write(struct buf *out, const struct amdlog_part *part,
			 const struct amdlog_summary *s)
{
	struct blanks b;
	struct json j;

	if (!blanks_init(&b)) {
		errno = ENOMEM;
		return -1;
	}
	json_init(&j, out, false);
	json_begin(&j, NULL, '{');
	json_str(&j, "record", AMDLOG_PARTIAL_RECORD);
	json_u64(&j, "schema", AMDLOG_PARTIAL_SCHEMA);
	if (part->host)
		json_str(&j, "host", part->host);
	json_str(&j, "file", part->file);
	write_members(&j, partial_part.v, partial_part.n, part, NULL);
	write_summary(&j, s, &b);
	write_rows(&j, "streams", partial_stream.v, partial_stream.n, part->streams.v,
		   part->streams.n, sizeof(*part->streams.v), NULL);
	write_rows(&j, "stream_heads", partial_head.v, partial_head.n, part->streams.heads,
		   part->streams.nheads, sizeof(*part->streams.heads), NULL);
	json_end(&j, '}');
	return buf_puts(out, "\n");
}

void amdlog_part_fini(struct amdlog_part *part)
{
	amdlog_streams_fini(&part->streams);
	free(part->file);
	free(part->host);
	part->file = part->host = NULL;
}
