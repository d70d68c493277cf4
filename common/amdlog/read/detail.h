// Fields of messages, read on demand: packets, queue lines, API lines, commands.
//
// A number whose end is not certain is unknown: records are torn at any byte ([amdlog.torn]).
#pragma once

#include "common/amdlog/read/record.h"

struct amdlog_packet {
	// Numbers are AMDLOG_UNKNOWN if the line does not have them.
	uint64_t hwq; // ring; up to ROCm 5.4, in BarrierValue lines to 6.1, the hsa_queue_t
	uint64_t swq; // hsa_queue_t; ROCm 6.2 and later
	uint64_t kernel_obj;
	uint64_t rptr, wptr; // counted in packets ([amdlog.backlog])
	int64_t id;          // ROCr's number of the queue ([amdlog.queue-id]); -1 unknown
	uint64_t grid[3];    // work-items; unknown: [0] is AMDLOG_UNKNOWN
	uint64_t workgroup[3];
	int8_t priority; // 0 low, 1 normal, 2 medium, 3 high ([amdlog.priority]); -1 unknown
	bool whole;      // no field is missing that the release prints
	bool ends;       // wptr, the last field, ends the line: the packet is not torn at its end
};

struct amdlog_queue_line {
	uint64_t swq, hwq; // "Created SWq=.. to map on HWq=.."
	uint64_t address;  // of lines without SWq: the hsa_queue_t up to ROCm 6.1, then the ring
	uint64_t size;     // length of the ring, in packets
	int priority;      // 0 low, 1 normal, 2 high; -1 unknown
};

// Parse the message, behind which AMDLOG_PAD bytes may be read.
void amdlog_packet_parse(const struct amdlog_record *r, struct amdlog_packet *p);
void amdlog_queue_line_parse(const struct amdlog_record *r, struct amdlog_queue_line *q);

// Packets from rptr to wptr, modulo the width of both; below 0: rptr is ahead of wptr.
int64_t amdlog_backlog(uint64_t rptr, uint64_t wptr);
// Packets in front of a packet: 0 if its rptr is ahead, AMDLOG_UNKNOWN if a pointer is missing.
uint64_t amdlog_packet_backlog(const struct amdlog_packet *p);

// The number behind the first `word` from *at on; moves *at behind it. AMDLOG_UNKNOWN: none.
uint64_t amdlog_next_number(const struct amdlog_record *r, const char *word, const char **at);
// The number behind the first `word` of the message; AMDLOG_UNKNOWN: none.
uint64_t amdlog_number_behind(const struct amdlog_record *r, const char *word);

// True if the function's name in an API line begins with `word`.
bool amdlog_api_begins(const struct amdlog_record *r, const char *word);

// The stream that a line names, or AMDLOG_UNKNOWN: an API line ("stream:0x..", "stream:<null>" is
// 0); the entry of a launch, copy or fill (copies and fills that name none: 0); a command line ("to
// queue: 0x..").
uint64_t amdlog_api_stream(const struct amdlog_record *r);
uint64_t amdlog_entry_stream(const struct amdlog_record *r);
uint64_t amdlog_command_stream(const struct amdlog_record *r);

// KIND of "Command (KIND) enqueued: 0x.."; "command" where the release does not say.
const char *amdlog_command_kind(const struct amdlog_record *r, size_t *len);

// Microseconds that an API call took, by its return line; AMDLOG_UNKNOWN: the line does not say.
uint64_t amdlog_api_duration(const struct amdlog_record *r);

// True if an API call returned anything but hipSuccess, of which a cut line may have the beginning
// alone.
bool amdlog_api_failed(const struct amdlog_record *r);

// The kernel's name in a record of kind KERNEL, *len bytes.
const char *amdlog_kernel_name(const struct amdlog_record *r, size_t *len);

// True if the record is cut: within its prefix, by another record at a multiple of 128 bytes, or by
// the end of the input. For packets see amdlog_packet.whole.
bool amdlog_is_torn(const struct amdlog_record *r);
