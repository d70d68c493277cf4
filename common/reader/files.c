// Whole files by the reader's child; see reader.h.
#include "common/reader/reader.h"

#include "common/host/root.h"

#include <fcntl.h>

static int read_whole(const void *text, size_t len, int fd)
{
	static char data[READER_PART];
	ssize_t n;
	(void)text;
	(void)len;
	while ((n = read(fd, data, sizeof(data))) > 0 || (n < 0 && errno == EINTR))
		if (n > 0)
			reader_give(data, (size_t)n);
	return n < 0 ? errno : 0;
}

static bool files_take_part(void *arg, const void *part, size_t len)
{
	struct buf *b = arg;
	if (len > BUF_READ_MAX - b->len)
		return false;
	buf_append(b, part, len);
	return true;
}

ssize_t reader_read_fd(struct buf *b, int fd, const char *path)
{
	const bool proc = strncmp(path, "/proc/", 6) == 0;
	const struct reader_question q = {.whose = proc ? (pid_t)strtol(path + 6, NULL, 10)
							: READER_DRIVER,
					  .task = read_whole,
					  .fd = fd};
	b->len = 0;
	buf_append(b, "", 0);
	const int error = reader_ask(&q, files_take_part, b);
	if (!error)
		return (ssize_t)b->len;
	errno = error == EPROTO ? EFBIG : error;
	return -1;
}

ssize_t reader_read(struct buf *b, const char *path)
{
	int fd;
	ssize_t n;
	if (!host_is_live())
		return host_read(b, path);
	b->len = 0;
	fd = host_open(path, O_RDONLY);
	if (fd < 0)
		return -1;
	n = reader_read_fd(b, fd, path);
	close_quietly(fd);
	return n;
}

ssize_t proc_cmdline(pid_t pid, char *text, size_t size)
{
	SCOPED(buf_fini) struct buf b = {0};
	ssize_t n = reader_read(&b, PATH("/proc/%d/cmdline", (int)pid));
	if (n >= 0) {
		while (n > 0 && b.data[n - 1] == '\0')
			n--;
		n = n < (ssize_t)size ? n : (ssize_t)size - 1;
		for (ssize_t i = 0; i < n; i++)
			text[i] = b.data[i] ? b.data[i] : ' ';
		text[n] = '\0';
	}
	return n;
}
