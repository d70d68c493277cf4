// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * softgpu: the thread that plays the hardware: one per GPU.
 *
 * Every poll_us it lets the resident queues consume packets and the scheduler firmware read its
 * rings.  Queues beyond the hardware's slots wait and take turns, which is what oversubscription
 * looks like.
 *
 * How fast packets are consumed: each queue packet_rate, whatever others do; or, with capacity
 * set, all queues together that many, in equal shares among those that have work, and a large
 * grid takes proportionally longer: then queues compete, as they do for the compute units.
 */
#include <linux/delay.h>
#include <linux/kthread.h>
#include "softgpu.h"

static int poll_us = 300;
module_param(poll_us, int, 0644);
MODULE_PARM_DESC(poll_us, "microseconds between two looks at doorbells and rings (default 300)");
static int packet_rate = 1000;
module_param(packet_rate, int, 0644);
MODULE_PARM_DESC(packet_rate, "packets per second that a running queue consumes (default 1000)");
static int capacity;
module_param(capacity, int, 0644);
MODULE_PARM_DESC(capacity, "packets per second of a whole GPU, shared by the queues that have work "
			   "(default 0: each queue has packet_rate for itself)");
static int capacity_items = 65536;
module_param(capacity_items, int, 0644);
MODULE_PARM_DESC(capacity_items, "work-items that make one packet of capacity; a dispatch of more "
				 "takes proportionally longer (default 65536)");
static int hqd_slots = 24;
module_param(hqd_slots, int, 0644);
MODULE_PARM_DESC(hqd_slots, "hardware queue slots (default 24); more queues take turns");

static bool wptr_poll = true;
module_param(wptr_poll, bool, 0644);
MODULE_PARM_DESC(wptr_poll, "look at the write pointer of AQL queues now and then; N: a lost doorbell "
			    "stays lost");

#define QUIET_POLLS   16 /* then look at wptr although the doorbell is the same */
#define TIME_SLICE_NS (20 * NSEC_PER_MSEC)

/*
 * A doorbell that repeats its value is no news to this emulation, to the hardware it is: so an
 * AQL queue's write pointer in memory is looked at now and then, as the CP does.
 */
void sg_cp_notice(struct sg_gpu *gpu, struct sg_queue *queue)
{
	const u64 doorbell = sg_queue_doorbell(gpu, queue);

	if (doorbell == queue->last_doorbell &&
	    !(wptr_poll && queue->aql && queue->quiet_polls++ > QUIET_POLLS))
		return;
	queue->last_doorbell = doorbell;
	queue->wptr = sg_queue_load(queue, queue->wptr_poll);
	queue->quiet_polls = 0;
}

/* Nanoseconds that the packet at the read pointer takes; of a whole GPU when that is shared. */
static u64 packet_ns(const struct sg_queue *queue)
{
	const u64 unit = max(capacity_items, 1);
	u64 items;

	if (!capacity)
		return packet_rate > 0 ? NSEC_PER_SEC / packet_rate : U64_MAX;
	items = queue->aql ? sg_aql_work_items(queue) : 0;
	return mul_u64_u64_div_u64(NSEC_PER_SEC / max(capacity, 1), max(items, unit), unit);
}

/* Time not spent is kept with the ring, so that a preempted packet goes on where it was (CWSR). */
static void consume(struct sg_gpu *gpu, struct sg_queue *queue, u64 ns)
{
	u64 *credit = &queue->stat->credit, cost = U64_MAX;

	sg_aql_end_hang(gpu, queue);
	*credit += ns;
	while (sg_queue_pending(queue)) {
		cost = packet_ns(queue);
		if (*credit < cost)
			break;
		queue->blocked = queue->aql && !sg_aql_consume(gpu, queue);
		if (queue->blocked) {
			*credit = 0;
			break;
		}
		*credit -= cost;
		queue->rptr++;
		queue->stat->ran = false; /* the next one has not */
		gpu->count.packets++;
	}
	if (cost != U64_MAX && sg_queue_pending(queue) && !queue->blocked && !queue->stat->hung)
		queue->stat->ran = true;
	sg_queue_report_rptr(queue);
}

