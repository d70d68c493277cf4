// The room of queue rows: all that a host tells about each of its queues, joined into one row. Open
// this file first. queue_rows.c makes rows from sysfs, /proc, memory of processes and holders of
// gpq suspend; queue_rows_mqd.c adds the MQDs and explains what is unknown; join.h finds the MQD of
// a queue; residency.c tells whether a queue is in a hardware slot, prio.c its priority,
// evictions.h why it is evicted.
//
// Only what queue_rows_how.want asks for is read, each file once. A value that cannot be read is
// unknown in the row; queue_rows_explain() prints the reason.
#pragma once

#include "common/cli/opts.h"
#include "common/debugfs/mqd_value.h"
#include "common/reader/process_cache.h"
#include "common/holder/holder.h"
#include "common/rows/join.h"
#include "common/kfd/driver.h"
#include "common/kfd/procs.h"
#include "common/kfd/topology.h"

enum {                // what to read, beside PIDs and queue ids
	READ_GPU = 1, // gpu_id of the queue, GPU index; the first eight are bits of enum kfd_want
	READ_TYPE = 2,
	READ_SIZE = 4,
	READ_PASID = 8,
	READ_VRAM = 16,
	READ_SDMA = 32,
	READ_EVICTED = 64,
	READ_CU = 128,
	READ_STATUS = PROCESS_STATUS << 8, // name, user, namespace PID and state of the process
	READ_CONTAINER = PROCESS_CONTAINER << 8,
	READ_CMDLINE = PROCESS_CMDLINE << 8,
	READ_BDF = 2048,
	READ_MQD = 4096,
	READ_CONTAINER_NAME = 8192,
	READ_INDICES = 16384, // read and write index now, from the process's memory
	READ_HOLDER = 32768,  // which gpq holder has the queue suspended
};

// A queue; members are grouped by their source. Rows of hardware slots and runlist packets embed
// one. Unknown numbers are UINT64_MAX (signed ones INT64_MIN), unknown texts NULL, unknown flags
// -1: the nulls of common/out.
struct queue_row {
	// Which queue it is.
	int64_t pid;      // host PID of the process that owns the queue
	uint64_t gpu_id;  // KFD's number of the GPU
	uint64_t qid;     // queue id; each context counts its queues from 0
	uint64_t context; // id of the secondary KFD context; unknown: the process's primary one
	const char *type; // "compute", "sdma", "sdma-xgmi"; of a slot "hiq", of an MQD "diq", too

	// About the GPU, from the topology.
	struct {
		uint64_t index, node;
		const char *bdf, *gfx;
	} gpu;

	// About the process, from /proc.
	struct {
		int64_t ns_pid; // PID inside the process's container
		const char *comm, *cmdline, *user;
		const char *container, *container_id, *runtime, *pod, *job;
		char *container_name; // owned
		const char *state;    // "alive", "zombie", or "gone": KFD's directory outlives it
		int8_t traced;        // a debugger or a gpq holder traces the process
	} process;

	struct kfd_usage usage; // by the queue's context on this GPU, from sysfs; or the PASID only

	// As of now, from the memory of the living process and from gpq's holders.
	struct {
		uint64_t read, write; // indices: AQL packets, SDMA bytes
		int64_t holder;       // PID of the gpq holder that has the queue suspended
	} now;

	// Values of the queue's MQD or slot, by enum mqd_value and mqd_derived. Where sysfs has the
	// ring's size, and `now` the indices, MQD_V_RING_BYTES and MQD_D_BACKLOG come from there.
	uint64_t v[MQD_SUMMARY];
	// Where MQD_D_BACKLOG comes from: "process" (`now`), "live" (the slot), "saved" (the MQD of
	// a queue off hardware); NULL: it is unknown.
	const char *pointers;
	const char *level;            // "low", "medium", "high": name of MQD_V_PIPE_PRIO
	const char *packets;          // "aql", "pm4"; NULL of SDMA queues
	const char *cu_mask, *cus_on; // struct cu_mask of its MQD

	struct {                   // the queue's MQD
		uint32_t index;    // index in queue_rows.mqds.queues; UINT32_MAX: unknown
		const char *match; // how the MQD was found: "order", "only", "likely"; NULL: not
		bool turns;        // the queue's residency is RESIDENCY_TURNS
	} mqd;

