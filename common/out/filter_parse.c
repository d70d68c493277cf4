// Parses the text of --filter into tests and jumps; see filter.h.
//
//   any:   all { || all }        all: not { && not }      not: ! not | ( any ) | test
//   test:  operand [ == operand ... | =~ "expression" ]
#include "common/out/filter_priv.h"

#include "common/out/out_priv.h"

#include <ctype.h>
#include <strings.h>

enum token_kind {
	T_END,
	T_BAD,
	T_OPEN,
	T_CLOSE,
	T_AND,
	T_OR,
	T_NOT,
	T_ORDER, // == != < <= > >=
	T_MATCH, // =~ !~
	T_TRUTH,
	T_NAME,
	T_NUMBER,
	T_STRING,
};

struct token {
	const char *at;
	size_t len;
	long double number;
	enum token_kind kind;
	unsigned orders; // T_ORDER, T_MATCH: ORDER_ bits; T_TRUTH: the value, 0 or 1
	bool duration;
};

struct parser {
	struct filter *f;
	const char *text;
	struct token now;
	struct out_mistake *m;
	unsigned depth;
};

// --- operators and other words of the grammar ---

static const struct {
	const char *text;
	enum token_kind kind;
	unsigned orders;
} words[] = {
	// Of two operators that begin alike, the longer one comes first.
	{"&&", T_AND, 0},
	{"||", T_OR, 0},
	{"==", T_ORDER, ORDER_EQ},
	{"!=", T_ORDER, ORDER_LT | ORDER_GT},
	{"<=", T_ORDER, ORDER_LT | ORDER_EQ},
	{">=", T_ORDER, ORDER_GT | ORDER_EQ},
	{"=~", T_MATCH, ORDER_EQ},
	{"!~", T_MATCH, 0},
	{"<", T_ORDER, ORDER_LT},
	{">", T_ORDER, ORDER_GT},
	{"!", T_NOT, 0},
	{"(", T_OPEN, 0},
	{")", T_CLOSE, 0},
	{"and", T_AND, 0},
	{"or", T_OR, 0},
	{"not", T_NOT, 0},
	{"eq", T_ORDER, ORDER_EQ},
	{"ne", T_ORDER, ORDER_LT | ORDER_GT},
	{"le", T_ORDER, ORDER_LT | ORDER_EQ},
	{"lt", T_ORDER, ORDER_LT},
	{"ge", T_ORDER, ORDER_GT | ORDER_EQ},
	{"gt", T_ORDER, ORDER_GT},
	{"true", T_TRUTH, 1},
	{"false", T_TRUTH, 0},
};

// Reads the unit behind a number: its factor in bytes or nanoseconds, and whether it is a unit of
// time. False: there is no such unit.
static bool unit_factor(const char *unit, size_t len, long double *factor, bool *duration)
{
	static const char sizes[] = "KMGTPEZY";
	const char *size = len ? strchr(sizes, *unit) : NULL;
	char quantity[8] = "1";
	uint64_t ns;
	*duration = false;
	*factor = 1;
	if (len == 0 || (len == 1 && *unit == 'B'))
		return true;
	if (size && (len == 1 || (len == 3 && memcmp(unit + 1, "iB", 2) == 0))) {
		for (; size >= sizes; size--)
			*factor *= 1024;
		return true;
	}
	if (len + 1 >= sizeof(quantity))
		return false;
	memcpy(quantity + 1, unit, len);
	*duration = parse_duration(quantity, &ns);
	*factor = (long double)ns;
	return *duration;
}

size_t filter_number(const char *text, size_t len, long double *number, bool *duration)
{
	static const char digits[] = "0123456789", hex[] = "0123456789abcdefABCDEF";
	const char *s = text, *end = text + len;
	const bool negative = s < end && *s == '-';
	long double factor;
	char *copy;
	size_t n, unit = 0;
	s += negative;
	if (s == end || !isdigit((unsigned char)*s))
		return 0;
	*duration = false;
	if (end - s > 2 && s[0] == '0' && (s[1] == 'x' || s[1] == 'X')) {
		n = 2 + strspn(s + 2, hex);
		if (n == 2 || n > 18)
			return 0;
		*number = (long double)strtoull(s, NULL, 16);
	} else {
		n = strspn(s, digits);
		bool whole = s[n] != '.' || !isdigit((unsigned char)s[n + 1]);
		n += whole ? 0 : 1 + strspn(s + n + 1, digits);
		while (s + n + unit < end && isalpha((unsigned char)s[n + unit]))
			unit++;
		if (!unit_factor(s + n, unit, &factor, duration))
			return 0;
		copy = xstrndup(s, n);
		// A fraction is rounded to a double, as values of columns are: 0.1 must equal 0.1.
		// With a unit greater than B or ns the product is rounded to whole bytes or
		// nanoseconds.
		*number = whole ? strtold(copy, NULL) : (long double)strtod(copy, NULL);
		*number *= factor;
		if (!whole && factor > 1 && *number < 0x1p63L)
			*number = (long double)(uint64_t)(*number + 0.5L);
		free(copy);
	}
	*number = negative ? -*number : *number;
	s += n + unit;
	return s > end || (s < end && (isalnum((unsigned char)*s) || *s == '_' || *s == '.'))
		       ? 0
		       : (size_t)(s - text);
}

