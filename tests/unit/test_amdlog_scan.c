// The AMD log scanner: prefixes of every release, message kinds, records within lines, long and odd
// lines, and that the size of reads does not matter.
#include "common/amdlog/read/intern.h"
#include "common/amdlog/read/parse.h"
#include "common/amdlog/read/reassemble.h"
#include "common/amdlog/read/scan.h"
#include "common/host/std.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MAX_SEEN 64

struct seen {
	struct amdlog_record r;
	struct amdlog_thread_id id;
	char text[256], msg[256];
};

struct trial {
	struct amdlog_scan *scan;
	struct seen seen[MAX_SEEN];
	unsigned n;
	struct amdlog_counts counts;
	uint64_t hash;
};

static void copy(char out[256], const char *p, size_t len)
{
	len = len < 255 ? len : 255;
	memcpy(out, p, len);
	out[len] = 0;
}

static void note(uint64_t *hash, const void *p, size_t len)
{
	for (size_t i = 0; i < len; i++)
		*hash = (*hash ^ ((const unsigned char *)p)[i]) * UINT64_C(0x100000001b3);
}

static void on_record(void *ctx, const struct amdlog_record *r)
{
	struct trial *t = ctx;
	const struct amdlog_thread_id *id = &t->scan->threads.v[r->thread];
	uint64_t numbers[] = {r->offset, r->time_us,  r->level,          r->style, r->kind,
			      r->ended,  r->name_len, (uint64_t)id->pid, id->tid};
	note(&t->hash, numbers, sizeof(numbers));
	note(&t->hash, r->text, r->len);
	note(&t->hash, r->msg, r->msg_len);
	if (t->n < MAX_SEEN) {
		struct seen *s = &t->seen[t->n++];
		s->r = *r;
		s->id = *id;
		copy(s->text, r->text, r->len);
		copy(s->msg, r->msg, r->msg_len);
	}
}

static void on_foreign(void *ctx, const char *text, size_t len, bool ended)
{
	struct trial *t = ctx;
	note(&t->hash, text, len);
	note(&t->hash, &ended, 1);
}

static void scan_all(struct trial *t, const char *data, size_t len, size_t piece)
{
	struct amdlog_sink sink = {t, on_record, on_foreign};
	memset(t, 0, sizeof(*t));
	t->scan = amdlog_scan_new(&sink);
	assert_non_null(t->scan);
	piece = piece ? piece : len;
	for (size_t at = 0; at < len; at += piece)
		amdlog_scan_feed(t->scan, data + at, len - at < piece ? len - at : piece);
	amdlog_scan_end(t->scan);
	t->counts = t->scan->counts;
	amdlog_scan_free(t->scan);
}

static struct trial trial;

static const struct seen *one(const char *line)
{
	scan_all(&trial, line, strlen(line), 0);
	assert_int_equal(trial.n, 1);
	return &trial.seen[0];
}

struct prefix_case {
	const char *line;
	enum amdlog_style style;
	unsigned level;
	uint64_t us;
	int64_t pid;
	uint64_t tid;
	const char *msg;
};

#define NO_TID AMDLOG_UNKNOWN

