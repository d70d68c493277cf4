// The queues of a host, each with all that sysfs, /proc, the topology and the MQDs say about it:
// what `gpq queues` prints, and where other commands look up whose a queue is.
//
// Only what is wanted is read, each file once. What cannot be read is unknown in the row, and
// queue_rows_explain() says why.
#ifndef GPQ_STATE_QUEUE_ROWS_H
#define GPQ_STATE_QUEUE_ROWS_H

#include "common/debugfs/mqd_value.h"
#include "common/host/buf.h"
#include "common/host/process_cache.h"
#include "common/holder/holder.h"
#include "common/state/join.h"
#include "common/state/residency.h"
#include "common/state/prio.h"
#include "common/kfd/procs.h"
#include "common/kfd/topology.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {                // what to read, beside pids and queue ids
	READ_GPU = 1, // gpuid of the queue, GPU index
	READ_TYPE = 2,
	READ_SIZE = 4,
	READ_PASID = 8,
	READ_VRAM = 16,
	READ_SDMA = 32,
	READ_EVICTED = 64,
	READ_CU = 128,
	READ_STATUS = 256, // name, user, namespace PID, alive or not
	READ_CONTAINER = 512,
	READ_CMDLINE = 1024,
	READ_BDF = 2048,
	READ_MQD = 4096,
	READ_CONTAINER_NAME = 8192,
	READ_INDICES = 16384, // read and write index now, from the process's memory
	READ_HOLDER = 32768,  // whether gpq holds it off the GPU
};

// Numbers are UINT64_MAX (signed ones INT64_MIN), texts NULL, flags -1 where unknown: the output's
// nulls.
struct queue_row {
	int64_t pid, ns_pid;
	const char *comm, *cmdline, *user;
	const char *container, *container_id, *runtime;
	char *container_name; // owned
	const char *process;  // "alive", "zombie", "gone": its KFD directory outlives it
	uint64_t gpu, gpu_id; // index in the topology; KFD's number
	const char *bdf, *gfx;
	uint64_t qid, context;
	const char *type;
	uint64_t ring_bytes;
	// Of the process on this GPU.
	uint64_t vram_bytes, evicted_ns, sdma_ns, cu_occupancy, pasid;
	// From the MQD.
	uint64_t ring_addr, rptr_addr, wptr_addr, mqd_addr;
	uint64_t rptr, wptr, backlog, doorbell, prio, pipe_prio, vmid;
	uint64_t xccs, ctx_addr, ctx_bytes, saved_bytes, read_index, error;
	uint64_t sdma_engine, sdma_rlc;
	const char *level; // "low", "medium", "high": of pipe_prio
	int8_t on_hw;
	const char *packets; // "aql", "pm4"
	// From the living process, where that may be traced.
	uint64_t read_now, write_now;
	int64_t holder; // pid of the gpq holder that has it suspended
	int8_t traced;  // its process, by a debugger or a holder
	// "running", "idle", "mapped", "turns", "suspended", "evicted", "off-hardware", "unknown"
	const char *state;
	const char *match; // how its MQD was found: "order", "only", "likely"; NULL: not for sure

	uint32_t mqd;  // index in queue_rows.mqds.queues; UINT32_MAX: not known for sure
	bool turns;    // its MQD's verdict is RESIDENCY_TURNS
	bool evicted;  // while the state is found
	bool doubtful; // off-hardware: evicted, or held by a debugger that does not trace it
	uint32_t seq;  // place in which it was found
	bool hidden;   // for the caller to leave it out; false at first
};

struct queue_rows_how {
	unsigned want; // QLIST_...
	// List this captured text alone ("-": standard input); NULL: the host.
	const char *mqds_file;
	const char *rls_file; // with it: the runlists of the same moment; NULL: unknown
	bool idle;            // also processes without queues
	bool likely;          // where a match is not certain, take the likeliest
	bool (*keep)(const void *arg, pid_t pid); // NULL: all
	const void *arg;
};

struct queue_rows {
	const struct queue_rows_how *how;
	struct process_cache *processes; // not owned
	struct kfd_topology gpus;
	struct kfd_procs procs;
	struct buf text, rls_text; // of mqds and rls
	struct mqds mqds;
	struct join join;
	struct mqd_summary *summaries; // of each MQD
	uint8_t *verdicts;             // enum residency of each MQD
	enum gfx_gen *gens;            // generation of each MQD's GPU
	struct kfd_driver driver;      // of the host; zero with mqds_file
	enum kfd_answer3 prio_written; // whether MQDs hold priorities: elsewhere prio is unknown
	struct rls rls;
	struct queue_row *rows;
	size_t n, cap;
	struct kfd_holding *holdings; // of gpq suspend
	size_t nholdings;
	bool noted;     // the recorded host has notes of indices and holders (gpq snapshot)
	int mqds_error; // errno of reading mqds, 0; ENODATA: not wanted
	bool foreign;   // pids of sysfs and of /proc are of different namespaces
};

// Fills `q`, which must be zeroed or have been through queue_rows_fini(). Rows are by pid, context
// and qid. GPQ_OK, or the exit status after a message.
int queue_rows_load(struct queue_rows *q, struct process_cache *processes,
		    const struct queue_rows_how *how);
void queue_rows_fini(struct queue_rows *q);

// The generation of a GPU by the topology; GFX_UNKNOWN when that does not tell.
enum gfx_gen queue_rows_gen(const struct queue_rows *q, uint32_t gpu_id);

// Reads the runlists, as a witness of what is on hardware; without them dword 130 stands alone.
// GPQ_OK also when there are none; a file that was named must have some. (queue_rows_load does it.)
int queue_rows_load_rls(struct queue_rows *q);

// Says what is wrong with them. True: a file that was named is damaged. (queue_rows_explain does
// it.)
bool queue_rows_explain_rls(const struct queue_rows *q);

// Says on stderr, for -v, why fields are unknown. True: the file that was named is damaged, which
// is said without -v too.
bool queue_rows_explain(const struct queue_rows *q);

#endif
