// Regular expressions over blocks of lines; see grep.h, pcre2api(3) and pcre2jit(3).
#define PCRE2_CODE_UNIT_WIDTH 8
#include "common/cli/grep.h"

#include "common/cli/err.h"
#include "common/cli/opts.h"
#include "common/host/dlopen.h"

#include <pcre2.h>

#define PCRE "libpcre2-8.so.0"

// A usual expression takes some thousand steps on a line of 100 to 4000 bytes. One that takes
// exponentially many steps is given up after some ten milliseconds.
#define STEPS_MAX   1000000
#define STACK_FIRST ((size_t)32 * 1024)
#define STACK_MAX   ((size_t)512 * 1024)

#define PCRE_FUNCTIONS(X)               \
	X(pcre2_code_free)              \
	X(pcre2_compile)                \
	X(pcre2_compile_context_create) \
	X(pcre2_compile_context_free)   \
	X(pcre2_config)                 \
	X(pcre2_get_error_message)      \
	X(pcre2_get_ovector_pointer)    \
	X(pcre2_jit_compile)            \
	X(pcre2_jit_stack_assign)       \
	X(pcre2_jit_stack_create)       \
	X(pcre2_jit_stack_free)         \
	X(pcre2_match)                  \
	X(pcre2_match_context_create)   \
	X(pcre2_match_context_free)     \
	X(pcre2_match_data_create)      \
	X(pcre2_match_data_free)        \
	X(pcre2_pattern_info)           \
	X(pcre2_set_match_limit)        \
	X(pcre2_set_newline)

LIB(pcre, PCRE, PCRE_FUNCTIONS, RECOMMENDED, "pcre2", "Regular expressions");

struct expression {
	enum grep_side side;
	const char *option;
	char *pattern;
	pcre2_code *line;  // compiled for one line
	pcre2_code *block; // compiled for a block of lines; NULL: cannot be
};

struct grep {
	const struct pcre *lib;
	char first;
	bool texts; // made by regex_init(): for texts, not lines, with PCRE2's own limits
	unsigned n;
	unsigned wanted; // number of expressions of GREP_WANT
	struct expression *v;
};

struct grepper {
	const struct grep *g;
	pcre2_match_data *found;
	pcre2_match_context *limits;
	pcre2_jit_stack *stack;
	int error; // PCRE2's error when grepper_text() gave up; 0: none
	unsigned by;
	bool by_line[]; // per expression: match line by line, as blocks take too many steps
};

struct grep *grep_new(char first)
{
	struct grep *g = xcalloc(1, sizeof(*g));
	g->first = first;
	return g;
}

void grep_free(struct grep *g)
{
	for (unsigned i = 0; g && i < g->n; i++) {
		g->lib->pcre2_code_free(g->v[i].line);
		g->lib->pcre2_code_free(g->v[i].block);
		free(g->v[i].pattern);
	}
	if (g)
		free(g->v);
	free(g);
}

// Loads PCRE2, which `option` needs. Returns NULL after a message if it cannot be loaded.
static const struct pcre *load_pcre(const char *option)
{
	const struct pcre *lib = pcre_get();
	if (!lib && errno != ENOPKG)
		err_sys(errno, NULL, "%s: " PCRE, option);
	else if (!lib)
		err_fail(GPQ_UNSUPPORTED, "install libpcre2-8-0, or leave it out",
			 "%s: " PCRE " is missing", option);
	return lib;
}

// Does compiled code find what the interpreter finds? The compiler of PCRE2 10.39 (Ubuntu 22.04)
// misses matches of \S?(a|b){2}\D+a(?>a*)? (tests/unit/test_grep.c); that of 10.42 does not.
static bool jit_is_sound(const struct pcre *lib)
{
	char version[64]; // 24 bytes suffice: pcre2_config(3)
	return lib->pcre2_config(PCRE2_CONFIG_VERSION, version) > 0 &&
	       strverscmp(version, "10.42") >= 0;
}

