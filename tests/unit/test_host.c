// common/host: sysroot, processes.
#include <setjmp.h>
#include <sys/sysmacros.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/host/std.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

// What the kernel answers a read of descriptor -7, one after the other: bytes of 'x', or -errno.
static const ssize_t *answers;

static ssize_t read_made_up(int fd, void *to, size_t n)
{
	if (fd != -7)
		return read(fd, to, n);
	const ssize_t r = *answers++;
	memset(to, 'x', r > 0 ? (size_t)r : 0);
	errno = r < 0 ? (int)-r : errno;
	return r < 0 ? -1 : r;
}

#define read read_made_up
#include "common/host/buf.c" // NOLINT(bugprone-suspicious-include)
#undef read

#include "common/host/root.c" // NOLINT(bugprone-suspicious-include)

#include "common/host/confine.h"
#include "common/host/proc.h"
#include "common/reader/process_cache.h"
#include "common/host/root.h"
#include "common/host/tail.h"
#include "common/kfd/procs.h"

#include "tests/unit/folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

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

// What happens to the file each time its end is reached: it is written anew, appended to, replaced,
// replaced by a socket, which cannot be opened; and the one that was replaced last goes on.
static int next_of_tail(int ms)
{
	static const struct {
		char how;
		const char *text;
	} steps[] = {{'w', "a\nbcd"}, {'w', ""},    {'a', "c\n"},
		     {'r', "d\n"},    {'r', "e\n"}, {'s', "f\n"}};
	char gone[sizeof(followed) + 4];
	if (waits == sizeof(steps) / sizeof(steps[0]))
		return -1;
	const char how = steps[waits].how;
	(void)ms;
	snprintf(gone, sizeof(gone), "%s.1", followed);
	assert_true((how != 'r' && how != 's') || !rename(followed, gone));
	assert_true(how != 's' || !mknod(followed, S_IFSOCK | 0600, 0));
	FILE *f = fopen(how == 's' ? gone : followed, how == 'a' || how == 's' ? "a" : "w");
	assert_non_null(f);
	fputs(steps[waits++].text, f);
	fclose(f);
	return 0;
}

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

// A line that a new beginning cut off is ended, a whole one is not ended twice.
static void test_tail(void **state)
{
	(void)state;
	static const char *const reads[] = {"a\nbcd", "\n", "c\n", "d\n", "e\n", "f\n"};
	char dir[] = "/tmp/gpq-test-XXXXXX", text[16];
	struct tail t;
	assert_non_null(mkdtemp(dir));
	snprintf(followed, sizeof(followed), "%s/log", dir);
	assert_true(tail_open(&t, followed, next_of_tail));
	for (size_t i = 0; i < sizeof(reads) / sizeof(reads[0]); i++) {
		ssize_t n = tail_read(&t, text, sizeof(text) - 1);
		assert_true(n > 0);
		text[n] = '\0';
		assert_string_equal(text, reads[i]);
	}
	assert_int_equal(t.cuts, 4);
	assert_int_equal(fcntl(t.fd, F_GETFD), FD_CLOEXEC);
	assert_int_equal(tail_read(&t, text, sizeof(text)), -1);
	assert_int_equal(errno, EINTR);
	tail_close(&t);
	remove_tree(dir);
}

