// Parts of logs added up: whatever the cuts, the sum is that of the whole; what is no part, or a
// damaged one, is refused.
#include "common/amdlog/read/reassemble.h"
#include "common/amdlog/merge/partial.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/amdlog/merge/partial.c" // NOLINT(bugprone-suspicious-include): its limits

struct reader {
	struct amdlog_scan *scan;
	struct amdlog_reassembly *reassembly;
	struct amdlog_summary sum;
};

static void take(void *ctx, const struct amdlog_record *r)
{
	struct reader *x = ctx;
	struct amdlog_event e;
	amdlog_summary_add(&x->sum, x->scan, r, NULL, &e);
}

static int64_t assumed = -1; // the process of lines that name none

static void read_log(struct reader *x, const char *text, size_t len, bool part)
{
	const struct amdlog_filter all = {.until_us = AMDLOG_UNKNOWN};
	struct amdlog_sink sink = {.ctx = x, .record = take};
	amdlog_summary_init(&x->sum, &all);
	x->sum.want_api = true;
	if (part)
		x->sum.part.resumed = true;
	x->reassembly = amdlog_reassembly_new(&sink);
	x->scan = x->reassembly->scan;
	x->scan->threads.assumed = assumed;
	amdlog_scan_feed(x->scan, text, len);
	amdlog_scan_end(x->scan);
	amdlog_reassembly_end(x->reassembly);
}

static void end_log(struct reader *x)
{
	amdlog_reassembly_free(x->reassembly);
	amdlog_summary_fini(&x->sum);
}

static void put_shapes(struct buf *b, const struct amdlog_shapes *s)
{
	for (int i = 0; i < 3 && s->items_min <= s->items_max; i++)
		buf_printf(b, " %llu-%llu", (unsigned long long)s->min[i],
			   (unsigned long long)s->max[i]);
}

#define LL(x) ((unsigned long long)(x))

// All that a report shows, as text, in the order of the rows.
static char *describe(struct amdlog_summary *s)
{
	struct buf b = {0};
	amdlog_summary_finish(s);
	const struct amdlog_totals *t = &s->totals;

	buf_printf(&b,
		   "%llu records, launches %llu torn %llu unnamed %llu back %llu errors %llu "
		   "strays %llu %s span %llu-%llu\n",
		   LL(t->records), LL(t->launches), LL(t->cut), LL(t->unnamed), LL(t->steps_back),
		   LL(t->api_errors), LL(t->strays), t->hip_version, LL(t->span.first_us),
		   LL(t->span.last_us));
	for (unsigned i = 0; i < AMDLOG_NKINDS; i++)
		buf_printf(&b, " %llu", LL(t->kinds[i]));
	for (uint32_t i = 0; i < s->nprocesses; i++) {
		const struct amdlog_process *p = &s->processes[i];
		if (p->records)
			buf_printf(&b, "\nprocess %lld: %llu %u %u %u %llu", (long long)p->pid,
				   LL(p->records), p->threads, p->queues, p->kernels,
				   LL(p->api_calls));
	}
	for (uint32_t i = 0; i < s->nqueues; i++) {
		const struct amdlog_queue *q = &s->queues[i];
		if (!q->records || q->merged != AMDLOG_NONE)
			continue;
		buf_printf(&b,
			   "\nqueue %lld %llx %llx id %lld %d prio %d size %llu: %llu %llu %llu "
			   "created %llu %llu kernels %u streams %u backlog %llu %llu %llu span "
			   "%llu-%llu",
			   (long long)s->processes[q->process].pid, LL(q->hwq), LL(q->swq),
			   (long long)q->id, q->ids_differ, q->priority, LL(q->size),
			   LL(q->records), LL(q->dispatches), LL(q->barriers), LL(q->created),
			   LL(q->created_us), q->kernels, q->streams, LL(q->backlog_max),
			   LL(q->backlog_sum), LL(q->wptr_max), LL(q->span.first_us),
			   LL(q->span.last_us));
	}
	for (uint32_t i = 0; i < s->nkernels; i++) {
		const struct amdlog_kernel *k = &s->kernels[i];
		if (!(k->launches + k->dispatches))
			continue;
		buf_printf(&b, "\nkernel %s: %llu %llu in %u on %u, %llu-%llu", k->name,
			   LL(k->launches), LL(k->dispatches), k->processes, k->queues,
			   LL(k->span.first_us), LL(k->span.last_us));
		put_shapes(&b, &k->grid);
		put_shapes(&b, &k->workgroup);
	}
	for (uint32_t i = 0; i < s->napis; i++)
		buf_printf(&b, "\napi %s: %llu %llu %llu %llu", s->apis[i].name,
			   LL(s->apis[i].calls), LL(s->apis[i].returns), LL(s->apis[i].total_us),
			   LL(s->apis[i].max_us));
	return b.data;
}