static size_t name_length(const char *s)
{
	size_t n = isalpha((unsigned char)*s) ? 1 : 0;
	while (n && s[n] && (isalnum((unsigned char)s[n]) || strchr("_.%:/-", s[n])))
		n++;
	return n;
}

static void read_token(struct parser *p)
{
	struct token *t = &p->now;
	const char *s = t->at + t->len;
	s += strspn(s, " \t\n");
	*t = (struct token){.kind = *s ? T_BAD : T_END, .at = s, .len = *s != 0};
	const size_t name = name_length(s);
	for (size_t i = 0; i < COUNT(words); i++) {
		size_t n = strlen(words[i].text);
		bool letters = isalpha((unsigned char)words[i].text[0]);
		if (strncasecmp(s, words[i].text, n) != 0 || (letters && name != n))
			continue;
		t->kind = words[i].kind;
		t->orders = words[i].orders;
		t->len = n;
		return;
	}
	if (name) {
		t->kind = T_NAME;
		t->len = name;
	} else if (*s == '"' || *s == '\'') {
		const char *end = strchr(s + 1, *s);
		t->kind = end ? T_STRING : T_BAD;
		t->len = end ? (size_t)(end + 1 - s) : strlen(s);
	} else if (*s == '-' || isdigit((unsigned char)*s)) {
		size_t n = filter_number(s, strnlen(s, 100), &t->number, &t->duration);
		t->kind = n ? T_NUMBER : T_BAD;
		t->len = n ? n : strcspn(s + 1, " \t\n()&|=!<>") + 1;
	}
}

// --- messages about mistakes ---

// The number of the character at `at`, from 1; the text is UTF-8.
static size_t character_of(const struct parser *p, const char *at)
{
	size_t n = 1;
	for (const char *s = p->text; s < at; s++)
		n += (*s & 0xc0) != 0x80;
	return n;
}

