// Lines like earlier ones read as they do when nothing is known of them.
#include "tests/unit/amdlog_ways.h"

// A log in which lines repeat: of one thread, of two processes by turns, without any, or once so
// and once so.
enum variant { ONE_THREAD, TWO_PROCESSES, NO_THREADS, BOTH, VARIANTS };
static void read_repeated(struct buf *out, enum variant variant)
{
	static const char who[] = "[pid:4711 tid: 0x7fd0001006c0] ";
	struct buf log = {0};
	unsigned n = 0;
	assert_true(buf_read_at(&log, AT_FDCWD, "tests/data/amdlog/repeated.txt") > 0);
	out->len = 0;
	if (variant == BOTH)
		buf_append(out, log.data, log.len);
	for (char *p = log.data; variant != ONE_THREAD && (p = strstr(p, who)); n++, p++) {
		if (variant == TWO_PROCESSES) {
			p[5] += n % 2;
			continue;
		}
		log.len -= sizeof(who) - 2; // one blank more
		memmove(p + 1, p + sizeof(who) - 1, (size_t)(log.data + log.len - p));
		*p = ' ';
	}
	buf_append(out, log.data, log.len);
	buf_fini(&log);
}

static void check_byte(struct buf *text, size_t at, char other, size_t size, struct buf *want,
		       struct buf *got)
{
	char before = text->data[at];
	text->data[at] = other;
	loop = (unsigned)at % LOOPS;
	in_order(text->data, text->len, want);
	in_blocks(text->data, text->len, -1, 0, size, 1, got);
	same("a byte", want, got, at, 1);
	text->data[at] = before;
	loop = LOOPS - 1;
}

// Five copies, each a tenth of a second before the one in front of it: then what a block says of
// first times counts.
static void copy_back_in_time(struct buf *out, const struct buf *log)
{
	out->len = 0;
	for (int i = 0; i < 5; i++) {
		char *line;
		buf_append(out, log->data, log->len);
		line = out->data + out->len - log->len;
		for (char *end; (end = strchr(line, '\n')); line = end + 1)
			line[40] = (char)('9' - i);
	}
}

// What is known is looked at less closely than what is new; not so much less that it would miss any
// byte that is another one. The blocks are of two copies: one to learn from, and one.
static void test_every_byte(void **state)
{
	static const char others[] = "3 x=0,]f\r\x1b";
	struct buf log = {0}, text = {0}, want = {0}, got = {0};
	(void)state;
	for (unsigned variant = 0; variant < VARIANTS; variant++) {
		read_repeated(&log, variant);
		copy_back_in_time(&text, &log);
		for (size_t i = 0; i < log.len;
		     i += OF_BYTES * (variant == ONE_THREAD ? 1 : 3 + variant)) {
			char other = others[i * 7 % (sizeof(others) - 1)];
			check_byte(&text, 3 * log.len + i, '\n', 2 * log.len, &want, &got);
			check_byte(&text, 3 * log.len + i, ':', 2 * log.len, &want, &got);
			filter = &filters[FILTERS - 3]; // all that is known of the records
			check_byte(&text, 3 * log.len + i, other, 2 * log.len, &want, &got);
			if (variant == ONE_THREAD) // as alike as can be
				check_byte(&text, 3 * log.len + i, log.data[i] ^ 1, 2 * log.len,
					   &want, &got);
			filter = filters;
		}
	}
	buf_fini(&log);
	buf_fini(&text);
	buf_fini(&want);
	buf_fini(&got);
}

