// The memory of a process that never was, whose queue is off a GPU: save areas with waves in every
// state, the ring with their packets, the kernels. For the tests of common/waves, and as a GPU core
// for AMD's library (core.c). Nothing here includes common/waves: what a test expects must not come
// from what it tests.
//
// Facts: [waves.header], [waves.control], [waves.record], [waves.ttmps], [waves.instruction].
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MADE_COUNT(a) (sizeof(a) / sizeof(*(a)))

enum made_kind { MADE_9, MADE_908, MADE_90A, MADE_94, MADE_10, MADE_11, MADE_12 };

static const struct made_gpu {
	const char *name;
	uint32_t version; // gfx_target_version
	enum made_kind kind;
	bool parks;
} made_gpus[] = {
	{"gfx900", 90000, MADE_9, true},    {"gfx906", 90006, MADE_9, true},
	{"gfx908", 90008, MADE_908, true},  {"gfx90a", 90010, MADE_90A, true},
	{"gfx942", 90402, MADE_94, false},  {"gfx1030", 100300, MADE_10, false},
	{"gfx1100", 110000, MADE_11, true}, {"gfx1101", 110001, MADE_11, true},
	{"gfx1102", 110002, MADE_11, true}, {"gfx1200", 120000, MADE_12, true},
	{"gfx1201", 120001, MADE_12, true},
};

// What is made.
struct made {
	const struct made_gpu *gpu;
	unsigned xccs; // 1 to MADE_XCCS
	unsigned abi;  // version of r_debug
	bool placed;   // ttmps are set up
};

// ---- the process: from MADE_BASE on, at these offsets ---------------------------------------

#define MADE_BASE UINT64_C(0x7fa5c0000000)
enum {
	MADE_DEBUG = 0x0,      // r_debug, then a link_map and its name
	MADE_QUEUE = 0x1000,   // amd_queue_t
	MADE_KERNELS = 0x1800, // descriptors of two kernels
	MADE_RING = 0x2000,
	MADE_PACKETS = 64,
	MADE_CODE = 0x3000,
	MADE_PARK = MADE_CODE + 0xf00, // where a trap handler parks waves
	MADE_AREAS = 0x10000,
	MADE_AREA_SIZE = 0x80000, // of one XCC
	MADE_WAVES = 0x2000,      // begin of an area's waves, end of its control stack
	MADE_XCCS = 8,
	MADE_READ = 3 * MADE_PACKETS + 4, // read index: the ring has wrapped
	MADE_LDS_UNIT = 512,
};

static uint8_t made_memory[MADE_AREAS + MADE_XCCS * MADE_AREA_SIZE];

static void made_set(uint64_t at, const void *data, size_t size)
{
	memcpy(made_memory + at, data, size);
}

static void made_set32(uint64_t at, uint32_t v)
{
	made_set(at, &v, sizeof(v));
}

static void made_set64(uint64_t at, uint64_t v)
{
	made_set(at, &v, sizeof(v));
}

// Offsets in a kernel of what it does there.
enum made_spot {
	SPOT_ENTRY,
	SPOT_LOOP = 0x40,
	SPOT_OTHER = 0x48,
	SPOT_BARRIER = 0x50,
	SPOT_WAIT = 0x54,
	SPOT_SLEEP = 0x58,
	SPOT_HALT = 0x5c,
	SPOT_TRAP = 0x60,
	SPOT_END = 0x64,
	MADE_CODE_SIZE = 0x100,
};

