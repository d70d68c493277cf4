// MQD values. See mqd_value.h. The tables are kfd-facts 6 (kernel: vi_structs.h, v9_structs.h,
// v10_structs.h, v11_structs.h, v12_structs.h and the kfd_mqd_manager_v*.c that fill them).
#include "common/debugfs/mqd_value.h"

enum layout {
	COMPUTE_V8,
	COMPUTE_V9,
	SDMA_V8,
	SDMA_V9,
	SDMA_V10,
	SDMA_V11,
	SDMA_V12,
	LAYOUTS,
	NO_LAYOUT
};

enum how {
	NONE,  // not in this layout
	PLAIN, // bits lsb .. lsb+width-1 of the pair, shifted left
	POWER, // the field is an exponent: shift << field
};

struct place {
	uint8_t how;
	uint8_t lo, hi; // dwords of the low and high half; hi 0: there is none
	uint8_t lsb, width;
	uint8_t shift; // PLAIN: left shift; POWER: the factor
};

#define DWORD(lo)                      \
	{                              \
		PLAIN, lo, 0, 0, 32, 0 \
	}
#define BITS(lo, lsb, width)                \
	{                                   \
		PLAIN, lo, 0, lsb, width, 0 \
	}
#define PAIR(lo, hi)                    \
	{                               \
		PLAIN, lo, hi, 0, 64, 0 \
	}
#define PAIR_256(lo, hi)                \
	{                               \
		PLAIN, lo, hi, 0, 56, 8 \
	} // stored in units of 256 bytes
#define DOORBELL(dw)                   \
	{                              \
		PLAIN, dw, 0, 2, 26, 2 \
	}
#define BYTES(dw, lsb, w, unit)            \
	{                                  \
		POWER, dw, 0, lsb, w, unit \
	}
#define FLAGGED(lo, hi)                 \
	{                               \
		PLAIN, lo, hi, 1, 63, 1 \
	} // bit 0 is a flag, not address

