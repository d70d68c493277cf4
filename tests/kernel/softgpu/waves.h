/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * softgpu: waves while their queue is saved: which there are (waves.c), what they hold
 * (waveregs.c).
 */
#pragma once

#include "softgpu.h"

#define WAVE_HWREGS     16 /* dwords, then as many ttmps */
#define WAVE_BLOCK      128
#define MOST_DISPATCHES 8
#define MOST_WORDS      (2 + 3 * MOST_DISPATCHES + SG_MAX_WAVES) /* of a control stack */

/* A dispatch, and what all of its waves have. */
struct in_flight {
	struct sg_dispatch d;
	u64 entry;               /* of the kernel */
	u32 state;               /* word of the control stack */
	u32 lanes, vgprs, sgprs; /* vgprs: with accumulation registers */
	u32 lds;                 /* bytes of a group */
};

struct wave {
	struct sg_wave saved;
	const struct in_flight *of;
	u32 group[3], in_group, engine;
	int xcc;
	u64 exec;
	bool first, last;
	u8 *bytes; /* its record: registers, WAVE_BLOCK, LDS */
};

struct saving {
	struct sg_gpu *gpu;
	struct sg_queue *queue;
	struct in_flight flights[MOST_DISPATCHES];
	struct wave waves[SG_MAX_WAVES];
	u32 words[MOST_WORDS]; /* of an XCC's control stack */
	int n_flights, n;
	u32 bytes;
};

/* Accumulation registers in one file with the others: gfx90a and later. */
static inline bool is_mi(const struct sg_gpu *gpu)
{
	return sg_gfx_major(gpu) == 9 && gpu->model->gc >= IP_VERSION(9, 4, 2);
}

static inline bool is_gfx94(const struct sg_gpu *gpu)
{
	return sg_gfx_major(gpu) == 9 && gpu->model->gc >= IP_VERSION(9, 4, 3);
}

/* waveregs.c: writes a wave's record into w->bytes */
void sg_wave_fill(struct saving *s, struct wave *w);
