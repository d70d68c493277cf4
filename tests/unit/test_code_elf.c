// Symbols of code objects, common/aql/code_elf.c, byte by byte: each condition that refuses one is
// broken alone, each limit is tried at its last value and behind it, and what is read is counted.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/aql/code.h"

#include "common/aql/code_priv.h"
#include "common/host/std.h"
#include "tests/unit/code_elf.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define ALL  "one.kd=1640 two=2000 "
#define MUCH (1u << 24)

static const struct elf_symbol three[] = {
	{"one.kd", 0x1640, false}, {"away.kd", 0x1700, true}, {"two", 0x2000, false}};

static struct buf elf; // an ELF file with these symbols
static struct elf_parts parts;

static int make(void **state)
{
	(void)state;
	elf.len = 0;
	elf_make(&elf, ELF_MACHINE, three, COUNT(three), &parts);
	return 0;
}

static int unmake(void **state)
{
	(void)state;
	buf_fini(&elf);
	return 0;
}

static int file_of(const struct buf *b)
{
	int fd = memfd_create("code", MFD_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(write_fully(fd, b->data, b->len), 0);
	return fd;
}

static void see(void *arg, const char *name, size_t len, uint64_t value, uint64_t size)
{
	buf_printf(arg, "%.*s=%" PRIx64, (int)len, name, value);
	if (size)
		buf_printf(arg, "+%" PRIx64, size);
	buf_puts(arg, " ");
}

enum way { SYMBOLS, LOADED };

static struct {
	uint64_t budget; // what the call left of it
	struct code_extent extent;
	unsigned machine;
} asked;

// The symbols as "NAME=VALUE ", in hexadecimal, or "refused".
static const char *read_fd(enum way way, int fd, uint64_t offset, uint64_t size, uint64_t budget)
{
	static struct buf seen;
	const struct code_bytes from = {fd, offset, size};
	asked.budget = budget;
	seen.len = 0;
	buf_puts(&seen, "");
	const bool ok = way == LOADED ? code_elf_loaded(fd, offset, asked.machine, &asked.budget,
							see, &seen, &asked.extent)
				      : code_elf_symbols(&from, asked.machine, &asked.budget, see,
							 NULL, &seen, &asked.extent);
	return ok ? seen.len ? seen.data : "" : "refused";
}

static const char *read_elf(enum way way, uint64_t budget)
{
	int fd = file_of(&elf);
	const char *seen = read_fd(way, fd, 0, elf.len, budget);
	close(fd);
	return seen;
}

#define E(member) offsetof(Elf64_Ehdr, member), sizeof(((Elf64_Ehdr *)0)->member)

static void test_headers(void **state)
{
	static const struct {
		size_t at, size;
		uint64_t value;
	} wrong[] = {{E(e_ident[EI_MAG0]), 0},
		     {E(e_ident[EI_MAG3]), 'f'},
		     {E(e_ident[EI_CLASS]), 1},
		     {E(e_ident[EI_DATA]), 2},
		     {E(e_ident[EI_VERSION]), 0},
		     {E(e_ident[EI_VERSION]), 2},
		     {E(e_version), 0},
		     {E(e_machine), EM_X86_64},
		     {E(e_shentsize), 63},
		     {E(e_shentsize), 65},
		     {E(e_shnum), 0},
		     {E(e_shnum), SHN_LORESERVE},
		     {E(e_phentsize), 55},
		     {E(e_phentsize), 57},
		     {E(e_phnum), 0},
		     {E(e_phnum), PN_XNUM},
		     {E(e_shoff), 0x100000000000004}};
	(void)state;
	asked.machine = ELF_MACHINE;
	for (size_t i = 0; i < COUNT(wrong); i++)
		for (enum way way = SYMBOLS; way <= LOADED; way++) {
			make(NULL);
			assert_string_equal(read_elf(way, MUCH), ALL);
			memcpy(elf.data + wrong[i].at, &wrong[i].value, wrong[i].size);
			assert_string_equal(read_elf(way, MUCH), "refused");
		}
	make(NULL);
	asked.machine = 0; // of any machine
	((Elf64_Ehdr *)elf.data)->e_machine = EM_X86_64;
	assert_string_equal(read_elf(SYMBOLS, MUCH), ALL);
	assert_string_equal(read_elf(LOADED, MUCH), ALL);
}

// As many sections and segments as a header can count, and one more. They lie apart, at these MiB.
static void test_counts(void **state)
{
	static const struct {
		unsigned sections, segments;
		const char *seen;
	} cases[] = {{SHN_LORESERVE - 1, PN_XNUM - 1, ALL},
		     {SHN_LORESERVE, 2, "refused"},
		     {3, PN_XNUM, "refused"}};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		make(NULL);
		Elf64_Ehdr *h = (Elf64_Ehdr *)elf.data;
		h->e_shnum = (Elf64_Half)cases[i].sections;
		h->e_phnum = (Elf64_Half)cases[i].segments;
		h->e_shoff = 1 << 20;
		h->e_phoff = 8 << 20;
		int fd = file_of(&elf);
		assert_int_equal(ftruncate(fd, 12 << 20), 0);
		assert_int_equal(pwrite(fd, parts.sections, sizeof(parts.sections), 1 << 20),
				 sizeof(parts.sections));
		assert_string_equal(read_fd(SYMBOLS, fd, 0, 12 << 20, MUCH), cases[i].seen);
		close(fd);
	}
}

