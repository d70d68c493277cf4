// Names of kernels of processes that come, stay and go, cmd/kernels.c: what is read, kept and
// freed; and their readable forms. The names themselves are the test's.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cmd/kernels.h"

#include "common/aql/code.h"
#include "common/host/root.h"
#include "common/reader/demangle.h"

struct code_names {
	char name[24];
	pid_t pid;
};

static struct {
	bool live, no_demangler;
	int error; // of the names of every process
	char log[128];
	unsigned demangled;
} my;

static void note(const char *what, pid_t pid)
{
	const size_t len = strlen(my.log);
	snprintf(my.log + len, sizeof(my.log) - len, "%s %d ", what, (int)pid);
}

static bool fake_is_live(void)
{
	return my.live;
}

static struct code_names *fake_new(pid_t pid)
{
	struct code_names *c = xcalloc(1, sizeof(*c));
	note("new", pid);
	c->pid = pid;
	snprintf(c->name, sizeof(c->name), "_Zk%d", (int)pid);
	return c;
}

static void fake_free(struct code_names *c)
{
	if (c)
		note("free", c->pid);
	free(c);
}

static void fake_refresh(struct code_names *c)
{
	note("refresh", c->pid);
}

static int fake_error(const struct code_names *c)
{
	(void)c;
	return my.error;
}

static const char *fake_name(struct code_names *c, uint64_t kernel_object)
{
	return kernel_object == 64 ? c->name : NULL;
}

static struct demangler *fake_demangler(void)
{
	static int it;
	note("demangler", 1);
	return my.no_demangler ? NULL : (struct demangler *)(void *)&it;
}

static void fake_demangler_free(struct demangler *d)
{
	if (d)
		note("demangler", 0);
}

static const char *fake_demangle(struct demangler *d, const char *name)
{
	static char text[24];
	assert_non_null(d);
	my.demangled++;
	snprintf(text, sizeof(text), "%s()", name + 2);
	return strcmp(name, "_Zbad") == 0 ? NULL : text;
}

#define host_is_live       fake_is_live
#define code_names_new     fake_new
#define code_names_free    fake_free
#define code_names_refresh fake_refresh
#define code_names_error   fake_error
#define code_name          fake_name
#define demangler_new      fake_demangler
#define demangler_free     fake_demangler_free
#define demangle(d, name)  fake_demangle(d, name)
#include "cmd/kernels.c" // NOLINT(bugprone-suspicious-include)

static struct buf said;

static int setup(void **state)
{
	(void)state;
	memset(&my, 0, sizeof(my));
	my.live = true;
	said.len = 0;
	buf_puts(&said, "");
	err_setup("why", false, 1);
	err_gather(&said);
	return 0;
}

// Processes with the PIDs of the digits.
static void make(struct rings *r, struct ring_process *of, const char *pids)
{
	r->processes = of;
	r->nprocesses = strlen(pids);
	for (size_t i = 0; i < r->nprocesses; i++)
		of[i] = (struct ring_process){.pid = pids[i] - '0'};
}

static void assert_log(const char *wanted)
{
	assert_string_equal(my.log, wanted);
	my.log[0] = '\0';
}

// The names of a process's kernels stay its own when processes before it come and go.
static void test_move(void **state)
{
	static const struct {
		const char *from, *to, *read, *moved, *ended;
	} cases[] = {
		{"12", "12", "new 1 new 2 ", "refresh 1 refresh 2 ", "free 1 free 2 "},
		{"12", "21", "new 1 new 2 ", "refresh 1 refresh 2 ", "free 2 free 1 "},
		{"12", "2", "new 1 new 2 ", "free 1 refresh 2 ", "free 2 "},
		{"12", "1", "new 1 new 2 ", "refresh 1 free 2 ", "free 1 "},
		{"1", "13", "new 1 ", "refresh 1 new 3 ", "free 1 free 3 "},
		{"1", "31", "new 1 ", "refresh 1 new 3 ", "free 3 free 1 "},
		{"12", "34", "new 1 new 2 ", "free 1 free 2 new 3 new 4 ", "free 3 free 4 "},
		{"12", "", "new 1 new 2 ", "free 1 free 2 ", ""},
		{"", "1", "", "new 1 ", "free 1 "},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct ring_process was[2], is[2];
		struct rings old, fresh;
		struct kernels k;
		make(&old, was, cases[i].from);
		make(&fresh, is, cases[i].to);
		kernels_begin(&k, &old, NULL);
		kernels_load(&k);
		assert_log(cases[i].read);
		kernels_move(&k, &fresh);
		assert_log(cases[i].moved);
		for (size_t p = 0; p < fresh.nprocesses; p++) {
			const struct ring_queue q = {.process = p};
			char wanted[24];
			snprintf(wanted, sizeof(wanted), "_Zk%c", cases[i].to[p]);
			assert_string_equal(kernels_name(&k, &q, 64), wanted);
			assert_null(kernels_name(&k, &q, 65));
		}
		assert_log("");
		kernels_end(&k);
		assert_log(cases[i].ended);
		kernels_end(&k); // a second time does nothing
		assert_log("");
	}
}

