// Dumps that unit tests read.
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The text of a file of the project (tests/...), or of a real capture, which is never part of it
// (GPQ_SAMPLES). To be freed. NULL where there is none.
static inline char *capture_text(const char *name)
{
	const char *dir = getenv("GPQ_SAMPLES");
	enum { MOST = 4 << 20 };
	char path[4096], *text = malloc(MOST);
	assert_non_null(text);
	snprintf(path, sizeof(path), "%s/kfd/%s", dir ? dir : "../shared/samples", name);
	FILE *f = fopen(strncmp(name, "tests/", 6) ? path : name, "re");
	if (!f) {
		free(text);
		assert_int_not_equal(strncmp(name, "tests/", 6), 0);
		print_message("# skipped: no real samples (%s)\n", path);
		return NULL;
	}
	text[fread(text, 1, MOST - 1, f)] = 0;
	fclose(f);
	return text;
}

// Occurrences of a word: what grep would count, since the word stands at most once on a line.
static inline size_t count_word(const char *text, const char *word)
{
	size_t n = 0;
	for (const char *p = text; (p = strstr(p, word)); p += strlen(word))
		n++;
	return n;
}
