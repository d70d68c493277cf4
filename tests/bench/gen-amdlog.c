// Writes an AMD log as the HIP runtime would, and what is in it.
//
//   gen-amdlog --release 7.12 --level 5 --mix torch --lines 9000000 >log 2>truth.json
//
// Line shapes and proportions: [amdlog.prefix], [amdlog.kinds], [amdlog.rate]. The same options
// give the same bytes. The truth is one JSON object on standard error: it comes from the counters
// that made the lines, not from reading them.
#include <getopt.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_MAX_LEN 8192
#define RING         16384

enum style { R45, R54, R60, R62, R63, R70, R712 };
static const char *const styles[] = {"4.5", "5.4", "6.0", "6.2", "6.3", "7.0", "7.12", NULL};
enum mix { CPP, TORCH, GEMM };
static const char *const mixes[] = {"cpp", "torch", "gemm", NULL};

struct hwq {
	uint64_t ring, handle, wptr, rptr, depth_max, wptr_min, wptr_max;
	uint64_t dispatches, barriers;
	unsigned id, priority, refs;
	bool seen;
};

struct stream {
	uint64_t address;
	unsigned hwq, since_sync, until_sync;
};

struct name {
	char *text;
	uint64_t launches;
	double weight;
};

struct line {
	uint64_t us;
	uint32_t at, len;
};

struct thread {
	struct process *p;
	uint64_t tid, clock;
	char *text;
	uint32_t used, cap;
	struct line *lines;
	unsigned nlines, next, lines_cap;
};

struct process {
	int pid;
	struct hwq *queues;
	unsigned nqueues;
	struct stream *streams;
	struct thread handler;
	char rest[LINE_MAX_LEN]; // of a record that is not written to its end
	uint32_t rest_len;
};

static struct {
	uint64_t seed, target_lines, launches;
	unsigned processes, threads, streams, hwqs, names, level;
	enum style style;
	enum mix mix;
	bool noise, crlf;
	double tear;
} opt = {.seed = 1,
	 .target_lines = 100000,
	 .processes = 1,
	 .threads = 1,
	 .streams = 4,
	 .hwqs = 4,
	 .names = 200,
	 .level = 5,
	 .style = R712,
	 .mix = TORCH};

static struct {
	uint64_t lines, records, torn, glued, foreign, launches, dispatches, barriers, api_calls;
} truth;

static struct name *names;
static double weights;
static uint64_t rng;
static unsigned next_queue_id;

static uint64_t rnd(void)
{
	rng ^= rng << 13;
	rng ^= rng >> 7;
	rng ^= rng << 17;
	return rng * UINT64_C(0x2545f4914f6cdd1d) >> 11;
}

static unsigned below(unsigned n)
{
	return (unsigned)(rnd() % n);
}

static bool chance(double p)
{
	return (double)(rnd() % 1000000) < p * 1e6;
}

static void die(const char *why)
{
	fprintf(stderr, "gen-amdlog: %s\n", why);
	exit(1);
}

static void *more(void *p, size_t size)
{
	p = realloc(p, size);
	if (!p)
		die("out of memory");
	return p;
}

// The process part differs most between releases.
static int put_prefix(char *out, const struct thread *t, unsigned level, const char *file,
		      unsigned line, bool api)
{
	int n = sprintf(out, ":%u:%-25s:%-4u: %010" PRIu64, level, file, line, t->clock);
	int pid = t->p->pid;
	switch (opt.style) {
	case R45:
		return n + (api ? sprintf(out + n, " us: %-5d: [%" PRIx64 "] ", pid, t->tid)
				: sprintf(out + n, " us: "));
	case R54: return n + sprintf(out + n, " us: %-5d: [tid:0x%" PRIx64 "] ", pid, t->tid);
	case R60:
	case R62: return n + sprintf(out + n, " us: [pid:%-5d tid:0x%" PRIx64 "] ", pid, t->tid);
	case R63:
		if (opt.level < 4)
			return n + sprintf(out + n, "d us:  ");
		return n + sprintf(out + n, "d us: [pid:%d tid: %5" PRIx64 "] ", pid, t->tid);
	default:
		if (opt.level < 4)
			return n + sprintf(out + n, " us:  ");
		return n + sprintf(out + n, " us: [pid:%d tid: 0x%5" PRIx64 "] ", pid, t->tid);
	}
}

