// common/host/demangle: expected names are C++ declarations written by hand, and their mangled
// forms what a compiler makes of them. Hostile names are made here: without limits they take hours,
// or write gigabytes.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/reader/demangle.h"

#include "common/host/std.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static int setup(void **state)
{
	*state = demangler_new();
	return *state ? 0 : -1;
}

static int teardown(void **state)
{
	demangler_free(*state);
	return 0;
}

static const char *shown(void **state, const char *name)
{
	const char *text = demangle(*state, name);
	return text ? text : "(as it is)";
}

static void test_names(void **state)
{
	static const struct {
		const char *from, *to;
	} names[] = {
		{"_Z5scalePff", "scale(float*, float)"},
		{"_Z4copyPKfPf", "copy(float const*, float*)"},
		{"_Z4copyPKfPf.kd", "copy(float const*, float*) [clone .kd]"},
		{"_ZN2at6nativeEv", "at::native()"},
		{"_Z3addIfEvPT_", "void add<float>(float*)"},
		{"_ZN12_GLOBAL__N_11kEv", "(anonymous namespace)::k()"},
		{"_ZZ4hostvENKUlvE_clEv", "host()::{lambda()#1}::operator()() const"},
		// Cut, or never mangled: f would be the type float.
		{"_Z5scalePf.", "(as it is)"},
		{"_ZN2at6nat", "(as it is)"},
		{"_Z", "(as it is)"},
		{"f", "(as it is)"},
		{"", "(as it is)"},
		{"Cijk_Ailk_Bljk_SB_MT64x64x8", "(as it is)"},
		{"void add<float>(float*)", "(as it is)"},
		{" _Z1kv", "(as it is)"},
		// What the name holds is handed on.
		{"_Z4a\033[1v", "a\033[1()"},
	};

	for (size_t i = 0; i < COUNT(names); i++)
		assert_string_equal(shown(state, names[i].from), names[i].to);
	assert_int_equal(demangler_lost(*state), 0);
}

// Each name that a log may hold when this one was cut.
static void test_cut(void **state)
{
	static const char name[] = "_ZN2at6native18elementwise_kernelILi128ELi4EZNS0_15gpu_kernel_"
				   "implIZZZNS0_23direct_"
				   "copy_kernel_cudaERNS_18TensorIteratorBaseEENKUlvE_clEvENKUlvE4_"
				   "clEvEUlfE_EEvS4_RKT_"
				   "EUliE_EEviT1_";
	char cut[sizeof(name)];
	for (size_t n = 0; n < sizeof(name); n++) {
		memcpy(cut, name, n);
		cut[n] = 0;
		demangle(*state, cut);
	}
	assert_true(strncmp(shown(state, name), "void at::native::elementwise_kernel<128, 4, ",
			    44) == 0);
	assert_int_equal(demangler_lost(*state), 0);
}

// Nested `n` times: before, n times between, in the middle, n times behind.
static char *nested(size_t n, const char *head, const char *open, const char *middle,
		    const char *close, const char *tail)
{
	struct buf b = {0};
	buf_puts(&b, head);
	for (size_t i = 0; i < n; i++)
		buf_puts(&b, open);
	buf_puts(&b, middle);
	for (size_t i = 0; i < n; i++)
		buf_puts(&b, close);
	buf_puts(&b, tail);
	return b.data;
}

// Deep, and answered: with a name or a refusal, but by a child that lives.
static void test_deep(void **state)
{
	static const size_t depth[] = {100, 1000, 2000, 4000, 100000};
	for (size_t i = 0; i < COUNT(depth); i++) {
		char *names[] = {
			nested(depth[i], "_Z1f", "P", "i", "", ""),
			nested(depth[i], "_ZN", "1a", "", "", "Ev"),
			nested(depth[i], "_Z1fI", "1aI", "i", "E", "Evv"),
			nested(depth[i], "_Z1f", "PF", "v", "vE", ""),
			nested(depth[i], "_Z1fIX", "cvi", "Li1E", "", "EEvv"),
			nested(depth[i], "_Z1fI", "J", "i", "E", "Evv"),
		};
		for (size_t k = 0; k < COUNT(names); k++) {
			const char *text = demangle(*state, names[k]);
			assert_true(!text || strlen(text) <= DEMANGLE_TO_MOST);
			assert_true(!text || strlen(names[k]) <= DEMANGLE_FROM_MOST);
			free(names[k]);
		}
	}
	assert_int_equal(demangler_lost(*state), 0);
	assert_string_equal(shown(state, "_Z1kv"), "k()");
}

// f(A<int, int>, A<that, that>, A<that, that>, ...): each argument is twice as long as the one
// before.
static char *doubled(unsigned n)
{
	struct buf b = {0};
	buf_puts(&b, "_Z1f1AIiiE");
	for (unsigned i = 0; i < n; i++) {
		char last = (char)(i < 10 ? '0' + i : 'A' + i - 10);
		buf_printf(&b, "S_IS%c_S%c_E", last, last);
	}
	return b.data;
}

// Twice the tries for each level, of a conversion's type.
static char *retried(unsigned n)
{
	return nested(n, "_ZcvT_I", "T_I", "i", "E", "Ev");
}

static void test_hostile(void **state)
{
	char *text = doubled(4), *slow = retried(100), *large = doubled(30);
	struct rusage used;
	// Within the limits it is right. "A<int, int>" has 11 characters, the next argument 2 * 11
	// + 6, and so on: 11 + 28 + 62 + 130 + 266, and "f(, , , , )".
	assert_int_equal(strlen(shown(state, text)), 508);
	free(text);
	text = doubled(12); // 139,000 bytes in no time: more than can be read
	assert_null(demangle(*state, text));
	free(text);
	assert_int_equal(demangler_lost(*state), 0);

	assert_null(demangle(*state, slow));
	assert_int_equal(demangler_lost(*state), 1);
	getrusage(RUSAGE_CHILDREN, &used);
	assert_int_equal(used.ru_utime.tv_sec, 0);
	assert_string_equal(shown(state, "_Z1kv"), "k()"); // by another child
	assert_null(demangle(*state, large));
	assert_int_equal(demangler_lost(*state), 2);
	getrusage(RUSAGE_CHILDREN, &used);
	assert_true(used.ru_maxrss < 500 << 10);
	assert_string_equal(shown(state, "_Z1kv"), "k()");
	while (demangler_lost(*state) < DEMANGLE_LOST_MOST)
		assert_null(demangle(*state, slow));
	assert_null(demangle(*state, "_Z1kv")); // it has given up
	free(slow);
	free(large);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_names, setup, teardown),
		cmocka_unit_test_setup_teardown(test_cut, setup, teardown),
		cmocka_unit_test_setup_teardown(test_deep, setup, teardown),
		cmocka_unit_test_setup_teardown(test_hostile, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
