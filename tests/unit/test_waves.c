// Waves as AMD's own library lists them: tests/data/waves/library, which tests/waves/judge.sh
// recorded, of the save areas of tests/waves/made.h. What no library tells: test_waves_area.c,
// test_wave.c.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <inttypes.h>

#include "common/waves/area.h"
#include "tests/waves/made.h"

// --- the library's lists ---

static bool read_made(void *arg, uint64_t address, void *to, size_t size)
{
	(void)arg;
	if (address < MADE_BASE || address - MADE_BASE > sizeof(made_memory) ||
	    size > sizeof(made_memory) - (address - MADE_BASE))
		return false;
	memcpy(to, made_memory + (address - MADE_BASE), size);
	return true;
}

static const struct memory made = {.fd = -1, .read = read_made};

static uint32_t word_at(uint64_t address)
{
	uint32_t v;
	assert_true(memory_read(&made, address, &v, sizeof(v)));
	return v;
}

static const char *const at_names[] = {
	[WAVE_AT_OTHER] = "-",     [WAVE_AT_BARRIER] = "barrier", [WAVE_AT_WAIT] = "wait",
	[WAVE_AT_SLEEP] = "sleep", [WAVE_AT_HALT] = "halt",       [WAVE_AT_TRAP] = "trap",
	[WAVE_AT_END] = "end",
};
static const struct {
	uint32_t bit;
	const char *name;
} why_names[] = {
	{WAVE_MEMORY_VIOLATION, "memory-violation"},
	{WAVE_ADDRESS_ERROR, "address-error"},
	{WAVE_ILLEGAL_INSTRUCTION, "illegal-instruction"},
	{WAVE_MATH_ERROR, "math"},
	{WAVE_WATCHPOINT, "watchpoint"},
	{WAVE_SINGLE_STEP, "single-step"},
	{WAVE_TRAP, "trap"},
	{WAVE_ASSERT, "assert"},
	{WAVE_DEBUG_TRAP, "debug-trap"},
	{WAVE_BREAKPOINT, "breakpoint"},
};

// A file of `n` registers of `bytes` bytes from the one numbered `first` on.
static void put_file(struct buf *b, const char *name, char letter, uint32_t first, uint32_t n,
		     uint64_t at, uint32_t bytes)
{
	if (n)
		buf_printf(b, " %s %u %c%u %08x %c%u %08x", name, n, letter, first, word_at(at),
			   letter, first + n - 1, word_at(at + (uint64_t)n * bytes - 4));
}

// The library counts VCC as a register of its own where it lies behind the 106 of others.
static void put_registers(struct buf *b, const struct waves_gpu *g, const struct wave *w,
			  uint64_t lds_at)
{
	const uint32_t lane = w->lanes * 4, sgprs = g->version < 100000 ? w->sgprs : 106,
		       vcc = g->version < 100000 ? sgprs - 2 : 106;
	put_file(b, "sgprs", 's', 0, sgprs, w->sgprs_at, 4);
	buf_printf(b, " vcc_lo %08x", word_at(w->sgprs_at + vcc * 4));
	put_file(b, "vgprs", 'v', 0, w->vgprs, w->vgprs_at, lane);
	put_file(b, "shared", 'v', w->vgprs, w->shared, w->vgprs_at + (uint64_t)w->vgprs * lane,
		 128);
	if (w->lds)
		buf_printf(b, " lds %08x %08x", word_at(lds_at), word_at(lds_at + w->lds - 4));
	put_file(b, "acc", 'a', 0, w->acc, w->acc_at, lane);
}

// In the form of tests/waves/judge.c.
static void put_wave(struct buf *b, const struct waves_gpu *g, const struct wave *w,
		     uint64_t lds_at)
{
	buf_printf(b, "queue 1");
	if (w->placed)
		buf_printf(b, " packet %u group %u,%u,%u wave %u", w->packet, w->group[0],
			   w->group[1], w->group[2], w->in_group);
	else
		buf_printf(b, " packet ? group ? wave ?");
	buf_printf(b, " lanes %u pc %#" PRIx64 " exec %#" PRIx64 " at %s", w->lanes, w->pc, w->exec,
		   at_names[wave_at(g, word_at(w->pc))]);
	buf_printf(b, "%s%s", w->halted ? " halted" : "", w->in_barrier ? " in-barrier" : "");
	for (size_t i = 0; i < MADE_COUNT(why_names); i++)
		if (w->why & why_names[i].bit)
			buf_printf(b, " %s", why_names[i].name);
	buf_printf(b, " m0 %08x mode %08x exceptions %08x", w->m0, w->mode, w->exceptions);
	put_registers(b, g, w, lds_at);
	buf_printf(b, "\n");
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

// Lines in the order of LC_ALL=C sort. They stay in `text`.
static size_t sort_lines(char *text, char **lines, size_t most)
{
	size_t n = 0;
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		assert_true(n < most);
		lines[n++] = line;
	}
	qsort(lines, n, sizeof(*lines), by_text);
	return n;
}

