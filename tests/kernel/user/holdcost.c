// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * holdcost: what suspending by gpq costs above the system calls that it takes, as ratios.
 *
 *   holdcost first PID N      `gpq suspend -p PID` and `holdcost bare PID`, N times each in turn
 *   holdcost kept PID N       suspend and resume through a kept holder, and the bare ioctl with a
 *                             round trip between two processes, N times each in turn
 *   holdcost hints SOCKET N SCHED PID...    begin, until gpq sched, process SCHED, has taken the
 *                             queues of all PID off and answers, N times, each ended again
 *   holdcost group N PID...    what that is compared with
 *   holdcost bare PID         what the first is compared with
 *   holdcost cycles SOCKET N  N times suspend and resume; fails when an answer is not right
 *
 * Means without the lowest and the highest tenth.  The clock counts instructions, so runs differ only
 * by what the kernel does meanwhile: timer ticks, and what it frees late of the run before.  Whom that
 * meets is a matter of phase, and programs that do the same each time keep theirs (seen: two clusters,
 * 300 us apart).  So each run begins after a pause of random length.  "first" is by the clock; "work" is processor time, the holder's included: what is left
 * when waiting for the GPU is taken off.  Both sides wait for the same.  "hints" and "group" tell the processor time of
 * all that work for it, too: between the request and the answer several processes wait for the GPUs at once, and how
 * long depends on who comes when.  The driver waits for a GPU without sleeping, so that the processor time is gpq's only
 * if the GPU answers at once (poll_us).
 *
 * The bare program is what one would write for this one job: no options, no messages, no checks,
 * but the same job.  It pins the process; makes a private directory and a socket by which another
 * command can find it later; starts a process of its own that keeps nothing of the caller's; that
 * opens KFD, seizes the target, looks for a foreign session, enables, answers the runtime in
 * advance, takes the snapshot, suspends, and tells its parent, which prints a line for each queue.
 * Left out is all that gpq does above that: the lock, the tracer, the signals, the timers, the
 * deadline, the confirmation once the rows are written.  Like gpq it is linked with the C library
 * as any program is.
 */
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <signal.h>
#include "kfduser.h"

#define MAX_RUNS 5000
#define IDS      1024

extern char **environ;

static int kfd;

static uint64_t now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static int trap(pid_t pid, uint32_t op, struct kfd_ioctl_dbg_trap_args *a)
{
	a->pid = (uint32_t)pid;
	a->op = op;
	return ioctl(kfd, AMDKFD_IOC_DBG_TRAP, a);
}

/* ---- the bare calls ---- */

static uint32_t ids[IDS];
static unsigned int n_ids;

static void session(pid_t pid)
{
	struct kfd_ioctl_dbg_trap_args probe = {.queue_snapshot = {.entry_size = 64}}, on = {0},
				       go = {0}, list = {0};
	static struct kfd_queue_snapshot_entry entries[IDS];
	struct kfd_ioctl_get_version_args version;
	struct kfd_runtime_info info;
	int events[2];
	kfd = open("/dev/kfd", O_RDWR | O_CLOEXEC);
	if (kfd < 0 || ioctl(kfd, AMDKFD_IOC_GET_VERSION, &version) ||
	    ptrace(PTRACE_SEIZE, pid, 0, 0))
		die("session with %d", pid);
	trap(pid, KFD_IOC_DBG_TRAP_GET_QUEUE_SNAPSHOT, &probe);
	if (pipe2(events, O_CLOEXEC | O_NONBLOCK))
		die("pipe");
	on.enable.exception_mask = KFD_EC_MASK(EC_PROCESS_RUNTIME) | KFD_EC_MASK(EC_QUEUE_NEW);
	on.enable.rinfo_ptr = (uintptr_t)&info;
	on.enable.rinfo_size = sizeof(info);
	on.enable.dbg_fd = (uint32_t)events[1];
	if (trap(pid, KFD_IOC_DBG_TRAP_ENABLE, &on))
		die("ENABLE");
	for (int i = 0; i < 2; i++) {
		go.send_runtime_event.exception_mask = KFD_EC_MASK(EC_PROCESS_RUNTIME);
		trap(pid, KFD_IOC_DBG_TRAP_SEND_RUNTIME_EVENT, &go);
	}
	list.queue_snapshot.exception_mask = KFD_EC_MASK(EC_QUEUE_NEW);
	list.queue_snapshot.snapshot_buf_ptr = (uintptr_t)entries;
	list.queue_snapshot.num_queues = IDS;
	list.queue_snapshot.entry_size = sizeof(entries[0]);
	if (trap(pid, KFD_IOC_DBG_TRAP_GET_QUEUE_SNAPSHOT, &list))
		die("GET_QUEUE_SNAPSHOT");
	n_ids = list.queue_snapshot.num_queues;
	for (unsigned int i = 0; i < n_ids; i++)
		ids[i] = entries[i].queue_id;
}

