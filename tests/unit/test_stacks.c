// Stacks of threads that sleep, common/reader/stacks.c: of a real process, whose functions are
// known, and which is not stopped for it.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "common/host/root.h"
#include "common/reader/stacks.c" // NOLINT(bugprone-suspicious-include)

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

// How stacks name pause(), and the file that has it: "pause (libc.so.6)"; before glibc 2.34 that is
// another library than libc, in a file with its version.
static char in_pause[96];

static void name_pause(void)
{
	Dl_info i;
	assert_true(dladdr(dlsym(RTLD_NEXT, "pause"), &i));
	char *file = realpath(i.dli_fname, NULL);
	assert_non_null(file);
	snprintf(in_pause, sizeof(in_pause), "pause (%s)", basename(file));
	free(file);
}

static int stack_inner(int n)
{
	char room[64] = {(char)n};
	pause();
	return room[n % 64] + 1;
}

// Called by pointers, lest the compiler takes calls, or what returns from them, away.
static int (*volatile inner)(int) = stack_inner;

static int stack_outer(int n)
{
	return inner(n) + 1;
}

static int stack_other(int n)
{
	return inner(n) + 2;
}

static int (*volatile outer)(int) = stack_outer;
static int (*volatile other)(int) = stack_other;

// Functions as C++ names them: job::collective() with arguments of 1 KB, (anonymous
// namespace)::wait(int), void job::call<void (int)>(); and one whose name is long.
#define LONG_80 "stack_12345678901234567890123456789012345678901234567890123456789012345678901234"
int stack_method(int n) __asm__("_ZN3job10collectiveESt4pairIiiES0_IS1_S1_ES0_IS2_S2_ES0_IS3_S3_E"
				"S0_IS4_S4_E");
int stack_hidden(int n) __asm__("_ZN12_GLOBAL__N_14waitEi");
int stack_template(int n) __asm__("_ZN3job4callIFviEEEvv");
int stack_of_80(int n) __asm__(LONG_80);
int stack_of_81(int n) __asm__(LONG_80 "5");

int stack_method(int n)
{
	return inner(n) + 3;
}

static int (*volatile method)(int) = stack_method;

int stack_hidden(int n)
{
	return method(n) + 4;
}

static int (*volatile hidden)(int) = stack_hidden;

int stack_template(int n)
{
	return hidden(n) + 5;
}

static int (*volatile template)(int) = stack_template;

int stack_of_80(int n)
{
	return template(n) + 6;
}

static int (*volatile of_80)(int) = stack_of_80;

int stack_of_81(int n)
{
	return of_80(n) + 7;
}

static int (*volatile of_81)(int) = stack_of_81;

static int stack_deep(int n);
static int (*volatile deep)(int) = stack_deep;

static int stack_deep(int n)
{
	return (n ? deep(n - 1) : inner(0)) + 1;
}

static void *thread_waits(void *arg)
{
	return (void *)(intptr_t)other(arg != NULL);
}

static void *thread_runs(void *arg)
{
	for (volatile int *n = arg; *n >= 0;)
		;
	return NULL;
}

// A file that says it is a program, mapped as one: from its third byte on it is what `fill` says.
static void map_forged(unsigned char fill)
{
	static const unsigned char head[] = {0x7f, 'E', 'L', 'F', 2, 1, 1};
	static unsigned char page[4096];
	const int fd = open("/tmp", O_TMPFILE | O_RDWR, 0600);
	memset(page, fill, sizeof(page));
	memcpy(page, head, sizeof(head));
	assert_int_equal(write(fd, page, sizeof(page)), sizeof(page));
	assert_ptr_not_equal(mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0),
			     MAP_FAILED);
	close(fd);
}

