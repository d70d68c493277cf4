// gpq sched: its options, also from the file of --config; the scheduler, a dry run, a replay.
#include "cmd/sched.h"

#include "common/cli/opts_file.h"
#include "common/host/clock.h"

#define MS       UINT64_C(1000000)
#define NO_LIMIT UINT64_MAX

static const struct opt opts[] = {
	OPT(sched_cmd, online, "online", 0, OPT_LIST, "SPEC",
	    "processes whose work comes first;\nKEY=VALUE,... as the options of gpq queues"),
	OPT(sched_cmd, offline, "offline", 0, OPT_LIST, "SPEC",
	    "processes that are held while classes above work"),
	OPT(sched_cmd, classes, "class", 0, OPT_LIST, "NAME=SPEC",
	    "\na class between the two;\nthe first given is the most urgent"),
	OPT(sched_cmd, sched.policy.idle_ns, "idle", 0, OPT_NS, "TIME",
	    "resume once there was no work for so long\n(default 10ms)"),
	OPT(sched_cmd, share, "share", 0, OPT_STR, "UP:DOWN",
	    "give lower classes a part of contended time,\nas 80:20, or each its own: 60:30:10"),
	OPT(sched_cmd, slo, "slo", 0, OPT_STR, "GOAL",
	    "\ngive them as much as the requests of online allow,\nas 'p99 < 50ms'"),
	OPT(sched_cmd, sched.policy.period_ns, "period", 0, OPT_NS, "TIME",
	    "\nof --share and --slo: lower classes get their part once in so long\n(default "
	    "500ms)"),
	OPT(sched_cmd, sched.slice_ns, "slice", 0, OPT_NS, "TIME",
	    "\njobs of a class (--job-by) that share a GPU take\nturns, each for so long"),
	OPT(sched_cmd, sched.policy.max_hold_ns, "max-hold", 0, OPT_NS, "TIME",
	    "hold no longer than this at a time (default 1s)"),
	OPT(sched_cmd, sched.policy.rest_ns, "rest", 0, OPT_NS, "TIME",
	    "\nafter --max-hold, run for so long\n(default: a tenth of it)"),
	OPT(sched_cmd, sched.lease_ns, "lease", 0, OPT_NS, "TIME",
	    "\na hint without for= counts for so long at most\n(default 1m)"),
	OPT(sched_cmd, socket, "socket", 0, OPT_STR, "FILE",
	    "where hints come in\n(default /run/gpq-sched/socket for root,\n"
	    "else $XDG_RUNTIME_DIR/gpq-sched/socket)"),
	OPT(sched_cmd, group, "group", 0, OPT_STR, "GROUP",
	    "\nthis group may send hints, too\n(default: only the user of gpq sched, and root)"),
	OPT(sched_cmd, no_socket, "no-socket", 0, OPT_FLAG, "", "\ntake no hints"),
	OPT(sched_cmd, no_activity, "no-activity", 0, OPT_FLAG, "",
	    "\ndo not watch the queues of --online,\nand open no debug session on them"),
	OPT(sched_cmd, sched.sample_ns, "interval", 0, OPT_NS, "TIME",
	    "\nhow often queues are looked at\n(default 1ms; more seldom where looking takes "
	    "long)"),
	OPT(sched_cmd, sched.log, "log", 0, OPT_STR, "FILE",
	    "\nan AMD log of the online work to follow:\nit has work while packets are logged"),
	OPT(sched_cmd, sched.grace, "grace", 0, OPT_U64, "N",
	    "\ntime for waves to end before they are saved,\n0 to 255 x 1000 GPU clocks"),
	OPT_ONE_OF(
		sched_cmd, sched.job_by, "job-by", 0, "WHAT",
		"hold processes with the same one together,\non all of their GPUs or not at all\n"
		"(default: a class GPU by GPU)",
		SCHED_JOB_WORDS),
	OPT_ONE_OF(sched_cmd, sched.tenant_by, "tenant-by", 0, "WHAT",
		   "\nof --slice: those with the same one get as long\ntogether as others alone",
		   SCHED_JOB_WORDS),
	OPT(sched_cmd, sched.weights, "weight", 0, OPT_LIST, "NAME=N",
	    "\nof --slice: this job or tenant gets N times as long"),
	OPT(sched_cmd, sched.hold_idle, "hold-idle", 0, OPT_FLAG, "",
	    "\nhold also processes that had nothing to do for 10 s"),
	OPT(sched_cmd, sched.no_deadlines, "no-deadlines", 0, OPT_FLAG, "",
	    "\nhints with a deadline hold at once"),
	OPT(sched_cmd, decisions, "log-decisions", 0, OPT_STR, "FILE",
	    "\nwrite what comes to work, is held and resumed, and when"),
	OPT(sched_cmd, replay, "replay", 0, OPT_STR, "FILE",
	    "\nthe same work under this policy, without a GPU:\nFILE is of --log-decisions"),
	OPT(sched_cmd, sched.slowdown, "slowdown", 0, OPT_U64, "PERCENT",
	    "\nof --replay: requests take so much longer beside\nlower classes (default 0)"),
	OPT(sched_cmd, config, "config", 0, OPT_STR, "FILE",
	    "options from a file, one a line, without dashes;\nSIGHUP reads it again"),
	OPT(sched_cmd, check_config, "check-config", 0, OPT_FLAG, "",
	    "\ncheck these options and the file, and end"),
	OPT(sched_cmd, sched.audit, "audit", 0, OPT_FLAG, "",
	    "\nsay who sends hints, and who is refused"),
	OPT(sched_cmd, for_ns, "for", 0, OPT_SEC, "SEC", "\nend after this time"),
	OPT(sched_cmd, dry, "dry-run", 0, OPT_FLAG, "",
	    "show who belongs to which class;\nattach to nothing"),
	OPT(sched_cmd, status, "status", 0, OPT_FLAG, "",
	    "show the statistics of the running scheduler"),
	OPT(sched_cmd, explain, "explain", 0, OPT_U64, "PID",
	    "say why this process is held now, or is not"),
	WATCH_OPT(sched_cmd),
	{0},
};

