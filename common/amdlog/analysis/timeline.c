// The timeline of a log; timeline.h.
//
// Facts: [amdlog.packets], [amdlog.backlog], [amdlog.signals], [amdlog.time], [amdlog.api].
#include "common/amdlog/analysis/timeline.h"

// First number of each kind of track, above all process ids of Linux (2^22).
#define TRACK_THREADS  UINT64_C(5000000)
#define TRACK_QUEUES   UINT64_C(6000000)
#define TRACK_NAMELESS UINT64_C(7000000) // processes with an unknown pid
#define TRACK_ALL      UINT64_C(8000000) // counters over all processes

#define CALL_NAME    64 // longer names of functions are cut
#define CALL_DEPTH   8  // most open API calls of a thread, nested
#define CALL_PACKETS 16 // packets of a call to which it gets a flow; later ones get none

// A packet that is drawn when the call that wrote it returns: its flow needs the call's slice.
struct timeline_packet {
	struct amdlog_packet packet;
	uint64_t time_us;
	uint32_t queue, kernel;
	enum amdlog_kind kind;
	bool cut;
};

struct timeline_call {
	uint64_t time_us;
	uint64_t free_us; // end of the last slice before the call
	char name[CALL_NAME];
};

// The open API calls of a host thread.
struct timeline_thread {
	struct timeline_call call[CALL_DEPTH];
	unsigned calls;
	struct timeline_packet packet[CALL_PACKETS]; // of the outermost call, not drawn yet
	unsigned packets;
	uint64_t end_us; // end of the last slice on the thread's track
};

#define SIGNALS   4096  // slots for dispatches whose signal's times are not logged yet
#define WINDOW_US 10000 // interval of the counter of active queues

struct timeline_signal {
	uint64_t handle, time_us;
	uint32_t process, queue, kernel;
};

struct amdlog_timeline {
	struct traceevent out;
	const struct amdlog_summary *sum; // not owned
	struct timeline_thread **threads; // indexed by the summary's thread; NULL: no call yet
	size_t nthreads;
	uint64_t flows, executions; // last ids given to flows and executions
	struct timeline_signal signal[SIGNALS];
	struct timeline_queue {
		uint64_t backlog; // last value drawn; AMDLOG_UNKNOWN: none
		uint64_t window;  // last window with a packet of the queue; AMDLOG_UNKNOWN: none
	} * queues;               // indexed by the summary's queue
	size_t nqueues;
	uint64_t window, active; // open window of the counter, and queues with packets in it
	const char *(*readable)(void *ctx, uint32_t kernel); // NULL: names as in the log
	void *readable_ctx;
};

struct amdlog_timeline *amdlog_timeline_new(int fd, const struct amdlog_summary *sum,
					    const char *(*readable)(void *ctx, uint32_t kernel),
					    void *ctx)
{
	struct amdlog_timeline *t = xcalloc(1, sizeof(*t));
	t->sum = sum;
	t->readable = readable;
	t->readable_ctx = ctx;
	traceevent_open(&t->out, fd, "CLOCK_MONOTONIC, microseconds");
	return t;
}

struct traceevent *amdlog_timeline_events(struct amdlog_timeline *t)
{
	return &t->out;
}

static uint64_t pid_of(const struct amdlog_timeline *t, uint32_t process)
{
	int64_t pid = t->sum->processes[process].pid;
	return pid >= 0 && (uint64_t)pid < TRACK_THREADS ? (uint64_t)pid : TRACK_NAMELESS + process;
}

static void timeline_begin(struct amdlog_timeline *t, char phase, uint32_t thread, uint64_t us,
			   const char *category, const char *name)
{
	traceevent_begin(&t->out, phase, pid_of(t, t->sum->threads[thread].process),
			 TRACK_THREADS + thread, us * 1000, category, name, strlen(name));
}

// --- drawing counters ---

