// Reading blocks (see block.h): filling the caches, lines that are not in them, items. The loop
// over the lines is in block_lines.c.
//
// Facts: [amdlog.prefix], [amdlog.colour], [amdlog.broken], [amdlog.api].
#include "common/amdlog/read/block_priv.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

void block_result_fini(struct block_result *b)
{
	free(b->items);
	free(b->sums);
	*b = (struct block_result){0};
}

bool amdlog_is_filtered(const struct amdlog_filter *f)
{
	return f->npids || f->since_us || f->until_us != AMDLOG_UNKNOWN || f->kernel || f->text;
}

bool amdlog_filter_has_pid(const struct amdlog_filter *f, int64_t pid)
{
	size_t i = 0;
	while (i < f->npids && f->pids[i] != pid)
		i++;
	return !f->npids || i < f->npids;
}

// --- the caches: an entry holds only what is so of every line that fits it ---

// Empties the prefix cache. An empty prefix fits 64 newlines alone; no message begins with one.
static void clear_prefixes(struct block_reader *g)
{
	g->no_thread.used = true;
	g->no_prefix = (struct prefix){.msg = FILE_END, .thread = &g->no_thread};
	memset(g->no_prefix.text, '\n', sizeof(g->no_prefix.text));
	for (unsigned i = 0; i < PREFIXES; i++)
		g->prefixes[i] = g->no_prefix;
}

// Caches a prefix, if its bytes alone decide what record_parse takes from it: a process part, or
// two blanks in its place.
static void cache_prefix(struct parse *w, struct block_thread *t, const struct amdlog_record *r,
			 const struct prefix_columns *c)
{
	const char *p = r->text;
	unsigned five = p[FILE_END + 5] != ':', time = FILE_END + 7 + five,
		 digits = c->time_end - time;
	struct block_reader *g = w->g;
	if (!c->msg || c->seen > FILE_END + 64 || r->style != t->sum.style ||
	    r->len <= FILE_END + 64)
		return;
	if (p[FILE_END] != ':' || !is_digit(p[FILE_END + 1]) || p[time - 2] != ':' ||
	    p[time - 1] != ' ' || c->time_end < time + 8 || c->time_end > time + 16)
		return;
	g->bare = t->sum.writer.tid == AMDLOG_UNKNOWN;
	struct prefix *x = prefix_place(g, p);
	if (differ_within(p + FILE_END, x->text, x->limit))
		return;
	w->prefix = &g->no_prefix; // w->prefix may be *x, which is replaced now
	memset(x, 0, sizeof(*x));
	memcpy(x->text, p + FILE_END, sizeof(x->text));
	memset(x->limit + (c->seen - FILE_END), 0xff, FILE_END + 64 - c->seen);
	// The source line's number: a digit, then digits and blanks. The limit also lets pass all
	// bytes from ' ' to '9', but no colon and no newline.
	x->text[1] = '0';
	x->limit[1] = 9;
	memset(x->text + 2, ' ', 3 + five);
	memset(x->limit + 2, ' ' ^ '9', 3 + five);
	memset(x->text + (time - FILE_END), '0', digits);
	memset(x->limit + (time - FILE_END), 9, digits);
	memset(x->digits + 16 - digits, 0x0f, digits);
	x->time_end = (uint8_t)c->time_end;
	x->msg = (uint8_t)c->msg;
	x->thread = t;
}

// True for API lines that are only counted: closed entries and returns of hipSuccess, but not of
// calls that create streams, which the summary needs in order.
static bool is_plain_call(const struct amdlog_record *r)
{
	static const char makes[] = "hipStreamC";
	if (r->msg_len >= sizeof(makes) && !memcmp(r->msg, makes, sizeof(makes) - 1))
		return false;
	return r->kind == AMDLOG_API_ENTRY ? !amdlog_is_torn(r) : !amdlog_api_failed(r);
}

// Mask of the bytes that close an API entry, in its last eight; 0: its end is another.
static uint64_t entry_tail(const struct amdlog_record *r, size_t lead)
{
	const char *end = r->text + r->len;
	if (lead && !memcmp(end - 7, " ) \x1b[0m", 7))
		return ~UINT64_C(0) << 8;
	return !lead && !memcmp(end - 3, " ) ", 3) ? ~UINT64_C(0) << 40 : 0;
}

