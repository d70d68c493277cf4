// The mathematics library, loaded when it is first needed (common/host/dlopen.h): by gpq bench and
// gpq trace, for statistics and plots. Linked, it makes a first gpq suspend cost 1.60 times a bare
// program's ioctls instead of 1.46, where 1.5 is the limit (tests/kernel/cost/suspend.sh), and its
// static form does not go with a dynamic C library. `make DLOPEN=no` links it.
#pragma once

#include "common/host/dlopen.h"

#include <math.h>

#define MATHS_FUNCTIONS(X) \
	X(exp) X(fmax) X(fmin) X(lgamma_r) X(llround) X(log) X(log10) X(log1p) X(pow) X(sqrt)

struct maths {
	LIB_STRUCT(MATHS_FUNCTIONS)
};

// Never NULL: if the library is missing, although it is part of the C library, the program ends.
const struct maths *maths(void);
