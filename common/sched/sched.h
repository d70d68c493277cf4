// The scheduler: holds lower classes of work off the GPU while higher ones have work.
//
// Classes are ordered: the first (online) is never held. What is decided on is a unit: a job on one
// of its GPUs, which is held for the work that the classes above have on that GPU (policy.h). All
// processes of a class are one job; with sched_opts.job_by each class has jobs of its own, which
// are held whole, on all of their GPUs, or not at all (jobs.c).
//
// The processes of a class that can be held have debug sessions that stay open, so that a hold is
// one request to each holder and one ioctl, all processes side by side (holder/group.h). Hints
// (hints.h), samples of its queues' indices, and its AMD log tell whether the first class has work;
// hints and samples tell it of the other classes.
//
// Who belongs to which job, on which GPUs, and who has work where, is derived anew each turn.
//
// If the scheduler dies, the holders notice that their connections have ended, and resume. If it
// hangs, the holders end the holds at their deadlines.
#pragma once

#include "common/holder/group.h"
#include "common/host/tail.h"
#include "common/kfd/topology.h"
#include "common/sched/goal.h"
#include "common/sched/hints.h"
#include "common/sched/policy.h"
#include "common/pick/spec_set.h"
#include "common/stats/hist.h"
#include "common/stats/samples.h"

#include <poll.h>

enum { SCHED_NAME = 64, SCHED_TEXT = 768, SCHED_LATEST = 64, SCHED_PARTS = 8 };

// A job on a GPU, or on all of its GPUs.
struct sched_unit {
	uint64_t gpu; // bit of the GPU (gpu_bit()); GPUS_ALL: the job is held whole
	struct policy_class policy;
	double part;         // --share: its part of contended time; 0 until a class above had work
	bool asked;          // the last decision that holders were asked to carry out
	bool settling;       // some holders have not answered to it
	size_t yields_to;    // --share: the class below whose turn it is; --slice: its own; 0: none
	bool noted;          // the decision of this turn is to be written
	uint64_t gpus;       // the GPUs of the unit, when it last had any
	uint64_t decided_ns; // when it was made
	uint64_t held_ns;    // when the last queue was off; 0: not held
	uint64_t hold_cost_ns;      // how long suspending took for the last hold
	struct moving cost;         // how long the latest holds and their resumes took, added up
	uint64_t cost_ns;           // 90th percentile of `cost`; 0: none yet
	uint64_t holds, longest_ns; // number of holds; length of the longest
};

struct sched_job {
	bool used; // false: a place for another job
	size_t class;
	char *key; // owned; --job-by: pid, control group, container or pod; "": the whole class is
		   // a job
	char *tenant;             // owned; --tenant-by: whose job it is; "": nobody else's
	double weight;            // --weight, of the tenant or the job; above 0
	struct sched_unit *units; // owned
	size_t n, cap;
	uint64_t refused_ns; // when one of its processes could not be held; 0: none was refused
	uint64_t waited_for; // the GPUs for which one of its holders is polled
	// Derived by jobs_derive():
	uint64_t gpus;          // where its processes have queues
	uint64_t busy;          // where the answer to a hold or its end is awaited
	size_t members, missed; // living processes; those that cannot be held
	// --slice (slices.c):
	uint64_t tenant_id; // the same for all jobs of a tenant
	uint64_t wants;     // the GPUs of which it wants slices
	uint64_t comes_to;  // of these, those that it wants since this turn
	bool shares;        // others want them, too
	bool has_slice;     // it runs, unless a job with a deadline does instead
	bool fills;         // it has it until another, for which the GPUs are kept, can have them
	bool runs;          // no other job of its class runs instead
	bool overdue;       // it has waited for too long: it is next, and not interrupted
	double patience_ns; // how long that is
	uint64_t due_ns;    // the earliest deadline of its requests that count; 0: none
	uint64_t urgent_ns; // due_ns as it counts now: changes once in 0.1 s at most
	uint64_t slice_ns;  // time of this slice so far
	uint64_t waits_ns;  // since when it waits; later by the time of its slice so far
	double had[64];     // by GPU: time of its tenant's slices, each over the weight; ns
	double ahead;       // what it has had more than others
};

