// gpq snapshot --compare DIR...: the queue-id experiment over repeated runs.
#include "cmd/snapshot/run_tables.h"
#include "cmd/snapshot/snapshot.h"

#include "common/host/xalloc.h"
#include "common/state/run_compare.h"

#include <stdlib.h>

static const char *const titles[RUN_TABLES] = {"Processes, run by run", "Programs over all runs",
					       "Programs side by side",
					       "How to find their queues again"};

static int print_all(struct cmd *c, const struct run_compare *r)
{
	const struct snapshot_opts *opt = c->opts;
	// -o names columns of one table: of the runs when no other was asked for.
	const int only =
		(c->out.columns || c->out.all) && opt->table < 0 ? RUN_PROCESSES : opt->table;
	struct out *o = out_open(&c->out);
	int status = GPQ_OK;
	for (int i = 0; i < RUN_TABLES && !status; i++) {
		if (only >= 0 && i != only)
			continue;
		if (only < 0)
			out_title(o, "%s", titles[i]);
		status = run_compare_print(o, r, i);
	}
	return out_finish(o, status);
}

static void explain(const struct run_compare *r)
{
	bool repeated = false;
	for (size_t i = 0; i < r->nprograms; i++)
		repeated |= r->programs[i].seen > 1;
	if (r->nprograms && !repeated)
		err_warn("--by comm compares programs by name alone",
			 "no program is in two of the %u runs", r->runs);
}

int snapshot_compare(struct cmd *c)
{
	const struct snapshot_opts *opt = c->opts;
	const unsigned n = (unsigned)c->argc;
	struct run_compare r;
	if (n < 2)
		return err_fail(GPQ_USAGE, "gpq snapshot --compare RUN1 RUN2 ...",
				"--compare takes a snapshot of each of two runs or more");
	struct host_state *runs = xcalloc(n, sizeof(*runs));
	int status = GPQ_OK;
	for (unsigned i = 0; i < n && !status; i++)
		status = host_state_load(&runs[i], c->argv[i]);
	if (!status) {
		run_compare_compare(&r, runs, n, (enum run_compare_by)opt->by);
		explain(&r);
		status = print_all(c, &r);
		run_compare_fini(&r);
	}
	for (unsigned i = 0; i < n; i++)
		host_state_fini(&runs[i]);
	free(runs);
	return status;
}
