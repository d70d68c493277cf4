// Growing arrays: a pointer, a capacity, and room for one more.
#ifndef GPQ_HOST_ARRAY_H
#define GPQ_HOST_ARRAY_H

#include <stddef.h>

// `array` is the address of a pointer to elements of `size` bytes, *cap how many it can hold, n how
// many it does. After 0 there is room for another one; -1 with errno ENOMEM leaves all as it was.
// The array at least doubles, so growing is cheap.
int array_grow(void *array, size_t *cap, size_t n, size_t size);

// Room for one more element of the array `a`.
#define ARRAY_GROW(a, cap, n) array_grow(&(a), &(cap), (n), sizeof(*(a)))

// Room for the element `at`, which may lie far behind the others. Bytes of new elements are `fill`.
int array_reach(void *array, size_t *cap, size_t at, size_t size, int fill);
#define ARRAY_REACH(a, cap, at, fill) array_reach(&(a), &(cap), (at), sizeof(*(a)), (fill))

#endif
