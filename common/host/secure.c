// The environment; see secure.h.
#include "common/host/secure.h"

#include <sys/auxv.h>

bool host_secure(void)
{
	return getauxval(AT_SECURE) != 0;
}

const char *host_getenv(const char *name)
{
	// These variables only choose colour or UTF-8; their values are neither printed nor used as
	// file names. GPQ_SYSROOT and XDG_RUNTIME_DIR name directories, so they are not listed.
	static const char *const harmless[] = {"NO_COLOR", "TERM", "LC_ALL", "LC_CTYPE", "LANG"};
	bool counts = !host_secure();
	for (size_t i = 0; i < COUNT(harmless); i++)
		counts |= strcmp(name, harmless[i]) == 0;
	return counts ? getenv(name) : NULL;
}
