// Parsing and formatting of the holder's lines.
#include "common/holder/protocol.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const verbs[] = {
	[HOLDER_SUSPEND] = "suspend", [HOLDER_HOLD] = "hold",     [HOLDER_RELEASE] = "release",
	[HOLDER_RESUME] = "resume",   [HOLDER_QUEUES] = "queues", [HOLDER_STATUS] = "status",
};

static const char *const types[] = {
	[KFD_SNAPSHOT_COMPUTE] = "compute",
	[KFD_SNAPSHOT_SDMA] = "sdma",
	[KFD_SNAPSHOT_COMPUTE_AQL] = "aql",
	[KFD_SNAPSHOT_SDMA_XGMI] = "sdma-xgmi",
};

#define NUM(a)    (sizeof(a) / sizeof((a)[0]))
#define BIT(verb) (1u << (verb))

const char *kfd_snapshot_type_name(uint32_t type)
{
	return type < NUM(types) ? types[type] : "unknown";
}

static uint32_t type_from_name(const char *name)
{
	uint32_t t = 0;

	while (t < NUM(types) && strcmp(types[t], name) != 0)
		t++;
	return t;
}

// An unsigned decimal number up to `max` and nothing else.
static bool number(const char *s, uint64_t max, uint64_t *value)
{
	char *end;

	if (!s || *s < '0' || *s > '9')
		return false;
	errno = 0;
	*value = strtoull(s, &end, 10);
	return *end == '\0' && errno == 0 && *value <= max;
}

static bool list(char *s, uint64_t max, uint32_t *to, unsigned room, unsigned *num)
{
	uint64_t value;

	while (s) {
		char *word = strsep(&s, ",");

		if (*num == room || !number(word, max, &value))
			return false;
		to[(*num)++] = (uint32_t)value;
	}
	return true;
}

enum option { QUEUES, GPUS, GRACE, FOR, TIE, IDLE, KEEP, ADDRESSES, NOTRACE };

// Which requests take which words, and whether they have a value.
static const struct word {
	const char *name;
	unsigned verbs;
	bool valued;
} words[] = {
	[QUEUES] = {"queues", BIT(HOLDER_SUSPEND) | BIT(HOLDER_RESUME), true},
	[GPUS] = {"gpus", BIT(HOLDER_SUSPEND) | BIT(HOLDER_RESUME), true},
	[GRACE] = {"grace", BIT(HOLDER_SUSPEND), true},
	[FOR] = {"for_ns", BIT(HOLDER_SUSPEND), true},
	[TIE] = {"tie", BIT(HOLDER_SUSPEND), false},
	[IDLE] = {"idle", BIT(HOLDER_SUSPEND), false},
	[KEEP] = {"keep", BIT(HOLDER_RESUME) | BIT(HOLDER_RELEASE), false},
	[ADDRESSES] = {"addresses", BIT(HOLDER_SUSPEND) | BIT(HOLDER_QUEUES), false},
	[NOTRACE] = {"notrace", BIT(HOLDER_SUSPEND), false},
};

static bool take_option(enum option o, char *value, struct holder_request *r)
{
	struct kfd_selection *s = &r->sel;
	uint64_t n;

	switch (o) {
	case QUEUES: return list(value, KFD_QUEUE_ID_MASK, s->ids, NUM(s->ids), &s->num_ids);
	case GPUS: return list(value, UINT32_MAX, s->gpus, NUM(s->gpus), &s->num_gpus);
	case GRACE:
		if (!number(value, KFD_GRACE_MAX, &n))
			return false;
		r->grace = (unsigned)n;
		return true;
	case FOR: return number(value, INT64_MAX, &r->for_ns) && r->for_ns > 0;
	case TIE: r->tie = true; return true;
	case IDLE: r->idle = true; return true;
	case KEEP: r->keep = true; return true;
	case ADDRESSES: r->addresses = true; return true;
	case NOTRACE: r->untraced = true; return true;
	}
	return false;
}

// A word as it came, for a message: reading it cuts it up.
static void keep_word(char shown[64], const char *word)
{
	if (!memccpy(shown, word, '\0', 63))
		shown[63] = '\0';
}

static bool take_word(char *word, struct holder_request *r)
{
	char *value = strchr(word, '=');

	if (value)
		*value++ = '\0';
	for (size_t i = 0; i < NUM(words); i++)
		if (strcmp(word, words[i].name) == 0 && (words[i].verbs & BIT(r->verb)) &&
		    words[i].valued == (value != NULL))
			return take_option((enum option)i, value, r);
	return false;
}

int holder_request_parse(char *line, struct holder_request *r, struct kfd_failure *f)
{
	char *rest = line, *word = strsep(&rest, " "), shown[64];

	// Not the lists: they are long, and this is on the way of every suspension.
	r->verb = 0;
	r->sel.num_ids = r->sel.num_gpus = r->grace = 0;
	r->for_ns = 0;
	r->tie = r->idle = r->keep = r->addresses = r->untraced = false;
	while (r->verb < NUM(verbs) && strcmp(word, verbs[r->verb]) != 0)
		r->verb++;
	keep_word(shown, word);
	if (r->verb == NUM(verbs))
		return kfd_fail(f, KFD_FAULT_REQUEST, shown);
	while ((word = strsep(&rest, " "))) {
		keep_word(shown, word);
		if (!take_word(word, r))
			return kfd_fail(f, KFD_FAULT_REQUEST, shown);
	}
	return 0;
}

char *line_put(char *to, const char *s)
{
	size_t n = strlen(s);

	memcpy(to, s, n + 1);
	return to + n;
}

