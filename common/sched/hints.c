// The hint socket of gpq sched: connections, requests, answers in order, limits; see hints.h.
// Facts: unix(7), epoll(7).
#include "common/sched/hints.h"

#include "common/cli/err.h"
#include "common/cli/text.h"
#include "common/host/loop.h"
#include "common/host/number.h"
#include "common/sched/hints_priv.h"

#include <sys/resource.h>
#include <sys/socket.h>

#define SECOND_NS  UINT64_C(1000000000)
#define REQUEST_NS (SECOND_NS / HINTS_RATE)
#define CONNECT_NS (SECOND_NS / HINTS_CONNECT_RATE)
#define SAY_NS     (SECOND_NS / HINTS_SAY_RATE)
// Pause in accepting clients after the process or the host ran out of descriptors.
#define NO_FILES_NS (SECOND_NS / 10)

// The answer to a request. WAITS: none yet. HELD, STATUS and REFUSED have no fixed text:
// write_answer().
enum answer {
	WAITS,
	HELD,
	STATUS,
	REFUSED,
	OK,
	LATE,
	NO_HINT,
	IDS,
	ENDED,
	EXPIRED,
	WORD,
	BAD_ID,
	BAD_TIME,
	TOO_LONG
};

static const char *const answers[] = {
	[OK] = "ok\n",
	[LATE] = "ok expired\n",
	[NO_HINT] = "error id no such hint\n",
	[IDS] = "error limit a client may have 32 hints\n",
	[ENDED] = "error ended before the offline queues were off\n",
	[EXPIRED] = "error expired before the offline queues were off\n",
	[WORD] = ("error request expected begin [ID] [gpu=] [class=] [for=] [deadline=], "
		  "end [ID] or status\n"),
	[BAD_ID] = "error request an ID is a number of at most 20 digits, below 2^64\n",
	[BAD_TIME] = "error request for= and deadline= take a time such as 30s, at most 1h\n",
	[TOO_LONG] = "error request a line has at most 256 bytes\n",
};

_Static_assert(HINTS_IDS_MAX == 32 && HINTS_LINE_MAX == 256, "the texts of limits name them");

struct hint {
	uint64_t id;
	uint64_t since_ns;    // from when on it counts: its last `begin`, or later; 0: not yet
	uint64_t first_ns;    // when its first `begin` came
	uint64_t urgent_ns;   // when it counted first
	uint64_t lasts_ns;    // of its "for="; 0: without
	uint64_t deadline_ns; // of its "deadline="; 0: without
	bool expired;
	bool has_gpus, has_class; // its words say so
	struct hint_scope scope;
};

struct request {
	enum answer answer;
	uint64_t id, read_ns; // `id`: the hint; `read_ns`: when the request was read
	unsigned off, missed; // HELD
	const char *why;      // REFUSED
};

enum pause { READING, TOO_FAST, TOO_MANY };

struct client {
	int fd; // -1: a free place
	uid_t uid;
	pid_t pid;
	struct hint_scope scope;
	bool looked; // `scope` is of a look
	enum pause pause;
	uint64_t paid_ns; // time up to which the client's requests have used its allowed rate
	unsigned len, num_hints, first, num_requests;
	uint64_t requests, throttled, expired;
	bool said_hint, said_refused; // hints_calls.audit
	char in[2 * HINTS_LINE_MAX];
	struct hint hints[HINTS_IDS_MAX];
	struct request pending[HINTS_PENDING_MAX]; // ring of requests, answered in order
};

struct hints {
	struct hints_socket socket;
	struct loop loop;
	bool listening;   // false: connections came too fast, or there are no descriptors
	uint64_t paid_ns; // time up to which connections have used the allowed rate
	uint64_t now_ns;
	uint64_t status_paid_ns; // time up to which answers to `status` have used their part
	unsigned active, waiting;
	struct buf out;
	struct hints_calls calls;
	uint64_t refused, expired;
	uint64_t said_ns; // time up to which messages have used their allowed rate
	unsigned most;    // most clients at a time
	unsigned places;  // entries of `clients` that were ever used
	unsigned looks;   // calls of hints_look()
	struct client clients[HINTS_CLIENTS_MAX];
};

