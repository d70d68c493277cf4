// A rig for verdicts about queues, common/why: rings in a memory of the test's own, that the GPU
// changes between the two looks; the clock, processes, evictions and hardware slots are as each
// case says. Packets by [aql.dispatch] and [aql.barrier].
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/why/gpu_clock.h"
#include "common/why/interrupts.h"
#include "common/why/why.h"

#include "common/cli/stop.h"
#include "common/debugfs/regs.h"
#include "common/host/clock.h"
#include "common/host/proc.h"
#include "common/host/root.h"

enum {
	RING = 0x1000, // of queue i at (i + 1) * RING, 64 slots
	INDICES = 0x8000,
	SIGNALS = 0x9000,
	SHARED = 0x50000, // where the other process has mapped the page SIGNALS
	QUEUES = 4
};
enum { INVALID = 1, DISPATCH = 2, AND = 3, OR = 5 };

static struct {
	uint8_t memory[0xa000];
	uint64_t hole;   // these 64 bytes cannot be read; 0: none
	uint64_t signal; // reading it moves queue 0 to `moved`
	uint64_t moved;
	void (*gpu)(void);  // what happens between the looks
	void (*host)(void); // what happens while threads are looked at
	uint64_t clock, slot_read, slot_write, slot_error;
	uint64_t recorded_ns; // when the host was recorded
	unsigned slots;       // how often hardware slots were read
	int8_t in_slot;
	bool recorded;          // the host is
	const char *maps[2];    // of both processes; NULL: they cannot be read
	unsigned maps_reads[2]; // how often
	const char *log;        // of the kernel
	unsigned logs_read;
	const char *stacks[2]; // of process 40 at either look; NULL: they cannot be read
	const char *waits;     // of ROCr, in those of the second look
	unsigned stack_looks;
	bool stopped;       // by Ctrl-C
	uint64_t boot_ns;   // time since boot
	uint64_t ticks_now; // of the counter of every GPU, of 100 MHz; 0: unknown
	uint64_t irqs[2];   // of every GPU at either look; UINT64_MAX: unknown
	unsigned irq_looks;
	uint64_t ticks; // when every process began; 0: unknown
	unsigned looked_at_threads;
	struct proc_threads threads; // of every process
	pid_t tracer;
	const char *trigger, *comm; // comm: of every process; NULL: there is none
	struct queue_row rows[QUEUES];
	struct ring_queue queues[QUEUES];
	struct ring_process processes[2];
	struct rings rings;
	struct why_how how;
	struct why why;
} my;

static void poke(uint64_t at, uint64_t value)
{
	memcpy(my.memory + at, &value, sizeof(value));
}

static void indices(unsigned q, uint64_t read, uint64_t write)
{
	poke(INDICES + 16 * q, read);
	poke(INDICES + 16 * q + 8, write);
}

static bool read_target(void *arg, uint64_t at, void *to, size_t size)
{
	(void)arg;
	if (at >= SHARED && at < SHARED + 0x1000)
		at -= SHARED - SIGNALS;
	if (at > sizeof(my.memory) || size > sizeof(my.memory) - at ||
	    (my.hole && at < my.hole + 64 && at + size > my.hole))
		return false;
	memcpy(to, my.memory + at, size);
	if (my.signal && at == my.signal)
		poke(INDICES, my.moved);
	return true;
}

static bool fake_is_live(void)
{
	return !my.recorded;
}

static void fake_threads(struct proc_threads *t, pid_t pid)
{
	assert_true(pid == 40 || pid == 50);
	my.looked_at_threads++;
	*t = my.threads;
	if (my.host)
		my.host();
}

static bool fake_sleep(uint64_t until)
{
	my.clock = until;
	if (my.gpu)
		my.gpu();
	return !my.stopped;
}

static uint64_t fake_clock_ns(void)
{
	return my.clock;
}

