// The digester's loop over lines. The speed of a summary depends on it: per line a form's bytes,
// the digits of the time, the first bytes of the message. Nearly all lines are API lines, and begin
// as others did (shape.h); what else there is, digest.c takes care of.
//
// It is compiled three times, see digest_loop_avx2.c and digest_loop_avx512.c.
//
// Facts: amd-log-facts.md sections 2 (prefix), 2.1 (colours), 6 (API lines).
#include "common/amdlog/digest_priv.h"
#include "common/amdlog/number.h"

#define HOT static inline __attribute__((always_inline))

// fits(): the bytes from FORM_AT on, and digits where the line's number and the time are.
// shape_fits(): the line's first bytes, and those of its message.
#if defined(__AVX512BW__) && defined(__AVX512VL__)
HOT bool fits(const struct form *f, const char *p)
{
	__m512i x = _mm512_loadu_si512(p + FORM_AT);
	__m256i value = _mm256_sub_epi8(_mm512_castsi512_si256(x), _mm256_set1_epi8('0'));
	__mmask32 other = _mm256_mask_cmpgt_epu8_mask(f->digit_bits, value, _mm256_set1_epi8(9));

	return _kortestz_mask64_u8(
		_mm512_mask_cmpneq_epi8_mask(f->mask_bits, x, _mm512_load_si512(f->text)), other);
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
// What of 64 bytes is not as it should be; any byte may be where the mask is 0.
HOT __m256i differ64(const char *p, const form_vec text[4], const form_vec mask[4])
{
	const __m256i *t = (const __m256i *)text, *m = (const __m256i *)mask;
	__m256i x = _mm256_loadu_si256((const __m256i_u *)p);
	__m256i y = _mm256_loadu_si256((const __m256i_u *)(p + 32));

	x = _mm256_and_si256(_mm256_xor_si256(x, _mm256_load_si256(t)), _mm256_load_si256(m));
	y = _mm256_and_si256(_mm256_xor_si256(y, _mm256_load_si256(t + 1)),
			     _mm256_load_si256(m + 1));
	return _mm256_or_si256(x, y);
}

HOT bool are_zero(__m256i x, __m256i y)
{
	x = _mm256_or_si256(x, y);
	return _mm256_testz_si256(x, x);
}

HOT bool fits(const struct form *f, const char *p)
{
	__m256i x = _mm256_loadu_si256((const __m256i_u *)(p + FORM_AT));
	__m256i value = _mm256_sub_epi8(x, _mm256_set1_epi8('0'));
	__m256i other = _mm256_xor_si256(_mm256_min_epu8(value, _mm256_set1_epi8(9)), value);

	other = _mm256_and_si256(other, _mm256_load_si256((const __m256i *)f->digits));
	return are_zero(differ64(p + FORM_AT, f->text, f->mask), other);
}

HOT bool shape_fits(const struct shape *s, const char *line, const char *msg)
{
	__m256i x = _mm256_loadu_si256((const __m256i_u *)line);

	x = _mm256_xor_si256(x, _mm256_load_si256((const __m256i *)s->head));
	return are_zero(differ64(msg, s->text, s->mask), x);
}
#else
HOT bool fits(const struct form *f, const char *p)
{
	uint64_t low = load64(p + f->time_end - 8) ^ DIGIT_ZEROS;
	uint64_t high = (load64(p + f->time_end - 16) ^ DIGIT_ZEROS) & f->high_mask;

	return form_fits(f, p) && is_digit(p[FORM_AT + 1]) && !no_digits(low) && !no_digits(high);
}

HOT bool shape_fits(const struct shape *s, const char *line, const char *msg)
{
	form_vec head[2], text[4];
	form_words differ;

	memcpy(head, line, sizeof(head));
	memcpy(text, msg, sizeof(text));
	differ = (form_words)((head[0] ^ s->head[0]) | (head[1] ^ s->head[1]));
	for (unsigned i = 0; i < 4; i++)
		differ |= (form_words)((text[i] ^ s->text[i]) & s->mask[i]);
	return !(differ[0] | differ[1]);
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
		sum->api = msg;
		sum->api_end = newline;
	}
	if (plain || !w->choice || is_chosen(w, us))
		digest_count(w, us, digest_counter(kind, level), entry);
	else
		w->d->lines++;
	return true;
}

