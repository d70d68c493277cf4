// The loop over the lines of a block, on which the speed of a summary depends. Two caches hold what
// lines repeat: their prefix (process and thread) and their message (kind of record). They only
// save work: a line that fits has the bytes that slow_line would read; slow_line reads the others.
//
// Compiled twice: see block_lines_avx2.c.
//
// Facts: [amdlog.prefix], [amdlog.colour], [amdlog.packets], [amdlog.api].
#include "common/amdlog/read/block_priv.h"
#include "common/amdlog/read/packet_parse.h"

#define HOT static inline __attribute__((always_inline))

// Lines longer than this from their message on are read by slow_line: with their prefix, which is
// shorter than 256 bytes, they may exceed AMDLOG_TEXT_MAX.
#define LINE_MOST (AMDLOG_TEXT_MAX - 256)

// The line's entry in the prefix cache; NULL: none. The entry of the line before is tried first.
HOT const struct prefix *find_prefix(struct parse *w, const char *p)
{
	const struct prefix *x = w->prefix;
	if (__builtin_expect(differ_within(p + FILE_END, x->text, x->limit), 1))
		return x;
	x = prefix_place(w->g, p);
	if (!differ_within(p + FILE_END, x->text, x->limit))
		return NULL;
	if (!x->thread->used)
		use_thread(w, x->thread);
	w->prefix = x;
	return x;
}
// The newline that ends the line at `p`. *marked: colon, digit, colon stand behind `p` in it.
HOT const char *line_end(const char *p, bool *marked)
{
	uint64_t ends = bytes_that_are(p, '\n'), colons = bytes_that_are(p, ':') & ~UINT64_C(1);
	uint64_t before = 0, marks = 0;
	for (;;) {
		uint64_t pairs = colons & (ends - 1) & (colons << 2 | before);
		for (; __builtin_expect(pairs != 0, 0); pairs &= pairs - 1)
			marks |= is_mark(p + __builtin_ctzll(pairs) - 2);
		if (ends)
			break;
		before = colons >> 62;
		p += 64;
		ends = bytes_that_are(p, '\n');
		colons = bytes_that_are(p, ':');
	}
	*marked = marks;
	return p + __builtin_ctzll(ends);
}

HOT bool statement_fits(const struct statement *y, const char *p, const char *msg)
{
	return same_where(msg, y->text, y->mask) && same_32(p, y->head);
}

HOT const struct statement *find_statement(struct block_reader *g, const char *p, const char *msg)
{
	const struct statement *y = statement_set(g, p, msg);
	if (__builtin_expect(statement_fits(y, p, msg), 1))
		return y;
	return statement_fits(y + 1, p, msg) ? y + 1 : NULL;
}
// Fills the next item in place: a copy would wait for the bytes just written.
HOT struct block_item *known_record(struct parse *w, const struct prefix *x,
				    const struct statement *y, uint64_t us, const char *p,
				    const char *end)
{
	struct block_item *item = next_item(w);
	struct amdlog_record *r = &item->r;
	r->text = p;
	r->len = (size_t)(end - p);
	r->msg = p + x->msg + y->lead;
	while (end[-1] == ' ' || end[-1] == '\t')
		end--;
	r->msg_len = (size_t)(end - r->msg);
	r->offset = 0;
	r->time_us = us;
	r->level = (uint8_t)(p[1] - '0') & 15;
	r->style = x->thread->sum.style;
	r->kind = y->kind;
	r->ended = true;
	r->unwanted = w->unwanted;
	r->name_len = y->name_len;
	return item;
}

HOT bool known_item(struct parse *w, const struct prefix *x, const struct statement *y, uint64_t us,
		    const char *p, const char *end)
{
	struct block_item *item = known_record(w, x, y, us, p, end);
	if (y->kind == AMDLOG_KERNEL && item->r.msg_len < sizeof("ShaderName : "))
		return false; // no kernel name: its blank was cut off, too
	if (y->kind == AMDLOG_PACKET) {
		item->r.kind = packet_parse(item->r.msg, item->r.msg + item->r.msg_len, true, true,
					    &item->packet);
		if (!item->packet.ends && amdlog_reassembly_wants(&item->r))
			return false;
	}
	take_known(w, x->thread, item);
	return true;
}

// Reads a line by the caches. Returns where the next line begins; NULL: the caches do not know it.
// `plain`: there is no filter, and only PLACED kinds become items.
HOT const char *known_line(struct parse *w, const char *p, bool plain)
{
	const struct prefix *x = find_prefix(w, p);
	const char *msg, *newline, *end;
	bool marked;
	if (!x)
		return NULL;
	struct block_thread *t = x->thread;
	msg = p + x->msg;
	const struct statement *y = find_statement(w->g, p, msg);
	if (!y)
		return NULL;
	newline = line_end(msg, &marked);
	end = text_end(newline);
	if (marked || ((load64(end - 8) & y->tail_mask) ^ y->tail) || newline - msg >= LINE_MOST)
		return NULL;
	uint64_t us = digits_before(p + x->time_end, x->digits);
	if (__builtin_expect(y->use == USE_ITEM, 0) ||
	    (!plain && w->g->kinds >> y->kind & 1 && is_chosen(w, t, us)))
		return known_item(w, x, y, us, p, end) ? newline + 1 : NULL;
	if (__builtin_expect(y->use == USE_COMMAND, 0))
		note_command(t, msg, end);
	t->api[(y->call & t->calls) != 0] = (struct api_line){msg, end};
	if (plain || is_chosen(w, t, us))
		count_line(w, t, us, y->counts, y->counter);
	else
		leave_line(w, us);
	return newline + 1;
}

// Lines near the end of the block are read by slow_line: the caches look further than the text.
HOT void loop_over_lines(struct parse *w, const char *text, size_t len, bool plain)
{
	const char *line = text, *end = text + len, *newline, *next;
	const char *stop = len < FILE_END + 64 ? text : end - FILE_END - 64;
	bool marked;
	while (line < end) {
		if (!plain && w->by_text)
			w->unwanted = !grep_cursor_has(&w->hits, (uint32_t)(line - text));
		next = line < stop && !w->open ? known_line(w, line, plain) : NULL;
		if (!next) {
			newline = line_end(line, &marked);
			slow_line(w, line, newline, marked);
			next = newline + 1;
		}
		line = next;
	}
}

void block_loop(struct parse *w, const char *text, size_t len)
{
	if (w->filter || w->g->kinds & ~AMDLOG_KINDS_PLACED)
		loop_over_lines(w, text, len, false);
	else
		loop_over_lines(w, text, len, true);
}
