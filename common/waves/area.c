// Save areas; see area.h.
#include "common/waves/area.h"

#include "common/kfd/abi.h"

// The bits low to high of a word.
struct bits {
	uint8_t low, high;
};

// A field of the ttmps, in ttmp[i].
struct ttmp_bits {
	uint8_t i;
	struct bits bits;
};

// [waves.control]
struct wave_control {
	bool pairs;          // a state is two words; its bit 24: wave32, and 128 scalar registers
	struct bits lds;     // of a state
	uint8_t first, last; // bits of a wave's word: first and last of its group
	struct bits engine;  // of that: shader engine; 0, 0: not known
	uint8_t block;       // vector registers per unit, of wave64
	// Accumulation registers: none, as many as vector registers, or the rest of one file.
	enum { ACC_NONE, ACC_SAME, ACC_REST } acc;
	uint8_t tail; // unused bytes at the end of a record
};

// [waves.record]: indices and bits of the hardware registers.
struct wave_registers {
	uint8_t mode, status;
	uint8_t halt;    // bit of register 5
	uint8_t barrier; // bit of STATUS; 0: none
	// Bits of register 6: why the trap handler stopped a wave.
	uint32_t violation, address, illegal, watch, step, trap;
	bool has_control; // registers 11 and 12 are EXCP_FLAG_USER and TRAP_CTRL
};

// [waves.ttmps]
struct wave_ttmps {
	struct ttmp_bits in_group, packet;
	uint8_t marked;     // ttmp whose bit 31 says that the trap handler wrote ttmp6; 0: none
	uint8_t parked_low; // ttmp with the low half of a parked PC
	bool gfx12;         // the group is in ttmp9 and ttmp7
};

#define WORD_9 .first = 17, .last = 16
static const struct wave_control control_gfx9 = {
	.lds = {9, 17}, WORD_9, .engine = {11, 12}, .block = 4, .tail = 64};
static const struct wave_control control_gfx908 = {
	.lds = {9, 17}, WORD_9, .engine = {11, 13}, .block = 4, .acc = ACC_SAME, .tail = 64};
#define MI .lds = {9, 16}, WORD_9, .block = 8, .acc = ACC_REST, .tail = 64
static const struct wave_control control_gfx90a = {MI, .engine = {9, 11}};
static const struct wave_control control_gfx94 = {MI};
#define PAIRS .pairs = true, .lds = {10, 17}, .first = 12, .last = 29, .block = 4
static const struct wave_control control_gfx10 = {PAIRS, .engine = {24, 25}};
static const struct wave_control control_gfx11 = {PAIRS, .engine = {24, 26}};

#define TRAPSTS                                                                           \
	.status = 5, .halt = 13, .barrier = 12, .violation = 1u << 28, .address = 1 << 8, \
	.illegal = 1 << 11, .watch = 1 << 7 | 7 << 12
static const struct wave_registers registers_gfx9 = {TRAPSTS, .mode = 9};
static const struct wave_registers registers_gfx94 = {TRAPSTS, .mode = 9, .step = 1 << 25,
						      .trap = 3 << 23};
static const struct wave_registers registers_gfx10 = {TRAPSTS, .mode = 8};
static const struct wave_registers registers_gfx11 = {TRAPSTS, .mode = 8, .step = 1 << 20,
						      .trap = 3 << 17};
static const struct wave_registers registers_gfx12 = {.mode = 8,
						      .status = 13,
						      .halt = 14,
						      .violation = 1 << 12,
						      .address = 1 << 4,
						      .illegal = 1 << 6,
						      .watch = 15,
						      .step = 1 << 11,
						      .trap = 3 << 8,
						      .has_control = true};

static const struct wave_ttmps ttmps_gfx9 = {
	.in_group = {11, {0, 5}}, .packet = {6, {0, 24}}, .parked_low = 7};
static const struct wave_ttmps ttmps_gfx94 = {
	.in_group = {11, {0, 5}}, .packet = {11, {6, 30}}, .marked = 11};
static const struct wave_ttmps ttmps_gfx12 = {.in_group = {8, {25, 29}},
					      .packet = {8, {0, 24}},
					      .marked = 8,
					      .parked_low = 10,
					      .gfx12 = true};

