// Parts of code.h for its own files, tests and fuzz targets.
#ifndef GPQ_AQL_CODE_PRIV_H
#define GPQ_AQL_CODE_PRIV_H

#include "common/reader/memory.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// `size` bytes from `offset` of a file, or of a process's memory by /proc/PID/mem.
struct code_bytes {
	int fd;
	uint64_t offset, size;
};

// `n` bytes from `at` of `fd`; false when there are fewer.
bool code_read(int fd, uint64_t at, void *to, size_t n);

// --- code_elf.c: symbols of an ELF file ---

bool code_elf_ready(void); // false: libelf is missing

// Called for each symbol that is defined, with its name's length.
typedef void code_symbol(void *arg, const char *name, size_t len, uint64_t value);

// All symbols of a 64-bit little-endian ELF file for `machine` (0: any). Counts *budget down by the
// bytes that it reads or compares, and stops at 0. *load is the virtual address of the file's first
// byte. False when it is no such file.
bool code_elf_symbols(const struct code_bytes *from, unsigned machine, uint64_t *budget,
		      code_symbol *each, void *arg, uint64_t *load);

// The same of the dynamic symbols of a file that is loaded at `base`. Needs no libelf.
bool code_elf_loaded(int mem, uint64_t base, unsigned machine, uint64_t *budget, code_symbol *each,
		     void *arg);

// --- code_list.c: what the runtime has loaded ---

struct code_link {
	uint64_t link, base; // addresses in the target: of the link, and its l_addr
	char *uri;
};

struct code_list {
	struct code_link *links;
	size_t n, cap;
};

// Adds the links of the r_debug at this address of `mem`, up to `most` in all. An invalid link ends
// the list. False when there is no r_debug.
bool code_list_read(struct code_list *l, int mem, uint64_t r_debug, size_t most);
void code_list_fini(struct code_list *l);

// The parts of a URI. `path` has room for strlen(uri) + 1 bytes, and is empty for memory://. size
// 0: to the end of the file. False when it is not a URI of a code object.
bool code_uri_parse(const char *uri, char *path, uint64_t *offset, uint64_t *size);

// A line of /proc/PID/maps about a file; `next` is the line after it. False for other lines.
struct code_map {
	uint64_t start, end, offset;
	const char *path; // not terminated; " (deleted)" is not part of it
	size_t len;
	bool deleted;
};
bool code_map_parse(const char *line, const char **next, struct code_map *m);

// --- code_ask.c: the same by the reader's child, whose answers are checked ---

// A file, or the memory of a process.
struct code_source {
	pid_t pid;
	const struct memory *memory; // NULL: a file
	const struct code_map *map;  // where the process has mapped that file, or NULL
	const char *path;            // in the root of the process; NULL: that of the mapping
	struct code_bytes bytes;     // offset and size; size 0: to the file's end
	unsigned machine;            // 0: any
	bool loaded;                 // memory: as code_elf_loaded(), at `bytes.offset`
};

// Symbols whose names end with `suffix`.
bool code_ask_symbols(const struct code_source *from, const char *suffix, uint64_t *budget,
		      code_symbol *each, void *arg, uint64_t *load);

bool code_ask_list(const struct memory *m, struct code_list *l, uint64_t r_debug);

struct code_names;

// Names from the r_debug at an address of `mem`, which is closed with them; no file is opened.
struct code_names *code_names_of(int mem, uint64_t r_debug);

#endif
