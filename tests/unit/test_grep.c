// Regular expressions over blocks of lines say what they say of every line by itself.
#include "common/cli/err.h"
#include "common/cli/grep.h"
#include "common/cli/opts.h"

#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#if !__GLIBC_PREREQ(2, 33)
#define mallinfo2() ((struct { size_t uordblks; }){(size_t)mallinfo().uordblks})
#endif

static struct grep *compiled(char first, const char *want, const char *drop)
{
	struct grep *g = grep_new(first);
	char *v[] = {(char *)(uintptr_t)want, (char *)(uintptr_t)drop};
	assert_non_null(g);
	if (want)
		assert_int_equal(grep_add(g, GREP_WANT, "--grep", &(struct words){v, 1}), GPQ_OK);
	if (drop)
		assert_int_equal(grep_add(g, GREP_DROP, "--not", &(struct words){v + 1, 1}),
				 GPQ_OK);
	return g;
}

// Every line by itself, as one text, and as found in the block; by cursor and by search.
static unsigned compare(struct grep *g, char first, const char *text, size_t len, const char *what)
{
	struct grepper *block = grepper_new(g), *single = grepper_new(g);
	struct grep_hits hits = {0};
	struct grep_cursor cursor;
	unsigned n = 0;
	assert_true(block && single);
	grepper_lines(block, text, len, &hits);
	assert_int_equal(hits.error, 0);
	cursor = grep_hits_begin(&hits);
	for (size_t at = 0, end; at < len; at = end + 1) {
		bool want, by_cursor;
		end = (size_t)((const char *)memchr(text + at, '\n', len - at) - text);
		if (first && text[at] != first)
			continue;
		want = grepper_text(single, text + at,
				    end - at - (end > at && text[end - 1] == '\r'));
		by_cursor = grep_cursor_has(&cursor, (uint32_t)at);
		if (by_cursor != want || grep_hits_has(&hits, (uint32_t)at) != want) {
			print_error("%s: line at %zu \"%.*s\": alone %d, in the block %d\n", what,
				    at, (int)(end - at), text + at, want, by_cursor);
			fail();
		}
		n += want;
	}
	assert_int_equal(grepper_check(single), GPQ_OK);
	grep_hits_fini(&hits);
	grepper_free(block);
	grepper_free(single);
	return n;
}

// What would reach over a line's end in a block, and how many lines each matches, counted by hand.
static void test_lines(void **state)
{
	static const char text[] = "foo bar\n"     // 1
				   "bar foo\n"     // 2
				   "\n"            // 3
				   "foo\n"         // 4
				   " x y\n"        // 5
				   "abcabc\n"      // 6
				   "foo\tbar 1\n"; // 7
	static const struct {
		const char *pattern;
		unsigned lines;
	} cases[] = {
		{"foo", 4},
		{"^foo", 3},
		{"foo$", 2},
		{"^$", 1},
		{"", 7},
		{"x*", 7},
		{"foo\\nbar", 0},
		{"foo[^x]bar", 2},
		{"foo[^x]*x", 0},
		{"o\\sb", 2},
		{"o\\s*$", 2},
		{"foo[\\s]+bar", 2},
		{"foo(?!.)", 2},
		{"foo(?!\\s)", 2},
		{"foo(?![^x])", 2},
		{"(?<!\\s)foo", 3},
		{"(?<![^x])foo", 3},
		{"(?<=\\n)foo", 0},
		{"(?s)foo.+x", 0},
		{"\\Afoo", 3},
		{"foo\\z", 2},
		{"\\Dbar", 2},
		{"\\W\\Z", 0},
		{"[^\\d]$", 5},
		{"[^]x]*z", 0},
		{"[^-x]+b", 3},
		{"foo[^x]*+$", 4},
		{"(abc)\\1", 1},
		{"(?i)FOO", 4},
		{"(?:^| )x", 1},
		{"[[:space:]]x", 1},
		{"[^[:alpha:]]b", 2},
		{"foo\\v", 0},
		{"\\R", 0},
		{"(*ANYCRLF)foo$", 2},
		{"(?x) f o o # three", 4},
		{"\\Qfoo", 4},
		{"foo\\K bar", 1},
		{"(?>foo\\s*)b", 2},
		{"[\\x00-\\x20]bar", 2},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct grep *g = compiled(0, cases[i].pattern, NULL);
		unsigned n = compare(g, 0, text, sizeof(text) - 1, cases[i].pattern);
		if (n != cases[i].lines)
			print_error("%s: %u lines\n", cases[i].pattern, n);
		assert_int_equal(n, cases[i].lines);
		grep_free(g);
	}
}

