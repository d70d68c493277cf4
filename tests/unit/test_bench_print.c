// The document of gpq bench preempt is what its schema says. It is measured on living queues alone,
// so here its members, their order and types are compared with the table; tests/cli/schema.sh does
// that of the other commands.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cmd/bench/print.c" // NOLINT(bugprone-suspicious-include): no library has it

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void is_record(const struct jsonin_value *v, const struct out_table *t)
{
	struct jsonin j;
	struct jsonin_value key, each;
	unsigned n = 0;
	assert_true(jsonin_open(&j, v->text, v->len, '{'));
	for (; jsonin_next(&j, &key, &each); n++)
		assert_true(n < t->ncols && jsonin_is(&key, t->cols[n].key));
	assert_false(j.failed);
	assert_int_equal(n, t->ncols);
}

static void is_member(const struct jsonin_value *v, const struct schema_member *m)
{
	struct jsonin j;
	struct jsonin_value key, each;
	switch (m->type) {
	case SCHEMA_COUNT:
	case SCHEMA_NUMBER: assert_true(v->kind == '0' || v->kind == 'n'); break;
	case SCHEMA_TEXT: assert_true(v->kind == '"' || v->kind == 'n'); break;
	case SCHEMA_RECORD: is_record(v, m->table); break;
	case SCHEMA_LIST:
		assert_true(jsonin_open(&j, v->text, v->len, '['));
		while (jsonin_next(&j, NULL, &each))
			is_member(&each, m->members);
		assert_false(j.failed);
		break;
	case SCHEMA_OBJECT:
		assert_true(jsonin_open(&j, v->text, v->len, '{'));
		for (m = m->members; m->key; m++) {
			assert_true(jsonin_next(&j, &key, &each));
			assert_true(jsonin_is(&key, m->key));
			is_member(&each, m);
		}
		assert_false(jsonin_next(&j, &key, &each) || j.failed);
		break;
	}
}

// A table of rows or a member of its own; counts which were seen.
static void is_of_document(const struct jsonin_value *key, const struct jsonin_value *v,
			   const struct schema *s, unsigned *seen)
{
	struct jsonin j;
	struct jsonin_value row;
	for (const struct schema_member *m = s->members; m->key; m++) {
		if (jsonin_is(key, m->key)) {
			is_member(v, m);
			++*seen;
		}
	}
	for (const struct out_table *const *t = s->tables; *t; t++) {
		if (!jsonin_is(key, (*t)->name))
			continue;
		assert_true(jsonin_open(&j, v->text, v->len, '['));
		assert_true(jsonin_next(&j, NULL, &row));
		is_record(&row, *t);
		++*seen;
	}
}

// What bench_print() writes on standard output. One of two XCCs saved nothing.
static char *document(size_t *len)
{
	static struct bench_context context;
	static char text[1 << 16];
	const struct result_goals goals = {1e7, 1e7, 0.05, 0.1};
	const struct out_opts opts = {.mode = OUT_JSON, .schema = &bench_preempt_schema};
	struct cycle c = {.xccs = 2, .saved_bytes = {4096, 0}, .suspend_ns = 1000};
	struct result r = {0};
	FILE *f = tmpfile();
	int saved = dup(STDOUT_FILENO);
	assert_true(f && saved >= 0);
	assert_int_equal(result_add(&r, &c), 0);
	fflush(stdout);
	dup2(fileno(f), STDOUT_FILENO);
	int status = bench_print(&opts, &context, &r, &goals, &(struct requirements){0});
	dup2(saved, STDOUT_FILENO);
	close(saved);
	assert_int_equal(status, 0);
	rewind(f);
	*len = fread(text, 1, sizeof(text), f);
	fclose(f);
	result_fini(&r);
	return text;
}

static void test_document(void **state)
{
	(void)state;
	struct jsonin j;
	struct jsonin_value key, v;
	size_t len;
	char *text = document(&len);
	unsigned members = 0, seen = 0;
	assert_true(jsonin_open(&j, text, len - 1, '{'));
	assert_true(jsonin_next(&j, &key, &v) && jsonin_is(&key, "schema"));
	assert_memory_equal(v.text, "{\"name\": \"gpq.bench.preempt\", \"version\": 1}", v.len);
	for (; jsonin_next(&j, &key, &v); members++)
		is_of_document(&key, &v, &bench_preempt_schema, &seen);
	assert_false(j.failed);
	assert_int_equal(members, 6); // settings, context, cycles and three tables
	assert_int_equal(seen, 6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_document)};
	return cmocka_run_group_tests_name("bench_print", tests, NULL, NULL);
}
