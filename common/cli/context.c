// Facts of the host for --context; see context.h.
#include "common/cli/out_priv.h"

#include "common/host/root.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define COL(member, name) OUT_COL(context, member, name, #member, OUT_STR, 0, NULL)

static const struct out_col cols[CONTEXT_FACTS] = {
	COL(host, "HOST"),
	COL(kernel, "KERNEL"),
	COL(boot_id, "BOOT_ID"),
	COL(pid_ns, "PID_NS"),
	COL(monotonic_ns, "MONOTONIC_NS"),
	COL(realtime_ns, "REALTIME_NS"),
	COL(source, "SOURCE"),
};
const struct out_table context_table = {"context", "context", cols, CONTEXT_FACTS};

static void set(struct context *c, const char **member, const char *value)
{
	char *text = c->text[c->n++];
	snprintf(text, sizeof(c->text[0]), "%.*s", (int)strcspn(value, "\n"), value);
	*member = text;
}

static void set_file(struct context *c, const char **member, const char *path)
{
	struct buf b = {0};
	set(c, member, host_read(&b, path) > 0 ? b.data : "-");
	buf_fini(&b);
}

static void set_clock(struct context *c, const char **member, clockid_t clock)
{
	struct timespec t;
	char ns[32];
	clock_gettime(clock, &t);
	snprintf(ns, sizeof(ns), "%lld%09ld", (long long)t.tv_sec, t.tv_nsec);
	// A recorded host's records were not read now: its clocks are those of the recording,
	// unknown here.
	set(c, member, host_is_live() ? ns : "-");
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
	set_file(c, &c->host, "/proc/sys/kernel/hostname");
	set_file(c, &c->kernel, "/proc/sys/kernel/osrelease");
	set_file(c, &c->boot_id, "/proc/sys/kernel/random/boot_id");
	set(c, &c->pid_ns, host_readlink("/proc/self/ns/pid", ns, sizeof(ns)) > 0 ? ns : "-");
	set_clock(c, &c->monotonic_ns, CLOCK_MONOTONIC);
	set_clock(c, &c->realtime_ns, CLOCK_REALTIME);
	set(c, &c->source, !host_is_live() ? "recorded" : is_softgpu() ? "softgpu" : "live");
}
