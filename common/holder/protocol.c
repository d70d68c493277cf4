// Parsing and formatting of the holder's request and answer lines; see protocol.h.
#include "common/holder/protocol.h"
#include "common/host/number.h"

static const char *const verbs[] = {
	[HOLDER_SUSPEND] = "suspend", [HOLDER_HOLD] = "hold",     [HOLDER_RELEASE] = "release",
	[HOLDER_RESUME] = "resume",   [HOLDER_QUEUES] = "queues", [HOLDER_STATUS] = "status",
};

static const char *const types[] = {
	[KFD_SNAPSHOT_COMPUTE] = "compute",
	[KFD_SNAPSHOT_SDMA] = "sdma",
	[KFD_SNAPSHOT_COMPUTE_AQL] = "compute",
	[KFD_SNAPSHOT_SDMA_XGMI] = "sdma-xgmi",
};

// Packet formats by queue type; NULL: neither PM4 nor AQL.
static const char *const packets[] = {
	[KFD_SNAPSHOT_COMPUTE] = "pm4",
	[KFD_SNAPSHOT_COMPUTE_AQL] = "aql",
	[KFD_SNAPSHOT_SDMA_XGMI] = NULL,
};

static const char *const results[] = {
	[KFD_RESULT_NONE] = "none",       [KFD_RESULT_SUSPENDED] = "suspended",
	[KFD_RESULT_ALREADY] = "already", [KFD_RESULT_BUSY] = "busy",
	[KFD_RESULT_REFUSED] = "refused", [KFD_RESULT_TIMEOUT] = "timeout",
	[KFD_RESULT_CLOSING] = "closing", [KFD_RESULT_UNKNOWN] = "unknown",
	[KFD_RESULT_RESUMED] = "resumed", [KFD_RESULT_RUNNING] = "running",
};

#define BIT(verb) (1u << (verb))

const char *kfd_snapshot_type_name(uint32_t type)
{
	return type < COUNT(types) ? types[type] : "unknown";
}

const char *kfd_snapshot_packets_name(uint32_t type)
{
	return type < COUNT(packets) ? packets[type] : NULL;
}

const char *kfd_result_name(enum kfd_result r)
{
	return r < COUNT(results) ? results[r] : "none";
}

// Returns the index of `name`, or `num` if it is not one of `names`.
static unsigned name_index(const char *const *names, unsigned num, const char *name)
{
	unsigned i = 0;
	while (i < num && strcmp(names[i], name) != 0)
		i++;
	return i;
}

// Parses a word that is an unsigned decimal number up to `max` and nothing else.
static bool parse_word_number(const char *s, uint64_t max, uint64_t *value)
{
	return s && number_whole(s, 10, max, value);
}

static bool parse_list(char *s, uint64_t max, uint32_t *to, unsigned room, unsigned *num)
{
	uint64_t value;
	while (s) {
		char *word = strsep(&s, ",");
		if (*num == room || !parse_word_number(word, max, &value))
			return false;
		to[(*num)++] = (uint32_t)value;
	}
	return true;
}

// The words of requests: the verbs that accept each, and the member it sets.
static const struct word {
	const char *name;
	unsigned verbs;
	enum { FLAG, QUEUES, GPUS, GRACE, FOR } kind; // FLAG alone has no value
	size_t flag;                                  // FLAG: offset of the member
} words[] = {
	{"queues", BIT(HOLDER_SUSPEND) | BIT(HOLDER_RESUME), QUEUES, 0},
	{"gpus", BIT(HOLDER_SUSPEND) | BIT(HOLDER_RESUME) | BIT(HOLDER_RELEASE), GPUS, 0},
	{"grace", BIT(HOLDER_SUSPEND), GRACE, 0},
	{"for_ns", BIT(HOLDER_SUSPEND), FOR, 0},
#define FLAG_WORD(name, verbs, member)                                     \
	{                                                                  \
		name, verbs, FLAG, offsetof(struct holder_request, member) \
	}
	FLAG_WORD("tie", BIT(HOLDER_SUSPEND), tie),
	FLAG_WORD("idle", BIT(HOLDER_SUSPEND), idle),
	FLAG_WORD("keep", BIT(HOLDER_RESUME) | BIT(HOLDER_RELEASE), keep),
	FLAG_WORD("addresses", BIT(HOLDER_SUSPEND) | BIT(HOLDER_QUEUES), addresses),
	FLAG_WORD("devices", BIT(HOLDER_SUSPEND), gpus),
	FLAG_WORD("notrace", BIT(HOLDER_SUSPEND), untraced),
};

