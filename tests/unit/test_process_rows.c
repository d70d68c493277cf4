// Queues grouped by process: sums, the word for what the process does, GPUs, order of the rows.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/rows/process_rows.h"

enum { QUEUES = 8 };

// A host with the GPUs 10, 20 and 30, of indices 0 to 2, and rows that a test fills.
struct made {
	struct kfd_gpu gpus[3];
	struct kfd_proc procs[2];
	struct kfd_usage usages[5];
	struct queue_row rows[QUEUES];
	struct queue_rows q;
	struct process_rows p;
};

static struct made host_of(size_t rows, size_t procs)
{
	struct made m = {0};
	for (unsigned i = 0; i < 3; i++)
		m.gpus[i] = (struct kfd_gpu){
			.gpu_id = 10 * (i + 1), .index = i, .node = i + 1, .selected = true};
	for (unsigned i = 0; i < QUEUES; i++) {
		queue_row_clear(&m.rows[i]);
		m.rows[i].pid = 7;
		m.rows[i].qid = i;
		m.rows[i].gpu_id = 10;
		m.rows[i].type = "compute";
		m.rows[i].packets = "aql";
		m.rows[i].state = "idle";
		m.rows[i].v[MQD_D_BACKLOG] = 0;
	}
	m.q.n = rows;
	m.q.procs.nprocs = procs;
	return m;
}

// Groups the rows; the only process, or that of index `i`.
static const struct process_row *grouped(struct made *m, bool memory, size_t i)
{
	m->q.gpus.gpus = m->gpus;
	m->q.gpus.n = 3;
	m->q.procs.procs = m->procs;
	m->q.procs.usages = m->usages;
	m->q.rows = m->rows;
	process_rows_fini(&m->p);
	m->p = (struct process_rows){0};
	process_rows_make(&m->p, &m->q, memory);
	return i < m->p.n ? &m->p.rows[i] : NULL;
}

static void state_tells_most(void **unused)
{
	static const char *const order[] = {"suspended",   "evicted", "off-hardware", "running",
					    "takes-turns", "mapped",  "unknown",      "idle"};
	static const char *const partly[] = {"partly-suspended", "partly-evicted", "partly-off"};
	(void)unused;
	for (unsigned i = 0; i < COUNT(order); i++) {
		for (unsigned k = i; k < COUNT(order); k++) {
			// A queue of the order's place i and two of place k: those below 3 are off.
			const bool unknown = k == 6 || i == 6;
			const char *word = i < 3 && k >= 3 ? partly[i] : order[i];
			struct made m = host_of(3, 0);
			m.rows[0].state = m.rows[2].state = order[k];
			m.rows[1].state = order[i];
			assert_string_equal(grouped(&m, false, 0)->state, word);
			assert_true(m.p.rows[0].off ==
				    (unknown ? KFD_UNKNOWN : (i < 3) + 2u * (k < 3)));
			m.rows[0].state = m.rows[2].state = order[i];
			m.rows[1].state = order[k];
			assert_string_equal(grouped(&m, false, 0)->state, word);
			process_rows_fini(&m.p);
		}
	}
}

static void state_of_the_process(void **unused)
{
	struct made m = host_of(1, 0);
	(void)unused;
	m.rows[0].state = "running";
	m.rows[0].process.state = "zombie";
	assert_string_equal(grouped(&m, false, 0)->state, "zombie");
	m.rows[0].process.state = "gone";
	assert_string_equal(grouped(&m, false, 0)->state, "gone");
	m.rows[0].process.state = "alive";
	assert_string_equal(grouped(&m, false, 0)->state, "running");
	m.rows[0].state = NULL; // the row of a process without queues
	assert_string_equal(grouped(&m, false, 0)->state, "no-queues");
	assert_int_equal(m.p.rows[0].compute, 0);
	assert_int_equal(m.p.rows[0].backlog, 0);
	process_rows_fini(&m.p);
}

static void queues_add_up(void **unused)
{
	struct made m = host_of(5, 0);
	(void)unused;
	m.rows[0].v[MQD_D_BACKLOG] = 5;
	m.rows[1].v[MQD_D_BACKLOG] = 30;
	m.rows[2].type = "sdma";
	m.rows[3].type = "sdma-xgmi";
	m.rows[2].packets = m.rows[3].packets = NULL;
	m.rows[2].v[MQD_D_BACKLOG] = 4096; // bytes, which are no packets
	m.rows[3].v[MQD_D_BACKLOG] = MQD_UNKNOWN;
	m.rows[3].now.holder = 99;
	m.rows[4].hidden = true;
	m.rows[4].state = "suspended";
	m.rows[4].now.holder = 55;
	m.rows[4].v[MQD_D_BACKLOG] = 1000;
	const struct process_row *p = grouped(&m, false, 0);
	assert_int_equal(m.p.n, 1);
	assert_int_equal(p->first.pid, 7);
	assert_int_equal(p->compute, 2);
	assert_int_equal(p->sdma, 2);
	assert_int_equal(p->backlog, 35);
	assert_int_equal(p->holder, 99);
	assert_string_equal(p->state, "idle");
	assert_true(p->vram_bytes == KFD_UNKNOWN && p->cus == KFD_UNKNOWN); // unknown to sysfs

	m.rows[2].now.holder = 44; // the first one counts
	m.rows[1].packets = "pm4"; // dwords
	p = grouped(&m, false, 0);
	assert_int_equal(p->holder, 44);
	assert_true(p->backlog == KFD_UNKNOWN);
	m.rows[1].packets = "aql";
	m.rows[0].v[MQD_D_BACKLOG] = MQD_UNKNOWN;
	assert_true(grouped(&m, false, 0)->backlog == KFD_UNKNOWN);
	assert_int_equal(m.p.rows[0].compute, 2);
	m.rows[1].type = NULL;
	assert_true(grouped(&m, false, 0)->compute == KFD_UNKNOWN);
	assert_true(m.p.rows[0].sdma == KFD_UNKNOWN);
	process_rows_fini(&m.p);
}

