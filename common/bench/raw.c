// Writing and reading raw samples; raw.h.
#include "common/bench/raw.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void write_saved_member(struct json *j, const struct member *m, const void *at)
{
	const struct cycle *c = at;
	if (!c->xccs) {
		json_str(j, m->key, NULL);
		return;
	}
	json_begin(j, m->key, '[');
	for (unsigned i = 0; i < c->xccs; i++)
		json_u64(j, NULL, c->saved_bytes[i]);
	json_end(j, ']');
}

// One number for each XCC, in their order: none may be left out.
static bool read_saved_member(const struct jsonin_value *v, const struct member *m, void *at)
{
	struct jsonin j;
	struct jsonin_value each;
	struct cycle *c = at;
	(void)m;
	c->xccs = 0;
	if (v->kind == 'n')
		return true;
	if (!jsonin_open(&j, v->text, v->len, '['))
		return false;
	for (; jsonin_next(&j, NULL, &each); c->xccs++)
		if (c->xccs == KFD_XCC_MAX || !jsonin_u64(&each, &c->saved_bytes[c->xccs]))
			return false;
	return !j.failed;
}

static const struct member_type saved = {write_saved_member, read_saved_member};

#define SAME(name) MEMBER(u64, cycle, name, #name),
static const struct member members[] = {
	MEMBER_WORD(cycle, result, "result", cycle_result_name),
	MEMBER(flag, cycle, warmup, "warmup"),
	MEMBER(u64, cycle, number, "cycle"),
	MEMBER(u64, cycle, block, "block"),
	MEMBER(u64, cycle, repeat, "repeat"),
	MEMBER(u64, cycle, set.grace, "grace"),
	MEMBER(u64, cycle, set.queues, "queues_wanted"),
	MEMBER(u64, cycle, set.hold_ns, "hold_wanted_ns"),
	MEMBER(u64, cycle, set.gap_ns, "gap_wanted_ns"),
	MEMBER(u64, cycle, set.process, "process"),
	MEMBER(u64, cycle, queues, "queues"),
	CYCLE_MEASURED(SAME)                     // each by its own name
	{"saved_bytes_xcc", &saved, 0, 0, NULL}, // of the whole cycle
	{0},
};

void raw_write(struct buf *out, const struct bench_context *context, const struct cycle *c)
{
	struct json j;
	record_begin(&j, out, "preempt_cycle");
	members_write(&j, members, c);
	members_write(&j, bench_context_members, context);
	record_end(&j);
}

bool raw_read(const char *line, size_t len, struct bench_context *context, struct cycle *c)
{
	const struct member_row rows[] = {{members, c}, {bench_context_members, context}, {0}};
	memset(context, 0, sizeof(*context));
	memset(c, 0, sizeof(*c));
	cycle_clear(c);
	c->set.queues = c->set.process = CYCLE_NONE;
	return record_read(line, len, "preempt_cycle", rows);
}

void raw_why_not(char why[160], const char *path, uint64_t number, const char *line, size_t len)
{
	struct jsonin j;
	bool json = jsonin_open(&j, line, len, '{');
	snprintf(why, 160, "%.100s line %llu: %s", path, (unsigned long long)number,
		 json ? "not a sample that this version knows" : "not JSON");
}

int raw_file_open(struct raw_file *f, const char *path)
{
	*f = (struct raw_file){.path = path, .fd = -1};
	if (path)
		f->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	return path && f->fd < 0 ? -1 : 0;
}

int raw_file_put(struct raw_file *f)
{
	size_t len = f->line.len;
	if (f->fd >= 0 && write_fully(f->fd, f->line.data, f->line.len)) {
		int error = errno;
		if (ftruncate(f->fd, f->size)) // a pipe or /dev/full: nothing to cut off
			error = error ? error : EIO;
		errno = error;
		return -1;
	}
	f->line.len = 0;
	f->size += (off_t)len;
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
