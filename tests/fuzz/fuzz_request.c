// libFuzzer target: requests as a holder reads them (common/holder/protocol.c, loop.c, serve.c,
// deadlines.c), from two clients at once.
//
// Each piece of the input begins with a byte: the client (bit 0) and the size. The text is sent
// twice, so that a line can be longer than a holder takes. The session has queues that are all
// suspended, and a driver that refuses every call. Beside not crashing: a request that was
// understood is written and read again as the same, no line is answered twice, and what is
// answered can be read by a client.
#include "common/holder/holder_priv.h"
#include "tests/fuzz/require.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { CLIENTS = 2, PIECES_MAX = 40, QUEUES = 3, NOBODY = 0x7ffffff0 };

// ---- parsing

static char *put_list(char *p, const char *key, const uint32_t *v, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		p = line_put_number(p, i ? "," : key, v[i], 10);
	return p;
}

// The shortest request that says the same.
static void write_request(char *p, const struct holder_request *r)
{
	static const char *const verbs[] = {"suspend", "hold",   "release",
					    "resume",  "queues", "status"};

	p = line_put(p, verbs[r->verb]);
	p = put_list(p, " queues=", r->sel.ids, r->sel.num_ids);
	p = put_list(p, " gpus=", r->sel.gpus, r->sel.num_gpus);
	if (r->grace)
		p = line_put_number(p, " grace=", r->grace, 10);
	if (r->for_ns)
		p = line_put_number(p, " for_ns=", r->for_ns, 10);
	p = line_put(p, r->tie ? " tie" : "");
	p = line_put(p, r->idle ? " idle" : "");
	p = line_put(p, r->keep ? " keep" : "");
	p = line_put(p, r->addresses ? " addresses" : "");
	p = line_put(p, r->gpus ? " devices" : "");
	line_put(p, r->untraced ? " notrace" : "");
}

static void check_request(const struct holder_request *r)
{
	static struct holder_request again;
	char line[4 * HOLDER_LINE_MAX]; // ids that are written with fewer digits than they have
	struct kfd_failure f;
	require(r->sel.num_ids <= KFD_MAX_QUEUES && r->sel.num_gpus <= 64);
	require(r->grace <= KFD_GRACE_MAX && r->for_ns <= INT64_MAX);
	for (unsigned i = 0; i < r->sel.num_ids; i++)
		require(r->sel.ids[i] <= KFD_QUEUE_ID_MASK);
	write_request(line, r);
	require(holder_request_parse(line, &again, &f) == 0);
	require(again.verb == r->verb && again.grace == r->grace && again.for_ns == r->for_ns);
	require(again.tie == r->tie && again.idle == r->idle && again.keep == r->keep);
	require(again.addresses == r->addresses && again.gpus == r->gpus &&
		again.untraced == r->untraced);
	require(again.sel.num_ids == r->sel.num_ids && again.sel.num_gpus == r->sel.num_gpus);
	require(!memcmp(again.sel.ids, r->sel.ids, 4 * (size_t)r->sel.num_ids));
	require(!memcmp(again.sel.gpus, r->sel.gpus, 4 * (size_t)r->sel.num_gpus));
}

static void check_line(const char *text)
{
	static struct holder_request r;
	struct kfd_failure f = {0};
	char *line = strdup(text);
	require(line != NULL);
	if (holder_request_parse(line, &r, &f) == 0)
		check_request(&r);
	else
		require(f.status == 2 && !strchr(f.text, '\n'));
	free(line);
}

// ---- serving

// The other end of both connections; a thread of its own.
struct clients {
	int fd[CLIENTS], over; // `over`: written to end the holder
	const uint8_t *data;
	size_t size;
	size_t lines, answers;
};

static void check_answer(struct clients *c, char *line)
{
	struct kfd_outcome q;
	struct kfd_answer a = {0};
	struct kfd_failure f;
	enum holder_line what = holder_answer_parse(line, &q, &a, &f);
	require(what != HOLDER_LINE_BAD);
	c->answers += what != HOLDER_LINE_QUEUE;
}

// Takes what the holder says until it hangs up, or without `last` until it is silent.
static void take_answers(struct clients *c, struct buf in[CLIENTS], bool last)
{
	for (unsigned i = 0; i < CLIENTS; i++) {
		struct buf *b = &in[i];
		ssize_t n;
		do {
			char *end;
			size_t used = 0;
			buf_reserve(b, 4096);
			n = recv(c->fd[i], b->data + b->len, 4096, last ? 0 : MSG_DONTWAIT);
			b->len += n > 0 ? (size_t)n : 0;
			while ((end = memchr(b->data + used, '\n', b->len - used))) {
				*end = '\0';
				check_answer(c, b->data + used);
				used = (size_t)(end - b->data) + 1;
			}
			b->len -= used;
			memmove(b->data, b->data + used, b->len);
		} while (n > 0);
	}
}

