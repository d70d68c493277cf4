// libgpqclient; see gpq-client.h. Needs the C library only, no other file of gpq.
// Protocol: common/sched/hints.h. Facts: unix(7), pthread_atfork(3).
#include "common/client/gpq-client.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { HINTS = 32, WORDS = 160, LINE = 192, AT_ONCE = 64 };

#define SECOND_NS INT64_C(1000000000)
#define FOREVER   INT64_MAX

struct gpq_client {
	struct gpq_client *next;
	pthread_mutex_t lock;
	struct sockaddr_un places[2]; // sockets, tried in this order; the second may be empty
	pid_t pid;                    // process that made the connection and the hints
	int fd;                       // socket to the scheduler; -1: not connected
	int error;                    // errno: why the handle is not connected
	int64_t retry_ns;             // when to try the next connection
	// Hints begun and not ended, with or without a scheduler.
	struct hint {
		uint64_t id;
		char words[WORDS + 1];
	} hints[HINTS];
	unsigned num_hints;
	uint64_t sent, answered; // numbers of requests on this connection
	uint64_t silent;         // `answered` + 1 when a wait was in vain; 0: none was
	int64_t silent_ns;       // when that wait, the first of several, began
	int result;              // last answer, as gpq_begin() returns it
	char *text;              // gpq_status()'s buffer for statistics; NULL: drop them
	size_t size, text_len;   // size of `text`; whole length of the statistics
	size_t len;              // bytes in `in`
	char in[4096];           // bytes received and not parsed yet
};

// All handles of the process, for the fork handlers.
static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static struct gpq_client *list;
static bool watched;

static int64_t clock_now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * SECOND_NS + t.tv_nsec;
}

// ---- fork: the child closes its copy of the connection, so that the scheduler notices when the
// parent ends

static void forget_connection(struct gpq_client *c)
{
	if (c->fd >= 0)
		close(c->fd);
	c->fd = -1;
	c->pid = getpid();
	c->num_hints = 0;
	c->retry_ns = 0;
}

static void before_fork(void)
{
	pthread_mutex_lock(&list_lock);
}

static void after_fork(void)
{
	pthread_mutex_unlock(&list_lock);
}

static void after_fork_in_child(void)
{
	for (struct gpq_client *c = list; c; c = c->next) {
		pthread_mutex_init(&c->lock, NULL); // a thread of the parent may have held the lock
		forget_connection(c);
	}
	pthread_mutex_init(&list_lock, NULL);
}

// Locks the handle. The pid tells a child made by _Fork() or clone(), without the fork handlers.
static void lock_client(struct gpq_client *c)
{
	pthread_mutex_lock(&c->lock);
	if (c->pid != getpid())
		forget_connection(c);
}

// ---- answers of the scheduler

// Closes the connection. Returns -EDQUOT if the last answer was "error limit", else -ECONNRESET.
static int lose_connection(struct gpq_client *c)
{
	close(c->fd);
	c->fd = -1;
	c->error = c->answered && c->result == -EDQUOT ? EDQUOT : ECONNRESET;
	return -c->error;
}

// Returns the -errno of an answer "error WORD ..."; `line` begins with WORD.
static int error_of(const char *line)
{
	static const struct {
		const char *word;
		int error;
	} words[] = {{"limit ", EDQUOT},
		     {"ended ", ECANCELED},
		     {"expired ", ESTALE},
		     {"id ", EINVAL},
		     {"request ", EINVAL}};
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strncmp(line, words[i].word, strlen(words[i].word)) == 0)
			return -words[i].error;
	return -EPROTO;
}

// Returns how many processes could not be held: the 1 of "ok off=8 missed=1 ns=700".
static int missed_of(const char *line)
{
	const char *word = strstr(line, " missed=");
	unsigned long missed = word ? strtoul(word + 8, NULL, 10) : 0;
	return missed < INT32_MAX ? (int)missed : INT32_MAX;
}

// Keeps a line of statistics, or a part of one that is longer than c->in.
static void keep_text(struct gpq_client *c, const char *s, size_t len)
{
	size_t room = c->text_len < c->size ? c->size - c->text_len : 0;
	if (c->text)
		memcpy(c->text + c->text_len, s, len < room ? len : room);
	c->text_len += len;
}

