// What the files of code.h share, also with tests and fuzz targets.
#pragma once

#include "common/reader/memory.h"

// `size` bytes at `offset` of a file or, if fd is a /proc/PID/mem, of a process's memory.
struct code_bytes {
	int fd;
	uint64_t offset, size;
};

// Reads `n` bytes at offset `at` of `fd`. False when there are fewer.
bool code_read(int fd, uint64_t at, void *to, size_t n);

// --- code_elf.c: symbols of an ELF file ---

bool code_elf_ready(void); // false: libelf is missing

// Called for each defined symbol; `len`: length of its name.
typedef void code_symbol(void *arg, const char *name, size_t len, uint64_t value);

// Calls `each` for all symbols of a 64-bit little-endian ELF file for `machine` (0: any). Counts
// *budget down by the bytes that it reads or compares, and stops at 0. Sets *load to the virtual
// address of the file's first byte. False when it is no such file.
bool code_elf_symbols(const struct code_bytes *from, unsigned machine, uint64_t *budget,
		      code_symbol *each, void *arg, uint64_t *load);

// code_elf_symbols() for the dynamic symbols of a file loaded at `base` of `mem`. Needs no libelf.
bool code_elf_loaded(int mem, uint64_t base, unsigned machine, uint64_t *budget, code_symbol *each,
		     void *arg);

// --- code_list.c: what the runtime has loaded ---

struct code_link {
	uint64_t link, base; // address of the link_map in the target, and its l_addr
	char *uri;
};

struct code_list {
	struct code_link *links;
	size_t n, cap;
};

// Adds the links of the r_debug at this address of `mem` until the list has `most`. An invalid link
// ends the list. False when there is no r_debug.
bool code_list_read(struct code_list *l, int mem, uint64_t r_debug, size_t most);
void code_list_fini(struct code_list *l);

// Parses a code object's URI. `path` has room for strlen(uri) + 1 bytes, and becomes "" for
// memory://. *size 0: to the end of the file. False when it is no such URI.
bool code_uri_parse(const char *uri, char *path, uint64_t *offset, uint64_t *size);

// A line of /proc/PID/maps about a file.
struct code_map {
	uint64_t start, end, offset;
	const char *path; // `len` bytes without a NUL, and without " (deleted)"
	size_t len;
	bool deleted;
};
// Parses a line of /proc/PID/maps; *next: the line after it. False: the line is not about a file.
bool code_map_parse(const char *line, const char **next, struct code_map *m);

// --- code_ask.c: symbols and links by the reader's child, whose answers are checked ---

// Where symbols are read: in a file, or in the memory of a process.
struct code_source {
	pid_t pid;
	const struct memory *memory; // NULL: the source is a file
	const struct code_map *map;  // where the process has mapped the file, or NULL
	const char *path;            // path of the file in the process's root; NULL: that of `map`
	struct code_bytes bytes;     // offset and size; size 0: to the file's end
	unsigned machine;            // ELF machine; 0: any
	bool loaded;                 // in memory: a loaded image, for code_elf_loaded()
};

// Has the child call code_elf_symbols() or code_elf_loaded(), for names that end with `suffix`.
bool code_ask_symbols(const struct code_source *from, const char *suffix, uint64_t *budget,
		      code_symbol *each, void *arg, uint64_t *load);

bool code_ask_list(const struct memory *m, struct code_list *l, uint64_t r_debug);

struct code_names;

// code_names_new() for the r_debug at this address of `mem`, without opening files of the process.
// code_names_free() closes `mem`.
struct code_names *code_names_of(int mem, uint64_t r_debug);
