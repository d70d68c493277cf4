// Matching sysfs queues with MQDs: what is proved, what stays open, and that nothing is guessed.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/debugfs/mqd_value.h"
#include "common/rows/join.h"

// --- a process on both sides ---

struct fixture {
	struct kfd_proc proc;
	struct kfd_context contexts[8];
	struct kfd_usage usages[8];
	struct kfd_queue queues[8];
	struct kfd_procs procs;
	char text[1 << 16];
	struct mqds mqds;
	struct rls rls;
	struct join join;
};

static struct fixture *f;

static int setup(void **state)
{
	(void)state;
	f = calloc(1, sizeof(*f));
	assert_non_null(f);
	f->proc.pid = 41207;
	f->procs = (struct kfd_procs){.procs = &f->proc,
				      .contexts = f->contexts,
				      .queues = f->queues,
				      .usages = f->usages,
				      .nprocs = 1,
				      .ncontexts = 1};
	f->contexts[0].id = -1;
	f->proc.contexts = 1;
	strcpy(f->text, "Process 41207 PASID 0x3:\n");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	join_fini(&f->join);
	mqds_fini(&f->mqds);
	rls_fini(&f->rls);
	free(f);
	return 0;
}

static void sysfs(uint32_t qid, uint32_t gpu, int type, uint64_t bytes, uint64_t created)
{
	struct kfd_context *c = &f->contexts[f->procs.ncontexts - 1];
	f->queues[f->procs.nqueues++] =
		(struct kfd_queue){.qid = qid,
				   .owner = (uint32_t)f->procs.ncontexts - 1,
				   .context = c->id,
				   .gpu_id = gpu,
				   .type = type,
				   .bytes = bytes,
				   .created = created};
	c->queues++;
	f->proc.queues++;
}

// What follows is of this secondary context, which has this PASID on GPU a1f4.
static void context(int32_t id, uint64_t created, uint64_t pasid)
{
	size_t n = f->procs.nusages++;
	f->usages[n] = (struct kfd_usage){
		.context = (uint32_t)f->procs.ncontexts, .gpu_id = 0xa1f4, .pasid = pasid};
	f->contexts[f->procs.ncontexts++] =
		(struct kfd_context){.id = id,
				     .created = created,
				     .queue = (uint32_t)f->procs.nqueues,
				     .usage = (uint32_t)n,
				     .usages = 1};
	f->proc.contexts++;
}

// A dump whose only words of interest are those of its rows; gfx9 by its persistent_state.
static void line(unsigned offset, unsigned words, const uint32_t *w)
{
	char *p = f->text + strlen(f->text);
	p += sprintf(p, "    %08x:", offset);
	for (unsigned i = 0; i < words; i++)
		p += sprintf(p, " %08x", w[i]);
	sprintf(p, "\n");
}

static void add_text(const char *text)
{
	size_t have = strlen(f->text);
	snprintf(f->text + have, sizeof(f->text) - have, "%s", text);
}

static void zeros(unsigned from, unsigned to)
{
	static const uint32_t none[8];
	for (; from < to; from += 32)
		line(from, 8, none);
}

enum { KIB4 = 9, MIB = 17 }; // fields of pq_control: rings of 8 << 9 and 8 << 17 bytes

// An MQD that its address, base, names here. active: dword 130.
static void put_compute(uint32_t gpu, unsigned size, uint32_t base, unsigned active,
			uint32_t doorbell)
{
	sprintf(f->text + strlen(f->text), "  Compute queue on device %x\n", gpu);
	zeros(0, 0x200);
	line(0x200, 8, (uint32_t[]){base, 0, active, 0, 0x40005301, 1, 7, 0x111});
	line(0x220, 8, (uint32_t[]){0, 0, 0, 0, 0, 0, 0, doorbell});
	line(0x240, 8, (uint32_t[]){0, 0x1c014500 | size, 0, 0, 0, 0x00b00000, 0, 0});
	zeros(0x260, 0x800);
}

static void compute(uint32_t gpu, unsigned size, uint32_t base)
{
	put_compute(gpu, size, base, 1, 0);
}

static void sdma(uint32_t gpu, uint32_t rb_cntl, uint32_t ring)
{
	sprintf(f->text + strlen(f->text), "  SDMA queue on device %x\n", gpu);
	line(0, 8, (uint32_t[]){rb_cntl, ring, 0, 0, 0, 0, 0, 0});
	zeros(0x20, 0x60);
	line(0x60, 8, (uint32_t[]){0, 0, 0, 0xf, 0, 0, 0, 0});
	zeros(0x80, 0x200);
}

