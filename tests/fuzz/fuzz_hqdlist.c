// libFuzzer target: what gpq hqd makes of the three dumps together (common/slots/slot_rows.c,
// slot_summary.c, runlist.c): owners of slots, occupancy, queues without a slot, packets.
//
// The input is hqds, mqds and rls one after the other, a line "====" between them. Beside not
// crashing: each owner named is one that mqds has, and the counts are those of the rows.
#include "common/cli/err.h"
#include "common/slots/slot_rows.h"
#include "tests/fuzz/require.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HQDS, MQDS, RLS, DUMPS };

struct dump {
	int fd;
	char path[32];
};

// What gpq reads by name.
static void dump_write(struct dump *d, const uint8_t *data, size_t size)
{
	d->fd = memfd_create("dump", MFD_CLOEXEC);
	require(d->fd >= 0 && write(d->fd, data, size) == (ssize_t)size);
	snprintf(d->path, sizeof(d->path), "/proc/self/fd/%d", d->fd);
}

static void split(struct dump d[DUMPS], const uint8_t *data, size_t size)
{
	static const char mark[] = "====\n";
	for (unsigned i = 0; i < DUMPS; i++) {
		const uint8_t *end =
			i + 1 < DUMPS && size ? memmem(data, size, mark, sizeof(mark) - 1) : NULL;
		size_t len = end ? (size_t)(end - data) : size;
		dump_write(&d[i], data, len);
		data += len;
		size -= len;
		if (end) {
			data += sizeof(mark) - 1;
			size -= sizeof(mark) - 1;
		}
	}
}

// Messages about each input would be all there is to see.
static int hush(void)
{
	int kept = dup(STDERR_FILENO), null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	require(kept >= 0 && null >= 0);
	dup2(null, STDERR_FILENO);
	close(null);
	return kept;
}

static void speak(int kept)
{
	dup2(kept, STDERR_FILENO);
	close(kept);
}

static void check_rows(const struct slot_rows *l)
{
	const struct mqds *m = &l->queues.mqds;
	for (size_t i = 0; i < l->n; i++) {
		const struct queue_row *r = &l->rows[i].q;
		require(r->mqd.index == UINT32_MAX || r->mqd.index < m->nqueues);
		require(r->pid == INT64_MIN || r->mqd.index != UINT32_MAX);
		if (r->mqd.index == UINT32_MAX)
			continue;
		uint32_t gpu_id = m->queues[r->mqd.index].gpu_id; // 0: unreadable
		require(r->gpu_id == (gpu_id ? gpu_id : KFD_UNKNOWN));
		require(r->pid == INT64_MIN || r->pid == slot_rows_pid(l, r->mqd.index));
	}
}

static uint64_t count_used(const struct slot_rows *l, const struct hqd_occupancy *x)
{
	uint64_t n = 0;
	for (size_t i = 0; i < l->n; i++)
		n += l->rows[i].q.gpu_id == x->q.gpu_id && l->rows[i].xcc == x->xcc &&
		     strcmp(l->rows[i].q.type, x->q.type) == 0 && l->rows[i].active == 1;
	return n;
}

static void check_sum(const struct slot_rows *l)
{
	struct slot_summary s;
	slot_summary_make(&s, l);
	for (size_t i = 0; i < s.nxccs; i++) {
		const struct hqd_occupancy *x = &s.xccs[i];
		// A GPU that the dump has twice is told twice.
		require(x->used == KFD_UNKNOWN ||
			(x->used + x->free == x->slots && x->used <= count_used(l, x)));
	}
	for (size_t i = 0; i < s.nwaiting; i++)
		require(s.waiting[i].why && s.waiting[i].reason && s.waiting[i].missing &&
			s.waiting[i].missing <= s.waiting[i].xccs);
	for (size_t i = 0; i < s.nsharers; i++)
		require(s.sharers[i].slots <= s.sharers[i].queues);
	slot_summary_fini(&s);
}

static void check_runlist(const struct slot_rows *l)
{
	struct runlist r;
	runlist_make(&r, l);
	for (size_t i = 0; i < r.n; i++)
		require(r.rows[i].packet != NULL);
	runlist_fini(&r);
}

static void look(const struct dump d[DUMPS], bool memory, bool owners)
{
	const struct slot_rows_how how = {.hqds_file = d[HQDS].path,
					  .mqds_file = owners ? d[MQDS].path : NULL,
					  .rls_file = d[RLS].path,
					  .memory = memory};
	struct process_cache processes = {0};
	struct slot_rows l = {0};
	if (slot_rows_load(&l, &processes, &how) == 0) {
		check_rows(&l);
		check_runlist(&l);
		if (!memory)
			check_sum(&l);
		slot_rows_explain(&l);
	}
	slot_rows_fini(&l);
	process_cache_fini(&processes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dump d[DUMPS];
	int kept = hush();
	split(d, data, size);
	look(d, false, true);
	look(d, true, true);
	look(d, false, false);
	for (unsigned i = 0; i < DUMPS; i++)
		close(d[i].fd);
	speak(kept);
	return 0;
}
