// The client's side of a holder: connecting, starting, requests and answers, SIGKILL.
#include "common/holder/holder_priv.h"
#include "common/holder/ptrace.h"

#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define CONNECT_MS 1000
#define ABANDON_MS 1000
#define MAX_ANSWER (4 * KFD_MAX_QUEUES) // most queue lines of an answer; a gpq holder sends fewer

// Makes a listening socket `name`, or connects *fd to the living holder of that name. Returns the
// socket, 0 when connected, or -errno.
static int hold_name(int dir, const char *name, int *fd)
{
	int listener = kfd_socket_listen(dir, name);
	if (listener != -EADDRINUSE)
		return listener;
	*fd = kfd_socket_connect(dir, name, CONNECT_MS); // another client started it first
	if (*fd != -ECONNREFUSED && *fd != -ENOENT)
		return *fd < 0 ? *fd : 0;
	unlinkat(dir, name, 0); // socket of a holder that was killed or has just ended
	return kfd_socket_listen(dir, name);
}

// Starts a holder; the directory is locked. The holder inherits one end of a socket pair as its
// first connection, so neither process waits for the other.
static int start_locked(int dir, const char *name, const struct kfd_target *t, pid_t *holder,
			struct kfd_failure *f)
{
	int fd = -1, ends[2], listener = hold_name(dir, name, &fd);
	if (fd >= 0)
		return fd;
	if (listener < 0)
		return kfd_fail(f, KFD_FAULT_SYSTEM, "make the holder's socket",
				strerror(-listener));
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0) {
		*holder = kfd_fail(f, KFD_FAULT_SYSTEM, "connect to the holder", strerror(errno));
	} else {
		*holder = holder_start(t, listener, ends[1], dir, name, f);
		close(ends[1]);
		fd = ends[0];
	}
	close(listener);
	if (*holder >= 0)
		return fd;
	unlinkat(dir, name, 0);
	close_quietly(fd);
	return -1;
}

static int start_holder(const char *name, const struct kfd_target *t, pid_t *holder,
			struct kfd_failure *f)
{
	int dir = kfd_rundir_open(f), fd = -1;
	if (dir < 0)
		return -1;
	if (kfd_rundir_lock(dir, f) == 0)
		fd = start_locked(dir, name, t, holder, f);
	// A new holder inherits the lock and unlocks it, too, as this process may be killed before
	// this line.
	kfd_rundir_unlock(dir);
	close(dir);
	return fd;
}

static void know_peer(struct kfd_link *l, pid_t peer)
{
	l->peer = peer;
	l->peer_start = peer > 0 ? kfd_target_start(peer) : 0;
}

// Is the link's peer still the target's holder? Not if it is a zombie, or if another process has
// its pid, whose start time differs. The pid of our child is not reused before we wait for it.
static bool peer_holds(const struct kfd_link *l)
{
	pid_t tracer = kfd_holder_of(l->target);
	struct proc p;
	return l->peer > 0 && (l->started || kfd_target_start(l->peer) == l->peer_start) &&
	       proc_read(&p, l->peer) == 0 && p.state != 'Z' && p.state != 'X' &&
	       strcmp(p.comm, KFD_HOLDER_COMM) == 0 && (!tracer || tracer == l->peer);
}

// Connects to the target's holder. A holder that is ending has removed its socket: the target then
// counts as not held.
static int find_holder(struct kfd_link *l, const struct kfd_target *t, struct kfd_failure *f)
{
	pid_t holder = kfd_holder_of(t->pid);
	bool traced = holder != 0;
	int fd = holder_connect(holder, t, CONNECT_MS, NULL);
	if (fd < 0 && !traced && geteuid() == 0 && (holder = holder_untraced(t->pid)))
		fd = holder_connect(holder, t, CONNECT_MS, NULL);
	know_peer(l, fd >= 0 && !holder ? kfd_socket_peer(fd) : holder);
	if (fd >= 0)
		return fd;
	if (!holder || kfd_wait_death(holder, ABANDON_MS) || !peer_holds(l))
		return kfd_fail(f, KFD_FAULT_NOT_HELD);
	l->deaf = true;
	if (fd == -EAGAIN)
		return kfd_fail(f, KFD_FAULT_HOLDER_DEAF, (int)holder);
	return tracee_explain_holder(holder, f);
}

int kfd_link_open(struct kfd_link *l, const struct kfd_target *t, bool start, struct kfd_failure *f)
{
	char name[KFD_SOCKET_NAME_SIZE];
	*l = (struct kfd_link){.fd = -1, .target = t->pid};
	kfd_socket_name(name, t->pid, t->start);
	// A target that nobody traces has no holder, or one that is starting or does not trace.
	// start_holder() finds such a holder in our directory; one of another user makes the driver
	// refuse the new session (KFD_FAULT_FOREIGN_SESSION).
	if (!start || kfd_holder_of(t->pid))
		l->fd = find_holder(l, t, f);
	if (start && l->fd < 0 && !l->deaf) {
		l->fd = start_holder(name, t, &l->started, f);
		if (!l->started)
			know_peer(l, l->fd >= 0 ? kfd_socket_peer(l->fd) : 0);
		else
			l->peer = l->started;
	}
	return l->fd < 0 ? -1 : 0;
}

void kfd_link_close(struct kfd_link *l)
{
	close_quietly(l->fd);
	buf_fini(&l->in);
	free(l->answer.queues);
	free(l->answer.gpus);
	memset(l, 0, sizeof(*l));
	l->fd = -1;
}

