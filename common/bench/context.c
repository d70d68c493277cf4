// Host and target of a measurement; context.h. Facts: [kfd.versions], [kfd.topology].
#include "common/bench/context.h"
#include "common/reader/reader.h"

#include "common/bench/child.h"
#include "common/out/out.h"
#include "common/host/proc.h"
#include "common/host/root.h"
#include "common/kfd/driver.h"
#include "common/kfd/topology.h"

#include <time.h>

#define ITEM(key, label)  MEMBER(text, bench_context, text[CONTEXT_##key], #key),
#define LABEL(key, label) (label),
const struct member bench_context_members[] = {BENCH_CONTEXT(ITEM){0}};
const char *const bench_context_label[CONTEXT_ITEMS] = {BENCH_CONTEXT(LABEL)};

// Appends to an item of the context, behind a blank; cuts off what does not fit.
__attribute__((format(printf, 3, 4))) static void context_add(struct bench_context *c,
							      enum bench_context_item i,
							      const char *fmt, ...)
{
	size_t len = strlen(c->text[i]), size = sizeof(c->text[i]);
	va_list ap;
	if (len && len + 1 < size)
		c->text[i][len++] = ' ';
	va_start(ap, fmt);
	vsnprintf(c->text[i] + len, size - len, fmt, ap);
	va_end(ap);
}

// Notes if this is a VM, by the processor's flags, and the maker of the hypervisor or machine.
static void add_machine(struct bench_context *c)
{
	SCOPED(buf_fini) struct buf b = {0};
	char maker[64];
	bool virtual = host_read(&b, "/proc/cpuinfo") > 0 && strstr(b.data, " hypervisor");
	host_read_line(maker, sizeof(maker), "/sys/class/dmi/id/sys_vendor");
	if (b.len)
		context_add(c, CONTEXT_machine, "%s (%s)", virtual ? "VM" : "bare metal",
			    *maker ? maker : "maker unknown");
	else
		context_add(c, CONTEXT_machine, "unknown");
}

// Notes the parameters of amdgpu that matter for suspending.
static void add_parameters(struct bench_context *c)
{
	static const char *const names[] = {"sched_policy",    "queue_preemption_timeout_ms",
					    "cwsr_enable",     "hws_max_conc_proc",
					    "hws_gws_support", "mes",
					    "mtype_local",     "preempt_us"}; // of the software GPU
	for (unsigned i = 0; i < COUNT(names); i++) {
		char value[24];
		host_read_line(value, sizeof(value),
			       PATH("/sys/module/amdgpu/parameters/%s", names[i]));
		if (*value)
			context_add(c, CONTEXT_parameters, "%s=%s", names[i], value);
	}
}

// Does a measured process have a queue on this GPU? Always true if `a` is NULL.
static bool is_gpu_used(const struct attached *a, uint64_t gpu_id)
{
	for (size_t i = 0; a && i < a->n; i++)
		for (unsigned k = 0; k < a->v[i].m->watch.n; k++)
			if (a->v[i].m->watch.queue[k].gpu_id == gpu_id)
				return true;
	return !a;
}

// Appends a GPU to the context. False if no room is left for it and "; and N more".
static bool add_gpu(struct bench_context *c, const struct kfd_gpu *g)
{
	char *text = c->text[CONTEXT_gpus];
	size_t len = strlen(text),
	       room = sizeof(c->text[0]) - sizeof("; and 18446744073709551615 more");
	char one[128];
	int n = snprintf(one, sizeof(one), "%s%s %s xcc %llu mec %llu", len ? "; " : "", g->gfx,
			 g->bdf, (unsigned long long)g->num_xcc, (unsigned long long)g->mec_fw);
	if (len + (size_t)n > room)
		return false;
	memcpy(text + len, one, (size_t)n + 1);
	return true;
}

static void add_gpus(struct bench_context *c, const struct attached *a)
{
	struct kfd_topology t;
	size_t left = 0;
	*c->text[CONTEXT_gpus] = *c->text[CONTEXT_scheduler] = '\0';
	if (kfd_topology_load(&t, KFD_TOPOLOGY_BDF))
		return;
	for (size_t i = 0; i < t.n; i++) {
		if (!is_gpu_used(a, t.gpus[i].gpu_id))
			continue;
		const char *scheduler = kfd_gpu_uses_mes(&t.gpus[i]) ? "MES" : "HWS";
		if (!strstr(c->text[CONTEXT_scheduler], scheduler))
			context_add(c, CONTEXT_scheduler, "%s", scheduler);
		left += left || !add_gpu(c, &t.gpus[i]);
	}
	if (left)
		snprintf(c->text[CONTEXT_gpus] + strlen(c->text[CONTEXT_gpus]), 32,
			 "; and %zu more", left);
	kfd_topology_fini(&t);
}

void bench_context_host(struct bench_context *c)
{
	struct timespec now;
	struct tm utc;
	struct context cli; // the host as documents of other commands describe it
	memset(c, 0, sizeof(*c));
	context_init(&cli);
	context_add(c, CONTEXT_host, "%s", cli.host ? cli.host : "");
	context_add(c, CONTEXT_kernel, "%s", cli.kernel ? cli.kernel : "");
	context_add(c, CONTEXT_boot_id, "%s", cli.boot_id ? cli.boot_id : "");
	context_add(c, CONTEXT_source, "%s", cli.source);
	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &utc);
	strftime(c->text[CONTEXT_started], sizeof(c->text[0]), "%Y-%m-%dT%H:%M:%SZ", &utc);
	context_add(c, CONTEXT_run, "%.100s-%lld%03ld-%d", c->text[CONTEXT_host],
		    (long long)now.tv_sec, now.tv_nsec / 1000000, (int)getpid());
	add_machine(c);
	host_read_line(c->text[CONTEXT_driver], sizeof(c->text[0]), "/sys/module/amdgpu/version");
	add_parameters(c);
	context_add(c, CONTEXT_processors, "%ld", sysconf(_SC_NPROCESSORS_ONLN));
	context_add(c, CONTEXT_gpq, "%s", GPQ_VERSION);
	add_gpus(c, NULL);
	proc_cmdline(getpid(), c->text[CONTEXT_command], sizeof(c->text[0]));
}

static int tell_version(const void *arg)
{
	struct kfd_version v;
	int kfd = kfd_open();
	(void)arg;
	if (kfd < 0 || kfd_ioctl(kfd, KFD_GET_VERSION, &v))
		return 1;
	return dprintf(STDOUT_FILENO, "%u.%u\n", v.major, v.minor) < 0;
}

static void take_version(void *c, const char *line)
{
	context_add(c, CONTEXT_kfd_version, "%s", line);
}

void bench_context_driver(struct bench_context *c)
{
	struct child child;
	if (child_fork(&child, tell_version, NULL))
		return;
	for (; !child.ended; usleep(1000))
		child_tick(&child, take_version, c);
	child_fini(&child);
}

void bench_context_targets(struct bench_context *c, const struct attached *a)
{
	add_gpus(c, a);
	if (a->n > 1)
		context_add(c, CONTEXT_target, "%zu processes:", a->n);
	for (size_t i = 0; i < a->n; i++) {
		const pid_t pid = a->v[i].m->target.pid;
		struct proc p;
		context_add(c, CONTEXT_target, "%d %s", (int)pid,
			    proc_read(&p, pid) ? "?" : p.comm);
	}
	context_add(c, CONTEXT_target_queues, "%u", a->group.num_queues);
}

bool bench_context_is_gpu(const struct bench_context *c)
{
	return strcmp(c->text[CONTEXT_source], "live") == 0;
}
