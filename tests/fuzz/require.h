// What must hold in a fuzz target.
#pragma once

#include <stdbool.h>

static inline void require(bool ok)
{
	if (!ok)
		__builtin_trap();
}
