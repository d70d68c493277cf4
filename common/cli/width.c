// Widths on a terminal; see width.h.
#include "common/cli/width.h"

#include "common/cli/text.h"
#include "common/host/secure.h"

#include <locale.h>
#include <sys/ioctl.h>
#include <wchar.h>

// Widths of characters are the same for every user; numbers keep the C locale. The first call is
// made while the process has one thread: by terminal_size() where several cut texts.
static void use_utf8(void)
{
	static bool used;
	if (!used)
		setlocale(LC_CTYPE, "C.UTF-8");
	used = true;
}

static unsigned from_environment(const char *name, unsigned otherwise)
{
	const char *value = host_getenv(name);
	uint64_t n;
	return value && parse_u64(value, &n) && n && n < 10000 ? (unsigned)n : otherwise;
}

unsigned terminal_columns(int fd)
{
	struct winsize w = {0};
	ioctl(fd, TIOCGWINSZ, &w);
	return w.ws_col ? w.ws_col : from_environment("COLUMNS", 80);
}

struct terminal_size terminal_size(void)
{
	struct winsize w = {0};
	use_utf8();
	ioctl(STDOUT_FILENO, TIOCGWINSZ, &w);
	return (struct terminal_size){w.ws_col ? w.ws_col : from_environment("COLUMNS", 80),
				      w.ws_row ? w.ws_row : from_environment("LINES", 24)};
}

// Returns the bytes of the character or colour at `s`, and its width in *columns.
static size_t next_character(const char *s, size_t len, size_t *columns)
{
	mbstate_t state = {0};
	wchar_t c;
	*columns = 0;
	if (*s == '\033') {
		const char *end = memchr(s, 'm', len);
		return end ? (size_t)(end - s) + 1 : len;
	}
	const size_t n = text_utf8(s, len);
	const int width = n && (ssize_t)mbrtowc(&c, s, n, &state) > 0 ? wcwidth(c) : 1;
	*columns = width < 0 ? 1 : (size_t)width;
	return n ? n : 1;
}

size_t text_fit(const char *s, size_t len, size_t columns, size_t *taken)
{
	size_t at = 0;
	use_utf8();
	for (*taken = 0; at < len;) {
		size_t width;
		const size_t n = next_character(s + at, len - at, &width);
		if (*taken + width > columns)
			break;
		*taken += width;
		at += n;
	}
	return at;
}

size_t text_columns(const char *s, size_t len)
{
	size_t taken;
	text_fit(s, len, SIZE_MAX, &taken);
	return taken;
}

static const char *ellipsis(void)
{
	return spark_utf8() ? "…" : "~";
}

void text_cut(struct buf *out, const char *s, size_t len, size_t columns)
{
	size_t taken, n = text_fit(s, len, columns, &taken);
	if (n == len) {
		buf_append(out, s, len);
		return;
	}
	n = text_fit(s, len, columns - 1, &taken);
	size_t word = n;
	while (word > n / 2 && s[word] != ' ')
		word--;
	buf_append(out, s, word > n / 2 ? word : n);
	buf_puts(out, ellipsis());
}

void text_cut_middle(struct buf *out, const char *s, size_t len, size_t columns, size_t from)
{
	size_t width, head = text_fit(s, len, columns, &width);
	if (head == len) {
		buf_append(out, s, len);
		return;
	}
	head = text_fit(s, len, columns - 1, &width);
	if (from < head) {
		buf_append(out, s, head);
		buf_puts(out, ellipsis());
		return;
	}
	head = text_fit(s, len, (columns - 1) * 2 / 3, &width);
	const size_t room = columns - 1 - width;
	size_t tail = head, left = text_columns(s + head, len - head);
	for (; left > room; left -= width)
		tail += next_character(s + tail, len - tail, &width);
	from -= from > room / 4 ? room / 4 : from; // some of what both have
	while (from && (s[from] & 0xc0) == 0x80)
		from--;
	buf_append(out, s, head);
	buf_puts(out, ellipsis());
	if (from > head && from < tail)
		text_cut(out, s + from, len - from, room);
	else
		buf_append(out, s + tail, len - tail);
}
