// The follower: both what it does, and how others find it and end it; suspend.h.
#include "cmd/suspend/suspend.h"

#include "common/host/loop.h"
#include "common/host/proc.h"
#include "common/pick/newcomers.h"
#include "common/reader/reader.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define AGAIN_NS    1000000000u // time from one call of has_more_to_follow() to the next
#define END_NS      1000000000u // limit for the end of followers that were told to end
#define END_POLL_US 10000
#define LOOK_SIGNAL SIGUSR1 // tells a follower to call has_more_to_follow() now

struct following {
	struct suspend_opts opts;
	const struct kfd_selection *sel;
	struct newcomers seen; // newcomers met; `done`: the process is held, or was
	struct group held;     // if tied: newcomers with their connections
	bool tied; // the follower belongs to a COMMAND of gpq `parent`, and ends with it
	pid_t parent;
	uint64_t until_ns;  // deadline (CLOCK_MONOTONIC); UINT64_MAX: none
	uint64_t looked_ns; // when has_more_to_follow() was called last
	int signals;
};

// Is `pid` COMMAND or a descendant of it? A process that COMMAND has detached does not show as one.
static bool is_of_command(const struct following *f, pid_t pid)
{
	struct proc p = {.ppid = pid};
	while (f->tied && p.ppid > 1 && p.ppid != f->parent)
		if (proc_read(&p, p.ppid))
			return false;
	return f->tied && p.ppid == f->parent;
}

// Suspends a newcomer. Returns false if that failed; the caller tries again later.
static bool take_in(struct following *f, pid_t pid)
{
	struct suspend_opts o = f->opts;
	const uint64_t now = clock_ns();
	SCOPED(group_fini) struct group one = {.dry = true};
	if (f->until_ns != UINT64_MAX)
		o.for_ns = f->until_ns > now ? f->until_ns - now : 1;
	group_add(&one, pid, xmemdup(f->sel, sizeof(*f->sel)));
	const bool held = suspend_newcomer(&one, &o, !f->tied);
	if (held && f->tied)
		group_move(&f->held, &one);
	return held;
}

static void scan_for_newcomers(struct following *f)
{
	SCOPED(process_cache_fini) struct process_cache processes = {0};
	const uint64_t now = clock_ns();
	struct pick pick = {0};
	if (!newcomers_scan(&f->seen, now))
		return;
	if (pick_init(&pick, &f->opts.pick, &processes) == GPQ_OK)
		for (size_t i = 0; i < f->seen.n; i++) {
			struct newcomer *c = &f->seen.v[i];
			if (newcomer_take(c, now))
				c->done = !pick_is_ours(c->pid, &processes) &&
					  !is_of_command(f, c->pid) && pick_keeps(&pick, c->pid) &&
					  take_in(f, c->pid);
		}
	pick_fini(&pick);
}

static bool is_held(pid_t pid, const struct kfd_holding *list, size_t num)
{
	for (const struct kfd_holding *h = list; h < list + num; h++)
		// One that is paused has no holder that answers.
		if (h->target == pid && (!h->answers || h->answer.held || h->answer.follows))
			return true;
	return false;
}

// Has the follower still something to follow? Not if it took in processes of which some live and
// none is held any more, nor if all roots of --tree have ended. Processes that ended may be started
// again.
static bool has_more_to_follow(const struct following *f)
{
	const struct pids *roots = &f->opts.pick.pids;
	struct kfd_holding *list;
	size_t members = 0, held = 0, alive = 0, num = kfd_holdings(&list, false);
	struct proc p;
	for (size_t i = 0; i < f->seen.n; i++) {
		const struct newcomer *c = &f->seen.v[i];
		// sysfs may have the folder of a dead process for a while.
		if (!c->done || kfd_is_dead(c->pid))
			continue;
		members++;
		held += is_held(c->pid, list, num);
	}
	kfd_holdings_free(list, num);
	for (size_t i = 0; i < roots->n; i++)
		alive += f->opts.pick.ns_pid || proc_read(&p, roots->v[i]) == 0;
	return (!members || held) && (!roots->n || alive);
}

