// libm by dlopen(); see maths.h.
#include "common/host/maths.h"

#include <gnu/lib-names.h>

static LIB_GETTER(maths, LIBM_SO, MATHS_FUNCTIONS, REQUIRED, "maths", "Statistics and plots")

	const struct maths *maths(void)
{
	const struct maths *lib = maths_get();
	if (lib)
		return lib;
	fputs("gpq: " LIBM_SO " is missing or damaged; reinstall the C library\n", stderr);
	exit(1);
}
