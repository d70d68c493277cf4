// What a holder may still do once it holds: least privilege, for a process that lives as long as a
// job.
//
// It has parsed nothing but lines of its own user, and answers nobody else; but it may be root's,
// and it stands beside processes of others for days. So it gives up new privileges, and all
// capabilities but the one that ptrace asks for: to take a session back, and to wake threads of the
// target. Facts: capabilities(7), prctl(2).
//
// A seccomp filter was tried: it costs a resume through a kept holder 8 us of 32 (instructions, in
// the VM), as each system call then takes the kernel's slow path.
#include "common/holder/holder_priv.h"

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static void drop_capabilities(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct caps[2];
	const uint32_t keep = UINT32_C(1) << CAP_SYS_PTRACE;

	if (syscall(SYS_capget, &header, caps) < 0)
		return;
	caps[0] = (struct __user_cap_data_struct){.effective = caps[0].effective & keep,
						  .permitted = caps[0].permitted & keep};
	caps[1] = (struct __user_cap_data_struct){0};
	syscall(SYS_capset, &header, caps);
}

void holder_lock_down(void)
{
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	drop_capabilities();
}
