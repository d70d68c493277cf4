// The parser of packet lines, to be inlined where it is compiled for the processor at hand:
// "SWq=0x.., HWq=0x.., id=1, Dispatch Header = 0xb02 (type=2, ..), .., rptr=0, wptr=0".
//
// Each '=' ends a field's name, and the name's last letters say whether the field is read. Fields
// that are not known are passed over.
//
// Facts: amd-log-facts.md sections 6 (packet lines) and 12 (rptr, wptr).
#ifndef GPQ_AMDLOG_READ_PACKET_PARSE_H
#define GPQ_AMDLOG_READ_PACKET_PARSE_H

#include "common/amdlog/read/detail.h"
#include "common/amdlog/read/number.h"

enum packet_field {
	FIELD_SKIPPED,
	FIELD_HEADER,
	FIELD_GRID,
	FIELD_WORKGROUP,
	FIELD_HWQ, // those from here on are single numbers
	FIELD_SWQ,
	FIELD_ID,
	FIELD_KERNEL_OBJ,
	FIELD_SIGNAL, // completion_signal
	FIELD_RPTR,
	FIELD_WPTR,
	NFIELDS
};

// Behind a blank, a comma, the '=' of a field without a value, or at the message's beginning.
static inline __attribute__((always_inline)) bool is_name(const char *msg, const char *equals,
							  const char *name, size_t len)
{
	const char *at = equals - len;

	return at >= msg && !memcmp(at, name, len) &&
	       (at == msg || at[-1] == ' ' || at[-1] == ',' || at[-1] == '=');
}

// The field whose '=' is at `equals`, by its name's last letter.
static inline enum packet_field packet_field_at(const char *msg, const char *equals)
{
#define IS(name) is_name(msg, equals, name, sizeof(name) - 1)
	switch (equals[-1]) {
	case ' ':
		return equals - msg >= 8 && !memcmp(equals - 8, " Header ", 8) ? FIELD_HEADER
									       : FIELD_SKIPPED;
	case 'q': return IS("HWq") ? FIELD_HWQ : IS("SWq") ? FIELD_SWQ : FIELD_SKIPPED;
	case 'd': return IS("id") ? FIELD_ID : IS("grid") ? FIELD_GRID : FIELD_SKIPPED;
	case 'p': return IS("workgroup") ? FIELD_WORKGROUP : FIELD_SKIPPED;
	case 'j': return IS("kernel_obj") ? FIELD_KERNEL_OBJ : FIELD_SKIPPED;
	case 'l': return IS("completion_signal") ? FIELD_SIGNAL : FIELD_SKIPPED;
	case 'r': return IS("rptr") ? FIELD_RPTR : IS("wptr") ? FIELD_WPTR : FIELD_SKIPPED;
	default: return FIELD_SKIPPED;
	}
#undef IS
}

// The kind of packet whose header's " Header = " begins at `header`; AMDLOG_PACKET: none is known.
static inline enum amdlog_kind packet_kind_before(const char *msg, const char *header)
{
#define IS(text)                              \
	(header - msg >= (int)sizeof(text) && \
	 !memcmp(header + 1 - sizeof(text), text, sizeof(text) - 1))
	if (IS(", Dispatch"))
		return AMDLOG_DISPATCH;
	if (IS(", BarrierAND") || IS(", Barrier-AND"))
		return AMDLOG_BARRIER_AND;
	if (IS(", BarrierOR") || IS(", Barrier-OR"))
		return AMDLOG_BARRIER_OR;
	return IS(", BarrierValue") ? AMDLOG_BARRIER_VALUE : AMDLOG_PACKET;
#undef IS
}

