// common/holder/ptrace.c: which of the reasons for a refused PTRACE_SEIZE is told. What the kernel
// and /proc say is the test's.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/cli/err.h"
#include "common/holder/ptrace.h"
#include "common/host/proc.h"
#include "common/host/root.h"
#include "common/kfd/abi.h"

#include <sched.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct refusal {
	bool gone, kernel_thread, self;
	char state;
	pid_t tracer, holder;
	uid_t me, other; // 0, 0: root and root's
	int scope;       // of Yama; 0: there is none
	int status;
	const char *text; // what the sentence has
};
static const struct refusal *my;

static long fake_ptrace(int request, ...)
{
	(void)request;
	errno = EPERM;
	return -1;
}

static int fake_proc_read(struct proc *p, pid_t pid)
{
	*p = (struct proc){.pid = pid, .uid = my->other, .tracer = my->tracer, .comm = "gdb"};
	p->memory = !my->kernel_thread;
	p->state = my->state ? my->state : 'S';
	errno = ENOENT;
	return my->gone ? -1 : 0;
}

static int fake_read_u64(const char *path, uint64_t *v)
{
	assert_string_equal(path, "/proc/sys/kernel/yama/ptrace_scope");
	errno = ENOENT;
	if (!my->scope)
		return -1;
	*v = (uint64_t)my->scope;
	return 0;
}

#define ptrace(...)            fake_ptrace(__VA_ARGS__)
#define proc_read(p, pid)      fake_proc_read(p, pid)
#define host_read_u64(path, v) fake_read_u64(path, v)
#define kfd_holder_of(pid)     ((void)(pid), my->holder)
#define kfd_wait_death(p, ms)  ((void)(p), (void)(ms), false)
#define geteuid()              (my->me)
#include "common/holder/ptrace.c" // NOLINT(bugprone-suspicious-include)

static void test_refusals(void **state)
{
	static const struct refusal cases[] = {
		{.gone = true, .status = GPQ_NOTFOUND, .text = "no such process"},
		{.self = true, .status = GPQ_USAGE, .text = "cannot suspend itself"},
		{.state = 'Z', .status = GPQ_NOTFOUND, .text = "main thread has ended"},
		{.state = 'X', .status = GPQ_NOTFOUND, .text = "main thread has ended"},
		{.kernel_thread = true, .status = GPQ_NOTFOUND, .text = "not a KFD process"},
		{.tracer = 8, .holder = 8, .status = GPQ_DENIED, .text = "the gpq holder 8, which"},
		{.tracer = 8,
		 .holder = 8,
		 .me = 5,
		 .other = 5,
		 .status = GPQ_DENIED,
		 .text = "the gpq holder 8, which"},
		{.tracer = 8,
		 .holder = 8,
		 .me = 5,
		 .other = 6,
		 .status = GPQ_DENIED,
		 .text = "the gpq holder 8 of another user"},
		{.tracer = 8, .status = GPQ_DENIED, .text = "traced by pid 8 (gdb)"},
		{.me = 5, .other = 6, .scope = 1, .status = GPQ_DENIED, .text = "(uid 6)"},
		{.status = GPQ_DENIED, .text = "it changed its credentials"},
		{.other = 6, .status = GPQ_DENIED, .text = "it changed its credentials"},
		{.scope = 1, .status = GPQ_DENIED, .text = "ptrace_scope is 1 "},
		{.me = 5, .other = 5, .scope = 2, .status = GPQ_DENIED, .text = "_scope is 2:"},
		{.scope = 3, .status = GPQ_DENIED, .text = "ptrace_scope is 3:"},
		{.scope = 4, .status = GPQ_DENIED, .text = "it changed its credentials"},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct kfd_failure f;
		my = &cases[i];
		assert_int_equal(tracee_seize(my->self ? getpid() : 7, &f), -1);
		if (f.status != my->status || !strstr(f.text, my->text))
			fail_msg("case %zu: %d %s", i, f.status, f.text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_refusals)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
