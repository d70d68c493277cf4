// The loop over the lines of a block: the speed of a summary depends on it. A line whose prefix is
// known needs a look at the beginning of its message; most are counted then. Everything else is for
// digest.c.
//
// Compiled twice: see digest_loop_avx2.c.
//
// Facts: amd-log-facts.md sections 2 (prefix), 2.1 (colours), 6 (API lines).
#include "common/amdlog/digest_priv.h"
#include "common/amdlog/packet_parse.h"

#define HOT static inline __attribute__((always_inline))

#if defined(__AVX2__)
// The time of a line that fits.
HOT uint64_t read_time(struct walk *w, const struct form *f, const char *p)
{
	(void)w;
	return decimal16(p + f->time_end, (__m128i)f->time_mask);
}
#else
// Its upper digits nearly always are those of the line before.
HOT uint64_t read_time(struct walk *w, const struct form *f, const char *p)
{
	uint64_t high = (load64(p + f->time_end - 16) ^ DIGIT_ZEROS) & f->high_mask;

	if (high != w->high) {
		w->high = high;
		w->high_us = digits_value(high) * 100000000;
	}
	return w->high_us + digits_value(load64(p + f->time_end - 8) ^ DIGIT_ZEROS);
}
#endif

// An API entry is closed by its bracket, and by the end of its colour.
HOT bool is_closed(const char *end)
{
	return !memcmp(end - 7, " ) \x1b", 4) && !memcmp(end - 4, "\x1b[0m", 4);
}

HOT bool is_success(const char *p)
{
	return load64(p) == text64(": Return") && load64(p + 8) == text64("ed hipSu") &&
	       load64(p + 13) == text64("pSuccess");
}

HOT bool makes_stream(const char *name)
{
	return load64(name) == text64("hipStrea") && name[8] == 'm' && name[9] == 'C';
}

// An API line as nearly all are: an entry with its colours, closed, or a return of hipSuccess
// without. False: it is something else. `plain`: nothing is asked for but counts of everything.
HOT bool api_line(struct walk *w, const char *msg, const char *newline, bool entry, uint64_t us,
		  unsigned level, bool plain)
{
	enum amdlog_kind kind = entry ? AMDLOG_API_ENTRY : AMDLOG_API_RETURN;
	struct digest_sum *sum = w->sum;
	unsigned n = word_end(msg);

	if (entry ? !is_entry(msg + n) || !is_closed(text_end(newline)) : !is_success(msg + n))
		return false;
	// The word may have gone on behind the line.
	if (msg + n >= newline || n == WORD_MAX || makes_stream(msg) ||
	    (!plain && is_asked_for(w, us, kind)))
		return false;
	if (w->form->has_thread || !entry) {
		sum->api = (struct api_line){msg, newline};
	}
	if (plain || !w->choice || is_chosen(w, us))
		digest_count(w, us, digest_counter(kind, level), entry);
	else
		w->d->lines++;
	return true;
}

HOT void packet_line(struct walk *w, const char *text, const char *newline, uint64_t us)
{
	const char *msg = text + w->form->msg_at, *end = text_end(newline);
	struct digest_item *item = digest_next_item(w);
	enum amdlog_kind kind;

	if (!item)
		return;
	kind = packet_parse(msg, end, true, true, &item->packet);
	digest_packet(w, kind, us, text, newline);
}

// A message that is no API line. One that ends with a blank is looked at closer, as the blank may
// be the pattern's last.
HOT void other_line(struct walk *w, const char *text, const char *newline, const char *msg,
		    uint64_t us, unsigned level, bool plain)
{
	const struct kind_index *index = w->g->index;
	uint8_t i = index->first[kind_place(index, msg)];
	const struct kind_pattern *m = NULL;
	const char *end = text_end(newline);

	while (i < KIND_PATTERNS && !kind_fits(&index->v[i], msg))
		i = index->v[i].next;
	if (i < KIND_PATTERNS && end - msg >= index->v[i].len && end[-1] > ' ')
		m = &index->v[i];
	if (m && m->kind == AMDLOG_KERNEL) {
		digest_kernel(w, us, text, end);
		return;
	}
	if (m && m->kind == AMDLOG_PACKET) {
		packet_line(w, text, newline, us);
		return;
	}
	if (!m || !(w->g->counted >> m->kind & 1)) {
		digest_other_line(w, text, newline, msg, us, m);
		return;
	}
	if (plain || !w->choice || is_chosen(w, us))
		digest_count(w, us, digest_counter(m->kind, level), false);
	else
		w->d->lines++;
}