static uint64_t inode_of_parts = AMDLOG_UNKNOWN;

// A part, through JSON and back.
static void add_part(struct amdlog_merge *m, const char *text, size_t from, size_t to, bool first)
{
	struct reader x;
	struct amdlog_summary back;
	struct amdlog_part part = {.file = (char *)(uintptr_t) "a log",
				   .inode = inode_of_parts,
				   .from = from,
				   .to = to,
				   .sum = &x.sum};
	struct buf line = {0}, again = {0};
	const char *why = "";
	read_log(&x, text + from, to - from, true);
	part.counts = x.scan->counts;
	amdlog_partial_write(&line, &part);
	end_log(&x);
	if (!amdlog_partial_read(line.data, line.len - 1, &part, &back, &why))
		fail_msg("%s: %.300s", why, line.data);
	amdlog_partial_write(&again, &part);
	assert_string_equal(again.data, line.data);
	amdlog_merge_add(m, &part, first);
	amdlog_summary_fini(&back);
	amdlog_part_fini(&part);
	buf_fini(&line);
	buf_fini(&again);
}

// `n` cuts, ascending, each at the beginning of a line.
static void check_cuts(const char *text, size_t len, const size_t *cuts, size_t n,
		       const char *whole)
{
	struct amdlog_merge m;
	char *got;
	amdlog_merge_init(&m);
	for (size_t i = 0; i <= n; i++)
		add_part(&m, text, i ? cuts[i - 1] : 0, i < n ? cuts[i] : len, i == 0);
	got = describe(&m.sum);
	if (strcmp(got, whole) != 0) {
		size_t at = 0;
		while (got[at] == whole[at])
			at++;
		while (at && got[at - 1] != '\n')
			at--;
		fail_msg("cut at %zu: got %.300s\nwanted %.300s", n ? cuts[0] : 0, got + at,
			 whole + at);
	}
	free(got);
	amdlog_merge_fini(&m);
}

static void check_log(const char *text, size_t len)
{
	size_t *lines = calloc(len + 1, sizeof(*lines)), n = 0;
	struct reader x;
	char *whole;
	read_log(&x, text, len, false);
	whole = describe(&x.sum);
	end_log(&x);
	for (size_t i = 1; i < len; i++)
		if (text[i - 1] == '\n')
			lines[n++] = i;
	check_cuts(text, len, NULL, 0, whole);
	for (size_t i = 0; i < n; i += 1 + n / 200) // every line of a small one
		check_cuts(text, len, &lines[i], 1, whole);
	for (size_t k = 2; k < 30 && k < n; k += 3) { // and in many at once
		size_t cuts[30];

		for (size_t i = 0; i < k; i++)
			cuts[i] = lines[(i + 1) * n / (k + 1)];
		check_cuts(text, len, cuts, k, whole);
	}
	if (n && n < 400)
		check_cuts(text, len, lines, n, whole); // every line a part
	free(whole);
	free(lines);
}

static void cuts_of(const char *path)
{
	struct buf b = {0};
	if (buf_read_at(&b, AT_FDCWD, path) < 0)
		fail_msg("%s is not there; run this at the top of the sources", path);
	check_log(b.data, b.len);
	buf_fini(&b);
}