// Fills `to` with the waves of all XCCs.
static void list_made(const struct made *m, unsigned abi, struct buf *to)
{
	const struct waves_gpu *g = waves_gpu_of(m->gpu->version);
	SCOPED(waves_saved_fini) struct waves_saved s = {0};
	assert_non_null(g);
	made_make(m);
	for (unsigned xcc = 0; xcc < m->xccs; xcc++) {
		const struct waves_area a = {.gpu = g,
					     .address = MADE_BASE + MADE_AREAS +
							(uint64_t)xcc * MADE_AREA_SIZE,
					     .size = MADE_AREA_SIZE,
					     .abi = abi,
					     .ttmp_setup = m->placed};
		size_t i = s.n;
		uint64_t lds_at = 0;
		const char *wrong = waves_read(&s, &a, &made);
		if (wrong)
			fail_msg("%s: %s", m->gpu->name, wrong);
		for (; i < s.n; i++) {
			const struct wave w = wave_decode(&a, &s.v[i]);
			if (w.first)
				lds_at = w.lds_at;
			put_wave(to, g, &w, lds_at);
		}
	}
}

static void compare(const char *variant, unsigned abi, const char *expected)
{
	enum { MOST = 64 };
	SCOPED(buf_fini) struct buf ours = {0};
	char *v[MOST], *theirs = strdup(expected), *w[MOST];
	struct made m;
	assert_true(made_parse(variant, &m));
	list_made(&m, abi ? abi : m.abi, &ours);
	const size_t n = sort_lines(ours.data, v, MOST), k = sort_lines(theirs, w, MOST);
	for (size_t i = 0; i < n && i < k; i++)
		if (strcmp(v[i], w[i]) != 0)
			fail_msg("made %s:\n%s\n%s", variant, v[i], w[i]);
	assert_int_equal(n, k);
	free(theirs);
}

// Calls compare() for the variants of each list.
static void test_library(void **state)
{
	(void)state;
	enum { MOST = 64 };
	SCOPED(buf_fini) struct buf text = {0};
	char *variants[MOST];
	size_t n = 0, all = 0;
	assert_true(buf_read_at(&text, AT_FDCWD, "tests/data/waves/library") > 0);
	for (char *at = text.data; *at;) {
		n = 0;
		for (; strncmp(at, "made ", 5) == 0 && n < MOST; n++) {
			variants[n] = at + 5;
			at = strchr(at, '\n');
			*at++ = '\0';
		}
		char *end = strstr(at, "\nmade ");
		if (end)
			*end = '\0';
		for (size_t i = 0; i < n; i++)
			compare(variants[i], 0, at);
		all += n;
		// The library refuses version 11, which differs from 10 in nothing that counts
		// here.
		if (strstr(variants[0], "abi=10"))
			compare(variants[0], 11, at);
		at = end ? end + 1 : at + strlen(at);
	}
	assert_int_equal(all, 37);
}

// The library knows neither gfx950 nor gfx1151.
static void test_gpus(void **state)
{
	(void)state;
	static const uint32_t versions[] = {90000,  90006,  90008,  90010,  90402,  90500, 100300,
					    110000, 110001, 110002, 110501, 120000, 120001};
	for (size_t i = 0; i < MADE_COUNT(versions); i++) {
		const struct waves_gpu *g = waves_gpu_of(versions[i]);
		bool judged = false;
		for (size_t k = 0; k < MADE_COUNT(made_gpus); k++)
			judged |= made_gpus[k].version == versions[i];
		assert_non_null(g);
		assert_int_equal(g->version, versions[i]);
		assert_int_equal(g->judged, judged);
		assert_int_equal(g->lds_unit, versions[i] == 90500 ? 1280 : 512);
		assert_int_equal(g->parks, versions[i] / 100 != 904 && versions[i] / 100 != 905 &&
						   versions[i] != 100300);
	}
	for (uint32_t v = 0; v < 130000; v++) { // no other one
		bool known = false;
		for (size_t i = 0; i < MADE_COUNT(versions); i++)
			known |= versions[i] == v;
		if (!known)
			assert_null(waves_gpu_of(v));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_library),
		cmocka_unit_test(test_gpus),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