// Parts that overlap headers, or the end of the file, by one entry or byte, or touch them.
static void test_parts(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 19; i++) {
		make(NULL);
		const uint64_t sections = parts.file.e_shoff, size = elf.len;
		Elf64_Ehdr *h = (Elf64_Ehdr *)elf.data;
		Elf64_Shdr *symbols = (Elf64_Shdr *)(elf.data + sections) + 1, *names = symbols + 1;
		const char *seen = "";
		switch (i) {
		case 0: names->sh_size = sections - names->sh_offset, seen = ALL; break;
		case 1: names->sh_size = sections - names->sh_offset + 64; break;
		case 2: symbols->sh_offset -= 24, symbols->sh_size += 24; break;
		case 3: symbols->sh_size += 24, symbols->sh_offset = 40; break;
		case 4: h->e_phoff = 56, seen = "refused"; break;
		case 5: h->e_phoff = sections - 56, seen = "refused"; break;
		case 6: h->e_phoff = size - 56, h->e_phnum = 1, seen = "refused"; break;
		case 7: h->e_phoff = sections - 56, h->e_phnum = 1, seen = ALL; break;
		case 8: h->e_phoff = size, seen = "refused"; break;
		case 9: h->e_shnum = 4, seen = "refused"; break; // ends behind the file
		case 10: names->sh_type = SHT_PROGBITS; break;
		case 11: names->sh_flags = SHF_COMPRESSED; break;
		case 12: symbols->sh_flags = SHF_COMPRESSED; break;
		case 13: names->sh_size = 0; break;
		case 14: names->sh_size -= 1, seen = ALL; break; // of two NULs at their end
		case 15: symbols->sh_type = SHT_SYMTAB, seen = ALL; break;
		case 16: symbols->sh_type = SHT_PROGBITS; break;
		case 17: symbols->sh_size -= 1; break;
		case 18: symbols->sh_entsize = 12; break;
		}
		assert_string_equal(read_elf(SYMBOLS, MUCH), seen);
	}
}

// The parts behind the rest of the file: up to its last byte, one byte more, and where no symbol
// may begin.
static void test_moved(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		make(NULL);
		const uint64_t sections = parts.file.e_shoff;
		Elf64_Shdr moved[2] = {parts.sections[1], parts.sections[2]};
		for (unsigned k = 0; k < 2; k++) {
			SCOPED(buf_fini) struct buf part = {0};
			buf_append(&part, elf.data + moved[k].sh_offset, moved[k].sh_size);
			if (i == 3 && k == 0)
				buf_fill(&elf, 0, 4);
			moved[k].sh_offset = elf.len;
			buf_append(&elf, part.data, part.len);
		}
		if (i == 1)
			moved[1].sh_size++;
		if (i == 2) // its end is beyond 2^64
			moved[1].sh_size = UINT64_MAX - moved[1].sh_offset + 2;
		memcpy(elf.data + sections + sizeof(moved[0]), moved, sizeof(moved));
		assert_string_equal(read_elf(SYMBOLS, MUCH), i ? "" : ALL);
	}
}

