// The members of a group, and holding them; group.h.
#include "common/holder/group_priv.h"

#include "common/host/clock.h"
#include "common/host/loop.h"
#include "common/host/number.h"
#include "common/host/root.h"

#include <dirent.h>
#include <sys/wait.h>

#define PROCS     "/sys/class/kfd/kfd/proc"
#define RETRY_NS  5000000000ull
#define DYING_MS  500 // how long before its target a holder may be seen to end
#define GPU_FILES 256 // queues of a process whose GPUs are read: others have been seen there
#define TRIES     20  // most requests for the queues while holder and sysfs disagree

// ---- GPUs

uint64_t gpu_bit(struct gpu_bits *b, uint32_t gpu_id)
{
	unsigned i = 0;
	while (i < b->n && b->ids[i] != gpu_id)
		i++;
	if (i == b->n && b->n < COUNT(b->ids))
		b->ids[b->n++] = gpu_id;
	return i < COUNT(b->ids) ? UINT64_C(1) << i : 0;
}

uint64_t gpu_bits_of(struct gpu_bits *b, pid_t pid, const struct kfd_selection *sel, uint64_t had)
{
	SCOPED(closedir_at) DIR *d = host_opendir(PATH(PROCS "/%d/queues", (int)pid));
	uint64_t gpus = 0, id, gpu;
	unsigned left = GPU_FILES;
	for (struct dirent *e; d && (e = host_readdir(d));) {
		if (!number_whole(e->d_name, 10, UINT32_MAX, &id))
			continue;
		if (host_read_u64(PATH(PROCS "/%d/queues/%s/gpuid", (int)pid, e->d_name), &gpu)) {
			gpus |= errno == ENOENT || errno == ENODEV ? 0 : had;
			continue;
		}
		if (!left--)
			return gpus | had;
		const struct kfd_queue_entry q = {.queue_id = (uint32_t)id,
						  .gpu_id = (uint32_t)gpu};
		if (!sel || kfd_selected(sel, &q))
			gpus |= gpu_bit(b, q.gpu_id);
	}
	return d || errno == ENOENT ? gpus : had;
}

// ---- states of a member

// Was the last request to this member one to suspend?
static bool member_is_held(const struct group_member *m)
{
	return m->place == MEMBER_HELD || m->place == MEMBER_PARTLY;
}

static bool is_awaited(const struct group_member *m)
{
	return (m->state == MEMBER_ASKED && !m->joins) || m->look == LOOK_TO_DECIDE;
}

void member_enter(struct group *g, struct group_member *m, enum member_state state)
{
	g->asked -= is_awaited(m);
	m->state = state;
	g->asked += is_awaited(m);
}

void member_set_look(struct group *g, struct group_member *m, enum member_look look)
{
	g->asked -= is_awaited(m);
	m->look = look;
	g->asked += is_awaited(m);
}

// Closes the connection, which ends its hold and a holder that holds nothing else.
static void hang_up_member(struct group *g, struct group_member *m)
{
	m->holder = m->link.started > 0 ? m->link.started : m->holder;
	kfd_link_close(&m->link);
	m->place = MEMBER_RUNS;
	m->held = 0;
	m->outdated = false;
	if (m->look == LOOK_TO_DECIDE)
		member_set_look(g, m, LOOK_POSTED);
	if (m->state != MEMBER_ENDED && m->state != MEMBER_FAILED)
		member_enter(g, m, MEMBER_NAMED);
}

static void note_end(struct group *g, struct group_member *m)
{
	hang_up_member(g, m);
	member_enter(g, m, MEMBER_ENDED);
}

// Marks the member as failed, or as ended if its process dies within DYING_MS. With `nowait`,
// group_look() notices the end.
static void note_failure(struct group *g, struct group_member *m)
{
	hang_up_member(g, m);
	if (wait_readable(m->target.pidfd, g->nowait ? LOOP_NOW : clock_in_ms(DYING_MS)))
		member_enter(g, m, MEMBER_ENDED);
	else
		member_enter(g, m, MEMBER_FAILED);
	m->failed_ns = clock_ns();
}

static void let_go(struct group *g, struct group_member *m)
{
	hang_up_member(g, m);
	if (m->holder > 0 && !g->nowait) {
		kfd_wait_death(m->holder, KFD_END_MS);
		waitpid(m->holder, NULL, WNOHANG);
	}
	m->holder = 0;
}

