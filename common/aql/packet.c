// Packets; see packet.h.
#include "common/aql/packet.h"

enum { TYPE_VENDOR = 0, FORMAT_EXT_DISPATCH = 3 };

static const char *const types[] = {
	[PACKET_UNKNOWN] = "unknown",
	[PACKET_INVALID] = "invalid",
	[PACKET_DISPATCH] = "dispatch",
	[PACKET_BARRIER_AND] = "barrier-and",
	[PACKET_BARRIER_OR] = "barrier-or",
	[PACKET_AGENT] = "agent-dispatch",
	[PACKET_VENDOR] = "vendor",
	[PACKET_BARRIER_VALUE] = "barrier-value",
	[PACKET_EXT_DISPATCH] = "ext-dispatch",
	[PACKET_PM4_BUFFER] = "pm4-buffer",
};

static uint16_t u16_at(const uint8_t *b, unsigned at)
{
	return (uint16_t)(b[at] | b[at + 1] << 8);
}

static uint32_t u32_at(const uint8_t *b, unsigned at)
{
	return u16_at(b, at) | (uint32_t)u16_at(b, at + 2) << 16;
}

static uint64_t bytes_u64(const uint8_t *b, unsigned at)
{
	return u32_at(b, at) | (uint64_t)u32_at(b, at + 4) << 32;
}

// --- bodies of AQL packets ---

static void decode_code(struct packet *p, const uint8_t *b)
{
	p->private_bytes = u32_at(b, 24);
	p->group_bytes = u32_at(b, 28);
	p->kernel_object = bytes_u64(b, 32);
	p->kernarg = bytes_u64(b, 40);
}

static void decode_dispatch(struct packet *p, const uint8_t *b)
{
	for (unsigned i = 0; i < 3; i++) {
		p->workgroup[i] = u16_at(b, 4 + 2 * i);
		p->grid[i] = u32_at(b, 12 + 4 * i);
	}
	decode_code(p, b);
}

static void decode_ext_dispatch(struct packet *p, const uint8_t *b)
{
	for (unsigned i = 0; i < 3; i++) {
		p->workgroup[i] = u16_at(b, 4 + 2 * i);
		p->clusters[i] = i ? u16_at(b, 14 + 2 * i) : u32_at(b, 12);
		p->cluster[i] = b[20 + i];
	}
	decode_code(p, b);
	p->deps[0] = bytes_u64(b, 48);
	p->ndeps = p->deps[0] != 0;
	p->waits = p->ndeps ? PACKET_WAITS_ALL : PACKET_WAITS_NOT;
}

// Leaves out signals of 0, for which a barrier does not wait [aql.barrier].
static void decode_barrier(struct packet *p, const uint8_t *b, enum packet_wait waits)
{
	for (unsigned i = 0; i < PACKET_DEPS; i++) {
		const uint64_t signal = bytes_u64(b, 8 + 8 * i);
		if (signal)
			p->deps[p->ndeps++] = signal;
	}
	p->waits = p->ndeps ? waits : PACKET_WAITS_NOT;
}

static void decode_barrier_value(struct packet *p, const uint8_t *b)
{
	const uint32_t compare = u32_at(b, 32);
	p->deps[0] = bytes_u64(b, 8);
	p->ndeps = p->deps[0] != 0;
	p->waits = p->ndeps ? PACKET_WAITS_VALUE : PACKET_WAITS_NOT;
	p->value = (int64_t)bytes_u64(b, 16);
	p->mask = bytes_u64(b, 24);
	p->compare = compare <= COMPARE_GE ? (enum packet_compare)compare : COMPARES;
}

