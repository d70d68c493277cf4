// What the runtime has loaded, common/aql/code_list.c: the list in memory, what URIs say, and lines
// of /proc/PID/maps, common/reader/maps.c. Facts: [aql.code-list], [aql.code-uri].
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/aql/code_priv.h"
#include "common/host/std.h"

#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#define BASE     0x7f0000000000
#define URI_MOST (3 * PATH_MAX + 128) // a path, each byte as %XX, offset and size

// --- a list in a file, whose offsets stand for addresses ---

#define LIST 40 // behind r_debug

// How many links are read, if the URI has this length and begins here.
static size_t links_of_uri(size_t at, size_t len)
{
	const struct r_debug d = {.r_version = 1, .r_map = (void *)LIST};
	const struct link_map k = {.l_addr = BASE, .l_name = (char *)at};
	struct code_list l = {0};
	SCOPED(buf_fini) struct buf b = {0};
	int fd = memfd_create("memory", MFD_CLOEXEC);
	buf_append(&b, &d, sizeof(d));
	buf_append(&b, &k, sizeof(k));
	buf_fill(&b, '.', at + len + 512);
	for (size_t i = 0; i < len; i++)
		b.data[at + i] = (char)('a' + i % 26);
	b.data[at + len] = '\0';
	assert_int_equal(write_fully(fd, b.data, at + len + 512), 0);
	assert_true(code_list_read(&l, fd, 0, 3));
	const size_t n = l.n;
	if (n) {
		assert_int_equal(l.links[0].link, LIST);
		assert_int_equal(l.links[0].base, BASE);
		assert_int_equal(strlen(l.links[0].uri), len);
		assert_memory_equal(l.links[0].uri, b.data + at, len);
	}
	code_list_fini(&l);
	close(fd);
	return n;
}

// Read in pieces of 256 bytes, at the end of which it may end, or be cut.
static void test_uri_lengths(void **state)
{
	static const struct {
		size_t at, len, links;
	} cases[] = {{512, 0, 1},
		     {512, 255, 1},
		     {512, 256, 1},
		     {700, 66, 1},
		     {700, 67, 1},
		     {700, 68, 1},
		     {700, 68 + 256, 1},
		     {767, 1, 1},
		     {767, 600, 1},
		     {512, 1000, 1},
		     {700, URI_MOST, 1},
		     {512, URI_MOST, 1},
		     {512, URI_MOST + 256, 0},
		     {700, URI_MOST + 256, 0}};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		assert_int_equal(links_of_uri(cases[i].at, cases[i].len), cases[i].links);
}

// A list has as many links as are asked for, of those that were there before, too; one of version 0
// is none.
static void test_list_most(void **state)
{
	static const size_t wanted[] = {0, 1, 2, 3, 3};
	struct {
		struct r_debug debug;
		struct link_map k[3];
		char uri[512];
	} m = {.debug = {.r_version = 1, .r_map = (void *)LIST}, .uri = "memory://"};
	(void)state;
	assert_int_equal(offsetof(typeof(m), k), LIST);
	for (size_t i = 0; i < 3; i++)
		m.k[i] = (struct link_map){
			.l_addr = BASE + i,
			.l_name = (char *)offsetof(typeof(m), uri),
			.l_next = (void *)(i < 2 ? LIST + (i + 1) * sizeof(m.k[0]) : 0),
			.l_prev = (void *)(i ? LIST + (i - 1) * sizeof(m.k[0]) : 0)};
	for (int version = 1; version >= 0; version--) {
		int fd = memfd_create("memory", MFD_CLOEXEC);
		m.debug.r_version = version;
		assert_int_equal(write_fully(fd, &m, sizeof(m)), 0);
		for (size_t most = 0; most < COUNT(wanted); most++) {
			struct code_list l = {0};
			assert_int_equal(code_list_read(&l, fd, 0, most), version);
			assert_int_equal(l.n, version ? wanted[most] : 0);
			for (size_t i = 0; i < l.n; i++) {
				assert_int_equal(l.links[i].base, BASE + i);
				assert_int_equal(l.links[i].link, LIST + i * sizeof(m.k[0]));
			}
			assert_int_equal(code_list_read(&l, fd, 0, most + 2), version);
			assert_int_equal(l.n, !version ? 0 : most > 3 ? 6 : most + 2);
			assert_true(!version || l.links[wanted[most]].base == BASE);
			code_list_fini(&l);
			assert_null(l.links);
		}
		close(fd);
	}
}