static const struct opt_rule rules[] = {
	RULE_EXCLUDES(
		"online offline class idle share slo period slice max-hold rest lease group "
		"no-socket "
		"job-by tenant-by weight no-activity interval log grace hold-idle no-deadlines "
		"log-decisions "
		"config audit "
		"for dry-run",
		"status explain", "leave one of them out",
		"--%2 asks the scheduler that runs, --%1 is for a new one"),
	RULE_EXCLUDES("online offline class socket group no-socket no-activity interval log grace "
		      "hold-idle job-by tenant-by config audit for dry-run status explain",
		      "replay",
		      "give the policy: share, slo, period, slice, weight, max-hold, rest, idle, "
		      "lease, no-deadlines",
		      "--replay has its classes and work from the file: --%1 means nothing"),
	RULE_NEEDS("slowdown", "replay", "gpq sched --replay FILE --slowdown 100",
		   "--slowdown is of --replay: the scheduler sees how long requests take"),
	RULE_NEEDS("check-config", "config", "gpq sched --config FILE --check-config",
		   "--check-config: which file?"),
	RULE_EXCLUDES("explain", "status " FORM_NAMES, "gpq sched --status has it as tables",
		      "--explain answers in words"),
	RULE_NEEDS("watch", "status", "gpq sched --status --watch 1s", "--watch is of --status"),
	WATCH_RULES,
	{0},
};

// Rules that are checked once the file of --config is read, and it is known that there are classes.
static const struct opt_rule together[] = {
	RULE_NEEDS("tenant-by weight", "slice", "--slice 1m, for one",
		   "--%1 is about the turns that --slice makes"),
	RULE_EXCLUDES("slo", "share no-socket",
		      "--slo finds the parts itself, by how long hints last", ""),
	RULE_EXCLUDES("no-deadlines", "no-socket", "deadlines are of hints", ""),
	{0},
};

