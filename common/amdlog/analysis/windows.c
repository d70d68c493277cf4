// Marked windows of time; see windows.h.
#include "common/amdlog/analysis/windows.h"

#include "common/out/members.h"
#include "common/cli/text.h"

#define NONE UINT64_MAX

static enum windows_fault add_window(struct amdlog_windows *w, uint64_t begin_us, uint64_t end_us,
				     const char *label)
{
	if (w->n >= WINDOWS_MAX)
		return WINDOWS_TOO_MANY;
	ARRAY_GROW(w->v, w->cap, w->n);
	struct amdlog_window *window = &w->v[w->n++];
	*window = (struct amdlog_window){.begin_us = begin_us, .end_us = end_us};
	snprintf(window->label, sizeof(window->label), "%s", label);
	return WINDOWS_OK;
}

// Reads a time on the log's clock: "26330000" (microseconds) or, with a unit, "26.33s".
static bool read_mark_time(const char *word, uint64_t *us)
{
	uint64_t ns;
	size_t len = strlen(word);
	if (parse_u64(word, us))
		return *us != NONE;
	if (!len || !strchr("smh", word[len - 1]) || !parse_duration(word, &ns))
		return false;
	*us = ns / 1000;
	return true;
}

// Reads BEGIN END [NAME], separated by blanks, tabs or a comma.
static enum windows_fault read_mark_words(struct amdlog_windows *w, char *line)
{
	static const char separators[] = " \t,";
	char *rest, *first = strtok_r(line, separators, &rest);
	char *second = strtok_r(NULL, separators, &rest);
	uint64_t begin, end;
	if (!second || !read_mark_time(first, &begin) || !read_mark_time(second, &end))
		return WINDOWS_NO_TIME;
	if (end < begin)
		return WINDOWS_BACKWARDS;
	return add_window(w, begin, end, rest + strspn(rest, separators));
}

// The JSON members of all records that tell a window; NONE: the record has no such member.
struct marks {
	uint64_t begin_us, end_us, begin_ns, end_ns;
	uint64_t at_ns, suspend_ns, held_ns, resume_ns, latency_ns, until_ns, pid, cycle;
	char record[24], result[16], label[WINDOW_LABEL_MAX];
};

#define M(type, name) MEMBER(type, marks, name, #name)
static const struct member members[] = {
	M(u64, begin_us),   M(u64, end_us),  M(u64, begin_ns),  M(u64, end_ns),
	M(u64, at_ns),      M(u64, held_ns), M(u64, resume_ns), M(u64, suspend_ns),
	M(u64, latency_ns), M(u64, pid),     M(u64, until_ns),  M(u64, cycle),
	M(text, record),    M(text, result), M(text, label),    {0},
};
#undef M

static enum windows_fault plain_window(struct amdlog_windows *w, const struct marks *m)
{
	uint64_t begin = m->begin_us != NONE ? m->begin_us : m->begin_ns / 1000;
	uint64_t end = m->end_us != NONE ? m->end_us : m->end_ns == NONE ? NONE : m->end_ns / 1000;
	return end < begin ? WINDOWS_BACKWARDS : add_window(w, begin, end, m->label);
}

// Adds the window of a cycle of gpq bench preempt --samples; a cycle that was cut short has no
// window.
static enum windows_fault cycle_window(struct amdlog_windows *w, const struct marks *m)
{
	char label[WINDOW_LABEL_MAX] = "";
	uint64_t end;
	if (m->at_ns == NONE || m->suspend_ns == NONE || m->held_ns == NONE || m->resume_ns == NONE)
		return WINDOWS_OK;
	if (__builtin_add_overflow(m->at_ns, m->suspend_ns, &end) ||
	    __builtin_add_overflow(end, m->held_ns, &end) ||
	    __builtin_add_overflow(end, m->resume_ns, &end))
		return WINDOWS_OK;
	if (m->cycle != NONE)
		snprintf(label, sizeof(label), "cycle %" PRIu64, m->cycle);
	return add_window(w, m->at_ns / 1000, end / 1000, label);
}

