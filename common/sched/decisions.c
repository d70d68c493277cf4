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

static const struct member keys[] = {MEMBER(count, sched_decision, ns, "ns"),
				     MEMBER(text, sched_decision, what, "what"),
				     MEMBER(text, sched_decision, class, "class"),
				     MEMBER(text, sched_decision, job, "job_by"),
				     MEMBER(text, sched_decision, tenant, "tenant_by"),
				     MEMBER(plain, sched_decision, gpus, "gpus"),
				     MEMBER(text, sched_decision, rival, "for"),
				     MEMBER(u64, sched_decision, took_ns, "took_ns"),
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

// Keeps a decision, and writes its line. A log that cannot be written is given up, and the
// scheduler goes on.
static void note(struct sched *s, struct sched_decision *d)
{
	SCOPED(buf_fini) struct buf line = {0};
	struct json j;
	d->ns = sched_now(s);
	if (!s->latest)
		s->latest = xcalloc(SCHED_LATEST, sizeof(*s->latest));
	s->latest[s->decided++ % SCHED_LATEST] = *d;
	if (!s->decisions)
		return;
	put_gpu_ids(s, d->on, d->gpus, sizeof(d->gpus));
	record_begin(&j, &line, "decision");
	members_write(&j, keys, d);
	record_end(&j);
	if (fwrite(line.data, line.len, 1, s->decisions) == 1 && fflush(s->decisions) == 0)
		return;
	err_warn("the scheduler goes on without it", "--log-decisions: %s", strerror(errno));
	decisions_close(s);
}

void decisions_close(struct sched *s)
{
	if (s->decisions)
		fclose(s->decisions);
	s->decisions = NULL;
}

static void note_class(struct sched *s, size_t class)
{
	struct sched_decision d = {.what = "class", .took_ns = U64_NULL};
	snprintf(d.class, sizeof(d.class), "%s", s->classes[class].name);
	note(s, &d);
}

int decisions_open(struct sched *s, const char *path, const char *replay)
{
	struct stat own, other;
	// Nothing may be waited for: a FIFO that nobody reads.
	const int fd =
		open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0666);
	if (fd < 0)
		return err_sys(errno, NULL, "--log-decisions %s", path);
	if (replay && stat(replay, &other) == 0 && fstat(fd, &own) == 0 &&
	    own.st_dev == other.st_dev && own.st_ino == other.st_ino) {
		close(fd);
		return err_fail(GPQ_USAGE, "name another file",
				"--log-decisions: %s is what --replay reads", path);
	}
	s->decisions = fdopen(fd, "a");
	if (!s->decisions) {
		close(fd);
		return err_sys(errno, NULL, "--log-decisions %s", path);
	}
	for (size_t i = 0; i < s->n; i++)
		note_class(s, i);
	return GPQ_OK;
}

void decisions_note(struct sched *s, const char *what, const struct sched_job *j,
		    const struct sched_unit *u, uint64_t took_ns)
{
	struct sched_decision d = {.took_ns = strcmp(what, "done") == 0 ? took_ns : U64_NULL,
				   .on = u->gpus};
	snprintf(d.what, sizeof(d.what), "%s", what);
	snprintf(d.class, sizeof(d.class), "%s", s->classes[j->class].name);
	snprintf(d.job, sizeof(d.job), "%s", j->key);
	snprintf(d.tenant, sizeof(d.tenant), "%s", j->tenant);
	snprintf(d.rival, sizeof(d.rival), "%s", u->asked ? unit_rival(s, j, u) : "");
	note(s, &d);
}

void decisions_note_work(struct sched *s, size_t class)
{
	const struct sched_class *c = &s->classes[class];
	struct sched_decision d = {.what = "work", .took_ns = U64_NULL, .on = c->works};
	if (c->works == c->worked)
		return;
	snprintf(d.class, sizeof(d.class), "%s", c->name);
	note(s, &d);
}

// ---- replaying

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
static struct group_member *find_unit(struct sched *s, size_t class, const struct sched_decision *d)
{
	const struct group *g = &s->classes[class].group;
	const uint64_t gpus = read_gpu_ids(s, d->gpus);
	for (size_t i = 0; i < g->n; i++)
		if (d->job[0] ? strcmp(s->jobs[g->v[i]->job].key, d->job) == 0
			      : g->v[i]->gpus == gpus)
			return g->v[i];
	return NULL;
}

