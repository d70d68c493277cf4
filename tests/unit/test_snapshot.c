// What a snapshot is made with: patterns and links, pseudonyms, trees that appear at once; and the
// slots that a diff looks queues up in.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/host/glob.h"
#include "common/host/redact.h"
#include "common/host/root.h"
#include "common/host/tree.h"
#include "common/snapshot/host_state.h"
#include "common/snapshot/run_compare.h"
#include "common/snapshot/series.h"
#include "common/snapshot/snapshot.h"

static char dir[64];

static int setup(void **state)
{
	(void)state;
	snprintf(dir, sizeof(dir), "/tmp/gpq-snapshot.XXXXXX");
	return mkdtemp(dir) && chdir(dir) == 0 ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	char command[256];
	host_set_root(NULL);
	snprintf(command, sizeof(command), "chmod -R u+rwx %s; rm -rf %s", dir, dir);
	return chdir("/") || system(command);
}

static void sh(const char *command)
{
	assert_int_equal(system(command), 0);
}

// --- patterns ---

struct log {
	struct buf text;
	bool keep_last;
};

static int on_found(void *arg, const char *path)
{
	buf_printf(arg, "%s\n", path);
	return 0;
}

static int on_link(void *arg, const char *path, const char *target)
{
	buf_printf(arg, "%s -> %s\n", path, target);
	return 0;
}

static int on_missing(void *arg, const char *path, int error)
{
	buf_printf(arg, "%s: %s\n", path, strerrorname_np(error));
	return 0;
}

static void globbed(const char *pattern, bool keep_last, const char *want)
{
	struct buf b = {0};
	const struct glob_visitor v = {on_found, on_link, on_missing, &b, keep_last};
	buf_puts(&b, "");
	assert_int_equal(host_glob(pattern, &v), 0);
	assert_string_equal(b.data, want);
	buf_fini(&b);
}

static void patterns(void **state)
{
	(void)state;
	sh("mkdir -p r/a/1 r/a/2 r/a/10 r/a/x; touch r/a/1/f r/a/2/f r/a/10/f r/a/10/g r/a/x/.h");
	assert_int_equal(host_set_root("r"), 0);
	globbed("/a/*/f", false, "/a/1/f\n/a/2/f\n/a/10/f\n/a/x/f: ENOENT\n");
	globbed("/a/[0-9]*/f|g", false,
		"/a/1/f\n/a/1/g: ENOENT\n/a/2/f\n/a/2/g: ENOENT\n/a/10/f\n/a/10/g\n");
	globbed("/a/1*/g*|f", false, "/a/1/f\n/a/10/g\n/a/10/f\n");
	globbed("/a/x/*", false, ""); // hidden files are not matched
	globbed("/a/x/.h", false, "/a/x/.h\n");
	globbed("/none/*/f", false, "/none/*/f: ENOENT\n");
	globbed("/a/1/f/deeper", false, "/a/1/f/deeper: ENOTDIR\n");
}

static void links(void **state)
{
	(void)state;
	sh("mkdir -p r/dev/pci/card r/class; touch r/dev/pci/vendor r/top; ln -s ../dev/pci/card "
	   "r/class/c;"
	   "ln -s ../../pci r/dev/pci/card/device; ln -s /dev/./pci r/class/absolute; ln -s self "
	   "r/class/self;"
	   "ln -s ../../../../top r/class/out; ln -s gone r/class/dangling; ln -s ..card "
	   "r/class/dots");
	assert_int_equal(host_set_root("r"), 0);
	globbed("/class/c/device/vendor", false,
		"/class/c -> ../dev/pci/card\n/dev/pci/card/device -> "
		"../../pci\n/dev/pci/vendor\n");
	globbed("/class/absolute/vendor", false,
		"/class/absolute -> /dev/./pci\n/dev/pci/vendor\n");
	globbed("/class/out", false, "/class/out -> ../../../../top\n/top\n");
	globbed("/class/c", true, "/class/c -> ../dev/pci/card\n");
	globbed("/class/dangling", false, "/class/dangling -> gone\n/class/gone: ENOENT\n");
	globbed("/class/dots", false, "/class/dots -> ..card\n/class/..card: ENOENT\n");
	struct buf b = {0};
	const struct glob_visitor v = {on_found, on_link, on_missing, &b, false};
	sh("ln -s ../../.. r/class/root");
	globbed("/class/root", false, "/class/root -> ../../..\n/\n");
	assert_int_equal(host_glob("/class/self/x", &v), 0);
	assert_non_null(strstr(b.data, "ELOOP"));
	buf_fini(&b);
}

