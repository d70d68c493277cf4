// Parser of debugfs mqds; see mqds.h. Facts: [debugfs.mqds-lines], [debugfs.mqds-dumps].
//
// The dumps of a queue's XCCs follow each other without a separator: each begins where the offset
// is 0 again. Lines that are missing, as the offsets show, are stored as unread rows.
#include "common/debugfs/mqds.h"

#define ROW_BYTES    (4 * DUMP_WORDS)
#define MAX_ROWS     128 // rows of one dump: twice those of the largest MQD of any kernel
#define MAX_LOST     16  // missing lines stored as unread rows: bounds memory on hostile text
#define COMPUTE_ROWS 64
#define SDMA_ROWS    16

struct parser {
	struct mqds *m;
	struct mqd *q;     // queue whose dumps are being read, NULL before the first
	bool keep;         // rows of the dump that is being read are kept
	bool in_dump;      // a dump of q has begun
	uint32_t next_row; // row expected next in the dump
};

void mqds_fini(struct mqds *m)
{
	free(m->procs);
	free(m->queues);
	free(m->dumps);
	free(m->rows);
	*m = (struct mqds){0};
}

static void add_proc(struct parser *ps, int32_t pid, int64_t pasid)
{
	struct mqds *m = ps->m;
	*ARRAY_ADD(m->procs, m->cap_procs, m->nprocs) =
		(struct mqds_proc){.pid = pid, .pasid = pasid, .first = (uint32_t)m->nqueues};
	ps->q = NULL;
	ps->in_dump = false;
}

// "Process 41207 PASID 0x3:", or "Process 94314 PASID 94314:" where the second number is the PID
// again. A line without its colon was torn, and its number may be, too.
static bool process_line(struct parser *ps, const char *p, const char *end)
{
	uint32_t v[2];
	bool known = dump_match(p, end, "Process %d PASID 0x%x:", v);
	if ((!known && !dump_match(p, end, "Process %d PASID %d:", v)) || v[0] > INT32_MAX)
		return false;
	add_proc(ps, (int32_t)v[0], known ? (int64_t)v[1] : -1);
	return true;
}

static const struct {
	const char *text;
	enum mqd_kind kind;
	bool typed; // the type number and " on device " stand before the gpu_id
} queue_lines[] = {
	{"Compute queue on device ", MQD_COMPUTE, false},
	{"SDMA queue on device ", MQD_SDMA, false},
	{"DIQ on device ", MQD_DIQ, false},
	{"Bad user queue type ", MQD_BAD_USER, true},
	{"Queue node with bad user queue type ", MQD_BAD_USER, true},
	{"Bad kernel queue type ", MQD_OTHER, true},
	{"Weird: Queue node with neither kernel nor user queue", MQD_OTHER, false},
};

// The gpu_id at p, which ends the line; 0 when it is not there or may have been torn.
static uint32_t queue_gpu(const char *p, const char *end)
{
	uint32_t gpu;
	p = p ? dump_match(p, end, "%x", &gpu) : NULL;
	return p && p < end && (*p == '\n' || *p == '\r' || *p == ' ') ? gpu : 0;
}

static void add_mqd(struct parser *ps, enum mqd_kind kind, uint32_t gpu)
{
	struct mqds *m = ps->m;
	if (!m->nprocs)
		add_proc(ps, -1, -1);
	m->no_gpu += !gpu && kind != MQD_OTHER;
	ps->q = ARRAY_ADD(m->queues, m->cap_queues, m->nqueues);
	*ps->q = (struct mqd){.proc = (uint32_t)m->nprocs - 1,
			      .dump = (uint32_t)m->ndumps,
			      .gpu_id = gpu,
			      .kind = (uint8_t)kind};
	m->procs[m->nprocs - 1].queues++;
	ps->in_dump = false;
}

static bool queue_line(struct parser *ps, const char *p, const char *end)
{
	for (size_t i = 0; i < COUNT(queue_lines); i++) {
		const char *rest = dump_match(p, end, queue_lines[i].text, NULL);
		uint32_t type;
		if (!rest)
			continue;
		if (queue_lines[i].typed)
			rest = dump_match(rest, end, "%d on device ", &type);
		add_mqd(ps, queue_lines[i].kind, queue_gpu(rest, end));
		return true;
	}
	return false;
}

// --- parsing dumps of MQDs ---

static bool has_dump(const struct mqd *q)
{
	return q->kind == MQD_COMPUTE || q->kind == MQD_SDMA || q->kind == MQD_DIQ;
}

