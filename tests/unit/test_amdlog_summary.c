// AMD log messages and what they add up to: packet fields and where they may be cut, queue lines of
// every release, naming of dispatches, joining of queues and streams, filters, reassembly of torn
// records. Facts: [amdlog.packets], [amdlog.queue-lines], [amdlog.queue-address],
// [amdlog.kernel-name], [amdlog.streams], [amdlog.torn].
#include "common/amdlog/read/reassemble.h"
#include "common/amdlog/model/streams.h"
#include "common/amdlog/model/summary_priv.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct amdlog_record record;
static unsigned nrecords;

// A record's text is only there during the call.
static void keep_record(void *ctx, const struct amdlog_record *r)
{
	static char text[4096];
	(void)ctx;
	assert_true(r->len < sizeof(text));
	memcpy(text, r->text, r->len);
	record = *r;
	record.text = text;
	record.msg = text + (r->msg - r->text);
	nrecords++;
}

#define PREFIX ":4:rocvirtual.cpp           :1083: 20160001400 us: [pid:7 tid: 0x7f11dc1c4400] "

// Leaves the record of one line in `record`.
static void scan_line(const char *line, size_t len)
{
	struct amdlog_sink sink = {.record = keep_record};
	struct amdlog_scan *scan = amdlog_scan_new(&sink);
	assert_non_null(scan);
	nrecords = 0;
	amdlog_scan_feed(scan, line, len);
	amdlog_scan_end(scan);
	assert_int_equal(nrecords, 1);
	amdlog_scan_free(scan);
}

static struct amdlog_packet packet_of(const char *msg, bool newline)
{
	char line[2048];
	struct amdlog_packet p;
	int n = snprintf(line, sizeof(line), PREFIX "%s%s", msg, newline ? "\n" : "");
	scan_line(line, (size_t)n);
	amdlog_packet_parse(&record, &p);
	return p;
}

static const char dispatch70[] = "SWq=0x7f11dc1a8000, HWq=0x7f11cd200000, id=1, Dispatch Header = "
				 "0xb02 (type=2, barrier=1, acquire=1, release=1), "
				 "setup=3, grid=[1024, 2, 3], workgroup=[32, 4, 5], "
				 "private_seg_size=0, group_seg_size=0, kernel_obj=0x7f11d23d8800, "
				 "kernarg_address=0x7f11cce00000, completion_signal=0x0, "
				 "correlation_id=0, rptr=39100, wptr=39875";

static void test_dispatch(void **state)
{
	struct amdlog_packet p = packet_of(dispatch70, true);
	(void)state;
	assert_true(p.whole);
	assert_int_equal(p.hwq, 0x7f11cd200000);
	assert_int_equal(p.swq, 0x7f11dc1a8000);
	assert_int_equal(p.id, 1);
	assert_int_equal(p.grid[0], 1024);
	assert_int_equal(p.grid[1], 2);
	assert_int_equal(p.grid[2], 3);
	assert_int_equal(p.workgroup[0], 32);
	assert_int_equal(p.workgroup[2], 5);
	assert_int_equal(p.kernel_obj, 0x7f11d23d8800);
	assert_int_equal(p.rptr, 39100);
	assert_int_equal(p.wptr, 39875);
	assert_int_equal(amdlog_backlog(p.rptr, p.wptr), 775);
}

// 16 hexadecimal digits or 19 decimal ones are a number, more are none.
static void test_long_numbers(void **state)
{
	(void)state;
	struct amdlog_packet p = packet_of(
		"SWq=0x0123456789abcdef, HWq=0x0123456789abcdef0, id=1, Dispatch Header = 0xb02 "
		"(type=2, barrier=1, acquire=1, release=1), setup=3, grid=[1, 2, 3], "
		"workgroup=[4, 5, 6], private_seg_size=0, group_seg_size=0, "
		"kernel_obj=0x00123456789abcdef, kernarg_address=0x7f11cce00000, "
		"completion_signal=0x0, correlation_id=0, rptr=1234567890123456789, "
		"wptr=12345678901234567890",
		true);
	assert_int_equal(p.swq, 0x0123456789abcdef);
	assert_int_equal(p.hwq, AMDLOG_UNKNOWN);
	assert_int_equal(p.kernel_obj, AMDLOG_UNKNOWN);
	assert_int_equal(p.rptr, 1234567890123456789);
	assert_int_equal(p.wptr, AMDLOG_UNKNOWN);
}

// A field is as in the whole line or unknown; never part of a number.
static void check_cut(const struct amdlog_packet *p)
{
	assert_true(p->hwq == AMDLOG_UNKNOWN || p->hwq == 0x7f11cd200000);
	assert_true(p->swq == AMDLOG_UNKNOWN || p->swq == 0x7f11dc1a8000);
	assert_true(p->kernel_obj == AMDLOG_UNKNOWN || p->kernel_obj == 0x7f11d23d8800);
	assert_true(p->rptr == AMDLOG_UNKNOWN || p->rptr == 39100);
	assert_true(p->wptr == AMDLOG_UNKNOWN || p->wptr == 39875);
	assert_true(p->id == -1 || p->id == 1);
	assert_true(p->grid[0] == AMDLOG_UNKNOWN ||
		    (p->grid[0] == 1024 && p->grid[1] == 2 && p->grid[2] == 3));
	assert_true(p->workgroup[0] == AMDLOG_UNKNOWN || p->workgroup[2] == 5);
	assert_false(p->whole);
}

static void test_dispatch_cut_anywhere(void **state)
{
	(void)state;
	for (size_t len = 4; len < sizeof(dispatch70) - 1; len++) {
		char msg[sizeof(dispatch70)];
		struct amdlog_packet p;
		memcpy(msg, dispatch70, len);
		msg[len] = 0;
		p = packet_of(msg, false);
		check_cut(&p);
	}
	// Even the last number: without a newline nobody knows that it is whole.
	assert_true(packet_of(dispatch70, false).wptr == AMDLOG_UNKNOWN);
}

// A terminal wraps within numbers: "rptr=39" ends a line. It is always followed by wptr.
static void test_wrapped_pointer(void **state)
{
	struct amdlog_packet p =
		packet_of("SWq=0x1, HWq=0x2, id=1, Dispatch Header = 0xb02 (type=2), setup=3, "
			  "grid=[1, 1, 1], "
			  "workgroup=[1, 1, 1], completion_signal=0x0, correlation_id=0, rptr=39",
			  true);
	(void)state;
	assert_true(p.rptr == AMDLOG_UNKNOWN);
	assert_false(p.whole);
}

