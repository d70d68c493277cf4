// Puts torn records together; reassemble.h. Facts: [amdlog.torn].
//
// A front is a torn record that waits for its rest.
#include "common/amdlog/read/reassemble.h"
#include "common/amdlog/read/detail.h"
#include "common/amdlog/read/parse.h"

#define PIECE     128
#define FRONT_MAX 4096 // a packet is shorter
// An open record whose process is unknown counts as ended after so many further records.
#define OPEN_UNKNOWN 8

struct front {
	struct amdlog_record r; // record whose text is in `text`
	int64_t pid;
	bool told; // handed on as torn already; kept, as a later line may be its rest
	bool lost; // never to be joined: its rest may be in another record
	// Length of `text` with the lines that were added, as a terminal may have wrapped the
	// record. 0: another record followed, so no more lines are added.
	size_t wrapped;
	char text[FRONT_MAX + AMDLOG_PAD];
};

static void reassembly_take_record(void *ctx, const struct amdlog_record *record);
static void reassembly_take_foreign(void *ctx, const char *text, size_t len, bool ended);

struct amdlog_reassembly *amdlog_reassembly_new(const struct amdlog_sink *to)
{
	const size_t joined = FRONT_MAX + AMDLOG_TEXT_MAX + AMDLOG_PAD;
	struct amdlog_reassembly *m =
		xmalloc(sizeof(*m) + WAITING_MAX * sizeof(struct front) + joined);
	struct front *spare = (void *)(m + 1);
	*m = (struct amdlog_reassembly){.to = *to, .past = UINT64_MAX};
	for (unsigned i = 0; i < WAITING_MAX; i++)
		m->waiting[i] = &spare[i];
	m->joined = (char *)(spare + WAITING_MAX);
	m->scan = amdlog_scan_new(
		&(struct amdlog_sink){m, reassembly_take_record, reassembly_take_foreign});
	return m;
}

void amdlog_reassembly_free(struct amdlog_reassembly *m)
{
	if (m)
		amdlog_scan_free(m->scan);
	free(m);
}

static bool is_name_byte(char c)
{
	return is_digit(c) || (unsigned char)((c | 0x20) - 'a') < 26 || c == '_';
}

static bool is_hex_number(const char *p, const char *end)
{
	if (p == end || end[-1] == 'x')
		return false;
	while (p < end && (hex_digit(*p) >= 0 || *p == 'x'))
		p++;
	return p == end;
}

// A packet line ends with wptr; before ROCm 6.2 (barriers: 6.4) with completion_signal.
static bool ends_as_packet(const struct amdlog_record *r)
{
	const char *equals = memrchr(r->msg, '=', r->msg_len);
	size_t n = equals ? (size_t)(equals - r->msg) : 0;
	if (!r->ended || r->kind == AMDLOG_PACKET || !n ||
	    !is_hex_number(equals + 1, r->msg + r->msg_len))
		return false;
	if (n >= 4 && !memcmp(equals - 4, "wptr", 4))
		return true;
	return n >= 17 && !memcmp(equals - 17, "completion_signal", 17) &&
	       (r->kind != AMDLOG_DISPATCH || r->msg[0] == 'H');
}

bool amdlog_reassembly_wants(const struct amdlog_record *r)
{
	if (r->len < PIECE || r->len > FRONT_MAX)
		return false;
	if (is_packet(r->kind))
		return !ends_as_packet(r);
	return r->kind == AMDLOG_API_ENTRY && amdlog_is_torn(r);
}

static void front_release(struct amdlog_reassembly *m, unsigned i)
{
	struct front *f = m->waiting[i];
	for (m->n--; i < m->n; i++)
		m->waiting[i] = m->waiting[i + 1];
	m->waiting[m->n] = f;
}

static void front_give_up(struct amdlog_reassembly *m, unsigned i)
{
	struct front *f = m->waiting[i];
	front_release(m, i);
	if (!f->told)
		m->to.record(m->to.ctx, &f->r);
}

static void front_keep(struct amdlog_reassembly *m, const struct amdlog_record *r, int64_t pid,
		       bool told)
{
	if (m->n == WAITING_MAX)
		front_give_up(m, 0);
	struct front *f = m->waiting[m->n++];
	f->r = *r;
	f->pid = pid;
	f->told = told;
	f->lost = false;
	f->wrapped = r->ended ? r->len : 0;
	memcpy(f->text, r->text, r->len);
	memset(f->text + r->len, 0, AMDLOG_PAD);
	f->r.text = f->text;
	f->r.msg = f->text + (r->msg - r->text);
}

