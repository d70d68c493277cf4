// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * aqlq: AQL and SDMA queues in states that are made on purpose: packets of every kind behind a
 * barrier, queues that wait for each other, for the host, for a copy, for nobody.
 *
 *     aqlq SCENARIO [FILE]   see scenarios[]; prints its queues and "aqlq PID: signal NAME ADDRESS"
 *
 * With FILE signals lie in it: two processes with the same FILE share them, each at its own
 * address. It then sleeps. SIGUSR1 sets the signal "host" to 0, which lets go of what waits for the
 * host.
 */
#include <signal.h>
#include "kfdqueue.h"

struct signal { /* amd_signal_t */
	int64_t kind, value;
	uint64_t mailbox;
	uint32_t event, unused;
	uint64_t times[4];
};
_Static_assert(sizeof(struct signal) == 64, "a signal has 64 bytes");

static struct gpu gpu, others[64];
static struct queue queues[8];
static volatile struct signal *signals;
static int n_signals;
static volatile struct signal *host; /* what the host is to set */

static uint64_t new_signal(const char *name, int64_t value)
{
	volatile struct signal *s = &signals[n_signals++];
	s->kind = 1;
	s->value = value;
	printf("aqlq %d: signal %s 0x%llx\n", getpid(), name, (unsigned long long)(uintptr_t)s);
	if (!strcmp(name, "host"))
		host = s;
	return (uintptr_t)s;
}

static struct queue *new_queue(enum kind kind)
{
	static int n;
	struct queue *queue = &queues[n++];
	queue_create(queue, &gpu, kind, 4096, 7);
	for (int i = 0; kind == AQL && i < 4096 / (int)PACKET; i++)
		*(uint16_t *)(queue->ring + i * (int)PACKET) = 1; /* invalid */
	return queue;
}

/* Writes a packet behind the others, its header last. */
static void put(struct queue *queue, const void *packet)
{
	const uint64_t n = (*queue->write_index)++;
	uint8_t *slot = queue->ring + n * PACKET % queue->ring_size;
	memcpy(slot + 2, (const uint8_t *)packet + 2, PACKET - 2);
	__atomic_store_n((uint16_t *)slot, *(const uint16_t *)packet, __ATOMIC_RELEASE);
}

static void ring(struct queue *queue)
{
	*queue->doorbell = queue->kind == AQL ? *queue->write_index - 1 : *queue->write_index;
}

static void kernel(struct queue *queue, uint16_t header, uint64_t object, uint32_t items,
		   uint64_t completion)
{
	const struct aql_dispatch packet = {.header = header,
					    .setup = 1,
					    .workgroup = {64, 1, 1},
					    .grid = {items, 1, 1},
					    .kernel_object = object,
					    .kernarg = 0x567800,
					    .completion_signal = completion};
	put(queue, &packet);
}

static void dispatch(struct queue *queue, uint32_t items, uint64_t completion)
{
	kernel(queue, 0x0b02, 0x123400, items, completion);
}

struct barrier {
	uint16_t header, format;
	uint32_t unused;
	uint64_t dep[5], unused2, completion;
};

static void barrier(struct queue *queue, uint16_t header, uint64_t dep, uint64_t dep2)
{
	const struct barrier packet = {.header = header, .dep = {dep, dep2}};
	put(queue, &packet);
}

static void barrier_value(struct queue *queue, uint64_t dep, int64_t value, uint32_t compare)
{
	const struct barrier packet = {
		.header = 0x100, .format = 2, .dep = {dep, (uint64_t)value, UINT64_MAX, compare}};
	put(queue, &packet);
}

static void await(struct queue *queue, uint64_t index)
{
	while (*queue->read_index < index)
		usleep(1000);
}

/* ---- scenarios ---- */

static void every(void)
{
	struct queue *q = new_queue(AQL);
	const uint64_t done = new_signal("done", 1), e = new_signal("host", 1);
	struct barrier other = {.header = 0, .format = 9};
	dispatch(q, 4096, done);
	ring(q);
	await(q, 1);
	barrier(q, 0x1503, e, done);
	dispatch(q, 1024, e);
	barrier(q, 0x0005, e, 0);
	barrier_value(q, e, 5, 3);
	put(q, &other);
	(*q->write_index)++; /* a packet that is not written */
	ring(q);
}

static void chain(void)
{
	struct queue *q0 = new_queue(AQL), *q1 = new_queue(AQL);
	const uint64_t a = new_signal("a", 1), e = new_signal("host", 1);
	barrier(q0, 0x1503, a, 0);
	barrier(q1, 0x1503, e, 0);
	dispatch(q1, 640, a);
	ring(q0);
	ring(q1);
}

static void deadlock(void)
{
	struct queue *q0 = new_queue(AQL), *q1 = new_queue(AQL);
	const uint64_t a = new_signal("a", 1), b = new_signal("b", 1);
	barrier(q0, 0x1503, a, 0);
	dispatch(q0, 64, b);
	barrier(q1, 0x1503, b, 0);
	dispatch(q1, 64, a);
	ring(q0);
	ring(q1);
}

