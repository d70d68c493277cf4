// Symbols and debug information of an ELF file of which only some parts are read; see code_priv.h.
//
// libelf sees an image as long as the file, into which headers and what is wanted are read; the
// rest is pages that are never touched. The file may be hostile, and in memory of a process it
// may change between two reads. So nothing that libelf has checked is read again: headers, and the
// parts that they point to, do not overlap.
//
// Facts: elf(5); libelf.h (elf_memory keeps pointers into the image).
#include "common/aql/code_priv.h"

#include "common/aql/code.h"
#include "common/host/dlopen.h"

#include <libelf.h>
#include <sys/mman.h>

#define READ_CHUNK (1u << 20) // bytes to read before the child tells gpq that it is alive

#define ELF_FUNCTIONS(X) \
	X(elf64_getshdr) \
	X(elf_end)       \
	X(elf_getdata)   \
	X(elf_getscn)    \
	X(elf_memory)    \
	X(elf_nextscn)   \
	X(elf_strptr)    \
	X(elf_version)
LIB(elf, "libelf.so.1", ELF_FUNCTIONS, RECOMMENDED, "elf", "Names of kernels from code objects");

struct range {
	uint64_t at, n;
};

struct image {
	const struct code_bytes *from;
	char *data;
	uint64_t *budget;
	struct range headers[3]; // file header, program headers, section headers
	unsigned nheaders;
};

bool code_read(int fd, uint64_t at, void *to, size_t n)
{
	char *p = to;
	while (n && at <= INT64_MAX) {
		ssize_t got = pread(fd, p, n < READ_CHUNK ? n : READ_CHUNK, (off_t)at);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		p += got;
		at += (size_t)got;
		n -= (size_t)got;
		if (n)
			reader_alive();
	}
	return !n;
}

static bool range_overlaps(const struct range *r, uint64_t at, uint64_t n)
{
	return at < r->at + r->n && r->at < at + n;
}

// Reads a part of the file into the image, unless it overlaps headers, which libelf has checked.
static bool fetch_part(struct image *i, uint64_t at, uint64_t n)
{
	if (at > i->from->size || n > i->from->size - at || n > *i->budget)
		return false;
	for (unsigned k = 0; k < i->nheaders; k++)
		if (range_overlaps(&i->headers[k], at, n))
			return false;
	*i->budget -= n;
	return code_read(i->from->fd, i->from->offset + at, i->data + at, n);
}

static bool fetch_header(struct image *i, uint64_t at, uint64_t n)
{
	if (!fetch_part(i, at, n))
		return false;
	i->headers[i->nheaders++] = (struct range){at, n};
	return true;
}

// Refuses extended numbering (more sections or segments than the header can count), which code
// objects do not have, and unaligned section headers, into which libelf would return pointers.
static bool header_is_good(const Elf64_Ehdr *h, unsigned machine)
{
	return memcmp(h->e_ident, ELFMAG, SELFMAG) == 0 && h->e_ident[EI_CLASS] == ELFCLASS64 &&
	       h->e_ident[EI_DATA] == ELFDATA2LSB && h->e_ident[EI_VERSION] == EV_CURRENT &&
	       h->e_version == EV_CURRENT && (!machine || h->e_machine == machine) &&
	       h->e_shentsize == sizeof(Elf64_Shdr) && h->e_shnum && h->e_shnum < SHN_LORESERVE &&
	       h->e_shoff % sizeof(uint64_t) == 0 && h->e_phentsize == sizeof(Elf64_Phdr) &&
	       h->e_phnum && h->e_phnum < PN_XNUM;
}

static bool fetch_headers(struct image *i, unsigned machine)
{
	const Elf64_Ehdr *h = (const void *)i->data;
	return fetch_header(i, 0, sizeof(*h)) && header_is_good(h, machine) &&
	       fetch_header(i, h->e_phoff, h->e_phnum * sizeof(Elf64_Phdr)) &&
	       fetch_header(i, h->e_shoff, h->e_shnum * sizeof(Elf64_Shdr));
}

// The file's first byte is in the first segment that begins with it.
static struct code_extent extent_of(const char *segments, size_t n)
{
	struct code_extent e = {0};
	for (size_t k = n; k-- > 0;) {
		Elf64_Phdr p;
		memcpy(&p, segments + k * sizeof(p), sizeof(p));
		if (p.p_type != PT_LOAD)
			continue;
		const uint64_t end = p.p_vaddr + p.p_memsz;
		e.end = end > e.end ? end : e.end;
		e.load = p.p_offset ? e.load : p.p_vaddr;
	}
	return e;
}