static void test_packets_of_releases(void **state)
{
	struct amdlog_packet p;
	(void)state;
	// 5.0 to 6.1: no SWq, id, pointers
	p = packet_of("HWq=0x339000, Dispatch Header = 0xb02 (type=2, barrier=1, acquire=1, "
		      "release=1), setup=3, grid=[11008, 1, 1], "
		      "workgroup=[256, 1, 1], private_seg_size=0, group_seg_size=0, "
		      "kernel_obj=0x9001b5840, "
		      "kernarg_address=0xa00a0ff00, completion_signal=0x0",
		      true);
	assert_true(p.whole);
	assert_int_equal(p.hwq, 0x339000);
	assert_true(p.swq == AMDLOG_UNKNOWN && p.wptr == AMDLOG_UNKNOWN);
	assert_int_equal(p.id, -1);
	// 6.2 and 6.3: barriers without pointers
	p = packet_of("SWq=0x7c551ee02000, HWq=0x7c5517d00000, id=1, BarrierAND Header = 0x1503 "
		      "(type=3, barrier=1, acquire=2, release=2), "
		      "dep_signal=[0x0, 0x0, 0x0, 0x0, 0x0], completion_signal=0x7c55ccbff580",
		      true);
	assert_true(p.whole);
	assert_true(p.rptr == AMDLOG_UNKNOWN);
	// 2026: new fields before the kind, no correlation_id, 64-bit pointers, clusters in place
	// of the grid
	p = packet_of("SWq=0x1, HWq=0x2, id=3, possible_pipe_id=7, virtual_pipe_id=2, priority=1, "
		      "Dispatch Header = 0xb02 (type=2), setup=3, "
		      "cluster_count=[4, 1, 1], cluster_size=[2, 1, 1], workgroup=[64, 1, 1], "
		      "kernel_obj=0x5, completion_signal=0x0, "
		      "dep_signal=0x7f, rptr=5000000000, wptr=5000000007, new_field=9",
		      true);
	assert_true(p.whole);
	assert_int_equal(p.id, 3);
	assert_true(p.grid[0] == AMDLOG_UNKNOWN);
	assert_int_equal(p.workgroup[0], 64);
	assert_int_equal(amdlog_backlog(p.rptr, p.wptr), 7);
}

static void test_backlog(void **state)
{
	(void)state;
	assert_int_equal(amdlog_backlog(20769, 20780), 11);
	assert_int_equal(amdlog_backlog(5, 5), 0);
	assert_int_equal(amdlog_backlog(4294967290u, 5), 11); // the low 32 bits went round
	assert_int_equal(amdlog_backlog(8, 5), -3);
	assert_int_equal(amdlog_backlog(5000000008, 5000000005), -3);
	static const uint64_t cases[][3] = {{5, 9, 4},
					    {9, 5, 0},
					    {AMDLOG_UNKNOWN, 5, AMDLOG_UNKNOWN},
					    {5, AMDLOG_UNKNOWN, AMDLOG_UNKNOWN}};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_true(amdlog_packet_backlog(&(struct amdlog_packet){
				    .rptr = cases[i][0], .wptr = cases[i][1]}) == cases[i][2]);
}

static struct amdlog_queue_line queue_line_of(const char *msg)
{
	char line[512];
	struct amdlog_queue_line q;
	int n = snprintf(line, sizeof(line), PREFIX "%s\n", msg);
	scan_line(line, (size_t)n);
	amdlog_queue_line_parse(&record, &q);
	return q;
}

static void test_queue_lines(void **state)
{
	struct amdlog_queue_line q;
	(void)state;
	q = queue_line_of("Created SWq=0x7f22ee22c000 to map on HWq=0x7f22c2800000 with size 16384 "
			  "with priority 1, cooperative: 0");
	assert_int_equal(q.swq, 0x7f22ee22c000);
	assert_int_equal(q.hwq, 0x7f22c2800000);
	assert_int_equal(q.size, 16384);
	assert_int_equal(q.priority, 1);
	q = queue_line_of("created hardware queue 0x7f2235fa2000 with size 16384 with priority 2, "
			  "cooperative: 0");
	assert_int_equal(q.address, 0x7f2235fa2000);
	assert_int_equal(q.priority, 2);
	q = queue_line_of(
		"created hardware queue 0x7f2235fa2000 with size 16384, cooperative: 0"); // 3.5
	assert_int_equal(q.address, 0x7f2235fa2000);
	assert_int_equal(q.priority, -1);
	assert_int_equal(queue_line_of("acquireQueue refCount: 0x7f22c2800000 (1)").address,
			 0x7f22c2800000);
	assert_int_equal(queue_line_of("releaseQueue refCount:0x7f22c2800000 (0)").address,
			 0x7f22c2800000);
	assert_int_equal(queue_line_of("selected queue with least refCount: 0x7f08 (1)").address,
			 0x7f08);
	assert_int_equal(
		queue_line_of("Selected queue (mode=1): 0x7f08 refCount: 2, depth: 7").address,
		0x7f08);
	assert_int_equal(
		queue_line_of("Deleting hardware queue 0x7f2260600000 with refCount 0").address,
		0x7f2260600000);
	assert_true(queue_line_of("Created SWq=0x7f22ee22c000 to map on HWq=0x7f").hwq == 0x7f);
}

static void api_line(const char *msg, uint64_t *stream, uint64_t *duration, bool *failed)
{
	char line[512];
	int n = snprintf(line, sizeof(line), PREFIX "%s\n", msg);
	scan_line(line, (size_t)n);
	*stream = amdlog_api_stream(&record);
	*duration = amdlog_api_duration(&record);
	*failed = amdlog_api_failed(&record);
}

static void test_api_lines(void **state)
{
	uint64_t stream, us;
	bool failed;
	(void)state;
	api_line("hipLaunchKernel ( 0x201d68, {32,1,1}, {32,1,1}, 0x7fffea334e60, 0, "
		 "stream:0x1953020 )",
		 &stream, &us, &failed);
	assert_int_equal(stream, 0x1953020);
	api_line("hipLaunchKernel ( 0x55d5be7d6d90, , , 0x7ffd39f8a0c0, 0, stream:<null> )",
		 &stream, &us, &failed);
	assert_int_equal(stream, 0);
	// A program that sets its locale puts separators into pointers.
	api_line("hipModuleLaunchKernel ( 0x0x5,556, 8,192, 1, 1, stream:0x7fb,ce5,509,7e8, 0x7c, "
		 "char array:<null> )",
		 &stream, &us, &failed);
	assert_int_equal(stream, 0x7fbce55097e8);
	// Without a digit it is no stream, least of all the null stream.
	static const char *const no_digit[] = {"stream:0x )", "stream:0x,5 )",
					       "stream:0x:", "stream:0x"};
	for (size_t i = 0; i < COUNT(no_digit); i++) {
		api_line(no_digit[i], &stream, &us, &failed);
		assert_true(stream == AMDLOG_UNKNOWN);
	}
	api_line("stream:0x0 )", &stream, &us, &failed);
	assert_int_equal(stream, 0);
	api_line("hipMalloc: Returned hipSuccess : 0x7f0822200000: duration: 17 us", &stream, &us,
		 &failed);
	assert_true(stream == AMDLOG_UNKNOWN);
	assert_int_equal(us, 17);
	assert_false(failed);
	api_line("hipMemcpy: Returned hipSuccess : : duration: 5948d us", &stream, &us, &failed);
	assert_int_equal(us, 5948);
	api_line("hipMalloc: Returned hipErrorOutOfMemory : ", &stream, &us, &failed);
	assert_true(failed);
	assert_true(us == AMDLOG_UNKNOWN);
	// What a cut line does not tell is no error.
	api_line("hipMalloc: Returned hipSucces", &stream, &us, &failed);
	assert_false(failed);
	api_line("hipMalloc: Returned h", &stream, &us, &failed);
	assert_false(failed);
	api_line("hipMalloc: Returned hipErr", &stream, &us, &failed);
	assert_true(failed);
	api_line("hipStreamCreate: Returned hipSuccess : stream:0x19520: duration: 3 us", &stream,
		 &us, &failed);
	assert_int_equal(stream, 0x19520);
}

