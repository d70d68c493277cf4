// Parses a topology node's properties and derives values. Facts: [kfd.topology],
// [kfd.gfx-version], [kfd.location], [kfd.cus], [kfd.slots], [kfd.capability], [kfd.save-size].
#include "common/kfd/topology.h"

#include "common/host/number.h"

static const struct property {
	const char *name;
	size_t offset;
} properties[] = {
#define PROPERTY_ROW(member, text) {text, offsetof(struct kfd_gpu, member)},
	KFD_PROPERTIES(PROPERTY_ROW)};

static uint64_t *property_field(struct kfd_gpu *g, const struct property *p)
{
	return (uint64_t *)(void *)((char *)g + p->offset);
}

void kfd_gpu_init(struct kfd_gpu *g)
{
	*g = (struct kfd_gpu){.can_suspend = -1, .selected = true};
	for (size_t i = 0; i < COUNT(properties); i++)
		*property_field(g, &properties[i]) = KFD_UNKNOWN;
	g->index = g->node = g->gpu_id = g->cus = g->vram_bytes = KFD_UNKNOWN;
}

bool kfd_parse_number(const char *s, const char *end, uint64_t *value)
{
	const char *stop = number_read(s, end, 10, KFD_UNKNOWN - 1, value);
	return stop && (stop == end || *stop == '\n');
}

bool kfd_parse_id(const char *name, uint32_t *id)
{
	size_t len = strlen(name);
	uint64_t v;
	if (len > 10 || name[strspn(name, "0123456789")] || (len > 1 && name[0] == '0') ||
	    !kfd_parse_number(name, name + len, &v) || v > INT32_MAX)
		return false;
	*id = (uint32_t)v;
	return true;
}

struct line {
	const char *name;
	size_t len; // length of the name; 0: the line is not "name value"
	uint64_t value;
};

// Takes the next line that is not empty from *text. False: there is none.
static bool next_line(const char **text, const char *end, struct line *l)
{
	while (*text < end && **text == '\n')
		++*text;
	if (*text >= end)
		return false;
	const char *stop = memchr(*text, '\n', (size_t)(end - *text));
	stop = stop ? stop : end;
	const char *blank = memchr(*text, ' ', (size_t)(stop - *text));
	*l = (struct line){.name = *text};
	if (blank && kfd_parse_number(blank + 1, stop, &l->value))
		l->len = (size_t)(blank - *text);
	*text = stop;
	return true;
}

static bool is_named(const struct line *l, const char *name)
{
	return strlen(name) == l->len && memcmp(name, l->name, l->len) == 0;
}

void kfd_gpu_parse(struct kfd_gpu *g, const char *text, size_t len)
{
	struct line l;
	for (const char *end = text + len; next_line(&text, end, &l);) {
		g->good_lines += l.len != 0;
		g->bad_lines += l.len == 0;
		for (size_t i = 0; i < COUNT(properties); i++)
			if (is_named(&l, properties[i].name))
				*property_field(g, &properties[i]) = l.value;
	}
}

uint64_t kfd_bank_bytes(const char *text, size_t len)
{
	enum { FRAME_BUFFER_PUBLIC = 1, FRAME_BUFFER_PRIVATE = 2 };
	uint64_t type = KFD_UNKNOWN, size = 0;
	struct line l;
	for (const char *end = text + len; next_line(&text, end, &l);) {
		if (is_named(&l, "heap_type"))
			type = l.value;
		if (is_named(&l, "size_in_bytes"))
			size = l.value;
	}
	return type == FRAME_BUFFER_PUBLIC || type == FRAME_BUFFER_PRIVATE ? size : 0;
}

// Can a GPU have this count? Products of such counts fit in 64 bits.
static bool plausible(uint64_t v)
{
	return v != 0 && v < 1u << 20;
}

// Names a gfx_target_version, in which the stepping becomes a hexadecimal digit: 90010 is gfx90a
// [kfd.gfx-version].
static void derive_gfx(struct kfd_gpu *g)
{
	uint64_t v = g->gfx_target_version;
	unsigned minor = (unsigned)(v / 100 % 100), step = (unsigned)(v % 100);
	if (v < 10000 || v > 999999 || minor > 15 || step > 15)
		return;
	snprintf(g->gfx, sizeof(g->gfx), "gfx%u%x%x", (unsigned)(v / 10000), minor, step);
}

