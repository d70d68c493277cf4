// Selection among queues, common/pick/pick_queues.c and host_choice.c: words at their limits, each
// member of a row that a word can mean, and what is said of PIDs that were not found.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/pick/host_choice.h"

#include "common/cli/err.h"

static struct buf said; // messages

static int setup(void **state)
{
	(void)state;
	said.len = 0;
	buf_puts(&said, "");
	err_gather(&said);
	return 0;
}

static void push(struct words *w, const char *text)
{
	words_push(w, text, strlen(text));
}

static void test_ids(void **state)
{
	static const struct {
		const char *word;
		int status;
		pid_t pid;
		uint32_t id;
	} cases[] = {
		{"0", 0, 0, 0},
		{"1023", 0, 0, 1023},
		{"1024", GPQ_USAGE, 0, 0},
		{"", GPQ_USAGE, 0, 0},
		{"x", GPQ_USAGE, 0, 0},
		{"1:0", 0, 1, 0},
		{"2147483647:1023", 0, INT32_MAX, 1023},
		{"2147483648:1", GPQ_USAGE, 0, 0},
		{"7:1024", GPQ_USAGE, 0, 0},
		{"0:1", GPQ_USAGE, 0, 0},
		{":1", GPQ_USAGE, 0, 0},
		{"1:", GPQ_USAGE, 0, 0},
		{"1:2:3", GPQ_USAGE, 0, 0},
		{"000000000000007:1", 0, 7, 1},
		{"0000000000000007:1", GPQ_USAGE, 0, 0},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct pick_queues_opts o = {.prio = NULL};
		struct pick_queues p;
		push(&o.ids, "3");
		push(&o.ids, cases[i].word);
		setup(NULL);
		assert_int_equal(pick_queues_init(&p, &o), cases[i].status);
		if (!cases[i].status) {
			assert_int_equal(p.n, 2);
			assert_int_equal(p.named[0].id, 3);
			assert_int_equal(p.named[1].pid, cases[i].pid);
			assert_int_equal(p.named[1].id, cases[i].id);
			pick_queues_fini(&p);
		} else {
			assert_non_null(strstr(said.data, "neither ID nor PID:ID"));
		}
		assert_null(p.named);
		words_fini(&o.ids);
	}
}

static void test_most(void **state)
{
	struct pick_queues_opts o = {.prio = NULL};
	struct pick_queues p;
	(void)state;
	for (unsigned i = 0; i < 1024; i++)
		push(&o.ids, "5");
	assert_int_equal(pick_queues_init(&p, &o), 0);
	assert_int_equal(p.n, 1024);
	pick_queues_fini(&p);
	push(&o.ids, "5");
	assert_int_equal(pick_queues_init(&p, &o), GPQ_USAGE);
	assert_non_null(strstr(said.data, "more than 1024 queues named"));
	words_fini(&o.ids);
}

static void test_types(void **state)
{
	static const struct {
		const char *word, *message; // NULL: it is one
	} cases[] = {{"compute", NULL},
		     {"sdma", NULL},
		     {"sdma-xgmi", NULL},
		     {"smda", "--type smda: no such type, did you mean sdma; it is one of"},
		     {"zzzzzzzz", "--type zzzzzzzz: no such type; it is one of"},
		     {"", "no such type"}};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct pick_queues_opts o = {.prio = NULL};
		struct pick_queues p;
		push(&o.types, "compute");
		push(&o.types, cases[i].word);
		setup(NULL);
		assert_int_equal(pick_queues_init(&p, &o), cases[i].message ? GPQ_USAGE : 0);
		assert_non_null(strstr(said.data, cases[i].message ? cases[i].message : ""));
		pick_queues_fini(&p);
		words_fini(&o.types);
	}
}

