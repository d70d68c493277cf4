// Growing arrays; see array.h.
#include "common/host/array.h"

#include <stdlib.h>
#include <string.h>

int array_grow(void *array, size_t *cap, size_t n, size_t size)
{
	void *old, *p;
	if (n < *cap)
		return 0;
	size_t want = *cap ? 2 * *cap : 32;
	if (want <= n)
		want = n + 1;
	memcpy(&old, array, sizeof(old)); // the caller's pointer has a type of its own
	p = reallocarray(old, want, size);
	if (!p)
		return -1;
	memcpy(array, &p, sizeof(p));
	*cap = want;
	// cppcheck-suppress memleak ; the copy above hands p over
	return 0;
}

int array_reach(void *array, size_t *cap, size_t at, size_t size, int fill)
{
	size_t old = *cap;
	char *p;

	if (array_grow(array, cap, at, size))
		return -1;
	memcpy(&p, array, sizeof(p));
	memset(p + old * size, fill, (*cap - old) * size);
	return 0;
}