static void suspend_all(pid_t pid)
{
	struct kfd_ioctl_dbg_trap_args a = {0};
	uint32_t copy[IDS];
	memcpy(copy, ids, sizeof(copy));
	a.suspend_queues.queue_array_ptr = (uintptr_t)copy;
	a.suspend_queues.num_queues = n_ids;
	if (trap(pid, KFD_IOC_DBG_TRAP_SUSPEND_QUEUES, &a) != (int)n_ids)
		die("SUSPEND_QUEUES");
}

static void resume_all(pid_t pid)
{
	struct kfd_ioctl_dbg_trap_args a = {0};
	uint32_t copy[IDS];
	memcpy(copy, ids, sizeof(copy));
	a.resume_queues.queue_array_ptr = (uintptr_t)copy;
	a.resume_queues.num_queues = n_ids;
	if (trap(pid, KFD_IOC_DBG_TRAP_RESUME_QUEUES, &a) != (int)n_ids)
		die("RESUME_QUEUES");
}

/* ---- statistics ---- */

static int by_value(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

static uint64_t typical(uint64_t *v, int n)
{
	const int cut = n / 10;
	uint64_t sum = 0;
	qsort(v, (size_t)n, sizeof(*v), by_value);
	for (int i = cut; i < n - cut; i++)
		sum += v[i];
	return sum / (uint64_t)(n - 2 * cut);
}

static void ratio(const char *what, uint64_t *ours, uint64_t *bare, int n)
{
	const uint64_t a = typical(ours, n), b = typical(bare, n);
	printf("%s %.2f (%llu us against %llu us, %d runs)\n", what, (double)a / (double)b,
	       (unsigned long long)a / 1000, (unsigned long long)b / 1000, n);
}

/* ---- a first suspension ---- */

#define BARE_DIR "/tmp/holdcost"

/* Where another command would find the holder. */
static int bare_listener(pid_t pid)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	mkdir(BARE_DIR, 0700);
	snprintf(a.sun_path, sizeof(a.sun_path), BARE_DIR "/%d", pid);
	unlink(a.sun_path);
	if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof(a)) || listen(fd, 128))
		die("%s", a.sun_path);
	return fd;
}

static void bare_detach(void)
{
	const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	setsid();
	if (chdir("/"))
		die("chdir");
	for (int fd = 0; fd <= 2; fd++)
		dup2(null, fd);
}

/* The holder: suspends, says so, and then waits for somebody to say the word. */
static void bare_hold(pid_t pid, int parent, int listener)
{
	bare_detach();
	session(pid);
	suspend_all(pid);
	if (write(parent, ids, n_ids * sizeof(ids[0])) != (ssize_t)(n_ids * sizeof(ids[0])))
		_exit(1);
	close(parent);
	accept(listener, NULL, NULL);
	_exit(0);
}

static int bare(pid_t pid)
{
	const int pidfd = (int)syscall(SYS_pidfd_open, pid, 0), listener = bare_listener(pid);
	uint32_t held[IDS];
	int talk[2];
	ssize_t n;
	if (pidfd < 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, talk))
		die("socketpair");
	if (fork() == 0)
		bare_hold(pid, talk[1], listener);
	close(talk[1]);
	n = read(talk[0], held, sizeof(held));
	for (ssize_t i = 0; i < n / (ssize_t)sizeof(held[0]); i++)
		printf("%d %u suspended\n", pid, held[i]);
	return n > 0 ? 0 : 1;
}

static pid_t tracer(pid_t pid)
{
	char path[64], line[256];
	int found = 0;
	FILE *f;
	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f) && sscanf(line, "TracerPid: %d", &found) != 1)
		;
	if (f)
		fclose(f);
	return found;
}

struct cost {
	uint64_t time, work;
};