// The layouts of [amdlog.prefix].
static const struct prefix_case prefixes[] = {
	{":3:rocdevice.cpp            :453 : 23640000092: Initializing HSA stack.\n",
	 AMDLOG_STYLE_3_5, 3, 2364000009, -1, NO_TID, "Initializing HSA stack."},
	{":3:hip_device_runtime.cpp   :473 : 23640698869: 5618 : [7faa295dd840] hipGetDeviceCount: "
	 "Returned hipSuccess\n",
	 AMDLOG_STYLE_3_5, 3, 2364069886, 5618, 0x7faa295dd840,
	 "hipGetDeviceCount: Returned hipSuccess"},
	{":3:rocdevice.cpp            :430 : 2249890949801 us: Initializing HSA stack.\n",
	 AMDLOG_STYLE_3_7, 3, 2249890949801, -1, NO_TID, "Initializing HSA stack."},
	{":3:hip_memory.cpp           :384 : 2249890000349 us: 182281: [7f614262e880] hipMalloc ( "
	 "0x7fffab1166b0, 4 )\n",
	 AMDLOG_STYLE_3_7, 3, 2249890000349, 182281, 0x7f614262e880,
	 "hipMalloc ( 0x7fffab1166b0, 4 )"},
	{":4:rocvirtual.cpp           :862 : 2249898000360 us: [7f614262e880] HWq=0x1000, Dispatch "
	 "Header = 0xb02\n",
	 AMDLOG_STYLE_3_7, 4, 2249898000360, -1, 0x7f614262e880,
	 "HWq=0x1000, Dispatch Header = 0xb02"},
	{":3:rocvirtual.cpp           :862 : 2249898000360 us: [7f614262e880]!\tShaderName : k\n",
	 AMDLOG_STYLE_3_7, 3, 2249898000360, -1, 0x7f614262e880, "ShaderName : k"},
	{":4:rocvirtual.cpp           :862 : 5690037855 us: 9175 : [tid:0x7f6109ffb6c0] "
	 "HWq=0x339000, x\n",
	 AMDLOG_STYLE_5_0, 4, 5690037855, 9175, 0x7f6109ffb6c0, "HWq=0x339000, x"},
	{":3:rocdevice.cpp            :3104: 8800163569 us: [pid:19350 tid:0x14aec9d33080] "
	 "Created\n",
	 AMDLOG_STYLE_5_7, 3, 8800163569, 19350, 0x14aec9d33080, "Created"},
	{":3:rocdevice.cpp            :3104: 0003163569 us: [pid:461   tid:0x7f1072d6c8c0] "
	 "Created\n",
	 AMDLOG_STYLE_5_7, 3, 3163569, 461, 0x7f1072d6c8c0, "Created"},
	{":4:command.cpp              :352 : 7270005876d us: [pid:21984 tid: 7f306f4006c0] "
	 "Command\n",
	 AMDLOG_STYLE_6_3, 4, 7270005876, 21984, 0x7f306f4006c0, "Command"},
	{":3:rocvirtual.cpp           :3056: 0368000738d us:  ShaderName : k\n", AMDLOG_STYLE_6_3,
	 3, 368000738, -1, NO_TID, "ShaderName : k"},
	{":4:rocvirtual.cpp           :1083: 20160001400 us: [pid:4711 tid: 0x7f11dc1c4400] "
	 "SWq=0x1\n",
	 AMDLOG_STYLE_6_4, 4, 20160001400, 4711, 0x7f11dc1c4400, "SWq=0x1"},
	{":3:rocdevice.cpp            :2951: 578890353351 us:  Created SWq=0x1\n",
	 AMDLOG_STYLE_6_4_LOW, 3, 578890353351, -1, NO_TID, "Created SWq=0x1"},
	// Windows: a blank within the tid; the full path of a file
	{":5:commandqueue.cpp         :187 : 9801000089 us: [pid:4917 tid: 0x 6840] finish()\n",
	 AMDLOG_STYLE_6_4, 5, 9801000089, 4917, 0x6840, "finish()"},
	{":3:C:\\constructicon\\builds\\gfx\\drop\\hipamd\\src\\hip_device_runtime.cpp:546 : "
	 "5690037855 us: 9175 : "
	 "[tid:0x7f6309] hipSetDevice ( 0 )\r\n",
	 AMDLOG_STYLE_5_0, 3, 5690037855, 9175, 0x7f6309, "hipSetDevice ( 0 )"},
	// AMD_LOG_MASK without LOCATION; five digits of line; 2026's hashed tid
	{":3:                         :0   : 418550158102 us: [pid:3107625 tid: 0x7f4aa1320400] "
	 "init\n",
	 AMDLOG_STYLE_6_4, 3, 418550158102, 3107625, 0x7f4aa1320400, "init"},
	{":3:hip_graph_internal.cpp   :12345: 418550158102 us: [pid:7 tid: 0x0abcd] init\n",
	 AMDLOG_STYLE_6_4, 3, 418550158102, 7, 0xabcd, "init"},
	// Messages that begin with a bracket are no process part.
	{":3:hip_graph.cpp            :812 : 418550158102 us: [hipGraph] Current capture node\n",
	 AMDLOG_STYLE_3_7, 3, 418550158102, -1, NO_TID, "[hipGraph] Current capture node"},
	{":7:amd_blit_kernel.cpp      :812 : 0418551158 us: [pid:70    tid:0x7f1] [***rocr***] "
	 "HWq=0x1, id=0, x\n",
	 AMDLOG_STYLE_5_7, 7, 418551158, 70, 0x7f1, "[***rocr***] HWq=0x1, id=0, x"},
	// A process has up to ten decimal digits, a thread up to 16 hexadecimal ones: with more, or
	// with others, it is no number but a part of the message.
	{":3:a.cpp                    :812 : 418550158102 us: [pid:1234567890 tid: "
	 "0x123456789abcdef0] x\n",
	 AMDLOG_STYLE_6_4, 3, 418550158102, 1234567890, 0x123456789abcdef0, "x"},
	{":3:a.cpp                    :812 : 418550158102 us: [pid:12345678901 tid: 0x7f] x\n",
	 AMDLOG_STYLE_3_7, 3, 418550158102, -1, NO_TID, "[pid:12345678901 tid: 0x7f] x"},
	{":3:a.cpp                    :812 : 418550158102 us: [pid:7 tid: 0x123456789abcdef01] x\n",
	 AMDLOG_STYLE_3_7, 3, 418550158102, -1, NO_TID, "[pid:7 tid: 0x123456789abcdef01] x"},
	{":3:a.cpp                    :812 : 418550158102 us: [pid:12ab tid: 0x7f] x\n",
	 AMDLOG_STYLE_3_7, 3, 418550158102, -1, NO_TID, "[pid:12ab tid: 0x7f] x"},
	{":3:a.cpp                    :812 : 418550158102 us: 12ab: [7f] x\n", AMDLOG_STYLE_3_7, 3,
	 418550158102, -1, NO_TID, "12ab: [7f] x"},
	{":3:a.cpp                    :812 : 418550158102 us: [pid: tid: 0x7f] x\n",
	 AMDLOG_STYLE_3_7, 3, 418550158102, -1, NO_TID, "[pid: tid: 0x7f] x"},
	{":3:a.cpp                    :812 : 418550158102 us: [pid:7 tid: 0x] x\n",
	 AMDLOG_STYLE_3_7, 3, 418550158102, -1, NO_TID, "[pid:7 tid: 0x] x"},
};