// ---- limits of rates

// A token bucket. Returns how many ns later another request that costs `each` is allowed; 0: now.
static uint64_t bucket_wait(uint64_t paid_ns, uint64_t now, uint64_t each, unsigned burst)
{
	uint64_t paid = greater(paid_ns, now) + each, limit = now + burst * each;
	return paid > limit ? paid - limit : 0;
}

static void bucket_take(uint64_t *paid_ns, uint64_t now, uint64_t cost)
{
	*paid_ns = greater(*paid_ns, now) + cost;
}

static uint64_t listener_wait(const struct hints *h)
{
	return bucket_wait(h->paid_ns, h->now_ns, CONNECT_NS, HINTS_CONNECT_BURST);
}

// Returns why the next line of `c` may not be read now; READING: it may be.
static enum pause reading_obstacle(const struct hints *h, const struct client *c)
{
	if (c->num_requests == HINTS_PENDING_MAX)
		return TOO_MANY;
	return bucket_wait(c->paid_ns, h->now_ns, REQUEST_NS, HINTS_BURST) ? TOO_FAST : READING;
}

// ---- keys of the loop: 0 is the listener, 1 + place a client

static uint64_t place_of(const struct hints *h, const struct client *c)
{
	return 1 + (uint64_t)(c - h->clients);
}

static void pause_client(struct hints *h, struct client *c, enum pause pause)
{
	if (pause == c->pause)
		return;
	c->throttled += pause == TOO_FAST;
	c->pause = pause;
	loop_change(&h->loop, c->fd, place_of(h, c), pause == READING ? LOOP_READ : LOOP_NOTHING);
}

// ---- messages about clients: hints_calls.audit

// `why`: the text, up to a newline, with which it was refused; NULL: it was not.
static void audit(struct hints *h, const struct ucred *who, const char *why)
{
	if (!h->calls.audit || bucket_wait(h->said_ns, h->now_ns, SAY_NS, HINTS_SAY_BURST))
		return;
	bucket_take(&h->said_ns, h->now_ns, SAY_NS);
	if (why)
		err_hint(NULL, "pid %d of user %u is refused: %.*s", (int)who->pid,
			 (unsigned)who->uid, (int)strcspn(why, "\n"), why);
	else
		err_hint(NULL, "pid %d of user %u sends hints", (int)who->pid, (unsigned)who->uid);
}

// Says it once of a client.
static void audit_client(struct hints *h, const struct client *c, bool *said, const char *why)
{
	if (!*said)
		audit(h, &(struct ucred){.pid = c->pid, .uid = c->uid}, why);
	*said = true;
}

// ---- hints of a client

static struct hint *find_client_hint(struct client *c, uint64_t id)
{
	for (unsigned i = 0; i < c->num_hints; i++)
		if (c->hints[i].id == id)
			return &c->hints[i];
	return NULL;
}

static struct request *pending(struct client *c, unsigned i)
{
	return &c->pending[(c->first + i) % HINTS_PENDING_MAX];
}

// Gives `answer` to each `begin` of the hint `id` that waits.
static void settle_begins(struct hints *h, struct client *c, uint64_t id, enum answer answer)
{
	for (unsigned i = 0; i < c->num_requests; i++) {
		struct request *r = pending(c, i);
		if (r->answer == WAITS && r->id == id) {
			r->answer = answer;
			h->waiting--;
		}
	}
}

