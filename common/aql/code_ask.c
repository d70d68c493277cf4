// Code objects by the reader's child: it opens the target's files, and parses what is in them.
//
// An answer is a sequence of records, each a head and a text. The last record of an answer about
// symbols has no text; its head has the result.
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
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

struct record {
	uint64_t a,
		b; // a symbol: its value, 0; the end: load address, budget left; a link: link, base
	uint32_t len; // of the text behind it, without a NUL
	uint32_t last;
};

struct question {
	struct code_bytes from;
	uint64_t budget, start, end; // of a mapping; start 0: `path`
	pid_t pid;
	unsigned machine;
	bool loaded;
	char suffix[16];
	char path[PATH_MAX];
};

struct list_question {
	uint64_t r_debug, most;
};

// --- in the child ---

static struct {
	char data[READER_PART];
	size_t len;
} records;

static void put_record(const struct record *r, const char *text)
{
	if (sizeof(*r) + r->len > sizeof(records.data))
		return;
	if (records.len + sizeof(*r) + r->len > sizeof(records.data)) {
		reader_give(records.data, records.len);
		records.len = 0;
	}
	memcpy(records.data + records.len, r, sizeof(*r));
	memcpy(records.data + records.len + sizeof(*r), text, r->len);
	records.len += sizeof(*r) + r->len;
}

static void put_last(uint64_t a, uint64_t b)
{
	put_record(&(struct record){.a = a, .b = b, .last = 1}, "");
	reader_give(records.data, records.len);
	records.len = 0;
}

// Opens for reading what was opened with O_PATH, if it is a regular file that occupies blocks.
// Devices and pipes may block or have side effects when read; files of procfs and sysfs may, too,
// and are told by having no blocks.
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

// The very file that the target has mapped, even if its path names another one by now (for root).
static int open_mapped(const struct question *q)
{
	char path[96];
	snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)q->pid,
		 q->start, q->end);
	return open_found(host_open(path, O_PATH));
}

// A path within the target's root directory.
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

static int open_file(const void *text, size_t len)
{
	const struct question *q = text;
	const int fd = q->start ? open_mapped(q) : -1;
	(void)len;
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
	if (len > sizeof(q))
		return EMSGSIZE;
	memcpy(&q, text, len);
	q.from.fd = fd;
	if (len == sizeof(q)) { // a file: as much as it has
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
	put_last(load, q.budget);
	return ok ? 0 : EINVAL;
}

static int list_task(const void *text, size_t len, int fd)
{
	struct list_question q;
	struct code_list l = {0};
	memcpy(&q, text, len < sizeof(q) ? len : sizeof(q));
	const bool ok = code_list_read(&l, fd, q.r_debug, q.most);
	for (size_t i = 0; i < l.n; i++) {
		const struct code_link *k = &l.links[i];
		put_record(&(struct record){.a = k->link,
					    .b = k->base,
					    .len = (uint32_t)strlen(k->uri)},
			   k->uri);
	}
	code_list_fini(&l);
	put_last(0, 0);
	return ok ? 0 : EINVAL;
}

// --- in gpq ---

struct answer {
	code_symbol *each;
	void *arg;
	uint64_t load, budget;
	struct code_list *list; // of links
	size_t most;
};

static void take_record(struct answer *a, const struct record *r, const char *text)
{
	if (r->last) {
		a->load = r->a;
		a->budget = r->b < a->budget ? r->b : a->budget;
	} else if (!a->list) {
		a->each(a->arg, text, r->len, r->a);
	} else if (a->list->n < a->most) {
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

static bool ask_for_code(struct question *q, const struct memory *m, uint64_t *budget,
			 code_symbol *each, void *arg, uint64_t *load)
{
	struct answer a = {.each = each, .arg = arg, .budget = *budget};
	const struct reader_question question = {.whose = q->pid,
						 .task = symbols_task,
						 .open = m ? NULL : open_file,
						 .text = q,
						 .len = m ? offsetof(struct question, path)
							  : sizeof(*q),
						 .fd = m ? m->fd : -1};
	const bool ok = code_elf_ready() && reader_ask(&question, code_take_part, &a) == 0;
	*budget = a.budget;
	*load = a.load;
	return ok;
}

bool code_ask_file(pid_t pid, const struct code_map *m, const char *path, const char *end,
		   const struct code_bytes *from, unsigned machine, uint64_t *budget,
		   code_symbol *each, void *arg, uint64_t *load)
{
	struct question q = {.pid = pid, .from = *from, .machine = machine, .budget = *budget};
	size_t len = 0;
	q.start = m ? m->start : 0;
	q.end = m ? m->end : 0;
	snprintf(q.suffix, sizeof(q.suffix), "%s", end);
	// The path of a mapped file that was deleted names another one.
	if (path && (!m || !m->deleted))
		len = strlen(path);
	else if (m && !m->deleted)
		len = m->len;
	if (len < sizeof(q.path))
		memcpy(q.path, path ? path : m ? m->path : "", len);
	return ask_for_code(&q, NULL, budget, each, arg, load);
}

bool code_ask_memory(const struct memory *m, const struct code_bytes *from, bool loaded,
		     uint64_t *budget, code_symbol *each, void *arg)
{
	struct question q = {.pid = m->pid,
			     .from = *from,
			     .machine = EM_AMDGPU,
			     .loaded = loaded,
			     .suffix = ".kd",
			     .budget = *budget};
	uint64_t load;
	return ask_for_code(&q, m, budget, each, arg, &load);
}

bool code_ask_list(const struct memory *m, struct code_list *l, uint64_t r_debug)
{
	const struct list_question q = {r_debug,
					CODE_OBJECTS_MOST > l->n ? CODE_OBJECTS_MOST - l->n : 0};
	struct answer a = {.list = l, .most = CODE_OBJECTS_MOST};
	const struct reader_question question = {
		.whose = m->pid, .task = list_task, .text = &q, .len = sizeof(q), .fd = m->fd};
	return reader_ask(&question, code_take_part, &a) == 0;
}
