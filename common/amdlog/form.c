// Prefixes that repeat (see form.h).
#include "common/amdlog/form.h"
#include "common/amdlog/scan_priv.h"

#define KEY_BYTES 10 // before the message: the low digits of the thread's number

static uint32_t slot_of(const char *p, size_t msg_at)
{
	return (uint32_t)(load64(p + msg_at - KEY_BYTES) * UINT64_C(0x9e3779b97f4a7c15) >> 52);
}
_Static_assert(FORM_SLOTS == 4096, "slot_of takes twelve bits");

static const struct form *find_bare(const struct forms *f, const char *p)
{
	uint32_t n = atomic_load_explicit(&f->nbare, memory_order_acquire);

	for (uint32_t i = 0; i < n; i++) {
		if (form_fits(&f->v[f->bare[i]], p))
			return &f->v[f->bare[i]];
	}
	return NULL;
}

const struct form *forms_find(const struct forms *f, const char *p)
{
	uint32_t nends = atomic_load_explicit(&f->nends, memory_order_acquire);

	for (uint32_t e = 0; e < nends; e++) {
		uint32_t at = slot_of(p, f->ends[e]), n;

		for (;; at++) {
			n = atomic_load_explicit(&f->slots[at & (FORM_SLOTS - 1)],
						 memory_order_acquire);
			if (!n)
				break;
			if (form_fits(&f->v[n - 1], p))
				return &f->v[n - 1];
		}
	}
	return find_bare(f, p);
}

// The column where the message's blanks begin is the same for the whole form, so a message that
// begins with more blanks or a colour is still of it.
static size_t prefix_end(const struct amdlog_record *r, size_t time_end)
{
	const char *p = r->text;
	size_t end = (size_t)(r->msg - p), at = time_end + (p[time_end] == 'd');

	if (memcmp(p + at, " us: ", 5) != 0)
		return 0;
	at += 5;
	if (p[at] == ' ')
		return at < end ? at + 1 : 0;
	if (p[at] == '[' && memcmp(p + at, "[pid:", 5) != 0)
		return 0;
	while (at < end && p[at] != ']')
		at++;
	return at + 2 <= end && p[at + 1] == ' ' ? at + 2 : 0;
}

static bool is_regular(const struct amdlog_record *r, size_t time_end)
{
	if (r->style < AMDLOG_STYLE_5_0 || r->level > 9 || r->time_us == AMDLOG_UNKNOWN)
		return false;
	return r->len > FORM_AT + FORM_BYTES && time_end >= FORM_AT + 7 + 8 &&
	       time_end <= FORM_AT + 7 + 16 && r->text[FORM_AT] == ':' &&
	       r->text[FORM_AT + 5] == ':' && r->text[FORM_AT + 6] == ' ';
}

static void form_init(struct form *f, const struct amdlog_record *r, size_t time_end, size_t end)
{
	const size_t time_at = FORM_AT + 7, digits = time_end - time_at;
	uint8_t text[FORM_BYTES], limit[FORM_BYTES] = {0}, in_time[16] = {0};

	memcpy(text, r->text + FORM_AT, sizeof(text));
	memset(limit + (end - FORM_AT), 0xff, FORM_AT + FORM_BYTES - end);
	// The number of the source's line: a digit, then digits and blanks (and some of what lies
	// between them, but no colon and no end of the line).
	text[1] = '0';
	limit[1] = 9;
	memset(text + 2, ' ', 3);
	memset(limit + 2, ' ' ^ '9', 3);
	memset(text + 7, '0', digits);
	memset(limit + 7, 9, digits);
	form_fill(f->text, text, FORM_BYTES);
	form_fill(f->limit, limit, FORM_BYTES);
	memset(in_time + 16 - digits, 0x0f, digits);
	memcpy(&f->time_mask, in_time, sizeof(in_time));
	// The digits of the upper eight bytes stand at their end.
	f->high_mask = digits > 8 ? ~UINT64_C(0) << (16 - digits) * 8 : 0;
	f->time_end = (uint8_t)time_end;
	f->msg_at = (uint8_t)end;
	f->style = r->style;
	f->who = r->who;
}

// The first form of the same thread, or `n`: this one. FORM_MAX when the thread has forms of
// another style.
static uint32_t first_of(const struct forms *f, uint32_t n, const struct amdlog_record *r)
{
	for (uint32_t i = 0; i < n; i++) {
		if (f->v[i].who == r->who)
			return f->v[i].style == r->style ? i : FORM_MAX;
	}
	return n;
}

static bool is_wanted(const struct forms *f, int64_t pid)
{
	size_t i = 0;

	while (i < f->npids && f->pids[i] != pid)
		i++;
	return !f->npids || i < f->npids;
}

static bool add_end(struct forms *f, size_t end)
{
	uint32_t n = atomic_load_explicit(&f->nends, memory_order_relaxed);

	for (uint32_t i = 0; i < n; i++) {
		if (f->ends[i] == end)
			return true;
	}
	if (n == FORM_ENDS)
		return false;
	f->ends[n] = (uint8_t)end;
	atomic_store_explicit(&f->nends, n + 1, memory_order_release);
	return true;
}

void forms_note(struct forms *f, const struct amdlog_record *r, int64_t pid, size_t time_end)
{
	uint32_t n = atomic_load_explicit(&f->n, memory_order_relaxed), at;
	uint32_t nbare = atomic_load_explicit(&f->nbare, memory_order_relaxed);
	uint32_t first;
	size_t end;

	if (n == FORM_MAX || !is_regular(r, time_end))
		return;
	end = prefix_end(r, time_end);
	if (!end || end > FORM_AT + FORM_BYTES || forms_find(f, r->text))
		return;
	first = first_of(f, n, r);
	if (first == FORM_MAX)
		return;
	form_init(&f->v[n], r, time_end, end);
	f->v[n].first = (uint16_t)first;
	f->v[n].wanted = is_wanted(f, pid);
	f->v[n].has_thread = r->text[end - 2] == ']';
	if (f->v[n].has_thread) {
		if (!add_end(f, end))
			return;
		at = slot_of(r->text, end);
		while (atomic_load_explicit(&f->slots[at & (FORM_SLOTS - 1)], memory_order_relaxed))
			at++;
		atomic_store_explicit(&f->n, n + 1, memory_order_relaxed);
		atomic_store_explicit(&f->slots[at & (FORM_SLOTS - 1)], (uint16_t)(n + 1),
				      memory_order_release);
	} else if (nbare < FORM_BARE) {
		f->bare[nbare] = (uint16_t)n;
		atomic_store_explicit(&f->n, n + 1, memory_order_relaxed);
		atomic_store_explicit(&f->nbare, nbare + 1, memory_order_release);
	}
}

void forms_reset(struct forms *f)
{
	atomic_store_explicit(&f->n, 0, memory_order_relaxed);
	atomic_store_explicit(&f->nbare, 0, memory_order_relaxed);
	atomic_store_explicit(&f->nends, 0, memory_order_relaxed);
	for (uint32_t i = 0; i < FORM_SLOTS; i++)
		atomic_store_explicit(&f->slots[i], 0, memory_order_relaxed);
}
