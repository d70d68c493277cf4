// For test programs that open hundreds of descriptors.
#pragma once

#include <stdbool.h>
#include <stdio.h>
#include <sys/resource.h>

// Lets this program open so many. False: it may not, which was printed.
static inline bool files_allowed(rlim_t most)
{
	struct rlimit files;
	getrlimit(RLIMIT_NOFILE, &files);
	if (files.rlim_max < most)
		printf("1..0 # skip needs %llu descriptors\n", (unsigned long long)most);
	files.rlim_cur = most;
	return setrlimit(RLIMIT_NOFILE, &files) == 0;
}