// Finds out why talking to the holder failed: it died, or it lives and takes no connections. If it
// died during the runtime handshake, a thread of the target sleeps until tracee_rescue() wakes it.
static int explain_loss(struct kfd_link *l, struct kfd_failure *f)
{
	kfd_wait_death(l->peer, ABANDON_MS);
	if (kfd_is_dead(l->target))
		return kfd_fail(f, KFD_FAULT_GONE); // as a holder ends with its target
	l->deaf = peer_holds(l);
	if (l->deaf)
		return kfd_fail(f, KFD_FAULT_HOLDER_DEAF, (int)l->peer);
	l->lost = true;
	tracee_rescue(l->target);
	return kfd_fail(f, KFD_FAULT_HOLDER_LOST);
}

int kfd_link_send(struct kfd_link *l, const char *request, struct kfd_failure *f)
{
	struct iovec parts[] = {
		{.iov_base = (void *)(uintptr_t)request, .iov_len = strlen(request)},
		{.iov_base = (char[]){'\n'}, .iov_len = 1}};
	struct msghdr m = {.msg_iov = parts, .msg_iovlen = 2};
	ssize_t n;
	l->answer.num = l->answer.num_gpus = 0;
	l->may_stay = strcmp(request, "hold") == 0;
	do
		n = sendmsg(l->fd, &m, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	l->may_stay &= n > 0;
	return n == (ssize_t)(parts[0].iov_len + 1) ? 0 : explain_loss(l, f);
}

// Parses the complete lines of l->in. Returns 1 if the answer is complete, 0 if not yet, or -1 and
// sets *f if the answer is an error.
static int take_lines(struct kfd_link *l, struct kfd_failure *f)
{
	struct kfd_answer *a = &l->answer;
	size_t used = 0;
	int r = 0;
	char *end;
	while (r == 0 && (end = memchr(l->in.data + used, '\n', l->in.len - used))) {
		char *line = l->in.data + used;
		*end = '\0';
		used = (size_t)(end - l->in.data) + 1;
		if (a->num == MAX_ANSWER)
			return kfd_fail(f, KFD_FAULT_SYSTEM, "answer", strerror(ENOMEM));
		ARRAY_GROW(a->queues, a->room, a->num);
		switch (holder_answer_parse(line, &a->queues[a->num], a, f)) {
		case HOLDER_LINE_QUEUE: a->num++; break;
		case HOLDER_LINE_GPU: break;
		case HOLDER_LINE_OK: r = 1; break;
		case HOLDER_LINE_ERROR: r = -1; break;
		case HOLDER_LINE_BAD:
			return kfd_fail(f, KFD_FAULT_SYSTEM, "answer of the holder",
					"not understood (a holder of another version?)");
		}
	}
	l->in.len -= used;
	memmove(l->in.data, l->in.data + used, l->in.len);
	return r;
}

// Receives what has come, without waiting. Returns false if the connection is lost.
static bool read_answer(struct kfd_link *l)
{
	buf_reserve(&l->in, HOLDER_LINE_MAX);
	const ssize_t n = recv(l->fd, l->in.data + l->in.len, l->in.cap - l->in.len, MSG_DONTWAIT);
	l->in.len += n > 0 ? (size_t)n : 0;
	return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

int kfd_link_take(struct kfd_link *l, struct kfd_failure *f)
{
	return read_answer(l) ? take_lines(l, f) : explain_loss(l, f);
}

int kfd_link_receive(struct kfd_link *l, unsigned timeout_ms, struct kfd_failure *f)
{
	const uint64_t deadline = clock_in_ms(timeout_ms);
	int r;
	for (;;) {
		buf_reserve(&l->in, HOLDER_LINE_MAX);
		r = take_lines(l, f);
		if (r)
			return r < 0 ? -1 : 0;
		l->silent = !wait_readable(l->fd, deadline);
		if (l->silent)
			return kfd_fail(f, KFD_FAULT_HOLDER_SILENT, (int)(timeout_ms / 1000));
		if (!read_answer(l))
			return explain_loss(l, f);
	}
}

bool kfd_link_wait_end(struct kfd_link *l)
{
	kfd_wait_death(l->peer, KFD_END_MS);
	return !peer_holds(l);
}

bool kfd_holder_is_stopped(const struct kfd_link *l)
{
	struct proc holder;
	return peer_holds(l) && proc_read(&holder, l->peer) == 0 && holder.state == 'T';
}

bool kfd_holder_kill(const struct kfd_link *l, const struct kfd_target *t, struct kfd_failure *f)
{
	bool traced = kfd_holder_of(t->pid) != 0, sent;
	if (!peer_holds(l))
		return false;
	const int pidfd = (int)syscall(SYS_pidfd_open, l->peer, 0);
	if (pidfd < 0)
		return errno == ESRCH;
	// The pidfd pins the process: if the peer is the holder now, the pidfd is the holder's.
	sent = peer_holds(l) && syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0) == 0;
	close(pidfd);
	if (!sent)
		return false;
	kfd_wait_death(l->peer, KFD_END_MS);
	tracee_rescue(t->pid);
	if (traced || kfd_session_recover(t))
		return true;
	kfd_fail(f, KFD_FAULT_KILLED_UNSEEN);
	return false;
}

bool kfd_link_abandon(struct kfd_link *l, const struct kfd_target *t, struct kfd_failure *f)
{
	close_quietly(l->fd);
	l->fd = -1;
	if (l->started <= 0)
		return false;
	bool ended = kfd_wait_death(l->started, ABANDON_MS);
	if (!ended && (l->silent || (l->deaf && l->may_stay)))
		ended = kfd_holder_kill(l, t, f);
	if (ended && (l->silent || l->deaf))
		kfd_fail(f, KFD_FAULT_HOLDER_LOST);
	l->started = 0;
	return ended;
}
