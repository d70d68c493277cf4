// How fast the parsers of debugfs go through a dump: GB/s, best of five rounds of 0.2 s.
#include "common/debugfs/hqds.h"
#include "common/debugfs/mqd_value.h"
#include "common/debugfs/rls.h"
#include "common/host/std.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static struct mqds mqds;
static struct hqds hqds;
static struct rls rls;

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void parse_mqds(const struct buf *b)
{
	mqds_parse(&mqds, b->data, b->len);
}

static void decode_mqds(const struct buf *b)
{
	struct mqd_summary s;
	parse_mqds(b);
	for (size_t i = 0; i < mqds.nqueues; i++)
		mqd_summarize(&s, &mqds, &mqds.queues[i], GFX9, 1);
}

static void parse_hqds(const struct buf *b)
{
	hqds_parse(&hqds, b->data, b->len);
}

static void parse_rls(const struct buf *b)
{
	rls_parse(&rls, b->data, b->len);
}

static void bench(const char *what, void (*run)(const struct buf *), const struct buf *b)
{
	double best = 0;
	for (int round = 0; round < 5; round++) {
		double start = now(), end = start;
		size_t n = 0;
		for (; end - start < 0.2; n++, end = now())
			run(b);
		double rate = (double)n * (double)b->len / (end - start) / 1e9;
		best = rate > best ? rate : best;
	}
	printf("%-52s %5.2f GB/s\n", what, best);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *kind, *what;
		void (*run)(const struct buf *);
	} all[] = {{"mqds", "parsing mqds", parse_mqds},
		   {"mqds", "parsing mqds and decoding every queue", decode_mqds},
		   {"hqds", "parsing hqds", parse_hqds},
		   {"rls", "parsing rls", parse_rls}};
	struct buf b = {0};
	if (argc != 3 || buf_read_at(&b, AT_FDCWD, argv[2]) < 0) {
		perror(argc == 3 ? argv[2] : "usage: bench-dumps mqds|hqds|rls FILE");
		return 1;
	}
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (strcmp(argv[1], all[i].kind) == 0)
			bench(all[i].what, all[i].run, &b);
	mqds_fini(&mqds);
	hqds_fini(&hqds);
	rls_fini(&rls);
	buf_fini(&b);
	return 0;
}
