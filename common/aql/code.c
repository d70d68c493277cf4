// Names of the kernels of a process; see code.h.
#include "common/aql/code.h"

#include "common/aql/code_priv.h"

#include <elf.h>

#define RUNTIME         "libhsa-runtime64" // every package's file of the runtime begins so
#define R_DEBUG         "_amdgpu_r_debug"
#define RUNTIMES_MOST   8    // HSA runtimes in one process: Python wheels bring their own
#define DESCRIPTOR_SIZE 64   // bytes [aql.descriptor]
#define HEAD_SIZE       1024 // bytes that object_checksum() reads: device memory is slow

struct kernel {
	uint64_t address;
	const char *name;
};

struct object {
	struct code_link link;
	uint64_t head; // for an object in memory: checksum of its first HEAD_SIZE bytes
	char *text;    // names of all its kernels, each ended by a NUL
	struct kernel *kernels;
	size_t n, text_len;
};

struct code_names {
	pid_t pid;
	bool files; // the process's files and memory may be opened
	struct memory memory;
	int error;
	uint64_t runtimes[RUNTIMES_MOST]; // address of each runtime's r_debug
	unsigned nruntimes;
	struct buf maps; // /proc/PID/maps; empty: not read yet in this refresh
	struct object *objects;
	size_t nobjects;
	struct kernel *kernels; // kernels of all objects, sorted by address
	size_t n, text;         // number of kernels, and bytes of their names
	uint64_t budget;        // bytes that may still be read, counted down from CODE_READ_MOST
};

static const char *maps_of(struct code_names *c)
{
	if (!c->maps.len && reader_read(&c->maps, PATH("/proc/%d/maps", (int)c->pid)) <= 0)
		c->maps.len = 0;
	return c->maps.len ? c->maps.data : "";
}

// --- HSA runtimes in the target ---

static void found_symbol(void *arg, const char *name, size_t len, uint64_t value)
{
	if (len == strlen(R_DEBUG) && memcmp(name, R_DEBUG, len) == 0)
		*(uint64_t *)arg = value;
}

static void add_runtime(struct code_names *c, const struct code_map *m)
{
	const struct code_source file = {.pid = c->pid, .map = m};
	uint64_t value = 0, load = 0;
	if (code_ask_symbols(&file, R_DEBUG, &c->budget, found_symbol, &value, &load) && value)
		c->runtimes[c->nruntimes++] = m->start - load + value;
}

