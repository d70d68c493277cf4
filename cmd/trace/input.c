// Reads the text of one input of `gpq trace` with several threads: a plain or compressed file, one
// that grows, or a range of a file. files.c finds the inputs.
#include "cmd/trace/trace.h"

#include "common/amdlog/analysis/timeline.h"
#include "common/host/blocks.h"
#include "common/host/dlopen.h"
#include "common/host/tail.h"
#include "common/host/unpack.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>

#define THREADS_USUAL 8 // more threads do not help, as one takes all records in their order
#define THREADS_MOST  64

// An input that is being read.
struct input {
	struct trace *t;
	const char *name;
	int fd;
	struct tail *tail; // --follow; NULL: not given
	const struct trace_range *range;
	bool past_range;             // text behind the range was read, to complete torn records
	struct amdlog_counts counts; // with past_range: the scanner's counts at the range's end
	struct unpack *unpack;
	char head[UNPACK_HEAD]; // first bytes, read to find the compression
	size_t head_len;
	bool ended; // the end was seen; a terminal would be waited for again
	bool begun;
	bool count; // the text is in the range: it is counted, and workers read its blocks
	struct input_worker {
		struct block_reader *reader;
		struct grepper *grepper; // NULL without --grep
	} workers[THREADS_MOST];
};

// What a worker found in a block.
struct found {
	struct block_result result;
	struct grep_hits hits;
	struct trace_rows rows; // rows of --list
};

static void take_log_event(void *ctx, const struct amdlog_event *e)
{
	struct trace *t = ctx;
	if (t->ask->event)
		t->ask->event(t, e);
	if (t->timeline)
		amdlog_timeline_add(t->timeline, e);
}

void trace_open(struct trace *t, const struct cmd *c, const struct amdlog_filter *filter,
		const struct grep *grep)
{
	t->opts = c->opts;
	t->grep = grep;
	t->perfetto_fd = -1;
	amdlog_summary_init(&t->sum, filter);
	amdlog_reading_init(&t->reading, &t->sum, t->grep);
	t->scan = t->reading.scan;
	t->reading.ctx = t;
	t->reading.event = take_log_event;
	if (t->opts->range)
		trace_range_parse(t->opts->range, &t->range);
}

void trace_close(struct trace *t)
{
	amdlog_series_fini(&t->series);
	amdlog_latency_fini(&t->latency);
	amdlog_streams_fini(&t->streams);
	amdlog_gaps_fini(&t->gaps.gaps);
	amdlog_gaps_fini(&t->gaps.launches);
	amdlog_marked_fini(&t->gaps.marked);
	trace_names_fini(t);
	amdlog_reading_fini(&t->reading);
	amdlog_summary_fini(&t->sum);
	amdlog_windows_fini(&t->marks);
	trace_rows_fini(&t->last_rows);
}

// Kinds of records that take_log_event() must see; records of other kinds are only counted.
static uint32_t kinds_needed(const struct trace *t)
{
	uint32_t kinds = t->ask->kinds;
	if (t->timeline)
		return UINT32_MAX;
	if (t->sum.want_api)
		kinds |= AMDLOG_KIND(API_ENTRY) | AMDLOG_KIND(API_RETURN);
	return kinds;
}

static void init_block(void *ctx, struct block *b)
{
	const struct trace *t = ((struct input *)ctx)->t;
	struct found *f = b->user = xcalloc(1, sizeof(*f));
	if (t->lists)
		f->rows.out = out_piece(t->out);
}

static void fini_block(void *ctx, struct block *b)
{
	SCOPED(free_at) struct found *f = b->user;
	(void)ctx;
	block_result_fini(&f->result);
	grep_hits_fini(&f->hits);
	trace_rows_fini(&f->rows);
	out_piece_free(f->rows.out);
}

