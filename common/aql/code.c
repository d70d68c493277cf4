// Names of the kernels of a process; see code.h.
#include "common/aql/code.h"

#include "common/aql/code_priv.h"
#include "common/host/root.h"
#include "common/host/xalloc.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define RUNTIME         "libhsa-runtime64" // the file's name begins so, whoever packed it
#define RUNTIMES_MOST   8                  // in one process: wheels bring their own
#define DESCRIPTOR_SIZE 64                 // AMDGPUUsage: kernel descriptor
#define HEAD_SIZE       1024               // device memory is slow to read

struct kernel {
	uint64_t address;
	const char *name;
};

struct object {
	struct code_link link;
	uint64_t head; // checksum of the first bytes of one that lies in memory
	char *text;    // all names, each with a NUL
	struct kernel *kernels;
	size_t n, text_len;
};

struct code_names {
	pid_t pid;
	bool files; // may be opened, and the memory, too
	int mem, error;
	uint64_t runtimes[RUNTIMES_MOST]; // addresses of their r_debug
	unsigned nruntimes;
	struct buf maps; // of this refresh; empty: not read yet
	struct object *objects;
	size_t nobjects;
	struct kernel *kernels; // of all objects, by address
	size_t n, text;         // kernels, and bytes of their names
	uint64_t budget;        // CODE_READ_MOST counted down
};

// --- files of the target ---

static const char *maps(struct code_names *c)
{
	if (!c->maps.len && host_readf(&c->maps, "/proc/%d/maps", (int)c->pid) <= 0)
		c->maps.len = 0;
	return c->maps.len ? c->maps.data : "";
}

// Opens for reading what was opened with O_PATH, if it is a regular file that occupies blocks.
// Devices and pipes may block or have side effects when read; files of procfs and sysfs may, too,
// and are told by having no blocks.
static int open_found(int found, struct stat *st)
{
	char self[64];
	int fd = -1;

	if (found < 0)
		return -1;
	if (fstat(found, st) == 0 && S_ISREG(st->st_mode) && st->st_size > 0 && st->st_blocks > 0) {
		snprintf(self, sizeof(self), "/proc/self/fd/%d", found);
		fd = host_open(self, O_RDONLY | O_NONBLOCK);
	}
	close_quietly(found);
	return fd;
}

// Opens the very file that the target has mapped, even if its path names another one by now.
static int open_mapped(const struct code_names *c, const struct code_map *m, struct stat *st)
{
	char path[96];

	snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)c->pid,
		 m->start, m->end);
	return open_found(host_open(path, O_PATH), st);
}