// --- pseudonyms ---

static struct redact *names;

static void redacted(void (*f)(struct redact *, struct buf *), const char *text, const char *want)
{
	struct buf b = {0};
	buf_puts(&b, text);
	f(names, &b);
	assert_string_equal(b.data, want);
	assert_int_equal(b.len, strlen(want));
	buf_fini(&b);
}

static void programs(void **state)
{
	(void)state;
	names = redact_new();
	redacted(redact_comm, "train\n", "program1\n");
	redacted(redact_stat, "7 (train) S 1 7", "7 (program1) S 1 7");
	redacted(redact_stat, "7 (a) (b) c) S 1 7", "7 (program2) S 1 7");
	redacted(redact_comm, "a) (b) c\n", "program2\n");
	redacted(redact_status, "Name:\ttrain\nState:\tS\n", "Name:\tprogram1\nState:\tS\n");
	redacted(redact_comm, "back\\slash\n", "program3\n");
	redacted(redact_status, "Name:\tback\\\\slash\nPid:\t7\n", "Name:\tprogram3\nPid:\t7\n");
	redacted(redact_hostname, "node7\n", "host1\n");
	redacted(redact_comm, "back\n", "program4\n"); // a name that begins another one
	redacted(redact_comm, "back\\slash\n", "program3\n");
	redacted(redact_comm, "", "");
	redacted(redact_stat, "torn", "torn");
	redacted(redact_status, "Nam", "Nam");
	struct buf b = {0};
	buf_append(&b, "a\0b\0", 4);
	redact_cmdline(names, &b);
	assert_int_equal(b.len, sizeof("command1"));
	assert_memory_equal(b.data, "command1", sizeof("command1"));
	// All arguments count: only the same line has the same pseudonym.
	static const struct {
		char line[8];
		size_t len;
		const char *want;
	} lines[] = {{"a\0c\0", 4, "command2"},    {"a\0", 2, "command3"},
		     {"a\0b\0c\0", 6, "command4"}, {"b\0", 2, "command5"},
		     {"a\0b\0", 4, "command1"},    {"a\0c\0", 4, "command2"}};
	for (size_t i = 0; i < COUNT(lines); i++) {
		b.len = 0;
		buf_append(&b, lines[i].line, lines[i].len);
		redact_cmdline(names, &b);
		assert_string_equal(b.data, lines[i].want);
		assert_int_equal(b.len, strlen(lines[i].want) + 1);
	}
	b.len = 0; // a kernel thread's, read into a buffer that was in use
	redact_cmdline(names, &b);
	assert_int_equal(b.len, 0);
	buf_fini(&b);
	redact_free(names);
}

#define ID  "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define ID1 "0000000000010000000000000000000000000000000000000000000000000000"

