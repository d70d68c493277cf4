// Statistics of the scheduler: printed when it ends, and by `gpq sched --status`, which reads them
// from the hint socket (one JSON object a line).
#pragma once

#include "common/out/out.h"
#include "common/reader/whose.h"
#include "common/sched/sched.h"

// Rows: member of struct sched_total_row, heading, JSON key, type and flags of the column, help.
#define SCHED_TOTAL_COUNTS(X)                                                      \
	X(pid, "PID", "pid", U64, D, "process of the scheduler")                   \
	X(up_ns, "UP", "up_ns", NS, D, "how long it has been running")             \
	X(cpu_ns, "CPU_TIME", "cpu_ns", NS, D,                                     \
	  "processor time of the scheduler, without its holders")                  \
	X(max_hold_ns, "MAX_HOLD", "max_hold_ns", NS, D, "longest hold allowed")   \
	X(clients, "CLIENTS", "clients", U64, D, "connections to the hint socket") \
	X(hints, "HINTS", "hints", U64, D, "active hints")                         \
	X(requests, "REQUESTS", "requests", U64, D, "requests of these clients")   \
	X(throttled, "THROTTLED", "throttled", U64, 0,                             \
	  "times one of them had to wait because it sent too fast")                \
	X(refused, "REFUSED", "refused", U64, D,                                   \
	  "connections refused: too many, of all or of one user")                  \
	X(expired, "EXPIRED", "expired", U64, D,                                   \
	  "hints that lasted longer than they may: work went on without them")     \
	X(left_out, "LEFT_OUT", "left_out", U64, D,                                \
	  "processes not held: their user, or all, have too many")

#define SCHED_CLASS_COUNTS(X)                                                                      \
	X(processes, "PROCS", "processes", U64, D, "processes of the class")                       \
	X(off, "OFF", "off", U64, D, "of these, held now with all queues off")                     \
	X(idle, "IDLE_PROCS", "idle_processes", U64, 0,                                            \
	  "left running now because they have nothing to do")                                      \
	X(missed, "MISSED", "missed", U64, D, "cannot be held, or not with all queues")            \
	X(unreached, "UNREACHED", "unreached_queues", U64, 0,                                      \
	  "queues of secondary KFD contexts, which run on")                                        \
	X(bursts, "BURSTS", "bursts", U64, D, "times the class came to have work")                 \
	X(busy_ns, "BUSY", "busy_ns", NS, D, "time in which it had work")                          \
	X(wait_p50_ns, "WAIT_P50", "wait_p50_ns", NS, 0,                                           \
	  "from a burst of its work to the last queue below off, median")                          \
	X(wait_p99_ns, "WAIT_P99", "wait_p99_ns", NS, D, "the same, 99th percentile")              \
	X(wait_max_ns, "WAIT_MAX", "wait_max_ns", NS, 0, "the same, longest")                      \
	X(request_p50_ns, "REQUEST_P50", "request_p50_ns", NS, 0,                                  \
	  "how long its requests (hints) took, median")                                            \
	X(request_p99_ns, "REQUEST_P99", "request_p99_ns", NS, 0, "the same, 99th percentile")     \
	X(deadlines, "DEADLINES", "deadlines", U64, 0, "requests with a deadline that have ended") \
	X(late, "LATE", "late", U64, 0, "of these, those that missed it")                          \
	X(need_ns, "NEED", "need_ns", NS, 0,                                                       \
	  "what a request takes once its deadline leaves no more time: the longest of the latest " \
	  "64")                                                                                    \
	X(holds, "HOLDS", "holds", U64, D, "times it was held")                                    \
	X(calls, "CALLS", "driver_calls", U64, 0,                                                  \
	  "calls that suspended or resumed: each makes the driver map all queues of a GPU anew")   \
	X(contended_ns, "CONTENDED", "contended_ns", NS, D,                                        \
	  "time in which a class above had work on a GPU of the class, added up by job and GPU")   \
	X(contended_off_ns, "CONTENDED_OFF", "contended_off_ns", NS, 0,                            \
	  "of this, time with all queues off")                                                     \
	X(reaction_p50_ns, "REACTION_P50", "reaction_p50_ns", NS, D,                               \
	  "from the decision to hold (WAIT: from the work) to last queue off, median")             \
	X(reaction_p90_ns, "REACTION_P90", "reaction_p90_ns", NS, 0, "the same, 90th percentile")  \
	X(reaction_p99_ns, "REACTION_P99", "reaction_p99_ns", NS, D, "the same, 99th percentile")  \
	X(reaction_max_ns, "REACTION_MAX", "reaction_max_ns", NS, 0, "the same, longest")          \
	X(resume_p50_ns, "RESUME_P50", "resume_p50_ns", NS, D,                                     \
	  "from the decision to resume to last queue on, median")                                  \
	X(resume_p99_ns, "RESUME_P99", "resume_p99_ns", NS, 0, "the same, 99th percentile")        \
	X(resume_max_ns, "RESUME_MAX", "resume_max_ns", NS, 0, "the same, longest")                \
	X(longest_ns, "LONGEST", "longest_hold_ns", NS, D,                                         \
	  "longest hold, from last queue off to last queue on")                                    \
	X(cost_ns, "COST", "cost_ns", NS, 0,                                                       \
	  "one hold and resume: 90th percentile of the latest 64; no period is shorter than ten")

