// gpq hqd --sample N: in what share of N readings each queue was in a slot, had moved, was busy.
#include "cmd/hqd/hqd.h"

#include "common/cli/progress.h"
#include "common/cli/stop.h"
#include "common/host/clock.h"
#include "common/reader/reader.h"

#define ROW hqd_seen
static const struct out_col cols[] = {
	COL(row.q.gpu_id, "GPU", "gpu_id", U64, D, "GPU as KFD numbers it (its gpu_id)"),
	COL(row.q.type, "TYPE", "type", STR, D,
	    "compute, sdma, sdma-xgmi, hiq (the scheduler's own queue)"),
	COL(row.xcc, "XCC", "xcc", U64, D | W, "XCC of the GPU, counted from 0"),
	COL(row.slot, "SLOT", "slot", STR, D | A,
	    "p0q2 (pipe and queue), e1r0 (SDMA engine and RLC) or hiq"),
	OWNER_COLS(row.q),
	COL(share, "IN_SLOT_SHARE", "in_slot_share", F64, D,
	    "share of the samples in which it was in the slot"),
	COL(moved_share, "MOVED_SHARE", "moved_share", F64, D,
	    "share of the samples in which its pointers had moved since it was last seen"),
	COL(busy_share, "BUSY_SHARE", "busy_share", F64, D,
	    "share of the samples in which it was in the slot and not idle"),
	COL(consumed, "CONSUMED", "consumed", U64, D | W,
	    "what the GPU took meanwhile: AQL packets, PM4 dwords, SDMA bytes"),
	COL(row.q.v[MQD_D_BACKLOG], "BACKLOG", "backlog", U64, D,
	    "what waits between the pointers: AQL packets, PM4 dwords, SDMA bytes"),
	PRIO_COLS(row.q),
	COL(row.q.gpu.index, "INDEX", "gpu_index", U64, M, "index of the GPU, as in gpq gpus"),
	COL(active, "SAMPLES", "samples", U64, M, "samples in which it was in the slot"),
	COL(row.q.v[MQD_V_RPTR], "RPTR", "rptr", U64, M,
	    "read pointer: dword in the ring; SDMA: bytes"),
	COL(row.q.v[MQD_V_WPTR], "WPTR", "wptr", U64, M,
	    "write pointer: dwords in all; SDMA: bytes"),
	COL(row.q.v[MQD_V_RING], "RING_ADDR", "ring_addr", HEX, M,
	    "address of the ring in the process"),
};

const struct out_table hqd_sample_table = {"samples", "sample", OUT_COLS(cols)};

// Waits until sample `i` is due. False: a signal stopped gpq.
static bool wait_for_sample(const struct hqd_opts *o, uint64_t begin, uint64_t i)
{
	uint64_t at = begin + i * o->interval, now = clock_ns();
	uint64_t ms = at > now ? (at - now + 999999) / 1000000 : 0;
	return !stop_asked() && stop_wait(-1, ms > INT32_MAX ? INT32_MAX : (int)ms) == 0;
}

static int take_samples(struct hqd_view *v, struct slot_samples *s)
{
	const struct hqd_opts *o = v->opts;
	struct slot_rows *l = &v->list;
	uint64_t begin = clock_ns();
	struct progress progress;
	int status = GPQ_OK;
	slot_samples_add(s, l);
	progress_init(&progress, v->cmd->out.progress, false);
	for (uint64_t i = 1; i < o->sample && wait_for_sample(o, begin, i); i++) {
		if (reader_read(&l->text, HQDS_PATH) < 0) {
			status = err_sys(errno, NULL, HQDS_PATH);
			break;
		}
		slot_rows_reload(l, l->text.data ? l->text.data : "", l->text.len);
		hqd_apply_filter(v);
		slot_samples_add(s, l);
		progress_show(&progress, (double)i / (double)o->sample,
			      "sample %" PRIu64 " of %" PRIu64, i, o->sample);
	}
	progress_end(&progress);
	if (!status)
		err_note("%llu samples in %.3f s", (unsigned long long)s->samples,
			 (double)(clock_ns() - begin) / 1e9);
	return status;
}

// Reads MQDs again, to find the owners of queues that were created after the first reading.
static int find_late_owners(struct hqd_view *v, struct slot_samples *s)
{
	SCOPED(slot_rows_fini) struct slot_rows fresh = {0};
	struct slot_rows_how how = v->how;
	bool loaded = false;
	int status = GPQ_OK;
	how.memory = true;
	for (size_t i = 0; !status && i < s->n; i++) {
		struct hqd_row *r = &s->seen[i].row;
		if (r->q.pid != INT64_MIN || strcmp(r->q.type, "hiq") == 0)
			continue;
		if (!loaded)
			status = slot_rows_load(&fresh, &v->processes, &how);
		loaded = true;
		if (!status)
			slot_rows_find_owner(&fresh, r);
	}
	return status;
}

int hqd_print_sample(struct hqd_view *v, struct out *o)
{
	SCOPED(slot_samples_fini) struct slot_samples s = {0};
	stop_watch();
	int status = take_samples(v, &s);
	if (!status)
		status = find_late_owners(v, &s);
	slot_samples_finish(&s);
	size_t shown = 0;
	for (size_t i = 0; !status && i < s.n; i++) {
		if (!hqd_queue_chosen(v, &s.seen[i].row.q))
			continue;
		out_row(o, &s.seen[i]);
		shown++;
	}
	if (!status && stop_asked()) {
		err_warn(NULL, "stopped by %s after %llu of %llu samples", stop_name(stop_asked()),
			 (unsigned long long)s.samples, (unsigned long long)v->opts->sample);
		status = stop_status();
	}
	if (!status && !shown && pick_asks(v->pick.opts))
		status = err_fail(GPQ_NOTFOUND, "gpq hqd --summary tells why",
				  "no process that was asked for had a queue in a slot");
	return status;
}
