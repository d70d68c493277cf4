// One moment of a host; see host_state.h.
#include "common/host/xalloc.h"
#include "common/state/host_state.h"

#include "common/cli/err.h"
#include "common/host/proc.h"
#include "common/host/root.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HQDS "/sys/kernel/debug/kfd/hqds"

// The first line of a file.
static void read_line(char *to, size_t size, const char *path)
{
	struct buf b = {0};
	to[0] = '\0';
	if (host_read(&b, path) > 0)
		snprintf(to, size, "%.*s", (int)strcspn(b.data, "\n"), b.data);
	buf_fini(&b);
}

// "seconds.hundredths idle"
static uint64_t read_uptime(void)
{
	char text[64], *dot, *end;
	read_line(text, sizeof(text), "/proc/uptime");
	const unsigned long long s = strtoull(text, &dot, 10);
	if (dot == text || *dot != '.')
		return KFD_UNKNOWN;
	const unsigned long long cs = strtoull(dot + 1, &end, 10);
	return end == dot + 3 ? s * 100 + cs : KFD_UNKNOWN;
}

// --- the place in the hardware ---

// The registers of compute slots are at the same place in all generations.
static bool get(const struct hqds *h, const struct hqd *s, enum mqd_value what, uint64_t *v)
{
	return s->kind == HQD_CP && hqd_in_use(h, s, GFX9) > 0 && hqd_get(h, s, GFX9, what, v);
}

const struct hqd *host_state_find_slot(const struct hqds *h, uint64_t gpu_id, uint64_t mqd)
{
	for (size_t i = 0; i < h->nslots; i++) {
		const struct hqd *s = &h->slots[i];
		uint64_t v;
		if (h->nodes[s->node].gpu_id == gpu_id && get(h, s, MQD_V_BASE, &v) && v == mqd &&
		    get(h, s, MQD_V_RPTR, &v) && get(h, s, MQD_V_WPTR, &v) &&
		    get(h, s, MQD_V_DOORBELL, &v))
			return s;
	}
	return NULL;
}

static unsigned xcc_of(const struct hqd *s)
{
	return s->xcc < 0 ? 0 : (unsigned)s->xcc;
}

// Each XCC has an MQD of its own; all have the queue's doorbell, which is unique on a GPU.
static void name_slots(struct state_queue *q, const struct hqds *h, const struct hqd *first)
{
	char text[sizeof(q->slots)] = "";
	size_t len = 0;
	uint64_t doorbell = 0, v;
	bool same = true;
	get(h, first, MQD_V_DOORBELL, &doorbell);
	for (size_t i = 0; i < h->nslots && len < sizeof(text); i++) {
		const struct hqd *s = &h->slots[i];
		if (s->node != first->node || !get(h, s, MQD_V_DOORBELL, &v) || v != doorbell ||
		    (s != first && xcc_of(s) == xcc_of(first)))
			continue;
		same &= s->pipe == first->pipe && s->queue == first->queue;
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%u:p%uq%u",
					len ? "," : "", xcc_of(s), s->pipe, s->queue);
	}
	if (same)
		snprintf(text, sizeof(text), "p%uq%u", first->pipe, first->queue);
	memcpy(q->slots, text, sizeof(text));
}

// A queue that is in no slot may still be mapped: queues take turns, with more processes than VMIDs
// too.
static void place(struct state_queue *q, const struct host_state *m, const struct hqds *h,
		  const struct hqd *slot)
{
	q->on_hw = slot ? 1 : q->row->on_hw;
	if (slot)
		name_slots(q, h, slot);
	else if (m->has_slots && q->row->v[MQD_V_BASE] != MQD_UNKNOWN && !queue_row_is_sdma(q->row))
		snprintf(q->slots, sizeof(q->slots), "none");
}

// --- how far it got ---

static void count(struct state_queue *q, const struct host_state *m, uint64_t rptr, uint64_t wptr)
{
	const struct queue_row *r = q->row;
	if (queue_row_is_sdma(r)) {
		q->consumed = rptr;
		q->submitted = wptr;
		q->unit = "bytes";
		return;
	}
	const enum gfx_gen gen = queue_rows_gen(&m->list, (uint32_t)r->gpu_id);
	const uint64_t taken = queue_row_taken(r, rptr, wptr, gfx_caps(gen)->whole_wptr);
	const unsigned unit = queue_row_is_aql(r) ? AQL_PACKET_DWORDS : 1;
	if (!r->packets || taken == MQD_UNKNOWN)
		return;
	q->submitted = wptr / unit;
	q->consumed = taken / unit;
	q->unit = unit == 1 ? "dwords" : "packets";
}

