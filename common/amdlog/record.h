// One log record of the HIP runtime (AMD_LOG_LEVEL), as the scanner hands it out.
//
// Facts: amd-log-facts.md sections 2 (prefix), 4 (how lines break), 5 to 10 (messages), 13 (parse
// rules).
#ifndef GPQ_AMDLOG_RECORD_H
#define GPQ_AMDLOG_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define AMDLOG_UNKNOWN UINT64_MAX

enum amdlog_kind {
	AMDLOG_OTHER,
	AMDLOG_API_ENTRY,
	AMDLOG_API_RETURN,
	AMDLOG_PACKET, // a packet line whose kind is not (or no longer) to be read
	AMDLOG_DISPATCH,
	AMDLOG_BARRIER_AND,
	AMDLOG_BARRIER_OR,
	AMDLOG_BARRIER_VALUE,
	AMDLOG_KERNEL,       // ShaderName: a launch by the runtime
	AMDLOG_GRAPH_KERNEL, // Graph shader name: recorded, its packets come without a name
	AMDLOG_ARG,
	AMDLOG_KERNARG,
	AMDLOG_COMMAND_ENQUEUED,
	AMDLOG_COMMAND_COMPLETE,
	AMDLOG_WAIT,
	AMDLOG_SIGNAL,
	AMDLOG_COPY,
	AMDLOG_MEMORY,
	AMDLOG_QUEUE_COUNT,
	AMDLOG_QUEUE_CREATED,
	AMDLOG_QUEUE_SELECTED,
	AMDLOG_QUEUE_ACQUIRED,
	AMDLOG_QUEUE_RELEASED,
	AMDLOG_QUEUE_DELETED,
	AMDLOG_QUEUE_ERROR,
	AMDLOG_VERSION,
	AMDLOG_ROCR, // ROCr's own lines: its blit queue's packets are no HIP kernels
	AMDLOG_NKINDS
};

// How the prefix is laid out, which tells the release (section 2).
enum amdlog_style {
	AMDLOG_STYLE_NONE,    // torn within the prefix
	AMDLOG_STYLE_3_5,     // time in units of 100 ns
	AMDLOG_STYLE_3_7,     // 3.7 to 4.5, or a line without process part of 5.0 to 5.6
	AMDLOG_STYLE_5_0,     // 5.0 to 5.6: "8088 : [tid:0x14b2015e9700] "
	AMDLOG_STYLE_5_7,     // 5.7 to 6.2: "[pid:461   tid:0x7f1072d6c8c0] "
	AMDLOG_STYLE_6_3,     // "d us: "
	AMDLOG_STYLE_6_4,     // 6.4 and later at level 4 and up: "[pid:7 tid: 0x7f8edc1c4400] "
	AMDLOG_STYLE_6_4_LOW, // 6.4 and later at level 3 and below: no process part, two blanks
	AMDLOG_NSTYLES
};

struct amdlog_record {
	const char *text; // from its first ':' to the end of the line or the next record, without
			  // CR and LF
	size_t len;
	const char *msg;  // behind prefix, blanks and colour; for a cut prefix: its end
	size_t msg_len;   // trailing blanks not counted
	uint64_t offset;  // of `text` in the input, bytes
	uint64_t time_us; // CLOCK_MONOTONIC microseconds, or AMDLOG_UNKNOWN
	uint32_t who;     // index of (pid, tid) in the scanner's table
	uint8_t level;    // 0 to 9
	enum amdlog_style style : 8;
	enum amdlog_kind kind : 8;
	bool ended;        // a newline follows: a number at the end of the text is whole
	bool unwanted;     // by its text, see struct amdlog_filter
	uint16_t name_len; // API lines: length of the function's name at `msg`
};

// A thread of a process as far as the prefix tells.
struct amdlog_who {
	int64_t pid;     // in the process's own PID namespace; -1 unknown
	uint64_t tid;    // pthread_self(), not the kernel's; AMDLOG_UNKNOWN
	uint32_t source; // which input it was seen in when pid is unknown, else 0
	uint32_t host;   // in a sum of parts: their host's number; 0: none is named
};

const char *amdlog_kind_name(enum amdlog_kind kind);
const char *amdlog_style_name(enum amdlog_style style);

#endif