// Torn and wrapped records are not cut: they belong to the part they begin in, which reads on.
static void test_logs(void **state)
{
	static const char *const logs[] = {
		"cnn",           "rocm35",        "rocm43",      "rocm57",     "rocm70",
		"rocm63-level3", "rocm63-level4", "transformer", "nolocation", "rocm712-level4",
		"windows",       "pairs64",       "pairs57"};
	char path[64];

	(void)state;
	for (size_t i = 0; i < sizeof(logs) / sizeof(logs[0]); i++) {
		snprintf(path, sizeof(path), "tests/data/amdlog/%s.log", logs[i]);
		cuts_of(path);
	}
}

// Lines of two threads of process 7.
#define A(us, text) ":3:a.cpp                   :1   : " #us " " P text "\n"
#define B(us, text) ":3:a.cpp                   :1   : " #us " " Q text "\n"
#define P           "us: [pid:7     tid:0x7f00000000aa] "
#define Q           "us: [pid:7     tid:0x7f00000000bb] "
#define DISPATCH(hwq, obj, grid)                                                             \
	"HWq=0x" hwq ", Dispatch Header = 0xb02 (type=2, barrier=1, acquire=1, release=1), " \
	"setup=3, grid=[" grid ", 1, 1], workgroup=[64, 1, 1], private_seg_size=0, "         \
	"group_seg_size=0, kernel_obj=0x" obj ", kernarg_address=0x6, completion_signal=0x0"

// 6.0: rings in packets, handles in queue lines, joined by streams; two threads; a graph launch
// whose kernel is known by its object; an object that gets another kernel; a creation that returns
// much later.
static const char *const joined[] = {
	A(1000, "hipStreamCreate ( 0x1 ) "),
	A(1001, "created hardware queue 0xa000 with size 16384 with priority 1, cooperative: 0"),
	A(1002, "acquireQueue refCount: 0xa000 (1)"),
	A(1003, "hipStreamCreate: Returned hipSuccess : stream:0x51"),
	A(1010, "hipLaunchKernel ( 0x1, {1,1,1}, {1,1,1}, 0x2, 0, stream:0x51 ) "),
	A(1011, "ShaderName : one"),
	B(1012, "ShaderName : two"),
	A(1013, DISPATCH("b000", "e1", "64")),
	B(1014, DISPATCH("b000", "e2", "128")),
	A(1015, "hipLaunchKernel: Returned hipSuccess : "),
	B(1013, DISPATCH("b000", "e1", "32")),
	B(1017, "hipLaunchKernel ( 0x1, {1,1,1}, {1,1,1}, 0x2, 0, stream:0x52 ) "),
	B(1018, "created hardware queue 0xa800 with size 16384 with priority 2, cooperative: 0"),
	B(1019, "ShaderName : three"),
	B(1020, DISPATCH("b800", "e1", "256")),
	A(1021, DISPATCH("b800", "e1", "8")),
	A(1022, DISPATCH("b800", "e9", "8")),
	B(1023, "hipLaunchKernel: Returned hipErrorUnknown : : duration: 6 us"),
	A(1030, "deleting hardware queue 0xa000 with refCount 0"),
};

static struct buf text_of(const char *const *lines, size_t n)
{
	struct buf text = {0};
	for (size_t i = 0; i < n; i++)
		buf_puts(&text, lines[i]);
	return text;
}

static void check_lines(const char *const *lines, size_t n)
{
	struct buf text = text_of(lines, n);
	check_log(text.data, text.len);
	buf_fini(&text);
}

static void read_joined(struct reader *x)
{
	struct buf text = text_of(joined, COUNT(joined));
	read_log(x, text.data, text.len, true);
	buf_fini(&text);
}

static void test_state_carried(void **state)
{
	(void)state;
	check_lines(joined, COUNT(joined));
}

