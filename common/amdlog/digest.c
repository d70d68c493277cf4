// Taking blocks of lines apart (see digest.h).
//
// The loop over lines is what the speed of a summary depends on: per line a form's bytes, the
// digits of the time, the first bytes of the message.
//
// Facts: amd-log-facts.md sections 2 (prefix), 2.1 (colours), 5 to 9 (messages).
#include "common/amdlog/digest.h"
#include "common/amdlog/mend.h"
#include "common/amdlog/scan_priv.h"

#include <stdlib.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#define ITEMS_MAX 16384 // of a block; more: it is slow

struct digester {
	const struct forms *forms;
	uint32_t kinds; // that somebody takes one by one
	marks_fn *find_marks;
	// Odd lines go through them to see how far what is odd reaches; what they make is not used.
	struct amdlog_scan *scratch;
	struct amdlog_mend *mend;
	bool unsure; // a process may be known to others that is not known here
	uint32_t marks[SCAN_TILE + MARKS_SPARE];
	struct digest_sum *sum_of[FORM_MAX]; // by first form; NULL: none in this block
};

// Where the loop is.
struct walk {
	struct digester *g;
	struct digest *d;
	const struct digest_choice *choice; // NULL: all
	const struct form *form;            // of the line before
	struct digest_sum *sum;
	uint64_t last_us;       // since the last item; 0: none
	uint64_t high, high_us; // upper digits of a time, as text and as a number
	uint32_t raw;
	unsigned odd;  // of this line, bits
	bool unwanted; // this line, by its text
	struct grep_cursor hits;
};

// A record begins within the line.
#define ODD_GLUED 1u
// Lines before it are not done with: a torn record may be mended yet.
#define ODD_OPEN 2u

bool digest_init(struct digest *d)
{
	*d = (struct digest){0};
	d->sums = calloc(FORM_MAX, sizeof(*d->sums));
	return d->sums;
}

void digest_fini(struct digest *d)
{
	free(d->items);
	free(d->sums);
	*d = (struct digest){0};
}

// Of a thread without a process, earlier lines may tell the process (releases up to 4.5).
static void look(void *ctx, const struct amdlog_record *r)
{
	struct digester *g = ctx;

	g->unsure |= r->style <= AMDLOG_STYLE_3_7 && r->who &&
		     g->scratch->who[r->who].tid != AMDLOG_UNKNOWN;
}

struct digester *digester_new(const struct forms *forms, uint32_t kinds)
{
	struct digester *g = calloc(1, sizeof(*g));
	const struct amdlog_sink own = {.ctx = g, .record = look};
	struct amdlog_sink sink;

	if (!g)
		return NULL;
	g->forms = forms;
	g->kinds = kinds;
	g->find_marks = marks_choose();
	g->mend = amdlog_mend_new(&own);
	if (g->mend) {
		sink = amdlog_mend_sink(g->mend);
		g->scratch = amdlog_scan_new(&sink);
	}
	if (!g->scratch) {
		digester_free(g);
		return NULL;
	}
	amdlog_mend_watch(g->mend, g->scratch);
	return g;
}

void digester_free(struct digester *g)
{
	if (!g)
		return;
	amdlog_scan_free(g->scratch);
	amdlog_mend_free(g->mend);
	free(g);
}

// A new item, zeroed but for its packet; NULL when there are too many.
static struct digest_item *new_item(struct walk *w)
{
	struct digest *d = w->d;
	struct digest_item *item;

	if (d->nitems == d->item_cap) {
		uint32_t cap = d->item_cap ? d->item_cap * 2 : 256;
		struct digest_item *items =
			cap > ITEMS_MAX ? NULL : realloc(d->items, cap * sizeof(*items));

		if (!items) {
			d->slow = true;
			return NULL;
		}
		d->items = items;
		d->item_cap = cap;
	}
	item = &d->items[d->nitems++];
	memset(item, 0, offsetof(struct digest_item, packet));
	item->first_us = d->first_us;
	item->last_us = w->last_us;
	d->first_us = AMDLOG_UNKNOWN;
	w->last_us = 0;
	return item;
}

