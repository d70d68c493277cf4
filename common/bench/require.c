// Parsing and judging of requirements; require.h.
#include "common/bench/require.h"

#include "common/cli/err.h"
#include "common/cli/text.h"
#include "common/host/xalloc.h"
#include "common/stats/maths.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum subject_value { OF_METRIC, OF_RATES, OF_ONLINE, OF_VERDICT };
enum { LOSS, HELD, EFFECT, SLOWDOWN };

#define METRIC(name, value, help) {#name, REQUIRE_PREEMPT, OF_METRIC, METRIC_##name},
static const struct subject {
	const char *name;
	enum require_kind kind; // the metrics suspend and resume are of both, see kinds_of()
	enum subject_value value;
	unsigned which;
} subjects[] = {
	RESULT_METRICS(METRIC){"loss", REQUIRE_PREEMPT, OF_RATES, LOSS},
	{"held", REQUIRE_PREEMPT, OF_RATES, HELD},
	{"effect", REQUIRE_PREEMPT, OF_RATES, EFFECT},
	{"online", REQUIRE_AB, OF_ONLINE, 0},
	{"online slowdown", REQUIRE_AB, OF_VERDICT, SLOWDOWN},
	{"offline loss", REQUIRE_AB, OF_VERDICT, LOSS},
	{"offline held", REQUIRE_AB, OF_VERDICT, HELD},
	{"offline effect", REQUIRE_AB, OF_VERDICT, EFFECT},
};
#undef METRIC

static const struct {
	const char *name;
	double p;
} statistics[] = {{"min", 0},    {"p50", 0.5}, {"median", 0.5},  {"p90", 0.9}, {"p95", 0.95},
		  {"p99", 0.99}, {"max", 1},   {"p99.9", 0.999}, {"mean", -1}};

static bool is_share(const struct subject *s)
{
	return s->value == OF_RATES || s->value == OF_VERDICT;
}

static unsigned kinds_of(const struct subject *s)
{
	bool both =
		s->value == OF_METRIC && (s->which == METRIC_suspend || s->which == METRIC_resume);
	return both ? REQUIRE_PREEMPT | REQUIRE_AB : s->kind;
}

// The left side, word by word: a mode and a statistic are taken out, the rest is the subject.
struct left {
	char subject[64];
	bool has_mode, has_p;
};

static bool take_word(struct requirement *r, struct left *l, const char *word)
{
	for (unsigned m = 0; m < AB_MODES; m++)
		if (strcmp(word, ab_mode_name[m]) == 0 && !l->has_mode) {
			r->mode = (enum ab_mode)m;
			return l->has_mode = true;
		}
	for (size_t i = 0; i < COUNT(statistics) && !l->has_p; i++)
		if (strcmp(word, statistics[i].name) == 0) {
			r->p = statistics[i].p;
			return l->has_p = true;
		}
	size_t len = strlen(l->subject);
	snprintf(l->subject + len, sizeof(l->subject) - len, "%s%s", len ? " " : "", word);
	return true;
}

static bool read_limit(const char *text, bool share, double *limit)
{
	char *end;
	uint64_t ns;
	if (!share) {
		bool ok = parse_duration(text, &ns);
		*limit = ok ? (double)ns : 0;
		return ok;
	}
	*limit = strtod(text, &end) / 100;
	return end != text && strcmp(end, "%") == 0 && *limit >= 0 && *limit <= 1000;
}

// False: `why` says what is wrong.
static bool read_one(struct requirement *r, char *left, const char *right, unsigned kinds,
		     const char **why)
{
	struct left l = {0};
	for (char *word; (word = strsep(&left, " \t"));)
		if (*word) {
			size_t len = strlen(r->name);
			snprintf(r->name + len, sizeof(r->name) - len, "%s%s", len ? " " : "",
				 word);
			take_word(r, &l, word);
		}
	while (r->subject < COUNT(subjects) && (strcmp(subjects[r->subject].name, l.subject) != 0 ||
						!(kinds_of(&subjects[r->subject]) & kinds)))
		r->subject++;
	const struct subject *s = &subjects[r->subject < COUNT(subjects) ? r->subject : 0];
	*why = r->subject == COUNT(subjects) ? "nothing of that name is measured"
	       : l.has_mode && s->kind != REQUIRE_AB
		       ? "a mode belongs to online and offline work of bench ab"
	       : l.has_p == is_share(s) ? l.has_p ? "a share has no statistic"
						  : "a time needs a statistic, such as p99"
	       : !read_limit(right, is_share(s), &r->limit)
		       ? is_share(s) ? "the limit of a share is in per cent, such as 20%"
				     : "the limit of a time is a duration, such as 50ms"
		       : NULL;
	return !*why;
}

