// The GPUs that KFD knows, from /sys/class/kfd/kfd/topology (on a live or a recorded host).
//
// Facts: [kfd.topology]. No device is opened. Only gpu_id and properties are read unless more is
// asked for.
#pragma once

#include "common/kfd/abi.h"

// A number that the host did not tell. Output shows this value as null.
#define KFD_UNKNOWN UINT64_MAX
// VMIDs 8 to 15 are KFD's, one for each process that runs (kernel: compute_vmid_bitmap in
// amdgpu_amdkfd.c).
#define KFD_VMIDS 8

// Both bits of `capability` that a GPU needs for suspending queues.
#define KFD_CAP_DEBUG (KFD_CAP_TRAP_DEBUG | KFD_CAP_DEBUG_FIRMWARE)

// Lines of a node's properties file: member of struct kfd_gpu, name in the file. Kernels differ in
// which lines they print, so lines are found by name, not by position.
#define KFD_PROPERTIES(X)                                                                        \
	X(simd_count, "simd_count") /* of all XCCs together */                                   \
	X(simd_per_cu, "simd_per_cu")                                                            \
	X(array_count, "array_count")                                                            \
	X(simd_arrays_per_engine, "simd_arrays_per_engine")                                      \
	X(lds_size_kb, "lds_size_in_kb")                                                         \
	X(wave_front_size, "wave_front_size")                                                    \
	X(gfx_target_version, "gfx_target_version") /* major * 10000 + minor * 100 + stepping */ \
	X(vendor_id, "vendor_id")                                                                \
	X(device_id, "device_id")                                                                \
	X(location_id, "location_id")                                                            \
	X(domain, "domain")                                                                      \
	X(render_minor, "drm_render_minor")   /* N of /dev/dri/renderD<N> */                     \
	X(hive_id, "hive_id")                 /* 0: in no XGMI hive */                           \
	X(sdma_engines, "num_sdma_engines")   /* PCIe engines: queues of type sdma */            \
	X(sdma_xgmi, "num_sdma_xgmi_engines") /* XGMI engines: type sdma-xgmi */                 \
	X(sdma_queues, "num_sdma_queues_per_engine")                                             \
	X(cp_queues, "num_cp_queues") /* compute slots (HQDs) of KFD, per XCC */                 \
	X(mec_fw, "fw_version")       /* compute firmware */                                     \
	X(sdma_fw, "sdma_fw_version")                                                            \
	X(capability, "capability")          /* KFD_CAP_... (abi.h) */                           \
	X(debug_prop, "debug_prop")          /* HSA_DBG_... bits */                              \
	X(unique_id, "unique_id")            /* serial number of the board; 0: none */           \
	X(num_xcc, "num_xcc")                /* accelerator complexes of this node */            \
	X(cwsr_bytes, "cwsr_size")           /* size of a queue's wave save area, per XCC */     \
	X(ctl_stack_bytes, "ctl_stack_size") /* the control stack's part of cwsr_bytes */        \
	X(max_engine_mhz, "max_engine_clk_fcompute") /* greatest engine clock */                 \
	X(local_mem_bytes, "local_mem_size") /* 0 on discrete GPUs: theirs is in mem_banks */
#define KFD_PROPERTY_MEMBER(member, name) uint64_t member;

// A GPU node; each partition of a GPU is one. Unknown numbers are KFD_UNKNOWN, texts empty.
struct kfd_gpu {
	uint64_t index;  // number from 0 among the readable GPUs, as the HSA runtime counts them
	uint64_t node;   // number of the topology node
	uint64_t gpu_id; // KFD's id of the GPU: sysfs prints it decimal, debugfs hexadecimal

	KFD_PROPERTIES(KFD_PROPERTY_MEMBER)

	// Members derived from the properties.
	uint64_t cus;       // compute units of all XCCs together
	bool slots_guessed; // cp_queues was of all XCCs together: gpq divided it [kfd.slots]
	bool cwsr_computed; // gpq computed cwsr_bytes, which drivers before 6.12 do not tell
	int8_t can_suspend; // 1: queues can be taken off this GPU; 0: not; -1: unknown
	char gfx[12];       // name of the instruction set, "gfx90a"
	char bdf[24];       // PCI address, "0000:0a:00.0"; partitions have that of their device
	bool bdf_of_device; // false: `bdf` is from location_id and may have a partition's number

