// The fields of single messages, read on demand: packets, queue management, API lines.
//
// A number is taken only when its end is certain: records are torn at any byte, and half a number
// is a lie ([amdlog.torn]).
#ifndef GPQ_AMDLOG_READ_DETAIL_H
#define GPQ_AMDLOG_READ_DETAIL_H

#include "common/amdlog/read/record.h"

struct amdlog_packet {
	uint64_t hwq; // ring base; up to 5.4, and in BarrierValue lines up to 6.1, the hsa_queue_t.
		      // AMDLOG_UNKNOWN
	uint64_t swq; // hsa_queue_t, 6.2 and later
	uint64_t kernel_obj;
	uint64_t rptr, wptr; // packets since the queue was made; the low 32 bits up to 7.x
	int64_t id;          // ROCr's count of queues, not KFD's; -1 unknown
	uint64_t grid[3];    // work-items; [0] is AMDLOG_UNKNOWN when not known
	uint64_t workgroup[3];
	bool whole; // nothing is missing that the release prints
	bool ends; // with the write pointer, behind which the line ends: no rest of it is elsewhere
};

struct amdlog_queue_line {
	uint64_t swq, hwq; // of "Created SWq=.. to map on HWq=.."
	uint64_t address;  // of all others: the handle up to 6.1, then the ring base
	uint64_t size;     // packets
	int priority;      // 0 low, 1 normal, 2 high; -1 unknown
};

// AMDLOG_PAD bytes behind the message may be read.
void amdlog_packet_parse(const struct amdlog_record *r, struct amdlog_packet *p);
void amdlog_queue_line_parse(const struct amdlog_record *r, struct amdlog_queue_line *q);

// Outstanding packets in front of this one, modulo the counters' width. Below 0 when rptr is ahead
// of wptr.
int64_t amdlog_backlog(uint64_t rptr, uint64_t wptr);
// The same of a packet, 0 when its rptr is ahead; AMDLOG_UNKNOWN when a pointer is missing.
uint64_t amdlog_packet_backlog(const struct amdlog_packet *p);

// The number behind the first `word` at or behind *at, which moves behind the number;
// AMDLOG_UNKNOWN.
uint64_t amdlog_next_number(const struct amdlog_record *r, const char *word, const char **at);
// The number behind the first `word` of the message.
uint64_t amdlog_number_behind(const struct amdlog_record *r, const char *word);

// The name of an API line's function begins with this.
bool amdlog_api_begins(const struct amdlog_record *r, const char *word);

// The stream an API line ("stream:0x..", "stream:<null>" is 0) or a command line ("to queue: 0x..")
// names.
uint64_t amdlog_api_stream(const struct amdlog_record *r);
// The stream that what follows an API entry goes to: launches, copies and fills have one.
uint64_t amdlog_entry_stream(const struct amdlog_record *r);
uint64_t amdlog_command_stream(const struct amdlog_record *r);

// The kind of the command that "Command (Kind) enqueued: 0x.." or "command is enqueued: 0x.." is
// about: "command" where the release does not say.
const char *amdlog_command_kind(const struct amdlog_record *r, size_t *len);

// Microseconds a returning API call took, or AMDLOG_UNKNOWN.
uint64_t amdlog_api_duration(const struct amdlog_record *r);

// An API line that returns something else than hipSuccess.
bool amdlog_api_failed(const struct amdlog_record *r);

// The kernel's name in a KERNEL line.
const char *amdlog_kernel_name(const struct amdlog_record *r, size_t *len);

// The record misses its end: cut within the prefix, by another record at a multiple of 128 bytes,
// or by the end of the input. Packets are judged by amdlog_packet.whole.
bool amdlog_is_torn(const struct amdlog_record *r);

#endif
