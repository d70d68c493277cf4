// Finding rings, common/why/rings.c: addresses by a holder's answer, by hardware slots and by
// runlists that the test makes up, and who is told what is missing. Facts: [kfd.queue-entry],
// [debugfs.mqd-sdma-indices].
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/why/rings.h"

#include "common/cli/err.h"
#include "common/holder/group.h"
#include "common/host/root.h"
#include "common/slots/slot_rows.h"

static struct {
	bool live, foreign;          // foreign: PIDs are not the host's
	int slots_error, hqds_error; // of reading hardware slots
	struct hqd_row slots[4];
	struct group_member members[3];
	struct group_member *list[3];
	unsigned asked, answered, released;
	struct queue_row rows[6];
	struct ring_queue queues[3];
	struct ring_process processes[2];
	struct rings rings;
} my;

static bool fake_is_live(void)
{
	return my.live;
}

static bool fake_pids_are_host(void)
{
	return !my.foreign;
}

static int fake_access(const char *path, int mode)
{
	assert_string_equal(path, HQDS_PATH);
	assert_int_equal(mode, R_OK);
	return my.hqds_error;
}

static int fake_slots_load(struct slot_rows *l, struct process_cache *c,
			   const struct slot_rows_how *how)
{
	(void)c;
	assert_null(how->hqds_file);
	assert_false(how->likely);
	*l = (struct slot_rows){.rows = my.slots, .n = COUNT(my.slots)};
	return my.slots_error;
}

static void fake_slots_fini(struct slot_rows *l)
{
	l->n = 0;
}

static bool fake_has(const struct group *g, pid_t pid)
{
	for (size_t i = 0; i < g->n; i++)
		if (g->v[i]->target.pid == pid)
			return true;
	return false;
}

static struct group_member *fake_add(struct group *g, pid_t pid, struct kfd_selection *sel)
{
	assert_null(sel);
	assert_true(g->dry);
	g->v = my.list;
	g->v[g->n] = &my.members[g->n];
	my.members[g->n].target.pid = pid;
	return g->v[g->n++];
}

static void fake_request(struct group *g, const struct group_talk *t)
{
	(void)g;
	assert_string_equal(t->request, "queues addresses");
	assert_true(t->start);
	my.asked++;
}

static void fake_answers(struct group *g, const struct group_talk *t)
{
	fake_request(g, t);
	my.answered++;
}

static void fake_release(struct group *g)
{
	(void)g;
	my.released++;
}

static void fake_group_fini(struct group *g)
{
	assert_int_equal(my.released, 1);
	(void)g;
}

#define host_is_live   fake_is_live
#define pids_are_host  fake_pids_are_host
#define host_access    fake_access
#define slot_rows_load fake_slots_load
#define slot_rows_fini fake_slots_fini
#define group_has      fake_has
#define group_add      fake_add
#define group_request  fake_request
#define group_answers  fake_answers
#define group_release  fake_release
#define group_fini     fake_group_fini
#include "common/why/rings.c" // NOLINT(bugprone-suspicious-include)

static struct buf said;

static int setup(void **state)
{
	(void)state;
	memset(&my, 0, sizeof(my));
	my.live = true;
	for (size_t i = 0; i < COUNT(my.rows); i++)
		queue_row_clear(&my.rows[i]);
	for (size_t i = 0; i < COUNT(my.slots); i++)
		queue_row_clear(&my.slots[i].q);
	my.rings.processes = my.processes;
	my.rings.nprocesses = 2;
	said.len = 0;
	buf_puts(&said, "");
	err_gather(&said);
	return 0;
}

// --- by a holder ---

#define ENTRY(id, type)                                           \
	{                                                         \
		.queue = {                                        \
			.queue_id = (id),                         \
			.queue_type = (type),                     \
			.ring_base_address = 0x1000 + (id),       \
			.ring_size = 0x2000 + (id),               \
			.read_pointer_address = 0x3000 + (id),    \
			.write_pointer_address = 0x4000 + (id),   \
			.ctx_save_restore_address = 0x5000 + (id) \
		}                                                 \
	}