// Sets *r to the record of the front's first `cut` bytes and `text` behind them.
static void front_join(struct amdlog_reassembly *m, const struct front *f, size_t cut,
		       const char *text, size_t len, bool ended, struct amdlog_record *r)
{
	*r = f->r;
	memcpy(m->joined, f->text, cut);
	memcpy(m->joined + cut, text, len);
	memset(m->joined + cut + len, 0, AMDLOG_PAD);
	r->text = m->joined;
	r->len = cut + len;
	r->ended = ended;
	r->msg = m->joined + (f->r.msg - f->text);
	r->msg_len = r->len - (size_t)(r->msg - r->text);
	while (r->msg_len && r->msg[r->msg_len - 1] == ' ')
		r->msg_len--;
	message_parse(r);
}

// Where a value ends: "0x7f", "3", "[1, 2, 3]", "0xb02 (type=2, barrier=1)"; NULL: there is none.
static const char *skip_value(const char *p, const char *end)
{
	const char *from = p;
	if (p < end && *p == '[') {
		while (++p < end && (hex_digit(*p) >= 0 || *p == 'x' || *p == ',' || *p == ' '))
			;
		return p < end && *p == ']' ? p + 1 : NULL;
	}
	while (p < end && (hex_digit(*p) >= 0 || *p == 'x'))
		p++;
	if (p == from)
		return NULL;
	if (end - p > 2 && p[0] == ' ' && p[1] == '(') {
		p = memchr(p, ')', (size_t)(end - p));
		return p ? p + 1 : NULL;
	}
	return p;
}

// True if the whole message is "name=value, " or "Kind Header = value, ", without foreign text.
static bool is_clean_packet(const struct amdlog_record *r)
{
	const char *p = r->msg, *end = p + r->msg_len;
	while (p < end) {
		const char *name = p;
		while (p < end && (is_name_byte(*p) || *p == '-'))
			p++;
		if (end - p >= 10 && !memcmp(p, " Header = ", 10))
			p += 10;
		else if (p > name && p < end && *p == '=')
			p++;
		else
			return false;
		p = skip_value(p, end);
		if (!p)
			return false;
		if (p < end && *p++ != ',')
			return false;
		if (p < end && *p++ != ' ')
			return false;
	}
	return true;
}

static bool is_complete(const struct amdlog_record *r)
{
	struct amdlog_packet p;
	if (!is_packet(r->kind))
		return r->kind == AMDLOG_API_ENTRY && r->ended && !amdlog_is_torn(r);
	if (r->kind == AMDLOG_PACKET || !ends_as_packet(r) ||
	    (r->kind != AMDLOG_BARRIER_VALUE && !is_clean_packet(r)))
		return false;
	amdlog_packet_parse(r, &p);
	return p.whole;
}

// The length at which the front must be cut so that `text` completes the record; 0: none.
static size_t fitting_cut(struct amdlog_reassembly *m, const struct front *f, const char *text,
			  size_t len, bool ended, struct amdlog_record *r)
{
	size_t msg_at = (size_t)(f->r.msg - f->text);
	for (size_t cut = f->r.len / PIECE * PIECE; cut > msg_at; cut -= PIECE) {
		front_join(m, f, cut, text, len, ended, r);
		if (is_complete(r))
			return cut;
	}
	return 0;
}

static void hand_on_joined(struct amdlog_reassembly *m, unsigned i, const struct amdlog_record *r)
{
	front_release(m, i);
	m->mended += r->offset >= m->first && r->offset < m->past;
	m->to.record(m->to.ctx, r);
}

// Joins the text to the one front that it completes. If it would complete several, all of them are
// lost. False: it completes none.
static bool try_fronts(struct amdlog_reassembly *m, const char *text, size_t len, bool ended)
{
	unsigned fits[WAITING_MAX], n = 0;
	struct amdlog_record r;
	for (unsigned i = 0; i < m->n; i++) {
		if (fitting_cut(m, m->waiting[i], text, len, ended, &r))
			fits[n++] = i;
	}
	for (unsigned i = 0; n > 1 && i < n; i++)
		m->waiting[fits[i]]->lost = true;
	if (n != 1 || m->waiting[fits[0]]->lost || m->waiting[fits[0]]->told)
		return n > 0;
	fitting_cut(m, m->waiting[fits[0]], text, len, ended, &r);
	hand_on_joined(m, fits[0], &r);
	return true;
}

// Adds a line to a front: logs pasted from a terminal are wrapped anywhere. True: the record is
// complete and handed on.
static bool try_wrapped(struct amdlog_reassembly *m, unsigned i, const char *text, size_t len)
{
	struct front *f = m->waiting[i];
	struct amdlog_record r;
	if (f->told || !f->wrapped || f->wrapped + len > FRONT_MAX)
		return false;
	memcpy(f->text + f->wrapped, text, len);
	f->wrapped += len;
	front_join(m, f, f->wrapped, "", 0, true, &r);
	if (!is_complete(&r))
		return false;
	hand_on_joined(m, i, &r);
	return true;
}