HOT bool is_coloured(const char *msg)
{
	return !memcmp(msg, "\x1b[32", 4) && !memcmp(msg + 4, "m ", 2);
}

HOT void take_record(struct walk *w, const char *text, const char *newline, unsigned level,
		     bool plain)
{
	const char *msg = text + w->form->msg_at;
	uint64_t us = read_time(w, w->form, text);
	const uint8_t *leads = w->g->leads;
	uint8_t lead = leads[(unsigned char)*msg];

	if (is_coloured(msg)) {
		msg += COLOUR_LEN;
		lead = leads[(unsigned char)*msg] == LEAD_API ? LEAD_API : LEAD_ODD;
		if (lead == LEAD_API && api_line(w, msg, newline, true, us, level, plain))
			return;
	} else if (lead == LEAD_OTHER) {
		other_line(w, text, newline, msg, us, level, plain);
		return;
	} else if (lead == LEAD_API && api_line(w, msg, newline, false, us, level, plain)) {
		return;
	}
	if (lead == LEAD_ODD)
		digest_odd_record(w, text, newline);
	else
		digest_other_line(w, text, newline, msg, us, NULL);
}

// Shorter by so much than the longest text, so that comparing once tells a line that has a message
// and is not too long.
#define LINE_MOST (AMDLOG_TEXT_MAX - 256)

// Does [p, newline) hold a colon, a digit, a colon? Looked for in 62 places at once.
static __attribute__((noinline)) bool find_mark(const char *p, const char *newline)
{
	for (; p < newline; p += 62) {
		uint64_t colons = bytes_that_are(p, ':'), pairs = colons & colons >> 2;

		if (newline - p < 64)
			pairs &= (UINT64_C(1) << (newline - p)) - 1;
		for (; pairs; pairs &= pairs - 1) {
			if (is_mark(p + __builtin_ctzll(pairs)))
				return true;
		}
	}
	return false;
}

// Where the line at `p` ends. *pairs: it has two colons with a byte between them, not the ones at
// its beginning.
HOT const char *line_end(const char *p, bool *pairs)
{
	uint64_t ends = bytes_that_are(p, '\n'), colons = bytes_that_are(p, ':') & ~UINT64_C(1);
	uint64_t before = 0, seen = 0;

	while (!ends) {
		seen |= colons & (colons << 2 | before);
		before = colons >> 62;
		p += 64;
		ends = bytes_that_are(p, '\n');
		colons = bytes_that_are(p, ':');
	}
	colons &= ends - 1;
	*pairs = seen | (colons & (colons << 2 | before));
	return p + __builtin_ctzll(ends);
}

// Takes the line at `p`. Where the next one begins.
HOT const char *take_line(struct walk *w, const char *p, bool plain)
{
	const struct form *f = w->form;
	const char *newline;
	uint32_t begin;
	bool pairs;

	if (!form_fits(f, p))
		f = digest_other_form(w, p);
	newline = line_end(p, &pairs);
	memcpy(&begin, p, sizeof(begin));
	begin = (begin ^ (':' | '0' << 8 | ':' << 16)) & 0xffffff; // ":0:"
	if (pairs && find_mark(p + 1, newline) && digest_glued(w, p, newline))
		f = NULL;
	if (f && begin <= 9 << 8 && !(begin & 0xff) &&
	    (size_t)(newline - p - 1 - f->msg_at) < LINE_MOST)
		take_record(w, p, newline, begin >> 8, plain);
	else
		digest_odd_line(w, p, newline);
	return newline + 1;
}

HOT void run(struct walk *w, const char *text, size_t len, bool plain)
{
	const char *end = text + len, *line = text;

	while (line < end && !w->d->slow) {
		if (!plain && w->choice && w->choice->hits)
			w->unwanted = !grep_cursor_has(&w->hits, (uint32_t)(line - text));
		line = take_line(w, line, plain);
	}
}

void digest_loop(struct walk *w, const char *text, size_t len)
{
	const uint32_t api = AMDLOG_KIND(API_ENTRY) | AMDLOG_KIND(API_RETURN);

	if (w->choice || w->g->kinds & api)
		run(w, text, len, false);
	else
		run(w, text, len, true);
}