static const struct waves_gpu gpus[] = {
	// control stack, registers, ttmps, version, LDS unit, parks, judged
	{&control_gfx9, &registers_gfx9, &ttmps_gfx9, 90000, 512, true, true},
	{&control_gfx9, &registers_gfx9, &ttmps_gfx9, 90006, 512, true, true},
	{&control_gfx908, &registers_gfx9, &ttmps_gfx9, 90008, 512, true, true},
	{&control_gfx90a, &registers_gfx9, &ttmps_gfx9, 90010, 512, true, true},
	{&control_gfx94, &registers_gfx94, &ttmps_gfx94, 90402, 512, false, true},
	{&control_gfx94, &registers_gfx94, &ttmps_gfx94, 90500, 1280, false, false},
	{&control_gfx10, &registers_gfx10, &ttmps_gfx9, 100300, 512, false, true},
	{&control_gfx11, &registers_gfx11, &ttmps_gfx9, 110000, 512, true, true},
	{&control_gfx11, &registers_gfx11, &ttmps_gfx9, 110001, 512, true, true},
	{&control_gfx11, &registers_gfx11, &ttmps_gfx9, 110002, 512, true, true},
	{&control_gfx11, &registers_gfx11, &ttmps_gfx9, 110501, 512, true, false},
	{&control_gfx11, &registers_gfx12, &ttmps_gfx12, 120000, 512, true, true},
	{&control_gfx11, &registers_gfx12, &ttmps_gfx12, 120001, 512, true, true},
};

const struct waves_gpu *waves_gpu_of(uint32_t version)
{
	for (size_t i = 0; i < sizeof(gpus) / sizeof(*gpus); i++)
		if (gpus[i].version == version)
			return &gpus[i];
	return NULL;
}

static uint32_t get(uint32_t word, struct bits b)
{
	return word >> b.low & (UINT32_MAX >> (31 - (b.high - b.low)));
}

static bool bit(uint32_t word, unsigned n)
{
	return word >> n & 1;
}

static uint32_t get_ttmp(const struct wave_saved *s, struct ttmp_bits b)
{
	return get(s->ttmp[b.i], b.bits);
}

// --- the registers that a wave's words tell of, and where they lie ---

static void count_registers(const struct waves_gpu *g, const struct wave_saved *s, struct wave *w)
{
	const struct wave_control *c = g->control;
	const uint32_t blocks = get(s->state, (struct bits){0, 5}) + 1;
	w->lanes = c->pairs && bit(s->state, 24) ? 32 : 64;
	w->vgprs = blocks * c->block * (w->lanes == 32 ? 2 : 1);
	w->lds = get(s->state, c->lds) * g->lds_unit;
	w->first = bit(s->word, c->first);
	w->last = bit(s->word, c->last);
	w->engine = c->engine.high ? (uint8_t)get(s->word, c->engine) : WAVE_NO_ENGINE;
	if (c->pairs) {
		w->sgprs = 128;
		w->shared = get(s->state, (struct bits){26, 29}) * 8;
		return;
	}
	w->sgprs = get(s->state, (struct bits){6, 8}) * 16;
	if (c->acc == ACC_SAME)
		w->acc = w->vgprs;
	if (c->acc == ACC_REST) { // the vector registers end where accum_offset says
		const uint32_t all = w->vgprs;
		w->vgprs = (get(s->state, (struct bits){24, 29}) + 1) * 4;
		w->acc = all > w->vgprs ? all - w->vgprs : 0;
	}
}

#define BLOCK_SIZE ((WAVES_HWREGS + WAVES_TTMPS) * 4) // bytes of hardware registers and ttmps

// Sets the addresses of the record that ends at s->end, and returns that of its begin, or 0 if the
// record would begin below `low`.
static uint64_t lay_out(const struct waves_gpu *g, const struct wave_saved *s, uint64_t low,
			struct wave *w)
{
	const uint64_t lds = w->first ? w->lds : 0, lane = w->lanes * 4,
		       above = g->control->tail + lds + BLOCK_SIZE, shared = w->shared * 128,
		       size = above + w->sgprs * 4 + shared + (w->acc + w->vgprs) * lane;
	if (size > s->end - low)
		return 0;
	w->vgprs_at = s->end - size;
	w->acc_at = w->vgprs_at + w->vgprs * lane;
	w->sgprs_at = w->acc_at + w->acc * lane + shared;
	w->lds_at = lds ? w->sgprs_at + w->sgprs * 4 + BLOCK_SIZE : 0;
	return w->vgprs_at;
}

// --- reading an area ---

