// Names of the kernels that a process has loaded, by the addresses in its dispatch packets: from
// the list of code objects that the HSA runtime keeps for debuggers. No log is needed, nor is the
// process stopped.
//
// Facts: [aql.code-list], [aql.code-uri], [aql.descriptor]. A code object is read from the file, or
// the memory, that its URI names. If that memory may have been freed (hipModuleLoadData does not
// need it any more), or the file cannot be opened, its loaded image in GPU memory is read.
//
// What the process holds is not trusted. A file is opened in the root of the process, and only a
// regular one.
#pragma once

#include "common/host/std.h"

// Limits of one refresh. Kernels beyond a limit have no name.
#define CODE_OBJECTS_MOST 16384          // most code objects of a process
#define CODE_SIZE_MOST    (1ULL << 32)   // bytes of a code object; only its symbols are read
#define CODE_READ_MOST    (256ULL << 20) // bytes read of all new code objects
#define CODE_KERNELS_MOST 1000000        // kernels of a process
#define CODE_NAME_MOST    65535          // bytes of a kernel's name, mangled
#define CODE_TEXT_MOST    (256ULL << 20) // bytes of all names of a process

struct code_names;

// Reads the names of the kernels that the process has loaded. Never returns NULL; if nothing is
// known, code_names_error() tells why. After an exec the names are unknown until the next refresh.
struct code_names *code_names_new(pid_t pid);
void code_names_free(struct code_names *c); // c may be NULL

// Reads new code objects and forgets those that are gone. Each known one costs three reads of the
// process's memory. All names got before become invalid.
//
// A code object is known if its link, base and URI are the same as before and, where it lies in
// memory, its first KiB is the same, too, or can no longer be read.
void code_names_refresh(struct code_names *c);

// The mangled name of the kernel whose descriptor holds the address, without ".kd"; NULL: unknown.
// Valid until the next refresh.
const char *code_name(struct code_names *c, uint64_t kernel_object);

// Why the last refresh found no list of code objects. 0: it found one; ENOPKG: no libelf; ENOENT:
// no runtime that exports its list was found, or its file could not be opened; else why the memory
// of the process cannot be read (EACCES, ESRCH ...).
int code_names_error(const struct code_names *c);
