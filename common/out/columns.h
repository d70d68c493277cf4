// How column tables are written. COL is a column of struct ROW, which is defined before the table:
//
//	#define ROW job_row
//	static const struct out_col job_cols[] = {
//		COL(pid, "PID", "pid", I64, D, "process, as the host numbers it"),
//		COL(run_ns, "RUN", "run_ns", NS, M, "time it has run"),
//	};
//	#undef ROW
//	static const struct out_table job_table = {"jobs", "job", OUT_COLS(job_cols)};
//
// Only files that define tables include this header, as its names (D, M, W ...) are short.
#pragma once

#include "common/out/out.h"

// Defines a column. Its texts are literals; `col_type` is the name of an enum out_type without
// OUT_. The last argument is the help, which out_col.width may follow.
#define COL(member, heading, json_key, col_type, col_flags, ...) \
	{                                                        \
		.type = OUT_##col_type, .flags = (col_flags),    \
		.offset = offsetof(struct ROW, member),          \
		.name = heading "\0" json_key "\0" __VA_ARGS__   \
	}

// Short names of the most frequent flags; out.h explains them.
enum {
	D = OUT_DEFAULT,
	M = OUT_MACHINE,
	W = OUT_WIDE,
	S = OUT_STATUS,
	T = OUT_TRUNC,
	A = OUT_ARRAY,
};