static void come(struct sched *s, size_t class, const struct sched_decision *d)
{
	struct group *g = &s->classes[class].group;
	struct group_member *m = find_unit(s, class, d);
	if (!m) {
		m = group_add(g, (pid_t)g->n + 1, NULL);
		m->state = MEMBER_READY;
		jobs_join(s, class, xstrdup(d->job), xstrdup(d->tenant), m);
	}
	m->gpus = read_gpu_ids(s, d->gpus);
}

static void go(struct sched *s, size_t class, const struct sched_decision *d)
{
	struct group_member *m = find_unit(s, class, d);
	if (!m)
		return;
	m->state = MEMBER_ENDED;
	jobs_derive(s);
	group_forget_ended(&s->classes[class].group);
}

static void step_replay(struct sched *s, uint64_t *due, uint64_t until)
{
	while (*due < until) {
		s->replayed_ns = greater(*due, s->replayed_ns);
		jobs_step(s, s->replayed_ns);
		*due = jobs_step(s, s->replayed_ns); // now it sees what is off
		*due = greater(*due, s->replayed_ns + 1);
	}
	s->replayed_ns = until;
}

static void make_class(struct sched *s, const char *name)
{
	sched_add_class(s, name);
	s->classes[s->n - 1].group.dry = true;
	note_class(s, s->n - 1);
}

// False if a decision is not about the classes of the log, or out of order.
static bool replay_decision(struct sched *s, const struct sched_decision *d, uint64_t *due)
{
	const bool first = !s->replaying;
	if (!d->ns || (!first && (d->ns < s->replayed_ns || d->ns - s->replayed_ns > GAP_NS)))
		return false;
	s->replaying = true;
	s->start_ns = first ? d->ns : s->start_ns;
	s->replayed_ns = first ? d->ns : s->replayed_ns;
	const size_t class = sched_class_of(s, d->class);
	if (class == s->n && strcmp(d->what, "class") != 0)
		return false;
	if (class == s->n)
		make_class(s, d->class);
	step_replay(s, due, d->ns);
	*due = d->ns;
	if (strcmp(d->what, "work") == 0) {
		s->classes[class].works = read_gpu_ids(s, d->gpus);
		decisions_note_work(s, class);
		sched_note_burst(&s->classes[class], s->classes[class].works, d->ns);
	} else if (class && strcmp(d->what, "unit") == 0) {
		come(s, class, d);
	} else if (class && strcmp(d->what, "ended") == 0) {
		go(s, class, d);
	}
	return true;
}

// Reads the log once for what a decision took on average (`costs`), and once to replay it. Returns
// the number of a line that is wrong; 0: none is.
static int read_log(struct sched *s, FILE *f, bool costs)
{
	static char line[LINE];
	uint64_t sum = 0, num = 0, due = UINT64_MAX;
	for (int at = 1; fgets(line, sizeof(line), f); at++) {
		struct sched_decision d = {.took_ns = U64_NULL};
		const struct member_row row[] = {{keys, &d}, {0}};
		const size_t n = strcspn(line, "\n");
		if (!line[n] && !feof(f))
			return at;
		if (!record_read(line, n, "decision", row) ||
		    (d.took_ns != U64_NULL && d.took_ns > GAP_NS))
			return at;
		if (costs && d.took_ns != U64_NULL) {
			sum += d.took_ns;
			num++;
		}
		if (!costs && !replay_decision(s, &d, &due))
			return at;
	}
	s->replayed_cost_ns = costs && num ? sum / num : s->replayed_cost_ns;
	if (!costs && s->replaying) {
		step_replay(s, &due, s->replayed_ns + 1);
		s->replayed_ns--;
	}
	return 0;
}

int decisions_replay(struct sched *s, const char *path)
{
	FILE *f = fopen(path, "re");
	int line = 0;
	if (!f)
		return err_sys(errno, NULL, "--replay %s", path);
	if (fseek(f, 0, SEEK_SET)) {
		fclose(f);
		return err_fail(GPQ_FAILED, "save it in a file first",
				"--replay %s: it is read twice, and a pipe cannot be", path);
	}
	line = read_log(s, f, true);
	rewind(f);
	line = line ? line : read_log(s, f, false);
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
