// Opens, serves and closes a debug session. Facts: [kfd.probe], [kfd.event-pipe], [kfd.enable],
// [kfd.activation], [kfd.disable], [kfd.events].
#include "common/holder/session.h"

#include "common/host/root.h"
#include "common/host/secure.h"
#include "common/kfd/driver.h"
#include "common/holder/session_priv.h"
#include "common/kfd/topology.h"
#include "common/holder/ptrace.h"

#include <fcntl.h>
#include <signal.h>

#define WATCHED (KFD_EC_PROCESS_RUNTIME | KFD_EC_QUEUE_NEW)

// A target that enables or disables its runtime sleeps until the debugger answers, even if the
// debugger dies [kfd.runtime-handshake]. Answers given in advance count: with two in store, one
// hsa_shut_down and one hsa_init go through although we are killed before we notice them.
#define ANSWERS_IN_STORE 2

#ifdef GPQ_TESTING
static unsigned stop_after;

void kfd_step_init(const char *who)
{
	const char *where = host_getenv("GPQ_TEST_STOP");
	size_t n = strlen(who);
	stop_after = 0;
	if (where && strncmp(where, who, n) == 0 && where[n] == ':')
		stop_after = (unsigned)strtoul(where + n + 1, NULL, 10);
}

void kfd_step(unsigned number)
{
	if (stop_after == number)
		raise(SIGSTOP);
}
#endif

int session_call(int kfd, pid_t target, enum kfd_dbg_op op, struct kfd_dbg *a)
{
	a->pid = (uint32_t)target;
	a->op = op;
	return kfd_ioctl(kfd, KFD_DBG_TRAP, a);
}

int session_trap(struct kfd_session *s, enum kfd_dbg_op op, struct kfd_dbg *a)
{
	int r = session_call(s->kfd, s->target.pid, op, a);
	if (r == -EPERM && s->untraced && kfd_session_take_back(s))
		r = session_call(s->kfd, s->target.pid, op, a);
	return r;
}

int session_fail(const struct kfd_session *s, enum kfd_step step, int r, struct kfd_failure *f)
{
	if (r == -EPERM && s->taken)
		return kfd_fail(f, KFD_FAULT_TAKEN);
	return kfd_fail_errno(f, step, -r);
}

static int open_device(struct kfd_session *s, struct kfd_failure *f)
{
	struct kfd_version v;
	s->kfd = kfd_open();
	if (s->kfd == -EINVAL && !kfd_topology_has_gpu())
		return kfd_fail(f, KFD_FAULT_NO_GPU);
	if (s->kfd < 0)
		return kfd_fail_errno(f, KFD_STEP_OPEN, -s->kfd);
	const int r = kfd_ioctl(s->kfd, KFD_GET_VERSION, &v);
	if (r < 0)
		return kfd_fail_errno(f, KFD_STEP_VERSION, -r);
	if (v.major != KFD_MAJOR || v.minor < KFD_MINOR_DEBUG)
		return kfd_fail(f, KFD_FAULT_KERNEL_OLD, v.major, v.minor);
	s->may_crash = kfd_driver_may_crash(v.minor);
	return 0;
}

// ENABLE on a process with a session would make this process its owner, and the death of the former
// owner would then resume nothing. EINVAL from session_try(): there is no session, or no HWS, and
// then ENABLE fails as well.
static int probe_session(struct kfd_session *s, struct kfd_failure *f)
{
	int r = session_try(s->kfd, s->target.pid);
	if (r >= 0)
		return kfd_fail(f, KFD_FAULT_FOREIGN_SESSION);
	return r == -EINVAL ? 0 : kfd_fail_errno(f, KFD_STEP_PROBE, -r);
}

static int answer_runtime(struct kfd_session *s)
{
	struct kfd_dbg a = {.send_event = {.exception_mask = KFD_EC_PROCESS_RUNTIME}};
	return session_trap(s, KFD_DBG_SEND_RUNTIME_EVENT, &a);
}

static int enable_session(struct kfd_session *s, struct kfd_failure *f)
{
	struct kfd_dbg a = {.enable = {.exception_mask = WATCHED,
				       .rinfo_ptr = (uintptr_t)&s->runtime,
				       .rinfo_size = sizeof(s->runtime)}};
	uint64_t policy;
	int pipefd[2], r;
	// The driver writes to this pipe from the target's system calls, which a full pipe would
	// block.
	if (pipe2(pipefd, O_CLOEXEC | O_NONBLOCK) < 0)
		return kfd_fail(f, KFD_FAULT_SYSTEM, "pipe", strerror(errno));
	s->events = pipefd[0];
	a.enable.dbg_fd = (uint32_t)pipefd[1];
	r = session_enable(s->kfd, s->target.pid, &a, true);
	// The driver keeps a reference to the writing end. Without ours, end of file means that the
	// session is over.
	close(pipefd[1]);
	if (r == -EINVAL &&
	    host_read_u64("/sys/module/amdgpu/parameters/sched_policy", &policy) == 0 &&
	    policy == 2)
		return kfd_fail(f, KFD_FAULT_NO_HWS);
	if (r < 0)
		return kfd_fail_errno(f, KFD_STEP_ENABLE, -r);
	s->enabled = true;
	return 0;
}