#if defined(__AVX2__)
// A packet that begins as one before did, and is like others behind.
HOT bool known_packet(struct walk *w, const char *text, const char *newline, const char *msg,
		      uint64_t us, unsigned level)
{
	size_t len = (size_t)(newline - msg);
	const struct packet_head *head =
		len < HEAD_LEAST ? NULL : packet_head_at(w->g->packets, msg, len);
	struct amdlog_packet packet;

	if (!head || !packet_parse_known(w->g->packets, head, msg, newline, &packet))
		return false;
	digest_packet(w,
		      &(struct amdlog_record){
			      .text = text,
			      .len = (size_t)(newline - text),
			      .msg = msg,
			      .msg_len = len,
			      .time_us = us,
			      .who = w->form->who,
			      .level = (uint8_t)level,
			      .style = w->form->style,
			      .kind = head->kind,
			      .ended = true,
		      },
		      &packet);
	return true;
}
#else
HOT bool known_packet(struct walk *w, const char *text, const char *newline, const char *msg,
		      uint64_t us, unsigned level)
{
	return (void)w, (void)text, (void)newline, (void)msg, (void)us, (void)level, false;
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

	while (i < KIND_PATTERNS && !kind_fits(&index->v[i], msg))
		i = index->v[i].next;
	if (i < KIND_PATTERNS && newline - msg >= index->v[i].len && newline[-1] > ' ')
		m = &index->v[i];
	if (m && m->kind == AMDLOG_PACKET && known_packet(w, text, newline, msg, us, level))
		return;
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
		if (lead == LEAD_API && api_line(w, msg, newline, true, us, level, plain)) {
			if (plain)
				digest_learn(w, text, newline);
			return;
		}
	} else if (lead == LEAD_OTHER) {
		other_line(w, text, newline, msg, us, level, plain);
		return;
	} else if (lead == LEAD_API && api_line(w, msg, newline, false, us, level, plain)) {
		if (plain)
			digest_learn(w, text, newline);
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

// Colons of p[0..n) with another two bytes on, a bit for each; up to LOOK bytes.
#define LOOK 62
HOT uint64_t colon_pairs(const char *p, size_t n)
{
	uint64_t colons = bytes_that_are(p, ':') & ((UINT64_C(1) << n) - 1);

	return colons & colons >> 2;
}

// Does [p, newline) hold a colon, a digit, a colon?
static __attribute__((noinline)) bool find_mark(const char *p, const char *newline)
{
	for (; p < newline; p += LOOK - 2) {
		size_t n = (size_t)(newline - p);

		for (uint64_t pairs = colon_pairs(p, n < LOOK ? n : LOOK); pairs;
		     pairs &= pairs - 1) {
			if (is_mark(p + __builtin_ctzll(pairs)))
				return true;
		}
	}
	return false;
}

// Two looks at most tell that there are no colons for one.
HOT bool has_no_mark(const char *p, const char *newline)
{
	size_t n = (size_t)(newline - p);

	if (n <= LOOK)
		return !colon_pairs(p, n);
	return n <= 2 * LOOK - 2 && !(colon_pairs(p, LOOK) | colon_pairs(newline - LOOK, LOOK));
}

// Is what is left of a line neither missing nor too long, nor does another record begin there?
static __attribute__((noinline)) bool is_usual(const char *rest, const char *newline)
{
	return rest < newline && newline - rest < LINE_MOST - SHAPE_BYTES &&
	       !find_mark(rest, newline);
}

// An API line as there was one before.
HOT bool known_line(struct walk *w, const char *p, const char *newline)
{
	const char *msg = p + w->form->msg_at;
	const struct shape *s = shape_slot(w->g->shapes, p, msg);
	const char *rest = msg + s->len - 2; // a colon in front may be half of a mark
	struct digest_sum *sum = w->sum;

	if (!shape_fits(s, p, msg) || ((load64(newline - 8) ^ s->tail) & s->tail_mask))
		return false;
	if (!has_no_mark(rest, newline) && !is_usual(rest, newline))
		return false;
	sum->api = msg;
	sum->api_end = newline;
	digest_count(w, read_time(w, w->form, p), s->counter, s->entry);
	return true;
}

HOT void take_line(struct walk *w, const char *p, const char *newline, bool plain)
{
	const struct form *f = w->form;
	uint32_t begin;

	if (__builtin_expect(!fits(f, p), 0)) {
		f = digest_other_form(w, p);
		if (f && !fits(f, p))
			f = NULL;
	}
	if (f && plain && w->leads[(unsigned char)p[f->msg_at]] != LEAD_OTHER &&
	    known_line(w, p, newline))
		return;
	memcpy(&begin, p, sizeof(begin));
	begin = (begin ^ (':' | '0' << 8 | ':' << 16)) & 0xffffff; // ":0:"
	if (find_mark(p + 1, newline) && digest_glued(w, p, newline))
		f = NULL;
	if (f && begin <= 9 << 8 && !(begin & 0xff) &&
	    (size_t)(newline - p - 1 - f->msg_at) < LINE_MOST)
		take_record(w, p, newline, begin >> 8, plain);
	else
		digest_odd_line(w, p, newline);
}

HOT void run(struct walk *w, const char *text, size_t len, bool plain)
{
	struct digester *g = w->g;
	const char *line = text;

	for (size_t tile = 0; tile < len && !w->d->slow; tile += SCAN_TILE) {
		size_t size = len - tile < SCAN_TILE ? len - tile : SCAN_TILE;
		size_t n = g->find_newlines(text + tile, size, g->newlines);

		for (size_t i = 0; i < n; i++) {
			const char *newline = text + tile + g->newlines[i];

			if (!plain && w->choice && w->choice->hits)
				w->unwanted = !grep_cursor_has(&w->hits, (uint32_t)(line - text));
			take_line(w, line, newline, plain);
			line = newline + 1;
		}
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
