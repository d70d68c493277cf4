// common/cli: text, quantities, JSON, options.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/cli/err.h"
#include "common/cli/json.h"
#include "common/cli/progress.h"
#include "common/out/jsonin.h"
#include "common/cli/rules.h"
#include "common/out/out_priv.h"
#include "common/cli/text.h"
#include "common/cli/width.h"
#include "common/host/clock.h"

// Signals are told apart by a clock of the test's own.
static uint64_t now_ns = 1000000000;

static uint64_t fake_clock(void)
{
	return now_ns;
}

#define clock_ns fake_clock
#include "common/cli/stop.c" // NOLINT(bugprone-suspicious-include)
#undef clock_ns
#include "common/cli/screen.c" // NOLINT(bugprone-suspicious-include)

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void escapes(const char *in, size_t len, const char *want)
{
	struct buf b = {0};
	text_escape(&b, in, len);
	assert_string_equal(b.data ? b.data : "", want);
	buf_fini(&b);
}

static void test_escape(void **state)
{
	(void)state;
	escapes("plain", 5, "plain");
	escapes("\x1b[31m", 5, "\\x1b[31m");
	escapes("a\0b", 3, "a\\x00b");
	escapes("\xc3\xa4", 2, "\xc3\xa4"); // U+00E4
	escapes("\xc2\x9b"
		"31m",
		5, "\\xc2\\x9b31m");                   // U+009B, a C1 control sequence introducer
	escapes("\xc3", 1, "\\xc3");                   // cut in the middle
	escapes("\xe0\x9f\xbf", 3, "\\xe0\\x9f\\xbf"); // U+07FF, overlong
	escapes("\xed\xa0\x80", 3, "\\xed\\xa0\\x80"); // a surrogate
	escapes("\xc2\x9f", 2, "\\xc2\\x9f");          // the last of the C1 controls
	escapes("\xc2\xa0", 2, "\xc2\xa0");
	escapes("\x7f", 1, "\\x7f");
	escapes("\xf0\x9f\x98\x80", 4, "\xf0\x9f\x98\x80");
}

static void test_utf8(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		size_t len, want;
	} cases[] = {{"", 0, 0},
		     {"a", 1, 1},
		     {"ab", 2, 1},
		     {"\x7f", 1, 1},
		     {"\x80", 1, 0},
		     {"\xc1\xbf", 2, 0},
		     {"\xc2\x80", 2, 2},
		     {"\xc2\x80", 1, 0},
		     {"\xdf\xbfz", 3, 2},
		     {"\xdf\xc0", 2, 0},
		     {"\xe0\xa0\x80", 3, 3},
		     {"\xe0\x9f\xbf", 3, 0},
		     {"\xe1\x80\x80", 2, 0},
		     {"\xe1\x80\x7f", 3, 0},
		     {"\xed\x9f\xbf", 3, 3},
		     {"\xed\xa0\x80", 3, 0},
		     {"\xef\xbf\xbf", 3, 3},
		     {"\xf0\x90\x80\x80", 4, 4},
		     {"\xf0\x8f\xbf\xbf", 4, 0},
		     {"\xf0\x90\x80\x80", 3, 0},
		     {"\xf4\x8f\xbf\xbf", 4, 4},
		     {"\xf4\x90\x80\x80", 4, 0},
		     {"\xf5\x80\x80\x80", 4, 0}};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(text_utf8(cases[i].text, cases[i].len), cases[i].want);
}

static void test_sizes(void **state)
{
	(void)state;
	char s[16];
	assert_string_equal(text_size(s, 0), "0B");
	assert_string_equal(text_size(s, 1023), "1023B");
	assert_string_equal(text_size(s, 4096), "4K");
	assert_string_equal(text_size(s, 1536), "1.5K");
	assert_string_equal(text_size(s, UINT64_MAX), "16E");
	uint64_t v;
	assert_true(parse_size("64K", &v) && v == 65536);
	assert_true(parse_size("1.5MiB", &v) && v == 1572864);
	assert_false(parse_size("", &v));
	assert_false(parse_size("K", &v));
	assert_false(parse_size("-1", &v));
	assert_false(parse_size("1X", &v));
}