static unsigned group_patience(const struct group *g)
{
	return g->patience_ms ? g->patience_ms : KFD_ANSWER_MS;
}

// ---- requests to members

static void put_numbers(struct buf *b, const char *name, const uint32_t *v, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		buf_printf(b, "%s%u", i ? "," : name, v[i]);
}

void member_words(const struct group_member *m, struct buf *b)
{
	const struct kfd_selection *s = m->sel;
	if (!s)
		return;
	put_numbers(b, " queues=", s->ids, s->num_ids);
	put_numbers(b, " gpus=", s->gpus, s->num_gpus);
}

// Writes the request to suspend, without its list of GPUs. With `most` it names each queue of the
// last answer. Where that has none, it names an id above all ids: a request without ids would
// suspend all queues.
static void write_request(const struct group *g, struct group_member *m)
{
	const struct kfd_answer *a = &m->link.answer;
	const struct kfd_selection *s = m->sel;
	struct buf *b = &m->request;
	b->len = 0;
	buf_printf(b, "suspend tie grace=%u for_ns=%llu", g->grace,
		   (unsigned long long)g->limit_ns);
	for (size_t i = 0; g->most && i < a->num; i++)
		buf_printf(b, "%s%u", i ? "," : " queues=", a->queues[i].queue.queue_id);
	if (g->most && !a->num)
		buf_printf(b, " queues=%u", KFD_MAX_QUEUES);
	if (!g->most && s)
		put_numbers(b, " queues=", s->ids, s->num_ids);
	m->words = b->len;
}

// Appends " gpus=41460,2": these GPUs, all of which have chosen queues of the member. GPUS_ALL:
// those of its selection.
static void put_gpus(const struct group *g, const struct group_member *m, uint64_t gpus,
		     struct buf *b)
{
	const struct kfd_selection *s = m->sel;
	const char *sep = " gpus=";
	if (gpus == GPUS_ALL && s)
		put_numbers(b, sep, s->gpus, s->num_gpus);
	for (unsigned i = 0; gpus != GPUS_ALL && i < g->bits->n; i++)
		if (gpus >> i & 1) {
			buf_printf(b, "%s%u", sep, g->bits->ids[i]);
			sep = ",";
		}
}

uint64_t member_wanted(const struct group_member *m)
{
	return m->want == GPUS_ALL && m->gpus ? GPUS_ALL : m->want & m->gpus;
}

void member_send(struct group *g, struct group_member *m, enum member_request what)
{
	const uint64_t want = member_wanted(m);
	SCOPED(buf_fini) struct buf release = {0};
	const char *request = "queues addresses";
	if (what == REQUEST_HOLD) {
		m->request.len = m->words;
		m->request.data[m->words] = '\0';
		put_gpus(g, m, want, &m->request);
		request = m->request.data;
	} else if (what != REQUEST_QUEUES) {
		// With "keep" the holder lives until this connection closes, even if it holds
		// nothing.
		buf_puts(&release, "release keep");
		if (what == REQUEST_RELEASE && want)
			put_gpus(g, m, m->held & ~want, &release);
		request = release.data;
	}
	if (kfd_link_send(&m->link, request, &m->failure)) {
		note_failure(g, m);
		return;
	}
	m->asked_ns = clock_ns();
	m->asked_for = what;
	m->changing = what == REQUEST_HOLD      ? want & ~m->held
		      : what == REQUEST_RELEASE ? m->held & ~want
						: 0;
	if (what == REQUEST_HOLD) {
		m->held = want;
		m->until_ns = g->limit_ns ? m->asked_ns + g->limit_ns : UINT64_MAX;
	} else if (what == REQUEST_RELEASE)
		m->held &= want;
	if (what == REQUEST_HOLD && m->place != MEMBER_PARTLY)
		m->place = MEMBER_HELD;
	else if (what == REQUEST_RELEASE && !m->held)
		m->place = MEMBER_RUNS;
	member_enter(g, m, MEMBER_ASKED);
}