static void made_kernels(enum made_kind kind)
{
	static const struct {
		enum made_spot spot;
		uint32_t early, gfx11, gfx12;
	} code[] = {
		{SPOT_LOOP, 0xbf82ffff, 0xbfa0ffff, 0xbfa0ffff},
		{SPOT_BARRIER, 0xbf8a0000, 0xbfbd0000, 0xbf94ffff},
		{SPOT_WAIT, 0xbf8c0000, 0xbf890000, 0xbfc00000},
		{SPOT_SLEEP, 0xbf8e0001, 0xbf830001, 0xbf830001},
		{SPOT_HALT, 0xbf8d0001, 0xbf820001, 0xbf820001},
		{SPOT_TRAP, 0xbf920002, 0xbf900002, 0xbf900002},
		{SPOT_END, 0xbf810000, 0xbfb00000, 0xbfb00000},
	};
	for (unsigned k = 0; k < 2; k++) {
		const uint64_t at = MADE_CODE + k * MADE_CODE_SIZE,
			       descriptor = MADE_KERNELS + k * 64;
		for (unsigned i = 0; i < MADE_CODE_SIZE; i += 4)
			made_set32(at + i, 0xbf800000); // s_nop
		for (size_t i = 0; i < MADE_COUNT(code); i++)
			made_set32(at + code[i].spot, kind == MADE_12   ? code[i].gfx12
						      : kind == MADE_11 ? code[i].gfx11
									: code[i].early);
		made_set64(descriptor + 16, at - descriptor);
	}
}

static void made_process(const struct made *m)
{
	static const char name[] = "file:///tmp/kernels.co";
	memset(made_memory, 0, sizeof(made_memory));
	made_kernels(m->gpu->kind);
	made_set32(MADE_DEBUG, m->abi);
	made_set64(MADE_DEBUG + 8, MADE_BASE + MADE_DEBUG + 64);
	made_set64(MADE_DEBUG + 64, MADE_BASE + MADE_CODE);
	made_set64(MADE_DEBUG + 72, MADE_BASE + MADE_DEBUG + 128);
	made_set(MADE_DEBUG + 128, name, sizeof(name));
	made_set64(MADE_QUEUE + 56, MADE_READ + 5); // write index
	made_set64(MADE_QUEUE + 128, MADE_READ);
	for (unsigned i = 0; i < MADE_PACKETS; i++) {
		const uint64_t p = MADE_RING + i * 64;
		made_set32(p, 3 << 16 | 2); // a dispatch of three dimensions
		made_set32(p + 4, 128 | 1 << 16);
		made_set32(p + 8, 1);
		made_set32(p + 12, 128000);
		made_set32(p + 16, 1);
		made_set32(p + 20, 1);
		made_set64(p + 32, MADE_BASE + MADE_KERNELS + i % 2 * 64);
		made_set64(p + 40, MADE_BASE + MADE_CODE + 0x800);
	}
}

// ---- waves ----------------------------------------------------------------------------------

// What befell a wave.
enum {
	M_MEMORY = 1 << 0,
	M_ADDRESS = 1 << 1,
	M_ILLEGAL = 1 << 2,
	M_MATH_FIRST = 1 << 3, // first and last bit of math
	M_MATH_LAST = 1 << 4,
	M_WATCH_0 = 1 << 5,
	M_WATCH_1 = 1 << 6,
	M_WATCH_3 = 1 << 7,
	M_OFF = 1 << 8, // traps of math and of watchpoints are off
	M_STEP = 1 << 9,
	M_START = 1 << 10, // trap at a wave's start
	M_END = 1 << 11,   // and at its end
	M_HOST = 1 << 12,
	M_STOPPED = 1 << 13, // by the trap handler
	M_HALTED = 1 << 14,
	M_BARRIER = 1 << 15,
	M_NOTED = 1 << 16, // a debugger noted: launched without ttmps
	M_LEFTOVER =
		1 << 17,  // ttmp6 says "stopped", but the trap handler did not say that it wrote it
	M_FLAT = 1 << 18, // gfx12: a group has no y and z
};

struct made_wave {
	uint32_t packet, group[3], in_group;
	enum made_spot spot;
	uint64_t exec;
	uint32_t lanes, vgprs, acc, shared, sgprs, lds;
	uint32_t flags, trap;
	bool first, last; // of its group
};

struct made_area {
	const struct made *made;
	uint64_t at;
	uint64_t bytes; // of its waves
	uint32_t stack[256];
	size_t nstack;
	uint32_t state[2];
	unsigned waves;
};