// Parses a line of an answer. Its last line begins with `ok` or `error`; others are statistics.
static void parse_answer_line(struct gpq_client *c, char *line, size_t len)
{
	bool ok = strncmp(line, "ok", 2) == 0 && (!line[2] || line[2] == ' ');
	if (!ok && strncmp(line, "error ", 6) != 0) {
		line[len] = '\n';
		keep_text(c, line, len + 1);
		return;
	}
	c->result = ok ? missed_of(line) : error_of(line + 6);
	c->answered++;
	if (c->answered < c->sent)
		c->text_len = 0; // drops statistics of an earlier request that timed out
}

static void parse_lines(struct gpq_client *c)
{
	size_t used = 0;
	char *end;
	while ((end = memchr(c->in + used, '\n', c->len - used))) {
		*end = '\0';
		parse_answer_line(c, c->in + used, (size_t)(end - (c->in + used)));
		used = (size_t)(end - c->in) + 1;
	}
	if (!used && c->len == sizeof(c->in)) {
		keep_text(c, c->in, c->len);
		used = c->len;
	}
	c->len -= used;
	memmove(c->in, c->in + used, c->len);
}

// Reads the answers that have come, at most AT_ONCE times, as they may have no end. Returns 0, or
// -errno if the connection is lost.
static int take_answers(struct gpq_client *c)
{
	for (int i = 0; i < AT_ONCE && c->answered < c->sent; i++) {
		ssize_t n = recv(c->fd, c->in + c->len, sizeof(c->in) - c->len, MSG_DONTWAIT);
		if (n < 0 && errno == EAGAIN)
			return 0;
		if (n == 0 || (n < 0 && errno != EINTR))
			return lose_connection(c);
		c->len += n > 0 ? (size_t)n : 0;
		parse_lines(c);
	}
	return 0;
}

// Waits for `events` of poll(2) until `deadline`. Returns 0 or -ETIMEDOUT.
static int wait_for_socket(const struct gpq_client *c, short events, int64_t deadline)
{
	struct pollfd p = {.fd = c->fd, .events = events};
	int n;
	do {
		const int64_t now = clock_now(), left = deadline > now ? deadline - now : 0;
		const struct timespec t = {left / SECOND_NS, left % SECOND_NS};
		n = ppoll(&p, 1, &t, NULL);
	} while (n < 0 && errno == EINTR);
	return n == 0 ? -ETIMEDOUT : 0;
}

static int64_t deadline_of(int64_t timeout_ns)
{
	int64_t now = clock_now();
	return timeout_ns < 0 || timeout_ns > FOREVER - now ? FOREVER : now + timeout_ns;
}

// Has a wait been in vain, and the scheduler answered nothing since? It hangs, or is stopped.
static bool is_silent(const struct gpq_client *c)
{
	return c->silent == c->answered + 1;
}

// Waits for the answer to the last request. Returns it as gpq_begin() does.
static int last_answer(struct gpq_client *c, int64_t deadline)
{
	const int64_t begun = clock_now();
	int r = 0;
	while (r == 0 && c->answered < c->sent) {
		r = wait_for_socket(c, POLLIN, deadline);
		r = r < 0 ? r : take_answers(c);
		// Statistics without end would keep the socket readable for ever.
		if (r == 0 && c->answered < c->sent && clock_now() >= deadline)
			r = -ETIMEDOUT;
	}
	if (r == -ETIMEDOUT && !is_silent(c)) {
		c->silent = c->answered + 1;
		c->silent_ns = begun;
	}
	return r < 0 ? r : c->result;
}

// ---- requests to the scheduler

