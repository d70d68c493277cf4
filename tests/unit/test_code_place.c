// Places of program counters, common/aql/code.h: functions, source lines and inlined functions.
//
// The code objects are tests/data/aql/code/*.co, whose HOW says how they were made; what stands
// where was told by LLVM's own tools. The list of the runtime is that of fake_runtime.c, read as
// that of any process. Facts: [aql.functions], [aql.lines].
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/aql/code.h"

#include "common/aql/code_ask.c" // NOLINT(bugprone-suspicious-include)
#include "common/host/root.h"
#include "common/host/std.h"
#include "tests/unit/code_elf.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define BASE(i) (0x7f0000000000 + ((uint64_t)(i) << 20)) // where nothing can be read
#define END     0x42b0                                   // of the segments of place.co

static struct r_debug *runtime;
static struct link_map links[4];
static char folder[PATH_MAX];
static struct buf place; // place.co

static int setup(void **state)
{
	char self[PATH_MAX] = "";
	(void)state;
	if (readlink("/proc/self/exe", self, sizeof(self) - 1) <= 0 ||
	    !realpath("tests/data/aql/code", folder))
		return -1;
	*strrchr(self, '/') = '\0';
	SCOPED(free_at) char *name = xasprintf("%s/fake/libhsa-runtime64.so.1", self);
	SCOPED(free_at) char *code = xasprintf("%s/place.co", folder);
	void *lib = dlopen(name, RTLD_NOW);
	runtime = lib ? dlsym(lib, "_amdgpu_r_debug") : NULL;
	return runtime && buf_read_at(&place, AT_FDCWD, code) > 0 ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	buf_fini(&place);
	return 0;
}