static void test_prefixes(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		const struct prefix_case *c = &prefixes[i];
		const struct seen *s = one(c->line);
		assert_string_equal(s->msg, c->msg);
		assert_int_equal(s->r.style, c->style);
		assert_int_equal(s->r.level, c->level);
		assert_int_equal(s->r.time_us, c->us);
		assert_int_equal(s->id.pid, c->pid);
		assert_true(s->id.tid == c->tid);
		assert_true(s->r.ended);
	}
}

// Which bytes decided what the prefix says: lines are kept by them, to know others that are alike.
static void test_columns(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		const struct prefix_case *c = &prefixes[i];
		char text[256 + AMDLOG_PAD] = "";
		size_t len = strlen(strcpy(text, c->line)) - 1;
		struct amdlog_record r = {.text = text, .len = len, .ended = true};
		struct prefix_columns columns;
		struct amdlog_writer w;
		record_parse(&r, &w, &columns);
		const char *unit = strstr(text, "us: ");
		size_t msg = strcspn(text, "\r\n") - strlen(c->msg);
		bool blank = unit && unit[4] == ' '; // stands in place of the process
		bool by_prefix = unit && (blank || c->tid != NO_TID);
		assert_int_equal(columns.msg, by_prefix ? msg : 0);
		if (by_prefix) {
			bool hwq = strstr(text, "] HWq") && c->style == AMDLOG_STYLE_3_7;
			bool stray_d = c->style == AMDLOG_STYLE_6_3;
			assert_int_equal(columns.time_end, unit - 1 - stray_d - text);
			assert_int_equal(columns.seen, msg + (hwq ? strlen("HWq=") : 0));
		}
	}
}

static void test_rocr_line_without_level(void **state)
{
	const struct seen *s = one(":amd_blit_kernel.cpp      :1023: 0123456789 us: [pid:4711  "
				   "tid:0x7f00] [***rocr***] HWq=0x1\n");
	(void)state;
	assert_int_equal(s->r.kind, AMDLOG_ROCR);
	assert_int_equal(s->r.time_us, 123456789);
	assert_int_equal(s->id.pid, 4711);
	assert_int_equal(trial.counts.foreign, 0);
}

// Prefixes that end too early: the time is not known, and not guessed.
static void test_cut_prefixes(void **state)
{
	static const char whole[] =
		":4:rocdevice.cpp            :1993: 2249898000551 us: [pid:7 tid: 0x7f] init";
	(void)state;
	for (size_t len = 3; len < sizeof(whole) - 1; len++) {
		// The rest of the prefix lies behind the cut, of a line that was read before.
		char text[2 * sizeof(whole)];
		snprintf(text, sizeof(text), "%s\n%.*s", whole, (int)len, whole);
		scan_all(&trial, text, strlen(text), 0);
		assert_int_equal(trial.n, 2);
		assert_int_equal(trial.seen[1].r.style == AMDLOG_STYLE_NONE, len < 52);
		assert_int_equal(trial.seen[1].id.pid, len < 70 ? -1 : 7);
		scan_all(&trial, whole, len, 0);
		assert_int_equal(trial.n, 1);
		assert_int_equal(trial.counts.records, 1);
		// ":4:rocdevice.cpp            :1993: 2249898000551 us:" is 52 bytes.
		if (len < 52)
			assert_int_equal(trial.seen[0].r.style, AMDLOG_STYLE_NONE);
		assert_true(trial.seen[0].r.time_us == (len < 52 ? AMDLOG_UNKNOWN : 2249898000551));
		assert_false(trial.seen[0].r.ended);
		// The part of the process ends with column 70; what comes behind the cut is not
		// read.
		assert_int_equal(trial.seen[0].id.pid, len < 70 ? -1 : 7);
	}
}

struct kind_case {
	const char *msg;
	enum amdlog_kind kind;
	unsigned name_len;
};

