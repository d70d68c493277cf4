// Ending early on a signal; stop.h. The signal can arrive between the check of its flag and a
// blocking read, so its handler also writes to a pipe that is polled together with the input.
#include "common/cli/stop.h"

#include "common/host/clock.h"
#include "common/host/loop.h"

#include <fcntl.h>
#include <signal.h>

// timeout(1) signals the process and at once its group: signals within this time are one request.
#define ONE_REQUEST_NS 300000000

static volatile sig_atomic_t asked;
static uint64_t asked_ns;
static int wake[2] = {-1, -1};

// A second signal ends the program.
static void on_signal(int sig)
{
	int saved = errno;
	ssize_t ignored;
	if (asked && clock_ns() - asked_ns > ONE_REQUEST_NS) {
		signal(sig, SIG_DFL);
		raise(sig);
	} else if (!asked) {
		asked_ns = clock_ns();
	}
	asked = sig;
	ignored = write(wake[1], "", 1);
	(void)ignored;
	errno = saved;
}

static void stop_catch(int sig)
{
	struct sigaction ask = {.sa_handler = on_signal}, old;
	if (!sigaction(sig, NULL, &old) && old.sa_handler == SIG_DFL)
		sigaction(sig, &ask, NULL);
}

void stop_watch(void)
{
	if (wake[0] >= 0 || pipe2(wake, O_CLOEXEC | O_NONBLOCK))
		return; // without the pipe a signal ends the program, as ever
	stop_catch(SIGINT);
	stop_catch(SIGTERM);
}

void stop_watch_hangup(void)
{
	stop_watch();
	if (wake[0] >= 0)
		stop_catch(SIGHUP);
}

int stop_asked(void)
{
	return asked;
}

const char *stop_name(int sig)
{
	return sig == SIGTERM ? "SIGTERM" : sig == SIGHUP ? "SIGHUP" : "SIGINT";
}

int stop_status(void)
{
	return 128 + asked;
}

bool stop_sleep(uint64_t until_ns)
{
	struct pollfd woken = {.fd = wake[0], .events = POLLIN};
	if (!asked)
		wait_any(&woken, 1, until_ns);
	return !asked;
}

int stop_wait(int fd, int ms)
{
	struct pollfd fds[] = {{.fd = fd, .events = POLLIN}, {.fd = wake[0], .events = POLLIN}};
	const int n =
		asked ? -1 : wait_any(fds, 2, ms < 0 ? LOOP_FOREVER : clock_in_ms((uint64_t)ms));
	if (!asked)
		return n < 0 ? -1 : n > 0;
	errno = EINTR;
	return -1;
}

ssize_t stop_read(int fd, void *to, size_t n)
{
	ssize_t got;
	do
		got = stop_wait(fd, -1) < 0 ? -1 : read(fd, to, n);
	while (got < 0 && errno == EINTR && !asked);
	return got;
}
