// block_lines.c compiled for AVX2 and BMI2; the Makefile sets the compiler flags.
#if defined(__x86_64__)
#define block_loop block_loop_avx2
#include "common/amdlog/read/block_lines.c" // NOLINT(bugprone-suspicious-include)
#endif
