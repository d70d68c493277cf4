// The prefixes an input repeats: nearly every record of a thread begins with the same bytes, but
// for level, file, line and time. A form is what must be equal; a record that fits one needs no
// parsing of its prefix.
//
// One thread adds forms, in the order of the records; any thread may look them up meanwhile. What
// is not in the table yet is parsed in full, so that who adds when makes no difference to the
// result.
//
// Facts: amd-log-facts.md section 2: the columns are fixed up to the time, then the process part of
// releases from 5.0 on. Older ones and odd ones get no form.
#ifndef GPQ_AMDLOG_FORM_H
#define GPQ_AMDLOG_FORM_H

#include "common/amdlog/record.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/types.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#define FORM_AT    28 // column of the colon behind the file's name
#define FORM_BYTES 64 // that are compared from there on
#define FORM_MAX   1024
#define FORM_SLOTS 4096
#define FORM_BARE  8 // without a process
#define FORM_ENDS  8 // columns a message begins in

typedef uint8_t form_vec __attribute__((vector_size(16)));
typedef uint64_t form_words __attribute__((vector_size(16)));

struct form {
	// A byte fits when it differs from the text in no more than the limit: 0 for the byte
	// itself, 9 for any digit where the text is '0', 0xff for any byte.
	_Alignas(64) form_vec text[FORM_BYTES / 16];
	form_vec limit[FORM_BYTES / 16];
	form_vec time_mask; // of the sixteen bytes in front of the time's end: 0x0f for digits
	uint64_t high_mask; // of the eight bytes in front of the time's last eight digits
	uint8_t time_end, msg_at; // columns behind the time, and of the message
	bool has_thread;
	bool wanted; // its process is one of those asked for
	enum amdlog_style style : 8;
	uint16_t first; // index of the first form of the same thread
	uint32_t who;
};

struct forms {
	int64_t assumed; // process of records that name none; -1
	_Atomic uint32_t n;
	_Atomic uint32_t nbare, nends;
	uint16_t bare[FORM_BARE];
	uint8_t ends[FORM_ENDS];
	const pid_t *pids;                  // those asked for, not owned
	size_t npids;                       // 0: all
	_Atomic uint16_t slots[FORM_SLOTS]; // index + 1, 0 is free
	struct form v[FORM_MAX];
};

// Notes the prefix of `r`, a record of process `pid` whose time lies in columns
// [FORM_AT + 7, time_end), unless it is known or none that repeats.
void forms_note(struct forms *f, const struct amdlog_record *r, int64_t pid, size_t time_end);

// Another input: process numbers mean something else. No thread may be looking.
void forms_reset(struct forms *f);

// The form of the record at `p`, of which FORM_AT + FORM_BYTES bytes may be read, or NULL.
const struct form *forms_find(const struct forms *f, const char *p);

// Fills vectors from bytes.
static inline void form_fill(form_vec *to, const void *from, size_t bytes)
{
	memcpy(to, from, bytes);
}

// Bytes by which `x` is more than `limit`, else 0.
static inline form_vec form_over(form_vec x, form_vec limit)
{
#if defined(__SSE2__)
	return (form_vec)_mm_subs_epu8((__m128i)x, (__m128i)limit);
#elif defined(__aarch64__)
	return (form_vec)vqsubq_u8((uint8x16_t)x, (uint8x16_t)limit);
#else
	return (form_vec)(x > limit);
#endif
}

static inline bool form_is_zero(form_vec x)
{
	return !(((form_words)x)[0] | ((form_words)x)[1]);
}

static inline form_vec form_load(const char *p)
{
	form_vec v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static inline form_vec form_differs(const struct form *f, const char *p, unsigned part)
{
	return form_over(form_load(p + FORM_AT + part * 16) ^ f->text[part], f->limit[part]);
}

// Do the bytes at `p` fit? Callers see to the record's length.
static inline bool form_fits(const struct form *f, const char *p)
{
	return form_is_zero(form_differs(f, p, 0) | form_differs(f, p, 1) | form_differs(f, p, 2) |
			    form_differs(f, p, 3));
}

#endif
