// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * mkqueue: a workload: create KFD queues and keep them busy, and do on demand what programs do
 * to a tool that watches them: queues that come late and go early, fork, exec, stop, exit,
 * signals.  Run `mkqueue --help`.
 *
 * What it did is on record: the queues on standard output, progress in a file that scripts read,
 * and, when asked for, a log of the shape that the HIP runtime writes.
 */
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include "hiplog.h"
#include "mkqopt.h"

#define MAX_QUEUES   512
#define MAX_GPUS     64
#define TICK_US      20000
#define WAIT_US      500    /* a request is looked after this often */
#define SDMA_BACKLOG 16     /* packets: an SDMA queue is as fast as it is fed */
#define R_DEBUG      0x1000 /* what the debugger gets to see as the loader's address */

static struct gpu gpus[MAX_GPUS], others[MAX_GPUS];
static struct queue queues[MAX_QUEUES];
static struct stream streams[MAX_QUEUES];
static uint64_t credit[MAX_QUEUES]; /* packets times 10^6 that --rate still allows */
static int n_queues, kfd;
static struct hiplog hiplog;
static char **arguments;

/* ---- queues ---- */

static void add_queue(struct gpu *gpu, enum kind kind)
{
	struct queue *queue = &queues[n_queues];
	errno = ENOSPC;
	if (n_queues == MAX_QUEUES)
		die("%d queues are the most", MAX_QUEUES);
	queue_create(queue, gpu, kind, (uint32_t)opt.ring, next_priority());
	if (kind == AQL && opt.log)
		hiplog_stream_created(&hiplog, queue, &streams[n_queues]);
	n_queues++;
}

static enum kind compute_kind(void)
{
	return opt.pm4 ? PM4 : AQL;
}

static uint64_t backlog_limit(const struct queue *queue)
{
	const uint64_t most = ring_capacity(queue) - 1;
	const uint64_t want = opt.backlog ? opt.backlog : queue->kind == SDMA ? SDMA_BACKLOG : most;
	return want < most ? want : most;
}

/* How many packets to submit now: room, rate and what is left of --packets. */
static uint64_t packets_due(int i, uint64_t us)
{
	const struct queue *queue = &queues[i];
	const uint64_t pending = queue_pending(queue), limit = backlog_limit(queue);
	uint64_t due = pending < limit ? limit - pending : 0;
	if (opt.rate) {
		credit[i] += opt.rate * us;
		if (due > credit[i] / 1000000)
			due = credit[i] / 1000000;
		/* What a full ring kept from being submitted is not made up for later. */
		credit[i] = due ? credit[i] - due * 1000000 : credit[i] % 1000000;
	}
	if (opt.packets && due > opt.packets - queue->submitted)
		due = opt.packets - queue->submitted;
	return due;
}

/* With a log every packet is a kernel launch, submitted and logged one by one. */
static void launch(int i, uint64_t packets)
{
	struct queue *queue = &queues[i];
	for (; packets; packets--) {
		const size_t k = (queue->submitted + (uint64_t)i) % N_KERNELS;
		const struct aql_dispatch packet = {
			.setup = 3,
			.workgroup = {kernels[k].workgroup, 1, 1},
			.grid = {opt.grid ? (uint32_t)opt.grid
					  : kernels[k].workgroup *
						    (uint32_t)(1 + queue->submitted % 900),
				 1, 1},
			.kernel_object = (uintptr_t)&kernels[k],
			.kernarg = (uintptr_t)queue->indices + 0x400,
		};
		put_packet(queue, *queue->write_index, &packet);
		hiplog_launch(&hiplog, queue, &streams[i], &packet, &kernels[k]);
		ring_doorbell(queue, 1);
	}
}

static void submit(int i, uint64_t packets)
{
	const struct aql_dispatch packet = {
		.setup = 1, .workgroup = {64, 1, 1}, .grid = {(uint32_t)opt.grid, 1, 1}};
	struct queue *queue = &queues[i];
	if (opt.log && queue->kind == AQL) {
		launch(i, packets);
		return;
	}
	if (!opt.grid || queue->kind != AQL) {
		queue_submit(queue, packets);
		return;
	}
	for (uint64_t n = 0; n < packets; n++)
		put_packet(queue, *queue->write_index + n, &packet);
	if (packets)
		ring_doorbell(queue, packets);
}

