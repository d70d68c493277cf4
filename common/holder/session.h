// A debug session on one process: the only way to take another process's queues off the GPU that
// the kernel undoes by itself when we die.
//
// Facts: [kfd.tracer], [kfd.session-end], [kfd.enable], [kfd.runtime-off]. Hence:
// - All calls come from the thread that called kfd_session_open(): the driver wants the ptrace
//   tracer *thread*, which also serves the target's stops (ptrace.h), unless the session is
//   untraced (session_untraced.c).
// - The session ends when this process ends, however it ends; the queues then run again.
// - Nothing is allocated after kfd_session_open().
#pragma once

#include "common/kfd/abi.h"
#include "common/holder/failure.h"
#include "common/holder/target.h"

enum kfd_result {
	KFD_RESULT_NONE,
	KFD_RESULT_SUSPENDED,
	KFD_RESULT_ALREADY, // was suspended before the request
	KFD_RESULT_BUSY,    // runs: only idle queues were wanted, and this one had work
	KFD_RESULT_REFUSED, // runs: the hardware did not let go of the queue
	KFD_RESULT_TIMEOUT, // the GPU did not answer; the driver resets the GPU
	KFD_RESULT_CLOSING, // the target is destroying the queue
	KFD_RESULT_UNKNOWN, // no queue of this id
	KFD_RESULT_RESUMED,
	KFD_RESULT_RUNNING, // was not suspended
};

// The queues that a request is about. No ids and no GPUs: all queues, also those that appear later.
// The counts are first: where few ids are given, only the first page is touched.
struct kfd_selection {
	unsigned num_ids, num_gpus;
	uint32_t gpus[64]; // gpu_id numbers
	uint32_t ids[KFD_MAX_QUEUES];
};

// Returns the word for a result in the holder's protocol, such as "suspended" (protocol.c).
const char *kfd_result_name(enum kfd_result r);

// A queue and what became of it, in the session and in a holder's answer.
struct kfd_outcome {
	struct kfd_queue_entry queue; // all 0 but queue_id when the result is UNKNOWN
	enum kfd_result result;
	unsigned xccs;       // answers with addresses only: XCCs of the queue's GPU
	uint64_t latency_ns; // duration of the queue's suspend or resume call; 0: no call
	uint64_t until_ns;   // answers only: deadline of the queue, CLOCK_MONOTONIC; 0: none
};

struct kfd_session {
	struct kfd_target target; // the target; its pidfd is the caller's
	int kfd;
	int events; // pipe of driver events; its end of file: the session is over
	bool enabled;
	// As the driver told it when the session began; all 0 once the runtime has begun or ended
	// since, as the driver does not tell it again.
	struct kfd_rinfo runtime;
	bool untraced;  // the target is not traced, so it has no stops to serve
	bool taken;     // taken by another debugger: calls fail until that debugger ends
	bool stale;     // the queue list has to be read again
	bool may_crash; // KFD_FACT_SUSPEND_CRASH is or may be true of this driver
	unsigned num_held;
	uint64_t since_ns; // when the first held queue was suspended (CLOCK_MONOTONIC); 0: none
	unsigned num;      // entries of `queues`
	unsigned num_gpus;
	bool acquired[KFD_MAX_GPUS]; // by index in `gpus`: the target is known to have acquired the
				     // GPU
	bool held[KFD_MAX_QUEUES];  // by queue id: suspended by this session
	bool fresh[KFD_MAX_QUEUES]; // by queue id: the queue has appeared; the caller clears this
	// Large arrays are last, as they are mostly never touched (struct holder).
	struct kfd_queue_entry queues[KFD_MAX_QUEUES]; // by ascending id
	struct kfd_device_entry gpus[KFD_MAX_GPUS];    // in the driver's order
};

// Test builds only (make testing): the environment variable GPQ_TEST_STOP=WHO:N stops a process at
// its kfd_step(N) with SIGSTOP if it called kfd_step_init(WHO): "gpq" or "holder".
#ifdef GPQ_TESTING
void kfd_step_init(const char *who);
void kfd_step(unsigned number);
#else
#define kfd_step_init(who) ((void)0)
#define kfd_step(number)   ((void)0)
#endif

// Opens /dev/kfd, seizes the target, makes sure that no other session exists, and starts the
// session. *s must be zeroed. Suspends nothing. Without `trace` the target is let go once the
// session is set up; drivers that do not allow that fail with KFD_FAULT_MUST_TRACE. After a failure
// the caller must end its thread (or process) to stop tracing, and close the session. Passes
// kfd_step() 1 to 5. Returns 0, or -1 and sets *f.
int kfd_session_open(struct kfd_session *s, const struct kfd_target *target, bool trace,
		     struct kfd_failure *f);

// Ends the session: all queues run. Tracing goes on until the calling thread ends. Returns false
// when another debugger has taken the session: its queues are as they were; try again.
bool kfd_session_close(struct kfd_session *s);

// If another debugger has become the owner of an untraced session, seizes the target and becomes
// the owner again. Returns false if nobody has, or the target is still traced (s->taken).
bool kfd_session_take_back(struct kfd_session *s);

// After the death of a holder that did not trace, its queues run, unless another debugger had taken
// the session, which is then ended here. Returns true if they run, false if that cannot be seen
// because somebody traces the target. The calling thread traces the target until the thread ends.
bool kfd_session_recover(const struct kfd_target *t);

// Suspends the selected queues that are not suspended yet; with `idle_only` those without work.
// `grace`: units of 1000 GPU clocks, 0 to KFD_GRACE_MAX. `out` has room for KFD_MAX_QUEUES plus
// sel->num_ids entries. Returns the number of outcomes, or -1 and sets *f; queues suspended before
// the failure stay so.
int kfd_session_suspend(struct kfd_session *s, const struct kfd_selection *sel, unsigned grace,
			bool idle_only, struct kfd_outcome *out, struct kfd_failure *f);

// Resumes the selected queues. Returns the number of outcomes, or -1 and sets *f: the caller must
// then end the session.
int kfd_session_resume(struct kfd_session *s, const struct kfd_selection *sel,
		       struct kfd_outcome *out, struct kfd_failure *f);

// Reads the driver's events: answers the runtime handshake, notes new queues in s->stale.
// Returns 0, or -1 and sets *f, to KFD_FAULT_SESSION_LOST or KFD_FAULT_GONE if the session is over.
int kfd_session_events(struct kfd_session *s, struct kfd_failure *f);

// Brings s->queues up to date. Returns 0, or -1 and sets *f.
int kfd_session_refresh(struct kfd_session *s, struct kfd_failure *f);

bool kfd_among(const uint32_t *list, unsigned num, uint32_t value);
bool kfd_selected(const struct kfd_selection *sel, const struct kfd_queue_entry *q);

// Fills s->gpus, at the first call only.
void kfd_session_load_gpus(struct kfd_session *s);

// Returns the number of XCCs of a GPU of the target, 1 when unknown.
unsigned kfd_session_xccs(struct kfd_session *s, uint32_t gpu_id);
