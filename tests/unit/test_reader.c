// common/reader: the child that reads what is others'. What it is asked about is made here: memory
// of this process whose content is known, files, pipes that give nothing until they are told to,
// and tasks that stop, end or lie.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/reader/memory.h"
#include "common/reader/process_cache.h"
#include "common/reader/reader.h"

#include "common/host/clock.h"
#include "common/host/root.h"

#include "common/reader/files.c" // NOLINT(bugprone-suspicious-include)

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096

static unsigned reports;
static char reported[64];

static void note(const char *path, int error)
{
	(void)error;
	reports++;
	snprintf(reported, sizeof(reported), "%s", path);
}

static bool keep(void *arg, const void *part, size_t len)
{
	buf_append(arg, part, len);
	return true;
}

static int ask(pid_t whose, reader_task *task, const void *text, size_t len, int fd, struct buf *b)
{
	const struct reader_question q = {
		.whose = whose, .task = task, .text = text, .len = len, .fd = fd};
	b->len = 0;
	return reader_ask(&q, keep, b);
}

// ---- tasks, in the child

static int give_bytes(const void *text, size_t len, int fd)
{
	static char data[READER_PART];
	unsigned n;
	(void)len;
	(void)fd;
	memcpy(&n, text, sizeof(n));
	memset(data, 'x', sizeof(data));
	for (; n > sizeof(data); n -= (unsigned)sizeof(data))
		reader_give(data, sizeof(data));
	reader_give(data, n);
	return 0;
}

static int refuse(const void *text, size_t len, int fd)
{
	(void)text;
	(void)len;
	(void)fd;
	return EDOM;
}

static int read_pipe(const void *text, size_t len, int fd)
{
	char c;
	(void)text;
	(void)len;
	if (read(fd, &c, 1) == 1)
		reader_give(&c, 1);
	return 0;
}

static int crash(const void *text, size_t len, int fd)
{
	(void)text;
	(void)len;
	(void)fd;
	raise(SIGKILL);
	return 0;
}

// What the child has and may: user, capabilities, descriptors, what a refused call says.
static int look_around(const void *text, size_t len, int fd)
{
	long v[6] = {0};
	(void)text;
	(void)len;
	(void)fd;
	v[0] = syscall(SYS_openat, AT_FDCWD, "/etc/passwd", O_RDONLY) < 0 ? errno : 0;
	v[1] = syscall(SYS_socket, 1, 1, 0) < 0 ? errno : 0;
	v[2] = syscall(SYS_kill, 1, 0) < 0 ? errno : 0;
	v[3] = syscall(SYS_execve, "/bin/true", NULL, NULL) < 0 ? errno : 0;
	for (int i = 0; i < 256; i++)
		v[4] += lseek(i, 0, SEEK_CUR) >= 0 || errno != EBADF;
	v[5] = getpid();
	reader_give(v, sizeof(v));
	return 0;
}

// ---- tests

static void test_answers(void **state)
{
	static const unsigned sizes[] = {
		0, 1, READER_PART - 1, READER_PART, READER_PART + 1, 5 * READER_PART + 17};
	struct buf b = {0};
	(void)state;
	for (size_t i = 0; i < COUNT(sizes); i++) {
		assert_int_equal(ask(1, give_bytes, &sizes[i], sizeof(sizes[i]), -1, &b), 0);
		assert_int_equal(b.len, sizes[i]);
	}
	errno = EINTR; // left by an earlier call: it does not make the question be sent again
	assert_int_equal(ask(1, refuse, "", 0, -1, &b), EDOM);
	assert_int_equal(b.len, 0);
	buf_fini(&b);
}