static bool take_request_value(const struct word *w, char *value, struct holder_request *r)
{
	struct kfd_selection *s = &r->sel;
	uint64_t n = 0;
	switch (w->kind) {
	case FLAG: return *(bool *)((char *)r + w->flag) = true;
	case QUEUES:
		return parse_list(value, KFD_QUEUE_ID_MASK, s->ids, COUNT(s->ids), &s->num_ids);
	case GPUS: return parse_list(value, UINT32_MAX, s->gpus, COUNT(s->gpus), &s->num_gpus);
	case GRACE:
		if (!parse_word_number(value, KFD_GRACE_MAX, &n))
			return false;
		r->grace = (unsigned)n;
		return true;
	case FOR: return parse_word_number(value, INT64_MAX, &r->for_ns) && r->for_ns > 0;
	}
	return false;
}

// Copies a word for a message, before parsing changes it.
static void keep_word(char shown[64], const char *word)
{
	if (!memccpy(shown, word, '\0', 63))
		shown[63] = '\0';
}

static bool take_request_word(char *word, struct holder_request *r)
{
	char *value = strchr(word, '=');
	if (value)
		*value++ = '\0';
	for (size_t i = 0; i < COUNT(words); i++)
		if (strcmp(word, words[i].name) == 0 && (words[i].verbs & BIT(r->verb)) &&
		    (words[i].kind != FLAG) == (value != NULL))
			return take_request_value(&words[i], value, r);
	return false;
}

int holder_request_parse(char *line, struct holder_request *r, struct kfd_failure *f)
{
	char *rest = line, *word = strsep(&rest, " "), shown[64];
	// Resets every member but the arrays, which are large.
	r->verb = name_index(verbs, COUNT(verbs), word);
	r->sel.num_ids = r->sel.num_gpus = r->grace = 0;
	r->for_ns = 0;
	r->tie = r->idle = r->keep = r->addresses = r->gpus = r->untraced = false;
	keep_word(shown, word);
	if (r->verb == COUNT(verbs))
		return kfd_fail(f, KFD_FAULT_REQUEST, shown);
	while ((word = strsep(&rest, " "))) {
		keep_word(shown, word);
		if (!take_request_word(word, r))
			return kfd_fail(f, KFD_FAULT_REQUEST, shown);
	}
	return 0;
}

char *line_put(char *to, const char *s)
{
	return stpcpy(to, s);
}

static char *put_digits(char *to, uint64_t value, unsigned base)
{
	char *end = to + 1;
	for (uint64_t v = value; v /= base;)
		end++;
	*end = '\0';
	for (char *d = end; d > to; value /= base)
		*--d = "0123456789abcdef"[value % base];
	return end;
}

char *line_put_number(char *to, const char *key, uint64_t value, unsigned base)
{
	return put_digits(line_put(to, key), value, base);
}

// The words of an answer line in their order, with their members of struct kfd_outcome or struct
// kfd_answer. KEY_SIZE bytes of a key are copied at once, whatever its length: that is fastest.
#define KEY_SIZE 16
struct field {
	char key[KEY_SIZE]; // as it is written, with the blank before and the '=' behind it
	uint8_t len, offset, size;
	enum { DECIMAL, HEX, TYPE, PACKETS, RESULT } kind;
};

#define FIELD(type, key, member, kind)                                       \
	{                                                                    \
		" " key "=", sizeof(key) + 1, offsetof(struct type, member), \
			(uint8_t)sizeof(((struct type *)0)->member), kind    \
	}