static void fake_read_slots(struct rings *r)
{
	my.slots++;
	r->v[0].slot_read = my.slot_read;
	r->v[0].slot_write = my.slot_write;
	strcpy(r->v[0].slot, "p0q2");
	r->v[0].slot_error = my.slot_error;
	r->v[0].in_slot = my.in_slot;
}

static ssize_t fake_reader_read(struct buf *b, const char *path)
{
	const bool other = strcmp(path, "/proc/40/maps") != 0;
	assert_string_equal(path, other ? "/proc/50/maps" : "/proc/40/maps");
	my.maps_reads[other]++;
	if (!my.maps[other])
		return -1;
	buf_puts(b, my.maps[other]);
	return (ssize_t)b->len;
}

static int fake_proc_read(struct proc *p, pid_t pid)
{
	*p = (struct proc){.pid = pid, .tracer = my.tracer};
	if (my.comm)
		strcpy(p->comm, my.comm);
	return my.comm ? 0 : -1;
}

static void fake_klog_read(struct klog *k)
{
	my.logs_read++;
	klog_parse(k, my.log ? my.log : "", my.log ? strlen(my.log) : 0);
}

static void fake_irqs_look(struct buf *rows, uint64_t ns, const char *bdf)
{
	assert_true(!my.recorded && ns == my.clock);
	const uint64_t n = bdf ? my.irqs[my.irq_looks++ % 2] : UINT64_MAX;
	if (n != UINT64_MAX)
		buf_printf(rows, "%" PRIu64 " %s %" PRIu64 "\n", ns, bdf, n);
}

static int fake_stacks_read(struct buf *to, struct buf *waits, pid_t pid)
{
	if (pid != 40) // of which no thread sleeps
		return 0;
	const char *s = my.stacks[my.stack_looks++ % 2];
	buf_puts(to, s ? s : "");
	if (waits)
		buf_puts(waits, my.waits);
	errno = EACCES;
	return s ? 0 : -1;
}

static uint64_t fake_read_ns(clockid_t clock)
{
	assert_int_equal(clock, CLOCK_BOOTTIME);
	return my.boot_ns;
}

static bool fake_gpu_clock(struct gpu_clock *c, uint64_t minor)
{
	assert_int_equal(minor, 130);
	*c = (struct gpu_clock){.ticks = my.ticks_now, .khz = 100000};
	return my.ticks_now;
}

static void fake_tell(struct buf *to, pid_t pid)
{
	buf_printf(to, "threads of %d", (int)pid);
}

static int fake_start_ticks(pid_t pid, uint64_t *ticks)
{
	assert_true(pid == 40 || pid == 50);
	*ticks = my.ticks;
	return my.ticks ? 0 : -1;
}

static const char *fake_trigger(const struct evictions *e, const struct queue_rows *all,
				const struct queue_row *q)
{
	return !e && all == &my.rings.from.rows && q == &my.rows[0] ? my.trigger : NULL;
}

static uint64_t fake_recorded_ns(void)
{
	return my.recorded_ns;
}

static int fake_read_u64(const char *path, uint64_t *v)
{
	assert_string_equal(path, "/sys/module/amdgpu/parameters/hws_max_conc_proc");
	*v = 8;
	return 0;
}

#define host_is_live      fake_is_live
#define stop_sleep        fake_sleep
#define clock_ns          fake_clock_ns
#define rings_read_slots  fake_read_slots
#define proc_threads_read fake_threads
#define proc_threads_tell fake_tell
#define klog_read         fake_klog_read
#define irqs_look         fake_irqs_look
#define stacks_read       fake_stacks_read
#define gpu_clock_read    fake_gpu_clock
#define clock_read_ns     fake_read_ns
#define proc_start_ticks  fake_start_ticks
#define proc_read         fake_proc_read
#define proc_recorded_ns  fake_recorded_ns
#define evictions_trigger fake_trigger
#define host_read_u64     fake_read_u64
#define reader_read       fake_reader_read
// NOLINTBEGIN(bugprone-suspicious-include)
#include "common/why/remedies.c"
#include "common/why/shared.c"
#include "common/why/verdict.c"
#include "common/why/why.c"
#include "common/why/words.c"
// NOLINTEND(bugprone-suspicious-include)