// How many bytes from the message on tell all that record_parse takes from it; 0: none do.
static size_t telling_bytes(const struct amdlog_record *r, const char *msg, size_t lead)
{
	bool entry = r->kind == AMDLOG_API_ENTRY;
	if (entry || r->kind == AMDLOG_API_RETURN) {
		if (!is_plain_call(r) || (lead && memcmp(msg, COLOUR, sizeof(COLOUR) - 1) != 0))
			return 0;
		if (entry && !entry_tail(r, lead))
			return 0;
		size_t len = r->name_len + strlen(entry ? " (" : ": Returned hipSuccess");
		return len <= r->msg_len ? lead + len : 0; // the line may be cut
	}
	if (lead || kind_uses[r->kind] == PLACED) {
		if (!lead && r->kind == AMDLOG_KERNEL)
			return strlen("ShaderName : ");
		return !lead && is_packet(r->kind) ? strlen("HWq=") : 0;
	}
	return (unsigned char)*msg < 128 && !strchr("\x1b^<E", *msg) ? message_telling(r) : 0;
}

static void cache_statement(struct block_reader *g, const struct amdlog_record *r, const char *msg)
{
	const char *p = r->text;
	size_t lead = (size_t)(r->msg - msg), len; // huge if r->msg is before msg
	bool entry = r->kind == AMDLOG_API_ENTRY;
	struct statement *y, seen = {.kind = is_packet(r->kind) ? AMDLOG_PACKET : r->kind};
	if (!r->msg_len || (lead && lead != sizeof(COLOUR) - 1))
		return;
	len = telling_bytes(r, msg, lead);
	if (!len || len > sizeof(seen.text))
		return;
	memcpy(seen.text, msg, len);
	memset(seen.mask, 0xff, len);
	memcpy(seen.head, p, sizeof(seen.head));
	seen.tail_mask = entry ? entry_tail(r, lead) : 0;
	seen.tail = load64(p + r->len - sizeof(seen.tail)) & seen.tail_mask;
	seen.counts = 1 | (uint64_t)entry << 32;
	seen.counter = block_counter(seen.kind, r->level);
	seen.name_len = r->name_len;
	seen.lead = (uint8_t)lead;
	seen.use = kind_uses[r->kind] == PLACED         ? USE_ITEM
		   : r->kind == AMDLOG_COMMAND_ENQUEUED ? USE_COMMAND
							: USE_COUNT;
	seen.call = entry ? CALL_ENTRY : r->kind == AMDLOG_API_RETURN ? CALL_RETURN : 0;
	y = statement_set(g, p, msg);
	if (!memcmp(&y[0], &seen, sizeof(seen)) || !memcmp(&y[1], &seen, sizeof(seen)))
		return;
	y[1] = y[0];
	y[0] = seen;
}

// --- lines that are not in the caches ---

// Notes if a process is unsure: up to ROCm 4.5 some lines name the thread alone, and lines of
// earlier blocks or inputs may name its process.
static void note_unsure_process(void *ctx, const struct amdlog_record *r)
{
	struct block_reader *g = ctx;
	const struct amdlog_threads *threads = &g->reassembly->scan->threads;
	const struct amdlog_thread_id *id = &threads->v[r->thread];
	g->unsure |= threads->by_tid.n || (id->pid < 0 && r->thread && id->tid != AMDLOG_UNKNOWN);
}

#if defined(__x86_64__)
// Asks the CPU: __builtin_cpu_supports() brings a constructor, which slows each start of gpq.
static bool ask_for_avx2_and_bmi2(void)
{
	unsigned a, b, c, d, xcr0;
	if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE))
		return false;
	__asm__("xgetbv" : "=a"(xcr0), "=d"(d) : "c"(0));
	// Bits 1 and 2: the operating system saves the XMM and YMM registers.
	return (xcr0 & 6) == 6 && __get_cpuid_count(7, 0, &a, &b, &c, &d) && b & bit_AVX2 &&
	       b & bit_BMI2;
}

