// One line of a kernel trace; ftrace.h.
#include "common/ftrace/ftrace_priv.h"

#include "common/host/number.h"

#define COMM_WIDTH  16                  // TASK_COMM_LEN; blanks before shorter names
#define NUMBER_MAX  999999999999999999u // fits an int64_t with any sign
#define ENTRY_BYTES 16                  // probes at larger offsets are not at the entry

const char *ftrace_kind_name(enum ftrace_kind kind)
{
	static const char *const names[] = {"function", "entry", "return", "event", "lost"};
	return kind < FTRACE_NKINDS ? names[kind] : "unknown";
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_word(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
	       c == '.' || c == '$';
}

static void skip_blanks(struct rest *s)
{
	while (s->at < s->end && (*s->at == ' ' || *s->at == '\t'))
		s->at++;
}

static void skip_to_blank(struct rest *s)
{
	while (s->at < s->end && *s->at != ' ')
		s->at++;
}

bool ftrace_take(struct rest *s, const char *pattern, ...)
{
	struct rest t = *s;
	uint64_t n;
	va_list ap;
	va_start(ap, pattern);
	for (; t.at && *pattern; pattern++) {
		const bool hex = *pattern == '%';
		if (*pattern == '~')
			skip_blanks(&t);
		else if (!hex && *pattern != '@')
			t.at = t.at < t.end && *t.at == *pattern ? t.at + 1 : NULL;
		else if ((t.at = number_read(t.at, t.end, hex ? 16 : 10,
					     hex ? UINT64_MAX : NUMBER_MAX, &n)))
			*va_arg(ap, uint64_t *) = n;
	}
	va_end(ap);
	if (t.at)
		*s = t;
	return t.at;
}

static struct ftrace_text text_of(const char *from, const char *to)
{
	return (struct ftrace_text){from, (uint32_t)(to - from)};
}

static bool text_is(struct ftrace_text t, const char *text)
{
	return t.len == strlen(text) && memcmp(t.at, text, t.len) == 0;
}

static struct ftrace_text take_word(struct rest *s)
{
	const char *from = s->at;
	while (s->at < s->end && is_word(*s->at))
		s->at++;
	return text_of(from, s->at);
}

static bool read_lost(struct rest s, struct ftrace_record *r)
{
	static const char *const forms[] = {"CPU:@ [LOST @ EVENTS]", "CPU:@ [LOST EVENTS]",
					    "CPU:@ [@ EVENTS DROPPED]", "CPU:@ [EVENTS DROPPED]"};
	uint64_t cpu, lost = FTRACE_UNKNOWN;
	for (size_t i = 0; i < COUNT(forms); i++) {
		if (!ftrace_take(&s, forms[i], &cpu, &lost) || cpu > INT32_MAX)
			continue;
		r->kind = FTRACE_LOST;
		r->cpu = (int32_t)cpu;
		r->lost = lost;
		return true;
	}
	return false;
}

// Reads the time, "12.345678:" or with nanoseconds. A number without a fraction is no time
// (trace_clock counter, x86-tsc): r->time_ns stays FTRACE_UNKNOWN.
static bool take_time(struct rest *s, struct ftrace_record *r)
{
	uint64_t seconds, fraction = 0, unit = 1000000000;
	if (!ftrace_take(s, "@", &seconds))
		return false;
	if (ftrace_take(s, ".")) {
		for (; s->at < s->end && is_digit(*s->at); s->at++) {
			if (unit == 1)
				return false;
			unit /= 10;
			fraction += (uint64_t)(*s->at - '0') * unit;
		}
		if (seconds < UINT64_C(10000000000))
			r->time_ns = seconds * 1000000000 + fraction;
	}
	return ftrace_take(s, ":");
}

// Reads "-167     (    167) [001] d..1.    12.345678: ", which follows the task's name: thread,
// process (with the option record-tgid; (-------): not known), CPU, flags, time.
static bool take_context(struct rest *s, struct ftrace_record *r)
{
	uint64_t tid, tgid = UINT64_MAX, cpu;
	if (!ftrace_take(s, "-@~", &tid) || tid > INT32_MAX)
		return false;
	if (!ftrace_take(s, "(~@)~", &tgid))
		ftrace_take(s, "(-------)~");
	r->tid = (int64_t)tid;
	r->tgid = tgid <= INT32_MAX ? (int64_t)tgid : -1;
	if (!ftrace_take(s, "[@]~", &cpu) || cpu > UINT16_MAX)
		return false;
	r->cpu = (int32_t)cpu;
	if (s->at < s->end && !is_digit(*s->at)) { // flags: irqs-off, need-resched and so on
		skip_to_blank(s);
		skip_blanks(s);
	}
	return take_time(s, r);
}

// Reads task to time. The task's name takes 16 columns; in text that lost its leading blanks the
// name ends at any dash.
static bool take_task(struct rest *s, struct ftrace_record *r)
{
	struct rest from = *s, at = *s;
	const char *dash = NULL;
	if (s->end - s->at > COMM_WIDTH) {
		at.at = dash = from.at + COMM_WIDTH;
		if (*dash != '-' || !take_context(&at, r))
			dash = NULL;
	}
	for (const char *p = from.at; !dash && p < from.end && p - from.at < COMM_WIDTH; p++) {
		at.at = p;
		if (*p == '-' && take_context(&at, r))
			dash = p;
	}
	if (!dash)
		return false;
	skip_blanks(&from);
	r->comm = from.at < dash ? text_of(from.at, dash) : text_of(dash, dash);
	if (text_is(r->comm, "<...>"))
		r->comm.len = 0;
	*s = at;
	return true;
}

// --- kprobes: "(pqm_destroy_queue+0x4/0x250 [amdgpu]) ...", returns "(caller <- function) ..." ---

// Returns the function's name from the name of a probe's event, without the prefix and suffix that
// gpq, perf, trace-cmd and the kernel add. For text with addresses instead of names (trace-cmd).
static struct ftrace_text name_of_event(struct ftrace_text t)
{
	static const char *const ends[] = {"_ret", "__return", "__exit", "__entry"};
	bool numbered =
		t.len > 4 && t.at[1] == '_' && t.at[t.len - 1] == '0' && t.at[t.len - 2] == '_';
	if (numbered && (t.at[0] == 'p' || t.at[0] == 'r' || t.at[0] == 'f'))
		return (struct ftrace_text){t.at + 2, t.len - 4};
	for (size_t i = 0; i < COUNT(ends); i++) {
		size_t n = strlen(ends[i]);
		if (t.len > n && memcmp(t.at + t.len - n, ends[i], n) == 0)
			return (struct ftrace_text){t.at, t.len - (uint32_t)n};
	}
	return t;
}

static struct ftrace_text symbol(struct rest *s, struct ftrace_text event)
{
	bool address = s->at < s->end && (is_digit(*s->at) || ftrace_take(s, "0x"));
	struct ftrace_text t = take_word(s);
	bool hex = t.len >= 8;
	for (uint32_t i = 0; hex && i < t.len; i++)
		hex = hex_digit(t.at[i]) >= 0;
	return address || hex || !t.len ? name_of_event(event) : t;
}

// Reads what follows "event: ". If the event is no probe, the record stays an FTRACE_EVENT.
static void read_probe(struct rest s, struct ftrace_record *r)
{
	struct ftrace_text event = r->name;
	const char *close, *arrow = NULL;
	uint64_t offset;
	if (!ftrace_take(&s, "(") || !(close = memchr(s.at, ')', (size_t)(s.end - s.at))))
		return;
	for (const char *p = s.at; p + 4 <= close && !arrow; p++)
		arrow = memcmp(p, " <- ", 4) == 0 ? p : NULL;
	if (arrow)
		s.at = arrow + 4;
	struct ftrace_text function = symbol(&s, event);
	if (!arrow && ftrace_take(&s, "+0x%", &offset) && offset > ENTRY_BYTES)
		return;
	r->kind = arrow ? FTRACE_RETURN : FTRACE_ENTRY;
	r->name = function;
	s.at = close + 1;
	skip_blanks(&s);
	r->args = text_of(s.at, s.end);
}

// Reads "name: args", "name <-caller", or trace-cmd's "function: name <-- caller".
static bool read_payload(struct rest s, struct ftrace_record *r)
{
	skip_blanks(&s);
	r->name = take_word(&s);
	if (!r->name.len)
		return false;
	r->kind = FTRACE_EVENT;
	if (ftrace_take(&s, ":~")) {
		r->args = text_of(s.at, s.end);
		if (!text_is(r->name, "function")) {
			read_probe(s, r);
			return true;
		}
		r->name = take_word(&s);
	}
	if (!r->name.len || (!ftrace_take(&s, "~<--~") && !ftrace_take(&s, "~<-~")))
		return false;
	r->kind = FTRACE_FUNCTION;
	r->args = text_of(s.at, s.end);
	return true;
}

bool ftrace_line(const char *line, size_t len, struct ftrace_record *r)
{
	struct rest s = {line, line + len};
	*r = (struct ftrace_record){.time_ns = FTRACE_UNKNOWN,
				    .tid = -1,
				    .tgid = -1,
				    .cpu = -1,
				    .lost = FTRACE_UNKNOWN,
				    .inside_ns = FTRACE_UNKNOWN,
				    .process = FTRACE_NONE,
				    .comm = {line, 0},
				    .name = {line, 0},
				    .args = {line, 0}};
	if (len > UINT32_MAX)
		return false;
	return read_lost(s, r) || (take_task(&s, r) && read_payload(s, r));
}

static int64_t read_value(struct rest s)
{
	bool minus = ftrace_take(&s, "-");
	uint64_t n;
	bool number = (!minus && ftrace_take(&s, "0x%", &n)) || ftrace_take(&s, "@", &n);
	if (!number || (s.at < s.end && !strchr(" ,;", *s.at)))
		return FTRACE_NO_ARG;
	return minus ? -(int64_t)n : (int64_t)n;
}

int64_t ftrace_arg(const struct ftrace_record *r, const char *key)
{
	struct rest s = {r->args.at, r->args.at + r->args.len};
	while (s.at && s.at < s.end) {
		skip_blanks(&s);
		if (ftrace_take(&s, key) && ftrace_take(&s, "="))
			return read_value(s);
		skip_to_blank(&s);
	}
	return FTRACE_NO_ARG;
}

int64_t ftrace_call_arg(const struct ftrace_record *r, const char *key)
{
	const int64_t own = ftrace_arg(r, key);
	return own == FTRACE_NO_ARG && r->entry ? ftrace_arg(r->entry, key) : own;
}

int64_t ftrace_qid(const struct ftrace_record *r)
{
	int64_t qid = ftrace_call_arg(r, "queue_id");
	if (qid == FTRACE_NO_ARG)
		qid = ftrace_call_arg(r, "qid");
	const bool slot = r->kind == FTRACE_EVENT || ftrace_call_arg(r, "pipe") != FTRACE_NO_ARG;
	return qid != FTRACE_NO_ARG || slot ? qid : ftrace_call_arg(r, "queue");
}

bool ftrace_is(const struct ftrace_record *r, const char *function)
{
	size_t len = strlen(function);
	return r->name.len >= len && memcmp(r->name.at, function, len) == 0 &&
	       (r->name.len == len || r->name.at[len] == '.');
}