// Without openat2(): links and ".." end within the root, at most 40 links are followed. The file
// system may have no links as long as a path.
static void test_links_by_hand(void **state)
{
	char dir[] = "/tmp/gpq-test-XXXXXX", from[128], to[64], name[NAME_MAX + 2];
	char dots[PATH_MAX], longest[PATH_MAX - 10 + 1];
	bool has_long = true;
	const struct {
		const char *path;
		int flags, error; // 0: opens a file with "in"
	} cases[] = {{"/real/file", 0, 0},
		     {"real/.//./file", 0, 0},
		     {"real/../real/file", 0, 0},
		     {"../..//real/file", 0, 0},
		     {"real/deep/../../real/file", 0, 0},
		     {"abs/file", 0, 0},
		     {"real/deep/up/file", 0, 0},
		     {"real/./../real/beside", 0, 0},
		     {"real/deep/abs/file", 0, 0},
		     {"39", 0, 0},
		     {"40", 0, ELOOP},
		     {"0", O_NOFOLLOW, ELOOP},
		     {"abs/file", O_NOFOLLOW, 0},
		     {"real/none", 0, ENOENT},
		     {"real/file/x", 0, ENOTDIR},
		     {name + 1, 0, 0},
		     {name, 0, ENAMETOOLONG},
		     // From here on with the long links.
		     {"dots", 0, 0},
		     {"long/12345678", 0, ENOENT},
		     {"long/123456789", 0, ENAMETOOLONG},
		     {"real/deep/long", 0, ENAMETOOLONG}};
	(void)state;
	for (size_t i = 0; i < sizeof(dots) - 1; i++)
		dots[i] = i % 2 ? '/' : '.';
	strcpy(dots + sizeof(dots) - sizeof("real/file"), "real/file");
	memset(longest, 'x', sizeof(longest) - 1);
	for (size_t i = 2; i < sizeof(longest) - 1; i += 2)
		longest[i] = '/';
	longest[sizeof(longest) - 1] = '\0';
	memset(name, 'n', sizeof(name) - 1);
	name[NAME_MAX + 1] = '\0';
	assert_non_null(mkdtemp(dir));
	put(dir, "real/file", "in");
	put(dir, "real/deep/file", "deep");
	put(dir, name + 1, "in");
	for (int i = 0; i < 45; i++) {
		static const char *const links[][2] = {{"real/file", "0"},
						       {"/real", "abs"},
						       {"/real", "real/deep/abs"},
						       {"../../../../real", "real/deep/up"},
						       {"file", "real/beside"}};
		snprintf(to, sizeof(to), "%d", i - 5);
		snprintf(from, sizeof(from), "%s/%d", dir, i - 4);
		if (i < 5)
			snprintf(from, sizeof(from), "%s/%s", dir, links[i][1]);
		assert_int_equal(symlink(i < 5 ? links[i][0] : to, from), 0);
	}
	static const char *const of_long[] = {"dots", "long", "real/deep/long"};
	for (size_t i = 0; i < COUNT(of_long); i++) {
		snprintf(from, sizeof(from), "%s/%s", dir, of_long[i]);
		has_long = has_long && symlink(i ? longest : dots, from) == 0;
	}
	assert_int_equal(host_set_root(dir), 0);
	for (size_t i = 0; i < COUNT(cases) - (has_long ? 0 : 4); i++) {
		char text[8] = "";
		const int fd = open_in_root(cases[i].path, O_RDONLY | cases[i].flags);
		assert_int_equal(fd < 0 ? errno : 0, cases[i].error);
		assert_int_equal(fd < 0 ? 2 : (read)(fd, text, sizeof(text)), 2);
		close(fd);
	}
	host_set_root(NULL);
	remove_tree(dir);
}

static int refused_fd = -2; // -2: a file may be opened

// In place of libc's, also for the library.
FILE *fdopen(int fd, const char *mode)
{
	static FILE *(*own)(int, const char *);
	own = own ? own : (FILE * (*)(int, const char *))(uintptr_t)dlsym(RTLD_NEXT, "fdopen");
	if (refused_fd == -2)
		return own(fd, mode);
	refused_fd = fd;
	errno = ENOMEM;
	return NULL;
}

static int without_memory;

static void count_without_memory(const char *path, int error)
{
	without_memory += strcmp(path, "/etc/passwd") == 0 && error == ENOMEM;
}

