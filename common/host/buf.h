// A growing byte buffer, and whole-file reads into it.
//
// Files under /sys and /proc report no usable size, so everything is read until end of file.
#ifndef GPQ_HOST_BUF_H
#define GPQ_HOST_BUF_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

struct buf {
	char *data; // NUL-terminated once something was stored; NULL when never used
	size_t len; // bytes, without the NUL
	size_t cap; // bytes allocated
};

// Makes room for `more` bytes behind the content and a NUL. 0, or -1 with ENOMEM.
int buf_reserve(struct buf *b, size_t more);
int buf_append_slow(struct buf *b, const void *data, size_t len);

// Rows of millions are put together of pieces of a few bytes: what fits costs no call.
static inline int buf_append(struct buf *b, const void *data, size_t len)
{
	if (b->cap <= b->len || len >= b->cap - b->len)
		return buf_append_slow(b, data, len);
	memcpy(b->data + b->len, data, len);
	b->len += len;
	b->data[b->len] = '\0';
	return 0;
}

static inline int buf_puts(struct buf *b, const char *s)
{
	return buf_append(b, s, strlen(s));
}

int buf_fill(struct buf *b, char c, size_t n);
int buf_u64(struct buf *b, uint64_t value); // decimal
int buf_hex(struct buf *b, uint64_t value); // 0x1f
int buf_printf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int buf_vprintf(struct buf *b, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));

// Replaces the content by all that `fd` still gives. Bytes read, or -1 with errno.
ssize_t buf_read_fd(struct buf *b, int fd);

// Replaces the content by the file `name` relative to `dirfd` (AT_FDCWD allowed). Bytes, or -1 with
// errno.
ssize_t buf_read_at(struct buf *b, int dirfd, const char *name);

// Writes all of it to `fd`. 0, or -1 with errno.
int buf_write(const struct buf *b, int fd);

void buf_fini(struct buf *b);

#endif