static void keep_line(struct thread *t, const char *text, unsigned len)
{
	if (t->used + len > t->cap)
		t->text = more(t->text, t->cap = (t->used + len) * 2);
	if (t->nlines == t->lines_cap)
		t->lines =
			more(t->lines, (t->lines_cap = t->lines_cap * 2 + 64) * sizeof(*t->lines));
	memcpy(t->text + t->used, text, len);
	t->lines[t->nlines++] = (struct line){t->clock, t->used, len};
	t->used += len;
}

// One message of a thread; the clock moves on. Nothing when the level hides it; true when it was
// written.
__attribute__((format(printf, 6, 7))) static bool say(struct thread *t, unsigned level,
						      const char *file, unsigned line, bool api,
						      const char *fmt, ...)
{
	char text[LINE_MAX_LEN];
	va_list ap;
	int n, m;
	t->clock += 2 + below(5);
	if (chance(0.0002))
		t->clock += 100 + below(9900);
	if (level > opt.level)
		return false;
	n = put_prefix(text, t, level, file, line, api);
	va_start(ap, fmt);
	m = vsnprintf(text + n, sizeof(text) - (size_t)n, fmt, ap);
	va_end(ap);
	if (m > 4095) // the runtime's message buffer
		m = 4095;
	keep_line(t, text, (unsigned)(n + m));
	truth.records++;
	return true;
}

#define ESC_ON  (opt.style == R45 ? "" : "\x1b[32m ")
#define ESC_OFF (opt.style == R45 ? " " : " \x1b[0m")

__attribute__((format(printf, 5, 6))) static void entry(struct thread *t, const char *file,
							unsigned line, const char *name,
							const char *fmt, ...)
{
	char args[1024];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(args, sizeof(args), fmt, ap);
	va_end(ap);
	truth.api_calls +=
		say(t, 3, file, line, true, "%s%s ( %s )%s", ESC_ON, name, args, ESC_OFF);
}

static void returned(struct thread *t, const char *file, unsigned line, const char *name,
		     const char *values, bool timed)
{
	if (timed)
		say(t, 3, file, line, true, "%s: Returned hipSuccess : %s: duration: %u%s us", name,
		    values, 1 + below(40), opt.style == R63 ? "d" : "");
	else
		say(t, 3, file, line, true, "%s: Returned hipSuccess : %s", name, values);
}

static void call(struct thread *t, const char *file, unsigned line, const char *name,
		 const char *args)
{
	entry(t, file, line, name, "%s", args);
	returned(t, file, line + 4, name, "", false);
}

// Which level a kind of line has in this release (section 1.1).
static unsigned packet_level(void)
{
	return opt.style == R712 ? 5 : 4;
}

static void start_packet(struct thread *t, char *out, const struct hwq *q)
{
	if (opt.style == R45)
		sprintf(out, "[%" PRIx64 "] HWq=0x%" PRIx64 ", ", t->tid, q->ring);
	else if (opt.style < R62)
		sprintf(out, "HWq=0x%" PRIx64 ", ", q->ring);
	else
		sprintf(out, "SWq=0x%" PRIx64 ", HWq=0x%" PRIx64 ", id=%u, ", q->handle, q->ring,
			q->id);
}

// Advances the pointers. `printed`: a line with both of them was written.
static void account(struct hwq *q, bool printed)
{
	uint64_t depth = q->wptr - q->rptr;
	if (printed) {
		q->depth_max = depth > q->depth_max ? depth : q->depth_max;
		q->wptr_min = q->seen && q->wptr_min < q->wptr ? q->wptr_min : q->wptr;
		q->wptr_max = q->seen && q->wptr_max > q->wptr ? q->wptr_max : q->wptr;
		q->seen = true;
	}
	q->wptr++;
}

// The GPU takes packets: the backlog walks at random within bounds.
static void drain(struct hwq *q)
{
	unsigned bound = opt.mix == CPP ? 2 : 800;
	uint64_t depth = q->wptr - q->rptr;
	if (chance(0.00001))
		return;
	if (depth > bound)
		q->rptr = q->wptr - below(bound);
	else if (depth)
		q->rptr += below(depth < 3 ? (unsigned)depth + 1 : 3);
}