static enum packet_kind aql_kind(uint16_t header, uint8_t format)
{
	static const uint8_t kinds[] = {PACKET_VENDOR,      PACKET_INVALID, PACKET_DISPATCH,
					PACKET_BARRIER_AND, PACKET_AGENT,   PACKET_BARRIER_OR},
			     formats[] = {PACKET_VENDOR, PACKET_PM4_BUFFER, PACKET_BARRIER_VALUE,
					  PACKET_EXT_DISPATCH};
	const unsigned type = header & 0xff;
	if (type == TYPE_VENDOR)
		return format < COUNT(formats) ? formats[format] : PACKET_VENDOR;
	return type < COUNT(kinds) ? kinds[type] : PACKET_UNKNOWN;
}

static bool is_shape(const uint16_t workgroup[3], const uint32_t grid[3])
{
	for (unsigned i = 0; i < 3; i++)
		if (!workgroup[i] || !grid[i])
			return false;
	return true;
}

// Decodes the dispatch that a free slot still has, as the GPU frees a slot by its header alone
// [aql.slot-freed]. Bytes count as a dispatch if they have 1 to 3 dimensions, no size of 0, a
// kernel object, and 0 in a dispatch's reserved fields.
static void look_for_left(struct packet *p, const uint8_t *b)
{
	struct packet was = *p;
	const uint16_t setup = u16_at(b, 2);
	was.kind = setup >= 1 && setup <= 3 ? PACKET_DISPATCH : PACKET_EXT_DISPATCH;
	if (was.kind == PACKET_DISPATCH)
		decode_dispatch(&was, b);
	else if ((setup & 0xff) == FORMAT_EXT_DISPATCH && setup >> 8 >= 1 && setup >> 8 <= 3)
		decode_ext_dispatch(&was, b);
	if (!was.kernel_object || u16_at(b, 10) ||
	    !is_shape(was.workgroup, was.kind == PACKET_DISPATCH ? was.grid : was.clusters) ||
	    (was.kind == PACKET_DISPATCH && bytes_u64(b, 48)))
		return;
	was.waits = PACKET_WAITS_NOT;
	was.left = true;
	was.completion = bytes_u64(b, 56);
	*p = was;
}

void aql_decode(struct packet *p, const uint8_t b[AQL_BYTES])
{
	const uint16_t header = u16_at(b, 0);
	*p = (struct packet){.bytes = AQL_BYTES,
			     .header = header,
			     .barrier = header >> 8 & 1,
			     .acquire = header >> 9 & 3,
			     .release = header >> 11 & 3,
			     .format = (header & 0xff) == TYPE_VENDOR ? b[2] : 0};
	p->kind = aql_kind(header, b[2]);
	if (p->kind != PACKET_INVALID && p->kind != PACKET_UNKNOWN)
		p->completion = bytes_u64(b, 56);
	switch (p->kind) {
	case PACKET_INVALID: look_for_left(p, b); break;
	case PACKET_DISPATCH: decode_dispatch(p, b); break;
	case PACKET_EXT_DISPATCH: decode_ext_dispatch(p, b); break;
	case PACKET_BARRIER_AND: decode_barrier(p, b, PACKET_WAITS_ALL); break;
	case PACKET_BARRIER_OR: decode_barrier(p, b, PACKET_WAITS_ANY); break;
	case PACKET_BARRIER_VALUE: decode_barrier_value(p, b); break;
	default: break;
	}
	p->type = types[p->kind];
}

// --- comparisons ---

bool packet_compares(enum packet_compare compare, int64_t seen, int64_t value)
{
	switch (compare) {
	case COMPARE_EQ: return seen == value;
	case COMPARE_NE: return seen != value;
	case COMPARE_LT: return seen < value;
	case COMPARE_GE: return seen >= value;
	case COMPARE_LE: return seen <= value;
	case COMPARE_GT: return seen > value;
	default: return true;
	}
}

const char *packet_compare_text(enum packet_compare compare)
{
	static const char *const text[COMPARES] = {"==", "!=", "<", ">=", "<=", ">", "always"};
	return (unsigned)compare < COMPARES ? text[compare] : "?";
}

// --- PM4 packets ---

