// GPU cores, common/waves/core.c: the bytes of a file by the format of [waves.core] and
// [waves.core-note], files that are damaged in one place each, and memory across segments.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <sys/mman.h>

#include "common/waves/core.h"

// --- a core of two GPUs, three queues and three segments, byte by byte ---

enum {
	PAGES = 4096,
	LOADS = 3,
	NOTE_AT = 64 + 56 * (1 + LOADS),
	DESC_AT = NOTE_AT + 20,
	GPUS_AT = DESC_AT + 40 + 16,
	QUEUES_AT = GPUS_AT + 2 * 120,
	NOTE_END = QUEUES_AT + 3 * 64,
	MEMORY_AT = 4096,
	FILE_SIZE = MEMORY_AT + 4 * PAGES,
};

static uint8_t file[FILE_SIZE + 2 * PAGES];

static void put(size_t at, unsigned size, uint64_t value)
{
	for (unsigned i = 0; i < size; i++)
		file[at + i] = (uint8_t)(value >> 8 * i);
}

static void put_load(unsigned i, uint64_t address, uint64_t offset, uint64_t size)
{
	const size_t at = 64 + 56 * (i + 1);
	put(at, 4, 1);
	put(at + 4, 4, 6);
	put(at + 8, 8, offset);
	put(at + 16, 8, address);
	put(at + 32, 8, size);
	put(at + 40, 8, size);
	put(at + 48, 8, 4096);
}

static const uint64_t at_data = 0x7f0000001000, at_filled = 0x7f0000005000;

static void make_file(void)
{
	memset(file, 0, sizeof(file));
	memcpy(file,
	       "\x7f"
	       "ELF\2\1\1\x40",
	       9);
	put(16, 2, 4);
	put(18, 2, 224);
	put(20, 4, 1);
	put(32, 8, 64);
	put(52, 2, 64);
	put(54, 2, 56);
	put(56, 2, 1 + LOADS);
	put(64, 4, 4);
	put(64 + 8, 8, NOTE_AT);
	put(64 + 32, 8, NOTE_END - NOTE_AT);
	put(64 + 40, 8, NOTE_END - NOTE_AT);
	put(64 + 48, 8, 4);
	put_load(0, at_data, MEMORY_AT, PAGES);
	put_load(1, at_data + PAGES, MEMORY_AT + PAGES, PAGES);
	put_load(2, at_filled, MEMORY_AT + 2 * PAGES, 2 * PAGES);
	put(NOTE_AT, 4, 7);
	put(NOTE_AT + 4, 4, NOTE_END - DESC_AT);
	put(NOTE_AT + 8, 4, 33);
	memcpy(file + NOTE_AT + 12, "AMDGPU", 7);
	put(DESC_AT, 8, 1);
	put(DESC_AT + 8, 4, 1);
	put(DESC_AT + 12, 4, 17);
	put(DESC_AT + 16, 8, 16);
	put(DESC_AT + 24, 4, 2);
	put(DESC_AT + 28, 4, 120);
	put(DESC_AT + 32, 4, 3);
	put(DESC_AT + 36, 4, 64);
	put(DESC_AT + 40, 8, 0x7f1122334455);
	put(DESC_AT + 48, 4, 1);
	put(DESC_AT + 52, 4, 5);
	for (unsigned i = 0; i < 2 * 120 + 3 * 64; i++)
		file[GPUS_AT + i] = (uint8_t)(i * 7 + i / 64);
	for (unsigned i = 0; i < 4 * PAGES; i++)
		file[MEMORY_AT + i] = (uint8_t)(i ^ i >> 8);
}

// --- writing ---

static size_t filled;
static uint64_t fill_stops;

static bool fill(void *arg, uint64_t address, void *to, size_t size)
{
	assert_ptr_equal(arg, file);
	if (address == fill_stops)
		return false;
	memcpy(to, file + MEMORY_AT + 2 * PAGES + (address - at_filled), size);
	filled += size;
	return true;
}

static struct core_state state_of_file(void)
{
	static struct kfd_device_entry gpus[2];
	static struct kfd_queue_entry queues[3];
	memcpy(gpus, file + GPUS_AT, sizeof(gpus));
	memcpy(queues, file + QUEUES_AT, sizeof(queues));
	return (struct core_state){.kfd = {1, 17},
				   .runtime = {0x7f1122334455, 1, 5},
				   .gpus = gpus,
				   .queues = queues,
				   .num_gpus = 2,
				   .num_queues = 3};
}

