// Block results in a summary: what was counted, not looked at one by one (see block.h).
#include "common/amdlog/model/summary_priv.h"

void amdlog_summary_add_stream(struct amdlog_summary *s, const struct amdlog_scan *scan,
			       const struct block_item *item)
{
	stream_set(summary_thread(s, scan, item->r.thread), &item->stream);
}

void amdlog_summary_add_times(struct amdlog_summary *s, uint64_t first_us, uint64_t last_us)
{
	if (first_us == AMDLOG_UNKNOWN)
		return;
	s->totals.steps_back += first_us < s->last_us;
	s->first_us = s->first_us == AMDLOG_UNKNOWN ? first_us : s->first_us;
	s->last_us = last_us;
}

void amdlog_summary_add_sums(struct amdlog_summary *s, const struct amdlog_scan *scan,
			     const struct block_result *b)
{
	for (unsigned kind = 0; kind < AMDLOG_NKINDS; kind++) {
		for (unsigned level = 0; level < 10; level++) {
			s->totals.kinds[kind] += b->counts[block_counter(kind, level)];
			s->totals.levels[level] += b->counts[block_counter(kind, level)];
		}
	}
	s->totals.steps_back += b->steps_back;
	for (unsigned i = 0; i < AMDLOG_NSTYLES; i++)
		s->totals.styles[i] += b->styles[i];
	for (uint32_t i = 0; i < b->nsums; i++) {
		const struct block_sum *sum = &b->sums[i];
		uint32_t records = (uint32_t)sum->counted;
		struct amdlog_thread *t;

		if (!records)
			continue;
		t = summary_thread(s, scan, sum->number);
		s->totals.records += records;
		s->totals.styles[sum->style] += records;
		t->records += records;
		t->api_calls += sum->counted >> 32;
		span_add(&t->span, sum->first_us);
		span_add(&t->span, sum->last_us);
	}
}
