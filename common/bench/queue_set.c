// Sets of queues: JSON, reading, comparison; see queue_set.h.
#include "common/bench/queue_set.h"

void queue_set_fini(struct queue_set *s)
{
	free(s->v);
	*s = (struct queue_set){0};
}

static const struct member members[] = {
	MEMBER_WORD(queue_set_entry, side, "side", side_name),
	MEMBER(count, queue_set_entry, row.pid, "pid"),
	MEMBER(u64, queue_set_entry, row.gpu_id, "gpu_id"),
	MEMBER(u64, queue_set_entry, row.gpu.index, "gpu"),
	MEMBER(u64, queue_set_entry, row.qid, "queue_id"),
	MEMBER(u64, queue_set_entry, row.context, "context"),
	MEMBER(text, queue_set_entry, type, "type"),
	MEMBER(u64, queue_set_entry, row.v[MQD_V_QUEUE_PRIO], "priority"),
	MEMBER(u64, queue_set_entry, row.v[MQD_V_PIPE_PRIO], "pipe_priority"),
	MEMBER(text, queue_set_entry, slots, "slots"),
	MEMBER(flag, queue_set_entry, suspended, "suspended"),
	{0},
};

static void write_set(struct json *j, const struct member *m, const void *at)
{
	const struct queue_set *s = at;
	json_begin(j, m->key, '[');
	for (size_t i = 0; i < s->n; i++) {
		json_begin(j, NULL, '{');
		members_write(j, members, &s->v[i]);
		json_end(j, '}');
	}
	json_end(j, ']');
}

static bool read_set(const struct jsonin_value *v, const struct member *m, void *at)
{
	struct queue_set *s = at;
	struct jsonin list, j;
	struct jsonin_value each, key, value;
	(void)m;
	if (!jsonin_open(&list, v->text, v->len, '['))
		return false;
	while (jsonin_next(&list, NULL, &each)) {
		if (!jsonin_open(&j, each.text, each.len, '{'))
			return false;
		struct queue_set_entry *q = ARRAY_ADD(s->v, s->cap, s->n);
		*q = (struct queue_set_entry){.row = {.gpu_id = KFD_UNKNOWN,
						      .gpu.index = KFD_UNKNOWN,
						      .qid = KFD_UNKNOWN,
						      .context = KFD_UNKNOWN,
						      .v[MQD_V_QUEUE_PRIO] = KFD_UNKNOWN,
						      .v[MQD_V_PIPE_PRIO] = KFD_UNKNOWN}};
		const struct member_row rows[] = {{members, q}, {0}};
		while (jsonin_next(&j, &key, &value))
			if (!members_take(rows, &key, &value))
				return false;
		if ((uint64_t)q->row.pid > INT32_MAX)
			return false;
	}
	return !list.failed;
}

const struct member_type member_queue_set = {write_set, read_set};

// ---- taking a set

static void set_add_queue(struct queue_set *s, const struct state_queue *q, enum side side)
{
	struct queue_set_entry *to = ARRAY_ADD(s->v, s->cap, s->n);
	*to = (struct queue_set_entry){.side = side, .row = q->row};
	snprintf(to->type, sizeof(to->type), "%s", q->row.type ? q->row.type : "");
	snprintf(to->slots, sizeof(to->slots), "%s", q->slots);
}

static int take_in_child(const void *arg)
{
	const struct workload *const *of = arg; // the workload of each side
	struct queue_set s = {0};
	struct host_state m;
	struct buf line = {0};
	struct json j;
	if (host_state_load(&m, "/", NULL))
		return 1;
	for (size_t i = 0; i < m.n; i++) {
		pid_t pid = (pid_t)m.queues[i].row.pid;
		bool offline = group_has(&of[SIDE_OFFLINE]->group, pid);
		if (offline || group_has(&of[SIDE_ONLINE]->group, pid))
			set_add_queue(&s, &m.queues[i], offline ? SIDE_OFFLINE : SIDE_ONLINE);
	}
	json_init(&j, &line, false);
	write_set(&j, &(struct member){0}, &s);
	buf_puts(&line, "\n");
	return write_fully(STDOUT_FILENO, line.data, line.len) ? 1 : 0;
}

int queue_set_take(struct child *c, const struct workload *online, const struct workload *offline)
{
	return child_fork(c, take_in_child, (const struct workload *[]){online, offline});
}

// A line that is no set is a message of the child, about a file that it cannot read.
void queue_set_line(void *set, const char *line)
{
	struct queue_set s = {0}, *to = set;
	if (!read_set(&(struct jsonin_value){'[', line, strlen(line)}, NULL, &s)) {
		queue_set_fini(&s);
		return;
	}
	queue_set_fini(to);
	*to = s;
}

// ---- comparing sets

// Fills `m` with the queues of a set. True if some of them were suspended.
static bool set_as_moment(struct host_state *m, struct queue_set *s)
{
	bool suspended = false;
	for (; m->n < s->n; m->n++) {
		struct queue_set_entry *q = &s->v[m->n];
		q->row.process.comm = q->row.process.cmdline = side_name[q->side];
		q->row.type = *q->type ? q->type : NULL;
		struct state_queue *to = &m->queues[m->n];
		*to = (struct state_queue){.row = q->row, .start_ticks = KFD_UNKNOWN};
		snprintf(to->slots, sizeof(to->slots), "%s", q->slots);
		suspended |= q->suspended;
	}
	return suspended;
}

void queue_sets_compare(struct queue_sets *c, struct queue_set *v, size_t n)
{
	*c = (struct queue_sets){.moments = xcalloc(n + 1, sizeof(*c->moments))};
	for (size_t i = 0; i < n; i++) {
		c->moments[i].queues = xcalloc(v[i].n + 1, sizeof(struct state_queue));
		c->suspended += set_as_moment(&c->moments[i], &v[i]);
	}
	run_compare_compare(&c->runs, c->moments, (unsigned)n, QRUNS_COMM);
}

void queue_sets_fini(struct queue_sets *c)
{
	unsigned n = c->runs.runs;
	run_compare_fini(&c->runs);
	for (size_t i = 0; i < n; i++)
		free(c->moments[i].queues);
	free(c->moments);
	*c = (struct queue_sets){0};
}