// Asks to suspend or resume a member, as m->want says. Reads the indices of an idle one again
// before it runs on.
static void ask_member(struct group *g, struct group_member *m)
{
	const uint64_t want = member_wanted(m);
	if (!m->held)
		m->place = MEMBER_RUNS;
	if (want && !m->held && !m->fresh && m->look != LOOK_TO_DECIDE &&
	    member_stands_still(g, m)) {
		member_look_at(g, m);
		if (m->look == LOOK_POSTED)
			member_set_look(g, m, LOOK_TO_DECIDE);
		else if (member_stands_still(g, m))
			m->place = MEMBER_IDLE;
	}
	if (m->place == MEMBER_IDLE || m->look == LOOK_TO_DECIDE)
		return;
	if (m->held & ~want)
		member_send(g, m, REQUEST_RELEASE);
	else if (want)
		member_send(g, m, REQUEST_HOLD);
}

// ---- answers of members

static bool outcome_is_off(const struct kfd_outcome *q)
{
	return q->result == KFD_RESULT_SUSPENDED || q->result == KFD_RESULT_ALREADY;
}

static void take_outcomes(struct group *g, struct group_member *m)
{
	const struct kfd_answer *a = &m->link.answer;
	bool changed = false, all_off = true;
	for (size_t i = 0; i < a->num; i++) {
		changed |= a->queues[i].latency_ns != 0;
		all_off &= outcome_is_off(&a->queues[i]);
	}
	if (m->asked_for == REQUEST_HOLD && member_is_held(m))
		m->place = all_off ? MEMBER_HELD : MEMBER_PARTLY;
	g->calls += changed;
	m->changed_ns = clock_ns();
}

// Watches the queues that the holder reports. Asks again if sysfs, which may be a moment ahead, has
// another number of queues.
static void take_queues(struct group *g, struct group_member *m)
{
	struct kfd_answer *a = &m->link.answer;
	size_t chosen = 0;
	m->stale = a->num != m->num_queues && ++m->tries <= TRIES;
	m->tries = m->stale ? m->tries : 0;
	for (size_t i = 0; i < a->num; i++)
		if (!m->sel || kfd_selected(m->sel, &a->queues[i].queue))
			a->queues[chosen++] = a->queues[i];
	a->num = g->most && chosen > g->most ? g->most : chosen;
	write_request(g, m);
	member_watch(g, m);
}

// Takes an answer. If m->want has changed since the request was sent, another request follows.
static void take_member_answer(struct group *g, struct group_member *m)
{
	m->answered_ns = clock_ns();
	m->said = false;
	member_enter(g, m, MEMBER_READY);
	if (m->asked_for == REQUEST_ATTACH) {
		m->num_queues = UINT_MAX; // the queues in sysfs are not counted yet
		member_send(g, m, REQUEST_QUEUES);
		return;
	}
	if (m->asked_for == REQUEST_QUEUES)
		take_queues(g, m);
	else
		take_outcomes(g, m);
	if (m->outdated) { // what is held was chosen by another selection
		const uint64_t want = m->want;
		m->outdated = false;
		m->want = 0;
		ask_member(g, m);
		m->want = want;
	} else if (m->held != member_wanted(m)) {
		ask_member(g, m);
	}
	m->joins &= member_is_asked(m);
}

static void wait_for_answer(struct group *g, struct group_member *m)
{
	if (kfd_link_receive(&m->link, group_patience(g), &m->failure))
		note_failure(g, m);
	else
		take_member_answer(g, m);
}

// Unless `nowait`, waits until the member's holder is attached and its queues are known.
static void settle_member(struct group *g, struct group_member *m)
{
	while (!g->nowait && member_is_asked(m) &&
	       (m->asked_for == REQUEST_ATTACH || m->asked_for == REQUEST_QUEUES))
		wait_for_answer(g, m);
}

static void attach_member(struct group *g, struct group_member *m)
{
	bool ok = true;
	m->joins = g->pass;
	m->tried_ns = m->moved_ns = clock_ns();
	member_enter(g, m, MEMBER_NAMED);
	m->first = m->first ? m->first : xcalloc(1, sizeof(*m->first));
	m->last = m->last ? m->last : xcalloc(1, sizeof(*m->last));
	if (m->watch.memory.fd < 0 && kfd_watch_init(&m->watch, m->target.pid))
		ok = kfd_fail(&m->failure, KFD_FAULT_SYSTEM, "open the memory of the process",
			      "see gpq gpus --check") == 0;
	if (ok && kfd_link_open(&m->link, &m->target, true, &m->failure) == 0)
		member_send(g, m, REQUEST_ATTACH);
	else
		note_failure(g, m);
	settle_member(g, m);
}

