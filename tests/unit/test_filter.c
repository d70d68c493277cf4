// Expressions of --filter, and the order of --sort.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/cli/err.h"
#include "common/out/columns.h"
#include "common/out/out_priv.h"

#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct record {
	const char *text, *other, *words;
	uint64_t number, address, bytes, ns;
	int64_t signed_number;
	uint32_t small;
	int8_t flag;
	double real;
};

#define ROW record
static const struct out_col cols[] = {
	COL(text, "NAME", "kernel_name", STR, 0, ""),
	COL(other, "OTHER", "other", STR, 0, ""),
	COL(words, "GPUS", "gpus", LIST, 0, ""),
	COL(number, "N", "n", U64, 0, ""),
	COL(address, "ADDR", "addr", HEX, 0, ""),
	COL(bytes, "RING", "ring_bytes", SIZE, 0, ""),
	COL(ns, "TIME", "time_ns", NS, 0, ""),
	COL(signed_number, "ID", "id", I64, 0, ""),
	COL(small, "XCC", "xcc", U32, 0, ""),
	COL(flag, "ACTIVE", "active", BOOL, 0, ""),
	COL(real, "LOSS%", "loss_percent", F64, 0, ""),
};
static const struct out_table table = {"things", "thing", OUT_COLS(cols)};

static const struct record full = {
	.text = "gemm_f16",
	.other = "gemm",
	.words = "0 12 vega",
	.number = UINT64_MAX - 1,
	.address = 0x7f2a40200000,
	.bytes = 65536,
	.ns = 5000000,
	.signed_number = -3,
	.small = 7,
	.flag = 1,
	.real = 0.1,
};
static const struct record unknown = {
	.number = U64_NULL,
	.address = U64_NULL,
	.bytes = U64_NULL,
	.ns = U64_NULL,
	.signed_number = I64_NULL,
	.small = U32_NULL,
	.flag = -1,
	.real = (double)NAN,
};
static const struct record zero = {.text = "", .other = "no", .words = ""};

static bool takes(const char *text, const struct record *r)
{
	struct out_mistake m;
	struct filter *f = filter_new(&table, text, &m);
	if (!f)
		fail_msg("%s: %s", text, m.text);
	bool taken = filter_takes(f, r);
	assert_int_equal(filter_check(f), GPQ_OK);
	filter_free(f);
	return taken;
}

static void all_are(bool wanted, const struct record *r, const char *const *texts)
{
	for (; *texts; texts++)
		if (takes(*texts, r) != wanted)
			fail_msg("%s is %s", *texts, wanted ? "false" : "true");
}
#define TRUE_OF(record, ...)  all_are(true, record, (const char *const[]){__VA_ARGS__, NULL})
#define FALSE_OF(record, ...) all_are(false, record, (const char *const[]){__VA_ARGS__, NULL})

static void test_operators(void **state)
{
	(void)state;
	TRUE_OF(&full, "XCC == 7", "XCC eq 7", "XCC != 6", "XCC ne 8", "XCC < 8", "XCC lt 8",
		"XCC <= 7", "XCC le 7", "XCC > 6", "XCC gt 6", "XCC >= 7", "XCC ge 7", "7 == XCC",
		"8 > XCC", "xcc == 7", "XCC==7&&ID==-3", "XCC EQ 7 AND ID NE 0", "\tXCC\n== 7 ",
		"kernel_name == OTHER || XCC", "LOSS%>0", "NAME > OTHER", "1 < 2", "\"b\" > 'a'");
	FALSE_OF(&full, "XCC == 6", "XCC != 7", "XCC < 7", "XCC <= 6", "XCC > 7", "XCC >= 8",
		 "6 == XCC", "7 > XCC", "NAME == OTHER", "NAME < OTHER", "2 < 1");
}

static void test_precedence(void **state)
{
	(void)state;
	TRUE_OF(&full, "true || false && false", "true or true and false", "!false && true",
		"not (false && true)", "!!true", "false || !false", "(true || false) && true",
		"false && true || true", "true && true && (false || true)");
	FALSE_OF(&full, "(true || true) && false", "!true || false", "not not false",
		 "true && (false || false)", "false && (true || true)", "!(true || false)",
		 "true && true && false");
}

