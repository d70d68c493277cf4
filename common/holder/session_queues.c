// Suspends and resumes queues inside a session. Facts: [kfd.queue-new], [kfd.snapshot],
// [kfd.suspend], [kfd.suspend-error], [kfd.suspend-timeout], [kfd.suspend-crash],
// [kfd.suspend-all], [kfd.resume], [kfd.destroy-suspended].
#include "common/holder/session_priv.h"

#include "common/holder/measure.h"
#include "common/host/clock.h"
#include "common/host/root.h"
#include "common/reader/process_cache.h"

// Most SUSPEND calls for one request: new queues can appear at any time, and one that is being
// destroyed cannot be suspended.
#define MAX_ROUNDS 8

// A failed SUSPEND call that took longer than this ran into the GPU's timeout
// (queue_preemption_timeout_ms, 9 s unless changed); one that failed sooner was refused.
#define TIMEOUT_NS 2000000000ull

// The driver calls of one request, and the result of each queue so far, by queue id.
struct attempt {
	unsigned calls;
	uint64_t took_ns[1 + MAX_ROUNDS]; // time of SUSPEND or RESUME call 1 ...; [0]: 0
	uint8_t result[KFD_MAX_QUEUES];   // enum kfd_result
	uint8_t call[KFD_MAX_QUEUES];     // the queue's last call; 0: none; undefined: no result
};

static void begin_attempt(struct attempt *at)
{
	at->calls = 0;
	at->took_ns[0] = 0;
	memset(at->result, 0, sizeof(at->result));
}

static void set_result(struct attempt *at, uint32_t id, enum kfd_result r, unsigned call)
{
	at->result[id] = (uint8_t)r;
	at->call[id] = (uint8_t)call;
}

bool kfd_among(const uint32_t *list, unsigned num, uint32_t value)
{
	for (unsigned i = 0; i < num; i++)
		if (list[i] == value)
			return true;
	return false;
}

bool kfd_selected(const struct kfd_selection *sel, const struct kfd_queue_entry *q)
{
	return (!sel->num_ids || kfd_among(sel->ids, sel->num_ids, q->queue_id)) &&
	       (!sel->num_gpus || kfd_among(sel->gpus, sel->num_gpus, q->gpu_id));
}

static void hold_queue(struct kfd_session *s, uint32_t id, uint64_t now)
{
	if (s->held[id])
		return;
	s->held[id] = true;
	if (s->num_held++ == 0)
		s->since_ns = now;
}

static void unhold_queue(struct kfd_session *s, uint32_t id)
{
	if (!s->held[id])
		return;
	s->held[id] = false;
	if (--s->num_held == 0)
		s->since_ns = 0;
}

void session_unhold_all(struct kfd_session *s)
{
	memset(s->held, 0, sizeof(s->held));
	s->num_held = 0;
	s->since_ns = 0;
}

static int trap_suspend(struct kfd_session *s, uint32_t *ids, unsigned n, unsigned grace)
{
	struct kfd_dbg a = {.suspend = {.queue_array_ptr = (uintptr_t)ids,
					.num_queues = n,
					.grace_period = grace}};
	return session_trap(s, KFD_DBG_SUSPEND_QUEUES, &a);
}

static int trap_resume(struct kfd_session *s, uint32_t *ids, unsigned n)
{
	struct kfd_dbg a = {.resume = {.queue_array_ptr = (uintptr_t)ids, .num_queues = n}};
	return session_trap(s, KFD_DBG_RESUME_QUEUES, &a);
}

// True if a suspended queue has packets not taken yet, or had running waves when it was suspended.
static bool queue_has_work(struct kfd_session *s, const struct kfd_queue_entry *q)
{
	struct kfd_quiesce p;
	kfd_quiesce_read(s->target.pid, q, kfd_session_xccs(s, q->gpu_id), &p);
	return (p.has_indices && p.read_index != p.write_index) ||
	       (p.has_saved && p.saved_waves_bytes > 0);
}

// True if a running queue has packets not taken yet. Its count of saved waves would be out of date.
static bool has_backlog(struct kfd_session *s, const struct kfd_queue_entry *q)
{
	struct kfd_quiesce p;
	kfd_quiesce_read(s->target.pid, q, 0, &p);
	return p.has_indices && p.read_index != p.write_index;
}

// Collects the ids of selected queues that are still to be suspended. Returns their number.
static unsigned collect_running(struct kfd_session *s, const struct kfd_selection *sel,
				bool idle_only, struct attempt *at, uint32_t *ids)
{
	unsigned n = 0;
	for (unsigned i = 0; i < s->num; i++) {
		const struct kfd_queue_entry *q = &s->queues[i];
		uint32_t id = q->queue_id;
		if (id >= KFD_MAX_QUEUES || !kfd_selected(sel, q) ||
		    (at->result[id] != KFD_RESULT_NONE && at->result[id] != KFD_RESULT_CLOSING))
			continue;
		if (s->held[id]) {
			set_result(at, id, KFD_RESULT_ALREADY, 0);
		} else if (idle_only && has_backlog(s, q)) {
			set_result(at, id, KFD_RESULT_BUSY, 0);
		} else {
			ids[n++] = id;
		}
	}
	return n;
}

