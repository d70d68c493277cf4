// common/host: sysroot, processes, containers.
#include <setjmp.h>
#include <sys/sysmacros.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/host/std.h"
#include "common/host/container.h"
#include "common/host/proc.h"
#include "common/reader/process_cache.h"
#include "common/host/root.h"
#include "common/host/tail.h"
#include "common/kfd/procs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ID2 "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"
#define ID3 "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
#define ID  "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static void test_container(void **state)
{
	(void)state;
	static const struct {
		const char *cgroup, *id, *runtime;
	} cases[] = {
		{"0::/system.slice/docker-" ID ".scope\n", ID, "docker"},
		{"12:pids:/docker/" ID "\n11:cpu:/docker/" ID "\n", ID, "docker"},
		{"0::/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" ID
		 ".scope/container\n",
		 ID, "podman"},
		{"0::/machine.slice/libpod-payload-" ID "\n", ID, "podman"},
		{"0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1.slice/"
		 "cri-containerd-" ID ".scope\n",
		 ID, "kubernetes"},
		{"0::/kubepods/besteffort/pod1-2/" ID "\n", ID, "kubernetes"},
		{"0::/system.slice/crio-" ID ".scope\n", ID, "cri-o"},
		{"0::/lxc.payload.web/system.slice/nginx.service\n", "web", "lxc"},
		{"4:memory:/lxc/build1\n", "build1", "lxc"},
		{"0::/machine.slice/machine-deb12.scope/payload\n", "deb12", "nspawn"},
		{"0::/lxc.payload/web2\n", "web2", "lxc"},
		{"0::/system.slice/machine-deb13.service/x.y\n", "deb13", "nspawn"},
		{"0::/machine.slice/machine-a.b\n", "a.b", "nspawn"}, // no unit
		{"0::/x/nerdctl-" ID2 ".scope\n", ID2, "containerd"},
		{"0::/containerd/" ID2 "\n", ID2, "containerd"},
		{"0::/system.slice/cri-containerd-" ID2 ".scope\n", ID2, "containerd"},
		{"0::/x/" ID2 "\n", ID2, ""},
		{"0::/" ID2 "\n", ID2, ""},
		// The first of several lines, and of several ids, that is one.
		{"3:cpu:/docker/" ID "\n0::/docker/" ID2 "\n", ID, "docker"},
		{"3:cpu:/\n2:\n0::/lxc/b/docker-" ID2 ".scope/docker-" ID ".scope\n", ID2,
		 "docker"},
	};
	struct container c;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_true(container_parse(&c, cases[i].cgroup));
		assert_string_equal(c.id, cases[i].id);
		assert_string_equal(c.runtime, cases[i].runtime);
	}
	static const char *const none[] = {"",
					   "0::/\n",
					   "0::/user.slice/user-1000.slice/session-2.scope\n",
					   "0::/system.slice/docker.service\n",
					   "garbage",
					   "1:2",
					   "0::/my-lxc/x\n",
					   "0::/lxc/\n",
					   "0::/docker/" ID "0\n", // 65 digits
					   "0::/docker/0123456789abcdef0123456789abcdef"
					   "0123456789abcdef0123456789abcde\n",
					   "0:" ID};
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		assert_false(container_parse(&c, none[i]));
	assert_true(container_parse(&c, cases[0].cgroup));
	struct container named;
	assert_true(
		container_parse(&named, "0::/machine.slice/systemd-nspawn@web.service/payload\n"));
	assert_string_equal(named.id, "web");
	assert_string_equal(named.runtime, "nspawn");
	assert_true(container_is(&c, ID));
	assert_true(container_is(&c, "012345"));
	assert_false(container_is(&c, "01234"));
	assert_false(container_is(&c, "012346"));
	assert_false(container_is(&c, ID "0"));
	assert_true(container_is(&named, "web"));
	assert_false(container_is(&named, "we") || container_is(&named, "web0"));
	assert_true(container_parse(&named, "0::/lxc/long-name-of-one\n"));
	assert_false(container_is(&named, "long-name")); // no id: only the whole name
	assert_false(container_is(&(struct container){0}, "a"));
	assert_false(container_is(&c, ""));
}

