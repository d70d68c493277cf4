// Growing arrays; see array.h.
#include "common/host/array.h"

#include "common/host/xalloc.h"

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
	p = xreallocarray(old, want, size);
	memcpy(array, &p, sizeof(p));
	*cap = want;
	// cppcheck-suppress memleak ; the copy above hands p over
	return 0;
}
