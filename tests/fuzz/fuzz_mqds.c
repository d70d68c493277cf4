// libFuzzer target: debugfs mqds (common/debugfs/mqds.c, dump.c, mqd_value.c).
//
// Beside not crashing: the fast way through lines of the kernel's own shape and the slow way
// through any others give the same words. A blank more before each line forces the slow one.
#include "common/debugfs/mqd_value.h"
#include "tests/fuzz/indent.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_shape(const struct mqds *m)
{
	uint32_t queues = 0;
	for (size_t i = 0; i < m->nprocs; i++) {
		require(m->procs[i].first == queues);
		queues += m->procs[i].queues;
	}
	require(queues == m->nqueues);
	for (size_t i = 0; i < m->nqueues; i++)
		require(m->queues[i].proc < m->nprocs &&
			m->queues[i].dump + m->queues[i].dumps <= m->ndumps);
}

static void compare(const struct mqds *a, const struct mqds *b)
{
	require(a->nprocs == b->nprocs && a->nqueues == b->nqueues && a->ndumps == b->ndumps &&
		a->count.lines == b->count.lines && a->count.foreign == b->count.foreign &&
		a->bad_words == b->bad_words && a->cut == b->cut && a->lost_lines == b->lost_lines);
	for (size_t i = 0; i < a->nqueues; i++)
		for (unsigned x = 0; x < a->queues[i].dumps; x++)
			for (unsigned dw = 0; dw < 1100; dw++) {
				uint32_t v = 0, w = 0;
				bool have = mqd_word(a, &a->queues[i], x, dw, &v);
				require(have == mqd_word(b, &b->queues[i], x, dw, &w) &&
					(!have || v == w));
			}
}

static void summarize(const struct mqds *m)
{
	struct mqd_summary s;
	for (size_t i = 0; i < m->nqueues; i++) {
		const struct mqd *q = &m->queues[i];
		require((unsigned)mqd_guess_gen(m, q) < GFX_GENS);
		for (int gen = 0; gen < GFX_GENS; gen++)
			for (int on = 0; on < 3; on++)
				mqd_summarize(&s, m, q, (enum gfx_gen)gen, on);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mqds fast, slow;
	size_t len;
	char *text = malloc(size + 1),
	     *moved; // of exactly its size, so that a step too far is seen
	require(text != NULL);
	if (size)
		memcpy(text, data, size);
	moved = indent(text, size, &len);
	fast = (struct mqds){0};
	slow = (struct mqds){0};
	mqds_parse(&fast, text, size);
	mqds_parse(&slow, moved, len);
	check_shape(&fast);
	compare(&fast, &slow);
	summarize(&fast);
	mqds_fini(&fast);
	mqds_fini(&slow);
	free(text);
	free(moved);
	return 0;
}
