// Parsing and judging of limits; require.h.
#include "common/bench/require.h"

#include "common/cli/err.h"
#include "common/cli/text.h"
#include "common/host/maths.h"
#include "common/host/number.h"
#include "common/stats/infer.h"

enum subject_value { OF_METRIC, OF_RATES, OF_ONLINE, OF_SLOWDOWN, OF_VERDICT };

#define METRIC(name, value, help) {#name, REQUIRE_PREEMPT, OF_METRIC, METRIC_##name, false},
static const struct subject {
	const char *name;
	enum require_kind kind; // kind of run; kinds_of() knows subjects of both kinds
	enum subject_value value;
	size_t which;   // enum result_metric, or offset of the share in its struct
	bool no_credit; // a loss: below 0 is not possible
} subjects[] = {
	RESULT_METRICS(METRIC){"loss", REQUIRE_PREEMPT, OF_RATES,
			       offsetof(struct result_rates, loss), true},
	{"held", REQUIRE_PREEMPT, OF_RATES, offsetof(struct result_rates, held_share), false},
	{"effect", REQUIRE_PREEMPT, OF_RATES, offsetof(struct result_rates, effect), true},
	{"online", REQUIRE_AB, OF_ONLINE, 0, false},
	{"online slowdown", REQUIRE_AB, OF_SLOWDOWN, 0, false},
	{"offline loss", REQUIRE_AB, OF_VERDICT, offsetof(struct ab_verdict, loss), true},
	{"offline held", REQUIRE_AB, OF_VERDICT, offsetof(struct ab_verdict, held), false},
	{"offline effect", REQUIRE_AB, OF_VERDICT, offsetof(struct ab_verdict, effect), true},
};
#undef METRIC

static const struct {
	const char *name;
	double p;
} statistics[] = {{"min", 0},    {"p50", 0.5}, {"median", 0.5},  {"p90", 0.9}, {"p95", 0.95},
		  {"p99", 0.99}, {"max", 1},   {"p99.9", 0.999}, {"mean", -1}};

static bool is_share(const struct subject *s)
{
	return s->value != OF_METRIC && s->value != OF_ONLINE;
}

static unsigned kinds_of(const struct subject *s)
{
	bool both =
		s->value == OF_METRIC && (s->which == METRIC_suspend || s->which == METRIC_resume);
	return both ? REQUIRE_PREEMPT | REQUIRE_AB : s->kind;
}

// The left side of a limit: the subject is all its words but a mode and a statistic.
struct left {
	char subject[64];
	bool has_mode, has_p;
};

// Appends a word and, before it, a blank.
static void append_word(char text[64], const char *word)
{
	size_t len = strlen(text);
	snprintf(text + len, 64 - len, "%s%s", len ? " " : "", word);
}

static void take_limit_word(struct requirement *r, struct left *l, const char *word)
{
	append_word(r->name, word);
	for (unsigned m = 0; m < AB_MODES && !l->has_mode; m++)
		if (strcmp(word, ab_mode_name[m]) == 0) {
			r->mode = (enum ab_mode)m;
			l->has_mode = true;
			return;
		}
	for (size_t i = 0; i < COUNT(statistics) && !l->has_p; i++)
		if (strcmp(word, statistics[i].name) == 0) {
			r->p = statistics[i].p;
			l->has_p = true;
			return;
		}
	append_word(l->subject, word);
}

// Returns the index of the subject `name` that runs of one of `kinds` have; COUNT(subjects): none.
static unsigned find_subject(const char *name, unsigned kinds)
{
	unsigned i = 0;
	while (i < COUNT(subjects) &&
	       (strcmp(subjects[i].name, name) != 0 || !(kinds_of(&subjects[i]) & kinds)))
		i++;
	return i;
}

