// Reports of gpq bench: a document written twice at once, as Markdown and as one self-contained
// HTML page. Text and tables are the same in both; plots are in the page only.
#ifndef GPQ_BENCH_REPORT_H
#define GPQ_BENCH_REPORT_H

#include "common/bench/load.h"
#include "common/bench/plot.h"
#include "common/bench/require.h"
#include "common/host/buf.h"

struct doc {
	struct buf md, html; // owned
	unsigned columns;    // of the table being written; 0: none is
	unsigned column;     // of its row
};

void doc_init(struct doc *d, const char *title);
void doc_heading(struct doc *d, unsigned level, const char *text); // 2: a run, 3: a part of it
void doc_say(struct doc *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void doc_warn(struct doc *d, const char *text);                        // stands out
void doc_verdict(struct doc *d, const char *result, const char *text); // "ok", "failed", "unknown"

// A table: headings separated by '|', then its cells, row by row. It ends where something else
// begins.
void doc_table(struct doc *d, const char *headings);
void doc_cell(struct doc *d, const char *text); // "": unknown
// Several cells, separated by '|'; NaN is unknown.
void doc_cells(struct doc *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

void doc_plot(struct doc *d, struct plot *p); // closes it
// The next plot of the page, and its length; `at`: where the one before ends, or the page. NULL:
// none.
const char *doc_next_plot(const char *at, size_t *len);
void doc_end(struct doc *d);
void doc_fini(struct doc *d);

// Of several runs: what differs between their hosts, kernels, drivers and GPUs.
void report_differences(struct doc *d, const struct load *l);

// Adds a run of gpq bench preempt, or of gpq bench ab: the verdict, the plot it rests on, then
// tables, those of the context last. Times in milliseconds with three digits,
// shares in per cent with two: what a reader recomputes from the samples must round to the same.
void report_run(struct doc *d, struct load_run *run, const struct result_goals *goals,
		const struct requirements *required);
void report_ab(struct doc *d, struct load_run *run, const struct result_goals *goals,
	       const struct requirements *required);

#endif