static void test_numbers(void **state)
{
	(void)state;
	// 64 bits are exact, and so are doubles.
	TRUE_OF(&full, "N == 18446744073709551614", "N < 18446744073709551615",
		"N > 18446744073709551613", "ID < 0", "ID == -3", "ID > -3.5", "LOSS% == 0.1",
		"RING == 64K", "RING == 64KiB", "RING < 0.5M", "RING >= 0x10000", "RING < 1Y",
		"RING == 65536B", "1G > RING", "TIME == 5ms", "TIME == 5000us", "TIME < 1s",
		"TIME >= 0.005s", "5ms == TIME", "TIME == 5000000", "RING == \"64K\"");
	FALSE_OF(&full, "N == 18446744073709551615", "N == 18446744073709551613", "RING == 64",
		 "RING > 64K", "TIME == 5", "ID == 3");
	TRUE_OF(&full, "ADDR == 0x7f2a40200000", "ADDR == \"0x7f2a40200000\"",
		"ADDR == 0X7F2A40200000", "ADDR == 139819441192960", "ADDR > 0x7f2a401fffff");
}

static void test_truths(void **state)
{
	(void)state;
	TRUE_OF(&full, "ACTIVE", "ACTIVE == true", "ACTIVE == TRUE", "ACTIVE == \"yes\"",
		"'true' == ACTIVE", "ACTIVE == 1", "ACTIVE != false", "ACTIVE != 'no'",
		"NAME == true", "XCC", "ID", "LOSS%", "GPUS", "true == 'yes'", "\"x\"", "1");
	FALSE_OF(&zero, "ACTIVE", "NAME", "OTHER", "GPUS", "N", "LOSS%", "ID", "ACTIVE == true",
		 "ACTIVE == 'yes'", "OTHER == true", "''", "'no'", "0");
	TRUE_OF(&zero, "!ACTIVE", "ACTIVE == false", "ACTIVE == 0", "ACTIVE == 'no'",
		"OTHER == 'no'", "NAME == ''", "N == false");
}

static void test_unknown(void **state)
{
	(void)state;
	static const char *const values[] = {"'a'", "'a'", "'a'", "5",    "5",  "5",
					     "5",   "5",   "5",   "true", "0.5"};
	static const char *const orders[] = {"==", "!=", "<", "<=", ">", ">="};
	char text[64];
	for (size_t i = 0; i < COUNT(cols); i++) {
		FALSE_OF(&unknown, cols[i].name);
		for (size_t k = 0; k < COUNT(orders); k++) {
			if (cols[i].type == OUT_LIST && k > 1)
				continue;
			snprintf(text, sizeof(text), "%s %s %s", cols[i].name, orders[k],
				 values[i]);
			FALSE_OF(&unknown, text);
			snprintf(text, sizeof(text), "!(%s %s %s)", cols[i].name, orders[k],
				 values[i]);
			TRUE_OF(&unknown, text);
		}
		snprintf(text, sizeof(text), "%s =~ ''", cols[i].name);
		FALSE_OF(&unknown, text);
		snprintf(text, sizeof(text), "%s !~ 'x'", cols[i].name);
		FALSE_OF(&unknown, text);
		snprintf(text, sizeof(text), "%s == false", cols[i].name);
		FALSE_OF(&unknown, text);
	}
	FALSE_OF(&unknown, "NAME == OTHER", "N == XCC");
}

static void test_lists(void **state)
{
	(void)state;
	TRUE_OF(&full, "GPUS == 12", "GPUS == 'vega'", "'0' == GPUS", "GPUS != 1", "GPUS != 'veg'",
		"GPUS =~ '^v.*a$'", "GPUS !~ '^2'");
	FALSE_OF(&full, "GPUS == 1", "GPUS == 'ega'", "GPUS != 12", "GPUS == '0 12'",
		 "GPUS =~ '^2'", "GPUS !~ '^1'");
	TRUE_OF(&zero, "GPUS != 0");
	FALSE_OF(&zero, "GPUS == 0", "GPUS == ''");
}

