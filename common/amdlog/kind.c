// What a message is about, from its first bytes.
//
// Facts: amd-log-facts.md sections 5 to 10 for the texts, 13 for the rules.
#include "common/amdlog/scan_priv.h"

#define NAME_MAX_LEN 128

struct pattern {
	const char *text; // the message begins so
	uint8_t len;
	enum amdlog_kind kind;
};

#define P(text, kind)                                 \
	{                                             \
		text, sizeof(text) - 1, AMDLOG_##kind \
	}

// In order of the first letter; of several that fit the first counts. What is frequent comes first.
static const struct pattern patterns[] = {
	P("Arg", ARG),
	P("AQL dispatch failed", QUEUE_ERROR),
	P("All commands finished", WAIT),
	P("Allocate hsa", MEMORY),
	P("Arena Memory", MEMORY),
	P("Command (", COMMAND_ENQUEUED),
	P("Command ", COMMAND_COMPLETE),
	P("Callback: Queue", QUEUE_ERROR),
	P("Created SWq=", QUEUE_CREATED),
	P("Deleting hardware queue", QUEUE_DELETED),
	P("Deleting CG enabled hardware queue", QUEUE_DELETED),
	P("Device::callbackQueue", QUEUE_ERROR),
	P("Device not Stable", QUEUE_ERROR),
	P("Event ", WAIT),
	P("Free hsa memory", MEMORY),
	P("Graph shader name : ", GRAPH_KERNEL),
	P("Graph ShaderName : ", GRAPH_KERNEL),
	P("HIP Version: ", VERSION),
	P("HSA A", COPY), // "HSA Async Copy", misspelt up to 5.x
	P("HSA Copy", COPY),
	P("HW Event", WAIT),
	P("HW Exception Error", QUEUE_ERROR),
	P("HWq=", PACKET),
	P("Handler:", SIGNAL),
	P("Host active wait", WAIT),
	P("Host blocked wait", WAIT),
	P("Host wait", WAIT),
	P("KernargSegmentByteSize", KERNARG),
	P("Locking to pool", MEMORY),
	P("Memory Fault Error", QUEUE_ERROR),
	P("No HW event", WAIT),
	P("Number of allocated hardware queues", QUEUE_COUNT),
	P("Queue marker", WAIT),
	P("Runtime rea", QUEUE_ERROR), // "reachead", "reached the AQL queue limit"
	P("SWq=", PACKET),
	P("Selected queue", QUEUE_SELECTED),
	P("Set Handler:", SIGNAL),
	P("ShaderName : ", KERNEL),
	P("Signal = (", SIGNAL),
	P("Waiting for event", WAIT),
	P("[***rocr***]", ROCR),
	P("acquireQueue", QUEUE_ACQUIRED),
	P("command is enqueued", COMMAND_ENQUEUED),
	P("created hardware queue", QUEUE_CREATED),
	P("deleting hardware queue", QUEUE_DELETED),
	P("finish() called", WAIT),
	P("number of allocated hardware queues", QUEUE_COUNT),
	P("releaseQueue", QUEUE_RELEASED),
	P("selected queue", QUEUE_SELECTED),
};
#define NPATTERNS (sizeof(patterns) / sizeof(patterns[0]))

static const struct {
	const char *text;
	uint8_t len;
	enum amdlog_kind kind;
} packets[] = {
	P("Dispatch", DISPATCH),     P("BarrierAND", BARRIER_AND), P("Barrier-AND", BARRIER_AND),
	P("Barrier-OR", BARRIER_OR), P("BarrierOR", BARRIER_OR),   P("BarrierValue", BARRIER_VALUE),
};

static const char *const kind_names[AMDLOG_NKINDS] = {
	"other",
	"api",
	"return",
	"packet",
	"dispatch",
	"barrier_and",
	"barrier_or",
	"barrier_value",
	"kernel",
	"graph_kernel",
	"arg",
	"kernarg",
	"command",
	"complete",
	"wait",
	"signal",
	"copy",
	"memory",
	"queue_count",
	"queue_created",
	"queue_selected",
	"queue_acquired",
	"queue_released",
	"queue_deleted",
	"queue_error",
	"version",
	"rocr",
};

static const char *const style_names[AMDLOG_NSTYLES] = {
	"cut", "3.5", "3.7-4.5", "5.0-5.6", "5.7-6.2", "6.3", "6.4+", "6.4+",
};

const char *amdlog_kind_name(enum amdlog_kind kind)
{
	return kind_names[kind];
}

const char *amdlog_style_name(enum amdlog_style style)
{
	return style_names[style];
}

