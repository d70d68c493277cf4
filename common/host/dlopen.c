// Shared libraries by dlopen(); see dlopen.h.
#include "common/host/dlopen.h"

#include <dlfcn.h>

static unsigned loaded;

unsigned lib_count(void)
{
	return loaded;
}

// The loader tells of a lack of memory or descriptors by a text only, which strerror() made.
static int lack_of(const char *why)
{
	if (strstr(why, "allocate memory") || strstr(why, "failed to map"))
		return ENOMEM;
	return strstr(why, strerror(EMFILE)) ? EMFILE : ENOPKG;
}

bool lib_load(const char *soname, const char *const *names, size_t n, void *api)
{
	void *lib = dlopen(soname, RTLD_NOW | RTLD_LOCAL);
	size_t i = 0;
	for (void *f; lib && i < n && (f = dlsym(lib, names[i])); i++)
		memcpy((char *)api + i * sizeof(f), &f, sizeof(f));
	const char *why = lib ? NULL : dlerror();
	errno = why ? lack_of(why) : ENOPKG;
	loaded += i == n;
	return i == n;
}
