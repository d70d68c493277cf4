// --watch repeats a listing at an interval, --wait until it shows enough rows; see command.h.
#include "cmd/command.h"

#include "common/cli/screen.h"
#include "common/cli/stop.h"
#include "common/host/clock.h"

#include <fcntl.h>
#include <time.h>

// --- --watch on a terminal ---

// Returns how many words of the command line --watch takes: 1 for --watch=SEC, 2 for --watch SEC, 0
// if `word` is another option.
static unsigned watch_words(const char *word)
{
	return strcmp(word, "--watch") == 0 ? 2 : strncmp(word, "--watch=", 8) == 0;
}

// Appends the command line as typed, without --watch.
static void put_command(struct buf *to, const struct cmd *c)
{
	SCOPED(buf_fini) struct buf words = {0};
	if (buf_read_at(&words, AT_FDCWD, "/proc/self/cmdline") <= 0) {
		buf_printf(to, " gpq %s", c->def->name);
		return;
	}
	unsigned skip = 0;
	for (const char *w = words.data; w < words.data + words.len; w += strlen(w) + 1) {
		bool first = w == words.data;
		skip = skip ? skip - 1 : watch_words(w);
		if (skip)
			continue;
		bool plain = *w && !w[strcspn(w, " \t\n\"'$&|;<>()*?[]#~\\`")];
		buf_printf(to, plain ? " %s" : " '%s'", first ? basename(w) : w);
	}
}

static void put_left(struct buf *to, const struct cmd *c, uint64_t every_ns)
{
	SCOPED(buf_fini) struct buf text = {0};
	buf_printf(&text, "Every %.9gs:", (double)every_ns / 1e9);
	put_command(&text, c);
	text_escape(to, text.data, text.len);
}

// Appends the host's name and the present time: "host: 2026-11-22 23:05:19".
static void put_right(struct buf *to)
{
	SCOPED(buf_fini) struct buf host = {0};
	struct tm tm;
	char text[32];
	time_t now = time(NULL);
	if (host_read(&host, "/proc/sys/kernel/hostname") > 0) {
		text_escape(to, host.data, strcspn(host.data, "\n"));
		buf_puts(to, ": ");
	}
	strftime(text, sizeof(text), "%F %T", localtime_r(&now, &tm));
	buf_puts(to, text);
}

// --- keys ---

static char help[] = "Keys of --watch\n\n"
		     "arrows, Page Up, Page Down, Home, End   scroll\n"
		     "s   sort by the next column, greatest numbers first\n"
		     "r   the other way round\n"
		     "/   only rows that match, as PID == 41207 (see FILTERS in gpq(1))\n"
		     "Space   pause, go on\n"
		     "h   this help\n"
		     "q   end\n";

struct view {
	struct cmd *c;
	const struct out_table *table; // what `s` sorts
	char sort[64];                 // --sort by keys: "-BACKLOG"
	struct buf head;               // how often, and the command line
	struct buf typed, filter;      // what is typed behind '/', and the last of it
	size_t top;                    // lines that are scrolled out
	bool typing, paused, helps, ended;
};

static bool is_number(const struct out_col *c)
{
	return c->type != OUT_STR && c->type != OUT_LIST && c->type != OUT_HEX;
}

// Sorts by the next column that is shown; behind the last one, in the order of the command line.
static void sort_by_next(struct view *v)
{
	const struct out_table *t = v->table;
	unsigned i = 0;
	while (*v->sort && i < t->ncols &&
	       strcmp(t->cols[i].name, v->sort + (*v->sort == '-')) != 0)
		i++;
	for (i += *v->sort != 0; i < t->ncols; i++)
		if (out_would_want(&v->c->out, t, t->cols[i].name))
			break;
	if (i < t->ncols)
		snprintf(v->sort, sizeof(v->sort), "%s%s", is_number(&t->cols[i]) ? "-" : "",
			 t->cols[i].name);
	else
		v->sort[0] = '\0';
}

static void turn_sort(struct view *v)
{
	char turned[sizeof(v->sort)];
	const bool down = *v->sort == '-';
	snprintf(turned, sizeof(turned), "%s%.60s", down ? "" : "-", v->sort + down);
	if (*v->sort)
		memcpy(v->sort, turned, sizeof(turned));
}

// A key of the line behind '/'. Returns true when the line is complete.
static bool type_key(struct view *v, int key)
{
	const bool ends = key == '\n' || key == '\r';
	v->typing = !ends && key != '\033';
	if ((key == 127 || key == '\b') && v->typed.len)
		v->typed.data[--v->typed.len] = '\0';
	else if (key >= ' ' && key < 127)
		buf_append(&v->typed, (const char[]){(char)key}, 1);
	if (ends) {
		v->filter.len = v->top = 0;
		buf_append(&v->filter, v->typed.data ? v->typed.data : "", v->typed.len);
	}
	return ends;
}

// Acts on a key. Returns true if the listing is to be made anew at once.
static bool act(struct view *v, int key)
{
	const size_t page = screen_page(), top = v->top;
	const bool helped = v->helps;
	if (v->typing)
		return type_key(v, key);
	v->helps = key == 'h' && !helped;
	switch (key) {
	case KEY_UP: v->top -= top > 0; break;
	case KEY_DOWN: v->top++; break;
	case KEY_PAGE_UP: v->top = top > page ? top - page : 0; break;
	case KEY_PAGE_DOWN: v->top += page; break;
	case KEY_HOME: v->top = 0; break;
	case KEY_END: v->top = SIZE_MAX / 2; break;
	case 's': sort_by_next(v); return true;
	case 'r': turn_sort(v); return true;
	case '/':
		v->typing = true;
		v->typed.len = 0;
		break;
	case ' ': v->paused = !v->paused; return !v->paused;
	case 'q': v->ended = true; break;
	default: break;
	}
	return false;
}