static void barrier(struct thread *t, struct hwq *q, unsigned header, uint64_t dep, uint64_t signal)
{
	char head[128], tail[64] = "";
	bool pointers = opt.style >= R70, written;
	drain(q);
	start_packet(t, head, q);
	if (pointers)
		sprintf(tail, ", rptr=%" PRIu64 ", wptr=%" PRIu64, q->rptr, q->wptr);
	written = say(t, packet_level(), "rocvirtual.cpp", 1260, false,
		      "%sBarrierAND Header = 0x%x (type=3, barrier=%u, acquire=%u, release=%u), "
		      "dep_signal=[0x%" PRIx64 ", 0x0, 0x0, 0x0, 0x0], completion_signal=0x%" PRIx64
		      "%s",
		      head, header, header >> 8 & 1, header >> 9 & 3, header >> 11 & 3, dep, signal,
		      tail);
	q->barriers += written;
	truth.barriers += written;
	account(q, written && pointers);
}

static void dispatch(struct thread *t, struct hwq *q, unsigned blocks, unsigned group,
		     unsigned name)
{
	char head[128], tail[128] = "";
	unsigned header = below(5) ? 0xb02 : 0x1502;
	bool pointers = opt.style >= R62, written;
	drain(q);
	start_packet(t, head, q);
	if (pointers)
		sprintf(tail, ", correlation_id=0, rptr=%" PRIu64 ", wptr=%" PRIu64, q->rptr,
			q->wptr);
	written = say(t, packet_level(), "rocvirtual.cpp", 1083, false,
		      "%sDispatch Header = 0x%x (type=2, barrier=1, acquire=%u, release=%u), "
		      "setup=3, grid=[%u, 1, 1], "
		      "workgroup=[%u, 1, 1], private_seg_size=0, group_seg_size=0, "
		      "kernel_obj=0x7f8e%08x, "
		      "kernarg_address=0x7f8acce%05x, completion_signal=0x0%s",
		      head, header, header >> 9 & 3, header >> 11 & 3, blocks * group, group,
		      0x10000000 + name * 64, below(0x7ffff) * 2, tail);
	q->dispatches += written;
	truth.dispatches += written;
	account(q, written && pointers);
}

static unsigned pick_name(void)
{
	double x = (double)(rnd() % 1000000007) / 1000000007.0 * weights;
	unsigned i = 0;
	while (i + 1 < opt.names && (x -= names[i].weight) > 0)
		i++;
	return i;
}

static void command(struct thread *t, const char *kind, const struct stream *s)
{
	unsigned level = opt.style == R712 ? 5 : 4;
	uint64_t address = 0x7fc9f8000000 + (uint64_t)below(0xffffff) * 16;
	if (opt.style >= R70)
		say(t, level, "command.cpp", 357, false,
		    "Command (%s) enqueued: 0x%" PRIx64 " to queue: 0x%" PRIx64, kind, address,
		    s->address);
	else if (opt.style >= R54)
		say(t, level, "command.cpp", 349, false, "Command (%s) enqueued: 0x%" PRIx64, kind,
		    address);
	else
		say(t, level, "command.cpp", 311, false, "command is enqueued: 0x%" PRIx64,
		    address);
}

static void arguments(struct thread *t)
{
	static const char *const words[] = {"Gemm info", "SizesFree0", "", "bias", "alpha"};
	unsigned n = opt.mix == GEMM ? 29 : opt.mix == CPP ? 2 : 2 + below(3);
	unsigned level = opt.style == R712 ? 4 : 3;

	for (unsigned i = 0; i < n; i++) {
		if (i % 4 == 3)
			say(t, level, "rocvirtual.cpp", 774, false, "Arg%u:  %s = ptr:(nil) ", i,
			    words[i % 5]);
		else if (i % 2)
			say(t, level, "rocvirtual.cpp", 790, false,
			    "Arg%u:  %s = ptr:0x7fcb1d600000 obj:[0x7fcb1d600000-0x7fcb1fe00000]",
			    i, words[i % 5]);
		else
			say(t, level, "rocvirtual.cpp", 883, false,
			    "Arg%u:  %s = val:0x%x (size:0x4)", i, words[i % 5], below(4096));
	}
}

