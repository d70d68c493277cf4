// Interrupts of GPUs, common/why/interrupts.c: rows of /proc/interrupts as kernels write them
// [kfd.interrupts], on a recorded host look by look.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/host/root.h"
#include "common/why/interrupts.h"

static struct buf text;
static bool live;

static ssize_t fake_read(struct buf *b, const char *path)
{
	assert_string_equal(path, "/proc/interrupts");
	if (!text.len)
		return -1;
	buf_append(b, text.data, text.len);
	buf_append(b, "", 1);
	return (ssize_t)text.len;
}

static bool fake_is_live(void)
{
	return live;
}

#define host_read    fake_read
#define host_is_live fake_is_live
#include "common/why/interrupts.c" // NOLINT(bugprone-suspicious-include)

static const char rows[] =
	"           CPU0       CPU1\n"
	"   0:         22          0  IR-IO-APIC    2-edge      timer\n"
	" 130:          3          4  IR-PCI-MSIX-0000:c0:00.0    0-edge      amdgpu\n"
	" 131:         10          0  IR-PCI-MSI-0000:c1:00.0    0-edge      amdgpu  \n"
	" 132:          0          1  IR-PCI-MSI-0000:c1:00.0    1-edge      amdgpu\n"
	" 133:          5          6  PCI-MSI 33554432-edge      amdgpu\n"
	" 134:          7          0  IR-PCI-MSI 1574912-edge      amdgpu\n"
	" 135:          8          0  IR-PCI-MSIX-0000:c2:00.0    0-edge      snd_amdgpu\n"
	" 136:          9          0  IR-PCI-MSIX-0000:c2:00.0    0-edge      nvme0q1\n"
	" 137:          9          0  IO-APIC   16-fasteoi   amdgpu\n"
	" 138:          1          0  ITS-PCI-MSIX-0002:03:00.1    0 Edge      amdgpu\n"
	" NMI:          0          0   Non-maskable interrupts\n";

static uint64_t count(const char *bdf, uint64_t ns)
{
	SCOPED(buf_fini) struct buf seen = {0};
	irqs_look(&seen, ns, NULL);
	return irqs_of(&seen, bdf);
}

static void test_rows(void **state)
{
	static const struct {
		const char *bdf;
		uint64_t n;
	} wanted[] = {
		{"0000:c0:00.0", 7},          {"0000:c1:00.0", 11},
		{"0000:40:00.0", 11}, // 33554432 is (0x40 << 8) << 11
		{"0000:03:00.1", 7},  // 1574912 is (3 << 8 | 1) << 11
		{"0002:03:00.1", 1},          {"0000:c2:00.0", UINT64_MAX},
		{"0000:00:00.0", UINT64_MAX}, {"", UINT64_MAX},
		{NULL, UINT64_MAX},
	};
	(void)state;
	live = true;
	buf_puts(&text, rows);
	for (size_t i = 0; i < COUNT(wanted); i++)
		assert_true(count(wanted[i].bdf, 5) == wanted[i].n);
	buf_fini(&text);
	assert_true(count("0000:c0:00.0", 5) == UINT64_MAX);
	buf_puts(&text, "amdgpu\n: amdgpu\n1: 99999999999999999999 amdgpu\n2: amdgpu");
	assert_true(count("0000:c0:00.0", 5) == UINT64_MAX);
	buf_fini(&text);
}

// What one look notes, a recorded host gives back at that look alone.
static void test_record(void **state)
{
	SCOPED(buf_fini) struct buf record = {0}, seen = {0};
	(void)state;
	live = true;
	buf_puts(&text, " 130: 3 4 IR-PCI-MSIX-0000:c0:00.0 0-edge amdgpu\n 131: 1 2 PCI-MSI x\n");
	irqs_look(&seen, 1000, &record);
	buf_fini(&text);
	buf_puts(&text, " 130: 3 9 IR-PCI-MSIX-0000:c0:00.0 0-edge amdgpu\n");
	irqs_look(&seen, 2000, &record);
	buf_fini(&text);
	assert_string_equal(record.data, "look 1000\n"
					 " 130: 3 4 IR-PCI-MSIX-0000:c0:00.0 0-edge amdgpu\n"
					 "look 2000\n"
					 " 130: 3 9 IR-PCI-MSIX-0000:c0:00.0 0-edge amdgpu\n");
	live = false;
	buf_puts(&text, record.data);
	assert_true(count("0000:c0:00.0", 1000) == 7);
	assert_true(count("0000:c0:00.0", 2000) == 12);
	assert_true(count("0000:c0:00.0", 1500) == UINT64_MAX);
	buf_fini(&text);
	buf_puts(&text, rows); // of one moment: nothing can be compared
	assert_true(count("0000:c0:00.0", 1000) == UINT64_MAX);
	buf_fini(&text);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows),
						  cmocka_unit_test(test_record)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