static void cgroups(void **state)
{
	(void)state;
	names = redact_new();
	redacted(redact_cgroup, "0::/init.scope\n", "0::/init.scope\n");
	redacted(redact_cgroup, "0::/\n", "0::/\n");
	redacted(redact_cgroup, "0::/system.slice/docker-" ID ".scope\n",
		 "0::/system.slice/docker-" ID1 ".scope\n");
	redacted(redact_cgroup, "4:memory:/docker/" ID "\n3:cpu,cpuacct:/docker/" ID "\n",
		 "4:memory:/docker/" ID1 "\n3:cpu,cpuacct:/docker/" ID1 "\n");
	redacted(redact_cgroup, "0::/kubepods.slice/kubepods-pod1234_5.slice/crio-" ID ".scope\n",
		 "0::/kubepods.slice/group1.slice/crio-" ID1 ".scope\n");
	redacted(redact_cgroup, "0::/lxc.payload.alice/init.scope\n",
		 "0::/lxc.payload.group2/init.scope\n");
	// An id has 64 digits; a name may have fewer, or other letters.
	redacted(redact_cgroup, "0::/lxc.payload.0123456789abcdef/init.scope\n",
		 "0::/lxc.payload.group3/init.scope\n");
	redacted(redact_cgroup, "0::/machine.slice/machine-alice.scope\n",
		 "0::/machine.slice/machine-group2.scope\n");
	redacted(redact_cgroup, "0::/user.slice/user-1000.slice/alice.service/app\n",
		 "0::/user.slice/group4.slice/group2.service/group5\n");
	redacted(redact_cgroup, "no colons alice", "group6\n");
	redacted(redact_cgroup,
		 "0::/team-0123456789abcdef0123456789abcdef0123456789abcdef0123456789a\n",
		 "0::/group7\n");
	redact_free(names);
}

// --- trees ---

static int always_stopped(void)
{
	return 2;
}

static void stopped(void **state)
{
	(void)state;
	sh("mkdir -p r/sys/class/kfd/kfd/proc/7/queues/0 r/sys/kernel/debug/kfd; echo 1 "
	   ">r/sys/kernel/debug/kfd/mqds");
	assert_int_equal(host_set_root("r"), 0);
	const struct snapshot_how how = {.stopped = always_stopped, .earlier = -1};
	struct snapshot s;
	const char *const outs[] = {"out", "out.tar", "out.tar.zst"};
	for (unsigned i = 0; i < 3; i++) {
		struct tree *t = tree_new(outs[i]);
		assert_non_null(t);
		assert_int_equal(snapshot_save(&s, t, &how), -1);
		tree_free(t);
		assert_int_equal(errno, EINTR);
		snapshot_fini(&s);
	}
	sh("test \"$(ls -A)\" = r");
}

static unsigned changes; // so often a queue comes or goes while dumps are read

static int change_queues(void)
{
	static const char queue[] = "r/sys/class/kfd/kfd/proc/7/queues/1";
	if (changes && changes-- && mkdir(queue, 0755))
		rmdir(queue);
	return 0;
}

static void settled(void **state)
{
	(void)state;
	sh("mkdir -p r/sys/class/kfd/kfd/proc/7/queues/0 r/sys/kernel/debug/kfd; echo 1 "
	   ">r/sys/kernel/debug/kfd/mqds");
	assert_int_equal(host_set_root("r"), 0);
	const struct snapshot_how how = {.stopped = change_queues, .earlier = -1};
	for (unsigned i = 0, queues = 1; i <= 3; i++) {
		struct snapshot s;
		struct tree *t = tree_new("out");
		assert_non_null(t);
		changes = i;
		assert_int_equal(snapshot_save(&s, t, &how), 0);
		tree_free(t);
		queues = i % 2 ? 3 - queues : queues;
		assert_int_equal(s.tries, i < 3 ? i + 1 : 3);
		assert_int_equal(s.settled, i < 3);
		assert_int_equal(s.queues, queues);
		assert_false(s.live);
		assert_true(s.n > 0);
		snapshot_fini(&s);
		assert_true(!s.entries && !s.n);
	}
}

