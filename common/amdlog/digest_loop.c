// The digester's loop over lines. The speed of a summary depends on it: per line a form's bytes,
// the digits of the time, the first bytes of the message. Nearly all lines are API lines; what else
// there is, digest.c takes care of.
//
// It is compiled twice, see digest_loop_avx2.c.
//
// Facts: amd-log-facts.md sections 2 (prefix), 2.1 (colours), 6 (API lines).
#include "common/amdlog/digest_priv.h"
#include "common/amdlog/number.h"

#define HOT static inline __attribute__((always_inline))

#if defined(__AVX2__)
// The bytes from FORM_AT on, and digits where the line's number and the time are.
HOT bool fits(const struct form *f, const char *p)
{
	const __m256i_u *text = (const __m256i_u *)f->text, *mask = (const __m256i_u *)f->mask;
	__m256i digits = _mm256_loadu_si256((const __m256i_u *)f->digits);
	__m256i x = _mm256_loadu_si256((const __m256i_u *)(p + FORM_AT));
	__m256i y = _mm256_loadu_si256((const __m256i_u *)(p + FORM_AT + 32));
	__m256i value = _mm256_sub_epi8(x, _mm256_set1_epi8('0'));
	__m256i rest = _mm256_xor_si256(_mm256_min_epu8(value, _mm256_set1_epi8(9)), value);

	rest = _mm256_and_si256(rest, digits);
	x = _mm256_xor_si256(x, _mm256_loadu_si256(text));
	y = _mm256_xor_si256(y, _mm256_loadu_si256(text + 1));
	x = _mm256_and_si256(x, _mm256_loadu_si256(mask));
	y = _mm256_and_si256(y, _mm256_loadu_si256(mask + 1));
	rest = _mm256_or_si256(rest, _mm256_or_si256(x, y));
	return _mm256_testz_si256(rest, rest);
}

// The time of a line that fits: of sixteen digits pairs are joined, then pairs of those.
HOT uint64_t read_time(struct walk *w, const struct form *f, const char *p)
{
	const __m128i tens = _mm_set1_epi16(1 << 8 | 10);
	const __m128i hundreds = _mm_set1_epi32(1 << 16 | 100);
	const __m128i ten_thousands = _mm_set1_epi32(1 << 16 | 10000);
	__m128i x = _mm_loadu_si128((const __m128i_u *)(p + f->time_end - 16));
	uint64_t halves;

	(void)w;
	x = _mm_maddubs_epi16(_mm_and_si128(x, (__m128i)f->time_mask), tens);
	x = _mm_madd_epi16(x, hundreds);
	x = _mm_madd_epi16(_mm_packus_epi32(x, x), ten_thousands);
	halves = (uint64_t)_mm_cvtsi128_si64(x);
	return (uint32_t)halves * UINT64_C(100000000) + (halves >> 32);
}
#else
HOT bool fits(const struct form *f, const char *p)
{
	uint64_t low = load64(p + f->time_end - 8) ^ DIGIT_ZEROS;
	uint64_t high = (load64(p + f->time_end - 16) ^ DIGIT_ZEROS) & f->high_mask;

	return form_fits(f, p) && is_digit(p[FORM_AT + 1]) && !no_digits(low) && !no_digits(high);
}

// The time of a line that fits. Its upper digits nearly always are those of the line before.
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
	if (n == WORD_MAX || makes_stream(msg) || (!plain && is_asked_for(w, us, kind)))
		return false;
	if (w->form->has_thread || !entry) {
		sum->api = msg;
		sum->api_end = newline;
	}
	w->d->lines++;
	if (plain || !w->choice || is_chosen(w, us))
		digest_count(w, us, level, kind);
	return true;
}

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
	if (!m || !(w->g->counted >> m->kind & 1)) {
		digest_other_line(w, text, newline, msg, us, m);
		return;
	}
	w->d->lines++;
	if (plain || !w->choice || is_chosen(w, us))
		digest_count(w, us, level, m->kind);
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
		msg += 6;
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

HOT void take_line(struct walk *w, const char *p, const char *newline, bool plain)
{
	const struct form *f = w->form;
	uint32_t begin;

	memcpy(&begin, p, sizeof(begin));
	begin = (begin ^ (':' | '0' << 8 | ':' << 16)) & 0xffffff; // ":0:"
	if (__builtin_expect(!fits(f, p), 0)) {
		f = digest_other_form(w, p);
		if (f && !fits(f, p))
			f = NULL;
	}
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
		bool line_start = !tile || text[tile - 1] == '\n';
		size_t n = g->find_marks(text + tile, size, line_start, g->marks);

		for (size_t i = 0; i < n; i++) {
			const char *at = text + tile + g->marks[i];

			if (__builtin_expect(*at != '\n', 0)) {
				if (prefix_shape(at, (size_t)(text + len - at), true))
					digest_glued(w);
				continue;
			}
			if (!plain && w->choice && w->choice->hits)
				w->unwanted = !grep_cursor_has(&w->hits, (uint32_t)(line - text));
			take_line(w, line, at, plain);
			line = at + 1;
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