__attribute__((unused)) static uint64_t signal_of(unsigned number, int64_t value)
{
	const uint64_t at = SIGNALS + 64 * number;
	poke(at, 1);
	poke(at + 8, (uint64_t)value);
	return at;
}

static uint8_t *put(unsigned q, uint64_t index, uint8_t type)
{
	uint8_t *p = my.memory + RING * (q + 1) + index % 64 * 64;
	memset(p, 0, 64);
	p[0] = type;
	return p;
}

static void dispatch(unsigned q, uint64_t index, uint64_t completion)
{
	uint8_t *p = put(q, index, DISPATCH);
	memcpy(p + 2, (const uint16_t[]){1, 64, 1, 1}, 8);
	memcpy(p + 12, (const uint32_t[]){64, 1, 1}, 12);
	p[33] = 5;
	memcpy(p + 56, &completion, 8);
}

__attribute__((unused)) static void barrier(unsigned q, uint64_t index, uint8_t type, uint64_t a,
					    uint64_t b)
{
	uint8_t *p = put(q, index, type);
	memcpy(p + 8, (const uint64_t[]){a, b}, 16);
}

// Four queues, 0 to 3, that are idle at index 5; the last is of another process.
static int setup(void **state)
{
	(void)state;
	why_fini(&my.why);
	memset(&my, 0, sizeof(my));
	my.comm = "gdb";
	my.clock = 1000;
	my.slot_read = my.slot_write = my.slot_error = KFD_UNKNOWN;
	my.irqs[0] = my.irqs[1] = KFD_UNKNOWN;
	my.in_slot = -1;
	my.how.over_ns = 250000000;
	for (unsigned i = 0; i < QUEUES; i++) {
		queue_row_clear(&my.rows[i]);
		my.rows[i].pid = i < 3 ? 40 : 50;
		my.rows[i].gpu_id = 7;
		my.rows[i].qid = i;
		my.rows[i].type = "compute";
		my.rows[i].packets = "aql";
		my.rows[i].on_hw = 1;
		my.queues[i] = (struct ring_queue){.row = &my.rows[i],
						   .process = i / 3,
						   .slot_read = KFD_UNKNOWN,
						   .slot_write = KFD_UNKNOWN,
						   .slot_error = KFD_UNKNOWN,
						   .in_slot = -1,
						   .chosen = true,
						   .ring = {.base = RING * (i + 1),
							    .bytes = RING,
							    .read_at = INDICES + 16 * i,
							    .write_at = INDICES + 16 * i + 8,
							    .kind = RING_AQL}};
		indices(i, 5, 5);
		for (unsigned k = 0; k < 64; k++)
			put(i, k, INVALID);
	}
	for (unsigned i = 0; i < 2; i++)
		my.processes[i] = (struct ring_process){.pid = i ? 50 : 40,
							.memory = {.fd = -1, .read = read_target}};
	my.rings.processes = my.processes;
	my.rings.nprocesses = 2;
	my.rings.v = my.queues;
	my.rings.n = QUEUES;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	why_fini(&my.why);
	return 0;
}

// "STATE: DETAIL" of a queue, after two looks a quarter of a second apart.
static const char *verdict(unsigned q)
{
	static char text[512];
	why_fini(&my.why);
	why_look(&my.why, &my.rings, &my.how);
	assert_int_equal(my.why.over_ns, my.recorded ? 0 : 250000000);
	snprintf(text, sizeof(text), "%s: %s", why_state_word(my.why.v[q].state),
		 my.why.v[q].detail ? my.why.v[q].detail : "");
	return text;
}

#define assert_verdict(q, text) assert_string_equal(verdict(q), text)