static void test_attach(void **state)
{
	struct kfd_outcome first[] = {ENTRY(0, KFD_SNAPSHOT_COMPUTE_AQL),
				      ENTRY(1, KFD_SNAPSHOT_COMPUTE),
				      ENTRY(9, KFD_SNAPSHOT_COMPUTE)},
			   second[] = {ENTRY(1, KFD_SNAPSHOT_SDMA)};
	static const struct {
		int64_t pid;
		uint64_t qid, context;
		const char *packets; // "": unchanged, as its addresses
	} rows[] = {{40, 0, KFD_UNKNOWN, "aql"},
		    {40, 1, KFD_UNKNOWN, "pm4"},
		    {40, 1, 5, ""},
		    {50, 1, KFD_UNKNOWN, NULL},
		    {50, 0, KFD_UNKNOWN, ""},
		    {60, KFD_UNKNOWN, KFD_UNKNOWN, ""}};
	struct queue_rows q = {.rows = my.rows, .n = COUNT(rows)};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		my.rows[i].pid = rows[i].pid;
		my.rows[i].qid = rows[i].qid;
		my.rows[i].context = rows[i].context;
		my.rows[i].packets = "";
	}
	my.members[0].link.answer = (struct kfd_answer){.queues = first, .num = 3};
	my.members[1].link.answer = (struct kfd_answer){.queues = second, .num = 1};
	assert_int_equal(attach_processes(&q, NULL), 0);
	assert_int_equal(my.asked, 2);
	assert_int_equal(my.answered, 1);
	assert_int_equal(my.members[1].target.pid, 50);
	assert_int_equal(my.members[2].target.pid, 0); // 60 has no queue that is known
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct queue_row *r = &my.rows[i];
		const bool same = rows[i].packets && !*rows[i].packets;
		const uint64_t id = rows[i].qid;
		if (rows[i].packets)
			assert_string_equal(r->packets, rows[i].packets);
		else
			assert_null(r->packets);
		assert_int_equal(r->v[MQD_V_RING], same ? MQD_UNKNOWN : 0x1000 + id);
		assert_int_equal(r->v[MQD_V_RING_BYTES], same ? MQD_UNKNOWN : 0x2000 + id);
		assert_int_equal(r->v[MQD_V_RPTR_ADDR], same ? MQD_UNKNOWN : 0x3000 + id);
		assert_int_equal(r->v[MQD_V_WPTR_ADDR], same ? MQD_UNKNOWN : 0x4000 + id);
		assert_int_equal(r->v[MQD_V_CTX_BASE], same ? MQD_UNKNOWN : 0x5000 + id);
	}
	assert_non_null(strstr(said.data, "takes all queues of the GPUs off the hardware once"));
	my.members[0].state = MEMBER_FAILED;
	my.members[0].failure.status = GPQ_DENIED;
	strcpy(my.members[0].failure.text, "no right");
	my.released = 0;
	assert_int_equal(attach_processes(&q, NULL), GPQ_DENIED);
	assert_int_equal(my.released, 1);
	assert_non_null(strstr(said.data, "pid 40: --attach: no right"));
}

static void test_refuse(void **state)
{
	static const struct {
		bool live, foreign, attach;
		int error, status;
		const char *message;
	} cases[] = {
		{true, false, false, 0, GPQ_OK, NULL},
		{true, true, false, 0, GPQ_UNSUPPORTED,
		 "those of a container; run gpq on the host; or with --attach and -p PID"},
		{false, true, false, 0, GPQ_OK, NULL},
		{true, true, true, 0, GPQ_UNSUPPORTED, "those of a container; run gpq on the"},
		{false, false, true, 0, GPQ_USAGE, "this is a recorded host; leave out --attach"},
		{true, false, true, EACCES, GPQ_OK, NULL},
		{true, false, false, ETIMEDOUT, GPQ_OK, NULL},
		{true, false, false, EACCES, GPQ_DENIED,
		 "mqds: Permission denied; as root; or, for"},
		{true, false, false, EPERM, GPQ_DENIED, "mqds: Operation not permitted; as root"},
		{true, false, false, ENOENT, GPQ_UNSUPPORTED,
		 "mqds: No such file or directory; as"},
		{false, false, false, EACCES, GPQ_DENIED,
		 "denied; gpq snapshot records it as root"},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct queue_rows q = {.mqds_error = cases[i].error};
		const struct pick_opts pick = {0};
		const struct rings_how how = {.attach = cases[i].attach, .pick = &pick};
		setup(NULL);
		my.live = cases[i].live;
		my.foreign = cases[i].foreign;
		assert_int_equal(refuse_rings(&q, &how), cases[i].status);
		if (cases[i].message)
			assert_non_null(strstr(said.data, cases[i].message));
		else
			assert_string_equal(said.data, "");
	}
}