static void test_cgroup(void **state)
{
	(void)state;
	static const char text[] =
		"4:memory:/lxc/build1\n1:2\n0::/kubepods.slice/kubepods-burstable.slice/"
		"kubepods-burstable-pod3f2c1a9e_0d1b.slice/crio-1.scope\n";
	static const struct {
		const char *path;
		bool within;
	} paths[] = {
		{"/kubepods.slice", true},
		{"kubepods.slice/", true},
		{"/sys/fs/cgroup/kubepods.slice//", true},
		{"/lxc/build1", true},
		{"/", true},
		{"/lxc/build", false},
		{"/lxc/build1/x", false},
		{"/kubepods", false},
		{"/kubepods-burstable.slice", false},
		{"2", false},
	};
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		assert_int_equal(cgroup_within(text, paths[i].path), paths[i].within);
	assert_true(cgroup_of_pod(text, "3f2c1a9e-0d1b"));
	assert_true(cgroup_of_pod(text, "3f2c1a9e_0"));
	assert_false(cgroup_of_pod(text, "3f2c1a9e-0d1b-1"));
	assert_false(cgroup_of_pod(text, "2c1a9e"));
	assert_false(cgroup_of_pod(text, "s"));
	assert_true(cgroup_of_pod("0::/kubepods/besteffort/pod3f2c1a9e-0d1b/1\n", "3f2c1a9e-0d1b"));
	assert_false(cgroup_of_pod("0::/tripod3f2c1a9e\n", "3f2c1a9e"));
	assert_true(cgroup_of_pod("1:x:/a\n0::/pod1/pod2\n", "2"));
	assert_true(cgroup_of_pod("1:x:/a/podpod2\n0::/b\n", "pod2"));
	assert_false(cgroup_of_pod("0::pod2\n", "2")); // nothing before it
	// The path of the first line, too, one without a slash, and an end in several slashes.
	assert_true(cgroup_within("1:x:/a/b\n0::/c\n", "/a//"));
	assert_true(cgroup_within("1:x:a/b\n0::/c", "c"));
	assert_false(cgroup_within("1:x:/a/b\n0::/c\n", "/b"));
	assert_false(cgroup_within("", "/"));
}

// A name that is written in another way than the kernel does is no pid: two names would mean one
// process.
static void test_pid_names(void **state)
{
	(void)state;
	static const char *const bad[] = {
		"",     "0",          "012",        "+12",
		"-12",  " 12",        "12 ",        "\n12",
		"12\n", "12\n34",     "0x12",       "12x",
		"1.2",  "2147483648", "4294967308", "18446744073709551628",
		"self", "\t12",       "12\t"};
	pid_t pid;
	uint32_t id;
	assert_true(proc_parse_pid("12", &pid) && pid == 12);
	assert_true(kfd_parse_id("12", &id) && id == 12);
	assert_true(proc_parse_pid("2147483647", &pid) && pid == INT32_MAX);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_false(proc_parse_pid(bad[i], &pid));
		if (strcmp(bad[i], "0") != 0 && kfd_parse_id(bad[i], &id))
			fail_msg("'%s' is id %u", bad[i], (unsigned)id);
	}
}

