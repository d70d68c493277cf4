// OpenMetrics, which is valid as Prometheus's text format as well: --openmetrics; see out.h.
//
// All samples of a metric follow each other, so the rows of a table are kept until it ends. Both
// formats know gauges; the type of a counter is left out, as they write it differently.
#include "common/out/out_priv.h"

#include "common/out/schema.h"

#include <math.h>

#define NO_TEXT SIZE_MAX

// What a column is. A row here lists keys of JSON, or TABLE.KEY and SCHEMA.TABLE.KEY where a key
// means another thing elsewhere. Of a column that is in no list the type decides.
enum role {
	ROLE_VALUE,   // a gauge
	ROLE_COUNTER, // a number that only grows while what the row is about exists
	ROLE_STATE,   // a word that changes: a gauge of 1 with this word as a label
	ROLE_ID,      // tells what the row is about: a label of all its metrics
	ROLE_ELSE,    // an id only in rows whose QID and SLOT are null, else not shown
	ROLE_WORD,    // a label of the metric _info
	ROLE_TEXT,    // the same, only if -o names it: it differs from one look to the next
	ROLE_NONE,    // not shown
};

static const char *const roles[] = {
	[ROLE_COUNTER] = "bucket bursts busy_ns classes.holds expired jobs.holds contended_ns "
			 "contended_off_ns driver_calls "
			 "queues.evicted_ns queues.read queues.write read_index read_now refused "
			 "requests scheduler.cpu_ns sdma_busy_ns throttled write_now",
	[ROLE_STATE] = "for state result status",
	[ROLE_ID] = "apis.name begin_us beside bits check class command commands.kind connection "
		    "container context_id counts.kernel counts.packet counts.state cycles.member "
		    "errors.kind "
		    "errors.what field finding from_ns function functions.kind gap_wanted_ns goal "
		    "gpu_id gpus.node grace hold_wanted_ns host hwq hwq_or_all job job_by "
		    "kernels.name latency.what le log "
		    "mark metric mode packet_id packets.packet path pid pod program qid "
		    "queues_wanted rank raw_registers.address register registers.wave_in_group "
		    "registers.workgroup run setting side slot snapshot step strategy stream "
		    "sums.source swq target_gpus thread tid time_us type user waves.pc waves.place "
		    "waves.progress waves.state worker xcc",
	[ROLE_ELSE] = "doorbell mqd_addr ring_addr",
	[ROLE_WORD] = "by_pid by_qid dword engine gpu_index holder id kernel_pid line log_pid mec "
		      "mec_fw node ns_pid pasid pipe processes.qid ranks.qid root_pid root_qid "
		      "sdma_engine sdma_fw sdma_rlc shader_engine slots.queue target vmid "
		      "wave_in_group",
	[ROLE_TEXT] = "at_work by_index by_kernel by_type detail do evidence fix found "
		      "hang.processes.host inversion launched reason signal stacks text verdict "
		      "why.processes.host why.queues.demangled why.queues.kernel why.queues.next",
};

// Ends of keys, and of metrics: base units, and what tools take for an abbreviated unit.
static const struct unit {
	const char *key, *metric, *unit; // unit NULL: none is named
	long double times, per;          // from the column's unit to the metric's
} units[] = {
	{"_ns", "_seconds", "seconds", 1, 1e9L},
	{"_us", "_seconds", "seconds", 1, 1e6L},
	{"_seconds", "_seconds", "seconds", 1, 1},
	{"_percent", "_ratio", "ratio", 1, 100},
	{"_share", "_share_ratio", "ratio", 1, 1},
	{"_ratio", "_ratio", "ratio", 1, 1},
	{"_bytes", "_bytes", "bytes", 1, 1},
	{"_bytes_before", "_before_bytes", "bytes", 1, 1},
	{"_bytes_after", "_after_bytes", "bytes", 1, 1},
	{"_mhz", "_hertz", "hertz", 1e6L, 1},
	{"_a_per_s", "_of_first_per_second", NULL, 1, 1},
	{"_b_per_s", "_of_second_per_second", NULL, 1, 1},
	{"_per_s", "_per_second", NULL, 1, 1},
	{"_a", "_of_first", NULL, 1, 1},
	{"_b", "_of_second", NULL, 1, 1},
	{"_count", "_number", NULL, 1, 1},
	{"", "", NULL, 1, 1}, // any other
};

struct openmetrics {
	enum role roles[OUTTABLE_COLS]; // of each cell of a row
	const struct unit *units[OUTTABLE_COLS];
	struct buf text; // labels and values, each ended by a NUL
	// Places in `text`, or NO_TEXT; of each row those of its labels, of the further labels of
	// its metric _info, and of the values of its cells.
	size_t *cells, ncells, cap;
};

// Appends the schema's name without its "gpq.", and that of the table.
static void put_path(struct buf *b, const struct out_opts *opts, const struct out_table *t)
{
	const char *schema = opts->schema ? strchr(opts->schema->name, '.') : NULL;
	buf_printf(b, "%s.%s", schema ? schema + 1 : "", t->name);
}

