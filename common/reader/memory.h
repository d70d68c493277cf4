// Memory of a process, read while it runs, by the reader (reader.h).
//
// Facts: proc(5), /proc/PID/mem. Reading it takes the right to trace the process. The file belongs
// to the address space that it was opened for: after exec, or the end of the process, reads fail.
// Unlike process_vm_readv(2) it also reads buffers that a GPU driver mapped, as far as the driver
// allows.
#pragma once

#include "common/reader/memory_record.h"
#include "common/reader/reader.h"

struct memory_range;

struct memory {
	int fd; // /proc/PID/mem; -1: none
	pid_t pid;
	struct memory_range *kept; // ranges read in advance: memory_read() takes each of them once
	size_t nkept;
	// Replaces the file, for tests; NULL: the file is read.
	bool (*read)(void *arg, uint64_t address, void *to, size_t size);
	void *arg;
	// What memory_read_all() reads is kept there; on a host that was recorded so, it is read
	// from there. NULL: neither. Owned by the memory if it was read by memory_open().
	struct memory_record *record;
};

// Opens the memory of a process. Returns 0, or -1 with errno: EACCES or EPERM no right to trace it;
// ENOENT no such process. On a recorded host the memory is a record of it, or else a file whose
// offsets are addresses, too; EBADMSG: the record is damaged.
int memory_open(struct memory *m, pid_t pid);
void memory_close(struct memory *m);

// Reads `size` bytes at any address. Returns false, with `to` undefined, unless all were read.
bool memory_read(const struct memory *m, uint64_t address, void *to, size_t size);

// ---- several ranges at once

enum memory_got {
	MEMORY_LOST, // not there, or not readable
	MEMORY_READ,
	MEMORY_OVER, // the address space is gone: the process ended, or called exec
};

struct memory_range {
	uint64_t at;
	void *to;
	size_t size;
	enum memory_got got;
};

// Limits of one call.
#define MEMORY_RANGES_MOST 1024
#define MEMORY_BYTES_MOST  65536

// Reads the ranges in this order. Returns false unless all were read: see `got`, and errno, which
// is ETIMEDOUT when the memory is silent (no answer in time).
bool memory_read_all(const struct memory *m, struct memory_range *v, size_t n);

// Like memory_read_all(), without a child: faster, but waits for ever for memory that is silent.
bool memory_read_here(const struct memory *m, struct memory_range *v, size_t n);

// memory_read_all() in two steps, for loops that never wait: memory_post() sends the question
// (reader_post()); memory_take() stores its answer, and returns false unless all were read.
bool memory_post(struct reader *r, const struct memory *m, const struct memory_range *v, size_t n,
		 void *tag);
bool memory_take(struct memory_range *v, size_t n, const void *part, size_t len);

// A signal of the HSA runtime: 64 bytes, of which the first eight are its kind and the next eight
// its value [aql.signal].
enum { SIGNAL_KIND_USER = 1, SIGNAL_VALUE_AT = 8 };

// Reads the value of the signal at this address. Returns false if it cannot be read, or is no
// signal that has a value there (doorbells have none).
bool memory_signal(const struct memory *m, uint64_t signal, int64_t *value);

// Sets *ticks to when the packet began whose completion signal this is, by the counter of its GPU
// [aql.signal]. Returns false if that is not known, or it has ended.
bool memory_signal_began(const struct memory *m, uint64_t signal, uint64_t *ticks);