// Starts a process with `n` threads in stack_other() besides its first, which calls `first`, and
// one that runs.
static pid_t start(unsigned n, int (*first)(int), int arg)
{
	const pid_t pid = fork();
	if (pid)
		return pid;
	static volatile int on;
	pthread_t t;
	prctl(PR_SET_PDEATHSIG, SIGKILL); // also of a test that failed
	map_forged(0);
	map_forged(0xff);
	for (unsigned i = 0; i < n; i++)
		pthread_create(&t, NULL, thread_waits, NULL);
	pthread_create(&t, NULL, thread_runs, (void *)(uintptr_t)&on);
	_exit(first(arg));
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

// Where the compiler keeps frame pointers, as with sanitizers, callers are guessed from one place
// on, which is not behind pause().
static void take_sure(struct buf *b)
{
	char *guessed;
	while (b->data && (guessed = strstr(b->data, " <~ "))) {
		const char *again = strstr(guessed + 1, " <~ "), *end = strchr(guessed, '\n');
		assert_true(!again || (end && again > end));
		assert_true(strncmp(guessed + 4, "stack_inner", 11) != 0);
		memmove(guessed + 2, guessed + 3, strlen(guessed + 3) + 1);
	}
}

// Reads until `want` threads sleep.
static void read_stacks(struct buf *b, pid_t pid, unsigned want)
{
	for (unsigned tries = 0; tries < 5000; tries++) {
		unsigned n = 0;
		b->len = 0;
		if (stacks_read(b, NULL, pid)) {
			assert_true(errno == EACCES || errno == EPERM);
			end(pid);
			skip(); // no right to trace
		}
		buf_append(b, "", 1);
		take_sure(b);
		for (const char *s = b->data; (s = strstr(s, in_pause)); s++)
			n++;
		if (n == want)
			return;
		usleep(1000);
	}
	fail_msg("%s", b->data);
}

static void assert_begins(const char *text, const char *with)
{
	if (strncmp(text, with, strlen(with)) != 0)
		fail_msg("%s\ndoes not begin with\n%s", text, with);
}

static void test_functions(void **state)
{
	SCOPED(buf_fini) struct buf b = {0};
	char wanted[256];
	(void)state;
	const pid_t pid = start(0, outer, 0);
	read_stacks(&b, pid, 1);
	snprintf(wanted, sizeof(wanted), "thread %d: %s < stack_inner < stack_outer < start",
		 (int)pid, in_pause);
	assert_begins(b.data, wanted);
	// Each of its callers, up to the first; the thread that runs has no line.
	assert_non_null(strstr(b.data, " < main (test_stacks) < "));
	assert_ptr_equal(strchr(b.data, '\n'), b.data + strlen(b.data) - 1);
	// It is not stopped, and nobody traces it.
	b.len = 0;
	assert_true(host_read(&b, PATH("/proc/%d/status", (int)pid)) > 0);
	assert_non_null(strstr(b.data, "\nTracerPid:\t0\n"));
	assert_non_null(strstr(b.data, "\nState:\tS"));
	end(pid);
}

// A stack of several threads has one line, with the first four of them.
static void test_shared(void **state)
{
	(void)state;
	for (unsigned n = 1; n <= 6; n++) {
		SCOPED(buf_fini) struct buf b = {0};
		const pid_t pid = start(n, outer, 0);
		int tids[4];
		unsigned more = 0;
		read_stacks(&b, pid, 2);
		for (unsigned tries = 0; tries < 5000; tries++) { // until all of them sleep there
			const char *line = strchr(b.data, '\n') + 1;
			const int got = sscanf(
				line, n == 1 ? "thread %d:" : "threads %d, %d, %d, %d and %u more:",
				&tids[0], &tids[1], &tids[2], &tids[3], &more);
			if (got == (int)(n < 4 ? n : n == 4 ? 4 : 5) && (n < 5 || more == n - 4))
				break;
			assert_true(tries < 4999);
			usleep(1000);
			read_stacks(&b, pid, 2);
		}
		for (unsigned i = 0; i < n && i < 4; i++) {
			assert_int_equal(tids[i] > pid, true);
			assert_int_equal(kill(tids[i], 0), 0);
		}
		char wanted[256];
		snprintf(wanted, sizeof(wanted),
			 ": %s < stack_inner < stack_other < thread_waits (test_stacks) < ",
			 in_pause);
		assert_non_null(strstr(b.data, wanted));
		end(pid);
	}
}

// Arguments of C++ functions are left out, and long names are cut.
static void test_names(void **state)
{
	SCOPED(buf_fini) struct buf b = {0};
	char wanted[512];
	(void)state;
	const pid_t pid = start(0, of_81, 0);
	read_stacks(&b, pid, 1);
	snprintf(wanted, sizeof(wanted),
		 ": %s < stack_inner < job::collective < (anonymous namespace)::wait < "
		 "void job::call<void (int)> < " LONG_80 " < " LONG_80 "... < start",
		 in_pause);
	assert_begins(strchr(b.data, ':'), wanted);
	end(pid);
}

static unsigned functions_in(const char *text)
{
	unsigned n = 1;
	for (const char *s = text; (s = strstr(s, " < ")); s++)
		n++;
	return n;
}

// 64 frames are told, of 256 threads.
static void test_most(void **state)
{
	SCOPED(buf_fini) struct buf b = {0};
	unsigned more = 0;
	(void)state;
	pid_t pid = start(0, deep, 61);
	read_stacks(&b, pid, 1); // 61 + 1 of it, stack_inner() and pause(): 64
	assert_int_equal(functions_in(b.data), STACKS_FRAMES_MOST);
	assert_true(strstr(b.data, "stack_deep (test_stacks)\n") != NULL);
	end(pid);
	pid = start(STACKS_THREADS_MOST + 2, outer, 0);
	for (unsigned tries = 0; tries < 5000 && more != STACKS_THREADS_MOST - 5; tries++) {
		read_stacks(&b, pid, 2);
		const char *found = strstr(b.data, " and ");
		more = found ? (unsigned)strtoul(found + 5, NULL, 10) : 0;
		assert_in_range(more, 0, STACKS_THREADS_MOST - 5);
	}
	assert_int_equal(more, STACKS_THREADS_MOST - 5); // the first one has another stack
	end(pid);
}

// Files that are no programs take no places of those that are.
static void test_files(void **state)
{
	SCOPED(buf_fini) struct buf b = {0};
	(void)state;
	int ready[2];
	char c, wanted[256];
	assert_int_equal(pipe(ready), 0);
	const pid_t pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (int i = 0; i < 600; i++) {
			const int fd = open("/tmp", O_TMPFILE | O_RDWR, 0600);
			(void)mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
			close(fd);
		}
		if (write(ready[1], "", 1) != 1)
			_exit(1);
		_exit(outer(0));
	}
	assert_int_equal(read(ready[0], &c, 1), 1);
	read_stacks(&b, pid, 1);
	snprintf(wanted, sizeof(wanted), ": %s < stack_inner < stack_outer < ", in_pause);
	assert_begins(strchr(b.data, ':'), wanted);
	end(pid);
	close(ready[0]);
	close(ready[1]);
}

