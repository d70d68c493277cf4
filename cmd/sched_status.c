// gpq sched --status and --explain; statistics of the scheduler as tables.
#include "cmd/sched.h"

#include "common/client/gpq-client.h"

// ---- printing statistics

int sched_write_stats(const struct out_opts *form, struct sched_stats *t, unsigned what)
{
	SCOPED(process_cache_fini) struct process_cache known = {0};
	int status = GPQ_OK;
	for (size_t i = 0; i < t->members.n && what & MEMBERS; i++)
		t->members.v[i].whose = whose_of(&known, (pid_t)t->members.v[i].pid);
	for (size_t i = 0; i < t->clients.n && what & CLIENTS; i++)
		if (t->clients.v[i].pid != U64_NULL)
			t->clients.v[i].whose = whose_of(&known, (pid_t)t->clients.v[i].pid);
	struct out *o = out_open(form);
	for (unsigned i = 0; i < SCHED_KINDS && !status; i++)
		if (what & 1u << i)
			status = sched_stats_print(o, t, &sched_kinds[i]);
	return out_finish(o, status);
}

// ---- --status

static int no_scheduler(const struct sched_cmd *o, ssize_t error)
{
	const int e = (int)-error;
	if (e == EACCES)
		return err_fail(GPQ_DENIED,
				"run as its user or as root; gpq sched --group G lets "
				"others in",
				"the scheduler's socket is not for this user");
	if (e == EDQUOT)
		return err_fail(GPQ_FAILED, "try again later",
				"the scheduler has as many connections as it takes, or as one user "
				"may have");
	if (e == ENAMETOOLONG)
		return err_fail(GPQ_USAGE, NULL, "--socket: a path of over 107 bytes");
	if (e == ENOENT || e == ECONNREFUSED || e == ECONNRESET)
		return err_fail(GPQ_NOTFOUND, "--socket FILE says where it listens",
				"no scheduler%s%s", o->socket ? " at " : " runs here",
				o->socket ? o->socket : "");
	return err_sys(e, NULL, "ask the scheduler");
}

#define STATUS_MAX (16 << 20) // most bytes that are read, whatever listens at the socket

// Asks the scheduler. Free *t whatever is returned.
static int ask_scheduler(const struct sched_cmd *o, struct sched_stats *t)
{
	struct gpq_client *client = gpq_connect(o->socket);
	SCOPED(buf_fini) struct buf text = {0};
	ssize_t need = client ? 65536 : -errno;
	*t = (struct sched_stats){0};
	do {
		buf_reserve(&text, (size_t)(need < 0 ? 0 : need) + 1);
		need = need < 0 ? need : gpq_status(client, text.data, text.cap, 5 * 1000000000ll);
	} while (need >= (ssize_t)text.cap && need < STATUS_MAX);
	gpq_close(client);
	if (need < 0)
		return no_scheduler(o, need);
	if (need >= STATUS_MAX || !sched_stats_read(t, text.data))
		return err_fail(GPQ_FAILED, "use the same version of gpq",
				"the scheduler's statistics are not understood");
	return GPQ_OK;
}

// For people, decisions and times are shown only by --table. Decisions are no metrics.
int sched_list_status(struct cmd *c)
{
	const bool brief = c->out.mode == OUT_TABLE && !c->out.only;
	const unsigned more = brief                                            ? 0
			      : c->out.mode == OUT_OPENMETRICS && !c->out.only ? TIMES
									       : DECISIONS | TIMES;
	SCOPED(sched_stats_fini) struct sched_stats t;
	const int status = ask_scheduler(c->opts, &t);
	return status ? status
		      : sched_write_stats(&c->out, &t,
					  TOTALS | CLASSES | JOBS | MEMBERS | CLIENTS | more);
}

// ---- --explain

// Is the GPU of a job (U64_NULL: of all) among these indices? "" says any.
static bool has_gpu(const char *list, uint64_t gpu)
{
	char word[32];
	snprintf(word, sizeof(word), "%" PRIu64, gpu);
	return !*list || gpu == U64_NULL || text_has_word(list, word, strlen(word));
}

// Appends a text that comes from a process, or from whoever listens at the socket.
static void put_text(struct buf *b, const char *before, const char *text)
{
	buf_puts(b, before);
	text_escape(b, text, strlen(text));
}

// Are any of a client's hints about the class, with this word before it in HINTED, and the GPU of
// the job; a job held whole: about any GPU of the class?
static bool is_hinted(const struct sched_client_row *c, const struct sched_job_row *j,
		      const char *before, const char *class)
{
	char any[SCHED_NAME + 32], one[SCHED_NAME + 32];
	const size_t n =
		(size_t)snprintf(any, sizeof(any), "%s%s:any", before, class) - strlen("any");
	bool is = false;
	snprintf(one, sizeof(one), "%s%s:%" PRIu64, before, class, j->gpu);
	for (const char *s = c->hinted; s && !is && j->gpu == U64_NULL; s = strchr(s, ' ')) {
		s += *s == ' ';
		is = strncmp(s, any, n) == 0;
	}
	return is || text_has_word(c->hinted, any, strlen(any)) ||
	       text_has_word(c->hinted, one, strlen(one));
}

// Do deadlines of hints leave time, which will hold the job?
static bool is_hinted_later(const struct sched_stats *t, const struct sched_job_row *j)
{
	bool is = false;
	for (size_t k = 0; k < t->classes.n && strcmp(t->classes.v[k].name, j->name) != 0; k++)
		for (size_t i = 0; i < t->clients.n; i++)
			is |= is_hinted(&t->clients.v[i], j, SCHED_LATER, t->classes.v[k].name);
	return is;
}