// What no kernel writes, but a recorded host may hold.
static void test_odd_texts(void **state)
{
	(void)state;
	struct proc p;
	uint64_t ticks;
	proc_parse(&p, 7,
		   "Name:\ta\\nUid:\\t0\nPPid:\t4294967297\nNSpid:\t7\t4294967297\n"
		   "TracerPid:\t4294967297\nUid:\t0\t4294967296\n");
	assert_string_equal(p.comm, "a\\nUid:\\t0");
	assert_int_equal(p.ppid, 0);
	assert_int_equal(p.ns_pid, 0);
	assert_int_equal(p.depth, 1);
	assert_int_equal(p.tracer, -1);
	assert_true(p.uid == UINT64_MAX);
	proc_parse(&p, 7, "");
	assert_true(p.tracer == -1 && p.ppid == 0 && !p.memory && p.state == 0);
	assert_true(proc_stat_number("7 (a) 1 (b) S 5 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 4711 0",
				     22, &ticks));
	assert_int_equal(ticks, 4711);
	assert_false(proc_stat_number("7 (a) S 5 1", 22, &ticks));
	assert_false(
		proc_stat_number("7 (a) S 5 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 -5 0", 22, &ticks));
}

static void put(const char *dir, const char *name, const char *text)
{
	char path[512];
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	for (char *s = path + strlen(dir) + 1; (s = strchr(s, '/')); s++) {
		*s = '\0';
		mkdir(path, 0755);
		*s = '/';
	}
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void remove_tree(const char *dir)
{
	char rm[128];
	snprintf(rm, sizeof(rm), "rm -rf %s", dir);
	assert_int_equal(system(rm), 0); // NOLINT(cert-env33-c)
}

// A label of the image is not the container's name.
static void test_container_name(void **state)
{
	(void)state;
	static const char path[] = "var/lib/docker/containers/" ID "/config.v2.json";
	static const struct {
		const char *json, *name;
	} cases[] = {
		{"{\"ID\":\"" ID "\",\"Name\":\"/web\"}", "web"},
		{"{\"Config\":{\"Labels\":{\"Name\":\"trainer\"}},\"Name\": \"/web\"}", "web"},
		{"{\"Args\":[\"\\\"Name\\\":\\\"x\\\"\",\"{\"],\"Name\":\"/web\"}", "web"},
		{"{\"Path\":\"a\\\"}\",\"Name\":\"/web\"}", "web"},
		{"{\"Path\":\"a\\\\\",\"Name\":\"/web\"}", "web"},
		{"{\"Name\":null,\"Image\":\"x\"}", NULL},
		{"{\"Config\":{\"Name\":\"x\"", NULL},
		{"{\"Config\":\"x\\", NULL},
		{"", NULL},
	};
	struct container c = {.id = ID};
	char dir[] = "/tmp/gpq-test-XXXXXX", name[64];
	assert_non_null(mkdtemp(dir));
	assert_int_equal(host_set_root(dir), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		put(dir, path, cases[i].json);
		assert_true(container_name(&c, name, sizeof(name)) == (cases[i].name != NULL));
		assert_int_equal(container_is(&c, "web"), cases[i].name != NULL);
		if (cases[i].name)
			assert_string_equal(name, cases[i].name);
	}
	put(dir, path, "{\"Name\":\"/web\"}");
	assert_true(container_name(&c, name, 4) && strcmp(name, "web") == 0);
	assert_true(container_name(&c, name, 3) && strcmp(name, "we") == 0);
	snprintf(c.id, sizeof(c.id), "%s", "lxc-one");
	assert_true(container_name(&c, name, sizeof(name)) && strcmp(name, "lxc-one") == 0);
	assert_false(container_name(&(struct container){0}, name, sizeof(name)));
	host_set_root(NULL);
	remove_tree(dir);
}

// podman has all containers in one file; the second of these has no name.
static void test_podman_names(void **state)
{
	static const char json[] =
		"[{\"id\":\"" ID "\",\"names\":[\"trainer\",\"other\"],\"image\":\"x\","
		"\"metadata\":\"{\\\"names\\\":[\\\"y\\\"]}\"},\n"
		"{\"id\":\"" ID2 "\",\"image\":\"x\"},\n"
		"{\"id\":\"" ID3 "\",\"names\": [ \"server\"]}]\n";
	static const struct {
		const char *id, *name;
	} cases[] = {{ID, "trainer"}, {ID2, NULL}, {ID3, "server"}};
	char dir[] = "/tmp/gpq-test-XXXXXX", name[64];
	(void)state;
	assert_non_null(mkdtemp(dir));
	assert_int_equal(host_set_root(dir), 0);
	put(dir, "var/lib/containers/storage/overlay-containers/containers.json", json);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct container c = {0};
		snprintf(c.id, sizeof(c.id), "%s", cases[i].id);
		assert_int_equal(container_name(&c, name, sizeof(name)), cases[i].name != NULL);
		if (cases[i].name)
			assert_string_equal(name, cases[i].name);
		assert_int_equal(container_is(&c, "trainer"), i == 0);
		assert_int_equal(container_is(&c, "server"), i == 2);
	}
	host_set_root(NULL);
	remove_tree(dir);
}