// Returns what is wrong with the left side of a limit for the subject `s`, or NULL.
static const char *left_fault(const struct subject *s, const struct left *l, double p)
{
	if (l->has_mode && s->kind != REQUIRE_AB)
		return "a mode belongs to online and offline work of bench ab";
	if (s->value == OF_SLOWDOWN)
		return p > 0 && p < 1 ? NULL : "a slowdown is of a percentile, such as p99";
	if (is_share(s))
		return l->has_p ? "a share has no statistic" : NULL;
	return l->has_p ? NULL : "a time needs a statistic, such as p99";
}

static const char *read_share_limit(const char *text, double *share)
{
	char *end;
	*share = strtod(text, &end) / 100;
	if (end != text && strcmp(end, "%") == 0 && *share >= 0 && *share <= 1000)
		return NULL;
	return "the limit of a share is in per cent, such as 20%";
}

// Refuses a number without a unit: other options take it as seconds, which are rarely meant here.
static const char *read_time_limit(const char *text, double *ns)
{
	uint64_t v;
	if (!*text || strchr("0123456789.", text[strlen(text) - 1]) || !parse_duration(text, &v))
		return "the limit of a time is a duration with its unit, such as 50ms";
	*ns = (double)v;
	return NULL;
}

// Reads both sides of a limit. Returns what is wrong, or NULL.
static const char *read_sides(struct requirement *r, char *left, const char *right, unsigned kinds)
{
	struct left l = {0};
	for (char *word; (word = strsep(&left, " \t"));)
		if (*word)
			take_limit_word(r, &l, word);
	r->subject = find_subject(l.subject, kinds);
	if (r->subject == COUNT(subjects))
		return "nothing of that name is measured";
	const struct subject *s = &subjects[r->subject];
	r->p = s->value == OF_SLOWDOWN && !l.has_p ? 0.5 : r->p;
	const char *fault = left_fault(s, &l, r->p);
	r->kinds = kinds_of(s) & kinds;
	return fault ? fault : (is_share(s) ? read_share_limit : read_time_limit)(right, &r->limit);
}

// Reads a limit, such as "online p99 < 50ms". Returns what is wrong, or NULL.
static const char *read_requirement(struct requirement *q, const char *text, unsigned kinds)
{
	char *left = xstrdup(text), *sign = strchr(left, '<');
	*q = (struct requirement){.mode = AB_PREEMPT};
	q->or_equal = sign && sign[1] == '=';
	const char *right = sign ? sign + 1 + q->or_equal : "";
	right += strspn(right, " \t");
	if (sign)
		*sign = '\0';
	const char *fault = sign ? read_sides(q, left, right, kinds) : "there is no <";
	free(left);
	return fault;
}

static const struct goal {
	const char *name, *limit, *words; // name in --goal, default limit, left side with its sign
	enum require_kind kind;
} goals[] = {{"suspend", "10ms", "suspend p99 <", REQUIRE_PREEMPT},
	     {"resume", "10ms", "resume p99 <", REQUIRE_PREEMPT},
	     {"effect", "5", "effect <", REQUIRE_PREEMPT},
	     {"online", "10", "online slowdown <=", REQUIRE_AB},
	     {"online", "10", "online p99 slowdown <=", REQUIRE_AB},
	     {"effect", "5", "offline effect <=", REQUIRE_AB}};

// Returns the limit in a word of --goal, "effect=3"; NULL if the word names another goal.
static const char *limit_in(const struct goal *g, const char *word)
{
	size_t n = strlen(g->name);
	return strncmp(word, g->name, n) == 0 && word[n] == '=' ? word + n + 1 : NULL;
}

