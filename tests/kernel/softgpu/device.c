// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * softgpu: one GPU from probe to removal, and its reset.
 */
#include <linux/pci.h>
#include <linux/set_memory.h>
#include <drm/drm_drv.h>
#include "softgpu.h"

#define KERNEL_ADDRESS_BASE 0x00007fff00000000ULL
#define DOORBELL_PAGES      (1 << SG_DOORBELL_ORDER)
#define KFD_VMIDS           0xff00

/* What amdgpu's recovery does around KFD; KFD asks for it after a preemption failed. */
static void reset_work(struct work_struct *work)
{
	struct sg_gpu *gpu = container_of(work, struct sg_gpu, reset_work);
	struct amdgpu_reset_context context = {.reset_req_dev = gpu->adev};

	dev_info(gpu->adev->dev, "softgpu: reset begin\n");
	down_write(&gpu->adev->reset_domain->sem);
	kgd2kfd_pre_reset(gpu->adev->kfd.dev, &context);
	sg_cp_forget(gpu);
	kgd2kfd_post_reset(gpu->adev->kfd.dev);
	up_write(&gpu->adev->reset_domain->sem);
	dev_info(gpu->adev->dev, "softgpu: reset end\n");
}

void amdgpu_amdkfd_gpu_reset(struct amdgpu_device *adev)
{
	queue_work(adev->reset_domain->wq, &sg_from_adev(adev)->reset_work);
}

static int reset_domain_new(struct amdgpu_device *adev)
{
	adev->reset_domain = kzalloc(sizeof(*adev->reset_domain), GFP_KERNEL);
	if (!adev->reset_domain)
		return -ENOMEM;
	init_rwsem(&adev->reset_domain->sem);
	adev->reset_domain->wq = alloc_ordered_workqueue("softgpu-reset", 0);
	return adev->reset_domain->wq ? 0 : -ENOMEM;
}

static void reset_domain_free(struct amdgpu_device *adev)
{
	if (!adev->reset_domain)
		return;
	if (adev->reset_domain->wq)
		destroy_workqueue(adev->reset_domain->wq);
	kfree(adev->reset_domain);
}

/* The doorbell aperture is RAM.  KFD maps it to users uncached, so the kernel must as well. */
static int doorbells_new(struct sg_gpu *gpu)
{
	const gfp_t flags = GFP_KERNEL | __GFP_ZERO | __GFP_COMP;

	gpu->doorbells = (void *)__get_free_pages(flags, SG_DOORBELL_ORDER);
	if (!gpu->doorbells)
		return -ENOMEM;
	return set_memory_uc((unsigned long)gpu->doorbells, DOORBELL_PAGES);
}

static void doorbells_free(struct sg_gpu *gpu)
{
	if (!gpu->doorbells)
		return;
	set_memory_wb((unsigned long)gpu->doorbells, DOORBELL_PAGES);
	free_pages((unsigned long)gpu->doorbells, SG_DOORBELL_ORDER);
}

static int start_kfd(struct sg_gpu *gpu)
{
	struct amdgpu_device *adev = gpu->adev;
	struct kgd2kfd_shared_resources shared = {
		.compute_vmid_bitmap = KFD_VMIDS,
		.num_pipe_per_mec = SG_PIPES,
		.num_queue_per_pipe = SG_QUEUES,
		.gpuvm_size = AMDGPU_GMC_HOLE_START,
		.drm_render_minor = adev_to_drm(adev)->render->index,
		.sdma_doorbell_idx = adev->doorbell_index.sdma_engine,
		.non_cp_doorbells_start = adev->doorbell_index.first_non_cp,
		.non_cp_doorbells_end = adev->doorbell_index.last_non_cp,
		.doorbell_physical_address = adev->doorbell.base,
		.doorbell_aperture_size = adev->doorbell.size,
		.enable_mes = adev->enable_mes,
	};
	int i;

	for (i = 0; i < SG_PIPES * SG_QUEUES; i++)
		if (i % SG_QUEUES >= SG_FIRST_USER_Q)
			set_bit(i, shared.cp_queue_bitmap);
	adev->kfd.dev = kgd2kfd_probe(adev, false);
	if (adev->kfd.dev)
		adev->kfd.init_complete = kgd2kfd_device_init(adev->kfd.dev, &shared);
	if (adev->kfd.init_complete)
		return 0;
	dev_err(adev->dev, "softgpu: amdkfd of this kernel does not know %s\n", gpu->model->name);
	return -ENODEV;
}

/* Also cleans up after a probe that failed half-way. */
static void gpu_fini(struct sg_gpu *gpu)
{
	struct amdgpu_device *adev = gpu->adev;

	sg_debugfs_del(gpu);
	cancel_work_sync(&gpu->reset_work);
	if (adev->kfd.dev)
		kgd2kfd_device_exit(adev->kfd.dev);
	if (adev_to_drm(adev)->registered)
		drm_dev_unregister(adev_to_drm(adev));
	sg_cp_stop(gpu);
	reset_domain_free(adev);
	kvfree(adev->xcp_mgr);
	doorbells_free(gpu);
}

static int gpu_init(struct sg_gpu *gpu)
{
	int err = doorbells_new(gpu);

	if (!err)
		err = sg_fill_adev(gpu, gpu->adev);
	if (!err)
		err = reset_domain_new(gpu->adev);
	if (!err)
		err = sg_cp_start(gpu);
	if (!err)
		err = drm_dev_register(adev_to_drm(gpu->adev), 0);
	if (!err)
		err = start_kfd(gpu);
	if (!err)
		sg_debugfs_add(gpu);
	return err;
}

static struct sg_gpu *gpu_new(struct pci_dev *pdev, const struct sg_model *model)
{
	struct sg_gpu *gpu = devm_kzalloc(&pdev->dev, sizeof(*gpu), GFP_KERNEL);

	if (!gpu)
		return NULL;
	gpu->index = PCI_SLOT(pdev->devfn);
	gpu->model = model;
	mutex_init(&gpu->lock);
	INIT_LIST_HEAD(&gpu->hiqs);
	INIT_LIST_HEAD(&gpu->queues);
	xa_init(&gpu->ring_stats);
	spin_lock_init(&gpu->mem_lock);
	INIT_LIST_HEAD(&gpu->kernel_bos);
	gpu->next_addr = KERNEL_ADDRESS_BASE;
	INIT_WORK(&gpu->reset_work, reset_work);
	return gpu;
}

static int probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	const struct sg_model *model = sg_bus_model(pdev);
	struct amdgpu_device *adev;
	struct sg_gpu *gpu;
	int err;

	if (!model)
		return -ENODEV; /* a real card: not ours to touch */
	gpu = gpu_new(pdev, model);
	if (!gpu)
		return -ENOMEM;
	adev = devm_drm_dev_alloc(&pdev->dev, &sg_drm_driver, struct amdgpu_device, ddev);
	if (IS_ERR(adev))
		return PTR_ERR(adev);
	adev->pdev = pdev;
	adev->dev = &pdev->dev;
	gpu->adev = adev;
	pci_set_drvdata(pdev, gpu);
	err = gpu_init(gpu);
	if (err)
		gpu_fini(gpu);
	return err;
}

static void remove(struct pci_dev *pdev)
{
	gpu_fini(pci_get_drvdata(pdev));
}

static const struct pci_device_id ids[] = {
	{PCI_DEVICE(PCI_VENDOR_ID_ATI, PCI_ANY_ID)},
	{},
};

struct pci_driver sg_pci_driver = {
	.name = "amdgpu",
	.id_table = ids,
	.probe = probe,
	.remove = remove,
};
