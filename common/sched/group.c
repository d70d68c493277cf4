// Processes that are held together; group.h.
#include "common/sched/group.h"

#include "common/host/buf.h"
#include "common/host/clock.h"
#include "common/host/root.h"
#include "common/host/xalloc.h"

#include <dirent.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define RETRY_NS 5000000000ull
enum { TRIES = 20 };

// ---- one member

// Closes the connection, on which the holder ends.
static void hang_up(struct group *g, struct group_member *m)
{
	m->holder = m->link.started > 0 ? m->link.started : m->holder;
	if (m->link.fd >= 0)
		kfd_link_close(&m->link);
	g->asked -= m->asked;
	m->asked = m->hold = false;
}

static void let_go(struct group *g, struct group_member *m)
{
	hang_up(g, m);
	if (m->holder > 0) {
		kfd_wait_death(m->holder, KFD_END_MS);
		waitpid(m->holder, NULL, WNOHANG);
	}
	m->holder = 0;
}

// A failure because the process ended is none.
static void note_failure(struct group *g, struct group_member *m)
{
	struct pollfd dead = {.fd = m->target.pidfd, .events = POLLIN};

	hang_up(g, m);
	m->ended = poll(&dead, 1, 500) == 1;
	m->failed = !m->ended;
}

static unsigned patience(const struct group *g)
{
	return g->patience_ms ? g->patience_ms : KFD_ANSWER_MS;
}

static bool ask_and_wait(const struct group *g, struct group_member *m, const char *request)
{
	return kfd_link_send(&m->link, request, &m->failure) == 0 &&
	       kfd_link_receive(&m->link, patience(g), &m->failure) == 0;
}

// Reads the indices into m->last; on failure m->last keeps its content.
static bool look_now(struct group_member *m)
{
	struct kfd_indices now;

	if (!kfd_watch_look(&m->watch, &now, true))
		return false;
	if (memcmp(m->last.write, now.write, m->watch.n * sizeof(*now.write)) != 0 ||
	    kfd_watch_moved(&m->watch, &m->last, &now))
		m->moved_ns = clock_ns();
	memcpy(m->last.read, now.read, m->watch.n * sizeof(*now.read));
	memcpy(m->last.write, now.write, m->watch.n * sizeof(*now.write));
	return true;
}

// Queues that were watched before keep their start index; new ones count from 0. The packets of
// queues that are gone are added to m->gone.
static void carry_over(struct group_member *m, const struct kfd_watch *old,
		       const struct kfd_indices *first)
{
	uint64_t before = kfd_watch_packets(old, first, &m->last), carried = 0;
	struct kfd_indices begin = {0};

	for (unsigned i = 0; i < m->watch.n; i++)
		for (unsigned k = 0; k < old->n; k++) {
			const struct kfd_queue_entry *q = &m->watch.queue[i], *was = &old->queue[k];

			if (q->queue_id != was->queue_id || q->gpu_id != was->gpu_id ||
			    q->read_pointer_address != was->read_pointer_address)
				continue;
			begin.read[i] = first->read[k];
			if (q->queue_type == KFD_SNAPSHOT_COMPUTE_AQL)
				carried += m->last.read[k] - first->read[k];
		}
	m->gone += before - carried;
	m->first = begin;
}

static void write_request(const struct group *g, struct group_member *m)
{
	const struct kfd_selection *s = m->sel;
	struct buf *b = &m->request;

	buf_printf(b, "suspend tie grace=%u for_ns=%llu", g->grace,
		   (unsigned long long)g->limit_ns);
	for (unsigned i = 0; s && i < s->num_ids; i++)
		buf_printf(b, "%s%u", i ? "," : " queues=", s->ids[i]);
	for (unsigned i = 0; s && i < s->num_gpus; i++)
		buf_printf(b, "%s%u", i ? "," : " gpus=", s->gpus[i]);
}

static void send(struct group *g, struct group_member *m, bool hold)
{
	m->idle = false;
	if (kfd_link_send(&m->link, hold ? m->request.data : "release keep", &m->failure)) {
		note_failure(g, m);
		return;
	}
	m->asked = true;
	m->hold = hold;
	g->asked++;
}

static bool is_off(const struct kfd_outcome *q)
{
	return q->result == KFD_RESULT_SUSPENDED || q->result == KFD_RESULT_ALREADY;
}

// An answer came. What was asked may have become outdated.
static void take_answer(struct group *g, struct group_member *m)
{
	const struct kfd_answer *a = &m->link.answer;
	unsigned changed = 0;

	g->asked--;
	m->asked = m->partly = false;
	for (size_t i = 0; i < a->num; i++) {
		changed += a->queues[i].latency_ns != 0;
		m->partly |= m->hold && !is_off(&a->queues[i]);
	}
	g->calls += changed != 0;
	if (m->hold != g->held)
		send(g, m, g->held);
}

