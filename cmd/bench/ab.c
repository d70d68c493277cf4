// gpq bench ab: runs the online/offline experiment (common/bench/ab.h), prints its results.
#include "cmd/bench/bench.h"

#include "common/bench/attached.h"
#include "common/host/clock.h"
#include "common/host/loop.h"
#include "common/host/proc.h"
#include "common/reader/whose.h"
#include "common/sched/sched.h"

#include <sys/stat.h>

enum { DEFAULT_RUNS = 3, MOST_RUNS = 20, SETTING_MAX = 300 };

#define LETTERS "_ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

struct ab {
	struct bench_opts *opts;
	struct measurement m;
	bool mode[AB_MODES];
	uint64_t done, total; // number of runs
	struct load_run *to;  // where the run that is measured goes
	size_t written[AB_MOMENTS];
	char now[600];  // mode and setting of the run that is measured, for messages
	struct rng rng; // for the order of modes and settings in a round
	struct regex regex[AB_PATTERNS];
};

static void keep_moments(struct ab *b, const struct ab_run *r)
{
	if (b->m.raw.part < 0)
		return;
	ab_write_moments(&b->m.raw.line, &b->to->context, r, b->written);
	raw_file_put_part(&b->m.raw);
}

static void tick_run(void *arg, const struct ab_run *r)
{
	struct ab *b = arg;
	keep_moments(b, r);
	progress_show(&b->m.progress, (double)b->done / (double)b->total,
		      "run %" PRIu64 " of %" PRIu64 ", %s", b->done + 1, b->total, b->now);
}

static int choose_modes(const struct bench_opts *o, bool mode[AB_MODES])
{
	const struct words *w = &o->modes;
	for (size_t i = 0; i < w->n; i++) {
		bool known = false;
		for (unsigned m = 0; m < AB_MODES; m++)
			if (strcmp(w->v[i], ab_mode_name[m]) == 0)
				mode[m] = known = true;
		if (!known)
			return err_fail(GPQ_USAGE, "modes are alone, shared and preempt",
					"--modes: %s is none", w->v[i]);
	}
	for (unsigned m = 0; m < AB_MODES && !w->n; m++)
		mode[m] = true;
	return GPQ_OK;
}

// Replaces what --sweep-env gave, NAME=VALUE,..., by the settings NAME=VALUE.
static int make_settings(struct words *settings)
{
	SCOPED(words_fini) struct words given = *settings;
	const char *text = given.n ? given.v[0] : "", *at = strchr(text, '='), *wrong = NULL;
	const size_t name = strspn(text, LETTERS "0123456789");
	*settings = (struct words){0};
	if (given.n > 1)
		wrong = "is not alone: one variable is swept at a time";
	else if (given.n && (at != text + name || !strspn(text, LETTERS)))
		wrong = "is no NAME=VALUE,... of a variable";
	for (size_t len; !wrong && at && *at; at += len) {
		len = strcspn(++at, ",");
		SCOPED(free_at) char *one = xasprintf("%.*s=%.*s", (int)name, text, (int)len, at);
		for (size_t k = 0; k < settings->n; k++)
			if (strcmp(settings->v[k], one) == 0)
				wrong = "has a value twice";
		if (!len || name + len > SETTING_MAX)
			wrong = "has an empty value, or one of over 300 bytes with its name";
		words_push(settings, one, strlen(one));
	}
	return wrong ? err_fail(GPQ_USAGE, "for example --sweep-env BATCH=8,16",
				"--sweep-env: %s %s", text, wrong)
		     : GPQ_OK;
}

static int check_side(const struct bench_opts *o, enum side side)
{
	const char *name = side_name[side];
	char option[24];
	int status = GPQ_OK;
	snprintf(option, sizeof(option), "--%s", name);
	for (size_t i = 0; i < o->specs[side].n && !status; i++) {
		bool any;
		status = spec_check(option, o->specs[side].v[i], &any);
		if (!status && !any)
			status = err_fail(GPQ_USAGE, "for example container=train",
					  "%s: %s chooses no process", option, o->specs[side].v[i]);
	}
	if (!status && !o->ab.command[side] && !o->specs[side].n && !o->pids[side].given)
		return err_fail(GPQ_USAGE, NULL,
				"ab needs both sides: there is no %s work; give %s SPEC, %s-pid or "
				"%s-cmd",
				name, option, option, option);
	return status;
}

