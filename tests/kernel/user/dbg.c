// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * dbg: KFD's debug interface, one call per word: the witness against which gpq is judged, and
 * the tool to find out what the driver does.  Run `dbg --help`.
 *
 * Every call is reported as "word -> result  (microseconds)"; a word that starts with "t:" is
 * carried out by a second thread, because the kernel tells threads apart.  While it waits, dbg
 * hands on the signals of a target that it traces.
 */
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include "kfduser.h"

#define MAX_IDS     1100 /* more than the driver takes (1024) */
#define MAX_ENTRIES 300

static int target, kfd = -1, events[2];
static __thread bool tracing;

/* ---- reports ---- */

static void report(const char *word, long result, uint64_t start)
{
	const int err = errno;
	printf("  %s -> %ld%s%s  (%llu us)\n", word, result, result < 0 ? " " : "",
	       result < 0 ? strerrorname_np(err) : "", (unsigned long long)(now_us() - start));
}

static int trap(uint32_t op, struct kfd_ioctl_dbg_trap_args *args)
{
	if (kfd < 0)
		kfd = open("/dev/kfd", O_RDWR | O_CLOEXEC);
	args->op = op;
	args->pid = (uint32_t)target;
	return ioctl(kfd, AMDKFD_IOC_DBG_TRAP, args);
}

/* ---- the target's signals: a traced process stops at each until its tracer hands it on ---- */

static bool is_stop_signal(int number)
{
	return number == SIGSTOP || number == SIGTSTP || number == SIGTTIN || number == SIGTTOU;
}

static void hand_on(int status)
{
	const int number = WSTOPSIG(status);
	const bool event = status >> 16 == PTRACE_EVENT_STOP;
	if (event && is_stop_signal(number))
		ptrace(PTRACE_LISTEN, target, 0, 0);
	else
		ptrace(PTRACE_CONT, target, 0, event ? 0 : number);
}

/* Waits; ms < 0: for ever, or until the target ends. */
static void serve(int ms)
{
	const uint64_t end = now_us() + (uint64_t)(ms < 0 ? 0 : ms) * 1000;
	int status;
	while (ms < 0 || now_us() < end) {
		const pid_t got = tracing ? waitpid(target, &status, __WALL | WNOHANG) : 0;
		if (got > 0 && WIFSTOPPED(status)) {
			hand_on(status);
			continue;
		}
		if (got > 0)
			tracing = false; /* it has ended */
		usleep(100);
	}
}

/* ---- words ---- */

static void do_seize(const char *word, const char *arg)
{
	const uint64_t start = now_us();
	const long result = ptrace(PTRACE_SEIZE, target, 0, 0);
	(void)arg;
	report(word, result, start);
	tracing = tracing || !result;
}

static void do_detach(const char *word, const char *arg)
{
	const uint64_t start = now_us();
	int status = 0, number = 0;
	(void)arg;
	ptrace(PTRACE_INTERRUPT, target, 0, 0); /* only a stopped tracee can be let go */
	waitpid(target, &status, __WALL);
	if (WIFSTOPPED(status) && status >> 16 != PTRACE_EVENT_STOP)
		number = WSTOPSIG(status);
	report(word, ptrace(PTRACE_DETACH, target, 0, number), start);
	tracing = false;
}

static void do_enable(const char *word, const char *arg)
{
	struct kfd_runtime_info info = {0};
	struct kfd_ioctl_dbg_trap_args args = {
		.enable = {
			.exception_mask = arg ? strtoull(arg, NULL, 0) : 0,
			.rinfo_ptr = (uintptr_t)&info,
			.rinfo_size = sizeof(info),
			.dbg_fd = (uint32_t)events[1],
		}};
	const uint64_t start = now_us();
	const int result = trap(KFD_IOC_DBG_TRAP_ENABLE, &args);
	report(word, result, start);
	if (!result)
		printf("    runtime_state %u ttmp_setup %u r_debug %llx\n", info.runtime_state,
		       info.ttmp_setup, (unsigned long long)info.r_debug);
}

static void do_disable(const char *word, const char *arg)
{
	struct kfd_ioctl_dbg_trap_args args = {0};
	const uint64_t start = now_us();
	(void)arg;
	report(word, trap(KFD_IOC_DBG_TRAP_DISABLE, &args), start);
}