// --- whole logs

struct run {
	struct amdlog_summary sum;
	struct amdlog_scan *scan;
	struct amdlog_reassembly *reassembly;
};

static void add_record(void *ctx, const struct amdlog_record *r)
{
	struct run *run = ctx;
	struct amdlog_event event;
	amdlog_summary_add(&run->sum, run->scan, r, NULL, &event);
}

static void begin(struct run *run, const struct amdlog_filter *filter)
{
	static const struct amdlog_filter all = {.until_us = AMDLOG_UNKNOWN};
	amdlog_summary_init(&run->sum, filter ? filter : &all);
	run->sum.want_api = true;
}

static void feed(struct run *run, const char *log)
{
	const struct amdlog_sink own = {.ctx = run, .record = add_record};
	run->reassembly = amdlog_reassembly_new(&own);
	run->scan = run->reassembly->scan;
	amdlog_scan_feed(run->scan, log, strlen(log));
	amdlog_scan_end(run->scan);
	amdlog_reassembly_end(run->reassembly);
	amdlog_summary_finish(&run->sum);
}

static void summarise(struct run *run, const char *log, const struct amdlog_filter *filter)
{
	begin(run, filter);
	feed(run, log);
}

static void done(struct run *run)
{
	amdlog_reassembly_free(run->reassembly);
	amdlog_summary_fini(&run->sum);
}

static const struct amdlog_kernel *kernel(const struct run *run, const char *name)
{
	for (uint32_t i = 0; i < run->sum.nkernels; i++)
		if (strcmp(run->sum.kernels[i].name, name) == 0)
			return &run->sum.kernels[i];
	fail_msg("no kernel %s", name);
	return NULL;
}

#define L(tid, us, msg) \
	":4:rocvirtual.cpp           :1083: " #us " us: [pid:7 tid: " tid "] " msg "\n"
#define L57(tid, us, msg) \
	":4:rocvirtual.cpp           :1083: " #us " us: [pid:7     tid:" tid "] " msg "\n"
#define L0(us, msg) ":4:rocvirtual.cpp           :1083: " #us " us: " msg "\n"
#define L8(us, msg) ":4:rocvirtual.cpp           :1083: " #us " us: [pid:8     tid:0xb] " msg "\n"
#define D(hwq, obj, r, w)                                                      \
	"SWq=0x5" #hwq ", HWq=0x" #hwq                                         \
	", id=1, Dispatch Header = 0xb02 (type=2), setup=1, grid=[64, 1, 1], " \
	"workgroup=[64, 1, 1], kernel_obj=0x" #obj                             \
	", completion_signal=0x0, correlation_id=0, rptr=" #r ", wptr=" #w
#define D57(hwq, obj)                                                                          \
	"HWq=0x" #hwq                                                                          \
	", Dispatch Header = 0xb02 (type=2), setup=1, grid=[64, 1, 1], workgroup=[64, 1, 1], " \
	"kernel_obj=0x" #obj ", completion_signal=0x0"

// Two threads in turn: each dispatch has the name its own thread said last, once.
static void test_naming(void **state)
{
	static const char log[] = L("0xa", 1000000001, "ShaderName : one")
		L("0xb", 1000000002, "ShaderName : two(int, float)")
			L("0xb", 1000000003, D(100, 20, 0, 0))
				L("0xa", 1000000004, D(100, 10, 0, 1))
					L("0xa", 1000000005, D(100, 99, 0, 2)) // no name
		L("0xb", 1000000006, D(200, 10, 0, 0)); // a graph launch: named by its code object
	struct run run;
	(void)state;
	summarise(&run, log, NULL);
	assert_int_equal(kernel(&run, "one")->launches, 1);
	assert_int_equal(kernel(&run, "one")->dispatches, 2);
	assert_int_equal(kernel(&run, "one")->queues, 2);
	assert_int_equal(kernel(&run, "two(int, float)")->dispatches, 1);
	assert_int_equal(run.sum.totals.unnamed, 1);
	assert_int_equal(run.sum.totals.span.first_us, 1000000001);
	assert_int_equal(run.sum.nqueues, 2);
	assert_int_equal(run.sum.queues[0].dispatches, 3);
	assert_int_equal(run.sum.queues[0].backlog_max, 2);
	assert_int_equal(run.sum.queues[0].backlog_sum, 3);
	assert_int_equal(run.sum.queues[0].swq, 0x5100);
	done(&run);
}

// A code object's address is another kernel's after its module went, and then the first one's
// again.
static void test_object_moves(void **state)
{
	static const char log[] = L("0xa", 1000000001, "ShaderName : one")
		L("0xa", 1000000002, D(100, 10, 0, 0)) L("0xa", 1000000003, "ShaderName : two")
			L("0xa", 1000000004, D(100, 10, 0, 1))
				L("0xa", 1000000005, "ShaderName : one")
					L("0xa", 1000000006, D(100, 10, 0, 2))
						L("0xa", 1000000007, D(100, 10, 0, 3)); // no name
	struct run run;
	(void)state;
	summarise(&run, log, NULL);
	assert_int_equal(kernel(&run, "one")->dispatches, 3);
	assert_int_equal(kernel(&run, "two")->dispatches, 1);
	done(&run);
}

// More queues than a kernel has bits for.
static void test_many_queues(void **state)
{
	static const char lines[] = L("0xa", 1000000001, "ShaderName : one")
		L("0xa", 1000000002,
		  "SWq=0x5%u, HWq=0x%u, id=1, Dispatch Header = 0xb02 (type=2), setup=1, "
		  "grid=[64, 1, 1], workgroup=[64, 1, 1], kernel_obj=0x10, "
		  "completion_signal=0x0, correlation_id=0, rptr=0, wptr=1");
	static char log[200 * (sizeof(lines) + 8)];
	struct run run;
	size_t n = 0;
	(void)state;
	for (unsigned i = 0; i < 200; i++)
		n += (size_t)snprintf(log + n, sizeof(log) - n, lines, 100 + i % 80, 100 + i % 80);
	summarise(&run, log, NULL);
	assert_int_equal(run.sum.nqueues, 80);
	assert_int_equal(kernel(&run, "one")->dispatches, 200);
	assert_int_equal(kernel(&run, "one")->queues, 80);
	for (uint32_t i = 0; i < 80; i++)
		assert_int_equal(run.sum.queues[i].kernels, 1);
	done(&run);
}

