// A code object of a few symbols, byte by byte: headers, .dynsym, .dynstr (elf(5)).
#ifndef GPQ_TESTS_UNIT_CODE_ELF_H
#define GPQ_TESTS_UNIT_CODE_ELF_H

#include "common/host/buf.h"

#include <elf.h>

#define ELF_MACHINE 224 // EM_AMDGPU

struct elf_symbol {
	const char *name;
	uint64_t value;
	bool undefined;
};

// Where its parts begin: symbols behind the headers, names behind them, then the sections' headers.
#define ELF_SYMBOLS_AT (sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr))

struct elf_parts {
	Elf64_Ehdr file;
	Elf64_Phdr load;
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
	*parts = (struct elf_parts){
		.file = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
			 .e_type = ET_DYN,
			 .e_machine = (Elf64_Half)machine,
			 .e_version = EV_CURRENT,
			 .e_phoff = sizeof(Elf64_Ehdr),
			 .e_shoff = names_at + names.len,
			 .e_ehsize = sizeof(Elf64_Ehdr),
			 .e_phentsize = sizeof(Elf64_Phdr),
			 .e_phnum = 1,
			 .e_shentsize = sizeof(Elf64_Shdr),
			 .e_shnum = 3},
		.load = {.p_type = PT_LOAD, .p_vaddr = 0x1000, .p_filesz = names_at + names.len},
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
	buf_append(to, table, (n + 1) * sizeof(*table));
	buf_append(to, names.data, names.len);
	buf_append(to, parts->sections, sizeof(parts->sections));
	buf_fini(&names);
}

#endif
