// One side of the experiment: its processes, queues and holders; workload.h.
#include "common/bench/workload.h"

#include "common/host/clock.h"
#include "common/host/buf.h"
#include "common/host/proc.h"
#include "common/host/root.h"
#include "common/host/xalloc.h"

#include <dirent.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define SECOND   1000000000ull
#define HOLD_NS  (60 * SECOND) // deadline of the holds, should this process stop
#define RENEW_NS (20 * SECOND)
enum { TRIES = 20 };

// ---- one process

// Closes the connection, on which the holder ends.
static void process_hang_up(struct workload_process *p)
{
	p->holder = p->link.started > 0 ? p->link.started : p->holder;
	if (p->link.fd >= 0)
		kfd_link_close(&p->link);
}

static void process_let_go(struct workload_process *p)
{
	process_hang_up(p);
	if (p->holder > 0) {
		kfd_wait_death(p->holder, KFD_END_MS);
		waitpid(p->holder, NULL, WNOHANG);
	}
	p->holder = 0;
}

// A failure because the process ended is no error.
static int note_end(struct workload_process *p, struct kfd_failure *f)
{
	struct pollfd dead = {.fd = p->target.pidfd, .events = POLLIN};
	if (poll(&dead, 1, 500) == 1) {
		p->ended = true;
		return 0;
	}
	struct kfd_failure why = *f;
	snprintf(f->text, sizeof(f->text), "pid %d: %.230s", (int)p->target.pid, why.text);
	return -1;
}

static int ask(struct workload_process *p, const char *request, struct kfd_failure *f)
{
	return kfd_link_send(&p->link, request, f) || kfd_link_receive(&p->link, KFD_ANSWER_MS, f)
		       ? -1
		       : 0;
}

// Reads the indices into p->last; on failure p->last keeps its content.
static bool look_now(struct workload_process *p)
{
	struct kfd_indices now;
	if (!kfd_watch_look(&p->watch, &now, false))
		return false;
	memcpy(p->last.read, now.read, sizeof(now.read));
	return true;
}

// Queues that were watched before keep their start index; new ones count from 0. The packets of
// queues that are gone are added to p->gone.
static void carry_over(struct workload_process *p, const struct kfd_watch *old,
		       const struct kfd_indices *first)
{
	uint64_t before = kfd_watch_packets(old, first, &p->last), carried = 0;
	struct kfd_indices begin = {0};
	for (unsigned i = 0; i < p->watch.n; i++)
		for (unsigned k = 0; k < old->n; k++) {
			const struct kfd_queue_entry *q = &p->watch.queue[i], *was = &old->queue[k];
			if (q->queue_id != was->queue_id || q->gpu_id != was->gpu_id ||
			    q->read_pointer_address != was->read_pointer_address)
				continue;
			begin.read[i] = first->read[k];
			if (q->queue_type == KFD_SNAPSHOT_COMPUTE_AQL)
				carried += p->last.read[k] - first->read[k];
		}
	p->gone += before - carried;
	p->first = begin;
}

// Watches the queues that the holder reports. Their number, or -1 and *f.
static int watch(struct workload_process *p, struct kfd_failure *f)
{
	struct kfd_watch old = p->watch;
	struct kfd_indices first = p->first;
	if (ask(p, "queues addresses", f))
		return -1;
	kfd_watch_queues(&p->watch, &p->link.answer);
	carry_over(p, &old, &first);
	p->last = p->first;
	look_now(p);
	return (int)p->link.answer.num;
}

// The names of its queues in sysfs, and their number.
static unsigned list_queues(pid_t pid, struct buf *names)
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

// ---- all of them

static void suspend_request(const struct workload *s, char text[96])
{
	snprintf(text, 96, "suspend tie grace=%u for_ns=%llu", s->grace,
		 (unsigned long long)HOLD_NS);
}

static int attach(struct workload *s, struct workload_process *p, struct kfd_failure *f)
{
	char request[96];
	if (kfd_watch_init(&p->watch, p->target.pid))
		return kfd_fail(f, KFD_FAULT_SYSTEM, "open the memory of the process",
				"see gpq gpus --check");
	// "keep": the holder stays as long as the connection.
	if (kfd_link_open(&p->link, &p->target, true, f) || ask(p, "release keep", f))
		return -1;
	suspend_request(s, request);
	if (s->held && ask(p, request, f))
		return -1;
	return watch(p, f) < 0 ? -1 : 0;
}

bool workload_has(const struct workload *s, pid_t pid)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->process[i]->target.pid == pid && !s->process[i]->ended)
			return true;
	return false;
}

static int add_process(struct workload *s, pid_t pid, struct kfd_failure *f)
{
	struct kfd_failure gone;
	struct workload_process *p = xcalloc(1, sizeof(*p));
	p->link.fd = p->watch.mem = p->target.pidfd = -1;
	if (kfd_target_pin(&p->target, pid, 0, &gone)) { // it ended between two polls
		free(p);
		return 0;
	}
	array_grow(&s->process, &s->cap, s->n, sizeof(struct workload_process *));
	s->process[s->n++] = p;
	s->grown_ns = clock_ns();
	return s->attach && attach(s, p, f) ? note_end(p, f) : 0;
}

// Follows the parents of `pid`: cheaper than listing the descendants of `from`, as there are few
// KFD processes and many others.
static bool descends(pid_t pid, pid_t from)
{
	struct proc p;
	for (unsigned depth = 0; pid > 1 && depth < 64; depth++, pid = p.ppid)
		if (pid == from)
			return true;
		else if (proc_read(&p, pid))
			return false;
	return false;
}