static void test_rewriting(void **state)
{
	static const struct {
		const char *pattern, *as; // NULL: line by line
	} cases[] = {
		{"HWq=0x[0-9a-f]+", "HWq=0x[0-9a-f]+"},
		{"a[^,]*b", "a[^\\n,]*b"},
		{"[^]a-]", "[^\\n\\]a-]"},
		{"[^-a]", "[^\\n\\-a]"},
		{"[]a]", "[\\]a]"},
		{"a\\sb\\S", "a[\\t\\x0b\\x0c\\r\\x20]b\\S"},
		{"\\D\\W\\H", "[^\\n\\d][^\\n\\w][^\\n\\h]"},
		{"[\\s,]", "[\\t\\x0b\\x0c\\r\\x20,]"},
		{"[^\\s]", "[^\\n\\s]"},
		{"[\\s-z]", NULL},
		{"[\\D]", NULL},
		{"[\\t-z]", NULL},
		{"[\t-z]", NULL},
		{"[[:space:]]", NULL},
		{"[^[:space:]]", "[^\\n[:space:]]"},
		{"\\x0a", NULL},
		{"\\x0A", NULL},
		{"\\x1b\\[32m", "\\x1b\\[32m"},
		{"\\x{a}", NULL},
		{"a\\n", NULL},
		{"a\n", NULL},
		{"\\Aa", NULL},
		{"(*COMMIT)a", NULL},
		{"(?s)a", NULL},
		{"(?-m)^a", NULL},
		{"(?<n>a)", NULL},
		{"(?<=a)(?<!b)(?=c)(?!d)(?:e)(?>f)(?i)(?i:g)",
		 "(?<=a)(?<!b)(?=c)(?!d)(?:e)(?>f)(?i)(?i:g)"},
		{"\\012", NULL},
		{"(a)\\1", "(a)\\1"},
		{"(a)\\11", NULL},
		{"\\Qa[", NULL},
		{"a{2,3}+\\.", "a{2,3}+\\."},
	};
	struct buf out = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bool ok = grep_within_lines(&out, cases[i].pattern);
		if (ok != (cases[i].as != NULL))
			print_error("%s\n", cases[i].pattern);
		assert_int_equal(ok, cases[i].as != NULL);
		if (ok)
			assert_string_equal(out.data, cases[i].as);
	}
	buf_fini(&out);
}

static uint32_t dice(uint32_t *seed, uint32_t n)
{
	*seed = *seed * 1664525 + 1013904223;
	return (*seed >> 8) % n;
}

static void random_pattern(uint32_t *seed, char *to, size_t size)
{
	static const char *const atoms[] = {
		"a",         "b",      ".",     "\\s",    "\\S",    "\\d",    "\\D",    "\\w",
		"\\W",       "[^a]",   "[ab]",  "[^\\s]", "[\\sb]", "^",      "$",      "\\b",
		"\\B",       "(?:ab)", "(a|b)", "(?=b)",  "(?!a)",  "(?<=a)", "(?<!b)", "(?![^a])",
		"(?<![^b])", "(?>a*)", "\\n",   ":",      "[^:]",   "\\H",    "\\R",    "(?i:A)"};
	static const char *const counts[] = {"", "", "", "", "*", "+", "?", "{2}", "*?", "++"};
	unsigned n = 1 + dice(seed, 5);

	*to = 0;
	while (n--) {
		const char *atom = atoms[dice(seed, sizeof(atoms) / sizeof(atoms[0]))];
		bool anchor = *atom == '^' || *atom == '$' || atom[1] == 'b' || atom[1] == 'B';
		const char *count =
			anchor ? "" : counts[dice(seed, sizeof(counts) / sizeof(counts[0]))];
		snprintf(to + strlen(to), size - strlen(to), "%s%s%s", atom, count,
			 n && !dice(seed, 6) ? "|" : "");
	}
}