// Which of these queues -Q, --type and --prio choose: y, n, or ? where the priority is not known.
static void test_keeps(void **state)
{
	static const struct {
		int64_t pid;
		uint64_t qid;
		const char *type;
		uint64_t prio, pipe;
	} rows[] = {{40, 3, "compute", 3, 0},
		    {40, 4, "sdma", 12, 2},
		    {50, 3, "sdma-xgmi", 12, 2},
		    {50, 5, NULL, MQD_UNKNOWN, MQD_UNKNOWN}};
	static const struct {
		const char *ids, *types, *prio, *kept;
	} cases[] = {
		{NULL, NULL, NULL, "yyyy"},        {"3", NULL, NULL, "ynyn"},
		{"50:3", NULL, NULL, "nnyn"},      {"40:3", NULL, NULL, "ynnn"},
		{"60:3", NULL, NULL, "nnnn"},      {NULL, "sdma", NULL, "nynn"},
		{NULL, "sdma-xgmi", NULL, "nnyn"}, {"3", "compute", NULL, "ynnn"},
		{"4", "compute", NULL, "nnnn"},    {NULL, NULL, "12", "nyy?"},
		{NULL, NULL, "0:3", "ynn?"},       {"5", NULL, "12", "nnn?"},
		{"4", NULL, "12", "nynn"},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct pick_queues_opts o = {.prio = cases[i].prio};
		struct pick_queues p;
		char kept[8] = "";
		if (cases[i].ids)
			push(&o.ids, cases[i].ids);
		if (cases[i].types)
			push(&o.types, cases[i].types);
		assert_int_equal(pick_queues_init(&p, &o), 0);
		assert_int_equal(pick_queues_asks(&o), i > 0);
		for (unsigned k = 0; k < COUNT(rows); k++) {
			struct queue_row r;
			queue_row_clear(&r);
			r.pid = rows[k].pid;
			r.qid = rows[k].qid;
			r.type = rows[k].type;
			r.v[MQD_V_QUEUE_PRIO] = rows[k].prio;
			r.v[MQD_V_PIPE_PRIO] = rows[k].pipe;
			kept[k] = "?ny"[pick_queues_keeps(&p, &r) + 1];
		}
		assert_string_equal(kept, cases[i].kept);
		pick_queues_fini(&p);
		words_fini(&o.ids);
		words_fini(&o.types);
	}
}

static void test_select(void **state)
{
	struct kfd_gpu gpus[] = {
		{.gpu_id = 71, .selected = true}, {.gpu_id = 72}, {.gpu_id = 73, .selected = true}};
	const struct kfd_topology t = {.gpus = gpus, .n = 3};
	struct kfd_selection *sel = test_calloc(1, sizeof(*sel));
	struct pick_queues_opts o = {.prio = NULL};
	struct pick_queues p;
	(void)state;
	push(&o.ids, "40:3");
	push(&o.ids, "5");
	push(&o.ids, "50:6");
	assert_int_equal(pick_queues_init(&p, &o), 0);
	sel->num_gpus = 9;
	pick_queues_select(&p, 40, &t, sel);
	assert_int_equal(sel->num_ids, 2);
	assert_int_equal(sel->ids[0], 3);
	assert_int_equal(sel->ids[1], 5);
	assert_int_equal(sel->num_gpus, 0); // --gpu was not given
	push(&o.gpus, "71");
	pick_queues_select(&p, 60, &t, sel);
	assert_int_equal(sel->num_ids, 1);
	assert_int_equal(sel->ids[0], 5);
	assert_int_equal(sel->num_gpus, 2);
	assert_int_equal(sel->gpus[0], 71);
	assert_int_equal(sel->gpus[1], 73);
	pick_queues_fini(&p);
	words_fini(&o.ids);
	// --gpu: by the topology, or of captured text by id, decimal and hexadecimal.
	assert_true(pick_has_gpu(&t, &o.gpus, 73));
	assert_false(pick_has_gpu(&t, &o.gpus, 72));
	assert_false(pick_has_gpu(&t, &o.gpus, 74));
	assert_true(pick_has_gpu(NULL, &o.gpus, 71));
	assert_true(pick_has_gpu(NULL, &o.gpus, 0x71));
	assert_false(pick_has_gpu(NULL, &o.gpus, 73));
	push(&o.gpus, "0x20");
	assert_true(pick_has_gpu(NULL, &o.gpus, 32));
	words_fini(&o.gpus);
	assert_true(pick_has_gpu(NULL, &o.gpus, 73));
	assert_true(pick_has_gpu(&t, &o.gpus, 72));
	test_free(sel);
}

