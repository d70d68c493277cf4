// common/kfd/topology.c, properties.c: what the properties of a node mean. Expected values by hand
// from [kfd.topology] and its neighbours (some of them seen on a real machine), never from the
// code.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/host/root.h"
#include "common/kfd/topology.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct kfd_gpu derived(const char *text)
{
	struct kfd_gpu g;
	kfd_gpu_init(&g);
	kfd_gpu_parse(&g, text, strlen(text));
	kfd_gpu_derive(&g);
	return g;
}

// The stepping of a gfx_target_version becomes a hexadecimal digit [kfd.gfx-version].
static void test_gfx_names(void **state)
{
	(void)state;
	static const struct {
		const char *version, *name;
	} cases[] = {
		{"90010", "gfx90a"},
		{"90402", "gfx942"},
		{"90012", "gfx90c"},
		{"100300", "gfx1030"},
		{"110000", "gfx1100"},
		{"120001", "gfx1201"},
		{"90006", "gfx906"},
		{"80003", "gfx803"},
		{"110003", "gfx1103"},
		{"10000", "gfx100"},
		{"9999", ""},
		{"991515", "gfx99ff"},
		{"991516", ""},
		{"991615", ""},
		{"999999", ""},
		{"1000000", ""},
		{"0", ""},
		{"9", ""},
		{"99999999", ""},
		{"90099", ""}, // no one hexadecimal digit
		{"18446744073709551614", ""},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[64];
		snprintf(text, sizeof(text), "gfx_target_version %s\n", cases[i].version);
		assert_string_equal(derived(text).gfx, cases[i].name);
	}
}

// [kfd.location]: bus 15:8, device 7:3, function 2:0.
static void test_address(void **state)
{
	(void)state;
	assert_string_equal(derived("location_id 2560\ndomain 0\n").bdf, "0000:0a:00.0");
	assert_string_equal(derived("location_id 49152\ndomain 1\n").bdf, "0001:c0:00.0");
	assert_string_equal(derived("location_id 65535\ndomain 65535\n").bdf, "ffff:ff:1f.7");
	// Partition number in bits 31:28, as some drivers have it.
	assert_string_equal(derived("location_id 1610615296\ndomain 0\n").bdf, "0000:0a:00.0");
	assert_string_equal(derived("location_id 4026597375\ndomain 0\n").bdf, "0000:ff:1f.7");
	assert_string_equal(derived("location_id 4294967296\ndomain 0\n").bdf, "");
	assert_string_equal(derived("location_id 0\ndomain 4294967295\n").bdf, "ffffffff:00:00.0");
	assert_string_equal(derived("location_id 0\ndomain 4294967296\n").bdf, "");
	assert_string_equal(derived("location_id 65536\ndomain 0\n").bdf, "");
	assert_string_equal(derived("location_id 134217728\ndomain 0\n").bdf, ""); // bit 27
	assert_string_equal(derived("location_id 268435456\ndomain 0\n").bdf, "0000:00:00.0");
	assert_string_equal(derived("location_id 2560\n").bdf, "");
}