static int add_goals(struct requirements *r, const struct words *w, unsigned kinds)
{
	const char *bad = NULL;
	for (size_t i = 0; i < w->n && !bad; i++) {
		bad = w->v[i];
		for (size_t k = 0; k < COUNT(goals); k++)
			bad = limit_in(&goals[k], w->v[i]) ? NULL : bad;
	}
	for (size_t k = 0; k < COUNT(goals) && !bad; k++) {
		const struct goal *g = &goals[k];
		const char *limit = g->limit, *word = NULL;
		for (size_t i = 0; i < w->n; i++) {
			word = limit_in(g, w->v[i]) ? w->v[i] : word;
			limit = word ? limit_in(g, word) : limit;
		}
		char text[96];
		const bool bare = !strchr(g->limit, 'm') && !strchr(limit, '%');
		snprintf(text, sizeof(text), "%s %.50s%s", g->words, limit, bare ? "%" : "");
		if (read_requirement(&r->v[r->n], text, g->kind))
			bad = word;
		r->n += (g->kind & kinds) != 0;
	}
	if (bad)
		return err_fail(
			GPQ_USAGE, "for example suspend=10ms,resume=10ms,effect=5%,online=10%",
			"--goal: %s is no limit of suspend, resume (times), effect or online "
			"(per cent)",
			bad);
	return GPQ_OK;
}

int require_parse(struct requirements *r, const struct words *wanted, const struct words *require,
		  unsigned kinds)
{
	r->v = xcalloc(COUNT(goals) + require->n, sizeof(*r->v));
	int status = add_goals(r, wanted, kinds);
	const size_t defaults = r->n;
	for (size_t i = 0; i < require->n && !status; i++) {
		struct requirement q, *same = NULL;
		const char *fault = read_requirement(&q, require->v[i], kinds);
		if (fault)
			return err_fail(GPQ_USAGE,
					kinds & REQUIRE_AB ? "for example 'online p99 < 50ms'"
							   : "for example 'suspend p99 < 10ms'",
					"--require %s: %s", require->v[i], fault);
		q.text = require->v[i];
		for (size_t k = 0; k < defaults && !same; k++) {
			struct requirement *g = &r->v[k];
			if (!g->text && g->subject == q.subject && g->mode == q.mode && g->p == q.p)
				same = g;
		}
		if (same)
			memcpy(q.name, same->name, sizeof(q.name));
		*(same ? same : &r->v[r->n++]) = q;
	}
	return status;
}

void require_fini(struct requirements *r)
{
	free(r->v);
	*r = (struct requirements){0};
}

double require_limit(const struct requirements *r, const char *name)
{
	for (size_t i = 0; i < r->n; i++)
		if (strcmp(r->v[i].name, name) == 0)
			return r->v[i].limit;
	return NAN;
}

static bool limit_applies(const struct requirement *q, const struct result *r, unsigned i)
{
	const struct subject *s = &subjects[q->subject];
	bool others = false;
	for (unsigned k = 0; s->value == OF_METRIC && k < r->n; k++)
		others |= r->of[k]->metric[s->which].n > 0;
	return !others || r->of[i]->metric[s->which].n;
}

// The share, without part number `without` of the measurement.
static double share_of(const struct requirement *r, const struct result_setting *s,
		       const struct ab_result *a, size_t without)
{
	struct result_rates rates;
	struct ab_verdict verdict;
	double share;
	if (s)
		rates = result_rates(s, without);
	else
		verdict = ab_judge(a, r->mode, without);
	memcpy(&share, (s ? (char *)&rates : (char *)&verdict) + subjects[r->subject].which,
	       sizeof(share));
	return share;
}

static struct samples *times_of(const struct requirement *r, struct result_setting *s,
				struct ab_result *a)
{
	const struct subject *of = &subjects[r->subject];
	return s                             ? &s->metric[of->which]
	       : of->value == OF_ONLINE      ? &a->mode[r->mode].latency
	       : of->which == METRIC_suspend ? &a->mode[r->mode].suspend
					     : &a->mode[r->mode].resume;
}

// Were all queues suspended and still? If not, a fast call is no success: some stayed on the GPU.
static bool went_well(const struct result_setting *s)
{
	return !s->count[CYCLE_MOVED] && !s->count[CYCLE_PARTLY] && !s->count[CYCLE_FAILED] &&
	       !s->count[CYCLE_STUCK];
}

