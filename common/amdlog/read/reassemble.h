// Puts torn records together again where there is no doubt.
//
// A record is written in pieces of 128 bytes; records of other processes may land between two of
// them, and the rest of the record is then at the start of a later line ([amdlog.torn]). As a
// process writes one record at a time, the rest comes before its next record. Only packets and API
// entries are joined, since they show when they are complete: the front up to a multiple of 128
// bytes and a line without a prefix must make one complete record. Lines right behind a packet are
// joined the same way, as a pasted log is wrapped at the terminal's width.
//
// While a record of one process is open, a longer line of another process may hold its rest. If
// that cannot be ruled out, the line is cut to its first piece: it counts as torn, but nothing
// false.
//
// A torn record is handed on when it is complete, or when the next record of its process shows that
// it never will be.
#ifndef GPQ_AMDLOG_READ_REASSEMBLE_H
#define GPQ_AMDLOG_READ_REASSEMBLE_H

#include "common/amdlog/read/scan.h"

#define WAITING_MAX 16
#define OPEN_MAX    16

// A process whose last record was interrupted at the end of a piece.
struct open_writer {
	int64_t pid;
	unsigned left; // if the pid is unknown: records until it counts as closed
};

struct amdlog_reassembly {
	struct amdlog_sink to;
	struct amdlog_scan *scan; // owned; finds the records and lines
	uint64_t mended;          // records put together so far
	uint64_t first, past;     // `mended` counts those that begin in [first, past) of the input
	unsigned n;               // number of those waiting; the oldest is first
	struct front *waiting[WAITING_MAX];
	unsigned nopen;
	struct open_writer open[OPEN_MAX];
	char *joined; // scratch: a front and a possible rest
};

// Records go to `to`; its `foreign` is not used.
struct amdlog_reassembly *amdlog_reassembly_new(const struct amdlog_sink *to);
void amdlog_reassembly_free(struct amdlog_reassembly *m);

// Hands on the records that still wait, as the input ends.
void amdlog_reassembly_end(struct amdlog_reassembly *m);

// True if none is open or waits: whole records pass unchanged, lines without prefix are ignored.
bool amdlog_reassembly_idle(const struct amdlog_reassembly *m);

// True if the record is torn and may be joined: a packet or an API entry.
bool amdlog_reassembly_wants(const struct amdlog_record *r);

#endif
