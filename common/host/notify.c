// Datagrams for the service manager; notify.h.
#include "common/host/notify.h"

#include "common/host/number.h"
#include "common/host/secure.h"

#include <sys/socket.h>
#include <sys/un.h>

void notify(const char *state)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	const char *path = host_getenv("NOTIFY_SOCKET");
	const size_t len = path ? strlen(path) : 0;
	if (!len || len >= sizeof(to.sun_path) || (*path != '/' && *path != '@'))
		return;
	const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return;
	memcpy(to.sun_path, path, len);
	if (*path == '@') // an abstract address
		to.sun_path[0] = '\0';
	const ssize_t ignored =
		sendto(fd, state, strlen(state), MSG_NOSIGNAL, (struct sockaddr *)&to,
		       (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len));
	(void)ignored;
	close(fd);
}

uint64_t notify_watchdog_ns(void)
{
	const char *usec = host_getenv("WATCHDOG_USEC"), *whose = host_getenv("WATCHDOG_PID");
	uint64_t n = 0, pid;
	if (!usec || !number_whole(usec, 10, UINT64_MAX / 1000, &n))
		return 0;
	if (whose && (!number_whole(whose, 10, INT32_MAX, &pid) || (pid_t)pid != getpid()))
		return 0;
	return n * 1000 / 2;
}
