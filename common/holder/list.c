// Lists suspended processes: `status` requests to all living holders, and the records of criu.c.
#include "common/holder/holder_priv.h"

#include "common/host/clock.h"
#include "common/host/buf.h"
#include "common/host/xalloc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define ASK_MS 2000u // for the answers of all holders together

struct listing {
	struct holdings found;
	bool sweep;
};

// A pause ends with its process; its record is stale then.
static void list_record(struct listing *l, int dir, const char *name)
{
	uint64_t start;
	pid_t pid;
	if (!kfd_socket_parse(name + strlen(KFD_CRIU_PREFIX), &pid, &start))
		return;
	if (kfd_target_start(pid) == start)
		holdings_add(&l->found, pid, geteuid(), 0);
	else if (l->sweep)
		unlinkat(dir, name, 0);
}

// The caller has the folder's lock, so no starter is between bind() and listen(): a socket without
// a listener belongs to a killed holder.
static void remove_stale(int dir, const char *name)
{
	uint64_t start;
	pid_t pid;
	int fd = kfd_socket_parse(name, &pid, &start) ? kfd_socket_connect(dir, name, 0) : -EINVAL;
	if (fd == -ECONNREFUSED)
		unlinkat(dir, name, 0);
	if (fd >= 0)
		close(fd);
}

// One's own folder, swept if no starter has its lock.
static bool list_dir(int dir, void *arg)
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	bool sweep = ((struct listing *)arg)->sweep && flock(dir, LOCK_EX | LOCK_NB) == 0;
	for (struct dirent *e; d && (e = readdir(d));)
		if (strncmp(e->d_name, KFD_CRIU_PREFIX, strlen(KFD_CRIU_PREFIX)) == 0)
			list_record(arg, dir, e->d_name);
		else if (sweep)
			remove_stale(dir, e->d_name);
	if (sweep)
		kfd_rundir_unlock(dir);
	if (d)
		closedir(d);
	return false;
}

static void ask_status(struct kfd_holding *h, struct kfd_link *l)
{
	const struct kfd_target t = {.pid = h->target, .start = kfd_target_start(h->target)};
	struct kfd_failure f;
	*l = (struct kfd_link){.target = t.pid};
	l->fd = holder_connect(h->answer.holder, &t, 0, &h->socket);
	if (l->fd >= 0)
		kfd_link_send(l, "status", &f);
}

static void take_status(struct kfd_holding *h, struct kfd_link *l, uint64_t deadline)
{
	uint64_t now = clock_ns();
	unsigned left = now < deadline ? (unsigned)((deadline - now) / 1000000) : 0;
	pid_t holder = h->answer.holder;
	struct kfd_failure f;
	h->answers = l->fd >= 0 && kfd_link_receive(l, left + 1, &f) == 0 &&
		     l->answer.target == h->target;
	if (h->answers) {
		h->answer = l->answer;
		h->answer.holder = holder;
		l->answer.queues = NULL;
	}
	kfd_link_close(l);
}

static void list_holders(struct holdings *l)
{
	const uint64_t deadline = clock_in_ms(ASK_MS);
	holders_find(l);
	struct kfd_link *links = xcalloc(l->num, sizeof(*links));
	for (size_t i = 0; i < l->num; i++)
		ask_status(&l->v[i], &links[i]);
	for (size_t i = 0; i < l->num; i++)
		take_status(&l->v[i], &links[i], deadline);
	free(links);
}

static int by_target(const void *a, const void *b)
{
	const struct kfd_holding *x = a, *y = b;
	return x->paused != y->paused ? x->paused - y->paused : ORDER(x->target, y->target);
}

size_t kfd_holdings(struct kfd_holding **list, bool sweep)
{
	struct listing l = {.sweep = sweep};
	list_holders(&l.found);
	kfd_rundir_each(list_dir, &l);
	*list = l.found.v;
	if (l.found.num)
		qsort(*list, l.found.num, sizeof(**list), by_target);
	return l.found.num;
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
