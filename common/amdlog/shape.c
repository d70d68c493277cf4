// Shapes of lines (see shape.h).
#include "common/amdlog/shape.h"
#include "common/amdlog/digest.h"

struct shape *shape_learn(struct shape_slots *slots, const char *line, const char *msg,
			  const char *newline, size_t len, enum amdlog_kind kind)
{
	struct shape *s = shape_slot(slots, line, msg);
	bool entry = kind == AMDLOG_API_ENTRY;
	uint8_t mask[SHAPE_BYTES] = {0};

	if (s->len || len > SHAPE_BYTES)
		return NULL;
	// What is known is not searched for another record.
	for (const char *p = line + 1; p < msg + len; p++) {
		if (is_mark(p))
			return NULL;
	}
	memset(mask, 0xff, len);
	form_fill(s->mask, mask, SHAPE_BYTES);
	form_fill(s->text, msg, SHAPE_BYTES);
	form_fill(s->head, line, SHAPE_HEAD);
	s->bits = len == 64 ? ~UINT64_C(0) : (UINT64_C(1) << len) - 1;
	s->len = (uint8_t)len;
	s->counts = 1 | (uint64_t)entry << 32;
	s->counter = digest_counter(kind, (unsigned)(line[1] - '0'));
	s->tail = load64(newline - sizeof(s->tail));
	s->tail_mask = !entry ? 0 : newline[-1] == '\r' ? ~UINT64_C(0) : ~UINT64_C(0xff);
	return s;
}
