// Option tables to getopt_long and back; see opts.h.
#include "common/cli/opts.h"

#include "common/cli/err.h"
#include "common/cli/input.h"
#include "common/cli/text.h"
#include "common/host/secure.h"

#include <getopt.h>

enum { OPTS_MAX = 128, LONG_BASE = 256 };

struct parser {
	const struct opt_set *sets;
	const struct opt *opt[OPTS_MAX];
	void *base[OPTS_MAX];
	struct option longs[OPTS_MAX + 1];
	char shorts[2 * OPTS_MAX + 4];
	unsigned n;
};

static void parser_add_set(struct parser *p, const struct opt_set *set)
{
	size_t s = strlen(p->shorts);
	for (const struct opt *o = set->table; o->name && p->n < OPTS_MAX; o++) {
		p->opt[p->n] = o;
		p->base[p->n] = set->base;
		p->longs[p->n] =
			(struct option){o->name, opt_arg(o) ? required_argument : no_argument, NULL,
					LONG_BASE + (int)p->n};
		p->n++;
		if (o->letter)
			p->shorts[s++] = o->letter;
		if (o->letter && opt_arg(o))
			p->shorts[s++] = ':';
	}
}

static int option_index(const struct parser *p, int c)
{
	if (c >= LONG_BASE)
		return c - LONG_BASE;
	for (unsigned i = 0; i < p->n; i++)
		if (p->opt[i]->letter == c)
			return (int)i;
	return -1;
}

// --- lists of words and of PIDs ---

void words_push(struct words *w, const char *word, size_t len)
{
	w->v = xreallocarray(w->v, w->n + 1, sizeof(*w->v));
	w->v[w->n++] = xstrndup(word, len);
}

void words_fini(struct words *w)
{
	for (size_t i = 0; i < w->n; i++)
		free(w->v[i]);
	free(w->v);
	*w = (struct words){0};
}

// Adds the comma-separated words of `text`. False: `text` has no word.
static bool words_add(struct words *w, const char *text)
{
	size_t before = w->n;
	while (*text) {
		size_t n = strcspn(text, ",");
		if (n)
			words_push(w, text, n);
		text += n + (text[n] == ',');
	}
	return w->n > before;
}

bool pids_has(const struct pids *p, pid_t pid)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->v[i] == pid)
			return true;
	return false;
}

void pids_push(struct pids *p, pid_t pid)
{
	if (pids_has(p, pid))
		return;
	p->v = xreallocarray(p->v, p->n + 1, sizeof(*p->v));
	p->v[p->n++] = pid;
}

bool pids_add(struct pids *p, const char *text, char bad[32])
{
	static const char sep[] = ", \t\r\n";
	for (text += strspn(text, sep); *text; text += strspn(text, sep)) {
		size_t n = strcspn(text, sep);
		uint64_t v = 0;
		snprintf(bad, 32, "%.*s", n < 31 ? (int)n : 31, text);
		if (n > 10 || !parse_u64(bad, &v) || v == 0 || v > INT32_MAX)
			return false;
		text += n;
		pids_push(p, (pid_t)v);
	}
	return true;
}

// --- arguments: functions return GPQ_OK, or GPQ_USAGE after a message ---

static int pids_option(struct pids *p, const struct opt *o, const char *arg)
{
	char bad[32] = "";
	SCOPED(buf_fini) struct buf in = {0};
	int status = GPQ_OK;
	p->given = true;
	bool from_stdin = strcmp(arg, "-") == 0;
	if (from_stdin && buf_read_fd(&in, input_stdin()) < 0)
		status = err_sys(errno, NULL, "--%s -: standard input", o->name);
	// NUL separates PIDs as well, as find -print0 and xargs -0 do.
	for (size_t i = 0; i < in.len; i++)
		if (!in.data[i])
			in.data[i] = '\n';
	if (!from_stdin && !*arg)
		snprintf(bad, sizeof(bad), "(nothing)");
	if (!status && (*bad || !pids_add(p, from_stdin ? (in.data ? in.data : "") : arg, bad)))
		status = err_fail(GPQ_USAGE,
				  "give process ids, or - to read them from standard input",
				  "--%s: %s is not a process id", o->name, bad);
	return status;
}

