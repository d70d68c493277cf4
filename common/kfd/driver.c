// The table of driver facts; see driver.h. Sources: amdkfd of Linux 6.12.95, 6.12.107, 7.2.12 and
// 7.3.4 (update_mqd()'s set_priority() in kfd_mqd_manager_v*.c; suspend_queues() in
// kfd_device_queue_manager.c; kfd_smi_events.c; kfd_ioctl_set_debug_trap() in kfd_chardev.c;
// KFD_IOCTL_MINOR_VERSION in uapi/linux/kfd_ioctl.h).
#include "common/kfd/driver.h"

#include "common/host/root.h"

#include <fcntl.h>

#define RELEASE(major, minor, patch) (((major)*1000u + (minor)) * 1000u + (patch))
#define OPEN                         (~0u)

// For which drivers a fact holds. `yes`, `no`: KFD interface versions with which it was seen to
// hold, or not to hold; with any other version it is unknown.
static const struct row {
	unsigned from, below; // Linux releases in which the fact holds
	unsigned maybe;       // releases from here to `from` may have the fact; 0: none does
	struct {
		unsigned first, last;
	} yes, no;
} rows[KFD_FACTS] = {
	[KFD_FACT_QUEUE_PRIORITY] = {0, RELEASE(7, 0, 0), .yes = {1, 17}, .no = {23, OPEN}},
	// Linux 6.12 does not crash. When a release fixes the crash, put that release into `below`.
	[KFD_FACT_SUSPEND_CRASH] = {RELEASE(7, 2, 0), OPEN, .yes = {23, OPEN}, .no = {1, 17}},
	// The fact holds in 6.12.107, not in 6.12.95, which have the same interface version; no
	// source between 6.12.107 and 7.2 was read.
	[KFD_FACT_UNTRACED_DEBUGGER] = {RELEASE(7, 2, 0), OPEN, RELEASE(6, 12, 96),
					.yes = {23, OPEN}},
	// Both facts about SMI hold in 7.3.4, neither holds in 6.12.95; no source between was read.
	[KFD_FACT_SMI_NS_PID] = {RELEASE(7, 3, 0), OPEN, .maybe = RELEASE(6, 12, 96)},
	[KFD_FACT_SMI_LARGE] = {RELEASE(7, 3, 0), OPEN, .maybe = RELEASE(6, 12, 96)},
};

void kfd_driver_read(struct kfd_driver *d, unsigned interface)
{
	SCOPED(buf_fini) struct buf b = {0};
	char *dot;
	*d = (struct kfd_driver){.interface = interface};
	if (host_read(&b, "/proc/sys/kernel/osrelease") > 0) {
		d->major = (unsigned)strtoul(b.data, &dot, 10);
		d->minor = *dot == '.' ? (unsigned)strtoul(dot + 1, &dot, 10) : 0;
		d->patch = *dot == '.' ? (unsigned)strtoul(dot + 1, NULL, 10) : 0;
	}
	// Only a driver built outside of the kernel tree has this file.
	d->out_of_tree = host_access("/sys/module/amdgpu/version", F_OK) == 0;
}

static enum kfd_answer3 by_interface(const struct row *r, unsigned n)
{
	if (!n)
		return KFD_ANSWER_UNKNOWN;
	if (n >= r->yes.first && n <= r->yes.last)
		return KFD_ANSWER_YES;
	return n >= r->no.first && n <= r->no.last ? KFD_ANSWER_NO : KFD_ANSWER_UNKNOWN;
}

enum kfd_answer3 kfd_driver_fact(const struct kfd_driver *d, enum kfd_fact fact)
{
	const struct row *r = &rows[fact];
	unsigned release = RELEASE(d->major, d->minor, d->patch < 1000 ? d->patch : 999);
	if (d->out_of_tree || !d->major)
		return by_interface(r, d->interface);
	if (r->maybe && release >= r->maybe && release < r->from)
		return KFD_ANSWER_UNKNOWN;
	return release >= r->from && release < r->below ? KFD_ANSWER_YES : KFD_ANSWER_NO;
}

bool kfd_driver_may_crash(unsigned interface)
{
	const struct row *r = &rows[KFD_FACT_SUSPEND_CRASH];
	enum kfd_answer3 known = by_interface(r, interface);
	struct kfd_driver d;
	// The kernel's release is read only if a release may have fixed the crash.
	if (known == KFD_ANSWER_NO || (known == KFD_ANSWER_YES && r->below == OPEN))
		return known == KFD_ANSWER_YES;
	kfd_driver_read(&d, interface);
	return kfd_driver_fact(&d, KFD_FACT_SUSPEND_CRASH) != KFD_ANSWER_NO;
}

int kfd_open(void)
{
	int fd = open(KFD_DEVICE_PATH, O_RDWR | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int kfd_ioctl(int kfd, unsigned long request, void *arg)
{
	int r;
	do
		r = ioctl(kfd, request, arg);
	while (r < 0 && errno == EINTR);
	return r < 0 ? -errno : r;
}
