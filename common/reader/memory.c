// Memory of a process; see memory.h.
#include "common/reader/memory.h"

#include "common/host/root.h"

#include <fcntl.h>

static bool read_record(void *record, uint64_t address, void *to, size_t size)
{
	return memory_record_read(record, address, to, size);
}

// Opens what gpq snapshot recorded. Returns 0, 1 if there is no record, or -1 with errno.
static int open_record(struct memory *m)
{
	SCOPED(buf_fini) struct buf text = {0};
	if (host_is_live() || host_read(&text, PATH("/proc/%d/memory", (int)m->pid)) < 0)
		return 1;
	m->record = m->arg = xcalloc(1, sizeof(*m->record));
	m->read = read_record;
	if (memory_record_parse(m->record, text.data, text.len))
		return 0;
	memory_close(m);
	errno = EBADMSG;
	return -1;
}

int memory_open(struct memory *m, pid_t pid)
{
	*m = (struct memory){.fd = -1, .pid = pid};
	const int r = open_record(m);
	if (r <= 0)
		return r;
	m->fd = host_open(PATH("/proc/%d/mem", (int)pid), O_RDONLY);
	return m->fd < 0 ? -1 : 0;
}

void memory_close(struct memory *m)
{
	close_quietly(m->fd);
	m->fd = -1;
	if (m->read == read_record) {
		memory_record_fini(m->record);
		free(m->record);
		m->read = NULL;
	}
	m->record = NULL;
}

static enum memory_got read_one_range(int fd, uint64_t at, char *to, size_t size)
{
	// No process has addresses this high, and a negative offset would give another errno.
	if (at > INT64_MAX || size > (uint64_t)INT64_MAX - at)
		return MEMORY_LOST;
	while (size) {
		const ssize_t n = pread(fd, to, size, (off_t)at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? MEMORY_LOST : MEMORY_OVER;
		to += n;
		at += (size_t)n;
		size -= (size_t)n;
	}
	return MEMORY_READ;
}

// --- in the reader's child ---

// A question is an array of these. The answer has one byte (enum memory_got) for each range, then
// the bytes of all ranges; those that could not be read are undefined.
struct wanted {
	uint64_t at, size;
};

static int read_ranges(const void *text, size_t len, int fd)
{
	static uint8_t answer[MEMORY_RANGES_MOST + MEMORY_BYTES_MOST];
	const struct wanted *w = text;
	const size_t n = len / sizeof(*w);
	size_t at = n;
	for (size_t i = 0; i < n; at += w[i++].size) {
		if (n > MEMORY_RANGES_MOST || w[i].size > sizeof(answer) - at)
			return EMSGSIZE;
		answer[i] = (uint8_t)read_one_range(fd, w[i].at, (char *)answer + at, w[i].size);
	}
	reader_give(answer, at);
	return 0;
}

static struct reader_question question(const struct memory *m, const struct memory_range *v,
				       size_t n)
{
	static struct wanted w[MEMORY_RANGES_MOST];
	for (size_t i = 0; i < n; i++)
		w[i] = (struct wanted){v[i].at, v[i].size};
	return (struct reader_question){.whose = m->pid,
					.task = read_ranges,
					.text = w,
					.len = n * sizeof(*w),
					.fd = m->fd};
}

bool memory_take(struct memory_range *v, size_t n, const void *part, size_t len)
{
	const uint8_t *got = part;
	bool all = true;
	size_t at = n;
	for (size_t i = 0; i < n; at += v[i++].size) {
		if (at > len || v[i].size > len - at || got[i] > MEMORY_OVER)
			return false;
		v[i].got = got[i];
		all &= v[i].got == MEMORY_READ;
		if (v[i].got == MEMORY_READ)
			memcpy(v[i].to, got + at, v[i].size);
	}
	return all;
}

bool memory_post(struct reader *r, const struct memory *m, const struct memory_range *v, size_t n,
		 void *tag)
{
	const struct reader_question q = question(m, v, n);
	return reader_post(r, &q, tag);
}

struct ranges {
	struct memory_range *v;
	size_t n;
};

static bool memory_take_part(void *arg, const void *part, size_t len)
{
	const struct ranges *r = arg;
	memory_take(r->v, r->n, part, len);
	return true;
}

bool memory_read_here(const struct memory *m, struct memory_range *v, size_t n)
{
	bool all = true;
	for (size_t i = 0; i < n; i++) {
		v[i].got = !m->read ? read_one_range(m->fd, v[i].at, v[i].to, v[i].size)
			   : m->read(m->arg, v[i].at, v[i].to, v[i].size) ? MEMORY_READ
									  : MEMORY_LOST;
		all &= v[i].got == MEMORY_READ;
	}
	return all;
}

static bool read_all(const struct memory *m, struct memory_range *v, size_t n)
{
	struct ranges r = {v, n};
	for (size_t i = 0; i < n; i++)
		v[i].got = MEMORY_LOST;
	errno = EBADF;
	if (m->read || !host_is_live()) // reading a recorded host or by m->read cannot block
		return memory_read_here(m, v, n);
	if (m->fd < 0)
		return false;
	const struct reader_question q = question(m, v, n);
	errno = reader_ask(&q, memory_take_part, &r);
	bool all = true;
	for (size_t i = 0; i < n; i++)
		all &= v[i].got == MEMORY_READ;
	return all;
}

bool memory_read_all(const struct memory *m, struct memory_range *v, size_t n)
{
	const bool all = read_all(m, v, n);
	for (size_t i = 0; i < n && m->record && m->read != read_record; i++)
		if (v[i].got == MEMORY_READ)
			memory_record_add(m->record, v[i].at, v[i].to, v[i].size);
	return all;
}

bool memory_read(const struct memory *m, uint64_t address, void *to, size_t size)
{
	for (size_t i = 0; i < m->nkept; i++)
		if (m->kept[i].at == address && m->kept[i].size == size &&
		    m->kept[i].got == MEMORY_READ) {
			memcpy(to, m->kept[i].to, size);
			m->kept[i].got = MEMORY_LOST;
			return true;
		}
	for (size_t part; size; to = (char *)to + part, address += part, size -= part) {
		part = size < MEMORY_BYTES_MOST ? size : MEMORY_BYTES_MOST;
		struct memory_range range = {.at = address, .to = to, .size = part};
		if (!memory_read_all(m, &range, 1))
			return false;
	}
	return true;
}

// Reads the first words of a signal. False: they cannot be read, or it has no value.
static bool read_signal(const struct memory *m, uint64_t signal, int64_t *words, size_t size)
{
	return signal && signal % 8 == 0 && memory_read(m, signal, words, size) &&
	       words[0] == SIGNAL_KIND_USER;
}

bool memory_signal(const struct memory *m, uint64_t signal, int64_t *value)
{
	int64_t words[2];
	if (!read_signal(m, signal, words, sizeof(words)))
		return false;
	*value = words[1];
	return true;
}

bool memory_signal_began(const struct memory *m, uint64_t signal, uint64_t *ticks)
{
	int64_t words[6]; // kind, value, mailbox, event, when it began, when it ended
	if (!read_signal(m, signal, words, sizeof(words)))
		return false;
	*ticks = (uint64_t)words[4];
	return words[1] > 0 && *ticks > (uint64_t)words[5];
}