// PIDs of -p that no snapshot has: some, all, more than are named one by one.
static void test_found(void **state)
{
	static const struct {
		size_t asked, found; // PIDs 100 and up
		bool given, tree, ns_pid, queues;
		int status;
		unsigned messages;
		const char *message;
	} cases[] = {
		{0, 0, false, false, false, false, GPQ_OK, 0, ""},
		{0, 0, false, false, false, true, GPQ_NOTFOUND, 1,
		 "the options choose nothing in here; gpq queues -a shows whom they can choose"},
		{0, 1, false, false, false, true, GPQ_OK, 0, ""},
		{2, 2, true, false, false, false, GPQ_OK, 0, ""},
		{2, 1, true, false, false, false, GPQ_PARTIAL, 1,
		 "pid 101: the options choose nothing of it in here"},
		{2, 0, true, false, false, false, GPQ_NOTFOUND, 2, "pid 100: the options choose"},
		{20, 0, true, false, false, false, GPQ_NOTFOUND, 20, "pid 119: "},
		{21, 0, true, false, false, false, GPQ_NOTFOUND, 21, "so it is with 1 more PIDs"},
		{23, 1, true, false, false, false, GPQ_PARTIAL, 21, "so it is with 2 more PIDs"},
		{2, 0, true, true, false, false, GPQ_NOTFOUND, 1, "the options choose nothing in"},
		{2, 1, true, true, false, false, GPQ_OK, 0, ""},
		{2, 0, true, false, true, false, GPQ_NOTFOUND, 1, "the options choose nothing in"},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		pid_t pids[32];
		char type[] = "sdma", *types[] = {type};
		for (pid_t k = 0; k < 32; k++)
			pids[k] = 100 + k;
		const struct pick_opts o = {
			.pids = {.v = pids, .n = cases[i].asked, .given = cases[i].given},
			.tree = cases[i].tree,
			.ns_pid = cases[i].ns_pid};
		const struct pick_queues_opts q = {.types = {.v = types, .n = cases[i].queues}};
		const struct pids found = {.v = pids, .n = cases[i].found};
		setup(NULL);
		assert_int_equal(host_choice_found(&(struct host_choice){&o, &q}, &found, "here"),
				 cases[i].status);
		unsigned messages = 0;
		for (const char *s = said.data; (s = strchr(s, '\n')); s++)
			messages++;
		assert_int_equal(messages, cases[i].messages);
		assert_non_null(strstr(said.data, cases[i].message));
	}
}

static void test_reads(void **state)
{
	char word[] = "sdma", *words[] = {word};
	const struct pick_opts none = {.tree = false};
	const struct pick_queues_opts o[] = {{.prio = NULL},
					     {.prio = "low"},
					     {.gpus = {.v = words, .n = 1}},
					     {.types = {.v = words, .n = 1}},
					     {.ids = {.v = words, .n = 1}}};
	static const unsigned reads[] = {0, READ_MQD, READ_GPU | READ_BDF, READ_TYPE, 0};
	(void)state;
	for (size_t i = 0; i < COUNT(o); i++) {
		const struct host_choice by = {&none, &o[i]};
		assert_int_equal(host_choice_reads(&by), reads[i]);
		assert_int_equal(host_choice_asks(&by), i > 0);
	}
	const struct pick_opts tree = {.tree = true};
	assert_true(host_choice_asks(&(struct host_choice){&tree, &o[0]}));
}

#define TEST(f) cmocka_unit_test_setup(f, setup)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(test_ids),    TEST(test_most),  TEST(test_types), TEST(test_keeps),
		TEST(test_select), TEST(test_found), TEST(test_reads),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