// Streams of two handles write to one ring: a later part may be the first to say so.
static void test_disputed(void **state)
{
	static const char *const log[] = {
		A(1000, "hipStreamCreate ( 1 )"),
		A(1001, "created hardware queue 0x900 with size 1, cooperative: 0"),
		A(1002, "hipStreamCreate: Returned hipSuccess : stream:0x51"),
		A(1003, "hipLaunchKernel ( 1, stream:0x51 )"),
		A(1004, DISPATCH("7000", "1", "64")),
		A(1005, "hipStreamCreate ( 1 )"),
		A(1006, "created hardware queue 0x901 with size 1, cooperative: 0"),
		A(1007, "hipStreamCreate: Returned hipSuccess : stream:0x52"),
		A(1008, "hipLaunchKernel ( 1, stream:0x52 )"),
		A(1009, DISPATCH("7000", "1", "64")),
	};
	(void)state;
	check_lines(log, COUNT(log));
}

// Without process ids each file is a process of its own.
static void test_files_without_pids(void **state)
{
	static const char log[] = ":3:hip_module.cpp          :1   : 1010us: hipFree ( 0x1 )\n";
	struct amdlog_merge m;
	unsigned processes = 0;
	(void)state;
	amdlog_merge_init(&m);
	for (unsigned i = 0; i < 4; i++) // two parts of each of two files
		add_part(&m, log, 0, sizeof(log) - 1, i % 2 == 0);
	amdlog_summary_finish(&m.sum);
	for (uint32_t i = 0; i < m.sum.nprocesses; i++) {
		assert_int_equal(m.sum.processes[i].records, m.sum.processes[i].records ? 2 : 0);
		processes += m.sum.processes[i].records > 0;
	}
	assert_int_equal(processes, 2);
	amdlog_merge_fini(&m);
}

// Lines that name no process are of the one that the file is named for, others are not.
static void test_files_with_pids(void **state)
{
	static const char *const log[] = {
		":3:hip_module.cpp          :1   : 1010us: hipFree ( 0x1 )\n",
		A(1011, "hipFree ( 0x1 )"),
		":3:hip_module.cpp          :1   : 1012us: hipFree ( 0x1 )\n",
		":3:hip_module.cpp          :1   : 1013us: hipFree ( 0x1 )\n",
		B(1014, "hipFree ( 0x1 )"),
	};
	(void)state;
	assumed = 5;
	check_lines(log, COUNT(log));
	assumed = -1;
}

static void test_names_that_are_no_text(void **state)
{
	static const char *const log[] = {
		A(1011, "ShaderName : a\xff"),
		A(1012, "ShaderName : a\xfe"),
		A(1012, "ShaderName : b\xff\x05z"),
		A(1012, "ShaderName : \xe4\xbd\xa0\"\\\x01"),
	};
	(void)state;
	check_lines(log, COUNT(log));
}

// A name in hex that lost a digit, or has one that is none, is refused: it would be another name.
static void test_damaged_hex(void **state)
{
	static const char log[] = A(1011, "ShaderName : a\xffz");
	static const char *const cases[] = {"61ff7a", "61f?7a", "61?f7a", "61ff7", "61FF7A"};
	struct reader x;
	struct amdlog_part part = {.file = (char *)(uintptr_t) "x", .sum = &x.sum};
	struct amdlog_summary back;
	struct buf line = {0}, edited = {0};
	const char *why;
	(void)state;
	read_log(&x, log, sizeof(log) - 1, true);
	amdlog_partial_write(&line, &part);
	end_log(&x);
	line.len--;
	const char *at = strstr(line.data, "\"61ff7a\"");
	assert_non_null(at);
	for (size_t i = 0; i < COUNT(cases); i++) {
		edited.len = 0;
		buf_append(&edited, line.data, (size_t)(at + 1 - line.data));
		buf_puts(&edited, cases[i]);
		buf_append(&edited, at + 7, line.len - (size_t)(at + 7 - line.data));
		const bool ok = amdlog_partial_read(edited.data, edited.len, &part, &back, &why);
		assert_int_equal(ok, i == 0 || i == 4);
		if (!ok)
			continue;
		assert_int_equal(back.nkernels, 1);
		assert_memory_equal(back.kernels[0].name, "a\xffz", 3);
		amdlog_summary_fini(&back);
		amdlog_part_fini(&part);
	}
	buf_fini(&line);
	buf_fini(&edited);
}

