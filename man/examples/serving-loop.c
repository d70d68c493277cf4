// A serving loop that tells gpq sched when it works: requests are lines on standard input, what has
// come together is one burst.
//
//   serving-loop [TIMEOUT]    milliseconds that a burst waits for the offline queues at most: 2;
//                             late is better than never. -1: without limit.
//
//   cc serving-loop.c $(pkg-config --cflags --libs gpqclient) -o serving-loop
#include <gpq-client.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Launch kernels and wait for them here.
static void serve(const char *request)
{
	printf("served %s\n", request);
}

// Says how it went when that changes: once, not for each burst.
static void report(int result)
{
	static int last;
	if (result == last)
		return;
	last = result;
	if (result < 0)
		fprintf(stderr, "offline work runs on: %s\n", strerror(-result));
	else if (result > 0)
		fprintf(stderr, "%d offline processes run on\n", result);
	else
		fprintf(stderr, "offline work is off the GPU during bursts\n");
}

int main(int argc, char **argv)
{
	int64_t timeout_ns = 1000000 * (argc > 1 ? strtol(argv[1], NULL, 10) : 2);
	struct gpq_client *gpq = gpq_connect(NULL);
	char burst[4096], *rest, *request;
	ssize_t n;
	if (!gpq) {
		perror("gpq_connect");
		return 1;
	}
	setlinebuf(stdout);
	while ((n = read(STDIN_FILENO, burst, sizeof(burst) - 1)) > 0) {
		burst[n] = '\0';
		report(gpq_begin(gpq, 0, timeout_ns));
		for (rest = burst; (request = strsep(&rest, "\n"));)
			if (*request)
				serve(request);
		gpq_end(gpq, 0);
	}
	gpq_close(gpq);
	return 0;
}
