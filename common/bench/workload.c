// Processes of a command, attached to, counted, suspended and resumed; workload.h.
#include "common/bench/workload.h"

#include "common/bench/attached.h"
#include "common/host/array.h"
#include "common/host/root.h"
#include "common/holder/contexts.h"

#include <dirent.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define SECOND   1000000000ull
#define HOLD_NS  (60 * SECOND) // if we do not go on, the holders resume after this long
#define RENEW_NS (20 * SECOND)
enum { TRIES = 20 };

int workload_start(struct workload *s, const char *name, const char *command,
		   const struct child_log *log)
{
	s->name = name;
	return child_start(&s->child, command, log);
}

// ---- one process

static struct member *member_new(pid_t pid, struct kfd_failure *f)
{
	struct member *m = calloc(1, sizeof(*m));
	if (!m) {
		kfd_fail(f, KFD_FAULT_SYSTEM, "memory", "out of memory");
		return NULL;
	}
	m->link.fd = m->watch.mem = m->target.pidfd = -1;
	if (kfd_target_pin(&m->target, pid, 0, f)) {
		free(m);
		return NULL;
	}
	return m;
}

// Ends its holder's reason to live.
static void member_hang_up(struct member *m)
{
	m->holder = m->link.started > 0 ? m->link.started : m->holder;
	if (m->link.fd >= 0)
		kfd_link_close(&m->link);
}

static void member_let_go(struct member *m)
{
	member_hang_up(m);
	struct kfd_link gone = {.answer = {.holder = m->holder}};
	if (m->holder > 0) {
		kfd_link_wait_end(&gone);
		waitpid(m->holder, NULL, WNOHANG);
	}
	m->holder = 0;
}

static void member_free(struct member *m)
{
	member_let_go(m);
	kfd_watch_fini(&m->watch);
	kfd_target_unpin(&m->target);
	buf_fini(&m->queues);
	free(m);
}

// A failure that only says that the process ended is none: processes may.
static int note_end(struct member *m, struct kfd_failure *f)
{
	struct pollfd dead = {.fd = m->target.pidfd, .events = POLLIN};
	if (poll(&dead, 1, 500) == 1) {
		m->ended = true;
		return 0;
	}
	struct kfd_failure why = *f;
	snprintf(f->text, sizeof(f->text), "pid %d: %.230s", (int)m->target.pid, why.text);
	return -1;
}

static int ask(struct member *m, const char *request, struct kfd_failure *f)
{
	return kfd_link_send(&m->link, request, f) || kfd_link_receive(&m->link, KFD_ANSWER_MS, f)
		       ? -1
		       : 0;
}

static bool same_queue(const struct kfd_queue_entry *a, const struct kfd_queue_entry *b)
{
	return a->queue_id == b->queue_id && a->gpu_id == b->gpu_id &&
	       a->read_pointer_address == b->read_pointer_address;
}

// What it took is known up to the last look that worked.
static bool look_now(struct member *m)
{
	struct kfd_indices now;
	if (!kfd_watch_look(&m->watch, &now, false))
		return false;
	memcpy(m->last.read, now.read, sizeof(now.read));
	return true;
}

static uint64_t taken(const struct member *m)
{
	return kfd_watch_packets(&m->watch, &m->first, &m->last);
}

// The queues of the new watch go on counting where they did; others began at 0. What the old ones
// that are no more took is kept.
static void carry_over(struct member *m, const struct kfd_watch *old,
		       const struct kfd_indices *first)
{
	uint64_t before = kfd_watch_packets(old, first, &m->last), carried = 0;
	struct kfd_indices begin = {0};
	for (unsigned i = 0; i < m->watch.n; i++)
		for (unsigned k = 0; k < old->n; k++)
			if (same_queue(&m->watch.queue[i], &old->queue[k])) {
				begin.read[i] = first->read[k];
				if (m->watch.queue[i].queue_type == KFD_SNAPSHOT_COMPUTE_AQL)
					carried += m->last.read[k] - first->read[k];
			}
	m->gone += before - carried;
	m->first = begin;
}

