// C++ names by a child process; see demangle.h. One name is one message of a SOCK_SEQPACKET socket,
// and so is its answer: a string with its NUL, empty when the library refuses the name.
//
// Facts: the Itanium C++ ABI, 3.4 (__cxa_demangle); libiberty/cp-demangle.c; setitimer(2), unix(7).
#include "common/host/demangle.h"

#include "common/host/buf.h"
#include "common/host/dlopen.h"
#include "common/host/xalloc.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define WAIT_MS 10000 // for an answer, however busy the host is: the child must be stuck

// cxxabi.h is for C++ alone. The name is the ABI's.
char *__cxa_demangle(const char *name, char *to, size_t *size, int *status); // NOLINT
#define CXXABI_FUNCTIONS(X) X(__cxa_demangle)
LIB(cxxabi, "libstdc++.so.6", CXXABI_FUNCTIONS, RECOMMENDED, "demangle", "C++ names of kernels");

struct demangler {
	const struct cxxabi *lib;
	pid_t child; // 0: none
	int fd;      // to it
	unsigned lost;
	char answer[DEMANGLE_TO_MOST + 1];
};

struct demangler *demangler_new(void)
{
	const struct cxxabi *lib = cxxabi_get();
	struct demangler *d = lib ? xcalloc(1, sizeof(*d)) : NULL;

	if (d)
		d->lib = lib;
	return d;
}

unsigned demangler_lost(const struct demangler *d)
{
	return d->lost;
}

static void stop(struct demangler *d)
{
	if (!d->child)
		return;
	close(d->fd);
	kill(d->child, SIGKILL);
	while (waitpid(d->child, NULL, 0) < 0 && errno == EINTR)
		;
	d->child = 0;
}

void demangler_free(struct demangler *d)
{
	if (d)
		stop(d);
	free(d);
}

// --- the child ---

// Signals end it that say that something went wrong. Those of the terminal are for the parent,
// whose end closes the socket.
static void confine(void)
{
	static const int end[] = {SIGPROF, SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGPIPE};
	static const int ignore[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	const struct rlimit none = {0}, stack = {8 << 20, 8 << 20};
	sigset_t all;

	for (size_t i = 0; i < COUNT(end); i++)
		signal(end[i], SIG_DFL);
	for (size_t i = 0; i < COUNT(ignore); i++)
		signal(ignore[i], SIG_IGN);
	sigemptyset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	setrlimit(RLIMIT_CORE, &none);
	setrlimit(RLIMIT_STACK, &stack);
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

// SIGPROF ends the process when it has used so much processor time; 0: never.
static void limit_time(long ms)
{
	const struct itimerval timer = {.it_value = {.tv_usec = ms * 1000}};

	setitimer(ITIMER_PROF, &timer, NULL);
}

static _Noreturn void serve(const struct cxxabi *lib, int fd)
{
	char name[DEMANGLE_FROM_MOST + 1];
	ssize_t n;

	while ((n = read(fd, name, sizeof(name) - 1)) > 0) {
		int status;
		char *text;
		size_t len;

		name[n] = 0;
		limit_time(DEMANGLE_MS);
		text = lib->__cxa_demangle(name, NULL, NULL, &status);
		limit_time(0);
		if (status == -1) // out of memory, whatever the name is
			break;
		len = text ? strlen(text) : 0;
		if (len > DEMANGLE_TO_MOST - 1)
			len = 0;
		if (write(fd, len ? text : "", len + 1) < 0)
			break;
		free(text);
	}
	_exit(0);
}

// --- the parent ---

static bool start(struct demangler *d)
{
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds))
		return false;
	d->fd = fds[0];
	d->child = fork();
	if (!d->child) {
		close(fds[0]);
		confine();
		serve(d->lib, fds[1]);
	}
	close(fds[1]);
	if (d->child > 0)
		return true;
	close(fds[0]);
	d->child = 0;
	return false;
}

static bool ask(struct demangler *d, const char *name, size_t len)
{
	struct pollfd answer = {.fd = d->fd, .events = POLLIN};
	ssize_t n;
	int ready;

	do
		n = send(d->fd, name, len, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	do
		ready = n < 0 ? -1 : poll(&answer, 1, WAIT_MS);
	while (ready < 0 && n >= 0 && errno == EINTR);
	n = ready == 1 ? recv(d->fd, d->answer, sizeof(d->answer) - 1, MSG_DONTWAIT) : 0;
	if (n <= 0)
		return false;
	d->answer[n] = 0;
	return true;
}

const char *demangle(struct demangler *d, const char *name)
{
	size_t len = strncmp(name, "_Z", 2) ? 0 : strnlen(name, DEMANGLE_FROM_MOST + 1);

	if (!len || len > DEMANGLE_FROM_MOST || d->lost >= DEMANGLE_LOST_MOST)
		return NULL;
	if ((d->child || start(d)) && ask(d, name, len))
		return d->answer[0] ? d->answer : NULL;
	stop(d);
	d->lost++;
	return NULL;
}