static void torch_before(struct thread *t, unsigned blocks, unsigned group, const struct stream *s)
{
	unsigned pairs = 5 + below(10);
	for (unsigned i = 0; i < pairs; i++)
		call(t, "hip_device_runtime.cpp", 664, i % 2 ? "hipSetDevice" : "hipGetDevice",
		     i % 2 ? "0" : "0x7f316f3fd4dc");
	entry(t, "hip_platform.cpp", 230, "__hipPushCallConfiguration",
	      "{%u,1,1}, {%u,1,1}, 0, stream:0x%" PRIx64, blocks, group, s->address);
	returned(t, "hip_platform.cpp", 234, "__hipPushCallConfiguration", "", false);
	entry(t, "hip_platform.cpp", 239, "__hipPopCallConfiguration",
	      "{%u,%u,%u}, {%u,%u,%u}, 0x7f316f3fd710, 0x7f316f3fd720", below(999999),
	      below(999999), below(999999), below(999999), below(999999), below(999999));
	returned(t, "hip_platform.cpp", 248, "__hipPopCallConfiguration", "", false);
}

static void launch(struct thread *t, struct stream *s)
{
	struct process *p = t->p;
	unsigned name = pick_name(), blocks = 1 + below(4096), group = 64u << below(5);
	if (opt.mix == TORCH)
		torch_before(t, blocks, group, s);
	entry(t, "hip_module.cpp", 686, "hipLaunchKernel",
	      "0x7f34d2a31a90, {%u,1,1}, {%u,1,1}, 0x7f316f3fd770, 0, stream:0x%" PRIx64, blocks,
	      group, s->address);
	command(t, "KernelExecution", s);
	arguments(t);
	if (opt.style == R45)
		truth.launches += say(t, 3, "rocvirtual.cpp", 2774, false,
				      "[%" PRIx64 "]!\tShaderName : %s", t->tid, names[name].text);
	else
		truth.launches += say(t, 3, "rocvirtual.cpp", 3351, false, "ShaderName : %s",
				      names[name].text);
	names[name].launches++;
	if (opt.style >= R70)
		say(t, opt.style == R712 ? 5 : 3, "rocvirtual.cpp", 3549, false,
		    "KernargSegmentByteSize = %u KernargSegmentAlignment = 128", 8 * below(64));
	if (chance(0.1))
		barrier(t, &p->queues[s->hwq], 0x103, 0x7f8ad13ff900, 0);
	dispatch(t, &p->queues[s->hwq], blocks, group, name);
	returned(t, "hip_module.cpp", 687, "hipLaunchKernel", "", chance(0.6));
	entry(t, "hip_error.cpp", 36, "hipGetLastError", " ");
	s->since_sync++;
}

static void sync_stream(struct thread *t, struct stream *s)
{
	struct thread *h = &t->p->handler;
	struct hwq *q = &t->p->queues[s->hwq];
	uint64_t signal = 0x7f8ad1300000 + (uint64_t)below(0xfff) * 64;
	entry(t, "hip_stream.cpp", 377, "hipStreamSynchronize", "stream:0x%" PRIx64, s->address);
	say(t, 4, "commandqueue.cpp", 179, false,
	    "finish() called with batch size: %u, cpu_wait: 0, fence dirty: 1", s->since_sync);
	command(t, "InternalMarker", s);
	say(t, 3, "rocvirtual.cpp", 551, false,
	    "Set Handler: handle(0x%" PRIx64 "), timestamp(0x7fc9f0a77f90)", signal);
	barrier(t, q, 0x1503, 0, signal);
	say(t, 4, "rocvirtual.cpp", 633, false, "Host wait on completion_signal=0x%" PRIx64,
	    signal);
	t->clock += 20 + below(200);
	h->clock = h->clock > t->clock - 20 ? h->clock : t->clock - 20;
	say(h, 3, "rocvirtual.cpp", 210, false,
	    "Handler: value(0), timestamp(0x7fc9f0a77f90), handle(0x%" PRIx64 ")", signal);
	for (unsigned i = 0; i < s->since_sync; i++)
		say(h, opt.style == R712 ? 5 : 4, "command.cpp", 169, false,
		    "Command 0x7fc9f8%06x complete", below(0xffffff));
	q->rptr = q->wptr;
	say(t, 4, "commandqueue.cpp", 223, false,
	    "All commands finished for host queue : 0x%" PRIx64, s->address);
	returned(t, "hip_stream.cpp", 378, "hipStreamSynchronize", "", false);
	s->since_sync = 0;
	s->until_sync = opt.mix == CPP ? 1 : 20 + below(280);
}

