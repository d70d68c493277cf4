// A row of numbers as a row of characters: "·▁▂▅█", or ".:-*@" where the locale is not UTF-8.
#ifndef GPQ_CLI_SPARK_H
#define GPQ_CLI_SPARK_H

#include "common/host/buf.h"

#include <stdbool.h>

// What the environment says of the terminal: LC_ALL, LC_CTYPE, LANG.
bool spark_utf8(void);

// A character for each value: from 0, which has one of its own, to `max`. NaN is a blank.
void spark_line(struct buf *out, const double *values, size_t n, double max, bool utf8);

#endif
