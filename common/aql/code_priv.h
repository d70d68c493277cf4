// What the files of code.h share, also with tests and fuzz targets.
#pragma once

#include "common/reader/maps.h"
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

// Called for each defined symbol; `len`: length of its name, `size`: bytes of a function, else 0.
typedef void code_symbol(void *arg, const char *name, size_t len, uint64_t value, uint64_t size);

// Virtual addresses of the file's first byte (0 for a loaded one), and of the end of its segments.
struct code_extent {
	uint64_t load, end;
};

// Called with the file, of which symbols and all debug information have been read.
struct Elf;
typedef void code_debug(void *arg, struct Elf *elf);

// Calls `each` for all symbols of a 64-bit little-endian ELF file for `machine` (0: any), then
// `debug` (NULL: nothing), if the file has debug information. Counts *budget down by the bytes that
// it reads or compares, and stops at 0. False when it is no such file.
bool code_elf_symbols(const struct code_bytes *from, unsigned machine, uint64_t *budget,
		      code_symbol *each, code_debug *debug, void *arg, struct code_extent *extent);

// code_elf_symbols() for the dynamic symbols of a file loaded at `base` of `mem`. Needs no libelf.
bool code_elf_loaded(int mem, uint64_t base, unsigned machine, uint64_t *budget, code_symbol *each,
		     void *arg, struct code_extent *extent);

// --- code_lines.c: lines of an ELF file's debug information, by libdw ---

bool code_lines_ready(void); // false: libdw is missing

// Takes a function around address `i`, and the line in it: of the address or, from the second call
// on, where the function told before was inlined. Texts are "" and the line is 0 if unknown.
typedef void code_frame_each(size_t i, const char *function, const char *file, unsigned line);

// Calls `each` for the `n` addresses: for each from the innermost function outwards, or once
// without a function.
void code_lines_read(struct Elf *elf, const uint64_t *at, size_t n, code_frame_each *each);

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

// --- code_ask.c: symbols and links by the reader's child, whose answers are checked ---

// Where symbols are read: in a file, or in the memory of a process.
struct code_source {
	pid_t pid;
	const struct memory *memory; // NULL: the source is a file
	const struct mapping *map;   // where the process has mapped the file, or NULL
	const char *path;            // path of the file in the process's root; NULL: that of `map`
	struct code_bytes bytes;     // offset and size; size 0: to the file's end
	unsigned machine;            // ELF machine; 0: any
	bool loaded;                 // in memory: a loaded image, for code_elf_loaded()
	uint64_t head;               // code_checksum() of the first bytes; 0: any will do
};

// Checksum of the first `n` bytes of a code object. CODE_HEAD: so many are looked at, as device
// memory is slow.
#define CODE_HEAD 1024
uint64_t code_checksum(const unsigned char *head, size_t n);

// Has the child call code_elf_symbols() or code_elf_loaded(), for names that end with `suffix`.
bool code_ask_symbols(const struct code_source *from, const char *suffix, uint64_t *budget,
		      code_symbol *each, void *arg, uint64_t *load);

// Takes a function that holds address `i` (its name and where it begins) or a frame: "FUNCTION" NUL
// "FILE" and the line. `len` is not 0; there is no NUL at the end.
typedef void code_told(void *arg, size_t i, uint64_t number, const char *text, size_t len,
		       bool frame);

// Has a child of its own, which ends after CODE_SECONDS, find `n` addresses (at most
// CODE_PLACES_MOST). *end: of the file's segments; 0: it cannot be read. Returns as reader_ask().
int code_ask_places(const struct code_source *from, const uint64_t *at, size_t n, uint64_t *budget,
		    code_told *each, void *arg, uint64_t *end);

bool code_ask_list(const struct memory *m, struct code_list *l, uint64_t r_debug);