static const struct kind_case kinds[] = {
	{"hipMalloc ( 0x7ffd, 4 ) ", AMDLOG_API_ENTRY, 9},
	{"\x1b[32m hipMalloc ( 0x7ffd, 4 ) \x1b[0m", AMDLOG_API_ENTRY, 9},
	{" hipMalloc ( 0x7ffd, 4 ) ", AMDLOG_API_ENTRY, 9},
	{"^[[32m hipMalloc ( 1 ) ^[[0m", AMDLOG_API_ENTRY, 9},
	{"ESC[32m hipMalloc ( 1 ) ESC[0m", AMDLOG_API_ENTRY, 9},
	{"<-[32m hipMalloc ( 1 ) <-[0m", AMDLOG_API_ENTRY, 9},
	{"\xe2\x86\x90[32m hipMalloc ( 1 ) \xe2\x86\x90[0m", AMDLOG_API_ENTRY, 9},
	{"__hipPushCallConfiguration ( , , 0, stream:<null> )", AMDLOG_API_ENTRY, 26},
	{"ihipLaunchKernel ( 1 )", AMDLOG_API_ENTRY, 16},
	{"hipMalloc (", AMDLOG_API_ENTRY, 9},
	{"hipMalloc x", AMDLOG_OTHER, 0},
	{"hipMalloc: Returned ", AMDLOG_OTHER, 0},
	{"hipMalloc: Returned-", AMDLOG_OTHER, 0},
	{"canAccessPeer: Returned hipSuccess", AMDLOG_API_RETURN, 13},
	{"hipMalloc: Returned hipErrorOutOfMemory : ", AMDLOG_API_RETURN, 9},
	{"hipMalloc is nice", AMDLOG_OTHER, 0},
	{"hip", AMDLOG_OTHER, 0},
	{"init", AMDLOG_OTHER, 0},
	{"ShaderName : void f<int>(int, float) [clone .kd]", AMDLOG_KERNEL, 0},
	{"Graph shader name : k", AMDLOG_GRAPH_KERNEL, 0},
	{"Graph ShaderName : k, device id : 0", AMDLOG_GRAPH_KERNEL, 0},
	{"Arg12:  Gemm info = val:0x1 (size:0x4)", AMDLOG_ARG, 0},
	{"KernargSegmentByteSize = 144 KernargSegmentAlignment = 256", AMDLOG_KERNARG, 0},
	{"Command (KernelExecution) enqueued: 0x1 to queue: 0x2", AMDLOG_COMMAND_ENQUEUED, 0},
	{"command is enqueued: 0x1", AMDLOG_COMMAND_ENQUEUED, 0},
	{"Command 0x2096b30 complete (Wall: 1, CPU: 0, GPU: 0 us)", AMDLOG_COMMAND_COMPLETE, 0},
	{"HWq=0x1, Dispatch Header = 0xb02 (type=2)", AMDLOG_DISPATCH, 0},
	{"SWq=0x1, HWq=0x2, id=1, Dispatch Header = 0xb02", AMDLOG_DISPATCH, 0},
	{"SWq=0x1, HWq=0x2, id=1, possible_pipe_id=1, virtual_pipe_id=2, priority=1, Dispatch "
	 "Header = 0xb02",
	 AMDLOG_DISPATCH, 0},
	{"HWq=0x1, BarrierAND Header = 0x1503", AMDLOG_BARRIER_AND, 0},
	{"SWq=0x1, HWq=0x1, id=1, Barrier-AND Header = 0x1503", AMDLOG_BARRIER_AND, 0},
	{"SWq=0x1, HWq=0x1, id=1, Barrier-OR Header = 0x1505", AMDLOG_BARRIER_OR, 0},
	{"HWq=0x1, BarrierValue Header = 0xb00 AmdFormat = 0x1", AMDLOG_BARRIER_VALUE, 0},
	{"SWq=0x1, HWq=0x2, id=1, Disp", AMDLOG_PACKET, 0},
	{"SWq=0x1", AMDLOG_PACKET, 0},
	{"Metadata Packet [wptr=3]: ...", AMDLOG_OTHER, 0},
	{"Created SWq=0x1 to map on HWq=0x2 with size 16384 with priority 1, cooperative: 0",
	 AMDLOG_QUEUE_CREATED, 0},
	{"created hardware queue 0x1 with size 16384, cooperative: 0", AMDLOG_QUEUE_CREATED, 0},
	{"Created hostcall buffer 0x1 for hardware queue 0x2", AMDLOG_OTHER, 0},
	{"number of allocated hardware queues: 1, maximum: 4", AMDLOG_QUEUE_COUNT, 0},
	{"Number of allocated hardware queues with low priority: 0", AMDLOG_QUEUE_COUNT, 0},
	{"selected queue with least refCount: 0x1 (1)", AMDLOG_QUEUE_SELECTED, 0},
	{"Selected queue (mode=1): 0x1 refCount: 1, depth: 1", AMDLOG_QUEUE_SELECTED, 0},
	{"acquireQueue refCount: 0x1 (1)", AMDLOG_QUEUE_ACQUIRED, 0},
	{"releaseQueue refCount:0x1 (0)", AMDLOG_QUEUE_RELEASED, 0},
	{"deleting hardware queue 0x1 with refCount 0", AMDLOG_QUEUE_DELETED, 0},
	{"Deleting CG enabled hardware queue 0x1 ", AMDLOG_QUEUE_DELETED, 0},
	{"Callback: Queue 0x1 aborting with error : x code: 0x1", AMDLOG_QUEUE_ERROR, 0},
	{"Device::callbackQueue aborting with error : x", AMDLOG_QUEUE_ERROR, 0},
	{"Memory Fault Error", AMDLOG_QUEUE_ERROR, 0},
	{"Runtime reachead the AQL queue limit. SW is much ahead of HW. Blocking AQL queue!",
	 AMDLOG_QUEUE_ERROR, 0},
	{"Host active wait for Signal = (0x7f) for -1 ns", AMDLOG_WAIT, 0},
	{"Set Handler: handle(0x1), timestamp(0x2)", AMDLOG_SIGNAL, 0},
	{"Handler: value(0), timestamp(0x1), handle(0x2)", AMDLOG_SIGNAL, 0},
	{"HSA Asycn Copy dst=0x1", AMDLOG_COPY, 0},
	{"Free hsa memory (nil)", AMDLOG_MEMORY, 0},
	{"HIP Version: 7.0.51831.7c9236b16, Direct Dispatch: 1", AMDLOG_VERSION, 0},
};

