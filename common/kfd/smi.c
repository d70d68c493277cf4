// Events of a GPU; see smi.h. Formats: KFD_EVENT_FMT_... in uapi/linux/kfd_ioctl.h and what fills
// them in, kfd_smi_events.c, of Linux 6.12.95 and 7.3.4.
#include "common/kfd/smi.h"

#include "common/host/number.h"
#include "common/kfd/topology.h"

#include <fcntl.h>

#define ALL_PROCESSES (1ull << 63)

int kfd_smi_open(int kfd, uint32_t gpu_id, uint64_t mask)
{
	struct kfd_smi a = {.gpu_id = gpu_id};
	const int r = kfd_ioctl(kfd, KFD_SMI_EVENTS, &a);
	const int fd = (int)a.fd;
	if (r < 0)
		return r;
	mask |= ALL_PROCESSES;
	if (fcntl(fd, F_SETFD, FD_CLOEXEC) == 0 && write(fd, &mask, sizeof(mask)) == sizeof(mask))
		return fd;
	const int error = errno;
	close(fd);
	return -error;
}

size_t kfd_smi_open_all(uint64_t mask, int **fds)
{
	SCOPED(kfd_topology_fini) struct kfd_topology t = {0};
	SCOPED(close_at) const int kfd = kfd_open();
	size_t n = 0;
	if (kfd >= 0)
		kfd_topology_load(&t, 0); // a failure leaves no GPUs in t
	*fds = xcalloc(t.n + 1, sizeof(**fds));
	for (size_t i = 0; i < t.n; i++) {
		(*fds)[n] = kfd_smi_open(kfd, (uint32_t)t.gpus[i].gpu_id, mask);
		n += (*fds)[n] >= 0;
	}
	return n;
}

// --- parsing messages ---

// The formats of events. A capital letter stands for a value (see take_value()), | marks where
// messages of older drivers end, and any other character stands for itself.
static const struct {
	const char *name, *format;
} events[] = {
	[1] = {"vmfault", "H:M"},
	[2] = {"thermal-throttle", "B:U"},
	[3] = {"gpu-pre-reset", "Q| M"},
	[4] = {"gpu-post-reset", "Q| M"},
	[5] = {"migrate-start", "T -P @A(S) F->O R:E G"},
	[6] = {"migrate-end", "T -P @A(S) F->O G| X"},
	[7] = {"page-fault-start", "T -P @A(N) C"},
	[8] = {"page-fault-end", "T -P @A(N) C"},
	[9] = {"queue-eviction", "T -P N G"},
	[10] = {"queue-restore", "T -P N| C"},
	[11] = {"unmap-from-gpu", "T -P @A(S) N G"},
	[KFD_SMI_PROCESS_START] = {"process-start", "H M"},
	[KFD_SMI_PROCESS_END] = {"process-end", "H M"},
};

#define VALUE(letter, base, member) \
	[(letter) - 'A'] = {(base), offsetof(struct kfd_smi_event, member)}
static const struct {
	int base;
	size_t offset;
} values['Z' - 'A' + 1] = {
	VALUE('A', 16, page),     VALUE('B', 16, bits),     VALUE('E', 16, preferred),
	VALUE('F', 16, from),     VALUE('G', 10, trigger),  VALUE('H', 16, tid),
	VALUE('N', 16, gpu_id),   VALUE('O', 16, to),       VALUE('P', 10, pid),
	VALUE('Q', 16, sequence), VALUE('R', 16, prefetch), VALUE('S', 16, pages),
	VALUE('T', 10, boot_ns),  VALUE('U', 16, count),
};

// Reads a number below KFD_UNKNOWN; hexadecimal digits are in lower case, as the driver prints
// them. Returns the place behind it; NULL: there is none.
static const char *smi_number(const char *s, const char *end, unsigned base, uint64_t *value)
{
	const char *stop = number_read(s, end, base, KFD_UNKNOWN - 1, value);
	for (; stop && s < stop; s++)
		if (*s >= 'A' && *s <= 'F')
			return NULL;
	return stop;
}

static const char *take_error(struct kfd_smi_event *e, const char *s, const char *end)
{
	const bool negative = s < end && *s == '-';
	uint64_t v;
	s = number_read(s + negative, end, 10, INT32_MAX, &v);
	if (!s)
		return NULL;
	e->error = negative ? -(int64_t)v : (int64_t)v;
	return s;
}

// Reads the value of a letter of a format. Returns the place behind it; NULL: no such value.
static const char *take_value(struct kfd_smi_event *e, char letter, const char *s, const char *end)
{
	switch (letter) {
	case 'M':
		e->text = s;
		e->text_len = (size_t)(end - s);
		return end;
	case 'C': e->mark = s < end ? *s : 0; return s < end ? s + 1 : NULL;
	case 'X': return take_error(e, s, end);
	default:
		return smi_number(s, end, (unsigned)values[letter - 'A'].base,
				  (uint64_t *)(void *)((char *)e + values[letter - 'A'].offset));
	}
}

