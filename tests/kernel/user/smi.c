// SPDX-License-Identifier: GPL-2.0 OR MIT
/* smi SECONDS: what the driver tells about the first GPU through AMDKFD_IOC_SMI_EVENTS, line by
 * line. */
#include <poll.h>
#include "kfduser.h"

int main(int argc, char **argv)
{
	const uint64_t end = now_us() + (argc > 1 ? strtoull(argv[1], NULL, 0) : 5) * 1000000;
	struct kfd_ioctl_smi_events_args args = {0};
	uint64_t mask = ~0ULL;
	struct node node;
	char text[8192];
	int kfd = open("/dev/kfd", O_RDWR | O_CLOEXEC);
	ssize_t n;
	setvbuf(stdout, NULL, _IOLBF, 0);
	errno = ENODEV;
	if (kfd < 0 || nodes_read(&node, 1) != 1)
		die("/dev/kfd");
	args.gpuid = node.gpu_id;
	if (ioctl(kfd, AMDKFD_IOC_SMI_EVENTS, &args))
		die("SMI_EVENTS");
	if (write((int)args.anon_fd, &mask, sizeof(mask)) != sizeof(mask))
		die("mask");
	while (now_us() < end) {
		struct pollfd p = {.fd = (int)args.anon_fd, .events = POLLIN};
		if (poll(&p, 1, 200) <= 0)
			continue;
		n = read((int)args.anon_fd, text, sizeof(text) - 1);
		if (n > 0) {
			text[n] = 0;
			fputs(text, stdout);
		}
	}
	return 0;
}
