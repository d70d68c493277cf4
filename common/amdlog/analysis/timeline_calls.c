// API calls of host threads on the timeline, and which packets they wrote.
//
// Facts: [amdlog.api]: entry and return are on one thread and nest, either may be
// missing; hipGetLastError and hipPeekAtLastError print no return when there was no error.
// [amdlog.time]: the time of one thread steps back only where another run begins.
#include "common/host/xalloc.h"
#include "common/amdlog/analysis/timeline_priv.h"
#include "common/host/buf.h"

#include <stdlib.h>
#include <string.h>

#define OPEN_MAX 4096 // threads; calls of threads beyond are marks

// NULL: the thread is not known, or beyond OPEN_MAX.
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

// Draws the packets of the outermost call; if that became a slice, which ends at `until` (else 0),
// with flows from it. A flow must begin before the slice's end.
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

// A return without an entry: a slice if the call says how long it took and nothing else is drawn
// there, else a mark.
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
	    h->call[at - 1].time_us < (at > 1 ? 0 : h->end_us)) {
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

void timeline_call(struct amdlog_timeline *t, const struct amdlog_event *e)
{
	const struct amdlog_record *r = e->record;
	char name[CALL_NAME] = "";
	memcpy(name, r->msg, r->name_len < CALL_NAME ? r->name_len : CALL_NAME - 1);
	(r->kind == AMDLOG_API_ENTRY ? call_enter : call_leave)(t, e, name);
}

bool timeline_keep(struct amdlog_timeline *t, const struct amdlog_event *e,
		   const struct timeline_packet *p)
{
	uint32_t thread = e->record->thread;
	struct timeline_thread *h = thread < t->nthreads ? t->threads[thread] : NULL;
	if (!h || !h->calls || h->packets == CALL_PACKETS || p->time_us < h->call[0].time_us)
		return false;
	h->packet[h->packets++] = *p;
	return true;
}

void timeline_end_calls(struct amdlog_timeline *t)
{
	for (uint32_t i = 0; i < t->nthreads; i++) {
		struct timeline_thread *h = t->threads[i];
		while (h && h->calls)
			drop_bottom(t, i);
		free(h);
	}
	free(t->threads);
}
