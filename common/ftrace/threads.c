// Finds the process of each line of the kernel's trace, and whether it is chosen; see live.h.
//
// A record is of the process whose thread made it. The line has the thread's number, with the
// tracefs option record-tgid also the process's; else /proc tells it while the thread lives. A
// debugger works for another process: if the argument pid of kfd_ioctl_set_debug_trap is chosen,
// all records of the calling thread are kept until that call returns. Records of kernel threads
// are not assigned to the process that they work for.
#include "common/ftrace/live.h"

#include "common/cli/err.h"
#include "common/ftrace/ftrace.h"
#include "common/host/clock.h"
#include "common/host/root.h"
#include "common/kfd/topology.h"

#define THREADS_MAX 1000000    // the process of further threads is taken as unknown
#define AGAIN_NS    1000000000 // age at which /proc is read again: name, cgroup may have changed

struct live_thread {
	int64_t tid, tgid;  // tgid -1: not known
	int ns_pid;         // pid in the innermost PID namespace; 0: not known
	uint64_t looked_ns; // when /proc was read, CLOCK_MONOTONIC
	char comm[16];      // name of the thread at that time
	bool chosen;        // the options choose the thread's process
	bool known;         // /proc had the thread's process
	bool told;          // "# task:" of the thread was written
	bool on_behalf;     // the thread is in the debugger's ioctl for a chosen process
};

int live_threads_init(struct live_threads *t, const struct pick_opts *pick,
		      const struct words *gpus)
{
	*t = (struct live_threads){.gpu_words = gpus, .asks = pick_asks(pick), .own = getpid()};
	int status = pick_init_watch(&t->pick, pick, &t->cache);
	if (status || !gpus->n)
		return status;
	status = kfd_topology_load(&t->gpus, KFD_TOPOLOGY_BDF);
	if (status < 0)
		return err_sys(-status, NULL, "/sys/class/kfd/kfd/topology/nodes");
	return pick_select_gpus(&t->gpus, gpus);
}

void live_threads_fini(struct live_threads *t)
{
	if (t->unknown)
		err_warn("without -p and the like they are there",
			 "%llu records of processes that are not known were left out",
			 (unsigned long long)t->unknown);
	pick_fini(&t->pick);
	process_cache_fini(&t->cache);
	kfd_topology_fini(&t->gpus);
	intern_fini(&t->numbers);
	free(t->v);
}

// Returns "Tgid:" of /proc/TID/status; -1: the thread has ended.
static int64_t process_of_thread(int64_t tid)
{
	SCOPED(buf_fini) struct buf b = {0};
	long long tgid = -1;
	const char *at;
	if (host_read(&b, PATH("/proc/%lld/status", (long long)tid)) > 0 &&
	    (at = strstr(b.data, "\nTgid:")))
		tgid = strtoll(at + strlen("\nTgid:"), NULL, 10);
	return tgid;
}

static bool is_chosen(struct live_threads *t, int64_t pid, bool *known)
{
	process_cache_fini(&t->cache);
	*known = process_cache_get(&t->cache, (pid_t)pid, PROCESS_STATUS)->error == 0;
	return pick_keeps(&t->pick, (pid_t)pid);
}

static void look_at_thread(struct live_threads *t, struct live_thread *h,
			   const struct ftrace_record *r)
{
	*h = (struct live_thread){
		.tid = h->tid, .looked_ns = clock_ns(), .on_behalf = h->on_behalf};
	h->tgid = r->tgid > 0 ? r->tgid : process_of_thread(r->tid);
	memcpy(h->comm, r->comm.at, r->comm.len < 15 ? r->comm.len : 15);
	if (h->tgid <= 0)
		return;
	pick_renew(&t->pick);
	h->chosen = is_chosen(t, h->tgid, &h->known);
	const struct process_info *p = process_cache_get(&t->cache, (pid_t)h->tgid, PROCESS_STATUS);
	h->ns_pid = p->error ? 0 : (int)p->proc.ns_pid;
}

// Must /proc be read again before this record is judged?
static bool is_stale(const struct live_threads *t, const struct live_thread *h,
		     const struct ftrace_record *r)
{
	const size_t len = r->comm.len < 15 ? r->comm.len : 15;
	if (r->tgid > 0 && r->tgid != h->tgid) // the tid was given to another thread
		return true;
	return t->asks && !h->chosen &&
	       (clock_ns() - h->looked_ns >= AGAIN_NS || memcmp(h->comm, r->comm.at, len) != 0);
}

static struct live_thread *thread_of(struct live_threads *t, const struct ftrace_record *r)
{
	uint32_t i = intern_put(&t->numbers, &r->tid, sizeof(r->tid));
	if (i >= THREADS_MAX)
		return NULL;
	if (i == t->n)
		*ARRAY_ADD(t->v, t->cap, t->n) = (struct live_thread){.tid = r->tid, .tgid = -1};
	struct live_thread *h = &t->v[i];
	if (!h->looked_ns || is_stale(t, h, r))
		look_at_thread(t, h, r);
	return h;
}

// Notes entry and return of the debugger's ioctl. Returns whether the record is part of such an
// ioctl for a chosen process.
static bool within_trap(struct live_threads *t, struct live_thread *h,
			const struct ftrace_record *r)
{
	const int64_t pid = ftrace_arg(r, "pid");
	bool was = h->on_behalf, known;
	if (!ftrace_is(r, "kfd_ioctl_set_debug_trap"))
		return was;
	h->on_behalf =
		r->kind == FTRACE_ENTRY && pid > 0 && pid <= INT32_MAX && is_chosen(t, pid, &known);
	return h->on_behalf || (was && r->kind == FTRACE_RETURN);
}

static bool keeps_record(struct live_threads *t, struct live_thread *h,
			 const struct ftrace_record *r)
{
	const bool inside = t->asks && h && within_trap(t, h, r);
	const int64_t gpu = t->gpus.n ? ftrace_arg(r, "gpu") : FTRACE_NO_ARG;
	if (h ? h->tgid == t->own : r->tid == t->own)
		return false;
	if (gpu != FTRACE_NO_ARG && !pick_has_gpu(&t->gpus, t->gpu_words, (uint64_t)gpu))
		return false;
	if (!t->asks || inside || (h && h->chosen))
		return true;
	t->unknown += !h || h->tgid <= 0 || (!h->known && pick_needs_host(t->pick.opts));
	return false;
}

bool live_threads_keep(struct live_threads *t, const char *text, size_t len, struct buf *tasks)
{
	struct ftrace_record r;
	struct live_thread *h;
	if (!ftrace_line(text, len, &r) || r.tid <= 0)
		return true; // a line of no thread, such as a note about lost events
	h = thread_of(t, &r);
	if (!keeps_record(t, h, &r))
		return false;
	if (h && h->tgid > 0 && !h->told) {
		buf_printf(tasks, "# task: %lld %lld %d\n", (long long)h->tid, (long long)h->tgid,
			   h->ns_pid);
		h->told = true;
	}
	return true;
}
