// Shared by timeline_calls.c (API calls of host threads) and timeline.c (all other tracks).
#ifndef GPQ_AMDLOG_ANALYSIS_TIMELINE_PRIV_H
#define GPQ_AMDLOG_ANALYSIS_TIMELINE_PRIV_H

#include "common/amdlog/analysis/timeline.h"

// Numbers of tracks: above all process ids of Linux (2^22).
#define TRACK_THREADS  UINT64_C(5000000)
#define TRACK_QUEUES   UINT64_C(6000000)
#define TRACK_NAMELESS UINT64_C(7000000) // processes without a pid
#define TRACK_ALL      UINT64_C(8000000) // counters over all processes

#define CALL_NAME    64 // longer names of functions are cut
#define CALL_DEPTH   8  // calls within calls
#define CALL_PACKETS 16 // packets with a flow from their call; others have none

// A packet that waits for the return of the call that wrote it, without which there is no flow.
struct timeline_packet {
	struct amdlog_packet packet;
	uint64_t time_us;
	uint32_t queue, kernel;
	enum amdlog_kind kind;
	bool torn;
};

struct timeline_call {
	uint64_t time_us;
	char name[CALL_NAME];
};

// Open calls of a host thread.
struct timeline_thread {
	struct timeline_call call[CALL_DEPTH];
	unsigned calls;
	struct timeline_packet packet[CALL_PACKETS]; // of the outermost call
	unsigned packets;
	uint64_t end_us; // of the last slice of the track
};

#define SIGNALS   4096  // slots for dispatches that wait for their signal's times
#define WINDOW_US 10000 // of the counter of active queues

struct timeline_signal {
	uint64_t handle, time_us;
	uint32_t process, queue, kernel;
};

struct amdlog_timeline {
	struct traceevent out;
	const struct amdlog_summary *sum; // not owned
	struct timeline_thread **threads; // by the summary's number; NULL: nothing is open
	size_t nthreads;
	uint64_t flows, executions; // last ids given
	struct timeline_signal signal[SIGNALS];
	struct timeline_queue {
		uint64_t backlog; // last value drawn; AMDLOG_UNKNOWN
		uint64_t window;  // last window with a packet of it; AMDLOG_UNKNOWN
	} * queues;               // by the summary's number
	size_t nqueues;
	uint64_t window, active; // the open window of the counter, queues with packets in it
	const char *(*readable)(void *ctx, uint32_t kernel); // NULL: names as the log has them
	void *readable_ctx;
};

// Begins an event of a thread.
void timeline_begin(struct amdlog_timeline *t, char phase, uint32_t thread, uint64_t us,
		    const char *category, const char *name);

// Draws an API line on its thread's track.
void timeline_call(struct amdlog_timeline *t, const struct amdlog_event *e);

// Keeps a packet until its call returns. False: no call is open, or it has CALL_PACKETS.
bool timeline_keep(struct amdlog_timeline *t, const struct amdlog_event *e,
		   const struct timeline_packet *p);

// At the end: calls that never returned become marks.
void timeline_end_calls(struct amdlog_timeline *t);

// Draws a packet's mark, with the end of flow `flow` (0: none).
void timeline_mark(struct amdlog_timeline *t, const struct timeline_packet *p, uint64_t flow);

#endif