static void do_snap(const char *word, const char *arg)
{
	struct kfd_queue_snapshot_entry list[MAX_ENTRIES] = {0};
	struct kfd_ioctl_dbg_trap_args args = {
		.queue_snapshot = {
			.exception_mask = arg ? strtoull(arg, NULL, 0) : 0,
			.snapshot_buf_ptr = (uintptr_t)list,
			.num_queues = MAX_ENTRIES,
			.entry_size = sizeof(list[0]),
		}};
	const uint64_t start = now_us();
	const int result = trap(KFD_IOC_DBG_TRAP_GET_QUEUE_SNAPSHOT, &args);
	report(word, result, start);
	for (uint32_t i = 0; result >= 0 && i < args.queue_snapshot.num_queues && i < MAX_ENTRIES;
	     i++)
		printf("    queue %u gpu %u type %u ring %u exception_status %llx ring_base %#llx"
		       " wptr_addr %#llx rptr_addr %#llx ctx_save %#llx+%u\n",
		       list[i].queue_id, list[i].gpu_id, list[i].queue_type, list[i].ring_size,
		       (unsigned long long)list[i].exception_status,
		       (unsigned long long)list[i].ring_base_address,
		       (unsigned long long)list[i].write_pointer_address,
		       (unsigned long long)list[i].read_pointer_address,
		       (unsigned long long)list[i].ctx_save_restore_address,
		       list[i].ctx_save_restore_area_size);
}

static uint32_t parse_ids(const char *text, uint32_t *ids, const char **rest)
{
	uint32_t n = 0;
	char *end;
	do {
		ids[n++] = (uint32_t)strtoul(text, &end, 0);
		text = end + 1;
	} while (*end == ',' && n < MAX_IDS);
	*rest = end;
	return n;
}

static void print_ids(const uint32_t *ids, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		printf("    [%u] %08x%s%s\n", i, ids[i],
		       ids[i] & KFD_DBG_QUEUE_ERROR_MASK ? " ERROR" : "",
		       ids[i] & KFD_DBG_QUEUE_INVALID_MASK ? " INVALID" : "");
}

static void do_suspend(const char *word, const char *arg)
{
	uint32_t ids[MAX_IDS];
	const char *rest;
	const uint32_t n = parse_ids(arg, ids, &rest);
	struct kfd_ioctl_dbg_trap_args args = {.suspend_queues = {
						       .queue_array_ptr = (uintptr_t)ids,
						       .num_queues = n,
					       }};
	uint64_t start;
	char *end = NULL;
	if (*rest == '/')
		args.suspend_queues.exception_mask = strtoull(rest + 1, &end, 0);
	if (end && *end == '/')
		args.suspend_queues.grace_period = (uint32_t)strtoul(end + 1, NULL, 0);
	start = now_us();
	report(word, trap(KFD_IOC_DBG_TRAP_SUSPEND_QUEUES, &args), start);
	print_ids(ids, n);
}

static void do_resume(const char *word, const char *arg)
{
	uint32_t ids[MAX_IDS];
	const uint32_t n = parse_ids(arg, ids, &arg);
	struct kfd_ioctl_dbg_trap_args args = {.resume_queues = {
						       .queue_array_ptr = (uintptr_t)ids,
						       .num_queues = n,
					       }};
	const uint64_t start = now_us();
	report(word, trap(KFD_IOC_DBG_TRAP_RESUME_QUEUES, &args), start);
	print_ids(ids, n);
}

static void do_resume_all(const char *word, const char *arg)
{
	struct kfd_ioctl_dbg_trap_args args = {0};
	const uint64_t start = now_us();
	(void)arg;
	report(word, trap(KFD_IOC_DBG_TRAP_RESUME_QUEUES, &args), start);
}

/* Many pairs at once, so that the cost of reporting is not in the figures. */
static void do_cycles(const char *word, const char *arg)
{
	uint32_t ids[MAX_IDS];
	const uint32_t n = parse_ids(arg, ids, &arg);
	const int cycles = *arg == '/' ? atoi(arg + 1) : 1;
	const uint64_t start = now_us();
	long done = 0;
	for (int i = 0; i < cycles; i++) {
		struct kfd_ioctl_dbg_trap_args suspend = {
			.suspend_queues = {.queue_array_ptr = (uintptr_t)ids, .num_queues = n}};
		struct kfd_ioctl_dbg_trap_args resume = {
			.resume_queues = {.queue_array_ptr = (uintptr_t)ids, .num_queues = n}};
		done += trap(KFD_IOC_DBG_TRAP_SUSPEND_QUEUES, &suspend) == (int)n &&
			trap(KFD_IOC_DBG_TRAP_RESUME_QUEUES, &resume) == (int)n;
	}
	report(word, done, start);
}