// Opens a path within the target's root directory.
static int open_path(const struct code_names *c, const char *path, struct stat *st)
{
	const struct open_how how = {.flags = O_PATH | O_CLOEXEC,
				     .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
	char root[64];
	long found = -1;
	int dir;

	snprintf(root, sizeof(root), "/proc/%d/root", (int)c->pid);
	dir = host_open(root, O_PATH | O_DIRECTORY);
	if (dir < 0)
		return -1;
	for (int tries = 0; found < 0 && tries < 100 && (!tries || errno == EAGAIN); tries++)
		found = syscall(SYS_openat2, dir, path, &how, sizeof(how));
	close_quietly(dir);
	return open_found((int)found, st);
}

// Opens a file that the target has mapped by its mapping (root only), any
// other by its path. ESTALE: the mapped file was deleted, so that the path names another one.
static int open_file(struct code_names *c, const char *path, struct stat *st)
{
	struct code_map m;
	size_t len = strlen(path);
	bool replaced = false;

	for (const char *s = maps(c); *s;) {
		if (!code_map_parse(s, &s, &m) || m.len != len || memcmp(m.path, path, len) != 0)
			continue;
		int fd = open_mapped(c, &m, st);
		if (fd >= 0)
			return fd;
		replaced |= m.deleted;
	}
	if (replaced) {
		errno = ESTALE;
		return -1;
	}
	return open_path(c, path, st);
}

// --- the runtime ---

static void found_symbol(void *arg, const char *name, size_t len, uint64_t value)
{
	(void)len;
	if (strcmp(name, "_amdgpu_r_debug") == 0)
		*(uint64_t *)arg = value;
}

static void add_runtime(struct code_names *c, const struct code_map *m)
{
	char path[PATH_MAX];
	uint64_t value = 0, load = 0;
	struct stat st;
	int fd = open_mapped(c, m, &st);

	if (fd < 0 && !m->deleted && m->len < sizeof(path)) {
		snprintf(path, sizeof(path), "%.*s", (int)m->len, m->path);
		fd = open_path(c, path, &st);
	}
	if (fd < 0)
		return;
	if (code_elf_symbols(&(struct code_bytes){fd, 0, (uint64_t)st.st_size}, 0, &c->budget,
			     found_symbol, &value, &load) &&
	    value)
		c->runtimes[c->nruntimes++] = m->start - load + value;
	close(fd);
}

static void find_runtimes(struct code_names *c)
{
	struct code_map m;

	c->nruntimes = 0;
	for (const char *s = maps(c); *s && c->nruntimes < RUNTIMES_MOST;) {
		if (!code_map_parse(s, &s, &m) || m.offset)
			continue;
		const char *slash = memrchr(m.path, '/', m.len);
		if (strncmp(slash + 1, RUNTIME, strlen(RUNTIME)) == 0)
			add_runtime(c, &m);
	}
}

// --- code objects ---

static void object_fini(struct object *o)
{
	free(o->link.uri);
	free(o->text);
	free(o->kernels);
}

struct collected {
	const struct object *o;
	struct buf text;
	struct kernel *kernels; // their names are filled in when the text has its place
	size_t n, cap, most, text_most;
};

static void collect(void *arg, const char *name, size_t len, uint64_t value)
{
	struct collected *k = arg;

	if (len <= 3 || len > CODE_NAME_MOST + 3 || strcmp(name + len - 3, ".kd") != 0 ||
	    k->n >= k->most || len > k->text_most - k->text.len)
		return;
	*ARRAY_ADD(k->kernels, k->cap, k->n) = (struct kernel){k->o->link.base + value, NULL};
	buf_append(&k->text, name, len - 3);
	buf_append(&k->text, "", 1);
}

// FNV-1a of the first bytes; 0 when they are no code object.
static uint64_t head_of(const struct code_bytes *b)
{
	unsigned char head[HEAD_SIZE];
	size_t n = b->size < sizeof(head) ? b->size : sizeof(head);
	uint64_t h = 0xcbf29ce484222325;
	Elf64_Ehdr e;

	if (n < sizeof(e) || !code_read(b->fd, b->offset, head, n))
		return 0;
	memcpy(&e, head, sizeof(e));
	if (memcmp(e.e_ident, ELFMAG, SELFMAG) != 0 || e.e_machine != EM_AMDGPU)
		return 0;
	for (size_t i = 0; i < n; i++)
		h = (h ^ head[i]) * 0x100000001b3;
	return h;
}

// Replaces the names of an object by those of the ELF file in `from`; NULL: by those of its loaded
// image, from its dynamic symbols. False when it cannot be read.
static bool read_object(struct code_names *c, struct object *o, const struct code_bytes *from)
{
	struct collected k = {
		.o = o, .most = CODE_KERNELS_MOST - c->n, .text_most = CODE_TEXT_MOST - c->text};
	const char *s;
	uint64_t load;

	if (!(from ? code_elf_symbols(from, EM_AMDGPU, &c->budget, collect, &k, &load)
		   : code_elf_loaded(c->mem, o->link.base, EM_AMDGPU, &c->budget, collect, &k))) {
		free(k.kernels);
		buf_fini(&k.text);
		return false;
	}
	free(o->text);
	free(o->kernels);
	o->text = k.text.data;
	o->text_len = k.text.len;
	o->kernels = k.kernels;
	o->n = k.n;
	s = o->text;
	for (size_t i = 0; i < o->n; s += strlen(s) + 1)
		o->kernels[i++].name = s;
	return true;
}

// A memory:// URI. The loaded image is read if possible: the program may have freed, and used
// again, the memory that the URI names.
static void load_memory(struct code_names *c, struct object *o, struct code_bytes *b)
{
	const struct code_bytes loaded = {c->mem, o->link.base, HEAD_SIZE};
	uint64_t head = head_of(&loaded);

	if (head && (head == o->head || read_object(c, o, NULL))) {
		o->head = head;
		return;
	}
	b->fd = c->mem;
	head = head_of(b);
	if (head && (head == o->head || read_object(c, o, b)))
		o->head = head;
}

// A file:// URI.
static bool load_file(struct code_names *c, struct object *o, const char *path,
		      struct code_bytes *b)
{
	struct stat st = {0};
	bool ok;

	b->fd = open_file(c, path, &st);
	if (b->fd < 0)
		return false;
	uint64_t rest = b->offset < (uint64_t)st.st_size ? (uint64_t)st.st_size - b->offset : 0;
	b->size = b->size ? b->size : rest;
	ok = b->size <= rest && read_object(c, o, b);
	close(b->fd);
	return ok;
}

// Reads the names of an object that is new (not `known`). Of a known one only memory is looked at
// again, as it may hold another code object now; a file is taken to stay as it is.
static void load_object(struct code_names *c, struct object *o, bool known)
{
	char *path = xmalloc(strlen(o->link.uri) + 1);
	struct code_bytes b = {0};

	bool is_uri = code_uri_parse(o->link.uri, path, &b.offset, &b.size);

	if (is_uri && !*path)
		load_memory(c, o, &b);
	else if (!known && (!is_uri || !c->files || !load_file(c, o, path, &b)))
		read_object(c, o, NULL);
	free(path);
}

// The known object with this link. The search begins at *cursor, behind the one found last: objects
// and links are in the same order.
static struct object *find_known(struct code_names *c, size_t *cursor, const struct code_link *k)
{
	for (size_t i = *cursor; i < c->nobjects; i++) {
		const struct code_link *was = &c->objects[i].link;

		if (was->link == k->link && was->base == k->base && strcmp(was->uri, k->uri) == 0) {
			*cursor = i + 1;
			return &c->objects[i];
		}
	}
	return NULL;
}

// Makes the objects those of the list, and takes its URIs.
static void take_list(struct code_names *c, struct code_list *l)
{
	struct object *objects = l->n ? xcalloc(l->n, sizeof(*objects)) : NULL;
	size_t cursor = 0;

	c->n = c->text = 0;
	for (size_t i = 0; i < l->n; i++) {
		struct object *o = &objects[i], *known = find_known(c, &cursor, &l->links[i]);

		if (known) {
			*o = *known;
			*known = (struct object){0};
			free(o->link.uri);
		}
		o->link = l->links[i];
		l->links[i].uri = NULL;
		load_object(c, o, known);
		c->n += o->n;
		c->text += o->text_len;
	}
	for (size_t i = 0; i < c->nobjects; i++)
		object_fini(&c->objects[i]);
	free(c->objects);
	c->objects = objects;
	c->nobjects = l->n;
}

static int by_address(const void *a, const void *b)
{
	const struct kernel *x = a, *y = b;

	return x->address != y->address ? ORDER(x->address, y->address) : strcmp(x->name, y->name);
}

static void sort_kernels(struct code_names *c)
{
	size_t n = 0;

	free(c->kernels);
	c->kernels = c->n ? xcalloc(c->n, sizeof(*c->kernels)) : NULL;
	for (size_t i = 0; i < c->nobjects && c->kernels; i++)
		for (size_t k = 0; k < c->objects[i].n; k++)
			c->kernels[n++] = c->objects[i].kernels[k];
	if (n)
		qsort(c->kernels, n, sizeof(*c->kernels), by_address);
}

// --- the whole ---

static bool read_lists(const struct code_names *c, struct code_list *l)
{
	bool any = false;

	for (unsigned i = 0; i < c->nruntimes; i++)
		any |= code_list_read(l, c->mem, c->runtimes[i], CODE_OBJECTS_MOST);
	return any;
}

// The descriptor of /proc/PID/mem belongs to the program that runs now: after exec it reads
// nothing.
static void look_anew(struct code_names *c)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)c->pid);
	if (c->mem >= 0)
		close(c->mem);
	c->mem = host_open(path, O_RDONLY);
	c->error = c->mem < 0 ? errno : ENOENT;
	if (c->mem >= 0)
		find_runtimes(c);
}