// In a VM each such question is one for the hypervisor, which takes it 17 us and more.
static bool has_avx2_and_bmi2(void)
{
	static int known = -1;
	if (known < 0)
		known = ask_for_avx2_and_bmi2();
	return known;
}
#endif

bool block_reader_use(struct block_reader *g, unsigned n)
{
	unsigned usable = 1;
#if defined(__x86_64__)
	usable += has_avx2_and_bmi2();
	if (n == 1 && n < usable)
		g->loop = block_loop_avx2;
#endif
	if (!n)
		g->loop = block_loop;
	return n < usable;
}

struct block_reader *block_reader_new(const struct amdlog_filter *filter, uint32_t kinds,
				      int64_t assumed)
{
	// Short inputs touch little of it: pages of calloc() that nobody writes to cost nothing.
	void *memory = xcalloc(1, sizeof(struct block_reader) + 63);
	struct block_reader *g = (void *)(((uintptr_t)memory + 63) & ~(uintptr_t)63);
	const struct amdlog_sink own = {.ctx = g, .record = note_unsure_process};
	g->memory = memory;
	g->filter = filter;
	g->kinds = kinds;
	g->assumed = assumed;
	g->thread_keys.max_entries = BLOCK_THREADS;
	clear_prefixes(g);
	for (unsigned n = 0; block_reader_use(g, n);)
		n++;
	// API lines of several functions may come from one source line: letters of the function's
	// name choose the set, too.
	for (const char *p = "h_ic\x1b"; *p; p++)
		g->letters[(unsigned char)*p] = ~UINT64_C(0);
	g->reassembly = amdlog_reassembly_new(&own);
	g->reassembly->scan->threads.assumed = assumed;
	return g;
}

void block_reader_free(struct block_reader *g)
{
	if (g) {
		amdlog_reassembly_free(g->reassembly);
		intern_fini(&g->thread_keys);
		free(g->memory);
	}
}

struct block_item *next_item(struct parse *w)
{
	struct block_result *b = w->b;
	ARRAY_GROW(b->items, b->item_cap, b->nitems);
	return &b->items[b->nitems];
}

// Appends an item of kind `what`, with the times since the last item.
static struct block_item *new_item(struct parse *w, enum block_what what)
{
	struct block_item *item = next_item(w);
	w->b->nitems++;
	item->what = what;
	item->first_us = w->b->first_us;
	item->last_us = w->last_us;
	w->b->first_us = AMDLOG_UNKNOWN;
	w->last_us = 0;
	return item;
}

// The stream that an API line names for the thread's next records; a return names none.
static uint64_t api_stream(const struct api_line *api)
{
	const char *msg = api->msg + (*api->msg == 0x1b ? strlen(COLOUR) : 0);
	struct amdlog_record r = {.msg = msg, .msg_len = (size_t)(api->end - msg), .ended = true};
	message_parse(&r);
	return r.kind == AMDLOG_API_ENTRY ? amdlog_entry_stream(&r) : AMDLOG_UNKNOWN;
}

// Moves the stream that a thread's lines name into the item. API lines are parsed only here, as
// nearly all are followed by another before an item.
static void take_stream(struct block_thread *t, struct block_item *item)
{
	bool by_command = t->command > t->api[1].msg;
	item->thread = t->index;
	item->stream.api = t->api[1].msg;
	item->stream.by_command = by_command;
	item->stream.stream = by_command      ? t->command_stream
			      : t->api[1].msg ? api_stream(&t->api[1])
					      : AMDLOG_UNKNOWN;
	t->api[1].msg = t->command = NULL;
}

// Adds an item for the stream of each thread with this tid (AMDLOG_UNKNOWN: any), as the next
// record may be of any of these threads.
static void flush_streams(struct parse *w, uint64_t tid)
{
	for (uint32_t i = 0; i < w->g->nthreads; i++) {
		struct block_thread *t = &w->g->threads[i];
		if ((t->api[1].msg || t->command) &&
		    (tid == AMDLOG_UNKNOWN || tid == t->sum.writer.tid))
			take_stream(t, new_item(w, BLOCK_STREAM));
	}
}