static bool made_early(const struct made_area *a)
{
	return a->made->gpu->kind < MADE_10;
}

static void made_push(struct made_area *a, const struct made_wave *w)
{
	const enum made_kind kind = a->made->gpu->kind;
	uint32_t state[2] = {1u << 31 | w->lds / MADE_LDS_UNIT << (kind < MADE_10 ? 9 : 10), 0};
	uint32_t word = 3; // a scratch slot
	if (kind < MADE_90A) {
		state[0] |= (w->vgprs / 4 - 1) | w->sgprs / 16 << 6;
	} else if (kind < MADE_10) {
		state[0] |= ((w->vgprs + w->acc) / 8 - 1) | w->sgprs / 16 << 6 |
			    (w->vgprs / 4 - 1) << 24;
	} else {
		state[0] |= (w->vgprs / (w->lanes == 32 ? 8 : 4) - 1) | w->shared / 8 << 26;
		state[0] |= (uint32_t)(w->lanes == 32) << 24;
		state[1] = 0x80000000u | w->packet;
	}
	if (kind < MADE_10)
		word |= (uint32_t)w->last << 16 | (uint32_t)w->first << 17;
	else
		word |= (uint32_t)w->first << 12 | (uint32_t)w->last << 29;
	if (memcmp(state, a->state, sizeof(state)) != 0) {
		a->stack[a->nstack++] = 1u << 30 | 5; // an event
		a->stack[a->nstack++] = state[0];
		if (kind >= MADE_10)
			a->stack[a->nstack++] = state[1];
		memcpy(a->state, state, sizeof(state));
	}
	a->stack[a->nstack++] = word;
}

struct made_bits {
	uint32_t flag;
	uint8_t bit;
};

static uint32_t made_bits_of(uint32_t flags, const struct made_bits *v, size_t n)
{
	uint32_t bits = 0;
	for (size_t i = 0; i < n; i++)
		bits |= flags & v[i].flag ? 1u << v[i].bit : 0;
	return bits;
}

// Of TRAPSTS, or EXCP_FLAG_PRIV.
static uint32_t made_exceptions(enum made_kind kind, uint32_t flags)
{
	static const struct made_bits
		trapsts[] = {{M_MEMORY, 28},   {M_MEMORY | M_ADDRESS, 8},
			     {M_ILLEGAL, 11},  {M_MATH_FIRST, 0},
			     {M_MATH_LAST, 6}, {M_WATCH_0, 7},
			     {M_WATCH_1, 12},  {M_WATCH_3, 14}},
		gfx94[] = {{M_HOST, 22}, {M_START, 23}, {M_END, 24}, {M_STEP, 25}},
		gfx11[] = {{M_HOST, 16}, {M_START, 17}, {M_END, 18}, {M_STEP, 20}},
		gfx12[] = {{M_MEMORY, 12}, {M_MEMORY | M_ADDRESS, 4},
			   {M_ILLEGAL, 6}, {M_WATCH_0, 0},
			   {M_WATCH_1, 1}, {M_WATCH_3, 3},
			   {M_HOST, 7},    {M_START, 8},
			   {M_END, 9},     {M_STEP, 11}};
	if (kind == MADE_12)
		return made_bits_of(flags, gfx12, MADE_COUNT(gfx12));
	return made_bits_of(flags, trapsts, MADE_COUNT(trapsts)) |
	       (kind == MADE_94   ? made_bits_of(flags, gfx94, MADE_COUNT(gfx94))
		: kind == MADE_11 ? made_bits_of(flags, gfx11, MADE_COUNT(gfx11))
				  : 0);
}

static uint64_t made_pc(const struct made_wave *w)
{
	return MADE_BASE + MADE_CODE + w->packet % 2 * MADE_CODE_SIZE + w->spot;
}

