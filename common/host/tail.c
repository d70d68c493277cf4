// Following a file (see tail.h).
//
// The HIP runtime empties its log when it is longer than AMD_LOG_LEVEL_SIZE and goes on
// [amdlog.file]; logrotate renames or copies and truncates.
#include "common/host/tail.h"

#include <fcntl.h>
#include <sys/stat.h>

#define STEP_MS 100

bool tail_open(struct tail *t, const char *name, int (*wait)(int ms))
{
	*t = (struct tail){.name = name, .wait = wait};
	t->fd = open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	return t->fd >= 0 || errno == ENOENT;
}

void tail_close(struct tail *t)
{
	close_quietly(t->fd);
	t->fd = -1;
}

// Goes on with `fd`, another file or the truncated one, from its beginning.
static void tail_begin_anew(struct tail *t, int fd)
{
	if (fd != t->fd)
		tail_close(t);
	t->fd = fd;
	t->at = 0;
	t->cuts++;
}

// Called at the end of the file: has the file been replaced or truncated?
static bool tail_has_changed(struct tail *t)
{
	struct stat own = {0}, named; // 0 is the number of no file
	int fd;
	if (!fstat(t->fd, &own) && (uint64_t)own.st_size < t->at &&
	    lseek(t->fd, 0, SEEK_SET) == 0) {
		tail_begin_anew(t, t->fd);
		return true;
	}
	if (stat(t->name, &named) || (named.st_ino == own.st_ino && named.st_dev == own.st_dev))
		return false;
	fd = open(t->name, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return false;
	tail_begin_anew(t, fd);
	return true;
}

ssize_t tail_read(struct tail *t, char *to, size_t n)
{
	for (;;) {
		ssize_t got = t->fd >= 0 ? read(t->fd, to, n) : 0;
		if (got > 0) {
			t->at += (uint64_t)got;
			t->in_line = to[got - 1] != '\n';
			return got;
		}
		if (got < 0 && errno != EINTR)
			return -1;
		if (tail_has_changed(t)) {
			if (!t->in_line)
				continue;
			t->in_line = false;
			*to = '\n';
			return 1;
		}
		if (t->wait(STEP_MS) < 0) {
			errno = EINTR;
			return -1;
		}
	}
}