static void join_now(void)
{
	enum gfx_gen gens[64];
	mqds_parse(&f->mqds, f->text, strlen(f->text));
	assert_true(f->mqds.nqueues <= 64);
	join_fini(&f->join);
	for (size_t i = 0; i < f->mqds.nqueues; i++)
		gens[i] = mqd_guess_gen(&f->mqds, &f->mqds.queues[i]);
	join_all(&f->join, &f->procs, &f->mqds, gens, &f->rls);
}

// The MQD that sysfs queue i certainly has, by its base address (SDMA: ring).
static uint64_t base_of(size_t i)
{
	const struct join_queue *q = &f->join.queues[i];
	uint64_t v;
	if (q->count != 1)
		return 0;
	const struct mqd *m = &f->mqds.queues[f->join.candidates[q->first]];

	assert_int_equal(q->likely, f->join.candidates[q->first]);
	assert_true(
		mqd_get(&f->mqds, m, GFX9, 0, m->kind == MQD_SDMA ? MQD_V_RING : MQD_V_BASE, &v));
	return v;
}

static int why(size_t i)
{
	return f->join.queues[i].why;
}

// Queue i certainly has the MQD of this address, for this reason.
static void expect(size_t i, uint64_t base, enum join_why reason)
{
	assert_int_equal(base_of(i), base);
	assert_int_equal(why(i), reason);
}

// Of the first n queues.
static void expect_whys(size_t n, enum join_why reason)
{
	for (size_t i = 0; i < n; i++)
		assert_int_equal(why(i), reason);
}

static void expect_counts(size_t n, uint32_t count)
{
	for (size_t i = 0; i < n; i++)
		assert_int_equal(f->join.queues[i].count, count);
}

static void expect_bases(uint64_t first, uint64_t second, uint64_t third)
{
	assert_int_equal(base_of(0), first);
	assert_int_equal(base_of(1), second);
	assert_int_equal(base_of(2), third);
}

// --- the rules ---

// The gfx90a process of [debugfs.examples]: two queues are alone with their key, two look alike.
static void only_one_of_its_kind(void **state)
{
	(void)state;
	sysfs(0, 0xa1f4, 0, 4096, KFD_UNKNOWN);
	sysfs(1, 0xa1f4, 0, 1 << 20, KFD_UNKNOWN);
	sysfs(2, 0xa1f4, 0, 1 << 20, KFD_UNKNOWN);
	sysfs(3, 0xa1f4, 1, 1 << 20, KFD_UNKNOWN);
	sdma(0xa1f4, 0x24, 0x30);
	compute(0xa1f4, MIB, 0x2000);
	put_compute(0xa1f4, MIB, 0x1000, 0, 0);
	compute(0xa1f4, KIB4, 0xf000);
	join_now();
	expect(0, 0xf000, JOIN_ONLY);
	assert_int_equal(base_of(3), 0x3000);
	expect(1, 0, JOIN_AMBIGUOUS);
	assert_int_equal(f->join.queues[1].count, 2);
	// By qid order, newest first: qid 2 is likely the first one printed.
	assert_int_equal(f->join.queues[2].likely, 1);
	assert_int_equal(f->join.queues[1].likely, 2);
}

// Creation order of sysfs settles it, against the order of qids: qid 0 was given out again last.
static void creation_order_proves(void **state)
{
	(void)state;
	sysfs(0, 0xa1f4, 0, 1 << 20, 900);
	sysfs(1, 0xa1f4, 0, 1 << 20, 300);
	sysfs(2, 0xa1f4, 0, 1 << 20, 500);
	compute(0xa1f4, MIB, 0x9000);
	compute(0xa1f4, MIB, 0x5000);
	compute(0xa1f4, MIB, 0x3000);
	join_now();
	expect_bases(0x9000, 0x3000, 0x5000);
	expect_whys(3, JOIN_ORDER);
}

// A queue was made between the two reads: order proves nothing any more, the key still may.
static void counts_differ(void **state)
{
	(void)state;
	sysfs(0, 0xa1f4, 0, 4096, 100);
	sysfs(1, 0xa1f4, 0, 1 << 20, 200);
	compute(0xa1f4, MIB, 0x3000);
	compute(0xa1f4, MIB, 0x2000);
	compute(0xa1f4, KIB4, 0x1000);
	join_now();
	expect(0, 0x1000, JOIN_ONLY);
	assert_int_equal(why(1), JOIN_AMBIGUOUS);
	assert_int_equal(f->join.queues[1].count, 2);
	assert_int_equal(f->join.queues[1].likely, -1);
}

