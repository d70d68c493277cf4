// Facts of the host that --context writes with each record, so that output of many hosts can be put
// together.
#ifndef GPQ_CLI_CONTEXT_H
#define GPQ_CLI_CONTEXT_H

struct context_item {
	const char *name, *key; // column heading and JSON key
	char value[128];
};

struct context {
	struct context_item item[8];
	unsigned n;
};

// Host name, kernel release, boot id, PID namespace, clocks, and whether the host is live, recorded
// or a VM.
void context_init(struct context *c);
void context_fini(struct context *c);

#endif
