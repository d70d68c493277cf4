// Generations (gfx.h), and values of MQDs and slots (mqd_value.h). Facts: [debugfs.mqd-compute],
// [debugfs.mqd-sdma], [debugfs.mqd-defaults], [debugfs.sdma-slot-stale].
#include "common/debugfs/mqd_value.h"

#include "common/debugfs/regs.h"

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

enum layout {
	NO_LAYOUT, // for queues without an MQD: no values
	COMPUTE_V8,
	COMPUTE_V9,
	SDMA_V8,
	SDMA_V9,
	SDMA_V10,
	SDMA_V11,
	SDMA_V12,
	LAYOUTS
};

enum how {
	NONE,  // the layout does not have the value
	PLAIN, // bits lsb .. lsb+width-1 of the pair, shifted left
	POWER, // the bits are an exponent: shift << bits
};

struct place {
	uint8_t how;
	uint8_t lo, hi; // dwords of both halves; hi 0: the value has no high half
	uint8_t lsb, width;
	uint8_t shift; // PLAIN: left shift; POWER: the factor
};

#define PLACE(how, lo, hi, lsb, width, shift)  \
	{                                      \
		how, lo, hi, lsb, width, shift \
	}
#define DWORD(lo)               PLACE(PLAIN, lo, 0, 0, 32, 0)
#define BITS(lo, lsb, width)    PLACE(PLAIN, lo, 0, lsb, width, 0)
#define PAIR(lo, hi)            PLACE(PLAIN, lo, hi, 0, 64, 0)
#define PAIR_256(lo, hi)        PLACE(PLAIN, lo, hi, 0, 56, 8) // an address / 256
#define DOORBELL(dw)            PLACE(PLAIN, dw, 0, 2, 26, 2)
#define BYTES(dw, lsb, w, unit) PLACE(POWER, dw, 0, lsb, w, unit)
#define FLAGGED(lo, hi)         PLACE(PLAIN, lo, hi, 1, 63, 1) // bit 0 is a flag, not address

#define COMPUTE  [COMPUTE_V8... COMPUTE_V9]
#define SDMA     [SDMA_V8... SDMA_V12]
#define SDMA_9UP [SDMA_V9... SDMA_V12]

static const struct place places[MQD_VALUES][LAYOUTS] = {
	[MQD_V_BASE] = {COMPUTE = PAIR(128, 129)},
	[MQD_V_ACTIVE] = {COMPUTE = BITS(130, 0, 1)},
	[MQD_V_VMID] = {COMPUTE = BITS(131, 0, 4)},
	[MQD_V_PIPE_PRIO] = {COMPUTE = BITS(133, 0, 2)},
	[MQD_V_QUEUE_PRIO] = {COMPUTE = BITS(134, 0, 4)},
	[MQD_V_RING] = {COMPUTE = PAIR_256(136, 137), SDMA = PAIR_256(1, 2)},
	[MQD_V_RING_BYTES] = {COMPUTE = BYTES(145, 0, 6, 8), SDMA = BYTES(0, 1, 5, 4)},
	[MQD_V_RPTR] = {COMPUTE = DWORD(138), [SDMA_V8] = DWORD(3), SDMA_9UP = PAIR(3, 4)},
	[MQD_V_WPTR] = {[COMPUTE_V8] = DWORD(144),
			[COMPUTE_V9] = PAIR(182, 183),
			[SDMA_V8] = DWORD(4),
			SDMA_9UP = PAIR(5, 6)},
	[MQD_V_RPTR_ADDR] = {COMPUTE = PAIR(139, 140), [SDMA_V8... SDMA_V10] = FLAGGED(9, 8),
			     [SDMA_V11] = FLAGGED(8, 7), [SDMA_V12] = FLAGGED(7, 8)},
	[MQD_V_WPTR_ADDR] = {COMPUTE = PAIR(141, 142), [SDMA_V8] = PAIR(7, 6),
			     [SDMA_V9... SDMA_V10] = PAIR(29, 28), [SDMA_V11] = PAIR(27, 26),
			     [SDMA_V12] = PAIR(24, 25)},
	[MQD_V_DOORBELL] = {COMPUTE = DOORBELL(143), [SDMA_V8] = {PLAIN, 18, 0, 0, 21, 2},
			    [SDMA_V9... SDMA_V10] = DOORBELL(22), [SDMA_V11] = DOORBELL(19),
			    [SDMA_V12] = DOORBELL(17)},
	[MQD_V_AQL] = {[COMPUTE_V9] = BITS(181, 0, 1)},
	[MQD_V_CTX_BASE] = {COMPUTE = PAIR(171, 172)},
	[MQD_V_CTX_BYTES] = {COMPUTE = DWORD(177)},
	[MQD_V_STACK_BYTES] = {COMPUTE = DWORD(175)},
	[MQD_V_STACK_OFFSET] = {COMPUTE = DWORD(174)},
	[MQD_V_WAVE_OFFSET] = {COMPUTE = DWORD(176)},
	[MQD_V_READ_INDEX] = {[COMPUTE_V9] = PAIR(96, 97)},
	[MQD_V_ERROR] = {COMPUTE = DWORD(179)},
	[MQD_V_SDMA_ENGINE] = {[SDMA_V8... SDMA_V9] = DWORD(126),
			       [SDMA_V10] = DWORD(128),
			       [SDMA_V11... SDMA_V12] = DWORD(126)},
	[MQD_V_SDMA_RLC] = {[SDMA_V8... SDMA_V9] = DWORD(127),
			    [SDMA_V10] = DWORD(129),
			    [SDMA_V11... SDMA_V12] = DWORD(127)},
};

