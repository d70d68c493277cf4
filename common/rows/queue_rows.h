// The room of queue rows: what sysfs, /proc, the topology, debugfs, the memory of processes and the
// holders of gpq suspend say about each queue of a host, joined into one row. Open this file first.
// queue_rows.c makes rows from sysfs, /proc and holders; queue_rows_mqd.c adds the MQDs and
// explains what is unknown; join.h says which MQD is which queue's, residency.c whether a queue is
// in a hardware slot, prio.c what its priority is, evictions.h why it is evicted.
//
// Only the files of queue_rows_how.want are read, each once. A value that cannot be read is unknown
// in the row; queue_rows_explain() prints the reason.
#ifndef GPQ_ROWS_QUEUE_ROWS_H
#define GPQ_ROWS_QUEUE_ROWS_H

#include "common/cli/opts.h"
#include "common/debugfs/mqd_value.h"
#include "common/host/buf.h"
#include "common/reader/process_cache.h"
#include "common/holder/holder.h"
#include "common/rows/join.h"
#include "common/kfd/driver.h"
#include "common/kfd/procs.h"
#include "common/kfd/topology.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {                // what to read, beside pids and queue ids
	READ_GPU = 1, // gpuid of the queue, GPU index; the first eight are bits of enum kfd_want
	READ_TYPE = 2,
	READ_SIZE = 4,
	READ_PASID = 8,
	READ_VRAM = 16,
	READ_SDMA = 32,
	READ_EVICTED = 64,
	READ_CU = 128,
	READ_STATUS = PROCESS_STATUS << 8, // name, user, namespace PID, alive or not
	READ_CONTAINER = PROCESS_CONTAINER << 8,
	READ_CMDLINE = PROCESS_CMDLINE << 8,
	READ_BDF = 2048,
	READ_MQD = 4096,
	READ_CONTAINER_NAME = 8192,
	READ_INDICES = 16384, // read and write index now, from the process's memory
	READ_HOLDER = 32768,  // whether gpq holds it off the GPU
};

// What is known of a queue, in parts by where it comes from. Other rows (hardware slots, runlist
// packets) embed one for the queue they are about. Unknown numbers are UINT64_MAX (signed ones
// INT64_MIN), unknown texts NULL, unknown flags -1: the nulls of common/out.
struct queue_row {
	// Which queue it is.
	int64_t pid;      // process that owns it, as the host numbers it
	uint64_t gpu_id;  // KFD's number of the GPU
	uint64_t qid;     // queue id; each context counts its queues from 0
	uint64_t context; // id of the secondary KFD context; unknown: the process's primary one
	const char *type; // "compute", "sdma", "sdma-xgmi"; of a slot also "hiq" (the scheduler's
			  // own queue), of an MQD also "diq" (the debugger's, on old kernels)

	// Of the GPU: the topology.
	struct {
		uint64_t index, node;
		const char *bdf, *gfx;
	} gpu;

	// Of the process: /proc.
	struct {
		int64_t ns_pid; // PID inside its container
		const char *comm, *cmdline, *user;
		const char *container, *container_id, *runtime;
		char *container_name; // owned
		const char *state;    // "alive", "zombie", "gone": its KFD directory outlives it
		int8_t traced;        // by a debugger or a gpq holder
	} process;

	// Of the process on this GPU: sysfs.
	struct {
		uint64_t vram_bytes, evicted_ns, sdma_ns, cu_occupancy, pasid;
	} usage;

	// Of this moment: the memory of the living process, and gpq's holders.
	struct {
		uint64_t read, write; // indices: AQL packets, SDMA bytes
		int64_t holder;       // PID of the gpq holder that has it suspended
	} now;

	// Of its MQD or slot, by enum mqd_value and mqd_derived. The ring's size is that of sysfs
	// where sysfs has one; the backlog is that of the indices in `now` where these are known.
	uint64_t v[MQD_SUMMARY];
	const char *level;   // "low", "medium", "high": name of MQD_V_PIPE_PRIO
	const char *packets; // "aql", "pm4"; NULL of SDMA queues
	int8_t on_hw;        // in a hardware slot

	// Which MQD is its own.
	struct {
		uint32_t index;    // in queue_rows.mqds.queues; UINT32_MAX: not known for sure
		const char *match; // how it was found: "order", "only", "likely"; NULL: it was not
		bool turns;        // RESIDENCY_TURNS
	} mqd;