static void copy(struct thread *t, struct stream *s)
{
	entry(t, "hip_memory.cpp", 1389, "hipMemcpyAsync",
	      "0x7f8aba600000, 0x55d4bf5b8720, %u, hipMemcpyHostToDevice, stream:0x%" PRIx64,
	      4096 * below(1000), s->address);
	command(t, "CopyHostToDevice", s);
	barrier(t, &t->p->queues[s->hwq], 0x1503, 0, 0x7f8ad13ff000);
	say(t, 4, "rocblit.cpp", 664, false,
	    "HSA Copy copy_engine=0x1, dst=0x7f8aba600000, src=0x7f0720600010, size=%u, "
	    "forceSDMA=0, "
	    "engineType=1, wait_event=0x0, completion_signal=0x7f8ad13ff000",
	    4096 * below(1000));
	returned(t, "hip_memory.cpp", 1391, "hipMemcpyAsync", "", true);
}

static void new_queue(struct thread *t, unsigned priority)
{
	struct process *p = t->p;
	struct hwq *q = &p->queues[p->nqueues];
	unsigned have[3] = {0};
	for (unsigned i = 0; i < p->nqueues; i++)
		have[p->queues[i].priority]++;
	// Rings are 2 MiB apart, handles a page; neither depends on the order of other random
	// numbers.
	*q = (struct hwq){
		.ring = 0x7f0000000000 + ((uint64_t)p->pid << 28) + (uint64_t)p->nqueues * 0x200000,
		.handle = 0x7e0000000000 + ((uint64_t)p->pid << 20) + (uint64_t)p->nqueues * 0x1000,
		.id = ++next_queue_id,
		.priority = priority};
	if (opt.style < R60) // the word HWq stands before the handle
		q->ring = q->handle;
	say(t, 3, "rocdevice.cpp", 2865, false,
	    "%cumber of allocated hardware queues with low priority: %u, with normal priority: %u, "
	    "with high priority: %u, maximum per priority is: %u",
	    opt.style < R62 ? 'n' : 'N', have[0], have[1], have[2], opt.hwqs);
	if (opt.style < R62)
		say(t, 3, "rocdevice.cpp", 2846, false,
		    "created hardware queue 0x%" PRIx64
		    " with size %u with priority %u, cooperative: 0",
		    q->handle, RING, priority);
	else
		say(t, 3, "rocdevice.cpp", 2951, false,
		    "Created SWq=0x%" PRIx64 " to map on HWq=0x%" PRIx64
		    " with size %u with priority %u, cooperative: 0",
		    q->handle, q->ring, RING, priority);
	if (opt.style >= R60)
		say(t, 3, "rocdevice.cpp", 3254, false, "acquireQueue refCount: 0x%" PRIx64 " (1)",
		    opt.style < R62 ? q->handle : q->ring);
	q->refs = 1;
	p->nqueues++;
}

// The queue of a new stream: a new one, or the one with the fewest streams of this priority.
static unsigned queue_for(struct thread *t, unsigned priority)
{
	struct process *p = t->p;
	unsigned have = 0, best = 0;
	for (unsigned i = 0; i < p->nqueues; i++) {
		if (p->queues[i].priority != priority)
			continue;
		if (!have++ || p->queues[i].refs < p->queues[best].refs)
			best = i;
	}
	if (have < opt.hwqs) {
		new_queue(t, priority);
		return p->nqueues - 1;
	}
	p->queues[best].refs++;
	say(t, 3, "rocdevice.cpp", 3046, false, "%s: 0x%" PRIx64 " (%u)",
	    opt.style < R60   ? "selected queue with least refCount"
	    : opt.style < R62 ? "selected queue refCount"
			      : "Selected queue refCount",
	    opt.style < R62 ? p->queues[best].handle : p->queues[best].ring, p->queues[best].refs);
	return best;
}

