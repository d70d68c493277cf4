// Reads code objects in the reader's child, which opens files of the process and parses them.
//
// An answer is a sequence of records, each a head and a text, and none is split between two parts
// of an answer. The last record of an answer about symbols has no text; its head has the result.
#include "common/aql/code.h"
#include "common/aql/code_priv.h"
#include "common/host/root.h"

#include <elf.h>
#include <fcntl.h>

enum { RECORD_LAST = 1, RECORD_FRAME };

struct record {
	// A symbol: value, 0, of a place its index. A frame: line, index. A link: address, base.
	// The last: load address (of places: end of the segments), budget left.
	uint64_t a, b;
	uint32_t len;  // bytes of the text that follows; only that of a place ends with a NUL
	uint32_t kind; // 0: a symbol or a link
};

// A question about symbols. It ends before `path` if they are in a process's memory, before `at` if
// it is not about places.
struct question {
	struct code_bytes from;
	uint64_t budget, start, end; // start, end: mapping of the file; start 0: `path` names it
	uint64_t head;
	struct code_extent extent; // set by the child
	pid_t pid;
	unsigned machine, n;
	bool file, loaded;
	char suffix[16];
	char path[PATH_MAX];
	uint64_t at[CODE_PLACES_MOST]; // `n` addresses
};

// --- in the reader's child ---

static void put_record(const struct record *r, const char *text)
{
	static char both[READER_PART];
	if (r->len > sizeof(both) - sizeof(*r))
		return;
	memcpy(both, r, sizeof(*r));
	memcpy(both + sizeof(*r), text, r->len);
	reader_give(both, sizeof(*r) + r->len);
}

static int open_file(const void *text, size_t len)
{
	const struct question *q = text;
	(void)len;
	return mapping_open(q->pid, q->start, q->end, q->path);
}

// libdw may make any number of bytes of a file.
static int open_for_places(const void *text, size_t len)
{
	const struct question *q = text;
	reader_limit(CODE_LINES_MOST, CODE_SECONDS);
	if (q->file)
		return open_file(text, len);
	return q->pid == getppid() // memory of no process: gpq has it open
		       ? open(PATH("/proc/%d/fd/%d", (int)q->pid, q->from.fd), O_RDONLY | O_CLOEXEC)
		       : host_open(PATH("/proc/%d/mem", (int)q->pid), O_RDONLY);
}

static void put_symbol(void *arg, const char *name, size_t len, uint64_t value, uint64_t size)
{
	const struct question *q = arg;
	const size_t n = strlen(q->suffix);
	if (!q->n && len >= n && memcmp(name + len - n, q->suffix, n) == 0)
		put_record(&(struct record){.a = value, .len = (uint32_t)len}, name);
	for (size_t i = 0; i < q->n; i++)
		if (q->at[i] - value < size && len <= CODE_NAME_MOST)
			put_record(&(struct record){value, i, (uint32_t)len, 0}, name);
}

static void put_frame(size_t i, const char *function, const char *file, unsigned line)
{
	SCOPED(buf_fini) struct buf b = {0};
	const bool fits = strlen(function) + strlen(file) <= CODE_NAME_MOST;
	buf_puts(&b, fits ? function : "");
	buf_append(&b, "", 1);
	buf_puts(&b, fits ? file : "");
	put_record(&(struct record){line, i, (uint32_t)b.len, RECORD_FRAME}, b.data);
}

static void put_last(const struct question *q)
{
	const uint64_t value = q->n ? q->extent.end : q->extent.load;
	put_record(&(struct record){value, q->budget, 0, RECORD_LAST}, "");
}

// What was told so far stays valid if debug information ends this child.
static void put_frames(void *arg, struct Elf *elf)
{
	const struct question *q = arg;
	put_last(q);
	reader_alive();
	code_lines_read(elf, q->at, q->n, put_frame);
}

uint64_t code_checksum(const unsigned char *head, size_t n)
{
	uint64_t h = 0xcbf29ce484222325; // FNV-1a
	for (size_t i = 0; i < n; i++)
		h = (h ^ head[i]) * 0x100000001b3;
	return h;
}

static bool head_fits(const struct question *q)
{
	unsigned char head[CODE_HEAD];
	const size_t n = q->from.size < sizeof(head) ? q->from.size : sizeof(head);
	return !q->head || (code_read(q->from.fd, q->from.offset, head, n) &&
			    code_checksum(head, n) == q->head);
}

static int symbols_task(const void *text, size_t len, int fd)
{
	static struct question q;
	bool ok;
	memcpy(&q, text, len < sizeof(q) ? len : sizeof(q));
	q.from.fd = fd;
	if (q.file) { // its size bounds reads
		const off_t end = lseek(fd, 0, SEEK_END);
		const uint64_t rest = end > 0 && (uint64_t)end > q.from.offset
					      ? (uint64_t)end - q.from.offset
					      : 0;
		q.from.size = q.from.size ? q.from.size : rest;
		if (q.from.size > rest)
			return EINVAL;
	}
	if (!head_fits(&q))
		return EINVAL;
	ok = q.loaded ? code_elf_loaded(fd, q.from.offset, q.machine, &q.budget, put_symbol, &q,
					&q.extent)
		      : code_elf_symbols(&q.from, q.machine, &q.budget, put_symbol,
					 q.n ? put_frames : NULL, &q, &q.extent);
	put_last(&q);
	return ok ? 0 : EINVAL;
}