// Reads signals. Returns false if one tells the follower to end.
static bool take_follower_signals(struct following *f)
{
	struct signalfd_siginfo info;
	while (signals_next(f->signals, &info))
		if (info.ssi_signo != LOOK_SIGNAL)
			return false;
	f->looked_ns = 0;
	return true;
}

static void __attribute__((noreturn)) run_follower(struct following *f)
{
	uint64_t now;
	newcomers_init(&f->seen);
	struct pollfd polled[] = {{.fd = f->signals, .events = POLLIN},
				  {.fd = f->seen.events.fd, .events = POLLIN}};
	f->looked_ns = clock_ns();
	while ((now = clock_ns()) < f->until_ns) {
		scan_for_newcomers(f);
		while (waitpid(-1, NULL, WNOHANG) > 0) // reaps holders that ended
			;
		if (now - f->looked_ns >= AGAIN_NS) {
			if (!has_more_to_follow(f))
				break;
			f->looked_ns = now;
		}
		const uint64_t next = clock_in_ms(NEWCOMERS_SCAN_MS);
		if (wait_any(polled, COUNT(polled), next < f->until_ns ? next : f->until_ns) <= 0)
			continue;
		if (polled[0].revents && !take_follower_signals(f))
			break;
		newcomers_drain(&f->seen);
	}
	if (f->tied)
		holds_release(&f->held, NULL);
	_exit(0);
}

// Shows follower and selector to `ps`, gpq resume and gpq suspend --list. The title overwrites
// arguments and environment.
static void show_title(const struct pick_opts *pick)
{
	struct title title = {0};
	SCOPED(buf_fini) struct buf text = {0};
	prctl(PR_SET_NAME, FOLLOWER_COMM);
	title_keep_environment();
	buf_puts(&text, FOLLOWER_COMM ":");
	pick_text(&text, pick);
	title_set(&title, text.data);
}

// Detaches the follower from the descriptors, terminal and standard streams of gpq.
static void detach_follower(struct following *f)
{
	const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	const int signals[] = {SIGTERM, SIGINT, SIGHUP, LOOK_SIGNAL, 0};
	if (f->tied)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	if ((f->tied && getppid() != f->parent) || chdir("/") < 0)
		_exit(1);
	setsid(); // Ctrl-C is for COMMAND
	show_title(&f->opts.pick);
	signal(SIGPIPE, SIG_IGN);
	for (int fd = 0; fd <= 2; fd++)
		dup2(null, fd);
	close_range(3, ~0u, 0); // closing the pipe tells the parent that the follower is ready
	f->signals = signals_open(signals, SIG_SETMASK, NULL);
}

// Waits until the child has closed its end of the pipe, by detach_follower() or by dying.
static void wait_ready(const int ready[2])
{
	char byte;
	close(ready[1]);
	while (read(ready[0], &byte, 1) < 0 && errno == EINTR)
		;
	close(ready[0]);
}

int follow_start(const struct suspend_opts *o, const struct group *all, bool tied)
{
	struct following f = {.opts = *o,
			      .sel = all->v[0]->sel,
			      .tied = tied,
			      .parent = getpid(),
			      .until_ns = o->for_ns == NO_DEADLINE ? UINT64_MAX
								   : clock_ns() + o->for_ns};
	int ready[2], pidfd = -1;
	pid_t pid = pipe2(ready, O_CLOEXEC) ? -1 : fork();
	if (pid > 0) {
		pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
		wait_ready(ready);
	}
	if (pidfd >= 0)
		err_note("processes that come to fit later are taken in by " FOLLOWER_COMM
			 ", pid %d",
			 (int)pid);
	else if (pid)
		err_sys(errno, NULL, "start a follower: processes that come later run");
	if (pid > 0 && pidfd < 0)
		kill(pid, SIGKILL);
	if (pid)
		return pidfd;
	detach_follower(&f);
	newcomers_scan(&f.seen, 0);
	for (size_t i = 0; i < f.seen.n; i++)
		for (size_t k = 0; k < all->n; k++)
			f.seen.v[i].done |= f.seen.v[i].pid == all->v[k]->target.pid &&
					    all->v[k]->state != MEMBER_FAILED;
	run_follower(&f);
}