static void fewer_mqds_than_queues(void **state)
{
	(void)state;
	sysfs(0, 0xa1f4, 0, 1 << 20, 100);
	sysfs(1, 0xa1f4, 0, 1 << 20, 200);
	sysfs(2, 0xa1f4, 1, 1 << 20, 300);
	compute(0xa1f4, MIB, 0x2000);
	join_now();
	expect_whys(2, JOIN_SHORT);
	assert_int_equal(why(2), JOIN_NO_MQD);
	expect_counts(3, 0);
}

// Order and keys contradict each other: keys alone decide.
static void order_contradicted(void **state)
{
	(void)state;
	sysfs(0, 0xa1f4, 0, 4096, 900);
	sysfs(1, 0xa1f4, 0, 1 << 20, 300);
	compute(0xa1f4, MIB, 0x5000);
	compute(0xa1f4, KIB4, 0x1000);
	join_now();
	expect(0, 0x1000, JOIN_ONLY);
	assert_int_equal(base_of(1), 0x5000);
}

static void other_gpu_or_type_is_no_match(void **state)
{
	(void)state;
	sysfs(0, 0xa1f4, 0, 1 << 20, KFD_UNKNOWN);
	sysfs(1, 0xb000, 1, 1 << 20, KFD_UNKNOWN);
	sysfs(2, 0xb000, 4, 2 << 20, KFD_UNKNOWN); // XGMI SDMA prints as SDMA
	compute(0xb000, MIB, 0x1000);
	sdma(0xa1f4, 0x24, 0x20);
	sdma(0xb000, 0x26, 0x40);
	join_now();
	expect_whys(2, JOIN_NO_MQD);
	assert_int_equal(base_of(2), 0x4000);
}

// What one side does not know fits anything, and so proves nothing where there are two.
static void unknown_keys(void **state)
{
	(void)state;
	sysfs(0, 0, KFD_QUEUE_TYPE_UNKNOWN, KFD_UNKNOWN, KFD_UNKNOWN); // its files vanished
	sysfs(1, 0xa1f4, 0, 4096, KFD_UNKNOWN);
	compute(0xa1f4, MIB, 0x2000);
	compute(0xa1f4, KIB4, 0x1000);
	join_now();
	expect(0, 0, JOIN_AMBIGUOUS);
	assert_int_equal(base_of(1), 0);
}

static void kernel_queues_are_not_users(void **state)
{
	(void)state;
	sysfs(0, 0xa1f4, 0, 1 << 20, 100);
	add_text("  DIQ on device a1f4\n    00000000: c0310800\n"
		 "  Weird: Queue node with neither kernel nor user queue\n");
	compute(0xa1f4, MIB, 0x2000);
	join_now();
	expect(0, 0x2000, JOIN_ORDER);
}

// An MQD whose size was not read fits both queues: it proves neither.
static void one_mqd_for_two(void **state)
{
	(void)state;
	sysfs(0, 0xa1f4, 0, 4096, KFD_UNKNOWN);
	sysfs(1, 0xa1f4, 0, 1 << 20, KFD_UNKNOWN);
	add_text("  Compute queue on device a1f4\n");
	zeros(0, 0x200);
	line(0x200, 8, (uint32_t[]){0x1000, 0, 1, 0, 0x40005301, 1, 7, 0x111});
	join_now();
	expect_counts(2, 0);
}

// Two contexts and one block: whose it is, order does not tell.
static void one_block_for_two(void **state)
{
	(void)state;
	sysfs(0, 0xa1f4, 0, 1 << 20, 100);
	context(1, 500, 0x8001);
	sysfs(0, 0xa1f4, 0, 1 << 20, 510);
	compute(0xa1f4, MIB, 0x2000);
	compute(0xa1f4, MIB, 0x1000);
	join_now();
	expect_whys(2, JOIN_AMBIGUOUS);
}

// --- contexts: a block for each, newest first, the primary one last ---

static void block(void)
{
	add_text("Process 41207 PASID 41207:\n");
}

// A compute queue that the runlist can name.
static void compute_at(uint32_t base, uint32_t doorbell)
{
	put_compute(0xa1f4, MIB, base, 1, doorbell);
}

// n blocks with a queue each: MQDs 0x1000, 0x2000 ..., doorbells 0x4008, 0x5008 ...
static void block_each(unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		block();
		compute_at(0x1000 + 0x1000 * i, 0x4008 + 0x1000 * i);
	}
}