// Sends some requests, all of the text or nothing. Returns 0; -EAGAIN: the socket is full, as the
// scheduler is behind; other -errno: the connection is lost.
static int put_request(struct gpq_client *c, const char *text, size_t len, unsigned requests)
{
	int r = take_answers(c);
	ssize_t n = r < 0 ? -1 : send(c->fd, text, len, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (r < 0)
		return r;
	if (n < 0 && errno == EAGAIN)
		return -EAGAIN;
	c->sent += requests;
	if (n == (ssize_t)len)
		return 0;
	r = take_answers(c); // the scheduler may have said why it closed
	return r < 0 ? r : lose_connection(c);
}

// Writes a request about a hint, with its newline. Returns its length.
static size_t hint_line(char line[LINE], const char *verb, uint64_t id, const char *words)
{
	return (size_t)snprintf(line, LINE, "%s %" PRIu64 "%s%s\n", verb, id, *words ? " " : "",
				words);
}

static int put_hint(struct gpq_client *c, const char *verb, uint64_t id, const char *words)
{
	char line[LINE];
	return put_request(c, line, hint_line(line, verb, id, words), 1);
}

// Begins all active hints again, on a new connection. Returns 0 or -errno.
static int put_hints(struct gpq_client *c)
{
	char lines[HINTS * LINE];
	size_t n = 0;
	for (unsigned i = 0; i < c->num_hints; i++)
		n += hint_line(lines + n, "begin", c->hints[i].id, c->hints[i].words);
	return n ? put_request(c, lines, n, c->num_hints) : 0;
}

// Returns a connected descriptor or -errno; -ECONNREFUSED also if the scheduler's backlog is full.
static int open_place(const struct sockaddr_un *place)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), error;
	if (fd >= 0 && connect(fd, (const struct sockaddr *)place, sizeof(*place)) == 0)
		return fd;
	error = errno == EAGAIN ? ECONNREFUSED : errno;
	if (fd >= 0)
		close(fd);
	return -error;
}

// Connects if there is no connection, at most once a second. Returns 0 or -errno.
static int ensure_connection(struct gpq_client *c)
{
	int64_t now = c->fd < 0 ? clock_now() : 0;
	int fd;
	if (c->fd >= 0)
		return 0;
	if (now < c->retry_ns)
		return -c->error;
	c->retry_ns = now + SECOND_NS;
	fd = open_place(&c->places[0]);
	if (fd < 0 && c->places[1].sun_path[0])
		fd = open_place(&c->places[1]);
	if (fd < 0) {
		c->error = -fd;
		return fd;
	}
	c->fd = fd;
	c->sent = c->answered = c->silent = c->len = 0;
	return put_hints(c);
}

// ---- hints

// Returns the index of the hint `id`; c->num_hints: the hint is not active.
static unsigned hint_index(const struct gpq_client *c, uint64_t id)
{
	unsigned i = 0;
	while (i < c->num_hints && c->hints[i].id != id)
		i++;
	return i;
}

// One attempt of gpq_begin(). -ECONNRESET: the connection was lost; a second attempt may succeed.
static int begin_once(struct gpq_client *c, uint64_t id, const char *words, int64_t timeout_ns,
		      int64_t deadline)
{
	int r = ensure_connection(c);
	if (r < 0)
		return r;
	// A scheduler that hangs is waited for once, not by each request.
	if (is_silent(c) && (r = take_answers(c)) < 0)
		return r;
	if (is_silent(c) && deadline != FOREVER)
		deadline -= clock_now() - c->silent_ns;
	// Asks for POLLIN only while answers are due: unread input would make this loop spin.
	while ((r = put_hint(c, "begin", id, words)) == -EAGAIN && timeout_ns)
		if (wait_for_socket(c, POLLOUT | (c->answered < c->sent ? POLLIN : 0), deadline) <
			    0 ||
		    clock_now() >= deadline)
			return -EAGAIN;
	if (r < 0 || !timeout_ns)
		return r;
	return last_answer(c, deadline);
}

int gpq_begin_with(struct gpq_client *c, uint64_t id, const char *words, int64_t timeout_ns)
{
	int64_t deadline = timeout_ns ? deadline_of(timeout_ns) : 0;
	int r = -EDQUOT;
	words = words ? words : "";
	if (strlen(words) > WORDS || strchr(words, '\n'))
		return -EINVAL;
	lock_client(c);
	unsigned at = hint_index(c, id);
	if (at < HINTS) {
		r = begin_once(c, id, words, timeout_ns, deadline);
		if (r == -ECONNRESET)
			r = begin_once(c, id, words, timeout_ns, deadline);
		if (r != -EAGAIN && r != -EDQUOT && r != -EINVAL) {
			c->num_hints += at == c->num_hints;
			c->hints[at].id = id;
			memcpy(c->hints[at].words, words, strlen(words) + 1);
		}
	}
	pthread_mutex_unlock(&c->lock);
	return r;
}