static void draw_counter(struct amdlog_timeline *t, uint64_t pid, uint64_t us, const char *name,
			 const char *unit, uint64_t value)
{
	traceevent_begin(&t->out, 'C', pid, 0, us * 1000, NULL, name, strlen(name));
	json_begin(&t->out.json, "args", '{');
	json_u64(&t->out.json, unit, value);
	json_end(&t->out.json, '}');
	traceevent_end(&t->out);
}

static void count_window(struct amdlog_timeline *t, uint64_t window, uint64_t active)
{
	draw_counter(t, TRACK_ALL, window * WINDOW_US, "queues with packets in 10 ms", "queues",
		     active);
}

// Draws how many queues were active in the window that ends; 0 if `next` does not follow at once.
static void draw_window_end(struct amdlog_timeline *t, uint64_t next)
{
	if (t->active) {
		count_window(t, t->window, t->active);
		if (next > t->window + 1)
			count_window(t, t->window + 1, 0);
	}
	t->active = 0;
	t->window = next;
}

// Counts a packet's queue as active: in the open window even if the packet is up to 1 s older.
static void count_active_queue(struct amdlog_timeline *t, uint32_t queue, uint64_t us)
{
	uint64_t window = us / WINDOW_US;
	if (window > t->window || t->window - window > 100) // over 1 s back: the log of another run
		draw_window_end(t, window);
	t->active += t->queues[queue].window != t->window;
	t->queues[queue].window = t->window;
}

static void queue_track_name(char out[96], const struct amdlog_queue *q)
{
	static const char *const priorities[] = {" low", "", " high", " medium"};
	bool ring = q->hwq != AMDLOG_UNKNOWN;
	int n = snprintf(out, 96, "%s 0x%" PRIx64, ring ? "HWq" : "SWq", ring ? q->hwq : q->swq);
	if (q->id >= 0)
		n += snprintf(out + n, 96 - (size_t)n, " id %" PRId64, q->id);
	if (q->priority >= 0 && q->priority < (int)COUNT(priorities))
		snprintf(out + n, 96 - (size_t)n, "%s", priorities[q->priority]);
}

static void count_backlog(struct amdlog_timeline *t, const struct timeline_packet *p)
{
	const struct amdlog_queue *q = &t->sum->queues[p->queue];
	char name[64];
	uint64_t backlog = amdlog_packet_backlog(&p->packet);
	if (backlog == AMDLOG_UNKNOWN || t->queues[p->queue].backlog == backlog)
		return;
	t->queues[p->queue].backlog = backlog;
	snprintf(name, sizeof(name), "backlog of 0x%" PRIx64,
		 q->hwq != AMDLOG_UNKNOWN ? q->hwq : q->swq);
	draw_counter(t, pid_of(t, q->process), p->time_us, name, "packets", backlog);
}

// --- drawing packets ---

static void write_shape(struct json *j, const char *key, const uint64_t dim[3])
{
	char text[72];
	if (dim[0] == AMDLOG_UNKNOWN)
		return;
	snprintf(text, sizeof(text), "%" PRIu64 "x%" PRIu64 "x%" PRIu64, dim[0], dim[1], dim[2]);
	json_str(j, key, text);
}

// Writes the kernel's name as it is in the log, if the slice has a readable one.
static void logged_name(struct amdlog_timeline *t, uint32_t kernel)
{
	if (t->readable && kernel != AMDLOG_NONE)
		json_str(&t->out.json, "kernel", t->sum->kernels[kernel].name);
}

static void packet_args(struct amdlog_timeline *t, const struct timeline_packet *p)
{
	struct json *j = &t->out.json;
	json_begin(j, "args", '{');
	json_str(j, "packet", amdlog_kind_name(p->kind));
	if (p->kind == AMDLOG_DISPATCH) {
		logged_name(t, p->kernel);
		write_shape(j, "grid", p->packet.grid);
		write_shape(j, "workgroup", p->packet.workgroup);
	}
	if (p->packet.wptr != AMDLOG_UNKNOWN)
		json_u64(j, "wptr", p->packet.wptr);
	if (p->packet.rptr != AMDLOG_UNKNOWN)
		json_u64(j, "rptr", p->packet.rptr);
	if (p->cut)
		json_bool(j, "cut", true);
	json_end(j, '}');
}