static uint64_t usage_ns(const struct rusage *u)
{
	return ((uint64_t)(u->ru_utime.tv_sec + u->ru_stime.tv_sec) * 1000000 +
		(uint64_t)(u->ru_utime.tv_usec + u->ru_stime.tv_usec)) *
	       1000;
}

static struct cost cost_of(char **argv)
{
	posix_spawn_file_actions_t quiet;
	struct rusage usage;
	struct cost c;
	int status;
	pid_t pid;
	posix_spawn_file_actions_init(&quiet);
	posix_spawn_file_actions_addopen(&quiet, 1, "/dev/null", O_WRONLY, 0);
	usleep((useconds_t)(random() % 8000)); /* two ticks */
	c.time = now_ns();
	if (posix_spawnp(&pid, argv[0], &quiet, NULL, argv, environ) ||
	    wait4(pid, &status, 0, &usage) != pid || status)
		die("%s", argv[0]);
	c.time = now_ns() - c.time;
	c.work = usage_ns(&usage);
	posix_spawn_file_actions_destroy(&quiet);
	return c;
}

/* Processor time of a process that is still there. */
static uint64_t work_of(pid_t pid)
{
	unsigned long long ns = 0;
	char path[64];
	FILE *f;
	snprintf(path, sizeof(path), "/proc/%d/schedstat", pid);
	f = fopen(path, "r");
	if (!f || fscanf(f, "%llu", &ns) != 1)
		die("%s", path);
	fclose(f);
	return ns;
}

/* Until the driver has forgotten the holder, too: on 6.12 the next open of /dev/kfd would wait for
 * that, for longer than all the rest takes, on both sides of a ratio. */
static void release(pid_t pid)
{
	const pid_t holder = tracer(pid);
	char path[64];
	snprintf(path, sizeof(path), "/sys/class/kfd/kfd/proc/%d", holder);
	if (holder)
		kill(holder, SIGKILL);
	while (tracer(pid) || (holder && !access(path, F_OK)))
		usleep(1000);
}

static struct cost cost_of_suspending(pid_t pid, char **argv)
{
	struct cost c = cost_of(argv);
	c.work += work_of(tracer(pid));
	release(pid);
	return c;
}

static int first(pid_t pid, char *text, int n)
{
	char *gpq[] = {"gpq", "suspend", "-q", "-r", "-n", "-p", text, NULL};
	char *base[] = {"holdcost", "bare", text, NULL};
	char *version[] = {"gpq", "--version", NULL}, *nothing[] = {"holdcost", "nothing", NULL};
	static uint64_t time[2][MAX_RUNS], work[2][MAX_RUNS], start[2][MAX_RUNS];
	for (int i = 0; i < n; i++) {
		const struct cost theirs = cost_of_suspending(pid, base);
		const struct cost ours = cost_of_suspending(pid, gpq);
		time[0][i] = ours.time;
		work[0][i] = ours.work;
		time[1][i] = theirs.time;
		work[1][i] = theirs.work;
		start[0][i] = cost_of(version).time;
		start[1][i] = cost_of(nothing).time;
	}
	ratio("start", start[0], start[1], n);
	ratio("work", work[0], work[1], n);
	ratio("first", time[0], time[1], n);
	return 0;
}

/* ---- through a kept holder ---- */

static int link_to(const char *path)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	if (fd < 0 || connect(fd, (struct sockaddr *)&a, sizeof(a)))
		die("%s", path);
	return fd;
}

/* Sends a request and reads its answer, which must end with "ok". */
static void ask(int fd, const char *request, size_t len)
{
	static char text[1 << 20];
	size_t have = 0;
	const char *last;
	ssize_t n;
	if (write(fd, request, len) != (ssize_t)len)
		die("request");
	do {
		n = read(fd, text + have, sizeof(text) - 1 - have);
		if (n <= 0)
			die("answer");
		have += (size_t)n;
		text[have] = 0;
		last = have > 1 ? memrchr(text, '\n', have - 1) : NULL;
		last = last ? last + 1 : text;
	} while (text[have - 1] != '\n' || (strncmp(last, "ok ", 3) && strncmp(last, "error ", 6)));
	if (strncmp(last, "ok ", 3)) {
		fprintf(stderr, "%s", last);
		exit(1);
	}
}

#define ASK(fd, text) ask(fd, text, sizeof(text) - 1)

