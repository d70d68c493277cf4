// Messages on stderr; see err.h.
#include "common/cli/err.h"

#include "common/cli/json.h"
#include "common/cli/text.h"
#include "common/host/buf.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

// What the messages of this process begin with and look like. Set once, before any thread.
static struct {
	const char *command;
	bool json;
	int verbose;
	bool bar; // a progress bar is to be wiped before the next message
} mode;

void err_setup(const char *command, bool json, int verbose)
{
	mode.command = command;
	mode.json = json;
	mode.verbose = verbose;
}

int err_verbose(void)
{
	return mode.verbose;
}

static const char *wipe(void)
{
	bool bar = mode.bar;
	mode.bar = false;
	return bar ? "\r\033[K" : "";
}

void err_bar(bool shown)
{
	if (!shown && mode.bar) {
		const char *w = wipe();
		ssize_t ignored = write(STDERR_FILENO, w, strlen(w));
		(void)ignored;
	}
	mode.bar = shown;
}

static enum gpq_exit status_of(int error)
{
	switch (error) {
	case EPERM:
	case EACCES: return GPQ_DENIED;
	case ENOENT:
	case ENOTDIR:
	case ENODEV:
	case ESRCH: return GPQ_NOTFOUND;
	case ENOSYS:
	case ENOTTY:
	case EOPNOTSUPP: return GPQ_UNSUPPORTED;
	default: return GPQ_FAILED;
	}
}

// Names and texts of other programs end up in messages: nothing unprintable may reach the terminal.
static void put_line(struct buf *line, const char *message, const char *next)
{
	struct buf raw = {0};
	buf_printf(&raw, "gpq: %s%s%s%s%s", mode.command ? mode.command : "",
		   mode.command ? ": " : "", message, next ? "; " : "", next ? next : "");
	text_escape(line, raw.data, raw.len);
	buf_puts(line, "\n");
	buf_fini(&raw);
}

static void put_json(struct buf *line, const char *level, int status, const char *message,
		     const char *next)
{
	struct json j;
	json_init(&j, line, false);
	json_begin(&j, NULL, '{');
	json_str(&j, "level", level);
	json_str(&j, "command", mode.command);
	json_str(&j, "message", message);
	json_str(&j, "next", next);
	if (status)
		json_u64(&j, "status", (unsigned)status);
	json_end(&j, '}');
	buf_puts(line, "\n");
}

// `level` and `status` for JSON; `cause` (may be NULL) is put behind the message.
static void report(const char *level, int status, const char *cause, const char *next,
		   const char *fmt, va_list ap)
{
	int saved = errno;
	struct buf message = {0}, line = {0};
	buf_vprintf(&message, fmt, ap);
	if (cause)
		buf_printf(&message, ": %s", cause);
	buf_puts(&line, wipe());
	if (mode.json)
		put_json(&line, level, status, message.data, next);
	else
		put_line(&line, message.data, next);
	// One write, so that messages of processes that share a terminal or a file do not mix.
	ssize_t ignored = write(STDERR_FILENO, line.data, line.len);
	(void)ignored;
	buf_fini(&message);
	buf_fini(&line);
	errno = saved;
}

int err_fail(enum gpq_exit status, const char *next, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	report("error", (int)status, NULL, next, fmt, ap);
	va_end(ap);
	return (int)status;
}

int err_sys(int error, const char *next, const char *fmt, ...)
{
	int status = (int)status_of(error);
	va_list ap;
	va_start(ap, fmt);
	report("error", status, strerror(error), next, fmt, ap);
	va_end(ap);
	return status;
}

void err_warn(const char *next, const char *fmt, ...)
{
	if (mode.verbose < 0)
		return;
	va_list ap;
	va_start(ap, fmt);
	report("warning", 0, NULL, next, fmt, ap);
	va_end(ap);
}

void err_note(const char *fmt, ...)
{
	if (mode.verbose < 1)
		return;
	va_list ap;
	va_start(ap, fmt);
	report("note", 0, NULL, NULL, fmt, ap);
	va_end(ap);
}