static int memory_file(const void *bytes, size_t size)
{
	const int fd = memfd_create("core", MFD_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, bytes, size, 0), size);
	return fd;
}

static int put_file(void *to, const void *bytes, size_t size)
{
	return write_fully(*(int *)to, bytes, size);
}

static void test_write(void **state)
{
	static uint8_t got[FILE_SIZE + 1];
	(void)state;
	make_file();
	const struct core_state s = state_of_file();
	const struct core_segment v[] = {{at_data, PAGES, file + MEMORY_AT},
					 {at_data + PAGES, PAGES, file + MEMORY_AT + PAGES},
					 {at_filled, 2 * PAGES, NULL}};
	int fd = memory_file("", 0);
	const struct core_io io = {put_file, &fd, fill, file};
	assert_int_equal(core_size(&s, v, LOADS), FILE_SIZE);
	assert_int_equal(core_write(&io, &s, v, LOADS), 0);
	assert_int_equal(filled, 2 * PAGES);
	assert_int_equal(pread(fd, got, sizeof(got), 0), FILE_SIZE);
	assert_memory_equal(got, file, FILE_SIZE);
	close(fd);
}

// What `fill` was asked for: its pieces.
static uint64_t asked[4][2];
static unsigned num_asked;

static bool fill_pieces(void *arg, uint64_t address, void *to, size_t size)
{
	(void)arg;
	memset(to, (int)(num_asked + 1), size - 1); // of the last byte nothing is known
	asked[num_asked][0] = address;
	asked[num_asked++][1] = size;
	return address != fill_stops;
}

// The file is written from its begin to its end, in pieces of at most 64 KiB.
static void test_stream(void **state)
{
	static struct core_segment many[65534];
	static uint8_t got[32 * PAGES];
	const struct core_segment v = {at_filled, 17 * PAGES, NULL};
	struct kfd_device_entry no_gpu[1];
	struct kfd_queue_entry no_queue[1];
	const struct core_state s = {.kfd = {1, 13}, .gpus = no_gpu, .queues = no_queue};
	int ends[2], none = -1;
	const struct core_io io = {put_file, &ends[1], fill_pieces, NULL},
			     nowhere = {put_file, &none, fill_pieces, NULL};
	(void)state;
	assert_int_equal(pipe(ends), 0);
	assert_true(fcntl(ends[1], F_SETPIPE_SZ, 1 << 20) > 0);
	assert_int_equal(core_write(&io, &s, &v, 1), 0);
	assert_int_equal(read(ends[0], got, sizeof(got)), 18 * PAGES);
	assert_int_equal(core_size(&s, &v, 1), 18 * PAGES);
	assert_true(got[PAGES - 1] == 0 && got[PAGES] == 1 && got[17 * PAGES - 2] == 1 &&
		    !got[17 * PAGES - 1]);
	assert_true(got[17 * PAGES] == 2 && got[18 * PAGES - 2] == 2 && !got[18 * PAGES - 1]);
	assert_true(asked[0][0] == at_filled && asked[0][1] == 65536);
	assert_true(asked[1][0] == at_filled + 65536 && asked[1][1] == PAGES);
	fill_stops = at_filled + 65536;
	num_asked = 0;
	assert_int_equal(core_write(&io, &s, &v, 1), -1);
	assert_int_equal(errno, EINTR);
	assert_int_equal(read(ends[0], got, sizeof(got)), 17 * PAGES);
	close(ends[0]);
	close(ends[1]);
	assert_int_equal(core_write(&nowhere, &s, many, 65533), -1);
	assert_int_equal(errno, EBADF);
	assert_int_equal(core_write(&nowhere, &s, many, 65534), -1);
	assert_int_equal(errno, E2BIG);
	// The heads of 70 segments end at 4056 bytes, those of 71 need a second page.
	assert_int_equal(core_size(&s, many, 69), PAGES);
	assert_int_equal(core_size(&s, many, 70), 2 * PAGES);
}

// --- reading ---

static struct core c;

static const char *open_bytes(size_t size)
{
	return core_open(&c, memory_file(file, size));
}

