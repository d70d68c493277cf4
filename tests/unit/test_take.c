// Memory for GPU cores, common/waves/take.c: which pages are taken, in which order, and until when.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/host/clock.h"
#include "common/waves/take.h"

#define PAGE 4096u

// --- the memory of a process: ranges of pages; each byte tells its page, unless it is poked ---

static struct range {
	uint64_t start, end;
} ranges[4];
static struct poke {
	uint64_t at;
	uint8_t bytes[64];
	size_t size;
} pokes[64];
static unsigned num_pokes, reads;
static uint64_t last_read;
static struct take t;
static bool slow; // a read takes longer than there is time

static bool read_process(void *arg, uint64_t address, void *to, size_t size)
{
	(void)arg;
	reads++;
	last_read = address;
	if (slow)
		t.until_ns = 0;
	for (unsigned i = 0; i < 4; i++) {
		if (address < ranges[i].start || address + size > ranges[i].end)
			continue;
		memset(to, (int)(address / PAGE % 251), size);
		for (unsigned k = 0; k < num_pokes; k++)
			if (pokes[k].at >= address && pokes[k].at + pokes[k].size <= address + size)
				memcpy((char *)to + (pokes[k].at - address), pokes[k].bytes,
				       pokes[k].size);
		return true;
	}
	return false;
}

static const struct memory process = {.fd = -1, .read = read_process};

static void begin(uint64_t start, uint64_t end)
{
	take_fini(&t);
	t = (struct take){.from = &process, .until_ns = UINT64_MAX};
	memset(ranges, 0, sizeof(ranges));
	ranges[0] = (struct range){start, end};
	num_pokes = reads = 0;
	slow = false;
}

static void poke(uint64_t at, const void *bytes, size_t size)
{
	assert_true(num_pokes < 64 && size <= 64);
	pokes[num_pokes].at = at;
	pokes[num_pokes].size = size;
	memcpy(pokes[num_pokes++].bytes, bytes, size);
}

static void poke_words(uint64_t at, unsigned n, ...)
{
	uint64_t words[8];
	va_list ap;
	va_start(ap, n);
	for (unsigned i = 0; i < n; i++)
		words[i] = va_arg(ap, uint64_t);
	va_end(ap);
	poke(at, words, n * sizeof(*words));
}

// "10 12-15": what was taken, by page.
static const char *taken(void)
{
	static char text[256];
	char *p = text;
	*p = '\0';
	for (size_t i = 0; i < t.n; i++) {
		const uint64_t first = t.v[i].address / PAGE, n = t.v[i].data.len / PAGE;
		assert_int_equal(t.v[i].address % PAGE + t.v[i].data.len % PAGE, 0);
		p += sprintf(p, n > 1 ? "%s%llx-%llx" : "%s%llx", i ? " " : "",
			     (unsigned long long)first, (unsigned long long)(first + n - 1));
	}
	return text;
}

static bool take_page(uint64_t page, uint64_t n)
{
	return take_memory(&t, page * PAGE, n * PAGE);
}

static void test_pages(void **state)
{
	uint8_t got[PAGE + 2];
	(void)state;
	begin(0x10 * PAGE, 0x20 * PAGE);
	assert_true(take_memory(&t, 0x10 * PAGE + PAGE - 1, 2));
	assert_string_equal(taken(), "10-11");
	assert_int_equal(reads, 2);
	assert_true(take_memory(&t, 0x10 * PAGE, 2 * PAGE));
	assert_int_equal(reads, 2); // all is there
	assert_true(take_memory(&t, 0x10 * PAGE, 2 * PAGE + 1));
	assert_int_equal(reads, 3);
	assert_string_equal(taken(), "10-12");
	assert_true(take_page(0x16, 1) && take_page(0x14, 1));
	assert_string_equal(taken(), "10-12 14 16");
	assert_int_equal(t.n, 3);
	reads = 0;
	assert_true(take_page(0x11, 7));
	assert_int_equal(reads, 3); // 13, 15 and 17
	assert_string_equal(taken(), "10-17");
	assert_true(take_read(&t, 0x10 * PAGE + 7, got, 1) && got[0] == 0x10);
	assert_true(take_read(&t, 0x12 * PAGE - 1, got, PAGE + 2)); // what was taken apart
	assert_true(got[0] == 0x11 && got[1] == 0x12 && got[PAGE] == 0x12 && got[PAGE + 1] == 0x13);
	assert_true(take_read(&t, 0x17 * PAGE + PAGE - 1, got, 1));
	assert_false(take_read(&t, 0x17 * PAGE + PAGE - 1, got, 2));
	assert_false(take_read(&t, 0x10 * PAGE - 1, got, 1));
	assert_true(take_memory(&t, 0x30 * PAGE, 0)); // nothing
	reads = 0;
	assert_false(take_memory(&t, UINT64_MAX, 1));
	assert_false(take_memory(&t, INT64_MAX + UINT64_C(1), 1));
	assert_false(take_memory(&t, 1, INT64_MAX));
	assert_false(take_memory(&t, INT64_MAX - 5, 6));
	assert_int_equal(reads, 0);
}