// Returns the role of a column; the longest of its names that is in a list counts.
static enum role role_of(const struct out_opts *opts, const struct out_table *t,
			 const struct out_col *c, bool named)
{
	SCOPED(buf_fini) struct buf path = {0};
	const bool number = outfmt_types[c->type].number && c->type != OUT_HEX;
	put_path(&path, opts, t);
	buf_printf(&path, ".%s", out_col_key(c));
	for (const char *name = path.data; name; name = strchr(name, '.')) {
		name += *name == '.';
		for (enum role r = ROLE_COUNTER; r <= ROLE_TEXT; r++)
			if (text_has_word(roles[r], name, strlen(name)))
				return named && (r == ROLE_ELSE || r == ROLE_TEXT) ? ROLE_WORD : r;
	}
	return number || c->type == OUT_BOOL ? ROLE_VALUE : ROLE_WORD;
}

static const struct unit *unit_of(const struct out_col *c)
{
	SCOPED(buf_fini) struct buf key = {0};
	const struct unit *u = units;
	buf_printf(&key, "_%s", out_col_key(c));
	for (size_t n = strlen(u->key); n > key.len || strcmp(key.data + key.len - n, u->key) != 0;
	     n = strlen(u->key))
		u++;
	return u;
}

bool openmetrics_identifies(const struct out_opts *opts, const struct out_table *t,
			    const struct out_col *c)
{
	const enum role role = role_of(opts, t, c, false);
	return role == ROLE_ID || role == ROLE_ELSE;
}

void openmetrics_begin(struct out *o)
{
	struct openmetrics *m = o->metrics = xcalloc(1, sizeof(*m));
	for (unsigned i = 0; i < o->ncells; i++) {
		const bool context = i >= o->nshown;
		const struct out_col *c = out_column(o, i);
		m->units[i] = unit_of(c);
		m->roles[i] = role_of(&o->opts, context ? &context_table : o->table, c,
				      !context && o->named[o->shown[i]]);
		for (unsigned k = 0; k < i; k++)
			if (strcmp(out_col_key(out_column(o, k)), out_col_key(c)) == 0)
				m->roles[i] = ROLE_NONE;
	}
}

// Appends a label. Control characters are as bytes that are no UTF-8.
static void put_label(struct buf *b, const char *key, const struct buf *value)
{
	buf_printf(b, "%s%s=\"", b->len ? "," : "", key);
	for (size_t i = 0, n; i < value->len; i += n ? n : 1) {
		const char *s = value->data + i;
		const unsigned char c = (unsigned char)*s, next = (unsigned char)s[1];
		n = text_utf8(s, value->len - i);
		if (c == '\n')
			buf_puts(b, "\\n");
		else if (c == '"' || c == '\\')
			buf_printf(b, "\\%c", c);
		else if (!n || c < ' ' || c == 0x7f || (n == 2 && c == 0xc2 && next < 0xa0))
			buf_puts(b, "\xef\xbf\xbd");
		else
			buf_append(b, s, n);
	}
	buf_puts(b, "\"");
}

static void keep_text(struct openmetrics *m, size_t cell, const struct buf *b)
{
	m->cells[cell] = m->text.len;
	buf_append(&m->text, b->len ? b->data : "", b->len + 1);
}

void openmetrics_row(struct out *o, const void *record)
{
	struct openmetrics *m = o->metrics;
	SCOPED(buf_fini) struct buf labels = {0}, words = {0};
	const size_t row = m->ncells;
	enum role otherwise = ROLE_ID;
	for (unsigned i = 0; i < o->ncells + 2; i++)
		*ARRAY_ADD(m->cells, m->cap, m->ncells) = NO_TEXT;
	for (unsigned i = 0; i < o->nshown; i++)
		if (!out_is_null(out_column(o, i), record) &&
		    (strcmp(out_col_key(out_column(o, i)), "qid") == 0 ||
		     strcmp(out_col_key(out_column(o, i)), "slot") == 0))
			otherwise = ROLE_NONE;
	for (unsigned i = 0; i < o->ncells; i++) {
		const struct out_col *c = out_column(o, i);
		const void *from = i < o->nshown ? record : &o->context;
		const struct unit *u = m->units[i];
		const enum role role = m->roles[i] == ROLE_ELSE ? otherwise : m->roles[i];
		SCOPED(buf_fini) struct buf cell = {0};
		struct buf *to[] = {
			[ROLE_STATE] = &cell, [ROLE_ID] = &labels, [ROLE_WORD] = &words};
		long double v;
		if (out_is_null(c, from) || role >= ROLE_TEXT)
			continue;
		o->cell.len = 0;
		if (role > ROLE_COUNTER)
			outfmt_text(&o->cell, c, from, false, true, NULL);
		else if (outfmt_number(c, from, &v) && isfinite(v))
			buf_printf(&cell, c->type == OUT_F64 ? "%.9Lg" : "%.17Lg",
				   v * u->times / u->per);
		if (role > ROLE_COUNTER)
			put_label(to[role], out_col_key(c), &o->cell);
		if (cell.len)
			keep_text(m, row + 2 + i, &cell);
	}
	keep_text(m, row, &labels);
	if (words.len)
		keep_text(m, row + 1, &words);
}

