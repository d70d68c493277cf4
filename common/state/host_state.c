// One moment of a host; see host_state.h.
#include "common/state/host_state.h"

#include "common/cli/err.h"
#include "common/debugfs/mqd_value.h"
#include "common/host/proc.h"
#include "common/host/root.h"
#include "common/state/slots.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HQDS "/sys/kernel/debug/kfd/hqds"

enum { AQL_DWORDS = 16 };

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

// The slot on XCC 0, or NULL.
static const struct slot *find_slot(const struct slots *s, const struct queue_row *r)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->v[i].gpu_id == r->gpu_id && s->v[i].mqd == r->mqd_addr)
			return &s->v[i];
	return NULL;
}

// The MQDs of further XCCs are others, but they have the doorbell in common, of which a GPU has
// each only once.
static bool is_slot_of(const struct slot *s, const struct slot *first)
{
	return s->gpu_id == first->gpu_id && s->doorbell == first->doorbell &&
	       (s == first || s->xcc != first->xcc);
}

static void name_slots(struct state_queue *q, const struct slots *s, const struct slot *first)
{
	char text[sizeof(q->slots)] = "";
	size_t len = 0;
	bool same = true;
	for (size_t i = 0; i < s->n && len < sizeof(text); i++) {
		const struct slot *one = &s->v[i];
		if (!is_slot_of(one, first))
			continue;
		same &= one->pipe == first->pipe && one->queue == first->queue;
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%u:p%uq%u",
					len ? "," : "", one->xcc, one->pipe, one->queue);
	}
	if (same)
		snprintf(text, sizeof(text), "p%uq%u", first->pipe, first->queue);
	memcpy(q->slots, text, sizeof(text));
}

// --- how far it got ---

static bool is_sdma(const struct queue_row *r)
{
	return r->type && strncmp(r->type, "sdma", 4) == 0;
}

// Not to be seen in a slot proves nothing: queues take turns, with more processes than VMIDs too.
static void place(struct state_queue *q, const struct host_state *m, const struct slots *s,
		  const struct slot *slot)
{
	q->on_hw = slot ? 1 : q->row->on_hw;
	if (slot)
		name_slots(q, s, slot);
	else if (m->has_slots && q->row->mqd_addr != MQD_UNKNOWN && !is_sdma(q->row))
		snprintf(q->slots, sizeof(q->slots), "none");
}

// Dwords read of a ring are what was written, which is counted for ever, less what still waits.
static void count_dwords(struct state_queue *q, uint64_t rptr, uint64_t wptr)
{
	const uint64_t ring = q->row->ring_bytes / 4;
	const unsigned unit =
		q->row->packets && strcmp(q->row->packets, "aql") == 0 ? AQL_DWORDS : 1;
	if (!q->row->packets || q->row->ring_bytes == KFD_UNKNOWN || !ring || rptr >= ring)
		return;
	const uint64_t waiting = (wptr % ring + ring - rptr) % ring;
	if (waiting > wptr)
		return;
	q->submitted = wptr / unit;
	q->consumed = (wptr - waiting) / unit;
	q->unit = unit == 1 ? "dwords" : "packets";
}

// gfx8 counts inside of the ring only.
static bool counts_for_ever(const struct queue_row *r)
{
	return !r->gfx || strncmp(r->gfx, "gfx8", 4) != 0;
}

static void read_pointers(struct state_queue *q, const struct slot *slot)
{
	const struct queue_row *r = q->row;
	const bool sdma = is_sdma(r);
	if (slot) {
		q->pointers = POINTERS_LIVE;
		if (counts_for_ever(r))
			count_dwords(q, slot->rptr, slot->wptr);
		return;
	}
	if (q->on_hw != 0 && r->read_now != MQD_UNKNOWN && r->write_now != MQD_UNKNOWN) {
		q->pointers = POINTERS_PROCESS;
		q->consumed = r->read_now;
		q->submitted = r->write_now;
		q->unit = sdma ? "bytes" : "packets"; // PM4 queues have no such index
		return;
	}
	if (r->wptr == MQD_UNKNOWN || r->rptr == MQD_UNKNOWN)
		return;
	q->pointers = q->on_hw == 0 ? POINTERS_SAVED : POINTERS_STALE;
	if (!sdma && counts_for_ever(r)) {
		count_dwords(q, r->rptr, r->wptr);
	} else if (sdma) {
		q->consumed = r->rptr;
		q->submitted = r->wptr;
		q->unit = "bytes";
	}
}

// --- loading ---

static int fill(struct host_state *m, const struct slots *slots)
{
	m->queues = calloc(m->list.n + 1, sizeof(*m->queues));
	if (!m->queues)
		return -1;
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
		const struct slot *slot = find_slot(slots, r);
		place(q, m, slots, slot);
		read_pointers(q, slot);
	}
	return 0;
}

static int load(struct host_state *m, const char *dir)
{
	struct slots slots = {0};
	struct buf text = {0};
	// The dumps first, and one behind the other.
	m->has_slots = host_read(&text, HQDS) >= 0;
	if (!m->has_slots)
		err_note("%s: %s: %s: slots are unknown", dir, HQDS, strerror(errno));
	int failed = m->has_slots && slots_parse(&slots, text.data ? text.data : "", text.len);
	int status = failed ? err_sys(ENOMEM, NULL, "%s", dir)
			    : queue_rows_load(&m->list, &m->processes, &m->how);
	if (!status && m->list.mqds_error)
		err_note("%s: mqds: %s: on or off, priorities and pointers are unknown", dir,
			 strerror(m->list.mqds_error));
	if (!status && fill(m, &slots))
		status = err_sys(ENOMEM, NULL, "%s", dir);
	read_line(m->host, sizeof(m->host), "/proc/sys/kernel/hostname");
	read_line(m->boot_id, sizeof(m->boot_id), "/proc/sys/kernel/random/boot_id");
	m->uptime_cs = read_uptime();
	slots_fini(&slots);
	buf_fini(&text);
	return status;
}

int host_state_load(struct host_state *m, const char *dir)
{
	*m = (struct host_state){.how = {.want = READ_GPU | READ_TYPE | READ_SIZE | READ_EVICTED |
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
