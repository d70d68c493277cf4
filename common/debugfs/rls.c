// Parser of debugfs rls; see rls.h.
#include "common/debugfs/rls.h"

enum { // PM4 type 3 opcodes, header bits 15:8
	PM4_MAP_PROCESS = 0xa1,
	PM4_MAP_QUEUES = 0xa2,
	PM4_RUN_LIST = 0xa5,
};

enum { MAP_PROCESS_WORDS = 14, MAP_QUEUES_WORDS = 7 }; // dwords of a packet that are decoded

void rls_fini(struct rls *r)
{
	free(r->nodes);
	free(r->processes);
	free(r->queues);
	free(r->words);
	*r = (struct rls){0};
}

// --- parsing packets ---

static void add_mapped_process(struct rls *r, struct rls_node *n, const uint32_t *w)
{
	*ARRAY_ADD(r->processes, r->cap_processes, r->nprocesses) =
		(struct rls_process){.pasid = w[1] & 0xffff,
				     .announced = w[13] >> 22,
				     .gws = w[13] & 0x7f,
				     .sdma = w[13] >> 7 & 1,
				     .quantum = w[1] >> 25,
				     .page_table = (uint64_t)w[3] << 32 | w[2],
				     .queue = (uint32_t)r->nqueues};
	n->processes++;
}

static void add_mapped_queue(struct rls *r, struct rls_node *n, const uint32_t *w)
{
	*ARRAY_ADD(r->queues, r->cap_queues, r->nqueues) =
		(struct rls_queue){.mqd = (uint64_t)w[4] << 32 | w[3],
				   .wptr = (uint64_t)w[6] << 32 | w[5],
				   .doorbell = w[2] & 0x0ffffffc,
				   .control = w[1]};
	n->queues++;
	if (n->processes)
		r->processes[r->nprocesses - 1].queues++;
}

// Decodes the packets in the words of the last node.
static void read_packets(struct rls *r)
{
	struct rls_node *n = r->nnodes ? &r->nodes[r->nnodes - 1] : NULL;
	size_t at = 0;
	while (n && at < r->nwords) {
		const uint32_t *w = r->words + at;
		size_t len = (w[0] >> 16 & 0x3fff) + 2;
		if (w[0] >> 30 != 3 || len > r->nwords - at) {
			n->damaged = true;
			break;
		}
		const uint32_t opcode = w[0] >> 8 & 0xff;
		if (opcode == PM4_MAP_PROCESS && len >= MAP_PROCESS_WORDS)
			add_mapped_process(r, n, w);
		else if (opcode == PM4_MAP_QUEUES && len >= MAP_QUEUES_WORDS)
			add_mapped_queue(r, n, w);
		n->chained |= opcode == PM4_RUN_LIST;
		at += len;
	}
	r->nwords = 0;
}

// --- parsing lines ---

// Takes a line like "Node 2, gpu_id f7bc:", which ends the dump before it.
static bool rls_node_line(struct rls *r, const char *p, const char *end)
{
	uint32_t v[2];
	if (!dump_match(p, end, "Node %d, gpu_id %x:", v))
		return false;
	read_packets(r);
	*ARRAY_ADD(r->nodes, r->cap_nodes, r->nnodes) =
		(struct rls_node){.node = v[0],
				  .gpu_id = v[1],
				  .process = (uint32_t)r->nprocesses,
				  .queue = (uint32_t)r->nqueues};
	return true;
}

// Collects a line's words, but none after a gap, as the rest of the packets would be misread.
static bool words_line(struct rls *r, const struct dump_line *l)
{
	struct rls_node *n = r->nnodes ? &r->nodes[r->nnodes - 1] : NULL;
	if (!n || n->damaged)
		return false;
	n->state = RLS_DUMP;
	n->damaged = l->addr != r->nwords * 4;
	for (unsigned i = 0; !n->damaged && i < l->count; i++) {
		n->damaged = !(l->valid >> i & 1);
		if (n->damaged)
			break;
		*ARRAY_ADD(r->words, r->cap_words, r->nwords) = l->words[i];
	}
	return !n->damaged;
}

static bool rls_line(void *rls, const char *p, const char *end, bool whole)
{
	struct rls *r = rls;
	struct dump_line l;
	(void)whole;
	if (dump_line_parse(p, end, &l))
		return words_line(r, &l);
	if (rls_node_line(r, p, end))
		return true;
	if (r->nnodes && dump_match(p, end, "No active runlist", NULL)) {
		r->nodes[r->nnodes - 1].state = RLS_NONE;
		return true;
	}
	return dump_line_empty(p, end);
}

void rls_parse(struct rls *r, const char *text, size_t len)
{
	r->nnodes = r->nprocesses = r->nqueues = r->nwords = 0;
	dump_each(&r->count, text, len, rls_line, r);
	read_packets(r);
}

const struct rls_node *rls_find(const struct rls *r, uint32_t gpu_id)
{
	for (size_t i = 0; i < r->nnodes; i++)
		if (r->nodes[i].gpu_id == gpu_id)
			return &r->nodes[i];
	return NULL;
}

bool rls_maps(const struct rls *r, const struct rls_node *n, uint32_t doorbell)
{
	for (uint32_t i = n->queue; i < n->queue + n->queues; i++)
		if (r->queues[i].doorbell == doorbell)
			return true;
	return false;
}