// Makes the hint count, unless its deadline leaves more time than its work needs. Returns when it
// will count; UINT64_MAX: it does.
static uint64_t urge(const struct hints *h, struct hint *hint)
{
	const uint64_t needs = hint->deadline_ns && h->calls.needs
				       ? h->calls.needs(h->calls.arg, &hint->scope)
				       : UINT64_MAX;
	const uint64_t at = hint_counts_at(hint->deadline_ns, needs);
	if (hint->since_ns)
		return UINT64_MAX;
	if (h->now_ns < at)
		return at;
	hint->since_ns = h->now_ns;
	hint->urgent_ns = hint->urgent_ns ? hint->urgent_ns : h->now_ns;
	return UINT64_MAX;
}

static enum answer begin_hint(struct hints *h, struct client *c, const struct hint *as)
{
	struct hint *hint = find_client_hint(c, as->id);
	if (!hint && c->num_hints == HINTS_IDS_MAX)
		return IDS;
	const bool again = hint && !hint->expired;
	const struct hint before = again ? *hint : (struct hint){.first_ns = h->now_ns};
	h->active += !again;
	if (!hint)
		hint = &c->hints[c->num_hints++];
	*hint = *as;
	hint->first_ns = before.first_ns;
	hint->urgent_ns = before.urgent_ns;
	hint->since_ns = before.since_ns ? h->now_ns : 0;
	// A hint that is begun again is for the same work: it keeps the earlier deadline, and goes
	// on counting if it did.
	if (before.deadline_ns && as->deadline_ns)
		hint->deadline_ns = lesser(before.deadline_ns, as->deadline_ns);
	urge(h, hint);
	h->waiting++;
	return WAITS;
}

static enum answer end_hint(struct hints *h, struct client *c, uint64_t id)
{
	struct hint *hint = find_client_hint(c, id);
	if (!hint)
		return NO_HINT;
	const enum answer answer = hint->expired ? LATE : OK;
	settle_begins(h, c, id, ENDED);
	if (!hint->expired)
		h->active--;
	*hint = c->hints[--c->num_hints];
	return answer;
}

// ---- reading requests

// Reads an ID: a decimal number below 2^64, of at most 20 digits.
static bool parse_id(const char *s, size_t len, uint64_t *id)
{
	return len <= 20 && number_read(s, s + len, 10, UINT64_MAX, id) == s + len;
}

static enum answer read_hint_time(const char *text, uint64_t *ns)
{
	return parse_duration(text, ns) && *ns && *ns <= 3600 * SECOND_NS ? OK : BAD_TIME;
}

// Reads a word of `begin` behind its ID, each of which may stand there once.
static enum answer read_hint_word(struct hints *h, const struct client *c, char *word,
				  struct request *r, struct hint *hint)
{
	if (strncmp(word, "for=", 4) == 0 && !hint->lasts_ns)
		return read_hint_time(word + 4, &hint->lasts_ns);
	if (strncmp(word, "deadline=", 9) == 0 && !hint->deadline_ns)
		return read_hint_time(word + 9, &hint->deadline_ns);
	bool *has = strncmp(word, "gpu=", 4) == 0     ? &hint->has_gpus
		    : strncmp(word, "class=", 6) == 0 ? &hint->has_class
						      : NULL;
	if (!h->calls.word || !has || *has)
		return WORD;
	*has = true;
	r->why = h->calls.word(h->calls.arg, word, &hint->scope);
	if (!r->why && c->scope.class > hint->scope.class)
		r->why = "the client belongs to a class below, and would hold itself";
	return r->why ? REFUSED : OK;
}

static enum answer serve_begin(struct hints *h, struct client *c, struct request *r, char *rest)
{
	struct hint hint = {.scope = c->scope};
	char *word = rest ? strsep(&rest, " ") : NULL;
	if (word && !strchr(word, '=')) {
		if (!parse_id(word, strlen(word), &hint.id))
			return BAD_ID;
		word = strsep(&rest, " ");
	}
	for (; word; word = strsep(&rest, " ")) {
		const enum answer answer = read_hint_word(h, c, word, r, &hint);
		if (answer != OK)
			return answer;
	}
	r->id = hint.id;
	hint.deadline_ns += hint.deadline_ns ? h->now_ns : 0;
	return begin_hint(h, c, &hint);
}