static const uint8_t layout_of[GFX_GENS][2] = {
	[GFX8] = {COMPUTE_V8, SDMA_V8},   [GFX9] = {COMPUTE_V9, SDMA_V9},
	[GFX940] = {COMPUTE_V9, SDMA_V9}, [GFX10] = {COMPUTE_V9, SDMA_V10},
	[GFX11] = {COMPUTE_V9, SDMA_V11}, [GFX12] = {COMPUTE_V9, SDMA_V12},
};

bool mqd_value_of(enum mqd_kind kind, enum gfx_gen gen, enum mqd_value what, mqd_word_fn word,
		  const void *from, uint64_t *out)
{
	const uint8_t layout = kind == MQD_COMPUTE || kind == MQD_DIQ ? layout_of[gen][0]
			       : kind == MQD_SDMA                     ? layout_of[gen][1]
								      : NO_LAYOUT;
	const struct place *at = &places[what][layout];
	uint32_t lo, hi = 0;
	if (at->how == NONE || !word(from, at->lo, &lo) || (at->hi && !word(from, at->hi, &hi)))
		return false;
	uint64_t v = ((uint64_t)hi << 32 | lo) >> at->lsb;
	if (at->width < 64)
		v &= (1ull << at->width) - 1;
	// An exponent above 40 is damage: no ring is that large. On gfx9 and gfx10 the driver
	// leaves the address of the SDMA write index 0.
	if ((at->how == POWER && v > 40) || (what == MQD_V_WPTR_ADDR && !v))
		return false;
	*out = at->how == POWER ? (uint64_t)at->shift << v : v << at->shift;
	return true;
}

enum { IMAGE = 128, IMAGE_END = 184 }; // MQD dwords with the registers of a compute slot

// Reads the register of a slot whose image is dword `dw` of the MQD.
static bool hqd_word(const struct hqds *h, const struct hqd *s, enum gfx_gen gen, unsigned dw,
		     uint32_t *out)
{
	if (s->kind != HQD_SDMA)
		return dw >= IMAGE && dw < IMAGE_END && hqd_cp_reg(h, s, dw - IMAGE, out);
	int offset = sdma_reg_offset(gen, dw);
	return offset >= 0 && hqd_sdma_reg(h, s, (unsigned)offset, out);
}

bool mqd_source_word(const void *source, unsigned dw, uint32_t *out)
{
	const struct mqd_source *d = source;
	return d->s ? hqd_word(d->h, d->s, d->gen, dw, out) : mqd_word(d->m, d->q, d->xcc, dw, out);
}

