// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * softgpu: the registers of a saved wave, in the layout of amdkfd's cwsr_trap_handler_gfx*.asm;
 * what ROCr's trap handler writes is that of its second-level handler.
 */
#include "waves.h"

#define RING_PACKET 64
#define RUN_SPAN    64     /* bytes in which the PC of a wave goes round that runs */
#define HANDLER_PC  0x1000 /* where no code object is */

static u32 *block_of(const struct wave *w) /* hardware registers, then ttmps */
{
	return (u32 *)(w->bytes + w->of->vgprs * w->of->lanes * 4 + w->of->sgprs * 4);
}

/* Bytes in which the PC goes round; 0: it stands still. */
static u32 span_of(const struct saving *s, const struct wave *w, const struct sg_wave_rule *rule)
{
	if (rule->state != SG_WAVE_RUN)
		return 0;
	if (rule->moves)
		return rule->span & ~3;
	return s->queue->stat->ran && !sg_fault_kernel_hangs(w->of->d.kernel_object) ? RUN_SPAN : 0;
}

/* At launch the hardware says which workgroup and packet a wave is of; or what was there stays. */
static void put_ttmps(const struct saving *s, const struct wave *w, u32 *t)
{
	/* As if packet 7's group 3 had its wave 1 stopped by a trap: who believes it is wrong. */
	static const u32 left_over[WAVE_HWREGS] = {
		[4] = 0x1234, [6] = BIT(30) | 3 << 25 | 7, [7] = 0x2000, [8] = 3, [11] = 1};
	const u32 packet = w->saved.dispatch & (s->queue->size / RING_PACKET - 1);

	if (!w->saved.placed) {
		memcpy(t, left_over, sizeof(left_over));
	} else if (sg_gfx_major(s->gpu) == 12) {
		t[7] = (w->group[1] & 0xffff) | w->group[2] << 16;
		t[8] = packet | w->in_group << 25 | BIT(30);
		t[9] = w->group[0];
	} else {
		memcpy(t + 8, w->group, sizeof(w->group));
		t[11] = w->in_group | (is_gfx94(s->gpu) ? packet << 6 : 0);
		t[6] = is_gfx94(s->gpu) ? 0 : packet;
	}
}

/* What ROCr's trap handler does to a wave that it stops. */
static void stop(const struct saving *s, u32 *h, u32 *t, enum sg_wave_state state)
{
	static const struct {
		u32 trapsts, excp, trap;
	} why[] = {
		[SG_WAVE_VIOLATION] = {BIT(28) | BIT(8), BIT(12) | BIT(4)},
		[SG_WAVE_ADDRESS] = {BIT(8), BIT(4)},
		[SG_WAVE_ILLEGAL] = {BIT(11), BIT(6)},
		[SG_WAVE_MATH] = {BIT(2)},
		[SG_WAVE_BREAKPOINT] = {.trap = 1},
		[SG_WAVE_ASSERT] = {.trap = 2},
		[SG_WAVE_DEBUGTRAP] = {.trap = 3},
	};
	const int major = sg_gfx_major(s->gpu);
	const bool gfx12 = major == 12, parks = major != 10 && !is_gfx94(s->gpu);

	h[6] |= gfx12 ? why[state].excp : why[state].trapsts;
	h[5] |= gfx12 ? BIT(14) : BIT(13) | BIT(18); /* halted; SKIP_EXPORT is its mark */
	if (state == SG_WAVE_MATH && gfx12)
		h[11] = h[12] = BIT(2);
	else if (state == SG_WAVE_MATH)
		h[major == 9 ? 9 : 8] |= BIT(14);
	t[6] = (t[6] & ~GENMASK(31, 25)) | BIT(30) | why[state].trap << 25;
	if (gfx12)
		t[8] |= BIT(31);
	else if (is_gfx94(s->gpu))
		t[11] |= BIT(31);
	if (parks) { /* the wave waits in the handler, its PC is put aside */
		t[gfx12 ? 10 : 7] = h[1];
		t[11] = (t[11] & ~GENMASK(22, 7)) | (h[2] & 0xffff) << 7;
		h[1] = HANDLER_PC;
		h[2] = 0;
	}
}