static void test_random(void **state)
{
	static const char letters[] = "aab b:1\t\n\n\r:";
	uint32_t seed = 7;
	char text[400], pattern[128];
	unsigned blocks = 0, hits = 0;
	struct buf within = {0};
	(void)state;
	for (unsigned i = 0; i < 20000; i++) {
		size_t len = 2 + dice(&seed, sizeof(text) - 2);
		// Half of them without carriage returns, which make it go line by line.
		unsigned some = sizeof(letters) - 1 - 2 * (i & 1);
		struct grep *g;
		for (size_t at = 0; at < len; at++)
			text[at] = letters[dice(&seed, some)];
		text[len - 1] = '\n';
		random_pattern(&seed, pattern, sizeof(pattern));
		g = compiled(i & 2 ? ':' : 0, pattern, NULL);
		hits += compare(g, i & 2 ? ':' : 0, text, len, pattern);
		blocks += grep_within_lines(&within, pattern);
		grep_free(g);
	}
	assert_true(blocks > 10000); // most of them are not done line by line
	assert_true(hits > 100000);
	buf_fini(&within);
}

static void test_several(void **state)
{
	static const char text[] = "one two\ntwo\nthree\none\nfour\n";
	char *v[] = {(char *)(uintptr_t) "one", (char *)(uintptr_t) "th|two"};
	struct grep *g = grep_new(0);
	(void)state;
	assert_int_equal(grep_add(g, GREP_WANT, "--grep", &(struct words){v, 2}), GPQ_OK);
	assert_int_equal(compare(g, 0, text, sizeof(text) - 1, "either"), 4);
	v[0] = (char *)(uintptr_t) "e t|thr";
	assert_int_equal(grep_add(g, GREP_DROP, "--not", &(struct words){v, 1}), GPQ_OK);
	assert_int_equal(compare(g, 0, text, sizeof(text) - 1, "and not"), 2);
	grep_free(g);
	g = compiled(0, NULL, "o");
	assert_int_equal(compare(g, 0, text, sizeof(text) - 1, "not"), 1);
	grep_free(g);
}

// Takes exponentially many steps on a line of many a's: an error, but not where only lines of no
// interest are like that, or lines that together take too many steps.
static void test_too_many_steps(void **state)
{
	struct grep *g = compiled(':', "(a+)+[bc]$", NULL);
	struct grepper *w = grepper_new(g);
	struct grep_hits hits = {0};
	struct buf text = {0};
	(void)state;
	buf_fill(&text, 'a', 5000);
	buf_puts(&text, "!\n:aab\n");
	grepper_lines(w, text.data, text.len, &hits);
	assert_int_equal(hits.error, 0);
	assert_int_equal(hits.sets[GREP_WANT].n, 1);
	assert_true(grep_hits_has(&hits, 5002));
	text.len = 0;
	buf_puts(&text, ":");
	buf_fill(&text, 'a', 5000);
	buf_puts(&text, "!\n");
	grepper_lines(w, text.data, text.len, &hits);
	assert_true(hits.error < 0);
	assert_false(grepper_text(w, text.data, text.len - 1));
	grep_hits_fini(&hits);
	buf_fini(&text);
	grepper_free(w);
	grep_free(g);
}

