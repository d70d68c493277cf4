// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * What a user with bad intentions can put in the way of gpq. Each prints "ready" and then stays
 * until it is killed.
 *
 *   hostile answer SOCKET    listens, and answers every line that all queues were resumed
 *   hostile silent SOCKET    listens, takes connections, and never answers
 *   hostile full SOCKET      listens, takes no connection, and fills its own backlog
 *   hostile flood SOCKET N   opens N connections to SOCKET and says nothing
 *   hostile lock DIR         holds a lock on the directory
 *   hostile follower TEXT    calls itself a follower of TEXT, as ps shows it, and ignores SIGTERM
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include "kfduser.h"

static struct sockaddr_un address(const char *path)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	return a;
}

static int dial(const char *path, int flags)
{
	const struct sockaddr_un a = address(path);
	const int fd = socket(AF_UNIX, SOCK_STREAM | flags, 0);
	if (fd < 0 || connect(fd, (const struct sockaddr *)&a, sizeof(a)))
		return -1;
	return fd;
}

static int serve_at(const char *path, int backlog)
{
	const struct sockaddr_un a = address(path);
	const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	if (fd < 0 || bind(fd, (const struct sockaddr *)&a, sizeof(a)) || listen(fd, backlog))
		die("listen at %s", path);
	return fd;
}

static void stay(void)
{
	puts("ready");
	fflush(stdout);
	for (;;)
		pause();
}

static void answer(const char *path)
{
	const int listener = serve_at(path, 8);
	const char *target = strrchr(path, '/') + 1;
	char line[8192];
	puts("ready");
	fflush(stdout);
	for (;;) {
		const int fd = accept(listener, NULL, NULL);
		puts("asked");
		fflush(stdout);
		while (fd >= 0 && read(fd, line, sizeof(line)) > 0)
			dprintf(fd, "queue id=0 gpu=1 type=compute packets=aql result=resumed latency_ns=1 until_ns=0\n"
				    "ok holder=%d target=%d held=0 since_ns=1 until_ns=0 follows=0 kept=0 ended=1\n",
				(int)getpid(), atoi(target));
		close(fd);
	}
}

static void silent(const char *path)
{
	const int listener = serve_at(path, 8);
	puts("ready");
	fflush(stdout);
	for (;;)
		accept(listener, NULL, NULL);
}

static void full(const char *path)
{
	serve_at(path, 0);
	while (dial(path, SOCK_NONBLOCK) >= 0)
		;
	stay();
}

static void flood(const char *path, int n)
{
	const struct rlimit many = {.rlim_cur = 4096, .rlim_max = 4096};
	setrlimit(RLIMIT_NOFILE, &many);
	for (int i = 0; i < n; i++)
		dial(path, SOCK_NONBLOCK);
	stay();
}

static void lock(const char *dir)
{
	const int fd = open(dir, O_RDONLY | O_DIRECTORY);
	if (fd < 0 || flock(fd, LOCK_EX))
		die("lock %s", dir);
	stay();
}

#define FOLLOWER "gpq-follower"

static void follower(const char *text)
{
	char title[256];
	snprintf(title, sizeof(title), FOLLOWER ": %s", text);
	execl("/proc/self/exe", title, NULL);
	die("exec %s", title);
}

static void follow(void)
{
	prctl(PR_SET_NAME, FOLLOWER);
	signal(SIGTERM, SIG_IGN);
	signal(SIGUSR1, SIG_IGN);
	stay();
}

int main(int argc, char **argv)
{
	const char *mode = argc > 2 ? argv[1] : "";
	if (!strncmp(argv[0], FOLLOWER ":", sizeof(FOLLOWER)))
		follow();

	signal(SIGPIPE, SIG_IGN);
	if (!strcmp(mode, "answer"))
		answer(argv[2]);
	else if (!strcmp(mode, "silent"))
		silent(argv[2]);
	else if (!strcmp(mode, "full"))
		full(argv[2]);
	else if (!strcmp(mode, "flood") && argc == 4)
		flood(argv[2], atoi(argv[3]));
	else if (!strcmp(mode, "lock"))
		lock(argv[2]);
	else if (!strcmp(mode, "follower"))
		follower(argv[2]);
	fprintf(stderr, "usage: hostile answer|silent|full|lock PATH | flood SOCKET N | follower TEXT\n");
	return 2;
}
