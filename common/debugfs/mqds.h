// /sys/kernel/debug/kfd/mqds: the memory queue descriptors (MQDs) of every KFD process.
//
// Facts: [debugfs.mqds-lines], [debugfs.mqds-dumps], [debugfs.mqds-order]. Formats of all kernels
// are read. Words are only converted when asked for (mqd_word). Lines that are not understood are
// counted and skipped; a word that is not a number is missing, never 0.
#pragma once

#include "common/debugfs/dump.h"

#define MQDS_PATH "/sys/kernel/debug/kfd/mqds"

enum mqd_kind {
	MQD_COMPUTE,  // user compute queue: one dump per XCC
	MQD_SDMA,     // user SDMA queue, PCIe or XGMI
	MQD_BAD_USER, // user queue of a type the kernel did not know: no dump
	MQD_DIQ,      // debugger's kernel queue of old kernels: one dump, not a user queue
	MQD_OTHER,    // "Bad kernel queue", "Weird": no dump, not a user queue
};

// One XCC's MQD: rows of eight words, row i holding dwords 8i .. 8i+7.
struct mqd_dump {
	const char *text; // where the first line of the dump begins
	uint32_t plain;   // number of rows before the first that has not exactly the kernel's form
	uint32_t row;     // index in mqds.rows of row `plain`: that and later rows were parsed
	uint32_t rows;    // number of rows: compute 64, SDMA 16 (gfx10: 17); fewer: text was cut
};

struct mqd {
	uint32_t proc;   // index in mqds.procs
	uint32_t dump;   // index in mqds.dumps of the queue's first dump; dumps are by logical XCC
	uint32_t gpu_id; // as in sysfs, which prints it decimal (mqds: hex); 0: not readable
	uint16_t dumps;  // one dump for each XCC; at most 1 for SDMA [debugfs.mqds-repeat]
	uint8_t kind;    // enum mqd_kind
};

struct mqds_proc {
	int32_t pid;    // tgid in the initial PID namespace; -1: the text lacks the process's line
	int64_t pasid;  // -1: unknown, as newer kernels print the PID instead [debugfs.mqds-lines]
	uint32_t first; // the process's queues: mqds.queues[first .. first + queues), newest first
	uint32_t queues;
};

struct mqds {
	struct mqds_proc *procs;
	struct mqd *queues;
	struct mqd_dump *dumps;
	struct dump_line *rows; // rows that were parsed (mqd_dump.row)
	size_t nprocs, nqueues, ndumps, nrows;
	size_t cap_procs, cap_queues, cap_dumps, cap_rows;

	// Counts of what could not be used, for a message.
	struct dump_count count;
	uint32_t no_gpu;     // queues without a readable gpu_id
	uint32_t bad_words;  // words that are not eight hex digits
	uint32_t lost_lines; // dump lines missing between two others
	uint32_t cut;        // dumps that are shorter than their MQD, or missing
};

void mqds_fini(struct mqds *m);

// Parses text[0..len), replacing what m held. The text must stay unchanged while m is used. No text
// is an error: the counters tell what could not be used.
void mqds_parse(struct mqds *m, const char *text, size_t len);

// Dword dw of the queue's MQD on logical XCC xcc. False when the text did not have it.
bool mqd_word(const struct mqds *m, const struct mqd *q, unsigned xcc, unsigned dw, uint32_t *out);

// True for a queue that the process created, which therefore has an entry in sysfs.
static inline bool mqd_is_user(const struct mqd *q)
{
	return q->kind <= MQD_BAD_USER;
}
