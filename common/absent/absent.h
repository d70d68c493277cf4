// Headers in place of those of a library that `make` did not find. gpq is built without it: its
// functions have names and types, but none is ever called, as the getter that LIB() makes returns
// NULL with errno ENOPKG, as it does where the library is missing when gpq runs.
#pragma once

#include "common/host/dlopen.h"

#undef LIB_GETTER
#define LIB_GETTER(type, soname, FUNCTIONS, priority, feature, description) \
	const struct type *type##_get(void)                                 \
	{                                                                   \
		errno = ENOPKG;                                             \
		return NULL;                                                \
	}

#pragma GCC diagnostic ignored "-Wstrict-prototypes" // functions of any arguments