// Another record begins at any byte of what is known, alone or with the line's rest behind it.
static void check_glued(const struct buf *log, size_t at, struct buf *want, struct buf *got)
{
	static const char *const records[] = {
		":3:hip_device_runtime.cpp   :668 : 20159813612 us: [pid:4711 tid: 0x7fd0001006c0] "
		"hipSetDevice: Returned hipSuccess : ",
		":4:rocvirtual.cpp           :883 : 20159813613 us: [pid:4711 tid: 0x7fd0001006c0] "
		"Arg1:  x = val:7\n",
		":3:a.cpp:66 : 1", // so short that all of it is looked at
	};
	const char *record = records[at % 3];
	struct buf text = {0};

	for (unsigned i = 0; i < 3; i++)
		buf_append(&text, log->data, log->len);
	buf_append(&text, log->data, at);
	buf_append(&text, record, strlen(record));
	buf_append(&text, log->data + at, log->len - at);
	buf_append(&text, log->data, log->len);
	loop = (unsigned)at % LOOPS;
	in_order(text.data, text.len, want);
	in_blocks(text.data, text.len, -1, 0, 2 * log->len, 1, got);
	same("glued", want, got, at, 1);
	loop = LOOPS - 1;
	buf_fini(&text);
}

static void test_glued(void **state)
{
	struct buf log = {0}, want = {0}, got = {0};
	(void)state;
	for (unsigned variant = 0; variant < VARIANTS; variant++) {
		read_repeated(&log, variant);
		for (size_t i = 0; i < log.len; i += OF_BYTES * (variant == ONE_THREAD ? 1 : 7))
			check_glued(&log, i, &want, &got);
	}
	buf_fini(&log);
	buf_fini(&want);
	buf_fini(&got);
}

// Times that go forth and back, in which the same lines follow each other.
static void test_times(void **state)
{
	struct buf log = {0}, text = {0}, want = {0}, got = {0};
	unsigned random = 1;
	(void)state;
	for (unsigned round = 0; round < 60 / OF_FILES * VARIANTS; round++) {
		read_repeated(&log, round % VARIANTS);
		text.len = 0;
		for (unsigned i = 0; i < 8; i++)
			buf_append(&text, log.data, log.len);
		for (char *line = text.data, *end; (end = strchr(line, '\n')); line = end + 1) {
			line[38] = (char)('0' + (round % 7 ? 9 : any_below(&random, 2)));
			line[42] = (char)('0' + any_below(&random, 2 + round % 8));
		}
		for (loop = 0; loop < LOOPS; loop++) {
			in_order(text.data, text.len, &want);
			in_blocks(text.data, text.len, -1, 0, 2 * log.len, 1, &got);
			same("times", &want, &got, round, 1);
		}
	}
	loop = LOOPS - 1;
	buf_fini(&log);
	buf_fini(&text);
	buf_fini(&want);
	buf_fini(&got);
}

// Behind lines that are known, one as they are but long.
static void test_long_lines(void **state)
{
	static const int off[] = {-700, -400, -357, -300, -256, -200, -1, 0, 1, 500};
	static const char entry[] = "\x1b[32m hipSetDevice ( ", end[] = " ) \x1b[0m\n";
	struct buf log = {0}, text = {0}, want = {0}, got = {0};
	const char *line;
	(void)state;
	read_repeated(&log, ONE_THREAD);
	line = strstr(log.data, entry);
	assert_non_null(line);
	while (line[-1] != '\n')
		line--;
	for (unsigned i = 0; i < sizeof(off) / sizeof(off[0]); i++) {
		text.len = 0;
		for (unsigned copy = 0; copy < 100; copy++)
			buf_append(&text, log.data, log.len);
		buf_append(&text, line, (size_t)(strstr(line, entry) - line) + strlen(entry));
		for (int n = AMDLOG_TEXT_MAX + off[i]; n > 0; n--)
			buf_append(&text, "x", 1);
		buf_append(&text, end, strlen(end));
		buf_append(&text, log.data, log.len);
		for (loop = 0; loop < LOOPS; loop++) {
			in_order(text.data, text.len, &want);
			in_blocks(text.data, text.len, -1, 0, 2 * AMDLOG_TEXT_MAX, 1, &got);
			same("long", &want, &got, (size_t)i, 1);
		}
	}
	loop = LOOPS - 1;
	buf_fini(&log);
	buf_fini(&text);
	buf_fini(&want);
	buf_fini(&got);
}