static void test_kinds(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		char line[512];
		const struct seen *s;
		snprintf(line, sizeof(line),
			 ":3:rocvirtual.cpp           :862 : 5690037855 us: [pid:7 tid: 0x7f] %s\n",
			 kinds[i].msg);
		s = one(line);
		if (s->r.kind != kinds[i].kind || s->r.name_len != kinds[i].name_len)
			print_error("message: %s: %s, name %u\n", kinds[i].msg,
				    amdlog_kind_name(s->r.kind), s->r.name_len);
		assert_int_equal(s->r.kind, kinds[i].kind);
		assert_int_equal(s->r.name_len, kinds[i].name_len);
	}
}

// A line is a call's if " (" or ": Returned " follows a name; nothing behind the message counts.
static void test_calls(void **state)
{
	static const struct {
		const char *text;
		size_t name, least;
		enum amdlog_kind kind;
	} calls[] = {{"hipX ( 1 ) ", 4, 6, AMDLOG_API_ENTRY},
		     {"hipX: Returned hipSuccess", 4, 15, AMDLOG_API_RETURN}};
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		for (size_t len = 1; len < strlen(calls[i].text); len++) {
			struct amdlog_record r = {.msg = calls[i].text, .msg_len = len};
			bool known = len >= calls[i].least;
			message_parse(&r);
			assert_int_equal(r.kind, known ? calls[i].kind : AMDLOG_OTHER);
			assert_int_equal(r.name_len, known ? calls[i].name : 0);
		}
	}
}

// --- torn records ---

// Hands out what comes of the log when torn records are put together.
static void join_all(struct trial *t, const struct buf *log)
{
	struct amdlog_sink sink = {t, on_record, on_foreign};
	memset(t, 0, sizeof(*t));
	struct amdlog_reassembly *m = amdlog_reassembly_new(&sink);
	t->scan = m->scan;
	amdlog_scan_feed(m->scan, log->data, log->len);
	amdlog_scan_end(m->scan);
	amdlog_reassembly_end(m);
	amdlog_reassembly_free(m);
}

// The first 128 bytes of a packet of the process, which end behind `n` bytes of "Dispatch".
static void put_front(struct buf *b, unsigned pid, unsigned n, const char *end)
{
	static const char until[] = ":4:rocvirtual.cpp           :891 : 117650018630 us: [pid:";
	size_t from = b->len;
	buf_printf(b, "%s%-*u tid: 0x7f] HWq=0x1, %.*s", until,
		   (int)(128 - strlen(until) - strlen(" tid: 0x7f] HWq=0x1, ") - n), pid, (int)n,
		   "Dispatch");
	assert_int_equal(b->len - from, 128);
	buf_puts(b, end);
}

static void put_rest(struct buf *b, unsigned n, const char *release)
{
	buf_printf(b, "%s Header = 0xb02 (type=2, barrier=1, acquire=1, %s), setup=3, %s",
		   &"Dispatch"[n], release,
		   "grid=[1, 1, 1], workgroup=[1, 1, 1], private_seg_size=0, group_seg_size=0, "
		   "kernel_obj=0x14a0a5220000, kernarg_address=0x14a00ec73780, "
		   "completion_signal=0x0\n");
}

#define WHOLE \
	":3:hip_memory.cpp           :786 : 20170003979 us: [pid:99 tid: 0x7f] hipFree ( 1 ) \n"

// Sixteen torn records wait; with one more, the oldest waits no longer. Those to which a rest fits
// that fits others, too, are lost, but not what waits in their place afterwards.
static void test_waiting(void **state)
{
	(void)state;
	SCOPED(buf_fini) struct buf log = {0};
	for (unsigned pid = 1; pid <= 17; pid++)
		put_front(&log, pid, pid == 2 ? 3 : 5, pid == 1 ? "\n" : "");
	buf_puts(&log, WHOLE);
	put_rest(&log, 5, "release=1");
	put_rest(&log, 3, "release=1");
	put_front(&log, 18, 3, WHOLE);
	put_front(&log, 19, 4, WHOLE);
	put_rest(&log, 4, "release=1");
	put_rest(&log, 3, "release=1");
	join_all(&trial, &log);
	static const int pids[] = {1, 99, 2, 99, 3, 99, 19, 18, 4};
	for (unsigned i = 0; i < sizeof(pids) / sizeof(pids[0]); i++) {
		const struct seen *s = &trial.seen[i];
		bool joined = s->id.pid == 2 || s->id.pid == 18 || s->id.pid == 19;
		assert_int_equal(s->id.pid, pids[i]);
		assert_true(s->r.len > 128 ? joined : !joined);
	}
	assert_int_equal(trial.n, 22);
}