// Without an enabled runtime nothing can be suspended. A process without queues may enable its
// runtime later, so it is held: its queues are suspended as they appear.
static int check_runtime(struct kfd_session *s, struct kfd_failure *f)
{
	switch (s->runtime.runtime_state) {
	case KFD_RUNTIME_ENABLED: return 0;
	case KFD_RUNTIME_BUSY: return kfd_fail(f, KFD_FAULT_RUNTIME_BUSY);
	case KFD_RUNTIME_DISABLED: break;
	default: return kfd_fail(f, KFD_FAULT_RUNTIME_ERROR);
	}
	if (kfd_session_refresh(s, f) < 0)
		return -1;
	return s->num ? kfd_fail(f, KFD_FAULT_RUNTIME_OFF) : 0;
}

int session_attach(struct kfd_session *s, struct kfd_failure *f)
{
	if (tracee_seize(s->target.pid, f) < 0)
		return -1;
	kfd_step(2);
	if (probe_session(s, f) < 0)
		return -1;
	kfd_step(3);
	if (enable_session(s, f) < 0)
		return -1;
	kfd_step(4);
	for (int i = 0; i < ANSWERS_IN_STORE; i++)
		answer_runtime(s);
	kfd_step(5);
	return check_runtime(s, f);
}

int kfd_session_open(struct kfd_session *s, const struct kfd_target *target, bool trace,
		     struct kfd_failure *f)
{
	s->target = *target;
	s->events = -1;
	s->stale = true;
	if (open_device(s, f) < 0)
		return -1;
	kfd_step(1);
	return trace ? session_attach(s, f) : session_attach_untraced(s, f);
}

bool kfd_session_close(struct kfd_session *s)
{
	struct kfd_dbg a = {0};
	// A dead target has no session. If another process has its pid by now, DISABLE is refused.
	if (s->enabled && session_trap(s, KFD_DBG_DISABLE, &a) == -EPERM && s->taken &&
	    kfd_target_alive(&s->target))
		return false;
	s->enabled = false;
	session_unhold_all(s);
	close_quietly(s->events);
	close_quietly(s->kfd);
	s->events = s->kfd = -1;
	return true;
}

static int query_events(struct kfd_session *s, struct kfd_failure *f)
{
	for (;;) {
		struct kfd_dbg a = {.query = {.exception_mask = WATCHED}};
		int r = session_trap(s, KFD_DBG_QUERY_DEBUG_EVENT, &a);
		if (r == -EAGAIN)
			return 0;
		if (r < 0)
			return session_fail(s, KFD_STEP_SNAPSHOT, r, f);
		if (a.query.exception_mask & KFD_EC_QUEUE_NEW)
			s->stale = s->fresh[a.query.queue_id % KFD_MAX_QUEUES] = true;
		// The runtime was enabled or disabled: either way no queue is suspended now.
		if (a.query.exception_mask & KFD_EC_PROCESS_RUNTIME) {
			answer_runtime(s);
			session_unhold_all(s);
			s->runtime = (struct kfd_rinfo){0};
			s->stale = true;
		}
	}
}

int kfd_session_events(struct kfd_session *s, struct kfd_failure *f)
{
	char drain[256];
	bool any = false;
	ssize_t n;
	do {
		n = read(s->events, drain, sizeof(drain));
		any |= n > 0;
	} while (n > 0 || (n < 0 && errno == EINTR));
	if (n == 0) {
		s->enabled = s->taken = false;
		return kfd_fail(f, kfd_target_alive(&s->target) ? KFD_FAULT_SESSION_LOST
								: KFD_FAULT_GONE);
	}
	return any ? query_events(s, f) : 0;
}

COMPARE_BY(queues_by_id, struct kfd_queue_entry, queue_id)

int kfd_session_refresh(struct kfd_session *s, struct kfd_failure *f)
{
	struct kfd_dbg a = {.snapshot = {.exception_mask = KFD_EC_QUEUE_NEW,
					 .buf_ptr = (uintptr_t)s->queues,
					 .num_entries = KFD_MAX_QUEUES,
					 .entry_size = sizeof(s->queues[0])}};
	int r = session_trap(s, KFD_DBG_GET_QUEUE_SNAPSHOT, &a);
	if (r < 0)
		return session_fail(s, KFD_STEP_SNAPSHOT, r, f);
	// The snapshot cleared QUEUE_NEW of the queues that it copied: others cannot be suspended
	// [kfd.queue-new].
	s->num = a.snapshot.num_entries < KFD_MAX_QUEUES ? a.snapshot.num_entries : KFD_MAX_QUEUES;
	qsort(s->queues, s->num, sizeof(s->queues[0]), queues_by_id);
	for (unsigned i = 0; i < s->num; i++)
		if (s->queues[i].exception_status & KFD_EC_QUEUE_NEW)
			s->fresh[s->queues[i].queue_id % KFD_MAX_QUEUES] = true;
	s->stale = false;
	return 0;
}

void kfd_session_load_gpus(struct kfd_session *s)
{
	struct kfd_dbg a = {.snapshot = {.buf_ptr = (uintptr_t)s->gpus,
					 .num_entries = KFD_MAX_GPUS,
					 .entry_size = sizeof(s->gpus[0])}};
	if (!s->num_gpus && session_trap(s, KFD_DBG_GET_DEVICE_SNAPSHOT, &a) >= 0)
		s->num_gpus = a.snapshot.num_entries < KFD_MAX_GPUS ? a.snapshot.num_entries
								    : KFD_MAX_GPUS;
}

unsigned kfd_session_xccs(struct kfd_session *s, uint32_t gpu_id)
{
	kfd_session_load_gpus(s);
	for (unsigned i = 0; i < s->num_gpus; i++)
		if (s->gpus[i].gpu_id == gpu_id && s->gpus[i].num_xcc)
			return s->gpus[i].num_xcc;
	return 1;
}
