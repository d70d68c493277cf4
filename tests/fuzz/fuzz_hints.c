// libFuzzer target: requests to the hint socket (common/sched/hints.c) from three connections, with
// answers, expiry and time in between.
//
// Each piece of the input begins with a byte: the connection or an action (its low three bits), and
// the size of the text. Beside not crashing: no request is answered twice, the counts are never
// negative, and when all connections are closed there is nothing left.
#include "common/sched/hints.h"
#include "tests/fuzz/require.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { CLIENTS = 3, ANSWER = CLIENTS, EXPIRE, HURRY, CLOSE, CALM };

static char dir[] = "/tmp/fuzz_hints.XXXXXX", path[sizeof(dir) + 2];
static struct hints *h;
static uint64_t now = 1000000000;
static size_t lines[CLIENTS], answers[CLIENTS];
static int fds[CLIENTS];

static void finish(void)
{
	hints_close(h);
	rmdir(dir);
}

static void start(void)
{
	int status;
	require(mkdtemp(dir) != NULL);
	snprintf(path, sizeof(path), "%s/s", dir);
	h = hints_open(path, NULL, &status);
	require(h != NULL);
	atexit(finish);
}

static void connect_client(unsigned i)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	fds[i] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	require(connect(fds[i], (struct sockaddr *)&a, sizeof(a)) == 0);
	lines[i] = 1; // a line too long is answered before its end
	answers[i] = 0;
}

// No status lines are given, so each line is an answer; one closes a connection with its last.
static void take_answers(void)
{
	char text[4096];
	ssize_t n;
	for (unsigned i = 0; i < CLIENTS; i++) {
		while ((n = recv(fds[i], text, sizeof(text), MSG_DONTWAIT)) > 0)
			for (ssize_t k = 0; k < n; k++)
				answers[i] += text[k] == '\n';
		require(answers[i] <= lines[i]);
	}
}

static void serve(void)
{
	unsigned was = hints_active(h);
	require(hints_serve(h, now) == (!was != !hints_active(h)));
	require(hints_active(h) <= CLIENTS * HINTS_IDS_MAX);
	require(hints_waiting(h) <= CLIENTS * HINTS_PENDING_MAX);
	require(hints_active(h) || !hints_waiting(h));
	take_answers();
}

static void say(unsigned i, const uint8_t *text, size_t n)
{
	for (size_t k = 0; k < n; k++)
		lines[i] += text[k] == '\n';
	send(fds[i], text, n, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void act(unsigned what)
{
	switch (what) {
	case ANSWER:
		hints_answer(h, now);
		require(!hints_waiting(h));
		break;
	case EXPIRE: hints_expire(h, now, 20000000); break;
	case HURRY: now += 1000; break;
	case CLOSE:
		now += 2000000; // as fast as connections are accepted: connecting would block
		close(fds[0]);
		connect_client(0);
		break;
	default: now += 10000000;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!h)
		start();
	now += 2000000000;
	for (unsigned i = 0; i < CLIENTS; i++)
		connect_client(i);
	for (size_t at = 0; at < size;) {
		unsigned what = data[at] & 7;
		size_t n = what < CLIENTS ? data[at] / 8u * 4 : 0;
		at++;
		n = n < size - at ? n : size - at;
		if (what < CLIENTS)
			say(what, data + at, n);
		else
			act(what);
		at += n;
		serve();
	}
	for (unsigned i = 0; i < CLIENTS; i++)
		close(fds[i]);
	now += 2000000000;
	hints_serve(h, now);
	hints_serve(h, now);
	require(!hints_active(h) && !hints_waiting(h));
	return 0;
}