	// "running", "idle", "mapped", "takes-turns", "suspended", "evicted", "off-hardware",
	// "unknown"
	const char *state;
	bool doubtful; // `state` is "off-hardware": evicted, or held by a debugger that detached
	int8_t on_hw;  // 1: the queue is in a hardware slot

	bool hidden;  // set by callers: the row is left out
	uint32_t seq; // order in which rows were found, from 0
};

struct queue_rows_how {
	unsigned want;         // READ_ bits
	const char *mqds_file; // a copy of mqds to read instead of a host ("-": standard input)
	const char *rls_file;  // for mqds_file: the runlists of the same moment; NULL: unknown
	bool idle;             // also processes without queues
	bool memory;           // also those with memory on a GPU; counters are of all GPUs then
	bool likely;           // take the likeliest MQD where none is certain
	bool (*keep)(const void *arg, pid_t pid); // processes to list; NULL: all
	const void *arg;
};

// The CUs that the queue of an MQD may use. NULL, "": unknown.
struct cu_mask {
	char *mask;  // "all", or a word for each shader engine; "/" between XCCs that differ. Owned
	char on[48]; // "52/104": of the CUs of the GPU
};

struct queue_rows {
	const struct queue_rows_how *how;
	struct process_cache *processes; // not owned
	struct kfd_topology gpus;
	struct kfd_procs procs;
	struct buf text, rls_text; // contents of mqds and of rls
	struct mqds mqds;
	struct join join;
	struct mqd_summary *summaries; // values of each MQD
	struct cu_mask *cu_masks;      // of each MQD
	uint8_t *verdicts;             // enum residency of each MQD
	enum gfx_gen *gens;            // generation of each MQD's GPU
	struct kfd_driver driver;      // driver of the host; zero with mqds_file
	enum kfd_answer3 prio_written; // result of prio_written(); unless YES, no priority is known
	struct rls rls;
	struct hqds slots; // of a recorded host, if READ_INDICES is wanted
	struct queue_row *rows;
	size_t n, cap;
	struct kfd_holding *holdings; // queues that gpq holders have suspended
	size_t nholdings;
	bool live;          // a live host: indices and holders can be read
	bool noted;         // the recorded host may have files .now: indices and holders
	bool chosen_only;   // the recorded host was saved with a selector, see `chosen`
	struct pids chosen; // processes that the selector chose; the dumps have others, too
	int mqds_error;     // errno of reading mqds; 0: none; ENODATA: mqds was not wanted
	bool foreign;       // sysfs and /proc number processes in different PID namespaces
};

// Fills `q`, which must be zeroed. Rows are sorted by PID, context and queue id. Returns GPQ_OK, or
// the exit status after a message.
int queue_rows_load(struct queue_rows *q, struct process_cache *processes,
		    const struct queue_rows_how *how);
void queue_rows_fini(struct queue_rows *q);

// Returns the generation of a GPU, or GFX_UNKNOWN if the topology does not have the GPU.
enum gfx_gen queue_rows_gen(const struct queue_rows *q, uint32_t gpu_id);

// Sets all members of a row to unknown.
void queue_row_clear(struct queue_row *r);

// Sets gpu_id and, from the topology, `gpu` of a row. Does nothing for gpu_id 0 (unknown).
void queue_row_set_gpu(const struct queue_rows *q, struct queue_row *r, uint32_t gpu_id);

// Sets `pid` and the wanted members of `process`. Does nothing for a PID below 0 (unknown).
void queue_row_set_process(const struct queue_rows *q, struct queue_row *r, pid_t pid);

// Derives level, on_hw and packets of a row from its values (v).
void queue_row_name_values(struct queue_row *r);

// Returns the type of queues on an SDMA engine: "sdma-xgmi" if the topology counts it as an XGMI
// engine, else "sdma". XGMI engines have the highest numbers (kfd_device_queue_manager.c).
const char *queue_rows_sdma_type(const struct queue_rows *q, uint32_t gpu_id, uint64_t engine);

// Returns the type of MQD `mqd` in the words of queue_row.type, or NULL for other MQDs.
const char *queue_rows_mqd_type(const struct queue_rows *q, uint32_t mqd);

