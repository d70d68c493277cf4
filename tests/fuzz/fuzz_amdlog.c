// libFuzzer target: the AMD log scanner, reassembly and summary over any bytes, fed in pieces whose
// size the input chooses. What must hold: no crash, no leak, the counts add up, and the size of the
// pieces does not matter.
#include "common/amdlog/read/reassemble.h"
#include "common/amdlog/model/summary.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct run {
	struct amdlog_summary sum;
	struct amdlog_scan *scan;
	struct amdlog_reassembly *reassembly;
	uint64_t seen;
};

static void take(void *ctx, const struct amdlog_record *r)
{
	struct run *run = ctx;
	struct amdlog_event e;
	run->seen++;
	if (r->msg < r->text || r->msg + r->msg_len > r->text + r->len)
		abort();
	amdlog_summary_add(&run->sum, run->scan, r, NULL, &e);
}

static void process(struct run *run, const uint8_t *data, size_t size, size_t piece)
{
	const struct amdlog_filter all = {.until_us = AMDLOG_UNKNOWN};
	const struct amdlog_sink own = {.ctx = run, .record = take};
	run->seen = 0;
	amdlog_summary_init(&run->sum, &all);
	run->sum.want_api = true;
	run->reassembly = amdlog_reassembly_new(&own);
	run->scan = run->reassembly->scan;
	piece = piece ? piece : size;
	for (size_t at = 0; at < size; at += piece)
		amdlog_scan_feed(run->scan, (const char *)data + at,
				 size - at < piece ? size - at : piece);
	amdlog_scan_end(run->scan);
	amdlog_reassembly_end(run->reassembly);
	amdlog_summary_finish(&run->sum);
}

static void finish(struct run *run)
{
	amdlog_reassembly_free(run->reassembly);
	amdlog_summary_fini(&run->sum);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct run whole, pieces;
	const struct amdlog_counts *a, *b;
	if (!size)
		return 0;
	process(&whole, data + 1, size - 1, 0);
	process(&pieces, data + 1, size - 1, (size_t)data[0] + 1);
	a = &whole.scan->counts;
	b = &pieces.scan->counts;
	if (memcmp(a, b, sizeof(*a)) != 0 || whole.seen != a->records || pieces.seen != a->records)
		abort();
	if (a->lines - a->foreign + a->glued != a->records || a->bytes != size - 1)
		abort();
	if (memcmp(&whole.sum.totals, &pieces.sum.totals, sizeof(whole.sum.totals)) != 0 ||
	    whole.sum.nqueues != pieces.sum.nqueues || whole.sum.nkernels != pieces.sum.nkernels)
		abort();
	finish(&whole);
	finish(&pieces);
	return 0;
}