// Compiles `pattern`. Returns NULL if it is no regular expression, after a message unless `option`
// is NULL.
static pcre2_code *compile_expression(const struct pcre *lib, const char *option,
				      const char *pattern, uint32_t options)
{
	pcre2_compile_context *context = xcheck(lib->pcre2_compile_context_create(NULL));
	pcre2_code *code;
	PCRE2_UCHAR why[128];
	size_t at;
	int error;
	lib->pcre2_set_newline(context, PCRE2_NEWLINE_LF);
	code = lib->pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED, options, &error, &at,
				  context);
	lib->pcre2_compile_context_free(context);
	if (code) {
		if (jit_is_sound(lib))
			lib->pcre2_jit_compile(code, PCRE2_JIT_COMPLETE); // may fail: only slower
	} else if (option) {
		lib->pcre2_get_error_message(error, why, sizeof(why));
		err_fail(GPQ_USAGE, "see pcre2pattern(3)", "%s: %s: %s at character %zu", option,
			 pattern, (const char *)why, at);
	}
	return code;
}

static int add_expression(struct grep *g, enum grep_side side, const char *option,
			  const char *pattern)
{
	const uint32_t options =
		g->texts ? 0 : PCRE2_MULTILINE | PCRE2_NEVER_UTF | PCRE2_NEVER_BACKSLASH_C;
	SCOPED(buf_fini) struct buf within = {0};
	struct expression *e;
	g->v = xreallocarray(g->v, g->n + 1, sizeof(*g->v));
	e = &g->v[g->n++];
	*e = (struct expression){side, option, xstrdup(pattern), NULL, NULL};
	e->line = compile_expression(g->lib, option, pattern, options);
	if (!e->line)
		return GPQ_USAGE;
	if (!g->texts && grep_within_lines(&within, pattern))
		e->block =
			compile_expression(g->lib, NULL, within.data ? within.data : "", options);
	g->wanted += side == GREP_WANT;
	return GPQ_OK;
}

int grep_add(struct grep *g, enum grep_side side, const char *option, const struct words *patterns)
{
	int status = GPQ_OK;
	if (patterns->n && !g->lib && !(g->lib = load_pcre(option)))
		return GPQ_UNSUPPORTED;
	for (size_t i = 0; i < patterns->n && !status; i++)
		status = add_expression(g, side, option, patterns->v[i]);
	return status;
}

struct grepper *grepper_new(const struct grep *g)
{
	struct grepper *w = xcalloc(1, sizeof(*w) + g->n);
	w->g = g;
	w->found = xcheck(g->lib->pcre2_match_data_create(3, NULL));
	w->limits = xcheck(g->lib->pcre2_match_context_create(NULL));
	if (g->texts)
		return w;
	w->stack = g->lib->pcre2_jit_stack_create(STACK_FIRST, STACK_MAX, NULL);
	g->lib->pcre2_set_match_limit(w->limits, STEPS_MAX);
	if (w->stack) // NULL where PCRE2 has no JIT compiler
		g->lib->pcre2_jit_stack_assign(w->limits, NULL, w->stack);
	return w;
}

void grepper_free(struct grepper *w)
{
	if (!w)
		return;
	w->g->lib->pcre2_match_data_free(w->found);
	w->g->lib->pcre2_match_context_free(w->limits);
	w->g->lib->pcre2_jit_stack_free(w->stack);
	free(w);
}

// Returns 1 if the text matches, 0 if not, or PCRE2's negative error if it gave up.
static int match_expression(const struct grepper *w, const pcre2_code *code, const char *text,
			    size_t len, size_t from)
{
	int n = w->g->lib->pcre2_match(code, (PCRE2_SPTR)text, len, from, 0, w->found, w->limits);
	return n >= 0 ? 1 : n == PCRE2_ERROR_NOMATCH ? 0 : n;
}