// Whatever is wrong in a line, it is refused or read, and never read outside (run with ASan).
static void test_damage(void **state)
{
	struct reader x;
	struct amdlog_part part = {.file = (char *)(uintptr_t) "x", .sum = &x.sum};
	struct amdlog_summary back;
	struct buf line = {0};
	struct amdlog_merge m;
	const char *why;
	unsigned refused = 0;
	(void)state;
	read_joined(&x);
	amdlog_partial_write(&line, &part);
	end_log(&x);
	line.len--;
	for (size_t i = 0; i < line.len; i++) {
		for (int bit = 0; bit < 8; bit += 3) {
			line.data[i] ^= (char)(1 << bit);
			if (amdlog_partial_read(line.data, line.len, &part, &back, &why)) {
				amdlog_merge_init(&m);
				amdlog_merge_add(&m, &part, true);
				amdlog_summary_finish(&m.sum);
				amdlog_merge_fini(&m);
				amdlog_summary_fini(&back);
				amdlog_part_fini(&part);
			} else {
				refused++;
			}
			line.data[i] ^= (char)(1 << bit);
		}
		assert_false(amdlog_partial_read(line.data, i, &part, &back, &why));
	}
	assert_true(refused > 100);
	buf_fini(&line);
}

// Two pairs fit, each with its value: what is no pair, no value, or a third pair is refused.
static void test_pairs(void **state)
{
	static const struct {
		const char *text;
		bool values, ok;
		uint32_t n, value; // of the pair 7, 8
	} cases[] = {
		{"[]", false, true, 0, INTERN_NONE},
		{"[7,8]", false, true, 1, INTERN_NONE},
		{"[1,2,7,8]", false, true, 2, INTERN_NONE},
		{"[7,8,8,7,7,8]", false, true, 2, INTERN_NONE},
		{"[7,8,8,7,7,7]", false, false, 2, INTERN_NONE},
		{"[7,8,1]", false, false, 1, INTERN_NONE},
		{"[7,8,\"x\",1]", false, false, 1, INTERN_NONE},
		{"[7,8,1,\"\"]", false, false, 1, INTERN_NONE},
		{"[7,8,5]", true, true, 1, 5},
		{"[8,7,4,7,8,5]", true, true, 2, 5},
		{"[7,8,4,8,7,6,7,8,5]", true, true, 2, 5},
		{"[7,8,5,8,7,6,7,7,5]", true, false, 2, 5},
		{"[7,8,4294967294]", true, true, 1, INTERN_NONE - 1},
		{"[7,8,4294967295]", true, false, 0, INTERN_NONE},
		{"[7,8,null]", true, false, 0, INTERN_NONE},
		{"[7,8]", true, false, 0, INTERN_NONE},
		{"[7]", true, false, 0, INTERN_NONE},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct jsonin_value v = {.text = cases[i].text, .len = strlen(cases[i].text)};
		struct intern in = {.max_entries = 2};
		assert_int_equal(read_pairs(&v, &in, cases[i].values), cases[i].ok);
		assert_int_equal(in.n, cases[i].n);
		assert_int_equal(pair_value(&in, 7, 8), cases[i].value);
		intern_fini(&in);
	}
}

