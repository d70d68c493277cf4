// common/cli: text, quantities, JSON, options.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/cli/json.h"
#include "common/cli/opts.h"
#include "common/cli/out_priv.h"
#include "common/cli/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
	escapes("\xed\xa0\x80", 3, "\\xed\\xa0\\x80"); // a surrogate
	escapes("\xf0\x9f\x98\x80", 4, "\xf0\x9f\x98\x80");
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
	assert_string_equal(text_ns(s, 125000000000), "2m05s");
	uint64_t v;
	assert_true(parse_duration("50ms", &v) && v == 50000000);
	assert_true(parse_duration("1.5s", &v) && v == 1500000000);
	assert_true(parse_duration("2", &v) && v == 2000000000);
	assert_true(parse_duration("0", &v) && v == 0);
	assert_true(parse_duration("1h", &v) && v == 3600000000000);
	const char *bad[] = {
		"",     "ms", "-1s", "1e9", "0x10", "1 s", "nan", "inf", "99999999999999999999d",
		"1..2s"};
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
}

static void test_suggest(void **state)
{
	(void)state;
	const char *const words[] = {"gpus", "queues", "trace", NULL};
	assert_string_equal(text_suggest("queus", words), "queues");
	assert_string_equal(text_suggest("quesue", words), "queues");
	assert_string_equal(text_suggest("tarce", words), "trace");
	assert_null(text_suggest("frobnicate", words));
	assert_null(text_suggest("", words));
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_quoted),
		cmocka_unit_test(test_escape),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_durations),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_suggest),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_json_every_byte),
		cmocka_unit_test(test_written_numbers),
		cmocka_unit_test(test_json_pretty),
		cmocka_unit_test(test_pids),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
