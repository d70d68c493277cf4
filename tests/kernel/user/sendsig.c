// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * sendsig PID N: send SIGRTMIN N times, with the values 0 .. N-1, as fast as the target's queue
 * of pending signals takes them.  mkqueue --signals counts what arrives.
 */
#include <signal.h>
#include "kfduser.h"

static void send_one(pid_t pid, int value)
{
	const union sigval number = {.sival_int = value};
	while (sigqueue(pid, SIGRTMIN, number)) {
		if (errno != EAGAIN) /* EAGAIN: the queue is full */
			die("sigqueue to %d", pid);
		usleep(1000);
	}
}

int main(int argc, char **argv)
{
	const pid_t pid = argc == 3 ? atoi(argv[1]) : 0;
	const int n = argc == 3 ? atoi(argv[2]) : 0;
	if (pid <= 0 || n <= 0) {
		fprintf(stderr, "usage: sendsig PID N\n");
		return 2;
	}
	for (int i = 0; i < n; i++)
		send_one(pid, i);
	return 0;
}
