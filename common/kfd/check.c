// The preflight; see check.h. One function a line of the report; the table at the end orders them.
#include "common/kfd/check.h"

#include "common/host/container.h"
#include "common/host/root.h"
#include "common/kfd/device.h"
#include "common/kfd/driver.h"
#include "common/kfd/topology.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#define PARAMETERS "/sys/module/amdgpu/parameters/"

// What several lines look at.
struct host {
	struct kfd_topology topology;
	int topology_error;         // 0, or -errno
	uint64_t caps;              // effective capabilities of this process; KFD_UNKNOWN: not told
	struct kfd_version version; // 0.0: not asked, or version_error
	int version_error;          // 0, or -errno
	bool user_ns;               // not in the initial user namespace: capabilities count less
};

static void set(struct kfd_check *c, enum kfd_check_status status, const char *mend,
		const char *fmt, ...) __attribute__((format(printf, 4, 5)));

static void set(struct kfd_check *c, enum kfd_check_status status, const char *mend,
		const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(c->found, sizeof(c->found), fmt, ap);
	va_end(ap);
	c->status = status;
	c->mend = mend;
}

static const char MEND_RECORD[] = "record it: gpq snapshot on that host";
static const char MEND_ON_HOST[] = "run gpq gpus --check on that host";
static const char MEND_GPUS[] = "see the line gpus";
static const char MEND_DRIVER[] = "modprobe amdgpu; does dmesg say why the driver has no GPU?";

// A file is not there: on a recorded host that says nothing about the host.
static void set_missing(struct kfd_check *c, int error, const char *path, const char *mend)
{
	if (!host_is_live() && error == ENOENT)
		set(c, KFD_CHECK_UNKNOWN, MEND_RECORD, "%s was not recorded", path);
	else
		set(c, KFD_CHECK_NO, mend, "%s: %s", path, strerror(error));
}

static void set_live_only(struct kfd_check *c)
{
	set(c, KFD_CHECK_UNKNOWN, MEND_ON_HOST, "a recorded host cannot tell");
}

// First line of a file, or NULL.
static const char *first_line(struct buf *b, const char *path)
{
	if (host_read(b, path) < 0)
		return NULL;
	b->data[strcspn(b->data, "\n")] = '\0';
	return b->data;
}

static void check_kernel(const struct host *h, struct kfd_check *c)
{
	(void)h;
	struct buf b = {0};
	char *dot = NULL;
	const char *release = first_line(&b, "/proc/sys/kernel/osrelease");
	unsigned long major = release ? strtoul(release, &dot, 10) : 0;
	unsigned long minor = dot && *dot == '.' ? strtoul(dot + 1, NULL, 10) : 0;
	if (!release)
		set(c, KFD_CHECK_UNKNOWN, host_is_live() ? "mount /proc" : MEND_RECORD,
		    "osrelease: %s", host_is_live() ? strerror(errno) : "was not recorded");
	else if (major > 6 || (major == 6 && minor >= 5))
		set(c, KFD_CHECK_OK, NULL, "Linux %s", release);
	else
		set(c, KFD_CHECK_UNKNOWN, "Linux 6.5 or later; what counts is kfd-version",
		    "Linux %s: its own driver cannot suspend queues, another might", release);
	buf_fini(&b);
}

static void check_driver(const struct host *h, struct kfd_check *c)
{
	(void)h;
	struct buf b = {0};
	if (host_access("/sys/class/kfd/kfd", F_OK)) {
		set(c, KFD_CHECK_NO,
		    "modprobe amdgpu; is there an AMD GPU, and does dmesg say why not?",
		    "/sys/class/kfd/kfd: %s", strerror(errno));
		return;
	}
	// Only drivers built outside of the kernel tree carry a version.
	const char *version = first_line(&b, "/sys/module/amdgpu/version");
	set(c, KFD_CHECK_OK, NULL, "amdgpu%s%s", version ? ", out of tree, " : "",
	    version ? version : "");
	buf_fini(&b);
}

