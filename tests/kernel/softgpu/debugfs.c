// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * softgpu: /sys/kernel/debug/softgpu: what the GPUs really run, and evictions on demand.
 */
#include <linux/debugfs.h>
#include <linux/sched/mm.h>
#include "softgpu.h"

static struct dentry *root;

static void show_counters(struct seq_file *m, const struct sg_counters *count)
{
	int i;

	seq_printf(m, "runlists %llu map_process %llu map_queues %llu unmaps %llu fences %llu",
		   count->runlists, count->map_process, count->map_queues, count->unmaps,
		   count->fences);
	seq_printf(m, " write_data %llu set_resources %llu bad %llu mes_add %llu mes_remove %llu",
		   count->write_data, count->set_resources, count->bad, count->mes_add,
		   count->mes_remove);
	seq_printf(m, " packets %llu irqs %llu sdma_packets %llu badsig %llu aql_types",
		   count->packets, count->irqs, count->sdma_packets, count->bad_address);
	for (i = 0; i < SG_AQL_TYPES; i++)
		seq_printf(m, " %llu", count->aql[i]);
	seq_putc(m, '\n');
}

static void show_queues(struct seq_file *m, struct sg_gpu *gpu)
{
	struct sg_queue *queue;
	struct sg_hiq *hiq;

	list_for_each_entry(hiq, &gpu->hiqs, node) seq_printf(
		m, "hiq doorbell %u insts %x rptr %llu\n", hiq->doorbell, hiq->xccs, hiq->rptr);
	list_for_each_entry(queue, &gpu->queues, node) seq_printf(
		m, "queue %s pasid %x doorbell %u mqd %llx size %llu rptr %llu wptr %llu%s\n",
		queue->sdma  ? "sdma"
		: queue->aql ? "aql"
			     : "pm4",
		queue->pasid, queue->doorbell, queue->mqd_addr, queue->size, queue->rptr,
		queue->wptr, queue->resident ? "" : " waiting");
}

static void show_done(struct seq_file *m, struct sg_gpu *gpu)
{
	struct sg_ring_stat *stat;
	unsigned long doorbell;

	xa_for_each(&gpu->ring_stats, doorbell, stat) seq_printf(
		m,
		"done doorbell %lu pasid %x ring %llx size %llu vendor %llu dispatch %llu"
		" barrier_and %llu agent %llu barrier_or %llu\n",
		doorbell, stat->pasid, stat->ring, stat->size, stat->aql[0], stat->aql[2],
		stat->aql[3], stat->aql[4], stat->aql[5]);
}

static int gpu_show(struct seq_file *m, void *unused)
{
	struct sg_gpu *gpu = m->private;

	mutex_lock(&gpu->lock);
	show_counters(m, &gpu->count);
	seq_printf(m, "occupied_ns %llu\n", sg_occupied_ns(gpu));
	show_queues(m, gpu);
	show_done(m, gpu);
	mutex_unlock(&gpu->lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(gpu);

/* A pid written to evict or restore: what the memory manager does under memory pressure. */
static struct mm_struct *mm_of(const char __user *buffer, size_t n)
{
	struct task_struct *task;
	struct mm_struct *mm;
	struct pid *pid;
	int nr, err = kstrtoint_from_user(buffer, n, 0, &nr);

	if (err)
		return ERR_PTR(err);
	pid = find_get_pid(nr);
	task = get_pid_task(pid, PIDTYPE_PID);
	put_pid(pid);
	if (!task)
		return ERR_PTR(-ESRCH);
	mm = get_task_mm(task);
	put_task_struct(task);
	return mm ? mm : ERR_PTR(-ESRCH);
}

#if SG_LINUX_7
/* "PID CONTEXT": what the memory manager does to the buffers of one context (schedule_evict). */
static bool is_context(const char __user *buffer, size_t n, int *pid, int *context)
{
	char text[32] = "";

	if (n >= sizeof(text) || copy_from_user(text, buffer, n))
		return false;
	return sscanf(text, "%d %d", pid, context) == 2;
}

static ssize_t context_write(int nr, int context, bool evict)
{
	struct task_struct *task = get_pid_task(find_vpid(nr), PIDTYPE_PID);
	struct mm_struct *mm = task ? get_task_mm(task) : NULL;
	struct kfd_process *p = mm ? kfd_lookup_process_by_id(mm, context) : NULL;
	int err = -ESRCH;

	if (p) {
		err = evict ? kfd_process_evict_queues(p, KFD_QUEUE_EVICTION_TRIGGER_TTM)
			    : kfd_process_restore_queues(p);
		kfd_unref_process(p);
	}
	if (mm)
		mmput(mm);
	if (task)
		put_task_struct(task);
	return err;
}
#endif

static ssize_t evict_write(struct file *file, const char __user *buffer, size_t n, loff_t *pos)
{
	struct mm_struct *mm;
	int err;
#if SG_LINUX_7
	int nr, context;

	if (is_context(buffer, n, &nr, &context)) {
		err = context_write(nr, context, true);
		return err ? err : (ssize_t)n;
	}
#endif
	mm = mm_of(buffer, n);

	if (IS_ERR(mm))
		return PTR_ERR(mm);
	err = kgd2kfd_quiesce_mm(mm, KFD_QUEUE_EVICTION_TRIGGER_USERPTR);
	mmput(mm);
	return err ? err : (ssize_t)n;
}

static ssize_t restore_write(struct file *file, const char __user *buffer, size_t n, loff_t *pos)
{
	struct mm_struct *mm;
	int err;
#if SG_LINUX_7
	int nr, context;

	if (is_context(buffer, n, &nr, &context)) {
		err = context_write(nr, context, false);
		return err ? err : (ssize_t)n;
	}
#endif
	mm = mm_of(buffer, n);

	if (IS_ERR(mm))
		return PTR_ERR(mm);
	err = kgd2kfd_resume_mm(mm);
	mmput(mm);
	return err ? err : (ssize_t)n;
}

static const struct file_operations evict_fops = {.owner = THIS_MODULE, .write = evict_write};
static const struct file_operations restore_fops = {.owner = THIS_MODULE, .write = restore_write};

void sg_debugfs_init(void)
{
	root = debugfs_create_dir("softgpu", NULL);
	debugfs_create_file("evict", 0200, root, NULL, &evict_fops);
	debugfs_create_file("restore", 0200, root, NULL, &restore_fops);
}

void sg_debugfs_fini(void)
{
	debugfs_remove(root);
}

void sg_debugfs_add(struct sg_gpu *gpu)
{
	char name[16];

	snprintf(name, sizeof(name), "%d", gpu->index);
	gpu->debugfs = debugfs_create_file(name, 0444, root, gpu, &gpu_fops);
}

void sg_debugfs_del(struct sg_gpu *gpu)
{
	debugfs_remove(gpu->debugfs);
	gpu->debugfs = NULL;
}
