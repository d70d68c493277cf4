// The preflight; see check.h. Each check_ function makes one line of the report.
#include "common/kfd/check.h"

#include "common/host/container.h"
#include "common/host/root.h"
#include "common/kfd/driver.h"
#include "common/kfd/topology.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/vfs.h>

// State of the report: the line that is being made, and facts that several lines need.
struct report {
	struct kfd_check *line;
	const struct line *about;
	struct kfd_topology topology;
	int topology_error; // 0, or -errno of loading the topology
	struct kfd_rights rights;
	struct kfd_version version; // 0.0: unknown; version_error may tell why
	int version_error;          // 0, or -errno of asking /dev/kfd
};

// A row of lines[]: how one line of the report is made.
struct line {
	const char *name, *commands, *must;
	void (*check)(struct report *r);
	uint64_t arg;     // check_bit(): bit of `capability`; check_cap(): number of the capability
	const char *text; // check_bit(): mend; check_cap(): loss; check_parameter(): parameter
	bool live;        // only a live host can tell what the line says
};

static void __attribute__((format(printf, 4, 5)))
set_line(struct report *r, enum kfd_check_status status, const char *mend, const char *fmt, ...)
{
	struct kfd_check *c = r->line;
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

// Makes a line about a missing file, which on a recorded host may just not have been recorded.
static void set_missing(struct report *r, int error, const char *path, const char *mend)
{
	if (!host_is_live() && error == ENOENT)
		set_line(r, KFD_CHECK_UNKNOWN, MEND_RECORD, "%s was not recorded", path);
	else
		set_line(r, KFD_CHECK_NO, mend, "%s: %s", path, strerror(error));
}

static void set_live_only(struct report *r)
{
	set_line(r, KFD_CHECK_UNKNOWN, MEND_ON_HOST, "a recorded host cannot tell");
}

// The first line of a file, without its newline; NULL: unreadable.
static const char *first_line_of(struct buf *b, const char *path)
{
	if (host_read(b, path) < 0)
		return NULL;
	b->data[strcspn(b->data, "\n")] = '\0';
	return b->data;
}

static void check_kernel(struct report *r)
{
	SCOPED(buf_fini) struct buf b = {0};
	char *dot = NULL;
	const char *release = first_line_of(&b, "/proc/sys/kernel/osrelease");
	unsigned long major = release ? strtoul(release, &dot, 10) : 0;
	unsigned long minor = dot && *dot == '.' ? strtoul(dot + 1, NULL, 10) : 0;
	if (!release)
		set_line(r, KFD_CHECK_UNKNOWN, host_is_live() ? "mount /proc" : MEND_RECORD,
			 "osrelease: %s", host_is_live() ? strerror(errno) : "was not recorded");
	else if (major > 6 || (major == 6 && minor >= 5))
		set_line(r, KFD_CHECK_OK, NULL, "Linux %s", release);
	else
		set_line(r, KFD_CHECK_UNKNOWN, "Linux 6.5 or later; what counts is kfd-version",
			 "Linux %s: its own driver cannot suspend queues, another might", release);
}

static void check_driver(struct report *r)
{
	SCOPED(buf_fini) struct buf b = {0};
	if (host_access("/sys/class/kfd/kfd", F_OK)) {
		set_line(r, KFD_CHECK_NO,
			 "modprobe amdgpu; is there an AMD GPU, and does dmesg say why not?",
			 "/sys/class/kfd/kfd: %s", strerror(errno));
		return;
	}
	// A driver has a version only if it was built outside of the kernel tree.
	const char *version = first_line_of(&b, "/sys/module/amdgpu/version");
	set_line(r, KFD_CHECK_OK, NULL, "amdgpu%s%s", version ? ", out of tree, " : "",
		 version ? version : "");
}

static const char MEND_ROOT[] = "run as root (sudo)";
static const char MEND_PASS_IN[] =
	"modprobe amdgpu; in a container: --device=/dev/kfd --device=/dev/dri";

static void check_device(struct report *r)
{
	if (host_access(KFD_DEVICE_PATH, R_OK | W_OK) == 0)
		set_line(r, KFD_CHECK_OK, NULL, KFD_DEVICE_PATH " is readable and writable");
	else
		set_line(r, KFD_CHECK_NO, errno == ENOENT ? MEND_PASS_IN : KFD_NEXT_GROUP,
			 KFD_DEVICE_PATH ": %s", strerror(errno));
}

static const char *mend_open(int error)
{
	switch (error) {
	case ENOENT:
	case ENODEV:
	case ENXIO: return MEND_PASS_IN;
	case EACCES: return KFD_NEXT_GROUP;
	case EPERM: return "the device cgroup of this container denies it: --device=/dev/kfd";
	case EINVAL: return "a GPU reset or system suspend is going on: try again";
	default: return "does dmesg say why?";
	}
}

static void set_version(struct report *r, const struct kfd_version *v)
{
	if (v->major != KFD_MAJOR || v->minor < KFD_MINOR_DEBUG)
		set_line(r, KFD_CHECK_NO, "1.13 is needed to suspend queues: Linux 6.5 or later",
			 "interface %u.%u", v->major, v->minor);
	else
		set_line(r, KFD_CHECK_OK, NULL, "interface %u.%u%s", v->major, v->minor,
			 v->minor >= KFD_MINOR_CONTEXTS
				 ? "; queues of secondary contexts are out of reach"
				 : "");
}

static void check_version(struct report *r)
{
	if (r->version_error == -EINVAL && !r->topology.n)
		set_line(r, KFD_CHECK_NO, MEND_GPUS, KFD_DEVICE_PATH " does not open: no GPU");
	else if (r->version_error)
		set_line(r, KFD_CHECK_UNKNOWN, mend_open(-r->version_error), KFD_DEVICE_PATH ": %s",
			 strerror(-r->version_error));
	else
		set_version(r, &r->version);
}

// SUSPEND_QUEUES can crash only if there is a GPU after the first one [kfd.suspend-crash].
static void check_faults(struct report *r)
{
	const char *mend =
		host_is_live() ? "run as root: only debugfs tells where it is safe" : MEND_ON_HOST;
	struct kfd_driver d;
	kfd_driver_read(&d, r->version.minor);
	enum kfd_answer3 crash = kfd_driver_fact(&d, KFD_FACT_SUSPEND_CRASH);
	if (crash == KFD_ANSWER_NO)
		set_line(r, KFD_CHECK_OK, NULL, "none known");
	else if (r->topology.n == 1)
		set_line(r, KFD_CHECK_OK, NULL, "none known that matters with one GPU");
	else if (crash == KFD_ANSWER_YES && host_is_live() &&
		 host_access("/sys/kernel/debug/kfd/proc", R_OK | X_OK) == 0)
		set_line(r, KFD_CHECK_OK, NULL, "gpq refuses what can crash this driver");
	else
		set_line(r, KFD_CHECK_UNKNOWN, mend,
			 "suspending a process that left a GPU unopened can crash this driver");
}

static void check_gpus(struct report *r)
{
	size_t denied = 0;
	for (size_t i = 0; i < r->topology.n; i++)
		denied += r->topology.gpus[i].error != 0;
	if (r->topology_error)
		set_line(r, KFD_CHECK_NO, MEND_DRIVER, "/sys/class/kfd/kfd/topology/nodes: %s",
			 strerror(-r->topology_error));
	else if (r->topology.n == denied)
		set_line(r, KFD_CHECK_NO,
			 denied ? "let the device cgroup of this container have the GPUs"
				: "is one plugged in, and does dmesg say why it is not used?",
			 denied ? "GPUs: %zu, none readable" : "GPUs: %zu", denied);
	else
		set_line(r, KFD_CHECK_OK, NULL,
			 denied ? "GPUs: %zu, of them unreadable: %zu" : "GPUs: %zu", r->topology.n,
			 denied);
}

static void check_processes(struct report *r)
{
	DIR *d = host_opendir("/sys/class/kfd/kfd/proc");
	if (!d) {
		set_missing(r, errno, "/sys/class/kfd/kfd/proc",
			    "Linux 5.8 or later, with the KFD driver");
		return;
	}
	size_t n = 0;
	uint32_t pid;
	for (struct dirent *e = NULL; (e = host_readdir(d));)
		n += kfd_parse_id(e->d_name, &pid);
	closedir(d);
	set_line(r, KFD_CHECK_OK, NULL, "processes that opened KFD: %zu", n);
}

// Checks one bit of `capability` on each GPU: a process's debug session is set up on all GPUs.
static void check_bit(struct report *r)
{
	const uint64_t bit = r->about->arg;
	size_t have = 0, told = 0;
	const struct kfd_gpu *lacks = NULL;
	for (size_t i = 0; i < r->topology.n; i++) {
		const struct kfd_gpu *g = &r->topology.gpus[i];
		if (g->capability == KFD_UNKNOWN)
			continue;
		told++;
		if (g->capability & bit)
			have++;
		else if (!lacks)
			lacks = g;
	}
	if (lacks)
		set_line(r, KFD_CHECK_NO, r->about->text,
			 "%zu of %zu GPUs without bit 0x%llx, first node %llu (%s)", told - have,
			 told, (unsigned long long)bit, (unsigned long long)lacks->node,
			 lacks->gfx[0] ? lacks->gfx : "unknown");
	else if (told)
		set_line(r, KFD_CHECK_OK, NULL, "bit 0x%llx is set on %zu of %zu GPUs",
			 (unsigned long long)bit, have, r->topology.n);
	else
		set_line(r, KFD_CHECK_UNKNOWN, MEND_GPUS, "no GPU tells its capability");
}

static void check_scheduler(struct report *r)
{
	size_t mes = 0, hws = 0;
	for (size_t i = 0; i < r->topology.n; i++)
		if (r->topology.gpus[i].gfx[0]) {
			mes += kfd_gpu_uses_mes(&r->topology.gpus[i]);
			hws += !kfd_gpu_uses_mes(&r->topology.gpus[i]);
		}
	if (mes && hws)
		set_line(r, KFD_CHECK_OK, NULL, "HWS for %zu, MES (no runlist) for %zu", hws, mes);
	else if (mes)
		set_line(r, KFD_CHECK_OK, NULL, "MES: no runlist to look at");
	else if (hws)
		set_line(r, KFD_CHECK_OK, NULL,
			 "HWS: each suspend preempts all processes on the GPU");
	else
		set_line(r, KFD_CHECK_UNKNOWN, MEND_GPUS, "no GPU tells its gfx version");
}

// What values of module parameters mean: the parameter's first row with most >= value counts.
static const struct meaning {
	const char *parameter;
	uint64_t most;
	enum kfd_check_status status;
	const char *mend, *text; // the value is printed before a text that begins with ":" or " "
} meanings[] = {
	{"sched_policy", 0, KFD_CHECK_OK, NULL,
	 ": firmware schedules, more queues than slots allowed"},
	{"sched_policy", 1, KFD_CHECK_OK, NULL, ": firmware schedules, no more queues than slots"},
	{"sched_policy", 2, KFD_CHECK_NO, "boot without amdgpu.sched_policy=2",
	 ": no firmware scheduler; the driver refuses all debug calls"},
	{"sched_policy", UINT64_MAX, KFD_CHECK_UNKNOWN,
	 "boot without amdgpu.sched_policy, if in doubt", " is not known"},
	{"cwsr_enable", 0, KFD_CHECK_NO, "boot with amdgpu.cwsr_enable=1",
	 ": a queue cannot leave the GPU in the middle of a kernel"},
	{"cwsr_enable", UINT64_MAX, KFD_CHECK_OK, NULL, "waves are saved and restored"},
	{"queue_preemption_timeout_ms", UINT64_MAX, KFD_CHECK_OK, NULL,
	 " ms; a preemption that takes longer resets the GPU"},
};

static void set_unread_parameter(struct report *r, int error)
{
	const bool unrecorded = !host_is_live() && error == ENOENT;
	set_line(r, KFD_CHECK_UNKNOWN,
		 unrecorded        ? MEND_RECORD
		 : error == EACCES ? MEND_ROOT
		 : error == ENOENT ? MEND_DRIVER
				   : "modinfo -p amdgpu tells what it may be",
		 "%s: %s", r->about->text,
		 unrecorded        ? "was not recorded"
		 : error == EINVAL ? "no number from 0 up"
				   : strerror(error));
}

static void check_parameter(struct report *r)
{
	const struct meaning *m = meanings;
	char number[24] = "";
	uint64_t v = 0;
	if (host_read_u64(PATH("/sys/module/amdgpu/parameters/%s", r->about->text), &v)) {
		set_unread_parameter(r, errno);
		return;
	}
	while (strcmp(m->parameter, r->about->text) != 0 || v > m->most)
		m++;
	if (strchr(": ", *m->text))
		snprintf(number, sizeof(number), "%llu", (unsigned long long)v);
	set_line(r, m->status, m->mend, "%s%s", number, m->text);
}

// Reports how many slots amdgpu.num_kcq leaves to KFD, on the GPU with the fewest [kfd.slots].
static void check_slots(struct report *r)
{
	const uint64_t kcq = kfd_num_kcq();
	uint64_t slots = KFD_UNKNOWN;
	for (size_t i = 0; i < r->topology.n; i++)
		if (r->topology.gpus[i].cp_queues < slots)
			slots = r->topology.gpus[i].cp_queues;
	if (slots == KFD_UNKNOWN)
		set_line(r, KFD_CHECK_UNKNOWN, MEND_GPUS, "no GPU tells its slots");
	else if (kcq == KFD_UNKNOWN)
		set_line(r, KFD_CHECK_OK, NULL, "compute slots an XCC: %" PRIu64, slots);
	else
		set_line(r, KFD_CHECK_OK, NULL,
			 "%" PRIu64 " of %" PRIu64 " slots an XCC are the kernel's, %" PRIu64
			 " left%s",
			 kcq, slots + kcq, slots, kcq > 1 ? "; amdgpu.num_kcq=1 leaves more" : "");
}

static void check_cap(struct report *r)
{
	const char *what = r->about->text;
	if (r->rights.caps == KFD_UNKNOWN)
		set_live_only(r);
	else if (!(r->rights.caps >> r->about->arg & 1))
		set_line(r, KFD_CHECK_NO, MEND_ROOT, "no: %s", what);
	else if (r->rights.user_ns && r->about->arg != KFD_CAP_PTRACE)
		set_line(r, KFD_CHECK_NO, "run it outside of the user namespace",
			 "only in a user namespace: %s", what);
	else
		set_line(r, KFD_CHECK_OK, NULL, "yes");
}

// Who may trace by Yama's ptrace_scope: 1 ancestors and CAP_SYS_PTRACE, 2 CAP_SYS_PTRACE, 3 nobody.
static void check_ptrace_scope(struct report *r)
{
	static const char mend[] = "run as root, or as root: sysctl kernel.yama.ptrace_scope=0";
	uint64_t v = 0;
	const uint64_t caps = r->rights.caps;
	if (host_read_u64("/proc/sys/kernel/yama/ptrace_scope", &v)) {
		if (errno == ENOENT && host_is_live())
			set_line(r, KFD_CHECK_OK, NULL, "no Yama in this kernel");
		else
			set_line(r, KFD_CHECK_UNKNOWN, host_is_live() ? MEND_ROOT : MEND_RECORD,
				 "ptrace_scope: %s",
				 host_is_live() ? strerror(errno) : "was not recorded");
	} else if (v == 0) {
		set_line(r, KFD_CHECK_OK, NULL, "0: own processes may be traced");
	} else if (v >= 3) {
		set_line(r, KFD_CHECK_NO, "boot with it below 3: it cannot be lowered",
			 "%llu: nobody may trace", (unsigned long long)v);
	} else if (caps != KFD_UNKNOWN && (caps >> KFD_CAP_PTRACE & 1)) {
		set_line(r, KFD_CHECK_OK, NULL, "%llu, but CAP_SYS_PTRACE is here",
			 (unsigned long long)v);
	} else {
		set_line(r, caps == KFD_UNKNOWN ? KFD_CHECK_UNKNOWN : KFD_CHECK_NO, mend,
			 v == 1 ? "%llu: only children may be traced without CAP_SYS_PTRACE"
				: "%llu: tracing needs CAP_SYS_PTRACE",
			 (unsigned long long)v);
	}
}

// gpq is on the host if its PID namespace has the initial one's number (PROC_PID_INIT_INO).
static void check_pid_namespace(struct report *r)
{
	static const char initial[] = "pid:[4026531836]";
	char ns[64];
	struct container in;
	if (host_readlink("/proc/self/ns/pid", ns, sizeof(ns)) < 0) {
		set_line(r, KFD_CHECK_UNKNOWN, "mount /proc", "/proc/self/ns/pid: %s",
			 strerror(errno));
	} else if (strcmp(ns, initial) == 0) {
		set_line(r, KFD_CHECK_OK, NULL, "the host's");
	} else {
		container_of(&in, getpid());
		set_line(r, KFD_CHECK_NO,
			 "run gpq on the host, or share its PID namespace (docker run --pid=host)",
			 "%s%s%s%s: sysfs shows the host's PIDs, which mean nothing in here", ns,
			 in.id[0] ? ", " : "", in.id[0] ? in.runtime : "",
			 !in.id[0]       ? ""
			 : in.runtime[0] ? " container"
					 : "container");
	}
}

// Is a file system of this magic number mounted at `dir`? On a recorded host: true.
static bool is_mounted(const char *dir, unsigned magic)
{
	struct statfs fs;
	if (!host_is_live())
		return true;
	return statfs(dir, &fs) == 0 && (unsigned)fs.f_type == magic;
}

static void check_debugfs(struct report *r)
{
	static const char file[] = "/sys/kernel/debug/kfd/mqds";
	int fd = host_open(file, O_RDONLY);
	int error = errno;
	if (fd >= 0) {
		close(fd);
		set_line(r, KFD_CHECK_OK, NULL, "/sys/kernel/debug/kfd is readable");
	} else if (error == EPERM && geteuid() == 0) { // under lockdown=confidentiality
		set_missing(r, error, file, "see /sys/kernel/security/lockdown");
	} else if (error == ENOENT && !is_mounted("/sys/kernel/debug", DEBUGFS_MAGIC)) {
		set_line(r, KFD_CHECK_NO, "as root: mount -t debugfs none /sys/kernel/debug",
			 "not mounted on /sys/kernel/debug");
	} else {
		set_missing(r, error, file,
			    error == ENOENT ? "modprobe amdgpu; it needs CONFIG_DEBUG_FS"
					    : MEND_ROOT);
	}
}

static void check_tracefs(struct report *r)
{
	static const char *const dirs[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};
	int error = ENOENT;
	for (unsigned i = 0; i < 2; i++) {
		if (host_access(PATH("%s/events", dirs[i]), R_OK | X_OK) == 0) {
			set_line(r, KFD_CHECK_OK, NULL, "%s is readable", dirs[i]);
			return;
		}
		error = errno == ENOENT ? error : errno;
	}
	if (error == ENOENT && !is_mounted(dirs[0], TRACEFS_MAGIC))
		set_line(r, KFD_CHECK_NO, "as root: mount -t tracefs none /sys/kernel/tracing",
			 "not mounted on %s", dirs[0]);
	else
		set_missing(r, error, dirs[0],
			    error == ENOENT ? "a kernel with CONFIG_FTRACE" : MEND_ROOT);
}

void kfd_rights_read(struct kfd_rights *r)
{
	SCOPED(buf_fini) struct buf b = {0};
	char ns[64];
	*r = (struct kfd_rights){.caps = KFD_UNKNOWN};
	if (!host_is_live())
		return;
	const char *caps =
		host_read(&b, "/proc/self/status") > 0 ? strstr(b.data, "\nCapEff:") : NULL;
	if (caps)
		r->caps = strtoull(caps + strlen("\nCapEff:"), NULL, 16);
	// The initial user namespace has a fixed number: PROC_USER_INIT_INO in linux/proc_ns.h.
	r->user_ns = host_readlink("/proc/self/ns/user", ns, sizeof(ns)) > 0 &&
		     strcmp(ns, "user:[4026531837]") != 0;
}

// Commands that suspend queues. gpq resume is not one: it asks the holder, and needs no right.
#define SUSPENDERS   "suspend bench core sched"
#define ALL_BUT_LOGS "gpus events ps queues packets why hang hqd snapshot " SUSPENDERS

static const struct line lines[] = {
	{"kernel", SUSPENDERS, "", .check = check_kernel},
	{"driver", ALL_BUT_LOGS, ALL_BUT_LOGS, .check = check_driver},
	{"gpus", ALL_BUT_LOGS, "gpus events packets why hang hqd " SUSPENDERS, .check = check_gpus},
	{"processes", "events ps queues packets why hang snapshot",
	 "events ps queues packets why hang", .check = check_processes},
	{"dev-kfd", "events " SUSPENDERS, SUSPENDERS, .check = check_device, .live = true},
	{"kfd-version", SUSPENDERS, SUSPENDERS, .check = check_version, .live = true},
	{"driver-faults", SUSPENDERS, "", .check = check_faults},
	{"debug-driver", SUSPENDERS, SUSPENDERS, .check = check_bit, .arg = KFD_CAP_TRAP_DEBUG,
	 .text = "hide that GPU from the process (device cgroup): all it sees must have the bit"},
	{"debug-firmware", SUSPENDERS, SUSPENDERS, .check = check_bit,
	 .arg = KFD_CAP_DEBUG_FIRMWARE,
	 .text = "install newer GPU firmware (linux-firmware) and boot; gfx8 and older never can"},
	{"scheduler", "hqd " SUSPENDERS, "", .check = check_scheduler},
	{"sched-policy", "hqd " SUSPENDERS, SUSPENDERS, .check = check_parameter,
	 .text = "sched_policy"},
	{"cwsr", SUSPENDERS, SUSPENDERS, .check = check_parameter, .text = "cwsr_enable"},
	{"preemption-timeout", SUSPENDERS, "", .check = check_parameter,
	 .text = "queue_preemption_timeout_ms"},
	{"num-kcq", "ps queues why hqd", "", .check = check_slots},
	{"ptrace-scope", SUSPENDERS, SUSPENDERS, .check = check_ptrace_scope},
	{"cap-sys-ptrace", SUSPENDERS, "", .check = check_cap, .arg = KFD_CAP_PTRACE,
	 .text = "processes of other users are out of reach"},
	{"cap-sys-admin", "events trace", "", .check = check_cap, .arg = KFD_CAP_ADMIN,
	 .text = "KFD events of this process's own only"},
	{"cap-checkpoint-restore", "suspend", "", .check = check_cap, .arg = KFD_CAP_CRIU,
	 .text = "the driver's checkpoint calls are refused"},
	{"pid-namespace", "events ps queues packets why hang snapshot " SUSPENDERS,
	 "packets why hang", .check = check_pid_namespace, .live = true},
	{"debugfs", "ps queues packets why hang hqd snapshot", "hang hqd", .check = check_debugfs},
	{"tracefs", "trace snapshot", "", .check = check_tracefs},
};

size_t kfd_check_all(struct kfd_check checks[KFD_CHECKS_MAX])
{
	const size_t n = COUNT(lines);
	_Static_assert(COUNT(lines) <= KFD_CHECKS_MAX, "room for all lines");
	struct report r = {0};
	r.topology_error = kfd_topology_load(&r.topology, 0);
	kfd_rights_read(&r.rights);
	if (host_is_live()) {
		int fd = kfd_open();
		r.version_error = fd < 0 ? fd : kfd_ioctl(fd, KFD_GET_VERSION, &r.version);
		close_quietly(fd);
	}
	for (size_t i = 0; i < n; i++) {
		checks[i] = (struct kfd_check){.name = lines[i].name,
					       .commands = lines[i].commands,
					       .must = lines[i].must};
		r.line = &checks[i];
		r.about = &lines[i];
		if (lines[i].live && !host_is_live())
			set_live_only(&r);
		else
			lines[i].check(&r);
	}
	kfd_topology_fini(&r.topology);
	return n;
}
