// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * fewrights GID COMMAND ARGS: run it as gpq-sched.service does: root without a capability but
 * CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH, a member of group GID, no new privileges, and no memory
 * that is both writable and executable.
 */
#include <grp.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include "kfduser.h"

#ifndef PR_SET_MDWE
#define PR_SET_MDWE 65
#endif

int main(int argc, char **argv)
{
	const gid_t group = argc > 2 ? (gid_t)atoi(argv[1]) : 0;
	if (argc < 3)
		return 2;
	if (setgroups(1, &group))
		die("setgroups");
	for (int cap = 0; cap <= CAP_LAST_CAP; cap++)
		if (cap != CAP_SYS_PTRACE && cap != CAP_DAC_READ_SEARCH &&
		    prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) && errno != EINVAL)
			die("capability %d", cap);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_MDWE, 1, 0, 0, 0))
		die("prctl");
	execvp(argv[2], argv + 2);
	die("%s", argv[2]);
}
