// gpq trace --partial: a line for each file (or its range) that can be added to others; gpq merge
// of such lines, which reports what gpq trace reports of the whole.
#include "cmd/trace/trace.h"

#include "common/cli/stop.h"
#include "common/host/buf.h"
#include "common/host/xalloc.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// --- writing ---

static int write_part(struct trace *t, char *file, int status)
{
	const struct amdlog_counts *c = &t->scan->counts;
	struct amdlog_part part = {.host = (char *)(uintptr_t)t->opts->host,
				   .file = file,
				   .from = t->sum.range.from,
				   .to = t->sum.range.from + c->bytes,
				   .mended = t->reading.reassembly->mended,
				   .filtered = amdlog_is_filtered(&t->sum.filter),
				   .stopped = status != GPQ_OK,
				   .counts = *c,
				   .streams = t->streams,
				   .sum = &t->sum}; // all of it lent
	struct buf line = {0};
	amdlog_partial_write(&line, &part);
	return out_text(&line);
}

// Writes a part even if reading ended early or nothing was in the file. *broken: standard output
// cannot be written any more.
static int one_file(struct cmd *c, const struct amdlog_filter *filter, const struct grep *grep,
		    char *file, bool *broken)
{
	// Streams are gathered for gpq merge --by stream.
	struct trace t = {.by = BY_NOTHING, .ask = &trace_streams};
	int written = GPQ_OK;
	trace_open(&t, c, filter, grep);
	t.sum.part.resumed = true;
	t.sum.want_api = true;
	int status = trace_scan(&t, c, 1, &file);
	if (!t.untold && (!status || status == GPQ_STOPPED || t.scan->counts.bytes))
		written = write_part(&t, file, status);
	if (!written && status == GPQ_STOPPED)
		status = trace_stopped(&t);
	trace_close(&t);
	*broken = written != GPQ_OK;
	return written ? written : status;
}

int trace_partial(struct cmd *c, const struct amdlog_filter *filter, const struct grep *grep)
{
	int status = GPQ_OK, worst = GPQ_OK, failed = 0;
	bool broken = false;
	if (filter->since_relative || filter->until_relative)
		return err_fail(GPQ_USAGE, "give the log's own time",
				"--partial: a + counts from the first record of each part");
	stop_watch();
	for (int i = 0; i < c->argc && !status; i++) {
		int this = one_file(c, filter, grep, c->argv[i], &broken);
		failed += this != GPQ_OK;
		worst = this ? this : worst;
		if (broken || stop_asked())
			status = this;
	}
	return !status && failed && failed < c->argc ? GPQ_PARTIAL : worst;
}

// --- merging ---

void trace_lines_fini(struct trace_lines *l)
{
	for (size_t i = 0; i < l->n; i++) {
		free(l->v[i].text);
		amdlog_part_fini(&l->v[i].place);
	}
	free(l->v);
}

bool trace_lines_add(struct trace_lines *l, const char *text, size_t len)
{
	struct amdlog_part place;
	if (!amdlog_partial_place(text, len, &place))
		return false;
	ARRAY_GROW(l->v, l->cap, l->n);
	l->v[l->n++] = (struct trace_line){xstrndup(text, len), len, place};
	return true;
}

// Parts of no named host come first.
static int compare_hosts(const struct amdlog_part *x, const struct amdlog_part *y)
{
	if (!x->host || !y->host)
		return (x->host != NULL) - (y->host != NULL);
	return strcmp(x->host, y->host);
}

// By host, file, then by place; equal places by text, so that the result does not depend on the
// order of the input.
static int by_part_place(const void *a, const void *b)
{
	const struct trace_line *line = a, *other = b;
	const struct amdlog_part *x = &line->place, *y = &other->place;
	int order = compare_hosts(x, y);
	order = order ? order : strcmp(x->file, y->file);
	order = order ? order : (x->from > y->from) - (x->from < y->from);
	order = order ? order : (x->to > y->to) - (x->to < y->to);
	return order ? order : strcmp(line->text, other->text);
}

