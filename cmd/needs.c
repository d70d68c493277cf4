// Checks the host requirements of a command (NEED_ bits, command.h) before the command runs; prints
// what is missing and the remedy. Facts: [kfd.open], [kfd.topology], [debugfs.files].
#include "cmd/command.h"

#include "common/kfd/driver.h"

static int need_kfd(bool live)
{
	if (host_access("/sys/class/kfd/kfd", F_OK) == 0)
		return GPQ_OK;
	const char *next =
		host_only_dumps()
			? "of dumps alone there are gpq hqd, queues, why and snapshot --diff"
		: !host_is_live() ? "the recorded host has none: is it the right directory?"
		: live            ? "load the amdgpu module"
				  : "load the amdgpu module, or give a recorded host with "
				    "--sysroot FILE";
	return err_fail(GPQ_UNSUPPORTED, next, "no KFD driver here: /sys/class/kfd/kfd: %s",
			strerror(errno));
}

static int need_live(bool dry_run)
{
	if (host_is_live())
		return GPQ_OK;
	return err_fail(GPQ_USAGE,
			dry_run ? "leave out --sysroot and GPQ_SYSROOT, or add --dry-run"
				: "leave out --sysroot and GPQ_SYSROOT",
			"this acts on a running host, not on a recorded one");
}

// Reports errno of a path, with the remedy for a lack of rights or for another error. Returns
// GPQ_DENIED or GPQ_UNSUPPORTED.
static int refuse_path(const char *path, const char *next_denied, const char *next)
{
	bool denied = errno == EACCES || errno == EPERM;
	return err_fail(denied ? GPQ_DENIED : GPQ_UNSUPPORTED, denied ? next_denied : next,
			"%s: %s", path, strerror(errno));
}

static int need_dev_kfd(void)
{
	if (host_access("/dev/kfd", R_OK | W_OK) == 0)
		return GPQ_OK;
	return refuse_path("/dev/kfd", KFD_NEXT_GROUP,
			   "load the amdgpu module; in a container, pass the device in");
}

bool needs_has_debugfs(void)
{
	return host_access("/sys/kernel/debug/kprobes", F_OK) == 0 ||
	       host_access("/sys/kernel/debug/dri", F_OK) == 0;
}

static int need_debugfs(void)
{
	if (host_access("/sys/kernel/debug/kfd", R_OK | X_OK) == 0)
		return GPQ_OK;
	int error = errno;
	if (error != EACCES && error != EPERM && !needs_has_debugfs())
		return err_fail(GPQ_UNSUPPORTED,
				host_is_live() ? NEXT_MOUNT_DEBUGFS : "record it as root",
				"debugfs is not mounted on /sys/kernel/debug");
	errno = error;
	return refuse_path("/sys/kernel/debug/kfd", "debugfs is for root: use sudo",
			   "the kernel needs CONFIG_DEBUG_FS and the amdgpu module");
}

int needs_check(unsigned needs)
{
	const bool live = needs & NEED_LIVE;
	int status = live ? need_live(needs & HAS_DRY_RUN) : GPQ_OK;
	status = !status && (needs & NEED_KFD) ? need_kfd(live) : status;
	status = !status && (needs & NEED_DEV_KFD) ? need_dev_kfd() : status;
	return !status && (needs & NEED_DEBUGFS) ? need_debugfs() : status;
}
