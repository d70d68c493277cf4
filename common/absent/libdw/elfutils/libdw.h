#pragma once

#include "common/absent/absent.h"

#include <libelf.h>

typedef struct Dwarf Dwarf;
typedef struct Dwarf_Line Dwarf_Line;
typedef struct Dwarf_Files Dwarf_Files;
typedef struct {
	void *addr;
} Dwarf_Die, Dwarf_Attribute;
typedef uint64_t Dwarf_Addr, Dwarf_Off, Dwarf_Word;
enum { DWARF_C_READ };
enum { DWARF_CB_OK, DWARF_CB_ABORT };

Dwarf *dwarf_begin_elf();
Dwarf_Line *dwarf_getsrc_die();
Dwarf_Die *dwarf_offdie();
Dwarf_Attribute *dwarf_attr(), *dwarf_attr_integrate();
const char *dwarf_diename(), *dwarf_filesrc(), *dwarf_formstring(), *dwarf_linesrc();
int dwarf_end(), dwarf_formudata(), dwarf_getscopes(), dwarf_getscopes_die(), dwarf_getsrcfiles(),
	dwarf_haspc(), dwarf_lineno(), dwarf_nextcu(), dwarf_tag();