static struct judged_figure figure(double v, bool share, bool most)
{
	const bool known = isfinite(v);
	struct judged_figure f = {"-", share || !known ? UINT64_MAX : bench_ns(v),
				  share && known ? 100 * v : NAN};
	if (known)
		snprintf(f.text, sizeof(f.text), share ? "%s%.2f%%" : "%s%.3fms",
			 most ? "max " : "", share ? 100 * v : v / 1e6);
	return f;
}

// A value, what bounds it, and what a verdict that it does not allow would need.
struct inference {
	double value;
	struct bounds b;
	uint64_t more; // 0: not known
	const char *of;
	bool most;  // the value is of the greatest sample, as there are too few for the percentile
	bool plain; // min, max: of these samples alone
};

static uint64_t samples_beyond(const struct samples *s, const struct requirement *r)
{
	uint64_t n = 0;
	for (size_t i = 0; i < s->n; i++)
		n += s->v[i] > r->limit || (!r->or_equal && s->v[i] == r->limit);
	return n;
}

static struct inference infer_time(const struct requirement *r, struct samples *v, double level)
{
	struct inference f = {.of = "sample"};
	f.value = r->p < 0 ? samples_mean(v) : samples_percentile(v, r->p);
	f.plain = r->p == 0 || r->p == 1;
	if (f.plain) {
		f.b = (struct bounds){f.value, f.value};
	} else if (r->p < 0) {
		f.b = stats_mean_bounds(v, level);
		f.more = stats_more(f.value, f.b, v->n, r->limit);
	} else {
		f.b = stats_percentile_bounds(v, r->p, level);
		f.more = stats_percentile_more(v->n, samples_beyond(v, r), r->p);
		f.most = !samples_carry(v->n, r->p);
	}
	return f;
}

static struct inference infer_slowdown(const struct requirement *r, struct ab_result *a,
				       double level)
{
	const struct ab_ratio x = ab_compare(a, r->mode, AB_ALONE, r->p, level);
	struct inference f = {x.ratio - 1, {x.b.low - 1, x.b.high - 1}, 0, "request", false, false};
	const size_t n = lesser(a->mode[r->mode].latency.n, a->mode[AB_ALONE].latency.n);
	f.most = !samples_carry(n, r->p);
	f.more = isfinite(f.b.low) && isfinite(f.b.high) ? stats_more(f.value, f.b, n, r->limit)
							 : stats_percentile_more(n, 0, r->p);
	return f;
}

static struct inference infer_share(const struct requirement *r, const struct result_setting *s,
				    const struct ab_result *a, double level)
{
	const size_t n = s ? result_parts(s) : ab_parts(a, r->mode);
	struct inference f = {.value = share_of(r, s, a, SIZE_MAX), .of = s ? "baseline" : "run"};
	SCOPED(free_at) double *without = xcalloc(n + 1, sizeof(*without));
	for (size_t i = 0; i < n && n > 1; i++)
		without[i] = share_of(r, s, a, i);
	f.b = stats_jackknife(f.value, without, n, level);
	f.more = stats_more(f.value, f.b, n, r->limit);
	return f;
}

// Of a loss, less than this is not possible: the program did more while it was held now and then.
#define CREDIT_MAX 0.01

static enum verdict verdict_of(const struct requirement *r, const struct inference *f)
{
	if (isnan(f->value) || (subjects[r->subject].no_credit && f->b.high < -CREDIT_MAX))
		return VERDICT_UNKNOWN;
	if (f->b.high < r->limit || (r->or_equal && f->b.high <= r->limit))
		return VERDICT_SHOWN;
	return f->b.low > r->limit || (!r->or_equal && f->b.low >= r->limit) ? VERDICT_REFUTED
									     : VERDICT_NOT_SHOWN;
}