static int list_task(const void *text, size_t len, int fd)
{
	uint64_t r_debug;
	SCOPED(code_list_fini) struct code_list l = {0};
	(void)len;
	memcpy(&r_debug, text, sizeof(r_debug));
	const bool ok = code_list_read(&l, fd, r_debug, CODE_OBJECTS_MOST);
	for (size_t i = 0; i < l.n; i++) {
		const struct code_link *k = &l.links[i];
		put_record(&(struct record){k->link, k->base, (uint32_t)strlen(k->uri), 0}, k->uri);
	}
	return ok ? 0 : EINVAL;
}

// --- in gpq ---

struct answer {
	code_symbol *each;
	void *arg;
	uint64_t load, budget;
	struct code_list *list; // takes links; NULL: the answer has symbols
	code_told *told;        // takes what is told of `n` places
	size_t n;
};

static void take_record(struct answer *a, const struct record *r, const char *text)
{
	if (r->kind == RECORD_LAST) {
		a->load = r->a;
		a->budget = r->b < a->budget ? r->b : a->budget;
	} else if (a->told) {
		if (r->b < a->n && r->len)
			a->told(a->arg, r->b, r->a, text, r->len, r->kind == RECORD_FRAME);
	} else if (!a->list) {
		a->each(a->arg, text, r->len, r->a, 0);
	} else if (a->list->n < CODE_OBJECTS_MOST) {
		*ARRAY_ADD(a->list->links, a->list->cap, a->list->n) =
			(struct code_link){r->a, r->b, xasprintf("%.*s", (int)r->len, text)};
	}
}

static bool code_take_part(void *arg, const void *part, size_t len)
{
	const char *s = part;
	struct record r;
	for (; len >= sizeof(r); s += r.len, len -= r.len) {
		memcpy(&r, s, sizeof(r));
		s += sizeof(r);
		len -= sizeof(r);
		if (r.len > len)
			return false;
		take_record(arg, &r, s);
	}
	return !len;
}

// Asks the question, which has its suffix or addresses.
static int ask_source(const struct code_source *from, struct question *q, struct answer *a)
{
	const struct memory *m = from->memory;
	const struct mapping *map = from->map;
	const char *path = from->path ? from->path : map ? map->path : "";
	const size_t len = from->path ? strlen(path) : map ? map->len : 0;
	const struct reader_question question = {.whose = from->pid,
						 .task = symbols_task,
						 .open = q->n ? open_for_places
							 : m  ? NULL
							      : open_file,
						 .text = q,
						 .len = q->n ? sizeof(*q)
							: m  ? offsetof(struct question, path)
							     : offsetof(struct question, at),
						 .fd = m ? m->fd : -1};
	q->from = from->bytes;
	q->from.fd = m ? m->fd : -1;
	q->budget = a->budget;
	q->head = from->head;
	q->start = map ? map->start : 0;
	q->end = map ? map->end : 0;
	q->pid = from->pid;
	q->machine = from->machine;
	q->file = !m;
	q->loaded = from->loaded;
	// A mapped file that was deleted has no path, or another file has it.
	if (len < sizeof(q->path) && !(map && map->deleted))
		memcpy(q->path, path, len);
	return code_elf_ready() ? reader_ask(&question, code_take_part, a) : ENOPKG;
}

bool code_ask_symbols(const struct code_source *from, const char *suffix, uint64_t *budget,
		      code_symbol *each, void *arg, uint64_t *load)
{
	struct answer a = {.each = each, .arg = arg, .budget = *budget};
	struct question q = {0};
	snprintf(q.suffix, sizeof(q.suffix), "%s", suffix);
	const bool ok = ask_source(from, &q, &a) == 0;
	*budget = a.budget;
	*load = a.load;
	return ok;
}

int code_ask_places(const struct code_source *from, const uint64_t *at, size_t n, uint64_t *budget,
		    code_told *each, void *arg, uint64_t *end)
{
	struct answer a = {.told = each, .arg = arg, .n = n, .budget = *budget};
	struct question q = {.n = (unsigned)n};
	memcpy(q.at, at, n * sizeof(*at));
	code_lines_ready();
	const int error = ask_source(from, &q, &a);
	*budget = a.budget;
	*end = a.load;
	return error;
}

bool code_ask_list(const struct memory *m, struct code_list *l, uint64_t r_debug)
{
	struct answer a = {.list = l};
	const struct reader_question question = {.whose = m->pid,
						 .task = list_task,
						 .text = &r_debug,
						 .len = sizeof(r_debug),
						 .fd = m->fd};
	return reader_ask(&question, code_take_part, &a) == 0;
}