static void do_go_runtime(const char *word, const char *arg)
{
	struct kfd_ioctl_dbg_trap_args args = {
		.send_runtime_event = {.exception_mask = KFD_EC_MASK(EC_PROCESS_RUNTIME)}};
	const uint64_t start = now_us();
	(void)arg;
	report(word, trap(KFD_IOC_DBG_TRAP_SEND_RUNTIME_EVENT, &args), start);
}

static void do_query(const char *word, const char *arg)
{
	struct kfd_ioctl_dbg_trap_args args = {
		.query_debug_event = {.exception_mask = arg ? strtoull(arg, NULL, 0) : 0}};
	const uint64_t start = now_us();
	const int result = trap(KFD_IOC_DBG_TRAP_QUERY_DEBUG_EVENT, &args);
	report(word, result, start);
	if (result >= 0)
		printf("    event queue %u gpu %u mask %llx\n", args.query_debug_event.queue_id,
		       args.query_debug_event.gpu_id,
		       (unsigned long long)args.query_debug_event.exception_mask);
}

static void do_exceptions(const char *word, const char *arg)
{
	struct kfd_ioctl_dbg_trap_args args = {
		.set_exceptions_enabled = {.exception_mask = strtoull(arg, NULL, 0)}};
	const uint64_t start = now_us();
	report(word, trap(KFD_IOC_DBG_TRAP_SET_EXCEPTIONS_ENABLED, &args), start);
}

static void do_devices(const char *word, const char *arg)
{
	struct kfd_dbg_device_info_entry list[MAX_NODES] = {0};
	struct kfd_ioctl_dbg_trap_args args = {.device_snapshot = {
						       .snapshot_buf_ptr = (uintptr_t)list,
						       .num_devices = MAX_NODES,
						       .entry_size = sizeof(list[0]),
					       }};
	const uint64_t start = now_us();
	const int result = trap(KFD_IOC_DBG_TRAP_GET_DEVICE_SNAPSHOT, &args);
	(void)arg;
	report(word, result, start);
	for (uint32_t i = 0; result >= 0 && i < args.device_snapshot.num_devices && i < MAX_NODES;
	     i++)
		printf("    gpu %u location %x id %x:%x gfx %u xcc %u firmware %u\n",
		       list[i].gpu_id, list[i].location_id, list[i].vendor_id, list[i].device_id,
		       list[i].gfx_target_version, list[i].num_xcc, list[i].fw_version);
}

static void do_poll(const char *word, const char *arg)
{
	struct pollfd pipe = {.fd = events[0], .events = POLLIN};
	const uint64_t start = now_us();
	const int result = poll(&pipe, 1, atoi(arg));
	char buffer[64];
	report(word, result, start);
	if (result > 0)
		printf("    %zd byte(s) in the event pipe\n",
		       read(events[0], buffer, sizeof(buffer)));
}

static void do_wait(const char *word, const char *arg)
{
	(void)word;
	serve(atoi(arg));
}

static void do_hold(const char *word, const char *arg)
{
	(void)word, (void)arg;
	serve(-1);
}

static void do_shell(const char *word, const char *arg)
{
	(void)word;
	if (system(arg) < 0)
		die("%s", arg);
}

static void do_uid(const char *word, const char *arg)
{
	const uid_t uid = (uid_t)atoi(arg);
	(void)word;
	if (setresuid(uid, uid, uid))
		die("setresuid %u", uid);
}

static void do_die(const char *word, const char *arg)
{
	(void)word, (void)arg;
	raise(SIGKILL);
}

static void do_thread_end(const char *word, const char *arg)
{
	(void)word, (void)arg;
	pthread_exit(NULL);
}

enum argument { NONE, MAY, MUST };