static const char MEND_ROOT[] = "run as root (sudo)";
static const char MEND_GROUP[] =
	"join the group that owns it (render on most systems), or run as root";
static const char MEND_PASS_IN[] =
	"modprobe amdgpu; in a container: --device=/dev/kfd --device=/dev/dri";

static void check_device(const struct host *h, struct kfd_check *c)
{
	(void)h;
	if (!host_is_live())
		set_live_only(c);
	else if (host_access(KFD_DEVICE_PATH, R_OK | W_OK) == 0)
		set(c, KFD_CHECK_OK, NULL, KFD_DEVICE_PATH " is readable and writable");
	else
		set(c, KFD_CHECK_NO, errno == ENOENT ? MEND_PASS_IN : MEND_GROUP,
		    KFD_DEVICE_PATH ": %s", strerror(errno));
}

static const char *mend_open(int error)
{
	switch (error) {
	case ENOENT:
	case ENODEV:
	case ENXIO: return MEND_PASS_IN;
	case EACCES: return MEND_GROUP;
	case EPERM: return "the device cgroup of this container denies it: --device=/dev/kfd";
	case EINVAL: return "a GPU reset or system suspend is going on: try again";
	default: return "does dmesg say why?";
	}
}

static void set_version(struct kfd_check *c, const struct kfd_version *v)
{
	if (v->major != KFD_MAJOR || v->minor < KFD_MINOR_DEBUG)
		set(c, KFD_CHECK_NO, "1.13 is needed to suspend queues: Linux 6.5 or later",
		    "interface %u.%u", v->major, v->minor);
	else
		set(c, KFD_CHECK_OK, NULL, "interface %u.%u%s", v->major, v->minor,
		    v->minor >= KFD_MINOR_CONTEXTS
			    ? "; queues of secondary contexts are out of reach"
			    : "");
}

static void check_version(const struct host *h, struct kfd_check *c)
{
	if (!host_is_live())
		set_live_only(c);
	else if (h->version_error == -EINVAL && !h->topology.n)
		set(c, KFD_CHECK_NO, MEND_GPUS, KFD_DEVICE_PATH " does not open: no GPU");
	else if (h->version_error)
		set(c, KFD_CHECK_UNKNOWN, mend_open(-h->version_error), KFD_DEVICE_PATH ": %s",
		    strerror(-h->version_error));
	else
		set_version(c, &h->version);
}

// The fault needs a process that has not opened a GPU behind another one: never with one GPU.
static void check_faults(const struct host *h, struct kfd_check *c)
{
	const char *mend =
		host_is_live() ? "run as root: only debugfs tells where it is safe" : MEND_ON_HOST;
	struct kfd_driver d;
	kfd_driver_read(&d, h->version.minor);
	enum kfd_answer3 crash = kfd_driver_fact(&d, KFD_FACT_SUSPEND_CRASH);
	if (crash == KFD_ANSWER_NO)
		set(c, KFD_CHECK_OK, NULL, "none known");
	else if (h->topology.n == 1)
		set(c, KFD_CHECK_OK, NULL, "none known that matters with one GPU");
	else if (crash == KFD_ANSWER_YES && host_is_live() &&
		 host_access("/sys/kernel/debug/kfd/proc", R_OK | X_OK) == 0)
		set(c, KFD_CHECK_OK, NULL, "gpq refuses what can crash this driver");
	else
		set(c, KFD_CHECK_UNKNOWN, mend,
		    "suspending a process that left a GPU unopened can crash this driver");
}