static void read_pointers(struct state_queue *q, const struct host_state *m, const struct hqds *h,
			  const struct hqd *slot)
{
	const struct queue_row *r = q->row;
	uint64_t rptr = r->v[MQD_V_RPTR], wptr = r->v[MQD_V_WPTR];
	if (slot && get(h, slot, MQD_V_RPTR, &rptr) && get(h, slot, MQD_V_WPTR, &wptr)) {
		q->pointers = "live";
		count(q, m, rptr, wptr);
	} else if (q->on_hw != 0 && r->read_now != MQD_UNKNOWN && r->write_now != MQD_UNKNOWN) {
		q->pointers = "process";
		q->consumed = r->read_now;
		q->submitted = r->write_now;
		q->unit = queue_row_is_sdma(r) ? "bytes" : "packets"; // PM4 has no such index
	} else if (rptr != MQD_UNKNOWN && wptr != MQD_UNKNOWN) {
		q->pointers = q->on_hw == 0 ? "saved" : "stale";
		count(q, m, rptr, wptr);
	}
}

// --- loading ---

static void fill(struct host_state *m, const struct hqds *h)
{
	m->queues = xcalloc(m->list.n + 1, sizeof(*m->queues));
	for (size_t i = 0; i < m->list.n; i++) {
		const struct queue_row *r = &m->list.rows[i];
		if (r->qid == KFD_UNKNOWN)
			continue;
		struct state_queue *q = &m->queues[m->n++];
		*q = (struct state_queue){.row = r,
					  .start_ticks = KFD_UNKNOWN,
					  .consumed = KFD_UNKNOWN,
					  .submitted = KFD_UNKNOWN};
		if (q > m->queues && q[-1].row->pid == r->pid)
			q->start_ticks = q[-1].start_ticks;
		else if (proc_start_ticks((pid_t)r->pid, &q->start_ticks))
			q->start_ticks = KFD_UNKNOWN;
		const struct hqd *slot = host_state_find_slot(h, r->gpu_id, r->v[MQD_V_BASE]);
		place(q, m, h, slot);
		read_pointers(q, m, h, slot);
	}
}

static int load(struct host_state *m, const char *dir)
{
	struct hqds slots = {0};
	struct buf text = {0};
	// The dumps first, and one behind the other.
	m->has_slots = host_read(&text, HQDS) >= 0;
	if (!m->has_slots)
		err_note("%s: %s: %s: slots are unknown", dir, HQDS, strerror(errno));
	else
		hqds_parse(&slots, text.data ? text.data : "", text.len);
	int status = queue_rows_load(&m->list, &m->processes, &m->how);
	if (!status && m->list.mqds_error)
		err_note("%s: mqds: %s: on or off, priorities and pointers are unknown", dir,
			 strerror(m->list.mqds_error));
	if (!status)
		fill(m, &slots);
	read_line(m->host, sizeof(m->host), "/proc/sys/kernel/hostname");
	read_line(m->boot_id, sizeof(m->boot_id), "/proc/sys/kernel/random/boot_id");
	m->uptime_cs = read_uptime();
	hqds_fini(&slots);
	buf_fini(&text);
	return status;
}

int host_state_load(struct host_state *m, const char *dir)
{
	*m = (struct host_state){.name = dir,
				 .how = {.want = READ_GPU | READ_TYPE | READ_SIZE | READ_EVICTED |
						 READ_STATUS | READ_CMDLINE | READ_CONTAINER |
						 READ_MQD | READ_INDICES | READ_HOLDER,
					 .likely = true}};
	int status;
	if (host_set_root(dir))
		status = err_sys(errno,
				 errno == ENOTDIR ? "unpack an archive with tar -xf first"
						  : "name a directory that gpq snapshot made",
				 "%s", dir);
	else if (host_access("/sys/class/kfd/kfd", F_OK))
		status =
			err_fail(GPQ_UNSUPPORTED, "is it a directory that gpq snapshot made?",
				 "%s: no KFD driver: /sys/class/kfd/kfd: %s", dir, strerror(errno));
	else
		status = load(m, dir);
	host_set_root(NULL);
	return status;
}

void host_state_fini(struct host_state *m)
{
	free(m->queues);
	queue_rows_fini(&m->list);
	process_cache_fini(&m->processes);
	*m = (struct host_state){0};
}