static bool goes_on(int status)
{
	return !status || status == GPQ_PARTIAL || status == GPQ_STUCK;
}

// Makes the listing as the keys ask. What of that it does not take is dropped, with a message.
static int list_view(struct view *v, int (*list)(struct cmd *c))
{
	struct out_opts *o = &v->c->out;
	const char *const sort = o->sort, *const filter = o->filter;
	const bool asked = *v->sort || v->filter.len;
	o->sort = *v->sort ? v->sort : sort;
	o->filter = v->filter.len ? v->filter.data : filter;
	o->to->len = 0;
	troubles_forget();
	int status = list(v->c);
	o->sort = sort;
	o->filter = filter;
	if (status != GPQ_USAGE || !asked)
		return status;
	v->typing = v->filter.len; // what was typed can be mended
	v->sort[0] = '\0';
	v->filter.len = 0;
	o->to->len = 0;
	return list(v->c);
}

static int paint_view(struct view *v)
{
	SCOPED(buf_fini) struct buf left = {0}, right = {0};
	const struct buf helps = {.data = help, .len = sizeof(help) - 1};
	// What keys chose comes first, since a long command line is cut.
	if (v->paused)
		buf_puts(&left, "(paused) ");
	if (*v->sort)
		buf_printf(&left, "--sort %s ", v->sort);
	if (v->filter.len)
		buf_printf(&left, "--filter '%s' ", v->filter.data);
	buf_append(&left, v->head.data, v->head.len);
	if (v->typing) {
		left.len = 0;
		buf_printf(&left, "Filter: %s", v->typed.len ? v->typed.data : "");
	}
	put_right(&right);
	return screen_paint(left.data, right.data, v->helps ? &helps : v->c->out.to, &v->top);
}

static int watch_screen(struct cmd *c, uint64_t every_ns, int (*list)(struct cmd *c))
{
	SCOPED(buf_fini) struct buf body = {0}, shown = {0};
	struct view v = {.c = c, .table = c->out.only ? c->out.only : cmd_prints(c)[0]};
	int status, error = 0;
	put_left(&v.head, c, every_ns);
	c->out.to = &body;
	screen_open();
	status = list_view(&v, list);
	for (uint64_t next = clock_ns() + every_ns; goes_on(status) && !error && !v.ended;) {
		error = paint_view(&v);
		shown.len = 0;
		buf_append(&shown, body.data ? body.data : "", body.len);
		const uint64_t now = clock_ns();
		const int key = error ? KEY_NONE : screen_wait(next > now ? next - now : 0);
		if (key != KEY_NONE ? act(&v, key) : !v.paused)
			status = list_view(&v, list);
		if (key == KEY_NONE)
			next = clock_ns() + every_ns;
	}
	screen_close();
	if (!error && !v.ended && shown.len) // it ended by itself: what was seen last stays
		write_fully(STDOUT_FILENO, shown.data, shown.len);
	buf_fini(&v.head);
	buf_fini(&v.typed);
	buf_fini(&v.filter);
	return error ? err_sys(error, NULL, "standard output") : status;
}

// --- --watch without a full-screen view ---

static int watch_stream(struct cmd *c, uint64_t every_ns, int (*list)(struct cmd *c))
{
	int status;
	while (goes_on(status = list(c))) {
		c->out.noheadings = true;
		if (!stop_sleep(clock_ns() + every_ns)) // false only if `list` called stop_watch()
			return stop_status();
	}
	return status;
}

int watch_run(struct cmd *c, uint64_t every_ns, int (*list)(struct cmd *c))
{
	if (every_ns == WATCH_OFF)
		return list(c);
	if (c->out.mode == OUT_TABLE && screen_is_there())
		return watch_screen(c, every_ns, list);
	if (c->out.mode == OUT_TABLE && !isatty(STDOUT_FILENO))
		c->out.mode = OUT_NDJSON;
	return watch_stream(c, every_ns, list);
}

// --- --wait ---

int wait_run(struct cmd *c, uint64_t least, uint64_t timeout_ns, int (*list)(struct cmd *c),
	     bool (*hopeless)(const struct cmd *c))
{
	enum { PAUSE_MS = 100 };
	const uint64_t start = clock_ns();
	const uint64_t end = timeout_ns > UINT64_MAX - start ? UINT64_MAX : start + timeout_ns;
	struct buf body = {0}, messages = {0};
	bool met = false, over = false, late = false;
	size_t rows = 0;
	int status = -1; // nothing was listed yet
	c->out.to = &body;
	c->out.rows = &rows;
	err_gather(&messages);
	while (!met && !over) {
		const uint64_t next = clock_in_ms(PAUSE_MS);
		if (status >= 0)
			stop_sleep(end < next ? end : next);
		troubles_forget();
		body.len = messages.len = rows = 0;
		status = list(c);
		bool known = goes_on(status) || status == GPQ_NOTFOUND;
		met = known && (least ? rows >= least : !rows);
		over = !known || (status == GPQ_NOTFOUND && hopeless(c)) ||
		       (late = clock_ns() >= end);
	}
	err_gather(NULL);
	if (met && status == GPQ_NOTFOUND) // --wait 0 waits for no rows
		status = GPQ_OK;
	else
		write_fully(STDERR_FILENO, messages.data ? messages.data : "", messages.len);
	if (!met && late)
		status = err_fail(GPQ_DEADLINE, NULL,
				  "--wait: %zu row%s at the timeout, %llu %s waited for", rows,
				  text_s(rows), (unsigned long long)least, text_are(least));
	buf_fini(&messages);
	const int written = out_text(&body);
	return written ? written : status;
}