static void check_gpus(const struct host *h, struct kfd_check *c)
{
	size_t denied = 0;
	for (size_t i = 0; i < h->topology.n; i++)
		denied += h->topology.gpus[i].error != 0;
	if (h->topology_error)
		set(c, KFD_CHECK_NO, MEND_DRIVER, "/sys/class/kfd/kfd/topology/nodes: %s",
		    strerror(-h->topology_error));
	else if (h->topology.n == denied)
		set(c, KFD_CHECK_NO,
		    denied ? "let the device cgroup of this container have the GPUs"
			   : "is one plugged in, and does dmesg say why it is not used?",
		    denied ? "GPUs: %zu, none readable" : "GPUs: %zu", denied);
	else
		set(c, KFD_CHECK_OK, NULL,
		    denied ? "GPUs: %zu, of them unreadable: %zu" : "GPUs: %zu", h->topology.n,
		    denied);
}

static void check_processes(const struct host *h, struct kfd_check *c)
{
	(void)h;
	DIR *d = host_opendir("/sys/class/kfd/kfd/proc");
	if (!d) {
		set_missing(c, errno, "/sys/class/kfd/kfd/proc",
			    "Linux 5.8 or later, with the KFD driver");
		return;
	}
	size_t n = 0;
	for (struct dirent *e = NULL; (e = readdir(d));)
		n += e->d_name[0] != '.';
	closedir(d);
	set(c, KFD_CHECK_OK, NULL, "processes that opened KFD: %zu", n);
}

// Every GPU that a process sees must have the bit: the session is set up on all of them.
static void check_bit(const struct host *h, struct kfd_check *c, uint64_t bit, const char *mend)
{
	size_t have = 0, told = 0;
	const struct kfd_gpu *lacks = NULL;
	for (size_t i = 0; i < h->topology.n; i++) {
		const struct kfd_gpu *g = &h->topology.gpus[i];
		if (g->capability == KFD_UNKNOWN)
			continue;
		told++;
		if (g->capability & bit)
			have++;
		else if (!lacks)
			lacks = g;
	}
	if (lacks)
		set(c, KFD_CHECK_NO, mend,
		    "%zu of %zu GPUs without bit 0x%llx, first node %llu (%s)", told - have, told,
		    (unsigned long long)bit, (unsigned long long)lacks->node,
		    lacks->gfx[0] ? lacks->gfx : "unknown");
	else if (told)
		set(c, KFD_CHECK_OK, NULL, "bit 0x%llx is set on %zu of %zu GPUs",
		    (unsigned long long)bit, have, h->topology.n);
	else
		set(c, KFD_CHECK_UNKNOWN, MEND_GPUS, "no GPU tells its capability");
}

static void check_debug_driver(const struct host *h, struct kfd_check *c)
{
	check_bit(h, c, KFD_CAP_TRAP_DEBUG,
		  "hide that GPU from the process (device cgroup): all it sees must have the bit");
}

static void check_debug_firmware(const struct host *h, struct kfd_check *c)
{
	check_bit(h, c, KFD_CAP_DEBUG_FIRMWARE,
		  "install newer GPU firmware (linux-firmware) and boot; gfx8 and older never can");
}

static void check_scheduler(const struct host *h, struct kfd_check *c)
{
	size_t mes = 0, hws = 0;
	for (size_t i = 0; i < h->topology.n; i++)
		if (h->topology.gpus[i].gfx[0]) {
			mes += kfd_gpu_uses_mes(&h->topology.gpus[i]);
			hws += !kfd_gpu_uses_mes(&h->topology.gpus[i]);
		}
	if (mes && hws)
		set(c, KFD_CHECK_OK, NULL, "HWS for %zu, MES (no runlist) for %zu", hws, mes);
	else if (mes)
		set(c, KFD_CHECK_OK, NULL, "MES: no runlist to look at");
	else if (hws)
		set(c, KFD_CHECK_OK, NULL, "HWS: each suspend preempts all processes on the GPU");
	else
		set(c, KFD_CHECK_UNKNOWN, MEND_GPUS, "no GPU tells its gfx version");
}

