// A full-screen view on a terminal; screen.h. Sequences: ctlseqs of xterm, console_codes(4).
#include "common/cli/screen.h"

#include "common/cli/err.h"
#include "common/cli/text.h"
#include "common/host/secure.h"

#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <wchar.h>

// The alternate screen is entered first and left last, as terminals save and restore the other
// modes with it. Autowrap is off: a line that is wider than computed is cut and does not move the
// others.
#define ENTER "\033[?1049h\033[?25l\033[?7l"
#define LEAVE "\033[?7h\033[?25h\033[?1049l"

enum { MESSAGES = 3 }; // lines of messages on a page

// Signals that end or stop the process, and those that only ask for a new page. The latter are
// unblocked only while the view waits.
static const int ends[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGABRT, SIGBUS, SIGSEGV, SIGTSTP};
static const int renews[] = {SIGWINCH, SIGCONT};

static struct {
	volatile sig_atomic_t on; // the alternate screen is shown
	volatile sig_atomic_t renew;
	struct termios before;      // the terminal's modes before the view began
	bool has_modes;             // `before` could be read
	struct buf messages;        // messages gathered since the last page
	struct buf shown;           // messages of the last page; changes only with signals blocked
	sigset_t waiting, painting; // signals blocked while waiting, and while painting
} screen;

bool screen_is_there(void)
{
	const char *term = host_getenv("TERM");
	return isatty(STDOUT_FILENO) && term && *term && strcmp(term, "dumb") != 0;
}

// --- signals: these functions may be called at any moment ---

static void give_back(void)
{
	if (!screen.on)
		return;
	screen.on = 0;
	ssize_t ignored = write(STDOUT_FILENO, LEAVE, sizeof(LEAVE) - 1);
	(void)ignored;
	// After SIGSTOP the terminal may belong to another process group.
	pid_t foreground = tcgetpgrp(STDOUT_FILENO);
	if (screen.has_modes && (foreground < 0 || foreground == getpgrp()))
		tcsetattr(STDOUT_FILENO, TCSANOW, &screen.before);
}

static void catch_end(int sig);

static void on_end(int sig)
{
	int saved = errno;
	bool was_on = screen.on;
	give_back();
	if (was_on && sig != SIGTSTP)
		write_fully(STDERR_FILENO, screen.shown.data, screen.shown.len);
	raise(sig); // default action: the process ends, or stops and goes on here
	catch_end(sig);
	screen.renew = 1;
	errno = saved;
}

static void on_renewal(int sig)
{
	(void)sig;
	screen.renew = 1;
}

static void catch_end(int sig)
{
	const struct sigaction act = {.sa_handler = on_end,
				      .sa_flags = SA_RESTART | SA_RESETHAND | SA_NODEFER};
	sigaction(sig, &act, NULL);
}

// A signal that is ignored (nohup, a shell's background job) stays ignored.
static void catch_signals(void)
{
	const struct sigaction renewal = {.sa_handler = on_renewal, .sa_flags = SA_RESTART};
	sigset_t renewing;
	struct sigaction old;
	sigemptyset(&renewing);
	sigemptyset(&screen.painting);
	for (size_t i = 0; i < COUNT(renews); i++) {
		sigaddset(&renewing, renews[i]);
		sigaction(renews[i], &renewal, NULL);
	}
	sigprocmask(SIG_BLOCK, &renewing, &screen.waiting);
	for (size_t i = 0; i < COUNT(renews); i++)
		sigdelset(&screen.waiting, renews[i]);
	for (size_t i = 0; i < COUNT(ends); i++) {
		sigaddset(&screen.painting, ends[i]);
		if (!sigaction(ends[i], NULL, &old) && old.sa_handler == SIG_DFL)
			catch_end(ends[i]);
	}
	sigaddset(&screen.painting, SIGTTOU);
}

void screen_open(void)
{
	setlocale(LC_CTYPE, "C.UTF-8"); // for the widths of characters, as in tables
	catch_signals();
	xalloc_before_end = give_back;
	if (isatty(STDERR_FILENO))
		err_gather(&screen.messages);
}

void screen_close(void)
{
	give_back();
	err_gather(NULL);
	write_fully(STDERR_FILENO, screen.messages.data, screen.messages.len);
	screen.messages.len = 0;
}

void screen_wait(uint64_t ns)
{
	const struct timespec t = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
	if (!screen.renew)
		ppoll(NULL, 0, &t, &screen.waiting);
	screen.renew = 0;
}

// --- painting pages ---

struct page {
	struct buf text;
	unsigned columns, rows, used;
};

static unsigned from_environment(const char *name, unsigned otherwise)
{
	const char *value = host_getenv(name);
	uint64_t n;
	return value && parse_u64(value, &n) && n && n < 10000 ? (unsigned)n : otherwise;
}

// Size of the window, read for each page as it may have changed.
static void read_size(struct page *p)
{
	struct winsize w = {0};
	ioctl(STDOUT_FILENO, TIOCGWINSZ, &w);
	p->columns = w.ws_col ? w.ws_col : from_environment("COLUMNS", 80);
	p->rows = w.ws_row ? w.ws_row : from_environment("LINES", 24);
}