static void test_none(void **state)
{
	SCOPED(buf_fini) struct buf b = {0};
	(void)state;
	const pid_t pid = start(0, outer, 0);
	end(pid);
	assert_int_equal(stacks_read(&b, NULL, pid), -1);
	assert_int_equal(errno, ENOENT);
	assert_int_equal(b.len, 0);
}

#define ROCR       "libhsa-runtime64.so.1"
#define ROWS(text) text, sizeof(text)

// Frames, the innermost first, and the function or library of ROCr that waits for a signal in them.
static void test_waits(void **state)
{
	static const struct {
		const char *frames;
		size_t size;
		const char *wait; // NULL: there is none
	} rows[] = {
		{ROWS("ioctl\0libc.so.6\0?\0" ROCR
		      "\0rocr::core::InterruptSignal::WaitRelaxed\0" ROCR
		      "\0hsa_signal_wait_relaxed\0" ROCR
		      "\0hipStreamSynchronize\0libamdhip64.so.6"),
		 "rocr::core::InterruptSignal::WaitRelaxed\n"},
		{ROWS("_ZN4rocr4core15InterruptSignal11WaitAcquireEm\0" ROCR "\0main\0train"),
		 "rocr::core::InterruptSignal::WaitAcquire\n"},
		{ROWS("hsaKmtWaitOnEvent\0" ROCR "\0f\0g"), "hsaKmtWaitOnEvent\n"},
		{ROWS("?\0libhsakmt.so.1\0hsa_amd_signal_wait_any\0" ROCR "\0f\0g"),
		 "hsa_amd_signal_wait_any\n"},
		// The runtime calls the C library, and C++.
		{ROWS("hsa_signal_wait_relaxed\0" ROCR "\0std::f\0libstdc++.so.6\0f\0g"),
		 "hsa_signal_wait_relaxed\n"},
		// A library with the names of its interface alone; code in no file.
		{ROWS("ioctl\0libc.so.6\0?\0\0?\0" ROCR ".15.0\0?\0libamdhip64.so.6"),
		 ROCR ".15.0\n"},
		{ROWS("hsa_signal_wait_relaxed\0" ROCR "\0?\0\0main\0train"),
		 "hsa_signal_wait_relaxed\n"},
		{ROWS("hsa_signal_wait_relaxed\0"), NULL},
		// Others wait, or a function that the runtime called.
		{ROWS("poll\0libc.so.6\0wait\0x"), NULL},
		{ROWS("MySignal::WaitFor\0libmine.so\0main\0train"), NULL},
		{ROWS("MySignal::WaitFor\0libmine.so\0hsa_signal_wait_relaxed\0" ROCR
		      "\0main\0train"),
		 NULL},
		// Threads of the runtime itself always wait.
		{ROWS("ioctl\0libc.so.6\0hsaKmtWaitOnMultipleEvents_Ext\0libhsakmt.so.1\0"
		      "rocr::core::Runtime::AsyncEventsLoop\0" ROCR "\0start_thread\0libc.so.6"),
		 NULL},
	};
	struct demangler *names = demangler_new();
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct stack s = {0};
		SCOPED(buf_fini) struct buf text = {0};
		assert_true(put_frames(&s, names, rows[i].frames, rows[i].size, SIZE_MAX));
		put_wait(&text, &s);
		assert_string_equal(text.data, rows[i].wait ? rows[i].wait : "\n");
		stack_fini(&s);
	}
	demangler_free(names);
}