static void test_load_address(void **state)
{
	static const struct {
		unsigned at; // which of the two headers is replaced
		uint32_t type;
		uint64_t offset, load;
	} cases[] = {{0, PT_LOAD, 0, 0x3000}, {1, PT_LOAD, 0, 0x3000}, {0, PT_LOAD, 1, 0},
		     {1, PT_LOAD, 4096, 0},   {0, PT_NOTE, 0, 0},      {1, PT_NOTE, 0, 0}};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		make(NULL);
		Elf64_Phdr p[2] = {{.p_type = PT_NOTE, .p_vaddr = 0x5000},
				   {.p_type = PT_NOTE, .p_vaddr = 0x5000}};
		p[cases[i].at] = (Elf64_Phdr){
			.p_type = cases[i].type, .p_offset = cases[i].offset, .p_vaddr = 0x3000};
		memcpy(elf.data + sizeof(Elf64_Ehdr), p, sizeof(p));
		asked.extent.load = 1;
		assert_string_equal(read_elf(SYMBOLS, MUCH), ALL);
		assert_int_equal(asked.extent.load, cases[i].load);
	}
}

// Of functions the size is told; segments end where the last one does, wherever it stands.
static void test_sizes(void **state)
{
	static const struct {
		uint32_t types[2];
		uint64_t ends[2], end;
	} cases[] = {{{PT_LOAD, PT_LOAD}, {0x4000, 0x5000}, 0x5000},
		     {{PT_LOAD, PT_LOAD}, {0x5000, 0x4000}, 0x5000},
		     {{PT_LOAD, PT_NOTE}, {0x4000, 0x5000}, 0x4000},
		     {{PT_NOTE, PT_NOTE}, {0x4000, 0x5000}, 0}};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		make(NULL);
		Elf64_Phdr p[3] = {{.p_type = cases[i].types[0]}, {.p_type = cases[i].types[1]}};
		for (unsigned k = 0; k < 2; k++) {
			p[k].p_vaddr = 0x3000;
			p[k].p_memsz = cases[i].ends[k] - 0x3000;
		}
		p[2] = parts.dynamic;
		((Elf64_Ehdr *)elf.data)->e_phnum = 3;
		((Elf64_Ehdr *)elf.data)->e_phoff = elf.len;
		Elf64_Sym *symbols = (Elf64_Sym *)(elf.data + ELF_SYMBOLS_AT);
		symbols[3].st_info = ELF64_ST_INFO(STB_LOCAL, STT_FUNC);
		symbols[3].st_size = 0x123;
		buf_append(&elf, p, sizeof(p));
		for (enum way way = SYMBOLS; way <= LOADED; way++) {
			asked.extent.end = 1;
			assert_string_equal(read_elf(way, MUCH), "one.kd=1640 two=2000+123 ");
			assert_int_equal(asked.extent.end, cases[i].end);
		}
	}
}

// How many bytes are read of a file: 64, 2 * 56 and 3 * 64 of headers. Of a loaded image: 64 and
// 2 * 56 of headers, 80 of the dynamic section, 8 of the hash table. Of both: 96 of four symbols,
// 24 of names. Then each of the names of 6, 7 and 3 bytes is read, if the budget has room for the
// longest one.
static void test_budget(void **state)
{
	static const struct {
		enum way way;
		uint64_t budget;
		const char *seen;
		uint64_t left;
	} cases[] = {
		{SYMBOLS, 63, "refused", 63},
		{SYMBOLS, 367, "refused", 191},
		{SYMBOLS, 368, "", 0},
		{SYMBOLS, 368 + 95, "", 95},
		{SYMBOLS, 368 + 119, "", 23},
		{SYMBOLS, 368 + 120 + CODE_NAME_MOST, "", CODE_NAME_MOST},
		{SYMBOLS, 368 + 120 + CODE_NAME_MOST + 1, "one.kd=1640 ", CODE_NAME_MOST - 5},
		{SYMBOLS, 368 + 120 + CODE_NAME_MOST + 7, "one.kd=1640 ", CODE_NAME_MOST - 6},
		{SYMBOLS, 368 + 120 + CODE_NAME_MOST + 14, ALL, CODE_NAME_MOST - 2},
		{SYMBOLS, MUCH, ALL, MUCH - 368 - 120 - 16},
		{LOADED, 63, "refused", 63},
		{LOADED, 175, "refused", 111},
		{LOADED, 255, "refused", 79},
		{LOADED, 263, "refused", 7},
		{LOADED, 264 + 95, "refused", 95},
		{LOADED, 264 + 119, "refused", 23},
		{LOADED, 264 + 120, "", 0},
		{LOADED, 264 + 120 + CODE_NAME_MOST, "", CODE_NAME_MOST},
		{LOADED, 264 + 120 + CODE_NAME_MOST + 1, "one.kd=1640 ", CODE_NAME_MOST - 5},
		{LOADED, 264 + 120 + CODE_NAME_MOST + 14, ALL, CODE_NAME_MOST - 2},
		{LOADED, MUCH, ALL, MUCH - 264 - 120 - 16},
	};
	(void)state;
	make(NULL);
	assert_int_equal(parts.sections[2].sh_size, 24);
	for (size_t i = 0; i < COUNT(cases); i++) {
		assert_string_equal(read_elf(cases[i].way, cases[i].budget), cases[i].seen);
		assert_int_equal(asked.budget, cases[i].left);
	}
}