bool grepper_text(struct grepper *w, const char *text, size_t len)
{
	bool wanted = !w->g->wanted;
	for (unsigned i = 0; i < w->g->n; i++) {
		const struct expression *e = &w->g->v[i];
		int n = wanted && e->side == GREP_WANT ? 0
						       : match_expression(w, e->line, text, len, 0);
		if (n < 0 && !w->error) {
			w->error = n;
			w->by = i;
		}
		if ((n < 0 && !w->g->texts) || (n && e->side == GREP_DROP))
			return false;
		wanted |= n > 0;
	}
	return wanted;
}

static void set_add_line(struct grep_set *s, uint32_t at)
{
	ARRAY_GROW(s->v, s->cap, s->n);
	s->v[s->n] = at;
	s->n += at != UINT32_MAX;
}

struct area {
	const char *text;
	size_t len;
};

// Finds matching lines, beginning with the line at `*at`. If PCRE2 gives up, the result is negative
// and `*at` is the first line that was not searched.
static int find_in_block(const struct grepper *w, const struct expression *e, struct area a,
			 size_t *at, struct grep_hits *h)
{
	const PCRE2_SIZE *found = w->g->lib->pcre2_get_ovector_pointer(w->found);
	int n = 0;
	while (*at < a.len && (n = match_expression(w, e->block, a.text, a.len, *at)) > 0) {
		const char *from = a.text + *at, *hit = a.text + found[0];
		const char *newline = memrchr(from, '\n', (size_t)(hit - from));
		size_t line = newline ? (size_t)(newline + 1 - a.text) : *at;
		if (found[0] == a.len) // the match is behind the last line
			return 0;
		if (!w->g->first || a.text[line] == w->g->first)
			set_add_line(&h->sets[e->side], (uint32_t)line);
		newline = memchr(hit, '\n', a.len - found[0]);
		*at = (size_t)(newline + 1 - a.text);
	}
	return n;
}

// Finds matching lines by trying each line that begins with grep.first. Returns 0, or PCRE2's
// negative error if it gave up.
static int find_by_line(const struct grepper *w, const struct expression *e, struct area a,
			size_t at, struct grep_hits *h)
{
	for (size_t end; at < a.len; at = end + 1) {
		size_t len;
		int n;
		end = (size_t)((const char *)memchr(a.text + at, '\n', a.len - at) - a.text);
		len = end - at;
		len -= len && a.text[end - 1] == '\r';
		if (w->g->first && a.text[at] != w->g->first)
			continue;
		n = match_expression(w, e->line, a.text + at, len, 0);
		if (n < 0)
			return n;
		if (n)
			set_add_line(&h->sets[e->side], (uint32_t)at);
	}
	return 0;
}

static bool has_crlf(struct area a)
{
	const char *p = a.text, *end = p + a.len;
	while ((p = memchr(p, '\r', (size_t)(end - p)))) {
		if (*++p == '\n') // readable, as the text ends with a newline
			return true;
	}
	return false;
}

COMPARE_VALUES(by_line_start, uint32_t)

// Sorts the hits of several expressions and drops duplicates.
static void set_tidy(struct grep_set *s, bool several)
{
	uint32_t n = 0;
	if (several && s->n) {
		qsort(s->v, s->n, sizeof(*s->v), by_line_start);
		for (uint32_t i = 1; i < s->n; i++) {
			if (s->v[i] != s->v[n])
				s->v[++n] = s->v[i];
		}
		s->n = n + 1;
	}
	set_add_line(s, UINT32_MAX);
}

void grepper_lines(struct grepper *w, const char *text, size_t len, struct grep_hits *h)
{
	const struct area a = {text, len};
	bool crlf = has_crlf(a);
	h->all = !w->g->wanted;
	h->error = 0;
	h->sets[GREP_WANT].n = h->sets[GREP_DROP].n = 0;
	for (unsigned i = 0; i < w->g->n && !h->error; i++) {
		const struct expression *e = &w->g->v[i];
		size_t at = 0;
		int n = 0;
		if (e->block && !crlf && !w->by_line[i]) {
			n = find_in_block(w, e, a, &at, h);
			w->by_line[i] = n < 0;
		} else {
			n = -1;
		}
		if (n < 0 && (n = find_by_line(w, e, a, at, h)) < 0)
			h->error = n;
		h->by = i;
	}
	for (unsigned i = 0; i < GREP_SIDES; i++)
		set_tidy(&h->sets[i], w->g->n > 1);
}

