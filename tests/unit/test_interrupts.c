// Interrupts of GPUs, common/why/interrupts.c: what kernels have of them in files [kfd.interrupts],
// and rows of several looks.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/host/root.h"
#include "common/why/interrupts.h"

static char root[] = "/tmp/test_interrupts.XXXXXX";

static void run(const char *fmt, const char *a, const char *b)
{
	char command[256];
	snprintf(command, sizeof(command), fmt, root, a, b);
	assert_int_equal(system(command), 0); // NOLINT(cert-env33-c): words of this test
}

static void put_device(const char *bdf, const char *files)
{
	run("cd %s && d=sys/bus/pci/devices/%s && mkdir -p $d && cd $d && %s", bdf, files);
}

static void put_counts(const char *irq, const char *counts)
{
	run("cd %s && d=sys/kernel/irq/%s && mkdir -p $d && printf '%s' >$d/per_cpu_count", irq,
	    counts);
}

static int setup(void **state)
{
	(void)state;
	assert_non_null(mkdtemp(root));
	assert_int_equal(host_set_root(root), 0);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	run("rm -r %s%s%s", "", "");
	return 0;
}

static void test_counts(void **state)
{
	static const struct {
		const char *bdf;
		uint64_t n;
	} wanted[] = {
		{"0000:c0:00.0", 7}, // one interrupt, three processors
		{"0000:c1:00.0", UINT32_MAX + 12ull},
		{"0000:c2:00.0", 9},
		{"0000:c3:00.0", UINT64_MAX}, // it has none: 0 is the timer
		{"0000:c4:00.0", UINT64_MAX}, // none is in use
		{"0000:c5:00.0", UINT64_MAX}, // one of two is not counted
		{"0000:c6:00.0", UINT64_MAX}, // cut to a page
		{"0000:c7:00.0", UINT64_MAX}, // cut behind a comma
		{"0000:c8:00.0", UINT64_MAX}, // no such GPU
		{"", UINT64_MAX},
		{NULL, UINT64_MAX},
	};
	SCOPED(buf_fini) struct buf rows = {0};
	(void)state;
	put_device("0000:c0:00.0", "mkdir msi_irqs && echo msix >msi_irqs/130 && echo 0 >irq");
	put_device("0000:c1:00.0", "mkdir msi_irqs && touch msi_irqs/131 msi_irqs/132");
	put_device("0000:c2:00.0", "echo 16 >irq");
	put_device("0000:c3:00.0", "echo 0 >irq");
	put_device("0000:c4:00.0", "mkdir msi_irqs && echo 16 >irq");
	put_device("0000:c5:00.0", "mkdir msi_irqs && touch msi_irqs/130 msi_irqs/133");
	put_device("0000:c6:00.0", "mkdir msi_irqs && touch msi_irqs/134");
	put_device("0000:c7:00.0", "mkdir msi_irqs && touch msi_irqs/135");
	put_counts("0", "1,1\\n");
	put_counts("130", "3,0,4\\n");
	put_counts("131", "10,4294967295\\n");
	put_counts("132", "0,2\\n");
	put_counts("16", "9\\n");
	put_counts("134", "1,2");
	put_counts("135", "1,2,");
	for (size_t i = 0; i < COUNT(wanted); i++) {
		irqs_look(&rows, 5, wanted[i].bdf);
		assert_true(irqs_of(&rows, 5, wanted[i].bdf) == wanted[i].n);
	}
	assert_string_equal(rows.data, "5 0000:c0:00.0 7\n"
				       "5 0000:c1:00.0 4294967307\n"
				       "5 0000:c2:00.0 9\n"
				       "5 0000:c3:00.0 -\n"
				       "5 0000:c4:00.0 -\n"
				       "5 0000:c5:00.0 -\n"
				       "5 0000:c6:00.0 -\n"
				       "5 0000:c7:00.0 -\n"
				       "5 0000:c8:00.0 -\n");
	put_counts("16", "10\\n"); // a GPU is read once in a look
	put_counts("134", "1,2\\n");
	irqs_look(&rows, 5, "0000:c2:00.0");
	irqs_look(&rows, 5, "0000:c6:00.0");
	irqs_look(&rows, 6, "0000:c2:00.0");
	assert_true(irqs_of(&rows, 5, "0000:c2:00.0") == 9);
	assert_true(irqs_of(&rows, 6, "0000:c2:00.0") == 10);
	assert_true(irqs_of(&rows, 5, "0000:c6:00.0") == UINT64_MAX);
	assert_true(irqs_of(&rows, 6, "0000:c0:00.0") == UINT64_MAX);
}

// Rows as they were recorded, and damaged ones.
static void test_rows(void **state)
{
	SCOPED(buf_fini) struct buf rows = {0};
	(void)state;
	assert_true(irqs_of(&rows, 1, "0000:c0:00.0") == UINT64_MAX);
	buf_puts(&rows,
		 "\n\n1 0000:c0:00.0\n12 0000:c0:00.0 x\n11 0000:c0:00.0 2\n1 0000:c0:00.0 3");
	assert_true(irqs_of(&rows, 1, "0000:c0:00.0") == 3);
	assert_true(irqs_of(&rows, 11, "0000:c0:00.0") == 2);
	assert_true(irqs_of(&rows, 1, "0000:c0:00.1") == UINT64_MAX);
	assert_true(irqs_of(&rows, 2, "0000:c0:00.0") == UINT64_MAX);
	assert_true(irqs_of(&rows, 12, "0000:c0:00.0") == UINT64_MAX);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {cmocka_unit_test(test_counts),
						  cmocka_unit_test(test_rows)};
	return cmocka_run_group_tests(tests, setup, teardown);
}
