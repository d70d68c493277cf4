// What a message is about, from its first bytes.
//
// Facts: amd-log-facts.md sections 5 to 10 for the texts, 13 for the rules.
#include "common/amdlog/number.h"

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

// Of several that fit the first counts. Of 3 to 32 bytes each.
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
	P("Deleting CG enabled hardware", QUEUE_DELETED),
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
	P("Number of allocated hardware", QUEUE_COUNT),
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
	P("number of allocated hardware", QUEUE_COUNT),
	P("releaseQueue", QUEUE_RELEASED),
	P("selected queue", QUEUE_SELECTED),
};
#define NPATTERNS (sizeof(patterns) / sizeof(patterns[0]))

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

// Puts the patterns in their places, the last one first. False: two beginnings share one.
static bool fill_places(struct kind_index *index)
{
	memset(index->first, KIND_PATTERNS, sizeof(index->first));
	for (size_t i = NPATTERNS; i--;) {
		uint8_t *place = &index->first[kind_place(index, (char *)index->v[i].text)];

		if (*place < NPATTERNS && memcmp(patterns[*place].text, patterns[i].text, 3) != 0)
			return false;
		index->v[i].next = *place;
		*place = (uint8_t)i;
	}
	return true;
}

void kind_init(struct kind_index *index)
{
	for (size_t i = 0; i < NPATTERNS; i++) {
		struct kind_pattern *m = &index->v[i];

		*m = (struct kind_pattern){.len = patterns[i].len, .kind = patterns[i].kind};
		memcpy(m->text, patterns[i].text, patterns[i].len);
		memset(m->mask, 0xff, patterns[i].len);
	}
	index->factor = UINT32_C(0x9e3779b1);
	while (!fill_places(index))
		index->factor += 2;
}

enum amdlog_kind kind_of(const struct kind_pattern *m, const char *p, size_t len)
{
	return m->kind == AMDLOG_PACKET ? packet_kind(p, len) : m->kind;
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

static bool may_be_api(char first)
{
	return first == 'h' || first == '_' || first == 'i' || first == 'c';
}

void kind_parse(const struct kind_index *index, struct amdlog_record *r)
{
	const char *p = r->msg;

	r->kind = AMDLOG_OTHER;
	r->name_len = 0;
	if (!r->msg_len || (may_be_api(p[0]) && api_parse(r)))
		return;
	for (size_t i = index->first[kind_place(index, p)]; i < NPATTERNS; i = index->v[i].next) {
		const struct kind_pattern *m = &index->v[i];

		if (kind_fits(m, p) && r->msg_len >= m->len) {
			r->kind = kind_of(m, p, r->msg_len);
			return;
		}
	}
}
