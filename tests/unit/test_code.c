// common/aql/code: names of kernels. The code objects are made here byte by byte (code_elf.h), so
// each address and name is known; the runtime is a library of that name with the list alone
// (fake_runtime.c), filled in here and read through /proc, as of any process. Facts:
// [aql.code-list], [aql.code-uri], [aql.descriptor].
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/aql/code.h"

#include "common/aql/code_priv.h"
#include "common/host/root.h"
#include "common/host/std.h"
#include "tests/unit/code_elf.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct elf_symbol vectors[] = {{"_Z5scalePff", 0x2000, false},
					    {"_Z5scalePff.kd", 0x1640, false},
					    {"add.kd", 0x1680, false},
					    {"printf.kd", 0x1700, true},
					    {".kd", 0x1800, false}};
static const struct elf_symbol others[] = {{"other.kd", 0x1640, false}};

static char *text(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

static char *text(const char *fmt, ...)
{
	static char texts[8][PATH_MAX + 256];
	static unsigned next;
	char *to = texts[next++ % COUNT(texts)];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(to, sizeof(texts[0]), fmt, ap);
	va_end(ap);
	return to;
}

static const char *named(struct code_names *c, uint64_t address)
{
	const char *name = code_name(c, address);
	return name ? name : "?";
}

static char *memory_uri(const struct buf *b)
{
	return text("memory://%d#offset=0x%lx&size=%zu", getpid(), (unsigned long)b->data, b->len);
}

// --- the runtime of this process ---

static struct r_debug *runtime;
static struct link_map maps[8];

static int setup(void **state)
{
	char self[PATH_MAX] = "";
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	(void)state;
	if (n <= 0)
		return -1;
	*strrchr(self, '/') = '\0';
	void *lib = dlopen(text("%s/fake/libhsa-runtime64.so.1", self), RTLD_NOW);
	runtime = lib ? dlsym(lib, "_amdgpu_r_debug") : NULL;
	return runtime ? 0 : -1;
}

// The list of the runtime: these URIs, each loaded 1 MiB behind the one before.
#define BASE(i) (0x7f0000000000 + ((uint64_t)(i) << 20))

static void load(unsigned n, ...)
{
	va_list ap;
	va_start(ap, n);
	memset(maps, 0, sizeof(maps));
	for (unsigned i = 0; i < n; i++)
		maps[i] = (struct link_map){.l_addr = BASE(i),
					    .l_name = va_arg(ap, char *),
					    .l_next = i + 1 < n ? &maps[i + 1] : NULL,
					    .l_prev = i ? &maps[i - 1] : NULL};
	va_end(ap);
	runtime->r_map = n ? maps : NULL;
}

static void test_memory(void **state)
{
	struct buf a = {0}, b = {0};
	struct elf_parts p;
	(void)state;
	elf_make(&a, ELF_MACHINE, vectors, COUNT(vectors), &p);
	elf_make(&b, ELF_MACHINE, others, COUNT(others), &p);
	load(2, memory_uri(&a), memory_uri(&b));
	struct code_names *c = code_names_new(getpid());
	assert_int_equal(code_names_error(c), 0);
	assert_string_equal(named(c, BASE(0) + 0x1640), "_Z5scalePff");
	assert_string_equal(named(c, BASE(0) + 0x1640 + 63), "_Z5scalePff");
	assert_string_equal(named(c, BASE(0) + 0x1680), "add");
	assert_string_equal(named(c, BASE(1) + 0x1640), "other");
	// Not a descriptor, defined elsewhere, without a name, not loaded.
	assert_string_equal(named(c, BASE(0) + 0x1640 - 1), "?");
	assert_string_equal(named(c, BASE(0) + 0x1680 + 64), "?");
	assert_string_equal(named(c, BASE(0) + 0x1700), "?");
	assert_string_equal(named(c, BASE(0) + 0x1800), "?");
	assert_string_equal(named(c, BASE(0) + 0x2000), "?");
	assert_string_equal(named(c, BASE(2) + 0x1640), "?");
	assert_string_equal(named(c, 0), "?");
	assert_string_equal(named(c, UINT64_MAX), "?");
	code_names_free(c);
	buf_fini(&a);
	buf_fini(&b);
}

// Unloaded, loaded again elsewhere, other code in the place of one; freed by the program, but still
// loaded.
static void test_refresh(void **state)
{
	struct buf a = {0}, b = {0};
	struct elf_parts p;
	(void)state;
	elf_make(&a, ELF_MACHINE, vectors, COUNT(vectors), &p);
	elf_make(&b, ELF_MACHINE, others, COUNT(others), &p);
	load(0);
	struct code_names *c = code_names_new(getpid());
	assert_int_equal(code_names_error(c), 0);
	assert_string_equal(named(c, BASE(0) + 0x1640), "?");
	load(2, memory_uri(&a), memory_uri(&b));
	assert_string_equal(named(c, BASE(0) + 0x1640), "?");
	code_names_refresh(c);
	assert_string_equal(named(c, BASE(0) + 0x1680), "add");
	assert_string_equal(named(c, BASE(1) + 0x1640), "other");
	load(1, memory_uri(&b));
	code_names_refresh(c);
	assert_string_equal(named(c, BASE(0) + 0x1640), "other");
	assert_string_equal(named(c, BASE(0) + 0x1680), "?");
	assert_string_equal(named(c, BASE(1) + 0x1640), "?");
	load(1, text("memory://1#offset=%lu&size=%zu", (unsigned long)a.data, b.len));
	memcpy(a.data, b.data, b.len);
	code_names_refresh(c);
	assert_string_equal(named(c, BASE(0) + 0x1640), "other");
	memcpy(memmem(a.data, b.len, "other", 5), "third", 5);
	code_names_refresh(c);
	assert_string_equal(named(c, BASE(0) + 0x1640), "third");
	memset(a.data, 0, b.len);
	code_names_refresh(c);
	assert_string_equal(named(c, BASE(0) + 0x1640), "third");
	load(0);
	code_names_refresh(c);
	assert_string_equal(named(c, BASE(0) + 0x1640), "?");
	code_names_free(c);
	buf_fini(&a);
	buf_fini(&b);
}

// What the URI names was freed, or is none: the code object is read where it is loaded. There it
// may be damaged, too.
static void test_loaded(void **state)
{
	static const char *const uris[] = {"memory://1#offset=8&size=4096", "file:///no/such/file",
					   "other://"};
	struct buf b = {0};
	struct elf_parts p;

	(void)state;
	for (unsigned i = 0; i < 12; i++) {
		b.len = 0;
		elf_make(&b, ELF_MACHINE, vectors, COUNT(vectors), &p);
		Elf64_Phdr *dynamic = (Elf64_Phdr *)(b.data + sizeof(p.file) + sizeof(p.load));
		Elf64_Dyn *d = (Elf64_Dyn *)(b.data + p.dynamic.p_vaddr);
		uint32_t *hash = (uint32_t *)(b.data + p.entries[3].d_un.d_ptr);

		buf_fill(&b, '\0', 4096);
		switch (i) {
		case 3: dynamic->p_type = PT_NOTE; break;
		case 4: dynamic->p_memsz = UINT64_MAX; break;
		case 5: dynamic->p_vaddr = UINT64_MAX - 100; break;
		case 6: d[0].d_un.d_ptr = 1ULL << 46; break;
		case 7: d[1].d_un.d_ptr = 1ULL << 46; break;
		case 8: d[2].d_un.d_val = 1ULL << 46; break;
		case 9: d[3].d_un.d_ptr = 1ULL << 46; break;
		case 10: hash[1] = UINT32_MAX; break;
		case 11: d[2].d_tag = DT_NULL; break;
		}
		load(1, uris[i % COUNT(uris)]);
		maps[0].l_addr = (uintptr_t)b.data;
		struct code_names *c = code_names_new(getpid());
		assert_string_equal(named(c, maps[0].l_addr + 0x1680), i < 3 ? "add" : "?");
		assert_string_equal(named(c, maps[0].l_addr + 0x1700), "?");
		code_names_free(c);
	}
	buf_fini(&b);
}

static void write_file(const char *path, const struct buf *b)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write_fully(fd, b->data, b->len), 0);
	close(fd);
}

