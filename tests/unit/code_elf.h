// A code object of a few symbols, byte by byte: headers, .dynsym, .dynstr, .hash, .dynamic
// (elf(5)). Its addresses are its offsets, so that it is also what is loaded.
#pragma once

#include "common/host/std.h"

#include <elf.h>

#define ELF_MACHINE 224 // EM_AMDGPU

struct elf_symbol {
	const char *name;
	uint64_t value;
	bool undefined;
};

// Where its parts begin: symbols behind the headers, names behind them, then the sections' headers.
#define ELF_SYMBOLS_AT (sizeof(Elf64_Ehdr) + 2 * sizeof(Elf64_Phdr))

struct elf_parts {
	Elf64_Ehdr file;
	Elf64_Phdr load, dynamic;
	uint32_t hash[2]; // buckets, symbols
	Elf64_Dyn entries[5];
	Elf64_Shdr sections[3]; // none, .dynsym, .dynstr
};

// Adds the whole to `to`, and says in `parts` what it wrote.
static inline void elf_make(struct buf *to, unsigned machine, const struct elf_symbol *symbols,
			    size_t n, struct elf_parts *parts)
{
	const size_t names_at = ELF_SYMBOLS_AT + (n + 1) * sizeof(Elf64_Sym);
	struct buf names = {0};
	Elf64_Sym table[64] = {{0}};
	buf_append(&names, "", 1);
	for (size_t i = 0; i < n; i++) {
		table[i + 1] = (Elf64_Sym){.st_name = (Elf64_Word)names.len,
					   .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT),
					   .st_shndx = symbols[i].undefined ? SHN_UNDEF : 1,
					   .st_value = symbols[i].value,
					   .st_size = 64};
		buf_append(&names, symbols[i].name, strlen(symbols[i].name) + 1);
	}
	while (names.len % 8)
		buf_append(&names, "", 1);
	const size_t hash_at = names_at + names.len, dynamic_at = hash_at + sizeof(parts->hash);
	*parts = (struct elf_parts){
		.file = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
			 .e_type = ET_DYN,
			 .e_machine = (Elf64_Half)machine,
			 .e_version = EV_CURRENT,
			 .e_phoff = sizeof(Elf64_Ehdr),
			 .e_shoff = dynamic_at + sizeof(parts->entries),
			 .e_ehsize = sizeof(Elf64_Ehdr),
			 .e_phentsize = sizeof(Elf64_Phdr),
			 .e_phnum = 2,
			 .e_shentsize = sizeof(Elf64_Shdr),
			 .e_shnum = 3},
		.load = {.p_type = PT_LOAD, .p_filesz = dynamic_at},
		.dynamic = {.p_type = PT_DYNAMIC,
			    .p_vaddr = dynamic_at,
			    .p_memsz = sizeof(parts->entries)},
		.hash = {0, (uint32_t)n + 1},
		.entries = {{DT_SYMTAB, {ELF_SYMBOLS_AT}},
			    {DT_STRTAB, {names_at}},
			    {DT_STRSZ, {names.len}},
			    {DT_HASH, {hash_at}}},
		.sections = {[1] = {.sh_type = SHT_DYNSYM,
				    .sh_offset = ELF_SYMBOLS_AT,
				    .sh_size = (n + 1) * sizeof(Elf64_Sym),
				    .sh_link = 2,
				    .sh_entsize = sizeof(Elf64_Sym),
				    .sh_addralign = 8},
			     [2] = {.sh_type = SHT_STRTAB,
				    .sh_offset = names_at,
				    .sh_size = names.len,
				    .sh_addralign = 1}}};
	buf_append(to, &parts->file, sizeof(parts->file));
	buf_append(to, &parts->load, sizeof(parts->load));
	buf_append(to, &parts->dynamic, sizeof(parts->dynamic));
	buf_append(to, table, (n + 1) * sizeof(*table));
	buf_append(to, names.data, names.len);
	buf_append(to, parts->hash, sizeof(parts->hash));
	buf_append(to, parts->entries, sizeof(parts->entries));
	buf_append(to, parts->sections, sizeof(parts->sections));
	buf_fini(&names);
}
