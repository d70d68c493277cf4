// GPU generations: gfx_target_version -> generation, and its row of capabilities. See gfx.h.
#include "common/debugfs/gfx.h"

enum gfx_gen gfx_gen_of(uint32_t version)
{
	uint32_t major = version / 10000, minor = version / 100 % 100;
	switch (major) {
	case 8: return GFX8;
	case 9: return minor >= 4 ? GFX940 : GFX9;
	case 10: return GFX10;
	case 11: return GFX11;
	case 12: return GFX12;
	default: return GFX_UNKNOWN;
	}
}

const struct gfx_caps *gfx_caps(enum gfx_gen gen)
{
	static const struct gfx_caps rows[GFX_GENS] = {
		[GFX_UNKNOWN] = {.whole_wptr = true},
		[GFX8] = {.cu_masks = true},
		[GFX9] = {.runlist = true, .whole_wptr = true},
		[GFX940] = {.runlist = true, .active_written = true, .whole_wptr = true},
		[GFX10] = {.runlist = true, .whole_wptr = true},
		[GFX11] = {.mes = true, .whole_wptr = true},
		[GFX12] = {.mes = true, .whole_wptr = true},
	};
	return &rows[(unsigned)gen < GFX_GENS ? gen : GFX_UNKNOWN];
}
