// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * softgpu: the GPU models.
 *
 * Geometry and IP versions are those of the real chips (amdgpu's IP discovery and golden
 * settings); firmware versions are ones that KFD accepts for debugging.  gfx942 is one XCC of
 * an MI300, which keeps dumps short; gfx942x4 is half a chip (a node in DPX mode), gfx942x8 the
 * whole chip as one node (SPX), gfx942cpx the whole chip as eight nodes.  gfx950 is one XCC of an
 * MI350X, of which KFD knows since 6.13: an older one refuses it.  gfx1100old has a scheduler that
 * sets ttmps up on request only.  gfx1151 is a processor with graphics (Ryzen AI Max), 96 GiB of
 * its memory set apart.
 */
#include "softgpu.h"

/*
 * The columns: XCCs as a mask, shader engines, arrays of each, CUs of each array (per XCC), CUs
 * that are active on all XCCs, SIMDs of a CU, waves of a SIMD, the width of a wave, SDMA engines,
 * the firmware of MEC and SDMA, VRAM; then what only some have.
 */
#define IP IP_VERSION
#define MODEL(name_, device, rev, asic, gc_, sdma_, xccs, se, sa, cu, cus_, simd, waves_, width,   \
	      sdmas, mec, sdmafw, gib, ...)                                                        \
	{                                                                                          \
		.name = (name_), .device_id = (device), .revision = (rev),                         \
		.asic_type = CHIP_##asic, .gc = (gc_), .sdma = (sdma_), .xcc_mask = (xccs),        \
		.engines = (se), .arrays = (sa), .cus_per_array = (cu), .cus = (cus_),             \
		.simds = (simd), .waves = (waves_), .wavefront = (width), .sdma_engines = (sdmas), \
		.mec_fw = (mec), .sdma_fw = (sdmafw), .vram = (u64)(gib) << 30, __VA_ARGS__        \
	}

/* Scheduled by MES, of this version. */
#define MES(version) .mes = true, .mes_version = (version)

/* clang-format off */
static const struct sg_model models[] = {
	/*    name         device  rev   asic            GC            SDMA         XCCs  SE SA CU  CUs  SIMD waves wf  SDMAs MEC   SDMAfw GiB */
	MODEL("gfx942",    0x74a1, 1,    IP_DISCOVERY,   IP(9, 4, 3),  IP(4, 4, 2), 1,    4, 1, 10, 38,  4,   8,    64, 2,    178,  24,    24),
	MODEL("gfx942x4",  0x74a1, 1,    IP_DISCOVERY,   IP(9, 4, 3),  IP(4, 4, 2), 0xf,  4, 1, 10, 152, 4,   8,    64, 8,    178,  24,    96),
	MODEL("gfx942x8",  0x74a1, 1,    IP_DISCOVERY,   IP(9, 4, 3),  IP(4, 4, 2), 0xff, 4, 1, 10, 304, 4,   8,    64, 16,   178,  24,    192),
	MODEL("gfx942cpx", 0x74a1, 1,    IP_DISCOVERY,   IP(9, 4, 3),  IP(4, 4, 2), 0xff, 4, 1, 10, 304, 4,   8,    64, 16,   178,  24,    192, .partitions = 8),
	MODEL("gfx950",    0x75a0, 0,    IP_DISCOVERY,   IP(9, 5, 0),  IP(4, 4, 5), 1,    4, 1, 9,  32,  4,   8,    64, 2,    30,   10,    36,  .lds_kib = 160),
	MODEL("gfx90a",    0x740f, 2,    ALDEBARAN,      IP(9, 4, 2),  IP(4, 4, 0), 1,    8, 1, 16, 104, 4,   8,    64, 5,    83,   8,     64),
	MODEL("gfx908",    0x738c, 2,    ARCTURUS,       IP(9, 4, 1),  IP(4, 2, 2), 1,    8, 1, 16, 120, 4,   10,   64, 8,    67,   18,    32),
	MODEL("gfx906",    0x66a1, 1,    VEGA20,         IP(9, 4, 0),  IP(4, 2, 0), 1,    4, 1, 16, 60,  4,   10,   64, 2,    472,  145,   32),
	MODEL("gfx803",    0x67df, 0xc7, POLARIS10,      IP(8, 0, 3),  0,           1,    4, 1, 9,  36,  4,   10,   64, 2,    730,  58,    8),
	MODEL("gfx1030",   0x73bf, 1,    SIENNA_CICHLID, IP(10, 3, 0), IP(5, 2, 0), 1,    4, 2, 10, 80,  2,   16,   32, 4,    118,  83,    16),
	MODEL("gfx1100",   0x744c, 1,    IP_DISCOVERY,   IP(11, 0, 0), IP(6, 0, 0), 1,    6, 2, 8,  96,  2,   16,   32, 2,    2140, 21,    24, MES(0xe << 12 | 0x78)),
	MODEL("gfx1100old",0x744c, 1,    IP_DISCOVERY,   IP(11, 0, 0), IP(6, 0, 0), 1,    6, 2, 8,  96,  2,   16,   32, 2,    2140, 21,    24, MES(0xe << 12 | 0x40)),
	MODEL("gfx1151",   0x1586, 0,    IP_DISCOVERY,   IP(11, 5, 1), IP(6, 1, 1), 1,    2, 2, 10, 40,  2,   16,   32, 1,    32,   18,    96,  MES(0xe << 12 | 0x80), .apu = true),
	MODEL("gfx1201",   0x7550, 1,    IP_DISCOVERY,   IP(12, 0, 1), IP(7, 0, 1), 1,    4, 2, 8,  64,  2,   16,   32, 2,    2600, 21,    16, MES(0xf << 12 | 0x7c)),
};
/* clang-format on */

const struct sg_model *sg_model_find(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(models); i++)
		if (!strcmp(name, models[i].name))
			return &models[i];
	return NULL;
}