// Files: as a whole, a part of one, by a name with %XX and through a link; and what is not opened
// or read: a pipe (whose open would wait), a device, procfs, what is too short.
static void test_files(void **state)
{
	char dir[] = "/tmp/gpq-code-XXXXXX";
	struct buf a = {0}, b = {0};
	struct elf_parts p;
	(void)state;
	assert_non_null(mkdtemp(dir));
	elf_make(&a, ELF_MACHINE, vectors, COUNT(vectors), &p);
	write_file(text("%s/a b", dir), &a);
	buf_fill(&b, 'x', 4096);
	elf_make(&b, ELF_MACHINE, others, COUNT(others), &p);
	size_t size = b.len - 4096;
	buf_fill(&b, 'x', 100);
	write_file(text("%s/c", dir), &b);
	assert_int_equal(symlink("c", text("%s/link", dir)), 0);
	assert_int_equal(mkfifo(text("%s/fifo", dir), 0600), 0);
	load(8, text("file://%s/a%%20b", dir),
	     text("file://%s/link#offset=4096&size=%zu", dir, size), text("file://%s/fifo", dir),
	     text("file:///dev/zero#offset=0&size=4096"),
	     text("file:///proc/self/maps#offset=0&size=4096"),
	     text("file://%s/c#offset=4096&size=%zu", dir, size + 101),
	     text("file://%s/c#offset=18446744073709551615&size=4096", dir),
	     text("file://%s/c?offset=4096&size=%zu", dir, size));
	struct code_names *c = code_names_new(getpid());
	assert_string_equal(named(c, BASE(0) + 0x1680), "add");
	assert_string_equal(named(c, BASE(1) + 0x1640), "other");
	for (unsigned i = 2; i < 7; i++)
		assert_string_equal(named(c, BASE(i) + 0x1640), "?");
	assert_string_equal(named(c, BASE(7) + 0x1640), "other");
	// Known names stay when the file changes: the code in use is the old one's.
	write_file(text("%s/a b", dir), &b);
	code_names_refresh(c);
	assert_string_equal(named(c, BASE(0) + 0x1680), "add");
	code_names_free(c);
	static const char *const made[] = {"a b", "c", "link", "fifo"};
	for (size_t i = 0; i < COUNT(made); i++)
		unlink(text("%s/%s", dir, made[i]));
	rmdir(dir);
	buf_fini(&a);
	buf_fini(&b);
}