// The control stack grows down, and the waves grow up, from the same place.
static bool header_is_good(const struct kfd_ctx_header *h, uint64_t size)
{
	return h->wave_state_offset <= size && h->wave_state_size <= h->wave_state_offset &&
	       (uint64_t)h->control_stack_offset + h->control_stack_size ==
		       h->wave_state_offset - h->wave_state_size &&
	       h->control_stack_size % 4 == 0 &&
	       (!h->control_stack_size || h->control_stack_offset >= sizeof(*h));
}

// Walks the control stack from low to high addresses, and the records downwards from the end.
static const char *walk_stack(struct waves_saved *s, const struct waves_area *a,
			      const uint32_t *words, size_t n, const struct kfd_ctx_header *h)
{
	const uint64_t low = a->address + h->wave_state_offset - h->wave_state_size;
	uint64_t end = a->address + h->wave_state_offset;
	uint32_t state = 0;
	for (size_t i = 2; i < n; i++) { // the first two words are a packet
		struct wave_saved one = {.end = end, .state = state, .word = words[i]};
		struct wave w = {0};
		if (bit(words[i], 30)) // an event
			continue;
		if (bit(words[i], 31)) {
			state = words[i];
			i += a->gpu->control->pairs;
			continue;
		}
		count_registers(a->gpu, &one, &w);
		end = lay_out(a->gpu, &one, low, &w);
		if (!end || s->n == WAVES_MOST)
			return "its control stack has more waves than its wave area";
		*ARRAY_ADD(s->v, s->cap, s->n) = one;
	}
	return end == low ? NULL : "its wave area has more than its control stack tells of";
}

// Reads the hardware registers and ttmps of the waves from number `from` on.
static bool read_registers(struct waves_saved *s, size_t from, const struct waves_area *a,
			   const struct memory *m)
{
	struct memory_range v[MEMORY_BYTES_MOST / BLOCK_SIZE];
	for (size_t n; from < s->n; from += n) {
		n = s->n - from < COUNT(v) ? s->n - from : COUNT(v);
		for (size_t i = 0; i < n; i++) {
			struct wave_saved *one = &s->v[from + i];
			struct wave w = {0};
			count_registers(a->gpu, one, &w);
			lay_out(a->gpu, one, 0, &w);
			v[i] = (struct memory_range){.at = w.sgprs_at + w.sgprs * 4,
						     .to = one->hwreg,
						     .size = BLOCK_SIZE};
		}
		if (!memory_read_all(m, v, n))
			return false;
	}
	return true;
}

const char *waves_read(struct waves_saved *s, const struct waves_area *a, const struct memory *m)
{
	const size_t before = s->n;
	const char *wrong;
	uint32_t words[WAVES_STACK_MOST / 4];
	struct kfd_ctx_header h; // [waves.header]
	if (!memory_read(m, a->address, &h, offsetof(struct kfd_ctx_header, debug_offset)))
		return "its header cannot be read";
	if (!header_is_good(&h, a->size) || h.control_stack_size > WAVES_STACK_MOST)
		return "its header makes no sense";
	if (!memory_read(m, a->address + h.control_stack_offset, words, h.control_stack_size))
		return "its control stack cannot be read";
	wrong = walk_stack(s, a, words, h.control_stack_size / 4, &h);
	if (!wrong && !read_registers(s, before, a, m))
		wrong = "the registers of its waves cannot be read";
	if (wrong)
		s->n = before;
	return wrong;
}

void waves_saved_fini(struct waves_saved *s)
{
	free(s->v);
	*s = (struct waves_saved){0};
}

// --- what a wave's registers mean ---

static uint32_t why_stopped(const struct wave_registers *r, const struct wave_saved *s,
			    const struct wave *w)
{
	static const uint32_t by_trap[] = {0, WAVE_BREAKPOINT, WAVE_ASSERT, WAVE_DEBUG_TRAP};
	const uint32_t x = w->exceptions,
		       math = r->has_control ? s->hwreg[11] & s->hwreg[12] : x & w->mode >> 12,
		       watches =
			       bit(r->has_control ? s->hwreg[12] : w->mode >> 12, 7) ? r->watch : 0;
	uint32_t why = x & r->violation ? WAVE_MEMORY_VIOLATION
		       : x & r->address ? WAVE_ADDRESS_ERROR
					: 0;
	if (x & r->illegal)
		why |= WAVE_ILLEGAL_INSTRUCTION;
	if (math & 0x7f)
		why |= WAVE_MATH_ERROR;
	if (x & watches)
		why |= WAVE_WATCHPOINT;
	if (x & r->step)
		why |= WAVE_SINGLE_STEP;
	if (x & r->trap)
		why |= WAVE_TRAP;
	return why | (w->trap < COUNT(by_trap) ? by_trap[w->trap] : WAVE_TRAP);
}