static void test_durations(void **state)
{
	(void)state;
	char s[24];
	assert_string_equal(text_ns(s, 950), "950ns");
	assert_string_equal(text_ns(s, 12300), "12.3us");
	assert_string_equal(text_ns(s, 4560000), "4.56ms");
	assert_string_equal(text_ns(s, 7800000000), "7.8s");
	assert_string_equal(text_ns(s, 60000000000), "1m00s");
	assert_string_equal(text_ns(s, 125000000000), "2m05s");
	uint64_t v;
	assert_true(parse_duration("50ms", &v) && v == 50000000);
	assert_true(parse_duration("1.5s", &v) && v == 1500000000);
	assert_true(parse_duration("0", &v) && v == 0);
	assert_true(parse_duration("0.0", &v) && v == 0);
	assert_true(parse_seconds("2", &v) && v == 2000000000);
	assert_true(parse_seconds("0.01", &v) && v == 10000000);
	assert_true(parse_seconds("0", &v) && v == 0);
	assert_true(parse_seconds("50ms", &v) && v == 50000000);
	assert_false(parse_seconds("1x", &v) || parse_seconds("", &v) || parse_seconds("-1", &v));
	assert_true(parse_duration("1.9ns", &v) && v == 2);
	assert_true(parse_duration("0.29us", &v) && v == 290);
	assert_true(parse_duration("1h", &v) && v == 3600000000000);
	const char *bad[] = {"",      "ms",  "-1s",  "300000d", "1e9",
			     "0x10",  "1 s", "nan",  "inf",     "99999999999999999999d",
			     "1..2s", "2",   "0.01", "0..0",    ".",
			     "00001"};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(parse_duration(bad[i], &v));
}

static void test_numbers(void **state)
{
	(void)state;
	uint64_t v;
	assert_true(parse_u64("0", &v) && v == 0);
	assert_true(parse_u64("0xf7bc", &v) && v == 63420);
	assert_true(parse_u64("18446744073709551615", &v) && v == UINT64_MAX);
	const char *bad[] = {"", "0x", "-1", "+1", " 1", "1 ", "12a", "18446744073709551616"};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(parse_u64(bad[i], &v));
	assert_true(parse_u64("0xFFFFffffFFFFffff", &v) && v == UINT64_MAX);
	assert_false(parse_u64("0x10000000000000000", &v));
	static const char text[] = "0129:9aF/";
	assert_true(number_read(text, NULL, 10, 129, &v) == text + 4 && v == 129);
	assert_null(number_read(text, NULL, 10, 128, &v));
	assert_true(number_read(text, text + 2, 10, 1, &v) == text + 2 && v == 1);
	assert_null(number_read(text, text, 10, 1, &v));
	assert_true(number_read(text + 5, NULL, 16, 0x9af, &v) == text + 8 && v == 0x9af);
	assert_null(number_read(text + 4, NULL, 16, UINT64_MAX, &v));
	// Each byte is the digit that it is, in both bases, or none.
	static const char digits[] = "0123456789abcdefABCDEF";
	for (unsigned c = 0; c < 256; c++) {
		const char *at = c ? strchr(digits, (int)c) : NULL, one[] = {(char)c, 0};
		const long value = at ? (at - digits > 15 ? at - digits - 6 : at - digits) : -1;
		assert_int_equal(hex_digit((char)c), value);
		assert_int_equal(number_whole(one, 16, UINT64_MAX, &v), value >= 0);
		assert_int_equal(number_whole(one, 10, UINT64_MAX, &v), value >= 0 && value < 10);
	}
	assert_false(number_whole("", 10, UINT64_MAX, &v));
	assert_true(number_whole("18446744073709551615", 10, UINT64_MAX, &v) && v == UINT64_MAX);
	assert_false(number_whole("18446744073709551616", 10, UINT64_MAX, &v));  // the sum
	assert_false(number_whole("184467440737095516150", 10, UINT64_MAX, &v)); // the product
	assert_true(number_whole("18446744073709551614", 10, UINT64_MAX - 1, &v));
	assert_false(number_whole("18446744073709551615", 10, UINT64_MAX - 1, &v));
	assert_true(number_whole("0000000000000000000000000000007", 10, 7, &v) && v == 7);
	assert_true(parse_u64("0XaF", &v) && v == 0xaf);
	assert_false(parse_u64("0x", &v) || parse_u64("x1", &v) || parse_u64("1x1", &v));
	assert_true(lesser(1, 2) == 1 && lesser(2, 1) == 1 && greater(1, 2) == 2 &&
		    greater(2, 1) == 2);
	assert_true(number_whole("a1f4", 16, UINT64_MAX, &v) && v == 41460);
	assert_false(number_whole("a1f4g", 16, UINT64_MAX, &v));
}

static void test_suggest(void **state)
{
	(void)state;
	const char *const words[] = {"gpus", "queues", "trace", NULL};
	assert_string_equal(text_suggest("queus", words), "queues");
	assert_string_equal(text_suggest("quesue", words), "queues");
	assert_string_equal(text_suggest("tarce", words), "trace");
	assert_string_equal(text_suggest("ab", (const char *const[]){"abcd", "abc", NULL}), "abc");
	assert_null(text_suggest("xy", (const char *const[]){"by", "ay", NULL})); // half of it
	assert_null(text_suggest("frobnicate", words));
	assert_null(text_suggest("", words));
}