// What must be kept of each letter of a line, to try another way later, is more than the 32 KiB
// that PCRE2's compiled code has by itself.
static void test_deep(void **state)
{
	struct grep *g = compiled(':', "^:(?:a|(b))*$", NULL);
	struct grepper *w = grepper_new(g);
	struct grep_hits hits = {0};
	struct buf text = {0};
	(void)state;
	buf_puts(&text, ":");
	buf_fill(&text, 'a', 5000);
	buf_puts(&text, "\n:c\n");
	grepper_lines(w, text.data, text.len, &hits);
	assert_int_equal(hits.error, 0);
	assert_int_equal(hits.sets[GREP_WANT].n, 1);
	assert_true(grepper_text(w, text.data, 5001));
	assert_int_equal(grepper_check(w), GPQ_OK);
	grep_hits_fini(&hits);
	buf_fini(&text);
	grepper_free(w);
	grep_free(g);
}

// All memory is given back: rounds that are alike take no more. The first ones fill caches of the
// allocator.
static void test_memory(void **state)
{
	static const char text[] = ":a\n:b\n:ab\n";
	size_t before = 0;
	(void)state;
	for (unsigned i = 0; i < 64; i++) {
		struct grep *g = compiled(':', "a", "b");
		struct grepper *w = grepper_new(g);
		struct grep_hits hits = {0};
		grepper_lines(w, text, sizeof(text) - 1, &hits);
		assert_true(hits.sets[GREP_WANT].v && hits.sets[GREP_DROP].v);
		grep_hits_fini(&hits);
		assert_false(hits.sets[GREP_WANT].v || hits.sets[GREP_DROP].v);
		grepper_free(w);
		grep_free(g);
		before = i == 31 ? mallinfo2().uordblks : before;
	}
	assert_int_equal(mallinfo2().uordblks, before);
}

// What begins where the first group matches in a line, and the second; "-": nothing.
static void group_is(const char *pattern, const char *line, const char *want,
		     const char *want_second)
{
	struct regex r;
	const char *second;
	assert_int_equal(regex_init_line(&r, "--metric", pattern, 1), GPQ_OK);
	const char *found = regex_group(&r, line, strlen(line), &second);
	assert_string_equal(found ? found : "-", want);
	assert_string_equal(second ? second : "-", want_second);
	assert_int_equal(regex_check(&r, GPQ_OK), GPQ_OK);
	regex_fini(&r);
}

static void test_group(void **state)
{
	struct regex r;
	(void)state;
	group_is("took (\\d+)", "it took 25 ms", "25 ms", "-");
	group_is("took (\\d+)", "it took long", "-", "-");
	group_is("done|took (\\d+)", "done", "-", "-"); // matches without its group
	group_is("(\\d+)(?= ms$)", "1 2 ms", "2 ms", "-");
	group_is("(\\d+) (m)s", "25 ms", "25 ms", "ms"); // one more than asked for
	group_is("(\\d+)( at)?", "25 ms", "25 ms", "-");
	assert_int_equal(regex_init_line(&r, "--metric", "took \\d+", 1), GPQ_USAGE);
	regex_fini(&r);
	assert_int_equal(regex_init_line(&r, "--offline-ready", "took \\d+", 0), GPQ_OK);
	assert_string_equal(r.what, "lines");
	regex_fini(&r);
	for (unsigned groups = 0; groups < 2; groups++) {
		assert_int_equal(regex_init_line(&r, "--metric", "took (", groups), GPQ_USAGE);
		regex_fini(&r);
	}
	memset(&r, 0xff, sizeof(r)); // without an expression nothing of it is left
	assert_int_equal(regex_init_line(&r, "--metric", NULL, 1), GPQ_OK);
	assert_int_equal(regex_check(&r, GPQ_OK), GPQ_OK);
	regex_fini(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),          cmocka_unit_test(test_rewriting),
		cmocka_unit_test(test_random),         cmocka_unit_test(test_several),
		cmocka_unit_test(test_too_many_steps), cmocka_unit_test(test_deep),
		cmocka_unit_test(test_group),          cmocka_unit_test(test_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
