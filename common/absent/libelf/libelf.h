#pragma once

#include "common/absent/absent.h"

#include <elf.h>

typedef struct Elf Elf;
typedef struct Elf_Scn Elf_Scn;
typedef struct {
	void *d_buf;
	size_t d_size;
} Elf_Data;
typedef Elf64_Word GElf_Word;
enum { ELF_C_READ_MMAP };

Elf *elf_begin(), *elf_memory();
Elf_Scn *elf_getscn(), *elf_nextscn();
Elf_Data *elf_getdata();
Elf64_Shdr *elf64_getshdr();
char *elf_strptr();
int elf_end();
unsigned elf_version();
