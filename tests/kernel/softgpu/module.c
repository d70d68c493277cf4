// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * softgpu: the module: its parameters, and the order in which the parts come and go.
 */
#include <linux/module.h>
#include <linux/pci.h>
#include "softgpu.h"

static char *gpus = "gfx942";
module_param(gpus, charp, 0444);
MODULE_PARM_DESC(gpus, "models, separated by commas, at most 8; empty for none: gfx942 gfx942x4 "
		       "gfx942x8 gfx942cpx gfx950 gfx90a gfx908 gfx906 gfx1030 gfx1100 gfx1100old "
		       "gfx1151 gfx1201");

/* amdkfd's own tunables, with the names and defaults that amdgpu_drv.c gives them. */
int sched_policy = KFD_SCHED_POLICY_HWS;
module_param(sched_policy, int, 0444);
int hws_max_conc_proc = -1;
module_param(hws_max_conc_proc, int, 0444);
int cwsr_enable = 1;
module_param(cwsr_enable, int, 0444);
int max_num_of_queues_per_device = KFD_MAX_NUM_OF_QUEUES_PER_DEVICE_DEFAULT;
module_param(max_num_of_queues_per_device, int, 0444);
int send_sigterm;
module_param(send_sigterm, int, 0444);
int halt_if_hws_hang;
module_param(halt_if_hws_hang, int, 0644);
bool hws_gws_support;
module_param(hws_gws_support, bool, 0444);
int queue_preemption_timeout_ms = 9000;
module_param(queue_preemption_timeout_ms, int, 0644);
bool debug_evictions;
module_param(debug_evictions, bool, 0644);
int amdgpu_no_queue_eviction_on_vm_fault;
module_param_named(no_queue_eviction_on_vm_fault, amdgpu_no_queue_eviction_on_vm_fault, int, 0444);
int amdgpu_use_xgmi_p2p = 1;
module_param_named(use_xgmi_p2p, amdgpu_use_xgmi_p2p, int, 0444);

/* Variables of amdgpu that amdkfd reads. */
int amdgpu_exp_hw_support, amdgpu_emu_mode;
uint amdgpu_sdma_phase_quantum = 32;
u64 amdgpu_amdkfd_total_mem_size;
const char *amdgpu_asic_name[] = {
	[0 ... CHIP_LAST] = "SOFTGPU",
	[CHIP_VEGA20] = "VEGA20",
	[CHIP_ARCTURUS] = "ARCTURUS",
	[CHIP_ALDEBARAN] = "ALDEBARAN",
	[CHIP_SIENNA_CICHLID] = "SIENNA_CICHLID",
	[CHIP_IP_DISCOVERY] = "IP DISCOVERY",
};

static int __init softgpu_init(void)
{
	int err;

	sg_debugfs_init();
	err = kgd2kfd_init();
	if (err)
		goto no_kfd;
	err = pci_register_driver(&sg_pci_driver);
	if (err)
		goto no_driver;
	err = sg_bus_add(gpus);
	if (err)
		goto no_bus;
	return 0;
no_bus:
	pci_unregister_driver(&sg_pci_driver);
no_driver:
	kgd2kfd_exit();
no_kfd:
	sg_debugfs_fini();
	return err;
}

static void __exit softgpu_exit(void)
{
	sg_bus_remove();
	pci_unregister_driver(&sg_pci_driver);
	kgd2kfd_exit();
	sg_debugfs_fini();
}

module_init(softgpu_init);
module_exit(softgpu_exit);
MODULE_LICENSE("GPL and additional rights");
MODULE_DESCRIPTION("amdkfd over a software GPU (test rig)");
SG_IMPORT_NS(DMA_BUF);
