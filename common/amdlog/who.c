// The process part of a prefix: process and thread, interned.
//
// Facts: amd-log-facts.md section 2 (table of layouts), 2.2 (Windows: a blank within the tid), 13.
#include "common/amdlog/scan_priv.h"

#include <stdlib.h>

struct who_key {
	int64_t pid;
	uint64_t tid;
	uint64_t source;
};

// What the text says, before it is looked up.
struct process_part {
	size_t len, ahead; // of the part, and of what must follow it
	int64_t pid;
	uint64_t tid;
	enum amdlog_style style;
};

static uint32_t who_add(struct amdlog_scan *s, const struct amdlog_who *w)
{
	struct who_key key = {w->pid, w->tid, w->source};
	bool fresh;
	uint32_t n = intern_put(&s->who_keys, &key, sizeof(key), &fresh);

	if (n == INTERN_NONE)
		return 0;
	if (!fresh)
		return n;
	if (n >= s->who_cap) {
		uint32_t cap = s->who_cap ? s->who_cap * 2 : 16;
		struct amdlog_who *who = realloc(s->who, cap * sizeof(*who));

		if (!who)
			return 0;
		s->who = who;
		s->who_cap = cap;
	}
	s->who[n] = *w;
	s->nwho = n + 1;
	return n;
}

bool who_init(struct amdlog_scan *s)
{
	// Number 0 takes all that find no place.
	const struct amdlog_who rest = {-1, AMDLOG_UNKNOWN, UINT32_MAX, 0};

	s->who_keys.max_entries = s->tid_keys.max_entries = AMDLOG_WHO_MAX;
	who_add(s, &rest);
	return s->nwho == 1;
}

void who_fini(struct amdlog_scan *s)
{
	intern_fini(&s->who_keys);
	intern_fini(&s->tid_keys);
	free(s->who);
}

static uint32_t who_lookup(struct amdlog_scan *s, const struct process_part *part)
{
	int64_t pid = part->pid < 0 ? s->assumed : part->pid;
	struct amdlog_who w = {pid, part->tid, pid < 0 ? s->source : 0, 0};
	uint64_t key[2] = {part->tid, s->source};
	uint32_t known, before = s->nwho, n;

	if (w.pid < 0 && w.tid != AMDLOG_UNKNOWN) {
		known = intern_value(&s->tid_keys, key, sizeof(key));
		if (known != INTERN_NONE)
			return known;
	}
	n = who_add(s, &w);
	if (s->nwho != before && part->style == AMDLOG_STYLE_3_7 && w.pid >= 0) {
		// Releases up to 4.5 print some lines with the tid alone.
		intern_set(&s->tid_keys, key, sizeof(key), n);
		memset(s->slots, 0, sizeof(s->slots)); // a bare tid now means something else
	}
	return n;
}

static size_t read_hex(const char *p, size_t at, size_t len, uint64_t *v)
{
	size_t from = at;
	int digit;

	for (*v = 0; at < len && (digit = hex_digit(p[at])) >= 0; at++)
		*v = *v << 4 | (uint64_t)digit;
	return at == from || at - from > 16 ? 0 : at;
}

static size_t read_pid(const char *p, size_t at, size_t len, int64_t *v)
{
	size_t from = at;

	for (*v = 0; at < len && at - from < 11 && is_digit(p[at]); at++)
		*v = *v * 10 + (p[at] - '0');
	return at == from || at - from > 10 ? 0 : at;
}

static size_t skip_word(const char *p, size_t at, size_t len, const char *word)
{
	size_t n = strlen(word);

	return at && len - at >= n && !memcmp(p + at, word, n) ? at + n : 0;
}

static size_t skip_blanks(const char *p, size_t at, size_t len)
{
	while (at && at < len && p[at] == ' ')
		at++;
	return at;
}

// "tid:0x14b2015e9700] ", "tid: 7f316f4006c0] ", "tid: 0x 6840] " from behind "tid:" on. 0 when it
// is not that.
static size_t read_tid(const char *p, size_t at, size_t len, uint64_t *tid)
{
	size_t hex = skip_blanks(p, at, len), past = skip_word(p, hex, len, "0x");

	at = read_hex(p, skip_blanks(p, past ? past : hex, len), len, tid);
	at = at ? skip_word(p, at, len, "]") : 0;
	return at && at < len && p[at] == ' ' ? at + 1 : at;
}

