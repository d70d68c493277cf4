// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * silent: a process with queues of which a page lies on a file system whose server does not
 * answer, or late. Started as root, as fusermount3 mounts for users; the process itself is uid 1000.
 *
 *     silent DIR MS WHAT [UID]     MS: until the server answers a read, 0: never
 *
 * WHAT: indices (of its queue), signal (that the next packet waits for), file (a mapped
 * libhsa-runtime64, which answers neither open nor read). It prints "silent PID: ready" and sleeps.
 * The end of its server, "silent-server", lets go of everybody.
 */
#include <linux/fuse.h>
#include <pthread.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include "kfdqueue.h"

static uint8_t *content; /* of the file, shared with the server */
static int delay_ms;
static bool deaf; /* not even open is answered */

/* ---- the server ---- */

struct request {
	struct fuse_in_header head;
	char body[1 << 17];
};

static void answer(int fd, uint64_t unique, int error, const void *data, size_t len)
{
	struct {
		struct fuse_out_header head;
		char body[PAGE * 33];
	} out = {.head = {sizeof(out.head) + (uint32_t)len, error, unique}};

	if (len)
		memcpy(out.body, data, len);
	if (write(fd, &out, out.head.len) < 0)
		return;
}

static struct fuse_attr attr(uint64_t node)
{
	return (struct fuse_attr){.ino = node,
				  .size = node == 1 ? 0 : PAGE,
				  .blocks = 8,
				  .mode = node == 1 ? S_IFDIR | 0755 : S_IFREG | 0644,
				  .nlink = 1};
}

struct late {
	int fd;
	uint64_t unique;
	uint32_t size;
};

static void *answer_late(void *arg)
{
	struct late *l = arg;
	usleep((useconds_t)delay_ms * 1000);
	answer(l->fd, l->unique, 0, content, l->size < PAGE ? l->size : PAGE);
	free(l);
	return NULL;
}

static void read_page(int fd, const struct request *r)
{
	const struct fuse_read_in *in = (const void *)r->body;
	struct late *l = malloc(sizeof(*l));
	pthread_t t;
	*l = (struct late){fd, r->head.unique, in->offset ? 0 : in->size};
	if (delay_ms)
		pthread_create(&t, NULL, answer_late, l);
}

static void serve_one(int fd, const struct request *r)
{
	const uint64_t unique = r->head.unique, node = r->head.nodeid;
	static int opened;
	switch (r->head.opcode) {
	case FUSE_INIT: {
		struct fuse_init_out out = {.major = 7, .minor = 31, .max_write = 4096};
		answer(fd, unique, 0, &out, sizeof(out));
		break;
	}
	case FUSE_LOOKUP: {
		struct fuse_entry_out out = {
			.nodeid = 2, .entry_valid = 3600, .attr_valid = 3600, .attr = attr(2)};
		answer(fd, unique, 0, &out, sizeof(out));
		break;
	}
	case FUSE_GETATTR: {
		struct fuse_attr_out out = {.attr_valid = 3600, .attr = attr(node)};
		answer(fd, unique, 0, &out, sizeof(out));
		break;
	}
	case FUSE_OPEN:
		if (!deaf || !opened++) {
			struct fuse_open_out out = {.fh = 1};
			answer(fd, unique, 0, &out, sizeof(out));
		}
		break;
	case FUSE_READ: read_page(fd, r); break;
	case FUSE_FLUSH:
	case FUSE_RELEASE:
		if (!deaf)
			answer(fd, unique, 0, NULL, 0);
		break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT: break;
	default: answer(fd, unique, -ENOSYS, NULL, 0);
	}
}

static void serve(int fd)
{
	static struct request r;
	prctl(PR_SET_NAME, "silent-server");
	for (;;) {
		const ssize_t n = read(fd, &r, sizeof(r));
		if (n < 0 && errno != EINTR && errno != ENOENT && errno != EAGAIN)
			exit(0);
		if (n > 0)
			serve_one(fd, &r);
	}
}

static int mount_it(const char *dir, const char *name)
{
	const int fd = open("/dev/fuse", O_RDWR);
	char options[128], path[256];
	snprintf(options, sizeof(options),
		 "fd=%d,rootmode=40000,user_id=1000,group_id=1000,allow_other", fd);
	if (fd < 0 || mount("silent", dir, "fuse", MS_NOSUID | MS_NODEV, options))
		die("mount of %s", dir);
	if (!fork())
		serve(fd);
	close(fd);
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	const int file = open(path, O_RDONLY);
	if (file < 0)
		die("%s", path);
	return file;
}

/* ---- the process ---- */

/* From now on the page lies in the file, which has its content. */
static void put_away(void *page, int file, int prot)
{
	memcpy(content, page, PAGE);
	if (mmap(page, PAGE, prot, MAP_PRIVATE | MAP_FIXED, file, 0) == MAP_FAILED)
		die("mmap of the file");
}

int main(int argc, char **argv)
{
	const char *what = argc > 3 ? argv[3] : "";
	const uid_t uid = argc > 4 ? (uid_t)atoi(argv[4]) : 1000;
	struct node nodes[64];
	struct gpu gpu;
	struct queue queue;
	int file;
	if (argc < 4)
		die("silent DIR MS WHAT [UID]");
	delay_ms = atoi(argv[2]);
	deaf = !strcmp(what, "file");
	setvbuf(stdout, NULL, _IOLBF, 0);
	content = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	file = mount_it(argv[1], deaf ? "libhsa-runtime64.so.1" : "f");
	if (setresgid(uid, uid, uid) || setresuid(uid, uid, uid))
		die("setresuid");
	prctl(PR_SET_DUMPABLE, 1);
	struct kfd_ioctl_runtime_enable_args args = {
		.r_debug = 0x1000,
		.mode_mask = KFD_RUNTIME_ENABLE_MODE_ENABLE_MASK |
			     KFD_RUNTIME_ENABLE_MODE_TTMP_SAVE_MASK,
	};
	const int kfd = open("/dev/kfd", O_RDWR | O_CLOEXEC);
	if (kfd < 0 || nodes_read(nodes, 64) < 1)
		die("/dev/kfd");
	gpu_open(&gpu, kfd, &nodes[0], false);
	if (ioctl(kfd, AMDKFD_IOC_RUNTIME_ENABLE, &args))
		die("RUNTIME_ENABLE");
	queue_create(&queue, &gpu, AQL, 4096, 7);
	int64_t *signal = gpu_memory(&gpu, PAGE);
	signal[0] = 1;
	signal[1] = 1;
	const struct {
		uint16_t header, format;
		uint32_t unused;
		uint64_t dep[5], unused2, completion;
	} barrier = {.header = AQL_HEADER_BARRIER, .dep = {(uintptr_t)signal}};
	memcpy(queue.ring, &barrier, sizeof(barrier));
	*queue.write_index = 1;
	*queue.doorbell = 0;
	if (!strcmp(what, "indices"))
		put_away(queue.indices, file, PROT_READ);
	if (!strcmp(what, "signal"))
		put_away(signal, file, PROT_READ);
	if (deaf && mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, file, 0) == MAP_FAILED)
		die("mmap of the runtime");
	printf("silent %d: ready\n", getpid());
	for (;;)
		pause();
}