static const struct opt_rule ranges[] = {
	RULE_RANGE("for", 1, INT64_MAX, "without --for it runs until it is ended",
		   "--for: no time at all, or more than 292 years"),
	RULE_RANGE("max-hold", 10 * MS, 3600000 * MS, "", "--max-hold: between 10ms and 1h"),
	RULE_RANGE("lease", 10 * MS, 3600000 * MS, "", "--lease: between 10ms and 1h"),
	RULE_RANGE("period", 10 * MS, UINT64_MAX, "", "--period: at least 10ms"),
	RULE_RANGE("slice", 10 * MS, UINT64_MAX, "", "--slice: at least 10ms"),
	RULE_RANGE("interval", MS / 10, UINT64_MAX, "", "--interval: at least 0.1ms"),
	RULE_RANGE("slowdown", 0, 100000, "", "--slowdown: at most 100000 percent"),
	RULE_RANGE("grace", 0, KFD_GRACE_MAX, "", "--grace: %v is not 0 to 255"),
	{0},
};

static const struct sched_cmd defaults = {
	.sched = {.policy = {.idle_ns = 10 * MS,
			     .period_ns = 500 * MS,
			     .max_hold_ns = 1000 * MS,
			     .rest_ns = NO_LIMIT},
		  .lease_ns = 60000 * MS,
		  .sample_ns = MS,
		  .activity = true},
	.for_ns = NO_LIMIT,
	.explain = NO_LIMIT,
	.watch = WATCH_OFF,
};

static const struct schema schema = {
	"gpq.sched", 1,
	SCHEMA_TABLES(&sched_total_table, &sched_class_table, &sched_job_table, &sched_member_table,
		      &sched_client_table, &sched_decision_table, &sched_time_table),
	NULL};

// ---- options of gpq sched

// Reads "80:20", or "60:30:10" with a part for each class: whole numbers from 1 to 1000000.
static int parse_share(const char *text, struct sched_opts *o)
{
	uint64_t part, all = 0;
	size_t n = 0;
	for (const char *at = text; at; n++) {
		char word[32];
		const size_t len = strcspn(at, ":");
		snprintf(word, sizeof(word), "%.*s", (int)lesser(len, sizeof(word)), at);
		if (n == SCHED_PARTS || !parse_u64(word, &part) || !part || part > 1000000)
			return err_fail(GPQ_USAGE, "leave --share out for strict priority",
					"--share %s: parts are whole numbers from 1 on, of %d "
					"classes at most",
					text, SCHED_PARTS);
		o->parts[n] = (double)part;
		all += part;
		at = at[len] ? at + len + 1 : NULL;
	}
	if (n == 1)
		return err_fail(GPQ_USAGE, NULL, "--share %s: give UP:DOWN, as 80:20", text);
	for (size_t i = 0; i < n; i++) {
		o->parts[i] /= (double)all;
		if (i < 2 || o->parts[i] < o->policy.part)
			o->policy.part = o->parts[i];
	}
	o->policy.kind = n ? POLICY_SHARE : POLICY_STRICT;
	o->num_parts = n > 2 ? n : 0;
	return GPQ_OK;
}

static int parse_slo(const char *text, struct sched_opts *s)
{
	return !text || goal_parse(&s->goal, text)
		       ? GPQ_OK
		       : err_fail(GPQ_USAGE, "for example --slo 'p99 < 50ms'",
				  "--slo %s: give a percentile from p50 on, < and a time", text);
}