int gpq_begin(struct gpq_client *c, uint64_t id, int64_t timeout_ns)
{
	return gpq_begin_with(c, id, NULL, timeout_ns);
}

// Sends the end of the hint `id`, which is no longer in c->hints. Returns 0 or -errno.
static int end_once(struct gpq_client *c, uint64_t id)
{
	if (c->fd < 0)
		return ensure_connection(c); // a new connection gets all other hints
	int r = put_hint(c, "end", id, "");
	if (r == -EAGAIN) { // closing the connection ends the hint, too
		lose_connection(c);
		r = 0;
	}
	return r == -ECONNRESET ? ensure_connection(c) : r;
}

int gpq_end(struct gpq_client *c, uint64_t id)
{
	int r = -EINVAL;
	lock_client(c);
	unsigned at = hint_index(c, id);
	if (at < c->num_hints) {
		c->hints[at] = c->hints[--c->num_hints];
		r = end_once(c, id);
	}
	pthread_mutex_unlock(&c->lock);
	return r;
}

ssize_t gpq_status(struct gpq_client *c, char *text, size_t size, int64_t timeout_ns)
{
	int64_t deadline = deadline_of(timeout_ns);
	lock_client(c);
	ssize_t r = ensure_connection(c);
	r = r < 0 ? r : put_request(c, "status\n", 7, 1);
	c->text = size ? text : NULL;
	c->size = size ? size - 1 : 0;
	c->text_len = 0;
	r = r < 0 ? r : last_answer(c, deadline);
	r = r < 0 ? r : (ssize_t)c->text_len;
	if (size)
		text[r < 0 ? 0 : c->text_len < c->size ? c->text_len : c->size] = '\0';
	c->text = NULL;
	pthread_mutex_unlock(&c->lock);
	return r;
}

// ---- handles

// Returns false with errno if the path of the socket is empty or too long.
static bool set_place(struct sockaddr_un *place, const char *format, const char *path)
{
	place->sun_family = AF_UNIX;
	int n = snprintf(place->sun_path, sizeof(place->sun_path), format, path);
	if (n > 0 && (size_t)n < sizeof(place->sun_path))
		return true;
	place->sun_path[0] = '\0';
	errno = n > 0 ? ENAMETOOLONG : ENOENT;
	return false;
}

static bool find_places(struct gpq_client *c, const char *path)
{
	const char *run = secure_getenv("XDG_RUNTIME_DIR");
	path = path ? path : secure_getenv("GPQ_SCHED_SOCKET");
	if (path && path[0])
		return set_place(&c->places[0], "%s", path);
	bool own = run && run[0] == '/' && set_place(&c->places[0], "%s/gpq-sched/socket", run);
	return set_place(&c->places[own], "%s", "/run/gpq-sched/socket");
}

struct gpq_client *gpq_connect(const char *path)
{
	struct gpq_client *c = calloc(1, sizeof(*c));
	if (!c)
		return NULL;
	if (!find_places(c, path)) {
		int error = errno;
		free(c);
		errno = error;
		return NULL;
	}
	c->fd = -1;
	forget_connection(c);
	pthread_mutex_init(&c->lock, NULL);
	ensure_connection(c);
	pthread_mutex_lock(&list_lock);
	if (!watched)
		watched = pthread_atfork(before_fork, after_fork, after_fork_in_child) == 0;
	c->next = list;
	list = c;
	pthread_mutex_unlock(&list_lock);
	return c;
}

void gpq_close(struct gpq_client *c)
{
	if (!c)
		return;
	pthread_mutex_lock(&list_lock);
	for (struct gpq_client **at = &list; *at; at = &(*at)->next)
		if (*at == c) {
			*at = c->next;
			break;
		}
	pthread_mutex_unlock(&list_lock);
	if (c->fd >= 0)
		close(c->fd);
	pthread_mutex_destroy(&c->lock);
	free(c);
}