// The sum of the form's thread.
static struct digest_sum *sum_of(struct walk *w, const struct form *f)
{
	struct digest_sum **place = &w->g->sum_of[f->first];

	if (!*place) {
		*place = &w->d->sums[w->d->nsums++];
		**place = (struct digest_sum){
			.form = f,
			.first_us = AMDLOG_UNKNOWN,
			.stream.stream = AMDLOG_UNKNOWN,
			.entry.ended = true,
		};
	}
	return *place;
}

// Value of eight digits, the first in the lowest byte, '0' taken off.
static inline uint64_t digits_value(uint64_t x)
{
	x = x * 10 + (x >> 8);
	return ((x & UINT64_C(0x000000ff000000ff)) * UINT64_C(0x000f424000000064) +
		(x >> 16 & UINT64_C(0x000000ff000000ff)) * UINT64_C(0x0000271000000001)) >>
	       32;
}

static inline bool all_digits(uint64_t x)
{
	return !(((x + UINT64_C(0x7676767676767676)) | x) & UINT64_C(0x8080808080808080));
}

// The time, of which the upper digits nearly always are those of the line before. AMDLOG_UNKNOWN
// when it is not all digits.
static inline uint64_t read_time(struct walk *w, const struct form *f, const char *p)
{
	const uint64_t zeros = UINT64_C(0x3030303030303030);
	uint64_t low = load64(p + f->time_end - 8) ^ zeros;
	uint64_t high = (load64(p + f->time_end - 16) ^ zeros) & f->high_mask;

	if (!all_digits(low))
		return AMDLOG_UNKNOWN;
	if (high != w->high) {
		if (!all_digits(high))
			return AMDLOG_UNKNOWN;
		w->high = high;
		w->high_us = digits_value(high) * 100000000;
	}
	return w->high_us + digits_value(low);
}

// Where the first blank or colon of 16 bytes is, a bit for each.
static inline uint32_t word_ends(const char *p)
{
#if defined(__SSE2__)
	const __m128i x = _mm_loadu_si128((const __m128i_u *)p);
	const __m128i blank = _mm_cmpeq_epi8(x, _mm_set1_epi8(' '));
	const __m128i colon = _mm_cmpeq_epi8(x, _mm_set1_epi8(':'));

	return (uint32_t)_mm_movemask_epi8(_mm_or_si128(blank, colon));
#else
	uint32_t bits = 0;

	for (unsigned i = 0; i < 16; i++)
		bits |= (uint32_t)(p[i] == ' ' || p[i] == ':') << i;
	return bits;
#endif
}

// Length of the word at `p` up to a blank or colon; WORD_MAX when there is none before. Most are
// shorter than 32.
#define WORD_MAX 64
static inline unsigned word_end(const char *p)
{
	uint32_t bits = word_ends(p) | word_ends(p + 16) << 16;

	if (__builtin_expect(bits != 0, 1))
		return (unsigned)__builtin_ctz(bits);
	bits = word_ends(p + 32) | word_ends(p + 48) << 16;
	return bits ? 32 + (unsigned)__builtin_ctz(bits) : WORD_MAX;
}

static inline uint64_t text64(const char text[8])
{
	return load64(text);
}

static inline bool is_success(const char *p)
{
	return load64(p) == text64(": Return") && load64(p + 8) == text64("ed hipSu") &&
	       load64(p + 13) == text64("pSuccess");
}

// An API entry is closed by its bracket, and by the end of its colour if it has one.
static inline bool is_closed(const char *end)
{
	if (load64(end - 8) >> 8 == text64(" ) \x1b[0m\0"))
		return true;
	return end[-2] == ' ' ? end[-1] == ')' : end[-1] == ' ' && end[-2] == ')' && end[-3] == ' ';
}

