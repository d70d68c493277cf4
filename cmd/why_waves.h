// Shared by the files of gpq why --waves.
#pragma once

#include "cmd/why.h"

#include "common/aql/code.h"
#include "common/pick/host_choice.h"
#include "common/why/wave_look.h"

// What is known of the instructions of a process, sorted by PC.
struct places {
	struct code_names *names; // owns the texts
	struct code_place *v;
	size_t n;
};

struct wave_view {
	const struct why_opts *opts;
	struct group group;
	struct wave_looks looks;
	struct wave_groups groups;
	struct rings none; // for `kernels`, which demangle names only
	struct kernels kernels;
	bool readable;         // names in places are for people
	bool recorded;         // the waves are of cores
	struct places *places; // by process; NULL: not named yet
	struct picked picked;  // chosen queues of a recorded host
	uint64_t held_ns;      // the longest of all looks
	unsigned taken;        // looks
};

// The worst first; what is before RANK_LOOPS does not go on by itself.
enum wave_rank {
	RANK_STOPPED,
	RANK_BARRIER,
	RANK_HALTED,
	RANK_STANDS,
	RANK_LOOPS,
	RANK_GOES_ON,
	RANK_ONCE,
	RANK_MOVES,
};

enum wave_rank wave_rank_of(const struct wave_group *g);

// Index in looks.processes of a group's process.
size_t wave_process_of(const struct wave_view *v, const struct wave_group *g);

// "waits", or what stopped the waves; `to` is empty.
void wave_put_state(struct buf *to, const struct wave_group *g);

// --- places (why_wave_places.c) ---

// Names all places of a process at once.
void wave_places_name(struct wave_view *v, size_t process);
void wave_places_free(struct wave_view *v);

// The place of a PC of this group.
const struct code_place *wave_place_at(const struct wave_view *v, const struct wave_group *g,
				       uint64_t pc);

// "kernel+0x1a4", or with the code object's name where no function is known.
void wave_put_place(struct buf *to, struct wave_view *v, const struct code_place *p);

// "file.hip:12 < caller.hip:7" of inlined functions; nothing where no line is known.
void wave_put_source(struct buf *to, const struct code_place *p);

// --folded, --flame. They return the exit status.
int wave_print_folded(struct wave_view *v);
int wave_write_flame(struct wave_view *v);

// --- tables (why_wave_table.c) ---

// Prints the table of waves, and returns the group of its first row; NULL: there are no waves.
const struct wave_group *wave_print_groups(struct out *o, struct wave_view *v);

// Prints the registers of a wave of this group, if they were copied.
void wave_print_registers(struct out *o, struct wave_view *v, const struct wave_group *g);
