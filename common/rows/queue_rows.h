// The room of queue rows: all that a host tells about each of its queues, joined into one row. Open
// this file first. queue_rows.c makes rows from sysfs, /proc, memory of processes and holders of
// gpq suspend; queue_rows_mqd.c adds the MQDs and explains what is unknown; join.h finds the MQD of
// a queue; residency.c tells whether a queue is in a hardware slot, prio.c its priority,
// evictions.h why it is evicted.
//
// Only what queue_rows_how.want asks for is read, each file once. A value that cannot be read is
// unknown in the row; queue_rows_explain() prints the reason.
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

enum {                // what to read, beside PIDs and queue ids
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

// A queue; members are grouped by their source. Rows of hardware slots and runlist packets embed
// one. Unknown numbers are UINT64_MAX (signed ones INT64_MIN), unknown texts NULL, unknown flags
// -1: the nulls of common/out.
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

	struct kfd_usage usage; // of the process on this GPU: sysfs; of some rows, only the PASID

	// Of this moment: the memory of the living process, and gpq's holders.
	struct {
		uint64_t read, write; // indices: AQL packets, SDMA bytes
		int64_t holder;       // PID of the gpq holder that has it suspended
	} now;

	// Of its MQD or slot, by enum mqd_value and mqd_derived. But the ring's size is that of
	// sysfs, and the backlog that of the indices in `now`, where these are known.
	uint64_t v[MQD_SUMMARY];
	const char *level;   // "low", "medium", "high": name of MQD_V_PIPE_PRIO
	const char *packets; // "aql", "pm4"; NULL of SDMA queues
	int8_t on_hw;        // in a hardware slot

	struct {                   // its MQD
		uint32_t index;    // in queue_rows.mqds.queues; UINT32_MAX: not certain
		const char *match; // how it was found: "order", "only", "likely"; NULL: it was not
		bool turns;        // RESIDENCY_TURNS
	} mqd;

	// "running", "idle", "mapped", "turns", "suspended", "evicted", "off-hardware", "unknown"
	const char *state;
	bool doubtful; // off-hardware: evicted, or held by a debugger that does not trace it

	uint32_t seq; // order in which rows were found, from 0
	bool hidden;  // set by callers that leave the row out
};

struct queue_rows_how {
	unsigned want;         // READ_...
	const char *mqds_file; // a copy of mqds to read instead of a host ("-": standard input)
	const char *rls_file;  // with it: the runlists of the same moment; NULL: unknown
	bool idle;             // also processes without queues
	bool likely;           // take the likeliest MQD where none is certain
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
	enum kfd_answer3 prio_written; // by prio_written(); unless YES, priorities are unknown
	struct rls rls;
	struct queue_row *rows;
	size_t n, cap;
	struct kfd_holding *holdings; // of gpq suspend
	size_t nholdings;
	bool live;          // a live host: indices and holders can be read
	bool noted;         // the recorded host has notes of indices and holders (gpq snapshot)
	bool chosen_only;   // the recorded host was saved with a selector, which chose
	struct pids chosen; // these processes; its dumps have others, too
	int mqds_error;     // errno of reading mqds, 0; ENODATA: not wanted
	bool foreign;       // sysfs and /proc number processes in different PID namespaces
};

// Fills `q`, which must be zeroed. Rows are sorted by PID, context and queue id. GPQ_OK, or the
// exit status after a message.
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

// The type of queues on an SDMA engine: "sdma-xgmi" on those that the topology counts as XGMI ones
// (their numbers follow the others': kfd_device_queue_manager.c), else "sdma".
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

// What the GPU consumed since the queue was created, in the same unit: the write pointer less the
// backlog. UINT64_MAX unless `whole_wptr`: write pointers do not wrap (struct gfx_caps).
uint64_t queue_row_taken(const struct queue_row *r, uint64_t rptr, uint64_t wptr, bool whole_wptr);

// Reads the runlists. GPQ_OK also without any, unless the user named the file. (queue_rows_load()
// calls it.)
int queue_rows_load_rls(struct queue_rows *q);

// Reports lines and words of a dump that could not be parsed: as a warning if the user named the
// file, else as a note for -v. An empty file (`len` 0) has this `meaning`. True: warned of damage.
bool dump_explain(const char *file, const char *path, const struct dump_count *lines,
		  unsigned bad_words, size_t len, const char *meaning);

// The same of the runlists. (queue_rows_explain() calls it.)
bool queue_rows_explain_rls(const struct queue_rows *q);

// Says with -v why fields are unknown. True: warned that the file that the user named is damaged.
bool queue_rows_explain(const struct queue_rows *q);

// Was this recorded host saved with a selector? Then adds the PIDs of its processes to `to`. They
// follow RECORDED_CHOSEN in the head of /MANIFEST, separated by commas.
#define RECORDED_CHOSEN "chosen "
bool recorded_chosen(struct pids *to);

// --- of queue_rows_mqd.c, for queue_rows.c ---

// Reads and joins mqds. GPQ_OK also if a host's cannot be read: see q->mqds_error.
int queue_rows_load_mqds(struct queue_rows *q);

// Fills in those MQD values of sysfs queue `index` that are certain.
void queue_rows_fill_joined(const struct queue_rows *q, struct queue_row *r, size_t index);

// --- on hardware or off (residency.c) ---
//
// Whether a queue is in a hardware slot, by memory alone: registers are not read.
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
	RESIDENCY_UNKNOWN = 2, // neither source tells; from here on all are unknown
	RESIDENCY_SILENT,      // dword 130 is 0, but the firmware may never write it
	RESIDENCY_TURNS,       // mapped on an over-subscribed GPU
	RESIDENCY_MAY_TURN,    // dword 130 is 0; no runlist, and the GPU may be over-subscribed
	RESIDENCY_CONTRADICT,  // runlist and dword 130 contradict: it changed between two reads
};

// The enum residency of each of m->queues. `gens` has their generations; `rls` and `gpus` may be
// empty.
void residency_judge(uint8_t *verdicts, const struct mqds *m, const enum gfx_gen *gens,
		     const struct rls *rls, const struct kfd_topology *gpus);

// Why it is unknown, for people; NULL: it is known.
const char *residency_text(enum residency o);

// --- priorities (prio.c) ---
//
// A program gives a compute queue a priority from 0 to 15. The driver always writes its level, 0 to
// 2, to cp_hqd_pipe_priority in the MQD (dword 133; pipe_priority_map[] in kfd_mqd_manager.c), and
// up to Linux 6.19 the number itself to cp_hqd_queue_priority (dword 134; set_priority() in
// kfd_mqd_manager_v*.c). Later drivers leave 0 in dword 134. SDMA queues have neither.

// Name of level 0 to 2: "low" (priorities 0 to 6), "medium" (7 to 10), "high" (11 to 15). NULL for
// any other number, as UINT64_MAX (unknown).
const char *prio_level_name(uint64_t pipe_prio);

// Does the driver that made this dump write dword 134? Yes if any is not 0; no if a queue of level
// medium or high, whose priority is above 0, has 0 there. Without such queues, or with both, the
// facts of the driver `d` decide (NULL: not known). Unless YES, numbers are not to be trusted.
enum kfd_answer3 prio_written(const struct mqds *m, const struct kfd_driver *d);

// The same by the registers of slots, without MQDs.
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

// Is this queue chosen? `prio` and `level` (0 to 2) may be UINT64_MAX; UNKNOWN: they do not tell.
enum kfd_answer3 prio_fits(const struct prio_choice *c, uint64_t prio, uint64_t level);

#endif
