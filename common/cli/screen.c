// A full-screen view on a terminal; screen.h. Sequences: ctlseqs of xterm, console_codes(4).
#include "common/cli/screen.h"

#include "common/cli/err.h"
#include "common/cli/text.h"
#include "common/cli/width.h"
#include "common/host/secure.h"

#include <poll.h>
#include <signal.h>
#include <termios.h>
#include <time.h>

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
	struct termios before; // the terminal's modes before the view began
	bool has_modes;        // `before` could be read
	bool no_keys;          // standard input is no terminal, or has ended
	char keys[32];         // bytes that were read and not taken as keys yet
	size_t nkeys;
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
	catch_signals();
	screen.no_keys = !isatty(STDIN_FILENO);
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

// What keys send that are no characters (ctlseqs of xterm; 1~ and 4~ are of the Linux console).
static const struct {
	const char *sequence;
	int key;
} sequences[] = {
	{"\033[A", KEY_UP},   {"\033OA", KEY_UP},       {"\033[B", KEY_DOWN},
	{"\033OB", KEY_DOWN}, {"\033[5~", KEY_PAGE_UP}, {"\033[6~", KEY_PAGE_DOWN},
	{"\033[H", KEY_HOME}, {"\033OH", KEY_HOME},     {"\033[1~", KEY_HOME},
	{"\033[F", KEY_END},  {"\033OF", KEY_END},      {"\033[4~", KEY_END},
};

// Takes one key of what was read. Of a sequence that is not known, all that was read is dropped.
static int take_key(void)
{
	int key = (unsigned char)screen.keys[0];
	size_t n = 1;
	if (key == '\033' && screen.nkeys > 1) {
		key = KEY_OTHER;
		n = screen.nkeys;
	}
	for (size_t i = 0; key == KEY_OTHER && i < COUNT(sequences); i++) {
		const size_t len = strlen(sequences[i].sequence);
		if (len <= screen.nkeys && memcmp(screen.keys, sequences[i].sequence, len) == 0) {
			key = sequences[i].key;
			n = len;
		}
	}
	screen.nkeys -= n;
	memmove(screen.keys, screen.keys + n, screen.nkeys);
	return key;
}

int screen_wait(uint64_t ns)
{
	const struct timespec t = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
	struct pollfd in = {.fd = screen.no_keys ? -1 : STDIN_FILENO, .events = POLLIN};
	if (screen.nkeys)
		return take_key();
	if (!screen.renew && ppoll(&in, 1, &t, &screen.waiting) > 0) {
		const ssize_t n = read(STDIN_FILENO, screen.keys, sizeof(screen.keys));
		screen.nkeys = n > 0 ? (size_t)n : 0;
		screen.no_keys = n <= 0;
	}
	screen.renew = 0;
	return screen.nkeys ? take_key() : KEY_NONE;
}

size_t screen_page(void)
{
	const size_t rows = terminal_size().rows;
	return rows > 4 ? rows - 4
			: 1; // of them the head, the heading, "... more", and a line that stays
}

// --- painting pages ---

struct page {
	struct buf text;
	struct terminal_size size; // read for each page, as it may have changed
	unsigned used;
};

// Puts the next line of the page and returns how many bytes of the text fitted. A line that ends in
// the last column is not followed by an erase, which would remove its last character.
static size_t put_page_line(struct page *p, const char *s, size_t len)
{
	size_t taken;
	size_t n = text_fit(s, len, p->size.columns, &taken);
	if (p->used++)
		buf_puts(&p->text, "\r\n");
	buf_append(&p->text, s, n);
	if (n < len)
		buf_puts(&p->text, "\033[m");
	if (taken < p->size.columns)
		buf_puts(&p->text, "\033[K");
	return n;
}

static void put_head(struct page *p, const char *left, const char *right)
{
	enum { LEGIBLE = 24 }; // least columns of the left part beside the right one
	SCOPED(buf_fini) struct buf line = {0};
	size_t taken, wide;
	text_fit(right, strlen(right), SIZE_MAX, &wide);
	bool both = wide + LEGIBLE <= p->size.columns;
	size_t room = both ? p->size.columns - wide - 1 : p->size.columns;
	buf_append(&line, left, text_fit(left, strlen(left), room, &taken));
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

// Puts at most `room` lines, without *top of those behind the first. If there are more, the last
// line says how many are missing.
static void put_page_lines(struct page *p, const struct buf *text, size_t room, size_t *top)
{
	const size_t all = count_lines(text), most = all > room ? all - room : 0;
	*top = *top < most ? *top : most;
	size_t lines = all - *top, shown = lines <= room ? lines : room ? room - 1 : 0;
	const char *s = text->data;
	char more[64];
	for (size_t i = 0, line = 0; line < shown; i++) {
		size_t len = strcspn(s, "\n");
		if (i == 0 || i > *top) {
			put_page_line(p, s, len);
			line++;
		}
		s += len + 1;
	}
	if (shown == lines || !room)
		return;
	snprintf(more, sizeof(more), "... %zu more line%s", lines - shown,
		 lines - shown == 1 ? "" : "s");
	put_page_line(p, more, strlen(more));
}

// Wraps messages between words: cutting them would lose the advice at their end.
static void break_lines(struct buf *to, const struct buf *text, unsigned columns)
{
	for (size_t at = 0; at < text->len;) {
		const char *s = text->data + at;
		size_t taken, len = strcspn(s, "\n"), n = text_fit(s, len, columns, &taken);
		size_t word = n;
		while (n < len && word && s[word] != ' ')
			word--;
		n = word ? word : n || !len ? n : 1;
		buf_append(to, s, n);
		buf_puts(to, "\n");
		at += n + (s[n] == '\n' || s[n] == ' ');
	}
}

static void compose_page(struct page *p, const char *left, const char *right,
			 const struct buf *body, size_t *top)
{
	size_t none = 0;
	SCOPED(buf_fini) struct buf messages = {0};
	p->size = terminal_size();
	break_lines(&messages, &screen.messages, p->size.columns);
	size_t below = count_lines(&messages), most = (p->size.rows - 1) / 2;
	below = below > MESSAGES + 1 ? MESSAGES + 1 : below;
	below = below > most ? most : below;
	buf_puts(&p->text, "\033[H");
	put_head(p, left, right);
	put_page_lines(p, body, p->size.rows - 1 - below, top);
	put_page_lines(p, &messages, below, &none);
	if (p->used < p->size.rows)
		buf_puts(&p->text, "\r\n\033[J");
}

// Saves the terminal's modes, then turns off the echo of keys, and their collection to lines.
static void take_modes(void)
{
	if (!screen.on)
		screen.has_modes = tcgetattr(STDOUT_FILENO, &screen.before) == 0;
	struct termios quiet = screen.before;
	quiet.c_lflag &= (tcflag_t) ~(ECHO | ECHONL | (screen.no_keys ? 0 : ICANON));
	if (screen.has_modes)
		tcsetattr(STDOUT_FILENO, TCSANOW, &quiet);
}

int screen_paint(const char *left, const char *right, const struct buf *body, size_t *top)
{
	struct page p = {0};
	sigset_t before;
	// A process in the background is stopped here (SIGTTOU), before it paints over the
	// foreground.
	tcdrain(STDOUT_FILENO);
	sigprocmask(SIG_BLOCK, &screen.painting, &before);
	take_modes();
	buf_puts(&p.text, screen.on ? "" : ENTER);
	compose_page(&p, left, right, body, top);
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
