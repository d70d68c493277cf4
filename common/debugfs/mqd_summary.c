// Summaries of a queue's MQDs; see mqd_summary.h.
#include "common/debugfs/mqd_summary.h"

static uint64_t get(const struct mqds *m, const struct mqd *q, enum gfx_gen gen, unsigned xcc,
		    enum mqd_value what)
{
	uint64_t v;

	return mqd_get(m, q, gen, xcc, what, &v) ? v : MQD_UNKNOWN;
}

static uint64_t saved_on(const struct mqds *m, const struct mqd *q, enum gfx_gen gen, unsigned xcc)
{
	uint64_t stack = get(m, q, gen, xcc, MQD_V_STACK_BYTES),
		 used = get(m, q, gen, xcc, MQD_V_STACK_OFFSET);
	uint64_t waves = get(m, q, gen, xcc, MQD_V_WAVE_OFFSET);

	// The stack grows down from its size, the wave state up from there.
	if (stack == MQD_UNKNOWN || used == MQD_UNKNOWN || waves == MQD_UNKNOWN || used > stack ||
	    waves < stack)
		return MQD_UNKNOWN;
	return (stack - used) + (waves - stack);
}

static uint64_t saved(const struct mqds *m, const struct mqd *q, enum gfx_gen gen)
{
	uint64_t sum = 0;

	for (unsigned x = 0; x < q->dumps; x++) {
		uint64_t v = saved_on(m, q, gen, x);

		if (v == MQD_UNKNOWN)
			return MQD_UNKNOWN;
		sum += v;
	}
	return q->dumps ? sum : MQD_UNKNOWN;
}

static uint64_t backlog(const struct mqds *m, const struct mqd *q, enum gfx_gen gen)
{
	uint64_t v, aql;

	if (!mqd_backlog(m, q, gen, &v))
		return MQD_UNKNOWN;
	if (q->kind == MQD_SDMA)
		return v;
	if (!mqd_get(m, q, gen, 0, MQD_V_AQL, &aql))
		return MQD_UNKNOWN;
	return aql ? v / 16 : v; // an AQL packet is 16 dwords
}

// A torn text may have lost the dumps of further XCCs behind an incomplete one.
static uint64_t xccs(const struct mqds *m, const struct mqd *q)
{
	uint32_t ignored;

	if (q->kind != MQD_COMPUTE || !q->dumps || !mqd_word(m, q, q->dumps - 1u, 511, &ignored))
		return MQD_UNKNOWN;
	return q->dumps;
}

void mqd_summarize(struct mqd_summary *s, const struct mqds *m, const struct mqd *q,
		   enum gfx_gen gen, int on_hw)
{
	for (unsigned i = 0; i < MQD_VALUES; i++)
		s->v[i] = get(m, q, gen, 0, (enum mqd_value)i);
	s->v[MQD_D_ON_HW] = on_hw == 0 || on_hw == 1 ? (uint64_t)on_hw : MQD_UNKNOWN;
	s->v[MQD_D_XCCS] = xccs(m, q);

	bool off = on_hw == 0;

	s->v[MQD_D_BACKLOG] = off ? backlog(m, q, gen) : MQD_UNKNOWN;
	s->v[MQD_D_SAVED_BYTES] = off ? saved(m, q, gen) : MQD_UNKNOWN;
}

void mqd_summary_agree(struct mqd_summary *s, const struct mqd_summary *other)
{
	for (unsigned i = 0; i < MQD_SUMMARY; i++)
		if (s->v[i] != other->v[i])
			s->v[i] = MQD_UNKNOWN;
}