// KFD processes of its tree that are not known yet, once they have queues.
static int find_processes(struct workload *s, struct kfd_failure *f)
{
	DIR *d = s->child.pid ? host_opendir("/sys/class/kfd/kfd/proc") : NULL;
	struct dirent *e;
	int r = 0;
	while (d && !r && (e = readdir(d))) {
		pid_t pid;
		struct buf names = {0};
		if (proc_parse_pid(e->d_name, &pid) && !workload_has(s, pid) &&
		    descends(pid, s->child.pid) && list_queues(pid, &names))
			r = add_process(s, pid, f);
		buf_fini(&names);
	}
	if (d)
		closedir(d);
	return r;
}

// Its queues came or went: watch those that are there. sysfs may be a moment ahead of the holder.
static int look_at(struct workload *s, struct workload_process *p, struct kfd_failure *f)
{
	struct pollfd lost = {.fd = p->link.fd, .events = POLLIN};
	if (!kfd_target_alive(&p->target)) {
		p->ended = true;
		return 0;
	}
	struct buf names = {0};
	int known = 0;
	unsigned n = list_queues(p->target.pid, &names);
	s->num_queues += n;
	bool same = names.len == p->queues.len &&
		    (!n || memcmp(names.data, p->queues.data, names.len) == 0);
	if (s->attach && !same)
		known = watch(p, f);
	else if (s->attach && poll(&lost, 1, 0) > 0) // no request is open: the connection is lost
		known = ask(p, "status", f);
	if (known >= 0 && !same && (!s->attach || (unsigned)known == n || ++p->tries > TRIES)) {
		struct buf old = p->queues;
		p->queues = names;
		names = old;
		p->tries = 0;
	}
	buf_fini(&names);
	if (known < 0)
		return note_end(p, f);
	if (s->attach)
		look_now(p);
	return 0;
}

int workload_look(struct workload *s, struct kfd_failure *f)
{
	s->num_queues = 0;
	if (find_processes(s, f))
		return -1;
	for (size_t i = 0; i < s->n; i++)
		if (!s->process[i]->ended && look_at(s, s->process[i], f))
			return -1;
	return s->held && clock_ns() > s->renew_ns ? workload_hold(s, true, f) : 0;
}

// Once for each process, after a hold, so that the hold does not wait for it.
static void count_unreached(struct workload *s, struct workload_process *p)
{
	struct kfd_queue *list;
	if (p->looked)
		return;
	p->looked = true;
	ssize_t n = kfd_contexts_unreached(p->target.pid, NULL, &list);
	s->unreached += n > 0 ? (size_t)n : 0;
	free(list);
}

// All requests are sent before the first answer is read, so that the holders work in parallel.
int workload_hold(struct workload *s, bool hold, struct kfd_failure *f)
{
	char request[96] = "release keep";
	int status = 0;
	if (hold)
		suspend_request(s, request);
	s->held = hold;
	for (size_t i = 0; i < s->n; i++) {
		struct workload_process *p = s->process[i];
		if (!p->ended && kfd_link_send(&p->link, request, f) && note_end(p, f))
			return -1;
	}
	for (size_t i = 0; i < s->n; i++) {
		struct workload_process *p = s->process[i];
		if (!p->ended && kfd_link_receive(&p->link, KFD_ANSWER_MS, f) && note_end(p, f))
			status = -1;
	}
	s->renew_ns = clock_ns() + RENEW_NS;
	for (size_t i = 0; hold && i < s->n; i++)
		count_unreached(s, s->process[i]);
	return status;
}

bool workload_has_work(struct workload *s)
{
	struct kfd_indices i;
	for (size_t k = 0; k < s->n; k++) {
		const struct workload_process *p = s->process[k];
		if (!p->ended && p->watch.n && kfd_watch_look(&p->watch, &i, true) &&
		    kfd_watch_backlog(&p->watch, &i))
			return true;
	}
	return false;
}

bool workload_has_moved(struct workload *s)
{
	for (size_t i = 0; i < s->n; i++) {
		struct workload_process *p = s->process[i];
		if (p->ended || !look_now(p))
			continue;
		for (unsigned k = 0; k < p->watch.n; k++)
			if (p->last.read[k])
				return true;
	}
	return false;
}

void workload_count_begin(struct workload *s)
{
	for (size_t i = 0; i < s->n; i++) {
		struct workload_process *p = s->process[i];
		if (!p->ended)
			look_now(p);
		p->first = p->last;
		p->gone = 0;
	}
}

int workload_count_end(struct workload *s, uint64_t *packets, struct kfd_failure *f)
{
	unsigned alive = 0;
	*packets = 0;
	for (size_t i = 0; i < s->n; i++) {
		struct workload_process *p = s->process[i];
		alive += !p->ended && kfd_target_alive(&p->target) && look_now(p);
		*packets += p->gone + kfd_watch_packets(&p->watch, &p->first, &p->last);
	}
	return alive ? 0 : kfd_fail(f, KFD_FAULT_GONE);
}

void workload_release(struct workload *s)
{
	s->held = s->attach = false;
	for (size_t i = 0; i < s->n; i++)
		process_hang_up(s->process[i]);
	for (size_t i = 0; i < s->n; i++)
		process_let_go(s->process[i]);
}

void workload_fini(struct workload *s)
{
	for (size_t i = 0; i < s->n; i++) {
		struct workload_process *p = s->process[i];
		process_let_go(p);
		kfd_watch_fini(&p->watch);
		kfd_target_unpin(&p->target);
		buf_fini(&p->queues);
		free(p);
	}
	free(s->process);
	child_fini(&s->child);
}