void follow_end(int follower)
{
	if (follower >= 0)
		syscall(SYS_pidfd_send_signal, follower, SIGTERM, NULL, 0);
}

void follow_wait(int follower)
{
	if (follower < 0)
		return;
	// The follower may be suspending a newcomer just now.
	wait_readable(follower, clock_in_ms(KFD_ANSWER_MS));
	close(follower);
}

// ---- finding and ending followers from outside

// Reads the selector from a follower's command line, which is in the follower's memory. Another
// user's is not read: it may lie.
static bool read_selector_text(struct follower *f)
{
	static const char title[] = FOLLOWER_COMM ":";
	const size_t len = strlen(title);
	if (!f->ours)
		return true;
	if (proc_cmdline(f->pid, f->text, sizeof(f->text)) <= 0 ||
	    strncmp(f->text, title, len) != 0)
		return false;
	memmove(f->text, f->text + len, strlen(f->text + len) + 1);
	return true;
}

size_t followers(struct follower **list)
{
	SCOPED(free_at) struct proc *all = NULL;
	const ssize_t num = proc_list(&all);
	size_t n = 0, room = 0;
	*list = NULL;
	for (ssize_t i = 0; i < num; i++) {
		const bool ours = all[i].uid == geteuid();
		if (strcmp(all[i].comm, FOLLOWER_COMM) != 0 || !all[i].memory ||
		    (geteuid() && !ours))
			continue;
		ARRAY_GROW(*list, room, n);
		(*list)[n] = (struct follower){.pid = all[i].pid, .uid = all[i].uid, .ours = ours};
		n += read_selector_text(&(*list)[n]);
	}
	return n;
}

// Does the follower live? Then sends it the signal, unless that is 0. No descriptor is kept: other
// users may have more followers than a process may have descriptors.
static bool signal_follower(const struct follower *f, int sig)
{
	SCOPED(close_at) const int pidfd = (int)syscall(SYS_pidfd_open, f->pid, 0);
	struct proc now;
	const bool lives = pidfd >= 0 && proc_read(&now, f->pid) == 0 && now.uid == f->uid &&
			   strcmp(now.comm, FOLLOWER_COMM) == 0 && !wait_readable(pidfd, LOOP_NOW);
	if (lives && sig)
		syscall(SYS_pidfd_send_signal, pidfd, sig, NULL, 0);
	return lives;
}

void followers_look(void)
{
	struct follower *list;
	size_t n = followers(&list);
	for (size_t i = 0; i < n; i++)
		signal_follower(&list[i], LOOK_SIGNAL);
	free(list);
}

size_t followers_end(struct ending *e, const struct pick_opts *o)
{
	SCOPED(buf_fini) struct buf text = {0};
	size_t n = followers(&e->v), ours = 0;
	e->n = 0;
	if (o)
		pick_text(&text, o);
	for (size_t i = 0; i < n; i++) {
		const struct follower *f = &e->v[i];
		if (o && (!f->ours || !text.data || strcmp(text.data, f->text) != 0))
			continue;
		if (!signal_follower(f, SIGTERM))
			continue;
		ours += f->ours;
		e->v[e->n++] = *f;
	}
	return ours;
}

// Waits up to END_NS for the end of all followers in `e`, and keeps those that live on.
static void wait_together(struct ending *e)
{
	const uint64_t until = clock_ns() + END_NS;
	size_t left;
	do {
		left = 0;
		for (size_t i = 0; i < e->n; i++)
			if (signal_follower(&e->v[i], 0))
				e->v[left++] = e->v[i];
		e->n = left;
	} while (left && clock_ns() < until && usleep(END_POLL_US) == 0);
}

bool followers_gone(struct ending *e)
{
	const bool any = e->n != 0;
	size_t strangers = 0;
	wait_together(e);
	for (size_t i = 0; i < e->n; i++)
		if (e->v[i].ours)
			signal_follower(&e->v[i], SIGKILL);
		else
			strangers++;
	if (e->n > strangers)
		wait_together(e);
	if (strangers)
		err_warn("gpq suspend --list shows them; what they take in stays suspended",
			 "%zu of other users that call themselves " FOLLOWER_COMM " did not end",
			 strangers);
	free(e->v);
	*e = (struct ending){0};
	return any;
}