static void made_hwregs(const struct made_area *a, const struct made_wave *w, uint32_t *h)
{
	static const struct made_bits math[] = {{M_MATH_FIRST, 0}, {M_MATH_LAST, 6}};
	const enum made_kind kind = a->made->gpu->kind;
	const bool stopped = w->flags & M_STOPPED, halted = stopped || w->flags & M_HALTED;
	const uint32_t on = w->flags & M_OFF ? 0 : 0xc1, // math first and last, watchpoints
		status = 1 << 16 | 1 << 6 | 1 << 11 | (w->flags & M_BARRIER ? 1 << 12 : 0);
	const uint64_t pc = stopped && a->made->gpu->parks ? MADE_BASE + MADE_PARK : made_pc(w);
	h[0] = 0x4d000000 | a->waves;
	h[1] = (uint32_t)pc;
	h[2] = (uint32_t)(pc >> 32);
	h[3] = (uint32_t)w->exec;
	h[4] = (uint32_t)(w->exec >> 32);
	h[6] = made_exceptions(kind, w->flags);
	h[kind < MADE_10 ? 9 : 8] = 0xf0 | (kind == MADE_12 ? 0 : on << 12);
	if (kind == MADE_12) {
		h[5] = halted ? 1 << 14 : 0;
		h[11] = made_bits_of(w->flags, math, MADE_COUNT(math));
		h[12] = on;
		h[13] = status;
	} else // bit 18 is the trap handler's mark
		h[5] = status | (halted ? 1 << 13 : 0) | (stopped ? 1 << 18 : 0);
}

static void made_ttmps(const struct made_area *a, const struct made_wave *w, uint32_t *t)
{
	const enum made_kind kind = a->made->gpu->kind;
	if (!a->made->placed) {
		for (uint32_t i = 4; i < 12; i++) // leftovers
			t[i] = 0x41414141u * i;
	} else if (kind == MADE_12) {
		t[9] = w->group[0];
		t[7] = w->group[1] | w->group[2] << 16;
		t[8] = w->packet | w->in_group << 25 | (w->flags & M_FLAT ? 0 : 1u << 30);
	} else {
		memcpy(&t[8], w->group, sizeof(w->group));
		t[11] = w->in_group;
		t[kind == MADE_94 ? 11 : 6] |= w->packet << (kind == MADE_94 ? 6 : 0);
	}
	if (w->flags & M_NOTED)
		t[6] |= 1u << 31;
	if (w->flags & M_LEFTOVER && (kind == MADE_94 || kind == MADE_12))
		t[6] |= 3 << 29;
	if (!(w->flags & M_STOPPED))
		return;
	// What ROCr's trap handler does.
	if (kind == MADE_94 || kind == MADE_12)
		t[kind == MADE_94 ? 11 : 8] |= 1u << 31;
	t[6] &= ~(0x3fu << 25);
	t[6] |= 1 << 30 | w->trap << 25 | (w->flags & M_HALTED ? 1 << 29 : 0);
	if (!a->made->placed)
		t[6] &= ~(1u << 31);
	if (a->made->gpu->parks) {
		t[kind == MADE_12 ? 10 : 7] = (uint32_t)made_pc(w);
		t[11] = (t[11] & ~(0xffffu << 7)) | (uint32_t)(made_pc(w) >> 32) << 7;
	}
}

// Registers say whose they are: a letter, the wave, the register, the lane.
static uint64_t made_fill(uint64_t at, uint32_t letter, uint32_t n, uint32_t lanes)
{
	for (uint32_t r = 0; r < n; r++)
		for (uint32_t lane = 0; lane < lanes; lane++, at += 4)
			made_set32(at, letter | r << (lanes > 1 ? 8 : 0) | (lanes > 1 ? lane : 0));
	return at;
}