// 5.7: queue lines name the handle, packets the ring; the stream made on the one dispatches to the
// other.
static void test_join_by_stream(void **state)
{
	static const char log[] = L57("0xa", 1000000001, "hipStreamCreate ( 0x1 )") L57(
		"0xa", 1000000002,
		"created hardware queue 0x900 with size 16384 with priority 2, cooperative: 0")
		L57("0xa", 1000000003, "acquireQueue refCount: 0x900 (1)") L57(
			"0xa", 1000000004,
			"hipStreamCreate: Returned hipSuccess : stream:0x51") L57("0xa", 1000000005,
										  "hipStreamCreate "
										  "( 0x1 )")
			L57("0xa", 1000000006, "selected queue refCount: 0x900 (2)") L57(
				"0xa", 1000000007,
				"hipStreamCreate: Returned hipSuccess : stream:0x52")
				L57("0xa", 1000000008,
				    "created hardware queue 0x901 with size 16384 with priority 1, "
				    "cooperative: 0") L57("0xb", 1000000009,
							  "hipLaunchKernel ( 0x1, {1,1,1}, "
							  "{1,1,1}, 0x1, 0, stream:0x52 )")
					L57("0xb", 1000000010, D57(7000, 1)) L57(
						"0xb", 1000000011,
						"hipLaunchKernel: Returned hipSuccess : ")
						L57("0xb", 1000000012, "hipDeviceSynchronize (  )")
							L57("0xb", 1000000013, D57(8000, 1));
	struct run run;
	const struct amdlog_queue *q;
	(void)state;
	summarise(&run, log, NULL);
	assert_int_equal(run.sum.nqueues, 4);
	for (q = run.sum.queues; q->hwq != 0x7000; q++)
		;
	assert_int_equal(q->swq, 0x900);
	assert_int_equal(q->priority, 2);
	assert_int_equal(q->streams, 2);
	assert_int_equal(run.sum.queues[0].merged, q - run.sum.queues);
	// Nothing ties 0x901 to 0x8000: both stay apart.
	for (q = run.sum.queues; q->hwq != 0x8000; q++)
		;
	assert_true(q->swq == AMDLOG_UNKNOWN);
	assert_int_equal(q->priority, -1);
	done(&run);
}

// Streams of two handles dispatch to one ring: no join is certain.
static void test_disputed_join(void **state)
{
	static const char log[] = L57("0xa", 1000000001, "hipStreamCreate ( 1 )") L57(
		"0xa", 1000000002, "created hardware queue 0x900 with size 1, cooperative: 0")
		L57("0xa", 1000000003, "hipStreamCreate: Returned hipSuccess : stream:0x51")
			L57("0xa", 1000000004, "hipStreamCreate ( 1 )") L57(
				"0xa", 1000000005,
				"created hardware queue 0x901 with size 1, cooperative: 0")
				L57("0xa", 1000000006,
				    "hipStreamCreate: Returned hipSuccess : stream:0x52")
					L57("0xa", 1000000007, "hipLaunchKernel ( 1, stream:0x51 )")
						L57("0xa", 1000000008, D57(7000, 1)) L57(
							"0xa", 1000000009,
							"hipLaunchKernel ( 1, stream:0x52 )")
							L57("0xa", 1000000010, D57(7000, 1));
	struct run run;
	(void)state;
	summarise(&run, log, NULL);
	for (uint32_t i = 0; i < run.sum.nqueues; i++) {
		assert_int_equal(run.sum.queues[i].merged, AMDLOG_NONE);
		assert_true(run.sum.queues[i].hwq == AMDLOG_UNKNOWN ||
			    run.sum.queues[i].swq == AMDLOG_UNKNOWN);
	}
	done(&run);
}

// A stream of one handle dispatches to two rings: the handle is of neither.
static void test_handle_of_two_rings(void **state)
{
	static const char log[] = L57("0xa", 1000000001, "hipStreamCreate ( 1 )")
		L57("0xa", 1000000002, "created hardware queue 0x900 with size 1, cooperative: 0")
			L57("0xa", 1000000003, "hipStreamCreate: Returned hipSuccess : stream:0x51")
				L57("0xa", 1000000004, "hipLaunchKernel ( 1, stream:0x51 )") L57(
					"0xa", 1000000005, D57(7000, 1))
					L57("0xa", 1000000006, "hipLaunchKernel ( 1, stream:0x51 )")
						L57("0xa", 1000000007, D57(8000, 1));
	struct run run;
	(void)state;
	summarise(&run, log, NULL);
	assert_int_equal(run.sum.nqueues, 3);
	for (uint32_t i = 0; i < run.sum.nqueues; i++) {
		assert_int_equal(run.sum.queues[i].merged, AMDLOG_NONE);
		assert_true(run.sum.queues[i].hwq == AMDLOG_UNKNOWN ||
			    run.sum.queues[i].swq == AMDLOG_UNKNOWN);
	}
	done(&run);
}

// Up to 5.4 the handle stands under HWq. BarrierValue lines of 5.5 to 6.1 print it too: no queue of
// their own.
static void test_handles(void **state)
{
	static const char log[] =
		":3:rocdevice.cpp            :2777: 102993795416 us: 17154: [tid:0x7f08] created "
		"hardware queue 0x7000 with size 16384 with priority 1, "
		"cooperative: 0\n"
		":4:rocvirtual.cpp           :862 : 102993891263 us: 17154: [tid:0x7f08] " D57(
			7000, 1) "\n" L57("0xa", 1000000001,
					  "created hardware queue 0x900 with size 16384 with "
					  "priority 1, cooperative: 0")
			L57("0xa", 1000000002,
			    "HWq=0x900, BarrierValue Header = 0xb00 AmdFormat = 0x1 (type=0), "
			    "signal=0x1, value = 0x1, completion_signal=0x0")
				L57("0xa", 1000000003,
				    "HWq=0x999, BarrierValue Header = 0xb00 AmdFormat = 0x1 "
				    "(type=0), signal=0x1, value = 0x1, completion_signal=0x0");
	struct run run;
	(void)state;
	summarise(&run, log, NULL);
	assert_int_equal(run.sum.nqueues, 2);
	assert_int_equal(run.sum.queues[0].hwq, 0x7000);
	assert_int_equal(run.sum.queues[0].swq, 0x7000);
	assert_int_equal(run.sum.queues[0].dispatches, 1);
	assert_int_equal(run.sum.queues[1].barrier_values, 1);
	assert_true(run.sum.queues[1].hwq == AMDLOG_UNKNOWN);
	assert_int_equal(run.sum.totals.strays, 1);
	done(&run);
}

