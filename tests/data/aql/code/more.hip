// Another compilation unit, with the tables of DWARF 4.
#include "twice.h"

global void more(volatile int *at)
{
	at[3] = twice(at);
}

template <int n> static device inline __attribute__((always_inline)) int nest(volatile int *at)
{
	return nest<n - 1>(at + 1);
}

template <> device inline __attribute__((always_inline)) int nest<0>(volatile int *at)
{
	return *at;
}

global void fits(volatile int *at)
{
	*at = nest<14>(at);
}

global void deep(volatile int *at)
{
	*at = nest<15>(at);
}

extern "C" global void plain(volatile int *at)
{
	*at = 1;
}