static void test_memory(void **state)
{
	char *at = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *big = malloc(300000), *to = malloc(300000), a[8], c[8];
	struct memory m;
	(void)state;
	assert_int_equal(memory_open(&m, getpid()), 0);
	memcpy(at + 100, "abcdefg", 8);
	memcpy(at + 2 * PAGE, "hijklmn", 8);
	munmap(at + PAGE, PAGE);
	struct memory_range v[] = {{(uintptr_t)at + 100, a, 8, 0},
				   {(uintptr_t)at + PAGE, to, 8, 0},
				   {UINT64_MAX - 2, to, 8, 0},
				   {(uintptr_t)at + 2 * PAGE, c, 8, 0}};
	assert_false(memory_read_all(&m, v, COUNT(v)));
	assert_int_equal(v[0].got, MEMORY_READ);
	assert_int_equal(v[1].got, MEMORY_LOST);
	assert_int_equal(v[2].got, MEMORY_LOST);
	assert_int_equal(v[3].got, MEMORY_READ);
	assert_string_equal(a, "abcdefg");
	assert_string_equal(c, "hijklmn");
	assert_true(memory_read_all(&m, v, 0)); // of nothing all was read
	v[1] = v[3];                            // two of them, and the last alone
	assert_true(memory_read_all(&m, v, 2));
	v[1].at = UINT64_MAX - 2;
	assert_false(memory_read_all(&m, v, 2));
	for (int i = 0; i < 300000; i++)
		big[i] = (char)(i * 7 + i / 1000);
	assert_true(memory_read(&m, (uintptr_t)big, to, 300000));
	assert_memory_equal(big, to, 300000);
	assert_false(memory_read(&m, (uintptr_t)at + PAGE - 4, to, 8));
	memory_close(&m);
	assert_false(memory_read(&m, (uintptr_t)big, to, 8));
	errno = 0;
	v[0].got = MEMORY_READ;
	assert_false(memory_read_all(&m, v, 1));
	assert_int_equal(errno, EBADF);
	assert_int_equal(v[0].got, MEMORY_LOST);
	munmap(at, PAGE);
	munmap(at + 2 * PAGE, PAGE);
	free(big);
	free(to);
}

// Each byte is the last one of its address; of address 13 none can be read.
static struct {
	uint64_t at[4];
	size_t size[4];
	unsigned n;
} asked;

static bool read_lows(void *arg, uint64_t address, void *to, size_t size)
{
	assert_ptr_equal(arg, &asked);
	assert_true(asked.n < 4);
	asked.at[asked.n] = address;
	asked.size[asked.n++] = size;
	for (size_t i = 0; i < size; i++)
		((uint8_t *)to)[i] = (uint8_t)(address + i);
	return address != 13;
}

static void test_memory_parts(void **state)
{
	char eight[] = "12345678", four[] = "abcd", lost[] = "lostlost", to[9] = "";
	struct memory_range kept[] = {{100, four, 4, MEMORY_READ},
				      {200, lost, 8, MEMORY_LOST},
				      {100, eight, 8, MEMORY_READ}};
	struct memory m = {.fd = -1, .kept = kept, .nkept = 3, .read = read_lows, .arg = &asked};
	uint8_t *big = malloc(2 * MEMORY_BYTES_MOST + 1);
	static const size_t over[] = {0,
				      1,
				      MEMORY_BYTES_MOST - 1,
				      MEMORY_BYTES_MOST,
				      MEMORY_BYTES_MOST + 1,
				      2 * MEMORY_BYTES_MOST};
	static const unsigned parts[] = {0, 1, 1, 1, 2, 2};
	(void)state;
	asked.n = 0;
	assert_true(memory_read(&m, 100, to, 8)); // what was read in advance, once
	assert_string_equal(to, "12345678");
	assert_int_equal(asked.n, 0);
	assert_true(memory_read(&m, 100, to, 8));
	assert_int_equal(asked.n, 1);
	assert_int_equal(to[7], 107);
	assert_true(memory_read(&m, 200, to, 8) && asked.n == 2);
	assert_true(memory_read(&m, 101, to, 4) && asked.n == 3);
	assert_true(memory_read(&m, 100, to, 4) && asked.n == 3);
	assert_memory_equal(to, "abcd", 4);
	assert_false(memory_read(&m, 13, to, 4));
	for (size_t i = 0; i < COUNT(over); i++) {
		asked.n = 0;
		assert_true(memory_read(&m, 1000, big, over[i]));
		assert_int_equal(asked.n, parts[i]);
		assert_true(!asked.n || asked.at[0] == 1000);
		assert_true(asked.n < 2 || (asked.at[1] == 1000 + MEMORY_BYTES_MOST &&
					    asked.size[1] == over[i] - MEMORY_BYTES_MOST));
		assert_true(!over[i] || big[over[i] - 1] == (uint8_t)(1000 + over[i] - 1));
	}
	struct memory_range v[] = {{20, to, 2, 0}, {13, to + 2, 1, 0}, {30, to + 3, 1, 0}};
	asked.n = 0;
	assert_false(memory_read_all(&m, v, 3));
	assert_true(v[0].got == MEMORY_READ && v[1].got == MEMORY_LOST && v[2].got == MEMORY_READ);
	assert_int_equal(asked.n, 3);
	free(big);
}

