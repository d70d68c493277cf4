// A process's memory, read while it runs. Nothing is stopped, and nothing written.
//
// Facts: proc(5), /proc/PID/mem: it takes the right to trace the process, and the file stays with
// the address space that it was opened for: after exec, or the end of the process, reads fail,
// whoever has the PID then. Buffers that a GPU driver mapped ("PFN maps", as rings in device memory
// are) can be read through it as far as the driver allows; process_vm_readv(2) always refuses
// these.
#ifndef GPQ_AQL_MEMORY_H
#define GPQ_AQL_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct memory {
	int fd; // /proc/PID/mem; -1: none
	// Replaces the file, for tests; NULL: none.
	bool (*read)(void *arg, uint64_t address, void *to, size_t size);
	void *arg;
};

// 0, or -1 with errno: EACCES, EPERM no right to trace it; ENOENT no such process. A recorded host
// may have the file, too: offsets in it are addresses.
int memory_open(struct memory *m, pid_t pid);
void memory_close(struct memory *m);

// False, and `to` undefined, unless all `size` bytes are there. Any address may come.
bool memory_read(const struct memory *m, uint64_t address, void *to, size_t size);

// A signal of the HSA runtime, as amd_signal_t has it (amd_hsa_signal.h): 64 bytes, of which the
// first eight are its kind and the next eight its value.
enum { SIGNAL_KIND_USER = 1, SIGNAL_VALUE_AT = 8 };

// The value of the signal at this address. False: it cannot be read, or is no signal that has a
// value there (doorbells have none).
bool memory_signal(const struct memory *m, uint64_t signal, int64_t *value);

#endif
