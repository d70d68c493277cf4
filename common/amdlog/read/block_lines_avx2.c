// The loop for processors with AVX2 and BMI2; the Makefile gives the compiler leave to use them.
#if defined(__x86_64__)
#define block_loop block_loop_avx2
#include "common/amdlog/read/block_lines.c" // NOLINT(bugprone-suspicious-include)
#endif