static const char *pm4_name(unsigned opcode)
{
	// Names in the rows themselves: pointers to them would be relocated at each start.
	static const struct {
		uint8_t opcode;
		char name[23];
	} names[] = {
		{0x10, "pm4-nop"},
		{0x11, "pm4-set-base"},
		{0x12, "pm4-clear-state"},
		{0x15, "pm4-dispatch-direct"},
		{0x16, "pm4-dispatch-indirect"},
		{0x1e, "pm4-atomic-mem"},
		{0x22, "pm4-cond-exec"},
		{0x23, "pm4-pred-exec"},
		{0x37, "pm4-write-data"},
		{0x3c, "pm4-wait-reg-mem"},
		{0x3f, "pm4-indirect-buffer"},
		{0x40, "pm4-copy-data"},
		{0x45, "pm4-cond-write"},
		{0x46, "pm4-event-write"},
		{0x49, "pm4-release-mem"},
		{0x50, "pm4-dma-data"},
		{0x58, "pm4-acquire-mem"},
		{0x68, "pm4-set-config-reg"},
		{0x76, "pm4-set-sh-reg"},
		{0x79, "pm4-set-uconfig-reg"},
	};
	for (size_t i = 0; i < COUNT(names); i++)
		if (names[i].opcode == opcode)
			return names[i].name;
	return "pm4-other";
}

void pm4_decode(struct packet *p, uint32_t word)
{
	const unsigned type = word >> 30, count = word >> 16 & 0x3fff;
	*p = (struct packet){.kind = PACKET_PM4, .type = "pm4-unknown"};
	switch (type) {
	case 0: // type 0 writes consecutive registers
		p->type = "pm4-registers";
		p->bytes = 4 * (count + 2);
		break;
	case 2: // type 2 is a filler of one word
		p->type = "pm4-filler";
		p->bytes = 4;
		break;
	case 3:
		p->type = pm4_name(word >> 8 & 0xff);
		// A NOP of one word has all bits of the count set.
		p->bytes = count == 0x3fff && (word >> 8 & 0xff) == 0x10 ? 4 : 4 * (count + 2);
		break;
	default: break; // type 1 is no longer used
	}
}

// --- SDMA packets ---

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
	uint8_t dwords; // length of the packet; 0: varies, or is unknown
} sdma_ops[] = {
	[OP_NOP] = {"sdma-nop", 0},     [OP_COPY] = {"sdma-copy", 0},
	[OP_WRITE] = {"sdma-write", 0}, [4] = {"sdma-indirect", 6},
	[OP_FENCE] = {"sdma-fence", 4}, [6] = {"sdma-trap", 2},
	[7] = {"sdma-semaphore", 3},    [OP_POLL] = {"sdma-poll", 6},
	[9] = {"sdma-cond-exec", 5},    [OP_ATOMIC] = {"sdma-atomic", 8},
	[11] = {"sdma-fill", 5},        [OP_TIMESTAMP] = {"sdma-timestamp", 3},
	[14] = {"sdma-register", 3},    [15] = {"sdma-pre-exec", 2},
	[17] = {"sdma-cache", 5},
};

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
		return sub == 0 ? sdma_ops[op].dwords : 0;
	return op < COUNT(sdma_ops) ? sdma_ops[op].dwords : 0;
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
	if (op < COUNT(sdma_ops) && sdma_ops[op].type)
		p->type = sdma_ops[op].type;
	p->bytes = 4 * dwords;
	if (!dwords || n < (dwords < SDMA_DWORDS_MAX ? dwords : SDMA_DWORDS_MAX))
		return; // addresses are read only if the whole packet is there
	if (op == OP_FENCE || op == OP_ATOMIC || op == OP_TIMESTAMP)
		p->writes = dwords_u64(w + 1);
	if (op != OP_POLL || !(w[0] >> 31)) // bit 31 clear: polls a register, a short wait
		return;
	p->waits = PACKET_WAITS_MEMORY;
	p->polls = dwords_u64(w + 1);
	p->compare = sdma_compare(w[0] >> 28);
	p->value = w[3];
	p->mask = w[4];
}