// What can be read of 64 KiB is taken; behind a page that cannot nothing more is asked for.
static void test_holes(void **state)
{
	(void)state;
	begin(0x10 * PAGE, 0x13 * PAGE);
	ranges[1] = (struct range){0x14 * PAGE, 0x100 * PAGE};
	assert_false(take_page(0x10, 0x40));
	assert_string_equal(taken(), "10-12 14-1f");
	assert_int_equal(reads, 16);
	assert_false(take_page(0x0f, 2));
	assert_true(take_page(0x14, 0x21));
	assert_string_equal(taken(), "10-12 14-34");
	assert_false(t.late);
}

static void test_deadline(void **state)
{
	(void)state;
	begin(0x10 * PAGE, 0x20 * PAGE);
	t.until_ns = clock_ns();
	assert_false(take_page(0x10, 1));
	assert_true(t.late && !reads && !t.n);
	t.late = false;
	t.until_ns = clock_ns() + UINT64_C(3600000000000);
	slow = true;
	assert_false(take_page(0x10, 2)); // it was read too late
	assert_true(t.late && reads && !t.n);
	t.until_ns = clock_ns() + UINT64_C(3600000000000);
	slow = t.late = false;
	assert_true(take_page(0x10, 2));
	assert_string_equal(taken(), "10-11");
	assert_false(t.late);
}

// --- queues ---

static struct kfd_queue_entry aql_queue(void)
{
	return (struct kfd_queue_entry){.ring_base_address = 0x100 * PAGE,
					.ring_size = PAGE,
					.read_pointer_address = 0x104 * PAGE + 0x80,
					.write_pointer_address = 0x106 * PAGE,
					.ctx_save_restore_address = 0x110 * PAGE,
					.ctx_save_restore_area_size = 8 * PAGE,
					.queue_type = KFD_SNAPSHOT_COMPUTE_AQL};
}

static void poke_area(uint64_t at, uint32_t stack, uint32_t end)
{
	const uint32_t head[4] = {stack, 8, end, 16};
	poke(at, head, sizeof(head));
}

static void test_queue(void **state)
{
	struct kfd_queue_entry q = aql_queue();
	(void)state;
	begin(0x100 * PAGE, 0x120 * PAGE);
	poke_area(0x110 * PAGE, 3 * PAGE, 5 * PAGE);
	poke_area(0x118 * PAGE, 2 * PAGE, 8 * PAGE);
	assert_null(take_queue(&t, &q, 2));
	assert_string_equal(taken(), "100 104 106 110 113-114 118 11a-11f");
	begin(0x100 * PAGE, 0x120 * PAGE);
	poke_area(0x110 * PAGE, 0, 0); // idle
	assert_null(take_queue(&t, &q, 1));
	assert_string_equal(taken(), "100 104 106 110");
	q.read_pointer_address -= 1; // the page before has the begin of amd_queue_t
	assert_null(take_queue(&t, &q, 1));
	assert_string_equal(taken(), "100 103-104 106 110");
	begin(0x100 * PAGE, 0x120 * PAGE);
	poke_area(0x110 * PAGE, 0, 0);
	q.read_pointer_address = 0x105 * PAGE - 128;
	q.queue_type = KFD_SNAPSHOT_SDMA;
	assert_null(take_queue(&t, &q, 1));
	assert_string_equal(taken(), "100 104 106"); // no save area
	q.queue_type = KFD_SNAPSHOT_COMPUTE;
	assert_null(take_queue(&t, &q, 1));
	assert_string_equal(taken(), "100 104 106 110");
	q.queue_type = KFD_SNAPSHOT_COMPUTE_AQL;
	q.read_pointer_address += 1;
	assert_null(take_queue(&t, &q, 1)); // 128 bytes behind it
	assert_string_equal(taken(), "100 104-106 110");
}