// Says what tells of the work that holds the job.
static void put_work(struct buf *b, const struct sched_stats *t, const struct sched_job_row *j)
{
	put_text(b, ": ", j->rival);
	buf_puts(b, " has work");
	const size_t at = b->len;
	for (size_t i = 0; i < t->clients.n; i++) {
		const struct sched_client_row *c = &t->clients.v[i];
		if (!is_hinted(c, j, "", j->rival))
			continue;
		buf_puts(b, b->len == at ? " (hints of " : ", ");
		if (c->pid == U64_NULL)
			buf_puts(b, "a process of another PID namespace");
		else
			buf_printf(b, "pid %" PRIu64, c->pid);
	}
	buf_puts(b, b->len == at ? " (seen in its queues or its log)" : ")");
}

static bool is_below(const struct sched_stats *t, const char *class, const char *other)
{
	for (size_t i = 0; i < t->classes.n; i++) {
		if (strcmp(t->classes.v[i].name, class) == 0)
			return strcmp(class, other) != 0;
		if (strcmp(t->classes.v[i].name, other) == 0)
			break;
	}
	return false;
}

// Writes whether a job is held on a GPU, and why.
static void put_job(struct buf *b, const struct sched_stats *t, const struct sched_job_row *j)
{
	static const struct {
		const char *state, *text;
		const char *idle; // where no class above has work
		const char *left; // what the time that is left is
	} texts[] = {
		{"held", "held", ": work above was there a moment ago (--idle, COST)",
		 "; %s more at most"},
		{"holding", "a hold is asked for, which not all holders have answered", "",
		 "; %s at most"},
		{"resuming", "a resume is asked for, which not all holders have answered", "", ""},
		{"rests", "runs after a hold of --max-hold", "", "; %s more at least"},
		{"turn", "runs in its turn", "", ""},
		{"refused", "runs, as a process of its job cannot be held", "", ""},
		{"runs", "runs", ": no class above has work there", ""},
	};
	char ns[24];
	for (size_t i = 0; i < COUNT(texts); i++) {
		if (strcmp(j->state, texts[i].state) != 0)
			continue;
		if (j->gpu != U64_NULL)
			buf_printf(b, "  GPU %" PRIu64 ": %s", j->gpu, texts[i].text);
		else
			buf_printf(b, "  all of its GPUs: %s", texts[i].text);
		if (j->held_ns != U64_NULL && strcmp(j->state, "held") == 0)
			buf_printf(b, " for %s", text_ns(ns, j->held_ns));
		if (*j->rival && strcmp(j->rival, j->name) == 0)
			buf_puts(b, ": it is the turn of another job of its class (--slice)");
		else if (*j->rival && is_below(t, j->name, j->rival))
			put_text(b, ": it is the turn of ", j->rival);
		else if (*j->rival)
			put_work(b, t, j);
		else
			buf_puts(b, texts[i].idle);
		if (!*j->rival && is_hinted_later(t, j) && strcmp(j->state, "runs") == 0)
			buf_puts(b, " (deadlines of hints leave time)");
		if (j->left_ns != U64_NULL && *texts[i].left)
			buf_printf(b, texts[i].left, text_ns(ns, j->left_ns));
		buf_puts(b, "\n");
	}
}

// Writes what is true of the process, whatever its job is.
static void put_member(struct buf *b, const struct sched_stats *t, const struct sched_member_row *m)
{
	buf_printf(b, "pid %" PRIu64, m->pid);
	put_text(b, " (", m->comm);
	put_text(b, ") is of class ", m->name);
	if (strcmp(m->name, t->classes.v[0].name) == 0)
		buf_puts(b, ", which is never held");
	else if (strcmp(m->state, "missed") == 0 && *m->reason)
		put_text(b, " and cannot be held: ", m->reason);
	else if (strcmp(m->state, "idle") == 0)
		buf_puts(b, " and is not held, as it had nothing to do for 10 s");
	else if (strcmp(m->state, "joins") == 0)
		buf_puts(b, " and has come just now: it is attached to next");
	else if (strcmp(m->state, "partly") == 0)
		buf_puts(b, "; some of its queues run on");
	else if (!*m->gpus)
		buf_puts(b, "; it has no queue");
	buf_puts(b, "\n");
}

int sched_explain(struct cmd *c)
{
	const struct sched_cmd *o = c->opts;
	SCOPED(sched_stats_fini) struct sched_stats t;
	SCOPED(buf_fini) struct buf b = {0};
	const struct sched_member_row *m = NULL;
	const int status = ask_scheduler(o, &t);
	if (status)
		return status;
	for (size_t i = 0; i < t.members.n; i++)
		if (t.members.v[i].pid == o->explain)
			m = &t.members.v[i];
	if (!m || !t.classes.n)
		return err_fail(GPQ_NOTFOUND, "gpq sched --status --table members lists them",
				"pid %" PRIu64 " belongs to no class of the scheduler: it runs",
				o->explain);
	put_member(&b, &t, m);
	for (size_t i = 0; i < t.jobs.n; i++) {
		const struct sched_job_row *j = &t.jobs.v[i];
		if (strcmp(j->name, m->name) == 0 && strcmp(j->job, m->job) == 0 && *m->gpus &&
		    has_gpu(m->gpus, j->gpu))
			put_job(&b, &t, j);
	}
	return out_text(&b);
}
