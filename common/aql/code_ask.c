// Reads code objects in the reader's child, which opens files of the process and parses them.
//
// An answer is a sequence of records, each a head and a text, and none is split between two parts
// of an answer. The last record of an answer about symbols has no text; its head has the result.
#include "common/aql/code.h"
#include "common/aql/code_priv.h"
#include "common/host/root.h"

#include <elf.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>

struct record {
	// A symbol: value, 0. A link: address, base. The last: load address, budget left.
	uint64_t a, b;
	uint32_t len; // bytes of the text that follows, which has no NUL
	uint32_t last;
};

// A question about symbols. It ends before `path` if they are in a process's memory.
struct question {
	struct code_bytes from;
	uint64_t budget, start, end; // start, end: mapping of the file; start 0: `path` names it
	pid_t pid;
	unsigned machine;
	bool loaded;
	char suffix[16];
	char path[PATH_MAX];
};

struct list_question {
	uint64_t r_debug, most;
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

// Opens for reading what was opened with O_PATH, if it is a regular file that occupies blocks.
// Reading others may block or have side effects: devices, pipes, and files of procfs and sysfs.
static int open_found(int found)
{
	struct stat st;
	char self[64];
	int fd = -1;
	if (found < 0)
		return -1;
	if (fstat(found, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0 && st.st_blocks > 0) {
		snprintf(self, sizeof(self), "/proc/self/fd/%d", found);
		fd = host_open(self, O_RDONLY | O_NONBLOCK);
	}
	close_quietly(found);
	return fd;
}

// Opens a path within the root directory of the process.
static int open_path(const struct question *q)
{
	const struct open_how how = {.flags = O_PATH | O_CLOEXEC,
				     .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
	char root[64];
	long found = -1;
	int dir;
	snprintf(root, sizeof(root), "/proc/%d/root", (int)q->pid);
	dir = host_open(root, O_PATH | O_DIRECTORY);
	if (dir < 0)
		return -1;
	for (int tries = 0; found < 0 && tries < 100 && (!tries || errno == EAGAIN); tries++)
		found = syscall(SYS_openat2, dir, q->path, &how, sizeof(how));
	close_quietly(dir);
	return open_found((int)found);
}

// Opens the file that the process has mapped, even if the path is another file's by now (as root),
// else the file at the path.
static int open_file(const void *text, size_t len)
{
	const struct question *q = text;
	(void)len;
	const struct path path =
		pathf("/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)q->pid, q->start, q->end);
	errno = ENOENT; // unless a call has another reason
	const int fd = q->start ? open_found(host_open(path.text, O_PATH)) : -1;
	return fd < 0 && *q->path ? open_path(q) : fd;
}

static void put_symbol(void *suffix, const char *name, size_t len, uint64_t value)
{
	const size_t n = strlen(suffix);
	if (len >= n && memcmp(name + len - n, suffix, n) == 0)
		put_record(&(struct record){.a = value, .len = (uint32_t)len}, name);
}

static int symbols_task(const void *text, size_t len, int fd)
{
	struct question q;
	uint64_t load = 0;
	bool ok;
	memcpy(&q, text, len < sizeof(q) ? len : sizeof(q));
	q.from.fd = fd;
	if (len == sizeof(q)) { // question with `path`: about a file, whose size bounds reads
		const off_t end = lseek(fd, 0, SEEK_END);
		const uint64_t rest = end > 0 && (uint64_t)end > q.from.offset
					      ? (uint64_t)end - q.from.offset
					      : 0;
		q.from.size = q.from.size ? q.from.size : rest;
		if (q.from.size > rest)
			return EINVAL;
	}
	ok = q.loaded
		     ? code_elf_loaded(fd, q.from.offset, q.machine, &q.budget, put_symbol,
				       q.suffix)
		     : code_elf_symbols(&q.from, q.machine, &q.budget, put_symbol, q.suffix, &load);
	put_record(&(struct record){.a = load, .b = q.budget, .last = 1}, "");
	return ok ? 0 : EINVAL;
}

static int list_task(const void *text, size_t len, int fd)
{
	struct list_question q;
	SCOPED(code_list_fini) struct code_list l = {0};
	memcpy(&q, text, len < sizeof(q) ? len : sizeof(q));
	const bool ok = code_list_read(&l, fd, q.r_debug, q.most);
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
};

static void take_record(struct answer *a, const struct record *r, const char *text)
{
	if (r->last) {
		a->load = r->a;
		a->budget = r->b < a->budget ? r->b : a->budget;
	} else if (!a->list) {
		a->each(a->arg, text, r->len, r->a);
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

bool code_ask_symbols(const struct code_source *from, const char *suffix, uint64_t *budget,
		      code_symbol *each, void *arg, uint64_t *load)
{
	const struct memory *m = from->memory;
	const struct code_map *map = from->map;
	const char *path = from->path ? from->path : map ? map->path : "";
	const size_t len = from->path ? strlen(path) : map ? map->len : 0;
	struct answer a = {.each = each, .arg = arg, .budget = *budget};
	struct question q = {.from = from->bytes,
			     .budget = *budget,
			     .start = map ? map->start : 0,
			     .end = map ? map->end : 0,
			     .pid = from->pid,
			     .machine = from->machine,
			     .loaded = from->loaded};
	const struct reader_question question = {.whose = q.pid,
						 .task = symbols_task,
						 .open = m ? NULL : open_file,
						 .text = &q,
						 .len = m ? offsetof(struct question, path)
							  : sizeof(q),
						 .fd = m ? m->fd : -1};
	snprintf(q.suffix, sizeof(q.suffix), "%s", suffix);
	// A mapped file that was deleted has no path, or another file has it.
	if (len < sizeof(q.path) && !(map && map->deleted))
		memcpy(q.path, path, len);
	const bool ok = code_elf_ready() && reader_ask(&question, code_take_part, &a) == 0;
	*budget = a.budget;
	*load = a.load;
	return ok;
}

bool code_ask_list(const struct memory *m, struct code_list *l, uint64_t r_debug)
{
	const struct list_question q = {r_debug,
					CODE_OBJECTS_MOST > l->n ? CODE_OBJECTS_MOST - l->n : 0};
	struct answer a = {.list = l};
	const struct reader_question question = {
		.whose = m->pid, .task = list_task, .text = &q, .len = sizeof(q), .fd = m->fd};
	return reader_ask(&question, code_take_part, &a) == 0;
}