_Static_assert(NPATTERNS <= KIND_PATTERNS, "scan_priv.h has room for each");

void kind_init(struct kind_index *index)
{
	memset(index->from, NPATTERNS, sizeof(index->from));
	for (size_t i = NPATTERNS; i--;) {
		size_t n = patterns[i].len < 8 ? patterns[i].len : 8;

		index->from[(unsigned char)patterns[i].text[0]] = (uint8_t)i;
		memcpy(&index->word[i], patterns[i].text, n);
		memset(&index->mask[i], 0xff, n);
	}
}

// "Dispatch Header = ", at the front of a packet line's fields or behind some.
static enum amdlog_kind header_kind(const char *p, size_t len)
{
	static const char header[] = " Header = ";

	for (size_t i = 0; i < sizeof(packets) / sizeof(packets[0]); i++) {
		size_t n = packets[i].len;

		if (*p == packets[i].text[0] && len >= n + sizeof(header) - 1 &&
		    !memcmp(p, packets[i].text, n) && !memcmp(p + n, header, sizeof(header) - 1))
			return packets[i].kind;
	}
	return AMDLOG_PACKET;
}

// Fields of the form "name=value, " stand in front of the packet's kind; new releases add some.
static enum amdlog_kind packet_kind(const char *p, size_t len)
{
	const char *end = p + len;
	enum amdlog_kind kind = AMDLOG_PACKET;

	for (int field = 0; field < 12 && kind == AMDLOG_PACKET; field++) {
		p = memchr(p, ',', (size_t)(end - p));
		if (!p || end - p < 2)
			break;
		p += 2;
		kind = header_kind(p, (size_t)(end - p));
	}
	return kind;
}

// The high bit of each byte of the result that was zero in `x`; exact up to the first.
static uint64_t zero_bytes(uint64_t x)
{
	return (x - UINT64_C(0x0101010101010101)) & ~x & UINT64_C(0x8080808080808080);
}

// Length of a word that ends at a blank or colon, or 0 when there is none nearby.
static size_t word_len(const char *p, size_t len)
{
	for (size_t at = 0; at < len && at < NAME_MAX_LEN; at += 8) {
		uint64_t x = load64(p + at);
		uint64_t hit = zero_bytes(x ^ UINT64_C(0x2020202020202020)) |
			       zero_bytes(x ^ UINT64_C(0x3a3a3a3a3a3a3a3a));

		if (hit) {
			at += (size_t)__builtin_ctzll(hit) / 8;
			return at < len ? at : 0;
		}
	}
	return 0;
}

// "hipMalloc ( 0x.., 4 ) " or "hipMalloc: Returned hipSuccess : 0x..".
static bool api_parse(struct amdlog_record *r)
{
	static const char returned[8] = ": Return";
	const char *p = r->msg;
	size_t n = word_len(p, r->msg_len), left = r->msg_len - n;

	if (!n)
		return false;
	if (left >= 2 && p[n] == ' ' && p[n + 1] == '(')
		r->kind = AMDLOG_API_ENTRY;
	else if (left >= 11 && load64(p + n) == load64(returned) && p[n + 8] == 'e' &&
		 p[n + 9] == 'd' && p[n + 10] == ' ')
		r->kind = AMDLOG_API_RETURN;
	else
		return false;
	r->name_len = (uint16_t)n;
	return true;
}

// The first eight bytes are those of the pattern; are the others?
static inline bool is_rest(const char *p, const struct pattern *m)
{
	if (m->len <= 16)
		return load64(p + m->len - 8) == load64(m->text + m->len - 8);
	return !memcmp(p + 8, m->text + 8, m->len - 8u);
}

static bool may_be_api(char first)
{
	return first == 'h' || first == '_' || first == 'i' || first == 'c';
}

void kind_parse(const struct kind_index *index, struct amdlog_record *r)
{
	const char *p = r->msg;
	unsigned char first;
	uint64_t word;

	r->kind = AMDLOG_OTHER;
	r->name_len = 0;
	if (!r->msg_len)
		return;
	first = (unsigned char)p[0];
	if (may_be_api(p[0]) && api_parse(r))
		return;
	word = load64(p);
	for (size_t i = index->from[first & 127]; i < NPATTERNS; i++) {
		const struct pattern *m = &patterns[i];

		if ((unsigned char)m->text[0] != first)
			return;
		if ((word & index->mask[i]) == index->word[i] && r->msg_len >= m->len &&
		    (m->len <= 8 || is_rest(p, m))) {
			r->kind = m->kind == AMDLOG_PACKET ? packet_kind(p, r->msg_len) : m->kind;
			return;
		}
	}
}