static void begin_dump(struct parser *ps, const char *text)
{
	struct mqds *m = ps->m;
	struct mqd *q = ps->q;
	ps->in_dump = true;
	ps->next_row = 0;
	ps->keep = !q->dumps || (q->kind == MQD_COMPUTE && q->dumps < UINT16_MAX);
	if (!ps->keep)
		return;
	*ARRAY_ADD(m->dumps, m->cap_dumps, m->ndumps) =
		(struct mqd_dump){.text = text, .row = (uint32_t)m->nrows};
	q->dumps++;
}

// Adds a row. Rows missing before it are added, too, as unread.
static void add_rows(struct parser *ps, const struct dump_line *l, uint32_t row)
{
	static const struct dump_line unread;
	struct mqds *m = ps->m;
	for (uint32_t i = ps->next_row; i <= row; i++) {
		*ARRAY_ADD(m->rows, m->cap_rows, m->nrows) = i < row ? unread : *l;
		m->dumps[m->ndumps - 1].rows++;
	}
	m->lost_lines += row - ps->next_row;
	m->bad_words += dump_line_bad(l);
}

static bool dump_row(struct parser *ps, const struct dump_line *l, const char *text)
{
	uint32_t row = l->addr / ROW_BYTES;
	if (!ps->q || !has_dump(ps->q) || l->addr % ROW_BYTES || row >= MAX_ROWS)
		return false;
	if (row == 0 || !ps->in_dump)
		begin_dump(ps, text);
	if (row < ps->next_row || row - ps->next_row > MAX_LOST)
		return false; // the offset goes back, but not to 0, or jumps too far
	if (ps->keep)
		add_rows(ps, l, row);
	ps->next_row = row + 1;
	return true;
}

// Takes the dump at p if it has exactly the kernel's form. Returns its length in bytes, or 0.
static size_t plain_dump(struct parser *ps, const char *p, const char *end)
{
	struct mqds *m = ps->m;
	if (!ps->q || !has_dump(ps->q))
		return 0;
	unsigned n = dump_run(p, end, ps->q->kind == MQD_SDMA ? SDMA_ROWS : COMPUTE_ROWS);
	if (!n)
		return 0;
	begin_dump(ps, p);
	if (ps->keep)
		m->dumps[m->ndumps - 1].plain = m->dumps[m->ndumps - 1].rows = n;
	ps->next_row = n;
	m->count.lines += n;
	return n * (size_t)DUMP_LINE;
}

static bool mqds_line(void *parser, const char *p, const char *end, bool whole)
{
	struct parser *ps = parser;
	struct dump_line l;
	if (dump_line_parse(p, end, &l))
		return dump_row(ps, &l, p);
	if (dump_line_empty(p, end))
		return true;
	end += whole; // includes the newline, which proves that the line is complete
	return process_line(ps, p, end) || queue_line(ps, p, end);
}

bool mqd_word(const struct mqds *m, const struct mqd *q, unsigned xcc, unsigned dw, uint32_t *out)
{
	unsigned row = dw / DUMP_WORDS, word = dw % DUMP_WORDS;
	if (xcc >= q->dumps || row >= m->dumps[q->dump + xcc].rows)
		return false;
	const struct mqd_dump *d = &m->dumps[q->dump + xcc];
	if (row < d->plain)
		return dump_hex8(d->text + DUMP_WORD(row, word), out);
	const struct dump_line *l = &m->rows[d->row + row - d->plain];
	*out = l->words[word];
	return l->valid >> word & 1;
}

static void count_cut(struct mqds *m)
{
	for (size_t i = 0; i < m->nqueues; i++) {
		const struct mqd *q = &m->queues[i];
		unsigned last = (q->kind == MQD_SDMA ? SDMA_ROWS : COMPUTE_ROWS) * DUMP_WORDS - 1;
		uint32_t ignored;
		for (unsigned x = 0; x < q->dumps; x++)
			m->cut += !mqd_word(m, q, x, last, &ignored);
		m->cut += !q->dumps && has_dump(q);
	}
}

void mqds_parse(struct mqds *m, const char *text, size_t len)
{
	struct parser ps = {.m = m};
	const char *end = text + len;
	m->nprocs = m->nqueues = m->ndumps = m->nrows = 0;
	m->bad_words = m->lost_lines = m->cut = m->no_gpu = 0;
	m->count = (struct dump_count){0};
	for (const char *p = text; p < end;) {
		size_t plain = plain_dump(&ps, p, end);
		p = plain ? p + plain : dump_next(&m->count, p, end, mqds_line, &ps);
	}
	count_cut(m);
}
