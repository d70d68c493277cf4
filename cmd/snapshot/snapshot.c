// gpq snapshot: save what a host shows, so that --sysroot replays it anywhere; --diff and --compare
// what was saved.
#include "cmd/snapshot/snapshot.h"

static const struct opt opts[] = {
	PICK_OPTS(snapshot_opts),
	PICK_QUEUES_OPTS(snapshot_opts),
	OPT(snapshot_opts, redact, "redact", 0, OPT_FLAG, "",
	    "replace names by pseudonyms:\nof programs, users, hosts and containers"),
	OPT(snapshot_opts, every, "every", 0, OPT_SEC, "SEC",
	    "a series: a snapshot, and one more this long after,\nuntil Ctrl-C (at least 10ms)"),
	OPT(snapshot_opts, duration, "for", 0, OPT_SEC, "SEC", "\nof --every: for this long"),
	OPT(snapshot_opts, count, "count", 0, OPT_U64, "N", "\nof --every: so many snapshots"),
	OPT(snapshot_opts, diff, "diff", 0, OPT_FLAG, "",
	    "two moments: what happened to queues in between;\ntwo runs: --compare"),
	OPT(snapshot_opts, all, "all", 'a', OPT_FLAG, "",
	    "\nwith --diff: also queues that did not change"),
	OPT(snapshot_opts, exit_code, "exit-code", 0, OPT_FLAG, "",
	    "\nwith --diff: exit with 1 when anything changed"),
	OPT(snapshot_opts, compare, "compare", 0, OPT_FLAG, "",
	    "many runs: do queues get the same ids and slots;\ntwo moments: --diff"),
	OPT_ONE_OF(snapshot_opts, match, "match", 0, "WHAT",
		   "\nwith --compare: what names a program:\ncmdline, comm or container",
		   "cmdline\0comm\0container"),
	{0},
};

static const struct snapshot_opts defaults = {
	.match = -1, .every = WATCH_OFF, .duration = WATCH_OFF, .count = WATCH_OFF};

#define ONLY_FOR(names, others, of) \
	RULE_EXCLUDES(names, others, "see gpq help snapshot", "--%1 is only for " of)
#define ONLY_WITH(names, other) \
	RULE_NEEDS(names, other, "see gpq help snapshot", "--%1 is only for --" other)

static const struct opt_rule rules[] = {
	ONLY_FOR("redact", "diff compare", "saving"),
	ONLY_FOR("every", "diff compare", "saving"),
	RULE_CHOOSE("diff compare"),
	RULE_EXCLUDES("every", "openmetrics", "use --ndjson", ""),
	ONLY_WITH("all exit-code", "diff"),
	ONLY_WITH("match", "compare"),
	ONLY_WITH("for count", "every"),
	RULE_RANGE("every", 10000000, UINT64_MAX, "for example --every 5s",
		   "--every: the least interval is 10ms"),
	RULE_CHOOSE("for count"),
	RULE_RANGE("count", 1, UINT64_MAX, "", "--count 0: that is no snapshot at all"),
	RULE_RANGE("for", 1, UINT64_MAX, "", "--for 0: that is no snapshot at all"),
	{0},
};

static bool is_saving(const struct snapshot_opts *o)
{
	return !o->diff && !o->compare;
}

static int check_operands(struct cmd *c)
{
	if (c->argc == 1 || !is_saving(c->opts))
		return GPQ_OK;
	return err_fail(GPQ_USAGE,
			c->argc ? "gpq snapshot --diff A B tells two apart, --compare A B runs"
				: "gpq snapshot DIR, or FILE.tar.zst, or - for a tar stream",
			c->argc ? "%s: only one name is expected" : "a name is missing",
			c->argc ? c->argv[1] : "");
}

static int run_snapshot(struct cmd *c)
{
	struct snapshot_opts *o = c->opts;
	o->match = o->match < 0 ? 0 : o->match;
	if (is_saving(o))
		return o->every == WATCH_OFF ? snapshot_one(c) : snapshot_series(c);
	return o->diff ? snapshot_diff(c) : snapshot_compare(c);
}

// --diff and --compare read saved hosts, so they need no driver.
static unsigned snapshot_needs(const struct cmd *c)
{
	return is_saving(c->opts) ? NEED_KFD : 0;
}

static const struct out_table *const *snapshot_prints(const struct cmd *c)
{
	const struct snapshot_opts *o = c->opts;
	const struct schema *s = o->diff      ? &snapshot_diff_schema
				 : o->compare ? &snapshot_compare_schema
					      : &snapshot_saved_schema;
	return s->tables;
}

const struct cmd_spec snapshot_spec = {
	.synopsis = "[--redact] DIR|FILE.tar[.gz|.zst]|-\n"
		    "--every SEC [--for SEC|--count N] [--redact] DIR\n"
		    "--diff [-a] [--exit-code] BEFORE AFTER...|SERIES\n"
		    "--compare [--match WHAT] RUN...|SERIES",
	.description =
		"Saves what the other commands read - topology, processes and queues of KFD, "
		"debugfs "
		"dumps, the parts\nof /proc, module parameters - as a tree that --sysroot replays. "
		"With --diff, tells what happened to\nthe queues between two such trees (/ is the "
		"live host); with --compare, whether programs get the same\nqueues in every run.",
	.operands = "DIR",
	.opts = opts,
	.rules = rules,
	.opts_size = sizeof(struct snapshot_opts),
	.defaults = &defaults,
	.tables = SCHEMA_TABLES(
		&snapshot_saved_table, &snapshot_diff_table, &run_compare_tables[RUN_PROCESSES],
		&run_compare_tables[RUN_PROGRAMS], &run_compare_tables[RUN_OVERLAPS],
		&run_compare_tables[RUN_STRATEGIES]),
	.schemas = SCHEMAS(&snapshot_saved_schema, &snapshot_diff_schema, &snapshot_compare_schema),
	.needs = snapshot_needs,
	.prints = snapshot_prints,
	.check = check_operands,
	.run = run_snapshot,
};