static inline bool makes_stream(const char *name)
{
	return load64(name) == text64("hipStrea") && name[8] == 'm' && name[9] == 'C';
}

// What is known of a line that fits a form.
struct line {
	const char *text, *end, *msg; // `end`: without a carriage return
	const char *newline;
	uint64_t us;
	unsigned level;
};

// What the filter of the summary says of a line that is counted.
static bool is_chosen(const struct walk *w, const struct line *l)
{
	const struct digest_choice *c = w->choice;

	return !w->unwanted && w->form->wanted && !c->none && l->us >= c->since_us &&
	       l->us <= c->until_us;
}

static inline void count(struct walk *w, const struct line *l, enum amdlog_kind kind)
{
	struct digest_sum *sum = w->sum;
	struct digest *d = w->d;

	d->lines++;
	if (w->choice && !is_chosen(w, l))
		return;
	d->kinds[kind][l->level]++;
	d->steps_back += l->us < w->last_us;
	d->first_us = d->first_us == AMDLOG_UNKNOWN ? l->us : d->first_us;
	w->last_us = l->us;
	sum->records++;
	sum->api_calls += kind == AMDLOG_API_ENTRY;
	sum->first_us = l->us < sum->first_us ? l->us : sum->first_us;
	sum->last_us = l->us > sum->last_us ? l->us : sum->last_us;
}

// Somebody takes records of the kind one by one, and this one is chosen.
static inline bool is_asked_for(const struct walk *w, const struct line *l, enum amdlog_kind kind)
{
	return w->g->kinds >> kind & 1 && (!w->choice || is_chosen(w, l));
}

static void fill_record(const struct walk *w, const struct line *l, struct amdlog_record *r)
{
	size_t len = (size_t)(l->end - l->msg);

	while (len && (l->msg[len - 1] == ' ' || l->msg[len - 1] == '\t'))
		len--;
	*r = (struct amdlog_record){
		.text = l->text,
		.len = (size_t)(l->end - l->text),
		.msg = l->msg,
		.msg_len = len,
		.time_us = l->us,
		.who = w->form->who,
		.level = (uint8_t)l->level,
		.style = w->form->style,
		.ended = true,
	};
}

// Hands what is known of a thread's stream to the item.
static void take_stream(struct digest_sum *sum, struct digest_item *item)
{
	item->r.who = sum->form->who;
	item->stream = sum->stream;
	if (sum->entry.msg) {
		item->stream.stream = amdlog_entry_stream(&sum->entry);
		sum->entry.msg = NULL;
	}
	sum->stream = (struct digest_stream){.stream = AMDLOG_UNKNOWN};
}

// Items for what is known of streams: what follows may be of any thread.
static void flush_streams(struct walk *w)
{
	struct digest_item *item;

	for (uint32_t i = 0; i < w->d->nsums; i++) {
		struct digest_sum *sum = &w->d->sums[i];

		if ((sum->stream.api || sum->stream.by_command) && (item = new_item(w))) {
			item->what = DIGEST_STREAM;
			take_stream(sum, item);
		}
	}
}

// A line that is to be read as the scanner reads it, and those behind it until nothing is open.
static void scan_line(struct walk *w, const char *p, const char *end)
{
	struct digest *d = w->d;
	struct digest_item *item = d->nitems ? &d->items[d->nitems - 1] : NULL;
	size_t len = (size_t)(end - p) + 1;
	bool open;

	if (!item || item->what != DIGEST_LINES || item->r.text + item->r.len != p) {
		flush_streams(w);
		item = new_item(w);
		if (!item)
			return;
		item->what = DIGEST_LINES;
		item->r.text = p;
	}
	item->r.len += len;
	amdlog_scan_lines(w->g->scratch, p, len);
	open = !amdlog_mend_idle(w->g->mend);
	d->torn |= w->odd || open;
	w->odd = open || (w->odd && w->g->unsure) ? ODD_OPEN : 0;
}