// The process's command line: blanks between its words, none at its end, cut to the room there is.
static void test_cmdline(void **state)
{
	int ends[2];
	char text[32] = "";
	(void)state;
	assert_int_equal(pipe(ends), 0);
	const pid_t pid = fork();
	if (!pid) {
		dup2(ends[0], 0);
		close(ends[1]);
		execlp("cat", "cat", "-", "", (char *)NULL);
		_exit(1);
	}
	for (int i = 0; i < 10000 && memcmp(text, "cat", 3) != 0; i++, usleep(1000))
		proc_cmdline(pid, text, sizeof(text));
	assert_int_equal(proc_cmdline(pid, text, sizeof(text)), 5);
	assert_string_equal(text, "cat -");
	assert_int_equal(proc_cmdline(pid, text, 6), 5);
	assert_string_equal(text, "cat -");
	assert_int_equal(proc_cmdline(pid, text, 5), 4);
	assert_string_equal(text, "cat ");
	close(ends[1]);
	waitpid(pid, NULL, 0);
	assert_true(proc_cmdline(pid, text, sizeof(text)) < 0);
	close(ends[0]);
}

// The address space of a process that has ended.
static void test_over(void **state)
{
	const pid_t pid = fork();
	struct memory m;
	char c;
	struct memory_range v = {(uintptr_t)&c, &c, 1, 0};
	(void)state;
	if (!pid) {
		pause();
		_exit(0);
	}
	assert_int_equal(memory_open(&m, pid), 0);
	assert_true(memory_read_all(&m, &v, 1));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_false(memory_read_all(&m, &v, 1));
	assert_int_equal(v.got, MEMORY_OVER);
	memory_close(&m);
}

// An answer that makes no sense is none.
static void test_lies(void **state)
{
	char a[8], b[8];
	struct memory_range v[] = {{1, a, 8, 0}, {2, b, 8, 0}};
	char good[18] = {MEMORY_READ, MEMORY_READ};
	(void)state;
	assert_true(memory_take(v, 2, good, sizeof(good)));
	for (size_t n = 0; n < sizeof(good); n++)
		assert_false(memory_take(v, 2, good, n));
	good[1] = 17;
	assert_false(memory_take(v, 2, good, sizeof(good)));
}

// Of a file as much is taken as host_read() takes.
static void test_big_file(void **state)
{
	struct buf b = {
		.data = malloc(BUF_READ_MAX + 1), .len = BUF_READ_MAX - 4, .cap = BUF_READ_MAX + 1};
	(void)state;
	assert_false(files_take_part(&b, "abcde", 5));
	assert_int_equal(b.len, BUF_READ_MAX - 4);
	assert_true(files_take_part(&b, "abc", 3));
	assert_true(files_take_part(&b, "d", 1));
	assert_int_equal(b.len, BUF_READ_MAX);
	assert_memory_equal(b.data + BUF_READ_MAX - 4, "abcd", 4);
	assert_false(files_take_part(&b, "e", 1));
	assert_int_equal(b.len, BUF_READ_MAX);
	buf_fini(&b);
}