// The formula [kfd.save-size] against sizes that a driver told, without giving it those sizes.
static void test_cwsr(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		uint64_t stack, total;
	} cases[] = {
		// 20 CUs per XCC of a captured MI308X [kfd.cus].
		{"simd_count 320\narray_count 16\nsimd_arrays_per_engine 1\nsimd_per_cu 4\n"
		 "gfx_target_version 90402\nnum_xcc 4\n",
		 0x2000, 0xba6000},
		// kfd-recordings: cwsr_size and ctl_stack_size that amdkfd 6.12 computed.
		{"simd_count 416\narray_count 8\nsimd_arrays_per_engine 1\nsimd_per_cu 4\n"
		 "gfx_target_version 90010\nnum_xcc 1\n",
		 36864, 63508480},
		{"simd_count 160\narray_count 8\nsimd_arrays_per_engine 2\nsimd_per_cu 2\n"
		 "gfx_target_version 100300\nnum_xcc 1\n",
		 28672, 27881472},
		{"simd_count 192\narray_count 12\nsimd_arrays_per_engine 2\nsimd_per_cu 2\n"
		 "gfx_target_version 110000\nnum_xcc 1\n",
		 40960, 46047232},
		{"simd_count 1216\narray_count 32\nsimd_arrays_per_engine 1\nsimd_per_cu 4\n"
		 "gfx_target_version 90402\nnum_xcc 8\n",
		 12288, 23203840},
		// gfx1151: 40 CUs with 384 KiB of vector registers each, as the driver's table has
		// it.
		{"simd_count 80\narray_count 4\nsimd_arrays_per_engine 2\nsimd_per_cu 2\n"
		 "gfx_target_version 110501\nnum_xcc 1\n",
		 16384, 16384 + 40 * (0x60000 + 0x4000 + 0x10000 + 0x1000)},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct kfd_gpu g = derived(cases[i].text);
		assert_true(g.cwsr_computed);
		assert_int_equal(g.ctl_stack_bytes, cases[i].stack);
		assert_int_equal(g.cwsr_bytes, cases[i].total);
	}
	struct kfd_gpu told = derived("cwsr_size 4096\nctl_stack_size 8192\nsimd_count 416\n"
				      "simd_per_cu 4\ngfx_target_version 90010\n");
	assert_false(told.cwsr_computed);
	assert_int_equal(told.cwsr_bytes, 4096);
	told = derived("cwsr_size 4096\nsimd_count 416\nsimd_per_cu 4\narray_count 8\n"
		       "simd_arrays_per_engine 1\ngfx_target_version 90010\n"); // one is missing
	assert_true(told.cwsr_computed);
	assert_int_equal(told.cwsr_bytes, 63508480);
	// A GPU that is not known yet: no guess.
	assert_true(derived("simd_count 512\nsimd_per_cu 4\ngfx_target_version 130000\n"
			    "num_xcc 1\n")
			    .cwsr_bytes == KFD_UNKNOWN);
}

// 10 CUs of each version, and of the versions beside those that [kfd.save-size] names: 0x1000 for
// the control stack of 400 or 320 waves, and 10 * (vector registers + 0x4000 + 0x1000 + LDS).
static void test_cwsr_versions(void **state)
{
	static const struct {
		unsigned version;
		uint64_t total;
	} cases[] = {
		{89999, KFD_UNKNOWN}, {90000, 3485696},  {90006, 3485696},  {90008, 6107136},
		{90009, 3485696},     {90010, 6107136},  {90400, 6107136},  {90401, 6107136},
		{90402, 6107136},     {90500, 7090176},  {100099, 3485696}, {100100, 3485696},
		{100300, 3485696},    {110000, 4796416}, {110001, 4796416}, {110002, 3485696},
		{110501, 4796416},    {120000, 4796416}, {120001, 4796416}, {120002, KFD_UNKNOWN},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[256];
		snprintf(text, sizeof(text),
			 "simd_count 40\nsimd_per_cu 4\narray_count 4\nsimd_arrays_per_engine 2\n"
			 "lds_size_in_kb 160\ngfx_target_version %u\n",
			 cases[i].version);
		struct kfd_gpu g = derived(text);
		if (g.cwsr_bytes != cases[i].total)
			fail_msg("%u: %llu", cases[i].version, (unsigned long long)g.cwsr_bytes);
		assert_int_equal(g.cwsr_computed, cases[i].total != KFD_UNKNOWN);
		assert_true(g.ctl_stack_bytes == (g.cwsr_computed ? 4096 : KFD_UNKNOWN));
		assert_int_equal(kfd_gpu_uses_mes(&g), cases[i].version >= 110000);
	}
	assert_false(kfd_gpu_uses_mes(&(struct kfd_gpu){.gfx_target_version = KFD_UNKNOWN}));
	assert_false(kfd_gpu_uses_mes(&(struct kfd_gpu){.gfx_target_version = 109999}));
	// 40 waves a CU, at most 512 an engine: 1000 and 1024 of two engines.
	static const char engines[] = "array_count 4\nsimd_arrays_per_engine 2\nsimd_per_cu 4\n"
				      "gfx_target_version 90010\nsimd_count 10";
	char text[256];
	assert_true(
		derived("simd_count 40\nsimd_per_cu 4\narray_count 4\nsimd_arrays_per_engine 2\n"
			"gfx_target_version 90500\n")
			.cwsr_bytes == KFD_UNKNOWN); // how much LDS it has is not told
	snprintf(text, sizeof(text), "%s0\n", engines);
	assert_int_equal(derived(text).ctl_stack_bytes, 8192);
	assert_int_equal(derived(text).cwsr_bytes, 15265792);
	snprintf(text, sizeof(text), "%s4\n", engines);
	assert_int_equal(derived(text).ctl_stack_bytes, 12288);
	assert_int_equal(derived(text).cwsr_bytes, 15880192);
}

