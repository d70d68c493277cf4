// Messages on stderr; see err.h.
#include "common/cli/err.h"

#include "common/cli/json.h"
#include "common/cli/text.h"

// How this process writes messages. `command`, `json` and `verbose` are set before any thread
// starts.
static struct {
	const char *command;
	bool json;
	int verbose;
	bool bar;             // a progress bar is to be wiped before the next message
	struct buf *gathered; // where messages go instead of stderr, or NULL
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

void err_gather(struct buf *to)
{
	mode.gathered = to;
}

static const char *err_wipe(void)
{
	bool bar = mode.bar;
	mode.bar = false;
	return bar ? "\r\033[K" : "";
}

void err_bar(bool shown)
{
	if (!shown && mode.bar) {
		const char *w = err_wipe();
		ssize_t ignored = write(STDERR_FILENO, w, strlen(w));
		(void)ignored;
	}
	mode.bar = shown;
}

static enum gpq_exit status_of_errno(int error)
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
static void put_message_line(struct buf *line, const char *message, const char *next)
{
	SCOPED(buf_fini) struct buf raw = {0};
	buf_printf(&raw, "gpq: %s%s%s%s%s", mode.command ? mode.command : "",
		   mode.command ? ": " : "", message, next ? "; " : "", next ? next : "");
	text_escape(line, raw.data, raw.len);
	buf_puts(line, "\n");
}

static void put_message_json(struct buf *line, const char *level, int status, const char *message,
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

int err_report(enum err_kind kind, int number, const char *next, const char *fmt, ...)
{
	static const char *const levels[] = {"error", "error", "warning", "note", "note"};
	int saved = errno, status = kind == ERR_SYS ? (int)status_of_errno(number) : number;
	SCOPED(buf_fini) struct buf message = {0}, line = {0};
	va_list ap;
	if ((kind >= ERR_WARN && mode.verbose < 0) || (kind == ERR_NOTE && mode.verbose < 1))
		return status;
	va_start(ap, fmt);
	buf_vprintf(&message, fmt, ap);
	va_end(ap);
	if (kind == ERR_SYS)
		buf_printf(&message, ": %s", strerror(number));
	if (!mode.gathered)
		buf_puts(&line, err_wipe());
	if (mode.json)
		put_message_json(&line, levels[kind], status, message.data, next);
	else
		put_message_line(&line, message.data, next);
	// One write, so that messages of processes that share a terminal or a file do not mix.
	ssize_t ignored = mode.gathered ? 0 : write(STDERR_FILENO, line.data, line.len);
	(void)ignored;
	if (mode.gathered)
		buf_append(mode.gathered, line.data, line.len);
	errno = saved;
	return status;
}
