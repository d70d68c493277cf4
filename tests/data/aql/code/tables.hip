// A unit of lines alone.
#include "twice.h"

global void tables(volatile int *at)
{
	*at = 1;
}
