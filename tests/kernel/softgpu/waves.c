// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * softgpu: the waves that a preempted compute queue leaves in its save area (CWSR).
 *
 * No shader runs, so waves are made up when their queue is saved: as many as the dispatch's grid
 * and workgroups ask for, up to a limit, spread over the XCCs of the node, workgroup by workgroup.
 * Their registers' numbers are those of the kernel descriptor, their PCs are behind its entry.
 * A wave of a dispatch that had waves at the last save is taken from its record of then, with all
 * that a debugger wrote there, and goes on a little if its dispatch had time.
 *
 * The layout is that of amdkfd's cwsr_trap_handler_gfx*.asm and of ROCdbgapi (architecture.cpp),
 * whose library reads it.  GFX9 has the control stack behind the MQD, where the driver copies it
 * from; others have it in the area at once.
 */
#include "waves.h"
#include "mqd.h"

static uint waves = 32;
module_param(waves, uint, 0644);
MODULE_PARM_DESC(
	waves,
	"so many waves of a queue are saved, at most, in whole workgroups (default 32, up to 2048)");

#define MOST_IN_GROUP 32
#define MOST_BYTES    (16 << 20)
#define AREA_HEADER   40
#define STATE_WORD    BIT(31)
#define EVENT_WORD    BIT(30)

struct descriptor { /* of a kernel: amdhsa code objects, version 3 and later */
	u32 unused[4];
	s64 entry; /* from the descriptor */
	u32 unused2[5], rsrc3, rsrc1, rsrc2;
	u16 properties, unused3[3];
};
static_assert(sizeof(struct descriptor) == 64);

/* ---- the waves of a dispatch ---- */

/* Without a descriptor, as mkqueue's packets are: few registers; in the ring for want of code. */
static struct in_flight in_flight(struct saving *s, const struct sg_dispatch *d)
{
	const struct sg_gpu *gpu = s->gpu;
	const bool gfx9 = sg_gfx_major(gpu) == 9;
	const u32 unit = gpu->model->gc == IP_VERSION(9, 5, 0) ? 1280 : 512;
	struct descriptor k = {.rsrc3 = 1, .properties = gpu->model->wavefront == 32 ? BIT(10) : 0};
	struct in_flight f = {.d = *d, .entry = d->kernel_object, .lanes = 64, .sgprs = 128};
	u32 blocks;

	if (!d->kernel_object)
		f.entry = mqd_u64(s->queue->mqds[0], MQD(cp_hqd_pq_base_lo)) << 8;
	else if (sg_vm_copy(s->queue->vm, d->kernel_object, &k, sizeof(k), false))
		f.entry += k.entry;
	blocks = (k.rsrc1 & 0x3f) + 1;
	f.lds = min(DIV_ROUND_UP(min(d->group_bytes, 65536U), unit), 255U) * unit;
	if (!gfx9 && k.properties & BIT(10))
		f.lanes = 32;
	f.vgprs = blocks * (f.lanes == 32 || is_mi(gpu) ? 8 : 4);
	f.state =
		STATE_WORD | (f.lanes == 32) << 24 | f.lds / unit << (gfx9 ? 9 : 10) | (blocks - 1);
	if (gpu->model->gc == IP_VERSION(9, 4, 1))
		f.vgprs *= 2; /* as many for accumulation, in a file of their own */
	if (gfx9) {
		f.sgprs = min((k.rsrc1 >> 6 & 15) / 2 + 1, 7U) * 16;
		f.state |= f.sgprs / 16 << 6 | (is_mi(gpu) ? (k.rsrc3 & 0x3f) << 24 : 0);
	}
	return f;
}

static u32 record_size(const struct saving *s, const struct in_flight *f, bool first)
{
	return f->vgprs * f->lanes * 4 + f->sgprs * 4 + WAVE_BLOCK + (first ? f->lds : 0) +
	       (sg_gfx_major(s->gpu) == 9 ? 64 : 0);
}