// Rings above the limit have no queue, and make none: what is of them is counted in no other.
static void test_too_many_queues(void **state)
{
	static const char log[] = L("0xa", 1000000001, D(7000, 1, 0, 0))
		L("0xa", 1000000002, D(8000, 1, 0, 0)) L("0xa", 1000000003, D(9000, 1, 0, 0));
	struct run run;
	(void)state;
	begin(&run, NULL);
	run.sum.keys.rings.max_entries = 2;
	feed(&run, log);
	assert_true(run.sum.no_memory);
	assert_int_equal(run.sum.nqueues, 2);
	assert_int_equal(run.sum.queues[0].hwq, 0x7000);
	assert_int_equal(run.sum.queues[1].hwq, 0x8000);
	assert_int_equal(run.sum.queues[1].dispatches, 1);
	done(&run);
}

#define B(hwq, w)                                                                      \
	"SWq=0x5" #hwq ", HWq=0x" #hwq ", id=1, BarrierAND Header = 0x1503 (type=3), " \
	"dep_signal=[0x0], completion_signal=0x9, rptr=0, wptr=" #w

// 7.0: a command names the stream of the packets behind it, barriers too, until the API call is
// over. The null stream has an address there; an API line calls it <null>.
static void test_streams_by_command(void **state)
{
	static const char log[] = L(
		"0xa", 1000000001,
		"hipLaunchKernel ( 0x1, {1,1,1}, {1,1,1}, 0x1, 0, stream:<null> )")
		L("0xa", 1000000002, "Command (KernelExecution) enqueued: 0x1 to queue: 0x77")
			L("0xa", 1000000003, D(100, 1, 0, 0))
				L("0xa", 1000000004, "hipLaunchKernel: Returned hipSuccess : ")
					L("0xa", 1000000005, B(100, 1)) // of nobody
		L("0xa", 1000000006, "hipStreamSynchronize ( stream:0x78 )") L(
			"0xa", 1000000007, "Command (InternalMarker) enqueued: 0x1 to queue: 0x78")
			L("0xa", 1000000008, B(200, 0))
				L("0xa", 1000000009, "hipStreamSynchronize: Returned hipSuccess : ")
					L("0xa", 1000000010, B(300, 0));
	struct run run;
	(void)state;
	summarise(&run, log, NULL);
	assert_int_equal(run.sum.nqueues, 3);
	assert_int_equal(run.sum.queues[0].streams, 1);
	assert_int_equal(run.sum.queues[0].barriers, 1);
	assert_int_equal(run.sum.queues[1].streams, 1);
	assert_int_equal(run.sum.queues[2].streams, 0);
	done(&run);
}

// Equal addresses in two processes are two queues.
static void test_two_processes(void **state)
{
	static const char log[] = L(
		"0xa", 1000000001, D(100, 1, 0, 0)) ":4:rocvirtual.cpp           :1083: 1000000002 "
						    "us: [pid:8 tid: 0xa] " D(100, 1, 3, 2) "\n";
	unsigned processes = 0;
	struct run run;
	(void)state;
	summarise(&run, log, NULL);
	assert_int_equal(run.sum.nqueues, 2);
	for (uint32_t i = 0; i < run.sum.nprocesses; i++)
		processes += run.sum.processes[i].records > 0;
	assert_int_equal(processes, 2);
	assert_int_equal(run.sum.queues[1].dispatches, 1);
	assert_int_equal(run.sum.queues[1].inversions, 1);
	assert_int_equal(run.sum.queues[1].backlog_max, 0);
	done(&run);
}

// A handle, and the handle of a ring, that another process's ring has as its address: they are the
// queues of their own process alone.
static void test_handle_of_another_process(void **state)
{
	static const char log[] = L("0xa", 1000000001, D(100, 1, 0, 0))
		L57("0xa", 1000000002, "created hardware queue 0x900 with size 1, cooperative: 0")
			L0(1000000003, D(200, 1, 0, 0)) // a process that is not known
		L8(1000000004, D57(5100, 1)) L8(1000000005, D57(900, 1))
			L8(1000000006, D57(5200, 1));
	struct run run;
	(void)state;
	summarise(&run, log, NULL);
	assert_int_equal(run.sum.nqueues, 6);
	for (uint32_t i = 0; i < 6; i++)
		assert_int_equal(run.sum.queues[i].merged, AMDLOG_NONE);
	for (uint32_t i = 3; i < 6; i++)
		assert_true(run.sum.queues[i].swq == AMDLOG_UNKNOWN);
	done(&run);
}

static bool is_one(void *ctx, const char *name, size_t len)
{
	(void)ctx;
	return len == 3 && !memcmp(name, "one", 3);
}

static void test_filters(void **state)
{
	static const char log[] = L("0xa", 1000000001, "ShaderName : one")
		L("0xa", 1000000005, D(100, 10, 0, 0)) L("0xa", 1000000008, "ShaderName : two")
			L("0xa", 1000000009,
			  D(200, 20, 0, 0)) ":4:rocvirtual.cpp           :1083: 1000000011 us: "
					    "[pid:8 tid: 0xa] " D(300, 1, 0, 0) "\n";
	const pid_t eight = 8;
	struct amdlog_filter f = {.since_us = 1000000005, .until_us = 1000000008};
	struct run run;
	(void)state;
	summarise(&run, log, &f); // the name stands before the time asked for
	assert_int_equal(run.sum.totals.records, 2);
	assert_int_equal(kernel(&run, "one")->launches, 0);
	assert_int_equal(kernel(&run, "one")->dispatches, 1);
	done(&run);
	f = (struct amdlog_filter){
		.since_us = 8, .since_relative = true, .until_us = AMDLOG_UNKNOWN};
	summarise(&run, log, &f);
	assert_int_equal(run.sum.totals.records, 2);
	done(&run);
	f = (struct amdlog_filter){.pids = &eight, .npids = 1, .until_us = AMDLOG_UNKNOWN};
	summarise(&run, log, &f);
	assert_int_equal(run.sum.totals.records, 1);
	done(&run);
	f = (struct amdlog_filter){.kernel = is_one, .until_us = AMDLOG_UNKNOWN};
	summarise(&run, log, &f);
	assert_int_equal(run.sum.totals.records, 2);
	assert_int_equal(run.sum.totals.launches, 1);
	assert_int_equal(run.sum.totals.kinds[AMDLOG_DISPATCH], 1);
	done(&run);
}

