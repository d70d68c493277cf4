// Lines as they repeat: nine of ten lines of a log begin, but for what a form says (form.h), with
// bytes that another line began with, of the same API function or the same kind. A shape is what
// must be equal for a line to be such a line again; it needs no look at its message of its own.
//
// A shape is learned from a line that was looked at, and serves the digester that learned it.
//
// Facts: amd-log-facts.md sections 2 (prefix), 2.1 (colours), 6 (API lines), 10 (others).
#ifndef GPQ_AMDLOG_SHAPE_H
#define GPQ_AMDLOG_SHAPE_H

#include "common/amdlog/scan_priv.h"

#define SHAPE_HEAD  32 // of a line: level, file, three digits of the line's number
#define SHAPE_BYTES 64 // of its message
#define SHAPE_SLOTS 512

struct shape {
	_Alignas(64) form_vec text[SHAPE_BYTES / 16];
	form_vec mask[SHAPE_BYTES / 16]; // 0 in the mask: any byte
	form_vec head[SHAPE_HEAD / 16];
	uint64_t bits;            // the same as `mask`, a bit a byte
	uint64_t tail, tail_mask; // of the line's last eight bytes
	uint64_t counts;          // what it adds to digest_sum.counted
	uint16_t counter;         // which of digest.counts
	uint8_t len;              // of the message's text, 0: the slot is free
	bool api;                 // it is the last API line of its thread (digest_sum.api)
};

struct shape_slots {
	struct shape v[SHAPE_SLOTS];
	uint64_t letters[256]; // by a message's first byte: which of its bytes 3 to 10 tell it
};

// API lines of one line of the source may be of several functions.
static inline void shape_slots_init(struct shape_slots *slots)
{
	for (const char *p = "h_ic\x1b"; *p; p++)
		slots->letters[(unsigned char)*p] = ~UINT64_C(0);
}

// Where the shape is, if it is, of a line whose message is at `msg`. The number of the source's
// line tells nearly all functions, letters of the function's name those of one number.
static inline struct shape *shape_slot(struct shape_slots *slots, const char *line, const char *msg)
{
	uint64_t key = load64(msg + 3) & slots->letters[(unsigned char)*msg];

	key ^= load64(line + FORM_AT - 1);
	return &slots->v[key * UINT64_C(0x9e3779b97f4a7c15) >> 55];
}
_Static_assert(SHAPE_SLOTS == 512, "shape_slot takes nine bits");

// Learns the shape of a line that ends at `newline`, its message at `msg`, of which the first `len`
// bytes tell it: an API entry closed as the runtime does, a return of hipSuccess, or a message that
// is counted and no more. NULL: it is not one that can be known, or there was no room.
struct shape *shape_learn(struct shape_slots *slots, const char *line, const char *msg,
			  const char *newline, size_t len, enum amdlog_kind kind);

#endif
