// One line of a kernel trace; ftrace.h.
#include "common/ftrace/ftrace.h"

#include "common/host/number.h"

#include <string.h>

#define COMM_WIDTH   16                  // TASK_COMM_LEN: shorter names are padded on the left
#define NUMBER_MAX   999999999999999999u // the sign fits, too
#define FAR_OF_ENTRY 16                  // bytes: a probe at a larger offset is inside the function

const char *ftrace_kind_name(enum ftrace_kind kind)
{
	static const char *const names[] = {"function", "entry", "return", "event", "lost"};

	return kind < FTRACE_NKINDS ? names[kind] : "unknown";
}

// What is left of a line.
struct rest {
	const char *at, *end;
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_word(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
	       c == '.' || c == '$';
}

static bool take_literal(struct rest *s, const char *text)
{
	size_t n = strlen(text);
	if ((size_t)(s->end - s->at) < n || memcmp(s->at, text, n) != 0)
		return false;
	s->at += n;
	return true;
}

static void skip_blanks(struct rest *s)
{
	while (s->at < s->end && (*s->at == ' ' || *s->at == '\t'))
		s->at++;
}

static bool take_number(struct rest *s, uint64_t *n)
{
	const char *behind = number_read(s->at, s->end, 10, NUMBER_MAX, n);
	s->at = behind ? behind : s->at;
	return behind;
}

static struct ftrace_text text_of(const char *from, const char *to)
{
	return (struct ftrace_text){from, (uint32_t)(to - from)};
}

static struct ftrace_text take_word(struct rest *s)
{
	const char *from = s->at;
	while (s->at < s->end && is_word(*s->at))
		s->at++;
	return text_of(from, s->at);
}

// "CPU:1 [LOST 12 EVENTS]", "CPU:1 [LOST EVENTS]", "CPU:1 [12 EVENTS DROPPED]", "CPU:1 [EVENTS
// DROPPED]"
static bool read_lost(struct rest s, struct ftrace_record *r)
{
	uint64_t cpu;
	bool pipe;
	if (!take_literal(&s, "CPU:") || !take_number(&s, &cpu) || cpu > INT32_MAX ||
	    !take_literal(&s, " ["))
		return false;
	pipe = take_literal(&s, "LOST ");
	r->kind = FTRACE_LOST;
	r->cpu = (int32_t)cpu;
	if (take_number(&s, &r->lost))
		take_literal(&s, " ");
	else
		r->lost = FTRACE_UNKNOWN;
	return take_literal(&s, pipe ? "EVENTS]" : "EVENTS DROPPED]");
}

// "(  167) " or "(-------) ", which the option record-tgid adds.
static bool take_tgid(struct rest *s, struct ftrace_record *r)
{
	uint64_t tgid;
	if (!take_literal(s, "("))
		return true;
	skip_blanks(s);
	if (take_number(s, &tgid))
		r->tgid = tgid <= INT32_MAX ? (int64_t)tgid : -1;
	while (s->at < s->end && *s->at == '-')
		s->at++;
	if (!take_literal(s, ")"))
		return false;
	skip_blanks(s);
	return true;
}

// "12.345678:" or with nanoseconds; a plain number counts something else (trace_clock counter,
// x86-tsc).
static bool take_time(struct rest *s, struct ftrace_record *r)
{
	uint64_t seconds, fraction = 0, unit = 1000000000;
	if (!take_number(s, &seconds))
		return false;
	if (s->at < s->end && *s->at == '.') {
		for (s->at++; s->at < s->end && is_digit(*s->at); s->at++) {
			if (unit == 1)
				return false;
			unit /= 10;
			fraction += (uint64_t)(*s->at - '0') * unit;
		}
		if (seconds < UINT64_C(10000000000))
			r->time_ns = seconds * 1000000000 + fraction;
	}
	return take_literal(s, ":");
}

// "-167     (    167) [001] d..1.    12.345678: ", as it stands behind the task's name.
static bool take_context(struct rest *s, struct ftrace_record *r)
{
	uint64_t tid, cpu;
	if (!take_literal(s, "-") || !take_number(s, &tid) || tid > INT32_MAX)
		return false;
	skip_blanks(s);
	r->tid = (int64_t)tid;
	r->tgid = -1;
	if (!take_tgid(s, r) || !take_literal(s, "[") || !take_number(s, &cpu) ||
	    cpu > UINT16_MAX || !take_literal(s, "]"))
		return false;
	r->cpu = (int32_t)cpu;
	skip_blanks(s);
	if (s->at < s->end && !is_digit(*s->at)) { // irqs-off, need-resched and so on
		while (s->at < s->end && *s->at != ' ')
			s->at++;
		skip_blanks(s);
	}
	return take_time(s, r);
}

// The name takes 16 columns. Text that lost its leading blanks is tried at each dash.
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
	if (r->comm.len == 5 && memcmp(r->comm.at, "<...>", 5) == 0)
		r->comm.len = 0;
	*s = at;
	return true;
}

