// Evidence of why in snapshots; see evidence.h.
#include "cmd/snapshot/evidence.h"

#include "cmd/core.h"
#include "cmd/events/record.h"
#include "common/host/clock.h"
#include "common/host/root.h"
#include "common/host/secure.h"
#include "common/reader/reader.h"
#include "common/reader/stacks.h"
#include "common/why/interrupts.h"

#include <poll.h>

// Packets before and behind the head of each ring that are recorded, whether a verdict needs them
// or not.
enum { AROUND = 64 };

#define PYTHON_NS 10000000000u // for py-spy, for all processes together

// Adds a file about a process.
static int add_file(struct saver *v, pid_t pid, const char *name, const struct buf *b)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	return snapshot_add(v, path, b);
}

// --- events of the driver ---

// In a child, as the driver counts who listens among the processes that use the GPUs. It ends when
// gpq, which reads its output, has gone.
static int listen_to_driver(const void *by)
{
	static const struct words all_gpus;
	const struct host_choice *choice = by;
	struct events_recording *r =
		events_recording_new(choice->processes, &all_gpus, STDOUT_FILENO, "events");
	struct pollfd p[] = {{.fd = r ? events_recording_fd(r) : -1, .events = POLLIN},
			     {.fd = STDOUT_FILENO}};
	while (r && poll(p, COUNT(p), -1) > 0 && !p[1].revents && events_recording_turn(r, false))
		;
	return 0;
}

// Messages of the child are no events.
static void take_event(void *to, const char *line)
{
	if (*line == '{')
		buf_printf(to, "%s\n", line);
}

static int add_events(struct saver *v, struct evidence *e)
{
	child_tick(&e->listener, take_event, &e->events);
	return v->r || !e->events.len ? 0 : snapshot_add(v, "/EVENTS", &e->events);
}

// --- names of kernels ---

struct named {
	size_t process;
	uint64_t object;
};

static int by_process_and_object(const void *a, const void *b)
{
	const struct named *x = a, *y = b;
	return x->process != y->process ? ORDER(x->process, y->process)
					: ORDER(x->object, y->object);
}

struct nameds {
	struct named *v;
	size_t n, cap;
};

static void note_kernel(struct nameds *to, size_t process, uint64_t object)
{
	if (object)
		*ARRAY_ADD(to->v, to->cap, to->n) = (struct named){process, object};
}

// Records packets around the head of a ring, and notes the kernels of its dispatches, and of those
// that set signals, which may be far from the head of theirs.
static void record_around(struct nameds *to, const struct why_queue *x, const struct memory *m)
{
	SCOPED(ring_look_fini) struct ring_look l;
	ring_look(&x->q->ring, m, AROUND, AROUND, &l);
	for (size_t i = 0; i < l.n; i++)
		note_kernel(to, x->q->process, l.v[i].packet.kernel_object);
	for (unsigned d = 0; d < x->ndeps; d++) {
		note_kernel(to, x->q->process, x->deps[d].by.kernel);
		note_kernel(to, x->q->process, x->deps[d].was.kernel);
	}
}

static int add_kernels(struct saver *v, struct kernels *k, const struct nameds *all, size_t process)
{
	SCOPED(buf_fini) struct buf b = {0};
	const struct ring_queue q = {.process = process};
	for (size_t i = 0; i < all->n; i++) {
		const struct named *n = &all->v[i];
		if (n->process != process || (i && by_process_and_object(n - 1, n) == 0))
			continue;
		const char *name = kernels_name(k, &q, n->object);
		if (name)
			buf_printf(&b, "%" PRIx64 " %s\n", n->object, name);
	}
	if (v->r)
		redact_kernels(v->r, &b);
	return b.len ? add_file(v, k->rings->processes[process].pid, "kernels", &b) : 0;
}

// --- the rank of a process in its job ---

static int add_environment(struct saver *v, pid_t pid)
{
	static const char *const names[] = {
		"RANK=",         "WORLD_SIZE=", "LOCAL_RANK=", "OMPI_COMM_WORLD_RANK=",
		"SLURM_PROCID=", "PMI_RANK="};
	SCOPED(buf_fini) struct buf all = {0}, b = {0};
	if (reader_read(&all, PATH("/proc/%d/environ", (int)pid)) <= 0)
		return 0;
	for (const char *s = all.data, *end = s + all.len; s < end; s += strlen(s) + 1)
		for (size_t i = 0; i < COUNT(names); i++) {
			const size_t len = strlen(names[i]);
			if (strncmp(s, names[i], len) == 0 && s[len] &&
			    !s[len + strspn(s + len, "0123456789")])
				buf_printf(&b, "%s\n", s);
		}
	return b.len ? add_file(v, pid, "rank", &b) : 0;
}

// --- stacks of Python ---

static void take_line(void *to, const char *line)
{
	buf_printf(to, "%s\n", line);
}

// Where py-spy is installed. It only reads the process, as it is told not to stop it.
static int add_python(struct saver *v, pid_t pid, uint64_t end)
{
	SCOPED(buf_fini) struct buf b = {0};
	char command[64];
	snprintf(command, sizeof(command), "exec py-spy dump --nonblocking --pid %d", (int)pid);
	if (v->r || host_secure() || clock_ns() >= end)
		return 0;
	SCOPED(child_fini) struct child c;
	if (child_start(&c, command, "", NULL))
		return 0;
	for (; !c.ended && clock_ns() < end && !v->how->stopped(); usleep(1000))
		child_tick(&c, take_line, &b);
	return c.ended && !c.status && b.len ? add_file(v, pid, "python", &b) : 0;
}

// --- stacks of the host ---

static int add_stacks(struct saver *v, pid_t pid)
{
	SCOPED(buf_fini) struct buf b = {0};
	return v->r || stacks_read(&b, NULL, pid) || !b.len ? 0 : add_file(v, pid, "stacks", &b);
}