// A range ends before the record that begins at its end.
static void test_range_end(void **state)
{
	static const char first[] = L("0xa", 1000000000, "init"),
			  second[] = L("0xa", 1000000001, "init");
	const struct amdlog_filter all = {.until_us = AMDLOG_UNKNOWN};
	struct run run;
	const struct amdlog_sink sink = {.ctx = &run, .record = add_record};
	(void)state;
	for (unsigned more = 0; more < 2; more++) {
		amdlog_summary_init(&run.sum, &all);
		run.sum.range.to = sizeof(first) - 1 + more;
		run.reassembly = amdlog_reassembly_new(&sink);
		run.scan = run.reassembly->scan;
		amdlog_scan_feed(run.scan, first, sizeof(first) - 1);
		amdlog_scan_feed(run.scan, second, sizeof(second) - 1);
		amdlog_scan_end(run.scan);
		amdlog_summary_finish(&run.sum);
		assert_int_equal(run.sum.totals.records, 1 + more);
		done(&run);
	}
}

// 5, 5, 4, 4, 6: one step back.
static void test_steps_back(void **state)
{
	struct run run;
	(void)state;
	summarise(&run,
		  L("0xa", 1000000005, "init") L("0xa", 1000000005, "init")
			  L("0xa", 1000000004, "init") L("0xa", 1000000004, "init")
				  L("0xa", 1000000006, "init"),
		  NULL);
	assert_int_equal(run.sum.totals.records, 5);
	assert_int_equal(run.sum.totals.steps_back, 1);
	done(&run);
}

// The first queue is the second one under another address: the later period takes in the earlier
// one, of which nothing is left.
static void test_periods_of_one_queue(void **state)
{
	struct amdlog_streams s = {0};
	struct amdlog_queue *queues = calloc(2, sizeof(*queues));
	const struct amdlog_summary sum = {.queues = queues, .nqueues = 2};
	(void)state;
	assert_non_null(queues);
	queues[0].merged = 1;
	queues[1].merged = AMDLOG_NONE;
	for (uint32_t i = 0; i < 2; i++)
		amdlog_streams_put(&s, &(struct stream_period){.stream = 7,
							       .queue = i,
							       .created = 1,
							       .packets = 5 + i,
							       .dispatches = 3 + i,
							       .span = {10 + i, 20 + i}});
	assert_int_equal(s.n, 2);
	amdlog_streams_join(&s, &sum);
	assert_int_equal(s.v[0].created, 0);
	assert_int_equal(s.v[0].packets, 0);
	assert_int_equal(s.v[0].dispatches, 0);
	assert_true(s.v[0].span.first_us == AMDLOG_UNKNOWN);
	assert_int_equal(s.v[1].queue, 1);
	assert_int_equal(s.v[1].created, 2);
	assert_int_equal(s.v[1].packets, 11);
	assert_int_equal(s.v[1].dispatches, 7);
	assert_int_equal(s.v[1].span.first_us, 10);
	assert_int_equal(s.v[1].span.last_us, 21);
	amdlog_streams_fini(&s);
	free(queues);
}

static void test_api_calls(void **state)
{
	static const char log[] = L("0xa", 1000000001, "hipMalloc ( 1 )")
		L("0xa", 1000000002, "hipMalloc: Returned hipSuccess : : duration: 17 us")
			L("0xa", 1000000003, "hipMalloc ( 1 )")
				L("0xa", 1000000004,
				  "hipMalloc: Returned hipErrorOutOfMemory : : duration: 3 us")
					L("0xa", 1000000005, "hipFree ( 1 )");
	struct run run;
	(void)state;
	summarise(&run, log, NULL);
	assert_int_equal(run.sum.napis, 2);
	assert_int_equal(run.sum.apis[0].calls, 2);
	assert_int_equal(run.sum.apis[0].errors, 1);
	assert_int_equal(run.sum.apis[0].total_us, 20);
	assert_int_equal(run.sum.apis[0].max_us, 17);
	assert_int_equal(run.sum.apis[1].returns, 0);
	assert_int_equal(run.sum.totals.api_errors, 1);
	done(&run);
}

// --- torn records

// `line` (without newline) cut at `at`, `between` put in, the rest behind it.
static void tear(char out[4096], const char *line, size_t at, const char *between)
{
	snprintf(out, 4096, "%.*s%s%s\n", (int)at, line, between, line + at);
}

#define WHOLE                                                                                      \
	PREFIX "SWq=0x7f11dc1a8000, HWq=0x7f11cd200000, id=1, Dispatch Header = 0xb02 (type=2, "   \
	       "barrier=1, acquire=1, release=1), "                                                \
	       "setup=3, grid=[1024, 1, 1], workgroup=[32, 1, 1], private_seg_size=0, "            \
	       "group_seg_size=0, kernel_obj=0x7f11d23d8800, "                                     \
	       "kernarg_address=0x7f11cce00000, completion_signal=0x0, correlation_id=0, rptr=4, " \
	       "wptr=9"

// Program output within a packet line, at each piece of 128 bytes: put together again.
static void test_mend(void **state)
{
	(void)state;
	for (size_t at = 128; at < sizeof(WHOLE); at += 128) {
		char log[4096];
		struct run run;
		tear(log, WHOLE, at, "epoch 3, loss=0.25\n");
		summarise(&run, log, NULL);
		assert_int_equal(run.sum.totals.kinds[AMDLOG_DISPATCH], 1);
		assert_int_equal(run.sum.totals.cut, 0);
		assert_int_equal(run.reassembly->mended, 1);
		assert_int_equal(run.sum.queues[0].wptr_max, 9);
		done(&run);
	}
}

// Wrapped at a terminal's width, within any word or number, in two lines or three.
static void test_wrapped_lines(void **state)
{
	(void)state;
	for (size_t width = 130; width < sizeof(WHOLE) - 1; width++) {
		char log[4096];
		size_t n = 0;
		struct run run;
		for (size_t at = 0; at < sizeof(WHOLE) - 1; at += width)
			n += (size_t)snprintf(log + n, sizeof(log) - n, "%.*s\n", (int)width,
					      &WHOLE[at]);
		summarise(&run, log, NULL);
		assert_int_equal(run.sum.totals.cut, 0);
		assert_int_equal(run.sum.totals.kinds[AMDLOG_DISPATCH], 1);
		assert_int_equal(run.sum.queues[0].backlog_max, 5);
		assert_int_equal(run.sum.queues[0].wptr_max, 9);
		done(&run);
	}
}

// 6.4 and later print a barrier's pointers behind its signal, earlier ones nothing: wrapped in
// between it is not whole yet.
static void test_wrapped_barrier(void **state)
{
	struct run run;
	(void)state;
	summarise(&run,
		  PREFIX "SWq=0x7c551ee02000, HWq=0x7c5517d00000, id=1, BarrierAND Header = 0x1503 "
			 "(type=3, barrier=1, acquire=2, release=2), \n"
			 "dep_signal=[0x0, 0x0, 0x0, 0x0, 0x0], completion_signal=0x7c55ccbff580, "
			 "correlation_id=0\n"
			 ", rptr=4, wptr=9\n",
		  NULL);
	assert_int_equal(run.sum.totals.kinds[AMDLOG_BARRIER_AND], 1);
	assert_int_equal(run.sum.totals.cut, 0);
	assert_int_equal(run.reassembly->mended, 1);
	assert_int_equal(run.sum.queues[0].wptr_max, 9);
	assert_int_equal(run.sum.queues[0].backlog_max, 5);
	done(&run);
}