// Watches the queues that its holder knows. Their number, or -1 and *f.
static int watch(struct member *m, struct kfd_failure *f)
{
	struct kfd_watch old = m->watch;
	struct kfd_indices first = m->first;
	if (ask(m, "queues addresses", f))
		return -1;
	kfd_watch_queues(&m->watch, &m->link.answer);
	carry_over(m, &old, &first);
	m->last = m->first;
	look_now(m);
	return (int)m->link.answer.num;
}

static void list_queues(pid_t pid, struct buf *names, unsigned *n)
{
	struct dirent **list;
	char path[64];
	snprintf(path, sizeof(path), "/sys/class/kfd/kfd/proc/%d/queues", (int)pid);
	int num = scandir(path, &list, NULL, alphasort);
	for (int i = 0; i < num; i++) {
		if (list[i]->d_name[0] != '.') {
			buf_printf(names, "%s ", list[i]->d_name);
			++*n;
		}
		free(list[i]);
	}
	if (num >= 0)
		free(list);
}

// ---- all of them

static void suspend_request(const struct workload *s, char text[96])
{
	snprintf(text, 96, "suspend tie grace=%u for_ns=%llu", s->grace,
		 (unsigned long long)HOLD_NS);
}

static int attach(struct workload *s, struct member *m, struct kfd_failure *f)
{
	char request[96];
	if (kfd_watch_init(&m->watch, m->target.pid))
		return kfd_fail(f, KFD_FAULT_SYSTEM, "open the memory of the process",
				"see gpq gpus --check");
	// The first word keeps the holder as long as we are there.
	if (kfd_link_open(&m->link, &m->target, true, f) || ask(m, "release keep", f))
		return -1;
	suspend_request(s, request);
	if (s->held && ask(m, request, f))
		return -1;
	return watch(m, f) < 0 ? -1 : 0;
}

static bool is_member(const struct workload *s, pid_t pid)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->member[i]->target.pid == pid && !s->member[i]->ended)
			return true;
	return false;
}

static int add_member(struct workload *s, pid_t pid, struct kfd_failure *f)
{
	struct kfd_failure gone;
	struct member *m = member_new(pid, &gone);
	if (!m) // it ended between two looks
		return 0;
	if (array_grow(&s->member, &s->cap, s->n, sizeof(struct member *))) {
		member_free(m);
		return kfd_fail(f, KFD_FAULT_SYSTEM, "memory", "out of memory");
	}
	s->member[s->n++] = m;
	return s->attach && attach(s, m, f) ? note_end(m, f) : 0;
}

// Its queues came or went: watch those that are there. sysfs may be a moment ahead of the holder.
static int look_at_member(struct workload *s, struct member *m, struct kfd_failure *f)
{
	struct pollfd lost = {.fd = m->link.fd, .events = POLLIN};
	if (!kfd_target_alive(&m->target)) {
		m->ended = true;
		return 0;
	}
	struct buf names = {0};
	unsigned n = 0;
	int known = 0;
	list_queues(m->target.pid, &names, &n);
	s->num_queues += n;
	bool same = names.len == m->queues.len &&
		    (!n || memcmp(names.data, m->queues.data, names.len) == 0);
	if (s->attach && !same)
		known = watch(m, f);
	else if (s->attach && poll(&lost, 1, 0) > 0) // holders do not speak unasked
		known = ask(m, "status", f);
	if (known >= 0 && !same && (!s->attach || (unsigned)known == n || ++m->tries > TRIES)) {
		struct buf old = m->queues;
		m->queues = names;
		names = old;
		m->tries = 0;
	}
	buf_fini(&names);
	if (known < 0)
		return note_end(m, f);
	if (s->attach)
		look_now(m);
	return 0;
}

