// What the loop over lines (digest_loop.c) and the rest of the digester (digest.c) share.
#ifndef GPQ_AMDLOG_DIGEST_PRIV_H
#define GPQ_AMDLOG_DIGEST_PRIV_H

#include "common/amdlog/digest.h"
#include "common/amdlog/mend.h"
#include "common/amdlog/number.h"
#include "common/amdlog/scan_priv.h"

// What a line is by the first byte of its message.
enum lead {
	LEAD_OTHER,
	LEAD_API,
	LEAD_ODD, // blanks, or a colour that is not as the runtime writes it
};

struct walk;
typedef void digest_loop_fn(struct walk *w, const char *text, size_t len);

struct digester {
	const struct forms *forms;
	const struct kind_index *index;
	digest_loop_fn *loop;
	// Odd lines go through them to see how far what is odd reaches; what they make is not used.
	struct amdlog_scan *scratch;
	struct amdlog_mend *mend;
	struct digest_sum *sum_of[FORM_MAX]; // by first form; NULL: none in this block
	uint32_t kinds;                      // that somebody takes one by one
	uint32_t counted;                    // that are counted and no more
	bool unsure;        // a process may be known to others that is not known here
	uint8_t leads[256]; // enum lead
};

// A record begins within the line.
#define ODD_GLUED 1u
// Lines before it are not done with: a torn record may be mended yet.
#define ODD_OPEN 2u

// Where the loop is.
struct walk {
	struct digester *g;
	struct digest *d;
	const struct digest_choice *choice; // NULL: all
	const struct form *form;            // of the line before; one that fits none while `odd`
	struct digest_sum *sum;
	uint64_t last_us;       // since the last item; 0: none
	uint64_t near_us;       // the same or later, NO_TIME when nothing is known yet
	uint64_t high, high_us; // upper digits of a time, as text and as a number
	const char *end;        // of the block
	uint32_t raw;
	unsigned odd;  // of this line, bits
	bool unwanted; // this line, by its text
	struct grep_cursor hits;
};

// The loop for any processor, and for x86-64 with AVX2 and BMI2.
digest_loop_fn digest_loop, digest_loop_avx2;

// The rest of the work on a line, rarer than the loop's own. It begins within `text`, and ends at
// `newline`.
//
// One that is no record of a known form, or behind one that is torn.
void digest_odd_line(struct walk *w, const char *text, const char *newline);
// The form of a record that is not of the thread of the one before; NULL: to be taken as odd.
const struct form *digest_other_form(struct walk *w, const char *text);
// A record with blanks or an unusual colour in front of its message.
void digest_odd_record(struct walk *w, const char *text, const char *newline);
// A record that is not an API line as nearly all are. `m`: the pattern of its message, when it is
// known.
void digest_other_line(struct walk *w, const char *text, const char *newline, const char *msg,
		       uint64_t us, const struct kind_pattern *m);
// Where the next item is going to be, if there will be one; NULL: there are too many.
struct digest_item *digest_next_item(struct walk *w);
// A packet, whose fields stand in the next item already.
void digest_packet(struct walk *w, enum amdlog_kind kind, uint64_t us, const char *text,
		   const char *newline);
// A kernel's name, which the line ends with.
void digest_kernel(struct walk *w, uint64_t us, const char *text, const char *newline);
// Does another record begin within the line?
bool digest_glued(struct walk *w, const char *line, const char *newline);
// A time that does not follow `near_us` closely.
void digest_time_steps(struct walk *w, uint64_t us);

// What the filter of the summary says of a line that is counted.
static inline bool is_chosen(const struct walk *w, uint64_t us)
{
	const struct digest_choice *c = w->choice;

	return !w->unwanted && w->form->wanted && !c->none && us >= c->since_us &&
	       us <= c->until_us;
}

// Somebody takes records of the kind one by one, and this one is chosen.
static inline bool is_asked_for(const struct walk *w, uint64_t us, enum amdlog_kind kind)
{
	return w->g->kinds >> kind & 1 && (!w->choice || is_chosen(w, us));
}

// A time that is not looked at closer follows `near_us`, not this much later.
#define TIME_SPAN (UINT64_C(1) << 40)
#define NO_TIME   (UINT64_C(1) << 63) // before which there is none

static inline void digest_count(struct walk *w, uint64_t us, uint16_t counter, bool entry)
{
	struct digest_sum *sum = w->sum;
	struct digest *d = w->d;

	d->counts[counter]++;
	sum->counted += 1 | (uint64_t)entry << 32;
	if (__builtin_expect(us - w->near_us >= TIME_SPAN, 0))
		digest_time_steps(w, us);
	w->last_us = w->near_us = us;
	if (us > sum->last_us)
		sum->last_us = us;
}

#define COLOUR_LEN 6 // of "\x1b[32m " in front of an API entry

// Without a carriage return.
static inline const char *text_end(const char *newline)
{
	return newline - (newline[-1] == '\r');
}

static inline uint64_t text64(const char text[8])
{
	return load64(text);
}

// Where the first blank or colon of 32 bytes is, a bit for each.
#if defined(__AVX2__)
static inline uint32_t word_ends(const char *p)
{
	const __m256i x = _mm256_loadu_si256((const __m256i_u *)p);
	const __m256i blank = _mm256_cmpeq_epi8(x, _mm256_set1_epi8(' '));
	const __m256i colon = _mm256_cmpeq_epi8(x, _mm256_set1_epi8(':'));

	return (uint32_t)_mm256_movemask_epi8(_mm256_or_si256(blank, colon));
}
#elif defined(__SSE2__)
static inline uint32_t word_ends_16(const char *p)
{
	const __m128i x = _mm_loadu_si128((const __m128i_u *)p);
	const __m128i blank = _mm_cmpeq_epi8(x, _mm_set1_epi8(' '));
	const __m128i colon = _mm_cmpeq_epi8(x, _mm_set1_epi8(':'));

	return (uint32_t)_mm_movemask_epi8(_mm_or_si128(blank, colon));
}

static inline uint32_t word_ends(const char *p)
{
	return word_ends_16(p) | word_ends_16(p + 16) << 16;
}
#else
static inline uint32_t word_ends(const char *p)
{
	uint32_t bits = 0;

	for (unsigned i = 0; i < 32; i++)
		bits |= (uint32_t)(p[i] == ' ' || p[i] == ':') << i;
	return bits;
}
#endif

// Length of the word at `p` up to a blank or colon; WORD_MAX when there is none before. Most are
// shorter than 32.
#define WORD_MAX 64
static inline unsigned word_end(const char *p)
{
	uint32_t bits = word_ends(p);

	if (__builtin_expect(bits != 0, 1))
		return (unsigned)__builtin_ctz(bits);
	bits = word_ends(p + 32);
	return bits ? 32 + (unsigned)__builtin_ctz(bits) : WORD_MAX;
}

static inline bool is_entry(const char *behind_word)
{
	uint16_t two;

	memcpy(&two, behind_word, sizeof(two));
	return two == (' ' | '(' << 8);
}

#endif