// Torn elsewhere, or its rest is missing, or the process went on: told as torn, its numbers not
// guessed.
static void test_torn(void **state)
{
	static const char next[] = "epoch 3\n" L("0xc", 1000000009, "init");
	char log[4096];
	struct run run;
	(void)state;
	tear(log, WHOLE, 200, "epoch 3, loss=0.25\n");
	summarise(&run, log, NULL);
	assert_int_equal(run.sum.totals.cut, 1);
	assert_int_equal(run.reassembly->mended, 0);
	assert_int_equal(run.sum.queues[0].backlog_n, 0);
	done(&run);
	tear(log, WHOLE, 256, next);
	summarise(&run, log, NULL);
	assert_int_equal(run.sum.totals.cut, 1);
	assert_int_equal(run.sum.totals.kinds[AMDLOG_DISPATCH], 1);
	assert_int_equal(run.sum.queues[0].backlog_n, 0);
	assert_int_equal(run.sum.totals.records, 2);
	done(&run);
}

// Two processes in one file. Kernel names of a line that may hold a piece of the other are not
// taken.
static void test_two_writers(void **state)
{
	static const char other[] =
		":3:rocvirtual.cpp           :3351: 20160001402 us: [pid:8 tid: 0x7f11dc1c4400] "
		"ShaderName : a_name_long_enough_to_pass_the_first_piece_of_128_bytes";
	// What tells its kind begins in the first piece, and does not end there.
	static const char late[] =
		":3:rocvirtual_of_a_name_that_is_as_long_as_none_in_any_log_file.cpp :3351: "
		"20160001402 us: "
		"[pid:8 tid: 0x7f11dc1c4400] ShaderName : k and what follows in this line";
	char log[4096], line[1024];
	struct run run;
	(void)state;
	snprintf(line, sizeof(line), "%s\n", other);
	tear(log, WHOLE, 256, line);
	summarise(&run, log, NULL);
	assert_int_equal(run.sum.totals.kinds[AMDLOG_DISPATCH], 1);
	assert_int_equal(run.reassembly->mended,
			 1); // the packet's rest cannot be taken for anything else
	assert_int_equal(run.sum.totals.launches, 1);
	assert_int_equal(run.sum.nkernels, 0);
	assert_int_equal(run.sum.totals.cut, 1);
	done(&run);
	summarise(&run, line, NULL);
	assert_int_equal(run.sum.nkernels, 1);
	done(&run);
	for (unsigned alone = 0; alone < 2; alone++) {
		snprintf(line, sizeof(line), "%s\n", late);
		tear(log, WHOLE, 256, line);
		summarise(&run, alone ? line : log, NULL);
		assert_int_equal(run.sum.totals.kinds[AMDLOG_KERNEL], alone);
		assert_int_equal(run.sum.totals.kinds[AMDLOG_OTHER], !alone);
		done(&run);
	}
}

// Two packets that could be exchanged: neither is put together.
static void test_exchangeable(void **state)
{
	static const char other[] =
		":4:rocvirtual.cpp           :1083: 20160001402 us: [pid:8 tid: 0x7f11dc1c4400] "
		"SWq=0x7f11dc1a8000, HWq=0x7f8acd300000, id=1, Dispatch Header = 0xb02 (type=2, "
		"barrier=1, acquire=1, release=1), "
		"setup=3, grid=[4096, 1, 1], workgroup=[32, 1, 1], private_seg_size=0, "
		"group_seg_size=0, kernel_obj=0x7f11d23d8800, "
		"kernarg_address=0x7f11cce00000, completion_signal=0x0, correlation_id=0, rptr=6, "
		"wptr=7\n";
	char log[4096];
	struct run run;
	(void)state;
	tear(log, WHOLE, 128, other);
	summarise(&run, log, NULL);
	assert_int_equal(run.sum.totals.cut, 2);
	assert_int_equal(run.reassembly->mended, 0);
	for (uint32_t i = 0; i < run.sum.nqueues; i++)
		assert_int_equal(run.sum.queues[i].backlog_n, 0);
	done(&run);
}

#define OTHER                                                                                  \
	":4:rocvirtual.cpp           :1083: 20160001402 us: [pid:8 tid: 0x7f11dc1c4400] "      \
	"SWq=0x7f11dc1a8000, HWq=0x7f8acd300000, id=1, Dispatch Header = 0xb02 (type=2, "      \
	"barrier=1, acquire=1, release=1), setup=3, grid=[4096, 1, 1], workgroup=[32, 1, 1], " \
	"private_seg_size=0, group_seg_size=0, kernel_obj=0x7f11d23d8800, "                    \
	"kernarg_address=0x7f11cce00000, completion_signal=0x0, correlation_id=0, rptr=6, wptr=7"
// A packet torn by that of another process, which a terminal wraps at 128 columns: the rest of the
// first is not taken for a line of the second.
static void test_torn_by_wrapped(void **state)
{
	char log[4096];
	struct run run;
	(void)state;
	snprintf(log, sizeof(log), "%.256s%.128s\n%s\n%.128s\n%s\n", WHOLE, OTHER, &WHOLE[256],
		 &OTHER[128], &OTHER[256]);
	summarise(&run, log, NULL);
	assert_int_equal(run.sum.totals.cut, 0);
	assert_int_equal(run.reassembly->mended, 2);
	assert_int_equal(run.sum.nqueues, 2);
	assert_int_equal(run.sum.queues[0].wptr_max, 9);
	assert_int_equal(run.sum.queues[1].wptr_max, 7);
	done(&run);
}

#define NEXT \
	":3:rocvirtual.cpp           :3351: 20160001403 us: [pid:8 tid: 0x7f11dc1c4400] words\n"

static void check_untaken(const char *log)
{
	struct run run;
	summarise(&run, log, NULL);
	assert_int_equal(run.sum.totals.cut, 2);
	assert_int_equal(run.reassembly->mended, 0);
	for (uint32_t i = 0; i < run.sum.nqueues; i++)
		assert_int_equal(run.sum.queues[i].backlog_n, 0);
	done(&run);
}

