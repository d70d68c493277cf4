// Text and quantities; see text.h.
#include "common/cli/text.h"

#include "common/host/secure.h"

#include <math.h>
#include <strings.h>

size_t text_utf8(const char *s, size_t len)
{
	const unsigned char *u = (const unsigned char *)s;
	if (len == 0)
		return 0;
	if (u[0] < 0x80)
		return 1;
	size_t n = u[0] >= 0xf0 ? 4 : u[0] >= 0xe0 ? 3 : 2;
	if (u[0] < 0xc2 || u[0] > 0xf4 || n > len)
		return 0;
	for (size_t i = 1; i < n; i++)
		if ((u[i] & 0xc0) != 0x80)
			return 0;
	// Refuses overlong forms, surrogates and code points beyond U+10FFFF.
	if ((u[0] == 0xe0 && u[1] < 0xa0) || (u[0] == 0xed && u[1] > 0x9f) ||
	    (u[0] == 0xf0 && u[1] < 0x90) || (u[0] == 0xf4 && u[1] > 0x8f))
		return 0;
	return n;
}

static bool is_plain_byte(unsigned char c)
{
	return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

#define ALL(byte) (UINT64_C(0x0101010101010101) * (byte))

// Nonzero if one of eight bytes is not plain. A byte borrows from its neighbour only if a byte
// below it is not plain, so the result is exact.
static uint64_t odd_bytes(uint64_t w)
{
	uint64_t quote = w ^ ALL('"'), backslash = w ^ ALL('\\'), del = w ^ ALL(0x7f);
	return ((w - ALL(0x20)) | (quote - ALL(1)) | (backslash - ALL(1)) | (del - ALL(1)) | w) &
	       ALL(0x80);
}

size_t text_plain(const char *s, size_t len)
{
	size_t n = 0;
	for (uint64_t w; n + 8 <= len; n += 8) {
		memcpy(&w, s + n, 8);
		if (odd_bytes(w))
			break;
	}
	while (n < len && is_plain_byte((unsigned char)s[n]))
		n++;
	return n;
}

// C0, DEL, and the C1 controls U+0080..U+009F, which some terminals obey.
static bool is_control(const unsigned char *s, size_t n)
{
	return s[0] < 0x20 || s[0] == 0x7f || (n == 2 && s[0] == 0xc2 && s[1] < 0xa0);
}

void text_escape(struct buf *out, const char *s, size_t len)
{
	for (size_t i = 0; i < len;) {
		size_t run = text_plain(s + i, len - i);
		buf_append(out, s + i, run);
		i += run;
		if (i == len)
			break;
		size_t n = text_utf8(s + i, len - i);
		if (n && !is_control((const unsigned char *)s + i, n)) {
			buf_append(out, s + i, n);
			i += n;
			continue;
		}
		for (size_t end = i + (n ? n : 1); i < end; i++)
			buf_printf(out, "\\x%02x", (unsigned char)s[i]);
	}
}

void text_html(struct buf *out, const char *s, size_t len)
{
	SCOPED(buf_fini) struct buf safe = {0};
	text_escape(&safe, s, len);
	for (const char *at = safe.data ? safe.data : ""; *at; at++) {
		const char *name = *at == '<'   ? "&lt;"
				   : *at == '>' ? "&gt;"
				   : *at == '&' ? "&amp;"
				   : *at == '"' ? "&quot;"
						: NULL;
		name ? buf_puts(out, name) : buf_append(out, at, 1);
	}
}

char *text_size(char out[16], uint64_t bytes)
{
	static const char unit[] = "BKMGTPE";
	unsigned u = 0;
	double v = (double)bytes;
	while (v >= 1024 && u < 6) {
		v /= 1024;
		u++;
	}
	snprintf(out, 16, v == floor(v) ? "%.0f%c" : "%.1f%c", v, unit[u]);
	return out;
}

char *text_ns(char out[24], uint64_t ns)
{
	uint64_t s = ns / 1000000000;
	if (ns < 1000)
		snprintf(out, 24, "%uns", (unsigned)ns);
	else if (ns < 1000000)
		snprintf(out, 24, "%.3gus", (double)ns / 1e3);
	else if (s < 1)
		snprintf(out, 24, "%.3gms", (double)ns / 1e6);
	else if (s < 60)
		snprintf(out, 24, "%.3gs", (double)ns / 1e9);
	else
		snprintf(out, 24, "%llum%02us", (unsigned long long)(s / 60), (unsigned)(s % 60));
	return out;
}

struct unit {
	const char *name;
	double factor;
};

// Reads a decimal number and one of `units`, where "" stands for none. *value: their product,
// rounded.
static bool parse_quantity(const char *s, const struct unit *units, uint64_t *value)
{
	size_t digits = strspn(s, "0123456789.");
	char *end;
	double v = strtod(s, &end);
	if (digits == 0 || end != s + digits)
		return false;
	for (; units->name; units++) {
		if (strcasecmp(end, units->name) != 0)
			continue;
		v = v * units->factor + 0.5;
		if (v >= 1.8e19)
			return false;
		*value = (uint64_t)v;
		return true;
	}
	return false;
}

bool parse_duration(const char *s, uint64_t *ns)
{
	static const struct unit units[] = {
		{"s", 1e9},    {"ms", 1e6},  {"us", 1e3},   {"ns", 1}, {"m", 60e9},
		{"min", 60e9}, {"h", 36e11}, {"d", 864e11}, {NULL, 0},
	};
	static const struct unit zero[] = {{"", 0}, {NULL, 0}};
	const bool is_zero = s[strspn(s, "0.")] == '\0';
	return parse_quantity(s, is_zero ? zero : units, ns);
}

bool parse_seconds(const char *s, uint64_t *ns)
{
	static const struct unit seconds[] = {{"", 1e9}, {NULL, 0}};
	return parse_duration(s, ns) || parse_quantity(s, seconds, ns);
}

bool parse_size(const char *s, uint64_t *bytes)
{
	enum { KI = 1 << 10, MI = 1 << 20, GI = 1 << 30 };
	static const struct unit units[] = {
		{"", 1},   {"B", 1},    {"K", KI},     {"KiB", KI},     {"M", MI}, {"MiB", MI},
		{"G", GI}, {"GiB", GI}, {"T", 0x1p40}, {"TiB", 0x1p40}, {NULL, 0},
	};
	return parse_quantity(s, units, bytes);
}

enum { WORD_MAX = 32 };

// Number of edits that turn one word into the other: insert, delete, replace, swap neighbours.
static unsigned edit_distance(const char *a, const char *b)
{
	unsigned d[WORD_MAX + 1][WORD_MAX + 1] = {0};
	size_t la = strnlen(a, WORD_MAX), lb = strnlen(b, WORD_MAX);
	for (size_t i = 0; i <= la; i++)
		d[i][0] = (unsigned)i;
	for (size_t j = 0; j <= lb; j++)
		d[0][j] = (unsigned)j;
	for (size_t i = 1; i <= la; i++) {
		for (size_t j = 1; j <= lb; j++) {
			d[i][j] = (unsigned)lesser(lesser(d[i - 1][j], d[i][j - 1]) + 1,
						   d[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    d[i - 2][j - 2] + 1 < d[i][j])
				d[i][j] = d[i - 2][j - 2] + 1;
		}
	}
	return d[la][lb];
}

// Returns the length of the word at `s`: up to a blank outside of [ ] or, if that is more than
// `most` bytes, up to any blank.
static size_t word_length(const char *s, const char *end, size_t most)
{
	int depth = 0;
	const char *p = s;
	for (; p < end && (depth > 0 || !strchr(" \n", *p)); p++)
		depth += *p == '[' ? 1 : *p == ']' ? -1 : 0;
	if ((size_t)(p - s) > most)
		for (p = s; p < end && !strchr(" \n", *p);)
			p++;
	return (size_t)(p - s);
}

void text_wrap(struct buf *out, size_t column, size_t indent, const char *text, size_t len)
{
	text_wrap_to(out, 80, column, indent, text, len);
}

void text_wrap_to(struct buf *out, size_t width, size_t column, size_t indent, const char *text,
		  size_t len)
{
	const char *end = text + len;
	for (size_t used = 0; text < end; text++) {
		size_t n = word_length(text, end, width - indent);
		if (!n)
			continue;
		if (used && column + used + 1 + n > width) {
			buf_printf(out, "\n%*s", (int)indent, "");
			column = indent;
			used = 0;
		}
		buf_printf(out, "%s%.*s", used ? " " : "", (int)n, text);
		used += n + (used > 0);
		text += n;
	}
	buf_puts(out, "\n");
}

const char *text_suggest(const char *s, const char *const *words)
{
	const char *best = NULL;
	unsigned best_d = 3;
	for (; *words; words++) {
		unsigned n = edit_distance(s, *words);
		// Two edits of a word of three letters make an unrelated word.
		if (n < best_d && n * 2 < strlen(*words)) {
			best_d = n;
			best = *words;
		}
	}
	return best;
}

bool spark_utf8(void)
{
	static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
	for (size_t i = 0; i < COUNT(names); i++) {
		const char *value = host_getenv(names[i]);
		if (value && *value)
			return strcasestr(value, "utf-8") || strcasestr(value, "utf8");
	}
	return false;
}

void spark_line(struct buf *out, const double *values, size_t n, double max, bool utf8)
{
	static const char *const blocks[] = {"·", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
	static const char *const ascii[] = {".", ":", "-", "=", "+", "*", "#", "%", "@"};
	enum { LEVELS = 8 };
	for (size_t i = 0; i < n; i++) {
		double share = max > 0 ? values[i] / max : 0;
		int level = !(share > 0) ? 0 : share >= 1 ? LEVELS : 1 + (int)(share * LEVELS);
		level = level > LEVELS ? LEVELS : level;
		buf_puts(out, isnan(values[i]) ? " " : (utf8 ? blocks : ascii)[level]);
	}
}

bool text_has_word(const char *words, const char *word, size_t len)
{
	for (size_t n; words && *words; words += n + (words[n] == ' ')) {
		n = strcspn(words, " ");
		if (n == len && memcmp(words, word, n) == 0)
			return true;
	}
	return false;
}