static void start_process(struct thread *t)
{
	struct process *p = t->p;
	next_queue_id = 0;
	say(t, 3, "rocdevice.cpp", 469, false, "Initializing HSA stack.");
	say(t, 3, "rocdevice.cpp", 208, false,
	    "Numa selects cpu agent[0]=0x56(fine=0x56,coarse=0x57) for gpu agent=0x58 CPU<->GPU "
	    "XGMI=0");
	say(t, 3, "rocdevice.cpp", 1680, false, "Gfx Major/Minor/Stepping: 9/4/2");
	if (opt.style >= R62)
		say(t, 3, "hip_context.cpp", 60, false,
		    "HIP Version: %s.51831.7c9236b16, Direct Dispatch: 1", styles[opt.style]);
	for (unsigned i = 0; i < opt.streams; i++) {
		struct stream *s = &p->streams[i];
		char made[64];
		unsigned priority = (i + 1) % 3; // normal, high, low
		s->address = 0x1950000 + ((uint64_t)p->pid << 24) + (uint64_t)i * 0x1010;
		entry(t, "hip_stream.cpp", 375, "hipStreamCreateWithPriority",
		      "0x7ffd7d251e48, 1, %d", 1 - (int)priority);
		s->hwq = queue_for(t, priority);
		sprintf(made, "stream:0x%" PRIx64, s->address);
		returned(t, "hip_stream.cpp", 390, "hipStreamCreateWithPriority", made, false);
		s->until_sync = opt.mix == CPP ? 1 : 20 + below(280);
	}
}

static void work(struct thread *t)
{
	struct stream *s = &t->p->streams[below(opt.streams)];
	launch(t, s);
	truth.launches += 0;
	if (s->since_sync >= s->until_sync)
		sync_stream(t, s);
	if (chance(0.03))
		copy(t, s);
}

static const char *end_of_line(void)
{
	return opt.crlf ? "\r\n" : "\n";
}

static void put_foreign(const char *text)
{
	fputs(text, stdout);
	fputs(end_of_line(), stdout);
	truth.lines++;
	truth.foreign++;
}

// Several processes with one file: glibc sends a record in pieces of 128 bytes, and others write in
// between.
static void write_pieces(struct process *p, const char *text, uint32_t len)
{
	while (len > 128 && !chance(opt.tear)) {
		fwrite(text, 1, 128, stdout);
		text += 128;
		len -= 128;
	}
	if (len > 128) {
		fwrite(text, 1, 128, stdout);
		text += 128;
		len -= 128;
		memmove(p->rest, text, len);
		p->rest_len = len;
		return;
	}
	fwrite(text, 1, len, stdout);
	p->rest_len = 0;
}

static void write_record(struct process *p, const char *text, uint32_t len)
{
	char whole[LINE_MAX_LEN];
	int n = snprintf(whole, sizeof(whole), "%.*s%s", (int)len, text, end_of_line());
	if (opt.tear <= 0) {
		fwrite(whole, 1, (size_t)n, stdout);
		return;
	}
	while (p->rest_len) // a process writes one record after the other
		write_pieces(p, p->rest, p->rest_len);
	write_pieces(p, whole, (uint32_t)n);
}

static void put_line(struct process *p, const char *text, uint32_t len)
{
	static const char *const foreign[] = {
		"I0105 10:22:03.110661  3158 device.cpp:197] glog line",
		"Traceback (most recent call last):",
		"  File \"train.py\", line 12:3:45 in step",
		"{\"loss\": 0.25, \"a:b:c\": 1}",
		"",
	};

	if (opt.noise && chance(0.005))
		put_foreign(foreign[below(5)]);
	if (opt.noise && chance(0.0001)) { // a progress bar without newline
		fputs("\r 12% |##   |", stdout);
		truth.glued++;
		truth.foreign++;
	}
	write_record(p, text, len);
	truth.lines++;
}