// Counts from 1 to 2^20 - 1 are believed.
static void test_counts(void **state)
{
	static const struct {
		const char *text;
		uint64_t cus;
	} cases[] = {
		{"simd_count 1\nsimd_per_cu 1\n", 1},
		{"simd_count 1048575\nsimd_per_cu 1\n", 1048575},
		{"simd_count 1048576\nsimd_per_cu 1\n", KFD_UNKNOWN},
		{"simd_count 1048575\nsimd_per_cu 1048575\n", 1},
		{"simd_count 8\nsimd_per_cu 1048576\n", KFD_UNKNOWN},
		{"simd_count 0\nsimd_per_cu 4\n", KFD_UNKNOWN},
		{"simd_per_cu 4\n", KFD_UNKNOWN},
		{"simd_count 4\n", KFD_UNKNOWN},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_true(derived(cases[i].text).cus == cases[i].cus);
	assert_true(derived("num_xcc 0\n").num_xcc == KFD_UNKNOWN);
	assert_int_equal(derived("num_xcc 1\n").num_xcc, 1);
	struct kfd_gpu g = derived("");
	assert_true(g.index == KFD_UNKNOWN && g.node == KFD_UNKNOWN && g.gpu_id == KFD_UNKNOWN &&
		    g.vram_bytes == KFD_UNKNOWN && g.hive_id == KFD_UNKNOWN);
	assert_true(g.selected && !g.gfx[0] && !g.bdf[0]);
}

// Both bits of [kfd.capability], and only both.
static void test_suspend_bits(void **state)
{
	(void)state;
	assert_int_equal(derived("capability 746037888\n").can_suspend, 1); // 0x2c77a280
	assert_int_equal(derived("capability 209166976\n").can_suspend, 0); // 0x0c77a280
	assert_int_equal(derived("capability 746005120\n").can_suspend, 0); // 0x2c772280
	assert_int_equal(derived("").can_suspend, -1);
}

static void test_malformed(void **state)
{
	(void)state;
	static const char text[] = "simd_count -1\nsimd_per_cu 4x\nnum_xcc\n\nfw_version 12 3\n"
				   "unique_id 18446744073709551616\nhive_id 18446744073709551615\n"
				   "wave_front_size 64\n\001\002\003\nnum_cp_queues 24";
	struct kfd_gpu g = derived(text);
	assert_int_equal(g.bad_lines, 7);
	assert_int_equal(g.good_lines, 2);
	assert_true(g.simd_count == KFD_UNKNOWN && g.simd_per_cu == KFD_UNKNOWN);
	assert_true(g.num_xcc == KFD_UNKNOWN && g.mec_fw == KFD_UNKNOWN);
	assert_true(g.unique_id == KFD_UNKNOWN && g.hive_id == KFD_UNKNOWN);
	assert_true(g.cus == KFD_UNKNOWN && g.cwsr_bytes == KFD_UNKNOWN);
	assert_int_equal(g.wave_front_size, 64);
	assert_int_equal(g.cp_queues, 24); // no newline at the end
	// A NUL inside of a name must not end the comparison.
	static const char nul[] = "num_xcc\0num_xcc_and_much_more_behind_the_name 7\n";
	kfd_gpu_init(&g);
	kfd_gpu_parse(&g, nul, sizeof(nul) - 1);
	assert_true(g.num_xcc == KFD_UNKNOWN);
	// Numbers that only a damaged file has must not overflow or divide by zero.
	static const char *const bad[] = {
		"simd_count 18446744073709551614\nsimd_per_cu 1\ngfx_target_version 90402\n",
		"simd_count 320\nsimd_per_cu 0\ngfx_target_version 90402\nnum_xcc 4\n",
		"simd_count 320\nsimd_per_cu 4\ngfx_target_version 90402\nnum_xcc 0\n",
		("simd_count 320\nsimd_per_cu 4\narray_count 1\nsimd_arrays_per_engine 0\n"
		 "gfx_target_version 90402\nnum_xcc 1\n")};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_true(derived(bad[i]).cwsr_bytes == KFD_UNKNOWN);
}

static void test_memory(void **state)
{
	(void)state;
	static const char vram[] = "heap_type 1\nsize_in_bytes 68719476736\nflags 0\nwidth 4096\n";
	static const char hidden[] = "heap_type 2\nsize_in_bytes 4096\n";
	static const char system[] = "heap_type 0\nsize_in_bytes 4096\n";
	assert_int_equal(kfd_bank_bytes(vram, strlen(vram)), 68719476736u);
	assert_int_equal(kfd_bank_bytes(hidden, strlen(hidden)), 4096);
	assert_int_equal(kfd_bank_bytes(system, strlen(system)), 0);
	static const char other[] = "size_in_bytes 4096\nheap_type 3\n";
	assert_int_equal(kfd_bank_bytes(other, strlen(other)), 0);
	static const char sized[] = "size_in_bytes 4096\nheap_type 1\n"; // in the other order
	assert_int_equal(kfd_bank_bytes(sized, strlen(sized)), 4096);
	assert_int_equal(kfd_bank_bytes(sized, strlen(sized) - 3), 0); // no type
	assert_int_equal(kfd_bank_bytes("heap_type 1\n", 12), 0);
	assert_int_equal(kfd_bank_bytes("", 0), 0);
}

// ---- a host made for the test ---------------------------------------------------------------

static char host_dir[64];

static void put(const char *path, const char *content)
{
	char full[256];
	snprintf(full, sizeof(full), "%s%s", host_dir, path);
	for (char *p = full + strlen(host_dir) + 1; (p = strchr(p, '/')); *p++ = '/') {
		*p = '\0';
		mkdir(full, 0755);
	}
	FILE *f = fopen(full, "w");
	assert_non_null(f);
	fputs(content, f);
	fclose(f);
}

static void put_node(unsigned node, const char *file, const char *content)
{
	char path[128];
	snprintf(path, sizeof(path), "/sys/class/kfd/kfd/topology/nodes/%u/%s", node, file);
	put(path, content);
}

static void put_device_link(unsigned minor, const char *target)
{
	char path[256];
	snprintf(path, sizeof(path), "/sys/class/drm/renderD%u/dev", minor);
	put(path, "226:128\n");
	snprintf(path, sizeof(path), "%s/sys/class/drm/renderD%u/device", host_dir, minor);
	assert_int_equal(symlink(target, path), 0);
}

static int setup_host(void **state)
{
	(void)state;
	snprintf(host_dir, sizeof(host_dir), "/tmp/gpq-topology-XXXXXX");
	return mkdtemp(host_dir) ? host_set_root(host_dir) : -1;
}

static int teardown_host(void **state)
{
	(void)state;
	char command[128];
	host_set_root(NULL);
	snprintf(command, sizeof(command), "rm -rf '%s'", host_dir);
	return system(command);
}

static void test_nodes(void **state)
{
	(void)state;
	struct kfd_topology t;
	assert_int_equal(kfd_topology_load(&t, 0), -ENOENT);
	put_node(0, "gpu_id", "0\n");
	put_node(10, "gpu_id", "41460\n");
	put_node(10, "properties", "simd_count 416\nsimd_per_cu 4\nlocation_id 2560\ndomain 0\n");
	put_node(2, "gpu_id", "63420\n"); // properties vanished meanwhile
	put_node(3, "properties", "simd_count 8\n");
	put_node(4, "gpu_id/x", ""); // cannot be read: a directory
	put_node(5, "name", "gone\n");
	put_node(6, "gpu_id", "rubbish\n");
	put_node(7, "gpu_id", "4294967295\n");
	put_node(8, "gpu_id", "4294967296\n");
	put("/sys/class/kfd/kfd/topology/nodes/notanode/gpu_id", "1\n");
	assert_int_equal(kfd_topology_load(&t, 0), 0);
	assert_int_equal(t.cpu_nodes, 1);
	assert_int_equal(t.n, 7);
	static const struct {
		uint64_t node, gpu_id, index;
		int error;
	} want[] = {{2, 63420, KFD_UNKNOWN, ENOENT},
		    {3, KFD_UNKNOWN, KFD_UNKNOWN, ENOENT},
		    {4, KFD_UNKNOWN, KFD_UNKNOWN, EISDIR},
		    {6, KFD_UNKNOWN, KFD_UNKNOWN, ENOENT},
		    {7, 4294967295, KFD_UNKNOWN, ENOENT},
		    {8, KFD_UNKNOWN, KFD_UNKNOWN, ENOENT},
		    {10, 41460, 0, 0}};
	for (size_t i = 0; i < t.n; i++) {
		assert_int_equal(t.gpus[i].node, want[i].node);
		assert_true(t.gpus[i].gpu_id == want[i].gpu_id);
		assert_true(t.gpus[i].index == want[i].index);
		assert_int_equal(t.gpus[i].error, want[i].error);
	}
	assert_int_equal(t.gpus[1].simd_count, 8); // read although gpu_id is missing
	assert_ptr_equal(kfd_topology_find(&t, 41460), &t.gpus[6]);
	assert_null(kfd_topology_find(&t, 1));
	assert_null(kfd_topology_find(&t, KFD_UNKNOWN));
	kfd_topology_fini(&t);
}

// The public and the private part of the memory are banks of their own.
static void test_banks(void **state)
{
	(void)state;
	struct kfd_topology t;
	put_node(1, "gpu_id", "41460\n");
	put_node(1, "properties", "simd_count 4\n");
	put_node(1, "mem_banks/0/properties", "heap_type 1\nsize_in_bytes 1000\n");
	put_node(1, "mem_banks/1/properties", "heap_type 2\nsize_in_bytes 300\n");
	assert_int_equal(kfd_topology_load(&t, KFD_TOPOLOGY_MEMORY), 0);
	assert_int_equal(t.gpus[0].vram_bytes, 1300);
	kfd_topology_fini(&t);
	assert_int_equal(kfd_topology_load(&t, 0), 0); // not asked for
	assert_true(t.gpus[0].vram_bytes == KFD_UNKNOWN);
	kfd_topology_fini(&t);
	// What the node says of itself comes first, 0 says nothing.
	static const struct {
		const char *properties;
		uint64_t bytes;
	} cases[] = {{"simd_count 4\nlocal_mem_size 0\n", 1300},
		     {"simd_count 4\nlocal_mem_size 1\n", 1}};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		put_node(1, "properties", cases[i].properties);
		assert_int_equal(kfd_topology_load(&t, KFD_TOPOLOGY_MEMORY), 0);
		assert_int_equal(t.gpus[0].vram_bytes, cases[i].bytes);
		kfd_topology_fini(&t);
	}
}

