// Flight recorders of PyTorch; see flight.h.
#include "cmd/flight.h"

#include "common/cli/err.h"
#include "common/cli/text.h"
#include "common/host/number.h"
#include "common/out/members.h"
#include "common/out/picklein.h"

#include <fcntl.h>

#define FILE_MOST (64u << 20) // bytes

static const struct member call_members[] = {
	MEMBER(text, flight_call, state, "state"),
	MEMBER(u64, flight_call, number, "collective_seq_id"),
	MEMBER(flag, flight_call, ended, "retired"),
	{0},
};

// Takes ["0", "default_pg"], the id and the description.
static void take_process_group(struct flight_call *c, const struct jsonin_value *v)
{
	struct jsonin j;
	struct jsonin_value id, about;
	if (!jsonin_open(&j, v->text, v->len, '[') || !jsonin_next(&j, NULL, &id) ||
	    !jsonin_next(&j, NULL, &about))
		return;
	jsonin_str(&id, c->group, sizeof(c->group));
	jsonin_str(&about, c->about, sizeof(c->about));
}

// Takes "nccl:all_reduce" without its backend.
static void take_name(struct flight_call *c, const struct jsonin_value *v)
{
	char name[80] = "";
	jsonin_str(v, name, sizeof(name));
	const char *colon = strchr(name, ':');
	snprintf(c->name, sizeof(c->name), "%s", colon ? colon + 1 : name);
}

// The innermost frame comes first; those of PyTorch itself say nothing.
static void take_frames(struct flight_call *c, const struct jsonin_value *v)
{
	struct jsonin list, j;
	struct jsonin_value frame, key, value;
	char file[256];
	if (!jsonin_open(&list, v->text, v->len, '['))
		return;
	while (!*c->where && jsonin_next(&list, NULL, &frame)) {
		uint64_t line = UINT64_MAX;
		*file = '\0';
		if (!jsonin_open(&j, frame.text, frame.len, '{'))
			return;
		while (jsonin_next(&j, &key, &value))
			if (jsonin_is(&key, "filename"))
				jsonin_str(&value, file, sizeof(file));
			else if (jsonin_is(&key, "line"))
				jsonin_u64(&value, &line);
		const char *name = strrchr(file, '/');
		if (*file && line != UINT64_MAX && !strstr(file, "/torch/"))
			snprintf(c->where, sizeof(c->where), "%.60s:%" PRIu64,
				 name ? name + 1 : file, line);
	}
}

static bool read_call(struct flight *f, const struct jsonin_value *entry)
{
	struct flight_call c = {.number = UINT64_MAX};
	const struct member_row rows[] = {{call_members, &c}, {0}};
	struct jsonin j;
	struct jsonin_value key, value;
	bool to_one = false; // a message between two ranks, which has numbers of its own
	if (!jsonin_open(&j, entry->text, entry->len, '{'))
		return false;
	while (jsonin_next(&j, &key, &value))
		if (jsonin_is(&key, "process_group"))
			take_process_group(&c, &value);
		else if (jsonin_is(&key, "profiling_name"))
			take_name(&c, &value);
		else if (jsonin_is(&key, "frames"))
			take_frames(&c, &value);
		else if (jsonin_is(&key, "is_p2p"))
			to_one = value.kind == 't';
		else if (!members_take(rows, &key, &value))
			return false;
	c.ended |= strcmp(c.state, "completed") == 0;
	if (!j.failed && !to_one && c.number != UINT64_MAX)
		*ARRAY_ADD(f->calls, f->calls_cap, f->ncalls) = c;
	return !j.failed;
}

static bool read_calls(struct flight *f, const struct jsonin_value *v)
{
	struct jsonin j;
	struct jsonin_value entry;
	bool good = jsonin_open(&j, v->text, v->len, '[');
	while (good && jsonin_next(&j, NULL, &entry))
		good = read_call(f, &entry);
	return good && !j.failed;
}

static struct flight_group *group_of(const struct flight *f, const char *group)
{
	for (size_t i = 0; i < f->ngroups; i++)
		if (strcmp(f->groups[i].group, group) == 0)
			return &f->groups[i];
	return NULL;
}

static void note_enqueued(struct flight *f, const char *group, uint64_t number)
{
	struct flight_group *g = group_of(f, group);
	if (!g) {
		g = ARRAY_ADD(f->groups, f->groups_cap, f->ngroups);
		*g = (struct flight_group){0};
		snprintf(g->group, sizeof(g->group), "%s", group);
	}
	g->enqueued = g->enqueued > number ? g->enqueued : number;
}

// Reads {"0": {"last_enqueued_collective": 4, ...}, ...}: the number is -1 before a group's first
// collective.
static bool read_groups(struct flight *f, const struct jsonin_value *v)
{
	struct jsonin groups, j;
	struct jsonin_value id, group, key, value;
	char name[16];
	if (!jsonin_open(&groups, v->text, v->len, '{'))
		return false;
	while (jsonin_next(&groups, &id, &group)) {
		uint64_t number = 0;
		snprintf(name, sizeof(name), "%.*s", (int)id.len, id.text);
		if (!jsonin_open(&j, group.text, group.len, '{'))
			return false;
		while (jsonin_next(&j, &key, &value))
			if (jsonin_is(&key, "last_enqueued_collective"))
				jsonin_u64(&value, &number);
		note_enqueued(f, name, number);
	}
	return !groups.failed;
}