// Names are read when they are asked for first, and only if the memory is open. That a recorded
// host has none is not worth a note.
static void test_read(void **state)
{
	static const struct {
		int error;
		const char *said;
	} cases[] = {
		{0, ""},
		{ENOPKG, "gpq: why: pid 2: names of kernels: libelf is missing\n"},
		{ENOENT, "gpq: why: pid 2: names of kernels: it has loaded no HSA runtime that "
			 "lists its code objects\n"},
		{EACCES, "gpq: why: pid 2: names of kernels: Permission denied\n"},
	};
	struct ring_process of[2];
	const struct ring_queue first = {.process = 0}, second = {.process = 1};
	struct rings r;
	struct kernels k;
	(void)state;
	make(&r, of, "12");
	of[0].error = EACCES;
	for (size_t i = 0; i < COUNT(cases); i++) {
		my.error = cases[i].error;
		kernels_begin(&k, &r, NULL);
		assert_null(kernels_name(&k, &first, 64));
		assert_log("");
		assert_string_equal(kernels_name(&k, &second, 64), "_Zk2");
		assert_string_equal(kernels_name(&k, &second, 64), "_Zk2");
		kernels_load(&k);
		assert_log("new 2 ");
		assert_string_equal(said.data, cases[i].said); // once
		said.len = 0;
		buf_puts(&said, "");
		kernels_end(&k);
		assert_log("free 2 ");
	}
	my.live = false;
	my.error = ENOENT;
	kernels_begin(&k, &r, NULL);
	assert_null(kernels_name(&k, &first, 64));
	assert_string_equal(kernels_name(&k, &second, 64), "_Zk2");
	assert_log("new 2 ");
	assert_true(!said.len);
	kernels_end(&k);
	assert_log("free 2 ");
}

// Rows with the same name one behind the other demangle it once. Without the library names stay
// mangled.
static void test_readable(void **state)
{
	static const char a[] = "_Za", b[] = "_Zb", bad[] = "_Zbad", plain[] = "plain";
	static const struct {
		const char *name, *text;
		unsigned demangled;
	} rows[] = {{plain, "plain", 0}, {a, "a()", 1},     {a, "a()", 1},    {b, "b()", 2},
		    {a, "a()", 3},       {bad, "_Zbad", 4}, {bad, "_Zbad", 4}};
	const struct rings none = {0};
	struct kernels k;
	(void)state;
	kernels_begin(&k, &none, NULL);
	assert_null(kernels_readable(&k, a));
	k.demangles = true;
	assert_null(kernels_readable(&k, NULL));
	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_string_equal(kernels_readable(&k, rows[i].name), rows[i].text);
		assert_int_equal(my.demangled, rows[i].demangled);
	}
	kernels_end(&k);
	assert_log("demangler 1 demangler 0 ");
	my.no_demangler = true;
	kernels_begin(&k, &none, NULL);
	k.demangles = true;
	assert_string_equal(kernels_readable(&k, a), "_Za");
	assert_string_equal(kernels_readable(&k, b), "_Zb");
	kernels_end(&k);
	assert_log("demangler 1 ");
	assert_string_equal(said.data, "gpq: why: libstdc++.so.6 is missing: kernel names stay "
				       "mangled\n");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_move, setup),
		cmocka_unit_test_setup(test_read, setup),
		cmocka_unit_test_setup(test_readable, setup),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
