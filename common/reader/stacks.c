// Native stacks of sleeping threads; see stacks.h.
//
// A child of its own opens memory and files of the process with the rights of gpq, gives these up,
// and then walks the stacks: files and stacks may be hostile.
#include "common/reader/stacks.h"

#include "common/host/dlopen.h"
#include "common/host/number.h"
#include "common/host/proc.h"
#include "common/host/root.h"
#include "common/reader/demangle.h"
#include "common/reader/maps.h"
#include "common/reader/reader.h"

#include <elfutils/libdwfl.h>
#include <fcntl.h>

#define DW_FUNCTIONS(X)                  \
	X(dwfl_addrmodule)               \
	X(dwfl_attach_state)             \
	X(dwfl_begin)                    \
	X(dwfl_frame_pc)                 \
	X(dwfl_frame_thread)             \
	X(dwfl_getthreads)               \
	X(dwfl_module_addrname)          \
	X(dwfl_module_info)              \
	X(dwfl_report_begin)             \
	X(dwfl_report_end)               \
	X(dwfl_report_module)            \
	X(dwfl_thread_dwfl)              \
	X(dwfl_thread_getframes)         \
	X(dwfl_thread_state_register_pc) \
	X(dwfl_thread_state_registers)   \
	X(dwfl_thread_tid)               \
	X(elf_begin)                     \
	X(elf_version)
LIB(dw, "libdw.so.1", DW_FUNCTIONS, SUGGESTED, "stacks", "Native stacks of threads");

enum { OBJECTS_MOST = 512 };
enum { TIDS_MOST = 4 }; // threads with the same stack that a line names
// x86-64 psABI, DWARF numbers.
enum { REGISTER_BP = 6, REGISTER_SP = 7, REGISTER_PC = 16 };
#ifdef __x86_64__
enum { KNOWS_REGISTERS = true };
#else
enum { KNOWS_REGISTERS = false };
#endif
#define DATA_MORE (UINT64_C(1) << 30) // bytes that files may make libdw ask for

// A thread that sleeps.
struct sleeper {
	uint64_t sp, pc;
	pid_t tid;
	// In an answer: bytes of the text behind it, "FUNCTION\0FILE\0" for each frame, and how
	// many of these frames need no guess.
	uint32_t len, sure;
};

// Parses "NUMBER ARGUMENT... SP PC", or "-1 SP PC". False: the thread runs, or may not be traced.
static bool read_sleeper(struct sleeper *s, pid_t pid, pid_t tid)
{
	SCOPED(buf_fini) struct buf b = {0};
	*s = (struct sleeper){.tid = tid};
	if (host_read(&b, PATH("/proc/%d/task/%d/syscall", (int)pid, (int)tid)) < 0)
		return false;
	char *pc = strrchr(b.data, ' ');
	if (!pc)
		return false;
	*pc = '\0';
	const char *sp = strrchr(b.data, ' ');
	return sp && strncmp(sp + 1, "0x", 2) == 0 && strncmp(pc + 1, "0x", 2) == 0 &&
	       number_read(sp + 3, NULL, 16, UINT64_MAX, &s->sp) &&
	       number_read(pc + 3, NULL, 16, UINT64_MAX, &s->pc);
}

// --- in the child, with the rights of gpq ---

// A file that the process has mapped, from its first page to its last.
struct object {
	uint64_t start, end, device, inode;
	uint64_t code, code_end;
	int fd; // -1: none of it is executable, or it is given to libdw
	char name[64];
};

static struct {
	pid_t pid;
	int memory;
	struct sleeper threads[STACKS_THREADS_MOST];
	unsigned nthreads;
	struct object objects[OBJECTS_MOST];
	unsigned nobjects;
	uint64_t frame_pointer; // guessed; 0: unknown
} look;

static void name_object(struct object *o, const struct mapping *m)
{
	const char *slash = memrchr(m->path, '/', m->len), *end = m->path + m->len;
	snprintf(o->name, sizeof(o->name), "%.*s", (int)(end - slash - 1), slash + 1);
}