static void work_on_block(void *ctx, unsigned worker, struct block *b)
{
	struct input *in = ctx;
	struct input_worker *w = &in->workers[worker];
	struct found *f = b->user;
	const bool grep = in->t->grep;
	if (!b->lines)
		return;
	if (grep)
		grepper_lines(w->grepper, b->text, b->len, &f->hits);
	if (!in->count || (grep && f->hits.error))
		return;
	f->result.slow = !amdlog_reading_settled(&in->t->reading);
	if (!f->result.slow)
		block_read(w->reader, &f->result, grep ? &f->hits : NULL, b->text, b->len);
}

// If a regular expression takes too many steps on a record, nothing is reported: how much was read
// until then depends on where blocks begin.
static int check_grep(struct trace *t, const struct found *f)
{
	int status = f ? grep_hits_check(t->grep, &f->hits) : GPQ_OK;
	status = status ? status : grepper_check(t->reading.grepper);
	t->untold |= status != GPQ_OK;
	return status;
}

static int take_block(void *ctx, struct block *b)
{
	struct input *in = ctx;
	struct trace *t = in->t;
	struct found *f = b->user;
	struct trace_rows *rows = &f->rows;
	const bool any = b->lines;
	int status;
	if (!in->begun && b->len > 1 && !memcmp(b->text, "\xff\xfe", 2))
		return err_fail(GPQ_UNSUPPORTED, "iconv -f UTF-16 -t UTF-8 FILE | gpq trace -",
				"%s: is UTF-16 text", in->name);
	in->begun = true;
	if (any && t->grep && (status = check_grep(t, f)))
		return status;
	if (t->lists)
		t->rows = rows;
	rows->first = any ? f->result.items : NULL;
	rows->end = any ? f->result.items + f->result.nitems : NULL;
	amdlog_reading_take(&t->reading, b->text, b->len, any && in->count ? &f->result : NULL,
			    any && t->grep ? &f->hits : NULL);
	t->rows = &t->last_rows;
	if (t->grep && (status = check_grep(t, NULL)))
		return status;
	progress_bytes(&t->progress, t->scan->counts.bytes, t->input_bytes);
	// The timeline goes into a pipe that nobody reads any more.
	if (t->timeline && amdlog_timeline_events(t->timeline)->error == EPIPE)
		return GPQ_PIPE;
	return stop_asked() ? GPQ_STOPPED : GPQ_OK;
}

static void format_block(void *ctx, struct block *b)
{
	(void)ctx;
	trace_rows_format(&((struct found *)b->user)->rows);
}

// Returns GPQ_PIPE if standard output is a pipe that nobody reads any more.
static int write_block(void *ctx, struct block *b)
{
	struct input *in = ctx;
	return out_add(in->t->out, ((struct found *)b->user)->rows.out);
}

static unsigned threads_to_use(const struct trace *t)
{
	cpu_set_t set;
	int n = sched_getaffinity(0, sizeof(set), &set) ? 1 : CPU_COUNT(&set);
	if (t->opts->threads != U64_NULL)
		return t->opts->threads < THREADS_MOST ? (unsigned)t->opts->threads : THREADS_MOST;
	return n < THREADS_USUAL ? (unsigned)n : THREADS_USUAL;
}

static void make_workers(struct input *in, unsigned n)
{
	const struct trace *t = in->t;
	for (unsigned i = 0; i < n; i++) {
		struct input_worker *w = &in->workers[i];
		w->reader = in->count ? amdlog_reading_worker(&t->reading, kinds_needed(t)) : NULL;
		w->grepper = t->grep ? grepper_new(t->grep) : NULL;
	}
}

static void free_workers(struct input *in)
{
	for (unsigned i = 0; i < THREADS_MOST; i++) {
		block_reader_free(in->workers[i].reader);
		grepper_free(in->workers[i].grepper);
		in->workers[i] = (struct input_worker){0};
	}
}

