// What most files need: common headers of the C library, and allocations that do not fail. Every
// header of gpq includes this one or a header that does, so other files name only the further
// system headers that they use.
#pragma once

#include <errno.h>
#include <inttypes.h>
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
void *xcalloc(size_t n, size_t size); // zeroed; ends also if n * size overflows
void *xreallocarray(void *old, size_t n, size_t size);
char *xstrdup(const char *s);
char *xstrndup(const char *s, size_t most);
void *xmemdup(const void *data, size_t size);
char *xasprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