int trace_merge_partial(struct trace_lines *l)
{
	struct buf all = {0};
	qsort(l->v, l->n, sizeof(*l->v), by_part_place);
	for (size_t i = 0; i < l->n; i++) {
		buf_append(&all, l->v[i].text, l->v[i].len);
		buf_puts(&all, "\n");
	}
	return out_text(&all);
}

// Files of the same name that are whole (of several hosts, or standard input) are files of their
// own; pieces of one must not overlap, and had better leave no gap.
static bool continues(const struct amdlog_part *before, const struct amdlog_part *next)
{
	return !compare_hosts(before, next) && strcmp(before->file, next->file) == 0 &&
	       next->from > 0;
}

// Warns of bytes that are in two parts or in none. `end`: where the part before this one ends in
// the same file, else 0.
static void check_place(const struct amdlog_part *next, uint64_t end)
{
	if (next->from < end)
		err_warn("what is in both counts twice",
			 "%s: bytes %" PRIu64 " to %" PRIu64 " are in two parts", next->file,
			 next->from, end < next->to ? end : next->to);
	else if (next->from > end)
		err_warn("what is in them is missing",
			 "%s: bytes %" PRIu64 " to %" PRIu64 " are in no part", next->file, end,
			 next->from);
}

static int add_part_line(struct trace *t, struct amdlog_merge *m, const struct trace_lines *l,
			 size_t i)
{
	const struct trace_line *v = &l->v[i];
	const struct amdlog_part *before = i ? &v[-1].place : NULL;
	struct amdlog_part part;
	struct amdlog_summary next;
	const char *why;
	if (!amdlog_partial_read(v->text, v->len, &part, &next, &why))
		return err_fail(GPQ_FAILED, "make it anew",
				"the part of %s from byte %" PRIu64 " is %s", v->place.file,
				v->place.from, why);
	bool new_file = !before || !continues(before, &part);
	check_place(&part, new_file ? 0 : before->to);
	if (part.stopped)
		err_warn("what comes behind is missing", "%s was read to byte %" PRIu64 " only",
			 part.file, part.to);
	amdlog_merge_add(m, &part, new_file);
	amdlog_summary_fini(&next);
	amdlog_part_fini(&part);
	progress_show(&t->progress, (double)(i + 1) / (double)l->n, "part %zu of %zu", i + 1, l->n);
	return GPQ_OK;
}

static int report_merged(struct cmd *c, struct trace *t, struct amdlog_merge *m)
{
	c->out.hosts = m->hosts.n > 0;
	int status = trace_begin(t, c);
	if (status)
		return status;
	t->streams = m->all.streams; // owned by m
	amdlog_summary_finish(&t->sum);
	status = trace_report(t);
	trace_notes(t, 1);
	return trace_end(t, GPQ_OK, status);
}

int trace_merge_report(struct cmd *c, struct trace_lines *l, const struct trace_opts *o)
{
	struct trace t = {.opts = o,
			  .by = o->by,
			  .name_pid = -1,
			  .perfetto_fd = -1,
			  .ask = o->by == BY_STREAM ? &trace_streams : &trace_summary};
	struct amdlog_merge m;
	int status = GPQ_OK;
	if (t.by == BY_NOTHING && trace_columns(c))
		t.by = BY_QUEUE;
	t.one_table = t.by != BY_NOTHING;
	qsort(l->v, l->n, sizeof(*l->v), by_part_place);
	amdlog_merge_init(&m);
	progress_init(&t.progress, c->out.progress, false);
	for (size_t i = 0; i < l->n && !status; i++)
		status = add_part_line(&t, &m, l, i);
	progress_end(&t.progress);
	t.merged = &m;
	t.sum = m.sum; // and is given back to be freed
	if (m.all.filtered)
		t.sum.filter.until_us = AMDLOG_UNKNOWN - 1;
	status = status ? status : report_merged(c, &t, &m);
	trace_names_fini(&t);
	m.sum = t.sum;
	amdlog_merge_fini(&m);
	return status;
}

const struct amdlog_counts *trace_counts(const struct trace *t)
{
	return t->merged ? &t->merged->all.counts : &t->scan->counts;
}
