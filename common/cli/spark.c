// Sparklines; spark.h.
#include "common/cli/spark.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { LEVELS = 8 };

static const char *const blocks[] = {"·", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
static const char *const ascii[] = {".", ":", "-", "=", "+", "*", "#", "%", "@"};

bool spark_utf8(void)
{
	static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *value = getenv(names[i]);

		if (value && *value)
			return strcasestr(value, "utf-8") || strcasestr(value, "utf8");
	}
	return false;
}

void spark_line(struct buf *out, const double *values, size_t n, double max, bool utf8)
{
	for (size_t i = 0; i < n; i++) {
		double share = max > 0 ? values[i] / max : 0;
		int level = !(share > 0) ? 0 : share >= 1 ? LEVELS : 1 + (int)(share * LEVELS);

		level = level > LEVELS ? LEVELS : level;
		buf_puts(out, isnan(values[i]) ? " " : (utf8 ? blocks : ascii)[level]);
	}
}