#define SCHED_JOB_COUNTS(X)                                                                      \
	X(processes, "PROCS", "processes", U64, D, "its processes with queues on the GPU")       \
	X(held_ns, "SINCE", "held_ns", NS, D, "how long it has been held")                       \
	X(left_ns, "LEFT", "left_ns", NS, D, "how long it is held or rests at most from now on") \
	X(holds, "HOLDS", "holds", U64, D, "times it was held")                                  \
	X(contended_ns, "CONTENDED", "contended_ns", NS, D,                                      \
	  "time in which a class above had work there")                                          \
	X(contended_off_ns, "CONTENDED_OFF", "contended_off_ns", NS, 0,                          \
	  "of this, time with all queues off")                                                   \
	X(longest_ns, "LONGEST", "longest_hold_ns", NS, 0, "longest hold")                       \
	X(cost_ns, "COST", "cost_ns", NS, 0, "one hold and resume, as of a class")               \
	X(weight, "WEIGHT", "weight", U64, 0, "--slice: so many times as long as others (--weight)")

#define SCHED_CLIENT_COUNTS(X)                                                \
	X(connection, "CONNECTION", "connection", U64, M,                     \
	  "number of the connection, given again when it has ended")          \
	X(hints, "HINTS", "hints", U64, D, "active hints")                    \
	X(later, "LATER", "later", U64, 0,                                    \
	  "of these, those that hold nobody yet: their deadlines leave time") \
	X(requests, "REQUESTS", "requests", U64, D, "requests")               \
	X(throttled, "THROTTLED", "throttled", U64, 0,                        \
	  "times it had to wait because it sent too fast")                    \
	X(expired, "EXPIRED", "expired", U64, D,                              \
	  "hints that lasted longer than they may: work went on without them")

enum { SCHED_REASON = 256 };

#define SCHED_LATER "later:" // in HINTED: this hint holds nobody yet

struct sched_total_row {
	char policy[SCHED_NAME];
#define FIELD(member, heading, key, type, flags, help) uint64_t member;
	SCHED_TOTAL_COUNTS(FIELD)
};

struct sched_class_row {
	char name[SCHED_NAME];
	SCHED_CLASS_COUNTS(FIELD)
	double ran_percent; // share of the contended time in which the class ran
};

struct sched_job_row {
	char name[SCHED_NAME], job[SCHED_REASON], state[SCHED_NAME], rival[SCHED_NAME];
	char tenant[SCHED_REASON];
	uint64_t gpu, gpu_id; // U64_NULL: the job whole
	SCHED_JOB_COUNTS(FIELD)
	double ran_percent;
};

struct sched_client_row {
	uint64_t pid; // U64_NULL: of another PID namespace
	struct whose whose;
	char name[SCHED_NAME], gpus[SCHED_REASON], hinted[SCHED_TEXT];
	SCHED_CLIENT_COUNTS(FIELD)
#undef FIELD
};

// A decision, or what it was made of; as of --log-decisions.
struct sched_decision_row {
	uint64_t age_ns, took_ns;
	char what[SCHED_NAME], name[SCHED_NAME], job[SCHED_TEXT], rival[SCHED_NAME];
	char gpus[SCHED_REASON];
};

// How many times were no longer than `le`: buckets that add up, as Prometheus has them.
struct sched_time_row {
	char name[SCHED_NAME], what[SCHED_NAME], le[16]; // `le`: seconds, or "+Inf"
	uint64_t count;
};

struct sched_member_row {
	uint64_t pid;
	struct whose whose; // set by whoever prints the row
	char name[SCHED_NAME], comm[SCHED_NAME], state[SCHED_NAME], reason[SCHED_REASON];
	char gpus[SCHED_REASON], job[SCHED_REASON];
};

// Rows of one kind.
#define SCHED_ROWS(row)        \
	struct {               \
		struct row *v; \
		size_t n, cap; \
	}

struct sched_stats {
	SCHED_ROWS(sched_total_row) total; // one
	SCHED_ROWS(sched_class_row) classes;
	SCHED_ROWS(sched_job_row) jobs;
	SCHED_ROWS(sched_member_row) members;
	SCHED_ROWS(sched_client_row) clients;
	SCHED_ROWS(sched_decision_row) decisions;
	SCHED_ROWS(sched_time_row) times;
};

// What the kinds have in common, in the order in which they are printed.
enum { SCHED_KINDS = 7 };
struct sched_kind {
	const struct out_table *table;
	const struct member *keys;
	size_t rows; // place of its rows in struct sched_stats, in bytes
	size_t size; // bytes of a row
};
extern const struct sched_kind sched_kinds[SCHED_KINDS];

// Prints the rows of a kind.
int sched_stats_print(struct out *o, const struct sched_stats *t, const struct sched_kind *kind);

extern const struct out_table sched_total_table, sched_class_table, sched_job_table,
	sched_member_table, sched_client_table, sched_decision_table, sched_time_table;

// Takes the present statistics. Free them with sched_stats_fini().
void sched_stats_take(struct sched_stats *t, const struct sched *s);
void sched_stats_fini(struct sched_stats *t);

// Writes statistics as JSON lines, and reads them back. Free *t whatever sched_stats_read()
// returns: false if a line is of another kind, or not exactly one is of the scheduler itself.
void sched_stats_write(struct buf *b, const struct sched_stats *t);
bool sched_stats_read(struct sched_stats *t, const char *text);
