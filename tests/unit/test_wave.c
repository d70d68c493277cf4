// What the saved registers of a wave mean, and what the instruction at its PC does: all bits of
// each field, with the values beside it. Facts: [waves.record], [waves.ttmps],
// [waves.instruction]. Save areas: test_waves.c, test_waves_area.c.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/waves/area.h"

static const uint32_t versions[] = {90000,  90008,  90010,  90402,  90500,
				    100300, 110000, 110501, 120000, 120001};

static bool is_94(uint32_t v)
{
	return v == 90402 || v == 90500;
}

static bool is_12(uint32_t v)
{
	return v >= 120000;
}

static struct waves_area area_of(uint32_t version, unsigned abi, bool ttmp_setup)
{
	return (struct waves_area){
		.gpu = waves_gpu_of(version), .abi = abi, .ttmp_setup = ttmp_setup};
}

// A wave whose registers are numbered, 0x100 + 2 * i and 0x200 + 2 * i, and which is not stopped.
static struct wave_saved numbered(void)
{
	struct wave_saved s = {.end = 0x100000, .state = 1u << 31};
	for (uint32_t i = 0; i < 16; i++) {
		s.hwreg[i] = 0x100 + 2 * i;
		s.ttmp[i] = 0x200 + 2 * i;
	}
	return s;
}

// [waves.record]
static void test_registers(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(versions); i++) {
		const uint32_t v = versions[i];
		const struct waves_area a = area_of(v, 10, false);
		struct wave_saved s = numbered();
		struct wave w = wave_decode(&a, &s);
		assert_int_equal(w.m0, 0x100);
		assert_int_equal(w.pc, UINT64_C(0x10400000102));
		assert_int_equal(w.exec, UINT64_C(0x10800000106));
		assert_int_equal(w.exceptions, 0x10c);
		assert_int_equal(w.mode, v < 100000 ? 0x112 : 0x110);
		assert_int_equal(w.status, is_12(v) ? 0x11a : 0x10a);
		assert_false(w.in_barrier || w.halted || w.stopped || w.placed || w.why || w.trap);
		s.state |= 1 << 24; // wave32
		w = wave_decode(&a, &s);
		assert_int_equal(w.exec, v < 100000 ? UINT64_C(0x10800000106) : 0x106);
	}
}

// Each bit of the register that halts or waits.
static void test_status(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(versions); i++)
		for (unsigned bit = 0; bit < 32; bit++)
			for (unsigned reg = 5; reg <= 13; reg += 8) {
				const struct waves_area a = area_of(versions[i], 9, false);
				const bool late = is_12(versions[i]);
				struct wave_saved s = {0};
				s.hwreg[reg] = 1u << bit;
				const struct wave w = wave_decode(&a, &s);
				assert_int_equal(w.halted, reg == 5 && bit == (late ? 14 : 13));
				assert_int_equal(w.in_barrier, reg == 5 && bit == 12 && !late);
			}
}

// A wave that the trap handler stopped, as it marks it.
static struct wave_saved stopped(uint32_t version)
{
	struct wave_saved s = {0};
	s.ttmp[6] = 1 << 30;
	if (is_94(version))
		s.ttmp[11] = 1u << 31;
	if (is_12(version))
		s.ttmp[8] = 1u << 31;
	return s;
}

struct reason {
	uint32_t bits, why;
};

#define EARLY                                                                                      \
	{1 << 28, WAVE_MEMORY_VIOLATION}, {1 << 8, WAVE_ADDRESS_ERROR},                            \
		{1 << 28 | 1 << 8, WAVE_MEMORY_VIOLATION}, {1 << 11, WAVE_ILLEGAL_INSTRUCTION},    \
		{1 << 7, WAVE_WATCHPOINT}, {1 << 12, WAVE_WATCHPOINT}, {1 << 13, WAVE_WATCHPOINT}, \
	{                                                                                          \
		1 << 14, WAVE_WATCHPOINT                                                           \
	}