// In a PID namespace of its own: only processes that -p names, and only with --attach.
static void test_refuse_choice(void **state)
{
	pid_t pid = 40;
	char word[] = "x", *words[] = {word};
	struct queue_rows q = {.mqds_error = ENODATA};
	struct pick_opts pick = {.pids = {.v = &pid, .n = 1, .given = true}};
	const struct rings_how how = {.attach = true, .pick = &pick};
	(void)state;
	my.foreign = true;
	assert_int_equal(refuse_rings(&q, &how), GPQ_OK);
	pick.tree = true;
	assert_int_equal(refuse_rings(&q, &how), GPQ_UNSUPPORTED);
	pick.tree = false;
	pick.comms = (struct words){.v = words, .n = 1};
	assert_int_equal(refuse_rings(&q, &how), GPQ_UNSUPPORTED);
	pick.comms.n = pick.pids.n = 0;
	assert_int_equal(refuse_rings(&q, &how), GPQ_UNSUPPORTED);
}

// Rows of what a holder answers about processes that sysfs does not have by these PIDs.
static void test_namespace(void **state)
{
	struct kfd_outcome first[] = {ENTRY(0, KFD_SNAPSHOT_COMPUTE_AQL),
				      ENTRY(3, KFD_SNAPSHOT_COMPUTE)},
			   second[] = {ENTRY(0, KFD_SNAPSHOT_SDMA_XGMI),
				       ENTRY(1, KFD_SNAPSHOT_SDMA), ENTRY(2, 9)};
	static const struct {
		int64_t pid, holder;
		uint64_t qid;
		const char *type, *packets;
	} wanted[] = {{40, 77, 0, "compute", "aql"},
		      {40, INT64_MIN, 3, "compute", "pm4"},
		      {50, INT64_MIN, 0, "sdma-xgmi", NULL},
		      {50, INT64_MIN, 1, "sdma", NULL},
		      {50, INT64_MIN, 2, NULL, NULL}};
	pid_t v[] = {40, 50};
	const struct pids pids = {.v = v, .n = 2, .given = true};
	struct kfd_gpu gpu = {.gpu_id = 7, .index = 3, .bdf = "0000:01:00.0"};
	const struct queue_rows_how how = {0};
	struct queue_rows q = {.how = &how, .gpus = {.gpus = &gpu, .n = 1}};
	(void)state;
	first[0].result = KFD_RESULT_SUSPENDED;
	first[1].result = KFD_RESULT_RUNNING;
	first[0].queue.gpu_id = 7;
	my.members[0].link.answer = (struct kfd_answer){.queues = first, .num = 2, .holder = 77};
	my.members[1].link.answer = (struct kfd_answer){.queues = second, .num = 3, .holder = 78};
	assert_int_equal(attach_processes(&q, &pids), 0);
	assert_int_equal(my.asked, 2);
	assert_int_equal(q.n, COUNT(wanted));
	for (size_t i = 0; i < COUNT(wanted); i++) {
		const struct queue_row *r = &q.rows[i];
		assert_int_equal(r->pid, wanted[i].pid);
		assert_int_equal(r->qid, wanted[i].qid);
		assert_int_equal(r->now.holder, wanted[i].holder);
		assert_int_equal(r->v[MQD_V_RING], 0x1000 + wanted[i].qid);
		assert_int_equal(r->on_hw, -1);
		assert_int_equal(r->gpu.index, i ? KFD_UNKNOWN : 3);
		if (wanted[i].type)
			assert_string_equal(r->type, wanted[i].type);
		else
			assert_null(r->type);
		if (wanted[i].packets)
			assert_string_equal(r->packets, wanted[i].packets);
		else
			assert_null(r->packets);
	}
	free(q.rows);
}

// --- what a row tells of its ring ---

static void test_kinds(void **state)
{
	static const struct {
		const char *type, *packets;
		enum ring_kind kind;
	} cases[] = {{"compute", "aql", RING_AQL}, {"compute", "pm4", RING_PM4},
		     {"compute", NULL, RING_NONE}, {NULL, NULL, RING_NONE},
		     {"sdma", NULL, RING_SDMA},    {"sdma-xgmi", NULL, RING_SDMA},
		     {NULL, "aql", RING_AQL}};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		my.rows[0].type = cases[i].type;
		my.rows[0].packets = cases[i].packets;
		assert_int_equal(ring_kind_of(&my.rows[0]), cases[i].kind);
	}
}