// `context`: the text is outside of the range. Its records are not counted, but read for the names,
// streams and torn records to which records in the range refer.
static int read_blocks(struct input *in, const struct blocks_input *from, bool context)
{
	const struct amdlog_counts before = in->t->scan->counts;
	const struct blocks_job job = {
		.ctx = in,
		.work = work_on_block,
		.take = take_block,
		.finish = in->t->lists ? format_block : NULL,
		.put = in->t->lists ? write_block : NULL,
		.init = init_block,
		.fini = fini_block,
	};
	unsigned threads = threads_to_use(in->t);
	in->count = !context;
	if (!in->count && !in->t->grep)
		threads = 1; // workers would have nothing to do
	make_workers(in, threads);
	int status = blocks_run(from, &job, threads, 0);
	free_workers(in);
	uint64_t bytes = in->t->scan->counts.bytes - before.bytes;
	if (context)
		in->t->scan->counts = before;
	// The file was truncated while it was read.
	else if (!status && from->fd >= 0 && bytes < from->to - from->from)
		err_warn("read it again when nobody writes to it",
			 "%s: truncated while it was read: %" PRIu64 " of %" PRIu64 " bytes",
			 in->name, bytes, from->to - from->from);
	return status;
}

static ssize_t read_raw(void *ctx, char *to, size_t n)
{
	struct input *in = ctx;
	if (in->head_len) {
		n = n < in->head_len ? n : in->head_len;
		memcpy(to, in->head, n);
		in->head_len -= n;
		memmove(in->head, in->head + n, in->head_len);
		return (ssize_t)n;
	}
	if (in->ended)
		return 0;
	return in->tail ? tail_read(in->tail, to, n) : stop_read(in->fd, to, n);
}

static ssize_t read_unpacked(void *ctx, char *to, size_t n)
{
	struct input *in = ctx;
	return unpack_read(in->unpack, to, n);
}

// Bytes before a range that are read for names and streams, and after it for the rest of torn
// records.
#define CONTEXT (UINT64_C(4) << 20)

// Reads the lines that begin in the range, up to the end of the file (file->to). Returns an exit
// status or -errno.
static int read_range(struct input *in, const struct blocks_input *file)
{
	uint64_t at = in->range->from, len = in->range->len, from, to, lead;
	uint64_t end = len > UINT64_MAX - at ? UINT64_MAX : at + len;
	struct trace *t = in->t;
	if (!blocks_line_start(in->fd, at, file->to, &from) ||
	    !blocks_line_start(in->fd, end, file->to, &to) ||
	    !blocks_line_start(in->fd, from > CONTEXT ? from - CONTEXT : 0, from, &lead))
		return -errno;
	t->sum.range.from = from;
	t->sum.range.to = to;
	t->input_bytes = to - from;
	if (from >= to) // no line begins in the range
		return GPQ_OK;
	t->reading.reassembly->first = from;
	t->reading.reassembly->past = to;
	t->scan->base = lead;
	int status = read_blocks(in, &(struct blocks_input){.fd = in->fd, .from = lead, .to = from},
				 true);
	if (!status)
		status = read_blocks(
			in, &(struct blocks_input){.fd = in->fd, .from = from, .to = to}, false);
	if (!status && !amdlog_reassembly_idle(t->reading.reassembly) && file->to > to) {
		in->past_range = true;
		in->counts = t->scan->counts;
		end = file->to - to < CONTEXT ? file->to : to + CONTEXT;
		status = read_blocks(
			in, &(struct blocks_input){.fd = in->fd, .from = to, .to = end}, true);
	}
	return status;
}

// Reads the first bytes, which identify the compression, into in->head: a pipe cannot be read
// again.
static int peek(struct input *in)
{
	ssize_t n = 1;
	while (!in->tail && in->head_len < UNPACK_HEAD && n > 0) {
		n = stop_read(in->fd, in->head + in->head_len, UNPACK_HEAD - in->head_len);
		in->head_len += n > 0 ? (size_t)n : 0;
	}
	in->ended = !n;
	return n < 0 ? -errno : 0;
}