// The reason that each single bit of TRAPSTS or EXCP_FLAG_PRIV is, math left out.
static const struct reason *reasons_of(uint32_t version, size_t *n)
{
	static const struct reason gfx9[] = {EARLY},
				   gfx94[] = {EARLY,
					      {1 << 23, WAVE_TRAP},
					      {1 << 24, WAVE_TRAP},
					      {1 << 25, WAVE_SINGLE_STEP}},
				   gfx11[] = {EARLY,
					      {1 << 17, WAVE_TRAP},
					      {1 << 18, WAVE_TRAP},
					      {1 << 20, WAVE_SINGLE_STEP}},
				   gfx12[] = {{1 << 12, WAVE_MEMORY_VIOLATION},
					      {1 << 4, WAVE_ADDRESS_ERROR},
					      {1 << 12 | 1 << 4, WAVE_MEMORY_VIOLATION},
					      {1 << 6, WAVE_ILLEGAL_INSTRUCTION},
					      {1 << 0, WAVE_WATCHPOINT},
					      {1 << 1, WAVE_WATCHPOINT},
					      {1 << 2, WAVE_WATCHPOINT},
					      {1 << 3, WAVE_WATCHPOINT},
					      {1 << 8, WAVE_TRAP},
					      {1 << 9, WAVE_TRAP},
					      {1 << 11, WAVE_SINGLE_STEP}};
	*n = is_94(version)          ? COUNT(gfx94)
	     : is_12(version)        ? COUNT(gfx12)
	     : version / 10000 == 11 ? COUNT(gfx11)
				     : COUNT(gfx9);
	return is_94(version)          ? gfx94
	       : is_12(version)        ? gfx12
	       : version / 10000 == 11 ? gfx11
				       : gfx9;
}

static uint32_t reason_of(uint32_t version, uint32_t bits)
{
	size_t n;
	const struct reason *r = reasons_of(version, &n);
	for (size_t i = 0; i < n; i++)
		if (r[i].bits == bits)
			return r[i].why;
	return 0;
}

// Traps of math (0 to 6) and of watchpoints (7) are on: in MODE from bit 12 on, in TRAP_CTRL.
static void turn_on(struct wave_saved *s, uint32_t version, uint32_t traps)
{
	if (is_12(version))
		s->hwreg[12] = traps;
	else
		s->hwreg[version < 100000 ? 9 : 8] = traps << 12;
}

static void test_reasons(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(versions); i++) {
		const uint32_t v = versions[i];
		const struct waves_area a = area_of(v, 10, true);
		for (unsigned bit = 0; bit < 32; bit++) {
			struct wave_saved s = stopped(v);
			const uint32_t why = reason_of(v, 1u << bit);
			s.hwreg[6] = 1u << bit;
			turn_on(&s, v, 0x80);
			assert_int_equal(wave_decode(&a, &s).why, why);
			turn_on(&s, v, UINT32_C(0xfff7f)); // all but watchpoints
			assert_int_equal(wave_decode(&a, &s).why, !is_12(v) && bit < 7
									  ? WAVE_MATH_ERROR
								  : why == WAVE_WATCHPOINT ? 0
											   : why);
			s.ttmp[6] = 0; // not stopped
			assert_int_equal(wave_decode(&a, &s).why, 0);
		}
		struct wave_saved s = stopped(v);
		s.hwreg[6] = is_12(v) ? 1 << 12 | 1 << 4 : 1 << 28 | 1 << 8;
		assert_int_equal(wave_decode(&a, &s).why, WAVE_MEMORY_VIOLATION);
		s.hwreg[6] = UINT32_MAX;
		turn_on(&s, v, 0xff);
		s.hwreg[11] = UINT32_MAX;
		s.ttmp[6] |= 1 << 25;
		assert_int_equal(wave_decode(&a, &s).why,
				 WAVE_MEMORY_VIOLATION | WAVE_ILLEGAL_INSTRUCTION |
					 WAVE_MATH_ERROR | WAVE_WATCHPOINT | WAVE_BREAKPOINT |
					 (reason_of(v, is_94(v)   ? 1 << 23
						       : is_12(v) ? 1 << 8
								  : 1 << 17)
						  ? WAVE_TRAP | WAVE_SINGLE_STEP
						  : 0));
	}
}

// A math exception counts if its own trap is on.
static void test_math(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(versions); i++)
		for (unsigned bit = 0; bit < 10; bit++)
			for (unsigned on = 0; on < 10; on++) {
				const uint32_t v = versions[i];
				const struct waves_area a = area_of(v, 10, true);
				struct wave_saved s = stopped(v);
				s.hwreg[is_12(v) ? 11 : 6] = 1u << bit;
				turn_on(&s, v, 1u << on);
				const uint32_t why = wave_decode(&a, &s).why;
				assert_int_equal(!!(why & WAVE_MATH_ERROR), bit == on && bit < 7);
			}
}

static void test_trap(void **state)
{
	(void)state;
	static const uint32_t why[16] = {0, WAVE_BREAKPOINT, WAVE_ASSERT, WAVE_DEBUG_TRAP,
					 [4 ... 15] = WAVE_TRAP};
	for (size_t i = 0; i < COUNT(versions); i++)
		for (unsigned trap = 0; trap < 16; trap++) {
			const struct waves_area a = area_of(versions[i], 10, true);
			struct wave_saved s = stopped(versions[i]);
			s.ttmp[6] |= trap << 25 | 0x1ffffff;
			const struct wave w = wave_decode(&a, &s);
			assert_int_equal(w.trap, trap);
			assert_int_equal(w.why, why[trap]);
		}
}

