// The preflight, common/kfd/check.c, of a living host that is a folder of ours: the kernel, the
// device and this process's rights are as each case says. Facts: [kfd.open-errors],
// [kfd.versions], [kfd.suspend-crash], [kfd.capability], [debugfs.files].
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/kfd/check.h"

#include "common/host/container.h"
#include "common/host/root.h"
#include "common/kfd/driver.h"
#include "common/kfd/topology.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

// How a host differs from one on which all is well.
struct host {
	struct {
		const char *path, *text; // text: NULL no such file, "/" a folder, "@..." a link
	} edits[4];
	const char *deny; // opening this path gives `error`
	int error;
	int open_error, ioctl_error; // -errno of /dev/kfd
	uint32_t major, minor;       // version of the KFD interface; 0.0 stands for 1.17
	bool recorded, user, unmounted;
	struct container in;
};

static const struct host *now;
static int device; // what the last open of /dev/kfd returned: descriptor or -errno

static bool fake_is_live(void)
{
	return !now->recorded;
}

static bool denied(const char *path)
{
	const bool is = now->deny && strcmp(path, now->deny) == 0;
	errno = is ? now->error : errno;
	return is;
}

static int fake_open(const char *path, int flags)
{
	return denied(path) ? -1 : host_open(path, flags);
}

static DIR *fake_opendir(const char *path)
{
	return denied(path) ? NULL : host_opendir(path);
}

static int fake_access(const char *path, int mode)
{
	return denied(path) ? -1 : host_access(path, mode);
}

static int fake_read_u64(const char *path, uint64_t *v)
{
	return denied(path) ? -1 : host_read_u64(path, v);
}

static ssize_t fake_readlink(const char *path, char *to, size_t size)
{
	return denied(path) ? -1 : host_readlink(path, to, size);
}

static int fake_kfd_open(void)
{
	device = now->open_error ? now->open_error : open("/dev/null", O_RDWR | O_CLOEXEC);
	return device;
}

static int fake_kfd_ioctl(int fd, unsigned long request, void *arg)
{
	assert_int_equal(fd, device);
	assert_int_equal(request, KFD_GET_VERSION);
	*(struct kfd_version *)arg =
		(struct kfd_version){now->major ? now->major : 1, now->minor ? now->minor : 17};
	return now->ioctl_error;
}

static int fake_statfs(const char *path, struct statfs *fs)
{
	fs->f_type = strcmp(path, "/sys/kernel/debug") == 0     ? DEBUGFS_MAGIC
		     : strcmp(path, "/sys/kernel/tracing") == 0 ? TRACEFS_MAGIC
								: 0;
	return now->unmounted ? -1 : 0;
}

static void fake_container_of(struct container *c, pid_t pid)
{
	assert_int_equal(pid, getpid());
	*c = now->in;
}

#define host_is_live  fake_is_live
#define host_open     fake_open
#define host_opendir  fake_opendir
#define host_access   fake_access
#define host_read_u64 fake_read_u64
#define host_readlink fake_readlink
#define kfd_open      fake_kfd_open
#define kfd_ioctl     fake_kfd_ioctl
#define statfs(p, fs) fake_statfs(p, fs)
#define geteuid()     (now->user ? 1000u : 0u)
#define container_of  fake_container_of
#include "common/kfd/check.c" // NOLINT(bugprone-suspicious-include)
#undef host_open

#define KERNEL               "/proc/sys/kernel/"
#define NODES                "/sys/class/kfd/kfd/topology/nodes/"
#define PARAM                "/sys/module/amdgpu/parameters/"
#define GPU(gfx, capability) "gfx_target_version " #gfx "\ncapability " #capability "\n"

#define SLOTS(xccs, slots)    \
	GPU(90402, 536903680) \
	"num_xcc " #xccs "\nnum_cp_queues " #slots "\n"

