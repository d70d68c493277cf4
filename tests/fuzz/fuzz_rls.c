// libFuzzer target: debugfs rls (common/debugfs/rls.c).
#include "common/debugfs/rls.h"
#include "tests/fuzz/require.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rls r;
	uint32_t processes = 0, queues = 0;
	char *text = malloc(size + 1);
	require(text != NULL);
	if (size)
		memcpy(text, data, size);
	r = (struct rls){0};
	rls_parse(&r, text, size);
	for (size_t i = 0; i < r.nnodes; i++) {
		const struct rls_node *n = &r.nodes[i];
		require(n->process == processes && n->queue == queues);
		processes += n->processes;
		queues += n->queues;
		require(rls_find(&r, n->gpu_id) != NULL);
		(void)rls_maps(&r, n, 0x4000);
	}
	require(processes == r.nprocesses && queues == r.nqueues);
	rls_fini(&r);
	free(text);
	return 0;
}
