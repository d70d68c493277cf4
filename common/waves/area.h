// The waves of a queue that is off the hardware, from its save area (CWSR).
//
// When the driver takes a compute queue off the GPU, the trap handler of the kernel stores each
// wave of the queue in memory of the process: registers, program counter, LDS. This file says where
// in that memory a wave's registers are, and what they mean.
//
// Facts: facts.md. Only the header of a queue that the last SUSPEND_QUEUES reported as suspended is
// valid, and only until the queue is resumed [waves.header].
#pragma once

#include "common/reader/memory.h"

#define WAVES_HWREGS 16
#define WAVES_TTMPS  16
// Limits of one area. A hostile area costs no more than reading these.
#define WAVES_STACK_MOST MEMORY_BYTES_MOST // bytes of a control stack, of which a wave takes 4
#define WAVES_MOST       65536             // waves

// How a generation lays out its control stack, its hardware registers and its ttmps
// (area.c).
struct wave_control;
struct wave_registers;
struct wave_ttmps;

struct waves_gpu {
	const struct wave_control *control;
	const struct wave_registers *registers;
	const struct wave_ttmps *ttmps;
	uint32_t version;  // gfx_target_version of the topology: 90402 is gfx942
	uint16_t lds_unit; // bytes per unit of the LDS size in the control stack
	bool parks;        // ROCr's trap handler moves the PC of a wave that it stops
	bool judged;       // AMD's library agrees with this file on this GPU
};

// Returns the row of a gfx_target_version, or NULL: its layout is unknown.
const struct waves_gpu *waves_gpu_of(uint32_t version);

struct waves_area {
	const struct waves_gpu *gpu;
	uint64_t address; // of the area of one XCC [waves.area]
	uint64_t size;    // of that, in bytes
	unsigned abi;     // version of ROCr's r_debug, which is that of its trap handler
	bool ttmp_setup;  // ttmps are valid: runtime_info says so, or debug_prop of the GPU's node
};

// A wave's control words and registers, as they were saved.
struct wave_saved {
	uint64_t end;         // address behind its record
	uint32_t state, word; // of the control stack
	uint32_t hwreg[WAVES_HWREGS], ttmp[WAVES_TTMPS];
};

struct waves_saved {
	struct wave_saved *v; // in the order of restoring: a group's first wave before its others
	size_t n, cap;
};

// Appends the waves of an area. Reads its header, its control stack and 128 bytes of each wave.
// Returns NULL; or what is wrong with the area, and appends nothing: "its header cannot be read".
const char *waves_read(struct waves_saved *s, const struct waves_area *a, const struct memory *m);
void waves_saved_fini(struct waves_saved *s);

// Why the trap handler stopped a wave.
enum {
	WAVE_MEMORY_VIOLATION = 1 << 0, // a page that is not there, or not to be touched
	WAVE_ADDRESS_ERROR = 1 << 1,    // misaligned, or outside of its aperture
	WAVE_ILLEGAL_INSTRUCTION = 1 << 2,
	WAVE_MATH_ERROR = 1 << 3,
	WAVE_WATCHPOINT = 1 << 4,
	WAVE_SINGLE_STEP = 1 << 5,
	WAVE_TRAP = 1 << 6,
	WAVE_ASSERT = 1 << 7,     // s_trap 2: abort()
	WAVE_DEBUG_TRAP = 1 << 8, // s_trap 3
	WAVE_BREAKPOINT = 1 << 9, // s_trap 1
};

#define WAVE_NO_ENGINE UINT8_MAX

struct wave {
	uint64_t pc; // the next instruction; of a parked wave the one that its trap handler put
		     // aside
	uint64_t exec;
	uint64_t vgprs_at, acc_at,
		sgprs_at; // addresses of registers; a vector register is lanes * 4 bytes
	uint64_t lds_at;  // address of its group's LDS; 0: not the group's first wave
	uint32_t lanes;   // 32 or 64
	uint32_t vgprs, acc, shared, sgprs; // numbers of registers
	uint32_t lds;                       // bytes of its group's
	uint32_t m0, mode, status;
	uint32_t exceptions;                 // TRAPSTS; of gfx12 EXCP_FLAG_PRIV
	uint32_t group[3], in_group, packet; // if `placed`; the packet is an index into the ring
	uint32_t why;                        // WAVE_ bits, if `stopped`
	uint8_t trap;     // number of s_trap, if `stopped`; 0: none; 15: 15 or more
	uint8_t engine;   // shader engine of its XCC; WAVE_NO_ENGINE: not known of this GPU
	bool first, last; // of its group
	bool placed;      // group, in_group and packet are known
	bool stopped;     // by the trap handler
	bool halted;      // by itself (s_sethalt), or before it was stopped
	bool in_barrier;  // waits at a barrier (before gfx12)
};

struct wave wave_decode(const struct waves_area *a, const struct wave_saved *s);

// What the instruction at a PC does, as far as it says why a wave does not move.
enum wave_at {
	WAVE_AT_OTHER,
	WAVE_AT_BARRIER,
	WAVE_AT_WAIT, // for memory, or another counter
	WAVE_AT_SLEEP,
	WAVE_AT_HALT,
	WAVE_AT_TRAP,
	WAVE_AT_END,
};

enum wave_at wave_at(const struct waves_gpu *g, uint32_t instruction);
