// What must hold in a fuzz target.
#ifndef GPQ_TESTS_FUZZ_REQUIRE_H
#define GPQ_TESTS_FUZZ_REQUIRE_H

#include <stdbool.h>

static inline void require(bool ok)
{
	if (!ok)
		__builtin_trap();
}

#endif