// A record in two more lines, as a terminal wraps it; not where another record stands between.
static void test_wrapped(void **state)
{
	(void)state;
	SCOPED(buf_fini) struct buf log = {0};
	put_front(&log, 1, 5, "\n");
	put_rest(&log, 5, "\nrelease=1");
	put_front(&log, 2, 5, "\n" WHOLE);
	put_rest(&log, 5, "\nrelease=1");
	join_all(&trial, &log);
	assert_int_equal(trial.n, 3);
	assert_int_equal(trial.seen[0].id.pid, 1);
	assert_true(trial.seen[0].r.len > 128 && trial.seen[0].r.ended);
	assert_int_equal(trial.seen[2].id.pid, 2);
	assert_int_equal(trial.seen[2].r.len, 128);
	SCOPED(buf_fini) struct buf behind = {0}; // behind another record that is torn
	put_front(&behind, 1, 5, "");
	put_front(&behind, 2, 5, "\n");
	put_rest(&behind, 5, "\nrelease=1");
	join_all(&trial, &behind);
	for (unsigned i = 0; i < trial.n; i++)
		assert_int_equal(trial.seen[i].r.len > 128, trial.seen[i].id.pid == 2);
}

// While a record is torn, a longer line may hold its rest: it is cut to its first 128 bytes, and
// has no message if this begins behind them.
static void test_doubtful(void **state)
{
	(void)state;
	static const struct {
		const char *prefix;
		enum amdlog_kind kind;
	} lines[] = {
		{":3:rocvirtual.cpp           :862 : 5690037855 us: [pid:2 tid: 0x7f] ",
		 AMDLOG_KERNEL},
		{":3:C:\\constructicon\\builds\\gfx\\two\\22.20\\drivers\\compute\\rocclr\\"
		 "device\\rocm\\rocvirtual.cpp:546 : 5690037855 us: 2 : [tid:0x7f6309] ",
		 AMDLOG_OTHER},
	};
	for (size_t i = 0; i < 2; i++) {
		SCOPED(buf_fini) struct buf log = {0};
		size_t len = strlen(lines[i].prefix);
		put_front(&log, 1, 5, "");
		buf_printf(&log, "%sShaderName : ", lines[i].prefix);
		buf_fill(&log, 'k', 100);
		buf_puts(&log, "\n");
		join_all(&trial, &log);
		const struct seen *s = &trial.seen[0];
		assert_int_equal(trial.n, 2);
		assert_int_equal(s->id.pid, 2);
		assert_int_equal(s->r.len, 128);
		assert_false(s->r.ended);
		assert_int_equal(s->r.kind, lines[i].kind);
		assert_ptr_equal(s->r.msg, s->r.text + (len < 128 ? len : 128));
		assert_int_equal(s->r.msg_len, len < 128 ? 128 - len : 0);
		assert_memory_equal(s->msg, &log.data[128 + len], s->r.msg_len);
		assert_int_equal(trial.seen[1].id.pid, 1);
	}
}

#define REC  ":3:hip_memory.cpp           :786 : 20170003979 us: [pid:7 tid: 0x7f] "
#define REC2 ":4:command.cpp              :349 : 117650018630 us: 8089 : [tid:0x14a2015e9700] "

static void test_records_within_lines(void **state)
{
	static const char log[] =
		"progress 5 4 3..." REC "hipFree ( 1 )\n"
		"\r 10%\r 20%" REC "hipFree ( 2 )    " REC2 "Command (X) enqueued: 0x1     \n"
		"peers:          :3:C:\\src\\hip_peer.cpp:60  : 5690037855 us: 9175 : [tid:0x7f] "
		"hipSetDevice ( 3 )\n"
		"x:3:                         :0   : 418550158102 us: [pid:7 tid: 0x7f] init\n";
	(void)state;
	scan_all(&trial, log, sizeof(log) - 1, 0);
	assert_int_equal(trial.counts.lines, 4);
	assert_int_equal(trial.counts.records, 5);
	assert_int_equal(trial.counts.glued, 5);
	assert_int_equal(trial.counts.foreign, 4);
	assert_string_equal(trial.seen[0].msg, "hipFree ( 1 )");
	assert_string_equal(trial.seen[1].msg, "hipFree ( 2 )");
	assert_false(trial.seen[1].r.ended);
	assert_string_equal(trial.seen[2].msg, "Command (X) enqueued: 0x1");
	assert_true(trial.seen[2].r.ended);
	assert_string_equal(trial.seen[3].msg, "hipSetDevice ( 3 )");
	assert_int_equal(trial.seen[4].r.time_us, 418550158102);
	assert_int_equal(trial.seen[0].r.offset, 17);
}

// A record is found at any column before `stop`, if its prefix up to the time's first digit ends
// before `end`.
static void test_find_record(void **state)
{
	(void)state;
	for (size_t n = 0; n < 200; n++) {
		char text[300 + AMDLOG_PAD] = "";
		memset(text, 'x', n);
		strcpy(text + n, REC);
		const char *at = text + n, *digit = strchr(at, '2'), *end = at + strlen(REC);
		assert_ptr_equal(find_record(text, end, end), at);
		assert_ptr_equal(find_record(text, at + 1, end), at);
		assert_null(find_record(text, at, end));
		assert_ptr_equal(find_record(text, end, digit + 1), at);
		assert_null(find_record(text, end, digit));
	}
}