/* A queue that waits for a packet behind the one that waits. */
static void alone(void)
{
	struct queue *q = new_queue(AQL);
	const uint64_t a = new_signal("a", 1);
	barrier(q, 0x1503, a, 0);
	dispatch(q, 64, a);
	ring(q);
}

static void unpublished(void)
{
	struct queue *q = new_queue(AQL);
	*q->write_index = 1;
	ring(q);
}

/* The packet is taken; that its kernel still runs only its signal tells. */
static void running(void)
{
	struct queue *q = new_queue(AQL);
	const uint64_t e = new_signal("host", 2);
	dispatch(q, 64, e);
	ring(q);
	await(q, 1);
}

static void idle(void)
{
	struct queue *q = new_queue(AQL);
	dispatch(q, 64, new_signal("done", 1));
	ring(q);
	await(q, 1);
	new_queue(AQL);
}

/* With softgpu's wptr_poll=N the doorbell alone tells of packets. */
static void lost(void)
{
	struct queue *q = new_queue(AQL);
	dispatch(q, 64, 0);
	ring(q);
	await(q, 1);
	dispatch(q, 64, 0);
}

/* With softgpu's aql_errors=Y the GPU refuses the packet; another queue waits behind it. */
static void bad(void)
{
	struct queue *q0 = new_queue(AQL), *q1 = new_queue(AQL);
	const uint64_t a = new_signal("a", 1), noted = new_signal("noted", 0) + 8;
	const struct barrier none = {.header = 0x20};
	/* err_payload_addr of the save area, where the runtime has the driver note exceptions */
	*(uint64_t *)(uintptr_t)(q0->made.ctx_save_restore_address + 24) = noted;
	put(q0, &none);
	dispatch(q0, 64, a);
	barrier(q1, 0x1503, a, 0);
	ring(q0);
	ring(q1);
}

static void sdma(void)
{
	struct queue *q0 = new_queue(AQL), *q1 = new_queue(SDMA);
	const uint64_t a = new_signal("a", 1), e = new_signal("host", 1);
	const uint32_t packets[] = {/* until the signal is 0 */
				    8 | 1u << 31 | 3u << 28, (uint32_t)(e + 8),
				    (uint32_t)((e + 8) >> 32), 0, UINT32_MAX, 0,
				    /* less 1 */
				    10 | 47u << 25, (uint32_t)(a + 8), (uint32_t)((a + 8) >> 32),
				    UINT32_MAX, UINT32_MAX, 0, 0, 0};
	barrier(q0, 0x1503, a, 0);
	memcpy(q1->ring, packets, sizeof(packets));
	*q1->write_index = sizeof(packets);
	ring(q0);
	ring(q1);
}

/* As HIP waits for a stream: the kernel has no signal, the barrier behind it has one. With
 * softgpu's hang_object=0x123400 the kernel hangs. Another queue waits behind the barrier. */
static void hung(void)
{
	struct queue *q0 = new_queue(AQL), *q1 = new_queue(AQL);
	const uint64_t a = new_signal("a", 1);
	const struct barrier wait = {.header = 0x1503, .completion = a};
	dispatch(q0, 64, 0);
	put(q0, &wait);
	barrier(q1, 0x1503, a, 0);
	ring(q0);
	ring(q1);
}

/* The same with a second kernel for the barrier; two kernels without any signal. */
static void hung_two(void)
{
	struct queue *q = new_queue(AQL);
	dispatch(q, 64, 0);
	dispatch(q, 64, 0);
	ring(q);
}

/* A kernel whose own signal tells that it has not ended; another queue waits for it. */
static void hung_signal(void)
{
	struct queue *q0 = new_queue(AQL), *q1 = new_queue(AQL);
	const uint64_t a = new_signal("a", 1);
	dispatch(q0, 64, a);
	barrier(q1, 0x1503, a, 0);
	ring(q0);
	ring(q1);
}

/* The last kernel is taken, and nothing tells whether it has ended. */
static void hung_mute(void)
{
	struct queue *q = new_queue(AQL);
	dispatch(q, 64, 0);
	ring(q);
}

/* Three kernels without the barrier bit run at once, and the second hangs. */
static void hung_older(void)
{
	struct queue *q = new_queue(AQL);
	kernel(q, 0x0a02, 0x111100, 64, new_signal("a", 1));
	kernel(q, 0x0a02, 0x123400, 64, new_signal("b", 1));
	kernel(q, 0x0a02, 0x222200, 64, new_signal("c", 1));
	ring(q);
}

/* Two queues in a row behind a packet that is not written. */
static void behind(void)
{
	struct queue *q0 = new_queue(AQL), *q1 = new_queue(AQL), *q2 = new_queue(AQL);
	const uint64_t a = new_signal("a", 1), b = new_signal("b", 1), e = new_signal("host", 0);
	barrier(q0, 0x1503, e, a);
	barrier(q1, 0x1503, b, 0);
	dispatch(q1, 64, a);
	(*q2->write_index)++;
	dispatch(q2, 64, b);
	ring(q0);
	ring(q1);
	ring(q2);
}