// A file of which nothing was executable gives its place to the next one.
static void add_mapping(const struct mapping *m)
{
	struct object *o = look.nobjects ? &look.objects[look.nobjects - 1] : NULL;
	if (!o || o->device != m->device || o->inode != m->inode) {
		if (!o || o->fd >= 0)
			o = look.nobjects < OBJECTS_MOST ? &look.objects[look.nobjects++] : NULL;
		if (!o)
			return;
		*o = (struct object){m->start, m->end, m->device, m->inode, 0, 0, .fd = -1};
		name_object(o, m);
	}
	o->end = m->end;
	if (!m->executable)
		return;
	o->code = o->code ? o->code : m->start;
	o->code_end = m->end;
	if (o->fd < 0)
		o->fd = mapping_open(look.pid, m->start, m->end,
				     m->deleted ? "" : PATH("%.*s", (int)m->len, m->path));
}

static void find_objects(void)
{
	SCOPED(buf_fini) struct buf maps = {0};
	struct mapping m;
	const char *next =
		host_read(&maps, PATH("/proc/%d/maps", (int)look.pid)) < 0 ? "" : maps.data;
	for (const char *line = next; *line; line = next)
		if (mapping_parse(line, &next, &m))
			add_mapping(&m);
}

static void find_sleepers(void)
{
	SCOPED(closedir_at) DIR *dir = host_opendir(PATH("/proc/%d/task", (int)look.pid));
	pid_t tid;
	for (struct dirent *e;
	     dir && look.nthreads < STACKS_THREADS_MOST && (e = host_readdir(dir));)
		if (proc_parse_pid(e->d_name, &tid) &&
		    read_sleeper(&look.threads[look.nthreads], look.pid, tid))
			look.nthreads++;
}

static int open_process(const void *pid, size_t len)
{
	memcpy(&look.pid, pid, len);
	reader_limit(DATA_MORE, 0); // a compressed section may become any number of bytes
	find_objects();
	find_sleepers();
	return host_open(PATH("/proc/%d/mem", (int)look.pid), O_RDONLY);
}

// --- in the child, without rights ---

static int find_elf(Dwfl_Module *module, void **arg, const char *name, Dwarf_Addr base, char **path,
		    Elf **elf)
{
	(void)module, (void)arg, (void)name;
	for (unsigned i = 0; i < look.nobjects; i++) {
		struct object *o = &look.objects[i];
		const int fd = o->fd;
		if (o->start != base || fd < 0)
			continue;
		o->fd = -1;
		*path = xstrdup(o->name);
		*elf = dw_get()->elf_begin(fd, ELF_C_READ_MMAP, NULL);
		return fd;
	}
	return -1;
}

static int find_no_debuginfo(Dwfl_Module *module, void **arg, const char *name, Dwarf_Addr base,
			     const char *file, const char *link, GElf_Word crc, char **path)
{
	(void)module, (void)arg, (void)name, (void)base, (void)file, (void)link, (void)crc,
		(void)path;
	return -1;
}

static pid_t next_sleeper(Dwfl *d, void *arg, void **thread)
{
	struct sleeper *s = *thread ? (struct sleeper *)*thread + 1 : look.threads;
	(void)d, (void)arg;
	*thread = s;
	reader_alive();
	return s < look.threads + look.nthreads ? s->tid : 0;
}

static bool read_word(Dwfl *d, Dwarf_Addr at, Dwarf_Word *to, void *arg)
{
	(void)d, (void)arg;
	return at <= INT64_MAX &&
	       pread(look.memory, to, sizeof(*to), (off_t)at) == (ssize_t)sizeof(*to);
}

static bool is_code(uint64_t at)
{
	for (unsigned i = 0; i < look.nobjects; i++)
		if (at > look.objects[i].code && at < look.objects[i].code_end)
			return true;
	return false;
}

// Is this an address to return to: code behind a call (E8, or FF with 2 in the middle of its next
// byte, and up to five bytes more)?
static bool is_behind_call(uint64_t at)
{
	uint8_t b[7];
	if (!is_code(at) || pread(look.memory, b, sizeof(b), (off_t)(at - 7)) != sizeof(b))
		return false;
	bool is = b[2] == 0xe8;
	for (size_t i = 0; i < 6; i++)
		is |= b[i] == 0xff && (b[i + 1] & 0x38) == 0x10;
	return is;
}