#define USAGE(gpu, vram, cus) \
	((struct kfd_usage){.gpu_id = (gpu), .vram_bytes = (vram), .cu_occupancy = (cus)})

// Process 7 with two contexts on GPU 10, the primary one on 20 and 30, too.
static struct made host_with_memory(void)
{
	struct made m = host_of(4, 1);
	m.procs[0] = (struct kfd_proc){.pid = 7, .usage = 1, .usages = 4};
	m.usages[0] = USAGE(10, 1u << 20, 1000); // of another process
	m.usages[1] = USAGE(10, 100, 3);
	m.usages[2] = USAGE(20, 0, 0);
	m.usages[3] = USAGE(30, 2000, 4);
	m.usages[4] = USAGE(10, 30, 5);
	return m;
}

static void memory_once_per_gpu(void **unused)
{
	struct made m = host_with_memory();
	(void)unused;
	const struct process_row *p = grouped(&m, false, 0);
	assert_int_equal(p->vram_bytes, 2130);
	assert_int_equal(p->cus, 12);
	assert_string_equal(p->gpus.data, "0 2"); // a queue on 10, memory on 30
	m.rows[3].gpu_id = 20;
	assert_string_equal(grouped(&m, false, 0)->gpus.data, "0 1 2");
	m.rows[3].hidden = true;
	assert_string_equal(grouped(&m, false, 0)->gpus.data, "0 2");

	m.usages[2].cu_occupancy = KFD_UNKNOWN; // of a family that does not count units
	assert_true(grouped(&m, false, 0)->cus == KFD_UNKNOWN);
	m.gpus[1].selected = false;
	assert_int_equal(grouped(&m, false, 0)->cus, 12);
	m.usages[2].cu_occupancy = 0;
	m.gpus[1].selected = true;

	m.gpus[0].selected = false;
	m.gpus[1].index = KFD_UNKNOWN; // not readable
	m.rows[3].hidden = false;
	p = grouped(&m, false, 0);
	assert_int_equal(p->vram_bytes, 2000);
	assert_int_equal(p->cus, 4);
	assert_string_equal(p->gpus.data, "2");

	m.usages[3].vram_bytes = KFD_UNKNOWN;
	p = grouped(&m, false, 0);
	assert_true(p->vram_bytes == KFD_UNKNOWN);
	assert_null(p->gpus.data);
	process_rows_fini(&m.p);
}

static void hidden_rows(void **unused)
{
	struct made m = host_with_memory();
	(void)unused;
	for (unsigned i = 0; i < 4; i++)
		m.rows[i].hidden = true;
	assert_null(grouped(&m, false, 0));
	const struct process_row *p = grouped(&m, true, 0);
	assert_string_equal(p->state, "no-queues");
	assert_int_equal(p->compute, 0);
	m.gpus[0].selected = m.gpus[2].selected = false; // no memory on GPU 20
	assert_null(grouped(&m, true, 0));
	m.gpus[0].selected = true;
	m.usages[1].vram_bytes = KFD_UNKNOWN;
	assert_null(grouped(&m, true, 0));
	m.rows[2].hidden = false;
	assert_int_equal(grouped(&m, true, 0)->compute, 1);
	process_rows_fini(&m.p);
}

// Process 7 has two rows, 8 and 9 have one, 5 has three.
static void order_of_rows(void **unused)
{
	static const int pids[] = {5, 5, 5, 7, 7, 8, 9};
	struct made m = host_of(7, 2);
	(void)unused;
	for (unsigned i = 0; i < COUNT(pids); i++)
		m.rows[i].pid = pids[i];
	m.procs[0] = (struct kfd_proc){.pid = 8, .usage = 0, .usages = 1};
	m.procs[1] = (struct kfd_proc){.pid = 9, .usage = 1, .usages = 1};
	m.usages[0] = USAGE(10, 0, 0);
	m.usages[1] = USAGE(10, 4096, 0);
	grouped(&m, false, 0);
	assert_int_equal(m.p.n, 4);
	assert_int_equal(m.p.rows[0].first.pid, 9);
	assert_int_equal(m.p.rows[1].first.pid, 8); // 0 is more than unknown
	assert_int_equal(m.p.rows[2].first.pid, 5);
	assert_int_equal(m.p.rows[3].first.pid, 7);
	assert_int_equal(m.p.rows[2].compute, 3);
	assert_int_equal(m.p.rows[3].compute, 2);
	process_rows_fini(&m.p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(state_tells_most), cmocka_unit_test(state_of_the_process),
		cmocka_unit_test(queues_add_up),    cmocka_unit_test(memory_once_per_gpu),
		cmocka_unit_test(hidden_rows),      cmocka_unit_test(order_of_rows),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
