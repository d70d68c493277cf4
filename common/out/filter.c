// Evaluates the parsed expression of --filter for each row; see filter.h.
#include "common/out/filter_priv.h"

#include "common/cli/grep.h"
#include "common/cli/opts.h"
#include "common/out/out_priv.h"

#include <float.h>

// A long double holds every int64_t, uint64_t and double exactly, so all numbers are compared as
// long doubles.
_Static_assert(LDBL_MANT_DIG >= 64, "long double holds every uint64_t");

// --- messages about mistakes ---

int out_mistake_report(const struct out_mistake *m, const char *option)
{
	char place[48] = "";
	if (m->told)
		return m->status;
	if (m->at && option)
		snprintf(place, sizeof(place), " at column %zu", m->at);
	return err_fail(m->status, m->next, "%s%s%s%s%s%s", option ? option : "",
			option ? ": " : "", m->text, place, *m->near ? ": " : "", m->near);
}

void out_mistake_column(struct out_mistake *m, const struct out_table *t, const char *name,
			size_t len, size_t at)
{
	SCOPED(free_at) const char **words = xcalloc(t->ncols + 1, sizeof(*words));
	char given[64], upper[64];
	snprintf(given, sizeof(given), "%.*s", len ? (int)(len < 60 ? len : 60) : 2,
		 len ? name : "''");
	for (size_t i = 0; i < sizeof(upper); i++)
		upper[i] = (char)(given[i] >= 'a' && given[i] <= 'z' ? given[i] - 32 : given[i]);
	for (unsigned i = 0; i < t->ncols; i++)
		words[i] = t->cols[i].name;
	const char *guess = text_suggest(upper, words);
	*m = (struct out_mistake){.status = GPQ_USAGE,
				  .absent = true,
				  .guessed = guess != NULL,
				  .at = at,
				  .next = "--list-columns lists them"};
	snprintf(m->text, sizeof(m->text), "unknown column %s in %s%s%s%s", given, t->name,
		 guess ? ", did you mean " : "", guess ? guess : "", guess && at ? "," : "");
}

// --- making a filter ---

// Compiles the regular expressions, once the rest of the expression is known to be correct.
static bool filter_compile(struct filter *f, struct out_mistake *m)
{
	for (size_t i = 0; i < f->nregexes; i++) {
		struct filter_regex *r = &f->regexes[i];
		char *pattern = xstrdup(r->pattern);
		const struct words one = {.v = &pattern, .n = 1};
		r->grep = grep_new(0);
		m->status = grep_add(r->grep, GREP_WANT, r->option, &one);
		free(pattern);
		if (m->status) {
			m->told = true;
			return false;
		}
		r->grepper = grepper_new(r->grep);
	}
	return true;
}

struct filter *filter_new(const struct out_table *t, const char *text, struct out_mistake *m)
{
	struct filter *f = xcalloc(1, sizeof(*f));
	*m = (struct out_mistake){0};
	f->table = t;
	if (filter_parse(f, text, m) && filter_compile(f, m))
		return f;
	filter_free(f);
	return NULL;
}

void filter_free(struct filter *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < f->ntests; i++) {
		free(f->tests[i].a.text);
		free(f->tests[i].b.text);
	}
	for (size_t i = 0; i < f->nregexes; i++) {
		grepper_free(f->regexes[i].grepper);
		grep_free(f->regexes[i].grep);
		free(f->regexes[i].option);
	}
	free(f->steps);
	free(f->tests);
	free(f->regexes);
	buf_fini(&f->number);
	free(f);
}

void filter_columns(const struct filter *f, bool *used)
{
	for (size_t i = 0; i < f->ntests; i++) {
		const struct test *t = &f->tests[i];
		if (t->a.column)
			used[t->a.column - f->table->cols] = true;
		if (t->b.column)
			used[t->b.column - f->table->cols] = true;
	}
}

int filter_check(const struct filter *f)
{
	int status = GPQ_OK;
	for (size_t i = 0; i < f->nregexes && !status; i++)
		status = grepper_check(f->regexes[i].grepper);
	return status;
}