static int choose_side(struct bench_opts *o, enum side side)
{
	struct spec_set *s = &o->ab.specs;
	const char *name = side_name[side];
	char option[24];
	snprintf(option, sizeof(option), "--%s-pid", name);
	int status = spec_set_add_pids(s, side, option, &o->pids[side]);
	snprintf(option, sizeof(option), "--%s", name);
	for (size_t i = 0; i < o->specs[side].n && !status; i++)
		status = spec_set_add(s, side, option, o->specs[side].v[i]);
	if (side == SIDE_ONLINE && !o->ab.command[side])
		o->ab.hold = AB_HOLD_PROGRESS; // no command: queues or logs tell of online work
	return status;
}

static int choose_sides(struct bench_opts *o)
{
	int status = choose_side(o, SIDE_ONLINE);
	return status ? status : choose_side(o, SIDE_OFFLINE);
}

#define NO_OUTPUT  "--%1 reads what a command prints, and that side has none"
#define NO_COMMAND "--log-dir is set for commands, and one side has none"

// gpq reads the output of commands only, and sets a log directory for commands only.
const struct opt_rule bench_ab_rules[] = {
	RULE_NEEDS("metric", "online-cmd", "leave it out, or have a command", NO_OUTPUT),
	RULE_NEEDS("offline-metric offline-ready", "offline-cmd", "leave it out, or have a command",
		   NO_OUTPUT),
	RULE_NEEDS("sweep-env", "online-cmd offline-cmd", "give --online-cmd or --offline-cmd",
		   "--sweep-env is set for commands, and there is none"),
	RULE_NEEDS("log-dir", "online-cmd", "--online-log and --offline-log read logs", NO_COMMAND),
	RULE_NEEDS("log-dir", "offline-cmd", "--online-log and --offline-log read logs",
		   NO_COMMAND),
	BENCH_GRACE_RULE,
	RULE_RANGE("runs", 1, UINT64_MAX, "leave it out for 3", "--runs: 0 measures nothing"),
	RULE_EXCLUDES("log-dir", "online-log offline-log", "",
		      "--log-dir says where both logs are already"),
	{0},
};

static int compile_ab_patterns(struct ab_plan *p, struct regex regex[AB_PATTERNS])
{
	static const struct {
		const char *option;
		unsigned groups;
	} patterns[AB_PATTERNS] = {[AB_METRIC] = {"--metric", 1},
				   [AB_OFFLINE_METRIC] = {"--offline-metric", 1},
				   [AB_OFFLINE_READY] = {"--offline-ready", 0}};
	int status = GPQ_OK;
	for (unsigned i = 0; i < AB_PATTERNS && !status; i++) {
		status = regex_init_line(&regex[i], patterns[i].option, p->pattern[i],
					 patterns[i].groups);
		p->regex[i] = p->pattern[i] ? &regex[i] : NULL;
	}
	return status;
}

int bench_check_ab(struct cmd *c)
{
	struct bench_opts *o = c->opts;
	struct regex regex[AB_PATTERNS] = {0};
	bool mode[AB_MODES] = {0};
	int status = check_side(o, SIDE_ONLINE);
	status = status ? status : check_side(o, SIDE_OFFLINE);
	status = status ? status : compile_ab_patterns(&o->ab, regex);
	for (unsigned i = 0; i < AB_PATTERNS; i++)
		regex_fini(&regex[i]);
	status = status ? status : choose_modes(o, mode);
	status = status ? status : make_settings(&o->sweep_env);
	return status ? status : bench_check_limits(o, REQUIRE_AB);
}

// Makes a run for each value of --sweep-env, with a context of its own; without, there is one.
static void name_runs(struct ab *b)
{
	const struct bench_context base = b->m.run->context;
	for (size_t i = 0; i < b->opts->sweep_env.n; i++) {
		const char *setting = b->opts->sweep_env.v[i];
		struct load_run *r = i ? load_new_run(&b->m.all, true, &base) : b->m.run;
		snprintf(r->context.text[CONTEXT_setting], sizeof(base.text[0]), "%s", setting);
		snprintf(r->context.text[CONTEXT_run], sizeof(base.text[0]), "%.200s,%s",
			 base.text[CONTEXT_run], setting);
	}
}