static void test_regexes(void **state)
{
	(void)state;
	TRUE_OF(&full, "NAME =~ \"^gemm\"", "NAME =~ '(?i)GEMM' && OTHER !~ 'f16'",
		"ADDR =~ '^0x7f'", "ID =~ '^-'", "RING =~ '^65536$'", "ACTIVE =~ '^yes$'",
		"NAME =~ ''");
	FALSE_OF(&full, "NAME =~ 'GEMM'", "NAME !~ 'gemm'", "NAME =~ '^f16'");
}

static struct out_mistake mistake(const char *text)
{
	struct out_mistake m;
	struct filter *f = filter_new(&table, text, &m);
	if (f)
		fail_msg("%s is taken", text);
	return m;
}

static void test_mistakes(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		size_t at;
		const char *why;
	} wrong[] = {
		{"", 1, "a column or a value is expected"},
		{"  ", 3, "a column or a value is expected"},
		{"XCC ==", 7, "a column or a value is expected"},
		{"XCC == == 5", 8, "a column or a value is expected"},
		{"&& XCC", 1, "a column or a value is expected"},
		{"XCC 5", 5, "an operator is expected"},
		{"XCC == 5)", 9, "an operator is expected"},
		{"XCC == 5 == 5", 10, "an operator is expected"},
		{"(XCC == 5", 10, "an operator or ) is expected"},
		{"()", 2, "a column or a value is expected"},
		{"(XCC) == 5", 7, "columns and values are compared, not what parentheses hold"},
		{"!XCC == 5", 2, "! negates a column, not a comparison"},
		{"XCC = 5", 5, "no operator"},
		{"XCC & 5", 5, "no operator"},
		{"XCC == 5x", 8, "no number"},
		{"XCC == 0x", 8, "no number"},
		{"XCC == 1.2.3", 8, "no number"},
		{"XCC == 0x12345678901234567", 8, "no number"},
		{"XCC == -", 8, "a column or a value is expected"},
		{"NAME == 'abc", 9, "a text without end"},
		{"NAME == \"a'", 9, "a text without end"},
		{"XCC == 'abc'", 8, "XCC is a number, the text is none"},
		{"'' == XCC", 1, "XCC is a number, the text is none"},
		{"ACTIVE == 'maybe'", 11, "ACTIVE is yes or no"},
		{"NAME == 5", 9, "NAME is text"},
		{"XCC == 1 && 5 == NAME", 13, "NAME is text"},
		{"NAME == XCC", 9, "NAME is text"},
		{"XCC > 5ms", 7, "XCC is no time in nanoseconds"},
		{"RING > '5ms'", 8, "RING is no time in nanoseconds"},
		{"GPUS < 5", 6, "GPUS is a list"},
		{"GPUS == NAME", 6, "GPUS is a list"},
		{"NAME =~ XCC", 9, "right of =~ stands a text in quotes"},
		{"'a' =~ 'a'", 1, "left of =~ stands a column"},
		{"XCCC == 5", 1, "unknown column XCCC in things, did you mean XCC,"},
		{"XCC == 5 && frobnicate", 13, "unknown column frobnicate in things"},
		// Characters count, not bytes.
		{"NAME == '\xc3\xa4\xc3\xa4' && 5x", 17, "no number"},
	};
	for (size_t i = 0; i < COUNT(wrong); i++) {
		struct out_mistake m = mistake(wrong[i].text);
		if (m.status != GPQ_USAGE || m.at != wrong[i].at ||
		    strcmp(m.text, wrong[i].why) != 0)
			fail_msg("%s: status %d, column %zu: %s", wrong[i].text, m.status, m.at,
				 m.text);
		assert_int_equal(m.absent, !strncmp(m.text, "unknown", 7));
	}
	assert_string_equal(mistake("XCC == 5 )(").near, "near \")(\"");
	assert_string_equal(mistake("XCC ==").near, "that is its end");
}