// Whether a wave is stopped: ttmp6, where the trap handler says that it wrote it [waves.ttmps].
static void test_stopped(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(versions); i++)
		for (unsigned abi = 8; abi <= 11; abi++)
			for (unsigned c = 0; c < 32; c++) {
				const uint32_t v = versions[i];
				const bool setup = c & 1, bit30 = c & 2, marked = c & 4,
					   skip = c & 8, halted = c & 16;
				const struct waves_area a = area_of(v, abi, setup);
				struct wave_saved s = {0};
				s.ttmp[6] = (bit30 ? 1u << 30 : 0) | (halted ? 1u << 29 : 0);
				s.ttmp[is_94(v) ? 11 : 8] = marked ? 1u << 31 : 0;
				s.hwreg[is_12(v) ? 13 : 5] = skip ? 1 << 18 : 0;
				const bool wrote = setup ? (!is_94(v) && !is_12(v)) || marked
							 : abi >= 10 && skip && !is_12(v);
				struct wave w = wave_decode(&a, &s);
				assert_int_equal(w.stopped, bit30 && wrote);
				assert_int_equal(w.halted, w.stopped && halted);
				s.hwreg[5] |=
					is_12(v) ? 1 << 14 : 1 << 13; // the handler's own halt
				w = wave_decode(&a, &s);
				assert_int_equal(w.halted, !w.stopped || halted);
			}
}

// The true PC of a wave that was moved to the trap handler's parking loop.
static void test_parked(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(versions); i++)
		for (unsigned abi = 8; abi <= 11; abi++) {
			const uint32_t v = versions[i];
			const struct waves_area a = area_of(v, abi, true);
			const bool parks =
				v == 90000 || v == 90008 || v == 90010 || (v >= 110000 && abi >= 9);
			struct wave_saved s = stopped(v);
			s.hwreg[1] = 0x11111111;
			s.hwreg[2] = 0x1111;
			s.ttmp[is_12(v) ? 10 : 7] = 0xfedcba98;
			s.ttmp[is_12(v) ? 7 : 10] = 0x22222222;
			s.ttmp[11] = is_94(v) ? UINT32_MAX : 0x407fffffu ^ 0x1234u << 7;
			assert_int_equal(wave_decode(&a, &s).pc, parks ? UINT64_C(0xedcbfedcba98)
								       : UINT64_C(0x111111111111));
			s.ttmp[11] ^= 0xff80007f; // what lies beside it
			if (!is_94(v))
				assert_int_equal(wave_decode(&a, &s).pc,
						 parks ? UINT64_C(0xedcbfedcba98)
						       : UINT64_C(0x111111111111));
			s.ttmp[6] = 0;
			assert_int_equal(wave_decode(&a, &s).pc, UINT64_C(0x111111111111));
		}
}

// --- which group, which packet ---

static const struct {
	uint32_t version;
	uint32_t ttmp6, ttmp7, ttmp8, ttmp9, ttmp10, ttmp11;
	uint32_t group[3], in_group, packet;
} places[] = {
	{90000,
	 0x1fffffe,
	 9,
	 0xfffffff1,
	 0xfffffff2,
	 0xfffffff3,
	 0xffffffc1,
	 {0xfffffff1, 0xfffffff2, 0xfffffff3},
	 1,
	 0x1fffffe},
	{90010, 0x7e000001, 9, 1, 2, 3, 0x3e, {1, 2, 3}, 0x3e, 1},
	{90402, 0, 9, 1, 2, 3, 0x7fffff80 | 3, {1, 2, 3}, 3, 0x1fffffe},
	{90402, 0x1ffffff, 9, 1, 2, 3, 1u << 31 | 1 << 6 | 0x3f, {1, 2, 3}, 0x3f, 1},
	{90500, 0x1ffffff, 9, 1, 2, 3, 1u << 30 | 0x20, {1, 2, 3}, 0x20, 1 << 24},
	{100300, 0x1000000, 9, 1, 2, 3, 0x60, {1, 2, 3}, 0x20, 0x1000000},
	{110000, 0x2000005, 9, 1, 2, 3, 5, {1, 2, 3}, 5, 5},
	{120000,
	 0,
	 0x80017ffe,
	 0x40000000 | 0x1fffffe,
	 0xfffffff1,
	 5,
	 5,
	 {0xfffffff1, 0x7ffe, 0x8001},
	 0,
	 0x1fffffe},
	{120001, 0, 0x80017ffe, 0x3e000001, 7, 5, 5, {7, 0, 0}, 31, 1},
	{120001, 0, 0x00020001, 0xc2000000, 7, 5, 5, {7, 1, 2}, 1, 0},
};

