// Rings: where a queue's packets lie in its process's memory, read while the GPU takes them.
//
// Facts: [aql.ring], [aql.indices-together], [aql.index-units].
//
// A ring moves while it is read: the indices are read before and after the packets, and a slot that
// the producer may have used again meanwhile is marked as overwritten. The process may make up
// sizes, addresses and indices: no more is read or allocated than the caller asked for.
#pragma once

#include "common/reader/memory.h"
#include "common/aql/packet.h"

enum ring_kind { RING_NONE, RING_AQL, RING_SDMA, RING_PM4 };

#define RING_NO_ADDRESS UINT64_MAX

struct ring {
	uint64_t base, bytes; // ring's address in the process; size, a power of two
	// Addresses of the indices in the process; RING_NO_ADDRESS: unknown.
	uint64_t read_at, write_at;
	enum ring_kind kind;
	unsigned copy_dwords; // dwords of a linear copy, see sdma_decode()
};

enum ring_problem {
	RING_OK,
	RING_UNKNOWN,    // no address or size, or one that no ring has
	RING_UNREADABLE, // the indices cannot be read
	RING_NO_WRITE,   // the write index is unknown
	RING_ABSURD,     // the indices are not possible in a ring of this size
};

// Why packets are missing, for people.
const char *ring_problem_text(enum ring_problem p);

// Indices of a ring, in packets (AQL), bytes (SDMA) or dwords (PM4).
struct ring_indices {
	uint64_t read, write;
};

enum ring_problem ring_indices(const struct ring *r, const struct memory *m,
			       struct ring_indices *i);

// If both indices lie close together, ring_indices() reads them at once: sets *at to the address,
// and returns the bytes from there, at most RING_INDICES_MOST. 0: they lie apart.
#define RING_INDICES_MOST 256
size_t ring_indices_at(const struct ring *r, uint64_t *at);

// Sets *at to the memory that ring_look(r, m, 1, 0, l) reads of an AQL ring at these indices, and
// returns its size, at most 2 * AQL_BYTES. 0: not an AQL ring, or the memory wraps at its end.
size_t ring_head_at(const struct ring *r, const struct ring_indices *i, uint64_t *at);

enum ring_state {         // state of a packet
	RING_TAKEN,       // the GPU has taken the packet: its index is below the read index
	RING_NEXT,        // the packet's index is the read index
	RING_QUEUED,      // the packet's index is above the read index
	RING_UNPUBLISHED, // the packet is below the write index, but its header is not written yet
	RING_OVERWRITTEN, // the packet's slot may have been written again while it was read
	RING_LOST,        // the packet's memory cannot be read
};

const char *ring_state_word(enum ring_state s);

struct ring_packet {
	uint64_t index; // in the unit of struct ring_indices
	uint64_t address;
	enum ring_state state;
	struct packet packet; // all zero if state is RING_OVERWRITTEN or RING_LOST
};

struct ring_look {
	enum ring_problem problem;
	struct ring_indices at; // indices, read after the packets
	struct ring_packet *v;  // the packets; freed by ring_look_fini()
	size_t n;
};

#define RING_AROUND_MAX 65536u // most packets before, and behind, that ring_look() reads

// Reads the packet at the read index, up to `before` packets before it (AQL only) and up to `after`
// packets behind it. SDMA and PM4 packets are read up to the first one of unknown length.
void ring_look(const struct ring *r, const struct memory *m, uint64_t before, uint64_t after,
	       struct ring_look *l);
void ring_look_fini(struct ring_look *l);