// What is silent is named once, and not asked again until its child has ended; others answer.
static void test_silent(void **state)
{
	const unsigned one = 1;
	struct buf b = {0};
	siginfo_t end;
	int ends[2];
	(void)state;
	assert_int_equal(pipe(ends), 0);
	reports = 0;
	host_on_trouble(note);
	assert_int_equal(ask(4711, read_pipe, "", 0, ends[0], &b), ETIMEDOUT);
	assert_int_equal(reports, 1);
	assert_string_equal(reported, "pid 4711: its memory");
	assert_int_equal(ask(4712, give_bytes, &one, sizeof(one), -1, &b), 0);
	assert_int_equal(b.len, 1);
	// The child was killed, as nothing held it: once it has ended it can be asked again.
	// Before, it would take what is written.
	if (ask(4711, give_bytes, &one, sizeof(one), -1, &b) == ETIMEDOUT)
		assert_int_equal(waitid(P_ALL, 0, &end, WEXITED | WNOWAIT), 0);
	assert_int_equal(write(ends[1], "z", 1), 1);
	assert_int_equal(ask(4711, read_pipe, "", 0, ends[0], &b), 0);
	assert_string_equal(b.data, "z");
	close(ends[0]);
	close(ends[1]);
	buf_fini(&b);
}

static void test_crash(void **state)
{
	const unsigned one = 1;
	struct buf b = {0};
	(void)state;
	reports = 0;
	host_on_trouble(note);
	assert_int_equal(ask(4711, crash, "", 0, -1, &b), EIO);
	assert_int_equal(reports, 1);
	assert_int_equal(ask(4712, give_bytes, &one, sizeof(one), -1, &b), 0);
	buf_fini(&b);
}

// A fork of the process, as a holder is, has a child of its own, and leaves ours alone.
static void test_forked(void **state)
{
	const unsigned one = 1;
	struct buf b = {0};
	int status;
	(void)state;
	reports = 0;
	host_on_trouble(note);
	assert_int_equal(ask(1, give_bytes, &one, sizeof(one), -1, &b), 0);
	const pid_t pid = fork();
	if (!pid) {
		close_range(3, ~0u, 0);
		_exit(ask(1, give_bytes, &one, sizeof(one), -1, &b) || b.len != 1 ||
		      ask(4711, crash, "", 0, -1, &b) != EIO);
	}
	waitpid(pid, &status, 0);
	assert_int_equal(status, 0);
	assert_int_equal(ask(1, give_bytes, &one, sizeof(one), -1, &b), 0);
	assert_int_equal(b.len, 1);
	assert_int_equal(reports, 0);
	buf_fini(&b);
}

static int open_nothing(const void *text, size_t len)
{
	(void)text;
	(void)len;
	return -1;
}

// Where no descriptor is left there is no child to ask, and that is no answer.
static void test_no_child(void **state)
{
	const struct reader_question opens = {.task = refuse, .open = open_nothing, .fd = -1};
	struct buf b = {0};
	int status;
	(void)state;
	const pid_t pid = fork(); // it has no child yet
	if (!pid) {
		setrlimit(RLIMIT_NOFILE, &(struct rlimit){0, 0});
		_exit(ask(4713, refuse, "", 0, -1, &b) != ENOMEM ||
		      reader_ask(&opens, NULL, NULL) != ENOMEM ||
		      reader_post(reader_new(), &opens, NULL) || errno == ETIMEDOUT);
	}
	waitpid(pid, &status, 0);
	assert_int_equal(status, 0);
}

static void test_confined(void **state)
{
	struct buf b = {0};
	long v[6];
	char path[64], limits[4096];
	(void)state;
	assert_int_equal(ask(1, look_around, "", 0, -1, &b), 0);
	assert_int_equal(b.len, sizeof(v));
	memcpy(v, b.data, sizeof(v));
	for (int i = 0; i < 4; i++)
		assert_int_equal(v[i], EPERM);
	assert_int_equal(v[4], 1); // the socket
	snprintf(path, sizeof(path), "/proc/%ld/limits", v[5]);
	const int fd = open(path, O_RDONLY);
	const ssize_t n = read(fd, limits, sizeof(limits) - 1);
	close(fd);
	assert_true(n > 0);
	limits[n] = 0; // endless recursion ends at 8 MiB, whatever the user's limit is
	assert_non_null(strstr(limits, "Max stack size            8388608              8388608 "));
	assert_non_null(strstr(limits, "Max core file size        0                    0 "));
	buf_fini(&b);
}

// ---- many on their way

static void wait_readable(const struct reader *r)
{
	struct pollfd p = {.fd = reader_fd(r), .events = POLLIN};
	assert_int_equal(poll(&p, 1, 10000), 1);
}