/* A queue behind one whose doorbell is lost. */
static void behind_lost(void)
{
	struct queue *q0 = new_queue(AQL), *q1 = new_queue(AQL);
	const uint64_t a = new_signal("a", 1);
	dispatch(q1, 64, 0);
	ring(q1);
	await(q1, 1);
	barrier(q0, 0x1503, a, 0);
	dispatch(q1, 64, a);
	ring(q0);
}

/* Two processes with one FILE that wait for each other, and a third that waits for the first. */
static void pair(bool second)
{
	struct queue *q = new_queue(AQL);
	const uint64_t a = new_signal("a", 1), b = new_signal("b", 1);
	barrier(q, 0x1503, second ? b : a, 0);
	dispatch(q, 64, second ? a : b);
	ring(q);
}

static void first_of_pair(void)
{
	pair(false);
}

static void second_of_pair(void)
{
	pair(true);
}

static void third(void)
{
	struct queue *q = new_queue(AQL);
	new_signal("a", 1);
	barrier(q, 0x1503, new_signal("b", 1), 0);
	ring(q);
}

static const struct {
	const char *name;
	void (*make)(void);
} scenarios[] = {
	{"hung", hung},
	{"hung-two", hung_two},
	{"hung-signal", hung_signal},
	{"hung-mute", hung_mute},
	{"hung-older", hung_older},
	{"behind", behind},
	{"behind-lost", behind_lost},
	{"every", every},
	{"chain", chain},
	{"deadlock", deadlock},
	{"alone", alone},
	{"unpublished", unpublished},
	{"running", running},
	{"idle", idle},
	{"lost", lost},
	{"bad", bad},
	{"sdma", sdma},
	{"first", first_of_pair},
	{"second", second_of_pair},
	{"third", third},
};
#define N_SCENARIOS (sizeof(scenarios) / sizeof(scenarios[0]))

static void let_go(int number)
{
	(void)number;
	if (host)
		host->value = 0;
}

/* A page of a file that others may have mapped, for CPU and GPU, at an address of its own. */
static void *shared_page(const char *path)
{
	const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	void *space = mmap(NULL, ((size_t)getpid() % 64 + 1) * PAGE, PROT_NONE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void *p = fd < 0 || space == MAP_FAILED || ftruncate(fd, 2 * PAGE)
			  ? MAP_FAILED
			  : mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, PAGE);
	struct kfd_ioctl_alloc_memory_of_gpu_args args = {
		.va_addr = (uintptr_t)p,
		.size = PAGE,
		.mmap_offset = (uintptr_t)p,
		.gpu_id = gpu.node.gpu_id,
		.flags = KFD_IOC_ALLOC_MEM_FLAGS_WRITABLE | KFD_IOC_ALLOC_MEM_FLAGS_COHERENT |
			 KFD_IOC_ALLOC_MEM_FLAGS_NO_SUBSTITUTE | KFD_IOC_ALLOC_MEM_FLAGS_USERPTR,
	};
	if (p == MAP_FAILED || ioctl(gpu.kfd, AMDKFD_IOC_ALLOC_MEMORY_OF_GPU, &args))
		die("%s", path);
	map_to_gpu(&gpu, args.handle);
	return p;
}

static void start(const char *shared)
{
	struct kfd_ioctl_runtime_enable_args args = {
		.r_debug = 0x1000,
		.mode_mask = KFD_RUNTIME_ENABLE_MODE_ENABLE_MASK |
			     KFD_RUNTIME_ENABLE_MODE_TTMP_SAVE_MASK,
	};
	struct node nodes[64];
	const int found = nodes_read(nodes, 64);
	const int kfd = open("/dev/kfd", O_RDWR | O_CLOEXEC);
	if (kfd < 0 || !found)
		die("/dev/kfd");
	gpu_open(&gpu, kfd, &nodes[0], false);
	gpu.vram_rings = getenv("AQLQ_VRAM_RINGS") != NULL;
	for (int i = 1; i < found; i++)
		gpu_open(&others[i], kfd, &nodes[i], false);
	if (ioctl(kfd, AMDKFD_IOC_RUNTIME_ENABLE, &args))
		die("RUNTIME_ENABLE");
	signals = shared ? shared_page(shared) : gpu_memory(&gpu, PAGE);
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	signal(SIGUSR1, let_go);
	for (size_t i = 0; argc > 1 && i < N_SCENARIOS; i++) {
		if (strcmp(argv[1], scenarios[i].name))
			continue;
		start(argv[2]);
		scenarios[i].make();
		printf("aqlq %d: ready\n", getpid());
		for (;;)
			pause();
	}
	fprintf(stderr, "aqlq: no such scenario\n");
	return 2;
}
