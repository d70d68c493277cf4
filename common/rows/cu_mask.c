// CU masks of queues, and how many CUs they leave; see queue_rows.h. Facts: [debugfs.mqd-compute].
#include "common/rows/queue_rows.h"

enum { SES = 9 };

// Dwords of a compute MQD that hold the CU masks of shader engines 0, 1 ...; 0 ends the list.
static const uint8_t places[GFX_GENS][SES + 1] = {
	[GFX8] = {23, 24, 26, 27},
	[GFX9] = {23, 24, 26, 27, 39, 40, 41, 42},
	[GFX940] = {23, 24, 26, 27},
	[GFX10] = {23, 24, 26, 27},
	[GFX11] = {23, 24, 26, 27, 44, 45, 46, 47},
	[GFX12] = {23, 24, 26, 27, 44, 45, 46, 47, 59},
};

// The driver sets a bit for each CU that a mask leaves, and all bits, also of CUs that are not
// there, where no mask was set. From gfx10 on a bit may stand for a pair of CUs.
static void count_cus(struct cu_mask *c, enum gfx_gen gen, uint64_t cus, bool whole, uint64_t bits)
{
	const bool counts = whole || (gen <= GFX940 && bits <= cus);
	if (counts && cus != KFD_UNKNOWN)
		snprintf(c->on, sizeof(c->on), "%" PRIu64 "/%" PRIu64, whole ? cus : bits, cus);
}

// Returns the words of each XCC, once if all have the same.
static char *mask_text(const struct mqds *m, const struct mqd *q, uint64_t xccs,
		       const uint8_t *first_place)
{
	SCOPED(buf_fini) struct buf all = {0};
	size_t len = 0; // of the first XCC
	bool same = true;
	for (unsigned x = 0; x < xccs; x++) {
		const size_t begin = all.len + (x > 0);
		for (const uint8_t *dw = first_place; *dw; dw++) {
			uint32_t v = 0;
			mqd_word(m, q, x, *dw, &v);
			buf_printf(&all, "%s%08x", dw > first_place ? "," : x ? "/" : "", v);
		}
		len = x ? len : all.len;
		same &= !len || memcmp(all.data, all.data + begin, len) == 0;
	}
	return same ? xstrndup(all.data, len) : xstrdup(all.data);
}

void cu_mask_read(struct cu_mask *c, const struct mqds *m, const struct mqd *q, uint64_t xccs,
		  const struct kfd_gpu *g)
{
	const enum gfx_gen gen = g && g->gfx_target_version != KFD_UNKNOWN
					 ? gfx_gen_of((uint32_t)g->gfx_target_version)
					 : GFX_UNKNOWN;
	uint64_t bits = 0, full = 0, words = 0;
	if (q->kind != MQD_COMPUTE || gen == GFX_UNKNOWN || xccs == MQD_UNKNOWN)
		return;
	for (unsigned x = 0; x < xccs; x++)
		for (const uint8_t *dw = places[gen]; *dw; dw++, words++) {
			uint32_t v;
			if (!mqd_word(m, q, x, *dw, &v))
				return;
			full += v == UINT32_MAX;
			bits += (unsigned)__builtin_popcount(v);
		}
	if (!bits) // no queue is left without any: nobody wrote it
		return;
	c->mask = full == words ? xstrdup("all") : mask_text(m, q, xccs, places[gen]);
	if (full == 0 || full == words)
		count_cus(c, gen, g->cus, full == words, bits);
}
