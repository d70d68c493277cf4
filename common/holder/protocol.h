// The holder's line protocol: text to structs and back. Pure functions, no I/O.
//
// A request is one line; the answer is any number of `queue` lines and one `ok` or `error` line.
// Words are separated by one blank; unknown key=value words in answers are ignored, so that new
// ones can be added. The protocol is public: gpq-suspend(1), PROTOCOL.
#pragma once

#include "common/holder/holder.h"

// Bytes of the longest line of either side, with newline: 1024 ids of five characters fit.
#define HOLDER_LINE_MAX 8192

enum holder_verb {
	HOLDER_SUSPEND,
	HOLDER_HOLD,    // makes the connection's tied hold last until resume
	HOLDER_RELEASE, // ends the connection's tied hold, or its part on some GPUs
	HOLDER_RESUME,
	HOLDER_QUEUES, // all queues of the target, suspended or running
	HOLDER_STATUS, // suspended queues only, without asking the driver
};

// A new member needs a row of words[] and a reset in holder_request_parse() (protocol.c), its use
// in serve.c, PROTOCOL in gpq-suspend(1), tests/fuzz/fuzz_request.c and request.dict.
struct holder_request {
	enum holder_verb verb;
	unsigned grace;  // suspend: grace period, units of 1000 GPU clocks
	uint64_t for_ns; // suspend: time until the hold ends; 0: no deadline
	bool tie;        // suspend: the hold ends with the connection
	bool idle;       // suspend: only queues without work
	bool keep;       // resume: the holder stays attached; release: while connected
	bool untraced;   // suspend: a new session goes on without tracing
	bool addresses;  // suspend, queues: the answer has addresses and XCCs
	bool gpus;       // suspend: the answer has the GPUs, and the queues as they are now
	struct kfd_selection sel; // last: its lists are long, and are not cleared
};

// Parses a request line without newline, and changes it. Returns 0, or -1 and sets *f
// (KFD_FAULT_REQUEST).
int holder_request_parse(char *line, struct holder_request *r, struct kfd_failure *f);

// Write text and a NUL to `to`, and return the address of the NUL. printf would take longer than
// all else that a holder does for a request.
char *line_put(char *to, const char *s);
char *line_put_number(char *to, const char *key, uint64_t value, unsigned base);

// Write a whole line to `to`, which has HOLDER_LINE_MAX bytes, and return its length.
size_t holder_format_queue(char *to, const struct kfd_outcome *q, bool addresses);
size_t holder_format_gpu(char *to, const struct kfd_device_entry *g);
size_t holder_format_ok(char *to, const struct kfd_answer *a, bool addresses);

enum holder_line {
	HOLDER_LINE_BAD,
	HOLDER_LINE_QUEUE,
	HOLDER_LINE_GPU,
	HOLDER_LINE_OK,
	HOLDER_LINE_ERROR
};

// Parses and changes a line of an answer. Fills *q, or *a (but not its queues), or *f; adds to
// a->gpus.
enum holder_line holder_answer_parse(char *line, struct kfd_outcome *q, struct kfd_answer *a,
				     struct kfd_failure *f);

// Names of a queue's type, as in column TYPE: "compute", "sdma", "sdma-xgmi" or "unknown"; and of
// its packet format: "aql", "pm4" or NULL.
const char *kfd_snapshot_type_name(uint32_t snapshot_type);
const char *kfd_snapshot_packets_name(uint32_t snapshot_type);
