// gpq --install DIR: a link per command, so that `queues` works like `gpq queues` (as busybox
// does).
#include "cmd/command.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int install_links(const char *dir)
{
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	if (n < 0)
		return err_sys(errno, NULL, "/proc/self/exe");
	self[n] = '\0';
	bool made = mkdir(dir, 0777) == 0 || errno == EEXIST;
	int fd = made ? open(dir, O_DIRECTORY | O_RDONLY | O_CLOEXEC) : -1;
	if (fd < 0)
		return err_sys(errno, "name a directory that you may write to", "%s", dir);
	int status = GPQ_OK;
	for (const struct command *c = gpq_commands; c->name; c++) {
		char name[32], now[PATH_MAX];
		snprintf(name, sizeof(name), "gpq-%s", c->name);
		// A file that is there already is the user's: it stays.
		if (symlinkat(self, fd, name) == 0)
			continue;
		int error = errno;
		ssize_t len = readlinkat(fd, name, now, sizeof(now) - 1);
		if (error != EEXIST)
			status = err_sys(error, NULL, "%s/%s", dir, name);
		else if (len != n || memcmp(now, self, (size_t)n) != 0)
			status = err_fail(GPQ_FAILED, "remove it, or choose another directory",
					  "%s/%s: exists and is not a link to this gpq", dir, name);
	}
	close(fd);
	return status;
}
