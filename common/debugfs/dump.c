// Lines of KFD's debugfs. See dump.h for the format of hex dumps.
//
// A dump of MQDs has thousands of full lines of one fixed shape: dump_run() only checks these, with
// vector code. Other lines, and captures that went through terminals, are parsed word by word.
#include "common/debugfs/dump.h"

#include "common/host/number.h"

#define EACH_BYTE(b) (0x0101010101010101ull * (b))
#define HEAD         13 // bytes before the words of a line: 4 blanks, 8 digits, colon

bool dump_hex8(const char *p, uint32_t *out)
{
	uint64_t v;
	memcpy(&v, p, sizeof(v));
	// The top bit of each byte of `digit` is set for '0' to '9', of `letter` for 'a' to 'f' and
	// 'A' to 'F'. Sums cannot carry into the next byte: bytes above 0x7f are refused below.
	uint64_t t = v ^ EACH_BYTE('0');
	uint64_t u = (v | EACH_BYTE(0x20)) ^ EACH_BYTE(0x60);
	uint64_t digit = ~(t + EACH_BYTE(0x76));
	uint64_t letter = ~(u + EACH_BYTE(0x79)) & (u + EACH_BYTE(0x7f));
	if (((digit | letter) & ~v & EACH_BYTE(0x80)) != EACH_BYTE(0x80))
		return false;
	v = (v & EACH_BYTE(0x0f)) + 9 * ((v >> 6) & EACH_BYTE(0x01));
	v = __builtin_bswap64(v); // the first digit is the highest; hosts are little-endian
	v = (v | v >> 4) & 0x00ff00ff00ff00ffull;
	v = (v | v >> 8) & 0x0000ffff0000ffffull;
	*out = (uint32_t)(v | v >> 16);
	return true;
}

const char *dump_next(struct dump_count *c, const char *p, const char *end, dump_line_fn fn,
		      void *arg)
{
	const char *newline = memchr(p, '\n', (size_t)(end - p));
	const char *stop = newline ? newline : end;
	c->lines++;
	if (!fn(arg, p, stop, newline) && !c->foreign++)
		c->first_foreign = c->lines;
	return newline ? newline + 1 : end;
}

void dump_each(struct dump_count *c, const char *text, size_t len, dump_line_fn fn, void *arg)
{
	*c = (struct dump_count){0};
	for (const char *p = text; p < text + len;)
		p = dump_next(c, p, text + len, fn, arg);
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static const char *dump_skip_blanks(const char *p, const char *end)
{
	while (p < end && is_blank(*p))
		p++;
	return p;
}

const char *dump_match(const char *p, const char *end, const char *format, uint32_t *v)
{
	p = dump_skip_blanks(p, end);
	for (; p && *format; format++) {
		if (*format == '%') {
			uint64_t n = 0;
			p = number_read(p, end, *++format == 'x' ? 16 : 10, UINT32_MAX, &n);
			*v++ = (uint32_t)n;
		} else if (*format == ' ') {
			p = p < end && (*p == ' ' || *p == '\t') ? dump_skip_blanks(p, end) : NULL;
		} else {
			p = p < end && *p == *format ? p + 1 : NULL;
		}
	}
	return p;
}

bool dump_line_empty(const char *p, const char *end)
{
	return dump_skip_blanks(p, end) == end;
}

bool dump_line_parse(const char *p, const char *end, struct dump_line *out)
{
	p = dump_skip_blanks(p, end);
	if (end - p < 9 || p[8] != ':' || !dump_hex8(p, &out->addr))
		return false;
	memset(out->words, 0, sizeof(out->words));
	out->valid = out->count = 0;
	bool aligned = true; // all words so far had 8 characters; if not, words may be missing
	for (p = dump_skip_blanks(p + 9, end); p < end; p = dump_skip_blanks(p, end)) {
		const char *word = p;
		uint32_t value;
		if (out->count == DUMP_WORDS)
			return false; // more words than the kernel ever prints: not a dump line
		const bool good = end - p >= 8 && dump_hex8(p, &value);
		p += good ? 8 : 0;
		while (p < end && !is_blank(*p))
			p++;
		aligned &= p - word == 8;
		if (aligned && good) {
			out->words[out->count] = value;
			out->valid |= (uint8_t)(1u << out->count);
		}
		out->count++;
	}
	return true;
}

// Vectors of 16 bytes, which every 64-bit machine has; the compiler chooses the instructions.
typedef uint8_t block __attribute__((vector_size(16)));

// Nonzero bytes mark wrong characters. Right are blanks where `blanks` has 0xff, else hex digits.
static block wrong_characters(const char *p, const char *blanks)
{
	block v, blank;
	memcpy(&v, p, sizeof(v));
	memcpy(&blank, blanks, sizeof(blank));
	block digit = (v - '0') < 10, letter = ((v | 0x20) - 'a') < 6;
	return ((v == ' ') ^ blank) | (~blank & ~(digit | letter));
}

// Checks 72 bytes: eight words, each with a blank in front.
static bool words_are_good(const char *p)
{
	// 0xff where the blanks are: every ninth byte.
	static const char blanks[72] = {[0] = -1,  [9] = -1,  [18] = -1, [27] = -1,
					[36] = -1, [45] = -1, [54] = -1, [63] = -1};
	block bad = wrong_characters(p, blanks) | wrong_characters(p + 16, blanks + 16) |
		    wrong_characters(p + 32, blanks + 32) | wrong_characters(p + 48, blanks + 48) |
		    wrong_characters(p + 56, blanks + 56);
	uint64_t half[2];
	memcpy(half, &bad, sizeof(half));
	return (half[0] | half[1]) == 0;
}

// Most of an MQD is 0: a plain comparison is faster than looking at each digit.
static bool words_are_zero(const char *p)
{
	return memcmp(p, " 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000",
		      72) == 0;
}

// True if the line begins with this offset, as in "    00000fe0:".
static bool offset_is(const char *p, uint32_t offset)
{
	static const char hex[] = "0123456789abcdef";
	const char tail[4] = {hex[offset >> 8 & 15], hex[offset >> 4 & 15], hex[offset & 15], ':'};
	return memcmp(p, "    00000", 9) == 0 && memcmp(p + 9, tail, 4) == 0;
}

unsigned dump_run(const char *p, const char *end, unsigned most)
{
	unsigned n = 0;
	for (; n < most && end - p >= DUMP_LINE; n++, p += DUMP_LINE) {
		if (p[DUMP_LINE - 1] != '\n' || !offset_is(p, 32 * n))
			break;
		if (!words_are_zero(p + HEAD) && !words_are_good(p + HEAD))
			break;
	}
	return n;
}
