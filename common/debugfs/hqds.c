// Parser of debugfs hqds. See hqds.h. Facts: [debugfs.hqds-lines], [debugfs.hqd-base].
#include "common/debugfs/hqds.h"

// CP_MQD_BASE_ADDR in dwords, without the XCC's base [debugfs.hqd-base].
#define BASE_GFX9  0x3245 // gfx8 and gfx9
#define BASE_GFX10 0x3209 // gfx10 and later

void hqds_fini(struct hqds *h)
{
	free(h->nodes);
	free(h->slots);
	free(h->regs);
	*h = (struct hqds){0};
}

static void add_node(struct hqds *h, uint32_t node, uint32_t gpu_id)
{
	*ARRAY_ADD(h->nodes, h->cap_nodes, h->nnodes) =
		(struct hqds_node){.node = node, .gpu_id = gpu_id, .first = (uint32_t)h->nslots};
}

// Line formats of slots, and which of their numbers is the XCC, MEC, pipe and queue; -1: none.
static const struct {
	const char *format;
	enum hqd_kind kind;
	int8_t xcc, mec, pipe, queue;
} slot_lines[] = {
	{"Inst %d, CP Pipe %d, Queue %d", HQD_CP, 0, -1, 1, 2},
	{"SDMA Engine %d, RLC %d", HQD_SDMA, -1, -1, 0, 1},
	{"Inst %d, HIQ on MEC %d Pipe %d Queue %d", HQD_HIQ, 0, 1, 2, 3},
	{"CP Pipe %d, Queue %d", HQD_CP, -1, -1, 0, 1},
	{"HIQ on MEC %d Pipe %d Queue %d", HQD_HIQ, -1, 0, 1, 2},
};

static bool slot_line(struct hqds *h, const char *p, const char *end)
{
	for (size_t i = 0; i < COUNT(slot_lines); i++) {
		uint32_t v[4] = {0};
		int8_t xcc = slot_lines[i].xcc, mec = slot_lines[i].mec;
		if (!dump_match(p, end, slot_lines[i].format, v))
			continue;
		if (!h->nnodes) // text begins inside a node: its number is unknown
			add_node(h, UINT32_MAX, 0);
		*ARRAY_ADD(h->slots, h->cap_slots, h->nslots) =
			(struct hqd){.node = (uint32_t)h->nnodes - 1,
				     .line = (uint32_t)h->nregs,
				     .kind = (uint8_t)slot_lines[i].kind,
				     .xcc = xcc < 0 || v[xcc] > INT8_MAX ? -1 : (int8_t)v[xcc],
				     .mec = mec < 0 ? 0 : (uint16_t)v[mec],
				     .pipe = (uint16_t)v[slot_lines[i].pipe],
				     .queue = (uint16_t)v[slot_lines[i].queue]};
		h->nodes[h->nnodes - 1].slots++;
		return true;
	}
	return false;
}

static bool hqds_node_line(struct hqds *h, const char *p, const char *end)
{
	uint32_t v[2];
	if (dump_match(p, end, "Node %d, gpu_id %x:", v))
		add_node(h, v[0], v[1]);
	else if (h->nnodes && dump_match(p, end, "Device is stopped", v))
		h->nodes[h->nnodes - 1].stopped = true;
	else
		return false;
	return true;
}

// A register line belongs to the current slot, unless a node line came after that slot.
static bool add_register_line(struct hqds *h, const struct dump_line *l)
{
	struct hqd *s = h->nslots ? &h->slots[h->nslots - 1] : NULL;
	if (!s || s->node != h->nnodes - 1 || s->lines == UINT16_MAX || l->addr % 4)
		return false;
	*ARRAY_ADD(h->regs, h->cap_regs, h->nregs) = *l;
	h->bad_words += dump_line_bad(l);
	s->lines++;
	return true;
}

static bool hqds_line(void *hqds, const char *p, const char *end, bool whole)
{
	struct hqds *h = hqds;
	struct dump_line l;
	if (dump_line_parse(p, end, &l))
		return add_register_line(h, &l);
	// A slot's line without a newline may be cut within its last number.
	return (whole && slot_line(h, p, end)) || hqds_node_line(h, p, end) ||
	       dump_line_empty(p, end);
}

void hqds_parse(struct hqds *h, const char *text, size_t len)
{
	h->nnodes = h->nslots = h->nregs = 0;
	h->bad_words = 0;
	dump_each(&h->count, text, len, hqds_line, h);
}

// --- registers of slots ---

static bool reg_at(const struct hqds *h, const struct hqd *s, uint32_t dword, uint32_t *out)
{
	for (uint32_t i = s->line; i < s->line + s->lines; i++) {
		const struct dump_line *l = &h->regs[i];
		uint32_t first = l->addr / 4;
		if (dword >= first && dword < first + l->count) {
			*out = l->words[dword - first];
			return l->valid >> (dword - first) & 1;
		}
	}
	return false;
}

// CP_MQD_BASE_ADDR is on the slot's first line, but on gfx8 CU masks are printed before it.
bool hqd_cp_base(const struct hqds *h, const struct hqd *s, uint32_t *base)
{
	for (uint32_t i = s->line; i < s->line + s->lines; i++) {
		uint32_t reg = h->regs[i].addr / 4;
		if ((reg & 0xffff) == BASE_GFX9 || (reg & 0xffff) == BASE_GFX10) {
			*base = reg;
			return true;
		}
	}
	return false;
}

bool hqd_cp_reg(const struct hqds *h, const struct hqd *s, unsigned index, uint32_t *out)
{
	uint32_t base;
	return s->kind != HQD_SDMA && index < 0x100 && hqd_cp_base(h, s, &base) &&
	       reg_at(h, s, base + index, out);
}

bool hqd_sdma_reg(const struct hqds *h, const struct hqd *s, unsigned offset, uint32_t *out)
{
	return s->kind == HQD_SDMA && s->lines && offset < 0x100 &&
	       reg_at(h, s, h->regs[s->line].addr / 4 + offset, out);
}
