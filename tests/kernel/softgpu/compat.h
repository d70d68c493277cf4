/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * softgpu: the kernels it is built for.
 *
 * What amdkfd of Linux 7 asks of amdgpu differs from 6.12 in names, in a few arguments and in who
 * gives out PASIDs.  Names and arguments are told apart here, where one line does.
 */
#pragma once

#include <linux/version.h>

#define SG_LINUX_7 (LINUX_VERSION_CODE >= KERNEL_VERSION(7, 0, 0))

#if SG_LINUX_7
#define SG_XCC_ARG , u32 xcc /* MES commands say for which XCC they are */
#define SG_DOMAIN_ARG , u32 domain
#define SG_METADATA void **
#define amdgpu_amdkfd_alloc_gtt_mem amdgpu_amdkfd_alloc_kernel_mem
#define amdgpu_amdkfd_free_gtt_mem amdgpu_amdkfd_free_kernel_mem
#define amdgpu_amdkfd_gpuvm_map_gtt_bo_to_kernel amdgpu_amdkfd_gpuvm_map_bo_to_kernel
#define amdgpu_amdkfd_gpuvm_unmap_gtt_bo_from_kernel amdgpu_amdkfd_gpuvm_unmap_bo_from_kernel
#define SG_IMPORT_NS(ns) MODULE_IMPORT_NS(#ns)
#define SG_PROCESS_OF(pasid) kfd_lookup_process_by_pasid(pasid, NULL)
#else
#define SG_XCC_ARG
#define SG_DOMAIN_ARG
#define SG_METADATA void *
#define SG_IMPORT_NS(ns) MODULE_IMPORT_NS(ns)
#define SG_PROCESS_OF(pasid) kfd_lookup_process_by_pasid(pasid)
#endif
