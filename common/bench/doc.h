// A document written twice at once: as Markdown and as one self-contained HTML page. Plots are in
// the page only; everything that is said, is said in both.
#ifndef GPQ_BENCH_DOC_H
#define GPQ_BENCH_DOC_H

#include "common/host/buf.h"

struct doc {
	struct buf md, html; // owned
	unsigned column;     // of the row being written
	unsigned columns;    // of the table
};

void doc_init(struct doc *d, const char *title);
void doc_heading(struct doc *d, const char *text);
void doc_say(struct doc *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void doc_warn(struct doc *d, const char *text); // stands out

// Headings separated by '|'.
void doc_table(struct doc *d, const char *headings);
void doc_cell(struct doc *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void doc_row_end(struct doc *d);
void doc_table_end(struct doc *d);

struct buf *doc_svg(struct doc *d); // where a plot goes
void doc_end(struct doc *d);
void doc_fini(struct doc *d);

#endif