// ---- members that come and go

struct group_member *group_find(const struct group *g, pid_t pid)
{
	for (size_t i = 0; i < g->n; i++)
		if (g->v[i]->target.pid == pid && g->v[i]->state != MEMBER_ENDED)
			return g->v[i];
	return NULL;
}

bool group_has(const struct group *g, pid_t pid)
{
	return group_find(g, pid) != NULL;
}

// Frees a member, whose connection must be closed (hang_up_member()).
static void free_member(struct group *g, struct group_member *m)
{
	member_forget_look(g, m);
	kfd_watch_fini(&m->watch);
	free(m->first);
	free(m->last);
	kfd_target_unpin(&m->target);
	buf_fini(&m->queues);
	buf_fini(&m->request);
	free(m->unreached);
	free(m->sel);
	free(m);
}

// Attaches anew to a member that called exec: it is a new KFD process, outside of the old session.
static void renew_member(struct group *g, struct group_member *m)
{
	hang_up_member(g, m);
	member_unwatch(g, m);
	m->queues.len = 0;
	if (g->attach)
		attach_member(g, m);
}

static void append_member(struct group *g, struct group_member *m)
{
	array_grow(&g->v, &g->cap, g->n, sizeof(struct group_member *));
	g->v[g->n++] = m;
}

struct group_member *group_add(struct group *g, pid_t pid, struct kfd_selection *sel)
{
	struct kfd_failure gone;
	struct group_member *m = group_find(g, pid);
	if (m) {
		free(sel);
		renew_member(g, m);
		return m;
	}
	m = xcalloc(1, sizeof(*m));
	m->link.fd = m->watch.memory.fd = m->target.pidfd = -1;
	m->sel = sel;
	m->target.pid = pid;
	m->want = g->held ? GPUS_ALL : 0;
	m->gpus = g->bits ? gpu_bits_of(g->bits, pid, sel, 0) : GPUS_ALL;
	if (!g->dry && kfd_target_pin(&m->target, pid, 0, &gone)) {
		free_member(g, m);
		return NULL;
	}
	append_member(g, m);
	g->grown_ns = m->tried_ns = clock_ns();
	m->joins = g->attach && g->settle_ns;
	if (g->attach && !m->joins)
		attach_member(g, m);
	return m;
}

void group_move(struct group *g, struct group *from)
{
	for (size_t i = 0; i < from->n; i++)
		append_member(g, from->v[i]);
	from->n = 0;
}

static void move_member(struct group *g, struct group *from, size_t i)
{
	struct group_member *m = from->v[i];
	member_forget_look(from, m);
	from->asked -= is_awaited(m);
	from->unreached -= m->num_unreached;
	memmove(&from->v[i], &from->v[i + 1], (--from->n - i) * sizeof(struct group_member *));
	append_member(g, m);
	g->asked += is_awaited(m);
	g->unreached += m->num_unreached;
}

struct group_member *group_take_over(struct group *g, struct group *from, pid_t pid,
				     struct kfd_selection *sel)
{
	size_t i = 0;
	while (i < from->n && (from->v[i]->target.pid != pid || from->v[i]->state == MEMBER_ENDED))
		i++;
	if (i == from->n) {
		free(sel);
		return NULL;
	}
	struct group_member *m = from->v[i];
	if (from != g)
		move_member(g, from, i);
	free(m->sel);
	m->sel = sel;
	m->stale = true;
	m->want = 0;
	m->gpus = g->bits ? gpu_bits_of(g->bits, pid, sel, 0) : GPUS_ALL;
	write_request(g, m);
	if (!g->attach) {
		hang_up_member(g, m);
		m->joins = false;
	} else if (m->state == MEMBER_NAMED)
		attach_member(g, m);
	else if (m->state == MEMBER_READY)
		ask_member(g, m);
	else
		m->outdated = m->held;
	return m;
}

static bool is_other(const struct group_member *m, const void *pid)
{
	return m->target.pid != *(const pid_t *)pid;
}

void group_drop(struct group *g, pid_t pid)
{
	group_keep(g, is_other, &pid);
}