// The runlist: MAP_PROCESS of gfx9 with one MAP_QUEUES each [debugfs.rls-packets], unused words 0.
static void runlist(size_t n, const uint32_t (*pasid_doorbell)[2])
{
	char text[4096] = "Node 1, gpu_id a1f4:\n";
	size_t words = 0;
	for (size_t i = 0; i < n; i++)
		for (unsigned w = 0; w < 16 + 7; w++) {
			uint32_t v = w == 0    ? 0xc00ea100
				     : w == 1  ? pasid_doorbell[i][0]
				     : w == 16 ? 0xc005a200
				     : w == 18 ? pasid_doorbell[i][1]
					       : 0;
			char *p = text + strlen(text);
			if (words++ % 8 == 0)
				p += sprintf(p, "%s  %08zx:", words > 1 ? "\n" : "",
					     4 * (words - 1));
			sprintf(p, " %08x", v);
		}
	strcat(text, "\n");
	rls_parse(&f->rls, text, strlen(text));
	assert_int_equal(f->rls.nprocesses, n);
}

// Two contexts and the primary one, alike in all but their order.
static void contexts_alike(uint64_t created0, uint64_t created1)
{
	sysfs(0, 0xa1f4, 0, 1 << 20, 100);
	context(0, created0, 0x8001);
	sysfs(0, 0xa1f4, 0, 1 << 20, created0 + 10);
	context(1, created1, 0x8002);
	sysfs(0, 0xa1f4, 0, 1 << 20, created1 + 10);
	*f->text = '\0';
}

static void contexts_by_order(void **state)
{
	(void)state;
	contexts_alike(200, 300);
	block_each(3);
	join_now();
	expect_bases(0x3000, 0x2000, 0x1000); // the primary one is printed last
	expect_whys(3, JOIN_ORDER);
}

// One secondary context cannot be mistaken, whatever is known of its creation.
static void one_context_needs_no_order(void **state)
{
	(void)state;
	sysfs(0, 0xa1f4, 0, 1 << 20, KFD_UNKNOWN);
	context(3, KFD_UNKNOWN, KFD_UNKNOWN);
	sysfs(0, 0xa1f4, 0, 1 << 20, KFD_UNKNOWN);
	*f->text = '\0';
	block_each(2);
	join_now();
	assert_int_equal(base_of(0), 0x2000);
	assert_int_equal(base_of(1), 0x1000);
}

// Context 0 was given out again after 1 came, or two threads raced: PASIDs must say.
static void recycled_ids_need_pasids(void **state)
{
	(void)state;
	contexts_alike(500, 300);
	block_each(3);
	join_now();
	expect_whys(3, JOIN_AMBIGUOUS);
	expect_counts(3, 3);
	assert_int_equal(f->join.queues[0].likely, 2);
	assert_int_equal(f->join.queues[1].likely, 0); // the newer one
	assert_int_equal(f->join.queues[2].likely, 1);
	// One is enough: the primary one is last, the other what is left.
	runlist(1, (const uint32_t[][2]){{0x8001, 0x4008}});
	join_now();
	expect_bases(0x3000, 0x1000, 0x2000);
	// The other one of the two races.
	runlist(2, (const uint32_t[][2]){{0x8002, 0x4008}, {0x8001, 0x5008}});
	join_now();
	expect_bases(0x3000, 0x2000, 0x1000);
	// A packet has the low 16 bits of a PASID.
	for (size_t i = 0; i < f->procs.nusages; i++)
		f->usages[i].pasid |= 0x10000;
	join_now();
	assert_int_equal(base_of(1), 0x2000);
	assert_int_equal(base_of(2), 0x1000);
}

// The low 16 bits of PASID 65536 are 0: a queue that no runlist names has no PASID, not this one.
static void no_pasid_is_not_0(void **state)
{
	(void)state;
	contexts_alike(200, 300);
	f->usages[0].pasid = 0x10000;
	block_each(3);
	for (unsigned i = 0; i < 2; i++) {
		join_now();
		expect_bases(0x3000, 0x2000, 0x1000);
		expect_whys(3, JOIN_ORDER);
		if (!i)
			runlist(1, (const uint32_t[][2]){{0x8002, 0x9008}});
	}
}

// PASIDs against the order: something came or went, nothing is certain.
static void pasids_contradict(void **state)
{
	(void)state;
	contexts_alike(200, 300);
	block_each(3);
	runlist(1, (const uint32_t[][2]){{0x8001, 0x4008}});
	join_now();
	expect_whys(3, JOIN_AMBIGUOUS);
}

