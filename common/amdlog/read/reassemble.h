// Puts torn records together again where there is no doubt.
//
// Records are written in pieces of 128 bytes. A record of another process may land between two, and
// the rest of the first record then begins a later line ([amdlog.torn]), but comes before the next
// record of its process. Only packets and API entries are joined, as they show when they are
// complete: the front up to a multiple of 128 bytes and a line without a prefix must make one
// complete record. Lines right behind a packet are joined too: a terminal may have wrapped the log.
//
// While a record is open, a longer line of another process may hold its rest. If that cannot be
// ruled out, the line is cut to its first piece and counts as torn.
//
// A torn record is handed on when it is complete, or when its process writes another record.
#pragma once

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
	uint64_t first, past; // input bytes [first, past): `mended` counts records that begin there
	unsigned n;           // records in `waiting`, oldest first
	struct front *waiting[WAITING_MAX];
	unsigned nopen;
	struct open_writer open[OPEN_MAX];
	char *joined; // scratch: the front of a torn record and a line that may be its rest
};

// Makes a reassembly that hands its records to to->record; to->foreign is not called.
struct amdlog_reassembly *amdlog_reassembly_new(const struct amdlog_sink *to);
void amdlog_reassembly_free(struct amdlog_reassembly *m);

// Hands on the records that still wait, as the input ends.
void amdlog_reassembly_end(struct amdlog_reassembly *m);

// True if no torn record waits for its rest: whole records pass unchanged, other lines are ignored.
bool amdlog_reassembly_idle(const struct amdlog_reassembly *m);

// True if the record is torn and may be joined: a packet or an API entry.
bool amdlog_reassembly_wants(const struct amdlog_record *r);