static const struct place places[LAYOUTS][MQD_VALUES] =
	{
		[COMPUTE_V9] =
			{
				[MQD_V_BASE] = PAIR(128, 129),
				[MQD_V_ACTIVE] = BITS(130, 0, 1),
				[MQD_V_VMID] = BITS(131, 0, 4),
				[MQD_V_PIPE_PRIO] = BITS(133, 0, 2),
				[MQD_V_QUEUE_PRIO] = BITS(134, 0, 4),
				[MQD_V_RING] = PAIR_256(136, 137),
				[MQD_V_RING_BYTES] = BYTES(145, 0, 6, 8),
				[MQD_V_RPTR] = DWORD(138),
				[MQD_V_WPTR] = PAIR(182, 183),
				[MQD_V_RPTR_ADDR] = PAIR(139, 140),
				[MQD_V_WPTR_ADDR] = PAIR(141, 142),
				[MQD_V_DOORBELL] = DOORBELL(143),
				[MQD_V_AQL] = BITS(181, 0, 1),
				[MQD_V_CTX_BASE] = PAIR(171, 172),
				[MQD_V_CTX_BYTES] = DWORD(177),
				[MQD_V_STACK_BYTES] = DWORD(175),
				[MQD_V_STACK_OFFSET] = DWORD(174),
				[MQD_V_WAVE_OFFSET] = DWORD(176),
				[MQD_V_READ_INDEX] = PAIR(96, 97),
				[MQD_V_ERROR] = DWORD(179),
			},
		[COMPUTE_V8] =
			{
				[MQD_V_BASE] = PAIR(128, 129),
				[MQD_V_ACTIVE] = BITS(130, 0, 1),
				[MQD_V_VMID] = BITS(131, 0, 4),
				[MQD_V_PIPE_PRIO] = BITS(133, 0, 2),
				[MQD_V_QUEUE_PRIO] = BITS(134, 0, 4),
				[MQD_V_RING] = PAIR_256(136, 137),
				[MQD_V_RING_BYTES] = BYTES(145, 0, 6, 8),
				[MQD_V_RPTR] = DWORD(138),
				[MQD_V_WPTR] = DWORD(144),
				[MQD_V_RPTR_ADDR] = PAIR(139, 140),
				[MQD_V_WPTR_ADDR] = PAIR(141, 142),
				[MQD_V_DOORBELL] = DOORBELL(143),
				[MQD_V_CTX_BASE] = PAIR(171, 172),
				[MQD_V_CTX_BYTES] = DWORD(177),
				[MQD_V_STACK_BYTES] = DWORD(175),
				[MQD_V_STACK_OFFSET] = DWORD(174),
				[MQD_V_WAVE_OFFSET] = DWORD(176),
				[MQD_V_ERROR] = DWORD(179),
			},
		[SDMA_V8] =
			{
				[MQD_V_RING] = PAIR_256(1, 2),
				[MQD_V_RING_BYTES] = BYTES(0, 1, 5, 4),
				[MQD_V_RPTR] = DWORD(3),
				[MQD_V_WPTR] = DWORD(4),
				[MQD_V_RPTR_ADDR] = FLAGGED(9, 8),
				[MQD_V_WPTR_ADDR] = PAIR(7, 6),
				[MQD_V_DOORBELL] = {PLAIN, 18, 0, 0, 21, 2},
				[MQD_V_SDMA_ENGINE] = DWORD(126),
				[MQD_V_SDMA_RLC] = DWORD(127),
			},
		[SDMA_V9] =
			{
				[MQD_V_RING] = PAIR_256(1, 2),
				[MQD_V_RING_BYTES] = BYTES(0, 1, 5, 4),
				[MQD_V_RPTR] = PAIR(3, 4),
				[MQD_V_WPTR] = PAIR(5, 6),
				[MQD_V_RPTR_ADDR] = FLAGGED(9, 8),
				[MQD_V_WPTR_ADDR] = PAIR(29, 28),
				[MQD_V_DOORBELL] = DOORBELL(22),
				[MQD_V_SDMA_ENGINE] = DWORD(126),
				[MQD_V_SDMA_RLC] = DWORD(127),
			},
		[SDMA_V10] =
			{
				[MQD_V_RING] = PAIR_256(1, 2),
				[MQD_V_RING_BYTES] = BYTES(0, 1, 5, 4),
				[MQD_V_RPTR] = PAIR(3, 4),
				[MQD_V_WPTR] = PAIR(5, 6),
				[MQD_V_RPTR_ADDR] = FLAGGED(9, 8),
				[MQD_V_WPTR_ADDR] = PAIR(29, 28),
				[MQD_V_DOORBELL] = DOORBELL(22),
				[MQD_V_SDMA_ENGINE] = DWORD(128),
				[MQD_V_SDMA_RLC] = DWORD(129),
			},
		[SDMA_V11] =
			{
				[MQD_V_RING] = PAIR_256(1, 2),
				[MQD_V_RING_BYTES] = BYTES(0, 1, 5, 4),
				[MQD_V_RPTR] = PAIR(3, 4),
				[MQD_V_WPTR] = PAIR(5, 6),
				[MQD_V_RPTR_ADDR] = FLAGGED(8, 7),
				[MQD_V_WPTR_ADDR] = PAIR(27, 26),
				[MQD_V_DOORBELL] = DOORBELL(19),
				[MQD_V_SDMA_ENGINE] = DWORD(126),
				[MQD_V_SDMA_RLC] = DWORD(127),
			},
		[SDMA_V12] =
			{
				[MQD_V_RING] = PAIR_256(1, 2),
				[MQD_V_RING_BYTES] = BYTES(0, 1, 5, 4),
				[MQD_V_RPTR] = PAIR(3, 4),
				[MQD_V_WPTR] = PAIR(5, 6),
				[MQD_V_RPTR_ADDR] = FLAGGED(7, 8),
				[MQD_V_WPTR_ADDR] = PAIR(24, 25),
				[MQD_V_DOORBELL] = DOORBELL(17),
				[MQD_V_SDMA_ENGINE] = DWORD(126),
				[MQD_V_SDMA_RLC] = DWORD(127),
			},
};

static const uint8_t layout_of[GFX_GENS][2] = {
	[GFX_UNKNOWN] = {NO_LAYOUT, NO_LAYOUT}, [GFX8] = {COMPUTE_V8, SDMA_V8},
	[GFX9] = {COMPUTE_V9, SDMA_V9},         [GFX940] = {COMPUTE_V9, SDMA_V9},
	[GFX10] = {COMPUTE_V9, SDMA_V10},       [GFX11] = {COMPUTE_V9, SDMA_V11},
	[GFX12] = {COMPUTE_V9, SDMA_V12},
};

