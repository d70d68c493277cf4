// The digester's loop over lines. The speed of a summary depends on it. Nine of ten lines begin as
// others did (shape.h): they are counted in known_lines(), which finds their end in the same look
// that compares them. Packets that begin as others did (packet_known.h) become items without being
// looked at as lines. What is new is looked at in full, and learned; what is odd, digest.c takes
// care of.
//
// It is compiled three times, see digest_loop_avx2.c and digest_loop_avx512.c.
//
// Facts: amd-log-facts.md sections 2 (prefix), 2.1 (colours), 6 (API lines).
#include "common/amdlog/digest_priv.h"
#include "common/amdlog/number.h"

#define HOT static inline __attribute__((always_inline))

// A form, held in registers; lines that fit it; lines of a shape, by their first bytes and those of
// their message.
#if defined(__AVX512BW__) && defined(__AVX512VL__)
struct held_form {
	__m512i text, limit;
};

HOT struct held_form hold(const struct form *f)
{
	return (struct held_form){_mm512_load_si512(f->text), _mm512_load_si512(f->limit)};
}

HOT bool fits(const struct held_form *f, const char *p)
{
	__m512i differs = _mm512_xor_si512(_mm512_loadu_si512(p + FORM_AT), f->text);

	return !_mm512_cmpgt_epu8_mask(differs, f->limit);
}

HOT bool shape_fits(const struct shape *s, const char *line, const char *msg)
{
	__m256i x = _mm256_loadu_si256((const __m256i_u *)line);
	__mmask32 other = _mm256_cmpneq_epi8_mask(x, _mm256_load_si256((const __m256i *)s->head));
	__m512i y = _mm512_loadu_si512(msg);

	return _kortestz_mask64_u8(
		_mm512_mask_cmpneq_epi8_mask(s->bits, y, _mm512_load_si512(s->text)), other);
}
#elif defined(__AVX2__)
struct held_form {
	__m256i text[2], limit[2];
};

HOT struct held_form hold(const struct form *f)
{
	const __m256i *t = (const __m256i *)f->text, *l = (const __m256i *)f->limit;

	return (struct held_form){{t[0], t[1]}, {l[0], l[1]}};
}

HOT bool are_zero(__m256i x, __m256i y)
{
	x = _mm256_or_si256(x, y);
	return _mm256_testz_si256(x, x);
}

HOT bool fits(const struct held_form *f, const char *p)
{
	__m256i x = _mm256_loadu_si256((const __m256i_u *)(p + FORM_AT));
	__m256i y = _mm256_loadu_si256((const __m256i_u *)(p + FORM_AT + 32));

	x = _mm256_subs_epu8(_mm256_xor_si256(x, f->text[0]), f->limit[0]);
	y = _mm256_subs_epu8(_mm256_xor_si256(y, f->text[1]), f->limit[1]);
	return are_zero(x, y);
}

HOT bool shape_fits(const struct shape *s, const char *line, const char *msg)
{
	const __m256i *t = (const __m256i *)s->text, *m = (const __m256i *)s->mask;
	__m256i x = _mm256_loadu_si256((const __m256i_u *)line);
	__m256i y = _mm256_loadu_si256((const __m256i_u *)msg);
	__m256i z = _mm256_loadu_si256((const __m256i_u *)(msg + 32));

	x = _mm256_xor_si256(x, _mm256_load_si256((const __m256i *)s->head));
	y = _mm256_and_si256(_mm256_xor_si256(y, t[0]), m[0]);
	z = _mm256_and_si256(_mm256_xor_si256(z, t[1]), m[1]);
	return are_zero(_mm256_or_si256(x, y), z);
}
#else
struct held_form {
	const struct form *form;
};

HOT struct held_form hold(const struct form *f)
{
	return (struct held_form){f};
}

HOT bool fits(const struct held_form *f, const char *p)
{
	return form_fits(f->form, p);
}

HOT form_vec text_differs(const struct shape *s, const char *msg, unsigned part)
{
	return (form_load(msg + part * 16) ^ s->text[part]) & s->mask[part];
}

HOT bool shape_fits(const struct shape *s, const char *line, const char *msg)
{
	form_vec head = (form_load(line) ^ s->head[0]) | (form_load(line + 16) ^ s->head[1]);

	return form_is_zero(head | text_differs(s, msg, 0) | text_differs(s, msg, 1) |
			    text_differs(s, msg, 2) | text_differs(s, msg, 3));
}
#endif

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