// A rest that may be of two packets is of neither, and what comes later is of neither of them
// either, even when one process has gone on by then.
static void test_ambiguous_rest(void **state)
{
	char log[4096];
	(void)state;
	snprintf(log, sizeof(log), "%.*sepoch 1\n%.*sepoch 2\n%s\n" NEXT "%s\n", 256, WHOLE, 256,
		 OTHER, &WHOLE[128], &WHOLE[128]);
	check_untaken(log);
	// The one packet's end may be of the other.
	snprintf(log, sizeof(log), "%.*s" OTHER "\n" NEXT "%s\n", 128, WHOLE, &WHOLE[128]);
	check_untaken(log);
	// Without another one in between the rest is its own.
	struct run run;
	snprintf(log, sizeof(log), "%.*sepoch 1\n%s\n" NEXT, 256, WHOLE, &WHOLE[256]);
	summarise(&run, log, NULL);
	assert_int_equal(run.sum.totals.cut, 0);
	assert_int_equal(run.reassembly->mended, 1);
	assert_int_equal(run.sum.queues[0].backlog_max, 5);
	done(&run);
}

struct handed {
	char log[4096];
	uint64_t offset[3];
	unsigned n;
};

static void keep_offset(void *ctx, const struct amdlog_record *r)
{
	struct handed *h = ctx;
	assert_true(h->n < 3);
	h->offset[h->n++] = r->offset;
	assert_memory_equal(r->text, h->log + r->offset, r->len);
}

// A whole packet is handed on at once, a torn one when its process goes on, as it was read.
static void test_handed_on(void **state)
{
	static const char between[] = NEXT, own[] = PREFIX "init\n";
	const size_t cuts[] = {sizeof(WHOLE) - 1, 200};
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct handed h = {.n = 0};
		const struct amdlog_sink sink = {.ctx = &h, .record = keep_offset};
		struct amdlog_reassembly *m = amdlog_reassembly_new(&sink);
		uint64_t second = cuts[i] + 1, third = second + sizeof(between) - 1;
		const int n = snprintf(h.log, sizeof(h.log), "%.*s\n%s%s", (int)cuts[i], WHOLE,
				       between, own);
		amdlog_scan_feed(m->scan, h.log, second);
		amdlog_scan_feed(m->scan, h.log + second, (size_t)n - second);
		amdlog_scan_end(m->scan);
		assert_int_equal(h.n, 3);
		assert_int_equal(h.offset[0], i ? second : 0);
		assert_int_equal(h.offset[1], i ? 0 : second);
		assert_int_equal(h.offset[2], third);
		amdlog_reassembly_free(m);
	}
}

// Of more torn records than there is room for the oldest is handed on.
static void test_no_room(void **state)
{
	struct handed h = {.n = 0};
	const struct amdlog_sink sink = {.ctx = &h, .record = keep_offset};
	struct amdlog_reassembly *m = amdlog_reassembly_new(&sink);
	int n = 0;
	(void)state;
	for (int i = 0; i < WAITING_MAX + 2; i++)
		n += snprintf(h.log + n, sizeof(h.log) - (size_t)n,
			      ":4:rocvirtual.cpp           :1083: 20160001400 us: [pid:%d tid: "
			      "0x7f11dc1c4400] SWq=0x7f11dc1a8000, HWq=0x7f11cd200000, id=1, Di\n",
			      i + 10);
	for (unsigned handed = 0; handed < 3; handed++) {
		const int from =
			handed ? (WAITING_MAX + (int)handed - 1) * n / (WAITING_MAX + 2) : 0;
		const int to = (WAITING_MAX + (int)handed) * n / (WAITING_MAX + 2);
		amdlog_scan_feed(m->scan, h.log + from, (size_t)(to - from));
		assert_int_equal(h.n, handed);
	}
	assert_int_equal(h.offset[0], 0);
	assert_int_equal(h.offset[1], n / (WAITING_MAX + 2));
	amdlog_reassembly_free(m);
}

// The number of a grid's work-items: unknown dimensions and a product of more than 64 bits have
// none, and are neither the smallest nor the largest grid.
static void test_items(void **state)
{
	static const struct {
		uint64_t dim[3], items;
	} cases[] = {{{2, 3, 5}, 30},
		     {{0, 3, 5}, 0},
		     {{1ull << 32, 1ull << 31, 1}, 1ull << 63},
		     {{1ull << 32, 1ull << 32, 1}, AMDLOG_UNKNOWN},
		     {{1ull << 31, 1ull << 31, 2}, 1ull << 63},
		     {{1ull << 31, 1ull << 31, 4}, AMDLOG_UNKNOWN},
		     {{AMDLOG_UNKNOWN, 1, 1}, AMDLOG_UNKNOWN},
		     {{AMDLOG_UNKNOWN, 0, 0}, AMDLOG_UNKNOWN}};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		const bool known = cases[i].items != AMDLOG_UNKNOWN;
		struct amdlog_shapes s = SHAPES_NONE;
		assert_true(amdlog_items(cases[i].dim) == cases[i].items);
		shapes_add(&s, cases[i].dim);
		assert_true(s.items_min == cases[i].items);
		assert_true(s.items_max == (known ? cases[i].items : 0));
		shapes_add(&s, (const uint64_t[]){7, 1, 1});
		shapes_add(&s, cases[i].dim);
		assert_true(s.items_min == (known && cases[i].items < 7 ? cases[i].items : 7));
		assert_true(s.items_max == (known && cases[i].items > 7 ? cases[i].items : 7));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dispatch),
		cmocka_unit_test(test_long_numbers),
		cmocka_unit_test(test_dispatch_cut_anywhere),
		cmocka_unit_test(test_wrapped_pointer),
		cmocka_unit_test(test_packets_of_releases),
		cmocka_unit_test(test_backlog),
		cmocka_unit_test(test_queue_lines),
		cmocka_unit_test(test_api_lines),
		cmocka_unit_test(test_naming),
		cmocka_unit_test(test_object_moves),
		cmocka_unit_test(test_many_queues),
		cmocka_unit_test(test_join_by_stream),
		cmocka_unit_test(test_disputed_join),
		cmocka_unit_test(test_handle_of_two_rings),
		cmocka_unit_test(test_too_many_queues),
		cmocka_unit_test(test_handles),
		cmocka_unit_test(test_streams_by_command),
		cmocka_unit_test(test_two_processes),
		cmocka_unit_test(test_handle_of_another_process),
		cmocka_unit_test(test_filters),
		cmocka_unit_test(test_range_end),
		cmocka_unit_test(test_steps_back),
		cmocka_unit_test(test_periods_of_one_queue),
		cmocka_unit_test(test_api_calls),
		cmocka_unit_test(test_mend),
		cmocka_unit_test(test_wrapped_lines),
		cmocka_unit_test(test_wrapped_barrier),
		cmocka_unit_test(test_torn),
		cmocka_unit_test(test_two_writers),
		cmocka_unit_test(test_exchangeable),
		cmocka_unit_test(test_torn_by_wrapped),
		cmocka_unit_test(test_ambiguous_rest),
		cmocka_unit_test(test_handed_on),
		cmocka_unit_test(test_no_room),
		cmocka_unit_test(test_items),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