static void test_read(void **state)
{
	uint8_t got[3 * PAGES];
	(void)state;
	make_file();
	const struct core_state s = state_of_file();
	assert_null(open_bytes(FILE_SIZE));
	assert_true(c.state.kfd.major == 1 && c.state.kfd.minor == 17);
	assert_memory_equal(&c.state.runtime, &s.runtime, sizeof(s.runtime));
	assert_true(c.state.num_gpus == 2 && c.state.num_queues == 3);
	assert_memory_equal(c.state.gpus, s.gpus, 2 * 120);
	assert_memory_equal(c.state.queues, s.queues, 3 * 64);
	const struct memory *m = &c.memory;
	assert_true(memory_read(m, at_data, got, 2 * PAGES)); // over two segments
	assert_memory_equal(got, file + MEMORY_AT, 2 * PAGES);
	assert_true(memory_read(m, at_filled + 1, got, 2 * PAGES - 1));
	assert_memory_equal(got, file + MEMORY_AT + 2 * PAGES + 1, 2 * PAGES - 1);
	assert_true(memory_read(m, at_filled + 2 * PAGES - 1, got, 1));
	assert_false(memory_read(m, at_filled + 2 * PAGES - 1, got, 2));
	assert_false(memory_read(m, at_filled + 2 * PAGES, got, 1));
	assert_false(memory_read(m, at_filled - 1, got, 2)); // nothing is between both
	assert_false(memory_read(m, at_data - 1, got, 1));
	assert_false(memory_read(m, 0, got, 1));
	assert_false(memory_read(m, UINT64_MAX, got, 1));
	core_close(&c);
	assert_false(memory_read(&c.memory, at_data, got, 1));
}

// Entries of other sizes: what is missing is 0, what is more is passed over.
static void test_other_sizes(void **state)
{
	uint8_t zeros[64] = {0};
	(void)state;
	make_file();
	put(DESC_AT + 24, 4, 3);
	put(DESC_AT + 28, 4, 128);
	put(DESC_AT + 32, 4, 1);
	put(DESC_AT + 36, 4, 48);
	assert_null(open_bytes(FILE_SIZE));
	assert_int_equal(c.state.num_gpus, 3);
	for (unsigned i = 0; i < 3; i++)
		assert_memory_equal(&c.state.gpus[i], file + GPUS_AT + 128 * i, 120);
	assert_memory_equal(c.state.queues, file + GPUS_AT + 3 * 128, 48);
	assert_memory_equal((char *)c.state.queues + 48, zeros, 16);
	core_close(&c);
	put(DESC_AT + 24, 4, 0);
	put(DESC_AT + 32, 4, 0);
	put(DESC_AT + 16, 8, 8); // a runtime_info without a state
	assert_null(open_bytes(FILE_SIZE));
	assert_true(c.state.runtime.r_debug == 0x7f1122334455 && !c.state.runtime.runtime_state);
	assert_true(c.state.num_gpus + c.state.num_queues == 0);
	core_close(&c);
}

// The note may be any of a segment's; segments may be in any order, empty, or overlap.
static void test_other_orders(void **state)
{
	uint8_t got[2];
	(void)state;
	make_file();
	put(64 + 8, 8, FILE_SIZE);
	put(64 + 32, 8, 20 + 5 + 3 + NOTE_END - NOTE_AT);
	memcpy(file + FILE_SIZE, "\5\0\0\0\5\0\0\0\x21\0\0\0COREx\0\0\0vwxyz\0\0\0", 29);
	memcpy(file + FILE_SIZE + 28, file + NOTE_AT, NOTE_END - NOTE_AT);
	put_load(0, at_filled, MEMORY_AT + 2 * PAGES, 2 * PAGES);
	put_load(1, at_filled + PAGES, MEMORY_AT, PAGES);
	put_load(2, at_filled, FILE_SIZE, 0);
	assert_null(open_bytes(FILE_SIZE + 28 + NOTE_END - NOTE_AT));
	assert_int_equal(c.state.num_queues, 3);
	assert_true(memory_read(&c.memory, at_filled + PAGES - 1, got, 2));
	assert_int_equal(got[0], file[MEMORY_AT + 3 * PAGES - 1]);
	assert_int_equal(got[1], file[MEMORY_AT]);
	assert_true(memory_read(&c.memory, at_filled, got, 2));
	core_close(&c);
}

