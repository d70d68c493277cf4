// Summaries of digests: what was counted, not looked at one by one (see digest.h and summary.h).
#include "common/amdlog/summary_priv.h"

void amdlog_summary_add_stream(struct amdlog_summary *s, const struct amdlog_scan *scan,
			       const struct digest_item *item)
{
	struct amdlog_thread *t = summary_thread(s, scan, item->r.who);

	if (t)
		stream_set(t, &item->stream);
}

void amdlog_summary_add_times(struct amdlog_summary *s, uint64_t first_us, uint64_t last_us)
{
	if (first_us == AMDLOG_UNKNOWN)
		return;
	s->totals.steps_back += first_us < s->last_us;
	s->first_us = s->first_us == AMDLOG_UNKNOWN ? first_us : s->first_us;
	s->last_us = last_us;
}

static void add_kinds(struct amdlog_totals *sum, const struct digest *d)
{
	for (unsigned kind = 0; kind < AMDLOG_NKINDS; kind++) {
		for (unsigned level = 0; level < 10; level++) {
			sum->kinds[kind] += d->counts[digest_counter(kind, level)];
			sum->levels[level] += d->counts[digest_counter(kind, level)];
		}
	}
}

void amdlog_summary_add_sums(struct amdlog_summary *s, const struct amdlog_scan *scan,
			     const struct digest *d)
{
	add_kinds(&s->totals, d);
	s->totals.steps_back += d->steps_back;
	for (uint32_t i = 0; i < d->nsums; i++) {
		const struct digest_sum *sum = &d->sums[i];
		uint32_t records = (uint32_t)sum->counted;
		struct amdlog_thread *t = summary_thread(s, scan, sum->form->who);

		if (!records)
			continue;
		if (!t)
			return;
		s->totals.records += records;
		s->totals.styles[sum->form->style] += records;
		t->records += records;
		t->api_calls += sum->counted >> 32;
		span_add(&t->span, sum->first_us);
		span_add(&t->span, sum->last_us);
	}
}
