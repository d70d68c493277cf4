// API lines as they repeat: nine of ten lines of a log begin, but for what a form says (form.h),
// with bytes that another line of the same function began with. A shape is what must be equal for a
// line to be such a line again; it needs no look at its message of its own.
//
// A shape is learned from a line that was looked at, and serves the digester that learned it.
//
// Facts: amd-log-facts.md sections 2 (prefix), 2.1 (colours), 6 (API lines).
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
	uint16_t counter;         // which of digest.counts
	uint8_t len;              // of the message's text, 0: the slot is free
	bool entry;
};

// Where the shape is, if it is, of a line whose message is at `msg`. The number of the source's
// line tells nearly all functions, letters of the function's name those of one number.
static inline struct shape *shape_slot(struct shape *shapes, const char *line, const char *msg)
{
	uint64_t key = load64(line + FORM_AT - 1) ^ load64(msg + 3);

	return &shapes[key * UINT64_C(0x9e3779b97f4a7c15) >> 55];
}
_Static_assert(SHAPE_SLOTS == 512, "shape_slot takes nine bits");

// Learns the shape of an API line: an entry closed as the runtime does, or a return of hipSuccess.
// `msg`: with its colour, of `skip` bytes, after which the first `len` bytes are what tells it.
void shape_learn(struct shape *s, const char *line, const char *msg, const char *newline,
		 size_t skip, size_t len, enum amdlog_kind kind);

#endif
