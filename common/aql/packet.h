// Packets of queues: what a program has told a GPU to do, decoded from the bytes in its ring. Any
// bytes may come in: no address in them is followed.
//
// Facts: [aql.header], [aql.dispatch], [aql.barrier], [aql.vendor], [aql.barrier-value],
// [aql.ext-dispatch]; [aql.sdma], [aql.sdma-poll]; [aql.pm4].
#pragma once

#include "common/host/std.h"

enum {
	AQL_BYTES = 64,      // length of an AQL packet
	PACKET_DEPS = 5,     // most signals that a packet waits for
	SDMA_DWORDS_MAX = 16 // most dwords of an SDMA packet that sdma_decode() needs
};

enum packet_kind {
	PACKET_UNKNOWN, // an AQL type that the specification does not have
	PACKET_INVALID, // an AQL slot that is not written yet, or that the GPU has taken
	PACKET_DISPATCH,
	PACKET_BARRIER_AND,
	PACKET_BARRIER_OR,
	PACKET_AGENT,
	PACKET_VENDOR, // a vendor packet of another format than the next three kinds
	PACKET_BARRIER_VALUE,
	PACKET_EXT_DISPATCH,
	PACKET_PM4_BUFFER,
	PACKET_SDMA,
	PACKET_PM4,
};

// What a packet waits for before it begins.
enum packet_wait {
	PACKET_WAITS_NOT,
	PACKET_WAITS_ALL,    // waits until each of the packet's signals is 0
	PACKET_WAITS_ANY,    // waits until one of the packet's signals is 0
	PACKET_WAITS_VALUE,  // waits until `compare` is true of (signal & mask) and value
	PACKET_WAITS_MEMORY, // SDMA: until `compare` is true of (u32 at `polls` & mask) and value
};

enum packet_compare { // numbers of hsa_signal_condition_t, and three more of SDMA
	COMPARE_EQ,
	COMPARE_NE,
	COMPARE_LT,
	COMPARE_GE,
	COMPARE_LE,
	COMPARE_GT,
	COMPARE_ALWAYS,
	COMPARES
};

struct packet {
	enum packet_kind kind;
	const char *type; // "dispatch", "barrier-and", "sdma-fence", "pm4-nop" ...; never NULL
	uint32_t bytes;   // length; 0: unknown, and so is where the next packet begins

	// Members of AQL packets only.
	uint16_t header;
	bool barrier;             // the packet waits until all before it are complete
	uint8_t acquire, release; // scopes of the fences: 0 none, 1 agent, 2 system, 3 not defined
	uint8_t format;           // number of a vendor packet's format
	bool left;                // the slot is free; decoded is the dispatch that was in it

	// Members of dispatches only.
	uint32_t grid[3]; // in work-items; extended dispatches have clusters[] instead
	uint16_t workgroup[3];
	uint32_t clusters[3], cluster[3]; // extended: clusters in the grid, workgroups in each
	uint32_t private_bytes, group_bytes;
	uint64_t kernel_object, kernarg; // addresses of the kernel's descriptor and arguments

	enum packet_wait waits;
	uint64_t deps[PACKET_DEPS]; // addresses of the signals: PACKET_WAITS_ALL, _ANY, _VALUE
	unsigned ndeps;
	enum packet_compare compare; // compares with `value`, `mask`: PACKET_WAITS_VALUE, _MEMORY
	int64_t value;
	uint64_t mask;
	uint64_t polls; // address of the u32 that PACKET_WAITS_MEMORY compares

	uint64_t completion; // signal that the GPU decrements at the packet's end; 0: none
	uint64_t writes;     // SDMA fence, atomic, timestamp: address written; 0: none
};

void aql_decode(struct packet *p, const uint8_t bytes[AQL_BYTES]);

// Decodes the SDMA packet that begins at words[0]; `n` words are there. `copy_dwords`: length of a
// linear copy, which differs between generations; 0: unknown.
void sdma_decode(struct packet *p, const uint32_t *words, size_t n, unsigned copy_dwords);

// Decodes the PM4 packet that begins with this word.
void pm4_decode(struct packet *p, uint32_t word);

// Is the comparison true of `seen`, already masked, and `value`? True for an undefined comparison.
bool packet_compares(enum packet_compare compare, int64_t seen, int64_t value);

// Text of a comparison: "==", "<", "always" ...; "?" for an undefined one.
const char *packet_compare_text(enum packet_compare compare);