static void test_wrap(void **state)
{
	(void)state;
	struct buf b = {0};
	char word[96];
	// 70 columns are used: a word of ten fills the line, one more begins another.
	text_wrap(&b, 70, 4, "0123456789\n next", 16);
	text_wrap(&b, 70, 4, "01234567890", 11);
	assert_string_equal(b.data, "0123456789\n    next\n01234567890\n");
	buf_fini(&b);
	// The lines behind the first begin at the indentation: 4 + 36 + 1 + 39 fill the second.
	static const char long_text[] =
		"0123456789 abcdefghijklmnopqrstuvwxyz0123456789 "
		"abcdefghijklmnopqrstuvwxyz0123456789-+* abcdefghijklmnopqrstuvwxyz0123456789 "
		"abcdefghijklmnopqrstuvwxyz0123456789-+*/ z";
	text_wrap(&b, 70, 4, long_text, strlen(long_text));
	assert_string_equal(b.data, "0123456789\n"
				    "    abcdefghijklmnopqrstuvwxyz0123456789 "
				    "abcdefghijklmnopqrstuvwxyz0123456789-+*\n"
				    "    abcdefghijklmnopqrstuvwxyz0123456789\n"
				    "    abcdefghijklmnopqrstuvwxyz0123456789-+*/ z\n");
	buf_fini(&b);
	// What [ ] holds stays together while it fits a line.
	text_wrap(&b, 60, 0, "[--one ONE] [--other OTHER]", 27);
	assert_string_equal(b.data, "[--one ONE]\n[--other OTHER]\n");
	buf_fini(&b);
	memset(word, 'x', sizeof(word));
	word[0] = '[', word[1] = 'a', word[2] = ' ';
	text_wrap(&b, 0, 0, word, 90);
	assert_int_equal(b.len, 91);
	assert_memory_equal(b.data, "[a\nxxx", 6);
	buf_fini(&b);
	text_wrap(&b, 0, 0, "", 0);
	assert_string_equal(b.data, "\n");
	buf_fini(&b);
}

static const char *cut(const char *text, size_t columns)
{
	static struct buf b;
	b.len = 0;
	text_cut(&b, text, strlen(text), columns);
	return b.data;
}

static const char *cut_middle(const char *text, size_t columns, size_t from)
{
	static struct buf b;
	b.len = 0;
	text_cut_middle(&b, text, strlen(text), columns, from);
	return b.data;
}

static void test_columns(void **state)
{
	(void)state;
	size_t taken;
	setenv("LC_ALL", "C.UTF-8", 1);
	// A wide character takes two columns, a combining one and a colour none.
	assert_int_equal(text_columns("a\xe6\xbc\xa2"
				      "e\xcc\x81",
				      7),
			 4);
	assert_int_equal(text_columns("\033[31mok\033[m", 10), 2);
	assert_int_equal(text_fit("a\xe6\xbc\xa2z", 5, 2, &taken), 1);
	assert_int_equal(taken, 1);
	assert_int_equal(text_fit("a\xe6\xbc\xa2z", 5, 3, &taken), 4);
	assert_int_equal(taken, 3);
	assert_int_equal(text_fit("abc", 3, 3, &taken), 3);
	assert_int_equal(text_fit("\xff"
				  "b",
				  2, 1, &taken),
			 1); // no UTF-8: one column a byte
	// Whole words stay, unless less than half would.
	assert_string_equal(cut("abc def", 7), "abc def");
	assert_string_equal(cut("abc def", 6), "abc\xe2\x80\xa6");
	assert_string_equal(cut("abc def", 4), "abc\xe2\x80\xa6");
	assert_string_equal(cut("ab cdefgh", 6), "ab cd\xe2\x80\xa6");
	assert_string_equal(cut("abc defgh", 6), "abc\xe2\x80\xa6");
	assert_string_equal(cut("abcdef", 1), "\xe2\x80\xa6");
	assert_string_equal(cut("\xe6\xbc\xa2\xe6\xbc\xa2\xe6\xbc\xa2", 4),
			    "\xe6\xbc\xa2\xe2\x80\xa6");
	setenv("LC_ALL", "C", 1);
	assert_string_equal(cut("abcdef", 3), "ab~");
	// What stands at `from` is seen: in the beginning, behind the ellipsis, or at the end.
	assert_string_equal(cut_middle("abcdefghijklmno", 15, 14), "abcdefghijklmno");
	assert_string_equal(cut_middle("abcdefghijklmno", 10, 8), "abcdefghi~");
	assert_string_equal(cut_middle("abcdefghijklmno", 10, 9), "abcdef~jk~");
	assert_string_equal(cut_middle("abcdefghijklmno", 10, 12), "abcdef~mno");
	assert_string_equal(cut_middle("abcdefghijklmno", 10, 15), "abcdef~mno");
	assert_string_equal(cut_middle("abcdefghijklmno", 3, 15), "a~o");
	// A wide character is not divided.
	assert_string_equal(cut_middle("abcdefgh\xe6\xbc\xa2\xe6\xbc\xa2\xe6\xbc\xa2", 10, 17),
			    "abcdef~\xe6\xbc\xa2");
	unsetenv("LC_ALL");
}