// Packets of a form, with numbers of any length: '#' is a decimal one, '$' a hexadecimal one.
static void put_packets(struct buf *out, const char *form, unsigned *random)
{
	for (const char *p = form; *p; p++) {
		unsigned digits =
			any_below(random, 4) ? 1 + any_below(random, 5) : 1 + any_below(random, 21);
		if (*p != '#' && *p != '$')
			buf_append(out, p, 1);
		for (; (*p == '#' || *p == '$') && digits; digits--)
			buf_append(out, &"0123456789abcdef"[any_below(random, *p == '#' ? 10 : 16)],
				   1);
	}
	buf_append(out, "\n", 1);
}

static void test_known_packets(void **state)
{
#define PREFIX ":4:rocvirtual.cpp           :1083: 0090001030 us: [pid:4711 tid: 0x7f00000e5400] "
#define SWQ    PREFIX "SWq=0x7f0000a1a000, "
#define HWQ    "HWq=0x7f0000b20000, "
#define GRID   "Dispatch Header = 0xb02 (type=2), grid=[#, #, #], workgroup=[#, 1, 1], "
#define END    "completion_signal=0x$, correlation_id=#, rptr=#, wptr=#"
	static const char *const forms[] = {
		SWQ HWQ GRID "private_seg_size=#, kernel_obj=0x$, kernarg_address=0x$, " END,
		SWQ HWQ GRID "kernel_obj=(nil), " END,
		SWQ HWQ GRID "kernel_obj=0x$, rptr=#, " END,
		SWQ HWQ GRID "kernel_obj=0x$, id=#, " END,
		SWQ HWQ GRID "x_grid=[#, 1, 1], kernel_obj=#, " END,
		SWQ HWQ GRID "kernel_obj=0x$, completion_signal=0x$, rptr=#wptr=#, wptr=#",
		SWQ HWQ GRID "kernel_obj=0x$z, " END,
		SWQ HWQ GRID "kernel_obj=0x$, " END " ",
		SWQ HWQ GRID "kernel_obj=0x$, completion_signal=#, wptr=#",
		SWQ HWQ GRID "kernel_obj=0x$, rptr=#, wptr=#",
		SWQ "rptr=1, " HWQ GRID END,
		SWQ "kernel_obj=0x12, " HWQ GRID END,
		PREFIX HWQ GRID "kernel_obj=0x$, completion_signal=0x$, wptr=#",
		SWQ HWQ "BarrierAND Header = 0x1503 (type=3), dep_signal=[0x$, 0x$, 0x$], " END,
		SWQ HWQ
		"X Header = 0x1503, y=[0x$], BarrierOR Header = 0x1, dep_signal=[0x$], " END,
		SWQ HWQ
		"X Header = 0x1503, y=[0x$], BarrierAND Header = 0x1, dep_signal=[0x$], " END,
	};
	const unsigned nforms = sizeof(forms) / sizeof(forms[0]);
	unsigned random = 1;
	struct buf text = {0}, want = {0}, got = {0};

	(void)state;
	filter = &filters[FILTERS - 3];
	for (unsigned round = 0; round < 40; round++) {
		text.len = 0;
		for (unsigned i = 0; i < 300; i++)
			put_packets(&text,
				    forms[round < nforms ? round : any_below(&random, nforms)],
				    &random);
		for (loop = 0; loop < LOOPS; loop++) {
			in_order(text.data, text.len, &want);
			in_blocks(text.data, text.len, -1, 0, 8192, 1, &got);
			same("packets", &want, &got, round, 1);
		}
	}
	loop = LOOPS - 1;
	filter = filters;
	buf_fini(&text);
	buf_fini(&want);
	buf_fini(&got);
}

int main(void)
{
	filter = filters;
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_byte),    cmocka_unit_test(test_glued),
		cmocka_unit_test(test_times),         cmocka_unit_test(test_long_lines),
		cmocka_unit_test(test_known_packets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
