// The log of decisions, and its replay; sched.h.
#include "common/sched/sched.h"

#include "common/cli/err.h"
#include "common/host/clock.h"
#include "common/host/number.h"
#include "common/out/members.h"
#include "common/out/out.h"

#include <fcntl.h>
#include <sys/stat.h>

enum { LINE = 65536 };

// A log with more time between two lines, or in a hold, is none: the scheduler looks at its members
// more often.
#define GAP_NS 86400000000000ull

// A line of the log: a decision, and what only a replay needs of it.
struct line {
	struct sched_decision of;
	uint64_t deadline_ns; // of a request: from its begin; U64_NULL
	char tenant[SCHED_TEXT];
	char gpus[SCHED_TEXT]; // gpu_ids, separated by blanks; or "all"
};

static const struct member keys[] = {MEMBER(count, line, of.ns, "ns"),
				     MEMBER(text, line, of.what, "what"),
				     MEMBER(text, line, of.class, "class"),
				     MEMBER(text, line, of.job, "job_by"),
				     MEMBER(text, line, tenant, "tenant_by"),
				     MEMBER(plain, line, gpus, "gpus"),
				     MEMBER(text, line, of.rival, "for"),
				     MEMBER(u64, line, of.took_ns, "took_ns"),
				     MEMBER(u64, line, deadline_ns, "deadline_ns"),
				     {0}};

// ---- writing

static void put_gpu_ids(const struct sched *s, uint64_t gpus, char *to, size_t size)
{
	size_t at = 0;
	snprintf(to, size, "%s", gpus == GPUS_ALL ? "all" : "");
	for (unsigned i = 0; gpus != GPUS_ALL && i < s->bits.n && at < size; i++)
		if (gpus >> i & 1)
			at += (size_t)snprintf(to + at, size - at, "%s%u", at ? " " : "",
					       s->bits.ids[i]);
}

static bool is_request(const struct line *d)
{
	return strcmp(d->of.what, "request") == 0 || strcmp(d->of.what, "expired") == 0 ||
	       strcmp(d->of.what, "abandoned") == 0;
}

// Keeps a decision, and writes its line. A log that cannot be written is given up, and the
// scheduler goes on.
static void note(struct sched *s, struct line *d)
{
	SCOPED(buf_fini) struct buf line = {0};
	struct json j;
	d->of.ns = d->of.ns ? d->of.ns : sched_now(s);
	d->deadline_ns = d->deadline_ns ? d->deadline_ns : U64_NULL;
	if (!s->latest)
		s->latest = xcalloc(SCHED_LATEST, sizeof(*s->latest));
	if (!is_request(d)) // many requests would push decisions out of the ring
		s->latest[s->decided++ % SCHED_LATEST] = d->of;
	if (!s->decisions)
		return;
	put_gpu_ids(s, d->of.on, d->gpus, sizeof(d->gpus));
	record_begin(&j, &line, "decision");
	members_write(&j, keys, d);
	record_end(&j);
	if (fwrite(line.data, line.len, 1, s->decisions) == 1 && fflush(s->decisions) == 0)
		return;
	err_warn("nothing more is logged there", "--log-decisions: %s", strerror(errno));
	decisions_close(s);
}

void decisions_close(struct sched *s)
{
	if (s->decisions)
		fclose(s->decisions);
	s->decisions = NULL;
}

static void note_of_class(struct sched *s, size_t class, const char *what, struct line d)
{
	snprintf(d.of.what, sizeof(d.of.what), "%s", what);
	snprintf(d.of.class, sizeof(d.of.class), "%s", s->classes[class].name);
	note(s, &d);
}

static void note_class(struct sched *s, size_t class)
{
	note_of_class(s, class, "class", (struct line){.of.took_ns = U64_NULL});
}

static void note_work(struct sched *s, size_t class)
{
	note_of_class(s, class, "work",
		      (struct line){.of = {.took_ns = U64_NULL, .on = s->classes[class].works}});
}

void decisions_note_request(struct sched *s, const struct hint_scope *scope, uint64_t now_ns,
			    const struct hint_end *end, const char *job)
{
	struct line d = {.of = {.ns = now_ns, .took_ns = end->ns, .on = scope->gpus},
			 .deadline_ns = end->deadline_ns};
	if (!s->decisions)
		return;
	snprintf(d.of.job, sizeof(d.of.job), "%s", job);
	note_of_class(s, scope->class,
		      end->closed    ? "abandoned"
		      : end->expired ? "expired"
				     : "request",
		      d);
}

