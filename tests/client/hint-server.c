// A scheduler without queues: answers hints as gpq sched does, for tests of clients.
//
//   hint-server SOCKET    until standard input ends. Lines there: `mute` answers no `begin` until
//                         `off N M` answers with N processes held and M missed.
//
// Prints `ready`, `done` after each of these, and `active` and `idle` as hints come and go; its
// `status` is the same and a count of clients.
#include "common/host/clock.h"
#include "common/sched/hints.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
	bool mute;
	unsigned off, missed;
} answer = {.off = 2};

static uint64_t fill(struct buf *b, void *arg)
{
	buf_printf(b, "active %u\nclients %u\n", hints_active(arg),
		   (unsigned)hints_count(arg).clients);
	return 0;
}

static bool is_off(void *arg, const struct hint_scope *scope, unsigned *off, unsigned *missed)
{
	(void)arg;
	(void)scope;
	*off = answer.off;
	*missed = answer.missed;
	return true;
}

// False at the end of the input.
static bool obey(void)
{
	char line[64], *missed;
	ssize_t n = read(STDIN_FILENO, line, sizeof(line) - 1);
	line[n > 0 ? n : 0] = '\0';
	answer.mute = n == 5; // "mute\n"
	if (!answer.mute && n > 0) {
		answer.off = (unsigned)strtoul(line + strlen("off "), &missed, 10);
		answer.missed = (unsigned)strtoul(missed, NULL, 10);
	}
	if (n > 0)
		puts("done");
	return n > 0;
}

static void serve(struct hints *h)
{
	bool active = hints_active(h) > 0;
	hints_serve(h, clock_ns());
	if (active != (hints_active(h) > 0))
		puts(active ? "idle" : "active");
	if (hints_waiting(h) && !answer.mute)
		hints_answer(h, clock_ns());
}

int main(int argc, char **argv)
{
	int status = 2;
	struct hints *h = argc == 2 ? hints_open(argv[1], NULL, &status) : NULL;
	struct pollfd fds[] = {{.fd = STDIN_FILENO, .events = POLLIN}, {.events = POLLIN}};
	if (!h)
		return status;
	setlinebuf(stdout);
	hints_ask(h, &(struct hints_calls){.arg = h, .is_off = is_off, .status = fill});
	puts("ready");
	fds[1].fd = hints_fd(h);
	do {
		poll(fds, 2, hints_wait_ms(h));
		serve(h);
	} while (!fds[0].revents || obey());
	hints_close(h);
	return 0;
}
