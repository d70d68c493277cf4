// Growing byte buffer; see buf.h.
#include "common/host/buf.h"

#include "common/host/xalloc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int buf_reserve(struct buf *b, size_t more)
{
	if (more > SIZE_MAX / 4 || b->len > SIZE_MAX / 4)
		xalloc_fail();
	size_t need = b->len + more + 1;
	if (need <= b->cap)
		return 0;
	size_t cap = b->cap ? b->cap : 256;
	while (cap < need)
		cap *= 2;
	b->data = xreallocarray(b->data, cap, 1);
	b->cap = cap;
	return 0;
}

int buf_append_slow(struct buf *b, const void *data, size_t len)
{
	if (buf_reserve(b, len))
		return -1;
	if (len)
		memcpy(b->data + b->len, data, len);
	b->len += len;
	b->data[b->len] = '\0';
	return 0;
}

int buf_fill(struct buf *b, char c, size_t n)
{
	if (buf_reserve(b, n))
		return -1;
	memset(b->data + b->len, c, n);
	b->len += n;
	b->data[b->len] = '\0';
	return 0;
}

int buf_u64(struct buf *b, uint64_t value)
{
	static const char pairs[] = "0001020304050607080910111213141516171819"
				    "2021222324252627282930313233343536373839"
				    "4041424344454647484950515253545556575859"
				    "6061626364656667686970717273747576777879"
				    "8081828384858687888990919293949596979899";
	char digits[20];
	size_t at = sizeof(digits);
	for (; value >= 100; value /= 100) {
		at -= 2;
		memcpy(digits + at, pairs + value % 100 * 2, 2);
	}
	if (value >= 10) {
		at -= 2;
		memcpy(digits + at, pairs + value * 2, 2);
	} else {
		digits[--at] = (char)('0' + value);
	}
	return buf_append(b, digits + at, sizeof(digits) - at);
}

int buf_hex(struct buf *b, uint64_t value)
{
	char digits[18];
	size_t at = sizeof(digits);
	do
		digits[--at] = "0123456789abcdef"[value & 15];
	while (value >>= 4);
	digits[--at] = 'x';
	digits[--at] = '0';
	return buf_append(b, digits + at, sizeof(digits) - at);
}

int buf_vprintf(struct buf *b, const char *fmt, va_list ap)
{
	va_list again;
	va_copy(again, ap);
	int n = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	if (n < 0 || buf_reserve(b, (size_t)n))
		return -1;
	vsnprintf(b->data + b->len, (size_t)n + 1, fmt, ap);
	b->len += (size_t)n;
	return 0;
}

int buf_printf(struct buf *b, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	int r = buf_vprintf(b, fmt, ap);
	va_end(ap);
	return r;
}

ssize_t buf_read_fd(struct buf *b, int fd)
{
	b->len = 0;
	for (;;) {
		// Most files here are a few bytes; dumps double their way up to megabytes.
		if (buf_reserve(b, b->len < 128 ? 128 : b->len))
			return -1;
		ssize_t n = read(fd, b->data + b->len, b->cap - b->len - 1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		b->len += (size_t)n;
		b->data[b->len] = '\0';
		if (n == 0)
			return (ssize_t)b->len;
	}
}

ssize_t buf_read_at(struct buf *b, int dirfd, const char *name)
{
	b->len = 0;
	int fd = openat(dirfd, name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return -1;
	ssize_t n = buf_read_fd(b, fd);
	int saved = errno;
	close(fd);
	errno = saved;
	return n;
}

void buf_fini(struct buf *b)
{
	free(b->data);
	*b = (struct buf){0};
}
