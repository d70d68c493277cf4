// What was read of a process's memory, look by look, so that a recorded host answers the same: the
// file /proc/PID/memory of a snapshot. Its lines are "look NS", which begins a look at that time of
// the monotonic clock, and "ADDRESS BYTES", both hexadecimal, a piece that was read in it.
#pragma once

#include "common/host/std.h"

// Most bytes that are kept of a process; what is read after that is not.
#define MEMORY_RECORD_MOST (32u << 20)

struct memory_piece;

struct memory_record {
	struct memory_piece *v;
	size_t n, cap, bytes;
	uint64_t *looks; // when each look began, ns
	size_t nlooks, cap_looks;
	size_t look; // the look that is going on, from 1; 0: none has begun
	bool replays;
};

// A new look begins: while recording at *ns; in a record that was parsed, *ns becomes the time of
// its next look, or its last one if there are no more, and stays if it has none.
void memory_record_look(struct memory_record *r, uint64_t *ns);

// Makes the next look of a parsed record its first one. Until then such a record is at its last
// look.
void memory_record_rewind(struct memory_record *r);

// Has a parsed record more looks?
bool memory_record_goes_on(const struct memory_record *r);

// Keeps what was read, unless it is what the last piece of that address and size has.
void memory_record_add(struct memory_record *r, uint64_t at, const void *bytes, size_t size);

// Gives the bytes as of the look that is going on; where that has none of an address, those of the
// look before, and so on, and then of those that follow. False: some were never read.
bool memory_record_read(const struct memory_record *r, uint64_t at, void *to, size_t size);

void memory_record_text(const struct memory_record *r, struct buf *to);

// Fills `r` from the text, at its last look. False, with `r` empty: the text is damaged.
bool memory_record_parse(struct memory_record *r, const char *text, size_t len);
void memory_record_fini(struct memory_record *r);
