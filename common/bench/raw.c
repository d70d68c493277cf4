// Writing and reading raw samples; raw.h.
#include "common/bench/raw.h"

#include "common/cli/json.h"
#include "common/cli/jsonin.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

static const struct field {
	const char *key;
	size_t offset; // of a uint64_t in struct cycle
} fields[] = {
#define FIELD(name)                                 \
	{                                           \
#name, offsetof(struct cycle, name) \
	}
	{"cycle", offsetof(struct cycle, number)},
	FIELD(block),
	{"grace", offsetof(struct cycle, set.grace)},
	{"queues_wanted", offsetof(struct cycle, set.queues)},
	{"hold_wanted_ns", offsetof(struct cycle, set.hold_ns)},
	{"gap_wanted_ns", offsetof(struct cycle, set.gap_ns)},
	FIELD(queues),
	FIELD(at_ns),
	FIELD(suspend_ns),
	FIELD(suspend_ioctl_ns),
	FIELD(still_ns),
	FIELD(still_look_ns),
	FIELD(held_ns),
	FIELD(resume_ns),
	FIELD(resume_ioctl_ns),
	FIELD(progress_ns),
	FIELD(progress_look_ns),
	FIELD(gap_ns),
	FIELD(read_sum),
	FIELD(suspend_packets),
	FIELD(held_packets),
	FIELD(resume_packets),
	FIELD(gap_packets),
	FIELD(backlog_packets),
	FIELD(untouched_ns),
	FIELD(untouched_packets),
};
#define FIELDS (sizeof(fields) / sizeof(fields[0]))

static uint64_t *member(struct cycle *c, const struct field *f)
{
	return (uint64_t *)(void *)((char *)c + f->offset);
}

static uint64_t value(const struct cycle *c, const struct field *f)
{
	return *(const uint64_t *)(const void *)((const char *)c + f->offset);
}

static void write_saved(struct json *j, const struct cycle *c)
{
	if (!c->xccs) {
		json_null(j, "saved_bytes_xcc");
		return;
	}
	json_begin(j, "saved_bytes_xcc", '[');
	for (unsigned i = 0; i < c->xccs; i++)
		json_u64(j, NULL, c->saved_bytes[i]);
	json_end(j, ']');
}

void raw_write(struct buf *out, const struct bench_context *context, const struct cycle *c)
{
	struct json j;
	json_init(&j, out, false);
	json_begin(&j, NULL, '{');
	json_str(&j, "record", "preempt_cycle");
	json_u64(&j, "schema", RAW_SCHEMA);
	json_str(&j, "result", cycle_result_name(c->result));
	json_bool(&j, "warmup", c->warmup);
	for (size_t i = 0; i < FIELDS; i++)
		json_u64(&j, fields[i].key, value(c, &fields[i]));
	write_saved(&j, c);
	for (unsigned i = 0; i < CONTEXT_ITEMS; i++)
		json_str(&j, bench_context_key[i], *context->text[i] ? context->text[i] : NULL);
	json_end(&j, '}');
	buf_puts(out, "\n");
}

// One number for each XCC, in their order: none may be left out.
static bool read_saved(const struct jsonin_value *v, struct cycle *c)
{
	struct jsonin j;
	struct jsonin_value each;
	c->xccs = 0;
	if (v->kind == 'n')
		return true;
	if (!jsonin_open(&j, v->text, v->len, '['))
		return false;
	while (jsonin_next(&j, NULL, &each)) {
		if (c->xccs == KFD_XCC_MAX || !jsonin_u64(&each, &c->saved_bytes[c->xccs]))
			return false;
		c->xccs++;
	}
	return !j.failed;
}

// What else a line has beside numbers. False when it makes the line one of another kind.
static bool read_word(const struct jsonin_value *key, const struct jsonin_value *v,
		      struct bench_context *context, struct cycle *c)
{
	if (jsonin_is(key, "record"))
		return jsonin_is(v, "preempt_cycle");
	if (jsonin_is(key, "schema"))
		return jsonin_is(v, "1");
	if (jsonin_is(key, "result"))
		return v->len > 2 && cycle_result_from_name(v->text + 1, v->len - 2, &c->result);
	if (jsonin_is(key, "warmup"))
		c->warmup = v->kind == 't';
	if (jsonin_is(key, "saved_bytes_xcc"))
		return read_saved(v, c);
	for (unsigned i = 0; i < CONTEXT_ITEMS; i++)
		if (jsonin_is(key, bench_context_key[i]))
			jsonin_str(v, context->text[i], sizeof(context->text[i]));
	return true;
}

static bool read_number(const struct jsonin_value *key, const struct jsonin_value *v,
			struct cycle *c)
{
	for (size_t i = 0; i < FIELDS; i++)
		if (jsonin_is(key, fields[i].key))
			return v->kind == 'n' || jsonin_u64(v, member(c, &fields[i]));
	return true;
}

bool raw_read(const char *line, size_t len, struct bench_context *context, struct cycle *c,
	      const char **why)
{
	struct jsonin j;
	struct jsonin_value key, v;
	bool is_cycle = false;
	memset(context, 0, sizeof(*context));
	memset(c, 0, sizeof(*c));
	cycle_clear(c);
	c->set.queues = CYCLE_NONE;
	*why = "not JSON";
	if (!jsonin_open(&j, line, len, '{'))
		return false;
	*why = "not a sample that this version knows";
	while (jsonin_next(&j, &key, &v)) {
		if (!read_word(&key, &v, context, c) || !read_number(&key, &v, c))
			return false;
		is_cycle |= jsonin_is(&key, "record");
	}
	return is_cycle;
}

int raw_file_open(struct raw_file *f, const char *path)
{
	*f = (struct raw_file){.path = path};
	f->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	return f->fd < 0 ? -1 : 0;
}

static int write_all(int fd, const char *data, size_t len)
{
	while (len) {
		ssize_t n = write(fd, data, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		data += n;
		len -= (size_t)n;
	}
	return 0;
}

int raw_file_add(struct raw_file *f, const struct bench_context *context, const struct cycle *c)
{
	f->line.len = 0;
	raw_write(&f->line, context, c);
	return raw_file_line(f, &f->line);
}

int raw_file_line(struct raw_file *f, const struct buf *line)
{
	if (write_all(f->fd, line->data, line->len)) {
		int error = errno;
		if (ftruncate(f->fd, f->size)) // a pipe or /dev/full: nothing to cut off
			error = error ? error : EIO;
		errno = error;
		return -1;
	}
	f->size += (off_t)line->len;
	f->lines++;
	return 0;
}

int raw_file_close(struct raw_file *f)
{
	int r = f->fd >= 0 ? close(f->fd) : 0;
	f->fd = -1;
	buf_fini(&f->line);
	return r;
}