void group_keep(struct group *g, bool (*keep)(const struct group_member *m, const void *arg),
		const void *arg)
{
	size_t kept = 0;
	for (size_t i = 0; i < g->n; i++)
		if (keep(g->v[i], arg)) {
			g->v[kept++] = g->v[i];
		} else {
			let_go(g, g->v[i]);
			free_member(g, g->v[i]);
		}
	g->n = kept;
}

static bool has_not_ended(const struct group_member *m, const void *arg)
{
	(void)arg;
	return m->state != MEMBER_ENDED;
}

void group_forget_ended(struct group *g)
{
	group_keep(g, has_not_ended, NULL);
}

const struct group_member *group_failed(const struct group *g)
{
	for (size_t i = 0; i < g->n; i++)
		if (g->v[i]->state == MEMBER_FAILED)
			return g->v[i];
	return NULL;
}

void group_release(struct group *g)
{
	g->held = g->attach = g->nowait = false;
	for (size_t i = 0; i < g->n; i++) {
		g->v[i]->want = 0;
		hang_up_member(g, g->v[i]);
	}
	for (size_t i = 0; i < g->n; i++)
		let_go(g, g->v[i]);
}

void group_fini(struct group *g)
{
	if (g->attach)
		group_release(g);
	for (size_t i = 0; i < g->n; i++) {
		hang_up_member(g, g->v[i]);
		free_member(g, g->v[i]);
	}
	reader_free(g->reader);
	free(g->v);
	*g = (struct group){0};
}

// ---- queues that come and go

unsigned group_list_queues(pid_t pid, struct buf *names)
{
	struct dirent **list;
	unsigned n = 0;
	int num = scandir(PATH(PROCS "/%d/queues", (int)pid), &list, NULL, alphasort);
	for (int i = 0; i < num; i++) {
		n += list[i]->d_name[0] != '.';
		if (names && list[i]->d_name[0] != '.')
			buf_printf(names, "%s ", list[i]->d_name);
		free(list[i]);
	}
	if (num >= 0)
		free(list);
	return n;
}

// Asks the holder for the queues if sysfs lists other ones than when it was last asked.
static void look_at_sysfs(struct group *g, struct group_member *m)
{
	struct buf names = {0};
	const unsigned n = group_list_queues(m->target.pid, &names);
	const bool same = !m->stale && names.len == m->queues.len &&
			  (!n || memcmp(names.data, m->queues.data, names.len) == 0);
	g->num_queues += n;
	if (g->bits && (!g->attach || !same))
		m->gpus = gpu_bits_of(g->bits, m->target.pid, m->sel, m->gpus);
	// The answer to the request under way comes first.
	if (g->attach && !same && member_is_asked(m) && !g->nowait)
		wait_for_answer(g, m);
	if (g->attach && !same && m->state == MEMBER_READY) {
		struct buf old = m->queues;
		m->queues = names;
		m->num_queues = n;
		names = old;
		member_send(g, m, REQUEST_QUEUES);
		settle_member(g, m);
	}
	buf_fini(&names);
	if (g->attach)
		member_look_at(g, m);
}

// Counts the queues of secondary contexts, once, and after a member's first hold, so as not to
// delay it.
static void count_unreached(struct group *g, struct group_member *m)
{
	if (m->looked_unreached || !member_is_held(m))
		return;
	m->looked_unreached = true;
	const ssize_t n = kfd_contexts_unreached(m->target.pid, NULL, &m->unreached);
	m->num_unreached = n > 0 ? (size_t)n : 0;
	g->unreached += m->num_unreached;
}

void group_look(struct group *g)
{
	g->num_queues = 0;
	for (size_t i = 0; i < g->n; i++) {
		struct group_member *m = g->v[i];
		if (m->state == MEMBER_ENDED)
			continue;
		if (!kfd_target_alive(&m->target))
			note_end(g, m);
		else if (m->state != MEMBER_FAILED)
			look_at_sysfs(g, m);
		// No answer is on its way, so only the end of the connection can be read.
		if (m->state == MEMBER_READY && kfd_link_take(&m->link, &m->failure) < 0)
			note_failure(g, m);
		count_unreached(g, m);
	}
}

void group_set(struct group *g, unsigned grace, unsigned most)
{
	const bool same = g->grace == grace && g->most == most;
	g->grace = grace;
	g->most = most;
	for (size_t i = 0; i < g->n; i++) {
		g->v[i]->stale |= !same;
		if (g->v[i]->request.len) // else it is written with the first answer
			write_request(g, g->v[i]);
	}
}