/* Registers say which wave, which register and which lane they are of. */
static void put_numbers(const struct wave *w)
{
	const struct in_flight *f = w->of;
	const u32 n = w->saved.number << 16, vgpr_words = f->vgprs * f->lanes;
	u32 *words = (u32 *)w->bytes, i;

	for (i = 0; i < vgpr_words; i++)
		words[i] = 0x56000000 | n | i / f->lanes << 8 | i % f->lanes;
	for (i = 0; i < f->sgprs; i++)
		words[vgpr_words + i] = 0x53000000 | n | i;
	words += vgpr_words + f->sgprs + WAVE_BLOCK / 4;
	for (i = 0; w->first && i < f->lds / 4; i++)
		words[i] = 0x4c000000 | n | i;
}

static void make_wave(const struct saving *s, const struct wave *w, const struct sg_wave_rule *rule)
{
	const u32 span = span_of(s, w, rule);
	const u64 pc = rule->state == SG_WAVE_HANDLER
			       ? HANDLER_PC
			       : w->of->entry + rule->at + (span ? w->saved.number * 4 % span : 0);
	const bool gfx12 = sg_gfx_major(s->gpu) == 12;
	u32 *h = block_of(w), *t = h + WAVE_HWREGS;

	put_numbers(w);
	h[0] = 0x4d000000 | w->saved.number; /* M0 */
	h[1] = lower_32_bits(pc);
	h[2] = upper_32_bits(pc);
	h[3] = lower_32_bits(w->exec);
	h[4] = upper_32_bits(w->exec);
	h[gfx12 ? 13 : 5] =
		BIT(16) | BIT(11) | BIT(6);          /* STATUS: valid, in a group, traps are on */
	h[sg_gfx_major(s->gpu) == 9 ? 9 : 8] = 0xf0; /* MODE */
	put_ttmps(s, w, t);
	if (rule->state == SG_WAVE_BARRIER && !gfx12) /* there the instruction alone tells */
		h[5] |= BIT(12);
	else if (rule->state == SG_WAVE_HALT)
		h[5] |= gfx12 ? BIT(14) : BIT(13);
	else if (rule->state >= SG_WAVE_STOPPED)
		stop(s, h, t, rule->state);
}

/* A wave goes on unless it, or a debugger, has halted it, and does not leave where it goes round.
 */
static void go_on(const struct saving *s, const struct wave *w, const struct sg_wave_rule *rule)
{
	u32 *h = block_of(w);
	const u64 from = w->of->entry + rule->at, pc = (u64)h[2] << 32 | h[1];
	const u32 span = span_of(s, w, rule);

	if (!span || pc < from || pc - from >= span ||
	    h[5] & (sg_gfx_major(s->gpu) == 12 ? BIT(14) : BIT(13)))
		return;
	h[1] = lower_32_bits(from + (pc - from + 4) % span);
	h[2] = upper_32_bits(from + (pc - from + 4) % span);
}

void sg_wave_fill(struct saving *s, struct wave *w)
{
	const struct sg_wave_rule rule = sg_fault_wave(w->of->d.kernel_object, w->saved.number);
	const struct sg_ring_stat *stat = s->queue->stat;
	const struct sg_wave *old = stat->waves, *end = old + stat->n_waves;

	while (old < end && (old->dispatch != w->saved.dispatch || old->number != w->saved.number))
		old++;
	w->saved.placed = old < end ? old->placed : s->queue->ttmps;
	w->saved.rules = rule.version;
	if (old < end && old->size == w->saved.size && old->rules == rule.version &&
	    sg_vm_copy(s->queue->vm, old->record, w->bytes, old->size, false))
		go_on(s, w, &rule);
	else
		make_wave(s, w, &rule);
}
