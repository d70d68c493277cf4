// What most files need: common headers of the C library, allocations that do not fail, growing
// buffers and arrays. Every header of gpq includes this one or a header that does, so other files
// name only the further system headers that they use.
#pragma once

// amdkfd exists on 64-bit hosts alone (addresses of queues are 64-bit), and rings, MQDs and save
// areas are in the GPU's byte order: gpq reads them as they lie in memory.
#if defined(__SIZEOF_POINTER__) && __SIZEOF_POINTER__ != 8
#error "gpq needs a 64-bit host: amdkfd is for no other"
#endif
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "gpq needs a little-endian host: rings and MQDs are read in the GPU's byte order"
#endif

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

// Calls `end` with the address of the variable when its block ends, by whatever way:
//
//	SCOPED(buf_fini) struct buf text = {0};
#define SCOPED(end) __attribute__((cleanup(end)))

// free(3) for SCOPED(): `pointer` is the address of any pointer.
void free_at(void *pointer);

// Elements of an array of fixed size.
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

// ---- allocations: without memory the process prints a line and exits with status 1
//
// Exiting is safe anywhere: when gpq or a holder ends, the driver resumes the target's queues
// [kfd.session-end]. Handling each failed allocation in its place was tried, and gave wrong answers
// in most places.

// Prints one line on stderr, then calls _exit(1), not exit(3): other threads may hold any lock.
_Noreturn void xalloc_fail(void);

// Called by xalloc_fail() before the process ends; NULL: nothing. Must not allocate.
extern void (*xalloc_before_end)(void);

void *xmalloc(size_t size);
void *xcheck(void *p);                // returns p, allocated by a library, unless it is NULL
void *xcalloc(size_t n, size_t size); // zeroed; the process ends also if n * size overflows
void *xreallocarray(void *old, size_t n, size_t size);
char *xstrdup(const char *s);
char *xstrndup(const char *s, size_t most);
void *xmemdup(const void *data, size_t size);
char *xasprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

// ---- a growing byte buffer, and whole-file reads into it
//
// Files under /sys and /proc report no usable size, so everything is read until end of file.

struct buf {
	char *data; // NUL-terminated once something was stored; NULL when never used
	size_t len; // bytes, without the NUL
	size_t cap; // bytes allocated
};

// Makes room for `more` bytes behind the content and a NUL. Ends the process if memory runs out.
void buf_reserve(struct buf *b, size_t more);
void buf_append_slow(struct buf *b, const void *data, size_t len);

// Inline, since millions of rows are built from pieces of a few bytes: calls only if room is
// lacking.
static inline void buf_append(struct buf *b, const void *data, size_t len)
{
	if (len >= b->cap - b->len) {
		buf_append_slow(b, data, len);
		return;
	}
	memcpy(b->data + b->len, data, len);
	b->len += len;
	b->data[b->len] = '\0';
}

static inline void buf_puts(struct buf *b, const char *s)
{
	buf_append(b, s, strlen(s));
}

void buf_fill(struct buf *b, char c, size_t n);
void buf_u64(struct buf *b, uint64_t value); // decimal
void buf_i64(struct buf *b, int64_t value);
void buf_hex(struct buf *b, uint64_t value); // 0x1f
void buf_printf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void buf_vprintf(struct buf *b, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));

// A formatted path of /proc, /sys or tracefs. It is returned by value, so it is short: the longest
// is /proc/PID/fdinfo/NAME with a name of NAME_MAX bytes. A longer one is "", which no call opens.
struct path {
	char text[320];
};
struct path pathf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

// The text of a formatted path, for the statement alone: host_read(&b, PATH("/proc/%d/stat", pid)).
#define PATH(...) pathf(__VA_ARGS__).text

// Limit for files that are read whole: more than ten times the dumps of 8 GPUs with 4 XCCs and
// 1,000 processes. A longer file is an attack on memory.
#define BUF_READ_MAX ((size_t)256 << 20)

// Replaces the content by all that `fd` still gives. Returns the bytes read, or -1 with errno
// (EFBIG: more than BUF_READ_MAX).
ssize_t buf_read_fd(struct buf *b, int fd);

// Replaces the content by the file `name` relative to `dirfd` (AT_FDCWD allowed). Returns the bytes
// read, or -1 with errno.
ssize_t buf_read_at(struct buf *b, int dirfd, const char *name);

// Writes all `n` bytes, also if signals interrupt. Returns 0, or -1 with errno.
int write_fully(int fd, const void *data, size_t n);

// Frees the content. Leaves errno as it is.
void buf_fini(struct buf *b);

// Closes a descriptor, if there is one (below 0: none). Leaves errno as it is.
void close_quietly(int fd);
void close_at(const int *fd); // for SCOPED()

// Text `i` of a literal that holds several, each ended by a NUL: "PID\0pid\0process id". Rows of
// large tables keep their texts like this: each pointer of a constant is relocated at each start
// of a position-independent program.
static inline const char *text_part(const char *texts, unsigned i)
{
	while (i--)
		texts += strlen(texts) + 1;
	return texts;
}

// Compares two numbers for qsort(3).
#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

// Functions for qsort(3) and bsearch(3): order numbers of `type`, or structs by one of their
// members or by two.
#define COMPARE_VALUES(name, type)                                \
	static int name(const void *a, const void *b)             \
	{                                                         \
		return ORDER(*(const type *)a, *(const type *)b); \
	}
#define COMPARE_BY(name, type, member)                \
	static int name(const void *a, const void *b) \
	{                                             \
		const type *x = a, *y = b;            \
		return ORDER(x->member, y->member);   \
	}
#define COMPARE_BY_BOTH(name, type, first, second)                  \
	static int name(const void *a, const void *b)               \
	{                                                           \
		const type *x = a, *y = b;                          \
		int order = ORDER(x->first, y->first);              \
		return order ? order : ORDER(x->second, y->second); \
	}

// qsort(3) for an array that may be empty, whose address may then be NULL.
void array_sort(void *array, size_t n, size_t size, int (*compare)(const void *, const void *));
#define ARRAY_SORT(a, n, compare) array_sort((a), (n), sizeof(*(a)), (compare))

// Returns how many elements of the sorted array are less than *key: the index of the first that is
// not.
size_t array_below(const void *array, size_t n, size_t size, const void *key,
		   int (*compare)(const void *, const void *));
#define ARRAY_BELOW(a, n, key, compare) array_below((a), (n), sizeof(*(a)), (key), (compare))

// ---- growing arrays: a pointer, a capacity, and room for one more

// Makes room for one more element. `array`: address of the pointer to elements of `size` bytes;
// *cap: elements that the array can hold; n: elements that it has. The capacity at least doubles,
// so growing is cheap.
void array_grow(void *array, size_t *cap, size_t n, size_t size);

// Makes room for one more element of the array `a`.
#define ARRAY_GROW(a, cap, n) array_grow(&(a), &(cap), (n), sizeof(*(a)))

// Adds an element to the array `a`, with undefined content, and returns the element's address.
#define ARRAY_ADD(a, cap, n) (ARRAY_GROW(a, cap, n), &(a)[(n)++])

// Makes room for the element `at`, which may lie far behind the others. Every byte of new elements
// is set to `fill`.
void array_reach(void *array, size_t *cap, size_t at, size_t size, int fill);
#define ARRAY_REACH(a, cap, at, fill) array_reach(&(a), &(cap), (at), sizeof(*(a)), (fill))

#include "common/host/compat.h"