static char *uri_text(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

static char *uri_text(const char *fmt, ...)
{
	static char texts[4][PATH_MAX + 100];
	static unsigned next;
	char *to = texts[next++ % COUNT(texts)];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(to, sizeof(texts[0]), fmt, ap);
	va_end(ap);
	return to;
}

static char *file_uri(const char *name)
{
	return uri_text("file://%s/%s", folder, name);
}

static char *memory_uri(const struct buf *b)
{
	return uri_text("memory://%d#offset=0x%lx&size=%zu", getpid(), (unsigned long)b->data,
			b->len);
}

// Makes these URIs the runtime's list. Those of NULL end it.
static struct code_names *load(const char *first, uint64_t first_base, const char *second,
			       uint64_t second_base)
{
	memset(links, 0, sizeof(links));
	links[0] = (struct link_map){.l_addr = first_base, .l_name = (char *)(uintptr_t)first};
	links[1] = (struct link_map){.l_addr = second_base, .l_name = (char *)(uintptr_t)second};
	if (second) {
		links[0].l_next = &links[1];
		links[1].l_prev = &links[0];
	}
	runtime->r_map = first ? links : NULL;
	return code_names_new(getpid());
}

// What is said of a place: "none", "unknown" or "OBJECT:FUNCTION+OFFSET FRAMES", each frame as
// " FUNCTION FILE:LINE", as llvm-symbolizer has them, "?" for what is missing.
static const char *text_of(const struct code_place *p)
{
	static struct buf b;
	b.len = 0;
	if (!p->object) {
		buf_puts(&b, p->unknown ? "unknown" : "none");
		assert_null(p->function);
		assert_int_equal(p->nframes, 0);
		assert_int_equal(p->offset | p->address | p->at | p->size, 0);
		return b.data;
	}
	assert_false(p->unknown);
	buf_printf(&b, "%s:%s+%" PRIx64, p->object, p->function ? p->function : "?", p->offset);
	for (unsigned i = 0; i < p->nframes; i++) {
		const struct code_frame *f = &p->frames[i];
		buf_printf(&b, " %s %s:%u", *f->function ? f->function : "?",
			   *f->file ? f->file : "?", f->line);
	}
	return b.data;
}

static const char *one_place(struct code_names *c, uint64_t pc)
{
	struct code_place p = {.pc = pc, .unknown = true, .nframes = 3, .object = "old"};
	code_places(c, &p, 1);
	assert_int_equal(p.pc, pc);
	return text_of(&p);
}

#define FOUR "_ZL4fourPVi /src/place.hip:%u _Z5placePVii /src/place.hip:19"
#define N(n) " _ZL4nestILi" #n "EEiPVi /src/more.hip:"
#define NESTED                                                                                  \
	N(0)                                                                                    \
	"16" N(1) "11" N(2) "11" N(3) "11" N(4) "11" N(5) "11" N(6) "11" N(7) "11" N(8) "11" N( \
		9) "11" N(10) "11" N(11) "11" N(12) "11" N(13) "11" N(14) "11"

static const struct {
	uint64_t at;
	const char *told;
} lines[] = {
	{0, "place.co:?+0"},
	{0x1fff, "place.co:?+1fff"},
	// A function of its own: its first byte, a line 0, its last byte, and what is behind it.
	{0x2000, "place.co:_ZL5apartPVii+0 _ZL5apartPVii /src/place.hip:11"},
	{0x2008, "place.co:_ZL5apartPVii+8 _ZL5apartPVii /src/place.hip:0"},
	{0x2034, "place.co:_ZL5apartPVii+34 _ZL5apartPVii /src/place.hip:12"},
	{0x206f, "place.co:_ZL5apartPVii+6f _ZL5apartPVii /src/place.hip:14"},
	{0x2070, "place.co:?+2070"},
	{0x20ff, "place.co:?+20ff"},
	{0x2100, "place.co:_Z5placePVii+0 _Z5placePVii /src/place.hip:18"},
	// The same line of the same function, inlined at two lines.
	{0x2174, "place.co:_Z5placePVii+74 _ZL5twicePVi /src/twice.h:7 _ZL4fourPVi "
		 "/src/place.hip:6 _Z5placePVii /src/place.hip:19"},
	{0x217c, "place.co:_Z5placePVii+7c _ZL5twicePVi /src/twice.h:7 _ZL4fourPVi "
		 "/src/place.hip:7 _Z5placePVii /src/place.hip:19"},
	{0x2180, "place.co:_Z5placePVii+80 _ZL4fourPVi /src/place.hip:6 _Z5placePVii "
		 "/src/place.hip:19"},
	{0x2188, "place.co:_Z5placePVii+88 _Z5placePVii /src/place.hip:19"},
	{0x21b0, "place.co:_Z5placePVii+b0 _Z5placePVii /src/place.hip:0"},
	{0x21d0, "place.co:_Z5placePVii+d0 _Z5placePVii /src/place.hip:24"},
	{0x21df, "place.co:_Z5placePVii+df _Z5placePVii /src/place.hip:25"},
	{0x21e0, "place.co:?+21e0"},
	// Another unit, of DWARF 4.
	{0x2600, "place.co:_Z4morePVi+0 _Z4morePVi /src/more.hip:5"},
	{0x2620, "place.co:_Z4morePVi+20 _ZL5twicePVi /src/twice.h:8 _Z4morePVi "
		 "/src/more.hip:6"},
	{0x263f, "place.co:_Z4morePVi+3f _Z4morePVi /src/more.hip:7"},
	{0x2640, "place.co:?+2640"},
	// As many functions as are told, and one more.
	{0x2714, "place.co:_Z4fitsPVi+14" NESTED " _Z4fitsPVi /src/more.hip:21"},
	{0x2814, "place.co:_Z4deepPVi+14" NESTED N(15) "11"},
	// A function of C; a unit without functions, and what is behind it.
	{0x2927, "place.co:plain+27 plain /src/more.hip:32"},
	{0x2e27, "place.co:_Z6tablesPVi+27 ? /src/tables.hip:7"},
	{0x2e28, "place.co:?+2e28"},
	{END - 1, "place.co:?+42af"},
	{END, "none"},
};

// All at once, in any order, and each alone.
static void test_lines(void **state)
{
	struct code_place v[COUNT(lines)];
	struct code_names *c = load(file_uri("place.co"), BASE(1), NULL, 0);
	(void)state;
	for (size_t i = 0; i < COUNT(lines); i++)
		v[COUNT(lines) - 1 - i] = (struct code_place){.pc = BASE(1) + lines[i].at};
	code_places(c, v, COUNT(lines));
	for (size_t i = 0; i < COUNT(lines); i++) {
		assert_int_equal(v[i].pc, BASE(1) + lines[i].at);
		assert_string_equal(text_of(&v[i]), lines[i].told);
	}
	for (size_t i = 0; i < COUNT(lines); i++)
		assert_string_equal(one_place(c, BASE(1) + lines[i].at), lines[i].told);
	assert_string_equal(one_place(c, BASE(1) - 1), "none");
	assert_string_equal(one_place(c, 0), "none");
	assert_string_equal(one_place(c, UINT64_MAX), "none");
	code_places(c, NULL, 0);
	// Names of kernels are not changed by it.
	assert_string_equal(code_name(c, BASE(1) + 0xdc0), "_Z5placePVii");
	code_names_free(c);
}

// What is loaded of place.co: its segments at their addresses, up to the end of a page.
static char *map_loaded(const char *file)
{
	char *image =
		mmap(NULL, 0x5000, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	Elf64_Ehdr h;
	assert_ptr_not_equal(image, MAP_FAILED);
	memcpy(&h, file, sizeof(h));
	for (unsigned i = 0; i < h.e_phnum; i++) {
		Elf64_Phdr p;
		memcpy(&p, file + h.e_phoff + i * sizeof(p), sizeof(p));
		if (p.p_type == PT_LOAD)
			memcpy(image + p.p_vaddr, file + p.p_offset, p.p_filesz);
	}
	return image;
}

#define APART_LINE "_ZL5apartPVii+0 _ZL5apartPVii /src/place.hip:11"

// Where the object is read: symbols of functions apart are in a file, or in memory that has the
// whole file, and only there are lines.
static void test_sources(void **state)
{
	static const char *const missing[] = {"file:///no/such/file", "memory://1#offset=8&size=64",
					      "other://"};
	char *image = map_loaded(place.data);
	const uint64_t at = (uintptr_t)image;
	(void)state;
	struct code_names *c = load(file_uri("stripped.co"), BASE(0), memory_uri(&place), BASE(1));
	assert_string_equal(one_place(c, BASE(0) + 0x2188), "stripped.co:_Z5placePVii+88");
	assert_string_equal(one_place(c, BASE(0) + 0x2000), "stripped.co:?+2000");
	assert_string_equal(one_place(c, BASE(1) - 1), "none");
	assert_string_equal(one_place(c, BASE(1) + 0x2000), "memory:" APART_LINE);
	code_names_free(c);
	// The same beside what is loaded, where the file's symbols are not.
	c = load(memory_uri(&place), at, NULL, 0);
	assert_string_equal(one_place(c, at + 0x2000), "memory:" APART_LINE);
	code_names_free(c);
	for (size_t i = 0; i < COUNT(missing); i++) {
		c = load(missing[i], at, NULL, 0);
		const char *name = i ? "memory" : "file";
		assert_string_equal(one_place(c, at + 0x2188),
				    uri_text("%s:_Z5placePVii+88", name));
		assert_string_equal(one_place(c, at + 0x2000), uri_text("%s:?+2000", name));
		assert_string_equal(one_place(c, at + END - 1), uri_text("%s:?+42af", name));
		assert_string_equal(one_place(c, at + END), "none");
		code_names_free(c);
	}
	// A file, or memory, that by now holds another object.
	image[0x1ff]++;
	c = load(file_uri("place.co"), at, NULL, 0);
	assert_string_equal(one_place(c, at + 0x2000), "place.co:?+2000");
	assert_string_equal(one_place(c, at + 0x2188), "place.co:_Z5placePVii+88");
	code_names_free(c);
	c = load(memory_uri(&place), at, NULL, 0);
	assert_string_equal(one_place(c, at + 0x2000), "memory:?+2000");
	code_names_free(c);
	munmap(image, 0x5000);
}

// A file that the process has mapped, though it is gone. Of a part of it only root has the rest.
static void test_mapped(void **state)
{
	const long page = sysconf(_SC_PAGESIZE);
	(void)state;
	for (size_t whole = 0; whole < 2; whole++) {
		char path[] = "/tmp/gpq-place-XXXXXX";
		const int fd = mkostemp(path, O_CLOEXEC);
		const size_t size = whole ? place.len : (size_t)page;
		assert_true(fd >= 0 && write_fully(fd, place.data, place.len) == 0);
		void *at = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
		SCOPED(free_at)
		char *uri = xasprintf("file://%s#offset=0&size=%zu", path, place.len);
		assert_ptr_not_equal(at, MAP_FAILED);
		close(fd);
		unlink(path);
		struct code_names *c = load(uri, BASE(0), NULL, 0);
		const char *told = one_place(c, BASE(0) + 0x2000);
		if (whole || !geteuid())
			assert_string_equal(strchr(told, ':') + 1, APART_LINE);
		else
			assert_string_equal(told, "unknown");
		code_names_free(c);
		munmap(at, size);
	}
}

// Without a list nothing is known; of an object that cannot be read, where it ends is not.
static void test_unknown(void **state)
{
	(void)state;
	struct code_names *c = load("file:///no/such/file", BASE(1), file_uri("place.co"), BASE(3));
	assert_string_equal(one_place(c, BASE(0)), "none");
	assert_string_equal(one_place(c, BASE(1)), "unknown");
	assert_string_equal(one_place(c, BASE(3) - 1), "unknown");
	assert_string_equal(one_place(c, BASE(3)), "place.co:?+0");
	code_names_free(c);
	c = load(NULL, 0, NULL, 0);
	assert_string_equal(one_place(c, BASE(1)), "none");
	runtime->r_version = 0;
	code_names_refresh(c);
	assert_int_equal(code_names_error(c), ENOENT);
	assert_string_equal(one_place(c, BASE(1)), "unknown");
	runtime->r_version = 11;
	code_names_free(c);
}

// Names of kernels are recorded, places are not.
static void test_recorded(void **state)
{
	static const char *const made[] = {"", "/proc", "/proc/77", "/proc/77/kernels"};
	char root[] = "/tmp/gpq-place-XXXXXX", path[sizeof(root) + 32];
	(void)state;
	assert_non_null(mkdtemp(root));
	for (size_t i = 1; i < COUNT(made); i++) {
		snprintf(path, sizeof(path), "%s%s", root, made[i]);
		assert_true(i == 3 || mkdir(path, 0700) == 0);
	}
	const int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(write_fully(fd, "1000 add\n", 9), 0);
	close(fd);
	assert_int_equal(host_set_root(root), 0);
	struct code_names *c = code_names_new(77);
	assert_int_equal(code_names_error(c), 0);
	assert_string_equal(code_name(c, 0x1000), "add");
	assert_string_equal(one_place(c, 0x1000), "unknown");
	code_names_free(c);
	assert_int_equal(host_set_root(NULL), 0);
	for (size_t i = COUNT(made); i-- > 0;) {
		snprintf(path, sizeof(path), "%s%s", root, made[i]);
		remove(path);
	}
}

// What a disassembler must be told.
static void test_paths(void **state)
{
	SCOPED(buf_fini) struct buf whole = {0};
	char path[] = "/tmp/gpq place-XXXXXX";
	const int fd = mkostemp(path, O_CLOEXEC);
	struct code_place v[] = {{.pc = BASE(1) + 0x2008}, {.pc = BASE(0) + 0x2188}};
	(void)state;
	buf_fill(&whole, 'x', 4096);
	buf_append(&whole, place.data, place.len);
	assert_true(fd >= 0 && write_fully(fd, whole.data, whole.len) == 0);
	SCOPED(free_at)
	char *uri = xasprintf("file:///tmp/gpq%%20%s#offset=4096&size=%zu",
			      path + strlen("/tmp/gpq "), place.len);
	struct code_names *c = load(uri, BASE(0), memory_uri(&place), BASE(1));
	code_places(c, v, 2);
	assert_string_equal(v[0].path, path);
	assert_string_equal(v[0].object, strrchr(path, '/') + 1);
	assert_string_equal(v[0].function, "_Z5placePVii");
	assert_int_equal(v[0].at, 4096);
	assert_int_equal(v[0].size, place.len);
	assert_int_equal(v[0].address, 0x2188);
	assert_null(v[1].path);
	assert_string_equal(text_of(&v[1]),
			    "memory:_ZL5apartPVii+8 _ZL5apartPVii /src/place.hip:0");
	assert_int_equal(v[1].at, (uintptr_t)place.data);
	assert_int_equal(v[1].size, place.len);
	assert_int_equal(v[1].address, 0x2008);
	code_names_free(c);
	c = load("other://", (uintptr_t)place.data, file_uri("place.co"), BASE(0));
	v[0].pc = (uintptr_t)place.data + 5;
	v[1].pc = BASE(0) + 5;
	code_places(c, v, 2);
	const struct code_place *file = &v[v[0].pc != BASE(0) + 5],
				*image = &v[v[0].pc == BASE(0) + 5];
	assert_int_equal(file->at | file->size, 0);
	assert_int_equal(file->address, 5);
	assert_string_equal(file->path + strlen(file->path) - 9, "/place.co");
	assert_null(image->path);
	assert_int_equal(image->at, (uintptr_t)place.data);
	assert_int_equal(image->address, 5);
	code_names_free(c);
	unlink(path);
	close(fd);
}

// --- symbols that no compiler makes ---

struct function {
	const char *name;
	uint64_t value, size;
	unsigned type;
};

static void make_functions(struct buf *to, const struct function *f, size_t n)
{
	struct elf_symbol symbols[16];
	struct elf_parts p;
	for (size_t i = 0; i < n; i++)
		symbols[i] = (struct elf_symbol){f[i].name, f[i].value, false};
	to->len = 0;
	elf_make(to, ELF_MACHINE, symbols, n, &p);
	for (size_t i = 0; i < n; i++) {
		Elf64_Sym *s = (Elf64_Sym *)(to->data + ELF_SYMBOLS_AT) + i + 1;
		s->st_info = ELF64_ST_INFO(STB_LOCAL, f[i].type);
		s->st_size = f[i].size;
	}
	((Elf64_Phdr *)(to->data + sizeof(Elf64_Ehdr)))->p_memsz = 0x5000;
}

// Of functions within each other, the inner one is told, wherever it stands in the table; of two
// that begin together, the first.
static void test_functions(void **state)
{
	static const struct function all[] = {
		{"inner", 0x1040, 0x10, STT_FUNC},  {"outer", 0x1000, 0x100, STT_FUNC},
		{"within", 0x1080, 0x10, STT_FUNC}, {"alias", 0x1040, 0x10, STT_FUNC},
		{"data", 0x1044, 4, STT_OBJECT},    {"nothing", 0x1048, 0, STT_FUNC},
		{"zero", 0, 1, STT_FUNC},           {"all", 0x4000, UINT64_MAX - 0x4000, STT_FUNC},
	};
	static const struct {
		uint64_t at;
		const char *told;
	} cases[] = {
		{0, "memory:zero+0"},        {1, "memory:?+1"},
		{0x1000, "memory:outer+0"},  {0x103f, "memory:outer+3f"},
		{0x1040, "memory:inner+0"},  {0x1044, "memory:inner+4"},
		{0x1048, "memory:inner+8"},  {0x104f, "memory:inner+f"},
		{0x1050, "memory:outer+50"}, {0x1088, "memory:within+8"},
		{0x10ff, "memory:outer+ff"}, {0x1100, "memory:?+1100"},
		{0x4fff, "memory:all+fff"},  {0x5000, "none"},
	};
	SCOPED(buf_fini) struct buf elf = {0};
	(void)state;
	make_functions(&elf, all, COUNT(all));
	struct code_names *c = load(memory_uri(&elf), BASE(0), NULL, 0);
	for (size_t i = 0; i < COUNT(cases); i++)
		assert_string_equal(one_place(c, BASE(0) + cases[i].at), cases[i].told);
	code_names_free(c);
}

// How many of `n` places, a byte apart, are told the function that holds them all.
static size_t told_of(struct code_names *c, size_t n)
{
	struct code_place *v = xcalloc(n, sizeof(*v));
	size_t told = 0, held = 0;
	for (size_t i = 0; i < n; i++)
		v[i].pc = BASE(0) + i;
	code_places(c, v, n);
	for (size_t i = 0; i < n; i++) {
		held += v[i].object && strcmp(v[i].object, "memory") == 0;
		told += v[i].function && v[i].offset == i;
	}
	free(v);
	assert_int_equal(held, n);
	return told;
}

// More places than go into a question; names of all places together, and of one.
static void test_limits(void **state)
{
	SCOPED(free_at) char *name = xcalloc(CODE_NAME_MOST + 2, 1);
	struct function f = {"short", 0, 0x5000, STT_FUNC};
	SCOPED(buf_fini) struct buf elf = {0};
	(void)state;
	make_functions(&elf, &f, 1);
	struct code_names *c = load(memory_uri(&elf), BASE(0), NULL, 0);
	for (size_t n = CODE_PLACES_MOST - 1; n <= CODE_PLACES_MOST + 1; n++)
		assert_int_equal(told_of(c, n), n);
	assert_int_equal(told_of(c, 2 * CODE_PLACES_MOST + 1), 2 * CODE_PLACES_MOST + 1);
	code_names_free(c);
	// 256 of the longest names fit, and exactly 512 of this length.
	static const size_t lengths[] = {CODE_NAME_MOST, CODE_NAME_MOST + 1, 32768};
	static const size_t told[] = {256, 0, 512};
	assert_int_equal(lengths[2] * told[2], CODE_PLACE_TEXT_MOST);
	for (size_t i = 0; i < COUNT(lengths); i++) {
		memset(name, 'n', lengths[i]);
		name[lengths[i]] = '\0';
		f.name = name;
		make_functions(&elf, &f, 1);
		c = load(memory_uri(&elf), BASE(0), NULL, 0);
		for (unsigned again = 0; again < 2; again++) // each call has all the room
			assert_int_equal(told_of(c, 600), told[i]);
		code_names_free(c);
	}
}

// --- debug information that no compiler makes ---

static Elf64_Shdr *section(struct buf *b, const char *name)
{
	const Elf64_Ehdr *h = (const Elf64_Ehdr *)b->data;
	Elf64_Shdr *s = (Elf64_Shdr *)(b->data + h->e_shoff);
	const char *names = b->data + s[h->e_shstrndx].sh_offset;
	for (unsigned i = 0; i < h->e_shnum; i++)
		if (strcmp(names + s[i].sh_name, name) == 0)
			return &s[i];
	fail();
	return NULL;
}

static void see_nothing(void *arg, const char *name, size_t len, uint64_t value, uint64_t size)
{
	(void)arg, (void)name, (void)len, (void)value, (void)size;
}

static void count_debug(void *arg, struct Elf *elf)
{
	assert_non_null(elf);
	++*(unsigned *)arg;
}

// Is the debug information read, with this budget? 2: no code object.
static unsigned has_debug(const struct buf *b, uint64_t budget)
{
	unsigned n = 0;
	struct code_extent e;
	const int fd = memfd_create("code", MFD_CLOEXEC);
	const struct code_bytes from = {fd, 0, b->len};
	assert_int_equal(write_fully(fd, b->data, b->len), 0);
	const bool ok =
		code_elf_symbols(&from, ELF_MACHINE, &budget, see_nothing, count_debug, &n, &e);
	close(fd);
	return ok ? n : 2;
}

static void copy_place(struct buf *b)
{
	b->len = 0;
	buf_append(b, place.data, place.len);
}

static const char *const tables[] = {".dynsym", ".dynstr", ".symtab", ".strtab"};

static uint64_t headers_size(void)
{
	const Elf64_Ehdr *h = (const Elf64_Ehdr *)place.data;
	return sizeof(*h) + h->e_phnum * sizeof(Elf64_Phdr) + h->e_shnum * sizeof(Elf64_Shdr);
}

// Bytes of the debug information of place.co, and of the names of its sections.
static uint64_t debug_size(void)
{
	const Elf64_Ehdr *h = (const Elf64_Ehdr *)place.data;
	const Elf64_Shdr *s = (const Elf64_Shdr *)(place.data + h->e_shoff),
			 *names = section(&place, ".shstrtab");
	uint64_t all = names->sh_size;
	for (unsigned i = 0; i < h->e_shnum; i++)
		if (strncmp(place.data + names->sh_offset + s[i].sh_name, ".debug_", 7) == 0)
			all += s[i].sh_size;
	return all;
}

// All of it is read, or none: a part that is lacking would be a table of zeros.
static void test_debug(void **state)
{
	SCOPED(buf_fini) struct buf b = {0};
	uint64_t all = headers_size() + debug_size();
	(void)state;
	for (unsigned i = 0; i < 10; i++) {
		copy_place(&b);
		Elf64_Ehdr *h = (Elf64_Ehdr *)b.data;
		Elf64_Shdr *line = section(&b, ".debug_line"), *names = section(&b, ".shstrtab");
		switch (i) {
		case 1: line->sh_type = SHT_NOBITS; break;
		case 2: line->sh_offset = b.len; break;
		case 3: h->e_shstrndx = 0; break;
		case 4: h->e_shstrndx = h->e_shnum; break;
		case 5: b.data[names->sh_offset + names->sh_size - 1] = 'x'; break;
		case 6: line->sh_flags = SHF_COMPRESSED; break; // is not read
		case 7: line->sh_flags = SHF_COMPRESSED, line->sh_type = SHT_NOBITS; break;
		case 8: line->sh_name = UINT32_MAX; break;
		case 9:
			for (char *s; (s = memmem(b.data, b.len, ".debug_", 7));)
				s[6] = '-';
			break;
		}
		assert_int_equal(has_debug(&b, CODE_READ_MOST), i == 0 || (i > 5 && i < 9));
	}
	copy_place(&b);
	for (size_t i = 0; i < COUNT(tables); i++)
		all += section(&b, tables[i])->sh_size;
	assert_int_equal(has_debug(&b, all), 1);
	assert_int_equal(has_debug(&b, all - 1), 0);
}

static void see_name(void *arg, const char *name, size_t len, uint64_t value, uint64_t size)
{
	(void)name, (void)len, (void)size;
	assert_true(value >= 0xdc0 && value <= 0xf00 && value % 64 == 0);
	++*(unsigned *)arg;
}

static void count_told(void *arg, size_t i, uint64_t number, const char *text, size_t len,
		       bool frame)
{
	(void)i, (void)number, (void)text, (void)len, (void)frame;
	++*(size_t *)arg;
}

// Who asks for names of kernels reads symbols alone: headers, tables, and each name of theirs. Who
// asks for places reads debug information, too.
static void test_cost(void **state)
{
	SCOPED(free_at) char *path = xasprintf("%s/place.co", folder);
	const struct code_source from = {.pid = getpid(), .path = path, .machine = ELF_MACHINE};
	uint64_t budget = CODE_READ_MOST, load, end, all = headers_size();
	const uint64_t at = 0x2000;
	unsigned names = 0;
	size_t told = 0;
	(void)state;
	for (size_t i = 0; i < COUNT(tables); i++) {
		const Elf64_Shdr *s = section(&place, tables[i]);
		all += s->sh_size;
		for (size_t k = 0; i % 2 == 0 && k < s->sh_size / sizeof(Elf64_Sym); k++)
			all += strlen(place.data + section(&place, tables[i + 1])->sh_offset +
				      ((const Elf64_Sym *)(place.data + s->sh_offset))[k].st_name);
	}
	assert_true(code_ask_symbols(&from, ".kd", &budget, see_name, &names, &load));
	assert_int_equal(names, 2 * 6);
	assert_int_equal(CODE_READ_MOST - budget, all);
	budget = CODE_READ_MOST;
	assert_int_equal(code_ask_places(&from, &at, 1, &budget, count_told, &told, &end), 0);
	assert_int_equal(end, END);
	assert_int_equal(told, 2); // its function and a frame
	assert_int_equal(CODE_READ_MOST - budget, all + debug_size());
}

// Sections that are compressed are not read: there is less to tell.
static void test_compressed(void **state)
{
	static const struct {
		const char *section;
		uint64_t at;
		const char *told;
	} cases[] = {
		{".debug_info", 0x2188, "memory:_Z5placePVii+88"},
		{".debug_str", 0x2188, "memory:_Z5placePVii+88 ? /src/place.hip:19"},
		{".debug_line", 0x2188, "memory:_Z5placePVii+88 _Z5placePVii ?:0"},
		{".debug_line", 0x2e27, "memory:_Z6tablesPVi+27"},
		{".comment", 0x2188, "memory:_Z5placePVii+88 _Z5placePVii /src/place.hip:19"},
		{".symtab", 0x2000, "memory:?+2000 _ZL5apartPVii /src/place.hip:11"},
		{".symtab", 0x2070, "memory:?+2070"},
	};
	SCOPED(buf_fini) struct buf b = {0};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		copy_place(&b);
		section(&b, cases[i].section)->sh_flags = SHF_COMPRESSED;
		struct code_names *c = load(memory_uri(&b), BASE(0), NULL, 0);
		assert_string_equal(one_place(c, BASE(0) + cases[i].at), cases[i].told);
		code_names_free(c);
	}
}

// Two units that hold the same address: the first one is told.
static void test_overlap(void **state)
{
	const uint64_t was = 0x2600, now = 0x2100; // of the unit of more.hip and its function
	SCOPED(buf_fini) struct buf b = {0};
	unsigned changed = 0;
	(void)state;
	copy_place(&b);
	char *from = b.data + section(&b, ".debug_info")->sh_offset;
	const size_t size = section(&b, ".debug_info")->sh_size;
	for (char *s; (s = memmem(from, size, &was, sizeof(was))); changed++)
		memcpy(s, &now, sizeof(now));
	assert_int_equal(changed, 2);
	struct code_names *c = load(memory_uri(&b), BASE(0), NULL, 0);
	assert_string_equal(one_place(c, BASE(0) + 0x2104),
			    "memory:_Z5placePVii+4 _Z5placePVii /src/place.hip:18");
	assert_string_equal(one_place(c, BASE(0) + 0x2604), "memory:_Z4morePVi+4");
	code_names_free(c);
}

// What the child says is checked: places that were not asked about, texts that are not there.
static void test_lies(void **state)
{
	static const struct {
		struct record r;
		size_t told;
		bool sensible;
	} cases[] = {
		{{1, 2, 3, 0}, 1, true},  {{1, 2, 3, RECORD_FRAME}, 1, true},
		{{1, 3, 3, 0}, 0, true},  {{1, UINT64_MAX, 3, RECORD_FRAME}, 0, true},
		{{1, 2, 0, 0}, 0, false}, {{1, 2, 4, 0}, 0, false},
		{{1, 2, 2, 0}, 1, false},
	};
	struct {
		struct record r;
		char text[3];
	} part = {.text = "abc"};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		size_t told = 0;
		struct answer a = {.told = count_told, .arg = &told, .n = 3};
		part.r = cases[i].r;
		assert_int_equal(code_take_part(&a, &part, offsetof(typeof(part), text[3])),
				 cases[i].sensible);
		assert_int_equal(told, cases[i].told);
	}
}