static bool is_same_file(const char *path, int fd)
{
	struct stat named, own;
	return stat(path, &named) == 0 && fstat(fd, &own) == 0 && named.st_dev == own.st_dev &&
	       named.st_ino == own.st_ino;
}

// Does the file end within a line, since a scheduler was killed?
static bool is_cut(const char *path)
{
	char last = '\n';
	struct stat st;
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0)
		last = pread(fd, &last, 1, st.st_size - 1) == 1 ? last : '\n';
	close_quietly(fd);
	return last != '\n';
}

int decisions_open(struct sched *s, const char *path, const char *replay)
{
	// Nothing may be waited for: a FIFO that nobody reads.
	const int fd =
		open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0666);
	if (fd < 0)
		return err_sys(errno, NULL, "--log-decisions %s", path);
	if (replay && is_same_file(replay, fd)) {
		close(fd);
		return err_fail(GPQ_USAGE, "name another file",
				"--log-decisions: %s is what --replay reads", path);
	}
	s->decisions = fdopen(fd, "a");
	if (!s->decisions) {
		close(fd);
		return err_sys(errno, NULL, "--log-decisions %s", path);
	}
	if (is_cut(path))
		fputc('\n', s->decisions);
	for (size_t i = 0; i < s->n; i++)
		note_class(s, i);
	return GPQ_OK;
}

void decisions_reopen(struct sched *s, const char *path)
{
	FILE *old = s->decisions;
	if (old && is_same_file(path, fileno(old)))
		return;
	if (decisions_open(s, path, NULL) || !s->decisions) {
		s->decisions = old;
		return;
	}
	if (old)
		fclose(old);
	for (size_t i = 0; i < s->n; i++)
		if (s->classes[i].works)
			note_work(s, i);
	for (size_t i = 0; i < s->num_jobs; i++)
		for (size_t k = 0; k < s->jobs[i].n; k++)
			decisions_note(s, "unit", &s->jobs[i], &s->jobs[i].units[k], 0);
}

void decisions_note(struct sched *s, const char *what, const struct sched_job *j,
		    const struct sched_unit *u, uint64_t took_ns)
{
	struct line d = {.of.took_ns = strcmp(what, "done") == 0 ? took_ns : U64_NULL,
			 .of.on = u->gpus};
	snprintf(d.of.what, sizeof(d.of.what), "%s", what);
	snprintf(d.of.class, sizeof(d.of.class), "%s", s->classes[j->class].name);
	snprintf(d.of.job, sizeof(d.of.job), "%s", j->key);
	snprintf(d.tenant, sizeof(d.tenant), "%s", j->tenant);
	snprintf(d.of.rival, sizeof(d.of.rival), "%s", u->asked ? unit_rival(s, j, u) : "");
	note(s, &d);
}

void decisions_note_work(struct sched *s, size_t class)
{
	if (s->classes[class].works != s->classes[class].worked)
		note_work(s, class);
}

// ---- replaying

// The limits of hints hold for requests of a log, too: how many are open at a time, and how long
// after its end a deadline may be.
enum { OPEN_MAX = HINTS_CLIENTS_MAX * HINTS_IDS_MAX };
#define LATEST_NS 3600000000000ull

struct request {
	struct hint_scope scope;
	char *job;            // owned; NULL: none
	size_t at;            // where the job was found in sched.jobs; it may have gone since
	size_t looked;        // replay.changes at that search
	uint64_t deadline_ns; // 0: none, and its work is in the log
	uint64_t end_ns;
	uint64_t since_ns;  // when its deadline began to count; 0: it leaves time yet
	uint64_t beside_ns; // how long jobs of classes below ran beside it
	struct hint_end end;
};

// For sorting requests by when they begin.
struct opening {
	uint64_t ns; // when the request begins
	struct request *of;
};

struct replay {
	uint64_t due_ns;          // when something has to be decided next
	uint64_t cost_ns, costs;  // what decisions took, added up, and how many there are
	struct request *requests; // in the order of the log, in which they end
	struct opening *sorted;   // of those that are open and, from `begun` on, of those to come
	size_t n, cap, open, begun, ended;
	bool has_first; // there are requests of the first class
	size_t changes; // 1, and 1 more for each job that came or went
};

uint64_t sched_now(const struct sched *s)
{
	return s->replaying ? s->replayed_ns : clock_ns();
}

