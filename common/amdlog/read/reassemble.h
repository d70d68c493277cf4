// Puts torn records together again where there is no doubt.
//
// glibc 2.37 and later writes a record to an unbuffered stream in pieces of 128 bytes; what another
// writer sends to the same file lands between two of them, and the rest of the record stands at the
// start of a later line ([amdlog.torn]). A process writes one record at a time, so
// the rest comes before its next one. Packets and API entries tell when they are complete, so only
// these are joined: the front up to a multiple of 128 bytes and a line without a prefix must make
// one complete record.
//
// A log pasted from a terminal is wrapped at its width; lines that follow a packet at once are
// joined the same way.
//
// While a record of one process lies open, a line of another that is longer than a piece may hold
// the rest of the first. Where that cannot be ruled out the line is cut to its first piece: half a
// record is torn, a wrong one lies.
//
// It stands between the scanner and the consumer of the records; a torn record is handed on when it
// was reassembled or the next record of its process shows that it cannot be.
#ifndef GPQ_AMDLOG_READ_REASSEMBLE_H
#define GPQ_AMDLOG_READ_REASSEMBLE_H

#include "common/amdlog/read/scan.h"

#define WAITING_MAX 16
#define OPEN_MAX    16

// A process whose last record was interrupted at the end of a piece.
struct open_writer {
	int64_t pid;
	unsigned left; // pid unknown: records to wait
};

struct amdlog_reassembly {
	struct amdlog_sink to;
	struct amdlog_scan *scan; // that finds the records and lines, owned
	uint64_t mended;          // records put together so far
	uint64_t first, past;     // of those that begin in [first, past) of the input
	unsigned n;               // waiting, oldest first
	struct front *waiting[WAITING_MAX];
	unsigned nopen;
	struct open_writer open[OPEN_MAX];
	char *joined; // what is tried
};

// Records go to `to`; its `foreign` is not used.
struct amdlog_reassembly *amdlog_reassembly_new(const struct amdlog_sink *to);
void amdlog_reassembly_free(struct amdlog_reassembly *m);

// The input ends: hands on what still waits.
void amdlog_reassembly_end(struct amdlog_reassembly *m);

// Nothing is open or waits: whole records pass unchanged, and lines without a prefix mean nothing.
bool amdlog_reassembly_idle(const struct amdlog_reassembly *m);

// A record that ends with a newline, and yet is not whole.
bool amdlog_reassembly_wants(const struct amdlog_record *r);

#endif
