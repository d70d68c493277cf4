// What NEON lacks: a bit for each byte of a comparison.
#ifndef GPQ_AMDLOG_NEON_H
#define GPQ_AMDLOG_NEON_H

#include <arm_neon.h>
#include <stdint.h>

// A bit for each byte that is set, of four registers of 16 bytes that are 0 or 0xff.
static inline uint64_t bits_of(const uint8x16_t in[4])
{
	const uint8x16_t weight = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
	uint8x16_t a = vpaddq_u8(vandq_u8(in[0], weight), vandq_u8(in[1], weight));
	uint8x16_t b = vpaddq_u8(vandq_u8(in[2], weight), vandq_u8(in[3], weight));

	a = vpaddq_u8(a, b);
	a = vpaddq_u8(a, a);
	return vgetq_lane_u64(vreinterpretq_u64_u8(a), 0);
}

#endif
