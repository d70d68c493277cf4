// Paths under the sysroot; see root.h.
#include "common/host/root.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int root_fd = -1; // -1: the live host

int host_set_root(const char *dir)
{
	if (root_fd >= 0)
		close(root_fd);
	root_fd = -1;
	if (!dir || strcmp(dir, "/") == 0)
		return 0;
	root_fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return root_fd < 0 ? -1 : 0;
}

bool host_is_live(void)
{
	return root_fd < 0;
}

int host_open(const char *path, int flags)
{
	// openat2() refuses flags that mean nothing together with O_PATH.
	flags |= flags & O_PATH ? O_CLOEXEC : O_CLOEXEC | O_NOCTTY;
	if (root_fd < 0)
		return open(path, flags);
	// A pipe in the place of a file must not make us wait for its writer.
	flags |= flags & O_PATH ? 0 : O_NONBLOCK;
	// A recorded host may hold absolute links, or come from a stranger: resolve as if chrooted.
	struct open_how how = {.flags = (unsigned)flags, .resolve = RESOLVE_IN_ROOT};
	long fd;
	// EAGAIN: something was renamed or mounted anywhere while a ".." was resolved.
	int tries = 0;
	do
		fd = syscall(SYS_openat2, root_fd, path, &how, sizeof(how));
	while (fd < 0 && errno == EAGAIN && ++tries < 1000);
	if (fd >= 0 || (errno != ENOSYS && errno != EPERM))
		return (int)fd;
	// Kernels before 5.6, and container runtimes that refuse what they do not know.
	while (*path == '/')
		path++;
	return openat(root_fd, *path ? path : ".", flags);
}

DIR *host_opendir(const char *path)
{
	int fd = host_open(path, O_RDONLY | O_DIRECTORY);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	if (!d && fd >= 0)
		close(fd);
	return d;
}

static int format_path(char path[PATH_MAX], const char *fmt, va_list ap)
{
	int n = vsnprintf(path, PATH_MAX, fmt, ap);
	if (n >= 0 && n < PATH_MAX)
		return 0;
	errno = ENAMETOOLONG;
	return -1;
}

DIR *host_opendirf(const char *fmt, ...)
{
	char path[PATH_MAX];
	va_list ap;
	va_start(ap, fmt);
	int r = format_path(path, fmt, ap);
	va_end(ap);
	return r ? NULL : host_opendir(path);
}

ssize_t host_read(struct buf *b, const char *path)
{
	b->len = 0;
	int fd = host_open(path, O_RDONLY);
	if (fd < 0)
		return -1;
	ssize_t n = buf_read_fd(b, fd);
	close_quietly(fd);
	return n;
}

ssize_t host_readf(struct buf *b, const char *fmt, ...)
{
	char path[PATH_MAX];
	va_list ap;
	va_start(ap, fmt);
	int r = format_path(path, fmt, ap);
	va_end(ap);
	return r ? -1 : host_read(b, path);
}

int host_access(const char *path, int mode)
{
	if (root_fd < 0)
		return access(path, mode);
	int fd = host_open(path, O_PATH);
	if (fd < 0)
		return -1;
	char self[64];
	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	int r = access(self, mode);
	close_quietly(fd);
	return r;
}

ssize_t host_readlink(const char *path, char *target, size_t size)
{
	ssize_t n = -1;
	if (root_fd < 0) {
		n = readlink(path, target, size - 1);
	} else {
		int fd = host_open(path, O_PATH | O_NOFOLLOW);
		if (fd < 0)
			return -1;
		n = readlinkat(fd, "", target, size - 1);
		// What is no link: EINVAL from readlink(2), but ENOENT for a descriptor.
		int saved = n < 0 && errno == ENOENT ? EINVAL : errno;
		close(fd);
		errno = saved;
	}
	if (n >= 0)
		target[n] = '\0';
	return n;
}

int host_read_u64(const char *path, uint64_t *value)
{
	struct buf b = {0};
	int r = -1;
	if (host_read(&b, path) >= 0) {
		char *end = b.data;
		errno = 0;
		unsigned long long v = strtoull(b.data, &end, 10);
		if (end != b.data && !errno && (*end == '\0' || *end == '\n')) {
			*value = v;
			r = 0;
		} else {
			errno = EINVAL;
		}
	}
	buf_fini(&b);
	return r;
}
