// What all living holders hold, which they are asked over their sockets, and what criu.h paused.
#include "common/holder/criu.h"
#include "common/holder/holder_priv.h"

#include "common/host/array.h"
#include "common/host/proc.h"

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
	size_t num, cap;
	bool failed; // memory is out
};

// A holder that does not answer (stopped, or in a call that takes long) is still the tracer or,
// where nobody traces, who listens.
static void take_silence(struct kfd_holding *h, pid_t peer)
{
	struct proc p;

	if (proc_read(&p, h->target) == 0)
		h->answer.holder = p.tracer > 0 ? p.tracer : peer;
}

static void ask(struct kfd_holding *h, int fd)
{
	struct kfd_link l = {.fd = fd, .target = h->target};
	struct kfd_failure f;

	h->answers = kfd_link_send(&l, "status", &f) == 0 && kfd_link_receive(&l, ASK_MS, &f) == 0;
	if (h->answers) {
		h->answer = l.answer;
		l.answer.queues = NULL;
	} else {
		take_silence(h, kfd_socket_peer(fd));
	}
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

static struct kfd_holding *add(struct listing *l, pid_t target, uid_t owner)
{
	l->failed |= ARRAY_GROW(l->v, l->cap, l->num) != 0;
	if (l->failed)
		return NULL;
	l->v[l->num] = (struct kfd_holding){.target = target, .uid = owner};
	return &l->v[l->num++];
}

// Records of processes that are gone are removed on the way: with them went the pause.
static void list_record(struct listing *l, int dir, const char *name, uid_t owner)
{
	struct kfd_holding *h;
	uint64_t start;
	pid_t pid;

	if (!kfd_socket_parse(name + strlen(KFD_CRIU_PREFIX), &pid, &start))
		return;
	if (kfd_target_start(pid) != start)
		unlinkat(dir, name, 0);
	else if ((h = add(l, pid, owner)))
		h->paused = true;
}

static void list_socket(struct listing *l, int dir, const char *name, uid_t owner)
{
	struct kfd_holding *h = NULL;
	uint64_t start;
	pid_t pid;
	int fd;

	if (!kfd_socket_parse(name, &pid, &start))
		return;
	fd = kfd_socket_connect(dir, name, ASK_MS);
	if (fd >= 0 && kfd_target_start(pid) == start)
		h = add(l, pid, owner);
	if (!h) {
		if (fd >= 0)
			close(fd);
		return;
	}
	h->socket = socket_path(dir, name);
	ask(h, fd);
}

static bool list_dir(int dir, uid_t owner, void *arg)
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	for (struct dirent *e; d && (e = readdir(d));)
		if (strncmp(e->d_name, KFD_CRIU_PREFIX, strlen(KFD_CRIU_PREFIX)) == 0)
			list_record(arg, dir, e->d_name, owner);
		else
			list_socket(arg, dir, e->d_name, owner);
	if (d)
		closedir(d);
	return false;
}

static int by_target(const void *a, const void *b)
{
	const struct kfd_holding *x = a, *y = b;

	if (x->paused != y->paused)
		return x->paused - y->paused;
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
		free(list[i].answer.queues);
		free(list[i].socket);
	}
	free(list);
}

const struct kfd_holding *kfd_holding_of(const struct kfd_holding *list, size_t num, pid_t pid)
{
	for (size_t i = 0; i < num; i++)
		if (list[i].target == pid && !list[i].paused)
			return &list[i];
	return NULL;
}