// One number of the file is another one: what is said of it.
static void test_damaged(void **state)
{
	static const char no_core[] = "it is no GPU core", cut[] = "it is cut off",
			  no_note[] = "it has no note", cut_note[] = "its note is cut off",
			  host[] =
				  "it has no note of a GPU's state: it is a core of a host process",
			  many[] = "its note has more GPUs or queues than a host can have",
			  version[] = "its note has a layout of another version";
	static const struct {
		size_t at;
		unsigned size;
		uint64_t value;
		const char *wrong;
	} rows[] = {
		{0, 1, 0x7e, no_core},
		{3, 1, 'G', no_core},
		{4, 1, 1, no_core},
		{5, 1, 2, no_core},
		{16, 2, 2, no_core},
		{32, 8, INT64_MAX, cut},
		{32, 8, INT64_MAX + UINT64_C(1), no_core},
		{54, 2, 64, no_core},
		{56, 2, 0, no_note},
		{56, 2, 1, NULL}, // a note and no memory
		{64, 4, 6, no_note},
		{64 + 8, 8, FILE_SIZE + 1, cut},
		{64 + 8, 8, FILE_SIZE, cut},
		{64 + 8, 8, UINT64_MAX, cut},
		{64 + 32, 8, UINT64_MAX, cut},
		{64 + 32, 8, NOTE_END - NOTE_AT - 1, host},
		{64 + 32, 8, 11, host},
		{64 + 56 + 8, 8, FILE_SIZE - PAGES, NULL},
		{64 + 56 + 8, 8, FILE_SIZE - PAGES + 1, cut},
		{64 + 56 + 16, 8, UINT64_MAX - PAGES, NULL},
		{64 + 56 + 16, 8, UINT64_MAX - PAGES + 1, cut},
		{NOTE_AT, 4, 6, host},
		{NOTE_AT, 4, UINT32_MAX, host},
		{NOTE_AT + 4, 4, UINT32_MAX, host},
		{NOTE_AT + 4, 4, NOTE_END - DESC_AT + 1, host},
		{NOTE_AT + 4, 4, NOTE_END - DESC_AT - 1, cut_note},
		{NOTE_AT + 4, 4, 40, cut_note},
		{NOTE_AT + 4, 4, 39, cut_note},
		{NOTE_AT + 8, 4, 32, host},
		{NOTE_AT + 12, 1, 'B', host},
		{NOTE_AT + 18, 1, 'X', host},
		{NOTE_AT + 19, 1, 'X', NULL}, // padding
		{DESC_AT, 8, 2, version},
		{DESC_AT + 16, 8, 17, cut_note},
		{DESC_AT + 16, 8, NOTE_END - DESC_AT - 40, cut_note},
		{DESC_AT + 16, 8, NOTE_END - DESC_AT, cut_note},
		{DESC_AT + 16, 8, NOTE_END - DESC_AT + 1, many},
		{DESC_AT + 16, 8, UINT64_MAX, many},
		{DESC_AT + 24, 4, 1, NULL},
		{DESC_AT + 24, 4, 1024, cut_note},
		{DESC_AT + 24, 4, 1025, many},
		{DESC_AT + 28, 4, 121, cut_note},
		{DESC_AT + 32, 4, 4, cut_note},
		{DESC_AT + 32, 4, 65536, cut_note},
		{DESC_AT + 32, 4, 65537, many},
		{DESC_AT + 36, 4, UINT32_MAX, cut_note},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		make_file();
		put(rows[i].at, rows[i].size, rows[i].value);
		const char *wrong = open_bytes(FILE_SIZE);
		if ((wrong == NULL) != (rows[i].wrong == NULL) ||
		    (wrong && strcmp(wrong, rows[i].wrong) != 0))
			fail_msg("row %zu: %s", i, wrong ? wrong : "opened");
		if (!wrong)
			core_close(&c);
		assert_int_equal(c.fd, -1);
	}
	// 65536 queues of no size cost as much memory as 65536 real ones, and no more.
	make_file();
	put(DESC_AT + 32, 4, 65536);
	put(DESC_AT + 36, 4, 0);
	assert_null(open_bytes(FILE_SIZE));
	assert_true(c.state.num_queues == 65536 && !c.state.queues[65535].queue_id);
	core_close(&c);
}

static void test_cut(void **state)
{
	int ends[2];
	(void)state;
	make_file();
	for (size_t size = 0; size < FILE_SIZE; size += size < 1500 ? 1 : PAGES / 4)
		assert_non_null(open_bytes(size));
	assert_int_equal(pipe(ends), 0);
	assert_string_equal(core_open(&c, ends[0]), "it is no file");
	close(ends[1]);
	assert_string_equal(core_open(&c, -1), "it is no file");
}

// The number that stands at an address of the image; -1: the image ends before.
static int image_byte(int image, uint64_t address)
{
	uint8_t byte;
	return pread(image, &byte, 1, (off_t)address) == 1 ? byte : -1;
}