static void place(const struct wave_ttmps *t, const struct wave_saved *s, struct wave *w)
{
	if (t->gfx12) {
		w->group[0] = s->ttmp[9];
		w->group[1] = bit(s->ttmp[8], 30) ? s->ttmp[7] & 0xffff : 0;
		w->group[2] = bit(s->ttmp[8], 30) ? s->ttmp[7] >> 16 : 0;
	} else
		memcpy(w->group, &s->ttmp[8], sizeof(w->group));
	w->in_group = get_ttmp(s, t->in_group);
	w->packet = get_ttmp(s, t->packet);
}

// The trap handler's bits of ttmp6 are valid where it marked them; where ttmps hold leftovers,
// STATUS.SKIP_EXPORT is its mark, since ABI 10 [waves.ttmps].
static bool handler_wrote(const struct waves_area *a, const struct wave_saved *s,
			  const struct wave *w)
{
	const struct wave_ttmps *t = a->gpu->ttmps;
	if (!a->ttmp_setup)
		return !t->gfx12 && a->abi >= 10 && bit(w->status, 18);
	return !t->marked || bit(s->ttmp[t->marked], 31);
}

struct wave wave_decode(const struct waves_area *a, const struct wave_saved *s)
{
	const struct wave_registers *r = a->gpu->registers;
	const struct wave_ttmps *t = a->gpu->ttmps;
	struct wave w = {0};
	count_registers(a->gpu, s, &w);
	lay_out(a->gpu, s, 0, &w);
	w.m0 = s->hwreg[0];
	w.pc = s->hwreg[1] | (uint64_t)s->hwreg[2] << 32;
	w.exec = s->hwreg[3] | (w.lanes == 32 ? 0 : (uint64_t)s->hwreg[4] << 32);
	w.exceptions = s->hwreg[6];
	w.mode = s->hwreg[r->mode];
	w.status = s->hwreg[r->status];
	w.in_barrier = r->barrier && bit(w.status, r->barrier);
	const bool wrote = handler_wrote(a, s, &w);
	w.stopped = wrote && bit(s->ttmp[6], 30);
	w.halted = w.stopped ? bit(s->ttmp[6], 29) : bit(s->hwreg[5], r->halt);
	if (w.stopped) {
		w.trap = get(s->ttmp[6], (struct bits){25, 28});
		w.why = why_stopped(r, s, &w);
		if (a->gpu->parks && (!a->gpu->control->pairs || a->abi > 8))
			w.pc = s->ttmp[t->parked_low] |
			       (uint64_t)get(s->ttmp[11], (struct bits){7, 22}) << 32;
	}
	// A debugger notes in bit 31 that the wave was launched without ttmps.
	w.placed = a->ttmp_setup && !(a->abi >= 10 && !t->gfx12 && wrote && bit(s->ttmp[6], 31));
	if (w.placed)
		place(t, s, &w);
	return w;
}

// --- the next instruction ---

enum wave_at wave_at(const struct waves_gpu *g, uint32_t instruction)
{
	// Opcodes of the SOPP encoding [waves.instruction].
	static const enum wave_at
		early[128] = {[1] = WAVE_AT_END,   [10] = WAVE_AT_BARRIER, [12] = WAVE_AT_WAIT,
			      [13] = WAVE_AT_HALT, [14] = WAVE_AT_SLEEP,   [18] = WAVE_AT_TRAP},
		gfx11[128] = {[2] = WAVE_AT_HALT,  [3] = WAVE_AT_SLEEP, [9] = WAVE_AT_WAIT,
			      [16] = WAVE_AT_TRAP, [48] = WAVE_AT_END,  [61] = WAVE_AT_BARRIER},
		gfx12[128] = {[2] = WAVE_AT_HALT,        [3] = WAVE_AT_SLEEP,    [9] = WAVE_AT_WAIT,
			      [16] = WAVE_AT_TRAP,       [20] = WAVE_AT_BARRIER, [48] = WAVE_AT_END,
			      [64 ... 73] = WAVE_AT_WAIT};
	if ((instruction & 0xff800000) != 0xbf800000)
		return WAVE_AT_OTHER;
	return (g->ttmps->gfx12        ? gfx12
		: g->version >= 110000 ? gfx11
				       : early)[instruction >> 16 & 0x7f];
}