static int choice_option(int *value, const struct opt *o, const char *arg)
{
	SCOPED(buf_fini) struct buf all = {0};
	const char *word;
	for (unsigned i = 0; *(word = opt_word(o, i)); i++) {
		if (strcmp(word, arg) == 0) {
			*value = (int)i;
			return GPQ_OK;
		}
		buf_printf(&all, "%s%s", i ? ", " : "", word);
	}
	return err_fail(GPQ_USAGE, NULL, "--%s: %s is none of %s", o->name, arg, all.data);
}

int opts_store(const struct opt *o, void *base, const char *arg)
{
	static const char *const expected[] = {
		[OPT_U64] = "a whole number from 0 on",
		[OPT_WORDS] = "a list of words with commas between them",
		[OPT_NS] = "a duration with its unit, such as 50ms or 2s",
		[OPT_SEC] = "a duration such as 50ms or 2s",
	};
	void *member = (char *)base + o->offset;
	bool ok = true;
	switch (o->kind) {
	case OPT_FLAG: *(bool *)member = true; break;
	case OPT_COUNT: ++*(int *)member; break;
	case OPT_STR: *(const char **)member = arg; break;
	case OPT_EXPR:
		if (*(const char **)member)
			return err_fail(GPQ_USAGE, "say in one expression what is meant",
					"--%s: given twice: %s and %s", o->name,
					*(const char **)member, arg);
		*(const char **)member = arg;
		break;
	case OPT_WORDS: ok = words_add(member, arg); break;
	case OPT_LIST: words_push(member, arg, strlen(arg)); break;
	case OPT_PIDS: return pids_option(member, o, arg);
	case OPT_U64: ok = parse_u64(arg, member); break;
	case OPT_NS: ok = parse_duration(arg, member); break;
	case OPT_SEC: ok = parse_seconds(arg, member); break;
	case OPT_CHOICE: return choice_option(member, o, arg);
	}
	return ok ? GPQ_OK
		  : err_fail(GPQ_USAGE, NULL, "--%s: %s is not %s", o->name,
			     *arg ? arg : "(nothing)", expected[o->kind]);
}

const struct opt *opts_find(const struct opt *table, const char *name, char letter)
{
	for (; table->name; table++)
		if (name ? *table->name == *name && strcmp(table->name, name) == 0
			 : letter && table->letter == letter)
			return table;
	return NULL;
}

// Returns the word that means the same as `name` elsewhere, or NULL.
static const char *synonym(const char *name, const char *const *words)
{
	static const char same[][2][8] = {
		{"name", "comm"}, {"command", "comm"}, {"from", "since"}, {"to", "until"}};
	for (size_t k = 0; k < COUNT(same); k++)
		for (size_t i = 0; strcmp(name, same[k][0]) == 0 && words[i]; i++)
			if (strcmp(words[i], same[k][1]) == 0)
				return words[i];
	return NULL;
}

const char *opts_suggest(const char *name, const char *const *words)
{
	const char *same = synonym(name, words);
	return same ? same : text_suggest(name, words);
}

// Reports that other commands, which are named, have this option. False, without a message, if no
// command has it.
static bool refused_as_foreign(const struct opt_set *sets, const char *name, char letter)
{
	const char *own = sets->owner;
	SCOPED(buf_fini) struct buf owners = {0}, next = {0};
	for (; sets->table; sets++)
		if (!sets->base && opts_find(sets->table, name, letter))
			buf_printf(&owners, "%s%s", owners.len ? ", " : "", sets->owner);
	if (own)
		buf_printf(&next, "gpq %s -h lists those of %s", own, own);
	else
		buf_puts(&next, "give it behind the command's name");
	bool found = owners.len > 0;
	if (found)
		err_fail(GPQ_USAGE, next.data, "-%s%.*s is an option of %s", name ? "-" : "",
			 name ? (int)strlen(name) : 1, name ? name : &letter, owners.data);
	return found;
}

