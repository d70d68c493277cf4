// Rules about options; rules.h.
#include "common/cli/rules.h"

#include "common/cli/err.h"

#include <assert.h>

// An option, and the addresses of its value and its default.
struct place {
	const struct opt *o; // NULL: not found
	const void *member, *default_member;
};

static struct place find_place(const struct opt_set *sets, const char *name, size_t len)
{
	static const uint64_t zero;
	for (; sets->table; sets++) {
		for (const struct opt *o = sets->base ? sets->table : &(struct opt){0}; o->name;
		     o++)
			if (*o->name == *name && strncmp(o->name, name, len) == 0 && !o->name[len])
				return (struct place){
					o, (const char *)sets->base + o->offset,
					sets->defaults ? (const char *)sets->defaults + o->offset
						       : (const void *)&zero};
	}
	return (struct place){0};
}

static bool is_given(const struct place *p)
{
	switch (p->o->kind) {
	case OPT_FLAG: return *(const bool *)p->member;
	case OPT_COUNT: return *(const int *)p->member != 0;
	case OPT_STR:
	case OPT_EXPR: return *(const char *const *)p->member != NULL;
	case OPT_WORDS:
	case OPT_LIST: return ((const struct words *)p->member)->n > 0;
	case OPT_PIDS: return ((const struct pids *)p->member)->given;
	case OPT_U64:
	case OPT_NS:
	case OPT_SEC: return *(const uint64_t *)p->member != *(const uint64_t *)p->default_member;
	case OPT_CHOICE: return *(const int *)p->member != *(const int *)p->default_member;
	}
	return false;
}

static bool has_value(const struct place *p, const char *value, size_t len)
{
	const char *text = p->o->kind == OPT_CHOICE ? opt_word(p->o, *(const unsigned *)p->member)
						    : *(const char *const *)p->member;
	return strlen(text) == len && memcmp(text, value, len) == 0;
}

// How many options of a list are given, and the first two of them.
struct matches {
	unsigned n;
	struct place first[2];
};

static struct matches match_names(const char *names, const struct opt_set *sets, int operands)
{
	struct matches m = {0};
	for (size_t len; names && *names; names += len + (names[len] == ' ')) {
		const size_t name = strcspn(names, " =");
		len = strcspn(names, " ");
		if (*names >= 'A' && *names <= 'Z') {
			m.n += operands > 0;
			continue;
		}
		struct place p = find_place(sets, names, name);
		assert(p.o); // a rule may only name options of its command
		if (!is_given(&p) ||
		    (name < len && !has_value(&p, names + name + 1, len - name - 1)))
			continue;
		if (m.n < 2)
			m.first[m.n] = p;
		m.n++;
	}
	return m;
}

// Writes a rule's message, with the options and the number that broke the rule for %1, %2 and %v.
static void put_message(struct buf *b, const char *text, const struct place of[2])
{
	for (const char *mark; *text; text = mark + 2) {
		mark = strchr(text, '%');
		if (!mark) {
			buf_puts(b, text);
			return;
		}
		buf_append(b, text, (size_t)(mark - text));
		if (mark[1] == 'v')
			buf_u64(b, *(const uint64_t *)of[0].member);
		else
			buf_puts(b, of[mark[1] == '2'].o->name);
	}
}

static bool is_broken(const struct opt_rule *r, const struct opt_set *sets, int operands,
		      struct place of[2])
{
	const struct matches given = match_names(r->texts, sets, operands);
	if (given.n < (r->several ? 2 : 1))
		return false;
	const char *others = text_part(r->texts, RULE_WITH);
	const struct matches with = match_names(others, sets, operands);
	of[0] = given.first[0];
	of[1] = *others ? with.first[0] : given.first[1];
	if ((*others && !with.n) ||
	    match_names(text_part(r->texts, RULE_WITHOUT), sets, operands).n)
		return false;
	if (!r->least && !r->most)
		return true;
	const uint64_t number = *(const uint64_t *)of[0].member;
	return number < r->least || number > r->most;
}

int opts_check(const struct opt_rule *rules, const struct opt_set *sets, int operands)
{
	struct place of[2];
	for (; rules && rules->texts; rules++) {
		if (!is_broken(rules, sets, operands, of))
			continue;
		struct buf b = {0};
		const char *advice = text_part(rules->texts, RULE_ADVICE);
		const char *message = text_part(rules->texts, RULE_MESSAGE);
		put_message(&b, *message ? message : "--%1 and --%2 exclude each other", of);
		int status = err_fail(GPQ_USAGE, *advice ? advice : NULL, "%s", b.data);
		buf_fini(&b);
		return status;
	}
	return GPQ_OK;
}

bool opts_given(const char *names, const struct opt_set *sets, int operands)
{
	return match_names(names, sets, operands).n > 0;
}
