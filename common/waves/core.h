// GPU cores: the ELF files that ROCr names gpucore.PID and that AMD's debugger library opens.
//
// A core has one note, with what the debug interface hands out of a process, and its memory. The
// writer writes from the first byte to the last, so it also writes to pipes. The reader trusts
// nothing: each size is checked before it is used, and no more memory is taken than for
// CORE_GPUS_MOST, CORE_QUEUES_MOST and 65535 segments.
//
// Facts: [waves.core], [waves.core-note].
#pragma once

#include "common/kfd/abi.h"
#include "common/waves/area.h"

enum {
	CORE_MACHINE = 224, // EM_AMDGPU
	CORE_OSABI = 64,    // ELFOSABI_AMDGPU_HSA
	CORE_NOTE = 33,     // type of the note
	CORE_VERSION = 1,   // of the note's layout
	CORE_PAGE = 4096,   // segments begin and end at pages
};

#define CORE_GPUS_MOST     1024           // GPUs of a core that is read
#define CORE_QUEUES_MOST   65536          // its queues
#define CORE_SEGMENTS_MOST 65533          // segments of a core that is written: e_phnum has 16 bits
#define CORE_XCCS_MOST     64             // more XCCs than a GPU has
#define CORE_IMAGE_SEGMENT (64ULL << 20)  // bytes of a segment in an image
#define CORE_IMAGE_MOST    (512ULL << 20) // bytes of an image

// What the note tells, as the driver handed it out.
struct core_state {
	struct kfd_version kfd;
	struct kfd_rinfo runtime;
	struct kfd_device_entry *gpus; // as `queues` never NULL
	struct kfd_queue_entry *queues;
	uint32_t num_gpus, num_queues;
};

// Returns the number of XCCs of a queue's GPU, 1 when unknown.
unsigned core_xccs(const struct core_state *s, const struct kfd_queue_entry *q);

// Returns the save area of a queue's first XCC, which those of the others follow; `gpu` is NULL if
// its layout is unknown. `m`: memory of the process, for the version of the runtime's r_debug; if
// that cannot be read, `abi` is as of a runtime that is newer than all known ones.
struct waves_area core_area(const struct core_state *s, const struct kfd_queue_entry *q,
			    const struct memory *m);

// A piece of the process's memory; address and size are multiples of CORE_PAGE.
struct core_segment {
	uint64_t address, size; // bytes
	const void *data;       // NULL: `fill` gives it when it is written
};

// Writes `size` bytes (at most MEMORY_BYTES_MOST) of the memory at `address` to `to`, which has
// zeros for what cannot be read. Returns false to stop writing.
typedef bool core_fill(void *from, uint64_t address, void *to, size_t size);

// Writes the next bytes of the file. Returns 0, or -1 with errno.
typedef int core_put(void *to, const void *data, size_t size);

struct core_io {
	core_put *put;
	void *to;
	core_fill *fill;
	void *from;
};

// Returns the size of the file that core_write() writes.
uint64_t core_size(const struct core_state *s, const struct core_segment *v, size_t n);

// Writes a core; the segments are in ascending order and do not overlap. Returns 0, or -1 with
// errno: E2BIG more than CORE_SEGMENTS_MOST; EINTR `fill` has stopped it; or that of `put`.
int core_write(const struct core_io *io, const struct core_state *s, const struct core_segment *v,
	       size_t n);

// ---- reading

struct core {
	struct core_state state;
	struct memory memory; // of the process, as far as the core has it
	// The rest is the reader's own.
	int fd;
	struct core_load {
		uint64_t address, size, offset;
	} * loads; // ascending, not overlapping
	size_t num_loads;
};

// Opens the core in the file `fd`, which the core owns from then on. Returns NULL; or what is wrong
// with the file, and then nothing is to be closed: "it is no GPU core".
const char *core_open(struct core *c, int fd);
void core_close(struct core *c);

// Copies the memory of a core to a new file whose offsets are addresses, for code_names_of(): its
// segments, without those greater than CORE_IMAGE_SEGMENT, until there are CORE_IMAGE_MOST bytes.
// What is not there reads as zeros. Returns its descriptor, or -1 with errno.
int core_image(const struct core *c);