static const char *drawn_kernel_name(const struct amdlog_timeline *t, uint32_t kernel)
{
	if (kernel == AMDLOG_NONE)
		return "kernel not known";
	return t->readable ? t->readable(t->readable_ctx, kernel) : t->sum->kernels[kernel].name;
}

// Draws a packet's mark, with the end of flow `flow` (0: none).
static void timeline_mark(struct amdlog_timeline *t, const struct timeline_packet *p, uint64_t flow)
{
	uint64_t pid = pid_of(t, t->sum->queues[p->queue].process), tid = TRACK_QUEUES + p->queue;
	bool dispatch = p->kind == AMDLOG_DISPATCH;
	const char *name = dispatch ? drawn_kernel_name(t, p->kernel) : amdlog_kind_name(p->kind);
	if (flow) { // a flow ends at the next slice of the track
		traceevent_begin(&t->out, 'f', pid, tid, p->time_us * 1000, "launch", "launch", 6);
		json_u64(&t->out.json, "id", flow);
		traceevent_end(&t->out);
	}
	traceevent_begin(&t->out, 'X', pid, tid, p->time_us * 1000,
			 dispatch ? "dispatch" : "barrier", name, strlen(name));
	json_u64(&t->out.json, "dur", 0);
	packet_args(t, p);
	traceevent_end(&t->out);
}

// --- drawing API calls ---

#define OPEN_MAX 4096 // threads with open calls; calls of further threads are drawn as marks

// The state of the thread that wrote a record; NULL: the thread is not known, or beyond OPEN_MAX.
static struct timeline_thread *calling_thread(struct amdlog_timeline *t,
					      const struct amdlog_event *e)
{
	uint32_t thread = e->record->thread;
	if (thread >= OPEN_MAX || e->thread_id->tid == AMDLOG_UNKNOWN)
		return NULL;
	// NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers
	ARRAY_REACH(t->threads, t->nthreads, thread, 0);
	if (!t->threads[thread])
		t->threads[thread] = xcalloc(1, sizeof(**t->threads));
	return t->threads[thread];
}

static void draw_call_mark(struct amdlog_timeline *t, uint32_t thread, uint64_t us,
			   const char *name, const char *why)
{
	timeline_begin(t, 'i', thread, us, "api", name);
	json_str(&t->out.json, "s", "t");
	json_begin(&t->out.json, "args", '{');
	if (why)
		json_str(&t->out.json, "log", why);
	json_end(&t->out.json, '}');
	traceevent_end(&t->out);
}

// Draws the packets of the outermost call. `until`: end of the call's slice, from which flows lead
// to the packets; 0: no slice. A flow must begin before the slice's end.
static void draw_call_packets(struct amdlog_timeline *t, uint32_t thread, uint64_t until)
{
	struct timeline_thread *h = t->threads[thread];
	for (unsigned i = 0; i < h->packets; i++) {
		const struct timeline_packet *p = &h->packet[i];
		uint64_t flow = until ? ++t->flows : 0;
		uint64_t from = p->time_us < until ? p->time_us : until - 1;
		if (flow) {
			timeline_begin(t, 's', thread, from, "launch", "launch");
			json_u64(&t->out.json, "id", flow);
			traceevent_end(&t->out);
		}
		timeline_mark(t, p, flow);
	}
	h->packets = 0;
}

static void drop_bottom(struct amdlog_timeline *t, uint32_t thread)
{
	struct timeline_thread *h = t->threads[thread];
	draw_call_mark(t, thread, h->call[0].time_us, h->call[0].name, "no return");
	draw_call_packets(t, thread, 0);
	memmove(h->call, h->call + 1, --h->calls * sizeof(h->call[0]));
}