static uint64_t read_gpu_ids(struct sched *s, const char *text)
{
	uint64_t gpus = 0, id;
	if (strcmp(text, "all") == 0)
		return GPUS_ALL;
	while (*(text += strspn(text, " ")) &&
	       (text = number_read(text, NULL, 10, UINT32_MAX, &id)))
		gpus |= gpu_bit(&s->bits, (uint32_t)id);
	return gpus;
}

// Returns the unit's process, or NULL. That of a job held whole is known by the job alone, whose
// GPUs may change.
static struct group_member *find_unit(struct sched *s, size_t class, const struct line *d)
{
	const struct group *g = &s->classes[class].group;
	const uint64_t gpus = read_gpu_ids(s, d->gpus);
	for (size_t i = 0; i < g->n; i++)
		if (d->of.job[0] ? strcmp(s->jobs[g->v[i]->job].key, d->of.job) == 0
				 : g->v[i]->gpus == gpus)
			return g->v[i];
	return NULL;
}

static void come(struct sched *s, size_t class, const struct line *d)
{
	struct group *g = &s->classes[class].group;
	struct group_member *m = find_unit(s, class, d);
	if (!m) {
		m = group_add(g, (pid_t)g->n + 1, NULL);
		m->state = MEMBER_READY;
		jobs_join(s, class, xstrdup(d->of.job), xstrdup(d->tenant), m);
	}
	m->gpus = read_gpu_ids(s, d->gpus);
}

static void go(struct sched *s, size_t class, const struct line *d)
{
	struct group_member *m = find_unit(s, class, d);
	if (!m)
		return;
	m->state = MEMBER_ENDED;
	jobs_derive(s);
	group_forget_ended(&s->classes[class].group);
}

static bool add_request(struct replay *r, struct hint_scope scope, const struct line *d)
{
	const uint64_t deadline_ns = d->deadline_ns == U64_NULL ? 0 : d->deadline_ns;
	if (d->of.took_ns > d->of.ns || !d->deadline_ns ||
	    greater(deadline_ns, d->of.took_ns) - d->of.took_ns > LATEST_NS)
		return false;
	r->has_first |= scope.class == 0;
	*ARRAY_ADD(r->requests, r->cap, r->n) = (struct request){
		.scope = scope,
		.job = d->of.job[0] ? xstrdup(d->of.job) : NULL,
		.deadline_ns = deadline_ns ? d->of.ns - d->of.took_ns + deadline_ns : 0,
		.end_ns = d->of.ns,
		.end = {.ns = d->of.took_ns,
			.deadline_ns = deadline_ns,
			.expired = strcmp(d->of.what, "expired") == 0,
			.closed = strcmp(d->of.what, "abandoned") == 0}};
	return true;
}

static int by_begin(const void *a, const void *b)
{
	const struct opening *x = a, *y = b;
	return (x->ns > y->ns) - (x->ns < y->ns);
}

static void sort_requests(struct replay *r)
{
	r->sorted = xcalloc(r->n + 1, sizeof(*r->sorted));
	for (size_t i = 0; i < r->n; i++)
		r->sorted[i] = (struct opening){r->requests[i].end_ns - r->requests[i].end.ns,
						&r->requests[i]};
	qsort(r->sorted, r->n, sizeof(*r->sorted), by_begin);
}

static bool is_job_of(const struct sched *s, size_t at, const struct request *q)
{
	return at < s->num_jobs && s->jobs[at].used && s->jobs[at].class == q->scope.class &&
	       strcmp(s->jobs[at].key, q->job) == 0;
}

// Notes the deadline for the job of the request. All jobs are searched only after some came or
// went.
static void note_due(struct sched *s, const struct replay *r, struct request *q)
{
	if (q->looked != r->changes) {
		q->looked = r->changes;
		q->at = 0;
		while (q->at < s->num_jobs && !is_job_of(s, q->at, q))
			q->at++;
	}
	if (is_job_of(s, q->at, q))
		slices_note_due(&s->jobs[q->at], q->deadline_ns);
}