static void run_queue(struct sg_gpu *gpu, struct sg_queue *queue, u64 ns)
{
	if (!sg_queue_busy(queue)) {
		queue->stat->credit = 0;
		return;
	}
	mutex_lock(&queue->vm->lock); /* what packets point to stays mapped meanwhile */
	if (queue->sdma)
		sg_sdma_run(gpu, queue);
	else
		consume(gpu, queue, ns);
	mutex_unlock(&queue->vm->lock);
}

/* Turns: a window of hqd_slots queues moves along the list. */
static bool has_slot(const struct sg_gpu *gpu, int position, int total)
{
	return total <= hqd_slots || (position + total - gpu->rotation % total) % total < hqd_slots;
}

/* Queues that want a share of the GPU: one that waits for a signal leaves it to the others. */
static int look_for_work(struct sg_gpu *gpu)
{
	int position = 0, total = 0, busy = 0;
	struct sg_queue *queue;

	list_for_each_entry(queue, &gpu->queues, node) total += !queue->sdma;
	list_for_each_entry(queue, &gpu->queues, node)
	{
		queue->resident = queue->sdma || has_slot(gpu, position++, total);
		if (queue->resident)
			sg_cp_notice(gpu, queue);
		busy += queue->resident && !queue->sdma && !queue->blocked &&
			sg_queue_pending(queue);
	}
	return busy;
}

static void run_queues(struct sg_gpu *gpu, u64 ns)
{
	const int busy = look_for_work(gpu);
	const u64 share = capacity && busy ? div_u64(ns, busy) : ns;
	struct sg_queue *queue;

	list_for_each_entry(queue, &gpu->queues, node)
	{
		if (queue->resident)
			run_queue(gpu, queue, queue->had_work ? share : 0);
		queue->had_work = queue->resident && sg_queue_pending(queue);
	}
}

static int cp_thread(void *arg)
{
	struct sg_gpu *gpu = arg;
	u64 last = ktime_get_ns(), slice_start = last, now;
	struct sg_hiq *hiq;
	bool busy;

	while (!kthread_should_stop()) {
		busy = false;
		mutex_lock(&gpu->lock);
		now = ktime_get_ns();
		run_queues(gpu, now - last);
		last = now;
		if (now - slice_start > TIME_SLICE_NS) {
			gpu->rotation++;
			slice_start = now;
		}
		list_for_each_entry(hiq, &gpu->hiqs, node) busy |= sg_hiq_run(gpu, hiq);
		mutex_unlock(&gpu->lock);
		if (!busy || sg_fault_hang())
			usleep_range(poll_us, poll_us + poll_us / 4 + 1);
	}
	return 0;
}

int sg_cp_start(struct sg_gpu *gpu)
{
	struct task_struct *thread = kthread_run(cp_thread, gpu, "softgpu%d-cp", gpu->index);

	if (IS_ERR(thread))
		return PTR_ERR(thread);
	gpu->cp = thread;
	return 0;
}

void sg_cp_forget(struct sg_gpu *gpu)
{
	mutex_lock(&gpu->lock);
	sg_hiqs_forget(gpu);
	sg_queues_unmap(gpu, NULL, -1); /* those of MES */
	mutex_unlock(&gpu->lock);
}

void sg_cp_stop(struct sg_gpu *gpu)
{
	struct sg_ring_stat *stat;
	unsigned long doorbell;

	if (gpu->cp)
		kthread_stop(gpu->cp);
	sg_cp_forget(gpu);
	xa_for_each(&gpu->ring_stats, doorbell, stat)
	{
		kvfree(stat->waves);
		kfree(stat);
	}
	xa_destroy(&gpu->ring_stats);
}
