// Lines against formats; see lex.h.
#include "common/debugfs/lex.h"

#include <stddef.h>

static int digit_of(char c, unsigned base)
{
	unsigned d = 99;

	if (c >= '0' && c <= '9')
		d = (unsigned)(c - '0');
	else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
		d = (unsigned)((c | 0x20) - 'a') + 10;
	return d < base ? (int)d : -1;
}

// The place behind the number at p, NULL when there is none or it is too large.
static const char *number(const char *p, const char *end, unsigned base, uint32_t *out)
{
	const char *start = p;
	uint64_t v = 0;

	for (; p < end && digit_of(*p, base) >= 0 && v <= UINT32_MAX; p++)
		v = v * base + (unsigned)digit_of(*p, base);
	*out = (uint32_t)v;
	return p == start || v > UINT32_MAX ? NULL : p;
}

static const char *skip_blanks(const char *p, const char *end)
{
	while (p < end && (*p == ' ' || *p == '\t'))
		p++;
	return p;
}

bool lex_line(const char *p, const char *end, const char *format, uint32_t *v)
{
	p = skip_blanks(p, end);
	for (; p && *format; format++) {
		if (*format == '%') {
			p = number(p, end, *++format == 'x' ? 16 : 10, v++);
		} else if (*format == ' ') {
			const char *behind = skip_blanks(p, end);

			p = behind > p ? behind : NULL;
		} else {
			p = p < end && *p == *format ? p + 1 : NULL;
		}
	}
	return p != NULL;
}