/* A process that answers each message with one of its own. */
static int echo_start(void)
{
	char text[4096];
	int talk[2];
	ssize_t n;
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, talk))
		die("socketpair");
	if (fork() == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(talk[0]);
		while ((n = read(talk[1], text, sizeof(text))) > 0)
			if (write(talk[1], text, (size_t)n) != n)
				break;
		_exit(0);
	}
	close(talk[1]);
	return talk[0];
}

static void round_trip(int fd)
{
	char text[512] = "suspend\n";
	if (write(fd, text, sizeof(text)) != sizeof(text) || read(fd, text, sizeof(text)) <= 0)
		die("round trip");
}

/* The holder traces the target, and there can be one tracer only: so it is measured first, then it
 * is ended and the bare calls are measured, and so on in blocks. */
static void block_ours(pid_t pid, uint64_t *s, uint64_t *r, int n)
{
	char text[16], path[256];
	char *suspend[] = {"gpq", "suspend", "-q", "-r", "-n", "-p", text, NULL};
	uint64_t start;
	FILE *f;
	int fd;
	snprintf(text, sizeof(text), "%d", pid);
	cost_of(suspend);
	f = popen("gpq suspend --list -r -n -o SOCKET", "r");
	if (!f || !fgets(path, sizeof(path), f))
		die("socket");
	pclose(f);
	path[strcspn(path, "\n")] = 0;
	fd = link_to(path);
	ASK(fd, "resume keep\n");
	usleep(300000); /* The holder filters its system calls from 100 ms on: that counts too. */
	for (int i = 0; i < n; i++) {
		start = now_ns();
		ASK(fd, "suspend\n");
		s[i] = now_ns() - start;
		start = now_ns();
		ASK(fd, "resume keep\n");
		r[i] = now_ns() - start;
	}
	close(fd);
	release(pid);
}

static void block_bare(pid_t pid, uint64_t *s, uint64_t *r, int n)
{
	int status;
	int out[2];
	if (pipe(out))
		die("pipe");
	if (fork() == 0) {
		const int echo = echo_start();
		uint64_t start, t[2];
		session(pid);
		for (int i = 0; i < n; i++) {
			start = now_ns();
			suspend_all(pid);
			round_trip(echo);
			t[0] = now_ns() - start;
			start = now_ns();
			resume_all(pid);
			round_trip(echo);
			t[1] = now_ns() - start;
			if (write(out[1], t, sizeof(t)) != sizeof(t))
				_exit(1);
		}
		_exit(0);
	}
	close(out[1]);
	for (int i = 0; i < n; i++) {
		uint64_t t[2];
		if (read(out[0], t, sizeof(t)) != sizeof(t))
			die("bare calls");
		s[i] = t[0];
		r[i] = t[1];
	}
	close(out[0]);
	wait(&status);
	release(pid);
}

#define BLOCKS 4

static int kept(pid_t pid, int n)
{
	static uint64_t v[4][MAX_RUNS];
	const int part = n / BLOCKS;
	for (int b = 0; b < BLOCKS; b++) {
		block_bare(pid, v[0] + b * part, v[1] + b * part, part);
		block_ours(pid, v[2] + b * part, v[3] + b * part, part);
	}
	ratio("suspend", v[2], v[0], BLOCKS * part);
	ratio("resume", v[3], v[1], BLOCKS * part);
	return 0;
}

static int cycles(const char *path, int n)
{
	const int fd = link_to(path);
	for (int i = 0; i < n; i++) {
		ASK(fd, "suspend\n");
		ASK(fd, "resume keep\n");
	}
	return 0;
}

/* ---- gpq sched ---- */

static struct {
	pid_t pids[130]; /* who work for an answer, but this process */
	int n;
	struct cost before;
	uint64_t time[MAX_RUNS], work[MAX_RUNS];
	int runs;
} turns;

static uint64_t work_of_others(void)
{
	uint64_t sum = 0;
	for (int i = 0; i < turns.n; i++)
		sum += work_of(turns.pids[i]);
	return sum;
}

