// client SOCKET: one round of requests by libgpqclient, for run.py. Prints their results; exits
// with 1 and a message where one of them failed, and aborts where the library left a descriptor or
// memory behind.
//
// The requests have no timeout: what does not return hangs. The two calls of getpgid() are the
// marks of syscalls.c.
#include "common/client/gpq-client.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if !__GLIBC_PREREQ(2, 33)
#define mallinfo2() ((struct { size_t uordblks; }){(size_t)mallinfo().uordblks})
#endif

enum {
	MOST_FDS = 64,
	OWN_BYTES =
		1024, // what the C library may keep for the handlers of fork(); a handle is larger
};

static unsigned open_fds(void)
{
	unsigned n = 0;
	for (int fd = 0; fd < MOST_FDS; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

int main(int argc, char **argv)
{
	char text[256] = "";
	long results[6] = {0};
	static const char *const names[] = {"connect",       "begin",  "renew",
					    "begin another", "status", "end"};
	if (argc != 2)
		return 2;
	const unsigned fds = open_fds();
	const size_t bytes = mallinfo2().uordblks;
	(void)getpgid(0);
	struct gpq_client *c = gpq_connect(argv[1]);
	results[0] = c ? 0 : -errno;
	if (c) {
		results[1] = gpq_begin(c, 7, -1);
		results[2] = gpq_begin(c, 7, -1);
		results[3] = gpq_begin(c, 8, 0);
		results[4] = gpq_status(c, text, sizeof(text), -1);
		results[5] = gpq_end(c, 7);
	}
	gpq_close(c);
	(void)getpgid(0);
	if (open_fds() != fds || mallinfo2().uordblks > bytes + OWN_BYTES)
		abort();
	if (results[4] > 0) { // counts differ where several run at a time
		results[4] = 0;
		text[strcspn(text, " ")] = '\0';
	}
	int status = 0;
	for (size_t i = 0; i < sizeof(results) / sizeof(results[0]); i++) {
		printf("%s %ld\n", names[i], results[i]);
		if (results[i] < 0) {
			fprintf(stderr, "%s: %s\n", names[i], strerror((int)-results[i]));
			status = 1;
		}
	}
	printf("%s\n", text);
	return fflush(stdout) ? 1 : status;
}