// Makes `bdf` of location_id: the low 16 bits are bus, device, function. Drivers also put a
// partition's number there (function or bits 31:28); topology.c corrects that by the render device.
static void derive_bdf(struct kfd_gpu *g)
{
	uint64_t id = g->location_id;
	if (g->domain > 0xffffffffu || id > 0xffffffffu || (id & 0x0fff0000u))
		return;
	snprintf(g->bdf, sizeof(g->bdf), "%04x:%02x:%02x.%x", (unsigned)g->domain,
		 (unsigned)(id >> 8 & 0xff), (unsigned)(id >> 3 & 0x1f), (unsigned)(id & 7));
}

static uint64_t page_align(uint64_t v)
{
	return (v + 4095) & ~(uint64_t)4095;
}

// Bytes of registers and LDS of one CU, as the driver counts them [kfd.save-size]; 0: unknown GPU.
static uint64_t bytes_per_cu(const struct kfd_gpu *g)
{
	static const uint32_t vgprs_512k[] = {90008, 90010, 90400, 90401, 90402, 90500};
	static const uint32_t vgprs_384k[] = {110000, 110001, 110501, 120000, 120001};
	const uint64_t sgprs = 0x4000, hwregs = 0x1000;
	uint64_t version = g->gfx_target_version;
	uint64_t vgprs = 0x40000, lds = 0x10000;
	if (version < 90000 || version > 120001)
		return 0;
	for (size_t i = 0; i < COUNT(vgprs_512k); i++)
		if (version == vgprs_512k[i])
			vgprs = 0x80000;
	for (size_t i = 0; i < COUNT(vgprs_384k); i++)
		if (version == vgprs_384k[i])
			vgprs = 0x60000;
	if (version == 90500) { // gfx950 is the first with more LDS than 64 KiB
		if (!plausible(g->lds_size_kb))
			return 0;
		lds = g->lds_size_kb << 10;
	}
	return vgprs + sgprs + lds + hwregs;
}

static uint64_t waves_of(const struct kfd_gpu *g, uint64_t cus)
{
	if (g->gfx_target_version >= 100100)
		return cus * 32;
	if (!plausible(g->array_count) || !plausible(g->simd_arrays_per_engine))
		return 0;
	uint64_t by_engines = g->array_count / g->simd_arrays_per_engine * 512;
	return cus * 40 < by_engines ? cus * 40 : by_engines;
}

// Computes sizes of the wave save area as the HSA runtime does: drivers before 6.12 tell none.
static void derive_cwsr(struct kfd_gpu *g)
{
	if (g->cwsr_bytes != KFD_UNKNOWN && g->ctl_stack_bytes != KFD_UNKNOWN)
		return;
	// Drivers without num_xcc (before 6.5) know no GPU with several XCCs.
	uint64_t xccs = g->num_xcc == KFD_UNKNOWN ? 1 : g->num_xcc;
	uint64_t cu_bytes = bytes_per_cu(g);
	if (g->cus == KFD_UNKNOWN || !plausible(xccs) || !cu_bytes)
		return;
	uint64_t cus = g->cus / xccs, waves = waves_of(g, cus);
	if (!waves)
		return;
	uint64_t version = g->gfx_target_version;
	uint64_t stack = page_align(40 + waves * (version >= 100100 ? 12 : 8) + 8);
	if (version / 10000 == 10 && stack > 0x7000)
		stack = 0x7000; // the context-save hardware of gfx10 addresses no more
	g->ctl_stack_bytes = stack;
	g->cwsr_bytes = stack + page_align(cus * cu_bytes);
	g->cwsr_computed = true;
}

void kfd_gpu_derive(struct kfd_gpu *g)
{
	if (g->num_xcc == 0) // every GPU has an XCC: 0 stands for unknown
		g->num_xcc = KFD_UNKNOWN;
	if (plausible(g->simd_count) && plausible(g->simd_per_cu))
		g->cus = g->simd_count / g->simd_per_cu;
	// An XCC has 32 slots at most: a driver that reports more has added up its XCCs
	// [kfd.slots].
	g->slots_guessed = g->cp_queues > 32 && g->cp_queues != KFD_UNKNOWN &&
			   plausible(g->num_xcc) && g->cp_queues % g->num_xcc == 0;
	if (g->slots_guessed)
		g->cp_queues /= g->num_xcc;
	derive_gfx(g);
	derive_bdf(g);
	derive_cwsr(g);
	if (g->capability != KFD_UNKNOWN)
		g->can_suspend = (g->capability & KFD_CAP_DEBUG) == KFD_CAP_DEBUG;
}

bool kfd_gpu_uses_mes(const struct kfd_gpu *g)
{
	return g->gfx_target_version >= 110000 && g->gfx_target_version != KFD_UNKNOWN;
}