// Sets type, GPU and values of a cleared row from MQD `mqd`, an index in q->mqds.queues.
void queue_row_set_mqd(const struct queue_rows *q, struct queue_row *r, uint32_t mqd);

// Is it known that the queue may not use all CUs?
static inline bool queue_row_is_masked(const struct queue_row *r)
{
	return r->cu_mask && strcmp(r->cu_mask, "all") != 0;
}

enum { AQL_PACKET_DWORDS = 16 };
bool queue_row_is_aql(const struct queue_row *r);
static inline uint64_t queue_row_unit(const struct queue_row *r) // of its pointers, in an index
{
	return queue_row_is_aql(r) ? AQL_PACKET_DWORDS : 1;
}
bool queue_row_is_sdma(const struct queue_row *r);

// Returns the backlog between two ring pointers, in dwords (SDMA: bytes); UINT64_MAX: unknown.
uint64_t queue_row_waiting(const struct queue_row *r, uint64_t rptr, uint64_t wptr);

// Returns what the GPU consumed since the queue was created, in the unit of the pointers: the write
// pointer less the backlog. UINT64_MAX: unknown, or write pointers wrap (not `whole_wptr`).
uint64_t queue_row_taken(const struct queue_row *r, uint64_t rptr, uint64_t wptr, bool whole_wptr);

// Sets the indices that pointers of a slot or MQD mean, in AQL packets, PM4 dwords or SDMA bytes:
// what the GPU consumed since the queue was created, and what was written. Returns whether both are
// known; what is not is UINT64_MAX.
bool queue_row_indices(const struct queue_row *r, uint64_t rptr, uint64_t wptr, bool whole_wptr,
		       uint64_t *read, uint64_t *write);

// Returns the sum of a counter, the member of struct kfd_usage at this offset, over all contexts of
// a process and all selected GPUs. KFD_UNKNOWN: unknown on one of them, or not counted anywhere.
uint64_t queue_rows_usage(const struct queue_rows *q, const struct kfd_proc *proc, size_t member);
#define QUEUE_ROWS_USAGE(q, proc, member) \
	queue_rows_usage((q), (proc), offsetof(struct kfd_usage, member))

// Adds a count to a sum, which is KFD_UNKNOWN once one of them was.
void add_count(uint64_t *sum, uint64_t count);

// Reports that a dump in debugfs cannot be read, with its errno. Returns the exit status.
int host_lacks_dump(const char *path, int error);

// Reads the runlists (queue_rows_load() does). Returns GPQ_OK, also if a host has none, or the exit
// status after a message about a file that the user named.
int queue_rows_load_rls(struct queue_rows *q);

// Reports lines and words of a dump that could not be parsed: as a warning if the user named the
// `file`, else (NULL) as a note for -v about `path`. `meaning`: what it means if a named file is
// empty (`len` 0). Returns whether it warned of damage.
bool dump_explain(const char *file, const char *path, const struct dump_count *lines,
		  unsigned bad_words, size_t len, const char *meaning);

// Calls dump_explain() for the runlists (queue_rows_explain() does that, too).
bool queue_rows_explain_rls(const struct queue_rows *q);

// Says with -v why fields are unknown. Returns whether it warned that a named file is damaged.
bool queue_rows_explain(const struct queue_rows *q);

// Returns whether this recorded host was saved with a selector. If so, adds the PIDs of the chosen
// processes to `to`. They follow RECORDED_CHOSEN in the head of /MANIFEST, separated by commas.
#define RECORDED_CHOSEN "chosen "
bool recorded_chosen(struct pids *to);

// --- functions of queue_rows_mqd.c for queue_rows.c ---

// Reads mqds and joins it with sysfs. Returns GPQ_OK, also if mqds of a host cannot be read
// (q->mqds_error), or the exit status after a message about a file that the user named.
int queue_rows_load_mqds(struct queue_rows *q);

// Sets the MQD values of sysfs queue `index`, as far as they are certain, or likely if wanted.
void queue_rows_fill_joined(const struct queue_rows *q, struct queue_row *r, size_t index);

// Sets `c`, which is zeroed, as far as generation and CUs of the GPU `g` (NULL: unknown) and all
// MQDs of the queue, one for each of `xccs`, are known (cu_mask.c).
void cu_mask_read(struct cu_mask *c, const struct mqds *m, const struct mqd *q, uint64_t xccs,
		  const struct kfd_gpu *g);

