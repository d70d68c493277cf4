// libFuzzer target: GPU cores (common/waves/core.c). What is read is written and read again as the
// same; all memory that a segment names can be read or is nowhere; what its queues call save areas
// is read as such.
#include "common/waves/core.h"
#include "tests/fuzz/require.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int memory_file(const void *bytes, size_t size)
{
	const int fd = memfd_create("core", MFD_CLOEXEC);
	require(fd >= 0 && (!size || pwrite(fd, bytes, size, 0) == (ssize_t)size));
	return fd;
}

static int put(void *to, const void *bytes, size_t size)
{
	return write(*(int *)to, bytes, size) == (ssize_t)size ? 0 : -1;
}

static void check_same(const struct core *a)
{
	struct core b;
	int fd = memory_file(NULL, 0);
	const struct core_io io = {.put = put, .to = &fd};
	require(!core_write(&io, &a->state, NULL, 0));
	require(lseek(fd, 0, SEEK_CUR) == (off_t)core_size(&a->state, NULL, 0));
	require(!core_open(&b, fd));
	require(a->state.num_gpus == b.state.num_gpus && a->state.num_queues == b.state.num_queues);
	require(memcmp(&a->state.kfd, &b.state.kfd, sizeof(b.state.kfd)) == 0);
	require(memcmp(&a->state.runtime, &b.state.runtime, sizeof(b.state.runtime)) == 0);
	require(memcmp(a->state.gpus, b.state.gpus, a->state.num_gpus * sizeof(*b.state.gpus)) ==
		0);
	require(memcmp(a->state.queues, b.state.queues,
		       a->state.num_queues * sizeof(*b.state.queues)) == 0);
	core_close(&b);
}

static void look_at_areas(const struct core *c)
{
	for (uint32_t i = 0; i < c->state.num_queues && i < 4; i++) {
		const struct kfd_queue_entry *q = &c->state.queues[i];
		const struct waves_area a = core_area(&c->state, q, &c->memory);
		struct waves_saved s = {0};
		require(core_xccs(&c->state, q) >= 1);
		if (a.gpu && !waves_read(&s, &a, &c->memory))
			for (size_t k = 0; k < s.n; k++)
				(void)wave_decode(&a, &s.v[k]);
		waves_saved_fini(&s);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct core c;
	uint8_t byte;
	if (core_open(&c, memory_file(data, size))) {
		require(c.fd == -1 && !c.loads && !c.state.gpus && !c.state.queues);
		return 0;
	}
	for (size_t i = 0; i < c.num_loads; i++) {
		const struct core_load *l = &c.loads[i];
		require(!i || l->address - c.loads[i - 1].address >= c.loads[i - 1].size);
		require(l->offset <= size && l->size <= size - l->offset);
		if (!l->size)
			continue;
		require(memory_read(&c.memory, l->address + l->size - 1, &byte, 1));
		require(byte == data[l->offset + l->size - 1]);
	}
	check_same(&c);
	look_at_areas(&c);
	const int image = core_image(&c);
	require(image >= 0 && close(image) == 0);
	core_close(&c);
	return 0;
}