static const struct place *place_of(enum mqd_kind kind, enum gfx_gen gen, enum mqd_value what)
{
	static const struct place nowhere = {.how = NONE};
	uint8_t layout = NO_LAYOUT;

	if (kind == MQD_COMPUTE || kind == MQD_DIQ)
		layout = layout_of[gen][0];
	else if (kind == MQD_SDMA)
		layout = layout_of[gen][1];
	return layout == NO_LAYOUT ? &nowhere : &places[layout][what];
}

bool mqd_has(enum mqd_kind kind, enum gfx_gen gen, enum mqd_value what)
{
	return place_of(kind, gen, what)->how != NONE;
}

bool mqd_value_of(enum mqd_kind kind, enum gfx_gen gen, enum mqd_value what, mqd_word_fn word,
		  const void *from, uint64_t *out)
{
	const struct place *at = place_of(kind, gen, what);
	uint32_t lo, hi = 0;

	if (at->how == NONE || !word(from, at->lo, &lo))
		return false;
	if (at->hi && !word(from, at->hi, &hi))
		return false;

	uint64_t v = ((uint64_t)hi << 32 | lo) >> at->lsb;

	if (at->width < 64)
		v &= (1ull << at->width) - 1;
	if (at->how == POWER && v > 40)
		return false; // no ring is that large: the word is damaged
	// The driver does not tell SDMA of gfx9 and gfx10 where the write index is.
	if (what == MQD_V_WPTR_ADDR && !v)
		return false;
	*out = at->how == POWER ? (uint64_t)at->shift << v : v << at->shift;
	return true;
}

struct dump_of_xcc {
	const struct mqds *m;
	const struct mqd *q;
	unsigned xcc;
};

static bool dump_word(const void *from, unsigned dw, uint32_t *out)
{
	const struct dump_of_xcc *d = from;

	return mqd_word(d->m, d->q, d->xcc, dw, out);
}

bool mqd_get(const struct mqds *m, const struct mqd *q, enum gfx_gen gen, unsigned xcc,
	     enum mqd_value what, uint64_t *out)
{
	const struct dump_of_xcc dump = {m, q, xcc};

	return mqd_value_of((enum mqd_kind)q->kind, gen, what, dump_word, &dump, out);
}

static enum gfx_gen guess_compute(const struct mqds *m, const struct mqd *q)
{
	uint32_t state, pq;

	// Bits 15:0 of persistent_state keep their reset value: 0x5301 up to gfx10, 0x5501 from
	// gfx11 on. The field of slot-based write pointers in pq_control moved from 26:25 to 19:18
	// with gfx10.
	if (!mqd_word(m, q, 0, 132, &state))
		return GFX_UNKNOWN;
	if ((state & 0xffff) == 0x5501)
		return GFX11;
	if ((state & 0xffff) != 0x5301)
		return GFX_UNKNOWN;
	return mqd_word(m, q, 0, 145, &pq) && (pq >> 18 & 3) ? GFX10 : GFX9;
}

static bool dummy_register(const struct mqds *m, const struct mqd *q, unsigned dw)
{
	uint32_t v;

	return mqd_word(m, q, 0, dw, &v) && (v & 0xf) == 0xf && v < 0x100;
}

static enum gfx_gen guess_sdma(const struct mqds *m, const struct mqd *q)
{
	uint32_t v;

	if (mqd_word(m, q, 0, 128, &v))
		return GFX10; // the only SDMA MQD longer than 128 dwords
	// The driver writes 0xf to the dummy register, which each layout has elsewhere.
	if (dummy_register(m, q, 23))
		return GFX12;
	if (dummy_register(m, q, 25))
		return GFX11;
	return dummy_register(m, q, 27) ? GFX9 : GFX_UNKNOWN;
}

enum gfx_gen mqd_guess_gen(const struct mqds *m, const struct mqd *q)
{
	return q->kind == MQD_SDMA ? guess_sdma(m, q) : guess_compute(m, q);
}

bool mqd_backlog(const struct mqds *m, const struct mqd *q, enum gfx_gen gen, uint64_t *out)
{
	uint64_t r, w, ring;

	if (!mqd_get(m, q, gen, 0, MQD_V_RPTR, &r) || !mqd_get(m, q, gen, 0, MQD_V_WPTR, &w) ||
	    !mqd_get(m, q, gen, 0, MQD_V_RING_BYTES, &ring))
		return false;
	// Both count from where the ring began and sizes are powers of two, so wrapping does no
	// harm.
	*out = (w - r) & ((q->kind == MQD_SDMA ? ring : ring / 4) - 1);
	return true;
}