static bool set_registers(Dwfl_Thread *t, void *thread)
{
	const struct sleeper *s = thread;
	const Dwarf_Word sp = s->sp, pc = s->pc, bp = look.frame_pointer;
	dw_get()->dwfl_thread_state_register_pc(t, pc);
	return (!bp || dw_get()->dwfl_thread_state_registers(t, REGISTER_BP, 1, &bp)) &&
	       dw_get()->dwfl_thread_state_registers(t, REGISTER_SP, 1, &sp) &&
	       dw_get()->dwfl_thread_state_registers(t, REGISTER_PC, 1, &pc);
}

struct frames {
	struct buf text;
	unsigned n;
	const char *outermost; // name of the last function, NULL: it has none
};

// Appends a name of the file, in which any byte may stand.
static void put_name(struct buf *b, const char *name)
{
	for (; *name; name++)
		buf_append(b, (unsigned char)*name < ' ' || *name == 0x7f ? "?" : name, 1);
	buf_append(b, "", 1);
}

static int take_frame(Dwfl_Frame *f, void *frames)
{
	const struct dw *lib = dw_get();
	struct frames *to = frames;
	Dwarf_Addr pc;
	bool innermost; // else `pc` is behind the call, which may end the function
	if (to->n == STACKS_FRAMES_MOST || !lib->dwfl_frame_pc(f, &pc, &innermost))
		return DWARF_CB_ABORT;
	to->n++;
	pc -= !innermost;
	Dwfl *d = lib->dwfl_thread_dwfl(lib->dwfl_frame_thread(f));
	Dwfl_Module *m = lib->dwfl_addrmodule(d, pc);
	to->outermost = m ? lib->dwfl_module_addrname(m, pc) : NULL;
	put_name(&to->text, to->outermost ? to->outermost : "?");
	put_name(&to->text,
		 m ? lib->dwfl_module_info(m, NULL, NULL, NULL, NULL, NULL, NULL, NULL) : "");
	return DWARF_CB_OK;
}

// Reads the frame pointer of a caller and, behind it, an address to return to.
static bool read_frame(uint64_t at, uint64_t pair[2])
{
	return at <= INT64_MAX && pread(look.memory, pair, 16, (off_t)at) == 16 && pair[0] > at &&
	       pair[0] - at < (1u << 20) && pair[0] % 8 == 0 && is_behind_call(pair[1]);
}

// Programs may be compiled so that callers are found by a frame pointer, which no file of /proc
// tells. It is the place nearest to the stack pointer from where two frames lead on; but what
// returns into `function`, whose frame pointer it is, is left of a call that has ended.
static uint64_t guess_frame_pointer(Dwfl *d, uint64_t sp, const char *function)
{
	enum { WORDS = 512 };
	const struct dw *lib = dw_get();
	uint64_t found = 0, pair[2], next[2];
	for (uint64_t at = sp; at < sp + 8 * WORDS && !found; at += 8)
		if (read_frame(at, pair) && read_frame(pair[0], next))
			found = at;
	uint64_t at = found;
	for (unsigned i = 0; function && i < STACKS_FRAMES_MOST && read_frame(at, pair); i++) {
		Dwfl_Module *m = lib->dwfl_addrmodule(d, pair[1] - 1);
		const char *name = m ? lib->dwfl_module_addrname(m, pair[1] - 1) : NULL;
		if (name && strcmp(name, function) == 0)
			return pair[0];
		at = pair[0];
	}
	return found;
}