// A file that is mapped, and no longer has its name: never the one that lies there now.
static void test_replaced(void **state)
{
	char path[] = "/tmp/gpq-code-XXXXXX";
	struct buf a = {0}, b = {0};
	struct elf_parts p;
	int fd = mkostemp(path, O_CLOEXEC);
	(void)state;
	assert_true(fd >= 0);
	elf_make(&a, ELF_MACHINE, vectors, COUNT(vectors), &p);
	elf_make(&b, ELF_MACHINE, others, COUNT(others), &p);
	assert_int_equal(write_fully(fd, a.data, a.len), 0);
	void *m = mmap(NULL, a.len, PROT_READ, MAP_PRIVATE, fd, 0);
	assert_true(m != MAP_FAILED);
	unlink(path);
	write_file(path, &b);
	load(1, text("file://%s", path));
	struct code_names *c = code_names_new(getpid());
	// By the mapping as root; unknown to others.
	assert_string_not_equal(named(c, BASE(0) + 0x1640), "other");
	if (geteuid() == 0)
		assert_string_equal(named(c, BASE(0) + 0x1680), "add");
	code_names_free(c);
	munmap(m, a.len);
	unlink(path);
	close(fd);
	buf_fini(&a);
	buf_fini(&b);
}

// What the process has mapped of a file counts, though the file has other code by now, or none;
// unless the mapping has only a part of the code object, or begins otherwise than what is loaded.
static void test_mapped(void **state)
{
	char path[] = "/tmp/gpq-code-XXXXXX";
	struct buf a = {0}, b = {0};
	struct elf_parts p;
	int fd = mkostemp(path, O_CLOEXEC);
	(void)state;
	assert_true(fd >= 0);
	elf_make(&a, ELF_MACHINE, vectors, COUNT(vectors), &p);
	elf_make(&b, ELF_MACHINE, others, COUNT(others), &p);
	const size_t size = a.len, page = (size_t)sysconf(_SC_PAGESIZE);
	buf_fill(&a, '\0', 4 * page - a.len);
	buf_fill(&b, '\0', 4 * page - b.len);
	assert_true(size < 4 * page && ftruncate(fd, (off_t)page) == 0);
	assert_int_equal(lseek(fd, (off_t)page, SEEK_SET), page);
	assert_int_equal(write_fully(fd, a.data, a.len), 0);
	// The first page of the file is mapped, too, and before the others.
	char *first = mmap(NULL, 5 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	assert_true(first != MAP_FAILED);
	assert_int_equal(mprotect(first, page, PROT_READ), 0);
	memcpy(first + page, a.data, a.len); // the process's own copy
	assert_int_equal(pwrite(fd, b.data, b.len, (off_t)page), b.len);
	for (unsigned i = 0; i < 5; i++) {
		const char *const uris[] = {
			text("file://%s#offset=%zu&size=%zu", path, page, size),
			text("file://%s#offset=%zu&size=%zu", path, page, 4 * page),
			text("file://%s#offset=%zu&size=%zu", path, page, 4 * page + 1),
			text("file://%s#offset=%zu&size=%zu", path, page, size),
			text("file://%s#offset=%zu&size=%zu", path, page, size)};
		load(1, uris[i]);
		maps[0].l_addr = i == 3 ? (uintptr_t)b.data : i == 4 ? (uintptr_t)a.data : BASE(0);
		struct code_names *c = code_names_new(getpid());
		assert_string_equal(named(c, maps[0].l_addr + 0x1640), i == 2   ? "?"
								       : i == 3 ? "other"
										: "_Z5scalePff");
		code_names_free(c);
	}
	munmap(first, 5 * page);
	unlink(path);
	close(fd);
	buf_fini(&a);
	buf_fini(&b);
}

// After exec, and after its end, a process has no names, whatever its memory held.
static void test_exec(void **state)
{
	struct buf a = {0};
	struct elf_parts p;
	int in[2], gone[2];
	char byte;
	(void)state;
	elf_make(&a, ELF_MACHINE, vectors, COUNT(vectors), &p);
	load(1, memory_uri(&a));
	assert_int_equal(pipe2(in, 0) | pipe2(gone, O_CLOEXEC), 0);
	pid_t pid = fork();
	if (!pid) {
		close(in[1]);
		dup2(in[0], 0);
		if (read(0, &byte, 1) == 1)
			execlp("cat", "cat", NULL);
		_exit(1);
	}
	close(in[0]);
	close(gone[1]);
	struct code_names *c = code_names_new(pid);
	assert_string_equal(named(c, BASE(0) + 0x1680), "add");
	assert_int_equal(write(in[1], "x", 1), 1);
	assert_int_equal(read(gone[0], &byte, 1), 0); // closed by exec
	code_names_refresh(c);
	assert_string_equal(named(c, BASE(0) + 0x1680), "?");
	assert_int_equal(code_names_error(c), ENOENT);
	close(in[1]);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	code_names_refresh(c);
	assert_int_equal(code_names_error(c), ENOENT);
	code_names_free(c);
	close(gone[0]);
	buf_fini(&a);
}

// --- hostile memory: a file stands for it, its offsets for addresses ---

struct places {
	struct r_debug debug;
	struct link_map links[4];
	char uri[256];
};

static struct code_names *names_of(const struct places *m, const struct buf *elf)
{
	int fd = memfd_create("memory", MFD_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(write_fully(fd, m, sizeof(*m)), 0);
	assert_int_equal(write_fully(fd, elf->data, elf->len), 0);
	return code_names_of(fd, 0);
}

#define AT(member) ((void *)offsetof(struct places, member))

// Two links of the same code object, right behind this.
static void fill(struct places *m, size_t len)
{
	*m = (struct places){.debug = {.r_version = 7, .r_map = AT(links[0])}};
	for (size_t i = 0; i < 2; i++)
		m->links[i] = (struct link_map){.l_addr = BASE(i), .l_name = AT(uri)};
	m->links[0].l_next = AT(links[1]);
	m->links[1].l_prev = AT(links[0]);
	snprintf(m->uri, sizeof(m->uri), "memory://1#offset=%zu&size=%zu", sizeof(*m), len);
}

static void test_lists(void **state)
{
	struct buf elf = {0};
	struct elf_parts p;
	struct places m;
	(void)state;
	elf_make(&elf, ELF_MACHINE, others, COUNT(others), &p);
	for (unsigned i = 0; i < 10; i++) {
		fill(&m, elf.len);
		// The first is known in all cases but those of its own, the second in none but the
		// first.
		switch (i) {
		case 1: m.links[1].l_next = AT(links[0]), m.links[1].l_prev = NULL; break;
		case 2: m.links[0].l_next = AT(links[0]); break; // a ring
		case 3: m.links[0].l_next = (void *)UINTPTR_MAX; break;
		case 4: m.links[1].l_name = (void *)0x7fffffffffffffff; break;
		case 5: memset(&m.links[1], 0, sizeof(m.links[1])); break; // unloaded meanwhile
		case 6: m.links[0].l_name = AT(links[2]); break;           // an empty URI
		case 7: m.debug.r_version = 0; break;
		case 8: m.debug.r_map = AT(links[3]); break;
		case 9: m.debug.r_map = NULL; break;
		}
		struct code_names *c = names_of(&m, &elf);
		assert_string_equal(named(c, BASE(0) + 0x1640), i < 6 ? "other" : "?");
		assert_string_equal(named(c, BASE(1) + 0x1640), i == 0 || i == 6 ? "other" : "?");
		assert_int_equal(code_names_error(c), i == 7 ? ENOENT : 0);
		code_names_free(c);
	}
	buf_fini(&elf);
}

// A list without an end has as many links as are read at most.
static void test_endless(void **state)
{
	const size_t n = CODE_OBJECTS_MOST + 10;
	struct link_map *links = xcalloc(n, sizeof(*links));
	struct places m = {.debug = {.r_version = 11, .r_map = (void *)sizeof(m)}};
	struct code_list l = {0};
	struct buf b = {0};
	(void)state;
	snprintf(m.uri, sizeof(m.uri), "memory://1#offset=1&size=1");
	for (size_t i = 0; i < n; i++)
		links[i] = (struct link_map){
			.l_name = AT(uri),
			.l_next = (void *)(sizeof(m) + (i + 1) * sizeof(*links)),
			.l_prev = i ? (void *)(sizeof(m) + (i - 1) * sizeof(*links)) : NULL};
	buf_append(&b, &m, sizeof(m));
	buf_append(&b, links, n * sizeof(*links));
	int fd = memfd_create("memory", MFD_CLOEXEC);
	assert_int_equal(write_fully(fd, b.data, b.len), 0);
	assert_true(code_list_read(&l, fd, 0, CODE_OBJECTS_MOST));
	assert_int_equal(l.n, CODE_OBJECTS_MOST);
	code_list_fini(&l);
	// So have the lists of two runtimes together.
	for (unsigned i = 0; i < 2; i++) {
		assert_true(code_ask_list(&(struct memory){.pid = getpid(), .fd = fd}, &l, 0));
		assert_int_equal(l.n, CODE_OBJECTS_MOST);
	}
	code_list_fini(&l);
	close(fd);
	buf_fini(&b);
	free(links);
}

// What a code object may not be. Each changes one that has a name.
static void test_elf(void **state)
{
	struct buf elf = {0};
	struct elf_parts p;
	struct places m;
	size_t sections;
	(void)state;
	elf_make(&elf, ELF_MACHINE, others, COUNT(others), &p);
	sections = p.file.e_shoff;
	size_t names_end = p.sections[2].sh_offset + p.sections[2].sh_size;
	for (unsigned i = 0; i < 16; i++) {
		Elf64_Ehdr file = p.file;
		Elf64_Shdr symbols = p.sections[1], names = p.sections[2];
		size_t size = elf.len;
		char end = 0;
		switch (i) {
		case 1: file.e_ident[EI_MAG0]++; break;
		case 2: file.e_ident[EI_CLASS] = ELFCLASS32; break;
		case 3: file.e_ident[EI_DATA] = ELFDATA2MSB; break;
		case 4: file.e_machine = EM_X86_64; break;
		case 5: file.e_shoff = UINT64_MAX - 8; break;
		case 6: file.e_shoff = 0; break; // the header itself
		case 7: file.e_shnum = 0; break;
		case 8: symbols.sh_size = UINT64_MAX / 2; break;
		case 9: symbols.sh_offset = sections - 24, symbols.sh_size = 48; break;
		case 10: symbols.sh_entsize = 1; break;
		case 11: symbols.sh_link = 77; break;
		case 12: symbols.sh_link = 1; break;
		case 13: names.sh_offset = elf.len; break;
		case 14: end = 'x'; break; // of the names: no NUL
		case 15: size = CODE_SIZE_MOST + 1; break;
		}
		memcpy(elf.data, &file, sizeof(file));
		memcpy(elf.data + sections + sizeof(symbols), &symbols, sizeof(symbols));
		memcpy(elf.data + sections + 2 * sizeof(names), &names, sizeof(names));
		elf.data[names_end - 1] = end;
		fill(&m, size);
		struct code_names *c = names_of(&m, &elf);
		assert_string_equal(named(c, BASE(0) + 0x1640), i ? "?" : "other");
		code_names_free(c);
	}
	buf_fini(&elf);
}

// The longest name, and one byte more.
static void test_names_long(void **state)
{
	char *most = xmalloc(CODE_NAME_MOST + 8);
	struct buf elf = {0};
	struct elf_parts p;
	struct places m;
	(void)state;
	for (unsigned more = 0; more < 2; more++) {
		memset(most, 'n', CODE_NAME_MOST + 1);
		strcpy(most + CODE_NAME_MOST + more, ".kd");
		const struct elf_symbol one = {most, 0x1640, false};
		elf.len = 0;
		elf_make(&elf, ELF_MACHINE, &one, 1, &p);
		fill(&m, elf.len);
		struct code_names *c = names_of(&m, &elf);
		assert_int_equal(strlen(named(c, BASE(0) + 0x1640)), more ? 1 : CODE_NAME_MOST);
		code_names_free(c);
	}
	free(most);
	buf_fini(&elf);
}

// A file has the names if it begins as what is loaded, or if no code can be read there. The file
// may be gone, too short, or another by now: then what is loaded has the names.
static void test_sources(void **state)
{
	static const struct {
		const char *suffix;
		unsigned loaded; // 0: cannot be read, 1: the file's code, 2: other code, 3: no code
		const char *first, *second;
	} cases[] = {
		{"", 0, "_Z5scalePff", "add"},
		{"", 1, "_Z5scalePff", "add"},
		{"", 2, "other", "?"},
		{"", 3, "_Z5scalePff", "add"},
		{"#offset=0&size=1024", 1, "_Z5scalePff", "add"},
		{"#offset=0&size=9999999", 0, "?", "?"},
		{"#offset=0&size=9999999", 2, "other", "?"},
		{"#offset=9999999&size=1024", 2, "other", "?"},
		{"x", 0, "?", "?"},
		{"x", 2, "other", "?"},
	};
	static const char zeros[8192];
	char path[] = "/tmp/gpq-code-XXXXXX";
	struct buf file = {0}, memory = {0};
	struct elf_parts p;
	int fd = mkostemp(path, O_CLOEXEC);
	(void)state;
	assert_true(fd >= 0);
	elf_make(&file, ELF_MACHINE, vectors, COUNT(vectors), &p);
	buf_fill(&file, '\0', 4096);
	assert_int_equal(write_fully(fd, file.data, file.len), 0);
	elf_make(&memory, ELF_MACHINE, others, COUNT(others), &p);
	buf_fill(&memory, '\0', 4096);
	for (unsigned i = 0; i < COUNT(cases); i++) {
		const uint64_t at = cases[i].loaded == 0   ? BASE(0)
				    : cases[i].loaded == 1 ? (uintptr_t)file.data
				    : cases[i].loaded == 2 ? (uintptr_t)memory.data
							   : (uintptr_t)zeros;
		load(1, text("file://%s%s", path, cases[i].suffix));
		maps[0].l_addr = at;
		struct code_names *c = code_names_new(getpid());
		assert_string_equal(named(c, at + 0x1640), cases[i].first);
		assert_string_equal(named(c, at + 0x1680), cases[i].second);
		code_names_free(c);
	}
	// The memory that a URI names may by now hold other code: what is loaded counts.
	load(1, memory_uri(&file));
	maps[0].l_addr = (uintptr_t)memory.data;
	struct code_names *c = code_names_new(getpid());
	for (unsigned again = 0; again < 2; again++) {
		assert_string_equal(named(c, maps[0].l_addr + 0x1640), "other");
		assert_string_equal(named(c, maps[0].l_addr + 0x1680), "?");
		code_names_refresh(c);
	}
	code_names_free(c);
	unlink(path);
	close(fd);
	buf_fini(&file);
	buf_fini(&memory);
}

// The same URI again in another link_map, or loaded elsewhere: its names are there, and nowhere
// else.
static void test_moved(void **state)
{
	struct buf a = {0};
	struct elf_parts p;
	(void)state;
	elf_make(&a, ELF_MACHINE, vectors, COUNT(vectors), &p);
	load(1, memory_uri(&a));
	struct code_names *c = code_names_new(getpid());
	for (unsigned i = 1; i < 4; i++) {
		maps[0].l_addr = BASE(i);
		code_names_refresh(c);
		assert_string_equal(named(c, BASE(i) + 0x1680), "add");
		assert_string_equal(named(c, BASE(i - 1) + 0x1680), "?");
	}
	maps[1] = maps[0];
	maps[1].l_addr = BASE(5);
	runtime->r_map = &maps[1];
	code_names_refresh(c);
	assert_string_equal(named(c, BASE(5) + 0x1680), "add");
	assert_string_equal(named(c, BASE(3) + 0x1680), "?");
	runtime->r_version = 0; // the runtime has no list for a while
	code_names_refresh(c);
	assert_int_equal(code_names_error(c), ENOENT);
	assert_string_equal(named(c, BASE(5) + 0x1680), "?");
	runtime->r_version = 11;
	code_names_refresh(c);
	assert_int_equal(code_names_error(c), 0);
	assert_string_equal(named(c, BASE(5) + 0x1680), "add");
	code_names_free(c);
	buf_fini(&a);
}

// A recorded host has names where gpq snapshot wrote some.
static void test_recorded(void **state)
{
	(void)state;
	assert_int_equal(host_set_root("tests/hosts/gfx90a-k6.12"), 0);
	struct code_names *c = code_names_new(41207);
	assert_int_equal(code_names_error(c), ENOENT);
	assert_null(code_name(c, 0));
	code_names_free(c);
	assert_int_equal(host_set_root(NULL), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_memory),     cmocka_unit_test(test_refresh),
		cmocka_unit_test(test_loaded),     cmocka_unit_test(test_files),
		cmocka_unit_test(test_replaced),   cmocka_unit_test(test_mapped),
		cmocka_unit_test(test_exec),       cmocka_unit_test(test_lists),
		cmocka_unit_test(test_endless),    cmocka_unit_test(test_elf),
		cmocka_unit_test(test_names_long), cmocka_unit_test(test_sources),
		cmocka_unit_test(test_moved),      cmocka_unit_test(test_recorded),
	};
	return cmocka_run_group_tests(tests, setup, NULL);
}
