// libFuzzer target: save areas (common/waves). The input says which GPU, then is the area; what
// lies behind it is made of it.
#include "common/waves/area.h"
#include "tests/fuzz/require.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define AT UINT64_C(0x7f0000000000)

struct input {
	const uint8_t *data;
	size_t size, bytes, most; // bytes that were read
	bool holes;
};

static bool read_input(void *arg, uint64_t address, void *to, size_t size)
{
	struct input *in = arg;
	const uint64_t at = address - AT;
	in->bytes += size;
	require(in->bytes <= in->most);
	require(address >= AT && at <= UINT32_MAX && size <= UINT32_MAX); // none that wrapped
	if (in->holes && address % 61 == 60)
		return false;
	for (size_t i = 0; i < size; i++)
		((uint8_t *)to)[i] = in->data[(at + i) % in->size];
	return true;
}

// The wave's record lies in the area, and its parts in the record.
static void check_wave(const struct waves_area *a, const struct wave_saved *s)
{
	const struct wave w = wave_decode(a, s);
	require(w.lanes == 32 || w.lanes == 64);
	require(w.vgprs && w.vgprs <= 512 && w.acc <= 512 && w.sgprs <= 128 && w.shared <= 120);
	require(w.vgprs_at > a->address && s->end - a->address <= a->size);
	require(w.acc_at == w.vgprs_at + (uint64_t)w.vgprs * w.lanes * 4);
	require(w.sgprs_at >= w.acc_at + (uint64_t)w.acc * w.lanes * 4 && w.sgprs_at < s->end);
	require(!w.lds_at || (w.first && w.lds && w.lds_at + w.lds <= s->end));
	require(!w.why || w.stopped);
	require(w.trap < 16 && (w.stopped || !w.trap));
	require(w.placed || !w.packet);
	(void)wave_at(a->gpu, s->hwreg[1]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint32_t versions[] = {90000, 90008,  90010,  90402,
					    90500, 100300, 110000, 120000};
	struct {
		uint8_t gpu, abi, setup, holes;
		uint32_t size;
	} head;
	if (size < sizeof(head) + 16)
		return 0;
	memcpy(&head, data, sizeof(head));
	struct input in = {.data = data + sizeof(head),
			   .size = size - sizeof(head),
			   .most = 16 + WAVES_STACK_MOST + WAVES_STACK_MOST / 4 * 128,
			   .holes = head.holes & 1};
	const struct memory m = {.fd = -1, .read = read_input, .arg = &in};
	const struct waves_area a = {.gpu = waves_gpu_of(versions[head.gpu % COUNT(versions)]),
				     .address = AT,
				     .size = head.size,
				     .abi = 8 + head.abi % 4,
				     .ttmp_setup = head.setup & 1};
	SCOPED(waves_saved_fini) struct waves_saved s = {0};
	const char *wrong = waves_read(&s, &a, &m);
	require(!wrong || !s.n);
	for (size_t i = 0; i < s.n; i++) {
		require(!i || s.v[i].end < s.v[i - 1].end);
		check_wave(&a, &s.v[i]);
	}
	return 0;
}