// Names of the devices of render nodes: a domain of at least four digits, as many as fit, and
// partitions. What is no address leaves that of location_id.
static void test_device_names(void **state)
{
	static const struct {
		const char *device, *bdf;
	} cases[] = {
		{"0000:43:1f.7", "0000:43:1f.7"},
		{"000:43:00.0", "0000:0a:00.3"},
		{"00010000:43:00.0", "00010000:43:00.0"},
		{"123456789abcdef:43:00.0", "123456789abcdef:43:00.0"},
		{"0123456789abcdef:43:00.0", "0000:0a:00.3"},
		{"0000:43:00.00", "0000:0a:00.3"},
		{"0000:43:00.", "0000:0a:00.3"},
		{"0000:4g:00.0", "0000:0a:00.3"},
		{"0000:43:00:0", "0000:0a:00.3"},
		{"000g:43:00.0", "0000:0a:00.3"},
		{"amdgpu_xcp.7", "0000:0a:00.0"},
		{"amdgpu_xc.7", "0000:0a:00.3"},
	};
	char link[128];
	(void)state;
	put_node(1, "gpu_id", "100\n");
	put_node(1, "properties",
		 "location_id 2563\ndomain 0\ndrm_render_minor 128\nsimd_count 4\n");
	put_node(1, "name", "aldebaran\nx\n");
	put_node(2, "gpu_id", "101\n"); // without a location
	put_node(2, "properties", "drm_render_minor 128\nsimd_count 4\n");
	put_node(2, "name", "0123456789012345678901234567890123456789012345678901234567890123\n");
	put_node(3, "gpu_id", "102\n"); // no such render node, whatever its low bits
	put_node(3, "properties", "drm_render_minor 4294967424\nsimd_count 4\n");
	snprintf(link, sizeof(link), "%s/sys/class/drm/renderD128/device", host_dir);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct kfd_topology t;
		const bool taken = strcmp(cases[i].bdf, "0000:0a:00.3") != 0;
		put_device_link(128, cases[i].device);
		assert_int_equal(kfd_topology_load(&t, KFD_TOPOLOGY_BDF | KFD_TOPOLOGY_NAME), 0);
		assert_string_equal(t.gpus[0].bdf, cases[i].bdf);
		assert_int_equal(t.gpus[0].bdf_of_device, taken);
		assert_string_equal(t.gpus[1].bdf,
				    taken && cases[i].device[0] != 'a' ? cases[i].bdf : "");
		assert_string_equal(t.gpus[2].bdf, "");
		assert_string_equal(t.gpus[0].name, "aldebaran");
		assert_int_equal(strlen(t.gpus[1].name), 63);
		assert_string_equal(t.gpus[2].name, "");
		kfd_topology_fini(&t);
		assert_int_equal(unlink(link), 0);
	}
}