// A module parameter; false, and the line filled, when it cannot be read.
static bool parameter(struct kfd_check *c, const char *path, uint64_t *value)
{
	if (host_read_u64(path, value) == 0)
		return true;
	int error = errno;
	bool unrecorded = !host_is_live() && error == ENOENT;
	set(c, KFD_CHECK_UNKNOWN,
	    unrecorded        ? MEND_RECORD
	    : error == EACCES ? MEND_ROOT
	    : error == ENOENT ? MEND_DRIVER
			      : "modinfo -p amdgpu tells what it may be",
	    "%s: %s", strrchr(path, '/') + 1,
	    unrecorded        ? "was not recorded"
	    : error == EINVAL ? "no number in it"
			      : strerror(error));
	return false;
}

static void check_policy(const struct host *h, struct kfd_check *c)
{
	(void)h;
	uint64_t v = 0;
	if (!parameter(c, PARAMETERS "sched_policy", &v))
		return;
	if (v == 0)
		set(c, KFD_CHECK_OK, NULL, "0: firmware schedules, more queues than slots allowed");
	else if (v == 1)
		set(c, KFD_CHECK_OK, NULL, "1: firmware schedules, no more queues than slots");
	else if (v == 2)
		set(c, KFD_CHECK_NO, "boot without amdgpu.sched_policy=2",
		    "2: no firmware scheduler; the driver refuses all debug calls");
	else
		set(c, KFD_CHECK_UNKNOWN, "boot without amdgpu.sched_policy, if in doubt",
		    "%llu is not known", (unsigned long long)v);
}

static void check_cwsr(const struct host *h, struct kfd_check *c)
{
	(void)h;
	uint64_t v = 0;
	if (!parameter(c, PARAMETERS "cwsr_enable", &v))
		return;
	if (v)
		set(c, KFD_CHECK_OK, NULL, "waves are saved and restored");
	else
		set(c, KFD_CHECK_NO, "boot with amdgpu.cwsr_enable=1",
		    "0: a queue cannot leave the GPU in the middle of a kernel");
}

static void check_timeout(const struct host *h, struct kfd_check *c)
{
	(void)h;
	uint64_t v = 0;
	if (parameter(c, PARAMETERS "queue_preemption_timeout_ms", &v))
		set(c, KFD_CHECK_OK, NULL, "%llu ms; a preemption that takes longer resets the GPU",
		    (unsigned long long)v);
}

enum { CAP_PTRACE = 19, CAP_ADMIN = 21, CAP_CRIU = 40 }; // linux/capability.h

static void check_cap(const struct host *h, struct kfd_check *c, unsigned cap, const char *what,
		      bool initial_ns)
{
	if (h->caps == KFD_UNKNOWN)
		set_live_only(c);
	else if (!(h->caps >> cap & 1))
		set(c, KFD_CHECK_NO, MEND_ROOT, "no: %s", what);
	else if (h->user_ns && initial_ns)
		set(c, KFD_CHECK_NO, "run it outside of the user namespace",
		    "only in a user namespace: %s", what);
	else
		set(c, KFD_CHECK_OK, NULL, "yes");
}

static void check_cap_ptrace(const struct host *h, struct kfd_check *c)
{
	check_cap(h, c, CAP_PTRACE, "processes of other users are out of reach", false);
}

static void check_cap_admin(const struct host *h, struct kfd_check *c)
{
	check_cap(h, c, CAP_ADMIN, "KFD events of this process's own only", true);
}

static void check_cap_criu(const struct host *h, struct kfd_check *c)
{
	check_cap(h, c, CAP_CRIU, "the driver's checkpoint calls are refused", true);
}