static void test_posted(void **state)
{
	struct reader *r = reader_new();
	const char text[] = "0123456789";
	char to[10];
	struct memory m;
	size_t len, answers = 0;
	void *tag;
	int error;
	(void)state;
	assert_int_equal(reader_fd(r), -1);
	assert_int_equal(memory_open(&m, getpid()), 0);
	for (size_t i = 0; i < 10; i++) {
		struct memory_range v = {(uintptr_t)text + i, to, 1, 0};
		assert_true(memory_post(r, &m, &v, 1, &to[i]));
	}
	reader_forget(r, &to[3]);
	while (answers < 9) {
		wait_readable(r);
		for (const void *part; (part = reader_next(r, &tag, &len, &error)); answers++) {
			struct memory_range v = {0, tag, 1, 0};
			assert_int_equal(error, 0);
			assert_ptr_not_equal(tag, &to[3]);
			assert_true(memory_take(&v, 1, part, len));
			assert_int_equal(*(char *)tag, '0' + ((char *)tag - to));
		}
	}
	assert_null(reader_next(r, &tag, &len, &error));
	memory_close(&m);
	reader_free(r);
}

// The silent one is found out, the others are to be asked again, and a new child answers them.
static void test_posted_silent(void **state)
{
	struct reader *r = reader_new();
	const unsigned one = 1;
	struct reader_question q = {.whose = 4721, .task = read_pipe, .text = "", .fd = -1};
	const struct reader_question other = {
		.whose = 4722, .task = give_bytes, .text = &one, .len = sizeof(one), .fd = -1};
	int ends[2], error, a, b;
	size_t len;
	void *tag;
	const void *part = NULL;
	(void)state;
	assert_int_equal(pipe(ends), 0);
	q.fd = ends[0];
	host_on_trouble(note);
	reports = 0;
	assert_true(reader_post(r, &q, &a));
	assert_true(reader_post(r, &other, &b));
	for (int i = 0; i < 20000 && !part; i++, usleep(1000))
		part = reader_next(r, &tag, &len, &error);
	assert_non_null(part);
	assert_ptr_equal(tag, &a);
	assert_int_equal(error, ETIMEDOUT);
	assert_int_equal(reports, 1);
	assert_false(reader_post(r, &other, &b)); // the earlier one is to be taken first
	assert_non_null(reader_next(r, &tag, &len, &error));
	assert_ptr_equal(tag, &b);
	assert_int_equal(error, EAGAIN);
	assert_true(reader_post(r, &other, &b));
	wait_readable(r);
	assert_non_null(reader_next(r, &tag, &len, &error));
	assert_int_equal(error, 0);
	assert_int_equal(len, 1);
	close(ends[0]);
	close(ends[1]);
	reader_free(r);
}

// Killed and stopped at random moments, the child costs an answer, never the process, and no answer
// is a wrong one.
static void test_killed(void **state)
{
	const unsigned rounds = 200;
	unsigned whole = 0;
	struct buf b = {0};
	(void)state;
	host_on_trouble(note);
	srand(28);
	for (unsigned i = 0; i < rounds; i++) {
		const unsigned n = 40 * READER_PART;
		const pid_t killer = fork();
		if (!killer) { // a sibling, which finds the child by its parent
			char text[64], path[64];
			usleep((useconds_t)(rand() % 3000));
			snprintf(path, sizeof(path), "/proc/%d/task/%d/children", getppid(),
				 getppid());
			const int fd = open(path, O_RDONLY);
			const ssize_t got = read(fd, text, sizeof(text) - 1);
			text[got > 0 ? got : 0] = 0;
			for (char *s = text, *end; *s; s = end) {
				const pid_t pid = (pid_t)strtol(s, &end, 10);
				if (end == s)
					break;
				if (pid != getpid())
					kill(pid, SIGKILL);
			}
			_exit(0);
		}
		for (int k = 0; k < rand() % 20; k++) // so that seeds differ from round to round
			rand();
		const int error = ask(5000 + (pid_t)i, give_bytes, &n, sizeof(n), -1, &b);
		assert_true(error == 0 || error == EIO);
		assert_true(error != 0 || b.len == n);
		whole += !error;
		waitpid(killer, NULL, 0);
	}
	const unsigned one = 1;
	int last = ask(1, give_bytes, &one, sizeof(one), -1, &b);
	// If the child was killed behind its last answer, 1 is silent until that child has ended.
	if (last == EIO)
		last = ask(2, give_bytes, &one, sizeof(one), -1, &b);
	assert_int_equal(last, 0);
	print_message("# %u of %u answers are whole\n", whole, rounds);
	buf_fini(&b);
}