// ---- holding and resuming

void group_ask(struct group *g, bool hold)
{
	g->held = hold;
	for (size_t i = 0; i < g->n; i++) {
		g->v[i]->want = hold ? GPUS_ALL : 0;
		if (g->v[i]->state == MEMBER_READY)
			ask_member(g, g->v[i]);
	}
}

uint64_t group_busy(const struct group_member *m)
{
	if (!is_awaited(m))
		return 0;
	return m->look == LOOK_TO_DECIDE ? m->gpus : m->changing | (m->held ^ member_wanted(m));
}

uint64_t group_last_change(const struct group_member *m)
{
	const bool more = m->outdated || m->look == LOOK_TO_DECIDE || m->held != member_wanted(m);
	return m->state == MEMBER_ASKED && !more ? m->changing : 0;
}

void group_ask_member(struct group *g, struct group_member *m, uint64_t want)
{
	// A hold that was to end and to begin anew while an answer was awaited has the old
	// deadline.
	if (m->held && !g->dry && clock_ns() >= m->until_ns) {
		m->held = 0;
		m->place = MEMBER_RUNS;
	}
	if (m->want == want && (m->held == member_wanted(m) || m->place == MEMBER_IDLE))
		return;
	m->want = want;
	if (g->dry) {
		m->held = member_wanted(m);
		m->place = m->held ? MEMBER_HELD : MEMBER_RUNS;
		return;
	}
	if (m->state == MEMBER_READY && m->held != member_wanted(m))
		ask_member(g, m);
	else if (!member_wanted(m) && m->place == MEMBER_IDLE)
		m->place = MEMBER_RUNS;
}

static void note_silence(struct group *g, struct group_member *m)
{
	if (clock_ns() - m->asked_ns < group_patience(g) * UINT64_C(1000000))
		return;
	kfd_fail(&m->failure, KFD_FAULT_HOLDER_SILENT, (int)(group_patience(g) / 1000));
	member_enter(g, m, MEMBER_SILENT);
}

void group_take(struct group *g)
{
	group_take_looks(g);
	for (size_t i = 0; i < g->n; i++) {
		struct group_member *m = g->v[i];
		const int r = member_is_asked(m) ? kfd_link_take(&m->link, &m->failure) : 0;
		if (r > 0)
			take_member_answer(g, m);
		else if (r < 0)
			note_failure(g, m);
		else if (m->state == MEMBER_ASKED && g->nowait)
			note_silence(g, m);
	}
}

bool group_is_off(const struct group_member *m)
{
	const bool asked_for_queues = m->state == MEMBER_ASKED && m->asked_for == REQUEST_QUEUES;
	return m->place == MEMBER_HELD && (m->state == MEMBER_READY || asked_for_queues);
}

void group_wait(struct group *g)
{
	while (g->asked)
		for (size_t i = 0; i < g->n; i++)
			if (member_is_asked(g->v[i]))
				wait_for_answer(g, g->v[i]);
	for (size_t i = 0; i < g->n; i++)
		count_unreached(g, g->v[i]);
}

bool group_has_failed(const struct group_member *m, uint64_t now_ns)
{
	return m->state == MEMBER_FAILED && now_ns >= m->failed_ns + DYING_MS * UINT64_C(1000000);
}

uint64_t group_settle(struct group *g, uint64_t now_ns, bool now)
{
	uint64_t next = UINT64_MAX;
	bool any = false;
	for (size_t i = 0; i < g->n; i++) {
		struct group_member *m = g->v[i];
		if (m->state != MEMBER_NAMED || !m->joins)
			continue;
		const uint64_t due = now ? now_ns : m->tried_ns + g->settle_ns;
		if (due <= now_ns && !any) {
			any = true;
			attach_member(g, m);
		} else {
			next = lesser(next, due);
		}
	}
	return next;
}

void group_retry(struct group *g, uint64_t now_ns)
{
	for (size_t i = 0; g->attach && i < g->n; i++)
		if (group_has_failed(g->v[i], now_ns) && now_ns - g->v[i]->tried_ns >= RETRY_NS)
			attach_member(g, g->v[i]);
}