static void *run_clients(void *arg)
{
	struct clients *c = arg;
	struct buf in[CLIENTS] = {{0}};
	for (unsigned copy = 0, pieces = 0; copy < 2; copy++)
		for (size_t at = 0; at < c->size; pieces++) {
			uint8_t how = c->data[at++];
			size_t n = (how / 2u + 1) * 16, left = c->size - at;
			n = n < left && pieces < PIECES_MAX ? n : left;
			for (size_t i = 0; i < n; i++)
				c->lines += c->data[at + i] == '\n';
			send(c->fd[how & 1], c->data + at, n, MSG_NOSIGNAL);
			take_answers(c, in, false);
			at += n;
		}
	for (unsigned i = 0; i < CLIENTS; i++)
		shutdown(c->fd[i], SHUT_WR);
	take_answers(c, in, true);
	eventfd_write(c->over, 1);
	for (unsigned i = 0; i < CLIENTS; i++) {
		close(c->fd[i]);
		buf_fini(&in[i]);
	}
	return NULL;
}

// Its state is large and mostly never touched, so what was touched is zeroed.
static void begin(struct holder *h)
{
	memset(h, 0, offsetof(struct holder, scopes));
	h->pid = getpid();
	h->target = (struct kfd_target){.pid = NOBODY, .pidfd = eventfd(0, EFD_CLOEXEC)};
	h->signals = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	h->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	h->opened = h->title.sought = h->session.enabled = true;
	h->lock_down_ns = FOREVER; // no right is given up here: many holders run in this process
	h->session.kfd = h->session.events = -1;
	for (uint32_t i = 0; i < QUEUES; i++) {
		h->session.queues[i] = (struct kfd_queue_entry){.queue_id = i * 511, .gpu_id = 7};
		h->session.held[i * 511] = true;
	}
	h->session.num = h->session.num_held = QUEUES;
	for (unsigned i = 0; i < HOLDER_MAX_CLIENTS; i++)
		h->clients[i].fd = -1;
}

static void end(struct holder *h)
{
	hold_drop_all(h);
	hold_arm(h);
	if (h->has_killer)
		timer_delete(h->killer);
	for (unsigned i = 0; i < HOLDER_MAX_CLIENTS; i++) {
		if (h->clients[i].fd >= 0)
			close(h->clients[i].fd);
		buf_fini(&h->clients[i].out);
	}
	close(h->target.pidfd);
	close(h->signals);
	close(h->timer);
	loop_close(&h->loop);
}

// The first client is there from the start, the other comes to the listener.
static void connect_clients(struct holder *h, struct clients *c)
{
	struct sockaddr_un name = {.sun_family = AF_UNIX};
	socklen_t len = sizeof(name.sun_family); // the kernel chooses an abstract name
	int ends[2];
	h->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	require(bind(h->listener, (struct sockaddr *)&name, len) == 0);
	require(listen(h->listener, 8) == 0);
	len = sizeof(name);
	require(getsockname(h->listener, (struct sockaddr *)&name, &len) == 0);
	require(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
	h->clients[0].fd = ends[0];
	c->fd[0] = ends[1];
	c->fd[1] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	require(connect(c->fd[1], (struct sockaddr *)&name, len) == 0);
}

static void serve(const uint8_t *data, size_t size)
{
	static struct holder h;
	struct clients c = {.data = data, .size = size};
	pthread_t thread;
	begin(&h);
	c.over = h.target.pidfd;
	connect_clients(&h, &c);
	require(pthread_create(&thread, NULL, run_clients, &c) == 0);
	holder_loop(&h);
	close(h.listener);
	for (unsigned i = 0; i < HOLDER_MAX_CLIENTS; i++)
		if (h.clients[i].fd >= 0)
			shutdown(h.clients[i].fd, SHUT_RDWR);
	pthread_join(thread, NULL);
	end(&h);
	require(c.answers <= c.lines);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = calloc(1, size + 1), *rest = text;
	require(text != NULL);
	if (size)
		memcpy(text, data, size);
	for (char *line; (line = strsep(&rest, "\n"));)
		check_line(line);
	free(text);
	serve(data, size);
	return 0;
}
