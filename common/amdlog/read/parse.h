// Parses one record, given where it begins and ends: prefix.c, message.c.
#pragma once

#include "common/amdlog/read/record.h"
#include "common/amdlog/read/vector.h"
#include "common/host/number.h"

#define LEVEL_NONE 255

// The process and thread a prefix names.
struct amdlog_writer {
	int64_t pid;  // -1: none
	uint64_t tid; // AMDLOG_UNKNOWN: none
	bool old;     // the prefix has the layout of ROCm 3.7 to 4.5
};

// True if a line of ROCm 3.10 to 4.5 names a thread, whose process an earlier line may name.
static inline bool is_bare(const struct amdlog_writer *w)
{
	return w->pid < 0 && w->tid != AMDLOG_UNKNOWN;
}

// Length of the prefix in front of the time (":3:name.cpp   :12  : "); 0: `p` begins with none.
// `strict`: the file's name must be like the runtime's, for records within a line.
size_t prefix_shape(const char *p, size_t len, bool strict);

bool is_record_line(const char *p, size_t len);

// The first place in [p, stop) where a record may begin within a line; NULL: none. Its prefix may
// reach up to `end`.
const char *find_record(const char *p, const char *stop, const char *end);

// Columns of a prefix: the time in microseconds ends at time_end, the message may begin at msg (0:
// its own bytes decided that), bytes up to `seen` were looked at.
struct prefix_columns {
	unsigned time_end, msg, seen;
};

// Fills a record whose text, len and ended are set; leaves offset, thread and unwanted. AMDLOG_PAD
// bytes behind the text may be read.
void record_parse(struct amdlog_record *r, struct amdlog_writer *w, struct prefix_columns *c);

// Sets the record's kind and name_len, by its message.
void message_parse(struct amdlog_record *r);

// How many bytes of the message decide its kind: every message that begins with them is of that
// kind; 0: no number of bytes does. Not to be called for API lines and packets.
size_t message_telling(const struct amdlog_record *r);

// What is done with the records of a kind.
enum kind_use { COUNTED, PLACED, CALL };
extern const uint8_t kind_uses[AMDLOG_NKINDS];
#define X(name, word, use, ...) | (use == PLACED ? UINT32_C(1) << AMDLOG_##name : 0)
static const uint32_t AMDLOG_KINDS_PLACED = 0 AMDLOG_KINDS(X);
#undef X

static inline bool is_packet(enum amdlog_kind kind)
{
	return kind >= AMDLOG_PACKET && kind <= AMDLOG_BARRIER_VALUE;
}

static inline bool is_queue_line(enum amdlog_kind kind)
{
	return kind >= AMDLOG_QUEUE_CREATED && kind <= AMDLOG_QUEUE_DELETED;
}

// True at a colon, a digit and a colon, where a record may begin.
static inline bool is_mark(const char *p)
{
	return p[0] == ':' && p[2] == ':' && (unsigned char)(p[1] - '0') < 10;
}

static inline bool is_digit(char c)
{
	return (unsigned char)(c - '0') < 10;
}