static int prepare_ab(struct ab *b)
{
	struct bench_opts *o = b->opts;
	int status = choose_sides(o);
	status = status ? status : compile_ab_patterns(&o->ab, b->regex);
	status = status ? status : choose_modes(o, b->mode);
	if (status)
		return status;
	if (o->runs == U64_NULL)
		o->runs = o->until_shown ? MOST_RUNS : DEFAULT_RUNS;
	o->ab.grace = o->grace;
	o->ab.tick = tick_run;
	o->ab.tick_arg = b;
	bench_context_host(&b->m.run->context);
	bench_context_driver(&b->m.run->context);
	b->rng.state = bench_seed(o, &b->m.run->context);
	name_runs(b);
	if (o->ab.log_dir && mkdir(o->ab.log_dir, 0777) && errno != EEXIST)
		return err_sys(errno, NULL, "--log-dir %s", o->ab.log_dir);
	if (raw_file_open(&b->m.raw, o->raw))
		return err_sys(errno, NULL, "--samples %s", o->raw);
	if (raw_file_open_part(&b->m.raw))
		err_warn("what a run measures is written when it has ended", "%s: %s",
			 b->m.raw.part_path, strerror(errno));
	return GPQ_OK;
}

static int keep_run(struct ab *b, struct ab_run *r)
{
	int status = GPQ_OK;
	ab_write(&b->m.raw.line, &b->to->context, r);
	if (raw_file_put(&b->m.raw))
		status = err_sys(errno, "what was measured up to here follows", "--samples %s",
				 b->opts->raw);
	ab_result_add(&b->to->ab, r);
	return status;
}

static int run_mode(struct ab *b, enum ab_mode mode, uint64_t number)
{
	struct ab_run r;
	bool stopped = false;
	char why[400];
	b->to = b->m.all.run[number % b->m.all.n];
	memset(b->written, 0, sizeof(b->written));
	const int signals = bench_signals_open();
	if (b->done && b->opts->pause_ns && wait_readable(signals, clock_ns() + b->opts->pause_ns))
		stopped = true;
	close(signals);
	if (stopped) {
		err_warn("what was measured follows", "stopped before run %" PRIu64, number + 1);
		return GPQ_PARTIAL;
	}
	const char *text = b->opts->ab.setting = b->to->context.text[CONTEXT_setting];
	snprintf(b->now, sizeof(b->now), "%s%s%s", ab_mode_name[mode], *text ? ", " : "", text);
	err_note("run %" PRIu64 ", %s", number + 1, b->now);
	int failed = ab_run_mode(&b->opts->ab, mode, number, &r, &stopped, why);
	const size_t requests = r.times.starts.n;
	int status = failed ? failed : keep_run(b, &r);
	if (failed)
		keep_moments(b, &r);
	if (r.unreached)
		err_warn("gpq queues -o +CONTEXT_ID shows them",
			 "run %" PRIu64
			 ", %s: %zu offline queues of secondary contexts ran on: the "
			 "debug interface does not reach them",
			 number + 1, b->now, r.unreached);
	if (r.undue && r.undue < requests)
		err_warn("so all count as if none did",
			 "run %" PRIu64 ", %s: %zu of %zu lines do not say when a request was due",
			 number + 1, b->now, r.undue, requests);
	if (r.lost)
		err_warn("gpq did not end it",
			 "run %" PRIu64 ", %s: pid %d (%s)%s of a command lives on: it left the "
			 "command's process group",
			 number + 1, b->now, (int)r.lost_pid, r.lost_name,
			 r.lost > 1 ? " and others" : "");
	ab_run_fini(&r);
	b->done++;
	if (stopped) {
		err_warn("nothing is held; what was measured follows", "stopped in run %" PRIu64,
			 number + 1);
		return GPQ_PARTIAL;
	}
	if (failed)
		err_fail(failed, "nothing is held", "run %" PRIu64 ", %s: %s", number + 1, b->now,
			 why);
	return status;
}