static void tell_end(const struct hints *h, const struct client *c, const struct hint *hint,
		     bool closed)
{
	const uint64_t now = h->now_ns;
	if (hint && h->calls.ended)
		h->calls.ended(h->calls.arg, &hint->scope, now,
			       &(struct hint_end){
				       .ns = now - hint->first_ns,
				       .urgent_ns = hint->urgent_ns ? now - hint->urgent_ns : 0,
				       .deadline_ns = hint->deadline_ns
							      ? hint->deadline_ns - hint->first_ns
							      : 0,
				       .expired = hint->expired,
				       .closed = closed,
				       .pid = c->pid});
}

static enum answer serve_end(struct hints *h, struct client *c, struct request *r, char *rest)
{
	if (rest && !parse_id(rest, strlen(rest), &r->id))
		return BAD_ID;
	tell_end(h, c, find_client_hint(c, r->id), false);
	return end_hint(h, c, r->id);
}

static enum answer serve_status(struct hints *h, struct client *c, struct request *r, char *rest)
{
	(void)h;
	(void)r;
	if (rest)
		return WORD;
	c->paid_ns += (HINTS_STATUS_COST - 1) * REQUEST_NS; // beside what each request costs
	return STATUS;
}

// Serves a request, and changes its line.
static enum answer serve_request(struct hints *h, struct client *c, struct request *r, char *line)
{
	static const struct {
		const char *word;
		enum answer (*serve)(struct hints *h, struct client *c, struct request *r,
				     char *rest);
	} verbs[] = {{"begin", serve_begin}, {"end", serve_end}, {"status", serve_status}};
	const char *verb = strsep(&line, " ");
	for (unsigned i = 0; i < COUNT(verbs); i++)
		if (strcmp(verb, verbs[i].word) == 0)
			return verbs[i].serve(h, c, r, line);
	return WORD;
}

// A NUL in a line is none of a request.
static void serve_hint_line(struct hints *h, struct client *c, const char *line, size_t len)
{
	struct request *r = pending(c, c->num_requests);
	char text[HINTS_LINE_MAX];
	c->requests++;
	bucket_take(&c->paid_ns, h->now_ns, REQUEST_NS);
	memcpy(text, line, len);
	text[len] = '\0';
	*r = (struct request){.read_ns = h->now_ns};
	r->answer = memchr(line, '\0', len) ? WORD : serve_request(h, c, r, text);
	c->num_requests++;
	if (r->answer == WAITS)
		audit_client(h, c, &c->said_hint, NULL);
	else if (r->answer > LATE || r->answer == REFUSED)
		audit_client(h, c, &c->said_refused,
			     r->why ? r->why : answers[r->answer] + strlen("error "));
}

// ---- writing answers

// Writes the statistics. Their time is charged to all who ask, and this client waits before its
// next request if they have used more than their part.
static void write_status(struct hints *h, struct client *c)
{
	const uint64_t took = h->calls.status ? h->calls.status(&h->out, h->calls.arg) : 0;
	bucket_take(&h->status_paid_ns, h->now_ns, took * HINTS_STATUS_PART);
	c->paid_ns = greater(c->paid_ns, h->status_paid_ns);
	buf_puts(&h->out, answers[OK]);
}

static void write_answer(struct hints *h, struct client *c, const struct request *r)
{
	switch (r->answer) {
	case HELD:
		buf_puts(&h->out, "ok off=");
		buf_u64(&h->out, r->off);
		buf_puts(&h->out, " missed=");
		buf_u64(&h->out, r->missed);
		buf_puts(&h->out, " ns=");
		buf_u64(&h->out, h->now_ns > r->read_ns ? h->now_ns - r->read_ns : 0);
		buf_puts(&h->out, "\n");
		break;
	case STATUS: write_status(h, c); break;
	case REFUSED: buf_printf(&h->out, "error request %s\n", r->why); break;
	default: buf_puts(&h->out, answers[r->answer]);
	}
}

