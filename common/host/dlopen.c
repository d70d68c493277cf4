// Shared libraries by dlopen(); see dlopen.h.
#include "common/host/dlopen.h"

#include <dlfcn.h>

static unsigned loaded;

unsigned lib_count(void)
{
	return loaded;
}

bool lib_load(const char *soname, const char *const *names, size_t n, void *api)
{
	void *lib = dlopen(soname, RTLD_NOW | RTLD_LOCAL);
	size_t i = 0;
	for (void *f; lib && i < n && (f = dlsym(lib, names[i])); i++)
		memcpy((char *)api + i * sizeof(f), &f, sizeof(f));
	// The loader reports lack of memory by a text only.
	const char *why = lib ? NULL : dlerror();
	errno = why && (strstr(why, "allocate memory") || strstr(why, "failed to map")) ? ENOMEM
											: ENOPKG;
	loaded += lib && i == n;
	return lib && i == n;
}