// Refuses times that contradict each other. Sets the default of --rest.
static int check_policy(struct policy *p, uint64_t slice_ns)
{
	const uint64_t held = (uint64_t)((1 - p->part) * (double)p->period_ns);
	if (p->rest_ns == NO_LIMIT)
		p->rest_ns = p->max_hold_ns / 10;
	if (slice_ns > p->max_hold_ns)
		return err_fail(
			GPQ_USAGE, "a longer --max-hold, of all slices but one",
			"--slice is longer than --max-hold: who waits would run before its turn");
	if (p->idle_ns >= p->max_hold_ns)
		return err_fail(GPQ_USAGE, NULL, "--idle is not shorter than --max-hold");
	if (p->kind == POLICY_SHARE && held > p->max_hold_ns)
		return err_fail(GPQ_USAGE, "a shorter --period, or a longer --max-hold",
				"--share holds for %.4g ms of each --period, --max-hold allows "
				"%.4g ms",
				(double)held / 1e6, (double)p->max_hold_ns / 1e6);
	return GPQ_OK;
}

static int check_weights(const struct sched_opts *o)
{
	uint64_t weight;
	for (size_t i = 0; i < o->weights.n; i++) {
		const char *text = o->weights.v[i];
		if (!jobs_read_weight(text, &weight))
			return err_fail(GPQ_USAGE, "as in train=3",
					"--weight %s: give NAME=N, N from 1 to 1000", text);
		if (weight > o->policy.max_hold_ns / o->slice_ns)
			return err_fail(GPQ_USAGE, "a longer --max-hold, or a shorter --slice",
					"--weight %s: the others wait for so many slices, longer "
					"than --max-hold",
					text);
	}
	return GPQ_OK;
}

static int check_classes(const struct sched_cmd *o)
{
	if (!o->offline.n)
		return err_fail(GPQ_USAGE, "--offline 'container=train', for one",
				"no --offline: nothing to hold");
	if (o->no_socket && !o->sched.log && (o->no_activity || !o->online.n || !o->online.v[0][0]))
		return err_fail(GPQ_USAGE, "hints, --online with its queues, or --log",
				"nothing says when there is online work");
	return GPQ_OK;
}

// An empty --online is allowed, for systemd units that always give it.
static int check_specs(const char *option, const struct words *specs, bool may_be_empty)
{
	int status = GPQ_OK;
	bool any;
	for (size_t i = 0; i < specs->n && !status; i++)
		if (specs->v[i][0] || !may_be_empty)
			status = spec_check(option, specs->v[i], &any);
	return status;
}

// Adds SPECs to a class.
static int add_specs(struct sched *s, const char *name, const struct words *specs)
{
	char option[32];
	int status = GPQ_OK;
	snprintf(option, sizeof(option), "--%s", name);
	for (size_t i = 0; i < specs->n && !status; i++)
		if (specs->v[i][0])
			status = sched_add_spec(s, name, option, specs->v[i]);
	return status;
}

// The length of the name in NAME=SPEC, the text of --class; 0: there is none.
static size_t class_name(const char *text)
{
	const size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyz"
				      "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-");
	return n < SCHED_NAME && text[n] == '=' ? n : 0;
}

static int check_class_option(const char *text)
{
	bool any;
	const size_t n = class_name(text);
	if (!n)
		return err_fail(GPQ_USAGE, "as in batch=container=train",
				"--class %s: give NAME=SPEC, a name of letters, digits, _ . and -",
				text);
	if (strncmp(text, "online=", n + 1) == 0 || strncmp(text, "offline=", n + 1) == 0)
		return err_fail(GPQ_USAGE, NULL, "--class %.*s: there is --%.*s", (int)n, text,
				(int)n, text);
	return spec_check("--class", text + n + 1, &any);
}

// The name in a text of --class, into `name`.
static const char *read_class_name(const char *text, char name[SCHED_NAME])
{
	snprintf(name, SCHED_NAME, "%.*s", (int)class_name(text), text);
	return name;
}

// Makes the classes in their order: online, those between, offline.
static void name_classes(struct sched *s, const struct words *between)
{
	sched_add_class(s, "online");
	for (size_t i = 0; i < between->n; i++) {
		char name[SCHED_NAME];
		if (sched_class_of(s, read_class_name(between->v[i], name)) == s->n)
			sched_add_class(s, name);
	}
	sched_add_class(s, "offline");
}

