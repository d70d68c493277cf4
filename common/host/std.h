// The headers of the C library that most files need. Every header of gpq includes this one or a
// header that does, so other files name only the further system headers that they use.
#pragma once

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