// Gives the frames that need no guess, or more that do.
static int walk_stack(Dwfl_Thread *t, void *arg)
{
	const struct dw *lib = dw_get();
	SCOPED(buf_fini) struct buf b = {0};
	struct frames sure = {0}, more = {0};
	struct sleeper *s = look.threads;
	(void)arg;
	while (s->tid != lib->dwfl_thread_tid(t))
		s++;
	look.frame_pointer = 0;
	lib->dwfl_thread_getframes(t, take_frame, &sure);
	look.frame_pointer = guess_frame_pointer(lib->dwfl_thread_dwfl(t), s->sp, sure.outermost);
	if (look.frame_pointer)
		lib->dwfl_thread_getframes(t, take_frame, &more);
	const struct buf *text = more.n > sure.n ? &more.text : &sure.text;
	s->sure = sure.n;
	s->len = (uint32_t)text->len;
	if (text->len <= READER_PART - sizeof(*s)) {
		buf_append(&b, (const char *)s, sizeof(*s));
		buf_append(&b, text->data, text->len);
		reader_give(b.data, b.len);
	}
	buf_fini(&sure.text);
	buf_fini(&more.text);
	return DWARF_CB_OK;
}

static int walk_stacks(const void *pid, size_t len, int fd)
{
	static const Dwfl_Callbacks files = {.find_elf = find_elf,
					     .find_debuginfo = find_no_debuginfo};
	static const Dwfl_Thread_Callbacks threads = {.next_thread = next_sleeper,
						      .memory_read = read_word,
						      .set_initial_registers = set_registers};
	const struct dw *lib = dw_get();
	(void)pid, (void)len;
	look.memory = fd;
	lib->elf_version(EV_CURRENT);
	Dwfl *d = lib->dwfl_begin(&files);
	if (!d)
		return ENOMEM;
	lib->dwfl_report_begin(d);
	for (unsigned i = 0; i < look.nobjects; i++)
		if (look.objects[i].fd >= 0)
			lib->dwfl_report_module(d, look.objects[i].name, look.objects[i].start,
						look.objects[i].end);
	lib->dwfl_report_end(d, NULL, NULL);
	if (lib->dwfl_attach_state(d, NULL, look.pid, &threads, NULL))
		lib->dwfl_getthreads(d, walk_stack, NULL);
	return 0;
}

// --- in gpq ---

struct stack {
	struct buf text, tids;
	struct buf wait; // the function, or else the file, of the runtime in which it waits
	bool named;      // `wait` is a function
	bool outside;    // a frame outside of the runtime was met; only then `wait` is shown
	unsigned n;      // threads that have it
};

static void stack_fini(struct stack *s)
{
	buf_fini(&s->text);
	buf_fini(&s->tids);
	buf_fini(&s->wait);
}

struct stacks {
	pid_t pid;
	struct stack *v;
	size_t n, cap;
	struct demangler *names;
};

// Appends a function without its arguments, and cut where it is long: names of C++ fill lines.
static void put_function(struct buf *to, struct demangler *names, const char *name)
{
	enum { LONGEST = 80 };
	static const char none[] = "(anonymous namespace)";
	const char *text = names ? demangle(names, name) : NULL, *s = text ? text : name;
	size_t len = 0, depth = 0; // in arguments of a template
	for (; s[len] && (s[len] != '(' || depth || strncmp(s + len, none, strlen(none)) == 0);
	     len++)
		depth += s[len] == '<' ? 1 : s[len] == '>' && depth ? -1 : 0;
	buf_printf(to, "%.*s%s", (int)(len < LONGEST ? len : LONGEST), s,
		   len > LONGEST ? "..." : "");
}

// Files of what the runtime calls, and its threads begin in.
static bool is_beneath(const char *file)
{
	static const char *const begins[] = {"libc.", "libpthread", "libstdc++"};
	bool is = false;
	for (size_t i = 0; i < COUNT(begins); i++)
		is |= strncmp(file, begins[i], strlen(begins[i])) == 0;
	return is;
}

// Looks for a wait in the next frame; what the runtime calls of others does not wait in it.
static void note_wait(struct stack *s, const char *function, const char *file)
{
	static const char *const waits[] = {"Signal::Wait", "hsa_signal_wait",
					    "hsa_amd_signal_wait", "hsaKmtWaitOn"};
	bool named = false;
	if (s->outside || !*file)
		return;
	if (strncmp(file, "libhsa", 6) != 0) {
		s->outside = !is_beneath(file);
		return;
	}
	for (size_t i = 0; i < COUNT(waits); i++)
		named |= strstr(function, waits[i]) != NULL;
	if (s->named || (s->wait.len && !named))
		return;
	s->named = named;
	s->wait.len = 0;
	buf_puts(&s->wait, named ? function : file);
}

