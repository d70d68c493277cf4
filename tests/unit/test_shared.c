// What processes share, common/why/shared.c: maps that a case writes down, and as they are
// recorded.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "common/host/root.h"
#include "common/why/why.h"

static char root[] = "/tmp/gpq-shared-XXXXXX";

static void put(const char *path, const char *text)
{
	char command[1024];
	snprintf(command, sizeof(command), "mkdir -p \"$(dirname %s%s)\" && printf '%s' >%s%s",
		 root, path, text, root, path);
	assert_int_equal(system(command), 0); // NOLINT(cert-env33-c)
}

static int setup(void **state)
{
	(void)state;
	return mkdtemp(root) && host_set_root(root) == 0 ? 0 : -1;
}

static int teardown(void **state)
{
	char command[64];
	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", root);
	return system(command); // NOLINT(cert-env33-c)
}

static void test_recorded(void **state)
{
	struct ring_process of[2] = {{.pid = 5}, {.pid = 6}};
	struct rings rings = {.processes = of, .nprocesses = 2};
	struct why_process processes[2] = {0};
	struct why w = {.rings = &rings, .processes = processes};
	struct why_place place = {0};
	struct buf text = {0};
	size_t next = 0;
	(void)state;
	put("/proc/5/maps", "1000-3000 rw-s 4000 00:1f 77   /dev/shm/secret\\n"
			    "5000-6000 rw-p 0 00:1f 78   /private\\n"
			    "7000-8000 rw-s 100000 fd:05 79   /dev/dri/renderD128\\n");
	assert_true(why_place_of(&w, 0, 0x2ff8, &place));
	assert_int_equal(place.offset, 0x5ff8);
	shared_maps_text(&processes[0].maps, &text);
	assert_string_equal(text.data, "1000-3000 rw-s 4000 0:1f 77 /\n"
				       "7000-8000 rw-s 100000 fd:5 79 /renderD\n");
	// On a recorded host the file "shared" serves instead of the maps.
	put("/proc/6/shared", text.data);
	put("/proc/6/maps", "1000-3000 rw-s 4000 00:1f 99   /dev/shm/other\\n");
	assert_int_equal(why_address_of(&w, 1, &place, &next), 0x2ff8);
	assert_int_equal(why_address_of(&w, 1, &place, &next), 0);
	assert_true(why_place_of(&w, 1, 0x7010, &place));
	assert_int_equal(place.offset, 0x100010);
	assert_false(why_place_of(&w, 1, 0x5000, &place));
	buf_fini(&text);
	shared_maps_fini(&processes[0].maps);
	shared_maps_fini(&processes[1].maps);
}

// What every ROCm process has mapped, or others cannot see: no common work.
#define NOT_COMMON                                                     \
	"4000-5000 rw-s 0 00:1f 80   /dev/shm/hsakmt_shared_mem\\n"    \
	"5000-6000 rw-s 0 00:1f 81   /dev/shm/sem.hsakmt_semaphore\\n" \
	"6000-7000 r--s 0 fd:05 82   /usr/lib/gconv.cache\\n"          \
	"7000-8000 rw-s 100000 fd:05 79   /dev/dri/renderD128\\n"      \
	"8000-9000 rw-s 0 00:06 83   /dev/kfd\\n"                      \
	"b000-c000 rw-s 0 00:06 85   /dev/infiniband/uverbs0\\n"       \
	"9000-a000 rw-p 0 fd:05 84   /private\\n"

// 5 shares a file of /dev/shm with 7, and anonymous memory with 9. With 6 it has no common work.
static void test_with(void **state)
{
	struct pids of = {0}, others = {0}, with = {0};
	(void)state;
	put("/proc/5/maps", "1000-3000 rw-s 4000 00:1f 77   /dev/shm/ring\\n"
			    "d000-e000 rw-s 0 00:01 86   /dev/zero (deleted)\\n" NOT_COMMON);
	put("/proc/6/maps", NOT_COMMON);
	put("/proc/9/maps", "a000-b000 rw-s 0 00:01 86   /dev/zero (deleted)\\n");
	put("/proc/7/maps", "f000-10000 rw-s 0 00:1f 77   /dev/shm/ring\\n");
	put("/proc/8/maps", "1000-3000 rw-s 4000 00:20 77   /dev/shm/ring\\n");
	pids_push(&of, 4); // has ended
	pids_push(&of, 5);
	for (pid_t pid = 6; pid <= 10; pid++) // the last one has ended
		pids_push(&others, pid);
	shared_maps_with(&of, &others, &with);
	assert_int_equal(with.n, 2);
	assert_int_equal(with.v[0], 7);
	assert_int_equal(with.v[1], 9);
	free(of.v);
	free(others.v);
	free(with.v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_with),
		cmocka_unit_test(test_recorded),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