#if defined(__AVX2__)
// A packet that begins as one before did, and is like others behind. The next line; NULL: it is
// none.
HOT const char *known_packet(struct walk *w, const char *line)
{
	const char *msg = line + w->form->msg_at, *end;
	const struct packet_head *head;
	struct digest_item *item;

	if (memcmp(msg + 1, "Wq=", 3) != 0 || w->end - msg < HEAD_MAX)
		return NULL;
	head = packet_head_at(w->g->packets, line, msg);
	item = head ? digest_next_item(w) : NULL;
	end = item ? packet_parse_known(w->g->packets, head, msg, &item->packet) : NULL;
	if (!end || end[*end == '\r'] != '\n')
		return NULL;
	digest_known_packet(w, head->kind, read_time(w, w->form, line), line, end);
	return end + (*end == '\r') + 1;
}
#else
HOT const char *known_packet(struct walk *w, const char *line)
{
	return (void)w, (void)line, NULL;
}
#endif

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
	if (!m || !(w->g->counted >> m->kind & 1)) {
		digest_other_line(w, text, newline, msg, us, m);
		return;
	}
	if (plain)
		digest_learn(w, text, newline, msg, m);
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
		if (lead == LEAD_API && api_line(w, msg, newline, true, us, level, plain)) {
			if (plain)
				digest_learn_api(w, text, newline);
			return;
		}
	} else if (lead == LEAD_OTHER) {
		other_line(w, text, newline, msg, us, level, plain);
		return;
	} else if (lead == LEAD_API && api_line(w, msg, newline, false, us, level, plain)) {
		if (plain)
			digest_learn_api(w, text, newline);
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

// Is one of the pairs of colons from `p` on, a bit for each, a mark? Returns end with ": :
// duration".
HOT bool is_any_mark(const char *p, uint64_t pairs)
{
	while (pairs && !is_mark(p + __builtin_ctzll(pairs)))
		pairs &= pairs - 1;
	return pairs;
}

// Where the line ends whose message is at `msg`; NULL when it is long, or another record may begin
// within the message. Bits of two looks stand for its first 128 bytes.
HOT const char *known_end(const char *msg)
{
	uint64_t ends = bytes_that_are(msg, '\n'), colons = bytes_that_are(msg, ':'), more;

	if (ends) {
		colons &= ends - 1;
		if (__builtin_expect(is_any_mark(msg, colons & colons >> 2), 0))
			return NULL;
		return msg + __builtin_ctzll(ends);
	}
	ends = bytes_that_are(msg + 64, '\n');
	more = bytes_that_are(msg + 64, ':') & (ends - 1);
	if (!ends || is_any_mark(msg, colons & (colons >> 2 | more << 62)) ||
	    is_any_mark(msg + 64, more & more >> 2))
		return NULL;
	return msg + 64 + __builtin_ctzll(ends);
}

// Counts lines from `p` on that are as there were others, as long as they are of one form, whose
// messages begin in column `msg_at`; *other: the next is not of it. What each line changes is kept
// at hand.
HOT const char *lines_of_form(struct walk *w, const char *p, const char *stop, size_t msg_at,
			      bool *other)
{
	const struct form *form = w->form;
	struct held_form held = hold(form);
	struct shape_slots *slots = &w->g->shapes[form->has_thread];
	struct api_line lines[2] = {{0}}; // the last one that is none, and that is
	uint64_t counted = 0, near = w->near_us, step = NO_TIME, us;
	uint32_t *counts = w->d->counts;
	const char *newline;

	for (*other = false; p < stop; p = newline + 1) {
		const char *msg = p + msg_at;
		const struct shape *s;

		*other = !fits(&held, p);
		if (*other)
			break;
		s = shape_slot(slots, p, msg);
		if (!shape_fits(s, p, msg))
			break;
		newline = known_end(msg);
		if (!newline || ((load64(newline - 8) ^ s->tail) & s->tail_mask))
			break;
		us = read_time(w, form, p);
		if (__builtin_expect(us - near >= TIME_SPAN, 0)) {
			if (counted)
				break;
			step = us;
		}
		near = us;
		counts[s->counter]++;
		counted += s->counts;
		lines[s->api] = (struct api_line){msg, newline};
	}
	if (counted)
		digest_known_lines(w, counted, step, near);
	if (lines[1].msg)
		w->sum->api = lines[1];
	return p;
}

// The same number, of which the compiler knows nothing.
HOT size_t opaque(size_t n)
{
	__asm__("" : "+r"(n));
	return n;
}

// Counts lines from `p` on that are as there were others; where the first one begins that is not,
// or that begins at `stop` or behind.
//
// Where a line ends is known when its message has come, for which its form must have come. That the
// next form's messages begin in the same column is for the processor to guess, so that lines of
// threads by turns need not wait for each other's forms.
static __attribute__((noinline)) const char *known_lines(struct walk *w, const char *p,
							 const char *stop)
{
	size_t msg_at = w->form->msg_at;
	bool other;

	do {
		if (w->form->msg_at != msg_at)
			msg_at = opaque(w->form->msg_at);
		p = lines_of_form(w, p, stop, msg_at, &other);
	} while (other && digest_other_form(w, p));
	return p;
}

// Takes the line at `p`. Where the next one begins.
HOT const char *take_line(struct walk *w, const char *p, bool plain)
{
	const struct form *f = w->form;
	const char *newline, *next;
	uint32_t begin;
	bool pairs;

	if (!form_fits(f, p))
		f = digest_other_form(w, p);
	next = f ? known_packet(w, p) : NULL;
	if (next)
		return next;
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

// A known line begins in front of `stop`, so that its message begins within the block, and two
// looks at it stay within what may be read behind. The last lines are not tried.
_Static_assert(MARKS_PAD >= 128, "known_end looks at as much");
HOT void run(struct walk *w, const char *text, size_t len, bool plain)
{
	const char *end = text + len, *line = text;
	const char *stop = len < FORM_AT + FORM_BYTES ? text : end - FORM_AT - FORM_BYTES;

	while (line < end && !w->d->slow) {
		if (!plain && w->choice && w->choice->hits)
			w->unwanted = !grep_cursor_has(&w->hits, (uint32_t)(line - text));
		if (plain)
			line = known_lines(w, line, stop);
		if (line < end)
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
