// Taking blocks of lines apart (see digest.h): what becomes of lines that are not counted at once.
// The loop over the lines is in digest_loop.c.
//
// Facts: amd-log-facts.md sections 2 (prefix), 2.1 (colours), 5 to 9 (messages).
#include "common/amdlog/digest_priv.h"

#include <stdlib.h>

#define ITEMS_MAX 16384 // of a block; more: it is slow
#define NEWLINES                                                               \
	{                                                                      \
		10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10 \
	}

// Fits nothing but 64 newlines; take_line() sees that no message begins behind the line's end.
static const struct form no_form = {
	.text = {NEWLINES, NEWLINES, NEWLINES, NEWLINES},
	.time_end = FORM_AT,
	.msg_at = FORM_AT + FORM_BYTES - 1,
};

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

	g->unsure |= g->scratch->who[r->who].pid < 0 && r->who &&
		     g->scratch->who[r->who].tid != AMDLOG_UNKNOWN;
}

static const struct {
	const char *name;
	digest_loop_fn *loop;
} loops[] = {
	{"any", digest_loop},
#if defined(__x86_64__)
	{"avx2", digest_loop_avx2},
#endif
};

static unsigned loops_usable(void)
{
#if defined(__x86_64__)
	__builtin_cpu_init();
	if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("bmi2"))
		return 1;
	return 2;
#else
	return 1;
#endif
}

bool digester_use(struct digester *g, unsigned n, const char **name)
{
	if (n >= loops_usable())
		return false;
	g->loop = loops[n].loop;
	if (name)
		*name = loops[n].name;
	return true;
}

static void leads_init(uint8_t leads[256])
{
	memset(leads, LEAD_OTHER, 128);
	memset(leads + 128, LEAD_ODD, 128);
	for (const char *p = " \x1b<^E"; *p; p++)
		leads[(unsigned char)*p] = LEAD_ODD;
	for (const char *p = "h_ic"; *p; p++)
		leads[(unsigned char)*p] = LEAD_API;
}

struct digester *digester_new(const struct forms *forms, uint32_t kinds)
{
	struct digester *g = aligned_alloc(64, sizeof(*g));
	const struct amdlog_sink own = {.ctx = g, .record = look};
	struct amdlog_sink sink;

	if (!g)
		return NULL;
	memset(g, 0, sizeof(*g));
	g->forms = forms;
	g->kinds = kinds;
	digester_use(g, loops_usable() - 1, NULL);
	leads_init(g->leads);
	g->mend = amdlog_mend_new(&own);
	if (g->mend) {
		sink = amdlog_mend_sink(g->mend);
		g->scratch = amdlog_scan_new(&sink);
	}
	if (!g->scratch) {
		digester_free(g);
		return NULL;
	}
	g->index = &g->scratch->kinds;
	g->counted = ~(kinds | AMDLOG_KINDS_PLACED | AMDLOG_KIND(API_ENTRY) |
		       AMDLOG_KIND(API_RETURN) | AMDLOG_KIND(COMMAND_ENQUEUED));
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

struct digest_item *digest_next_item(struct walk *w)
{
	struct digest *d = w->d;

	if (!d->items || d->nitems == d->item_cap) {
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
	return &d->items[d->nitems];
}

// A new item, of which only times and what it is are set; NULL when there are too many.
static struct digest_item *new_item(struct walk *w, enum digest_what what)
{
	struct digest_item *item = digest_next_item(w);

	if (!item)
		return NULL;
	w->d->nitems++;
	item->what = what;
	item->first_us = w->d->first_us;
	item->last_us = w->last_us;
	w->d->first_us = AMDLOG_UNKNOWN;
	w->last_us = 0;
	w->near_us = NO_TIME;
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
		};
	}
	return *place;
}

// The stream that an API line names for what follows it: an entry, as its call is over with a
// return.
static uint64_t api_stream(const struct digest_sum *sum)
{
	const char *msg = sum->api.msg + (*sum->api.msg == 0x1b ? COLOUR_LEN : 0);
	const char *end = text_end(sum->api.newline);
	struct amdlog_record entry = {
		.msg = msg,
		.msg_len = (size_t)(end - msg) - (end[-1] == ' '),
		.name_len = (uint16_t)word_end(msg),
		.ended = true,
	};

	return is_entry(msg + entry.name_len) ? amdlog_entry_stream(&entry) : AMDLOG_UNKNOWN;
}