// --- testing rows ---

// These return the value of an operand in a record, or false or NULL if the value is unknown.

static bool operand_number(const struct operand *o, const void *record, long double *v)
{
	if (o->column)
		return outfmt_number(o->column, record, v);
	*v = o->number;
	return true;
}

static const char *operand_text(const struct operand *o, const void *record)
{
	return o->column ? outfmt_string(o->column, record) : o->text;
}

// Sets *v to false for 0, an empty text and "no", to true for other values. Returns false if the
// value is unknown.
static bool operand_truth(const struct operand *o, const void *record, bool *v)
{
	if (o->is == IS_NUMBER || o->is == IS_TRUTH) {
		long double n;
		if (!operand_number(o, record, &n))
			return false;
		*v = n != 0;
		return true;
	}
	const char *s = operand_text(o, record);
	if (!s)
		return false;
	*v = *s && strcmp(s, "no") != 0;
	return true;
}

static bool orders_allow(unsigned orders, int order)
{
	return orders & (order < 0 ? ORDER_LT : order > 0 ? ORDER_GT : ORDER_EQ);
}

// Does the blank-separated list have the word `word` or, where `word` is NULL, one that the regular
// expression matches?
static bool any_word(const char *words, const char *word, struct grepper *g)
{
	for (words += strspn(words, " "); *words; words += strspn(words, " ")) {
		size_t n = strcspn(words, " ");
		if (word ? n == strlen(word) && !memcmp(words, word, n) : grepper_text(g, words, n))
			return true;
		words += n;
	}
	return false;
}

static bool test_matches(struct filter *f, const struct test *t, const void *record)
{
	struct grepper *g = f->regexes[t->regex].grepper;
	const char *s;
	bool found;
	if (t->a.is == IS_TEXT || t->a.is == IS_LIST) {
		s = operand_text(&t->a, record);
		if (!s)
			return false;
		found = t->a.is == IS_LIST ? any_word(s, NULL, g) : grepper_text(g, s, strlen(s));
	} else {
		f->number.len = 0;
		if (!outfmt_text(&f->number, t->a.column, record, false, true, NULL))
			return false;
		found = grepper_text(g, f->number.data, f->number.len);
	}
	return found == (t->orders == ORDER_EQ);
}

// Does the record pass the test? An unknown value makes every comparison false.
static bool try_test(struct filter *f, const struct test *t, const void *record)
{
	long double m = 0, n = 0;
	bool v = false, w = false;
	const char *a, *b;
	switch (t->how) {
	case TEST_TRUE: return operand_truth(&t->a, record, &v) && v;
	case TEST_NUMBERS:
		return operand_number(&t->a, record, &m) && operand_number(&t->b, record, &n) &&
		       orders_allow(t->orders, ORDER(m, n));
	case TEST_TRUTHS:
		return operand_truth(&t->a, record, &v) && operand_truth(&t->b, record, &w) &&
		       orders_allow(t->orders, ORDER(v, w));
	case TEST_TEXTS:
		a = operand_text(&t->a, record);
		b = operand_text(&t->b, record);
		return a && b && orders_allow(t->orders, strcmp(a, b));
	case TEST_WORDS:
		a = operand_text(&t->a, record);
		return a && any_word(a, t->b.text, NULL) == (t->orders == ORDER_EQ);
	case TEST_REGEX: return test_matches(f, t, record);
	}
	return false;
}

bool filter_takes(struct filter *f, const void *record)
{
	bool v = false;
	for (size_t i = 0; i < f->nsteps;) {
		const struct step *s = &f->steps[i++];
		switch (s->kind) {
		case STEP_TEST: v = try_test(f, &f->tests[s->to], record); break;
		case STEP_NOT: v = !v; break;
		case STEP_IF_TRUE: i = v ? s->to : i; break;
		case STEP_IF_FALSE: i = v ? i : s->to; break;
		}
	}
	return v;
}