// Reads the bits that the driver left in the ids. A queue that failed stays flagged as suspended in
// the driver, which would never map it again: so it is resumed.
static void take_results(struct kfd_session *s, struct attempt *at, uint32_t *ids, unsigned n,
			 uint64_t start, uint64_t end)
{
	const uint64_t took = end - start;
	unsigned failed = 0;
	at->took_ns[++at->calls] = took;
	for (unsigned i = 0; i < n; i++) {
		uint32_t bits = ids[i] & ~KFD_QUEUE_ID_MASK, id = ids[i] & KFD_QUEUE_ID_MASK;
		if (id >= KFD_MAX_QUEUES)
			continue;
		if (bits & KFD_QUEUE_ERROR) {
			set_result(at, id,
				   took < TIMEOUT_NS ? KFD_RESULT_REFUSED : KFD_RESULT_TIMEOUT,
				   at->calls);
			ids[failed++] = id;
		} else if (bits & KFD_QUEUE_INVALID) {
			set_result(at, id, KFD_RESULT_CLOSING, at->calls);
			s->stale = true;
		} else {
			set_result(at, id, KFD_RESULT_SUSPENDED, at->calls);
			hold_queue(s, id, end);
		}
	}
	if (failed)
		trap_resume(s, ids, failed);
}

// Resumes queues that got work between check and call, or had waves, which only a suspended queue
// shows.
static void release_busy(struct kfd_session *s, struct attempt *at)
{
	uint32_t ids[KFD_MAX_QUEUES];
	unsigned n = 0;
	for (unsigned i = 0; i < s->num; i++) {
		uint32_t id = s->queues[i].queue_id;
		if (at->result[id] != KFD_RESULT_SUSPENDED || !queue_has_work(s, &s->queues[i]))
			continue;
		at->result[id] = KFD_RESULT_BUSY;
		unhold_queue(s, id);
		ids[n++] = id;
	}
	if (n)
		trap_resume(s, ids, n);
}

// ---- drivers with KFD_FACT_SUSPEND_CRASH (driver.h)
//
// Facts: kfd_device_queue_manager.c of Linux 7.2 and 7.3: suspend_queues() walks the target's GPUs
// in the order of GET_DEVICE_SNAPSHOT and, once a queue was suspended, flushes the TLB of each
// further GPU without queues to suspend, through a pointer that is null until the target has
// acquired that GPU (ACQUIRE_VM). Two things prove that it has: a queue on it, and a PASID other
// than 0 in debugfs. A GPU is never given back while the process lives.

// Marks the GPUs that have queues as acquired. Returns the index of the first GPU that has one of
// the queues `ids`: 0, which requires the most, if a GPU is not in the snapshot.
static unsigned note_queues(struct kfd_session *s, const uint32_t *ids, unsigned n)
{
	unsigned first = s->num_gpus;
	for (unsigned i = 0; i < s->num; i++) {
		unsigned at = 0;
		while (at < s->num_gpus && s->gpus[at].gpu_id != s->queues[i].gpu_id)
			at++;
		if (at < s->num_gpus)
			s->acquired[at] = true;
		else
			at = 0;
		if (at < first && kfd_among(ids, n, s->queues[i].queue_id))
			first = at;
	}
	return first;
}

// Fails unless debugfs shows that the target has acquired the GPU. debugfs has PIDs of the host: in
// a PID namespace the file would be another process's.
static int check_pasid(struct kfd_session *s, unsigned gpu, struct kfd_failure *f)
{
	struct buf b = {0};
	unsigned id = s->gpus[gpu].gpu_id;
	ssize_t n = pids_are_host() ? host_read(&b, PATH("/sys/kernel/debug/kfd/proc/%d/pasid_%u",
							 (int)s->target.pid, id))
				    : -1;
	char first = n > 0 ? b.data[0] : '\0';
	buf_fini(&b);
	if (first == '0')
		return kfd_fail(f, KFD_FAULT_WOULD_CRASH, id);
	s->acquired[gpu] = first >= '1' && first <= '9';
	return s->acquired[gpu] ? 0 : kfd_fail(f, KFD_FAULT_MAY_CRASH, id);
}

