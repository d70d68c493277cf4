// Names of the kernels of a process; see code.h.
#include "common/aql/code.h"

#include "common/aql/code_priv.h"
#include "common/host/number.h"
#include "common/host/root.h"

#include <elf.h>

#define RUNTIME         "libhsa-runtime64" // every package's file of the runtime begins so
#define R_DEBUG         "_amdgpu_r_debug"
#define RUNTIMES_MOST   8  // HSA runtimes in one process: Python wheels bring their own
#define DESCRIPTOR_SIZE 64 // bytes [aql.descriptor]

struct kernel {
	uint64_t address;
	const char *name;
};

struct object {
	struct code_link link;
	uint64_t head; // for an object in memory: checksum of its first CODE_HEAD bytes
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
	char **texts;           // of the last code_places()
	size_t ntexts, texts_cap, texts_len;
};

static const char *maps_of(struct code_names *c)
{
	if (!c->maps.len && reader_read(&c->maps, PATH("/proc/%d/maps", (int)c->pid)) <= 0)
		c->maps.len = 0;
	return c->maps.len ? c->maps.data : "";
}

// --- HSA runtimes in the target ---

static void found_symbol(void *arg, const char *name, size_t len, uint64_t value, uint64_t size)
{
	(void)size;
	if (len == strlen(R_DEBUG) && memcmp(name, R_DEBUG, len) == 0)
		*(uint64_t *)arg = value;
}

static void add_runtime(struct code_names *c, const struct mapping *m)
{
	const struct code_source file = {.pid = c->pid, .map = m};
	uint64_t value = 0, load = 0;
	if (code_ask_symbols(&file, R_DEBUG, &c->budget, found_symbol, &value, &load) && value)
		c->runtimes[c->nruntimes++] = m->start - load + value;
}

