// Device code of check-gpu, by hipq -C: each work-item counts itself, once, after p[1] pauses of some 8,000 clocks.
extern "C" __attribute__((global)) void count(unsigned long *p)
{
	for (unsigned long i = 0; i < p[1]; i++)
		__builtin_amdgcn_s_sleep(127);
	__hip_atomic_fetch_add(p, 1, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
