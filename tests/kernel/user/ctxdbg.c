// SPDX-License-Identifier: GPL-2.0 OR MIT
/* ctxdbg PID: may a secondary context (KFD 1.19 and later) be a debugger? */
#include <sys/ptrace.h>
#include "kfduser.h"

static void say(const char *what, int result)
{
	printf("%s -> %s\n", what, result ? strerrorname_np(errno) : "0");
}

int main(int argc, char **argv)
{
	const int pid = argc > 1 ? atoi(argv[1]) : 0, fd = open("/dev/kfd", O_RDWR | O_CLOEXEC);
	struct kfd_runtime_info info;
	struct kfd_ioctl_dbg_trap_args args = {
		.pid = (uint32_t)pid,
		.op = KFD_IOC_DBG_TRAP_ENABLE,
		.enable = {.rinfo_ptr = (uintptr_t)&info,
			   .rinfo_size = sizeof(info),
			   .dbg_fd = (uint32_t)fd},
	};
	say("CREATE_PROCESS", ioctl(fd, AMDKFD_IOC_CREATE_PROCESS, NULL));
	say("CREATE_PROCESS again", ioctl(fd, AMDKFD_IOC_CREATE_PROCESS, NULL));
	if (ptrace(PTRACE_SEIZE, pid, 0, 0))
		die("seize");
	say("ENABLE from a secondary context", ioctl(fd, AMDKFD_IOC_DBG_TRAP, &args));
	return 0;
}