/* On a node of several XCCs consecutive workgroups are on different ones. */
static int xcc_of(const struct sg_queue *queue, u64 group)
{
	int i;

	for (i = 0; queue->n_mqds > 1 && i < queue->n_mqds; i++)
		if (queue->mqds[i][MQD(compute_current_logic_xcc_id)] == group % queue->n_mqds)
			return i;
	return 0;
}

/* false: it does not fit any more */
static bool launch_group(struct saving *s, const struct in_flight *f, u64 group, const u32 at[3],
			 u32 items, u32 *number)
{
	const u32 n = clamp(DIV_ROUND_UP(items, f->lanes), 1U, (u32)MOST_IN_GROUP);
	const u32 size = n * record_size(s, f, false) + f->lds;
	const u32 most = clamp(READ_ONCE(waves), 0U, (u32)SG_MAX_WAVES);
	u32 i;

	if (s->n + n > (s->n ? most : SG_MAX_WAVES) || !most || s->bytes + size > MOST_BYTES)
		return false;
	for (i = 0; i < n; i++, items -= f->lanes) {
		struct wave *w = &s->waves[s->n++];

		w->saved = (struct sg_wave){.dispatch = f->d.index,
					    .number = (*number)++,
					    .size = record_size(s, f, !i)};
		w->of = f;
		memcpy(w->group, at, sizeof(w->group));
		w->in_group = i;
		w->engine = group % s->gpu->model->engines;
		w->xcc = xcc_of(s->queue, group);
		w->exec = items < f->lanes ? BIT_ULL(items) - 1 : GENMASK_ULL(f->lanes - 1, 0);
		w->first = !i;
		w->last = i == n - 1;
	}
	s->bytes += size;
	return true;
}

static bool launch(struct saving *s, const struct in_flight *f)
{
	u64 group, total = 1, rest;
	u32 number = 0, at[3], groups[3], items, size, i;

	for (i = 0; i < 3; i++) {
		groups[i] =
			DIV_ROUND_UP_ULL(max(f->d.grid[i], 1U), max_t(u32, f->d.workgroup[i], 1));
		total = min_t(u64, total * groups[i], U32_MAX);
	}
	for (group = 0; group < total; group++) {
		items = 1;
		rest = group;
		for (i = 0; i < 3; i++) {
			at[i] = rest % groups[i];
			rest /= groups[i];
			size = max_t(u32, f->d.workgroup[i], 1);
			items = min_t(u64,
				      (u64)items * min(size, max(f->d.grid[i], 1U) - at[i] * size),
				      MOST_IN_GROUP * f->lanes);
		}
		if (!launch_group(s, f, group, at, items, &number))
			return false;
	}
	return true;
}

static void launch_all(struct saving *s)
{
	struct sg_dispatch d;

	while (s->n_flights < MOST_DISPATCHES && sg_aql_dispatch(s->queue, s->n_flights, &d)) {
		struct in_flight *f = &s->flights[s->n_flights++];

		*f = in_flight(s, &d);
		if (!launch(s, f))
			break;
	}
}

/* ---- the area ---- */

static u32 word_of(const struct saving *s, const struct wave *w)
{
	const u32 gc = s->gpu->model->gc;

	if (sg_gfx_major(s->gpu) > 9)
		return w->first << 12 | w->last << 29 | w->engine << 24;
	return w->first << 17 | w->last << 16 |
	       w->engine << (gc == IP_VERSION(9, 4, 2) ? 9
			     : is_gfx94(s->gpu)        ? 10
						       : 11);
}