// Sets the mask of a row to that of MQD `mqd`.
void queue_row_set_cu_mask(const struct queue_rows *q, struct queue_row *r, uint32_t mqd);

// --- on hardware or off (residency.c) ---
//
// Tells whether a queue is in a hardware slot, from memory alone: registers are not read.
//
// Facts: [debugfs.rls-active], [debugfs.mqd-active], [debugfs.off]. There are two sources: the
// runlist, which lists exactly the queues that the scheduler was told to run (gfx9, gfx10), and
// dword 130 of the MQD, which the firmware of gfx942 sets and clears. Other firmware was not
// observed: its 0 counts only if another MQD of the GPU has a 1, which proves that the firmware
// writes the dword.
//
// On an over-subscribed GPU (its runlist is chained) queues take turns many times a second: there,
// 0 in dword 130 only means that it was not this queue's turn. MES has no runlists: there the
// numbers of processes and queues tell whether queues may take turns.

enum residency {
	RESIDENCY_OFF = 0,
	RESIDENCY_ON = 1,
	RESIDENCY_UNKNOWN = 2, // neither source tells; the values that follow are unknown, too
	RESIDENCY_SILENT,      // dword 130 is 0, but the firmware may never write it
	RESIDENCY_TURNS,       // in the runlist of an over-subscribed GPU, dword 130 is not 1
	RESIDENCY_MAY_TURN,    // dword 130 is 0, runlist unknown, GPU may be over-subscribed
	RESIDENCY_CONTRADICT,  // not in the runlist, but dword 130 is 1: a change between the reads
};

// Sets verdicts[i] to the enum residency of m->queues[i]. `gens` has the generations of their GPUs;
// `rls` and `gpus` may be empty.
void residency_judge(uint8_t *verdicts, const struct mqds *m, const enum gfx_gen *gens,
		     const struct rls *rls, const struct kfd_topology *gpus);

// Returns in words why a residency is unknown, or NULL for RESIDENCY_OFF and RESIDENCY_ON.
const char *residency_text(enum residency o);

// --- priorities (prio.c) ---
//
// A program gives a compute queue a priority from 0 to 15. The driver always writes its level, 0 to
// 2, to cp_hqd_pipe_priority in the MQD (dword 133; pipe_priority_map[] in kfd_mqd_manager.c), and
// up to Linux 6.19 the number itself to cp_hqd_queue_priority (dword 134; set_priority() in
// kfd_mqd_manager_v*.c). Later drivers leave 0 in dword 134. SDMA queues have neither.

// Returns the name of a priority level, 0 to 2: "low" (priorities 0 to 6), "medium" (7 to 10) or
// "high" (11 to 15); NULL for any other number, such as UINT64_MAX (unknown).
const char *prio_level_name(uint64_t pipe_prio);

// Does the driver that made this dump write dword 134? Yes if any is not 0; no if a queue of level
// medium or high, whose priority is above 0, has 0 there. Without such queues, or with both, the
// facts of the driver `d` decide (NULL: unknown). Unless YES, dword 134 must not be trusted.
enum kfd_answer3 prio_written(const struct mqds *m, const struct kfd_driver *d);

// Like prio_written(), but judged by the registers of hardware slots instead of MQDs.
enum kfd_answer3 prio_written_slots(const struct hqds *h);

// What --prio chooses.
struct prio_choice {
	const char *text; // argument of --prio, not owned; NULL: all queues
	uint16_t prios;   // bit N: priority N
};

// Parses "low", "high,medium", "8" (8 to 15) or "0:7"; NULL chooses all. Returns GPQ_OK, or
// GPQ_USAGE after a message.
int prio_parse(struct prio_choice *c, const char *text);

// Refuses a range that has only a part of a level, unless the driver writes priorities (`written`).
// Returns GPQ_OK, or GPQ_UNSUPPORTED after a message.
int prio_check(const struct prio_choice *c, enum kfd_answer3 written);

// Does --prio choose a queue of this priority and level (0 to 2)? Either may be UINT64_MAX
// (unknown). UNKNOWN: the level alone does not tell, or both are unknown.
enum kfd_answer3 prio_fits(const struct prio_choice *c, uint64_t prio, uint64_t level);
