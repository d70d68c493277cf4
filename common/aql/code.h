// Names of the kernels that a process has loaded, by the addresses in its dispatch packets, and
// where program counters are in them: from the list of code objects that the HSA runtime keeps for
// debuggers. No log is needed, nor is the process stopped.
//
// Facts: [aql.code-list], [aql.code-uri], [aql.descriptor], [aql.functions], [aql.lines]. A code
// object is read from the file, or the memory, that its URI names: from a file as the process has
// mapped it, if it has. If that memory may have been freed (hipModuleLoadData does not need it any
// more), or the file cannot be opened, is too short or begins otherwise than the loaded image in
// GPU memory, that is read.
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

// Limits of one code_places(), beside CODE_READ_MOST. Beyond a limit places or lines are unknown.
#define CODE_PLACES_MOST     1024          // places in one question to the reader
#define CODE_FRAMES_MOST     16            // functions around a place
#define CODE_PLACE_TEXT_MOST (16ULL << 20) // bytes of all texts
#define CODE_LINES_MOST      (1ULL << 30)  // bytes that libdw makes of one object's lines
#define CODE_SECONDS         2             // of processor time

struct code_names;

// Reads the names of the kernels that the process has loaded; of a recorded host, those that gpq
// snapshot recorded. Never returns NULL; if nothing is known, code_names_error() tells why. After
// an exec the names are unknown until the next refresh.
struct code_names *code_names_new(pid_t pid);
void code_names_free(struct code_names *c); // c may be NULL

// The same of the r_debug at this address of `mem`, a file whose offsets are addresses; no file of
// a process is opened. code_names_free() closes `mem`.
struct code_names *code_names_of(int mem, uint64_t r_debug);

// Reads new code objects and forgets those that are gone. Each known one costs three reads of the
// process's memory. All names got before become invalid.
//
// A code object is known if its link, base and URI are the same as before and, where it lies in
// memory, its first KiB is the same, too, or can no longer be read.
void code_names_refresh(struct code_names *c);

// The mangled name of the kernel whose descriptor holds the address, without ".kd"; NULL: unknown.
// Valid until the next refresh.
const char *code_name(struct code_names *c, uint64_t kernel_object);

// A function that holds a place. Texts are "" if unknown.
struct code_frame {
	const char *function, *file; // mangled; as the compiler named it
	unsigned line;               // of the place or, in outer frames, of the call; 0: none
};

struct code_place {
	uint64_t pc;
	bool unknown;         // a code object that cannot be read may hold the PC
	const char *object;   // file name of the code object that holds it, or "memory"; NULL: none
	const char *function; // mangled name of the symbol that holds it; NULL: none
	uint64_t offset;      // of the PC from the function's first byte, else from the object's
	// For disassemblers: the PC's address in the code object, which is `size` bytes (0: all) at
	// `at` of a file in the process's root, or of its memory (path NULL).
	uint64_t address, at, size;
	const char *path;
	unsigned nframes; // functions by debug information, innermost first; 0: no line is known
	struct code_frame frames[CODE_FRAMES_MOST];
};

// Sorts places by their PCs, and says where these are. Each call reads the symbols and lines of the
// code objects again; lines need libdw, and the object's file or memory: a loaded image has none.
// Texts are valid until the next call or refresh. Nothing is known of a recorded host.
void code_places(struct code_names *c, struct code_place *v, size_t n);

// Why the last refresh found no list of code objects. 0: it found one; ENOPKG: no libelf; ENOENT:
// no runtime that exports its list was found, or its file could not be opened; else why the memory
// of the process cannot be read (EACCES, ESRCH ...).
int code_names_error(const struct code_names *c);