// Says why the verdict is what it is, if that is not plain.
static void say_why(struct judged *j, const struct inference *f, bool spoiled)
{
	const bool few = !isfinite(f->b.low) || !isfinite(f->b.high);
	const char *what = isnan(f->value)                 ? "not measured"
			   : j->verdict == VERDICT_UNKNOWN ? "below 0: it did more between holds "
							     "than without any"
			   : spoiled                       ? "not all cycles were ok"
			   : f->plain                      ? "of these samples alone"
			   : j->verdict == VERDICT_SHOWN || j->verdict == VERDICT_REFUTED ? ""
			   : few ? "n too small"
				 : "the limit is between the bounds";
	const bool counted = j->verdict == VERDICT_NOT_SHOWN && f->more;
	snprintf(j->reason, sizeof(j->reason), "%s", what);
	j->more = counted ? f->more : UINT64_MAX;
	if (counted)
		snprintf(j->reason, sizeof(j->reason), "%s: %" PRIu64 " more %s%s", what, f->more,
			 f->of, text_s(f->more));
}

static struct judged judge_limit(const struct requirement *r, struct result_setting *s,
				 struct ab_result *a, double level)
{
#define VERDICT(name, word) word,
	static const char *const words[] = {VERDICTS(VERDICT)};
#undef VERDICT
	const struct subject *of = &subjects[r->subject];
	const bool share = is_share(of);
	struct judged j = {.of = r,
			   .name = r->name,
			   .setting = s ? s->name : NULL,
			   .required = r->text != NULL};
	const struct inference f = !share ? infer_time(r, times_of(r, s, a), level)
				   : a && of->value == OF_SLOWDOWN ? infer_slowdown(r, a, level)
								   : infer_share(r, s, a, level);
	const bool spoiled = !share && s && !isnan(f.value) && !went_well(s);
	j.value = f.value;
	j.shown = figure(f.value, share, f.most);
	j.limit = figure(r->limit, share, false);
	j.low = figure(f.plain ? NAN : f.b.low, share, false);
	j.high = figure(f.plain ? NAN : f.b.high, share, false);
	if (!f.plain && (isfinite(f.b.low) || isfinite(f.b.high)))
		snprintf(j.bounds, sizeof(j.bounds), "%s to %s", j.low.text, j.high.text);
	j.verdict = spoiled ? VERDICT_REFUTED : verdict_of(r, &f);
	j.result = words[j.verdict];
	say_why(&j, &f, spoiled);
	return j;
}

static size_t judge_run(const struct requirements *q, struct load_run *run, double level,
			struct judged **list)
{
	struct result *r = &run->result;
	struct judged *v = *list = xcalloc(q->n * (run->is_ab ? 1 : r->n) + 1, sizeof(*v));
	size_t n = 0;
	for (size_t k = 0; k < q->n; k++) {
		if (!(q->v[k].kinds & (run->is_ab ? REQUIRE_AB : REQUIRE_PREEMPT)))
			continue;
		if (run->is_ab)
			v[n++] = judge_limit(&q->v[k], NULL, &run->ab, level);
		for (unsigned i = 0; i < r->n && !run->is_ab; i++)
			if (limit_applies(&q->v[k], r, i))
				v[n++] = judge_limit(&q->v[k], r->of[i], NULL, level);
	}
	return n;
}

size_t require_judge(const struct requirements *q, struct load_run *run, struct judged **list)
{
	return judge_run(q, run, STATS_LEVEL, list);
}

bool require_decided(const struct requirements *q, struct load_run *run, uint64_t looks)
{
	struct judged *v;
	const size_t n = judge_run(q, run, 1 - LOOKS_ERROR / (double)looks, &v);
	bool required = false, all = n > 0;
	for (size_t i = 0; i < n; i++)
		required |= v[i].required != 0;
	for (size_t i = 0; i < n; i++)
		all &= (required && !v[i].required) || v[i].verdict == VERDICT_SHOWN ||
		       v[i].verdict == VERDICT_REFUTED;
	free(v);
	return all;
}
