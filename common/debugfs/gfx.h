// GPU generations as far as MQD and register layouts differ. Facts: [debugfs.mqd-compute],
// [debugfs.mqd-sdma], [debugfs.sdma-slot].
//
// A new generation needs a value of enum gfx_gen; in mqd_value.c its version and capabilities,
// layout_of[], places[] (a layout that differs in one place is an enum layout of its own) and the
// guess_ functions; in regs.c the masks G8 to ALL, runs[], and an argument of S() in each use (a
// missing one means dword 0); tests/unit/test_debugfs_regs.c.
#pragma once

#include "common/host/std.h"

enum gfx_gen {
	GFX_UNKNOWN,
	GFX8,   // Tonga .. Vega M: vi MQD
	GFX9,   // Vega, Raven, Arcturus, gfx90a: v9 MQD
	GFX940, // gfx940 .. gfx942, gfx950: v9 MQD of several XCCs
	GFX10,
	GFX11,
	GFX12,
	GFX_GENS,
	GFX_ANY = GFX9, // for registers that compute slots of all generations have
};

// What differs between generations besides registers and MQDs. One row each in gfx_caps().
struct gfx_caps {
	bool runlist; // HWS maps queues by a runlist, which debugfs shows [debugfs.rls-lines]
	bool mes;     // the MES firmware maps queues, by commands, and the HIQ slot means nothing
	bool active_written; // firmware was seen to write MQD dword 130 [debugfs.mqd-active]
	bool cu_masks;       // hqds prints the CU masks of a slot before its other registers
	bool whole_wptr;     // the write pointer in MQD and HQD is a count that does not wrap
};

// The capabilities of a generation; for an invalid number those of GFX_UNKNOWN.
const struct gfx_caps *gfx_caps(enum gfx_gen gen);

// The generation of a gfx_target_version of sysfs topology: major * 10000 + minor * 100 + stepping.
enum gfx_gen gfx_gen_of(uint32_t gfx_target_version);