static bool read_dump(struct flight *f, const char *text, size_t len)
{
	struct jsonin j;
	struct jsonin_value key, value;
	bool has_calls = false, good = jsonin_open(&j, text, len, '{');
	while (good && jsonin_next(&j, &key, &value))
		if (jsonin_is(&key, "entries"))
			good = has_calls = read_calls(f, &value);
		else if (jsonin_is(&key, "pg_status"))
			good = read_groups(f, &value);
	for (size_t i = 0; i < f->ncalls; i++)
		note_enqueued(f, f->calls[i].group, f->calls[i].number);
	return good && has_calls && !j.failed;
}

// "/tmp/nccl_trace_rank_12": 12.
static uint64_t rank_in_name(const char *file)
{
	const char *s = file + strlen(file);
	uint64_t rank;
	while (s > file && s[-1] >= '0' && s[-1] <= '9')
		s--;
	return *s && number_read(s, NULL, 10, UINT64_MAX - 1, &rank) ? rank : UINT64_MAX;
}

int flight_read(struct flight *f, const char *file)
{
	SCOPED(buf_fini) struct buf data = {0}, json = {0};
	*f = (struct flight){.file = file, .rank = rank_in_name(file)};
	if (f->rank == UINT64_MAX)
		return err_fail(GPQ_USAGE, "for example --flight /tmp/nccl_trace_rank_3",
				"--flight %s: the name does not end with a rank", file);
	if (buf_read_at(&data, AT_FDCWD, file) < 0)
		return err_sys(errno, "name the dump of a flight recorder", "--flight %s", file);
	const bool is_json = data.len && *data.data == '{';
	if (data.len > FILE_MOST || (!is_json && !pickle_to_json(&json, data.data, data.len)) ||
	    !(is_json ? read_dump(f, data.data, data.len) : read_dump(f, json.data, json.len)))
		return err_fail(GPQ_FAILED, "TORCH_FR_BUFFER_SIZE makes PyTorch write them",
				"--flight %s: no dump of a flight recorder", file);
	return GPQ_OK;
}

void flight_fini(struct flight *f)
{
	free(f->calls);
	free(f->groups);
}

const struct flight_call *flight_pending(const struct flight *f)
{
	for (size_t i = 0; i < f->ncalls; i++)
		if (!f->calls[i].ended)
			return &f->calls[i];
	return NULL;
}

static const struct flight_call *find_call(const struct flight *f, const char *group,
					   uint64_t number)
{
	for (size_t i = 0; i < f->ncalls; i++)
		if (f->calls[i].number == number && strcmp(f->calls[i].group, group) == 0)
			return &f->calls[i];
	return NULL;
}

// Appends which of the ranks in the group have called least, and the next collective, which a rank
// that has called most has called.
static void compare_group(struct buf *to, const struct flight *v, size_t n, const char *group)
{
	const struct flight *most = NULL;
	uint64_t least = UINT64_MAX, greatest = 0;
	for (size_t i = 0; i < n; i++) {
		const struct flight_group *g = group_of(&v[i], group);
		if (!g)
			continue;
		least = g->enqueued < least ? g->enqueued : least;
		if (!most || g->enqueued > greatest) {
			most = &v[i];
			greatest = g->enqueued;
		}
	}
	if (!most || least == greatest)
		return;
	const struct flight_call *next = find_call(most, group, least + 1);
	SCOPED(buf_fini) struct buf ranks = {0}, line = {0};
	unsigned behind = 0;
	for (size_t i = 0; i < n; i++) {
		const struct flight_group *g = group_of(&v[i], group);
		if (g && g->enqueued == least)
			buf_printf(&ranks, "%s%" PRIu64, behind++ ? ", " : "", v[i].rank);
	}
	buf_puts(&ranks, behind > 1 ? " have" : " has");
	buf_printf(&line, "%s: rank%s %s not called %s %" PRIu64 ", which rank %" PRIu64 " has",
		   next && *next->about ? next->about : group, behind > 1 ? "s" : "", ranks.data,
		   next && *next->name ? next->name : "collective", least + 1, most->rank);
	if (next && *next->where)
		buf_printf(&line, " (%s)", next->where);
	text_escape(to, line.data, line.len);
	buf_puts(to, "\n");
}

void flight_compare(struct buf *to, const struct flight *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < v[i].ngroups; k++) {
			bool told = false; // in an earlier dump
			for (size_t e = 0; e < i; e++)
				told |= group_of(&v[e], v[i].groups[k].group) != NULL;
			if (!told)
				compare_group(to, v, n, v[i].groups[k].group);
		}
}