static void test_bad_queue(void **state)
{
	static const char area[] = "its save area cannot be read",
			  head[] = "the header of its save area makes no sense",
			  waves[] = "its waves cannot be read",
			  indices[] = "its indices cannot be read",
			  ring[] = "its ring cannot be read";
	static const struct {
		uint32_t stack, end;
		uint64_t gone; // page
		const char *wrong;
	} rows[] = {
		{PAGE, 2 * PAGE, 0, NULL},         {PAGE, 8 * PAGE, 0, NULL},
		{PAGE, 8 * PAGE + 1, 0, head},     {2 * PAGE, 2 * PAGE, 0, NULL},
		{2 * PAGE + 1, 2 * PAGE, 0, head}, {PAGE, 2 * PAGE, 0x110, area},
		{PAGE, 2 * PAGE, 0x111, waves},    {PAGE, 2 * PAGE, 0x104, indices},
		{PAGE, 2 * PAGE, 0x106, indices},  {PAGE, 2 * PAGE, 0x100, ring},
		{PAGE, 2 * PAGE, 0x112, NULL},
	};
	const struct kfd_queue_entry q = aql_queue();
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		begin(0x100 * PAGE, 0x120 * PAGE);
		if (rows[i].gone) {
			ranges[0].end = rows[i].gone * PAGE;
			ranges[1] = (struct range){(rows[i].gone + 1) * PAGE, 0x120 * PAGE};
		}
		poke_area(0x110 * PAGE, rows[i].stack, rows[i].end);
		const char *wrong = take_queue(&t, &q, 1);
		if ((wrong == NULL) != (rows[i].wrong == NULL) ||
		    (wrong && strcmp(wrong, rows[i].wrong) != 0))
			fail_msg("row %zu: %s", i, wrong ? wrong : "taken");
	}
}

// --- dispatches ---

static void poke_packet(unsigned slot, unsigned type, uint64_t kernel, uint64_t kernarg)
{
	uint8_t packet[64] = {(uint8_t)type};
	memcpy(packet + 32, &kernel, 8);
	memcpy(packet + 40, &kernarg, 8);
	poke(0x100 * PAGE + slot * 64, packet, sizeof(packet));
}

static void begin_ring(uint64_t read, uint64_t write)
{
	begin(0x100 * PAGE, 0x200 * PAGE);
	poke_area(0x110 * PAGE, 0, 0);
	for (unsigned i = 0; i < 8; i++)
		poke_packet(i, 2, (0x130 + i) * PAGE, (0x140 + 4 * i) * PAGE);
	for (unsigned i = 0; i < 8; i++)
		poke_words((0x130 + i) * PAGE + 8, 1, UINT64_C(0)); // no arguments
	poke_words(0x104 * PAGE + 0x80, 1, read);
	poke_words(0x106 * PAGE, 1, write);
}

static const char *dispatches(bool kernarg, uint32_t ring_size)
{
	static char text[256];
	struct kfd_queue_entry q = aql_queue();
	q.ring_size = ring_size;
	assert_null(take_queue(&t, &q, 1));
	take_dispatches(&t, &q, kernarg);
	strcpy(text, strstr(taken(), "110") + 3);
	return text;
}

static void test_dispatches(void **state)
{
	(void)state;
	begin_ring(2, 4);
	assert_string_equal(dispatches(false, 512), " 132-133");
	begin_ring(2, 4);
	assert_string_equal(dispatches(true, 512), " 132-133 148 14c");
	begin_ring(7 + 8, 9 + 8); // the ring wraps
	assert_string_equal(dispatches(false, 512), " 130 137");
	begin_ring(1, UINT64_MAX); // no more than the ring has
	assert_string_equal(dispatches(false, 512), " 130-137");
	begin_ring(1, 1);
	assert_string_equal(dispatches(true, 512), "");
	begin_ring(0, 3);
	poke_packet(1, 3, 0x138 * PAGE, 0x160 * PAGE); // a barrier has no kernel
	assert_string_equal(dispatches(true, 512), " 130 132 140 148");
	begin_ring(0, 3); // no kernel; no arguments; a kernel that cannot be read
	poke_packet(0, 2, 0, 0x160 * PAGE);
	poke_packet(1, 2, 0x131 * PAGE, 0);
	poke_packet(2, 2, 0x300 * PAGE, 0x170 * PAGE);
	assert_string_equal(dispatches(true, 512), " 131 170");
	assert_int_equal(t.ncode, 1);
	assert_int_equal(t.code[0], 0x131 * PAGE);
	// A descriptor over two pages.
	begin_ring(0, 1);
	poke_packet(0, 2, 0x132 * PAGE - 63, 0);
	assert_string_equal(dispatches(true, 512), " 131-132");
}

