// gpq trace --perfetto --ftrace: draws a track for each thread in the Linux kernel's trace, and one
// each for the holds and the events of a process, beside the tracks of the log.
#include "cmd/trace/ftrace.h"

#include "common/amdlog/analysis/timeline.h"
#include "common/out/traceevent.h"

// Pids and tids of tracks, above those of the log (common/amdlog/analysis/timeline.c).
#define TRACK_DRIVERS UINT64_C(9000000)    // pid: + index of the process
#define TRACK_TASKS   UINT64_C(100000000)  // tid: + the kernel's number of the thread
#define TRACK_LOST    UINT64_C(8999999)    // pid for lost events
#define TRACK_HOLDS   UINT64_C(1200000000) // tid for holds: + index of the process
#define TRACK_EVENTS  UINT64_C(1300000000) // tid for events: + index of the process
#define TRACK_NOBODY  UINT64_C(8999998)    // pid for events of no process
#define DRAW_NAME     128                  // longer names are cut

#define TRACKS_MOST UINT32_C(10000000)

static uint64_t track_of(const struct ftrace_record *r)
{
	return r->process == FTRACE_NONE ? TRACK_LOST : TRACK_DRIVERS + r->process % TRACKS_MOST;
}

static uint64_t task_of(const struct ftrace_record *r)
{
	return r->tid < 0 ? TRACK_TASKS - 1 : TRACK_TASKS + (uint64_t)r->tid % 1000000000;
}

static void draw_record(struct traceevent *e, const struct ftrace_record *r)
{
	bool slice = r->inside_ns != FTRACE_UNKNOWN;
	const char *name = r->kind == FTRACE_LOST ? "events were lost" : r->name.at;
	size_t len = r->kind == FTRACE_LOST ? strlen(name) : r->name.len;
	traceevent_begin(e, slice ? 'X' : 'i', track_of(r), task_of(r),
			 r->time_ns - (slice ? r->inside_ns : 0), "driver", name,
			 len < DRAW_NAME ? len : DRAW_NAME);
	if (slice)
		json_milli(&e->json, "dur", r->inside_ns);
	else
		json_str(&e->json, "s", "t");
	json_begin(&e->json, "args", '{');
	json_i64(&e->json, "cpu", r->cpu);
	if (r->args.len)
		json_strn(&e->json, "args", r->args.at, r->args.len);
	if (r->kind == FTRACE_LOST)
		json_u64(&e->json, "events", r->lost);
	json_end(&e->json, '}');
	traceevent_end(e);
}

static void process_name(char out[64], const struct ftrace_process *p)
{
	const char *comm = p->comm.len ? p->comm.at : "name not known";
	int len = p->comm.len ? (int)p->comm.len : (int)strlen(comm);
	snprintf(out, 64, "driver: %.*s %" PRId64, len > 16 ? 16 : len, comm, ftrace_pid(p));
}

struct task {
	uint64_t track, tid;
	struct ftrace_text comm;
};

COMPARE_BY_BOTH(by_task_tid, struct task, tid, track)

// Names the track of each thread that was drawn, once.
static void name_tasks(struct kernel_side *k, struct task *v, size_t n)
{
	char name[64];
	ARRAY_SORT(v, n, by_task_tid);
	for (size_t i = 0; i < n; i++) {
		const struct task *t = &v[i];
		bool task = t->tid >= TRACK_TASKS;
		if (i && t->tid == v[i - 1].tid && t->track == v[i - 1].track)
			continue;
		if (task)
			snprintf(name, sizeof(name), "%.*s thread %" PRIu64, (int)t->comm.len,
				 t->comm.at, t->tid - TRACK_TASKS);
		else
			snprintf(name, sizeof(name), "lost events");
		traceevent_name(k->draw, t->track, t->tid, name, i + 1);
	}
}

static void name_driver_tracks(struct kernel_side *k)
{
	char name[64];
	for (size_t i = 0; i < k->f.nprocesses; i++) {
		process_name(name, &k->f.processes[i]);
		traceevent_name(k->draw, TRACK_DRIVERS + i % TRACKS_MOST, 0, name, 1000 + i);
	}
}

// --- holds and events ---