// `guess`: what getopt took it for, or NULL.
static void refuse_unknown_long(const struct parser *p, const char *given, const char *guess)
{
	const char *words[OPTS_MAX + 1] = {0};
	char name[64];
	given += strspn(given, "-");
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(given, "="), given);
	for (unsigned i = 0; i < p->n; i++)
		words[i] = p->opt[i]->name;
	if (!guess || synonym(name, words))
		guess = opts_suggest(name, words);
	if (!refused_as_foreign(p->sets, name, 0))
		err_fail(GPQ_USAGE, "--help lists the options", "unknown option --%s%s%s", name,
			 guess ? ", did you mean --" : "", guess ? guess : "");
}

// Names the first long option that begins with the letter.
static void refuse_unknown_letter(const struct parser *p)
{
	const char *guess = NULL;
	for (unsigned i = 0; i < p->n && !guess; i++)
		guess = *p->opt[i]->name == optopt ? p->opt[i]->name : NULL;
	err_fail(GPQ_USAGE, "--help lists the options", "unknown option -%c%s%s", optopt,
		 guess ? ", did you mean --" : "", guess ? guess : "");
}

static void refuse_unknown(const struct parser *p, char **argv, bool missing)
{
	int known = optopt ? option_index(p, optopt) : -1;
	const char *given = argv[optind - 1];
	if (missing)
		err_fail(GPQ_USAGE, NULL, "option %s%s needs an argument: %s",
			 known >= 0 && given[1] == '-' ? "--" : "",
			 known >= 0 && given[1] == '-' ? p->opt[known]->name : given,
			 known >= 0 ? opt_arg(p->opt[known]) : "?");
	else if (optopt >= LONG_BASE)
		err_fail(GPQ_USAGE, NULL, "option --%s takes no argument", p->opt[known]->name);
	else if (!optopt)
		refuse_unknown_long(p, given, NULL);
	else if (!refused_as_foreign(p->sets, NULL, (char)optopt))
		refuse_unknown_letter(p);
}

int opts_refuse_secure(const char *given)
{
	if (!host_secure())
		return GPQ_OK;
	return err_fail(GPQ_USAGE, "use a copy of gpq without these",
			"%s: refused, because this gpq is set-user-ID or has file capabilities: it "
			"opens no file and runs no command that its user names",
			given);
}

// Does the argument name a file or a command?
static bool names_file(const struct opt *o)
{
	const char *arg = opt_arg(o);
	return arg &&
	       (strcmp(arg, "FILE") == 0 || strcmp(arg, "DIR") == 0 || strcmp(arg, "CMD") == 0);
}

// `word`: the argument is a word of its own, behind the option.
static int take_option(const struct opt *o, void *base, const char *arg, bool word)
{
	char option[64];
	snprintf(option, sizeof(option), "--%s", o->name);
	if (word && names_file(o) && arg[0] == '-' && arg[1])
		return err_fail(GPQ_USAGE, "a file of that name is ./-NAME",
				"option %s needs an argument: %s, and %s is an option", option,
				opt_arg(o), arg);
	return names_file(o) && opts_refuse_secure(option) ? GPQ_USAGE : opts_store(o, base, arg);
}

// `how` begins getopt's string of letters; its ':' tells a missing argument from an unknown option.
static struct parser parser_start(const struct opt_set *sets, const char *how)
{
	struct parser p = {.sets = sets};
	snprintf(p.shorts, sizeof(p.shorts), "%s", how);
	for (; sets->table; sets++)
		if (sets->base)
			parser_add_set(&p, sets);
	optind = 0; // not 1: with 0 glibc also forgets a parse that it has not finished
	opterr = 0;
	return p;
}

const char *opts_first_operand(int argc, char **argv, const struct opt_set *sets)
{
	struct parser p = parser_start(sets, "-:");
	int c;
	do
		c = getopt_long(argc, argv, p.shorts, p.longs, NULL);
	while (c != -1 && c != 1); // getopt returns 1 for an operand, as "-" asks
	return c == 1 ? optarg : optind < argc ? argv[optind] : NULL;
}

const char *opts_asks(int argc, char **argv, const struct opt_set *sets, bool stop,
		      const char *const names[2])
{
	struct parser p = parser_start(sets, stop ? "+:" : "-:");
	for (int c; (c = getopt_long(argc, argv, p.shorts, p.longs, NULL)) != -1;) {
		int i = c == '?' || c == ':' ? -1 : option_index(&p, c);
		for (int k = 0; i >= 0 && k < 2; k++)
			if (strcmp(p.opt[i]->name, names[k]) == 0)
				return names[k];
	}
	return NULL;
}