bool mqd_source_get(const struct mqd_source *from, enum mqd_value what, uint64_t *out)
{
	const struct hqd *s = from->s;
	const enum mqd_kind kind = !s                    ? (enum mqd_kind)from->q->kind
				   : s->kind == HQD_SDMA ? MQD_SDMA
							 : MQD_COMPUTE;
	uint32_t rb_cntl;
	if (!s || s->kind != HQD_SDMA || what != MQD_V_VMID)
		return mqd_value_of(kind, from->gen, what, mqd_source_word, from, out);
	// SDMA MQDs have no VMID, but RB_CNTL of a slot has it in bits 27:24.
	if (!mqd_source_word(from, 0, &rb_cntl))
		return false;
	*out = rb_cntl >> 24 & 0xf;
	return true;
}

bool mqd_get(const struct mqds *m, const struct mqd *q, enum gfx_gen gen, unsigned xcc,
	     enum mqd_value what, uint64_t *out)
{
	return mqd_source_get(&(struct mqd_source){.m = m, .q = q, .gen = gen, .xcc = xcc}, what,
			      out);
}

bool hqd_get(const struct hqds *h, const struct hqd *s, enum gfx_gen gen, enum mqd_value what,
	     uint64_t *out)
{
	return mqd_source_get(&(struct mqd_source){.h = h, .s = s, .gen = gen}, what, out);
}