// Lets a request count, and expire as a hint does. Returns when that changes next.
static uint64_t step_request(struct sched *s, const struct replay *r, struct request *q)
{
	const uint64_t now = s->replayed_ns;
	if (!q->deadline_ns)
		return q->end_ns;
	const uint64_t at = hint_counts_at(q->deadline_ns, sched_request_needs(s, &q->scope));
	if (!q->since_ns && now < at)
		return lesser(at, q->end_ns);
	q->since_ns = q->since_ns ? q->since_ns : now;
	const uint64_t last = greater(q->deadline_ns, q->since_ns + s->opts.lease_ns);
	if (now > last)
		return q->end_ns;
	s->classes[q->scope.class].hinted |= q->scope.gpus;
	if (q->job && s->opts.slice_ns)
		note_due(s, r, q);
	return lesser(last + 1, q->end_ns);
}

static uint64_t step_requests(struct sched *s, struct replay *r)
{
	uint64_t next = UINT64_MAX;
	size_t kept = 0;
	for (size_t i = 0; i < s->n; i++)
		s->classes[i].hinted = 0;
	slices_forget_due(s);
	while (r->begun < r->n && r->open < OPEN_MAX && next == UINT64_MAX)
		if (r->sorted[r->begun].ns <= s->replayed_ns)
			r->sorted[r->open++] = r->sorted[r->begun++];
		else
			next = r->sorted[r->begun].ns;
	for (size_t i = 0; i < r->open; i++)
		if (r->sorted[i].of->end_ns > s->replayed_ns) {
			next = lesser(next, step_request(s, r, r->sorted[i].of));
			r->sorted[kept++] = r->sorted[i];
		}
	r->open = kept;
	return next;
}

static void set_work(struct sched *s, size_t class)
{
	struct sched_class *c = &s->classes[class];
	c->works = c->work | c->hinted;
	decisions_note_work(s, class);
	sched_note_burst(c, c->works, s->replayed_ns);
}

// Moves the replay's time to `until`, for which the last decisions hold, and adds to each open
// request the time in which jobs of classes below ran beside it.
static void pass(struct sched *s, struct replay *r, uint64_t until)
{
	struct hint_scope scope = {0};
	uint64_t beside = 0;
	for (size_t i = 0; i < r->open && s->opts.slowdown; i++) {
		struct request *q = r->sorted[i].of;
		if (!i || scope.class != q->scope.class || scope.gpus != q->scope.gpus)
			beside = jobs_beside_until(s, q->scope.class, q->scope.gpus);
		scope = q->scope;
		const uint64_t end = lesser(lesser(until, q->end_ns), beside);
		q->beside_ns += greater(end, s->replayed_ns) - s->replayed_ns;
	}
	s->replayed_ns = until;
}

// How long the deadline of a request counted. With --slowdown the request ends later than the log
// says, and its deadline may count between the two ends.
static uint64_t urgent_of(struct sched *s, const struct request *q)
{
	const uint64_t end = q->end_ns + q->end.more_ns;
	const uint64_t at = hint_counts_at(q->deadline_ns, sched_request_needs(s, &q->scope));
	const uint64_t since = q->since_ns ? q->since_ns : greater(at, q->end_ns);
	return q->deadline_ns && end > since ? end - since : 0;
}

static void step_replay(struct sched *s, struct replay *r, uint64_t until)
{
	while (r->due_ns < until) {
		pass(s, r, greater(r->due_ns, s->replayed_ns));
		const uint64_t next = step_requests(s, r);
		for (size_t i = 0; i < s->n; i++)
			if (s->classes[i].works != (s->classes[i].work | s->classes[i].hinted))
				set_work(s, i);
		size_t decided;
		do { // until nothing changes: without a rest a hold follows on a release at once
			decided = s->decided;
			r->due_ns = jobs_step(s, s->replayed_ns);
		} while (s->decided != decided);
		r->due_ns = greater(lesser(next, r->due_ns), s->replayed_ns + 1);
	}
	pass(s, r, until);
}

// Takes what the replay has to know ahead: the classes, the requests, what a decision took. False
// if the decision is about no class of the log, or its times cannot be.
static bool foresee(struct sched *s, struct replay *r, const struct line *d)
{
	const size_t class = sched_class_of(s, d->of.class);
	if (class == s->n && strcmp(d->of.what, "class") != 0)
		return false;
	if (class == s->n)
		sched_add_class(s, d->of.class);
	if (is_request(d))
		return add_request(r, (struct hint_scope){class, read_gpu_ids(s, d->gpus)}, d);
	r->costs += d->of.took_ns != U64_NULL;
	r->cost_ns += d->of.took_ns != U64_NULL ? d->of.took_ns : 0;
	return d->of.took_ns == U64_NULL || d->of.took_ns <= GAP_NS;
}