static bool take_format(struct kfd_smi_event *e, const char *format, const char *s, const char *end)
{
	for (; *format && s; format++) {
		if (*format == '|') {
			if (s == end || (*s == ' ' && s + 1 == end))
				return true;
		} else if (*format >= 'A' && *format <= 'Z') {
			s = take_value(e, *format, s, end);
		} else {
			s = s < end && *s == *format ? s + 1 : NULL;
		}
	}
	return s == end;
}

static void clear_event(struct kfd_smi_event *e)
{
	memset(e, 0xff, sizeof(*e)); // all numbers KFD_UNKNOWN
	e->name = e->text = NULL;
	e->text_len = 0;
	e->readable = false;
	e->error = INT64_MIN;
	e->mark = 0;
}

void kfd_smi_parse(struct kfd_smi_event *e, const char *line, size_t len)
{
	const char *end = line + len, *s;
	uint64_t n;
	clear_event(e);
	s = smi_number(line, end, 16, &n);
	if (!s || s == end || *s != ' ') {
		e->text = e->line = line;
		e->text_len = e->line_len = len;
		return;
	}
	s++;
	if (n < COUNT(events) && events[n].name) {
		// A queue restore may end with a NUL, by which some drivers mean "not rescheduled".
		const char *last = end > s && !end[-1] ? end - 1 : end;
		e->name = events[n].name;
		e->readable = take_format(e, events[n].format, s, last);
		if (!e->readable) {
			clear_event(e);
			e->name = events[n].name;
		}
	}
	e->number = n;
	e->line = line;
	e->line_len = len;
	if (!e->readable || !e->text) {
		e->text = s;
		e->text_len = (size_t)(end - s);
	}
}

const char *kfd_smi_trigger(const struct kfd_smi_event *e)
{
	static const char *const migrate[] = {"prefetch", "gpu-fault", "cpu-fault", "ttm", NULL};
	static const char *const evict[] = {"svm",     "userptr",         "ttm",
					    "suspend", "criu-checkpoint", "criu-restore"};
	static const char *const unmap[] = {"mmu-notify", "mmu-notify-migrate", "cpu-unmap"};
	switch (e->number) {
	case 5:
	case 6: return e->trigger < COUNT(migrate) ? migrate[e->trigger] : NULL;
	case 9: return e->trigger < COUNT(evict) ? evict[e->trigger] : NULL;
	case 11: return e->trigger < COUNT(unmap) ? unmap[e->trigger] : NULL;
	default: return NULL;
	}
}

void kfd_smi_take(struct kfd_smi_text *t, void (*each)(void *arg, const struct kfd_smi_event *e),
		  void *arg)
{
	const char *s = t->data, *end = t->data + t->len, *newline;
	uint64_t name_of = KFD_UNKNOWN;
	size_t name_len = 0;
	while ((newline = memchr(s, '\n', (size_t)(end - s))) ||
	       end - s > (ptrdiff_t)(sizeof(t->data) - KFD_SMI_FIFO)) {
		const char *stop = newline ? newline : end;
		struct kfd_smi_event e;
		kfd_smi_parse(&e, s, (size_t)(stop - s));
		// A thread's name has at most 15 bytes (TASK_COMM_LEN), newlines in it included.
		name_len += (size_t)(stop - s) + 1;
		if (name_of != KFD_UNKNOWN && name_len <= 15) {
			e.name_of = name_of;
		} else {
			name_of = e.readable ? e.tid : KFD_UNKNOWN;
			name_len = e.text_len;
		}
		each(arg, &e);
		s = newline ? newline + 1 : end;
	}
	t->len = (size_t)(end - s);
	memmove(t->data, s, t->len);
}

bool kfd_smi_was_full(size_t n, enum kfd_answer3 large)
{
	const size_t small = 1024, most = KFD_SMI_FIFO;
	return (large != KFD_ANSWER_YES && n > small - KFD_SMI_LINE && n <= small) ||
	       (large != KFD_ANSWER_NO && n > most - KFD_SMI_LINE);
}

ssize_t kfd_smi_find(const struct kfd_smi_process *list, size_t n, uint64_t pid,
		     enum kfd_answer3 ns)
{
	ssize_t found = -1;
	for (size_t i = 0; i < n && pid; i++) {
		const bool host = ns != KFD_ANSWER_YES && (uint64_t)list[i].pid == pid;
		const bool own =
			ns != KFD_ANSWER_NO && (!list[i].ns_pid || (uint64_t)list[i].ns_pid == pid);
		if (!host && !own)
			continue;
		if (found >= 0)
			return -1;
		found = (ssize_t)i;
	}
	return found;
}