// Sends the answers that are known, up to the first request that waits.
static void send_answers(struct hints *h, struct client *c)
{
	h->out.len = 0;
	while (c->num_requests && pending(c, 0)->answer != WAITS) {
		write_answer(h, c, pending(c, 0));
		c->first = (c->first + 1) % HINTS_PENDING_MAX;
		c->num_requests--;
	}
	if (h->out.len && send(c->fd, h->out.data, h->out.len, MSG_DONTWAIT | MSG_NOSIGNAL) !=
				  (ssize_t)h->out.len)
		shutdown(c->fd, SHUT_RDWR); // the next hints_serve() closes the client
}

static void end_hints(struct hints *h, struct client *c)
{
	while (c->num_hints) {
		tell_end(h, c, &c->hints[0], true);
		end_hint(h, c, c->hints[0].id);
	}
}

// Closes a connection. All requests are answered first, in case the client still reads.
static void close_client(struct hints *h, struct client *c)
{
	end_hints(h, c);
	send_answers(h, c);
	loop_remove(&h->loop, c->fd); // a holder being started may have c->fd, too
	close(c->fd);
	c->fd = -1;
}

// Serves the lines in the client's buffer, as far as its rate allows.
static void serve_hint_lines(struct hints *h, struct client *c)
{
	enum pause pause = READING;
	unsigned used = 0;
	const char *end;
	while ((end = memchr(c->in + used, '\n', c->len - used)) &&
	       end - (c->in + used) < HINTS_LINE_MAX &&
	       (pause = reading_obstacle(h, c)) == READING) {
		size_t len = (size_t)(end - (c->in + used));
		serve_hint_line(h, c, c->in + used, len);
		used += (unsigned)len + 1;
	}
	c->len -= used;
	memmove(c->in, c->in + used, c->len);
	if (pause == READING && c->len >= HINTS_LINE_MAX) {
		end_hints(h, c);
		send_answers(h, c);
		*pending(c, c->num_requests++) = (struct request){.answer = TOO_LONG};
		close_client(h, c);
		return;
	}
	pause_client(h, c, pause);
	send_answers(h, c);
}

static void serve_hint_client(struct hints *h, struct client *c, uint32_t events)
{
	ssize_t n = -1;
	if (!(events & (EPOLLHUP | EPOLLERR))) {
		n = recv(c->fd, c->in + c->len, sizeof(c->in) - c->len, MSG_DONTWAIT);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
	}
	if (n <= 0) {
		close_client(h, c);
		return;
	}
	c->len += (unsigned)n;
	serve_hint_lines(h, c);
}

// ---- whose work a client's is

static struct hint_scope scope_of(const struct hints *h, const struct client *c, bool look)
{
	return h->calls.whose ? h->calls.whose(h->calls.arg, c->pid, look)
			      : (struct hint_scope){0, UINT64_MAX};
}

static void expire_hint(struct hints *h, struct client *c, struct hint *hint)
{
	hint->expired = true;
	c->expired++;
	h->expired++;
	h->active--;
	settle_begins(h, c, hint->id, EXPIRED);
}

static void look_at_hint(struct hints *h, struct client *c, struct hint *hint)
{
	if (!hint->has_gpus)
		hint->scope.gpus = c->scope.gpus;
	if (!hint->has_class)
		hint->scope.class = c->scope.class;
	else if (!hint->expired && hint->scope.class < c->scope.class)
		expire_hint(h, c, hint);
}

