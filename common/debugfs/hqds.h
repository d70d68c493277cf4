// /sys/kernel/debug/kfd/hqds: the registers of every hardware queue slot that KFD owns.
//
// Facts: [debugfs.hqds-lines], [debugfs.hqds-slots], [debugfs.hqd-base]. Formats of all kernels are
// read. The driver reads the registers one after the other while the scheduler goes on, so a slot
// may be half of one queue and half of another.
#pragma once

#include "common/debugfs/dump.h"

enum hqd_kind {
	HQD_CP,   // compute slot
	HQD_HIQ,  // the scheduler's own queue; with MES its content is meaningless
	HQD_SDMA, // SDMA slot, stale after an unmap: in use only if bit 28 of DOORBELL is set
};

struct hqd {
	uint32_t node; // index in hqds.nodes
	uint32_t line; // index of the slot's first register line in hqds.regs
	uint16_t lines;
	uint8_t kind;   // enum hqd_kind
	int8_t xcc;     // logical XCC; -1: none (kernels up to 6.4; SDMA)
	uint16_t mec;   // set for the HIQ only; compute slots are on MEC 1
	uint16_t pipe;  // pipe of the slot; SDMA: engine
	uint16_t queue; // queue of the pipe; SDMA: RLC
};

struct hqds_node {
	uint32_t node;   // number of the topology node
	uint32_t gpu_id; // as in sysfs
	bool stopped;    // scheduler stopped, device suspended or resetting: no slots in the dump
	uint32_t first;  // the node's slots: hqds.slots[first .. first + slots)
	uint32_t slots;
};

struct hqds {
	struct hqds_node *nodes;
	struct hqd *slots;
	struct dump_line *regs; // register lines: byte addresses and values
	size_t nnodes, nslots, nregs;
	size_t cap_nodes, cap_slots, cap_regs;
	struct dump_count count;
	uint32_t bad_words; // values that are not eight hex digits
};

#define HQDS_PATH "/sys/kernel/debug/kfd/hqds"

void hqds_fini(struct hqds *h);

// Parses text[0..len), replacing what h held; its memory is used again.
void hqds_parse(struct hqds *h, const char *text, size_t len);

// A register of a compute slot or the HIQ by its distance in dwords from CP_MQD_BASE_ADDR, which is
// its MQD dword - 128. False when the dump does not have the register.
bool hqd_cp_reg(const struct hqds *h, const struct hqd *s, unsigned index, uint32_t *out);

// A register of an SDMA slot by its distance in dwords from RB_CNTL, the slot's first one. False
// when the dump does not have the register.
bool hqd_sdma_reg(const struct hqds *h, const struct hqd *s, unsigned offset, uint32_t *out);

// Dword address of CP_MQD_BASE_ADDR, from which registers of compute slots are counted.
bool hqd_cp_base(const struct hqds *h, const struct hqd *s, uint32_t *base);