// 5.7 and later: "[pid:461   tid:0x7f1072d6c8c0] ".
static bool read_new(const char *p, size_t len, struct process_part *part)
{
	size_t at = skip_blanks(p, 5, len), tid;

	at = skip_blanks(p, read_pid(p, at, len, &part->pid), len);
	tid = skip_word(p, at, len, "tid:");
	at = tid ? read_tid(p, tid, len, &part->tid) : 0;
	if (!at)
		return false;
	part->len = at;
	part->style = p[tid] == ' ' ? AMDLOG_STYLE_6_4 : AMDLOG_STYLE_5_7;
	return true;
}

// Up to 5.6: "8088 : [tid:0x14b2015e9700] ", "182280: [7f634262e880] ".
static bool read_old(const char *p, size_t len, struct process_part *part)
{
	size_t at = skip_blanks(p, read_pid(p, 0, len, &part->pid), len), tid;

	at = skip_word(p, at, len, ": [");
	tid = skip_word(p, at, len, "tid:");
	at = at ? read_tid(p, tid ? tid : at, len, &part->tid) : 0;
	if (!at)
		return false;
	part->len = at;
	part->style = tid ? AMDLOG_STYLE_5_0 : AMDLOG_STYLE_3_7;
	return true;
}

// Packets and kernel names of 3.10 to 4.5: "[7f634262e880] HWq=...", "[7f634262e880]!\tShaderName".
static bool read_bare(const char *p, size_t len, struct process_part *part)
{
	size_t at = read_hex(p, 1, len, &part->tid);

	at = at ? skip_word(p, at, len, "]") : 0;
	if (!at)
		return false;
	if (skip_word(p, at, len, "!\t")) {
		part->len = at + 2;
	} else if (skip_word(p, at, len, " HWq=")) {
		part->len = at + 1;
		part->ahead = strlen("HWq=");
	} else {
		return false;
	}
	part->pid = -1;
	part->style = AMDLOG_STYLE_3_7;
	return true;
}

static bool read_part(const char *p, size_t len, struct process_part *part)
{
	if (len > 5 && !memcmp(p, "[pid:", 5))
		return read_new(p, len, part);
	if (len && p[0] == '[')
		return read_bare(p, len, part);
	return len && is_digit(p[0]) && read_old(p, len, part);
}

static struct who_slot *slot_for(struct amdlog_scan *s, const char *p, size_t len)
{
	uint64_t h = load64(p + 3);

	if (len > 10)
		h ^= load64(p + len - 10) * 3; // the tid's low digits
	return &s->slots[h * UINT64_C(0x9e3779b97f4a7c15) >> 58];
}
_Static_assert(WHO_SLOTS == 64, "slot_for takes six bits");

// Compares eight bytes at a time, the last ones twice; all process parts are longer than that.
static inline bool slot_fits(const struct who_slot *slot, const char *p, size_t len)
{
	size_t n = slot->len;

	if (!n || n > len)
		return false;
	for (size_t at = 0; at + 8 < n; at += 8) {
		if (load64(slot->text + at) != load64(p + at))
			return false;
	}
	return load64(slot->text + n - 8) == load64(p + n - 8);
}

static void remember(struct amdlog_scan *s, const char *p, const struct process_part *part,
		     uint32_t who)
{
	size_t len = part->len + part->ahead;
	struct who_slot *slot;

	if (len > WHO_TEXT || len < 8)
		return;
	slot = slot_for(s, p, len);
	slot->len = (uint8_t)len;
	slot->ahead = (uint8_t)part->ahead;
	memcpy(slot->text, p, len);
	slot->style = part->style;
	slot->who = who;
	s->last = slot;
}

static size_t use_slot(struct amdlog_scan *s, const struct who_slot *slot, struct amdlog_record *r)
{
	r->who = slot->who;
	if (r->style != AMDLOG_STYLE_3_5)
		r->style = slot->style;
	s->last = slot;
	return slot->len - slot->ahead;
}

size_t who_parse(struct amdlog_scan *s, const char *p, size_t len, struct amdlog_record *r)
{
	struct process_part part = {.pid = -1, .tid = AMDLOG_UNKNOWN};

	if (s->last && len) {
		const struct who_slot *slot = s->last;

		if (slot_fits(slot, p, len))
			return use_slot(s, slot, r);
		slot = slot_for(s, p, slot->len);
		if (slot_fits(slot, p, len))
			return use_slot(s, slot, r);
	}
	if (read_part(p, len, &part)) {
		if (r->style != AMDLOG_STYLE_3_5)
			r->style = part.style;
		r->who = who_lookup(s, &part);
		remember(s, p, &part, r->who);
		return part.len;
	}
	if (len && p[0] == ' ' && r->style == AMDLOG_STYLE_3_7)
		r->style = AMDLOG_STYLE_6_4_LOW;
	part = (struct process_part){.pid = -1, .tid = AMDLOG_UNKNOWN};
	r->who = who_lookup(s, &part);
	return 0;
}