// False if a decision is out of order.
static bool replay_decision(struct sched *s, struct replay *r, const struct line *d)
{
	const bool first = !s->replaying;
	if (!d->of.ns ||
	    (!first && (d->of.ns < s->replayed_ns || d->of.ns - s->replayed_ns > GAP_NS)))
		return false;
	s->replaying = true;
	s->start_ns = first ? d->of.ns : s->start_ns;
	s->replayed_ns = first ? d->of.ns : s->replayed_ns;
	const size_t class = sched_class_of(s, d->of.class);
	struct request *q = is_request(d) && r->ended < r->n ? &r->requests[r->ended++] : NULL;
	if (class == s->n || (is_request(d) && !q)) // the file has changed meanwhile
		return false;
	struct sched_class *c = &s->classes[class];
	step_replay(s, r, d->of.ns);
	r->due_ns = d->of.ns;
	if (!c->group.dry)
		note_class(s, class);
	c->group.dry = true;
	if (strcmp(d->of.what, "work") == 0) {
		c->work = read_gpu_ids(s, d->gpus);
		set_work(s, class);
	} else if (q) {
		q->end.job = q->job;
		q->end.more_ns = lesser(q->beside_ns, GAP_NS) * s->opts.slowdown / 100;
		q->end.urgent_ns = urgent_of(s, q);
		sched_end_request(s, &q->scope, d->of.ns, &q->end);
	} else if (class && strcmp(d->of.what, "unit") == 0) {
		come(s, class, d);
		r->changes++;
	} else if (class && strcmp(d->of.what, "ended") == 0) {
		go(s, class, d);
		r->changes++;
	}
	return true;
}

// Reads the log with foresee() or replay_decision(). Returns the number of a line that is wrong; 0:
// none is.
static int read_log(struct sched *s, struct replay *r, FILE *f,
		    bool (*take)(struct sched *s, struct replay *r, const struct line *d))
{
	static const char head[] = "{\"record\":\"decision\"";
	static char line[LINE];
	for (int at = 1; fgets(line, sizeof(line), f); at++) {
		struct line d = {.of.took_ns = U64_NULL, .deadline_ns = U64_NULL};
		const struct member_row row[] = {{keys, &d}, {0}};
		const size_t n = strcspn(line, "\n");
		const bool read = record_read(line, n, "decision", row);
		if (!read && !line[n] && feof(f) &&
		    strncmp(line, head, lesser(n, strlen(head))) == 0)
			return 0; // the scheduler was killed while it wrote
		if (!read || (!line[n] && !feof(f)) || !take(s, r, &d))
			return at;
	}
	return 0;
}

int decisions_replay(struct sched *s, const char *path)
{
	struct replay r = {.due_ns = UINT64_MAX, .changes = 1};
	FILE *f = fopen(path, "re");
	int line = 0;
	if (!f)
		return err_sys(errno, NULL, "--replay %s", path);
	if (fseek(f, 0, SEEK_SET)) {
		fclose(f);
		return err_fail(GPQ_FAILED, "save it in a file first",
				"--replay %s: it is read twice, and a pipe cannot be", path);
	}
	line = read_log(s, &r, f, foresee);
	rewind(f);
	sort_requests(&r);
	s->replayed_cost_ns = r.costs ? r.cost_ns / r.costs : 0;
	line = line ? line : read_log(s, &r, f, replay_decision);
	if (!line && s->replaying) {
		step_replay(s, &r, s->replayed_ns + 1);
		s->replayed_ns--;
	}
	if (!line && s->replaying && s->opts.goal.percent > 0 && !r.has_first)
		err_warn("record a scheduler to which clients send hints, gpq-client(3)",
			 "--slo is about the requests of %s, and %s has none", s->classes[0].name,
			 path);
	free(r.sorted);
	for (size_t i = 0; i < r.n; i++)
		free(r.requests[i].job);
	free(r.requests);
	const bool failed = ferror(f), empty = !s->replaying;
	fclose(f);
	if (failed)
		return err_sys(EIO, NULL, "--replay %s", path);
	if (line)
		return err_fail(GPQ_FAILED, "gpq sched --log-decisions writes such a file",
				"--replay %s: line %d: no decision, or not in the order of time",
				path, line);
	return empty ? err_fail(GPQ_NOTFOUND, "gpq sched --log-decisions writes such a file",
				"--replay %s: there is nothing in it", path)
		     : GPQ_OK;
}
