// Puts torn records together again where there is no doubt.
//
// glibc 2.37 and later writes a record to an unbuffered stream in pieces of 128 bytes; what another
// writer sends to the same file lands between two of them, and the rest of the record stands at the
// start of a later line (amd-log-facts.md section 4.1). A process writes one record at a time, so
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
// It stands between the scanner and whoever takes the records; a torn record is handed on when it
// was mended or the next record of its process shows that it cannot be.
#ifndef GPQ_AMDLOG_READ_REASSEMBLE_H
#define GPQ_AMDLOG_READ_REASSEMBLE_H

#include "common/amdlog/read/scan.h"

struct amdlog_mend;

// NULL when memory is short. Records go to `to`; its `foreign` is not used.
struct amdlog_mend *amdlog_mend_new(const struct amdlog_sink *to);
void amdlog_mend_free(struct amdlog_mend *m);

// What the scanner's sink must be, and the scanner that has it.
struct amdlog_sink amdlog_mend_sink(struct amdlog_mend *m);
void amdlog_mend_watch(struct amdlog_mend *m, struct amdlog_scan *scan);

// The input ends: hands on what still waits.
void amdlog_mend_end(struct amdlog_mend *m);

// Nothing is open or waits: whole records pass unchanged, and lines without a prefix mean nothing.
bool amdlog_mend_idle(const struct amdlog_mend *m);

// A record that ends with a newline, and yet is not whole.
bool amdlog_mend_wants(const struct amdlog_record *r);

// From now on only records that begin in these bytes of the input count as mended.
void amdlog_mend_range(struct amdlog_mend *m, uint64_t from, uint64_t to);

// Records mended so far.
uint64_t amdlog_mend_count(const struct amdlog_mend *m);

#endif