// --- what kprobes print: "(pqm_destroy_queue+0x4/0x250 [amdgpu]) ...", of returns "(caller <-
// function) ..." ---

// At most `most` digits. False: there is none.
static bool take_hex(struct rest *s, unsigned most, uint64_t *n)
{
	const char *end = s->end - s->at > most ? s->at + most : s->end;
	const char *behind = number_read(s->at, end, 16, UINT64_MAX, n);
	s->at = behind ? behind : s->at;
	return behind;
}

static bool ends_with(struct ftrace_text *t, const char *end)
{
	size_t n = strlen(end);
	if (t->len <= n || memcmp(t->at + t->len - n, end, n) != 0)
		return false;
	t->len -= (uint32_t)n;
	return true;
}

// The function that a probe's event is named after, for texts with addresses instead of names
// (trace-cmd): without the prefix and suffix that gpq, perf, trace-cmd and the kernel add.
static struct ftrace_text name_of_event(struct ftrace_text t)
{
	static const char *const ends[] = {"_ret", "__return", "__exit", "__entry"};
	bool numbered =
		t.len > 4 && t.at[1] == '_' && t.at[t.len - 1] == '0' && t.at[t.len - 2] == '_';

	if (numbered && (t.at[0] == 'p' || t.at[0] == 'r' || t.at[0] == 'f'))
		return (struct ftrace_text){t.at + 2, t.len - 4};
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		if (ends_with(&t, ends[i]))
			break;
	}
	return t;
}

static struct ftrace_text symbol(struct rest *s, struct ftrace_text event)
{
	bool address = s->at < s->end && (is_digit(*s->at) || take_literal(s, "0x"));
	struct ftrace_text t = take_word(s);
	bool hex = t.len >= 8;
	for (uint32_t i = 0; hex && i < t.len; i++)
		hex = hex_digit(t.at[i]) >= 0;
	return address || hex || !t.len ? name_of_event(event) : t;
}

// Reads what follows "event: ". Leaves the record as it is if the event is no probe.
static void read_probe(struct rest s, struct ftrace_record *r)
{
	struct ftrace_text event = r->name, function;
	const char *close, *arrow = NULL;
	uint64_t offset;
	if (!take_literal(&s, "(") || !(close = memchr(s.at, ')', (size_t)(s.end - s.at))))
		return;
	for (const char *p = s.at; p + 4 <= close && !arrow; p++)
		arrow = memcmp(p, " <- ", 4) == 0 ? p : NULL;
	if (arrow)
		s.at = arrow + 4;
	function = symbol(&s, event);
	if (!arrow && take_literal(&s, "+0x") && take_hex(&s, 8, &offset) && offset > FAR_OF_ENTRY)
		return;
	r->kind = arrow ? FTRACE_RETURN : FTRACE_ENTRY;
	r->name = function;
	s.at = close + 1;
	skip_blanks(&s);
	r->args = text_of(s.at, s.end);
}

// "name: args", "name <-caller", and trace-cmd's "function: name <-- caller".
static bool read_payload(struct rest s, struct ftrace_record *r)
{
	skip_blanks(&s);
	r->name = take_word(&s);
	if (!r->name.len)
		return false;
	r->kind = FTRACE_EVENT;
	if (take_literal(&s, ":")) {
		skip_blanks(&s);
		r->args = text_of(s.at, s.end);
		if (r->name.len != 8 || memcmp(r->name.at, "function", 8) != 0) {
			read_probe(s, r);
			return true;
		}
		r->name = take_word(&s);
	}
	skip_blanks(&s);
	if (!r->name.len || !take_literal(&s, "<-"))
		return false;
	take_literal(&s, "-");
	skip_blanks(&s);
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

static bool read_value(struct rest s, int64_t *value)
{
	bool minus = take_literal(&s, "-");
	bool hex = !minus && take_literal(&s, "0x");
	uint64_t n;
	if (hex ? !take_hex(&s, 16, &n) : !take_number(&s, &n))
		return false;
	*value = minus ? -(int64_t)n : (int64_t)n;
	return s.at == s.end || *s.at == ' ';
}

bool ftrace_arg(const struct ftrace_record *r, const char *key, int64_t *value)
{
	struct rest s = {r->args.at, r->args.at + r->args.len};
	while (s.at && s.at < s.end) {
		skip_blanks(&s);
		if (take_literal(&s, key) && take_literal(&s, "="))
			return read_value(s, value);
		while (s.at < s.end && *s.at != ' ')
			s.at++;
	}
	return false;
}

bool ftrace_is(const struct ftrace_record *r, const char *function)
{
	size_t len = strlen(function);
	return r->name.len >= len && memcmp(r->name.at, function, len) == 0 &&
	       (r->name.len == len || r->name.at[len] == '.');
}
