// Priorities of queues (MQD dwords 133 and 134) and the option --prio; see queue_rows.h. Facts:
// [kfd.priority].
#include "common/rows/queue_rows.h"

#include "common/cli/err.h"
#include "common/cli/text.h"

enum { HIGHEST = 15, LEVELS = 3 };

static const struct level {
	const char *name;
	uint16_t prios; // bit N: priority N is of this level
} levels[LEVELS] = {{"low", 0x007f}, {"medium", 0x0780}, {"high", 0xf800}};

const char *prio_level_name(uint64_t pipe_prio)
{
	return pipe_prio < LEVELS ? levels[pipe_prio].name : NULL;
}

// --- does the driver write dword 134 (the priority)? ---

struct evidence {
	bool written, missing;
};

static void add_prio_evidence(struct evidence *e, uint64_t level, uint64_t prio)
{
	e->written |= prio != 0;
	e->missing |= prio == 0 && (level == 1 || level == 2);
}

static enum kfd_answer3 prio_verdict(const struct evidence *e, enum kfd_answer3 otherwise)
{
	if (e->written == e->missing)
		return otherwise;
	return e->written ? KFD_ANSWER_YES : KFD_ANSWER_NO;
}

enum kfd_answer3 prio_written(const struct mqds *m, const struct kfd_driver *d)
{
	struct evidence e = {0};
	uint64_t level, prio;
	for (size_t i = 0; i < m->nqueues; i++)
		if (m->queues[i].kind == MQD_COMPUTE &&
		    mqd_get(m, &m->queues[i], GFX_ANY, 0, MQD_V_PIPE_PRIO, &level) &&
		    mqd_get(m, &m->queues[i], GFX_ANY, 0, MQD_V_QUEUE_PRIO, &prio))
			add_prio_evidence(&e, level, prio);
	return prio_verdict(&e,
			    d ? kfd_driver_fact(d, KFD_FACT_QUEUE_PRIORITY) : KFD_ANSWER_UNKNOWN);
}

enum kfd_answer3 prio_written_slots(const struct hqds *h)
{
	struct evidence e = {0};
	uint64_t level, prio;
	for (size_t i = 0; i < h->nslots; i++) {
		const struct hqd *s = &h->slots[i];
		if (s->kind == HQD_CP && hqd_in_use(h, s, GFX_ANY) > 0 &&
		    hqd_get(h, s, GFX_ANY, MQD_V_PIPE_PRIO, &level) &&
		    hqd_get(h, s, GFX_ANY, MQD_V_QUEUE_PRIO, &prio))
			add_prio_evidence(&e, level, prio);
	}
	return prio_verdict(&e, KFD_ANSWER_UNKNOWN);
}

// --- --prio ---

// Returns the priorities (bits) of levels such as "low,high", or 0 if a word is no level.
static uint16_t parse_levels(const char *text)
{
	uint16_t prios = 0;
	for (;; text++) {
		size_t len = strcspn(text, ",");
		unsigned i = 0;
		while (i < LEVELS &&
		       (strlen(levels[i].name) != len || memcmp(levels[i].name, text, len) != 0))
			i++;
		if (i == LEVELS)
			return 0;
		prios |= levels[i].prios;
		text += len;
		if (!*text)
			return prios;
	}
}

// Returns a bit for each priority from MIN to MAX of "MIN:MAX" ("MIN": to 15); 0: no such range.
static uint16_t parse_range(const char *text)
{
	char low[32];
	size_t n = strcspn(text, ":");
	uint64_t min, max = HIGHEST;
	if (n >= sizeof(low))
		return 0;
	memcpy(low, text, n);
	low[n] = '\0';
	if (!parse_u64(low, &min) || (text[n] && !parse_u64(text + n + 1, &max)) || min > max ||
	    max > HIGHEST)
		return 0;
	return (uint16_t)((2u << max) - (1u << min));
}

int prio_parse(struct prio_choice *c, const char *text)
{
	*c = (struct prio_choice){text, UINT16_MAX};
	if (!text)
		return GPQ_OK;
	c->prios = parse_levels(text);
	if (!c->prios)
		c->prios = parse_range(text);
	if (c->prios)
		return GPQ_OK;
	return err_fail(GPQ_USAGE, "for example --prio high, --prio 8 or --prio 0:7",
			"--prio %s: neither levels (low, medium, high) nor MIN[:MAX] with "
			"priorities from 0 to 15",
			text);
}

int prio_check(const struct prio_choice *c, enum kfd_answer3 written)
{
	bool cuts = false;
	for (unsigned i = 0; i < LEVELS; i++) {
		uint16_t both = c->prios & levels[i].prios;
		cuts |= both && both != levels[i].prios;
	}
	if (!cuts || written == KFD_ANSWER_YES)
		return GPQ_OK;
	return err_fail(GPQ_UNSUPPORTED, "choose whole levels: 0:6 is low, 7:10 medium, 11:15 high",
			"--prio %s: %s (Linux 7.0 and later write the level alone)", c->text,
			written == KFD_ANSWER_NO
				? "the driver does not write the priority of a queue, only its "
				  "level"
				: "the MQDs do not tell whether the driver writes the priority of "
				  "a queue or only its level");
}

enum kfd_answer3 prio_fits(const struct prio_choice *c, uint64_t prio, uint64_t level)
{
	uint16_t possible = UINT16_MAX;
	if (prio <= HIGHEST)
		possible = (uint16_t)(1u << prio);
	else if (level < LEVELS)
		possible = levels[level].prios;
	if (!(possible & ~c->prios))
		return KFD_ANSWER_YES;
	return possible & c->prios ? KFD_ANSWER_UNKNOWN : KFD_ANSWER_NO;
}