static void call_enter(struct amdlog_timeline *t, const struct amdlog_event *e, const char *name)
{
	bool returns =
		strcmp(name, "hipGetLastError") != 0 && strcmp(name, "hipPeekAtLastError") != 0;
	struct timeline_thread *h = returns ? calling_thread(t, e) : NULL;
	if (!h) {
		draw_call_mark(t, e->record->thread, e->record->time_us, name, NULL);
		return;
	}
	if (h->calls == CALL_DEPTH)
		drop_bottom(t, e->record->thread);
	h->call[h->calls].time_us = e->record->time_us;
	h->call[h->calls].free_us = h->end_us;
	memcpy(h->call[h->calls++].name, name, CALL_NAME);
}

static void draw_call(struct amdlog_timeline *t, const struct amdlog_record *r, const char *name,
		      uint64_t from_us)
{
	struct json *j = &t->out.json;
	uint64_t took = amdlog_api_duration(r);
	timeline_begin(t, 'X', r->thread, from_us, "api", name);
	json_u64(j, "dur", r->time_us - from_us);
	json_begin(j, "args", '{');
	if (took != AMDLOG_UNKNOWN)
		json_u64(j, "duration_us", took); // as the runtime measured it
	if (amdlog_api_failed(r)) {
		const char *text = r->msg + r->name_len + 2;
		size_t len = r->msg_len - r->name_len - 2;
		json_strn(j, "result", text, len < 120 ? len : 120);
	}
	json_end(j, '}');
	traceevent_end(&t->out);
}

// Draws a return without an entry: as a slice if the line has the call's duration and the track is
// free for that long, else as a mark.
static void lone_return(struct amdlog_timeline *t, const struct amdlog_record *r,
			struct timeline_thread *h, const char *name)
{
	uint64_t us = r->time_us, took = amdlog_api_duration(r);
	uint64_t free_us = h && h->calls ? h->call[h->calls - 1].time_us : 0;
	free_us = h && h->end_us > free_us ? h->end_us : free_us;
	if (h && took <= us && us - took >= free_us) {
		draw_call(t, r, name, us - took);
		h->end_us = us;
	} else {
		draw_call_mark(t, r->thread, us, name, "no entry");
	}
}

static void call_leave(struct amdlog_timeline *t, const struct amdlog_event *e, const char *name)
{
	const struct amdlog_record *r = e->record;
	struct timeline_thread *h = calling_thread(t, e);
	unsigned at = h ? h->calls : 0;
	while (at && strcmp(h->call[at - 1].name, name) != 0)
		at--;
	if (!at) {
		lone_return(t, r, h, name);
		return;
	}
	while (h->calls > at) {
		struct timeline_call *c = &h->call[--h->calls];
		draw_call_mark(t, r->thread, c->time_us, c->name, "no return");
	}
	h->calls--;
	if (h->call[at - 1].time_us > r->time_us ||
	    h->call[at - 1].time_us < h->call[at - 1].free_us) {
		draw_call_mark(t, r->thread, r->time_us, name, "another run");
		h->end_us = r->time_us;
		draw_call_packets(t, r->thread, 0);
		return;
	}
	draw_call(t, r, name, h->call[at - 1].time_us);
	h->end_us = r->time_us;
	if (!h->calls)
		draw_call_packets(t, r->thread, r->time_us > h->call[0].time_us ? r->time_us : 0);
}

static void timeline_call(struct amdlog_timeline *t, const struct amdlog_event *e)
{
	const struct amdlog_record *r = e->record;
	char name[CALL_NAME] = "";
	memcpy(name, r->msg, r->name_len < CALL_NAME ? r->name_len : CALL_NAME - 1);
	(r->kind == AMDLOG_API_ENTRY ? call_enter : call_leave)(t, e, name);
}