// Three partitions of a device, as a host in CPX mode shows them, and one whole GPU.
static void put_partitions(void)
{
	static const char *const ids[] = {"100\n", "200\n", "300\n", "4096\n"};
	static const unsigned locations[] = {2560, 2561, 2562, 0x4300};
	for (unsigned i = 0; i < 4; i++) {
		char text[128];
		snprintf(text, sizeof(text),
			 "location_id %u\ndomain 0\ndrm_render_minor %u\nsimd_count 4\n",
			 locations[i], 128 + i);
		put_node(i + 1, "gpu_id", ids[i]);
		put_node(i + 1, "properties", text);
	}
	put_device_link(128, "../../../0000:0a:00.0");
	put_device_link(129, "../../../amdgpu_xcp.0");
	put("/sys/class/drm/renderD130/device/uevent", "MODALIAS=platform:amdgpu_xcp\n");
	put("/sys/class/drm/renderD131/device/uevent",
	    "DRIVER=amdgpu\nPCI_SLOT_NAME=0000:43:00.0\nMODALIAS=x\n");
}

static void test_partitions(void **state)
{
	(void)state;
	struct kfd_topology t;
	put_partitions();
	assert_int_equal(kfd_topology_load(&t, KFD_TOPOLOGY_BDF), 0);
	assert_int_equal(t.n, 4);
	for (size_t i = 0; i < 3; i++)
		assert_string_equal(t.gpus[i].bdf, "0000:0a:00.0");
	assert_string_equal(t.gpus[3].bdf, "0000:43:00.0");
	kfd_topology_fini(&t);
}