// Hands what is known of a thread's stream to the item. What its API line says is read when it
// matters: nearly always another follows before.
static void take_stream(struct digest_sum *sum, struct digest_item *item)
{
	bool by_command = sum->command > sum->api.msg;

	item->r.who = sum->form->who;
	item->stream.api = sum->api.msg;
	item->stream.by_command = by_command;
	item->stream.stream = by_command     ? sum->command_stream
			      : sum->api.msg ? api_stream(sum)
					     : AMDLOG_UNKNOWN;
	sum->api.msg = sum->command = NULL;
}

// Items for what is known of streams: what follows may be of any thread.
static void flush_streams(struct walk *w)
{
	struct digest_item *item;

	for (uint32_t i = 0; i < w->d->nsums; i++) {
		struct digest_sum *sum = &w->d->sums[i];

		if ((sum->api.msg || sum->command) && (item = new_item(w, DIGEST_STREAM)))
			take_stream(sum, item);
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
		item = new_item(w, DIGEST_LINES);
		if (!item)
			return;
		item->r.text = p;
		item->r.len = 0;
	}
	item->r.len += len;
	amdlog_scan_lines(w->g->scratch, p, len);
	open = !amdlog_mend_idle(w->g->mend);
	d->torn |= w->odd || open;
	w->odd = open || (w->odd && w->g->unsure) ? ODD_OPEN : 0;
	if (w->odd)
		w->form = &no_form;
}

// Text without a record means nothing while no record is torn.
static void text_line(struct walk *w, const char *p, const char *end)
{
	if (!is_record_line(p, (size_t)(end - p))) {
		w->d->lines++;
		w->d->foreign++;
	} else if (++w->raw > 64 + digest_lines(w->d) / 4) {
		w->d->slow = true;
	} else {
		scan_line(w, p, end);
	}
}

void digest_odd_line(struct walk *w, const char *text, const char *newline)
{
	if (w->odd || newline - text > AMDLOG_TEXT_MAX)
		scan_line(w, text, newline);
	else
		text_line(w, text, newline);
}

bool digest_glued(struct walk *w, const char *line, const char *newline)
{
	const char *p = line + 1;

	while (p < newline && !(is_mark(p) && prefix_shape(p, (size_t)(w->end - p), true)))
		p++;
	if (p == newline)
		return false;
	w->odd |= ODD_GLUED;
	w->form = &no_form;
	return true;
}

void digest_time_steps(struct walk *w, uint64_t us)
{
	struct digest *d = w->d;

	d->steps_back += us < w->last_us;
	if (d->first_us == AMDLOG_UNKNOWN)
		d->first_us = us;
	if (us < w->sum->first_us)
		w->sum->first_us = us;
}

// As there are records since the last item, and of this thread before: a time that does not come
// before the last one nor the thread's first is nothing to look at.
static uint64_t near_time(const struct walk *w)
{
	uint64_t first = w->sum->first_us;

	if (w->d->first_us == AMDLOG_UNKNOWN || first == AMDLOG_UNKNOWN)
		return NO_TIME;
	return first > w->last_us ? first : w->last_us;
}

const struct form *digest_other_form(struct walk *w, const char *text)
{
	const struct form *f =
		w->odd || text[0] != ':' || text[2] != ':' ? NULL : forms_find(w->g->forms, text);

	if (f) {
		w->form = f;
		w->sum = sum_of(w, f);
		w->near_us = near_time(w);
	}
	return f;
}

// A record whose message ends without blanks, at the line's end. Written where it is to be: copying
// what was just written in parts waits for all of them.
static inline void set_record(struct amdlog_record *r, const struct walk *w, enum amdlog_kind kind,
			      uint64_t us, const char *text, const char *newline)
{
	const struct form *f = w->form;

	r->text = text;
	r->len = (size_t)(newline - text);
	r->msg = text + f->msg_at;
	r->msg_len = (size_t)(newline - r->msg);
	r->offset = 0;
	r->time_us = us;
	r->who = f->who;
	r->level = (uint8_t)(text[1] - '0') & 15;
	r->style = f->style;
	r->kind = kind;
	r->ended = true;
	r->unwanted = w->unwanted;
	r->name_len = 0;
}

void digest_packet(struct walk *w, enum amdlog_kind kind, uint64_t us, const char *text,
		   const char *newline)
{
	struct digest_item *item = &w->d->items[w->d->nitems];

	set_record(&item->r, w, kind, us, text, text_end(newline));
	if (!item->packet.ends && amdlog_mend_wants(&item->r)) {
		scan_line(w, text, newline);
		return;
	}
	item = new_item(w, DIGEST_RECORD);
	take_stream(w->sum, item);
}