static bool set_has(const struct grep_set *s, uint32_t at)
{
	return s->n && bsearch(&at, s->v, s->n, sizeof(at), by_line_start);
}

bool grep_hits_has(const struct grep_hits *h, uint32_t at)
{
	return (h->all || set_has(&h->sets[GREP_WANT], at)) && !set_has(&h->sets[GREP_DROP], at);
}

void grep_hits_fini(struct grep_hits *h)
{
	for (unsigned i = 0; i < GREP_SIDES; i++)
		free(h->sets[i].v);
	*h = (struct grep_hits){0};
}

static int report_giving_up(const struct grep *g, int error, unsigned by)
{
	const struct expression *e = &g->v[by];
	PCRE2_UCHAR why[128];
	if (!error)
		return GPQ_OK;
	g->lib->pcre2_get_error_message(error, why, sizeof(why));
	return err_fail(GPQ_FAILED, "use a simpler expression", "%s: %s: %s on a record", e->option,
			e->pattern, (const char *)why);
}

int grepper_check(const struct grepper *w)
{
	return report_giving_up(w->g, w->error, w->by);
}

int grep_hits_check(const struct grep *g, const struct grep_hits *h)
{
	return report_giving_up(g, h->error, h->by);
}

// --- matching one text at a time ---

int regex_init(struct regex *r, const char *option, const struct words *patterns)
{
	*r = (struct regex){.grep = grep_new(0), .option = option, .what = "names"};
	r->grep->texts = true;
	int status = grep_add(r->grep, GREP_WANT, option, patterns);
	if (!status)
		r->grepper = grepper_new(r->grep);
	return status;
}

int regex_init_line(struct regex *r, const char *option, const char *pattern, unsigned groups)
{
	char *only = (char *)(uintptr_t)pattern;
	uint32_t has = 0;
	*r = (struct regex){0};
	int status = pattern ? regex_init(r, option, &(struct words){&only, 1}) : GPQ_OK;
	if (!pattern || status)
		return status;
	r->what = "lines";
	r->grep->lib->pcre2_pattern_info(r->grep->v[0].line, PCRE2_INFO_CAPTURECOUNT, &has);
	return has >= groups
		       ? GPQ_OK
		       : err_fail(GPQ_USAGE, NULL, "%s: %s has no group ( ) around the number",
				  option, pattern);
}

void regex_fini(struct regex *r)
{
	grepper_free(r->grepper);
	grep_free(r->grep);
	*r = (struct regex){0};
}

bool regex_matches(struct regex *r, const char *text, size_t len)
{
	return grepper_text(r->grepper, text, len);
}

const char *regex_group(struct regex *r, const char *text, size_t len, const char **second)
{
	PCRE2_SIZE *found = r->grep->lib->pcre2_get_ovector_pointer(r->grepper->found);
	*second = NULL;
	found[4] = PCRE2_UNSET; // PCRE2 leaves it as it is where the expression has one group
	if (!regex_matches(r, text, len))
		return NULL;
	*second = found[4] == PCRE2_UNSET ? NULL : text + found[4];
	return found[2] == PCRE2_UNSET ? NULL : text + found[2];
}

int regex_check(const struct regex *r, int status)
{
	PCRE2_UCHAR why[128];
	if (!r->grepper || !r->grepper->error)
		return status;
	r->grep->lib->pcre2_get_error_message(r->grepper->error, why, sizeof(why));
	return err_fail(GPQ_PARTIAL, "use a simpler expression",
			"%s: some %s could not be matched: %s", r->option, r->what,
			(const char *)why);
}
