// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * ctxq: a process with several KFD contexts (KFD 1.19 and later): its primary one, and one for each
 * further open of /dev/kfd that asks for AMDKFD_IOC_CREATE_PROCESS.  All queues are kept busy.
 *
 *   ctxq [-q QUEUES_OF_PRIMARY] [-c CONTEXTS] [-n QUEUES_EACH] [-p PRIORITY] [-t SECONDS] [-k FILE] [-x]
 *
 * FILE gets lines "context queue rptr wptr" (context -1: the primary).  -x: no RUNTIME_ENABLE.
 */
#include "kfdqueue.h"

#ifdef AMDKFD_IOC_CREATE_PROCESS
#define MAX_QUEUES 64

static struct queue queues[MAX_QUEUES];
static int context_of[MAX_QUEUES], n_queues;
static struct gpu gpus[17];

static void add(struct gpu *gpu, int context, uint32_t priority)
{
	queue_create(&queues[n_queues], gpu, AQL, 65536, priority);
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

int main(int argc, char **argv)
{
	int primary = 1, contexts = 1, each = 1, seconds = 3600, o;
	const char *progress = NULL;
	uint32_t priority = 7;
	bool runtime = true;
	struct node node;
	uint64_t end;

	setvbuf(stdout, NULL, _IOLBF, 0);
	while ((o = getopt(argc, argv, "q:c:n:p:t:k:x")) != -1) {
		switch (o) {
		case 'q': primary = atoi(optarg); break;
		case 'c': contexts = atoi(optarg); break;
		case 'n': each = atoi(optarg); break;
		case 'p': priority = (uint32_t)atoi(optarg); break;
		case 't': seconds = atoi(optarg); break;
		case 'k': progress = optarg; break;
		case 'x': runtime = false; break;
		default: return 2;
		}
	}
	errno = ENODEV;
	if (nodes_read(&node, 1) != 1)
		die("GPU");
	for (int c = -1; c < contexts && c < 16; c++) {
		const int fd = open_kfd(c >= 0);
		const int n = c < 0 ? primary : each;

		gpu_open(&gpus[c + 1], fd, &node, false);
		if (runtime)
			enable(fd, c);
		for (int i = 0; i < n && n_queues < MAX_QUEUES; i++)
			add(&gpus[c + 1], c, priority);
	}
	end = now_us() + (uint64_t)seconds * 1000000;
	while (now_us() < end) {
		for (int i = 0; i < n_queues; i++)
			queue_submit(&queues[i], ring_capacity(&queues[i]) - 1 -
						 queue_pending(&queues[i]));
		if (progress)
			tell(progress);
		usleep(20000);
	}
	return 0;
}
#else
int main(void)
{
	errno = EOPNOTSUPP;
	die("CREATE_PROCESS"); /* headers of an older kernel */
}
#endif