// Watches the queues that the holder reports. Their number, or -1.
static int watch(struct group *g, struct group_member *m)
{
	struct kfd_watch old = m->watch;
	struct kfd_indices first = m->first;
	struct kfd_answer *a = &m->link.answer;
	size_t chosen = 0;

	if (m->asked) { // its answer comes first
		if (kfd_link_receive(&m->link, patience(g), &m->failure))
			return -1;
		take_answer(g, m);
	}
	if (m->asked || !ask_and_wait(g, m, "queues addresses"))
		return -1;
	const int n = (int)a->num;
	for (size_t i = 0; i < a->num; i++)
		if (!m->sel || kfd_selected(m->sel, &a->queues[i].queue))
			a->queues[chosen++] = a->queues[i];
	a->num = chosen;
	kfd_watch_queues(&m->watch, a);
	carry_over(m, &old, &first);
	m->last = m->first;
	look_now(m);
	return n;
}

static void attach(struct group *g, struct group_member *m)
{
	m->failed = false;
	m->tried_ns = m->moved_ns = clock_ns();
	if (!m->request.len)
		write_request(g, m);
	if (m->watch.mem < 0 && kfd_watch_init(&m->watch, m->target.pid))
		m->failed = kfd_fail(&m->failure, KFD_FAULT_SYSTEM,
				     "open the memory of the process", "see gpq gpus --check") < 0;
	// "keep": the holder stays as long as the connection.
	m->failed = m->failed || kfd_link_open(&m->link, &m->target, true, &m->failure) ||
		    !ask_and_wait(g, m, "release keep") || watch(g, m) < 0;
	if (m->failed)
		note_failure(g, m);
	else if (g->held)
		send(g, m, true);
}

// ---- all of them

static struct group_member *find(const struct group *g, pid_t pid)
{
	for (size_t i = 0; i < g->n; i++)
		if (g->v[i]->target.pid == pid && !g->v[i]->ended)
			return g->v[i];
	return NULL;
}

bool group_has(const struct group *g, pid_t pid)
{
	return find(g, pid) != NULL;
}

struct group_member *group_add(struct group *g, pid_t pid, struct kfd_selection *sel)
{
	struct kfd_failure gone;
	struct group_member *m = find(g, pid);

	if (m) { // after exec: a new KFD process, of which the old holder has let go
		free(sel);
		hang_up(g, m);
		if (g->attach)
			attach(g, m);
		return m;
	}
	m = xcalloc(1, sizeof(*m));
	m->link.fd = m->watch.mem = m->target.pidfd = -1;
	m->sel = sel;
	m->target.pid = pid;
	if (!g->dry && kfd_target_pin(&m->target, pid, 0, &gone)) {
		free(sel);
		free(m);
		return NULL;
	}
	array_grow(&g->v, &g->cap, g->n, sizeof(struct group_member *));
	g->v[g->n++] = m;
	g->grown_ns = clock_ns();
	if (g->attach)
		attach(g, m);
	return m;
}

// The names of its queues in sysfs, and their number.
unsigned group_list_queues(pid_t pid, struct buf *names)
{
	struct dirent **list;
	unsigned n = 0;
	char path[64];

	snprintf(path, sizeof(path), "/sys/class/kfd/kfd/proc/%d/queues", (int)pid);
	int num = scandir(path, &list, NULL, alphasort);
	for (int i = 0; i < num; i++) {
		if (list[i]->d_name[0] != '.') {
			buf_printf(names, "%s ", list[i]->d_name);
			n++;
		}
		free(list[i]);
	}
	if (num >= 0)
		free(list);
	return n;
}

// Its queues came or went: watch those that are there. sysfs may be a moment ahead of the holder.
static void look_at(struct group *g, struct group_member *m)
{
	struct buf names = {0};
	const unsigned n = group_list_queues(m->target.pid, &names);
	const bool same = names.len == m->queues.len &&
			  (!n || memcmp(names.data, m->queues.data, names.len) == 0);
	int known = 0;

	g->num_queues += n;
	if (g->attach && !same)
		known = watch(g, m);
	if (known >= 0 && !same && (!g->attach || (unsigned)known == n || ++m->tries > TRIES)) {
		struct buf old = m->queues;

		m->queues = names;
		names = old;
		m->tries = 0;
	}
	buf_fini(&names);
	if (known < 0)
		note_failure(g, m);
	else if (g->attach)
		look_now(m);
}

// Once for each member, after its first hold, so that the hold does not wait for it.
static void count_unreached(struct group *g, struct group_member *m)
{
	struct kfd_queue *list = NULL;

	if (m->looked || !m->hold)
		return;
	m->looked = true;
	ssize_t n = kfd_contexts_unreached(m->target.pid, NULL, &list);
	g->unreached += n > 0 ? (size_t)n : 0;
	free(list);
}

static bool is_attached(const struct group_member *m)
{
	return !m->ended && m->link.fd >= 0;
}