// As much as is read at most, and one byte more. Both files are nothing but a hole.
static void test_long_file(void **state)
{
	(void)state;
	char dir[] = "/tmp/gpq-test-XXXXXX", path[64];
	struct buf b = {0};
	assert_non_null(mkdtemp(dir));
	put(dir, "holes", "");
	snprintf(path, sizeof(path), "%s/holes", dir);
	assert_int_equal(truncate(path, 256 << 20), 0);
	assert_int_equal(buf_read_at(&b, AT_FDCWD, path), 256 << 20);
	assert_int_equal(truncate(path, (256 << 20) + 1), 0);
	assert_int_equal(buf_read_at(&b, AT_FDCWD, path), -1);
	assert_int_equal(errno, EFBIG);
	buf_fini(&b);
	remove_tree(dir);
}

static char followed[64];
static unsigned waits;

// The end of the file is reached: it is emptied, replaced, replaced, and goes on.
static int next_of_tail(int ms)
{
	static const char *const texts[] = {"", "d\n", "e\n", "f\n"};
	char gone[sizeof(followed) + 4];
	FILE *f;
	(void)ms;
	snprintf(gone, sizeof(gone), "%s.1", followed);
	if ((waits == 1 || waits == 2) && rename(followed, gone))
		return -1;
	if (waits > 3 || !(f = fopen(followed, waits == 3 ? "a" : "w")))
		return -1;
	fputs(texts[waits], f);
	fclose(f);
	waits++;
	return 0;
}

// A line that a new beginning cut off is ended, a whole one is not ended twice.
// The longest path that is needed, /proc/PID/fdinfo/NAME, fits; one that would be cut opens
// nothing.
static void test_path(void **state)
{
	(void)state;
	char name[NAME_MAX + 1], want[NAME_MAX + 32];
	memset(name, 'n', NAME_MAX);
	name[NAME_MAX] = '\0';
	strcat(strcpy(want, "/proc/4194304/fdinfo/"), name);
	assert_string_equal(PATH("/proc/%d/fdinfo/%s", 4194304, name), want);
	assert_string_equal(PATH("%319s", "x") + 318, "x");
	assert_string_equal(PATH("%320s", "x"), "");
	assert_string_equal(PATH("/%s/%s", name, name), "");
}

static void test_tail(void **state)
{
	(void)state;
	static const char *const reads[] = {"a\nbcd", "\n", "d\n", "e\n", "f\n"};
	char dir[] = "/tmp/gpq-test-XXXXXX", text[16];
	struct tail t;
	assert_non_null(mkdtemp(dir));
	put(dir, "log", "a\nbcd");
	snprintf(followed, sizeof(followed), "%s/log", dir);
	assert_true(tail_open(&t, followed, next_of_tail));
	for (size_t i = 0; i < sizeof(reads) / sizeof(reads[0]); i++) {
		ssize_t n = tail_read(&t, text, sizeof(text) - 1);
		assert_true(n > 0);
		text[n] = '\0';
		assert_string_equal(text, reads[i]);
	}
	assert_int_equal(t.cuts, 3);
	assert_int_equal(tail_read(&t, text, sizeof(text)), -1);
	assert_int_equal(errno, EINTR);
	tail_close(&t);
	remove_tree(dir);
}

