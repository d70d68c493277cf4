// SDMA packets; packet.h. Facts: [aql.sdma], [aql.sdma-poll].
#include "common/aql/packet.h"

#include <string.h>

enum {
	OP_NOP = 0,
	OP_COPY = 1,
	OP_WRITE = 2,
	OP_FENCE = 5,
	OP_POLL = 8,
	OP_ATOMIC = 10,
	OP_TIMESTAMP = 13
};

static const struct {
	const char *type;
	uint8_t dwords; // 0: depends on the packet, or is unknown
} ops[] = {
	[OP_NOP] = {"sdma-nop", 0},     [OP_COPY] = {"sdma-copy", 0},
	[OP_WRITE] = {"sdma-write", 0}, [4] = {"sdma-indirect", 6},
	[OP_FENCE] = {"sdma-fence", 4}, [6] = {"sdma-trap", 2},
	[7] = {"sdma-semaphore", 3},    [OP_POLL] = {"sdma-poll", 6},
	[9] = {"sdma-cond-exec", 5},    [OP_ATOMIC] = {"sdma-atomic", 8},
	[11] = {"sdma-fill", 5},        [OP_TIMESTAMP] = {"sdma-timestamp", 3},
	[14] = {"sdma-register", 3},    [15] = {"sdma-pre-exec", 2},
	[17] = {"sdma-cache", 5},
};
enum { OPS = sizeof(ops) / sizeof(ops[0]) };

static uint64_t dwords_u64(const uint32_t *words)
{
	return (uint64_t)words[1] << 32 | words[0];
}

static uint32_t sdma_dwords(const uint32_t *w, size_t n, unsigned copy_dwords)
{
	const unsigned op = w[0] & 0xff, sub = w[0] >> 8 & 0xff;
	if (op == OP_NOP)
		return 1 + (w[0] >> 16 & 0x3fff);
	if (op == OP_COPY)
		return sub == 0 ? copy_dwords : sub == 4 && copy_dwords ? 13 : 0;
	if (op == OP_WRITE)
		return sub == 0 && n > 3 ? 5 + (w[3] & 0xfffff) : 0;
	if (op == OP_POLL)
		return sub == 0 ? ops[op].dwords : 0;
	return op < OPS ? ops[op].dwords : 0;
}

static enum packet_compare sdma_compare(unsigned function)
{
	static const enum packet_compare of[8] = {COMPARE_ALWAYS, COMPARE_LT, COMPARE_LE,
						  COMPARE_EQ,     COMPARE_NE, COMPARE_GE,
						  COMPARE_GT,     COMPARES};
	return of[function & 7];
}

void sdma_decode(struct packet *p, const uint32_t *w, size_t n, unsigned copy_dwords)
{
	*p = (struct packet){.kind = PACKET_SDMA, .type = "sdma-unknown"};
	if (!n)
		return;
	const unsigned op = w[0] & 0xff;
	const uint32_t dwords = sdma_dwords(w, n, copy_dwords);
	if (op < OPS && ops[op].type)
		p->type = ops[op].type;
	p->bytes = 4 * dwords;
	if (!dwords || n < (dwords < SDMA_DWORDS_MAX ? dwords : SDMA_DWORDS_MAX))
		return; // what is said below needs all of it
	if (op == OP_FENCE || op == OP_ATOMIC || op == OP_TIMESTAMP)
		p->writes = dwords_u64(w + 1);
	if (op != OP_POLL || !(w[0] >> 31)) // it polls a register: always short
		return;
	p->waits = PACKET_WAITS_MEMORY;
	p->polls = dwords_u64(w + 1);
	p->compare = sdma_compare(w[0] >> 28);
	p->value = w[3];
	p->mask = w[4];
}