// An image has the memory at its addresses; of segments what fits its limits.
static void test_image(void **state)
{
	enum { MANY = 9 };
	const uint64_t most = 64 << 20, base = 0x10000000000;
	uint8_t got[2 * PAGES];
	(void)state;
	make_file();
	assert_null(open_bytes(FILE_SIZE));
	int image = core_image(&c);
	core_close(&c);
	assert_int_equal(pread(image, got, 2 * PAGES, (off_t)at_filled), 2 * PAGES);
	assert_memory_equal(got, file + MEMORY_AT + 2 * PAGES, 2 * PAGES);
	assert_int_equal(pread(image, got, 2 * PAGES, (off_t)at_data), 2 * PAGES);
	assert_memory_equal(got, file + MEMORY_AT, 2 * PAGES);
	assert_int_equal(image_byte(image, at_data - 1), 0);
	assert_int_equal(image_byte(image, at_filled + 2 * PAGES), -1);
	close(image);
	// Segments of 64 MiB, of which the first bytes are 1, 2 ...: eight of them are 512 MiB. One
	// is a byte longer, and one has the next address.
	for (unsigned last = 0; last <= 1; last++) {
		memset(file, 0, sizeof(file));
		make_file();
		put(56, 2, 1 + MANY + 1);
		memmove(file + 64 + 56 * (1 + MANY + 1), file + NOTE_AT, NOTE_END - NOTE_AT);
		put(64 + 8, 8, 64 + 56 * (1 + MANY + 1));
		for (unsigned i = 0; i <= MANY; i++)
			put_load(i, base + 2 * most * i, FILE_SIZE + most * i, most + (i == last));
		const int fd = memory_file(file, FILE_SIZE);
		for (unsigned i = 0; i <= MANY; i++) {
			const uint8_t byte = (uint8_t)(i + 1);
			assert_int_equal(pwrite(fd, &byte, 1, (off_t)(FILE_SIZE + most * i)), 1);
		}
		assert_int_equal(ftruncate(fd, (off_t)(FILE_SIZE + most * (MANY + 2))), 0);
		assert_null(core_open(&c, fd));
		image = core_image(&c);
		core_close(&c);
		for (unsigned i = 0; i < MANY; i++)
			assert_int_equal(image_byte(image, base + 2 * most * i),
					 i == last ? 0 : i + 1);
		assert_int_equal(image_byte(image, base + 2 * most * MANY), -1);
		close(image);
	}
}

// Where the waves of a queue are: what the note says of its GPU and runtime.
static void test_area(void **state)
{
	struct kfd_device_entry gpus[] = {
		{.gpu_id = 7, .gfx_target_version = 90402, .num_xcc = 4, .debug_prop = 1 << 10},
		{.gpu_id = 8, .gfx_target_version = 90010, .num_xcc = 65},
		{.gpu_id = 9, .gfx_target_version = 1, .num_xcc = 0}};
	const struct kfd_queue_entry q[] = {
		{.gpu_id = 7, .ctx_save_restore_address = 99, .ctx_save_restore_area_size = 5},
		{.gpu_id = 8},
		{.gpu_id = 9},
		{.gpu_id = 10}};
	struct core_state s = {.gpus = gpus, .num_gpus = 3};
	(void)state;
	make_file();
	put(MEMORY_AT, 4, 9); // the version of r_debug
	assert_null(open_bytes(FILE_SIZE));
	s.runtime.r_debug = at_data;
	struct waves_area a = core_area(&s, &q[0], &c.memory);
	assert_ptr_equal(a.gpu, waves_gpu_of(90402));
	assert_true(a.address == 99 && a.size == 5 && a.abi == 9 && a.ttmp_setup);
	a = core_area(&s, &q[1], &c.memory);
	assert_ptr_equal(a.gpu, waves_gpu_of(90010));
	assert_false(a.ttmp_setup);
	s.runtime.ttmp_setup = 1;
	s.runtime.r_debug = at_data - 1;
	a = core_area(&s, &q[1], &c.memory);
	assert_true(a.ttmp_setup && a.abi == UINT32_MAX);
	assert_null(core_area(&s, &q[2], &c.memory).gpu);
	assert_null(core_area(&s, &q[3], &c.memory).gpu);
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(core_xccs(&s, &q[i]), i == 0 ? 4 : i == 1 ? 64 : 1);
	core_close(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_write),        cmocka_unit_test(test_stream),
		cmocka_unit_test(test_read),         cmocka_unit_test(test_other_sizes),
		cmocka_unit_test(test_other_orders), cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_cut),          cmocka_unit_test(test_image),
		cmocka_unit_test(test_area),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
