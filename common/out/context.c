// Facts of the host for --context; see out.h.
#include "common/out/out_priv.h"

#include "common/out/columns.h"
#include "common/host/clock.h"
#include "common/host/root.h"

#define ROW                      context
#define FACT(member, name, type) COL(member, name, #member, type, 0, "")

static const struct out_col cols[CONTEXT_FACTS] = {
	FACT(host, "HOST", STR),
	FACT(kernel, "KERNEL", STR),
	FACT(boot_id, "BOOT_ID", STR),
	FACT(pid_ns, "PID_NS", STR),
	FACT(monotonic_ns, "MONOTONIC_NS", U64),
	FACT(realtime_ns, "REALTIME_NS", U64),
	FACT(source, "SOURCE", STR),
};
const struct out_table context_table = {"context", "context", cols, CONTEXT_FACTS};

// Reads the first line of `path` into the next free c->text. Returns NULL if it cannot be read.
static const char *context_line(struct context *c, const char *path)
{
	char *text = c->text[c->n++];
	return host_read_line(text, sizeof(c->text[0]), path) ? text : NULL;
}

// Time of a clock in nanoseconds; U64_NULL on a recorded host, whose records are as old as the
// recording.
static uint64_t context_clock(clockid_t clock)
{
	return host_is_live() ? clock_read_ns(clock) : U64_NULL;
}

// Is the GPU the software GPU of tests/kernel, whose times tell nothing about hardware? Every user
// sees its module parameter, only root its debugfs folder, and only where debugfs is mounted.
static bool is_softgpu(void)
{
	return host_access("/sys/module/amdgpu/parameters/preempt_us", 0) == 0 ||
	       host_access("/sys/kernel/debug/softgpu", 0) == 0;
}

void context_init(struct context *c)
{
	bool ns = host_readlink("/proc/self/ns/pid", c->text[0], sizeof(c->text[0])) > 0;
	c->pid_ns = ns ? c->text[0] : NULL;
	c->n = 1;
	c->host = context_line(c, "/proc/sys/kernel/hostname");
	c->kernel = context_line(c, "/proc/sys/kernel/osrelease");
	c->boot_id = context_line(c, "/proc/sys/kernel/random/boot_id");
	c->monotonic_ns = context_clock(CLOCK_MONOTONIC);
	c->realtime_ns = context_clock(CLOCK_REALTIME);
	c->source = !host_is_live() ? "recorded" : is_softgpu() ? "softgpu" : "live";
}