static int read_packed(struct input *in, struct blocks_input *from, const char *format)
{
	int status;
	if (in->range)
		return err_fail(GPQ_UNSUPPORTED, "unpack the file first",
				"%s: --range of a file that is compressed (%s)", in->name, format);
	in->unpack = unpack_new(read_raw, in);
	if (!in->unpack)
		return err_fail(GPQ_UNSUPPORTED,
				LIB_MEND("libarchive", "libarchive (libarchive13)",
					 ", or unpack it: ... | gpq trace -"),
				"%s: is compressed (%s)", in->name, format);
	from->read = read_unpacked;
	in->t->input_bytes = 0; // the size of the unpacked text is not known
	status = read_blocks(in, from, false);
	if (status == -EBADMSG)
		status = err_fail(GPQ_FAILED, "what was read until then is reported", "%s: %s: %s",
				  in->name, format, unpack_error(in->unpack));
	unpack_free(in->unpack);
	return status;
}

// Notes what tells this file from others, which a part says. Returns 0, or -errno.
static int note_file(struct input *in, const struct stat *st, bool packed)
{
	char head[AMDLOG_PARTIAL_HEAD];
	struct trace *t = in->t;
	ssize_t n = pread(in->fd, head, sizeof(head), 0);
	if (n < 0)
		return -errno;
	t->head = n > 0 ? amdlog_hash(t->head, head, (size_t)n) : t->head;
	t->inode = t->inode == AMDLOG_UNKNOWN ? st->st_ino : t->inode;
	packed |= t->size == AMDLOG_UNKNOWN;
	t->size = packed ? AMDLOG_UNKNOWN : t->size + (uint64_t)st->st_size;
	return 0;
}

static int read_input(struct input *in)
{
	struct blocks_input from = {.fd = -1, .read = read_raw, .ctx = in};
	off_t at = in->tail ? -1 : lseek(in->fd, 0, SEEK_CUR);
	struct stat st = {0};
	if (at >= 0 && fstat(in->fd, &st))
		return -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	int status = peek(in);
	const char *format = unpack_format(in->head, in->head_len);
	from.eager = in->t->ask->event || in->t->timeline || in->tail;
	if (!status && at == 0 && S_ISREG(st.st_mode) && in->t->opts->partial)
		status = note_file(in, &st, format);
	if (status)
		return status;
	if (format)
		return read_packed(in, &from, format);
	// Files of /proc, debugfs and tracefs have size 0.
	if (at >= 0 && S_ISREG(st.st_mode) && st.st_size > at) {
		from.fd = in->fd;
		from.from = (uint64_t)at;
		from.to = (uint64_t)st.st_size;
		posix_fadvise(in->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
	} else if (in->range) {
		return err_fail(GPQ_USAGE, "name a file that is not empty",
				"%s: --range of what has no size", in->name);
	}
	return in->range ? read_range(in, &from) : read_blocks(in, &from, false);
}

int trace_read(struct trace *t, const char *name, int fd, struct tail *tail)
{
	struct input in = {.t = t, .name = name, .fd = fd, .tail = tail};
	uint64_t before = t->scan->counts.bytes;
	in.range = t->opts->range ? &t->range : NULL;
	t->last_rows.out = t->out;
	t->rows = &t->last_rows;
	int status = read_input(&in);
	bool any = t->scan->counts.bytes > before;
	if (status < 0 && stop_asked())
		status = GPQ_STOPPED;
	else if (status == -EISDIR)
		status = err_fail(GPQ_FAILED, "name the log files in it", "%s: is a directory",
				  name);
	else if (status < 0)
		status = err_sys(-status, any ? "what was read until then is reported" : NULL, "%s",
				 name);
	amdlog_reading_end(&t->reading);
	if (t->grep && !status)
		status = check_grep(t, NULL);
	if (in.past_range) // amdlog_reading_end() may have counted a line after the range
		t->scan->counts = in.counts;
	return status;
}

int trace_stopped(const struct trace *t)
{
	char read[16], all[16];
	return err_fail(stop_status(), NULL, "stopped by %s after %s%s%s of input",
			stop_name(stop_asked()), text_size(read, t->scan->counts.bytes),
			t->input_bytes ? " of " : "",
			t->input_bytes ? text_size(all, t->input_bytes) : "");
}
