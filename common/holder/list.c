// What all living holders hold, asked over their sockets.
#include "common/holder/holder_priv.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ASK_MS 300

struct listing {
	struct kfd_holding *v;
	size_t num, room;
	bool failed; // memory is out
};

static struct kfd_holding *add(struct listing *l)
{
	if (l->num == l->room) {
		size_t room = l->room ? 2 * l->room : 16;
		void *v = realloc(l->v, room * sizeof(l->v[0]));

		if (!v) {
			l->failed = true;
			return NULL;
		}
		l->v = v;
		l->room = room;
	}
	memset(&l->v[l->num], 0, sizeof(l->v[0]));
	return &l->v[l->num++];
}

static void take_answer(struct kfd_holding *h, const struct kfd_answer *a)
{
	h->answers = true;
	h->holder = a->holder;
	h->held = a->held;
	h->since_ns = a->since_ns;
	h->until_ns = a->until_ns;
	h->follows = a->follows;
	h->kept = a->kept;
	h->queue_ids = calloc(a->num + 1, sizeof(h->queue_ids[0]));
	for (size_t i = 0; h->queue_ids && i < a->num; i++)
		if (a->queues[i].result == KFD_RESULT_SUSPENDED)
			h->queue_ids[h->num_queues++] = a->queues[i].queue.queue_id;
}

// A holder that does not answer (stopped, or in a call that takes long) is still the tracer or,
// where nobody traces, who listens.
static void take_silence(struct kfd_holding *h, pid_t peer)
{
	struct kfd_ptrace_facts facts;

	if (kfd_ptrace_facts(h->target, &facts) == 0)
		h->holder = facts.tracer ? facts.tracer : peer;
}

static void ask(struct kfd_holding *h, int fd)
{
	struct kfd_link l = {.fd = fd, .target = h->target};
	struct kfd_failure f;

	if (kfd_link_send(&l, "status", &f) < 0 || kfd_link_receive(&l, ASK_MS, &f) < 0)
		take_silence(h, kfd_socket_peer(fd));
	else
		take_answer(h, &l.answer);
	kfd_link_close(&l);
}

// NULL when memory is out.
static char *socket_path(int dir, const char *name)
{
	char link[32], path[4096], *full;
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", dir);
	n = readlink(link, path, sizeof(path));
	if (n <= 0 || asprintf(&full, "%.*s/%s", (int)n, path, name) < 0)
		return NULL;
	return full;
}

static bool list_dir(int dir, uid_t owner, void *arg)
{
	struct listing *l = arg;
	DIR *d = fdopendir(openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	struct kfd_holding *h;
	uint64_t start;
	pid_t pid;

	for (struct dirent *e; d && (e = readdir(d));) {
		int fd;

		if (!kfd_socket_parse(e->d_name, &pid, &start))
			continue;
		fd = kfd_socket_connect(dir, e->d_name, ASK_MS);
		if (fd < 0 || kfd_target_start(pid) != start || !(h = add(l))) {
			if (fd >= 0)
				close(fd);
			continue;
		}
		h->target = pid;
		h->target_start = start;
		h->uid = owner;
		h->socket = socket_path(dir, e->d_name);
		ask(h, fd);
	}
	if (d)
		closedir(d);
	return false;
}

static int by_target(const void *a, const void *b)
{
	const struct kfd_holding *x = a, *y = b;

	return (x->target > y->target) - (x->target < y->target);
}

int kfd_holdings(struct kfd_holding **list, size_t *num)
{
	struct listing l = {0};

	kfd_rundir_each(list_dir, &l);
	if (l.failed) {
		kfd_holdings_free(l.v, l.num);
		errno = ENOMEM;
		return -1;
	}
	if (l.num)
		qsort(l.v, l.num, sizeof(l.v[0]), by_target);
	*list = l.v;
	*num = l.num;
	return 0;
}

void kfd_holdings_free(struct kfd_holding *list, size_t num)
{
	for (size_t i = 0; i < num; i++) {
		free(list[i].queue_ids);
		free(list[i].socket);
	}
	free(list);
}

const struct kfd_holding *kfd_holding_of(const struct kfd_holding *list, size_t num, pid_t pid)
{
	for (size_t i = 0; i < num; i++)
		if (list[i].target == pid)
			return &list[i];
	return NULL;
}