// Keeps a packet until its call returns. False: no call is open, the call began after the packet,
// or it has CALL_PACKETS already.
static bool timeline_keep(struct amdlog_timeline *t, const struct amdlog_event *e,
			  const struct timeline_packet *p)
{
	uint32_t thread = e->record->thread;
	struct timeline_thread *h = thread < t->nthreads ? t->threads[thread] : NULL;
	if (!h || !h->calls || h->packets == CALL_PACKETS || p->time_us < h->call[0].time_us)
		return false;
	h->packet[h->packets++] = *p;
	return true;
}

// Draws calls that never returned as marks, at the end of the log.
static void timeline_end_calls(struct amdlog_timeline *t)
{
	for (uint32_t i = 0; i < t->nthreads; i++) {
		struct timeline_thread *h = t->threads[i];
		while (h && h->calls)
			drop_bottom(t, i);
		free(h);
	}
	free(t->threads);
}

// --- drawing times of the GPU ---

static struct timeline_signal *signal_at(struct amdlog_timeline *t, uint32_t process,
					 uint64_t handle)
{
	uint64_t h = (handle ^ process) * UINT64_C(0x9e3779b97f4a7c15);
	return &t->signal[h >> 32 & (SIGNALS - 1)];
}

static void await_signal(struct amdlog_timeline *t, const struct amdlog_event *e)
{
	const struct amdlog_record *r = e->record;
	uint32_t process = t->sum->threads[r->thread].process;
	uint64_t handle = amdlog_number_behind(r, "completion_signal=");
	if (handle && handle != AMDLOG_UNKNOWN)
		*signal_at(t, process, handle) =
			(struct timeline_signal){handle, r->time_us, process, e->queue, e->kernel};
}

// Draws an execution as an asynchronous slice, as executions of one queue may overlap.
static void draw_execution(struct amdlog_timeline *t, const struct timeline_signal *g,
			   uint64_t start, uint64_t end)
{
	uint64_t pid = pid_of(t, g->process), id = ++t->executions;
	const struct amdlog_queue *q = &t->sum->queues[g->queue];
	const char *name = drawn_kernel_name(t, g->kernel);
	for (int i = 0; i < 2; i++) {
		traceevent_begin(&t->out, i ? 'e' : 'b', pid, TRACK_QUEUES + g->queue,
				 i ? end : start, "gpu", name, strlen(name));
		json_u64(&t->out.json, "id", id);
		if (!i) {
			json_begin(&t->out.json, "args", '{');
			logged_name(t, g->kernel);
			json_hex(&t->out.json, "hwq", q->hwq);
			json_u64(&t->out.json, "submitted_us", g->time_us);
			json_end(&t->out.json, '}');
		}
		traceevent_end(&t->out);
	}
}

static void take_signal(struct amdlog_timeline *t, const struct amdlog_event *e)
{
	const char *at = e->record->msg;
	uint32_t process = t->sum->threads[e->record->thread].process;
	uint64_t handle = amdlog_next_number(e->record, "Signal = (", &at), start, end;
	struct timeline_signal *g = signal_at(t, process, handle);
	const char *behind = at;
	if (handle == AMDLOG_UNKNOWN || g->handle != handle || g->process != process)
		return;
	start = amdlog_next_number(e->record, "start/end = ", &at);
	if (start != AMDLOG_UNKNOWN) {
		end = amdlog_next_number(e->record, " / ", &at);
	} else {
		at = behind;
		start = amdlog_next_number(e->record, "start = ", &at);
		end = amdlog_next_number(e->record, "end = ", &at);
	}
	if (start == AMDLOG_UNKNOWN || end == AMDLOG_UNKNOWN || end < start)
		return;
	draw_execution(t, g, start, end);
	g->handle = 0;
}

// --- drawing all records ---