static void test_ring_of_row(void **state)
{
	struct kfd_gpu gpu = {.gpu_id = 7};
	struct rls_queue lists[] = {{.wptr = 0x11, .doorbell = 0x100},
				    {.wptr = 0x22, .doorbell = 0x200},
				    {.wptr = 0x33, .doorbell = 0x300},
				    {.wptr = 0x44, .doorbell = 0x200}};
	struct rls_node nodes[] = {{.gpu_id = 6, .queue = 3, .queues = 1},
				   {.gpu_id = 7, .queue = 0, .queues = 3}};
	struct queue_rows q = {.gpus = {.gpus = &gpu, .n = 1},
			       .rls = {.nodes = nodes, .nnodes = 2, .queues = lists, .nqueues = 4}};
	static const struct {
		const char *gfx;
		unsigned copy;
	} gens[] = {{"gfx701", 0},  {"gfx803", 7},  {"gfx90a", 7},
		    {"gfx1030", 7}, {"gfx1100", 7}, {"gfx1201", 0}};
	struct queue_row *r = &my.rows[0];
	(void)state;
	r->gpu_id = 7;
	r->type = "sdma";
	r->v[MQD_V_RING] = 1;
	r->v[MQD_V_RING_BYTES] = 2;
	r->v[MQD_V_RPTR_ADDR] = 3;
	r->v[MQD_V_DOORBELL] = 0x200;
	struct ring ring = ring_of_row(&q, r);
	assert_int_equal(ring.base, 1);
	assert_int_equal(ring.bytes, 2);
	assert_int_equal(ring.read_at, 3);
	assert_int_equal(ring.write_at, 0x22); // of the GPU's runlist
	r->v[MQD_V_DOORBELL] = 0x300;
	assert_int_equal(ring_of_row(&q, r).write_at, 0x33);
	r->v[MQD_V_DOORBELL] = 0x400;
	assert_int_equal(ring_of_row(&q, r).write_at, MQD_UNKNOWN);
	r->v[MQD_V_WPTR_ADDR] = 4;
	r->v[MQD_V_DOORBELL] = 0x300;
	assert_int_equal(ring_of_row(&q, r).write_at, 4);
	for (size_t i = 0; i < COUNT(gens); i++) {
		strcpy(gpu.gfx, gens[i].gfx);
		unsigned v[] = {70001, 80003, 90010, 100300, 110000, 120001};
		gpu.gfx_target_version = v[i];
		assert_int_equal(ring_of_row(&q, r).copy_dwords, gens[i].copy);
	}
	r->gpu_id = 8;
	assert_int_equal(ring_of_row(&q, r).copy_dwords, 0);
}

// --- hardware slots ---

static void test_slots(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 10; i++) {
		setup(NULL);
		my.rings.v = my.queues;
		my.rings.n = 2;
		for (unsigned k = 0; k < 2; k++) {
			struct queue_row *s = &my.slots[k + 1].q;
			my.rows[k].pid = s->pid = 40;
			my.rows[k].gpu_id = s->gpu_id = 7;
			my.rows[k].packets = "aql";
			my.queues[k] = (struct ring_queue){.row = &my.rows[k],
							   .ring = {.base = 0x1000 * (k + 1)},
							   .slot_read = KFD_UNKNOWN,
							   .slot_write = KFD_UNKNOWN,
							   .slot_error = KFD_UNKNOWN};
			s->v[MQD_V_RING] = 0x1000 * (k + 1);
			s->v[MQD_V_WPTR] = 160 * (k + 1); // dwords
			s->v[MQD_V_ERROR] = 32 + k;
		}
		bool read = false;
		switch (i) {
		case 0: read = true; break;
		case 1: my.slots[1].q.pid = 41; break;
		case 2: my.slots[1].q.gpu_id = 8; break;
		case 3: my.slots[1].q.v[MQD_V_RING]++; break;
		case 4: my.slots[1].q.v[MQD_V_WPTR] = MQD_UNKNOWN; break;
		case 5: my.hqds_error = -1; break;
		case 6: my.slots_error = GPQ_FAILED; break;
		case 7: my.rows[0].packets = NULL, read = true; break;
		case 8: my.rows[0].packets = "pm4", read = true; break;
		case 9: my.foreign = true; break; // its PIDs are others
		}
		const bool other = i != 5 && i != 6 && i != 9;
		rings_read_slots(&my.rings);
		assert_int_equal(my.queues[0].slot_write, !read ? KFD_UNKNOWN : i == 0 ? 10 : 160);
		assert_int_equal(my.queues[0].slot_error, read ? 32 : KFD_UNKNOWN);
		assert_int_equal(my.queues[1].slot_write, other ? 20 : KFD_UNKNOWN);
		assert_int_equal(my.queues[1].slot_error, other ? 33 : KFD_UNKNOWN);
	}
}

