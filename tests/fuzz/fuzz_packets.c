// libFuzzer target: packets, rings and signals (common/aql). The input is a ring's description and
// the memory of its process, which changes when it is read.
#include "common/aql/ring.h"
#include "tests/fuzz/require.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
	const uint8_t *data;
	size_t size;
	unsigned reads;
};

// Addresses wrap around; each third read shows the bytes one further.
static bool read_input(void *arg, uint64_t address, void *to, size_t size)
{
	struct input *in = arg;
	const unsigned shift = ++in->reads % 3 == 0;
	if (!in->size || address % 61 == 60)
		return false;
	for (size_t i = 0; i < size; i++)
		((uint8_t *)to)[i] = in->data[(address + i + shift) % in->size];
	return true;
}

static void check(const struct ring_look *l, uint64_t around)
{
	require(l->n <= 2 * around + 1 && (!l->problem || !l->n));
	for (size_t i = 0; i < l->n; i++) {
		const struct packet *p = &l->v[i].packet;
		require(p->ndeps <= PACKET_DEPS && ring_state_word(l->v[i].state));
		require((l->v[i].state == RING_LOST || l->v[i].state == RING_OVERWRITTEN) ==
			!p->type);
		require(packet_compare_text(p->compare) != NULL);
		require(!i || l->v[i].index > l->v[i - 1].index);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum { AROUND = 40 };
	struct {
		uint64_t base, read_at, write_at;
		uint8_t kind, power, copy, unused[5];
	} head;
	if (size < sizeof(head))
		return 0;
	memcpy(&head, data, sizeof(head));
	struct input in = {data + sizeof(head), size - sizeof(head), 0};
	const struct memory m = {.fd = -1, .read = read_input, .arg = &in};
	const struct ring r = {.kind = (enum ring_kind)(head.kind % 4),
			       .base = head.base,
			       .bytes = UINT64_C(1) << head.power % 64,
			       .read_at = head.read_at,
			       .write_at = head.write_at,
			       .copy_dwords = head.copy % 16};
	struct ring_look l;
	ring_look(&r, &m, AROUND, AROUND, &l);
	check(&l, AROUND);
	ring_look_fini(&l);
	return 0;
}