static void test_json(void **state)
{
	(void)state;
	struct buf b = {0};
	struct json j;
	json_init(&j, &b, false);
	json_begin(&j, NULL, '{');
	json_str(&j, "s", "a\"\\\n\x01\xff\xc3\xa4");
	json_str(&j, "n", NULL);
	json_u64(&j, "u", UINT64_MAX - 1);
	json_u64(&j, "u0", UINT64_MAX);
	json_i64(&j, "i", -5);
	json_i64(&j, "i0", INT64_MIN);
	json_f64(&j, "f", 0.5);
	json_f64(&j, "f0", (double)NAN);
	json_hex(&j, "h", 0x7f8acd200000);
	json_bool(&j, "b", 1);
	json_bool(&j, "b0", -1);
	json_begin(&j, "a", '[');
	json_u64(&j, NULL, 1);
	json_u64(&j, NULL, 2);
	json_end(&j, ']');
	json_begin(&j, "e", '{');
	json_end(&j, '}');
	json_end(&j, '}');
	assert_string_equal(
		b.data,
		"{\"s\":\"a\\\"\\\\\\u000a\\u0001\xef\xbf\xbd\xc3\xa4\",\"n\":null,"
		"\"u\":18446744073709551614,\"u0\":null,\"i\":-5,\"i0\":null,\"f\":0.5,\"f0\":null,"
		"\"h\":\"0x7f8acd200000\",\"b\":true,\"b0\":null,\"a\":[1,2],\"e\":{}}");
	buf_fini(&b);
}

// Every byte at every place of a word: what is looked at eight at a time must be found each.
static void test_json_every_byte(void **state)
{
	(void)state;
	for (unsigned c = 0; c < 256; c++) {
		for (size_t at = 0; at < 20; at++) {
			char text[20], want[64];
			size_t n = 0;
			struct buf b = {0};
			struct json j;
			memset(text, 'a', sizeof(text));
			text[at] = (char)c;
			want[n++] = '"';
			for (size_t i = 0; i < sizeof(text); i++) {
				if (i != at)
					want[n++] = 'a';
				else if (c == '"' || c == '\\')
					n += (size_t)sprintf(want + n, "\\%c", (int)c);
				else if (c < 0x20 || c == 0x7f)
					n += (size_t)sprintf(want + n, "\\u%04x", c);
				else if (c > 0x7f)
					n += (size_t)sprintf(want + n, "\xef\xbf\xbd");
				else
					want[n++] = (char)c;
			}
			want[n++] = '"';
			json_init(&j, &b, false);
			json_strn(&j, NULL, text, sizeof(text));
			assert_int_equal(b.len, n);
			assert_memory_equal(b.data, want, n);
			buf_fini(&b);
		}
	}
}

static void test_written_numbers(void **state)
{
	(void)state;
	struct buf b = {0};
	char want[32];
	uint64_t v = 0;
	uint64_t ten = 1;
	for (unsigned i = 0; i < 4000; i++, ten *= i % 3 || i >= 60 ? 1 : 10) {
		// Powers of ten and two and their neighbours, then anything.
		v = i < 60    ? ten + i % 3
		    : i < 252 ? (UINT64_C(1) << (i - 60) / 3) + i % 3 - 1
			      : v * UINT64_C(6364136223846793005) + 1442695040888963407;
		b.len = 0;
		buf_u64(&b, v);
		snprintf(want, sizeof(want), "%llu", (unsigned long long)v);
		assert_string_equal(b.data, want);
		b.len = 0;
		buf_hex(&b, v);
		snprintf(want, sizeof(want), "0x%llx", (unsigned long long)v);
		assert_string_equal(b.data, want);
	}
	b.len = 0;
	buf_u64(&b, UINT64_MAX);
	assert_string_equal(b.data, "18446744073709551615");
	buf_fini(&b);
}

static void test_json_pretty(void **state)
{
	(void)state;
	struct buf b = {0};
	struct json j;
	json_init(&j, &b, true);
	json_begin(&j, NULL, '{');
	json_begin(&j, "rows", '[');
	for (unsigned i = 0; i < 2; i++) {
		json_begin_flat(&j, NULL, '{');
		json_u64(&j, "i", i);
		json_begin(&j, "w", '[');
		json_end(&j, ']');
		json_end(&j, '}');
	}
	json_end(&j, ']');
	json_begin(&j, "none", '[');
	json_end(&j, ']');
	json_end(&j, '}');
	assert_string_equal(
		b.data,
		"{\n  \"rows\": [\n    {\"i\": 0, \"w\": []},\n    {\"i\": 1, \"w\": []}\n  ],\n"
		"  \"none\": []\n}");
	buf_fini(&b);
}

