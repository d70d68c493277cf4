/*
 * hipq: a HIP program that makes a known number of launches on known streams and writes down what
 * it did, so that whatever watches it (gpq, a log, the driver's files) can be held against the
 * truth.
 *
 * It is plain C, declares what it calls itself, and loads the runtime with dlopen (HIPLIB names
 * it), so that it builds anywhere and one binary runs on every HIP release. With -o PREFIX it
 * writes PREFIX.seq (each launch, in order of the calls) and, when all work is done and the streams
 * are still there, PREFIX.truth. Functions and constants are those of HIP's
 * <hip/hip_runtime_api.h>, the same since 3.0; stream priorities are 1 (low), 0, -1 (high).
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

typedef struct stream_handle *hipStream_t;
typedef struct event_handle *hipEvent_t;
typedef struct module_handle *hipModule_t;
typedef struct function_handle *hipFunction_t;
typedef struct graph_handle *hipGraph_t;
typedef struct graph_exec_handle *hipGraphExec_t;

enum {
	hipStreamNonBlocking = 1,
	hipMemcpyHostToDevice = 1,
	hipMemcpyDeviceToHost = 2,
	hipStreamCaptureModeRelaxed = 2,
	hipStreamWaitValueGte = 0
};

/* Each returns 0, or the number of an error. */
#define HIP_FUNCTIONS(X)                                                                         \
	X(hipInit, unsigned flags)                                                               \
	X(hipGetDeviceCount, int *n)                                                             \
	X(hipSetDevice, int device)                                                              \
	X(hipSetDeviceFlags, unsigned flags)                                                     \
	X(hipRuntimeGetVersion, int *version)                                                    \
	X(hipStreamCreateWithPriority, hipStream_t *stream, unsigned flags, int priority)        \
	X(hipStreamGetPriority, hipStream_t stream, int *priority)                               \
	X(hipStreamSynchronize, hipStream_t stream)                                              \
	X(hipStreamWaitEvent, hipStream_t stream, hipEvent_t event, unsigned flags)              \
	X(hipStreamDestroy, hipStream_t stream)                                                  \
	X(hipMalloc, void **memory, size_t size)                                                 \
	X(hipHostMalloc, void **memory, size_t size, unsigned flags)                             \
	X(hipMemcpyAsync, void *to, const void *from, size_t size, int kind, hipStream_t stream) \
	X(hipMemsetAsync, void *to, int byte, size_t size, hipStream_t stream)                   \
	X(hipModuleLoad, hipModule_t *module, const char *file)                                  \
	X(hipModuleLoadData, hipModule_t *module, const void *code)                              \
	X(hipModuleGetFunction, hipFunction_t *function, hipModule_t module, const char *name)   \
	X(hipModuleLaunchKernel, hipFunction_t function, unsigned gx, unsigned gy, unsigned gz,  \
	  unsigned bx, unsigned by, unsigned bz, unsigned shared_bytes, hipStream_t stream,      \
	  void **args, void **extra)                                                             \
	X(hipEventCreate, hipEvent_t *event)                                                     \
	X(hipEventRecord, hipEvent_t event, hipStream_t stream)                                  \
	X(hipLaunchHostFunc, hipStream_t stream, void (*function)(void *), void *arg)            \
	X(hipStreamWaitValue32, hipStream_t stream, void *at, unsigned value, unsigned flags,    \
	  unsigned mask)                                                                         \
	X(hipStreamBeginCapture, hipStream_t stream, int mode)                                   \
	X(hipStreamEndCapture, hipStream_t stream, hipGraph_t *graph)                            \
	X(hipGraphInstantiate, hipGraphExec_t *exec, hipGraph_t graph, void **node, char *log,   \
	  size_t log_size)                                                                       \
	X(hipGraphLaunch, hipGraphExec_t exec, hipStream_t stream)                               \
	X(hipDeviceSynchronize, void)

#define DECLARE(f, ...) static int (*p_##f)(__VA_ARGS__);
HIP_FUNCTIONS(DECLARE)
static const char *(*p_hipGetErrorString)(int error);