#define WITHOUT_ADDRESSES 7 // an answer without addresses has the first 7 fields
static const struct field queue_fields[] = {
	FIELD(kfd_outcome, "id", queue.queue_id, DECIMAL),
	FIELD(kfd_outcome, "gpu", queue.gpu_id, DECIMAL),
	FIELD(kfd_outcome, "type", queue.queue_type, TYPE),
	FIELD(kfd_outcome, "packets", queue.queue_type, PACKETS), // refines the word "type" before
	FIELD(kfd_outcome, "result", result, RESULT),
	FIELD(kfd_outcome, "latency_ns", latency_ns, DECIMAL),
	FIELD(kfd_outcome, "until_ns", until_ns, DECIMAL),
	FIELD(kfd_outcome, "ring", queue.ring_base_address, HEX),
	FIELD(kfd_outcome, "ring_size", queue.ring_size, DECIMAL),
	FIELD(kfd_outcome, "read", queue.read_pointer_address, HEX),
	FIELD(kfd_outcome, "write", queue.write_pointer_address, HEX),
	FIELD(kfd_outcome, "ctx", queue.ctx_save_restore_address, HEX),
	FIELD(kfd_outcome, "ctx_size", queue.ctx_save_restore_area_size, DECIMAL),
	FIELD(kfd_outcome, "xccs", xccs, DECIMAL),
	FIELD(kfd_outcome, "exceptions", queue.exception_status, HEX),
};

#define OK_WITHOUT_ADDRESSES 8
static const struct field ok_fields[] = {
	FIELD(kfd_answer, "holder", holder, DECIMAL),
	FIELD(kfd_answer, "target", target, DECIMAL),
	FIELD(kfd_answer, "held", held, DECIMAL),
	FIELD(kfd_answer, "since_ns", since_ns, DECIMAL),
	FIELD(kfd_answer, "until_ns", until_ns, DECIMAL),
	FIELD(kfd_answer, "follows", follows, DECIMAL),
	FIELD(kfd_answer, "kept", kept, DECIMAL),
	FIELD(kfd_answer, "ended", ended, DECIMAL),
	FIELD(kfd_answer, "r_debug", runtime.r_debug, HEX),
	FIELD(kfd_answer, "runtime", runtime.runtime_state, DECIMAL),
	FIELD(kfd_answer, "ttmps", runtime.ttmp_setup, DECIMAL),
};

// Returns the text of a value that is no number; NULL: the word is left out of the line.
static const char *word_of(int kind, uint32_t value)
{
	switch (kind) {
	case TYPE: return kfd_snapshot_type_name(value);
	case PACKETS: return kfd_snapshot_packets_name(value);
	default: return kfd_result_name((enum kfd_result)value);
	}
}

static size_t format_line(char *to, const char *what, const struct field *f, size_t n,
			  const void *record)
{
	char *p = line_put(to, what);
	const char *word;
	for (const struct field *end = f + n; f < end; f++) {
		const bool number = f->kind == DECIMAL || f->kind == HEX;
		uint64_t value = 0;
		memcpy(&value, (const char *)record + f->offset, f->size); // little endian
		if (!number && !(word = word_of(f->kind, (uint32_t)value)))
			continue;
		memcpy(p, f->key, KEY_SIZE);
		p += f->len;
		p = number ? put_digits(p, value, f->kind == HEX ? 16 : 10) : line_put(p, word);
	}
	return (size_t)(line_put(p, "\n") - to);
}

size_t holder_format_queue(char *to, const struct kfd_outcome *q, bool addresses)
{
	return format_line(to, "queue", queue_fields,
			   addresses ? COUNT(queue_fields) : WITHOUT_ADDRESSES, q);
}

size_t holder_format_gpu(char *to, const struct kfd_device_entry *g)
{
	const uint8_t *bytes = (const uint8_t *)g;
	char *p = line_put(to, "gpu entry=");
	for (size_t i = 0; i < sizeof(*g); i++) {
		*p++ = "0123456789abcdef"[bytes[i] >> 4];
		*p++ = "0123456789abcdef"[bytes[i] & 15];
	}
	return (size_t)(line_put(p, "\n") - to);
}

