// Keeping a regular expression within lines; see grep.h, pcre2pattern(3) and pcre2syntax(3).
//
// An expression that is matched against a block (PCRE2_MULTILINE) must give the same result for a
// line as when matched against that line alone. So whatever can match a newline is replaced: [^x]
// becomes [^\nx], \s becomes a class without the newline. Lookahead and lookbehind then cannot
// cross the end of a line either.
//
// Only known constructs are let through; an expression with any other (\A, \n, (*COMMIT), (?s),
// recursion, names of groups, ...) is matched line by line.
#include "common/cli/grep.h"

#include <ctype.h>

#define SPACES "\\t\\x0b\\x0c\\r\\x20" // \s without the newline

struct rewriting {
	struct buf *out;
	const char *p; // the rest of the pattern
};

static bool emit_text(struct rewriting *r, const char *text)
{
	buf_puts(r->out, text);
	return true;
}

static bool copy_bytes(struct rewriting *r, size_t n)
{
	buf_append(r->out, r->p, n);
	r->p += n;
	return true;
}

// Does the character stand for itself when a backslash precedes it?
static bool is_quoted(char c)
{
	return (unsigned char)c >= 0x20 && !isalnum((unsigned char)c);
}

// Copies \x41 and the like, but not \x0a.
static bool copy_hex(struct rewriting *r)
{
	const char *p = r->p;
	return isxdigit((unsigned char)p[2]) && isxdigit((unsigned char)p[3]) &&
	       strncasecmp(p + 2, "0a", 2) != 0 && copy_bytes(r, 4);
}

// Copies or replaces an escape outside of a class.
static bool copy_escape(struct rewriting *r)
{
	static const struct {
		char letter;
		const char *as;
	} changed[] = {
		{'s', "[" SPACES "]"}, {'D', "[^\\n\\d]"}, {'W', "[^\\n\\w]"}, {'H', "[^\\n\\h]"}};
	char c = r->p[1];
	for (size_t i = 0; i < COUNT(changed); i++) {
		if (c == changed[i].letter) {
			r->p += 2;
			return emit_text(r, changed[i].as);
		}
	}
	if (c == 'x')
		return copy_hex(r);
	if (c >= '1' && c <= '9') // reference to a group, whose match has no newline
		return !isalnum((unsigned char)r->p[2]) && copy_bytes(r, 2);
	if (c && strchr("dwhSbBVtrfea", c))
		return copy_bytes(r, 2);
	return is_quoted(c) && copy_bytes(r, 2);
}

// Copies a named class such as [:alpha:]. False for an unknown one, or one that matches a newline.
static bool copy_named(struct rewriting *r, bool negated)
{
	// The last three classes match a newline.
	static const char *const names[] = {"alpha",  "lower", "upper", "alnum", "digit",
					    "xdigit", "word",  "punct", "graph", "blank",
					    "print",  "space", "cntrl", "ascii"};
	const char *name = r->p + 2, *end = strstr(name, ":]");
	size_t n = end ? (size_t)(end - name) : 0, known = COUNT(names) - (negated ? 0 : 3);
	for (size_t i = 0; i < known; i++) {
		if (n == strlen(names[i]) && !memcmp(name, names[i], n))
			return copy_bytes(r, n + 4);
	}
	return false;
}

// Copies or replaces an escape within a class. Classes and control characters as a bound of a range
// are refused.
static bool copy_class_escape(struct rewriting *r, bool negated)
{
	char c = r->p[1];
	if (is_quoted(c))
		return copy_bytes(r, 2);
	if (!c || r->p[-1] == '-' || r->p[2] == '-')
		return false;
	if (c == 's' && !negated) {
		r->p += 2;
		return emit_text(r, SPACES);
	}
	return strchr(negated ? "dwhsDWHSVtrn" : "dwhSVtr", c) && copy_bytes(r, 2);
}

static bool copy_class(struct rewriting *r)
{
	bool negated = r->p[1] == '^', first = true;
	emit_text(r, negated ? "[^\\n" : "[");
	for (r->p += 1 + negated; *r->p != ']' || first; first = false) {
		bool ok = true;
		if ((unsigned char)*r->p < 0x20) // a control character, or the end of the pattern
			return false;
		if (first && (*r->p == ']' || *r->p == '-'))
			ok = emit_text(r, "\\") && copy_bytes(r, 1);
		else if (*r->p == '\\')
			ok = copy_class_escape(r, negated);
		else if (*r->p == '[' && strchr(":.=", r->p[1]) && r->p[1])
			ok = r->p[1] == ':' && copy_named(r, negated);
		else
			copy_bytes(r, 1);
		if (!ok)
			return false;
	}
	return copy_bytes(r, 1);
}

// Copies an opening parenthesis and the characters behind it that say the kind of group.
static bool copy_group(struct rewriting *r)
{
	static const char *const kinds[] = {"(?:",  "(?>",  "(?=",  "(?!",
					    "(?<=", "(?<!", "(?i)", "(?i:"};
	if (r->p[1] != '?')
		return r->p[1] != '*' && copy_bytes(r, 1);
	for (size_t i = 0; i < COUNT(kinds); i++) {
		if (!strncmp(r->p, kinds[i], strlen(kinds[i])))
			return copy_bytes(r, strlen(kinds[i]));
	}
	return false;
}

bool grep_within_lines(struct buf *out, const char *pattern)
{
	struct rewriting r = {.out = out, .p = pattern};
	bool ok = true;
	out->len = 0;
	while (ok && *r.p) {
		switch (*r.p) {
		case '\\': ok = copy_escape(&r); break;
		case '[': ok = copy_class(&r); break;
		case '(': ok = copy_group(&r); break;
		case '\n': ok = false; break;
		default: copy_bytes(&r, 1); break;
		}
	}
	return ok;
}