	// "running", "idle", "mapped", "turns", "suspended", "evicted", "off-hardware", "unknown"
	const char *state;
	bool doubtful; // off-hardware: evicted, or held by a debugger that does not trace it

	uint32_t seq; // place in which it was found, from 0
	bool hidden;  // for the caller to leave it out; false at first
};

struct queue_rows_how {
	unsigned want; // READ_...
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
	bool live;          // a live host: indices and holders can be read
	bool noted;         // the recorded host has notes of indices and holders (gpq snapshot)
	bool chosen_only;   // the recorded host was saved with a selector: it has the files of
	struct pids chosen; // these processes, and dumps that have others too
	int mqds_error;     // errno of reading mqds, 0; ENODATA: not wanted
	bool foreign;       // pids of sysfs and of /proc are of different namespaces
};

// Fills `q`, which must be zeroed or have been through queue_rows_fini(). Rows are by pid, context
// and qid. GPQ_OK, or the exit status after a message.
int queue_rows_load(struct queue_rows *q, struct process_cache *processes,
		    const struct queue_rows_how *how);
void queue_rows_fini(struct queue_rows *q);

// The generation of a GPU by the topology; GFX_UNKNOWN when it is not in there.
enum gfx_gen queue_rows_gen(const struct queue_rows *q, uint32_t gpu_id);

// Sets all members of a row to unknown.
void queue_row_clear(struct queue_row *r);

// Fills in a GPU's index, node, gfx and PCI address from the topology. gpu_id 0: unknown.
void queue_row_set_gpu(const struct queue_rows *q, struct queue_row *r, uint32_t gpu_id);

// Fills in the process of a row, with the wanted members. A pid below 0: unknown.
void queue_row_set_process(const struct queue_rows *q, struct queue_row *r, pid_t pid);

// Derives level, on_hw and packets of a row from its values (v).
void queue_row_name_values(struct queue_row *r);

// The type of the queues of an SDMA engine: "sdma-xgmi" where the topology says that it is one for
// XGMI (their numbers follow those of the others: kfd_device_queue_manager.c), else "sdma".
const char *queue_rows_sdma_type(const struct queue_rows *q, uint32_t gpu_id, uint64_t engine);

// The type of MQD `mqd`, in the words of struct queue_row; NULL: none of them.
const char *queue_rows_mqd_type(const struct queue_rows *q, uint32_t mqd);

// Fills a cleared row with type, GPU and values of MQD `mqd`.
void queue_row_set_mqd(const struct queue_rows *q, struct queue_row *r, uint32_t mqd);

enum { AQL_PACKET_DWORDS = 16 };
bool queue_row_is_aql(const struct queue_row *r);
bool queue_row_is_sdma(const struct queue_row *r);

// The backlog between two pointers, in dwords (SDMA: bytes); UINT64_MAX: unknown.
uint64_t queue_row_waiting(const struct queue_row *r, uint64_t rptr, uint64_t wptr);

// What the GPU consumed since the queue was created, in the same unit: the write pointer less what
// waits. `whole_wptr`: write pointers do not wrap (struct gfx_caps).
uint64_t queue_row_taken(const struct queue_row *r, uint64_t rptr, uint64_t wptr, bool whole_wptr);

// Reads the runlists, from which residency_judge() takes which queues are mapped. GPQ_OK also when
// there are none; a file that the user named must have some. (queue_rows_load calls it.)
int queue_rows_load_rls(struct queue_rows *q);

// Reports lines and words of a dump that could not be parsed: a warning if the user named the file,
// else a note for -v. For a file of `len` 0 it prints `meaning`. True: damaged, and a warning was
// printed.
bool dump_explain(const char *file, const char *path, const struct dump_count *lines,
		  unsigned bad_words, size_t len, const char *meaning);

// Reports what is wrong with the runlists. True: a file that was named is damaged.
// (queue_rows_explain does it.)
bool queue_rows_explain_rls(const struct queue_rows *q);

// Prints for -v why fields are unknown. True: the file that the user named is damaged, which is
// printed without -v too.
bool queue_rows_explain(const struct queue_rows *q);

// Was this recorded host saved with a selector? Then the PIDs of its processes are added to `to`.
// They stand behind RECORDED_CHOSEN in the head of /MANIFEST, separated by commas.
#define RECORDED_CHOSEN "chosen "
bool recorded_chosen(struct pids *to);

// --- between the files of queue_rows ---

