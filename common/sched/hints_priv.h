// Private to common/sched/hints*.c: the socket file and its place.
#pragma once

#include "common/host/std.h"

#include <sys/un.h>

struct hints_socket {
	int fd, dir; // the listening socket; the directory of its file
	char path[sizeof((struct sockaddr_un){0}.sun_path)]; // what clients connect to
	const char *name;                                    // the last part of `path`
	dev_t dev; // `dev` and `ino` identify the file that was made
	ino_t ino;
};

// Makes the socket: see hints_open(). Returns 0, or an exit status after a message and cleaning up.
int hints_socket_open(struct hints_socket *s, const char *path, const char *group);

// Removes the socket file unless it was replaced, and closes both descriptors.
void hints_socket_close(struct hints_socket *s);