int workload_look(struct workload *s, struct kfd_failure *f)
{
	pid_t pids[CHILD_PIDS_MAX];
	unsigned n = child_kfd_processes(&s->child, pids, CHILD_PIDS_MAX);
	s->num_queues = 0;
	for (unsigned i = 0; i < n; i++)
		if (!is_member(s, pids[i]) && add_member(s, pids[i], f))
			return -1;
	for (size_t i = 0; i < s->n; i++)
		if (!s->member[i]->ended && look_at_member(s, s->member[i], f))
			return -1;
	return s->held && bench_now() > s->renew_ns ? workload_hold(s, true, f) : 0;
}

// Once for each process, after a hold, so that the hold does not wait for it.
static void count_unreached(struct workload *s, struct member *m)
{
	struct kfd_queue *list;
	if (m->looked)
		return;
	m->looked = true;
	ssize_t n = kfd_contexts_unreached(m->target.pid, NULL, &list);
	s->unreached += n > 0 ? (size_t)n : 0;
	free(list);
}

// Asked all before the first answers: their drivers' calls run side by side.
int workload_hold(struct workload *s, bool hold, struct kfd_failure *f)
{
	char request[96] = "release keep";
	int status = 0;
	if (hold)
		suspend_request(s, request);
	s->held = hold;
	for (size_t i = 0; i < s->n; i++) {
		struct member *m = s->member[i];
		if (!m->ended && kfd_link_send(&m->link, request, f) && note_end(m, f))
			return -1;
	}
	for (size_t i = 0; i < s->n; i++) {
		struct member *m = s->member[i];
		if (!m->ended && kfd_link_receive(&m->link, KFD_ANSWER_MS, f) && note_end(m, f))
			status = -1;
	}
	s->renew_ns = bench_now() + RENEW_NS;
	for (size_t i = 0; hold && i < s->n; i++)
		count_unreached(s, s->member[i]);
	return status;
}

bool workload_has_work(struct workload *s)
{
	struct kfd_indices i;
	for (size_t k = 0; k < s->n; k++) {
		const struct member *m = s->member[k];
		if (!m->ended && m->watch.n && kfd_watch_look(&m->watch, &i, true) &&
		    kfd_watch_backlog(&m->watch, &i))
			return true;
	}
	return false;
}

bool workload_has_moved(struct workload *s)
{
	for (size_t i = 0; i < s->n; i++) {
		struct member *m = s->member[i];
		if (m->ended || !look_now(m))
			continue;
		for (unsigned k = 0; k < m->watch.n; k++)
			if (m->last.read[k])
				return true;
	}
	return false;
}

void workload_count_begin(struct workload *s)
{
	for (size_t i = 0; i < s->n; i++) {
		struct member *m = s->member[i];
		if (!m->ended)
			look_now(m);
		m->first = m->last;
		m->gone = 0;
	}
}

int workload_count_end(struct workload *s, uint64_t *packets, struct kfd_failure *f)
{
	unsigned alive = 0;
	*packets = 0;
	for (size_t i = 0; i < s->n; i++) {
		struct member *m = s->member[i];
		alive += !m->ended && kfd_target_alive(&m->target) && look_now(m);
		*packets += m->gone + taken(m);
	}
	return alive ? 0 : kfd_fail(f, KFD_FAULT_GONE);
}

unsigned workload_pids(const struct workload *s, pid_t *pids, unsigned max)
{
	unsigned n = 0;
	for (size_t i = 0; i < s->n && n < max; i++)
		if (!s->member[i]->ended)
			pids[n++] = s->member[i]->target.pid;
	return n;
}

void workload_release(struct workload *s)
{
	s->held = s->attach = false;
	for (size_t i = 0; i < s->n; i++)
		member_hang_up(s->member[i]);
	for (size_t i = 0; i < s->n; i++)
		member_let_go(s->member[i]);
}

void workload_fini(struct workload *s)
{
	for (size_t i = 0; i < s->n; i++)
		member_free(s->member[i]);
	free(s->member);
	child_fini(&s->child);
	s->member = NULL;
	s->n = s->cap = 0;
}
