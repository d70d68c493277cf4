// A kernel with two levels of inlined functions, instructions of no line, and a function apart.
#include "twice.h"

static device inline __attribute__((always_inline)) int four(volatile int *at)
{
	return twice(at) *
	       twice(at + 2);
}

static device __attribute__((noinline)) int apart(volatile int *at, int n)
{
	for (int i = 0; i < n; i++)
		at[i] = at[i + 1];
	return *at;
}

global void place(volatile int *at, int n)
{
	*at = four(at);
	at[5] = apart(at, n);
#line 0
	at[6] = at[7];
#line 24
	at[8] = 2;
}