// The string table must end with a NUL, else libelf searches all of it for the end of each name.
static bool fetch_names(struct image *i, const Elf64_Shdr *s)
{
	return s && s->sh_type == SHT_STRTAB && !(s->sh_flags & SHF_COMPRESSED) && s->sh_size &&
	       fetch_part(i, s->sh_offset, s->sh_size) && !i->data[s->sh_offset + s->sh_size - 1];
}

// The size of a function; 0: it is none.
static uint64_t function_size(const Elf64_Sym *s)
{
	return ELF64_ST_TYPE(s->st_info) == STT_FUNC ? s->st_size : 0;
}

static void read_symbol_section(const struct elf *lib, Elf *elf, struct image *i, Elf_Scn *table,
				code_symbol *each, void *arg)
{
	const Elf64_Shdr *s = lib->elf64_getshdr(table);
	size_t strings = s->sh_link;
	if (s->sh_entsize != sizeof(Elf64_Sym) || s->sh_offset % sizeof(uint64_t) ||
	    (s->sh_flags & SHF_COMPRESSED) || !fetch_part(i, s->sh_offset, s->sh_size) ||
	    !fetch_names(i, lib->elf64_getshdr(lib->elf_getscn(elf, strings))))
		return;
	const Elf_Data *d = lib->elf_getdata(table, NULL);
	size_t n = d && d->d_buf ? d->d_size / sizeof(Elf64_Sym) : 0;
	for (size_t k = 1; k<n && * i->budget> CODE_NAME_MOST; k++) {
		const Elf64_Sym *sym = (const Elf64_Sym *)d->d_buf + k;
		const char *name = lib->elf_strptr(elf, strings, sym->st_name);
		size_t len = name ? strnlen(name, CODE_NAME_MOST + 4) : 0;
		*i->budget -= len < *i->budget ? len : *i->budget;
		if (len && sym->st_shndx != SHN_UNDEF)
			each(arg, name, len, sym->st_value, function_size(sym));
	}
}

// Reads all sections of debug information, but compressed ones, which libdw then refuses. False
// when there are none, or one cannot be read.
static bool fetch_debug(const struct elf *lib, Elf *elf, struct image *i)
{
	const size_t names = ((const Elf64_Ehdr *)(const void *)i->data)->e_shstrndx;
	Elf_Scn *s = NULL;
	bool any = false;
	if (!fetch_names(i, lib->elf64_getshdr(lib->elf_getscn(elf, names))))
		return false;
	while ((s = lib->elf_nextscn(elf, s))) {
		const Elf64_Shdr *h = lib->elf64_getshdr(s);
		const char *name = h ? lib->elf_strptr(elf, names, h->sh_name) : NULL;
		if (!name || strncmp(name, ".debug_", 7) != 0 || (h->sh_flags & SHF_COMPRESSED))
			continue;
		if (h->sh_type != SHT_PROGBITS || !fetch_part(i, h->sh_offset, h->sh_size))
			return false;
		any = true;
	}
	return any;
}

static bool read_image(const struct elf *lib, struct image *i, code_symbol *each, code_debug *debug,
		       void *arg)
{
	Elf *elf = lib->elf_memory(i->data, i->from->size);
	Elf_Scn *s = NULL;
	if (!elf)
		return false;
	while ((s = lib->elf_nextscn(elf, s))) {
		const Elf64_Shdr *h = lib->elf64_getshdr(s);
		if (h && (h->sh_type == SHT_DYNSYM || h->sh_type == SHT_SYMTAB))
			read_symbol_section(lib, elf, i, s, each, arg);
	}
	if (debug && fetch_debug(lib, elf, i))
		debug(arg, elf);
	lib->elf_end(elf);
	return true;
}

bool code_elf_ready(void)
{
	return elf_get();
}