static void feed(uint64_t us)
{
	for (int i = 0; i < n_queues; i++)
		submit(i, packets_due(i, us));
	if (opt.log)
		fflush(hiplog.file);
}

static bool all_done(void)
{
	if (!opt.packets)
		return false;
	for (int i = 0; i < n_queues; i++)
		if (queues[i].submitted < opt.packets || queue_pending(&queues[i]))
			return false;
	return true;
}

/* ---- records ---- */

/* Readers must never see half a file. */
static void replace_file(const char *path, const char *text)
{
	char fresh[4096];
	FILE *f;
	snprintf(fresh, sizeof(fresh), "%s.new", path);
	f = fopen(fresh, "we");
	if (!f || fputs(text, f) < 0 || fclose(f) || rename(fresh, path))
		die("%s", path);
}

static void write_progress(void)
{
	static char text[MAX_QUEUES * 64];
	int n = 0;
	text[0] = 0;
	for (int i = 0; i < n_queues; i++)
		n += snprintf(text + n, sizeof(text) - (size_t)n, "%u %" PRIu64 " %" PRIu64 "\n",
			      queues[i].id, *queues[i].read_index, *queues[i].write_index);
	replace_file(opt.progress, text);
}

/* SIGRTMIN carries a number: each must arrive exactly once. */
#define MAX_SIGNAL_VALUE 65536
static volatile uint32_t signals_got, signals_user, signals_twice, signals_distinct;
static volatile uint8_t signal_seen[MAX_SIGNAL_VALUE];

static void on_signal(int number, siginfo_t *info, void *context)
{
	const unsigned int value = (unsigned int)info->si_value.sival_int % MAX_SIGNAL_VALUE;
	(void)context;
	if (number == SIGUSR1) {
		signals_user++;
		return;
	}
	signals_got++;
	if (signal_seen[value])
		signals_twice++;
	else
		signals_distinct++;
	signal_seen[value] = 1;
}

static void count_signals(void)
{
	struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART};
	sigaction(SIGRTMIN, &action, NULL);
	sigaction(SIGUSR1, &action, NULL);
}

static void write_signals(void)
{
	char text[128];
	snprintf(text, sizeof(text), "received %u distinct %u duplicate %u usr1 %u\n", signals_got,
		 signals_distinct, signals_twice, signals_user);
	replace_file(opt.signals, text);
}

/* ---- what happens on the way ---- */

static void runtime_enable(bool on)
{
	struct kfd_ioctl_runtime_enable_args args = {
		.r_debug = on ? R_DEBUG : 0,
		.mode_mask = on ? KFD_RUNTIME_ENABLE_MODE_ENABLE_MASK |
					     KFD_RUNTIME_ENABLE_MODE_TTMP_SAVE_MASK
				: 0,
	};
	const bool tell = !on || opt.wait_ms;
	uint64_t start;
	int err;
	do { /* again after a signal, as libhsakmt does */
		if (tell)
			printf("mkqueue %d: RUNTIME_ENABLE(%d) ...\n", getpid(), on);
		start = now_us();
		err = ioctl(kfd, AMDKFD_IOC_RUNTIME_ENABLE, &args) ? errno : 0;
		if (tell)
			printf("mkqueue %d: RUNTIME_ENABLE(%d) -> %s after %" PRIu64 " us\n",
			       getpid(), on, err ? strerrorname_np(err) : "0", now_us() - start);
	} while (err == EINTR);
	errno = err;
	if (err && on)
		die("RUNTIME_ENABLE");
}

static void create_late(void)
{
	add_queue(&gpus[0], compute_kind());
}

static void destroy_first(void)
{
	struct kfd_ioctl_destroy_queue_args args = {.queue_id = queues[0].id};
	const uint64_t start = now_us();
	int err;
	printf("mkqueue %d: DESTROY_QUEUE %u ...\n", getpid(), args.queue_id);
	err = ioctl(kfd, AMDKFD_IOC_DESTROY_QUEUE, &args) ? errno : 0;
	printf("mkqueue %d: DESTROY_QUEUE %u -> %s after %" PRIu64 " us\n", getpid(), args.queue_id,
	       err ? strerrorname_np(err) : "0", now_us() - start);
	if (err)
		return;
	if (opt.log && queues[0].kind == AQL)
		hiplog_stream_destroyed(&hiplog, &queues[0]);
	n_queues--;
	memmove(queues, queues + 1, (size_t)n_queues * sizeof(queues[0]));
	memmove(streams, streams + 1, (size_t)n_queues * sizeof(streams[0]));
	memmove(credit, credit + 1, (size_t)n_queues * sizeof(credit[0]));
}

