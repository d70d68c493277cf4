// The environment, and whether it can be trusted.
//
// A gpq that is set-user-ID or has file capabilities is started with an environment, and with
// options, that its user chose and its owner did not. Facts: getauxval(3), secure_getenv(3),
// capabilities(7).
#pragma once

#include "common/host/std.h"

// Did exec give this process rights that its user lacks (AT_SECURE)? Then it opens no file and runs
// no command that the user names.
bool host_secure(void);

// The only use of getenv(3) in gpq. In secure mode NULL, except for variables that only choose
// between fixed forms of output.
const char *host_getenv(const char *name);
