// Giving up rights; confine.h.
#include "common/host/confine.h"

#include "common/host/dlopen.h"

#include <linux/capability.h>
#include <seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#define SECCOMP_FUNCTIONS(X) \
	X(seccomp_init) X(seccomp_rule_add_array) X(seccomp_load) X(seccomp_release)
LIB(seccomp, "libseccomp.so.2", SECCOMP_FUNCTIONS, RECOMMENDED, "seccomp",
    "A filter of system calls for processes that hold queues or read what is others'");

COMPARE_VALUES(fds_by_number, int)

void confine_fds(int first, int *keep, size_t n)
{
	qsort(keep, n, sizeof(keep[0]), fds_by_number);
	for (size_t i = 0; i < n; i++) {
		if (keep[i] > first)
			close_range((unsigned)first, (unsigned)keep[i] - 1, 0);
		first = keep[i] >= first ? keep[i] + 1 : first;
	}
	close_range((unsigned)first, ~0u, 0);
}

void confine_prepare(void)
{
	seccomp_get();
}

void confine_rights(uint32_t keep)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct caps[2];
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (syscall(SYS_capget, &header, caps) < 0)
		return;
	caps[0] = (struct __user_cap_data_struct){.effective = caps[0].effective & keep,
						  .permitted = caps[0].permitted & keep};
	caps[1] = (struct __user_cap_data_struct){0};
	syscall(SYS_capset, &header, caps);
}

void confine_calls(const int *allowed, size_t n)
{
	const struct seccomp *lib = seccomp_get();
	scmp_filter_ctx rules = lib ? lib->seccomp_init(SCMP_ACT_ERRNO(EPERM)) : NULL;
	int r = rules ? 0 : -1;
	for (size_t i = 0; i < n && r == 0; i++)
		r = lib->seccomp_rule_add_array(rules, SCMP_ACT_ALLOW, allowed[i], 0, NULL);
	if (r == 0)
		lib->seccomp_load(rules);
	if (rules)
		lib->seccomp_release(rules);
}
