// The preflight of gpq gpus --check: for each gpq command, what this user or host lacks.
//
// Facts: [kfd.open-errors], [kfd.versions], [kfd.check-order], [kfd.ptrace], [kfd.capability],
// [debugfs.files], [kfd.smi], [kfd.pids]. On a recorded host the checks that read
// files work; those that need a running kernel are unknown.
#ifndef GPQ_KFD_CHECK_H
#define GPQ_KFD_CHECK_H

#include <stddef.h>

enum kfd_check_status { KFD_CHECK_UNKNOWN, KFD_CHECK_NO, KFD_CHECK_OK };

struct kfd_check {
	const char *name;     // "kfd-version"
	const char *commands; // blank-separated: which commands it concerns; NULL: none needs it
	enum kfd_check_status status;
	char found[192];  // what was found, in words
	const char *mend; // what to do about it; NULL: nothing to do, or nothing known
};

enum { KFD_CHECKS_MAX = 32 };

// Makes all checks and returns their number. On a live host /dev/kfd is opened to ask its version,
// which makes the caller a KFD process until it ends [kfd.open]; nothing else has a side effect.
size_t kfd_check_all(struct kfd_check checks[KFD_CHECKS_MAX]);

#endif