void group_look(struct group *g)
{
	g->num_queues = 0;
	for (size_t i = 0; i < g->n; i++) {
		struct group_member *m = g->v[i];
		struct pollfd lost = {.fd = m->link.fd, .events = POLLIN};

		if (m->ended)
			continue;
		m->ended = !kfd_target_alive(&m->target);
		if (m->ended)
			hang_up(g, m);
		else if (!m->failed)
			look_at(g, m);
		// Without a request on its way, this is the end of the connection.
		if (is_attached(m) && !m->asked && poll(&lost, 1, 0) > 0 &&
		    !ask_and_wait(g, m, "status"))
			note_failure(g, m);
		count_unreached(g, m);
	}
}

static bool has_work(struct group_member *m)
{
	return m->watch.n && look_now(m) && kfd_watch_backlog(&m->watch, &m->last);
}

// Without known queues nothing says that it is idle.
static bool stands_still(const struct group *g, struct group_member *m)
{
	return g->idle_ns && m->watch.n && look_now(m) && !kfd_watch_backlog(&m->watch, &m->last) &&
	       clock_ns() - m->moved_ns >= g->idle_ns;
}

void group_ask(struct group *g, bool hold)
{
	g->held = hold;
	for (size_t i = 0; i < g->n; i++) {
		struct group_member *m = g->v[i];

		if (!is_attached(m) || m->asked)
			continue;
		m->idle = hold && !m->hold && stands_still(g, m);
		if (!m->idle && (hold || m->hold))
			send(g, m, hold);
	}
}

void group_take(struct group *g)
{
	for (size_t i = 0; g->asked && i < g->n; i++) {
		struct group_member *m = g->v[i];
		const int r = m->asked ? kfd_link_take(&m->link, &m->failure) : 0;

		if (r > 0)
			take_answer(g, m);
		else if (r < 0)
			note_failure(g, m);
	}
}

void group_wait(struct group *g)
{
	while (g->asked)
		for (size_t i = 0; i < g->n; i++) {
			struct group_member *m = g->v[i];

			if (!m->asked)
				continue;
			if (kfd_link_receive(&m->link, patience(g), &m->failure))
				note_failure(g, m);
			else
				take_answer(g, m);
		}
	for (size_t i = 0; i < g->n; i++)
		count_unreached(g, g->v[i]);
}

void group_look_at_idle(struct group *g)
{
	for (size_t i = 0; g->held && i < g->n; i++) {
		struct group_member *m = g->v[i];

		if (m->idle && is_attached(m) && !m->asked && has_work(m))
			send(g, m, true);
	}
}

void group_retry(struct group *g, uint64_t now_ns)
{
	for (size_t i = 0; g->attach && i < g->n; i++)
		if (g->v[i]->failed && !g->v[i]->ended && now_ns - g->v[i]->tried_ns >= RETRY_NS)
			attach(g, g->v[i]);
}

const struct group_member *group_failed(const struct group *g)
{
	for (size_t i = 0; i < g->n; i++)
		if (g->v[i]->failed)
			return g->v[i];
	return NULL;
}

bool group_has_work(struct group *g)
{
	for (size_t i = 0; i < g->n; i++)
		if (!g->v[i]->ended && has_work(g->v[i]))
			return true;
	return false;
}

bool group_has_moved(struct group *g)
{
	for (size_t i = 0; i < g->n; i++) {
		struct group_member *m = g->v[i];

		if (m->ended || !look_now(m))
			continue;
		for (unsigned k = 0; k < m->watch.n; k++)
			if (m->last.read[k])
				return true;
	}
	return false;
}

void group_count_begin(struct group *g)
{
	for (size_t i = 0; i < g->n; i++) {
		struct group_member *m = g->v[i];

		if (!m->ended)
			look_now(m);
		m->first = m->last;
		m->gone = 0;
	}
}

bool group_count_end(struct group *g, uint64_t *packets)
{
	unsigned alive = 0;

	*packets = 0;
	for (size_t i = 0; i < g->n; i++) {
		struct group_member *m = g->v[i];

		alive += !m->ended && kfd_target_alive(&m->target) && look_now(m);
		*packets += m->gone + kfd_watch_packets(&m->watch, &m->first, &m->last);
	}
	return alive;
}

void group_release(struct group *g)
{
	g->held = g->attach = false;
	for (size_t i = 0; i < g->n; i++)
		hang_up(g, g->v[i]);
	for (size_t i = 0; i < g->n; i++)
		let_go(g, g->v[i]);
}

static void free_member(struct group *g, struct group_member *m)
{
	let_go(g, m);
	kfd_watch_fini(&m->watch);
	kfd_target_unpin(&m->target);
	buf_fini(&m->queues);
	buf_fini(&m->request);
	free(m->sel);
	free(m);
}

void group_forget_ended(struct group *g)
{
	size_t kept = 0;

	for (size_t i = 0; i < g->n; i++)
		if (g->v[i]->ended)
			free_member(g, g->v[i]);
		else
			g->v[kept++] = g->v[i];
	g->n = kept;
}

void group_fini(struct group *g)
{
	for (size_t i = 0; i < g->n; i++)
		free_member(g, g->v[i]);
	free(g->v);
	*g = (struct group){0};
}