static void test_sysroot(void **state)
{
	(void)state;
	char dir[] = "/tmp/gpq-test-XXXXXX";
	assert_non_null(mkdtemp(dir));
	put(dir, "proc/10/status",
	    "Name:\ta (b) c\nState:\tS (sleeping)\nPPid:\t1\nUid:\t0\t1000\t0\t0\nNSpid:\t10\t7\n");
	put(dir, "proc/10/stat", "10 (a (b) c) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 4711 0 0\n");
	put(dir, "proc/11/status", "Name:\tx\nState:\tS (sleeping)\nPPid:\t10\n");
	put(dir, "proc/12/status", "Name:\tx\nState:\tS (sleeping)\nPPid:\t11\n");
	put(dir, "proc/13/status", "Name:\tx\nState:\tS (sleeping)\nPPid:\t1\n");
	put(dir, "proc/20/status", "Name:\tx\nPPid:\t21\n"); // each the other's parent
	put(dir, "proc/21/status", "Name:\tx\nPPid:\t20\n");
	put(dir, "proc/7/status", "Name:\tx\nPPid:\t1\nNSpid:\t7\n"); // its number on the host
	put(dir, "proc/13/cgroup", "0::/lxc.payload.fifteen-letters/init.scope\n");
	put(dir, "proc/12/cgroup", "0::/docker/" ID "\n");
	put(dir, "proc/12x/status", "Name:\tno process\n");
	put(dir, "proc/012/status", "Name:\tno process\nPPid:\t10\n");
	put(dir, "proc/12\n34/status", "Name:\tno process\nPPid:\t10\n");
	put(dir, "sys/class/kfd/kfd/proc/12/queues/0/size", "4096\n");
	put(dir, "sys/class/kfd/kfd/proc/12\n34/queues/0/size", "4096\n");
	put(dir, "sys/class/kfd/kfd/proc/12/queues/0\n1/size", "4096\n");
	put(dir, "etc/passwd", "root:x:0:0::/:/bin/sh\nada:x:1000:1000::/:/bin/sh\n");
	put(dir, "number", "42\n");
	put(dir, "negative", "-1\n");
	char link[64];
	snprintf(link, sizeof(link), "%s/out", dir);
	assert_int_equal(symlink("/etc/passwd", link), 0);
	assert_int_equal(host_set_root(dir), 0);
	assert_false(host_is_live());

	struct proc p;
	assert_int_equal(proc_read(&p, 10), 0);
	assert_string_equal(p.comm, "a (b) c");
	assert_int_equal(p.ppid, 1);
	assert_int_equal(p.uid, 1000);
	assert_int_equal(p.ns_pid, 7);
	assert_int_equal(p.depth, 1);
	assert_int_equal(p.state, 'S');
	assert_string_equal(proc_user(p.uid), "ada");
	assert_string_equal(proc_user(77), "77");
	uint64_t v = 0;
	assert_int_equal(proc_start_ticks(10, &v), 0);
	assert_int_equal(v, 4711);
	pid_t *list;
	assert_int_equal(proc_tree(10, &list), 3);
	assert_int_equal(list[0], 10);
	assert_int_equal(list[1], 11);
	assert_int_equal(list[2], 12);
	free(list);
	assert_int_equal(proc_tree(20, &list), 2); // whatever a recorded host claims
	free(list);
	const struct kfd_procs_how how = {.want = KFD_WANT_SIZE};
	struct kfd_procs procs = {0};
	assert_int_equal(kfd_procs_read(&procs, &how), 0);
	assert_int_equal(procs.nprocs, 1);
	assert_int_equal(procs.procs[0].pid, 12);
	assert_int_equal(procs.nqueues, 1);
	kfd_procs_fini(&procs);
	assert_int_equal(proc_find_ns_pid(7, &list), 1);
	assert_int_equal(list[0], 10);
	free(list);
	struct process_cache cache = {0};
	assert_string_equal(process_cache_get(&cache, 13, PROCESS_CONTAINER)->short_id,
			    "fifteen-letters");
	assert_string_equal(process_cache_get(&cache, 12, PROCESS_CONTAINER)->short_id,
			    "0123456789ab");
	process_cache_fini(&cache);
	assert_int_equal(proc_read(&p, 99), -1);
	assert_int_equal(errno, ENOENT);
	assert_int_equal(host_read_u64("/number", &v), 0);
	assert_int_equal(v, 42);
	assert_int_equal(host_read_u64("/etc/passwd", &v), -1);
	assert_int_equal(host_read_u64("/negative", &v), -1);
	assert_int_equal(errno, EINVAL);

	// A device is not opened: ENXIO, not what opening it or reading it gives.
	char device[64];
	snprintf(device, sizeof(device), "%s/device", dir);
	if (mknod(device, S_IFCHR | 0600, makedev(1, 3)) == 0) { // takes root
		assert_int_equal(host_open("/device", O_RDONLY), -1);
		assert_int_equal(errno, ENXIO);
	}
	snprintf(device, sizeof(device), "%s/pipe", dir);
	assert_int_equal(mkfifo(device, 0600), 0);
	assert_int_equal(host_open("/pipe", O_RDONLY), -1);
	assert_int_equal(errno, ENXIO);

	// An absolute link stays inside: it is the recorded passwd, not this machine's.
	struct buf b = {0};
	assert_true(host_read(&b, "/out") > 0);
	assert_non_null(strstr(b.data, "ada"));
	assert_int_equal(host_read(&b, "/../../../../etc/hostname"), -1);
	buf_fini(&b);
	host_set_root(NULL);
	remove_tree(dir);
}

