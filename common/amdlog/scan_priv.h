// What the parts of the scanner share: block handling (scan.c), prefixes (prefix.c), threads
// (who.c) and message kinds (kind.c).
#ifndef GPQ_AMDLOG_SCAN_PRIV_H
#define GPQ_AMDLOG_SCAN_PRIV_H

#include "common/amdlog/form.h"
#include "common/amdlog/intern.h"
#include "common/amdlog/marks.h"
#include "common/amdlog/scan.h"

#include <string.h>

#define SCAN_READ     ((size_t)256 * 1024) // at most this much is asked of a read
#define SCAN_LOOK     ((size_t)1024)       // a prefix is shorter
#define SCAN_CAP      (SCAN_READ + 2 * (size_t)AMDLOG_TEXT_MAX)
#define SCAN_TILE     ((size_t)4096)
#define WHO_SLOTS     64
#define WHO_TEXT      56 // a multiple of 8
#define LEVEL_NONE    255
#define KIND_PATTERNS 64

// The text of a process part seen before, and whose it is: nearly every line repeats one of a few.
struct who_slot {
	uint8_t len;   // of the text, 0: free
	uint8_t ahead; // bytes of it that are no part, but must be there
	char text[WHO_TEXT];
	enum amdlog_style style;
	uint32_t who;
};

// The table of message beginnings, prepared for comparing 32 bytes at once. Of those whose first
// three bytes are the same, `first` has the first and `next` the next; KIND_PATTERNS: there is
// none.
struct kind_pattern {
	form_vec text[2], mask[2]; // the pattern's first 32 bytes; 0 in the mask: behind its end
	uint8_t len, next;
	enum amdlog_kind kind : 8;
};
struct kind_index {
	uint32_t factor; // that sends different beginnings to different places of `first`
	uint8_t first[256];
	struct kind_pattern v[KIND_PATTERNS];
};

struct amdlog_scan {
	struct amdlog_sink sink;
	marks_fn *find_marks;
	struct amdlog_counts counts;

	// The line at the front of the buffer.
	bool in_line;     // its beginning was in an earlier block
	bool line_rec;    // it begins with a record
	bool seg_rec;     // the segment at the front of the buffer is a record
	bool seg_done;    // and was handed out already: it is too long, and skipped
	const char *text; // the buffer, or the lines of a caller
	uint64_t base;    // offset of `text` in the input
	size_t fill;      // bytes in the buffer
	uint32_t source;  // number of the input
	int64_t assumed;  // process of records that name none; -1

	struct forms *forms; // to note prefixes in; NULL: nobody looks for them
	struct kind_index kinds;
	const struct who_slot *last; // used last; its length serves to find the next one
	struct who_slot slots[WHO_SLOTS];
	struct intern who_keys;
	struct intern tid_keys; // 3.7 to 4.5: some lines have the tid only
	struct amdlog_who *who;
	uint32_t nwho, who_cap;

	uint32_t marks[SCAN_TILE + MARKS_SPARE];
	char buf[SCAN_CAP + MARKS_PAD];
};

// Length of the prefix up to and without the time when `p` begins like one (":3:name.cpp   :12  :
// 123"), else 0. With `strict` the file must be named like one of the runtime's, as it must within
// a line.
size_t prefix_shape(const char *p, size_t len, bool strict);

// Colon, digit, colon: where a record may begin.
static inline bool is_mark(const char *p)
{
	return p[0] == ':' && p[2] == ':' && (unsigned char)(p[1] - '0') < 10;
}

// What a line must begin with to begin with a record.
bool is_record_line(const char *p, size_t len);

// Fills style, time, who, msg of a record whose text and len are set.
void prefix_parse(struct amdlog_scan *s, struct amdlog_record *r);

void kind_init(struct kind_index *index);

// The kind of a message with this pattern.
enum amdlog_kind kind_of(const struct kind_pattern *m, const char *p, size_t len);

// Of a message with fields of packets: "Dispatch Header = " behind some of them.
enum amdlog_kind packet_kind(const char *msg, size_t len);

// Fills kind and name_len.
void kind_parse(const struct kind_index *index, struct amdlog_record *r);

bool who_init(struct amdlog_scan *s);
void who_fini(struct amdlog_scan *s);

// Reads a process part at `p`; returns its length (0: none) and sets style and who.
size_t who_parse(struct amdlog_scan *s, const char *p, size_t len, struct amdlog_record *r);

static inline uint64_t load64(const char *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

// Where in `first` those are that may be the pattern of the message at `p`.
static inline uint8_t kind_place(const struct kind_index *index, const char *p)
{
	return (uint8_t)((uint32_t)(load64(p) & 0xffffff) * index->factor >> 24);
}

// Are the 32 bytes at `p` as the pattern wants them?
static inline bool kind_fits(const struct kind_pattern *m, const char *p)
{
	return form_is_zero(((form_load(p) ^ m->text[0]) & m->mask[0]) |
			    ((form_load(p + 16) ^ m->text[1]) & m->mask[1]));
}

static inline bool is_digit(char c)
{
	return (unsigned char)(c - '0') < 10;
}

// Value of a hexadecimal digit, or -1. From a table: the digits of an address are digits and
// letters at random, which no branch foretells.
extern const int8_t hex_values[256];
static inline int hex_digit(char c)
{
	return hex_values[(unsigned char)c];
}

#endif