// A line that fits no form. Text without a record means nothing while no record is torn.
static void odd_line(struct walk *w, const char *p, const char *end)
{
	if (!is_record_line(p, (size_t)(end - p))) {
		w->d->lines++;
		w->d->foreign++;
	} else if (++w->raw > 64 + w->d->lines / 4) {
		w->d->slow = true;
	} else {
		scan_line(w, p, end);
	}
}

static void add_item(struct walk *w, const struct line *l, const struct amdlog_record *r)
{
	struct digest_item *item;
	const char *name;
	size_t len;

	if (amdlog_mend_wants(r)) {
		scan_line(w, l->text, l->newline);
		return;
	}
	item = new_item(w);
	if (!item)
		return;
	item->r = *r;
	item->r.unwanted = w->unwanted;
	if (r->kind == AMDLOG_KERNEL) {
		name = amdlog_kernel_name(r, &len);
		item->name_hash = intern_hash(name, len);
		return; // says nothing of a stream
	}
	take_stream(w->sum, item);
	if (r->kind >= AMDLOG_PACKET && r->kind <= AMDLOG_BARRIER_VALUE)
		amdlog_packet_parse(r, &item->packet);
}

// A record with blanks or an unusual colour in front of its message.
static void odd_record(struct walk *w, const struct line *l)
{
	struct amdlog_record r = {
		.text = l->text, .len = (size_t)(l->end - l->text), .ended = true};

	prefix_parse(w->g->scratch, &r);
	r.who = w->form->who;
	kind_parse(&w->g->scratch->kinds, &r);
	add_item(w, l, &r);
}

// A command that is bound for a stream says so at its end.
static void note_command(struct walk *w, const struct amdlog_record *r)
{
	uint64_t stream = amdlog_command_stream(r);

	if (stream == AMDLOG_UNKNOWN)
		return;
	w->sum->stream.by_command = true;
	w->sum->stream.stream = stream;
	w->sum->entry.msg = NULL;
}

// Messages that are no API lines, or odd ones.
static void other_line(struct walk *w, const struct line *l)
{
	struct amdlog_record r;

	fill_record(w, l, &r);
	kind_parse(&w->g->scratch->kinds, &r);
	if (AMDLOG_KINDS_PLACED >> r.kind & 1 || is_asked_for(w, l, r.kind) ||
	    r.kind == AMDLOG_API_ENTRY || r.kind == AMDLOG_API_RETURN) {
		add_item(w, l, &r);
		return;
	}
	if (r.kind == AMDLOG_COMMAND_ENQUEUED)
		note_command(w, &r);
	count(w, l, r.kind);
}

// An API line as nearly all are: an entry that is closed, or a return of hipSuccess. False: it is
// something else.
static inline bool api_line(struct walk *w, const struct line *l)
{
	const char *p = l->msg;
	unsigned n = word_end(p);
	enum amdlog_kind kind;

	if (n == WORD_MAX)
		return false;
	if (p[n] == ' ' && p[n + 1] == '(' && is_closed(l->end))
		kind = AMDLOG_API_ENTRY;
	else if (is_success(p + n))
		kind = AMDLOG_API_RETURN;
	else
		return false;
	if (makes_stream(p) || is_asked_for(w, l, kind))
		return false;
	count(w, l, kind);
	if (kind == AMDLOG_API_ENTRY) {
		if (!w->form->has_thread)
			return true;
		w->sum->entry.msg = p;
		w->sum->entry.msg_len = (size_t)(l->end - p) - (l->end[-1] == ' ');
		w->sum->entry.name_len = (uint16_t)n;
	} else {
		w->sum->entry.msg = NULL;
	}
	w->sum->stream = (struct digest_stream){.api = true, .stream = AMDLOG_UNKNOWN};
	return true;
}

