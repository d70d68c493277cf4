// SPDX-License-Identifier: GPL-2.0 OR MIT
/* ctxdbg PID: may a secondary context be a debugger? */
#include <sys/ptrace.h>
#include <sys/wait.h>
#include "kfduser.h"

int main(int argc, char **argv)
{
#ifdef AMDKFD_IOC_CREATE_PROCESS
	const int pid = argc > 1 ? atoi(argv[1]) : 0, fd = open("/dev/kfd", O_RDWR | O_CLOEXEC);
	struct kfd_runtime_info info;
	struct kfd_ioctl_dbg_trap_args args = {
		.pid = (uint32_t)pid,
		.op = KFD_IOC_DBG_TRAP_ENABLE,
		.enable = {.rinfo_ptr = (uintptr_t)&info, .rinfo_size = sizeof(info), .dbg_fd = (uint32_t)fd},
	};
	int err;

	err = ioctl(fd, AMDKFD_IOC_CREATE_PROCESS, NULL) ? errno : 0;
	printf("CREATE_PROCESS -> %s\n", err ? strerrorname_np(err) : "0");
	err = ioctl(fd, AMDKFD_IOC_CREATE_PROCESS, NULL) ? errno : 0;
	printf("CREATE_PROCESS again -> %s\n", err ? strerrorname_np(err) : "0");
	if (ptrace(PTRACE_SEIZE, pid, 0, 0))
		die("seize");
	err = ioctl(fd, AMDKFD_IOC_DBG_TRAP, &args) ? errno : 0;
	printf("ENABLE from a secondary context -> %s\n", err ? strerrorname_np(err) : "0");
#endif
	return 0;
}
