// Processes that are held together; group.h.
#include "common/sched/group.h"

#include "common/host/buf.h"
#include "common/host/clock.h"
#include "common/host/root.h"
#include "common/host/xalloc.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define RETRY_NS 5000000000ull
#define DYING_MS 500 // until a process whose holder has ended is seen to have ended
enum { TRIES = 20 };

// ---- one member

// Closes the connection, on which the holder ends.
static void hang_up(struct group *g, struct group_member *m)
{
	m->holder = m->link.started > 0 ? m->link.started : m->holder;
	if (m->link.fd >= 0)
		kfd_link_close(&m->link);
	g->asked -= m->counted + m->checked;
	m->counted = m->checked = m->asked = m->silent = m->hold = m->idle = false;
}

static void let_go(struct group *g, struct group_member *m)
{
	hang_up(g, m);
	if (m->holder > 0 && !g->nowait) {
		kfd_wait_death(m->holder, KFD_END_MS);
		waitpid(m->holder, NULL, WNOHANG);
	}
	m->holder = 0;
}

// A failure because the process ended is none; `nowait`: group_look() finds it ended.
static void note_failure(struct group *g, struct group_member *m)
{
	struct pollfd dead = {.fd = m->target.pidfd, .events = POLLIN};
	hang_up(g, m);
	m->ended = poll(&dead, 1, g->nowait ? 0 : DYING_MS) == 1;
	m->failed = !m->ended;
	m->failed_ns = clock_ns();
}

static unsigned patience(const struct group *g)
{
	return g->patience_ms ? g->patience_ms : KFD_ANSWER_MS;
}

static void take_indices(struct group_member *m, const struct kfd_indices *now)
{
	if (memcmp(m->last.write, now->write, m->watch.n * sizeof(*now->write)) != 0 ||
	    kfd_watch_moved(&m->watch, &m->last, now))
		m->moved_ns = clock_ns();
	memcpy(m->last.read, now->read, m->watch.n * sizeof(*now->read));
	memcpy(m->last.write, now->write, m->watch.n * sizeof(*now->write));
}

// Reads the indices into m->last; on failure m->last keeps its content. `nowait`: they are asked
// for, and take_look() has the answer.
static void look(struct group *g, struct group_member *m)
{
	struct memory_range v[2 * KFD_WATCH_MAX];
	struct kfd_indices now;
	if (m->looking || !m->watch.n)
		return;
	const unsigned n = kfd_watch_ranges(&m->watch, &now, true, v);
	if (g->nowait) {
		g->reader = g->reader ? g->reader : reader_new();
		m->looking = memory_post(g->reader, &m->watch.memory, v, n, m);
		m->mute |= !m->looking && errno == ETIMEDOUT;
		return;
	}
	m->known = memory_read_all(&m->watch.memory, v, n);
	m->mute = !m->known && errno == ETIMEDOUT;
	if (m->known)
		take_indices(m, &now);
}