static void half_written(void **state)
{
	(void)state;
	struct tree *t = tree_new("out");
	assert_non_null(t);
	assert_int_equal(tree_file(t, "/a/b/c", "x", 1), 0);
	assert_int_equal(tree_link(t, "/a/l", "b/c"), 0);
	assert_int_equal(tree_dir(t, "/a/b"), 0);                // there already
	assert_int_equal(tree_file(t, "/a/b/c", "other", 5), 0); // once is enough
	assert_int_equal(tree_file(t, "relative", "x", 1), -1);
	assert_int_equal(tree_link(t, "/etc", "/tmp"), 0);
	assert_int_equal(tree_file(t, "/etc/gpq-must-not-be", "x", 1), -1); // it would be in /tmp
	assert_int_equal(errno, ELOOP);
	sh("! test -e out");
	tree_free(t);
	sh("test -z \"$(ls -A)\"");
	t = tree_new("out");
	assert_int_equal(tree_file(t, "/a/b/c", "x", 1), 0);
	sh("mkdir out"); // somebody else was faster
	assert_int_equal(tree_commit(t), -1);
	tree_free(t);
	assert_int_equal(errno, EEXIST);
	sh("rmdir out && test -z \"$(ls -A)\"");
	t = tree_new("out/");
	assert_int_equal(tree_file(t, "/f", "", 0), 0);
	assert_int_equal(tree_commit(t), 0);
	tree_free(t);
	sh("test -f out/f");
	assert_null(tree_new("out"));
	assert_int_equal(errno, EEXIST);
	assert_null(tree_new(""));
	assert_int_equal(errno, ENOENT);
	assert_null(tree_new("no/where"));
	assert_int_equal(errno, ENOENT);
}

static mode_t mode_of(const char *name)
{
	struct stat st;
	assert_int_equal(stat(name, &st), 0);
	return st.st_mode & 07777;
}

// As mkdir and > make them, and the mask is as it was.
static void masked(void **state)
{
	(void)state;
	static const char *const outs[] = {"out", "out.tar"};
	mode_t before = umask(027);
	for (unsigned i = 0; i < 2; i++) {
		struct tree *t = tree_new(outs[i]);
		assert_non_null(t);
		assert_int_equal(tree_file(t, "/f", "x", 1), 0);
		assert_int_equal(tree_commit(t), 0);
		tree_free(t);
	}
	assert_int_equal(umask(before), 027);
	assert_int_equal(mode_of("out"), 0750);
	assert_int_equal(mode_of("out/f"), 0640);
	assert_int_equal(mode_of("out.tar"), 0640);
}

// --- slots ---

#define WORDS "00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000\n"
#define SLOT(mqd, active)                                                                          \
	"    0000c914: " mqd " 00000080 " active " 00000808 40005301 00000001 00000007 00000111\n" \
	"    0000c934: 61c02000 0000007f 00000010 c1596080 00007f61 c1596038 00007f61 60004012\n"  \
	"    0000c954: " WORDS "    0000c974: " WORDS "    0000c994: " WORDS                       \
	"    0000c9b4: " WORDS                                                                     \
	"    0000c9d4: 00000000 00000000 00000000 00000000 00000000 00000001 00000120 00000001\n"

static uint64_t value(const struct hqds *h, const struct hqd *s, enum mqd_value what)
{
	uint64_t v;
	assert_true(hqd_get(h, s, GFX9, what, &v));
	return v;
}

