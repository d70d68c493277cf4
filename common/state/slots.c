// Active compute slots of an hqds dump; see slots.h.
#include "common/state/slots.h"

#include "common/debugfs/hqds.h"
#include "common/host/buf.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

enum { R_MQD = 0, R_RPTR = 10, R_DOORBELL = 15, R_WPTR = 54 }; // kfd-facts 7

static bool read_pair(const struct hqds *h, const struct hqd *d, unsigned reg, uint64_t *v)
{
	uint32_t low, high;
	if (!hqd_cp_reg(h, d, reg, &low) || !hqd_cp_reg(h, d, reg + 1, &high))
		return false;
	*v = (uint64_t)high << 32 | low;
	return true;
}

static int take(struct slots *s, const struct hqds *h, const struct hqd *d)
{
	struct slot one = {.gpu_id = h->nodes[d->node].gpu_id,
			   .xcc = (uint8_t)(d->xcc < 0 ? 0 : d->xcc),
			   .pipe = (uint8_t)d->pipe,
			   .queue = (uint8_t)d->queue};
	// A register that is missing leaves open whose slot it is.
	if (!read_pair(h, d, R_MQD, &one.mqd) || !read_pair(h, d, R_WPTR, &one.wptr) ||
	    !hqd_cp_reg(h, d, R_RPTR, &one.rptr) || !hqd_cp_reg(h, d, R_DOORBELL, &one.doorbell))
		return 0;
	one.doorbell &= 0x0ffffffcu;
	if (ARRAY_GROW(s->v, s->cap, s->n))
		return -1;
	s->v[s->n++] = one;
	return 0;
}

int slots_parse(struct slots *s, const char *text, size_t len)
{
	struct hqds h;
	s->n = 0;
	hqds_init(&h);
	int r = hqds_parse(&h, text, len);
	errno = -r;
	for (size_t i = 0; i < h.nslots && !r; i++)
		if (h.slots[i].kind == HQD_CP && hqd_cp_active(&h, &h.slots[i]))
			r = take(s, &h, &h.slots[i]);
	hqds_fini(&h);
	return r ? -1 : 0;
}

void slots_fini(struct slots *s)
{
	free(s->v);
	*s = (struct slots){0};
}