static void forget_look(struct group *g, struct group_member *m)
{
	if (g->reader)
		reader_forget(g->reader, m);
	m->looking = false;
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

// With `most` the request names each queue of the last answer. A request without ids would suspend
// all queues, so an answer without queues leads to an id that no queue has.
static void write_request(const struct group *g, struct group_member *m)
{
	const struct kfd_selection *s = m->sel;
	const struct kfd_answer *a = &m->link.answer;
	struct buf *b = &m->request;
	b->len = 0;
	buf_printf(b, "suspend tie grace=%u for_ns=%llu", g->grace,
		   (unsigned long long)g->limit_ns);
	for (size_t i = 0; g->most && i < a->num; i++)
		buf_printf(b, "%s%u", i ? "," : " queues=", a->queues[i].queue.queue_id);
	if (g->most && !a->num)
		buf_printf(b, " queues=%u", KFD_MAX_QUEUES);
	for (unsigned i = 0; !g->most && s && i < s->num_ids; i++)
		buf_printf(b, "%s%u", i ? "," : " queues=", s->ids[i]);
	for (unsigned i = 0; s && i < s->num_gpus; i++)
		buf_printf(b, "%s%u", i ? "," : " gpus=", s->gpus[i]);
}

// One at a time for each member.
static void send(struct group *g, struct group_member *m, enum group_request what)
{
	// With "keep" a holder that holds nothing lives until this connection closes.
	const char *request = what == GROUP_HOLD     ? m->request.data
			      : what == GROUP_QUEUES ? "queues addresses"
						     : "release keep";
	if (kfd_link_send(&m->link, request, &m->failure)) {
		note_failure(g, m);
		return;
	}
	m->asked = true;
	m->asked_ns = clock_ns();
	m->asked_for = what;
	if (what == GROUP_HOLD || what == GROUP_RELEASE) {
		m->idle = false;
		m->hold = what == GROUP_HOLD;
	}
	m->counted = !m->late;
	g->asked += m->counted;
}

// By the last look. What the memory of a member does not say may be work.
static bool has_work(const struct group_member *m)
{
	return m->watch.n && (m->mute || (m->known && kfd_watch_backlog(&m->watch, &m->last)));
}

// Without known queues nothing says that it is idle.
static bool stands_still(const struct group *g, const struct group_member *m)
{
	return g->idle_ns && m->watch.n && m->known && !has_work(m) &&
	       clock_ns() - m->moved_ns >= g->idle_ns;
}

// What seemed to be idle when it was last looked at is looked at anew before it is left running.
static void ask(struct group *g, struct group_member *m, bool hold)
{
	m->idle = false;
	if (hold && !m->hold && !m->checked && stands_still(g, m)) {
		look(g, m);
		m->checked = m->looking;
		g->asked += m->checked;
		m->idle = !m->looking && stands_still(g, m);
	}
	if (!m->idle && !m->checked && (hold || m->hold))
		send(g, m, hold ? GROUP_HOLD : GROUP_RELEASE);
}

// `nowait`: an answer to a look came. The first one of newly watched queues tells which of them
// can be read.
static void take_look(struct group *g, struct group_member *m, const void *part, size_t len,
		      int error)
{
	static struct kfd_indices now;
	struct memory_range v[2 * KFD_WATCH_MAX];
	unsigned n = kfd_watch_ranges(&m->watch, &now, true, v);
	m->looking = false;
	m->mute = error == ETIMEDOUT || (m->mute && error);
	m->known = !error && memory_take(v, n, part, len);
	if (!error && !m->known && m->fresh) {
		kfd_watch_keep(&m->watch, v);
		look(g, m);
	}
	m->fresh = false;
	if (m->known)
		take_indices(m, &now);
	if (!m->checked)
		return;
	m->checked = false;
	g->asked--;
	m->idle = g->held && stands_still(g, m);
	if (!m->idle && g->held && m->link.fd >= 0 && !m->asked)
		send(g, m, GROUP_HOLD);
}

static void take_looks(struct group *g)
{
	const void *part;
	size_t len;
	void *m;
	int error;
	while (g->reader && (part = reader_next(g->reader, &m, &len, &error)))
		take_look(g, m, part, len, error);
}

static bool is_off(const struct kfd_outcome *q)
{
	return q->result == KFD_RESULT_SUSPENDED || q->result == KFD_RESULT_ALREADY;
}

static void take_outcomes(struct group *g, struct group_member *m)
{
	const struct kfd_answer *a = &m->link.answer;
	unsigned changed = 0;
	m->partly = false;
	for (size_t i = 0; i < a->num; i++) {
		changed += a->queues[i].latency_ns != 0;
		m->partly |= m->hold && !is_off(&a->queues[i]);
	}
	g->calls += changed != 0;
	g->answered_ns = clock_ns();
}

static void keep_readable(struct group_member *m)
{
	struct memory_range v[2 * KFD_WATCH_MAX];
	struct kfd_indices any;
	memory_read_all(&m->watch.memory, v, kfd_watch_ranges(&m->watch, &any, true, v));
	kfd_watch_keep(&m->watch, v);
}

// Watches the queues that the holder reports. sysfs may be a moment ahead of it.
static void watch(struct group *g, struct group_member *m)
{
	struct kfd_watch old = m->watch;
	struct kfd_indices first = m->first;
	struct kfd_answer *a = &m->link.answer;
	size_t chosen = 0;
	m->stale = a->num != m->num_queues && ++m->tries <= TRIES;
	m->tries = m->stale ? m->tries : 0;
	for (size_t i = 0; i < a->num; i++)
		if (!m->sel || kfd_selected(m->sel, &a->queues[i].queue))
			a->queues[chosen++] = a->queues[i];
	a->num = g->most && chosen > g->most ? g->most : chosen;
	write_request(g, m);
	forget_look(g, m);
	kfd_watch_choose(&m->watch, a);
	m->fresh = g->nowait;
	if (!g->nowait)
		keep_readable(m);
	carry_over(m, &old, &first);
	m->last = m->first;
	look(g, m);
}

// An answer came. What was asked may have become outdated.
static void take_answer(struct group *g, struct group_member *m)
{
	g->asked -= m->counted;
	m->counted = m->asked = m->silent = m->said = false;
	if (m->asked_for == GROUP_ATTACH) {
		m->num_queues = UINT_MAX; // not looked at in sysfs
		send(g, m, GROUP_QUEUES);
		return;
	}
	if (m->asked_for == GROUP_QUEUES)
		watch(g, m);
	else
		take_outcomes(g, m);
	if (m->hold != g->held)
		ask(g, m, g->held);
	m->late &= m->asked;
}

static void wait_for_answer(struct group *g, struct group_member *m)
{
	if (kfd_link_receive(&m->link, patience(g), &m->failure))
		note_failure(g, m);
	else
		take_answer(g, m);
}

// Unless `nowait`: until it is attached to, and its queues are known.
static void settle(struct group *g, struct group_member *m)
{
	while (!g->nowait && m->asked &&
	       (m->asked_for == GROUP_ATTACH || m->asked_for == GROUP_QUEUES))
		wait_for_answer(g, m);
}

static void attach(struct group *g, struct group_member *m)
{
	m->failed = false;
	m->late = g->pass;
	m->tried_ns = m->moved_ns = clock_ns();
	if (m->watch.memory.fd < 0 && kfd_watch_init(&m->watch, m->target.pid))
		m->failed = kfd_fail(&m->failure, KFD_FAULT_SYSTEM,
				     "open the memory of the process", "see gpq gpus --check") < 0;
	m->failed = m->failed || kfd_link_open(&m->link, &m->target, true, &m->failure);
	if (m->failed)
		note_failure(g, m);
	else
		send(g, m, GROUP_ATTACH);
	settle(g, m);
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
		m->gone += kfd_watch_packets(&m->watch, &m->first, &m->last);
		forget_look(g, m);
		kfd_watch_fini(&m->watch); // of the old address space
		m->watch.n = 0;
		m->queues.len = 0;
		m->partly = false;
		if (g->attach)
			attach(g, m);
		return m;
	}
	m = xcalloc(1, sizeof(*m));
	m->link.fd = m->watch.memory.fd = m->target.pidfd = -1;
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

unsigned group_list_queues(pid_t pid, struct buf *names)
{
	struct dirent **list;
	unsigned n = 0;
	char path[64];
	snprintf(path, sizeof(path), "/sys/class/kfd/kfd/proc/%d/queues", (int)pid);
	int num = scandir(path, &list, NULL, alphasort);
	for (int i = 0; i < num; i++) {
		n += list[i]->d_name[0] != '.';
		if (names && list[i]->d_name[0] != '.')
			buf_printf(names, "%s ", list[i]->d_name);
		free(list[i]);
	}
	if (num >= 0)
		free(list);
	return n;
}

static bool is_attached(const struct group_member *m)
{
	return !m->ended && m->link.fd >= 0;
}

// Its queues came or went: watch those that are there.
static void look_at(struct group *g, struct group_member *m)
{
	struct buf names = {0};
	const unsigned n = group_list_queues(m->target.pid, &names);
	const bool same = !m->stale && names.len == m->queues.len &&
			  (!n || memcmp(names.data, m->queues.data, names.len) == 0);
	g->num_queues += n;
	if (g->attach && !same && m->asked && !g->nowait) // its answer comes first
		wait_for_answer(g, m);
	if (g->attach && !same && is_attached(m) && !m->asked) {
		struct buf old = m->queues;
		m->queues = names;
		m->num_queues = n;
		names = old;
		send(g, m, GROUP_QUEUES);
		settle(g, m);
	}
	buf_fini(&names);
	if (g->attach)
		look(g, m);
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

void group_look(struct group *g)
{
	g->num_queues = 0;
	for (size_t i = 0; i < g->n; i++) {
		struct group_member *m = g->v[i];
		if (m->ended)
			continue;
		m->ended = !kfd_target_alive(&m->target);
		if (m->ended)
			hang_up(g, m);
		else if (!m->failed)
			look_at(g, m);
		// Without a request on its way, what can be read is the end of the connection.
		if (is_attached(m) && !m->asked && kfd_link_take(&m->link, &m->failure) < 0)
			note_failure(g, m);
		count_unreached(g, m);
	}
}

void group_set(struct group *g, unsigned grace, unsigned most)
{
	const bool same = g->grace == grace && g->most == most;
	g->grace = grace;
	g->most = most;
	for (size_t i = 0; i < g->n && !same; i++)
		g->v[i]->stale = true;
}

void group_ask(struct group *g, bool hold)
{
	g->held = hold;
	for (size_t i = 0; i < g->n; i++)
		if (is_attached(g->v[i]) && !g->v[i]->asked)
			ask(g, g->v[i], hold);
}

static void note_silence(struct group *g, struct group_member *m)
{
	if (m->silent || clock_ns() - m->asked_ns < patience(g) * UINT64_C(1000000))
		return;
	kfd_fail(&m->failure, KFD_FAULT_HOLDER_SILENT, (int)(patience(g) / 1000));
	m->silent = true;
	g->asked -= m->counted;
	m->counted = false;
}

void group_take(struct group *g)
{
	take_looks(g);
	for (size_t i = 0; i < g->n; i++) {
		struct group_member *m = g->v[i];
		const int r = m->asked ? kfd_link_take(&m->link, &m->failure) : 0;
		if (r > 0)
			take_answer(g, m);
		else if (r < 0)
			note_failure(g, m);
		else if (m->asked && g->nowait)
			note_silence(g, m);
	}
}

bool group_is_off(const struct group_member *m)
{
	return m->hold && !m->partly && !m->silent && (!m->asked || m->asked_for == GROUP_QUEUES);
}

void group_wait(struct group *g)
{
	while (g->asked)
		for (size_t i = 0; i < g->n; i++) {
			struct group_member *m = g->v[i];
			if (m->asked)
				wait_for_answer(g, m);
		}
	for (size_t i = 0; i < g->n; i++)
		count_unreached(g, g->v[i]);
}

void group_look_at_idle(struct group *g)
{
	for (size_t i = 0; g->held && i < g->n; i++) {
		struct group_member *m = g->v[i];
		if (!m->idle)
			continue;
		look(g, m);
		if (is_attached(m) && !m->asked && has_work(m))
			send(g, m, GROUP_HOLD);
	}
}

bool group_has_failed(const struct group_member *m, uint64_t now_ns)
{
	return m->failed && !m->ended && now_ns >= m->failed_ns + DYING_MS * UINT64_C(1000000);
}

void group_retry(struct group *g, uint64_t now_ns)
{
	for (size_t i = 0; g->attach && i < g->n; i++)
		if (group_has_failed(g->v[i], now_ns) && now_ns - g->v[i]->tried_ns >= RETRY_NS)
			attach(g, g->v[i]);
}

const struct group_member *group_failed(const struct group *g)
{
	for (size_t i = 0; i < g->n; i++)
		if (g->v[i]->failed)
			return g->v[i];
	return NULL;
}

void group_sample(struct group *g)
{
	for (size_t i = 0; i < g->n; i++)
		if (!g->v[i]->ended)
			look(g, g->v[i]);
}

bool group_has_work(const struct group *g)
{
	for (size_t i = 0; i < g->n; i++)
		if (!g->v[i]->ended && has_work(g->v[i]))
			return true;
	return false;
}

int group_reader_fd(const struct group *g)
{
	return g->reader ? reader_fd(g->reader) : -1;
}

bool group_has_moved(struct group *g)
{
	group_sample(g);
	for (size_t i = 0; i < g->n; i++) {
		struct group_member *m = g->v[i];
		for (unsigned k = 0; !m->ended && m->known && k < m->watch.n; k++)
			if (m->last.read[k])
				return true;
	}
	return false;
}

void group_count_begin(struct group *g)
{
	group_sample(g);
	for (size_t i = 0; i < g->n; i++) {
		g->v[i]->first = g->v[i]->last;
		g->v[i]->gone = 0;
	}
}

bool group_count_end(struct group *g, uint64_t *packets)
{
	unsigned alive = 0;
	*packets = 0;
	for (size_t i = 0; i < g->n; i++) {
		struct group_member *m = g->v[i];
		look(g, m);
		alive += !m->ended && kfd_target_alive(&m->target) && m->known;
		*packets += m->gone + kfd_watch_packets(&m->watch, &m->first, &m->last);
	}
	return alive;
}

void group_release(struct group *g)
{
	g->held = g->attach = g->nowait = false;
	for (size_t i = 0; i < g->n; i++)
		hang_up(g, g->v[i]);
	for (size_t i = 0; i < g->n; i++)
		let_go(g, g->v[i]);
}

static void free_member(struct group *g, struct group_member *m)
{
	let_go(g, m);
	forget_look(g, m);
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
	group_release(g);
	for (size_t i = 0; i < g->n; i++)
		free_member(g, g->v[i]);
	reader_free(g->reader);
	free(g->v);
	*g = (struct group){0};
}
