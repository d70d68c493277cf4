// Lines and inlined functions by the debug information of a code object; see code_priv.h.
//
// libdwfl does not know the machine, and compilers make no table of addresses for it: so each unit
// is asked for the addresses that it holds.
//
// Facts: [aql.lines].
#include "common/aql/code.h"
#include "common/aql/code_priv.h"
#include "common/host/dlopen.h"

#include <dwarf.h>
#include <elfutils/libdw.h>

#define DW_FUNCTIONS(X)         \
	X(dwarf_attr)           \
	X(dwarf_attr_integrate) \
	X(dwarf_begin_elf)      \
	X(dwarf_diename)        \
	X(dwarf_end)            \
	X(dwarf_filesrc)        \
	X(dwarf_formstring)     \
	X(dwarf_formudata)      \
	X(dwarf_getscopes)      \
	X(dwarf_getscopes_die)  \
	X(dwarf_getsrc_die)     \
	X(dwarf_getsrcfiles)    \
	X(dwarf_haspc)          \
	X(dwarf_lineno)         \
	X(dwarf_linesrc)        \
	X(dwarf_nextcu)         \
	X(dwarf_offdie)         \
	X(dwarf_tag)
LIB(dw, "libdw.so.1", DW_FUNCTIONS, SUGGESTED, "lines", "Source lines of kernels");

bool code_lines_ready(void)
{
	return dw_get();
}

static const char *function_of(const struct dw *lib, Dwarf_Die *die)
{
	Dwarf_Attribute a;
	const char *name = lib->dwarf_attr_integrate(die, DW_AT_linkage_name, &a)
				   ? lib->dwarf_formstring(&a)
				   : lib->dwarf_diename(die);
	return name ? name : "";
}

// A number of an inlined call; 0: it has none.
static Dwarf_Word number_of(const struct dw *lib, Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute a;
	Dwarf_Word value = 0;
	if (lib->dwarf_attr(die, name, &a))
		lib->dwarf_formudata(&a, &value);
	return value;
}

static void tell_frames(const struct dw *lib, Dwarf_Die *unit, uint64_t at, size_t i,
			code_frame_each *each)
{
	SCOPED(free_at) Dwarf_Die *scopes = NULL;
	SCOPED(free_at) Dwarf_Die *around = NULL; // as they are nested in the outermost function
	Dwarf_Line *row = lib->dwarf_getsrc_die(unit, at);
	const char *file = row ? lib->dwarf_linesrc(row, NULL, NULL) : NULL;
	Dwarf_Files *files = NULL;
	size_t nfiles;
	bool told = false;
	int line = 0, n = lib->dwarf_getscopes(unit, at, &scopes);
	n = n > 0 ? lib->dwarf_getscopes_die(&scopes[0], &around) : 0;
	if (row)
		lib->dwarf_lineno(row, &line);
	lib->dwarf_getsrcfiles(unit, &files, &nfiles);
	for (int k = 0; k < n; k++) {
		const int tag = lib->dwarf_tag(&around[k]);
		if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram)
			continue;
		each(i, function_of(lib, &around[k]), file ? file : "", (unsigned)line);
		told = true;
		line = (int)number_of(lib, &around[k], DW_AT_call_line);
		file = files ? lib->dwarf_filesrc(files,
						  number_of(lib, &around[k], DW_AT_call_file), NULL,
						  NULL)
			     : NULL;
	}
	if (row && !told)
		each(i, "", file ? file : "", (unsigned)line);
}

void code_lines_read(struct Elf *elf, const uint64_t *at, size_t n, code_frame_each *each)
{
	const struct dw *lib = dw_get();
	Dwarf *dwarf = lib ? lib->dwarf_begin_elf(elf, DWARF_C_READ, NULL) : NULL;
	SCOPED(free_at) bool *known = xcalloc(n + 1, sizeof(*known));
	size_t head;
	Dwarf_Die unit;
	for (Dwarf_Off off = 0, next;
	     dwarf && lib->dwarf_nextcu(dwarf, off, &next, &head, NULL, NULL, NULL) == 0;
	     off = next)
		for (size_t i = 0; lib->dwarf_offdie(dwarf, off + head, &unit) && i < n; i++)
			if (!known[i] && lib->dwarf_haspc(&unit, at[i]) > 0) {
				known[i] = true;
				tell_frames(lib, &unit, at[i], i, each);
			}
	if (dwarf)
		lib->dwarf_end(dwarf);
}