// Adds the window of a process's suspension: from its first queue's line of gpq suspend to the
// deadline, or to the time in a line of gpq resume.
static enum windows_fault suspended_window(struct amdlog_windows *w, const struct marks *m)
{
	uint64_t latency = m->latency_ns != NONE && m->latency_ns < m->at_ns ? m->latency_ns : 0;
	uint32_t n = intern_value(&w->held, &m->pid, sizeof(m->pid));
	char label[WINDOW_LABEL_MAX];
	if (m->at_ns == NONE || m->pid == NONE)
		return WINDOWS_OK;
	if (strcmp(m->result, "resumed") == 0 && n != INTERN_NONE) {
		if (m->at_ns / 1000 >= w->v[n].begin_us)
			w->v[n].end_us = m->at_ns / 1000;
		w->v[n].held = false;
	}
	if (strcmp(m->result, "suspended") != 0 || (n != INTERN_NONE && w->v[n].held))
		return WINDOWS_OK;
	snprintf(label, sizeof(label), "pid %" PRIu64, m->pid);
	enum windows_fault fault =
		add_window(w, (m->at_ns - latency) / 1000,
			   m->until_ns == NONE ? NONE : m->until_ns / 1000, label);
	if (!fault) {
		w->v[w->n - 1].held = true;
		intern_set(&w->held, &m->pid, sizeof(m->pid), (uint32_t)w->n - 1);
	}
	return fault;
}

static enum windows_fault read_mark_json(struct amdlog_windows *w, const char *line, size_t len)
{
	struct jsonin_value key, value;
	struct marks m;
	const struct member_row rows[] = {{members, &m}, {0}};
	struct jsonin j;
	memset(&m, 0xff, sizeof(m));
	m.record[0] = m.result[0] = 0;
	memset(m.label, 0, sizeof(m.label));
	jsonin_open(&j, line, len, '{'); // if that fails, so does jsonin_next()
	while (jsonin_next(&j, &key, &value))
		members_take(rows, &key, &value);
	if (j.failed)
		return WINDOWS_NO_JSON;
	if (m.begin_us != NONE || m.begin_ns != NONE)
		return plain_window(w, &m);
	if (strcmp(m.record, "preempt_cycle") == 0)
		return cycle_window(w, &m);
	return strcmp(m.record, "queue") == 0 ? suspended_window(w, &m) : WINDOWS_OK;
}

static enum windows_fault read_mark_line(struct amdlog_windows *w, const char *line, size_t len)
{
	char text[256];
	while (len && strchr(" \t\r", line[len - 1]) && line[len - 1])
		len--;
	while (len && (*line == ' ' || *line == '\t')) {
		line++;
		len--;
	}
	if (!len || *line == '#')
		return WINDOWS_OK;
	if (*line == '{')
		return read_mark_json(w, line, len);
	snprintf(text, sizeof(text), "%.*s", (int)(len < 255 ? len : 255), line);
	return read_mark_words(w, text);
}

enum windows_fault amdlog_windows_read(struct amdlog_windows *w, const char *text, size_t len,
				       size_t *line)
{
	const char *end = text + len;
	enum windows_fault fault = WINDOWS_OK;
	for (*line = 0; text < end && !fault;) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		newline = newline ? newline : end;
		(*line)++;
		fault = read_mark_line(w, text, (size_t)(newline - text));
		text = newline + 1;
	}
	return fault;
}

COMPARE_BY_BOTH(window_order, struct amdlog_window, begin_us, end_us)

void amdlog_windows_sort(struct amdlog_windows *w)
{
	uint64_t latest = 0;
	free(w->latest);
	w->latest = xcalloc(w->n, sizeof(*w->latest));
	ARRAY_SORT(w->v, w->n, window_order);
	for (size_t i = 0; i < w->n; i++) {
		latest = w->v[i].end_us > latest ? w->v[i].end_us : latest;
		w->latest[i] = latest;
	}
}

size_t amdlog_windows_next(const struct amdlog_windows *w, size_t from, uint64_t begin,
			   uint64_t end)
{
	size_t high = w->n;
	while (from < high) {
		size_t middle = from + (high - from) / 2;
		if (w->latest[middle] <= begin)
			from = middle + 1;
		else
			high = middle;
	}
	while (from < w->n && w->v[from].begin_us < end && w->v[from].end_us <= begin)
		from++;
	return from < w->n && w->v[from].begin_us < end ? from : w->n;
}

void amdlog_windows_fini(struct amdlog_windows *w)
{
	free(w->v);
	free(w->latest);
	intern_fini(&w->held);
	*w = (struct amdlog_windows){0};
}