struct sched_class {
	char *name; // owned
	struct group group;
	uint64_t work;   // the GPUs on which its queues had packets at the last sample, or of a log
	uint64_t hinted; // the GPUs of its active hints, or of a log's requests, that count
	uint64_t works;  // the GPUs on which it has work, by whatever tells so
	uint64_t jobs;   // the GPUs on which it has jobs; 0 for the first class
	uint64_t bursts, busy_ns, busy_since_ns;
	uint64_t turns;           // --share: where a class below has its turn
	size_t turn_of;           // that class
	uint64_t worked;          // `works` at the turn before
	uint64_t waits, waits_ns; // where a burst waits until all below is off, and since when
	struct moving need; // what its latest requests with deadlines took once they counted; ns
	uint64_t need_ns;   // the longest of `need`; 0: not known
	uint64_t due_ns;    // --slice: when urgent_ns of its jobs last changed
	uint64_t deadlines, late; // requests with a deadline; of these, those that missed it
	struct hist wait;         // how long bursts have waited so; ns
	struct hist request;      // how long requests took, but those whose client has gone; ns
	struct hist off, on;      // times from the decision until the last queue was off, or on; ns
	// Of units that have ended:
	uint64_t contended_ns, contended_off_ns, holds, longest_ns;
};

// What the processes of a job have in common.
#define SCHED_JOB_WORDS "class\0process\0parent\0cgroup\0container\0pod\0job\0user"
enum sched_job_by {
	BY_CLASS,
	BY_PROCESS,
	BY_PARENT,
	BY_CGROUP,
	BY_CONTAINER,
	BY_POD,
	BY_SLURM,
	BY_USER
};

struct sched_opts {
	struct policy policy;
	// --share with a part for each class, in their order. 0: each lower class has policy.part.
	size_t num_parts;
	double parts[SCHED_PARTS]; // added up: 1
	struct goal goal;  // for requests of the first class; sets the policy's kind and part
	uint64_t slice_ns; // jobs of a class that share a GPU run in turns of this length; 0:
			   // together
	uint64_t lease_ns; // how long a hint without "for=" counts, unless it is begun again
	uint64_t grace; // grace period of suspending, in units of 1000 GPU clocks, to KFD_GRACE_MAX
	uint64_t sample_ns; // least time between two samples of indices
	bool activity;      // sample the queues of the first class
	const char *log;    // AMD log of the first class, or NULL
	unsigned job_by;    // enum sched_job_by
	// --slice: jobs with the same of this (enum sched_job_by; BY_CLASS: each job by itself) are
	// those of a tenant, and turns are shared out among tenants by their weights ("NAME=N";
	// jobs_read_weight()).
	unsigned tenant_by;
	struct words weights;
	bool no_deadlines; // hints with deadlines count at once
	uint64_t slowdown; // in a replay: so many percent longer a request takes beside classes
			   // below
	bool hold_idle;    // hold also processes that were idle for SCHED_IDLE_NS
	bool audit;        // hints_calls.audit
};

// A process whose queues were empty, with indices standing still, for so long is not held until it
// has work: each hold disturbs all queues of its GPUs. (A GPU kernel may run longer than this.)
#define SCHED_IDLE_NS 10000000000ull

// A decision, or what it was made of. `what`: "class" (in their order, at the beginning), "work"
// (the class has work on these GPUs from now on), "unit" and "ended" (a job on its GPUs comes and
// goes), "hold" and "release" (decisions), "done" (all holders have answered to one, `took_ns`
// after it), "request" (one ends, `took_ns` after its first begin), "expired" (the same where its
// hint had expired), "abandoned" (its client has gone): nothing is learned of these two.
struct sched_decision {
	uint64_t ns, took_ns; // CLOCK_MONOTONIC; U64_NULL
	uint64_t on;          // bits of the GPUs
	char what[SCHED_NAME], class[SCHED_NAME], job[SCHED_TEXT], rival[SCHED_NAME];
};