// Depth, length and number of regular expressions end before the stack and the memory do.
static void test_limits(void **state)
{
	(void)state;
	struct out_mistake m;
	char *deep = malloc(2000001), *many = malloc(FILTER_LENGTH_MAX + 2);
	size_t n = 0;
	assert_true(deep && many);
	for (int c = 0; c < 2; c++) {
		memset(deep, "(!"[c], FILTER_LENGTH_MAX);
		deep[FILTER_LENGTH_MAX] = 0;
		m = mistake(deep);
		assert_int_equal(m.at, FILTER_DEPTH_MAX + 1);
		assert_string_equal(m.text, "more than 100 levels of parentheses and !");
	}
	memset(deep, '(', 2000000);
	deep[2000000] = 0;
	assert_string_equal(mistake(deep).text, "the expression is longer than 65536 bytes");

	deep[0] = 0;
	for (int i = 0; i < FILTER_DEPTH_MAX; i++)
		strcat(deep, "(");
	strcat(deep, "true");
	for (int i = 0; i < FILTER_DEPTH_MAX; i++)
		strcat(deep, ")");
	TRUE_OF(&full, deep);

	// Long without being deep.
	while (n + 10 < FILTER_LENGTH_MAX)
		n += (size_t)sprintf(many + n, "%s", "XCC == 1||");
	strcpy(many + n, "XCC");
	TRUE_OF(&full, many);
	strcpy(many + n, "N==1");
	FALSE_OF(&full, many);

	for (int i = n = 0; i <= FILTER_REGEX_MAX; i++)
		n += (size_t)sprintf(many + n, "%sNAME=~'x'", i ? "||" : "");
	assert_string_equal(mistake(many).text, "more than 100 regular expressions");
	many[strlen(many) - strlen("||NAME=~'x'")] = 0;
	FALSE_OF(&full, many);
	free(deep);
	free(many);
}

// Where PCRE2 gives up the row is not taken, and it is said.
static void test_gives_up(void **state)
{
	(void)state;
	struct out_mistake m;
	struct filter *f = filter_new(&table, "NAME =~ '^(a+)+$' || NAME !~ '^(a+)+$'", &m);
	struct record r = full;
	assert_true(filter_takes(f, &r));
	assert_int_equal(filter_check(f), GPQ_OK);
	r.text = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab";
	filter_takes(f, &r);
	assert_int_equal(filter_check(f), GPQ_FAILED);
	filter_free(f);
}

static void test_columns(void **state)
{
	(void)state;
	struct out_mistake m;
	bool used[COUNT(cols)] = {0};
	struct filter *f = filter_new(&table, "5 < XCC && (NAME =~ 'a' || !RING)", &m);
	filter_columns(f, used);
	for (size_t i = 0; i < COUNT(cols); i++)
		assert_int_equal(used[i], i == 0 || i == 5 || i == 8);
	filter_free(f);
}

// --- order ---

static void note_name(void *arg, const void *record)
{
	const struct record *r = record;
	strcat(arg, r->text ? r->text : "-");
}

// The names of the records in this order.
static void order_is(const struct record *v, size_t n, const char *by, const char *wanted)
{
	struct out_mistake m;
	struct outask rows = {.table = &table}, piece = {.table = &table};
	const bool keep[COUNT(cols)] = {true};
	char got[64] = "";
	assert_true(outask_order(&rows, by, &m));
	assert_true(outask_order(&piece, by, &m));
	outask_begin(&rows, keep);
	outask_begin(&piece, keep);
	for (size_t i = 0; i < n; i++) {
		// Records and their texts live as long as the call.
		struct record passing = v[i];
		char text[16];
		if (v[i].text)
			passing.text = strcpy(text, v[i].text);
		assert_true(outask_gathers(i < n / 2 ? &rows : &piece, &passing));
		memset(text, 'x', sizeof(text) - 1);
	}
	outask_move(&rows, &piece);
	outask_each(&rows, note_name, got);
	assert_string_equal(got, wanted);
	free(rows.cells);
	free(piece.cells);
	buf_fini(&rows.text);
	buf_fini(&piece.text);
}