// Writes the lines of all threads in the order of time.
static void flush_lines(struct thread **threads, unsigned n)
{
	for (;;) {
		struct thread *first = NULL;
		for (unsigned i = 0; i < n; i++) {
			struct thread *t = threads[i];
			if (t->next < t->nlines &&
			    (!first || t->lines[t->next].us < first->lines[first->next].us))
				first = t;
		}
		if (!first)
			break;
		put_line(first->p, first->text + first->lines[first->next].at,
			 first->lines[first->next].len);
		first->next++;
	}
	for (unsigned i = 0; i < n; i++)
		threads[i]->nlines = threads[i]->next = threads[i]->used = 0;
}

static char *make_name(unsigned i)
{
	char *s = more(NULL, 4200), *p = s;
	unsigned kind = i % 20, want;
	if (kind < 8) {
		sprintf(s, "_Z%uvadd_%u_kernelPKfS0_Pfi", 8 + below(20), i);
		return s;
	}
	if (i % 100 == 99)
		want = 2000 + below(2090);
	else
		want = kind < 16 ? 200 + below(500) : 400 + below(150);
	if (kind < 16) {
		p += sprintf(p, "void at::native::elementwise_kernel_%u<512, 1, ", i);
		while ((unsigned)(p - s) < want)
			p += sprintf(
				p,
				"(anonymous namespace)::op<float, %u>::{lambda(float)#%u} const&, ",
				below(99), 1 + below(4));
		strcpy(p, "int>(int, float*)");
	} else {
		p += sprintf(p, "Cijk_Alik_Bljk_HHS_BH_%u", i);
		while ((unsigned)(p - s) < want)
			p += sprintf(p, "_MT%ux%u_MI16x16x1_SN", 16 * (1 + below(8)),
				     16 * (1 + below(8)));
	}
	if (strlen(s) > 4000)
		s[4000] = 0;
	return s;
}

static void make_names(void)
{
	names = more(NULL, opt.names * sizeof(*names));
	for (unsigned i = 0; i < opt.names; i++) {
		names[i] = (struct name){make_name(i), 0, 1.0 / (i + 1)};
		weights += names[i].weight;
	}
}

static void print_truth(struct process *processes)
{
	bool packets = opt.level >= packet_level();
	const char *sep = "";
	fprintf(stderr,
		"{\"lines\":%" PRIu64 ",\"records\":%" PRIu64 ",\"glued\":%" PRIu64
		",\"foreign\":%" PRIu64 ",\"launches\":%" PRIu64 ",\"dispatches\":%" PRIu64
		",\"barriers\":%" PRIu64 ",\"api_calls\":%" PRIu64 ",\n\"queues\":[",
		truth.lines, truth.records, truth.glued, truth.foreign, truth.launches,
		truth.dispatches, truth.barriers, truth.api_calls);
	for (unsigned p = 0; p < opt.processes; p++) {
		for (unsigned i = 0; i < processes[p].nqueues; i++) {
			const struct hwq *q = &processes[p].queues[i];
			fprintf(stderr,
				"%s\n{\"pid\":%d,\"hwq\":\"0x%" PRIx64 "\",\"swq\":\"0x%" PRIx64
				"\",\"id\":%u,\"priority\":%u,"
				"\"streams\":%u,\"dispatches\":%" PRIu64 ",\"barriers\":%" PRIu64
				",\"wptr_min\":%" PRIu64 ",\"wptr_max\":%" PRIu64
				",\"backlog_max\":%" PRIu64 ",\"pointers\":%s}",
				sep, processes[p].pid, q->ring, q->handle, q->id, q->priority,
				q->refs, q->dispatches, q->barriers, q->wptr_min, q->wptr_max,
				q->depth_max, q->seen ? "true" : "false");
			sep = ",";
		}
	}
	fprintf(stderr, "],\n\"kernels\":[");
	sep = "";
	for (unsigned i = 0; i < opt.names; i++) {
		if (!names[i].launches)
			continue;
		fprintf(stderr, "%s\n{\"name\":\"%s\",\"launches\":%" PRIu64 "}", sep,
			names[i].text, names[i].launches);
		sep = ",";
	}
	fprintf(stderr, "],\"packets\":%s}\n", packets ? "true" : "false");
}