static void test_arguments(void **state)
{
	static const struct {
		uint32_t size;
		const char *taken;
	} rows[] = {{1, " 130 140"},
		    {4096, " 130 140"},
		    {4097, " 130 140-141"},
		    {65536, " 130 140-14f"},
		    {65537, " 130 140-14f"}};
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		begin_ring(0, 1);
		poke_words(0x130 * PAGE + 8, 1, (uint64_t)rows[i].size);
		assert_string_equal(dispatches(true, 512), rows[i].taken);
	}
}

// Other queues have no AQL packets.
static void test_other_rings(void **state)
{
	struct kfd_queue_entry q = aql_queue();
	(void)state;
	begin_ring(0, 3);
	q.queue_type = KFD_SNAPSHOT_COMPUTE;
	assert_null(take_queue(&t, &q, 1));
	take_dispatches(&t, &q, true);
	assert_string_equal(taken(), "100 104 106 110");
	q.queue_type = KFD_SNAPSHOT_COMPUTE_AQL;
	q.ring_size = 63;
	take_dispatches(&t, &q, true);
	assert_string_equal(taken(), "100 104 106 110");
}

// --- code objects ---

static void poke_link(uint64_t at, uint64_t base, uint64_t name, uint64_t next)
{
	poke_words(at, 5, base, name, UINT64_C(0), next, UINT64_C(0));
}

static void test_list(void **state)
{
	(void)state;
	begin(0x10 * PAGE, 0x100 * PAGE);
	poke_words(0x10 * PAGE, 2, UINT64_C(9), 0x12 * PAGE);
	poke_link(0x12 * PAGE, 0x50 * PAGE, 0x20 * PAGE, 0x14 * PAGE);
	poke_link(0x14 * PAGE, 0x60 * PAGE, 0x22 * PAGE + PAGE - 5, 0x16 * PAGE);
	poke_link(0x16 * PAGE, 0x70 * PAGE, 0x28 * PAGE, 0);
	poke(0x20 * PAGE, "file:///a", 10);
	poke(0x23 * PAGE + 8, "", 1); // a name that ends on the next page
	poke(0x28 * PAGE, "memory://1#offset=0x90000&size=9000", 36);
	assert_true(take_list(&t, 0x10 * PAGE));
	assert_string_equal(taken(), "10 12 14 16 20 22-23 28");
	assert_int_equal(t.ncode, 3);
	assert_true(t.code[0] == 0x50 * PAGE && t.code[1] == 0x60 * PAGE &&
		    t.code[2] == 0x70 * PAGE);
	assert_false(take_list(&t, 0x100 * PAGE));
	assert_false(take_list(&t, 0));
}

static void test_bad_list(void **state)
{
	(void)state;
	begin(0x10 * PAGE, 0x100 * PAGE);
	poke_words(0x10 * PAGE, 2, UINT64_C(9), 0x12 * PAGE);
	poke_link(0x12 * PAGE, 0x50 * PAGE, 0x30 * PAGE, 0x100 * PAGE); // the next one is nowhere
	assert_false(take_list(&t, 0x10 * PAGE));
	assert_string_equal(taken(), "10 12 30-33"); // of a name without an end four pages
	begin(0x10 * PAGE, 0x100 * PAGE);
	poke_words(0x10 * PAGE, 2, UINT64_C(9), 0x12 * PAGE);
	poke_link(0x12 * PAGE, 0x50 * PAGE, 0x100 * PAGE - 5, 0x12 * PAGE); // in a circle
	assert_true(take_list(&t, 0x10 * PAGE));
	assert_int_equal(t.ncode, 16384);
	begin(0x10 * PAGE, 0x100 * PAGE);
	poke_words(0x10 * PAGE, 2, UINT64_C(9), UINT64_C(0)); // no code object
	assert_true(take_list(&t, 0x10 * PAGE));
	assert_int_equal(t.ncode, 0);
}

static const char maps[] = "00010000-00014000 rw-s 00000000 00:05 7 /dev/dri/renderD128\n"
			   "00014000-00018000 rw-p 00000000 00:00 0\n"
			   "00020000-00022000 r-xp 00000000 00:05 7 /usr/lib/libx.so\n"
			   "00030000-00034000 rw-s 00000000 00:05 7 /dev/kfd\n"
			   "00040000-00044000 rw-s 00000000 00:05 7 /dev/kfd2\n"
			   "00050000-00054000 rw-s 00000000 00:05 7 /dev/dri/renderD1\n"
			   "00060000-04061000 rw-s 00000000 00:05 7 /dev/dri/renderD1\n";

static void note(uint64_t address)
{
	t.code = xreallocarray(t.code, t.ncode + 1, sizeof(*t.code));
	t.code[t.ncode++] = address;
	t.cap_code = t.ncode;
}