static void test_pids(void **state)
{
	(void)state;
	struct pids p = {0};
	char bad[32];
	assert_true(pids_add(&p, "1, 22\n333 22", bad));
	assert_int_equal(p.n, 3);
	assert_true(pids_has(&p, 333));
	assert_false(pids_add(&p, "4711,x", bad));
	assert_string_equal(bad, "x");
	assert_false(pids_add(&p, "0", bad));
	assert_false(pids_add(&p, "-5", bad));
	assert_false(pids_add(&p, "4294967297", bad));
	free(p.v);
}

// What -P writes may stand between double quotes in a shell: nothing in it is run or expanded.
static void test_quoted(void **state)
{
	struct buf b = {0};
	(void)state;
	outfmt_quoted(&b, "a\"b\\c$d`e", 9);
	assert_string_equal(b.data, "a\\x22b\\x5cc\\x24d\\x60e");
	buf_fini(&b);
}

// Quotes only where RFC 4180 needs them, and control characters as in raw output.
static void test_csv(void **state)
{
	static const char *const cases[][2] = {
		{"plain text", "plain text"},
		{"", "\"\""},
		{"a,b", "\"a,b\""},
		{"a\"b", "\"a\"\"b\""},
		{"\"", "\"\"\"\""},
		{"a\r\nb\\", "a\\x0d\\x0ab\\x5c"},
		{"\"\x1b,\"", "\"\"\"\\x1b,\"\"\""},
		{"\xc3\xa4\xff", "\xc3\xa4\\xff"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct buf b = {0};
		outfmt_csv(&b, cases[i][0], strlen(cases[i][0]));
		assert_string_equal(b.data, cases[i][1]);
		buf_fini(&b);
	}
}

// Numbers for people: three digits, but thousands in full; for programs nine.
static void test_fractions(void **state)
{
	static const struct out_col col = {.type = OUT_F64};
	static const struct {
		double value;
		const char *human, *raw;
	} cases[] = {{0.12345678912, "0.123", "0.123456789"},
		     {999.4, "999", "999.4"},
		     {999.6, "1000", "999.6"},
		     {2050, "2050", "2050"},
		     {-2050.4, "-2050", "-2050.4"},
		     {1e9, "1e+09", "1e+09"}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct buf b = {0};
		assert_true(outfmt_text(&b, &col, &cases[i].value, true, false, NULL));
		assert_string_equal(b.data, cases[i].human);
		b.len = 0;
		assert_true(outfmt_text(&b, &col, &cases[i].value, false, false, NULL));
		assert_string_equal(b.data, cases[i].raw);
		buf_fini(&b);
	}
}

// The message of the first rule that the options break, or "".
static void breaks(int argc, char **argv, const char *want)
{
	struct rules_opts {
		bool a, b;
		const char *file;
		uint64_t n;
		int word;
	} o = {.n = 7, .word = -1}, defaults = o;
	static const struct opt table[] = {
		OPT(rules_opts, a, "a", 0, OPT_FLAG, "", ""),
		OPT(rules_opts, b, "b", 0, OPT_FLAG, "", ""),
		OPT(rules_opts, file, "file", 0, OPT_STR, "FILE", ""),
		OPT(rules_opts, n, "n", 0, OPT_U64, "N", ""),
		OPT_ONE_OF(rules_opts, word, "word", 0, "WORD", "", "one\0two"),
		{0},
	};
	static const struct opt_rule rules[] = {
		RULE_CHOOSE("a b"),
		RULE_RANGE("n", 2, 9, "", "--%1: %v"),
		RULE_NEEDS("file", "a b", "", "--%1 alone"),
		RULE_EXCLUDES("b", "file=- word=two", "", "--%1, --%2"),
		RULE_EXCLUDES("word", "FILE", "", "an operand"),
		{0},
	};
	const struct opt_set sets[] = {{table, &o, NULL, &defaults}, {0}};
	struct buf said = {0};
	err_gather(&said);
	const int first = opts_parse(argc, argv, sets, false);
	const int status = opts_check(rules, sets, argc - first);
	err_gather(NULL);
	assert_int_equal(status, *want ? GPQ_USAGE : GPQ_OK);
	const char *text = said.data ? said.data : "";
	if (*want ? !strstr(text, want) : *text)
		fail_msg("%s: not %s", text, want);
	buf_fini(&said);
}
#define BREAKS(want, ...) \
	breaks(COUNT(((char *[]){__VA_ARGS__})), (char *[]){__VA_ARGS__, NULL}, want)

static void test_rules(void **state)
{
	char cmd[] = "gpq", a[] = "--a", b[] = "--b", n1[] = "--n=1", n7[] = "--n=7",
	     n9[] = "--n=9", n10[] = "--n=10", file[] = "--file=x", dash[] = "--file=-",
	     one[] = "--word=one", two[] = "--word=two", operand[] = "x";
	(void)state;
	BREAKS("", cmd, a, n9);
	BREAKS("--a and --b exclude each other", cmd, b, a);
	BREAKS("--n: 1\n", cmd, n1);
	BREAKS("--n: 10\n", cmd, n10, file);
	BREAKS("--file alone", cmd, file, n7);
	BREAKS("", cmd, file, b);
	BREAKS("--b, --file", cmd, dash, b);
	BREAKS("--b, --word", cmd, two, b);
	BREAKS("", cmd, one, b);
	BREAKS("an operand", cmd, one, operand);
	BREAKS("", cmd, a, operand);
}

// The exit status tells what kind of failure it was.
static void test_exit_status(void **state)
{
	(void)state;
	assert_int_equal(err_sys(EPERM, NULL, "as expected"), GPQ_DENIED);
	assert_int_equal(err_sys(EACCES, NULL, "as expected"), GPQ_DENIED);
	assert_int_equal(err_sys(ENOENT, NULL, "as expected"), GPQ_NOTFOUND);
	assert_int_equal(err_sys(ESRCH, NULL, "as expected"), GPQ_NOTFOUND);
	assert_int_equal(err_sys(ENODEV, NULL, "as expected"), GPQ_NOTFOUND);
	assert_int_equal(err_sys(EOPNOTSUPP, NULL, "as expected"), GPQ_UNSUPPORTED);
	assert_int_equal(err_sys(ENOTTY, NULL, "as expected"), GPQ_UNSUPPORTED);
	assert_int_equal(err_sys(EIO, NULL, "as expected"), GPQ_FAILED);
	assert_string_equal(stop_name(SIGINT), "SIGINT");
	assert_string_equal(stop_name(SIGTERM), "SIGTERM");
	assert_string_equal(stop_name(SIGHUP), "SIGHUP");
}

// A string of JSON, read as text.
static void reads_as(const char *json, const char *want)
{
	struct jsonin j;
	struct jsonin_value v;
	char text[64], all[128];
	snprintf(all, sizeof(all), "[%s]", json);
	assert_true(jsonin_open(&j, all, strlen(all), '['));
	assert_true(jsonin_next(&j, NULL, &v));
	assert_true(jsonin_str(&v, text, sizeof(text)));
	assert_string_equal(text, want);
}

static void test_json_read(void **state)
{
	static const char *const bad[] = {"[\"\x1f\"]", "[\"\n\"]",  "[01]",         "[1.]",
					  "[.5]",       "[1e]",      "[+1]",         "[tru]",
					  "[\"a]",      "[\"\\x\"]", "[1,]",         "[1 2]",
					  "[}",         "{1:2}",     "[\"\\u12g4\"]"};
	static const char *const good[] = {"[]", "[0]", "[-0.5e-3]", "[\" \"]", "[{\"a\":[null]}]"};
	struct jsonin j;
	struct jsonin_value v;
	char deep[80];

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (jsonin_open(&j, bad[i], strlen(bad[i]), '['))
			fail_msg("%s is taken", bad[i]);
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		assert_true(jsonin_open(&j, good[i], strlen(good[i]), '['));
	reads_as("\"a\\u007f\\u0080\"", "a\x7f\xc2\x80");
	reads_as("\"\\u07ff\\u0800\\uffff\"", "\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf");
	reads_as("\"\\ud800\\u0000\"", "??");
	reads_as("\"\\n\\r\\t\\b\\f\\\\\\/\\\"\"", "\n\r\t\b\f\\/\"");
	reads_as("\"a\xff\xc3\"", "a??"); // no UTF-8
	// 62 characters and one of two bytes: it is left out where it would be cut.
	static const char digits[] =
		"01234567890123456789012345678901234567890123456789012345678901";
	char cut[80];
	snprintf(cut, sizeof(cut), "\"%s\xc3\xa9\"", digits);
	reads_as(cut, digits);
	// Nested 32 deep, and no deeper.
	for (size_t depth = 32; depth <= 33; depth++) {
		memset(deep, '[', depth);
		memset(deep + depth, ']', depth);
		assert_true(jsonin_open(&j, deep, 2 * depth, '[') == (depth == 32));
	}
	// Blanks of each kind, before and behind everything.
	static const char spaced[] = "\t{ \"a\"\r: \n[ ]\t, \"b\" :-1.5e+2 \n}\r\n ";
	struct jsonin_value k;
	double f;
	assert_false(jsonin_open(&j, spaced, strlen(spaced), '['));
	assert_true(jsonin_open(&j, spaced, strlen(spaced), '{'));
	assert_true(jsonin_next(&j, &k, &v) && jsonin_is(&k, "a") && v.kind == '[' && v.len == 3);
	assert_true(jsonin_next(&j, &k, &v) && jsonin_is(&k, "b") && v.kind == '0' && v.len == 7);
	assert_true(jsonin_f64(&v, &f) && f == -150);
	assert_false(jsonin_next(&j, &k, &v) || j.failed);
	static const char kinds[] = "[{},[],\"\",true,false,null,9,-0]";
	assert_true(jsonin_open(&j, kinds, strlen(kinds), '['));
	for (const char *kind = "{[\"tfn00"; *kind; kind++)
		assert_true(jsonin_next(&j, NULL, &v) && v.kind == *kind);
	assert_false(jsonin_next(&j, NULL, &v) || j.failed);
	assert_false(jsonin_open(&j, "[]]", 3, '[') || jsonin_open(&j, "[]", 1, '['));
	assert_false(jsonin_open(&j, "", 0, '[') || jsonin_open(&j, "[\"", 2, '['));
	assert_true(jsonin_open(&j, "[\"pid\"]", 7, '[') && jsonin_next(&j, NULL, &v));
	assert_true(jsonin_is(&v, "pid"));
	assert_false(jsonin_is(&v, "pi"));
	assert_false(jsonin_is(&v, "pids"));
}

// The only element of an array.
static struct jsonin_value element(const char *json)
{
	struct jsonin j;
	struct jsonin_value v;
	assert_true(jsonin_open(&j, json, strlen(json), '['));
	assert_true(jsonin_next(&j, NULL, &v));
	return v;
}

// A buffer has room for one byte less, as much, or more; a character of several bytes is not cut.
static void test_json_limits(void **state)
{
	static const struct {
		const char *json;
		size_t size;
		const char *want;
	} texts[] = {
		{"[\"abc\"]", 1, ""},
		{"[\"abc\"]", 3, "ab"},
		{"[\"abc\"]", 4, "abc"},
		{"[\"abc\"]", 5, "abc"},
		{"[\"a\\u00e9\"]", 3, "a"},
		{"[\"a\\u00e9\"]", 4, "a\xc3\xa9"},
		{"[\"\\u20acb\"]", 3, ""},
		{"[\"\\u20acb\"]", 4, "\xe2\x82\xac"},
		{"[\"\\u20acb\"]", 5,
		 "\xe2\x82\xac"
		 "b"},
		{"[\"\\ud7ff\\ud800\\udfff\\ue000\"]", 16, "\xed\x9f\xbf??\xee\x80\x80"},
		{"[\"\\u0001\\u007e\"]", 16, "\x01~"},
	};
	static const struct {
		const char *json;
		uint64_t n; // 0: none
	} numbers[] = {
		{"[18446744073709551615]", UINT64_MAX},
		{"[18446744073709551616]", 0},
		{"[1000000000000000000000000000000]", 0}, // 31 and 32 digits
		{"[10000000000000000000000000000000]", 0},
		{"[-1]", 0},
		{"[1.0]", 0},
		{"[\"1\"]", 0},
		{"[7]", 7},
	};
	char text[80], all[80];
	uint64_t n;
	double f = 0;
	(void)state;
	for (size_t i = 0; i < COUNT(texts); i++) {
		const struct jsonin_value v = element(texts[i].json);
		memset(text, '#', sizeof(text));
		assert_true(jsonin_str(&v, text, texts[i].size));
		assert_string_equal(text, texts[i].want);
		assert_int_equal(text[texts[i].size], '#');
	}
	for (size_t i = 0; i < COUNT(numbers); i++) {
		const struct jsonin_value v = element(numbers[i].json);
		assert_int_equal(jsonin_u64(&v, &n), numbers[i].n != 0);
		assert_true(!numbers[i].n || n == numbers[i].n);
	}
	// A number of 63 bytes, and one of 64.
	for (size_t len = 63; len <= 64; len++) {
		snprintf(all, sizeof(all), "[1.%0*d5]", (int)len - 3, 0);
		const struct jsonin_value v = element(all);
		assert_int_equal(v.len, len);
		assert_int_equal(jsonin_f64(&v, &f), len == 63);
	}
	const struct jsonin_value number = element("[1]"), word = element("[\"\"]");
	assert_false(jsonin_str(&number, text, sizeof(text)) || jsonin_f64(&word, &f));
	assert_true(jsonin_str(&word, text, sizeof(text)) && !*text);
}

// A second signal within 300 ms of the first is one request with it; later it ends the program.
static void test_second_signal(void **state)
{
	static const struct {
		uint64_t after_ns[3]; // after the signal before; 0: no more signals
		int ended_by;         // 0: by itself
	} rows[] = {{{1, 299999999, 0}, 0},
		    {{300000000, 0}, 0},
		    {{300000001, 0}, SIGTERM},
		    {{1, 300000000, 0}, SIGTERM}};
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int status;
		const pid_t pid = fork();
		if (!pid) {
			signal(SIGTERM, SIG_DFL);
			stop_watch();
			raise(SIGTERM);
			for (const uint64_t *after = rows[i].after_ns; *after; after++) {
				now_ns += *after;
				raise(SIGTERM);
			}
			_exit(stop_asked() != SIGTERM);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, rows[i].ended_by);
	}
}

