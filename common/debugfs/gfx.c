// GPU generations. See gfx.h; version encoding from kfd-facts 4.2.
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

const char *gfx_gen_name(enum gfx_gen gen)
{
	static const char *const names[GFX_GENS] = {"unknown", "gfx8",  "gfx9", "gfx940",
						    "gfx10",   "gfx11", "gfx12"};

	return (unsigned)gen < GFX_GENS ? names[gen] : names[GFX_UNKNOWN];
}