// What leads to the symbols of a loaded file, one thing changed at a time.
static void test_dynamic(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 17; i++) {
		make(NULL);
		Elf64_Ehdr *h = (Elf64_Ehdr *)elf.data;
		Elf64_Phdr *load = (Elf64_Phdr *)(h + 1), *dynamic = load + 1;
		Elf64_Dyn *d = (Elf64_Dyn *)(elf.data + dynamic->p_vaddr);
		const char *seen = "refused";
		switch (i) {
		case 0:
		case 1:
		case 2:
		case 3:
			d[i].d_tag = DT_DEBUG;
			break; // an image without one of the first three is refused
		case 4:
		case 5:
		case 6:
		case 7: d[i - 4].d_un.d_val = 0; break;
		case 8: dynamic->p_memsz = 64, d[4] = d[0], d[4].d_un.d_ptr = 1, seen = ALL; break;
		case 9: dynamic->p_memsz = 63; break;
		case 10: *load = *dynamic, dynamic->p_vaddr = 0, seen = ALL; break; // the first
		case 11: d[4] = d[0], d[0].d_tag = DT_NULL; break;
		case 12: h->e_shnum = SHN_LORESERVE - 1, seen = ALL; break;
		case 13:
			h->e_phnum = 64, dynamic->p_type = PT_NOTE, h->e_phoff = elf.len;
			buf_fill(&elf, 0, 63 * sizeof(*load));
			buf_append(&elf, &parts.dynamic, sizeof(parts.dynamic));
			seen = ALL;
			break;
		case 14:
			h->e_phnum = 65, h->e_phoff = elf.len;
			buf_append(&elf, &parts.dynamic, sizeof(parts.dynamic));
			buf_fill(&elf, 0, 64 * sizeof(*load));
			break;
		case 15: seen = ALL; break;
		case 16: // 64 headers, the most that are read; none is PT_DYNAMIC
			h->e_phnum = 64, h->e_phoff = elf.len;
			buf_fill(&elf, 0, 64 * sizeof(*load));
			break;
		}
		assert_string_equal(read_elf(LOADED, MUCH), seen);
	}
	for (unsigned n = 128; n <= 129; n++) { // entries of the dynamic section
		make(NULL);
		Elf64_Phdr *dynamic = (Elf64_Phdr *)(elf.data + sizeof(Elf64_Ehdr)) + 1;
		dynamic->p_vaddr = elf.len;
		dynamic->p_memsz = n * sizeof(Elf64_Dyn);
		for (unsigned i = 0; i < n - 4; i++)
			buf_append(&elf, &(Elf64_Dyn){.d_tag = DT_DEBUG}, sizeof(Elf64_Dyn));
		buf_append(&elf, parts.entries, 4 * sizeof(Elf64_Dyn));
		assert_string_equal(read_elf(LOADED, MUCH), n == 128 ? ALL : "refused");
	}
}