int require_parse(struct requirements *r, const struct words *w, unsigned kinds)
{
	int status = GPQ_OK;
	r->v = xcalloc(w->n + 1, sizeof(*r->v));
	for (r->n = 0; r->n < w->n && !status; r->n++) {
		struct requirement *q = &r->v[r->n];
		const char *why = "there is no <";
		char *text = xstrdup(w->v[r->n]), *sign = strchr(text, '<');
		*q = (struct requirement){.text = w->v[r->n], .mode = AB_PREEMPT};
		q->or_equal = sign && sign[1] == '=';
		const char *right = sign ? sign + 1 + q->or_equal : "";
		right += strspn(right, " \t");
		if (sign)
			*sign = '\0';
		if (!sign || !read_one(q, text, right, kinds, &why))
			status = err_fail(GPQ_USAGE,
					  kinds & REQUIRE_AB ? "for example 'online p99 < 50ms'"
							     : "for example 'suspend p99 < 10ms'",
					  "--require %s: %s", q->text, why);
		free(text);
	}
	return status;
}

void require_fini(struct requirements *r)
{
	free(r->v);
	*r = (struct requirements){0};
}

bool require_is_of(const struct requirement *r, bool ab)
{
	return kinds_of(&subjects[r->subject]) & (ab ? REQUIRE_AB : REQUIRE_PREEMPT);
}

bool require_applies(const struct requirement *r, const struct result *of, unsigned i)
{
	const struct subject *s = &subjects[r->subject];
	bool others = false;
	for (unsigned k = 0; s->value == OF_METRIC && k < of->n; k++)
		others |= of->of[k]->metric[s->which].n > 0;
	return !others || of->of[i]->metric[s->which].n;
}

static double share_of(const struct requirement *r, struct result_setting *s, struct ab_result *a)
{
	double loss, held;
	if (s) {
		struct result_rates v = result_rates(s);
		loss = v.loss;
		held = v.held_share;
	} else {
		struct ab_verdict v = ab_judge(a, r->mode);
		if (subjects[r->subject].which == SLOWDOWN)
			return v.ratio - 1;
		loss = v.loss;
		held = v.held;
	}
	const double of[] = {[LOSS] = loss, [HELD] = held, [EFFECT] = loss - held};
	return of[subjects[r->subject].which];
}

static double time_of(const struct requirement *r, struct result_setting *s, struct ab_result *a)
{
	const struct subject *of = &subjects[r->subject];
	struct samples *v = s                             ? &s->metric[of->which]
			    : of->value == OF_ONLINE      ? &a->mode[r->mode].latency
			    : of->which == METRIC_suspend ? &a->mode[r->mode].suspend
							  : &a->mode[r->mode].resume;
	return r->p < 0 ? samples_mean(v) : samples_percentile(v, r->p);
}

static bool went_well(const struct result_setting *s)
{
	return !s->count[CYCLE_MOVED] && !s->count[CYCLE_PARTLY] && !s->count[CYCLE_FAILED] &&
	       !s->count[CYCLE_STUCK];
}

struct result_verdict require_judge(const struct requirement *r, struct result_setting *s,
				    struct ab_result *a)
{
	bool share = is_share(&subjects[r->subject]);
	double v = share ? share_of(r, s, a) : time_of(r, s, a);
	bool met = v < r->limit || (r->or_equal && !(v > r->limit));
	return result_verdict(r->name, share, v, r->limit, met && (share || !s || went_well(s)));
}

const char *require_text(char text[32], bool share, double v)
{
	if (isnan(v))
		return "-";
	snprintf(text, 32, share ? "%.2f%%" : "%.3fms", share ? 100 * v : v / 1e6);
	return text;
}