static int add_classes(struct sched *s, const struct sched_cmd *o)
{
	name_classes(s, &o->classes);
	int status = add_specs(s, "online", &o->online);
	for (size_t i = 0; i < o->classes.n && !status; i++) {
		const char *text = o->classes.v[i];
		char name[SCHED_NAME];
		status = sched_add_spec(s, read_class_name(text, name), "--class",
					text + class_name(text) + 1);
	}
	return status ? status : add_specs(s, "offline", &o->offline);
}

static int check_parts(const struct sched_opts *o, size_t classes, const char *share)
{
	return !o->num_parts || o->num_parts == classes
		       ? GPQ_OK
		       : err_fail(GPQ_USAGE, "two parts are for any number of classes",
				  "--share %s gives parts to %zu classes, but there are %zu", share,
				  o->num_parts, classes);
}

// Checks what each option alone says, and takes it.
static int check_words(struct sched_cmd *o)
{
	const struct opt_set set[] = {{opts, o, NULL, &defaults}, {0}};
	int status = opts_check(ranges, set, 0);
	status = status ? status : parse_share(o->share, &o->sched);
	status = status ? status : parse_slo(o->slo, &o->sched);
	status = status ? status : check_specs("--online", &o->online, true);
	for (size_t i = 0; i < o->classes.n && !status; i++)
		status = check_class_option(o->classes.v[i]);
	return status ? status : check_specs("--offline", &o->offline, false);
}

// Checks the options of a scheduler, or of a replay.
static int check_options(struct sched_cmd *o)
{
	const struct opt_set set[] = {{opts, o, NULL, &defaults}, {0}};
	struct sched named = {.newcomers.events.fd = -1};
	int status = o->replay ? GPQ_OK : check_classes(o);
	if (!status && o->sched.slice_ns && !o->replay && o->sched.job_by == BY_CLASS)
		status = err_fail(
			GPQ_USAGE, "for one --job-by process",
			"--slice is for the jobs of a class, and without --job-by it is one");
	status = status ? status : opts_check(together, set, 0);
	status = status ? status : check_words(o);
	status = status ? status : check_policy(&o->sched.policy, o->sched.slice_ns);
	status = status ? status : check_weights(&o->sched);
	if (status || o->replay)
		return status;
	name_classes(&named, &o->classes);
	status = check_parts(&o->sched, named.n, o->share);
	sched_fini(&named);
	return status;
}

// ---- --config

// What may stand in the file, and what of that counts from a reload on.
#define RELOADED                                                                                \
	"online offline class idle share slo period slice weight max-hold rest lease interval " \
	"grace hold-idle no-deadlines"
#define KEPT " socket group no-socket no-activity log job-by tenant-by log-decisions audit"

// With --config: what the command line says, and the lines of the file at the start and now. Those
// of the start last, since what is not reloaded borrows texts of them.
static struct {
	struct sched_cmd given;
	struct opts_file first, file;
} config;

// Adds to `o`, which holds what the command line says, what the file says. `now`: what counts, of
// which KEPT stays as it is; NULL at the start.
static int read_config(struct sched_cmd *o, struct opts_file *file, const struct sched_cmd *now)
{
	int status = opts_file_read(file, o->config, opts, RELOADED KEPT);
	status = status ? status : opts_file_store(file, o->config, o);
	err_at(o->config);
	status = status ? status : check_options(o);
	if (now) {
		o->socket = now->socket;
		o->group = now->group;
		o->decisions = now->decisions;
		o->no_socket = now->no_socket;
		o->no_activity = now->no_activity;
		o->sched.activity = now->sched.activity;
		o->sched.log = now->sched.log;
		o->sched.job_by = now->sched.job_by;
		o->sched.tenant_by = now->sched.tenant_by;
		o->sched.audit = now->sched.audit;
	}
	if (!status && o->sched.slice_ns && o->sched.job_by == BY_CLASS)
		status = err_fail(GPQ_USAGE, "restart the scheduler for that",
				  "--slice is for jobs, and it started without --job-by");
	err_at(NULL);
	return status;
}

