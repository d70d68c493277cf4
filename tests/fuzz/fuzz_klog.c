// libFuzzer target: the kernel's log (common/why/klog.c).
//
// No more lines are parsed than the log has. The text of a parsed line lies within the parser's
// copy of the log; klog_last(), asked for what that line tells of GPU, process and time, returns it
// or a later one, but for lost queues that a reset may have dealt with.
#include "common/why/klog.h"
#include "tests/fuzz/require.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct klog k;
	bool reset = false;
	klog_parse(&k, (const char *)data, size);
	require(k.n <= k.lines && k.lines <= size);
	for (size_t i = 0; i < k.n; i++) {
		const struct klog_line *l = &k.v[i];
		const struct klog_whose whose = {l->bdf, l->pid, l->pasid, l->us, true};
		require(l->text >= k.text.data &&
			l->text + strlen(l->text) < k.text.data + k.text.len);
		require(!*l->bdf || strlen(l->bdf) == 12);
		require(l->pid >= 0 && l->pid <= INT32_MAX && l->pasid <= UINT32_MAX);
		require(klog_word(l->kind) && ((reset && l->kind == KLOG_LOST) ||
					       klog_last(&k, &whose, l->kind) >= l));
		reset |= l->kind == KLOG_RESET;
	}
	klog_fini(&k);
	return 0;
}