void hints_look(struct hints *h)
{
	struct hint_scope scope = {0};
	pid_t pid = -1; // whose `scope` is
	h->looks++;
	for (unsigned i = 0; i < h->places; i++) {
		struct client *c = &h->clients[i];
		if (c->fd < 0 || (c->looked && i % HINTS_LOOKS != h->looks % HINTS_LOOKS))
			continue;
		scope = c->pid == pid ? scope : scope_of(h, c, true);
		pid = c->pid;
		c->scope = scope;
		c->looked = true;
		for (unsigned k = 0; k < c->num_hints; k++)
			look_at_hint(h, c, &c->hints[k]);
		send_answers(h, c);
	}
}

uint64_t hints_gpus(const struct hints *h, size_t class)
{
	uint64_t gpus = 0;
	for (unsigned i = 0; i < h->places && h->active; i++)
		for (unsigned k = 0; h->clients[i].fd >= 0 && k < h->clients[i].num_hints; k++) {
			const struct hint *hint = &h->clients[i].hints[k];
			if (!hint->expired && hint->since_ns && hint->scope.class == class)
				gpus |= hint->scope.gpus;
		}
	return gpus;
}

unsigned hints_later(const struct hints *h, pid_t pid)
{
	unsigned n = 0;
	for (unsigned i = 0; i < h->places && h->active; i++) {
		const struct client *c = &h->clients[i];
		for (unsigned k = 0; c->fd >= 0 && (!pid || c->pid == pid) && k < c->num_hints; k++)
			n += !c->hints[k].expired && !c->hints[k].since_ns;
	}
	return n;
}

uint64_t hints_urge(struct hints *h, uint64_t now_ns)
{
	uint64_t next = UINT64_MAX;
	h->now_ns = now_ns;
	for (unsigned i = 0; i < h->places && h->active; i++)
		for (unsigned k = 0; h->clients[i].fd >= 0 && k < h->clients[i].num_hints; k++)
			if (!h->clients[i].hints[k].expired)
				next = lesser(next, urge(h, &h->clients[i].hints[k]));
	return next;
}

// ---- accepting and serving clients

// Returns a place for a client of this user, or NULL if a limit is reached, which `why` names.
static struct client *free_hint_place(struct hints *h, uid_t uid, char *why, size_t size)
{
	const unsigned part = h->most / HINTS_USER_PART, user = part > 16 ? part : 16;
	struct client *place = NULL;
	unsigned same = 0, all = 0;
	for (unsigned i = 0; i < h->places; i++) {
		struct client *c = &h->clients[i];
		all += c->fd >= 0;
		same += c->fd >= 0 && c->uid == uid;
		if (c->fd < 0)
			place = c;
	}
	if (uid != 0 && same >= user)
		snprintf(why, size, "error limit a user may have %u connections\n", user);
	else if (all >= h->most - (uid != 0 ? HINTS_CLIENTS_ROOT : 0))
		snprintf(why, size, "error limit there are %u connections\n", all);
	else
		return place ? place : &h->clients[h->places];
	return NULL;
}

static void add_hint_client(struct hints *h, int fd)
{
	struct ucred peer = {0};
	socklen_t size = sizeof(peer);
	struct client *c = NULL;
	char why[64] = "";
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0)
		c = free_hint_place(h, peer.uid, why, sizeof(why));
	if (!c || !loop_add(&h->loop, fd, place_of(h, c), LOOP_READ)) {
		ssize_t ignored = send(fd, why, strlen(why), MSG_DONTWAIT | MSG_NOSIGNAL);
		(void)ignored;
		close(fd);
		h->refused++;
		if (*why)
			audit(h, &peer, why + strlen("error "));
		return;
	}
	h->places += c == &h->clients[h->places];
	memset(c, 0, offsetof(struct client, in));
	c->fd = fd;
	c->uid = peer.uid;
	c->pid = peer.pid;
	c->scope = scope_of(h, c, false);
}

