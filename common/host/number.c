// Numbers in text; number.h.
#include "common/host/number.h"

#define NO16 -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1
#define A_F  -1, 10, 11, 12, 13, 14, 15, -1, -1, -1, -1, -1, -1, -1, -1, -1

const int8_t hex_values[256] = {
	NO16, NO16, NO16, 0,   1,    2,   3,    4,    5,    6,    7,    8,    9,    -1,   -1,   -1,
	-1,   -1,   -1,   A_F, NO16, A_F, NO16, NO16, NO16, NO16, NO16, NO16, NO16, NO16, NO16,
};

const char *number_read(const char *s, const char *end, unsigned base, uint64_t max,
			uint64_t *value)
{
	const char *first = s;
	uint64_t v = 0;
	for (int digit; s != end && (digit = hex_digit(*s)) >= 0 && (unsigned)digit < base; s++)
		if (__builtin_mul_overflow(v, base, &v) ||
		    __builtin_add_overflow(v, (uint64_t)digit, &v) || v > max)
			return NULL;
	*value = v;
	return s == first ? NULL : s;
}

bool number_whole(const char *s, unsigned base, uint64_t max, uint64_t *value)
{
	const char *end = number_read(s, NULL, base, max, value);
	return end && !*end;
}

bool parse_u64(const char *s, uint64_t *value)
{
	const bool hex = s[0] == '0' && (s[1] == 'x' || s[1] == 'X');
	return number_whole(hex ? s + 2 : s, hex ? 16 : 10, UINT64_MAX, value);
}