// From the top of the area down, in the order of restoring.
static void made_put(struct made_area *a, const struct made_wave *w)
{
	uint32_t regs[32] = {0};
	const uint32_t lds = w->first ? w->lds : 0, number = ++a->waves << 16;
	made_push(a, w);
	a->bytes += (uint64_t)(w->vgprs + w->acc) * w->lanes * 4 + w->shared * 128 + w->sgprs * 4 +
		    sizeof(regs) + lds + (made_early(a) ? 64 : 0);
	uint64_t at = a->at + MADE_AREA_SIZE - a->bytes;
	at = made_fill(at, 0x56000000 | number, w->vgprs, w->lanes);
	at = made_fill(at, 0x41000000 | number, w->acc, w->lanes);
	at = made_fill(at, 0x48000000 | number, w->shared, 32);
	at = made_fill(at, 0x53000000 | number, w->sgprs, 1);
	made_hwregs(a, w, regs);
	made_ttmps(a, w, regs + 16);
	made_set(at, regs, sizeof(regs));
	made_fill(at + sizeof(regs), 0x4c000000 | number, lds / 4, 1);
}

// The waves come down to where the control stack ends, and the header says so.
static void made_close(struct made_area *a)
{
	const uint32_t words = a->waves ? (uint32_t)a->nstack + 2 : 0, bytes = (uint32_t)a->bytes,
		       header[] = {MADE_WAVES - words * 4, words * 4, MADE_WAVES + bytes, bytes};
	uint8_t *area = made_memory + a->at;
	memmove(area + MADE_WAVES, area + MADE_AREA_SIZE - bytes, bytes);
	memcpy(area, header, sizeof(header));
	if (!words)
		return;
	made_set32(a->at + header[0], 0xc0027600); // a packet of two words
	made_set32(a->at + header[0] + 4, 0);
	made_set(a->at + header[0] + 8, a->stack, a->nstack * 4);
}

// ---- a scene --------------------------------------------------------------------------------

struct made_row {
	enum made_spot spot;
	uint32_t flags, trap;
};

static const struct made_row made_pairs[][2] = {
	{{SPOT_LOOP, 0, 0}, {SPOT_OTHER, 0, 0}},
	{{SPOT_BARRIER, M_BARRIER, 0}, {SPOT_BARRIER, M_BARRIER, 0}},
	{{SPOT_OTHER, M_STOPPED | M_MEMORY, 0}, {SPOT_WAIT, 0, 0}},
	{{SPOT_OTHER, M_STOPPED | M_ILLEGAL, 0}, {SPOT_HALT, M_HALTED, 0}},
};

static const struct made_row made_singles[] = {
	{SPOT_TRAP, M_STOPPED, 2},
	{SPOT_TRAP, M_STOPPED | M_HALTED, 3},
	{SPOT_TRAP, M_STOPPED, 1},
	{SPOT_TRAP, M_STOPPED, 4},
	{SPOT_TRAP, M_STOPPED, 15},
	{SPOT_OTHER, 0, 0},
	{SPOT_END, 0, 0},
	{SPOT_SLEEP, 0, 0},
	{SPOT_ENTRY, M_FLAT, 0},
	{SPOT_OTHER, M_STOPPED | M_ADDRESS, 0},
	{SPOT_OTHER, M_STOPPED | M_MATH_FIRST, 0},
	{SPOT_OTHER, M_STOPPED | M_MATH_LAST, 0},
	{SPOT_OTHER, M_STOPPED | M_MATH_FIRST | M_MATH_LAST | M_OFF, 0},
	{SPOT_OTHER, M_STOPPED | M_WATCH_0, 0},
	{SPOT_OTHER, M_STOPPED | M_WATCH_1, 0},
	{SPOT_OTHER, M_STOPPED | M_WATCH_3, 0},
	{SPOT_OTHER, M_STOPPED | M_WATCH_0 | M_WATCH_1 | M_WATCH_3 | M_OFF, 0},
	{SPOT_OTHER, M_STOPPED | M_STEP, 0},
	{SPOT_OTHER, M_STOPPED | M_START, 0},
	{SPOT_OTHER, M_STOPPED | M_END, 0},
	{SPOT_OTHER, M_STOPPED | M_HOST, 0},
	{SPOT_OTHER, M_MEMORY | M_ILLEGAL, 0}, // not stopped yet
	{SPOT_OTHER, M_LEFTOVER | M_HALTED, 0},
	{SPOT_OTHER, M_LEFTOVER, 0},
	{SPOT_OTHER, M_STOPPED | M_NOTED, 3},
};