static void draw_packet(struct amdlog_timeline *t, const struct amdlog_event *e)
{
	struct timeline_packet p = {
		.packet = *e->packet,
		.time_us = e->record->time_us,
		.queue = e->queue,
		.kernel = e->kernel,
		.kind = e->record->kind,
		.cut = e->cut,
	};
	ARRAY_REACH(t->queues, t->nqueues, p.queue, 0xff);
	if (p.kind == AMDLOG_DISPATCH)
		await_signal(t, e);
	count_backlog(t, &p);
	count_active_queue(t, p.queue, p.time_us);
	if (!timeline_keep(t, e, &p))
		timeline_mark(t, &p, 0);
}

static void draw_instant(struct amdlog_timeline *t, const struct amdlog_record *r,
			 const char *category, const char *name)
{
	timeline_begin(t, 'i', r->thread, r->time_us, category, name);
	json_str(&t->out.json, "s", "t");
	if (r->kind == AMDLOG_QUEUE_ERROR) {
		json_begin(&t->out.json, "args", '{');
		json_strn(&t->out.json, "text", r->msg, r->msg_len);
		json_end(&t->out.json, '}');
	}
	traceevent_end(&t->out);
}

void amdlog_timeline_add(struct amdlog_timeline *t, const struct amdlog_event *e)
{
	const struct amdlog_record *r = e->record;
	if (r->time_us > UINT64_MAX / 1000 || t->out.error)
		return;
	switch (r->kind) {
	case AMDLOG_API_ENTRY:
	case AMDLOG_API_RETURN: timeline_call(t, e); break;
	case AMDLOG_KERNEL: draw_instant(t, r, "launch", drawn_kernel_name(t, e->kernel)); break;
	case AMDLOG_QUEUE_ERROR: draw_instant(t, r, "error", "queue error"); break;
	case AMDLOG_QUEUE_CREATED: draw_instant(t, r, "queue", "queue created"); break;
	case AMDLOG_QUEUE_DELETED: draw_instant(t, r, "queue", "queue deleted"); break;
	case AMDLOG_SIGNAL: take_signal(t, e); break;
	default:
		if (e->packet && e->queue != AMDLOG_NONE)
			draw_packet(t, e);
		break;
	}
}

// --- the end of a timeline ---

static void name_process_tracks(struct amdlog_timeline *t)
{
	char name[64];
	for (uint32_t i = 0; i < t->sum->nprocesses; i++) {
		int64_t pid = t->sum->processes[i].pid;
		if (pid >= 0)
			snprintf(name, sizeof(name), "process %" PRId64, pid);
		else
			snprintf(name, sizeof(name), "process not known");
		traceevent_name(&t->out, pid_of(t, i), 0, name, i + 1);
	}
	traceevent_name(&t->out, TRACK_ALL, 0, "all queues", 0);
}

// Names the tracks of queues and threads, the queues above the threads.
static void name_tracks(struct amdlog_timeline *t)
{
	char name[96];
	for (uint32_t i = 0; i < t->sum->nqueues; i++) {
		const struct amdlog_queue *q = &t->sum->queues[i];
		if (i >= t->nqueues || t->queues[i].window == AMDLOG_UNKNOWN)
			continue; // no packet of this queue was drawn
		queue_track_name(name, q);
		traceevent_name(&t->out, pid_of(t, q->process), TRACK_QUEUES + i, name, i);
	}
	for (uint32_t i = 0; i < t->sum->nthreads; i++) {
		const struct amdlog_thread *h = &t->sum->threads[i];
		if (!h->records)
			continue;
		if (h->id.tid == AMDLOG_UNKNOWN)
			snprintf(name, sizeof(name), "thread not known");
		else
			snprintf(name, sizeof(name), "thread 0x%" PRIx64, h->id.tid);
		traceevent_name(&t->out, pid_of(t, h->process), TRACK_THREADS + i, name,
				t->sum->nqueues + i);
	}
}

int amdlog_timeline_close(struct amdlog_timeline *t)
{
	timeline_end_calls(t);
	draw_window_end(t, UINT64_MAX);
	name_process_tracks(t);
	name_tracks(t);
	int error = traceevent_close(&t->out);
	free(t->queues);
	free(t);
	return error;
}