bool code_elf_symbols(const struct code_bytes *from, unsigned machine, uint64_t *budget,
		      code_symbol *each, code_debug *debug, void *arg, struct code_extent *extent)
{
	const struct elf *lib = elf_get();
	struct image i = {.from = from, .budget = budget};
	bool ok = false;
	if (!lib || lib->elf_version(EV_CURRENT) == EV_NONE || from->size < sizeof(Elf64_Ehdr) ||
	    from->size > CODE_SIZE_MOST)
		return false;
	// RLIMIT_DATA does not count shared memory.
	i.data = mmap(NULL, from->size, PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (i.data == MAP_FAILED)
		return false;
	if (fetch_headers(&i, machine)) {
		const Elf64_Ehdr *h = (const void *)i.data;
		*extent = extent_of(i.data + h->e_phoff, h->e_phnum);
		ok = read_image(lib, &i, each, debug, arg);
	}
	munmap(i.data, from->size);
	return ok;
}

// --- symbols of a loaded file, by its dynamic section, as section headers are not loaded ---

#define SEGMENTS_MOST 64
#define DYNAMIC_MOST  128

struct loaded {
	int mem;
	uint64_t base, *budget;
	uint64_t symbols, names, names_size, hash;
};

static bool read_loaded(const struct loaded *l, uint64_t at, void *to, uint64_t n)
{
	if (n > *l->budget)
		return false;
	*l->budget -= n;
	return code_read(l->mem, l->base + at, to, n);
}

static bool find_dynamic(const struct loaded *l, unsigned machine, Elf64_Phdr *found, uint64_t *end)
{
	Elf64_Phdr segments[SEGMENTS_MOST] = {0};
	Elf64_Ehdr h;
	if (!read_loaded(l, 0, &h, sizeof(h)) || !header_is_good(&h, machine) ||
	    h.e_phnum > SEGMENTS_MOST ||
	    !read_loaded(l, h.e_phoff, segments, h.e_phnum * sizeof(*segments)))
		return false;
	*end = extent_of((const char *)segments, h.e_phnum).end;
	for (unsigned i = 0; i < h.e_phnum; i++)
		if (segments[i].p_type == PT_DYNAMIC) {
			*found = segments[i];
			return true;
		}
	return false;
}

static bool read_dynamic(struct loaded *l, const Elf64_Phdr *segment)
{
	Elf64_Dyn d[DYNAMIC_MOST] = {0};
	uint64_t n = segment->p_memsz / sizeof(*d);
	if (n > DYNAMIC_MOST || !read_loaded(l, segment->p_vaddr, d, n * sizeof(*d)))
		return false;
	for (size_t i = 0; i < n && d[i].d_tag != DT_NULL; i++)
		switch (d[i].d_tag) {
		case DT_SYMTAB: l->symbols = d[i].d_un.d_ptr; break;
		case DT_STRTAB: l->names = d[i].d_un.d_ptr; break;
		case DT_STRSZ: l->names_size = d[i].d_un.d_val; break;
		case DT_HASH: l->hash = d[i].d_un.d_ptr; break;
		}
	return l->symbols && l->names && l->names_size && l->hash;
}

static void give_symbols(const struct loaded *l, const Elf64_Sym *symbols, size_t n,
			 const char *names, code_symbol *each, void *arg)
{
	for (size_t k = 1; k<n && * l->budget> CODE_NAME_MOST; k++) {
		const Elf64_Sym *s = &symbols[k];
		size_t len = s->st_name < l->names_size
				     ? strnlen(names + s->st_name, CODE_NAME_MOST + 4)
				     : 0;
		*l->budget -= len;
		if (len && s->st_shndx != SHN_UNDEF)
			each(arg, names + s->st_name, len, s->st_value, function_size(s));
	}
}

bool code_elf_loaded(int mem, uint64_t base, unsigned machine, uint64_t *budget, code_symbol *each,
		     void *arg, struct code_extent *extent)
{
	struct loaded l = {.mem = mem, .base = base, .budget = budget};
	uint32_t hash[2]; // numbers of buckets and of symbols
	Elf64_Phdr dynamic;
	if (!find_dynamic(&l, machine, &dynamic, &extent->end) || !read_dynamic(&l, &dynamic) ||
	    !read_loaded(&l, l.hash, hash, sizeof(hash)) || hash[1] > *budget / sizeof(Elf64_Sym) ||
	    l.names_size > *budget)
		return false;
	SCOPED(free_at) Elf64_Sym *symbols = xcalloc(hash[1] + 1, sizeof(*symbols));
	SCOPED(free_at) char *names = xcalloc(l.names_size + 1, 1);
	bool ok = read_loaded(&l, l.symbols, symbols, hash[1] * sizeof(*symbols)) &&
		  read_loaded(&l, l.names, names, l.names_size);
	if (ok)
		give_symbols(&l, symbols, hash[1], names, each, arg);
	return ok;
}
