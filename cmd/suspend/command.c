// gpq suspend ... -- COMMAND: runs COMMAND while the queues are suspended, and forwards signals.
//
// COMMAND is in gpq's process group: signals of the terminal (Ctrl-C, Ctrl-Z) reach it directly,
// and those sent to gpq alone are forwarded.
#include "cmd/suspend/suspend.h"
#include "common/host/loop.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

// ---- --marks FILE: times of suspend and resume are appended to FILE, as gpq suspend --ndjson and
// gpq resume --ndjson write them; gpq trace --gaps --mark reads them. Standard output is COMMAND's.

struct marks {
	struct out *out;
	int fd;
};

struct marks *marks_open(const char *file)
{
	const struct out_opts lines = {.mode = OUT_NDJSON};
	struct marks *m = xcalloc(1, sizeof(*m));
	m->fd = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	if (m->fd < 0) {
		err_sys(errno, NULL, "--marks %s", file);
		free(m);
		return NULL;
	}
	m->out = out_open_fd(&lines, m->fd, file);
	out_begin(m->out, &held_table, true);
	return m;
}

static bool write_marks(struct marks *marks, const struct group_member *m)
{
	for (size_t i = 0; i < m->link.answer.num; i++) {
		struct held_row row = held_row_of(m, &m->link.answer.queues[i]);
		held_write(marks->out, &row);
	}
	return out_flush(marks->out) == 0;
}

int marks_suspended(struct marks *marks, const struct group *all)
{
	for (size_t i = 0; i < all->n; i++)
		if (!write_marks(marks, all->v[i]))
			return GPQ_FAILED; // marks_close() prints the reason
	return 0;
}

// Appends the queues of a member as resumed at m->answered_ns: those of its answer to a release;
// without an answer all in one row, since its holder ended.
static void marks_resumed(struct marks *marks, const struct group_member *m, bool answered)
{
	struct held_row row = held_row_of(m, NULL); // one row for all queues
	row.result = kfd_result_name(KFD_RESULT_RESUMED);
	if (!marks)
		return;
	if (answered) {
		write_marks(marks, m);
		return;
	}
	held_write(marks->out, &row);
	out_flush(marks->out);
}

void marks_close(struct marks *marks)
{
	if (!marks)
		return;
	out_close(marks->out);
	close(marks->fd);
	free(marks);
}

// ---- COMMAND

static const int passed_on[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGCHLD, 0};

static void exec_held_command(char **argv, const sigset_t *mask)
{
	sigprocmask(SIG_SETMASK, mask, NULL);
	execvp(argv[0], argv);
	const int error = errno;
	err_sys(error, NULL, "%s", argv[0]);
	_exit(error == ENOENT ? 127 : 126);
}

// Reaps children that ended: COMMAND and holders. Returns true if COMMAND was among them.
static bool reap(pid_t child, int *status)
{
	bool ended = false;
	int other;
	pid_t pid;
	while ((pid = waitpid(-1, &other, WNOHANG)) > 0)
		if (pid == child) {
			*status = other;
			ended = true;
		}
	return ended;
}

// Forwards signals that were sent to gpq. Returns true when COMMAND has ended.
static bool forward_signals(int signals, pid_t child, int *status)
{
	struct signalfd_siginfo info;
	while (signals_next(signals, &info)) {
		if (info.ssi_signo == SIGCHLD) {
			if (reap(child, status))
				return true;
		} else if (info.ssi_code <= 0) { // from a process, not from the terminal
			kill(child, (int)info.ssi_signo);
		}
	}
	return false;
}

// Had the last deadline of the member's queues passed when its holder ended (m->answered_ns)?
static bool is_past_deadlines(const struct group_member *m)
{
	const struct kfd_answer *a = &m->link.answer;
	uint64_t until = 0;
	for (size_t i = 0; i < a->num; i++)
		if (a->queues[i].until_ns > until)
			until = a->queues[i].until_ns;
	return until && until <= m->answered_ns;
}

// Tells of a holder that ended before COMMAND: at its deadline, by gpq resume, killed, or with its
// target. COMMAND goes on.
static void check_link(struct group_member *m, struct pollfd *p, struct marks *marks)
{
	const int pid = (int)m->target.pid;
	if (!p->revents)
		return;
	p->fd = -1;
	member_set_failed(m, true);
	m->answered_ns = clock_ns();
	marks_resumed(marks, m, false);
	if (!kfd_target_alive(&m->target))
		err_note("pid %d: ended", pid);
	else if (is_past_deadlines(m))
		err_note("pid %d: its time is over; its queues run", pid);
	else
		err_warn("see gpq queues",
			 "pid %d: its holder ended (gpq resume, or killed); its queues run", pid);
}

static int wait_command(pid_t child, int signals, struct group *all, struct marks *marks)
{
	SCOPED(free_at) struct pollfd *p = xcalloc(all->n + 1, sizeof(*p));
	int status = 0;
	p[0] = (struct pollfd){.fd = signals, .events = POLLIN};
	for (size_t i = 0; i < all->n; i++)
		p[i + 1] = (struct pollfd){.fd = all->v[i]->link.fd, .events = POLLIN};
	while (!p[0].revents || !forward_signals(signals, child, &status)) {
		wait_any(p, all->n + 1, LOOP_FOREVER);
		for (size_t i = 0; i < all->n; i++)
			check_link(all->v[i], &p[i + 1], marks);
	}
	return status;
}

int holds_release(struct group *all, struct marks *marks)
{
	const struct group_talk talk = {.request = "release"};
	const uint64_t begin = clock_ns();
	int status = 0;
	group_request(all, &talk);
	group_answers(all, &talk);
	for (size_t i = 0; i < all->n; i++) {
		struct group_member *m = all->v[i];
		const bool answered = m->state == MEMBER_READY;
		if (m->asked_ns < begin) // this member had failed before, and got no request
			continue;
		if (!answered && !m->link.lost && kfd_target_alive(&m->target) &&
		    !member_abandon(m)) {
			err_warn(NULL, "pid %d: %s", (int)m->target.pid, m->failure.text);
			status = m->failure.status;
			continue;
		}
		marks_resumed(marks, m, answered);
		if (answered && m->link.answer.ended)
			kfd_wait_death(m->link.answer.holder, KFD_END_MS);
	}
	return status;
}

// Returns COMMAND's exit status, or ends by the signal that ended COMMAND, as a shell does.
static int pass_status(int status, const sigset_t *mask)
{
	if (!WIFSIGNALED(status))
		return WEXITSTATUS(status);
	signal(WTERMSIG(status), SIG_DFL);
	sigprocmask(SIG_SETMASK, mask, NULL);
	raise(WTERMSIG(status));
	return 128 + WTERMSIG(status);
}

int run_held(char **argv, struct group *all, int follower, struct marks *marks)
{
	sigset_t mask;
	int signals = signals_open(passed_on, SIG_BLOCK, &mask), status, held;
	const pid_t child = signals < 0 ? -1 : fork();
	if (child == 0)
		exec_held_command(argv, &mask);
	if (child < 0)
		return err_sys(errno, NULL, "run %s", argv[0]);
	status = wait_command(child, signals, all, marks);
	close(signals);
	follow_end(follower);
	held = holds_release(all, marks);
	follow_wait(follower);
	return held && !status ? held : pass_status(status, &mask);
}
