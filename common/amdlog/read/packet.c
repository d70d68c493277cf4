// The fields and the kind of packet lines (see packet_parse.h).
#include "common/amdlog/read/packet_parse.h"

#define LETTERS(a, b, c, d) \
	((uint32_t)(a) | (uint32_t)(b) << 8 | (uint32_t)(c) << 16 | (uint32_t)(d) << 24)
#define LAST_OF(n) (~UINT64_C(0) << (8 - (n)) * 8)
#define FIELD(word, n, e, f, g, h, a, b, c, d, what, ...)                                  \
	[FIELD_SLOT(LETTERS(a, b, c, d))] = {.text = (uint64_t)LETTERS(a, b, c, d) << 32 | \
						     LETTERS(e, f, g, h),                  \
					     .mask = LAST_OF(n),                           \
					     .len = sizeof(word) - 1,                      \
					     .field = FIELD_##what,                        \
					     __VA_ARGS__}
#define FRONT(n, a, b, c, d, e, f, g, h) \
	.front = (uint64_t)LETTERS(e, f, g, h) << 32 | LETTERS(a, b, c, d), .front_mask = LAST_OF(n)

// Those that are skipped are here to be known at once.
const struct packet_name packet_names[FIELD_SLOTS] = {
	FIELD("HWq", 4, 0, 0, 0, 0, ' ', 'H', 'W', 'q', HWQ, ),
	FIELD("SWq", 4, 0, 0, 0, 0, ' ', 'S', 'W', 'q', SWQ, ),
	FIELD("id", 4, 0, 0, 0, 0, ',', ' ', 'i', 'd', ID, ),
	FIELD("grid", 5, 0, 0, 0, ' ', 'g', 'r', 'i', 'd', GRID, ),
	FIELD("rptr", 5, 0, 0, 0, ' ', 'r', 'p', 't', 'r', RPTR, ),
	FIELD("wptr", 5, 0, 0, 0, ' ', 'w', 'p', 't', 'r', WPTR, ),
	FIELD("Header ", 8, ' ', 'H', 'e', 'a', 'd', 'e', 'r', ' ', HEADER, ),
	FIELD("workgroup", 8, 'o', 'r', 'k', 'g', 'r', 'o', 'u', 'p', WORKGROUP,
	      FRONT(1, 0, 0, 0, 0, 0, 0, 0, 'w')),
	FIELD("kernel_obj", 8, 'r', 'n', 'e', 'l', '_', 'o', 'b', 'j', KERNEL_OBJ,
	      FRONT(2, 0, 0, 0, 0, 0, 0, 'k', 'e')),
	FIELD("completion_signal", 8, 'n', '_', 's', 'i', 'g', 'n', 'a', 'l', SIGNAL,
	      FRONT(8, 'o', 'm', 'p', 'l', 'e', 't', 'i', 'o')),
	FIELD("barrier", 4, 0, 0, 0, 0, 'r', 'i', 'e', 'r', SKIPPED, ),
	FIELD("setup", 4, 0, 0, 0, 0, 'e', 't', 'u', 'p', SKIPPED, ),
	FIELD("correlation_id", 4, 0, 0, 0, 0, 'n', '_', 'i', 'd', SKIPPED, ),
};

// Behind a blank, a comma, the '=' of a field without a value, or at the message's beginning.
static inline bool is_name(const char *msg, const char *equals, const char *name, size_t len)
{
	const char *at = equals - len;

	return at >= msg && !memcmp(at, name, len) &&
	       (at == msg || at[-1] == ' ' || at[-1] == ',' || at[-1] == '=');
}
#define IS(name) is_name(msg, equals, name, sizeof(name) - 1)

enum packet_field packet_odd_field(const char *msg, const char *equals)
{
	switch (equals[-1]) {
	case 'q': return IS("HWq") ? FIELD_HWQ : IS("SWq") ? FIELD_SWQ : FIELD_SKIPPED;
	case 'd': return IS("id") ? FIELD_ID : IS("grid") ? FIELD_GRID : FIELD_SKIPPED;
	case 'p': return IS("workgroup") ? FIELD_WORKGROUP : FIELD_SKIPPED;
	case 'j': return IS("kernel_obj") ? FIELD_KERNEL_OBJ : FIELD_SKIPPED;
	case 'l': return IS("completion_signal") ? FIELD_SIGNAL : FIELD_SKIPPED;
	case 'r': return IS("rptr") ? FIELD_RPTR : IS("wptr") ? FIELD_WPTR : FIELD_SKIPPED;
	default: return FIELD_SKIPPED;
	}
}

void amdlog_packet_parse(const struct amdlog_record *r, struct amdlog_packet *p)
{
	const char *stop = r->msg + r->msg_len;

	packet_parse(r->msg, stop, number_may_end(r), r->ended, p);
}

enum amdlog_kind packet_kind(const char *msg, size_t len)
{
	enum amdlog_kind kind = AMDLOG_PACKET;
	const char *end = msg + len;

	for (const char *p = msg;
	     kind == AMDLOG_PACKET && (p = memmem(p, (size_t)(end - p), " Header = ", 10)); p++)
		kind = packet_kind_before(msg, p);
	return kind;
}