/* Lays the records of an XCC's waves below `end`, the first on top; returns how many words. */
static u32 lay_out(struct saving *s, int xcc, u64 end, u32 *words)
{
	const struct in_flight *f = NULL;
	struct wave *w;
	u32 n = 2; /* a packet in the hardware's own tongue */

	for (w = s->waves; w < s->waves + s->n; w++) {
		if (w->xcc != xcc)
			continue;
		if (f != w->of) {
			f = w->of;
			words[n++] = EVENT_WORD;
			words[n++] = f->state;
			if (sg_gfx_major(s->gpu) > 9)
				words[n++] = STATE_WORD;
		}
		words[n++] = word_of(s, w);
		w->saved.record = end -= w->saved.size;
	}
	return n;
}

static bool save_xcc(struct saving *s, int xcc)
{
	u32 *mqd = s->queue->mqds[xcc], *words = s->words, bytes = 0, n;
	const u32 stack = mqd[MQD(cp_hqd_cntl_stack_size)];
	const u64 base = mqd_u64(mqd, MQD(cp_hqd_ctx_save_base_addr_lo));
	struct wave *w;
	void *behind;

	for (w = s->waves; w < s->waves + s->n; w++)
		bytes += w->xcc == xcc ? w->saved.size : 0;
	if (!bytes)
		return true;
	memset(words, 0, sizeof(s->words));
	n = lay_out(s, xcc, base + stack + bytes, words) * 4;
	if (!base || stack < AREA_HEADER + n || stack + bytes > mqd[MQD(cp_hqd_ctx_save_size)])
		return false;
	if (sg_gfx_major(s->gpu) > 9) {
		if (!sg_vm_copy(s->queue->vm, base + stack - n, words, n, true))
			return false;
	} else {
		behind = sg_kernel_ptr(
			s->gpu, mqd_u64(mqd, MQD(cp_mqd_base_addr_lo)) + PAGE_SIZE + stack - n, n);
		if (!behind)
			return false;
		memcpy(behind, words, n);
	}
	for (w = s->waves; w < s->waves + s->n; w++)
		if (w->xcc == xcc &&
		    !sg_vm_copy(s->queue->vm, w->saved.record, w->bytes, w->saved.size, true))
			return false;
	mqd[MQD(cp_hqd_cntl_stack_offset)] = stack - n;
	mqd[MQD(cp_hqd_wg_state_offset)] = stack + bytes;
	return true;
}

static void save_all(struct saving *s, u8 *buffer, struct sg_wave *saved)
{
	struct sg_ring_stat *stat = s->queue->stat;
	struct wave *w;
	int i;

	/* All are read before any is written: they may lie at other places than the last time. */
	for (w = s->waves; w < s->waves + s->n; w++) {
		w->bytes = buffer;
		buffer += w->saved.size;
		sg_wave_fill(s, w);
	}
	for (i = 0; i < s->queue->n_mqds; i++)
		if (!save_xcc(s, i))
			dev_warn_ratelimited(s->gpu->adev->dev, "softgpu: waves are not saved\n");
	for (i = 0; i < s->n; i++)
		saved[i] = s->waves[i].saved;
	kvfree(stat->waves);
	stat->waves = saved;
	stat->n_waves = s->n;
}

/* The MQD's offsets already say that nothing was saved. */
void sg_waves_save(struct sg_gpu *gpu, struct sg_queue *queue)
{
	struct sg_wave *saved;
	struct saving *s;
	u8 *buffer;

	lockdep_assert_held(&gpu->lock);
	s = waves ? kvzalloc(sizeof(*s), GFP_KERNEL) : NULL;
	if (!s)
		return;
	s->gpu = gpu;
	s->queue = queue;
	mutex_lock(&queue->vm->lock);
	launch_all(s);
	buffer = s->n ? kvzalloc(s->bytes, GFP_KERNEL) : NULL;
	saved = buffer ? kvcalloc(s->n, sizeof(*saved), GFP_KERNEL) : NULL;
	if (saved)
		save_all(s, buffer, saved);
	queue->stat->ran = false;
	mutex_unlock(&queue->vm->lock);
	kvfree(buffer);
	kvfree(s);
}
