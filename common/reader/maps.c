// Lines of /proc/PID/maps; see maps.h.
#include "common/reader/maps.h"

#include "common/host/number.h"
#include "common/host/root.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

// Parses a number and the character that ends it. Returns the rest of `s`, or NULL.
static const char *parse_field(const char *s, unsigned base, char end, uint64_t *value)
{
	s = s ? number_read(s, NULL, base, UINT64_MAX, value) : NULL;
	return s && *s == end ? s + 1 : NULL;
}

// Parses "START-END FLAGS OFFSET MAJOR:MINOR INODE PATH".
bool mapping_parse(const char *line, const char **next, struct mapping *m)
{
	static const char deleted[] = " (deleted)";
	const char *end = line + strcspn(line, "\n"), *s;
	size_t tail = sizeof(deleted) - 1;
	uint64_t minor = 0;
	*next = end + (*end == '\n');
	*m = (struct mapping){0};
	s = parse_field(parse_field(line, 16, '-', &m->start), 16, ' ', &m->end);
	s = s && strnlen(s, 5) == 5 ? s + 5 : NULL;
	m->shared = s && s[-2] == 's' && s[-4] == 'w';
	m->executable = s && s[-3] == 'x';
	s = parse_field(s, 16, ' ', &m->offset);
	s = parse_field(parse_field(s, 16, ':', &m->device), 16, ' ', &minor);
	s = parse_field(s, 10, ' ', &m->inode);
	if (!s)
		return false;
	m->device = m->device << 32 | minor;
	s += strspn(s, " ");
	if (*s != '/' || s > end)
		return false;
	m->path = s;
	m->len = (size_t)(end - s);
	m->deleted = m->len > tail && memcmp(end - tail, deleted, tail) == 0;
	m->len -= m->deleted ? tail : 0;
	return true;
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
static int open_path(pid_t pid, const char *path)
{
	const struct open_how how = {.flags = O_PATH | O_CLOEXEC,
				     .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
	long found = -1;
	const int dir = host_open(PATH("/proc/%d/root", (int)pid), O_PATH | O_DIRECTORY);
	if (dir < 0)
		return -1;
	for (int tries = 0; found < 0 && tries < 100 && (!tries || errno == EAGAIN); tries++)
		found = syscall(SYS_openat2, dir, path, &how, sizeof(how));
	close_quietly(dir);
	return open_found((int)found);
}

int mapping_open(pid_t pid, uint64_t start, uint64_t end, const char *path)
{
	const struct path mapped =
		pathf("/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)pid, start, end);
	errno = ENOENT; // unless a call has another reason
	const int fd = start ? open_found(host_open(mapped.text, O_PATH)) : -1;
	return fd < 0 && *path ? open_path(pid, path) : fd;
}
