// libFuzzer target: answers of a scheduler that lies, to the client library
// (common/client/client.c).
//
// Each piece of the input begins with a byte: what happens (its low three bits) and a number.
// Beside not crashing and not waiting: a result is one that gpq-client(3) names, statistics end
// with a NUL within their room, and no descriptor is left.
#include "common/client/client.c" // NOLINT: its state is looked at
#include "tests/fuzz/require.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SAY, BEGIN, BEGIN_WAIT, END, STATUS, HANG_UP, READ, RECONNECT };

static char dir[] = "/tmp/fuzz_client.XXXXXX", path[sizeof(dir) + 2];
static int listener = -1, server = -1;

static void finish(void)
{
	unlink(path);
	rmdir(dir);
}

static void start(void)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	require(mkdtemp(dir) != NULL);
	snprintf(path, sizeof(path), "%s/s", dir);
	snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	require(bind(listener, (struct sockaddr *)&a, sizeof(a)) == 0 && listen(listener, 8) == 0);
	atexit(finish);
}

static void hang_up(void)
{
	if (server >= 0)
		close(server);
	server = -1;
}

// The newest connection is the one that is served.
static void take_connections(void)
{
	int fd;
	while ((fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0) {
		hang_up();
		server = fd;
	}
}

static void check_result(const struct gpq_client *c, ssize_t r)
{
	static const int known[] = {ECONNRESET, ECONNREFUSED, ETIMEDOUT, EDQUOT, ECANCELED,
				    ESTALE,     EPROTO,       EINVAL,    EAGAIN};
	bool named = r >= 0;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		named |= r == -known[i];
	require(named);
	require(c->num_hints <= HINTS && c->len < sizeof(c->in));
}

static void ask_status(struct gpq_client *c, size_t room)
{
	char text[32];
	const ssize_t r = gpq_status(c, text, room, 1);
	check_result(c, r);
	if (room)
		require(text[r < 0 ? 0 : (size_t)r < room ? (size_t)r : room - 1] == '\0');
}

static void act(struct gpq_client *c, unsigned what, unsigned number)
{
	char text[4096];
	switch (what) {
	case BEGIN: check_result(c, gpq_begin(c, number, 0)); break;
	case BEGIN_WAIT: check_result(c, gpq_begin(c, number, 1)); break;
	case END: check_result(c, gpq_end(c, number)); break;
	case STATUS: ask_status(c, number); break;
	case HANG_UP: hang_up(); break;
	case READ:
		while (server >= 0 && recv(server, text, sizeof(text), 0) > 0)
			;
		break;
	default: c->retry_ns = 0;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const int lowest = dup(0);
	struct gpq_client *c;
	close(lowest);
	if (listener < 0)
		start();
	c = gpq_connect(path);
	require(c != NULL);
	for (size_t at = 0; at < size;) {
		const unsigned what = data[at] & 7, number = data[at] / 8u;
		size_t n = what == SAY ? number * 4 + 1 : 0;
		at++;
		n = n < size - at ? n : size - at;
		take_connections();
		if (what != SAY)
			act(c, what, number);
		else if (server >= 0)
			send(server, data + at, n, MSG_NOSIGNAL);
		at += n;
	}
	gpq_close(c);
	take_connections();
	hang_up();
	require(lowest == listener || dup(0) == lowest);
	if (lowest != listener)
		close(lowest);
	return 0;
}