static void fail_at(struct parser *p, const struct token *t, const char *next, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

// Only the first mistake is kept. Parsing goes on until a caller sees m->status.
static void fail_at(struct parser *p, const struct token *t, const char *next, const char *fmt, ...)
{
	struct out_mistake *m = p->m;
	size_t shown = strnlen(t->at, 24);
	va_list ap;
	if (m->status)
		return;
	*m = (struct out_mistake){.status = GPQ_USAGE, .at = character_of(p, t->at), .next = next};
	va_start(ap, fmt);
	vsnprintf(m->text, sizeof(m->text), fmt, ap);
	va_end(ap);
	while (shown && (t->at[shown] & 0xc0) == 0x80)
		shown--; // do not cut a character in half
	if (*t->at)
		snprintf(m->near, sizeof(m->near), "near \"%.*s\"%s", (int)shown, t->at,
			 t->at[shown] ? "..." : "");
	else
		snprintf(m->near, sizeof(m->near), "that is its end");
}

#define GRAMMAR "FILTERS in gpq(1) tells the grammar"

static void fail_unexpected(struct parser *p, const char *wanted)
{
	const struct token *t = &p->now;
	if (t->kind == T_BAD && (*t->at == '"' || *t->at == '\''))
		fail_at(p, t, "texts end with the quote they begin with", "a text without end");
	else if (t->kind == T_BAD && isdigit((unsigned char)t->at[*t->at == '-']))
		fail_at(p, t, "for example 10, 0x1f, 1.5, 64K, 5ms", "no number");
	else if (t->kind == T_BAD && *t->at == '=')
		fail_at(p, t, "write ==", "no operator");
	else if (t->kind == T_BAD && (*t->at == '&' || *t->at == '|'))
		fail_at(p, t, "write && or ||", "no operator");
	else
		fail_at(p, t, GRAMMAR, "%s is expected", wanted);
}

// --- operands, and the kinds of test for them ---

static void read_column(struct parser *p, struct operand *o)
{
	const struct token *t = &p->now;
	int i = out_find_column(p->f->table, t->at, t->len);
	if (i < 0) {
		if (!p->m->status)
			out_mistake_column(p->m, p->f->table, t->at, t->len,
					   character_of(p, t->at));
		return;
	}
	o->column = &p->f->table->cols[i];
	o->is = o->column->type == OUT_STR    ? IS_TEXT
		: o->column->type == OUT_LIST ? IS_LIST
		: o->column->type == OUT_BOOL ? IS_TRUTH
					      : IS_NUMBER;
}

// Reads the current token as an operand of a test, which owns the operand's text.
static void read_operand(struct parser *p, struct operand *o)
{
	const struct token *t = &p->now;
	switch (t->kind) {
	case T_NAME: read_column(p, o); break;
	case T_TRUTH: *o = (struct operand){.is = IS_TRUTH, .number = t->orders}; break;
	case T_NUMBER:
		*o = (struct operand){.is = IS_NUMBER,
				      .number = t->number,
				      .duration = t->duration,
				      .text = xstrndup(t->at, t->len)};
		break;
	case T_STRING:
		*o = (struct operand){.is = IS_TEXT, .text = xstrndup(t->at + 1, t->len - 2)};
		break;
	default: fail_unexpected(p, "a column or a value"); return;
	}
	if (!p->m->status)
		read_token(p);
}

// Converts a literal text that is compared with a number or a truth value to that type, or fails.
static void convert_operand(struct parser *p, struct operand *o, const struct operand *other,
			    const struct token *at)
{
	static const char *const truths[] = {"no", "yes", "false", "true", "0", "1"};
	const char *name = other->column ? other->column->name : "the other side";
	size_t n = strlen(o->text);
	if (other->is == IS_TRUTH) {
		for (size_t i = 0; i < COUNT(truths); i++) {
			if (strcasecmp(o->text, truths[i]) == 0) {
				o->is = IS_TRUTH;
				o->number = i % 2;
				return;
			}
		}
		fail_at(p, at, "compare it with true or false", "%s is yes or no", name);
	} else if (n && filter_number(o->text, n, &o->number, &o->duration) == n) {
		o->is = IS_NUMBER;
	} else {
		fail_at(p, at, "compare it with a number", "%s is a number, the text is none",
			name);
	}
}

static void compare_lists(struct parser *p, struct test *t, const struct token *between)
{
	struct operand a = t->a;
	if (t->b.is == IS_LIST) { // moves a list on the right to the left
		t->a = t->b;
		t->b = a;
	}
	t->how = TEST_WORDS;
	if (t->orders != ORDER_EQ && t->orders != (ORDER_LT | ORDER_GT))
		fail_at(p, between, "use ==, !=, =~ or !~", "%s is a list", t->a.column->name);
	else if (t->b.column)
		fail_at(p, between, "compare it with a value", "%s is a list", t->a.column->name);
	t->orders &= ORDER_EQ;
}

static bool is_true_or_false(const struct operand *o)
{
	return o->is == IS_TRUTH && !o->column;
}

static bool is_literal_text(const struct operand *o)
{
	return o->is == IS_TEXT && !o->column;
}

// Chooses the kind of test for the operands t->a and t->b. `at`: the tokens of a, the operator and
// b.
static void choose_test(struct parser *p, struct test *t, const struct token at[3])
{
	struct operand *const of[] = {&t->a, &t->b};
	const bool texts = t->a.is == IS_TEXT && t->b.is == IS_TEXT;
	const bool truths = is_true_or_false(&t->a) || is_true_or_false(&t->b);
	if (!truths && (t->a.is == IS_LIST || t->b.is == IS_LIST)) {
		compare_lists(p, t, &at[1]);
		return;
	}
	t->how = truths ? TEST_TRUTHS : texts ? TEST_TEXTS : TEST_NUMBERS;
	for (unsigned i = 0; !texts && i < 2; i++)
		if (is_literal_text(of[i]))
			convert_operand(p, of[i], of[!i], &at[2 * i]);
	for (unsigned i = 0; t->how == TEST_NUMBERS && i < 2; i++)
		if (of[i]->column && of[i]->is == IS_TEXT)
			fail_at(p, &at[2 * !i], of[!i]->column ? NULL : "put the value in quotes",
				"%s is text", of[i]->column->name);
	for (unsigned i = 0; t->how == TEST_NUMBERS && i < 2; i++)
		if (of[i]->duration && of[!i]->column && of[!i]->column->type != OUT_NS)
			fail_at(p, &at[2 * i], "give a number without ns, ms, s ...",
				"%s is no time in nanoseconds", of[!i]->column->name);
}

static void add_regex(struct parser *p, struct test *t, const struct token at[3])
{
	struct filter *f = p->f;
	t->how = TEST_REGEX;
	t->regex = (unsigned)f->nregexes;
	if (!t->a.column)
		fail_at(p, &at[0], "for example NAME =~ \"^a\"", "left of =~ stands a column");
	else if (at[2].kind != T_STRING)
		fail_at(p, &at[2], "for example NAME =~ \"^a\"",
			"right of =~ stands a text in quotes");
	else if (f->nregexes == FILTER_REGEX_MAX)
		fail_at(p, &at[2], "join them with |", "more than %d regular expressions",
			FILTER_REGEX_MAX);
	else
		*ARRAY_ADD(f->regexes, f->regexes_cap, f->nregexes) = (struct filter_regex){
			.option = xasprintf("--filter: at column %zu", character_of(p, at[2].at)),
			.pattern = t->b.text};
}

// --- the grammar ---

static struct step *add_step(struct parser *p, unsigned kind, size_t to)
{
	struct filter *f = p->f;
	struct step *s = ARRAY_ADD(f->steps, f->steps_cap, f->nsteps);
	*s = (struct step){kind, to};
	return s;
}

// `negated`: "not" stands before the test, which may then be a comparison only in parentheses.
static void parse_test(struct parser *p, bool negated)
{
	struct filter *f = p->f;
	struct test t = {.how = TEST_TRUE};
	struct token at[3] = {p->now};
	read_operand(p, &t.a);
	at[1] = p->now;
	if (at[1].kind == T_ORDER || at[1].kind == T_MATCH) {
		if (negated)
			fail_at(p, &at[0], "write !(A == B), or A != B",
				"! negates a column, not a comparison");
		t.orders = at[1].orders;
		read_token(p);
		at[2] = p->now;
		const bool ok = !p->m->status;
		read_operand(p, &t.b);
		if (ok && p->m->status && t.a.column && t.a.is >= IS_TEXT &&
		    isalnum((unsigned char)*at[2].at))
			p->m->next = "quote texts, as in 'COMMAND == \"vllm\"'";
		if (!p->m->status && at[1].kind == T_ORDER)
			choose_test(p, &t, at);
		else if (!p->m->status)
			add_regex(p, &t, at);
	}
	add_step(p, STEP_TEST, f->ntests);
	*ARRAY_ADD(f->tests, f->tests_cap, f->ntests) = t;
}

static void parse_terms(struct parser *p, enum token_kind between);

static void parse_not(struct parser *p, bool negated)
{
	const enum token_kind kind = p->now.kind;
	if (kind != T_NOT && kind != T_OPEN) {
		parse_test(p, negated);
		return;
	}
	if (++p->depth > FILTER_DEPTH_MAX) {
		fail_at(p, &p->now, NULL, "more than %d levels of parentheses and !",
			FILTER_DEPTH_MAX);
		return;
	}
	read_token(p);
	if (kind == T_NOT) {
		parse_not(p, true);
		add_step(p, STEP_NOT, 0);
	} else {
		parse_terms(p, T_OR);
		if (!p->m->status && p->now.kind != T_CLOSE)
			fail_unexpected(p, "an operator or )");
		if (!p->m->status)
			read_token(p);
		if (p->now.kind == T_ORDER || p->now.kind == T_MATCH)
			fail_at(p, &p->now, GRAMMAR,
				"columns and values are compared, not what parentheses hold");
	}
	p->depth--;
}

// Parses terms joined by `between`, || or &&. The first term that decides the result jumps behind
// the last one; until then step.to links the jumps.
static void parse_terms(struct parser *p, enum token_kind between)
{
	const bool any = between == T_OR;
	struct filter *f = p->f;
	size_t jump = SIZE_MAX;
	for (;;) {
		any ? parse_terms(p, T_AND) : parse_not(p, false);
		if (p->m->status || p->now.kind != between)
			break;
		read_token(p);
		add_step(p, any ? STEP_IF_TRUE : STEP_IF_FALSE, jump);
		jump = f->nsteps - 1;
	}
	for (size_t before; jump != SIZE_MAX; jump = before) {
		before = f->steps[jump].to;
		f->steps[jump].to = f->nsteps;
	}
}

bool filter_parse(struct filter *f, const char *text, struct out_mistake *m)
{
	struct parser p = {.f = f, .text = text, .m = m};
	p.now.at = text;
	if (strlen(text) > FILTER_LENGTH_MAX) {
		*m = (struct out_mistake){.status = GPQ_USAGE};
		snprintf(m->text, sizeof(m->text), "the expression is longer than %d bytes",
			 FILTER_LENGTH_MAX);
		return false;
	}
	read_token(&p);
	parse_terms(&p, T_OR);
	if (!m->status && p.now.kind != T_END)
		fail_unexpected(&p, "an operator");
	return !m->status;
}