static void generate(void)
{
	unsigned n = opt.processes * (opt.threads + 1), at = 0;
	struct process *processes = more(NULL, opt.processes * sizeof(*processes));
	struct thread **all = more(NULL, n * sizeof(*all));
	for (unsigned i = 0; i < opt.processes; i++) {
		struct process *p = &processes[i];
		*p = (struct process){.pid = 4711 + (int)i * 37};
		p->queues = more(NULL, opt.hwqs * 3 * sizeof(*p->queues));
		p->streams = calloc(opt.streams, sizeof(*p->streams));
		p->handler = (struct thread){.p = p,
					     .tid = 0x7fd000000000 + (uint64_t)i * 0x10000000,
					     .clock = 20159560448};
		all[at++] = &p->handler;
		for (unsigned j = 0; j < opt.threads; j++) {
			struct thread *t = all[at++] = calloc(1, sizeof(*t));
			*t = (struct thread){.p = p,
					     .tid = p->handler.tid + 0x100000 * (j + 1) + 0x6c0,
					     .clock = 20159560448 + i * 1000};
			if (!j)
				start_process(t);
		}
	}
	// Threads begin once the streams are there.
	for (unsigned i = 0; i < n; i++)
		all[i]->clock += 1000;
	while (truth.lines < opt.target_lines) {
		for (unsigned round = 0; round < 16; round++)
			for (unsigned i = 0; i < n; i++)
				if (i % (opt.threads + 1))
					work(all[i]);
		flush_lines(all, n);
	}
	for (unsigned i = 0; i < opt.processes; i++)
		fwrite(processes[i].rest, 1, processes[i].rest_len, stdout);
	print_truth(processes);
	for (unsigned i = 0; i < n; i++) {
		free(all[i]->text);
		free(all[i]->lines);
		if (i % (opt.threads + 1))
			free(all[i]);
	}
	for (unsigned i = 0; i < opt.processes; i++) {
		free(processes[i].queues);
		free(processes[i].streams);
	}
	free(processes);
	free(all);
}

static int word(const char *const *words, const char *s)
{
	for (int i = 0; words[i]; i++)
		if (strcmp(words[i], s) == 0)
			return i;
	die("unknown release or mix");
	return 0;
}

int main(int argc, char **argv)
{
	static const struct option longs[] = {
		{"seed", 1, 0, 's'},      {"lines", 1, 0, 'l'},
		{"processes", 1, 0, 'p'}, {"threads", 1, 0, 't'},
		{"streams", 1, 0, 'S'},   {"hwqs", 1, 0, 'q'},
		{"names", 1, 0, 'N'},     {"level", 1, 0, 'L'},
		{"release", 1, 0, 'r'},   {"mix", 1, 0, 'm'},
		{"noise", 0, 0, 'n'},     {"crlf", 0, 0, 'c'},
		{"tear", 1, 0, 'T'},      {0},
	};
	int c;
	while ((c = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		unsigned v = optarg ? (unsigned)strtoul(optarg, NULL, 10) : 0;
		switch (c) {
		case 's': opt.seed = v; break;
		case 'l': opt.target_lines = v; break;
		case 'p': opt.processes = v ? v : 1; break;
		case 't': opt.threads = v ? v : 1; break;
		case 'S': opt.streams = v ? v : 1; break;
		case 'q': opt.hwqs = v ? v : 1; break;
		case 'N': opt.names = v ? v : 1; break;
		case 'L': opt.level = v; break;
		case 'r': opt.style = (enum style)word(styles, optarg); break;
		case 'm': opt.mix = (enum mix)word(mixes, optarg); break;
		case 'n': opt.noise = true; break;
		case 'c': opt.crlf = true; break;
		case 'T': opt.tear = optarg ? strtod(optarg, NULL) : 0; break;
		default: return 2;
		}
	}
	rng = opt.seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
	setvbuf(stdout, NULL, _IOFBF, 1 << 20);
	make_names();
	generate();
	for (unsigned i = 0; i < opt.names; i++)
		free(names[i].text);
	free(names);
	return fflush(stdout) || ferror(stdout);
}