static const struct word {
	const char *name;
	enum argument argument;
	void (*act)(const char *word, const char *arg);
	const char *help;
} words[] = {
	{"seize", NONE, do_seize, "PTRACE_SEIZE"},
	{"detach", NONE, do_detach, "PTRACE_INTERRUPT, wait, PTRACE_DETACH"},
	{"enable", MAY, do_enable, "ENABLE [with this exception mask]"},
	{"disable", NONE, do_disable, "DISABLE"},
	{"snap", MAY, do_snap, "GET_QUEUE_SNAPSHOT [clearing these exceptions]"},
	{"susp", MUST, do_suspend, "SUSPEND_QUEUES: ID,ID...[/CLEARMASK[/GRACE]]"},
	{"res", MUST, do_resume, "RESUME_QUEUES: ID,ID..."},
	{"resall", NONE, do_resume_all, "RESUME_QUEUES without a list: all"},
	{"cycles", MUST, do_cycles, "ID,ID.../N: suspend and resume N times; how many were right"},
	{"dev", NONE, do_devices, "GET_DEVICE_SNAPSHOT"},
	{"query", MAY, do_query, "QUERY_DEBUG_EVENT [clearing these exceptions]"},
	{"excmask", MUST, do_exceptions, "SET_EXCEPTIONS_ENABLED"},
	{"goruntime", NONE, do_go_runtime, "SEND_RUNTIME_EVENT(EC_PROCESS_RUNTIME)"},
	{"poll", MUST, do_poll, "wait MS for the event pipe"},
	{"ms", MUST, do_wait, "wait, handing on the target's signals"},
	{"hold", NONE, do_hold, "the same, for ever"},
	{"sh", MUST, do_shell, "run a shell command"},
	{"uid", MUST, do_uid, "become this user (before the first call, to open /dev/kfd as it)"},
	{"die", NONE, do_die, "SIGKILL oneself"},
	{"exit", NONE, do_thread_end, "end this thread (t:exit)"},
};
#define N_WORDS (sizeof(words) / sizeof(words[0]))

static void run_word(const char *text)
{
	const size_t length = strcspn(text, "=");
	const char *arg = text[length] ? text + length + 1 : NULL;
	for (size_t i = 0; i < N_WORDS; i++) {
		const struct word *word = &words[i];
		if (strlen(word->name) != length || strncmp(word->name, text, length))
			continue;
		if ((word->argument == NONE && arg) || (word->argument == MUST && !arg))
			break;
		word->act(text, arg);
		return;
	}
	fprintf(stderr, "dbg: what is %s?  See dbg --help\n", text);
	exit(2);
}

/* ---- the second thread: it waits for words that begin with t: ---- */

static struct {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	const char *word; /* NULL: idle */
	bool runs;
} second = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void set_word(const char *word)
{
	pthread_mutex_lock(&second.lock);
	second.word = word;
	pthread_cond_broadcast(&second.changed);
	pthread_mutex_unlock(&second.lock);
}

static const char *await_word(bool some)
{
	const char *word;
	pthread_mutex_lock(&second.lock);
	while (!second.word == some)
		pthread_cond_wait(&second.changed, &second.lock);
	word = second.word;
	pthread_mutex_unlock(&second.lock);
	return word;
}

static void *second_thread(void *unused)
{
	for (;;) {
		run_word(await_word(true));
		set_word(NULL);
	}
	return unused;
}

static void run_in_second(const char *word)
{
	if (!second.runs && pthread_create(&second.thread, NULL, second_thread, NULL))
		die("pthread_create");
	second.runs = true;
	set_word(word);
	if (strcmp(word, "exit")) {
		await_word(false);
		return;
	}
	pthread_join(second.thread, NULL);
	second.runs = false;
	set_word(NULL);
}

static void usage(void)
{
	static const char *const argument[] = {"", "[=X]", "=X"};
	char left[32];

	printf("usage: dbg PID WORD...\nCalls of KFD's debug interface on a process, in order.\n"
	       "A word that starts with t: is carried out by a second thread.\n\n");
	for (size_t i = 0; i < N_WORDS; i++) {
		snprintf(left, sizeof(left), "%s%s", words[i].name, argument[words[i].argument]);
		printf("  %-12s %s\n", left, words[i].help);
	}
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc > 1 && !strcmp(argv[1], "--help")) {
		usage();
		return 0;
	}
	target = argc > 1 ? atoi(argv[1]) : 0;
	if (target <= 0) {
		fprintf(stderr, "usage: dbg PID WORD...  See dbg --help\n");
		return 2;
	}
	if (pipe2(events, O_CLOEXEC | O_NONBLOCK))
		die("pipe");
	for (int i = 2; i < argc; i++) {
		if (!strncmp(argv[i], "t:", 2))
			run_in_second(argv[i] + 2);
		else
			run_word(argv[i]);
	}
	return 0;
}