static int run_modes(struct ab *b, bool wanted)
{
	const uint64_t runs = b->opts->runs;
	int status = GPQ_OK;
	const uint64_t n = b->m.all.n, all = n * AB_MODES;
	SCOPED(free_at) unsigned *order = xcalloc(all, sizeof(*order));
	for (unsigned m = 0; m < AB_MODES; m++)
		b->total += b->mode[m] ? runs * n : 0;
	progress_init(&b->m.progress, wanted, false);
	for (uint64_t i = 0; i < runs && !status; i++) {
		for (unsigned k = 0; k < all; k++)
			order[k] = k;
		rng_shuffle(&b->rng, order, all);
		for (unsigned k = 0; k < all && !status; k++)
			if (b->mode[order[k] % AB_MODES])
				status = run_mode(b, order[k] % AB_MODES,
						  i * n + order[k] / AB_MODES);
		if (i && // bounds of the work take two runs
		    i + 1 < runs && !status && bench_may_end(&b->m, b->opts, runs - 2))
			break;
	}
	progress_end(&b->m.progress);
	return status;
}

// ---- --dry-run: who belongs to which side now

struct side_row {
	const char *side;
	int64_t pid;
	const char *what, *setting;
	struct whose whose;
};

#define ROW side_row
static const struct out_col side_cols[] = {
	COL(side, "SIDE", "side", STR, D, "online; offline: would be held in mode preempt"),
	COL(pid, "PID", "pid", I64, D, "process; null: it would be started"),
	COL(what, "COMMAND", "command", STR, D | T,
	    "its name, or the command that would be started"),
	COL(setting, "SETTING", "setting", STR, OUT_RARE | M, "what --sweep-env sets for it"),
	WHOSE_COLS(whose, M),
};
#undef ROW
const struct out_table bench_sides_table = {"processes", "process", OUT_COLS(side_cols)};
const struct schema bench_sides_schema = {"gpq.bench.sides", 1, SCHEMA_TABLES(&bench_sides_table),
					  NULL};

static bool print_member(void *arg, size_t side, pid_t pid, struct kfd_selection *sel, bool again)
{
	(void)again;
	SCOPED(process_cache_fini) struct process_cache known = {0};
	const struct process_info *p = process_cache_get(&known, pid, PROCESS_STATUS);
	struct side_row row = {side_name[side], pid, p->error ? NULL : p->proc.comm, NULL,
			       whose_of(&known, pid)};
	free(sel);
	out_row(arg, &row);
	return true;
}

static int dry_run(struct cmd *c)
{
	struct bench_opts *o = c->opts;
	SCOPED(newcomers_fini) struct newcomers newcomers = {.events.fd = -1};
	const struct words *w = &o->sweep_env;
	c->out.schema = &bench_sides_schema;
	struct out *out = out_open(&c->out);
	int status = choose_sides(o);
	status = status ? status : out_begin(out, &bench_sides_table, false);
	if (!w->n && !status)
		out_leave_out(out, "SETTING");
	for (unsigned i = 0; side_name[i] && !status; i++)
		for (size_t k = 0; o->ab.command[i] && k < (w->n ? w->n : 1); k++)
			out_row(out, &(struct side_row){side_name[i],
							I64_NULL,
							o->ab.command[i],
							w->n ? w->v[k] : NULL,
							{0}});
	status = status ? status : spec_set_look(&o->ab.specs, &newcomers, print_member, out);
	if (!status)
		spec_set_name_unused(&o->ab.specs);
	out_end(out);
	spec_set_fini(&o->ab.specs);
	return out_finish(out, status);
}

int bench_ab(struct cmd *c)
{
	struct ab b = {.opts = c->opts};
	SCOPED(sched_fini) struct sched log = {.newcomers.events.fd = -1};
	if (b.opts->dry)
		return dry_run(c);
	int status = measurement_begin(&b.m, c, true);
	status = status ? status : prepare_ab(&b);
	for (unsigned i = 0; b.opts->decisions && side_name[i]; i++)
		sched_add_class(&log, side_name[i]);
	if (b.opts->decisions && !status) {
		b.opts->ab.decisions = &log;
		status = decisions_open(&log, b.opts->decisions, NULL);
	}
	if (!status) {
		if (!bench_context_is_gpu(&b.m.run->context))
			err_warn(NULL, "this is a software GPU: times here are not a GPU's");
		status = run_modes(&b, c->out.progress);
	}
	status = measurement_end(&b.m, c, status);
	for (unsigned i = 0; i < AB_PATTERNS; i++) {
		status = regex_check(&b.regex[i], status);
		regex_fini(&b.regex[i]);
	}
	spec_set_fini(&b.opts->ab.specs);
	return status;
}
