// Exceptions of queues; why.h.
#include "common/why/why.h"

#include "common/host/buf.h"
#include "common/kfd/abi.h"

#include <stddef.h>

static const char *const names[32] = {
	[1] = "WAVE_ABORT",
	[2] = "WAVE_TRAP",
	[3] = "WAVE_MATH_ERROR",
	[4] = "WAVE_ILLEGAL_INSTRUCTION",
	[5] = "WAVE_MEMORY_VIOLATION",
	[6] = "WAVE_APERTURE_VIOLATION",
	[16] = "PACKET_DISPATCH_DIM_INVALID",
	[17] = "PACKET_DISPATCH_GROUP_SEGMENT_SIZE_INVALID",
	[18] = "PACKET_DISPATCH_CODE_INVALID",
	[19] = "PACKET_RESERVED",
	[20] = "PACKET_UNSUPPORTED",
	[21] = "PACKET_DISPATCH_WORK_GROUP_SIZE_INVALID",
	[22] = "PACKET_DISPATCH_REGISTER_INVALID",
	[23] = "PACKET_VENDOR_UNSUPPORTED",
	[30] = "PREEMPTION_ERROR",
};

void why_exceptions_text(struct buf *to, uint64_t exceptions)
{
	const char *blank = "";
	for (unsigned code = 1; code < 32; code++) {
		if (!(exceptions & KFD_EC(code)) || !names[code])
			continue;
		buf_printf(to, "%s%s", blank, names[code]);
		blank = " ";
	}
	if (!exceptions)
		buf_puts(to, "none");
}

uint64_t why_exceptions(const struct ring_queue *q, const struct memory *m)
{
	const uint64_t area = q->row->v[MQD_V_CTX_BASE];
	uint64_t known = 0, at, noted;
	for (unsigned code = 1; code < 32; code++)
		known |= names[code] ? KFD_EC(code) : 0;
	if (area == MQD_UNKNOWN || !area || q->ring.kind != RING_AQL ||
	    !memory_read(m, area + offsetof(struct kfd_ctx_header, err_payload_addr), &at,
			 sizeof(at)) ||
	    !at || !memory_read(m, at, &noted, sizeof(noted)))
		return KFD_UNKNOWN;
	return noted & ~known ? KFD_UNKNOWN : noted;
}
