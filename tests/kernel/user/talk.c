// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * talk SOCKET REQUEST...: sends each request line to a holder of gpq over one connection, and
 * prints the answers (gpq-suspend(1), PROTOCOL).  Exit status 1 when one of them is not "ok", or
 * when there is none.
 */
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

int main(int argc, char **argv)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	FILE *in = fdopen(fd, "r");
	char line[8192];
	snprintf(a.sun_path, sizeof(a.sun_path), "%s", argc > 1 ? argv[1] : "");
	if (!in || connect(fd, (struct sockaddr *)&a, sizeof(a)))
		return 1;
	for (int i = 2; i < argc; i++) {
		if (dprintf(fd, "%s\n", argv[i]) < 0)
			return 1;
		do {
			if (!fgets(line, sizeof(line), in))
				return 1;
			fputs(line, stdout);
			fflush(stdout);
		} while (!strncmp(line, "queue ", 6));
		if (strncmp(line, "ok ", 3))
			return 1;
	}
	return 0;
}