static void test_code(void **state)
{
	(void)state;
	begin(0x10 * PAGE, 0x10000 * PAGE);
	note(0x21fff);
	note(0x20000);
	note(0x10000);
	note(0x15000); // of no file
	note(0x22000); // of none
	note(0x53fff);
	note(0x60000); // too large a mapping
	take_code(&t, maps);
	assert_string_equal(taken(), "10-13 20-21 50-53");
	take_code(&t, "");
	begin(0x10 * PAGE, 0x10000 * PAGE);
	note(0x22000);
	note(0x1ffff);
	note(0x5000000);
	take_code(&t, maps);
	assert_string_equal(taken(), "");
}

// 64 MiB of one mapping, 256 MiB of all.
static void test_much_code(void **state)
{
	static const char large[] = "10000000-14000000 rw-s 00000000 00:05 7 /dev/dri/renderD128\n"
				    "20000000-24001000 rw-s 00000000 00:05 7 /dev/dri/renderD128\n"
				    "30000000-34000000 rw-s 00000000 00:05 7 /dev/dri/renderD128\n"
				    "40000000-44000000 rw-s 00000000 00:05 7 /dev/dri/renderD128\n"
				    "50000000-53fff000 rw-s 00000000 00:05 7 /dev/dri/renderD128\n"
				    "60000000-60002000 rw-s 00000000 00:05 7 /dev/dri/renderD128\n"
				    "70000000-70001000 rw-s 00000000 00:05 7 /dev/dri/renderD128\n"
				    "80000000-80001000 rw-s 00000000 00:05 7 /dev/dri/renderD128\n";
	(void)state;
	begin(0, 0x100000 * (uint64_t)PAGE);
	for (uint64_t i = 1; i < 9; i++)
		note(i << 28);
	take_code(&t, large);
	assert_string_equal(taken(), "10000-13fff 30000-33fff 40000-43fff 50000-53ffe 70000");
}

// --- segments ---

static void check_segments(const char *of, const char *wanted)
{
	char text[512], *p = text;
	size_t n;
	struct core_segment *v = take_segments(&t, of, &n);
	*p = '\0';
	for (size_t i = 0; i < n; i++)
		p += sprintf(p, "%s%llx+%llx%s", i ? " " : "",
			     (unsigned long long)v[i].address / PAGE,
			     (unsigned long long)v[i].size / PAGE, v[i].data ? "" : "?");
	assert_string_equal(text, wanted);
	free(v);
}

static void test_segments(void **state)
{
	(void)state;
	begin(0, 0x10000 * PAGE);
	check_segments(maps, "10+4? 30+4? 50+4? 60+4001?");
	check_segments(NULL, "");
	assert_true(take_page(0x25, 1) && take_page(0x12, 1) && take_page(0x33, 2) &&
		    take_page(0x4f, 2));
	check_segments(NULL, "12+1 25+1 33+2 4f+2");
	check_segments(maps, "10+2? 12+1 13+1? 25+1 30+3? 33+2 4f+2 51+3? 60+4001?");
	ranges[0].end = 0x50 * PAGE; // what cannot be read is left out
	check_segments(maps, "10+2? 12+1 13+1? 25+1 30+3? 33+2 4f+2");
}

static void test_xccs(void **state)
{
	struct kfd_device_entry gpus[4] = {{.gpu_id = 7, .num_xcc = 4},
					   {.gpu_id = 8},
					   {.gpu_id = 9, .num_xcc = 65},
					   {.gpu_id = 10, .num_xcc = 5}};
	const struct core_state s = {.gpus = gpus, .num_gpus = 3};
	(void)state;
	for (uint32_t id = 6; id < 11; id++) {
		const struct kfd_queue_entry q = {.gpu_id = id};
		assert_int_equal(core_xccs(&s, &q), id == 7 ? 4 : id == 9 ? 64 : 1);
	}
}

static int end(void **state)
{
	(void)state;
	take_fini(&t);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pages),     cmocka_unit_test(test_holes),
		cmocka_unit_test(test_deadline),  cmocka_unit_test(test_queue),
		cmocka_unit_test(test_bad_queue), cmocka_unit_test(test_dispatches),
		cmocka_unit_test(test_arguments), cmocka_unit_test(test_other_rings),
		cmocka_unit_test(test_list),      cmocka_unit_test(test_bad_list),
		cmocka_unit_test(test_code),      cmocka_unit_test(test_much_code),
		cmocka_unit_test(test_segments),  cmocka_unit_test(test_xccs),
	};
	return cmocka_run_group_tests(tests, NULL, end);
}