static inline bool may_be_api(char first)
{
	return first == 'h' || first == '_' || first == 'i' || first == 'c';
}

static inline void form_line(struct walk *w, struct line *l)
{
	unsigned char first;

	l->msg = l->text + w->form->msg_at;
	first = (unsigned char)*l->msg;
	if (first == ' ') {
		odd_record(w, l);
		return;
	}
	if (first == 0x1b) {
		if ((load64(l->msg) ^ text64("\x1b[32m hi")) << 16 || !may_be_api(l->msg[6])) {
			odd_record(w, l);
			return;
		}
		l->msg += 6;
		first = (unsigned char)*l->msg;
	} else if (first >= 0x80 || first == '^' || first == '<' || first == 'E') {
		odd_record(w, l);
		return;
	}
	if (!may_be_api((char)first) || !api_line(w, l))
		other_line(w, l);
}

// Does the line begin as records do, and with the same bytes as others of its thread?
static inline bool find_form(struct walk *w, const char *p, const char *end)
{
	const struct form *f = w->form;

	if (end - p <= FORM_AT + 24 || p[0] != ':' || p[2] != ':' || !is_digit(p[1]) ||
	    !is_digit(p[FORM_AT + 1]))
		return false;
	if (!f || !form_fits(f, p)) {
		f = forms_find(w->g->forms, p);
		if (!f)
			return false;
		w->form = f;
		w->sum = sum_of(w, f);
	}
	return end - p > f->msg_at;
}

static inline void take_line(struct walk *w, const char *p, const char *newline)
{
	struct line l = {.text = p, .newline = newline};

	if (w->odd || newline - p > AMDLOG_TEXT_MAX) {
		scan_line(w, p, newline);
		return;
	}
	l.end = newline - (newline > p && newline[-1] == '\r');
	if (find_form(w, p, l.end)) {
		l.us = read_time(w, w->form, p);
		// In a file that is truncated at this moment it need not be a digit any more.
		l.level = (unsigned)(p[1] - '0') & 15;
		if (l.us != AMDLOG_UNKNOWN) {
			form_line(w, &l);
			return;
		}
	}
	odd_line(w, p, newline);
}

static void reset(struct digester *g, struct digest *d)
{
	memset(g->sum_of, 0, sizeof(g->sum_of));
	amdlog_scan_assume(g->scratch, g->forms->assumed);
	amdlog_mend_end(g->mend);
	g->unsure = false;
	d->slow = d->torn = false;
	d->lines = d->foreign = d->steps_back = 0;
	d->nitems = d->nsums = 0;
	d->first_us = AMDLOG_UNKNOWN;
	memset(d->kinds, 0, sizeof(d->kinds));
}

void digester_run(struct digester *g, struct digest *d, const struct digest_choice *choice,
		  const char *text, size_t len)
{
	struct walk w = {.g = g, .d = d, .choice = choice};
	bool by_text = choice && choice->hits;
	size_t line = 0;

	reset(g, d);
	if (by_text)
		w.hits = grep_hits_begin(choice->hits);
	for (size_t tile = 0; tile < len && !d->slow; tile += SCAN_TILE) {
		size_t size = len - tile < SCAN_TILE ? len - tile : SCAN_TILE;
		bool line_start = !tile || text[tile - 1] == '\n';
		size_t n = g->find_marks(text + tile, size, line_start, g->marks);

		for (size_t i = 0; i < n && !d->slow; i++) {
			size_t at = tile + g->marks[i];

			if (text[at] != '\n') {
				if (prefix_shape(text + at, len - at, true))
					w.odd |= ODD_GLUED;
				continue;
			}
			if (by_text)
				w.unwanted = !grep_cursor_has(&w.hits, (uint32_t)line);
			take_line(&w, text + line, text + at);
			line = at + 1;
		}
	}
	flush_streams(&w);
	d->last_us = w.last_us;
}