struct sched {
	struct sched_opts opts;
	struct sched_class *classes; // owned
	size_t n;
	struct sched_job *jobs; // owned
	size_t num_jobs, cap_jobs;
	struct gpu_bits bits;
	struct kfd_topology topology; // for hints that name GPUs
	struct spec_set specs;        // the number of a SPEC is the index of its class
	struct spec_look look;        // tells the class of clients that are no members
	struct hints *hints;          // owned; NULL: none
	struct newcomers newcomers;
	bool said_full; // the warning about too many processes was shown
	struct tail log;
	bool following_log;
	uint64_t log_ns;  // when a packet was last seen in `log`
	char log_rest[5]; // the end of what was read of `log`: a word may go on behind it
	size_t num_log_rest;
	uint64_t start_ns, looked_ns, scanned_ns, sampled_ns, sliced_ns;
	size_t wanting;                // --slice: how many jobs wanted a slice at the last turn
	uint64_t num_tenants;          // --slice: how many there were so far, for their ids
	FILE *decisions;               // the log of decisions; NULL: none
	struct sched_decision *latest; // owned; ring of the latest SCHED_LATEST, without requests
	size_t decided;                // how many there were
	// In a replay: its time, and what a hold costs.
	bool replaying;
	uint64_t replayed_ns, replayed_cost_ns;
	uint64_t watchdog_ns, notified_ns; // how often the service manager is told that it runs
	uint64_t sample_every_ns;          // longer than opts.sample_ns if sampling takes long
	void (*on_hup)(struct sched *s, void *arg); // sched_on_hup()
	void *on_hup_arg;
	struct pollfd *polled; // owned
	size_t room;
};

// Makes a class without a SPEC, behind the others.
void sched_add_class(struct sched *s, const char *name);

// Returns the index of the class of this name; s->n: there is none.
size_t sched_class_of(const struct sched *s, const char *name);

// Adds a SPEC (spec_set.h) to the class `name`, which is made, behind the others, if it is new.
// Returns GPQ_OK, or the exit status after a message; `option` is where the SPEC stands.
int sched_add_spec(struct sched *s, const char *name, const char *option, const char *spec);

// Takes hints from `h`, which is owned from then on. `status`: see hints_calls, with `s`. Call it
// before sched_run().
void sched_take_hints(struct sched *s, struct hints *h,
		      uint64_t (*status)(struct buf *b, void *arg));

// Raises RLIMIT_NOFILE to its hard limit. Call it before hints_open() and sched_find().
void sched_raise_limit(void);

// Puts processes into their classes; one that fits several belongs to the first, one that fits
// another than before moves, and one that fits none any more is let go. With `attach`, opens debug
// sessions on those that own queues, where the class needs it. Returns GPQ_OK, or at
// the first look the exit status after a message if a SPEC fails; later looks try that SPEC again.
int sched_find(struct sched *s, bool attach);

// From then on SIGHUP calls `reload`, which may call sched_reload(), instead of ending sched_run().
void sched_on_hup(struct sched *s, void (*reload)(struct sched *s, void *arg), void *arg);

// Goes on with other options, of which the log, job_by, activity and audit are the same as before,
// and with other SPECs, whose numbers are of the same classes. What is held stays held, unless
// another SPEC chooses it. *specs gets the SPECs that count no longer.
void sched_reload(struct sched *s, const struct sched_opts *opts, struct spec_set *specs);

// Schedules until SIGINT, SIGTERM or SIGHUP, at most until `until_ns` (CLOCK_MONOTONIC); all queues
// run when it returns. Returns the signal, 0 at `until_ns`, or the negated exit status after a
// message.
int sched_run(struct sched *s, uint64_t until_ns);

// Frees *s, which may be zeroed.
void sched_fini(struct sched *s);

// Counts bursts of work of a class, and their time.
void sched_note_burst(struct sched_class *c, bool works, uint64_t now);

// A hint has ended (hints_calls.ended): counts it, and learns what such requests need.
void sched_end_request(void *s, const struct hint_scope *scope, uint64_t now_ns,
		       const struct hint_end *end);

// What a request needs once it counts (hints_calls.needs).
uint64_t sched_request_needs(void *s, const struct hint_scope *scope);

// The time that counts: of CLOCK_MONOTONIC, or in a replay.
uint64_t sched_now(const struct sched *s);