static void say_reloaded(const char *name, const char *before, const char *now)
{
	err_hint(NULL, "reloaded: %s: %s -> %s", name, *before ? before : "(nothing)",
		 *now ? now : "(nothing)");
}

static void say_kept(const char *name, const char *before, const char *now)
{
	(void)before;
	(void)now;
	err_warn("restart it for that", "--%s is as it was when the scheduler started", name);
}

static bool same_classes(const struct sched *s, const struct sched *other)
{
	bool same = s->n == other->n;
	for (size_t i = 0; i < s->n && same; i++)
		same = strcmp(s->classes[i].name, other->classes[i].name) == 0;
	return same;
}

// Frees the lists of `o` that come from the file.
static void free_lists(struct sched_cmd *o)
{
	if (!config.given.online.n)
		words_fini(&o->online);
	if (!config.given.offline.n)
		words_fini(&o->offline);
	if (!config.given.classes.n)
		words_fini(&o->classes);
	if (!config.given.sched.weights.n)
		words_fini(&o->sched.weights);
}

// Reads the file again, and takes what has changed. If something in it is wrong, nothing changes.
static void reload(struct sched *s, void *arg)
{
	struct sched_cmd *o = arg, next = config.given, unused = *o;
	struct opts_file file = {0}, old = config.file;
	struct sched other = {.newcomers.events.fd = -1, .specs.later = true};
	int status = read_config(&next, &file, o);
	err_at(o->config);
	status = status ? status : add_classes(&other, &next);
	if (!status && !same_classes(s, &other))
		status = err_fail(GPQ_USAGE, "restart the scheduler for that",
				  "the classes have other names, or another order");
	if (status) {
		err_warn(NULL, "the scheduler goes on as before");
		unused = next;
		old = file;
	} else {
		opts_file_compare(&config.file, &file, opts, RELOADED, say_reloaded);
		opts_file_compare(&config.first, &file, opts, KEPT, say_kept);
		sched_reload(s, &next.sched, &other.specs);
		*o = next;
		config.file = file;
	}
	err_at(NULL);
	if (o->decisions)
		decisions_reopen(s, o->decisions);
	sched_fini(&other);
	free_lists(&unused);
	if (old.v != config.first.v)
		opts_file_fini(&old);
}

static int check_sched(struct cmd *c)
{
	struct sched_cmd *o = c->opts;
	if (o->status || o->explain != NO_LIMIT)
		return GPQ_OK;
	if (!o->config)
		return check_options(o);
	config.given = *o;
	int status = check_words(o); // what is wrong there is not the file's fault
	status = status ? status : read_config(o, &config.first, NULL);
	config.file = config.first;
	return status;
}

// ---- running the scheduler

static uint64_t write_status_lines(struct buf *b, void *arg)
{
	SCOPED(sched_stats_fini) struct sched_stats t;
	const uint64_t began = clock_ns();
	sched_stats_take(&t, arg);
	sched_stats_write(b, &t);
	return clock_ns() - began;
}

static int show_sched_stats(struct cmd *c, const struct sched *s, unsigned what)
{
	SCOPED(sched_stats_fini) struct sched_stats t;
	sched_stats_take(&t, s);
	return sched_write_stats(&c->out, &t, what);
}