static void test_order(void **state)
{
	(void)state;
	const struct record v[] = {
		{.text = "a", .number = 10, .signed_number = -1, .real = 0.5, .flag = 1},
		{.text = "b", .number = 9, .signed_number = 1, .real = -2, .flag = 0},
		{.text = "c",
		 .number = U64_NULL,
		 .signed_number = I64_NULL,
		 .flag = -1,
		 .real = (double)NAN},
		{.text = "d", .number = 10, .signed_number = -30, .real = 1e10, .flag = 1},
		{.text = NULL, .number = 9, .signed_number = 0, .real = 0, .flag = 0},
	};
	order_is(v, 5, "N", "b-adc");
	order_is(v, 5, "-N", "adb-c"); // unknown last, equal ones as they came
	order_is(v, 5, "id", "da-bc");
	order_is(v, 5, "-id", "b-adc");
	order_is(v, 5, "LOSS%", "b-adc");
	order_is(v, 5, "-LOSS%", "da-bc");
	order_is(v, 5, "ACTIVE,-NAME", "b-dac");
	order_is(v, 5, "-ACTIVE,NAME", "adb-c");
	order_is(v, 5, "-NAME", "dcba-");
	order_is(v, 5, "kernel_name", "abcd-");
	order_is(v, 5, "-N,ID", "da-bc");
}

static void has_room(void *arg, const void *record)
{
	assert_true(malloc_usable_size((void *)(uintptr_t)record) >= *(const size_t *)arg);
}

// The record that is made of gathered cells has room for its only column, which takes `len` bytes.
// The allocator gives 24, 40, 56 bytes: offsets are chosen so that it gives no more than is asked
// for, which would hide that too little was.
static void fits(const struct out_col *col, const char *record, size_t len)
{
	struct out_mistake m;
	const struct out_table one = {"ones", "one", col, 1};
	struct outask rows = {.table = &one};
	const bool keep[] = {true};
	size_t needed = col->offset + len;
	assert_true(outask_order(&rows, "X", &m));
	outask_begin(&rows, keep);
	assert_true(outask_gathers(&rows, record));
	outask_each(&rows, has_room, &needed);
	free(rows.cells);
	buf_fini(&rows.text);
}

static void test_room(void **state)
{
	(void)state;
	char record[128] = "";
	fits(&(struct out_col){.type = OUT_U64, .offset = 20, .name = "X\0x\0"}, record, 8);
	fits(&(struct out_col){.type = OUT_STR, .flags = OUT_ARRAY, .offset = 24, .name = "X\0x\0"},
	     record, 1);
	memset(record + 24, 'x', 60);
	fits(&(struct out_col){.type = OUT_STR, .flags = OUT_ARRAY, .offset = 24, .name = "X\0x\0"},
	     record, 61);
}

static void test_order_mistakes(void **state)
{
	(void)state;
	struct out_mistake m;
	static const struct {
		const char *text;
		size_t at;
	} wrong[] = {{"", 1},    {"-", 1},     {"N,", 3}, {"N,-X", 3},
		     {"--N", 1}, {"N,,ID", 3}, {"N ", 1}};
	for (size_t i = 0; i < COUNT(wrong); i++) {
		struct outask a = {.table = &table};
		assert_false(outask_order(&a, wrong[i].text, &m));
		assert_int_equal(m.status, GPQ_USAGE);
		assert_int_equal(m.at, wrong[i].at);
		assert_true(m.absent);
	}
	struct outask a = {.table = &table};
	assert_false(outask_order(
		&a, "N,N,N,N,N,N,N,N,N,N,N,N,N,N,N,N,N,N,N,N,N,N,N,N,N,N,N,N,N,N,N,N,N", &m));
	assert_string_equal(m.text, "more than 32 columns");
}

int main(void)
{
	err_setup("test", false, -1);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_operators), cmocka_unit_test(test_precedence),
		cmocka_unit_test(test_numbers),   cmocka_unit_test(test_truths),
		cmocka_unit_test(test_unknown),   cmocka_unit_test(test_lists),
		cmocka_unit_test(test_regexes),   cmocka_unit_test(test_mistakes),
		cmocka_unit_test(test_limits),    cmocka_unit_test(test_gives_up),
		cmocka_unit_test(test_columns),   cmocka_unit_test(test_order),
		cmocka_unit_test(test_room),      cmocka_unit_test(test_order_mistakes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