// The head of a page is both parts where the left one keeps 24 columns, else the left one alone.
// Both end with the line.
static void test_head(void **state)
{
	static const struct {
		unsigned columns;
		const char *left, *right, *line;
	} rows[] = {
		{34, "queues", "q: quits!!", "queues                  q: quits!!"},
		{33, "queues", "q: quits!!", "queues\033[K"},
		{35, "queues", "q: quits!!", "queues                   q: quits!!"},
		{34, "all the queues of this host, of each", "q: quits!!",
		 "all the queues of this  q: quits!!"},
		{33, "all the queues of this host, of each", "q: quits!!",
		 "all the queues of this host, of e"},
		{24, "queues", "", "queues                  "},
		{23, "queues", "", "queues\033[K"},
		// A letter of two bytes and one column on the left, one of two columns on the
		// right.
		{26, "\303\251", "\346\274\242", "\303\251                       \346\274\242"},
		{25, "\303\251", "\346\274\242", "\303\251\033[K"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct page p = {.size = {.rows = 5, .columns = rows[i].columns}};
		put_head(&p, rows[i].left, rows[i].right);
		assert_string_equal(p.text.data, rows[i].line);
		assert_int_equal(p.used, 1);
		buf_fini(&p.text);
	}
}

// A signal that ends a view leaves the messages of the page that was shown on the terminal.
static void test_messages_of_page(void **state)
{
	char said[32] = "";
	int err[2], status;
	(void)state;
	assert_int_equal(pipe(err), 0);
	const pid_t pid = fork();
	if (!pid) {
		const struct buf body = {0};
		size_t top = 0;
		dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), STDOUT_FILENO);
		dup2(err[1], STDERR_FILENO);
		catch_signals();
		buf_puts(&screen.messages, "shown\n");
		screen_paint("", "", &body, &top);
		buf_puts(&screen.messages, "of the next page\n");
		raise(SIGTERM);
		_exit(0);
	}
	close(err[1]);
	waitpid(pid, &status, 0);
	assert_int_equal(status, SIGTERM);
	assert_int_equal(read(err[0], said, sizeof(said) - 1), 6);
	assert_string_equal(said, "shown\n");
	close(err[0]);
}

