// Stands for libhsa-runtime64.so.1 in test_code.c: all that a debugger looks for in it.
#include <link.h>

extern struct r_debug _amdgpu_r_debug; // NOLINT: the runtime's name

struct r_debug _amdgpu_r_debug = {.r_version = 11};
