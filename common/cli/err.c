// Messages on stderr; see err.h.
#include "common/cli/err.h"

#include "common/cli/json.h"
#include "common/cli/text.h"
#include "common/cli/width.h"

#include <stdatomic.h>

// How this process writes messages. `command`, `json` and `verbose` are set before any thread
// starts.
static struct {
	const char *command;
	bool json;
	int verbose;
	bool bar;             // a progress bar is to be wiped before the next message
	_Atomic size_t lines; // that messages took on a terminal
	struct buf *gathered; // where messages go instead of stderr, or NULL
	const char *at;       // err_at()
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

void err_at(const char *where)
{
	mode.at = where;
}

size_t err_lines(void)
{
	return isatty(STDERR_FILENO) ? mode.lines : 0;
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
	const unsigned columns = terminal_columns(STDERR_FILENO);
	// Where blanks stand together the text is not to be changed.
	if (!mode.gathered && isatty(STDERR_FILENO) && !strstr(raw.data, "  ")) {
		SCOPED(buf_fini) struct buf safe = {0};
		text_escape(&safe, raw.data, raw.len);
		text_wrap_to(line, columns, 0, 4, safe.data, safe.len);
		for (const char *s = line->data, *end; (end = strchr(s, '\n')); s = end + 1)
			mode.lines +=
				(size_t)(end - s) > columns ? ((size_t)(end - s) - 1) / columns : 0;
		return;
	}
	text_escape(line, raw.data, raw.len);
	buf_puts(line, "\n");
}

struct message {
	const char *level, *text, *next;
	int status; // exit status of a failure; 0: the message is of no failure
};

static void put_message_json(struct json *j, const char *key, const struct message *m)
{
	json_begin_flat(j, key, '{');
	json_str(j, "level", m->level);
	json_str(j, "command", mode.command);
	json_str(j, "message", m->text);
	json_str(j, "next", m->next);
	if (m->status)
		json_u64(j, "status", (unsigned)m->status);
	json_end(j, '}');
}

// The last failure in JSON modes, of any thread: its message and what to do next, each ended by a
// NUL.
static char *_Atomic failure;

static void keep_failure(const struct message *m)
{
	struct buf b = {0};
	buf_append(&b, m->text, strlen(m->text) + 1);
	buf_puts(&b, m->next ? m->next : "");
	free(atomic_exchange(&failure, b.data));
}

bool err_has_failed(void)
{
	return atomic_load(&failure);
}

void err_failure(struct json *j, const char *key, int status)
{
	SCOPED(free_at) char *text = atomic_exchange(&failure, NULL);
	const char *next = text ? text + strlen(text) + 1 : "";
	put_message_json(j, key, &(struct message){"error", text, *next ? next : NULL, status});
}

int err_report(enum err_kind kind, int number, const char *next, const char *fmt, ...)
{
	static const char *const levels[] = {"error", "error", "warning", "note", "note"};
	int saved = errno, status = kind == ERR_SYS ? (int)status_of_errno(number) : number;
	SCOPED(buf_fini) struct buf message = {0}, line = {0};
	va_list ap;
	if ((kind >= ERR_WARN && mode.verbose < 0) || (kind == ERR_NOTE && mode.verbose < 1))
		return status;
	if (mode.at)
		buf_printf(&message, "%s: ", mode.at);
	va_start(ap, fmt);
	buf_vprintf(&message, fmt, ap);
	va_end(ap);
	if (kind == ERR_SYS)
		buf_printf(&message, ": %s", strerror(number));
	if (!mode.gathered)
		buf_puts(&line, err_wipe());
	if (mode.json) {
		const struct message m = {levels[kind], message.data, next, status};
		struct json j;
		json_init(&j, &line, false);
		put_message_json(&j, NULL, &m);
		buf_puts(&line, "\n");
		if (kind <= ERR_SYS)
			keep_failure(&m);
	} else {
		put_message_line(&line, message.data, next);
	}
	// One write, so that messages of processes that share a terminal or a file do not mix.
	ssize_t ignored = mode.gathered ? 0 : write(STDERR_FILENO, line.data, line.len);
	(void)ignored;
	for (size_t i = 0; i < line.len; i++)
		mode.lines += line.data[i] == '\n';
	if (mode.gathered)
		buf_append(mode.gathered, line.data, line.len);
	errno = saved;
	return status;
}
