// The loop for processors with AVX-512 (BW and VL) beside AVX2 and BMI2, like digest_loop_avx2.c.
#if defined(__x86_64__)
#define digest_loop digest_loop_avx512
#include "common/amdlog/digest_loop.c" // NOLINT(bugprone-suspicious-include)
#endif