// Colons that are no records; records behind which other text stands.
static void test_foreign_text(void **state)
{
	static const char log[] =
		"I0105 10:22:03.110661  3158 device.cpp:197] x\n"
		"at 12:3:45 std::string a:3:b :3:main.cpp:12\n"
		"\n"
		"Memory access fault by GPU node-1 on address 0x7f2cbb000000.\n"
		" :3:indented.py            :3  : no time here\n"
		"::3:\n" REC
		"hipMalloc: Returned hipSuccess : [ 9697.806922] watchdog: BUG: soft\n";
	(void)state;
	scan_all(&trial, log, sizeof(log) - 1, 0);
	assert_int_equal(trial.counts.lines, 7);
	assert_int_equal(trial.counts.records, 1);
	assert_int_equal(trial.counts.foreign, 6);
	assert_int_equal(trial.counts.glued, 0);
	assert_int_equal(trial.seen[0].r.kind, AMDLOG_API_RETURN);
}

static void test_line_ends(void **state)
{
	static const char log[] = REC "hipFree ( 1 )\r\n" REC "init  \t \n" REC "a\0b\n" REC "last";
	(void)state;
	scan_all(&trial, log, sizeof(log) - 1, 0);
	assert_int_equal(trial.counts.records, 4);
	assert_int_equal(trial.counts.lines, 4);
	assert_int_equal(trial.counts.unended, 1);
	assert_string_equal(trial.seen[0].msg, "hipFree ( 1 )");
	assert_string_equal(trial.seen[1].msg, "init");
	assert_int_equal(trial.seen[2].r.msg_len, 3);
	assert_string_equal(trial.seen[3].msg, "last");
	assert_false(trial.seen[3].r.ended);
}

// Bytes of earlier lines that lie behind the last one in the buffer are not part of it.
static void test_stale_bytes(void **state)
{
	static const char log[] = REC "x\nx:3:aaaaaa\n:4";
	(void)state;
	for (size_t piece = 0; piece < 40; piece++) {
		scan_all(&trial, log, sizeof(log) - 1, piece);
		assert_int_equal(trial.counts.records, 1);
		assert_int_equal(trial.counts.foreign, 2);
	}
}

static void test_empty(void **state)
{
	(void)state;
	scan_all(&trial, "", 0, 0);
	assert_int_equal(trial.counts.lines, 0);
	assert_int_equal(trial.counts.unended, 0);
	scan_all(&trial, "\n", 1, 0);
	assert_int_equal(trial.counts.lines, 1);
	assert_int_equal(trial.counts.foreign, 1);
}

// Up to 4.5 packets carry the tid alone: the process is known once an API line of the thread was
// seen.
static void test_bare_tid(void **state)
{
	static const char log[] = ":4:rocvirtual.cpp           :862 : 2249898000360 us: "
				  "[7f634262e880] HWq=0x1000, x\n"
				  ":3:hip_memory.cpp           :384 : 2249898000370 us: 18228: "
				  "[7f634262e880] hipFree ( 1 )\n"
				  ":4:rocvirtual.cpp           :862 : 2249898000380 us: "
				  "[7f634262e880] HWq=0x1000, x\n"
				  ":4:rocvirtual.cpp           :862 : 2249898000380 us: "
				  "[7f644262e880] HWq=0x1000, x\n"
				  ":4:rocvirtual.cpp           :862 : 2249898000380 us: "
				  "[7f634262e880] HWs=0x1000, x\n";
	(void)state;
	scan_all(&trial, log, sizeof(log) - 1, 0);
	assert_int_equal(trial.seen[0].id.pid, -1);
	assert_int_equal(trial.seen[2].id.pid, 18228);
	assert_int_equal(trial.seen[3].id.pid, -1);
	// In front of anything else it is no thread, however well it is known.
	assert_int_equal(trial.seen[4].id.pid, -1);
	assert_true(trial.seen[4].id.tid == NO_TID);
}

// A thread first seen behind an odd prefix: what follows has the style of its own prefix.
static void test_style_of_each(void **state)
{
	static const char log[] =
		":3:a.cpp                    :66  : 1: [pid:7 tid: 0x7e00000e5400] x\n"
		":3:hip_memory.cpp           :384 : 22498980 us: [pid:7 tid: 0x7e00000e5400] x\n"
		":3:a.cpp                    :66  : 1: [pid:7 tid: 0x7e00000e5400] x\n";
	(void)state;
	scan_all(&trial, log, sizeof(log) - 1, 0);
	assert_int_equal(trial.seen[0].r.style, AMDLOG_STYLE_3_5);
	assert_int_equal(trial.seen[1].r.style, AMDLOG_STYLE_6_4);
	assert_int_equal(trial.seen[2].r.style, AMDLOG_STYLE_3_5);
	assert_int_equal(trial.seen[1].id.pid, 7);
}