// A context without queues has its block, too.
static void empty_contexts_count(void **state)
{
	(void)state;
	sysfs(0, 0xa1f4, 0, 1 << 20, 100);
	context(0, 200, KFD_UNKNOWN);
	context(1, 300, KFD_UNKNOWN);
	sysfs(0, 0xa1f4, 0, 1 << 20, 310);
	*f->text = '\0';
	block();
	compute_at(0x1000, 0x4008);
	block();
	block();
	compute_at(0x3000, 0x6008);
	join_now();
	assert_int_equal(base_of(0), 0x3000);
	assert_int_equal(base_of(1), 0x1000);
}

// A block is missing, or does not agree with its context: all that it could be is kept.
static void blocks_that_do_not_fit(void **state)
{
	(void)state;
	contexts_alike(200, 300);
	block();
	compute_at(0x1000, 0x4008);
	compute_at(0x2000, 0x5008);
	block();
	compute_at(0x3000, 0x6008);
	join_now();
	expect_whys(3, JOIN_AMBIGUOUS);
	*f->text = '\0';
	block();
	block();
	compute_at(0x1000, 0x4008);
	compute_at(0x2000, 0x5008);
	block();
	compute_at(0x3000, 0x6008);
	join_now();
	expect_whys(3, JOIN_AMBIGUOUS);
	expect_counts(3, 3);
}

// Contexts came or went between the two reads.
static void changed_contexts_prove_nothing(void **state)
{
	(void)state;
	contexts_alike(200, 300);
	f->proc.changed = true;
	block_each(3);
	join_now();
	expect_whys(3, JOIN_AMBIGUOUS);
}

static void no_such_process(void **state)
{
	(void)state;
	sysfs(0, 0xa1f4, 0, 1 << 20, 100);
	f->proc.pid = 7;
	compute(0xa1f4, MIB, 0x2000);
	join_now();
	assert_int_equal(why(0), JOIN_NO_PROC);
	assert_int_equal(f->join.queues[0].count, 0);
	for (int i = 0; i < JOIN_WHYS; i++)
		assert_true(strlen(join_why_text((enum join_why)i)) > 10);
}

// Values on which all candidates agree are known although the match is not.
static void candidates_agree(void **state)
{
	(void)state;
	struct mqd_summary a, b;

	sysfs(0, 0xa1f4, 0, 1 << 20, KFD_UNKNOWN);
	sysfs(1, 0xa1f4, 0, 1 << 20, KFD_UNKNOWN);
	compute(0xa1f4, MIB, 0x2000);
	compute(0xa1f4, MIB, 0x1000);
	join_now();
	mqd_summarize(&a, &f->mqds, &f->mqds.queues[0], GFX9, 1);
	mqd_summarize(&b, &f->mqds, &f->mqds.queues[1], GFX9, 1);
	mqd_summary_agree(&a, &b);
	assert_int_equal(a.v[MQD_V_BASE], MQD_UNKNOWN);
	assert_int_equal(a.v[MQD_D_ON_HW], 1);
	assert_int_equal(a.v[MQD_V_QUEUE_PRIO], 7);
	assert_int_equal(a.v[MQD_D_XCCS], 1);
	assert_int_equal(a.v[MQD_D_BACKLOG], MQD_UNKNOWN); // on hardware: pointers are stale
}

int main(void)
{
#define TEST(t) cmocka_unit_test_setup_teardown(t, setup, teardown)
	const struct CMUnitTest tests[] = {TEST(only_one_of_its_kind),
					   TEST(creation_order_proves),
					   TEST(counts_differ),
					   TEST(fewer_mqds_than_queues),
					   TEST(order_contradicted),
					   TEST(other_gpu_or_type_is_no_match),
					   TEST(unknown_keys),
					   TEST(kernel_queues_are_not_users),
					   TEST(no_such_process),
					   TEST(one_mqd_for_two),
					   TEST(one_block_for_two),
					   TEST(contexts_by_order),
					   TEST(one_context_needs_no_order),
					   TEST(recycled_ids_need_pasids),
					   TEST(no_pasid_is_not_0),
					   TEST(pasids_contradict),
					   TEST(empty_contexts_count),
					   TEST(blocks_that_do_not_fit),
					   TEST(changed_contexts_prove_nothing),
					   TEST(candidates_agree)};

	return cmocka_run_group_tests_name("join", tests, NULL, NULL);
}