static const struct host well = {.edits = {{0}}};
static const struct {
	const char *path, *text;
} files[] = {
	{KERNEL "osrelease", "6.12.95-amd64\n"},
	{KERNEL "yama/ptrace_scope", "0\n"},
	{NODES "0/gpu_id", "0\n"},
	{NODES "1/gpu_id", "4711\n"},
	{NODES "1/properties", GPU(90402, 536903680)}, // 0x20008000
	{"/sys/class/kfd/kfd/proc/100/pasid", "1\n"},
	{"/sys/class/kfd/kfd/proc/200/pasid", "2\n"},
	{PARAM "sched_policy", "0\n"},
	{PARAM "num_kcq", "-1\n"},
	{PARAM "cwsr_enable", "1\n"},
	{PARAM "queue_preemption_timeout_ms", "9000\n"},
	{"/proc/self/status", "Name:\tgpq\nCapInh:\t1\nCapEff:\t000001ffffffffff\nCapBnd:\t0\n"},
	{"/proc/self/ns/pid", "@pid:[4026531836]"},
	{"/proc/self/ns/user", "@user:[4026531837]"},
	{"/sys/kernel/debug/kfd/mqds", "\n"},
	{"/sys/kernel/debug/kfd/proc", "/"},
	{"/sys/kernel/tracing/events", "/"},
	{"/dev/kfd", "\n"},
};

static char top[] = "/tmp/gpq-check-XXXXXX";