// A table of so many lines that the child ends, by its limit of memory or of time. What it had told
// of functions counts; other objects are not read any more.
static void test_bomb(void **state)
{
	enum { ROWS = 14000000 };
	SCOPED(buf_fini) struct buf b = {0};
	struct code_place v[] = {
		{.pc = BASE(0) + 0x2188}, {.pc = BASE(0) + 0x2620}, {.pc = BASE(1) + 0x2188}};
	(void)state;
	copy_place(&b);
	const Elf64_Shdr was = *section(&b, ".debug_line");
	uint32_t length;
	memcpy(&length, b.data + was.sh_offset, sizeof(length));
	const size_t from = b.len;
	buf_append(&b, place.data + was.sh_offset, length + sizeof(length));
	b.len -= 3; // DW_LNE_end_sequence
	buf_fill(&b, 0x20, ROWS);
	buf_append(&b, "\0\1\1", 3);
	length = (uint32_t)(b.len - from - sizeof(length));
	memcpy(b.data + from, &length, sizeof(length));
	section(&b, ".debug_line")->sh_offset = from;
	section(&b, ".debug_line")->sh_size = b.len - from;
	struct code_names *c = load(memory_uri(&b), BASE(0), file_uri("place.co"), BASE(1));
	for (unsigned again = 0; again < 2; again++) {
		code_places(c, v, COUNT(v));
		assert_string_equal(text_of(&v[0]), "memory:_Z5placePVii+88");
		assert_string_equal(text_of(&v[1]), "memory:_Z4morePVi+20");
		assert_string_equal(text_of(&v[2]), "unknown");
		// Alone, the other object is read.
		assert_string_equal(one_place(c, BASE(1) + 0x2188), lines[12].told);
	}
	code_names_free(c);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),      cmocka_unit_test(test_sources),
		cmocka_unit_test(test_recorded),   cmocka_unit_test(test_mapped),
		cmocka_unit_test(test_unknown),    cmocka_unit_test(test_paths),
		cmocka_unit_test(test_functions),  cmocka_unit_test(test_limits),
		cmocka_unit_test(test_debug),      cmocka_unit_test(test_cost),
		cmocka_unit_test(test_compressed), cmocka_unit_test(test_overlap),
		cmocka_unit_test(test_lies),       cmocka_unit_test(test_bomb),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