// "[1024, 1, 1]"; `out` stays as it is when it is not whole.
static inline void packet_triple(const char *p, const char *stop, uint64_t out[3])
{
	static const char ones[8] = ", 1, 1]";
	uint64_t v[3];

	if (p >= stop || *p++ != '[')
		return;
	v[0] = read_number(p, stop, false, &p);
	if (v[0] == AMDLOG_UNKNOWN)
		return;
	if (stop - p >= 7 && !((load64(p) ^ load64(ones)) << 8)) {
		out[0] = v[0]; // as most are
		out[1] = out[2] = 1;
		return;
	}
	for (int i = 1; i < 3; i++) {
		if (p >= stop || *p != ',')
			return;
		v[i] = read_number(p + 2, stop, false, &p);
		if (v[i] == AMDLOG_UNKNOWN)
			return;
	}
	if (p < stop && *p == ']')
		memcpy(out, v, sizeof(v));
}

// Barriers of 6.2 and 6.3 print no pointers, so only a pointer without its partner shows a loss.
static inline bool packet_is_whole(const struct amdlog_packet *p, enum amdlog_kind kind,
				   bool signal, const char *msg, const char *stop)
{
	bool both = p->rptr != AMDLOG_UNKNOWN && p->wptr != AMDLOG_UNKNOWN;
	bool none = p->rptr == AMDLOG_UNKNOWN && p->wptr == AMDLOG_UNKNOWN;

	if (!signal || p->hwq == AMDLOG_UNKNOWN || kind == AMDLOG_PACKET)
		return false;
	if (kind != AMDLOG_DISPATCH)
		return both || none;
	if (p->workgroup[0] == AMDLOG_UNKNOWN)
		return false;
	if (p->grid[0] == AMDLOG_UNKNOWN && !memmem(msg, (size_t)(stop - msg), "cluster_count", 13))
		return false;
	return both || p->swq == AMDLOG_UNKNOWN;
}

// Reads the message [msg, stop) of a packet line into `p`, and returns its kind. `ended`: a number
// may end at `stop`; `newline`: so does the line.
static inline enum amdlog_kind packet_parse(const char *msg, const char *stop, bool ended,
					    bool newline, struct amdlog_packet *p)
{
	enum amdlog_kind kind = AMDLOG_PACKET;
	enum packet_field field = FIELD_SKIPPED;
	const char *end = NULL;
	uint64_t v[NFIELDS];

	for (unsigned i = FIELD_HWQ; i < NFIELDS; i++)
		v[i] = AMDLOG_UNKNOWN;
	for (unsigned i = 0; i < 3; i++)
		p->grid[i] = p->workgroup[i] = i ? 0 : AMDLOG_UNKNOWN;
	for (const char *text = msg; text < stop; text += 64) {
		uint64_t equals = bytes_that_are(text, '=');

		if (stop - text < 64)
			equals &= (UINT64_C(1) << (stop - text)) - 1;
		for (; equals; equals &= equals - 1) {
			const char *value = text + __builtin_ctzll(equals) + 1;

			field = packet_field_at(msg, value - 1);
			if (field >= FIELD_HWQ)
				v[field] = read_number(value, stop, ended, &end);
			else if (field == FIELD_HEADER && kind == AMDLOG_PACKET && value < stop &&
				 *value == ' ')
				kind = packet_kind_before(msg, value - 9);
			else if (field == FIELD_GRID || field == FIELD_WORKGROUP)
				packet_triple(value, stop,
					      field == FIELD_GRID ? p->grid : p->workgroup);
			if (field == FIELD_RPTR && (end >= stop || *end != ','))
				v[field] = AMDLOG_UNKNOWN; // wptr always follows
		}
	}
	p->hwq = v[FIELD_HWQ];
	p->swq = v[FIELD_SWQ];
	p->id = (int64_t)v[FIELD_ID];
	p->kernel_obj = v[FIELD_KERNEL_OBJ];
	p->rptr = v[FIELD_RPTR];
	p->wptr = v[FIELD_WPTR];
	p->whole = packet_is_whole(p, kind, v[FIELD_SIGNAL] != AMDLOG_UNKNOWN, msg, stop);
	p->ends = field == FIELD_WPTR && p->wptr != AMDLOG_UNKNOWN && end == stop && newline &&
		  kind != AMDLOG_PACKET;
	return kind;
}

#endif
