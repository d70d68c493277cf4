// The preflight of gpq gpus --check: for each gpq command, what this user or host lacks.
//
// Facts: [kfd.open-errors], [kfd.versions], [kfd.check-order], [kfd.ptrace], [kfd.capability],
// [debugfs.files], [kfd.smi], [kfd.pids]. On a recorded host the checks that read
// files work; those that need a running kernel are unknown.
#pragma once

#include "common/host/std.h"

enum kfd_check_status { KFD_CHECK_UNKNOWN, KFD_CHECK_NO, KFD_CHECK_OK };

struct kfd_check {
	const char *name;     // name of the check, as "kfd-version"
	const char *commands; // gpq commands that need the check to pass, separated by blanks
	const char *must;     // those of them that can do nothing unless it passes; "": none
	enum kfd_check_status status;
	char found[192];  // what the check found, in words
	const char *mend; // what the user can do; NULL: no need, or no way known
};

enum { KFD_CHECKS_MAX = 32 };

// Makes all checks and returns their number. On a live host /dev/kfd is opened to ask its version,
// which makes the caller a KFD process until it ends [kfd.open]; nothing else has a side effect.
size_t kfd_check_all(struct kfd_check checks[KFD_CHECKS_MAX]);

// What this process may do. The driver does not honour capabilities of another user namespace.
struct kfd_rights {
	uint64_t caps; // effective capabilities (bits of linux/capability.h); UINT64_MAX: unknown
	bool user_ns;  // gpq runs outside of the initial user namespace
};

enum { KFD_CAP_PTRACE = 19, KFD_CAP_ADMIN = 21, KFD_CAP_CRIU = 40 }; // as linux/capability.h

void kfd_rights_read(struct kfd_rights *r); // recorded host: `caps` is unknown
