// Preloaded into gpq: the allocation number FAULT_N of the process fails with ENOMEM, all others
// succeed.
//
// Writes "alloc SIZE" to the file FAULT_REPORT when it does, so that the caller knows when N is
// past the last allocation.
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

// glibc's own names of what is replaced here.
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t align, size_t size);

static long wanted; // 0: none fails
static long count;

__attribute__((constructor)) static void start(void)
{
	const char *n = getenv("FAULT_N");
	wanted = n ? strtol(n, NULL, 10) : 0;
}

static bool fails(size_t size)
{
	char line[64];
	if (!wanted || __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED) != wanted)
		return false;
	int n = snprintf(line, sizeof(line), "alloc %zu\n", size);
	int fd = open(getenv("FAULT_REPORT"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, line, (size_t)n) != n)
		abort();
	close(fd);
	errno = ENOMEM;
	return true;
}

void *malloc(size_t size)
{
	return fails(size) ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
	return fails(n * size) ? NULL : __libc_calloc(n, size);
}

void *realloc(void *old, size_t size)
{
	return fails(size) ? NULL : __libc_realloc(old, size);
}

void *aligned_alloc(size_t align, size_t size)
{
	return fails(size) ? NULL : __libc_memalign(align, size);
}

int posix_memalign(void **out, size_t align, size_t size)
{
	void *p = fails(size) ? NULL : __libc_memalign(align, size);
	if (!p)
		return ENOMEM;
	*out = p;
	return 0;
}