#define CHECK(call)                                                           \
	do {                                                                  \
		int e_ = (call);                                              \
		if (e_)                                                       \
			die("%s: %d %s", #call, e_, p_hipGetErrorString(e_)); \
	} while (0)

enum { MAX_STREAMS = 64, MAX_KERNELS = 32, MAX_DEVICES = 8, MAX_THREADS = 16, COPY = 65536 };

enum pattern { ROUND_ROBIN, RANDOM, BURST, SKEW, SEQUENTIAL, PATTERNS };
static const char *const pattern_names[PATTERNS] = {"rr", "rand", "burst", "skew", "seq"};

static struct {
	const char *code, *out;
	unsigned long launches;
	int streams, devices, threads, rounds, hold_s, sleep_us, pause_ms, blocks;
	unsigned long loops;
	int event_every, copy_every, wait_every, sync_every;
	unsigned seed;
	enum pattern pattern;
	bool priorities, null_stream, copy_first, free_code, count, graph, host_function,
		wait_value, by_file;
} opt = {.code = "/opt/hip/kernels.gfx90a.co",
	 .launches = 1000,
	 .streams = 1,
	 .devices = 1,
	 .threads = 1,
	 .rounds = 1,
	 .seed = 1};

static struct stream {
	hipStream_t handle;
	int asked, got; /* priorities */
	unsigned long launches, kernel[MAX_KERNELS], records, copies, sets, waits, syncs;
} streams[MAX_STREAMS];

static struct {
	hipFunction_t kernel[MAX_KERNELS];
	void *memory;
} devices[MAX_DEVICES];

static const char *kernel_names[MAX_KERNELS];
static int n_kernels;
static void *host_memory;
static int runtime_version;
static unsigned long threads_launched; /* work-items of all launches */

static struct worker {
	pthread_t thread;
	int index, tid;
} workers[MAX_THREADS];

static FILE *seq;
static pthread_mutex_t seq_lock = PTHREAD_MUTEX_INITIALIZER;

static void die(const char *format, ...)
{
	va_list ap;
	va_start(ap, format);
	fputs("hipq: ", stderr);
	vfprintf(stderr, format, ap);
	fputc('\n', stderr);
	va_end(ap);
	exit(1);
}

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

/* A fixed generator: the same seed makes the same launches with every libc. */
static unsigned next_random(unsigned *s)
{
	*s = *s * 1664525u + 1013904223u;
	return *s >> 8;
}

static FILE *open_out(const char *suffix, const char *mode)
{
	char path[512];
	FILE *f;
	snprintf(path, sizeof(path), "%s.%s", opt.out, suffix);
	f = fopen(path, mode);
	if (!f)
		die("%s cannot be written", path);
	return f;
}

/* ---- launching ---- */

/* Which of its streams [lo, hi) a worker takes for its n-th of all launches. */
static int choose(unsigned long n, unsigned long all, int lo, int hi, unsigned *s)
{
	int i = lo;
	switch (opt.pattern) {
	case RANDOM: return lo + next_random(s) % (hi - lo);
	case BURST: return lo + n / 64 % (hi - lo);
	case SKEW: /* half of them on the first, a quarter on the second ... */
		while (i < hi - 1 && next_random(s) & 1)
			i++;
		return i;
	case SEQUENTIAL: return lo + n * (hi - lo) / all;
	default: return lo + n % (hi - lo);
	}
}

static void launch(struct worker *w, int i, unsigned *s, bool tall)
{
	struct stream *st = &streams[i];
	unsigned k = next_random(s) % n_kernels;
	unsigned gx = 1 + next_random(s) % 1000, bx = 64 << next_random(s) % 5;
	unsigned gy = tall ? 1 + next_random(s) % 9 : 1;
	/* Every kernel gets pointers to memory, as many as any of them wants. */
	void *values[16], *args[16];

	if (opt.blocks)
		gx = opt.blocks, gy = 1, bx = 256;
	for (int a = 0; a < 16; a++) {
		values[a] = devices[i % opt.devices].memory;
		args[a] = values;
	}
	if (opt.graph)
		CHECK(p_hipStreamBeginCapture(st->handle, hipStreamCaptureModeRelaxed));
	CHECK(p_hipModuleLaunchKernel(devices[i % opt.devices].kernel[k], gx, gy, 1, bx, 1, 1, 0,
				      st->handle, args, NULL));
	if (opt.graph) {
		hipGraph_t graph;
		hipGraphExec_t exec;
		CHECK(p_hipStreamEndCapture(st->handle, &graph));
		CHECK(p_hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
		CHECK(p_hipGraphLaunch(exec, st->handle));
	}
	st->launches++;
	st->kernel[k]++;
	__atomic_fetch_add(&threads_launched, (unsigned long)gx * bx * gy, __ATOMIC_RELAXED);
	if (!seq)
		return;
	pthread_mutex_lock(&seq_lock);
	fprintf(seq, "%d %d %u %u %u 1 %u 1 1\n", w->index, i, k, gx * bx, gy, bx);
	pthread_mutex_unlock(&seq_lock);
}

static bool due(unsigned long n, int every)
{
	return every && n % every == (unsigned long)every - 1;
}

/* Lasts until PREFIX.return is there. */
static void host_function(void *arg)
{
	char path[512];
	(void)arg;
	snprintf(path, sizeof(path), "%s.return", opt.out ? opt.out : "/tmp/hipq");
	puts("hipq: a host function was called");
	while (access(path, F_OK))
		usleep(20000);
}

/* What happens between launches, when asked for: events, waits across streams, copies, syncs. */
static void between(unsigned long n, int i, int lo, int hi, hipEvent_t ev)
{
	struct stream *st = &streams[i], *other = &streams[lo + (i - lo + 1) % (hi - lo)];
	char *memory = devices[i % opt.devices].memory;
	if (due(n, opt.event_every) || due(n, opt.wait_every)) {
		CHECK(p_hipEventRecord(ev, st->handle));
		st->records++;
	}
	if (due(n, opt.wait_every)) {
		CHECK(p_hipStreamWaitEvent(other->handle, ev, 0));
		other->waits++;
	}
	if (due(n, opt.copy_every)) {
		CHECK(p_hipMemcpyAsync(memory, host_memory, COPY, hipMemcpyHostToDevice,
				       st->handle));
		CHECK(p_hipMemsetAsync(memory + COPY, 0, 4096, st->handle));
		st->copies++;
		st->sets++;
	}
	if (opt.host_function)
		CHECK(p_hipLaunchHostFunc(st->handle, host_function, NULL));
	if (opt.wait_value) /* what is there is not less */
		CHECK(p_hipStreamWaitValue32(st->handle, host_memory, 0, hipStreamWaitValueGte,
					     ~0u));
	if (due(n, opt.sync_every)) {
		CHECK(p_hipStreamSynchronize(st->handle));
		st->syncs++;
		usleep(opt.pause_ms * 1000);
	}
	if (opt.sleep_us)
		usleep(opt.sleep_us);
}

static void *work(void *arg)
{
	struct worker *w = arg;
	unsigned s = opt.seed * 7919 + w->index;
	unsigned long mine = opt.launches / opt.threads;
	int lo = w->index * opt.streams / opt.threads,
	    hi = (w->index + 1) * opt.streams / opt.threads;
	hipEvent_t ev;
	mine += (unsigned long)w->index < opt.launches % opt.threads;
	w->tid = syscall(SYS_gettid);
	if (hi == lo)
		hi = lo + 1;
	CHECK(p_hipSetDevice(0));
	CHECK(p_hipEventCreate(&ev));
	for (unsigned long n = 0; n < mine; n++) {
		int i = choose(n, mine, lo, hi, &s);
		if (opt.devices > 1)
			CHECK(p_hipSetDevice(i % opt.devices));
		launch(w, i, &s, n % 7 == 0);
		between(n, i, lo, hi, ev);
	}
	return NULL;
}

static void create_streams(void)
{
	for (int i = opt.null_stream; i < opt.streams; i++) {
		struct stream *st = &streams[i];
		CHECK(p_hipSetDevice(i % opt.devices));
		st->asked = opt.priorities ? 1 - i % 3 : 0;
		CHECK(p_hipStreamCreateWithPriority(&st->handle, hipStreamNonBlocking, st->asked));
		CHECK(p_hipStreamGetPriority(st->handle, &st->got));
	}
}

static void destroy_streams(void)
{
	for (int i = opt.null_stream; i < opt.streams; i++)
		CHECK(p_hipStreamDestroy(streams[i].handle));
}

static void run_round(int round)
{
	if (opt.out) {
		seq = open_out("seq", round ? "a" : "w");
		if (!round)
			fputs("# thread stream kernel globalsize(x y z) workgroup(x y z)\n", seq);
	}
	for (int i = 1; i < opt.threads; i++)
		if (pthread_create(&workers[i].thread, NULL, work, &workers[i]))
			die("a thread cannot be created");
	work(&workers[0]);
	for (int i = 1; i < opt.threads; i++)
		pthread_join(workers[i].thread, NULL);
	for (int i = 0; i < opt.streams; i++) {
		CHECK(p_hipStreamSynchronize(streams[i].handle));
		streams[i].syncs++;
	}
	CHECK(p_hipDeviceSynchronize());
	if (seq)
		fclose(seq);
	seq = NULL;
}

/* ---- results: memory of each device begins with a count of work-items and the loops of each ----
 */

static void begin_count(void)
{
	unsigned long *count = host_memory;
	count[0] = 0;
	count[1] = opt.loops;
	for (int d = 0; d < opt.devices; d++) {
		CHECK(p_hipSetDevice(d));
		CHECK(p_hipMemcpyAsync(devices[d].memory, count, 16, hipMemcpyHostToDevice, NULL));
		CHECK(p_hipDeviceSynchronize());
	}
	CHECK(p_hipSetDevice(0));
}

static void end_count(void)
{
	unsigned long *count = host_memory, all = 0;
	for (int d = 0; d < opt.devices; d++) {
		count[0] = 0;
		CHECK(p_hipSetDevice(d));
		CHECK(p_hipMemcpyAsync(count, devices[d].memory, 8, hipMemcpyDeviceToHost, NULL));
		CHECK(p_hipDeviceSynchronize());
		all += count[0];
	}
	CHECK(p_hipSetDevice(0));
	printf("hipq: counted %lu of %lu\n", all, threads_launched);
}

/* ---- the truth ---- */

static void write_streams(FILE *f)
{
	for (int i = 0; i < opt.streams; i++) {
		const struct stream *s = &streams[i];
		fprintf(f,
			"stream %d device %d handle %p prio_asked %d prio_got %d launches %lu "
			"event_records %lu "
			"wait_events %lu memcpy %lu memset %lu syncs %lu per_kernel",
			i, i % opt.devices, (void *)s->handle, s->asked, s->got, s->launches,
			s->records, s->waits, s->copies, s->sets, s->syncs);
		for (int k = 0; k < n_kernels; k++)
			fprintf(f, " %lu", s->kernel[k]);
		fputc('\n', f);
	}
}

/* Appears all at once, under its name: that it is there means that all work is done. */
static void write_truth(void)
{
	char from[512], to[512];
	unsigned long all = 0;
	FILE *f = open_out("truth.new", "w");
	fprintf(f, "pid %d\nruntime %d\npattern %s seed %u threads %d devices %d rounds %d\n",
		getpid(), runtime_version, pattern_names[opt.pattern], opt.seed, opt.threads,
		opt.devices, opt.rounds);
	for (int i = 0; i < opt.threads; i++)
		fprintf(f, "thread %d tid %d\n", i, workers[i].tid);
	for (int k = 0; k < n_kernels; k++) {
		unsigned long sum = 0;
		for (int i = 0; i < opt.streams; i++)
			sum += streams[i].kernel[k];
		fprintf(f, "kernel %d launches %lu name %s\n", k, sum, kernel_names[k]);
		all += sum;
	}
	write_streams(f);
	fprintf(f, "total_launches %lu\n", all);
	fclose(f);
	snprintf(from, sizeof(from), "%s.truth.new", opt.out);
	snprintf(to, sizeof(to), "%s.truth", opt.out);
	rename(from, to);
}

/* Streams and queues stay until PREFIX.go appears, so that others can look at them. */
static void hold(void)
{
	char path[512];
	snprintf(path, sizeof(path), "%s.go", opt.out ? opt.out : "/tmp/hipq");
	for (int i = 0; i < opt.hold_s * 50 && access(path, F_OK); i++)
		usleep(20000);
}

/* ---- setting up ---- */

static void load_runtime(void)
{
	static const char *const names[] = {"libamdhip64.so.7", "libamdhip64.so.6",
					    "libamdhip64.so.5", "libamdhip64.so",
					    "/opt/rocm/lib/libamdhip64.so"};
	const char *name = getenv("HIPLIB");
	void *lib = name ? dlopen(name, RTLD_NOW) : NULL;

	for (size_t i = 0; !name && !lib && i < sizeof(names) / sizeof(*names); i++)
		lib = dlopen(names[i], RTLD_NOW);
	if (!lib)
		die("no HIP runtime: %s", dlerror());
#define LOOK_UP(f, ...)                            \
	p_##f = (__typeof__(p_##f))dlsym(lib, #f); \
	if (!p_##f)                                \
		die("the runtime has no " #f);
	HIP_FUNCTIONS(LOOK_UP)
	LOOK_UP(hipGetErrorString)
}

static char *read_code(void)
{
	FILE *f = fopen(opt.code, "r");
	char *data;
	long size;
	if (!f || fseek(f, 0, SEEK_END) || (size = ftell(f)) < 0)
		die("no code object %s", opt.code);
	rewind(f);
	data = malloc(size);
	if (!data || fread(data, 1, size, f) != (size_t)size)
		die("%s cannot be read", opt.code);
	fclose(f);
	return data;
}

/* Without -k: all kernels, whose names the build put beside the code object. */
static void read_names(void)
{
	static char line[16384];
	char path[512];
	FILE *f;
	snprintf(path, sizeof(path), "%s.names", opt.code);
	f = fopen(path, "r");
	while (f && n_kernels < MAX_KERNELS && fscanf(f, "%16383s", line) == 1)
		kernel_names[n_kernels++] = strdup(line);
	if (!n_kernels)
		die("no kernel: name one with -k (%s cannot be read)", path);
	fclose(f);
}

static void load_devices(void)
{
	char *code = read_code();
	int found;
	CHECK(p_hipInit(0));
	CHECK(p_hipGetDeviceCount(&found));
	if (getenv("HIPQ_SLEEP")) /* hipDeviceScheduleBlockingSync: it waits, and does not spin */
		CHECK(p_hipSetDeviceFlags(4));
	CHECK(p_hipRuntimeGetVersion(&runtime_version));
	printf("hipq: pid %d devices %d runtime %d\n", getpid(), found, runtime_version);
	if (!n_kernels)
		read_names();
	for (int d = 0; d < opt.devices; d++) {
		hipModule_t mod;
		CHECK(p_hipSetDevice(d));
		CHECK(opt.by_file ? p_hipModuleLoad(&mod, opt.code)
				  : p_hipModuleLoadData(&mod, code));
		for (int k = 0; k < n_kernels; k++)
			CHECK(p_hipModuleGetFunction(&devices[d].kernel[k], mod, kernel_names[k]));
		CHECK(p_hipMalloc(&devices[d].memory, 1 << 20));
	}
	CHECK(p_hipHostMalloc(&host_memory, COPY, 0));
	CHECK(p_hipSetDevice(0));
	if (opt.count)
		begin_count();
	if (opt.copy_first) { /* the queues for copies are then older than the streams' queues */
		CHECK(p_hipMemcpyAsync(devices[0].memory, host_memory, COPY, hipMemcpyHostToDevice,
				       NULL));
		CHECK(p_hipDeviceSynchronize());
	}
	/* Debuggers read it where it was, and the runtime does not need it any more. */
	if (opt.free_code)
		free(code);
}

static const char usage[] =
	"usage: hipq [-c CODE] [-k KERNEL]... [-s STREAMS] [-n LAUNCHES] [-P] [-p "
	"rr|rand|burst|skew|seq]\n"
	"            [-T THREADS] [-d DEVICES] [-R ROUNDS] [-e|-m|-w|-y EVERY] [-0] [-b] [-u US]\n"
	"            [-S SEED] [-o PREFIX] [-H SECONDS] [-g BLOCKS] [-i MS] [-F] [-C] [-L LOOPS]\n"
	"            [-f] [-G] [-V] [-l] [-t]\n"
	"  -P streams of low, normal, high priority in turn   -R create and destroy the streams "
	"anew\n"
	"  -e record an event, -m copy, -w wait on the next stream, -y sync: every N launches\n"
	"  -i pause after each of these syncs   -g all grids have so many blocks of 256\n"
	"  -0 stream 0 is the null stream   -b copy before the first stream   -u pause between "
	"launches\n"
	"  -F free the code object once it is loaded\n"
	"  -C say what kernels of tests/gpu/count.hip counted (not with -m)   -L how long each "
	"takes\n"
	"  -f a host function after each launch, which lasts until PREFIX.return is there\n"
	"  -G launch each as a graph   -V wait for a value that is there after each launch\n"
	"  -l let the runtime load the code object from its file\n"
	"  -t may be traced where kernel.yama.ptrace_scope is 1\n"
	"  -o write PREFIX.truth and .seq   -H keep streams afterwards until PREFIX.go appears\n";

static int number(const char *s, int lowest, int highest)
{
	char *end;
	long v = strtol(s, &end, 0);
	if (*s == 0 || *end || v < lowest || v > highest)
		die("'%s' is no number between %d and %d", s, lowest, highest);
	return v;
}

static enum pattern parse_pattern(const char *s)
{
	for (int i = 0; i < PATTERNS; i++)
		if (!strcmp(s, pattern_names[i]))
			return i;
	die("unknown pattern %s", s);
	return 0;
}

static void parse(int argc, char **argv)
{
	enum { ANY = 1 << 30 };
	int o;

	while ((o = getopt(argc, argv, "c:k:s:n:Pp:T:d:R:e:m:w:y:0bFCL:u:S:o:H:g:i:fGVlth")) > 0)
		switch (o) {
		case 'c': opt.code = optarg; break;
		case 'k':
			if (n_kernels == MAX_KERNELS)
				die("more than %d kernels", MAX_KERNELS);
			kernel_names[n_kernels++] = optarg;
			break;
		case 's': opt.streams = number(optarg, 1, MAX_STREAMS); break;
		case 'n': opt.launches = number(optarg, 0, ANY); break;
		case 'P': opt.priorities = true; break;
		case 'p': opt.pattern = parse_pattern(optarg); break;
		case 'T': opt.threads = number(optarg, 1, MAX_THREADS); break;
		case 'd': opt.devices = number(optarg, 1, MAX_DEVICES); break;
		case 'R': opt.rounds = number(optarg, 1, ANY); break;
		case 'e': opt.event_every = number(optarg, 1, ANY); break;
		case 'm': opt.copy_every = number(optarg, 1, ANY); break;
		case 'w': opt.wait_every = number(optarg, 1, ANY); break;
		case 'y': opt.sync_every = number(optarg, 1, ANY); break;
		case '0': opt.null_stream = true; break;
		case 'b': opt.copy_first = true; break;
		case 'F': opt.free_code = true; break;
		case 'C': opt.count = true; break;
		case 'f': opt.host_function = true; break;
		case 'G': opt.graph = true; break;
		case 'l': opt.by_file = true; break;
		case 'V': opt.wait_value = true; break;
		case 't': prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY); break;
		case 'L': opt.loops = number(optarg, 0, ANY); break;
		case 'u': opt.sleep_us = number(optarg, 0, ANY); break;
		case 'S': opt.seed = number(optarg, 0, ANY); break;
		case 'o': opt.out = optarg; break;
		case 'g': opt.blocks = number(optarg, 1, 1 << 22); break;
		case 'i': opt.pause_ms = number(optarg, 0, 1000000); break;
		case 'H': opt.hold_s = number(optarg, 0, ANY / 50); break;
		default: fputs(usage, o == 'h' ? stdout : stderr); exit(o == 'h' ? 0 : 2);
		}
}

int main(int argc, char **argv)
{
	double start = now(), launching = start;
	setvbuf(stdout, NULL, _IOLBF, 0);
	parse(argc, argv);
	for (int i = 0; i < MAX_THREADS; i++)
		workers[i].index = i;
	load_runtime();
	load_devices();
	for (int round = 0; round < opt.rounds; round++) {
		if (round)
			destroy_streams();
		create_streams();
		launching = now();
		printf("hipq: start launching %.1f s\n", launching - start);
		run_round(round);
	}
	if (opt.count)
		end_count();
	if (opt.out)
		write_truth();
	printf("hipq: %lu launches in %.2f s\n", opt.launches, now() - launching);
	hold();
	destroy_streams();
	return 0;
}