// What a word of --gpu selects, as a string of one digit per GPU.
static const char *selected(struct kfd_topology *t, const char *word)
{
	static char bits[8];
	char *words[] = {strdup(word)};
	const char *bad = kfd_topology_select(t, words, 1);
	if (bad)
		assert_string_equal(bad, word);
	free(words[0]);
	for (size_t i = 0; i < t->n; i++)
		bits[i] = t->gpus[i].selected ? '1' : '0';
	bits[t->n] = '\0';
	return bad ? "none" : bits;
}

static void test_select(void **state)
{
	(void)state;
	struct kfd_topology t;
	put_partitions();
	assert_int_equal(kfd_topology_load(&t, KFD_TOPOLOGY_BDF), 0);
	static const struct {
		const char *word, *bits;
	} cases[] = {
		{"0", "1000"},
		{"3", "0001"},
		{"4", "none"},
		{"200", "0100"},
		{"0xc8", "0100"},
		{"c8", "0100"},   // hexadecimal 200
		{"1000", "0001"}, // 0x1000 = 4096
		{"0000:0a:00.0", "1110"},
		{"0A:00.0", "1110"},
		{"43:00.0", "0001"},
		{"0001:43:00.0", "none"},
		{"", "none"},
		{"-1", "none"},
		{"0x", "none"},
		{":", "none"},
		{"99999999999999999999999", "none"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(selected(&t, cases[i].word), cases[i].bits);
	char third[] = "3", first[] = "0", absent[] = "4", zeros[] = "0000000003",
	     more_zeros[] = "00000000003";
	char *const words[] = {third, first, absent, zeros, more_zeros};
	assert_null(kfd_topology_select(&t, words, 2));
	assert_true(t.gpus[0].selected && !t.gpus[1].selected && !t.gpus[2].selected &&
		    t.gpus[3].selected);
	assert_ptr_equal(kfd_topology_select(&t, words, 3), absent);
	assert_null(kfd_topology_select(&t, words + 3, 1)); // ten digits, and eleven
	assert_ptr_equal(kfd_topology_select(&t, words + 3, 2), more_zeros);
	assert_null(kfd_topology_select(&t, NULL, 0));
	for (size_t i = 0; i < t.n; i++)
		assert_true(t.gpus[i].selected);
	kfd_topology_fini(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gfx_names),
		cmocka_unit_test(test_address),
		cmocka_unit_test(test_cwsr),
		cmocka_unit_test(test_cwsr_versions),
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_suspend_bits),
		cmocka_unit_test(test_malformed),
		cmocka_unit_test(test_memory),
		cmocka_unit_test_setup_teardown(test_nodes, setup_host, teardown_host),
		cmocka_unit_test_setup_teardown(test_banks, setup_host, teardown_host),
		cmocka_unit_test_setup_teardown(test_device_names, setup_host, teardown_host),
		cmocka_unit_test_setup_teardown(test_partitions, setup_host, teardown_host),
		cmocka_unit_test_setup_teardown(test_select, setup_host, teardown_host),
	};
	return cmocka_run_group_tests_name("topology", tests, NULL, NULL);
}