// --- waves ---

static int add_core(struct saver *v, struct evidence *e, pid_t pid)
{
	SCOPED(buf_fini) struct buf b = {0};
	if (!e->cores)
		return 0;
	e->lost_cores += core_light(&b, pid) != GPQ_OK;
	return b.len ? add_file(v, pid, "gpucore", &b) : 0;
}

// --- all of it ---

// What why consulted of a process besides its memory and its threads.
static int add_process(struct saver *v, const struct why_process *p, pid_t pid)
{
	SCOPED(buf_fini) struct buf maps = {0}, frozen = {0};
	struct proc_threads t;
	int r = 0;
	shared_maps_text(&p->maps, &maps);
	if (maps.len)
		r = add_file(v, pid, "shared", &maps);
	proc_threads_read(&t, pid);
	return r || !t.frozen ? r : add_file(v, pid, "frozen", &frozen);
}

static int add_memory(struct saver *v, const struct memory *m)
{
	SCOPED(buf_fini) struct buf b = {0};
	memory_record_text(m->record, &b);
	return add_file(v, m->pid, "memory", &b);
}

// Lines that klog.h knows, as it reads them. Those about faults name programs.
static int add_log(struct saver *v)
{
	SCOPED(klog_fini) struct klog k = {0};
	SCOPED(buf_fini) struct buf b = {0};
	klog_read(&k);
	for (size_t i = 0; i < k.n; i++)
		if (!v->r || k.v[i].kind != KLOG_FAULT)
			buf_printf(&b, "4,%zu,%" PRIu64 ",-;amdgpu%s%s: %s%s\n", i, k.v[i].us,
				   *k.v[i].bdf ? " " : "", k.v[i].bdf,
				   *k.v[i].bdf ? "amdgpu: " : "", k.v[i].text);
	return b.len ? snapshot_add(v, "/dev/kmsg", &b) : 0;
}

// Verdicts name programs and kernels.
static int add_verdicts(struct saver *v, const struct why *w)
{
	SCOPED(buf_fini) struct buf b = {0};
	if (!v->r)
		why_say(&b, w, false);
	return b.len ? snapshot_add(v, "/VERDICTS", &b) : 0;
}

int evidence_add(void *evidence, struct saver *v)
{
	struct evidence *e = evidence;
	struct nameds named = {0};
	// gpq hang alone runs another program.
	const uint64_t python_end = e->how.looks > 1 ? clock_ns() + PYTHON_NS : 0;
	if (!e->records) // of a recorded host the other files are copied
		return host_is_live() ? 0 : add_log(v);
	for (size_t i = 0; i < e->why.n; i++)
		if (!e->why.v[i].problem)
			record_around(&named, &e->why.v[i],
				      &e->rings.processes[e->why.v[i].q->process].memory);
	ARRAY_SORT(named.v, named.n, by_process_and_object);
	int r = add_verdicts(v, &e->why) || add_log(v) || add_events(v, e) ||
		(e->interrupts.len && snapshot_add(v, IRQS_PATH, &e->interrupts));
	for (size_t i = 0; i < e->rings.nprocesses && !r; i++) {
		const pid_t pid = e->rings.processes[i].pid;
		// A snapshot of chosen processes has nothing of those that share memory with them.
		if (!v->only || pids_has(v->only, pid))
			r = add_memory(v, &e->rings.processes[i].memory) ||
			    add_kernels(v, &e->kernels, &named, i) || add_environment(v, pid) ||
			    add_process(v, &e->why.processes[i], pid) ||
			    (python_end && add_stacks(v, pid)) || add_core(v, e, pid) ||
			    add_python(v, pid, python_end);
	}
	free(named.v);
	return r ? -1 : 0;
}

int evidence_look(struct evidence *e, const struct host_choice *by, unsigned looks,
		  uint64_t over_ns)
{
	*e = (struct evidence){.listener.out = -1};
	e->rings_how = (struct rings_how){.pick = by->processes,
					  .queues = by->queues,
					  .want = READ_HOLDER | READ_CU,
					  .whole = true};
	e->how = (struct why_how){.heads = &e->heads,
				  .interrupts = &e->interrupts,
				  .over_ns = over_ns,
				  .looks = looks,
				  .name = why_kernel_name,
				  .arg = &e->kernels};
	if (!host_is_live() || host_access(MQDS_PATH, R_OK))
		return GPQ_OK;
	const int status = rings_load(&e->rings, &e->rings_how);
	bool any = false;
	for (size_t i = 0; i < e->rings.n; i++)
		any |= e->rings.v[i].ring.base != RING_NO_ADDRESS;
	if ((status && status != GPQ_PARTIAL) || !any)
		return status;
	e->records = xcalloc(e->rings.nprocesses, sizeof(*e->records));
	for (size_t i = 0; i < e->rings.nprocesses; i++)
		e->rings.processes[i].memory.record = &e->records[i];
	kernels_begin(&e->kernels, &e->rings, NULL);
	e->kernels.demangles = true;
	if (looks > 1)
		child_fork(&e->listener, listen_to_driver, by);
	why_look_on(&e->why, &e->rings, &e->how);
	return status;
}

void evidence_fini(struct evidence *e)
{
	for (size_t i = 0; i < e->rings.nprocesses && e->records; i++) {
		e->rings.processes[i].memory.record = NULL;
		memory_record_fini(&e->records[i]);
	}
	free(e->records);
	child_fini(&e->listener);
	buf_fini(&e->events);
	buf_fini(&e->interrupts);
	why_fini(&e->why);
	kernels_end(&e->kernels);
	why_heads_fini(&e->heads);
	rings_fini(&e->rings);
}
