// A process's memory; memory.h.
#include "common/aql/memory.h"

#include "common/host/root.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int memory_open(struct memory *m, pid_t pid)
{
	char path[32];
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	*m = (struct memory){.fd = host_open(path, O_RDONLY)};
	return m->fd < 0 ? -1 : 0;
}

void memory_close(struct memory *m)
{
	if (m->fd >= 0)
		close(m->fd);
	m->fd = -1;
}

bool memory_read(const struct memory *m, uint64_t address, void *to, size_t size)
{
	// Addresses of processes end far below; negative offsets would be errors of another kind.
	if (address > INT64_MAX || size > (uint64_t)INT64_MAX - address)
		return false;
	if (m->read)
		return m->read(m->arg, address, to, size);
	size_t got = 0;
	while (m->fd >= 0 && got < size) {
		const ssize_t n =
			pread(m->fd, (char *)to + got, size - got, (off_t)(address + got));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		got += (size_t)n;
	}
	return got == size;
}

bool memory_signal(const struct memory *m, uint64_t signal, int64_t *value)
{
	int64_t words[2];
	if (!signal || signal % 8 || !memory_read(m, signal, words, sizeof(words)) ||
	    words[0] != SIGNAL_KIND_USER)
		return false;
	*value = words[1];
	return true;
}
