// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * ctxq: a process with several KFD contexts (KFD 1.19 and later): its primary one, and one for each
 * further open of /dev/kfd that asks for AMDKFD_IOC_CREATE_PROCESS.  Each acquires all GPUs, its
 * queues are on the first.  All are kept busy.
 *
 *   ctxq [-q QUEUES_OF_PRIMARY] [-c CONTEXTS] [-n QUEUES_EACH] [-p PRIORITIES] [-r RING_SIZES] [-s]
 *        [-d] [-f] [-x] [-t SECONDS] [-k FILE]
 *
 * PRIORITIES and RING_SIZES are lists, taken in turn.  -s: an SDMA queue in each context, too.
 * -d: at the end the primary's first queue is destroyed and another made, which gets its id; so
 * ids are not in the order of creation.  -f: only the first GPU is acquired.  -x: no
 * RUNTIME_ENABLE. FILE gets lines "context queue rptr wptr" (context -1: the primary).
 */
#include "kfdqueue.h"

#define MAX_QUEUES   64
#define MAX_CONTEXTS 16

static struct {
	int primary, contexts, each, seconds;
	const char *priorities, *rings, *progress;
	bool sdma, again, few, no_runtime;
} opt = {.primary = 1,
	 .contexts = 1,
	 .each = 1,
	 .seconds = 3600,
	 .priorities = "7",
	 .rings = "65536"};

static struct queue queues[MAX_QUEUES];
static int context_of[MAX_QUEUES], n_queues, n_nodes;
static struct gpu gpus[MAX_CONTEXTS + 1][MAX_NODES];
static struct node nodes[MAX_NODES];

/* The next number of a list, which starts anew at its end. */
static uint32_t next_of(const char *list, const char **at)
{
	uint32_t value;
	char *end;
	if (!*at || !**at)
		*at = list;
	errno = EINVAL;
	value = (uint32_t)strtoul(*at, &end, 0);
	if (end == *at)
		die("%s", list);
	*at = *end == ',' ? end + 1 : end;
	return value;
}

static void make(struct queue *queue, int context, enum kind kind)
{
	static const char *priority, *ring;
	queue_create(queue, &gpus[context + 1][0], kind, next_of(opt.rings, &ring),
		     next_of(opt.priorities, &priority));
	printf("ctxq %d: context %d has queue %u\n", getpid(), context, queue->id);
}

static void add(int context, enum kind kind)
{
	if (n_queues == MAX_QUEUES)
		return;
	make(&queues[n_queues], context, kind);
	context_of[n_queues++] = context;
}

static int open_kfd(bool secondary)
{
	int fd = open("/dev/kfd", O_RDWR | O_CLOEXEC);
	if (fd < 0)
		die("/dev/kfd");
	if (secondary && ioctl(fd, AMDKFD_IOC_CREATE_PROCESS, NULL))
		die("CREATE_PROCESS");
	return fd;
}

static void enable(int fd, int context)
{
	struct kfd_ioctl_runtime_enable_args args = {
		.r_debug = 0x1000,
		.mode_mask = KFD_RUNTIME_ENABLE_MODE_ENABLE_MASK |
			     KFD_RUNTIME_ENABLE_MODE_TTMP_SAVE_MASK,
	};
	int err = ioctl(fd, AMDKFD_IOC_RUNTIME_ENABLE, &args) ? errno : 0;
	printf("ctxq %d: context %d RUNTIME_ENABLE -> %s\n", getpid(), context,
	       err ? strerrorname_np(err) : "0");
}

static void context_start(int context)
{
	const int fd = open_kfd(context >= 0), n = context < 0 ? opt.primary : opt.each;
	for (int i = 0; i < (opt.few ? 1 : n_nodes); i++)
		gpu_open(&gpus[context + 1][i], fd, &nodes[i], false);
	if (!opt.no_runtime)
		enable(fd, context);
	for (int i = 0; i < n; i++)
		add(context, AQL);
	if (opt.sdma)
		add(context, SDMA);
}

static void first_again(void)
{
	struct kfd_ioctl_destroy_queue_args args = {.queue_id = queues[0].id};
	if (ioctl(queues[0].gpu->kfd, AMDKFD_IOC_DESTROY_QUEUE, &args))
		die("DESTROY_QUEUE");
	printf("ctxq %d: context -1 has destroyed queue %u\n", getpid(), args.queue_id);
	make(&queues[0], -1, AQL);
}

static void tell(const char *path)
{
	char fresh[256];
	FILE *f;
	snprintf(fresh, sizeof(fresh), "%s.new", path);
	f = fopen(fresh, "we");
	if (!f)
		die("%s", path);
	for (int i = 0; i < n_queues; i++)
		fprintf(f, "%d %u %llu %llu\n", context_of[i], queues[i].id,
			(unsigned long long)*queues[i].read_index,
			(unsigned long long)*queues[i].write_index);
	fclose(f);
	rename(fresh, path);
}

static bool parse(int argc, char **argv)
{
	int o;
	while ((o = getopt(argc, argv, "q:c:n:p:r:t:k:sdfx")) != -1) {
		switch (o) {
		case 'q': opt.primary = atoi(optarg); break;
		case 'c': opt.contexts = atoi(optarg); break;
		case 'n': opt.each = atoi(optarg); break;
		case 'p': opt.priorities = optarg; break;
		case 'r': opt.rings = optarg; break;
		case 't': opt.seconds = atoi(optarg); break;
		case 'k': opt.progress = optarg; break;
		case 's': opt.sdma = true; break;
		case 'd': opt.again = true; break;
		case 'f': opt.few = true; break;
		case 'x': opt.no_runtime = true; break;
		default: return false;
		}
	}
	return opt.contexts <= MAX_CONTEXTS;
}

int main(int argc, char **argv)
{
	uint64_t end;
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (!parse(argc, argv))
		return 2;
	n_nodes = nodes_read(nodes, MAX_NODES);
	errno = ENODEV;
	if (!n_nodes)
		die("GPU");
	for (int c = -1; c < opt.contexts; c++)
		context_start(c);
	if (opt.again)
		first_again();
	end = now_us() + (uint64_t)opt.seconds * 1000000;
	while (now_us() < end) {
		for (int i = 0; i < n_queues; i++)
			queue_submit(&queues[i],
				     ring_capacity(&queues[i]) - 1 - queue_pending(&queues[i]));
		if (opt.progress)
			tell(opt.progress);
		usleep(20000);
	}
	return 0;
}