// Yama: 1 wants an ancestor or CAP_SYS_PTRACE, 2 the capability, 3 refuses everybody.
static void check_ptrace_scope(const struct host *h, struct kfd_check *c)
{
	static const char mend[] = "run as root, or as root: sysctl kernel.yama.ptrace_scope=0";
	uint64_t v = 0;
	bool cap = h->caps != KFD_UNKNOWN && (h->caps >> CAP_PTRACE & 1);
	if (host_read_u64("/proc/sys/kernel/yama/ptrace_scope", &v)) {
		if (errno == ENOENT && host_is_live())
			set(c, KFD_CHECK_OK, NULL, "no Yama in this kernel");
		else
			set(c, KFD_CHECK_UNKNOWN, host_is_live() ? MEND_ROOT : MEND_RECORD,
			    "ptrace_scope: %s",
			    host_is_live() ? strerror(errno) : "was not recorded");
	} else if (v == 0) {
		set(c, KFD_CHECK_OK, NULL, "0: own processes may be traced");
	} else if (v >= 3) {
		set(c, KFD_CHECK_NO, "boot with it below 3: it cannot be lowered",
		    "%llu: nobody may trace", (unsigned long long)v);
	} else if (cap) {
		set(c, KFD_CHECK_OK, NULL, "%llu, but CAP_SYS_PTRACE is here",
		    (unsigned long long)v);
	} else {
		set(c, h->caps == KFD_UNKNOWN ? KFD_CHECK_UNKNOWN : KFD_CHECK_NO, mend,
		    v == 1 ? "%llu: only children may be traced without CAP_SYS_PTRACE"
			   : "%llu: tracing needs CAP_SYS_PTRACE",
		    (unsigned long long)v);
	}
}

// The initial PID namespace has a fixed number (PROC_PID_INIT_INO in linux/proc_ns.h).
static void check_pid_namespace(const struct host *h, struct kfd_check *c)
{
	static const char initial[] = "pid:[4026531836]";
	(void)h;
	char ns[64];
	struct container in;
	if (!host_is_live()) {
		set_live_only(c);
	} else if (host_readlink("/proc/self/ns/pid", ns, sizeof(ns)) < 0) {
		set(c, KFD_CHECK_UNKNOWN, "mount /proc", "/proc/self/ns/pid: %s", strerror(errno));
	} else if (strcmp(ns, initial) == 0) {
		set(c, KFD_CHECK_OK, NULL, "the host's");
	} else {
		container_of(&in, getpid());
		set(c, KFD_CHECK_NO,
		    "run gpq on the host, or share its PID namespace (docker run --pid=host)",
		    "%s%s%s%s: sysfs shows the host's PIDs, which mean nothing in here", ns,
		    in.id[0] ? ", " : "", in.id[0] && in.runtime[0] ? in.runtime : "",
		    in.id[0] ? " container" : "");
	}
}

// Is a file system of this kind mounted there? Of a recorded host: unknown, taken as yes.
static bool mounted(const char *dir, unsigned magic)
{
	struct statfs fs;
	if (!host_is_live())
		return true;
	return statfs(dir, &fs) == 0 && (unsigned)fs.f_type == magic;
}

static void check_debugfs(const struct host *h, struct kfd_check *c)
{
	static const char file[] = "/sys/kernel/debug/kfd/mqds";
	(void)h;
	int fd = host_open(file, O_RDONLY);
	int error = errno;
	if (fd >= 0) {
		close(fd);
		set(c, KFD_CHECK_OK, NULL, "/sys/kernel/debug/kfd is readable");
	} else if (error == EPERM && geteuid() == 0) { // lockdown=confidentiality
		set_missing(c, error, file, "see /sys/kernel/security/lockdown");
	} else if (error == ENOENT && !mounted("/sys/kernel/debug", DEBUGFS_MAGIC)) {
		set(c, KFD_CHECK_NO, "as root: mount -t debugfs none /sys/kernel/debug",
		    "not mounted on /sys/kernel/debug");
	} else {
		set_missing(c, error, file,
			    error == ENOENT ? "modprobe amdgpu; it needs CONFIG_DEBUG_FS"
					    : MEND_ROOT);
	}
}

