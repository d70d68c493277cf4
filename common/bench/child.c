// Running commands; child.h.
#include "common/bench/child.h"

#include "common/host/clock.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

enum { LINE_MAX_BYTES = 1 << 24 };

struct command {
	const char *text, *setting, *log;
};

static int exec_shell(const void *arg)
{
	const struct command *c = arg;
	if (*c->setting)
		putenv(xstrdup(c->setting));
	if (c->log) {
		setenv("AMD_LOG_LEVEL", "4", 0);
		setenv("AMD_LOG_LEVEL_FILE", c->log, 1);
	}
	execl("/bin/sh", "sh", "-c", c->text, (char *)NULL);
	return 127;
}

static int run_detached(int out, int (*run)(const void *arg), const void *arg)
{
	sigset_t none;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL); // gpq bench ignores both
	signal(SIGXFSZ, SIG_DFL);
	setsid();
	int in = open("/dev/null", O_RDONLY);
	if (in < 0 || dup2(in, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 ||
	    dup2(out, STDERR_FILENO) < 0)
		return 127;
	return run(arg);
}

int child_fork(struct child *c, int (*run)(const void *arg), const void *arg)
{
	int pipefd[2];
	*c = (struct child){.out = -1};
	if (pipe2(pipefd, O_CLOEXEC))
		return -1;
	pid_t pid = fork();
	if (pid == 0) {
		close_quietly(pipefd[0]); // else it would not learn that nobody reads
		_exit(run_detached(pipefd[1], run, arg));
	}
	close_quietly(pipefd[1]);
	if (pid < 0) {
		close_quietly(pipefd[0]);
		return -1;
	}
	c->pid = pid;
	c->out = pipefd[0];
	fcntl(c->out, F_SETFL, O_NONBLOCK);
	return 0;
}

int child_start(struct child *c, const char *command, const char *setting, const char *log)
{
	return child_fork(c, exec_shell, &(struct command){command, setting, log});
}

static void give_lines(struct child *c, child_line_fn *fn, void *arg)
{
	char *at = c->line.data, *end;
	size_t left = c->line.len;
	for (; left && (end = memchr(at, '\n', left)); at = end + 1) {
		*end = '\0';
		if (*at) {
			c->last.len = 0;
			buf_puts(&c->last, at);
		}
		fn(arg, at);
		left -= (size_t)(end - at) + 1;
	}
	if (left > LINE_MAX_BYTES) // drops the line: none with a metric is so long
		left = 0;
	memmove(c->line.data, at, left);
	c->line.len = left;
}

static void take_output(struct child *c, child_line_fn *fn, void *arg)
{
	char data[16384];
	ssize_t n;
	while (c->out >= 0 && (n = read(c->out, data, sizeof(data))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return;
		if (n < 0)
			break;
		buf_append(&c->line, data, (size_t)n);
		give_lines(c, fn, arg);
	}
	close_quietly(c->out);
	c->out = -1;
}

void child_tick(struct child *c, child_line_fn *fn, void *arg)
{
	siginfo_t i = {0};
	take_output(c, fn, arg);
	if (c->ended || !c->pid)
		return;
	// The status is read before the child is reaped, since a tracer may reap it, too.
	if (waitid(P_PID, (id_t)c->pid, &i, WEXITED | WNOHANG | WNOWAIT) || !i.si_pid)
		return;
	c->ended = true;
	c->status = i.si_code == CLD_EXITED ? i.si_status << 8 : i.si_status;
	take_output(c, fn, arg);
	waitpid(c->pid, NULL, WNOHANG);
}

void child_end(struct child *c, uint64_t grace_ns, void (*tick)(void *arg), void *arg)
{
	uint64_t until = clock_ns() + grace_ns;
	if (!c->pid)
		return;
	kill(-c->pid, SIGTERM);
	kill(-c->pid, SIGCONT);
	while (clock_ns() < until && kill(-c->pid, 0) == 0) {
		tick(arg);
		usleep(1000);
	}
	kill(-c->pid, SIGKILL);
	while (!c->ended) {
		tick(arg);
		usleep(1000);
	}
}

void child_fini(struct child *c)
{
	if (c->pid && !c->ended) {
		kill(c->pid, SIGKILL);
		waitpid(c->pid, NULL, 0);
	}
	close_quietly(c->out);
	buf_fini(&c->line);
	buf_fini(&c->last);
	*c = (struct child){.out = -1};
}