static int run_scheduler(struct cmd *c, struct sched *s)
{
	const struct sched_cmd *o = c->opts;
	int status = GPQ_OK, sig;
	size_t found = 0;
	sched_raise_limit();
	struct hints *h = o->no_socket ? NULL : hints_open(o->socket, o->group, &status);
	if (status)
		return status;
	if (h)
		sched_take_hints(s, h, write_status_lines);
	if (o->config)
		sched_on_hup(s, reload, c->opts);
	sched_find(s, true);
	spec_set_name_unused(&s->specs);
	for (size_t i = 0; i < s->n; i++)
		found += s->classes[i].group.n;
	err_note("%zu process%s so far%s%s", found, found == 1 ? "" : "es",
		 s->hints ? "; hints come in at " : "", s->hints ? hints_path(s->hints) : "");
	sig = sched_run(s, o->for_ns == NO_LIMIT ? NO_LIMIT : clock_ns() + o->for_ns);
	troubles_forget(); // it may run for months, and looks again and again
	if (sig < 0)
		return -sig;
	return show_sched_stats(c, s, TOTALS | CLASSES | JOBS);
}

static int run_sched(struct cmd *c)
{
	struct sched_cmd *o = c->opts;
	struct sched s = {.newcomers.events.fd = -1};
	int status;
	if (o->explain != NO_LIMIT)
		return sched_explain(c);
	if (o->status)
		return watch_run(c, o->watch, sched_list_status);
	if (o->check_config)
		return GPQ_OK;
	o->sched.activity = !o->no_activity;
	s.opts = o->sched;
	status = o->replay ? GPQ_OK : add_classes(&s, o);
	if (!status && o->decisions)
		status = decisions_open(&s, o->decisions, o->replay);
	if (!status && o->replay)
		status = decisions_replay(&s, o->replay);
	if (!status && o->replay)
		status = check_parts(&o->sched, s.n, o->share);
	if (!status && o->replay) {
		status = show_sched_stats(c, &s, TOTALS | CLASSES | JOBS);
	} else if (!status && o->dry) {
		const int found = sched_find(&s, false);
		spec_set_name_unused(&s.specs);
		status = show_sched_stats(c, &s, MEMBERS);
		status = status ? status : found;
	} else if (!status) {
		status = run_scheduler(c, &s);
	}
	sched_fini(&s);
	return status;
}

// --dry-run works on a recorded host; --status needs the socket alone, --replay its file.
static unsigned sched_needs(const struct cmd *c)
{
	const struct sched_cmd *o = c->opts;
	if (o->replay || o->check_config)
		return 0;
	if (o->status || o->explain != NO_LIMIT)
		return NEED_LIVE;
	return o->dry ? NEED_KFD : NEED_KFD | NEED_LIVE | NEED_DEV_KFD | HAS_DRY_RUN;
}

static const struct out_table *const tables[] = {
	&sched_class_table,  &sched_total_table,    &sched_job_table,  &sched_member_table,
	&sched_client_table, &sched_decision_table, &sched_time_table, NULL};

static const struct out_table *const *sched_prints(const struct cmd *c)
{
	const struct sched_cmd *o = c->opts;
	// A scheduler that ends prints no members and clients.
	static const struct out_table *const printed[] = {&sched_class_table,  &sched_total_table,
							  &sched_job_table,    NULL,
							  &sched_member_table, NULL};
	return o->dry ? printed + 4 : o->status ? tables : printed;
}

const struct cmd_spec sched_spec = {
	.synopsis = "--offline SPEC [--online SPEC] [--class NAME=SPEC] [--share UP:DOWN] "
		    "[OPTION...]\n--config FILE [OPTION...] [--check-config]\n--status [--socket "
		    "FILE] [--watch SEC]\n--explain PID [--socket FILE]\n--replay FILE [--share "
		    "UP:DOWN] [OPTION...]",
	.description =
		"Hold offline work off the GPU while online work needs it. That it does is said by "
		"hints (a socket,\ngpq-client(3)), by its queues, which are watched, or by its AMD "
		"log. If gpq ends, everything runs.",
	.opts = opts,
	.rules = rules,
	.opts_size = sizeof(struct sched_cmd),
	.defaults = &defaults,
	.tables = tables,
	.schemas = SCHEMAS(&schema),
	.needs = sched_needs,
	.prints = sched_prints,
	.check = check_sched,
	.run = run_sched,
};