static void find_runtimes(struct code_names *c)
{
	struct mapping m;
	c->nruntimes = 0;
	for (const char *s = maps_of(c); *s && c->nruntimes < RUNTIMES_MOST;) {
		if (!mapping_parse(s, &s, &m) || m.offset)
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

static void collect_kernel(void *arg, const char *name, size_t len, uint64_t value, uint64_t size)
{
	struct collected *k = arg;
	(void)size;
	if (len <= 3 || len > CODE_NAME_MOST + 3 || memcmp(name + len - 3, ".kd", 3) != 0 ||
	    k->n >= k->most || len > k->text_most - k->text.len)
		return;
	*ARRAY_ADD(k->kernels, k->cap, k->n) = (struct kernel){k->o->link.base + value, NULL};
	buf_append(&k->text, name, len - 3);
	buf_append(&k->text, "", 1);
}

// Checksum of an object's first bytes in memory; 0: they are not those of a code object.
static uint64_t object_checksum(const struct code_names *c, uint64_t at, uint64_t size)
{
	unsigned char head[CODE_HEAD];
	const size_t n = size < sizeof(head) ? size : sizeof(head);
	Elf64_Ehdr e;
	if (n < sizeof(e) || !memory_read(&c->memory, at, head, n))
		return 0;
	memcpy(&e, head, sizeof(e));
	return memcmp(e.e_ident, ELFMAG, SELFMAG) == 0 && e.e_machine == EM_AMDGPU
		       ? code_checksum(head, n)
		       : 0;
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
		object_checksum(c, from->bytes.offset, from->loaded ? CODE_HEAD : from->bytes.size);
	if (!head || (head != o->head && !read_object(c, o, from)))
		return false;
	o->head = head;
	return true;
}

// The mapping of a file in the process, if possible of this offset; NULL: none. The path may by now
// be another file's.
static const struct mapping *find_map(struct code_names *c, const char *path, uint64_t offset,
				      struct mapping *m)
{
	const size_t len = strlen(path);
	struct mapping one;
	bool any = false, has = false;
	for (const char *s = maps_of(c); *s && !has;) {
		if (!mapping_parse(s, &s, &one) || one.len != len ||
		    memcmp(one.path, path, len) != 0)
			continue;
		has = offset - one.offset < one.end - one.start;
		if (!any || has)
			*m = one;
		any = true;
	}
	return any ? m : NULL;
}

// Where an object may be read, in this order; one in memory has its URI's place first, then the
// loaded image.
struct sources {
	char *path;              // of its file; "": it is in memory; NULL: its URI is none
	struct code_bytes place; // what the URI says, else that of the loaded image
	struct mapping map;
	struct code_source from[3];
	unsigned n;
};

// The file where the process has mapped it: what it loaded, though the file may be gone or changed
// by now. False: it is not mapped, or not as a whole.
static bool find_mapped(struct code_names *c, const struct code_source *file,
			struct code_source *mapped)
{
	const struct mapping *m = file->map;
	const uint64_t at = m ? file->bytes.offset - m->offset : 0,
		       size = m && m->start < m->end ? m->end - m->start : 0;
	if (at >= size || file->bytes.size > size - at)
		return false;
	*mapped = *file;
	mapped->map = NULL;
	mapped->memory = &c->memory;
	mapped->bytes.offset = m->start + at;
	mapped->bytes.size = file->bytes.size ? file->bytes.size : size - at;
	return true;
}

static void find_sources(struct code_names *c, const struct object *o, struct sources *s)
{
	struct code_source named = {.pid = c->memory.pid, .machine = EM_AMDGPU}, loaded = named;
	loaded.memory = &c->memory;
	loaded.bytes.offset = o->link.base;
	loaded.loaded = true;
	s->n = 0;
	s->path = xmalloc(strlen(o->link.uri) + 1);
	if (!code_uri_parse(o->link.uri, s->path, &named.bytes.offset, &named.bytes.size)) {
		free(s->path);
		s->path = NULL;
		named.bytes = loaded.bytes;
	} else if (!*s->path) {
		named.memory = &c->memory;
		s->from[s->n++] = named;
	} else if (c->files) {
		const uint64_t size = named.bytes.size;
		named.path = s->path;
		named.map = find_map(c, s->path, named.bytes.offset, &s->map);
		named.head = object_checksum(c, o->link.base, size ? size : CODE_HEAD);
		s->n += find_mapped(c, &named, &s->from[0]);
		s->from[s->n++] = named;
	}
	s->from[s->n++] = loaded;
	s->place = named.bytes;
}

// Reads the kernel names of an object. A `known` object is read again only if it lies in memory,
// which may by now hold another; files are assumed not to change.
static void load_object(struct code_names *c, struct object *o, bool known)
{
	struct sources s;
	if (known && strncmp(o->link.uri, "memory:", 7) != 0)
		return;
	find_sources(c, o, &s);
	if (s.path && !*s.path) {
		// The loaded image is read first: the URI's memory may have been reused.
		if (!renew_object(c, o, &s.from[1]))
			renew_object(c, o, &s.from[0]);
	} else if (!known) {
		for (unsigned i = 0; i < s.n && !read_object(c, o, &s.from[i]);)
			i++;
	}
	free(s.path);
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

// Takes what gpq snapshot recorded: lines "ADDRESS NAME", the address in hexadecimal.
static void take_recorded(struct code_names *c)
{
	SCOPED(buf_fini) struct buf b = {0};
	size_t cap = 0;
	if (host_read(&b, PATH("/proc/%d/kernels", (int)c->pid)) < 0) {
		c->error = errno;
		return;
	}
	struct object *o = c->objects = xcalloc(1, sizeof(*o));
	c->nobjects = 1;
	o->text = xstrdup(b.data);
	for (char *s = o->text, *line; (line = strsep(&s, "\n"));) {
		uint64_t at;
		const char *name = number_read(line, NULL, 16, UINT64_MAX, &at);
		if (name && *name == ' ' && name[1])
			*ARRAY_ADD(o->kernels, cap, o->n) = (struct kernel){at, name + 1};
	}
	c->n = o->n;
}

void code_names_refresh(struct code_names *c)
{
	SCOPED(code_list_fini) struct code_list l = {0};
	if (c->files && !host_is_live()) {
		take_list(c, &l);
		take_recorded(c);
		sort_kernels(c);
		return;
	}
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

// --- places ---

static void forget_texts(struct code_names *c)
{
	while (c->ntexts)
		free(c->texts[--c->ntexts]);
	c->texts_len = 0;
}

struct asked_places {
	struct code_names *c;
	struct code_place *v;
};

static void take_place(void *arg, size_t i, uint64_t number, const char *text, size_t len,
		       bool frame)
{
	struct code_names *c = ((struct asked_places *)arg)->c;
	struct code_place *p = &((struct asked_places *)arg)->v[i];
	// The line of a function's end goes on behind it. Of functions within each other, the one
	// that begins last holds a place.
	const bool wanted = frame ? p->nframes < CODE_FRAMES_MOST && (p->function || *text)
				  : !p->function || p->address - number < p->offset;
	if (!wanted || len > CODE_PLACE_TEXT_MOST - c->texts_len)
		return;
	char *copy = *ARRAY_ADD(c->texts, c->texts_cap, c->ntexts) = xcalloc(len + 2, 1);
	memcpy(copy, text, len);
	c->texts_len += len;
	if (frame) {
		p->frames[p->nframes++] =
			(struct code_frame){copy, copy + strlen(copy) + 1, (unsigned)number};
	} else {
		p->function = copy;
		p->offset = p->address - number;
	}
}

// `v`: places that no other object can hold.
static void place_in(struct code_names *c, const struct object *o, struct code_place *v, size_t n)
{
	struct asked_places a = {c, v};
	struct sources s;
	uint64_t at[CODE_PLACES_MOST], end = 0;
	for (size_t k = 0; k < n; k++)
		at[k] = v[k].address = v[k].offset = v[k].pc - o->link.base;
	find_sources(c, o, &s);
	if (s.path && !*s.path) // the memory may have been reused
		s.from[0].head = object_checksum(c, o->link.base, s.place.size);
	for (unsigned i = 0; i < s.n && !end; i++) {
		const int error =
			code_ask_places(&s.from[i], at, n, &c->budget, take_place, &a, &end);
		if (error == EIO || error == ETIMEDOUT)
			c->budget = 0; // one hostile object is enough
	}
	const char *slash = s.path ? strrchr(s.path, '/') : NULL;
	for (size_t k = 0; k < n; k++) {
		struct code_place *p = &v[k];
		if (at[k] >= end) {
			*p = (struct code_place){.pc = p->pc, .unknown = !end};
			continue;
		}
		p->object = slash ? slash + 1 : "memory";
		p->path = slash ? s.path : NULL;
		p->at = s.place.offset;
		p->size = s.place.size;
	}
	if (s.path)
		*ARRAY_ADD(c->texts, c->texts_cap, c->ntexts) = s.path;
}

// The object that begins last of those at or below the address; NULL: none.
static const struct object *object_below(const struct code_names *c, uint64_t pc)
{
	const struct object *found = NULL;
	for (size_t i = 0; i < c->nobjects; i++) {
		const struct object *o = &c->objects[i];
		if (o->link.base <= pc && (!found || o->link.base > found->link.base))
			found = o;
	}
	return found;
}

COMPARE_BY(by_pc, struct code_place, pc)

void code_places(struct code_names *c, struct code_place *v, size_t n)
{
	const bool unknown = c->error || (c->files && !host_is_live());
	const uint64_t most_ns = reader_cpu_ns(NULL) + CODE_SECONDS * UINT64_C(1000000000);
	forget_texts(c);
	c->budget = CODE_READ_MOST;
	ARRAY_SORT(v, n, by_pc);
	for (size_t i = 0, next; i < n; i = next) {
		const struct object *o = unknown ? NULL : object_below(c, v[i].pc);
		for (next = i; next < n && next - i < CODE_PLACES_MOST &&
			       (next == i || unknown || object_below(c, v[next].pc) == o);
		     next++)
			v[next] = (struct code_place){.pc = v[next].pc, .unknown = unknown};
		if (o)
			place_in(c, o, v + i, next - i);
		if (reader_cpu_ns(NULL) > most_ns)
			c->budget = 0;
	}
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
	forget_texts(c);
	free(c->texts);
	free(c->kernels);
	buf_fini(&c->maps);
	memory_close(&c->memory);
	free(c);
}