// Puts the frames as "F < G (FILE)", with " <~ " behind the `sure` first ones, and their wait.
// Returns false if the text has no such form.
static bool put_frames(struct stack *stack, struct demangler *names, const char *s, size_t len,
		       size_t sure)
{
	struct buf *to = &stack->text;
	const char *file, *was = "";
	size_t n = 0;
	for (const char *end = s + len; s < end; n++) {
		const char *name_end = memchr(s, 0, (size_t)(end - s));
		file = name_end ? name_end + 1 : end;
		const char *file_end = file < end ? memchr(file, 0, (size_t)(end - file)) : NULL;
		if (!file_end)
			return false;
		if (strcmp(file, was) != 0 && *was)
			buf_printf(to, " (%s)", was);
		if (n)
			buf_puts(to, n == sure ? " <~ " : " < ");
		const size_t at = to->len;
		put_function(to, names, s);
		note_wait(stack, to->data + at, file);
		was = file;
		s = file_end + 1;
	}
	if (*was)
		buf_printf(to, " (%s)", was);
	return true;
}

static void add_stack(struct stacks *to, struct stack *one, pid_t tid)
{
	size_t i = 0;
	while (i < to->n && strcmp(to->v[i].text.data, one->text.data) != 0)
		i++;
	if (i == to->n)
		*ARRAY_ADD(to->v, to->cap, to->n) = *one;
	else
		stack_fini(one);
	struct stack *s = &to->v[i];
	if (s->n++ < TIDS_MOST)
		buf_printf(&s->tids, "%s%d", s->n > 1 ? ", " : "", (int)tid);
}

static bool take_stacks(void *arg, const void *part, size_t len)
{
	struct stacks *to = arg;
	struct sleeper s, now;
	for (const char *p = part; len; p += s.len, len -= s.len) {
		struct stack one = {0};
		if (len < sizeof(s))
			return false;
		memcpy(&s, p, sizeof(s));
		p += sizeof(s);
		len -= sizeof(s);
		if (s.len > len || !put_frames(&one, to->names, p, s.len, s.sure)) {
			stack_fini(&one);
			return false;
		}
		if (one.text.len && read_sleeper(&now, to->pid, s.tid) && now.sp == s.sp &&
		    now.pc == s.pc)
			add_stack(to, &one, s.tid);
		else
			stack_fini(&one);
	}
	return true;
}

static void put_stack(struct buf *to, const struct stack *s)
{
	buf_printf(to, "thread%s %s", s->n > 1 ? "s" : "", s->tids.data);
	if (s->n > TIDS_MOST)
		buf_printf(to, " and %u more", s->n - TIDS_MOST);
	buf_printf(to, ": %s\n", s->text.data);
}

static void put_wait(struct buf *to, const struct stack *s)
{
	buf_printf(to, "%s\n", s->outside && s->wait.len ? s->wait.data : "");
}

int stacks_read(struct buf *to, struct buf *waits, pid_t pid)
{
	struct stacks all = {.pid = pid};
	const struct reader_question q = {.whose = pid,
					  .task = walk_stacks,
					  .open = open_process,
					  .text = &pid,
					  .len = sizeof(pid),
					  .fd = -1};
	if (!host_is_live())
		return reader_read(to, PATH("/proc/%d/stacks", (int)pid)) < 0 ? -1 : 0;
	errno = ENOTSUP;
	if (!KNOWS_REGISTERS || !dw_get())
		return -1;
	all.names = demangler_new();
	const int error = reader_ask(&q, take_stacks, &all);
	for (size_t i = 0; i < all.n; i++) {
		if (!error)
			put_stack(to, &all.v[i]);
		if (!error && waits)
			put_wait(waits, &all.v[i]);
		stack_fini(&all.v[i]);
	}
	free(all.v);
	demangler_free(all.names);
	errno = error;
	return error ? -1 : 0;
}