static void slots(void **state)
{
	(void)state;
	static const char *const parts[] = {
		"Node 1, gpu_id a1f4:\n   Inst 0, HIQ on MEC 2 Pipe 0 Queue 0\n",
		SLOT("11110000", "00000001"),
		" Inst 0,  CP Pipe 0, Queue 2\n",
		SLOT("22220000", "00000001"),
		" Inst 1,  CP Pipe 3, Queue 7\n",
		SLOT("33330000", "00000001"),
		" Inst 1,  CP Pipe 1, Queue 2\n",
		SLOT("44440000", "00000000"),
		" Inst 1,  CP Pipe 1, Queue 3\n",
		"    0000c914: 55550000 00000080 00000001\n", // torn
		"  SDMA Engine 0, RLC 0\n",
		SLOT("66660000", "00000001"),
		"Node 2, gpu_id f7bc:\n  CP Pipe 2, Queue 4\n", // up to Linux 6.4
		SLOT("77770000", "00000001"),
	};
	static const uint32_t none[] = {0x1111, 0x4444, 0x5555, 0x6666, 0x7777};
	struct buf text = {0};
	struct hqds h;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		buf_puts(&text, parts[i]);
	h = (struct hqds){0};
	hqds_parse(&h, text.data, text.len);
	const struct hqd *s = hqds_find(&h, 0xa1f4, 0x8022220000);
	assert_non_null(s);
	assert_int_equal(s->xcc * 100 + s->pipe * 10 + s->queue, 2);
	assert_int_equal(value(&h, s, MQD_V_RPTR), 0x10);
	assert_int_equal(value(&h, s, MQD_V_WPTR), 0x100000120);
	assert_int_equal(value(&h, s, MQD_V_DOORBELL), 0x4010);
	s = hqds_find(&h, 0xa1f4, 0x8033330000);
	assert_non_null(s);
	assert_int_equal(s->xcc * 100 + s->pipe * 10 + s->queue, 137);
	s = hqds_find(&h, 0xf7bc, 0x8077770000);
	assert_non_null(s);
	assert_int_equal(s->pipe * 10 + s->queue, 24);
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		assert_null(hqds_find(&h, 0xa1f4, 0x8000000000 | (uint64_t)none[i] << 16));
	hqds_parse(&h, "", 0);
	assert_null(hqds_find(&h, 0xa1f4, 0x8022220000));
	hqds_fini(&h);
	buf_fini(&text);
}

static void ids(void **state)
{
	(void)state;
	struct qset s = {{0}};
	struct buf b = {0};
	buf_puts(&b, "");
	qset_text(&s, &b);
	assert_string_equal(b.data, "");
	s.bits[0] = 0x17;
	s.bits[1] = 1;
	s.bits[15] = 1ull << 63;
	qset_text(&s, &b);
	assert_string_equal(b.data, "0-2,4,64,1023");
	assert_int_equal(qset_count(&s), 6);
	buf_fini(&b);
}

// An index that cannot be written stays as it was, and the number is given to the next.
static void full_index(void **state)
{
	(void)state;
	struct series s;
	struct stat st;
	const struct series_line failed = {.host = "", .boot_id = "", .error = EIO},
				 saved = {.host = "a", .boot_id = "b"};
	assert_int_equal(series_open(&s, "s", false), 0);
	assert_int_equal(s.next, 1);
	assert_int_equal(series_add(&s, &failed), 0);
	assert_int_equal(s.next, 1);
	const off_t end = s.end;
	assert_int_not_equal(end, 0);
	struct rlimit any;
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &any), 0);
	const struct rlimit full = {(rlim_t)end + 10, any.rlim_max};
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &full), 0);
	errno = 0;
	assert_int_equal(series_add(&s, &saved), -1);
	assert_int_equal(errno, EFBIG);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &any), 0);
	assert_int_equal(s.next, 1);
	assert_true(s.end == end && !fstat(s.index, &st) && st.st_size == end);
	assert_int_equal(series_add(&s, &saved), 0);
	assert_int_equal(s.next, 2);
	assert_true(s.end > end && !fstat(s.index, &st) && st.st_size == s.end);
	series_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(patterns, setup, teardown),
		cmocka_unit_test_setup_teardown(links, setup, teardown),
		cmocka_unit_test(programs),
		cmocka_unit_test(cgroups),
		cmocka_unit_test_setup_teardown(stopped, setup, teardown),
		cmocka_unit_test_setup_teardown(settled, setup, teardown),
		cmocka_unit_test_setup_teardown(half_written, setup, teardown),
		cmocka_unit_test_setup_teardown(masked, setup, teardown),
		cmocka_unit_test(slots),
		cmocka_unit_test(ids),
		cmocka_unit_test_setup_teardown(full_index, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
