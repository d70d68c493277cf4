// One request to many holders, and their answers; group.h.
#include "common/holder/group_priv.h"

#include "common/host/clock.h"

#define MS      UINT64_C(1000000)
#define SOON_MS 5000u

static bool connect_member(struct group *g, struct group_member *m, const struct group_talk *t)
{
	if (m->target.pidfd < 0 && kfd_target_pin(&m->target, m->target.pid, 0, &m->failure) < 0)
		return false;
	kfd_step(1);
	if (kfd_link_open(&m->link, &m->target, t->start, &m->failure) < 0)
		return false;
	kfd_step(2);
	member_enter(g, m, MEMBER_READY);
	return true;
}

static void send_request(struct group *g, struct group_member *m, const struct group_talk *t)
{
	const bool is_new = m->state == MEMBER_NAMED;
	SCOPED(buf_fini) struct buf b = {0};
	if (!is_new && m->link.fd < 0)
		return; // the member failed and was abandoned
	buf_puts(&b, t->request);
	if (t->select)
		member_words(m, &b);
	const bool ok = (!is_new || connect_member(g, m, t)) &&
			kfd_link_send(&m->link, b.data, &m->failure) == 0;
	m->asked_ns = clock_ns();
	m->answered_ns = ok ? 0 : m->asked_ns;
	member_enter(g, m, ok ? MEMBER_ASKED : MEMBER_FAILED);
	if (is_new)
		kfd_step(3);
}

void group_request(struct group *g, const struct group_talk *t)
{
	for (size_t i = 0; i < g->n; i++)
		if (g->v[i]->state == MEMBER_NAMED || g->v[i]->state == MEMBER_READY)
			send_request(g, g->v[i], t);
}

static bool receive_within(struct group_member *m, uint64_t since_ns, unsigned ms)
{
	const uint64_t end = since_ns + ms * MS, now = clock_ns();
	return kfd_link_receive(&m->link, now < end ? (unsigned)((end - now) / MS) : 1,
				&m->failure) == 0;
}

static bool receive_answer(struct group_member *m, const struct group_talk *t)
{
	const uint64_t since = t->since_ns ? t->since_ns : clock_ns();
	const unsigned limit_ms = t->limit_ms ? t->limit_ms : KFD_ANSWER_MS;
	if (receive_within(m, since, t->soon_ms ? t->soon_ms : SOON_MS))
		return true;
	if (!m->link.silent)
		return false;
	if (kfd_holder_is_stopped(&m->link))
		return kfd_fail(&m->failure, KFD_FAULT_HOLDER_STOPPED) == 0;
	if (receive_within(m, since, limit_ms))
		return true;
	if (m->link.silent)
		kfd_fail(&m->failure, KFD_FAULT_HOLDER_SILENT, (int)(limit_ms / 1000));
	return false;
}

static void take_talk_answer(struct group *g, struct group_member *m, const struct group_talk *t)
{
	bool ok = receive_answer(m, t);
	if (!ok && t->start && m->link.lost && !m->link.started) {
		kfd_link_close(&m->link);
		member_enter(g, m, MEMBER_NAMED);
		send_request(g, m, t);
		ok = m->state == MEMBER_ASKED && receive_answer(m, t);
	}
	m->answered_ns = clock_ns();
	member_enter(g, m, ok ? MEMBER_READY : MEMBER_FAILED);
}

void group_answers(struct group *g, const struct group_talk *t)
{
	for (size_t i = 0; i < g->n; i++)
		if (g->v[i]->state == MEMBER_ASKED)
			take_talk_answer(g, g->v[i], t);
}

bool member_abandon(struct group_member *m)
{
	return kfd_link_abandon(&m->link, &m->target, &m->failure);
}

void group_abandon_failed(struct group *g)
{
	for (size_t i = 0; i < g->n; i++)
		if (g->v[i]->state == MEMBER_FAILED)
			member_abandon(g->v[i]);
}
