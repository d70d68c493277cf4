// libFuzzer target: properties and mem_banks files of a topology node (common/kfd/properties.c).
#include "common/kfd/topology.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct kfd_gpu g;
	kfd_gpu_init(&g);
	kfd_gpu_parse(&g, (const char *)data, size);
	kfd_gpu_derive(&g);
	(void)kfd_bank_bytes((const char *)data, size);
	// Texts end inside of their arrays, and sizes come in pairs.
	if (!memchr(g.gfx, '\0', sizeof(g.gfx)) || !memchr(g.bdf, '\0', sizeof(g.bdf)))
		__builtin_trap();
	if (g.cwsr_computed && (g.cwsr_bytes < g.ctl_stack_bytes || g.cwsr_bytes == KFD_UNKNOWN))
		__builtin_trap();
	return 0;
}