/* The child has the parent's descriptors and no KFD process of its own. */
static void fork_child(void)
{
	struct kfd_ioctl_get_version_args args;
	pid_t child = fork();
	if (child < 0)
		die("fork");
	if (child) {
		printf("mkqueue %d: forked %d\n", getpid(), child);
		return;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	printf("mkqueue %d: child: GET_VERSION -> %s\n", getpid(),
	       ioctl(kfd, AMDKFD_IOC_GET_VERSION, &args) ? strerrorname_np(errno) : "0");
	for (;;)
		pause();
}

static void exec_self(void)
{
	printf("mkqueue %d: exec\n", getpid());
	setenv("MKQUEUE_EXECED", "1", 1);
	execv("/proc/self/exe", arguments);
	die("exec");
}

static void stop_self(void)
{
	raise(SIGSTOP);
}

static bool finished;

static void finish(void)
{
	finished = true;
}

/* All queues get as many packets as the one with the most. */
static void drain(void)
{
	for (int i = 0; i < n_queues; i++)
		if (queues[i].submitted > opt.packets)
			opt.packets = queues[i].submitted;
}

static void exit_now(void)
{
	_exit(3);
}

static struct event {
	int *at_ms; /* after the queues were created; 0: never */
	void (*act)(void);
	bool done;
} events[] = {
	{&opt.late_ms, create_late, false}, {&opt.destroy_ms, destroy_first, false},
	{&opt.fork_ms, fork_child, false},  {&opt.exec_ms, exec_self, false},
	{&opt.stop_ms, stop_self, false},   {&opt.finish_ms, finish, false},
	{&opt.exit_ms, exit_now, false},    {&opt.drain_ms, drain, false},
};

/* Returns since when the events' times count; 0: not yet. */
static uint64_t trigger_time(uint64_t begin, uint64_t now)
{
	static uint64_t seen;
	if (!opt.trigger)
		return begin;
	if (!seen && !access(opt.trigger, F_OK))
		seen = now;
	return seen;
}

static void run_events(uint64_t us)
{
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		struct event *event = &events[i];
		if (event->done || !*event->at_ms || us < (uint64_t)*event->at_ms * 1000)
			continue;
		event->done = true;
		event->act();
	}
}

/* ---- */

/*
 * After exec the driver still takes the old address space apart.  Opening /dev/kfd before its
 * directory in sysfs is gone crashes 6.12 [kernel.exec-crash]: the directory cannot be made a
 * second time, kfd_process_remove_sysfs() later follows the pointer that was freed.  A forked
 * child that inherited the descriptor keeps the directory for ever.
 */
static void await_end_of_old_image(void)
{
	char path[64];
	snprintf(path, sizeof(path), "/sys/class/kfd/kfd/proc/%d", getpid());
	for (int i = 0; i < 500 && !access(path, F_OK); i++)
		usleep(TICK_US);
	if (access(path, F_OK))
		return;
	errno = EEXIST;
	die("%s, of the image before exec", path);
}

