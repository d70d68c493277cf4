// Starts a holder: a detached process without the client's descriptors, signals or terminal.
#include "common/host/confine.h"
#include "common/holder/holder_priv.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/timerfd.h>

// Writes "until 4711.250 s", "until resume" (FOREVER) or "resumed" (0).
static void put_until(char *p, uint64_t until)
{
	uint64_t ms = until / 1000000;
	if (until == 0 || until == FOREVER) {
		line_put(p, until ? "until resume" : "resumed");
		return;
	}
	// 1000 + milliseconds has four digits; the point overwrites the first one.
	char *dot = line_put_number(p, "until ", ms / 1000, 10);
	p = line_put_number(dot, "", 1000 + ms % 1000, 10);
	*dot = '.';
	line_put(p, " s");
}

void holder_title(struct holder *h)
{
	char text[160], *p;
	p = line_put_number(text, KFD_HOLDER_COMM ": pid ", (uint64_t)h->target.pid, 10);
	p = line_put_number(p, ": ", h->session.num_held, 10);
	put_until(line_put(p, " queues suspended, "), hold_until(h));
	title_set(&h->title, text);
}

// Closes all descriptors but those of the holder; the standard ones become /dev/null.
static void close_other_fds(const struct holder *h)
{
	int keep[] = {h->listener, h->dir, h->target.pidfd, h->clients[0].fd};
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (int fd = 0; fd <= 2; fd++)
		dup2(null, fd);
	confine_fds(3, keep, COUNT(keep));
}

// Termination signals are read from a signalfd, so no system call is interrupted.
static void open_holder_signals(struct holder *h)
{
	static const int signals[] = {SIGCHLD, SIGTERM, SIGINT, SIGHUP, SIGQUIT, 0};
	h->signals = signals_open(signals, SIG_SETMASK, NULL);
}

static void detach_holder(struct holder *h)
{
	const struct rlimit no_core = {0, 0};
	kfd_rundir_unlock(h->dir);
	h->pid = getpid();
	setsid();
	prctl(PR_SET_NAME, KFD_HOLDER_COMM);
	if (chdir("/") < 0)
		h->ending = true;
	setrlimit(RLIMIT_CORE, &no_core);
	close_other_fds(h);
	open_holder_signals(h);
}

static void __attribute__((noreturn)) run_holder(struct holder *h)
{
	kfd_step_init("holder");
	detach_holder(h);
	h->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	listen(h->listener, 128); // once more: SO_PEERCRED now names the holder, not its starter
	if (h->signals >= 0 && h->timer >= 0 && !h->ending)
		holder_loop(h);
	kfd_step(9);
	// From here on a starter makes a new holder, which waits for the end of this one.
	unlinkat(h->dir, h->name, 0);
	close(h->listener);
	kfd_session_close(&h->session);
	send_last(h);
	_exit(0);
}

pid_t holder_start(const struct kfd_target *t, int listener, int client, int dir, const char *name,
		   struct kfd_failure *f)
{
	pid_t pid = fork();
	if (pid)
		return pid < 0 ? kfd_fail(f, KFD_FAULT_SYSTEM, "start a holder", strerror(errno))
			       : pid;
	struct holder *h = xcalloc(1, sizeof(*h));
	h->target = *t;
	h->listener = listener;
	h->dir = dir;
	h->session.kfd = h->session.events = -1;
	memcpy(h->name, name, strlen(name) + 1);
	for (unsigned i = 0; i < HOLDER_MAX_CLIENTS; i++)
		h->clients[i].fd = i ? -1 : client;
	run_holder(h);
}
