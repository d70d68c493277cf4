// libFuzzer target: text of kernel traces (common/ftrace).
#include "common/ftrace/ftrace.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool ok)
{
	if (!ok)
		__builtin_trap();
}

static void within(struct ftrace_text t, const char *text, size_t size)
{
	require(!t.len || (t.at >= text && t.at + t.len <= text + size));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ftrace f = {0};
	char *text = malloc(size ? size : 1); // no byte beyond the end
	int64_t n;
	require(text != NULL);
	if (size)
		memcpy(text, data, size);
	ftrace_read(&f, text, size);
	require(f.odd + f.n == f.lines);
	for (size_t i = 0; i < f.n; i++) {
		const struct ftrace_record *r = &f.v[i], *before = i ? r - 1 : r;
		within(r->comm, text, size);
		within(r->name, text, size);
		within(r->args, text, size);
		require(r->kind < FTRACE_NKINDS && r->epoch >= before->epoch);
		require(r->epoch != before->epoch || r->time_ns >= before->time_ns);
		require(r->inside_ns == FTRACE_UNKNOWN ||
			(r->kind == FTRACE_RETURN && r->inside_ns <= r->time_ns));
		require(!r->joined || r->kind == FTRACE_ENTRY);
		(void)ftrace_arg(r, "ret", &n);
	}
	ftrace_fini(&f);
	free(text);
	return 0;
}
