// Facts of the host (name, kernel, boot, clocks) that --context adds to each record, so that output
// of many hosts can be merged.
#ifndef GPQ_OUT_CONTEXT_H
#define GPQ_OUT_CONTEXT_H

#include <stdint.h>

enum { CONTEXT_FACTS = 7 };

struct context {
	const char *host, *kernel, *boot_id, *pid_ns; // NULL: unknown
	uint64_t monotonic_ns, realtime_ns;           // U64_NULL: unknown
	const char *source;                           // live, recorded, or the software GPU of a VM
	char text[4][128];                            // the first four
	unsigned n;                                   // texts used
};

void context_init(struct context *c);

#endif