// Reads and joins mqds. GPQ_OK also when it cannot be read on a host: see q->mqds_error.
int queue_rows_load_mqds(struct queue_rows *q);

// Fills in the MQD values of sysfs queue `index`, as far as the join is certain.
void queue_rows_fill_joined(const struct queue_rows *q, struct queue_row *r, size_t index);

// --- on hardware or off (residency.c) ---
//
// Whether a queue is in a hardware slot, as far as memory shows it, without reading registers.
//
// Facts: [debugfs.rls-active], [debugfs.mqd-active], [debugfs.off]. Two witnesses: the runlist,
// which lists exactly the queues that the scheduler was told to run (gfx9, gfx10), and dword 130 of
// the MQD, which the firmware of gfx942 sets and clears. Other firmware was not observed: there a 0
// counts only if another MQD of the GPU has a 1, which proves that the firmware writes the dword.
//
// An over-subscribed GPU (its runlist is chained) takes queues off and on by turns, many times a
// second: a 0 in dword 130 then only means that it was not this queue's turn. MES has no runlists:
// there the numbers of processes and queues show whether queues may take turns.

enum residency {
	RESIDENCY_OFF = 0,
	RESIDENCY_ON = 1,
	RESIDENCY_UNKNOWN = 2, // no witness
	RESIDENCY_SILENT,      // only a dword 130 of 0 that the firmware may never have written
	RESIDENCY_TURNS,       // mapped, but the GPU is over-subscribed, so queues take turns
	RESIDENCY_MAY_TURN, // dword 130 is 0, and the GPU may be over-subscribed: there is no list
	RESIDENCY_CONTRADICT, // the runlist and dword 130 say opposite things: it changed between
			      // two reads
};

// The verdict of each of m->queues; anything from RESIDENCY_UNKNOWN on means unknown. `gens` has
// the generation of each of them; `rls` and `gpus` may be empty.
void residency_judge(uint8_t *verdicts, const struct mqds *m, const enum gfx_gen *gens,
		     const struct rls *rls, const struct kfd_topology *gpus);

// Why it is unknown, for people; NULL for RESIDENCY_OFF, RESIDENCY_ON.
const char *residency_text(enum residency o);

// --- priorities (prio.c) ---
//
// Priorities of queues: what a dump says of them, and which queues --prio chooses.
//
// A program gives a compute queue a priority from 0 to 15. The driver writes two registers of it
// into the MQD: cp_hqd_pipe_priority (dword 133), the level 0 to 2 (pipe_priority_map[] in
// kfd_mqd_manager.c), always; cp_hqd_queue_priority (dword 134), the number itself, up to Linux
// 6.19 (set_priority() in kfd_mqd_manager_v*.c). Where it does not, dword 134 is 0 and the number
// is unknown. SDMA queues have neither.

// "low" (priorities 0 to 6), "medium" (7 to 10), "high" (11 to 15); NULL for any other number,
// UINT64_MAX (unknown) among them.
const char *prio_level_name(uint64_t pipe_prio);

// Does the driver that made this dump write dword 134? Decided by the dump: a compute queue with
// level medium or high has a priority above 0, so 0 in dword 134 means no, and any other value
// yes. Where the dump has neither, or both, the facts of `d` decide (NULL: a file of a host that
// is not known). UNKNOWN: all queues are of level low, and their numbers are not to be trusted.
enum kfd_answer3 prio_written(const struct mqds *m, const struct kfd_driver *d);

// The same by a dump of slots that comes without MQDs.
enum kfd_answer3 prio_written_slots(const struct hqds *h);

// What --prio chooses: bit N stands for priority N.
struct prio_choice {
	const char *text; // as given, not owned; NULL: all queues
	uint16_t prios;
};

// Reads "low", "high,medium", "8" (8 to 15) or "0:7". GPQ_OK, or GPQ_USAGE after a message. `text`
// NULL: chooses all.
int prio_parse(struct prio_choice *c, const char *text);

// Refuses a range that cuts a level where numbers are not known. GPQ_OK, or GPQ_UNSUPPORTED after
// a message.
int prio_check(const struct prio_choice *c, enum kfd_answer3 written);

// Is this queue chosen? `prio` and `level` (0 to 2) are UINT64_MAX where unknown. UNKNOWN: too
// little is known of the queue.
enum kfd_answer3 prio_fits(const struct prio_choice *c, uint64_t prio, uint64_t level);

#endif