static struct wave_saved placed(size_t i)
{
	struct wave_saved s = {0};
	s.ttmp[6] = places[i].ttmp6;
	s.ttmp[7] = places[i].ttmp7;
	s.ttmp[8] = places[i].ttmp8;
	s.ttmp[9] = places[i].ttmp9;
	s.ttmp[10] = places[i].ttmp10;
	s.ttmp[11] = places[i].ttmp11;
	return s;
}

static void test_places(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(places); i++) {
		struct waves_area a = area_of(places[i].version, 10, true);
		const struct wave_saved s = placed(i);
		struct wave w = wave_decode(&a, &s);
		assert_true(w.placed);
		assert_memory_equal(w.group, places[i].group, sizeof(w.group));
		assert_int_equal(w.in_group, places[i].in_group);
		assert_int_equal(w.packet, places[i].packet);
		a.ttmp_setup = false;
		w = wave_decode(&a, &s);
		assert_false(w.placed || w.packet || w.in_group || w.group[0]);
	}
}

// A debugger notes in ttmp6 that a wave was launched without ttmps, since ABI 10.
static void test_noted(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(versions); i++)
		for (unsigned abi = 8; abi <= 11; abi++)
			for (unsigned marked = 0; marked < 2; marked++) {
				const uint32_t v = versions[i];
				const struct waves_area a = area_of(v, abi, true);
				struct wave_saved s = {0};
				s.ttmp[6] = 1u << 31;
				s.ttmp[is_94(v) ? 11 : 8] = marked << 31;
				assert_int_equal(wave_decode(&a, &s).placed,
						 abi < 10 || is_12(v) || (is_94(v) && !marked));
				s.ttmp[6] = INT32_MAX; // all other bits
				assert_true(wave_decode(&a, &s).placed);
			}
}

// --- the next instruction ---

// By opcode of SOPP: End, Barrier, Wait, Halt, Sleep, Trap.
static const char *const opcodes[] = {
	// gfx9 and gfx10: s_endpgm 1, s_barrier 10, s_waitcnt 12, s_sethalt 13, s_sleep 14, s_trap
	// 18
	"-E--------B-WHS---T-------------"
	"--------------------------------"
	"--------------------------------"
	"--------------------------------",
	// gfx11: s_sethalt 2, s_sleep 3, s_waitcnt 9, s_trap 16, s_endpgm 48, s_barrier 61
	"--HS-----W------T---------------"
	"----------------E------------B--"
	"--------------------------------"
	"--------------------------------",
	// gfx12: s_barrier_wait 20, s_wait_... 64 to 73
	"--HS-----W------T---B-----------"
	"----------------E---------------"
	"WWWWWWWWWW----------------------"
	"--------------------------------",
};

static char letter_at(uint32_t version, uint32_t instruction)
{
	static const char letters[] = {
		[WAVE_AT_OTHER] = '-', [WAVE_AT_BARRIER] = 'B', [WAVE_AT_WAIT] = 'W',
		[WAVE_AT_SLEEP] = 'S', [WAVE_AT_HALT] = 'H',    [WAVE_AT_TRAP] = 'T',
		[WAVE_AT_END] = 'E',
	};
	return letters[wave_at(waves_gpu_of(version), instruction)];
}

static void test_instructions(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(versions); i++) {
		const uint32_t v = versions[i];
		const char *wanted = opcodes[v < 110000 ? 0 : v < 120000 ? 1 : 2];
		for (uint32_t op = 0; op < 128; op++) {
			const uint32_t word = 0xbf800000 | op << 16;
			assert_int_equal(letter_at(v, word), wanted[op]);
			assert_int_equal(letter_at(v, word | 0xffff), wanted[op]);
			for (unsigned bit = 23; bit < 32; bit++) // another encoding
				assert_int_equal(letter_at(v, word ^ 1u << bit), '-');
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_registers), cmocka_unit_test(test_status),
		cmocka_unit_test(test_reasons),   cmocka_unit_test(test_math),
		cmocka_unit_test(test_trap),      cmocka_unit_test(test_stopped),
		cmocka_unit_test(test_parked),    cmocka_unit_test(test_places),
		cmocka_unit_test(test_noted),     cmocka_unit_test(test_instructions),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