// A part of a file, or of memory; where it begins and ends.
static void test_offset(void **state)
{
	SCOPED(buf_fini) struct buf moved = {0};
	(void)state;
	make(NULL);
	buf_fill(&moved, 'x', 4096);
	buf_append(&moved, elf.data, elf.len);
	int fd = file_of(&moved);
	assert_string_equal(read_fd(SYMBOLS, fd, 4096, elf.len, MUCH), ALL);
	assert_string_equal(read_fd(LOADED, fd, 4096, 0, MUCH), ALL);
	assert_string_equal(read_fd(SYMBOLS, fd, 4096, elf.len - 1, MUCH), "refused");
	assert_string_equal(read_fd(SYMBOLS, fd, 4096, sizeof(Elf64_Ehdr) - 1, MUCH), "refused");
	void *room =
		mmap(NULL, CODE_SIZE_MOST, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
		     -1, 0); // not where `ulimit -v` is less
	if (room != MAP_FAILED)
		munmap(room, CODE_SIZE_MOST);
	assert_string_equal(read_fd(SYMBOLS, fd, 4096, CODE_SIZE_MOST, MUCH),
			    room == MAP_FAILED ? "refused" : ALL);
	assert_string_equal(read_fd(SYMBOLS, fd, 4096, CODE_SIZE_MOST + 1, MUCH), "refused");
	assert_string_equal(read_fd(SYMBOLS, fd, 4095, elf.len, MUCH), "refused");
	assert_string_equal(read_fd(LOADED, fd, 4097, 0, MUCH), "refused");
	close(fd);
}

static void test_read(void **state)
{
	const size_t size = (2u << 20) + 5; // is read in three pieces
	SCOPED(buf_fini) struct buf b = {0};
	SCOPED(free_at) char *got = xcalloc(size + 1, 1);
	(void)state;
	for (size_t i = 0; i < size; i++)
		buf_append(&b, &(char){(char)(i % 251)}, 1);
	int fd = file_of(&b);
	assert_true(code_read(fd, 0, got, size));
	assert_memory_equal(got, b.data, size);
	assert_true(code_read(fd, 3, got, size - 3));
	assert_memory_equal(got, b.data + 3, size - 3);
	assert_false(code_read(fd, 3, got, size - 2));
	assert_true(code_read(fd, size, got, 0));
	assert_false(code_read(fd, (uint64_t)INT64_MAX + 1, got, 1));
	close(fd);
}

// By a path in the process's root, up to the longest; never by that of a file that was deleted.
// A folder is no file, also if it is asked for first, when no call has set errno yet.
static void test_ask_file(void **state)
{
	char path[PATH_MAX + 1] = "/tmp/gpq-elf-XXXXXX", wanted[PATH_MAX + 1];
	SCOPED(buf_fini) struct buf seen = {0};
	int fd = mkostemp(path, O_CLOEXEC);
	uint64_t load, budget;
	(void)state;
	make(NULL);
	assert_true(fd >= 0);
	assert_int_equal(write_fully(fd, elf.data, elf.len), 0);
	for (size_t i = 7; i-- > 0;) {
		const size_t len = i < 4 ? strlen(path) : PATH_MAX - (i == 4);
		memset(wanted, '/', sizeof(wanted));
		memcpy(wanted + len - strlen(path), path, strlen(path) + 1);
		struct mapping m = {
			.start = 16, .end = 32, .path = wanted, .len = len, .deleted = i == 1};
		const struct code_source from = {.pid = getpid(),
						 .map = i < 2 ? &m : NULL,
						 .path = i == 6  ? "/tmp"
							 : i > 1 ? wanted
								 : NULL,
						 .bytes.size = i == 2   ? elf.len
							       : i == 3 ? elf.len + 1
									: 0,
						 .machine = ELF_MACHINE};
		const bool good = i == 0 || i == 2 || i == 4;
		budget = MUCH;
		seen.len = 0;
		errno = 0;
		assert_int_equal(code_ask_symbols(&from, ".kd", &budget, see, &seen, &load), good);
		if (good)
			assert_string_equal(seen.data, "one.kd=1640 ");
		assert_int_equal(budget, good ? MUCH - 368 - 120 - 16 : MUCH);
	}
	close(fd);
	unlink(path);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_headers),      cmocka_unit_test(test_counts),
		cmocka_unit_test(test_parts),        cmocka_unit_test(test_moved),
		cmocka_unit_test(test_load_address), cmocka_unit_test(test_budget),
		cmocka_unit_test(test_sizes),        cmocka_unit_test(test_dynamic),
		cmocka_unit_test(test_offset),       cmocka_unit_test(test_read),
		cmocka_unit_test(test_ask_file),
	};
	return cmocka_run_group_tests(tests, make, unmake);
}
