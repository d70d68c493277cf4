// libFuzzer target: the driver's event text (common/kfd/smi.c), in pieces as reads give it.
//
// The first byte is the size of the pieces. What is understood is written again by the driver's
// format and read as the same; all texts lie in what was fed.
#include "common/kfd/smi.h"
#include "common/kfd/topology.h"
#include "tests/fuzz/require.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct kfd_smi_text text;

// Numbers may have leading zeros, so it is values that are compared.
static void check_again(const struct kfd_smi_event *e)
{
	struct kfd_smi_event again;
	char line[256];
	int n = 0;
	if (e->number == 9)
		n = snprintf(line, sizeof(line), "9 %" PRIu64 " -%" PRIu64 " %" PRIx64 " %" PRIu64,
			     e->boot_ns, e->pid, e->gpu_id, e->trigger);
	else if (e->number == 6 && e->error != INT64_MIN)
		n = snprintf(line, sizeof(line),
			     "6 %" PRIu64 " -%" PRIu64 " @%" PRIx64 "(%" PRIx64 ") %" PRIx64
			     "->%" PRIx64 " %" PRIu64 " %" PRId64,
			     e->boot_ns, e->pid, e->page, e->pages, e->from, e->to, e->trigger,
			     e->error);
	if (!n)
		return;
	kfd_smi_parse(&again, line, (size_t)n);
	require(again.readable && again.boot_ns == e->boot_ns && again.pid == e->pid);
	require(again.gpu_id == e->gpu_id && again.trigger == e->trigger);
	require(again.page == e->page && again.pages == e->pages && again.error == e->error);
	require(again.from == e->from && again.to == e->to);
}

static void on_message(void *arg, const struct kfd_smi_event *e)
{
	unsigned *messages = arg;
	const char *trigger = kfd_smi_trigger(e);
	++*messages;
	require(e->text >= text.data && e->text + e->text_len <= text.data + sizeof(text.data));
	require(!trigger || (e->readable && e->trigger < 6));
	require(!e->readable || (e->name && e->number >= 1 && e->number <= 13));
	require(e->readable || (e->pid == KFD_UNKNOWN && e->tid == KFD_UNKNOWN &&
				e->boot_ns == KFD_UNKNOWN && !e->mark));
	if (e->readable)
		check_again(e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const size_t piece = size ? data[0] * 32u + 1 : 1;
	unsigned messages = 0, lines = 0;
	text.len = 0;
	for (size_t at = 1; at < size;) {
		size_t n = size - at < piece ? size - at : piece;
		memcpy(text.data + text.len, data + at, n);
		for (size_t i = 0; i < n; i++)
			lines += data[at + i] == '\n';
		text.len += n;
		kfd_smi_take(&text, on_message, &messages);
		require(text.len <= sizeof(text.data) - KFD_SMI_FIFO);
		at += n;
	}
	// A line for each newline; without any, one for each 512 bytes.
	require(messages >= lines && messages <= lines + size / 512);
	return 0;
}
