// Growing byte buffer; see std.h.
#include "common/host/std.h"

#include <fcntl.h>

void buf_reserve(struct buf *b, size_t more)
{
	if (more > SIZE_MAX / 4 || b->len > SIZE_MAX / 4)
		xalloc_fail();
	size_t need = b->len + more + 1;
	if (need <= b->cap)
		return;
	size_t cap = b->cap ? b->cap : 256;
	while (cap < need)
		cap *= 2;
	b->data = xreallocarray(b->data, cap, 1);
	b->cap = cap;
}

void buf_append_slow(struct buf *b, const void *data, size_t len)
{
	buf_reserve(b, len);
	if (len)
		memcpy(b->data + b->len, data, len);
	b->len += len;
	b->data[b->len] = '\0';
}

void buf_fill(struct buf *b, char c, size_t n)
{
	buf_reserve(b, n);
	memset(b->data + b->len, c, n);
	b->len += n;
	b->data[b->len] = '\0';
}

void buf_u64(struct buf *b, uint64_t value)
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
	buf_append(b, digits + at, sizeof(digits) - at);
}

void buf_i64(struct buf *b, int64_t value)
{
	if (value < 0)
		buf_puts(b, "-");
	buf_u64(b, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

void buf_hex(struct buf *b, uint64_t value)
{
	char digits[18];
	size_t at = sizeof(digits);
	do
		digits[--at] = "0123456789abcdef"[value & 15];
	while (value >>= 4);
	digits[--at] = 'x';
	digits[--at] = '0';
	buf_append(b, digits + at, sizeof(digits) - at);
}

void buf_vprintf(struct buf *b, const char *fmt, va_list ap)
{
	va_list again;
	va_copy(again, ap);
	int n = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	if (n < 0) // only wide characters fail, which no format here has
		return;
	buf_reserve(b, (size_t)n);
	vsnprintf(b->data + b->len, (size_t)n + 1, fmt, ap);
	b->len += (size_t)n;
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	buf_vprintf(b, fmt, ap);
	va_end(ap);
}

struct path pathf(const char *fmt, ...)
{
	struct path path;
	va_list ap;
	va_start(ap, fmt);
	if (vsnprintf(path.text, sizeof(path.text), fmt, ap) >= (int)sizeof(path.text))
		path.text[0] = '\0';
	va_end(ap);
	return path;
}

#define READ_FIRST 2048 // bytes: capacity of a new buffer
#define READ_LEAST 128  // bytes: free space below which the buffer grows

ssize_t buf_read_fd(struct buf *b, int fd)
{
	b->len = 0;
	for (;;) {
		// The first READ_FIRST bytes hold most files, /proc/PID/status too. The buffer
		// doubles for dumps of megabytes.
		if (b->cap < b->len + READ_LEAST)
			buf_reserve(b, b->len < READ_FIRST / 2 ? READ_FIRST - 1 : b->len);
		ssize_t n = read(fd, b->data + b->len, b->cap - b->len - 1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		b->len += (size_t)n;
		b->data[b->len] = '\0';
		if (n == 0)
			return (ssize_t)b->len;
		if (b->len > BUF_READ_MAX) {
			errno = EFBIG;
			return -1;
		}
	}
}

ssize_t buf_read_at(struct buf *b, int dirfd, const char *name)
{
	b->len = 0;
	SCOPED(close_at) int fd = openat(dirfd, name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return -1;
	return buf_read_fd(b, fd);
}

int write_fully(int fd, const void *data, size_t n)
{
	for (size_t done = 0; done < n;) {
		ssize_t part = write(fd, (const char *)data + done, n - done);
		if (part < 0 && errno != EINTR)
			return -1;
		done += part > 0 ? (size_t)part : 0;
	}
	return 0;
}

void buf_fini(struct buf *b)
{
	int saved = errno;
	free(b->data);
	*b = (struct buf){0};
	errno = saved;
}

void close_quietly(int fd)
{
	int saved = errno;
	if (fd >= 0)
		close(fd);
	errno = saved;
}

void close_at(const int *fd)
{
	close_quietly(*fd);
}

void array_grow(void *array, size_t *cap, size_t n, size_t size)
{
	void *old, *p;
	if (n < *cap)
		return;
	size_t want = *cap ? 2 * *cap : 32;
	if (want <= n)
		want = n + 1;
	// Copies the pointer by memcpy, as it has another type than void *.
	memcpy(&old, array, sizeof(old));
	p = xreallocarray(old, want, size);
	memcpy(array, &p, sizeof(p));
	*cap = want;
	// cppcheck-suppress memleak ; the copy above hands p over
}

void array_reach(void *array, size_t *cap, size_t at, size_t size, int fill)
{
	size_t old = *cap;
	char *p;
	array_grow(array, cap, at, size);
	memcpy(&p, array, sizeof(p));
	memset(p + old * size, fill, (*cap - old) * size);
}

void array_sort(void *array, size_t n, size_t size, int (*compare)(const void *, const void *))
{
	if (n)
		qsort(array, n, size, compare);
}

size_t array_below(const void *array, size_t n, size_t size, const void *key,
		   int (*compare)(const void *, const void *))
{
	size_t from = 0, to = n;
	while (from < to) {
		size_t mid = from + (to - from) / 2;
		if (compare((const char *)array + mid * size, key) < 0)
			from = mid + 1;
		else
			to = mid;
	}
	return from;
}
