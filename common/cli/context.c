// Facts of the host for --context; see context.h.
#include "common/cli/context.h"

#include "common/host/root.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static void add(struct context *c, const char *name, const char *key, const char *value)
{
	struct context_item *i = &c->item[c->n++];
	i->name = name;
	i->key = key;
	snprintf(i->value, sizeof(i->value), "%.*s", (int)strcspn(value, "\n"), value);
}

static void add_file(struct context *c, const char *name, const char *key, const char *path)
{
	struct buf b = {0};
	add(c, name, key, host_read(&b, path) > 0 ? b.data : "-");
	buf_fini(&b);
}

static void add_clock(struct context *c, const char *name, const char *key, clockid_t clock)
{
	struct timespec t;
	char ns[32];
	clock_gettime(clock, &t);
	snprintf(ns, sizeof(ns), "%lld%09ld", (long long)t.tv_sec, t.tv_nsec);
	// A recorded host's records were not read now: its clocks are those of the recording,
	// unknown here.
	add(c, name, key, host_is_live() ? ns : "-");
}

// The software GPU of tests/kernel says so itself: no time measured there is a GPU's. Its parameter
// is there for everybody, its folder for root and where debugfs is mounted.
static bool is_softgpu(void)
{
	return host_access("/sys/module/amdgpu/parameters/preempt_us", 0) == 0 ||
	       host_access("/sys/kernel/debug/softgpu", 0) == 0;
}

void context_init(struct context *c)
{
	char ns[64];
	c->n = 0;
	add_file(c, "HOST", "host", "/proc/sys/kernel/hostname");
	add_file(c, "KERNEL", "kernel", "/proc/sys/kernel/osrelease");
	add_file(c, "BOOT_ID", "boot_id", "/proc/sys/kernel/random/boot_id");
	add(c, "PID_NS", "pid_ns",
	    host_readlink("/proc/self/ns/pid", ns, sizeof(ns)) > 0 ? ns : "-");
	add_clock(c, "MONOTONIC_NS", "monotonic_ns", CLOCK_MONOTONIC);
	add_clock(c, "REALTIME_NS", "realtime_ns", CLOCK_REALTIME);
	add(c, "SOURCE", "source",
	    !host_is_live() ? "recorded"
	    : is_softgpu()  ? "softgpu"
			    : "live");
}

void context_fini(struct context *c)
{
	c->n = 0;
}