// On a recorded host: the lines that were recorded.
static void test_recorded(void **state)
{
	SCOPED(buf_fini) struct buf b = {0}, waits = {0};
	char root[] = "/tmp/gpq-stacks-XXXXXX", command[160];
	(void)state;
	assert_non_null(mkdtemp(root));
	snprintf(command, sizeof(command),
		 "mkdir -p %s/proc/7 && echo 'thread 7: f < g' >%s/proc/7/stacks", root, root);
	assert_int_equal(system(command), 0); // NOLINT(cert-env33-c)
	assert_int_equal(host_set_root(root), 0);
	assert_int_equal(stacks_read(&b, &waits, 7), 0);
	assert_string_equal(b.data, "thread 7: f < g\n");
	assert_int_equal(waits.len, 0);
	assert_int_equal(stacks_read(&b, NULL, 8), -1);
	assert_int_equal(errno, ENOENT);
	assert_int_equal(host_set_root(NULL), 0);
	snprintf(command, sizeof(command), "rm -r %s", root);
	assert_int_equal(system(command), 0); // NOLINT(cert-env33-c)
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_functions), cmocka_unit_test(test_shared),
		cmocka_unit_test(test_names),     cmocka_unit_test(test_most),
		cmocka_unit_test(test_files),     cmocka_unit_test(test_none),
		cmocka_unit_test(test_recorded),  cmocka_unit_test(test_waits),
	};
	name_pause();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
