// The loop for processors with AVX2 and BMI2; the Makefile gives the compiler leave to use them.
#if defined(__x86_64__)
#define digest_loop digest_loop_avx2
#include "common/amdlog/digest_loop.c" // NOLINT(bugprone-suspicious-include)
#endif