// --- queues in windows ---

static struct marked_cell *marked_cell_at(struct amdlog_marked *m, size_t window, uint32_t queue)
{
	uint32_t n, before = m->pairs.n;
	m->pairs.max_entries = MARKED_MAX;
	n = pair_put(&m->pairs, window, queue);
	if (n == INTERN_NONE) {
		m->incomplete = true;
		return NULL;
	}
	ARRAY_REACH(m->cells, m->cells_cap, n, 0);
	if (n == before) {
		memset(&m->cells[n], 0xff, sizeof(m->cells[n])); // each number AMDLOG_UNKNOWN
		m->cells[n].dispatches = 0;
	}
	return &m->cells[n];
}

// Adds the gap between two dispatches of a queue to the windows that overlap it.
static void mark_gap(struct amdlog_marked *m, uint32_t queue, uint64_t begin, uint64_t end)
{
	const struct amdlog_windows *w = m->windows;
	for (size_t i = 0; (i = amdlog_windows_next(w, i, begin, end)) < w->n; i++) {
		struct marked_cell *c = marked_cell_at(m, i, queue);
		if (!c)
			return;
		if (c->gap_begin_us == AMDLOG_UNKNOWN ||
		    end - begin > c->gap_end_us - c->gap_begin_us) {
			c->gap_begin_us = begin;
			c->gap_end_us = end;
		}
		if (w->v[i].end_us <= end && c->after_us == AMDLOG_UNKNOWN)
			c->after_us = end;
	}
}

static void mark_pointers(struct marked_cell *c, const struct amdlog_packet *p)
{
	uint64_t backlog = amdlog_packet_backlog(p);
	if (backlog == AMDLOG_UNKNOWN)
		return;
	// Packets of several threads may be logged out of order, so rptr may step back.
	if (c->rptr_low == AMDLOG_UNKNOWN || amdlog_backlog(c->rptr_low, p->rptr) < 0)
		c->rptr_low = p->rptr;
	if (c->rptr_high == AMDLOG_UNKNOWN || amdlog_backlog(c->rptr_high, p->rptr) > 0)
		c->rptr_high = p->rptr;
	if (c->backlog_max == AMDLOG_UNKNOWN || backlog > c->backlog_max)
		c->backlog_max = backlog;
}

// Adds a packet to the windows that it lies in.
static void mark_packet(struct amdlog_marked *m, const struct amdlog_event *e)
{
	const struct amdlog_windows *w = m->windows;
	uint64_t us = e->record->time_us;
	for (size_t i = 0; (i = amdlog_windows_next(w, i, us ? us - 1 : 0, us + 1)) < w->n; i++) {
		if (w->v[i].begin_us > us || w->v[i].end_us < us)
			continue;
		struct marked_cell *c = marked_cell_at(m, i, e->queue);
		if (!c)
			return;
		c->dispatches += e->record->kind == AMDLOG_DISPATCH;
		mark_pointers(c, e->packet);
	}
}

void amdlog_marked_add(struct amdlog_marked *m, const struct amdlog_event *e)
{
	uint64_t us = e->record->time_us;
	uint64_t *last_us;
	if (!e->packet || e->queue == AMDLOG_NONE || us == AMDLOG_UNKNOWN || !m->windows->n)
		return;
	mark_packet(m, e);
	if (e->record->kind != AMDLOG_DISPATCH)
		return;
	ARRAY_REACH(m->last_us, m->last_cap, e->queue, 0xff);
	last_us = &m->last_us[e->queue];
	if (*last_us != AMDLOG_UNKNOWN && us > *last_us)
		mark_gap(m, e->queue, *last_us, us);
	if (*last_us == AMDLOG_UNKNOWN || us > *last_us)
		*last_us = us;
}

const struct marked_cell *amdlog_marked_of(const struct amdlog_marked *m, size_t window,
					   uint32_t queue)
{
	uint32_t n = pair_find(&m->pairs, window, queue);
	return n == INTERN_NONE ? NULL : &m->cells[n];
}

void amdlog_marked_fini(struct amdlog_marked *m)
{
	intern_fini(&m->pairs);
	free(m->cells);
	free(m->last_us);
	*m = (struct amdlog_marked){0};
}