void use_thread(struct parse *w, struct block_thread *t)
{
	t->used = true;
	t->index = w->b->nsums++;
	t->sum.counted = t->sum.last_us = 0;
	t->sum.first_us = AMDLOG_UNKNOWN;
	take_stream(t, new_item(w, BLOCK_STREAM));
}

// Leaves a line to the scanner, and sets w->open if a torn record may reach the next lines too.
static void scan_line(struct parse *w, const char *p, const char *newline)
{
	struct block_result *b = w->b;
	struct block_item *item = b->nitems ? &b->items[b->nitems - 1] : NULL;
	size_t len = (size_t)(newline - p) + 1;
	if (!item || item->what != BLOCK_LINES || item->r.text + item->r.len != p) {
		flush_streams(w, AMDLOG_UNKNOWN);
		item = new_item(w, BLOCK_LINES);
		item->r.text = p;
		item->r.len = 0;
	}
	item->r.len += len;
	amdlog_scan_lines(w->g->reassembly->scan, p, len);
	bool pending = !amdlog_reassembly_idle(w->g->reassembly);
	b->torn |= w->glued || w->open || pending;
	w->open = pending || ((w->glued || w->open) && w->g->unsure);
	w->glued = false;
}

// The reader's row of a thread, made if it is new; NULL: there are too many threads.
static struct block_thread *block_thread_of(struct block_reader *g,
					    const struct amdlog_writer *writer,
					    enum amdlog_style style)
{
	int64_t pid = writer->pid < 0 ? g->assumed : writer->pid;
	uint32_t n = pair_put(&g->thread_keys, (uint64_t)writer->pid, writer->tid);
	if (n == INTERN_NONE)
		return NULL;
	if (n == g->nthreads)
		g->threads[g->nthreads++] = (struct block_thread){
			.sum = {.writer = *writer, .style = style},
			.wanted = amdlog_filter_has_pid(g->filter, pid),
			.calls = CALL_RETURN | (writer->tid == AMDLOG_UNKNOWN ? 0 : CALL_ENTRY)};
	return &g->threads[n];
}

void take_known(struct parse *w, struct block_thread *t, struct block_item *item)
{
	struct block_item known;
	if (is_bare(&t->sum.writer)) { // no pid: the thread of any process
		known = *item;
		flush_streams(w, t->sum.writer.tid);
		item = next_item(w);
		*item = known;
	}
	item = new_item(w, BLOCK_RECORD);
	if (item->r.kind != AMDLOG_KERNEL) {
		take_stream(t, item);
		return;
	}
	item->thread = t->index;
	item->name = amdlog_kernel_name(&item->r, &item->name_len);
	item->name_hash = intern_hash(item->name, item->name_len);
	item->stream = (struct block_stream){0}; // a kernel name needs no stream
}

static void add_record(struct parse *w, struct block_thread *t, const struct amdlog_record *r,
		       const struct amdlog_packet *packet)
{
	struct block_item *item = next_item(w);
	item->r = *r;
	item->r.unwanted = w->unwanted;
	if (is_packet(r->kind))
		item->packet = *packet;
	take_known(w, t, item);
}

void note_command(struct block_thread *t, const char *msg, const char *end)
{
	struct amdlog_record r = {.msg = msg, .msg_len = (size_t)(end - msg), .ended = true};
	uint64_t stream = amdlog_command_stream(&r);
	if (stream == AMDLOG_UNKNOWN)
		return;
	t->command = msg;
	t->command_stream = stream;
}

// Counts a record that is of no further use. False: the record must become an item.
static bool count_record(struct parse *w, struct block_thread *t, const struct amdlog_record *r)
{
	bool call = r->kind == AMDLOG_API_ENTRY || r->kind == AMDLOG_API_RETURN;
	bool entry = r->kind == AMDLOG_API_ENTRY, chosen = is_chosen(w, t, r->time_us);
	if (kind_uses[r->kind] == PLACED || is_bare(&t->sum.writer) ||
	    r->time_us == AMDLOG_UNKNOWN || r->level >= 10 || (call && !is_plain_call(r)) ||
	    (w->g->kinds >> r->kind & 1 && chosen))
		return false;
	if (r->kind == AMDLOG_COMMAND_ENQUEUED)
		note_command(t, r->msg, r->msg + r->msg_len);
	else if (call && (t->sum.writer.tid != AMDLOG_UNKNOWN || !entry))
		t->api[1] = (struct api_line){r->msg, r->text + r->len};
	if (chosen) {
		count_line(w, t, r->time_us, 1 | (uint64_t)entry << 32,
			   block_counter(r->kind, r->level));
		w->b->styles[r->style]++;
		w->b->styles[t->sum.style]--;
	} else {
		leave_line(w, r->time_us);
	}
	return true;
}