static void start(void)
{
	struct node nodes[MAX_GPUS];
	const int found = nodes_read(nodes, MAX_GPUS);
	kfd = open("/dev/kfd", O_RDWR | O_CLOEXEC);
	if (kfd < 0)
		die("/dev/kfd");
	errno = ENODEV;
	if (!found && opt.queues)
		die("no GPU in %s", TOPOLOGY);
	if (opt.skip >= found)
		die("--skip %d of %d GPUs", opt.skip, found);
	if (opt.gpus > found - opt.skip)
		opt.gpus = found - opt.skip;
	for (int i = 0; i < opt.gpus; i++) {
		gpu_open(&gpus[i], kfd, &nodes[opt.skip + i], opt.user_memory);
		gpus[i].vram_rings = opt.vram_rings;
	}
	/* As libhsakmt does: of all GPUs there are.  SUSPEND_QUEUES of 7.2 and 7.3 crashes without
	 * [kernel.suspend-crash].
	 */
	for (int i = 0; i < found && !opt.few; i++)
		if (i < opt.skip || i >= opt.skip + opt.gpus)
			gpu_open(&others[i], kfd, &nodes[i], opt.user_memory);
	if (!opt.no_runtime) {
		while (opt.wait_ms && opt.trigger && access(opt.trigger, F_OK))
			usleep(TICK_US);
		usleep((useconds_t)opt.wait_ms * 1000);
		runtime_enable(true);
	}
	for (int i = 0; i < opt.gpus; i++) {
		for (int j = 0; j < opt.queues; j++)
			add_queue(&gpus[i], compute_kind());
		if (opt.sdma)
			add_queue(&gpus[i], SDMA);
	}
}

static void work(void)
{
	const uint64_t begin = now_us(), end = begin + (uint64_t)opt.seconds * 1000000;
	uint64_t last = begin, churned = begin, now, since;
	for (now = begin; now < end && !finished && !all_done(); now = now_us()) {
		feed(now - last);
		last = now;
		if (opt.progress)
			write_progress();
		if (opt.signals)
			write_signals();
		since = trigger_time(begin, now);
		if (since)
			run_events(now - since);
		if (opt.churn_ms && now - churned >= (uint64_t)opt.churn_ms * 1000) {
			queue_remake(&queues[n_queues - 1]);
			churned = now;
		}
		usleep(TICK_US);
	}
}

/* One request: packets to every queue, and wait for them as a program waits for its streams. */
static void request(int number)
{
	const uint64_t begin = now_us();
	for (int i = 0; i < n_queues; i++)
		submit(i, opt.burst);
	for (int i = 0; i < n_queues; i++) {
		const uint64_t since = now_us();
		if (opt.log)
			hiplog_synchronize(&hiplog, &queues[i]);
		while (queue_pending(&queues[i]))
			usleep(WAIT_US);
		if (opt.log)
			hiplog_synchronized(&hiplog, since);
	}
	if (opt.log)
		fflush(hiplog.file);
	printf("mkqueue %d: request %d took %.3f ms\n", getpid(), number,
	       (double)(now_us() - begin) / 1000);
}

static void work_by_request(void)
{
	const uint64_t end = now_us() + (uint64_t)opt.seconds * 1000000;
	errno = EINVAL;
	if (opt.burst >= ring_capacity(&queues[0]))
		die("--burst %" PRIu64 " does not fit into the ring", opt.burst);
	for (int n = 1; now_us() < end && (!opt.requests || n <= opt.requests); n++) {
		request(n);
		if (opt.progress)
			write_progress();
		usleep((useconds_t)opt.pause_ms * 1000);
	}
}

static void tell_end(void)
{
	for (int i = 0; i < n_queues; i++) {
		printf("mkqueue %d: queue %u submitted %" PRIu64 " done %" PRIu64 "\n", getpid(),
		       queues[i].id, queues[i].submitted,
		       queues[i].submitted - queue_pending(&queues[i]));
		if (opt.log && queues[i].kind == AQL)
			hiplog_stream_destroyed(&hiplog, &queues[i]);
	}
}

static void *sleep_on(void *arg)
{
	for (;;)
		pause();
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	arguments = argv;
	setvbuf(stdout, NULL, _IOLBF, 0);
	parse(argc, argv);
	if (opt.traceable)
		prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
	if (getenv("MKQUEUE_EXECED")) {
		opt.exec_ms = 0;
		await_end_of_old_image();
	}
	if (opt.quiet && !freopen("/dev/null", "w", stdout))
		die("/dev/null");
	if (opt.log)
		hiplog_open(&hiplog, opt.log, opt.release);
	if (opt.signals)
		count_signals();
	errno = EAGAIN;
	if (opt.thread && pthread_create(&thread, NULL, sleep_on, NULL))
		die("thread");
	start();
	if (opt.burst)
		work_by_request();
	else
		work();
	tell_end();
	if (opt.end_runtime)
		runtime_enable(false);
	return 0;
}
