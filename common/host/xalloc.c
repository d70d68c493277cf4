// Allocations that do not fail; see std.h.
#include "common/host/std.h"

void (*xalloc_before_end)(void);

void xalloc_fail(void)
{
	static const char text[] = "gpq: out of memory: gave up; free some, or raise the limit "
				   "(ulimit -v)\n";
	if (xalloc_before_end)
		xalloc_before_end();
	if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
		_exit(EXIT_FAILURE); // stderr is closed: only the status tells the failure
	_exit(EXIT_FAILURE);
}

void *xcheck(void *p)
{
	if (!p)
		xalloc_fail();
	return p;
}

void free_at(void *pointer)
{
	const int saved = errno;
	void *p;
	memcpy(&p, pointer, sizeof(p));
	free(p);
	errno = saved;
}

void *xmalloc(size_t size)
{
	return xcheck(malloc(size ? size : 1));
}

void *xcalloc(size_t n, size_t size)
{
	return xcheck(calloc(n ? n : 1, size));
}

void *xreallocarray(void *old, size_t n, size_t size)
{
	return xcheck(reallocarray(old, n ? n : 1, size));
}

char *xstrdup(const char *s)
{
	return xcheck(strdup(s));
}

char *xstrndup(const char *s, size_t most)
{
	return xcheck(strndup(s, most));
}

void *xmemdup(const void *data, size_t size)
{
	return memcpy(xmalloc(size), data, size);
}

char *xasprintf(const char *fmt, ...)
{
	char *text;
	va_list ap;
	va_start(ap, fmt);
	int n = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (n < 0)
		xalloc_fail();
	return text;
}