static enum gfx_gen guess_compute(const struct mqds *m, const struct mqd *q)
{
	uint32_t state = 0, pq;
	// Bits 15:0 of persistent_state keep their reset value: 0x5301 up to gfx10, 0x5501 from
	// gfx11 on. Slot-based write pointers in pq_control are bits 26:25 up to gfx9, else 19:18.
	if (!mqd_word(m, q, 0, 132, &state) || (state & 0xffff) != 0x5301)
		return (state & 0xffff) == 0x5501 ? GFX11 : GFX_UNKNOWN;
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
		return GFX10; // only gfx10 has SDMA MQDs of more than 128 dwords
	// The driver writes 0xf to the dummy register, whose place differs between layouts.
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

// --- summaries of a queue ---

static uint64_t value_or_unknown(const struct mqds *m, const struct mqd *q, enum gfx_gen gen,
				 unsigned xcc, enum mqd_value what)
{
	uint64_t v;
	return mqd_get(m, q, gen, xcc, what, &v) ? v : MQD_UNKNOWN;
}

static uint64_t saved_bytes(const struct mqds *m, const struct mqd *q, enum gfx_gen gen)
{
	uint64_t sum = 0;
	for (unsigned x = 0; x < q->dumps; x++) {
		uint64_t stack = value_or_unknown(m, q, gen, x, MQD_V_STACK_BYTES),
			 used = value_or_unknown(m, q, gen, x, MQD_V_STACK_OFFSET),
			 waves = value_or_unknown(m, q, gen, x, MQD_V_WAVE_OFFSET);
		// The control stack grows down from its area's size, the wave state up from there.
		if (stack == MQD_UNKNOWN || used == MQD_UNKNOWN || waves == MQD_UNKNOWN ||
		    used > stack || waves < stack)
			return MQD_UNKNOWN;
		sum += waves - used;
	}
	return q->dumps ? sum : MQD_UNKNOWN;
}

// The write pointer less the read pointer, modulo the ring's size (a power of two), as pointers of
// some generations wrap.
static uint64_t pointer_backlog(const uint64_t *v, bool sdma)
{
	const uint64_t ring = v[MQD_V_RING_BYTES], rptr = v[MQD_V_RPTR], wptr = v[MQD_V_WPTR];
	if (ring == MQD_UNKNOWN || rptr == MQD_UNKNOWN || wptr == MQD_UNKNOWN ||
	    (!sdma && v[MQD_V_AQL] == MQD_UNKNOWN))
		return MQD_UNKNOWN;
	if (sdma)
		return (wptr - rptr) & (ring - 1);
	return ((wptr - rptr) & (ring / 4 - 1)) / (v[MQD_V_AQL] ? 16 : 1); // 16: an AQL packet
}

// The number of XCCs; unknown if the last dump is incomplete, as whole dumps may be missing, too.
static uint64_t xccs_dumped(const struct mqds *m, const struct mqd *q)
{
	uint32_t ignored;
	if (q->kind != MQD_COMPUTE || !q->dumps || !mqd_word(m, q, q->dumps - 1u, 511, &ignored))
		return MQD_UNKNOWN;
	return q->dumps;
}

void mqd_summarize(struct mqd_summary *s, const struct mqds *m, const struct mqd *q,
		   enum gfx_gen gen, int on_hw)
{
	for (unsigned i = 0; i < MQD_VALUES; i++)
		s->v[i] = value_or_unknown(m, q, gen, 0, (enum mqd_value)i);
	s->v[MQD_D_ON_HW] = on_hw == 0 || on_hw == 1 ? (uint64_t)on_hw : MQD_UNKNOWN;
	s->v[MQD_D_XCCS] = xccs_dumped(m, q);
	bool off = on_hw == 0;
	s->v[MQD_D_BACKLOG] = off ? pointer_backlog(s->v, q->kind == MQD_SDMA) : MQD_UNKNOWN;
	s->v[MQD_D_SAVED_BYTES] = off ? saved_bytes(m, q, gen) : MQD_UNKNOWN;
}

void mqd_summary_agree(struct mqd_summary *s, const struct mqd_summary *other)
{
	for (unsigned i = 0; i < MQD_SUMMARY; i++)
		if (s->v[i] != other->v[i])
			s->v[i] = MQD_UNKNOWN;
}

// --- what slots tell ---

enum { CP_HQD_ACTIVE = 2, SDMA_DOORBELL_ENABLE = 1u << 28 };

int hqd_in_use(const struct hqds *h, const struct hqd *s, enum gfx_gen gen)
{
	int doorbell = reg_sdma_dword(gen, "sdmax_rlcx_doorbell");
	uint32_t v;
	if (s->kind != HQD_SDMA)
		return hqd_cp_reg(h, s, CP_HQD_ACTIVE, &v) ? (int)(v & 1) : -1;
	if (doorbell < 0 || !hqd_word(h, s, gen, (unsigned)doorbell, &v))
		return -1;
	return (v & SDMA_DOORBELL_ENABLE) != 0;
}

// GFX_ANY: registers of compute slots have the same dwords in all generations.
bool hqd_cp_get(const struct hqds *h, const struct hqd *s, enum mqd_value what, uint64_t *v)
{
	return s->kind == HQD_CP && hqd_in_use(h, s, GFX_ANY) > 0 &&
	       hqd_get(h, s, GFX_ANY, what, v);
}

const struct hqd *hqds_find(const struct hqds *h, uint64_t gpu_id, uint64_t mqd)
{
	for (size_t i = 0; i < h->nslots; i++) {
		const struct hqd *s = &h->slots[i];
		uint64_t v;
		if (h->nodes[s->node].gpu_id == gpu_id && hqd_cp_get(h, s, MQD_V_BASE, &v) &&
		    v == mqd && hqd_cp_get(h, s, MQD_V_RPTR, &v) &&
		    hqd_cp_get(h, s, MQD_V_WPTR, &v) && hqd_cp_get(h, s, MQD_V_DOORBELL, &v))
			return s;
	}
	return NULL;
}

enum gfx_gen hqd_guess_gen(const struct hqds *h, const struct hqds_node *n)
{
	enum gfx_gen gen = GFX_UNKNOWN;
	for (uint32_t i = n->first; i < n->first + n->slots; i++) {
		const struct hqd *s = &h->slots[i];
		uint32_t state;
		if (s->kind == HQD_SDMA || !s->lines)
			continue;
		if (s->xcc > 0)
			return GFX940;
		if (s->kind != HQD_CP || gen != GFX_UNKNOWN)
			continue;
		uint32_t first = h->regs[s->line].addr;
		// On gfx8 CU masks come first. From gfx10 on CP_MQD_BASE_ADDR has another address.
		// Bits 15:0 of PERSISTENT_STATE keep their reset value [debugfs.mqd-defaults].
		if (first == 0xb858)
			gen = GFX8;
		else if ((first >> 2 & 0xffff) == 0x3245)
			gen = GFX9;
		else if (hqd_cp_reg(h, s, 4, &state))
			gen = (state & 0xffff) == 0x5501 ? GFX11 : GFX10;
	}
	return gen;
}