static struct {
	const struct opt *v[OPTS_MAX];
	unsigned n;
} given_options; // of the last opts_parse()

bool opts_was_given(const struct opt *o)
{
	bool was = false;
	for (unsigned i = 0; i < given_options.n; i++)
		was |= given_options.v[i] == o;
	return was;
}

int opts_parse(int argc, char **argv, const struct opt_set *sets, bool stop)
{
	struct parser p = parser_start(sets, stop ? "+:" : ":");
	int c, is_long = -1;
	given_options.n = 0;
	while ((c = getopt_long(argc, argv, p.shorts, p.longs, &is_long)) != -1) {
		int i = c == '?' || c == ':' ? -1 : option_index(&p, c);
		const bool word = optarg == argv[optind - 1]; // getopt clears optarg first
		const char *given = argv[optind - 1 - word];
		if (i < 0) {
			refuse_unknown(&p, argv, c == ':');
			return -1;
		}
		// getopt takes abbreviations: --all for --all-or-none.
		if (is_long >= 0 && strcspn(given + 2, "=") != strlen(p.opt[i]->name)) {
			refuse_unknown_long(&p, given, p.opt[i]->name);
			return -1;
		}
		if (take_option(p.opt[i], p.base[i], optarg, word))
			return -1;
		if (!opts_was_given(p.opt[i]))
			given_options.v[given_options.n++] = p.opt[i];
		is_long = -1;
	}
	return optind;
}

// A member may be in several tables, so it is cleared when it is freed.
void opts_fini(const struct opt_set *sets)
{
	for (; sets->table; sets++) {
		for (const struct opt *o = sets->base ? sets->table : &(struct opt){0}; o->name;
		     o++) {
			void *member = (char *)sets->base + o->offset;
			if (o->kind == OPT_PIDS) {
				free(((struct pids *)member)->v);
				*(struct pids *)member = (struct pids){0};
			}
			if (o->kind == OPT_WORDS || o->kind == OPT_LIST)
				words_fini(member);
		}
	}
}

const char *opt_arg(const struct opt *o)
{
	const char *arg = text_part(o->name, 1);
	return *arg ? arg : NULL;
}

static const char *opt_help(const struct opt *o)
{
	return text_part(o->name, 2);
}

const char *opt_word(const struct opt *o, unsigned i)
{
	return o->kind == OPT_CHOICE ? text_part(o->name, 3 + i) : "";
}

const char *opt_brief(const struct opt *o, size_t *len)
{
	const char *text = opt_help(o);
	text += *text == '\n';
	size_t n = strcspn(text, "\n");
	while (text[n] && n && strchr(":;,", text[n - 1]))
		n--;
	*len = n;
	return text;
}

static void put_option(struct buf *b, const struct opt *o, bool brief)
{
	enum { COLUMN = 30 };
	const size_t start = b->len;
	const char letter[4] = {'-', o->letter, ',', 0}, *arg = opt_arg(o), *text = opt_help(o);
	size_t n = strlen(text);
	buf_printf(b, "  %-3s --%s%s%s  ", o->letter ? letter : "", o->name, arg ? " " : "",
		   arg ? arg : "");
	size_t used = b->len - start;
	if (used > COLUMN && !brief) {
		b->len -= 2;
		buf_puts(b, "\n");
		used = 0;
	}
	if (used < COLUMN)
		buf_printf(b, "%*s", (int)(COLUMN - used), "");
	if (brief)
		text = opt_brief(o, &n);
	text_wrap(b, used > COLUMN ? used : COLUMN, COLUMN, text, n);
}

void opts_help(struct buf *b, const struct opt *table, bool brief)
{
	SCOPED(buf_fini) struct buf rare = {0};
	for (const struct opt *o = table; o->name; o++)
		if (brief && *opt_help(o) == '\n')
			buf_printf(&rare, "%s--%s", rare.len ? ", " : "", o->name);
		else
			put_option(b, o, brief);
	if (rare.len) {
		buf_puts(b, "Also: ");
		text_wrap(b, 6, 6, rare.data, rare.len);
	}
}
