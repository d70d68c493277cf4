// --watch repeats a listing at an interval, --wait until it shows enough rows; see command.h.
#include "cmd/command.h"

#include "common/cli/screen.h"
#include "common/cli/stop.h"
#include "common/host/clock.h"

#include <fcntl.h>
#include <time.h>

enum { LEAST_NS = 10000000 };

// --- --watch on a terminal ---

// Returns how many words of the command line --watch (also abbreviated) takes: 1 for --watch=SEC, 2
// for --watch SEC, 0 if `word` is another option.
static unsigned watch_words(const char *word)
{
	size_t len = strcspn(word, "=");
	if (len < 3 || strncmp(word, "--watch", len) != 0)
		return 0;
	return word[len] ? 1 : 2;
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

static bool goes_on(int status)
{
	return !status || status == GPQ_PARTIAL;
}

static int watch_screen(struct cmd *c, uint64_t every_ns, int (*list)(struct cmd *c))
{
	SCOPED(buf_fini) struct buf left = {0}, right = {0}, body = {0};
	int status, error = 0;
	put_left(&left, c, every_ns);
	c->out.to = &body;
	screen_open();
	while (goes_on(status = list(c))) {
		right.len = 0;
		put_right(&right);
		error = screen_paint(left.data, right.data, &body);
		if (error)
			break;
		screen_wait(every_ns);
		body.len = 0;
		troubles_forget();
	}
	screen_close();
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
	if (every_ns < LEAST_NS)
		return err_fail(GPQ_USAGE, "for example --watch 0.5",
				"--watch: the least interval is 10ms");
	if (c->out.mode == OUT_JSON)
		return err_fail(GPQ_USAGE, "use --ndjson",
				"--watch has no end, so it cannot be one JSON document");
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
				  "--wait: %zu rows at the timeout, %llu are waited for", rows,
				  (unsigned long long)least);
	buf_fini(&messages);
	const int written = out_text(&body);
	return written ? written : status;
}