// ---- limits of a child

struct limits {
	uint64_t bytes, wanted;
	unsigned seconds;
};

static int open_limited(const void *text, size_t len)
{
	struct limits l;
	memcpy(&l, text, len);
	reader_limit(l.bytes, l.seconds);
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

// Tells whether the memory is there, then computes for two seconds of processor time if there is a
// limit of it. On a busy machine these take long, so it tells each 5 ms that it goes on.
static int use_all(const void *text, size_t len, int fd)
{
	uint64_t told = 0;
	struct limits l;
	(void)fd;
	memcpy(&l, text, len);
	reader_give(mmap(NULL, l.wanted, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			 0) == MAP_FAILED
			    ? "-"
			    : "+",
		    1);
	reader_alive();
	while (l.seconds && clock_cpu_ns() < UINT64_C(2000000000))
		if (clock_cpu_ns() - told > 5000000) {
			reader_alive();
			told = clock_cpu_ns();
		}
	return 0;
}

// What was told before the child ended counts.
static void test_limits(void **state)
{
	static const struct {
		struct limits l;
		const char *told;
		int error;
	} cases[] = {
		{{64u << 20, 60u << 20, 0}, "+", 0},  {{64u << 20, 68u << 20, 0}, "-", 0},
		{{1u << 30, 68u << 20, 0}, "+", 0},   {{64u << 20, 60u << 20, 1}, "+", EIO},
		{{64u << 20, 60u << 20, 60}, "+", 0},
	};
	SCOPED(buf_fini) struct buf b = {0};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct reader_question q = {.whose = getpid(),
						  .task = use_all,
						  .open = open_limited,
						  .text = &cases[i].l,
						  .len = sizeof(cases[i].l),
						  .fd = -1};
		b.len = 0;
		assert_int_equal(reader_ask(&q, keep, &b), cases[i].error);
		assert_int_equal(b.len, 1);
		assert_memory_equal(b.data, cases[i].told, 1);
	}
}

// What was read of a process is kept and not read again; what is wanted later is added to it.
static void test_process_cache(void **state)
{
	struct process_cache c = {0};
	(void)state;
	const struct process_info *own = process_cache_get(&c, getpid(), PROCESS_STATUS);
	assert_int_equal(own->pid, getpid());
	assert_int_equal(own->have, PROCESS_STATUS);
	const struct process_info *other = process_cache_get(&c, getppid(), PROCESS_STATUS);
	assert_int_equal(other->pid, getppid());
	prctl(PR_SET_NAME, "renamed");
	assert_ptr_equal(process_cache_get(&c, getpid(), PROCESS_STATUS | PROCESS_CMDLINE), own);
	assert_int_equal(own->have, PROCESS_STATUS | PROCESS_CMDLINE);
	assert_string_not_equal(own->proc.comm, "renamed");
	assert_ptr_equal(process_cache_get(&c, getppid(), 0), other);
	assert_int_equal(other->have, PROCESS_STATUS);
	process_cache_fini(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answers),  cmocka_unit_test(test_memory),
		cmocka_unit_test(test_over),     cmocka_unit_test(test_lies),
		cmocka_unit_test(test_silent),   cmocka_unit_test(test_crash),
		cmocka_unit_test(test_forked),   cmocka_unit_test(test_confined),
		cmocka_unit_test(test_posted),   cmocka_unit_test(test_posted_silent),
		cmocka_unit_test(test_killed),   cmocka_unit_test(test_memory_parts),
		cmocka_unit_test(test_cmdline),  cmocka_unit_test(test_big_file),
		cmocka_unit_test(test_no_child), cmocka_unit_test(test_process_cache),
		cmocka_unit_test(test_limits),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