// Returns the bytes of the character or colour at `s`, and its width in *columns.
static size_t next_character(const char *s, size_t len, unsigned *columns)
{
	wchar_t c;
	*columns = 0;
	if (*s == '\033') {
		const char *end = memchr(s, 'm', len);
		return end ? (size_t)(end - s) + 1 : len;
	}
	size_t n = text_utf8(s, len);
	int width = n && mbtowc(&c, s, n) > 0 ? wcwidth(c) : 1;
	*columns = width < 0 ? 1 : (unsigned)width;
	return n ? n : 1;
}

// Returns how many bytes of `s` fit into `columns`, and in *taken the columns that they take.
static size_t fit_columns(const char *s, size_t len, unsigned columns, unsigned *taken)
{
	size_t at = 0;
	for (*taken = 0; at < len;) {
		unsigned width;
		size_t n = next_character(s + at, len - at, &width);
		if (*taken + width > columns)
			break;
		*taken += width;
		at += n;
	}
	return at;
}

// Puts the next line of the page and returns how many bytes of the text fitted. A line that ends in
// the last column is not followed by an erase, which would remove its last character.
static size_t put_page_line(struct page *p, const char *s, size_t len)
{
	unsigned taken;
	size_t n = fit_columns(s, len, p->columns, &taken);
	if (p->used++)
		buf_puts(&p->text, "\r\n");
	buf_append(&p->text, s, n);
	if (n < len)
		buf_puts(&p->text, "\033[m");
	if (taken < p->columns)
		buf_puts(&p->text, "\033[K");
	return n;
}

static void put_head(struct page *p, const char *left, const char *right)
{
	enum { LEGIBLE = 24 }; // least columns of the left part beside the right one
	SCOPED(buf_fini) struct buf line = {0};
	unsigned taken, wide;
	fit_columns(right, strlen(right), UINT16_MAX, &wide);
	bool both = wide + LEGIBLE <= p->columns;
	unsigned room = both ? p->columns - wide - 1 : p->columns;
	buf_append(&line, left, fit_columns(left, strlen(left), room, &taken));
	if (both) {
		buf_fill(&line, ' ', room + 1 - taken);
		buf_puts(&line, right);
	}
	put_page_line(p, line.data, line.len);
}

static size_t count_lines(const struct buf *text)
{
	size_t n = 0;
	for (size_t i = 0; i < text->len; i++)
		n += text->data[i] == '\n';
	return n;
}

// Puts at most `room` lines. If there are more, the last line says how many are missing.
static void put_page_lines(struct page *p, const struct buf *text, size_t room)
{
	size_t lines = count_lines(text), shown = lines <= room ? lines : room ? room - 1 : 0;
	const char *s = text->data;
	char more[64];
	for (size_t i = 0; i < shown; i++) {
		size_t len = strcspn(s, "\n");
		put_page_line(p, s, len);
		s += len + 1;
	}
	if (shown == lines || !room)
		return;
	snprintf(more, sizeof(more), "... %zu more line%s", lines - shown,
		 lines - shown == 1 ? "" : "s");
	put_page_line(p, more, strlen(more));
}

// Wraps messages at the right edge: cutting them would lose the advice at their end.
static void break_lines(struct buf *to, const struct buf *text, unsigned columns)
{
	for (size_t at = 0; at < text->len;) {
		const char *s = text->data + at;
		unsigned taken;
		size_t len = strcspn(s, "\n"), n = fit_columns(s, len, columns, &taken);
		n = n || !len ? n : next_character(s, len, &taken);
		buf_append(to, s, n);
		buf_puts(to, "\n");
		at += n + (s[n] == '\n');
	}
}

static void compose_page(struct page *p, const char *left, const char *right,
			 const struct buf *body)
{
	SCOPED(buf_fini) struct buf messages = {0};
	read_size(p);
	break_lines(&messages, &screen.messages, p->columns);
	size_t below = count_lines(&messages), most = (p->rows - 1) / 2;
	below = below > MESSAGES + 1 ? MESSAGES + 1 : below;
	below = below > most ? most : below;
	buf_puts(&p->text, "\033[H");
	put_head(p, left, right);
	put_page_lines(p, body, p->rows - 1 - below);
	put_page_lines(p, &messages, below);
	if (p->used < p->rows)
		buf_puts(&p->text, "\r\n\033[J");
}

// Saves the terminal's modes, then turns off the echo of keys.
static void take_modes(void)
{
	if (!screen.on)
		screen.has_modes = tcgetattr(STDOUT_FILENO, &screen.before) == 0;
	struct termios quiet = screen.before;
	quiet.c_lflag &= (tcflag_t) ~(ECHO | ECHONL);
	if (screen.has_modes)
		tcsetattr(STDOUT_FILENO, TCSANOW, &quiet);
}

int screen_paint(const char *left, const char *right, const struct buf *body)
{
	struct page p = {0};
	sigset_t before;
	// A process in the background is stopped here (SIGTTOU), before it paints over the
	// foreground.
	tcdrain(STDOUT_FILENO);
	sigprocmask(SIG_BLOCK, &screen.painting, &before);
	take_modes();
	buf_puts(&p.text, screen.on ? "" : ENTER);
	compose_page(&p, left, right, body);
	screen.on = 1;
	int error = write_fully(STDOUT_FILENO, p.text.data, p.text.len) ? errno : 0;
	struct buf old = screen.shown;
	screen.shown = screen.messages;
	screen.messages = old;
	screen.messages.len = 0;
	sigprocmask(SIG_SETMASK, &before, NULL);
	buf_fini(&p.text);
	return error;
}
