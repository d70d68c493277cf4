// core 'GPU xccs=N abi=N placed=0|1': writes a GPU core of the process of made.h to its output.
//
// The format is that of ROCr's amd_core_dump.cpp: an ELF core of EM_AMDGPU, whose note of type 33
// holds what the KFD debug interface says of the process, its GPUs and its queues.
#include <elf.h>
#include <stdio.h>

#include "tests/waves/made.h"

struct __attribute__((packed)) note {
	Elf64_Nhdr head;
	char owner[8];
	uint64_t version;
	uint32_t kfd_major, kfd_minor;
	uint64_t runtime_size;
	uint32_t gpus, gpu_size, queues, queue_size;
	struct { // struct kfd_runtime_info
		uint64_t r_debug;
		uint32_t state, ttmp_setup;
	} runtime;
	struct { // struct kfd_dbg_device_info_entry
		uint64_t exceptions;
		uint64_t lds_base, lds_limit, scratch_base, scratch_limit, gpuvm_base, gpuvm_limit;
		uint32_t gpu_id, location, vendor, device, revision, subsystem_vendor,
			subsystem_device;
		uint32_t firmware, version;
		uint32_t simds, waves_per_simd, arrays, arrays_per_engine;
		uint32_t xccs, capability, debug_prop;
	} gpu;
	struct { // struct kfd_queue_snapshot_entry
		uint64_t exceptions;
		uint64_t ring, wptr_at, rptr_at, save_area;
		uint32_t id, gpu_id, ring_size, type;
		uint32_t save_area_size, reserved;
	} queue;
};

_Static_assert(sizeof(((struct note *)0)->gpu) == 120 && sizeof(((struct note *)0)->queue) == 64,
	       "as the driver has them");

static struct note note_of(const struct made *m)
{
	struct note n = {
		.head = {7, sizeof(n) - sizeof(n.head) - sizeof(n.owner), 33},
		.owner = "AMDGPU",
		.version = 1,
		.kfd_major = 1,
		.kfd_minor = 18,
		.runtime_size = sizeof(n.runtime),
		.gpus = 1,
		.gpu_size = sizeof(n.gpu),
		.queues = 1,
		.queue_size = sizeof(n.queue),
		.runtime = {MADE_BASE + MADE_DEBUG, 1, 0},
		.gpu = {.lds_base = UINT64_C(1) << 48,
			.lds_limit = (UINT64_C(1) << 48) + UINT32_MAX,
			.scratch_base = UINT64_C(2) << 48,
			.scratch_limit = (UINT64_C(2) << 48) + UINT32_MAX,
			.gpu_id = 4711,
			.vendor = 0x1002,
			.device = 0x74a1,
			.firmware = 200,
			.version = m->gpu->version,
			.simds = 64,
			.waves_per_simd = 16,
			.arrays = 8,
			.arrays_per_engine = 1,
			.xccs = m->xccs,
			.capability = 0x20008000, // debugger, and its firmware
			.debug_prop = m->placed ? 0x400 : 0},
		.queue = {.ring = MADE_BASE + MADE_RING,
			  .wptr_at = MADE_BASE + MADE_QUEUE + 56,
			  .rptr_at = MADE_BASE + MADE_QUEUE + 128,
			  .save_area = MADE_BASE + MADE_AREAS,
			  .id = 1,
			  .gpu_id = 4711,
			  .ring_size = MADE_PACKETS * 64,
			  .type = 2, // AQL
			  .save_area_size = MADE_AREA_SIZE},
	};
	return n;
}

static bool write_core(const struct made *m, FILE *f)
{
	const struct note note = note_of(m);
	const size_t size = MADE_AREAS + (size_t)m->xccs * MADE_AREA_SIZE;
	struct {
		Elf64_Ehdr elf;
		Elf64_Phdr note, memory;
	} head = {.elf = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
				      EV_CURRENT, 64},
			  .e_type = ET_CORE,
			  .e_machine = 224,
			  .e_version = EV_CURRENT,
			  .e_phoff = sizeof(head.elf),
			  .e_ehsize = sizeof(head.elf),
			  .e_phentsize = sizeof(Elf64_Phdr),
			  .e_phnum = 2},
		  .note = {.p_type = PT_NOTE,
			   .p_offset = sizeof(head),
			   .p_filesz = sizeof(note),
			   .p_memsz = sizeof(note)},
		  .memory = {.p_type = PT_LOAD,
			     .p_flags = PF_R | PF_W,
			     .p_offset = sizeof(head) + sizeof(note),
			     .p_vaddr = MADE_BASE,
			     .p_filesz = size,
			     .p_memsz = size}};
	return fwrite(&head, sizeof(head), 1, f) == 1 && fwrite(&note, sizeof(note), 1, f) == 1 &&
	       fwrite(made_memory, size, 1, f) == 1 && !fflush(f);
}

int main(int argc, char **argv)
{
	struct made m;
	if (argc != 2 || !made_parse(argv[1], &m)) {
		(void)fprintf(stderr, "core 'GPU xccs=N abi=N placed=0|1'\n");
		return 2;
	}
	made_make(&m);
	return write_core(&m, stdout) ? 0 : 1;
}
