// Queues of both sides at one moment; queue_set.h.
#include "common/bench/queue_set.h"

#include "common/host/buf.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const sides[] = {"online", "offline"};

void queue_set_fini(struct queue_set *l)
{
	free(l->v);
	*l = (struct queue_set){0};
}

static const char *known(const char *text)
{
	return *text ? text : NULL;
}

void queue_set_write(struct json *j, const char *key, const struct queue_set *l)
{
	json_begin(j, key, '[');
	for (size_t i = 0; i < l->n; i++) {
		const struct queue_set_entry *q = &l->v[i];
		json_begin(j, NULL, '{');
		json_str(j, "side", sides[q->offline]);
		json_i64(j, "pid", q->pid);
		json_u64(j, "gpu_id", q->gpu_id);
		json_u64(j, "gpu", q->gpu);
		json_u64(j, "queue_id", q->qid);
		json_u64(j, "context", q->context);
		json_str(j, "type", known(q->type));
		json_u64(j, "priority", q->prio);
		json_u64(j, "pipe_priority", q->pipe_prio);
		json_str(j, "slots", known(q->slots));
		json_bool(j, "suspended", q->suspended);
		json_end(j, '}');
	}
	json_end(j, ']');
}

static bool read_member(const struct jsonin_value *key, const struct jsonin_value *v,
			struct queue_set_entry *q)
{
	const struct {
		const char *key;
		uint64_t *to;
	} numbers[] = {{"gpu_id", &q->gpu_id}, {"gpu", &q->gpu},
		       {"queue_id", &q->qid},  {"context", &q->context},
		       {"priority", &q->prio}, {"pipe_priority", &q->pipe_prio}};
	uint64_t pid = 0;
	for (unsigned i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (jsonin_is(key, numbers[i].key))
			return v->kind == 'n' || jsonin_u64(v, numbers[i].to);
	if (jsonin_is(key, "pid") && (!jsonin_u64(v, &pid) || pid > INT32_MAX))
		return false;
	if (jsonin_is(key, "pid"))
		q->pid = (int64_t)pid;
	if (jsonin_is(key, "side"))
		q->offline = jsonin_is(v, sides[1]);
	if (jsonin_is(key, "suspended"))
		q->suspended = v->kind == 't';
	if (jsonin_is(key, "type") && v->kind != 'n')
		return jsonin_str(v, q->type, sizeof(q->type));
	if (jsonin_is(key, "slots") && v->kind != 'n')
		return jsonin_str(v, q->slots, sizeof(q->slots));
	return true;
}

bool queue_set_read(const struct jsonin_value *v, struct queue_set *l)
{
	struct jsonin list, j;
	struct jsonin_value each, key, value;
	if (!jsonin_open(&list, v->text, v->len, '['))
		return false;
	while (jsonin_next(&list, NULL, &each)) {
		struct queue_set_entry q = {.gpu_id = KFD_UNKNOWN,
					    .gpu = KFD_UNKNOWN,
					    .qid = KFD_UNKNOWN,
					    .context = KFD_UNKNOWN,
					    .prio = KFD_UNKNOWN,
					    .pipe_prio = KFD_UNKNOWN};
		if (!jsonin_open(&j, each.text, each.len, '{'))
			return false;
		while (jsonin_next(&j, &key, &value))
			if (!read_member(&key, &value, &q))
				return false;
		if (ARRAY_GROW(l->v, l->cap, l->n))
			return false;
		l->v[l->n++] = q;
	}
	return !list.failed;
}

// ---- taking one

static bool has(const pid_t *pids, unsigned n, int64_t pid)
{
	for (unsigned i = 0; i < n; i++)
		if (pids[i] == pid)
			return true;
	return false;
}

static void copy_text(char *to, size_t size, const char *from)
{
	size_t n = from ? strnlen(from, size - 1) : 0;
	if (n)
		memcpy(to, from, n);
	to[n] = '\0';
}

static int add(struct queue_set *l, const struct state_queue *q, bool offline)
{
	if (ARRAY_GROW(l->v, l->cap, l->n))
		return -1;
	struct queue_set_entry *to = &l->v[l->n++];
	*to = (struct queue_set_entry){.offline = offline,
				       .pid = q->row->pid,
				       .gpu_id = q->row->gpu_id,
				       .gpu = q->row->gpu,
				       .qid = q->row->qid,
				       .context = q->row->context,
				       .prio = q->row->v[MQD_V_QUEUE_PRIO],
				       .pipe_prio = q->row->v[MQD_V_PIPE_PRIO]};
	copy_text(to->type, sizeof(to->type), q->row->type);
	copy_text(to->slots, sizeof(to->slots), q->slots);
	return 0;
}

static int write_all(int fd, const struct buf *b)
{
	for (size_t done = 0; done < b->len;) {
		ssize_t n = write(fd, b->data + done, b->len - done);
		if (n < 0 && errno != EINTR)
			return 1;
		done += n > 0 ? (size_t)n : 0;
	}
	return 0;
}

static int take(int out, const pid_t *online, unsigned nonline, const pid_t *offline,
		unsigned noffline)
{
	struct queue_set l = {0};
	struct host_state m;
	struct buf b = {0};
	struct json j;
	if (host_state_load(&m, "/"))
		return 1;
	for (size_t i = 0; i < m.n; i++) {
		int64_t pid = m.queues[i].row->pid;
		bool off = has(offline, noffline, pid);
		if ((off || has(online, nonline, pid)) && add(&l, &m.queues[i], off))
			return 1;
	}
	json_init(&j, &b, false);
	queue_set_write(&j, NULL, &l);
	return write_all(out, &b);
}

int queue_set_take(struct queue_set_taking *t, const pid_t *online, unsigned nonline,
		   const pid_t *offline, unsigned noffline)
{
	int ends[2];
	if (pipe2(ends, O_CLOEXEC))
		return -1;
	t->text.len = 0;
	t->pid = fork();
	if (t->pid == 0) {
		int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
		if (null >= 0)
			dup2(null, STDERR_FILENO); // what is unknown is unknown
		_exit(take(ends[1], online, nonline, offline, noffline));
	}
	int error = errno;
	close(ends[1]);
	t->fd = ends[0];
	if (t->pid < 0) {
		close(ends[0]);
		t->fd = -1;
		errno = error;
		return -1;
	}
	fcntl(t->fd, F_SETFL, O_NONBLOCK);
	return 0;
}

static int finish(struct queue_set_taking *t, struct queue_set *l)
{
	struct jsonin_value v = {'[', t->text.data ? t->text.data : "", t->text.len};
	int status;
	close(t->fd);
	t->fd = -1;
	if (waitpid(t->pid, &status, 0) != t->pid || status)
		return -1;
	queue_set_fini(l);
	return queue_set_read(&v, l) ? 1 : -1;
}

int queue_set_poll(struct queue_set_taking *t, struct queue_set *l)
{
	char text[4096];
	ssize_t n = -1;
	errno = EAGAIN;
	while (t->fd >= 0 && (n = read(t->fd, text, sizeof(text))) > 0)
		buf_append(&t->text, text, (size_t)n);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	return finish(t, l);
}

void queue_set_stop(struct queue_set_taking *t)
{
	if (t->fd >= 0) {
		kill(t->pid, SIGKILL);
		waitpid(t->pid, NULL, 0);
		close(t->fd);
	}
	t->fd = -1;
	buf_fini(&t->text);
}

// ---- comparing

static void show(struct host_state *m, struct queue_row **row, const struct queue_set *l)
{
	for (size_t i = 0; i < l->n; i++) {
		const struct queue_set_entry *q = &l->v[i];
		struct queue_row *r = (*row)++;
		*r = (struct queue_row){.pid = q->pid,
					.comm = sides[q->offline],
					.cmdline = sides[q->offline],
					.gpu = q->gpu,
					.gpu_id = q->gpu_id,
					.qid = q->qid,
					.context = q->context,
					.type = known(q->type),
					.v[MQD_V_QUEUE_PRIO] = q->prio,
					.v[MQD_V_PIPE_PRIO] = q->pipe_prio};
		m->queues[m->n] = (struct state_queue){.row = r, .start_ticks = KFD_UNKNOWN};
		memcpy(m->queues[m->n++].slots, q->slots, sizeof(q->slots));
	}
}

static void forget(struct lineups *c, size_t n)
{
	for (size_t i = 0; c->moments && i < n; i++)
		free(c->moments[i].queues);
	free(c->moments);
	free(c->rows);
	*c = (struct lineups){0};
}

static int make_moments(struct lineups *c, const struct queue_set *v, size_t n)
{
	size_t all = 0;
	for (size_t i = 0; i < n; i++)
		all += v[i].n;
	c->moments = calloc(n + 1, sizeof(*c->moments));
	struct queue_row *row = c->rows = calloc(all + 1, sizeof(*c->rows));
	if (!c->moments || !c->rows)
		return -1;
	for (size_t i = 0; i < n; i++) {
		c->moments[i].queues = calloc(v[i].n + 1, sizeof(struct state_queue));
		if (!c->moments[i].queues)
			return -1;
		show(&c->moments[i], &row, &v[i]);
	}
	return 0;
}

size_t queue_sets_suspended(const struct queue_set *v, size_t n)
{
	size_t found = 0;
	for (size_t i = 0; i < n; i++) {
		bool any = false;
		for (size_t k = 0; k < v[i].n; k++)
			any |= v[i].v[k].suspended;
		found += any;
	}
	return found;
}

int queue_sets_compare(struct lineups *c, const struct queue_set *v, size_t n)
{
	*c = (struct lineups){0};
	if (make_moments(c, v, n) == 0 &&
	    run_compare_compare(&c->runs, c->moments, (unsigned)n, QRUNS_COMM) == 0)
		return 0;
	run_compare_fini(&c->runs);
	forget(c, n);
	errno = ENOMEM;
	return -1;
}

void queue_sets_fini(struct lineups *c)
{
	unsigned n = c->runs.runs;
	run_compare_fini(&c->runs);
	forget(c, n);
}
