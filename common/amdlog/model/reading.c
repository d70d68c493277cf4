// Taking blocks in order (see reading.h).
#include "common/amdlog/model/reading.h"
#include "common/amdlog/model/summary_priv.h"

// True if the filter by text picks a record. `hits` has the result for whole lines of the block;
// records that were cut or joined are matched now.
static bool is_picked(const struct amdlog_reading *r, const struct amdlog_record *record)
{
	const struct reading_block *b = &r->block;
	uintptr_t at = (uintptr_t)record->text - (uintptr_t)b->text;
	const char *end = record->text + record->len;
	if (b->hits && at < b->len && record->len < b->len - at &&
	    (!at || record->text[-1] == '\n') && (*end == '\n' || (*end == '\r' && end[1] == '\n')))
		return grep_hits_has(b->hits, (uint32_t)at);
	return grepper_text(r->grepper, record->text, record->len);
}

static void reading_take_record(void *ctx, const struct amdlog_record *record)
{
	struct amdlog_reading *r = ctx;
	struct amdlog_record own;
	struct amdlog_event e;
	if (r->grepper) {
		own = *record;
		own.unwanted = !is_picked(r, record);
		record = &own;
	}
	if (amdlog_summary_add(r->sum, r->scan, record, NULL, &e) && r->event)
		r->event(r->ctx, &e);
}

void amdlog_reading_init(struct amdlog_reading *r, struct amdlog_summary *sum,
			 const struct grep *grep)
{
	const struct amdlog_sink own = {.ctx = r, .record = reading_take_record};
	*r = (struct amdlog_reading){
		.sum = sum,
		.settled = !sum->filter.since_relative && !sum->filter.until_relative,
	};
	r->reassembly = amdlog_reassembly_new(&own);
	r->grepper = grep ? grepper_new(grep) : NULL;
	r->scan = r->reassembly->scan;
}

void amdlog_reading_fini(struct amdlog_reading *r)
{
	amdlog_reassembly_free(r->reassembly);
	grepper_free(r->grepper);
}

bool amdlog_reading_settled(const struct amdlog_reading *r)
{
	return r->settled;
}

struct block_reader *amdlog_reading_worker(const struct amdlog_reading *r, uint32_t kinds)
{
	return block_reader_new(&r->sum->filter, kinds, r->scan->threads.assumed);
}

// The offset in the input of a place in the block's text.
static uint64_t offset_of(const struct amdlog_reading *r, const char *p)
{
	return r->block.offset + (uint64_t)(p - r->block.text);
}

// Sets the scanner's place in the input to `to`.
static void skip_to(struct amdlog_reading *r, const char *to)
{
	r->scan->counts.bytes += offset_of(r, to) - r->scan->base;
	r->scan->base = offset_of(r, to);
}

// The scanner's number of an item's thread; a thread without a process may have got one since.
static uint32_t item_thread_number(struct amdlog_reading *r, struct block_sum *sum)
{
	if (sum->number == AMDLOG_NONE || is_bare(&sum->writer))
		sum->number = threads_number(&r->scan->threads, &sum->writer);
	return sum->number;
}

// Applies the first and last time of records that a block reader counted between two items.
static void add_times(struct amdlog_summary *s, uint64_t first_us, uint64_t last_us)
{
	if (first_us == AMDLOG_UNKNOWN)
		return;
	s->totals.steps_back += first_us < s->state.last_us;
	s->state.first_us = s->state.first_us == AMDLOG_UNKNOWN ? first_us : s->state.first_us;
	s->state.last_us = last_us;
}

static void take_item(struct amdlog_reading *r, struct block_result *b, struct block_item *item)
{
	struct amdlog_event e;
	add_times(r->sum, item->first_us, item->last_us);
	switch (item->what) {
	case BLOCK_STREAM:
		item->r.thread = item_thread_number(r, &b->sums[item->thread]);
		stream_set(summary_thread(r->sum, r->scan, item->r.thread), &item->stream);
		break;
	case BLOCK_LINES:
		skip_to(r, item->r.text);
		amdlog_scan_lines(r->scan, item->r.text, item->r.len);
		break;
	case BLOCK_RECORD:
		item->r.thread = item_thread_number(r, &b->sums[item->thread]);
		item->r.offset = offset_of(r, item->r.text);
		if (amdlog_summary_add(r->sum, r->scan, &item->r, item, &e) && r->event)
			r->event(r->ctx, &e);
		break;
	}
}

// Adds the records that a block reader only counted.
static void add_block_sums(struct amdlog_summary *s, const struct amdlog_scan *scan,
			   const struct block_result *b)
{
	for (unsigned kind = 0; kind < AMDLOG_NKINDS; kind++) {
		for (unsigned level = 0; level < 10; level++) {
			s->totals.kinds[kind] += b->counts[block_counter(kind, level)];
			s->totals.levels[level] += b->counts[block_counter(kind, level)];
		}
	}
	s->totals.steps_back += b->steps_back;
	for (unsigned i = 0; i < AMDLOG_NSTYLES; i++)
		s->totals.styles[i] += b->styles[i];
	for (uint32_t i = 0; i < b->nsums; i++) {
		const struct block_sum *sum = &b->sums[i];
		uint32_t records = (uint32_t)sum->counted;
		if (!records)
			continue;
		struct amdlog_thread *t = summary_thread(s, scan, sum->number);
		s->totals.records += records;
		s->totals.styles[sum->style] += records;
		t->records += records;
		t->api_calls += sum->counted >> 32;
		span_add(&t->span, sum->first_us);
		span_add(&t->span, sum->last_us);
	}
}

static void take_result(struct amdlog_reading *r, struct block_result *b)
{
	uint64_t lines = b->lines;
	for (uint32_t i = 0; i < b->nsums; i++) {
		b->sums[i].number = AMDLOG_NONE;
		lines += (uint32_t)b->sums[i].counted;
	}
	for (uint32_t i = 0; i < b->nitems; i++) {
		take_item(r, b, &b->items[i]);
		lines += b->items[i].what == BLOCK_RECORD;
	}
	add_times(r->sum, b->first_us, b->last_us);
	if (b->left_first_us <= b->left_last_us) {
		span_add(&r->sum->state.left, b->left_first_us);
		span_add(&r->sum->state.left, b->left_last_us);
	}
	add_block_sums(r->sum, r->scan, b);
	skip_to(r, r->block.text + r->block.len);
	r->scan->counts.lines += lines;
	r->scan->counts.foreign += b->foreign;
	r->scan->counts.records += lines - b->foreign;
}

void amdlog_reading_take(struct amdlog_reading *r, const char *text, size_t len,
			 struct block_result *b, const struct grep_hits *hits)
{
	// A block whose records are torn is not trusted near AMDLOG_THREADS_MAX: beyond it the
	// scanner does not know a thread's process, which tells how far a torn record reaches.
	bool trusted = b && !b->slow && (!b->torn || r->scan->threads.n < AMDLOG_THREADS_MAX / 2);
	r->block = (struct reading_block){text, len, r->scan->base, hits};
	if (!amdlog_scan_at_line(r->scan) || (len && text[len - 1] != '\n'))
		amdlog_scan_feed(r->scan, text, len);
	else if (trusted && amdlog_reassembly_idle(r->reassembly))
		take_result(r, b);
	else
		amdlog_scan_lines(r->scan, text, len);
	r->block.hits = NULL;
	if (r->sum->state.has_base)
		r->settled = true;
}

void amdlog_reading_end(struct amdlog_reading *r)
{
	amdlog_scan_end(r->scan);
	amdlog_reassembly_end(r->reassembly);
}