// A hold whose end is not in the trace is drawn to the end of the trace.
static void draw_hold(struct kernel_side *k, const struct ftrace_hold *h)
{
	const struct ftrace_process *by = &k->f.processes[h->holder];
	uint64_t end_ns = h->ended ? h->end_ns : k->f.v[k->f.n - 1].time_ns;
	uint32_t process = h->target % TRACKS_MOST;
	char name[64];
	snprintf(name, sizeof(name), "held by %.*s %" PRId64,
		 by->comm.len > 16 ? 16 : (int)by->comm.len, by->comm.at, ftrace_pid(by));
	traceevent_begin(k->draw, 'X', TRACK_DRIVERS + process, TRACK_HOLDS + process, h->begin_ns,
			 "hold", name, strlen(name));
	json_milli(&k->draw->json, "dur", end_ns < h->begin_ns ? 0 : end_ns - h->begin_ns);
	json_begin(&k->draw->json, "args", '{');
	json_i64(&k->draw->json, "queues", h->most);
	json_str(&k->draw->json, "end", h->ended ? h->ended : "not seen");
	json_end(&k->draw->json, '}');
	traceevent_end(k->draw);
}

static void draw_event(struct kernel_side *k, const struct ftrace_event *e)
{
	uint32_t process = e->process % TRACKS_MOST;
	bool known = e->process != FTRACE_NONE;
	uint64_t track = known ? TRACK_DRIVERS + process : TRACK_NOBODY;
	uint64_t thread = known ? TRACK_EVENTS + process : TRACK_EVENTS - 1;
	struct json *j = &k->draw->json;
	traceevent_begin(k->draw, 'i', track, thread, e->time_ns, "event", e->name,
			 strlen(e->name));
	json_str(j, "s", "t");
	json_begin(j, "args", '{');
	json_str(j, "clock", e->clock[0] ? e->clock : NULL);
	json_str(j, "source", e->source[0] ? e->source : NULL);
	json_str(j, "detail", e->detail[0] ? e->detail : NULL);
	json_u64(j, "gpu_id", e->gpu);
	json_u64(j, "qid", e->qid);
	json_end(j, '}');
	traceevent_end(k->draw);
}

enum { HOLDS = 1, EVENTS = 2 };

// `drawn`: which of HOLDS and EVENTS each process has; the last element: events of no process.
static void name_states(struct kernel_side *k, const uint8_t *drawn)
{
	for (size_t i = 0; i < k->f.nprocesses; i++) {
		uint64_t process = i % TRACKS_MOST, track = TRACK_DRIVERS + process;
		if (drawn[i] & HOLDS)
			traceevent_name(k->draw, track, TRACK_HOLDS + process, "holds", 1);
		if (drawn[i] & EVENTS)
			traceevent_name(k->draw, track, TRACK_EVENTS + process, "events", 2);
	}
	if (drawn[k->f.nprocesses]) {
		traceevent_name(k->draw, TRACK_NOBODY, 0, "driver: no process", 998);
		traceevent_name(k->draw, TRACK_NOBODY, TRACK_EVENTS - 1, "events", 2);
	}
}

// Draws holds and events. Holds of epochs after the first are left out, as their times overlap.
static void draw_states(struct kernel_side *k)
{
	SCOPED(free_at) uint8_t *drawn = xcalloc(k->f.nprocesses + 1, 1);
	for (size_t i = 0; i < k->f.nholds; i++) {
		const struct ftrace_hold *h = &k->f.holds[i];
		if (h->epoch || !ftrace_wanted_at(k, h->begin_ns, h->target))
			continue;
		draw_hold(k, h);
		drawn[h->target] |= HOLDS;
	}
	for (size_t i = 0; i < k->f.nevents; i++) {
		const struct ftrace_event *e = &k->f.events[i];
		if (!ftrace_wanted_at(k, e->time_ns, e->process))
			continue;
		draw_event(k, e);
		drawn[e->process == FTRACE_NONE ? k->f.nprocesses : e->process] |= EVENTS;
	}
	name_states(k, drawn);
}

void ftrace_draw(struct kernel_side *k)
{
	SCOPED(free_at) struct task *tasks = xcalloc(k->f.n ? k->f.n : 1, sizeof(*tasks));
	size_t n = 0;
	k->draw = amdlog_timeline_events(k->t->timeline);
	if (!k->several)
		k->draw->clock = k->clock ? k->clock : "not known";
	for (size_t i = 0; i < k->f.n; i++) {
		const struct ftrace_record *r = &k->f.v[i];
		bool entry = r->kind == FTRACE_ENTRY && r->joined;
		// Epochs after the first are left out: their times overlap.
		if (r->time_ns == FTRACE_UNKNOWN || r->epoch || entry || !ftrace_wanted(k, r))
			continue;
		draw_record(k->draw, r);
		tasks[n++] = (struct task){track_of(r), task_of(r), r->comm};
	}
	draw_states(k);
	name_driver_tracks(k);
	if (k->f.losses)
		traceevent_name(k->draw, TRACK_LOST, 0, "lost events", 999);
	name_tasks(k, tasks, n);
}
