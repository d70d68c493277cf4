// Opening streams of events, common/kfd/smi.c: the driver's answer is a pipe of the test's.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/kfd/smi.h"

#include "common/host/number.h"
#include "common/kfd/topology.h"

#include <fcntl.h>

static struct {
	int error, stream, kfd;    // -errno of the ioctl, and of /dev/kfd
	uint32_t gpus[4], refused; // the GPUs that were asked for; which one is refused
	unsigned n;
} fake;

static int fake_ioctl(int fd, unsigned long request, void *arg)
{
	struct kfd_smi *a = arg;
	assert_int_equal(fd, fake.kfd);
	assert_int_equal(request, KFD_SMI_EVENTS);
	fake.gpus[fake.n++ % 4] = a->gpu_id;
	a->fd = (uint32_t)fake.stream;
	return a->gpu_id == fake.refused ? -EACCES : fake.error;
}

static int fake_open(void)
{
	if (fake.kfd >= 0)
		fake.kfd = open("/dev/null", O_RDWR | O_CLOEXEC);
	return fake.kfd;
}

static int fake_load(struct kfd_topology *t, unsigned what)
{
	assert_int_equal(what, 0);
	*t = (struct kfd_topology){.gpus = xcalloc(3, sizeof(*t->gpus)), .n = 3};
	for (unsigned i = 0; i < 3; i++)
		t->gpus[i].gpu_id = 71 + i;
	return 0;
}

#define kfd_ioctl         fake_ioctl
#define kfd_open          fake_open
#define kfd_topology_load fake_load
#include "common/kfd/smi.c" // NOLINT(bugprone-suspicious-include)

static void test_one(void **state)
{
	uint64_t mask = 0;
	int p[2];
	(void)state;
	assert_int_equal(pipe2(p, O_NONBLOCK), 0);
	memset(&fake, 0, sizeof(fake));
	fake.kfd = 9;
	fake.stream = p[1];
	assert_int_equal(kfd_smi_open(9, 4711, 6), p[1]);
	assert_int_equal(fake.gpus[0], 4711);
	assert_int_equal(fcntl(p[1], F_GETFD), FD_CLOEXEC);
	assert_int_equal(read(p[0], &mask, sizeof(mask)), sizeof(mask));
	assert_int_equal(mask, 0x8000000000000006); // of all processes
	fake.error = -EPERM;
	assert_int_equal(kfd_smi_open(9, 4711, 6), -EPERM);
	assert_int_equal(read(p[0], &mask, sizeof(mask)), -1);
	fake.error = 0;
	fake.stream = p[0]; // cannot be written: it is closed
	assert_int_equal(kfd_smi_open(9, 4711, 6), -EBADF);
	assert_int_equal(fcntl(p[0], F_GETFD), -1);
	assert_int_equal(kfd_smi_open(9, 4711, 6), -EBADF);
	close(p[1]);
}

static void test_all(void **state)
{
	int *fds, p[2];
	(void)state;
	assert_int_equal(pipe2(p, O_NONBLOCK), 0);
	memset(&fake, 0, sizeof(fake));
	fake.stream = p[1];
	fake.refused = 72;
	assert_int_equal(kfd_smi_open_all(1, &fds), 2);
	assert_int_equal(fds[0], p[1]);
	assert_int_equal(fds[1], p[1]);
	assert_int_equal(fake.n, 3);
	assert_int_equal(fake.gpus[0], 71);
	assert_int_equal(fake.gpus[2], 73);
	assert_int_equal(fcntl(fake.kfd, F_GETFD), -1); // closed
	free(fds);
	assert_int_equal(dup2(p[1], 0), 0); // 0 is a descriptor, too
	fake.stream = 0;
	assert_int_equal(kfd_smi_open_all(1, &fds), 2);
	assert_int_equal(fds[1], 0);
	free(fds);
	fake.kfd = -ENOENT;
	fake.n = 0;
	assert_int_equal(kfd_smi_open_all(1, &fds), 0);
	assert_int_equal(fake.n, 0);
	free(fds);
	close(p[0]);
	close(p[1]);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {cmocka_unit_test(test_one),
						  cmocka_unit_test(test_all)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