// Without memory for the recorded names a user is a number, it is reported, and no file stays open.
static void test_names_without_memory(void **state)
{
	char dir[] = "/tmp/gpq-test-XXXXXX";
	(void)state;
	assert_non_null(mkdtemp(dir));
	put(dir, "etc/passwd", "eve:x:1234:1000::/:/bin/sh\n");
	assert_int_equal(host_set_root(dir), 0);
	host_on_trouble(count_without_memory);
	refused_fd = -1;
	assert_string_equal(proc_user(1234), "1234");
	const int fd = refused_fd;
	refused_fd = -2;
	host_on_trouble(NULL);
	assert_true(fd >= 0);
	assert_int_equal(fcntl(fd, F_GETFD), -1);
	assert_int_equal(without_memory, 1);
	host_set_root(NULL);
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
	put(dir, "proc/12/cgroup",
	    "0::/docker/0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\n");
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
	// Each is read when it is first asked for, and once.
	const struct process_info *known = process_cache_get(&cache, 13, PROCESS_CONTAINER);
	assert_string_equal(known->proc.comm, "");
	assert_ptr_equal(process_cache_get(&cache, 13, PROCESS_STATUS), known);
	assert_string_equal(known->proc.comm, "x");
	assert_int_equal(known->error, 0);
	process_cache_get(&cache, 13, PROCESS_CMDLINE);
	put(dir, "proc/13/status", "Name:\ty\nState:\tS (sleeping)\nPPid:\t1\n");
	process_cache_get(&cache, 13, PROCESS_STATUS);
	assert_string_equal(known->proc.comm, "x");
	assert_int_equal(process_cache_get(&cache, 99, PROCESS_STATUS)->error, ENOENT);
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

// What is no regular file is not opened: a link may lead anywhere, the open of a pipe may wait. In
// a recorded host the reason is ENXIO; of the live one it is the kernel's own.
static void test_open_file(void **state)
{
	static const struct {
		const char *name;
		int recorded, live; // errno; 0: opened
	} cases[] = {{"file", 0, 0},       {"link", ENXIO, ELOOP},   {"pipe", ENXIO, 0},
		     {"folder", ENXIO, 0}, {"none", ENOENT, ENOENT}, {"socket", ENXIO, ENXIO}};
	char dir[] = "/tmp/gpq-test-XXXXXX";
	(void)state;
	assert_non_null(mkdtemp(dir));
	put(dir, "file", "x");
	put(dir, "folder/file", "x");
	const int at = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(symlinkat("file", at, "link"), 0);
	assert_int_equal(mkfifoat(at, "pipe", 0600), 0);
	assert_int_equal(mknodat(at, "socket", S_IFSOCK | 0600, 0), 0);
	for (size_t i = 0; i < 2 * COUNT(cases); i++) {
		const bool live = i % 2;
		assert_int_equal(host_set_root(live ? NULL : dir), 0);
		const int want = live ? cases[i / 2].live : cases[i / 2].recorded;
		errno = 0;
		const int fd = host_open_file(at, cases[i / 2].name);
		assert_int_equal(fd < 0 ? errno : 0, want);
		assert_int_equal(fd < 0, want != 0);
		close_quietly(fd);
	}
	close(at);
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

// A file is read to its end, whatever signals come; what fails is told.
static void test_interrupted(void **state)
{
	static const struct {
		ssize_t answers[5], result;
		int error;
	} rows[] = {{{3, 2, 0}, 5, 0},
		    {{-EINTR, 3, -EINTR, 2, 0}, 5, 0},
		    {{0}, 0, 0},
		    {{3, -EIO}, -1, EIO}};
	struct buf b = {0};
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		answers = rows[i].answers;
		assert_int_equal(buf_read_fd(&b, -7), rows[i].result);
		if (rows[i].error)
			assert_int_equal(errno, rows[i].error);
		else
			assert_string_equal(b.data, rows[i].result ? "xxxxx" : "");
	}
	buf_fini(&b);
}

// In any order, also twice or below those that are closed.
static void test_confine_fds(void **state)
{
	const bool wanted[] = {true, true, true, false, false, true, false};
	int keep[] = {205, 0, 202, 202}, status;
	const pid_t pid = fork();
	(void)state;
	if (!pid) {
		bool same = true;
		for (int i = 0; i < (int)COUNT(wanted); i++)
			dup2(STDOUT_FILENO, 200 + i);
		confine_fds(202, keep, COUNT(keep));
		for (int i = 0; i < (int)COUNT(wanted); i++)
			same &= (fcntl(200 + i, F_GETFD) >= 0) == wanted[i];
		_exit(same ? 3 : 4);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 3);
}

// What is printed is a text, even if it is empty.
static void test_empty_text(void **state)
{
	struct buf b = {0};
	(void)state;
	buf_printf(&b, "%s", "");
	assert_non_null(b.data);
	assert_string_equal(b.data, "");
	assert_int_equal(b.len, 0);
	buf_printf(&b, "%s", "x");
	buf_printf(&b, "%s", "");
	assert_string_equal(b.data, "x");
	buf_fini(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_empty_text),
					   cmocka_unit_test(test_pid_names),
					   cmocka_unit_test(test_odd_texts),
					   cmocka_unit_test(test_long_file),
					   cmocka_unit_test(test_tail),
					   cmocka_unit_test(test_links_by_hand),
					   cmocka_unit_test(test_confine_fds),
					   cmocka_unit_test(test_sysroot),
					   cmocka_unit_test(test_names_without_memory),
					   cmocka_unit_test(test_path),
					   cmocka_unit_test(test_open_file),
					   cmocka_unit_test(test_trouble),
					   cmocka_unit_test(test_interrupted)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