static void check_tracefs(const struct host *h, struct kfd_check *c)
{
	static const char *const dirs[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};
	(void)h;
	int error = ENOENT;
	for (unsigned i = 0; i < 2; i++) {
		char path[64];
		snprintf(path, sizeof(path), "%s/events", dirs[i]);
		if (host_access(path, R_OK | X_OK) == 0) {
			set(c, KFD_CHECK_OK, NULL, "%s is readable", dirs[i]);
			return;
		}
		error = errno == ENOENT ? error : errno;
	}
	if (error == ENOENT && !mounted(dirs[0], TRACEFS_MAGIC))
		set(c, KFD_CHECK_NO, "as root: mount -t tracefs none /sys/kernel/tracing",
		    "not mounted on %s", dirs[0]);
	else
		set_missing(c, error, dirs[0],
			    error == ENOENT ? "a kernel with CONFIG_FTRACE" : MEND_ROOT);
}

// The process's own /proc entry; a recorded host has none.
static void read_self(struct host *h)
{
	struct buf b = {0};
	h->caps = KFD_UNKNOWN;
	if (host_is_live() && host_read(&b, "/proc/self/status") > 0) {
		const char *caps = strstr(b.data, "\nCapEff:");
		if (caps)
			h->caps = strtoull(caps + strlen("\nCapEff:"), NULL, 16);
	}
	if (host_is_live() && host_read(&b, "/proc/self/uid_map") > 0) {
		char *at = b.data; // "inside outside count"; the initial one maps all to themselves
		unsigned long inside = strtoul(at, &at, 10), outside = strtoul(at, &at, 10);
		h->user_ns = inside || outside || strtoul(at, NULL, 10) != UINT32_MAX;
	}
	buf_fini(&b);
}

static void ask_version(struct host *h)
{
	int fd = kfd_open();
	h->version_error = fd < 0 ? fd : kfd_get_version(fd, &h->version);
	if (fd >= 0)
		close(fd);
}

// Resuming asks the process that holds the queues, and needs none of this.
#define SUSPENDERS "suspend bench"

static const struct {
	const char *name, *commands;
	void (*check)(const struct host *h, struct kfd_check *c);
} lines[] = {
	{"kernel", SUSPENDERS, check_kernel},
	{"driver", "gpus queues hqd snapshot " SUSPENDERS, check_driver},
	{"gpus", "gpus queues hqd snapshot " SUSPENDERS, check_gpus},
	{"processes", "queues snapshot", check_processes},
	{"dev-kfd", SUSPENDERS, check_device},
	{"kfd-version", SUSPENDERS, check_version},
	{"driver-faults", SUSPENDERS, check_faults},
	{"debug-driver", SUSPENDERS, check_debug_driver},
	{"debug-firmware", SUSPENDERS, check_debug_firmware},
	{"scheduler", "hqd " SUSPENDERS, check_scheduler},
	{"sched-policy", "hqd " SUSPENDERS, check_policy},
	{"cwsr", SUSPENDERS, check_cwsr},
	{"preemption-timeout", SUSPENDERS, check_timeout},
	{"ptrace-scope", SUSPENDERS, check_ptrace_scope},
	{"cap-sys-ptrace", SUSPENDERS, check_cap_ptrace},
	{"cap-sys-admin", "trace", check_cap_admin},
	{"cap-checkpoint-restore", "suspend", check_cap_criu},
	{"pid-namespace", "queues snapshot " SUSPENDERS, check_pid_namespace},
	{"debugfs", "queues hqd snapshot", check_debugfs},
	{"tracefs", "trace snapshot", check_tracefs},
};

size_t kfd_check_all(struct kfd_check checks[KFD_CHECKS_MAX])
{
	const size_t n = sizeof(lines) / sizeof(lines[0]);
	_Static_assert(sizeof(lines) / sizeof(lines[0]) <= KFD_CHECKS_MAX, "room for all lines");
	struct host h = {0};
	h.topology_error = kfd_topology_load(&h.topology, 0);
	read_self(&h);
	if (host_is_live())
		ask_version(&h);
	for (size_t i = 0; i < n; i++) {
		checks[i] =
			(struct kfd_check){.name = lines[i].name, .commands = lines[i].commands};
		lines[i].check(&h, &checks[i]);
	}
	kfd_topology_fini(&h.topology);
	return n;
}