static void accept_hint_clients(struct hints *h)
{
	int fd = 0;
	while (!listener_wait(h)) {
		fd = accept4(h->socket.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (fd < 0)
			break;
		bucket_take(&h->paid_ns, h->now_ns, CONNECT_NS);
		add_hint_client(h, fd);
	}
	if (fd < 0 && errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
		h->paid_ns = h->now_ns + HINTS_CONNECT_BURST * CONNECT_NS + NO_FILES_NS;
	bool listening = !listener_wait(h);
	if (listening != h->listening)
		loop_change(&h->loop, h->socket.fd, 0, listening ? LOOP_READ : LOOP_NOTHING);
	h->listening = listening;
}

// Serves clients whose requests were left in their buffers.
static void resume_clients(struct hints *h)
{
	for (unsigned i = 0; i < h->places; i++) {
		struct client *c = &h->clients[i];
		if (c->fd >= 0 && c->pause != READING && reading_obstacle(h, c) == READING)
			serve_hint_lines(h, c);
	}
}

bool hints_serve(struct hints *h, uint64_t now_ns)
{
	struct epoll_event events[HINTS_CLIENTS_MAX + 1];
	bool was = h->active > 0, accept = !h->listening;
	h->now_ns = now_ns;
	resume_clients(h);
	int n = loop_wait(&h->loop, events, COUNT(events), LOOP_NOW);
	for (int i = 0; i < n; i++) {
		uint64_t what = events[i].data.u64;
		if (what == 0)
			accept = true; // accept last, when more places may be free
		else if (h->clients[what - 1].fd >= 0)
			serve_hint_client(h, &h->clients[what - 1], events[i].events);
	}
	if (accept)
		accept_hint_clients(h);
	return was != (h->active > 0);
}

// ---- what the scheduler calls

struct hints *hints_open(const char *path, const char *group, int *status)
{
	struct hints *h = xcalloc(1, sizeof(*h));
	struct rlimit files = {.rlim_cur = 0};
	*status = hints_socket_open(&h->socket, path, group);
	if (*status) {
		free(h);
		return NULL;
	}
	h->listening = true;
	getrlimit(RLIMIT_NOFILE, &files);
	h->most = files.rlim_cur / 8 < HINTS_CLIENTS_MIN   ? HINTS_CLIENTS_MIN
		  : files.rlim_cur / 8 > HINTS_CLIENTS_MAX ? HINTS_CLIENTS_MAX
							   : (unsigned)(files.rlim_cur / 8);
	buf_reserve(&h->out, 64 << 10);
	if (loop_open(&h->loop) && loop_add(&h->loop, h->socket.fd, 0, LOOP_READ))
		return h;
	*status = err_sys(errno, NULL, "epoll");
	hints_close(h);
	return NULL;
}

void hints_close(struct hints *h)
{
	if (!h)
		return;
	for (unsigned i = 0; i < h->places; i++)
		close_quietly(h->clients[i].fd);
	hints_socket_close(&h->socket);
	loop_close(&h->loop);
	buf_fini(&h->out);
	free(h);
}

const char *hints_path(const struct hints *h)
{
	return h->socket.path;
}

int hints_fd(const struct hints *h)
{
	return h->loop.fd;
}

int hints_wait_ms(const struct hints *h)
{
	uint64_t wait = h->listening ? UINT64_MAX : listener_wait(h);
	for (unsigned i = 0; i < h->places; i++) {
		const struct client *c = &h->clients[i];
		if (c->fd < 0 || c->pause == READING || reading_obstacle(h, c) == TOO_MANY)
			continue;
		wait = lesser(wait, bucket_wait(c->paid_ns, h->now_ns, REQUEST_NS, HINTS_BURST));
	}
	return wait == UINT64_MAX ? -1 : (int)((wait + 999999) / 1000000);
}

unsigned hints_active(const struct hints *h)
{
	return h->active;
}

unsigned hints_waiting(const struct hints *h)
{
	return h->waiting;
}

// Answers the client's requests that wait, as far as all is off that concerns them.
static void answer_client(struct hints *h, struct client *c)
{
	for (unsigned k = 0; k < c->num_requests; k++) {
		struct request *r = pending(c, k);
		const struct hint *hint = find_client_hint(c, r->id);
		if (r->answer != WAITS || !hint ||
		    (hint->since_ns && h->calls.is_off &&
		     !h->calls.is_off(h->calls.arg, &hint->scope, &r->off, &r->missed)))
			continue;
		r->answer = HELD;
		h->waiting--;
	}
}

void hints_answer(struct hints *h, uint64_t now_ns)
{
	h->now_ns = now_ns;
	for (unsigned i = 0; i < h->places && h->waiting; i++) {
		struct client *c = &h->clients[i];
		if (c->fd < 0)
			continue;
		answer_client(h, c);
		send_answers(h, c);
	}
}

bool hints_expire(struct hints *h, uint64_t now_ns, uint64_t age_ns)
{
	bool was = h->active > 0;
	h->now_ns = now_ns;
	for (unsigned i = 0; i < h->places; i++) {
		struct client *c = &h->clients[i];
		for (unsigned k = 0; c->fd >= 0 && k < c->num_hints; k++) {
			struct hint *hint = &c->hints[k];
			const uint64_t lasts = hint->lasts_ns ? hint->lasts_ns : age_ns;
			if (hint->expired || !hint->since_ns || now_ns <= hint->deadline_ns ||
			    now_ns - hint->since_ns <= lasts)
				continue;
			expire_hint(h, c, hint);
		}
		if (c->fd >= 0)
			send_answers(h, c);
	}
	return was && !h->active;
}

bool hints_next_due(const struct hints *h, unsigned *at, pid_t *pid, size_t *class,
		    uint64_t *deadline_ns)
{
	while (*at / HINTS_IDS_MAX < h->places) {
		const struct client *c = &h->clients[*at / HINTS_IDS_MAX];
		const unsigned k = (*at)++ % HINTS_IDS_MAX;
		const struct hint *hint = &c->hints[k];
		if (c->fd < 0 || k >= c->num_hints) {
			*at += HINTS_IDS_MAX - 1 - k; // the next client
		} else if (hint->deadline_ns && hint->since_ns && !hint->expired) {
			*pid = c->pid;
			*class = hint->scope.class;
			*deadline_ns = hint->deadline_ns;
			return true;
		}
	}
	return false;
}

void hints_ask(struct hints *h, const struct hints_calls *calls)
{
	h->calls = *calls;
}

bool hints_next(const struct hints *h, unsigned *at, struct hints_client *to)
{
	while (*at < h->places && h->clients[*at].fd < 0)
		++*at;
	if (*at >= h->places)
		return false;
	const struct client *c = &h->clients[(*at)++];
	*to = (struct hints_client){.place = (unsigned)(c - h->clients),
				    .pid = c->pid,
				    .uid = c->uid,
				    .scope = c->scope,
				    .requests = c->requests,
				    .throttled = c->throttled,
				    .expired = c->expired};
	for (unsigned k = 0; k < c->num_hints; k++)
		if (!c->hints[k].expired && c->hints[k].since_ns)
			to->hints[to->active++] = c->hints[k].scope;
	for (unsigned k = 0; k < c->num_hints; k++)
		if (!c->hints[k].expired && !c->hints[k].since_ns)
			to->hints[to->active + to->later++] = c->hints[k].scope;
	return true;
}

struct hints_counts hints_count(const struct hints *h)
{
	struct hints_counts n = {.refused = h->refused, .expired = h->expired};
	for (unsigned i = 0; i < h->places; i++)
		if (h->clients[i].fd >= 0) {
			n.clients++;
			n.requests += h->clients[i].requests;
			n.throttled += h->clients[i].throttled;
		}
	return n;
}