// ---- decisions.c: what was decided, and when, as lines of JSON; other policies for the same work

// Appends to the log `path`, which is not to be --replay's. Names the classes there are; a replay
// names those that it reads. Returns GPQ_OK, or the exit status after a message.
int decisions_open(struct sched *s, const char *path, const char *replay);

// Where the file was moved away, or writing it failed: goes on in a new one, which begins with the
// classes, their work and the units there are. If that fails, goes on as before after a message.
void decisions_reopen(struct sched *s, const char *path);

void decisions_close(struct sched *s);

// Notes a decision about a unit, or that the unit came or ended; `took_ns` of "done".
void decisions_note(struct sched *s, const char *what, const struct sched_job *j,
		    const struct sched_unit *u, uint64_t took_ns);

// Notes where a class has work, if that has changed since the last time.
void decisions_note_work(struct sched *s, size_t class);

// Notes the end of a request. `job`: job_by of its client's job; "": it has none.
void decisions_note_request(struct sched *s, const struct hint_scope *scope, uint64_t now_ns,
			    const struct hint_end *end, const char *job);

// Decides by s->opts.policy about the work and the units of a log, in its time and without a GPU.
// The statistics are then those of `s`, whose classes are those of the log. Returns GPQ_OK, or the
// exit status after a message: no such file, a line that is no decision.
int decisions_replay(struct sched *s, const char *path);

// ---- slices.c

// --slice: chooses the jobs that run now (sched_job.runs) among those of a class that have queues
// on the same GPU: the next slice goes to the tenant that has had the least time there, divided by
// its weight. Jobs with deadlines that count run before that, the earliest first. A hold for other
// classes prolongs no slice. Returns when the next choice is due. Call it behind jobs_derive().
uint64_t slices_step(struct sched *s, uint64_t now);

// Before each turn: forgets the deadlines of all jobs, and notes one of a job.
void slices_forget_due(struct sched *s);
void slices_note_due(struct sched_job *j, uint64_t deadline_ns);

// ---- jobs.c

// Puts a member into the job whose processes have `key` in common; a new one is of this tenant.
// Both texts are owned from then on.
void jobs_join(struct sched *s, size_t class, char *key, char *tenant, struct group_member *m);

// Reads "NAME=N", a text of sched_opts.weights; N is 1 to 1000. Returns the length of NAME, or 0 if
// the text is something else.
size_t jobs_read_weight(const char *text, uint64_t *weight);

// Sets the weights of all jobs anew, after sched_opts.weights has changed.
void jobs_weigh(struct sched *s);

// Puts a member of a class but the first into its job.
void jobs_add(struct sched *s, size_t class, struct group_member *m);

// Sets the derived members of all jobs, and forgets jobs without processes and units without GPUs;
// their statistics go to the class.
void jobs_derive(struct sched *s);

// Decides for each unit whether to hold it for the work of the classes above (sched_class.works),
// and asks the holders. Returns when the next decision is due.
uint64_t jobs_step(struct sched *s, uint64_t now);

// --slice: does the job have none now?
bool job_waits_for_slice(const struct sched *s, const struct sched_job *j);

// The class for whose work the unit is held, or would be: with --share the class below whose turn
// it is, with --slice its own while another job has the slice, else the highest above that has work
// there. "": none.
const char *unit_rival(const struct sched *s, const struct sched_job *j,
		       const struct sched_unit *u);

// Until when jobs below `class` run on these GPUs: 0 if they were held before, UINT64_MAX if one is
// not to be held. Of a hold that is under way, in a replay: until it is carried out.
uint64_t jobs_beside_until(const struct sched *s, size_t class, uint64_t gpus);

// --share: does the unit run as its turn has come, while a class above has work?
bool unit_has_turn(const struct sched *s, const struct sched_unit *u, uint64_t now);

// Is everything off that is to be off for work of class `class` on these GPUs, as far as it can be?
// Counts the processes that are off, and those that should be and are not.
bool jobs_are_off(const struct sched *s, size_t class, uint64_t gpus, unsigned *off,
		  unsigned *missed);

void jobs_fini(struct sched *s);