static void put(const char *path, const char *text)
{
	char full[PATH_MAX];
	snprintf(full, sizeof(full), "%s%s", top, path);
	for (char *s = full + strlen(top) + 1; (s = strchr(s, '/')); *s++ = '/') {
		*s = '\0';
		mkdir(full, 0755);
	}
	if (remove(full) && errno != ENOENT)
		fail_msg("%s: %s", full, strerror(errno));
	if (!text)
		return;
	if (*text == '/') {
		assert_int_equal(mkdir(full, 0755), 0);
	} else if (*text == '@') {
		assert_int_equal(symlink(text + 1, full), 0);
	} else {
		int fd = open(full, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
		assert_int_equal(write_fully(fd, text, strlen(text)), 0);
		close(fd);
	}
}

static int setup(void **state)
{
	(void)state;
	if (!mkdtemp(top))
		return -1;
	for (size_t i = 0; i < COUNT(files); i++)
		put(files[i].path, files[i].text);
	return host_set_root(top);
}

static int teardown(void **state)
{
	char command[64];
	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", top);
	return system(command); // NOLINT(cert-env33-c)
}

// The line "STATUS FOUND; FIX" of a check.
static const char *line_of(const struct host *h, const char *name)
{
	static const char *const status[] = {"unknown", "no", "ok"};
	static char text[512];
	struct kfd_check checks[KFD_CHECKS_MAX];
	now = h;
	device = -1;
	for (size_t i = 0; i < COUNT(h->edits) && h->edits[i].path; i++)
		put(h->edits[i].path, h->edits[i].text);
	const size_t n = kfd_check_all(checks);
	if (h->recorded)
		assert_int_equal(device, -1); // it is not opened
	else if (device >= 0)
		assert_int_equal(fcntl(device, F_GETFD), -1); // it is closed
	for (size_t i = 0; i < COUNT(h->edits) && h->edits[i].path; i++) {
		const char *was = NULL;
		for (size_t k = 0; k < COUNT(files); k++)
			was = strcmp(files[k].path, h->edits[i].path) == 0 ? files[k].text : was;
		put(h->edits[i].path, was);
	}
	*text = '\0';
	for (size_t i = 0; i < n; i++)
		if (strcmp(checks[i].name, name) == 0)
			snprintf(text, sizeof(text), "%s %s%s%s", status[checks[i].status],
				 checks[i].found, checks[i].mend ? "; " : "",
				 checks[i].mend ? checks[i].mend : "");
	return text;
}

#define RECORD  "; record it: gpq snapshot on that host"
#define THERE   "; run gpq gpus --check on that host"
#define ROOT    "; run as root (sudo)"
#define PASS    "; modprobe amdgpu; in a container: --device=/dev/kfd --device=/dev/dri"
#define GROUP   "; join the group that owns it (render on most systems), or run as root"
#define GONE    "No such file or directory"
#define OLD     "; Linux 6.5 or later; what counts is kfd-version"
#define OWN     ": its own driver cannot suspend queues, another might" OLD
#define CRASHES "suspending a process that left a GPU unopened can crash this driver"
#define ONLY    "; run as root: only debugfs tells where it is safe"
#define NOGPU                         \
	{                             \
		NODES "1/gpu_id", "0" \
	}
#define SECOND                        \
	{                             \
		NODES "2/gpu_id", "5" \
	}
#define EDIT(...)                        \
	{                                \
		.edits = { __VA_ARGS__ } \
	}

struct check_case {
	const char *name, *line;
	struct host h;
};

static const struct check_case driver_cases[] = {
	{"kernel", "ok Linux 6.12.95-amd64", EDIT({0})},
	{"kernel", "ok Linux 6.5.0", EDIT({KERNEL "osrelease", "6.5.0\n"})},
	{"kernel", "unknown Linux 6.4.9" OWN, EDIT({KERNEL "osrelease", "6.4.9"})},
	{"kernel", "unknown Linux 5.19.0" OWN, EDIT({KERNEL "osrelease", "5.19.0"})},
	{"kernel", "ok Linux 7.0", EDIT({KERNEL "osrelease", "7.0"})},
	{"kernel", "unknown Linux 6" OWN, EDIT({KERNEL "osrelease", "6"})},
	{"kernel", "unknown osrelease: " GONE "; mount /proc", EDIT({KERNEL "osrelease", NULL})},
	{"kernel",
	 "unknown osrelease: was not recorded" RECORD,
	 {.edits = {{KERNEL "osrelease", NULL}}, .recorded = true}},
	{"driver", "ok amdgpu", EDIT({0})},
	{"driver", "ok amdgpu, out of tree, 6.8.5",
	 EDIT({"/sys/module/amdgpu/version", "6.8.5\n"})},
	{"driver",
	 "no /sys/class/kfd/kfd: " GONE
	 "; modprobe amdgpu; is there an AMD GPU, and does dmesg say why not?",
	 {.deny = "/sys/class/kfd/kfd", .error = ENOENT}},
	{"dev-kfd", "ok /dev/kfd is readable and writable", EDIT({0})},
	{"dev-kfd", "no /dev/kfd: " GONE PASS, EDIT({"/dev/kfd", NULL})},
	{"dev-kfd", "no /dev/kfd: Permission denied" GROUP, {.deny = "/dev/kfd", .error = EACCES}},
	{"dev-kfd", "unknown a recorded host cannot tell" THERE, {.recorded = true}},
	{"kfd-version", "ok interface 1.17", EDIT({0})},
	{"kfd-version", "ok interface 1.13", {.minor = 13}},
	{"kfd-version", "ok interface 1.18", {.minor = 18}},
	{"kfd-version",
	 "ok interface 1.19; queues of secondary contexts are out of reach",
	 {.minor = 19}},
	{"kfd-version",
	 "no interface 1.12; 1.13 is needed to suspend queues: Linux 6.5 or later",
	 {.minor = 12}},
	{"kfd-version",
	 "no interface 2.14; 1.13 is needed to suspend queues: Linux 6.5 or later",
	 {.major = 2, .minor = 14}},
	{"kfd-version", "unknown /dev/kfd: " GONE PASS, {.open_error = -ENOENT}},
	{"kfd-version", "unknown /dev/kfd: No such device" PASS, {.open_error = -ENODEV}},
	{"kfd-version", "unknown /dev/kfd: No such device or address" PASS, {.open_error = -ENXIO}},
	{"kfd-version", "unknown /dev/kfd: Permission denied" GROUP, {.open_error = -EACCES}},
	{"kfd-version",
	 "unknown /dev/kfd: Operation not permitted; the device cgroup of this container denies "
	 "it: --device=/dev/kfd",
	 {.open_error = -EPERM}},
	{"kfd-version",
	 "unknown /dev/kfd: Invalid argument; a GPU reset or system suspend is going on: try again",
	 {.open_error = -EINVAL}},
	{"kfd-version",
	 "no /dev/kfd does not open: no GPU; see the line gpus",
	 {.edits = {NOGPU}, .open_error = -EINVAL}},
	{"kfd-version", "unknown /dev/kfd: " GONE PASS, {.edits = {NOGPU}, .open_error = -ENOENT}},
	{"kfd-version",
	 "unknown /dev/kfd: Input/output error; does dmesg say why?",
	 {.ioctl_error = -EIO}},
	{"driver-faults", "ok none known", {.edits = {SECOND}}},
	{"driver-faults", "ok none known that matters with one GPU",
	 EDIT({KERNEL "osrelease", "7.3.4"})},
	{"driver-faults", "ok gpq refuses what can crash this driver",
	 EDIT({KERNEL "osrelease", "7.3.4"}, SECOND)},
	{"driver-faults", "unknown " CRASHES ONLY,
	 EDIT({KERNEL "osrelease", "7.3.4"}, SECOND, {"/sys/kernel/debug/kfd/proc", NULL})},
	{"driver-faults",
	 "unknown " CRASHES THERE,
	 {.edits = {{KERNEL "osrelease", "7.3.4"}, SECOND}, .recorded = true}},
	{"driver-faults",
	 "unknown " CRASHES ONLY,
	 {.edits = {{KERNEL "osrelease", NULL}, SECOND}, .minor = 20}},
	{"driver-faults", "ok none known", {.edits = {{KERNEL "osrelease", NULL}, SECOND}}},
	{"driver-faults",
	 "ok gpq refuses what can crash this driver",
	 {.edits = {{KERNEL "osrelease", NULL}, SECOND}, .minor = 23}},
	{"processes", "ok processes that opened KFD: 2", EDIT({0})},
	{"processes",
	 "no /sys/class/kfd/kfd/proc: Permission denied; Linux 5.8 or later, with the KFD driver",
	 {.deny = "/sys/class/kfd/kfd/proc", .error = EACCES}},
	{"processes",
	 "no /sys/class/kfd/kfd/proc: " GONE "; Linux 5.8 or later, with the KFD driver",
	 {.deny = "/sys/class/kfd/kfd/proc", .error = ENOENT}},
	{"processes",
	 "unknown /sys/class/kfd/kfd/proc was not recorded" RECORD,
	 {.deny = "/sys/class/kfd/kfd/proc", .error = ENOENT, .recorded = true}},
	{"processes",
	 "no /sys/class/kfd/kfd/proc: Permission denied; Linux 5.8 or later, with the KFD driver",
	 {.deny = "/sys/class/kfd/kfd/proc", .error = EACCES, .recorded = true}},
};

#define LACKS "; hide that GPU from the process (device cgroup): all it sees must have the bit"
#define LACKS_FIRMWARE \
	"; install newer GPU firmware (linux-firmware) and boot; gfx8 and older never can"
#define NODE(n, text)                        \
	{NODES #n "/gpu_id", "5"},           \
	{                                    \
		NODES #n "/properties", text \
	}
#define TWO(text) .edits = {NODE(2, text)}

static const struct check_case gpu_cases[] = {
	{"gpus", "ok GPUs: 1", EDIT({0})},
	{"gpus", "ok GPUs: 2", {TWO(GPU(90402, 0))}},
	{"gpus", "ok GPUs: 2, of them unreadable: 1", EDIT({NODES "2/gpu_id", "/"})},
	{"gpus", "no GPUs: 2, none readable; let the device cgroup of this container have the GPUs",
	 EDIT({NODES "1/gpu_id", "/"}, {NODES "2/gpu_id", "/"})},
	{"gpus", "no GPUs: 0; is one plugged in, and does dmesg say why it is not used?",
	 EDIT(NOGPU)},
	{"debug-driver", "ok bit 0x8000 is set on 1 of 1 GPUs", EDIT({0})},
	{"debug-driver", "ok bit 0x8000 is set on 2 of 2 GPUs", {TWO(GPU(90402, 32768))}},
	{"debug-driver", "ok bit 0x8000 is set on 1 of 2 GPUs", {TWO("gfx_target_version 90010")}},
	{"debug-driver",
	 "no 1 of 2 GPUs without bit 0x8000, first node 2 (gfx90a)" LACKS,
	 {TWO(GPU(90010, 536870912))}},
	{"debug-driver", "no 2 of 2 GPUs without bit 0x8000, first node 1 (gfx942)" LACKS,
	 EDIT(NODE(2, GPU(90010, 0)), {NODES "1/properties", GPU(90402, 1)})},
	{"debug-driver", "no 1 of 1 GPUs without bit 0x8000, first node 1 (unknown)" LACKS,
	 EDIT({NODES "1/properties", "capability 1\n"})},
	{"debug-driver", "unknown no GPU tells its capability; see the line gpus",
	 EDIT({NODES "1/properties", "gfx_target_version 90010\n"})},
	{"debug-firmware", "ok bit 0x20000000 is set on 1 of 1 GPUs", EDIT({0})},
	{"debug-firmware",
	 "no 1 of 2 GPUs without bit 0x20000000, first node 2 (gfx90a)" LACKS_FIRMWARE,
	 {TWO(GPU(90010, 32768))}},
	{"scheduler",
	 "ok HWS: each suspend preempts all processes on the GPU",
	 {TWO(GPU(90010, 0))}},
	{"scheduler", "ok MES: no runlist to look at",
	 EDIT({NODES "1/properties", GPU(110000, 0)})},
	{"scheduler", "ok HWS for 1, MES (no runlist) for 1", {TWO(GPU(110000, 0))}},
	{"scheduler", "unknown no GPU tells its gfx version; see the line gpus",
	 EDIT({NODES "1/properties", "capability 1\n"})},
	{"sched-policy", "ok 0: firmware schedules, more queues than slots allowed", EDIT({0})},
	{"sched-policy", "ok 1: firmware schedules, no more queues than slots",
	 EDIT({PARAM "sched_policy", "1"})},
	{"sched-policy",
	 "no 2: no firmware scheduler; the driver refuses all debug calls; boot without "
	 "amdgpu.sched_policy=2",
	 EDIT({PARAM "sched_policy", "2"})},
	{"sched-policy", "unknown 3 is not known; boot without amdgpu.sched_policy, if in doubt",
	 EDIT({PARAM "sched_policy", "3"})},
	{"sched-policy",
	 "unknown sched_policy: Permission denied" ROOT,
	 {.deny = PARAM "sched_policy", .error = EACCES}},
	{"sched-policy",
	 "unknown sched_policy: " GONE
	 "; modprobe amdgpu; does dmesg say why the driver has no GPU?",
	 EDIT({PARAM "sched_policy", NULL})},
	{"sched-policy",
	 "unknown sched_policy: was not recorded" RECORD,
	 {.edits = {{PARAM "sched_policy", NULL}}, .recorded = true}},
	{"sched-policy",
	 "unknown sched_policy: no number from 0 up; modinfo -p amdgpu tells what it may be",
	 EDIT({PARAM "sched_policy", "-1"})},
	{"sched-policy",
	 "unknown sched_policy: Input/output error; modinfo -p amdgpu tells what it may be",
	 {.deny = PARAM "sched_policy", .error = EIO}},
	{"num-kcq", "unknown no GPU tells its slots; see the line gpus", EDIT({0})},
	{"num-kcq",
	 "ok 8 of 32 slots an XCC are the kernel's, 24 left; amdgpu.num_kcq=1 leaves more",
	 EDIT({NODES "1/properties", SLOTS(1, 24)})},
	{"num-kcq",
	 "ok 2 of 32 slots an XCC are the kernel's, 30 left; amdgpu.num_kcq=1 leaves more",
	 EDIT({NODES "1/properties", SLOTS(4, 30)}, {PARAM "num_kcq", "2\n"})},
	{"num-kcq", "ok 1 of 16 slots an XCC are the kernel's, 15 left",
	 EDIT({NODES "1/properties", SLOTS(1, 15)}, {PARAM "num_kcq", "1\n"})},
	{"num-kcq",
	 "ok 8 of 32 slots an XCC are the kernel's, 24 left; amdgpu.num_kcq=1 leaves more",
	 EDIT({NODES "1/properties", SLOTS(4, 96)}, {PARAM "num_kcq", "9\n"})},
	{"num-kcq", "ok compute slots an XCC: 24",
	 EDIT({NODES "1/properties", SLOTS(1, 24)}, {PARAM "num_kcq", NULL})},
	{"cwsr", "ok waves are saved and restored", EDIT({0})},
	{"cwsr",
	 "no 0: a queue cannot leave the GPU in the middle of a kernel; boot with "
	 "amdgpu.cwsr_enable=1",
	 EDIT({PARAM "cwsr_enable", "0"})},
	{"preemption-timeout", "ok 9000 ms; a preemption that takes longer resets the GPU",
	 EDIT({0})},
	{"preemption-timeout", "ok 0 ms; a preemption that takes longer resets the GPU",
	 EDIT({PARAM "queue_preemption_timeout_ms", "0"})},
};

#define CAPS(hex)                                                                               \
	{                                                                                       \
		"/proc/self/status", "Name:\tgpq\nCapPrm:\tff\nCapEff:\t" hex "\nCapBnd:\tff\n" \
	}
#define SCOPE(n)                               \
	{                                      \
		KERNEL "yama/ptrace_scope", #n \
	}
#define USER_NS                                            \
	{                                                  \
		"/proc/self/ns/user", "@user:[4026532000]" \
	}
#define PID_NS                                           \
	{                                                \
		"/proc/self/ns/pid", "@pid:[4026532000]" \
	}
#define SYSCTL  "; run as root, or as root: sysctl kernel.yama.ptrace_scope=0"
#define OTHERS  "processes of other users are out of reach"
#define OUTSIDE "; run it outside of the user namespace"
#define NO_MEANING                                                                            \
	": sysfs shows the host's PIDs, which mean nothing in here; run gpq on the host, or " \
	"share "                                                                              \
	"its PID namespace (docker run --pid=host)"
#define MQDS    "/sys/kernel/debug/kfd/mqds"
#define TRACING "/sys/kernel/tracing"

static const struct check_case right_cases[] = {
	{"ptrace-scope", "ok 0: own processes may be traced", EDIT(CAPS("0"))},
	{"ptrace-scope", "ok 1, but CAP_SYS_PTRACE is here", EDIT(SCOPE(1), CAPS("80000"))},
	{"ptrace-scope", "no 1: only children may be traced without CAP_SYS_PTRACE" SYSCTL,
	 EDIT(SCOPE(1), CAPS("1f7ffff"))},
	{"ptrace-scope", "ok 2, but CAP_SYS_PTRACE is here", EDIT(SCOPE(2))},
	{"ptrace-scope", "no 2: tracing needs CAP_SYS_PTRACE" SYSCTL, EDIT(SCOPE(2), CAPS("0"))},
	{"ptrace-scope", "no 3: nobody may trace; boot with it below 3: it cannot be lowered",
	 EDIT(SCOPE(3))},
	{"ptrace-scope", "no 4: nobody may trace; boot with it below 3: it cannot be lowered",
	 EDIT(SCOPE(4))},
	{"ptrace-scope", "ok no Yama in this kernel", EDIT({KERNEL "yama/ptrace_scope", NULL})},
	{"ptrace-scope",
	 "unknown ptrace_scope: Permission denied" ROOT,
	 {.deny = KERNEL "yama/ptrace_scope", .error = EACCES}},
	{"ptrace-scope",
	 "unknown ptrace_scope: was not recorded" RECORD,
	 {.edits = {{KERNEL "yama/ptrace_scope", NULL}}, .recorded = true}},
	{"ptrace-scope",
	 "unknown 1: only children may be traced without CAP_SYS_PTRACE" SYSCTL,
	 {.edits = {SCOPE(1)}, .recorded = true}},
	{"cap-sys-ptrace", "ok yes", EDIT(CAPS("80000"))},
	{"cap-sys-ptrace", "no no: " OTHERS ROOT, EDIT(CAPS("1fffff7ffff"))},
	{"cap-sys-ptrace", "ok yes", EDIT(USER_NS)},
	{"cap-sys-ptrace", "unknown a recorded host cannot tell" THERE, {.recorded = true}},
	{"cap-sys-ptrace", "unknown a recorded host cannot tell" THERE,
	 EDIT({"/proc/self/status", "Name:\tCapEff:\t0\n"})},
	{"cap-sys-admin", "ok yes", EDIT(CAPS("200000"))},
	{"cap-sys-admin", "no no: KFD events of this process's own only" ROOT,
	 EDIT(CAPS("1ffffdfffff"))},
	{"cap-sys-admin",
	 "no only in a user namespace: KFD events of this process's own only" OUTSIDE,
	 EDIT(USER_NS)},
	{"cap-sys-admin", "ok yes", EDIT({"/proc/self/ns/user", NULL})},
	{"cap-checkpoint-restore", "ok yes", EDIT(CAPS("10000000000"))},
	{"cap-checkpoint-restore", "no no: the driver's checkpoint calls are refused" ROOT,
	 EDIT(CAPS("ffffffffff"))},
	{"pid-namespace", "ok the host's", EDIT({0})},
	{"pid-namespace", "no pid:[4026532000]" NO_MEANING, EDIT(PID_NS)},
	{"pid-namespace",
	 "no pid:[4026532000], docker container" NO_MEANING,
	 {.edits = {PID_NS}, .in = {.id = "0123456789", .runtime = "docker"}}},
	{"pid-namespace",
	 "no pid:[4026532000], container" NO_MEANING,
	 {.edits = {PID_NS}, .in = {.id = "0123456789", .runtime = ""}}},
	{"pid-namespace",
	 "no pid:[4026532000]" NO_MEANING,
	 {.edits = {PID_NS}, .in = {.id = "", .runtime = "docker"}}},
	{"pid-namespace", "unknown /proc/self/ns/pid: " GONE "; mount /proc",
	 EDIT({"/proc/self/ns/pid", NULL})},
	{"debugfs", "ok /sys/kernel/debug/kfd is readable", EDIT({0})},
	{"debugfs", "no " MQDS ": Permission denied" ROOT, {.deny = MQDS, .error = EACCES}},
	{"debugfs",
	 "no " MQDS ": Operation not permitted; see /sys/kernel/security/lockdown",
	 {.deny = MQDS, .error = EPERM}},
	{"debugfs",
	 "no " MQDS ": Operation not permitted" ROOT,
	 {.deny = MQDS, .error = EPERM, .user = true}},
	{"debugfs", "no " MQDS ": " GONE "; modprobe amdgpu; it needs CONFIG_DEBUG_FS",
	 EDIT({MQDS, NULL})},
	{"debugfs",
	 "no not mounted on /sys/kernel/debug; as root: mount -t debugfs none /sys/kernel/debug",
	 {.edits = {{MQDS, NULL}}, .unmounted = true}},
	{"debugfs",
	 "no " MQDS ": Permission denied" ROOT,
	 {.deny = MQDS, .error = EACCES, .unmounted = true}},
	{"debugfs",
	 "unknown " MQDS " was not recorded" RECORD,
	 {.edits = {{MQDS, NULL}}, .unmounted = true, .recorded = true}},
	{"tracefs", "ok " TRACING " is readable", EDIT({0})},
	{"tracefs", "ok /sys/kernel/debug/tracing is readable",
	 EDIT({TRACING "/events", NULL}, {"/sys/kernel/debug/tracing/events", "/"})},
	{"tracefs", "no " TRACING ": " GONE "; a kernel with CONFIG_FTRACE",
	 EDIT({TRACING "/events", NULL})},
	{"tracefs",
	 "no not mounted on " TRACING "; as root: mount -t tracefs none /sys/kernel/tracing",
	 {.edits = {{TRACING "/events", NULL}}, .unmounted = true}},
	{"tracefs",
	 "no " TRACING ": Permission denied" ROOT,
	 {.deny = TRACING "/events", .error = EACCES, .unmounted = true}},
	{"tracefs",
	 "unknown " TRACING " was not recorded" RECORD,
	 {.edits = {{TRACING "/events", NULL}}, .recorded = true}},
};

static void assert_cases(const struct check_case *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const char *line = line_of(&v[i].h, v[i].name);
		if (strcmp(line, v[i].line) != 0)
			fail_msg("%s, case %zu: %s, expected: %s", v[i].name, i, line, v[i].line);
	}
}

static void test_driver(void **state)
{
	(void)state;
	assert_cases(driver_cases, COUNT(driver_cases));
}

static void test_gpus(void **state)
{
	(void)state;
	assert_cases(gpu_cases, COUNT(gpu_cases));
}

static void test_rights(void **state)
{
	struct kfd_rights r;
	(void)state;
	assert_cases(right_cases, COUNT(right_cases));
	now = &well;
	kfd_rights_read(&r);
	assert_int_equal(r.caps, 0x1ffffffffff);
	assert_false(r.user_ns);
	now = &(const struct host){.recorded = true};
	put("/proc/self/ns/user", "@user:[1]");
	kfd_rights_read(&r);
	assert_int_equal(r.caps, KFD_UNKNOWN);
	assert_false(r.user_ns);
	put("/proc/self/ns/user", "@user:[4026531837]");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {cmocka_unit_test(test_driver),
						  cmocka_unit_test(test_gpus),
						  cmocka_unit_test(test_rights)};
	return cmocka_run_group_tests(tests, setup, teardown);
}