static char troubles[128];

static void note_trouble(const char *path, int error)
{
	const size_t n = strlen(troubles);
	snprintf(troubles + n, sizeof(troubles) - n, "%s %d;", path, error);
}

// Of files that are there and cannot be read somebody is told; not of those that are not there, are
// no files, or belong to a process that is gone.
static void test_trouble(void **state)
{
	(void)state;
	static const int quiet[] = {ENOENT, EACCES, ESRCH, EISDIR, EPERM, ENOTDIR};
	struct buf b = {0};
	char want[128];
	host_on_trouble(note_trouble);
	assert_true(host_read(&b, "/proc/self/mem") < 0 && errno == EIO); // nothing is mapped at 0
	snprintf(want, sizeof(want), "/proc/self/mem %d;", EIO);
	assert_string_equal(troubles, want);
	assert_true(host_read(&b, "/proc/self") < 0 && errno == EISDIR);
	assert_true(host_read(&b, "/proc/self/none") < 0 && errno == ENOENT);
	assert_string_equal(troubles, want);
	for (size_t i = 0; i < sizeof(quiet) / sizeof(quiet[0]); i++) {
		host_trouble("/x", quiet[i]);
		assert_int_equal(errno, quiet[i]);
	}
	assert_string_equal(troubles, want);
	troubles[0] = '\0';
	host_trouble("/a", EMFILE);
	host_trouble("/b", ENFILE);
	host_trouble("/c", ENOMEM);
	host_trouble("/d", ETIMEDOUT);
	assert_int_equal(errno, ETIMEDOUT);
	snprintf(want, sizeof(want), "/a %d;/b %d;/c %d;/d %d;", EMFILE, ENFILE, ENOMEM, ETIMEDOUT);
	assert_string_equal(troubles, want);
	host_on_trouble(NULL);
	host_trouble("/e", EIO);
	assert_string_equal(troubles, want);
	buf_fini(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_container),      cmocka_unit_test(test_cgroup),
		cmocka_unit_test(test_pid_names),      cmocka_unit_test(test_odd_texts),
		cmocka_unit_test(test_container_name), cmocka_unit_test(test_podman_names),
		cmocka_unit_test(test_long_file),      cmocka_unit_test(test_tail),
		cmocka_unit_test(test_sysroot),        cmocka_unit_test(test_path),
		cmocka_unit_test(test_trouble)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
