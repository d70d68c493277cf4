// For the fuzz targets of debugfs dumps: a blank more before each line forces the slow way through
// them, which must give the same words as the fast one.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

static void require(bool ok)
{
	if (!ok)
		__builtin_trap();
}

static char *indent(const char *text, size_t size, size_t *len)
{
	char *out = malloc(2 * size + 2), *p = out;
	require(out != NULL);
	for (size_t i = 0; i < size; i++) {
		if (i == 0 || text[i - 1] == '\n')
			*p++ = ' ';
		*p++ = text[i];
	}
	*len = (size_t)(p - out);
	return out;
}