// A bar is shown on a terminal, unless rows go to the same one as they come, or it is quiet.
static void test_progress(void **state)
{
	static const struct {
		bool wanted, rows, rows_on_terminal, quiet, on;
	} cases[] = {
		{.on = true},
		{.rows_on_terminal = true, .on = true},
		{.rows = true, .on = true},
		{.rows = true, .rows_on_terminal = true},
		{.rows = true, .rows_on_terminal = true, .wanted = true, .on = true},
		{.quiet = true},
		{.quiet = true, .wanted = true, .on = true},
	};
	(void)state;
	const int pty = posix_openpt(O_RDWR | O_NOCTTY), null = open("/dev/null", O_WRONLY);
	assert_true(pty >= 0 && null >= 0 && grantpt(pty) == 0 && unlockpt(pty) == 0);
	const int terminal = open(ptsname(pty), O_RDWR | O_NOCTTY);
	assert_true(terminal >= 0);
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const pid_t pid = fork();
		int status = 0;
		if (!pid) {
			struct progress p[2];
			dup2(cases[i].rows_on_terminal ? terminal : null, STDOUT_FILENO);
			dup2(terminal, STDERR_FILENO);
			err_setup("test", false, cases[i].quiet ? -1 : 0);
			progress_init(&p[0], cases[i].wanted, cases[i].rows);
			dup2(null, STDERR_FILENO); // without a terminal only if wanted
			progress_init(&p[1], cases[i].wanted, cases[i].rows);
			_exit(p[0].on | p[0].bar << 1 | p[1].on << 2 | p[1].bar << 3);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(WEXITSTATUS(status), cases[i].on | 2 | cases[i].wanted << 2);
	}
	close(terminal);
	close(null);
	close(pty);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_quoted),
		cmocka_unit_test(test_wrap),
		cmocka_unit_test(test_escape),
		cmocka_unit_test(test_utf8),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_durations),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_suggest),
		cmocka_unit_test(test_columns),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_json_every_byte),
		cmocka_unit_test(test_written_numbers),
		cmocka_unit_test(test_json_pretty),
		cmocka_unit_test(test_pids),
		cmocka_unit_test(test_csv),
		cmocka_unit_test(test_fractions),
		cmocka_unit_test(test_json_read),
		cmocka_unit_test(test_json_limits),
		cmocka_unit_test(test_exit_status),
		cmocka_unit_test(test_rules),
		cmocka_unit_test(test_second_signal),
		cmocka_unit_test(test_messages_of_page),
		cmocka_unit_test(test_head),
		cmocka_unit_test(test_progress),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
