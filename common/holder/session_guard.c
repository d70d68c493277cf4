// Refuses a suspension that would crash a driver with KFD_FACT_SUSPEND_CRASH (driver.h).
//
// Facts: kfd_device_queue_manager.c of Linux 7.2 and 7.3: suspend_queues() walks the target's GPUs
// in the order of GET_DEVICE_SNAPSHOT and, once a queue was suspended, flushes the TLB of each
// further GPU without queues to suspend, through a pointer that is null until the target has
// acquired that GPU (ACQUIRE_VM). Two things prove that it has: a queue on it, and a PASID other
// than 0 in debugfs. A GPU is never given back while the process lives.
#include "common/holder/session_priv.h"

#include "common/reader/process_cache.h"
#include "common/host/root.h"

// The queues prove that their GPUs are acquired. Returns the first GPU that has one of the queues
// `ids`; a GPU that is not in the snapshot is taken as the first, which requires the most.
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

// debugfs names processes by their host pids: in a PID namespace the file is another process's.
static int check_pasid(struct kfd_session *s, unsigned gpu, struct kfd_failure *f)
{
	struct buf b = {0};
	unsigned id = s->gpus[gpu].gpu_id;
	ssize_t n = pids_are_host() ? host_readf(&b, "/sys/kernel/debug/kfd/proc/%d/pasid_%u",
						 (int)s->target.pid, id)
				    : -1;
	char first = n > 0 ? b.data[0] : '\0';
	buf_fini(&b);
	if (first == '0')
		return kfd_fail(f, KFD_FAULT_WOULD_CRASH, id);
	s->acquired[gpu] = first >= '1' && first <= '9';
	return s->acquired[gpu] ? 0 : kfd_fail(f, KFD_FAULT_MAY_CRASH, id);
}

int session_guard(struct kfd_session *s, const uint32_t *ids, unsigned n, struct kfd_failure *f)
{
	session_load_gpus(s);
	if (!s->num_gpus)
		return kfd_fail(f, KFD_FAULT_SYSTEM, "list the GPUs of the process",
				"none is known");
	for (unsigned i = note_queues(s, ids, n) + 1; i < s->num_gpus; i++)
		if (!s->acquired[i] && check_pasid(s, i, f) < 0)
			return -1;
	return 0;
}
