// Facts of the host (name, kernel, boot, clocks) that --context adds to each record, so that output
// of many hosts can be merged.
#ifndef GPQ_CLI_CONTEXT_H
#define GPQ_CLI_CONTEXT_H

enum { CONTEXT_FACTS = 7 };

struct context {
	const char *host, *kernel, *boot_id, *pid_ns, *monotonic_ns, *realtime_ns; // "-": unknown
	const char *source; // live, recorded, or the software GPU of a VM
	char text[CONTEXT_FACTS][128];
	unsigned n; // texts used
};

void context_init(struct context *c);

#endif