static void reassembly_take_foreign(void *ctx, const char *text, size_t len, bool ended)
{
	struct amdlog_reassembly *m = ctx;
	if (!m->n || len > FRONT_MAX || try_fronts(m, text, len, ended))
		return;
	for (unsigned i = 0; ended && i < m->n; i++) {
		if (try_wrapped(m, i, text, len))
			return;
	}
}

// True if another record cut this one at a multiple of PIECE bytes.
static bool is_interrupted(const struct amdlog_record *r)
{
	return !r->ended && r->len % PIECE == 0 && r->len && r->len < AMDLOG_TEXT_MAX;
}

// Gives up the torn records of a process that writes another record: they will not be continued.
static void writer_goes_on(struct amdlog_reassembly *m, int64_t pid)
{
	unsigned kept = 0;
	for (unsigned i = m->n; i--;) {
		if (m->waiting[i]->pid == pid)
			front_give_up(m, i);
	}
	for (unsigned i = 0; i < m->nopen; i++) {
		struct open_writer w = m->open[i];
		if (w.pid >= 0 ? w.pid != pid : --w.left > 0)
			m->open[kept++] = w;
	}
	m->nopen = kept;
}

// True if the record `r` may hold, behind its first piece, the rest of the torn record `f`.
static bool may_be_rest(struct amdlog_reassembly *m, const struct front *f,
			const struct amdlog_record *r)
{
	size_t cut = f->r.len / PIECE * PIECE;
	struct amdlog_record joined;
	if (cut <= (size_t)(f->r.msg - f->text))
		return false; // the front ends before its message
	for (size_t at = PIECE; at < r->len; at += PIECE) {
		front_join(m, f, cut, r->text + at, r->len - at, r->ended, &joined);
		if (is_complete(&joined))
			return true;
	}
	return false;
}

// True for kinds of records that are not just counted by their beginning.
static bool kind_matters(enum amdlog_kind kind)
{
	return kind == AMDLOG_GRAPH_KERNEL ||
	       (kind_uses[kind] != COUNTED && kind != AMDLOG_QUEUE_ERROR);
}

// True if the record's line may hold text of another record. Packets and API entries show by their
// form whether they are whole.
static bool is_doubtful(struct amdlog_reassembly *m, const struct amdlog_record *r)
{
	bool doubt = false;
	if (r->len <= PIECE)
		return false;
	if (!is_packet(r->kind) && r->kind != AMDLOG_API_ENTRY)
		return m->n || m->nopen;
	for (unsigned i = 0; i < m->n && r->len <= FRONT_MAX; i++) {
		if (may_be_rest(m, m->waiting[i], r))
			doubt = m->waiting[i]->lost = true;
	}
	return doubt;
}

static void cut_to_piece(struct amdlog_record *r)
{
	size_t msg_at = (size_t)(r->msg - r->text);
	r->len = PIECE;
	r->ended = false;
	r->msg_len = msg_at < PIECE ? PIECE - msg_at : 0;
	r->msg = r->text + PIECE - r->msg_len;
	message_parse(r);
}

static void reassembly_take_record(void *ctx, const struct amdlog_record *record)
{
	struct amdlog_reassembly *m = ctx;
	int64_t pid;
	if (amdlog_reassembly_idle(m) && !is_interrupted(record) &&
	    !amdlog_reassembly_wants(record)) {
		m->to.record(m->to.ctx, record);
		return;
	}
	for (unsigned i = 0; i < m->n; i++)
		m->waiting[i]->wrapped = 0;
	struct amdlog_record r = *record;
	pid = m->scan->threads.v[r.thread].pid;
	writer_goes_on(m, pid);
	bool joinable = amdlog_reassembly_wants(&r);
	// Text behind a torn record's first piece may be of other open records.
	bool doubtful = is_doubtful(m, &r) || (joinable && r.len > PIECE && (m->n || m->nopen));
	bool open = is_interrupted(&r) || doubtful;
	if (doubtful && (joinable || kind_matters(r.kind)))
		cut_to_piece(&r);
	if (open && m->nopen < OPEN_MAX)
		m->open[m->nopen++] = (struct open_writer){pid, OPEN_UNKNOWN};
	if (joinable || (doubtful && amdlog_reassembly_wants(&r)))
		front_keep(m, &r, pid, !joinable);
	if (!joinable)
		m->to.record(m->to.ctx, &r);
}

void amdlog_reassembly_end(struct amdlog_reassembly *m)
{
	while (m->n)
		front_give_up(m, 0);
	m->nopen = 0;
}

bool amdlog_reassembly_idle(const struct amdlog_reassembly *m)
{
	return !m->n && !m->nopen;
}