	// Members read on request only (KFD_TOPOLOGY_...).
	uint64_t vram_bytes; // KFD_TOPOLOGY_MEMORY: the GPU's own memory
	char name[64];       // KFD_TOPOLOGY_NAME: "aldebaran"; "ip discovery" on newer GPUs

	int error;              // errno of reading the node; EPERM: by the device cgroup; 0: none
	const char *error_file; // the file of the node that could not be read
	unsigned bad_lines;     // lines of properties that are not "name value"
	unsigned good_lines;    // lines of properties that are "name value"

	bool selected; // kfd_topology_select() chose the GPU
};

struct kfd_topology {
	struct kfd_gpu *gpus; // sorted by node; freed by kfd_topology_fini()
	size_t n, cap;
	size_t cpu_nodes;
};

// What kfd_topology_load() reads besides gpu_id and properties.
enum {
	KFD_TOPOLOGY_BDF = 1,    // true PCI address, from the render node's link `device`
	KFD_TOPOLOGY_NAME = 2,   // name, from nodes/<n>/name
	KFD_TOPOLOGY_MEMORY = 4, // vram_bytes, from nodes/<n>/mem_banks/*/properties
};

// Reads all GPU nodes; every GPU is selected. Returns 0, or -errno when there is no topology
// (-ENOENT: no KFD driver). A node that cannot be read, or vanishes meanwhile, is no failure.
int kfd_topology_load(struct kfd_topology *t, unsigned what);
void kfd_topology_fini(struct kfd_topology *t);

// False when KFD knows no GPU. From Linux 7.x on opening /dev/kfd then fails with EINVAL, as if the
// driver were locked [kfd.open-errors].
bool kfd_topology_has_gpu(void);

// Reads how many slots of an XCC the kernel keeps for queues of its own: amdgpu.num_kcq, 0 to 8, or
// the default, 8, in place of -1 and of what is out of range [kfd.slots]. KFD_UNKNOWN: unreadable.
uint64_t kfd_num_kcq(void);

// True if the MES firmware maps the GPU's queues, by a command for each (gfx11 and later); false if
// the HWS firmware does, by runlist, or if the gfx version is unknown.
bool kfd_gpu_uses_mes(const struct kfd_gpu *g);

// The GPU with this gpu_id, or NULL.
struct kfd_gpu *kfd_topology_find(const struct kfd_topology *t, uint64_t gpu_id);

// Selects the GPUs that `words` name, as --gpu takes them: an index, else a gpu_id (decimal or
// hexadecimal), else a PCI address (all partitions of that device; domain 0000 may be left out),
// else its DRM device ("renderD128", "card0").
// n = 0 selects all. Returns NULL, or the first word that names no GPU.
const char *kfd_topology_select(struct kfd_topology *t, char *const *words, size_t n);

// Parses a decimal number below KFD_UNKNOWN, which a newline or the end of the text must follow.
bool kfd_parse_number(const char *s, const char *end, uint64_t *value);

// Parses a folder's name that is a decimal number below 2^31, as the kernel writes it: not "007".
bool kfd_parse_id(const char *name, uint32_t *id);

// ---- properties.c: parses the texts of these files, for topology.c, tests and fuzzing

void kfd_gpu_init(struct kfd_gpu *g); // all values unknown

// Sets members from the "name value" lines of a properties file, in any order. Skips unknown names.
void kfd_gpu_parse(struct kfd_gpu *g, const char *text, size_t len);

// Computes the derived members from the parsed ones; bdf comes from location_id.
void kfd_gpu_derive(struct kfd_gpu *g);

// Bytes of the GPU's own memory by one mem_banks/<n>/properties text; 0: the bank is other memory.
uint64_t kfd_bank_bytes(const char *text, size_t len);