static uint64_t own_work(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Files are read before the clocks at the beginning and behind them at the end. */
static void turn_begins(void)
{
	turns.before.work = work_of_others();
	turns.before.work += own_work();
	turns.before.time = now_ns();
}

static void turn_ends(void)
{
	turns.time[turns.runs] = now_ns() - turns.before.time;
	turns.work[turns.runs] = own_work();
	turns.work[turns.runs++] += work_of_others() - turns.before.work;
}

static void told(const char *what)
{
	const uint64_t time = typical(turns.time, turns.runs); /* sorts them */
	printf("%s %llu us, of a processor %llu us, %d times, p90 %llu us\n", what,
	       (unsigned long long)time / 1000,
	       (unsigned long long)typical(turns.work, turns.runs) / 1000, turns.runs,
	       (unsigned long long)turns.time[(turns.runs * 9 + 9) / 10 - 1] / 1000);
}

/* Resumed, and allowed to hold again: a hold lasts as long as ten cost, and with PAUSE_MS more. */
static void pause_between(void)
{
	const char *ms = getenv("PAUSE_MS");
	usleep((useconds_t)((ms ? atoi(ms) : 150) * 1000 + random() % 8000));
}

static int hints(const char *path, int n, pid_t sched, char **pids, int num)
{
	const int fd = link_to(path);
	turns.pids[turns.n++] = sched;
	for (int i = 0; i < num && i < 64; i++)
		turns.pids[turns.n++] = tracer(atoi(pids[i]));
	for (int i = 0; i < n; i++) {
		turn_begins();
		ASK(fd, "begin\n");
		turn_ends();
		if (write(fd, "end\n", 4) != 4 || read(fd, ids, sizeof(ids)) <= 0)
			die("end");
		pause_between();
	}
	told("hints");
	return 0;
}

static void order(int fd, char word)
{
	if (write(fd, &word, 1) != 1)
		die("order");
}

static void obey(int fd)
{
	char word;
	if (read(fd, &word, 1) != 1)
		die("answer");
}

/* The bare scheduler: a process for each target, which has its session open and suspends or
 * resumes when told to; one that tells them all and waits for all; and a client that asks that one.
 */
static int worker(pid_t pid, int fd)
{
	char word;
	session(pid);
	for (order(fd, '!'); read(fd, &word, 1) == 1; order(fd, word))
		if (word == 's')
			suspend_all(pid);
		else
			resume_all(pid);
	_exit(0);
}

static void bare_schedule(int client, const int *to, int n)
{
	char word;
	for (; read(client, &word, 1) == 1; order(client, word)) {
		for (int i = 0; i < n; i++)
			order(to[i], word);
		for (int i = 0; i < n; i++)
			obey(to[i]);
	}
	_exit(0);
}

static int group(int n, char **pids, int num)
{
	int to[64], ends[2];
	for (int i = 0; i < num && i < 64; i++) {
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
			die("socketpair");
		turns.pids[turns.n] = fork();
		if (turns.pids[turns.n++] == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			worker(atoi(pids[i]), ends[1]);
		}
		close(ends[1]);
		to[i] = ends[0];
		obey(to[i]);
	}
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
		die("socketpair");
	turns.pids[turns.n] = fork();
	if (turns.pids[turns.n++] == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(ends[0]);
		bare_schedule(ends[1], to, num);
	}
	for (int i = 0; i < n; i++) {
		turn_begins();
		order(ends[0], 's');
		obey(ends[0]);
		turn_ends();
		order(ends[0], 'r');
		obey(ends[0]);
		pause_between();
	}
	told("group");
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	if (!strcmp(what, "nothing"))
		return 0;
	if (!strcmp(what, "bare") && argc == 3)
		return bare(atoi(argv[2]));
	if (!strcmp(what, "first") && argc == 4 && atoi(argv[3]) <= MAX_RUNS)
		return first(atoi(argv[2]), argv[2], atoi(argv[3]));
	if (!strcmp(what, "kept") && argc == 4 && atoi(argv[3]) <= MAX_RUNS)
		return kept(atoi(argv[2]), atoi(argv[3]));
	if (!strcmp(what, "cycles") && argc == 4)
		return cycles(argv[2], atoi(argv[3]));
	if (!strcmp(what, "hints") && argc > 5 && atoi(argv[3]) <= MAX_RUNS)
		return hints(argv[2], atoi(argv[3]), atoi(argv[4]), argv + 5, argc - 5);
	if (!strcmp(what, "group") && argc > 3 && atoi(argv[2]) <= MAX_RUNS)
		return group(atoi(argv[2]), argv + 3, argc - 3);
	fprintf(stderr, "usage: holdcost first PID N | kept PID N | bare PID | cycles SOCKET N |\n"
			"       hints SOCKET N SCHED PID... | group N PID...\n");
	return 2;
}