// Appends the beginning of a metric's name. Tools take some words for types of metrics.
static void put_prefix(struct buf *b, const struct out *o)
{
	SCOPED(buf_fini) struct buf path = {0};
	const char *before = "";
	put_path(&path, &o->opts, o->table);
	buf_puts(b, "gpq");
	for (char *save, *word = strtok_r(path.data, ".", &save); word;
	     before = word, word = strtok_r(NULL, ".", &save))
		if (strcmp(word, before) != 0 && strcmp(word, "summary") != 0)
			buf_printf(b, "_%s", strcmp(word, "histogram") == 0 ? "bars" : word);
	for (char *dash = b->data; (dash = strchr(dash, '-'));)
		*dash = '_'; // of gpq.hqd.raw-regs
}

// Writes the metric of cell `i` of all rows; 1: the metric _info.
static void put_metric(struct out *o, const char *prefix, size_t i)
{
	const struct openmetrics *m = o->metrics;
	const struct out_col *c = i > 1 ? out_column(o, (unsigned)i - 2) : NULL;
	const struct unit *u = c ? m->units[i - 2] : &units[COUNT(units) - 1];
	const enum role role = c ? m->roles[i - 2] : ROLE_STATE;
	const char *help = c ? out_col_help(c) : "the words of a row, as labels";
	SCOPED(buf_fini) struct buf name = {0};
	bool begun = false;
	buf_printf(&name, "%s_%s", prefix, c ? out_col_key(c) : "info");
	name.len -= strlen(u->key);
	buf_printf(&name, "%s%s", u->metric, role == ROLE_COUNTER ? "_total" : "");
	for (size_t row = 0; row < m->ncells; row += o->ncells + 2) {
		if (m->cells[row + i] == NO_TEXT)
			continue;
		const char *labels = m->text.data + m->cells[row];
		const char *cell = m->text.data + m->cells[row + i];
		const char *word = role == ROLE_STATE ? cell : "";
		if (!begun && role != ROLE_COUNTER)
			buf_printf(&o->buf, "# TYPE %s gauge\n", name.data);
		if (!begun && role != ROLE_COUNTER && u->unit)
			buf_printf(&o->buf, "# UNIT %s %s\n", name.data, u->unit);
		if (!begun)
			buf_printf(&o->buf, "# HELP %s %s\n", name.data,
				   *help ? help : out_col_key(c));
		begun = true;
		buf_puts(&o->buf, name.data);
		if (*word || *labels)
			buf_printf(&o->buf, "{%s%s%s}", labels, *word && *labels ? "," : "", word);
		buf_printf(&o->buf, " %s\n", *word ? "1" : cell);
	}
}

static int compare_rows(const void *one, const void *two, void *arg)
{
	const struct openmetrics *m = arg;
	const size_t x = *(const size_t *)one, y = *(const size_t *)two;
	const int order = strcmp(m->text.data + m->cells[x], m->text.data + m->cells[y]);
	return order ? order : ORDER(x, y);
}

// Tells rows apart that have the same labels: the second one gets the label twin="2".
static void tell_twins(struct openmetrics *m, size_t width)
{
	const size_t n = m->ncells / width;
	SCOPED(free_at) size_t *order = xreallocarray(NULL, n, sizeof(*order));
	for (size_t i = 0; i < n; i++)
		order[i] = i * width;
	qsort_r(order, n, sizeof(*order), compare_rows, m);
	for (size_t i = 1, twin = 1, before = 0; i < n; i++) {
		SCOPED(buf_fini) struct buf labels = {0};
		before = twin > 1 ? before : m->cells[order[i - 1]];
		buf_puts(&labels, m->text.data + m->cells[order[i]]);
		twin = strcmp(labels.data, m->text.data + before) == 0 ? twin + 1 : 1;
		if (twin == 1)
			continue;
		buf_printf(&labels, "%stwin=\"%zu\"", labels.len ? "," : "", twin);
		keep_text(m, order[i], &labels);
	}
}

void openmetrics_end(struct out *o)
{
	struct openmetrics *m = o->metrics;
	SCOPED(buf_fini) struct buf prefix = {0};
	tell_twins(m, o->ncells + 2);
	put_prefix(&prefix, o);
	for (size_t i = 1; i < o->ncells + 2; i++)
		put_metric(o, prefix.data, i);
	free(m->cells);
	buf_fini(&m->text);
	free(m);
	o->metrics = NULL;
}