static void test_uris(void **state)
{
	static const struct {
		const char *uri, *path;
		uint64_t offset, size;
	} good[] = {
		{"file:///a", "/a", 0, 0},
		{"file:///a%20b%2Fc%2fd", "/a b/c/d", 0, 0},
		{"file:///opt/x.so#offset=4096&size=0x2000", "/opt/x.so", 4096, 0x2000},
		{"file:///x?offset=0&size=1", "/x", 0, 1},
		{"memory://77#offset=0x7f12AbcD0000&size=1234", "", 0x7f12abcd0000, 1234},
		{"memory://1#offset=0&size=18446744073709551615", "", 0, UINT64_MAX},
		{"memory://1#offset=0XfF&size=0x1", "", 255, 1},
		{"file:///%01%ff%Fe", "/\x01\xff\xfe", 0, 0},
	};
	static const char *const bad[] = {
		"",
		"/a",
		"file://",
		"file://a",
		"file:///a%2",
		"file:///a%zz",
		"file:///a%00",
		"file:///a#",
		"file:///a#offset=1",
		"file:///a#offset=1&size=0",
		"file:///a#offset=1&size=2x",
		"file:///a#offset=-1&size=2",
		"file:///a#offset=0x&size=2",
		"file:///a#offset=18446744073709551616&size=2",
		"memory://1",
		"memory://1?offset=1&size=2",
		"memory://x#offset=1&size=2",
		"memory:///a#offset=1&size=2",
		"http://a/b",
		// Each scheme with its first or last letter changed.
		"fild:///a",
		"file::///a",
		"memorx://1#offset=1&size=2",
		"memory:/.1#offset=1&size=2",
		"file:///a#pffset=1&size=2",
		"file:///a#offset:1&size=2",
		"file:///a#offset=1#size=2",
		"file:///a#offset=1&size:2",
		"file:///a#offset=1&size=0x",
		"file:///a%2 b",
		"file:///a%g0",
	};
	char path[128];
	uint64_t offset, size;

	(void)state;
	for (size_t i = 0; i < COUNT(good); i++) {
		assert_true(code_uri_parse(good[i].uri, path, &offset, &size));
		assert_string_equal(path, good[i].path);
		assert_int_equal(offset, good[i].offset);
		assert_int_equal(size, good[i].size);
	}
	for (size_t i = 0; i < COUNT(bad); i++)
		assert_false(code_uri_parse(bad[i], path, &offset, &size));
}

static void test_maps(void **state)
{
	static const char lines[] =
		"55d0c0000000-55d0c0002000 r--p 00001000 fe:01 262154                     /usr/a "
		"b\n"
		"7ffc00000000-7ffc00021000 rw-p 00000000 00:00 0                          [stack]\n"
		"7f0000000000-7f0000001000 rw-p 00000000 00:00 0 \n"
		"7f1000000000-7f1000001000 r-xp 00000000 00:1f 99    /lib/x.so.1 (deleted)\n"
		"7f2000000000-7f2000002000 rw-s 7f1234000 103:2a 4294967299 /memfd:a\\012b "
		"(deleted)\n"
		"\n"
		"garbage\n"
		"1-2 r--s 0 0:0 1 /z";
	static const struct {
		uint64_t start, end, offset, device, inode;
		const char *path;
		bool deleted, shared;
	} want[] = {{0x55d0c0000000, 0x55d0c0002000, 0x1000, 0xfe00000001, 262154, "/usr/a b",
		     false, false},
		    {0x7f1000000000, 0x7f1000001000, 0, 0x1f, 99, "/lib/x.so.1", true, false},
		    {0x7f2000000000, 0x7f2000002000, 0x7f1234000, 0x1030000002a, 4294967299,
		     "/memfd:a\\012b", true, true},
		    {1, 2, 0, 0, 1, "/z", false, false}};
	struct mapping m;
	size_t n = 0;

	(void)state;
	for (const char *s = lines; *s;) {
		if (!mapping_parse(s, &s, &m))
			continue;
		assert_true(n < COUNT(want));
		assert_int_equal(m.start, want[n].start);
		assert_int_equal(m.end, want[n].end);
		assert_int_equal(m.offset, want[n].offset);
		assert_int_equal(m.device, want[n].device);
		assert_int_equal(m.inode, want[n].inode);
		assert_int_equal(m.shared, want[n].shared);
		assert_int_equal(m.len, strlen(want[n].path));
		assert_memory_equal(m.path, want[n].path, m.len);
		assert_int_equal(m.deleted, want[n].deleted);
		n++;
	}
	assert_int_equal(n, COUNT(want));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_uri_lengths),
		cmocka_unit_test(test_list_most),
		cmocka_unit_test(test_uris),
		cmocka_unit_test(test_maps),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
