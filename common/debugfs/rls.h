// /sys/kernel/debug/kfd/rls: the runlist of each GPU: the queues that its scheduler is to run.
//
// Facts: [debugfs.rls-lines], [debugfs.rls-packets], [debugfs.rls-active]. A GPU scheduled by MES
// (gfx11 and later) never has one.
#pragma once

#include "common/debugfs/dump.h"

#define RLS_PATH "/sys/kernel/debug/kfd/rls"

enum rls_state {
	RLS_UNKNOWN, // neither a dump nor "No active runlist": the text was cut
	RLS_NONE,    // "No active runlist": no active queue, or no scheduler that uses runlists
	RLS_DUMP,
};

struct rls_node {
	uint32_t node;               // number of the topology node
	uint32_t gpu_id;             // as in sysfs
	uint8_t state;               // enum rls_state
	bool chained;                // over-subscribed: queues take turns on the hardware
	bool damaged;                // the dump ends inside a packet, or holds an invalid packet
	uint32_t process, processes; // the node's rls.processes[process .. process + processes)
	uint32_t queue, queues;      // the node's rls.queues[queue .. queue + queues)
};

struct rls_process { // a MAP_PROCESS packet
	uint32_t pasid;
	uint32_t announced;     // number of queues of the process, active or not (10 bits)
	uint32_t gws;           // number of GWS entries
	uint32_t quantum;       // length of the process's turn, in a unit of the scheduler
	uint64_t page_table;    // base of the process's page directory, flags in the low bits
	bool sdma;              // the process may use SDMA
	uint32_t queue, queues; // MAP_QUEUES of the process: rls.queues[queue .. queue + queues)
};

struct rls_queue {         // a MAP_QUEUES packet
	uint64_t mqd;      // GPU address of the MQD (XCC 0)
	uint64_t wptr;     // address of the write index in the process
	uint32_t doorbell; // byte offset in the doorbell BAR: unique on the GPU
	uint32_t control;  // dword 1: engine_sel 28:26 (0 compute, 2 and 3 SDMA), queue_type 23:21
};

struct rls {
	struct rls_node *nodes;
	struct rls_process *processes;
	struct rls_queue *queues;
	uint32_t *words; // words of the dump that is being read
	size_t nnodes, nprocesses, nqueues, nwords;
	size_t cap_nodes, cap_processes, cap_queues, cap_words;
	struct dump_count count;
};

void rls_fini(struct rls *r);

// Parses text[0..len), replacing what r held.
void rls_parse(struct rls *r, const char *text, size_t len);

// The node of a GPU, or NULL.
const struct rls_node *rls_find(const struct rls *r, uint32_t gpu_id);

// True when the node's runlist has a queue with this doorbell.
bool rls_maps(const struct rls *r, const struct rls_node *n, uint32_t doorbell);
