// One log record of the HIP runtime (AMD_LOG_LEVEL), as the scanner hands it out.
//
// Facts: [amdlog.prefix], [amdlog.broken], [amdlog.cut], [amdlog.kinds].
#pragma once

#include "common/host/std.h"

#define AMDLOG_UNKNOWN UINT64_MAX

// A record or foreign line is cut to this length; the rest is only searched for the next record.
// The runtime cuts messages at 4095 bytes; API lines, written by C++ streams, may be longer.
#define AMDLOG_TEXT_MAX 65536
#define AMDLOG_PAD      128 // bytes behind a text that may be read

// All kinds of records, a row each: X(name, word, use, beginnings of its messages...). A new kind
// needs a row (at most 32), outside of the ranges of is_packet() and is_queue_line() (parse.h),
// and a new AMDLOG_PARTIAL_SCHEMA (merge/partial.h), as --partial writes counts by position. use:
// COUNTED, records are only counted; PLACED, their meaning depends on earlier records, so they go
// to summary.c one by one; CALL, they are counted, and a thread's last one is kept, as it may name
// a stream. The first row with a matching beginning (3 to 32 bytes) wins, so longer ones stand
// first. API lines and packets are recognized by code (message.c).
#define AMDLOG_KINDS(X)                                                                         \
	X(OTHER, "other", COUNTED)                                                              \
	X(API_ENTRY, "api", CALL)                                                               \
	X(API_RETURN, "return", CALL)                                                           \
	/* a packet whose kind is cut or new */                                                 \
	X(PACKET, "packet", PLACED, "HWq=", "SWq=")                                             \
	X(DISPATCH, "dispatch", PLACED)                                                         \
	X(BARRIER_AND, "barrier_and", PLACED)                                                   \
	X(BARRIER_OR, "barrier_or", PLACED)                                                     \
	X(BARRIER_VALUE, "barrier_value", PLACED)                                               \
	/* the name of a kernel that is launched */                                             \
	X(KERNEL, "kernel", PLACED, "ShaderName : ")                                            \
	/* a kernel in a graph: its packets have no name */                                     \
	X(GRAPH_KERNEL, "graph_kernel", COUNTED, "Graph shader name : ", "Graph ShaderName : ") \
	X(ARG, "arg", COUNTED, "Arg")                                                           \
	X(KERNARG, "kernarg", COUNTED, "KernargSegmentByteSize")                                \
	X(COMMAND_ENQUEUED, "command", CALL, "Command (", "command is enqueued")                \
	X(COMMAND_COMPLETE, "complete", COUNTED, "Command ")                                    \
	X(WAIT, "wait", COUNTED, "All commands finished", "Event ", "HW Event",                 \
	  "Host active wait", "Host blocked wait", "Host wait", "No HW event", "Queue marker",  \
	  "Waiting for event", "finish() called")                                               \
	X(SIGNAL, "signal", COUNTED, "Handler:", "Set Handler:", "Signal = (")                  \
	/* "HSA Async Copy", up to 5.x "Asycn" [amdlog.copies] */                               \
	X(COPY, "copy", COUNTED, "HSA A", "HSA Copy")                                           \
	X(MEMORY, "memory", COUNTED, "Allocate hsa", "Arena Memory", "Free hsa memory",         \
	  "Locking to pool")                                                                    \
	X(QUEUE_COUNT, "queue_count", COUNTED, "Number of allocated hardware",                  \
	  "number of allocated hardware")                                                       \
	X(QUEUE_CREATED, "queue_created", PLACED, "Created SWq=", "created hardware queue")     \
	X(QUEUE_SELECTED, "queue_selected", PLACED, "Selected queue", "selected queue")         \
	X(QUEUE_ACQUIRED, "queue_acquired", PLACED, "acquireQueue")                             \
	X(QUEUE_RELEASED, "queue_released", PLACED, "releaseQueue")                             \
	X(QUEUE_DELETED, "queue_deleted", PLACED, "Deleting hardware queue",                    \
	  "Deleting CG enabled hardware", "deleting hardware queue")                            \
	/* "Runtime reachead", "reached the AQL queue limit" */                                 \
	X(QUEUE_ERROR, "queue_error", PLACED, "AQL dispatch failed", "Callback: Queue",         \
	  "Device::callbackQueue", "Device not Stable", "HW Exception Error",                   \
	  "Memory Fault Error", "Runtime rea")                                                  \
	X(VERSION, "version", PLACED, "HIP Version: ")                                          \
	/* ROCr's own lines: its blit queue's packets are no HIP kernels */                     \
	X(ROCR, "rocr", COUNTED, "[***rocr***]")

enum amdlog_kind {
#define X(name, ...) AMDLOG_##name,
	AMDLOG_KINDS(X)
#undef X
		AMDLOG_NKINDS
};

// Layout of the prefix, which tells the release of ROCm ([amdlog.prefix]).
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
	const char *text; // from ':' to the next record or the line's end, without CR, LF
	size_t len;
	const char *msg;  // behind prefix, blanks and colour; the text's end if the prefix is cut
	size_t msg_len;   // without trailing blanks
	uint64_t offset;  // place of `text` in the input, in bytes
	uint64_t time_us; // CLOCK_MONOTONIC microseconds, or AMDLOG_UNKNOWN
	uint32_t thread;  // number in the scanner's table of threads
	uint8_t level;    // AMD_LOG_LEVEL, 0 to 9; LEVEL_NONE (parse.h): none
	enum amdlog_style style : 8;
	enum amdlog_kind kind : 8;
	bool ended;        // a newline follows: a number at the end of the text is whole
	bool unwanted;     // the filter by text leaves the record out (struct amdlog_filter)
	uint16_t name_len; // API lines: length of the function's name at `msg`
};

// A thread, as the prefix names it.
struct amdlog_thread_id {
	int64_t pid;     // in the process's own PID namespace; -1 unknown
	uint64_t tid;    // pthread_self(), not Linux's thread id; AMDLOG_UNKNOWN: none
	uint32_t source; // number of the record's input if pid is unknown, else 0
	uint32_t host;   // in a sum of parts: number of the host; 0: not named
};

const char *amdlog_kind_name(enum amdlog_kind kind);
const char *amdlog_style_name(enum amdlog_style style);