// Groups of two large waves, then many of one; spread over the XCCs.
static void made_scene(struct made_area *areas, const struct made *m)
{
	const enum made_kind kind = m->gpu->kind;
	const bool early = kind < MADE_10, one_file = kind == MADE_90A || kind == MADE_94;
	const struct made_wave big = {.packet = 5,
				      .exec = UINT64_MAX,
				      .lanes = 64,
				      .vgprs = 12,
				      .acc = one_file           ? 4
					     : kind == MADE_908 ? 12
								: 0,
				      .shared = kind == MADE_10 ? 16 : 0,
				      .sgprs = early ? 96 : 128,
				      .lds = 2 * MADE_LDS_UNIT},
			       small = {.packet = 6,
					.lanes = early ? 64 : 32,
					.vgprs = 24,
					.acc = one_file           ? 8
					       : kind == MADE_908 ? 24
								  : 0,
					.sgprs = early ? 48 : 128};
	for (uint32_t i = 0; i < 2 * MADE_COUNT(made_pairs); i++) {
		const struct made_row *r = &made_pairs[i / 2][i % 2];
		struct made_wave w = big;
		w.group[0] = i / 2;
		w.group[1] = i / 2 == 3 ? 0xfffe : 0;
		w.group[2] = i / 2 == 3 ? 0x8001 : 0;
		w.in_group = i % 2;
		w.first = !w.in_group;
		w.last = w.in_group;
		w.spot = r->spot;
		w.flags = r->flags;
		made_put(&areas[i / 2 % m->xccs], &w);
	}
	for (uint32_t i = 0; i < MADE_COUNT(made_singles); i++) {
		const struct made_row *r = &made_singles[i];
		struct made_wave w = small;
		w.group[0] = i == 6 ? UINT32_MAX : i;
		w.group[1] = r->flags & M_FLAT ? 7 : 0; // which gfx12 does not show
		w.in_group = i == 5 ? 31 : 0;
		w.exec = UINT64_C(0x0f0f0f0ff0f0f0ff) >> i % 5;
		w.first = w.last = true;
		w.spot = r->spot;
		w.flags = r->flags;
		w.trap = r->trap;
		made_put(&areas[i % m->xccs], &w);
	}
}

// Fills made_memory.
static void made_make(const struct made *m)
{
	static struct made_area areas[MADE_XCCS];
	made_process(m);
	for (unsigned i = 0; i < m->xccs; i++)
		areas[i] = (struct made_area){.made = m, .at = MADE_AREAS + i * MADE_AREA_SIZE};
	made_scene(areas, m);
	for (unsigned i = 0; i < m->xccs; i++)
		made_close(&areas[i]);
}

// Reads a variant: "gfx942 xccs=4 abi=10 placed=1". Returns false if it is none.
static bool made_parse(const char *words, struct made *m)
{
	const char *xccs = strstr(words, " xccs="), *abi = strstr(words, " abi="),
		   *placed = strstr(words, " placed=");
	const size_t n = strcspn(words, " ");
	*m = (struct made){0};
	for (size_t i = 0; i < MADE_COUNT(made_gpus); i++)
		if (strncmp(made_gpus[i].name, words, n) == 0 && !made_gpus[i].name[n])
			m->gpu = &made_gpus[i];
	if (!m->gpu || !xccs || !abi || !placed)
		return false;
	m->xccs = (unsigned)strtoul(xccs + 6, NULL, 10);
	m->abi = (unsigned)strtoul(abi + 5, NULL, 10);
	m->placed = placed[8] == '1';
	return m->xccs && m->xccs <= MADE_XCCS;
}