void code_names_refresh(struct code_names *c)
{
	struct code_list l = {0};

	c->budget = CODE_READ_MOST;
	c->maps.len = 0;
	c->error = code_elf_ready() ? 0 : ENOPKG;
	if (!c->error && !read_lists(c, &l)) {
		c->error = ENOENT;
		if (c->files)
			look_anew(c);
		if (c->mem >= 0 && read_lists(c, &l))
			c->error = 0;
	}
	take_list(c, &l);
	sort_kernels(c);
	code_list_fini(&l);
}

struct code_names *code_names_new(pid_t pid)
{
	struct code_names *c = xcalloc(1, sizeof(*c));

	*c = (struct code_names){.pid = pid, .files = true, .mem = -1};
	code_names_refresh(c);
	return c;
}

struct code_names *code_names_of(int mem, uint64_t r_debug)
{
	struct code_names *c = xcalloc(1, sizeof(*c));

	*c = (struct code_names){.mem = mem, .runtimes = {r_debug}, .nruntimes = 1};
	code_names_refresh(c);
	return c;
}

const char *code_name(struct code_names *c, uint64_t kernel_object)
{
	size_t from = 0, to = c->n;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (c->kernels[middle].address <= kernel_object)
			from = middle + 1;
		else
			to = middle;
	}
	if (!from || kernel_object - c->kernels[from - 1].address >= DESCRIPTOR_SIZE)
		return NULL;
	return c->kernels[from - 1].name;
}

int code_names_error(const struct code_names *c)
{
	return c->error;
}

void code_names_free(struct code_names *c)
{
	struct code_list none = {0};

	if (!c)
		return;
	take_list(c, &none);
	free(c->kernels);
	buf_fini(&c->maps);
	if (c->mem >= 0)
		close(c->mem);
	free(c);
}