char *line_put_number(char *to, const char *key, uint64_t value, unsigned base)
{
	char digits[24], *d = digits + sizeof(digits);

	*--d = '\0';
	do
		*--d = "0123456789abcdef"[value % base];
	while (value /= base);
	return line_put(line_put(to, key), d);
}

size_t holder_format_queue(char *to, const struct kfd_answer_queue *q, bool addresses)
{
	const struct kfd_queue_entry *e = &q->queue;
	char *p = line_put_number(to, "queue id=", e->queue_id, 10);

	p = line_put_number(p, " gpu=", e->gpu_id, 10);
	p = line_put(line_put(p, " type="), kfd_snapshot_type_name(e->queue_type));
	p = line_put(line_put(p, " result="), kfd_result_name(q->result));
	p = line_put_number(p, " latency_ns=", q->latency_ns, 10);
	p = line_put_number(p, " until_ns=", q->until_ns, 10);
	if (addresses) {
		p = line_put_number(p, " ring=", e->ring_base_address, 16);
		p = line_put_number(p, " ring_size=", e->ring_size, 10);
		p = line_put_number(p, " read=", e->read_pointer_address, 16);
		p = line_put_number(p, " write=", e->write_pointer_address, 16);
		p = line_put_number(p, " ctx=", e->ctx_save_restore_address, 16);
		p = line_put_number(p, " ctx_size=", e->ctx_save_restore_area_size, 10);
		p = line_put_number(p, " xccs=", q->xccs, 10);
	}
	return (size_t)(line_put(p, "\n") - to);
}

size_t holder_format_ok(char *to, pid_t target, const struct kfd_answer *a)
{
	char *p = line_put_number(to, "ok holder=", (uint64_t)a->holder, 10);

	p = line_put_number(p, " target=", (uint64_t)target, 10);
	p = line_put_number(p, " held=", a->held, 10);
	p = line_put_number(p, " since_ns=", a->since_ns, 10);
	p = line_put_number(p, " until_ns=", a->until_ns, 10);
	p = line_put_number(p, " follows=", a->follows, 10);
	p = line_put_number(p, " kept=", a->kept, 10);
	p = line_put_number(p, " ended=", a->ended, 10);
	return (size_t)(line_put(p, "\n") - to);
}

static void take_queue_word(const char *key, const char *value, struct kfd_answer_queue *q)
{
	struct kfd_queue_entry *e = &q->queue;
	uint64_t n = strtoull(value, NULL, 10), x = strtoull(value, NULL, 16);

	if (strcmp(key, "id") == 0)
		e->queue_id = (uint32_t)n;
	else if (strcmp(key, "gpu") == 0)
		e->gpu_id = (uint32_t)n;
	else if (strcmp(key, "type") == 0)
		e->queue_type = type_from_name(value);
	else if (strcmp(key, "result") == 0)
		q->result = kfd_result_from_name(value);
	else if (strcmp(key, "latency_ns") == 0)
		q->latency_ns = n;
	else if (strcmp(key, "until_ns") == 0)
		q->until_ns = n;
	else if (strcmp(key, "ring") == 0)
		e->ring_base_address = x;
	else if (strcmp(key, "ring_size") == 0)
		e->ring_size = (uint32_t)n;
	else if (strcmp(key, "read") == 0)
		e->read_pointer_address = x;
	else if (strcmp(key, "write") == 0)
		e->write_pointer_address = x;
	else if (strcmp(key, "ctx") == 0)
		e->ctx_save_restore_address = x;
	else if (strcmp(key, "ctx_size") == 0)
		e->ctx_save_restore_area_size = (uint32_t)n;
	else if (strcmp(key, "xccs") == 0)
		q->xccs = (unsigned)n;
}

static void take_ok_word(const char *key, const char *value, struct kfd_answer *a)
{
	uint64_t n = strtoull(value, NULL, 10);

	if (strcmp(key, "holder") == 0)
		a->holder = (pid_t)n;
	else if (strcmp(key, "held") == 0)
		a->held = (unsigned)n;
	else if (strcmp(key, "since_ns") == 0)
		a->since_ns = n;
	else if (strcmp(key, "until_ns") == 0)
		a->until_ns = n;
	else if (strcmp(key, "follows") == 0)
		a->follows = n != 0;
	else if (strcmp(key, "kept") == 0)
		a->kept = n != 0;
	else if (strcmp(key, "ended") == 0)
		a->ended = n != 0;
}

// "error STATUS SENTENCE"
static enum holder_line take_error(const char *rest, struct kfd_failure *f)
{
	char *end;
	long status = rest ? strtol(rest, &end, 10) : 0;

	if (status <= 0 || status > 255 || *end != ' ')
		return HOLDER_LINE_BAD;
	f->status = (int)status;
	snprintf(f->text, sizeof(f->text), "%s", end + 1);
	return HOLDER_LINE_ERROR;
}

enum holder_line holder_answer_parse(char *line, struct kfd_answer_queue *q, struct kfd_answer *a,
				     struct kfd_failure *f)
{
	char *rest = line, *word = strsep(&rest, " "), *value;
	bool ok = strcmp(word, "ok") == 0;

	if (strcmp(word, "error") == 0)
		return take_error(rest, f);
	if (!ok && strcmp(word, "queue") != 0)
		return HOLDER_LINE_BAD;
	if (!ok)
		memset(q, 0, sizeof(*q));
	while ((word = strsep(&rest, " "))) {
		value = strchr(word, '=');
		if (!value)
			continue;
		*value++ = '\0';
		if (ok)
			take_ok_word(word, value, a);
		else
			take_queue_word(word, value, q);
	}
	return ok ? HOLDER_LINE_OK : HOLDER_LINE_QUEUE;
}