static void set_kernel(struct digest_item *item)
{
	item->name = amdlog_kernel_name(&item->r, &item->name_len);
	item->name_hash = intern_hash(item->name, item->name_len);
	item->stream = (struct digest_stream){0}; // says nothing of one
}

void digest_kernel(struct walk *w, uint64_t us, const char *text, const char *newline)
{
	struct digest_item *item = new_item(w, DIGEST_RECORD);

	if (!item)
		return;
	set_record(&item->r, w, AMDLOG_KERNEL, us, text, newline);
	set_kernel(item);
}

static void add_item(struct walk *w, const struct amdlog_record *r, const char *newline)
{
	bool is_packet = r->kind >= AMDLOG_PACKET && r->kind <= AMDLOG_BARRIER_VALUE;
	struct amdlog_packet packet;
	struct digest_item *item;

	if (is_packet)
		amdlog_packet_parse(r, &packet);
	if (!(is_packet && packet.ends) && amdlog_mend_wants(r)) {
		scan_line(w, r->text, newline);
		return;
	}
	item = new_item(w, DIGEST_RECORD);
	if (!item)
		return;
	if (is_packet)
		item->packet = packet;
	item->r = *r;
	item->r.unwanted = w->unwanted;
	if (r->kind == AMDLOG_KERNEL)
		set_kernel(item);
	else
		take_stream(w->sum, item);
}

void digest_odd_record(struct walk *w, const char *text, const char *newline)
{
	struct amdlog_record r = {
		.text = text, .len = (size_t)(text_end(newline) - text), .ended = true};

	prefix_parse(w->g->scratch, &r);
	r.who = w->form->who;
	kind_parse(w->g->index, &r);
	add_item(w, &r, newline);
}

// A command that is bound for a stream says so at its end.
static void note_command(struct walk *w, const struct amdlog_record *r)
{
	uint64_t stream = amdlog_command_stream(r);

	if (stream == AMDLOG_UNKNOWN)
		return;
	w->sum->command = r->msg;
	w->sum->command_stream = stream;
}

void digest_other_line(struct walk *w, const char *text, const char *newline, const char *msg,
		       uint64_t us, const struct kind_pattern *m)
{
	const char *end = text_end(newline);
	struct amdlog_record r = {
		.text = text,
		.len = (size_t)(end - text),
		.msg = msg,
		.time_us = us,
		.who = w->form->who,
		.level = (uint8_t)(text[1] - '0') & 15,
		.style = w->form->style,
		.ended = true,
	};

	while (end > msg && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	r.msg_len = (size_t)(end - msg);
	if (m)
		r.kind = kind_of(m, msg, r.msg_len);
	else
		kind_parse(w->g->index, &r);
	if (AMDLOG_KINDS_PLACED >> r.kind & 1 || is_asked_for(w, us, r.kind) ||
	    r.kind == AMDLOG_API_ENTRY || r.kind == AMDLOG_API_RETURN) {
		add_item(w, &r, newline);
		return;
	}
	if (r.kind == AMDLOG_COMMAND_ENQUEUED)
		note_command(w, &r);
	if (w->choice && !is_chosen(w, us))
		w->d->lines++;
	else
		digest_count(w, us, digest_counter(r.kind, r.level), r.kind == AMDLOG_API_ENTRY);
}

static void reset(struct digester *g, struct digest *d)
{
	amdlog_scan_assume(g->scratch, g->forms->assumed);
	amdlog_mend_end(g->mend);
	g->unsure = false;
	d->slow = d->torn = false;
	d->lines = d->foreign = d->steps_back = 0;
	d->nitems = d->nsums = 0;
	d->first_us = AMDLOG_UNKNOWN;
	memset(d->counts, 0, sizeof(d->counts));
}

void digester_run(struct digester *g, struct digest *d, const struct digest_choice *choice,
		  const char *text, size_t len)
{
	struct walk w = {.g = g,
			 .d = d,
			 .choice = choice,
			 .form = &no_form,
			 .end = text + len,
			 .near_us = NO_TIME};

	reset(g, d);
	if (choice && choice->hits)
		w.hits = grep_hits_begin(choice->hits);
	g->loop(&w, text, len);
	flush_streams(&w);
	d->last_us = w.last_us;
	for (uint32_t i = 0; i < d->nsums; i++)
		g->sum_of[d->sums[i].form->first] = NULL;
}