// --- what is missing ---

static void test_unread(void **state)
{
	static const struct {
		size_t n;
		int first, second, status;
	} cases[] = {{0, 0, 0, GPQ_PARTIAL},           {1, 0, 0, GPQ_PARTIAL},
		     {1, EACCES, 0, GPQ_DENIED},       {1, EPERM, 0, GPQ_DENIED},
		     {1, ENOENT, 0, GPQ_NOTFOUND},     {1, ESRCH, 0, GPQ_NOTFOUND},
		     {1, EIO, 0, GPQ_FAILED},          {2, EACCES, 0, GPQ_PARTIAL},
		     {2, 0, EACCES, GPQ_PARTIAL},      {2, EACCES, ENOENT, GPQ_DENIED},
		     {2, ENOENT, EACCES, GPQ_NOTFOUND}};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		my.rings.v = my.queues;
		my.rings.n = my.rings.nprocesses = cases[i].n;
		my.queues[0].process = 0;
		my.queues[1].process = 1;
		my.queues[0].chosen = my.queues[1].chosen = true;
		my.processes[0].error = cases[i].first;
		my.processes[1].error = cases[i].second;
		assert_int_equal(rings_unread(&my.rings), cases[i].status);
	}
	my.processes[1].error = 0; // of one that was not chosen, but shares memory
	my.queues[1].chosen = false;
	assert_int_equal(rings_unread(&my.rings), GPQ_NOTFOUND);
}

static void test_warnings(void **state)
{
	static const struct {
		int error;
		bool recorded;
		const char *memory;
	} cases[] = {{0, false, ""},
		     {EACCES, false, "pid 40: its memory: Permission denied; as root"},
		     {EPERM, true, "pid 40: its memory: Operation not permitted; as root"},
		     {ENOENT, false, "pid 40: its memory: No such file or directory\n"},
		     {ENOENT, true, "directory; gpq snapshot records it as root"}};
	struct ring_queue q = {.row = &my.rows[0], .process = 1};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct ring_process p = {.pid = 40, .error = cases[i].error};
		setup(NULL);
		my.live = !cases[i].recorded;
		warn_memory(&p);
		assert_non_null(strstr(said.data, cases[i].memory));
		assert_int_equal(said.len > 0, cases[i].error != 0);
	}
	setup(NULL);
	my.rows[0].pid = 41;
	rings_warn(&my.rings, &q, RING_ABSURD);
	assert_non_null(strstr(said.data, "pid 41: a queue: its indices do not fit its ring"));
	my.rows[0].qid = 6;
	rings_warn(&my.rings, &q, RING_NO_WRITE);
	assert_non_null(strstr(said.data, "pid 41: queue 6: its write index is not known"));
	said.len = 0;
	my.processes[1].error = EIO; // that was said
	rings_warn(&my.rings, &q, RING_ABSURD);
	assert_int_equal(said.len, 0);
}