static void record_line(struct parse *w, const char *text, const char *newline)
{
	struct amdlog_record r = {
		.text = text, .len = (size_t)(text_end(newline) - text), .ended = true};
	struct prefix_columns columns;
	struct amdlog_packet packet;
	struct amdlog_writer writer;
	record_parse(&r, &writer, &columns);
	if (is_packet(r.kind))
		amdlog_packet_parse(&r, &packet);
	if (!(is_packet(r.kind) && packet.ends) && amdlog_reassembly_wants(&r)) {
		scan_line(w, text, newline);
		return;
	}
	struct block_thread *t = block_thread_of(w->g, &writer, r.style);
	if (!t) {
		scan_line(w, text, newline);
		return;
	}
	if (!t->used)
		use_thread(w, t);
	if (!count_record(w, t, &r))
		add_record(w, t, &r, &packet);
#ifndef AMDLOG_NO_CACHES // a test defines it, to compare results
	if (r.time_us == AMDLOG_UNKNOWN || r.level >= 10)
		return;
	for (const char *p = text + 1; p < r.msg; p++) {
		if (is_mark(p))
			return; // known lines are not searched for records before their message
	}
	cache_prefix(w, t, &r, &columns);
	if (columns.msg)
		cache_statement(w->g, &r, text + columns.msg);
#endif
}

void slow_line(struct parse *w, const char *text, const char *newline, bool marked)
{
	w->glued = marked && find_record(text + 1, newline, w->end);
	if (w->glued || w->open || newline - text > AMDLOG_TEXT_MAX) {
		scan_line(w, text, newline);
	} else if (is_record_line(text, (size_t)(newline - text))) {
		record_line(w, text, newline);
	} else {
		w->b->lines++;
		w->b->foreign++;
	}
}

static void block_reset(struct block_reader *g, struct block_result *b)
{
	amdlog_reassembly_end(g->reassembly);
	g->unsure = false;
	if (g->nthreads == BLOCK_THREADS) { // forget threads of earlier blocks: they may have ended
		g->nthreads = 0;
		intern_fini(&g->thread_keys);
		g->thread_keys.max_entries = BLOCK_THREADS;
		clear_prefixes(g);
	}
	for (uint32_t i = 0; i < g->nthreads; i++) {
		g->threads[i].used = false;
		g->threads[i].api[1].msg = g->threads[i].command = NULL;
	}
	if (!b->sums)
		b->sums = xcalloc(BLOCK_THREADS, sizeof(*b->sums));
	b->slow = b->torn = false;
	b->lines = b->foreign = b->steps_back = 0;
	b->nitems = b->nsums = 0;
	b->first_us = b->left_first_us = AMDLOG_UNKNOWN;
	b->left_last_us = 0;
	memset(b->counts, 0, sizeof(b->counts));
	memset(b->styles, 0, sizeof(b->styles));
}

void block_read(struct block_reader *g, struct block_result *b, const struct grep_hits *hits,
		const char *text, size_t len)
{
	struct parse w = {.g = g,
			  .b = b,
			  .filter = amdlog_is_filtered(g->filter) ? g->filter : NULL,
			  .by_text = hits,
			  .prefix = &g->no_prefix,
			  .end = text + len};
	block_reset(g, b);
	if (hits)
		w.hits = grep_hits_begin(hits);
	g->loop(&w, text, len);
	flush_streams(&w, AMDLOG_UNKNOWN);
	b->last_us = w.last_us;
	for (uint32_t i = 0; i < g->nthreads; i++) {
		if (g->threads[i].used)
			b->sums[g->threads[i].index] = g->threads[i].sum;
	}
}