// Refuses a suspension on which a driver with KFD_FACT_SUSPEND_CRASH could crash.
static int guard_suspension(struct kfd_session *s, const uint32_t *ids, unsigned n,
			    struct kfd_failure *f)
{
	kfd_session_load_gpus(s);
	if (!s->num_gpus)
		return kfd_fail(f, KFD_FAULT_SYSTEM, "list the GPUs of the process",
				"none is known");
	for (unsigned i = note_queues(s, ids, n) + 1; i < s->num_gpus; i++)
		if (!s->acquired[i] && check_pasid(s, i, f) < 0)
			return -1;
	return 0;
}

static int suspend_round(struct kfd_session *s, uint32_t *ids, unsigned n, unsigned grace,
			 struct attempt *at, struct kfd_failure *f)
{
	if (s->may_crash && guard_suspension(s, ids, n, f) < 0)
		return -1;
	const uint64_t start = clock_ns();
	const int r = trap_suspend(s, ids, n, grace);
	const uint64_t end = clock_ns();
	if (r < 0)
		return session_fail(s, KFD_STEP_SUSPEND, r, f);
	take_results(s, at, ids, n, start, end);
	return kfd_session_events(s, f); // notes new queues in s->stale
}

static const struct kfd_queue_entry *find_queue(const struct kfd_session *s, uint32_t id)
{
	for (unsigned i = 0; i < s->num; i++)
		if (s->queues[i].queue_id == id)
			return &s->queues[i];
	return NULL;
}

// Writes an outcome for each selected queue, then for each named id without a queue. Returns their
// number.
static int report_outcomes(const struct kfd_session *s, const struct kfd_selection *sel,
			   const struct attempt *at, struct kfd_outcome *out)
{
	int n = 0;
	for (unsigned i = 0; i < s->num; i++) {
		uint32_t id = s->queues[i].queue_id;
		if (id >= KFD_MAX_QUEUES || !kfd_selected(sel, &s->queues[i]))
			continue;
		out[n++] = (struct kfd_outcome){
			.queue = s->queues[i],
			.result = (enum kfd_result)at->result[id],
			.latency_ns = at->result[id] ? at->took_ns[at->call[id]] : 0};
	}
	for (unsigned i = 0; i < sel->num_ids; i++)
		if (!find_queue(s, sel->ids[i]))
			out[n++] = (struct kfd_outcome){.queue.queue_id = sel->ids[i],
							.result = KFD_RESULT_UNKNOWN};
	return n;
}

int kfd_session_suspend(struct kfd_session *s, const struct kfd_selection *sel, unsigned grace,
			bool idle_only, struct kfd_outcome *out, struct kfd_failure *f)
{
	uint32_t ids[KFD_MAX_QUEUES];
	struct attempt at;
	unsigned n;
	begin_attempt(&at);
	for (int round = 0; round < MAX_ROUNDS; round++) {
		if (s->stale && kfd_session_refresh(s, f) < 0)
			return -1;
		n = collect_running(s, sel, idle_only, &at, ids);
		if (n == 0)
			break;
		if (suspend_round(s, ids, n, grace, &at, f) < 0)
			return -1;
	}
	if (idle_only)
		release_busy(s, &at);
	return report_outcomes(s, sel, &at, out);
}

// Collects the ids of selected queues that are suspended. Returns their number.
static unsigned collect_held(const struct kfd_session *s, const struct kfd_selection *sel,
			     struct attempt *at, uint32_t *ids)
{
	unsigned n = 0;
	for (unsigned i = 0; i < s->num; i++) {
		uint32_t id = s->queues[i].queue_id;
		if (id >= KFD_MAX_QUEUES || !kfd_selected(sel, &s->queues[i]))
			continue;
		set_result(at, id, s->held[id] ? KFD_RESULT_RESUMED : KFD_RESULT_RUNNING, 0);
		if (s->held[id])
			ids[n++] = id;
	}
	return n;
}

static int resume_held(struct kfd_session *s, uint32_t *ids, unsigned n, struct attempt *at)
{
	uint64_t start = clock_ns();
	int r = trap_resume(s, ids, n);
	if (r < 0)
		return r;
	at->took_ns[++at->calls] = clock_ns() - start;
	for (unsigned i = 0; i < n; i++) {
		uint32_t id = ids[i] & KFD_QUEUE_ID_MASK;
		unhold_queue(s, id);
		at->call[id] = (uint8_t)at->calls;
		if (ids[i] & KFD_QUEUE_ERROR)
			at->result[id] = KFD_RESULT_REFUSED;
	}
	return 0;
}

int kfd_session_resume(struct kfd_session *s, const struct kfd_selection *sel,
		       struct kfd_outcome *out, struct kfd_failure *f)
{
	uint32_t ids[KFD_MAX_QUEUES];
	struct attempt at;
	begin_attempt(&at);
	const unsigned n = collect_held(s, sel, &at, ids);
	const int r = n ? resume_held(s, ids, n, &at) : 0;
	return r < 0 ? session_fail(s, KFD_STEP_RESUME, r, f) : report_outcomes(s, sel, &at, out);
}