static void find_runtimes(struct code_names *c)
{
	struct code_map m;
	c->nruntimes = 0;
	for (const char *s = maps_of(c); *s && c->nruntimes < RUNTIMES_MOST;) {
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
	struct kernel *kernels; // names are set at the end, when `text` moves no more
	size_t n, cap, most, text_most;
};

static void collect_kernel(void *arg, const char *name, size_t len, uint64_t value)
{
	struct collected *k = arg;
	if (len <= 3 || len > CODE_NAME_MOST + 3 || memcmp(name + len - 3, ".kd", 3) != 0 ||
	    k->n >= k->most || len > k->text_most - k->text.len)
		return;
	*ARRAY_ADD(k->kernels, k->cap, k->n) = (struct kernel){k->o->link.base + value, NULL};
	buf_append(&k->text, name, len - 3);
	buf_append(&k->text, "", 1);
}

// FNV-1a checksum of an object's first bytes in memory; 0: they are not those of a code object.
static uint64_t object_checksum(const struct code_names *c, uint64_t at, uint64_t size)
{
	unsigned char head[HEAD_SIZE];
	size_t n = size < sizeof(head) ? size : sizeof(head);
	uint64_t h = 0xcbf29ce484222325;
	Elf64_Ehdr e;
	if (n < sizeof(e) || !memory_read(&c->memory, at, head, n))
		return 0;
	memcpy(&e, head, sizeof(e));
	if (memcmp(e.e_ident, ELFMAG, SELFMAG) != 0 || e.e_machine != EM_AMDGPU)
		return 0;
	for (size_t i = 0; i < n; i++)
		h = (h ^ head[i]) * 0x100000001b3;
	return h;
}

// Replaces the kernel names of an object by those in `from`. False when `from` cannot be read.
static bool read_object(struct code_names *c, struct object *o, const struct code_source *from)
{
	struct collected k = {
		.o = o, .most = CODE_KERNELS_MOST - c->n, .text_most = CODE_TEXT_MOST - c->text};
	uint64_t load;
	const char *s;
	if (!code_ask_symbols(from, ".kd", &c->budget, collect_kernel, &k, &load)) {
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

// Reads an object in memory, if its first bytes have changed. False: no code object, or unreadable.
static bool renew_object(struct code_names *c, struct object *o, const struct code_source *from)
{
	const uint64_t head =
		object_checksum(c, from->bytes.offset, from->loaded ? HEAD_SIZE : from->bytes.size);
	if (!head || (head != o->head && !read_object(c, o, from)))
		return false;
	o->head = head;
	return true;
}

// The mapping of a file in the process; NULL: none. The path may by now be another file's.
static const struct code_map *find_map(struct code_names *c, const char *path, struct code_map *m)
{
	const size_t len = strlen(path);
	for (const char *s = maps_of(c); *s;)
		if (code_map_parse(s, &s, m) && m->len == len && memcmp(m->path, path, len) == 0)
			return m;
	return NULL;
}

// Reads the kernel names of an object. A `known` object is read again only if it lies in memory,
// which may by now hold another; files are assumed not to change.
static void load_object(struct code_names *c, struct object *o, bool known)
{
	char *path = xmalloc(strlen(o->link.uri) + 1);
	struct code_map m;
	struct code_source named = {.pid = c->memory.pid, .machine = EM_AMDGPU}, loaded = named;
	const bool is_uri =
		code_uri_parse(o->link.uri, path, &named.bytes.offset, &named.bytes.size);
	loaded.memory = &c->memory;
	loaded.bytes.offset = o->link.base;
	loaded.loaded = true;
	if (is_uri && !*path) {
		// The loaded image is read first: the URI's memory may have been reused.
		named.memory = &c->memory;
		if (!renew_object(c, o, &loaded))
			renew_object(c, o, &named);
	} else if (!known) {
		named.path = path;
		named.map = is_uri && c->files ? find_map(c, path, &m) : NULL;
		if (!is_uri || !c->files || !read_object(c, o, &named))
			read_object(c, o, &loaded);
	}
	free(path);
}

// The known object of a link_map. Known objects are in the order of the target's list of link_maps,
// so the search begins at *cursor, behind the object found last.
static struct object *find_known_object(struct code_names *c, size_t *cursor,
					const struct code_link *k)
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

// Makes the list's links the objects, which take its URIs; known ones keep their names.
static void take_list(struct code_names *c, struct code_list *l)
{
	struct object *objects = l->n ? xcalloc(l->n, sizeof(*objects)) : NULL;
	size_t cursor = 0;
	c->n = c->text = 0;
	for (size_t i = 0; i < l->n; i++) {
		struct object *o = &objects[i],
			      *known = find_known_object(c, &cursor, &l->links[i]);
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
	ARRAY_SORT(c->kernels, n, by_address);
}

static bool read_lists(const struct code_names *c, struct code_list *l)
{
	bool any = false;
	for (unsigned i = 0; i < c->nruntimes; i++)
		any |= code_ask_list(&c->memory, l, c->runtimes[i]);
	return any;
}

void code_names_refresh(struct code_names *c)
{
	SCOPED(code_list_fini) struct code_list l = {0};
	c->budget = CODE_READ_MOST;
	c->maps.len = 0;
	c->error = code_elf_ready() ? 0 : ENOPKG;
	if (!c->error && !read_lists(c, &l)) {
		c->error = ENOENT;
		if (c->files) { // after exec, the memory opened before cannot be read
			memory_close(&c->memory);
			c->error = memory_open(&c->memory, c->pid) ? errno : ENOENT;
			if (c->memory.fd >= 0)
				find_runtimes(c);
		}
		if (c->memory.fd >= 0 && read_lists(c, &l))
			c->error = 0;
	}
	take_list(c, &l);
	sort_kernels(c);
}

struct code_names *code_names_new(pid_t pid)
{
	struct code_names *c = xcalloc(1, sizeof(*c));
	*c = (struct code_names){.pid = pid, .files = true, .memory.fd = -1};
	code_names_refresh(c);
	return c;
}

struct code_names *code_names_of(int mem, uint64_t r_debug)
{
	struct code_names *c = xcalloc(1, sizeof(*c));
	*c = (struct code_names){
		.memory = {.fd = mem, .pid = getpid()}, .runtimes = {r_debug}, .nruntimes = 1};
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
	memory_close(&c->memory);
	free(c);
}