// PIDs of -p that own no queue: none of them, some, all.
static void test_pids(void **state)
{
	static const struct {
		pid_t pids[3];
		size_t n;
		bool tree;
		enum { NONE, OWN, OF_SHARERS } rows; // of chosen processes, or of others
		int status;
		const char *message;
	} cases[] = {
		{{40}, 1, false, OWN, GPQ_OK, NULL},
		{{40, 50}, 2, false, OWN, GPQ_OK, NULL},
		{{40, 60}, 2, false, OWN, GPQ_PARTIAL, "pid 60: owns no queue"},
		{{60, 40}, 2, false, OWN, GPQ_PARTIAL, "pid 60: owns no queue"},
		{{60}, 1, false, NONE, GPQ_NOTFOUND, "pid 60: owns no queue"},
		{{60}, 1, false, OF_SHARERS, GPQ_NOTFOUND, "pid 60: owns no queue"},
		{{60}, 1, true, OWN, GPQ_OK, NULL}, // a descendant owns them
		{{60}, 1, true, NONE, GPQ_NOTFOUND, "pid 60: owns no queue"},
		{{60}, 1, true, OF_SHARERS, GPQ_NOTFOUND, "pid 60: owns no queue"},
		{{0}, 0, false, OWN, GPQ_OK, NULL},
		{{0},
		 0,
		 false,
		 NONE,
		 GPQ_NOTFOUND,
		 "no process that the options choose has opened /dev/kfd"},
	};
	(void)state;
	my.rows[0].pid = 40;
	my.rows[1].pid = 50;
	// On a live host in a PID namespace the last case has another message: read a recorded one.
	assert_int_equal(host_set_root("tests/hosts/aql-gfx90a"), 0);
	for (size_t i = 0; i < COUNT(cases); i++) {
		pid_t pids[3];
		memcpy(pids, cases[i].pids, sizeof(pids));
		const struct pick_opts o = {.pids = {.v = pids, .n = cases[i].n, .given = true},
					    .tree = cases[i].tree};
		pid_t more[] = {40, 50};
		const struct picked from = {
			.pick = {.opts = &o},
			.rows = {.rows = my.rows, .n = cases[i].rows == NONE ? 0 : 2},
			.more = {.v = more, .n = cases[i].rows == OF_SHARERS ? 2 : 0}};
		said.len = 0;
		buf_puts(&said, "");
		assert_int_equal(check_ring_pids(&from), cases[i].status);
		if (cases[i].message)
			assert_non_null(strstr(said.data, cases[i].message));
		else
			assert_int_equal(said.len, 0);
	}
	pid_t host[] = {40}, inside[] = {7};
	const struct pick_opts o = {.pids = {.v = inside, .n = 1, .given = true}, .ns_pid = true};
	const struct picked from = {.pick = {.opts = &o, .pids = {.v = host, .n = 1}},
				    .rows = {.rows = my.rows, .n = 2}};
	assert_int_equal(check_ring_pids(&from), GPQ_OK);
	host[0] = 60;
	assert_int_equal(check_ring_pids(&from), GPQ_PARTIAL);
	host_set_root(NULL);
}

// --- all rings of a host ---

// A profile loads rings into what earlier rings were in, and at its end lets go of both. The host
// has processes 4711, 4712 and 4713 with 5, 8 and 5 queues.
static void test_again(void **state)
{
	static const struct {
		int64_t pid;
		size_t from, to;
	} processes[] = {{4711, 0, 5}, {4712, 5, 13}, {4713, 13, 18}};
	const struct pick_opts pick = {0};
	const struct pick_queues_opts queues = {0};
	const struct rings_how how = {.pick = &pick, .queues = &queues};
	struct rings r = {0};
	(void)state;
	my.live = false;
	assert_int_equal(host_set_root("tests/hosts/aql-gfx90a"), 0);
	for (unsigned again = 0; again < 2; again++) {
		assert_int_equal(rings_load(&r, &how), GPQ_OK);
		assert_int_equal(r.n, 18);
		assert_int_equal(r.nprocesses, COUNT(processes));
		assert_int_equal(r.nspare, 0);
		for (size_t p = 0; p < COUNT(processes); p++) {
			assert_int_equal(r.processes[p].pid, processes[p].pid);
			assert_int_equal(r.processes[p].error, 0);
			for (size_t i = processes[p].from; i < processes[p].to; i++) {
				assert_int_equal(r.v[i].process, p);
				assert_int_equal(r.v[i].row->pid, processes[p].pid);
				assert_int_equal(r.v[i].row->qid, i - processes[p].from);
			}
		}
		rings_fini(&r);
		assert_true(!r.n && !r.nprocesses && !r.v && !r.processes && !r.from.rows.n);
		rings_fini(&r);
	}
	host_set_root(NULL);
}

#define TEST(f) cmocka_unit_test_setup(f, setup)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(test_attach),    TEST(test_refuse), TEST(test_refuse_choice),
		TEST(test_namespace), TEST(test_kinds),  TEST(test_ring_of_row),
		TEST(test_slots),     TEST(test_unread), TEST(test_warnings),
		TEST(test_pids),      TEST(test_again),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