size_t holder_format_ok(char *to, const struct kfd_answer *a, bool addresses)
{
	return format_line(to, "ok", ok_fields, addresses ? COUNT(ok_fields) : OK_WITHOUT_ADDRESSES,
			   a);
}

static uint64_t parse_value(const char *text, int kind)
{
	switch (kind) {
	case TYPE: return name_index(types, COUNT(types), text);
	case PACKETS: return KFD_SNAPSHOT_COMPUTE_AQL;
	case RESULT: return name_index(results, COUNT(results), text) % COUNT(results);
	default: return strtoull(text, NULL, kind == HEX ? 16 : 10);
	}
}

// Parses "key=value"; words with unknown keys are ignored. *next: the field that is looked at
// first, and then the one behind the field found, as words come in the order of the fields.
static void parse_answer_word(const char *word, const struct field *fields, size_t n, size_t *next,
			      void *record)
{
	for (size_t left = n; left--;) {
		const struct field *f = &fields[*next];
		*next = *next + 1 < n ? *next + 1 : 0;
		if (strncmp(f->key + 1, word, f->len - 1u) != 0)
			continue;
		const char *text = word + f->len - 1;
		if (f->kind == PACKETS && strcmp(text, "aql") != 0)
			return; // "type=compute" has set pm4 already
		uint64_t value = parse_value(text, f->kind);
		if (f->size == sizeof(bool))
			value = value != 0;
		memcpy((char *)record + f->offset, &value, f->size);
		return;
	}
}

// Parses the words behind "error": STATUS SENTENCE.
static enum holder_line take_error_line(const char *rest, struct kfd_failure *f)
{
	char *end;
	long status = rest ? strtol(rest, &end, 10) : 0;
	if (status <= 0 || status > 255 || *end != ' ')
		return HOLDER_LINE_BAD;
	f->status = (int)status;
	snprintf(f->text, sizeof(f->text), "%s", end + 1);
	return HOLDER_LINE_ERROR;
}

// Parses the words behind "gpu": entry=BYTES, two digits each.
static enum holder_line take_gpu_line(const char *rest, struct kfd_answer *a)
{
	struct kfd_device_entry g;
	const size_t key = strlen("entry=");
	if (!rest || strncmp(rest, "entry=", key) != 0 || strlen(rest) < key + 2 * sizeof(g) ||
	    a->num_gpus == KFD_MAX_GPUS)
		return HOLDER_LINE_BAD;
	rest += key;
	for (size_t i = 0; i < sizeof(g); i++) {
		const int high = hex_digit(rest[2 * i]), low = hex_digit(rest[2 * i + 1]);
		if (high < 0 || low < 0)
			return HOLDER_LINE_BAD;
		((uint8_t *)&g)[i] = (uint8_t)(high << 4 | low);
	}
	*ARRAY_ADD(a->gpus, a->room_gpus, a->num_gpus) = g;
	return HOLDER_LINE_GPU;
}

enum holder_line holder_answer_parse(char *line, struct kfd_outcome *q, struct kfd_answer *a,
				     struct kfd_failure *f)
{
	char *rest = line, *word = strsep(&rest, " ");
	bool ok = strcmp(word, "ok") == 0;
	size_t next = 0;
	if (strcmp(word, "error") == 0)
		return take_error_line(rest, f);
	if (strcmp(word, "gpu") == 0)
		return take_gpu_line(rest, a);
	if (!ok && strcmp(word, "queue") != 0)
		return HOLDER_LINE_BAD;
	if (!ok)
		memset(q, 0, sizeof(*q));
	while ((word = strsep(&rest, " "))) {
		if (ok)
			parse_answer_word(word, ok_fields, COUNT(ok_fields), &next, a);
		else
			parse_answer_word(word, queue_fields, COUNT(queue_fields), &next, q);
	}
	return ok ? HOLDER_LINE_OK : HOLDER_LINE_QUEUE;
}