// What tells a part from others comes back, from the whole line and from its beginning alone.
static void test_identity(void **state)
{
	struct reader x;
	struct amdlog_part part = {.host = (char *)(uintptr_t) "h",
				   .file = (char *)(uintptr_t) "f",
				   .inode = 1,
				   .head = 2,
				   .filter = 3,
				   .size = 4,
				   .rank = 5,
				   .asked = 6,
				   .from = 7,
				   .to = 8,
				   .stopped = true,
				   .sum = &x.sum};
	struct amdlog_summary back;
	struct buf line = {0};
	const char *why;
	(void)state;
	read_joined(&x);
	for (int whole = 0; whole < 2; whole++) {
		struct amdlog_part got;
		part.rank = part.size = part.inode = whole ? AMDLOG_UNKNOWN : 5;
		line.len = 0;
		amdlog_partial_write(&line, &part);
		assert_true(whole ? amdlog_partial_read(line.data, line.len - 1, &got, &back, &why)
				  : amdlog_partial_place(line.data, line.len - 1, &got));
		assert_string_equal(got.host, "h");
		assert_string_equal(got.file, "f");
		assert_true(got.inode == part.inode && got.head == 2 && got.filter == 3 &&
			    got.size == part.size && got.rank == part.rank && got.asked == 6 &&
			    got.from == 7 && got.to == 8 && got.stopped);
		amdlog_part_fini(&got);
	}
	amdlog_summary_fini(&back);
	end_log(&x);
	buf_fini(&line);
	const uint64_t ab = amdlog_hash(amdlog_hash(0, "a", 1), "b", 1);
	assert_true(ab == amdlog_hash(0, "ab", 2) && ab >> 53 == 0);
	assert_true(ab != amdlog_hash(0, "ba", 2) && ab != amdlog_hash(0, "a", 1));
}

// Process 7 in two files that begin and end at these times: one process, or one for each file?
static void test_apart(void **state)
{
	static const struct {
		unsigned begin[2], end[2];
		bool apart;
	} cases[] = {
		{{1000, 1000}, {2000, 2000}, true},  {{1000, 2000}, {2000, 3000}, false},
		{{1000, 1999}, {2000, 3000}, false}, // where a log is cut, lines are out of order
		{{1000, 1751}, {2000, 2751}, false}, {{1000, 1750}, {2000, 2750}, true},
		{{1750, 1000}, {2750, 2000}, true},  {{1000, 1400}, {9000, 1401}, true},
		{{1000, 5000}, {2000, 6000}, false}, {{1000, 1500}, {2000, 1500}, false},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(cases) * 2; i++) {
		struct intern apart = {0};
		const unsigned *begin = cases[i / 2].begin, *end = cases[i / 2].end;
		// Two parts of one file, each made with another filter, have the same processes.
		const bool one_file = i % 2, are = cases[i / 2].apart && !one_file;
		inode_of_parts = one_file ? 5 : AMDLOG_UNKNOWN;
		for (int again = 0; again < 2; again++) {
			struct amdlog_merge m;
			amdlog_merge_init(&m);
			m.apart = again ? &apart : NULL;
			for (int f = 0; f < 2; f++) {
				char log[200];
				int n = snprintf(log, sizeof(log),
						 ":3:a.cpp :1 : %u " P "x\n:3:a.cpp :1 : %u " P
						 "x\n",
						 begin[f], end[f]);
				add_part(&m, log, 0, (size_t)n, true);
			}
			unsigned n = 0;
			amdlog_merge_find_apart(&m, &apart);
			for (uint32_t p = 0; p < m.sum.nprocesses; p++)
				n += m.sum.processes[p].pid == 7;
			assert_int_equal(n, again && are ? 2 : 1);
			assert_int_equal(apart.n, are);
			amdlog_merge_fini(&m);
		}
		intern_fini(&apart);
	}
	inode_of_parts = AMDLOG_UNKNOWN;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_logs),
		cmocka_unit_test(test_state_carried),
		cmocka_unit_test(test_disputed),
		cmocka_unit_test(test_files_without_pids),
		cmocka_unit_test(test_files_with_pids),
		cmocka_unit_test(test_names_that_are_no_text),
		cmocka_unit_test(test_damaged_hex),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_pairs),
		cmocka_unit_test(test_identity),
		cmocka_unit_test(test_apart),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