static char *nasty_text(size_t *len)
{
	size_t cap = 1 << 20, n = 0;
	char *p = malloc(cap);
	assert_non_null(p);
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		n += (size_t)sprintf(p + n, "%s", prefixes[i].line);
	n += (size_t)sprintf(p + n, "progress " REC "hipFree ( 1 )\r\n\n::3:\n:3:\n:4:ro\nend" REC2
				    "x:9:y" REC);
	// A record, foreign text and a record behind foreign text, all longer than what is kept of
	// one.
	n += (size_t)sprintf(p + n, "ShaderName : ");
	memset(p + n, 'k', 3 * AMDLOG_TEXT_MAX);
	n += 3 * AMDLOG_TEXT_MAX;
	n += (size_t)sprintf(p + n, REC "behind a long one\n");
	memset(p + n, ':', AMDLOG_TEXT_MAX + 5000);
	n += AMDLOG_TEXT_MAX + 5000;
	n += (size_t)sprintf(p + n, REC "behind colons\n");
	for (int i = 0; i < 70000; i++)
		p[n++] = ":3:"[i % 3];
	n += (size_t)sprintf(p + n, "\n" REC "no newline");
	assert_true(n < cap);
	*len = n;
	return p;
}

static void test_read_sizes(void **state)
{
	static const size_t pieces[] = {1,    2,     3,     7,     64,    127,    1000,
					4096, 65535, 65536, 65537, 66560, 131072, 200001};
	struct trial whole;
	size_t len;
	char *text = nasty_text(&len);
	(void)state;
	scan_all(&whole, text, len, 0);
	assert_int_equal(whole.counts.lines, sizeof(prefixes) / sizeof(prefixes[0]) + 9);
	for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
		scan_all(&trial, text, len, pieces[i]);
		if (trial.hash != whole.hash)
			print_error("reads of %zu bytes differ\n", pieces[i]);
		assert_true(trial.hash == whole.hash);
		assert_memory_equal(&trial.counts, &whole.counts, sizeof(whole.counts));
	}
	free(text);
}

// Cut anywhere: no record is lost that is whole, and nothing behind the cut matters.
// A long line is handed out but for the kilobyte in which a prefix may be cut; the record that
// begins right there is one.
static void test_long_line(void **state)
{
	SCOPED(buf_fini) struct buf log = {0};
	const size_t read = 70000;
	(void)state;
	buf_fill(&log, 'x', read - 1024);
	buf_puts(&log, REC "ShaderName : ");
	buf_fill(&log, 'k', 2000);
	buf_puts(&log, "\n");
	scan_all(&trial, log.data, log.len, read);
	assert_int_equal(trial.n, 1);
	assert_int_equal(trial.seen[0].r.offset, read - 1024);
	assert_int_equal(trial.counts.glued, 1);
}

static void test_every_cut(void **state)
{
	static const char log[] = REC "hipFree ( 1 )\n"
				      "foreign" REC2 "Command (X) enqueued: 0x1\n" REC "init\n";
	(void)state;
	for (size_t cut = 0; cut < sizeof(log); cut++) {
		unsigned lines = 0;
		for (size_t i = 0; i < cut; i++)
			lines += log[i] == '\n';
		scan_all(&trial, log, cut, 5);
		assert_int_equal(trial.counts.lines, lines + (cut && log[cut - 1] != '\n'));
		assert_true(trial.counts.records >= lines);
	}
}

static void test_intern(void **state)
{
	struct intern in = {.max_entries = 1000};
	char text[32];
	(void)state;
	for (uint32_t round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < 1000; i++) {
			int n = sprintf(text, "name %u", i);
			assert_int_equal(intern_put(&in, text, (size_t)n), i);
			assert_int_equal(in.n, round ? 1000 : i + 1);
		}
	}
	assert_int_equal(intern_put(&in, "x", 1), INTERN_NONE);
	assert_int_equal(intern_find(&in, "name 77", 7), 77);
	assert_int_equal(intern_value(&in, "name 77", 7), INTERN_NONE);
	assert_true(intern_set(&in, "name 77", 7, 5));
	assert_int_equal(intern_value(&in, "name 77", 7), 5);
	assert_string_equal(in.entries[999].bytes, "name 999");
	intern_fini(&in);
	assert_int_equal(intern_find(&in, "name 77", 7), INTERN_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_prefixes),
		cmocka_unit_test(test_columns),
		cmocka_unit_test(test_find_record),
		cmocka_unit_test(test_rocr_line_without_level),
		cmocka_unit_test(test_cut_prefixes),
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_calls),
		cmocka_unit_test(test_waiting),
		cmocka_unit_test(test_wrapped),
		cmocka_unit_test(test_doubtful),
		cmocka_unit_test(test_records_within_lines),
		cmocka_unit_test(test_foreign_text),
		cmocka_unit_test(test_line_ends),
		cmocka_unit_test(test_stale_bytes),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_bare_tid),
		cmocka_unit_test(test_style_of_each),
		cmocka_unit_test(test_read_sizes),
		cmocka_unit_test(test_every_cut),
		cmocka_unit_test(test_long_line),
		cmocka_unit_test(test_intern),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
